/* bar.c - draws the bar of a study and estimates the time that is left. */
#define _GNU_SOURCE /* winsize */
#include "run/bar.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/show.h"
#include "io/best.h"

/* Seconds between two showings. */
static const double terminal_pause = 0.1, plain_pause = 5.0;

enum { LONGEST = 240, BAR = 20 };

static int64_t done(const cli_state *state) {
  return state->complete + state->failed;
}

cli_bar cli_bar_start(bool quiet, const cli_state *state, double now, double end) {
  return (cli_bar){.quiet = quiet,
                   .terminal = isatty(STDERR_FILENO) == 1,
                   .start = now,
                   .shown = -INFINITY,
                   .end = end,
                   .before = done(state),
                   .runs_before = state->runs,
                   .shown_done = -1};
}

/* ---- the text ------------------------------------------------------------------- */

static void put(char *out, int size, const char *text) {
  const size_t used = strlen(out);
  snprintf(out + used, (size_t)size - used, "%s", text);
}

static void put_done(const cli_state *state, char *out, int size) {
  char text[80];
  if (state->total > 0)
    snprintf(text, sizeof text, "%lld/%lld", (long long)done(state),
             (long long)state->total);
  else
    snprintf(text, sizeof text, "%lld trial%s", (long long)done(state),
             done(state) == 1 ? "" : "s");
  put(out, size, text);
}

static void put_count(int64_t n, const char *what, char *out, int size) {
  char text[80];
  snprintf(text, sizeof text, ", %lld %s", (long long)n, what);
  put(out, size, n > 0 ? text : "");
}

/* What comes first, the last trial or the end of time; "?" before there is a rate. */
static double seconds_left(const cli_bar *bar, const cli_state *state, double rate,
                           double now) {
  const int64_t missing = state->total - done(state);
  double left = bar->end - now;
  if (state->total > 0 && missing <= 0)
    left = 0.0;
  else if (state->total > 0 && rate > 0.0)
    left = fmin(left, (double)missing / rate);
  else if (state->all_runs > 0 && state->runs > bar->runs_before)
    left = fmin(left, (now - bar->start) * (double)(state->all_runs - state->runs) /
                          (double)(state->runs - bar->runs_before));
  return left > 0.0 ? left : 0.0;
}

static void put_pace(const cli_bar *bar, const cli_state *state, double now, char *out,
                     int size) {
  const double seconds = now - bar->start;
  const double rate = seconds > 0.0 ? (double)(done(state) - bar->before) / seconds : 0;
  const double left = seconds_left(bar, state, rate, now);
  char text[80], eta[40] = "?";
  const long long s = left < 1e9 ? (long long)(left + 0.5) : -1;
  if (s >= 0)
    snprintf(eta, sizeof eta, "%lld:%02lld:%02lld", s / 3600, s / 60 % 60, s % 60);
  if (rate >= 1.0 || rate == 0.0)
    snprintf(text, sizeof text, ", %.3g/s, ETA %s", rate, eta);
  else
    snprintf(text, sizeof text, ", %.3g/min, ETA %s", 60.0 * rate, eta);
  put(out, size, text);
}

/* A noisy value by itself is luck. */
static void put_best(const cli_state *state, char *out, int size) {
  char text[120], measure[CLI_MEASURE];
  if (!state->has_best)
    return;
  char digits[CB_DIGITS];
  snprintf(measure, sizeof measure, "%s", show_number(digits, state->best));
  if (state->noisy && state->best_se >= 0.0)
    cli_show_measure(measure, state->expected, state->best_se);
  snprintf(text, sizeof text, ", %s %s (trial %lld)",
           state->noisy && !(state->best_se >= 0.0) ? "luckiest" : "best", measure,
           (long long)state->best_number);
  put(out, size, text);
}

static void put_runs(const cli_state *state, char *out, int size) {
  char text[80];
  if (state->runs == 0)
    return;
  if (state->all_runs > 0)
    snprintf(text, sizeof text, ", %lld of %lld runs", (long long)state->runs,
             (long long)state->all_runs);
  else
    snprintf(text, sizeof text, ", %lld runs", (long long)state->runs);
  put(out, size, text);
}

void cli_bar_text(const cli_bar *bar, const cli_state *state, double now, char *out,
                  int columns) {
  const int size = columns < LONGEST ? columns + 1 : LONGEST;
  out[0] = '\0';
  put_done(state, out, size);
  put_best(state, out, size);
  put_runs(state, out, size);
  put_count(state->running, "running", out, size);
  put_count(state->failed, "failed", out, size);
  put_pace(bar, state, now, out, size);
}

/* ---- showing it ----------------------------------------------------------------- */

static int terminal_columns(void) {
  struct winsize size;
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 20)
    return 80;
  return size.ws_col;
}

static void draw(cli_bar *bar, const cli_state *state, double now) {
  char blocks[BAR + 4] = "", text[LONGEST];
  int columns = terminal_columns() - 1; /* the cursor needs one */
  if (state->total > 0 && columns > BAR + 40) {
    const int64_t full =
        BAR * (done(state) < state->total ? done(state) : state->total);
    char *at = blocks;
    *at++ = '[';
    for (int i = 0; i < BAR; i++)
      *at++ = i < full / state->total ? '#' : '.';
    strcpy(at, "] ");
    columns -= BAR + 3;
  }
  cli_bar_text(bar, state, now, text, columns);
  fprintf(stderr, "\r%s%s\033[K", blocks, text);
  fflush(stderr);
  bar->drawn = true;
}

static void show(cli_bar *bar, const cli_state *state, double now) {
  char text[LONGEST];
  if (bar->terminal)
    draw(bar, state, now);
  else {
    cli_bar_text(bar, state, now, text, LONGEST);
    fprintf(stderr, "%s\n", text);
  }
  bar->shown = now;
  bar->shown_done = done(state);
}

/* Elsewhere than on a terminal: when a trial has finished, but not too often. The first
 * line comes with the first result, which is what one waits for. */
static bool is_due(const cli_bar *bar, const cli_state *state, double now) {
  if (bar->terminal)
    return now - bar->shown >= terminal_pause;
  return done(state) > bar->before && done(state) != bar->shown_done &&
         now - bar->shown >= plain_pause;
}

void cli_bar_show(cli_bar *bar, const cli_state *state, double now) {
  if (!bar->quiet && is_due(bar, state, now))
    show(bar, state, now);
}

double cli_bar_pause(const cli_bar *bar) {
  return bar->quiet ? INFINITY : bar->terminal ? 0.25 : 2.0;
}

void cli_bar_clear(cli_bar *bar) {
  if (!bar->drawn)
    return;
  fputs("\r\033[K", stderr);
  fflush(stderr);
  bar->drawn = false;
  bar->shown = -INFINITY;
}

void cli_bar_end(cli_bar *bar, const cli_state *state, double now) {
  if (bar->quiet)
    return;
  if (bar->terminal || done(state) != bar->shown_done || state->runs > 0)
    show(bar, state, now);
  if (bar->drawn)
    fputc('\n', stderr);
  bar->drawn = false;
}
