/* Studies whose trials are evaluated run by run: which run is next, budgets, and what
 * becomes of runs whose worker is late, lost, or never knew of them. */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "log/runs.h"
#include "race/race.h"
#include "study/study.h"

static cocabo_error err;

static cocabo_space *line(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  return s;
}

/* ---- studies --------------------------------------------------------------------- */

static const char EIGHT[] = "a\nb\nc\nd\ne\nf\ng\nh";

/* Options are pairs of name and value; NULL ends them. */
static cocabo_study *create(cocabo_store *store, ...) {
  cocabo_space *s = line();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  va_list more;
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  va_start(more, store);
  for (const char *name; (name = va_arg(more, const char *));)
    assert_ok(cocabo_options_set(o, name, va_arg(more, const char *), &err));
  va_end(more);
  assert_ok(cocabo_study_create(&study, "s", s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static cocabo_study *reopen(cocabo_store *store) {
  cocabo_study *study;
  assert_ok(cocabo_study_open(&study, "s", store, &err));
  return study;
}

/* A run and its instance, which the trial would take with it. */
typedef struct asked {
  cocabo_run run;
  char instance[16];
} asked;

static asked ask(cocabo_study *study) {
  asked a = {0};
  cocabo_trial *trial;
  assert_ok(cocabo_study_ask_run(study, &trial, &a.run, &err));
  assert_int_equal(cocabo_trial_number(trial), a.run.trial);
  if (a.run.instance)
    snprintf(a.instance, sizeof a.instance, "%s", a.run.instance);
  a.run.instance = NULL;
  cocabo_trial_free(trial);
  return a;
}

static void tell(cocabo_study *study, asked a, cocabo_run_state state, double value) {
  a.run.state = state;
  a.run.value = value;
  assert_ok(cocabo_study_tell_run(study, &a.run, NULL, 0, NULL, &err));
}

static void assert_asked(const asked *a, int64_t trial, int64_t run) {
  assert_int_equal(a->run.trial, trial);
  assert_int_equal(a->run.run, run);
}

static void assert_no_run(cocabo_study *study, const char *sentence) {
  cocabo_trial *trial = NULL;
  cocabo_run run;
  assert_fails(cocabo_study_ask_run(study, &trial, &run, &err), COCABO_E_BUDGET,
               sentence);
  assert_null(trial);
}

static cocabo_trial *trial_of(cocabo_study *study, int64_t number) {
  cocabo_trial *trial;
  assert_ok(cocabo_study_trial(study, number, &trial, &err));
  return trial;
}

static cocabo_trial_state state_of(const cocabo_study *study, int64_t number) {
  return study->fold.history->trials[number].state;
}

static void assert_verified(cocabo_study *study) {
  cocabo_report report;
  assert_ok(cocabo_study_verify(study, -1, &report, &err));
  assert_int_equal(report.differing, 0);
  assert_int_equal(report.foreign, 0);
  assert_int_equal(report.replayed, report.trials);
}

/* To the bit, also what only models see. */
static void assert_same(cocabo_study *one, cocabo_study *other) {
  cb_history *a = one->fold.history, *b = other->fold.history;
  assert_ok(cb_runs_weigh(a, &err));
  assert_ok(cb_runs_weigh(b, &err));
  assert_int_equal(a->n_trials, b->n_trials);
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->n_started, b->n_started);
  assert_int_equal(a->n_flying, b->n_flying);
  assert_int_equal(a->n_pairs, b->n_pairs);
  assert_memory_equal(&a->run_variance, &b->run_variance, sizeof a->run_variance);
  assert_memory_equal(a->y, b->y, (size_t)a->n * sizeof *a->y);
  assert_memory_equal(a->variance, b->variance, (size_t)a->n * sizeof *a->variance);
  for (int64_t i = 0; i < a->n_trials; i++) {
    assert_int_equal(a->trials[i].state, b->trials[i].state);
    assert_int_equal(a->trials[i].n_runs, b->trials[i].n_runs);
    for (int64_t k = 0; k < a->trials[i].n_runs; k++) {
      const cb_run *r = &a->trials[i].runs[k], *s = &b->trials[i].runs[k];
      assert_int_equal(r->pair, s->pair);
      assert_int_equal(r->outcome, s->outcome);
      assert_true(r->seconds == s->seconds);
      assert_memory_equal(&r->value, &s->value, sizeof r->value);
    }
  }
}

/* ---- pairs ----------------------------------------------------------------------- */

static void record_order(const char *seed, char order[][16], int n) {
  cocabo_study *study =
      create(NULL, "instances", EIGHT, "seeds", "3", "seed", seed, NULL);
  int of_trial[64] = {0};
  for (int i = 0; i < 60; i++) { /* values in which no two trials are told apart */
    const asked a = ask(study);
    char pair[16];
    snprintf(pair, sizeof pair, "%.1s %d", a.instance, (int)a.run.seed % 10);
    const int k = of_trial[a.run.trial]++;
    assert_int_equal(a.run.run, k);
    if (a.run.trial == 0 && k < n)
      strcpy(order[k], pair);
    else if (k < n)
      assert_string_equal(pair, order[k]); /* everybody takes them like the first */
    tell(study, a, COCABO_RUN_OK, (double)(a.instance[0] - 'a') + 0.1 * (i % 3));
  }
  assert_true(of_trial[0] >= 5 && of_trial[1] >= 5);
  assert_verified(study);
  cocabo_study_free(study);
}

static void all_trials_take_the_pairs_in_one_random_order(void **state) {
  (void)state;
  enum { N = 5 };
  char one[N][16] = {""}, again[N][16] = {""}, other[N][16] = {""};
  record_order("1", one, N);
  record_order("1", again, N);
  record_order("2", other, N);
  assert_memory_equal(one, again, sizeof one);
  assert_memory_not_equal(one, other, sizeof one);
}

/* The whole order, of one trial: race_level 0, and a limit that it reaches. */
static void every_instance_comes_once_before_one_comes_again(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "instances", EIGHT, "seeds", "3", NULL);
  const cb_race race = {.on = true, .first = 24, .most = 24};
  study->view.resolved.race = race;
  char rounds[3][9] = {{0}};
  for (int i = 0; i < 24; i++) {
    const asked a = ask(study);
    assert_asked(&a, 0, i);
    assert_int_equal(a.run.seed, 1 + i / 8);
    assert_null(strchr(rounds[i / 8], a.instance[0]));
    rounds[i / 8][i % 8] = a.instance[0];
    tell(study, a, COCABO_RUN_OK, 1.0);
  }
  assert_int_equal(state_of(study, 0), COCABO_COMPLETE);
  assert_string_not_equal(rounds[0], rounds[1]);
  assert_string_not_equal(rounds[1], rounds[2]);
  cocabo_study_free(study);
}

static void seeds_alone_are_counted_up(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "seeds", "4", NULL);
  for (int i = 0; i < 4; i++) {
    const asked a = ask(study);
    assert_asked(&a, 0, i);
    assert_int_equal(a.run.seed, 1 + i);
    assert_string_equal(a.instance, "");
    tell(study, a, COCABO_RUN_OK, i);
  }
  const asked a = ask(study); /* all pairs: complete, however few */
  assert_asked(&a, 1, 0);
  cocabo_trial *trial = trial_of(study, 0);
  size_t n = 0;
  const cocabo_run *runs = cocabo_trial_runs(trial, &n);
  assert_int_equal(n, 4);
  for (int i = 0; i < 4; i++)
    assert_true(runs[i].seed == 1 + i && runs[i].run == i && runs[i].value == i &&
                runs[i].state == COCABO_RUN_OK && !runs[i].instance);
  assert_true(cocabo_trial_value(trial) == 1.5);
  assert_relative(cocabo_trial_error(trial), sqrt(5.0 / 3.0 / 4.0), 1e-15);
  cocabo_trial_free(trial);
  trial = trial_of(study, 1);
  assert_true(isnan(cocabo_trial_error(trial)));
  cocabo_trial_free(trial);
  cocabo_study_free(study);
}

