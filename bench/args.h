/* args.h - the command line: commands, their options, lists, and the sentences that
 * answer bad ones.
 *
 * A command declares its options in a constant table whose entries name fields of its
 * own argument struct, so parsing, help and "did you mean" come from the same lines.
 */
#ifndef BENCH_ARGS_H
#define BENCH_ARGS_H

#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"

/* Exit statuses, as for every program of this project; 130 is 128 + SIGINT. */
enum { BENCH_DONE = 0, BENCH_FAILURE = 1, BENCH_USAGE = 2 };

/* Values of a repeatable option, or arguments that belong to no option. */
enum { BENCH_MAX_TEXTS = 64 };
typedef struct bench_texts {
  int n;
  const char *items[BENCH_MAX_TEXTS]; /* borrowed from argv */
} bench_texts;

/* What the option's field in the argument struct is. */
typedef enum bench_field {
  BENCH_FLAG, /* bool, set to true */
  BENCH_TEXT, /* const char *, borrowed from argv; given at most once */
  BENCH_TEXTS /* bench_texts, one item each time it is given */
} bench_field;

typedef struct bench_option {
  const char *name;  /* "--seeds", or "-o"; NULL ends the table */
  const char *value; /* what follows it, for the help; NULL for a flag */
  const char *help;
  bench_field field;
  size_t offset; /* of the field */
} bench_option;

typedef struct bench_command {
  const char *name;
  const char *summary; /* one line */
  const char *usage;   /* what follows "cocabo-bench NAME" */
  const bench_option *options;
  const char *details;                /* paragraphs for the help, or NULL */
  const char *examples;               /* lines for the help */
  int (*main)(int argc, char **argv); /* its arguments only; returns the exit status */
} bench_command;

extern const bench_command bench_list, bench_run, bench_table, bench_compare,
    bench_surrogate, bench_latency;

void bench_print_help(const bench_command *command);

/* Fills the fields of `args` that the arguments name; the others stay as they are.
 * Arguments that are no options go to `rest`; NULL: there must be none. */
cocabo_status bench_args_parse(const bench_option *options, int argc, char **argv,
                               void *args, bench_texts *rest, cocabo_error *err);

/* Prints "cocabo-bench NAME: sentence" (NAME may be NULL) and returns the exit status
 * given, or 1 where memory ran out. */
int bench_complain(const char *command, int exit_status, const cocabo_error *err);

/* Flushes standard output; a full disk or closed pipe is a failure with a sentence. */
int bench_finish_output(const char *command);

/* ---- values --------------------------------------------------------------------- */

/* A whole number in [low, high]. A NULL text leaves *out, the default, as it is. */
cocabo_status bench_parse_int(const char *option, const char *text, int64_t low,
                              int64_t high, int64_t *out, cocabo_error *err);

/* "0,3,5-7": distinct whole numbers in [low, high], in the order given. */
enum { BENCH_MAX_INTS = 100000 };
typedef struct bench_ints {
  int64_t n;
  int64_t *items; /* owned; released by bench_ints_free */
} bench_ints;
cocabo_status bench_parse_ints(const char *option, const char *text, int64_t low,
                               int64_t high, bench_ints *out, cocabo_error *err);
void bench_ints_free(bench_ints *ints);

/* Things with names, the i-th at i = 0, 1, ... until NULL. */
typedef const char *(*bench_name_at)(int i);

/* "a,b": distinct names of things, as their numbers in the order given. `what` is the
 * word for one of them. A NULL text is an error: the option is missing. */
enum { BENCH_MAX_CHOSEN = 64 };
typedef struct bench_chosen {
  int n;
  int items[BENCH_MAX_CHOSEN];
} bench_chosen;
cocabo_status bench_parse_names(const char *option, const char *what, const char *text,
                                bench_name_at name_at, bench_chosen *out,
                                cocabo_error *err);

/* Fails with: unknown WHAT "name", did you mean NEAREST? */
cocabo_status bench_unknown(cocabo_error *err, const char *what, const char *name,
                            bench_name_at name_at);

#endif
