/* ask.c - the walk of ask: one read, one append.
 *
 *   sync, see what was lost, hand out what is on offer, learn if it is time, propose
 * the rest, append; overtaken: start over with what was learnt
 *
 * All of it happens on a batch that is built completely (events, the user's trials,
 * room in the history) before its one append. In the log it is, in this order:
 *
 *   STALE         of every running trial whose lease has run out, or its owner is gone
 *   MODEL_FITTED  what was learnt on the way, if anything was
 *   RESUMED       trials on offer that are handed out again
 *   ASKED         points of the design, then points of the sampler, which name the fit
 *
 * The proposals depend on none of the events before them but the fit, so their basis is
 * the last event that was read.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/status.h"
#include "study/study.h"
#include "study/study_runs.h"
#include "study/trial.h"

/* What is kept over the tries of one ask. */
typedef struct attempt {
  int n;      /* trials that are wanted, */
  bool fewer; /* or as many as there are */
  cb_lost lost;
  cb_event fitted; /* MODEL_FITTED, not yet in the log; kind 0: there is none */
  int64_t model;   /* of the view that it was made for */
  bool has_fitted; /* once is enough, however often we are overtaken */
} attempt;

/* What one try hands out. */
typedef struct batch {
  int n;
  int n_resumed, n_design, n_sampled; /* together n */
  int64_t first;                      /* number of the first new trial */
  int n_ahead;                        /* events before those that hand out trials */
  cb_event *events;                   /* n_ahead + n + n_started */
  cb_event *handed;                   /* n of them */
  int n_started;                      /* 1: a first run comes with it, the last event */
  cb_proposal *proposals; /* n_design + n_sampled; they write into the events */
  cocabo_trial **trials;  /* n, for the user */
} batch;

/* ---- planning -------------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
  const int64_t u = *(const int64_t *)a, v = *(const int64_t *)b;
  return (u > v) - (u < v);
}

/* The state of a trial once the STALE events of this ask are in the log. */
static cocabo_trial_state state_of(const cocabo_study *study, const cb_trial *trial,
                                   const cb_lost *lost) {
  if (cb_handed_now(&study->handed, trial->number) != trial->number)
    return COCABO_RUNNING; /* not for us: we know another trial by this number */
  const bool is_lost = lost->n > 0 && bsearch(&trial->number, lost->numbers, lost->n,
                                              sizeof *lost->numbers, by_number);
  return is_lost ? COCABO_STALE : trial->state;
}

static int64_t budget_left(const cocabo_study *study, const cb_lost *lost) {
  const cb_history *history = study->fold.history;
  const int64_t most = study->view.resolved.trials;
  const int64_t running = cb_history_count(history, COCABO_RUNNING) - (int64_t)lost->n;
  const int64_t used = history->n + history->n_failed + running;
  return most == 0 ? INT64_MAX : used < most ? most - used : 0;
}

static cocabo_status check_budget(const cocabo_study *study, const cb_lost *lost, int n,
                                  cocabo_error *err) {
  const int64_t left = budget_left(study, lost);
  if (n <= left)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_BUDGET,
                 "study \"%s\" has %lld of its %lld trials left, want %d", study->name,
                 (long long)left, (long long)study->view.resolved.trials, n);
}

static batch plan(const cocabo_study *study, const cb_lost *lost, int n) {
  const cb_history *history = study->fold.history;
  const int64_t lacking = study->view.resolved.settings.n_init - history->n_design;
  batch b = {.n = n, .first = history->n_trials};
  for (int64_t i = 0; i < history->n_pending && b.n_resumed < n; i++)
    b.n_resumed +=
        state_of(study, &history->trials[history->pending[i]], lost) != COCABO_RUNNING;
  const int fresh = n - b.n_resumed;
  b.n_design = lacking <= 0 ? 0 : lacking < fresh ? (int)lacking : fresh;
  b.n_sampled = fresh - b.n_design;
  return b;
}

/* Points that nobody has tried, where that matters. */
static uint64_t fresh_left(const cocabo_study *study) {
  const cb_history *history = study->fold.history;
  const uint64_t size = cb_space_size(history->space);
  const uint64_t taken = cb_history_distinct(history);
  if (!study->view.resolved.settings.deterministic || size == UINT64_MAX)
    return UINT64_MAX;
  return taken < size ? size - taken : 0;
}

