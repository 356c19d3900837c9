/* Which choice was tried when, how often, and how good it was: a block for each choice
 * parameter, a row for each of its choices. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base.h"
#include "plot/plot.h"

enum {
  WIDTH = 760,
  MOST_BLOCKS = 20,
  MOST_ROWS = 20, /* in a block; more choices: the best ones */
  ROW = 20,
  HEAD = 26, /* above the rows of a block */
  GAP = 18,  /* below them */
  LABEL_X = CHART_MARGIN + 8,
  STRIP_X = 150,
  STRIP = 300,
  TRIED_X = STRIP_X + STRIP + 16,
  TRIED = 44,
  BEST_X = TRIED_X + TRIED + 84,
  BEST = 70,
  BINS = STRIP / 2,
  BOTTOM = 0
};

typedef struct sheet {
  const plot_data *data;
  canvas *c;
  plot_range range;
  size_t params[COCABO_MAX_PARAMETERS], n; /* shown */
  double y;                                /* of the block that is next */
} sheet;

static size_t rows_of(const plot_param *param) {
  return param->choices < MOST_ROWS ? param->choices : MOST_ROWS;
}

/* ---- strips --------------------------------------------------------------------- */

/* Finished trials, a bin each, or several in a bin; darkness is the share of the bin's
 * trials that had the choice, and the foot of a bin says that some of them failed. A
 * bin of which no trial is feasible has a ring or, where all failed, a cross. */
static void put_strip(const sheet *s, size_t param, size_t choice, double y) {
  const plot_data *data = s->data;
  const size_t bins = data->n < BINS ? data->n : BINS;
  const double width = STRIP / (double)bins;
  canvas_line(s->c, STRIP_X, y, STRIP_X + STRIP, y, CHART_GRID, 1);
  for (size_t b = 0, row = 0; b < bins; b++) {
    const size_t first = row, end = (b + 1) * data->n / bins;
    size_t tried = 0, failed = 0, apart = 0;
    for (; row < end; row++) {
      const bool here = plot_cell(data, row, param) == (double)choice;
      tried += here;
      failed += here && plot_failed(data, row);
      apart += here && plot_apart(data, row);
    }
    if (tried == 0)
      continue;
    const double x = STRIP_X + width * (double)b;
    const double share = (double)tried / (double)(end - first);
    if (failed == tried)
      plot_put_failed(s->c, x + width / 2, y, 2.5, NULL);
    else if (failed + apart == tried)
      plot_put_apart(s->c, x + width / 2, y, 2.5, NULL);
    else
      canvas_rect(s->c, x, y - 7, width > 3.0 ? width - 0.6 : width, 14,
                  canvas_shade(0.25 + 0.6 * share), CANVAS_NONE);
    if (failed > 0 && failed < tried)
      canvas_rect(s->c, x, y + 5, width > 3.0 ? width - 0.6 : width, 3, CHART_MARKED,
                  CANVAS_NONE);
  }
}

/* ---- rows ----------------------------------------------------------------------- */

static void put_tried(const sheet *s, const plot_tally *tally, size_t most, double y) {
  const double width = TRIED * (double)tally->tried / (double)(most > 0 ? most : 1);
  char text[64];
  int size = snprintf(text, sizeof text, "%zu", tally->tried);
  if (tally->failed > 0)
    snprintf(text + size, sizeof text - (size_t)size, ", %zu \u00d7", tally->failed);
  if (tally->tried > 0)
    canvas_rect(s->c, TRIED_X, y - 5, width, 10, CHART_PALE, CANVAS_NONE);
  canvas_text(s->c, TRIED_X + width + 4, y, text, &chart_label);
}

static void put_best_value(const sheet *s, const plot_tally *tally, double y) {
  static const canvas_style dot = {.fill = 0x0b4a8a, .stroke = CANVAS_NONE};
  const scale along = {s->range.low, s->range.high, s->range.log, BEST_X,
                       BEST_X + BEST};
  canvas_line(s->c, BEST_X, y, BEST_X + BEST, y, CHART_GRID, 1);
  if (tally->tried == tally->failed)
    return;
  char text[TICK_LABEL];
  const double value = s->data->value[tally->best];
  const double x = scale_at(&along, plot_clip(&s->range, value));
  if (tally->best == s->data->best)
    plot_put_best(s->c, x, y, NULL);
  else
    canvas_mark(s->c, CANVAS_DOT, x, y, 3.5, &dot, NULL);
  canvas_text(s->c, BEST_X + BEST + 8, y, scale_number(value, 4, text), &chart_label);
}

