/* progress.h - how far a long command is: a bar on a terminal, a line now and then
 * elsewhere, nothing when quiet. Always on standard error. */
#ifndef BENCH_PROGRESS_H
#define BENCH_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_progress {
  bool quiet, terminal;
  double start, shown;       /* seconds; when it began, when it was last shown */
  int64_t runs, evaluations; /* to do */
  int64_t runs_done, evaluations_done;
} bench_progress;

bench_progress bench_progress_start(bool quiet, int64_t runs, int64_t evaluations,
                                    double now);
/* Shows the counts if it is time to. */
void bench_progress_show(bench_progress *progress, double now);
/* Shows the final counts and leaves the line, so that other text may follow. */
void bench_progress_end(bench_progress *progress, double now);

#endif
