/* cocabo run: tunes a program. Creates the study or resumes it. */
#include <string.h>

#include "common/base.h"
#include "run/attempt.h"
#include "run/tune.h"

typedef struct run_args {
  cli_spec_args spec;
  cli_tune_args tune;
  cli_common common;
} run_args;

static const front_option options[] = {
    CLI_SPEC_OPTIONS(run_args),
    CLI_TUNE_OPTIONS(run_args),
    CLI_COMMON_OPTIONS(run_args),
    {0},
};

/* What is wrong with a line that shall make a study is said before there is one. What
 * the line leaves open, a study that is there may know. */
static cocabo_status check(const cli_spec *spec, const run_args *args,
                           cocabo_error *err) {
  cli_program program;
  CB_TRY(cli_tune_check(&args->tune, err));
  if (spec->command && spec->space)
    CB_TRY(cli_program_find(&program, spec->command, spec->space, err));
  else if (spec->command && !strchr(spec->command[0], '{'))
    CB_TRY(cli_find_program(spec->command[0], program.path, sizeof program.path, err));
  const cocabo_status complete = cli_tune_want(spec, err);
  return complete == COCABO_OK || cli_spec_exists(spec, &args->common) ? COCABO_OK
                                                                       : complete;
}

static cocabo_status open_study(cli_spec *spec, const run_args *args,
                                cli_session *session, cocabo_error *err) {
  CB_TRY(check(spec, args, err));
  CB_TRY(cli_spec_open(spec, &args->common, session, NULL, err));
  return cli_tune_recall(spec, &args->common, session->study, "run", err);
}

static int run_main(int argc, char **argv) {
  run_args args = {0};
  front_texts words = {0};
  cli_spec spec;
  cli_session session = {0};
  cocabo_error err;
  if (front_args_parse(options, argc, argv, &args, &words, &err) != COCABO_OK ||
      cli_spec_read(&spec, &args.spec, (char *const *)words.items, words.n, &err) !=
          COCABO_OK)
    return cli_complain("run", &err);
  const int exit_status =
      open_study(&spec, &args, &session, &err) == COCABO_OK
          ? cli_tune("run", &args.common, &session, &spec, &args.tune)
          : cli_complain("run", &err);
  cli_close(&session);
  cli_spec_clear(&spec);
  return exit_status;
}

const cli_command cmd_run = {
    .name = "run",
    .summary = "Tunes a program. The same line again resumes.",
    .usage = "-p 'NAME=DOMAIN' ... -n TRIALS [options] -- CMD [ARG or {NAME}] ...",
    .options = options,
    .details =
        "Domains are float(1e-5,0.1,log), float(0,1,step=0.25), int(1,8),\n"
        "int(16,1024,log), int(8,64,step=8), bool, choice(adam,sgd,rmsprop) and\n"
        "ordinal(small,medium,large). 'degree=int(2,5) if kernel == poly' has a\n"
        "condition, and --where 'lc + lp <= 4' is a rule: see `cocabo help "
        "conditions`.\n"
        "\n"
        "The command runs without a shell. {NAME} in its words becomes the value, and\n"
        "{trial} the trial's number; {{NAME}} is the text {NAME}. Another {word} is "
        "an\n"
        "error, but in a script (a word with blanks) only a misspelt name is. Where "
        "NAME\n"
        "is inactive its word is dropped, with the option before it, but\n"
        "{NAME:-text} becomes the text.\n"
        "\n"
        "Its environment has COCABO_PARAMS (all values, as JSON), COCABO_TRIAL,\n"
        "COCABO_STUDY, COCABO_STORAGE, COCABO_SEED and COCABO_RESULT, a file that it "
        "may\n"
        "write. `cocabo tell $COCABO_TRIAL VALUE --step STEP` says how far it is. Its\n"
        "value is that file, else the last line that it prints: a number or an object\n"
        "{\"value\": number, ...}, whose other numbers are kept as metrics. --metric\n"
        "takes a metric, or the value, from other lines: the last match of an "
        "extended\n"
        "regular expression, of it the first group. --objective names the metric that\n"
        "is the value, which may be one of seconds, cpu_seconds and max_rss (bytes)\n"
        "that are always measured. It fails by an exit status other than 0, by giving "
        "no\n"
        "value, and by nan or inf; failures count as trials and are learnt from.\n"
        "\n"
        "Ctrl-C, like --timeout, gives running trials back: they are offered first on\n"
        "resume. A second Ctrl-C leaves at once. --target, --patience and\n"
        "--max-failures let them finish. Without --max-failures, a run whose first 10\n"
        "trials all fail for one reason stops. Ctrl-Z stops the programs too, and "
        "that\n"
        "time does not count for --trial-timeout. Any number of runs and workers may\n"
        "share a study. A TIME is 90, 90s, 5m, 1h30m.\n"
        "\n"
        "--instances FILE has what a trial is run on, one a line: {instance} in the\n"
        "command; with --seeds K each comes with seeds 1 to K: {seed}, COCABO_SEED. A\n"
        "trial's value is what its runs come to, by --combine. All trials take the "
        "same\n"
        "runs in the same order; one that is surely worse than the best, or behind it\n"
        "after 5, 10, 20 ... of them, is given up. --repeats is for noisy values\n"
        "without instances, --runs and --max-runs are budgets. Where the value is a "
        "time,\n"
        "--cap auto ends runs whose trial cannot win any more; --cap TIME ends all "
        "that\n"
        "take longer, and --par K counts those as K times that.\n"
        "\n"
        "--limit says what one evaluation may use, all its processes together: "
        "mem=8G,\n"
        "cpu=5m, files=64, fsize=1G, procs=32. One that wants more is ended, and its\n"
        "failure names the limit. --pin divides the processors among the -j trials.\n"
        "\n"
        "--json prints every trial as it finishes, one a line, as `trials --json` "
        "does.\n"
        "\n"
        "Exit status: 0 done, 1 run-time failure or --max-failures, 2 bad usage or\n"
        "input, 3 nothing completed, 130 interrupted.",
    .more = cli_spec_introduce,
    .examples =
        "  cocabo run -p 'lr=float(1e-5,0.1,log)' -p 'opt=choice(adam,sgd)' -n 50 \\\n"
        "    -- python3 train.py --lr={lr} --optimizer={opt}\n"
        "  cocabo run -f study.yaml -j 4 --trial-timeout 10m --log-dir logs\n"
        "  cocabo run -f study.yaml -j 2 --pin --limit mem=2G,cpu=10m\n"
        "  cocabo run -p 'level=int(1,19)' -n 12 --maximize -- ./score.sh {level}\n"
        "  cocabo run -p 'restart=int(10,1000,log)' --instances list.txt --seeds 3 "
        "\\\n"
        "    --runs 500 -- ./solver -r {restart} --seed {seed} {instance}",
    .main = run_main,
};
