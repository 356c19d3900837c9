/* Values over trial numbers, and the best so far. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base.h"
#include "plot/plot.h"

enum { WIDTH = 760, HEIGHT = 460, BOTTOM = 56, STRIP = 16, TICKS = 7 };

typedef struct sheet {
  const plot_data *data;
  canvas *c;
  plot_range range;
  scale x, y;
  double left, right, top, bottom; /* of the frame */
  double beyond_y, failed_y;       /* the rows at the bad edge */
} sheet;

/* Minimised, the bad edge is the upper one. Rows for trials that are beyond the range
 * or failed lie between the edge and the values, where there are any. */
static void lay_out(sheet *s) {
  const plot_data *data = s->data;
  const size_t failed = data->n - data->complete;
  const double strips =
      (s->range.beyond > 0 ? STRIP : 0.0) + (failed > 0 ? STRIP : 0.0);
  s->top = PLOT_TOP;
  s->bottom = HEIGHT - BOTTOM;
  s->y = (scale){s->range.low, s->range.high, s->range.log, s->bottom, s->top};
  if (data->maximize)
    s->y.from -= strips;
  else
    s->y.to += strips;
  s->left = CHART_MARGIN + 18 + chart_axis_width(&s->y, TICKS);
  s->right = WIDTH - CHART_MARGIN;
  const double last = (double)data->number[data->n - 1];
  s->x = (scale){0.0, last > 0.0 ? last : 1.0, false, s->left + 8, s->right - 8};
  const double edge = data->maximize ? s->bottom : s->top;
  const double inwards = data->maximize ? -1.0 : 1.0;
  s->failed_y = edge + inwards * STRIP / 2;
  s->beyond_y = s->failed_y + (failed > 0 ? inwards * STRIP : 0.0);
}

static double x_of(const sheet *s, size_t row) {
  return scale_at(&s->x, (double)s->data->number[row]);
}

static double y_of(const sheet *s, double value) {
  return scale_at(&s->y, plot_clip(&s->range, value));
}

static void put_trials(const sheet *s) {
  static const canvas_style trial = {.fill = CHART_PALE, .stroke = CANVAS_NONE};
  static const canvas_style beyond = {.fill = CHART_QUIET, .stroke = CANVAS_NONE};
  const plot_data *data = s->data;
  const double radius = plot_radius(data->n);
  char tip[PLOT_TIP];
  for (size_t i = 0; i < data->n; i++) {
    const double x = x_of(s, i), value = data->value[i];
    const char *shown = plot_tip(data, i, tip);
    if (plot_failed(data, i))
      plot_put_failed(s->c, x, s->failed_y, radius, shown);
    else if (plot_is_beyond(&s->range, value))
      canvas_mark(s->c, data->maximize ? CANVAS_DOWN : CANVAS_UP, x, s->beyond_y,
                  radius + 0.5, &beyond, shown);
    else if (plot_apart(data, i))
      plot_put_apart(s->c, x, y_of(s, value), radius, shown);
    else
      canvas_mark(s->c, CANVAS_DOT, x, y_of(s, value), radius, &trial, shown);
  }
}

/* A step at each trial that is better than all before, of those that keep the
 * constraints. */
static cocabo_status put_best_line(const sheet *s, cocabo_error *err) {
  const plot_data *data = s->data;
  canvas_point *points = cb_calloc(2 * data->n + 2, sizeof *points);
  if (!points)
    return cb_no_memory(err);
  size_t n = 0;
  double best = 0.0;
  for (size_t i = 0; i < data->n; i++) {
    const double value = data->value[i];
    if (!data->feasible[i] || (n > 0 && !plot_better(data, value, best)))
      continue;
    if (n > 0)
      points[n++] = (canvas_point){x_of(s, i), y_of(s, best)};
    points[n++] = (canvas_point){x_of(s, i), y_of(s, value)};
    best = value;
  }
  if (n > 0) {
    points[n++] = (canvas_point){s->x.to, y_of(s, best)};
    canvas_lines(s->c, points, n, CHART_INK, 2);
  }
  cb_free(points);
  return COCABO_OK;
}

static void put_axes(const sheet *s) {
  ticks t;
  canvas_font upwards = chart_label_middle;
  upwards.upwards = true;
  chart_put_axis_left(s->c, &s->y, s->left, s->right - s->left, TICKS, true);
  canvas_line(s->c, s->left, s->top, s->left, s->bottom, CHART_INK, 1);
  canvas_line(s->c, s->left, s->bottom, s->right, s->bottom, CHART_INK, 1);
  ticks_find_whole(&s->x, 10, &t);
  chart_put_axis_below(s->c, &s->x, &t, s->bottom);
  canvas_text(s->c, (s->left + s->right) / 2, HEIGHT - 16, "trial",
              &chart_label_middle);
  canvas_text(s->c, CHART_MARGIN, (s->top + s->bottom) / 2,
              s->range.log ? "value (logarithmic)" : "value", &upwards);
}

static void put_legend(const sheet *s) {
  const plot_data *data = s->data;
  double x = CHART_MARGIN;
  plot_put_legend(s->c, &x, PLOT_SIGN_TRIAL, data, "trial");
  plot_put_legend(s->c, &x, PLOT_SIGN_LINE, data,
                  data->noisy ? "luckiest so far" : "best so far");
  plot_put_trial_legend(s->c, &x, data, &s->range);
}

static void begin(sheet *s, const canvas_format *format) {
  char title[CANVAS_FITTED], text[CANVAS_FITTED];
  plot_make_title(s->data, "values of the trials", title);
  plot_describe(s->data, s->data->d, s->data->d, text);
  canvas_begin(s->c, format, WIDTH, HEIGHT, title, text);
  chart_put_title(s->c, title, text);
}

cocabo_status plot_history(const plot_data *data, const canvas_format *format,
                           canvas *c, cocabo_error *err) {
  sheet s = {.data = data, .c = c};
  CB_TRY(plot_range_find(data, &s.range, err));
  lay_out(&s);
  begin(&s, format);
  put_legend(&s);
  put_axes(&s);
  put_trials(&s);
  CB_TRY(put_best_line(&s, err));
  char tip[PLOT_TIP];
  plot_put_expected(c, data, &s.range, x_of(&s, data->best), &s.y);
  plot_put_best(c, x_of(&s, data->best), y_of(&s, data->value[data->best]),
                plot_tip(data, data->best, tip));
  return COCABO_OK;
}
