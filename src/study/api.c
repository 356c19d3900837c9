/* api.c - the public functions of a study: arguments are checked here, once. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "study/study.h"
#include "study/study_runs.h"
#include "study/trial.h"

enum { MAX_ASK = 100000, MAX_TEXT = 65536, MAX_POINTS = 1000 * 1000 };

static cocabo_status is_null(const char *what, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID, "%s is NULL", what);
}

/* A text of any kind: UTF-8, perhaps of several lines, and not too long. */
static cocabo_status check_text(const char *what, const char *text, cocabo_error *err) {
  if (!text)
    return is_null(what, err);
  const size_t length = strlen(text);
  if (length > MAX_TEXT)
    return cb_fail(err, COCABO_E_INVALID, "%s is %zu bytes long, want at most %d", what,
                   length, MAX_TEXT);
  if (!cb_text_is_utf8(text))
    return cb_fail(err, COCABO_E_INVALID, "%s is not valid UTF-8", what);
  return COCABO_OK;
}

/* ---- life ------------------------------------------------------------------------ */

static cocabo_status check_creation(cocabo_study **out, const char *name,
                                    const cocabo_space *space, cocabo_error *err) {
  if (!out)
    return is_null("out", err);
  *out = NULL;
  CB_TRY(cb_name_check("study name", name, err));
  if (!space)
    return is_null("space", err);
  return space->n > 0
             ? COCABO_OK
             : cb_fail(err, COCABO_E_INVALID, "the space is empty, want a parameter");
}

cocabo_status cocabo_study_create(cocabo_study **out, const char *name,
                                  const cocabo_space *space,
                                  const cocabo_options *options, cocabo_store *store,
                                  cocabo_error *err) {
  CB_TRY(check_creation(out, name, space, err));
  return cb_study_create(out, name, space, options, store, err);
}

cocabo_status cocabo_study_open(cocabo_study **out, const char *name,
                                cocabo_store *store, cocabo_error *err) {
  if (!out)
    return is_null("out", err);
  *out = NULL;
  CB_TRY(cb_name_check("study name", name, err));
  if (!store)
    return is_null("store", err);
  return cb_study_open(out, name, store, err);
}

cocabo_status cocabo_study_open_or_create(cocabo_study **out, const char *name,
                                          const cocabo_space *space,
                                          const cocabo_options *options,
                                          cocabo_store *store, int *created,
                                          cocabo_error *err) {
  bool is_new = false;
  CB_TRY(check_creation(out, name, space, err));
  CB_TRY(cb_study_open_or_create(out, name, space, options, store, &is_new, err));
  if (created)
    *created = is_new;
  return COCABO_OK;
}

void cocabo_study_free(cocabo_study *study) {
  cb_study_free(study);
}

cocabo_status cocabo_study_sync(cocabo_study *study, cocabo_error *err) {
  return study ? cb_study_sync(study, err) : is_null("study", err);
}

void cocabo_study_on_interrupt(cocabo_study *study, cocabo_interrupt_fn fn,
                               void *user) {
  if (!study)
    return;
  study->proposer.interrupt = fn;
  study->proposer.user = user;
}

void cocabo_study_on_log(cocabo_study *study, cocabo_log_fn fn, void *user) {
  if (!study)
    return;
  study->log = fn;
  study->log_user = user;
}

/* ---- options, attributes, leases ------------------------------------------------- */

static cocabo_status read_pairs(const char *const *names, const char *const *values,
                                size_t n, cb_pair *out, cocabo_error *err) {
  char shown[CB_SHOWN];
  for (size_t i = 0; i < n; i++) {
    if (!names[i])
      return cb_fail(err, COCABO_E_INVALID, "name %zu is NULL", i);
    cb_text_show(shown, names[i]);
    if (!values[i])
      return cb_fail(err, COCABO_E_INVALID, "option %s is NULL", shown);
    for (size_t earlier = 0; earlier < i; earlier++)
      if (strcmp(names[earlier], names[i]) == 0)
        return cb_fail(err, COCABO_E_INVALID, "option %s is given twice", shown);
    out[i] = (cb_pair){.name = (char *)names[i], .value = (char *)values[i]};
  }
  return COCABO_OK;
}

