/* What the runs of trials come to, for people and for models, and the rules of the
 * race, by events. */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "log/runs.h"
#include "oracle/weighing.h"
#include "race/race.h"

static cocabo_error err;

static cocabo_space *line(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  return s;
}

/* ---- the fold, by events --------------------------------------------------------- */

static cb_history *fold_of(const char *combine, double sign, bool paired,
                           int64_t full) {
  cocabo_space *s = line();
  cb_history *h;
  assert_ok(cb_history_new(&h, s, sign, &err));
  cocabo_space_free(s);
  h->combine = cb_combine_named(combine);
  h->paired = paired;
  h->full = full;
  return h;
}

static cocabo_status try_put(cb_history *h, cb_event event) {
  event.seq = h->seq + 1;
  return cb_history_apply(h, &event, &err);
}

static void put(cb_history *h, cb_event event) {
  assert_ok(try_put(h, event));
}

static int64_t ask_trial(cb_history *h) {
  cb_cell cell = {.real = 0.001 * (double)(1 + h->n_trials)};
  put(h, (cb_event){.kind = CB_TRIAL_ASKED,
                    .number = h->n_trials,
                    .origin = CB_BY_DESIGN,
                    .n_cells = 1,
                    .cells = &cell});
  return h->n_trials - 1;
}

static void start(cb_history *h, int64_t number, int pair) {
  char instance[16];
  snprintf(instance, sizeof instance, "i%d", pair);
  put(h, (cb_event){.kind = CB_RUN_STARTED,
                    .number = number,
                    .attempt = h->trials[number].n_runs,
                    .instance = instance,
                    .seed = 1});
}

static void observe(cb_history *h, int64_t number, int64_t run, cb_outcome outcome,
                    double y) {
  put(h, (cb_event){.kind = CB_TRIAL_OBSERVED,
                    .number = number,
                    .attempt = run,
                    .outcome = outcome,
                    .has_y = outcome == CB_RUN_OK || outcome == CB_RUN_CAPPED,
                    .y = y});
}

static void run_on(cb_history *h, int64_t number, int pair, double y) {
  start(h, number, pair);
  observe(h, number, h->trials[number].n_runs - 1, CB_RUN_OK, y);
}

static void complete(cb_history *h, int64_t number) {
  put(h, (cb_event){.kind = CB_TRIAL_TOLD, .number = number, .has_y = true, .y = 77.0});
}

/* A complete trial with values on pairs 0, 1, ..., one of which may be cut off. */
static int64_t trial_cut(cb_history *h, int n, const double *values, int cut) {
  const int64_t number = ask_trial(h);
  for (int i = 0; i < n; i++) {
    if (isnan(values[i]))
      continue;
    start(h, number, i);
    observe(h, number, h->trials[number].n_runs - 1,
            i == cut ? CB_RUN_CAPPED : CB_RUN_OK, values[i]);
  }
  complete(h, number);
  return number;
}

static int64_t trial_with(cb_history *h, int n, const double *values) {
  return trial_cut(h, n, values, -1);
}

/* The oracle solves the least squares in closed form; twenty turns come to it within
 * 2e-7 here. Variances do not depend on that, but for the slope of a geometric mean. */
static void rows_are_those_of_the_definition(void **state) {
  (void)state;
  const size_t n = sizeof weighing_oracles / sizeof weighing_oracles[0];
  for (size_t i = 0; i < n; i++) {
    const struct weighing_oracle *o = &weighing_oracles[i];
    cb_history *h = fold_of(o->combine, o->sign, o->paired, o->full);
    for (int k = 0; k < o->n; k++)
      trial_cut(h, 8, o->results[k], o->cut[k]);
    for (int k = 0; k < o->n; k++) /* what people see does not wait */
      assert_relative(h->trials[k].value, o->value[k], 1e-13);
    assert_ok(cb_runs_weigh(h, &err));
    const double tol = o->paired ? 1e-6 : 1e-12;
    for (int k = 0; k < o->n; k++) {
      assert_relative(h->y[k], o->y[k], tol);
      assert_close(h->variance[k], o->variance[k],
                   h->combine == CB_GEOMEAN ? tol : 1e-12);
    }
    assert_close(h->run_variance, o->run_variance, 1e-12);
    const int64_t revised = h->revised;
    h->unweighed = true;
    assert_ok(cb_runs_weigh(h, &err)); /* nothing new: models keep what they know */
    assert_int_equal(h->revised, revised);
    cb_history_free(h);
  }
}

