/* ask.c - the walk of ask.
 *
 *   sync, give up what was lost, hand out what is on offer, propose the rest, append;
 *   overtaken: start over
 *
 * All of it happens on a batch that is built completely (events, the user's trials,
 * room in the history) before its one append.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "study/study.h"
#include "study/trial.h"

/* What one ask consists of, in this order: trials handed out again, points of the
 * design, points of the sampler. */
typedef struct batch {
  int n;
  int n_resumed, n_design, n_sampled;
  int64_t first;          /* number of the first new trial */
  cb_event *events;       /* n */
  cb_proposal *proposals; /* n_design + n_sampled; they write into the events */
  cocabo_trial **trials;  /* n, for the user */
} batch;

/* ---- lost trials ----------------------------------------------------------------- */

/* The running trials whose lease has run out, as the STALE events that say so. */
typedef struct lost {
  const cb_history *history;
  cb_event *events;
  size_t n, capacity;
} lost;

static cocabo_status note_lost(void *user, int64_t number, cocabo_error *err) {
  lost *l = user;
  const cb_history *history = l->history;
  if (number >= history->n_trials || history->trials[number].state != COCABO_RUNNING)
    return COCABO_OK; /* others have been there since we looked */
  void *events = l->events;
  if (!cb_reserve(&events, &l->capacity, l->n + 1, sizeof *l->events))
    return cb_no_memory(err);
  l->events = events;
  l->events[l->n++] = (cb_event){.kind = CB_TRIAL_STALE,
                                 .number = number,
                                 .attempt = history->trials[number].attempt};
  return COCABO_OK;
}

static cocabo_status give_up_lost(cocabo_study *study, cocabo_error *err) {
  lost l = {.history = study->fold.history};
  if (cb_history_count(l.history, COCABO_RUNNING) == 0)
    return COCABO_OK;
  cocabo_status status =
      study->store->ops->expired(study->store, study->id, note_lost, &l, err);
  if (status == COCABO_OK && l.n > 0)
    status = cb_study_commit(study, l.events, (int)l.n, -1, err);
  cb_free(l.events);
  return status;
}

/* ---- planning -------------------------------------------------------------------- */

static cocabo_status check_budget(const cocabo_study *study, int n, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const int64_t most = study->fold.resolved.trials;
  const int64_t used =
      history->n + history->n_failed + cb_history_count(history, COCABO_RUNNING);
  const int64_t left = used < most ? most - used : 0;
  if (most == 0 || n <= left)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_BUDGET,
                 "study \"%s\" has %lld of its %lld trials left, want %d", study->name,
                 (long long)left, (long long)most, n);
}

static bool is_on_offer(cocabo_trial_state state) {
  return state == COCABO_WAITING || state == COCABO_INTERRUPTED ||
         state == COCABO_STALE;
}

static int count_offered(const cb_history *history, int most) {
  int n = 0;
  for (int64_t i = 0; i < history->n_pending && n < most; i++)
    n += is_on_offer(history->trials[history->pending[i]].state);
  return n;
}

static batch plan(const cocabo_study *study, int n) {
  const cb_history *history = study->fold.history;
  const int64_t lacking = study->fold.resolved.settings.n_init - history->n_design;
  batch b = {.n = n, .first = history->n_trials};
  b.n_resumed = count_offered(history, n);
  const int fresh = n - b.n_resumed;
  b.n_design = lacking <= 0 ? 0 : lacking < fresh ? (int)lacking : fresh;
  b.n_sampled = fresh - b.n_design;
  return b;
}

/* ---- learning -------------------------------------------------------------------- */

/* Learns the hyper-parameters and appends them, which never conflicts: whoever fits
 * from the longest log is believed. */
static cocabo_status fit(cocabo_study *study, const cb_ask *ask, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const cb_proposer *proposer = &study->proposer;
  cb_event fitted = {.kind = CB_MODEL_FITTED, .number = -1};
  cocabo_status status = proposer->sampler->fit(proposer->state, ask, &fitted.fit, err);
  if (status == COCABO_OK) {
    fitted.fit.basis = history->seq;
    fitted.fit.rows = history->n;
    fitted.fit.round = history->n_rounds;
    status = cb_study_commit(study, &fitted, 1, -1, err);
  }
  cb_event_clear(&fitted);
  return status;
}

