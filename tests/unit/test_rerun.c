/* Trials that are run several times: when a known point is run once more, and what the
 * samplers make of means and errors that change after they were told. */
#include "check.h"

static cocabo_error err;

#include "runs.h"
#include "sampler/learner.h"
#include "sampler/surrogate.h"

typedef struct choice {
  int64_t row;
  double gain_new, gain_again;
} choice;

static choice choose(const runs *r, void *state) {
  const cb_ask ask = runs_ask(r);
  choice c = {0};
  assert_ok(r->resolved.sampler->rerun(state, &ask, &c.row, &c.gain_new, &c.gain_again,
                                       &err));
  return c;
}

/* ---- when ------------------------------------------------------------------------ */

/* Exact values, enough to know all but a corner; and there one that is better than
 * anything can be. */
static int64_t open_lucky(runs *r, const char *sampler, const char *deterministic) {
  cb_cell cells[RUNS_PARAMS];
  cb_rng rng = cb_rng_make(41, CB_RNG_BENCH, 2);
  runs_open(r, sampler, deterministic, 5, 0.0);
  for (int i = 0; i < 28; i++) {
    cb_space_sample(r->space, &rng, cells);
    runs_add(r, cells, NULL, i < 8, NULL);
  }
  cells[0].real = -0.9;
  cells[1].real = -0.9;
  cells[2].integer = 0;
  const double lucky = 0.4;
  runs_add(r, cells, NULL, false, &lucky);
  const int64_t row = r->history->n - 1;
  cb_history_revise(r->history, row, lucky, 0.25);
  r->history->run_variance = 0.25;
  runs_fit(r);
  return row;
}

static void a_lucky_value_is_run_again(void **state) {
  (void)state;
  static const char *const samplers[] = {"mixed", "onehot"};
  for (int s = 0; s < 2; s++) {
    static runs r;
    const int64_t lucky = open_lucky(&r, samplers[s], s ? "false" : "true");
    const choice c = choose(&r, r.state);
    assert_int_equal(c.row, lucky);
    assert_true(c.gain_again > c.gain_new && c.gain_new >= 0.0);
    runs_close(&r);
  }
}

/* It was not luck: the same value comes again and again, and there is less and less to
 * learn. That there are no more re-runs than sampled points, 21, is not what ends it.
 */
static void no_row_is_run_for_ever(void **state) {
  (void)state;
  static runs r;
  const int64_t lucky = open_lucky(&r, "mixed", "true");
  const choice first = choose(&r, r.state);
  int count = 0;
  for (choice c = first; c.row == lucky; c = choose(&r, r.state)) {
    count++;
    cb_history_revise(r.history, lucky, 0.4, 0.25 / (count + 1));
    assert_true(count < 20);
  }
  assert_true(count > 0);
  cb_history_revise(r.history, lucky, 0.4, 0.25 / 900);
  const choice last = choose(&r, r.state);
  assert_true(last.row != lucky && last.gain_again < 0.05 * first.gain_again);
  runs_close(&r);
}

static void exact_values_are_never_run_again(void **state) {
  (void)state;
  static const char *const deterministic[] = {"true", "false"};
  for (int d = 0; d < 2; d++) {
    static runs r;
    runs_open(&r, "mixed", deterministic[d], 7, d ? 1e-5 : 0.0);
    while (r.count < 45)
      runs_step(&r, d > 0);
    const choice c = choose(&r, r.state);
    assert_int_equal(c.row, -1);
    assert_true(d || c.gain_again == 0.0);
    assert_int_equal(r.repeats, d ? 4 : 0); /* those of the design */
    runs_close(&r);
  }
}