/* By hand: 1, 2, 4 and 9. */
static void values_and_errors_by_hand(void **state) {
  (void)state;
  static const double values[] = {4.0, 1.0, 9.0, 2.0};
  static const struct {
    const char *combine;
    double value, se;
  } wants[] = {{"mean", 4.0, 1.7795130420052185},     /* sqrt(38 / 3 / 4) */
               {"median", 3.0, 1.7795130420052185},   /* that of a mean */
               {"sum", 20.0, 5 * 1.7795130420052185}, /* of five, as if like these */
               {"geomean", 2.9129506302439405, 1.3708398071952306},
               {"max", 9.0, 1.7795130420052185}};
  for (size_t i = 0; i < sizeof wants / sizeof wants[0]; i++) {
    cb_history *h = fold_of(wants[i].combine, -1.0, true, 5);
    double se = NAN;
    trial_with(h, 4, values);
    assert_relative(cb_runs_combined(h, &h->trials[0], &se), wants[i].value, 1e-14);
    assert_relative(h->trials[0].value, wants[i].value, 1e-14);
    assert_relative(se, wants[i].se, 1e-12);
    cb_history_free(h);
  }
}

/* Also where they cancel. */
static void a_sum_of_nothing_has_an_error(void **state) {
  (void)state;
  static const double values[] = {-1.0, 1.0};
  cb_history *h = fold_of("sum", -1.0, true, 4);
  double se;
  trial_with(h, 2, values);
  assert_true(cb_runs_combined(h, &h->trials[0], &se) == 0.0);
  assert_relative(se, 4.0, 1e-15); /* 4 sqrt(2 / 2) */
  cb_history_free(h);
}

/* Without a last run there is no sum of all, and more runs must not make it grow. */
static void a_sum_without_an_end_is_that_of_one(void **state) {
  (void)state;
  static const double values[] = {3.0, 5.0, 4.0, 4.5};
  cb_history *h = fold_of("sum", -1.0, false, 0);
  trial_with(h, 4, values);
  trial_with(h, 2, values);
  assert_ok(cb_runs_weigh(h, &err));
  assert_relative(h->trials[0].value, 4.125, 1e-15);
  assert_relative(h->y[0], -4.125, 1e-15);
  assert_relative(h->trials[1].value, 4.0, 1e-15);
  assert_relative(h->run_variance, 1.046875, 1e-14); /* (2.1875 + 2) / 4 */
  cb_history_free(h);
}

static void names_of_combinations(void **state) {
  (void)state;
  assert_int_equal(cb_combine_named("geomean"), CB_GEOMEAN);
  assert_int_equal(cb_combine_named("max"), CB_MAX);
  assert_int_equal(cb_combine_named("?"), CB_MEAN);
  assert_int_equal(cb_instances_count(""), 0);
  assert_int_equal(cb_instances_count("\n\na\n\nb c\n"), 2);
  assert_int_equal(cb_instances_count("a\nb"), 2);
}

/* ---- ends of runs ---------------------------------------------------------------- */

static void assert_run(const cb_history *h, int64_t run, cb_outcome outcome,
                       double value) {
  const cb_run *r = &h->trials[0].runs[run];
  assert_int_equal(r->outcome, outcome);
  assert_true(r->value == value || (isnan(r->value) && isnan(value)));
}

static void assert_runs(const cb_history *h, int64_t started, int64_t flying) {
  assert_int_equal(h->n_started, started);
  assert_int_equal(h->n_flying, flying);
}

