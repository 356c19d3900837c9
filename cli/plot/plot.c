/* plot.c - the table of kinds, and what their pictures share: titles, legends, marks
 * and tips. */
#include "plot/plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"
#include "io/best.h"

static const struct {
  const char *name;
  plot_drawer *draw;
} kinds[] = {
    [PLOT_HISTORY] = {"history", plot_history},
    [PLOT_SLICE] = {"slice", plot_slice},
    [PLOT_PARALLEL] = {"parallel", plot_parallel},
    [PLOT_CATEGORIES] = {"categories", plot_categories},
    [PLOT_IMPORTANCE] = {"importance", plot_importance},
    [PLOT_STEPS] = {"steps", plot_steps},
};

const char *plot_kind_name(int i) {
  return i < (int)(sizeof kinds / sizeof kinds[0]) ? kinds[i].name : NULL;
}

/* A line shows a trial that is running as well. */
bool plot_has_any(plot_kind kind, const plot_data *data) {
  return data->complete > 0 || (kind == PLOT_STEPS && data->reported > 0);
}

cocabo_status plot_draw(plot_kind kind, const plot_data *data,
                        const canvas_format *format, canvas *c, cocabo_error *err) {
  *c = (canvas){0};
  CB_TRY(kinds[kind].draw(data, format, c, err));
  return canvas_end(c, err);
}

cocabo_status plot_no_choices(const plot_data *data, cocabo_error *err) {
  char name[CANVAS_FITTED];
  return cb_fail(err, COCABO_E_STATE,
                 "study %s has no choices to show, want --kind slice for its numbers",
                 canvas_fit(name, data->study, 1.0, 40.0));
}

/* ---- titles and legends --------------------------------------------------------- */

enum { LEGEND_Y = 69, LEGEND_GAP = 22 };

void plot_make_title(const plot_data *data, const char *what, char out[CANVAS_FITTED]) {
  static const double room = 40.0; /* of the narrowest picture, in sizes of the font */
  char study[CANVAS_FITTED];
  canvas_fit(study, data->study, 1.0, room - 1.0 - canvas_text_width(what, 1.0));
  snprintf(out, CANVAS_FITTED, "%.200s: %s", study, what);
}

/* Both signs have two bytes. */
void plot_sign_errors(char *text, bool unicode) {
  const char *from = unicode ? "+-" : "\u00b1", *to = unicode ? "\u00b1" : "+-";
  for (char *at = text; (at = strstr(at, from)); at += 2) {
    at[0] = to[0];
    at[1] = to[1];
  }
}

/* "expected 0.912 +- 0.004, measured 0.93" or the value alone. */
static void put_value(const plot_data *data, char out[CANVAS_FITTED]) {
  char value[TICK_LABEL], measure[CLI_MEASURE];
  scale_number(data->value[data->best], 6, value);
  if (data->modelled)
    snprintf(out, CANVAS_FITTED, "expected %s, measured %s",
             cli_show_measure(measure, data->expected, data->se), value);
  else
    snprintf(out, CANVAS_FITTED, "%s", value);
}

void plot_describe(const plot_data *data, size_t shown, size_t of,
                   char out[CANVAS_FITTED]) {
  char value[CANVAS_FITTED], parameters[80] = "";
  const size_t feasible = data->complete - data->n_apart;
  if (!plot_has_best(data)) {
    snprintf(out, CANVAS_FITTED, "%s; %s", data->maximize ? "maximised" : "minimised",
             data->complete == 0 ? "no trial is complete yet"
                                 : "no trial has every metric that is bounded");
    return;
  }
  put_value(data, value);
  if (shown < of)
    snprintf(parameters, sizeof parameters,
             "; the %zu most important of %zu parameters", shown, of);
  snprintf(out, CANVAS_FITTED, "%s; %s of %zu %s trial%s: %.120s, trial %" PRId64 "%s",
           data->maximize ? "maximised" : "minimised",
           feasible == 0                    ? "none feasible, least violation"
           : data->noisy && !data->modelled ? "luckiest"
                                            : "best",
           feasible > 0 ? feasible : data->complete,
           data->n_apart > 0 && feasible > 0 ? "feasible" : "complete",
           (feasible > 0 ? feasible : data->complete) == 1 ? "" : "s", value,
           data->number[data->best], parameters);
  plot_sign_errors(out, true);
}

