/* Parameters in a terminal: values against each of them, and the best trials across
 * all of them. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base.h"
#include "plot/textgrid.h"
#include "plot/textplot.h"

/* The ends of a parameter's domain, as text. */
static const char *low_label(const plot_param *param, char out[TICK_LABEL]) {
  return param->choices > 0 ? param->labels[0] : scale_number(param->low, 6, out);
}

static const char *high_label(const plot_param *param, char out[TICK_LABEL]) {
  return param->choices > 0 ? param->labels[param->choices - 1]
                            : scale_number(param->high, 6, out);
}

/* ---- slice ---------------------------------------------------------------------- */

enum {
  SLICE_ROWS = 8,
  PANEL_ROWS = SLICE_ROWS + 4,
  PANEL_COLUMNS = 26,
  MOST_PANELS = 24
};

typedef struct slice {
  const plot_data *data;
  textgrid *g;
  plot_range range;
  int left, width; /* columns of the labels, and of the area of a panel */
  int across;      /* panels side by side */
  int strip;       /* rows at the bad edge of a panel: failed trials; 0 or 1 */
} slice;

typedef struct panel {
  const plot_param *param;
  size_t index;
  int column, row; /* the upper left corner of its area */
} panel;

static void put_choice_labels(const slice *s, const panel *p) {
  const int slot = s->width / (int)p->param->choices;
  for (size_t k = 0; k < p->param->choices; k++) {
    const char *label = p->param->labels[k];
    const int width = textgrid_width(label), room = slot - 1;
    const int shown = width < room ? width : room;
    const int middle = (int)(plot_place(p->param, (double)k) * s->width);
    textgrid_text(s->g, p->column + middle - shown / 2, p->row + SLICE_ROWS + 1, label,
                  room);
  }
}

/* The name is cut rather than how many trials are left out. */
static void put_name(const slice *s, const panel *p, int row) {
  const size_t inactive = plot_count_inactive(s->data, p->index);
  char more[40] = "";
  if (inactive > 0)
    snprintf(more, sizeof more, " (%zu inactive)", inactive);
  const int room = s->width - textgrid_width(more);
  const int name = textgrid_width(p->param->name), shown = name < room ? name : room;
  const int start = p->column + (room - shown) / 2;
  textgrid_text(s->g, start, row, p->param->name, room);
  textgrid_text(s->g, start + shown, row, more, s->width);
}

static void put_panel_axes(const slice *s, const panel *p) {
  const plot_param *param = p->param;
  const int below = p->row + SLICE_ROWS, right = p->column + s->width;
  char text[TICK_LABEL];
  for (int row = p->row; row < below; row++)
    textgrid_put(s->g, p->column - 1, row, 0x2502, '|');
  textgrid_put(s->g, p->column - 1, below, 0x2514, '+');
  for (int column = p->column; column < right; column++)
    textgrid_put(s->g, column, below, 0x2500, '-');
  if (param->choices > 0 && s->width / (int)param->choices >= 4) {
    put_choice_labels(s, p);
  } else {
    textgrid_text(s->g, p->column, below + 1, low_label(param, text), s->width / 2 - 1);
    textgrid_text_left_of(s->g, right, below + 1, high_label(param, text),
                          s->width / 2 - 1);
  }
  put_name(s, p, below + 2);
}

static double slice_x(const slice *s, const panel *p, size_t row) {
  double share = plot_place(p->param, plot_cell(s->data, row, p->index));
  if (p->param->choices > 0)
    share += 0.5 * plot_jitter(s->data->number[row]) / (double)p->param->choices;
  return p->column + share * (s->width - 0.01);
}

static double slice_y(const slice *s, const panel *p, double value) {
  const int above = s->data->maximize ? 0 : s->strip, below = s->strip - above;
  const scale y = {s->range.low, s->range.high, s->range.log,
                   p->row + SLICE_ROWS - below - 0.01, p->row + above};
  return scale_at(&y, plot_clip(&s->range, value));
}

