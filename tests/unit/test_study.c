#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "study/study.h"

static cocabo_error err;

/* ---- small studies --------------------------------------------------------------- */

static const cocabo_value letters[] = {{.type = COCABO_TEXT, .as.text = "a"},
                                       {.type = COCABO_TEXT, .as.text = "b"},
                                       {.type = COCABO_TEXT, .as.text = "c"}};

/* Infinite: x real, n int, c choice. */
static cocabo_space *mixed_space(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_real(s, "x", -1, 3, 0, 0, &err));
  assert_ok(cocabo_space_add_int(s, "n", 1, 64, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_choice(s, "c", letters, 3, 0, &err));
  return s;
}

/* Six points: k in {0, 1}, c in {a, b, c}. */
static cocabo_space *six_points(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_int(s, "k", 0, 1, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "c", letters, 3, 0, &err));
  return s;
}

/* Options as pairs of name and value, ended by NULL. */
static cocabo_study *create(cocabo_space *space, cocabo_store *store,
                            const char *const *pairs) {
  cocabo_options *o = cocabo_options_new();
  for (; pairs && pairs[0]; pairs += 2)
    assert_ok(cocabo_options_set(o, pairs[0], pairs[1], &err));
  cocabo_study *study;
  assert_ok(cocabo_study_create(&study, "s", space, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

static cocabo_trial *ask_one(cocabo_study *study) {
  cocabo_trial *t = NULL;
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  return t;
}

static int64_t ask_number(cocabo_study *study) {
  cocabo_trial *t = ask_one(study);
  const int64_t number = cocabo_trial_number(t);
  cocabo_trial_free(t);
  return number;
}

static void ask_many(cocabo_study *study, int n) {
  cocabo_trial *t[64];
  assert_ok(cocabo_study_ask(study, (size_t)n, t, &err));
  for (int i = 0; i < n; i++)
    cocabo_trial_free(t[i]);
}

static void assert_state(const cocabo_study *study, int64_t number,
                         cocabo_trial_state want) {
  cocabo_trial *t;
  assert_ok(cocabo_study_trial(study, number, &t, &err));
  assert_string_equal(cocabo_state_name(cocabo_trial_get_state(t)),
                      cocabo_state_name(want));
  cocabo_trial_free(t);
}

static void assert_best(cocabo_study *study, int64_t number, double value) {
  cocabo_trial *t;
  assert_ok(cocabo_study_best(study, &t, &err));
  assert_int_equal(cocabo_trial_number(t), number);
  assert_true(cocabo_trial_value(t) == value);
  cocabo_trial_free(t);
}

static double objective(const cocabo_trial *t) {
  double x, n;
  cocabo_value c;
  assert_ok(cocabo_trial_get_real(t, "x", &x, &err));
  assert_ok(cocabo_trial_get_real(t, "n", &n, &err));
  assert_ok(cocabo_trial_get_choice(t, "c", &c, &err));
  return (x - 0.7) * (x - 0.7) + 0.01 * n + (c.as.text[0] - 'a');
}

/* A point as text, for comparing. */
static void describe(const cocabo_trial *t, char out[200]) {
  out[0] = '\0';
  for (size_t i = 0; i < cocabo_trial_count(t); i++) {
    const char *name;
    cocabo_value v;
    assert_ok(cocabo_trial_get(t, i, &name, &v, &err));
    char *end = out + strlen(out);
    if (v.type == COCABO_REAL)
      sprintf(end, "%s=%a ", name, v.as.real);
    else if (v.type == COCABO_INT)
      sprintf(end, "%s=%lld ", name, (long long)v.as.integer);
    else
      sprintf(end, "%s=%s ", name, v.as.text);
  }
}

static int64_t log_length(const cocabo_study *study) {
  return study->fold.history->seq;
}

/* ---- ask ------------------------------------------------------------------------- */

static void the_design_comes_first(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  const cb_history *h = cb_study_history(study);
  for (int i = 0; i < 10; i++) {
    assert_int_equal(ask_number(study), i);
    assert_int_equal(h->trials[i].origin, i < 8 ? CB_BY_DESIGN : CB_BY_SAMPLER);
    assert_state(study, i, COCABO_RUNNING);
  }
  assert_int_equal(h->n_design, 8); /* 2 (2 + 1) + 2 */
  assert_int_equal(h->n_rounds, 2);
  assert_int_equal(cocabo_study_count(study), 10);
  cocabo_study_free(study);
}

static cocabo_status check_provenance(void *user, const cb_event *event,
                                      cocabo_error *e) {
  (void)user, (void)e;
  if (event->kind != CB_TRIAL_ASKED)
    return COCABO_OK;
  const cb_provenance *p = &event->proposal;
  const bool sampled = event->number >= 8;
  assert_int_equal(event->origin, sampled ? CB_BY_SAMPLER : CB_BY_DESIGN);
  assert_int_equal(p->basis, 2); /* created, asked 0 */
  assert_int_equal(p->batch_first, sampled ? 8 : 1);
  assert_int_equal(p->batch_size, sampled ? 4 : 7);
  assert_int_equal(p->batch_index, event->number - p->batch_first);
  assert_int_equal(p->n_pending, event->number == 8 ? 8 : 0);
  for (int i = 0; i < p->n_pending; i++)
    assert_int_equal(p->pending[i], i); /* also those of the same ask */
  return COCABO_OK;
}

static void a_batch_may_cross_the_end_of_the_design(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  ask_many(study, 1);
  ask_many(study, 11);
  assert_int_equal(study->fold.history->n_design, 8);
  assert_int_equal(study->fold.history->n_sampled, 4);
  assert_int_equal(study->fold.history->n_rounds, 1);
  assert_ok(study->store->ops->read_since(study->store, study->id,
                                          &(cb_position){.seq = 2}, check_provenance,
                                          NULL, NULL, &err));
  cocabo_study_free(study);
}

static void points_of_a_finite_space_come_once(void **state) {
  (void)state;
  /* n_init 4: the batches below lie in, across and after the design. */
  const int sizes[][4] = {{6}, {3, 3}, {4, 2}, {1, 5}, {5, 1}, {2, 1, 2, 1}};
  for (size_t s = 0; s < 6; s++) {
    cocabo_study *study =
        create(six_points(), NULL, WITH("sampler", "random", "n_init", "4"));
    for (int i = 0; i < 4 && sizes[s][i] > 0; i++)
      ask_many(study, sizes[s][i]);
    assert_int_equal(cb_history_distinct(study->fold.history), 6);
    cocabo_study_free(study);
  }
}

static void an_exhausted_space_gives_all_or_none(void **state) {
  (void)state;
  cocabo_trial *t[8] = {NULL};
  cocabo_study *study =
      create(six_points(), NULL, WITH("sampler", "random", "n_init", "4"));
  assert_int_equal(cocabo_study_ask(study, 7, t, &err), COCABO_E_EXHAUSTED);
  assert_int_equal(cocabo_study_count(study), 0);
  ask_many(study, 2);
  assert_int_equal(cocabo_study_ask(study, 5, t, &err), COCABO_E_EXHAUSTED);
  ask_many(study, 3);
  assert_int_equal(cocabo_study_ask(study, 2, t, &err), COCABO_E_EXHAUSTED);
  assert_null(t[0]);
  assert_int_equal(log_length(study), 6);
  ask_many(study, 1);
  /* What was interrupted is still on offer, even now. */
  assert_ok(cocabo_study_interrupt(study, 3, &err));
  assert_int_equal(cocabo_study_ask(study, 2, t, &err), COCABO_E_EXHAUSTED);
  assert_state(study, 3, COCABO_INTERRUPTED);
  assert_int_equal(ask_number(study), 3);
  cocabo_study_free(study);
}

static void the_same_seed_and_results_give_the_same_points(void **state) {
  (void)state;
  const char *const samplers[] = {"random", "cocabo"};
  for (int s = 0; s < 2; s++) {
    cocabo_store *store = cocabo_store_new_memory();
    const char *const options[] = {"sampler",     samplers[s], "n_init",  "4",
                                   "refit_every", "3",         "samples", "50",
                                   "seed",        "5",         NULL};
    cocabo_study *a = create(mixed_space(), NULL, options);
    cocabo_study *b = create(mixed_space(), store, options);
    for (int i = 0; i < 14; i++) {
      char pa[200], pb[200];
      cocabo_trial *ta = ask_one(a), *tb = ask_one(b);
      describe(ta, pa);
      describe(tb, pb);
      assert_string_equal(pa, pb);
      assert_ok(cocabo_study_tell(a, i, objective(ta), &err));
      assert_ok(cocabo_study_tell(b, i, objective(tb), &err));
      cocabo_trial_free(ta);
      cocabo_trial_free(tb);
      cocabo_study_free(b); /* b forgets everything but its log, every time */
      assert_ok(cocabo_study_open(&b, "s", store, &err));
    }
    cocabo_study_free(a);
    cocabo_study_free(b);
    cocabo_store_free(store);
  }
}

/* What came after the last fit is all in the model: a design of thousands, or some
 * large batches, must not outgrow model_size by more than as many again. */
static void results_that_no_fit_has_seen_make_one_due(void **state) {
  (void)state;
  const char *const samplers[] = {"cocabo", "onehot", "mixed"};
  for (int s = 0; s < 3; s++) {
    cocabo_study *study =
        create(mixed_space(), NULL,
               WITH("sampler", samplers[s], "n_init", "14", "refit_every", "1000",
                    "model_size", "10", "samples", "50"));
    for (int i = 0; i < 30; i++) {
      cocabo_trial *t = ask_one(study);
      const int64_t rows = study->fold.history->fit.rows;
      assert_int_equal(rows, i < 14 ? 0 : i < 25 ? 14 : 25);
      assert_ok(cocabo_study_tell(study, i, objective(t), &err));
      cocabo_trial_free(t);
    }
    cocabo_study_free(study);
  }
}

/* Thousands of results without a fit would make a model of all of them. */
static void the_best_of_many_noisy_results_needs_no_model_of_them_all(void **state) {
  (void)state;
  const char *const samplers[] = {"cocabo", "mixed"};
  for (int s = 0; s < 2; s++) {
    cocabo_study *study = create(mixed_space(), NULL,
                                 WITH("sampler", samplers[s], "n_init", "31",
                                      "deterministic", "false", "model_size", "10"));
    int64_t lowest = 0;
    double least = INFINITY;
    for (int i = 0; i < 30; i++) {
      cocabo_trial *t = ask_one(study), *best;
      const double value = objective(t) + 0.1 * (i * 7 % 5);
      lowest = value < least ? i : lowest;
      least = value < least ? value : least;
      assert_ok(cocabo_study_tell(study, i, value, &err));
      assert_ok(cocabo_study_best(study, &best, &err));
      if (i >= 10) /* more results than the model may hold, and nobody has learnt */
        assert_int_equal(cocabo_trial_number(best), lowest);
      cocabo_trial_free(best);
      cocabo_trial_free(t);
    }
    cocabo_study_free(study);
  }
}

static void a_fit_is_logged_with_what_it_saw(void **state) {
  (void)state;
  cocabo_study *study = create(
      mixed_space(), NULL,
      WITH("sampler", "cocabo", "n_init", "4", "refit_every", "2", "samples", "50"));
  const cb_fit *fit = &study->fold.history->fit;
  int64_t basis = 0;
  int fits = 0;
  for (int i = 0; i < 12; i++) {
    const int64_t rows = study->fold.history->n, seq = log_length(study),
                  rounds = study->fold.history->n_rounds;
    cocabo_trial *t = ask_one(study);
    if (fit->basis != basis) {
      assert_int_equal(fit->basis, seq);
      assert_int_equal(fit->rows, rows);
      assert_int_equal(fit->round, rounds);
      assert_true(fit->n_theta > 0);
      assert_int_equal(log_length(study), seq + 2);
      fits++;
    } else {
      assert_int_equal(log_length(study), seq + 1);
    }
    basis = fit->basis;
    if (i != 2) /* rows are completed trials, and one is still running */
      assert_ok(cocabo_study_tell(study, i, objective(t), &err));
    cocabo_trial_free(t);
  }
  assert_true(fits >= 2);
  cocabo_study_free(study);
}

/* ---- tell ------------------------------------------------------------------------ */

static void best_follows_the_direction(void **state) {
  (void)state;
  const char *const directions[] = {"minimize", "maximize"};
  for (int d = 0; d < 2; d++) {
    cocabo_study *study = create(mixed_space(), NULL,
                                 WITH("sampler", "random", "direction", directions[d]));
    cocabo_trial *t = NULL;
    assert_fails(cocabo_study_best(study, &t, &err), COCABO_E_NOT_FOUND,
                 "no trial of study \"s\" is complete yet");
    ask_many(study, 4);
    assert_ok(cocabo_study_tell(study, 2, 1.5, &err));
    assert_ok(cocabo_study_tell(study, 0, -2.5, &err));
    assert_ok(cocabo_study_tell(study, 3, 9.5, &err));
    assert_best(study, d == 0 ? 0 : 3, d == 0 ? -2.5 : 9.5);
    cocabo_study_free(study);
  }
}

static void the_first_value_counts(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  ask_many(study, 1);
  assert_ok(cocabo_study_tell(study, 0, 1.5, &err));
  const int64_t length = log_length(study);
  assert_ok(cocabo_study_tell(study, 0, 1.5, &err));
  assert_int_equal(log_length(study), length); /* nothing written */
  assert_ok(cocabo_study_tell(study, 0, -7.0, &err));
  assert_int_equal(log_length(study), length + 1); /* kept as an extra */
  assert_ok(cocabo_study_fail(study, 0, "late", &err));
  assert_best(study, 0, 1.5);
  assert_state(study, 0, COCABO_COMPLETE);
  cocabo_study_free(study);
}

static void values_that_are_not_finite_fail_the_trial(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  const double values[] = {NAN, -NAN, INFINITY, -INFINITY};
  const char *const reasons[] = {"value is nan", "value is nan", "value is inf",
                                 "value is -inf"};
  ask_many(study, 4);
  for (int i = 0; i < 4; i++) {
    cocabo_trial *t;
    assert_ok(cocabo_study_tell(study, i, values[i], &err));
    const int64_t length = log_length(study);
    assert_ok(cocabo_study_tell(study, i, values[i], &err));
    assert_int_equal(log_length(study), length);
    assert_ok(cocabo_study_trial(study, i, &t, &err));
    assert_int_equal(cocabo_trial_get_state(t), COCABO_FAILED);
    assert_string_equal(cocabo_trial_reason(t), reasons[i]);
    assert_true(isnan(cocabo_trial_value(t)));
    cocabo_trial_free(t);
  }
  assert_ok(cocabo_study_tell(study, 1, 4.5, &err)); /* a late one is welcome */
  assert_best(study, 1, 4.5);
  cocabo_study_free(study);
}

static void unknown_trials_are_named(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  cocabo_trial *t = NULL;
  ask_many(study, 3);
#define UNKNOWN(call, number)                                                          \
  assert_fails(call, COCABO_E_NOT_FOUND,                                               \
               "no trial " number " in study \"s\": it has 3, from 0 to 2")
  UNKNOWN(cocabo_study_tell(study, 7, 1.0, &err), "7");
  UNKNOWN(cocabo_study_tell(study, 3, NAN, &err), "3");
  UNKNOWN(cocabo_study_tell(study, -1, 1.0, &err), "-1");
  UNKNOWN(cocabo_study_fail(study, 3, "x", &err), "3");
  UNKNOWN(cocabo_study_interrupt(study, INT64_MAX, &err), "9223372036854775807");
  UNKNOWN(cocabo_study_trial(study, 3, &t, &err), "3");
#undef UNKNOWN
  assert_null(t);
  assert_int_equal(log_length(study), 4);
  cocabo_study_free(study);
}

/* ---- waiting, interrupted, stale ------------------------------------------------- */

static void add_point(cocabo_study *study, double x, const double *result) {
  const char *const names[] = {"c", "x", "n"};
  const cocabo_value values[] = {letters[1],
                                 {.type = COCABO_REAL, .as.real = x},
                                 {.type = COCABO_INT, .as.integer = 8}};
  assert_ok(cocabo_study_add(study, names, values, 3, result, &err));
}

static void append_event(cocabo_study *study, cb_event *event) {
  const cb_append what = {.events = event, .n = 1, .next_number = -1};
  assert_ok(study->store->ops->append(study->store, study->id, &what, &err));
}

static void append_stale(cocabo_study *study, int64_t number) {
  cb_event stale = {.kind = CB_TRIAL_STALE, .number = number, .id = {1, 1}};
  append_event(study, &stale);
}

static void points_on_offer_come_first(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  char before[5][200], after[200];
  cocabo_trial *t[6];
  assert_ok(cocabo_study_ask(study, 4, t, &err));
  for (int i = 0; i < 4; i++) {
    describe(t[i], before[i]);
    cocabo_trial_free(t[i]);
  }
  append_stale(study, 0);
  assert_ok(cocabo_study_interrupt(study, 3, &err));
  assert_ok(cocabo_study_interrupt(study, 1, &err));
  add_point(study, 0.25, NULL);
  add_point(study, 0.5, NULL);
  assert_int_equal(cocabo_study_count(study), 6);
  assert_state(study, 4, COCABO_WAITING);

  /* waiting 4 5, interrupted 1 3, stale 0, then a new one */
  const int64_t want[] = {4, 5, 1, 3, 0, 6};
  assert_ok(cocabo_study_ask(study, 6, t, &err));
  for (int i = 0; i < 6; i++) {
    assert_int_equal(cocabo_trial_number(t[i]), want[i]);
    assert_int_equal(cocabo_trial_get_state(t[i]), COCABO_RUNNING);
    assert_state(study, want[i], COCABO_RUNNING);
    describe(t[i], after);
    if (want[i] < 4)
      assert_string_equal(after, before[want[i]]);
    cocabo_trial_free(t[i]);
  }
  assert_int_equal(study->fold.history->trials[1].attempt, 1);
  assert_ok(cocabo_study_interrupt(study, 1, &err));
  assert_int_equal(ask_number(study), 1);
  assert_int_equal(study->fold.history->trials[1].attempt, 2);
  assert_int_equal(study->fold.history->n_design, 5); /* enqueued ones are not design */
  cocabo_study_free(study);
}

static void giving_back_twice_is_harmless(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  ask_many(study, 2);
  add_point(study, 0.25, NULL);
  assert_ok(cocabo_study_interrupt(study, 0, &err));
  const int64_t length = log_length(study);
  assert_ok(cocabo_study_interrupt(study, 0, &err));
  assert_ok(cocabo_study_interrupt(study, 2, &err)); /* waiting */
  assert_int_equal(log_length(study), length);
  assert_ok(cocabo_study_tell(study, 1, 3.0, &err));
  assert_fails(cocabo_study_interrupt(study, 1, &err), COCABO_E_STATE,
               "trial 1 is complete, want a running one");
  assert_ok(cocabo_study_fail(study, 0, "x", &err));
  assert_fails(cocabo_study_interrupt(study, 0, &err), COCABO_E_STATE,
               "trial 0 is failed, want a running one");
  cocabo_study_free(study);
}

static void a_failed_trial_is_offered_again(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study =
      create(mixed_space(), store, WITH("sampler", "random", "trials", "3"));
  cocabo_study *other;
  assert_ok(cocabo_study_open(&other, "s", store, &err));
  char before[200], after[200];
  cocabo_trial *t = ask_one(study);
  describe(t, before);
  cocabo_trial_free(t);
  ask_many(study, 2);
  assert_ok(cocabo_study_fail(study, 0, "no disk", &err));
  assert_ok(cocabo_study_tell(study, 1, 3.0, &err));
  assert_fails(cocabo_study_retry(study, 1, &err), COCABO_E_STATE,
               "trial 1 is complete, want a failed one");
  assert_fails(cocabo_study_retry(study, 2, &err), COCABO_E_STATE,
               "trial 2 is running, want a failed one");
  assert_fails(cocabo_study_retry(study, 3, &err), COCABO_E_NOT_FOUND,
               "no trial 3 in study \"s\": it has 3, from 0 to 2");
  assert_fails(cocabo_study_ask(study, 1, &t, &err), COCABO_E_BUDGET,
               "study \"s\" has 0 of its 3 trials left, want 1");
  assert_ok(cocabo_study_retry(other, 0, &err));
  const int64_t length = log_length(other);
  assert_ok(cocabo_study_retry(study, 0, &err)); /* it is on offer */
  assert_int_equal(log_length(study), length);
  assert_state(study, 0, COCABO_INTERRUPTED);
  assert_int_equal(cocabo_study_count_state(study, COCABO_FAILED), 0);

  t = ask_one(study); /* the budget has room for it again */
  describe(t, after);
  assert_string_equal(after, before);
  assert_int_equal(cocabo_trial_number(t), 0);
  assert_int_equal(cocabo_trial_attempt(t), 1);
  cocabo_trial_free(t);
  assert_ok(cocabo_study_tell(study, 0, 1.5, &err));
  assert_best(study, 0, 1.5);
  cocabo_study_free(other);
  cocabo_study_free(study);
  cocabo_store_free(store);
}

static void a_waiting_trial_can_be_told(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  add_point(study, 0.25, NULL);
  assert_ok(cocabo_study_tell(study, 0, 2.5, &err));
  assert_best(study, 0, 2.5);
  assert_int_equal(ask_number(study), 1);
  cocabo_study_free(study);
}

static void known_results_count_at_once(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  const double result = -4.5;
  add_point(study, 0.25, &result);
  assert_best(study, 0, -4.5);
  cocabo_trial *t;
  double x;
  int64_t n;
  cocabo_value c;
  assert_ok(cocabo_study_trial(study, 0, &t, &err));
  assert_ok(cocabo_trial_get_real(t, "x", &x, &err));
  assert_ok(cocabo_trial_get_int(t, "n", &n, &err));
  assert_ok(cocabo_trial_get_choice(t, "c", &c, &err));
  assert_true(x == 0.25 && n == 8);
  assert_string_equal(c.as.text, "b");
  cocabo_trial_free(t);
  assert_int_equal(study->fold.history->n_design, 0);
  cocabo_study_free(study);
}

/* ---- handles --------------------------------------------------------------------- */

static void a_trial_outlives_its_study(void **state) {
  (void)state;
  cocabo_study *study = create(mixed_space(), NULL, WITH("sampler", "random"));
  cocabo_trial *t = ask_one(study);
  cocabo_study_free(study);
  char point[200];
  describe(t, point);
  assert_memory_equal(point, "x=", 2);
  cocabo_trial_free(t);
}

static void the_users_space_and_options_are_copied(void **state) {
  (void)state;
  cocabo_space *space = mixed_space();
  cocabo_study *study;
  assert_ok(cocabo_study_create(&study, "s", space, NULL, NULL, &err));
  assert_ok(cocabo_space_add_int(space, "later", 0, 1, 0, 0, &err));
  cocabo_space_free(space);
  cocabo_trial *t = ask_one(study);
  assert_int_equal(cocabo_trial_count(t), 3);
  cocabo_trial_free(t);
  cocabo_study_free(study);
}

static void handles_learn_from_each_other(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *a =
      create(mixed_space(), store, WITH("sampler", "random", "direction", "maximize"));
  cocabo_study *b;
  assert_ok(cocabo_study_open(&b, "s", store, &err));
  assert_int_equal(ask_number(a), 0);
  assert_int_equal(ask_number(b), 1);
  assert_int_equal(ask_number(a), 2);
  assert_int_equal(cocabo_study_count(b), 2);
  assert_ok(cocabo_study_tell(b, 2, 1.5, &err)); /* asked by the other */
  assert_ok(cocabo_study_tell(b, 0, 2.5, &err));
  assert_ok(cocabo_study_sync(a, &err));
  assert_best(a, 0, 2.5); /* and opened with the same direction */
  assert_best(b, 0, 2.5);
  assert_ok(cocabo_study_interrupt(a, 1, &err));
  assert_int_equal(ask_number(b), 1);
  assert_int_equal(ask_number(a), 3);
  cocabo_study_free(a);
  cocabo_study_free(b);
  cocabo_store_free(store);
}

static void names_are_taken_once_per_store(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *a = create(mixed_space(), store, NULL), *b = a;
  cocabo_space *space = six_points();
  assert_fails(cocabo_study_create(&b, "s", space, NULL, store, &err), COCABO_E_EXISTS,
               "study \"s\" exists already");
  assert_null(b);
  assert_fails(cocabo_study_open(&b, "t", store, &err), COCABO_E_NOT_FOUND,
               "no study \"t\"");
  assert_ok(cocabo_study_create(&b, "s", space, NULL, NULL, &err)); /* its own store */
  cocabo_space_free(space);
  cocabo_study_free(a);
  cocabo_study_free(b);
  cocabo_store_free(store);
}

static void a_deleted_study_says_so(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(mixed_space(), store, WITH("sampler", "random"));
  ask_many(study, 1);
  assert_ok(store->ops->remove(store, "s", &err));
  cocabo_trial *t = NULL;
  assert_fails(cocabo_study_ask(study, 1, &t, &err), COCABO_E_NOT_FOUND,
               "the study has been deleted");
  assert_fails(cocabo_study_tell(study, 0, 1.0, &err), COCABO_E_NOT_FOUND,
               "the study has been deleted");
  cocabo_study_free(study);
  cocabo_store_free(store);
}

static void changed_options_reach_every_handle(void **state) {
  (void)state;
  cocabo_study *study =
      create(mixed_space(), NULL, WITH("sampler", "random", "n_init", "0"));
  ask_many(study, 1); /* the sampler has its state now */
  cb_pair options[] = {{.name = "n_init", .value = "3"},
                       {.name = "kappa", .value = "5"},
                       {.name = "sampler", .value = "cocabo"}};
  cb_event changed = {.kind = CB_STUDY_CHANGED,
                      .number = -1,
                      .id = {1, 1},
                      .n_options = 3,
                      .options = options};
  append_event(study, &changed);
  ask_many(study, 4);
  assert_int_equal(study->fold.history->n_design, 3);
  assert_true(study->view.resolved.settings.kappa == 5.0);

  options[0] = (cb_pair){.name = "direction", .value = "maximize"};
  changed.id[1] = 2;
  append_event(study, &changed);
  assert_fails(cocabo_study_sync(study, &err), COCABO_E_STATE,
               "the direction of study \"s\" is fixed");
  assert_true(study->fold.history->sign == -1.0);
  cocabo_study_free(study);
}

/* ---- trouble --------------------------------------------------------------------- */

static int stop(void *user) {
  ++*(int *)user;
  return 1;
}

static void an_interrupted_ask_changes_nothing(void **state) {
  (void)state;
  cocabo_study *study =
      create(mixed_space(), NULL, WITH("sampler", "random", "n_init", "2"));
  int calls = 0;
  cocabo_trial *t[3] = {NULL};
  cocabo_study_on_interrupt(study, stop, &calls);
  for (int n = 1; n <= 3; n += 2)
    assert_int_equal(cocabo_study_ask(study, (size_t)n, t, &err), COCABO_E_INTERRUPTED);
  assert_null(t[0]);
  assert_true(calls >= 2);
  assert_int_equal(log_length(study), 1);
  cocabo_study_on_interrupt(study, NULL, NULL);
  assert_int_equal(ask_number(study), 0);
  cocabo_study_on_interrupt(NULL, stop, NULL);
  cocabo_study_free(study);
}

/* A store in front of the memory store that has troubles of its own. */
typedef struct moody_store {
  cocabo_store base;
  cocabo_store *inner;
  int busy_appends;    /* so many appends find another writer was faster */
  int broken_appends;  /* so many fail for good */
  bool deaf;           /* reading fails */
  cocabo_study *rival; /* asks behind the back of so many appends */
  int n_rivals;
  bool spiteful; /* after an append nothing works any more */
} moody_store;

static cocabo_status moody_create(cocabo_store *s, const char *name, cb_event *created,
                                  int64_t *id, cocabo_error *e) {
  cocabo_store *inner = ((moody_store *)s)->inner;
  return inner->ops->create(inner, name, created, id, e);
}

static cocabo_status moody_read(cocabo_store *s, int64_t id, const cb_position *from,
                                cb_event_fn each, cb_expired_fn expired, void *user,
                                cocabo_error *e) {
  moody_store *moody = (moody_store *)s;
  if (moody->deaf)
    return cb_fail(e, COCABO_E_STORE, "the line is dead");
  return moody->inner->ops->read_since(moody->inner, id, from, each, expired, user, e);
}

static cocabo_status moody_append(cocabo_store *s, int64_t id, const cb_append *what,
                                  cocabo_error *e) {
  moody_store *moody = (moody_store *)s;
  if (moody->broken_appends > 0) {
    moody->broken_appends--;
    return cb_fail(e, COCABO_E_STORE, "disk full");
  }
  if (moody->busy_appends > 0) {
    moody->busy_appends--;
    return cb_fail(e, COCABO_E_BUSY, "taken");
  }
  if (moody->n_rivals > 0) {
    moody->n_rivals--;
    ask_many(moody->rival, 1);
  }
  const cocabo_status status = moody->inner->ops->append(moody->inner, id, what, e);
  if (moody->spiteful) {
    moody->deaf = true;
    cb_mem_fail_after(0);
  }
  return status;
}

static const cb_store_ops moody_ops = {
    .create = moody_create, .read_since = moody_read, .append = moody_append};

static void whoever_is_overtaken_starts_over(void **state) {
  (void)state;
  cocabo_store *inner = cocabo_store_new_memory();
  moody_store moody = {.base.ops = &moody_ops, .inner = inner};
  cocabo_study *study = create(mixed_space(), &moody.base, WITH("sampler", "random"));
  assert_ok(cocabo_study_open(&moody.rival, "s", inner, &err));

  moody.n_rivals = 3;
  assert_int_equal(ask_number(study), 3);
  assert_int_equal(cocabo_study_count(study), 4);
  assert_int_equal(cb_history_distinct(study->fold.history), 4);
  moody.n_rivals = 2;
  add_point(study, 0.5, NULL);
  assert_state(study, 6, COCABO_WAITING);

  /* Both see 6 on offer; the rival is faster, and we get a new one. */
  moody.n_rivals = 1;
  assert_int_equal(ask_number(study), 7);
  assert_int_equal(study->fold.history->trials[6].attempt, 1);

  /* A tell does not mind: what others did is learnt with it. */
  moody.n_rivals = 1;
  assert_ok(cocabo_study_tell(study, 0, 1.25, &err));
  assert_best(study, 0, 1.25);
  assert_int_equal(cocabo_study_count(study), 9);

  cocabo_study_free(study);
  cocabo_study_free(moody.rival);
  cocabo_store_free(inner);
}

static void being_overtaken_for_ever_is_busy(void **state) {
  (void)state;
  cocabo_store *inner = cocabo_store_new_memory();
  moody_store moody = {.base.ops = &moody_ops, .inner = inner};
  cocabo_study *study = create(mixed_space(), &moody.base, WITH("sampler", "random"));
  cocabo_trial *t = NULL;
  moody.busy_appends = 1000;
  assert_fails(cocabo_study_ask(study, 1, &t, &err), COCABO_E_BUSY,
               "study \"s\": others took the next trial 100 times in a row");
  assert_null(t);
  assert_int_equal(moody.busy_appends, 900);
  moody.busy_appends = 99;
  assert_int_equal(ask_number(study), 0);
  cocabo_study_free(study);
  cocabo_store_free(inner);
}

static void a_broken_store_leaves_the_study_as_it_was(void **state) {
  (void)state;
  cocabo_store *inner = cocabo_store_new_memory();
  moody_store moody = {.base.ops = &moody_ops, .inner = inner};
  cocabo_study *study = create(mixed_space(), &moody.base, WITH("sampler", "random"));
  ask_many(study, 2);
  cocabo_trial *t = NULL;
  moody.broken_appends = 4;
  assert_fails(cocabo_study_ask(study, 1, &t, &err), COCABO_E_STORE, "disk full");
  assert_fails(cocabo_study_tell(study, 0, 1.0, &err), COCABO_E_STORE, "disk full");
  assert_fails(cocabo_study_fail(study, 0, "x", &err), COCABO_E_STORE, "disk full");
  assert_fails(cocabo_study_interrupt(study, 0, &err), COCABO_E_STORE, "disk full");
  assert_int_equal(log_length(study), 3);
  assert_state(study, 0, COCABO_RUNNING);
  moody.deaf = true;
  assert_fails(cocabo_study_fail(study, 0, "x", &err), COCABO_E_STORE,
               "the line is dead");
  assert_ok(cocabo_study_tell(study, 0, 1.0, &err)); /* its own needs no look first */
  moody.deaf = false;
  assert_best(study, 0, 1.0);
  assert_int_equal(ask_number(study), 2);
  cocabo_study_free(study);
  cocabo_store_free(inner);
}

#define SPITEFULLY(call)                                                               \
  do {                                                                                 \
    moody.spiteful = true;                                                             \
    assert_ok(call);                                                                   \
    cb_mem_fail_after(-1);                                                             \
    moody.spiteful = moody.deaf = false;                                               \
  } while (0)

static void an_accepted_fit_counts_at_once(void **state) {
  (void)state;
  cocabo_store *inner = cocabo_store_new_memory();
  moody_store moody = {.base.ops = &moody_ops, .inner = inner};
  cocabo_study *study =
      create(mixed_space(), &moody.base, WITH("sampler", "mixed", "n_init", "3"));
  ask_many(study, 3);
  for (int64_t i = 0; i < 3; i++)
    assert_ok(cocabo_study_tell(study, i, 1.5 * (double)i, &err));
  for (int64_t i = 3; i < 6; i++) {
    cocabo_trial *t;
    SPITEFULLY(cocabo_study_ask(study, 1, &t, &err));
    cocabo_trial_free(t);
    assert_int_equal(study->fold.history->fit.rows, i);
    assert_int_equal(cocabo_study_count(study), i + 1);
    assert_ok(cocabo_study_tell(study, i, 0.5, &err));
  }
  cocabo_study_free(study);
  cocabo_store_free(inner);
}

static void what_the_log_accepted_counts(void **state) {
  (void)state;
  cocabo_store *inner = cocabo_store_new_memory();
  moody_store moody = {.base.ops = &moody_ops, .inner = inner};
  cocabo_study *study = create(mixed_space(), &moody.base, WITH("sampler", "random"));
  cocabo_trial *t[20];
  SPITEFULLY(cocabo_study_ask(study, 20, t, &err));
  assert_int_equal(cocabo_study_count(study), 20);
  for (int i = 0; i < 20; i++)
    cocabo_trial_free(t[i]);
  SPITEFULLY(cocabo_study_tell(study, 3, 1.5, &err));
  assert_best(study, 3, 1.5);
  SPITEFULLY(cocabo_study_fail(study, 4, "a reason that needs memory", &err));
  assert_state(study, 4, COCABO_FAILED);
  SPITEFULLY(cocabo_study_retry(study, 4, &err));
  assert_state(study, 4, COCABO_INTERRUPTED);
  SPITEFULLY(cocabo_study_interrupt(study, 5, &err));
  assert_state(study, 5, COCABO_INTERRUPTED);
  for (int64_t i = 20; i < 50; i++) { /* through every growth */
    const char *const names[] = {"c", "x", "n"};
    const cocabo_value values[] = {letters[1],
                                   {.type = COCABO_REAL, .as.real = 0.5},
                                   {.type = COCABO_INT, .as.integer = i}};
    SPITEFULLY(cocabo_study_add(study, names, values, 3, NULL, &err));
    assert_state(study, i, COCABO_WAITING);
  }
  cocabo_study_free(study);
  cocabo_store_free(inner);
}

/* ---- workers --------------------------------------------------------------------- */

enum { WORKERS = 4, EACH = 25 };

static void *work(void *user) {
  cocabo_study *study = user;
  for (int i = 0; i < EACH; i++) {
    cocabo_trial *t;
    if (cocabo_study_ask(study, 1, &t, NULL) != COCABO_OK)
      return study;
    const int64_t number = cocabo_trial_number(t);
    cocabo_trial_free(t);
    if (cocabo_study_tell(study, number, (double)number, NULL) != COCABO_OK)
      return study;
  }
  return NULL;
}

static void workers_share_a_study(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *first = create(mixed_space(), store, WITH("sampler", "random"));
  cocabo_study *handles[WORKERS];
  pthread_t threads[WORKERS];
  for (int i = 0; i < WORKERS; i++)
    assert_ok(cocabo_study_open(&handles[i], "s", store, &err));
  for (int i = 0; i < WORKERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, handles[i]), 0);
  for (int i = 0; i < WORKERS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
    cocabo_study_free(handles[i]);
  }
  assert_ok(cocabo_study_sync(first, &err));
  assert_int_equal(cocabo_study_count(first), WORKERS * EACH);
  assert_int_equal(first->fold.history->n, WORKERS * EACH);
  assert_int_equal(cb_history_distinct(first->fold.history), WORKERS * EACH);
  assert_best(first, 0, 0.0);
  cocabo_study_free(first);
  cocabo_store_free(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_design_comes_first),
      cmocka_unit_test(a_batch_may_cross_the_end_of_the_design),
      cmocka_unit_test(points_of_a_finite_space_come_once),
      cmocka_unit_test(an_exhausted_space_gives_all_or_none),
      cmocka_unit_test(the_same_seed_and_results_give_the_same_points),
      cmocka_unit_test(results_that_no_fit_has_seen_make_one_due),
      cmocka_unit_test(the_best_of_many_noisy_results_needs_no_model_of_them_all),
      cmocka_unit_test(a_fit_is_logged_with_what_it_saw),
      cmocka_unit_test(best_follows_the_direction),
      cmocka_unit_test(the_first_value_counts),
      cmocka_unit_test(values_that_are_not_finite_fail_the_trial),
      cmocka_unit_test(unknown_trials_are_named),
      cmocka_unit_test(points_on_offer_come_first),
      cmocka_unit_test(giving_back_twice_is_harmless),
      cmocka_unit_test(a_failed_trial_is_offered_again),
      cmocka_unit_test(a_waiting_trial_can_be_told),
      cmocka_unit_test(known_results_count_at_once),
      cmocka_unit_test(a_trial_outlives_its_study),
      cmocka_unit_test(the_users_space_and_options_are_copied),
      cmocka_unit_test(handles_learn_from_each_other),
      cmocka_unit_test(names_are_taken_once_per_store),
      cmocka_unit_test(a_deleted_study_says_so),
      cmocka_unit_test(changed_options_reach_every_handle),
      cmocka_unit_test(an_interrupted_ask_changes_nothing),
      cmocka_unit_test(whoever_is_overtaken_starts_over),
      cmocka_unit_test(being_overtaken_for_ever_is_busy),
      cmocka_unit_test(a_broken_store_leaves_the_study_as_it_was),
      cmocka_unit_test(what_the_log_accepted_counts),
      cmocka_unit_test(an_accepted_fit_counts_at_once),
      cmocka_unit_test(workers_share_a_study),
  };
  return cmocka_run_group_tests_name("study/study", tests, NULL, NULL);
}
