/* history.c - the fold.
 *
 * Applying an event checks it, then makes room, then mutates; only the last part
 * changes anything a reader can see, and it cannot fail. Every trial owns one block of
 * memory of the same size, so blocks can be set aside in advance (cb_history_reserve).
 * All lists of trials have the trials' capacity, so that a trial can move between them
 * freely.
 */
#include "log/history.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "log/runs.h"

/* The different points, as an open-addressing table of the first trial at each. */
typedef struct point_set {
  int64_t *slots; /* size: trial number + 1, 0 = empty */
  size_t size;    /* a power of two, or 0; at most half full */
  size_t used;
} point_set;

struct cb_history_private {
  size_t trials_capacity, told_capacity, y_capacity, variance_capacity, failed_capacity,
      pending_capacity;
  point_set points;
  void **spares; /* blocks for trials to come */
  size_t n_spares, spares_capacity;
  char *reason; /* buffer for a reason to come, or NULL */
  size_t reason_bytes;
  void *metrics; /* block for metrics to come, or NULL */
  size_t metrics_bytes;
  double *theta; /* buffer for a fit to come, or NULL */
  int theta_room;
  int64_t least_basis;                   /* of a fit that counts */
  int n_previewed;                       /* the last trials, which are not in the log */
  int64_t n_design, n_rounds, n_sampled; /* without them */
};

typedef struct cb_history_private own_part;

/* ---- life ------------------------------------------------------------------------ */

cocabo_status cb_history_new(cb_history **out, cocabo_space *space, double sign,
                             cocabo_error *err) {
  assert(sign == 1.0 || sign == -1.0);
  *out = NULL;
  cb_history *history = cb_calloc(1, sizeof *history);
  own_part *own = cb_calloc(1, sizeof *own);
  if (!history || !own) {
    cb_free(history);
    cb_free(own);
    return cb_no_memory(err);
  }
  history->own = own;
  history->space = cb_space_share(space);
  history->sign = sign;
  history->best = -1;
  history->combine = CB_MEAN;
  *out = history;
  return COCABO_OK;
}

void cb_history_free(cb_history *history) {
  if (!history)
    return;
  own_part *own = history->own;
  for (int64_t i = 0; i < history->n_trials; i++) {
    cb_free(history->trials[i].cells); /* the whole block */
    cb_free(history->trials[i].reason);
    cb_free(history->trials[i].metrics);
    cb_pairs_free(history->trials[i].attributes, history->trials[i].n_attributes);
    cb_free(history->trials[i].reports);
    cb_runs_clear(&history->trials[i]);
  }
  cb_runs_clear_pairs(history);
  for (size_t i = 0; i < own->n_spares; i++)
    cb_free(own->spares[i]);
  cb_free(own->spares);
  cb_free(own->reason);
  cb_free(own->metrics);
  cb_free(own->theta);
  cb_free(own->points.slots);
  cb_free(own);
  cb_free(history->trials);
  cb_free(history->told);
  cb_free(history->y);
  cb_free(history->variance);
  cb_free(history->failed);
  cb_free(history->pending);
  cb_free(history->fit.theta);
  cocabo_space_free(history->space);
  cb_free(history);
}

/* ---- the set of points ----------------------------------------------------------- */

/* Mixes all bits of all cells (the finaliser of MurmurHash3 after each). */
static uint64_t hash_cells(const cocabo_space *space, const cb_cell *cells) {
  uint64_t hash = 0x9E3779B97F4A7C15u;
  for (int i = 0; i < space->n; i++) {
    const cb_cell cell = cb_space_snap(space, i, cells[i]);
    uint64_t bits;
    memcpy(&bits, &cell, sizeof bits);
    hash ^= bits;
    hash = (hash ^ (hash >> 33)) * 0xFF51AFD7ED558CCDu;
    hash = (hash ^ (hash >> 33)) * 0xC4CEB9FE1A85EC53u;
    hash ^= hash >> 33;
  }
  return hash;
}

