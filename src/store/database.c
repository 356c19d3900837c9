/* database.c - how studies lie in a SQLite file.
 *
 *   studies   a name and an id that is never used again; `letters` say what kind of
 *             number each cell of a trial is (log/codec.h)
 *   events    the logs; what they are looked up by in columns, the rest as JSON
 *   leases    who runs which trial until when
 *
 * The file says by its application id that it is ours and by its user version how its
 * tables look; `migrations` brings an older one up to date. Nothing is written before
 * both have been looked at, so that a file of somebody else stays as it is.
 *
 * The journal is a write-ahead log: readers never wait, writers take turns (BEGIN
 * IMMEDIATE). A commit is in the hands of the operating system when it returns, and on
 * the disk too if it is durable. Now and then a commit also copies the log into the
 * file; with SQLite's own 1000 pages that is one in some 300 and takes a few
 * milliseconds (200 pages: many more of them, 4000: longer ones).
 */
#include "store/database.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "cocabo_store.h"

/* ---- the schema ------------------------------------------------------------------ */

enum { APPLICATION_ID = 0x636F6361 }; /* "coca" */

/* Version i + 1 of the schema is made from version i by migrations[i]. They have been
 * run on users' files: never change one, add the next. */
static const char *const migrations[] = {
    "CREATE TABLE studies ("
    "  id INTEGER PRIMARY KEY AUTOINCREMENT,"
    "  name TEXT NOT NULL UNIQUE,"
    "  letters TEXT NOT NULL"
    ") STRICT;"
    "CREATE TABLE events ("
    "  study INTEGER NOT NULL,"
    "  seq INTEGER NOT NULL,"
    "  id BLOB NOT NULL,"
    "  time REAL NOT NULL,"
    "  kind INTEGER NOT NULL,"
    "  number INTEGER NOT NULL,"
    "  attempt INTEGER NOT NULL,"
    "  body TEXT NOT NULL,"
    "  PRIMARY KEY (study, seq)"
    ") STRICT, WITHOUT ROWID;"
    "CREATE UNIQUE INDEX event_by_id ON events (study, id);"
    "CREATE UNIQUE INDEX trial_by_number ON events (study, number)"
    "  WHERE kind IN (3, 9);"
    "CREATE UNIQUE INDEX attempt_by_number ON events (study, number, attempt)"
    "  WHERE kind = 8;"
    "CREATE TABLE leases ("
    "  study INTEGER NOT NULL,"
    "  trial INTEGER NOT NULL,"
    "  owner TEXT NOT NULL,"
    "  until REAL NOT NULL,"
    "  PRIMARY KEY (study, trial)"
    ") STRICT, WITHOUT ROWID;",
};
enum { NEWEST = sizeof migrations / sizeof migrations[0] };

/* ---- sentences ------------------------------------------------------------------- */

/* The folder of a path, to be asked for its permissions. */
static const char *folder_of(const char *path, char out[static PATH_MAX]) {
  const char *slash = strrchr(path, '/');
  snprintf(out, PATH_MAX, "%.*s.", slash ? (int)(slash - path) + 1 : 0, path);
  return out;
}

/* Why a file cannot be opened or made. SQLite tries several ways and only knows why the
 * last one failed. */
static int opening_error(const char *path) {
  char folder[PATH_MAX];
  const bool exists = access(path, F_OK) == 0;
  errno = 0;
  if (access(exists ? path : folder_of(path, folder), exists ? R_OK : W_OK) == 0)
    errno = 0;
  return errno;
}

static const char *system_reason(const cb_database *db, int number, char *buffer,
                                 size_t size) {
  if (number == 0 || strerror_r(number, buffer, size) != 0)
    snprintf(buffer, size, "%s", sqlite3_errmsg(db->handle));
  return buffer;
}

