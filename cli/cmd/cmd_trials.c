/* cmd_trials.c - cocabo trials: every trial of a study. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "io/best.h"
#include "io/metrics.h"
#include "io/notes.h"
#include "io/output.h"
#include "io/table.h"

typedef struct trials_args {
  const char *state, *sort, *top;
  cli_common common;
} trials_args;

static const front_option options[] = {
    {"--state", "STATE",
     "only waiting, running, complete, failed, interrupted or stale ones", FRONT_TEXT,
     offsetof(trials_args, state)},
    {"--sort", "value|number|seconds|state|NAME",
     "by that column, the best value first; -KEY turns it round", FRONT_TEXT,
     offsetof(trials_args, sort)},
    {"--top", "K", "the first K only", FRONT_TEXT, offsetof(trials_args, top)},
    CLI_FILE_OPTION(trials_args),
    CLI_COMMON_OPTIONS(trials_args),
    {0}};

/* ---- which ----------------------------------------------------------------------- */

static const char *state_name(int i) {
  return i <= COCABO_STALE ? cocabo_state_name((cocabo_trial_state)i) : NULL;
}

/* -1: any. */
static cocabo_status parse_state(const char *text, int *out, cocabo_error *err) {
  *out = -1;
  return text ? front_parse_name("--state", "state", text, state_name, out, err)
              : COCABO_OK;
}

enum { MAX_TOP = 1000000000 };

/* What to sort by: a parameter's number, or one of these. */
enum {
  BY_VALUE = -1,
  BY_NUMBER = -2,
  BY_SECONDS = -3,
  BY_STATE = -4,
  BY_NOTHING = -5,
  BY_METRIC = -6
};

typedef struct query {
  int state;          /* -1: any */
  int key;            /* BY_.., or a parameter */
  const char *metric; /* BY_METRIC: which one; borrowed */
  double sign;        /* -1: the largest first */
  int64_t top;        /* how many */
} query;

static int find_key(const cocabo_space *space, const char *name) {
  static const char *const ours[] = {"value", "number", "seconds", "state"};
  for (int i = 0; i < (int)(sizeof ours / sizeof ours[0]); i++)
    if (strcmp(name, ours[i]) == 0)
      return BY_VALUE - i;
  const char *plain = strncmp(name, "params.", 7) == 0 ? name + 7 : NULL, *known;
  for (size_t i = 0; (known = cocabo_space_name(space, i)); i++)
    if (strcmp(name, known) == 0 || (plain && strcmp(plain, known) == 0))
      return (int)i;
  return BY_NOTHING;
}

static cocabo_status unknown_key(const cocabo_space *space, const char *name,
                                 cocabo_error *err) {
  char shown[CB_SHOWN], closest[CB_SHOWN];
  cb_guess guess = {.word = name};
  const char *known;
  cb_guess_consider(&guess, "value");
  cb_guess_consider(&guess, "number");
  cb_guess_consider(&guess, "seconds");
  cb_guess_consider(&guess, "state");
  for (size_t i = 0; (known = cocabo_space_name(space, i)); i++)
    cb_guess_consider(&guess, known);
  cb_text_show(shown, name);
  if (guess.closest)
    return cb_fail(err, COCABO_E_NOT_FOUND, "unknown key \"%s\", did you mean %s?",
                   shown, cb_text_show(closest, guess.closest));
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "unknown key \"%s\", want value, number, seconds, state, a "
                 "parameter or a metric",
                 shown);
}

/* A metric that some trial has. */
static cocabo_status find_metric(const cocabo_study *study, const char *name,
                                 query *out, cocabo_error *err) {
  cli_metric_names all = {0};
  const char *plain = strncmp(name, "metrics.", 8) == 0 ? name + 8 : name;
  const cocabo_status status = cli_metric_names_find(&all, study, true, err);
  for (size_t i = 0; i < all.n; i++)
    if (strcmp(all.items[i], name) == 0 || strcmp(all.items[i], plain) == 0) {
      out->key = BY_METRIC;
      out->metric = strcmp(all.items[i], name) == 0 ? name : plain;
    }
  cli_metric_names_free(&all);
  return status;
}

