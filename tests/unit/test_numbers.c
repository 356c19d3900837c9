/* The sampler mixed without categories: on which turns its trust region lets it leave
 * the levels of the best point, and the basin that it began in. */
#include "check.h"

#include <stdio.h>
#include <string.h>

static cocabo_error err;

enum { SWITCHES = 3, INIT = 10, ROUNDS = 20, SEEDS = 8 };

static const char *const NAMES[SWITCHES] = {"a", "b", "c"};

/* Integers in {0, 1}, whose levels are 1 apart, and two numbers on no grid. */
static cocabo_study *new_study(int seed) {
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  char text[16];
  for (int j = 0; j < SWITCHES; j++)
    assert_ok(cocabo_space_add(space, NAMES[j], "int(0,1)", &err));
  assert_ok(cocabo_space_add(space, "x", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "y", "float(-1,1)", &err));
  snprintf(text, sizeof text, "%d", seed);
  assert_ok(cocabo_options_set(options, "seed", text, &err));
  snprintf(text, sizeof text, "%d", INIT);
  assert_ok(cocabo_options_set(options, "n_init", text, &err));
  cocabo_study *study = NULL;
  assert_ok(cocabo_study_create(&study, "numbers", space, options, NULL, &err));
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

typedef struct {
  int64_t levels[SWITCHES];
  double x, y;
} point;

static point point_of(const cocabo_trial *trial) {
  point p;
  for (int j = 0; j < SWITCHES; j++)
    assert_ok(cocabo_trial_get_int(trial, NAMES[j], &p.levels[j], &err));
  assert_ok(cocabo_trial_get_real(trial, "x", &p.x, &err));
  assert_ok(cocabo_trial_get_real(trial, "y", &p.y, &err));
  return p;
}

/* Every switch moves the optimum of the numbers: none can be left alone. */
static double loss_at(const point *p) {
  const double u = p->x - 0.6 + 0.5 * (double)(p->levels[0] + p->levels[1]);
  const double v = p->y + 0.4 - 0.6 * (double)(p->levels[1] + p->levels[2]);
  return u * u + v * v + 0.1 * (double)p->levels[0];
}

/* Of the proposals on even and on odd turns: how many keep the levels of the best, of
 * how many. Those that come after two results that were hardly better look everywhere
 * and are not counted. */
static void count_kept(int seed, int kept[2], int asked[2]) {
  cocabo_study *study = new_study(seed);
  point best = {{0}, 0.0, 0.0};
  double least = INFINITY;
  int losses = 0;
  for (int i = 0; i < INIT + ROUNDS; i++) {
    cocabo_trial *trial;
    assert_ok(cocabo_study_ask(study, 1, &trial, &err));
    const point p = point_of(trial);
    const double loss = loss_at(&p);
    if (i >= INIT && (i % 2 == 0 || losses < 2)) {
      kept[i % 2] += memcmp(p.levels, best.levels, sizeof p.levels) == 0;
      asked[i % 2]++;
    }
    losses = loss < least - 0.01 || i < INIT ? 0 : losses + 1;
    if (loss < least) {
      least = loss;
      best = p;
    }
    assert_ok(cocabo_study_tell(study, cocabo_trial_number(trial), loss, &err));
    cocabo_trial_free(trial);
  }
  cocabo_study_free(study);
}

/* The region is 0.3 to either side at first. Only length scales three times as long as
 * the others bring a level that is 1 away into it. */
static void far_levels_rest_on_odd_turns(void **state) {
  (void)state;
  int kept[2] = {0}, asked[2] = {0};
  for (int seed = 0; seed < SEEDS; seed++)
    count_kept(seed, kept, asked);
  assert_in_range(kept[0], 0, asked[0] * 3 / 4);
  assert_true(asked[1] >= 2 * SEEDS);
  assert_in_range(kept[1], asked[1] * 15 / 16, asked[1]);
}

/* Styblinski and Tang's function, four basins: the other three are worse by 14 and
 * more. */
static double least_of_basins(int seed) {
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  cocabo_study *study = NULL;
  char text[16];
  double least = INFINITY;
  assert_ok(cocabo_space_add(space, "x", "float(-5,5)", &err));
  assert_ok(cocabo_space_add(space, "y", "float(-5,5)", &err));
  snprintf(text, sizeof text, "%d", seed);
  assert_ok(cocabo_options_set(options, "seed", text, &err));
  assert_ok(cocabo_study_create(&study, "basins", space, options, NULL, &err));
  for (int i = 0; i < 40; i++) {
    cocabo_trial *trial;
    double at[2], loss = 0.0;
    assert_ok(cocabo_study_ask(study, 1, &trial, &err));
    assert_ok(cocabo_trial_get_real(trial, "x", &at[0], &err));
    assert_ok(cocabo_trial_get_real(trial, "y", &at[1], &err));
    for (int j = 0; j < 2; j++) {
      const double square = at[j] * at[j];
      loss += 0.5 * (square * square - 16.0 * square + 5.0 * at[j]);
    }
    least = fmin(least, loss);
    assert_ok(cocabo_study_tell(study, cocabo_trial_number(trial), loss, &err));
    cocabo_trial_free(trial);
  }
  cocabo_study_free(study);
  cocabo_options_free(options);
  cocabo_space_free(space);
  return least;
}

static void the_wrong_basin_is_left(void **state) {
  (void)state;
  for (int seed = 0; seed < 2 * SEEDS; seed++)
    assert_true(least_of_basins(seed) < -78.332 + 0.5);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(far_levels_rest_on_odd_turns),
      cmocka_unit_test(the_wrong_basin_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
