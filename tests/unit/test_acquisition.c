#include "check.h"

#include <float.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "search/acquisition.h"
#include "search/search.h"

/* mu, sd and best with z from +4.7 down to -1e4 in awkward numbers. */
static const struct {
  double mu, sd, best;
} POINTS[] = {{1.373, 0.291, 0.0047}, {0.618, 1.137, 0.523},  {-0.274, 0.733, 0.381},
              {0.113, 0.271, 0.947},  {-1.371, 0.137, 0.713}, {-0.7431, 0.0231, 1.213},
              {-2.313, 0.00371, 1.7}, {-3.17, 0.000419, 1.02}};
enum { N_POINTS = sizeof POINTS / sizeof POINTS[0] };

static double squared(double u) {
  return u * u;
}

static void derivatives_agree_with_central_differences(void **state) {
  (void)state;
  const cb_acquisition kinds[] = {CB_UCB, CB_EI, CB_LOGEI, CB_EXPLORE, CB_LOGEI};
  for (int k = 0; k < 5; k++)
    for (int i = 0; i < N_POINTS; i++) {
      const cb_acquire a = {.kind = kinds[k],
                            .kappa = 1.83,
                            .best = POINTS[i].best,
                            .rough = k == 4 ? squared(0.37 * POINTS[i].sd) : 0.0};
      const double mu = POINTS[i].mu, sd = POINTS[i].sd, step = 1e-5 * sd;
      double by_mu, by_sd;
      const double value = cb_acquire_value(&a, mu, sd, &by_mu, &by_sd);
      assert_true(isfinite(value) && isfinite(by_mu) && isfinite(by_sd));
      /* Central differences at steps h and h/2, extrapolated: fourth order. */
      double slope[2][2];
      for (int half = 0; half < 2; half++) {
        const double h = half ? 0.5 * step : step;
        slope[half][0] = (cb_acquire_value(&a, mu + h, sd, NULL, NULL) -
                          cb_acquire_value(&a, mu - h, sd, NULL, NULL)) /
                         (2.0 * h);
        slope[half][1] = (cb_acquire_value(&a, mu, sd + h, NULL, NULL) -
                          cb_acquire_value(&a, mu, sd - h, NULL, NULL)) /
                         (2.0 * h);
      }
      const double want_mu = (4.0 * slope[1][0] - slope[0][0]) / 3.0;
      const double want_sd = (4.0 * slope[1][1] - slope[0][1]) / 3.0;
      const double z = (mu - a.best) / sd;
      if (kinds[k] == CB_EI && z < -30.0) { /* underflows: that is what LogEI is for */
        assert_close(by_mu, 0.0, 1e-100);
        continue;
      }
      /* What rounding of the values leaves of a difference quotient. */
      const double rounding = 8.0 * DBL_EPSILON * fabs(value) / step;
      assert_true(fabs(by_mu - want_mu) <= 2e-6 * fabs(want_mu) + rounding);
      assert_true(fabs(by_sd - want_sd) <= 2e-6 * fabs(want_sd) + rounding);
    }
}

static void exploring_wants_promising_points(void **state) {
  (void)state;
  const cb_acquire a = {.kind = CB_EXPLORE, .kappa = 2.0, .best = 1.0};
  /* Promising: the upper bound reaches the best. Then only the deviation counts. */
  assert_close(cb_acquire_value(&a, 0.5, 0.25, NULL, NULL), 0.25, 1e-15);
  assert_close(cb_acquire_value(&a, 0.9, 0.25, NULL, NULL), 0.25, 1e-15);
  /* Not promising, however little is known. */
  assert_true(cb_acquire_value(&a, -2.0, 0.7, NULL, NULL) < 0.0);
}

static void ucb_falls_off_below_the_least_deviation(void **state) {
  (void)state;
  const cb_acquire a = {.kind = CB_UCB, .kappa = 1.7, .min_sd = 0.3};
  double by_mu, by_sd;
  assert_close(cb_acquire_value(&a, 0.4, 0.3, &by_mu, &by_sd), 0.4 + 1.7 * 0.3, 1e-15);
  assert_close(by_sd, 1.7, 1e-15);
  const double low = cb_acquire_value(&a, 0.4, 0.21, &by_mu, &by_sd);
  assert_true(low < -50.0);
  const double step = 1e-6;
  assert_close(by_sd, (cb_acquire_value(&a, 0.4, 0.21 + step, NULL, NULL) - low) / step,
               1e-6);
}

