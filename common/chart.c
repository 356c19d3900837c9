/* chart.c - headings, axes and their labels, drawn on a canvas. */
#include "common/chart.h"

#include <stdbool.h>
#include <string.h>

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

/* A label below an axis: its text, and where it starts and ends. */
typedef struct below {
  char text[CANVAS_FITTED];
  double from, to;
} below;

enum { APART = 4, SPILL = 6 }; /* pixels between labels, and beyond the axis */

static bool is_end(const ticks *t, int i) {
  return t->ends && (i == 0 || i == t->n - 1);
}

/* Those at the ends stay above the axis, and leave each other room. */
static below label_below(const scale *s, const ticks *t, int i) {
  char label[TICK_LABEL];
  below b;
  const double room = (s->to - s->from) / 2 + SPILL - APART;
  canvas_fit(b.text, ticks_label(t, i, label), chart_label.size,
             is_end(t, i) ? room : s->to - s->from + 2 * SPILL);
  for (int digits = 5; is_end(t, i) && digits > 1 && strcmp(b.text, label) != 0;
       digits--)
    canvas_fit(b.text, scale_number(t->at[i], digits, label), chart_label.size, room);
  const double width = canvas_text_width(b.text, chart_label.size);
  b.from = scale_at(s, t->at[i]) - width / 2;
  if (is_end(t, i) && b.from + width > s->to + SPILL)
    b.from = s->to + SPILL - width;
  if (is_end(t, i) && b.from < s->from - SPILL)
    b.from = s->from - SPILL;
  b.to = b.from + width;
  return b;
}

void chart_put_axis_below(canvas *c, const scale *s, const ticks *t, double y) {
  canvas_line(c, s->from, y, s->to, y, CHART_INK, 1);
  if (t->n == 0)
    return;
  const below last = label_below(s, t, t->n - 1);
  double taken = -1e9; /* up to here */
  for (int i = 0; i < t->n; i++) {
    const double x = scale_at(s, t->at[i]);
    const below b = label_below(s, t, i);
    const bool free = b.from >= taken && (b.to + APART <= last.from || !t->ends);
    canvas_line(c, x, y, x, y + 5, CHART_INK, 1);
    if (!free && !is_end(t, i))
      continue;
    canvas_text(c, (b.from + b.to) / 2, y + 14, b.text, &chart_label_middle);
    taken = b.to + APART;
  }
}