static void put_panel(const slice *s, const panel *p) {
  const plot_data *data = s->data;
  put_panel_axes(s, p);
  for (size_t row = 0; row < data->n; row++) {
    const double value = data->value[row];
    if (plot_inactive(data, row, p->index))
      continue;
    if (plot_failed(data, row))
      textgrid_put(s->g, (int)slice_x(s, p, row),
                   p->row + (data->maximize ? SLICE_ROWS - 1 : 0), 0x00d7, 'x');
    else if (plot_is_beyond(&s->range, value))
      textgrid_put(s->g, (int)slice_x(s, p, row), (int)slice_y(s, p, value),
                   data->maximize ? 0x25bc : 0x25b2, data->maximize ? 'v' : '^');
    else if (plot_apart(data, row))
      textgrid_put(s->g, (int)slice_x(s, p, row), (int)slice_y(s, p, value), 0x25cb,
                   'o');
    else
      textgrid_dot(s->g, slice_x(s, p, row), slice_y(s, p, value));
  }
  if (plot_has_best(data) && !plot_inactive(data, data->best, p->index))
    textgrid_put(s->g, (int)slice_x(s, p, data->best),
                 (int)slice_y(s, p, data->value[data->best]), 0x25c6, '*');
}

static void put_value_labels(const slice *s, int row) {
  char text[TICK_LABEL];
  const int above = s->data->maximize ? 0 : s->strip, below = s->strip - above;
  textgrid_text_left_of(s->g, s->left - 1, row + above,
                        scale_number(s->range.high, 3, text), s->left - 1);
  textgrid_text_left_of(s->g, s->left - 1, row + SLICE_ROWS - 1 - below,
                        scale_number(s->range.low, 3, text), s->left - 1);
}

static void put_panels(slice *s, const size_t *params, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const int across = (int)i % s->across, down = (int)i / s->across;
    const panel p = {.param = &s->data->params[params[i]],
                     .index = params[i],
                     .column = s->left + across * (s->width + 3),
                     .row = down * PANEL_ROWS};
    put_panel(s, &p);
    if (across == 0)
      put_value_labels(s, p.row);
  }
}

cocabo_status textplot_slice(const plot_data *data, textplot_page page,
                             front_buffer *out, cocabo_error *err) {
  size_t params[COCABO_MAX_PARAMETERS];
  const size_t n = plot_choose_params(data, false, MOST_PANELS, params);
  textgrid g;
  slice s = {
      .data = data, .g = &g, .left = 11, .strip = data->n > data->complete ? 1 : 0};
  CB_TRY(plot_range_find(data, &s.range, err));
  CB_TRY(textplot_put_heading(data, "values against parameters", n, data->d, page, out,
                              err));
  const int fit = (page.columns - s.left + 3) / PANEL_COLUMNS;
  s.across = fit < 1 ? 1 : fit > (int)n ? (int)n : fit;
  s.width = (page.columns - s.left + 3) / s.across - 3;
  const int down = ((int)n + s.across - 1) / s.across;
  CB_TRY(textgrid_begin(&g, page.columns, down * PANEL_ROWS - 1, page.unicode, err));
  put_panels(&s, params, n);
  const cocabo_status status = textgrid_print(&g, out, err);
  textgrid_free(&g);
  CB_TRY(status);
  CB_TRY(front_buffer_puts(out, "\n", err));
  return textplot_put_legend("", data, s.range.beyond, page, out, err);
}

/* ---- parallel ------------------------------------------------------------------- */

enum { PARALLEL_ROWS = 14, AXIS_COLUMNS = 11, MOST_LINES = 10 };

typedef struct parallel {
  const plot_data *data;
  textgrid *g;
  plot_range range;
  size_t params[COCABO_MAX_PARAMETERS], n; /* shown */
  int space;                               /* columns between axes */
  int lane; /* rows below the axes, where they are inactive: 0 or 1 */
} parallel;

static double parallel_y(double share) {
  return (1.0 - share) * (PARALLEL_ROWS - 0.01);
}