/* A discarded run is run again, on the same pair; whoever comes first counts. */
static void the_first_result_of_a_pair_counts(void **state) {
  (void)state;
  for (int late_first = 0; late_first < 2; late_first++) {
    cb_history *h = fold_of("mean", -1.0, true, 8);
    ask_trial(h);
    start(h, 0, 0);
    assert_runs(h, 1, 1);
    observe(h, 0, 0, CB_RUN_DISCARDED, 0.0);
    assert_runs(h, 0, 0);
    start(h, 0, 0);
    assert_runs(h, 1, 1);
    for (int i = 0; i < 2; i++)
      if (i == late_first)
        observe(h, 0, 1, CB_RUN_OK, 3.0);
      else
        observe(h, 0, 0, CB_RUN_OK, 5.0); /* late, and welcome */
    assert_runs(h, 2, 0);
    assert_int_equal(h->n_pairs, 1);
    assert_int_equal(h->trials[0].n_counted, 1);
    assert_run(h, 0, CB_RUN_OK, 5.0);
    assert_run(h, 1, CB_RUN_OK, 3.0);
    complete(h, 0);
    assert_true(h->trials[0].value == (late_first ? 5.0 : 3.0));
    cb_history_free(h);
  }
}

static void the_first_end_of_a_run_counts(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 8);
  ask_trial(h);
  start(h, 0, 0);
  observe(h, 0, 0, CB_RUN_OK, 3.0);
  observe(h, 0, 0, CB_RUN_OK, 4.0);
  observe(h, 0, 0, CB_RUN_DISCARDED, 0.0);
  observe(h, 0, 0, CB_RUN_FAILED, 0.0);
  assert_run(h, 0, CB_RUN_OK, 3.0);
  start(h, 0, 1);
  observe(h, 0, 1, CB_RUN_DISCARDED, 0.0);
  observe(h, 0, 1, CB_RUN_DISCARDED, 0.0);
  assert_runs(h, 1, 0);
  observe(h, 0, 1, CB_RUN_CAPPED, 9.0);
  assert_runs(h, 2, 0);
  observe(h, 0, 1, CB_RUN_OK, 1.0);
  assert_run(h, 1, CB_RUN_CAPPED, 9.0);
  cb_history_free(h);
}

/* Nobody stays the best by crashing late. */
static void a_crash_of_a_complete_trial_counts_as_the_worst(void **state) {
  (void)state;
  for (int maximize = 0; maximize < 2; maximize++) {
    static const double good[] = {2.0, 4.0}, other[] = {1.5, 6.5};
    cb_history *h = fold_of("mean", maximize ? 1.0 : -1.0, true, 8);
    trial_with(h, 2, good);
    trial_with(h, 2, other);
    start(h, 0, 2);
    observe(h, 0, 2, CB_RUN_FAILED, 0.0);
    assert_run(h, 2, CB_RUN_FAILED, NAN);
    assert_int_equal(h->trials[0].n_counted, 3);
    assert_int_equal(h->trials[0].state, COCABO_COMPLETE);
    assert_relative(h->trials[0].value, (6.0 + (maximize ? 1.5 : 6.5)) / 3.0, 1e-15);
    cb_history_free(h);
  }
}

/* In one that is not complete it says nothing of its own: the trial fails. */
static void a_crash_of_a_running_trial_has_no_value(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 8);
  ask_trial(h);
  run_on(h, 0, 0, 2.0);
  start(h, 0, 1);
  observe(h, 0, 1, CB_RUN_FAILED, 0.0);
  assert_int_equal(h->trials[0].n_counted, 1);
  assert_int_equal(h->trials[0].state, COCABO_RUNNING);
  cb_history_free(h);
}

/* "At least 4" beside 10: the mean is at least 7, and without it 10. */
static void what_is_cut_off_never_helps(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 8);
  ask_trial(h);
  run_on(h, 0, 0, 10.0);
  start(h, 0, 1);
  observe(h, 0, 1, CB_RUN_CAPPED, 4.0);
  complete(h, 0);
  assert_true(h->trials[0].value == 10.0);
  ask_trial(h); /* where it is worse than the others, it counts */
  run_on(h, 1, 0, 10.0);
  start(h, 1, 1);
  observe(h, 1, 1, CB_RUN_CAPPED, 24.0);
  complete(h, 1);
  assert_true(h->trials[1].value == 17.0);
  assert_int_equal(cb_race_incumbent(h), -1); /* neither can be the best */
  const double three[] = {8.0, 6.0, 5.0};
  trial_with(h, 3, three);
  assert_ok(cb_runs_weigh(h, &err));           /* beside one with a mean of 19/3, */
  assert_relative(h->y[0], -25.0 / 3.0, 1e-6); /* 2 worse where nothing was cut off */
  assert_relative(h->y[1], -49.0 / 3.0, 1e-6); /* (2 + 18) / 2 */
  cb_history_free(h);
}

