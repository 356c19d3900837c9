/* Several processes on one file, and processes that die at any moment: no trial twice,
 * no result lost, and a log that reads. */
#include "check.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cocabo_store.h"

static _Thread_local cocabo_error err;
static char folder[] = "/tmp/cocabo-many-XXXXXX"; /* also the working directory */

static int enter_folder(void **state) {
  (void)state;
  return !mkdtemp(folder) || chdir(folder) != 0;
}

static int clean_up(void **state) {
  (void)state;
  return system("rm -rf ./*") != 0;
}

static int leave_folder(void **state) {
  (void)state;
  return chdir("/") != 0 || rmdir(folder) != 0;
}

/* ---- in a child or a thread ------------------------------------------------------ */

/* cmocka's asserts would run the parent's tests. */
static void must(cocabo_status status) {
  if (status == COCABO_OK)
    return;
  fprintf(stderr, "child %d: %s\n", (int)getpid(), err.message);
  _exit(1);
}

static cocabo_study *create_study(cocabo_store *store) {
  cocabo_study *study = NULL;
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  must(cocabo_space_add_real(space, "x", 0, 1, 0, 0, &err));
  must(cocabo_options_set(options, "sampler", "random", &err));
  const cocabo_status status =
      cocabo_study_create(&study, "s", space, options, store, &err);
  if (status != COCABO_E_EXISTS)
    must(status);
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

static cocabo_study *open_study(cocabo_store *store) {
  cocabo_study *study = NULL;
  must(cocabo_study_open(&study, "s", store, &err));
  return study;
}

/* Asks and tells; each result that has been told is reported to the parent. */
static void work(cocabo_study *study, int n, int report) {
  for (int i = 0; i < n; i++) {
    cocabo_trial *trial = NULL;
    must(cocabo_study_ask(study, 1, &trial, &err));
    const int64_t number = cocabo_trial_number(trial);
    must(cocabo_study_tell(study, number, (double)number + 0.25, &err));
    if (report >= 0 && write(report, &number, sizeof number) != sizeof number)
      _exit(2);
    cocabo_trial_free(trial);
  }
}

static void wait_for(pid_t child) {
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_int_equal(status, 0);
}

/* ---- in the parent --------------------------------------------------------------- */

static void assert_sound(const char *path) {
  sqlite3 *db = NULL;
  sqlite3_stmt *check = NULL;
  assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
  assert_int_equal(sqlite3_prepare_v2(db, "PRAGMA integrity_check", -1, &check, NULL),
                   SQLITE_OK);
  assert_int_equal(sqlite3_step(check), SQLITE_ROW);
  assert_string_equal((const char *)sqlite3_column_text(check, 0), "ok");
  sqlite3_finalize(check);
  sqlite3_close(db);
}

static void workers_share_one_file(void **state) {
  (void)state;
  enum { WORKERS = 6, EACH = 100 };
  pid_t children[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    children[i] = fork();
    if (children[i] > 0)
      continue;
    cocabo_store *store = NULL; /* all of them make the file and the study */
    must(cocabo_store_open(&store, "a.db", COCABO_STORE_CREATE, &err));
    cocabo_study_free(create_study(store));
    cocabo_study *study = open_study(store);
    work(study, EACH, -1);
    cocabo_study_free(study);
    cocabo_store_free(store);
    _exit(0);
  }
  for (int i = 0; i < WORKERS; i++)
    wait_for(children[i]);

  cocabo_store *store = NULL;
  assert_ok(cocabo_store_open(&store, "a.db", 0, &err));
  cocabo_study *study = open_study(store);
  assert_int_equal(cocabo_study_count(study), WORKERS * EACH);
  for (int64_t i = 0; i < WORKERS * EACH; i++) {
    cocabo_trial *trial = NULL;
    assert_ok(cocabo_study_trial(study, i, &trial, &err));
    assert_int_equal(cocabo_trial_get_state(trial), COCABO_COMPLETE);
    assert_true(cocabo_trial_value(trial) == (double)i + 0.25);
    cocabo_trial_free(trial);
  }
  cocabo_study_free(study);
  cocabo_store_free(store);
  assert_sound("a.db");
}

/* All at one moment: each of them finds no file, or one that is being made. */
static void a_file_is_made_by_many(void **state) {
  (void)state;
  enum { ROUNDS = 30, OPENERS = 12 };
  for (int round = 0; round < ROUNDS; round++) {
    int start[2];
    pid_t children[OPENERS];
    assert_int_equal(pipe(start), 0);
    for (int i = 0; i < OPENERS; i++) {
      children[i] = fork();
      if (children[i] > 0)
        continue;
      char byte;
      cocabo_store *store = NULL;
      close(start[1]);
      if (read(start[0], &byte, 1) != 0) /* ends when the parent closes it */
        _exit(2);
      must(cocabo_store_open(&store, "a.db", COCABO_STORE_CREATE, &err));
      cocabo_store_free(store);
      _exit(0);
    }
    close(start[0]);
    close(start[1]);
    for (int i = 0; i < OPENERS; i++)
      wait_for(children[i]);
    assert_sound("a.db");
    assert_int_equal(unlink("a.db"), 0);
  }
}

/* All at one moment, of which one creates it. */
static void a_study_is_created_by_one(void **state) {
  (void)state;
  enum { ROUNDS = 10, OPENERS = 8, CREATED = 10 };
  for (int round = 0; round < ROUNDS; round++) {
    int start[2], n_created = 0;
    pid_t children[OPENERS];
    assert_int_equal(pipe(start), 0);
    for (int i = 0; i < OPENERS; i++) {
      children[i] = fork();
      if (children[i] > 0)
        continue;
      char byte;
      int created = 0;
      cocabo_store *store = NULL;
      cocabo_study *study = NULL;
      cocabo_space *space = cocabo_space_new();
      must(cocabo_space_add_real(space, "x", 0, 1, 0, 0, &err));
      close(start[1]);
      if (read(start[0], &byte, 1) != 0) /* ends when the parent closes it */
        _exit(2);
      must(cocabo_store_open(&store, "a.db", COCABO_STORE_CREATE, &err));
      must(
          cocabo_study_open_or_create(&study, "s", space, NULL, store, &created, &err));
      cocabo_study_free(study);
      cocabo_store_free(store);
      cocabo_space_free(space);
      _exit(created ? CREATED : 0);
    }
    close(start[0]);
    close(start[1]);
    for (int i = 0; i < OPENERS; i++) {
      int status = 0;
      assert_int_equal(waitpid(children[i], &status, 0), children[i]);
      assert_true(WIFEXITED(status));
      assert_true(WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == CREATED);
      n_created += WEXITSTATUS(status) == CREATED;
    }
    assert_int_equal(n_created, 1);
    assert_int_equal(unlink("a.db"), 0);
  }
}

/* ---- many trials at one stroke --------------------------------------------------- */

enum { STROKE = 5000 };

static cocabo_known *make_stroke(cocabo_value *values) {
  cocabo_known *known = calloc(STROKE, sizeof *known);
  for (int i = 0; i < STROKE; i++) {
    values[i] = cocabo_real(i / (double)STROKE);
    known[i] = (cocabo_known){.values = &values[i],
                              .state = i % 2 ? COCABO_FAILED : COCABO_RUNNING};
  }
  return known;
}

/* Tells the parent before each stroke, and again after it. */
static void add_strokes(int report) {
  cocabo_store *store = NULL;
  cocabo_value *values = calloc(STROKE, sizeof *values);
  cocabo_known *known = make_stroke(values);
  must(cocabo_store_open(&store, "a.db", 0, &err));
  cocabo_study *study = open_study(store);
  for (char byte = 0;; byte = (char)!byte) {
    if (write(report, &byte, 1) != 1)
      _exit(2);
    if (byte == 0)
      must(cocabo_study_add_many(study, known, STROKE, &err));
  }
}

/* Killed in the middle of a stroke, and at any moment of it: none of it is there. What
 * was reported is, and all of it. */
static void a_killed_stroke_is_all_or_nothing(void **state) {
  (void)state;
  enum { ROUNDS = 12 };
  cocabo_store *store = NULL;
  int64_t strokes = 0;
  assert_ok(cocabo_store_open(&store, "a.db", COCABO_STORE_CREATE, &err));
  cocabo_study *study = create_study(store);
  for (int round = 0; round < ROUNDS; round++) {
    int ends[2], status = 0;
    int64_t reported = 0;
    char byte;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      close(ends[0]);
      add_strokes(ends[1]);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &byte, 1), 1); /* it begins */
    const struct timespec moment = {.tv_nsec = round * 7L * 1000 * 1000};
    nanosleep(&moment, NULL); /* whatever it is at by then will do */
    kill(child, SIGKILL);
    while (read(ends[0], &byte, 1) == 1)
      reported += byte == 1;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_ok(cocabo_study_sync(study, &err));
    const int64_t n = cocabo_study_count(study);
    assert_int_equal(n % STROKE, 0);
    assert_true(n / STROKE - strokes >= reported);
    assert_true(n / STROKE - strokes <= reported + 1); /* it may not have come to say */
    assert_int_equal(cocabo_study_count_state(study, COCABO_FAILED), n / 2);
    strokes = n / STROKE;
  }
  cocabo_study_free(study);
  cocabo_store_free(store);
  assert_sound("a.db");
}

