/* What the sampler smac does besides what every sampler does. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>

#include "base/rng.h"
#include "study/study.h"

static cocabo_error err;

static cocabo_study *new_study(const char *const domains[], const char *sampler,
                               const char *option, const char *value) {
  const char *const names[] = {"a", "b", "c", "d"};
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  for (int i = 0; domains[i]; i++)
    assert_ok(cocabo_space_add(space, names[i], domains[i], &err));
  assert_ok(cocabo_options_set(options, "sampler", sampler, &err));
  assert_ok(cocabo_options_set(options, "samples", "300", &err));
  assert_ok(cocabo_options_set(options, option, value, &err));
  cocabo_study *study = NULL;
  assert_ok(cocabo_study_create(&study, "s", space, options, NULL, &err));
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

static const char *const mixed[] = {"float(-2,3)", "choice(p,q,r,s,t)", "int(1,40)",
                                    "choice(u,v,w)", NULL};

static const cb_trial *ask(cocabo_study *study) {
  cocabo_trial *trial = NULL;
  assert_ok(cocabo_study_ask(study, 1, &trial, &err));
  const int64_t number = cocabo_trial_number(trial);
  cocabo_trial_free(trial);
  return &cb_study_history(study)->trials[number];
}

static void tell(cocabo_study *study, int64_t number, double value) {
  assert_ok(cocabo_study_tell(study, number, value, &err));
}

/* The least is 0, for s and v. */
static double cost(const cb_trial *t) {
  return pow(t->x[0] - 0.237, 2) + pow(t->x[1] + 0.41, 2) + 0.3 * abs(t->h[0] - 3) +
         0.7 * abs(t->h[1] - 1) * (1.1 + t->x[0]);
}

static double least_cost(const char *sampler, const char *seed, int rounds) {
  cocabo_study *study = new_study(mixed, sampler, "seed", seed);
  double least = INFINITY;
  for (int i = 0; i < rounds; i++) {
    const cb_trial *t = ask(study);
    least = fmin(least, cost(t));
    tell(study, t->number, cost(t));
  }
  cocabo_study_free(study);
  return least;
}

static void it_finds_what_chance_does_not(void **state) {
  (void)state;
  const char *const seeds[] = {"1", "2", "3", "4", "5", "6"};
  double found = 0.0, by_chance = 0.0;
  for (int i = 0; i < 6; i++) {
    found += least_cost("smac", seeds[i], 70) / 6.0;
    by_chance += least_cost("random", seeds[i], 70) / 6.0;
  }
  assert_true(found < 0.02);
  assert_true(found < 0.25 * by_chance);
}

/* The random ones have the stream of the sampler `random`. */
static void every_fifth_proposal_is_random(void **state) {
  (void)state;
  cocabo_study *study = new_study(mixed, "smac", "n_init", "6");
  cocabo_study *chance = new_study(mixed, "random", "n_init", "6");
  for (int i = 0; i < 36; i++) {
    const cb_trial *t = ask(study), *u = ask(chance);
    const bool same = cb_cells_equal(4, t->cells, u->cells);
    assert_int_equal(same, i < 6 || (i - 6) % 5 == 4);
    tell(study, t->number, cost(t));
  }
  cocabo_study_free(study);
  cocabo_study_free(chance);
}

/* Powers of two are exact: then no proposal changes by a bit. */
static void the_unit_of_values_does_not_matter(void **state) {
  (void)state;
  const double units[] = {0x1p-900, 0x1p+900};
  for (int k = 0; k < 2; k++) {
    cocabo_study *study = new_study(mixed, "smac", "seed", "8");
    cocabo_study *scaled = new_study(mixed, "smac", "seed", "8");
    for (int i = 0; i < 30; i++) {
      const cb_trial *t = ask(study), *u = ask(scaled);
      assert_true(cb_cells_equal(4, t->cells, u->cells));
      tell(study, t->number, cost(t));
      tell(scaled, u->number, cost(u) * units[k]);
    }
    cocabo_study_free(study);
    cocabo_study_free(scaled);
  }
}

