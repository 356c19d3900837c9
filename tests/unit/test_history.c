#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "log/history.h"

static cocabo_error err;

enum { N = 3 }; /* parameters: x real, h choice, k int */

static cocabo_space *make_space(void) {
  cocabo_space *s = cocabo_space_new();
  const cocabo_value choices[] = {{.type = COCABO_INT, .as.integer = 1},
                                  {.type = COCABO_NULL},
                                  {.type = COCABO_INT, .as.integer = 3}};
  assert_ok(cocabo_space_add_real(s, "x", -2, 2, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "h", choices, 3, 0, &err));
  assert_ok(cocabo_space_add_int(s, "k", 0, 1000000, 0, 0, &err));
  return s;
}

static cb_history *make_history(double sign) {
  cocabo_space *s = make_space();
  cb_history *h;
  assert_ok(cb_history_new(&h, s, sign, &err));
  cocabo_space_free(s); /* the history has its own share */
  return h;
}

/* Applies an event as the next one; what it points to stays the test's. */
static cocabo_status put(cb_history *h, cb_event event) {
  event.seq = h->seq + 1;
  return cb_history_apply(h, &event, &err);
}

static cb_cell *point(double x, int64_t h, int64_t k) {
  static cb_cell cells[N];
  cells[0] = (cb_cell){.real = x};
  cells[1] = (cb_cell){.integer = h};
  cells[2] = (cb_cell){.integer = k};
  return cells;
}

static cb_event asked(int64_t number, int64_t k, cb_origin origin, int batch_index) {
  return (cb_event){.kind = CB_TRIAL_ASKED,
                    .number = number,
                    .origin = origin,
                    .n_cells = N,
                    .cells = point(0.5, 1, k),
                    .proposal.batch_index = batch_index};
}

static cb_event added(int64_t number, int64_t k, const double *y) {
  return (cb_event){.kind = CB_TRIAL_ADDED,
                    .number = number,
                    .origin = CB_BY_USER,
                    .n_cells = N,
                    .cells = point(-1.5, 2, k),
                    .has_y = y != NULL,
                    .y = y ? *y : 0};
}

static cb_event told(int64_t number, double y) {
  return (cb_event){.kind = CB_TRIAL_TOLD, .number = number, .has_y = true, .y = y};
}

static cb_event failed(int64_t number, const char *reason) {
  return (cb_event){
      .kind = CB_TRIAL_FAILED, .number = number, .reason = (char *)reason};
}

static cb_event moved(cb_event_kind kind, int64_t number, int64_t attempt) {
  return (cb_event){.kind = kind, .number = number, .attempt = attempt};
}

static void assert_list(const int64_t *list, int64_t n, const char *want) {
  char got[256] = "";
  for (int64_t i = 0; i < n; i++)
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s%lld", i ? " " : "",
             (long long)list[i]);
  assert_string_equal(got, want);
}

static cb_history *with_running(int n, double sign) {
  cb_history *h = make_history(sign);
  for (int i = 0; i < n; i++)
    assert_ok(put(h, asked(i, i, CB_BY_DESIGN, i)));
  return h;
}

static void training_data_is_in_told_order_and_maximised(void **state) {
  (void)state;
  cb_history *h = with_running(5, -1.0);
  assert_ok(put(h, told(3, 2.5)));
  assert_ok(put(h, told(0, -1.5)));
  assert_ok(put(h, told(4, -1.5)));
  assert_ok(put(h, told(1, 7.0)));
  assert_int_equal(h->n, 4);
  assert_list(h->told, h->n, "3 0 4 1");
  const double y[] = {-2.5, 1.5, 1.5, -7.0};
  assert_memory_equal(h->y, y, sizeof y);
  assert_int_equal(h->best, 1); /* the first of equals */
  assert_true(h->trials[3].value == 2.5);
  assert_list(h->pending, h->n_pending, "2");
  cb_history_free(h);

  h = with_running(2, 1.0);
  assert_ok(put(h, told(1, -3.0)));
  assert_ok(put(h, told(0, -4.0)));
  assert_int_equal(h->best, 0);
  assert_true(h->y[1] == -4.0);
  cb_history_free(h);
}

