/* Importance on functions whose shares are known, on degenerate data, and twice. */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "plot/importance.h"

enum { MOST_D = 8, MOST_N = 4000 };

/* The data of a test: random points of a space, and values of a function. */
typedef struct sample {
  size_t d, n;
  size_t choices[MOST_D];
  double points[MOST_D * MOST_N], values[MOST_N];
  double share[MOST_D], explained;
  uint64_t random;
} sample;

static double uniform(uint64_t *random) {
  *random = *random * 6364136223846793005u + 1442695040888963407u;
  return (double)(*random >> 11) * 0x1p-53;
}

/* About normal: the sum of twelve. */
static double noise(uint64_t *random) {
  double sum = -6.0;
  for (int k = 0; k < 12; k++)
    sum += uniform(random);
  return sum;
}

static double *point(sample *s, size_t i) {
  return s->points + i * s->d;
}

/* 0 in `choices` is a number. */
static sample *draw(size_t n, size_t d, const size_t *choices, uint64_t seed) {
  sample *s = calloc(1, sizeof *s);
  assert_non_null(s);
  s->n = n;
  s->d = d;
  s->random = seed;
  memcpy(s->choices, choices, d * sizeof *choices);
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < d; j++) {
      const double u = uniform(&s->random);
      point(s, i)[j] = choices[j] > 0 ? floor(u * (double)choices[j]) : u;
    }
  return s;
}

static cocabo_status compute(sample *s, cocabo_error *err) {
  const importance_data data = {s->d, s->n, s->choices, s->points, s->values};
  return importance_compute(&data, s->share, &s->explained, err);
}

static void assert_shares(sample *s, const double *want, double tolerance) {
  cocabo_error err;
  double sum = 0.0;
  assert_ok(compute(s, &err));
  for (size_t j = 0; j < s->d; j++) {
    assert_true(s->share[j] >= 0.0);
    sum += s->share[j];
    if (!(fabs(s->share[j] - want[j]) <= tolerance))
      fail_msg("share %zu is %.3f, want %.3f", j, s->share[j], want[j]);
  }
  assert_close(sum, 1.0, 1e-12);
}

/* ---- known shares --------------------------------------------------------------- */

static const size_t mixed_space[] = {0, 0, 5, 3};

static void fill_linear(sample *s) {
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = 10.0 * point(s, i)[0] + point(s, i)[1];
}

static void coefficients_count_by_their_squares(void **state) {
  (void)state;
  sample *s = draw(150, 4, mixed_space, 1);
  fill_linear(s);
  assert_shares(s, (double[]){0.99, 0.01, 0.0, 0.0}, 0.02);
  assert_true(s->explained > 0.9);
  free(s);
}

static void noise_lowers_what_is_explained(void **state) {
  (void)state;
  sample *s = draw(300, 4, mixed_space, 2);
  fill_linear(s);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] += 3.0 * noise(&s->random);
  assert_shares(s, (double[]){0.99, 0.01, 0.0, 0.0}, 0.1);
  assert_true(s->explained > 0.2 && s->explained < 0.6);
  free(s);
}

static void a_choice_can_matter_most(void **state) {
  (void)state;
  static const double effect[] = {0.0, 0.3, 0.9, 2.0}; /* variance 0.585 */
  sample *s = draw(200, 3, (size_t[]){0, 4, 50}, 3);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = point(s, i)[0] + effect[(size_t)point(s, i)[1]];
  assert_shares(s, (double[]){0.125, 0.875, 0.0}, 0.03);
  free(s);
}

/* Neither has an effect of its own: half of the variance each. */
static void interactions_are_shared(void **state) {
  (void)state;
  sample *s = draw(300, 4, (size_t[]){0, 0, 2, 3}, 4);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = point(s, i)[2] > 0.0 ? point(s, i)[0] : 1.0 - point(s, i)[0];
  assert_shares(s, (double[]){0.5, 0.0, 0.5, 0.0}, 0.05);
  free(s);
}

/* An optimiser's trials: a few anywhere, most around the optimum with the choice that
 * came first. Only the number matters, and the choice shall not be taken for it. */
static void crowded_trials_do_not_make_a_choice_important(void **state) {
  (void)state;
  sample *s = draw(200, 2, (size_t[]){0, 3}, 5);
  for (size_t i = 40; i < s->n; i++) {
    point(s, i)[0] = 0.3 + 0.02 * noise(&s->random);
    point(s, i)[1] = 1.0;
  }
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = pow(point(s, i)[0] - 0.3, 2.0);
  assert_shares(s, (double[]){1.0, 0.0}, 0.1);
  free(s);
}

