/* csv.h - results as rows of text.
 *
 *   problem,method,batch,seed,iteration,evaluation,value,best,ask_seconds
 *
 * One row an evaluation: iteration 0 for the initial points, then 1, 2, ... with
 * `batch` rows each; evaluation counts from 1. An evaluation that failed or
 * broke a constraint has the value nan, and best is -inf before the first that did not.
 * A run is the rows that share the first four fields, its key. Runs are kept as the
 * text they were read as, so that copying a file changes nothing.
 *
 * A file of simulated workers has two more columns, `workers,time`: how many there
 * were, the same number in the whole file, and the simulated time at which the result
 * came in. Its rows are in the order of that time, and iteration 0 is the first
 * results, whichever points they belong to. A file is of one kind or the other.
 */
#ifndef BENCH_CSV_H
#define BENCH_CSV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "common/buffer.h"

/* With its newline. */
const char *bench_csv_header(bool timed);

/* What changes from row to row of a run. */
typedef struct bench_row {
  int64_t iteration, evaluation;
  double value, best;
  double ask_seconds; /* of the iteration's ask, divided by its points */
  int64_t workers;    /* 0: none are simulated, and there is no time */
  double time;
} bench_row;

typedef struct bench_series {
  const char *text; /* its rows, each with its newline; borrowed */
  size_t size;
  size_t key;   /* length of "problem,method,batch,seed" at the start of text */
  size_t group; /* length of "problem,method,batch" there */
  int64_t batch;
  int64_t rows, init, iterations; /* init: rows of iteration 0 */
  bool whole; /* evaluations 1 .. rows; every iteration 1 .. iterations has its rows */
} bench_series;

typedef struct bench_results {
  size_t n;
  bench_series *series;        /* in the order of the text */
  const bench_series **by_key; /* sorted */
  int64_t workers;             /* of every row; 0: none are simulated */
} bench_results;

/* Appends one row; `key` is "problem,method,batch,seed". */
cocabo_status bench_csv_append(front_buffer *text, const char *key,
                               const bench_row *row, cocabo_error *err);

/* The row at *cursor, which steps to the next one; for text that was read before. */
bench_row bench_csv_next(const char **cursor);

/* Reads the rows of a whole file; name is for the sentences. The series borrow from
 * `text`. Text that is not ours, a line that is no row, rows of different numbers of
 * workers, and a run that appears twice are COCABO_E_INVALID. A text cut short is ours:
 * where `may_be_cut`, what follows the last newline is passed over, and so is a header
 * that stops before its end. */
cocabo_status bench_results_parse(bench_results *out, const char *name,
                                  const front_buffer *text, bool may_be_cut,
                                  cocabo_error *err);
void bench_results_free(bench_results *results); /* and back to {0} */

/* The same from a file; `text` keeps what the series borrow. A file that is cut short
 * is refused. */
cocabo_status bench_results_load(bench_results *out, const char *path,
                                 front_buffer *text, cocabo_error *err);

/* The runs of several files, which must be of the same number of workers and have no
 * run in common. */
cocabo_status bench_results_load_all(bench_results *out, int n,
                                     const char *const *paths, front_buffer *text,
                                     cocabo_error *err);

/* The run of that key, or NULL. */
const bench_series *bench_results_find(const bench_results *results, const char *key);

/* Rows of the longest run. */
int64_t bench_results_longest(const bench_results *results);

/* by_now[t] = `best` in the last row of iteration t, for 0 <= t <= series->rows; NaN
 * for an iteration that the run does not finish. */
void bench_series_bests(const bench_series *series, double *by_now);

/* time[i] and best[i] of row i, for 0 <= i < series->rows; times do not decrease. */
void bench_series_times(const bench_series *series, double *time, double *best);

/* The names in a run's key; borrowed, and not terminated. */
typedef struct bench_names {
  const char *problem, *method;
  int problem_size, method_size;
} bench_names;
bench_names bench_series_names(const bench_series *series);

#endif
