/* study.c - a study's life (create, open), reading its log and appending to it, and
 * every call that is one event: tell, fail, interrupt, retry, change, add. Asking is in
 * ask.c.
 */
#include "study/study.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/status.h"
#include "log/constraints.h"

/* ---- the fold -------------------------------------------------------------------- */

typedef struct reading {
  cocabo_study *study;
  cb_lost *lost; /* NULL: nobody asks */
} reading;

static cocabo_status absorb(void *user, const cb_event *event, cocabo_error *err) {
  const reading *r = user;
  return cb_fold_apply(&r->study->fold, event, err);
}

static cocabo_status note_lost(void *user, int64_t number, cocabo_error *err) {
  const reading *r = user;
  const cb_history *history = r->study->fold.history;
  cb_lost *lost = r->lost;
  if (number < 0 || number >= history->n_trials ||
      history->trials[number].state != COCABO_RUNNING)
    return COCABO_OK;
  void *numbers = lost->numbers;
  if (!cb_reserve(&numbers, &lost->capacity, lost->n + 1, sizeof *lost->numbers))
    return cb_no_memory(err);
  lost->numbers = numbers;
  lost->numbers[lost->n++] = number;
  return COCABO_OK;
}

cocabo_status cb_study_sync_lost(cocabo_study *study, cb_lost *lost,
                                 cocabo_error *err) {
  const int64_t seq = study->fold.history ? study->fold.history->seq : 0;
  reading r = {.study = study, .lost = lost};
  if (lost)
    lost->n = 0;
  return study->store->ops->read_since(study->store, study->id, seq, absorb,
                                       lost ? note_lost : NULL, &r, err);
}

cocabo_status cb_study_sync(cocabo_study *study, cocabo_error *err) {
  return cb_study_sync_lost(study, NULL, err);
}

void cb_study_identify(cocabo_study *study, cb_event *event) {
  event->id[0] = study->writer;
  event->id[1] = study->n_written++;
}

/* Is it an ask, which may be interrupted? */
static bool hands_out(const cb_event *events, int n) {
  for (int i = 0; i < n; i++)
    if (events[i].kind == CB_TRIAL_ASKED || events[i].kind == CB_TRIAL_RESUMED)
      return true;
  return false;
}

/* Gives ids to the events that have none, and appends them. */
static cocabo_status append(cocabo_study *study, cb_event *events, int n,
                            int64_t next_number, cocabo_error *err) {
  for (int i = 0; i < n; i++)
    if (events[i].id[0] == 0 && events[i].id[1] == 0)
      cb_study_identify(study, &events[i]);
  const cb_append what = {.events = events,
                          .n = n,
                          .next_number = next_number,
                          .owner = study->owner,
                          .seconds = study->seconds,
                          .durable = study->fold.resolved.durable,
                          .interrupt =
                              hands_out(events, n) ? study->proposer.interrupt : NULL,
                          .user = study->proposer.user};
  return study->store->ops->append(study->store, study->id, &what, err);
}

static void fold_own(cocabo_study *study, const cb_event *events, int n) {
  for (int i = 0; i < n; i++)
    if (events[i].seq != study->fold.history->seq + 1 ||
        cb_fold_apply(&study->fold, &events[i], NULL) != COCABO_OK) {
      (void)cb_study_sync(study, NULL);
      return;
    }
}

cocabo_status cb_study_commit(cocabo_study *study, cb_event *events, int n,
                              int64_t next_number, cocabo_error *err) {
  CB_TRY(append(study, events, n, next_number, err));
  fold_own(study, events, n);
  return COCABO_OK;
}

/* ---- life ------------------------------------------------------------------------ */

/* Unique ids only name events; no proposal depends on them. */
static cocabo_status draw_writer(cocabo_study *study, cocabo_error *err) {
  if (getrandom(&study->writer, sizeof study->writer, 0) != sizeof study->writer)
    return cb_fail(err, COCABO_E_INTERNAL, "the system gave no random bytes");
  return COCABO_OK;
}

