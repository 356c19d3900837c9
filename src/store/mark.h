/* mark.h - does a write-ahead log belong to the file beside it?
 *
 * SQLite does not know. Where a backup is copied over a file whose -wal was left by a
 * crash, the pages of that log are laid over those of the older file: a mixture of two
 * states that may look whole. So every commit changes one row of a table that is one
 * page:
 *
 *   cocabo 0123456789abcdef0123456789abcdef 00000000000000000042
 *
 * a random name of the file, and a number that counts commits. SQLite starts a log anew
 * only when all of the old one is in the file. So the first mark in a log is at most
 * one ahead of the one in its file; where it is further ahead, or has another name, the
 * two do not belong together.
 */
#ifndef CB_STORE_MARK_H
#define CB_STORE_MARK_H

#include "cocabo.h"
#include "store/database.h"

/* Looks at the two as they lie on the disk, before SQLite has read any of them. */
cocabo_status cb_mark_check(cb_database *db, cocabo_error *err);

/* Counts a commit; in its transaction. */
extern const char cb_mark_sql[];

#endif
