/* database.c - a connection to a SQLite file.
 *
 * The journal is a write-ahead log: readers never wait, writers take turns (BEGIN
 * IMMEDIATE). A commit is in the hands of the operating system when it returns, and on
 * the disk too if it is durable. Now and then a commit also copies the log into the
 * file; with SQLite's own 1000 pages that is one in some 300 and takes a few
 * milliseconds (200 pages: many more of them, 4000: longer ones). Where the disk is
 * small it is copied earlier: it would take the room that the file needs to grow.
 */
#include "store/database.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "store/clock.h"
#include "store/holder.h"
#include "store/mark.h"
#include "store/schema.h"

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

static cocabo_status fail_busy(const cb_database *db, const char *path,
                               cocabo_error *err) {
  char who[60] = "another process";
  if (db->holder > 0)
    snprintf(who, sizeof who, "process %lld", (long long)db->holder);
  if (db->hurry)
    return cb_fail(err, COCABO_E_BUSY, "cannot %s \"%s\" now: %s is writing to it",
                   db->what, path, who);
  if (db->stopped)
    return cb_fail(err, COCABO_E_INTERRUPTED,
                   "cannot %s \"%s\": stopped waiting for %s, which holds its lock",
                   db->what, path, who);
  return cb_fail(err, COCABO_E_STORE,
                 "cannot %s \"%s\": %s has held its lock for more than %g seconds; let "
                 "it go on or end it, then try again",
                 db->what, path, who, db->patience.seconds);
}

static cocabo_status fail_room(cb_database *db, const char *path, cocabo_error *err) {
  db->no_room = true;
  return cb_fail(
      err, COCABO_E_STORE,
      "cannot %s \"%s\": no room left on the disk of \"%s\"; make some, then "
      "try again",
      db->what, path, path);
}

static cocabo_status fail_opening(const cb_database *db, const char *path,
                                  cocabo_error *err) {
  char reason[100];
  const int why = opening_error(db->path);
  return cb_fail(err, COCABO_E_STORE, "cannot %s \"%s\": %s%s; %s", db->what, path,
                 strcmp(db->what, "open") == 0 ? "" : "it cannot be opened: ",
                 system_reason(db, why, reason, sizeof reason),
                 why == ENOENT   ? "make its folder first"
                 : why == EACCES ? "want the right to use it and its folder"
                                 : "look at the file and its folder");
}

/* What was tried, with which file, why it failed, and what to do. */
cocabo_status cb_database_fail(cb_database *db, int answer, cocabo_error *err) {
  char path[CB_SHOWN], reason[100];
  const int number = sqlite3_system_errno(db->handle);
  cb_text_show_within(path, db->path, 60);
  db->no_room = false;
  switch (answer & 0xFF) {
  case SQLITE_NOMEM:
    return cb_no_memory(err);
  case SQLITE_BUSY:
    return fail_busy(db, path, err);
  case SQLITE_NOTADB:
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s \"%s\": it is not a SQLite database, want a file that "
                   "cocabo made",
                   db->what, path);
  case SQLITE_CORRUPT:
    return cb_fail(
        err, COCABO_E_STORE,
        "cannot %s \"%s\": it is damaged; restore a backup, or save what can "
        "be read with .recover of sqlite3",
        db->what, path);
  case SQLITE_FULL:
    return fail_room(db, path, err);
  case SQLITE_READONLY:
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s \"%s\": it or its folder cannot be written to; change "
                   "that, or use a copy elsewhere",
                   db->what, path);
  case SQLITE_CANTOPEN:
    return fail_opening(db, path, err);
  case SQLITE_IOERR:
    if (number == ENOSPC)
      return fail_room(db, path, err);
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s \"%s\": the disk failed: %s; look at the disk, then try "
                   "again",
                   db->what, path, system_reason(db, number, reason, sizeof reason));
  default:
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s \"%s\": SQLite says: %.80s; restore a backup if it stays "
                   "so",
                   db->what, path, sqlite3_errmsg(db->handle));
  }
}

static cocabo_status check(cb_database *db, int answer, cocabo_error *err) {
  return answer == SQLITE_OK ? COCABO_OK : cb_database_fail(db, answer, err);
}

static int run(const cb_database *db, const char *sql) {
  return sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
}

