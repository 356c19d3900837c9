/* finish.c - prints the summary at the end of a run, for people or as JSON, and
 * chooses the exit status. */
#include "run/finish.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/buffer.h"
#include "common/show.h"
#include "io/best.h"
#include "io/output.h"

/* ---- the best trial ------------------------------------------------------------- */

static cocabo_status put_best(front_buffer *out, const cocabo_space *space,
                              const cli_best *found, cocabo_error *err) {
  const cocabo_trial *best = found->trial;
  CB_TRY(front_buffer_printf(out, err, "best trial %" PRId64 ": ",
                             cocabo_trial_number(best)));
  CB_TRY(cli_put_best_value(out, found, err));
  CB_TRY(front_buffer_puts(out, "\n", err));
  for (size_t i = 0; i < cocabo_trial_count(best); i++) {
    const char *name;
    cocabo_value value;
    char shown[CB_SHOWN];
    CB_TRY(cocabo_trial_get(best, i, &name, &value, err));
    if (value.type == COCABO_ABSENT)
      continue;
    CB_TRY(front_buffer_printf(out, err, "  %s = ", cb_text_show(shown, name)));
    CB_TRY(cli_put_rounded_param(out, space, i, &value, err));
    CB_TRY(front_buffer_puts(out, "\n", err));
  }
  return COCABO_OK;
}

/* COCABO_E_NOT_FOUND if there is none. With --json all trials have been printed. */
static cocabo_status print_best(const cli_run *run, cocabo_error *err) {
  cli_best best;
  CB_TRY(cli_best_find(&best, run->session.study, err));
  front_buffer text = {0};
  const cocabo_status status =
      run->common->json
          ? COCABO_OK
          : put_best(&text, cocabo_study_space(run->session.study), &best, err);
  if (status == COCABO_OK)
    cli_print(&text);
  front_buffer_free(&text);
  cli_best_free(&best);
  return status;
}

/* ---- what failed ---------------------------------------------------------------- */

/* Failures with the same first line of their reason. */
typedef struct failure {
  char line[CB_SHOWN];
  int64_t n;
} failure;

enum { MAX_KINDS = 100, SHOWN_KINDS = 5 };

typedef struct failures {
  failure kinds[MAX_KINDS];
  int n;
} failures;

static void count_failure(failures *f, const char *reason) {
  char first[256], line[CB_SHOWN];
  snprintf(first, sizeof first, "%.*s", (int)strcspn(reason, "\n"), reason);
  cb_text_show(line, first);
  int i = 0;
  while (i < f->n && strcmp(f->kinds[i].line, line) != 0)
    i++;
  if (i == MAX_KINDS)
    i--; /* the last kind stands for all that follow */
  if (i == f->n) {
    strcpy(f->kinds[i].line, line);
    f->n++;
  }
  f->kinds[i].n++;
}

static int by_count(const void *a, const void *b) {
  const int64_t x = ((const failure *)a)->n, y = ((const failure *)b)->n;
  return (x < y) - (x > y);
}

static void print_failures(const cocabo_study *study) {
  failures f = {0};
  const int64_t n = cocabo_study_count(study);
  for (int64_t i = 0; i < n; i++) {
    cocabo_trial *trial;
    if (cocabo_study_trial(study, i, &trial, NULL) != COCABO_OK)
      continue;
    if (cocabo_trial_get_state(trial) == COCABO_FAILED)
      count_failure(&f, cocabo_trial_reason(trial));
    cocabo_trial_free(trial);
  }
  qsort(f.kinds, (size_t)f.n, sizeof f.kinds[0], by_count);
  for (int i = 0; i < f.n && i < SHOWN_KINDS; i++)
    printf("  %" PRId64 " x %s\n", f.kinds[i].n, f.kinds[i].line);
  if (f.n > SHOWN_KINDS)
    printf("  and %d other reason%s\n", f.n - SHOWN_KINDS,
           f.n - SHOWN_KINDS == 1 ? "" : "s");
}

/* All trials by state: those that are not finished only where there are some. */
static void print_counts(const cocabo_study *study) {
  const int64_t all = cocabo_study_count(study);
  const int64_t complete = cocabo_study_count_state(study, COCABO_COMPLETE);
  const int64_t failed = cocabo_study_count_state(study, COCABO_FAILED);
  printf("%" PRId64 " trial%s: %" PRId64 " complete, %" PRId64 " failed", all,
         all == 1 ? "" : "s", complete, failed);
  static const cocabo_trial_state others[] = {COCABO_INTERRUPTED, COCABO_STALE,
                                              COCABO_WAITING, COCABO_RUNNING};
  for (int i = 0; i < 4; i++) {
    const int64_t n = cocabo_study_count_state(study, others[i]);
    if (n > 0)
      printf(", %" PRId64 " %s", n, cocabo_state_name(others[i]));
  }
  putchar('\n');
  if (failed > 0)
    print_failures(study);
}

