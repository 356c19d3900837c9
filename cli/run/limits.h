/* limits.h - what ends a run before its number of trials: a target, patience, and
 * failures. What runs then is let finish; nothing new is started. */
#ifndef CLI_LIMITS_H
#define CLI_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "common/base.h"

typedef struct cli_limits {
  double target;        /* NAN: none */
  int64_t patience;     /* below 1: none */
  int64_t max_failures; /* 0: none; -1: not said, which stops a hopeless run */
} cli_limits;

/* So many first trials that fail for one reason make a run hopeless. */
enum { CLI_HOPELESS = 10 };

/* What a run has seen of its own trials and of the study. Starts as {0} but for
 * `limits`. */
typedef struct cli_watch {
  const cli_limits *limits;
  int64_t failures;      /* of this run */
  bool unlike;           /* not all for one reason */
  char reason[CB_SHOWN]; /* the first line of the first one's */
  int64_t looked;        /* finished trials of the study at the last look, plus one */
  int64_t count_at;      /* as many must be there before patience can be over */
} cli_watch;

typedef enum cli_limit {
  CLI_NO_LIMIT,
  CLI_LIMIT_TARGET,
  CLI_LIMIT_PATIENCE,
  CLI_LIMIT_FAILURES,
  CLI_LIMIT_HOPELESS
} cli_limit;

/* A trial of this run has failed. */
void cli_watch_failure(cli_watch *watch, const char *reason);

/* Which limit the study, as far as its handle knows it, or this run has reached. */
cli_limit cli_watch_look(cli_watch *watch, cocabo_study *study);

/* The sentence for a limit that was reached. */
void cli_watch_say(const cli_watch *watch, cli_limit limit, char *out, size_t size);

#endif
