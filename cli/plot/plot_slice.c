/* Values against each parameter: one small panel a parameter, early trials light and
 * late ones dark. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "common/base.h"
#include "plot/plot.h"

enum {
  WIDTH = 760,
  MOST = 24,    /* panels */
  PANEL = 150,  /* height of the frame */
  GAP = 22,     /* between frames side by side */
  NAME = 22,    /* above a frame */
  BELOW = 32,   /* a frame: the labels */
  STRIP = 14,   /* of a frame, at the bad edge: failed trials */
  LONGEST = 84, /* label of a choice */
  BOLD = 15     /* size of plain letters that are as wide as those of headings */
};

typedef struct sheet {
  const plot_data *data;
  canvas *c;
  plot_range range;
  size_t params[COCABO_MAX_PARAMETERS], n; /* shown */
  size_t columns, rows;
  double left, panel_width;
  double top[MOST + 1]; /* of the frames of each row */
} sheet;

/* The frame of a panel, and what it shows. */
typedef struct panel {
  const plot_param *param;
  size_t index; /* of the parameter */
  double x, y, width;
  scale value;
} panel;

/* ---- labels of choices ---------------------------------------------------------- */

static double widest_label(const plot_param *param) {
  double widest = 0.0;
  for (size_t k = 0; k < param->choices; k++)
    widest = fmax(widest, canvas_text_width(param->labels[k], chart_label.size));
  return widest;
}

static bool labels_lie(const plot_param *param, double width) {
  return widest_label(param) + 6 <= width / (double)param->choices;
}

/* Upright labels need 14 pixels each: every so many-th has one. */
static size_t label_every(const plot_param *param, double width) {
  const size_t room = (size_t)(width / 14.0);
  return (param->choices + room - 1) / room;
}

static void put_choices(canvas *c, const panel *p) {
  const plot_param *param = p->param;
  const bool lie = labels_lie(param, p->width);
  const size_t every = lie ? 1 : label_every(param, p->width);
  canvas_font upright = chart_label_end;
  upright.upwards = true;
  char fitted[CANVAS_FITTED];
  for (size_t k = 0; k < param->choices; k++) {
    const double x = p->x + plot_place(param, (double)k) * p->width;
    const double y = p->y + PANEL;
    if (k % every != 0)
      continue;
    canvas_line(c, x, y, x, y + 4, CHART_INK, 1);
    if (lie)
      canvas_text(c, x, y + 14, param->labels[k], &chart_label_middle);
    else
      canvas_text(c, x, y + 8,
                  canvas_fit(fitted, param->labels[k], chart_label.size, LONGEST),
                  &upright);
  }
}

/* ---- layout --------------------------------------------------------------------- */

static size_t columns_for(size_t panels) {
  return panels <= 3 ? panels : panels == 4 ? 2 : panels <= 9 ? 3 : 4;
}

static double room_below(const sheet *s, size_t row) {
  double room = BELOW;
  for (size_t i = row * s->columns; i < s->n && i < (row + 1) * s->columns; i++) {
    const plot_param *param = &s->data->params[s->params[i]];
    if (param->choices > 0 && !labels_lie(param, s->panel_width))
      room = fmax(room, fmin(widest_label(param), LONGEST) + 20);
  }
  return room;
}

static void lay_out(sheet *s) {
  const scale y = {s->range.low, s->range.high, s->range.log, PANEL, 0};
  s->columns = columns_for(s->n);
  s->rows = (s->n + s->columns - 1) / s->columns;
  s->left = CHART_MARGIN + 18 + chart_axis_width(&y, 4);
  s->panel_width = (WIDTH - CHART_MARGIN - s->left + GAP) / (double)s->columns - GAP;
  s->top[0] = PLOT_TOP + NAME;
  for (size_t row = 0; row < s->rows; row++)
    s->top[row + 1] = s->top[row] + PANEL + room_below(s, row) + NAME;
}

static panel panel_at(const sheet *s, size_t i) {
  const size_t row = i / s->columns;
  panel p = {.param = &s->data->params[s->params[i]],
             .index = s->params[i],
             .x = s->left + (double)(i % s->columns) * (s->panel_width + GAP),
             .y = s->top[row],
             .width = s->panel_width};
  p.value = (scale){s->range.low, s->range.high, s->range.log, p.y + PANEL, p.y};
  const double strip = s->data->n > s->data->complete ? STRIP : 0.0;
  if (s->data->maximize)
    p.value.from -= strip;
  else
    p.value.to += strip;
  return p;
}

/* ---- a panel -------------------------------------------------------------------- */

static double x_of(const sheet *s, const panel *p, size_t row) {
  double share = plot_place(p->param, plot_cell(s->data, row, p->index));
  if (p->param->choices > 0)
    share += 0.6 * plot_jitter(s->data->number[row]) / (double)p->param->choices;
  return p->x + 4 + share * (p->width - 8);
}

