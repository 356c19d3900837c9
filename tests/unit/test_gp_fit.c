#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "model/gp_fit.h"

static cocabo_error err;

enum { N = 60, D = 1, C = 2 };

/* A wave along x whose height depends on a category: coupled, so lambda matters. */
static void sample_data(double *x, int32_t *h, double *y) {
  cb_rng rng = cb_rng_make(17, CB_RNG_BENCH, 2);
  for (int i = 0; i < N; i++) {
    x[i] = 2.0 * cb_rng_uniform(&rng) - 1.0;
    h[2 * i] = (int32_t)cb_rng_below(&rng, 3);
    h[2 * i + 1] = (int32_t)cb_rng_below(&rng, 2);
    y[i] = (1.0 + h[2 * i]) * sin(3.0 * x[i]) + 0.05 * cb_rng_normal(&rng);
  }
}

static void fitting_finds_the_maximum_that_a_grid_finds(void **state) {
  (void)state;
  const cb_kernel_spec spec = {.d = D, .c = C, .half = true, .learn_lambda = true};
  double x[N], y[N], theta[3], value;
  int32_t h[C * N];
  sample_data(x, h, y);
  cb_likelihood *l;
  assert_ok(cb_likelihood_new(&l, &spec, N, x, h, &err));
  cb_likelihood_set_y(l, y);
  cb_theta_box box;
  cb_theta_paper(&spec, &box);
  memcpy(theta, box.start, sizeof theta);
  const double before = cb_likelihood_value(l, theta, NULL);
  cb_rng rng = cb_rng_make(1, CB_RNG_FIT, 0);
  assert_ok(cb_gp_fit(l, &spec, &box,
                      &(cb_fit_plan){.restarts = 5, .max_evaluations = 80}, &rng, theta,
                      &value, &err));
  assert_true(value > before + 5.0);
  assert_close(cb_likelihood_value(l, theta, NULL), value, 1e-12);
  for (int i = 0; i < 3; i++)
    assert_true(theta[i] >= box.lower[i] && theta[i] <= box.upper[i]);

  enum { G = 14 };
  for (int a = 0; a <= G; a++)
    for (int b = 0; b <= G; b++)
      for (int c = 0; c <= G; c++) {
        const int step[] = {a, b, c};
        double t[3];
        for (int i = 0; i < 3; i++)
          t[i] = box.lower[i] + (box.upper[i] - box.lower[i]) * step[i] / G;
        assert_true(cb_likelihood_value(l, t, NULL) <= value + 1e-6);
      }
  cb_likelihood_free(l);
}

static void the_same_stream_gives_the_same_bits(void **state) {
  (void)state;
  const cb_kernel_spec spec = {
      .d = D, .c = C, .half = true, .lambda = 0.5, .ard = true};
  double x[N], y[N], theta[2][2];
  int32_t h[C * N];
  sample_data(x, h, y);
  cb_theta_box box;
  cb_theta_paper(&spec, &box);
  for (int run = 0; run < 2; run++) {
    cb_likelihood *l;
    assert_ok(cb_likelihood_new(&l, &spec, N, x, h, &err));
    cb_likelihood_set_y(l, y);
    memcpy(theta[run], box.start, sizeof theta[run]);
    cb_rng rng = cb_rng_make(4, CB_RNG_FIT, 7);
    assert_ok(cb_gp_fit(l, &spec, &box,
                        &(cb_fit_plan){.restarts = 3, .max_evaluations = 50}, &rng,
                        theta[run], NULL, &err));
    cb_likelihood_free(l);
  }
  assert_memory_equal(theta[0], theta[1], sizeof theta[0]);
}

static void poisoned_data_is_a_numeric_failure_and_leaves_theta(void **state) {
  (void)state;
  const cb_kernel_spec spec = {.d = D, .c = C, .half = true, .lambda = 0.5};
  double x[N], y[N];
  int32_t h[C * N];
  sample_data(x, h, y);
  x[3] = nan("");
  cb_theta_box box;
  cb_theta_paper(&spec, &box);
  double theta[2] = {box.start[0], box.start[1]};
  cb_likelihood *l;
  assert_ok(cb_likelihood_new(&l, &spec, N, x, h, &err));
  cb_likelihood_set_y(l, y);
  cb_rng rng = cb_rng_make(4, CB_RNG_FIT, 7);
  assert_fails(
      cb_gp_fit(l, &spec, &box, &(cb_fit_plan){.restarts = 1, .max_evaluations = 20},
                &rng, theta, NULL, &err),
      COCABO_E_NUMERIC, "no hyper-parameters give a covariance that can be factored");
  assert_memory_equal(theta, box.start, sizeof theta);
  cb_likelihood_free(l);
}

static void out_of_memory_is_an_error_not_a_crash(void **state) {
  (void)state;
  const cb_kernel_spec spec = {.d = D, .c = C, .half = true, .lambda = 0.5};
  double x[N], y[N], theta[2] = {-1.0, -3.0};
  int32_t h[C * N];
  sample_data(x, h, y);
  cb_likelihood *l;
  cb_theta_box box;
  cb_theta_paper(&spec, &box);
  cb_mem_fail_after(0);
  assert_int_equal(cb_likelihood_new(&l, &spec, N, x, h, &err), COCABO_E_NO_MEMORY);
  assert_null(l);
  assert_ok(cb_likelihood_new(&l, &spec, N, x, h, &err));
  cb_likelihood_set_y(l, y);
  cb_rng rng = cb_rng_make(4, CB_RNG_FIT, 7);
  cb_mem_fail_after(0);
  assert_int_equal(cb_gp_fit(l, &spec, &box,
                             &(cb_fit_plan){.restarts = 1, .max_evaluations = 20}, &rng,
                             theta, NULL, &err),
                   COCABO_E_NO_MEMORY);
  cb_likelihood_free(l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fitting_finds_the_maximum_that_a_grid_finds),
      cmocka_unit_test(the_same_stream_gives_the_same_bits),
      cmocka_unit_test(poisoned_data_is_a_numeric_failure_and_leaves_theta),
      cmocka_unit_test(out_of_memory_is_an_error_not_a_crash),
  };
  return cmocka_run_group_tests_name("model/gp_fit", tests, NULL, NULL);
}