/* A late end at a cap, of a pair that has a value: nothing was cut off. */
static void a_late_cap_does_not_touch_a_pair_that_has_a_value(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 8);
  ask_trial(h);
  start(h, 0, 0);
  observe(h, 0, 0, CB_RUN_DISCARDED, 0.0);
  run_on(h, 0, 0, 3.0);
  run_on(h, 0, 1, 9.0);
  observe(h, 0, 0, CB_RUN_CAPPED, 2.0);
  complete(h, 0);
  assert_true(h->trials[0].value == 6.0);
  assert_int_equal(cb_race_incumbent(h), 0);
  cb_history_free(h);
}

static void metrics_are_means_over_runs(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 8);
  ask_trial(h);
  static const double bytes[] = {3.0, 5.0, 10.0};
  for (int i = 0; i < 3; i++) {
    cocabo_metric metrics[] = {{"bytes", bytes[i]}, {"gap", 0.5}};
    start(h, 0, i);
    put(h, (cb_event){.kind = CB_TRIAL_OBSERVED,
                      .attempt = i,
                      .outcome = CB_RUN_OK,
                      .has_y = true,
                      .y = 1.0,
                      .metrics = metrics,
                      .n_metrics = i == 1 ? 2 : 1});
  }
  complete(h, 0);
  assert_int_equal(h->trials[0].n_metrics, 2);
  assert_string_equal(h->trials[0].metrics[0].name, "bytes");
  assert_relative(h->trials[0].metrics[0].value, 6.0, 1e-15);
  assert_true(h->trials[0].metrics[1].value == 0.5); /* of those that have it */
  cb_history_free(h);
}

static void contradictions_are_refused(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 8);
  ask_trial(h);
  const cb_event second = {.kind = CB_RUN_STARTED, .attempt = 1, .seed = 1};
  assert_fails(try_put(h, second), COCABO_E_STATE,
               "event 2 contradicts the log: the run is not the next");
  const cb_event nowhere = {.kind = CB_TRIAL_OBSERVED, .outcome = CB_RUN_OK};
  assert_fails(try_put(h, nowhere), COCABO_E_STATE,
               "event 2 contradicts the log: there is no such run");
  start(h, 0, 0);
  const cb_event infinite = {
      .kind = CB_TRIAL_OBSERVED, .outcome = CB_RUN_OK, .has_y = true, .y = INFINITY};
  assert_fails(try_put(h, infinite), COCABO_E_STATE,
               "event 3 contradicts the log: the value is not finite");
  assert_runs(h, 1, 1);
  cb_history_free(h);
}

/* What a running trial does is weighed when it is over. */
static void only_complete_trials_are_weighed(void **state) {
  (void)state;
  static const double values[] = {4.0, 1.0, 9.0}, others[] = {5.0, 3.0};
  double room[4];
  cb_history *h = fold_of("mean", -1.0, true, 8);
  trial_with(h, 3, values);
  trial_with(h, 2, others);
  assert_ok(cb_runs_weigh(h, &err));
  const double y[] = {h->y[0], h->y[1]};
  ask_trial(h);
  run_on(h, 2, 3, 6.0); /* a pair that nobody else has: there is no telling */
  assert_false(h->unweighed);
  assert_true(isnan(cb_runs_net(h, &h->trials[2], room)));
  run_on(h, 2, 0, 6.0); /* the first is expected at 3.75, the second at 5.25 */
  assert_ok(cb_runs_weigh(h, &err));
  assert_memory_equal(h->y, y, sizeof y);
  const double net = cb_runs_net(h, &h->trials[2], room);
  assert_close(net - cb_runs_net(h, &h->trials[0], room), 2.25, 1e-6);
  assert_close(net - cb_runs_net(h, &h->trials[1], room), 0.75, 1e-6);
  complete(h, 2);
  assert_true(h->unweighed);
  cb_history_free(h);
}