/* ---- races ----------------------------------------------------------------------- */

/* Trial t on an instance: hard ones are hard for all, and t = 2 is the best. */
static double value_of(const asked *a) {
  static const double level[] = {1.0, 11.0, 0.0, 12.0, 13.0};
  return 10.0 * (a->instance[0] - 'a') + level[a->run.trial < 5 ? a->run.trial : 4];
}

static void a_race_as_it_goes(void **state) {
  (void)state;
  /* Five runs each: trial 0, since there is nobody else; 1, given up; 2, which has as
   * many as 0 and is the best; 3, given up. Four are over: 2 gets a sixth. And so on,
   * one for every three. */
  static const char want[] = "00000111112222233333"
                             "2"
                             "444445555566666"
                             "2"
                             "77777";
  cocabo_study *study = create(NULL, "instances", EIGHT, "seeds", "2", NULL);
  char got[sizeof want] = "";
  for (size_t i = 0; i + 1 < sizeof want; i++) {
    const asked a = ask(study);
    got[i] = (char)('0' + a.run.trial);
    assert_true(a.run.cap == INFINITY);
    tell(study, a, COCABO_RUN_OK, value_of(&a));
  }
  assert_string_equal(got, want);
  cocabo_trial *best;
  assert_ok(cocabo_study_best(study, &best, &err));
  assert_int_equal(cocabo_trial_number(best), 2);
  cocabo_trial_free(best);
  for (int i = 0; i < 5; i++)
    assert_int_equal(state_of(study, i), COCABO_COMPLETE);
  assert_verified(study);
  cocabo_study_free(study);
}

