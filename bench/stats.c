/* stats.c - running means and variances by Welford's update, quantiles, and Wilcoxon's
 * signed-rank test of paired differences. */
#include "stats.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* ---- means and quantiles -------------------------------------------------------- */

void bench_mean_add(bench_mean *m, double value) {
  const double gap = value - m->mean;
  m->n++;
  m->mean += gap / (double)m->n;
  m->squares += gap * (value - m->mean);
}

double bench_mean_se(const bench_mean *m) {
  if (m->n < 2)
    return 0.0;
  return sqrt(m->squares / (double)(m->n - 1) / (double)m->n);
}

static int compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double bench_quantile(int64_t n, double *values, double q) {
  qsort(values, (size_t)n, sizeof *values, compare);
  const double place = q * (double)(n - 1);
  const int64_t below = (int64_t)place;
  const double part = place - (double)below;
  /* Where there is nothing to add, a neighbour at infinity must not make it NaN. */
  if (below + 1 >= n || part == 0.0 || values[below + 1] == values[below])
    return values[below];
  return values[below] + part * (values[below + 1] - values[below]);
}

/* ---- Wilcoxon's signed ranks ---------------------------------------------------- */

/* What the test needs to know of the ranks of n sizes. */
typedef struct rank_sums {
  double positive; /* sum of the ranks of the positive differences */
  double cubes;    /* sum over groups of t equal sizes of t^3 - t; 0: all differ */
} rank_sums;

static int compare_sizes(const void *a, const void *b) {
  const double x = fabs(*(const double *)a), y = fabs(*(const double *)b);
  return (x > y) - (x < y);
}

/* Moves the differences that are not 0 to the front; returns their number. */
static int64_t drop_zeros(int64_t n, double *differences) {
  int64_t kept = 0;
  for (int64_t i = 0; i < n; i++)
    if (differences[i] != 0.0)
      differences[kept++] = differences[i];
  return kept;
}

static rank_sums sum_ranks(int64_t n, double *differences) {
  rank_sums sums = {0};
  qsort(differences, (size_t)n, sizeof *differences, compare_sizes);
  for (int64_t first = 0, end; first < n; first = end) {
    for (end = first + 1;
         end < n && fabs(differences[end]) == fabs(differences[first]);)
      end++;
    const double rank = 0.5 * (double)(first + 1 + end), t = (double)(end - first);
    for (int64_t i = first; i < end; i++)
      sums.positive += differences[i] > 0.0 ? rank : 0.0;
    sums.cubes += t * t * t - t;
  }
  return sums;
}

enum { EXACT = 25 };

/* P(W <= least), W the sum of a random subset of 1 .. n: subsets are counted by their
 * sum, one rank after the other. */
static double lower_tail(int n, int least) {
  double subsets[EXACT * (EXACT + 1) / 2 + 1] = {1.0}, tail = 0.0;
  for (int rank = 1; rank <= n; rank++)
    for (int sum = rank * (rank + 1) / 2; sum >= rank; sum--)
      subsets[sum] += subsets[sum - rank];
  for (int sum = 0; sum <= least; sum++)
    tail += subsets[sum];
  return ldexp(tail, -n);
}

static double exact_p(int n, double positive) {
  assert(n <= EXACT);
  const double negative = 0.5 * n * (n + 1) - positive;
  return fmin(1.0, 2.0 * lower_tail(n, (int)fmin(positive, negative)));
}

static double normal_p(int64_t count, const rank_sums *sums) {
  const double n = (double)count;
  const double mean = n * (n + 1.0) / 4.0;
  const double variance = (n * (n + 1.0) * (2.0 * n + 1.0) - 0.5 * sums->cubes) / 24.0;
  const double gap = fmax(0.0, fabs(sums->positive - mean) - 0.5); /* continuity */
  return erfc(gap / sqrt(2.0 * variance));
}

double bench_wilcoxon(int64_t n, double *differences) {
  const int64_t kept = drop_zeros(n, differences);
  if (kept == 0)
    return 1.0;
  const rank_sums sums = sum_ranks(kept, differences);
  const bool plain = kept == n && sums.cubes == 0.0;
  return plain && n <= EXACT ? exact_p((int)n, sums.positive) : normal_p(kept, &sums);
}
