/* EXP3BO: arms and their first points, the bandit over them, and what is refused. What
 * it shares with all samplers is tested in tests/contract. */
#include "check.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "study/study.h"

static cocabo_error err;
enum { MOST = 16, MAX_ARMS = 200 };

static cocabo_options *make_options(const char *sampler, const char *n_init) {
  cocabo_options *o = cocabo_options_new();
  assert_ok(cocabo_options_set(o, "sampler", sampler, &err));
  assert_ok(cocabo_options_set(o, "n_init", n_init, &err));
  return o;
}

/* d numbers in [-1,1], or on a grid of `levels` if that is not 0; then choices of
 * arms[0..c-1] values. */
static cocabo_space *make_space(int d, int levels, int c, const int *arms) {
  cocabo_space *space = cocabo_space_new();
  cocabo_value values[250];
  char name[2] = "a";
  for (int k = 0; k < 250; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = k};
  for (int j = 0; j < d; j++, name[0]++)
    if (levels > 0)
      assert_ok(cocabo_space_add_int(space, name, 1, levels, 0, 0, &err));
    else
      assert_ok(cocabo_space_add_real(space, name, -1, 1, 0, 0, &err));
  for (int j = 0; j < c; j++, name[0]++)
    assert_ok(cocabo_space_add_choice(space, name, values, (size_t)arms[j], 0, &err));
  return space;
}