/* Threads with a store in common, each with a handle of its own. */
enum { THREADS = 4, EACH_THREAD = 150 };

static void *work_in_thread(void *store) {
  cocabo_study *study = open_study(store);
  work(study, EACH_THREAD, -1);
  cocabo_study_free(study);
  return NULL;
}

static void threads_share_one_store(void **state) {
  (void)state;
  cocabo_store *store = NULL;
  pthread_t threads[THREADS];
  assert_ok(cocabo_store_open(&store, "a.db", COCABO_STORE_CREATE, &err));
  cocabo_study *study = create_study(store);
  for (int i = 0; i < THREADS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work_in_thread, store), 0);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  assert_ok(cocabo_study_sync(study, &err));
  assert_int_equal(cocabo_study_count(study), THREADS * EACH_THREAD);
  cocabo_study_free(study);
  cocabo_store_free(store);
  assert_sound("a.db");
}

/* Reads numbers for that long, from the first one on unless it may be killed before it,
 * then kills the child and reads what is left. */
static int64_t collect(int from, pid_t child, int milliseconds, bool early,
                       bool *told) {
  int64_t number = -1, n = 0;
  struct timespec begin, now;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  for (bool alive = true;;) {
    clock_gettime(CLOCK_MONOTONIC, &now);
    const long passed =
        (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
    if (alive && (early || n > 0) && passed >= milliseconds) {
      kill(child, SIGKILL);
      alive = false;
    }
    struct pollfd wait = {.fd = from, .events = POLLIN};
    if (poll(&wait, 1, 1) <= 0)
      continue;
    if (read(from, &number, sizeof number) != sizeof number)
      return n;
    told[number] = true;
    if (n++ == 0 && !early)
      clock_gettime(CLOCK_MONOTONIC, &begin);
  }
}

static void a_killed_process_loses_nothing(void **state) {
  (void)state;
  enum { ROUNDS = 15, MOST = 100000 };
  bool *told = calloc(MOST, sizeof *told);
  int64_t n = 0;
  cocabo_store *store = NULL;
  assert_ok(cocabo_store_open(&store, "a.db", COCABO_STORE_CREATE, &err));
  cocabo_study *study = create_study(store);
  for (int round = 0; round < ROUNDS; round++) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
      cocabo_store *own = NULL;
      close(ends[0]);
      must(cocabo_store_open(&own, "a.db", 0, &err));
      work(open_study(own), MOST, ends[1]);
      _exit(3);
    }
    close(ends[1]);
    n += collect(ends[0], child, 20 + 17 * round % 100, round % 3 == 0, told);
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_ok(cocabo_study_sync(study, &err)); /* the log still reads */
  }
  cocabo_study_free(study);
  cocabo_store_free(store);
  assert_sound("a.db");

  assert_ok(cocabo_store_open(&store, "a.db", 0, &err));
  study = open_study(store);
  assert_true(n >= ROUNDS * 2 / 3);
  assert_true(cocabo_study_count(study) >= n);
  for (int64_t i = 0; i < MOST; i++) {
    cocabo_trial *trial = NULL;
    if (!told[i])
      continue;
    assert_ok(cocabo_study_trial(study, i, &trial, &err));
    assert_true(cocabo_trial_value(trial) == (double)i + 0.25);
    cocabo_trial_free(trial);
  }
  cocabo_study_free(study);
  cocabo_store_free(store);
  free(told);
}

static void programs_that_are_run_inherit_no_file(void **state) {
  (void)state;
  cocabo_store *store = NULL;
  assert_ok(cocabo_store_open(&store, "a.db", COCABO_STORE_CREATE, &err));
  cocabo_study_free(create_study(store));
  assert_int_not_equal(system("ls -l /proc/self/fd | grep -q a.db"), 0);
  cocabo_store_free(store);
}

int main(void) {
#define CLAIM(f) cmocka_unit_test_teardown(f, clean_up)
  const struct CMUnitTest tests[] = {
      CLAIM(workers_share_one_file),
      CLAIM(a_file_is_made_by_many),
      CLAIM(a_study_is_created_by_one),
      CLAIM(a_killed_stroke_is_all_or_nothing),
      CLAIM(threads_share_one_store),
      CLAIM(a_killed_process_loses_nothing),
      CLAIM(programs_that_are_run_inherit_no_file),
  };
#undef CLAIM
  return cmocka_run_group_tests_name("store processes", tests, enter_folder,
                                     leave_folder);
}