static cocabo_status parse_sort(const char *text, const cocabo_study *study, query *out,
                                cocabo_error *err) {
  const cocabo_space *space = cocabo_study_space(study);
  out->key = BY_NUMBER;
  out->sign = 1.0;
  if (!text)
    return COCABO_OK;
  out->key = find_key(space, text);
  if (out->key == BY_NOTHING)
    CB_TRY(find_metric(study, text, out, err));
  if (out->key == BY_NOTHING && *text == '-') {
    out->sign = -1.0;
    out->key = find_key(space, ++text);
  }
  if (out->key == BY_NOTHING)
    CB_TRY(find_metric(study, text, out, err));
  if (out->key == BY_NOTHING)
    return unknown_key(space, text, err);
  if (out->key == BY_VALUE &&
      strcmp(cocabo_study_option(study, "direction"), "maximize") == 0)
    out->sign = -out->sign;
  return COCABO_OK;
}

/* ---- in which order -------------------------------------------------------------- */

typedef struct ranked {
  int64_t number;
  double key; /* small ones first; NaN: last */
  bool apart; /* by value: it breaks a constraint, and comes after those that do not */
} ranked;

/* A number, or the place of a choice among the others; NaN: it is inactive. */
static cocabo_status rank_param(const cocabo_space *space, size_t i,
                                const cocabo_trial *trial, double *out,
                                cocabo_error *err) {
  const char *name;
  cocabo_value value, choice;
  CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
  const size_t n = cocabo_space_choices(space, i);
  if (value.type == COCABO_ABSENT) {
    *out = NAN;
    return COCABO_OK;
  }
  *out = value.type == COCABO_INT ? (double)value.as.integer : value.as.real;
  for (size_t k = 0; k < n; k++) {
    CB_TRY(cocabo_space_get_choice(space, i, k, &choice, err));
    if (cb_value_equal(&choice, &value))
      *out = (double)k;
  }
  return COCABO_OK;
}

static cocabo_status rank(const cocabo_study *study, const query *q,
                          const cocabo_trial *trial, ranked *out, cocabo_error *err) {
  double key = 0.0;
  if (q->key >= 0)
    CB_TRY(rank_param(cocabo_study_space(study), (size_t)q->key, trial, &key, err));
  else if (q->key == BY_METRIC)
    key = cli_trial_metric(trial, q->metric);
  else if (q->key == BY_VALUE)
    key = cocabo_trial_value(trial);
  else if (q->key == BY_SECONDS)
    key = cli_trial_seconds(trial);
  else if (q->key == BY_STATE)
    key = (double)cocabo_trial_get_state(trial);
  else
    key = (double)cocabo_trial_number(trial);
  *out = (ranked){cocabo_trial_number(trial), q->sign * key,
                  q->key == BY_VALUE && cocabo_trial_feasible(trial) != 1};
  return COCABO_OK;
}

static int compare(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  const bool no_x = isnan(x->key), no_y = isnan(y->key);
  if (no_x != no_y)
    return no_x - no_y;
  if (x->apart != y->apart)
    return x->apart - y->apart;
  if (!no_x && x->key != y->key)
    return x->key < y->key ? -1 : 1;
  return (x->number > y->number) - (x->number < y->number);
}

/* The trials that are asked for, in their order; *out is owned by the caller. */
static cocabo_status choose(const cocabo_study *study, const query *q, ranked **out,
                            int64_t *n, cocabo_error *err) {
  const int64_t all = cocabo_study_count(study);
  ranked *list = cb_calloc((size_t)all + 1, sizeof *list);
  cocabo_status status = COCABO_OK;
  if (!list)
    return cb_no_memory(err);
  for (int64_t i = 0; i < all && status == COCABO_OK; i++) {
    cocabo_trial *trial = NULL;
    status = cocabo_study_trial(study, i, &trial, err);
    if (status == COCABO_OK &&
        (q->state < 0 || (int)cocabo_trial_get_state(trial) == q->state))
      status = rank(study, q, trial, &list[(*n)++], err);
    cocabo_trial_free(trial);
  }
  if (status != COCABO_OK) {
    cb_free(list);
    return status;
  }
  qsort(list, (size_t)*n, sizeof *list, compare);
  *n = *n < q->top ? *n : q->top;
  *out = list;
  return COCABO_OK;
}

