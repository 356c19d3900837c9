/* Importance on functions whose shares are known, on degenerate data, and twice; then
 * the public call on studies. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "model/importance.h"

enum { MOST_D = 8, MOST_N = 400 };

static cocabo_error err;

/* The data of a test: random points of a space, and values of a function. */
typedef struct sample {
  size_t d, n;
  size_t choices[MOST_D];
  double points[MOST_D * MOST_N], values[MOST_N];
  double share[MOST_D], se[MOST_D], explained;
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

/* Numbers go to x and choices to h, and the shares come back in the order of the space.
 */
static cocabo_status compute(sample *s) {
  enum { WALKS = 2048 };
  static double x[MOST_D * MOST_N], ends_x[MOST_D * 2 * WALKS], share[MOST_D],
      se[MOST_D];
  static int32_t h[MOST_D * MOST_N], ends_h[MOST_D * 2 * WALKS];
  cb_rng rng = cb_rng_make(1, CB_RNG_SHARES, 0);
  cb_importance_data data = {.n = (int)s->n, .walks = cb_importance_walks((int)s->d)};
  size_t slot[MOST_D];
  int32_t arms[MOST_D];
  for (size_t j = 0; j < s->d; j++) {
    slot[j] = (size_t)(s->choices[j] > 0 ? data.c++ : data.d++);
    if (s->choices[j] > 0)
      arms[slot[j]] = (int32_t)s->choices[j];
  }
  const size_t d = (size_t)data.d, c = (size_t)data.c;
  for (size_t j = 0; j < s->d; j++) {
    for (size_t i = 0; i < s->n; i++)
      if (s->choices[j] > 0)
        h[i * c + slot[j]] = (int32_t)point(s, i)[j];
      else
        x[i * d + slot[j]] = 2.0 * point(s, i)[j] - 1.0;
    for (size_t k = 0; k < 2 * (size_t)data.walks; k++)
      if (s->choices[j] > 0)
        ends_h[k * c + slot[j]] = (int32_t)cb_rng_below(&rng, (uint32_t)s->choices[j]);
      else
        ends_x[k * d + slot[j]] = 2.0 * cb_rng_uniform(&rng) - 1.0;
  }
  data.arms = arms;
  data.x = x;
  data.h = h;
  data.y = s->values;
  data.ends_x = ends_x;
  data.ends_h = ends_h;
  const cocabo_status status =
      cb_importance(&data, &rng, share, se, &s->explained, &err);
  for (size_t j = 0; j < s->d && status == COCABO_OK; j++) {
    const size_t at = s->choices[j] > 0 ? d + slot[j] : slot[j];
    s->share[j] = share[at];
    s->se[j] = se[at];
  }
  return status;
}

static void assert_shares(sample *s, const double *want, double tolerance) {
  double sum = 0.0;
  assert_ok(compute(s));
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
  assert_shares(s, (double[]){1.0, 0.0}, 0.01);
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
  sample *s = draw(150, 4, (size_t[]){0, 0, 5, 200}, 7);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = noise(&s->random);
  assert_ok(compute(s));
  assert_true(s->explained < 0.1);
  free(s);
}

static void direction_and_unit_do_not_matter(void **state) {
  (void)state;
  sample *s = draw(100, 4, mixed_space, 8), *t = draw(100, 4, mixed_space, 8);
  fill_linear(s);
  for (size_t i = 0; i < s->n; i++)
    t->values[i] = -4.0 * s->values[i] + 17.0;
  assert_ok(compute(s));
  assert_ok(compute(t));
  for (size_t j = 0; j < s->d; j++)
    assert_close(s->share[j], t->share[j], 0.02);
  free(s);
  free(t);
}

static void the_same_trials_give_the_same_bits(void **state) {
  (void)state;
  sample *s = draw(120, 4, mixed_space, 9);
  double before[MOST_D], errors[MOST_D];
  fill_linear(s);
  assert_ok(compute(s));
  memcpy(before, s->share, sizeof before);
  memcpy(errors, s->se, sizeof errors);
  assert_ok(compute(s));
  assert_memory_equal(before, s->share, s->d * sizeof *before);
  assert_memory_equal(errors, s->se, s->d * sizeof *errors);
  free(s);
}

/* ---- errors ---------------------------------------------------------------------- */

typedef void (*fill)(sample *s);

static void fill_noisy(sample *s) {
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = 3.0 * point(s, i)[0] + 2.0 * point(s, i)[1] + noise(&s->random);
}

static void fill_choice(sample *s) {
  static const double effect[] = {0.0, 0.3, 0.9};
  for (size_t i = 0; i < s->n; i++)
    s->values[i] =
        point(s, i)[0] + effect[(size_t)point(s, i)[3]] + 0.3 * noise(&s->random);
}

static void fill_interaction(sample *s) {
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = (point(s, i)[0] - 0.5) * (point(s, i)[1] - 0.5);
}

/* The variance of 3x + 2y is 9/12 + 4/12, that of the choice's effect 0.14. */
static const struct {
  fill fill;
  double want[4];
} known[] = {{fill_noisy, {9.0 / 13.0, 4.0 / 13.0, 0.0, 0.0}},
             {fill_choice, {0.373, 0.0, 0.0, 0.627}},
             {fill_interaction, {0.5, 0.5, 0.0, 0.0}}};

/* Over many samples: how often a share is within so many errors, and the means of the
 * squares of errors and of what the shares are really off by. */
typedef struct {
  double within[3], error, off;
} record;

static void judge(size_t function, size_t n, uint64_t seed, double weight, record *r) {
  sample *s = draw(n, 4, mixed_space, 1000 + 7 * seed);
  known[function].fill(s);
  assert_ok(compute(s));
  for (int j = 0; j < 4; j++) {
    const double off = s->share[j] - known[function].want[j];
    assert_true(s->se[j] >= 0.0 && s->se[j] <= 1.0);
    for (int k = 1; k < 3; k++)
      r->within[k] += weight / 4.0 * (fabs(off) <= k * s->se[j]);
    r->error += weight / 4.0 * s->se[j] * s->se[j];
    r->off += weight / 4.0 * off * off;
  }
  free(s);
}

static void shares_are_off_by_about_their_errors(void **state) {
  (void)state;
  enum { RUNS = 8 };
  record all = {0};
  for (size_t f = 0; f < 3; f++)
    for (size_t n = 30; n <= 120; n += 90)
      for (uint64_t seed = 0; seed < RUNS; seed++)
        judge(f, n, seed, 1.0 / (3 * 2 * RUNS), &all);
  print_message("within 1 error %.2f, 2 errors %.2f; errors of %.3f, off by %.3f\n",
                all.within[1], all.within[2], sqrt(all.error), sqrt(all.off));
  assert_true(all.within[1] > 0.55 && all.within[1] < 0.9);
  assert_true(all.within[2] > 0.85);
  assert_true(all.error > 0.7 * all.off && all.error < 2.5 * all.off);
}

static void more_trials_make_errors_smaller(void **state) {
  (void)state;
  double before = INFINITY;
  for (size_t n = 20; n <= 320; n *= 4) {
    record r = {0};
    for (uint64_t seed = 0; seed < 4; seed++)
      judge(0, n, 50 + seed, 0.25, &r);
    assert_true(sqrt(r.error) < 0.7 * before);
    before = sqrt(r.error);
  }
}

/* All of the variance belongs to the only parameter, whatever the trials. */
static void what_cannot_be_otherwise_has_no_error(void **state) {
  (void)state;
  sample *s = draw(30, 1, (size_t[]){0}, 21);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = point(s, i)[0] + noise(&s->random);
  assert_ok(compute(s));
  assert_close(s->se[0], 0.0, 1e-12);
  free(s);
}

/* ---- nothing to share out ------------------------------------------------------- */

static void too_few_trials_are_said(void **state) {
  (void)state;
  sample *s = draw(3, 4, mixed_space, 11);
  fill_linear(s);
  assert_fails(compute(s), COCABO_E_STATE,
               "importance needs 4 complete trials, and there are 3");
  s->n = 1;
  assert_fails(compute(s), COCABO_E_STATE,
               "importance needs 4 complete trials, and there is 1");
  s->n = 0;
  assert_fails(compute(s), COCABO_E_STATE,
               "importance needs 4 complete trials, and there are 0");
  free(s);
}

static void equal_values_are_said(void **state) {
  (void)state;
  sample *s = draw(20, 4, mixed_space, 12);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = 0.7;
  assert_fails(compute(s), COCABO_E_STATE,
               "all values are equal, so no parameter has a share");
  free(s);
}

static void constant_parameters_are_said(void **state) {
  (void)state;
  sample *s = draw(20, 2, (size_t[]){0, 1}, 13);
  for (size_t i = 0; i < s->n; i++) {
    point(s, i)[0] = 0.5;
    s->values[i] = (double)i;
  }
  assert_fails(compute(s), COCABO_E_STATE,
               "no parameter varies with the values, so none has a share");
  free(s);
}

static void few_trials_and_two_values_are_enough(void **state) {
  (void)state;
  sample *s = draw(4, 1, (size_t[]){0}, 14);
  for (size_t i = 0; i < s->n; i++)
    s->values[i] = (point(s, i)[0] = 0.1 + 0.25 * (double)i) > 0.5;
  assert_ok(compute(s));
  assert_close(s->share[0], 1.0, 1e-12);
  free(s);
}

/* ---- studies --------------------------------------------------------------------- */

/* A choice before and after a log scale of whole numbers: x and h are in another order.
 * Only the numbers and the last choice matter. */
static cocabo_study *new_study(const char *direction) {
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(space, "idle", "choice(a,b,c)", &err));
  assert_ok(cocabo_space_add(space, "width", "int(1,1000,log)", &err));
  assert_ok(cocabo_space_add(space, "kind", "choice(a,b,c,d)", &err));
  assert_ok(cocabo_space_add(space, "size", "ordinal(small,medium,large)", &err));
  assert_ok(cocabo_options_set(options, "sampler", "random", &err));
  assert_ok(cocabo_options_set(options, "direction", direction, &err));
  assert_ok(cocabo_study_create(&study, "s", space, options, NULL, &err));
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

/* The variance of the logarithm is 4.65, that of the choice's effect 1.25 * 1.5^2 =
 * 2.81: shares 0.623 and 0.377. Every tenth trial fails and has no result. */
static void run_study(cocabo_study *study, int n, double sign) {
  for (int i = 0; i < n; i++) {
    cocabo_trial *trial;
    cocabo_value kind;
    int64_t width;
    assert_ok(cocabo_study_ask(study, 1, &trial, &err));
    assert_ok(cocabo_trial_get_int(trial, "width", &width, &err));
    assert_ok(cocabo_trial_get_choice(trial, "kind", &kind, &err));
    const double value = log((double)width) + 1.5 * (kind.as.text[0] - 'a');
    if (i % 10 == 9)
      assert_ok(cocabo_study_fail(study, cocabo_trial_number(trial), "no", &err));
    else
      assert_ok(
          cocabo_study_tell(study, cocabo_trial_number(trial), sign * value, &err));
    cocabo_trial_free(trial);
  }
}

static void a_study_has_the_shares_of_its_parameters(void **state) {
  (void)state;
  static const double want[] = {0.0, 0.62, 0.38, 0.0};
  double share[4], plain[4], se[4], other[4], explained, sum = 0.0;
  cocabo_study *study = new_study("minimize"), *mirror = new_study("maximize");
  run_study(study, 300, 1.0);
  run_study(mirror, 300, -1.0);
  assert_ok(cocabo_study_importance(study, 4, share, se, &explained, &err));
  assert_ok(cocabo_study_importance(study, 4, plain, NULL, NULL, &err));
  assert_memory_equal(share, plain, sizeof share);
  for (int i = 0; i < 4; i++) {
    assert_true(se[i] > 0.0 && se[i] < 0.1);
    if (!(fabs(share[i] - want[i]) <= 0.06))
      fail_msg("share %d is %.3f, want %.3f", i, share[i], want[i]);
    sum += share[i];
  }
  assert_close(sum, 1.0, 1e-12);
  assert_true(explained > 0.8 && explained <= 1.0);
  assert_ok(cocabo_study_importance(mirror, 4, other, NULL, NULL, &err));
  assert_memory_equal(share, other, sizeof share); /* y is maximised in both */
  cocabo_study_free(study);
  cocabo_study_free(mirror);
}

static void many_trials_are_thinned_out(void **state) {
  (void)state;
  static const double want[] = {0.0, 0.62, 0.38, 0.0};
  double share[4];
  cocabo_study *study = new_study("minimize");
  run_study(study, 3000, 1.0);
  assert_ok(cocabo_study_importance(study, 4, share, NULL, NULL, &err));
  for (int i = 0; i < 4; i++)
    assert_close(share[i], want[i], 0.03);
  cocabo_study_free(study);
}

static void what_a_study_lacks_is_said(void **state) {
  (void)state;
  double share[5] = {-1.0}, se[5] = {-1.0}, explained = -1.0;
  cocabo_study *study = new_study("minimize");
  assert_fails(cocabo_study_importance(study, 4, share, se, &explained, &err),
               COCABO_E_STATE, "importance needs 4 complete trials, and there are 0");
  run_study(study, 3, 1.0);
  assert_fails(cocabo_study_importance(study, 4, share, se, &explained, &err),
               COCABO_E_STATE, "importance needs 4 complete trials, and there are 3");
  assert_true(share[0] == -1.0 && se[0] == -1.0 && explained == -1.0);
  assert_fails(cocabo_study_importance(study, 3, share, se, &explained, &err),
               COCABO_E_INVALID, "n is 3, want the number of parameters, 4");
  assert_fails(cocabo_study_importance(study, 5, share, se, &explained, &err),
               COCABO_E_INVALID, "n is 5, want the number of parameters, 4");
  assert_fails(cocabo_study_importance(study, 4, NULL, NULL, &explained, &err),
               COCABO_E_INVALID, "share is NULL");
  assert_fails(cocabo_study_importance(NULL, 4, share, se, &explained, &err),
               COCABO_E_INVALID, "study is NULL");
  cocabo_study_free(study);
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
      cmocka_unit_test(shares_are_off_by_about_their_errors),
      cmocka_unit_test(more_trials_make_errors_smaller),
      cmocka_unit_test(what_cannot_be_otherwise_has_no_error),
      cmocka_unit_test(too_few_trials_are_said),
      cmocka_unit_test(equal_values_are_said),
      cmocka_unit_test(constant_parameters_are_said),
      cmocka_unit_test(few_trials_and_two_values_are_enough),
      cmocka_unit_test(a_study_has_the_shares_of_its_parameters),
      cmocka_unit_test(many_trials_are_thinned_out),
      cmocka_unit_test(what_a_study_lacks_is_said),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
