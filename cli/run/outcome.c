/* outcome.c - decides what a finished child has given: a value from the result file or
 * the last line, or the reason of its failure. */
#include "run/outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base.h"
#include "run/hint.h"

/* ---- what we measure ------------------------------------------------------------ */

enum { N_MEASURED = 3 };
static const char *const measured_names[N_MEASURED] = {"seconds", "cpu_seconds",
                                                       "max_rss"};

static double measure(const cli_process *process, int which) {
  const double values[N_MEASURED] = {process->seconds, process->cost.cpu_seconds,
                                     process->cost.max_rss};
  return values[which];
}

/* ---- the result file ------------------------------------------------------------ */

enum { RESULT_SIZE = 1 << 16 };

typedef enum presence { ABSENT, PRESENT, TOO_LONG } presence;

static ssize_t read_up_to(int fd, char *text, size_t size) {
  size_t used = 0;
  while (used < size) {
    const ssize_t got = read(fd, text + used, size - used);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return -1;
    if (got == 0)
      break;
    used += (size_t)got;
  }
  return (ssize_t)used;
}

/* A file that was created and left blank is none. Not blocking, since the path may be
 * anything by now, a named pipe for example. */
static presence read_result(const char *path, char text[RESULT_SIZE + 2]) {
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0)
    return ABSENT;
  struct stat info;
  const bool regular = fstat(fd, &info) == 0 && S_ISREG(info.st_mode);
  const ssize_t size = regular ? read_up_to(fd, text, RESULT_SIZE + 1) : -1;
  close(fd);
  if (size < 0)
    return ABSENT;
  cli_replace_nuls(text, (size_t)size);
  text[size] = '\0';
  if (text[strspn(text, " \t\r\n\v\f")] == '\0')
    return ABSENT;
  return size > RESULT_SIZE ? TOO_LONG : PRESENT;
}

/* ---- reasons -------------------------------------------------------------------- */

void cli_outcome_fail(cli_outcome *out, const char *reason) {
  out->complete = out->hint = false;
  out->value = NAN;
  out->metrics.n = out->metrics.passed_over = 0;
  char text[CLI_REASON_SIZE];
  snprintf(text, sizeof text, "%s", reason);
  cli_clean_text(text, strlen(text), out->reason); /* also where it was cut */
}

/* The reason and, on the lines after it, the end of standard error. */
static void fail_with_tail(cli_outcome *out, const cli_process *process,
                           const char *reason) {
  char tail[CLI_TAIL_SIZE + 1], text[CLI_REASON_SIZE];
  cli_tail_text(&process->tail, tail);
  snprintf(text, sizeof text, "%s%s%s", reason, *tail ? "\n" : "", tail);
  cli_outcome_fail(out, text);
}

/* How a program ended that did not end well; false: it did. */
static bool describe_end(int status, char *out, size_t size) {
  if (WIFSIGNALED(status))
    snprintf(out, size, "ended by signal %d (%s)", WTERMSIG(status),
             strsignal(WTERMSIG(status)));
  else if (WEXITSTATUS(status) != 0)
    snprintf(out, size, "exit status %d", WEXITSTATUS(status));
  return WIFSIGNALED(status) || WEXITSTATUS(status) != 0;
}

/* The limit, and beneath it what was seen of it: how much was used, or how the program
 * ended that could not have more. */
static bool fail_by_limit(cli_outcome *out, const cli_process *process) {
  char tail[CLI_TAIL_SIZE + 1], line[128], seen[128] = "", reason[260];
  cli_tail_text(&process->tail, tail);
  const int guess = process->stop != CLI_RUNS_ON
                        ? -1
                        : cli_quota_guess(&process->quota, process->status,
                                          process->cost.max_rss, tail);
  const int kind = process->exceeded >= 0 ? process->exceeded : guess;
  if (kind < 0)
    return false;
  cli_quota_say(&process->quota, (cli_quota_kind)kind, line, sizeof line);
  if (isfinite(process->used))
    cli_quota_say_use((cli_quota_kind)kind, process->used, seen, sizeof seen);
  else
    describe_end(process->status, seen, sizeof seen);
  snprintf(reason, sizeof reason, "%s%s%s", line, *seen ? "\n" : "", seen);
  fail_with_tail(out, process, reason);
  return true;
}

static bool fail_by_status(cli_outcome *out, const cli_process *process) {
  char reason[128];
  if (fail_by_limit(out, process))
    return true;
  if (process->stop == CLI_TIMED_OUT) {
    cli_outcome_fail(out, "timeout");
    return true;
  }
  if (!describe_end(process->status, reason, sizeof reason))
    return false;
  fail_with_tail(out, process, reason);
  return true;
}

static void accept(cli_outcome *out, const cli_process *process, double value) {
  char reason[80];
  if (isfinite(value)) {
    out->complete = true;
    out->value = value;
    return;
  }
  snprintf(reason, sizeof reason, "the value is %s, want a finite number",
           isnan(value)  ? "nan"
           : value > 0.0 ? "inf"
                         : "-inf");
  fail_with_tail(out, process, reason);
}

