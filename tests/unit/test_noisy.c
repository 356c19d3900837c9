/* Objectives with noise (deterministic=false): what is best, and what may come again.
 */
#include "check.h"

#include "base/rng.h"

static cocabo_error err;

static cocabo_study *new_study(const char *sampler, const char *deterministic) {
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  assert_ok(cocabo_space_add(space, "x", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "h", "choice(a,b)", &err));
  assert_ok(cocabo_options_set(options, "sampler", sampler, &err));
  assert_ok(cocabo_options_set(options, "deterministic", deterministic, &err));
  assert_ok(cocabo_options_set(options, "direction", "maximize", &err));
  cocabo_study *study = NULL;
  assert_ok(cocabo_study_create(&study, "noisy", space, options, NULL, &err));
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

static double truth(double x, const char *h) {
  return (h[0] == 'a' ? 0.0 : -0.6) - (x - 0.3) * (x - 0.3);
}

static double truth_of(const cocabo_trial *trial) {
  double x;
  cocabo_value h;
  assert_ok(cocabo_trial_get_real(trial, "x", &x, &err));
  assert_ok(cocabo_trial_get_choice(trial, "h", &h, &err));
  return truth(x, h.as.text);
}

static void play(cocabo_study *study, uint64_t seed, int rounds, double noise) {
  for (int i = 0; i < rounds; i++) {
    cocabo_trial *trial;
    assert_ok(cocabo_study_ask(study, 1, &trial, &err));
    cb_rng rng = cb_rng_make(seed, CB_RNG_RANDOM, (uint64_t)i);
    const double y = truth_of(trial) + noise * cb_rng_normal(&rng);
    assert_ok(cocabo_study_tell(study, cocabo_trial_number(trial), y, &err));
    cocabo_trial_free(trial);
  }
}

static double best_truth(cocabo_study *study, double *value) {
  cocabo_trial *best;
  assert_ok(cocabo_study_best(study, &best, &err));
  const double t = truth_of(best);
  *value = cocabo_trial_value(best);
  cocabo_trial_free(best);
  return t;
}

static double luckiest(const cocabo_study *study) {
  double most = -INFINITY;
  for (int64_t i = 0; i < cocabo_study_count(study); i++) {
    cocabo_trial *trial;
    assert_ok(cocabo_study_trial(study, i, &trial, &err));
    most = fmax(most, cocabo_trial_value(trial));
    cocabo_trial_free(trial);
  }
  return most;
}

/* With noise of 0.3 the best value is luck. The one with the best mean is near the
 * truth, and mostly another trial. */
static void the_best_of_noisy_values_is_the_best_mean(void **state) {
  (void)state;
  const char *const samplers[] = {"mixed", "cocabo", "onehot", "exp3bo"};
  for (int s = 0; s < 4; s++) {
    double regret = 0.0, lucky = 0.0;
    int others = 0;
    for (uint64_t seed = 0; seed < 8; seed++) {
      cocabo_study *study = new_study(samplers[s], "false");
      play(study, seed, 40, 0.3);
      double value;
      regret -= best_truth(study, &value) / 8.0;
      others += value < luckiest(study);
      lucky += luckiest(study) / 8.0;
      cocabo_study_free(study);
    }
    assert_true(lucky > 0.3); /* values above anything that is possible */
    assert_true(others >= 4);
    assert_true(regret < 0.15);
  }
}

static void the_best_of_exact_values_is_the_best_value(void **state) {
  (void)state;
  cocabo_study *study = new_study("mixed", "true");
  double value;
  play(study, 3, 20, 0.3);
  best_truth(study, &value);
  assert_close(value, luckiest(study), 0.0);
  cocabo_study_free(study);
}

/* Random search has no model: then the best value counts. */
static void without_a_model_the_best_value_counts(void **state) {
  (void)state;
  cocabo_study *study = new_study("random", "false");
  double value;
  play(study, 5, 20, 0.3);
  best_truth(study, &value);
  assert_close(value, luckiest(study), 0.0);
  cocabo_study_free(study);
}

/* How often the truth at the named trial is within k standard errors of what is
 * expected there, and how far off the named and the luckiest trials are, on average. */
typedef struct {
  double within[3], named, luckiest;
} record;

static int64_t luckiest_number(const cocabo_study *study) {
  for (int64_t i = 0; i < cocabo_study_count(study); i++) {
    cocabo_trial *trial;
    assert_ok(cocabo_study_trial(study, i, &trial, &err));
    const int it_is = cocabo_trial_value(trial) == luckiest(study);
    cocabo_trial_free(trial);
    if (it_is)
      return i;
  }
  return -1;
}

static void judge(cocabo_study *study, record *r, int runs) {
  cocabo_trial *best, *lucky;
  double value, se;
  assert_ok(cocabo_study_best(study, &best, &err));
  assert_ok(cocabo_study_expected(study, cocabo_trial_number(best), &value, &se, &err));
  assert_true(isfinite(value) && se > 0.0);
  for (int k = 1; k < 3; k++)
    r->within[k] += (fabs(value - truth_of(best)) <= k * se) / (double)runs;
  assert_ok(cocabo_study_trial(study, luckiest_number(study), &lucky, &err));
  r->named -= truth_of(best) / runs;
  r->luckiest -= truth_of(lucky) / runs;
  cocabo_trial_free(lucky);
  cocabo_trial_free(best);
}

/* 68 and 95 % would be perfect. A model that is too sure fails, and so does one that
 * always says "anything". */
static void what_is_expected_is_true_within_its_error(void **state) {
  (void)state;
  enum { RUNS = 16 };
  static const struct {
    const char *sampler;
    double one, two; /* at least so often within one error, and within two */
  } cases[] = {{"mixed", 0.6, 0.9},
               {"cocabo", 0.6, 0.85},
               {"onehot", 0.5, 0.8},
               {"exp3bo", 0.4, 0.85},
               {"smac", 0.5, 0.8}};
  for (int s = 0; s < 5; s++) {
    record r = {0};
    for (uint64_t seed = 0; seed < RUNS; seed++) {
      cocabo_study *study = new_study(cases[s].sampler, "false");
      play(study, 100 + seed, 40, 0.3);
      judge(study, &r, RUNS);
      cocabo_study_free(study);
    }
    print_message("%s: within 1 error %.2f, 2 errors %.2f; named %.3f, luckiest %.3f\n",
                  cases[s].sampler, r.within[1], r.within[2], r.named, r.luckiest);
    assert_true(r.within[1] >= cases[s].one && r.within[1] <= 0.95);
    assert_true(r.within[2] >= cases[s].two);
    assert_true(r.named < r.luckiest);
  }
}

/* One fit to twenty results that are mostly noise is as often as not sure that there is
 * none. */
static void few_results_leave_doubt(void **state) {
  (void)state;
  enum { RUNS = 16 };
  record r = {0};
  for (uint64_t seed = 0; seed < RUNS; seed++) {
    cocabo_study *study = new_study("mixed", "false");
    play(study, 300 + seed, 18, 0.8);
    judge(study, &r, RUNS);
    cocabo_study_free(study);
  }
  print_message("within 1 error %.2f, 2 errors %.2f; named %.3f, luckiest %.3f\n",
                r.within[1], r.within[2], r.named, r.luckiest);
  assert_true(r.within[1] >= 0.6 && r.within[2] >= 0.9);
}

/* More results, and the point is known better. */
static void more_results_make_the_error_smaller(void **state) {
  (void)state;
  double errors[2];
  for (int many = 0; many < 2; many++) {
    cocabo_study *study = new_study("mixed", "false");
    cocabo_trial *best;
    double value;
    play(study, 9, many ? 120 : 20, 0.3);
    assert_ok(cocabo_study_best(study, &best, &err));
    assert_ok(cocabo_study_expected(study, cocabo_trial_number(best), &value,
                                    &errors[many], &err));
    cocabo_trial_free(best);
    cocabo_study_free(study);
  }
  assert_true(errors[1] < 0.7 * errors[0]);
}

/* Results that were added and never asked for: the model learns from them when it is
 * asked what is best. The answer does not depend on trials that run, it is the same in
 * every handle, and nothing is written. */
static void known_results_are_learnt_from_too(void **state) {
  (void)state;
  cocabo_study *study = new_study("mixed", "false");
  const char *const names[] = {"x", "h"};
  double value, se, again, again_se;
  for (int i = 0; i < 60; i++) {
    cb_rng rng = cb_rng_make(4, CB_RNG_RANDOM, (uint64_t)i);
    const double x = 2.0 * cb_rng_uniform(&rng) - 1.0;
    const char *h = i % 2 ? "a" : "b";
    const cocabo_value values[] = {{COCABO_REAL, {.real = x}},
                                   {COCABO_TEXT, {.text = h}}};
    const double y = truth(x, h) + 0.3 * cb_rng_normal(&rng);
    assert_ok(cocabo_study_add(study, names, values, 2, &y, &err));
  }
  cocabo_trial *best, *other, *running;
  assert_ok(cocabo_study_best(study, &best, &err));
  assert_true(truth_of(best) > -0.2);
  const int64_t number = cocabo_trial_number(best);
  assert_ok(cocabo_study_expected(study, number, &value, &se, &err));
  assert_true(se < 0.3 && fabs(value - truth_of(best)) < 3.0 * se);
  assert_int_equal(cocabo_study_count(study), 60);
  assert_ok(cocabo_study_ask(study, 1, &running, &err)); /* of the design: no fit */
  assert_ok(cocabo_study_best(study, &other, &err));
  assert_int_equal(cocabo_trial_number(other), number);
  assert_ok(cocabo_study_expected(study, number, &again, &again_se, &err));
  assert_true(value == again && se == again_se);
  cocabo_trial_free(running);
  cocabo_trial_free(other);
  cocabo_trial_free(best);
  cocabo_study_free(study);
}

static int count_call(void *calls) {
  ++*(int *)calls;
  return 0;
}

static int stop(void *unused) {
  (void)unused;
  return 1;
}

/* A bar asks for the best again and again. Fits ask whether they shall go on. */
static void the_best_is_found_once_for_each_result(void **state) {
  (void)state;
  cocabo_study *study = new_study("mixed", "false");
  cocabo_trial *best = NULL, *running;
  int calls = 0, before;
  play(study, 2, 12, 0.3);
  cocabo_study_on_interrupt(study, count_call, &calls);
  assert_ok(cocabo_study_best(study, &best, &err));
  cocabo_trial_free(best);
  assert_true(calls > 0);
  before = calls;
  for (int i = 0; i < 3; i++) {
    assert_ok(cocabo_study_best(study, &best, &err));
    cocabo_trial_free(best);
  }
  assert_int_equal(calls, before);
  assert_ok(cocabo_study_ask(study, 1, &running, &err));
  assert_ok(cocabo_study_tell(study, cocabo_trial_number(running), 0.1, &err));
  cocabo_trial_free(running);
  before = calls;
  assert_ok(cocabo_study_best(study, &best, &err));
  cocabo_trial_free(best);
  assert_true(calls > before);
  assert_ok(cocabo_study_ask(study, 1, &running, &err));
  assert_ok(cocabo_study_tell(study, cocabo_trial_number(running), 0.2, &err));
  cocabo_trial_free(running);
  cocabo_study_on_interrupt(study, stop, NULL);
  best = NULL;
  assert_int_equal(cocabo_study_best(study, &best, &err), COCABO_E_INTERRUPTED);
  assert_null(best);
  cocabo_study_free(study);
}

static void what_cannot_be_expected_is_said(void **state) {
  (void)state;
  double value = -1.0, se = -1.0;
  cocabo_study *study = new_study("mixed", "false");
  cocabo_trial *trial;
  assert_fails(cocabo_study_expected(NULL, 0, &value, &se, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_expected(study, 0, NULL, &se, &err), COCABO_E_INVALID,
               "value is NULL");
  assert_fails(cocabo_study_expected(study, 0, &value, NULL, &err), COCABO_E_INVALID,
               "se is NULL");
  assert_fails(cocabo_study_expected(study, 0, &value, &se, &err), COCABO_E_NOT_FOUND,
               "no trial 0 in study \"noisy\": it has 0");
  play(study, 1, 1, 0.3);
  assert_fails(cocabo_study_expected(study, 0, &value, &se, &err), COCABO_E_STATE,
               "a model needs 2 complete trials to expect anything, and there is 1");
  assert_ok(cocabo_study_ask(study, 1, &trial, &err));
  assert_fails(cocabo_study_expected(study, 1, &value, &se, &err), COCABO_E_STATE,
               "trial 1 is running, want a complete one");
  cocabo_trial_free(trial);
  cocabo_study_free(study);
  study = new_study("tpe", "false");
  play(study, 1, 5, 0.3);
  assert_fails(cocabo_study_expected(study, 0, &value, &se, &err), COCABO_E_STATE,
               "sampler tpe has no model that would expect anything");
  cocabo_study_free(study);
  study = new_study("mixed", "true");
  play(study, 1, 5, 0.0);
  assert_fails(cocabo_study_expected(study, 0, &value, &se, &err), COCABO_E_STATE,
               "study \"noisy\" is deterministic: its values are what is expected");
  cocabo_study_free(study);
  assert_true(value == -1.0 && se == -1.0);
}

/* Two points in all: a noisy objective may see them again and again. */
static void noisy_points_may_come_again(void **state) {
  (void)state;
  const char *const samplers[] = {"mixed", "cocabo", "random",
                                  "smac",  "onehot", "exp3bo"};
  for (int s = 0; s < 6; s++) {
    cocabo_space *space = cocabo_space_new();
    cocabo_options *options = cocabo_options_new();
    assert_ok(cocabo_space_add(space, "h", "choice(a,b)", &err));
    assert_ok(cocabo_options_set(options, "sampler", samplers[s], &err));
    assert_ok(cocabo_options_set(options, "deterministic", "false", &err));
    cocabo_study *study;
    assert_ok(cocabo_study_create(&study, "two", space, options, NULL, &err));
    for (int i = 0; i < 12; i++) {
      cocabo_trial *trials[3];
      cb_rng rng = cb_rng_make(7, CB_RNG_RANDOM, (uint64_t)i);
      assert_ok(cocabo_study_ask(study, 3, trials, &err));
      for (int k = 0; k < 3; k++) {
        assert_ok(cocabo_study_tell(study, cocabo_trial_number(trials[k]),
                                    cb_rng_normal(&rng), &err));
        cocabo_trial_free(trials[k]);
      }
    }
    assert_int_equal(cocabo_study_count(study), 36);
    cocabo_study_free(study);
    cocabo_options_free(options);
    cocabo_space_free(space);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_best_of_noisy_values_is_the_best_mean),
      cmocka_unit_test(the_best_of_exact_values_is_the_best_value),
      cmocka_unit_test(without_a_model_the_best_value_counts),
      cmocka_unit_test(what_is_expected_is_true_within_its_error),
      cmocka_unit_test(few_results_leave_doubt),
      cmocka_unit_test(more_results_make_the_error_smaller),
      cmocka_unit_test(known_results_are_learnt_from_too),
      cmocka_unit_test(the_best_is_found_once_for_each_result),
      cmocka_unit_test(what_cannot_be_expected_is_said),
      cmocka_unit_test(noisy_points_may_come_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
