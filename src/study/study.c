/* study.c - a study's life (create, open), reading its log and appending to it, and
 * every call that is an event or two: tell, fail, note, report, interrupt, retry,
 * change, add. Asking is in ask.c.
 */
#include "study/study.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "log/constraints.h"
#include "log/runs.h"

/* ---- appending ------------------------------------------------------------------- */

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

cocabo_status cb_study_append(cocabo_study *study, cb_event *events, int n,
                              int64_t next_number, cocabo_error *err) {
  const char *owner = hands_out(events, n) ? study->owner : NULL;
  return cb_study_append_as(study, owner, events, n, next_number, err);
}

cocabo_status cb_study_append_as(cocabo_study *study, const char *owner,
                                 cb_event *events, int n, int64_t next_number,
                                 cocabo_error *err) {
  for (int i = 0; i < n; i++)
    if (events[i].id[0] == 0 && events[i].id[1] == 0)
      cb_study_identify(study, &events[i]);
  const cb_position seen = cb_study_position(study);
  const cb_append what = {.events = events,
                          .n = n,
                          .next_number = next_number,
                          .seen = &seen,
                          .owner = owner,
                          .seconds = study->seconds,
                          .durable = study->view.resolved.durable,
                          .interrupt =
                              hands_out(events, n) ? study->proposer.interrupt : NULL,
                          .user = study->proposer.user};
  CB_TRY(study->store->ops->append(study->store, study->id, &what, err));
  study->wrote = true;
  return COCABO_OK;
}

void cb_study_fold_own(cocabo_study *study, const cb_event *events, int n) {
  for (int i = 0; i < n; i++)
    if (events[i].seq != study->fold.history->seq + 1 ||
        cb_view_apply(&study->view, &events[i], NULL) != COCABO_OK) {
      (void)cb_study_sync(study, NULL);
      return;
    }
}

