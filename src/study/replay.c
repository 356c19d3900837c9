/* replay.c - checking a study against its log.
 *
 * A second fold follows the log and stops wherever a batch was proposed, at the last
 * event that the proposal saw (its basis), to propose it again. Asks conflict on the
 * trial's number, so each has seen all trials before its own: bases never decrease, and
 * one walk through the log meets them all. Fits are not repeated: what was learnt is in
 * the log, and that is what the proposals used. A batch names its fits; where it does
 * not, as in logs of version 0.1.0, it used the one that counted at its basis.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "study/study.h"

typedef struct replay {
  cb_events log;
  cb_fold fold;                /* of the first fold.history->seq events */
  cb_view view;                /* of the fold */
  int64_t deterministic_since; /* event that last made the objective so */
  int64_t model_since;         /* event that last changed what is learnt */
  cb_proposer proposer;
  cocabo_report report;
} replay;

static cocabo_status contradiction(const cb_event *event, const char *what,
                                   cocabo_error *err) {
  return cb_fail(err, COCABO_E_STATE, "event %lld contradicts the log: %s",
                 (long long)event->seq, what);
}

static void clear(replay *r) {
  cb_proposer_clear(&r->proposer);
  cb_view_clear(&r->view);
  cb_events_clear(&r->log);
}

/* ---- events ---------------------------------------------------------------------- */

static bool is_repeat(const replay *r, const cb_event *asked) {
  const cb_history *history = r->fold.history;
  const cocabo_space *space = history->space;
  return r->view.resolved.settings.deterministic &&
         r->deterministic_since <= asked->proposal.basis &&
         asked->n_cells == space->n && cb_space_size(space) != UINT64_MAX &&
         cb_history_contains(history, asked->cells);
}

static cocabo_status check_fit(const cb_event *fitted, cocabo_error *err) {
  for (int i = 0; i < fitted->fit.n_theta; i++)
    if (!isfinite(fitted->fit.theta[i]))
      return contradiction(fitted, "what was learnt is not finite", err);
  return COCABO_OK;
}

/* What an event may say, and what it does. */
enum {
  SAYS_NUMBER = 1,
  SAYS_ATTEMPT = 2,
  SAYS_CELLS = 4, /* and by whom */
  SAYS_Y = 8,
  SAYS_REASON = 16,
  SAYS_PROPOSAL = 32,
  SAYS_FIT = 64,
  SAYS_SPACE = 128,
  SAYS_OPTIONS = 256, /* and attributes, and the version */
  SAYS_METRICS = 512,
  SAYS_STEP = 1024,
  SAYS_STATE = 2048,
  SAYS_PAIR = 4096,   /* instance, seed */
  SAYS_OUTCOME = 8192 /* and seconds */
};

static bool has_proposal(const cb_provenance *p) {
  return p->basis != 0 || p->batch_first != 0 || p->batch_size != 0 ||
         p->batch_index != 0 || p->n_pending != 0 || p->n_draws != 0 ||
         p->n_fits != 0 || p->fingerprint;
}

static unsigned says(const cb_event *e) {
  const bool fit = e->fit.basis != 0 || e->fit.rows != 0 || e->fit.n_theta != 0;
  const bool options = e->n_options > 0 || e->n_attributes > 0 || e->version;
  return (e->number != -1 ? SAYS_NUMBER : 0u) |
         (e->attempt != 0 || e->has_attempt ? SAYS_ATTEMPT : 0u) |
         (e->n_cells != 0 || e->origin != 0 ? SAYS_CELLS : 0u) |
         (e->has_y ? SAYS_Y : 0u) | (e->reason ? SAYS_REASON : 0u) |
         (has_proposal(&e->proposal) ? SAYS_PROPOSAL : 0u) | (fit ? SAYS_FIT : 0u) |
         (e->space ? SAYS_SPACE : 0u) | (options ? SAYS_OPTIONS : 0u) |
         (e->n_metrics != 0 ? SAYS_METRICS : 0u) | (e->step != 0 ? SAYS_STEP : 0u) |
         (e->running ? SAYS_STATE : 0u) |
         (e->instance || e->seed != 0 ? SAYS_PAIR : 0u) |
         (e->outcome != 0 || e->seconds != 0.0 ? SAYS_OUTCOME : 0u);
}

