/* What trials reported of their values, over their steps, in a terminal. */
#include <stdio.h>
#include <string.h>

#include "common/base.h"
#include "plot/plot_lines.h"
#include "plot/textgrid.h"
#include "plot/textplot.h"

enum { ROWS = 16 };

typedef struct steps {
  const plot_data *data;
  textgrid g;
  plot_lines lines;
  scale x, y; /* to characters */
  int left;   /* the first column of the area */
} steps;

static void lay_out(steps *s) {
  const plot_range *range = &s->lines.range;
  s->y = (scale){range->low, range->high, range->log, ROWS - 0.01, 0.0};
  s->left = textplot_axis_width(&s->y);
  s->x =
      (scale){s->lines.first, s->lines.last, false, s->left + 0.5, s->g.columns - 0.5};
}

static canvas_point place(const steps *s, const cocabo_step *step) {
  return (canvas_point){scale_at(&s->x, (double)step->step),
                        scale_at(&s->y, plot_clip(&s->lines.range, step->value))};
}

/* The best one is a row of characters, which hide the dots of the others. */
static void put_piece(steps *s, canvas_point from, canvas_point to, bool best) {
  if (!best) {
    textgrid_line(&s->g, from.x, from.y, to.x, to.y);
    return;
  }
  for (int column = (int)from.x; column <= (int)to.x; column++) {
    const double at = column + 0.5, width = to.x - from.x;
    double share = width > 0.0 ? (at - from.x) / width : 1.0;
    share = share < 0.0 ? 0.0 : share > 1.0 ? 1.0 : share;
    textgrid_put(&s->g, column, (int)(from.y + share * (to.y - from.y)), 0x2022, 'o');
  }
}

static void put_line(steps *s, const plot_line *line) {
  canvas_point from = place(s, &line->steps[0]);
  for (size_t i = 0; i < line->n; i++) {
    const canvas_point to = place(s, &line->steps[i]);
    put_piece(s, from, to, line->best);
    from = to;
  }
  if (line->best)
    textgrid_put(&s->g, (int)from.x, (int)from.y, 0x25c6, '*');
  else if (line->state == COCABO_FAILED)
    textgrid_put(&s->g, (int)from.x, (int)from.y, 0x00d7, 'x');
}

static cocabo_status put_legend(const steps *s, textplot_page page, front_buffer *out,
                                cocabo_error *err) {
  const plot_lines *lines = &s->lines;
  const bool u = page.unicode;
  const size_t open = lines->n - lines->complete - lines->failed;
  char text[CANVAS_FITTED], left_out[PLOT_LEFT_OUT];
  size_t size = (size_t)snprintf(text, sizeof text, "%s trial", u ? "\u2802" : ".");
  if (lines->lines[lines->n - 1].best)
    size += (size_t)snprintf(
        text + size, sizeof text - size, "   %s %s", u ? "\u2022\u25c6" : "o*",
        s->data->noisy && !s->data->modelled ? "luckiest" : "best");
  if (lines->failed > 0)
    size += (size_t)snprintf(text + size, sizeof text - size, "   %s failed (%zu)",
                             u ? "\u00d7" : "x", lines->failed);
  if (open > 0)
    size +=
        (size_t)snprintf(text + size, sizeof text - size, "   unfinished (%zu)", open);
  plot_lines_left_out(s->data, lines, left_out);
  snprintf(text + size, sizeof text - size, "%s%s%s", *left_out ? "   " : "", left_out,
           lines->range.beyond > 0 ? "   (worse values at the edge)" : "");
  return textplot_put_words(text, page, out, err);
}

static cocabo_status draw(steps *s, textplot_page page, front_buffer *out,
                          cocabo_error *err) {
  CB_TRY(textplot_put_heading(s->data, "values over steps", s->data->d, s->data->d,
                              page, out, err));
  CB_TRY(textgrid_begin(&s->g, page.columns, ROWS + 2, page.unicode, err));
  lay_out(s);
  textplot_put_axes(&s->g, &s->x, &s->y, s->left, ROWS);
  for (size_t i = 0; i < s->lines.n; i++)
    put_line(s, &s->lines.lines[i]);
  const cocabo_status status = textgrid_print(&s->g, out, err);
  textgrid_free(&s->g);
  return status == COCABO_OK ? put_legend(s, page, out, err) : status;
}

cocabo_status textplot_steps(const plot_data *data, textplot_page page,
                             front_buffer *out, cocabo_error *err) {
  steps s = {.data = data};
  CB_TRY(plot_lines_find(data, &s.lines, err));
  const cocabo_status status = draw(&s, page, out, err);
  plot_lines_free(&s.lines);
  return status;
}
