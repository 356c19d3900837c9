#include "life.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "sampler/descent.h"

static cocabo_error err;

static const double LEVEL_SCALES[2] = {0.0, 0.0};
static const double LOWER[2] = {-1.0, -1.0}, UPPER[2] = {1.0, 1.0};

static life begin(void) {
  cocabo_space *space = cocabo_space_new();
  assert_ok(cocabo_space_add(space, "a", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "b", "float(-1,1)", &err));
  return life_of(space);
}

static void lives(life *l, double a, double b, double y) {
  cb_cell cells[2] = {{.real = a}, {.real = b}};
  lives_with(l, CB_BY_SAMPLER, cells, y);
}

/* A valley across the axes, a million times as steep as it falls; to be maximised. */
static double valley(double a, double b) {
  const double along = a + b - 0.37, across = a - b - 0.11;
  return -along * along - 1e6 * across * across;
}

/* Points of a sequence that fills the square, around (a, b). */
static void wander(life *l, int n, double a, double b, double reach, double unit,
                   double zero) {
  for (int i = 0; i < n; i++) {
    const double u = a + reach * (2.0 * fmod(0.5 + 0.7548776662 * i, 1.0) - 1.0);
    const double v = b + reach * (2.0 * fmod(0.5 + 0.5698402910 * i, 1.0) - 1.0);
    lives(l, u, v, unit * valley(u, v) + zero);
  }
}

static bool find(const life *l, bool many, const double *upper, double *x) {
  cb_descent *s;
  bool found;
  assert_ok(cb_descent_new(&s, l->space, &err));
  assert_ok(cb_descent_find(s, l->history, l->history->best, LEVEL_SCALES, many, LOWER,
                            upper, x, &found, &err));
  cb_descent_free(s);
  return found;
}

static void the_end_of_a_valley_is_found(void **state) {
  (void)state;
  for (int many = 0; many < 2; many++) {
    life l = begin();
    double x[2];
    wander(&l, 40, 0.1, -0.2, 0.7, 1.0, 0.0);
    assert_true(find(&l, many, UPPER, x));
    assert_close(x[0], 0.24, 1e-4);
    assert_close(x[1], 0.13, 1e-4);
    end(&l);
  }
}

static void it_stays_in_the_box(void **state) {
  (void)state;
  const double upper[2] = {0.2, 1.0};
  life l = begin();
  double x[2];
  wander(&l, 40, -0.1, -0.2, 0.25, 1.0, 0.0);
  assert_true(find(&l, true, upper, x));
  assert_close(x[0], 0.2, 0.0);
  assert_close(x[1], 0.09, 1e-4);
  end(&l);
}

/* Six terms: 1.2 results for each, and two more. */
static void few_results_have_no_parabola(void **state) {
  (void)state;
  life l = begin();
  double x[2];
  wander(&l, 9, 0.1, -0.2, 0.7, 1.0, 0.0);
  assert_false(find(&l, false, UPPER, x));
  wander(&l, 1, 0.3, -0.1, 0.7, 1.0, 0.0);
  assert_true(find(&l, false, UPPER, x));
  end(&l);
}

/* Nor have equal values, or a top that is the end already. */
static void where_nothing_is_promised_nothing_is_found(void **state) {
  (void)state;
  double x[2];
  life equal = begin(), done = begin();
  wander(&equal, 40, 0.1, -0.2, 0.7, 0.0, 3.7);
  assert_false(find(&equal, false, UPPER, x));
  end(&equal);
  lives(&done, 0.24, 0.13, 1e-3); /* better than any parabola through the others */
  wander(&done, 40, 0.1, -0.2, 0.7, 1.0, 0.0);
  assert_false(find(&done, true, UPPER, x));
  end(&done);
}

