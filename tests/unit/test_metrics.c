/* Metrics beside the value of a trial: what is told, kept, carried over and checked. */
#include "check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cocabo_store.h"
#include "study/study.h"

static cocabo_error err;
static const cocabo_metric two[] = {{"p99", 180.5}, {"größe [MB]", -0.0}};

static cocabo_study *create(cocabo_store *store) {
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static cocabo_study *with_running(int n) {
  cocabo_study *study = create(NULL);
  for (int i = 0; i < n; i++) {
    cocabo_trial *t;
    assert_ok(cocabo_study_ask(study, 1, &t, &err));
    cocabo_trial_free(t);
  }
  return study;
}

/* "p99=180.5 q=1", or "" */
static void assert_metrics(cocabo_study *study, int64_t number, const char *want) {
  char got[512] = "";
  size_t n = 77;
  cocabo_trial *t;
  assert_ok(cocabo_study_trial(study, number, &t, &err));
  const cocabo_metric *metrics = cocabo_trial_metrics(t, &n);
  assert_int_equal(metrics != NULL, n > 0);
  for (size_t i = 0; i < n; i++) {
    double value = NAN;
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s=%g", i ? " " : "",
             metrics[i].name, metrics[i].value);
    assert_ok(cocabo_trial_get_metric(t, metrics[i].name, &value, &err));
    assert_memory_equal(&value, &metrics[i].value, sizeof value);
  }
  assert_string_equal(got, want);
  cocabo_trial_free(t);
}

static void metrics_stay_with_the_value_that_counts(void **state) {
  (void)state;
  cocabo_study *study = with_running(3);
  const cocabo_metric other[] = {{"p99", 7.0}};
  const int64_t before = study->fold.history->seq;
  assert_ok(cocabo_study_tell_metrics(study, 0, 1.5, two, 2, &err));
  assert_metrics(study, 0, "p99=180.5 größe [MB]=-0");
  assert_ok(cocabo_study_tell_metrics(study, 0, 1.5, two, 2, &err)); /* a no-op */
  assert_ok(cocabo_study_tell(study, 0, 1.5, &err));
  assert_int_equal(study->fold.history->seq, before + 1);
  assert_ok(cocabo_study_tell_metrics(study, 0, 1.5, other, 1, &err)); /* an extra */
  assert_ok(cocabo_study_tell_metrics(study, 0, 2.5, other, 1, &err));
  assert_int_equal(study->fold.history->seq, before + 3);
  assert_metrics(study, 0, "p99=180.5 größe [MB]=-0");

  assert_ok(cocabo_study_tell(study, 1, 3.0, &err));
  assert_metrics(study, 1, "");
  assert_ok(cocabo_study_tell_metrics(study, 2, NAN, two, 2, &err));
  assert_metrics(study, 2, "");
  assert_ok(cocabo_study_tell_metrics(study, 2, 4.0, other, 1, &err)); /* it heals */
  assert_metrics(study, 2, "p99=7");

  cocabo_report report;
  assert_ok(cocabo_study_verify(study, -1, &report, &err));
  cocabo_study_free(study);
}

static void metrics_are_in_the_file(void **state) {
  (void)state;
  char folder[] = "/tmp/cocabo-metrics-XXXXXX", path[64];
  cocabo_store *store;
  cocabo_trial *t;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/s.db", folder);
  assert_ok(cocabo_store_open(&store, path, COCABO_STORE_CREATE, &err));
  cocabo_study *study = create(store);
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  cocabo_trial_free(t);
  assert_ok(cocabo_study_tell_metrics(study, 0, 1.5, two, 2, &err));
  cocabo_study_free(study);
  cocabo_store_free(store);

  assert_ok(cocabo_store_open(&store, path, 0, &err));
  assert_ok(cocabo_study_open(&study, "s", store, &err));
  assert_metrics(study, 0, "p99=180.5 größe [MB]=-0");
  assert_ok(cocabo_study_copy(study, "copy", store, &err));
  cocabo_study_free(study);
  assert_ok(cocabo_study_open(&study, "copy", store, &err));
  assert_metrics(study, 0, "p99=180.5 größe [MB]=-0");
  cocabo_study_free(study);
  cocabo_store_free(store);
  unlink(path);
  rmdir(folder);
}

