#include "life.h"

#include "sampler/repeats.h"

static cocabo_error err;

/* A number that matters, one that does not, and a category. */
static life begin(void) {
  cocabo_space *space = cocabo_space_new();
  assert_ok(cocabo_space_add(space, "a", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "b", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "c", "choice(p,q)", &err));
  return life_of(space);
}

static void lives(life *l, cb_origin origin, double a, double b, int c, double y) {
  cb_cell cells[3] = {{.real = a}, {.real = b}, {.integer = c}};
  lives_with(l, origin, cells, y);
}

/* Scales of 0.1 for a and 3 for b, and a rate of 0.7. */
static double demand_with(const life *l, int c) {
  double inv_l2[2] = {100.0, 1.0 / 9.0}, rate[1] = {0.7};
  const cb_kernel kernel = {
      .d = 2, .c = c, .form = CB_FREE, .inv_l2 = inv_l2, .rate = rate};
  return cb_repeats_demand(l->history, &kernel);
}

static double demand_of(const life *l) {
  return demand_with(l, 1);
}

static void repetitions_raise_the_demand_and_others_lower_it(void **state) {
  (void)state;
  life l = begin();
  lives(&l, CB_BY_DESIGN, -0.9, 0.0, 0, 9.3);
  lives(&l, CB_BY_DESIGN, 0.1, 0.0, 0, 3.7);
  lives(&l, CB_BY_DESIGN, 0.1, 0.5, 0, 3.7); /* the design says nothing */
  assert_close(demand_of(&l), 0.0, 0.0);
  lives(&l, CB_BY_SAMPLER, 0.1, -0.5, 0, 3.7);
  assert_close(demand_of(&l), 0.01, 1e-15);
  lives(&l, CB_BY_SAMPLER, 0.1, -0.7, 1, 3.7);
  assert_close(demand_of(&l), 0.02, 1e-15);
  lives(&l, CB_BY_SAMPLER, 0.4, -0.7, 1, 5.3);
  assert_close(demand_of(&l), 0.014, 1e-15);
  lives(&l, CB_BY_SAMPLER, 0.6, -0.7, 1, 5.1);
  assert_close(demand_of(&l), 0.0, 0.0); /* less than the least is none */
  for (int i = 0; i < 20; i++)
    lives(&l, CB_BY_SAMPLER, 0.1, 0.01 * i, 0, 3.7);
  assert_close(demand_of(&l), 0.5, 1e-15);
  end(&l);
}

/* With categories what ties demand halves in 23 results, with numbers only in two. */
static void ties_with_the_best_are_remembered(void **state) {
  (void)state;
  life l = begin();
  lives(&l, CB_BY_DESIGN, 0.9, 0.0, 0, 1.7);
  lives(&l, CB_BY_DESIGN, 0.1, 0.0, 0, 3.7);
  lives(&l, CB_BY_SAMPLER, 0.1, 0.5, 0, 3.7);
  lives(&l, CB_BY_SAMPLER, 0.1, -0.5, 0, 3.7);
  assert_close(demand_of(&l), 0.02, 1e-15);
  lives(&l, CB_BY_SAMPLER, 0.4, -0.7, 1, 2.3);
  assert_close(demand_of(&l), 0.0194, 1e-15);
  assert_close(demand_with(&l, 0), 0.014, 1e-15);
  for (int i = 0; i < 21; i++)
    lives(&l, CB_BY_SAMPLER, 0.6 + 0.01 * i, -0.7, 1, 2.1 - 0.1 * i);
  assert_close(demand_of(&l), 0.02 * pow(0.97, 22.0), 1e-12);
  lives(&l, CB_BY_SAMPLER, 0.9, -0.7, 1, -0.1);
  assert_close(demand_of(&l), 0.0, 0.0);
  end(&l);
}

/* The same value far away, with another one nearer, is a coincidence. */
static void only_the_nearest_result_is_repeated(void **state) {
  (void)state;
  life l = begin();
  lives(&l, CB_BY_DESIGN, -0.9, 0.3, 0, 3.7);
  lives(&l, CB_BY_DESIGN, 0.5, 0.3, 0, 1.1);
  lives(&l, CB_BY_SAMPLER, 0.4, 0.3, 0, 3.7);
  assert_close(demand_of(&l), 0.0, 0.0);
  lives(&l, CB_BY_SAMPLER, 0.44, 0.9, 1, 1.1);  /* 0.36 + 0.04 + 0.7 from the second, */
  assert_close(demand_of(&l), 0.0, 0.0);        /* 0.16 + 0.04 + 0.7 from the third */
  lives(&l, CB_BY_SAMPLER, 0.46, -0.9, 0, 1.1); /* 0.16 and 0.36, and both 0.16 */
  assert_close(demand_of(&l), 0.01, 1e-15);
  end(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(repetitions_raise_the_demand_and_others_lower_it),
      cmocka_unit_test(ties_with_the_best_are_remembered),
      cmocka_unit_test(only_the_nearest_result_is_repeated),
  };
  return cmocka_run_group_tests_name("sampler/repeats", tests, NULL, NULL);
}
