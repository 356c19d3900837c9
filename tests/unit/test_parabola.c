#include "check.h"

#include <math.h>

#include "base/mem.h"
#include "model/parabola.h"
#include "oracle/parabola.h"

enum { MOST = CB_PARABOLA_MOST_INPUTS, TERMS = 1 + MOST + MOST * (MOST + 1) / 2 };

static bool fit(int d, int n, const double *z, const double *weight, const double *y,
                double *coefficients) {
  double *work = cb_calloc(cb_parabola_work(d), sizeof *work);
  const bool done = cb_parabola_fit(d, n, z, weight, y, coefficients, work);
  cb_free(work);
  return done;
}

static void fits_are_those_of_least_squares(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof oracle_fits / sizeof oracle_fits[0]; c++) {
    double b[TERMS];
    assert_true(fit(oracle_fits[c].d, oracle_fits[c].n, oracle_fits[c].z,
                    oracle_fits[c].weight, oracle_fits[c].y, b));
    for (int k = 0; k < cb_parabola_terms(oracle_fits[c].d); k++)
      assert_close(b[k], oracle_fits[c].coefficients[k], 1e-6);
  }
}

/* Three points in two dimensions say something of the rest, but nothing infinite. */
static void what_points_leave_open_is_small(void **state) {
  (void)state;
  const double z[] = {0.1, 0.2, -0.3, 0.4, 0.5, -0.6}, weight[] = {1.0, 2.0, 3.0};
  const double y[] = {0.7, 1.1, -0.4};
  double b[TERMS];
  assert_true(fit(2, 3, z, weight, y, b));
  for (int i = 0; i < 3; i++)
    assert_close(cb_parabola_at(2, b, z + 2 * (ptrdiff_t)i), y[i], 1e-7);
  for (int k = 0; k < cb_parabola_terms(2); k++)
    assert_true(fabs(b[k]) < 3.0);
}

static void numbers_that_are_none_have_no_fit(void **state) {
  (void)state;
  const double awkward[] = {NAN, INFINITY, 1e308};
  for (int i = 0; i < 3; i++) {
    const double z[] = {0.1, 0.2, awkward[i], 0.4, 0.9},
                 y[] = {1.0, 2.0, 3.0, 2.0, 0.5};
    const double weight[] = {1.0, 1.0, 1.0, 1.0, 1.0};
    double b[TERMS];
    assert_false(fit(1, 5, z, weight, y, b));
  }
  const double z[] = {0.1, 0.2, 0.3}, y[] = {1.0, NAN, 3.0};
  const double weight[] = {1.0, 1.0, 1.0};
  double b[TERMS];
  assert_false(fit(1, 3, z, weight, y, b));
}

static void the_lowest_point_of_a_box_is_found(void **state) {
  (void)state;
  for (size_t c = 0; c < sizeof oracle_boxes / sizeof oracle_boxes[0]; c++) {
    double z[MOST];
    const double value =
        cb_parabola_lowest(oracle_boxes[c].d, oracle_boxes[c].coefficients,
                           oracle_boxes[c].lower, oracle_boxes[c].upper, z);
    assert_close(value, oracle_boxes[c].value, 1e-10);
    for (int j = 0; j < oracle_boxes[c].d; j++)
      assert_close(z[j], oracle_boxes[c].z[j], 1e-6);
  }
}

/* A plane is lowest in a corner; where nothing matters any point will do. */
static void planes_end_in_corners(void **state) {
  (void)state;
  const double lower[] = {-0.5, -0.25, 0.0}, upper[] = {0.75, 0.0, 0.125};
  double z[MOST], b[TERMS] = {2.0, 1.0, -1.0, -3.0};
  assert_close(cb_parabola_lowest(3, b, lower, upper, z), 2.0 - 0.5 - 0.375, 1e-15);
  assert_close(z[0], -0.5, 0.0);
  assert_close(z[1], 0.0, 0.0);
  assert_close(z[2], 0.125, 0.0);
  const double level[TERMS] = {2.0};
  assert_close(cb_parabola_lowest(3, level, lower, upper, z), 2.0, 0.0);
  for (int j = 0; j < 3; j++)
    assert_true(z[j] >= lower[j] && z[j] <= upper[j]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fits_are_those_of_least_squares),
      cmocka_unit_test(what_points_leave_open_is_small),
      cmocka_unit_test(numbers_that_are_none_have_no_fit),
      cmocka_unit_test(the_lowest_point_of_a_box_is_found),
      cmocka_unit_test(planes_end_in_corners),
  };
  return cmocka_run_group_tests_name("model/parabola", tests, NULL, NULL);
}
