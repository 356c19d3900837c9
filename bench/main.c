/* cocabo-bench - the paper's problems, methods, tables and figures.
 *
 * Reading order: problem.h (what is optimised), methods.h (by what), experiment.h (one
 * run), campaign.h (many runs into one file), then the commands.
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "base/status.h"

static const bench_command *const commands[] = {&bench_list,      &bench_run,
                                                &bench_table,     &bench_compare,
                                                &bench_surrogate, &bench_latency};
enum { N_COMMANDS = sizeof commands / sizeof commands[0] };

static const char *command_name(int i) {
  return i < N_COMMANDS ? commands[i]->name : NULL;
}

static const bench_command *find_command(const char *name) {
  for (int i = 0; i < N_COMMANDS; i++)
    if (strcmp(commands[i]->name, name) == 0)
      return commands[i];
  return NULL;
}

static int print_usage(void) {
  printf("usage: cocabo-bench COMMAND [options]\n\n"
         "Benchmarks of optimisation over numbers and categories.\n\nCommands:\n");
  for (int i = 0; i < N_COMMANDS; i++)
    printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
  printf("\n  cocabo-bench COMMAND --help   options and examples of a command\n"
         "  cocabo-bench --version\n\nExamples:\n"
         "  cocabo-bench run --problem func-2c --method random,cocabo-0.5 \\\n"
         "      --seeds 0-4 -o results.csv\n"
         "  cocabo-bench table results.csv\n"
         "  cocabo-bench compare results.csv --method random,cocabo-0.5\n\n"
         "Exit status: 0 done, 1 run-time failure, 2 bad usage or input, 130 "
         "interrupted.\n");
  return bench_finish_output(NULL);
}

static int print_version(void) {
  const unsigned version = cocabo_version();
  printf("cocabo-bench %u.%u.%u\n", version >> 16, version >> 8 & 0xff, version & 0xff);
  return bench_finish_output(NULL);
}

static bool wants_help(int argc, char **argv) {
  for (int i = 0; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0)
      return true;
  return false;
}

static int dispatch(int argc, char **argv) {
  const bench_command *command = find_command(argv[0]);
  if (!command) {
    cocabo_error err;
    bench_unknown(&err, "command", argv[0], command_name);
    return bench_complain(NULL, BENCH_USAGE, &err);
  }
  if (!wants_help(argc - 1, argv + 1))
    return command->main(argc - 1, argv + 1);
  bench_print_help(command);
  return bench_finish_output(command->name);
}

int main(int argc, char **argv) {
  if (argc < 2) {
    cocabo_error err;
    cb_fail(&err, COCABO_E_INVALID, "no command given, cocabo-bench --help shows them");
    return bench_complain(NULL, BENCH_USAGE, &err);
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
    return print_usage();
  if (strcmp(argv[1], "--version") == 0)
    return print_version();
  return dispatch(argc - 1, argv + 1);
}
