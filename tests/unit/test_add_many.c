/* Many trials at one stroke with their numbers: also those that the study has, and
 * those that somebody else runs. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cocabo_store.h"
#include "study/study.h"

static cocabo_error err;

static cocabo_study *create(cocabo_store *store, const char *x, const char *trials) {
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(s, "x", x, &err));
  assert_ok(cocabo_space_add(s, "c", "choice(a,b)", &err));
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  assert_ok(cocabo_options_set(o, "trials", trials, &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static const cocabo_metric metrics[] = {{"p99", 180.5}, {"bytes", 7}};
static const cocabo_attr attrs[] = {{"host", "a7"}, {"commit", "c0ffee"}};
static const cocabo_step reports[] = {{1, 9.5}, {2, 4.5}};

/* One of each state. */
enum { COMPLETE, FAILED, WAITING, RUNNING, EACH };
typedef struct four {
  cocabo_value values[EACH][2];
  cocabo_known known[EACH];
} four;

static void fill(four *f) {
  static const cocabo_trial_state states[EACH] = {COCABO_COMPLETE, COCABO_FAILED,
                                                  COCABO_WAITING, COCABO_RUNNING};
  memset(f, 0, sizeof *f);
  for (int i = 0; i < EACH; i++) {
    f->values[i][0] = cocabo_int(i);
    f->values[i][1] = cocabo_text(i % 2 ? "b" : "a");
    f->known[i] = (cocabo_known){
        .values = f->values[i], .state = states[i], .value = 2.5, .number = -7};
  }
  f->known[COMPLETE].metrics = metrics;
  f->known[COMPLETE].n_metrics = 2;
  f->known[FAILED].reason = "no licence";
  f->known[RUNNING].attrs = attrs;
  f->known[RUNNING].n_attrs = 2;
  f->known[RUNNING].reports = reports;
  f->known[RUNNING].n_reports = 2;
}

static cocabo_trial_state state_of(const cocabo_study *study, int64_t number) {
  cocabo_trial *t;
  assert_ok(cocabo_study_trial(study, number, &t, &err));
  const cocabo_trial_state state = cocabo_trial_get_state(t);
  cocabo_trial_free(t);
  return state;
}

static void assert_four(const cocabo_study *study, int64_t first) {
  const cb_trial *t = cb_study_history(study)->trials + first;
  assert_int_equal(t[COMPLETE].state, COCABO_COMPLETE);
  assert_true(t[COMPLETE].value == 2.5);
  assert_true(cb_metrics_equal(t[COMPLETE].metrics, t[COMPLETE].n_metrics, metrics, 2));
  assert_int_equal(t[FAILED].state, COCABO_FAILED);
  assert_string_equal(t[FAILED].reason, "no licence");
  assert_int_equal(t[WAITING].state, COCABO_WAITING);
  assert_int_equal(t[RUNNING].state, COCABO_RUNNING);
  assert_true(t[RUNNING].started > 0.0 && isnan(t[WAITING].started));
  assert_int_equal(t[RUNNING].n_attributes, 2);
  assert_string_equal(t[RUNNING].attributes[1].value, "c0ffee");
  assert_int_equal(t[RUNNING].n_reports, 2);
  assert_true(t[RUNNING].reports[1].step == 2 && t[RUNNING].reports[1].value == 4.5);
  for (int i = 0; i < EACH; i++) {
    assert_int_equal(t[i].cells[0].integer, i);
    assert_int_equal(t[i].origin, CB_BY_USER);
  }
}

static void numbers_come_out(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "int(0,9)", "0");
  four f;
  for (int round = 0; round < 3; round++) { /* the same again is added again */
    fill(&f);
    assert_ok(cocabo_study_add_many(study, f.known, EACH, &err));
    for (int i = 0; i < EACH; i++) {
      assert_int_equal(f.known[i].number, EACH * round + i);
      assert_int_equal(f.known[i].added, 1);
    }
    assert_int_equal(cocabo_study_count(study), EACH * (round + 1));
    assert_four(study, (int64_t)EACH * round);
  }
  assert_ok(cocabo_study_add_many(study, NULL, 0, &err));
  cocabo_study_free(study);
}