static bool same_point(const cocabo_space *space, const cb_cell *a, const cb_cell *b) {
  for (int i = 0; i < space->n; i++) {
    const cb_cell u = cb_space_snap(space, i, a[i]), v = cb_space_snap(space, i, b[i]);
    if (!cb_cells_equal(1, &u, &v))
      return false;
  }
  return true;
}

/* The slot that holds these cells, or the empty one where they belong. The table must
 * have an empty slot. */
static int64_t *find_slot(const cb_history *history, const point_set *set,
                          const cb_cell *cells) {
  const cocabo_space *space = history->space;
  const size_t mask = set->size - 1;
  size_t i = (size_t)hash_cells(space, cells) & mask;
  while (set->slots[i] != 0 &&
         !same_point(space, history->trials[set->slots[i] - 1].cells, cells))
    i = (i + 1) & mask;
  return &set->slots[i];
}

static bool reserve_points(cb_history *history, size_t more) {
  point_set *old = &history->own->points;
  const size_t want = old->used + more;
  if (2 * want <= old->size)
    return true;
  point_set grown = {.size = old->size > 0 ? old->size : 16, .used = old->used};
  while (grown.size < 2 * want)
    grown.size *= 2;
  grown.slots = cb_calloc(grown.size, sizeof *grown.slots);
  if (!grown.slots)
    return false;
  for (size_t i = 0; i < old->size; i++)
    if (old->slots[i] != 0)
      *find_slot(history, &grown, history->trials[old->slots[i] - 1].cells) =
          old->slots[i];
  cb_free(old->slots);
  *old = grown;
  return true;
}

static void insert_point(cb_history *history, const cb_trial *trial) {
  point_set *set = &history->own->points;
  int64_t *slot = find_slot(history, set, trial->cells);
  if (*slot == 0) {
    *slot = trial->number + 1;
    set->used++;
  }
}

/* Of the trial that was inserted last. No other's search has gone past its slot, so
 * that emptying it leaves no gap. */
static void remove_point(cb_history *history, const cb_trial *trial) {
  point_set *set = &history->own->points;
  int64_t *slot = find_slot(history, set, trial->cells);
  if (*slot == trial->number + 1) {
    *slot = 0;
    set->used--;
  }
}

bool cb_history_contains(const cb_history *history, const cb_cell *cells) {
  const point_set *set = &history->own->points;
  return set->size > 0 && *find_slot(history, set, cells) != 0;
}

uint64_t cb_history_distinct(const cb_history *history) {
  return history->own->points.used;
}

/* ---- room ------------------------------------------------------------------------ */

/* cells n, x d, draws c, h c: descending alignment, so one block holds them all. */
static size_t block_bytes(const cocabo_space *space) {
  return (size_t)space->n * sizeof(cb_cell) + (size_t)space->d * sizeof(double) +
         (size_t)space->c * (sizeof(cb_draw) + sizeof(int32_t));
}

static void lay_out(cb_trial *trial, void *block, const cocabo_space *space) {
  trial->cells = block;
  trial->x = (double *)(trial->cells + space->n);
  trial->draws = (cb_draw *)(trial->x + space->d);
  trial->h = (int32_t *)(trial->draws + space->c);
}

/* The capacities are size_t, the lists typed; memcpy keeps the aliasing rules. */
static bool reserve_list(void *list, size_t *capacity, size_t want, size_t size) {
  void *array;
  memcpy(&array, list, sizeof array);
  if (!cb_reserve(&array, capacity, want, size))
    return false;
  memcpy(list, &array, sizeof array);
  return true;
}

static bool reserve_lists(cb_history *h, size_t want) {
  own_part *own = h->own;
  return reserve_list(&h->trials, &own->trials_capacity, want, sizeof *h->trials) &&
         reserve_list(&h->told, &own->told_capacity, want, sizeof *h->told) &&
         reserve_list(&h->y, &own->y_capacity, want, sizeof *h->y) &&
         reserve_list(&h->variance, &own->variance_capacity, want,
                      sizeof *h->variance) &&
         reserve_list(&h->failed, &own->failed_capacity, want, sizeof *h->failed) &&
         reserve_list(&h->pending, &own->pending_capacity, want, sizeof *h->pending);
}

