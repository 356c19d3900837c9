#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "model/parzen.h"
#include "oracle/parzen.h"

static cocabo_error err;

enum { CELLS = 9, ARMS = 7 };

static cb_parzen *new_parzen(void) {
  cb_parzen *p;
  assert_ok(cb_parzen_new(&p, &err));
  return p;
}

/* ---- against hyperopt ------------------------------------------------------------ */

static void densities_and_masses_are_those_of_hyperopt(void **state) {
  (void)state;
  cb_parzen *p = new_parzen();
  for (size_t c = 0; c < sizeof oracle_numbers / sizeof oracle_numbers[0]; c++) {
    const double low = oracle_numbers[c].low, high = oracle_numbers[c].high;
    const double width = (high - low) / CELLS;
    assert_ok(
        cb_parzen_fit(p, low, high, oracle_numbers[c].n, oracle_numbers[c].x, &err));
    for (int i = 0; i < 6; i++)
      assert_close(cb_parzen_log_density(p, oracle_numbers[c].at[i]),
                   oracle_numbers[c].log_density[i], 1e-12);
    for (int k = 0; k < CELLS; k++)
      assert_close(cb_parzen_log_mass(p, low + k * width, low + (k + 1) * width),
                   oracle_numbers[c].log_mass[k], 1e-11);
  }
  cb_parzen_free(p);
}

static void chances_are_those_of_hyperopt(void **state) {
  (void)state;
  cb_parzen *p = new_parzen();
  for (size_t c = 0; c < sizeof oracle_choices / sizeof oracle_choices[0]; c++) {
    assert_ok(
        cb_parzen_fit_choice(p, ARMS, oracle_choices[c].n, oracle_choices[c].h, &err));
    for (int k = 0; k < ARMS; k++)
      assert_close(cb_parzen_log_chance(p, k), oracle_choices[c].log_chance[k], 1e-13);
  }
  cb_parzen_free(p);
}

/* ---- by themselves --------------------------------------------------------------- */

/* The middle of Simpson's rule is fine enough for the narrowest component, a hundredth
 * of the range. */
static double integral(cb_parzen *p, double low, double high) {
  enum { STEPS = 4000 };
  const double step = (high - low) / STEPS;
  double sum = 0.0;
  for (int i = 0; i <= STEPS; i++)
    sum += exp(cb_parzen_log_density(p, low + i * step)) * (i == 0 || i == STEPS ? 1.0
                                                            : i % 2              ? 4.0
                                                                                 : 2.0);
  return sum * step / 3.0;
}

static void densities_integrate_to_one_and_so_do_cells(void **state) {
  (void)state;
  cb_parzen *p = new_parzen();
  cb_rng rng = cb_rng_make(71, CB_RNG_BENCH, 0);
  const int sizes[] = {0, 1, 2, 9, 31, 200};
  for (int c = 0; c < 6; c++) {
    const double low = -1.3, high = 2.1;
    double x[200];
    for (int i = 0; i < sizes[c]; i++) /* crowded at the lower end */
      x[i] = low + (high - low) * pow(cb_rng_uniform(&rng), 3.0);
    assert_ok(cb_parzen_fit(p, low, high, sizes[c], x, &err));
    assert_close(integral(p, low, high), 1.0, 1e-8);
    const double edges[] = {low, -1.2999, -1.21, -0.3, 0.44, 2.09, high};
    double sum = 0.0;
    for (int k = 0; k < 6; k++)
      sum += exp(cb_parzen_log_mass(p, edges[k], edges[k + 1]));
    assert_close(sum, 1.0, 1e-12);
    assert_close(exp(cb_parzen_log_mass(p, -0.3, 0.44)),
                 exp(cb_parzen_log_mass(p, -0.3, 0.1)) +
                     exp(cb_parzen_log_mass(p, 0.1, 0.44)),
                 1e-13);
  }
  cb_parzen_free(p);
}

/* Thin cells are valued by the density, thick ones by differences of Phi: where one
 * gives way to the other nothing jumps, and the thinnest have no trouble. */
static void thin_cells_have_the_mass_of_their_width(void **state) {
  (void)state;
  cb_parzen *p = new_parzen();
  const double x[] = {-0.81, -0.8, 0.13, 0.62, 0.97}, at = 0.377;
  assert_ok(cb_parzen_fit(p, -1.0, 1.0, 5, x, &err));
  for (int i = 0; i < 25; i++) {
    const double width = 1e-3 * pow(3.0, -i);
    assert_close(cb_parzen_log_mass(p, at - 0.5 * width, at + 0.5 * width) -
                     log((at + 0.5 * width) - (at - 0.5 * width)),
                 cb_parzen_log_density(p, at), 1e-6);
  }
  cb_parzen_free(p);
}

