/* columns.c - many trials as columns of numbers. */
#include <math.h>
#include <string.h>

#include "study/study.h"

/* A value of parameter i as a number; NaN if it is inactive. */
static double number_of(const cocabo_space *space, int i, cb_cell cell) {
  if (!cb_cell_is_active(cell))
    return NAN;
  return space->params[i].kind == CB_REAL ? cell.real : (double)cell.integer;
}

static double metric_of(const cb_trial *trial, const char *name) {
  for (int i = 0; i < trial->n_metrics; i++)
    if (strcmp(trial->metrics[i].name, name) == 0)
      return trial->metrics[i].value;
  return NAN;
}

static void fill_row(const cocabo_columns *out, int64_t row, const cb_trial *trial) {
  if (out->seqs)
    out->seqs[row] = trial->seq;
  if (out->numbers)
    out->numbers[row] = trial->number;
  if (out->states)
    out->states[row] = (int32_t)trial->state;
  if (out->origins)
    out->origins[row] = (int32_t)trial->origin;
  if (out->attempts)
    out->attempts[row] = trial->attempt;
  if (out->values)
    out->values[row] = trial->value;
  if (out->started)
    out->started[row] = trial->started;
  if (out->finished)
    out->finished[row] = trial->finished;
}

void cb_study_columns(const cocabo_study *study, int64_t first, int64_t n,
                      const cocabo_columns *out) {
  const cb_history *history = study->fold.history;
  const cocabo_space *space = history->space;
  const int64_t m = (int64_t)out->n_metrics;
  for (int64_t row = 0; row < n; row++) {
    const cb_trial *trial = &history->trials[first + row];
    fill_row(out, row, trial);
    for (int i = 0; i < space->n && out->params; i++)
      out->params[row * space->n + i] = number_of(space, i, trial->cells[i]);
    for (int64_t i = 0; i < m && out->metrics; i++)
      out->metrics[row * m + i] = metric_of(trial, out->metric_names[i]);
  }
}