/* Squares of them are infinite: models get numbers all the same. */
static void values_without_a_square_are_no_trouble(void **state) {
  (void)state;
  static const double huge[] = {1e200, -1e200, 3e199}, other[] = {2e200, 1e200, -1e200};
  static const char *const combines[] = {"mean", "median", "max"};
  for (size_t i = 0; i < sizeof combines / sizeof combines[0]; i++) {
    cb_history *h = fold_of(combines[i], 1.0, true, 8);
    trial_with(h, 3, huge);
    trial_with(h, 3, other);
    trial_with(h, 2, huge);
    assert_ok(cb_runs_weigh(h, &err));
    for (int k = 0; k < 3; k++)
      assert_true(isfinite(h->y[k]) && isfinite(h->variance[k]));
    cb_history_free(h);
  }
}

/* ---- the race, by events --------------------------------------------------------- */

static const cb_race by_test = {.on = true, .first = 5, .most = 20, .level = 0.05};

static bool decided(const cb_race *race, cb_history *h, int64_t number) {
  bool out;
  assert_ok(cb_runs_weigh(h, &err));
  assert_ok(cb_race_decided(race, h, &h->trials[number], &out, &err));
  return out;
}

static int64_t next(const cb_race *race, cb_history *h) {
  int64_t number;
  assert_ok(cb_runs_weigh(h, &err));
  assert_ok(cb_race_next(race, h, &number, &err));
  return number;
}

static const double base[] = {5.0, 9.0, 2.0, 7.5, 3.25, 8.0, 1.5, 6.0, 4.0};

/* The incumbent with n pairs. */
static cb_history *race_against(int n) {
  cb_history *h = fold_of("mean", -1.0, true, 20);
  trial_with(h, n, base);
  return h;
}

/* By the test alone: it is not looked at before it has seven. */
static void who_is_worse_everywhere_is_given_up_at_five(void **state) {
  (void)state;
  cb_race race = by_test;
  cb_history *h = race_against(9);
  race.first = 7;
  ask_trial(h);
  for (int i = 0; i < 5; i++) {
    assert_false(decided(&race, h, 1));
    run_on(h, 1, i, base[i] + 0.125 * (i + 1));
  }
  assert_true(decided(&race, h, 1)); /* one in 32 */
  race.level = 1.0 / 32.0;
  assert_false(decided(&race, h, 1)); /* below it, not at it */
  run_on(h, 1, 5, base[5] + 3.0);
  assert_true(decided(&race, h, 1));
  race.level = 0.0;
  assert_false(decided(&race, h, 1));
  cb_history_free(h);
}

/* Pairs that only one of them has say nothing. */
static void only_common_pairs_count(void **state) {
  (void)state;
  cb_history *h = race_against(4);
  ask_trial(h);
  for (int i = 0; i < 4; i++)
    run_on(h, 1, i, base[i] + 1.0);
  run_on(h, 1, 7, 100.0);
  cb_race race = by_test;
  race.first = 9; /* else it has matched */
  assert_false(decided(&race, h, 1));
  cb_history_free(h);
}

static void a_newcomer_must_match_the_incumbent(void **state) {
  (void)state;
  cb_history *h = race_against(8);
  ask_trial(h);
  for (int i = 0; i < 8; i++) {
    assert_false(decided(&by_test, h, 1));
    if (i > 0) /* the first run comes with the ask */
      assert_int_equal(next(&by_test, h), 1);
    run_on(h, 1, i, base[i] - 1.0);
  }
  assert_true(decided(&by_test, h, 1));
  assert_int_equal(cb_race_incumbent(h), 0); /* not before it is told */
  complete(h, 1);
  assert_int_equal(cb_race_incumbent(h), 1);
  cb_history_free(h);
}

