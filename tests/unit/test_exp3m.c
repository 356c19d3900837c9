#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "bandit/exp3.h"
#include "bandit/exp3m.h"
#include "oracle/exp3m.h"

#define COUNT(array) (sizeof(array) / sizeof(array)[0])
enum { MAX_ARMS = 24 };

/* ---- against the oracle --------------------------------------------------------- */

static void gamma_of_batches_agrees_with_the_oracle(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(oracle_gamma_of_b); i++)
    assert_close(cb_exp3_gamma(oracle_gamma_of_b[i].arms, oracle_gamma_of_b[i].b,
                               oracle_gamma_of_b[i].horizon,
                               oracle_gamma_of_b[i].round),
                 oracle_gamma_of_b[i].gamma, 1e-15);
}

static void probabilities_agree_with_the_oracle(void **state) {
  (void)state;
  for (size_t k = 0; k < COUNT(oracle_exp3m); k++) {
    double p[7];
    bool capped[7];
    cb_exp3m_probabilities(7, oracle_exp3m[k].b, oracle_exp3m[k].log_w,
                           oracle_exp3m[k].gamma, p, capped);
    for (int i = 0; i < 7; i++) {
      assert_relative(p[i], oracle_exp3m[k].p[i], 1e-14);
      assert_int_equal(capped[i], oracle_exp3m[k].capped[i]);
    }
  }
}

static void a_game_agrees_with_the_oracle(void **state) {
  (void)state;
  const double gamma = cb_exp3_gamma(6, 3, 12, 1);
  double log_w[6] = {0.3, -0.2, 0.0, 1.45, 0.5, -0.7}, p[6];
  bool capped[6];
  cb_exp3m_probabilities(6, 3, log_w, gamma, p, capped);
  for (size_t t = 0; t < COUNT(oracle_exp3m_game); t++) {
    for (int k = 0; k < 3; k++) {
      const int arm = oracle_exp3m_game[t].arms[k];
      const cb_draw draw = {p[arm], gamma, 3, capped[arm]};
      cb_exp3_update(6, log_w, arm, oracle_exp3m_game[t].rewards[k], &draw);
    }
    cb_exp3m_probabilities(6, 3, log_w, gamma, p, capped);
    for (int i = 0; i < 6; i++) {
      assert_close(log_w[i], oracle_exp3m_game[t].log_w[i], 1e-14);
      assert_relative(p[i], oracle_exp3m_game[t].p[i], 1e-14);
      assert_int_equal(capped[i], oracle_exp3m_game[t].capped[i]);
    }
  }
}

/* ---- against brute force -------------------------------------------------------- */

/* Every number k of capped weights, by definition: those k are the largest, alpha
 * makes alpha / (k alpha + rest) = share, and it lies between weight k and weight
 * k + 1. Returns how many k satisfy that; *at is the last. */
static int solutions(int n, const double *descending, double share, int *at) {
  int found = 0;
  for (int k = 0; k < n; k++) {
    double rest = 0.0;
    for (int i = k; i < n; i++)
      rest += descending[i];
    const double alpha = share * rest / (1.0 - k * share);
    const bool below = alpha > descending[k];
    const bool above = k == 0 || alpha <= descending[k - 1];
    if (k * share < 1.0 && below && above) {
      found++;
      *at = k;
    }
  }
  return found;
}

static int descending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x < y) - (x > y);
}

static void the_capped_set_is_the_one_that_brute_force_finds(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(41, CB_RNG_BENCH, 0);
  int with_caps = 0;
  for (int trial = 0; trial < 20000; trial++) {
    const int n = 3 + (int)cb_rng_below(&rng, MAX_ARMS - 2);
    const int b = 2 + (int)cb_rng_below(&rng, (uint32_t)n - 2);
    const double gamma = 0.01 + 0.98 * cb_rng_uniform(&rng);
    const double spread = 6.0 * cb_rng_uniform(&rng);
    double log_w[MAX_ARMS], w[MAX_ARMS], p[MAX_ARMS];
    bool capped[MAX_ARMS];
    for (int i = 0; i < n; i++) {
      log_w[i] = spread * cb_rng_normal(&rng);
      w[i] = exp(log_w[i]);
    }
    qsort(w, (size_t)n, sizeof *w, descending);
    int k = -1;
    const double share = (1.0 / b - gamma / n) / (1.0 - gamma);
    assert_int_equal(solutions(n, w, share, &k), 1);

    cb_exp3m_probabilities(n, b, log_w, gamma, p, capped);
    int got = 0;
    double rest = 0.0;
    for (int i = 0; i < n; i++) {
      got += capped[i];
      assert_int_equal(capped[i], exp(log_w[i]) > (k < n ? w[k] : 0.0));
      rest += capped[i] ? 0.0 : exp(log_w[i]);
    }
    assert_int_equal(got, k);
    const double alpha = share * rest / (1.0 - k * share);
    for (int i = 0; i < n; i++) {
      const double cut = capped[i] ? alpha : exp(log_w[i]);
      assert_relative(p[i], b * ((1 - gamma) * cut / (k * alpha + rest) + gamma / n),
                      1e-11);
    }
    with_caps += k > 0;
  }
  assert_true(with_caps > 5000 && with_caps < 19000);
}