cocabo_status cocabo_study_change(cocabo_study *study, const char *const *names,
                                  const char *const *values, size_t n,
                                  cocabo_error *err) {
  enum { MOST = 1000 }; /* more than there are options */
  if (!study)
    return is_null("study", err);
  if (!names && n > 0)
    return is_null("names", err);
  if (!values && n > 0)
    return is_null("values", err);
  if (n > MOST)
    return cb_fail(err, COCABO_E_RANGE, "n is %zu, want at most %d", n, MOST);
  cb_pair *pairs = cb_calloc(n, sizeof *pairs);
  if (!pairs)
    return cb_no_memory(err);
  cocabo_status status = read_pairs(names, values, n, pairs, err);
  if (status == COCABO_OK)
    status = cb_study_change(study, pairs, n, err);
  cb_free(pairs);
  return status;
}

cocabo_status cocabo_study_set_attr(cocabo_study *study, const char *name,
                                    const char *value, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  CB_TRY(cb_name_check("attribute name", name, err));
  CB_TRY(check_text("attribute", value, err));
  const cb_pair pair = {.name = (char *)name, .value = (char *)value};
  return cb_study_set_attribute(study, &pair, err);
}

cocabo_status cocabo_study_lease(cocabo_study *study, const char *owner, double seconds,
                                 cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  CB_TRY(cb_lease_check(seconds, true, err));
  if (seconds == 0.0)
    return cb_study_lease(study, NULL, 0.0, err);
  CB_TRY(cb_name_check("lease owner", owner, err));
  return cb_study_lease(study, owner, seconds, err);
}

const char *cocabo_study_name(const cocabo_study *study) {
  return study ? study->name : NULL;
}

const cocabo_space *cocabo_study_space(const cocabo_study *study) {
  return study ? study->space : NULL;
}

const char *cocabo_study_option(const cocabo_study *study, const char *name) {
  return study ? cocabo_options_get(study->view.options, name) : NULL;
}

const char *cocabo_study_attr(const cocabo_study *study, const char *name) {
  return study && name ? cb_fold_attribute(&study->fold, name) : NULL;
}

/* ---- ask and tell ---------------------------------------------------------------- */

static cocabo_status ask(cocabo_study *study, size_t n, bool fewer, cocabo_trial **out,
                         size_t *got, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!out)
    return is_null("out", err);
  if (n < 1 || n > MAX_ASK)
    return cb_fail(err, COCABO_E_RANGE, "n is %zu, want 1 to %d", n, MAX_ASK);
  if (study->view.resolved.race.on)
    return cb_fail(err, COCABO_E_STATE,
                   "study \"%s\" is evaluated run by run, want cocabo_study_ask_run",
                   study->name);
  return cb_study_ask(study, (int)n, fewer, out, got, err);
}

cocabo_status cocabo_study_ask_run(cocabo_study *study, cocabo_trial **trial,
                                   cocabo_run *run, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!trial)
    return is_null("trial", err);
  if (!run)
    return is_null("run", err);
  if (!study->view.resolved.race.on)
    return cb_fail(err, COCABO_E_STATE,
                   "study \"%s\" has no runs: none of its options instances, seeds and "
                   "repeats says so",
                   study->name);
  CB_TRY(cb_study_ask_run(study, trial, err));
  *run = *cb_trial_last_run(*trial);
  return COCABO_OK;
}