/* Of a trial so many runs are under way as it lacks. */
static void runs_under_way_are_counted(void **state) {
  (void)state;
  cb_history *h = race_against(9);
  ask_trial(h);
  for (int i = 0; i < 5; i++) {
    if (i > 0)
      assert_int_equal(next(&by_test, h), 1);
    start(h, 1, i);
  }
  assert_int_equal(next(&by_test, h), -1); /* a new one */
  for (int i = 0; i < 5; i++)
    observe(h, 1, i, CB_RUN_OK, base[i] - (i == 2 ? 1.0 : -0.1));
  for (int i = 5; i < 9; i++) {
    assert_int_equal(next(&by_test, h), 1);
    start(h, 1, i);
  }
  assert_int_equal(next(&by_test, h), -1);
  cb_history_free(h);
}

/* A value that depends on the pair, for as many as one likes. */
static double on_pair(int pair) {
  return 5.0 + 3.0 * sin(1.0 + pair);
}

/* A complete trial that is worse than that everywhere. */
static int64_t shifted_trial(cb_history *h, int n, double worse) {
  const int64_t number = ask_trial(h);
  for (int i = 0; i < n; i++)
    run_on(h, number, i, on_pair(i) + worse);
  complete(h, number);
  return number;
}

static const cb_race long_race = {.on = true, .first = 5, .most = 100, .level = 0.05};

/* Once unlucky, otherwise as good, so that the test does not tell: it is behind all
 * the time, and looked at when it has 5, 10, 20 pairs. */
static void who_is_behind_is_set_aside_at_5_10_20(void **state) {
  (void)state;
  for (int sign = -1; sign < 2; sign += 2) {
    cb_history *h = fold_of("mean", sign, true, 100);
    cb_race lenient = long_race;
    lenient.level = 0.0;
    shifted_trial(h, 30, 0.0);
    ask_trial(h);
    for (int n = 1; n < 30; n++) {
      const double worse = n == 1 ? 6.0 : n % 2 ? -1.0 : 1.0;
      run_on(h, 1, n - 1, on_pair(n - 1) - sign * worse);
      assert_true(decided(&long_race, h, 1) == (n == 5 || n == 10 || n == 20));
      assert_false(decided(&lenient, h, 1));
    }
    cb_history_free(h);
  }
}

/* And who is not goes on, so far that it is looked at again. */
static void who_is_ahead_runs_until_the_next_look(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 100);
  shifted_trial(h, 30, 0.0);
  ask_trial(h);
  for (int n = 0; n < 30; n++) {
    const int look = n < 5 ? 5 : n < 10 ? 10 : n < 20 ? 20 : 30; /* 30: all there are */
    start(h, 1, n);
    for (int i = n + 1; i < look; i++) {
      assert_int_equal(next(&long_race, h), 1);
      start(h, 1, i);
    }
    assert_int_equal(next(&long_race, h), -1);
    for (; n < look; n++) {
      assert_false(decided(&long_race, h, 1));
      observe(h, 1, n, CB_RUN_OK, on_pair(n) - (n == 0 ? 6.0 : n % 2 ? 1.0 : -1.0));
    }
    n--;
    assert_true(decided(&long_race, h, 1) == (look == 30));
  }
  cb_history_free(h);
}

/* One value that is far off: by the mean behind, by the median ahead. */
static void behind_is_by_the_average_of_the_study(void **state) {
  (void)state;
  static const char *const combines[] = {"mean", "median"};
  for (int k = 0; k < 2; k++) {
    cb_history *h = fold_of(combines[k], -1.0, true, 100);
    shifted_trial(h, 9, 0.0);
    ask_trial(h);
    for (int i = 0; i < 5; i++)
      run_on(h, 1, i, on_pair(i) + (i == 2 ? 50.0 : -0.5));
    assert_true(decided(&long_race, h, 1) == (k == 0));
    cb_history_free(h);
  }
}

/* Of 24 pairs the second best has half, the third best a third, the fourth a quarter.
 */