/* ---- always a distribution ------------------------------------------------------ */

static void assert_distribution(int n, int b, const double *p, const bool *capped,
                                double gamma) {
  long double sum = 0.0L; /* what is tested is p, not this sum */
  int certain = 0;
  for (int i = 0; i < n; i++) {
    assert_true(p[i] >= b * gamma / n * (1.0 - 1e-14) && p[i] <= 1.0);
    assert_true(!capped[i] || p[i] == 1.0);
    certain += capped[i];
    sum += p[i];
  }
  assert_true(certain <= b);
  if (!(fabsl(sum - b) <= 1e-12L))
    fail_msg("%d probabilities sum to %.17Lg, want %d", n, sum, b);
}

static void probabilities_sum_to_b(void **state) {
  (void)state;
  const int sizes[] = {3, 4, 17, 100, 1000};
  static double log_w[1000], p[1000];
  static bool capped[1000];
  cb_rng rng = cb_rng_make(42, CB_RNG_BENCH, 0);
  for (size_t s = 0; s < COUNT(sizes); s++)
    for (int trial = 0; trial < 60; trial++) {
      const int n = sizes[s], b = 2 + (int)cb_rng_below(&rng, (uint32_t)n - 2);
      const double gamma = trial % 5 == 0 ? 1.0 : cb_rng_uniform(&rng);
      for (int i = 0; i < n; i++)
        log_w[i] = trial % 7 * cb_rng_normal(&rng);
      cb_exp3m_probabilities(n, b, log_w, gamma, p, capped);
      assert_distribution(n, b, p, capped, gamma);
    }
}

static void extreme_weights_give_probabilities(void **state) {
  (void)state;
  const double weights[][5] = {
      {8.9e307, -8.9e307, 0.0, 1e300, -1e300},
      {8.9e307, 8.9e307, 8.9e307, 8.9e307, -8.9e307},
      {-8.9e307, -8.9e307, -8.9e307, -8.9e307, -8.9e307},
      {8.9e307, 8.9e307, -8.9e307, -8.9e307, -8.9e307},
      {-745.0, -1e4, -1e9, 1e4, 709.0},
      {5e-324, 0.0, -5e-324, 1e-300, 2.2e-308},
  };
  for (size_t k = 0; k < COUNT(weights); k++)
    for (int b = 2; b < 5; b++)
      for (int g = 0; g <= 8; g++) {
        double p[5];
        bool capped[5];
        cb_exp3m_probabilities(5, b, weights[k], 0.125 * g, p, capped);
        assert_distribution(5, b, p, capped, 0.125 * g);
      }
}

/* Two arms so heavy that in units of them all others are 0: their ratios still count.
 */
static void light_arms_keep_their_ratios_beside_heavy_ones(void **state) {
  (void)state;
  const double heavy[6] = {1e6, 2e6, 0.0, log(2.0), log(3.0), log(4.0)};
  const double gamma = 0.25;
  double p[6];
  bool capped[6];
  cb_exp3m_probabilities(6, 3, heavy, gamma, p, capped);
  assert_true(capped[0] && capped[1]);
  const double left = (1.0 - gamma) - 2.0 * (1.0 / 3.0 - gamma / 6.0);
  for (int i = 2; i < 6; i++)
    assert_relative(p[i], 3.0 * (left * (i - 1) / 10.0 + gamma / 6.0), 1e-14);
}

static void equal_weights_are_equally_likely(void **state) {
  (void)state;
  double log_w[9], p[9];
  bool capped[9];
  for (int i = 0; i < 9; i++)
    log_w[i] = -2.75;
  for (int b = 2; b < 9; b++) {
    cb_exp3m_probabilities(9, b, log_w, 0.375, p, capped);
    for (int i = 0; i < 9; i++) {
      assert_relative(p[i], b / 9.0, 1e-15);
      assert_false(capped[i]);
    }
  }
}

