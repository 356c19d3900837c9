/* Constraints on metrics: how they are read, which trial is best under them, and what
 * the default sampler makes of them and of failures. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "log/constraints.h"
#include "sampler/feasibility.h"
#include "study/study.h"

static cocabo_error err;

/* ---- reading --------------------------------------------------------------------- */

static void constraints_are_read(void **state) {
  (void)state;
  cb_constraints *c = NULL;
  assert_ok(cb_constraints_read(
      &c, " p99<200,\n`a b,``c` >= -1.5e-3 ,p99 > 1e2,größe<=0", &err));
  assert_int_equal(c->n, 4);
  const cb_constraint want[] = {{"p99", false, true, 200.0},
                                {"a b,`c", true, false, -1.5e-3},
                                {"p99", true, true, 100.0},
                                {"größe", false, false, 0.0}};
  cb_constraints *copy = cb_constraints_copy(c);
  cb_free(c);
  for (int i = 0; i < 4; i++) {
    assert_string_equal(copy->items[i].metric, want[i].metric);
    assert_int_equal(copy->items[i].above, want[i].above);
    assert_int_equal(copy->items[i].strict, want[i].strict);
    assert_true(copy->items[i].bound == want[i].bound);
  }
  cb_free(copy);
  assert_ok(cb_constraints_read(&c, "", &err));
  assert_null(c);
  assert_ok(cb_constraints_read(&c, " \t\n", &err));
  assert_null(c);
}

static void slips_are_refused_with_a_sentence(void **state) {
  (void)state;
  static const char *const bad[] = {
      "p99",           "p99 200",     "< 3",       "p99 < fast", "p99 == 3", "p99 =< 3",
      "p99 < 3,",      ",p99 < 3",    "p99 < 3 4", "p 99 < 3",   "`p99 < 3", "`` < 3",
      "p99 < inf",     "p99 < nan",   "p99 < 0x3", "p99 <> 3",   "p99 <",    "p99 < 3;",
      "a < 1,, b < 2", "p99 < 1e999", "`a`b < 3"};
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
    cb_constraints *c = (cb_constraints *)&err;
    err.message[0] = '\0';
    if (cb_constraints_read(&c, bad[i], &err) != COCABO_E_INVALID)
      fail_msg("\"%s\" was read", bad[i]);
    assert_null(c);
    assert_non_null(strstr(err.message, "is not METRIC < NUMBER"));
  }
  cocabo_options *o = cocabo_options_new();
  assert_ok(cocabo_options_set(o, "constraints", "a < 1", &err));
  assert_fails(cocabo_options_set(o, "constraints", "p99 200, b < 3", &err),
               COCABO_E_INVALID,
               "constraint \"p99 200\" is not METRIC < NUMBER (or <=, >, >=), with "
               "blanks or commas in a name `like this`");
  assert_fails(cocabo_options_set(o, "constraints", "p99 < 3, p99 <= 4", &err),
               COCABO_E_INVALID,
               "metric \"p99\" is bounded twice from above, want one bound");
  assert_string_equal(cocabo_options_get(o, "constraints"), "a < 1");
  char many[400] = "";
  for (int i = 0; i < 17; i++)
    sprintf(many + strlen(many), "%sm%d < 1", i ? "," : "", i);
  assert_fails(cocabo_options_set(o, "constraints", many, &err), COCABO_E_RANGE,
               "there are more than 16 constraints");
  cocabo_options_free(o);
}

static void lack_of_memory_leaves_options_as_they_were(void **state) {
  (void)state;
  cocabo_options *o = cocabo_options_new();
  assert_ok(cocabo_options_set(o, "constraints", "a < 1", &err));
  for (int k = 0;; k++) {
    cb_mem_fail_after(k);
    const cocabo_status status = cocabo_options_set(o, "constraints", "b > 2", &err);
    cb_mem_fail_after(-1);
    if (status == COCABO_OK)
      break;
    assert_int_equal(status, COCABO_E_NO_MEMORY);
    assert_string_equal(cocabo_options_get(o, "constraints"), "a < 1");
  }
  assert_string_equal(cocabo_options_get(o, "constraints"), "b > 2");
  cocabo_options_free(o);
}

/* ---- studies --------------------------------------------------------------------- */