static const canvas_style best_style = {
    .fill = CHART_MARKED, .stroke = 0xffffff, .width = 1.2};
static const canvas_style failed_style = {
    .fill = CANVAS_NONE, .stroke = CHART_MARKED, .width = 1.6};
static const canvas_style apart_style = {
    .fill = CANVAS_NONE, .stroke = CHART_QUIET, .width = 1};
static const canvas_style trial_style = {.fill = CHART_PALE, .stroke = CANVAS_NONE};
static const canvas_style beyond_style = {.fill = CHART_QUIET, .stroke = CANVAS_NONE};

void plot_put_best(canvas *c, double x, double y, const char *tip) {
  canvas_mark(c, CANVAS_DIAMOND, x, y, 5.5, &best_style, tip);
}

void plot_put_failed(canvas *c, double x, double y, double radius, const char *tip) {
  canvas_mark(c, CANVAS_CROSS, x, y, radius, &failed_style, tip);
}

void plot_put_apart(canvas *c, double x, double y, double radius, const char *tip) {
  canvas_mark(c, CANVAS_DOT, x, y, radius, &apart_style, tip);
}

/* An error bar, drawn as far as the range goes. */
void plot_put_expected(canvas *c, const plot_data *data, const plot_range *range,
                       double x, const scale *y) {
  static const double cap = 4.0;
  if (!data->modelled)
    return;
  const double low = scale_at(y, plot_clip(range, data->expected - data->se));
  const double high = scale_at(y, plot_clip(range, data->expected + data->se));
  const double middle = scale_at(y, plot_clip(range, data->expected));
  canvas_line(c, x, low, x, high, CHART_INK, 1.5);
  canvas_line(c, x - cap, low, x + cap, low, CHART_INK, 1.5);
  canvas_line(c, x - cap, high, x + cap, high, CHART_INK, 1.5);
  canvas_line(c, x - 1.5 * cap, middle, x + 1.5 * cap, middle, CHART_MARKED, 2.5);
}

void plot_put_stroke(canvas *c, double x, int ink, double width) {
  canvas_line(c, x, LEGEND_Y, x + 16, LEGEND_Y, ink, width);
}

/* Signs are 16 pixels wide. */
static void put_sign(canvas *c, double x, double y, plot_sign sign,
                     const plot_data *data) {
  switch (sign) {
  case PLOT_SIGN_TRIAL:
    canvas_mark(c, CANVAS_DOT, x + 8, y, 3, &trial_style, NULL);
    break;
  case PLOT_SIGN_BEST:
    plot_put_best(c, x + 8, y, NULL);
    break;
  case PLOT_SIGN_LINE:
    plot_put_stroke(c, x, CHART_INK, 2);
    break;
  case PLOT_SIGN_BEYOND:
    canvas_mark(c, data->maximize ? CANVAS_DOWN : CANVAS_UP, x + 8, y, 3.5,
                &beyond_style, NULL);
    break;
  case PLOT_SIGN_FAILED:
    plot_put_failed(c, x + 8, y, 3, NULL);
    break;
  case PLOT_SIGN_APART:
    plot_put_apart(c, x + 8, y, 3, NULL);
    break;
  case PLOT_SIGN_EXPECTED:
    canvas_line(c, x + 8, y - 6, x + 8, y + 6, CHART_INK, 1.5);
    canvas_line(c, x + 4, y - 6, x + 12, y - 6, CHART_INK, 1.5);
    canvas_line(c, x + 4, y + 6, x + 12, y + 6, CHART_INK, 1.5);
    canvas_line(c, x + 2, y, x + 14, y, CHART_MARKED, 2.5);
    break;
  }
}

void plot_put_note(canvas *c, double *x, const char *text) {
  canvas_text(c, *x, LEGEND_Y, text, &chart_quiet);
  *x += canvas_text_width(text, chart_quiet.size) + LEGEND_GAP;
}

void plot_put_legend(canvas *c, double *x, plot_sign sign, const plot_data *data,
                     const char *text) {
  put_sign(c, *x, LEGEND_Y, sign, data);
  *x += 21;
  plot_put_note(c, x, text);
}

