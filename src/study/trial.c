/* trial.c - a trial as the user holds it: a snapshot with the space that its values are
 * read by.
 */
#include "study/trial.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "log/constraints.h"
#include "log/runs.h"

/* One block: the cells, then the metrics with their names, then the reason. */
struct cocabo_trial {
  cocabo_space *space; /* shared */
  int64_t number;
  cocabo_trial_state state;
  cb_origin origin;
  int64_t attempt;
  uint64_t seed;
  double started, finished; /* NaN: not yet */
  double value;
  const char *reason;
  int feasible; /* 1, 0, or -1: unknown */
  int n_metrics;
  const cocabo_metric *metrics;
  size_t n_attrs, n_reports;
  cocabo_attr *attrs; /* a block of its own, as are the reports; NULL: none */
  cocabo_step *reports;
  size_t n_runs;
  cocabo_run *runs; /* a block of its own, as is each instance; NULL: none */
  double error;     /* of the value; NaN: not known */
  cb_cell cells[];
};

static uint64_t seed_of(const cb_fold *fold, int64_t number) {
  cb_rng rng = cb_rng_make(fold->trial_seed, CB_RNG_TRIAL, (uint64_t)number);
  return cb_rng_u64(&rng);
}

/* One block: the pairs, then their texts. */
static bool copy_attrs(cocabo_trial *copy, const cb_pair *pairs, int n) {
  size_t bytes = 0;
  if (n == 0)
    return true;
  for (int i = 0; i < n; i++)
    bytes += strlen(pairs[i].name) + strlen(pairs[i].value) + 2;
  copy->attrs = cb_calloc(1, (size_t)n * sizeof *copy->attrs + bytes);
  if (!copy->attrs)
    return false;
  char *text = (char *)(copy->attrs + n);
  for (int i = 0; i < n; i++) {
    copy->attrs[i].name = strcpy(text, pairs[i].name);
    text += strlen(text) + 1;
    copy->attrs[i].value = strcpy(text, pairs[i].value);
    text += strlen(text) + 1;
  }
  copy->n_attrs = (size_t)n;
  return true;
}

static bool copy_reports(cocabo_trial *copy, const cb_trial *trial) {
  const size_t n = (size_t)trial->n_reports;
  if (n == 0)
    return true;
  copy->reports = cb_calloc(n, sizeof *copy->reports);
  if (!copy->reports)
    return false;
  memcpy(copy->reports, trial->reports, n * sizeof *copy->reports);
  copy->n_reports = n;
  return true;
}

static bool append_run(cocabo_trial *copy, const cocabo_run *run) {
  cocabo_run *grown = cb_realloc(copy->runs, copy->n_runs + 1, sizeof *grown);
  if (!grown)
    return false;
  copy->runs = grown;
  grown[copy->n_runs] = *run;
  if (run->instance) {
    grown[copy->n_runs].instance = cb_strdup(run->instance);
    if (!grown[copy->n_runs].instance)
      return false;
  }
  copy->n_runs++;
  return true;
}

static bool copy_runs(cocabo_trial *copy, const cb_history *history,
                      const cb_trial *trial) {
  for (int64_t i = 0; i < trial->n_runs; i++) {
    const cb_run *run = &trial->runs[i];
    const cb_pairing *pair = &history->pairs[run->pair];
    const cocabo_run shown = {.trial = trial->number,
                              .run = i,
                              .instance = pair->instance,
                              .seed = pair->seed,
                              .cap = INFINITY,
                              .state = (cocabo_run_state)run->outcome,
                              .value = run->value,
                              .seconds = run->seconds};
    if (!append_run(copy, &shown))
      return false;
  }
  if (trial->n_counted > 0 && trial->state == COCABO_COMPLETE)
    (void)cb_runs_combined(history, trial, &copy->error);
  return true;
}

cocabo_status cb_trial_add_run(cocabo_trial *trial, const cb_event *started, double cap,
                               cocabo_error *err) {
  const cocabo_run run = {.trial = started->number,
                          .run = started->attempt,
                          .instance = started->instance,
                          .seed = started->seed,
                          .cap = cap,
                          .value = NAN};
  return append_run(trial, &run) ? COCABO_OK : cb_no_memory(err);
}

const cocabo_run *cb_trial_last_run(const cocabo_trial *trial) {
  return &trial->runs[trial->n_runs - 1];
}

const cocabo_run *cocabo_trial_runs(const cocabo_trial *trial, size_t *n) {
  if (n)
    *n = trial ? trial->n_runs : 0;
  return trial ? trial->runs : NULL;
}