static unsigned may_say(cb_event_kind kind) {
  switch (kind) {
  case CB_STUDY_CREATED:
    return SAYS_SPACE | SAYS_OPTIONS;
  case CB_STUDY_CHANGED:
    return SAYS_OPTIONS;
  case CB_TRIAL_ASKED:
    return SAYS_NUMBER | SAYS_CELLS | SAYS_PROPOSAL;
  case CB_TRIAL_TOLD:
    return SAYS_NUMBER | SAYS_Y | SAYS_METRICS;
  case CB_TRIAL_FAILED:
    return SAYS_NUMBER | SAYS_ATTEMPT | SAYS_REASON;
  case CB_TRIAL_INTERRUPTED:
  case CB_TRIAL_STALE:
  case CB_TRIAL_RESUMED:
  case CB_TRIAL_RETRIED:
    return SAYS_NUMBER | SAYS_ATTEMPT;
  case CB_TRIAL_ADDED:
    return SAYS_NUMBER | SAYS_CELLS | SAYS_STATE | SAYS_Y | SAYS_METRICS;
  case CB_MODEL_FITTED:
    return SAYS_FIT;
  case CB_RUN_STARTED:
    return SAYS_NUMBER | SAYS_ATTEMPT | SAYS_PAIR;
  case CB_TRIAL_OBSERVED:
    return SAYS_NUMBER | SAYS_ATTEMPT | SAYS_OUTCOME | SAYS_Y | SAYS_METRICS;
  case CB_TRIAL_NOTED:
    return SAYS_NUMBER | SAYS_OPTIONS;
  case CB_TRIAL_REPORTED:
    return SAYS_NUMBER | SAYS_Y | SAYS_STEP;
  }
  return ~0u; /* which the fold refuses, or passes over */
}

/* Clocks jump, and times go back with them; but they stay times. */
static bool is_time(double seconds) {
  const double year_10000 = 253402300800.0;
  return seconds > 0.0 && seconds < year_10000;
}

/* What is kept with the first point of a batch, or with the sampler's. */
static cocabo_status check_proposal(const cb_event *asked, cocabo_error *err) {
  const cb_provenance *p = &asked->proposal;
  const bool shared = p->n_pending > 0 || p->n_fits > 0;
  if (p->batch_index > 0 && (shared || p->fingerprint))
    return contradiction(asked, "it says what only the first of a batch says", err);
  if (asked->origin == CB_BY_DESIGN && (shared || p->n_draws > 0))
    return contradiction(asked, "it says what no point of the design says", err);
  return COCABO_OK;
}

static cocabo_status check_head(const cb_event *event, cocabo_error *err) {
  if (says(event) & ~may_say(event->kind))
    return contradiction(event, "it says what none of its kind says", err);
  if (event->kind == CB_TRIAL_ASKED)
    CB_TRY(check_proposal(event, err));
  return is_time(event->time) ? COCABO_OK : contradiction(event, "it has no time", err);
}

/* The end of an attempt, or the beginning of the next. */
static cocabo_status check_attempt(const cb_event *event, const cb_trial *trial,
                                   cocabo_error *err) {
  if (event->kind == CB_TRIAL_RESUMED && event->attempt != trial->attempt + 1)
    return contradiction(event, "the attempt is not the next", err);
  if (event->kind == CB_TRIAL_RESUMED && trial->state == COCABO_RUNNING)
    return contradiction(event, "the trial was not on offer", err);
  const bool named = event->kind == CB_TRIAL_STALE || event->kind == CB_TRIAL_RETRIED ||
                     event->has_attempt;
  if (event->kind != CB_TRIAL_RESUMED &&
      (event->attempt < 0 || event->attempt > (named ? trial->attempt : 0)))
    return contradiction(event, "there was no such attempt", err);
  return COCABO_OK;
}

