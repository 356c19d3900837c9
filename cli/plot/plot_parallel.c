/* Parallel coordinates: one upright axis a parameter, one line a trial. The better a
 * trial, the darker its line, and the later it is drawn. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/base.h"
#include "plot/plot.h"

enum {
  MOST_AXES = 15, /* parameters */
  MOST_LINES = 500,
  BEST_LINES = 50,   /* of the best trials, however many there are */
  FAILED_LINES = 60, /* of failed ones */
  FAILED = 0xf2cdb0, /* their ink: pale, since they are many and below all others */
  APART = 0xdddddd,  /* that of infeasible ones */
  SPACE = 116,       /* between axes */
  FRAME = 300,
  LEFT = 74,
  RIGHT = 96,
  LANE = 26, /* below an axis: trials where it is inactive */
  BOTTOM = 44
};

typedef struct sheet {
  const plot_data *data;
  canvas *c;
  plot_range range;
  size_t params[COCABO_MAX_PARAMETERS], n; /* shown */
  size_t *ranking;                         /* complete rows, best first */
  double space;                            /* between axes */
  double lane;                             /* pixels below the axes; 0: none */
} sheet;

static double axis_x(const sheet *s, size_t axis) {
  return LEFT + (double)axis * s->space;
}

/* For the labels of an axis, to its right. */
static double label_room(const sheet *s, double x) {
  const bool last = x > axis_x(s, s->n) - 1.0;
  return (last ? RIGHT : s->space) - 12;
}

static double frame_y(double share) { /* 0: the lower end */
  return PLOT_TOP + 14 + (1.0 - share) * FRAME;
}

/* ---- lines ---------------------------------------------------------------------- */

/* Trials of one choice lie side by side in the middle of its part of the axis, those
 * where the parameter is inactive in the lane below. */
static double y_of(const sheet *s, size_t param, size_t row) {
  const plot_param *p = &s->data->params[param];
  const double jitter = plot_jitter(s->data->number[row]);
  if (plot_inactive(s->data, row, param))
    return frame_y(0) + s->lane + 8.0 * jitter;
  const double place = plot_place(p, plot_cell(s->data, row, param));
  return frame_y(p->choices < 2 ? place : place + 0.5 * jitter / (double)p->choices);
}

/* Of the values. Where trials failed, theirs is a place of its own at the bad end. */
static scale value_axis(const sheet *s) {
  const double strip = s->data->n > s->data->complete ? 0.06 : 0.0;
  return (scale){s->range.low, s->range.high, s->range.log,
                 frame_y(s->data->maximize ? strip : 0.0),
                 frame_y(s->data->maximize ? 1.0 : 1.0 - strip)};
}

/* Each parameter's place of a trial; the value's comes first and is the caller's. */
static void lay_line(const sheet *s, size_t row, double value_y, canvas_point *points) {
  points[0] = (canvas_point){axis_x(s, 0), value_y};
  for (size_t i = 0; i < s->n; i++)
    points[i + 1] = (canvas_point){axis_x(s, i + 1), y_of(s, s->params[i], row)};
}

/* Evenly taken if there are many. */
static void put_failed_lines(const sheet *s) {
  const size_t failed = s->data->n - s->data->complete;
  const size_t every = failed / FAILED_LINES + 1;
  const double y = frame_y(s->data->maximize ? 0.0 : 1.0);
  canvas_point points[MOST_AXES + 1];
  for (size_t row = 0, k = 0; row < s->data->n; row++)
    if (plot_failed(s->data, row) && k++ % every == 0) {
      lay_line(s, row, y, points);
      canvas_lines(s->c, points, s->n + 1, FAILED, 0.8);
    }
  if (failed > 0)
    plot_put_failed(s->c, axis_x(s, 0), y, 3.5, NULL);
}

/* dark: 1 for the best. Few lines are really dark, or they would hide each other. One
 * that breaks a constraint is pale and has its sign at the value. */
static void put_line(const sheet *s, size_t row, double dark) {
  canvas_point points[MOST_AXES + 1];
  const scale value = value_axis(s);
  lay_line(s, row, scale_at(&value, plot_clip(&s->range, s->data->value[row])), points);
  const double width = dark < 0.9 ? 0.8 : dark < 1.0 ? 1.2 : 2.5;
  const bool apart = plot_apart(s->data, row);
  canvas_lines(s->c, points, s->n + 1, apart ? APART : canvas_shade(pow(dark, 4.0)),
               apart ? 0.8 : width);
  if (apart)
    plot_put_apart(s->c, points[0].x, points[0].y, 3, NULL);
}

/* All trials, or the best ones and of the others every so many-th. Returns how many;
 * out: MOST_LINES. */
static size_t choose_lines(const sheet *s, size_t *out) {
  const size_t n = s->data->complete;
  for (size_t i = 0; i < n && i < MOST_LINES; i++)
    out[i] = s->ranking[i];
  if (n <= MOST_LINES)
    return n;
  const size_t others = MOST_LINES - BEST_LINES;
  for (size_t i = 0; i < others; i++)
    out[BEST_LINES + i] = s->ranking[BEST_LINES + i * (n - BEST_LINES) / others];
  return MOST_LINES;
}

static void put_lines(const sheet *s) {
  size_t rows[MOST_LINES];
  const size_t n = choose_lines(s, rows);
  for (size_t i = n; i-- > 0;)
    put_line(s, rows[i], n > 1 ? 1.0 - (double)i / (double)(n - 1) : 1.0);
}

/* ---- axes ----------------------------------------------------------------------- */

