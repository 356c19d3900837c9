/* args.h - the command line: commands, their options, lists, and the sentences that
 * answer bad ones.
 *
 * A command declares its options in a constant table whose entries name fields of its
 * own argument struct, so parsing, help and "did you mean" come from the same lines.
 */
#ifndef FRONT_ARGS_H
#define FRONT_ARGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "common/buffer.h"

/* Exit statuses, as for every program of this project; 130 is 128 + SIGINT. */
enum {
  FRONT_DONE = 0,
  FRONT_FAILURE = 1,
  FRONT_USAGE = 2,
  FRONT_NOTHING = 3, /* no trial completed */
  FRONT_INTERRUPTED = 130
};

/* Values of a repeatable option, or arguments that belong to no option. */
enum { FRONT_MAX_TEXTS = 1000 };
typedef struct front_texts {
  int n;
  const char *items[FRONT_MAX_TEXTS]; /* borrowed from argv */
} front_texts;

/* What the option's field in the argument struct is. */
typedef enum front_field {
  FRONT_FLAG,   /* bool, set to true */
  FRONT_TEXT,   /* const char *, borrowed from argv; given at most once */
  FRONT_TEXTS,  /* front_texts, one item each time it is given */
  FRONT_HEADING /* no option: its help is a title in the help */
} front_field;

typedef struct front_option {
  const char *name;  /* "--seeds", or "-o, --output"; NULL ends the table */
  const char *value; /* what follows it, for the help; NULL for a flag */
  const char *help;
  front_field field;
  size_t offset; /* of the field */
} front_option;

typedef struct front_command {
  const char *name;
  const char *summary; /* one line */
  const char *usage;   /* what follows "PROGRAM NAME" */
  const front_option *options;
  const char *details; /* paragraphs for the help, or NULL */
  /* Appends further paragraphs that are known only at run time; may be NULL. */
  cocabo_status (*more)(front_buffer *out, cocabo_error *err);
  const char *examples;               /* lines for the help */
  int (*main)(int argc, char **argv); /* its arguments only; returns the exit status */
} front_command;

/* Something that `PROGRAM help NAME` explains and that is no command. */
typedef struct front_topic {
  const char *name; /* NULL ends a table */
  const char *summary;
  cocabo_status (*describe)(front_buffer *out, cocabo_error *err);
} front_topic;

/* The option of that name ("--output" finds "-o, --output"), or NULL. */
const front_option *front_find_option(const front_option *options, const char *name);
/* Steps through "-o, --output": gives the name at *names and its size, and moves *names
 * to the next one, or to NULL. */
const char *front_next_name(const char **names, size_t *size);

/* The name that sentences and help begin with; static. */
void front_set_program(const char *name);

void front_print_help(const front_command *command);

/* Fills the fields of `args` that the arguments name; the others stay as they are.
 * Arguments that are no options (negative numbers are none) and all that follow a lone
 * "--" go to `rest`; NULL: there must be none. A short option may have its value
 * attached, as in -j4. */
cocabo_status front_args_parse(const front_option *options, int argc, char **argv,
                               void *args, front_texts *rest, cocabo_error *err);

/* Where a lone "--" stands, or argc. */
int front_options_end(int argc, char **argv);

/* Prints "PROGRAM NAME: sentence" (NAME may be NULL) and returns the exit status
 * given, or 1 where memory ran out. */
int front_complain(const char *command, int exit_status, const cocabo_error *err);

/* Writes to standard output; false once that has failed, so that a long listing can
 * stop. front_finish_output has the sentence for it. On a terminal, characters that
 * would play with it are shown as '?'. */
bool front_write(const char *text, size_t size);

/* Flushes standard output; a full disk or closed pipe is a failure with a sentence. */
int front_finish_output(const char *command);

/* ---- values --------------------------------------------------------------------- */

/* A whole number in [low, high]. A NULL text leaves *out, the default, as it is. */
cocabo_status front_parse_int(const char *option, const char *text, int64_t low,
                              int64_t high, int64_t *out, cocabo_error *err);

/* How long something may take, in seconds: 90, 1.5, 90s, 5m, 1h30m, 2d. At most
 * FRONT_MAX_SECONDS. The units d, h, m and s come in this order, each at most once. */
#define FRONT_MAX_SECONDS 1e9
bool front_read_duration(const char *text, double *out);
/* What is wanted of one, at least `low` seconds, for the end of a sentence. */
void front_want_duration(double low, char out[static 100]);
/* The same as an option's value. A NULL text leaves *out as it is. */
cocabo_status front_parse_duration(const char *option, const char *text, double low,
                                   double *out, cocabo_error *err);

/* A file to write must have a name with that ending, in capitals or not: a name that
 * belongs to something else is a slip that would cost a file. */
cocabo_status front_check_ending(const char *option, const char *name,
                                 const char *ending, cocabo_error *err);

/* Things with names, the i-th at i = 0, 1, ... until NULL. */
typedef const char *(*front_name_at)(int i);

/* The one that a file's name ends in, after a point and in capitals or not: 0 for
 * trials.csv and the names csv, json. -1: none. */
int front_find_ending(const char *path, front_name_at name_at);
/* One name of a thing, as its number. `what` is the word for one of them. */
cocabo_status front_parse_name(const char *option, const char *what, const char *text,
                               front_name_at name_at, int *out, cocabo_error *err);

/* "0,3,5-7": distinct whole numbers in [low, high], in the order given. */
enum { FRONT_MAX_INTS = 100000 };
typedef struct front_ints {
  int64_t n;
  int64_t *items; /* owned; released by front_ints_free */
} front_ints;
cocabo_status front_parse_ints(const char *option, const char *text, int64_t low,
                               int64_t high, front_ints *out, cocabo_error *err);
void front_ints_free(front_ints *ints);

/* "a,b": distinct names of things, as their numbers in the order given. A NULL text is
 * an error: the option is missing. */
enum { FRONT_MAX_CHOSEN = 64 };
typedef struct front_chosen {
  int n;
  int items[FRONT_MAX_CHOSEN];
} front_chosen;
cocabo_status front_parse_names(const char *option, const char *what, const char *text,
                                front_name_at name_at, front_chosen *out,
                                cocabo_error *err);

/* Fails with: unknown WHAT "name", did you mean NEAREST? */
cocabo_status front_unknown(cocabo_error *err, const char *what, const char *name,
                            front_name_at name_at);

#endif