static void put_row(const sheet *s, size_t param, size_t choice,
                    const plot_tally *tally, size_t most, double y) {
  const plot_data *data = s->data;
  char fitted[CANVAS_FITTED];
  canvas_text(s->c, LABEL_X, y,
              canvas_fit(fitted, data->params[param].labels[choice], chart_label.size,
                         STRIP_X - LABEL_X - 10),
              &chart_label);
  put_strip(s, param, choice, y);
  if (tally->tried > tally->failed && tally->best == data->best)
    plot_put_best(s->c, STRIP_X + STRIP * ((double)data->best + 0.5) / (double)data->n,
                  y, NULL);
  put_tried(s, tally, most, y);
  put_best_value(s, tally, y);
}

/* ---- blocks --------------------------------------------------------------------- */

static void put_heading(const sheet *s, const plot_param *param) {
  char name[CANVAS_FITTED], text[CANVAS_FITTED];
  canvas_fit(name, param->name, 14, 300);
  snprintf(text, sizeof text,
           rows_of(param) < param->choices ? "%.180s: %d best of %zu" : "%.180s", name,
           MOST_ROWS, param->choices);
  canvas_text(s->c, CHART_MARGIN, s->y + 8, text, &chart_heading);
}

static void put_rows(sheet *s, size_t param, plot_tally *tally, size_t *rows) {
  plot_count(s->data, param, tally);
  const size_t n = plot_choose_rows(s->data, param, tally, MOST_ROWS, rows);
  size_t most = 0;
  for (size_t i = 0; i < n; i++)
    most = tally[rows[i]].tried > most ? tally[rows[i]].tried : most;
  for (size_t i = 0; i < n; i++)
    put_row(s, param, rows[i], &tally[rows[i]], most,
            s->y + HEAD + ROW * ((double)i + 0.5));
}

static cocabo_status put_block(sheet *s, size_t param, cocabo_error *err) {
  const plot_param *p = &s->data->params[param];
  plot_tally *tally = cb_calloc(p->choices, sizeof *tally);
  size_t *rows = cb_calloc(p->choices, sizeof *rows);
  const bool ok = tally && rows;
  if (ok) {
    put_heading(s, p);
    put_rows(s, param, tally, rows);
    s->y += HEAD + ROW * (double)rows_of(p) + GAP;
  }
  cb_free(tally);
  cb_free(rows);
  return ok ? COCABO_OK : cb_no_memory(err);
}

/* ---- the picture ---------------------------------------------------------------- */

static double height_of(const sheet *s) {
  double height = PLOT_TOP + HEAD + BOTTOM;
  for (size_t i = 0; i < s->n; i++)
    height += HEAD + ROW * (double)rows_of(&s->data->params[s->params[i]]) + GAP;
  return height;
}

static size_t count_choices(const plot_data *data) {
  size_t n = 0;
  for (size_t j = 0; j < data->d; j++)
    n += data->params[j].choices > 0;
  return n;
}

static void begin(sheet *s, const canvas_format *format) {
  char title[CANVAS_FITTED], text[CANVAS_FITTED];
  plot_make_title(s->data, "choices over time", title);
  plot_describe(s->data, s->n, count_choices(s->data), text);
  canvas_begin(s->c, format, WIDTH, height_of(s), title, text);
  chart_put_title(s->c, title, text);
}

static void put_legend(const sheet *s) {
  double x = CHART_MARGIN;
  if (s->data->n > BINS)
    plot_put_shades(s->c, &x, "tried seldom", "often");
  plot_put_trial_legend(s->c, &x, s->data, NULL);
}

static void put_columns(sheet *s) {
  canvas_text(s->c, STRIP_X, PLOT_TOP, "trials in their order", &chart_quiet);
  canvas_text(s->c, TRIED_X, PLOT_TOP, "tried", &chart_quiet);
  canvas_text(s->c, BEST_X, PLOT_TOP, "best value", &chart_quiet);
}

cocabo_status plot_categories(const plot_data *data, const canvas_format *format,
                              canvas *c, cocabo_error *err) {
  sheet s = {.data = data, .c = c};
  s.n = plot_choose_params(data, true, MOST_BLOCKS, s.params);
  if (s.n == 0)
    return plot_no_choices(data, err);
  CB_TRY(plot_range_find(data, &s.range, err));
  begin(&s, format);
  put_legend(&s);
  put_columns(&s);
  s.y = PLOT_TOP + HEAD;
  for (size_t i = 0; i < s.n; i++)
    CB_TRY(put_block(&s, s.params[i], err));
  return COCABO_OK;
}
