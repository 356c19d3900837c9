/* Files that are damaged, foreign, newer, locked, read-only, or on a full disk: one
 * sentence that names the file, nothing made worse, and never a crash. And every
 * operation with the k-th allocation failing, ours and SQLite's. */
#include "check.h"

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "cocabo_store.h"
#include "store/sqlite.h"
#include "store/store.h"

static cocabo_error err;
static char folder[] = "/tmp/cocabo-faults-XXXXXX"; /* also the working directory */

static cocabo_space *space; /* one real, x */

static int enter_folder(void **state) {
  (void)state;
  space = cocabo_space_new();
  if (cocabo_space_add_real(space, "x", 0, 1, 0, 0, &err) != COCABO_OK)
    return 1;
  return !mkdtemp(folder) || chmod(folder, 0755) != 0 || chdir(folder) != 0;
}

static void lift_limit(void) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
}

/* Also after a test that failed half-way. */
static int clean_up(void **state) {
  (void)state;
  lift_limit();
  umount("disk");
  return system("rm -rf ./*") != 0;
}

static int leave_folder(void **state) {
  (void)state;
  cocabo_space_free(space);
  return chdir("/") != 0 || rmdir(folder) != 0;
}

/* ---- a small study in a file ----------------------------------------------------- */

static cocabo_store *open_store(const char *path, unsigned flags) {
  cocabo_store *store = NULL;
  assert_ok(cocabo_store_open(&store, path, flags, &err));
  return store;
}

static uint64_t next_id = 1;

static cocabo_status create(cocabo_store *store, const char *name, int64_t *id) {
  cb_event created = {.kind = CB_STUDY_CREATED, .number = -1, .space = space};
  created.id[1] = next_id++;
  return store->ops->create(store, name, &created, id, &err);
}

/* Trial `number` is asked and told at one stroke. */
static cocabo_status append_trial(cocabo_store *store, int64_t study, int64_t number) {
  cb_cell cell = {.real = 0.5};
  const uint64_t asked = next_id++, told = next_id++;
  cb_event events[] = {{.kind = CB_TRIAL_ASKED,
                        .number = number,
                        .id = {1, asked},
                        .origin = CB_BY_DESIGN,
                        .n_cells = 1,
                        .cells = &cell},
                       {.kind = CB_TRIAL_TOLD,
                        .number = number,
                        .id = {1, told},
                        .has_y = true,
                        .y = 0.1 * (double)number}};
  const cb_append what = {.events = events, .n = 2, .next_number = number};
  return store->ops->append(store, study, &what, &err);
}

static cocabo_status count_event(void *user, const cb_event *event, cocabo_error *e) {
  (void)event;
  (void)e;
  ++*(int *)user;
  return COCABO_OK;
}

static cocabo_status read_all(cocabo_store *store, int64_t study, int *n) {
  *n = 0;
  return store->ops->read_since(store, study, &(cb_position){.seq = 0}, count_event,
                                NULL, n, &err);
}

static cocabo_status find(cocabo_store *store, int64_t *id) {
  return store->ops->find(store, "s", id, &err);
}

/* Study "s" with so many trials. */
static void make_file(const char *path, int n_trials) {
  cocabo_store *store = open_store(path, COCABO_STORE_CREATE);
  int64_t id = 0;
  assert_ok(create(store, "s", &id));
  for (int i = 0; i < n_trials; i++)
    assert_ok(append_trial(store, id, i));
  cocabo_store_free(store);
}

static void assert_trials(const char *path, int n_trials) {
  cocabo_store *store = open_store(path, 0);
  int64_t id = 0;
  int n = 0;
  assert_ok(find(store, &id));
  assert_ok(read_all(store, id, &n));
  assert_int_equal(n, 1 + 2 * n_trials);
  cocabo_store_free(store);
}

/* Behind the store's back. */
static void run_sql(const char *path, const char *sql) {
  sqlite3 *db = NULL;
  char *message = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  if (sqlite3_exec(db, sql, NULL, NULL, &message) != SQLITE_OK)
    fail_msg("%s: %s", sql, message);
  sqlite3_close(db);
}

typedef struct bytes {
  unsigned char *at;
  size_t n;
} bytes;

static bytes read_bytes(const char *path) {
  struct stat info;
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fstat(fileno(file), &info), 0);
  bytes b = {.at = malloc((size_t)info.st_size + 1), .n = (size_t)info.st_size};
  assert_int_equal(fread(b.at, 1, b.n, file), b.n);
  fclose(file);
  return b;
}

static void write_bytes(const char *path, bytes b) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(b.at, 1, b.n, file), b.n);
  fclose(file);
}

static void assert_unchanged(const char *path, bytes want) {
  const bytes got = read_bytes(path);
  assert_int_equal(got.n, want.n);
  assert_memory_equal(got.at, want.at, want.n);
  free(got.at);
}

static void assert_refused(const char *path, const char *sentence) {
  const bytes before = read_bytes(path);
  cocabo_store *store = NULL;
  assert_fails(cocabo_store_open(&store, path, COCABO_STORE_CREATE, &err),
               COCABO_E_STORE, sentence);
  assert_fails(cocabo_store_open(&store, path, COCABO_STORE_READ_ONLY, &err),
               COCABO_E_STORE, sentence);
  assert_null(store);
  assert_unchanged(path, before);
  free(before.at);
}

/* ---- files that are not ours ----------------------------------------------------- */

static void other_files_are_left_alone(void **state) {
  (void)state;
  char text[5000];
  memset(text, 'x', sizeof text);
  write_bytes("a.txt", (bytes){(unsigned char *)text, sizeof text});
  assert_refused("a.txt", "cannot open \"a.txt\": it is not a SQLite database, want a "
                          "file that cocabo made");
  write_bytes("b.txt", (bytes){(unsigned char *)text, 7});
  assert_refused("b.txt", "cannot open \"b.txt\": it is not a SQLite database, want a "
                          "file that cocabo made");
  run_sql("c.db", "CREATE TABLE trials (number INTEGER)");
  assert_refused("c.db",
                 "\"c.db\" is a database of another program, want one of cocabo");
  run_sql("d.db", "PRAGMA user_version=1");
  assert_refused("d.db",
                 "\"d.db\" is a database of another program, want one of cocabo");
}

static void a_newer_schema_is_refused(void **state) {
  (void)state;
  make_file("a.db", 1);
  run_sql("a.db", "PRAGMA user_version=6");
  assert_refused("a.db",
                 "\"a.db\" was made by a newer version of cocabo: its schema is "
                 "6, this version knows up to 5");
}

static void a_schema_that_nobody_made_is_refused(void **state) {
  (void)state;
  make_file("a.db", 1);
  run_sql("a.db", "PRAGMA user_version=-3");
  assert_refused("a.db", "\"a.db\" is damaged: its schema (user_version) is -3, want 1 "
                         "to 5; restore a backup");
  run_sql("a.db", "PRAGMA user_version=0");
  assert_refused("a.db", "\"a.db\" is damaged: its schema (user_version) is 0, want 1 "
                         "to 5; restore a backup");
}

