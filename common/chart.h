/* chart.h - what charts have in common: inks, fonts, the heading and the axes. */
#ifndef FRONT_CHART_H
#define FRONT_CHART_H

#include "common/canvas.h"
#include "common/scale.h"

/* Inks. What differs in colour differs in lightness or shape too. */
enum {
  CHART_INK = 0x1a1a1a,
  CHART_QUIET = 0x5c5c5c, /* text of less weight */
  CHART_GRID = 0xe4e4e4,
  CHART_PALE = 0x8fa3b8, /* trials among many */
  CHART_MARKED = 0xd55e00
};
enum { CHART_MARGIN = 20 };

extern const canvas_font chart_label, chart_label_end, chart_label_middle, chart_quiet,
    chart_heading;

/* The heading, in the upper left corner, on a white ground. */

void chart_put_title(canvas *c, const char *title, const char *subtitle);

/* Ticks with labels: along the left of an area of the given width, with lines across
 * it, and below an area. s->from and s->to are in pixels. Below, a label that would
 * meet another is left out, and those of ends (see scale.h) do not leave the axis. */
void chart_put_axis_left(canvas *c, const scale *s, double x, double width, int wanted,
                         bool labels);
void chart_put_axis_below(canvas *c, const scale *s, const ticks *t, double y);
/* Pixels that the labels of the axis to the left take. */
double chart_axis_width(const scale *s, int wanted);

#endif
