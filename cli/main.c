/* cocabo - finds the best setting of any program whose inputs are a mixture of numbers
 * and categories.
 *
 * Reading order: cli.h (what commands share), spec.h (what a study shall be), output.h,
 * then the commands, one cmd_NAME.c each.
 */
#include <signal.h>
#include <stddef.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "common/program.h"
#include "common/show.h"
#include "complete.h"
#include "io/spec.h"

static const front_command *const commands[] = {
    &cmd_run,     &cmd_create, &cmd_ask,     &cmd_tell,   &cmd_best,    &cmd_trials,
    &cmd_studies, &cmd_export, &cmd_import,  &cmd_delete, &cmd_plot,    &cmd_verify,
    &cmd_worker,  &cmd_retry,  &cmd_workers, &cmd_copy,   &cmd_convert, &cmd_report,
    &cmd_serve,   &cmd_watch,  &cmd_mcp,     NULL};

static const front_topic topics[] = {
    {"options", "Options of a study, for --set OPTION=VALUE.", cli_spec_describe},
    {"conditions", "Conditions of parameters, and rules for --where.",
     cli_spec_describe_rules},
    {0}};

static const front_variable variables[] = {
    {"COCABO_STORAGE", "the storage URL where --storage is not given"},
    {"COCABO_STUDY", "the study's name where neither --study nor a file says it"},
    {"COCABO_TOKEN", "the token of a server, for serve and for http:// storages"},
    {"COCABO_TOKEN_FILE", "a file that has it, where --token-file is not given"},
    {0}};

static const front_program program = {
    .name = "cocabo",
    .summary =
        "Finds the best setting of a program whose inputs are numbers and choices.",
    .commands = commands,
    .topics = topics,
    .examples =
        "  cocabo run -p 'lr=float(1e-5,0.1,log)' -p 'opt=choice(adam,sgd)' -n 50 \\\n"
        "      -- python3 train.py --lr {lr} --optimizer {opt}\n"
        "  cocabo best\n"
        "  cocabo trials --state failed",
    .statuses =
        "0 done, 1 run-time failure, 2 bad usage or input, 3 nothing completed, "
        "130\ninterrupted.",
    .variables = variables,
};

/* What ps shows are the words that we were given: the program works with copies. */
static void hide_passwords(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char *copy = strstr(argv[i], "://") ? cb_strdup(argv[i]) : NULL;
    if (!copy)
      continue;
    show_nowhere(argv[i]);
    argv[i] = copy; /* for as long as the process lives */
  }
}

int main(int argc, char **argv) {
  hide_passwords(argc, argv);
  /* A closed pipe is a failed write with a sentence, not a sudden death. */
  signal(SIGPIPE, SIG_IGN);
  if (argc > 1 && strcmp(argv[1], "--complete") == 0)
    return complete_main(&program, argc - 2, argv + 2);
  return front_main(&program, argc, argv);
}
