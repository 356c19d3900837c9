/* regression.h - a table whose last column is to be predicted from the others, split
 * into rows to learn from and rows to be tested on.
 */
#ifndef BENCH_PROBLEMS_REGRESSION_H
#define BENCH_PROBLEMS_REGRESSION_H

#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "data.h"

typedef struct bench_rows {
  size_t n, d;
  double *X; /* n x d, row-major; owned */
  double *y; /* n; owned */
} bench_rows;

typedef struct bench_regression {
  bench_rows train, test;
} bench_regression;
void bench_regression_free(bench_regression *regression); /* and back to {0} */

/* The rows in an order drawn from `stream` (problem.h), the same in every run: the
 * first ceil(fraction n) of them are the test set. *out is owned by the caller. */
cocabo_status bench_regression_split(const bench_matrix *table, double fraction,
                                     uint32_t stream, bench_regression *out,
                                     cocabo_error *err);

/* The same with a table of the data folder (data.h): `columns` numbers a row below
 * `skip` lines. */
cocabo_status bench_regression_load(const char *path, int skip, size_t columns,
                                    double fraction, uint32_t stream,
                                    bench_regression *out, cocabo_error *err);

/* An affine map of a column, v -> (v - shift) / scale. */
typedef struct bench_scale {
  double shift, scale; /* scale > 0 */
} bench_scale;

/* Map every input by what the training rows are: to [0, 1], or to mean 0 and variance
 * 1. A column that is constant there is only shifted. */
void bench_regression_to_unit(bench_regression *regression);
void bench_regression_standardise(bench_regression *regression);
/* The same for the target; returns the map. */
bench_scale bench_regression_standardise_target(bench_regression *regression);

#endif