/* What the fold does not mind, but no study would have written. */
static cocabo_status check_kind(const replay *r, const cb_event *event,
                                cocabo_error *err) {
  const cb_history *history = r->fold.history;
  const bool known = event->number >= 0 && event->number < history->n_trials;
  switch (event->kind) {
  case CB_STUDY_CREATED:
    return contradiction(event, "the study exists already", err);
  case CB_TRIAL_ASKED:
    return is_repeat(r, event) ? contradiction(event, "its point is not new", err)
                               : COCABO_OK;
  case CB_TRIAL_FAILED:
  case CB_TRIAL_INTERRUPTED:
  case CB_TRIAL_STALE:
  case CB_TRIAL_RETRIED:
  case CB_TRIAL_RESUMED:
    return known ? check_attempt(event, &history->trials[event->number], err)
                 : COCABO_OK; /* which the fold refuses */
  case CB_MODEL_FITTED:
    return check_fit(event, err);
  default:
    return COCABO_OK;
  }
}

static cocabo_status check_event(const replay *r, const cb_event *event,
                                 cocabo_error *err) {
  if (r->fold.history)
    CB_TRY(check_kind(r, event, err));
  return check_head(event, err);
}

static int64_t position(const replay *r) {
  return r->fold.history ? r->fold.history->seq : 0;
}

/* Folds the log up to an event. */
static cocabo_status follow(replay *r, int64_t seq, cocabo_error *err) {
  const cb_settings *settings = &r->view.resolved.settings;
  while (position(r) < seq) {
    const cb_event *event = &r->log.events[position(r)];
    const bool before = settings->deterministic;
    const int64_t model = r->view.model;
    CB_TRY(check_event(r, event, err));
    CB_TRY(cb_view_apply(&r->view, event, err));
    if (!before && settings->deterministic)
      r->deterministic_since = event->seq;
    if (r->view.model != model)
      r->model_since = event->seq;
  }
  return COCABO_OK;
}

/* ---- batches --------------------------------------------------------------------- */

static bool starts_batch(const cb_event *event) {
  return event->kind == CB_TRIAL_ASKED && event->proposal.batch_index == 0;
}

static bool belongs(const cb_event *first, const cb_event *event, int k) {
  const cb_provenance *p = &event->proposal, *q = &first->proposal;
  return event->kind == CB_TRIAL_ASKED && event->origin == first->origin &&
         event->number == first->number + k && p->basis == q->basis &&
         p->batch_first == q->batch_first && p->batch_size == q->batch_size &&
         p->batch_index == k;
}

/* Is the batch that starts at event i whole? */
static cocabo_status check_batch(const replay *r, size_t i, cocabo_error *err) {
  const cb_event *first = &r->log.events[i];
  const cb_provenance *p = &first->proposal;
  if (!starts_batch(first) || p->batch_size < 1 || p->batch_first != first->number ||
      (size_t)p->batch_size > r->log.n - i ||
      (first->origin != CB_BY_DESIGN && first->origin != CB_BY_SAMPLER))
    return contradiction(first, "it starts no batch", err);
  for (int k = 1; k < p->batch_size; k++)
    if (!belongs(first, first + k, k))
      return contradiction(first + k, "it is not the next of its batch", err);
  if (p->basis < position(r) || p->basis > (int64_t)i)
    return contradiction(first, "it cannot have seen what it says", err);
  return COCABO_OK;
}

/* How many points of the design the same ask had before the batch at event i: the
 * sampler has seen them, though they came after its basis. */
static int own_design(const replay *r, size_t i) {
  if (i == 0)
    return 0;
  const cb_event *first = &r->log.events[i], *before = first - 1;
  const bool same_ask =
      first->origin == CB_BY_SAMPLER && before->kind == CB_TRIAL_ASKED &&
      before->origin == CB_BY_DESIGN && before->proposal.basis == first->proposal.basis;
  return same_ask ? before->proposal.batch_size : 0;
}

static cocabo_status check_points(const cocabo_space *space, const cb_event *first,
                                  cocabo_error *err) {
  for (int k = 0; k < first->proposal.batch_size; k++)
    if (first[k].n_cells != space->n ||
        (first[k].proposal.n_draws != 0 && first[k].proposal.n_draws != space->c))
      return contradiction(first + k, "the point is not in the space", err);
  return COCABO_OK;
}

/* Did it see all trials before it, and those pending that were? The fold is at its
 * basis. */
