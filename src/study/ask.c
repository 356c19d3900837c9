/* ask.c - the walk of ask.
 *
 *   sync, hand out what is on offer, propose the rest, append; overtaken: start over
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

/* ---- planning -------------------------------------------------------------------- */

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
  const cb_history *history = study->history;
  const int64_t lacking = study->resolved.settings.n_init - history->n_design;
  batch b = {.n = n, .first = history->n_trials};
  b.n_resumed = count_offered(history, n);
  const int fresh = n - b.n_resumed;
  b.n_design = lacking <= 0 ? 0 : lacking < fresh ? (int)lacking : fresh;
  b.n_sampled = fresh - b.n_design;
  return b;
}

/* ---- asking the sampler ---------------------------------------------------------- */

static cb_ask make_ask(const cocabo_study *study, const cb_history *history,
                       int64_t number, int n) {
  return (cb_ask){.history = history,
                  .settings = &study->resolved.settings,
                  .number = number,
                  .batch = n,
                  .interrupt = study->interrupt,
                  .user = study->user};
}

static cocabo_status ensure_sampler(cocabo_study *study, cocabo_error *err) {
  if (study->has_sampler_state)
    return COCABO_OK;
  CB_TRY(study->resolved.sampler->create(&study->sampler_state, study->history->space,
                                         &study->resolved.settings, err));
  study->has_sampler_state = true;
  return COCABO_OK;
}

/* Learns the hyper-parameters and appends them, which never conflicts: whoever fits
 * from the longest log is believed. */
static cocabo_status fit(cocabo_study *study, const cb_ask *ask, cocabo_error *err) {
  const cb_history *history = study->history;
  cb_event fitted = {.kind = CB_MODEL_FITTED, .number = -1};
  cocabo_status status =
      study->resolved.sampler->fit(study->sampler_state, ask, &fitted.fit, err);
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
  const cb_sampler *sampler = study->resolved.sampler;
  const cb_ask ask =
      make_ask(study, study->history, b->first + b->n_design, b->n_sampled);
  CB_TRY(ensure_sampler(study, err));
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

static cocabo_status propose_design(cocabo_study *study, batch *b, cocabo_error *err) {
  if (b->n_design == 0)
    return COCABO_OK;
  const cb_ask ask = make_ask(study, study->history, b->first, b->n_design);
  CB_TRY(cb_ask_poll(&ask, err));
  CB_TRY(cb_design_propose(&ask, b->proposals, err));
  fill_asked(b, 0, b->n_design, CB_BY_DESIGN, study->history->space,
             study->history->seq);
  return COCABO_OK;
}

typedef struct replay {
  cb_history *history;
  int64_t last; /* event to stop after */
} replay;

static cocabo_status replay_event(void *user, const cb_event *event,
                                  cocabo_error *err) {
  replay *r = user;
  return event->seq > r->last ? COCABO_OK : cb_history_apply(r->history, event, err);
}

static cocabo_status replay_log(cocabo_study *study, const batch *b,
                                cb_history *history, cocabo_error *err) {
  replay r = {.history = history, .last = study->history->seq};
  CB_TRY(
      study->store->ops->read_since(study->store, study->id, 0, replay_event, &r, err));
  for (int i = 0; i < b->n_design; i++) {
    cb_event asked = b->events[b->n_resumed + i];
    asked.seq = history->seq + 1;
    CB_TRY(cb_history_apply(history, &asked, err));
  }
  return COCABO_OK;
}

/* The history as it will be when the batch's own design points have been asked: the
 * sampler shall see them as pending. A fold cannot be undone, so the log is folded once
 * more; this happens only to an ask that crosses the end of the design. */
static cocabo_status foresee(cocabo_study *study, const batch *b, cb_history **out,
                             cocabo_error *err) {
  cb_history *history = NULL;
  CB_TRY(cb_history_new(&history, study->history->space, study->history->sign, err));
  const cocabo_status status = replay_log(study, b, history, err);
  if (status != COCABO_OK) {
    cb_history_free(history);
    return status;
  }
  *out = history;
  return COCABO_OK;
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
  const cb_ask ask = make_ask(study, history, b->first + k, b->n_sampled);
  CB_TRY(ensure_sampler(study, err));
  CB_TRY(cb_ask_poll(&ask, err));
  CB_TRY(study->resolved.sampler->propose(study->sampler_state, &ask, &b->proposals[k],
                                          err));
  fill_asked(b, k, b->n_sampled, CB_BY_SAMPLER, history->space, study->history->seq);
  return note_pending(&b->events[b->n_resumed + k], history, err);
}

static cocabo_status propose_sampled(cocabo_study *study, batch *b, cocabo_error *err) {
  if (b->n_sampled == 0)
    return COCABO_OK;
  if (b->n_design == 0)
    return propose_seeing(study, b, study->history, err);
  cb_history *foreseen = NULL;
  CB_TRY(foresee(study, b, &foreseen, err));
  const cocabo_status status = propose_seeing(study, b, foreseen, err);
  cb_history_free(foreseen);
  return status;
}

/* The trials as the user will see them: running, whatever they were before. */
static cocabo_status snapshot(const cocabo_study *study, batch *b, cocabo_error *err) {
  const cb_history *history = study->history;
  for (int i = 0; i < b->n; i++) {
    const cb_event *event = &b->events[i];
    const cb_trial trial = {.number = event->number,
                            .state = COCABO_RUNNING,
                            .value = NAN,
                            .cells = i < b->n_resumed
                                         ? history->trials[event->number].cells
                                         : event->cells};
    CB_TRY(cb_trial_snapshot(&b->trials[i], history->space, &trial, err));
  }
  return COCABO_OK;
}

static cocabo_status build(cocabo_study *study, batch *b, cocabo_error *err) {
  CB_TRY(allocate(b, study->history->space, err));
  resume_offered(b, study->history);
  CB_TRY(propose_design(study, b, err));
  CB_TRY(propose_sampled(study, b, err));
  CB_TRY(snapshot(study, b, err));
  return cb_history_reserve(study->history, b->n_design + b->n_sampled, 0, err);
}

/* ---- ask ------------------------------------------------------------------------- */

static cocabo_status build_and_append(cocabo_study *study, batch *b, cocabo_trial **out,
                                      cocabo_error *err) {
  cocabo_status status = build(study, b, err);
  if (status == COCABO_OK)
    status = cb_study_commit(study, b->events, b->n,
                             b->n_resumed < b->n ? b->first : -1, err);
  if (status == COCABO_OK) {
    memcpy(out, b->trials, (size_t)b->n * sizeof *out);
    memset(b->trials, 0, (size_t)b->n * sizeof *b->trials); /* now the caller's */
  }
  free_batch(b);
  return status;
}

cocabo_status cb_study_ask(cocabo_study *study, int n, cocabo_trial **out,
                           cocabo_error *err) {
  bool fitted = false; /* once is enough, however often we are overtaken */
  for (int i = 0; i < CB_STUDY_TRIES; i++) {
    CB_TRY(cb_study_sync(study, err));
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
