/* postgres.h - studies in a PostgreSQL database; the operations of store/store.h. */
#ifndef CB_STORE_POSTGRES_H
#define CB_STORE_POSTGRES_H

#include "cocabo.h"
#include "store/patience.h"

/* The URL is libpq's: postgresql://user:password@host:port/database?setting=value, or
 * with parts left out. flags as in cocabo_store_open. A server that is away for longer
 * than the patience lasts is COCABO_E_STORE. *out is owned by the caller. */
cocabo_status cb_postgres_open(cocabo_store **out, const char *url, unsigned flags,
                               cb_patience patience, cocabo_error *err);

#endif