static void a_revised_row_has_a_new_value_and_variance(void **state) {
  (void)state;
  cb_history *h = with_running(4, -1.0);
  assert_ok(put(h, told(2, 3.5)));
  assert_ok(put(h, told(0, -1.25)));
  assert_ok(put(h, told(3, 0.75)));
  assert_int_equal(h->best, 1);
  assert_int_equal(h->revised, 0);
  assert_false(cb_history_is_noisy(h));

  cb_history_revise(h, 1, -2.25, 0.375); /* the best has only been lucky */
  assert_int_equal(h->revised, 1);
  assert_int_equal(h->best, 2);
  assert_true(h->y[1] == -2.25 && h->variance[1] == 0.375);
  assert_true(h->trials[0].value != 2.25); /* which stays what was told */
  assert_true(h->variance[0] == 0.0 && h->variance[2] == 0.0);
  assert_true(cb_history_is_noisy(h));

  cb_history_revise(h, 1, -2.25, 0.375); /* nothing new */
  assert_int_equal(h->revised, 1);
  cb_history_revise(h, 1, -2.25, 0.125);
  assert_int_equal(h->revised, 2);
  cb_history_revise(h, 0, -0.75, 0.0); /* as good as the best, and before it */
  assert_int_equal(h->best, 0);
  assert_ok(put(h, told(1, 5.5)));
  assert_true(h->variance[3] == 0.0);
  cb_history_free(h);
}

static void points_are_encoded(void **state) {
  (void)state;
  cb_history *h = make_history(1.0);
  cb_draw draws[1] = {{.p = 0.25, .gamma = 0.5, .b = 1, .capped = true}};
  cb_event event = asked(0, 250000, CB_BY_SAMPLER, 0);
  event.proposal.n_draws = 1;
  event.proposal.draws = draws;
  assert_ok(put(h, event));
  assert_ok(put(h, added(1, 1000000, NULL)));
  const cb_trial *t = h->trials;
  assert_close(t[0].x[0], 0.25, 1e-15);
  assert_close(t[0].x[1], -0.5, 1e-15);
  assert_int_equal(t[0].h[0], 1);
  assert_true(t[0].draws[0].p == 0.25 && t[0].draws[0].capped);
  assert_close(t[1].x[0], -0.75, 1e-15);
  assert_true(t[1].x[1] == 1.0);
  assert_int_equal(t[1].h[0], 2);
  assert_null(t[1].draws);
  assert_int_equal(t[1].origin, CB_BY_USER);
  assert_true(isnan(t[1].value));
  cb_history_free(h);
}

static void the_first_told_counts(void **state) {
  (void)state;
  cb_history *h = with_running(2, 1.0);
  assert_ok(put(h, told(0, 1.0)));
  assert_ok(put(h, told(0, 9.0)));
  assert_ok(put(h, failed(0, "late")));
  assert_ok(put(h, moved(CB_TRIAL_INTERRUPTED, 0, 0)));
  assert_ok(put(h, moved(CB_TRIAL_STALE, 0, 0)));
  assert_int_equal(h->n, 1);
  assert_true(h->trials[0].value == 1.0);
  assert_int_equal(h->trials[0].state, COCABO_COMPLETE);
  assert_int_equal(h->n_failed, 0);
  assert_null(h->trials[0].reason);
  assert_int_equal(h->seq, 7);
  cb_history_free(h);
}

static void a_late_value_heals_a_failed_trial(void **state) {
  (void)state;
  cb_history *h = with_running(4, 1.0);
  assert_ok(put(h, failed(2, "timeout")));
  assert_ok(put(h, failed(0, "crash")));
  assert_ok(put(h, failed(3, "")));
  assert_ok(put(h, failed(0, "again")));
  assert_list(h->failed, h->n_failed, "2 0 3");
  assert_string_equal(h->trials[0].reason, "crash");
  assert_string_equal(h->trials[3].reason, "");
  assert_list(h->pending, h->n_pending, "1");
  assert_ok(put(h, told(0, 4.0)));
  assert_list(h->failed, h->n_failed, "2 3");
  assert_list(h->told, h->n, "0");
  assert_null(h->trials[0].reason);
  assert_int_equal(h->trials[0].state, COCABO_COMPLETE);
  cb_history_free(h);
}

