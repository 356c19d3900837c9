/* server_schema.h - the tables and functions of cocabo in a PostgreSQL database. */
#ifndef CB_STORE_SERVER_SCHEMA_H
#define CB_STORE_SERVER_SCHEMA_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "store/server.h"

enum { CB_SERVER_SCHEMA_NEWEST = 2 };

/* Is it a database of ours? Makes it one if it is not and `create` is given, and brings
 * it up to date unless it is only to be read; *version is what it is then.
 * COCABO_E_NOT_FOUND if there is nothing of cocabo in it, COCABO_E_STORE if it is of a
 * newer version or cannot be used. */
cocabo_status cb_server_prepare(cb_server *s, bool create, bool read_only,
                                int64_t *version, cocabo_error *err);

#endif