/* What a file may hold that would be run by those who read it or write to it. */
static void what_cocabo_did_not_make_is_refused(void **state) {
  (void)state;
#define TRICK "PRAGMA writable_schema=ON; UPDATE sqlite_schema SET "
  static const char *const cases[][2] = {
      {"CREATE TRIGGER t AFTER INSERT ON events BEGIN DELETE FROM studies; END",
       "also has the trigger \"t\""},
      {"CREATE VIEW v AS SELECT * FROM events", "also has the view \"v\""},
      {"ALTER TABLE leases RENAME TO a; CREATE VIEW leases AS SELECT * FROM a",
       "also has the table \"a\""},
      {"CREATE TABLE z (x, y AS (abs(x)))", "also has the table \"z\""},
      {"CREATE INDEX i ON events (kind)", "also has the index \"i\""},
      {"DROP INDEX event_by_id", "has lost the index \"event_by_id\""},
      {"DROP TABLE events", "has lost the index \"attempt_by_number\""},
      {"ALTER TABLE leases ADD COLUMN z INTEGER AS (length(owner))",
       "has another form of the table \"leases\""},
      {TRICK "sql = 'CREATE TABLE file (mark TEXT NOT NULL CHECK (abs(mark) < 7))' "
             "WHERE name = 'file'",
       "has another form of the table \"file\""},
      {TRICK
       "type = 'view', rootpage = 0, sql = 'CREATE VIEW file AS SELECT 1 AS mark' "
       "WHERE name = 'file'",
       "has another form of the view \"file\""}};
#undef TRICK
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char sentence[256];
    make_file("a.db", 1);
    run_sql("a.db", cases[i][0]);
    snprintf(
        sentence, sizeof sentence,
        "\"a.db\" %s: cocabo does not open a file that was changed by others, want "
        "one as cocabo made it",
        cases[i][1]);
    assert_refused("a.db", sentence);
    unlink("a.db");
  }
  make_file("a.db", 1);
  run_sql("a.db", "ANALYZE"); /* that does no harm */
  assert_trials("a.db", 1);
}

/* After the file was opened: what is added then is not run either. */
static void a_trigger_that_comes_later_is_not_run(void **state) {
  (void)state;
  make_file("a.db", 1);
  cocabo_store *store = open_store("a.db", 0);
  int64_t id = 0;
  int n = 0;
  assert_ok(find(store, &id));
  run_sql("a.db", "CREATE TRIGGER t AFTER INSERT ON events BEGIN "
                  "DELETE FROM events WHERE seq = 2; END");
  assert_ok(append_trial(store, id, 1));
  assert_ok(read_all(store, id, &n));
  assert_int_equal(n, 5);
  cocabo_store_free(store);
}

static void an_empty_file_becomes_a_store(void **state) {
  (void)state;
  write_bytes("a.db", (bytes){(unsigned char *)"", 0});
  cocabo_store *store = NULL;
  assert_fails(cocabo_store_open(&store, "a.db", COCABO_STORE_READ_ONLY, &err),
               COCABO_E_NOT_FOUND, "there is no study in \"a.db\" yet");
  store = open_store("a.db", 0);
  int64_t id = 0;
  assert_ok(create(store, "s", &id));
  cocabo_store_free(store);
  assert_trials("a.db", 0);
}

static void a_missing_folder_is_told(void **state) {
  (void)state;
  cocabo_store *store = NULL;
  assert_fails(cocabo_store_open(&store, "no/a.db", COCABO_STORE_CREATE, &err),
               COCABO_E_STORE,
               "cannot open \"no/a.db\": No such file or "
               "directory; make its folder first");
}

/* ---- damage ---------------------------------------------------------------------- */

/* Uses all of the store, and expects no more than sentences. */
static void survive(const char *path) {
  cocabo_store *store = NULL;
  int64_t id = 0;
  int n = 0;
  if (cocabo_store_open(&store, path, 0, &err) != COCABO_OK) {
    assert_int_equal(err.code, COCABO_E_STORE);
    return;
  }
  cocabo_study *study = NULL;
  if (cocabo_study_open(&study, "s", store, &err) == COCABO_OK)
    cocabo_study_free(study);
  if (find(store, &id) == COCABO_OK && read_all(store, id, &n) == COCABO_OK)
    if (append_trial(store, id, (n - 1) / 2) != COCABO_OK)
      assert_true(err.message[0] != '\0');
  cocabo_store_free(store);
}

static void a_truncated_file_never_crashes(void **state) {
  (void)state;
  make_file("a.db", 100);
  bytes all = read_bytes("a.db");
  for (size_t n = 1; n < all.n; n += 509) {
    write_bytes("b.db", (bytes){all.at, n});
    survive("b.db");
    unlink("b.db-wal");
    unlink("b.db-shm");
  }
  free(all.at);
}

static void flipped_bytes_never_crash(void **state) {
  (void)state;
  make_file("a.db", 60);
  bytes all = read_bytes("a.db");
  unsigned seed = 7;
  for (int i = 0; i < 300; i++) {
    bytes copy = {.at = malloc(all.n), .n = all.n};
    memcpy(copy.at, all.at, all.n);
    for (int k = 0; k < 1 + i % 20; k++)
      copy.at[100 + (size_t)rand_r(&seed) % (all.n - 100)] =
          (unsigned char)rand_r(&seed);
    write_bytes("b.db", copy);
    free(copy.at);
    survive("b.db");
    unlink("b.db-wal");
    unlink("b.db-shm");
  }
  free(all.at);
}

/* What the tables may say that the store never wrote. */
static void hostile_rows_get_a_sentence(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"UPDATE events SET body = '{\"y\":1' WHERE seq = 3",
       "event 3 of the log is damaged at byte 6: want a comma or the end of a list"},
      {"UPDATE events SET body = '' WHERE seq = 2",
       "event 2 of the log is damaged at byte 0: want an object"},
      {"UPDATE events SET body = 'a' || char(0) || 'b' WHERE seq = 2",
       "event 2 of the log is damaged at byte 0: want an object"},
      {"UPDATE events SET kind = 102, body = '[]' WHERE seq = 2",
       "event 2 of the log is damaged at byte 0: want an object"},
      {"UPDATE events SET id = zeroblob(3) WHERE seq = 2",
       "cannot read \"a.db\": it is damaged: an event has no id; restore a backup, or "
       "delete the study"},
      {"UPDATE events SET id = zeroblob(0) WHERE seq = 2",
       "cannot read \"a.db\": it is damaged: an event has no id; restore a backup, or "
       "delete the study"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    make_file("a.db", 1);
    run_sql("a.db", cases[i][0]);
    cocabo_store *store = open_store("a.db", 0);
    int64_t id = 0;
    int n = 0;
    assert_ok(find(store, &id));
    assert_fails(read_all(store, id, &n), COCABO_E_STORE, cases[i][1]);
    cocabo_store_free(store);
    unlink("a.db");
  }
}

/* As a damaged page can say it, though the table does not allow it. */
static void a_missing_body_is_damage(void **state) {
  (void)state;
  make_file("a.db", 1);
  run_sql("a.db", "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
                  "replace(sql, 'body TEXT NOT NULL', 'body TEXT')");
  run_sql("a.db", "UPDATE events SET body = NULL WHERE seq = 2");
  run_sql("a.db", "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = "
                  "replace(sql, 'body TEXT', 'body TEXT NOT NULL')");
  cocabo_store *store = open_store("a.db", 0);
  int64_t id = 0;
  int n = 0;
  assert_ok(find(store, &id));
  assert_fails(read_all(store, id, &n), COCABO_E_STORE,
               "cannot read \"a.db\": it is damaged: an event has no body; restore a "
               "backup, or delete the study");
  cocabo_store_free(store);
  unlink("a.db");
}

/* ---- what was written, and is no longer so --------------------------------------- */

