/* study_runs.c - the walk of a run: what was lost is discarded, what is decided is
 * told, the race says whose run is next, and one append hands it out. In the log that
 * is, in this order:
 *
 *   OBSERVED     discarded, of every run whose lease has run out, or its owner is gone
 *
 *   TOLD         of trials that are decided, if whoever saw it did not live to say so
 *
 *   ASKED        and what else an ask writes, for a new trial
 *
 *   RUN_STARTED  which run, on which instance, with which seed
 *
 * A result is an OBSERVED event and, where it decides its trial, a TOLD one in a second
 * append: the next ask writes it if we do not live to.
 */
#include "study/study_runs.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "base/text.h"
#include "log/runs.h"
#include "study/study.h"
#include "study/trial.h"

/* ---- pairs ----------------------------------------------------------------------- */

/* The i-th line that is not empty, in memory of its own; NULL: out of memory. */
static char *copy_line(const char *lines, int64_t i) {
  for (;; lines++) {
    const size_t size = strcspn(lines, "\n");
    if (size > 0 && i-- == 0)
      return cb_strndup(lines, size);
    lines += size;
  }
}

/* Pair k of the common order. Every instance comes once with the first seed, in a
 * random order, then once with the second in another, and so on. *instance is owned by
 * the caller, NULL where there are none. */
static cocabo_status find_pair(const cb_view *view, int64_t k, char **instance,
                               int64_t *seed, cocabo_error *err) {
  const char *lines = view->resolved.instances;
  const int64_t n = cb_instances_count(lines);
  *instance = NULL;
  *seed = k + 1;
  if (n == 0)
    return COCABO_OK;
  int32_t *order = cb_calloc((size_t)n, sizeof *order);
  if (!order)
    return cb_no_memory(err);
  for (int64_t i = 0; i < n; i++)
    order[i] = (int32_t)i;
  cb_rng rng = cb_rng_make(view->fold->trial_seed, CB_RNG_PAIRS, (uint64_t)(k / n));
  cb_rng_shuffle(&rng, (int)n, order);
  *instance = copy_line(lines, order[k % n]);
  *seed = k / n + 1;
  cb_free(order);
  return *instance ? COCABO_OK : cb_no_memory(err);
}

/* Has the trial a value of that pair, or a run on it that may bring one? A run that
 * failed has none, unless its trial was complete: who tries the trial again wants it.
 */
static bool has_run(const cb_history *history, const cb_trial *trial,
                    const char *instance, int64_t seed) {
  for (int64_t i = 0; i < trial->n_runs; i++) {
    const cb_run *run = &trial->runs[i];
    const cb_pairing *pair = &history->pairs[run->pair];
    if ((run->outcome == 0 || !isnan(cb_runs_value(trial, run->pair))) &&
        pair->seed == seed &&
        (instance ? pair->instance && strcmp(pair->instance, instance) == 0
                  : !pair->instance))
      return true;
  }
  return false;
}

/* The place of a pair in the history, -1: nobody has run it. */
static int64_t pair_of(const cb_history *history, const cb_event *started) {
  for (int64_t i = 0; i < history->n_pairs; i++) {
    const cb_pairing *pair = &history->pairs[i];
    if (pair->seed == started->seed &&
        (started->instance
             ? pair->instance && strcmp(pair->instance, started->instance) == 0
             : !pair->instance))
      return i;
  }
  return -1;
}

cocabo_status cb_study_next_run(const cocabo_study *study, int64_t number,
                                cb_event *out, double *cap, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const cb_trial none = {.number = number};
  const cb_trial *trial = number < history->n_trials ? &history->trials[number] : &none;
  *out = (cb_event){.kind = CB_RUN_STARTED, .number = number, .attempt = trial->n_runs};
  for (int64_t k = 0; k <= trial->n_runs; k++) {
    cb_free(out->instance);
    CB_TRY(find_pair(&study->view, k, &out->instance, &out->seed, err));
    if (!has_run(history, trial, out->instance, out->seed))
      break;
  }
  *cap = cb_race_cap(&study->view.resolved.race, history, trial, pair_of(history, out));
  return COCABO_OK;
}