/* What is done with each trial. */
typedef cocabo_status (*visit)(const cocabo_trial *trial, void *context,
                               cocabo_error *err);

static cocabo_status each(const cocabo_study *study, const ranked *list, int64_t n,
                          visit fn, void *context, cocabo_error *err) {
  cocabo_status status = COCABO_OK;
  for (int64_t i = 0; i < n && status == COCABO_OK; i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(study, list[i].number, &trial, err));
    status = fn(trial, context, err);
    cocabo_trial_free(trial);
  }
  return status;
}

/* ---- as JSON --------------------------------------------------------------------- */

typedef struct lines {
  const cocabo_study *study;
  front_buffer line;
} lines;

static cocabo_status print_json(const cocabo_trial *trial, void *context,
                                cocabo_error *err) {
  lines *l = context;
  l->line.size = 0;
  CB_TRY(cli_put_json_trial(&l->line, l->study, trial, err));
  CB_TRY(front_buffer_puts(&l->line, "\n", err));
  cli_print(&l->line);
  return COCABO_OK;
}

static cocabo_status print_lines(const cocabo_study *study, const ranked *list,
                                 int64_t n, cocabo_error *err) {
  lines l = {.study = study};
  const cocabo_status status = each(study, list, n, print_json, &l, err);
  front_buffer_free(&l.line);
  return status;
}

/* ---- as a table ------------------------------------------------------------------ */

typedef struct sheet {
  cli_table table;
  front_buffer cell;
  const cocabo_space *space;
  cli_metric_names metrics;
  bool by_runs;     /* there is a column with the number of runs that count */
  bool constrained; /* and one that says who keeps the constraints */
  cli_note_columns notes;
} sheet;

/* Columns before the parameters, and after the metrics without the attributes. */
enum { BEFORE = 3, AFTER = 2 };

static size_t count_before(const sheet *s) {
  return (size_t)BEFORE + s->by_runs + s->constrained;
}

static cocabo_status put_cell(sheet *s, cocabo_error *err) {
  const cocabo_status status =
      cli_table_cell(&s->table, s->cell.data ? s->cell.data : "", s->cell.size, err);
  s->cell.size = 0;
  return status;
}

/* Empty cells for what there is not yet. */
static cocabo_status add_result(sheet *s, double value, cocabo_error *err) {
  if (isfinite(value))
    CB_TRY(cli_put_rounded(&s->cell, value, err));
  return put_cell(s, err);
}

static cocabo_status add_seconds(sheet *s, double seconds, cocabo_error *err) {
  if (isfinite(seconds))
    CB_TRY(front_buffer_printf(&s->cell, err, "%.3f", seconds));
  return put_cell(s, err);
}

static cocabo_status add_params(sheet *s, const cocabo_trial *trial,
                                cocabo_error *err) {
  const size_t n = cocabo_trial_count(trial);
  for (size_t i = 0; i < n; i++) {
    const char *name;
    cocabo_value value;
    CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
    CB_TRY(cli_put_rounded_param(&s->cell, s->space, i, &value, err));
    CB_TRY(put_cell(s, err));
  }
  return COCABO_OK;
}

/* How long it took is there already. */
static bool is_shown(const char *metric) {
  return strcmp(metric, "seconds") != 0;
}