/* However sure the model is: 21 points were sampled. */
static void new_points_come_at_least_as_often(void **state) {
  (void)state;
  static runs r;
  const int64_t lucky = open_lucky(&r, "mixed", "true");
  const int64_t other = 0; /* far from the top */
  assert_true(r.history->y[other] < -0.5);
  for (int runs_of_it = 20; runs_of_it <= 24; runs_of_it += 4) {
    cb_history_revise(r.history, other, r.history->y[other], 0.25 / runs_of_it);
    const choice c = choose(&r, r.state);
    assert_true(c.gain_again > c.gain_new);
    assert_int_equal(c.row, runs_of_it < 22 ? lucky : -1);
  }
  runs_close(&r);
}

static void too_few_results_say_nothing(void **state) {
  (void)state;
  static runs r;
  cb_cell cells[RUNS_PARAMS];
  cb_rng rng = cb_rng_make(43, CB_RNG_BENCH, 2);
  runs_open(&r, "mixed", "false", 13, 0.3);
  for (int i = 0; i < 2; i++) {
    const choice c = choose(&r, r.state);
    assert_int_equal(c.row, -1);
    assert_true(c.gain_new == 0.0 && c.gain_again == 0.0);
    cb_space_sample(r.space, &rng, cells);
    runs_add(&r, cells, NULL, true, NULL);
  }
  runs_close(&r);
}

/* ---- the same bits --------------------------------------------------------------- */

/* Returns with which chance a bandit drew the category; 0: none did. */
static double propose(const runs *r, void *state, const cb_settings *settings,
                      cb_cell *cells) {
  cb_draw draws[RUNS_PARAMS];
  cb_proposal out = {.cells = cells, .draws = draws};
  cb_ask ask = runs_ask(r);
  ask.settings = settings;
  assert_ok(r->resolved.sampler->propose(state, &ask, &out, &err));
  return out.drawn ? draws[0].p : 0.0;
}

static void compare_with_fresh(runs *r) {
  const cb_sampler *sampler = r->resolved.sampler;
  const cb_ask ask = runs_ask(r);
  cb_cell cells[2][RUNS_PARAMS];
  int64_t best[2] = {-1, -1};
  void *fresh;
  assert_ok(sampler->create(&fresh, r->space, &r->resolved.settings, &err));
  if (sampler->rerun) {
    const choice a = choose(r, r->state), b = choose(r, fresh);
    assert_int_equal(a.row, b.row);
    assert_memory_equal(&a.gain_new, &b.gain_new, sizeof a.gain_new);
    assert_memory_equal(&a.gain_again, &b.gain_again, sizeof a.gain_again);
  }
  const double p = propose(r, r->state, ask.settings, cells[0]);
  assert_true(propose(r, fresh, ask.settings, cells[1]) == p);
  assert_memory_equal(cells[0], cells[1], sizeof cells[0]);
  if (sampler->best) {
    assert_ok(sampler->best(r->state, &ask, &best[0], &err));
    assert_ok(sampler->best(fresh, &ask, &best[1], &err));
    assert_int_equal(best[0], best[1]);
  }
  sampler->destroy(fresh);
}

static void a_restart_proposes_the_same_after_revisions(void **state) {
  (void)state;
  static const char *const samplers[] = {"mixed",  "cocabo", "onehot",
                                         "exp3bo", "smac",   "tpe"};
  for (int s = 0; s < 6; s++) {
    static runs r;
    runs_open(&r, samplers[s], s % 2 ? "false" : "true", 17 + (uint64_t)s, 0.3);
    cb_rng rng = cb_rng_make(47, CB_RNG_BENCH, (uint64_t)s);
    while (r.count < 44) {
      runs_step(&r, true);
      if (r.history->n > 8 && r.count % 3 == 0)
        runs_again(&r, (int64_t)cb_rng_below(&rng, (uint32_t)r.history->n));
      if (r.history->n > 8 && r.count % 4 == 0)
        compare_with_fresh(&r);
    }
    runs_close(&r);
  }
}

