/* pairs.h - two methods on the same problems, paired by seed. */
#ifndef BENCH_PAIRS_H
#define BENCH_PAIRS_H

#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "csv.h"

/* The two methods are sides, and everything that there is of each is [BENCH_SIDES]. */
enum { BENCH_A, BENCH_B, BENCH_SIDES };

/* All pairs of one problem and batch. */
typedef struct bench_pair_group {
  const bench_series *first; /* a run of A, which names the group */
  int64_t at;                /* iteration compared at */
  int64_t pairs;             /* that reach it */
  int64_t wins[BENCH_SIDES], ties;
  double mean[BENCH_SIDES], median[BENCH_SIDES]; /* of the regret; NaN if the optimum is
                                                    unknown */
  double p; /* two-sided, of Wilcoxon's signed-rank test */
} bench_pair_group;

typedef struct bench_pairs {
  /* To be set before: */
  const char *path; /* for sentences */
  const bench_results *results;
  const char *method[BENCH_SIDES];
  int64_t at; /* iteration; -1: the last one that all pairs of a group reach */
  /* Filled in by bench_pairs_compare: */
  size_t n_groups;
  bench_pair_group *groups; /* in the order they were found */

  struct bench_pair *pairs; /* from here on its own: in the order of the runs of A */
  size_t n_pairs;
  double *by_now;              /* room for one run's bests, by iteration */
  double *regret[BENCH_SIDES]; /* room for the pairs of a group */
  double *difference;          /* likewise */
} bench_pairs;

/* COCABO_E_NOT_FOUND where a method has no runs, or the two have none in common.
 * Release with bench_pairs_free in any case. */
cocabo_status bench_pairs_compare(bench_pairs *pairs, cocabo_error *err);
void bench_pairs_free(bench_pairs *pairs);

#endif