void plot_put_trial_legend(canvas *c, double *x, const plot_data *data,
                           const plot_range *range) {
  char text[80];
  plot_put_legend(c, x, PLOT_SIGN_BEST, data,
                  data->noisy && !data->modelled ? "luckiest" : "best");
  if (data->modelled && range)
    plot_put_legend(c, x, PLOT_SIGN_EXPECTED, data, "expected of it");
  if (range && range->beyond > 0) {
    snprintf(text, sizeof text, "worse than shown (%zu)", range->beyond);
    plot_put_legend(c, x, PLOT_SIGN_BEYOND, data, text);
  }
  plot_put_lost_legend(c, x, data);
}

void plot_put_lost_legend(canvas *c, double *x, const plot_data *data) {
  char text[80];
  snprintf(text, sizeof text, "infeasible (%zu)", data->n_apart);
  if (data->n_apart > 0)
    plot_put_legend(c, x, PLOT_SIGN_APART, data, text);
  snprintf(text, sizeof text, "failed (%zu)", data->n - data->complete);
  if (data->n > data->complete)
    plot_put_legend(c, x, PLOT_SIGN_FAILED, data, text);
}

void plot_put_shades(canvas *c, double *x, const char *light, const char *dark) {
  enum { STEPS = 32, WIDTH = 4, HEIGHT = 10 };
  canvas_text(c, *x, LEGEND_Y, light, &chart_quiet);
  *x += canvas_text_width(light, chart_quiet.size) + 6;
  for (int i = 0; i < STEPS; i++)
    canvas_rect(c, *x + WIDTH * i, LEGEND_Y - 0.5 * HEIGHT, WIDTH + 0.5, HEIGHT,
                canvas_shade((double)i / (STEPS - 1)), CANVAS_NONE);
  *x += WIDTH * STEPS + 6;
  plot_put_note(c, x, dark);
}

/* ---- the frame ------------------------------------------------------------------ */

enum { BOTTOM = 56, TICKS = 7 };

void plot_frame_lay_out(plot_frame *frame, double width, double height) {
  frame->top = PLOT_TOP;
  frame->bottom = height - BOTTOM;
  frame->y.from = frame->bottom;
  frame->y.to = frame->top;
  frame->left = CHART_MARGIN + 18 + chart_axis_width(&frame->y, TICKS);
  frame->right = width - CHART_MARGIN;
  frame->x.from = frame->left + 8;
  frame->x.to = frame->right - 8;
}

void plot_put_frame(canvas *c, const plot_frame *frame, const char *label) {
  ticks t;
  canvas_font upwards = chart_label_middle;
  upwards.upwards = true;
  const double left = frame->left, right = frame->right, bottom = frame->bottom;
  chart_put_axis_left(c, &frame->y, left, right - left, TICKS, true);
  canvas_line(c, left, frame->top, left, bottom, CHART_INK, 1);
  canvas_line(c, left, bottom, right, bottom, CHART_INK, 1);
  ticks_find_whole(&frame->x, 10, &t);
  chart_put_axis_below(c, &frame->x, &t, bottom);
  canvas_text(c, (left + right) / 2, bottom + BOTTOM - 16, label, &chart_label_middle);
  canvas_text(c, CHART_MARGIN, (frame->top + bottom) / 2,
              frame->y.log ? "value (logarithmic)" : "value", &upwards);
}

/* ---- trials --------------------------------------------------------------------- */

bool plot_is_beyond(const plot_range *range, double value) {
  return value < range->low || value > range->high;
}

double plot_clip(const plot_range *range, double value) {
  return value < range->low ? range->low : value > range->high ? range->high : value;
}

double plot_radius(size_t n) {
  return n <= 300 ? 3.0 : n <= 1000 ? 2.2 : n <= 4000 ? 1.5 : 1.0;
}

const char *plot_tip(const plot_data *data, size_t row, char out[PLOT_TIP]) {
  char value[TICK_LABEL];
  if (plot_failed(data, row))
    snprintf(out, PLOT_TIP, "trial %" PRId64 ": failed", data->number[row]);
  else
    snprintf(out, PLOT_TIP, "trial %" PRId64 ": %s", data->number[row],
             scale_number(data->value[row], 6, value));
  return data->n <= PLOT_MOST_TIPS ? out : NULL;
}
