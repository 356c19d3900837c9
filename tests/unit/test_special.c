#include "check.h"

#include <float.h>

#include "base/special.h"
#include "oracle/special.h"

enum { POINTS = sizeof oracle_special / sizeof oracle_special[0] };

/* What rounding the exponent -z^2/2 costs in the linear domain. */
static double linear_tolerance(double z) {
  return (4.0 + 0.5 * z * z) * DBL_EPSILON;
}

static void log_h_agrees_with_the_oracle(void **state) {
  (void)state;
  for (int i = 0; i < POINTS; i++) {
    double slope;
    const double log_h = cb_log_ei_h(oracle_special[i].z, &slope);
    assert_relative(log_h, oracle_special[i].log_h, 1e-14);
    assert_relative(slope, oracle_special[i].log_h_slope, 3e-15);
    assert_true(cb_log_ei_h(oracle_special[i].z, NULL) == log_h);
  }
}

static void log_cdf_agrees_with_the_oracle(void **state) {
  (void)state;
  for (int i = 0; i < POINTS; i++) {
    const double z = oracle_special[i].z;
    const double tolerance = z > 0.0 ? 2.0 * linear_tolerance(z) : 1e-15;
    assert_relative(cb_log_normal_cdf(z, NULL), oracle_special[i].log_cdf, tolerance);
  }
}

/* phi / Phi = h / Phi - z. For z < 0 nothing cancels in that; above, the oracle has
 * both parts of the quotient. */
static void slope_of_log_cdf_agrees_with_the_oracle(void **state) {
  (void)state;
  for (int i = 0; i < POINTS; i++) {
    const double z = oracle_special[i].z;
    double slope;
    const double value = cb_log_normal_cdf(z, &slope);
    assert_true(value == cb_log_normal_cdf(z, NULL));
    if (z < 0.0)
      assert_relative(slope, 1.0 / oracle_special[i].log_h_slope - z, 1e-14);
    else
      assert_relative(slope, oracle_special[i].pdf / oracle_special[i].cdf,
                      linear_tolerance(z));
  }
}

static void pdf_cdf_and_h_agree_with_the_oracle(void **state) {
  (void)state;
  int checked = 0;
  for (int i = 0; i < POINTS; i++) {
    const double z = oracle_special[i].z, tolerance = linear_tolerance(z);
    if (z < -37.0)
      continue;
    double slope;
    assert_relative(cb_normal_pdf(z), oracle_special[i].pdf, tolerance);
    assert_relative(cb_normal_cdf(z), oracle_special[i].cdf, tolerance);
    assert_relative(cb_ei_h(z, &slope), oracle_special[i].h, tolerance);
    assert_relative(slope, oracle_special[i].cdf, tolerance);
    assert_true(cb_ei_h(z, NULL) == cb_ei_h(z, &slope));
    checked++;
  }
  assert_true(checked > 40);
}

/* Both signs of every border between two formulas: no jump, no kink. */
static void formulas_meet_at_their_borders(void **state) {
  (void)state;
  const double borders[] = {-1.0, 0.0, 0x1.cc87895688a5bp-1 - 0.0625,
                            0x1.cc87895688a5bp-1 + 0.0625};
  for (size_t i = 0; i < sizeof borders / sizeof borders[0]; i++) {
    const double below = nextafter(borders[i], -9.0),
                 above = nextafter(borders[i], 9.0);
    double slope_below, slope_above;
    assert_close(cb_log_ei_h(below, &slope_below), cb_log_ei_h(above, &slope_above),
                 2e-15);
    assert_close(slope_below, slope_above, 2e-15);
    assert_close(cb_log_normal_cdf(below, NULL), cb_log_normal_cdf(above, NULL), 2e-15);
    assert_close(cb_normal_cdf(below), cb_normal_cdf(above), 1e-15);
    assert_close(cb_ei_h(below, NULL), cb_ei_h(above, NULL), 1e-15);
  }
}

static const double awkward[] = {
    7.317,  3.1415,  1.618,  0.9619,  0.8995, 0.8367, 0.333,   0.0,
    -0.517, -0.9997, -1.0,   -1.0003, -1.731, -3.69,  -9.9999, -37.21,
    -99.9,  -100.1,  -317.0, -999.0,  -1e3,   -3162., -1e4,
};
enum { AWKWARD = sizeof awkward / sizeof awkward[0] };

/* Five points, so that the step can be large: the error is step^4/30 of the fifth
 * derivative against eps |f| / step of rounding, which rules far down the tail. */
static double difference(double (*f)(double), double z, double step) {
  return (8.0 * (f(z + step) - f(z - step)) - (f(z + 2 * step) - f(z - 2 * step))) /
         (12.0 * step);
}

static double log_h(double z) {
  return cb_log_ei_h(z, NULL);
}