static cocabo_status check_view(const replay *r, const cb_event *first, int design,
                                cocabo_error *err) {
  const cb_history *history = r->fold.history;
  const cb_provenance *p = &first->proposal;
  if (!history || history->n_trials + design != first->number)
    return contradiction(first, "it has not seen all trials before it", err);
  CB_TRY(check_points(history->space, first, err));
  if (first->origin == CB_BY_DESIGN)
    return COCABO_OK;
  bool same = p->n_pending == history->n_pending + design;
  for (int64_t i = 0; same && i < history->n_pending; i++)
    same = p->pending[i] == history->pending[i];
  for (int k = 0; same && k < design; k++)
    same = p->pending[history->n_pending + k] == history->n_trials + k;
  return same ? COCABO_OK
              : contradiction(first, "other trials were pending than it says", err);
}

/* The fit of an event before event i, by its id. It is mostly not far. */
static const cb_event *find_fitted(const replay *r, size_t i, const uint64_t id[2]) {
  while (i-- > 0)
    if (r->log.events[i].kind == CB_MODEL_FITTED &&
        memcmp(r->log.events[i].id, id, sizeof r->log.events[i].id) == 0)
      return &r->log.events[i];
  return NULL;
}

/* What the batch at event i had learnt, NULL for nothing, and whether it can have: a
 * fit may lie after the basis, but not know more, nor be one for other options. The
 * fold is at the basis. */
static cocabo_status check_fits(const replay *r, size_t i, const cb_fit **used,
                                cocabo_error *err) {
  const cb_event *first = &r->log.events[i];
  const cb_provenance *p = &first->proposal;
  *used = cb_history_fit(r->fold.history);
  for (int k = 0; k < p->n_fits; k++) {
    const cb_event *fitted = find_fitted(r, i, p->fits[k]);
    if (!fitted)
      return contradiction(first, "there is no fit before it of the id it names", err);
    if (fitted->fit.basis > p->basis || fitted->fit.basis < r->model_since ||
        fitted->fit.rows < 0 || fitted->fit.rows > r->fold.history->n)
      return contradiction(first, "it cannot have used the fit it names", err);
    CB_TRY(check_fit(fitted, err));
    if (k == 0)
      *used = fitted->fit.n_theta > 0 ? &fitted->fit : NULL;
  }
  return COCABO_OK;
}

/* ---- proposing again ------------------------------------------------------------- */

/* Room for a batch. */
typedef struct again {
  int n;
  cb_proposal *proposals; /* n */
  cb_cell *cells;
  cb_draw *draws;
} again;

static void free_again(again *a) {
  cb_free(a->proposals);
  cb_free(a->cells);
  cb_free(a->draws);
}

static cocabo_status make_room(again *a, const cocabo_space *space, cocabo_error *err) {
  const size_t n = (size_t)a->n, cells = (size_t)space->n, draws = (size_t)space->c;
  a->proposals = cb_calloc(n, sizeof *a->proposals);
  a->cells = cb_calloc(n * cells, sizeof *a->cells);
  a->draws = cb_calloc(n * draws, sizeof *a->draws);
  if (!a->proposals || !a->cells || !a->draws)
    return cb_no_memory(err);
  for (size_t i = 0; i < n; i++) {
    a->proposals[i].cells = a->cells + i * cells;
    a->proposals[i].draws = a->draws + i * draws;
  }
  return COCABO_OK;
}

static bool same_bits(double a, double b) {
  return memcmp(&a, &b, sizeof a) == 0;
}

static bool is_same(const cb_proposal *proposal, const cb_event *asked) {
  const cb_provenance *p = &asked->proposal;
  if (!cb_cells_equal(asked->n_cells, proposal->cells, asked->cells) ||
      proposal->drawn != (p->n_draws > 0))
    return false;
  for (int j = 0; j < p->n_draws; j++) {
    const cb_draw *a = &proposal->draws[j], *b = &p->draws[j];
    if (!same_bits(a->p, b->p) || !same_bits(a->gamma, b->gamma) || a->b != b->b ||
        a->capped != b->capped)
      return false;
  }
  return true;
}