static void known_trials_bring_theirs(void **state) {
  (void)state;
  cocabo_study *study = create(NULL);
  cocabo_value x[] = {{.type = COCABO_REAL, .as.real = 0.25},
                      {.type = COCABO_REAL, .as.real = 0.5}};
  cocabo_known known[] = {{.values = &x[0],
                           .state = COCABO_COMPLETE,
                           .value = 2.0,
                           .metrics = two,
                           .n_metrics = 2},
                          {.values = &x[1],
                           .state = COCABO_COMPLETE,
                           .value = 3.0,
                           .metrics = two,
                           .n_metrics = 1}};
  int64_t added = 0;
  assert_ok(cocabo_study_merge(study, known, 2, &added, &err));
  assert_int_equal(added, 2);
  assert_metrics(study, 0, "p99=180.5 größe [MB]=-0");
  assert_metrics(study, 1, "p99=180.5");
  assert_ok(cocabo_study_merge(study, known, 2, &added, &err)); /* the same again */
  assert_int_equal(added, 0);

  known[0].value = 9.0;
  known[0].metrics = NULL;
  assert_fails(cocabo_study_merge(study, known, 2, &added, &err), COCABO_E_INVALID,
               "trial 0: metrics is NULL");
  const cocabo_metric bad[] = {{"a", INFINITY}};
  known[0].metrics = bad;
  known[0].n_metrics = 1;
  assert_fails(cocabo_study_merge(study, known, 2, &added, &err), COCABO_E_INVALID,
               "trial 0: metric \"a\" is inf, want a finite number");
  cocabo_report report;
  assert_ok(cocabo_study_verify(study, -1, &report, &err));
  cocabo_study_free(study);
}

