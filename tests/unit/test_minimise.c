#include "check.h"

#include "base/mem.h"
#include "base/minimise.h"

static cocabo_error err;

static const cb_minimise_limits LIMITS = {
    .max_evaluations = 200, .f_tolerance = 1e-14, .grad_tolerance = 1e-10};

static double rosenbrock(void *context, const double *x, double *g) {
  ++*(int *)context;
  const double a = x[1] - x[0] * x[0], b = 1.0 - x[0];
  g[0] = -400.0 * a * x[0] - 2.0 * b;
  g[1] = 200.0 * a;
  return 100.0 * a * a + b * b;
}

static void finds_a_free_minimum(void **state) {
  (void)state;
  int calls = 0;
  double x[] = {-1.2, 1.0};
  const double lower[] = {-2.0, -2.0}, upper[] = {2.0, 2.0};
  cb_minimiser *ws;
  assert_ok(cb_minimiser_new(&ws, 2, &err));
  assert_close(cb_minimise(ws, x, lower, upper, rosenbrock, &calls, &LIMITS), 0.0,
               1e-15);
  assert_close(x[0], 1.0, 1e-7);
  assert_close(x[1], 1.0, 1e-7);
  assert_true(calls < 80);
  cb_minimiser_free(ws);
}

/* With x0 <= 0.5 the minimum is at (0.5, 0.25), on the bound: f = 0.25. */
static void stops_at_an_active_bound(void **state) {
  (void)state;
  int calls = 0;
  double x[] = {7.0, -9.0}; /* outside: clipped first */
  const double lower[] = {-2.0, -2.0}, upper[] = {0.5, 2.0};
  cb_minimiser *ws;
  assert_ok(cb_minimiser_new(&ws, 2, &err));
  assert_close(cb_minimise(ws, x, lower, upper, rosenbrock, &calls, &LIMITS), 0.25,
               1e-12);
  assert_close(x[0], 0.5, 0.0);
  assert_close(x[1], 0.25, 1e-7);
  cb_minimiser_free(ws);
}

static void keeps_to_its_budget_and_returns_the_best_seen(void **state) {
  (void)state;
  int calls = 0;
  double x[] = {-1.2, 1.0}, ignored[2];
  const double lower[] = {-2.0, -2.0}, upper[] = {2.0, 2.0};
  const cb_minimise_limits few = {.max_evaluations = 7, .grad_tolerance = 1e-10};
  cb_minimiser *ws;
  assert_ok(cb_minimiser_new(&ws, 2, &err));
  const double value = cb_minimise(ws, x, lower, upper, rosenbrock, &calls, &few);
  assert_int_equal(calls, 7);
  assert_true(value < 24.2); /* the start's */
  assert_close(rosenbrock(&calls, x, ignored), value, 0.0);
  cb_minimiser_free(ws);
}

/* Not finite beyond 0.8: the minimum of -x there is wherever the function still is. */
static double cliff(void *context, const double *x, double *g) {
  (void)context;
  g[0] = -1.0;
  return x[0] > 0.8 ? nan("") : -x[0];
}

static void comes_back_from_nan(void **state) {
  (void)state;
  double x[] = {-0.9};
  const double lower[] = {-1.0}, upper[] = {1.0};
  cb_minimiser *ws;
  assert_ok(cb_minimiser_new(&ws, 1, &err));
  const double value = cb_minimise(ws, x, lower, upper, cliff, NULL, &LIMITS);
  assert_true(value <= 0.9 && x[0] <= 0.8);
  assert_close(value, -x[0], 0.0);
  cb_minimiser_free(ws);
}

static double nowhere(void *context, const double *x, double *g) {
  (void)context, (void)x;
  g[0] = nan("");
  return INFINITY;
}

static void never_finite_is_reported_as_infinity(void **state) {
  (void)state;
  double x[] = {0.3};
  const double lower[] = {-1.0}, upper[] = {1.0};
  cb_minimiser *ws;
  assert_ok(cb_minimiser_new(&ws, 1, &err));
  assert_true(cb_minimise(ws, x, lower, upper, nowhere, NULL, &LIMITS) == INFINITY);
  assert_close(x[0], 0.3, 0.0);
  cb_minimiser_free(ws);
}

static void out_of_memory_is_an_error_not_a_crash(void **state) {
  (void)state;
  cb_minimiser *ws;
  cb_mem_fail_after(0);
  assert_int_equal(cb_minimiser_new(&ws, 3, &err), COCABO_E_NO_MEMORY);
  assert_null(ws);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(finds_a_free_minimum),
      cmocka_unit_test(stops_at_an_active_bound),
      cmocka_unit_test(keeps_to_its_budget_and_returns_the_best_seen),
      cmocka_unit_test(comes_back_from_nan),
      cmocka_unit_test(never_finite_is_reported_as_infinity),
      cmocka_unit_test(out_of_memory_is_an_error_not_a_crash),
  };
  return cmocka_run_group_tests_name("base/minimise", tests, NULL, NULL);
}