/* ---- runs that the caller has ---------------------------------------------------- */

cocabo_status cb_study_hold_run(cocabo_study *study, int64_t number, int64_t run,
                                cocabo_error *err) {
  void *runs = study->held.runs;
  if (!cb_reserve(&runs, &study->held.capacity, study->held.n + 1,
                  sizeof *study->held.runs))
    return cb_no_memory(err);
  study->held.runs = runs;
  study->held.runs[study->held.n++] = (cb_lost_run){number, run};
  return COCABO_OK;
}

static bool holds(const cocabo_study *study, int64_t number, int64_t run) {
  for (size_t i = 0; i < study->held.n; i++)
    if (study->held.runs[i].number == number && study->held.runs[i].run == run)
      return true;
  return false;
}

void cb_study_drop_run(cocabo_study *study, int64_t number, int64_t run) {
  for (size_t i = 0; i < study->held.n; i++)
    if (study->held.runs[i].number == number && study->held.runs[i].run == run)
      study->held.runs[i--] = study->held.runs[--study->held.n];
}

/* ---- what is to be written first ------------------------------------------------- */

typedef struct news {
  cb_event *events;
  size_t n, capacity;
} news;

static cocabo_status add_news(news *list, cb_event event, cocabo_error *err) {
  void *events = list->events;
  if (!cb_reserve(&events, &list->capacity, list->n + 1, sizeof event))
    return cb_no_memory(err);
  list->events = events;
  list->events[list->n++] = event;
  return COCABO_OK;
}

static cb_event discarded(int64_t number, int64_t run) {
  return (cb_event){.kind = CB_TRIAL_OBSERVED,
                    .number = number,
                    .attempt = run,
                    .outcome = CB_RUN_DISCARDED};
}

static bool is_lost(const cb_lost *lost, int64_t number, int64_t run) {
  for (size_t i = 0; i < lost->n_runs; i++)
    if (lost->runs[i].number == number && lost->runs[i].run == run)
      return true;
  return false;
}

/* Runs that nobody is at: their worker is lost, or an ask of ours failed although it is
 * in the log. */
static cocabo_status find_lost(const cocabo_study *study, const cb_lost *lost,
                               news *list, cocabo_error *err) {
  const cb_history *history = study->fold.history;
  if (history->n_flying == 0)
    return COCABO_OK;
  for (int64_t i = 0; i < history->n_trials; i++) {
    const cb_trial *trial = &history->trials[i];
    for (int64_t k = 0; k < trial->n_runs; k++) {
      const cb_run *run = &trial->runs[k];
      const bool unclaimed = run->writer == study->writer && !holds(study, i, k);
      if (run->outcome == 0 && (unclaimed || is_lost(lost, i, k)))
        CB_TRY(add_news(list, discarded(i, k), err));
    }
  }
  return COCABO_OK;
}

static cocabo_status add_told(const cb_history *history, const cb_trial *trial,
                              news *list, cocabo_error *err) {
  const cb_event told = {.kind = CB_TRIAL_TOLD,
                         .number = trial->number,
                         .has_y = true,
                         .y = cb_runs_combined(history, trial, NULL)};
  return add_news(list, told, err);
}

static cocabo_status find_decided(const cocabo_study *study, news *list,
                                  cocabo_error *err) {
  const cb_history *history = study->fold.history;
  CB_TRY(cb_runs_weigh(study->fold.history, err));
  for (int64_t i = 0; i < history->n_pending; i++) {
    const cb_trial *trial = &history->trials[history->pending[i]];
    bool decided;
    CB_TRY(cb_race_decided(&study->view.resolved.race, history, trial, &decided, err));
    if (decided)
      CB_TRY(add_told(history, trial, list, err));
  }
  return COCABO_OK;
}

static cocabo_status commit(cocabo_study *study, cb_event *events, size_t n,
                            cocabo_error *err) {
  if (n == 0)
    return COCABO_OK;
  CB_TRY(cb_study_append_as(study, study->owner, events, (int)n, -1, err));
  cb_study_fold_own(study, events, (int)n);
  return COCABO_OK;
}