cocabo_status cb_database_fail(const cb_database *db, int answer, cocabo_error *err) {
  char path[CB_SHOWN], reason[100];
  cb_text_show(path, db->path);
  switch (answer & 0xFF) {
  case SQLITE_NOMEM:
    return cb_no_memory(err);
  case SQLITE_BUSY:
    return cb_fail(err, COCABO_E_STORE,
                   "the database \"%s\" is locked: another process has held it for "
                   "more than %g seconds",
                   path, db->patience);
  case SQLITE_NOTADB:
    return cb_fail(err, COCABO_E_STORE, "\"%s\" is not a SQLite database", path);
  case SQLITE_CORRUPT:
    return cb_fail(err, COCABO_E_STORE, "the database \"%s\" is damaged", path);
  case SQLITE_FULL:
    return cb_fail(err, COCABO_E_STORE, "no room left on the disk of \"%s\"", path);
  case SQLITE_READONLY:
    return cb_fail(err, COCABO_E_STORE, "the database \"%s\" cannot be written to",
                   path);
  case SQLITE_CANTOPEN:
    return cb_fail(err, COCABO_E_STORE, "\"%s\" cannot be opened: %s", path,
                   system_reason(db, opening_error(db->path), reason, sizeof reason));
  case SQLITE_IOERR:
    if (sqlite3_system_errno(db->handle) == ENOSPC)
      return cb_fail(err, COCABO_E_STORE, "no room left on the disk of \"%s\"", path);
    return cb_fail(
        err, COCABO_E_STORE, "the disk of \"%s\" failed: %s", path,
        system_reason(db, sqlite3_system_errno(db->handle), reason, sizeof reason));
  default:
    return cb_fail(err, COCABO_E_STORE, "the database \"%s\" failed: %s", path,
                   sqlite3_errmsg(db->handle));
  }
}

static cocabo_status check(const cb_database *db, int answer, cocabo_error *err) {
  return answer == SQLITE_OK ? COCABO_OK : cb_database_fail(db, answer, err);
}

static int run(const cb_database *db, const char *sql) {
  return sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
}

static cocabo_status run_or_fail(const cb_database *db, const char *sql,
                                 cocabo_error *err) {
  return check(db, run(db, sql), err);
}

/* ---- waiting --------------------------------------------------------------------- */

static double steady_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* A number in [0.5, 1.5) by xorshift: writers that collided shall not do so again. */
static double spread(cb_database *db) {
  db->jitter ^= db->jitter << 13;
  db->jitter ^= db->jitter >> 7;
  db->jitter ^= db->jitter << 17;
  return 0.5 + (double)(db->jitter >> 11) * 0x1p-53;
}

/* Waits 0.1 ms at first, as long as a short commit takes, then twice as long each time
 * and at most 26 ms. Says whether to try again. */
static int wait_for_lock(void *user, int tries) {
  enum { DOUBLINGS = 8 };
  cb_database *db = user;
  if (tries == 0)
    db->waiting_since = steady_clock();
  if (steady_clock() - db->waiting_since > db->patience)
    return 0;
  const double seconds =
      1e-4 * (double)(1 << (tries < DOUBLINGS ? tries : DOUBLINGS)) * spread(db);
  nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
  return 1;
}

/* ---- opening --------------------------------------------------------------------- */

static cocabo_status get_integer(const cb_database *db, const char *sql, int64_t *out,
                                 cocabo_error *err) {
  sqlite3_stmt *statement = NULL;
  int answer = sqlite3_prepare_v2(db->handle, sql, -1, &statement, NULL);
  if (answer == SQLITE_OK) {
    answer = sqlite3_step(statement);
    *out = answer == SQLITE_ROW ? sqlite3_column_int64(statement, 0) : 0;
  }
  const cocabo_status status = answer == SQLITE_ROW || answer == SQLITE_DONE
                                   ? COCABO_OK
                                   : cb_database_fail(db, answer, err);
  sqlite3_finalize(statement);
  return status;
}

/* Which version of the schema the file has, 0 if it is still empty. In a transaction:
 * another process may be making the file while we look. */
static cocabo_status identify(const cb_database *db, int64_t *version,
                              cocabo_error *err) {
  char path[CB_SHOWN];
  int64_t application = 0, tables = 0;
  CB_TRY(get_integer(db, "SELECT count(*) FROM sqlite_schema", &tables, err));
  CB_TRY(get_integer(db, "PRAGMA application_id", &application, err));
  CB_TRY(get_integer(db, "PRAGMA user_version", version, err));
  if (application == 0 && *version == 0 && tables == 0)
    return COCABO_OK;
  cb_text_show(path, db->path);
  if (application != APPLICATION_ID)
    return cb_fail(err, COCABO_E_STORE,
                   "\"%s\" is a database of another program, want one of cocabo", path);
  if (*version > NEWEST)
    return cb_fail(err, COCABO_E_STORE,
                   "\"%s\" was made by a newer version of cocabo: its schema is %lld, "
                   "this version knows up to %d",
                   path, (long long)*version, NEWEST);
  return COCABO_OK;
}

