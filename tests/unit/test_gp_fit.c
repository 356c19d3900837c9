/* Fits against a grid, and what interrupts, faults and poison do to them. The program
 * is linked with --wrap=cb_likelihood_value, so that evaluations can be counted. */
#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "model/gp_fit.h"

static cocabo_error err;

static int evaluations, evaluated_after_the_flag;
static bool flag;

double __real_cb_likelihood_value(cb_likelihood *l, const double *theta, double *g);
double __wrap_cb_likelihood_value(cb_likelihood *l, const double *theta, double *g);
double __wrap_cb_likelihood_value(cb_likelihood *l, const double *theta, double *g) {
  evaluations++;
  evaluated_after_the_flag += flag;
  return __real_cb_likelihood_value(l, theta, g);
}

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

/* Nats that nobody would notice are not worth a likelihood each. */
static void a_fit_ends_where_it_gains_too_little(void **state) {
  (void)state;
  const cb_kernel_spec spec = {.d = D, .c = C, .form = CB_FREE, .ard = true};
  const double gains[] = {0.0, 1e-3, 1e9};
  double x[N], y[N], value[3], theta[CB_MAX_THETA];
  int32_t h[C * N];
  int calls[3];
  sample_data(x, h, y);
  cb_likelihood *l;
  cb_theta_box box;
  cb_theta_free(&spec, false, &box);
  assert_ok(cb_likelihood_new(&l, &spec, N, x, h, &err));
  cb_likelihood_set_y(l, y);
  for (int k = 0; k < 3; k++) {
    const cb_fit_plan plan = {.max_evaluations = 200, .least_gain = gains[k]};
    cb_rng rng = cb_rng_make(4, CB_RNG_FIT, 7);
    memcpy(theta, box.start, sizeof theta);
    evaluations = 0;
    assert_ok(cb_gp_fit(l, &spec, &box, &plan, &rng, theta, &value[k], &err));
    calls[k] = evaluations;
  }
  assert_true(calls[1] < calls[0] && calls[2] < calls[1] && calls[2] <= 5);
  assert_true(value[1] <= value[0] && value[1] > value[0] - 0.05);
  assert_true(value[2] < value[1]);
  cb_likelihood_free(l);
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

/* The user's flag goes up while the third evaluation is running. */
static int raised(void *user) {
  (void)user;
  flag = flag || evaluations >= 3;
  return flag;
}

static void an_interrupt_ends_a_large_fit_at_once(void **state) {
  (void)state;
  enum { ROWS = 700, INPUTS = 4 };
  const cb_kernel_spec spec = {.d = INPUTS, .c = 1, .form = CB_FREE, .ard = true};
  static double x[INPUTS * ROWS], y[ROWS];
  static int32_t h[ROWS];
  cb_rng rng = cb_rng_make(23, CB_RNG_BENCH, 3);
  for (int i = 0; i < ROWS; i++) {
    h[i] = (int32_t)cb_rng_below(&rng, 3);
    y[i] = h[i];
    for (int j = 0; j < INPUTS; j++) {
      x[i * INPUTS + j] = 2.0 * cb_rng_uniform(&rng) - 1.0;
      y[i] += sin((j + 1) * x[i * INPUTS + j]);
    }
  }
  cb_theta_box box;
  double theta[CB_MAX_THETA];
  cb_likelihood *l;
  cb_theta_free(&spec, false, &box);
  memcpy(theta, box.start, sizeof theta);
  assert_ok(cb_likelihood_new(&l, &spec, ROWS, x, h, &err));
  cb_likelihood_set_y(l, y);
  evaluations = evaluated_after_the_flag = 0;
  const cb_fit_plan plan = {.restarts = 3, .max_evaluations = 60, .interrupt = raised};
  assert_fails(cb_gp_fit(l, &spec, &box, &plan, &rng, theta, NULL, &err),
               COCABO_E_INTERRUPTED, "the fit of the model was interrupted");
  assert_int_equal(evaluations, 3);
  assert_int_equal(evaluated_after_the_flag, 0);
  assert_memory_equal(theta, box.start, sizeof theta);
  cb_likelihood_free(l);
  flag = false;
}

/* Every sampler that fits hands the flag down; afterwards the study goes on. */
static void an_interrupt_reaches_the_fit_of_an_ask(void **state) {
  (void)state;
  const char *const samplers[] = {"mixed", "cocabo", "onehot", "exp3bo"};
  const cocabo_value choices[] = {{.type = COCABO_INT, .as.integer = 0},
                                  {.type = COCABO_INT, .as.integer = 1}};
  for (int k = 0; k < 4; k++) {
    cocabo_space *space = cocabo_space_new();
    cocabo_options *options = cocabo_options_new();
    cocabo_study *study;
    cocabo_trial *trial;
    assert_ok(cocabo_space_add_real(space, "x", -1, 1, 0, 0, &err));
    assert_ok(cocabo_space_add_choice(space, "c", choices, 2, 0, &err));
    assert_ok(cocabo_options_set(options, "sampler", samplers[k], &err));
    assert_ok(cocabo_options_set(options, "n_init", "12", &err));
    assert_ok(cocabo_options_set(options, "refit_every", "1", &err));
    assert_ok(cocabo_study_create(&study, "fit", space, options, NULL, &err));
    for (int i = 0; i < 13; i++) { /* with one proposal, where only a second one fits */
      assert_ok(cocabo_study_ask(study, 1, &trial, &err));
      assert_ok(
          cocabo_study_tell(study, cocabo_trial_number(trial), sin(1.7 * i), &err));
      cocabo_trial_free(trial);
    }
    evaluations = evaluated_after_the_flag = 0;
    cocabo_study_on_interrupt(study, raised, NULL);
    assert_fails(cocabo_study_ask(study, 1, &trial, &err), COCABO_E_INTERRUPTED,
                 "the fit of the model was interrupted");
    assert_int_equal(evaluations, 3);
    assert_int_equal(evaluated_after_the_flag, 0);
    cocabo_study_on_interrupt(study, NULL, NULL);
    flag = false;
    assert_ok(cocabo_study_ask(study, 1, &trial, &err));
    assert_true(evaluations > 3);
    cocabo_trial_free(trial);
    cocabo_study_free(study);
    cocabo_options_free(options);
    cocabo_space_free(space);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fitting_finds_the_maximum_that_a_grid_finds),
      cmocka_unit_test(the_same_stream_gives_the_same_bits),
      cmocka_unit_test(a_fit_ends_where_it_gains_too_little),
      cmocka_unit_test(poisoned_data_is_a_numeric_failure_and_leaves_theta),
      cmocka_unit_test(out_of_memory_is_an_error_not_a_crash),
      cmocka_unit_test(an_interrupt_ends_a_large_fit_at_once),
      cmocka_unit_test(an_interrupt_reaches_the_fit_of_an_ask),
  };
  return cmocka_run_group_tests_name("model/gp_fit", tests, NULL, NULL);
}
