/* The bench's problems: values against an independent oracle, spaces, permutations. */
#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "oracle/problems.h"
#include "problem.h"
#include "problems/synthetic.h"
#include "space/space.h"

enum { N_VALUES = sizeof oracle_values / sizeof oracle_values[0] };
enum { N_OPTIMA = sizeof oracle_optima / sizeof oracle_optima[0] };
enum { N_POINTS = sizeof oracle_points / sizeof oracle_points[0] };
enum { N_BESTS = sizeof oracle_bests / sizeof oracle_bests[0] };

static cocabo_space *space_of(const bench_problem *problem) {
  cocabo_space *space;
  cocabo_error err;
  assert_ok(bench_problem_space(problem, &space, &err));
  return space;
}

static cocabo_space *permuted(const cocabo_space *space, uint64_t seed) {
  cocabo_space *out;
  cocabo_error err;
  assert_ok(bench_space_permuted(space, seed, &out, &err));
  return out;
}

static bool is_func(const char *problem) {
  return strncmp(problem, "func", 4) == 0;
}

/* ---- values --------------------------------------------------------------------- */

static double raw_value(const char *problem, int c, const int *h, const double *x) {
  if (is_func(problem))
    return c == 2 ? func2c_raw(x, h) : func3c_raw(x, h);
  double z[6];
  for (int j = 0; j < c; j++)
    z[j] = ackley_level(h[j]);
  z[c] = x[0];
  return ackley_raw(c + 1, z);
}

static void raw_functions_agree_with_the_oracle(void **state) {
  (void)state;
  for (int i = 0; i < N_VALUES; i++) {
    const double got = raw_value(oracle_values[i].problem, oracle_values[i].c,
                                 oracle_values[i].h, oracle_values[i].x);
    if (is_func(oracle_values[i].problem))
      assert_close(got, oracle_values[i].value, 1e-14);
    else /* down to 2e-12 near the optimum: its size carries the meaning */
      assert_relative(got, oracle_values[i].value, 1e-14);
  }
}

/* Categories come first in every space, numbers last. */
static void fill_cells(int c, const int *h, int d, const double *x, cb_cell *cells) {
  for (int j = 0; j < c; j++)
    cells[j].integer = h[j];
  for (int j = 0; j < d; j++)
    cells[c + j].real = x[j];
}

static void values_by_label_agree_with_the_oracle(void **state) {
  (void)state;
  for (int i = 0; i < N_VALUES; i++) {
    const bench_problem *problem = bench_problem_find(oracle_values[i].problem);
    assert_non_null(problem);
    assert_int_equal(problem->c, oracle_values[i].c);
    cocabo_space *space = space_of(problem);
    cb_cell cells[8];
    fill_cells(problem->c, oracle_values[i].h, problem->d, oracle_values[i].x, cells);
    assert_close(bench_value_at_cells(problem, space, cells), oracle_values[i].value,
                 1e-14);
    cocabo_space_free(space);
  }
}

static void optima_are_the_stated_ones(void **state) {
  (void)state;
  for (int i = 0; i < N_OPTIMA; i++) {
    const bench_problem *problem = bench_problem_find(oracle_optima[i].problem);
    assert_close(problem->optimum, oracle_optima[i].value, 1e-15);
  }
  assert_close(bench_problem_find("func-2c")->optimum, 0.206326, 1e-6);
  assert_close(bench_problem_find("func-3c")->optimum, 0.722140, 1e-6);
  /* Where the camel is lowest, from the literature. */
  const double x[] = {0.0898420131003180624 / 2, -0.7126564030207396 / 2};
  assert_close(func2c_raw(x, (const int[]){1, 1}), 0.206326, 1e-6);
  assert_close(func3c_raw(x, (const int[]){1, 1, 0}), 0.722140, 1e-6);
}

static void ackley_is_exactly_zero_at_its_optimum(void **state) {
  (void)state;
  const int centre[] = {8, 8, 8, 8, 8};
  const double zero[] = {0.0};
  for (int c = 2; c <= 5; c++)
    assert_true(raw_value("ackley", c, centre, zero) == 0.0);
}

