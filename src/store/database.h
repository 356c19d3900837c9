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
#include "cocabo_store.h"
#include "store/patience.h"

enum { CB_MAX_STATEMENTS = 40 };

typedef struct cb_database {
  sqlite3 *handle;
  char *path;
  int64_t version;  /* of its schema */
  const char *what; /* is being done, for sentences: "read", "write to" */
  bool read_only;
  bool full; /* commits wait for the disk: PRAGMA synchronous is FULL, not NORMAL */

  cb_patience patience;
  cocabo_interrupt_fn interrupt; /* also asked while it waits; NULL: never */
  void *user;
  bool hurry;           /* do not wait at all */
  bool waited;          /* `wait` was asked, and not told yet that it is over */
  bool blocked;         /* somebody kept the lock for longer than commits take */
  double free_at;       /* when that was last over, on cb_clock_boot */
  bool stopped;         /* waiting was ended by `wait` or `interrupt` */
  double waiting_since; /* on a steady clock */
  int64_t holder;       /* of the lock, a process; 0: not known */
  double holder_age;    /* after how much waiting to look it up again */
  uint64_t jitter;      /* state of the generator that spreads the waits */

  bool no_room; /* the last failure was a full disk */
  int changes; /* how many rows the connection had changed when the transaction began */
  sqlite3_stmt *marking;                       /* counts a commit */
  const char *const *sql;                      /* texts of the statements, by number */
  sqlite3_stmt *statements[CB_MAX_STATEMENTS]; /* prepared when first used */
} cb_database;

/* Opens the file, and makes it a store if it is empty. flags as in cocabo_store_open.
 * On failure there is nothing to close. */
cocabo_status cb_database_open(cb_database *db, const char *path, unsigned flags,
                               cb_patience patience, cocabo_error *err);
void cb_database_close(cb_database *db);

/* The sentence for what SQLite has just answered. */
cocabo_status cb_database_fail(cb_database *db, int answer, cocabo_error *err);

/* The one integer that a query gives, 0 if it gives none. */
cocabo_status cb_database_integer(cb_database *db, const char *sql, int64_t *out,
                                  cocabo_error *err);

/* Is the file sound: its pages, its tables, and its indices with them? Reads all of it.
 */
cocabo_status cb_database_check(cb_database *db, cocabo_error *err);

/* Statement i, ready to be bound; NULL if it cannot be prepared. It is reset with
 * sqlite3_reset after use. */
sqlite3_stmt *cb_database_statement(cb_database *db, int i);

/* One transaction that writes. It waits for its turn (COCABO_E_BUSY at once if it is in
 * a hurry); `durable` ones also wait for the disk when they end. */
cocabo_status cb_database_begin(cb_database *db, bool durable, cocabo_error *err);
/* Commits if `status` is OK, and rolls back otherwise or if that fails. */
cocabo_status cb_database_end(cb_database *db, cocabo_status status, cocabo_error *err);

/* After a failure: was it for lack of room, and is there some now that the write-ahead
 * log has been copied into the file? Then it is worth a second try. */
bool cb_database_make_room(cb_database *db);

#endif
