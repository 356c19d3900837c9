/* What TPE makes of results, failures and pending trials. The contract suite has the
 * rest. */
#include "check.h"

#include <stdio.h>

#include "base/special.h"
#include "study/study.h"

static cocabo_error err;

enum { SEEDS = 60 };

/* To be maximised, without a design. */
static cocabo_study *new_study(int seed, const char *deterministic,
                               const char *const *domains) {
  cocabo_study *study;
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  char text[16];
  snprintf(text, sizeof text, "%d", seed);
  for (const char *const *d = domains; d[0]; d += 2)
    assert_ok(cocabo_space_add(space, d[0], d[1], &err));
  assert_ok(cocabo_options_set(options, "sampler", "tpe", &err));
  assert_ok(cocabo_options_set(options, "seed", text, &err));
  assert_ok(cocabo_options_set(options, "n_init", "0", &err));
  assert_ok(cocabo_options_set(options, "direction", "maximize", &err));
  assert_ok(cocabo_options_set(options, "deterministic", deterministic, &err));
  assert_ok(cocabo_study_create(&study, "s", space, options, NULL, &err));
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

static const cb_trial *ask(cocabo_study *study) {
  cocabo_trial *trial;
  assert_ok(cocabo_study_ask(study, 1, &trial, &err));
  const int64_t number = cocabo_trial_number(trial);
  cocabo_trial_free(trial);
  return &cb_study_history(study)->trials[number];
}

static void add_choice(cocabo_study *study, int64_t choice, double y) {
  const cb_cell cell = {.integer = choice};
  assert_ok(cb_study_add(study, &cell, &y, &err));
}

/* ---- the split ------------------------------------------------------------------- */

/* The best three results have choices 0, 1, 2, and all the others 3: what is among the
 * good is twice as likely in l as in g or more, the rest half as likely or less. */
static void count_proposals(int n, int counts[5]) {
  static const char *const domains[] = {"h", "choice(a,b,c,d,e)", NULL};
  for (int seed = 0; seed < SEEDS; seed++) {
    cocabo_study *study = new_study(seed, "false", domains);
    for (int i = 0; i < n; i++)
      add_choice(study, i % 9 == 4 && i < 27 ? i / 9 : 3, i % 9 == 4 ? 50.0 - i : -i);
    counts[ask(study)->h[0]]++;
    cocabo_study_free(study);
  }
}

static void a_quarter_of_the_root_is_good(void **state) {
  (void)state;
  static const struct {
    int n, good;
  } cases[] = {{9, 1}, {16, 1}, {40, 2}, {64, 2}, {65, 3}, {144, 3}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    int counts[5] = {0};
    count_proposals(cases[c].n, counts);
    for (int k = 0; k < 5; k++)
      if ((counts[k] > 0) != (k < cases[c].good))
        fail_msg("n = %d: choice %d was proposed %d times", cases[c].n, k, counts[k]);
  }
}

/* ---- numbers --------------------------------------------------------------------- */

static const char *const number_and_choice[] = {"x", "float(-1,1)", "h",
                                                "choice(a,b,c,d)", NULL};

static void add_point(cocabo_study *study, double x, int64_t h, const double *y) {
  const cb_cell cells[] = {{.real = x}, {.integer = h}};
  assert_ok(cb_study_add(study, cells, y, &err));
}

static void proposals_go_where_the_good_are(void **state) {
  (void)state;
  int near = 0, right = 0;
  for (int seed = 0; seed < SEEDS; seed++) {
    cocabo_study *study = new_study(seed, "true", number_and_choice);
    for (int i = 0; i < 60; i++) {
      const double x = sin(2.3 * i), y = -fabs(x - 0.6) - (i % 4 != 2);
      add_point(study, x, i % 4, &y);
    }
    const cb_trial *trial = ask(study);
    near += fabs(trial->x[0] - 0.6) < 0.3;
    right += trial->h[0] == 2;
    cocabo_study_free(study);
  }
  assert_true(near >= 50); /* chance: 18 */
  assert_int_equal(right, SEEDS);
}

/* Failed or pending: 40 points without a value on the one side, and one choice. */
static void check_avoided(bool fail) {
  int other_side = 0, same_choice = 0;
  for (int seed = 0; seed < SEEDS; seed++) {
    cocabo_study *study = new_study(seed, "true", number_and_choice);
    cocabo_trial *trials[40];
    for (int i = 0; i < 40; i++)
      add_point(study, 0.5 + 0.49 * sin(2.3 * i), 1, NULL);
    assert_ok(cocabo_study_ask(study, 40, trials, &err));
    for (int i = 0; i < 40; i++) {
      if (fail)
        assert_ok(
            cocabo_study_fail(study, cocabo_trial_number(trials[i]), "why", &err));
      cocabo_trial_free(trials[i]);
    }
    const cb_trial *trial = ask(study);
    other_side += trial->x[0] < 0.0;
    same_choice += trial->h[0] == 1;
    cocabo_study_free(study);
  }
  assert_true(other_side >= 57);
  assert_int_equal(same_choice, 0);
}

static void failures_are_avoided(void **state) {
  (void)state;
  check_avoided(true);
}

static void pending_trials_are_avoided(void **state) {
  (void)state;
  check_avoided(false);
}

/* Without anything to learn from, the points of a batch only know of each other. */
static void a_batch_keeps_its_points_apart(void **state) {
  (void)state;
  int same = 0;
  for (int seed = 0; seed < SEEDS; seed++) {
    cocabo_study *study = new_study(seed, "true", number_and_choice);
    cocabo_trial *trials[4];
    bool seen[4] = {false};
    assert_ok(cocabo_study_ask(study, 4, trials, &err));
    for (int k = 0; k < 4; k++) {
      const int64_t number = cocabo_trial_number(trials[k]);
      const int32_t h = cb_study_history(study)->trials[number].h[0];
      same += seen[h];
      seen[h] = true;
      cocabo_trial_free(trials[k]);
    }
    cocabo_study_free(study);
  }
  assert_int_equal(same, 0); /* chance: 0.9 a batch */
}

/* ---- grids ----------------------------------------------------------------------- */

/* With no results l and g are both the prior, and a proposal is a draw from it: the
 * normal as wide as the range and cut off there. The range ends half a cell beyond the
 * first and the last level. */
static void every_level_has_a_whole_cell(void **state) {
  (void)state;
  enum { LEVELS = 5, DRAWS = 3000 };
  static const char *const domains[] = {"n", "int(3,7)", NULL};
  int counts[LEVELS] = {0};
  for (int seed = 0; seed < DRAWS; seed++) {
    cocabo_study *study = new_study(seed, "true", domains);
    counts[ask(study)->cells[0].integer - 3]++;
    cocabo_study_free(study);
  }
  const double all = cb_normal_cdf(0.5) - cb_normal_cdf(-0.5);
  for (int k = 0; k < LEVELS; k++) {
    const double from = (double)k / LEVELS - 0.5, to = from + 1.0 / LEVELS;
    const double p = (cb_normal_cdf(to) - cb_normal_cdf(from)) / all;
    assert_true(fabs(counts[k] - DRAWS * p) < 4.5 * sqrt(DRAWS * p * (1.0 - p)));
  }
}

/* One parameter matters, and is best near its upper end; on a log scale cells are
 * small there. */
static bool follows(int which, int seed) {
  static const char *const domains[] = {
      "n", "int(1,4096,log)",  "s", "float(0,1,step=0.125)",
      "o", "ordinal(a,b,c,d)", NULL};
  cocabo_study *study = new_study(seed, "true", domains);
  for (int i = 0; i < 100; i++) {
    const cb_cell cells[] = {{.integer = (int64_t)pow(4096.0, fmod(0.618 * i, 1.0))},
                             {.real = 0.125 * (i % 9)},
                             {.integer = i % 4}};
    const double y[] = {-fabs(log((double)cells[0].integer / 3000.0)),
                        -fabs(cells[1].real - 0.875), (double)cells[2].integer};
    assert_ok(cb_study_add(study, cells, &y[which], &err));
  }
  const cb_cell *cells = ask(study)->cells;
  const bool near[] = {cells[0].integer >= 1000, cells[1].real >= 0.75,
                       cells[2].integer == 3};
  cocabo_study_free(study);
  return near[which];
}

static void grids_are_followed_too(void **state) {
  (void)state;
  for (int which = 0; which < 3; which++) {
    int near = 0;
    for (int seed = 0; seed < SEEDS; seed++)
      near += follows(which, seed);
    assert_true(near >= 54); /* chance: 10, 20, 15 */
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_quarter_of_the_root_is_good),
      cmocka_unit_test(proposals_go_where_the_good_are),
      cmocka_unit_test(failures_are_avoided),
      cmocka_unit_test(pending_trials_are_avoided),
      cmocka_unit_test(a_batch_keeps_its_points_apart),
      cmocka_unit_test(every_level_has_a_whole_cell),
      cmocka_unit_test(grids_are_followed_too),
  };
  return cmocka_run_group_tests_name("sampler/tpe", tests, NULL, NULL);
}