/* The cells of a point given by its values: labels of choices, numbers on their grid.
 */
static void place_point(const cocabo_space *space, const oracle_point *point,
                        cb_cell *cells) {
  cocabo_error err;
  assert_int_equal(point->n, space->n);
  for (int i = 0; i < space->n; i++) {
    const cb_param *param = &space->params[i];
    cocabo_value value = {COCABO_REAL, {.real = point->x[i]}};
    if (param->n_choices > 0 && param->choices[0].type == COCABO_INT)
      value = (cocabo_value){COCABO_INT, {.integer = (int64_t)point->x[i]}};
    assert_ok(cb_space_to_cell(space, i, &value, &cells[i], &err));
  }
}

static double value_at(const oracle_point *point) {
  const bench_problem *problem = bench_problem_find(point->problem);
  assert_non_null(problem);
  cocabo_space *space = space_of(problem);
  cb_cell cells[BENCH_MAX_INPUTS];
  place_point(space, point, cells);
  const double value = bench_value_at_cells(problem, space, cells);
  cocabo_space_free(space);
  return value;
}

static void values_at_points_agree_with_the_oracle(void **state) {
  (void)state;
  for (int i = 0; i < N_POINTS; i++)
    assert_relative(value_at(&oracle_points[i]), oracle_points[i].value, 1e-13);
}

static void best_points_have_the_stated_optimum(void **state) {
  (void)state;
  for (int i = 0; i < N_BESTS; i++) {
    const oracle_point *best = &oracle_bests[i];
    const double optimum = bench_problem_find(best->problem)->optimum;
    assert_relative(best->value, optimum, 1e-15);
    assert_relative(value_at(best), optimum, 1e-14);
  }
}

static void optima_are_those_of_the_literature(void **state) {
  (void)state;
  assert_true(bench_problem_find("ackley-13")->optimum == 0.0);
  assert_true(bench_problem_find("ackley-53")->optimum == 0.0);
  assert_true(bench_problem_find("ackley-53-flipped")->optimum == 0.0);
  assert_true(fabs(bench_problem_find("rosenbrock-10-mixed")->optimum + 10.699107) <
              1e-6);
  assert_true(fabs(bench_problem_find("labs-50")->optimum - 8.16993) < 1e-5);
  assert_true(fabs(bench_problem_find("pressure-vessel")->optimum + 6059.7143) < 1e-4);
}

static int64_t energy(int n, const double *s) {
  int64_t sum = 0;
  for (int lag = 1; lag < n; lag++) {
    int64_t correlation = 0;
    for (int j = lag; j < n; j++)
      correlation += (int64_t)(s[j] * s[j - lag]);
    sum += correlation * correlation;
  }
  return sum;
}

static void the_best_sequence_has_energy_153(void **state) {
  (void)state;
  for (int i = 0; i < N_BESTS; i++)
    if (strcmp(oracle_bests[i].problem, "labs-50") == 0) {
      assert_int_equal(energy(50, oracle_bests[i].x), 153);
      assert_true(value_at(&oracle_bests[i]) == 2500.0 / 306.0);
    }
}

/* Every other choice of one parameter, and a step up and down of a number. */
static void no_neighbour_beats_the_best_point(void **state) {
  (void)state;
  for (int i = 0; i < N_BESTS; i++) {
    const bench_problem *problem = bench_problem_find(oracle_bests[i].problem);
    cocabo_space *space = space_of(problem);
    cb_cell best[BENCH_MAX_INPUTS];
    place_point(space, &oracle_bests[i], best);
    for (int j = 0; j < space->n; j++) {
      const cb_cell kept = best[j];
      const cb_param *param = &space->params[j];
      const double step = param->step > 0.0 ? param->step : 1e-4;
      for (int k = 0; k < (param->n_choices ? param->n_choices : 2); k++) {
        if (param->n_choices)
          best[j].integer = k;
        else
          best[j].real = kept.real + (k ? step : -step);
        const double value = bench_value_at_cells(problem, space, best);
        if (!(value <= problem->optimum))
          fail_msg("%s: %s beats the optimum, %.17g", problem->name, param->name,
                   value);
      }
      best[j] = kept;
    }
    cocabo_space_free(space);
  }
}

