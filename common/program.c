/* program.c - a program made of commands: finds the one that is named and runs it. */
#include "common/program.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/fail.h"
#include "common/manual.h"

const front_command *front_find_command(const front_program *program,
                                        const char *name) {
  for (const front_command *const *c = program->commands; *c; c++)
    if (strcmp((*c)->name, name) == 0)
      return *c;
  return NULL;
}

static int print_usage(const front_program *program) {
  printf("usage: %s COMMAND [options]\n\n%s\n\nCommands:\n", program->name,
         program->summary);
  for (const front_command *const *c = program->commands; *c; c++)
    printf("  %-10s %s\n", (*c)->name, (*c)->summary);
  printf("\n  %s COMMAND --help   options and examples of a command\n"
         "  %s --version\n\nExamples:\n%s\n\nExit status: %s\n",
         program->name, program->name, program->examples, program->statuses);
  return front_finish_output(NULL);
}

static int print_version(const front_program *program) {
  const unsigned version = cocabo_version();
  printf("%s %u.%u.%u\n", program->name, version >> 16, version >> 8 & 0xff,
         version & 0xff);
  return front_finish_output(NULL);
}

/* What follows a lone -- belongs to somebody else. */
static bool has_flag(int argc, char **argv, const char *one, const char *other) {
  for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
    if (strcmp(argv[i], one) == 0 || strcmp(argv[i], other) == 0)
      return true;
  return false;
}

/* The commands that front_unknown enumerates: its callback takes no context. */
static const front_command *const *enumerated;

static const char *command_name(int i) {
  return enumerated[i] ? enumerated[i]->name : NULL;
}

static int dispatch(const front_program *program, int argc, char **argv) {
  const front_command *command = front_find_command(program, argv[0]);
  if (!command) {
    cocabo_error err;
    enumerated = program->commands;
    front_unknown(&err, "command", argv[0], command_name);
    return front_complain(NULL, FRONT_USAGE, &err);
  }
  if (has_flag(argc - 1, argv + 1, "--version", "--version"))
    return print_version(program);
  if (has_flag(argc - 1, argv + 1, "--help", "-h")) {
    front_print_help(command);
    return front_finish_output(command->name);
  }
  return command->main(argc - 1, argv + 1);
}

/* `PROGRAM help COMMAND` is what many type first. */
static int print_help(const front_program *program, int argc, char **argv) {
  if (argc == 0)
    return print_usage(program);
  char *help[] = {argv[0], "--help"};
  return dispatch(program, 2, help);
}

int front_main(const front_program *program, int argc, char **argv) {
  front_set_program(program->name);
  if (argc < 2) {
    cocabo_error err;
    front_fail(&err, COCABO_E_INVALID, "no command given, %s --help shows them",
               program->name);
    return front_complain(NULL, FRONT_USAGE, &err);
  }
  if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)
    return print_usage(program);
  if (strcmp(argv[1], "--version") == 0)
    return print_version(program);
  if (strcmp(argv[1], "--man") == 0)
    return front_manual(program, argc - 2, argv + 2);
  if (strcmp(argv[1], "help") == 0)
    return print_help(program, argc - 2, argv + 2);
  return dispatch(program, argc - 1, argv + 1);
}
