#include "check.h"

#include <float.h>

#include "bandit/exp3.h"
#include "oracle/exp3.h"

/* ---- gamma ---------------------------------------------------------------------- */

static void gamma_agrees_with_the_oracle(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof oracle_gamma / sizeof oracle_gamma[0]; i++)
    assert_relative(cb_exp3_gamma(oracle_gamma[i].arms, 1, oracle_gamma[i].horizon,
                                  oracle_gamma[i].round),
                    oracle_gamma[i].gamma, 1e-15);
}

static void gamma_of_17_arms_is_capped_up_to_42_rounds(void **state) {
  (void)state;
  for (int64_t horizon = 1; horizon <= 42; horizon++)
    assert_true(cb_exp3_gamma(17, 1, horizon, 1) == 1.0);
  assert_true(cb_exp3_gamma(17, 1, 43, 1) < 1.0);
  /* Anytime, a round stands for 2T/3: the cap ends after 28 = 2/3 of 42. */
  assert_true(cb_exp3_gamma(17, 1, 0, 28) == 1.0);
  assert_true(cb_exp3_gamma(17, 1, 0, 29) < 1.0);
}

static void gamma_of_a_known_horizon_does_not_depend_on_the_round(void **state) {
  (void)state;
  assert_true(cb_exp3_gamma(7, 1, 300, 1) == cb_exp3_gamma(7, 1, 300, 299));
  assert_true(cb_exp3_gamma(7, 1, 300, 0) == cb_exp3_gamma(7, 1, 0, 200));
}

static void the_only_arm_is_certain(void **state) {
  (void)state;
  assert_true(cb_exp3_gamma(1, 1, 10, 1) == 0.0);
  assert_true(cb_exp3_gamma(1, 1, 0, 1) == 0.0);
  double log_w = -3.7, p;
  cb_exp3_probabilities(1, &log_w, 0.0, &p);
  assert_true(p == 1.0);
  cb_exp3_update(1, &log_w, 0, 0.9, &(cb_draw){.p = p, .gamma = 0.0, .b = 1});
  assert_true(log_w == -3.7);
  cb_rng rng = cb_rng_make(1, CB_RNG_BANDIT, 1);
  assert_int_equal(cb_exp3_draw(1, &p, &rng), 0);
}

/* ---- a game --------------------------------------------------------------------- */

static void a_game_agrees_with_the_oracle(void **state) {
  (void)state;
  const double gamma = cb_exp3_gamma(5, 1, 61, 1);
  double log_w[5] = {0}, p[5];
  cb_exp3_probabilities(5, log_w, gamma, p);
  for (size_t i = 0; i < sizeof oracle_exp3 / sizeof oracle_exp3[0]; i++) {
    const int arm = oracle_exp3[i].arm;
    assert_relative(p[arm], oracle_exp3[i].drawn_p, 1e-14);
    const cb_draw draw = {.p = p[arm], .gamma = gamma, .b = 1};
    cb_exp3_update(5, log_w, arm, oracle_exp3[i].reward, &draw);
    cb_exp3_probabilities(5, log_w, gamma, p);
    for (int k = 0; k < 5; k++) {
      assert_close(log_w[k], oracle_exp3[i].log_w[k], 1e-15);
      assert_relative(p[k], oracle_exp3[i].p[k], 1e-14);
    }
  }
}

static void only_the_drawn_arm_moves(void **state) {
  (void)state;
  double log_w[4] = {0.31, -0.72, 1.13, 0.05};
  cb_exp3_update(4, log_w, 2, -0.83, &(cb_draw){.p = 0.29, .gamma = 0.47, .b = 1});
  assert_relative(log_w[2], 1.13 - 0.83 * 0.47 / (4 * 0.29), 1e-15);
  assert_true(log_w[0] == 0.31 && log_w[1] == -0.72 && log_w[3] == 0.05);
}

static void adding_a_constant_to_all_weights_changes_nothing(void **state) {
  (void)state;
  const double log_w[3] = {0.25, -1.5, 0.875};
  const double shifts[] = {-4096.0, 1024.0, 1048576.0};
  double want[3], got[3], shifted[3];
  cb_exp3_probabilities(3, log_w, 0.21, want);
  for (size_t s = 0; s < sizeof shifts / sizeof shifts[0]; s++) {
    for (int i = 0; i < 3; i++)
      shifted[i] = log_w[i] + shifts[s];
    cb_exp3_probabilities(3, shifted, 0.21, got);
    assert_memory_equal(got, want, sizeof want);
  }
}

/* ---- drawing -------------------------------------------------------------------- */

