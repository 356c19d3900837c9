/* metrics.c - reads results with metrics, tells them, and writes metrics as JSON. */
#include "io/metrics.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

#include "common/json.h"

const char cli_metric_prefix[] = "metrics.";

bool cli_metric_is_built_in(const char *name) {
  static const char *const names[] = {"seconds", "cpu_seconds", "max_rss"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(names[i], name) == 0)
      return true;
  return false;
}

const char *cli_objective(const cocabo_study *study) {
  const char *name = cocabo_study_attr(study, "objective");
  return name ? name : "value";
}

/* ---- results --------------------------------------------------------------------- */

static bool has(const cli_metrics *metrics, const char *name) {
  for (size_t i = 0; i < metrics->n; i++)
    if (strcmp(metrics->items[i].name, name) == 0)
      return true;
  return false;
}

void cli_metrics_add(cli_metrics *metrics, const char *name, double value) {
  if (has(metrics, name))
    return;
  if (metrics->n == COCABO_MAX_METRICS || !isfinite(value) ||
      cb_name_check("metric name", name, NULL) != COCABO_OK) {
    metrics->passed_over++;
    return;
  }
  struct cli_metric *item = &metrics->items[metrics->n++];
  strcpy(item->name, name); /* it was checked */
  item->value = value;
}

/* All but the objective, which has its own place. */
static void add_members(const cb_json_node *object, const char *objective,
                        cli_metrics *metrics) {
  const cb_json_node *found = cb_json_find(object, objective);
  for (const cb_json_node *item = cb_json_first(object); item;
       item = cb_json_next(object, item)) {
    double number;
    if (item == found)
      continue;
    if (cb_json_number(item, &number))
      cli_metrics_add(metrics, item->key, number);
    else
      metrics->passed_over++;
  }
}

/* `only`: without its value it is no result. */
static bool parse_object(const char *text, const char *objective, bool only,
                         double *value, cli_metrics *metrics) {
  cb_json_tree tree = {0};
  const bool read = cb_json_read_all(&tree, text, strlen(text), NULL) == COCABO_OK;
  const bool found = read && cb_json_number(cb_json_find(tree.nodes, objective), value);
  if (read && (found || !only))
    add_members(tree.nodes, objective, metrics);
  cb_json_tree_free(&tree);
  return found;
}

static bool is_object(const char *text) {
  return text[strspn(text, " \t\r\n\v\f")] == '{';
}

static bool parse_number(const char *text, double *value) {
  while (isspace((unsigned char)*text))
    text++;
  size_t size = strlen(text);
  while (size > 0 && isspace((unsigned char)text[size - 1]))
    size--;
  return cb_parse_result(text, size, value);
}

bool cli_parse_result(const char *text, const char *objective, double *value,
                      cli_metrics *metrics) {
  return is_object(text) ? parse_object(text, objective, true, value, metrics)
                         : parse_number(text, value);
}

void cli_parse_metrics(const char *text, const char *objective, double *value,
                       cli_metrics *metrics) {
  double number;
  if (is_object(text))
    parse_object(text, objective, false, value, metrics);
  else if (strcmp(objective, "value") != 0 && parse_number(text, &number))
    cli_metrics_add(metrics, "value", number);
}

cocabo_status cli_tell(cocabo_study *study, int64_t number, double value,
                       const cli_metrics *metrics, cocabo_error *err) {
  cocabo_metric list[COCABO_MAX_METRICS];
  for (size_t i = 0; i < metrics->n; i++)
    list[i] = (cocabo_metric){metrics->items[i].name, metrics->items[i].value};
  return cocabo_study_tell_metrics(study, number, value, list, metrics->n, err);
}

cocabo_status cli_tell_run(cocabo_study *study, const cocabo_run *run,
                           const cli_metrics *metrics, const char *reason,
                           cocabo_error *err) {
  cocabo_metric list[COCABO_MAX_METRICS];
  const size_t n = metrics ? metrics->n : 0;
  for (size_t i = 0; i < n; i++)
    list[i] = (cocabo_metric){metrics->items[i].name, metrics->items[i].value};
  return cocabo_study_tell_run(study, run, list, n, reason, err);
}