/* With as many as there are of those that are wanted; where there are none, with one,
 * so that whoever lacks it says so. */
static batch plan_fewer(const cocabo_study *study, const attempt *a) {
  const int64_t left = budget_left(study, &a->lost);
  const int n = a->n <= left ? a->n : left > 0 ? (int)left : 1;
  const batch b = plan(study, &a->lost, n);
  const uint64_t fresh = fresh_left(study);
  if ((uint64_t)(n - b.n_resumed) <= fresh)
    return b;
  const int there = b.n_resumed + (int)fresh;
  return plan(study, &a->lost, there > 0 ? there : 1);
}

/* ---- learning -------------------------------------------------------------------- */

/* For sentences. */
static double seconds(void) {
  struct timespec now = {0};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void forget_fit(attempt *a) {
  cb_event_clear(&a->fitted);
}

/* Is a fit of an earlier try still the one to use? Every reader takes the fit from the
 * longest log, the first of equals; any other need not be appended. */
static void reconsider_fit(attempt *a, const cb_view *view) {
  const bool other_model = a->has_fitted && a->model != view->model;
  if (other_model || a->fitted.fit.basis <= view->fold->history->fit.basis)
    forget_fit(a);
  if (other_model)
    a->has_fitted = false;
}

static cocabo_status fit_if_due(cocabo_study *study, const batch *b, attempt *a,
                                cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const cb_fit *last = cb_history_fit(history);
  cb_proposer *proposer = &study->proposer;
  reconsider_fit(a, &study->view);
  if (b->n_sampled == 0 || a->has_fitted)
    return COCABO_OK;
  CB_TRY(cb_proposer_prepare(proposer, &study->view, &last, err));
  const cb_ask ask = cb_proposer_request(proposer, &study->view, last,
                                         b->first + b->n_design, b->n_sampled);
  if (!proposer->sampler->fit_due || !proposer->sampler->fit_due(&ask))
    return COCABO_OK;
  a->fitted = (cb_event){.kind = CB_MODEL_FITTED, .number = -1};
  const double begin = seconds();
  const cocabo_status status =
      proposer->sampler->fit(proposer->state, &ask, &a->fitted.fit, err);
  if (status != COCABO_OK) {
    forget_fit(a);
    return status;
  }
  cb_study_say(study, COCABO_DEBUG, "sampler %s learnt from %lld results in %.0f ms",
               proposer->sampler->name, (long long)history->n,
               1e3 * (seconds() - begin));
  a->fitted.fit.basis = history->seq;
  a->fitted.fit.rows = history->n;
  a->fitted.fit.round = history->n_rounds;
  cb_study_identify(study, &a->fitted);
  a->model = study->view.model;
  a->has_fitted = true;
  return COCABO_OK;
}

/* ---- building the batch ---------------------------------------------------------- */

static int n_events(const batch *b) {
  return b->n_ahead + b->n + b->n_started;
}

/* The fit belongs to the attempt. */
static void free_batch(batch *b) {
  for (int i = 0; b->events && i < n_events(b); i++)
    if (b->events[i].kind != CB_MODEL_FITTED)
      cb_event_clear(&b->events[i]);
  for (int i = 0; b->trials && i < b->n; i++)
    cocabo_trial_free(b->trials[i]);
  cb_free(b->events);
  cb_free(b->trials);
  cb_free(b->proposals);
}

static cocabo_status allocate(batch *b, const cocabo_space *space, cocabo_error *err) {
  const int fresh = b->n_design + b->n_sampled;
  b->events = cb_calloc((size_t)n_events(b), sizeof *b->events);
  b->trials = cb_calloc((size_t)b->n, sizeof *b->trials);
  b->proposals = cb_calloc((size_t)fresh, sizeof *b->proposals);
  if (!b->events || !b->trials || !b->proposals)
    return cb_no_memory(err);
  b->handed = b->events + b->n_ahead;
  for (int i = 0; i < fresh; i++) {
    cb_event *event = &b->handed[b->n_resumed + i];
    event->cells = cb_calloc((size_t)space->n, sizeof *event->cells);
    event->proposal.draws = cb_calloc((size_t)space->c, sizeof(cb_draw));
    if (!event->cells || !event->proposal.draws)
      return cb_no_memory(err);
    b->proposals[i].cells = event->cells;
    b->proposals[i].draws = event->proposal.draws;
  }
  return COCABO_OK;
}

static void lead_with(batch *b, const attempt *a, const cb_history *history) {
  int used = 0;
  for (size_t i = 0; i < a->lost.n; i++) {
    const cb_trial *trial = &history->trials[a->lost.numbers[i]];
    b->events[used++] = (cb_event){
        .kind = CB_TRIAL_STALE, .number = trial->number, .attempt = trial->attempt};
  }
  if (a->fitted.kind == CB_MODEL_FITTED)
    b->events[used++] = a->fitted;
}

/* Waiting ones first, then interrupted, then stale ones, each by number. */
static void resume_offered(const cocabo_study *study, batch *b, const cb_lost *lost) {
  const cb_history *history = study->fold.history;
  static const cocabo_trial_state order[] = {COCABO_WAITING, COCABO_INTERRUPTED,
                                             COCABO_STALE};
  int used = 0;
  for (int k = 0; k < 3; k++)
    for (int64_t i = 0; i < history->n_pending && used < b->n_resumed; i++) {
      const cb_trial *trial = &history->trials[history->pending[i]];
      if (state_of(study, trial, lost) == order[k])
        b->handed[used++] = (cb_event){.kind = CB_TRIAL_RESUMED,
                                       .number = trial->number,
                                       .attempt = trial->attempt + 1};
    }
}

/* Proposals k .. k+n-1 become ASKED events of one origin, the first of which says
 * which sampler made them. */
static cocabo_status fill_asked(const cocabo_study *study, batch *b, int k, int n,
                                cb_origin origin, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const cocabo_space *space = history->space;
  cb_event *first = &b->handed[b->n_resumed + k];
  for (int i = 0; i < n; i++) {
    first[i].kind = CB_TRIAL_ASKED;
    first[i].number = b->first + k + i;
    first[i].origin = origin;
    first[i].n_cells = space->n;
    first[i].proposal.basis = history->seq;
    first[i].proposal.batch_first = b->first + k;
    first[i].proposal.batch_size = n;
    first[i].proposal.batch_index = i;
    first[i].proposal.n_draws = b->proposals[k + i].drawn ? space->c : 0;
  }
  char text[CB_FINGERPRINT];
  first->proposal.fingerprint = cb_strdup(cb_fingerprint(&study->view, origin, text));
  return first->proposal.fingerprint ? COCABO_OK : cb_no_memory(err);
}

static cocabo_status propose_design(cocabo_study *study, batch *b, cocabo_error *err) {
  if (b->n_design == 0)
    return COCABO_OK;
  CB_TRY(cb_propose(&study->proposer, &study->view, NULL, CB_BY_DESIGN, b->first,
                    b->n_design, b->proposals, err));
  return fill_asked(study, b, 0, b->n_design, CB_BY_DESIGN, err);
}

static cocabo_status note_pending(cb_event *event, const cb_history *history,
                                  cocabo_error *err) {
  const size_t n = (size_t)history->n_pending;
  event->proposal.pending = cb_calloc(n, sizeof *event->proposal.pending);
  if (!event->proposal.pending)
    return cb_no_memory(err);
  if (n > 0)
    memcpy(event->proposal.pending, history->pending, n * sizeof *history->pending);
  event->proposal.n_pending = (int)n;
  return COCABO_OK;
}

static cocabo_status note_fit(cb_event *event, const uint64_t id[2],
                              cocabo_error *err) {
  event->proposal.fits = cb_calloc(1, sizeof *event->proposal.fits);
  if (!event->proposal.fits)
    return cb_no_memory(err);
  memcpy(event->proposal.fits[0], id, sizeof *event->proposal.fits);
  event->proposal.n_fits = 1;
  return COCABO_OK;
}

/* The sampler's points, from what the history now shows. */
static cocabo_status propose_seeing(cocabo_study *study, batch *b, const attempt *a,
                                    cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const bool own = a->fitted.kind == CB_MODEL_FITTED;
  const cb_fit *fit = own ? &a->fitted.fit : cb_history_fit(history);
  const int k = b->n_design;
  cb_event *first = &b->handed[b->n_resumed + k];
  CB_TRY(cb_proposer_prepare(&study->proposer, &study->view, &fit, err));
  CB_TRY(cb_propose(&study->proposer, &study->view, fit, CB_BY_SAMPLER, b->first + k,
                    b->n_sampled, &b->proposals[k], err));
  CB_TRY(fill_asked(study, b, k, b->n_sampled, CB_BY_SAMPLER, err));
  if (fit)
    CB_TRY(note_fit(first, own ? a->fitted.id : history->fit_id, err));
  return note_pending(first, history, err);
}

/* The sampler sees the batch's own design points as pending. */
static cocabo_status propose_sampled(cocabo_study *study, batch *b, const attempt *a,
                                     cocabo_error *err) {
  cb_history *history = study->fold.history;
  if (b->n_sampled == 0)
    return COCABO_OK;
  CB_TRY(cb_history_preview(history, &b->handed[b->n_resumed], b->n_design, err));
  const cocabo_status status = propose_seeing(study, b, a, err);
  cb_history_retract(history);
  return status;
}

/* The trials as the user will see them: running, whatever they were before. */
static cocabo_status snapshot(const cocabo_study *study, batch *b, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  for (int i = 0; i < b->n; i++) {
    const cb_event *event = &b->handed[i];
    cb_trial trial = {.number = event->number,
                      .state = COCABO_RUNNING,
                      .origin = event->origin,
                      .attempt = event->attempt,
                      .started = NAN,
                      .finished = NAN,
                      .value = NAN,
                      .cells = event->cells};
    if (i < b->n_resumed) {
      const cb_trial *known = &history->trials[event->number];
      trial.n_runs = known->n_runs;
      trial.runs = known->runs;
      trial.origin = known->origin;
      trial.cells = known->cells;
      trial.n_attributes = known->n_attributes;
      trial.attributes = known->attributes;
      trial.n_reports = known->n_reports;
      trial.reports = known->reports;
    }
    CB_TRY(cb_trial_snapshot(&b->trials[i], &study->view, &trial, err));
  }
  return COCABO_OK;
}

/* Where trials are evaluated run by run there is one trial, and its run. */
static cocabo_status start_run(cocabo_study *study, batch *b, cocabo_error *err) {
  double cap;
  if (b->n_started == 0)
    return COCABO_OK;
  cb_event *started = &b->events[n_events(b) - 1];
  CB_TRY(cb_study_next_run(study, b->handed[0].number, started, &cap, err));
  CB_TRY(cb_trial_add_run(b->trials[0], started, cap, err));
  return cb_study_hold_run(study, started->number, started->attempt, err);
}

static cocabo_status build(cocabo_study *study, batch *b, const attempt *a,
                           cocabo_error *err) {
  cb_history *history = study->fold.history;
  b->n_ahead = (int)a->lost.n + (a->fitted.kind == CB_MODEL_FITTED);
  b->n_started = study->view.resolved.race.on;
  CB_TRY(allocate(b, history->space, err));
  lead_with(b, a, history);
  resume_offered(study, b, &a->lost);
  CB_TRY(propose_design(study, b, err));
  CB_TRY(propose_sampled(study, b, a, err));
  CB_TRY(snapshot(study, b, err));
  CB_TRY(start_run(study, b, err));
  if (a->fitted.kind == CB_MODEL_FITTED)
    CB_TRY(cb_history_reserve_fit(history, a->fitted.fit.n_theta, err));
  return cb_history_reserve(history, b->n_design + b->n_sampled, 0, err);
}

/* ---- ask ------------------------------------------------------------------------- */

static void hand_over(cocabo_study *study, batch *b, cocabo_trial **out) {
  for (int i = 0; i < b->n; i++) {
    const cb_event *event = &b->handed[i];
    if (event->number < study->fold.history->n_trials)
      cb_history_hand(study->fold.history, event->number);
    else if (event->kind == CB_TRIAL_ASKED) /* the store has it, and went away */
      (void)cb_handed_unseen(&study->handed, event, NULL);
    cb_trial_set_started(b->trials[i], b->handed[i].time);
    out[i] = b->trials[i];
    b->trials[i] = NULL;
  }
}

static void say_lost(const cocabo_study *study, const cb_lost *lost) {
  for (size_t i = 0; i < lost->n; i++)
    cb_study_say(study, COCABO_INFO,
                 "trial %lld is stale: its lease has run out, or its owner is gone; "
                 "it is offered again",
                 (long long)lost->numbers[i]);
}

/* New trials conflict by their number. So does everything that is handed out where
 * there is a budget: an ask that has seen all new trials hands out again what every
 * other ask would, and conflicts there; so asks that race cannot exceed the budget
 * together. */
static int64_t expected_number(const cocabo_study *study, const batch *b) {
  const bool any_new = b->n_resumed < b->n;
  return any_new || study->view.resolved.trials > 0 ? b->first : -1;
}

/* What an earlier ask has in the log although it failed is given back: nobody runs it,
 * and its lease would be renewed with our others. */
static cocabo_status give_back(cocabo_study *study, cocabo_error *err) {
  cb_lost *unclaimed = &study->unsure.trials;
  while (unclaimed->n > 0) {
    const int64_t number = unclaimed->numbers[unclaimed->n - 1];
    const cb_trial *trial = NULL;
    CB_TRY(cb_study_find(study, number, &trial, err));
    if (trial->state == COCABO_RUNNING && !trial->handed) {
      cb_event interrupted = {.kind = CB_TRIAL_INTERRUPTED,
                              .number = number,
                              .attempt = trial->attempt,
                              .has_attempt = true};
      CB_TRY(cb_study_commit(study, &interrupted, 1, -1, err));
    }
    unclaimed->n--;
  }
  return COCABO_OK;
}

static cocabo_status try_to_ask(cocabo_study *study, attempt *a, cocabo_trial **out,
                                size_t *got, cocabo_error *err) {
  CB_TRY(cb_study_sync_lost(study, &a->lost, err));
  if (study->unsure.trials.n > 0) {
    CB_TRY(give_back(study, err));
    CB_TRY(cb_study_sync_lost(study, &a->lost, err));
  }
  batch b = a->fewer ? plan_fewer(study, a) : plan(study, &a->lost, a->n);
  CB_TRY(check_budget(study, &a->lost, b.n, err));
  CB_TRY(fit_if_due(study, &b, a, err));
  cocabo_status status = build(study, &b, a, err);
  if (status == COCABO_OK)
    status =
        cb_study_commit(study, b.events, n_events(&b), expected_number(study, &b), err);
  if (status == COCABO_OK) {
    *got = (size_t)b.n;
    say_lost(study, &a->lost);
    hand_over(study, &b, out);
  } else if (status == COCABO_E_BUSY) {
    cb_study_say(study, COCABO_DEBUG, "overtaken at trial %lld: once more",
                 (long long)b.first);
  }
  const cb_event *last = b.events ? &b.events[n_events(&b) - 1] : NULL;
  if (status != COCABO_OK && last && last->kind == CB_RUN_STARTED)
    cb_study_drop_run(study, last->number, last->attempt);
  free_batch(&b);
  return status;
}

/* Where many ask at once, each but one would do it in vain: then they take turns, if
 * the store has any, for a while. */
static cocabo_status ask_in_turn(cocabo_study *study, attempt *a, cocabo_trial **out,
                                 size_t *got, cocabo_error *err) {
  enum { WHILE = 10 };
  static const double short_wait = 0.005; /* seconds: nobody else was waiting */
  const cb_store_ops *ops = study->store->ops;
  const bool turn = study->crowded > 0 && ops->begin_turn;
  const double begin = seconds();
  if (turn)
    CB_TRY(ops->begin_turn(study->store, study->id, err));
  const bool alone = seconds() - begin < short_wait;
  const cocabo_status status = try_to_ask(study, a, out, got, err);
  if (status == COCABO_E_BUSY || (turn && !alone))
    study->crowded = WHILE;
  else if (turn)
    study->crowded--;
  if (turn && status != COCABO_E_BUSY)
    ops->end_turn(study->store);
  return status;
}

cocabo_status cb_study_ask(cocabo_study *study, int n, bool fewer, cocabo_trial **out,
                           size_t *got, cocabo_error *err) {
  attempt a = {.n = n, .fewer = fewer};
  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = ask_in_turn(study, &a, out, got, err);
  forget_fit(&a);
  cb_lost_free(&a.lost);
  if (status == COCABO_E_BUSY && study->store->ops->end_turn)
    study->store->ops->end_turn(study->store);
  return status == COCABO_E_BUSY ? cb_study_overtaken(study, err) : status;
}