static void trials_wait_run_and_are_resumed(void **state) {
  (void)state;
  cb_history *h = with_running(3, 1.0);
  assert_ok(put(h, added(3, 0, NULL)));
  assert_int_equal(h->trials[3].state, COCABO_WAITING);
  assert_ok(put(h, moved(CB_TRIAL_INTERRUPTED, 1, 0)));
  assert_int_equal(h->trials[1].state, COCABO_INTERRUPTED);
  assert_ok(put(h, moved(CB_TRIAL_STALE, 1, 0))); /* no longer running */
  assert_int_equal(h->trials[1].state, COCABO_INTERRUPTED);
  assert_ok(put(h, moved(CB_TRIAL_STALE, 2, 0)));
  assert_int_equal(h->trials[2].state, COCABO_STALE);
  assert_ok(put(h, moved(CB_TRIAL_STALE, 3, 0))); /* waiting, not running */
  assert_int_equal(h->trials[3].state, COCABO_WAITING);
  assert_list(h->pending, h->n_pending, "0 1 2 3");
  for (int i = 1; i <= 3; i++) {
    assert_ok(put(h, moved(CB_TRIAL_RESUMED, i, 1)));
    assert_int_equal(h->trials[i].state, COCABO_RUNNING);
    assert_int_equal(h->trials[i].attempt, 1);
  }
  assert_ok(put(h, told(1, 2.0)));
  assert_ok(put(h, moved(CB_TRIAL_RESUMED, 1, 2)));
  assert_int_equal(h->trials[1].state, COCABO_COMPLETE);
  assert_int_equal(h->trials[1].attempt, 2);
  assert_list(h->pending, h->n_pending, "0 2 3");
  cb_history_free(h);
}

/* Somebody else has the trial by now: a late STALE is about the attempt before. */
static void a_late_stale_hits_nobody(void **state) {
  (void)state;
  cb_history *h = with_running(1, 1.0);
  assert_ok(put(h, moved(CB_TRIAL_STALE, 0, 1))); /* an attempt that never was */
  assert_int_equal(h->trials[0].state, COCABO_RUNNING);
  assert_ok(put(h, moved(CB_TRIAL_STALE, 0, 0)));
  assert_int_equal(h->trials[0].state, COCABO_STALE);
  assert_ok(put(h, moved(CB_TRIAL_RESUMED, 0, 1)));
  assert_ok(put(h, moved(CB_TRIAL_STALE, 0, 0)));
  assert_int_equal(h->trials[0].state, COCABO_RUNNING);
  assert_ok(put(h, moved(CB_TRIAL_STALE, 0, 1)));
  assert_int_equal(h->trials[0].state, COCABO_STALE);
  cb_history_free(h);
}

/* Nor does a late failure, or a late hand that gives the trial back. */
static void a_late_end_hits_nobody(void **state) {
  (void)state;
  cb_history *h = with_running(2, 1.0);
  for (int64_t i = 0; i < 2; i++) {
    const cb_event_kind kind = i == 0 ? CB_TRIAL_FAILED : CB_TRIAL_INTERRUPTED;
    cb_event end = moved(kind, i, 0);
    end.has_attempt = true;
    assert_ok(put(h, moved(CB_TRIAL_STALE, i, 0)));
    assert_ok(put(h, moved(CB_TRIAL_RESUMED, i, 1)));
    assert_ok(put(h, end));
    assert_int_equal(h->trials[i].state, COCABO_RUNNING);
    end.attempt = 1;
    assert_ok(put(h, end));
    assert_int_equal(h->trials[i].state, i == 0 ? COCABO_FAILED : COCABO_INTERRUPTED);
  }
  cb_history_free(h);
}

/* In logs of 0.1.0 they name no attempt, and mean the one there is. */
static void an_end_without_an_attempt_is_the_present_ones(void **state) {
  (void)state;
  cb_history *h = with_running(2, 1.0);
  for (int64_t i = 0; i < 2; i++) {
    assert_ok(put(h, moved(CB_TRIAL_STALE, i, 0)));
    assert_ok(put(h, moved(CB_TRIAL_RESUMED, i, 1)));
  }
  assert_ok(put(h, failed(0, "x")));
  assert_ok(put(h, moved(CB_TRIAL_INTERRUPTED, 1, 0)));
  assert_int_equal(h->trials[0].state, COCABO_FAILED);
  assert_int_equal(h->trials[1].state, COCABO_INTERRUPTED);
  cb_history_free(h);
}

static cb_event at(double time, cb_event event) {
  event.time = time;
  return event;
}