static double h(double z) {
  return cb_ei_h(z, NULL);
}

static void slope_of_log_h_agrees_with_differences(void **state) {
  (void)state;
  for (int i = 0; i < AWKWARD; i++) {
    const double z = awkward[i], step = 1e-3 * fmax(1.0, fabs(z));
    double slope;
    (void)cb_log_ei_h(z, &slope);
    assert_relative(slope, difference(log_h, z, step), 1e-11);
  }
}

static void slope_of_h_agrees_with_differences(void **state) {
  (void)state;
  for (int i = 0; i < AWKWARD; i++) {
    const double z = awkward[i], step = 1e-3 / fmax(1.0, fabs(z));
    if (z < -37.0)
      continue;
    double slope;
    (void)cb_ei_h(z, &slope);
    assert_relative(slope, difference(h, z, step), 1e-9);
  }
}

/* The slope is checked too, as the derivative of log h is h' / h. */
static void log_h_is_the_logarithm_of_h(void **state) {
  (void)state;
  for (int i = 0; i < AWKWARD; i++) {
    const double z = awkward[i];
    if (z < -37.0)
      continue;
    double slope, cdf;
    const double value = cb_ei_h(z, &cdf);
    assert_close(cb_log_ei_h(z, &slope), log(value), 1e-15);
    assert_relative(slope, cdf / value, 1e-14);
  }
}

static void h_rises_over_the_whole_line(void **state) {
  (void)state;
  double previous = -INFINITY;
  for (double z = -60.0; z < 12.0; z += 0.00371) {
    const double now = cb_log_ei_h(z, NULL);
    assert_true(now > previous);
    previous = now;
  }
}

static void extremes_are_limits_and_never_nan(void **state) {
  (void)state;
  double slope;
  assert_relative(cb_log_ei_h(-1e150, &slope), -5e299, 1e-15);
  assert_relative(slope, 1e150, 1e-15);
  assert_relative(cb_log_ei_h(-1.8e154, &slope), -1.62e308, 1e-15); /* z z overflows */
  assert_relative(slope, 1.8e154, 1e-15);
  assert_true(cb_log_ei_h(-1e200, &slope) == -INFINITY);
  assert_relative(slope, 1e200, 1e-15);
  assert_true(cb_log_ei_h(-INFINITY, &slope) == -INFINITY && slope == INFINITY);
  assert_relative(cb_log_ei_h(1e300, &slope), log(1e300), 1e-15);
  assert_relative(slope, 1e-300, 1e-15);
  assert_true(cb_log_ei_h(INFINITY, &slope) == INFINITY && slope == 0.0);

  assert_true(cb_ei_h(-1e200, &slope) == 0.0 && slope == 0.0);
  assert_true(cb_ei_h(-INFINITY, &slope) == 0.0 && slope == 0.0);
  assert_true(cb_ei_h(INFINITY, &slope) == INFINITY && slope == 1.0);
  assert_true(cb_normal_cdf(-INFINITY) == 0.0 && cb_normal_cdf(INFINITY) == 1.0);
  assert_true(cb_log_normal_cdf(-INFINITY, NULL) == -INFINITY);
  assert_true(cb_log_normal_cdf(INFINITY, NULL) == 0.0);
  assert_true(cb_normal_pdf(-INFINITY) == 0.0 && cb_normal_pdf(INFINITY) == 0.0);
}

static void nan_gives_nan(void **state) {
  (void)state;
  double slope = 0.0, h_slope = 0.0;
  assert_true(isnan(cb_log_ei_h(NAN, &slope)) && isnan(slope));
  assert_true(isnan(cb_ei_h(NAN, &h_slope)) && isnan(h_slope));
  assert_true(isnan(cb_normal_pdf(NAN)) && isnan(cb_normal_cdf(NAN)));
  assert_true(isnan(cb_log_normal_cdf(NAN, NULL)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(log_h_agrees_with_the_oracle),
      cmocka_unit_test(log_cdf_agrees_with_the_oracle),
      cmocka_unit_test(slope_of_log_cdf_agrees_with_the_oracle),
      cmocka_unit_test(pdf_cdf_and_h_agree_with_the_oracle),
      cmocka_unit_test(formulas_meet_at_their_borders),
      cmocka_unit_test(slope_of_log_h_agrees_with_differences),
      cmocka_unit_test(slope_of_h_agrees_with_differences),
      cmocka_unit_test(log_h_is_the_logarithm_of_h),
      cmocka_unit_test(h_rises_over_the_whole_line),
      cmocka_unit_test(extremes_are_limits_and_never_nan),
      cmocka_unit_test(nan_gives_nan),
  };
  return cmocka_run_group_tests_name("base/special", tests, NULL, NULL);
}
