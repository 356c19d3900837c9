/* The share of each parameter in the variance of the values, as bars with errors. */
#include <math.h>
#include <stdio.h>

#include "common/base.h"
#include "plot/plot.h"

enum {
  WIDTH = 760,
  FEW = 10,  /* bars that are shown in any case */
  MOST = 30, /* bars; the others share the last one */
  ROW = 28,
  SHORT = 160, /* pixels for names at least, */
  LONG = 300,  /* and at most */
  PERCENT = 96,
  NAME_SIZE = 13,
  TOP = 72,
  BOTTOM = 20
};

typedef struct sheet {
  const plot_data *data;
  canvas *c;
  plot_share shares[COCABO_MAX_PARAMETERS];
  size_t rows; /* shown by themselves */
  double rest; /* share of the others together */
  double x;    /* where bars start */
  scale along; /* shares to pixels */
} sheet;

/* All that have a share worth naming, and a few more. */
static size_t rows_for(const plot_share *shares, size_t d) {
  size_t rows = d < FEW ? d : FEW;
  while (rows < d && rows < MOST && shares[rows].share >= 0.001)
    rows++;
  return d - rows == 1 ? d : rows;
}

static const char *name_of(const sheet *s, size_t row) {
  return s->data->params[s->shares[row].param].name;
}

/* The longest bar with its error ends where there is just room for its percentage. */
static void lay_out(sheet *s) {
  double names = SHORT, most = 0.0;
  s->rows = rows_for(s->shares, s->data->d);
  for (size_t i = 0; i < s->data->d; i++) {
    if (i >= s->rows) {
      s->rest += s->shares[i].share;
      continue;
    }
    names = fmax(names, canvas_text_width(name_of(s, i), NAME_SIZE));
    most = fmax(most, fmin(s->shares[i].share + s->shares[i].se, 1.0));
  }
  s->x = CHART_MARGIN + fmin(names, LONG) + 10;
  s->along =
      (scale){0.0, fmax(most, s->rest), false, s->x, WIDTH - CHART_MARGIN - PERCENT};
}

static void put_error(const sheet *s, double from, double to, double y) {
  canvas_line(s->c, from, y, to, y, CHART_INK, 1.5);
  canvas_line(s->c, from, y - 4, from, y + 4, CHART_INK, 1.5);
  canvas_line(s->c, to, y - 4, to, y + 4, CHART_INK, 1.5);
}

/* se NaN: no error is known. */
static void put_bar(const sheet *s, size_t row, const char *name, double share,
                    double se) {
  static const canvas_font font = {
      .size = NAME_SIZE, .colour = CHART_INK, .anchor = CANVAS_END};
  const double y = TOP + ROW * ((double)row + 0.5);
  double end = scale_at(&s->along, share);
  char fitted[CANVAS_FITTED], text[PLOT_PERCENT];
  canvas_text(s->c, s->x - 10, y,
              canvas_fit(fitted, name, NAME_SIZE, s->x - 10 - CHART_MARGIN), &font);
  if (end - s->x >= 0.5)
    canvas_rect(s->c, s->x, y - 9, end - s->x, 18, 0x5fa2d0, CANVAS_NONE);
  if (se > 0.0) {
    end = scale_at(&s->along, fmin(share + se, 1.0));
    put_error(s, scale_at(&s->along, fmax(share - se, 0.0)), end, y);
  }
  canvas_text(s->c, end + 8, y, plot_percent(share, se, true, text), &chart_label);
}

static void begin(const sheet *s, const canvas_format *format, double explained,
                  size_t bars) {
  char title[CANVAS_FITTED], text[PLOT_CAVEAT];
  plot_make_title(s->data, "importance of the parameters", title);
  plot_caveat(s->data, explained, text);
  canvas_begin(s->c, format, WIDTH, TOP + ROW * (double)bars + BOTTOM, title, text);
  chart_put_title(s->c, title, text);
  canvas_line(s->c, s->x, TOP, s->x, TOP + ROW * (double)bars, CHART_INK, 1);
}

cocabo_status plot_importance(const plot_data *data, const canvas_format *format,
                              canvas *c, cocabo_error *err) {
  sheet s = {.data = data, .c = c};
  double explained;
  char others[48];
  CB_TRY(plot_shares_find(data, s.shares, &explained, err));
  lay_out(&s);
  begin(&s, format, explained, s.rows + (data->d > s.rows));
  for (size_t i = 0; i < s.rows; i++)
    put_bar(&s, i, name_of(&s, i), s.shares[i].share, s.shares[i].se);
  snprintf(others, sizeof others, "%zu others together", data->d - s.rows);
  if (data->d > s.rows)
    put_bar(&s, s.rows, others, s.rest, NAN);
  return COCABO_OK;
}
