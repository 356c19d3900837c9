/* export.c - writes a study as CSV, as JSON, or as the journal of Optuna. Numbers keep
 * their bits and values their types, so that import reads back what export wrote. */
#include "io/export.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "common/base.h"
#include "common/domain.h"
#include "io/best.h"
#include "io/metrics.h"
#include "io/notes.h"
#include "io/output.h"
#include "io/scalar.h"
#include "io/sheet.h"

/* One trial after the other, appended by `put`. */
typedef cocabo_status (*put_trial)(front_buffer *out, const cocabo_study *study,
                                   const cocabo_trial *trial, cocabo_error *err);

static cocabo_status put_trials(front_buffer *out, const cocabo_study *study,
                                put_trial put, cocabo_error *err) {
  const int64_t n = cocabo_study_count(study);
  cocabo_status status = COCABO_OK;
  for (int64_t i = 0; i < n && status == COCABO_OK; i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(study, i, &trial, err));
    status = put(out, study, trial, err);
    cocabo_trial_free(trial);
  }
  return status;
}

/* ---- CSV ------------------------------------------------------------------------- */

/* Parameters of such a name get a column with another one. */
static bool is_ours(const char *name) {
  static const char *const columns[] = {"number",   "state",    "value",   "attempt",
                                        "started",  "finished", "seconds", "reason",
                                        "feasible", "runs",     "error"};
  for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++)
    if (strcmp(columns[i], name) == 0)
      return true;
  return strcmp(name, cli_reports_column) == 0 ||
         strncmp(name, cli_attr_prefix, strlen(cli_attr_prefix)) == 0 ||
         strncmp(name, cli_metric_prefix, strlen(cli_metric_prefix)) == 0;
}

/* The columns that depend on what the trials have. */
typedef struct columns {
  cli_metric_names metrics;
  cli_note_columns notes;
} columns;

cocabo_status export_put_column(front_buffer *out, const char *parameter,
                                cocabo_error *err) {
  return front_buffer_printf(out, err, "%s%s", is_ours(parameter) ? "params." : "",
                             parameter);
}

/* What `cell` holds, as the next cell of the row. */
static cocabo_status put_cell(front_buffer *out, front_buffer *cell,
                              cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, ",", err));
  const cocabo_status status =
      sheet_put(out, cell->size > 0 ? cell->data : "", cell->size, err);
  cell->size = 0;
  return status;
}

static cocabo_status put_header(front_buffer *out, front_buffer *cell,
                                const cocabo_study *study, const columns *c,
                                cocabo_error *err) {
  const cocabo_space *space = cocabo_study_space(study);
  const cli_metric_names *metrics = &c->metrics, *attrs = &c->notes.attrs;
  CB_TRY(front_buffer_puts(out, "number,state,value", err));
  const char *name;
  for (size_t i = 0; (name = cocabo_space_name(space, i)); i++) {
    CB_TRY(export_put_column(cell, name, err));
    CB_TRY(put_cell(out, cell, err));
  }
  for (size_t i = 0; i < metrics->n; i++) {
    CB_TRY(
        front_buffer_printf(cell, err, "%s%s", cli_metric_prefix, metrics->items[i]));
    CB_TRY(put_cell(out, cell, err));
  }
  CB_TRY(front_buffer_puts(out, cli_has_runs(study) ? ",runs,error" : "", err));
  CB_TRY(front_buffer_puts(out, cli_is_constrained(study) ? ",feasible" : "", err));
  for (size_t i = 0; i < attrs->n; i++) {
    CB_TRY(front_buffer_printf(cell, err, "%s%s", cli_attr_prefix, attrs->items[i]));
    CB_TRY(put_cell(out, cell, err));
  }
  if (c->notes.reports)
    CB_TRY(front_buffer_printf(out, err, ",%s", cli_reports_column));
  return front_buffer_puts(out, ",attempt,started,finished,seconds,reason\n", err);
}

static cocabo_status put_time_cell(front_buffer *out, double seconds,
                                   cocabo_error *err) {
  return isfinite(seconds) ? front_buffer_printf(out, err, ",%.6f", seconds)
                           : front_buffer_puts(out, ",", err);
}