/* The third trial takes ten times as long: it is told when to stop. */
static void caps_are_handed_out_and_end_a_trial(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "instances", EIGHT, "cap", "auto", NULL);
  for (int i = 0; i < 5; i++)
    tell(study, ask(study), COCABO_RUN_OK, 2.0);
  const asked a = ask(study);
  assert_asked(&a, 1, 0);
  assert_relative(a.run.cap, 4.0, 1e-15);
  tell(study, a, COCABO_RUN_CAPPED, a.run.cap);
  assert_int_equal(state_of(study, 1), COCABO_COMPLETE);
  cocabo_trial *trial = trial_of(study, 1);
  assert_int_equal(cocabo_trial_runs(trial, NULL)[0].state, COCABO_RUN_CAPPED);
  assert_true(cocabo_trial_value(trial) == 4.0);
  cocabo_trial_free(trial);
  cocabo_trial *best;
  assert_ok(cocabo_study_best(study, &best, &err));
  assert_int_equal(cocabo_trial_number(best), 0);
  cocabo_trial_free(best);
  assert_verified(study);
  cocabo_study_free(study);
}

static void repeats_are_runs_without_a_race(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "repeats", "3", "trials", "2", NULL);
  for (int i = 0; i < 6; i++) {
    const asked a = ask(study);
    assert_asked(&a, i / 3, i % 3);
    assert_int_equal(a.run.seed, 1 + i % 3);
    tell(study, a, COCABO_RUN_OK, i * i);
  }
  assert_no_run(study, "study \"s\" has 0 of its 2 trials left, want 1");
  cb_history *h = study->fold.history;
  assert_ok(cb_runs_weigh(h, &err));
  assert_relative(h->y[0], -5.0 / 3.0, 1e-15);
  assert_relative(h->y[1], -50.0 / 3.0, 1e-15);
  assert_true(h->variance[0] > 0.0 && h->variance[0] < h->variance[1]);
  cocabo_study_free(study);
}

/* ---- budgets --------------------------------------------------------------------- */

static void the_budget_of_runs_is_kept(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study =
      create(store, "instances", EIGHT, "runs", "3", "max_runs", "2", NULL);
  int64_t running = -1;
  const asked a = ask(study), b = ask(study), c = ask(study);
  assert_asked(&b, 0, 1);
  assert_asked(&c, 1, 0); /* two are enough */
  assert_int_equal(cocabo_study_runs(study, &running), 3);
  assert_int_equal(running, 3);
  assert_no_run(study, "study \"s\" has used up its 3 runs");
  tell(study, a, COCABO_RUN_OK, 1.0);
  assert_no_run(study, "study \"s\" has used up its 3 runs");
  tell(study, b, COCABO_RUN_DISCARDED, NAN); /* given back, and no run that counts */
  assert_int_equal(cocabo_study_runs(study, &running), 2);
  assert_int_equal(running, 1);
  const asked d = ask(study);
  assert_asked(&d, 0, 2);
  assert_string_equal(d.instance, b.instance);
  assert_no_run(study, "study \"s\" has used up its 3 runs");
  const char *const names[] = {"runs"}, *const values[] = {"4"};
  assert_ok(cocabo_study_change(study, names, values, 1, &err));
  const asked e = ask(study);
  assert_asked(&e, 1, 1);
  assert_int_equal(cocabo_study_runs(NULL, &running), 0);
  assert_int_equal(running, 0);
  cocabo_study_free(study);
  cocabo_store_free(store);
}

