#include "check.h"

#include "base/sobol.h"
#include "oracle/sobol.h"

static void plain_points_are_those_of_scipy(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof oracle_sobol / sizeof oracle_sobol[0]; c++)
    for (int j = 0; j < CB_SOBOL_DIMENSIONS; j++)
      if (cb_sobol_plain(j, oracle_sobol[c].i) != oracle_sobol[c].at[j])
        fail_msg("coordinate %d of point %u is %u, want %u", j, oracle_sobol[c].i,
                 cb_sobol_plain(j, oracle_sobol[c].i), oracle_sobol[c].at[j]);
}

/* One point in each of 2^m intervals, in every dimension, for the first 2^m points and
 * for the 2^m that follow. */
static void scrambled_points_keep_every_dimension_even(void **state) {
  (void)state;
  enum { M = 6, N = 1 << M };
  for (uint64_t seed = 0; seed < 3; seed++)
    for (int j = 0; j < CB_SOBOL_DIMENSIONS; j++)
      for (uint32_t start = 0; start < 3 * N; start += N) {
        uint64_t seen = 0;
        for (uint32_t i = start; i < start + N; i++) {
          const double u = cb_sobol_scrambled(seed, j, i);
          assert_true(u >= 0.0 && u < 1.0);
          seen |= UINT64_C(1) << (int)(u * N);
        }
        assert_true(seen == UINT64_MAX);
      }
}

/* The first two dimensions are a (0, m, 2)-net: one point in each box of volume 2^-m,
 * whatever its shape. */
static void scrambled_points_keep_the_first_plane_even(void **state) {
  (void)state;
  enum { M = 8, N = 1 << M };
  for (uint64_t seed = 5; seed < 8; seed++)
    for (int a = 0; a <= M; a++) {
      const int wide = 1 << a, high = 1 << (M - a);
      int counts[N] = {0};
      for (uint32_t i = 0; i < N; i++)
        counts[(int)(cb_sobol_scrambled(seed, 0, i) * wide) * high +
               (int)(cb_sobol_scrambled(seed, 1, i) * high)]++;
      for (int box = 0; box < N; box++)
        assert_int_equal(counts[box], 1);
    }
}

/* Over the seeds any one coordinate is uniform: its mean and its variance are. */
static void scrambling_makes_each_point_uniform(void **state) {
  (void)state;
  enum { SEEDS = 4000 };
  const uint32_t points[] = {0, 1, 6, 1000};
  for (int p = 0; p < 4; p++)
    for (int j = 0; j < 3; j++) {
      double sum = 0.0, squares = 0.0;
      for (uint64_t seed = 0; seed < SEEDS; seed++) {
        const double u = cb_sobol_scrambled(seed, 7 * j, points[p]) - 0.5;
        sum += u;
        squares += u * u;
      }
      assert_true(fabs(sum / SEEDS) < 4.5 * sqrt(1.0 / 12.0 / SEEDS));
      assert_true(fabs(squares / SEEDS - 1.0 / 12.0) < 4.5 * sqrt(1.0 / 180.0 / SEEDS));
    }
}

/* Warnock's formula for the squared L2 star discrepancy in five dimensions. */
static double discrepancy(int n, double (*u)[5]) {
  double single = 0.0, pairs = 0.0;
  for (int i = 0; i < n; i++) {
    double product = 1.0;
    for (int d = 0; d < 5; d++)
      product *= 0.5 * (1.0 - u[i][d] * u[i][d]);
    single += product;
    for (int k = 0; k < n; k++) {
      double both = 1.0;
      for (int d = 0; d < 5; d++)
        both *= 1.0 - fmax(u[i][d], u[k][d]);
      pairs += both;
    }
  }
  return pow(1.0 / 3.0, 5) - 2.0 * single / n + pairs / n / n;
}

/* Random points have (2^-5 - 3^-5) / n on average. */
static void scrambled_points_have_little_discrepancy(void **state) {
  (void)state;
  enum { N = 256 };
  static double u[N][5];
  const double random = (1.0 / 32.0 - 1.0 / 243.0) / N;
  for (uint64_t seed = 0; seed < 10; seed++) {
    for (int i = 0; i < N; i++)
      for (int d = 0; d < 5; d++)
        u[i][d] = cb_sobol_scrambled(seed, d, (uint32_t)i);
    assert_true(discrepancy(N, u) < 0.25 * random);
  }
}

/* Which bits are flipped depends on the bits above: not the same for all points, as a
 * mere shift would have it, nor for all seeds and dimensions. */
static void scrambling_is_nested(void **state) {
  (void)state;
  enum { POINTS = 64 };
  int shifts = 0, same_seed = 0, same_dimension = 0;
  uint32_t first = 0;
  for (uint32_t i = 0; i < POINTS; i++) {
    const double u = cb_sobol_scrambled(11, 4, i);
    const uint32_t flips = (uint32_t)(u * 0x1p32) ^ cb_sobol_plain(4, i);
    if (i == 0)
      first = flips;
    shifts += flips == first;
    same_seed += u == cb_sobol_scrambled(12, 4, i);
    /* Point 0 is the origin: only its flips tell the dimensions apart. */
    same_dimension +=
        cb_sobol_scrambled(11, 4, 0) == cb_sobol_scrambled(11, 5 + (int)i, 0);
    assert_true((flips ^ first) >> 31 == 0); /* nothing is above the first bit */
  }
  assert_int_equal(shifts, 1);
  assert_int_equal(same_seed, 0);
  assert_int_equal(same_dimension, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(plain_points_are_those_of_scipy),
      cmocka_unit_test(scrambled_points_keep_every_dimension_even),
      cmocka_unit_test(scrambled_points_keep_the_first_plane_even),
      cmocka_unit_test(scrambling_makes_each_point_uniform),
      cmocka_unit_test(scrambled_points_have_little_discrepancy),
      cmocka_unit_test(scrambling_is_nested),
  };
  return cmocka_run_group_tests_name("base/sobol", tests, NULL, NULL);
}
