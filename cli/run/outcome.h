/* outcome.h - what came of one evaluation: a value, or a reason why there is none.
 *
 * The value is the result file's if the program wrote one, else the last line of its
 * output that is not blank: a number, or JSON {"value": number}. A reason begins with a
 * line that is the same for the same kind of failure, so that failures can be counted;
 * details and the end of standard error follow.
 */
#ifndef CLI_OUTCOME_H
#define CLI_OUTCOME_H

#include <stdbool.h>

#include "run/process.h"

enum { CLI_REASON_SIZE = CLI_TAIL_SIZE + 512 };

typedef struct cli_outcome {
  bool complete;
  double value;                 /* finite, if complete */
  char reason[CLI_REASON_SIZE]; /* otherwise; clean UTF-8 */
  bool hint;                    /* a pipe may have hidden a failure (hint.h) */
} cli_outcome;

/* The outcome of a program that is over. `result` is the path of its result file, which
 * need not exist. `piped`: it is a script with a pipe. */
void cli_outcome_read(cli_outcome *out, cli_process *process, const char *result,
                      bool piped);

/* The outcome of a program that could not be started. */
void cli_outcome_fail(cli_outcome *out, const char *reason);

/* A number or JSON {"value": number}, with nothing else but blanks around it. The
 * number may be infinite or NaN. */
bool cli_parse_value(const char *text, double *value);

#endif