static cocabo_status fit_if_due(cocabo_study *study, const batch *b, bool *fitted,
                                cocabo_error *err) {
  const cb_fold *fold = &study->fold;
  const cb_sampler *sampler = fold->resolved.sampler;
  const cb_ask ask = cb_proposer_request(&study->proposer, fold, fold->history,
                                         b->first + b->n_design, b->n_sampled);
  CB_TRY(cb_proposer_wake(&study->proposer, fold, fold->history, err));
  if (!sampler->fit_due || !sampler->fit_due(&ask))
    return COCABO_OK;
  CB_TRY(fit(study, &ask, err));
  *fitted = true;
  return COCABO_OK;
}

/* ---- building the batch ---------------------------------------------------------- */

static void free_batch(batch *b) {
  for (int i = 0; b->events && i < b->n; i++)
    cb_event_clear(&b->events[i]);
  for (int i = 0; b->trials && i < b->n; i++)
    cocabo_trial_free(b->trials[i]);
  cb_free(b->events);
  cb_free(b->trials);
  cb_free(b->proposals);
}

static cocabo_status allocate(batch *b, const cocabo_space *space, cocabo_error *err) {
  const int fresh = b->n_design + b->n_sampled;
  b->events = cb_calloc((size_t)b->n, sizeof *b->events);
  b->trials = cb_calloc((size_t)b->n, sizeof *b->trials);
  b->proposals = cb_calloc((size_t)fresh, sizeof *b->proposals);
  if (!b->events || !b->trials || !b->proposals)
    return cb_no_memory(err);
  for (int i = 0; i < fresh; i++) {
    cb_event *event = &b->events[b->n_resumed + i];
    event->cells = cb_calloc((size_t)space->n, sizeof *event->cells);
    event->proposal.draws = cb_calloc((size_t)space->c, sizeof(cb_draw));
    if (!event->cells || !event->proposal.draws)
      return cb_no_memory(err);
    b->proposals[i].cells = event->cells;
    b->proposals[i].draws = event->proposal.draws;
  }
  return COCABO_OK;
}

/* Waiting ones first, then interrupted, then stale ones, each by number. */
static void resume_offered(batch *b, const cb_history *history) {
  static const cocabo_trial_state order[] = {COCABO_WAITING, COCABO_INTERRUPTED,
                                             COCABO_STALE};
  int used = 0;
  for (int k = 0; k < 3; k++)
    for (int64_t i = 0; i < history->n_pending && used < b->n_resumed; i++) {
      const cb_trial *trial = &history->trials[history->pending[i]];
      if (trial->state == order[k])
        b->events[used++] = (cb_event){.kind = CB_TRIAL_RESUMED,
                                       .number = trial->number,
                                       .attempt = trial->attempt + 1};
    }
}

/* Proposals k .. k+n-1 become ASKED events of one origin. */
static void fill_asked(batch *b, int k, int n, cb_origin origin,
                       const cocabo_space *space, int64_t basis) {
  for (int i = 0; i < n; i++) {
    cb_event *event = &b->events[b->n_resumed + k + i];
    event->kind = CB_TRIAL_ASKED;
    event->number = b->first + k + i;
    event->origin = origin;
    event->n_cells = space->n;
    event->proposal.basis = basis;
    event->proposal.batch_first = b->first + k;
    event->proposal.batch_size = n;
    event->proposal.batch_index = i;
    event->proposal.n_draws = b->proposals[k + i].drawn ? space->c : 0;
  }
}

static cocabo_status note_fingerprint(const cocabo_study *study, cb_event *event,
                                      cocabo_error *err) {
  char text[CB_FINGERPRINT];
  event->proposal.fingerprint =
      cb_strdup(cb_fingerprint(&study->fold, event->origin, text));
  return event->proposal.fingerprint ? COCABO_OK : cb_no_memory(err);
}

static cocabo_status propose_design(cocabo_study *study, batch *b, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  if (b->n_design == 0)
    return COCABO_OK;
  CB_TRY(cb_propose(&study->proposer, &study->fold, history, CB_BY_DESIGN, b->first,
                    b->n_design, b->proposals, err));
  fill_asked(b, 0, b->n_design, CB_BY_DESIGN, history->space, history->seq);
  return note_fingerprint(study, &b->events[b->n_resumed], err);
}

typedef struct replay {
  cb_fold *fold;
  int64_t last; /* event to stop after */
} replay;

static cocabo_status replay_event(void *user, const cb_event *event,
                                  cocabo_error *err) {
  replay *r = user;
  return event->seq > r->last ? COCABO_OK : cb_fold_apply(r->fold, event, err);
}

/* The log as it will be when the batch's own design points have been asked: the sampler
 * shall see them as pending. A fold cannot be undone, so the log is folded once more;
 * this happens only to an ask that crosses the end of the design. */