static void rivals_have_their_shares(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 100);
  shifted_trial(h, 24, 0.0);
  shifted_trial(h, 6, 0.3);
  shifted_trial(h, 7, 0.2); /* lacks one of 8 */
  shifted_trial(h, 4, 0.4);
  shifted_trial(h, 11, 0.1); /* lacks one of 12 */
  assert_int_equal(next(&long_race, h), 4);
  start(h, 4, 11);
  assert_int_equal(next(&long_race, h), 2);
  start(h, 2, 7);
  assert_int_equal(next(&long_race, h), -1);
  shifted_trial(h, 5, -0.1); /* looks better: all pairs, but first as many as it has */
  for (int i = 5; i < 10; i++) {
    assert_int_equal(next(&long_race, h), 5);
    start(h, 5, i);
  }
  assert_int_equal(next(&long_race, h), -1);
  cb_history_free(h);
}

/* With five pairs; those that failed are over, too. */
static void three_trials_are_worth_a_pair_of_the_incumbent(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 100);
  cb_race least = long_race;
  least.most = 5;
  shifted_trial(h, 5, 0.0);
  for (int over = 1, pair = 5; over < 13; over++) {
    const bool due = over > 1 && over % 3 == 1;
    assert_int_equal(next(&least, h), -1);
    assert_int_equal(next(&long_race, h), due ? 0 : -1);
    if (due)
      start(h, 0, pair++);
    assert_int_equal(next(&long_race, h), -1);
    if (over % 4)
      shifted_trial(h, 2, 10.0 + over);
    else
      put(h, (cb_event){.kind = CB_TRIAL_FAILED, .number = ask_trial(h)});
  }
  cb_history_free(h);
}

static void rivals_come_before_the_incumbent(void **state) {
  (void)state;
  cb_history *h = fold_of("mean", -1.0, true, 100);
  shifted_trial(h, 5, 0.0);
  for (int i = 0; i < 3; i++)
    shifted_trial(h, 2, 10.0 + i);
  const int64_t rival = shifted_trial(h, 3, -0.5);
  assert_int_equal(next(&long_race, h), rival);
  start(h, rival, 3);
  assert_int_equal(next(&long_race, h), rival);
  start(h, rival, 4);
  assert_int_equal(next(&long_race, h), 0);
  cb_history_free(h);
}

/* At a look, where the test is made, too; and where rivals are ranked. Nothing is
 * half done: weighing comes to the same afterwards. */
static void the_race_says_when_there_is_no_memory(void **state) {
  (void)state;
  cb_history *h = fold_of("median", -1.0, true, 100);
  int64_t number = -1;
  bool out;
  long failed = 0;
  shifted_trial(h, 24, 0.0);
  shifted_trial(h, 11, 0.1);
  ask_trial(h);
  for (int i = 0; i < 10; i++)
    run_on(h, 2, i, on_pair(i) + (i == 2 ? 50.0 : i % 2 ? 0.5 : -0.4));
  cocabo_status status = COCABO_E_NO_MEMORY;
  for (; status != COCABO_OK; failed++) {
    cb_mem_fail_after(failed);
    status = cb_runs_weigh(h, &err);
    if (status == COCABO_OK)
      status = cb_race_decided(&long_race, h, &h->trials[2], &out, &err);
    if (status == COCABO_OK)
      status = cb_race_next(&long_race, h, &number, &err);
    cb_mem_fail_after(-1);
    assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
  }
  assert_true(failed > 5); /* one for each block of the weighing, at least */
  assert_true(out);
  assert_int_equal(number, 1);
  cb_history_free(h);
}

/* Most pairs first; then the value, in the study's direction. */
static void the_incumbent_has_most_pairs(void **state) {
  (void)state;
  static const double best[] = {1.0, 1.0}, worse[] = {3.0, 3.0, 3.0},
                      better[] = {2.0, 3.0, 3.0};
  for (int maximize = 0; maximize < 2; maximize++) {
    cb_history *h = fold_of("mean", maximize ? 1.0 : -1.0, true, 20);
    assert_int_equal(cb_race_incumbent(h), -1);
    trial_with(h, 2, best);
    assert_int_equal(cb_race_incumbent(h), 0);
    trial_with(h, 3, worse);
    assert_int_equal(cb_race_incumbent(h), 1);
    trial_with(h, 3, better);
    assert_int_equal(cb_race_incumbent(h), maximize ? 1 : 2);
    cb_history_free(h);
  }
}