/* A handle on the store, still without a log. On failure nothing is left. */
static cocabo_status new_handle(cocabo_study **out, const char *name,
                                cocabo_store *store, cocabo_error *err) {
  cocabo_study *study = cb_calloc(1, sizeof *study);
  if (!study)
    return cb_no_memory(err);
  study->owns_store = !store;
  study->store = store ? store : cocabo_store_new_memory();
  study->name = cb_strdup(name);
  study->fold.name = study->name;
  const cocabo_status status =
      study->store && study->name ? draw_writer(study, err) : cb_no_memory(err);
  if (status != COCABO_OK) {
    cb_study_free(study);
    return status;
  }
  *out = study;
  return COCABO_OK;
}

void cb_study_free(cocabo_study *study) {
  if (!study)
    return;
  cb_proposer_clear(&study->proposer);
  cb_fold_clear(&study->fold);
  if (study->owns_store)
    cocabo_store_free(study->store);
  cb_free(study->owner);
  cb_free(study->name);
  cb_free(study);
}

static cocabo_status fill_created(cb_event *event, const cocabo_space *space,
                                  const cocabo_options *options, cocabo_error *err) {
  cocabo_options *defaults = options ? NULL : cocabo_options_new();
  if (!options && !defaults)
    return cb_no_memory(err);
  event->kind = CB_STUDY_CREATED;
  event->number = -1;
  event->space = cb_space_copy(space);
  event->version = cb_strdup(CB_VERSION);
  const cocabo_status status =
      event->space && event->version
          ? cb_options_list(options ? options : defaults, &event->options,
                            &event->n_options, err)
          : cb_no_memory(err);
  cocabo_options_free(defaults);
  return status;
}

/* Better now than when the design is done. */
static cocabo_status check_sampler(const cb_resolved *resolved,
                                   const cocabo_space *space, cocabo_error *err) {
  const cb_sampler *sampler = resolved->sampler;
  if (resolved->settings.constraints && !sampler->constrains)
    return cb_fail(err, COCABO_E_INVALID,
                   "sampler %s has no model of constraints, want mixed (or random, "
                   "sobol)",
                   sampler->name);
  return sampler->accepts ? sampler->accepts(space, err) : COCABO_OK;
}

static cocabo_status start_log(cocabo_study *study, cb_event *created,
                               const cocabo_space *space, const cocabo_options *options,
                               cocabo_error *err) {
  CB_TRY(fill_created(created, space, options, err));
  CB_TRY(cb_fold_begin(&study->fold, created, err));
  CB_TRY(check_sampler(&study->fold.resolved, space, err));
  cb_study_identify(study, created);
  CB_TRY(
      study->store->ops->create(study->store, study->name, created, &study->id, err));
  return cb_history_apply(study->fold.history, created, err);
}

cocabo_status cb_study_create(cocabo_study **out, const char *name,
                              const cocabo_space *space, const cocabo_options *options,
                              cocabo_store *store, cocabo_error *err) {
  cocabo_study *study = NULL;
  CB_TRY(new_handle(&study, name, store, err));
  cb_event created = {0};
  const cocabo_status status = start_log(study, &created, space, options, err);
  cb_event_clear(&created);
  if (status != COCABO_OK) {
    cb_study_free(study);
    return status;
  }
  *out = study;
  return COCABO_OK;
}

static cocabo_status load(cocabo_study *study, cocabo_error *err) {
  CB_TRY(study->store->ops->find(study->store, study->name, &study->id, err));
  CB_TRY(cb_study_sync(study, err));
  if (!study->fold.history)
    return cb_fail(err, COCABO_E_STATE, "the log of study \"%s\" is empty",
                   study->name);
  return COCABO_OK;
}

cocabo_status cb_study_open(cocabo_study **out, const char *name, cocabo_store *store,
                            cocabo_error *err) {
  cocabo_study *study = NULL;
  CB_TRY(new_handle(&study, name, store, err));
  const cocabo_status status = load(study, err);
  if (status != COCABO_OK) {
    cb_study_free(study);
    return status;
  }
  *out = study;
  return COCABO_OK;
}

/* ---- looking --------------------------------------------------------------------- */