static bool reserve_spares(cb_history *history, size_t want) {
  own_part *own = history->own;
  if (!reserve_list(&own->spares, &own->spares_capacity, want, sizeof *own->spares))
    return false;
  while (own->n_spares < want) {
    void *block = cb_calloc(1, block_bytes(history->space));
    if (!block)
      return false;
    own->spares[own->n_spares++] = block;
  }
  return true;
}

static bool reserve_reason(cb_history *history, size_t bytes) {
  own_part *own = history->own;
  if (bytes <= own->reason_bytes)
    return true;
  char *buffer = cb_realloc(own->reason, bytes, 1);
  if (!buffer)
    return false;
  own->reason = buffer;
  own->reason_bytes = bytes;
  return true;
}

cocabo_status cb_history_reserve_metrics(cb_history *history, size_t bytes,
                                         cocabo_error *err) {
  own_part *own = history->own;
  if (bytes <= own->metrics_bytes)
    return COCABO_OK;
  void *block = cb_realloc(own->metrics, bytes, 1);
  if (!block)
    return cb_no_memory(err);
  own->metrics = block;
  own->metrics_bytes = bytes;
  return COCABO_OK;
}

static cocabo_status reserve_for_metrics(cb_history *history, const cb_event *event,
                                         cocabo_error *err) {
  return cb_history_reserve_metrics(
      history, cb_metrics_bytes(event->metrics, event->n_metrics), err);
}

cocabo_status cb_history_reserve(cb_history *history, int64_t trials,
                                 size_t reason_bytes, cocabo_error *err) {
  const size_t more = (size_t)trials;
  if (!reserve_lists(history, (size_t)history->n_trials + more) ||
      !reserve_points(history, more) || !reserve_spares(history, more) ||
      !reserve_reason(history, reason_bytes))
    return cb_no_memory(err);
  return COCABO_OK;
}

cocabo_status cb_history_reserve_fit(cb_history *history, int n_theta,
                                     cocabo_error *err) {
  own_part *own = history->own;
  if (own->theta && n_theta <= own->theta_room)
    return COCABO_OK;
  double *theta = cb_realloc(own->theta, (size_t)n_theta, sizeof *theta);
  if (!theta)
    return cb_no_memory(err);
  own->theta = theta;
  own->theta_room = n_theta;
  return COCABO_OK;
}

/* ---- lists ----------------------------------------------------------------------- */

