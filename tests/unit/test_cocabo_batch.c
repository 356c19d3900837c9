/* Algorithm 2: what a batch of the sampler cocabo consists of. What it shares with all
 * samplers is tested in tests/contract. */
#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "bandit/team.h"
#include "base/rng.h"
#include "study/study.h"

static cocabo_error err;
enum { MOST = 12 };

/* d numbers in [-1,1], then choices of arms[0..c-1] values. */
static cocabo_study *make_study(int d, int c, const int *arms, const char *horizon,
                                const char *lambda) {
  cocabo_study *study;
  cocabo_space *space = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_value values[20];
  char name[2] = "a";
  for (int k = 0; k < 20; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = k};
  for (int j = 0; j < d; j++, name[0]++)
    assert_ok(cocabo_space_add_real(space, name, -1, 1, 0, 0, &err));
  for (int j = 0; j < c; j++, name[0]++)
    assert_ok(cocabo_space_add_choice(space, name, values, (size_t)arms[j], 0, &err));
  assert_ok(cocabo_options_set(o, "sampler", "cocabo", &err));
  assert_ok(cocabo_options_set(o, "n_init", "6", &err));
  assert_ok(cocabo_options_set(o, "samples", "300", &err));
  assert_ok(cocabo_options_set(o, "horizon", horizon, &err));
  assert_ok(cocabo_options_set(o, "lambda", lambda, &err));
  assert_ok(cocabo_study_create(&study, "s", space, o, NULL, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

static const cb_trial *trial_at(const cocabo_study *study, int64_t number) {
  return &cb_study_history(study)->trials[number];
}

/* Returns the number of the first of the b trials. */
static int64_t ask(cocabo_study *study, int b) {
  cocabo_trial *t[MOST];
  const int64_t first = cocabo_study_count(study);
  assert_ok(cocabo_study_ask(study, (size_t)b, t, &err));
  for (int i = 0; i < b; i++)
    cocabo_trial_free(t[i]);
  return first;
}

/* To be minimised. */
static double objective(const cocabo_study *study, int64_t number) {
  const cocabo_space *space = cb_study_history(study)->space;
  const cb_trial *t = trial_at(study, number);
  double y = 0.0;
  for (int j = 0; j < space->d; j++)
    y += (t->x[j] - 0.31) * (t->x[j] - 0.31);
  for (int j = 0; j < space->c; j++)
    y += 0.3 * ((t->h[j] * 7 + j) % 5);
  return y;
}

static void tell(cocabo_study *study, int64_t number) {
  assert_ok(cocabo_study_tell(study, number, objective(study, number), &err));
}

static void play(cocabo_study *study, int b) {
  const int64_t first = ask(study, b);
  for (int i = 0; i < b; i++)
    tell(study, first + i);
}

static bool same_categories(const cocabo_study *study, int64_t i, int64_t k) {
  return memcmp(trial_at(study, i)->h, trial_at(study, k)->h,
                (size_t)cb_study_history(study)->space->c * sizeof(int32_t)) == 0;
}

/* ---- the categories -------------------------------------------------------------- */

static void equal_categories_are_worked_through_together(void **state) {
  (void)state;
  const int arms[] = {2, 3};
  cocabo_study *study = make_study(1, 2, arms, "0", "auto");
  int repeats = 0;
  play(study, 6);
  for (int round = 0; round < 6; round++) {
    const int64_t first = ask(study, 9); /* of 6 vectors */
    for (int i = 1; i < 9; i++) {
      const bool again = same_categories(study, first + i, first + i - 1);
      repeats += again;
      for (int k = 0; k < i - 1 && !again; k++)
        assert_false(same_categories(study, first + i, first + k));
      tell(study, first + i);
    }
  }
  assert_true(repeats >= 6 * 3);
  cocabo_study_free(study);
}

static void a_batch_has_different_categories_where_there_are_enough(void **state) {
  (void)state;
  const int arms[] = {17, 3, 5};
  cocabo_study *study = make_study(1, 3, arms, "20", "0.5");
  play(study, 6);
  for (int round = 0; round < 10; round++) {
    const int64_t first = ask(study, 4);
    for (int i = 0; i < 4; i++) {
      const cb_trial *t = trial_at(study, first + i);
      assert_int_equal(t->draws[0].b, 4);
      assert_int_equal(t->draws[1].b, 1);
      assert_int_equal(t->draws[2].b, 4);
      for (int k = 0; k < i; k++) {
        assert_true(t->h[0] != trial_at(study, first + k)->h[0]);
        assert_true(t->h[2] != trial_at(study, first + k)->h[2]);
      }
      tell(study, first + i);
    }
  }
  cocabo_study_free(study);
}

/* Batches of all sizes; results late, in another order, or never. A team that is told
 * the same must describe every draw as it is stored. */
static void stored_draws_are_the_teams(void **state) {
  (void)state;
  const int arms[] = {7, 3, 5};
  const int32_t n_arms[] = {7, 3, 5};
  const char *const horizons[] = {"0", "20"};
  const int sizes[] = {4, 1, 3, 6, 2, 1, 8, 4, 5, 3};
  for (int run = 0; run < 2; run++) {
    cocabo_study *study = make_study(1, 3, arms, horizons[run], "0.5");
    cb_team *team;
    assert_ok(cb_team_new(&team, 3, n_arms, CB_REWARD_RELATIVE, &err));
    play(study, 6);
    int64_t late = -1, taken_in = 0;
    for (int round = 0; round < 10; round++) {
      const cb_history *history = cb_study_history(study);
      for (; taken_in < history->n; taken_in++) {
        const cb_trial *t = trial_at(study, history->told[taken_in]);
        assert_ok(cb_team_tell(team, t->h, history->y[taken_in], t->draws, &err));
      }
      const int b = sizes[round];
      const int64_t first = ask(study, b);
      const cb_round now = {.horizon = 20 * run, .number = round + 1, .b = b};
      for (int i = 0; i < b; i++) {
        cb_draw want[3];
        const cb_trial *t = trial_at(study, first + i);
        cb_team_describe(team, &now, t->h, want);
        for (int j = 0; j < 3; j++) {
          assert_true(t->draws[j].p == want[j].p && t->draws[j].gamma == want[j].gamma);
          assert_int_equal(t->draws[j].b, want[j].b);
          assert_int_equal(t->draws[j].capped, want[j].capped);
        }
      }
      for (int i = b - 1; i > 0; i--)
        if (i != 2) /* it never comes */
          tell(study, first + i);
      if (late >= 0)
        tell(study, late);
      late = first;
    }
    cb_team_free(team);
    cocabo_study_free(study);
  }
}

/* 30 points, of which in the end none is left. What is drawn again is drawn by itself.
 */
static void categories_that_are_used_up_are_drawn_again(void **state) {
  (void)state;
  const int arms[] = {5, 6};
  cocabo_study *study = make_study(0, 2, arms, "8", "0.5");
  int together = 0, alone = 0;
  play(study, 6);
  for (int round = 0; round < 8; round++) {
    const int64_t first = ask(study, 3);
    for (int i = 0; i < 3; i++) {
      const cb_draw *draws = trial_at(study, first + i)->draws;
      assert_int_equal(draws[0].b, draws[1].b);
      together += draws[0].b == 3;
      alone += draws[0].b == 1;
      tell(study, first + i);
    }
  }
  assert_int_equal(together + alone, 24);
  assert_true(together >= 6 && alone >= 4);
  for (int64_t i = 0; i < 30; i++)
    for (int64_t k = 0; k < i; k++)
      assert_false(same_categories(study, i, k));
  cocabo_study_free(study);
}

/* ---- the numbers ----------------------------------------------------------------- */

/* The smallest distance between two points of the batch, whatever their categories. */
static double least_distance(const cocabo_study *study, int64_t first, int b) {
  double least = INFINITY;
  for (int i = 0; i < b; i++)
    for (int k = 0; k < i; k++)
      least = fmin(least, fabs(trial_at(study, first + i)->x[0] -
                               trial_at(study, first + k)->x[0]));
  return least;
}

static double spread_of_batches(int arms, const char *lambda) {
  cocabo_study *study = make_study(1, 1, &arms, "0", lambda);
  play(study, 6);
  double least = INFINITY;
  for (int round = 0; round < 3; round++) {
    const int64_t first = ask(study, 4);
    least = fmin(least, least_distance(study, first, 4));
    for (int i = 0; i < 4; i++)
      tell(study, first + i);
  }
  cocabo_study_free(study);
  return least;
}

/* Without fantasies all points of a batch would have the same arg max. */
static void points_of_the_same_categories_keep_apart(void **state) {
  (void)state;
  assert_true(spread_of_batches(1, "0.5") > 0.01);
}

/* In the sum kernel a point tells as much of x in other categories. */
static void points_of_other_categories_keep_apart_too(void **state) {
  (void)state;
  assert_true(spread_of_batches(9, "0") > 0.01);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_categories_are_worked_through_together),
      cmocka_unit_test(a_batch_has_different_categories_where_there_are_enough),
      cmocka_unit_test(stored_draws_are_the_teams),
      cmocka_unit_test(categories_that_are_used_up_are_drawn_again),
      cmocka_unit_test(points_of_the_same_categories_keep_apart),
      cmocka_unit_test(points_of_other_categories_keep_apart_too),
  };
  return cmocka_run_group_tests_name("sampler/cocabo", tests, NULL, NULL);
}