static void a_failed_trial_is_put_back_in_its_place(void **state) {
  (void)state;
  cb_history *h = with_running(5, 1.0);
  assert_ok(put(h, failed(3, "first")));
  assert_ok(put(h, failed(1, "second")));
  assert_ok(put(h, failed(4, "third")));
  assert_ok(put(h, told(0, 1.5)));
  assert_ok(put(h, moved(CB_TRIAL_RETRIED, 3, 0)));
  assert_ok(put(h, moved(CB_TRIAL_RETRIED, 1, 0)));
  assert_list(h->failed, h->n_failed, "4");
  assert_list(h->pending, h->n_pending, "1 2 3");
  assert_int_equal(h->trials[3].state, COCABO_INTERRUPTED);
  assert_null(h->trials[3].reason);
  assert_true(isnan(h->trials[3].finished));

  /* It names the attempt that failed: a late one hits nobody. */
  assert_ok(put(h, moved(CB_TRIAL_RESUMED, 3, 1)));
  assert_ok(put(h, moved(CB_TRIAL_RETRIED, 3, 0)));
  assert_int_equal(h->trials[3].state, COCABO_RUNNING);
  assert_ok(put(h, failed(3, "again")));
  assert_ok(put(h, moved(CB_TRIAL_RETRIED, 3, 0)));
  assert_list(h->failed, h->n_failed, "4 3");
  assert_string_equal(h->trials[3].reason, "again");
  assert_ok(put(h, moved(CB_TRIAL_RETRIED, 3, 1)));
  assert_ok(put(h, told(3, 2.5)));
  assert_ok(put(h, moved(CB_TRIAL_RETRIED, 3, 1)));
  assert_ok(put(h, moved(CB_TRIAL_RETRIED, 0, 0)));
  assert_list(h->told, h->n, "0 3");
  assert_list(h->pending, h->n_pending, "1 2");
  cb_history_free(h);
}

static void times_are_those_of_the_events_that_count(void **state) {
  (void)state;
  cb_history *h = make_history(1.0);
  const double y = 3.5;
  assert_ok(put(h, at(10, asked(0, 0, CB_BY_DESIGN, 0))));
  assert_ok(put(h, at(11, added(1, 1, NULL))));
  assert_ok(put(h, at(12, added(2, 2, &y))));
  const cb_trial *t = h->trials;
  assert_true(t[0].started == 10 && isnan(t[0].finished));
  assert_true(isnan(t[1].started) && isnan(t[1].finished));
  assert_true(isnan(t[2].started) && t[2].finished == 12);

  assert_ok(put(h, at(13, moved(CB_TRIAL_RESUMED, 1, 1))));
  assert_true(t[1].started == 13);
  assert_ok(put(h, at(14, moved(CB_TRIAL_INTERRUPTED, 0, 0))));
  assert_true(t[0].started == 10 && isnan(t[0].finished));
  assert_ok(put(h, at(15, moved(CB_TRIAL_RESUMED, 0, 1))));
  assert_true(t[0].started == 15);
  assert_ok(put(h, at(16, failed(0, "x"))));
  assert_ok(put(h, at(17, failed(0, "again"))));
  assert_true(t[0].finished == 16);
  assert_ok(put(h, at(18, told(0, 1.0)))); /* heals */
  assert_ok(put(h, at(19, told(0, 2.0)))); /* does not count */
  assert_true(t[0].finished == 18);
  assert_ok(put(h, at(20, moved(CB_TRIAL_RESUMED, 0, 2)))); /* too late to start */
  assert_true(t[0].started == 15 && t[0].finished == 18);
  cb_history_free(h);
}

static void assert_counts(const cb_history *h, const int want[6]) {
  for (int state = 0; state < 6; state++)
    assert_int_equal(cb_history_count(h, (cocabo_trial_state)state), want[state]);
  assert_int_equal(cb_history_count(h, (cocabo_trial_state)6), 0);
}

static void trials_are_counted_by_state(void **state) {
  (void)state;
  cb_history *h = with_running(7, 1.0);
  assert_ok(put(h, added(7, 0, NULL)));
  assert_counts(h, (int[]){1, 7, 0, 0, 0, 0});
  assert_ok(put(h, told(0, 1.0)));
  assert_ok(put(h, told(6, 1.0)));
  assert_ok(put(h, failed(2, "x")));
  assert_ok(put(h, moved(CB_TRIAL_INTERRUPTED, 3, 0)));
  assert_ok(put(h, moved(CB_TRIAL_INTERRUPTED, 1, 0)));
  assert_ok(put(h, moved(CB_TRIAL_STALE, 5, 0)));
  assert_counts(h, (int[]){1, 1, 2, 1, 2, 1});
  assert_ok(put(h, told(2, 1.0)));
  assert_counts(h, (int[]){1, 1, 3, 0, 2, 1});
  cb_history_free(h);
}