double cocabo_trial_error(const cocabo_trial *trial) {
  return trial ? trial->error : NAN;
}

cocabo_status cb_trial_snapshot(cocabo_trial **out, const cb_view *view,
                                const cb_trial *trial, cocabo_error *err) {
  const cb_fold *fold = view->fold;
  const cb_settings *settings = &view->resolved.settings;
  cocabo_space *space = fold->history->space;
  const char *reason = trial->reason ? trial->reason : "";
  const size_t cell_bytes = (size_t)space->n * sizeof(cb_cell);
  const size_t reason_bytes = strlen(reason) + 1;
  const size_t metric_bytes = cb_metrics_bytes(trial->metrics, trial->n_metrics);
  cocabo_trial *copy =
      cb_calloc(1, sizeof *copy + cell_bytes + metric_bytes + reason_bytes);
  if (!copy)
    return cb_no_memory(err);
  copy->space = cb_space_share(space);
  copy->number = trial->number;
  copy->state = trial->state;
  copy->origin = trial->origin;
  copy->attempt = trial->attempt;
  copy->seed = seed_of(fold, trial->number);
  copy->started = trial->started;
  copy->finished = trial->finished;
  copy->value = trial->value;
  copy->feasible =
      cb_constraints_hold(settings->constraints, trial, settings->objective);
  memcpy(copy->cells, trial->cells, cell_bytes);
  copy->n_metrics = trial->n_metrics;
  copy->metrics =
      cb_metrics_pack(copy->cells + space->n, trial->metrics, trial->n_metrics);
  copy->reason =
      memcpy((char *)(copy->cells + space->n) + metric_bytes, reason, reason_bytes);
  copy->error = NAN;
  if (!copy_attrs(copy, trial->attributes, trial->n_attributes) ||
      !copy_reports(copy, trial) || !copy_runs(copy, fold->history, trial)) {
    cocabo_trial_free(copy);
    return cb_no_memory(err);
  }
  *out = copy;
  return COCABO_OK;
}

void cb_trial_set_started(cocabo_trial *trial, double time) {
  trial->started = time;
}

cocabo_status cb_no_parameter(const cocabo_space *space, const char *name,
                              cocabo_error *err) {
  char shown[CB_SHOWN];
  cb_guess guess = {.word = name};
  for (int i = 0; i < space->n; i++)
    cb_guess_consider(&guess, space->params[i].name);
  cb_text_show(shown, name);
  if (guess.closest)
    return cb_fail(err, COCABO_E_NOT_FOUND, "no parameter \"%s\", did you mean \"%s\"?",
                   shown, guess.closest);
  return cb_fail(err, COCABO_E_NOT_FOUND, "no parameter \"%s\"", shown);
}

/* ---- the public face ------------------------------------------------------------- */

void cocabo_trial_free(cocabo_trial *trial) {
  if (!trial)
    return;
  cocabo_space_free(trial->space);
  cb_free(trial->attrs);
  cb_free(trial->reports);
  for (size_t i = 0; i < trial->n_runs; i++)
    cb_free((char *)trial->runs[i].instance);
  cb_free(trial->runs);
  cb_free(trial);
}

int64_t cocabo_trial_number(const cocabo_trial *trial) {
  return trial ? trial->number : -1;
}

cocabo_trial_state cocabo_trial_get_state(const cocabo_trial *trial) {
  return trial ? trial->state : COCABO_WAITING;
}

const char *cocabo_state_name(cocabo_trial_state state) {
  switch (state) {
  case COCABO_WAITING:
    return "waiting";
  case COCABO_RUNNING:
    return "running";
  case COCABO_COMPLETE:
    return "complete";
  case COCABO_FAILED:
    return "failed";
  case COCABO_INTERRUPTED:
    return "interrupted";
  case COCABO_STALE:
    return "stale";
  }
  return "unknown state";
}

double cocabo_trial_value(const cocabo_trial *trial) {
  return trial ? trial->value : NAN;
}

const char *cocabo_trial_reason(const cocabo_trial *trial) {
  return trial ? trial->reason : "";
}

int cocabo_trial_feasible(const cocabo_trial *trial) {
  return trial ? trial->feasible : -1;
}

double cocabo_trial_started(const cocabo_trial *trial) {
  return trial ? trial->started : NAN;
}

double cocabo_trial_finished(const cocabo_trial *trial) {
  return trial ? trial->finished : NAN;
}