/* Whatever the user says of the objective: with the same fit the same is proposed. */
static void where_errors_are_known_the_incumbent_is_the_best_mean(void **state) {
  (void)state;
  static const char *const samplers[] = {"mixed", "onehot"};
  for (int s = 0; s < 2; s++) {
    static runs r;
    runs_open(&r, samplers[s], "true", 31, 0.4);
    cb_settings noisy = r.resolved.settings;
    noisy.deterministic = false;
    void *other;
    assert_ok(r.resolved.sampler->create(&other, r.space, &noisy, &err));
    for (int luckiest = 0; r.count < 36;) {
      cb_cell cells[2][RUNS_PARAMS];
      runs_step(&r, true);
      if (r.history->n <= 10)
        continue;
      luckiest += runs_best(&r) != r.history->best;
      propose(&r, r.state, &r.resolved.settings, cells[0]);
      propose(&r, other, &noisy, cells[1]);
      assert_memory_equal(cells[0], cells[1], sizeof cells[0]);
      assert_true(r.count < 35 || luckiest > 0);
    }
    r.resolved.sampler->destroy(other);
    runs_close(&r);
  }
}

/* ---- units ----------------------------------------------------------------------- */

/* What the sampler predicts is what a process predicts that has the values and their
 * variances as they are: no transform of the targets shows, and none is cut off here.
 */
static void check_units(const char *sampler, const cb_kernel_spec *spec, int theta_at) {
  static runs r;
  cb_cell cells[RUNS_PARAMS];
  cb_rng rng = cb_rng_make(53, CB_RNG_BENCH, 2);
  cb_surrogate *plain;
  runs_open(&r, sampler, "true", 23, 0.2);
  for (int i = 0; i < 24; i++) {
    cb_space_sample(r.space, &rng, cells);
    cells[0].real *= 0.4;
    cells[1].real *= 0.4;
    runs_add(&r, cells, NULL, i < 8, NULL);
  }
  for (int64_t i = 0; i < r.history->n; i++)
    cb_history_revise(r.history, i, r.history->y[i], 0.07 * (double)(i % 5));
  runs_fit(&r);
  const cb_ask ask = runs_ask(&r);
  assert_ok(cb_surrogate_new(&plain, r.space, spec, 1000, &err));
  assert_ok(cb_surrogate_follow(plain, r.history, ask.fit, ask.fit->theta + theta_at,
                                r.history->y, r.history->variance, &err));
  for (int i = 0; i < 30; i++) {
    double x[2], mean[2], sd[2], feasible;
    int32_t h[1];
    cb_space_sample(r.space, &rng, cells);
    cb_space_encode(r.space, cells, x, h);
    assert_ok(r.resolved.sampler->predict(r.state, &ask, 1, x, h, &mean[0], &sd[0],
                                          &feasible, &err));
    cb_surrogate_expect(plain, x, h, &mean[1], &sd[1]);
    assert_close(mean[0], mean[1], 1e-10);
    assert_close(sd[0], sd[1], 1e-10);
  }
  cb_surrogate_free(plain);
  runs_close(&r);
}

static void variances_are_in_units_of_the_values(void **state) {
  (void)state;
  const cb_kernel_spec free = {
      .d = 2, .c = 1, .form = CB_FREE, .ard = true, .sums = true};
  const cb_kernel_spec onehot = {.d = 2, .c = 1, .form = CB_ONEHOT};
  /* Before theta it says if the warp is worth it, and how rough values are. */
  check_units("mixed", &free, 2);
  check_units("onehot", &onehot, 0);
}