static void arms_are_drawn_as_often_as_p_says(void **state) {
  (void)state;
  enum { N = 6, DRAWS = 200000 };
  const double p[N] = {0.317, 0.053, 0.0, 0.441, 0.182, 0.007};
  int counts[N] = {0};
  cb_rng rng = cb_rng_make(21, CB_RNG_BANDIT, 4);
  for (int i = 0; i < DRAWS; i++)
    counts[cb_exp3_draw(N, p, &rng)]++;
  for (int k = 0; k < N; k++)
    assert_true(fabs(counts[k] - p[k] * DRAWS) <=
                5.0 * sqrt(p[k] * (1.0 - p[k]) * DRAWS));
}

static void a_draw_takes_one_uniform_number(void **state) {
  (void)state;
  const double p[3] = {0.2, 0.5, 0.3};
  cb_rng rng = cb_rng_make(3, CB_RNG_BANDIT, 9), other = rng;
  for (int i = 0; i < 50; i++) {
    const double u = cb_rng_uniform(&other);
    assert_int_equal(cb_exp3_draw(3, p, &rng), u < 0.2 ? 0 : u < 0.7 ? 1 : 2);
  }
  assert_int_equal(cb_rng_u32(&rng), cb_rng_u32(&other));
}

/* Probabilities that sum to less than 1 by rounding, exaggerated. */
static void what_rounding_leaves_goes_to_the_last_possible_arm(void **state) {
  (void)state;
  const double p[4] = {0.0, 1e-9, 1e-9, 0.0};
  cb_rng rng = cb_rng_make(3, CB_RNG_BANDIT, 10);
  for (int i = 0; i < 50; i++)
    assert_int_equal(cb_exp3_draw(4, p, &rng), 2);
}

/* ---- extremes ------------------------------------------------------------------- */

static void assert_distribution(int n, const double *p, double gamma) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    assert_true(p[i] > 0.0 && p[i] <= 1.0 + 1e-15);
    assert_true(p[i] >= gamma / n * (1.0 - 1e-15));
    sum += p[i];
  }
  assert_close(sum, 1.0, 1e-14);
}

static void probabilities_of_extreme_weights_are_probabilities(void **state) {
  (void)state;
  const double weights[][3] = {
      {1e300, -1e300, 0.0},        {-745.0, -1e4, -1e9}, {1e308, 8e307, -8e307},
      {8.9e307, -8.9e307, 1e-300}, {-5e4, -5e4, -5e4},
  };
  for (size_t k = 0; k < sizeof weights / sizeof weights[0]; k++)
    for (int g = 0; g <= 4; g++) {
      double p[3];
      cb_exp3_probabilities(3, weights[k], 0.25 * g, p);
      assert_distribution(3, p, 0.25 * g);
    }
}

static void huge_rewards_keep_weights_finite_and_ordered(void **state) {
  (void)state;
  const double rewards[] = {1e300, DBL_MAX, -1e300, -DBL_MAX};
  for (size_t k = 0; k < sizeof rewards / sizeof rewards[0]; k++) {
    double log_w[3] = {0}, p[3];
    for (int i = 0; i < 100; i++) {
      cb_exp3_probabilities(3, log_w, 0.3, p);
      assert_distribution(3, p, 0.3);
      const cb_draw draw = {.p = p[1], .gamma = 0.3, .b = 1};
      cb_exp3_update(3, log_w, 1, rewards[k], &draw);
      assert_true(isfinite(log_w[1]));
    }
    cb_exp3_probabilities(3, log_w, 0.3, p);
    assert_close(p[1], rewards[k] > 0 ? 0.8 : 0.1, 1e-15);
    /* And it is not for ever: the opposite reward brings the arm back. */
    const cb_draw rare = {.p = 0.1, .gamma = 0.3, .b = 1};
    for (int i = 0; i < 200; i++)
      cb_exp3_update(3, log_w, 1, -rewards[k], &rare);
    cb_exp3_probabilities(3, log_w, 0.3, p);
    assert_close(p[1], rewards[k] > 0 ? 0.1 : 0.8, 1e-15);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gamma_agrees_with_the_oracle),
      cmocka_unit_test(gamma_of_17_arms_is_capped_up_to_42_rounds),
      cmocka_unit_test(gamma_of_a_known_horizon_does_not_depend_on_the_round),
      cmocka_unit_test(the_only_arm_is_certain),
      cmocka_unit_test(a_game_agrees_with_the_oracle),
      cmocka_unit_test(only_the_drawn_arm_moves),
      cmocka_unit_test(adding_a_constant_to_all_weights_changes_nothing),
      cmocka_unit_test(arms_are_drawn_as_often_as_p_says),
      cmocka_unit_test(a_draw_takes_one_uniform_number),
      cmocka_unit_test(what_rounding_leaves_goes_to_the_last_possible_arm),
      cmocka_unit_test(probabilities_of_extreme_weights_are_probabilities),
      cmocka_unit_test(huge_rewards_keep_weights_finite_and_ordered),
  };
  return cmocka_run_group_tests_name("bandit/exp3", tests, NULL, NULL);
}