/* ---- JSON ------------------------------------------------------------------------ */

static cocabo_status put_member(front_buffer *out, const char *name, double value,
                                cocabo_error *err) {
  CB_TRY(front_put_json_text(out, name, err));
  CB_TRY(front_buffer_puts(out, ":", err));
  return front_put_json_real(out, value, err);
}

cocabo_status cli_put_result(front_buffer *out, const char *objective, double value,
                             const cli_metrics *metrics, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{", err));
  CB_TRY(put_member(out, objective, value, err));
  for (size_t i = 0; i < metrics->n; i++) {
    CB_TRY(front_buffer_puts(out, ",", err));
    CB_TRY(put_member(out, metrics->items[i].name, metrics->items[i].value, err));
  }
  return front_buffer_puts(out, "}", err);
}

cocabo_status cli_put_json_metrics(front_buffer *out, const cocabo_trial *trial,
                                   cocabo_error *err) {
  size_t n;
  const cocabo_metric *metrics = cocabo_trial_metrics(trial, &n);
  CB_TRY(front_buffer_puts(out, "{", err));
  for (size_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_puts(out, i > 0 ? "," : "", err));
    CB_TRY(put_member(out, metrics[i].name, metrics[i].value, err));
  }
  return front_buffer_puts(out, "}", err);
}

/* ---- constraints ----------------------------------------------------------------- */

bool cli_has_runs(const cocabo_study *study) {
  return *cocabo_study_option(study, "instances") != '\0' ||
         strcmp(cocabo_study_option(study, "seeds"), "0") != 0 ||
         strcmp(cocabo_study_option(study, "repeats"), "1") != 0;
}

bool cli_is_constrained(const cocabo_study *study) {
  const char *text = cocabo_study_option(study, "constraints");
  return text && text[strspn(text, " \t\r\n")] != '\0';
}

const char *cli_feasible_text(const cocabo_trial *trial) {
  const int feasible = cocabo_trial_feasible(trial);
  return feasible > 0 ? "true" : feasible == 0 ? "false" : "null";
}

/* ---- of all trials --------------------------------------------------------------- */

cocabo_status cli_metric_names_add(cli_metric_names *names, const char *name,
                                   cocabo_error *err) {
  void *items = names->items;
  for (size_t i = 0; i < names->n; i++)
    if (strcmp(names->items[i], name) == 0)
      return COCABO_OK;
  if (!cb_reserve(&items, &names->capacity, names->n + 1, sizeof *names->items))
    return cb_no_memory(err);
  names->items = items;
  char *copy = cb_strdup(name);
  if (!copy)
    return cb_no_memory(err);
  names->items[names->n++] = copy;
  return COCABO_OK;
}

static cocabo_status note_names(cli_metric_names *names, const cocabo_trial *trial,
                                bool built_in, cocabo_error *err) {
  size_t n;
  const cocabo_metric *metrics = cocabo_trial_metrics(trial, &n);
  for (size_t i = 0; i < n; i++)
    if (built_in || !cli_metric_is_built_in(metrics[i].name))
      CB_TRY(cli_metric_names_add(names, metrics[i].name, err));
  return COCABO_OK;
}

cocabo_status cli_metric_names_find(cli_metric_names *out, const cocabo_study *study,
                                    bool built_in, cocabo_error *err) {
  const int64_t n = cocabo_study_count(study);
  cocabo_status status = COCABO_OK;
  for (int64_t i = 0; i < n && status == COCABO_OK; i++) {
    cocabo_trial *trial = NULL;
    status = cocabo_study_trial(study, i, &trial, err);
    if (status == COCABO_OK)
      status = note_names(out, trial, built_in, err);
    cocabo_trial_free(trial);
  }
  return status;
}

void cli_metric_names_free(cli_metric_names *names) {
  for (size_t i = 0; i < names->n; i++)
    cb_free(names->items[i]);
  cb_free(names->items);
  *names = (cli_metric_names){0};
}

double cli_trial_metric(const cocabo_trial *trial, const char *name) {
  double value;
  return cocabo_trial_get_metric(trial, name, &value, NULL) == COCABO_OK ? value : NAN;
}