/* People count from 1. */
static cocabo_status fail_number(const cocabo_study *study, int64_t number, int64_t n,
                                 cocabo_error *err) {
  char range[40] = "";
  if (n > 0)
    snprintf(range, sizeof range, ", from 0 to %lld", (long long)n - 1);
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "no trial %lld in study \"%s\": it has %lld%s", (long long)number,
                 study->name, (long long)n, range);
}

cocabo_status cb_study_find(const cocabo_study *study, int64_t number,
                            const cb_trial **out, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  if (number < 0 || number >= history->n_trials)
    return fail_number(study, number, history->n_trials, err);
  *out = &history->trials[number];
  return COCABO_OK;
}

/* The best row among those that keep the constraints, -1: none does. Results are only
 * ever added, so each is looked at once. */
static int64_t best_feasible(cocabo_study *study) {
  const cb_history *history = study->fold.history;
  const cb_settings *settings = &study->fold.resolved.settings;
  if (study->feasible.model != study->fold.model || study->feasible.rows == 0) {
    study->feasible.model = study->fold.model;
    study->feasible.rows = 0;
    study->feasible.row = -1;
  }
  for (int64_t i = study->feasible.rows; i < history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    const int64_t best = study->feasible.row;
    if (cb_constraints_hold(settings->constraints, trial, settings->objective) == 1 &&
        (best < 0 || history->y[i] > history->y[best]))
      study->feasible.row = i;
  }
  study->feasible.rows = history->n;
  return study->feasible.row;
}

cocabo_status cb_study_best(cocabo_study *study, const cb_trial **out,
                            cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const cb_settings *settings = &study->fold.resolved.settings;
  const cb_constraints *constraints = settings->constraints;
  int64_t row = constraints ? best_feasible(study) : history->best;
  if (history->n == 0)
    return cb_fail(err, COCABO_E_NOT_FOUND, "study \"%s\" has no complete trial",
                   study->name);
  if (row < 0)
    row = cb_constraints_nearest(constraints, history, settings->objective);
  else if (!settings->deterministic)
    CB_TRY(cb_proposer_best(&study->proposer, &study->fold, &row, err));
  *out = &history->trials[history->told[row]];
  return COCABO_OK;
}

cocabo_status cb_study_expected(cocabo_study *study, const cb_trial *trial,
                                double *value, double *se, cocabo_error *err) {
  double mean, error;
  if (study->fold.resolved.settings.deterministic)
    return cb_fail(err, COCABO_E_STATE,
                   "study \"%s\" is deterministic: its values are what is expected",
                   study->name);
  if (trial->state != COCABO_COMPLETE)
    return cb_fail(err, COCABO_E_STATE, "trial %lld is %s, want a complete one",
                   (long long)trial->number, cocabo_state_name(trial->state));
  CB_TRY(cb_proposer_expect(&study->proposer, &study->fold, trial, &mean, &error, err));
  *value = study->fold.history->sign * mean;
  *se = error;
  return COCABO_OK;
}

const cb_history *cb_study_history(const cocabo_study *study) {
  return study->fold.history;
}

cocabo_status cb_study_overtaken(const cocabo_study *study, cocabo_error *err) {
  return cb_fail(err, COCABO_E_BUSY,
                 "study \"%s\": others took the next trial %d times in a row",
                 study->name, CB_STUDY_TRIES);
}

/* ---- telling --------------------------------------------------------------------- */

static const char *why_not_finite(double value) {
  if (isnan(value))
    return "value is nan";
  return value > 0.0 ? "value is inf" : "value is -inf";
}

/* Without metrics a result repeats one that came with some. */
static bool is_told(const cb_trial *trial, double value, const cocabo_metric *metrics,
                    int n) {
  return trial->state == COCABO_COMPLETE && trial->value == value &&
         (n == 0 || cb_metrics_equal(trial->metrics, trial->n_metrics, metrics, n));
}