static void merging_tells_the_numbers_of_what_was_there(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "int(0,9)", "0");
  cocabo_value other[2] = {cocabo_int(9), cocabo_text("a")};
  cocabo_known both[EACH + 1];
  four f;
  int64_t added = -7;
  fill(&f);
  assert_ok(cocabo_study_add_many(study, f.known, EACH, &err));
  both[0] = (cocabo_known){.values = other, .state = COCABO_RUNNING};
  for (int i = 0; i < EACH; i++) /* from the last to the first */
    both[1 + i] = f.known[EACH - 1 - i];
  assert_ok(cocabo_study_merge(study, both, EACH + 1, &added, &err));
  assert_int_equal(added, 1);
  assert_true(both[0].added && both[0].number == EACH);
  for (int i = 0; i < EACH; i++)
    assert_true(!both[1 + i].added && both[1 + i].number == EACH - 1 - i);

  /* What was running is the same when it is over, whoever says so. */
  assert_ok(cocabo_study_tell(study, RUNNING, 1.5, &err));
  assert_ok(cocabo_study_fail(study, EACH, "gone", &err));
  assert_ok(cocabo_study_merge(study, both, EACH + 1, &added, &err));
  assert_int_equal(added, 0);
  cocabo_study_free(study);
}

static void all_or_none(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "int(0,9)", "0");
  four f;
#define REFUSED(change, code, sentence)                                                \
  do {                                                                                 \
    fill(&f);                                                                          \
    change;                                                                            \
    assert_fails(cocabo_study_add_many(study, f.known, EACH, &err), code, sentence);   \
    assert_int_equal(cocabo_study_count(study), 0);                                    \
    assert_int_equal(f.known[0].number, -7); /* untouched */                           \
  } while (0)
  REFUSED(f.known[2].state = COCABO_STALE, COCABO_E_INVALID,
          "trial 2: state is 5, want complete, failed, running or waiting");
  REFUSED(f.values[3][0] = cocabo_int(10), COCABO_E_RANGE,
          "trial 3: parameter \"x\" is 10, want 0 to 9");
  REFUSED(f.values[3][1] = cocabo_text("z"), COCABO_E_RANGE,
          "trial 3: parameter \"c\" is \"z\", want one of its choices");
  REFUSED(f.known[0].value = INFINITY, COCABO_E_INVALID,
          "trial 0: value is inf, want a finite number");
  REFUSED(f.known[0].metrics = NULL, COCABO_E_INVALID, "trial 0: metrics is NULL");
#undef REFUSED
  assert_fails(cocabo_study_add_many(study, f.known, 10000001, &err), COCABO_E_RANGE,
               "n is 10000001, want at most 10000000");
  cocabo_study_free(study);
}

/* Another worker's trial: counted and never handed out, whoever asks. */
static void what_is_running_elsewhere_is_never_offered(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "int(0,2)", "0"); /* six points */
  cocabo_trial *t[3];
  cocabo_value values[3][2];
  cocabo_known known[3];
  for (int i = 0; i < 3; i++) {
    values[i][0] = cocabo_int(i);
    values[i][1] = cocabo_text("a");
    known[i] = (cocabo_known){.values = values[i], .state = COCABO_RUNNING};
  }
  assert_ok(cocabo_study_lease(study, "w", 1e-9, &err)); /* which it is not given */
  assert_ok(cocabo_study_add_many(study, known, 3, &err));
  assert_ok(cocabo_study_lease(study, NULL, 0, &err));
  assert_int_equal(cocabo_study_count_state(study, COCABO_RUNNING), 3);
  assert_ok(cocabo_study_ask(study, 3, t, &err));
  for (int i = 0; i < 3; i++) { /* the other three points */
    cocabo_value c;
    assert_int_equal(cocabo_trial_number(t[i]), 3 + i);
    assert_ok(cocabo_trial_get_choice(t[i], "c", &c, &err));
    assert_string_equal(c.as.text, "b");
    cocabo_trial_free(t[i]);
  }
  assert_int_equal(cocabo_study_ask(study, 1, t, &err), COCABO_E_EXHAUSTED);

  assert_ok(cocabo_study_tell(study, 0, 4.5, &err));
  assert_ok(cocabo_study_fail(study, 1, "gone", &err));
  assert_ok(cocabo_study_interrupt(study, 2, &err));
  assert_int_equal(state_of(study, 0), COCABO_COMPLETE);
  assert_int_equal(state_of(study, 1), COCABO_FAILED);
  assert_int_equal(state_of(study, 2), COCABO_INTERRUPTED);
  assert_ok(cocabo_study_ask(study, 1, t, &err));
  assert_int_equal(cocabo_trial_number(t[0]), 2);
  assert_int_equal(cocabo_trial_attempt(t[0]), 1);
  cocabo_trial_free(t[0]);
  cocabo_study_free(study);
}