static void known_results_are_data_at_once(void **state) {
  (void)state;
  cb_history *h = make_history(-1.0);
  const double y = 3.5;
  assert_ok(put(h, added(0, 9, &y)));
  assert_int_equal(h->trials[0].state, COCABO_COMPLETE);
  assert_true(h->y[0] == -3.5);
  assert_int_equal(h->n_pending, 0);
  assert_int_equal(h->n_design + h->n_sampled, 0);
  cb_history_free(h);
}

static void rounds_are_batches_not_points(void **state) {
  (void)state;
  cb_history *h = with_running(2, 1.0);
  assert_int_equal(h->n_design, 2);
  assert_int_equal(h->n_rounds, 0);
  for (int i = 0; i < 3; i++)
    assert_ok(put(h, asked(2 + i, 5, CB_BY_SAMPLER, i)));
  assert_ok(put(h, asked(5, 5, CB_BY_SAMPLER, 0)));
  assert_int_equal(h->n_rounds, 2);
  assert_int_equal(h->n_sampled, 4);
  assert_int_equal(h->n_design, 2);
  cb_history_free(h);
}

static cb_event fitted(int64_t basis, int n_theta, double *theta) {
  return (cb_event){.kind = CB_MODEL_FITTED,
                    .number = -1,
                    .fit = {.basis = basis, .n_theta = n_theta, .theta = theta}};
}

static void the_fit_with_the_highest_basis_is_kept(void **state) {
  (void)state;
  cb_history *h = with_running(5, 1.0);
  double a[] = {1.5, 2.5}, b[] = {3.5, 4.5, 5.5};
  assert_int_equal(h->fit.n_theta, 0);
  assert_ok(put(h, fitted(3, 2, a)));
  assert_ok(put(h, fitted(2, 3, b)));
  assert_int_equal(h->fit.basis, 3);
  assert_ok(put(h, fitted(3, 3, b)));
  assert_int_equal(h->fit.n_theta, 2);
  a[0] = 0; /* it was copied */
  assert_true(h->fit.theta[0] == 1.5);
  assert_ok(put(h, fitted(4, 3, b)));
  assert_int_equal(h->fit.n_theta, 3);
  assert_true(h->fit.theta[2] == 5.5);
  assert_fails(
      put(h, fitted(10, 3, b)), COCABO_E_STATE,
      "event 10 contradicts the log: a fit cannot have seen what came after it");
  cb_history_free(h);
}

static void a_forgotten_fit_does_not_come_back(void **state) {
  (void)state;
  cb_history *h = with_running(5, 1.0);
  double a[] = {1.5, 2.5}, b[] = {3.5};
  assert_ok(put(h, fitted(3, 2, a)));
  assert_ok(put(h, (cb_event){.kind = CB_STUDY_CHANGED, .number = -1})); /* event 7 */
  assert_int_equal(h->fit.n_theta, 2); /* whether it matters is decided above */
  cb_history_forget_fit(h);
  assert_int_equal(h->fit.n_theta, 0);
  assert_int_equal(h->fit.basis, 0);
  assert_null(h->fit.theta);
  assert_ok(put(h, fitted(6, 2, a))); /* it did not know of the change */
  assert_int_equal(h->fit.n_theta, 0);
  assert_ok(put(h, fitted(7, 1, b)));
  assert_int_equal(h->fit.n_theta, 1);
  cb_history_free(h);
}

static void points_are_remembered_once(void **state) {
  (void)state;
  enum { MANY = 3000 };
  cb_history *h = make_history(1.0);
  assert_false(cb_history_contains(h, point(0.5, 1, 0)));
  assert_int_equal(cb_history_distinct(h), 0);
  for (int i = 0; i < MANY; i++)
    assert_ok(put(h, asked(i, 7 * (i % (MANY / 2)), CB_BY_DESIGN, i)));
  assert_int_equal(cb_history_distinct(h), MANY / 2);
  for (int k = 0; k < 7 * MANY; k++)
    assert_int_equal(cb_history_contains(h, point(0.5, 1, k)),
                     k % 7 == 0 && k < 7 * (MANY / 2));
  assert_false(cb_history_contains(h, point(0.5, 2, 7)));
  assert_false(cb_history_contains(h, point(0.25, 1, 7)));
  assert_ok(put(h, failed(1, "x"))); /* in any state */
  assert_true(cb_history_contains(h, point(0.5, 1, 7)));
  cb_history_free(h);
}