static cocabo_status add_metrics(sheet *s, const cocabo_trial *trial,
                                 cocabo_error *err) {
  for (size_t i = 0; i < s->metrics.n; i++)
    if (is_shown(s->metrics.items[i]))
      CB_TRY(add_result(s, cli_trial_metric(trial, s->metrics.items[i]), err));
  return COCABO_OK;
}

static size_t count_metrics(const sheet *s) {
  size_t n = 0;
  for (size_t i = 0; i < s->metrics.n; i++)
    n += is_shown(s->metrics.items[i]);
  return n;
}

/* Empty where it is not known. */
static cocabo_status add_feasible(sheet *s, int feasible, cocabo_error *err) {
  return cli_table_text(&s->table,
                        feasible > 0    ? "yes"
                        : feasible == 0 ? "no"
                                        : "",
                        err);
}

static cocabo_status add_row(const cocabo_trial *trial, void *context,
                             cocabo_error *err) {
  sheet *s = context;
  CB_TRY(front_buffer_printf(&s->cell, err, "%" PRId64, cocabo_trial_number(trial)));
  CB_TRY(put_cell(s, err));
  CB_TRY(
      cli_table_text(&s->table, cocabo_state_name(cocabo_trial_get_state(trial)), err));
  CB_TRY(add_result(s, cocabo_trial_value(trial), err));
  if (s->by_runs) {
    CB_TRY(front_buffer_printf(&s->cell, err, "%zu", cli_count_runs(trial)));
    CB_TRY(put_cell(s, err));
  }
  if (s->constrained)
    CB_TRY(add_feasible(s, cocabo_trial_feasible(trial), err));
  CB_TRY(add_params(s, trial, err));
  CB_TRY(add_metrics(s, trial, err));
  CB_TRY(add_seconds(s, cli_trial_seconds(trial), err));
  for (size_t i = 0; i < s->notes.attrs.n; i++) {
    const char *value = cocabo_trial_attr(trial, s->notes.attrs.items[i]);
    CB_TRY(cli_table_text(&s->table, value ? value : "", err));
  }
  return cli_table_text(&s->table, cocabo_trial_reason(trial), err);
}

static cocabo_status add_titles(sheet *s, cocabo_error *err) {
  static const char *const before[BEFORE] = {"number", "state", "value"};
  const cocabo_space *space = s->space;
  const size_t n = cocabo_space_count(space), m = count_metrics(s);
  for (size_t i = 0; i < BEFORE; i++)
    CB_TRY(cli_table_text(&s->table, before[i], err));
  if (s->by_runs)
    CB_TRY(cli_table_text(&s->table, "runs", err));
  if (s->constrained)
    CB_TRY(cli_table_text(&s->table, "feasible", err));
  for (size_t i = 0; i < n; i++)
    CB_TRY(cli_table_text(&s->table, cocabo_space_name(space, i), err));
  for (size_t i = 0; i < s->metrics.n; i++)
    if (is_shown(s->metrics.items[i]))
      CB_TRY(cli_table_text(&s->table, s->metrics.items[i], err));
  CB_TRY(cli_table_text(&s->table, "seconds", err));
  for (size_t i = 0; i < s->notes.attrs.n; i++) {
    CB_TRY(front_buffer_printf(&s->cell, err, "%s%s", cli_attr_prefix,
                               s->notes.attrs.items[i]));
    CB_TRY(put_cell(s, err));
  }
  CB_TRY(cli_table_text(&s->table, "reason", err));
  for (size_t i = 0; i < n; i++)
    if (cocabo_space_choices(space, i) == 0)
      cli_table_align_right(&s->table, count_before(s) + i);
  cli_table_align_right(&s->table, 0);
  cli_table_align_right(&s->table, 2);
  if (s->by_runs)
    cli_table_align_right(&s->table, BEFORE);
  for (size_t i = 0; i <= m; i++) /* and seconds */
    cli_table_align_right(&s->table, count_before(s) + n + i);
  return COCABO_OK;
}

