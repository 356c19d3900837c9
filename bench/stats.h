/* stats.h - means, standard errors, quantiles, and a test of paired differences. */
#ifndef BENCH_STATS_H
#define BENCH_STATS_H

#include <stdint.h>

/* Welford's running mean and sum of squared deviations; starts as {0}. */
typedef struct bench_mean {
  int64_t n;
  double mean, squares;
} bench_mean;

void bench_mean_add(bench_mean *m, double value);
/* Sample standard deviation over sqrt(n); 0 for one value. */
double bench_mean_se(const bench_mean *m);

/* Quantile q of n > 0 values, between neighbours by linear interpolation; sorts them.
 */
double bench_quantile(int64_t n, double *values, double q);

/* Wilcoxon's signed-rank test of n >= 0 paired differences: the two-sided p-value of
 * their being symmetric about 0. Zeros are dropped, and equal sizes share their mean
 * rank. The distribution is exact for at most 25 differences without zeros and equal
 * sizes, and otherwise normal with corrections for ties and continuity. 1 if no
 * difference is left. Reorders the differences, of which none may be NaN. */
double bench_wilcoxon(int64_t n, double *differences);

#endif
