/* pool.h - independent tasks done by worker processes.
 *
 * Each worker is a fork that takes one task at a time and sends its result back through
 * a socket; the parent alone acts on results. Workers are processes rather than
 * threads, so that a crash costs one sentence and not the results of the others. A
 * worker whose parent died ends at its next report.
 */
#ifndef BENCH_POOL_H
#define BENCH_POOL_H

#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "common/buffer.h"

/* The worker's way to its parent. */
typedef struct bench_link bench_link;
/* One more step is done. Sent on a few times a second. */
void bench_link_step(bench_link *link);

typedef struct bench_tasks {
  size_t n;
  void *user;

  /* In a worker: does task i and appends its result to `out`. */
  cocabo_status (*work)(void *user, size_t i, bench_link *link, front_buffer *out,
                        cocabo_error *err);
  /* In the parent: task i is done; a failure ends everything. */
  cocabo_status (*done)(void *user, size_t i, const char *result, size_t size,
                        cocabo_error *err);
  /* In the parent, several times a second: so many steps were done since the last. */
  void (*tick)(void *user, int64_t steps);
  /* Names task i in a sentence. */
  void (*describe)(void *user, size_t i, char *out, size_t size);
} bench_tasks;

/* Does all tasks, `jobs` at a time. When a task fails, a worker dies, or SIGINT or
 * SIGTERM arrives (COCABO_E_INTERRUPTED), all workers are ended before it returns. */
enum { BENCH_MAX_JOBS = 256 };
cocabo_status bench_pool_run(const bench_tasks *tasks, int jobs, cocabo_error *err);

/* The signal that interrupted, or 0. */
int bench_pool_signal(void);

#endif