/* The limit of a batch of one: EXP3 itself. */
static void gamma_of_one_is_exp3s_and_falls_with_b(void **state) {
  (void)state;
  for (int b = 1; b < 17; b++)
    assert_true(cb_exp3_gamma(17, b, 80, 1) > cb_exp3_gamma(17, b + 1, 80, 1) ||
                b == 16);
  assert_relative(cb_exp3_gamma(17, 4, 80, 1),
                  sqrt(17 * log(17.0 / 4) / ((exp(1.0) - 1) * 4 * 160 / 3)), 1e-15);
  /* As many draws as arms, or more: that many steps of EXP3. */
  for (int b = 3; b < 9; b++) {
    assert_relative(cb_exp3_gamma(3, b, 80, 1), cb_exp3_gamma(3, 1, 80 * b, 1), 1e-15);
    assert_relative(cb_exp3_gamma(3, b, 0, 50), cb_exp3_gamma(3, 1, 0, 50 * b), 1e-15);
  }
  assert_true(cb_exp3_gamma(5, 100000, INT64_MAX, 1) >= 0.0);
}

/* ---- updating ------------------------------------------------------------------- */

static void an_update_counts_b_times(void **state) {
  (void)state;
  double log_w[5] = {0.31, -0.72, 1.13, 0.05, 0.6};
  cb_exp3_update(5, log_w, 2, 0.83, &(cb_draw){.p = 0.62, .gamma = 0.47, .b = 3});
  assert_relative(log_w[2], 1.13 + 3 * 0.47 * 0.83 / (5 * 0.62), 1e-15);
  assert_true(log_w[0] == 0.31 && log_w[1] == -0.72 && log_w[3] == 0.05);
}

static void capped_arms_stay_as_they_are(void **state) {
  (void)state;
  double log_w[3] = {0.31, -0.72, 1.13};
  const cb_draw draw = {.p = 1.0, .gamma = 0.47, .b = 2, .capped = true};
  for (int i = 0; i < 3; i++)
    cb_exp3_update(3, log_w, i, 0.83, &draw);
  assert_true(log_w[0] == 0.31 && log_w[1] == -0.72 && log_w[2] == 1.13);
}

/* ---- DepRound ------------------------------------------------------------------- */

typedef struct lottery {
  int n, b;
  double p[17];
} lottery;

static const lottery LOTTERIES[] = {
    {2, 1, {0.31, 0.69}},
    {3, 1, {0.2, 0.5, 0.3}},
    {3, 2, {0.9, 0.85, 0.25}},
    {5, 2, {1.0, 0.0, 0.07, 0.93, 0.0}},
    {5, 5, {1.0, 1.0, 1.0, 1.0, 1.0}},
    {4, 0, {0.0, 0.0, 0.0, 0.0}},
    {6, 3, {0.5, 0.5, 0.5, 0.5, 0.5, 0.5}},
    {6, 3, {0.999, 0.001, 0.62, 0.38, 0.5, 0.5}},
    {7, 4, {0.0, 0.91, 1.0, 0.13, 0.86, 0.37, 0.73}},
    {9, 3, {0.9, 0.3, 0.3, 0.3, 0.3, 0.3, 0.2, 0.2, 0.2}},
    {17,
     4,
     {0.061, 0.061, 0.061, 0.061, 0.061, 0.061, 0.061, 0.061, 0.061, 0.061, 0.061,
      0.061, 0.061, 0.9, 1.0, 0.7, 0.607}},
};

/* Draws `rounds` times; counts of each arm, and of each pair if wanted. */
static void play(const lottery *l, int rounds, int *counts, int (*pairs)[17]) {
  cb_rng rng = cb_rng_make(43, CB_RNG_BANDIT, (uint64_t)(l->n * 31 + l->b));
  for (int t = 0; t < rounds; t++) {
    int32_t chosen[17] = {0};
    bool seen[17] = {false};
    cb_depround(l->n, l->b, l->p, &rng, chosen);
    for (int k = 0; k < l->b; k++) {
      assert_true(chosen[k] >= 0 && chosen[k] < l->n && !seen[chosen[k]]);
      seen[chosen[k]] = true;
      counts[chosen[k]]++;
    }
    for (int i = 0; pairs && i < l->n; i++)
      for (int k = 0; k < i; k++)
        pairs[i][k] += seen[i] && seen[k];
  }
}