cocabo_status cb_study_tell(cocabo_study *study, int64_t number, double value,
                            const cocabo_metric *metrics, int n, cocabo_error *err) {
  if (!isfinite(value))
    return cb_study_fail(study, number, CB_CURRENT, why_not_finite(value), err);
  const cb_trial *trial = NULL;
  CB_TRY(cb_study_sync(study, err));
  CB_TRY(cb_study_find(study, number, &trial, err));
  if (is_told(trial, value, metrics, n))
    return COCABO_OK;
  CB_TRY(cb_history_reserve_metrics(study->fold.history, cb_metrics_bytes(metrics, n),
                                    err));
  cb_event told = {.kind = CB_TRIAL_TOLD,
                   .number = number,
                   .has_y = true,
                   .y = value,
                   .n_metrics = n,
                   .metrics = (cocabo_metric *)metrics}; /* borrowed */
  return cb_study_commit(study, &told, 1, -1, err);
}

/* The trial as it is now, and whether the attempt is over because somebody else has
 * been given the trial since. */
static cocabo_status find_attempt(cocabo_study *study, int64_t number, int64_t attempt,
                                  const cb_trial **out, bool *over, cocabo_error *err) {
  CB_TRY(cb_study_sync(study, err));
  CB_TRY(cb_study_find(study, number, out, err));
  *over = attempt != CB_CURRENT && attempt < (*out)->attempt;
  if (attempt > (*out)->attempt)
    return cb_fail(err, COCABO_E_RANGE,
                   "trial %lld has no attempt %lld, the last is %lld",
                   (long long)number, (long long)attempt, (long long)(*out)->attempt);
  return COCABO_OK;
}

/* An event that ends the attempt which the trial is at. */
static cb_event end_of(cb_event_kind kind, const cb_trial *trial) {
  return (cb_event){.kind = kind,
                    .number = trial->number,
                    .attempt = trial->attempt,
                    .has_attempt = true};
}

cocabo_status cb_study_fail(cocabo_study *study, int64_t number, int64_t attempt,
                            const char *reason, cocabo_error *err) {
  const cb_trial *trial = NULL;
  bool over = false;
  CB_TRY(find_attempt(study, number, attempt, &trial, &over, err));
  if (over || (trial->state == COCABO_FAILED && strcmp(trial->reason, reason) == 0))
    return COCABO_OK;
  CB_TRY(cb_history_reserve(study->fold.history, 0, strlen(reason) + 1, err));
  cb_event failed = end_of(CB_TRIAL_FAILED, trial);
  failed.reason = cb_strdup(reason);
  const cocabo_status status =
      failed.reason ? cb_study_commit(study, &failed, 1, -1, err) : cb_no_memory(err);
  cb_event_clear(&failed);
  return status;
}

cocabo_status cb_study_interrupt(cocabo_study *study, int64_t number, int64_t attempt,
                                 cocabo_error *err) {
  const cb_trial *trial = NULL;
  bool over = false;
  CB_TRY(find_attempt(study, number, attempt, &trial, &over, err));
  if (over)
    return COCABO_OK;
  switch (trial->state) {
  case COCABO_WAITING:
  case COCABO_INTERRUPTED:
  case COCABO_STALE:
    return COCABO_OK; /* it is on offer already */
  case COCABO_RUNNING:
    break;
  case COCABO_COMPLETE:
  case COCABO_FAILED:
    return cb_fail(err, COCABO_E_STATE, "trial %lld is %s, want a running one",
                   (long long)number, cocabo_state_name(trial->state));
  }
  cb_event interrupted = end_of(CB_TRIAL_INTERRUPTED, trial);
  return cb_study_commit(study, &interrupted, 1, -1, err);
}

cocabo_status cb_study_retry(cocabo_study *study, int64_t number, cocabo_error *err) {
  const cb_trial *trial = NULL;
  CB_TRY(cb_study_sync(study, err));
  CB_TRY(cb_study_find(study, number, &trial, err));
  switch (trial->state) {
  case COCABO_WAITING:
  case COCABO_INTERRUPTED:
  case COCABO_STALE:
    return COCABO_OK; /* it is on offer already */
  case COCABO_FAILED:
    break;
  case COCABO_RUNNING:
  case COCABO_COMPLETE:
    return cb_fail(err, COCABO_E_STATE, "trial %lld is %s, want a failed one",
                   (long long)number, cocabo_state_name(trial->state));
  }
  cb_event retried = {
      .kind = CB_TRIAL_RETRIED, .number = number, .attempt = trial->attempt};
  return cb_study_commit(study, &retried, 1, -1, err);
}