/* By the formula at the deviation of values, 0.5 = sqrt(0.3^2 + 0.4^2); what is known
 * for sure of the latent function is still worth something. */
static void log_ei_of_rough_values_is_that_of_their_deviation(void **state) {
  (void)state;
  const cb_acquire smooth = {.kind = CB_LOGEI, .best = 0.83};
  const cb_acquire rough = {.kind = CB_LOGEI, .best = 0.83, .rough = 0.16};
  double by_mu, by_sd;
  assert_close(cb_acquire_value(&rough, 0.41, 0.3, NULL, NULL),
               cb_acquire_value(&smooth, 0.41, 0.5, NULL, NULL), 1e-14);
  assert_close(cb_acquire_value(&rough, 0.41, 0.0, &by_mu, &by_sd),
               cb_acquire_value(&smooth, 0.41, 0.4, NULL, NULL), 1e-14);
  assert_close(by_sd, 0.0, 1e-300);
  const cb_acquire other = {.kind = CB_EI, .best = 0.83, .rough = 0.16};
  const cb_acquire ei = {.kind = CB_EI, .best = 0.83};
  assert_close(cb_acquire_value(&other, 0.41, 0.3, NULL, NULL),
               cb_acquire_value(&ei, 0.41, 0.3, NULL, NULL), 1e-300);
}

static void log_ei_falls_off_below_the_least_deviation(void **state) {
  (void)state;
  const cb_acquire free = {.kind = CB_LOGEI, .best = 0.9};
  const cb_acquire a = {.kind = CB_LOGEI, .best = 0.9, .min_sd = 0.3};
  double by_mu, by_sd;
  assert_close(cb_acquire_value(&a, 0.4, 0.3, NULL, NULL),
               cb_acquire_value(&free, 0.4, 0.3, NULL, NULL), 1e-300);
  const double low = cb_acquire_value(&a, 0.4, 0.21, &by_mu, &by_sd), step = 1e-6;
  assert_close(low, cb_acquire_value(&free, 0.4, 0.21, NULL, NULL) - 90.0, 1e-10);
  assert_relative(
      by_sd, (cb_acquire_value(&a, 0.4, 0.21 + step, NULL, NULL) - low) / step, 1e-6);
}

static void values_agree_with_the_formulas(void **state) {
  (void)state;
  /* z = 0.25: phi = 0.38666811680284924, Phi = 0.5987063256829237. */
  const double mu = 0.7, sd = 0.8, best = 0.5,
               h = 0.38666811680284924 + 0.25 * 0.5987063256829237;
  cb_acquire a = {.kind = CB_UCB, .kappa = 2.0, .best = best};
  assert_close(cb_acquire_value(&a, mu, sd, NULL, NULL), 2.3, 1e-15);
  a.kind = CB_EI;
  assert_close(cb_acquire_value(&a, mu, sd, NULL, NULL), sd * h, 1e-14);
  a.kind = CB_LOGEI;
  assert_close(cb_acquire_value(&a, mu, sd, NULL, NULL), log(sd * h), 1e-14);
}

static void log_ei_is_the_logarithm_of_ei(void **state) {
  (void)state;
  for (int i = 0; i < N_POINTS; i++) {
    cb_acquire a = {.kind = CB_EI, .best = POINTS[i].best};
    const double ei = cb_acquire_value(&a, POINTS[i].mu, POINTS[i].sd, NULL, NULL);
    a.kind = CB_LOGEI;
    const double log_ei = cb_acquire_value(&a, POINTS[i].mu, POINTS[i].sd, NULL, NULL);
    if (ei > 1e-290)
      assert_relative(log_ei, log(ei), 1e-11);
    else
      assert_true(log_ei < -660.0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_agree_with_central_differences),
      cmocka_unit_test(exploring_wants_promising_points),
      cmocka_unit_test(ucb_falls_off_below_the_least_deviation),
      cmocka_unit_test(log_ei_of_rough_values_is_that_of_their_deviation),
      cmocka_unit_test(log_ei_falls_off_below_the_least_deviation),
      cmocka_unit_test(values_agree_with_the_formulas),
      cmocka_unit_test(log_ei_is_the_logarithm_of_ei),
  };
  return cmocka_run_group_tests_name("acquisition", tests, NULL, NULL);
}
