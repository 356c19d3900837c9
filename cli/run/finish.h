/* finish.h - the last words of `run` and `worker`: the best trial, what failed and why,
 * and the next command to type. */
#ifndef CLI_FINISH_H
#define CLI_FINISH_H

#include "run/runner.h"

/* " --storage URL --study NAME" for a shell, as far as they are not the defaults: what
 * a command must be given to find the study. */
enum { CLI_WHERE_SIZE = 1024 };
void cli_where(char out[CLI_WHERE_SIZE], const cli_common *common,
               const cocabo_study *study);

/* Prints them (with --json only what goes to standard error) and returns the exit
 * status: 0 done, 3 nothing completed, 130 interrupted, 1 if printing failed or by
 * --max-failures. */
int cli_finish_run(const cli_run *run, const cli_ended *ended);

#endif