static cocabo_status migrate_from(const cb_database *db, int64_t version,
                                  cocabo_error *err) {
  char pragmas[100];
  for (int64_t i = version; i < NEWEST; i++)
    CB_TRY(run_or_fail(db, migrations[i], err));
  snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d",
           APPLICATION_ID, NEWEST);
  return run_or_fail(db, pragmas, err);
}

/* Another process may have done it while we waited for our turn: look again. */
static cocabo_status migrate(cb_database *db, cocabo_error *err) {
  int64_t version = 0;
  CB_TRY(cb_database_begin(db, true, err));
  cocabo_status status = identify(db, &version, err);
  if (status == COCABO_OK && version < NEWEST)
    status = migrate_from(db, version, err);
  return cb_database_end(db, status, err);
}

static bool is_busy(int answer) {
  return (answer & 0xFF) == SQLITE_BUSY;
}

/* Where several processes do this at once, SQLite does not wait by itself. A file
 * system that cannot have a write-ahead log keeps the journal it has. */
static cocabo_status use_write_ahead_log(cb_database *db, cocabo_error *err) {
  int answer = run(db, "PRAGMA journal_mode=WAL");
  for (int tries = 0; is_busy(answer) && wait_for_lock(db, tries); tries++)
    answer = run(db, "PRAGMA journal_mode=WAL");
  return check(db, answer, err);
}

/* What the file contains is not trusted: its schema may not call functions, and pages
 * are checked when they are read. */
static cocabo_status configure(cb_database *db, cocabo_error *err) {
  sqlite3_extended_result_codes(db->handle, 1);
  sqlite3_busy_handler(db->handle, wait_for_lock, db);
  sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, CB_JSON_MAX + (1 << 20));
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
  sqlite3_db_config(db->handle, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
  db->full = true; /* SQLite's own default */
  if (db->read_only)
    CB_TRY(run_or_fail(db, "PRAGMA query_only=ON", err));
  return run_or_fail(db, "PRAGMA cell_size_check=ON", err);
}

static cocabo_status prepare_file(cb_database *db, cocabo_error *err) {
  char path[CB_SHOWN];
  int64_t version = 0;
  CB_TRY(configure(db, err));
  CB_TRY(run_or_fail(db, "BEGIN", err));
  CB_TRY(cb_database_end(db, identify(db, &version, err), err));
  if (!db->read_only && sqlite3_db_readonly(db->handle, "main") == 0)
    CB_TRY(use_write_ahead_log(db, err));
  if (version == NEWEST)
    return COCABO_OK;
  if (db->read_only && version == 0)
    return cb_fail(err, COCABO_E_NOT_FOUND, "there is no study in \"%s\" yet",
                   cb_text_show(path, db->path));
  if (db->read_only)
    return cb_fail(err, COCABO_E_STORE,
                   "the schema of \"%s\" is %lld, want %d: open it for writing once",
                   cb_text_show(path, db->path), (long long)version, NEWEST);
  return migrate(db, err);
}

/* Nobody can write to it, not even the files that readers of a write-ahead log share:
 * an archive. Then it may be read as it is. */
static bool is_frozen(const char *path) {
  char beside[PATH_MAX];
  if (access(folder_of(path, beside), W_OK) == 0)
    return false;
  snprintf(beside, sizeof beside, "%s-wal", path);
  return access(beside, F_OK) != 0;
}

/* The path as a URI that says so; every byte that could mean something is escaped. */
static char *frozen_name(const char *path) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789/._-";
  char *name = cb_calloc(3 * strlen(path) + 100, 1);
  if (!name)
    return NULL;
  char *to = name + sprintf(name, "file:");
  for (const char *from = path; *from; from++)
    to += strchr(plain, *from) ? sprintf(to, "%c", *from)
                               : sprintf(to, "%%%02x", (unsigned)(unsigned char)*from);
  strcpy(to, "?immutable=1");
  return name;
}

/* A name that SQLite takes for nothing but a path. */
static char *plain_name(const char *path) {
  char *name = cb_calloc(strlen(path) + sizeof "./", 1);
  if (name)
    strcat(strcpy(name, *path == '/' ? "" : "./"), path);
  return name;
}

