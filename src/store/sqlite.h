/* sqlite.h - studies in a SQLite file; the operations of store/store.h. */
#ifndef CB_STORE_SQLITE_H
#define CB_STORE_SQLITE_H

#include "cocabo.h"
#include "store/database.h"

/* flags as in cocabo_store_open. A lock that others hold for longer than the patience
 * lasts is COCABO_E_STORE. *out is owned by the caller. */
cocabo_status cb_sqlite_open(cocabo_store **out, const char *path, unsigned flags,
                             cb_patience patience, cocabo_error *err);

#endif
