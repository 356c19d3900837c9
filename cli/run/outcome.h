/* outcome.h - what came of one evaluation: a value, or a reason why there is none.
 *
 * The value is the result file's if the program wrote one, else the last line of its
 * output that is not blank: a number, or a JSON object of numbers (metrics.h). A reason
 * begins with a line that is the same for the same kind of failure, so that failures
 * can be counted; details and the end of standard error follow.
 */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <stdbool.h>

#include "io/metrics.h"
#include "run/process.h"

enum { CLI_REASON_SIZE = CLI_TAIL_SIZE + 512 };

typedef struct cli_outcome {
  bool complete;
  double value;                 /* finite, if complete */
  cli_metrics metrics;          /* beside it, with those that we measure */
  char reason[CLI_REASON_SIZE]; /* otherwise; clean UTF-8 */
  bool hint;                    /* a pipe may have hidden a failure (hint.h) */
} cli_outcome;

/* The outcome of a program that is over. `result` is the path of its result file, which
 * need not exist. `objective`: what its value is called (metrics.h). `piped`: it is a
 * script with a pipe. */
void cli_outcome_read(cli_outcome *out, cli_process *process, const char *result,
                      const char *objective, bool piped);

/* The outcome of a program that could not be started. */
void cli_outcome_fail(cli_outcome *out, const char *reason);

#endif
