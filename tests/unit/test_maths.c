/* The elementary functions: against the oracle to the ulp that maths.h promises, their
 * special values, and their bits. */
#include "check.h"

#include <float.h>
#include <inttypes.h>
#include <stdbool.h>

#include "base/maths.h"
#include "base/vexp.h"
#include "oracle/maths.h"

#define COUNT(table) (sizeof(table) / sizeof(table)[0])

/* The distance from the true value high + low, in units of high's last place. */
static double error_in_ulp(double got, double high, double low) {
  const double size = fmax(fabs(high), DBL_MIN);
  return fabs((got - high) - low) / (ldexp(DBL_EPSILON, ilogb(size)));
}

static void check(const char *name, double x, double got, double high, double low,
                  double most) {
  const double error = error_in_ulp(got, high, low);
  if (!(error <= most))
    fail_msg("%s(%a) is %a, want %a: %.3g ulp", name, x, got, high, error);
}

#define CHECK_TABLE(function, table, most)                                             \
  for (size_t i = 0; i < COUNT(table); i++)                                            \
  check(#function, (table)[i].x, function((table)[i].x), (table)[i].high,              \
        (table)[i].low, most)

static void values_are_as_close_as_promised(void **state) {
  (void)state;
  CHECK_TABLE(cb_exp, oracle_exp_all, 1.0);
  CHECK_TABLE(cb_log, oracle_log, 0.9);
  CHECK_TABLE(cb_log1p, oracle_log1p, 0.9);
  CHECK_TABLE(cb_erfc, oracle_erfc, 1.2);
  CHECK_TABLE(cb_cos_turns, oracle_cos_turns, 1.3);
}

static void hypot_is_as_close_as_promised(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(oracle_hypot); i++) {
    const double x = oracle_hypot[i].x, y = oracle_hypot[i].y;
    const double high = oracle_hypot[i].high, low = oracle_hypot[i].low;
    check("cb_hypot", x, cb_hypot(x, y), high, low, 1.1);
    check("cb_hypot", y, cb_hypot(-y, -x), high, low, 1.1);
  }
}

static void one_exp_for_loops_and_single_numbers(void **state) {
  (void)state;
  for (int i = 0; i <= 100000; i++) {
    const double x = -708.0 * i / 100000;
    assert_true(cb_exp(x) == cb_exp_neg(x));
  }
}

static bool is_zero(double x, bool negative) {
  return x == 0.0 && (signbit(x) != 0) == negative;
}

static void special_values_are_those_of_the_standard(void **state) {
  (void)state;
  assert_true(cb_exp(-INFINITY) == 0.0 && cb_exp(INFINITY) == INFINITY);
  assert_true(cb_exp(0.0) == 1.0 && cb_exp(-0.0) == 1.0);
  assert_true(cb_exp(709.79) == INFINITY && cb_exp(1e300) == INFINITY);
  assert_true(cb_exp(0x1.62e42fefa39efp9) < INFINITY);
  assert_true(cb_exp(-745.1) == 0x1p-1074 && cb_exp(-745.14) == 0.0);
  assert_true(cb_exp(-1e300) == 0.0);

  assert_true(cb_log(0.0) == -INFINITY && cb_log(-0.0) == -INFINITY);
  assert_true(isnan(cb_log(-0x1p-1074)) && isnan(cb_log(-INFINITY)));
  assert_true(cb_log(INFINITY) == INFINITY && is_zero(cb_log(1.0), false));

  assert_true(cb_log1p(-1.0) == -INFINITY && cb_log1p(INFINITY) == INFINITY);
  assert_true(isnan(cb_log1p(-1.0 - 0x1p-52)) && isnan(cb_log1p(-INFINITY)));
  assert_true(is_zero(cb_log1p(0.0), false) && is_zero(cb_log1p(-0.0), true));

  assert_true(cb_erfc(INFINITY) == 0.0 && cb_erfc(-INFINITY) == 2.0);
  assert_true(cb_erfc(0.0) == 1.0 && cb_erfc(30.0) == 0.0 && cb_erfc(-30.0) == 2.0);
  assert_true(cb_erfc(27.3) == 0.0 && cb_erfc(27.9) == 0.0);

  assert_true(cb_cos_turns(0.0) == 1.0 && cb_cos_turns(0.5) == -1.0);
  assert_true(cb_cos_turns(0.25) == 0.0 && cb_cos_turns(0.75) == 0.0);
  assert_true(cb_cos_turns(-0.25) == 0.0 && cb_cos_turns(1e300) == 1.0);
  assert_true(isnan(cb_cos_turns(INFINITY)) && isnan(cb_cos_turns(-INFINITY)));

  assert_true(cb_hypot(0.0, -0.0) == 0.0 && cb_hypot(NAN, -INFINITY) == INFINITY);
  assert_true(cb_hypot(INFINITY, 1.0) == INFINITY && isnan(cb_hypot(NAN, 1.0)));
  assert_true(cb_hypot(DBL_MAX, DBL_MAX) == INFINITY);
}

static void nan_gives_nan(void **state) {
  (void)state;
  assert_true(isnan(cb_exp(NAN)) && isnan(cb_log(NAN)) && isnan(cb_log1p(NAN)));
  assert_true(isnan(cb_erfc(NAN)) && isnan(cb_cos_turns(NAN)));
  assert_true(isnan(cb_hypot(1.0, NAN)) && isnan(cb_hypot(NAN, NAN)));
}

static uint64_t mixed_in(uint64_t hash, double value) {
  return (hash ^ cb_bits_of(value)) * 0x100000001b3; /* FNV-1a, by words */
}

/* The hash was made by GCC on x86-64; whoever gets another proposes other points. */
static void bits_are_the_same_everywhere(void **state) {
  (void)state;
  uint64_t hash = 0xcbf29ce484222325;
  for (int i = 0; i < 20000; i++) {
    const double u = (i + 0.5) / 20000, wide = ldexp(1.0 + u, i % 1500 - 750);
    hash = mixed_in(hash, cb_exp(1454.0 * u - 745.0));
    hash = mixed_in(hash, cb_log(wide));
    hash = mixed_in(hash, cb_log(1.0 + 0.1 * (u - 0.5)));
    hash = mixed_in(hash, cb_log1p(u - 0.7));
    hash = mixed_in(hash, cb_erfc(34.0 * u - 6.5));
    hash = mixed_in(hash, cb_cos_turns(u));
    hash = mixed_in(hash, cb_hypot(u, wide));
  }
  if (hash != 0xbeba2bde6872f92d)
    fail_msg("the hash is 0x%016" PRIx64, hash);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(values_are_as_close_as_promised),
      cmocka_unit_test(hypot_is_as_close_as_promised),
      cmocka_unit_test(one_exp_for_loops_and_single_numbers),
      cmocka_unit_test(special_values_are_those_of_the_standard),
      cmocka_unit_test(nan_gives_nan),
      cmocka_unit_test(bits_are_the_same_everywhere),
  };
  return cmocka_run_group_tests_name("base/maths", tests, NULL, NULL);
}