/* A store in which somebody else does something right before an append. */
static struct {
  cb_store_ops ops;
  const cb_store_ops *real;
  void (*before)(cocabo_study *other);
  cocabo_study *other;
} between;

static cocabo_status append_between(cocabo_store *store, int64_t id,
                                    const cb_append *what, cocabo_error *e) {
  void (*before)(cocabo_study *) = between.before;
  if (before && what->events[what->n - 1].kind == CB_RUN_STARTED) {
    between.before = NULL;
    before(between.other);
  }
  return between.real->append(store, id, what, e);
}

static void step_between(cocabo_store *store, cocabo_study *other,
                         void (*before)(cocabo_study *)) {
  if (!between.real)
    between.real = store->ops;
  between.ops = *between.real;
  between.ops.append = append_between;
  between.other = other;
  between.before = before;
  store->ops = &between.ops;
}

static void enqueue(cocabo_study *study, double x) {
  const char *const names[] = {"x"};
  const cocabo_value values[] = {{.type = COCABO_REAL, .as.real = x}};
  assert_ok(cocabo_study_add(study, names, values, 1, NULL, &err));
}

static asked theirs;

/* Another trial than the one that is asked for: nothing conflicts. */
static void take_another(cocabo_study *other) {
  enqueue(other, 0.75);
  theirs = ask(other);
}

static void asks_that_race_keep_the_budget_of_runs(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "instances", EIGHT, "runs", "3", NULL);
  cocabo_study *other = reopen(store);
  (void)ask(study);
  (void)ask(study);
  step_between(store, other, take_another);
  assert_no_run(study, "study \"s\" has used up its 3 runs");
  assert_asked(&theirs, 1, 0);
  assert_int_equal(cocabo_study_runs(study, NULL), 3);
  assert_ok(cocabo_study_sync(other, &err));
  assert_int_equal(cocabo_study_runs(other, NULL), 3);
  assert_same(study, other);
  tell(other, theirs, COCABO_RUN_OK, 1.0);
  assert_int_equal(cocabo_study_runs(other, NULL), 3);
  assert_ok(cocabo_study_verify(study, -1, &(cocabo_report){0}, &err));
  cocabo_study_free(study);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

static void take_the_same(cocabo_study *other) {
  theirs = ask(other);
}

/* The same run is not handed out twice: whoever is second gets the next. */
static void asks_that_race_get_different_runs(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "instances", EIGHT, NULL);
  cocabo_study *other = reopen(store);
  step_between(store, other, take_the_same);
  const asked first = ask(study); /* of a new trial */
  assert_asked(&theirs, 0, 0);
  assert_asked(&first, 1, 0);
  step_between(store, other, take_the_same);
  const asked mine = ask(study);
  assert_asked(&theirs, 0, 1);
  assert_asked(&mine, 0, 2);
  assert_int_equal(cocabo_study_runs(study, NULL), 4);
  cocabo_study_free(study);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

/* Points that wait, beyond the budget of trials, are not in the way of those that run.
 */
static void trials_that_have_begun_get_their_runs(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "seeds", "2", "trials", "1", NULL);
  const asked a = ask(study);
  enqueue(study, 0.25);
  const asked b = ask(study);
  assert_asked(&b, 0, 1);
  assert_no_run(study, "study \"s\" has 0 of its 1 trials left, want 1");
  tell(study, a, COCABO_RUN_OK, 1.0);
  tell(study, b, COCABO_RUN_OK, 3.0);
  assert_int_equal(state_of(study, 0), COCABO_COMPLETE);
  assert_no_run(study, "study \"s\" has 0 of its 1 trials left, want 1");
  cocabo_study_free(study);
}

/* ---- failures -------------------------------------------------------------------- */

