/* database.h - one connection to a SQLite file: opening it, waiting for its lock, and
 * saying in a sentence what went wrong.
 *
 * A connection is used by one thread at a time and only by the process that opened it.
 */
#ifndef CB_STORE_DATABASE_H
#define CB_STORE_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"

enum { CB_MAX_STATEMENTS = 32 };

typedef struct cb_database {
  sqlite3 *handle;
  char *path;
  double patience;      /* seconds to wait for a lock */
  double waiting_since; /* on a steady clock */
  uint64_t jitter;      /* state of the generator that spreads the waits */
  bool read_only;
  bool full; /* commits wait for the disk: PRAGMA synchronous is FULL, not NORMAL */
  const char *const *sql;                      /* texts of the statements, by number */
  sqlite3_stmt *statements[CB_MAX_STATEMENTS]; /* prepared when first used */
} cb_database;

/* Opens the file, and makes it a store if it is empty. flags as in cocabo_store_open.
 * On failure there is nothing to close. */
cocabo_status cb_database_open(cb_database *db, const char *path, unsigned flags,
                               double patience, cocabo_error *err);
void cb_database_close(cb_database *db);

/* The sentence for what SQLite has just answered. */
cocabo_status cb_database_fail(const cb_database *db, int answer, cocabo_error *err);

/* Statement i, ready to be bound; NULL if it cannot be prepared. It is reset with
 * sqlite3_reset after use. */
sqlite3_stmt *cb_database_statement(cb_database *db, int i);

/* One transaction that writes. It waits for its turn; `durable` ones also wait for the
 * disk when they end. */
cocabo_status cb_database_begin(cb_database *db, bool durable, cocabo_error *err);
/* Commits if `status` is OK, and rolls back otherwise or if that fails. */
cocabo_status cb_database_end(cb_database *db, cocabo_status status, cocabo_error *err);

#endif