cocabo_status cocabo_study_tell_run(cocabo_study *study, const cocabo_run *run,
                                    const cocabo_metric *metrics, size_t n,
                                    const char *reason, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!run)
    return is_null("run", err);
  if (!metrics && n > 0)
    return is_null("metrics", err);
  if (run->state < COCABO_RUN_OK || run->state > COCABO_RUN_DISCARDED)
    return cb_fail(err, COCABO_E_INVALID,
                   "the state of run %lld is %d, want ok, failed, capped or discarded",
                   (long long)run->run, (int)run->state);
  if (!(run->seconds >= 0.0 && isfinite(run->seconds)))
    return cb_fail(err, COCABO_E_RANGE, "a run took %g seconds, want 0 or more",
                   run->seconds);
  CB_TRY(cb_metrics_check(metrics, n, err));
  if (reason)
    CB_TRY(check_text("reason", reason, err));
  return cb_study_tell_run(study, run, metrics, (int)n, reason, err);
}

int64_t cocabo_study_runs(const cocabo_study *study, int64_t *running) {
  if (running)
    *running = study ? study->fold.history->n_flying : 0;
  return study ? study->fold.history->n_started : 0;
}

cocabo_status cocabo_study_ask(cocabo_study *study, size_t n, cocabo_trial **out,
                               cocabo_error *err) {
  size_t unwanted;
  return ask(study, n, false, out, &unwanted, err);
}

cocabo_status cocabo_study_ask_up_to(cocabo_study *study, size_t n, cocabo_trial **out,
                                     size_t *got, cocabo_error *err) {
  if (!got)
    return is_null("got", err);
  *got = 0;
  return ask(study, n, true, out, got, err);
}

cocabo_status cocabo_study_tell(cocabo_study *study, int64_t number, double value,
                                cocabo_error *err) {
  return cocabo_study_tell_metrics(study, number, value, NULL, 0, err);
}

cocabo_status cocabo_study_tell_metrics(cocabo_study *study, int64_t number,
                                        double value, const cocabo_metric *metrics,
                                        size_t n, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!metrics && n > 0)
    return is_null("metrics", err);
  CB_TRY(cb_metrics_check(metrics, n, err));
  const cocabo_record record = {.value = &value, .metrics = metrics, .n_metrics = n};
  return cb_study_record(study, number, CB_CURRENT, &record, err);
}

static cocabo_status check_attrs(const cocabo_attr *attrs, size_t n,
                                 cocabo_error *err) {
  if (!attrs && n > 0)
    return is_null("attrs", err);
  if (n > COCABO_MAX_ATTRS)
    return cb_fail(err, COCABO_E_RANGE, "there are %zu attributes, want at most %d", n,
                   COCABO_MAX_ATTRS);
  for (size_t i = 0; i < n; i++) {
    CB_TRY(cb_name_check("attribute name", attrs[i].name, err));
    CB_TRY(check_text("attribute", attrs[i].value, err));
    for (size_t k = 0; k < i; k++)
      if (strcmp(attrs[k].name, attrs[i].name) == 0)
        return cb_fail(err, COCABO_E_INVALID, "attribute \"%s\" is given twice",
                       attrs[i].name);
  }
  return COCABO_OK;
}

static cocabo_status check_report(cocabo_step report, cocabo_error *err) {
  char shown[CB_DIGITS];
  if (report.step < 0)
    return cb_fail(err, COCABO_E_RANGE, "step is %lld, want 0 or more",
                   (long long)report.step);
  if (!isfinite(report.value))
    return cb_fail(err, COCABO_E_INVALID,
                   "the value of step %lld is %s, want a finite number",
                   (long long)report.step, cb_number_show(shown, report.value));
  return COCABO_OK;
}

cocabo_status cocabo_study_note(cocabo_study *study, int64_t number, const char *name,
                                const char *value, cocabo_error *err) {
  const cocabo_attr attr = {name, value};
  const cocabo_record record = {.attrs = &attr, .n_attrs = 1};
  return cocabo_study_record(study, number, &record, err);
}