static void contradictions_change_nothing(void **state) {
  (void)state;
  cb_history *h = with_running(2, 1.0);
#define BAD(event, what)                                                               \
  assert_fails(put(h, event), COCABO_E_STATE, "event 3 contradicts the log: " what)
  BAD(asked(3, 0, CB_BY_DESIGN, 0), "the trial's number is not the next");
  BAD(asked(1, 0, CB_BY_DESIGN, 0), "the trial's number is not the next");
  BAD(asked(2, 1000001, CB_BY_DESIGN, 0), "the point is not in the space");
  cb_event event = asked(2, 0, CB_BY_DESIGN, 0);
  event.n_cells = 2;
  BAD(event, "the point is not in the space");
  event = asked(2, 0, CB_BY_DESIGN, 0);
  event.proposal.n_draws = 2;
  BAD(event, "not one draw per choice");
  const double nothing = NAN;
  BAD(added(2, 0, &nothing), "the value is not finite");
  BAD(told(0, INFINITY), "the value is not finite");
  BAD(told(2, 1.0), "there is no such trial");
  BAD(told(-1, 1.0), "there is no such trial");
  BAD(failed(2, "x"), "there is no such trial");
  BAD(moved(CB_TRIAL_RESUMED, 2, 1), "there is no such trial");
  BAD(((cb_event){.kind = (cb_event_kind)77}), "its kind is unknown");
  BAD(((cb_event){.kind = CB_MODEL_FITTED, .fit = {.basis = 1, .rows = 1}}),
      "there were not that many results to fit");
  BAD(((cb_event){.kind = CB_MODEL_FITTED, .fit = {.basis = 1, .rows = -1}}),
      "there were not that many results to fit");
#undef BAD
  cb_event gap = told(0, 1.0);
  gap.seq = 4;
  assert_fails(cb_history_apply(h, &gap, &err), COCABO_E_STATE,
               "event 4 follows event 2, want 3");
  assert_int_equal(h->seq, 2);
  assert_int_equal(h->n_trials, 2);
  assert_int_equal(h->n, 0);
  assert_list(h->pending, h->n_pending, "0 1");
  cb_history_free(h);
}

/* Applies with the k-th allocation failing, for all k until it succeeds. */
static int allocations_of(cb_history *h, cb_event event) {
  const int64_t seq = h->seq, n_trials = h->n_trials, n_failed = h->n_failed;
  for (int k = 0;; k++) {
    cb_mem_fail_after(k);
    const cocabo_status status = put(h, event);
    cb_mem_fail_after(-1);
    if (status == COCABO_OK)
      return k;
    assert_int_equal(status, COCABO_E_NO_MEMORY);
    assert_int_equal(h->seq, seq);
    assert_int_equal(h->n_trials, n_trials);
    assert_int_equal(h->n_failed, n_failed);
    assert_int_equal(cb_history_distinct(h), n_trials);
  }
}

static void out_of_memory_changes_nothing(void **state) {
  (void)state;
  double theta[] = {0.5};
  cb_history *h = make_history(1.0);
  assert_true(allocations_of(h, asked(0, 0, CB_BY_DESIGN, 0)) >= 4);
  for (int i = 1; i < 40; i++)
    allocations_of(h, asked(i, i, CB_BY_DESIGN, i));
  assert_int_equal(allocations_of(h, told(7, 1.0)), 0);
  assert_int_equal(allocations_of(h, failed(8, "why")), 1);
  assert_int_equal(allocations_of(h, fitted(1, 1, theta)), 1);
  for (int i = 0; i < 40; i++)
    assert_true(cb_history_contains(h, point(0.5, 1, i)));
  cb_history_free(h);
  for (int k = 0; k < 2; k++) {
    cocabo_space *s = make_space();
    cb_mem_fail_after(k);
    assert_int_equal(cb_history_new(&h, s, 1.0, &err), COCABO_E_NO_MEMORY);
    assert_null(h);
    cocabo_space_free(s);
  }
}

static void what_was_reserved_needs_no_memory(void **state) {
  (void)state;
  cb_history *h = make_history(1.0);
  assert_ok(cb_history_reserve(h, 50, 10, &err));
  for (int i = 0; i < 50; i++)
    assert_int_equal(allocations_of(h, asked(i, i, CB_BY_DESIGN, i)), 0);
  assert_int_equal(allocations_of(h, failed(3, "123456789")), 0);
  assert_int_equal(allocations_of(h, failed(4, "1")), 1); /* one reason, now used */
  cb_history_free(h);
}