static void draws_have_the_masses_they_should(void **state) {
  (void)state;
  enum { DRAWS = 40000 };
  cb_parzen *p = new_parzen();
  cb_rng rng = cb_rng_make(72, CB_RNG_BENCH, 0);
  const double x[] = {0.93, -0.4, -0.37, 0.21, 0.9};
  int counts[CELLS] = {0};
  assert_ok(cb_parzen_fit(p, -1.0, 1.0, 5, x, &err));
  for (int i = 0; i < DRAWS; i++) {
    const double drawn = cb_parzen_draw(p, &rng);
    assert_true(drawn >= -1.0 && drawn < 1.0);
    counts[(int)(0.5 * (drawn + 1.0) * CELLS)]++;
  }
  for (int k = 0; k < CELLS; k++) {
    const double m = exp(
        cb_parzen_log_mass(p, -1.0 + 2.0 * k / CELLS, -1.0 + 2.0 * (k + 1) / CELLS));
    assert_true(fabs(counts[k] - DRAWS * m) < 4.5 * sqrt(DRAWS * m * (1.0 - m)));
  }
  cb_parzen_free(p);
}

static void choices_are_drawn_by_their_chances(void **state) {
  (void)state;
  enum { DRAWS = 40000 };
  cb_parzen *p = new_parzen();
  cb_rng rng = cb_rng_make(73, CB_RNG_BENCH, 0);
  const int32_t h[] = {3, 3, 0, 3, 1, 3, 3};
  int counts[ARMS] = {0};
  double sum = 0.0;
  assert_ok(cb_parzen_fit_choice(p, ARMS, 7, h, &err));
  for (int i = 0; i < DRAWS; i++)
    counts[cb_parzen_draw_choice(p, &rng)]++;
  for (int k = 0; k < ARMS; k++) {
    const double m = exp(cb_parzen_log_chance(p, k));
    sum += m;
    assert_true(fabs(counts[k] - DRAWS * m) < 4.5 * sqrt(DRAWS * m * (1.0 - m)));
  }
  assert_close(sum, 1.0, 1e-14);
  cb_parzen_free(p);
}

/* Old ones count for less, so their order matters; that of the last 25 does not. */
static void only_old_values_fade(void **state) {
  (void)state;
  cb_parzen *p = new_parzen();
  double x[40], turned[40];
  for (int i = 0; i < 40; i++)
    x[i] = turned[i] = sin(3.1 * i);
  turned[39] = x[15]; /* the remembered ones end at 15 */
  turned[15] = x[39];
  assert_ok(cb_parzen_fit(p, -1.0, 1.0, 40, x, &err));
  const double before = cb_parzen_log_density(p, x[2]);
  assert_ok(cb_parzen_fit(p, -1.0, 1.0, 40, turned, &err));
  assert_close(cb_parzen_log_density(p, x[2]), before, 1e-14);
  turned[39] = x[2]; /* an old one becomes new */
  turned[2] = x[15];
  assert_ok(cb_parzen_fit(p, -1.0, 1.0, 40, turned, &err));
  assert_true(fabs(cb_parzen_log_density(p, x[2]) - before) > 0.1);
  cb_parzen_free(p);
}

static void without_memory_an_estimator_is_as_it_was(void **state) {
  (void)state;
  cb_parzen *p;
  cb_mem_fail_after(0);
  assert_int_equal(cb_parzen_new(&p, &err), COCABO_E_NO_MEMORY);
  assert_null(p);
  p = new_parzen();
  double x[100];
  for (int i = 0; i < 100; i++)
    x[i] = sin(i);
  assert_ok(cb_parzen_fit(p, -1.0, 1.0, 3, x, &err));
  const double before = cb_parzen_log_density(p, 0.71);
  for (long k = 0; k < 2; k++) {
    cb_mem_fail_after(k);
    assert_int_equal(cb_parzen_fit(p, -2.0, 3.0, 100, x, &err), COCABO_E_NO_MEMORY);
    cb_mem_fail_after(-1);
    const double after = cb_parzen_log_density(p, 0.71);
    assert_memory_equal(&before, &after, sizeof before);
  }
  assert_ok(cb_parzen_fit(p, -2.0, 3.0, 100, x, &err));
  cb_parzen_free(p);
  cb_parzen_free(NULL);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(densities_and_masses_are_those_of_hyperopt),
      cmocka_unit_test(chances_are_those_of_hyperopt),
      cmocka_unit_test(densities_integrate_to_one_and_so_do_cells),
      cmocka_unit_test(thin_cells_have_the_mass_of_their_width),
      cmocka_unit_test(draws_have_the_masses_they_should),
      cmocka_unit_test(choices_are_drawn_by_their_chances),
      cmocka_unit_test(only_old_values_fade),
      cmocka_unit_test(without_memory_an_estimator_is_as_it_was),
  };
  return cmocka_run_group_tests_name("model/parzen", tests, NULL, NULL);
}