cocabo_status cocabo_study_record(cocabo_study *study, int64_t number,
                                  const cocabo_record *record, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!record)
    return is_null("record", err);
  if (!record->metrics && record->n_metrics > 0)
    return is_null("metrics", err);
  if (record->value && record->reason)
    return cb_fail(err, COCABO_E_INVALID, "there are a value and a reason, want one");
  if (!record->value && record->n_metrics > 0)
    return cb_fail(err, COCABO_E_INVALID, "there are metrics and no value");
  CB_TRY(cb_metrics_check(record->metrics, record->n_metrics, err));
  if (record->reason)
    CB_TRY(check_text("reason", record->reason, err));
  CB_TRY(check_attrs(record->attrs, record->n_attrs, err));
  return cb_study_record(study, number, CB_CURRENT, record, err);
}

cocabo_status cocabo_study_report(cocabo_study *study, int64_t number, int64_t step,
                                  double value, cocabo_error *err) {
  const cocabo_step report = {step, value};
  if (!study)
    return is_null("study", err);
  CB_TRY(check_report(report, err));
  return cb_study_report(study, number, report, err);
}

cocabo_status cocabo_study_fail(cocabo_study *study, int64_t number, const char *reason,
                                cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  CB_TRY(check_text("reason", reason, err));
  return cb_study_record(study, number, CB_CURRENT, &(cocabo_record){.reason = reason},
                         err);
}

static cocabo_status check_attempt(int64_t attempt, cocabo_error *err) {
  return attempt >= 0 ? COCABO_OK
                      : cb_fail(err, COCABO_E_RANGE, "attempt is %lld, want 0 or more",
                                (long long)attempt);
}

cocabo_status cocabo_study_fail_attempt(cocabo_study *study, int64_t number,
                                        int64_t attempt, const char *reason,
                                        cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  CB_TRY(check_attempt(attempt, err));
  CB_TRY(check_text("reason", reason, err));
  return cb_study_record(study, number, attempt, &(cocabo_record){.reason = reason},
                         err);
}

cocabo_status cocabo_study_interrupt(cocabo_study *study, int64_t number,
                                     cocabo_error *err) {
  return study ? cb_study_interrupt(study, number, CB_CURRENT, err)
               : is_null("study", err);
}

cocabo_status cocabo_study_interrupt_attempt(cocabo_study *study, int64_t number,
                                             int64_t attempt, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  CB_TRY(check_attempt(attempt, err));
  return cb_study_interrupt(study, number, attempt, err);
}

cocabo_status cocabo_study_retry(cocabo_study *study, int64_t number,
                                 cocabo_error *err) {
  return study ? cb_study_retry(study, number, err) : is_null("study", err);
}

/* ---- adding points --------------------------------------------------------------- */

/* given[i] says whether parameter i has been named. */
static cocabo_status read_values(const cocabo_space *space, const char *const *names,
                                 const cocabo_value *values, size_t n, bool *given,
                                 cb_cell *cells, cocabo_error *err) {
  for (size_t k = 0; k < n; k++) {
    if (!names[k])
      return cb_fail(err, COCABO_E_INVALID, "name %zu is NULL", k);
    const int i = cb_space_find(space, names[k]);
    if (i < 0)
      return cb_no_parameter(space, names[k], err);
    if (given[i])
      return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" is given twice",
                     names[k]);
    CB_TRY(cb_space_to_cell(space, i, &values[k], &cells[i], err));
    given[i] = true;
  }
  const cocabo_value absent = {.type = COCABO_ABSENT};
  for (int i = 0; i < space->n; i++)
    if (!given[i])
      CB_TRY(cb_space_to_cell(space, i, &absent, &cells[i], err));
  return cb_space_check_active(space, cells, err);
}

cocabo_status cocabo_study_add(cocabo_study *study, const char *const *names,
                               const cocabo_value *values, size_t n,
                               const double *result, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!names && n > 0)
    return is_null("names", err);
  if (!values && n > 0)
    return is_null("values", err);
  if (result && !isfinite(*result)) {
    char shown[CB_DIGITS];
    return cb_fail(err, COCABO_E_INVALID, "result is %s, want a finite number",
                   cb_number_show(shown, *result));
  }
  bool given[COCABO_MAX_PARAMETERS] = {false};
  cb_cell cells[COCABO_MAX_PARAMETERS];
  CB_TRY(read_values(study->fold.history->space, names, values, n, given, cells, err));
  if (!result)
    CB_TRY(cb_space_check_rules(study->fold.history->space, cells, err));
  return cb_study_add(study, cells, result, err);
}

