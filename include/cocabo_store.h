/* cocabo_store.h - stores by URL: studies that outlive the process.
 *
 *   sqlite:///study.db        a file, relative to the working directory
 *   sqlite:////tmp/study.db   a file, absolute
 *   study.db                  a bare path is a SQLite file too
 *   postgresql://user@host:5432/database   a PostgreSQL server, for many machines
 *   http://host:8080          a cocabo serve --allow-store
 *   memory:                   in this process only
 *
 * The token of a server is COCABO_TOKEN in the environment, or the first line of the
 * file that COCABO_TOKEN_FILE names; the password of PostgreSQL is where libpq looks.
 *
 * In a URL, %20 stands for a space and so on; a bare path is taken as it is. A driver,
 * as in sqlite+pysqlite:///study.db, is passed over, so that URLs of other tools work.
 *
 * When tell returns, the result survives the death of this process at any moment, and a
 * power cut too where the study's option durability is full. Several processes and
 * threads may use one file at once; it should be on a local disk. Beside it there are
 * two files, study.db-wal and study.db-shm, while it is in use.
 *
 * Reading never waits. A call that writes waits for others that are writing, up to 30
 * seconds, or as long as a function of yours says (cocabo_store_open_waiting). A
 * process that forks must open its stores again in the child; programs that it runs
 * inherit nothing.
 */
#ifndef COCABO_STORE_H
#define COCABO_STORE_H

#include "cocabo.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  COCABO_STORE_CREATE = 1u,   /* make the file if there is none */
  COCABO_STORE_READ_ONLY = 2u /* never write: what would is COCABO_E_STORE */
};

/* *out is owned by the caller and released by cocabo_store_free, after its studies.
 * COCABO_E_NOT_FOUND if there is no such file and COCABO_STORE_CREATE was not given;
 * COCABO_E_STORE if it is damaged, made by a newer version, or not a store at all, and
 * then it is left as it was. */
COCABO_API cocabo_status cocabo_store_open(cocabo_store **out, const char *url,
                                           unsigned flags,
                                           cocabo_error *err) COCABO_MUST_CHECK;

/* While a call waits for another process that holds the lock of the file, or for a
 * server. */
typedef struct cocabo_waiting {
  double seconds;  /* it has waited, this time; 0: a server is at it */
  int64_t process; /* that holds the lock; 0: not known, as at first */
  int over;        /* 1: it has its turn; called once, if it was called before */
  int reserved[5];
} cocabo_waiting;
/* Called many times a second, from the thread that waits; a non-zero return ends the
 * waiting: the call fails with COCABO_E_INTERRUPTED and has changed nothing. It must
 * not use the store. */
typedef int (*cocabo_wait_fn)(void *user, const cocabo_waiting *waiting);

/* The same, and `wait` decides, while opening and ever after, how long to wait.
 * Renewing leases does not ask it: that is tried for a moment and then COCABO_E_BUSY.
 * wait NULL: as cocabo_store_open. */
COCABO_API cocabo_status cocabo_store_open_waiting(cocabo_store **out, const char *url,
                                                   unsigned flags, cocabo_wait_fn wait,
                                                   void *user,
                                                   cocabo_error *err) COCABO_MUST_CHECK;

#ifdef __cplusplus
}
#endif
#endif /* COCABO_STORE_H */