/* Brings the log up to date with what is known. */
static cocabo_status settle(cocabo_study *study, const cb_lost *lost,
                            cocabo_error *err) {
  news list = {0};
  cocabo_status status = find_lost(study, lost, &list, err);
  if (status == COCABO_OK)
    status = find_decided(study, &list, err);
  if (status == COCABO_OK)
    status = commit(study, list.events, list.n, err);
  for (size_t i = 0; status == COCABO_OK && i < list.n; i++)
    if (list.events[i].kind == CB_TRIAL_OBSERVED)
      cb_study_say(
          study, COCABO_INFO,
          "run %lld of trial %lld is lost: its lease has run out, or its owner "
          "is gone; it is run again",
          (long long)list.events[i].attempt, (long long)list.events[i].number);
  cb_free(list.events);
  return status;
}

/* ---- asking ---------------------------------------------------------------------- */

static cocabo_status check_runs(const cocabo_study *study, cocabo_error *err) {
  const int64_t most = study->view.resolved.runs;
  if (most == 0 || study->fold.history->n_started < most)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_BUDGET, "study \"%s\" has used up its %lld runs",
                 study->name, (long long)most);
}

/* One more run of a trial that there is. */
static cocabo_status start_run(cocabo_study *study, int64_t number, cocabo_trial **out,
                               cocabo_error *err) {
  const cb_trial *known = NULL;
  cocabo_trial *trial = NULL;
  cb_event started = {0};
  double cap = INFINITY;
  CB_TRY(cb_study_find(study, number, &known, err));
  CB_TRY(cb_trial_snapshot(&trial, &study->view, known, err));
  cocabo_status status = cb_study_next_run(study, number, &started, &cap, err);
  if (status == COCABO_OK)
    status = cb_trial_add_run(trial, &started, cap, err);
  if (status == COCABO_OK)
    status = cb_study_hold_run(study, number, started.attempt, err);
  if (status == COCABO_OK) {
    status = commit(study, &started, 1, err);
    if (status != COCABO_OK)
      cb_study_drop_run(study, number, started.attempt);
  }
  cb_event_clear(&started);
  if (status != COCABO_OK) {
    cocabo_trial_free(trial);
    return status;
  }
  *out = trial;
  return COCABO_OK;
}

static cocabo_status choose(cocabo_study *study, int64_t *number, cocabo_error *err) {
  const cb_race *race = &study->view.resolved.race;
  CB_TRY(cb_runs_weigh(study->fold.history, err));
  CB_TRY(cb_race_next(race, study->fold.history, number, err));
  if (*number < 0 && race->by_model)
    return cb_proposer_rerun(&study->proposer, &study->view, race->most, number, err);
  return COCABO_OK;
}

/* Points that wait for their first run come before more runs of what there is. */
static bool has_waiting(const cb_history *history) {
  for (int64_t i = 0; i < history->n_pending; i++)
    if (history->trials[history->pending[i]].state != COCABO_RUNNING)
      return true;
  return false;
}

/* What waits, or is new; and if there are no trials left, those that have begun get
 * their runs all the same. */
static cocabo_status hand_out(cocabo_study *study, cocabo_trial **out,
                              cocabo_error *err) {
  const bool waiting = has_waiting(study->fold.history);
  size_t got = 0;
  int64_t number = -1;
  if (!waiting)
    CB_TRY(choose(study, &number, err));
  if (number >= 0)
    return start_run(study, number, out, err);
  const cocabo_status status = cb_study_ask(study, 1, false, out, &got, err);
  if (!waiting || status != COCABO_E_BUDGET)
    return status;
  CB_TRY(choose(study, &number, err)); /* which leaves the sentence if it succeeds */
  return number < 0 ? status : start_run(study, number, out, err);
}

/* Asks that race may start runs of different trials, and exceed the budget together: no
 * two of their events conflict. Then whoever sees it takes his own back. */
static cocabo_status take_back(cocabo_study *study, cocabo_trial **out,
                               cocabo_error *err) {
  const int64_t most = study->view.resolved.runs;
  if (most == 0 || study->fold.history->n_started <= most)
    return COCABO_OK;
  const cocabo_run *run = cb_trial_last_run(*out);
  cb_event event = discarded(run->trial, run->run);
  cb_study_drop_run(study, run->trial, run->run);
  cocabo_trial_free(*out);
  *out = NULL;
  CB_TRY(commit(study, &event, 1, err)); /* else the next ask does it */
  return COCABO_E_BUSY;
}