/* Empty where the trial has no such metric. */
static cocabo_status put_metrics(front_buffer *out, front_buffer *cell,
                                 const cocabo_trial *trial,
                                 const cli_metric_names *metrics, cocabo_error *err) {
  for (size_t i = 0; i < metrics->n; i++) {
    const double value = cli_trial_metric(trial, metrics->items[i]);
    if (isfinite(value))
      CB_TRY(front_put_digits(cell, value, err));
    CB_TRY(put_cell(out, cell, err));
  }
  return COCABO_OK;
}

/* How many runs count, and the standard error that the value has by them. */
static cocabo_status put_runs(front_buffer *out, front_buffer *cell,
                              const cocabo_study *study, const cocabo_trial *trial,
                              cocabo_error *err) {
  const double error = cocabo_trial_error(trial);
  if (!cli_has_runs(study))
    return COCABO_OK;
  CB_TRY(front_buffer_printf(out, err, ",%zu", cli_count_runs(trial)));
  if (isfinite(error))
    CB_TRY(front_put_digits(cell, error, err));
  return put_cell(out, cell, err);
}

/* Empty where it is not known. */
static cocabo_status put_feasible(front_buffer *out, const cocabo_study *study,
                                  const cocabo_trial *trial, cocabo_error *err) {
  if (!cli_is_constrained(study))
    return COCABO_OK;
  const bool known = cocabo_trial_feasible(trial) >= 0;
  return front_buffer_printf(out, err, ",%s", known ? cli_feasible_text(trial) : "");
}

static cocabo_status put_notes(front_buffer *out, front_buffer *cell,
                               const cocabo_trial *trial, const cli_note_columns *notes,
                               cocabo_error *err) {
  for (size_t i = 0; i < notes->attrs.n; i++) {
    const char *value = cocabo_trial_attr(trial, notes->attrs.items[i]);
    CB_TRY(front_buffer_puts(cell, value ? value : "", err));
    CB_TRY(put_cell(out, cell, err));
  }
  if (!notes->reports)
    return COCABO_OK;
  CB_TRY(cli_put_reports(cell, trial, err));
  return put_cell(out, cell, err);
}

static cocabo_status put_cells(front_buffer *out, front_buffer *cell,
                               const cocabo_study *study, const cocabo_trial *trial,
                               const columns *c, cocabo_error *err) {
  const double result = cocabo_trial_value(trial);
  CB_TRY(front_buffer_printf(out, err, "%" PRId64 ",%s", cocabo_trial_number(trial),
                             cocabo_state_name(cocabo_trial_get_state(trial))));
  if (isfinite(result))
    CB_TRY(front_put_digits(cell, result, err));
  CB_TRY(put_cell(out, cell, err));
  for (size_t i = 0; i < cocabo_trial_count(trial); i++) {
    const char *name;
    cocabo_value value;
    CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
    if (value.type != COCABO_ABSENT)
      CB_TRY(scalar_put(cell, &value, err));
    CB_TRY(put_cell(out, cell, err));
  }
  CB_TRY(put_metrics(out, cell, trial, &c->metrics, err));
  CB_TRY(put_runs(out, cell, study, trial, err));
  CB_TRY(put_feasible(out, study, trial, err));
  CB_TRY(put_notes(out, cell, trial, &c->notes, err));
  CB_TRY(front_buffer_printf(out, err, ",%" PRId64, cocabo_trial_attempt(trial)));
  CB_TRY(put_time_cell(out, cocabo_trial_started(trial), err));
  CB_TRY(put_time_cell(out, cocabo_trial_finished(trial), err));
  CB_TRY(put_time_cell(out, cli_trial_seconds(trial), err));
  CB_TRY(front_buffer_puts(cell, cocabo_trial_reason(trial), err));
  CB_TRY(put_cell(out, cell, err));
  return front_buffer_puts(out, "\n", err);
}

static cocabo_status put_rows(front_buffer *out, front_buffer *cell,
                              const cocabo_study *study, const columns *c,
                              cocabo_error *err) {
  const int64_t n = cocabo_study_count(study);
  cocabo_status status = put_header(out, cell, study, c, err);
  for (int64_t i = 0; i < n && status == COCABO_OK; i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(study, i, &trial, err));
    status = put_cells(out, cell, study, trial, c, err);
    cocabo_trial_free(trial);
  }
  return status;
}