/* The best values are next to where everything fails. */
static void where_trials_fail_it_tries_less(void **state) {
  (void)state;
  const char *const line[] = {"float(-1,1)", "choice(p,q)", NULL};
  cocabo_study *study = new_study(line, "smac", "n_init", "10");
  int failed = 0, later = 0;
  for (int i = 0; i < 70; i++) {
    const cb_trial *t = ask(study);
    const int64_t number = t->number;
    const bool fails = t->x[0] > 0.1;
    failed += fails && i < 10;
    later += fails && i >= 20;
    if (fails)
      assert_ok(cocabo_study_fail(study, number, "too far", &err));
    else
      tell(study, number, -t->x[0] + 0.1 * t->h[0]);
  }
  assert_true(failed > 0);
  assert_true(later < 20); /* of 50, 10 of them random; by chance 22 */
  cocabo_study_free(study);
}

/* More neighbours than are scored together. */
static void a_thousand_categories_are_searched(void **state) {
  (void)state;
  cocabo_value values[COCABO_MAX_CHOICES];
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  for (int k = 0; k < COCABO_MAX_CHOICES; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = k};
  assert_ok(cocabo_space_add_choice(space, "a", values, COCABO_MAX_CHOICES, 0, &err));
  assert_ok(cocabo_space_add_choice(space, "b", values, COCABO_MAX_CHOICES, 0, &err));
  assert_ok(cocabo_space_add(space, "x", "float(0,1)", &err));
  assert_ok(cocabo_options_set(options, "sampler", "smac", &err));
  cocabo_study *study = NULL;
  assert_ok(cocabo_study_create(&study, "s", space, options, NULL, &err));
  for (int i = 0; i < 25; i++) {
    const cb_trial *t = ask(study);
    assert_true(t->h[0] >= 0 && t->h[0] < 1000 && t->h[1] >= 0 && t->h[1] < 1000);
    tell(study, t->number, t->h[0] % 10 + 0.01 * t->h[1] + t->x[0]);
  }
  cocabo_study_free(study);
  cocabo_options_free(options);
  cocabo_space_free(space);
}

/* Far more results than the forest holds: it still knows the best ones. */
static void beyond_the_models_size_the_best_results_stay(void **state) {
  (void)state;
  cocabo_study *study = new_study(mixed, "smac", "model_size", "20");
  cocabo_study *chance = new_study(mixed, "random", "seed", "1");
  const char *const names[] = {"a", "b", "c", "d"};
  double least = INFINITY;
  for (int i = 0; i < 400; i++) {
    const cb_trial *t = ask(chance);
    cocabo_value values[4];
    const double value = cost(t);
    for (int k = 0; k < 4; k++)
      values[k] = cb_space_from_cell(cb_study_history(chance)->space, k, t->cells[k]);
    assert_ok(cocabo_study_add(study, names, values, 4, &value, &err));
    least = fmin(least, value);
  }
  double found = INFINITY;
  for (int i = 0; i < 60; i++) {
    const cb_trial *t = ask(study);
    const double value = cost(t);
    tell(study, t->number, value);
    found = fmin(found, value);
  }
  assert_true(found < 0.5 * least);
  cocabo_study_free(study);
  cocabo_study_free(chance);
}

/* With noise the best value is luck; the forest does better at naming a good point. */
static void noisy_values_are_averaged(void **state) {
  (void)state;
  double modelled = 0.0, luckiest = 0.0;
  for (uint64_t seed = 0; seed < 24; seed++) {
    cocabo_study *study = new_study(mixed, "smac", "deterministic", "false");
    const cb_history *history = cb_study_history(study);
    cb_rng rng = cb_rng_make(seed, CB_RNG_BENCH, 77);
    for (int i = 0; i < 100; i++) {
      const cb_trial *t = ask(study);
      tell(study, t->number, cost(t) + 0.6 * cb_rng_normal(&rng));
    }
    cocabo_trial *best;
    assert_ok(cocabo_study_best(study, &best, &err));
    modelled += cost(&history->trials[cocabo_trial_number(best)]);
    luckiest += cost(&history->trials[history->told[history->best]]);
    cocabo_trial_free(best);
    cocabo_study_free(study);
  }
  assert_true(modelled < luckiest);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(it_finds_what_chance_does_not),
      cmocka_unit_test(every_fifth_proposal_is_random),
      cmocka_unit_test(the_unit_of_values_does_not_matter),
      cmocka_unit_test(where_trials_fail_it_tries_less),
      cmocka_unit_test(a_thousand_categories_are_searched),
      cmocka_unit_test(noisy_values_are_averaged),
      cmocka_unit_test(beyond_the_models_size_the_best_results_stay),
  };
  return cmocka_run_group_tests_name("sampler/smac", tests, NULL, NULL);
}