static cocabo_status try_ask_run(cocabo_study *study, cb_lost *lost, cocabo_trial **out,
                                 cocabo_error *err) {
  CB_TRY(cb_study_sync_lost(study, lost, err));
  CB_TRY(settle(study, lost, err));
  CB_TRY(check_runs(study, err));
  CB_TRY(hand_out(study, out, err));
  return take_back(study, out, err);
}

cocabo_status cb_study_ask_run(cocabo_study *study, cocabo_trial **out,
                               cocabo_error *err) {
  cb_lost lost = {0};
  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = try_ask_run(study, &lost, out, err);
  cb_lost_free(&lost);
  return status == COCABO_E_BUSY ? cb_study_overtaken(study, err) : status;
}

/* ---- telling --------------------------------------------------------------------- */

static cocabo_status check_run(const cb_trial *trial, const cocabo_run *run,
                               cocabo_error *err) {
  if (run->run >= 0 && run->run < trial->n_runs)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_NOT_FOUND, "trial %lld has no run %lld: it has %lld",
                 (long long)trial->number, (long long)run->run,
                 (long long)trial->n_runs);
}

/* Why a value is none; NULL: it is one. */
static const char *why_no_value(const cb_history *history, const cocabo_run *run) {
  if (run->state != COCABO_RUN_OK && run->state != COCABO_RUN_CAPPED)
    return NULL;
  if (isnan(run->value))
    return "value is NaN";
  if (!isfinite(run->value))
    return "value is infinite";
  if (history->combine == CB_GEOMEAN && !(run->value > 0.0))
    return "value is not above 0, as a geometric mean wants it";
  return NULL;
}

static cocabo_status try_tell_run(cocabo_study *study, const cocabo_run *run,
                                  const cocabo_metric *metrics, int n_metrics,
                                  const char *reason, cocabo_error *err) {
  const cb_trial *trial = NULL;
  CB_TRY(cb_study_sync(study, err));
  CB_TRY(cb_study_find(study, run->trial, &trial, err));
  CB_TRY(check_run(trial, run, err));
  const cb_outcome before = trial->runs[run->run].outcome;
  const bool discards = run->state == COCABO_RUN_DISCARDED;
  if ((before != 0 && before != CB_RUN_DISCARDED) || (before != 0 && discards))
    return COCABO_OK; /* the first result counts */
  const char *why = why_no_value(study->fold.history, run);
  const bool failed = why || run->state == COCABO_RUN_FAILED;
  cb_event events[2] = {{.kind = CB_TRIAL_OBSERVED,
                         .number = trial->number,
                         .attempt = run->run,
                         .outcome = failed ? CB_RUN_FAILED : (cb_outcome)run->state,
                         .seconds = run->seconds}};
  int n = 1;
  if (!failed && !discards) {
    events[0].has_y = true;
    events[0].y = run->value;
    events[0].metrics = (cocabo_metric *)metrics;
    events[0].n_metrics = n_metrics;
  }
  if (failed && trial->state != COCABO_COMPLETE && trial->state != COCABO_FAILED)
    events[n++] = (cb_event){.kind = CB_TRIAL_FAILED,
                             .number = trial->number,
                             .attempt = trial->attempt,
                             .has_attempt = true,
                             .reason = (char *)(why      ? why
                                                : reason ? reason
                                                         : "")};
  return commit(study, events, (size_t)n, err);
}

cocabo_status cb_study_tell_run(cocabo_study *study, const cocabo_run *run,
                                const cocabo_metric *metrics, int n_metrics,
                                const char *reason, cocabo_error *err) {
  const cb_lost none = {0};
  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = try_tell_run(study, run, metrics, n_metrics, reason, err);
  CB_TRY(status);
  cb_study_drop_run(study, run->trial, run->run);
  (void)settle(study, &none, NULL); /* else the next ask does it */
  return COCABO_OK;
}
