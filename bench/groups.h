/* groups.h - runs that differ in the seed only, and what they have reached on average.
 *
 * A group is all runs of one problem, method and batch. `at` are the places along a run
 * where it is looked at: iterations, or simulated times where the results have them.
 */
#ifndef BENCH_GROUPS_H
#define BENCH_GROUPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "csv.h"
#include "stats.h"

typedef struct bench_group {
  const bench_series *first; /* names it; borrowed from the results */
  int64_t runs;
  bench_mean *best; /* n_at: of `best`, over the runs that have one there */
  bench_mean ask;   /* seconds an ask takes for each of its points, without the first */
} bench_group;

typedef struct bench_groups {
  bool timed; /* the places are times */
  int64_t n_at;
  double *at; /* n_at places, iterations as whole numbers */
  size_t n;
  bench_group *items; /* in the order they were found */
  bench_mean *means;  /* n_at for each group */
} bench_groups;

/* Looks at the results in these places, which are copied. Release with
 * bench_groups_free. */
cocabo_status bench_groups_make(bench_groups *out, const bench_results *results,
                                bool timed, int64_t n_at, const double *at,
                                cocabo_error *err);
/* The same all along: at every iteration, or at so many times from 0 to the end. */
enum { BENCH_TIMES = 201 };
cocabo_status bench_groups_follow(bench_groups *out, const bench_results *results,
                                  cocabo_error *err);
void bench_groups_free(bench_groups *groups); /* and back to {0} */

/* Have all runs of the group come to this place with a value that counts? */
bool bench_group_is_at(const bench_group *group, int64_t at);

/* Do two runs have the same "problem,method,batch", or only the same problem? */
bool bench_same_group(const bench_series *a, const bench_series *b);
bool bench_same_problem(const bench_series *a, const bench_series *b);

/* The largest value that the run's problem has; NaN: the problem is not ours. */
double bench_series_optimum(const bench_series *series);

#endif