static void what_no_metric_can_be_is_refused(void **state) {
  (void)state;
  cocabo_study *study = with_running(1);
  cocabo_metric many[COCABO_MAX_METRICS + 1];
  char names[COCABO_MAX_METRICS + 1][8];
  for (int i = 0; i <= COCABO_MAX_METRICS; i++) {
    snprintf(names[i], sizeof names[i], "m%d", i);
    many[i] = (cocabo_metric){names[i], i};
  }
  const cocabo_metric twice[] = {{"a", 1}, {"b", 2}, {"a", 3}}, empty[] = {{"", 1}},
                      none[] = {{NULL, 1}}, odd[] = {{"a\nb", 1}}, nan[] = {{"a", NAN}};
#define REFUSED(metrics, n, status, sentence)                                          \
  assert_fails(cocabo_study_tell_metrics(study, 0, 1.0, metrics, n, &err), status,     \
               sentence)
  REFUSED(many, COCABO_MAX_METRICS + 1, COCABO_E_RANGE,
          "there are 65 metrics, want at most 64");
  REFUSED(twice, 3, COCABO_E_INVALID, "metric \"a\" is given twice");
  REFUSED(empty, 1, COCABO_E_INVALID, "metric name is empty");
  REFUSED(none, 1, COCABO_E_INVALID, "metric name is NULL");
  REFUSED(nan, 1, COCABO_E_INVALID, "metric \"a\" is nan, want a finite number");
  REFUSED(NULL, 1, COCABO_E_INVALID, "metrics is NULL");
  assert_true(cocabo_study_tell_metrics(study, 0, 1.0, odd, 1, &err) ==
              COCABO_E_INVALID);
  assert_fails(cocabo_study_tell_metrics(NULL, 0, 1.0, two, 2, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_int_equal(cocabo_study_count_state(study, COCABO_COMPLETE), 0);
  assert_ok(cocabo_study_tell_metrics(study, 0, 1.0, many, COCABO_MAX_METRICS, &err));

  size_t n = 7;
  double value = 7.0;
  cocabo_trial *t;
  assert_ok(cocabo_study_trial(study, 0, &t, &err));
  assert_non_null(cocabo_trial_metrics(t, NULL));
  assert_null(cocabo_trial_metrics(NULL, &n));
  assert_int_equal(n, 0);
  assert_fails(cocabo_trial_get_metric(t, "m_5", &value, &err), COCABO_E_NOT_FOUND,
               "trial 0 has no metric \"m_5\", did you mean \"m5\"?");
  assert_fails(cocabo_trial_get_metric(t, "loss", &value, &err), COCABO_E_NOT_FOUND,
               "trial 0 has no metric \"loss\"");
  assert_fails(cocabo_trial_get_metric(NULL, "m5", &value, &err), COCABO_E_INVALID,
               "trial is NULL");
  assert_fails(cocabo_trial_get_metric(t, NULL, &value, &err), COCABO_E_INVALID,
               "metric name is NULL");
  assert_fails(cocabo_trial_get_metric(t, "m5", NULL, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_true(value == 7.0);
  cocabo_trial_free(t);
  cocabo_study_free(study);
}

/* Metrics that the fold, or a replay, cannot owe to a tell. */
static void the_log_is_not_believed(void **state) {
  (void)state;
  cocabo_study *study = with_running(1);
  cb_history *h = study->fold.history;
  cocabo_metric twice[] = {{"a", 1}, {"a", 2}};
  cb_event told = {.kind = CB_TRIAL_TOLD,
                   .seq = h->seq + 1,
                   .has_y = true,
                   .y = 1.0,
                   .n_metrics = 2,
                   .metrics = twice};
  assert_true(cb_history_apply(h, &told, &err) == COCABO_E_STATE);
  assert_non_null(strstr(err.message, "metric \"a\" is given twice"));
  assert_int_equal(h->n, 0);

  cocabo_metric one[] = {{"a", 1}};
  cb_event failed = {.kind = CB_TRIAL_FAILED,
                     .reason = "x",
                     .n_metrics = 1,
                     .metrics = one,
                     .has_attempt = true};
  cocabo_report report;
  assert_ok(cb_study_commit(study, &failed, 1, -1, &err));
  assert_true(cocabo_study_verify(study, -1, &report, &err) == COCABO_E_STATE);
  assert_non_null(strstr(err.message, "it says what none of its kind says"));
  cocabo_study_free(study);
}

/* Room is made before the log has it. */
static void room_for_metrics_is_made_in_advance(void **state) {
  (void)state;
  cocabo_study *study = with_running(2);
  cb_history *h = study->fold.history;
  assert_ok(cb_history_reserve_metrics(h, cb_metrics_bytes(two, 2), &err));
  cb_event told = {.kind = CB_TRIAL_TOLD,
                   .seq = h->seq + 1,
                   .has_y = true,
                   .y = 1.0,
                   .n_metrics = 2,
                   .metrics = (cocabo_metric *)two};
  cb_mem_fail_after(0);
  const cocabo_status first = cb_history_apply(h, &told, &err);
  told.number = 1;
  told.seq++;
  const cocabo_status second = cb_history_apply(h, &told, &err);
  cb_mem_fail_after(-1);
  assert_int_equal(first, COCABO_OK);
  assert_int_equal(second, COCABO_E_NO_MEMORY);
  assert_int_equal(h->n, 1);
  assert_metrics(study, 0, "p99=180.5 größe [MB]=-0");
  cocabo_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(metrics_stay_with_the_value_that_counts),
      cmocka_unit_test(metrics_are_in_the_file),
      cmocka_unit_test(known_trials_bring_theirs),
      cmocka_unit_test(what_no_metric_can_be_is_refused),
      cmocka_unit_test(the_log_is_not_believed),
      cmocka_unit_test(room_for_metrics_is_made_in_advance),
  };
  return cmocka_run_group_tests_name("metrics", tests, NULL, NULL);
}
