/* The signed-rank test: against scipy where it is exact there, and against all signs
 * where magnitudes are equal or zero. */
#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "oracle/wilcoxon.h"
#include "race/wilcoxon.h"

static cocabo_error err;

static double above(const double *d, int n) {
  double p = NAN;
  assert_ok(cb_wilcoxon_above(d, n, &p, &err));
  return p;
}

static void agrees_with_scipy(void **state) {
  (void)state;
  const size_t n = sizeof wilcoxon_oracles / sizeof wilcoxon_oracles[0];
  assert_true(n > 30);
  for (size_t i = 0; i < n; i++) {
    const struct wilcoxon_oracle *o = &wilcoxon_oracles[i];
    if (o->n <= 60)
      assert_relative(above(o->d, o->n), o->p, 1e-11);
    else /* by the normal distribution, whose far tail is rounded */
      assert_close(above(o->d, o->n), o->p, 1e-14);
  }
}

/* Twice the mean rank of |d[i]| among the others that are not zero. */
static int doubled_rank(const double *d, int n, int i) {
  int below = 0, equal = 0;
  for (int k = 0; k < n; k++) {
    below += d[k] != 0.0 && fabs(d[k]) < fabs(d[i]);
    equal += d[k] != 0.0 && fabs(d[k]) == fabs(d[i]);
  }
  return 2 * below + equal + 1;
}

/* The same by trying all 2^m signs. */
static double brute_force(const double *d, int n) {
  int ranks[20], m = 0, sum = 0;
  long as_large = 0;
  for (int i = 0; i < n; i++) {
    if (d[i] == 0.0)
      continue;
    ranks[m++] = doubled_rank(d, n, i);
    sum += d[i] > 0.0 ? ranks[m - 1] : 0;
  }
  for (long signs = 0; signs < 1L << m; signs++) {
    int other = 0;
    for (int i = 0; i < m; i++)
      other += signs >> i & 1 ? ranks[i] : 0;
    as_large += other >= sum;
  }
  return (double)as_large / (double)(1L << m);
}

static void ties_and_zeros_are_counted_over_all_signs(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(31, CB_RNG_BENCH, 1);
  for (int i = 0; i < REPEAT(400, 60); i++) {
    double d[14];
    const int n = 1 + i % 14;
    for (int k = 0; k < n; k++) /* eighths, so that equal ones are equal exactly */
      d[k] = 0.125 * (double)((int)cb_rng_below(&rng, 9) - 3);
    assert_close(above(d, n), brute_force(d, n), 1e-14);
  }
}

static void says_nothing_of_nothing(void **state) {
  (void)state;
  const double zeros[] = {0.0, -0.0, 0.0};
  assert_true(above(zeros, 3) == 1.0);
  assert_true(above(NULL, 0) == 1.0);
}

/* By hand: all n signs of one kind are one in 2^n, and so it does not depend on how
 * large the differences are. */
static void the_surest_verdict_is_one_in_all_signs(void **state) {
  (void)state;
  double up[60], down[60];
  for (int n = 1; n <= 60; n++) {
    up[n - 1] = 0.3 * n * n;
    down[n - 1] = -up[n - 1];
    assert_relative(above(up, n), ldexp(1.0, -n), 1e-13);
    assert_relative(above(down, n), 1.0, 1e-13);
  }
}

static void lack_of_memory_leaks_nothing(void **state) {
  (void)state;
  const double d[] = {1.0, -2.0, 3.0};
  for (int k = 0; k < 2; k++) {
    double p = 0.5;
    cb_mem_fail_after(k);
    const cocabo_status status = cb_wilcoxon_above(d, 3, &p, &err);
    cb_mem_fail_after(-1);
    assert_int_equal(status, COCABO_E_NO_MEMORY);
    assert_true(p == 1.0); /* nobody is given up for it */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(agrees_with_scipy),
      cmocka_unit_test(ties_and_zeros_are_counted_over_all_signs),
      cmocka_unit_test(says_nothing_of_nothing),
      cmocka_unit_test(the_surest_verdict_is_one_in_all_signs),
      cmocka_unit_test(lack_of_memory_leaks_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