static cocabo_study *make_study(int d, int levels, int c, const int *arms,
                                const char *n_init) {
  cocabo_study *study;
  cocabo_space *space = make_space(d, levels, c, arms);
  cocabo_options *o = make_options("exp3bo", n_init);
  assert_ok(cocabo_study_create(&study, "s", space, o, NULL, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

static const cb_trial *trial_at(const cocabo_study *study, int64_t number) {
  return &cb_study_history(study)->trials[number];
}

/* Asks for b points; returns the number of the first. */
static int64_t ask(cocabo_study *study, int b) {
  cocabo_trial *t[MOST];
  const int64_t first = cocabo_study_count(study);
  assert_ok(cocabo_study_ask(study, (size_t)b, t, &err));
  for (int i = 0; i < b; i++)
    cocabo_trial_free(t[i]);
  return first;
}

/* To be minimised; best where all categories are 1. */
static void tell(cocabo_study *study, int64_t number) {
  const cocabo_space *space = cb_study_history(study)->space;
  const cb_trial *t = trial_at(study, number);
  double y = 0.0;
  for (int j = 0; j < space->d; j++)
    y += (t->x[j] - 0.31) * (t->x[j] - 0.31);
  for (int j = 0; j < space->c; j++)
    y += 0.7 * (t->h[j] != 1);
  assert_ok(cocabo_study_tell(study, number, y, &err));
}

/* Trials of each combination of two categories among those numbered from first on. */
static void count_arms(const cocabo_study *study, int64_t first, int n_second,
                       int *count) {
  memset(count, 0, MAX_ARMS * sizeof *count);
  for (int64_t i = first; i < cocabo_study_count(study); i++)
    count[trial_at(study, i)->h[0] * n_second + trial_at(study, i)->h[1]]++;
}

static void every_arm_has_three_points_before_the_bandit_draws(void **state) {
  (void)state;
  const int arms[] = {3, 4};
  int count[MAX_ARMS];
  for (int b = 1; b <= 5; b += 2) { /* batches cross the border */
    cocabo_study *study = make_study(2, 0, 2, arms, "0");
    while (cocabo_study_count(study) < 36 + 8) {
      const int64_t first = ask(study, b);
      for (int k = 0; k < b; k++)
        if ((first + k) % 5 > 0) /* the others stay pending */
          tell(study, first + k);
    }
    for (int64_t i = 0; i < cocabo_study_count(study); i++)
      assert_true((trial_at(study, i)->draws != NULL) == (i >= 36));
    count_arms(study, 0, 4, count);
    for (int a = 0; a < 12; a++)
      assert_true(count[a] >= 3);
    cocabo_study_free(study);
  }
}

static void first_points_go_round_the_arms(void **state) {
  (void)state;
  const int arms[] = {3, 4};
  int count[MAX_ARMS];
  cocabo_study *study = make_study(1, 0, 2, arms, "0");
  for (int round = 1; round <= 3; round++) {
    for (int i = 0; i < 12; i++)
      tell(study, ask(study, 1));
    count_arms(study, 0, 4, count);
    for (int a = 0; a < 12; a++)
      assert_int_equal(count[a], round);
  }
  cocabo_study_free(study);
}

/* Points of the design count, and so do failures: no arm is tried for ever. */
static void points_of_others_and_failures_count(void **state) {
  (void)state;
  const int arms[] = {2, 3};
  int count[MAX_ARMS];
  cocabo_study *study = make_study(2, 0, 2, arms, "7");
  for (int i = 0; i < 7; i++)
    tell(study, ask(study, 1));
  count_arms(study, 0, 3, count);
  int lacking = 0;
  for (int a = 0; a < 6; a++)
    lacking += count[a] < 3 ? 3 - count[a] : 0;
  assert_in_range(lacking, 11, 17);
  for (int i = 0; i < lacking; i++) {
    const int64_t number = ask(study, 1);
    assert_null(trial_at(study, number)->draws);
    assert_ok(cocabo_study_fail(study, number, "why", &err));
  }
  assert_non_null(trial_at(study, ask(study, 1))->draws);
  cocabo_study_free(study);
}

/* 12 arms of 2 points, and 12 arms of a single one: all of them, each once. */
static void small_arms_are_used_up(void **state) {
  (void)state;
  const int arms[] = {3, 4};
  for (int levels = 0; levels <= 2; levels += 2) {
    const int size = levels ? 24 : 12;
    cocabo_study *study = make_study(levels ? 1 : 0, levels, 2, arms, "0");
    for (int i = 0; i < size; i += 4) {
      const int64_t first = ask(study, 4);
      for (int k = 0; k < 3; k++)
        tell(study, first + k);
    }
    assert_int_equal(cb_history_distinct(cb_study_history(study)), size);
    cocabo_trial *t = NULL;
    assert_int_equal(cocabo_study_ask(study, 1, &t, &err), COCABO_E_EXHAUSTED);
    cocabo_study_free(study);
  }
}

/* The first category that is a choice has it; the others are certain, given that. */
static void the_draw_of_an_arm_is_stored_once(void **state) {
  (void)state;
  const int arms[] = {1, 2, 3};
  cocabo_study *study = make_study(1, 0, 3, arms, "0");
  for (int i = 0; i < 40; i++)
    tell(study, ask(study, 1));
  double gamma = 0.0;
  for (int64_t i = 18; i < 40; i++) {
    const cb_draw *draws = trial_at(study, i)->draws;
    assert_non_null(draws);
    assert_true(draws[1].p >= draws[1].gamma / 6 && draws[1].p < 1.0);
    for (int j = 0; j < 3; j += 2)
      assert_true(draws[j].p == 1.0 && draws[j].gamma == 0.0 && draws[j].b == 1 &&
                  !draws[j].capped);
    gamma = draws[1].gamma;
  }
  /* Anytime, 6 arms, round 40. */
  assert_close(gamma, sqrt(6.0 * log(6.0) / ((exp(1.0) - 1.0) * 40.0)), 1e-14);
  cocabo_study_free(study);
}

static const cb_draw *draws_after_change(cocabo_study *study, const char *sampler,
                                         int rounds) {
  const char *const names[] = {"sampler"}, *const values[] = {sampler};
  int64_t number = 0;
  assert_ok(cocabo_study_change(study, names, values, 1, &err));
  for (int i = 0; i < rounds; i++) {
    number = ask(study, 1);
    tell(study, number);
  }
  return trial_at(study, number)->draws;
}

/* Weights that nothing has moved give equal chances. */
static void a_bandit_learns_nothing_from_draws_of_another_kind(void **state) {
  (void)state;
  const int arms[] = {2, 3};
  cocabo_study *study = make_study(1, 0, 2, arms, "0");
  for (int i = 0; i < 40; i++)
    tell(study, ask(study, 1));
  const cb_draw *draws = draws_after_change(study, "cocabo", 1);
  assert_close(draws[0].p, 1.0 / 2, 1e-14);
  assert_close(draws[1].p, 1.0 / 3, 1e-14);
  cocabo_study_free(study);

  study = make_study(1, 0, 2, arms, "0");
  (void)draws_after_change(study, "random", 30); /* three points for each arm */
  (void)draws_after_change(study, "cocabo", 30);
  draws = draws_after_change(study, "exp3bo", 1);
  assert_close(draws[0].p, 1.0 / 6, 1e-14);
  cocabo_study_free(study);
}

/* A change there and back, and a change where the two kinds of draws are the same. */
static void a_bandit_learns_from_draws_of_its_own_kind(void **state) {
  (void)state;
  const int arms[] = {2, 3}, one_choice[] = {1, 3};
  cocabo_study *study = make_study(1, 0, 2, arms, "0");
  for (int i = 0; i < 60; i++)
    tell(study, ask(study, 1));
  (void)draws_after_change(study, "cocabo", 10);
  const cb_draw *draws = draws_after_change(study, "exp3bo", 1);
  assert_true(fabs(draws[0].p - 1.0 / 6) > 1e-3);
  draws = draws_after_change(study, "cocabo", 1);
  assert_true(fabs(draws[0].p - 1.0 / 2) > 1e-3);
  cocabo_study_free(study);

  study = make_study(1, 0, 2, one_choice, "0");
  for (int i = 0; i < 40; i++)
    tell(study, ask(study, 1));
  draws = draws_after_change(study, "cocabo", 1);
  assert_true(fabs(draws[1].p - 1.0 / 3) > 1e-3);
  draws = draws_after_change(study, "exp3bo", 1);
  assert_true(fabs(draws[1].p - 1.0 / 3) > 1e-3);
  cocabo_study_free(study);
}

static void the_best_arm_is_played_most(void **state) {
  (void)state;
  const int arms[] = {2, 2};
  int count[MAX_ARMS];
  cocabo_study *study = make_study(1, 0, 2, arms, "0");
  for (int i = 0; i < 162; i++)
    tell(study, ask(study, 1));
  count_arms(study, 12, 2, count);
  for (int a = 0; a < 3; a++)
    assert_true(count[3] > 2 * count[a]);
  assert_int_equal(cb_study_history(study)->fit.n_theta, 4 * 2);
  cocabo_study_free(study);
}

/* The first arm has the best value, but the noise says that it was luck. In units of
 * the value, what it was above its arm's mean is no double any more. */
static void the_best_of_noisy_arms_is_found_at_any_scale(void **state) {
  (void)state;
  const int arms[] = {2};
  const double scales[] = {1.0, DBL_MAX};
  const char *const names[] = {"a", "b"};
  for (int s = 0; s < 2; s++) {
    cocabo_study *study = make_study(1, 0, 1, arms, "0");
    assert_ok(cocabo_study_change(study, (const char *const[]){"deterministic"},
                                  (const char *const[]){"false"}, 1, &err));
    for (int i = 0; i < 10; i++) {
      const int place = i / 2;
      const cocabo_value values[] = {
          {.type = COCABO_REAL, .as.real = -0.8 + 0.4 * place},
          {.type = COCABO_INT, .as.integer = i % 2}};
      const double y = scales[s] * (i % 2 ? -0.8 : i == 4 ? -0.9 : 1.0);
      assert_ok(cocabo_study_add(study, names, values, 2, &y, &err));
    }
    cocabo_trial *best = NULL;
    assert_ok(cocabo_study_best(study, &best, &err));
    assert_int_equal(cocabo_trial_number(best) % 2, 1);
    cocabo_trial_free(best);
    cocabo_study_free(study);
  }
}

static void two_hundred_combinations_are_the_most(void **state) {
  (void)state;
  const int most[] = {200}, more[] = {3, 67}, ackley[] = {17, 17, 17, 17, 17};
  cocabo_study *study = make_study(1, 0, 1, most, "0");
  ask(study, 3);
  cocabo_study_free(study);

  cocabo_options *o = make_options("exp3bo", "4");
  cocabo_space *space = make_space(1, 0, 2, more);
  assert_fails(cocabo_study_create(&study, "s", space, o, NULL, &err), COCABO_E_INVALID,
               "exp3bo keeps a model for each of the 201 combinations of categories, "
               "of which it can have at most 200; use sampler=cocabo or sampler=mixed");
  cocabo_space_free(space);
  space = make_space(1, 0, 5, ackley);
  assert_fails(cocabo_study_create(&study, "s", space, o, NULL, &err), COCABO_E_INVALID,
               "exp3bo keeps a model for each of the 1419857 combinations of "
               "categories, of which it can have at most 200; use sampler=cocabo or "
               "sampler=mixed");
  cocabo_options_free(o);
  cocabo_space_free(space);
}

/* A study that has begun is not led into it either, and goes on as it was. */
static void a_change_of_sampler_is_refused_likewise(void **state) {
  (void)state;
  const int more[] = {3, 67};
  cocabo_study *study;
  cocabo_options *o = make_options("random", "0");
  cocabo_space *space = make_space(1, 0, 2, more);
  const cb_pair change = {.name = "sampler", .value = "exp3bo"};
  assert_ok(cocabo_study_create(&study, "s", space, o, NULL, &err));
  assert_int_equal(cb_study_change(study, &change, 1, &err), COCABO_E_INVALID);
  assert_non_null(strstr(err.message, "201 combinations"));
  tell(study, ask(study, 1));
  cocabo_study_free(study);
  cocabo_options_free(o);
  cocabo_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_arm_has_three_points_before_the_bandit_draws),
      cmocka_unit_test(first_points_go_round_the_arms),
      cmocka_unit_test(points_of_others_and_failures_count),
      cmocka_unit_test(small_arms_are_used_up),
      cmocka_unit_test(the_draw_of_an_arm_is_stored_once),
      cmocka_unit_test(a_bandit_learns_nothing_from_draws_of_another_kind),
      cmocka_unit_test(a_bandit_learns_from_draws_of_its_own_kind),
      cmocka_unit_test(the_best_arm_is_played_most),
      cmocka_unit_test(the_best_of_noisy_arms_is_found_at_any_scale),
      cmocka_unit_test(two_hundred_combinations_are_the_most),
      cmocka_unit_test(a_change_of_sampler_is_refused_likewise),
  };
  return cmocka_run_group_tests_name("sampler/exp3bo", tests, NULL, NULL);
}