static void what_is_running_elsewhere_counts_in_the_budget(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "float(0,9)", "4");
  cocabo_trial *t;
  four f;
  fill(&f);
  assert_ok(cocabo_study_add_many(study, f.known, EACH, &err));
  assert_ok(cocabo_study_ask(study, 1, &t, &err)); /* the one that waits */
  assert_int_equal(cocabo_trial_number(t), WAITING);
  cocabo_trial_free(t);
  assert_fails(cocabo_study_ask(study, 1, &t, &err), COCABO_E_BUDGET,
               "study \"s\" has 0 of its 4 trials left, want 1");
  cocabo_study_free(study);
}

/* ---- in a file ------------------------------------------------------------------- */

static char folder[] = "/tmp/cocabo-add-XXXXXX"; /* also the working directory */

static int enter_folder(void **state) {
  (void)state;
  return !mkdtemp(folder) || chdir(folder) != 0;
}

static int leave_folder(void **state) {
  (void)state;
  return system("rm -f ./a.db*") != 0 || chdir("/") != 0 || rmdir(folder) != 0;
}

static cocabo_store *open_file(void) {
  cocabo_store *store;
  assert_ok(cocabo_store_open(&store, "a.db", COCABO_STORE_CREATE, &err));
  return store;
}

static void a_file_keeps_all_of_it(void **state) {
  (void)state;
  cocabo_store *store = open_file();
  cocabo_study *study = create(store, "int(0,9)", "0"), *copy;
  cocabo_report report;
  cocabo_trial *t[3];
  four f;
  fill(&f);
  assert_ok(cocabo_study_add_many(study, f.known, EACH, &err));
  cocabo_study_free(study);
  cocabo_store_free(store);

  store = open_file();
  assert_ok(cocabo_study_open(&study, "s", store, &err));
  assert_four(study, 0);
  assert_ok(cocabo_study_ask(study, 3, t, &err)); /* which saw it as pending */
  for (int i = 0; i < 3; i++) {
    assert_true(cocabo_trial_number(t[i]) != RUNNING);
    cocabo_trial_free(t[i]);
  }
  assert_ok(cocabo_study_verify(study, -1, &report, &err));
  assert_int_equal(report.differing, 0);
  assert_int_equal(report.trials, EACH + 2);
  assert_ok(cocabo_study_copy(study, "copy", store, &err));
  assert_ok(cocabo_study_open(&copy, "copy", store, &err));
  assert_int_equal(state_of(copy, RUNNING), COCABO_RUNNING);
  cocabo_study_free(copy);
  cocabo_study_free(study);
  assert_ok(cocabo_store_delete(store, "copy", &err));
  assert_ok(cocabo_store_delete(store, "s", &err));
  cocabo_store_free(store);
}

/* Measured: 0.4 s. The limit is one that a sanitizer and a busy machine keep. */
static void twenty_thousand_take_less_than_a_second(void **state) {
  (void)state;
  enum { N = 20000 };
  cocabo_store *store = open_file();
  cocabo_study *study = create(store, "float(0,1)", "0");
  cocabo_value *values = calloc((size_t)2 * N, sizeof *values);
  cocabo_known *known = calloc(N, sizeof *known);
  for (int i = 0; i < N; i++) {
    values[2 * i] = cocabo_real(i / (double)N);
    values[2 * i + 1] = cocabo_text(i % 3 ? "a" : "b");
    known[i] = (cocabo_known){.values = &values[2 * i],
                              .state = i % 4 == 0   ? COCABO_RUNNING
                                       : i % 4 == 1 ? COCABO_FAILED
                                                    : COCABO_COMPLETE,
                              .value = i,
                              .reason = "why not",
                              .metrics = metrics,
                              .n_metrics = 2};
  }
  const clock_t begin = clock();
  assert_ok(cocabo_study_add_many(study, known, N, &err));
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  printf("%d trials in %.2f s\n", N, seconds);
  assert_true(seconds < 4.0);
  assert_int_equal(known[N - 1].number, N - 1);
  assert_int_equal(cocabo_study_count_state(study, COCABO_RUNNING), N / 4);
  assert_int_equal(cocabo_study_count_state(study, COCABO_FAILED), N / 4);
  assert_int_equal(cocabo_study_count_state(study, COCABO_COMPLETE), N / 2);
  free(values);
  free(known);
  cocabo_study_free(study);
  cocabo_store_free(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_come_out),
      cmocka_unit_test(merging_tells_the_numbers_of_what_was_there),
      cmocka_unit_test(all_or_none),
      cmocka_unit_test(what_is_running_elsewhere_is_never_offered),
      cmocka_unit_test(what_is_running_elsewhere_counts_in_the_budget),
      cmocka_unit_test(a_file_keeps_all_of_it),
      cmocka_unit_test(twenty_thousand_take_less_than_a_second),
  };
  return cmocka_run_group_tests_name("add_many", tests, enter_folder, leave_folder);
}
