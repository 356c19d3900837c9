/* Values over trial numbers in a terminal, and the best so far. */
#include <stdio.h>

#include "common/base.h"
#include "plot/textplot.h"

enum { ROWS = 16 };

typedef struct history {
  const plot_data *data;
  textgrid *g;
  plot_range range;
  scale x, y;                 /* to characters */
  int rows;                   /* of the area with its edge */
  int left, top, bottom;      /* the area: columns from left, rows top .. bottom - 1 */
  int beyond_row, failed_row; /* -1: none */
} history;

/* As in the picture, rows at the bad edge hold what is failed or beyond. */
static void lay_out(history *h) {
  const plot_data *data = h->data;
  const bool failed = data->n > data->complete, beyond = h->range.beyond > 0;
  const int edge = data->maximize ? h->rows - 1 : 0;
  const int inwards = data->maximize ? -1 : 1;
  h->failed_row = failed ? edge : -1;
  h->beyond_row = beyond ? edge + inwards * failed : -1;
  h->top = data->maximize ? 0 : failed + beyond;
  h->bottom = h->rows - (data->maximize ? failed + beyond : 0);
  h->y = (scale){h->range.low, h->range.high, h->range.log, h->bottom - 0.01, h->top};
  h->left = textplot_axis_width(&h->y);
  const double last = (double)data->number[data->n - 1];
  h->x =
      (scale){0.0, last > 0.0 ? last : 1.0, false, h->left + 0.5, h->g->columns - 0.5};
}

static int row_of(const history *h, double value) {
  return (int)scale_at(&h->y, plot_clip(&h->range, value));
}

static void put_trials(const history *h) {
  const plot_data *data = h->data;
  for (size_t i = 0; i < data->n; i++) {
    const double x = scale_at(&h->x, (double)data->number[i]);
    if (plot_failed(data, i))
      textgrid_put(h->g, (int)x, h->failed_row, 0x00d7, 'x');
    else if (plot_is_beyond(&h->range, data->value[i]))
      textgrid_put(h->g, (int)x, h->beyond_row, data->maximize ? 0x25bc : 0x25b2,
                   data->maximize ? 'v' : '^');
    else if (plot_apart(data, i))
      textgrid_put(h->g, (int)x, (int)scale_at(&h->y, data->value[i]), 0x25cb, 'o');
    else
      textgrid_dot(h->g, x, scale_at(&h->y, data->value[i]));
  }
}

/* From one row to another in one column, with corners where lines are lines. */
static void put_step(const history *h, int column, int from, int to) {
  const bool down = to > from;
  for (int row = down ? from : to; row <= (down ? to : from); row++)
    textgrid_put(h->g, column, row, 0x2502, '|');
  textgrid_put(h->g, column, from, down ? 0x256e : 0x256f, '+');
  textgrid_put(h->g, column, to, down ? 0x2570 : 0x256d, '+');
}

static void put_best(const history *h) {
  const plot_data *data = h->data;
  bool any = false;
  double best = 0.0;
  size_t i = 0;
  int before = 0;
  for (int column = h->left; column < h->g->columns; column++) {
    const bool had = any;
    for (; i < data->n && (int)scale_at(&h->x, (double)data->number[i]) <= column; i++)
      if (data->feasible[i] && (!any || plot_better(data, data->value[i], best))) {
        best = data->value[i];
        any = true;
      }
    if (!any)
      continue;
    const int row = row_of(h, best);
    if (had && row != before)
      put_step(h, column, before, row);
    else
      textgrid_put(h->g, column, row, 0x2500, '-');
    before = row;
  }
  if (plot_has_best(data))
    textgrid_put(h->g, (int)scale_at(&h->x, (double)data->number[data->best]),
                 row_of(h, data->value[data->best]), 0x25c6, '*');
}

cocabo_status textplot_history(const plot_data *data, textplot_page page,
                               front_buffer *out, cocabo_error *err) {
  textgrid g;
  history h = {.data = data, .g = &g, .rows = page.rows > 0 ? page.rows : ROWS};
  CB_TRY(plot_range_find(data, &h.range, err));
  CB_TRY(textplot_put_heading(data, "values of the trials", data->d, data->d, page, out,
                              err));
  CB_TRY(textgrid_begin(&g, page.columns, h.rows + 2, page.unicode, err));
  lay_out(&h);
  textplot_put_axes(&g, &h.x, &h.y, h.left, h.rows);
  put_trials(&h);
  put_best(&h);
  cocabo_status status = textgrid_print(&g, out, err);
  textgrid_free(&g);
  char text[80];
  snprintf(text, sizeof text, "%s trial   %s %s so far   ",
           page.unicode ? "\u2802" : ".", page.unicode ? "\u2500" : "-",
           data->noisy || data->by_runs ? "luckiest" : "best");
  if (status == COCABO_OK)
    status = textplot_put_legend(text, data, h.range.beyond, page, out, err);
  return status;
}