/* Who only reads may write to the file too, where the system lets them, so that the
 * last one to close it removes the files beside it; nothing else is written. */
static cocabo_status open_file(cb_database *db, unsigned flags, cocabo_error *err) {
  const bool frozen = db->read_only && is_frozen(db->path);
  char *name = frozen ? frozen_name(db->path) : plain_name(db->path);
  if (!name)
    return cb_no_memory(err);
  int mode = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE;
  mode |= frozen ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE;
  mode |= flags & COCABO_STORE_CREATE ? SQLITE_OPEN_CREATE : 0;
  mode |= frozen ? SQLITE_OPEN_URI : 0;
  const int answer = sqlite3_open_v2(name, &db->handle, mode, NULL);
  cb_free(name);
  return db->handle ? check(db, answer, err) : cb_no_memory(err);
}

static cocabo_status check_file(const char *path, unsigned flags, cocabo_error *err) {
  struct stat info;
  char shown[CB_SHOWN];
  cb_text_show(shown, path);
  if (stat(path, &info) != 0 && errno == ENOENT && !(flags & COCABO_STORE_CREATE))
    return cb_fail(err, COCABO_E_NOT_FOUND, "there is no file \"%s\"", shown);
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
    return cb_fail(err, COCABO_E_STORE, "\"%s\" is a folder, want a file", shown);
  return COCABO_OK;
}

cocabo_status cb_database_open(cb_database *db, const char *path, unsigned flags,
                               double patience, cocabo_error *err) {
  CB_TRY(check_file(path, flags, err));
  memset(db, 0, sizeof *db);
  db->patience = patience;
  db->read_only = (flags & COCABO_STORE_READ_ONLY) != 0;
  db->jitter = ((uint64_t)getpid() << 32) ^ (uint64_t)(1e9 * steady_clock()) ^ 1u;
  db->path = cb_strdup(path);
  cocabo_status status = db->path ? open_file(db, flags, err) : cb_no_memory(err);
  if (status == COCABO_OK)
    status = prepare_file(db, err);
  if (status != COCABO_OK)
    cb_database_close(db);
  return status;
}

void cb_database_close(cb_database *db) {
  for (int i = 0; i < CB_MAX_STATEMENTS; i++)
    sqlite3_finalize(db->statements[i]);
  sqlite3_close(db->handle);
  cb_free(db->path);
  memset(db, 0, sizeof *db);
}

/* ---- using ----------------------------------------------------------------------- */

sqlite3_stmt *cb_database_statement(cb_database *db, int i) {
  if (!db->statements[i])
    sqlite3_prepare_v3(db->handle, db->sql[i], -1, SQLITE_PREPARE_PERSISTENT,
                       &db->statements[i], NULL);
  return db->statements[i];
}

static cocabo_status set_durability(cb_database *db, bool durable, cocabo_error *err) {
  if (db->full == durable)
    return COCABO_OK;
  CB_TRY(run_or_fail(
      db, durable ? "PRAGMA synchronous=FULL" : "PRAGMA synchronous=NORMAL", err));
  db->full = durable;
  return COCABO_OK;
}

/* A file that has been deleted or replaced would take the events with it. */
static cocabo_status check_place(const cb_database *db, cocabo_error *err) {
  char path[CB_SHOWN];
  int moved = 0;
  sqlite3_file_control(db->handle, "main", SQLITE_FCNTL_HAS_MOVED, &moved);
  if (moved)
    return cb_fail(err, COCABO_E_STORE, "the database \"%s\" has been moved or deleted",
                   cb_text_show(path, db->path));
  return COCABO_OK;
}

cocabo_status cb_database_begin(cb_database *db, bool durable, cocabo_error *err) {
  char path[CB_SHOWN];
  if (db->read_only)
    return cb_fail(err, COCABO_E_STORE, "the database \"%s\" is open for reading only",
                   cb_text_show(path, db->path));
  CB_TRY(check_place(db, err));
  CB_TRY(set_durability(db, durable, err));
  return run_or_fail(db, "BEGIN IMMEDIATE", err);
}

cocabo_status cb_database_end(cb_database *db, cocabo_status status,
                              cocabo_error *err) {
  if (status == COCABO_OK)
    status = run_or_fail(db, "COMMIT", err);
  if (!sqlite3_get_autocommit(db->handle))
    run(db, "ROLLBACK");
  return status;
}