static void compare(replay *r, const cb_event *first, const again *a, bool proposed) {
  char here[CB_FINGERPRINT];
  const char *theirs = first->proposal.fingerprint;
  cb_fingerprint(&r->view, first->origin, here);
  const bool ours = theirs && strcmp(theirs, here) == 0;
  cocabo_report *report = &r->report;
  for (int k = 0; k < a->n; k++) {
    const bool differs = !proposed || !is_same(&a->proposals[k], first + k);
    *(ours ? &report->replayed : &report->foreign) += 1;
    *(ours ? &report->differing : &report->foreign_differing) += differs;
    if (ours && differs && report->first_differing < 0)
      report->first_differing = first[k].number;
  }
}

static cocabo_status repeat_seeing(replay *r, const cb_event *first, const cb_fit *fit,
                                   again *a, cocabo_error *err) {
  CB_TRY(make_room(a, r->fold.history->space, err));
  const cocabo_status status = cb_propose(&r->proposer, &r->view, fit, first->origin,
                                          first->number, a->n, a->proposals, err);
  if (status == COCABO_E_INTERRUPTED || status == COCABO_E_NO_MEMORY)
    return status;
  compare(r, first, a, status == COCABO_OK);
  return COCABO_OK;
}

/* The sampler saw the design points of the same ask as pending. */
static cocabo_status repeat(replay *r, const cb_event *first, int design,
                            const cb_fit *fit, cocabo_error *err) {
  again a = {.n = first->proposal.batch_size};
  CB_TRY(cb_history_preview(r->fold.history, first - design, design, err));
  const cocabo_status status = repeat_seeing(r, first, fit, &a, err);
  cb_history_retract(r->fold.history);
  free_again(&a);
  return status;
}

/* ---- the walk -------------------------------------------------------------------- */

static int64_t count_batches(const replay *r) {
  int64_t n = 0;
  for (size_t i = 0; i < r->log.n; i++)
    n += starts_batch(&r->log.events[i]);
  return n;
}

static cocabo_status poll(const replay *r, cocabo_error *err) {
  const cb_ask ask = {.interrupt = r->proposer.interrupt, .user = r->proposer.user};
  return cb_ask_poll(&ask, err);
}

/* All batches are checked, and those after the first `skipped` proposed again. */
static cocabo_status walk(replay *r, int64_t skipped, cocabo_error *err) {
  int64_t batch = 0;
  for (size_t i = 0; i < r->log.n;) {
    const cb_event *first = &r->log.events[i];
    if (first->kind != CB_TRIAL_ASKED) {
      i++;
      continue;
    }
    const int design = own_design(r, i);
    const cb_fit *fit = NULL;
    CB_TRY(poll(r, err));
    CB_TRY(check_batch(r, i, err));
    CB_TRY(follow(r, first->proposal.basis, err));
    CB_TRY(check_view(r, first, design, err));
    CB_TRY(check_fits(r, i, &fit, err));
    if (batch++ >= skipped)
      CB_TRY(repeat(r, first, design, fit, err));
    i += (size_t)first->proposal.batch_size;
  }
  return follow(r, (int64_t)r->log.n, err);
}

static cocabo_status verify(replay *r, const cocabo_study *study, int64_t batches,
                            cocabo_error *err) {
  CB_TRY(study->store->ops->check(study->store, study->id, &r->report.unchecked, err));
  CB_TRY(cb_events_read(&r->log, study, err));
  const int64_t all = count_batches(r);
  CB_TRY(walk(r, batches < 0 || batches > all ? 0 : all - batches, err));
  for (size_t i = 0; i < r->log.n; i++)
    r->report.passed_over += !cb_kind_is_known(r->log.events[i].kind);
  r->report.events = (int64_t)r->log.n;
  r->report.trials = r->fold.history ? r->fold.history->n_trials : 0;
  return COCABO_OK;
}

cocabo_status cb_study_verify(cocabo_study *study, int64_t batches, cocabo_report *out,
                              cocabo_error *err) {
  replay r = {.fold.name = study->name,
              .view.fold = &r.fold,
              .proposer = {.interrupt = study->proposer.interrupt,
                           .user = study->proposer.user},
              .report.first_differing = -1};
  const cocabo_status status = verify(&r, study, batches, err);
  if (status == COCABO_OK)
    *out = r.report;
  clear(&r);
  if (status == COCABO_E_INTERRUPTED)
    return cb_fail(err, status, "the check was interrupted");
  return status;
}