/* Problems that need data or much time have tests of their own. */
static bool is_free(const bench_problem *problem) {
  return problem->load == NULL;
}

/* It may fail, or be better where it breaks a constraint. */
static bool breaks_off(const bench_problem *problem) {
  return problem->failure || problem->constraints;
}

static void no_random_point_beats_the_optimum(void **state) {
  (void)state;
  const bench_problem *problem;
  for (int i = 0; (problem = bench_problem_at(i)); i++) {
    if (!is_free(problem))
      continue;
    cocabo_space *space = space_of(problem);
    cb_rng rng = bench_rng(7, 99, 0);
    for (int k = 0; k < 5000; k++) {
      cb_cell cells[BENCH_MAX_INPUTS];
      cb_space_sample(space, &rng, cells);
      const double value = bench_value_at_cells(problem, space, cells);
      if (!(value <= problem->optimum) && !breaks_off(problem))
        fail_msg("%s: %.17g beats %.17g", problem->name, value, problem->optimum);
    }
    cocabo_space_free(space);
  }
}

/* Two in five points crash; the others have the values of the problem without. */
static void crashing_problems_crash_in_two_fifths_of_their_space(void **state) {
  (void)state;
  const char *const names[] = {"func-2c-crash", "ackley-crash"};
  for (int p = 0; p < 2; p++) {
    const bench_problem *problem = bench_problem_find(names[p]);
    cocabo_space *space = space_of(problem);
    cb_rng rng = bench_rng(8, 99, 0);
    int failed = 0;
    for (int k = 0; k < 20000; k++) {
      cb_cell cells[BENCH_MAX_INPUTS];
      cb_space_sample(space, &rng, cells);
      const double value = bench_value_at_cells(problem, space, cells);
      failed += isnan(value);
      assert_true(isnan(value) || value <= problem->optimum);
    }
    assert_in_range(failed, 7800, 8200); /* 3 deviations are 208 */
    cocabo_space_free(space);
  }
}

/* What is measured says where the penalty of the plain problem begins. */
static void the_vessel_measures_its_rules(void **state) {
  (void)state;
  const bench_problem *plain = bench_problem_find("pressure-vessel");
  const bench_problem *measured = bench_problem_find("pressure-vessel-measured");
  cocabo_space *space = space_of(plain);
  cb_rng rng = bench_rng(9, 99, 0);
  int kept = 0;
  for (int k = 0; k < 3000; k++) {
    cb_cell cells[BENCH_MAX_INPUTS];
    cocabo_value values[BENCH_MAX_INPUTS];
    cocabo_metric m[BENCH_MAX_METRICS];
    cb_space_sample(space, &rng, cells);
    for (int i = 0; i < space->n; i++)
      values[i] = cb_space_from_cell(space, i, cells[i]);
    assert_int_equal(measured->measure(measured, values, m), 3);
    const bool keeps = m[0].value >= 0.0 && m[1].value >= 0.0 && m[2].value >= 1296000;
    const double with = plain->value(plain, values, 0);
    const double without = measured->value(measured, values, 0);
    assert_int_equal(keeps, with == without);
    assert_true(with <= without);
    kept += keeps;
  }
  assert_true(kept > 300 && kept < 2700);
  cocabo_space_free(space);
}

/* ---- the suite and its spaces --------------------------------------------------- */

static void every_name_is_found_and_no_other(void **state) {
  (void)state;
  const bench_problem *problem;
  int n = 0;
  for (; (problem = bench_problem_at(n)); n++) {
    assert_ptr_equal(bench_problem_find(problem->name), problem);
    assert_true(strlen(problem->help) > 0);
  }
  assert_int_equal(n, 23);
  assert_null(bench_problem_at(-1));
  assert_null(bench_problem_find("func-4c"));
  assert_null(bench_problem_find(""));
}