cocabo_status export_csv(front_buffer *out, const cocabo_study *study,
                         cocabo_error *err) {
  front_buffer cell = {0};
  columns c = {0};
  cocabo_status status = cli_metric_names_find(&c.metrics, study, true, err);
  if (status == COCABO_OK)
    status = cli_note_columns_find(&c.notes, study, err);
  if (status == COCABO_OK)
    status = put_rows(out, &cell, study, &c, err);
  cli_metric_names_free(&c.metrics);
  cli_note_columns_free(&c.notes);
  front_buffer_free(&cell);
  return status;
}

/* ---- JSON ------------------------------------------------------------------------ */

static cocabo_status put_options(front_buffer *out, const cocabo_study *study,
                                 cocabo_error *err) {
  bool first = true;
  const char *name;
  for (size_t i = 0; (name = cocabo_option_name(i)); i++) {
    if (strcmp(name, "direction") == 0)
      continue;
    CB_TRY(front_buffer_printf(out, err, "%s\"%s\":", first ? "" : ",", name));
    CB_TRY(front_put_json_text(out, cocabo_study_option(study, name), err));
    first = false;
  }
  return COCABO_OK;
}

static cocabo_status put_json_trial(front_buffer *out, const cocabo_study *study,
                                    const cocabo_trial *trial, cocabo_error *err) {
  CB_TRY(
      front_buffer_puts(out, cocabo_trial_number(trial) > 0 ? ",\n  " : "\n  ", err));
  return cli_put_json_trial(out, study, trial, err);
}

cocabo_status export_json(front_buffer *out, const cocabo_study *study,
                          cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{\"study\":", err));
  CB_TRY(front_put_json_text(out, cocabo_study_name(study), err));
  CB_TRY(front_buffer_printf(out, err, ",\n \"direction\":\"%s\",\n \"parameters\":{",
                             cocabo_study_option(study, "direction")));
  CB_TRY(front_put_parameters(out, cocabo_study_space(study), err));
  CB_TRY(front_buffer_puts(out, "}", err));
  if (cocabo_space_get_rule(cocabo_study_space(study), 0)) {
    CB_TRY(front_buffer_puts(out, ",\n \"where\":", err));
    CB_TRY(front_put_rules(out, cocabo_study_space(study), err));
  }
  CB_TRY(front_buffer_puts(out, ",\n \"options\":{", err));
  CB_TRY(put_options(out, study, err));
  CB_TRY(front_buffer_puts(out, "},\n \"trials\":[", err));
  CB_TRY(put_trials(out, study, put_json_trial, err));
  return front_buffer_puts(out, "]}\n", err);
}

/* ---- JSON lines ------------------------------------------------------------------ */

static cocabo_status put_line(front_buffer *out, const cocabo_study *study,
                              const cocabo_trial *trial, cocabo_error *err) {
  CB_TRY(cli_put_json_trial(out, study, trial, err));
  return front_buffer_puts(out, "\n", err);
}

cocabo_status export_lines(front_buffer *out, const cocabo_study *study,
                           cocabo_error *err) {
  return put_trials(out, study, put_line, err);
}

/* ---- Optuna's journal ------------------------------------------------------------ */

/* Numbers of operations and states in Optuna's files. */
enum { CREATE_STUDY = 0, CREATE_TRIAL = 4 };
enum { OPTUNA_RUNNING = 0, OPTUNA_COMPLETE = 1, OPTUNA_FAIL = 3, OPTUNA_WAITING = 4 };

static int optuna_state(cocabo_trial_state state) {
  switch (state) {
  case COCABO_RUNNING:
    return OPTUNA_RUNNING;
  case COCABO_COMPLETE:
    return OPTUNA_COMPLETE;
  case COCABO_FAILED:
    return OPTUNA_FAIL;
  default:
    return OPTUNA_WAITING;
  }
}

/* A time as ISO 8601 in UTC. */
static cocabo_status put_time(front_buffer *out, const char *key, double seconds,
                              cocabo_error *err) {
  const long long micros = llround(seconds * 1e6);
  const time_t when = (time_t)(micros / 1000000);
  struct tm utc;
  char text[40];
  if (!gmtime_r(&when, &utc) || !strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc))
    return cb_fail(err, COCABO_E_STATE, "a trial's time is %g s after 1970", seconds);
  return front_buffer_printf(out, err, ",\"%s\":\"%s.%06d+00:00\"", key, text,
                             (int)(micros % 1000000));
}