/* Another unit of y by a power of two, and another zero, move no bit. */
static void units_of_the_value_do_not_matter(void **state) {
  (void)state;
  double x[2], other[2];
  life l = begin(), m = begin();
  wander(&l, 40, 0.1, -0.2, 0.7, 1.0, 0.0);
  wander(&m, 40, 0.1, -0.2, 0.7, 1024.0, 0.0);
  assert_true(find(&l, true, UPPER, x) && find(&m, true, UPPER, other));
  assert_close(other[0], x[0], 0.0);
  assert_close(other[1], x[1], 0.0);
  end(&l);
  end(&m);
}

/* Behind a wall values are a thousand times as bad: they must not push the end away
 * from it. */
static void bad_results_count_less(void **state) {
  (void)state;
  life l = begin();
  double x[2];
  for (int i = 0; i < 40; i++) {
    const double u = 2.0 * fmod(0.5 + 0.7548776662 * i, 1.0) - 1.0;
    const double v = 2.0 * fmod(0.5 + 0.5698402910 * i, 1.0) - 1.0;
    const double wall = u > 0.5 ? 1e3 * (u - 0.5) : 0.0;
    lives(&l, u, v, -(u - 0.31) * (u - 0.31) - (v + 0.23) * (v + 0.23) - wall);
  }
  assert_true(find(&l, true, UPPER, x));
  assert_true(hypot(x[0] - 0.31, x[1] + 0.23) < 0.05); /* 0.8 if all count alike */
  end(&l);
}

/* A trend with ripples on it, by their phase: how far a parabola ends from where the
 * trend does. */
static double miss(double phase, bool many) {
  life l = begin();
  double x[2] = {0.0, 0.0};
  for (int i = 0; i < 60; i++) {
    const double u = 2.0 * fmod(0.5 + 0.7548776662 * i, 1.0) - 1.0;
    const double v = 2.0 * fmod(0.5 + 0.5698402910 * i, 1.0) - 1.0;
    const double ripple = 0.3 * sin(23.0 * u + phase) * sin(19.0 * v);
    lives(&l, u, v, -(u - 0.31) * (u - 0.31) - (v + 0.23) * (v + 0.23) + ripple);
  }
  if (!find(&l, many, UPPER, x)) /* then it would stay at the top */
    memcpy(x, l.history->trials[l.history->told[l.history->best]].x, sizeof x);
  end(&l);
  return hypot(x[0] - 0.31, x[1] + 0.23);
}

static void many_results_show_the_trend(void **state) {
  (void)state;
  double few = 0.0, many = 0.0;
  for (int i = 0; i < 12; i++) {
    few += miss(0.5 * i, false);
    many += miss(0.5 * i, true);
  }
  assert_true(many < 0.9 * few);
}

static void memory_that_fails_is_said(void **state) {
  (void)state;
  life l = begin();
  cb_descent *s = NULL;
  cocabo_status status = COCABO_E_NO_MEMORY;
  bool found;
  double x[2];
  wander(&l, 40, 0.1, -0.2, 0.7, 1.0, 0.0);
  for (long k = 0; status == COCABO_E_NO_MEMORY; k++) {
    cb_mem_fail_after(k);
    status = cb_descent_new(&s, l.space, &err);
    if (status == COCABO_OK)
      status = cb_descent_find(s, l.history, l.history->best, LEVEL_SCALES, false,
                               LOWER, UPPER, x, &found, &err);
    cb_mem_fail_after(-1);
    cb_descent_free(s);
    s = NULL;
  }
  assert_ok(status);
  end(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_end_of_a_valley_is_found),
      cmocka_unit_test(it_stays_in_the_box),
      cmocka_unit_test(few_results_have_no_parabola),
      cmocka_unit_test(where_nothing_is_promised_nothing_is_found),
      cmocka_unit_test(units_of_the_value_do_not_matter),
      cmocka_unit_test(bad_results_count_less),
      cmocka_unit_test(many_results_show_the_trend),
      cmocka_unit_test(memory_that_fails_is_said),
  };
  return cmocka_run_group_tests_name("sampler/descent", tests, NULL, NULL);
}
