/* One-hot BO: the model against scikit-learn with the blocks written out
 * (oracle/onehot.h; the kernel alone is in test_gp.c), and spaces with thousands of
 * inputs. What it shares with all samplers is tested in tests/contract. */
#include "check.h"

#include <string.h>

#include "base/rng.h"
#include "model/gp.h"
#include "model/gp_fit.h"
#include "oracle/onehot.h"
#include "study/study.h"

static cocabo_error err;
static const cb_kernel_spec spec = {.d = ONEHOT_D, .c = ONEHOT_C, .form = CB_ONEHOT};

static void learn(double *theta, double *likelihood) {
  cb_theta_box box;
  cb_likelihood *l;
  cb_rng rng = cb_rng_make(5, CB_RNG_FIT, 0);
  cb_theta_onehot(&spec, &box);
  memcpy(theta, box.start, (size_t)cb_theta_lay_out(&spec).count * sizeof *theta);
  assert_ok(cb_likelihood_new(&l, &spec, ONEHOT_TRAIN, onehot_x, onehot_h, &err));
  cb_likelihood_set_y(l, onehot_y);
  assert_ok(cb_gp_fit(l, &spec, &box,
                      &(cb_fit_plan){.restarts = 5, .max_evaluations = 200}, &rng,
                      theta, likelihood, &err));
  cb_likelihood_free(l);
}

static void fit_finds_what_scikit_learn_finds(void **state) {
  (void)state;
  double theta[3], likelihood;
  assert_int_equal(cb_theta_lay_out(&spec).count, 3);
  learn(theta, &likelihood);
  assert_close(likelihood, onehot_likelihood, 1e-7);
  for (int i = 0; i < 3; i++)
    assert_relative(exp(theta[i]), onehot_found[i], 2e-3);
}

/* What cocabo-bench surrogate sums up. */
static void predictive_density_is_scikit_learns(void **state) {
  (void)state;
  double theta[3], mean, scale, sum = 0.0;
  for (int i = 0; i < 3; i++)
    theta[i] = log(onehot_found[i]);
  cb_gp *gp;
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, theta);
  assert_ok(cb_gp_factor(gp, ONEHOT_TRAIN, onehot_x, onehot_h, &err));
  cb_gp_set_y(gp, onehot_y);
  cb_gp_scale(gp, &mean, &scale);
  for (int i = ONEHOT_TRAIN; i < ONEHOT_TRAIN + ONEHOT_TEST; i++) {
    double mu, sd;
    cb_gp_bind(gp, onehot_h + i * ONEHOT_C);
    cb_gp_predict(gp, 1, onehot_x + i * ONEHOT_D, NULL, &mu, &sd);
    const double var = sd * sd + cb_gp_noise(gp);
    const double gap = (onehot_y[i] - mean) / scale - mu;
    sum -= 0.5 * (log(2.0 * acos(-1.0) * var) + gap * gap / var);
  }
  assert_close(sum, onehot_density, 1e-9);
  cb_gp_free(gp);
}

static cocabo_study *make_study(int d, int c, int arms, const char *n_init) {
  static cocabo_value values[COCABO_MAX_CHOICES];
  cocabo_study *study;
  cocabo_space *space = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  char name[3] = "aa";
  for (int k = 0; k < arms; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = k};
  for (int j = 0; j < d; j++, name[1]++)
    assert_ok(cocabo_space_add_real(space, name, -1, 1, 0, 0, &err));
  for (int j = 0; j < c; j++, name[1]++)
    assert_ok(cocabo_space_add_choice(space, name, values, (size_t)arms, 0, &err));
  assert_ok(cocabo_options_set(o, "sampler", "onehot", &err));
  assert_ok(cocabo_options_set(o, "n_init", n_init, &err));
  assert_ok(cocabo_study_create(&study, "s", space, o, NULL, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

/* To be minimised; the optimum is 0 at x = 0.31 and h = 1. */
static double objective(const cocabo_study *study, int64_t number) {
  const cocabo_space *space = cb_study_history(study)->space;
  const cb_trial *t = &cb_study_history(study)->trials[number];
  double y = 0.0;
  for (int j = 0; j < space->d; j++)
    y += (t->x[j] - 0.31) * (t->x[j] - 0.31);
  for (int j = 0; j < space->c; j++)
    y += 0.4 * (t->h[j] != 1);
  return y;
}

static double best_of(cocabo_study *study, int n) {
  double best = INFINITY;
  for (int i = 0; i < n; i++) {
    cocabo_trial *t = NULL;
    assert_ok(cocabo_study_ask(study, 1, &t, &err));
    const double y = objective(study, cocabo_trial_number(t));
    assert_ok(cocabo_study_tell(study, cocabo_trial_number(t), y, &err));
    best = fmin(best, y);
    cocabo_trial_free(t);
  }
  return best;
}

static void the_optimum_is_found(void **state) {
  (void)state;
  cocabo_study *study = make_study(2, 3, 4, "10");
  assert_true(best_of(study, 60) < 1e-3); /* chance alone: 0.4 */
  cocabo_study_free(study);
}

/* 20 choices of 1000: 20002 inputs. */
static void there_may_be_thousands_of_inputs(void **state) {
  (void)state;
  cocabo_study *study = make_study(2, 20, COCABO_MAX_CHOICES, "4");
  best_of(study, 16); /* learns once, too */
  assert_int_equal(cb_study_history(study)->fit.n_theta, 3);
  cocabo_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(fit_finds_what_scikit_learn_finds),
      cmocka_unit_test(predictive_density_is_scikit_learns),
      cmocka_unit_test(the_optimum_is_found),
      cmocka_unit_test(there_may_be_thousands_of_inputs),
  };
  return cmocka_run_group_tests_name("sampler/onehot", tests, NULL, NULL);
}