static void each_arm_is_chosen_as_often_as_p_says(void **state) {
  (void)state;
  enum { ROUNDS = 100000 };
  for (size_t s = 0; s < COUNT(LOTTERIES); s++) {
    const lottery *l = &LOTTERIES[s];
    int counts[17] = {0};
    play(l, ROUNDS, counts, NULL);
    for (int i = 0; i < l->n; i++) {
      const double sd = sqrt(l->p[i] * (1.0 - l->p[i]) * ROUNDS);
      if (!(fabs(counts[i] - l->p[i] * ROUNDS) <= 4.5 * sd))
        fail_msg("N=%d b=%d: arm %d of p = %g was chosen %d times of %d", l->n, l->b, i,
                 l->p[i], counts[i], ROUNDS);
    }
  }
}

/* What EXP3.M rests on besides the marginals: no two arms attract each other. */
static void arms_are_not_positively_correlated(void **state) {
  (void)state;
  enum { ROUNDS = 100000 };
  for (size_t s = 0; s < COUNT(LOTTERIES); s++) {
    const lottery *l = &LOTTERIES[s];
    int counts[17] = {0}, pairs[17][17] = {{0}};
    play(l, ROUNDS, counts, pairs);
    for (int i = 0; i < l->n; i++)
      for (int k = 0; k < i; k++) {
        const double both = l->p[i] * l->p[k];
        const double sd = sqrt(both * (1.0 - both) * ROUNDS);
        assert_true(pairs[i][k] <= both * ROUNDS + 4.5 * sd);
      }
  }
}

/* Of two arms only: nothing but the first branch decides, by one uniform number. */
static void two_arms_are_a_coin(void **state) {
  (void)state;
  const double p[2] = {0.375, 0.625};
  cb_rng rng = cb_rng_make(44, CB_RNG_BANDIT, 0), other = rng;
  for (int i = 0; i < 200; i++) {
    int32_t chosen[1];
    cb_depround(2, 1, p, &rng, chosen);
    /* q + r = 1: the first gets the 1 with probability (1 - r) = q. */
    assert_int_equal(chosen[0], cb_rng_uniform(&other) < 0.375 ? 0 : 1);
  }
}

/* Probabilities as they come, off by rounding, many of them. */
static void there_are_always_b_different_ones(void **state) {
  (void)state;
  enum { N = 1000 };
  static double log_w[N], p[N];
  static bool capped[N], seen[N];
  static int32_t chosen[N];
  cb_rng rng = cb_rng_make(45, CB_RNG_BENCH, 0);
  for (int trial = 0; trial < 400; trial++) {
    const int n = 3 + (int)cb_rng_below(&rng, N - 2);
    const int b = 2 + (int)cb_rng_below(&rng, (uint32_t)n - 2);
    for (int i = 0; i < n; i++) {
      log_w[i] = trial % 9 * cb_rng_normal(&rng);
      seen[i] = false;
    }
    cb_exp3m_probabilities(n, b, log_w, 0.001 + 0.3 * (trial % 3), p, capped);
    cb_depround(n, b, p, &rng, chosen);
    for (int k = 0; k < b; k++) {
      assert_true(chosen[k] >= 0 && chosen[k] < n && !seen[chosen[k]]);
      seen[chosen[k]] = true;
    }
    for (int i = 0; i < n; i++)
      assert_true(seen[i] || p[i] < 1.0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(gamma_of_batches_agrees_with_the_oracle),
      cmocka_unit_test(probabilities_agree_with_the_oracle),
      cmocka_unit_test(a_game_agrees_with_the_oracle),
      cmocka_unit_test(the_capped_set_is_the_one_that_brute_force_finds),
      cmocka_unit_test(probabilities_sum_to_b),
      cmocka_unit_test(extreme_weights_give_probabilities),
      cmocka_unit_test(light_arms_keep_their_ratios_beside_heavy_ones),
      cmocka_unit_test(equal_weights_are_equally_likely),
      cmocka_unit_test(gamma_of_one_is_exp3s_and_falls_with_b),
      cmocka_unit_test(an_update_counts_b_times),
      cmocka_unit_test(capped_arms_stay_as_they_are),
      cmocka_unit_test(each_arm_is_chosen_as_often_as_p_says),
      cmocka_unit_test(arms_are_not_positively_correlated),
      cmocka_unit_test(two_arms_are_a_coin),
      cmocka_unit_test(there_are_always_b_different_ones),
  };
  return cmocka_run_group_tests_name("bandit/exp3m", tests, NULL, NULL);
}
