#include "check.h"

#include <inttypes.h>

#include "base/vexp.h"
#include "oracle/exp.h"

/* Steps between two positive doubles; NaN is far from everything. */
static int64_t steps_between(double a, double b) {
  const int64_t d = (int64_t)cb_bits_of(a) - (int64_t)cb_bits_of(b);
  return d < 0 ? -d : d;
}

/* An error below 1.1 ulp is at most one step from the correctly rounded value. */
static void agrees_with_the_oracle_to_a_step(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof oracle_exp / sizeof oracle_exp[0]; i++) {
    const double got = cb_exp_neg(oracle_exp[i].x);
    if (steps_between(got, oracle_exp[i].exp) > 1)
      fail_msg("exp(%.17g) is %.17g, want %.17g", oracle_exp[i].x, got,
               oracle_exp[i].exp);
  }
}

/* libm is itself within one step, so two steps are allowed here. */
static void agrees_with_libm_over_the_whole_range(void **state) {
  (void)state;
  enum { POINTS = 1000003 };
  for (int i = 0; i <= POINTS; i++) {
    const double even = -708.0 * i / POINTS,
                 small = -ldexp(1.0, -(i % 60)) * i / POINTS;
    assert_true(steps_between(cb_exp_neg(even), exp(even)) <= 2);
    assert_true(steps_between(cb_exp_neg(small), exp(small)) <= 2);
  }
}

static void zero_gives_exactly_one(void **state) {
  (void)state;
  assert_true(cb_exp_neg(0.0) == 1.0);
  assert_true(cb_exp_neg(-0.0) == 1.0);
}

static void far_arguments_count_as_minus_708(void **state) {
  (void)state;
  const double floor = cb_exp_neg(-708.0);
  assert_true(isnormal(floor));
  assert_true(cb_exp_neg(-707.99) > floor);
  const double far[] = {-708.0 - 0x1p-43, -709.0, -745.2, -1e4, -1e300, -INFINITY};
  for (size_t i = 0; i < sizeof far / sizeof far[0]; i++)
    assert_true(cb_exp_neg(far[i]) == floor);
}

/* Of either sign and with every low bit set, because those bits become an exponent. */
static void nan_stays_nan(void **state) {
  (void)state;
  const uint64_t nans[] = {0x7ff8000000000000, 0xfff8000000000000, 0x7ff8000000000001,
                           0xfff8000000000fff, 0xffffffffffffffff, 0x7ff8000000000401};
  for (size_t i = 0; i < sizeof nans / sizeof nans[0]; i++)
    assert_true(isnan(cb_exp_neg(cb_of_bits(nans[i]))));
}

/* Bits are pinned by a hash (FNV-1a) of a long array, filled by a loop that compilers
 * vectorise (its length is a multiple of 8 so that they do so at -O2 already): every
 * width and every compiler must get the same. */
static void bits_do_not_depend_on_the_vector_width(void **state) {
  (void)state;
  enum { N = 10000 };
  static double x[N], y[N];
  for (int i = 0; i < N; i++)
    x[i] = -0.0731 * i;
  for (int i = 0; i < N; i++)
    y[i] = cb_exp_neg(x[i]);
  uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < N; i++) {
    volatile double one = x[i]; /* a scalar call */
    assert_int_equal(steps_between(cb_exp_neg(one), y[i]), 0);
    hash = (hash ^ cb_bits_of(y[i])) * 0x100000001b3;
  }
  if (hash != 0xf83a9d48a6305bf8)
    fail_msg("the hash is 0x%016" PRIx64, hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_the_oracle_to_a_step),
      cmocka_unit_test(agrees_with_libm_over_the_whole_range),
      cmocka_unit_test(zero_gives_exactly_one),
      cmocka_unit_test(far_arguments_count_as_minus_708),
      cmocka_unit_test(nan_stays_nan),
      cmocka_unit_test(bits_do_not_depend_on_the_vector_width),
  };
  return cmocka_run_group_tests_name("base/vexp", tests, NULL, NULL);
}
