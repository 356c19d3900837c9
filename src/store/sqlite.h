/* sqlite.h - studies in a SQLite file; the operations of store/store.h. */
#ifndef CB_STORE_SQLITE_H
#define CB_STORE_SQLITE_H

#include "cocabo.h"

/* flags as in cocabo_store_open. A lock that others hold for more than `patience`
 * seconds is COCABO_E_STORE. *out is owned by the caller. */
cocabo_status cb_sqlite_open(cocabo_store **out, const char *path, unsigned flags,
                             double patience, cocabo_error *err);

#endif