/* ---- adding many ----------------------------------------------------------------- */

enum { MAX_KNOWN = 10 * 1000 * 1000 };

static cocabo_status check_notes(const cocabo_known *known, cocabo_error *err) {
  CB_TRY(check_attrs(known->attrs, known->n_attrs, err));
  if (!known->reports && known->n_reports > 0)
    return is_null("reports", err);
  if (known->n_reports > COCABO_MAX_REPORTS)
    return cb_fail(err, COCABO_E_RANGE, "there are %zu reports, want at most %d",
                   known->n_reports, COCABO_MAX_REPORTS);
  for (size_t k = 0; k < known->n_reports; k++)
    CB_TRY(check_report(known->reports[k], err));
  return COCABO_OK;
}

static cocabo_status check_known(const cocabo_known *known, cocabo_error *err) {
  char shown[CB_DIGITS];
  if (!known->values)
    return is_null("values", err);
  CB_TRY(check_notes(known, err));
  switch (known->state) {
  case COCABO_WAITING:
  case COCABO_RUNNING:
    return COCABO_OK;
  case COCABO_FAILED:
    return known->reason ? check_text("reason", known->reason, err) : COCABO_OK;
  case COCABO_COMPLETE:
    if (!isfinite(known->value))
      return cb_fail(err, COCABO_E_INVALID, "value is %s, want a finite number",
                     cb_number_show(shown, known->value));
    if (!known->metrics && known->n_metrics > 0)
      return is_null("metrics", err);
    return cb_metrics_check(known->metrics, known->n_metrics, err);
  default:
    return cb_fail(err, COCABO_E_INVALID,
                   "state is %d, want complete, failed, running or waiting",
                   (int)known->state);
  }
}

static cocabo_status check_all_known(const cocabo_study *study,
                                     const cocabo_known *trials, size_t n,
                                     cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!trials && n > 0)
    return is_null("trials", err);
  if (n > MAX_KNOWN)
    return cb_fail(err, COCABO_E_RANGE, "n is %zu, want at most %d", n, MAX_KNOWN);
  for (size_t i = 0; i < n; i++) {
    cocabo_error why;
    const cocabo_status status = check_known(&trials[i], &why);
    if (status != COCABO_OK)
      return cb_fail(err, status, "trial %zu: %s", i, why.message);
  }
  return COCABO_OK;
}

cocabo_status cocabo_study_add_many(cocabo_study *study, cocabo_known *trials, size_t n,
                                    cocabo_error *err) {
  CB_TRY(check_all_known(study, trials, n, err));
  return cb_study_add_many(study, trials, (int64_t)n, err);
}

cocabo_status cocabo_study_merge(cocabo_study *study, cocabo_known *trials, size_t n,
                                 int64_t *added, cocabo_error *err) {
  int64_t unwanted;
  CB_TRY(check_all_known(study, trials, n, err));
  return cb_study_merge(study, trials, (int64_t)n, added ? added : &unwanted, err);
}

cocabo_status cocabo_study_copy(const cocabo_study *study, const char *name,
                                cocabo_store *to, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  CB_TRY(cb_name_check("study name", name, err));
  if (!to)
    return is_null("to", err);
  return cb_study_copy(study, name, to, err);
}

/* ---- looking --------------------------------------------------------------------- */

cocabo_status cocabo_study_best(cocabo_study *study, cocabo_trial **out,
                                cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!out)
    return is_null("out", err);
  const cb_trial *trial = NULL;
  CB_TRY(cb_study_best(study, &trial, err));
  return cb_trial_snapshot(out, &study->view, trial, err);
}