static void a_failed_run_fails_its_trial(void **state) {
  (void)state;
  static const struct {
    cocabo_run_state state;
    double value;
    const char *reason, *want;
  } cases[] = {
      {COCABO_RUN_FAILED, 1.0, "signal 11", "signal 11"},
      {COCABO_RUN_FAILED, 1.0, NULL, ""},
      {COCABO_RUN_OK, NAN, "unused", "value is NaN"},
      {COCABO_RUN_CAPPED, -INFINITY, NULL, "value is infinite"},
      {COCABO_RUN_OK, 0.0, NULL, "value is not above 0, as a geometric mean wants it"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cocabo_study *study = create(NULL, "instances", EIGHT, "combine", "geomean", NULL);
    asked a = ask(study), b = ask(study);
    a.run.state = cases[i].state;
    a.run.value = cases[i].value;
    assert_ok(cocabo_study_tell_run(study, &a.run, NULL, 0, cases[i].reason, &err));
    assert_int_equal(state_of(study, 0), COCABO_FAILED);
    assert_string_equal(study->fold.history->trials[0].reason, cases[i].want);
    assert_true(isnan(study->fold.history->trials[0].runs[0].value));
    tell(study, b, COCABO_RUN_OK, 2.0); /* what still ran changes nothing */
    assert_int_equal(state_of(study, 0), COCABO_FAILED);
    const asked c = ask(study);
    assert_asked(&c, 1, 0);
    assert_verified(study);
    cocabo_study_free(study);
  }
}

/* Tried again, a trial takes the pair on which it failed, and no pair that there is
 * none of. */
static void a_trial_that_is_tried_again_takes_the_same_pairs(void **state) {
  (void)state;
  cocabo_study *study =
      create(NULL, "instances", "a\nb\nc", "seeds", "1", "trials", "1", NULL);
  const asked a = ask(study), b = ask(study), c = ask(study);
  tell(study, a, COCABO_RUN_OK, 3.0);
  tell(study, b, COCABO_RUN_FAILED, NAN);
  tell(study, c, COCABO_RUN_OK, 5.0);
  assert_no_run(study, "study \"s\" has 0 of its 1 trials left, want 1");
  assert_ok(cocabo_study_retry(study, 0, &err));
  const asked again = ask(study);
  assert_asked(&again, 0, 3);
  assert_string_equal(again.instance, b.instance);
  assert_int_equal(again.run.seed, 1);
  tell(study, again, COCABO_RUN_OK, 7.0);
  assert_int_equal(state_of(study, 0), COCABO_COMPLETE);
  assert_true(study->fold.history->trials[0].value == 5.0);
  assert_no_run(study, "study \"s\" has 0 of its 1 trials left, want 1");
  assert_verified(study);
  cocabo_study_free(study);
}

static void a_crash_after_completion_counts_and_is_not_repeated(void **state) {
  (void)state;
  cocabo_study *study =
      create(NULL, "instances", "a\nb\nc\nd\ne\nf", "trials", "4", NULL);
  for (int i = 0; i < 20; i++) {
    const asked a = ask(study);
    tell(study, a, COCABO_RUN_OK, 1.0 + 4.0 * (double)a.run.trial);
  }
  const asked sixth = ask(study); /* of the incumbent */
  assert_asked(&sixth, 0, 5);
  tell(study, sixth, COCABO_RUN_FAILED, NAN);
  assert_int_equal(state_of(study, 0), COCABO_COMPLETE);
  assert_relative(study->fold.history->trials[0].value, 18.0 / 6.0, 1e-15);
  cocabo_trial *trial = trial_of(study, 0);
  assert_int_equal(cocabo_trial_runs(trial, NULL)[5].state, COCABO_RUN_FAILED);
  cocabo_trial_free(trial);
  assert_no_run(study, "study \"s\" has 0 of its 4 trials left, want 1");
  assert_verified(study);
  cocabo_study_free(study);
}

/* ---- lost, late and unclaimed ---------------------------------------------------- */

static char said[200];

static void hear(void *user, cocabo_level level, const char *sentence) {
  (void)user;
  if (level == COCABO_INFO)
    snprintf(said, sizeof said, "%s", sentence);
}

enum { LONG = 1000 };
static const double SHORT = 1e-9;

static void a_lost_worker_loses_one_run(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *lost = create(store, "instances", EIGHT, NULL), *other = reopen(store);
  cocabo_study_on_log(other, hear, NULL);
  assert_ok(cocabo_study_lease(lost, "w1", SHORT, &err));
  assert_ok(cocabo_study_lease(other, "w2", LONG, &err));
  const asked a = ask(lost);
  const asked b = ask(other);
  assert_asked(&b, 0, 1); /* the same trial, and pair */
  assert_string_equal(a.instance, b.instance);
  assert_string_equal(said, "run 0 of trial 0 is lost: its lease has run out, or its "
                            "owner is gone; it is run again");
  assert_int_equal(cocabo_study_runs(other, NULL), 1);
  const asked c = ask(lost); /* which has no lease of b, and leaves it alone */
  assert_asked(&c, 0, 2);
  assert_string_not_equal(c.instance, b.instance);
  tell(lost, a, COCABO_RUN_OK, 5.0); /* late */
  tell(other, b, COCABO_RUN_OK, 9.0);
  assert_int_equal(other->fold.history->trials[0].n_counted, 1);
  assert_true(cb_runs_value(&other->fold.history->trials[0], 0) == 5.0);
  assert_ok(cocabo_study_sync(lost, &err));
  assert_same(lost, other);
  assert_verified(other);
  cocabo_study_free(lost);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

static void take_it_late(cocabo_study *other) {
  tell(other, theirs, COCABO_RUN_OK, 4.0);
}

/* Whoever finds a run lost, while its worker says how it ended, is overtaken. */
static void a_result_comes_before_the_loss(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *lost = create(store, "instances", EIGHT, NULL), *study = reopen(store);
  assert_ok(cocabo_study_lease(lost, "w1", SHORT, &err));
  theirs = ask(lost);
  step_between(store, lost, take_it_late);
  const asked a = ask(study);
  assert_asked(&a, 0, 1);
  assert_int_equal(cocabo_study_runs(study, NULL), 2);
  assert_int_equal(study->fold.history->trials[0].n_counted, 1);
  assert_verified(study);
  cocabo_study_free(lost);
  cocabo_study_free(study);
  cocabo_store_free(store);
}

static cocabo_status lose_the_answer(cocabo_store *store, int64_t id,
                                     const cb_append *what, cocabo_error *e) {
  const cocabo_status status = between.real->append(store, id, what, e);
  if (status != COCABO_OK || what->events[what->n - 1].kind != CB_RUN_STARTED)
    return status;
  store->ops = between.real;
  return COCABO_E_STORE;
}

/* It is in the log, and nobody knows: the next ask gives it back and takes its pair. */
static void a_run_that_nobody_claims_is_given_back(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "instances", EIGHT, NULL);
  const asked a = ask(study);
  cocabo_trial *trial = NULL;
  cocabo_run run;
  step_between(store, NULL, NULL);
  between.ops.append = lose_the_answer;
  assert_int_equal(cocabo_study_ask_run(study, &trial, &run, &err), COCABO_E_STORE);
  assert_null(trial);
  const asked b = ask(study);
  assert_asked(&b, 0, 2);
  assert_int_equal(study->fold.history->trials[0].runs[0].outcome, 0);
  assert_int_equal(study->fold.history->trials[0].runs[1].outcome, CB_RUN_DISCARDED);
  assert_string_not_equal(a.instance, b.instance);
  assert_int_equal(cocabo_study_runs(study, NULL), 2);
  assert_verified(study);
  cocabo_study_free(study);
  cocabo_store_free(store);
}

static int refuse(void *user) {
  (void)user;
  return 1;
}

/* An ask that fails early has no run yet, and must not take ours for it. */
static void an_ask_that_fails_leaves_our_runs_alone(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "seeds", "2", NULL);
  const asked a = ask(study), b = ask(study);
  cocabo_trial *trial = NULL;
  cocabo_run run;
  cocabo_study_on_interrupt(study, refuse, NULL);
  assert_int_equal(cocabo_study_ask_run(study, &trial, &run, &err),
                   COCABO_E_INTERRUPTED);
  cocabo_study_on_interrupt(study, NULL, NULL);
  const asked c = ask(study);
  assert_asked(&c, 1, 0);
  assert_int_equal(study->fold.history->trials[0].runs[0].outcome, 0);
  tell(study, a, COCABO_RUN_OK, 1.0);
  tell(study, b, COCABO_RUN_OK, 3.0);
  assert_true(study->fold.history->trials[0].value == 2.0);
  cocabo_study_free(study);
}