/* What is cut off has no error left, what is near the cut a part of it. */
static void a_cut_takes_its_part_of_the_variance(void **state) {
  (void)state;
  static runs r;
  cb_cell cells[RUNS_PARAMS];
  cb_rng rng = cb_rng_make(59, CB_RNG_BENCH, 2);
  const double y[] = {3.7, 2.7, 1.7, -0.2, -30.5}; /* the cut is at 3.7 - 4 * 2 */
  cb_targets targets = {0};
  runs_open(&r, "onehot", "true", 37, 0.0);
  for (int i = 0; i < 5; i++) {
    cb_space_sample(r.space, &rng, cells);
    runs_add(&r, cells, NULL, false, &y[i]);
  }
  assert_ok(cb_targets_set(&targets, r.history, &r.resolved.settings, &err));
  assert_false(targets.noisy);
  for (int i = 0; i < 5; i++)
    cb_history_revise(r.history, i, y[i], i == 3 ? 36.0 : 0.35);
  assert_ok(cb_targets_set(&targets, r.history, &r.resolved.settings, &err));
  assert_true(targets.noisy);
  for (int i = 0; i < 3; i++)
    assert_relative(targets.variance[i], 0.35, 1e-12);
  /* -6.2 and 5.8 are 6 to either side; the first is cut to -4.3. */
  assert_relative(targets.variance[3], 10.1 * 10.1 / 4.0, 1e-12);
  assert_true(targets.variance[4] == 0.0);
  cb_targets_free(&targets);
  runs_close(&r);
}

/* ---- memory ---------------------------------------------------------------------- */

static void a_failed_choice_can_be_repeated(void **state) {
  (void)state;
  static runs r;
  const int64_t lucky = open_lucky(&r, "mixed", "true");
  const cb_ask ask = runs_ask(&r);
  const choice want = choose(&r, r.state);
  int failures = 0;
  void *fresh;
  assert_ok(r.resolved.sampler->create(&fresh, r.space, &r.resolved.settings, &err));
  for (int k = 0;; k++) {
    choice c;
    cb_mem_fail_after(k);
    const cocabo_status status = r.resolved.sampler->rerun(
        fresh, &ask, &c.row, &c.gain_new, &c.gain_again, &err);
    cb_mem_fail_after(-1);
    if (status == COCABO_OK) {
      assert_int_equal(c.row, lucky);
      assert_memory_equal(&c.gain_new, &want.gain_new, sizeof c.gain_new);
      assert_memory_equal(&c.gain_again, &want.gain_again, sizeof c.gain_again);
      break;
    }
    assert_int_equal(status, COCABO_E_NO_MEMORY);
    failures++;
  }
  assert_true(failures > 3);
  r.resolved.sampler->destroy(fresh);
  runs_close(&r);
}

/* ---- what it is good for --------------------------------------------------------- */

/* Noise half as large again as the gap between the two best categories. How far below
 * the optimum the point that is named best is in truth, on average. */
static double regret(const char *deterministic, bool reruns) {
  enum { SEEDS = 12, RUNS = 60 };
  double sum = 0.0;
  for (uint64_t seed = 0; seed < SEEDS; seed++) {
    static runs r;
    runs_open(&r, "mixed", deterministic, 300 + seed, 0.45);
    while (r.count < RUNS)
      runs_step(&r, reruns);
    sum -= runs_truth(&r.history->trials[r.history->told[runs_best(&r)]]);
    runs_close(&r);
  }
  return sum / SEEDS;
}

/* Where no point is proposed twice, values that were taken for exact mislead the
 * search; where errors are known they do not. */
static void known_errors_and_runs_are_better_than_lucky_values(void **state) {
  (void)state;
  const double at_face_value = regret("true", false), known = regret("true", true);
  if (!(known < 0.6 * at_face_value))
    fail_msg("regret %g with known errors, %g without", known, at_face_value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lucky_value_is_run_again),
      cmocka_unit_test(no_row_is_run_for_ever),
      cmocka_unit_test(exact_values_are_never_run_again),
      cmocka_unit_test(new_points_come_at_least_as_often),
      cmocka_unit_test(too_few_results_say_nothing),
      cmocka_unit_test(a_restart_proposes_the_same_after_revisions),
      cmocka_unit_test(where_errors_are_known_the_incumbent_is_the_best_mean),
      cmocka_unit_test(variances_are_in_units_of_the_values),
      cmocka_unit_test(a_cut_takes_its_part_of_the_variance),
      cmocka_unit_test(a_failed_choice_can_be_repeated),
      cmocka_unit_test(known_errors_and_runs_are_better_than_lucky_values),
  };
  return cmocka_run_group_tests_name("sampler/rerun", tests, NULL, NULL);
}
