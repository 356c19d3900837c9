/* cmd_best.c - cocabo best: the best trial so far. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "common/show.h"
#include "io/output.h"

typedef struct best_args {
  cli_common common;
} best_args;

static const front_option options[] = {
    CLI_FILE_OPTION(best_args), CLI_COMMON_OPTIONS(best_args), {0}};

static cocabo_status put_lines(front_buffer *out, cocabo_study *study,
                               const cocabo_trial *trial, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "value   ", err));
  CB_TRY(cli_put_rounded(out, cocabo_trial_value(trial), err));
  /* With noise the best value may be luck, and the trial another. */
  const bool noisy = strcmp(cocabo_study_option(study, "deterministic"), "false") == 0;
  CB_TRY(front_buffer_printf(
      out, err, "\ntrial   %" PRId64 ", the best of %" PRId64 " (%s%s)\n",
      cocabo_trial_number(trial), cocabo_study_count_state(study, COCABO_COMPLETE),
      cocabo_study_option(study, "direction"), noisy ? ", as the model sees it" : ""));
  const size_t n = cocabo_trial_count(trial);
  for (size_t i = 0; i < n; i++) {
    const char *name;
    cocabo_value value;
    CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
    CB_TRY(front_buffer_puts(out, i > 0 ? "\n        " : "params  ", err));
    CB_TRY(show_put(out, name, err));
    CB_TRY(front_buffer_puts(out, " = ", err));
    CB_TRY(cli_put_rounded_param(out, cocabo_study_space(study), i, &value, err));
  }
  return front_buffer_puts(out, "\n", err);
}

static cocabo_status put_best(front_buffer *out, cocabo_study *study, bool json,
                              cocabo_error *err) {
  cocabo_trial *trial;
  CB_TRY(cocabo_study_best(study, &trial, err));
  cocabo_status status =
      json ? cli_put_json_trial(out, trial, err) : put_lines(out, study, trial, err);
  if (json && status == COCABO_OK)
    status = front_buffer_puts(out, "\n", err);
  cocabo_trial_free(trial);
  return status;
}

/* Nothing completed has an exit status of its own. */
static int find_best(const cli_common *common, front_buffer *out) {
  cli_session session;
  cocabo_error err;
  if (cli_open_study(&session, common, COCABO_STORE_READ_ONLY, &err) != COCABO_OK)
    return cli_complain("best", &err);
  int status = FRONT_DONE;
  if (cocabo_study_count_state(session.study, COCABO_COMPLETE) == 0) {
    char name[CB_SHOWN];
    cb_fail(&err, COCABO_E_NOT_FOUND, "no trial of study \"%s\" is complete yet",
            cb_text_show(name, cocabo_study_name(session.study)));
    status = front_complain("best", FRONT_NOTHING, &err);
  } else if (put_best(out, session.study, common->json, &err) != COCABO_OK) {
    status = cli_complain("best", &err);
  }
  cli_close(&session);
  return status;
}

static int best_main(int argc, char **argv) {
  best_args args = {0};
  cocabo_error err;
  front_buffer out = {0};
  if (front_args_parse(options, argc, argv, &args, NULL, &err) != COCABO_OK)
    return cli_complain("best", &err);
  int status = find_best(&args.common, &out);
  if (status == FRONT_DONE) {
    cli_print(&out);
    status = front_finish_output("best");
  }
  front_buffer_free(&out);
  return status;
}

const cli_command cmd_best = {
    .name = "best",
    .summary = "Shows the best trial so far.",
    .usage = "[options]",
    .options = options,
    .details = "Exit status 3: no trial is complete yet.",
    .examples = "  cocabo best\n"
                "  cocabo best --study second --json | jq .params",
    .main = best_main,
};
