/* match.c - looks for metrics in lines. */
#include "run/match.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

cocabo_status cli_patterns_compile(cli_patterns *out, const cli_pairs *metrics,
                                   cocabo_error *err) {
  *out = (cli_patterns){.items = cb_calloc(metrics->n + 1, sizeof *out->items)};
  if (!out->items)
    return cb_no_memory(err);
  for (size_t i = 0; i < metrics->n && i < COCABO_MAX_METRICS; i++) {
    cli_pattern *p = &out->items[i];
    snprintf(p->name, sizeof p->name, "%s", metrics->items[i].name);
    if (regcomp(&p->regex, metrics->items[i].value, REG_EXTENDED) != 0) {
      cli_patterns_free(out);
      return cb_no_memory(err); /* it was checked: nothing else is left */
    }
    out->n++;
  }
  return COCABO_OK;
}

void cli_patterns_free(cli_patterns *patterns) {
  for (size_t i = 0; i < patterns->n; i++)
    regfree(&patterns->items[i].regex);
  cb_free(patterns->items);
  *patterns = (cli_patterns){0};
}

/* A number with blanks around it; an alternative without the group has none. */
static bool read_group(const char *line, const regmatch_t *group, double *value) {
  static const char blanks[] = " \t\r";
  if (group->rm_so < 0)
    return false;
  const char *from = line + group->rm_so, *end = line + group->rm_eo;
  while (from < end && strchr(blanks, *from))
    from++;
  while (from < end && strchr(blanks, end[-1]))
    end--;
  return cb_parse_result(from, (size_t)(end - from), value);
}

/* All matches of one expression, from left to right. Each takes the place of the one
 * before it, also where it is no number: "loss: diverged" is not the loss before. */
static void look(const regex_t *regex, const char *line, bool *found, double *value) {
  regmatch_t at[2];
  for (int flags = 0; regexec(regex, line, 2, at, flags) == 0; flags = REG_NOTBOL) {
    *found = read_group(line, &at[regex->re_nsub > 0 ? 1 : 0], value);
    line += at[0].rm_eo;
    if (at[0].rm_eo == at[0].rm_so && *line++ == '\0')
      return;
  }
}

void cli_matches_take(void *matches, const char *line) {
  cli_matches *m = matches;
  assert(!m->patterns || m->patterns->n <= COCABO_MAX_METRICS);
  for (size_t i = 0; m->patterns && i < m->patterns->n; i++)
    look(&m->patterns->items[i].regex, line, &m->found[i], &m->values[i]);
}