static cocabo_status check_log(const char *path, unsigned flags, int64_t *unchecked) {
  cocabo_store *store = open_store(path, flags);
  int64_t id = 0;
  assert_ok(find(store, &id));
  const cocabo_status status = store->ops->check(store, id, unchecked, &err);
  cocabo_store_free(store);
  return status;
}

/* Bodies that a reader does not mind. */
static void a_changed_body_is_found_by_its_checksum(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"UPDATE events SET body = replace(body, '{', '{ ') WHERE seq = 3",
       "event 3 of the log, of trial 0, is damaged: it does not have the checksum that "
       "it was written with; restore a backup"},
      {"UPDATE events SET body = body || ' ' WHERE seq = 1",
       "event 1 of the log is damaged: it does not have the checksum that it was "
       "written with; restore a backup"},
      {"UPDATE events SET checksum = checksum + 1 WHERE seq = 4",
       "event 4 of the log, of trial 1, is damaged: it does not have the checksum that "
       "it was written with; restore a backup"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int64_t unchecked = -1;
    make_file("a.db", 2);
    assert_ok(check_log("a.db", 0, &unchecked));
    assert_int_equal(unchecked, 0);
    run_sql("a.db", cases[i][0]);
    assert_fails(check_log("a.db", COCABO_STORE_READ_ONLY, &unchecked), COCABO_E_STATE,
                 cases[i][1]);
    unlink("a.db");
  }
}

static void events_without_a_checksum_are_counted(void **state) {
  (void)state;
  int64_t unchecked = -1;
  make_file("a.db", 2);
  run_sql("a.db", "UPDATE events SET checksum = NULL WHERE seq IN (2, 5)");
  assert_ok(check_log("a.db", 0, &unchecked));
  assert_int_equal(unchecked, 2);
  unlink("a.db");
}

/* An index that lacks what its table has: it is made anew from other rows. */
static void empty_index(const char *name, const char *where) {
  char sql[600];
  snprintf(sql, sizeof sql,
           "PRAGMA writable_schema=ON; CREATE TEMP TABLE was AS SELECT sql FROM "
           "sqlite_schema WHERE name='%s'; UPDATE sqlite_schema SET sql = replace(sql, "
           "'%s', 'WHERE kind = 77') WHERE name='%s'; PRAGMA writable_schema=RESET; "
           "REINDEX %s; PRAGMA writable_schema=ON; UPDATE sqlite_schema SET sql = "
           "(SELECT sql FROM was) WHERE name='%s'",
           name, where, name, name, name);
  run_sql("a.db", sql);
}

/* They are COCABO_E_BUSY where others were faster, and asks begin anew then. */
static void a_damaged_index_is_no_conflict(void **state) {
  (void)state;
  int64_t id = 0, unchecked = -1;
  make_file("a.db", 2);
  empty_index("trial_by_number", "WHERE kind IN (3, 9)");
  cocabo_store *store = open_store("a.db", 0);
  assert_ok(find(store, &id));
  assert_fails(append_trial(store, id, 2), COCABO_E_STORE,
               "cannot write to \"a.db\": it is damaged: an index contradicts its "
               "table; restore a backup, or make its indices anew with REINDEX of "
               "sqlite3");
  cocabo_store_free(store);
  assert_fails(check_log("a.db", 0, &unchecked), COCABO_E_STORE,
               "\"a.db\" is damaged: row 2 missing from index trial_by_number; restore "
               "a backup, or save what can be read with .recover of sqlite3");
  run_sql("a.db", "REINDEX");
  assert_ok(check_log("a.db", 0, &unchecked));
  store = open_store("a.db", 0);
  assert_int_equal(append_trial(store, id, 1), COCABO_E_BUSY); /* that is one */
  assert_ok(append_trial(store, id, 2));
  cocabo_store_free(store);
  unlink("a.db");
}

static void hostile_letters_get_a_sentence(void **state) {
  (void)state;
  make_file("a.db", 1);
  run_sql("a.db", "UPDATE studies SET letters = hex(zeroblob(1000))");
  cocabo_store *store = open_store("a.db", 0);
  int64_t id = 0;
  assert_ok(find(store, &id));
  assert_fails(append_trial(store, id, 1), COCABO_E_STORE,
               "cannot write to \"a.db\": it is damaged: a study has too many "
               "parameters; restore a backup, or delete the study");
  cocabo_store_free(store);
}

static cocabo_status note_name(void *user, const char *name, cocabo_error *e) {
  (void)e;
  strcat(strcat(user, name), " ");
  return COCABO_OK;
}

static void a_hostile_name_hides_no_other(void **state) {
  (void)state;
  char names[64] = "";
  make_file("a.db", 0);
  run_sql("a.db", "INSERT INTO studies (name, letters) VALUES ('a' || char(27), '')");
  run_sql("a.db", "INSERT INTO studies (name, letters) VALUES ('b', '')");
  cocabo_store *store = open_store("a.db", COCABO_STORE_READ_ONLY);
  assert_ok(store->ops->list(store, note_name, names, &err));
  assert_string_equal(names, "s a? b ");
  cocabo_store_free(store);
}

/* ---- may not write --------------------------------------------------------------- */

static void a_read_only_store_only_reads(void **state) {
  (void)state;
  make_file("a.db", 2);
  cocabo_store *store = open_store("a.db", COCABO_STORE_READ_ONLY);
  int64_t id = 0;
  int n = 0;
  assert_ok(find(store, &id));
  assert_ok(read_all(store, id, &n));
  assert_int_equal(n, 5);
  assert_fails(append_trial(store, id, 2), COCABO_E_STORE,
               "cannot write to \"a.db\": it is open for reading only");
  assert_fails(create(store, "t", &id), COCABO_E_STORE,
               "cannot add a study to \"a.db\": it is open for reading only");
  assert_fails(store->ops->remove(store, "s", &err), COCABO_E_STORE,
               "cannot delete from \"a.db\": it is open for reading only");
  assert_fails(store->ops->renew(store, id, "me", 1, &err), COCABO_E_STORE,
               "cannot renew leases in \"a.db\": it is open for reading only");
  cocabo_store_free(store);
}

/* Root may write everywhere, so somebody else tries, in a child process. */
static void as_nobody(void (*act)(void)) {
  const pid_t child = fork();
  if (child == 0) {
    if (getuid() == 0 && (setgid(65534) != 0 || setuid(65534) != 0))
      _exit(99);
    act();
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

/* In the child: cmocka's asserts would run the parent's tests. */
#define EXPECT(condition)                                                              \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      fprintf(stderr, "%s:%d: not %s (%s)\n", __FILE__, __LINE__, #condition,          \
              err.message);                                                            \
      _exit(1);                                                                        \
    }                                                                                  \
  } while (0)

static void use_frozen_folder(void) {
  cocabo_store *store = NULL;
  int64_t id = 0;
  int n = 0;
  EXPECT(cocabo_store_open(&store, "r%/a b.db", 0, &err) == COCABO_E_STORE);
  EXPECT(strcmp(err.message,
                "cannot open \"r%/a b.db\": it or its folder cannot be written "
                "to; change that, or use a copy elsewhere") == 0);
  EXPECT(cocabo_store_open(&store, "r%/new.db", COCABO_STORE_CREATE, &err) ==
         COCABO_E_STORE);
  EXPECT(strcmp(err.message, "cannot open \"r%/new.db\": Permission "
                             "denied; want the right to use it and its folder") == 0);
  EXPECT(cocabo_store_open(&store, "r%/secret.db", COCABO_STORE_READ_ONLY, &err) ==
         COCABO_E_STORE);
  EXPECT(strcmp(err.message, "cannot open \"r%/secret.db\": Permission "
                             "denied; want the right to use it and its folder") == 0);
  EXPECT(cocabo_store_open(&store, "r%/a b.db", COCABO_STORE_READ_ONLY, &err) ==
         COCABO_OK);
  EXPECT(find(store, &id) == COCABO_OK);
  EXPECT(read_all(store, id, &n) == COCABO_OK && n == 7);
  cocabo_store_free(store);
}