/* The distribution is JSON within JSON: a text. */
static cocabo_status put_distribution(front_buffer *out, const cocabo_space *space,
                                      size_t i, front_buffer *scratch,
                                      cocabo_error *err) {
  static const char *const names[] = {"Float", "Int", "Categorical", "Categorical"};
  const cocabo_kind kind = cocabo_space_kind(space, i);
  scratch->size = 0;
  CB_TRY(front_buffer_printf(
      scratch, err, "{\"name\":\"%sDistribution\",\"attributes\":{", names[kind]));
  if (kind == COCABO_KIND_REAL || kind == COCABO_KIND_INT) {
    CB_TRY(front_put_range(scratch, space, i, ",\"step\":null", err));
  } else {
    CB_TRY(front_buffer_puts(scratch, "\"choices\":", err));
    CB_TRY(front_put_choices(scratch, space, i, err));
  }
  CB_TRY(front_buffer_puts(scratch, "}}", err));
  const char *text = front_buffer_text(scratch, err);
  return text ? front_put_json_text(out, text, err) : COCABO_E_NO_MEMORY;
}

/* Optuna's internal value: a number, or the index of a choice. */
static cocabo_status put_internal(front_buffer *out, const cocabo_space *space,
                                  size_t i, const cocabo_value *value,
                                  cocabo_error *err) {
  const size_t n = cocabo_space_choices(space, i);
  if (n == 0)
    return front_put_json_real(
        out, value->type == COCABO_INT ? (double)value->as.integer : value->as.real,
        err);
  cocabo_value choice;
  for (size_t k = 0; k < n; k++) {
    CB_TRY(cocabo_space_get_choice(space, i, k, &choice, err));
    if (cb_value_equal(&choice, value))
      return front_buffer_printf(out, err, "%zu", k);
  }
  return cb_fail(err, COCABO_E_INTERNAL, "a trial has a choice that the space lacks");
}

/* Both objects have the same names: those of what is active. `scratch` is NULL for the
 * values, else it is for the distributions. */
static cocabo_status put_active(front_buffer *out, const cocabo_space *space,
                                const cocabo_trial *trial, front_buffer *scratch,
                                cocabo_error *err) {
  const char *comma = "";
  for (size_t i = 0; i < cocabo_trial_count(trial); i++) {
    const char *name;
    cocabo_value value;
    CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
    if (value.type == COCABO_ABSENT)
      continue;
    CB_TRY(front_buffer_puts(out, comma, err));
    CB_TRY(front_put_json_text(out, name, err));
    CB_TRY(front_buffer_puts(out, ":", err));
    CB_TRY(scratch ? put_distribution(out, space, i, scratch, err)
                   : put_internal(out, space, i, &value, err));
    comma = ",";
  }
  return COCABO_OK;
}

static cocabo_status put_params(front_buffer *out, const cocabo_space *space,
                                const cocabo_trial *trial, cocabo_error *err) {
  front_buffer scratch = {0};
  CB_TRY(front_buffer_puts(out, ",\"distributions\":{", err));
  const cocabo_status status = put_active(out, space, trial, &scratch, err);
  front_buffer_free(&scratch);
  CB_TRY(status);
  CB_TRY(front_buffer_puts(out, "},\"params\":{", err));
  CB_TRY(put_active(out, space, trial, NULL, err));
  return front_buffer_puts(out, "},\"system_attrs\":{}", err);
}

/* An enqueued trial has no parameters yet, but says what they shall be. */
static cocabo_status put_fixed(front_buffer *out, const cocabo_trial *trial,
                               cocabo_error *err) {
  CB_TRY(front_buffer_puts(
      out,
      ",\"distributions\":{},\"params\":{},\"system_attrs\":{\"fixed_params\":", err));
  CB_TRY(front_put_json_params(out, trial, err));
  return front_buffer_puts(out, "}", err);
}