int64_t cocabo_trial_attempt(const cocabo_trial *trial) {
  return trial ? trial->attempt : 0;
}

uint64_t cocabo_trial_seed(const cocabo_trial *trial) {
  return trial ? trial->seed : 0;
}

_Static_assert((int)CB_BY_DESIGN == (int)COCABO_ORIGIN_DESIGN &&
                   (int)CB_BY_SAMPLER == (int)COCABO_ORIGIN_SAMPLER &&
                   (int)CB_BY_USER == (int)COCABO_ORIGIN_USER,
               "inside and outside they are the same");

cocabo_origin cocabo_trial_origin(const cocabo_trial *trial) {
  return trial ? (cocabo_origin)trial->origin : COCABO_ORIGIN_USER;
}

const char *cocabo_origin_name(cocabo_origin origin) {
  switch (origin) {
  case COCABO_ORIGIN_DESIGN:
    return "design";
  case COCABO_ORIGIN_SAMPLER:
    return "sampler";
  case COCABO_ORIGIN_USER:
    return "user";
  }
  return "unknown origin";
}

size_t cocabo_trial_count(const cocabo_trial *trial) {
  return trial ? (size_t)trial->space->n : 0;
}

static cocabo_status find(const cocabo_trial *trial, const char *name, const void *out,
                          int *i, cocabo_error *err) {
  if (!trial)
    return cb_fail(err, COCABO_E_INVALID, "trial is NULL");
  if (!name)
    return cb_fail(err, COCABO_E_INVALID, "parameter name is NULL");
  if (!out)
    return cb_fail(err, COCABO_E_INVALID, "out is NULL");
  *i = cb_space_find(trial->space, name);
  return *i >= 0 ? COCABO_OK : cb_no_parameter(trial->space, name, err);
}

static cocabo_status wrong_kind(const cb_param *p, const char *want,
                                cocabo_error *err) {
  static const char *const kinds[] = {
      [CB_REAL] = "a real",
      [CB_INTEGER] = "an int",
      [CB_CHOICE] = "a choice",
      [CB_ORDINAL] = "a choice",
  };
  return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" is %s, want %s", p->name,
                 kinds[p->kind], want);
}

static cocabo_status check_is_active(const cocabo_trial *trial, int i,
                                     cocabo_error *err) {
  if (cb_cell_is_active(trial->cells[i]))
    return COCABO_OK;
  return cb_fail(err, COCABO_E_NOT_FOUND, "parameter \"%s\" is inactive in trial %lld",
                 trial->space->params[i].name, (long long)trial->number);
}

cocabo_status cocabo_trial_get_real(const cocabo_trial *trial, const char *name,
                                    double *out, cocabo_error *err) {
  int i = 0;
  CB_TRY(find(trial, name, out, &i, err));
  const cb_param *p = &trial->space->params[i];
  if (p->kind != CB_REAL && p->kind != CB_INTEGER)
    return wrong_kind(p, "a real or an int", err);
  CB_TRY(check_is_active(trial, i, err));
  const cb_cell cell = trial->cells[i];
  *out = p->kind == CB_REAL ? cell.real : (double)cell.integer;
  return COCABO_OK;
}

cocabo_status cocabo_trial_get_int(const cocabo_trial *trial, const char *name,
                                   int64_t *out, cocabo_error *err) {
  int i = 0;
  CB_TRY(find(trial, name, out, &i, err));
  const cb_param *p = &trial->space->params[i];
  if (p->kind != CB_INTEGER)
    return wrong_kind(p, "an int", err);
  CB_TRY(check_is_active(trial, i, err));
  *out = trial->cells[i].integer;
  return COCABO_OK;
}

cocabo_status cocabo_trial_get_choice(const cocabo_trial *trial, const char *name,
                                      cocabo_value *out, cocabo_error *err) {
  int i = 0;
  CB_TRY(find(trial, name, out, &i, err));
  const cb_param *p = &trial->space->params[i];
  if (p->kind != CB_CHOICE && p->kind != CB_ORDINAL)
    return wrong_kind(p, "a choice", err);
  CB_TRY(check_is_active(trial, i, err));
  *out = cb_space_from_cell(trial->space, i, trial->cells[i]);
  return COCABO_OK;
}

static cocabo_status check_index(const cocabo_trial *trial, size_t i,
                                 cocabo_error *err) {
  return i < (size_t)trial->space->n
             ? COCABO_OK
             : cb_fail(err, COCABO_E_RANGE, "parameter index is %zu, want 0 to %d", i,
                       trial->space->n - 1);
}