/* What another handle of the process has is not unclaimed, nor what an earlier life of
 * it left behind: leases say when that is lost. */
static void other_handles_keep_their_runs(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "instances", EIGHT, NULL);
  const asked a = ask(study);
  cocabo_study_free(study);
  study = reopen(store);
  const asked b = ask(study);
  assert_asked(&b, 0, 1);
  assert_string_not_equal(a.instance, b.instance);
  tell(study, a, COCABO_RUN_OK, 2.0); /* anybody may say how it ended */
  assert_int_equal(study->fold.history->trials[0].n_counted, 1);
  cocabo_study_free(study);
  cocabo_store_free(store);
}

/* ---- logs ------------------------------------------------------------------------ */

static double noisy(const asked *a, int i) {
  return 3.0 * (a->instance[0] - 'a') + sin(1.7 * i) +
         0.37 * (double)(a->run.trial % 5);
}

/* A study with everything in it, with a model; runs of several trials are under way. */
static cocabo_study *play(cocabo_store *store, const char *sampler) {
  cocabo_study *study = create(store, "sampler", sampler, "instances", EIGHT, "seeds",
                               "3", "n_init", "3", "samples", "60", NULL);
  asked flying[4];
  int n = 0;
  for (int i = 0; i < 90; i++) {
    while (n < 4)
      flying[n++] = ask(study);
    const int k = (i * 7) % 4;
    flying[k].run.seconds = 0.25 * i;
    const cocabo_run_state how = i % 17 == 5   ? COCABO_RUN_DISCARDED
                                 : i % 29 == 3 ? COCABO_RUN_FAILED
                                               : COCABO_RUN_OK;
    tell(study, flying[k], how, noisy(&flying[k], i));
    flying[k] = flying[--n];
  }
  return study;
}

