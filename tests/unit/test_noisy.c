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
      cmocka_unit_test(noisy_points_may_come_again),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
