/* regression.c - splits a table into rows to learn from and rows to test on, in the
 * random order of a fixed seed, and scales its columns. */
#include "problems/regression.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "problem.h"

/* ---- the split ------------------------------------------------------------------ */

static void rows_free(bench_rows *rows) {
  cb_free(rows->X);
  cb_free(rows->y);
  *rows = (bench_rows){0};
}

void bench_regression_free(bench_regression *regression) {
  rows_free(&regression->train);
  rows_free(&regression->test);
}

/* The rows of the table that `order` names. */
static cocabo_status gather(const bench_matrix *table, const int32_t *order, size_t n,
                            bench_rows *out, cocabo_error *err) {
  const size_t d = table->columns - 1;
  *out = (bench_rows){.n = n,
                      .d = d,
                      .X = cb_calloc(n * d, sizeof *out->X),
                      .y = cb_calloc(n, sizeof *out->y)};
  if (!out->X || !out->y)
    return cb_no_memory(err);
  for (size_t i = 0; i < n; i++) {
    const double *row = table->at + (size_t)order[i] * table->columns;
    memcpy(out->X + i * d, row, d * sizeof *row);
    out->y[i] = row[d];
  }
  return COCABO_OK;
}

static cocabo_status split_by(const bench_matrix *table, int32_t *order, size_t n_test,
                              uint32_t stream, bench_regression *out,
                              cocabo_error *err) {
  cb_rng rng = bench_rng(BENCH_PROBLEM_SEED, stream, 0);
  for (size_t i = 0; i < table->rows; i++)
    order[i] = (int32_t)i;
  cb_rng_shuffle(&rng, (int)table->rows, order);
  CB_TRY(gather(table, order, n_test, &out->test, err));
  return gather(table, order + n_test, table->rows - n_test, &out->train, err);
}

cocabo_status bench_regression_split(const bench_matrix *table, double fraction,
                                     uint32_t stream, bench_regression *out,
                                     cocabo_error *err) {
  *out = (bench_regression){0};
  const size_t n_test = (size_t)ceil(fraction * (double)table->rows);
  int32_t *order = cb_calloc(table->rows, sizeof *order);
  if (!order)
    return cb_no_memory(err);
  const cocabo_status status = split_by(table, order, n_test, stream, out, err);
  cb_free(order);
  if (status != COCABO_OK)
    bench_regression_free(out);
  return status;
}

static cocabo_status load_table(const char *path, int skip, size_t columns,
                                bench_matrix *table, cocabo_error *err) {
  front_buffer text = {0};
  CB_TRY(bench_data_load(path, &text, err));
  const cocabo_status status = bench_read_table(path, &text, skip, columns, table, err);
  front_buffer_free(&text);
  return status;
}

cocabo_status bench_regression_load(const char *path, int skip, size_t columns,
                                    double fraction, uint32_t stream,
                                    bench_regression *out, cocabo_error *err) {
  bench_matrix table = {0};
  *out = (bench_regression){0};
  CB_TRY(load_table(path, skip, columns, &table, err));
  const cocabo_status status =
      bench_regression_split(&table, fraction, stream, out, err);
  bench_matrix_free(&table);
  return status;
}

/* ---- scales --------------------------------------------------------------------- */

/* A column of numbers that lie `stride` apart. */
typedef struct column {
  double *at;
  size_t n, stride;
} column;

static column input(const bench_rows *rows, size_t j) {
  return (column){.at = rows->X + j, .n = rows->n, .stride = rows->d};
}

static column target(const bench_rows *rows) {
  return (column){.at = rows->y, .n = rows->n, .stride = 1};
}

static bench_scale range_of(column c) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 0; i < c.n; i++) {
    low = fmin(low, c.at[i * c.stride]);
    high = fmax(high, c.at[i * c.stride]);
  }
  return (bench_scale){.shift = low, .scale = high > low ? high - low : 1.0};
}

static bench_scale moments_of(column c) {
  double sum = 0.0, squares = 0.0;
  for (size_t i = 0; i < c.n; i++)
    sum += c.at[i * c.stride];
  const double mean = sum / (double)c.n;
  for (size_t i = 0; i < c.n; i++) {
    const double off = c.at[i * c.stride] - mean;
    squares += off * off;
  }
  const double sd = sqrt(squares / (double)c.n);
  return (bench_scale){.shift = mean, .scale = sd > 0.0 ? sd : 1.0};
}

static void apply(bench_scale s, column c) {
  for (size_t i = 0; i < c.n; i++)
    c.at[i * c.stride] = (c.at[i * c.stride] - s.shift) / s.scale;
}

static void map_inputs(bench_regression *r, bench_scale (*measure)(column)) {
  for (size_t j = 0; j < r->train.d; j++) {
    const bench_scale s = measure(input(&r->train, j));
    apply(s, input(&r->train, j));
    apply(s, input(&r->test, j));
  }
}

void bench_regression_to_unit(bench_regression *regression) {
  map_inputs(regression, range_of);
}

void bench_regression_standardise(bench_regression *regression) {
  map_inputs(regression, moments_of);
}

bench_scale bench_regression_standardise_target(bench_regression *regression) {
  const bench_scale s = moments_of(target(&regression->train));
  apply(s, target(&regression->train));
  apply(s, target(&regression->test));
  return s;
}