static void an_event_is_copied_deeply(void **state) {
  (void)state;
  cocabo_space *s = make_space();
  int64_t pending[] = {3, 5};
  cb_draw draws[] = {{.p = 0.125}};
  double theta[] = {1.5, -2.5};
  uint64_t fits[][2] = {{1, 2}, {3, 4}};
  cb_pair options[] = {{.name = "kappa", .value = "2"}, {.name = "seed", .value = "7"}};
  cb_pair attributes[] = {{.name = "command", .value = "train"}};
  const cb_event event = {.kind = CB_TRIAL_ASKED,
                          .seq = 4,
                          .id = {11, 12},
                          .number = 9,
                          .reason = "why",
                          .n_cells = N,
                          .cells = point(1, 2, 3),
                          .space = s,
                          .n_options = 2,
                          .options = options,
                          .n_attributes = 1,
                          .attributes = attributes,
                          .proposal = {.basis = 3,
                                       .n_pending = 2,
                                       .pending = pending,
                                       .n_draws = 1,
                                       .draws = draws,
                                       .n_fits = 2,
                                       .fits = fits,
                                       .fingerprint = "here"},
                          .fit = {.basis = 2, .n_theta = 2, .theta = theta}};
  cb_event copy;
  int k = 0;
  cocabo_status status;
  do {
    memset(&copy, 0xAB, sizeof copy);
    cb_mem_fail_after(k++);
    status = cb_event_copy(&copy, &event, &err);
    cb_mem_fail_after(-1);
    if (status != COCABO_OK)
      assert_true(copy.kind == 0 && !copy.space && !copy.cells && !copy.fit.theta);
  } while (status != COCABO_OK);
  assert_int_equal(k, 16); /* fifteen blocks */
  assert_int_equal(copy.seq, 4);
  assert_int_equal(copy.id[1], 12);
  assert_string_equal(copy.reason, "why");
  assert_true(copy.reason != event.reason && copy.cells != event.cells);
  assert_memory_equal(copy.cells, event.cells, N * sizeof(cb_cell));
  assert_string_equal(copy.options[1].value, "7");
  assert_int_equal(copy.n_attributes, 1);
  assert_string_equal(copy.attributes[0].name, "command");
  assert_string_equal(copy.attributes[0].value, "train");
  assert_true(copy.attributes[0].value != attributes[0].value);
  assert_string_equal(copy.proposal.fingerprint, "here");
  assert_true(copy.proposal.fingerprint != event.proposal.fingerprint);
  assert_int_equal(copy.proposal.pending[1], 5);
  assert_memory_equal(copy.proposal.fits, fits, sizeof fits);
  assert_true(copy.proposal.fits != fits);
  assert_true(copy.proposal.draws[0].p == 0.125);
  assert_true(copy.fit.theta[1] == -2.5);
  assert_ptr_equal(copy.space, s);
  cocabo_space_free(s);
  assert_string_equal(copy.space->params[0].name, "x");
  cb_event_clear(&copy);
  assert_null(copy.space);
}

/* Whatever the points, some of them known: after a preview everything is as it was, and
 * what comes then is what would have come. */
static void a_preview_leaves_no_trace(void **state) {
  (void)state;
  enum { PAST = 60, AHEAD = 40 };
  cb_cell cells[AHEAD][N];
  cb_event ahead[AHEAD];
  for (int past = 0; past < PAST; past++) {
    cb_history *h = with_running(past, -1.0), *plain = with_running(past, -1.0);
    for (int i = 0; i < AHEAD; i++) {
      ahead[i] =
          asked(past + i, (i * 7) % 90, i % 3 ? CB_BY_SAMPLER : CB_BY_DESIGN, i % 2);
      ahead[i].cells = memcpy(cells[i], ahead[i].cells, sizeof cells[i]);
    }
    for (int n = 0; n <= AHEAD; n += 13) {
      assert_ok(cb_history_preview(h, ahead, n, &err));
      assert_int_equal(h->n_trials, past + n);
      assert_int_equal(h->n_pending, past + n);
      for (int i = 0; i < n; i++)
        assert_true(cb_history_contains(h, cells[i]));
      cb_history_retract(h);
      assert_int_equal(h->seq, plain->seq);
      assert_int_equal(h->n_trials, past);
      assert_int_equal(h->n_pending, past);
      assert_int_equal(h->n_design, past);
      assert_int_equal(h->n_sampled + h->n_rounds, 0);
      assert_int_equal(cb_history_distinct(h), past);
      for (int k = 0; k < 100; k++)
        assert_int_equal(cb_history_contains(h, point(0.5, 1, k)), k < past);
    }
    for (int i = 0; i < AHEAD; i++) {
      assert_ok(put(h, ahead[i]));
      assert_ok(put(plain, ahead[i]));
      assert_int_equal(cb_history_distinct(h), cb_history_distinct(plain));
    }
    assert_int_equal(h->n_sampled, plain->n_sampled);
    assert_memory_equal(h->pending, plain->pending,
                        (size_t)h->n_pending * sizeof *h->pending);
    cb_history_free(h);
    cb_history_free(plain);
  }
}