/* ---- changing -------------------------------------------------------------------- */

/* Appends the change and makes it known here; there is no conflict to lose. */
static cocabo_status commit_change(cocabo_study *study, cb_event *changed,
                                   cocabo_error *err) {
  cb_change change;
  CB_TRY(cb_change_prepare(&change, &study->fold, changed, err));
  cocabo_status status =
      check_sampler(&change.resolved, study->fold.history->space, err);
  if (status == COCABO_OK)
    status = append(study, changed, 1, -1, err);
  if (status == COCABO_OK && changed->seq == study->fold.history->seq + 1)
    cb_fold_adopt(&study->fold, &change, changed);
  else if (status == COCABO_OK)
    (void)cb_study_sync(study, NULL);
  cb_change_clear(&change);
  return status;
}

static bool is_so_already(const cocabo_study *study, const cb_pair *option) {
  const char *present = cocabo_options_get(study->fold.options, option->name);
  return present && strcmp(present, option->value) == 0;
}

cocabo_status cb_study_change(cocabo_study *study, const cb_pair *options, size_t n,
                              cocabo_error *err) {
  CB_TRY(cb_study_sync(study, err));
  cb_event changed = {
      .kind = CB_STUDY_CHANGED, .number = -1, .version = (char *)CB_VERSION};
  changed.options = cb_calloc(n, sizeof *changed.options);
  if (!changed.options)
    return cb_no_memory(err);
  for (size_t i = 0; i < n; i++)
    if (!is_so_already(study, &options[i]))
      changed.options[changed.n_options++] = options[i];
  const cocabo_status status =
      changed.n_options > 0 ? commit_change(study, &changed, err) : COCABO_OK;
  cb_free(changed.options); /* the texts are the caller's */
  return status;
}

cocabo_status cb_study_set_attribute(cocabo_study *study, const cb_pair *attribute,
                                     cocabo_error *err) {
  CB_TRY(cb_study_sync(study, err));
  const char *present = cb_fold_attribute(&study->fold, attribute->name);
  if (present && strcmp(present, attribute->value) == 0)
    return COCABO_OK;
  cb_pair copy = *attribute;
  cb_event changed = {.kind = CB_STUDY_CHANGED,
                      .number = -1,
                      .version = (char *)CB_VERSION,
                      .n_attributes = 1,
                      .attributes = &copy};
  return commit_change(study, &changed, err);
}

cocabo_status cb_study_lease(cocabo_study *study, const char *owner, double seconds,
                             cocabo_error *err) {
  char *copy = owner ? cb_strdup(owner) : NULL;
  if (owner && !copy)
    return cb_no_memory(err);
  cb_free(study->owner);
  study->owner = copy;
  study->seconds = seconds;
  return COCABO_OK;
}

/* ---- adding ---------------------------------------------------------------------- */

static cocabo_status try_add(cocabo_study *study, cb_event *added, cocabo_error *err) {
  CB_TRY(cb_study_sync(study, err));
  CB_TRY(cb_history_reserve(study->fold.history, 1, 0, err));
  added->number = study->fold.history->n_trials;
  return cb_study_commit(study, added, 1, added->number, err);
}

cocabo_status cb_study_add(cocabo_study *study, const cb_cell *cells,
                           const double *result, cocabo_error *err) {
  const int n = study->fold.history->space->n;
  cb_event added = {.kind = CB_TRIAL_ADDED,
                    .origin = CB_BY_USER,
                    .n_cells = n,
                    .has_y = result != NULL,
                    .y = result ? *result : 0.0};
  added.cells = cb_calloc((size_t)n, sizeof *added.cells);
  if (!added.cells)
    return cb_no_memory(err);
  memcpy(added.cells, cells, (size_t)n * sizeof *cells);

  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = try_add(study, &added, err);
  cb_event_clear(&added);
  return status == COCABO_E_BUSY ? cb_study_overtaken(study, err) : status;
}