static void take_value(cli_outcome *out, const cli_process *process,
                       const char *objective, const char *text, const char *where) {
  char reason[400], name[CB_SHOWN];
  double value;
  if (!cli_parse_result(text, objective, &value, &out->metrics)) {
    snprintf(reason, sizeof reason,
             "no value\n%s is \"%.160s\", want a number or {\"%s\": number}", where,
             text, cb_text_show(name, objective));
    fail_with_tail(out, process, reason);
  } else {
    accept(out, process, value);
  }
}

static void take_line(cli_outcome *out, cli_process *process, const char *objective) {
  bool cut;
  const char *line = cli_last_line_end(&process->last, &cut);
  if (cut)
    fail_with_tail(out, process, "no value\nthe last line of its output is too long");
  else if (*line)
    take_value(out, process, objective, line, "the last line of its output");
  else
    fail_with_tail(out, process, "no value\nit printed nothing and wrote no result");
}

static void take_result(cli_outcome *out, cli_process *process, const char *result,
                        const char *objective) {
  char text[RESULT_SIZE + 2];
  const presence written = read_result(result, text);
  if (written == TOO_LONG)
    fail_with_tail(out, process, "no value\nits result file is too long");
  else if (written == PRESENT)
    take_value(out, process, objective, text, "its result file");
  else
    take_line(out, process, objective);
}

/* The hint becomes the second line of the reason, so that neither the kind of failure
 * nor the last words of the program move. */
static void add_hint(cli_outcome *out) {
  char text[CLI_REASON_SIZE];
  const int kind = (int)strcspn(out->reason, "\n");
  snprintf(text, sizeof text, "%.*s\n%s%s", kind, out->reason, cli_pipe_hint,
           out->reason + kind);
  cli_outcome_fail(out, text);
  out->hint = true;
}

/* ---- values that are not in the result ------------------------------------------- */

/* What the program says of itself counts more. */
static void add_built_in(cli_metrics *metrics, const cli_process *process,
                         const char *objective) {
  for (int i = 0; i < N_MEASURED && metrics->n < COCABO_MAX_METRICS; i++)
    if (strcmp(measured_names[i], objective) != 0)
      cli_metrics_add(metrics, measured_names[i], measure(process, i));
}

/* Those that --metric looks for; the objective is no metric. */
static void add_matches(cli_metrics *metrics, const cli_matches *matches,
                        const char *objective) {
  for (size_t i = 0; matches->patterns && i < matches->patterns->n; i++)
    if (matches->found[i] && strcmp(matches->patterns->items[i].name, objective) != 0)
      cli_metrics_add(metrics, matches->patterns->items[i].name, matches->values[i]);
}

/* The place of the objective among what --metric looks for, or -1. */
static int find_pattern(const cli_matches *matches, const char *objective) {
  for (size_t i = 0; matches->patterns && i < matches->patterns->n; i++)
    if (strcmp(matches->patterns->items[i].name, objective) == 0)
      return (int)i;
  return -1;
}

static int find_measure(const char *objective) {
  for (int i = 0; i < N_MEASURED; i++)
    if (strcmp(measured_names[i], objective) == 0)
      return i;
  return -1;
}

/* What the program printed or wrote, where the value does not have to be in it; "" for
 * nothing. */
static const char *other_text(cli_process *process, const char *result,
                              char text[RESULT_SIZE + 2]) {
  bool cut;
  if (read_result(result, text) == PRESENT)
    return text;
  const char *line = cli_last_line_end(&process->last, &cut);
  return cut ? "" : line;
}

static void take_match(cli_outcome *out, cli_process *process, const char *result,
                       const char *objective, int pattern) {
  char text[RESULT_SIZE + 2], reason[400], name[CB_SHOWN];
  double unused;
  if (!process->matches.found[pattern]) {
    snprintf(reason, sizeof reason,
             "no value\n--metric %s found no number (its last match counts)",
             cb_text_show(name, objective));
    fail_with_tail(out, process, reason);
    return;
  }
  cli_parse_metrics(other_text(process, result, text), objective, &unused,
                    &out->metrics);
  accept(out, process, process->matches.values[pattern]);
}

static void take_measure(cli_outcome *out, cli_process *process, const char *result,
                         const char *objective, int which) {
  char text[RESULT_SIZE + 2];
  double value = measure(process, which);
  cli_parse_metrics(other_text(process, result, text), objective, &value,
                    &out->metrics);
  accept(out, process, value);
}

static void take_all(cli_outcome *out, cli_process *process, const char *result,
                     const char *objective) {
  const int pattern = find_pattern(&process->matches, objective);
  const int which = find_measure(objective);
  add_matches(&out->metrics, &process->matches, objective);
  if (pattern >= 0)
    take_match(out, process, result, objective, pattern);
  else if (which >= 0)
    take_measure(out, process, result, objective, which);
  else
    take_result(out, process, result, objective);
  if (out->complete)
    add_built_in(&out->metrics, process, objective);
}

void cli_outcome_read(cli_outcome *out, cli_process *process, const char *result,
                      const char *objective, bool piped) {
  char tail[CLI_TAIL_SIZE + 1];
  out->complete = out->hint = false;
  out->metrics.n = out->metrics.passed_over = 0;
  out->reason[0] = '\0';
  if (fail_by_status(out, process))
    return;
  cli_last_line_finish(&process->last);
  take_all(out, process, result, objective);
  if (!piped)
    return;
  cli_tail_text(&process->tail, tail);
  if (!out->complete)
    add_hint(out);
  else
    out->hint = cli_shows_failure(tail);
}
