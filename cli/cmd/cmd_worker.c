/* cocabo worker: evaluates trials of a study that knows its command, or with the one on
 * its line. */
#include "common/base.h"
#include "run/tune.h"

typedef struct worker_args {
  cli_spec_args spec; /* what the options below say of it */
  cli_tune_args tune;
  cli_common common;
} worker_args;

static const front_option options[] = {
    {"-j, --workers", "N", "trials at a time (1)", FRONT_TEXT,
     offsetof(worker_args, spec.workers)},
    {"--timeout", "TIME", "stop after 90s, 5m, 1h30m; running trials are given back",
     FRONT_TEXT, offsetof(worker_args, spec.timeout)},
    CLI_LIMIT_OPTIONS(worker_args),
    CLI_RESOURCE_OPTIONS(worker_args),
    CLI_TUNE_OPTIONS(worker_args),
    CLI_FILE_OPTION(worker_args),
    CLI_COMMON_OPTIONS(worker_args),
    {0},
};

/* Everything is the study's but how many at a time, which is a matter of the machine.
 */
static cocabo_status open_study(cli_spec *spec, const worker_args *args,
                                cli_session *session, cocabo_error *err) {
  char name[CB_SHOWN];
  CB_TRY(cli_tune_check(&args->tune, err));
  CB_TRY(cli_open_study(session, &args->common, 0, err));
  spec->workers = spec->workers > 0 ? spec->workers : 1;
  CB_TRY(cli_tune_recall(spec, &args->common, session->study, "worker", err));
  if (!spec->command)
    return cb_fail(err, COCABO_E_STATE,
                   "study \"%s\" has no command; cocabo run gives it one",
                   cb_text_show(name, cocabo_study_name(session->study)));
  if (!(spec->trials > 0) && !(spec->runs > 0) && !(spec->timeout > 0.0))
    return cb_fail(err, COCABO_E_STATE,
                   "study \"%s\" says nowhere when to stop; cocabo run -n does, "
                   "or --runs, or --timeout here",
                   cb_text_show(name, cocabo_study_name(session->study)));
  return COCABO_OK;
}

static int worker_main(int argc, char **argv) {
  worker_args args = {0};
  cli_spec spec;
  cli_session session = {0};
  cocabo_error err;
  const int end = front_options_end(argc, argv), words = end < argc ? end + 1 : argc;
  if (front_args_parse(options, end, argv, &args, NULL, &err) != COCABO_OK)
    return cli_complain("worker", &err);
  if (cli_spec_read(&spec, &args.spec, argv + words, argc - words, &err) != COCABO_OK)
    return cli_complain("worker", &err);
  const int exit_status =
      open_study(&spec, &args, &session, &err) == COCABO_OK
          ? cli_tune("worker", &args.common, &session, &spec, &args.tune)
          : cli_complain("worker", &err);
  cli_close(&session);
  cli_spec_clear(&spec);
  return exit_status;
}

const cli_command cmd_worker = {
    .name = "worker",
    .summary = "Helps with a study: evaluates its trials until its budget is reached.",
    .usage = "[--study NAME] [-j N] [options] [-- CMD [ARG or {NAME}] ...]",
    .options = options,
    .details =
        "The command, limits, retries and the number of trials are the study's, as\n"
        "cocabo run or cocabo create stored them, so the same line works on every\n"
        "machine that sees the storage. A worker may join and leave at any time: "
        "Ctrl-C\n"
        "gives its trials back, and those of a worker that died are taken over: at "
        "once on\n"
        "its own machine, elsewhere when their lease runs out.\n"
        "\n"
        "A command after -- is run instead of the study's, which stays as it is. Where "
        "the\n"
        "storage is http://HOST:PORT (cocabo serve --allow-store) it is needed: what "
        "comes\n"
        "over HTTP is not run.\n"
        "\n"
        "Exit status: 0 done, 1 run-time failure or --max-failures, 2 bad usage or "
        "input,\n"
        "3 nothing completed, 130 interrupted.",
    .examples = "  cocabo worker --study mnist\n"
                "  cocabo worker --study mnist -j 4 --timeout 1h\n"
                "  cocabo worker --study mnist -j 4 --pin --limit mem=8G\n"
                "  cocabo worker --storage http://host:8080 --study mnist \\\n"
                "    -- python3 train.py --lr={lr}",
    .main = worker_main,
};