static void a_preview_that_fails_leaves_no_trace(void **state) {
  (void)state;
  cb_history *h = with_running(3, 1.0);
  cb_cell cells[2][N];
  cb_event ahead[2];
  for (int i = 0; i < 2; i++) {
    ahead[i] = asked(3 + i, 50 + i, CB_BY_DESIGN, i);
    ahead[i].cells = memcpy(cells[i], ahead[i].cells, sizeof cells[i]);
  }
  ahead[1].number = 7;
  assert_fails(cb_history_preview(h, ahead, 2, &err), COCABO_E_STATE,
               "event 0 contradicts the log: the trial's number is not the next");
  assert_int_equal(h->n_trials, 3);
  assert_int_equal(h->n_design, 3);
  assert_false(cb_history_contains(h, cells[0]));
  ahead[1].number = 4;
  for (int k = 0;; k++) {
    cb_mem_fail_after(k);
    const cocabo_status status = cb_history_preview(h, ahead, 2, &err);
    cb_mem_fail_after(-1);
    if (status == COCABO_OK)
      break;
    assert_int_equal(status, COCABO_E_NO_MEMORY);
    assert_int_equal(h->n_trials, 3);
    assert_false(cb_history_contains(h, cells[0]));
  }
  assert_int_equal(h->n_trials, 5);
  cb_history_retract(h);
  cb_history_free(h);
}

/* One append may hold both. */
static void a_lost_trial_is_resumed_at_once(void **state) {
  (void)state;
  cb_history *h = with_running(2, 1.0);
  assert_ok(put(h, moved(CB_TRIAL_STALE, 1, 0)));
  assert_int_equal(h->trials[1].state, COCABO_STALE);
  assert_ok(put(h, moved(CB_TRIAL_RESUMED, 1, 1)));
  assert_int_equal(h->trials[1].state, COCABO_RUNNING);
  assert_int_equal(h->trials[1].attempt, 1);
  assert_list(h->pending, h->n_pending, "0 1");
  cb_history_free(h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(training_data_is_in_told_order_and_maximised),
      cmocka_unit_test(a_revised_row_has_a_new_value_and_variance),
      cmocka_unit_test(points_are_encoded),
      cmocka_unit_test(the_first_told_counts),
      cmocka_unit_test(a_late_value_heals_a_failed_trial),
      cmocka_unit_test(trials_wait_run_and_are_resumed),
      cmocka_unit_test(a_late_stale_hits_nobody),
      cmocka_unit_test(a_late_end_hits_nobody),
      cmocka_unit_test(an_end_without_an_attempt_is_the_present_ones),
      cmocka_unit_test(a_failed_trial_is_put_back_in_its_place),
      cmocka_unit_test(times_are_those_of_the_events_that_count),
      cmocka_unit_test(trials_are_counted_by_state),
      cmocka_unit_test(known_results_are_data_at_once),
      cmocka_unit_test(rounds_are_batches_not_points),
      cmocka_unit_test(the_fit_with_the_highest_basis_is_kept),
      cmocka_unit_test(a_forgotten_fit_does_not_come_back),
      cmocka_unit_test(points_are_remembered_once),
      cmocka_unit_test(contradictions_change_nothing),
      cmocka_unit_test(out_of_memory_changes_nothing),
      cmocka_unit_test(what_was_reserved_needs_no_memory),
      cmocka_unit_test(an_event_is_copied_deeply),
      cmocka_unit_test(a_preview_leaves_no_trace),
      cmocka_unit_test(a_preview_that_fails_leaves_no_trace),
      cmocka_unit_test(a_lost_trial_is_resumed_at_once),
  };
  return cmocka_run_group_tests_name("log/history", tests, NULL, NULL);
}
