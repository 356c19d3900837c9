/* best.h - the best trial of a study, for all who name it: `best`, the bar and the
 * summary of a run, and pictures. */
#ifndef CLI_BEST_H
#define CLI_BEST_H

#include <stdbool.h>

#include "cocabo.h"
#include "common/buffer.h"

typedef struct cli_best {
  cocabo_trial *trial; /* owned: that of cocabo_study_best */
  bool noisy;          /* its value may be luck */
  bool modelled;       /* noisy, but a model knows better: */
  double expected, se; /* NaN unless it does */
  size_t runs;         /* that its value is what they come to; 0: it has none */
  double error;        /* of the value by its runs; NaN: not known */
  bool constrained;    /* the study has constraints, */
  bool feasible;       /* which the trial keeps: none does unless it does */
} cli_best;

/* COCABO_E_NOT_FOUND, and nothing to free, until one trial is complete. */
cocabo_status cli_best_find(cli_best *out, cocabo_study *study, cocabo_error *err);
void cli_best_free(cli_best *best);

/* How many runs of a trial have a value. */
size_t cli_count_runs(const cocabo_trial *trial);

/* "0.93"; "0.93 +- 0.012, 12 runs"; "expected 0.9120 +- 0.0041, 4 runs"; "expected
 * 0.9120 +- 0.0041, measured 0.93"; or "0.93, the luckiest", where values are noisy and
 * there is no model. Where no trial keeps the constraints it says so behind it. */
cocabo_status cli_put_best_value(front_buffer *out, const cli_best *best,
                                 cocabo_error *err);
/* The trial as cli_put_json_trial has it, and where values are noisy "expected" and
 * "expected_se", null without a model. */
cocabo_status cli_put_json_best(front_buffer *out, const cocabo_study *study,
                                const cli_best *best, cocabo_error *err);

/* A value with its standard error, of which two digits are worth showing:
 * "0.9120 +- 0.0041". Returns out. */
enum { CLI_MEASURE = 64 };
const char *cli_show_measure(char out[CLI_MEASURE], double value, double se);

#endif