static void outliers_do_not_decide(void **state) {
  (void)state;
  const double bad[] = {1e9, 1e300, 1.7e308, -1.7e308};
  sample *s = draw(200, 4, mixed_space, 6);
  fill_linear(s);
  for (size_t i = 0; i < 4; i++)
    s->values[50 * i + 7] = bad[i];
  assert_shares(s, (double[]){0.99, 0.01, 0.0, 0.0}, 0.05);
  free(s);
}

/* ---- promises ------------------------------------------------------------------- */

static void noise_explains_nothing(void **state) {
  (void)state;
  cocabo_error err;
  sample *s = draw(150, 4, (size_t[]){0, 0, 5, 200}, 7);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = noise(&s->random);
  assert_ok(compute(s, &err));
  assert_true(s->explained < 0.1);
  free(s);
}

static void direction_and_unit_do_not_matter(void **state) {
  (void)state;
  cocabo_error err;
  sample *s = draw(100, 4, mixed_space, 8), *t = draw(100, 4, mixed_space, 8);
  fill_linear(s);
  for (size_t i = 0; i < s->n; i++)
    t->values[i] = -4.0 * s->values[i] + 17.0;
  assert_ok(compute(s, &err));
  assert_ok(compute(t, &err));
  for (size_t j = 0; j < s->d; j++)
    assert_close(s->share[j], t->share[j], 0.02);
  free(s);
  free(t);
}

static void the_same_trials_give_the_same_bits(void **state) {
  (void)state;
  cocabo_error err;
  sample *s = draw(120, 4, mixed_space, 9);
  double before[MOST_D];
  fill_linear(s);
  assert_ok(compute(s, &err));
  memcpy(before, s->share, sizeof before);
  assert_ok(compute(s, &err));
  assert_memory_equal(before, s->share, s->d * sizeof *before);
  free(s);
}

static void many_trials_are_thinned_out(void **state) {
  (void)state;
  sample *s = draw(MOST_N, 4, mixed_space, 10);
  fill_linear(s);
  assert_shares(s, (double[]){0.99, 0.01, 0.0, 0.0}, 0.02);
  free(s);
}

/* ---- nothing to share out ------------------------------------------------------- */

static void too_few_trials_are_said(void **state) {
  (void)state;
  cocabo_error err;
  sample *s = draw(3, 4, mixed_space, 11);
  fill_linear(s);
  assert_fails(compute(s, &err), COCABO_E_STATE,
               "importance needs 4 complete trials, and there are 3");
  s->n = 1;
  assert_fails(compute(s, &err), COCABO_E_STATE,
               "importance needs 4 complete trials, and there is 1");
  s->n = 0;
  assert_fails(compute(s, &err), COCABO_E_STATE,
               "importance needs 4 complete trials, and there are 0");
  free(s);
}

static void equal_values_are_said(void **state) {
  (void)state;
  cocabo_error err;
  sample *s = draw(20, 4, mixed_space, 12);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = 0.7;
  assert_fails(compute(s, &err), COCABO_E_STATE,
               "all 20 values are equal, so no parameter has a share");
  free(s);
}

static void constant_parameters_are_said(void **state) {
  (void)state;
  cocabo_error err;
  sample *s = draw(20, 2, (size_t[]){0, 1}, 13);
  for (size_t i = 0; i < s->n; i++) {
    point(s, i)[0] = 0.5;
    s->values[i] = (double)i;
  }
  assert_fails(compute(s, &err), COCABO_E_STATE,
               "no parameter varies with the values, so none has a share");
  free(s);
}

static void few_trials_and_two_values_are_enough(void **state) {
  (void)state;
  cocabo_error err;
  sample *s = draw(4, 1, (size_t[]){0}, 14);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = (point(s, i)[0] = 0.1 + 0.25 * (double)i) > 0.5;
  assert_ok(compute(s, &err));
  assert_close(s->share[0], 1.0, 1e-12);
  free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coefficients_count_by_their_squares),
      cmocka_unit_test(noise_lowers_what_is_explained),
      cmocka_unit_test(a_choice_can_matter_most),
      cmocka_unit_test(interactions_are_shared),
      cmocka_unit_test(crowded_trials_do_not_make_a_choice_important),
      cmocka_unit_test(outliers_do_not_decide),
      cmocka_unit_test(noise_explains_nothing),
      cmocka_unit_test(direction_and_unit_do_not_matter),
      cmocka_unit_test(the_same_trials_give_the_same_bits),
      cmocka_unit_test(many_trials_are_thinned_out),
      cmocka_unit_test(too_few_trials_are_said),
      cmocka_unit_test(equal_values_are_said),
      cmocka_unit_test(constant_parameters_are_said),
      cmocka_unit_test(few_trials_and_two_values_are_enough),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