/* Imported results have no start: they took no time. */
static cocabo_status put_times(front_buffer *out, const cocabo_trial *trial, int state,
                               cocabo_error *err) {
  double started = cocabo_trial_started(trial);
  const double finished = cocabo_trial_finished(trial);
  if (state == OPTUNA_WAITING)
    return front_buffer_puts(out, ",\"datetime_start\":null", err);
  if (!isfinite(started))
    started = isfinite(finished) ? finished : 0.0;
  CB_TRY(put_time(out, "datetime_start", started, err));
  return state == OPTUNA_RUNNING
             ? COCABO_OK
             : put_time(out, "datetime_complete",
                        isfinite(finished) ? finished : started, err);
}

static cocabo_status put_member(front_buffer *out, bool *first, const char *name,
                                cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, *first ? "" : ",", err));
  *first = false;
  CB_TRY(front_put_json_text(out, name, err));
  return front_buffer_puts(out, ":", err);
}

/* The attributes, and the metrics or the reason of a failure. Each key once: an
 * attribute of that name gives way. */
static cocabo_status put_attributes(front_buffer *out, const cocabo_trial *trial,
                                    cocabo_error *err) {
  const bool failed = cocabo_trial_get_state(trial) == COCABO_FAILED;
  bool first = true;
  size_t n, m;
  const cocabo_attr *attrs = cocabo_trial_attrs(trial, &n);
  const cocabo_metric *metrics = cocabo_trial_metrics(trial, &m);
  CB_TRY(front_buffer_puts(out, ",\"user_attrs\":{", err));
  if (failed) {
    CB_TRY(put_member(out, &first, "reason", err));
    CB_TRY(front_put_json_text(out, cocabo_trial_reason(trial), err));
  }
  for (size_t i = 0; i < m; i++) {
    CB_TRY(put_member(out, &first, metrics[i].name, err));
    CB_TRY(front_put_json_real(out, metrics[i].value, err));
  }
  for (size_t i = 0; i < n; i++)
    if (!(failed && strcmp(attrs[i].name, "reason") == 0) &&
        isnan(cli_trial_metric(trial, attrs[i].name))) {
      CB_TRY(put_member(out, &first, attrs[i].name, err));
      CB_TRY(front_put_json_text(out, attrs[i].value, err));
    }
  return front_buffer_puts(out, "}", err);
}

static cocabo_status put_intermediate(front_buffer *out, const cocabo_trial *trial,
                                      cocabo_error *err) {
  size_t n;
  const cocabo_step *reports = cocabo_trial_reports(trial, &n);
  CB_TRY(front_buffer_puts(out, ",\"intermediate_values\":{", err));
  for (size_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_printf(out, err, "%s\"%" PRId64 "\":", i > 0 ? "," : "",
                               reports[i].step));
    CB_TRY(front_put_json_real(out, reports[i].value, err));
  }
  return front_buffer_puts(out, "}}\n", err);
}

static cocabo_status put_journal_trial(front_buffer *out, const cocabo_study *study,
                                       const cocabo_trial *trial, cocabo_error *err) {
  const int state = optuna_state(cocabo_trial_get_state(trial));
  CB_TRY(front_buffer_printf(out, err,
                             "{\"op_code\":%d,\"worker_id\":\"cocabo\","
                             "\"study_id\":0,\"state\":%d,\"values\":null,\"value\":",
                             CREATE_TRIAL, state));
  CB_TRY(front_put_json_real(out, cocabo_trial_value(trial), err));
  CB_TRY(put_times(out, trial, state, err));
  if (state == OPTUNA_WAITING)
    CB_TRY(put_fixed(out, trial, err));
  else
    CB_TRY(put_params(out, cocabo_study_space(study), trial, err));
  CB_TRY(put_attributes(out, trial, err));
  return put_intermediate(out, trial, err);
}

cocabo_status export_journal(front_buffer *out, const cocabo_study *study,
                             cocabo_error *err) {
  const bool maximize =
      strcmp(cocabo_study_option(study, "direction"), "maximize") == 0;
  CB_TRY(front_buffer_printf(
      out, err,
      "{\"op_code\":%d,\"worker_id\":\"cocabo\",\"study_name\":", CREATE_STUDY));
  CB_TRY(front_put_json_text(out, cocabo_study_name(study), err));
  CB_TRY(front_buffer_printf(out, err, ",\"directions\":[%d]}\n", maximize ? 2 : 1));
  return put_trials(out, study, put_journal_trial, err);
}