/* d numbers, of which `ordinals` are ordered choices, and the choices of h_j. */
static const struct {
  const char *problem;
  int d, ordinals, c;
  int arms[5]; /* of h1, h2, ...; the last of them for all that follow */
} shapes[] = {
    {"func-2c", 2, 0, 2, {3, 5, 5, 5, 5}},
    {"func-3c", 2, 0, 3, {3, 5, 4, 4, 4}},
    {"ackley-2c", 1, 0, 2, {17, 17, 17, 17, 17}},
    {"ackley-3c", 1, 0, 3, {17, 17, 17, 17, 17}},
    {"ackley-4c", 1, 0, 4, {17, 17, 17, 17, 17}},
    {"ackley-5c", 1, 0, 5, {17, 17, 17, 17, 17}},
    {"ackley-13", 3, 0, 10, {2, 2, 2, 2, 2}},
    {"ackley-53", 3, 0, 50, {2, 2, 2, 2, 2}},
    {"ackley-53-flipped", 3, 0, 50, {2, 2, 2, 2, 2}},
    {"rosenbrock-10-mixed", 10, 6, 0, {0}},
    {"labs-50", 0, 0, 50, {2, 2, 2, 2, 2}},
    {"pressure-vessel", 4, 0, 0, {0}},
    {"contamination", 0, 0, 25, {2, 2, 2, 2, 2}},
    {"pest-control", 0, 0, 25, {5, 5, 5, 5, 5}},
    {"svm-boston", 3, 0, 3, {4, 2, 2}},
    {"xg-mnist", 5, 0, 3, {2, 2, 2}},
    {"xg-mnist-10", 5, 0, 3, {2, 2, 2}},
    {"xg-mnist-1", 5, 0, 3, {2, 2, 2}},
    {"nas-cifar10", 22, 0, 5, {3, 3, 3, 3, 3}},
    {"nn-yacht", 3, 0, 3, {3, 4, 6}},
    {"func-2c-crash", 2, 0, 2, {3, 5, 5, 5, 5}},
    {"ackley-crash", 3, 0, 3, {2, 2, 2, 2, 2}},
    {"pressure-vessel-measured", 4, 0, 0, {0}},
};

static void spaces_have_the_stated_inputs(void **state) {
  (void)state;
  for (int i = 0; i < (int)(sizeof shapes / sizeof shapes[0]); i++) {
    const bench_problem *problem = bench_problem_at(i);
    assert_string_equal(problem->name, shapes[i].problem);
    cocabo_space *space = space_of(problem);
    int ordinals = 0;
    for (int j = 0; j < space->n; j++)
      ordinals += space->params[j].kind == CB_ORDINAL;
    assert_int_equal(ordinals, shapes[i].ordinals);
    assert_int_equal(space->d, shapes[i].d);
    assert_int_equal(space->c, shapes[i].c);
    assert_int_equal(problem->d, space->d);
    assert_int_equal(problem->c, space->c);
    for (int j = 0; j < space->c; j++)
      assert_int_equal(cb_space_arms(space, j), shapes[i].arms[j < 5 ? j : 4]);
    cocabo_space_free(space);
  }
}

static void thicknesses_are_multiples_of_a_sixteenth(void **state) {
  (void)state;
  cocabo_space *space = space_of(bench_problem_find("pressure-vessel"));
  for (int j = 0; j < 2; j++) {
    const cb_param *param = &space->params[j];
    assert_true(param->low == 0.0625 && param->step == 0.0625);
    assert_true(param->high == 6.1875);
  }
  cocabo_space_free(space);
}

static int count_ones(const oracle_point *point) {
  int ones = 0;
  for (int i = 0; i < point->n; i++)
    ones += point->x[i] == 1.0;
  return ones;
}

static void the_flipped_optimum_is_neither_all_zeros_nor_all_ones(void **state) {
  (void)state;
  for (int i = 0; i < N_BESTS; i++)
    if (strcmp(oracle_bests[i].problem, "ackley-53-flipped") == 0)
      assert_in_range(count_ones(&oracle_bests[i]), 15, 35);
}

