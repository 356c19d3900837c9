/* The bench's statistics: against definitions, and against an independent oracle. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "oracle/stats.h"
#include "problem.h"
#include "stats.h"

enum { N_TESTS = sizeof oracle_wilcoxon / sizeof oracle_wilcoxon[0] };
enum { MOST = sizeof oracle_wilcoxon[0].d / sizeof oracle_wilcoxon[0].d[0] };

static bench_mean mean_of(int n, const double *values) {
  bench_mean mean = {0};
  for (int i = 0; i < n; i++)
    bench_mean_add(&mean, values[i]);
  return mean;
}

/* ---- means ---------------------------------------------------------------------- */

static void mean_and_standard_error_agree_with_their_definitions(void **state) {
  (void)state;
  const double values[] = {3.17, -0.48, 11.9, 2.063, -7.7, 0.391};
  double mean = 0.0, squares = 0.0;
  for (int i = 0; i < 6; i++)
    mean += values[i] / 6;
  for (int i = 0; i < 6; i++)
    squares += (values[i] - mean) * (values[i] - mean);
  const bench_mean got = mean_of(6, values);
  assert_int_equal(got.n, 6);
  assert_relative(got.mean, mean, 1e-14);
  assert_relative(bench_mean_se(&got), sqrt(squares / 5 / 6), 1e-14);
}

static void a_large_offset_does_not_spoil_the_standard_error(void **state) {
  (void)state;
  const double values[] = {1e9 + 4, 1e9 + 7, 1e9 + 13, 1e9 + 16};
  const bench_mean got = mean_of(4, values);
  assert_true(got.mean == 1e9 + 10);
  assert_relative(bench_mean_se(&got), sqrt(30.0 / 4), 1e-14);
}

static void one_value_or_none_has_no_standard_error(void **state) {
  (void)state;
  const double value = 4.2;
  const bench_mean none = {0}, one = mean_of(1, &value);
  assert_true(bench_mean_se(&none) == 0.0);
  assert_true(bench_mean_se(&one) == 0.0);
  assert_true(one.mean == 4.2);
}

/* ---- quantiles ------------------------------------------------------------------ */

static void quantiles_lie_between_neighbours(void **state) {
  (void)state;
  double values[] = {8.0, -1.5, 3.0, 0.25};
  assert_true(bench_quantile(4, values, 0.0) == -1.5);
  assert_true(bench_quantile(4, values, 1.0) == 8.0);
  assert_relative(bench_quantile(4, values, 0.5), (0.25 + 3.0) / 2, 1e-15);
  assert_relative(bench_quantile(4, values, 0.25), -1.5 + 0.75 * 1.75, 1e-15);
  assert_relative(bench_quantile(4, values, 0.99), 3.0 + 0.97 * 5.0, 1e-14);
}

static void the_median_of_an_odd_number_is_one_of_them(void **state) {
  (void)state;
  double values[] = {0.7, -2.2, 9.1, 0.7, 5.5};
  assert_true(bench_quantile(5, values, 0.5) == 0.7);
  assert_true(bench_quantile(1, values, 0.5) == -2.2); /* they are sorted now */
  assert_true(bench_quantile(1, values, 0.9) == -2.2);
}

static void a_neighbour_at_infinity_leaves_quantiles_numbers(void **state) {
  (void)state;
  double values[] = {INFINITY, 2.3, INFINITY, -0.7, 1.9};
  assert_true(bench_quantile(5, values, 0.5) == 2.3);
  assert_true(bench_quantile(5, values, 0.9) == INFINITY);
  assert_true(bench_quantile(4, values, 0.5) == (1.9 + 2.3) / 2); /* sorted now */
}

/* ---- Wilcoxon's test ------------------------------------------------------------ */

static void p_values_agree_with_the_oracle(void **state) {
  (void)state;
  for (int i = 0; i < N_TESTS; i++) {
    double d[MOST];
    memcpy(d, oracle_wilcoxon[i].d, sizeof d);
    const double got = bench_wilcoxon(oracle_wilcoxon[i].n, d);
    if (!(fabs(got - oracle_wilcoxon[i].p) <= 1e-12 * oracle_wilcoxon[i].p))
      fail_msg("%s: p is %.17g, want %.17g", oracle_wilcoxon[i].what, got,
               oracle_wilcoxon[i].p);
  }
}

static void sign_order_and_scale_do_not_matter(void **state) {
  (void)state;
  for (int i = 0; i < N_TESTS; i++) {
    const int n = oracle_wilcoxon[i].n;
    double d[MOST], turned[MOST];
    for (int k = 0; k < n; k++) {
      d[k] = oracle_wilcoxon[i].d[k];
      turned[k] = -0.25 * oracle_wilcoxon[i].d[n - 1 - k];
    }
    assert_true(bench_wilcoxon(n, d) == bench_wilcoxon(n, turned));
  }
}

static void without_a_difference_p_is_one(void **state) {
  (void)state;
  double zeros[] = {0.0, -0.0, 0.0};
  assert_true(bench_wilcoxon(0, zeros) == 1.0);
  assert_true(bench_wilcoxon(3, zeros) == 1.0);
}

/* With all n signs alike the two extreme subsets of 2^n are left. */
static void all_wins_give_the_least_p(void **state) {
  (void)state;
  double d[25];
  for (int n = 1; n <= 25; n++) {
    for (int k = 0; k < n; k++)
      d[k] = 0.3 + k;
    assert_true(bench_wilcoxon(n, d) == ldexp(2.0, -n));
  }
}

static void an_infinite_difference_has_the_largest_rank(void **state) {
  (void)state;
  double finite[] = {1.0, -2.0, 3.0, 7.0, -900.0};
  double infinite[] = {1.0, -2.0, 3.0, 7.0, -INFINITY};
  assert_true(bench_wilcoxon(5, finite) == bench_wilcoxon(5, infinite));
}

/* Under the hypothesis P(p <= level) is at most the level, and not far below. */
static void p_values_are_honest(void **state) {
  (void)state;
  enum { TRIALS = 20000 };
  const int sizes[] = {12, 60};
  cb_rng rng = bench_rng(3, 98, 0);
  for (int s = 0; s < 2; s++) {
    int rejected = 0;
    for (int i = 0; i < TRIALS; i++) {
      double d[60];
      for (int k = 0; k < sizes[s]; k++)
        d[k] = cb_rng_normal(&rng);
      rejected += bench_wilcoxon(sizes[s], d) <= 0.05;
    }
    assert_true(rejected > 0.042 * TRIALS && rejected < 0.055 * TRIALS);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mean_and_standard_error_agree_with_their_definitions),
      cmocka_unit_test(a_large_offset_does_not_spoil_the_standard_error),
      cmocka_unit_test(one_value_or_none_has_no_standard_error),
      cmocka_unit_test(quantiles_lie_between_neighbours),
      cmocka_unit_test(the_median_of_an_odd_number_is_one_of_them),
      cmocka_unit_test(a_neighbour_at_infinity_leaves_quantiles_numbers),
      cmocka_unit_test(p_values_agree_with_the_oracle),
      cmocka_unit_test(sign_order_and_scale_do_not_matter),
      cmocka_unit_test(without_a_difference_p_is_one),
      cmocka_unit_test(all_wins_give_the_least_p),
      cmocka_unit_test(an_infinite_difference_has_the_largest_rank),
      cmocka_unit_test(p_values_are_honest),
  };
  return cmocka_run_group_tests_name("bench/stats", tests, NULL, NULL);
}
