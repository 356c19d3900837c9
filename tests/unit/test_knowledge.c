/* The expected maximum of lines at a normal number against quadrature in many digits
 * (oracle/knowledge.h), and what another observation of a point is worth. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "oracle/knowledge.h"
#include "search/knowledge.h"

enum { N_ORACLES = sizeof knowledge_oracles / sizeof knowledge_oracles[0] };

static void the_gain_agrees_with_quadrature(void **state) {
  (void)state;
  for (int t = 0; t < N_ORACLES; t++) {
    const struct knowledge_oracle *o = &knowledge_oracles[t];
    assert_close(cb_knowledge_gain(o->n, o->a, o->b), o->gain, 1e-14);
    if (o->gain > 1e-30)
      assert_relative(cb_knowledge_gain(o->n, o->a, o->b), o->gain, 1e-10);
  }
}

/* In any order of the lines, upside down in b, and moved as a whole. */
static void the_order_of_the_lines_does_not_matter(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(17, CB_RNG_BENCH, 4);
  for (int t = 0; t < N_ORACLES; t++) {
    const struct knowledge_oracle *o = &knowledge_oracles[t];
    for (int repeat = 0; repeat < 20; repeat++) {
      int order[CB_KNOWLEDGE_MOST];
      double a[CB_KNOWLEDGE_MOST], b[CB_KNOWLEDGE_MOST];
      for (int i = 0; i < o->n; i++)
        order[i] = i;
      cb_rng_shuffle(&rng, o->n, order);
      for (int i = 0; i < o->n; i++) {
        a[i] = o->a[order[i]] + 0.83;
        b[i] = (repeat % 2 ? -1.0 : 1.0) * o->b[order[i]];
      }
      assert_close(cb_knowledge_gain(o->n, a, b), o->gain, 1e-14);
    }
  }
}

/* By drawing what is observed: means move by C_ij / (C_jj + noise) times the surprise.
 */
static void a_point_is_worth_what_sampling_says(void **state) {
  (void)state;
  enum { N = 3, DRAWS = 400000 };
  const double mean[N] = {0.31, 0.27, -0.12}, noise = 0.23;
  const double covariance[N * N] = {0.41, 0.13,  -0.05, 0.13, 0.29,
                                    0.07, -0.05, 0.07,  0.53};
  for (int j = 0; j < N; j++) {
    cb_rng rng = cb_rng_make(23, CB_RNG_BENCH, (uint64_t)j);
    const double total = covariance[j + j * N] + noise;
    double sum = 0.0;
    for (int draw = 0; draw < DRAWS; draw++) {
      const double surprise = sqrt(total) * cb_rng_normal(&rng);
      double best = -INFINITY;
      for (int i = 0; i < N; i++)
        best = fmax(best, mean[i] + covariance[i + j * N] / total * surprise);
      sum += best - mean[0];
    }
    assert_close(cb_knowledge_of_point(N, mean, covariance, j, noise), sum / DRAWS,
                 2e-3);
  }
}

/* Where nothing can change the choice nothing is gained, and never less than that. */
static void more_noise_is_worth_less(void **state) {
  (void)state;
  const double mean[2] = {0.43, 0.38}, covariance[4] = {0.17, 0.02, 0.02, 0.31};
  const double certain[4] = {0};
  double before = INFINITY, noise = 1e-6;
  for (int i = 0; i < 13; i++) {
    const double gain = cb_knowledge_of_point(2, mean, covariance, 1, noise);
    assert_true(gain >= 0.0 && gain < before);
    before = gain;
    noise *= 3.7;
  }
  assert_true(cb_knowledge_of_point(2, mean, certain, 0, 0.1) == 0.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_gain_agrees_with_quadrature),
      cmocka_unit_test(the_order_of_the_lines_does_not_matter),
      cmocka_unit_test(a_point_is_worth_what_sampling_says),
      cmocka_unit_test(more_noise_is_worth_less),
  };
  return cmocka_run_group_tests_name("search/knowledge", tests, NULL, NULL);
}