cocabo_status cocabo_study_expected(cocabo_study *study, int64_t number, double *value,
                                    double *se, cocabo_error *err) {
  const cb_trial *trial = NULL;
  if (!study)
    return is_null("study", err);
  if (!value)
    return is_null("value", err);
  if (!se)
    return is_null("se", err);
  CB_TRY(cb_study_find(study, number, &trial, err));
  return cb_study_expected(study, trial, value, se, err);
}

cocabo_status cocabo_study_predict(cocabo_study *study, const cocabo_value *points,
                                   size_t n, double *mean, double *sd,
                                   double *p_feasible, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!points && n > 0)
    return is_null("points", err);
  if (!mean && n > 0)
    return is_null("mean", err);
  if (n > MAX_POINTS)
    return cb_fail(err, COCABO_E_RANGE, "n is %zu, want at most %d", n, MAX_POINTS);
  return cb_study_predict(study, points, (int)n, mean, sd, p_feasible, err);
}

cocabo_status cocabo_study_importance(const cocabo_study *study, size_t n,
                                      double *share, double *se, double *explained,
                                      cocabo_error *err) {
  double unwanted;
  if (!study)
    return is_null("study", err);
  if (!share)
    return is_null("share", err);
  const size_t count = (size_t)study->fold.history->space->n;
  if (n != count)
    return cb_fail(err, COCABO_E_INVALID,
                   "n is %zu, want the number of parameters, %zu", n, count);
  return cb_study_importance(study, share, se, explained ? explained : &unwanted, err);
}

int64_t cocabo_study_count(const cocabo_study *study) {
  return study ? study->fold.history->n_trials : 0;
}

cocabo_status cocabo_study_trial(const cocabo_study *study, int64_t number,
                                 cocabo_trial **out, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!out)
    return is_null("out", err);
  const cb_trial *trial = NULL;
  CB_TRY(cb_study_find(study, number, &trial, err));
  return cb_trial_snapshot(out, &study->view, trial, err);
}

static cocabo_status check_columns(const cocabo_columns *columns, cocabo_error *err) {
  if (columns->n_metrics > COCABO_MAX_METRICS)
    return cb_fail(err, COCABO_E_RANGE, "there are %zu metrics, want at most %d",
                   columns->n_metrics, COCABO_MAX_METRICS);
  if (columns->n_metrics > 0 && !columns->metric_names)
    return is_null("metric_names", err);
  for (size_t i = 0; i < columns->n_metrics; i++)
    if (!columns->metric_names[i])
      return cb_fail(err, COCABO_E_INVALID, "metric name %zu is NULL", i);
  return COCABO_OK;
}

cocabo_status cocabo_study_columns(const cocabo_study *study, int64_t first, size_t n,
                                   const cocabo_columns *columns, cocabo_error *err) {
  const cb_trial *trial;
  if (!study)
    return is_null("study", err);
  if (!columns)
    return is_null("columns", err);
  CB_TRY(check_columns(columns, err));
  if (n == 0)
    return COCABO_OK;
  CB_TRY(cb_study_find(study, first, &trial, err));
  const int64_t left = study->fold.history->n_trials - first;
  if (n > (uint64_t)left)
    return cb_fail(err, COCABO_E_NOT_FOUND,
                   "study \"%s\" has %lld trials from %lld on, want %zu", study->name,
                   (long long)left, (long long)first, n);
  cb_study_columns(study, first, (int64_t)n, columns);
  return COCABO_OK;
}

int64_t cocabo_study_seq(const cocabo_study *study) {
  return study ? study->fold.history->seq : 0;
}

int64_t cocabo_study_count_state(const cocabo_study *study, cocabo_trial_state state) {
  return study ? cb_history_count(study->fold.history, state) : 0;
}

cocabo_status cocabo_study_verify(cocabo_study *study, int64_t proposals,
                                  cocabo_report *out, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!out)
    return is_null("out", err);
  if (proposals < -1)
    return cb_fail(err, COCABO_E_RANGE, "proposals is %lld, want -1 or more",
                   (long long)proposals);
  return cb_study_verify(study, proposals, out, err);
}
