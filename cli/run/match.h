/* match.h - metrics that are found in what a program prints, by extended regular
 * expressions (POSIX). The last match counts: of it the first group, or all of it where
 * the expression has none. Lines are looked at as they come, so that it does not matter
 * how much is printed; of a long line the beginning counts (CLI_LINE_SIZE).
 */
#ifndef CLI_MATCH_H
#define CLI_MATCH_H

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>

#include "common/base.h"
#include "io/spec.h"

typedef struct cli_pattern {
  char name[CB_NAME_MAX + 1]; /* of the metric */
  regex_t regex;
} cli_pattern;

/* Starts as {0}. */
typedef struct cli_patterns {
  cli_pattern *items;
  size_t n;
} cli_patterns;

/* Names and expressions that were checked. */
cocabo_status cli_patterns_compile(cli_patterns *out, const cli_pairs *metrics,
                                   cocabo_error *err);
void cli_patterns_free(cli_patterns *patterns);

/* What has been found so far; starts as {.patterns}, which may be NULL. */
typedef struct cli_matches {
  const cli_patterns *patterns;      /* borrowed */
  bool found[COCABO_MAX_METRICS];    /* there is a match, and the last is a number */
  double values[COCABO_MAX_METRICS]; /* may be infinite or NaN */
} cli_matches;

/* Takes one line, ended by a NUL. */
void cli_matches_take(void *matches, const char *line);

#endif
