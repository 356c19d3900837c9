/* Values over trial numbers, and the best so far. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base.h"
#include "plot/plot.h"

enum { WIDTH = 760, HEIGHT = 460, STRIP = 16 };

typedef struct sheet {
  const plot_data *data;
  canvas *c;
  plot_range range;
  plot_frame frame;
  double beyond_y, failed_y; /* the rows at the bad edge */
} sheet;

/* Minimised, the bad edge is the upper one. Rows for trials that are beyond the range
 * or failed lie between the edge and the values, where there are any. */
static void lay_out(sheet *s) {
  const plot_data *data = s->data;
  const size_t failed = data->n - data->complete;
  const double strips =
      (s->range.beyond > 0 ? STRIP : 0.0) + (failed > 0 ? STRIP : 0.0);
  const double last = (double)data->number[data->n - 1];
  plot_frame *frame = &s->frame;
  frame->x = (scale){.high = last > 0.0 ? last : 1.0};
  frame->y = (scale){.low = s->range.low, .high = s->range.high, .log = s->range.log};
  plot_frame_lay_out(frame, WIDTH, HEIGHT);
  if (data->maximize)
    frame->y.from -= strips;
  else
    frame->y.to += strips;
  const double edge = data->maximize ? frame->bottom : frame->top;
  const double inwards = data->maximize ? -1.0 : 1.0;
  s->failed_y = edge + inwards * STRIP / 2;
  s->beyond_y = s->failed_y + (failed > 0 ? inwards * STRIP : 0.0);
}

static double x_of(const sheet *s, size_t row) {
  return scale_at(&s->frame.x, (double)s->data->number[row]);
}

static double y_of(const sheet *s, double value) {
  return scale_at(&s->frame.y, plot_clip(&s->range, value));
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
    points[n++] = (canvas_point){s->frame.x.to, y_of(s, best)};
    canvas_lines(s->c, points, n, CHART_INK, 2);
  }
  cb_free(points);
  return COCABO_OK;
}

static void put_legend(const sheet *s) {
  const plot_data *data = s->data;
  double x = CHART_MARGIN;
  plot_put_legend(s->c, &x, PLOT_SIGN_TRIAL, data, "trial");
  plot_put_legend(s->c, &x, PLOT_SIGN_LINE, data,
                  data->noisy || data->by_runs ? "luckiest so far" : "best so far");
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
  plot_put_frame(c, &s.frame, "trial");
  put_trials(&s);
  CB_TRY(put_best_line(&s, err));
  if (!plot_has_best(data))
    return COCABO_OK;
  char tip[PLOT_TIP];
  plot_put_expected(c, data, &s.range, x_of(&s, data->best), &s.frame.y);
  plot_put_best(c, x_of(&s, data->best), y_of(&s, data->value[data->best]),
                plot_tip(data, data->best, tip));
  return COCABO_OK;
}
