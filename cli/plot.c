#include "plot.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "front/fail.h"

static const struct {
  const char *name;
  plot_drawer *draw;
} kinds[] = {
    [PLOT_HISTORY] = {"history", plot_history},
    [PLOT_SLICE] = {"slice", plot_slice},
    [PLOT_PARALLEL] = {"parallel", plot_parallel},
    [PLOT_CATEGORIES] = {"categories", plot_categories},
    [PLOT_IMPORTANCE] = {"importance", plot_importance},
};

const char *plot_kind_name(int i) {
  return i < (int)(sizeof kinds / sizeof kinds[0]) ? kinds[i].name : NULL;
}

cocabo_status plot_draw(plot_kind kind, const plot_data *data,
                        const canvas_format *format, canvas *c, cocabo_error *err) {
  *c = (canvas){0};
  FRONT_TRY(kinds[kind].draw(data, format, c, err));
  return canvas_end(c, err);
}

cocabo_status plot_no_choices(const plot_data *data, cocabo_error *err) {
  char name[CANVAS_FITTED];
  return front_fail(
      err, COCABO_E_STATE,
      "study %s has no choices to show, want --kind slice for its numbers",
      canvas_fit(name, data->study, 1.0, 40.0));
}

/* ---- headings and legends ------------------------------------------------------- */

enum { TITLE_Y = 26, SUBTITLE_Y = 47, LEGEND_Y = 69, LEGEND_GAP = 22 };

const canvas_font plot_label = {.size = 12, .colour = PLOT_INK};
const canvas_font plot_label_end = {
    .size = 12, .colour = PLOT_INK, .anchor = CANVAS_END};
const canvas_font plot_label_middle = {
    .size = 12, .colour = PLOT_INK, .anchor = CANVAS_MIDDLE};
const canvas_font plot_quiet = {.size = 12, .colour = PLOT_QUIET};
const canvas_font plot_heading = {.size = 13, .colour = PLOT_INK, .bold = true};

void plot_make_title(const plot_data *data, const char *what, char out[CANVAS_FITTED]) {
  char study[CANVAS_FITTED];
  canvas_fit(study, data->study, 1.0, 40.0);
  snprintf(out, CANVAS_FITTED, "%.200s: %s", study, what);
}

void plot_describe(const plot_data *data, size_t shown, size_t of,
                   char out[CANVAS_FITTED]) {
  char value[TICK_LABEL];
  const int size = snprintf(
      out, CANVAS_FITTED, "%s; best of %zu complete trial%s: %s, trial %" PRId64,
      data->maximize ? "maximised" : "minimised", data->complete,
      data->complete == 1 ? "" : "s", scale_number(data->value[data->best], 6, value),
      data->number[data->best]);
  if (shown < of)
    snprintf(out + size, CANVAS_FITTED - (size_t)size,
             "; the %zu most important of %zu parameters", shown, of);
}

void plot_put_title(canvas *c, const char *title, const char *subtitle) {
  static const canvas_font large = {.size = 16, .colour = PLOT_INK, .bold = true};
  const double room = c->width - 2.0 * PLOT_MARGIN;
  char fitted[CANVAS_FITTED];
  canvas_rect(c, 0, 0, c->width, c->height, 0xffffff, CANVAS_NONE);
  /* Bold letters are wider. */
  canvas_text(c, PLOT_MARGIN, TITLE_Y, canvas_fit(fitted, title, 17.5, room), &large);
  canvas_text(c, PLOT_MARGIN, SUBTITLE_Y, canvas_fit(fitted, subtitle, 12, room),
              &plot_quiet);
}

static const canvas_style best_style = {
    .fill = PLOT_MARKED, .stroke = 0xffffff, .width = 1.2};
static const canvas_style failed_style = {
    .fill = CANVAS_NONE, .stroke = PLOT_MARKED, .width = 1.6};
static const canvas_style trial_style = {.fill = PLOT_PALE, .stroke = CANVAS_NONE};
static const canvas_style beyond_style = {.fill = PLOT_QUIET, .stroke = CANVAS_NONE};

void plot_put_best(canvas *c, double x, double y, const char *tip) {
  canvas_mark(c, CANVAS_DIAMOND, x, y, 5.5, &best_style, tip);
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
    canvas_line(c, x, y, x + 16, y, PLOT_INK, 2);
    break;
  case PLOT_SIGN_BEYOND:
    canvas_mark(c, data->maximize ? CANVAS_DOWN : CANVAS_UP, x + 8, y, 3.5,
                &beyond_style, NULL);
    break;
  case PLOT_SIGN_FAILED:
    canvas_mark(c, CANVAS_CROSS, x + 8, y, 3, &failed_style, NULL);
    break;
  }
}

void plot_put_note(canvas *c, double *x, const char *text) {
  canvas_text(c, *x, LEGEND_Y, text, &plot_quiet);
  *x += canvas_text_width(text, plot_quiet.size) + LEGEND_GAP;
}

void plot_put_legend(canvas *c, double *x, plot_sign sign, const plot_data *data,
                     const char *text) {
  put_sign(c, *x, LEGEND_Y, sign, data);
  *x += 21;
  plot_put_note(c, x, text);
}

void plot_put_shades(canvas *c, double *x, const char *light, const char *dark) {
  enum { STEPS = 32, WIDTH = 4, HEIGHT = 10 };
  canvas_text(c, *x, LEGEND_Y, light, &plot_quiet);
  *x += canvas_text_width(light, plot_quiet.size) + 6;
  for (int i = 0; i < STEPS; i++)
    canvas_rect(c, *x + WIDTH * i, LEGEND_Y - 0.5 * HEIGHT, WIDTH + 0.5, HEIGHT,
                canvas_shade((double)i / (STEPS - 1)), CANVAS_NONE);
  *x += WIDTH * STEPS + 6;
  plot_put_note(c, x, dark);
}

/* ---- axes ----------------------------------------------------------------------- */

double plot_axis_width(const scale *s, int wanted) {
  ticks t;
  char label[TICK_LABEL];
  double widest = 0.0;
  ticks_find(s, wanted, &t);
  for (int i = 0; i < t.n; i++) {
    const double width = canvas_text_width(ticks_label(&t, i, label), plot_label.size);
    widest = width > widest ? width : widest;
  }
  return widest + 10;
}

void plot_put_axis_left(canvas *c, const scale *s, double x, double width, int wanted,
                        bool labels) {
  ticks t;
  char label[TICK_LABEL];
  ticks_find(s, wanted, &t);
  for (int i = 0; i < t.n; i++) {
    const double y = scale_at(s, t.at[i]);
    canvas_line(c, x, y, x + width, y, PLOT_GRID, 1);
    if (labels)
      canvas_text(c, x - 7, y, ticks_label(&t, i, label), &plot_label_end);
  }
}

void plot_put_axis_below(canvas *c, const scale *s, const ticks *t, double y) {
  char label[TICK_LABEL];
  canvas_line(c, s->from, y, s->to, y, PLOT_INK, 1);
  for (int i = 0; i < t->n; i++) {
    const double x = scale_at(s, t->at[i]);
    canvas_line(c, x, y, x, y + 5, PLOT_INK, 1);
    canvas_text(c, x, y + 14, ticks_label(t, i, label), &plot_label_middle);
  }
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