/* No choice number means the same pesticide everywhere. */
static void pest_control_lists_its_actions_in_an_order_of_each_stage(void **state) {
  (void)state;
  cocabo_space *space = space_of(bench_problem_find("pest-control"));
  for (int k = 0; k < 5; k++) {
    int of_action[5] = {0};
    for (int i = 0; i < space->n; i++)
      of_action[space->params[i].choices[k].as.integer]++;
    for (int t = 0; t < 5; t++)
      assert_in_range(of_action[t], 1, 12);
  }
  cocabo_space_free(space);
}

/* ---- permutations --------------------------------------------------------------- */

static bool same_value(cocabo_value a, cocabo_value b) {
  if (a.type != b.type)
    return false;
  return a.type == COCABO_TEXT ? strcmp(a.as.text, b.as.text) == 0
                               : a.as.integer == b.as.integer;
}

/* Where the choice stands in the parameter's list; -1: nowhere. */
static int place_of(const cb_param *param, cocabo_value choice) {
  for (int i = 0; i < param->n_choices; i++)
    if (same_value(param->choices[i], choice))
      return i;
  return -1;
}

static void permuting_keeps_the_labels_and_moves_them(void **state) {
  (void)state;
  cocabo_space *plain = space_of(bench_problem_find("ackley-5c"));
  cocabo_space *moved = permuted(plain, 3);
  for (int i = 0; i < plain->c; i++) {
    const cb_param *p = &plain->params[i], *q = &moved->params[i];
    int displaced = 0;
    assert_string_equal(p->name, q->name);
    assert_int_equal(p->n_choices, q->n_choices);
    for (int k = 0; k < p->n_choices; k++) {
      const int place = place_of(q, p->choices[k]);
      assert_true(place >= 0);
      displaced += place != k;
    }
    assert_true(displaced > 0);
  }
  cocabo_space_free(plain);
  cocabo_space_free(moved);
}

static void permutation_depends_on_seed_and_parameter_only(void **state) {
  (void)state;
  cocabo_space *plain = space_of(bench_problem_find("ackley-3c"));
  cocabo_space *a = permuted(plain, 11), *b = permuted(plain, 11),
               *c = permuted(plain, 12);
  assert_true(cb_space_equal(a, b));
  assert_false(cb_space_equal(a, c));
  int differ = 0;
  for (int k = 0; k < ACKLEY_LEVELS; k++)
    differ += !same_value(a->params[0].choices[k], a->params[1].choices[k]);
  assert_true(differ > 0);
  cocabo_space_free(plain);
  cocabo_space_free(a);
  cocabo_space_free(b);
  cocabo_space_free(c);
}

/* The same labels give the same value, so the optimum only changes its numbers; an
 * order of choices, and a problem without any, stays as it is. */
static void permuting_moves_values_with_their_labels(void **state) {
  (void)state;
  const bench_problem *problem;
  for (int i = 0; (problem = bench_problem_at(i)); i++) {
    if (!is_free(problem))
      continue;
    cocabo_space *plain = space_of(problem), *moved = permuted(plain, 5);
    cb_rng rng = bench_rng(1, 99, 0);
    int differ = 0;
    for (int k = 0; k < 300; k++) {
      cb_cell here[BENCH_MAX_INPUTS], there[BENCH_MAX_INPUTS];
      cb_space_sample(plain, &rng, here);
      memcpy(there, here, sizeof there);
      const double same_numbers = bench_value_at_cells(problem, moved, there);
      for (int j = 0; j < plain->n; j++)
        if (plain->params[j].kind == CB_CHOICE)
          there[j].integer =
              place_of(&moved->params[j], plain->params[j].choices[here[j].integer]);
      const double value = bench_value_at_cells(problem, plain, here);
      const double moved_value = bench_value_at_cells(problem, moved, there);
      assert_true(moved_value == value || (isnan(moved_value) && isnan(value)));
      differ += same_numbers != value;
    }
    assert_true(plain->c > 0 ? differ > 0 : differ == 0);
    assert_true(cb_space_equal(plain, moved) == (plain->c == 0));
    cocabo_space_free(plain);
    cocabo_space_free(moved);
  }
}

