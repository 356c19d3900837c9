/* runner.h - the loop of `run` and `worker`: ask, evaluate, tell, several trials at a
 * time, until the study has reached its budget.
 *
 * One thread polls; a second one renews the leases. Results are recorded the moment
 * they are there. Trials that are not finished when the loop ends are given back, so
 * that the next one to ask gets them.
 */
#ifndef CLI_RUNNER_H
#define CLI_RUNNER_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"
#include "run/attempt.h"
#include "run/limits.h"

enum { CLI_MAX_WORKERS = 1024 };

/* Of a lease, unless --lease says otherwise. */
#define CLI_LEASE_SECONDS 60

typedef struct cli_run {
  const char *name;         /* of the command, for sentences */
  const cli_common *common; /* borrowed, as everything here */
  cli_session session;      /* stays the caller's */
  cli_program program;
  int64_t workers, retries;
  double timeout, trial_timeout; /* seconds; 0: none */
  bool by_runs;                  /* trials are evaluated run by run */
  double cap, par;               /* seconds that a run may take, 0: there is no fixed
                                    limit; and as how many times that it counts then */
  int64_t warmup;                /* evaluations of a trial before those that count */
  cli_limits limits;
  double lease; /* seconds */
  bool pin;     /* every slot has its own processors */
} cli_run;

/* Why the loop ended. */
typedef enum cli_end {
  CLI_END_BUDGET,    /* all trials are there */
  CLI_END_EXHAUSTED, /* every point has been tried */
  CLI_END_LIMIT,     /* one of limits.h */
  CLI_END_TIME,      /* --timeout */
  CLI_END_SIGNAL     /* Ctrl-C */
} cli_end;

typedef struct cli_ended {
  cli_end why;
  cli_limit limit;      /* CLI_END_LIMIT: which one */
  char limit_text[400]; /* and its sentence */
  int64_t given_back;   /* trials that will be offered again */
  bool nothing_to_do;   /* all trials were there already */
} cli_ended;

/* A failure means that the store failed or no program could be started; the trials that
 * could not be recorded have then been named on standard error. */
cocabo_status cli_run_trials(const cli_run *run, cli_ended *ended, cocabo_error *err);

#endif
