/* cmd_ask.c - cocabo ask: points to evaluate. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "common/base.h"
#include "common/json.h"
#include "io/metrics.h"
#include "io/output.h"
#include "run/signals.h"

typedef struct ask_args {
  const char *count, *lease;
  cli_common common;
} ask_args;

static const front_option options[] = {
    {"-n, --count", "K", "trials to ask for, jointly (1)", FRONT_TEXT,
     offsetof(ask_args, count)},
    {"--lease", "TIME", "if there is no tell for so long, offer them again", FRONT_TEXT,
     offsetof(ask_args, lease)},
    CLI_FILE_OPTION(ask_args),
    CLI_COMMON_OPTIONS(ask_args),
    {0}};

enum { MAX_COUNT = 100000 };

/* Somebody who will not come back for a renewal, but is told from others. */
static void name_owner(char *out, size_t size) {
  char host[64] = "";
  gethostname(host, sizeof host - 1);
  snprintf(out, size, "ask-%s-%ld", host, (long)getpid());
}

static cocabo_status take_lease(cocabo_study *study, const char *text,
                                cocabo_error *err) {
  char owner[128];
  double seconds = 0.0;
  if (!text)
    return COCABO_OK;
  CB_TRY(front_parse_duration("--lease", text, 0.001, &seconds, err));
  name_owner(owner, sizeof owner);
  return cocabo_study_lease(study, owner, seconds, err);
}

/* Which run of the trial it is: the last that it has. */
static cocabo_status put_run(front_buffer *out, const cocabo_trial *trial,
                             cocabo_error *err) {
  size_t n = 0;
  const cocabo_run *runs = cocabo_trial_runs(trial, &n);
  if (n == 0)
    return COCABO_OK;
  const cocabo_run *run = &runs[n - 1];
  CB_TRY(front_buffer_printf(out, err, " (run %" PRId64, run->run));
  if (run->instance) {
    CB_TRY(front_buffer_puts(out, " on ", err));
    CB_TRY(front_put_json_text(out, run->instance, err));
  }
  return front_buffer_printf(out, err, " with seed %" PRId64 ")", run->seed);
}

static cocabo_status put_trial(front_buffer *out, const cocabo_study *study,
                               const cocabo_trial *trial, bool json,
                               cocabo_error *err) {
  if (json)
    CB_TRY(cli_put_json_trial(out, study, trial, err));
  else {
    CB_TRY(front_buffer_printf(out, err, "%" PRId64 " ", cocabo_trial_number(trial)));
    CB_TRY(cli_put_shown_params(out, trial, err));
    CB_TRY(put_run(out, trial, err));
  }
  return front_buffer_puts(out, "\n", err);
}

static int is_interrupted(void *user) {
  (void)user;
  return cli_signals_stop() != 0;
}

static cocabo_status ask(cocabo_study *study, size_t n, cocabo_trial **trials,
                         cocabo_error *err) {
  CB_TRY(cli_signals_catch(err));
  cocabo_study_on_interrupt(study, is_interrupted, NULL);
  cocabo_status status = cocabo_study_ask(study, n, trials, err);
  if (status == COCABO_E_STATE && cli_has_runs(study)) {
    cocabo_run run;
    status = COCABO_OK;
    for (size_t i = 0; i < n && status == COCABO_OK; i++)
      status = cocabo_study_ask_run(study, &trials[i], &run, err);
  }
  cli_signals_release();
  return status;
}

static cocabo_status ask_and_put(cocabo_study *study, const ask_args *args, size_t n,
                                 front_buffer *out, cocabo_error *err) {
  CB_TRY(take_lease(study, args->lease, err));
  cocabo_trial **trials = cb_calloc(n, sizeof(cocabo_trial *));
  if (!trials)
    return cb_no_memory(err);
  cocabo_status status = ask(study, n, trials, err);
  for (size_t i = 0; i < n && status == COCABO_OK; i++)
    status = put_trial(out, study, trials[i], args->common.json, err);
  for (size_t i = 0; i < n; i++)
    cocabo_trial_free(trials[i]);
  cb_free(trials);
  return status;
}

static cocabo_status parse_and_ask(int argc, char **argv, front_buffer *out,
                                   cocabo_error *err) {
  ask_args args = {0};
  int64_t n = 1;
  cli_session session;
  CB_TRY(front_args_parse(options, argc, argv, &args, NULL, err));
  CB_TRY(front_parse_int("-n", args.count, 1, MAX_COUNT, &n, err));
  CB_TRY(cli_open_study(&session, &args.common, 0, err));
  const cocabo_status status = ask_and_put(session.study, &args, (size_t)n, out, err);
  cli_close(&session);
  return status;
}

static int ask_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  const cocabo_status status = parse_and_ask(argc, argv, &out, &err);
  return cli_answer("ask", status, &out, &err);
}

const cli_command cmd_ask = {
    .name = "ask",
    .summary = "Asks for trials to evaluate.",
    .usage = "[-n K] [--lease TIME] [options]",
    .options = options,
    .details =
        "Prints one trial a line: its number and its values, as NAME=VALUE. Trials "
        "that\n"
        "were enqueued, interrupted or lost come first. Each is running until cocabo\n"
        "tell has its result; with --lease it is offered again if that takes too "
        "long.\n"
        "Where trials are evaluated run by run, it is a run, and says on what: tell "
        "it\n"
        "with cocabo tell NUMBER --run RUN VALUE.",
    .examples = "  cocabo ask\n"
                "  cocabo ask -n 4 --lease 3600 --json",
    .main = ask_main,
};