static void put_trial(const sheet *s, const panel *p, size_t row, double radius) {
  const plot_data *data = s->data;
  const double value = data->value[row];
  const double last = (double)data->number[data->n - 1];
  const double age = last > 0.0 ? (double)data->number[row] / last : 1.0;
  const canvas_style style = {.fill = canvas_shade(age), .stroke = CANVAS_NONE};
  const double x = x_of(s, p, row);
  const double y = scale_at(&p->value, plot_clip(&s->range, value));
  char tip[PLOT_TIP];
  const char *shown = plot_tip(data, row, tip);
  if (plot_failed(data, row))
    plot_put_failed(s->c, x, p->y + (data->maximize ? PANEL - STRIP / 2 : STRIP / 2),
                    fmax(0.8 * radius, 2.0), shown);
  else if (plot_is_beyond(&s->range, value))
    canvas_mark(s->c, data->maximize ? CANVAS_DOWN : CANVAS_UP, x,
                y + (data->maximize ? -4 : 4), radius + 0.5, &style, shown);
  else if (plot_apart(data, row))
    plot_put_apart(s->c, x, y, radius, shown);
  else
    canvas_mark(s->c, CANVAS_DOT, x, y, radius, &style, shown);
}

/* Labels between the ends are about as wide as theirs. */
static double widest_end(const plot_param *param) {
  char low[TICK_LABEL], high[TICK_LABEL];
  return fmax(canvas_text_width(scale_number(param->low, 6, low), chart_label.size),
              canvas_text_width(scale_number(param->high, 6, high), chart_label.size));
}

static void put_axis(const sheet *s, const panel *p) {
  const plot_param *param = p->param;
  if (param->choices > 0) {
    put_choices(s->c, p);
    return;
  }
  const double half = 0.5 * param->step;
  const scale x = {param->low - half, param->high + half, param->log, p->x + 4,
                   p->x + p->width - 4};
  const double labels = p->width / fmax(38.0, widest_end(param) + 10.0);
  ticks t;
  if (!(x.low < x.high))
    return;
  ticks_find_between(&x, param->low, param->high, param->kind == COCABO_KIND_INT,
                     labels > 2.0 ? (int)labels : 2, &t);
  chart_put_axis_below(s->c, &x, &t, p->y + PANEL);
}

/* With what else there is to say, in short where there is no room for more. */
static void put_name(const sheet *s, const panel *p) {
  const size_t inactive = plot_count_inactive(s->data, p->index);
  const double whole = canvas_text_width(p->param->name, BOLD);
  char fitted[CANVAS_FITTED], name[CANVAS_FITTED], more[80], count[40] = "";
  if (inactive > 0)
    snprintf(count, sizeof count, "%zu inactive", inactive);
  for (int brief = 0; brief < 2; brief++) {
    const char *kind = !p->param->log ? "" : brief ? "log" : "logarithmic";
    more[0] = '\0';
    if (*kind || *count)
      snprintf(more, sizeof more, " (%s%s%s)", kind, *kind && *count ? ", " : "",
               count);
    if (whole + canvas_text_width(more, BOLD) <= p->width)
      break;
  }
  canvas_fit(fitted, p->param->name, BOLD, p->width - canvas_text_width(more, BOLD));
  snprintf(name, sizeof name, "%.150s%s", fitted, more);
  canvas_text(s->c, p->x, p->y - 10, name, &chart_heading);
}

static void put_panel(const sheet *s, size_t i) {
  const panel p = panel_at(s, i);
  const plot_data *data = s->data;
  const double radius = 0.8 * plot_radius(data->n);
  char tip[PLOT_TIP];
  chart_put_axis_left(s->c, &p.value, p.x, p.width, 4, i % s->columns == 0);
  canvas_rect(s->c, p.x, p.y, p.width, PANEL, CANVAS_NONE, 0x999999);
  put_axis(s, &p);
  put_name(s, &p);
  for (size_t row = 0; row < data->n; row++)
    if (!plot_inactive(data, row, p.index))
      put_trial(s, &p, row, radius);
  if (!plot_has_best(data) || plot_inactive(data, data->best, p.index))
    return;
  plot_put_expected(s->c, data, &s->range, x_of(s, &p, data->best), &p.value);
  plot_put_best(s->c, x_of(s, &p, data->best),
                scale_at(&p.value, data->value[data->best]),
                plot_tip(data, data->best, tip));
}

/* ---- the picture ---------------------------------------------------------------- */

static void begin(sheet *s, const canvas_format *format) {
  char title[CANVAS_FITTED], text[CANVAS_FITTED];
  plot_make_title(s->data, "values against parameters", title);
  plot_describe(s->data, s->n, s->data->d, text);
  canvas_begin(s->c, format, WIDTH, s->top[s->rows], title, text);
  chart_put_title(s->c, title, text);
}

static void put_legend(const sheet *s) {
  const plot_data *data = s->data;
  double x = CHART_MARGIN;
  char text[80];
  snprintf(text, sizeof text, "%" PRId64, data->number[data->n - 1]);
  plot_put_shades(s->c, &x, "trial 0", text);
  plot_put_trial_legend(s->c, &x, data, &s->range);
}

cocabo_status plot_slice(const plot_data *data, const canvas_format *format, canvas *c,
                         cocabo_error *err) {
  sheet s = {.data = data, .c = c};
  CB_TRY(plot_range_find(data, &s.range, err));
  s.n = plot_choose_params(data, false, MOST, s.params);
  lay_out(&s);
  begin(&s, format);
  put_legend(&s);
  canvas_font upwards = chart_label_middle;
  upwards.upwards = true;
  for (size_t i = 0; i < s.n; i++)
    put_panel(&s, i);
  for (size_t row = 0; row < s.rows; row++)
    canvas_text(c, CHART_MARGIN, panel_at(&s, row * s.columns).y + PANEL / 2.0,
                s.range.log ? "value (logarithmic)" : "value", &upwards);
  return COCABO_OK;
}