/* A misspelt $x in a script is empty, and every trial is the same one. */
static void note_equal_values(const cli_run *run) {
  enum { ENOUGH = 10 };
  const cocabo_study *study = run->session.study;
  const int64_t n = cocabo_study_count(study);
  int64_t equal = 0;
  double first = NAN;
  for (int64_t i = 0; i < n; i++) {
    cocabo_trial *trial;
    if (cocabo_study_trial(study, i, &trial, NULL) != COCABO_OK)
      return;
    const bool complete = cocabo_trial_get_state(trial) == COCABO_COMPLETE;
    const double value = cocabo_trial_value(trial);
    cocabo_trial_free(trial);
    if (!complete)
      continue;
    if (equal++ == 0)
      first = value;
    else if (value != first)
      return;
  }
  char digits[CB_DIGITS];
  if (equal >= ENOUGH)
    cli_note(run->common,
             "note: all %" PRId64
             " values are %s, does the program use its parameters?",
             equal, show_number(digits, first));
}

/* ---- what to do next ------------------------------------------------------------ */

/* " OPTION WORD", the word as one for a shell; nothing if there is no room for it. */
static void put_word(char *out, size_t size, const char *option, const char *word) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                              "0123456789_-./:@%+=,";
  const bool quote = !*word || word[strspn(word, plain)];
  size_t used = strlen(out);
  if (used + strlen(option) + 4 * strlen(word) + 5 > size)
    return;
  used += (size_t)snprintf(out + used, size - used, " %s %s", option, quote ? "'" : "");
  for (; *word; word++)
    used += (size_t)snprintf(out + used, size - used, *word == '\'' ? "'\\''" : "%c",
                             *word);
  snprintf(out + used, size - used, "%s", quote ? "'" : "");
}

void cli_where(char out[CLI_WHERE_SIZE], const cli_common *common,
               const cocabo_study *study) {
  char url[CLI_WHERE_SIZE];
  out[0] = '\0';
  if (common->storage) {
    show_mask(url, sizeof url, common->storage);
    put_word(out, CLI_WHERE_SIZE, "--storage", url);
  }
  if (strcmp(cocabo_study_name(study), "default") != 0)
    put_word(out, CLI_WHERE_SIZE, "--study", cocabo_study_name(study));
}

static void say_next(const cli_run *run, const cli_ended *ended) {
  char where[CLI_WHERE_SIZE];
  cli_where(where, run->common, run->session.study);
  if (ended->why == CLI_END_SIGNAL || ended->why == CLI_END_TIME)
    cli_note(run->common, "to resume, run the same line again%s",
             ended->given_back ? "; unfinished trials are offered first" : "");
  else if (cocabo_study_count_state(run->session.study, COCABO_COMPLETE) == 0)
    cli_note(run->common, "next: cocabo trials --state failed --json%s", where);
  else
    cli_note(run->common, "next: cocabo plot%s -o history.svg", where);
}

static void say_nothing_to_do(const cli_run *run, const cocabo_study *study) {
  const char *wanted = cocabo_study_option(study, "trials");
  const int64_t n = cocabo_study_count_state(study, COCABO_COMPLETE) +
                    cocabo_study_count_state(study, COCABO_FAILED);
  cli_note(run->common,
           n > strtoll(wanted, NULL, 10)
               ? "nothing to do: %" PRId64 " trials are there, more than -n %s"
               : "nothing to do: %" PRId64 " of %s trials are there",
           n, wanted);
}

static void say_end(const cli_run *run, const cli_ended *ended) {
  const cocabo_study *study = run->session.study;
  if (ended->nothing_to_do && ended->why == CLI_END_BUDGET)
    say_nothing_to_do(run, study);
  if (ended->why == CLI_END_EXHAUSTED)
    cli_note(run->common, "every point of the space has been tried");
  if (ended->why == CLI_END_TIME)
    cli_note(run->common, "the time is over");
  if (ended->why == CLI_END_SIGNAL)
    cli_note(run->common, "interrupted");
}

int cli_finish_run(const cli_run *run, const cli_ended *ended) {
  cocabo_error err;
  say_end(run, ended);
  const cocabo_status status = print_best(run, &err);
  if (status != COCABO_OK && status != COCABO_E_NOT_FOUND)
    return front_complain(run->name, FRONT_FAILURE, &err);
  if (!run->common->json && !run->common->quiet)
    print_counts(run->session.study);
  if (front_finish_output(run->name) != FRONT_DONE)
    return FRONT_FAILURE;
  note_equal_values(run);
  say_next(run, ended);
  if (ended->why == CLI_END_SIGNAL)
    return FRONT_INTERRUPTED;
  if (ended->why == CLI_END_LIMIT &&
      (ended->limit == CLI_LIMIT_FAILURES || ended->limit == CLI_LIMIT_HOPELESS)) {
    cb_fail(&err, COCABO_E_STATE, "%s", ended->limit_text);
    return front_complain(
        run->name, ended->limit == CLI_LIMIT_FAILURES ? FRONT_FAILURE : FRONT_NOTHING,
        &err);
  }
  if (status == COCABO_OK)
    return FRONT_DONE;
  if (cocabo_study_count_state(run->session.study, COCABO_COMPLETE) == 0)
    cb_fail(&err, COCABO_E_STATE, "no trial has completed");
  return front_complain(run->name, FRONT_NOTHING, &err);
}