static void a_frozen_folder_can_be_read(void **state) {
  (void)state;
  assert_int_equal(mkdir("r%", 0755), 0);
  make_file("r%/a b.db", 3);
  make_file("r%/secret.db", 1);
  assert_int_equal(chmod("r%/a b.db", 0444), 0);
  assert_int_equal(chmod("r%/secret.db", 0), 0);
  assert_int_equal(chmod("r%", 0555), 0);
  as_nobody(use_frozen_folder);
  assert_int_equal(chmod("r%", 0755), 0);
}

static void use_frozen_file(void) {
  cocabo_store *store = NULL;
  int64_t id = 0;
  int n = 0;
  EXPECT(cocabo_store_open(&store, "w/a.db", 0, &err) == COCABO_OK);
  EXPECT(find(store, &id) == COCABO_OK);
  EXPECT(read_all(store, id, &n) == COCABO_OK && n == 7);
  EXPECT(append_trial(store, id, 3) == COCABO_E_STORE);
  EXPECT(strcmp(err.message,
                "cannot write to \"w/a.db\": it or its folder cannot be written "
                "to; change that, or use a copy elsewhere") == 0);
  EXPECT(read_all(store, id, &n) == COCABO_OK && n == 7);
  cocabo_store_free(store);
}

static void a_frozen_file_can_be_read(void **state) {
  (void)state;
  assert_int_equal(mkdir("w", 0755), 0);
  make_file("w/a.db", 3);
  assert_int_equal(chmod("w/a.db", 0444), 0);
  assert_int_equal(chmod("w", 0777), 0);
  as_nobody(use_frozen_file);
}

/* ---- locked, moved, forked ------------------------------------------------------- */