static void only_unordered_choices_are_permuted(void **state) {
  (void)state;
  cocabo_error err;
  cocabo_space *space = cocabo_space_new();
  cocabo_value levels[7];
  for (int i = 0; i < 7; i++)
    levels[i] = (cocabo_value){COCABO_INT, {.integer = i}};
  assert_ok(cocabo_space_add_real(space, "r", 1e-3, 10.0, 0.0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_real(space, "s", -1.0, 1.0, 0.25, 0, &err));
  assert_ok(cocabo_space_add_int(space, "i", 2, 64, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_choice(space, "o", levels, 7, COCABO_ORDERED, &err));
  for (uint64_t seed = 0; seed < 5; seed++) {
    cocabo_space *same = permuted(space, seed);
    assert_true(cb_space_equal(space, same));
    cocabo_space_free(same);
  }
  cocabo_space_free(space);
}

/* ---- failures ------------------------------------------------------------------- */

static void fail_every_allocation(const bench_problem *problem) {
  cocabo_space *plain = space_of(problem), *space;
  cocabo_status status = COCABO_E_NO_MEMORY;
  cocabo_error err;
  for (long k = 0; status != COCABO_OK; k++) {
    cb_mem_fail_after(k);
    status = bench_problem_space(problem, &space, &err);
    assert_true(status == COCABO_OK ? space != NULL : space == NULL);
    assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
  }
  cb_mem_fail_after(-1);
  cocabo_space_free(space);

  status = COCABO_E_NO_MEMORY;
  for (long k = 0; status != COCABO_OK; k++) {
    cb_mem_fail_after(k);
    status = bench_space_permuted(plain, 1, &space, &err);
    assert_true(status == COCABO_OK ? space != NULL : space == NULL);
    assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
  }
  cb_mem_fail_after(-1);
  cocabo_space_free(space);
  cocabo_space_free(plain);
}

static void out_of_memory_is_an_error_not_a_crash(void **state) {
  (void)state;
  const bench_problem *problem;
  for (int i = 0; (problem = bench_problem_at(i)); i++)
    fail_every_allocation(problem);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(raw_functions_agree_with_the_oracle),
      cmocka_unit_test(values_by_label_agree_with_the_oracle),
      cmocka_unit_test(optima_are_the_stated_ones),
      cmocka_unit_test(ackley_is_exactly_zero_at_its_optimum),
      cmocka_unit_test(values_at_points_agree_with_the_oracle),
      cmocka_unit_test(best_points_have_the_stated_optimum),
      cmocka_unit_test(optima_are_those_of_the_literature),
      cmocka_unit_test(the_best_sequence_has_energy_153),
      cmocka_unit_test(no_neighbour_beats_the_best_point),
      cmocka_unit_test(no_random_point_beats_the_optimum),
      cmocka_unit_test(crashing_problems_crash_in_two_fifths_of_their_space),
      cmocka_unit_test(the_vessel_measures_its_rules),
      cmocka_unit_test(every_name_is_found_and_no_other),
      cmocka_unit_test(spaces_have_the_stated_inputs),
      cmocka_unit_test(thicknesses_are_multiples_of_a_sixteenth),
      cmocka_unit_test(the_flipped_optimum_is_neither_all_zeros_nor_all_ones),
      cmocka_unit_test(pest_control_lists_its_actions_in_an_order_of_each_stage),
      cmocka_unit_test(permuting_keeps_the_labels_and_moves_them),
      cmocka_unit_test(permutation_depends_on_seed_and_parameter_only),
      cmocka_unit_test(permuting_moves_values_with_their_labels),
      cmocka_unit_test(only_unordered_choices_are_permuted),
      cmocka_unit_test(out_of_memory_is_an_error_not_a_crash),
  };
  return cmocka_run_group_tests_name("bench/problems", tests, NULL, NULL);
}