/* The place of the first pending trial that is not below a number. */
static int64_t pending_place(const cb_history *history, int64_t number) {
  int64_t low = 0, high = history->n_pending;
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (history->pending[middle] < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static void remove_at(int64_t *list, int64_t *n, int64_t i) {
  memmove(&list[i], &list[i + 1], (size_t)(*n - i - 1) * sizeof *list);
  (*n)--;
}

static void leave_pending(cb_history *history, int64_t number) {
  const int64_t i = pending_place(history, number);
  assert(i < history->n_pending && history->pending[i] == number);
  remove_at(history->pending, &history->n_pending, i);
}

static void join_pending(cb_history *history, int64_t number) {
  const int64_t i = pending_place(history, number);
  int64_t *at = &history->pending[i];
  memmove(at + 1, at, (size_t)(history->n_pending - i) * sizeof *at);
  *at = number;
  history->n_pending++;
}

static void leave_failed(cb_history *history, cb_trial *trial) {
  int64_t i = 0;
  while (history->failed[i] != trial->number)
    i++;
  remove_at(history->failed, &history->n_failed, i);
  cb_free(trial->reason);
  trial->reason = NULL;
}

/* There is room for them. */
static void take_metrics(cb_history *history, cb_trial *trial, const cb_event *event) {
  own_part *own = history->own;
  if (event->n_metrics == 0)
    return;
  cb_free(trial->metrics); /* of its runs */
  trial->metrics = cb_metrics_pack(own->metrics, event->metrics, event->n_metrics);
  trial->n_metrics = event->n_metrics;
  own->metrics = NULL;
  own->metrics_bytes = 0;
}

static void complete(cb_history *history, cb_trial *trial, const cb_event *event) {
  const int64_t row = history->n++;
  trial->state = COCABO_COMPLETE;
  trial->value =
      trial->n_counted > 0 ? cb_runs_combined(history, trial, NULL) : event->y;
  trial->finished = event->time;
  take_metrics(history, trial, event);
  history->told[row] = trial->number;
  history->y[row] = history->sign * trial->value;
  history->variance[row] = 0.0;
  history->unweighed |= trial->n_counted > 0;
  if (history->best < 0 || history->y[row] > history->y[history->best])
    history->best = row;
}

static int64_t find_best(const cb_history *history) {
  int64_t best = -1;
  for (int64_t i = 0; i < history->n; i++)
    if (best < 0 || history->y[i] > history->y[best])
      best = i;
  return best;
}

void cb_history_revise(cb_history *history, int64_t row, double y, double variance) {
  assert(row >= 0 && row < history->n && isfinite(y));
  assert(variance >= 0.0 && isfinite(variance));
  if (history->y[row] == y && history->variance[row] == variance)
    return;
  const bool falls = row == history->best && y < history->y[row];
  history->y[row] = y;
  history->variance[row] = variance;
  if (falls)
    history->best = find_best(history);
  else if (y > history->y[history->best] ||
           (y == history->y[history->best] && row < history->best))
    history->best = row;
  history->revised++;
}

bool cb_history_is_noisy(const cb_history *history) {
  for (int64_t i = 0; i < history->n; i++)
    if (history->variance[i] > 0.0)
      return true;
  return false;
}

/* ---- events ---------------------------------------------------------------------- */

static cocabo_status contradiction(const cb_event *event, const char *what,
                                   cocabo_error *err) {
  return cb_fail(err, COCABO_E_STATE, "event %lld contradicts the log: %s",
                 (long long)event->seq, what);
}

static cocabo_status check_metrics(const cb_event *event, cocabo_error *err) {
  cocabo_error why;
  if (event->n_metrics > 0 && !event->has_y)
    return contradiction(event, "it has metrics and no value", err);
  return cb_metrics_check(event->metrics, (size_t)event->n_metrics, &why) == COCABO_OK
             ? COCABO_OK
             : contradiction(event, why.message, err);
}

static cocabo_status check_new_trial(const cb_history *history, const cb_event *event,
                                     cocabo_error *err) {
  const cocabo_space *space = history->space;
  if (event->number != history->n_trials)
    return contradiction(event, "the trial's number is not the next", err);
  if (event->n_cells != space->n || !cb_space_holds(space, event->cells))
    return contradiction(event, "the point is not in the space", err);
  if (event->proposal.n_draws != 0 && event->proposal.n_draws != space->c)
    return contradiction(event, "not one draw per choice", err);
  if (event->has_y && !isfinite(event->y))
    return contradiction(event, "the value is not finite", err);
  if (event->running && (event->has_y || event->kind != CB_TRIAL_ADDED))
    return contradiction(event, "only what is added without a value is running", err);
  return check_metrics(event, err);
}

static void fill_trial(cb_trial *trial, const cb_event *event,
                       const cocabo_space *space) {
  trial->number = event->number;
  trial->seq = event->seq;
  memcpy(trial->made, event->id, sizeof trial->made);
  trial->origin = event->kind == CB_TRIAL_ADDED ? CB_BY_USER : event->origin;
  trial->started = trial->state == COCABO_RUNNING ? event->time : NAN;
  trial->finished = NAN;
  trial->value = NAN;
  memcpy(trial->cells, event->cells, (size_t)space->n * sizeof *trial->cells);
  cb_space_encode(space, trial->cells, trial->x, trial->h);
  if (event->proposal.n_draws > 0)
    memcpy(trial->draws, event->proposal.draws,
           (size_t)space->c * sizeof *trial->draws);
  else
    trial->draws = NULL;
}

static void count_origin(cb_history *history, const cb_event *event) {
  if (event->origin == CB_BY_DESIGN)
    history->n_design++;
  if (event->origin != CB_BY_SAMPLER)
    return;
  history->n_sampled++;
  history->n_rounds += event->proposal.batch_index == 0;
}

static cocabo_status apply_new_trial(cb_history *history, const cb_event *event,
                                     cocabo_error *err) {
  CB_TRY(check_new_trial(history, event, err));
  CB_TRY(cb_history_reserve(history, 1, 0, err));
  CB_TRY(reserve_for_metrics(history, event, err));

  own_part *own = history->own;
  cb_trial *trial = &history->trials[history->n_trials];
  memset(trial, 0, sizeof *trial);
  lay_out(trial, own->spares[--own->n_spares], history->space);
  trial->state = event->kind == CB_TRIAL_ADDED && !event->running ? COCABO_WAITING
                                                                  : COCABO_RUNNING;
  fill_trial(trial, event, history->space);
  history->n_trials++;
  insert_point(history, trial);

  if (event->kind == CB_TRIAL_ADDED && event->has_y) {
    complete(history, trial, event);
    return COCABO_OK;
  }
  history->pending[history->n_pending++] = trial->number;
  if (event->kind == CB_TRIAL_ASKED)
    count_origin(history, event);
  return COCABO_OK;
}

static cocabo_status apply_told(cb_history *history, const cb_event *event,
                                cb_trial *trial, cocabo_error *err) {
  if (!isfinite(event->y))
    return contradiction(event, "the value is not finite", err);
  CB_TRY(check_metrics(event, err));
  if (trial->state == COCABO_COMPLETE)
    return COCABO_OK;
  CB_TRY(reserve_for_metrics(history, event, err));
  if (trial->state == COCABO_FAILED)
    leave_failed(history, trial);
  else
    leave_pending(history, trial->number);
  complete(history, trial, event);
  return COCABO_OK;
}

static cocabo_status apply_failed(cb_history *history, const cb_event *event,
                                  cb_trial *trial, cocabo_error *err) {
  if (trial->state == COCABO_COMPLETE || trial->state == COCABO_FAILED)
    return COCABO_OK;
  own_part *own = history->own;
  const char *reason = event->reason ? event->reason : "";
  CB_TRY(cb_history_reserve(history, 0, strlen(reason) + 1, err));

  trial->reason = strcpy(own->reason, reason);
  own->reason = NULL;
  own->reason_bytes = 0;
  trial->state = COCABO_FAILED;
  trial->finished = event->time;
  leave_pending(history, trial->number);
  history->failed[history->n_failed++] = trial->number;
  return COCABO_OK;
}

/* The list of pending trials has room for all there are. */
static void apply_retried(cb_history *history, const cb_event *event, cb_trial *trial) {
  if (trial->state != COCABO_FAILED || event->attempt != trial->attempt)
    return;
  leave_failed(history, trial);
  join_pending(history, trial->number);
  trial->state = COCABO_INTERRUPTED;
  trial->finished = NAN;
}

static void apply_resumed(const cb_event *event, cb_trial *trial) {
  if (trial->state == COCABO_WAITING || trial->state == COCABO_INTERRUPTED ||
      trial->state == COCABO_STALE) {
    trial->state = COCABO_RUNNING;
    trial->started = event->time;
  }
  if (event->attempt > trial->attempt)
    trial->attempt = event->attempt;
}

static cocabo_status apply_noted(const cb_event *event, cb_trial *trial,
                                 cocabo_error *err) {
  int n = 0;
  cb_pair *merged = cb_pairs_merge(trial->attributes, trial->n_attributes,
                                   event->attributes, event->n_attributes, &n);
  if (!merged)
    return cb_no_memory(err);
  cb_pairs_free(trial->attributes, trial->n_attributes);
  trial->attributes = merged;
  trial->n_attributes = n;
  return COCABO_OK;
}

/* Steps mostly come in order, so that the place is looked for from the end. */
static cocabo_status apply_reported(const cb_event *event, cb_trial *trial,
                                    cocabo_error *err) {
  const cocabo_step report = {event->step, event->y};
  int64_t i = trial->n_reports;
  if (event->step < 0 || !isfinite(event->y))
    return contradiction(event, "it reports no finite value of a step", err);
  while (i > 0 && trial->reports[i - 1].step > event->step)
    i--;
  if (i > 0 && trial->reports[i - 1].step == event->step) {
    trial->reports[i - 1] = report;
    return COCABO_OK;
  }
  void *reports = trial->reports;
  if (!cb_reserve(&reports, &trial->reports_capacity, (size_t)trial->n_reports + 1,
                  sizeof report))
    return cb_no_memory(err);
  trial->reports = reports;
  memmove(&trial->reports[i + 1], &trial->reports[i],
          (size_t)(trial->n_reports - i) * sizeof report);
  trial->reports[i] = report;
  trial->n_reports++;
  return COCABO_OK;
}

/* Is the event about the attempt that the trial is at? */
static bool is_current(const cb_event *event, const cb_trial *trial) {
  const bool names = event->kind == CB_TRIAL_STALE || event->has_attempt;
  return !names || event->attempt == trial->attempt;
}

static cocabo_status change_trial(cb_history *history, const cb_event *event,
                                  cb_trial *trial, cocabo_error *err) {
  const bool running = trial->state == COCABO_RUNNING;
  switch (event->kind) {
  case CB_TRIAL_TOLD:
    return apply_told(history, event, trial, err);
  case CB_TRIAL_FAILED:
    return is_current(event, trial) ? apply_failed(history, event, trial, err)
                                    : COCABO_OK;
  case CB_TRIAL_INTERRUPTED:
    if (running && is_current(event, trial))
      trial->state = COCABO_INTERRUPTED;
    return COCABO_OK;
  case CB_TRIAL_STALE:
    if (running && is_current(event, trial))
      trial->state = COCABO_STALE;
    return COCABO_OK;
  case CB_TRIAL_RETRIED:
    apply_retried(history, event, trial);
    return COCABO_OK;
  case CB_TRIAL_NOTED:
    return apply_noted(event, trial, err);
  case CB_TRIAL_REPORTED:
    return apply_reported(event, trial, err);
  case CB_RUN_STARTED:
    return cb_runs_start(history, trial, event, err);
  case CB_TRIAL_OBSERVED:
    return cb_runs_observe(history, trial, event, err);
  default:
    apply_resumed(event, trial);
    return COCABO_OK;
  }
}

static cocabo_status apply_to_trial(cb_history *history, const cb_event *event,
                                    cocabo_error *err) {
  if (event->number < 0 || event->number >= history->n_trials)
    return contradiction(event, "there is no such trial", err);
  cb_trial *trial = &history->trials[event->number];
  CB_TRY(change_trial(history, event, trial, err));
  trial->seq = event->seq;
  return COCABO_OK;
}

static cocabo_status apply_fit(cb_history *history, const cb_event *event,
                               cocabo_error *err) {
  if (event->fit.basis >= event->seq)
    return contradiction(event, "a fit cannot have seen what came after it", err);
  if (event->fit.rows < 0 || event->fit.rows > history->n || event->fit.n_theta < 0)
    return contradiction(event, "there were not that many results to fit", err);
  if (event->fit.basis <= history->fit.basis ||
      event->fit.basis < history->own->least_basis)
    return COCABO_OK;
  own_part *own = history->own;
  const size_t n = (size_t)event->fit.n_theta;
  CB_TRY(cb_history_reserve_fit(history, event->fit.n_theta, err));
  if (n > 0)
    memcpy(own->theta, event->fit.theta, n * sizeof *own->theta);
  cb_free(history->fit.theta);
  history->fit = event->fit;
  history->fit.theta = own->theta;
  own->theta = NULL;
  own->theta_room = 0;
  memcpy(history->fit_id, event->id, sizeof event->id);
  return COCABO_OK;
}

static cocabo_status apply(cb_history *history, const cb_event *event,
                           cocabo_error *err) {
  switch (event->kind) {
  case CB_STUDY_CREATED:
  case CB_STUDY_CHANGED:
    return COCABO_OK;
  case CB_TRIAL_ASKED:
  case CB_TRIAL_ADDED:
    return apply_new_trial(history, event, err);
  case CB_TRIAL_TOLD:
  case CB_TRIAL_FAILED:
  case CB_TRIAL_INTERRUPTED:
  case CB_TRIAL_STALE:
  case CB_TRIAL_RESUMED:
  case CB_TRIAL_RETRIED:
  case CB_TRIAL_NOTED:
  case CB_TRIAL_REPORTED:
  case CB_RUN_STARTED:
  case CB_TRIAL_OBSERVED:
    return apply_to_trial(history, event, err);
  case CB_MODEL_FITTED:
    return apply_fit(history, event, err);
  }
  return cb_kind_is_ignorable(event->kind)
             ? COCABO_OK
             : contradiction(event, "its kind is unknown", err);
}

cocabo_status cb_history_apply(cb_history *history, const cb_event *event,
                               cocabo_error *err) {
  assert(history->own->n_previewed == 0);
  if (event->seq != history->seq + 1)
    return cb_fail(err, COCABO_E_STATE, "event %lld follows event %lld, want %lld",
                   (long long)event->seq, (long long)history->seq,
                   (long long)history->seq + 1);
  CB_TRY(apply(history, event, err));
  history->seq = event->seq;
  memcpy(history->id, event->id, sizeof history->id);
  return COCABO_OK;
}

/* Room for all comes first: a table that grew later would place them anew. */
cocabo_status cb_history_preview(cb_history *history, const cb_event *asked, int n,
                                 cocabo_error *err) {
  own_part *own = history->own;
  cocabo_status status = cb_history_reserve(history, n, 0, err);
  own->n_design = history->n_design;
  own->n_rounds = history->n_rounds;
  own->n_sampled = history->n_sampled;
  for (int i = 0; i < n && status == COCABO_OK; i++) {
    status = apply_new_trial(history, &asked[i], err);
    own->n_previewed += status == COCABO_OK;
  }
  if (status != COCABO_OK)
    cb_history_retract(history);
  return status;
}

void cb_history_retract(cb_history *history) {
  own_part *own = history->own;
  for (; own->n_previewed > 0; own->n_previewed--) {
    const cb_trial *last = &history->trials[history->n_trials - 1];
    remove_point(history, last);
    own->spares[own->n_spares++] = last->cells; /* the whole block */
    history->n_trials--;
    history->n_pending--; /* being the newest it is at the end */
  }
  history->n_design = own->n_design;
  history->n_rounds = own->n_rounds;
  history->n_sampled = own->n_sampled;
}

const cb_fit *cb_history_fit(const cb_history *history) {
  return history->fit.n_theta > 0 ? &history->fit : NULL;
}

void cb_history_forget_fit(cb_history *history) {
  cb_free(history->fit.theta);
  memset(&history->fit, 0, sizeof history->fit);
  history->own->least_basis = history->seq;
}

int64_t cb_history_count(const cb_history *history, cocabo_trial_state state) {
  if (state == COCABO_COMPLETE)
    return history->n;
  if (state == COCABO_FAILED)
    return history->n_failed;
  int64_t n = 0;
  for (int64_t i = 0; i < history->n_pending; i++)
    n += history->trials[history->pending[i]].state == state;
  return n;
}

double cb_history_worst(const cb_history *history) {
  double worst = history->n > 0 ? history->y[0] : 0.0;
  for (int64_t i = 1; i < history->n; i++)
    worst = fmin(worst, history->y[i]);
  return worst;
}

bool cb_trial_teaches(const cb_trial *failed) {
  static const char no_fault[] = "exit status 75";
  const char *reason = failed->reason ? failed->reason : "";
  const size_t size = sizeof no_fault - 1;
  return strncmp(reason, no_fault, size) != 0 ||
         (reason[size] != '\0' && reason[size] != '\n');
}

void cb_history_hand(cb_history *history, int64_t number) {
  if (number >= 0 && number < history->n_trials)
    history->trials[number].handed = true;
}