static cocabo_status run_or_fail(cb_database *db, const char *sql, cocabo_error *err) {
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

/* Who it is takes a while to find out and matters to people only. */
static void look_for_holder(cb_database *db, double waited) {
  if (waited < db->holder_age)
    return;
  db->holder = cb_lock_holder(db->path);
  db->holder_age = waited + 0.5;
}

static bool goes_on_waiting(cb_database *db, double waited) {
  look_for_holder(db, waited);
  db->stopped = db->interrupt && db->interrupt(db->user);
  if (db->stopped)
    return false;
  if (!db->patience.wait)
    return waited <= db->patience.seconds;
  const cocabo_waiting how = {.seconds = waited, .process = db->holder};
  db->waited = true;
  db->stopped = db->patience.wait(db->patience.user, &how) != 0;
  return !db->stopped;
}

/* It has its turn. */
static void say_over(cb_database *db) {
  const cocabo_waiting how = {.seconds = steady_clock() - db->waiting_since, .over = 1};
  if (db->waited && db->patience.wait)
    db->patience.wait(db->patience.user, &how);
  db->waited = false;
  db->holder = 0;
}

/* Waits 0.1 ms at first, as long as a short commit takes, then twice as long each time
 * and at most 26 ms. Says whether to try again. */
static int wait_for_lock(void *user, int tries) {
  enum { DOUBLINGS = 8 };
  cb_database *db = user;
  if (tries == 0) {
    db->waiting_since = steady_clock();
    db->holder_age = 0.5;
  }
  const double waited = steady_clock() - db->waiting_since;
  db->blocked = db->blocked || waited >= 1.0;
  if (db->hurry || !goes_on_waiting(db, waited))
    return 0;
  const double seconds =
      1e-4 * (double)(1 << (tries < DOUBLINGS ? tries : DOUBLINGS)) * spread(db);
  nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * seconds)}, NULL);
  return 1;
}

/* ---- copying the log into the file ----------------------------------------------- */

/* Never waits: whoever reads or writes now makes it happen later. */
static int copy_log(cb_database *db, int how) {
  const bool hurry = db->hurry;
  db->hurry = true;
  const int answer = sqlite3_wal_checkpoint_v2(db->handle, "main", how, NULL, NULL);
  db->hurry = hurry;
  return answer;
}

/* Would the file, should it have to grow by all of the log, soon have no room? */
static bool is_tight(const cb_database *db, int pages) {
  enum { WORTH_IT = 16, PAGE = 4096 };
  struct statvfs disk;
  if (pages < WORTH_IT || statvfs(db->path, &disk) != 0)
    return false;
  return (double)pages * PAGE > 0.5 * (double)disk.f_bavail * (double)disk.f_frsize;
}

/* Called by SQLite after a commit; the log has so many pages. */
static int after_commit(void *user, sqlite3 *handle, const char *name, int pages) {
  enum { MANY = 1000 };
  cb_database *db = user;
  (void)handle, (void)name;
  if (is_tight(db, pages))
    copy_log(db, SQLITE_CHECKPOINT_TRUNCATE);
  else if (pages >= MANY)
    copy_log(db, SQLITE_CHECKPOINT_PASSIVE);
  return SQLITE_OK;
}

bool cb_database_make_room(cb_database *db) {
  const bool was_full = db->no_room;
  db->no_room = false;
  return was_full && copy_log(db, SQLITE_CHECKPOINT_TRUNCATE) == SQLITE_OK;
}

/* ---- opening --------------------------------------------------------------------- */

