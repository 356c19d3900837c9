/* schema.h - how studies lie in a SQLite file, and whether a file is one of ours.
 *
 *   studies   a name and an id that is never used again; `letters` say what kind of
 *             number each cell of a trial is (log/codec.h)
 *   events    the logs; what they are looked up by in columns, the rest, the body, as
 *             JSON with its checksum (NULL: written before there were any)
 *   leases    who is at which trial until when, or at which run of it
 *   summaries what a study came to when somebody left it (store/summary.h)
 *   file      one row that every commit changes (store/mark.h)
 *
 * The file says by its application id that it is ours and by its user version how its
 * tables look; a list of migrations brings an older one up to date. Nothing is written
 * before all that has been looked at, so that a file of somebody else stays as it is.
 */
#ifndef CB_STORE_SCHEMA_H
#define CB_STORE_SCHEMA_H

#include <stdint.h>

#include "cocabo.h"
#include "store/database.h"

enum { CB_SCHEMA_NEWEST = 5 };

/* Which version the file has, 0 if it is still empty. What it says is not trusted:
 * whatever else than our own tables and indices is in it, is COCABO_E_STORE. To be
 * called in a transaction: another process may be making the file while we look. */
cocabo_status cb_schema_identify(cb_database *db, int64_t *version, cocabo_error *err);

/* From this version to the newest, in a transaction of the caller's. */
cocabo_status cb_schema_migrate(cb_database *db, int64_t version, cocabo_error *err);

#endif
