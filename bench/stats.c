#include "stats.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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
  if (below + 1 >= n)
    return values[n - 1];
  const double part = place - (double)below;
  return values[below] + part * (values[below + 1] - values[below]);
}

void bench_print_json_number(double value) {
  if (isfinite(value))
    printf("%.17g", value);
  else
    printf("null");
}