static cocabo_status foresee(cocabo_study *study, const batch *b, cb_fold *out,
                             cocabo_error *err) {
  replay r = {.fold = out, .last = study->fold.history->seq};
  CB_TRY(
      study->store->ops->read_since(study->store, study->id, 0, replay_event, &r, err));
  return cb_fold_foresee(out, &b->events[b->n_resumed], b->n_design, err);
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

static cocabo_status propose_seeing(cocabo_study *study, batch *b,
                                    const cb_history *history, cocabo_error *err) {
  const int k = b->n_design;
  cb_event *first = &b->events[b->n_resumed + k];
  CB_TRY(cb_propose(&study->proposer, &study->fold, history, CB_BY_SAMPLER,
                    b->first + k, b->n_sampled, &b->proposals[k], err));
  fill_asked(b, k, b->n_sampled, CB_BY_SAMPLER, history->space,
             study->fold.history->seq);
  CB_TRY(note_fingerprint(study, first, err));
  return note_pending(first, history, err);
}

static cocabo_status propose_sampled(cocabo_study *study, batch *b, cocabo_error *err) {
  if (b->n_sampled == 0)
    return COCABO_OK;
  if (b->n_design == 0)
    return propose_seeing(study, b, study->fold.history, err);
  cb_fold foreseen = {.name = study->name};
  cocabo_status status = foresee(study, b, &foreseen, err);
  if (status == COCABO_OK)
    status = propose_seeing(study, b, foreseen.history, err);
  cb_fold_clear(&foreseen);
  return status;
}

/* The trials as the user will see them: running, whatever they were before. */
static cocabo_status snapshot(const cocabo_study *study, batch *b, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  for (int i = 0; i < b->n; i++) {
    const cb_event *event = &b->events[i];
    const cb_trial trial = {.number = event->number,
                            .state = COCABO_RUNNING,
                            .attempt = event->attempt,
                            .started = NAN,
                            .finished = NAN,
                            .value = NAN,
                            .cells = i < b->n_resumed
                                         ? history->trials[event->number].cells
                                         : event->cells};
    CB_TRY(cb_trial_snapshot(&b->trials[i], &study->fold, &trial, err));
  }
  return COCABO_OK;
}

static cocabo_status build(cocabo_study *study, batch *b, cocabo_error *err) {
  CB_TRY(allocate(b, study->fold.history->space, err));
  resume_offered(b, study->fold.history);
  CB_TRY(propose_design(study, b, err));
  CB_TRY(propose_sampled(study, b, err));
  CB_TRY(snapshot(study, b, err));
  return cb_history_reserve(study->fold.history, b->n_design + b->n_sampled, 0, err);
}

/* ---- ask ------------------------------------------------------------------------- */

static void hand_over(batch *b, cocabo_trial **out) {
  for (int i = 0; i < b->n; i++) {
    cb_trial_set_started(b->trials[i], b->events[i].time);
    out[i] = b->trials[i];
    b->trials[i] = NULL;
  }
}

/* New trials conflict by their number. So does everything that is handed out where
 * there is a budget: an ask that has seen all new trials hands out again what every
 * other ask would, and conflicts there; so asks that race cannot exceed the budget
 * together. */
static int64_t expected_number(const cocabo_study *study, const batch *b) {
  const bool any_new = b->n_resumed < b->n;
  return any_new || study->fold.resolved.trials > 0 ? b->first : -1;
}

static cocabo_status build_and_append(cocabo_study *study, batch *b, cocabo_trial **out,
                                      cocabo_error *err) {
  cocabo_status status = build(study, b, err);
  if (status == COCABO_OK)
    status = cb_study_commit(study, b->events, b->n, expected_number(study, b), err);
  if (status == COCABO_OK)
    hand_over(b, out);
  free_batch(b);
  return status;
}

cocabo_status cb_study_ask(cocabo_study *study, int n, cocabo_trial **out,
                           cocabo_error *err) {
  bool fitted = false; /* once is enough, however often we are overtaken */
  for (int i = 0; i < CB_STUDY_TRIES; i++) {
    CB_TRY(cb_study_sync(study, err));
    CB_TRY(give_up_lost(study, err));
    CB_TRY(check_budget(study, n, err));
    batch b = plan(study, n);
    if (b.n_sampled > 0 && !fitted) {
      CB_TRY(fit_if_due(study, &b, &fitted, err));
      if (fitted)
        continue;
    }
    const cocabo_status status = build_and_append(study, &b, out, err);
    if (status != COCABO_E_BUSY)
      return status;
  }
  return cb_study_overtaken(study, err);
}
