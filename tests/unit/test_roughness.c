/* How rough values are where there are categories, and whose turns that changes. */
#include "life.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "sampler/sampler.h"

enum { N = 3, ROUGH = 1 /* its place in what a fit says */ };

static const double NOT_ROUGH = 1e-3, IS_ROUGH = 1e-2; /* the limit is 3e-3 */

static cocabo_error err;

static const cb_settings settings = {.seed = 7,
                                     .n_init = 1,
                                     .deterministic = true,
                                     .ard = true,
                                     .acquisition = CB_LOGEI,
                                     .kappa = 2.0,
                                     .model_size = 1000};

/* So many results of random points: a bowl, and of each value a share that neighbours
 * have nothing to do with. */
static life results(int n, double rough) {
  cocabo_space *space = cocabo_space_new();
  assert_ok(cocabo_space_add(space, "a", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "b", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "c", "choice(p,q,r)", &err));
  life l = life_of(space);
  cb_rng rng = cb_rng_make(31, CB_RNG_RANDOM, 0);
  for (int i = 0; i < n; i++) {
    const double a = 2.0 * cb_rng_uniform(&rng) - 1.0;
    const double b = 2.0 * cb_rng_uniform(&rng) - 1.0;
    const int c = (int)(3.0 * cb_rng_uniform(&rng));
    cb_cell cells[N] = {{.real = a}, {.real = b}, {.integer = c}};
    const double bowl = (a - 0.37) * (a - 0.37) + (b + 0.21) * (b + 0.21) + 0.3 * c;
    lives_with(&l, i == 0 ? CB_BY_DESIGN : CB_BY_SAMPLER, cells,
               -bowl + rough * cb_rng_uniform(&rng));
  }
  return l;
}

static cb_ask ask_of(const life *l, const cb_fit *fit) {
  return (cb_ask){.history = l->history,
                  .settings = &settings,
                  .fit = fit,
                  .number = l->history->n_trials,
                  .batch = 1};
}

/* theta is the caller's. */
static cb_fit fit_of(const life *l) {
  const cb_sampler *mixed = cb_sampler_find("mixed");
  const cb_ask ask = ask_of(l, NULL);
  cb_fit fit = {.rows = l->history->n};
  void *state;
  assert_ok(mixed->create(&state, l->space, &settings, &err));
  assert_ok(mixed->fit(state, &ask, &fit, &err));
  mixed->destroy(state);
  return fit;
}

static double roughness_of(int n, double rough) {
  life l = results(n, rough);
  cb_fit fit = fit_of(&l);
  const double found = fit.theta[ROUGH];
  cb_free(fit.theta);
  end(&l);
  return found;
}

static void rough_values_are_told_from_smooth_ones(void **state) {
  (void)state;
  const double smooth = roughness_of(61, 0.0);
  assert_true(smooth > 0.0 && smooth < NOT_ROUGH);
  assert_true(roughness_of(61, 0.4) > IS_ROUGH);
  assert_true(roughness_of(33, 0.4) == 0.0); /* too few to tell */
}

static void propose(const life *l, cb_fit *fit, double rough, cb_cell cells[N]) {
  const cb_sampler *mixed = cb_sampler_find("mixed");
  cb_draw draws[1];
  cb_proposal out = {.cells = cells, .draws = draws};
  void *state;
  fit->theta[ROUGH] = rough;
  const cb_ask ask = ask_of(l, fit);
  assert_ok(mixed->create(&state, l->space, &settings, &err));
  assert_ok(mixed->propose(state, &ask, &out, &err));
  mixed->destroy(state);
}

/* Turns are counted by sampled trials, and number 3 of six is the one. */
static void one_turn_in_six_depends_on_it(void **state) {
  (void)state;
  for (int n = 46; n < 52; n++) {
    life l = results(n, 0.4);
    cb_fit fit = fit_of(&l);
    cb_cell smooth[N], rough[N];
    memset(smooth, 0, sizeof smooth);
    memset(rough, 0, sizeof rough);
    propose(&l, &fit, NOT_ROUGH, smooth);
    propose(&l, &fit, IS_ROUGH, rough);
    const bool differs = memcmp(smooth, rough, sizeof rough) != 0;
    assert_int_equal(differs, l.history->n_sampled % 6 == 3);
    cb_free(fit.theta);
    end(&l);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rough_values_are_told_from_smooth_ones),
      cmocka_unit_test(one_turn_in_six_depends_on_it),
  };
  return cmocka_run_group_tests_name("sampler/roughness", tests, NULL, NULL);
}