cocabo_status cocabo_trial_get(const cocabo_trial *trial, size_t i, const char **name,
                               cocabo_value *value, cocabo_error *err) {
  if (!trial)
    return cb_fail(err, COCABO_E_INVALID, "trial is NULL");
  if (!name || !value)
    return cb_fail(err, COCABO_E_INVALID, "%s is NULL", name ? "value" : "name");
  CB_TRY(check_index(trial, i, err));
  *name = trial->space->params[i].name;
  *value = cb_space_from_cell(trial->space, (int)i, trial->cells[i]);
  return COCABO_OK;
}

cocabo_status cocabo_trial_values(const cocabo_trial *trial, cocabo_value *out,
                                  size_t n, cocabo_error *err) {
  if (!trial)
    return cb_fail(err, COCABO_E_INVALID, "trial is NULL");
  if (!out)
    return cb_fail(err, COCABO_E_INVALID, "out is NULL");
  if (n != (size_t)trial->space->n)
    return cb_fail(err, COCABO_E_INVALID, "n is %zu, want the number of parameters, %d",
                   n, trial->space->n);
  for (int i = 0; i < trial->space->n; i++)
    out[i] = cb_space_from_cell(trial->space, i, trial->cells[i]);
  return COCABO_OK;
}

cocabo_status cocabo_trial_choice_index(const cocabo_trial *trial, size_t i,
                                        size_t *index, cocabo_error *err) {
  if (!trial)
    return cb_fail(err, COCABO_E_INVALID, "trial is NULL");
  if (!index)
    return cb_fail(err, COCABO_E_INVALID, "index is NULL");
  CB_TRY(check_index(trial, i, err));
  const cb_param *p = &trial->space->params[i];
  if (p->kind != CB_CHOICE && p->kind != CB_ORDINAL)
    return wrong_kind(p, "a choice", err);
  CB_TRY(check_is_active(trial, (int)i, err));
  *index = (size_t)trial->cells[i].integer;
  return COCABO_OK;
}

/* ---- metrics --------------------------------------------------------------------- */

const cocabo_metric *cocabo_trial_metrics(const cocabo_trial *trial, size_t *n) {
  const size_t count = trial ? (size_t)trial->n_metrics : 0;
  if (n)
    *n = count;
  return count > 0 ? trial->metrics : NULL;
}

static cocabo_status no_metric(const cocabo_trial *trial, const char *name,
                               cocabo_error *err) {
  char shown[CB_SHOWN];
  cb_guess guess = {.word = name};
  for (int i = 0; i < trial->n_metrics; i++)
    cb_guess_consider(&guess, trial->metrics[i].name);
  cb_text_show(shown, name);
  if (guess.closest)
    return cb_fail(err, COCABO_E_NOT_FOUND,
                   "trial %lld has no metric \"%s\", did you mean \"%s\"?",
                   (long long)trial->number, shown, guess.closest);
  return cb_fail(err, COCABO_E_NOT_FOUND, "trial %lld has no metric \"%s\"",
                 (long long)trial->number, shown);
}

cocabo_status cocabo_trial_get_metric(const cocabo_trial *trial, const char *name,
                                      double *out, cocabo_error *err) {
  if (!trial)
    return cb_fail(err, COCABO_E_INVALID, "trial is NULL");
  if (!name)
    return cb_fail(err, COCABO_E_INVALID, "metric name is NULL");
  if (!out)
    return cb_fail(err, COCABO_E_INVALID, "out is NULL");
  for (int i = 0; i < trial->n_metrics; i++)
    if (strcmp(trial->metrics[i].name, name) == 0) {
      *out = trial->metrics[i].value;
      return COCABO_OK;
    }
  return no_metric(trial, name, err);
}

/* ---- attributes and reports ------------------------------------------------------ */

const cocabo_attr *cocabo_trial_attrs(const cocabo_trial *trial, size_t *n) {
  if (n)
    *n = trial ? trial->n_attrs : 0;
  return trial ? trial->attrs : NULL;
}

const char *cocabo_trial_attr(const cocabo_trial *trial, const char *name) {
  for (size_t i = 0; trial && name && i < trial->n_attrs; i++)
    if (strcmp(trial->attrs[i].name, name) == 0)
      return trial->attrs[i].value;
  return NULL;
}

const cocabo_step *cocabo_trial_reports(const cocabo_trial *trial, size_t *n) {
  if (n)
    *n = trial ? trial->n_reports : 0;
  return trial ? trial->reports : NULL;
}
