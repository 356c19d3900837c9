/* program.c - finds the command that the first argument names and runs it, or prints
 * help and version. */
#include "common/program.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"
#include "common/manual.h"

const front_command *front_find_command(const front_program *program,
                                        const char *name) {
  for (const front_command *const *c = program->commands; *c; c++)
    if (strcmp((*c)->name, name) == 0)
      return *c;
  return NULL;
}

const front_topic *front_find_topic(const front_program *program, const char *name) {
  for (const front_topic *t = program->topics; t && t->name; t++)
    if (strcmp(t->name, name) == 0)
      return t;
  return NULL;
}

static int print_usage(const front_program *program) {
  printf("usage: %s COMMAND [options]\n\n%s\n\nCommands:\n", program->name,
         program->summary);
  for (const front_command *const *c = program->commands; *c; c++)
    printf("  %-10s %s\n", (*c)->name, (*c)->summary);
  printf("\n  %s COMMAND --help   options and examples of a command\n", program->name);
  for (const front_topic *t = program->topics; t && t->name; t++)
    printf("  %s help %-11s %s\n", program->name, t->name, t->summary);
  printf("  %s --version\n\nExamples:\n%s\n\nExit status: %s\n", program->name,
         program->examples, program->statuses);
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

/* The program whose commands front_unknown enumerates, with its topics where they are
 * wanted: its callback takes no context. */
static const front_program *enumerated;
static bool with_topics;

static const char *command_name(int i) {
  int n = 0;
  while (enumerated->commands[n])
    n++;
  if (i < n)
    return enumerated->commands[i]->name;
  const front_topic *topics = with_topics ? enumerated->topics : NULL;
  for (int k = 0; topics && topics[k].name; k++)
    if (n + k == i)
      return topics[k].name;
  return NULL;
}

static int unknown_command(const front_program *program, const char *name,
                           bool or_topic) {
  cocabo_error err;
  enumerated = program;
  with_topics = or_topic;
  front_unknown(&err, "command", name, command_name);
  return front_complain(NULL, FRONT_USAGE, &err);
}

static int dispatch(const front_program *program, int argc, char **argv) {
  const front_command *command = front_find_command(program, argv[0]);
  if (!command)
    return unknown_command(program, argv[0], false);
  if (has_flag(argc - 1, argv + 1, "--version", "--version"))
    return print_version(program);
  if (has_flag(argc - 1, argv + 1, "--help", "-h")) {
    front_print_help(command);
    return front_finish_output(command->name);
  }
  return command->main(argc - 1, argv + 1);
}

static int print_topic(const front_topic *topic) {
  cocabo_error err;
  front_buffer text = {0};
  const cocabo_status status = topic->describe(&text, &err);
  if (status == COCABO_OK)
    front_write(text.data, text.size);
  front_buffer_free(&text);
  return status == COCABO_OK ? front_finish_output(NULL)
                             : front_complain(NULL, FRONT_FAILURE, &err);
}

/* `PROGRAM help COMMAND` is what many type first. */
static int print_help(const front_program *program, int argc, char **argv) {
  if (argc == 0)
    return print_usage(program);
  const front_topic *topic = front_find_topic(program, argv[0]);
  if (topic)
    return print_topic(topic);
  if (!front_find_command(program, argv[0]))
    return unknown_command(program, argv[0], true);
  char *help[] = {argv[0], "--help"};
  return dispatch(program, 2, help);
}

int front_main(const front_program *program, int argc, char **argv) {
  front_set_program(program->name);
  /* Several workers may share a terminal or a log: a line is one write. */
  setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
  if (argc < 2) {
    cocabo_error err;
    cb_fail(&err, COCABO_E_INVALID, "no command given, %s --help shows them",
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
