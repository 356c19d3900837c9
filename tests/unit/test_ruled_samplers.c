/* What each sampler makes of conditions and rules. That it keeps to them is tested in
 * tests/contract. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "sampler/sampler.h"
#include "study/study.h"

static cocabo_error err;

/* Domains as pairs of name and text, rules, options as pairs; each ended by NULL. */
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static cocabo_space *new_space(const char *const *domains, const char *const *rules) {
  cocabo_space *space = cocabo_space_new();
  for (; domains[0]; domains += 2)
    assert_ok(cocabo_space_add(space, domains[0], domains[1], &err));
  for (; rules[0]; rules++)
    assert_ok(cocabo_space_rule(space, rules[0], &err));
  return space;
}

static cocabo_study *new_study(const char *sampler, int seed,
                               const char *const *domains, const char *const *rules,
                               const char *const *pairs) {
  cocabo_study *study;
  cocabo_space *space = new_space(domains, rules);
  cocabo_options *o = cocabo_options_new();
  char text[16];
  snprintf(text, sizeof text, "%d", seed);
  assert_ok(cocabo_options_set(o, "sampler", sampler, &err));
  assert_ok(cocabo_options_set(o, "seed", text, &err));
  for (; pairs[0]; pairs += 2)
    assert_ok(cocabo_options_set(o, pairs[0], pairs[1], &err));
  assert_ok(cocabo_study_create(&study, "s", space, o, NULL, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

static const cb_trial *ask(cocabo_study *study) {
  cocabo_trial *trial = NULL;
  assert_ok(cocabo_study_ask(study, 1, &trial, &err));
  const int64_t number = cocabo_trial_number(trial);
  cocabo_trial_free(trial);
  return &cb_study_history(study)->trials[number];
}

/* ---- sobol ----------------------------------------------------------------------- */

/* The same sequence without what is forbidden: no place is passed over for another
 * reason, and none comes twice. */
static void check_subsequence(const char *deterministic) {
  const char *const *domains = LIST("x", "float(0,1)", "y", "float(0,1)");
  const char *const *options = LIST("n_init", "0", "deterministic", deterministic);
  cocabo_study *all = new_study("sobol", 3, domains, LIST(NULL), options);
  cocabo_study *ruled = new_study("sobol", 3, domains, LIST("x + y < 0.4"), options);
  int found = 0;
  for (int i = 0; i < 600; i++) {
    const cb_trial *want = ask(all);
    if (!(want->cells[0].real + want->cells[1].real < 0.4))
      continue;
    const cb_cell cells[2] = {want->cells[0], want->cells[1]};
    const cb_trial *got = ask(ruled);
    if (!cb_cells_equal(2, got->cells, cells))
      fail_msg("point %d is not the next that is allowed", found);
    found++;
  }
  assert_in_range(found, 40, 56); /* 0.08 of them */
  cocabo_study_free(all);
  cocabo_study_free(ruled);
}

static void sobol_points_are_those_that_are_allowed(void **state) {
  (void)state;
  check_subsequence("true");
  check_subsequence("false");
}

/* Where they are rare, random ones take over: noisy or not, none comes again. */
static void rare_points_do_not_come_again(void **state) {
  (void)state;
  cocabo_study *study =
      new_study("sobol", 3, LIST("x", "float(0,1)"), LIST("x < 0.0004"),
                LIST("n_init", "0", "deterministic", "false"));
  for (int i = 0; i < 20; i++)
    assert_true(ask(study)->cells[0].real < 0.0004);
  assert_int_equal(cb_history_distinct(cb_study_history(study)), 20);
  cocabo_study_free(study);
}

/* ---- tpe ------------------------------------------------------------------------- */

/* Good values of x are near 0, which is also what stands in its row where it is
 * inactive: as it is in most of the bad trials, and in those with category 1 of h. */
static void estimators_know_active_trials_only(void **state) {
  (void)state;
  int near = 0, seen = 0, right = 0;
  for (int seed = 0; seed < 60; seed++) {
    cocabo_study *study =
        new_study("tpe", seed,
                  LIST("k", "choice(a,b)", "x", "float(-1,1) if k == a", "h",
                       "choice(p,q,r) if k == a"),
                  LIST(NULL), LIST("n_init", "0", "direction", "maximize"));
    for (int i = 0; i < 120; i++) {
      const bool active = i % 3 == 0;
      const double x = sin(2.3 * i), y = active ? -fabs(x) - (i % 9 != 3) : -3.0;
      const cb_cell cells[] = {{.integer = !active},
                               active ? (cb_cell){.real = x + (x == 0.0)} : CB_INACTIVE,
                               active ? (cb_cell){.integer = i / 3 % 3} : CB_INACTIVE};
      const cocabo_status status = cb_study_add(study, cells, &y, &err);
      assert_int_equal(status, COCABO_OK);
    }
    const cb_trial *trial = ask(study);
    seen += cb_cell_is_active(trial->cells[1]);
    near += cb_cell_is_active(trial->cells[1]) && fabs(trial->cells[1].real) < 0.3;
    right += cb_cell_is_active(trial->cells[1]) && trial->cells[2].integer == 1;
    cocabo_study_free(study);
  }
  assert_int_equal(seen, 60);
  assert_true(near >= 50); /* chance: 18 */
  assert_true(right >= 57);
}

/* ---- cocabo ---------------------------------------------------------------------- */

/* One category of twenty is allowed: a bandit that did not draw it has not drawn. */
static void what_the_rules_leave_is_not_the_bandits_draw(void **state) {
  (void)state;
  cocabo_study *study =
      new_study("cocabo", 1,
                LIST("x", "float(0,1)", "c",
                     "choice(0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17)"),
                LIST("c == 7"), LIST("n_init", "2", "samples", "60"));
  int drawn = 0, left = 0;
  for (int i = 0; i < 24; i++) {
    const cb_trial *t = ask(study);
    assert_int_equal(t->h[0], 7);
    if (i >= 2) {
      drawn += t->draws != NULL;
      left += t->draws == NULL;
    }
    assert_ok(cocabo_study_tell(study, t->number, t->x[0], &err));
  }
  assert_true(drawn > 0 && left > 0);
  cocabo_study_free(study);
}

/* A choice that is not there: asks and tells go on, whatever the bandits are told. */
static void inactive_choices_teach_nothing(void **state) {
  (void)state;
  for (int init = 0; init < 2; init++) {
    cocabo_study *study = new_study(
        "cocabo", 1,
        LIST("on", "bool", "c", "choice(a,b,c,d) if on", "x", "float(0,1) if c == b"),
        LIST(NULL),
        LIST("n_init", "4", "samples", "60", "bandit_init", init ? "true" : "false"));
    int without = 0;
    for (int i = 0; i < 9 && without < 1; i++) {
      const cb_trial *t = ask(study);
      without += t->h[1] == 4;
      assert_ok(cocabo_study_tell(study, t->number, 0.1 * i, &err));
    }
    assert_true(without > 0);
    cocabo_study_free(study);
  }
}

/* ---- exp3bo ---------------------------------------------------------------------- */

static void exp3bo_names_another_sampler(void **state) {
  (void)state;
  const cb_sampler *exp3bo = cb_sampler_find("exp3bo");
  cocabo_space *space =
      new_space(LIST("k", "bool", "x", "float(0,1) if k"), LIST("x < 0.5"));
  assert_fails(exp3bo->accepts(space, &err), COCABO_E_INVALID,
               "exp3bo keeps a model for each combination of categories, which knows "
               "nothing of conditions; use sampler=mixed");
  cocabo_space_free(space);
  space = new_space(LIST("k", "bool", "x", "float(0,1)"), LIST("x < 0.5 or k"));
  assert_fails(exp3bo->accepts(space, &err), COCABO_E_INVALID,
               "exp3bo keeps a model for each combination of categories, which knows "
               "nothing of rules; use sampler=mixed");
  cocabo_space_free(space);
}

/* ---- all ------------------------------------------------------------------------- */

static bool accepts(const cb_sampler *sampler) {
  return strcmp(sampler->name, "exp3bo") != 0;
}

/* No random point keeps the rules; repaired ones do, and are different. */
static void narrow_spaces_have_points_enough(void **state) {
  (void)state;
  for (int s = 0; cb_sampler_at(s); s++) {
    if (!accepts(cb_sampler_at(s)))
      continue;
    cocabo_study *study = new_study(
        cb_sampler_at(s)->name, 1,
        LIST("x", "float(0,1)", "y", "float(0,1)", "k", "choice(a,b,c)", "z",
             "float(0,1)", "n", "int(1,100000) if k != a", "m", "int(1,100000)"),
        LIST("x + y + z == 1", "n == m"), LIST("n_init", "3", "samples", "50"));
    for (int i = 0; i < 10; i++) {
      const cb_trial *t = ask(study);
      assert_true(t->cells[0].real + t->cells[1].real + t->cells[3].real == 1.0);
      assert_true(!cb_cell_is_active(t->cells[4]) ||
                  t->cells[4].integer == t->cells[5].integer);
      assert_ok(
          cocabo_study_tell(study, t->number, fabs(t->cells[0].real - 0.3), &err));
    }
    assert_int_equal(cb_history_distinct(cb_study_history(study)), 10);
    cocabo_study_free(study);
  }
}

/* Best of n trials on a tree with rules, to be minimised; 0 is the optimum. */
static double best_of(const char *sampler, int seed, int n) {
  double best = INFINITY;
  cocabo_study *study = new_study(
      sampler, seed,
      LIST("model", "choice(svm,net,tree,line)", "rate", "float(0,1) if model == net",
           "decay", "float(0,1) if model == net", "depth", "int(1,20) if model == tree",
           "c", "float(-3,3) if model in (svm, line)"),
      LIST("rate + decay < 0.9", "depth % 2 == 1"),
      LIST("n_init", "8", "samples", "200"));
  for (int i = 0; i < n; i++) {
    const cb_trial *t = ask(study);
    const cb_cell *v = t->cells;
    double y = 0.0;
    if (v[0].integer == 1)
      y = fabs(v[1].real - 0.6) + fabs(v[2].real - 0.25);
    else if (v[0].integer == 2)
      y = 0.3 + 0.05 * fabs((double)v[3].integer - 13.0);
    else
      y = 0.4 + 0.2 * fabs(v[4].real) + 0.2 * (double)(v[0].integer == 3);
    best = fmin(best, y);
    assert_ok(cocabo_study_tell(study, t->number, y, &err));
  }
  cocabo_study_free(study);
  return best;
}

static double mean_best(const char *sampler) {
  enum { SEEDS = 12 };
  double sum = 0.0;
  for (int seed = 0; seed < SEEDS; seed++)
    sum += best_of(sampler, seed, 40);
  return sum / SEEDS;
}

static void models_beat_chance(void **state) {
  (void)state;
  const double chance = mean_best("random");
  for (int s = 0; cb_sampler_at(s); s++) {
    const cb_sampler *sampler = cb_sampler_at(s);
    if (!accepts(sampler) || strcmp(sampler->name, "random") == 0 ||
        strcmp(sampler->name, "sobol") == 0)
      continue;
    const double got = mean_best(sampler->name);
    if (!(got < 0.8 * chance))
      fail_msg("%s: %g, want less than 0.8 of %g", sampler->name, got, chance);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(sobol_points_are_those_that_are_allowed),
      cmocka_unit_test(rare_points_do_not_come_again),
      cmocka_unit_test(estimators_know_active_trials_only),
      cmocka_unit_test(what_the_rules_leave_is_not_the_bandits_draw),
      cmocka_unit_test(inactive_choices_teach_nothing),
      cmocka_unit_test(exp3bo_names_another_sampler),
      cmocka_unit_test(narrow_spaces_have_points_enough),
      cmocka_unit_test(models_beat_chance),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