static cocabo_status begin_table(sheet *s, const cocabo_study *study, bool verbose,
                                 cocabo_error *err) {
  CB_TRY(cli_metric_names_find(&s->metrics, study, verbose, err));
  CB_TRY(cli_note_columns_find(&s->notes, study, err));
  const size_t n = cocabo_space_count(s->space) + count_metrics(s) + s->notes.attrs.n;
  CB_TRY(cli_table_begin(&s->table, count_before(s) + n + AFTER, err));
  return add_titles(s, err);
}

static cocabo_status print_table(const cocabo_study *study, const ranked *list,
                                 int64_t n, bool verbose, cocabo_error *err) {
  sheet s = {.space = cocabo_study_space(study),
             .by_runs = cli_has_runs(study),
             .constrained = cli_is_constrained(study)};
  cocabo_status status = begin_table(&s, study, verbose, err);
  if (status == COCABO_OK)
    status = each(study, list, n, add_row, &s, err);
  if (status == COCABO_OK)
    status = cli_table_print(&s.table, err);
  cli_table_free(&s.table);
  cli_metric_names_free(&s.metrics);
  cli_note_columns_free(&s.notes);
  front_buffer_free(&s.cell);
  return status;
}

/* ---- the command ----------------------------------------------------------------- */

/* A table without rows deserves a word. */
static void comment(const cli_common *common, const cocabo_study *study, int state) {
  char name[CB_SHOWN];
  cb_text_show(name, cocabo_study_name(study));
  if (cocabo_study_count(study) == 0)
    cli_note(common, "study \"%s\" has no trials yet", name);
  else
    cli_note(common, "no trial of study \"%s\" is %s", name, state_name(state));
}

static cocabo_status print_trials(const cocabo_study *study, const trials_args *args,
                                  query *q, cocabo_error *err) {
  ranked *list = NULL;
  int64_t n = 0;
  CB_TRY(parse_sort(args->sort, study, q, err));
  CB_TRY(choose(study, q, &list, &n, err));
  const cocabo_status status =
      args->common.json ? print_lines(study, list, n, err)
                        : print_table(study, list, n, args->common.verbose, err);
  if (status == COCABO_OK && n == 0 && !args->common.json)
    comment(&args->common, study, q->state);
  cb_free(list);
  return status;
}

static cocabo_status list_trials(int argc, char **argv, cocabo_error *err) {
  trials_args args = {0};
  query q = {.top = MAX_TOP};
  cli_session session;
  CB_TRY(front_args_parse(options, argc, argv, &args, NULL, err));
  CB_TRY(parse_state(args.state, &q.state, err));
  CB_TRY(front_parse_int("--top", args.top, 1, MAX_TOP, &q.top, err));
  CB_TRY(cli_open_study(&session, &args.common, COCABO_STORE_READ_ONLY, err));
  const cocabo_status status = print_trials(session.study, &args, &q, err);
  cli_close(&session);
  return status;
}

static int trials_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer printed_already = {0};
  return cli_answer("trials", list_trials(argc, argv, &err), &printed_already, &err);
}

const cli_command cmd_trials = {
    .name = "trials",
    .summary = "Lists the trials of a study.",
    .usage = "[--state STATE] [--sort KEY] [--top K] [options]",
    .options = options,
    .details =
        "A line each, by number or sorted: by value, the best first as the study's\n"
        "direction has it; by number, seconds (how long it took), state, a parameter "
        "or a\n"
        "metric, the smallest first. --sort=-seconds turns it round. What has no such\n"
        "value comes last. Numbers have six digits here, all of them with --json, "
        "which\n"
        "also has the whole reason of a failure, and times in seconds since 1970.\n"
        "By value, those that break a constraint come after the others.\n"
        "Metrics have a column each; those that are always measured only with -v. So "
        "have\n"
        "attributes (attr.NAME); values on the way are in --json.",
    .examples = "  cocabo trials\n"
                "  cocabo trials --sort value --top 10\n"
                "  cocabo trials --state failed\n"
                "  cocabo trials --json | jq 'select(.value < 1) | .params'",
    .main = trials_main,
};
