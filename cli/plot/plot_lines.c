/* plot_lines.c - reads what trials reported, chooses whose lines are shown, and thins
 * out long ones. */
#include "plot/plot_lines.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"

/* ---- which lines ---------------------------------------------------------------- */

static int compare_newest(const void *a, const void *b) {
  const plot_line *x = a, *y = b;
  return (x->number < y->number) - (x->number > y->number);
}

/* Minimised: the order of drawing is that from the worst to the best. */
static int compare_values(const plot_line *x, const plot_line *y) {
  const bool x_has = x->state == COCABO_COMPLETE, y_has = y->state == COCABO_COMPLETE;
  if (x->best != y->best)
    return x->best ? 1 : -1;
  if (x_has != y_has)
    return x_has ? 1 : -1;
  if (x_has && x->value != y->value)
    return x->value < y->value ? 1 : -1;
  return compare_newest(x, y);
}

static int compare_minimised(const void *a, const void *b) {
  return compare_values(a, b);
}

static int compare_maximised(const void *a, const void *b) {
  const plot_line *x = a, *y = b;
  const bool both = x->state == COCABO_COMPLETE && y->state == COCABO_COMPLETE;
  if (both && x->best == y->best && x->value != y->value)
    return x->value > y->value ? 1 : -1;
  return compare_values(x, y);
}

static void sort(const plot_data *data, plot_line *lines, size_t n) {
  qsort(lines, n, sizeof *lines,
        data->maximize ? compare_maximised : compare_minimised);
}

/* Without their steps, all trials that reported. */
static cocabo_status list_lines(const plot_data *data, plot_lines *out,
                                cocabo_error *err) {
  const int64_t best =
      plot_has_best(data) ? data->number[data->best] : -1; /* no trial's */
  for (int64_t i = 0; out->of < data->reported; i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(data->source, i, &trial, err));
    if (cocabo_trial_reports(trial, NULL))
      out->lines[out->of++] = (plot_line){.number = i,
                                          .state = cocabo_trial_get_state(trial),
                                          .value = cocabo_trial_value(trial),
                                          .best = i == best};
    cocabo_trial_free(trial);
  }
  return COCABO_OK;
}

/* Those shown come to the front. */
static void choose_lines(const plot_data *data, plot_lines *out) {
  plot_line *lines = out->lines;
  sort(data, lines, out->of);
  out->n = out->of < PLOT_MOST_LINES ? out->of : PLOT_MOST_LINES;
  if (out->n == out->of)
    return;
  const size_t others = out->of - PLOT_BEST_LINES, newest = out->n - PLOT_BEST_LINES;
  qsort(lines, others, sizeof *lines, compare_newest);
  memmove(lines + newest, lines + others, PLOT_BEST_LINES * sizeof *lines);
  sort(data, lines, out->n);
}

/* ---- their points --------------------------------------------------------------- */

/* A line of more points than anybody sees is cut into pieces, and of each its lowest
 * and its highest point stay. */
enum { PIECES = 200, MOST_POINTS = 2 * PIECES + 2 };

static void keep(plot_line *line, const cocabo_step *step) {
  if (line->n == 0 || line->steps[line->n - 1].step < step->step)
    line->steps[line->n++] = *step;
}

static void thin_out(plot_line *line, const cocabo_step *all, size_t n) {
  keep(line, &all[0]);
  for (size_t piece = 0; piece < PIECES; piece++) {
    size_t low = piece * n / PIECES, high = low;
    for (size_t i = low; i < (piece + 1) * n / PIECES; i++) {
      low = all[i].value < all[low].value ? i : low;
      high = all[i].value > all[high].value ? i : high;
    }
    keep(line, &all[low < high ? low : high]);
    keep(line, &all[low < high ? high : low]);
  }
  keep(line, &all[n - 1]);
}

