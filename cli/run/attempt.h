/* attempt.h - one evaluation of a trial: the program's words, its environment, the
 * result file, the logs, and the child that runs it. */
#ifndef CLI_ATTEMPT_H
#define CLI_ATTEMPT_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "run/guard.h"
#include "run/outcome.h"
#include "run/process.h"

enum { CLI_PATH_SIZE = 4096 };

/* The program that is tuned, and what all its evaluations have in common. */
typedef struct cli_program {
  char *const *command;            /* words with holes, ended by NULL; borrowed */
  const cocabo_space *space;       /* borrowed */
  const char *study;               /* its name, borrowed */
  const char *storage;             /* the URL where it is, borrowed */
  const char *log_folder;          /* NULL: none; borrowed */
  char objective[CB_NAME_MAX + 1]; /* what its value is called */
  cli_patterns patterns;           /* of metrics in its output; owned by who runs it */
  cli_quota quota;                 /* what one evaluation may use */
  char path[CLI_PATH_SIZE];        /* of the program; "" where its name has holes */
  bool piped;                      /* it is a script with a pipe (hint.h) */
} cli_program;

/* Checks the command and finds the program. COCABO_E_NOT_FOUND and the like, with a
 * sentence, where no evaluation could ever succeed. */
cocabo_status cli_program_find(cli_program *out, char *const *command,
                               const cocabo_space *space, cocabo_error *err);

/* Makes the folder for logs, and those above it. */
cocabo_status cli_make_folder(const char *path, cocabo_error *err);

typedef struct cli_attempt {
  cli_process process;
  char result[320];         /* path of the result file */
  const cli_cgroup *cgroup; /* where to make a cell; NULL: none. Borrowed */
  const cli_cpus *cpus;     /* that it may use; NULL: all. Borrowed */
  cli_cell cell;
} cli_attempt;

/* Starts an evaluation, in an attempt whose cgroup and cpus the caller has set.
 * `serial` is another one each time: a trial that was taken for lost may run twice at
 * once. `again` says that it is not the trial's first evaluation, so that logs are
 * continued. COCABO_E_NOT_FOUND: the program cannot be executed with these values;
 * everything else is no fault of the trial. */
cocabo_status cli_attempt_start(cli_attempt *attempt, const cli_program *program,
                                const cli_guard *guard, const cocabo_trial *trial,
                                int64_t serial, bool again, cocabo_error *err);

/* What came of it, once it is over; removes the result file. */
void cli_attempt_outcome(cli_attempt *attempt, const cli_program *program,
                         cli_outcome *out);

#endif