cocabo_status cb_study_commit(cocabo_study *study, cb_event *events, int n,
                              int64_t next_number, cocabo_error *err) {
  CB_TRY(cb_study_append(study, events, n, next_number, err));
  cb_study_fold_own(study, events, n);
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
  study->unsure.first = 1; /* none */
  study->store = store ? store : cocabo_store_new_memory();
  study->name = cb_strdup(name);
  study->fold.name = study->name;
  study->view.fold = &study->fold;
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
  cb_study_leave_summary(study);
  cb_proposer_clear(&study->proposer);
  cb_handed_clear(&study->handed);
  cb_lost_free(&study->unsure.trials);
  cb_free(study->held.runs);
  cocabo_space_free(study->space);
  cb_view_clear(&study->view);
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
  double share;
  CB_TRY(cocabo_space_acceptance(space, &share, err));
  CB_TRY(fill_created(created, space, options, err));
  CB_TRY(cb_view_begin(&study->view, created, err));
  CB_TRY(check_sampler(&study->view.resolved, space, err));
  study->space = cb_space_copy(created->space);
  if (!study->space)
    return cb_no_memory(err);
  cb_study_identify(study, created);
  CB_TRY(
      study->store->ops->create(study->store, study->name, created, &study->id, err));
  study->wrote = true;
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

/* ---- open or create -------------------------------------------------------------- */

static cocabo_status other_domain(const cocabo_study *study, const cocabo_space *space,
                                  int i, cocabo_error *err) {
  char has[CB_SHOWN], wanted[CB_SHOWN], name[CB_SHOWN];
  char *own = cocabo_space_domain(study->fold.history->space, (size_t)i);
  char *other = cocabo_space_domain(space, (size_t)i);
  cocabo_status status = COCABO_OK;
  if (!own || !other)
    status = cb_no_memory(err);
  else if (strcmp(own, other) != 0)
    status = cb_fail(
        err, COCABO_E_STATE, "study \"%s\" has %s=%s, which is not the %s of the space",
        cb_text_show_within(name, study->name, 40), space->params[i].name,
        cb_text_show_within(has, own, 60), cb_text_show_within(wanted, other, 60));
  cocabo_text_free(own);
  cocabo_text_free(other);
  return status;
}

/* Names the first difference. */
static cocabo_status check_space(const cocabo_study *study, const cocabo_space *space,
                                 cocabo_error *err) {
  const cocabo_space *own = study->fold.history->space;
  if (cb_space_equal(own, space))
    return COCABO_OK;
  for (int i = 0; i < own->n && i < space->n; i++) {
    if (strcmp(own->params[i].name, space->params[i].name) != 0)
      return cb_fail(err, COCABO_E_STATE,
                     "study \"%s\" has the parameter \"%s\" where the space has \"%s\"",
                     study->name, own->params[i].name, space->params[i].name);
    CB_TRY(other_domain(study, space, i, err));
  }
  if (own->n != space->n)
    return cb_fail(err, COCABO_E_STATE, "study \"%s\" has %d parameters, the space %d",
                   study->name, own->n, space->n);
  return cb_fail(err, COCABO_E_STATE, "study \"%s\" has other rules than the space",
                 study->name);
}

static cocabo_status check_direction(const cocabo_study *study,
                                     const cocabo_options *options, cocabo_error *err) {
  const char *own = cocabo_options_get(study->view.options, "direction");
  const char *other = options ? cocabo_options_get(options, "direction") : own;
  return strcmp(own, other) == 0
             ? COCABO_OK
             : cb_fail(err, COCABO_E_STATE, "study \"%s\" is to %s, not to %s",
                       study->name, own, other);
}

static cocabo_status open_same(cocabo_study **out, const char *name,
                               const cocabo_space *space, const cocabo_options *options,
                               cocabo_store *store, cocabo_error *err) {
  cocabo_study *study = NULL;
  CB_TRY(cb_study_open(&study, name, store, err));
  cocabo_status status = check_space(study, space, err);
  if (status == COCABO_OK)
    status = check_direction(study, options, err);
  if (status != COCABO_OK) {
    cb_study_free(study);
    return status;
  }
  *out = study;
  return COCABO_OK;
}

/* Between the two somebody else may create it, or delete it. */
cocabo_status cb_study_open_or_create(cocabo_study **out, const char *name,
                                      const cocabo_space *space,
                                      const cocabo_options *options,
                                      cocabo_store *store, bool *created,
                                      cocabo_error *err) {
  cocabo_status status = COCABO_E_EXISTS;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_EXISTS; i++) {
    *created = false;
    status =
        store ? open_same(out, name, space, options, store, err) : COCABO_E_NOT_FOUND;
    if (status != COCABO_E_NOT_FOUND)
      return status;
    status = cb_study_create(out, name, space, options, store, err);
    *created = status == COCABO_OK;
  }
  return status;
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
 * ever added, but for those of runs, so each is looked at once. */
static int64_t best_feasible(cocabo_study *study) {
  const cb_history *history = study->fold.history;
  const cb_settings *settings = &study->view.resolved.settings;
  if (study->feasible.model != study->view.model || study->feasible.rows == 0 ||
      study->feasible.revised != history->revised) {
    study->feasible.model = study->view.model;
    study->feasible.revised = history->revised;
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

/* The row with the least violation. A trial whose violation nobody knows is none. */
static cocabo_status find_nearest(const cocabo_study *study, int64_t *row,
                                  cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const cb_settings *settings = &study->view.resolved.settings;
  const cb_constraints *constraints = settings->constraints;
  char shown[CB_SHOWN];
  *row = cb_constraints_nearest(constraints, history, settings->objective);
  const cb_trial *trial = &history->trials[history->told[*row]];
  for (int k = 0; k < constraints->n; k++)
    if (isnan(cb_constraint_excess(&constraints->items[k], trial, settings->objective)))
      return cb_fail(err, COCABO_E_NOT_FOUND,
                     "no trial of study \"%s\" has every metric that is bounded: "
                     "trial %lld has no \"%s\"",
                     study->name, (long long)trial->number,
                     cb_text_show(shown, constraints->items[k].metric));
  return COCABO_OK;
}

cocabo_status cb_study_best(cocabo_study *study, const cb_trial **out,
                            cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const cb_settings *settings = &study->view.resolved.settings;
  const cb_constraints *constraints = settings->constraints;
  if (history->n == 0)
    return cb_fail(err, COCABO_E_NOT_FOUND, "no trial of study \"%s\" is complete yet",
                   study->name);
  const int64_t incumbent =
      history->paired && !constraints ? cb_race_incumbent(history) : -1;
  if (incumbent >= 0) {
    *out = &history->trials[incumbent];
    return COCABO_OK;
  }
  CB_TRY(cb_runs_weigh(study->fold.history, err));
  int64_t row = constraints ? best_feasible(study) : history->best;
  if (row < 0)
    CB_TRY(find_nearest(study, &row, err));
  else if (!settings->deterministic || cb_history_is_noisy(history))
    CB_TRY(cb_proposer_best(&study->proposer, &study->view, &row, err));
  *out = &history->trials[history->told[row]];
  return COCABO_OK;
}

cocabo_status cb_study_expected(cocabo_study *study, const cb_trial *trial,
                                double *value, double *se, cocabo_error *err) {
  double mean, error;
  CB_TRY(cb_runs_weigh(study->fold.history, err));
  if (study->view.resolved.settings.deterministic &&
      !cb_history_is_noisy(study->fold.history))
    return cb_fail(err, COCABO_E_STATE,
                   "study \"%s\" is deterministic: its values are what is expected",
                   study->name);
  if (trial->state != COCABO_COMPLETE)
    return cb_fail(err, COCABO_E_STATE, "trial %lld is %s, want a complete one",
                   (long long)trial->number, cocabo_state_name(trial->state));
  CB_TRY(cb_proposer_expect(&study->proposer, &study->view, trial, &mean, &error, err));
  *value = study->fold.history->sign * mean;
  *se = error;
  return COCABO_OK;
}

/* The points as the model sees them. */
typedef struct points {
  double *x;            /* d x n */
  int32_t *h;           /* c x n */
  double *predicted[3]; /* n: mean, deviation, probability */
} points;

static void free_points(points *p) {
  cb_free(p->x);
  cb_free(p->h);
  for (int i = 0; i < 3; i++)
    cb_free(p->predicted[i]);
}

static cocabo_status encode_points(points *p, const cocabo_space *space,
                                   const cocabo_value *values, int n,
                                   cocabo_error *err) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  cocabo_error why;
  for (int i = 0; i < n; i++) {
    const cocabo_status status =
        cb_space_to_cells(space, &values[cb_at(0, i, space->n)], cells, &why);
    if (status != COCABO_OK)
      return cb_fail(err, status, "point %d: %s", i, why.message);
    cb_space_encode(space, cells, p->x + cb_at(0, i, space->d),
                    p->h + cb_at(0, i, space->c));
  }
  return COCABO_OK;
}

static cocabo_status predict(cocabo_study *study, points *p, const cocabo_value *values,
                             int n, cocabo_error *err) {
  const cocabo_space *space = study->fold.history->space;
  p->x = cb_calloc((size_t)n * (size_t)space->d, sizeof *p->x);
  p->h = cb_calloc((size_t)n * (size_t)space->c, sizeof *p->h);
  bool room = p->x && p->h;
  for (int i = 0; i < 3 && room; i++)
    room = (p->predicted[i] = cb_calloc((size_t)n, sizeof(double))) != NULL;
  if (!room)
    return cb_no_memory(err);
  CB_TRY(encode_points(p, space, values, n, err));
  return cb_proposer_predict(&study->proposer, &study->view, n, p->x, p->h,
                             p->predicted[0], p->predicted[1], p->predicted[2], err);
}

cocabo_status cb_study_predict(cocabo_study *study, const cocabo_value *values, int n,
                               double *mean, double *sd, double *feasible,
                               cocabo_error *err) {
  points p = {0};
  const cocabo_status status = predict(study, &p, values, n, err);
  for (int i = 0; i < n && status == COCABO_OK; i++) {
    mean[i] = study->fold.history->sign * p.predicted[0][i];
    if (sd)
      sd[i] = p.predicted[1][i];
    if (feasible)
      feasible[i] = p.predicted[2][i];
  }
  free_points(&p);
  return status;
}

const cb_history *cb_study_history(const cocabo_study *study) {
  return study->fold.history;
}

cocabo_status cb_study_overtaken(const cocabo_study *study, cocabo_error *err) {
  return cb_fail(err, COCABO_E_BUSY,
                 "study \"%s\": others took the next trial %d times in a row",
                 study->name, CB_STUDY_TRIES);
}

/* ---- saying ---------------------------------------------------------------------- */

void cb_study_say(const cocabo_study *study, cocabo_level level, const char *fmt, ...) {
  char sentence[sizeof((cocabo_error *)0)->message];
  va_list args;
  if (!study->log)
    return;
  va_start(args, fmt);
  vsnprintf(sentence, sizeof sentence, fmt, args);
  va_end(args);
  study->log(study->log_user, level, sentence);
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

/* The trial that the caller knows by a number, as it is now. */
static cocabo_status find_handed(cocabo_study *study, int64_t number,
                                 const cb_trial **out, cocabo_error *err) {
  CB_TRY(cb_study_sync(study, err));
  return cb_study_find(study, cb_handed_now(&study->handed, number), out, err);
}

/* Does it run, as far as we know, for who had it from this very handle? Then its result
 * needs no look at the log first: what others may have done to it changes nothing. */
static bool is_ours(const cocabo_study *study, int64_t number) {
  const cb_history *history = study->fold.history;
  return number >= 0 && number < history->n_trials && history->trials[number].handed &&
         history->trials[number].state == COCABO_RUNNING &&
         cb_handed_now(&study->handed, number) == number;
}

/* The trial as it is now, and whether the attempt is over because somebody else has
 * been given the trial since. */
static cocabo_status find_attempt(cocabo_study *study, int64_t number, int64_t attempt,
                                  bool look, const cb_trial **out, bool *over,
                                  cocabo_error *err) {
  if (look || !is_ours(study, number))
    CB_TRY(find_handed(study, number, out, err));
  else
    CB_TRY(cb_study_find(study, number, out, err));
  *over = attempt != CB_CURRENT && attempt < (*out)->attempt;
  if (attempt > (*out)->attempt)
    return cb_fail(err, COCABO_E_RANGE,
                   "trial %lld has no attempt %lld, the last is %lld",
                   (long long)number, (long long)attempt, (long long)(*out)->attempt);
  if (*over)
    cb_study_say(study, COCABO_INFO,
                 "attempt %lld of trial %lld is over: it has been handed out again",
                 (long long)attempt, (long long)number);
  return COCABO_OK;
}

/* An event that ends the attempt which the trial is at. */
static cb_event end_of(cb_event_kind kind, const cb_trial *trial) {
  return (cb_event){.kind = kind,
                    .number = trial->number,
                    .attempt = trial->attempt,
                    .has_attempt = true};
}

/* The attributes that the trial does not have yet, or with other values. */
static int find_news(const cb_trial *trial, const cocabo_record *record,
                     cb_pair news[static COCABO_MAX_ATTRS], int *n_names) {
  int n = 0;
  *n_names = trial->n_attributes;
  for (size_t i = 0; i < record->n_attrs; i++) {
    const cocabo_attr *attr = &record->attrs[i];
    const int place = cb_pairs_find(trial->attributes, trial->n_attributes, attr->name);
    if (place < 0 || strcmp(trial->attributes[place].value, attr->value) != 0)
      news[n++] = (cb_pair){(char *)attr->name, (char *)attr->value};
    *n_names += place < 0;
  }
  return n;
}

/* A value that does not count as one would think. */
static void say_unusual(const cocabo_study *study, int64_t number, double before,
                        double value) {
  char was[CB_DIGITS], is[CB_DIGITS];
  if (!isfinite(value) && !isfinite(before))
    cb_study_say(study, COCABO_WARNING, "trial %lld counts as failed: its %s",
                 (long long)number, why_not_finite(value));
  else if (isfinite(value) && isfinite(before) && before != value)
    cb_study_say(study, COCABO_WARNING,
                 "trial %lld has the value %s already: %s is kept as an extra",
                 (long long)number, cb_number_show(was, before),
                 cb_number_show(is, value));
}

/* Up to two events, which borrow what they point to. Attributes need memory when they
 * are folded in: where there is none, the next call does it. */
static cocabo_status try_record(cocabo_study *study, int64_t number, int64_t attempt,
                                const cocabo_record *record, bool look,
                                cocabo_error *err) {
  const bool finite = record->value && isfinite(*record->value);
  const char *reason =
      record->value && !finite ? why_not_finite(*record->value) : record->reason;
  const int n_metrics = (int)record->n_metrics;
  const cb_trial *trial = NULL;
  cb_event events[2] = {0};
  cb_pair news[COCABO_MAX_ATTRS];
  bool over = false;
  int n = 0, n_names = 0;
  CB_TRY(find_attempt(study, number, attempt, look || !finite, &trial, &over, err));
  if (over)
    return COCABO_OK;
  if (finite && !is_told(trial, *record->value, record->metrics, n_metrics))
    events[n++] = (cb_event){.kind = CB_TRIAL_TOLD,
                             .number = trial->number,
                             .has_y = true,
                             .y = *record->value,
                             .n_metrics = n_metrics,
                             .metrics = (cocabo_metric *)record->metrics};
  if (!finite && reason &&
      !(trial->state == COCABO_FAILED && strcmp(trial->reason, reason) == 0)) {
    events[n] = end_of(CB_TRIAL_FAILED, trial);
    events[n++].reason = (char *)reason;
  }
  const int n_news = find_news(trial, record, news, &n_names);
  if (n_names > COCABO_MAX_ATTRS)
    return cb_fail(err, COCABO_E_RANGE,
                   "trial %lld would have %d attributes, want at most %d",
                   (long long)number, n_names, COCABO_MAX_ATTRS);
  if (n_news > 0)
    events[n++] = (cb_event){.kind = CB_TRIAL_NOTED,
                             .number = trial->number,
                             .n_attributes = n_news,
                             .attributes = news};
  if (n == 0)
    return COCABO_OK;
  cb_history *history = study->fold.history;
  CB_TRY(cb_history_reserve(history, 0, reason ? strlen(reason) + 1 : 0, err));
  CB_TRY(cb_history_reserve_metrics(history,
                                    cb_metrics_bytes(record->metrics, n_metrics), err));
  const double before = trial->value; /* NaN unless it is complete */
  CB_TRY(cb_study_commit(study, events, n, -1, err));
  if (record->value)
    say_unusual(study, number, before, *record->value);
  return COCABO_OK;
}

cocabo_status cb_study_record(cocabo_study *study, int64_t number, int64_t attempt,
                              const cocabo_record *record, cocabo_error *err) {
  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = try_record(study, number, attempt, record, i > 0, err);
  if (status == COCABO_OK && (record->value || record->reason))
    cb_handed_drop(&study->handed, number);
  return status;
}

static cocabo_status try_report(cocabo_study *study, int64_t number, cocabo_step report,
                                cocabo_error *err) {
  const cb_trial *trial = NULL;
  CB_TRY(find_handed(study, number, &trial, err));
  int64_t i = trial->n_reports - 1;
  while (i >= 0 && trial->reports[i].step > report.step)
    i--;
  const bool again = i >= 0 && trial->reports[i].step == report.step;
  if (again && trial->reports[i].value == report.value)
    return COCABO_OK;
  if (!again && trial->n_reports >= COCABO_MAX_REPORTS)
    return cb_fail(err, COCABO_E_RANGE, "trial %lld has %lld reports, want at most %d",
                   (long long)number, (long long)trial->n_reports, COCABO_MAX_REPORTS);
  cb_event reported = {.kind = CB_TRIAL_REPORTED,
                       .number = trial->number,
                       .step = report.step,
                       .has_y = true,
                       .y = report.value};
  return cb_study_commit(study, &reported, 1, -1, err);
}

cocabo_status cb_study_report(cocabo_study *study, int64_t number, cocabo_step report,
                              cocabo_error *err) {
  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = try_report(study, number, report, err);
  return status;
}

static cocabo_status try_interrupt(cocabo_study *study, int64_t number, int64_t attempt,
                                   cocabo_error *err) {
  const cb_trial *trial = NULL;
  bool over = false;
  CB_TRY(find_attempt(study, number, attempt, true, &trial, &over, err));
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

cocabo_status cb_study_interrupt(cocabo_study *study, int64_t number, int64_t attempt,
                                 cocabo_error *err) {
  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = try_interrupt(study, number, attempt, err);
  if (status == COCABO_OK)
    cb_handed_drop(&study->handed, number);
  return status;
}

static cocabo_status try_retry(cocabo_study *study, int64_t number, cocabo_error *err) {
  const cb_trial *trial = NULL;
  CB_TRY(find_handed(study, number, &trial, err));
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
      .kind = CB_TRIAL_RETRIED, .number = trial->number, .attempt = trial->attempt};
  return cb_study_commit(study, &retried, 1, -1, err);
}

cocabo_status cb_study_retry(cocabo_study *study, int64_t number, cocabo_error *err) {
  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = try_retry(study, number, err);
  return status;
}

/* ---- changing -------------------------------------------------------------------- */

/* Appends the change and makes it known here; there is no conflict to lose. */
static cocabo_status try_change(cocabo_study *study, cb_event *changed,
                                cocabo_error *err) {
  cb_view_change change;
  CB_TRY(cb_study_sync(study, err));
  CB_TRY(cb_view_prepare(&change, &study->view, changed, err));
  cocabo_status status =
      check_sampler(&change.resolved, study->fold.history->space, err);
  if (status == COCABO_OK)
    status = cb_study_append(study, changed, 1, -1, err);
  if (status == COCABO_OK && changed->seq == study->fold.history->seq + 1)
    cb_view_adopt(&study->view, &change, changed);
  else if (status == COCABO_OK)
    (void)cb_study_sync(study, NULL);
  cb_view_change_clear(&change);
  return status;
}

static cocabo_status commit_change(cocabo_study *study, cb_event *changed,
                                   cocabo_error *err) {
  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = try_change(study, changed, err);
  return status;
}

static bool is_so_already(const cocabo_study *study, const cb_pair *option) {
  const char *present = cocabo_options_get(study->view.options, option->name);
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
