/* schema.c - see schema.h. */
#include "store/schema.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"

enum { APPLICATION_ID = 0x636F6361 }; /* "coca" */

/* Version i + 1 of the schema is made from version i by migrations[i]. They have been
 * run on users' files: never change one, add the next. A table is changed by making it
 * anew, because files are compared with the text of what made them. */
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

    /* Leases know their length (0: it is not known), and their end on the clock that
     * nobody sets. */
    "ALTER TABLE leases RENAME TO old_leases;"
    "CREATE TABLE leases ("
    "  study INTEGER NOT NULL,"
    "  trial INTEGER NOT NULL,"
    "  owner TEXT NOT NULL,"
    "  until REAL NOT NULL,"
    "  seconds REAL NOT NULL,"
    "  boot TEXT NOT NULL,"
    "  due REAL NOT NULL,"
    "  PRIMARY KEY (study, trial)"
    ") STRICT, WITHOUT ROWID;"
    "INSERT INTO leases SELECT study, trial, owner, until, 0, '', 0 FROM old_leases;"
    "DROP TABLE old_leases;"
    "CREATE TABLE file (mark TEXT NOT NULL) STRICT;"
    "INSERT INTO file VALUES ("
    "  'cocabo ' || lower(hex(randomblob(16))) || printf(' %020d', 0));",

    /* Events have a checksum; those from before have none. */
    "ALTER TABLE events RENAME TO old_events;"
    "CREATE TABLE events ("
    "  study INTEGER NOT NULL,"
    "  seq INTEGER NOT NULL,"
    "  id BLOB NOT NULL,"
    "  time REAL NOT NULL,"
    "  kind INTEGER NOT NULL,"
    "  number INTEGER NOT NULL,"
    "  attempt INTEGER NOT NULL,"
    "  body TEXT NOT NULL,"
    "  checksum INTEGER,"
    "  PRIMARY KEY (study, seq)"
    ") STRICT, WITHOUT ROWID;"
    "INSERT INTO events SELECT study, seq, id, time, kind, number, attempt, body, NULL"
    "  FROM old_events ORDER BY study, seq;"
    "DROP TABLE old_events;"
    "CREATE UNIQUE INDEX event_by_id ON events (study, id);"
    "CREATE UNIQUE INDEX trial_by_number ON events (study, number)"
    "  WHERE kind IN (3, 9);"
    "CREATE UNIQUE INDEX attempt_by_number ON events (study, number, attempt)"
    "  WHERE kind = 8;",

    /* What a study came to, so that a list of studies need not read their logs. */
    "CREATE TABLE summaries ("
    "  study INTEGER PRIMARY KEY,"
    "  seq INTEGER NOT NULL,"
    "  body TEXT NOT NULL"
    ") STRICT;",

    /* Leases of runs, each of which is started once; -1: the trial as a whole. */
    "ALTER TABLE leases RENAME TO old_leases;"
    "CREATE TABLE leases ("
    "  study INTEGER NOT NULL,"
    "  trial INTEGER NOT NULL,"
    "  run INTEGER NOT NULL,"
    "  owner TEXT NOT NULL,"
    "  until REAL NOT NULL,"
    "  seconds REAL NOT NULL,"
    "  boot TEXT NOT NULL,"
    "  due REAL NOT NULL,"
    "  PRIMARY KEY (study, trial, run)"
    ") STRICT, WITHOUT ROWID;"
    "INSERT INTO leases SELECT study, trial, -1, owner, until, seconds, boot, due"
    "  FROM old_leases;"
    "DROP TABLE old_leases;"
    "CREATE UNIQUE INDEX run_by_number ON events (study, number, attempt)"
    "  WHERE kind = 11;",
};
_Static_assert(sizeof migrations / sizeof migrations[0] == CB_SCHEMA_NEWEST,
               "every version has its migration");

static int run_migrations(sqlite3 *handle, int64_t from, int64_t to) {
  int answer = SQLITE_OK;
  for (int64_t i = from; i < to && answer == SQLITE_OK; i++)
    answer = sqlite3_exec(handle, migrations[i], NULL, NULL, NULL);
  return answer;
}

cocabo_status cb_schema_migrate(cb_database *db, int64_t version, cocabo_error *err) {
  char pragmas[100];
  snprintf(pragmas, sizeof pragmas, "PRAGMA application_id=%d; PRAGMA user_version=%d",
           APPLICATION_ID, CB_SCHEMA_NEWEST);
  int answer = run_migrations(db->handle, version, CB_SCHEMA_NEWEST);
  if (answer == SQLITE_OK)
    answer = sqlite3_exec(db->handle, pragmas, NULL, NULL, NULL);
  return answer == SQLITE_OK ? COCABO_OK : cb_database_fail(db, answer, err);
}

/* ---- is it what we made? --------------------------------------------------------- */

