/* stats.h - means, standard errors, quantiles. */
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

/* Prints a number for JSON: 17 digits, or null where it is not finite. */
void bench_print_json_number(double value);

#endif