/* On white, because lines run below. */
static void put_axis_label(canvas *c, double x, double y, const char *text,
                           double room) {
  char fitted[CANVAS_FITTED];
  canvas_fit(fitted, text, 11.7, room); /* on the safe side */
  const canvas_font font = {.size = 11, .colour = CHART_INK};
  canvas_rect(c, x + 4, y - 7, canvas_text_width(fitted, 10.5) + 3, 14, 0xffffff,
              CANVAS_NONE);
  canvas_text(c, x + 6, y, fitted, &font);
}

/* A label that would touch one of the ends' is left out. */
static void put_ticks(const sheet *s, double x, const scale *along, const ticks *t) {
  static const double apart = 15.0;
  char label[TICK_LABEL];
  const double first = scale_at(along, t->at[0]),
               last = scale_at(along, t->at[t->n - 1]);
  for (int i = 0; i < t->n; i++) {
    const double y = scale_at(along, t->at[i]);
    const bool end = i == 0 || i == t->n - 1;
    canvas_line(s->c, x - 3, y, x + 3, y, CHART_INK, 1);
    if (end || !t->ends || (fabs(y - first) >= apart && fabs(y - last) >= apart))
      put_axis_label(s->c, x, y, ticks_label(t, i, label), label_room(s, x));
  }
}

static void put_choice_axis(const sheet *s, double x, const plot_param *param) {
  const size_t every = (param->choices + FRAME / 14 - 1) / (FRAME / 14);
  for (size_t k = 0; k < param->choices; k++) {
    const double share = plot_place(param, (double)k);
    const double half = 0.25 / (double)param->choices;
    canvas_line(s->c, x, frame_y(share - half), x, frame_y(share + half), CHART_INK, 3);
    if (k % every == 0)
      put_axis_label(s->c, x, frame_y(share), param->labels[k], label_room(s, x));
  }
}

static void put_lane(const sheet *s, double x) {
  const double y = frame_y(0) + s->lane;
  canvas_line(s->c, x, y - 5, x, y + 5, CHART_INK, 3);
  put_axis_label(s->c, x, y, "inactive", label_room(s, x));
}

static void put_param_axis(const sheet *s, size_t i) {
  const plot_param *param = &s->data->params[s->params[i]];
  const double x = axis_x(s, i + 1), half = 0.5 * param->step;
  const scale along = {param->low - half, param->high + half, param->log, frame_y(0),
                       frame_y(1)};
  ticks t;
  if (param->choices > 0) {
    put_choice_axis(s, x, param);
  } else if (along.low < along.high) {
    ticks_find_between(&along, param->low, param->high, param->kind == COCABO_KIND_INT,
                       6, &t);
    put_ticks(s, x, &along, &t);
  }
  if (plot_count_inactive(s->data, s->params[i]) > 0)
    put_lane(s, x);
}

static void put_axes(const sheet *s) {
  const scale value = value_axis(s);
  ticks t;
  canvas_font heading = chart_heading;
  heading.anchor = CANVAS_MIDDLE;
  heading.size = 12;
  char fitted[CANVAS_FITTED];
  for (size_t axis = 0; axis <= s->n; axis++) {
    const double x = axis_x(s, axis);
    const char *name = axis > 0 ? s->data->params[s->params[axis - 1]].name : "value";
    canvas_line(s->c, x, frame_y(0), x, frame_y(1), CHART_INK, 1);
    canvas_text(s->c, x, frame_y(0) + s->lane + 18,
                canvas_fit(fitted, name, 14, s->space - 8), &heading);
    if (axis > 0)
      put_param_axis(s, axis - 1);
  }
  ticks_find(&value, 6, &t);
  put_ticks(s, axis_x(s, 0), &value, &t);
}

/* ---- the picture ---------------------------------------------------------------- */

static void begin(sheet *s, const canvas_format *format) {
  char title[CANVAS_FITTED], text[CANVAS_FITTED];
  plot_make_title(s->data, "trials across parameters", title);
  plot_describe(s->data, s->n, s->data->d, text);
  s->space = s->n < 5 ? (760.0 - LEFT - RIGHT) / (double)s->n : SPACE;
  for (size_t i = 0; i < s->n; i++)
    if (plot_count_inactive(s->data, s->params[i]) > 0)
      s->lane = LANE;
  canvas_begin(s->c, format, LEFT + RIGHT + s->space * (double)s->n,
               frame_y(0) + s->lane + BOTTOM, title, text);
  chart_put_title(s->c, title, text);
}

static void put_legend(const sheet *s) {
  double x = CHART_MARGIN;
  char text[80];
  plot_put_shades(s->c, &x, "worst trial",
                  s->data->noisy && !s->data->modelled ? "luckiest" : "best");
  plot_put_lost_legend(s->c, &x, s->data);
  snprintf(text, sizeof text, "(%d of %zu lines)", MOST_LINES, s->data->complete);
  if (s->data->complete > MOST_LINES)
    plot_put_note(s->c, &x, text);
}

cocabo_status plot_parallel(const plot_data *data, const canvas_format *format,
                            canvas *c, cocabo_error *err) {
  sheet s = {.data = data, .c = c};
  CB_TRY(plot_range_find(data, &s.range, err));
  s.n = plot_choose_params(data, false, MOST_AXES, s.params);
  s.ranking = cb_calloc(data->complete, sizeof *s.ranking);
  if (!s.ranking)
    return cb_no_memory(err);
  const cocabo_status status = plot_rank(data, s.ranking, err);
  if (status == COCABO_OK) {
    begin(&s, format);
    put_legend(&s);
    put_failed_lines(&s);
    put_lines(&s);
    put_axes(&s);
  }
  cb_free(s.ranking);
  return status;
}
