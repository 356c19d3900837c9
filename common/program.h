/* program.h - a program that consists of commands: its help, its version, and the way
 * to the command that the first argument names. */
#ifndef FRONT_PROGRAM_H
#define FRONT_PROGRAM_H

#include "common/args.h"

typedef struct front_variable {
  const char *name; /* NULL ends the list */
  const char *help;
} front_variable;

typedef struct front_program {
  const char *name;                     /* as the user types it */
  const char *summary;                  /* one line */
  const front_command *const *commands; /* in the order of the help; NULL ends them */
  const front_topic *topics;            /* or NULL */
  const char *examples, *statuses;      /* lines for the help */
  const front_variable *variables;      /* what the environment may say; may be NULL */
} front_program;

const front_command *front_find_command(const front_program *program, const char *name);

const front_topic *front_find_topic(const front_program *program, const char *name);

/* Does what the arguments say and returns the exit status. */
int front_main(const front_program *program, int argc, char **argv);

#endif
