/* plot_data.h - a study as plain arrays, for pictures: finished trials by number, and
 * what every plot has to know about their values. */
#ifndef CLI_PLOT_DATA_H
#define CLI_PLOT_DATA_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"

typedef struct plot_param {
  char *name;
  cocabo_kind kind;
  double low, high, step; /* of a number; step 0: any between them */
  bool log;
  size_t choices; /* of a choice or ordinal; 0 for a number */
  char **labels;  /* choices: as people write them */
  char **json;    /* choices: as JSON */
} plot_param;

typedef struct plot_data {
  const cocabo_study *source; /* borrowed: it knows which parameters matter */
  char *study;
  bool maximize;
  size_t d; /* parameters */
  plot_param *params;
  size_t n; /* complete and failed trials, in the order of their numbers */
  int64_t *number;
  double *value;   /* NaN: failed */
  bool *feasible;  /* keeps the constraints, or there are none */
  size_t n_apart;  /* complete ones that do not */
  double *cells;   /* d x n, column-major: the number, or the index of the choice; NaN:
                      the parameter is inactive */
  size_t complete; /* of the n */
  size_t reported; /* trials with reports, whatever their state */
  /* The best one, see cli_best: */
  size_t best;         /* its row; n: no trial is a candidate */
  bool noisy;          /* its value may be luck, */
  bool modelled;       /* but a model knows better */
  double expected, se; /* what it expects, and with which error */
  bool by_runs;        /* values are of few runs or many: the lowest may be luck */
} plot_data;

/* The study outlives the data. On failure there is nothing to free. */
cocabo_status plot_data_read(plot_data *data, cocabo_study *study, cocabo_error *err);
void plot_data_free(plot_data *data);

static inline double plot_cell(const plot_data *data, size_t row, size_t param) {
  return data->cells[row * data->d + param];
}
static inline bool plot_inactive(const plot_data *data, size_t row, size_t param) {
  return plot_cell(data, row, param) != plot_cell(data, row, param);
}
/* In how many trials. */
size_t plot_count_inactive(const plot_data *data, size_t param);
static inline bool plot_failed(const plot_data *data, size_t row) {
  return data->value[row] != data->value[row];
}
/* Complete, but no candidate for the best. */
static inline bool plot_apart(const plot_data *data, size_t row) {
  return !plot_failed(data, row) && !data->feasible[row];
}
/* None is before a trial is complete with every metric that the constraints bound. */
static inline bool plot_has_best(const plot_data *data) {
  return data->best < data->n;
}
/* Is value a better than value b? */
static inline bool plot_better(const plot_data *data, double a, double b) {
  return data->maximize ? a > b : a < b;
}

/* Where a cell, which is active, lies in its domain, 0 .. 1, on the parameter's own
 * scale; the values of a grid are the middles of equal parts. */
double plot_place(const plot_param *param, double cell);
/* In [-0.5,0.5), evenly spread and always the same for a trial: parts those that would
 * lie on each other. */
double plot_jitter(int64_t number);

/* ---- values --------------------------------------------------------------------- */

/* The range of values worth showing. Values far out on the bad side are left out when
 * they would squeeze the rest together; those on the good side never are. */
typedef struct plot_range {
  double low, high; /* low < high, with some room at both ends */
  bool log;         /* positive values over several decades */
  size_t beyond;    /* complete trials outside */
} plot_range;
/* There is at least one complete trial. */
cocabo_status plot_range_find(const plot_data *data, plot_range *out,
                              cocabo_error *err);

/* Of n values, 1 or more, which are sorted; `beyond` counts values. */
void plot_range_of(double *values, size_t n, bool maximize, plot_range *out);

/* The rows of the complete trials, the best one first and then by their values, equal
 * ones by number. */
cocabo_status plot_rank(const plot_data *data, size_t *rows, cocabo_error *err);

/* ---- choices -------------------------------------------------------------------- */

typedef struct plot_tally {
  size_t tried, failed; /* failed ones are tried ones */
  size_t best; /* row, if one did not fail: the study's, or of the best value */
} plot_tally;
/* tally: one for each choice of the parameter; where that is inactive, none counts. */
void plot_count(const plot_data *data, size_t param, plot_tally *tally);
/* The `most` choices of the best values, or all in the order of the space if there are
 * no more. rows: all choices. Returns how many. */
size_t plot_choose_rows(const plot_data *data, size_t param, const plot_tally *tally,
                        size_t most, size_t *rows);

/* ---- importance ----------------------------------------------------------------- */

typedef struct plot_share {
  size_t param;
  double share, se;
} plot_share;
/* All parameters, the largest share first, with errors: see cocabo_study_importance. */
cocabo_status plot_shares_find(const plot_data *data, plot_share *shares,
                               double *explained, cocabo_error *err);
/* "75 ± 4 %", "0.6 ± 0.3 %"; "75 %" where there is no error. */
enum { PLOT_PERCENT = 48 };
const char *plot_percent(double share, double se, bool unicode, char out[PLOT_PERCENT]);
/* What the shares are shares of, and whether they mean anything. */
enum { PLOT_CAVEAT = 160 };
const char *plot_caveat(const plot_data *data, double explained, char out[PLOT_CAVEAT]);

/* The `most` parameters with the largest shares, in the order of the space, or all if
 * there are no more; the first ones where there is nothing to go by. Returns how many.
 */
size_t plot_choose_params(const plot_data *data, bool choices_only, size_t most,
                          size_t *out);

#endif