static void logs_of_runs_replay_to_the_bit(void **state) {
  (void)state;
  static const char *const samplers[] = {"mixed", "smac", "tpe", "cocabo"};
  for (size_t i = 0; i < sizeof samplers / sizeof samplers[0]; i++) {
    cocabo_store *store = cocabo_store_new_memory();
    cocabo_study *study = play(store, samplers[i]), *again = reopen(store);
    assert_true(cocabo_study_count(study) > 6);
    assert_same(study, again);
    assert_verified(study);
    assert_verified(again);
    const asked a = ask(study);
    tell(study, a, COCABO_RUN_DISCARDED, NAN);
    assert_ok(cocabo_study_sync(again, &err));
    assert_same(study, again);
    cocabo_study_free(study);
    cocabo_study_free(again);
    cocabo_store_free(store);
  }
}

/* The next proposal of whoever was there is that of whoever comes now. */
static void a_reopened_study_goes_on_like_one_that_was_not(void **state) {
  (void)state;
  double x[2];
  for (int reopened = 0; reopened < 2; reopened++) {
    cocabo_store *store = cocabo_store_new_memory();
    cocabo_study *study = play(store, "mixed");
    if (reopened) {
      cocabo_study_free(study);
      study = reopen(store);
    }
    cocabo_trial *trial = NULL;
    cocabo_run run = {0};
    const int64_t n = cocabo_study_count(study);
    for (int i = 0; i < 60 && run.trial < n; i++) {
      cocabo_trial_free(trial);
      assert_ok(cocabo_study_ask_run(study, &trial, &run, &err));
    }
    assert_int_equal(run.trial, n);
    assert_ok(cocabo_trial_get_real(trial, "x", &x[reopened], &err));
    cocabo_trial_free(trial);
    cocabo_study_free(study);
    cocabo_store_free(store);
  }
  assert_true(x[0] == x[1]);
}

/* ---- sentences ------------------------------------------------------------------- */

static void what_cannot_be_says_why(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "seeds", "2", NULL);
  cocabo_study *plain = create(NULL, NULL);
  cocabo_trial *trial = NULL;
  cocabo_run run;
  assert_fails(cocabo_study_ask(study, 1, &trial, &err), COCABO_E_STATE,
               "study \"s\" is evaluated run by run, want cocabo_study_ask_run");
  assert_fails(cocabo_study_ask_run(plain, &trial, &run, &err), COCABO_E_STATE,
               "study \"s\" has no runs: none of its options instances, seeds and "
               "repeats says so");
  assert_fails(cocabo_study_ask_run(NULL, &trial, &run, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_ask_run(study, NULL, &run, &err), COCABO_E_INVALID,
               "trial is NULL");
  assert_fails(cocabo_study_ask_run(study, &trial, NULL, &err), COCABO_E_INVALID,
               "run is NULL");
  assert_null(trial);
#define BAD(status, sentence)                                                          \
  assert_fails(cocabo_study_tell_run(study, &a.run, NULL, 0, NULL, &err), status,      \
               sentence)
  asked a = ask(study);
  assert_fails(cocabo_study_tell_run(NULL, &a.run, NULL, 0, NULL, &err),
               COCABO_E_INVALID, "study is NULL");
  assert_fails(cocabo_study_tell_run(study, NULL, NULL, 0, NULL, &err),
               COCABO_E_INVALID, "run is NULL");
  assert_fails(cocabo_study_tell_run(study, &a.run, NULL, 2, NULL, &err),
               COCABO_E_INVALID, "metrics is NULL");
  BAD(COCABO_E_INVALID,
      "the state of run 0 is 0, want ok, failed, capped or discarded");
  a.run.state = COCABO_RUN_OK;
  a.run.value = 1.0;
  a.run.seconds = NAN;
  BAD(COCABO_E_RANGE, "a run took nan seconds, want 0 or more");
  a.run.seconds = 0.0;
  a.run.run = 7;
  BAD(COCABO_E_NOT_FOUND, "trial 0 has no run 7: it has 1");
  a.run.run = -1;
  BAD(COCABO_E_NOT_FOUND, "trial 0 has no run -1: it has 1");
  a.run.trial = 3;
  BAD(COCABO_E_NOT_FOUND, "no trial 3 in study \"s\": it has 1, from 0 to 0");
#undef BAD
  assert_int_equal(study->fold.history->n_flying, 1);
  size_t n = 7;
  assert_null(cocabo_trial_runs(NULL, &n));
  assert_int_equal(n, 0);
  assert_true(isnan(cocabo_trial_error(NULL)));
  cocabo_study_free(study);
  cocabo_study_free(plain);
}