static void a_lock_that_stays_is_told(void **state) {
  (void)state;
  make_file("a.db", 1);
  sqlite3 *other = NULL;
  assert_int_equal(sqlite3_open("a.db", &other), SQLITE_OK);
  assert_int_equal(sqlite3_exec(other, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  cocabo_store *store = NULL;
  int64_t id = 0;
  int n = 0;
  assert_ok(cb_sqlite_open(&store, "a.db", 0, (cb_patience){.seconds = 0.25}, &err));
  assert_ok(find(store, &id)); /* reading does not wait */
  assert_ok(read_all(store, id, &n));
  assert_fails(
      append_trial(store, id, 1), COCABO_E_STORE,
      "cannot write to \"a.db\": another process has held its lock for more than "
      "0.25 seconds; let it go on or end it, then try again");
  assert_ok(read_all(store, id, &n));
  assert_int_equal(n, 3);
  sqlite3_close(other);
  assert_ok(append_trial(store, id, 1));
  cocabo_store_free(store);
  assert_trials("a.db", 2);
}

/* Lets go of the lock after so many calls. */
typedef struct waiter {
  sqlite3 *lock;
  int calls, most, overs;
  bool stop; /* or gives up */
} waiter;

static int count_wait(void *user, const cocabo_waiting *how) {
  waiter *w = user;
  w->overs += how->over;
  if (how->over || ++w->calls < w->most)
    return 0;
  if (!w->stop)
    sqlite3_exec(w->lock, "ROLLBACK", NULL, NULL, NULL);
  return w->stop;
}

static void a_function_says_how_long_to_wait(void **state) {
  (void)state;
  make_file("a.db", 1);
  waiter w = {.most = 5, .stop = true};
  assert_int_equal(sqlite3_open("a.db", &w.lock), SQLITE_OK);
  assert_int_equal(sqlite3_exec(w.lock, "BEGIN IMMEDIATE", NULL, NULL, NULL),
                   SQLITE_OK);
  cocabo_store *store = NULL;
  int64_t id = 0;
  const cb_patience patience = {.seconds = 0, .wait = count_wait, .user = &w};
  assert_ok(cb_sqlite_open(&store, "a.db", 0, patience, &err));
  assert_ok(find(store, &id));
  assert_int_equal(w.calls, 0); /* reading does not wait */
  assert_fails(append_trial(store, id, 1), COCABO_E_INTERRUPTED,
               "cannot write to \"a.db\": stopped waiting for another process, which "
               "holds its lock");
  assert_int_equal(w.calls, 5);
  assert_int_equal(store->ops->renew(store, id, "me", 0.01, &err), COCABO_E_BUSY);
  assert_int_equal(w.calls, 5); /* a renewal asks nobody */
  assert_int_equal(w.overs, 0);
  w = (waiter){.lock = w.lock, .most = 30};
  assert_ok(append_trial(store, id, 1)); /* its patience of 0 seconds counts no more */
  assert_int_equal(w.calls, 30);
  assert_int_equal(w.overs, 1);
  cocabo_store_free(store);
  sqlite3_close(w.lock);
  assert_trials("a.db", 2);
}

/* Lets go of the lock when the lease of trial 0 has run out. */
static int let_go_late(void *user, const cocabo_waiting *how) {
  if (!how->over && how->seconds > 1.2)
    sqlite3_exec(user, "ROLLBACK", NULL, NULL, NULL);
  return 0;
}

/* Nobody could renew while the lock was held: that costs no living worker its trial. */
static void a_lock_makes_no_trial_stale(void **state) {
  (void)state;
  sqlite3 *lock = NULL;
  cocabo_store *store = NULL;
  int64_t id = 0;
  make_file("a.db", 1);
  run_sql("a.db", "INSERT INTO leases VALUES (1, 0, -1, 'w', 0, 0, '', 0)");
  assert_int_equal(sqlite3_open("a.db", &lock), SQLITE_OK);
  const cb_patience patience = {.wait = let_go_late, .user = lock};
  assert_ok(cb_sqlite_open(&store, "a.db", 0, patience, &err));
  assert_ok(find(store, &id));
  assert_ok(store->ops->renew(store, id, "w", 0.6, &err));
  assert_int_equal(sqlite3_exec(lock, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  cb_event stale = {.kind = CB_TRIAL_STALE, .number = 0, .id = {3, 1}};
  const cb_append what = {.events = &stale, .n = 1, .next_number = -1};
  assert_fails(store->ops->append(store, id, &what, &err), COCABO_E_BUSY,
               "trial 0 is not lost, its lease lives");
  nanosleep(&(struct timespec){.tv_nsec = 250000000}, NULL);
  assert_ok(store->ops->append(store, id, &what, &err)); /* and nobody did */
  cocabo_store_free(store);
  sqlite3_close(lock);
}

static double steady(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct renewer {
  cocabo_store *store;
  cocabo_status status;
  atomic_bool done;
} renewer;

static void *renew_once(void *user) {
  renewer *r = user;
  r->status = r->store->ops->renew(r->store, 1, "w", 60.0, NULL);
  r->done = true;
  return NULL;
}

static void a_renewal_that_waits_keeps_no_reader_waiting(void **state) {
  (void)state;
  sqlite3 *lock = NULL;
  renewer r = {.store = NULL};
  pthread_t thread;
  double longest = 0.0;
  int n = 0;
  make_file("a.db", 1);
  assert_int_equal(sqlite3_open("a.db", &lock), SQLITE_OK);
  assert_int_equal(sqlite3_exec(lock, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  assert_ok(cb_sqlite_open(&r.store, "a.db", 0, (cb_patience){.seconds = 6}, &err));
  assert_int_equal(pthread_create(&thread, NULL, renew_once, &r), 0);
  while (!r.done) {
    const double began = steady();
    assert_ok(read_all(r.store, 1, &n));
    longest = fmax(longest, steady() - began);
  }
  pthread_join(thread, NULL);
  assert_int_equal(r.status, COCABO_E_BUSY);
  assert_true(longest < 3.0);
  cocabo_store_free(r.store);
  sqlite3_close(lock);
}

static int give_up(void *user) {
  return ++*(int *)user > 3;
}

static void an_ask_that_waits_can_be_interrupted(void **state) {
  (void)state;
  cocabo_store *store = open_store("a.db", COCABO_STORE_CREATE);
  cocabo_study *study = NULL;
  cocabo_trial *trial = NULL;
  int calls = 0;
  sqlite3 *lock = NULL;
  assert_ok(cocabo_study_create(&study, "s", space, NULL, store, &err));
  cocabo_study_on_interrupt(study, give_up, &calls);
  assert_int_equal(sqlite3_open("a.db", &lock), SQLITE_OK);
  assert_int_equal(sqlite3_exec(lock, "BEGIN IMMEDIATE", NULL, NULL, NULL), SQLITE_OK);
  assert_int_equal(cocabo_study_ask(study, 1, &trial, &err), COCABO_E_INTERRUPTED);
  assert_null(trial);
  sqlite3_close(lock);
  cocabo_study_on_interrupt(study, NULL, NULL);
  assert_ok(cocabo_study_ask(study, 1, &trial, &err));
  assert_int_equal(cocabo_trial_number(trial), 0);
  cocabo_trial_free(trial);
  cocabo_study_free(study);
  cocabo_store_free(store);
}

static void a_file_that_is_gone_takes_no_events(void **state) {
  (void)state;
  make_file("a.db", 1);
  cocabo_store *store = open_store("a.db", 0);
  int64_t id = 0;
  assert_ok(find(store, &id));
  assert_int_equal(rename("a.db", "b.db"), 0);
  assert_fails(
      append_trial(store, id, 1), COCABO_E_STORE,
      "cannot write to \"a.db\": it has been moved or deleted; put it back, or "
      "use it where it is now");
  assert_int_equal(rename("b.db", "a.db"), 0);
  assert_ok(append_trial(store, id, 1));
  assert_int_equal(unlink("a.db"), 0);
  assert_fails(
      append_trial(store, id, 2), COCABO_E_STORE,
      "cannot write to \"a.db\": it has been moved or deleted; put it back, or "
      "use it where it is now");
  cocabo_store_free(store);
}

static void a_child_must_open_its_own(void **state) {
  (void)state;
  make_file("a.db", 1);
  cocabo_store *store = open_store("a.db", 0);
  int64_t id = 0;
  int n = 0;
  assert_ok(find(store, &id));
  const pid_t child = fork();
  if (child == 0) {
    EXPECT(read_all(store, id, &n) == COCABO_E_STORE);
    EXPECT(strcmp(err.message, "the database \"a.db\" was opened before the process "
                               "forked: open it again in the child") == 0);
    cocabo_store_free(store);
    EXPECT(cocabo_store_open(&store, "a.db", 0, &err) == COCABO_OK);
    EXPECT(append_trial(store, id, 1) == COCABO_OK);
    cocabo_store_free(store);
    _exit(0);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
  next_id += 10; /* the child's ids */
  assert_ok(read_all(store, id, &n));
  assert_int_equal(n, 5);
  assert_ok(append_trial(store, id, 2));
  cocabo_store_free(store);
  assert_trials("a.db", 3);
}

/* ---- clocks ---------------------------------------------------------------------- */

static cocabo_status note_trial(void *user, int64_t number, int64_t run,
                                cocabo_error *e) {
  (void)e;
  assert_int_equal(run, CB_WHOLE_TRIAL);
  sprintf((char *)user + strlen(user), "%lld ", (long long)number);
  return COCABO_OK;
}

static void assert_over(cocabo_store *store, int64_t study, const char *want) {
  char got[64] = "";
  assert_ok(store->ops->read_since(store, study, &(cb_position){.seq = INT64_MAX}, NULL,
                                   note_trial, got, &err));
  assert_string_equal(got, want);
}

/* Trials 0 to 5 whose leases were written by clocks that were right, ahead, behind, and
 * before the machine was started anew or by version 0.1.0, when there was but the time
 * of day to go by. */
static void leases_of_wrong_clocks_run_out(void **state) {
  (void)state;
  make_file("a.db", 1);
  run_sql(
      "a.db",
      "CREATE TEMP TABLE t AS SELECT unixepoch('now') AS now;"
      "INSERT INTO leases SELECT 1, 0, -1, 'w', now + 50, 60, 'other', 0 FROM t;"
      "INSERT INTO leases SELECT 1, 1, -1, 'w', now + 86400, 0.3, 'other', 0 FROM t;"
      "INSERT INTO leases SELECT 1, 2, -1, 'w', now - 86400, 60, 'other', 9e9 FROM t;"
      "INSERT INTO leases SELECT 1, 3, -1, 'w', now + 50, 0, '', 0 FROM t;"
      "INSERT INTO leases SELECT 1, 4, -1, 'w', now - 50, 0, '', 0 FROM t;"
      "INSERT INTO leases SELECT 1, 5, -1, 'w', 1e300, 0, '', 0 FROM t;");
  cocabo_store *store = open_store("a.db", 0);
  assert_over(store, 1, "2 4 "); /* 1 has its length, from now on */
  nanosleep(&(struct timespec){.tv_nsec = 310000000}, NULL);
  assert_over(store, 1, "1 2 4 ");
  cocabo_store_free(store);
  run_sql("a.db", "CREATE TEMP TABLE t (x CHECK (x)); INSERT INTO t SELECT until < "
                  "unixepoch('now') + 31622500 FROM leases WHERE trial = 5");
}

/* The time of day jumps, but this is the same start of the machine. */
static void leases_do_not_mind_the_time_of_day(void **state) {
  (void)state;
  int64_t id = 0;
  make_file("a.db", 0);
  cocabo_store *store = open_store("a.db", 0);
  assert_ok(find(store, &id));
  for (int i = 0; i < 2; i++) {
    cb_cell cell = {.real = 0.5};
    cb_event asked = {.kind = CB_TRIAL_ASKED, .number = i, .id = {9, (uint64_t)i}};
    asked.origin = CB_BY_DESIGN;
    asked.n_cells = 1;
    asked.cells = &cell;
    const cb_append what = {.events = &asked,
                            .n = 1,
                            .next_number = i,
                            .owner = "w",
                            .seconds = i == 0 ? 1000.0 : -1.0};
    assert_ok(store->ops->append(store, id, &what, &err));
  }
  assert_over(store, id, "1 ");
  run_sql("a.db", "UPDATE leases SET until = 86400 WHERE trial = 0;"
                  "UPDATE leases SET until = until + 86400 WHERE trial = 1");
  assert_over(store, id, "1 ");
  cocabo_store_free(store);
}

/* ---- durability ------------------------------------------------------------------ */

/* In place of the C library's, which SQLite calls: nothing here needs the disk. */
static int n_syncs;

__attribute__((visibility("default"))) int fsync(int file) {
  (void)file;
  n_syncs++;
  return 0;
}

__attribute__((visibility("default"))) int fdatasync(int file) {
  return fsync(file);
}

static void durable_appends_wait_for_the_disk(void **state) {
  (void)state;
  make_file("a.db", 1);
  cocabo_store *store = open_store("a.db", 0);
  int64_t id = 0;
  assert_ok(find(store, &id));
  assert_ok(append_trial(store, id, 1)); /* the first one after opening may */
  for (int i = 0; i < 6; i++) {
    cb_event failed = {.kind = CB_TRIAL_FAILED, .number = 0, .id = {2, (uint64_t)i}};
    const bool durable = i % 3 == 2;
    const cb_append what = {
        .events = &failed, .n = 1, .next_number = -1, .durable = durable};
    n_syncs = 0;
    assert_ok(store->ops->append(store, id, &what, &err));
    assert_int_equal(n_syncs > 0, durable);
  }
  cocabo_store_free(store);
}

static void another_journal_becomes_a_write_ahead_log(void **state) {
  (void)state;
  make_file("a.db", 1);
  run_sql("a.db", "VACUUM INTO 'b.db'"); /* what a backup looks like */
  cocabo_store *store = open_store("b.db", 0);
  int64_t id = 0;
  assert_ok(find(store, &id));
  assert_ok(append_trial(store, id, 1));
  assert_int_equal(access("b.db-wal", F_OK), 0);
  cocabo_store_free(store);
  assert_int_not_equal(access("b.db-wal", F_OK), 0); /* tidy when nobody uses it */
  assert_trials("b.db", 2);
}

/* ---- no room --------------------------------------------------------------------- */

/* Appends until there is no room, makes some, and appends on. A newer SQLite may know
 * more than an older one, and so say another sentence. */
static void fill_up(const char *path, const char *sentence, const char *newer,
                    void (*make_room)(void)) {
  cocabo_store *store = open_store(path, 0);
  int64_t id = 0;
  int n = 0, trials = 0;
  assert_ok(find(store, &id));
  while (append_trial(store, id, trials) == COCABO_OK)
    assert_true(trials++ < 100000);
  assert_int_equal(err.code, COCABO_E_STORE);
  if (!newer || strcmp(err.message, newer) != 0)
    assert_string_equal(err.message, sentence);
  assert_ok(read_all(store, id, &n)); /* what was said to be there is there */
  assert_int_equal(n, 1 + 2 * trials);
  make_room();
  for (int i = 0; i < 20; i++)
    assert_ok(append_trial(store, id, trials++));
  cocabo_store_free(store);
  assert_trials(path, trials);
}

static void a_failing_disk_is_told(void **state) {
  (void)state;
  make_file("a.db", 0);
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
  limit.rlim_cur = 300000;
  signal(SIGXFSZ, SIG_IGN);
  assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
  fill_up(
      "a.db",
      "cannot write to \"a.db\": the disk failed: disk I/O error; look at the disk, "
      "then try again",
      "cannot write to \"a.db\": the disk failed: File too large; look at the disk, "
      "then try again",
      lift_limit);
}

static void delete_ballast(void) {
  unlink("disk/ballast");
}

static void a_full_disk_is_told(void **state) {
  (void)state;
  assert_int_equal(mkdir("disk", 0755), 0);
  if (mount("tmpfs", "disk", "tmpfs", 0, "size=1m") != 0)
    skip(); /* only root may */
  make_file("disk/a.db", 0);
  char *zeros = calloc(1, 600000);
  write_bytes("disk/ballast", (bytes){(unsigned char *)zeros, 600000});
  free(zeros);
  fill_up(
      "disk/a.db",
      "cannot write to \"disk/a.db\": no room left on the disk of \"disk/a.db\"; make "
      "some, then try again",
      NULL, delete_ballast);
}

/* All of it fits, but not twice: the write-ahead log must be copied back in time. */
static void a_small_disk_is_used_up_by_data(void **state) {
  (void)state;
  enum { TRIALS = 6000 };
  assert_int_equal(mkdir("disk", 0755), 0);
  if (mount("tmpfs", "disk", "tmpfs", 0, "size=2m") != 0)
    skip(); /* only root may */
  make_file("disk/a.db", 0);
  cocabo_store *store = open_store("disk/a.db", 0);
  struct stat info;
  int64_t id = 0;
  assert_ok(find(store, &id));
  for (int i = 0; i < TRIALS; i++)
    assert_ok(append_trial(store, id, i));
  assert_int_equal(stat("disk/a.db", &info), 0);
  cocabo_store_free(store);
  assert_trials("disk/a.db", TRIALS);
  assert_int_equal(stat("disk/a.db", &info), 0);
  assert_true(info.st_size > 1200000); /* else it is no test */
}

/* ---- a backup over a file that is in use ----------------------------------------- */

static void copy_file(const char *from, const char *to) {
  const bytes b = read_bytes(from);
  write_bytes(to, b);
  free(b.at);
}

static void use_up_log(sqlite3 *other) {
  assert_int_equal(sqlite3_exec(other, "SELECT * FROM file", NULL, NULL, NULL), 0);
  assert_int_equal(
      sqlite3_wal_checkpoint_v2(other, "main", SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL),
      SQLITE_OK);
}

/* Leaves b.db, which is the file as it was, with the log of what came later. */
static void make_mixture(const char *backup) {
  make_file("a.db", 30);
  if (strcmp(backup, "a.db") == 0)
    copy_file("a.db", "b.db");
  else
    make_file("b.db", 30);
  cocabo_store *store = open_store("a.db", 0);
  sqlite3 *other = NULL;
  int64_t id = 0;
  assert_ok(find(store, &id));
  assert_int_equal(sqlite3_open("a.db", &other), SQLITE_OK);
  for (int i = 30; i < 60; i++)
    assert_ok(append_trial(store, id, i));
  if (strcmp(backup, "a.db") == 0)
    use_up_log(other);
  assert_ok(append_trial(store, id, 60));
  copy_file("a.db-wal", "b.db-wal");
  cocabo_store_free(store);
  sqlite3_close(other);
}

static void a_left_log_of_another_state_is_refused(void **state) {
  (void)state;
  static const char *const backups[] = {"a.db", "another file"};
  for (int i = 0; i < 2; i++) {
    make_mixture(backups[i]);
    const bytes log = read_bytes("b.db-wal");
    assert_refused("b.db",
                   "\"b.db-wal\" is not of \"b.db\", which was replaced while it "
                   "was left behind: to use the file as it is, move the -wal and "
                   "the -shm away");
    assert_unchanged("b.db-wal", log);
    free(log.at);
    assert_int_equal(rename("b.db-wal", "old"), 0);
    assert_trials("b.db", 30);
    assert_int_equal(system("rm -f ./*"), 0);
  }
}

/* What a crash leaves is no such thing, at whatever moment. */
static void a_left_log_of_its_own_is_used(void **state) {
  (void)state;
  make_file("a.db", 0);
  cocabo_store *store = open_store("a.db", 0);
  sqlite3 *other = NULL;
  int64_t id = 0;
  assert_ok(find(store, &id));
  assert_int_equal(sqlite3_open("a.db", &other), SQLITE_OK);
  for (int i = 0; i < 40; i++) {
    assert_ok(append_trial(store, id, i));
    copy_file("a.db", "b.db");
    copy_file("a.db-wal", "b.db-wal");
    assert_trials("b.db", i + 1);
    if (i % 7 == 3)
      sqlite3_wal_checkpoint(other, NULL); /* some of it is in both */
    if (i % 7 == 5)
      use_up_log(other);
  }
  cocabo_store_free(store);
  sqlite3_close(other);
}

/* A file of 0.1.0 that was brought up to date, and its log left. */
static void a_left_log_may_bring_a_file_up_to_date(void **state) {
  (void)state;
  sqlite3 *other = NULL;
  make_file("new.db", 0);
  copy_file("new.db", "a.db");
  run_sql("a.db", "DROP TABLE file; DROP TABLE leases; DROP TABLE summaries;"
                  "PRAGMA user_version=1;"
                  "CREATE TABLE old AS SELECT * FROM events; DROP TABLE events;"
                  "CREATE TABLE events (  study INTEGER NOT NULL,  seq INTEGER NOT "
                  "NULL,  id BLOB NOT NULL,  time REAL NOT NULL,  kind INTEGER NOT "
                  "NULL,  number INTEGER NOT NULL,  attempt INTEGER NOT NULL,  body "
                  "TEXT NOT NULL,  PRIMARY KEY (study, seq)) STRICT, WITHOUT ROWID;"
                  "CREATE UNIQUE INDEX event_by_id ON events (study, id);"
                  "CREATE UNIQUE INDEX trial_by_number ON events (study, number)  "
                  "WHERE kind IN (3, 9);"
                  "CREATE UNIQUE INDEX attempt_by_number ON events (study, number, "
                  "attempt)  WHERE kind = 8;"
                  "INSERT INTO events SELECT study, seq, id, time, kind, number, "
                  "attempt, body FROM old; DROP TABLE old;"
                  "CREATE TABLE leases (  study INTEGER NOT NULL,  trial INTEGER NOT "
                  "NULL,  owner TEXT NOT NULL,  until REAL NOT NULL,  PRIMARY KEY "
                  "(study, trial)) STRICT, WITHOUT ROWID;"
                  "INSERT INTO leases VALUES (1, 0, 'w', 5.0)");
  assert_int_equal(sqlite3_open("a.db", &other), SQLITE_OK);
  assert_int_equal(sqlite3_exec(other, "SELECT * FROM events", NULL, NULL, NULL),
                   SQLITE_OK);
  cocabo_store_free(open_store("a.db", COCABO_STORE_READ_ONLY)); /* that leaves it */
  cocabo_store *store = open_store("a.db", 0);
  int64_t id = 0;
  assert_ok(find(store, &id));
  assert_ok(append_trial(store, id, 0));
  copy_file("a.db", "b.db");
  copy_file("a.db-wal", "b.db-wal");
  assert_trials("b.db", 1);
  cocabo_store_free(store);
  sqlite3_close(other);
}

/* A run of trial 1, or what somebody else says of it. */
static cocabo_status append_run(cocabo_store *store, int64_t id, cb_event_kind kind,
                                int64_t run, const char *owner) {
  cb_event event = {.kind = kind,
                    .number = 1,
                    .attempt = run,
                    .id = {1, next_id++},
                    .outcome = kind == CB_TRIAL_OBSERVED ? CB_RUN_DISCARDED : 0,
                    .instance = kind == CB_RUN_STARTED ? "a.cnf" : NULL};
  const cb_append what = {
      .events = &event, .n = 1, .next_number = -1, .owner = owner, .seconds = 1e-3};
  return store->ops->append(store, id, &what, &err);
}

static cocabo_status see_lease(void *user, const cocabo_lease *lease, cocabo_error *e) {
  (void)e;
  *(int64_t *)user = 10 * lease->trial + lease->run;
  return COCABO_OK;
}

/* Where leases had no runs. */
static void a_file_of_schema_4_is_brought_up_to_date(void **state) {
  (void)state;
  make_file("a.db", 2);
  run_sql("a.db",
          "DROP INDEX run_by_number; DROP TABLE leases; PRAGMA user_version=4;"
          "CREATE TABLE leases (  study INTEGER NOT NULL,  trial INTEGER NOT NULL,  "
          "owner TEXT NOT NULL,  until REAL NOT NULL,  seconds REAL NOT NULL,  boot "
          "TEXT NOT NULL,  due REAL NOT NULL,  PRIMARY KEY (study, trial)) STRICT, "
          "WITHOUT ROWID;"
          "INSERT INTO leases VALUES (1, 0, 'w', 5.0, 60.0, 'other', 7.0), "
          "(1, 1, 'v', 9e9, 1.5, 'other', 7.0)");
  for (int i = 0; i < 3; i++) {
    cocabo_store *store = open_store("a.db", i == 0 ? COCABO_STORE_READ_ONLY : 0);
    int64_t seen = 0;
    assert_over(store, 1, "0 ");
    assert_ok(store->ops->leases(store, 1, see_lease, &seen, &err));
    assert_int_equal(seen, 9); /* trial 1 as a whole */
    cocabo_store_free(store);
    run_sql("a.db", i == 0 ? "CREATE TEMP TABLE t (x CHECK (x)); INSERT INTO t SELECT "
                             "user_version = 4 FROM pragma_user_version"
                           : "CREATE TEMP TABLE t (x CHECK (x)); INSERT INTO t SELECT "
                             "user_version = 5 FROM pragma_user_version; INSERT INTO t "
                             "SELECT run = -1 AND owner = 'w' AND until = 5.0 AND "
                             "seconds = 60.0 AND boot = 'other' AND due = 7.0 FROM "
                             "leases WHERE trial = 0");
  }
  cocabo_store *store = open_store("a.db", 0);
  assert_ok(append_run(store, 1, CB_RUN_STARTED, 0, "me"));
  assert_int_equal(append_run(store, 1, CB_RUN_STARTED, 0, "me"), COCABO_E_BUSY);
  int n = 0;
  assert_ok(read_all(store, 1, &n));
  assert_int_equal(n, 6);
  cocabo_store_free(store);
}

/* ---- no memory ------------------------------------------------------------------- */

/* SQLite's allocations are counted with ours. */
static sqlite3_mem_methods real_memory;
static long sqlite_countdown = -1;

static bool sqlite_must_fail(void) {
  return sqlite_countdown >= 0 && sqlite_countdown-- == 0;
}

static void *failing_malloc(int n) {
  return sqlite_must_fail() ? NULL : real_memory.xMalloc(n);
}

static void *failing_realloc(void *block, int n) {
  return sqlite_must_fail() ? NULL : real_memory.xRealloc(block, n);
}

static void use_failing_memory(void) {
  sqlite3_config(SQLITE_CONFIG_GETMALLOC, &real_memory);
  sqlite3_mem_methods failing = real_memory;
  failing.xMalloc = failing_malloc;
  failing.xRealloc = failing_realloc;
  sqlite3_config(SQLITE_CONFIG_MALLOC, &failing);
}

static void fail_after(bool ours, long k) {
  if (ours)
    cb_mem_fail_after(k);
  else
    sqlite_countdown = k;
}

/* Repeats the call with one more allocation granted each time, until none fails: it
 * succeeds or says that there is no memory, and after a failure it can be repeated. */
#define CALL_WITHOUT_MEMORY(ours, call, again)                                         \
  do {                                                                                 \
    cocabo_status status_ = COCABO_E_NO_MEMORY;                                        \
    for (long k_ = 0; status_ != COCABO_OK; k_++) {                                    \
      fail_after(ours, k_);                                                            \
      status_ = (call);                                                                \
      fail_after(ours, -1);                                                            \
      if (status_ == COCABO_OK)                                                        \
        break;                                                                         \
      assert_int_equal(status_, COCABO_E_NO_MEMORY);                                   \
      assert_string_equal(err.message, "out of memory");                               \
      again;                                                                           \
      assert_true(k_ < 100000);                                                        \
    }                                                                                  \
  } while (0)

static cocabo_status note_number(void *user, int64_t number, int64_t run,
                                 cocabo_error *e) {
  (void)e;
  *(int64_t *)user = 10 * number + run;
  return COCABO_OK;
}

static cocabo_status pass_over(void *user, const cb_event *event, cocabo_error *e) {
  (void)user, (void)event, (void)e;
  return COCABO_OK;
}

static cocabo_status read_expired(cocabo_store *store, int64_t study, int64_t *number) {
  return store->ops->read_since(store, study, &(cb_position){.seq = 0}, pass_over,
                                note_number, number, &err);
}

static cocabo_status append_leased(cocabo_store *store, int64_t id, int64_t number) {
  cb_cell cell = {.real = 0.5};
  cb_event asked = {.kind = CB_TRIAL_ASKED,
                    .number = number,
                    .id = {1, next_id++},
                    .origin = CB_BY_DESIGN,
                    .n_cells = 1,
                    .cells = &cell};
  const cb_append what = {
      .events = &asked, .n = 1, .next_number = number, .owner = "me", .seconds = -1.0};
  return store->ops->append(store, id, &what, &err);
}

static cocabo_status reopen(cocabo_store **store) {
  cocabo_store *fresh = NULL;
  const cocabo_status status =
      cocabo_store_open(&fresh, "sqlite:///a.db", COCABO_STORE_CREATE, &err);
  if (status != COCABO_OK)
    return status;
  cocabo_store_free(*store);
  *store = fresh;
  return COCABO_OK;
}

static void use_all_without_memory(bool ours) {
  cocabo_store *store = NULL;
  int64_t id = 0, number = -1;
  int n = 0;
  char names[64] = "";
  CALL_WITHOUT_MEMORY(ours, reopen(&store), (void)0);
  CALL_WITHOUT_MEMORY(ours, create(store, "s", &id), (void)0);
  CALL_WITHOUT_MEMORY(ours, append_trial(store, id, 0), (void)0);
  CALL_WITHOUT_MEMORY(ours, append_leased(store, id, 1), (void)0);
  CALL_WITHOUT_MEMORY(ours, append_run(store, id, CB_RUN_STARTED, 3, "me"), (void)0);
  assert_int_equal(append_run(store, id, CB_RUN_STARTED, 3, "me"), COCABO_E_BUSY);
  CALL_WITHOUT_MEMORY(ours, store->ops->renew(store, id, "me", 60.0, &err), (void)0);
  assert_int_equal(append_run(store, id, CB_TRIAL_OBSERVED, 3, "x"), COCABO_E_BUSY);
  CALL_WITHOUT_MEMORY(ours, append_run(store, id, CB_TRIAL_OBSERVED, 3, "me"), (void)0);
  CALL_WITHOUT_MEMORY(ours, append_run(store, id, CB_RUN_STARTED, 5, "me"), (void)0);
  CALL_WITHOUT_MEMORY(ours, reopen(&store), (void)0);
  CALL_WITHOUT_MEMORY(ours, find(store, &id), (void)0);
  CALL_WITHOUT_MEMORY(ours, read_all(store, id, &n), (void)0);
  assert_int_equal(n, 7);
  CALL_WITHOUT_MEMORY(ours, store->ops->list(store, note_name, names, &err),
                      names[0] = '\0');
  assert_string_equal(names, "s ");
  CALL_WITHOUT_MEMORY(ours, read_expired(store, id, &number), number = -1);
  assert_int_equal(number, 15); /* which is over by now: trial 1, run 5 */
  number = -1;
  CALL_WITHOUT_MEMORY(ours, store->ops->leases(store, id, see_lease, &number, &err),
                      number = -1);
  assert_int_equal(number, 15);
  CALL_WITHOUT_MEMORY(ours, store->ops->check(store, id, &number, &err), (void)0);
  assert_int_equal(number, 0);
  CALL_WITHOUT_MEMORY(ours, store->ops->renew(store, id, "me", 60.0, &err), (void)0);
  number = -1;
  assert_ok(read_expired(store, id, &number));
  assert_int_equal(number, -1);
  CALL_WITHOUT_MEMORY(ours, store->ops->remove(store, "s", &err), (void)0);
  assert_int_equal(find(store, &id), COCABO_E_NOT_FOUND);
  cocabo_store_free(store);
}

static void lack_of_memory_is_told(void **state) {
  (void)state;
  use_all_without_memory(true);
}

static void lack_of_memory_in_sqlite_is_told(void **state) {
  (void)state;
  use_all_without_memory(false);
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_teardown(f, clean_up)
  const struct CMUnitTest tests[] = {
      CLAIM(other_files_are_left_alone),
      CLAIM(a_newer_schema_is_refused),
      CLAIM(a_schema_that_nobody_made_is_refused),
      CLAIM(what_cocabo_did_not_make_is_refused),
      CLAIM(a_trigger_that_comes_later_is_not_run),
      CLAIM(an_empty_file_becomes_a_store),
      CLAIM(a_missing_folder_is_told),
      CLAIM(a_truncated_file_never_crashes),
      CLAIM(flipped_bytes_never_crash),
      CLAIM(hostile_rows_get_a_sentence),
      CLAIM(a_missing_body_is_damage),
      CLAIM(a_changed_body_is_found_by_its_checksum),
      CLAIM(events_without_a_checksum_are_counted),
      CLAIM(a_damaged_index_is_no_conflict),
      CLAIM(hostile_letters_get_a_sentence),
      CLAIM(a_hostile_name_hides_no_other),
      CLAIM(a_read_only_store_only_reads),
      CLAIM(a_frozen_folder_can_be_read),
      CLAIM(a_frozen_file_can_be_read),
      CLAIM(a_lock_that_stays_is_told),
      CLAIM(a_function_says_how_long_to_wait),
      CLAIM(a_lock_makes_no_trial_stale),
      CLAIM(a_renewal_that_waits_keeps_no_reader_waiting),
      CLAIM(an_ask_that_waits_can_be_interrupted),
      CLAIM(a_file_that_is_gone_takes_no_events),
      CLAIM(a_child_must_open_its_own),
      CLAIM(leases_of_wrong_clocks_run_out),
      CLAIM(leases_do_not_mind_the_time_of_day),
      CLAIM(durable_appends_wait_for_the_disk),
      CLAIM(another_journal_becomes_a_write_ahead_log),
      CLAIM(a_failing_disk_is_told),
      CLAIM(a_full_disk_is_told),
      CLAIM(a_small_disk_is_used_up_by_data),
      CLAIM(a_left_log_of_another_state_is_refused),
      CLAIM(a_left_log_of_its_own_is_used),
      CLAIM(a_left_log_may_bring_a_file_up_to_date),
      CLAIM(a_file_of_schema_4_is_brought_up_to_date),
      CLAIM(lack_of_memory_is_told),
      CLAIM(lack_of_memory_in_sqlite_is_told),
  };
#undef CLAIM
  use_failing_memory();
  return cmocka_run_group_tests_name("store faults", tests, enter_folder, leave_folder);
}
