/* cmd_best.c - cocabo best: the best trial so far. */
#include <inttypes.h>
#include <stdio.h>

#include "cli.h"
#include "common/base.h"
#include "common/show.h"
#include "io/best.h"
#include "io/metrics.h"
#include "io/output.h"

typedef struct best_args {
  cli_common common;
} best_args;

static const front_option options[] = {
    CLI_FILE_OPTION(best_args), CLI_COMMON_OPTIONS(best_args), {0}};

/* A line each, under their own heading. */
static cocabo_status put_metrics(front_buffer *out, const cocabo_trial *trial,
                                 bool verbose, cocabo_error *err) {
  size_t n, shown = 0;
  const cocabo_metric *metrics = cocabo_trial_metrics(trial, &n);
  for (size_t i = 0; i < n; i++) {
    if (!verbose && cli_metric_is_built_in(metrics[i].name))
      continue;
    CB_TRY(front_buffer_puts(out, shown++ > 0 ? "        " : "metrics ", err));
    CB_TRY(show_put(out, metrics[i].name, err));
    CB_TRY(front_buffer_puts(out, " = ", err));
    CB_TRY(cli_put_rounded(out, metrics[i].value, err));
    CB_TRY(front_buffer_puts(out, "\n", err));
  }
  return COCABO_OK;
}

static cocabo_status count_feasible(const cocabo_study *study, int64_t *out,
                                    cocabo_error *err) {
  *out = 0;
  for (int64_t i = 0; i < cocabo_study_count(study); i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(study, i, &trial, err));
    *out += cocabo_trial_feasible(trial) == 1;
    cocabo_trial_free(trial);
  }
  return COCABO_OK;
}

static cocabo_status put_lines(front_buffer *out, cocabo_study *study,
                               const cli_best *best, bool verbose, cocabo_error *err) {
  const cocabo_trial *trial = best->trial;
  CB_TRY(front_buffer_puts(out, "value   ", err));
  CB_TRY(cli_put_best_value(out, best, err));
  int64_t n_best = cocabo_study_count_state(study, COCABO_COMPLETE);
  if (best->constrained && best->feasible)
    CB_TRY(count_feasible(study, &n_best, err));
  CB_TRY(front_buffer_printf(
      out, err, "\ntrial   %" PRId64 ", the %s of %" PRId64 "%s (%s%s)\n",
      cocabo_trial_number(trial), best->feasible ? "best" : "least violation", n_best,
      best->constrained && best->feasible ? " that keep the constraints" : "",
      cocabo_study_option(study, "direction"),
      best->modelled ? ", as the model sees it" : ""));
  const size_t n = cocabo_trial_count(trial);
  const char *before = "params  ";
  for (size_t i = 0; i < n; i++) {
    const char *name;
    cocabo_value value;
    CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
    if (value.type == COCABO_ABSENT)
      continue;
    CB_TRY(front_buffer_puts(out, before, err));
    before = "\n        ";
    CB_TRY(show_put(out, name, err));
    CB_TRY(front_buffer_puts(out, " = ", err));
    CB_TRY(cli_put_rounded_param(out, cocabo_study_space(study), i, &value, err));
  }
  CB_TRY(front_buffer_puts(out, "\n", err));
  return put_metrics(out, trial, verbose, err);
}

static cocabo_status put_best(front_buffer *out, cocabo_study *study,
                              const cli_common *common, cocabo_error *err) {
  const bool json = common->json;
  cli_best best;
  CB_TRY(cli_best_find(&best, study, err));
  cocabo_status status = json ? cli_put_json_best(out, study, &best, err)
                              : put_lines(out, study, &best, common->verbose, err);
  if (json && status == COCABO_OK)
    status = front_buffer_puts(out, "\n", err);
  cli_best_free(&best);
  return status;
}

/* Nothing completed has an exit status of its own. */
static int find_best(const cli_common *common, front_buffer *out) {
  cli_session session;
  cocabo_error err;
  if (cli_open_study(&session, common, COCABO_STORE_READ_ONLY, &err) != COCABO_OK)
    return cli_complain("best", &err);
  int status = FRONT_DONE;
  switch (put_best(out, session.study, common, &err)) {
  case COCABO_OK:
    break;
  case COCABO_E_NOT_FOUND:
    status = front_complain("best", FRONT_NOTHING, &err);
    break;
  default:
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
    .details =
        "Where values are noisy (deterministic=false) the best trial is the one that "
        "the\n"
        "sampler's model expects most of, with the expected value and its standard "
        "error\n"
        "beside the one that was measured; with --json they are \"expected\" and\n"
        "\"expected_se\". A sampler without a model (random, sobol, tpe) can only "
        "name\n"
        "the luckiest.\n\n"
        "Where the study has constraints it is the best of those that keep them; "
        "while none\n"
        "does, the one with the least violation, which the text says and \"feasible\" "
        "is false.\n\n"
        "Exit status 3: no trial is complete yet.",
    .examples = "  cocabo best\n"
                "  cocabo best --study second --json | jq .params",
    .main = best_main,
};
