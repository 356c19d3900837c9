/* cmd_trials.c - cocabo trials: every trial of a study. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "io/output.h"
#include "io/table.h"

typedef struct trials_args {
  const char *state;
  cli_common common;
} trials_args;

static const front_option options[] = {
    {"--state", "STATE",
     "only waiting, running, complete, failed, interrupted or stale ones", FRONT_TEXT,
     offsetof(trials_args, state)},
    CLI_COMMON_OPTIONS(trials_args),
    {0}};

/* ---- which ----------------------------------------------------------------------- */

static const char *state_name(int i) {
  return i <= COCABO_STALE ? cocabo_state_name((cocabo_trial_state)i) : NULL;
}

/* -1: any. */
static cocabo_status parse_state(const char *text, int *out, cocabo_error *err) {
  front_chosen chosen;
  *out = -1;
  if (!text)
    return COCABO_OK;
  CB_TRY(front_parse_names("--state", "state", text, state_name, &chosen, err));
  if (chosen.n > 1)
    return cb_fail(err, COCABO_E_INVALID, "--state has %d states, want one", chosen.n);
  *out = chosen.items[0];
  return COCABO_OK;
}

/* What is done with each trial. */
typedef cocabo_status (*visit)(const cocabo_trial *trial, void *context,
                               cocabo_error *err);

static cocabo_status each(const cocabo_study *study, int state, visit fn, void *context,
                          cocabo_error *err) {
  const int64_t n = cocabo_study_count(study);
  cocabo_status status = COCABO_OK;
  for (int64_t i = 0; i < n && status == COCABO_OK; i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(study, i, &trial, err));
    if (state < 0 || (int)cocabo_trial_get_state(trial) == state)
      status = fn(trial, context, err);
    cocabo_trial_free(trial);
  }
  return status;
}

/* ---- as JSON --------------------------------------------------------------------- */

static cocabo_status print_json(const cocabo_trial *trial, void *context,
                                cocabo_error *err) {
  front_buffer *line = context;
  line->size = 0;
  CB_TRY(cli_put_json_trial(line, trial, err));
  CB_TRY(front_buffer_puts(line, "\n", err));
  cli_print(line);
  return COCABO_OK;
}

static cocabo_status print_lines(const cocabo_study *study, int state,
                                 cocabo_error *err) {
  front_buffer line = {0};
  const cocabo_status status = each(study, state, print_json, &line, err);
  front_buffer_free(&line);
  return status;
}

/* ---- as a table ------------------------------------------------------------------ */

typedef struct sheet {
  cli_table table;
  front_buffer cell;
  bool numbers[COCABO_MAX_PARAMETERS]; /* which parameters are no choices */
} sheet;

enum { BEFORE = 3, AFTER = 2 }; /* columns before and after the parameters */

static cocabo_status put_cell(sheet *s, cocabo_error *err) {
  const cocabo_status status =
      cli_table_cell(&s->table, s->cell.data ? s->cell.data : "", s->cell.size, err);
  s->cell.size = 0;
  return status;
}

/* Empty cells for what there is not yet. */
static cocabo_status add_result(sheet *s, double value, cocabo_error *err) {
  if (isfinite(value))
    CB_TRY(front_put_digits(&s->cell, value, err));
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
    if (s->numbers[i] && value.type == COCABO_REAL) /* all digits are in --json */
      CB_TRY(front_buffer_printf(&s->cell, err, "%.6g", value.as.real));
    else
      CB_TRY(cli_put_shown_value(&s->cell, &value, err));
    CB_TRY(put_cell(s, err));
  }
  return COCABO_OK;
}

static cocabo_status add_row(const cocabo_trial *trial, void *context,
                             cocabo_error *err) {
  sheet *s = context;
  const double seconds = cocabo_trial_finished(trial) - cocabo_trial_started(trial);
  CB_TRY(front_buffer_printf(&s->cell, err, "%" PRId64, cocabo_trial_number(trial)));
  CB_TRY(put_cell(s, err));
  CB_TRY(
      cli_table_text(&s->table, cocabo_state_name(cocabo_trial_get_state(trial)), err));
  CB_TRY(add_result(s, cocabo_trial_value(trial), err));
  CB_TRY(add_params(s, trial, err));
  CB_TRY(add_seconds(s, seconds, err));
  return cli_table_text(&s->table, cocabo_trial_reason(trial), err);
}

static cocabo_status add_titles(sheet *s, const cocabo_space *space,
                                cocabo_error *err) {
  static const char *const before[BEFORE] = {"number", "state", "value"};
  static const char *const after[AFTER] = {"seconds", "reason"};
  const size_t n = cocabo_space_count(space);
  for (size_t i = 0; i < BEFORE; i++)
    CB_TRY(cli_table_text(&s->table, before[i], err));
  for (size_t i = 0; i < n; i++)
    CB_TRY(cli_table_text(&s->table, cocabo_space_name(space, i), err));
  for (size_t i = 0; i < AFTER; i++)
    CB_TRY(cli_table_text(&s->table, after[i], err));
  for (size_t i = 0; i < n; i++) {
    s->numbers[i] = cocabo_space_choices(space, i) == 0;
    if (s->numbers[i])
      cli_table_align_right(&s->table, BEFORE + i);
  }
  cli_table_align_right(&s->table, 0);
  cli_table_align_right(&s->table, 2);
  cli_table_align_right(&s->table, BEFORE + n);
  return COCABO_OK;
}

static cocabo_status print_table(const cocabo_study *study, int state,
                                 cocabo_error *err) {
  const cocabo_space *space = cocabo_study_space(study);
  sheet s = {0};
  CB_TRY(cli_table_begin(&s.table, BEFORE + cocabo_space_count(space) + AFTER, err));
  cocabo_status status = add_titles(&s, space, err);
  if (status == COCABO_OK)
    status = each(study, state, add_row, &s, err);
  if (status == COCABO_OK)
    status = cli_table_print(&s.table, err);
  cli_table_free(&s.table);
  front_buffer_free(&s.cell);
  return status;
}

/* ---- the command ----------------------------------------------------------------- */

static cocabo_status list_trials(int argc, char **argv, cocabo_error *err) {
  trials_args args = {0};
  int state;
  cli_session session;
  CB_TRY(front_args_parse(options, argc, argv, &args, NULL, err));
  CB_TRY(parse_state(args.state, &state, err));
  CB_TRY(cli_open_study(&session, &args.common, COCABO_STORE_READ_ONLY, err));
  const cocabo_status status = args.common.json
                                   ? print_lines(session.study, state, err)
                                   : print_table(session.study, state, err);
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
    .usage = "[--state STATE] [options]",
    .options = options,
    .details = "A line each, by number. With --json the whole reason of a failure, and "
               "times in\nseconds since 1970.",
    .examples = "  cocabo trials\n"
                "  cocabo trials --state failed\n"
                "  cocabo trials --json | jq 'select(.value < 1) | .params'",
    .main = trials_main,
};
