/* metrics.h - what is measured beside the value: from results, and over all trials.
 *
 * A result is a number or a JSON object of numbers. One of its members is the value,
 * the one called `value` unless the study has another objective; the others are
 * metrics. What is no number is passed over: programs print more than we can use.
 */
#ifndef CLI_METRICS_H
#define CLI_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "common/base.h"
#include "common/buffer.h"

/* Starts as {0}, and has a fixed size. */
typedef struct cli_metrics {
  size_t n;
  struct cli_metric {
    char name[CB_NAME_MAX + 1];
    double value;
  } items[COCABO_MAX_METRICS];
  size_t passed_over; /* members that are no metrics, or one too many */
} cli_metrics;

/* Columns of metrics are called metrics.NAME. */
extern const char cli_metric_prefix[];

/* Those that run and worker measure themselves. */
bool cli_metric_is_built_in(const char *name);

/* Adds one, unless there is one of that name, which counts then. */
void cli_metrics_add(cli_metrics *metrics, const char *name, double value);

/* The member that is the value: the study's objective, or `value`. Borrowed. */
const char *cli_objective(const cocabo_study *study);

/* A number, or a JSON object in which the objective is a number, with nothing else but
 * blanks around it. The value may be infinite or NaN. False: it is neither. */
bool cli_parse_result(const char *text, const char *objective, double *value,
                      cli_metrics *metrics);

/* The same where the value is known from elsewhere: what there is of metrics, and the
 * objective if it is a member. A number on its own is the metric `value`. */
void cli_parse_metrics(const char *text, const char *objective, double *value,
                       cli_metrics *metrics);

cocabo_status cli_tell(cocabo_study *study, int64_t number, double value,
                       const cli_metrics *metrics, cocabo_error *err);
/* The same of a run; metrics NULL: none. */
cocabo_status cli_tell_run(cocabo_study *study, const cocabo_run *run,
                           const cli_metrics *metrics, const char *reason,
                           cocabo_error *err);
/* The result as cli_parse_result reads it. */
cocabo_status cli_put_result(front_buffer *out, const char *objective, double value,
                             const cli_metrics *metrics, cocabo_error *err);

/* {"p99":180.0}, {} for none. */
cocabo_status cli_put_json_metrics(front_buffer *out, const cocabo_trial *trial,
                                   cocabo_error *err);

/* Has the study constraints on metrics? */
bool cli_is_constrained(const cocabo_study *study);
/* Are its trials evaluated run by run? */
bool cli_has_runs(const cocabo_study *study);
/* "true", "false" or "null": cocabo_trial_feasible as JSON. */
const char *cli_feasible_text(const cocabo_trial *trial);

/* The names of all metrics of a study, as they come first; built-in ones too if they
 * are wanted. Starts as {0}. */
typedef struct cli_metric_names {
  char **items;
  size_t n, capacity;
} cli_metric_names;
cocabo_status cli_metric_names_find(cli_metric_names *out, const cocabo_study *study,
                                    bool built_in, cocabo_error *err);
/* One more, if it is not there yet. */
cocabo_status cli_metric_names_add(cli_metric_names *names, const char *name,
                                   cocabo_error *err);
void cli_metric_names_free(cli_metric_names *names);

/* The metric of a trial; NaN if it has none of that name. */
double cli_trial_metric(const cocabo_trial *trial, const char *name);

#endif