static cocabo_study *create_with(const char *space, const char *const (*options)[2],
                                 int n) {
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(s, "x", space, &err));
  assert_ok(cocabo_space_add(s, "k", "choice(a,b,c)", &err));
  for (int i = 0; i < n; i++)
    assert_ok(cocabo_options_set(o, options[i][0], options[i][1], &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, NULL, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static cocabo_study *create(const char *sampler, const char *constraints) {
  const char *const options[][2] = {
      {"sampler", sampler}, {"constraints", constraints}, {"n_init", "4"}};
  return create_with("float(0,1)", options, 3);
}

static int64_t ask(cocabo_study *study, double *x) {
  cocabo_trial *t;
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  const int64_t number = cocabo_trial_number(t);
  assert_ok(cocabo_trial_get_real(t, "x", x, &err));
  cocabo_trial_free(t);
  return number;
}

/* The next trial gets this value, and p99 unless that is NaN. */
static void tell_next(cocabo_study *study, double value, double p99) {
  double x;
  const cocabo_metric metric = {"p99", p99};
  const int64_t number = ask(study, &x);
  assert_ok(cocabo_study_tell_metrics(study, number, value, &metric,
                                      isnan(p99) ? 0u : 1u, &err));
}

static void assert_best(cocabo_study *study, int64_t number, int feasible) {
  cocabo_trial *t;
  assert_ok(cocabo_study_best(study, &t, &err));
  assert_int_equal(cocabo_trial_number(t), number);
  assert_int_equal(cocabo_trial_feasible(t), feasible);
  cocabo_trial_free(t);
}

static void assert_no_best(cocabo_study *study, const char *missing) {
  cocabo_trial *t = NULL;
  char sentence[120];
  snprintf(sentence, sizeof sentence,
           "no trial of study \"s\" has every metric that is bounded: trial 0 has no "
           "\"%s\"",
           missing);
  assert_fails(cocabo_study_best(study, &t, &err), COCABO_E_NOT_FOUND, sentence);
  assert_null(t);
}

static int feasible_of(cocabo_study *study, int64_t number) {
  cocabo_trial *t;
  assert_ok(cocabo_study_trial(study, number, &t, &err));
  const int feasible = cocabo_trial_feasible(t);
  cocabo_trial_free(t);
  return feasible;
}

static void the_best_is_the_best_that_keeps_the_constraints(void **state) {
  (void)state;
  cocabo_study *study = create("random", "p99 <= 200, value > -5");
  tell_next(study, 1.0, NAN);
  assert_no_best(study, "p99");
  tell_next(study, 2.0, 500.0);
  tell_next(study, 3.0, 260.0);
  assert_best(study, 2, 0); /* the least violation */
  tell_next(study, -9.0, 150.0);
  assert_best(study, 2, 0); /* the value is constrained too: 4 in units of 6.5 */
  tell_next(study, 7.0, 200.0);
  assert_best(study, 4, 1);
  tell_next(study, 8.0, 100.0);
  assert_best(study, 4, 1);
  tell_next(study, 6.0, 199.0);
  assert_best(study, 6, 1);
  const int want[] = {-1, 0, 0, 0, 1, 1, 1};
  for (int i = 0; i < 7; i++)
    assert_int_equal(feasible_of(study, i), want[i]);
  double x;
  assert_int_equal(feasible_of(study, ask(study, &x)), -1); /* it runs */
  assert_ok(cocabo_study_fail(study, 7, "why", &err));
  assert_int_equal(feasible_of(study, 7), -1);
  assert_int_equal(cocabo_trial_feasible(NULL), -1);

  /* Others change what holds of every trial. */
  const char *const names[] = {"constraints"};
  const char *const strict[] = {"p99 < 200"}, *const none[] = {""};
  assert_ok(cocabo_study_change(study, names, strict, 1, &err));
  assert_int_equal(feasible_of(study, 4), 0);
  assert_best(study, 3, 1);
  assert_ok(cocabo_study_change(study, names, none, 1, &err));
  assert_int_equal(feasible_of(study, 0), 1);
  assert_best(study, 3, 1);
  cocabo_study_free(study);
}

static void the_objective_goes_by_its_name(void **state) {
  (void)state;
  cocabo_study *study = create("random", "loss > 2");
  tell_next(study, 1.0, NAN);
  tell_next(study, 3.0, NAN);
  assert_no_best(study, "loss"); /* nobody measures one */
  assert_ok(cocabo_study_set_attr(study, "objective", "loss", &err));
  assert_best(study, 1, 1);
  cocabo_study_free(study);
}

static void samplers_without_a_model_of_constraints_refuse_them(void **state) {
  (void)state;
  const char *const refusing[] = {"cocabo", "smac", "tpe", "onehot", "exp3bo"};
  const char *const names[] = {"sampler"};
  cocabo_study *study = create("mixed", "p99 < 200");
  for (size_t i = 0; i < sizeof refusing / sizeof refusing[0]; i++) {
    char want[120];
    sprintf(want,
            "sampler %s has no model of constraints, want mixed (or random, sobol)",
            refusing[i]);
    assert_fails(cocabo_study_change(study, names, &refusing[i], 1, &err),
                 COCABO_E_INVALID, want);
  }
  cocabo_study_free(study);
  cocabo_study_free(create("sobol", "p99 < 200"));
}

static void verify_all(cocabo_study *study) {
  cocabo_report report;
  assert_ok(cocabo_study_verify(study, -1, &report, &err));
  assert_true(report.replayed > 0);
  assert_int_equal(report.differing, 0);
  assert_int_equal(report.foreign, 0);
}

/* Minimise x where p99 = 1 - x < 0.4: the best is x = 0.6. */
static void mixed_finds_the_bound_and_replays(void **state) {
  (void)state;
  cocabo_study *study = create("mixed", "p99 < 0.4");
  double x;
  for (int i = 0; i < 30; i++) {
    const int64_t number = ask(study, &x);
    const cocabo_metric metric = {"p99", 1.0 - x};
    if (i % 10 == 9) /* the model does without it */
      assert_ok(cocabo_study_tell(study, number, x, &err));
    else
      assert_ok(cocabo_study_tell_metrics(study, number, x, &metric, 1, &err));
    if (i == 20) { /* the fits before have another length */
      const char *const names[] = {"constraints"};
      const char *const more[] = {"p99 < 0.4, value < 0.9"};
      assert_ok(cocabo_study_change(study, names, more, 1, &err));
    }
  }
  cocabo_trial *best;
  assert_ok(cocabo_study_best(study, &best, &err));
  assert_int_equal(cocabo_trial_feasible(best), 1);
  assert_true(cocabo_trial_value(best) < 0.61);
  cocabo_trial_free(best);
  verify_all(study);
  cocabo_study_free(study);
}

static void predictions_say_how_likely_a_point_is_feasible(void **state) {
  (void)state;
  cocabo_study *study = create("mixed", "p99 < 0.4");
  double x, mean[2], p[2] = {7.0, 7.0};
  for (int i = 0; i < 12; i++) {
    const int64_t number = ask(study, &x);
    const cocabo_metric metric = {"p99", 1.0 - x};
    assert_ok(cocabo_study_tell_metrics(study, number, x, &metric, 1, &err));
  }
  const cocabo_value a = {.type = COCABO_TEXT, .as.text = "a"};
  const cocabo_value points[] = {{.type = COCABO_REAL, .as.real = 0.05},
                                 a,
                                 {.type = COCABO_REAL, .as.real = 0.8},
                                 a};
  assert_ok(cocabo_study_predict(study, points, 2, mean, NULL, p, &err));
  assert_true(p[0] >= 0.0 && p[0] < 0.01);
  assert_true(p[1] > 0.99 && p[1] <= 1.0);
  cocabo_study_free(study);
}

static void where_nothing_is_feasible_it_is_looked_for(void **state) {
  (void)state;
  cocabo_study *study = create("mixed", "p99 > 0.97");
  double x;
  int found = -1;
  for (int i = 0; i < 20 && found < 0; i++) {
    const int64_t number = ask(study, &x);
    const cocabo_metric metric = {"p99", x * x};
    assert_ok(cocabo_study_tell_metrics(study, number, x, &metric, 1, &err));
    found = feasible_of(study, number) == 1 ? i : -1;
  }
  assert_true(found >= 4 && found < 12);
  verify_all(study);
  cocabo_study_free(study);
}

static void noisy_studies_choose_among_the_feasible(void **state) {
  (void)state;
  const char *const options[][2] = {{"constraints", "p99 < 0.5"},
                                    {"deterministic", "false"},
                                    {"n_init", "6"},
                                    {"direction", "maximize"}};
  cocabo_study *study = create_with("float(0,1)", options, 4);
  double x;
  for (int i = 0; i < 70; i++) { /* beyond what the judge of few results takes */
    const int64_t number = ask(study, &x);
    const cocabo_metric metric = {"p99", x};
    const double noise = 0.05 * sin(1000.0 * x);
    assert_ok(cocabo_study_tell_metrics(study, number, x + noise, &metric, 1, &err));
    if (i == 20 || i == 69) {
      cocabo_trial *best;
      assert_ok(cocabo_study_best(study, &best, &err));
      assert_int_equal(cocabo_trial_feasible(best), 1);
      assert_ok(cocabo_trial_get_real(best, "x", &x, &err));
      assert_true(x < 0.5 && x > 0.3);
      cocabo_trial_free(best);
    }
  }
  cocabo_study_free(study);
}

/* ---- failures -------------------------------------------------------------------- */

/* Fails where x > 0.6, although large x are good; how many of the sampler's own fail.
 */
static int count_own_failures(const char *reason, double *best) {
  const char *const options[][2] = {{"n_init", "6"}, {"direction", "maximize"}};
  cocabo_study *study = create_with("float(0,1)", options, 2);
  int failures = 0;
  *best = 0.0;
  for (int i = 0; i < 40; i++) {
    double x;
    const int64_t number = ask(study, &x);
    if (x > 0.6) {
      failures += i >= 6;
      assert_ok(cocabo_study_fail(study, number, reason, &err));
    } else {
      assert_ok(cocabo_study_tell(study, number, x, &err));
      *best = fmax(*best, x);
    }
  }
  verify_all(study);
  cocabo_study_free(study);
  return failures;
}

static void failures_teach_unless_the_infrastructure_failed(void **state) {
  (void)state;
  double best, other;
  const int taught = count_own_failures("exit status 1", &best);
  const int untaught = count_own_failures("exit status 75\nno licence", &other);
  assert_true(taught < 15);
  assert_true(best > 0.55);
  assert_true(untaught > 25); /* it believes in large x to the end */
  assert_int_equal(count_own_failures("exit status 750", &other), taught);
  assert_int_equal(count_own_failures("exit status 75!", &other), taught);
}

/* Failures of a design of 40 points that fail with this reason where x > 1/2. */
static int count_failures_of_design(const char *reason, bool one_by_one) {
  const char *const options[][2] = {{"n_init", "40"}};
  cocabo_study *study = create_with("float(0,1)", options, 1);
  cocabo_trial *trials[40];
  int failures = 0;
  for (int i = 0; i < 40; i += one_by_one ? 1 : 40) {
    const size_t n = one_by_one ? 1 : 40;
    assert_ok(cocabo_study_ask(study, n, trials, &err));
    for (size_t k = 0; k < n; k++) {
      const int64_t number = cocabo_trial_number(trials[k]);
      double x;
      assert_ok(cocabo_trial_get_real(trials[k], "x", &x, &err));
      failures += x > 0.5;
      if (x > 0.5)
        assert_ok(cocabo_study_fail(study, number, reason, &err));
      else
        assert_ok(cocabo_study_tell(study, number, x, &err));
      cocabo_trial_free(trials[k]);
    }
  }
  cocabo_study_free(study);
  return failures;
}

static void the_design_keeps_away_from_failures(void **state) {
  (void)state;
  assert_in_range(count_failures_of_design("exit status 1", false), 12, 28);
  assert_in_range(count_failures_of_design("exit status 75", true), 12, 28);
  assert_in_range(count_failures_of_design("exit status 1", true), 1, 8);
}

static void tell_many(cocabo_study *study, int n, bool fail) {
  for (int i = 0; i < n; i++) {
    double x;
    const int64_t number = ask(study, &x);
    if (fail)
      assert_ok(cocabo_study_fail(study, number, "why", &err));
    else
      assert_ok(cocabo_study_tell(study, number, x, &err));
  }
}

/* Follows the study's history as a proposal without a fit does. */
static void follow(cb_feasibility *f, const cocabo_study *study) {
  const cb_history *history = cb_study_history(study);
  const cb_ask request = {.history = history};
  int64_t rows[500];
  for (int64_t i = 0; i < history->n; i++)
    rows[i] = i;
  assert_ok(cb_feasibility_look(f, history, &err));
  assert_ok(cb_feasibility_follow(f, &request, rows, history->n, NULL, false,
                                  history->best, &err));
}

static void nothing_is_built_anew_while_the_failures_are_the_same(void **state) {
  (void)state;
  const char *const options[][2] = {{"sampler", "random"}};
  cocabo_study *study = create_with("float(0,1)", options, 1);
  const cb_history *history = cb_study_history(study);
  const cb_settings settings = {.deterministic = true, .ard = true};
  const cb_kernel_spec spec = {
      .d = history->space->d, .c = history->space->c, .form = CB_FREE, .ard = true};
  cb_feasibility *f;
  assert_ok(cb_feasibility_new(&f, history->space, &settings, &spec, &err));
  tell_many(study, 10, false);
  tell_many(study, 1, true);
  follow(f, study);
  assert_null(cb_feasibility_limits(f, true)); /* one is none */
  tell_many(study, 30, true);
  follow(f, study);
  const cb_feasible *limits = cb_feasibility_limits(f, true);
  assert_int_equal(limits->n, 1);
  const int64_t builds = cb_feasibility_builds(f);
  assert_true(builds > 0);
  for (int i = 0; i < 5; i++)
    follow(f, study);
  tell_many(study, 20, false); /* results are appended */
  follow(f, study);
  assert_int_equal(cb_feasibility_builds(f), builds);
  assert_int_equal(cb_gp_count(limits->limits[0].gp), 61);
  tell_many(study, 1, true);
  follow(f, study);
  assert_int_equal(cb_feasibility_builds(f), builds + 1);
  tell_many(study, 300, true); /* no more than can be held */
  follow(f, study);
  assert_int_equal(cb_gp_count(limits->limits[0].gp), 30 + CB_MOST_FAILURES);
  const int64_t full = cb_feasibility_builds(f);
  follow(f, study);
  assert_int_equal(cb_feasibility_builds(f), full);
  cb_feasibility_free(f);
  cocabo_study_free(study);
}

/* Where points repeat, one that fails twice is enough: with nothing but categories a
 * search that learns nothing would propose it for ever. */
static void a_point_that_fails_again_is_left(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(s, "k", "choice(a,b,c,d)", &err));
  assert_ok(cocabo_options_set(o, "deterministic", "false", &err));
  assert_ok(cocabo_options_set(o, "n_init", "3", &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, NULL, &err));
  int failures = 0;
  for (int i = 0; i < 30; i++) {
    cocabo_trial *t;
    cocabo_value k;
    assert_ok(cocabo_study_ask(study, 1, &t, &err));
    assert_ok(cocabo_trial_get_choice(t, "k", &k, &err));
    if (strcmp(k.as.text, "d") == 0) {
      failures++;
      assert_ok(cocabo_study_fail(study, cocabo_trial_number(t), "why", &err));
    } else {
      assert_ok(cocabo_study_tell(study, cocabo_trial_number(t),
                                  (double)('z' - k.as.text[0]), &err));
    }
    cocabo_trial_free(t);
  }
  assert_true(failures < 10);
  cocabo_study_free(study);
  cocabo_options_free(o);
  cocabo_space_free(s);
}

static void asking_survives_lack_of_memory(void **state) {
  (void)state;
  cocabo_study *study = create("mixed", "p99 < 0.4");
  cocabo_trial *t = NULL;
  for (int i = 0; i < 12; i++) {
    double x;
    const int64_t number = ask(study, &x);
    const cocabo_metric metric = {"p99", 1.0 - x};
    if (i % 3 == 2)
      assert_ok(cocabo_study_fail(study, number, "why", &err));
    else
      assert_ok(cocabo_study_tell_metrics(study, number, x, &metric, 1, &err));
  }
  for (int k = 0;; k++) {
    cb_mem_fail_after(k);
    const cocabo_status status = cocabo_study_ask(study, 1, &t, &err);
    cb_mem_fail_after(-1);
    if (status == COCABO_OK)
      break;
    assert_int_equal(status, COCABO_E_NO_MEMORY);
  }
  cocabo_trial_free(t);
  verify_all(study);
  cocabo_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(constraints_are_read),
      cmocka_unit_test(slips_are_refused_with_a_sentence),
      cmocka_unit_test(lack_of_memory_leaves_options_as_they_were),
      cmocka_unit_test(the_best_is_the_best_that_keeps_the_constraints),
      cmocka_unit_test(the_objective_goes_by_its_name),
      cmocka_unit_test(samplers_without_a_model_of_constraints_refuse_them),
      cmocka_unit_test(mixed_finds_the_bound_and_replays),
      cmocka_unit_test(predictions_say_how_likely_a_point_is_feasible),
      cmocka_unit_test(where_nothing_is_feasible_it_is_looked_for),
      cmocka_unit_test(noisy_studies_choose_among_the_feasible),
      cmocka_unit_test(failures_teach_unless_the_infrastructure_failed),
      cmocka_unit_test(the_design_keeps_away_from_failures),
      cmocka_unit_test(nothing_is_built_anew_while_the_failures_are_the_same),
      cmocka_unit_test(a_point_that_fails_again_is_left),
      cmocka_unit_test(asking_survives_lack_of_memory),
  };
  return cmocka_run_group_tests_name("log/constraints", tests, NULL, NULL);
}