static double y_of(const parallel *p, size_t axis, size_t row) {
  if (axis == 0) {
    const scale value = {p->range.low, p->range.high, p->range.log, 0.0, 1.0};
    return parallel_y(scale_at(&value, plot_clip(&p->range, p->data->value[row])));
  }
  const size_t param = p->params[axis - 1];
  if (plot_inactive(p->data, row, param))
    return PARALLEL_ROWS + 0.5;
  return parallel_y(
      plot_place(&p->data->params[param], plot_cell(p->data, row, param)));
}

static void put_trial(const parallel *p, size_t row) {
  for (size_t axis = 0; axis < p->n; axis++)
    textgrid_line(p->g, (int)axis * p->space + 0.5, y_of(p, axis, row),
                  (int)(axis + 1) * p->space + 0.5, y_of(p, axis + 1, row));
}

static void put_choices(const parallel *p, int column, const plot_param *param) {
  const size_t every = (param->choices + PARALLEL_ROWS - 1) / PARALLEL_ROWS;
  for (size_t k = 0; k < param->choices; k += every)
    textgrid_text(p->g, column + 1, (int)parallel_y(plot_place(param, (double)k)),
                  param->labels[k], p->space - 3);
}

static void put_axis(const parallel *p, size_t axis) {
  const int column = (int)axis * p->space;
  const plot_param *param = axis > 0 ? &p->data->params[p->params[axis - 1]] : NULL;
  char text[TICK_LABEL];
  for (int row = 0; row < PARALLEL_ROWS; row++)
    textgrid_put(p->g, column, row, 0x2502, '|');
  if (param && plot_count_inactive(p->data, p->params[axis - 1]) > 0)
    textgrid_text(p->g, column, PARALLEL_ROWS, "inactive", p->space - 1);
  textgrid_text(p->g, column, PARALLEL_ROWS + p->lane, param ? param->name : "value",
                p->space - 1);
  if (param && param->choices > 0) {
    put_choices(p, column, param);
    return;
  }
  textgrid_text(p->g, column + 1, 0,
                param ? high_label(param, text) : scale_number(p->range.high, 4, text),
                p->space - 3);
  textgrid_text(p->g, column + 1, PARALLEL_ROWS - 1,
                param ? low_label(param, text) : scale_number(p->range.low, 4, text),
                p->space - 3);
}

static cocabo_status put_best(const parallel *p, cocabo_error *err) {
  size_t *ranking = cb_calloc(p->data->complete, sizeof *ranking);
  if (!ranking)
    return cb_no_memory(err);
  const cocabo_status status = plot_rank(p->data, ranking, err);
  for (size_t i = 0; status == COCABO_OK && i < p->data->complete && i < MOST_LINES;
       i++)
    put_trial(p, ranking[i]);
  cb_free(ranking);
  return status;
}

cocabo_status textplot_parallel(const plot_data *data, textplot_page page,
                                front_buffer *out, cocabo_error *err) {
  textgrid g;
  parallel p = {.data = data, .g = &g};
  const int fit = (page.columns - AXIS_COLUMNS) / AXIS_COLUMNS;
  p.n = plot_choose_params(data, false, (size_t)fit, p.params);
  p.space = (page.columns - AXIS_COLUMNS) / (int)p.n;
  CB_TRY(plot_range_find(data, &p.range, err));
  CB_TRY(textplot_put_heading(data, "the ten best trials across parameters", p.n,
                              data->d, page, out, err));
  for (size_t i = 0; i < p.n; i++)
    p.lane |= plot_count_inactive(data, p.params[i]) > 0;
  CB_TRY(
      textgrid_begin(&g, page.columns, PARALLEL_ROWS + p.lane + 1, page.unicode, err));
  cocabo_status status = put_best(&p, err);
  for (size_t axis = 0; axis <= p.n; axis++)
    put_axis(&p, axis);
  if (status == COCABO_OK)
    status = textgrid_print(&g, out, err);
  textgrid_free(&g);
  if (status == COCABO_OK && data->n > data->complete) {
    char text[80];
    snprintf(text, sizeof text, "%s failed (%zu) are not among them",
             page.unicode ? "\u00d7" : "x", data->n - data->complete);
    status = textplot_put_words(text, page, out, err);
  }
  return status;
}