static cocabo_status read_line(const plot_data *data, plot_line *line,
                               cocabo_error *err) {
  size_t n;
  cocabo_trial *trial;
  CB_TRY(cocabo_study_trial(data->source, line->number, &trial, err));
  const cocabo_step *all = cocabo_trial_reports(trial, &n);
  line->steps = cb_calloc(n < MOST_POINTS ? n : MOST_POINTS, sizeof *line->steps);
  if (line->steps && n > MOST_POINTS)
    thin_out(line, all, n);
  else if (line->steps)
    memcpy(line->steps, all, (line->n = n) * sizeof *all);
  cocabo_trial_free(trial);
  return line->steps ? COCABO_OK : cb_no_memory(err);
}

/* ---- their ranges --------------------------------------------------------------- */

static void find_steps(plot_lines *out) {
  out->first = INFINITY;
  for (size_t i = 0; i < out->n; i++) {
    const plot_line *line = &out->lines[i];
    out->first = fmin(out->first, (double)line->steps[0].step);
    out->last = fmax(out->last, (double)line->steps[line->n - 1].step);
  }
  if (!(out->first < out->last))
    out->last = out->first + fmax(1.0, 0.05 * out->first);
}

static cocabo_status find_values(const plot_data *data, plot_lines *out,
                                 cocabo_error *err) {
  double *values = cb_calloc((size_t)PLOT_MOST_LINES * MOST_POINTS, sizeof *values);
  if (!values)
    return cb_no_memory(err);
  size_t n = 0;
  for (size_t i = 0; i < out->n; i++)
    for (size_t k = 0; k < out->lines[i].n; k++)
      values[n++] = out->lines[i].steps[k].value;
  plot_range_of(values, n, data->maximize, &out->range);
  cb_free(values);
  return COCABO_OK;
}

static cocabo_status read_lines(const plot_data *data, plot_lines *out,
                                cocabo_error *err) {
  CB_TRY(list_lines(data, out, err));
  choose_lines(data, out);
  for (size_t i = 0; i < out->n; i++) {
    CB_TRY(read_line(data, &out->lines[i], err));
    out->failed += out->lines[i].state == COCABO_FAILED;
    out->complete += out->lines[i].state == COCABO_COMPLETE;
  }
  find_steps(out);
  return find_values(data, out, err);
}

cocabo_status plot_lines_find(const plot_data *data, plot_lines *out,
                              cocabo_error *err) {
  if (data->reported == 0)
    return plot_no_reports(data, err);
  *out = (plot_lines){.lines = cb_calloc(data->reported, sizeof *out->lines)};
  if (!out->lines)
    return cb_no_memory(err);
  const cocabo_status status = read_lines(data, out, err);
  if (status != COCABO_OK)
    plot_lines_free(out);
  return status;
}

void plot_lines_free(plot_lines *lines) {
  for (size_t i = 0; i < lines->n; i++)
    cb_free(lines->lines[i].steps);
  cb_free(lines->lines);
  *lines = (plot_lines){0};
}

/* ---- words ---------------------------------------------------------------------- */

cocabo_status plot_no_reports(const plot_data *data, cocabo_error *err) {
  char name[CANVAS_FITTED];
  return cb_fail(err, COCABO_E_STATE,
                 "no trial of study %s has reported values: a program reports with "
                 "cocabo tell $COCABO_TRIAL VALUE --step STEP while it runs",
                 canvas_fit(name, data->study, 1.0, 40.0));
}

const char *plot_lines_left_out(const plot_data *data, const plot_lines *lines,
                                char out[PLOT_LEFT_OUT]) {
  *out = '\0';
  if (lines->n < lines->of)
    snprintf(out, PLOT_LEFT_OUT, "(%zu of %zu lines, the best and the newest)",
             lines->n, lines->of);
  else if (plot_has_best(data) && !lines->lines[lines->n - 1].best)
    snprintf(out, PLOT_LEFT_OUT, "(trial %" PRId64 ", the best, reported nothing)",
             data->number[data->best]);
  return out;
}
