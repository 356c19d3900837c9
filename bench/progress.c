/* progress.c - draws the bar of a long command, at most a few times a second. */
#include "progress.h"

#include <stdio.h>
#include <unistd.h>

/* Seconds between two showings. */
static const double terminal_pause = 0.1, plain_pause = 10.0;

bench_progress bench_progress_start(bool quiet, int64_t runs, int64_t evaluations,
                                    double now) {
  return (bench_progress){.quiet = quiet,
                          .terminal = isatty(STDERR_FILENO) == 1,
                          .start = now,
                          .shown = now,
                          .runs = runs,
                          .evaluations = evaluations};
}

/* "1:05:20", or "?" before there is a rate to go by. */
static void format_eta(const bench_progress *p, double rate, char *out, size_t size) {
  if (!(rate > 0.0)) {
    snprintf(out, size, "?");
    return;
  }
  const double left = (double)(p->evaluations - p->evaluations_done) / rate;
  const long long seconds = left < 1e9 ? (long long)(left + 0.5) : 1000000000;
  snprintf(out, size, "%lld:%02lld:%02lld", seconds / 3600, seconds / 60 % 60,
           seconds % 60);
}

static void draw_bar(const bench_progress *p) {
  enum { WIDTH = 24 };
  const int64_t full =
      p->evaluations > 0 ? WIDTH * p->evaluations_done / p->evaluations : WIDTH;
  char bar[WIDTH + 1];
  for (int i = 0; i < WIDTH; i++)
    bar[i] = i < full ? '#' : '.';
  bar[WIDTH] = '\0';
  fprintf(stderr, "\r[%s] ", bar);
}

static void show(bench_progress *p, double now) {
  const double seconds = now - p->start;
  const double rate = seconds > 0.0 ? (double)p->evaluations_done / seconds : 0.0;
  char eta[32];
  format_eta(p, rate, eta, sizeof eta);
  if (p->terminal)
    draw_bar(p);
  fprintf(stderr, "%lld/%lld runs, %lld/%lld evaluations, %.3g/s, ETA %s%s",
          (long long)p->runs_done, (long long)p->runs, (long long)p->evaluations_done,
          (long long)p->evaluations, rate, eta, p->terminal ? "\033[K" : "\n");
  p->shown = now;
}

void bench_progress_show(bench_progress *progress, double now) {
  const double pause = progress->terminal ? terminal_pause : plain_pause;
  if (!progress->quiet && now - progress->shown >= pause)
    show(progress, now);
}

void bench_progress_end(bench_progress *progress, double now) {
  if (progress->quiet || !progress->terminal)
    return;
  show(progress, now);
  fputc('\n', stderr);
}