/* Statistics do no harm; SQLite's own tool makes them. */
static const char all_objects[] =
    "SELECT type, name, tbl_name, sql FROM sqlite_schema "
    "WHERE name NOT IN ('sqlite_stat1', 'sqlite_stat4') ORDER BY name, type";
enum { N_COLUMNS = 4 };

static const char *column(sqlite3_stmt *row, int i) {
  const char *text = (const char *)sqlite3_column_text(row, i);
  return text ? text : "";
}

static bool is_same(sqlite3_stmt *one, sqlite3_stmt *other) {
  for (int i = 0; i < N_COLUMNS; i++)
    if (strcmp(column(one, i), column(other, i)) != 0)
      return false;
  return true;
}

/* The first object where the two lists part. */
static cocabo_status differs(const cb_database *db, sqlite3_stmt *got, bool has_got,
                             sqlite3_stmt *want, bool has_want, cocabo_error *err) {
  char path[CB_SHOWN], name[CB_SHOWN], type[CB_SHOWN];
  const int order = !has_got    ? 1
                    : !has_want ? -1
                                : strcmp(column(got, 1), column(want, 1));
  sqlite3_stmt *row = order > 0 ? want : got;
  return cb_fail(err, COCABO_E_STORE,
                 "\"%s\" %s the %s \"%s\": cocabo does not open a file that was "
                 "changed by others, want one as cocabo made it",
                 cb_text_show_within(path, db->path, 60),
                 order > 0   ? "has lost"
                 : order < 0 ? "also has"
                             : "has another form of",
                 cb_text_show_within(type, column(row, 0), 20),
                 cb_text_show_within(name, column(row, 1), 40));
}

static cocabo_status compare(cb_database *db, sqlite3_stmt *got, sqlite3_stmt *want,
                             cocabo_error *err) {
  for (;;) {
    const int ours = sqlite3_step(want), theirs = sqlite3_step(got);
    if (ours != SQLITE_ROW && ours != SQLITE_DONE)
      return cb_no_memory(err);
    if (theirs != SQLITE_ROW && theirs != SQLITE_DONE)
      return cb_database_fail(db, theirs, err);
    if (ours == SQLITE_DONE && theirs == SQLITE_DONE)
      return COCABO_OK;
    if (ours != theirs || !is_same(got, want)) {
      const bool no_memory = sqlite3_errcode(db->handle) == SQLITE_NOMEM;
      return no_memory ? cb_no_memory(err)
                       : differs(db, got, theirs == SQLITE_ROW, want,
                                 ours == SQLITE_ROW, err);
    }
  }
}

/* The same version is made in memory, and the two compared. Views, triggers, generated
 * columns or tables of another form are found before anything of theirs is run. */
static cocabo_status check_objects(cb_database *db, int64_t version,
                                   cocabo_error *err) {
  sqlite3 *ours = NULL;
  sqlite3_stmt *got = NULL, *want = NULL;
  cocabo_status status = COCABO_OK;
  if (sqlite3_open_v2(":memory:", &ours,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX,
                      NULL) != SQLITE_OK ||
      run_migrations(ours, 0, version) != SQLITE_OK ||
      sqlite3_prepare_v2(ours, all_objects, -1, &want, NULL) != SQLITE_OK)
    status = cb_no_memory(err);
  if (status == COCABO_OK) {
    const int answer = sqlite3_prepare_v2(db->handle, all_objects, -1, &got, NULL);
    status = answer == SQLITE_OK ? compare(db, got, want, err)
                                 : cb_database_fail(db, answer, err);
  }
  sqlite3_finalize(got);
  sqlite3_finalize(want);
  sqlite3_close(ours);
  return status;
}

cocabo_status cb_schema_identify(cb_database *db, int64_t *version, cocabo_error *err) {
  char path[CB_SHOWN];
  int64_t application = 0, objects = 0;
  CB_TRY(cb_database_integer(db, "SELECT count(*) FROM sqlite_schema", &objects, err));
  CB_TRY(cb_database_integer(db, "PRAGMA application_id", &application, err));
  CB_TRY(cb_database_integer(db, "PRAGMA user_version", version, err));
  if (application == 0 && *version == 0 && objects == 0)
    return COCABO_OK;
  cb_text_show(path, db->path);
  if (application != APPLICATION_ID)
    return cb_fail(err, COCABO_E_STORE,
                   "\"%s\" is a database of another program, want one of cocabo", path);
  if (*version > CB_SCHEMA_NEWEST)
    return cb_fail(err, COCABO_E_STORE,
                   "\"%s\" was made by a newer version of cocabo: its schema is %lld, "
                   "this version knows up to %d",
                   path, (long long)*version, CB_SCHEMA_NEWEST);
  if (*version < 1)
    return cb_fail(err, COCABO_E_STORE,
                   "\"%s\" is damaged: its schema (user_version) is %lld, want 1 to "
                   "%d; restore a backup",
                   path, (long long)*version, CB_SCHEMA_NEWEST);
  return check_objects(db, *version, err);
}