static void without_pairs_the_model_says_what_is_run_again(void **state) {
  (void)state;
  const cb_race race = {.on = true, .by_model = true, .first = 1, .level = 0.05};
  cb_history *h = fold_of("mean", -1.0, false, 0);
  trial_with(h, 1, base);
  ask_trial(h);
  assert_false(decided(&race, h, 1));
  run_on(h, 1, 0, 99.0);
  assert_true(decided(&race, h, 1));
  complete(h, 1);
  assert_int_equal(next(&race, h), -1);
  cb_history_free(h);
}

/* By hand: the incumbent took 5 + 9 + 2 + 7.5 + 3.25 = 26.75. */
static void caps_by_hand(void **state) {
  (void)state;
  cb_race race = by_test;
  cb_history *h = fold_of("mean", -1.0, true, 20);
  race.cap = true;
  ask_trial(h);
  const cb_trial *trials = h->trials;
  assert_true(cb_race_cap(&race, h, &trials[0], 0) == INFINITY); /* nobody to beat */
  for (int i = 0; i < 5; i++)
    run_on(h, 0, i, base[i]);
  complete(h, 0);
  ask_trial(h);
  trials = h->trials;
  assert_true(cb_race_cap(&by_test, h, &trials[1], 0) == INFINITY);
  assert_true(cb_race_cap(&race, h, &trials[0], 5) == INFINITY);
  assert_relative(cb_race_cap(&race, h, &trials[1], 0), 10.7, 1e-15); /* of a mean */
  assert_relative(cb_race_cap(&race, h, &trials[1], 1), 18.0, 1e-15); /* twice 9 */
  assert_relative(cb_race_cap(&race, h, &trials[1], -1), 10.7, 1e-15);
  run_on(h, 1, 0, 6.0);
  assert_relative(cb_race_cap(&race, h, &trials[1], 1), 20.75,
                  1e-15);                                             /* what is left */
  assert_relative(cb_race_cap(&race, h, &trials[1], 2), 15.4, 1e-15); /* 4 means - 6 */
  run_on(h, 1, 1, 20.7);
  assert_relative(cb_race_cap(&race, h, &trials[1], 2), 0.535, 1e-14); /* a tenth */
  cb_history_free(h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rows_are_those_of_the_definition),
      cmocka_unit_test(values_and_errors_by_hand),
      cmocka_unit_test(a_sum_of_nothing_has_an_error),
      cmocka_unit_test(a_sum_without_an_end_is_that_of_one),
      cmocka_unit_test(names_of_combinations),
      cmocka_unit_test(the_first_result_of_a_pair_counts),
      cmocka_unit_test(the_first_end_of_a_run_counts),
      cmocka_unit_test(a_crash_of_a_complete_trial_counts_as_the_worst),
      cmocka_unit_test(a_crash_of_a_running_trial_has_no_value),
      cmocka_unit_test(what_is_cut_off_never_helps),
      cmocka_unit_test(a_late_cap_does_not_touch_a_pair_that_has_a_value),
      cmocka_unit_test(metrics_are_means_over_runs),
      cmocka_unit_test(contradictions_are_refused),
      cmocka_unit_test(only_complete_trials_are_weighed),
      cmocka_unit_test(values_without_a_square_are_no_trouble),
      cmocka_unit_test(who_is_worse_everywhere_is_given_up_at_five),
      cmocka_unit_test(only_common_pairs_count),
      cmocka_unit_test(a_newcomer_must_match_the_incumbent),
      cmocka_unit_test(runs_under_way_are_counted),
      cmocka_unit_test(who_is_behind_is_set_aside_at_5_10_20),
      cmocka_unit_test(who_is_ahead_runs_until_the_next_look),
      cmocka_unit_test(behind_is_by_the_average_of_the_study),
      cmocka_unit_test(rivals_have_their_shares),
      cmocka_unit_test(three_trials_are_worth_a_pair_of_the_incumbent),
      cmocka_unit_test(rivals_come_before_the_incumbent),
      cmocka_unit_test(the_race_says_when_there_is_no_memory),
      cmocka_unit_test(the_incumbent_has_most_pairs),
      cmocka_unit_test(without_pairs_the_model_says_what_is_run_again),
      cmocka_unit_test(caps_by_hand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