static void what_trials_run_on_is_fixed(void **state) {
  (void)state;
  static const char *const names[] = {"instances", "seeds", "combine", "repeats"};
  static const char *const values[] = {"z", "9", "max", "4"};
  cocabo_study *study = create(NULL, "instances", EIGHT, NULL);
  for (int i = 0; i < 4; i++) {
    char sentence[100];
    snprintf(sentence, sizeof sentence, "the option %s of study \"s\" is fixed",
             names[i]);
    assert_fails(cocabo_study_change(study, &names[i], &values[i], 1, &err),
                 COCABO_E_STATE, sentence);
  }
  cocabo_study_free(study);
}

/* Trials that are told as wholes have no runs, no error and no variance. */
static void studies_without_runs_are_as_they_were(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, NULL);
  cocabo_trial *trial;
  assert_ok(cocabo_study_ask(study, 1, &trial, &err));
  assert_ok(cocabo_study_tell(study, 0, 2.5, &err));
  cocabo_trial_free(trial);
  cb_history *h = study->fold.history;
  assert_ok(cb_runs_weigh(h, &err));
  assert_true(h->y[0] == -2.5 && h->variance[0] == 0.0 && h->run_variance == 0.0);
  assert_int_equal(h->revised, 0);
  assert_int_equal(cb_race_incumbent(h), -1);
  trial = trial_of(study, 0);
  assert_null(cocabo_trial_runs(trial, NULL));
  assert_true(isnan(cocabo_trial_error(trial)));
  cocabo_trial_free(trial);
  assert_verified(study);
  cocabo_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_trials_take_the_pairs_in_one_random_order),
      cmocka_unit_test(every_instance_comes_once_before_one_comes_again),
      cmocka_unit_test(seeds_alone_are_counted_up),
      cmocka_unit_test(a_race_as_it_goes),
      cmocka_unit_test(caps_are_handed_out_and_end_a_trial),
      cmocka_unit_test(repeats_are_runs_without_a_race),
      cmocka_unit_test(the_budget_of_runs_is_kept),
      cmocka_unit_test(asks_that_race_keep_the_budget_of_runs),
      cmocka_unit_test(asks_that_race_get_different_runs),
      cmocka_unit_test(trials_that_have_begun_get_their_runs),
      cmocka_unit_test(a_failed_run_fails_its_trial),
      cmocka_unit_test(a_trial_that_is_tried_again_takes_the_same_pairs),
      cmocka_unit_test(a_crash_after_completion_counts_and_is_not_repeated),
      cmocka_unit_test(a_lost_worker_loses_one_run),
      cmocka_unit_test(a_result_comes_before_the_loss),
      cmocka_unit_test(a_run_that_nobody_claims_is_given_back),
      cmocka_unit_test(an_ask_that_fails_leaves_our_runs_alone),
      cmocka_unit_test(other_handles_keep_their_runs),
      cmocka_unit_test(logs_of_runs_replay_to_the_bit),
      cmocka_unit_test(a_reopened_study_goes_on_like_one_that_was_not),
      cmocka_unit_test(what_cannot_be_says_why),
      cmocka_unit_test(what_trials_run_on_is_fixed),
      cmocka_unit_test(studies_without_runs_are_as_they_were),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
