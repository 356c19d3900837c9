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

static void no_random_point_beats_the_optimum(void **state) {
  (void)state;
  const bench_problem *problem;
  for (int i = 0; (problem = bench_problem_at(i)); i++) {
    cocabo_space *space = space_of(problem);
    cb_rng rng = bench_rng(7, 99, 0);
    for (int k = 0; k < 20000; k++) {
      cb_cell cells[8];
      cb_space_sample(space, &rng, cells);
      const double value = bench_value_at_cells(problem, space, cells);
      if (!(value <= problem->optimum))
        fail_msg("%s: %.17g beats %.17g", problem->name, value, problem->optimum);
    }
    cocabo_space_free(space);
  }
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
  assert_int_equal(n, 6);
  assert_null(bench_problem_at(-1));
  assert_null(bench_problem_find("func-4c"));
  assert_null(bench_problem_find(""));
}

static void spaces_have_the_stated_inputs(void **state) {
  (void)state;
  const int func_arms[] = {3, 5, 4};
  const bench_problem *problem;
  for (int i = 0; (problem = bench_problem_at(i)); i++) {
    cocabo_space *space = space_of(problem);
    assert_int_equal(space->d, problem->d);
    assert_int_equal(space->c, problem->c);
    for (int j = 0; j < space->c; j++)
      assert_int_equal(cb_space_arms(space, j),
                       is_func(problem->name) ? func_arms[j] : ACKLEY_LEVELS);
    cocabo_space_free(space);
  }
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

/* The same labels give the same value, so the optimum only changes its numbers. */
static void permuting_moves_values_with_their_labels(void **state) {
  (void)state;
  const bench_problem *problem = bench_problem_find("func-3c");
  cocabo_space *plain = space_of(problem), *moved = permuted(plain, 5);
  cb_rng rng = bench_rng(1, 99, 0);
  int differ = 0;
  for (int k = 0; k < 500; k++) {
    cb_cell here[5], there[5];
    cb_space_sample(plain, &rng, here);
    memcpy(there, here, sizeof there);
    const double same_numbers = bench_value_at_cells(problem, moved, there);
    for (int j = 0; j < plain->c; j++)
      there[j].integer =
          place_of(&moved->params[j], plain->params[j].choices[here[j].integer]);
    const double value = bench_value_at_cells(problem, plain, here);
    assert_true(bench_value_at_cells(problem, moved, there) == value);
    differ += same_numbers != value;
  }
  assert_true(differ > 0);
  cocabo_space_free(plain);
  cocabo_space_free(moved);
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
  assert_ok(cocabo_space_add_int(space, "i", 2, 64, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_choice(space, "o", levels, 7, COCABO_ORDERED, &err));
  for (uint64_t seed = 0; seed < 5; seed++) {
    cocabo_space *same = permuted(space, seed);
    assert_true(cb_space_equal(space, same));
    cocabo_space_free(same);
  }
  cocabo_space_free(space);
}

/* ---- failures ------------------------------------------------------------------- */

static void out_of_memory_is_an_error_not_a_crash(void **state) {
  (void)state;
  const bench_problem *problem = bench_problem_find("func-3c");
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(raw_functions_agree_with_the_oracle),
      cmocka_unit_test(values_by_label_agree_with_the_oracle),
      cmocka_unit_test(optima_are_the_stated_ones),
      cmocka_unit_test(ackley_is_exactly_zero_at_its_optimum),
      cmocka_unit_test(no_random_point_beats_the_optimum),
      cmocka_unit_test(every_name_is_found_and_no_other),
      cmocka_unit_test(spaces_have_the_stated_inputs),
      cmocka_unit_test(permuting_keeps_the_labels_and_moves_them),
      cmocka_unit_test(permutation_depends_on_seed_and_parameter_only),
      cmocka_unit_test(permuting_moves_values_with_their_labels),
      cmocka_unit_test(only_unordered_choices_are_permuted),
      cmocka_unit_test(out_of_memory_is_an_error_not_a_crash),
  };
  return cmocka_run_group_tests_name("bench/problems", tests, NULL, NULL);
}
