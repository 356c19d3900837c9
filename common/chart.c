/* chart.c - headings, axes and their labels, drawn on a canvas. */
#include "common/chart.h"

/* ---- the heading ---------------------------------------------------------------- */

const canvas_font chart_label = {.size = 12, .colour = CHART_INK};
const canvas_font chart_label_end = {
    .size = 12, .colour = CHART_INK, .anchor = CANVAS_END};
const canvas_font chart_label_middle = {
    .size = 12, .colour = CHART_INK, .anchor = CANVAS_MIDDLE};
const canvas_font chart_quiet = {.size = 12, .colour = CHART_QUIET};
const canvas_font chart_heading = {.size = 13, .colour = CHART_INK, .bold = true};

enum { TITLE_Y = 26, SUBTITLE_Y = 47 };

void chart_put_title(canvas *c, const char *title, const char *subtitle) {
  static const canvas_font large = {.size = 16, .colour = CHART_INK, .bold = true};
  const double room = c->width - 2.0 * CHART_MARGIN;
  char fitted[CANVAS_FITTED];
  canvas_rect(c, 0, 0, c->width, c->height, 0xffffff, CANVAS_NONE);
  /* Bold letters are wider. */
  canvas_text(c, CHART_MARGIN, TITLE_Y, canvas_fit(fitted, title, 17.5, room), &large);
  canvas_text(c, CHART_MARGIN, SUBTITLE_Y, canvas_fit(fitted, subtitle, 12, room),
              &chart_quiet);
}

/* ---- axes ----------------------------------------------------------------------- */

double chart_axis_width(const scale *s, int wanted) {
  ticks t;
  char label[TICK_LABEL];
  double widest = 0.0;
  ticks_find(s, wanted, &t);
  for (int i = 0; i < t.n; i++) {
    const double width = canvas_text_width(ticks_label(&t, i, label), chart_label.size);
    widest = width > widest ? width : widest;
  }
  return widest + 10;
}

void chart_put_axis_left(canvas *c, const scale *s, double x, double width, int wanted,
                         bool labels) {
  ticks t;
  char label[TICK_LABEL];
  ticks_find(s, wanted, &t);
  for (int i = 0; i < t.n; i++) {
    const double y = scale_at(s, t.at[i]);
    canvas_line(c, x, y, x + width, y, CHART_GRID, 1);
    if (labels)
      canvas_text(c, x - 7, y, ticks_label(&t, i, label), &chart_label_end);
  }
}

void chart_put_axis_below(canvas *c, const scale *s, const ticks *t, double y) {
  char label[TICK_LABEL];
  canvas_line(c, s->from, y, s->to, y, CHART_INK, 1);
  for (int i = 0; i < t->n; i++) {
    const double x = scale_at(s, t->at[i]);
    canvas_line(c, x, y, x, y + 5, CHART_INK, 1);
    canvas_text(c, x, y + 14, ticks_label(t, i, label), &chart_label_middle);
  }
}
