/* tune.h - what `run` and `worker` have in common: from an open study, and what is said
 * about its trials, to the exit status. */
#ifndef CLI_TUNE_H
#define CLI_TUNE_H

#include "cli.h"
#include "io/spec.h"

typedef struct cli_tune_args {
  const char *log_folder, *lease; /* borrowed from argv */
} cli_tune_args;

/* Rows of an option table; `type` has a field `tune` of type cli_tune_args. */
#define CLI_TUNE_OPTIONS(type)                                                         \
  {"--log-dir", "DIR", "keep what trials print, as DIR/trial-7.out and .err",          \
   FRONT_TEXT, offsetof(type, tune.log_folder)},                                       \
  {                                                                                    \
    "--lease", "TIME", "take over a trial whose worker is silent for so long (60)",    \
        FRONT_TEXT, offsetof(type, tune.lease)                                         \
  }

/* Refuses flags that are wrong in themselves; the rest is refused by cli_tune. */
cocabo_status cli_tune_check(const cli_tune_args *args, cocabo_error *err);

/* Whether the specification says when to stop, and what to run; if not, a sentence. */
cocabo_status cli_tune_want(const cli_spec *spec, cocabo_error *err);

/* Fills what the specification left open from the study. The time that an earlier line
 * allowed itself counts only where there is no number of trials to go by. A command
 * that comes over HTTP is refused: `example` is a line that has its own. */
cocabo_status cli_tune_recall(cli_spec *spec, const cli_common *common,
                              const cocabo_study *study, const char *example,
                              cocabo_error *err);

/* Evaluates trials until the study is done, and prints the last words. `spec` leaves
 * nothing open that the study knows. */
int cli_tune(const char *command, const cli_common *common, const cli_session *session,
             const cli_spec *spec, const cli_tune_args *args);

#endif