cocabo_status cb_database_integer(cb_database *db, const char *sql, int64_t *out,
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

/* PRAGMA quick_check is faster and believes the indices, of which a damaged one makes
 * asks fail. */
cocabo_status cb_database_check(cb_database *db, cocabo_error *err) {
  sqlite3_stmt *statement = NULL;
  char path[CB_SHOWN], found[CB_SHOWN];
  int answer =
      sqlite3_prepare_v2(db->handle, "PRAGMA integrity_check(1)", -1, &statement, NULL);
  if (answer == SQLITE_OK)
    answer = sqlite3_step(statement);
  const char *text =
      answer == SQLITE_ROW ? (const char *)sqlite3_column_text(statement, 0) : NULL;
  cocabo_status status = COCABO_OK;
  if (answer != SQLITE_ROW)
    status = cb_database_fail(db, answer, err);
  else if (!text)
    status = cb_no_memory(err);
  else if (strcmp(text, "ok") != 0)
    status = cb_fail(err, COCABO_E_STORE,
                     "\"%s\" is damaged: %s; restore a backup, or save what can be "
                     "read with .recover of sqlite3",
                     cb_text_show_within(path, db->path, 60),
                     cb_text_show_within(found, text, 90));
  sqlite3_finalize(statement);
  return status;
}

/* Another process may have done it while we waited for our turn: look again. */
static cocabo_status migrate(cb_database *db, cocabo_error *err) {
  CB_TRY(cb_database_begin(db, true, err));
  cocabo_status status = cb_schema_identify(db, &db->version, err);
  if (status == COCABO_OK && db->version < CB_SCHEMA_NEWEST)
    status = cb_schema_migrate(db, db->version, err);
  CB_TRY(cb_database_end(db, status, err));
  db->version = CB_SCHEMA_NEWEST;
  return COCABO_OK;
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

/* What the file contains is not trusted: its schema may not call functions, it has no
 * views or triggers that could be run, and pages are checked when they are read. */
static void distrust(const cb_database *db) {
  static const struct {
    int setting, value;
  } settings[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},
                  {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                  {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                  {SQLITE_DBCONFIG_ENABLE_VIEW, 0}};
  for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
    sqlite3_db_config(db->handle, settings[i].setting, settings[i].value, NULL);
  sqlite3_limit(db->handle, SQLITE_LIMIT_LENGTH, CB_JSON_MAX + (1 << 20));
}

static cocabo_status configure(cb_database *db, cocabo_error *err) {
  sqlite3_extended_result_codes(db->handle, 1);
  sqlite3_busy_handler(db->handle, wait_for_lock, db);
  sqlite3_wal_hook(db->handle, after_commit, db);
  distrust(db);
  db->full = true; /* SQLite's own default */
  if (db->read_only)
    CB_TRY(run_or_fail(db, "PRAGMA query_only=ON", err));
  return run_or_fail(db, "PRAGMA cell_size_check=ON; PRAGMA journal_size_limit=4194304",
                     err);
}

static cocabo_status prepare_file(cb_database *db, cocabo_error *err) {
  char path[CB_SHOWN];
  CB_TRY(cb_mark_check(db, err));
  CB_TRY(configure(db, err));
  CB_TRY(run_or_fail(db, "BEGIN", err));
  CB_TRY(cb_database_end(db, cb_schema_identify(db, &db->version, err), err));
  if (db->read_only && db->version == 0)
    return cb_fail(err, COCABO_E_NOT_FOUND, "there is no study in \"%s\" yet",
                   cb_text_show(path, db->path));
  if (db->read_only)
    return COCABO_OK; /* an older one is read as it is */
  if (sqlite3_db_readonly(db->handle, "main") == 0)
    CB_TRY(use_write_ahead_log(db, err));
  db->what = "bring up to date";
  return db->version < CB_SCHEMA_NEWEST ? migrate(db, err) : COCABO_OK;
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
                               cb_patience patience, cocabo_error *err) {
  CB_TRY(check_file(path, flags, err));
  memset(db, 0, sizeof *db);
  db->what = "open";
  db->free_at = -1e9; /* long ago */
  db->patience = patience;
  db->read_only = (flags & COCABO_STORE_READ_ONLY) != 0;
  db->jitter = ((uint64_t)getpid() << 32) ^ (uint64_t)(1e9 * steady_clock()) ^ 1u;
  db->path = cb_strdup(path);
  cocabo_status status = db->path ? open_file(db, flags, err) : cb_no_memory(err);
  if (status == COCABO_OK)
    status = prepare_file(db, err);
  if (status == COCABO_OK)
    say_over(db);
  else
    cb_database_close(db);
  return status;
}

void cb_database_close(cb_database *db) {
  for (int i = 0; i < CB_MAX_STATEMENTS; i++)
    sqlite3_finalize(db->statements[i]);
  sqlite3_finalize(db->marking);
  db->hurry = true;
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
    return cb_fail(
        err, COCABO_E_STORE,
        "cannot %s \"%s\": it has been moved or deleted; put it back, or use "
        "it where it is now",
        db->what, cb_text_show(path, db->path));
  return COCABO_OK;
}

cocabo_status cb_database_begin(cb_database *db, bool durable, cocabo_error *err) {
  char path[CB_SHOWN];
  if (db->read_only)
    return cb_fail(err, COCABO_E_STORE, "cannot %s \"%s\": it is open for reading only",
                   db->what, cb_text_show(path, db->path));
  db->stopped = false;
  assert(sqlite3_get_autocommit(db->handle)); /* no transaction within another */
  CB_TRY(check_place(db, err));
  CB_TRY(set_durability(db, durable, err));
  CB_TRY(run_or_fail(db, "BEGIN IMMEDIATE", err));
  say_over(db);
  if (db->blocked)
    db->free_at = cb_clock_boot();
  db->blocked = false;
  db->changes = sqlite3_total_changes(db->handle);
  return COCABO_OK;
}

static int change_mark(cb_database *db) {
  int answer = SQLITE_OK;
  if (!db->marking)
    answer = sqlite3_prepare_v3(db->handle, cb_mark_sql, -1, SQLITE_PREPARE_PERSISTENT,
                                &db->marking, NULL);
  if (answer != SQLITE_OK)
    return answer;
  sqlite3_step(db->marking);
  return sqlite3_reset(db->marking);
}

/* What has changed nothing needs no mark. */
static cocabo_status commit(cb_database *db, cocabo_error *err) {
  if (sqlite3_total_changes(db->handle) != db->changes)
    CB_TRY(check(db, change_mark(db), err));
  return run_or_fail(db, "COMMIT", err);
}

cocabo_status cb_database_end(cb_database *db, cocabo_status status,
                              cocabo_error *err) {
  if (status == COCABO_OK)
    status = commit(db, err);
  if (!sqlite3_get_autocommit(db->handle))
    run(db, "ROLLBACK");
  return status;
}
