/* The share of each parameter in the variance of the values, as bars. */
#include <stdio.h>

#include "common/base.h"
#include "plot/plot.h"

enum {
  WIDTH = 760,
  FEW = 10,  /* bars that are shown in any case */
  MOST = 30, /* bars; the others share the last one */
  ROW = 28,
  BAR_X = 190,
  BAR = WIDTH - BAR_X - CHART_MARGIN - 60, /* of the whole */
  TOP = 72,
  BOTTOM = 20
};

static void put_bar(canvas *c, size_t row, const char *name, double share,
                    double largest) {
  const double y = TOP + ROW * ((double)row + 0.5);
  const double width = BAR * share / largest;
  char fitted[CANVAS_FITTED], text[32];
  canvas_text(c, BAR_X - 10, y, canvas_fit(fitted, name, 13, BAR_X - 10 - CHART_MARGIN),
              &(canvas_font){.size = 13, .colour = CHART_INK, .anchor = CANVAS_END});
  if (width >= 0.5)
    canvas_rect(c, BAR_X, y - 9, width, 18, 0x2575b0, CANVAS_NONE);
  snprintf(text, sizeof text, share >= 0.0995 ? "%.0f %%" : "%.1f %%", 100.0 * share);
  canvas_text(c, BAR_X + width + 8, y, text, &chart_label);
}

/* All that have a share worth naming, and a few more. */
static size_t rows_for(const plot_share *shares, size_t d) {
  size_t rows = d < FEW ? d : FEW;
  while (rows < d && rows < MOST && shares[rows].share >= 0.001)
    rows++;
  return d - rows == 1 ? d : rows;
}

static void begin(canvas *c, const canvas_format *format, const plot_data *data,
                  double explained, size_t rows) {
  char title[CANVAS_FITTED], text[PLOT_CAVEAT];
  plot_make_title(data, "importance of the parameters", title);
  plot_caveat(data, explained, text);
  canvas_begin(c, format, WIDTH, TOP + ROW * (double)rows + BOTTOM, title, text);
  chart_put_title(c, title, text);
}

cocabo_status plot_importance(const plot_data *data, const canvas_format *format,
                              canvas *c, cocabo_error *err) {
  plot_share shares[COCABO_MAX_PARAMETERS];
  double explained, rest = 0.0;
  CB_TRY(plot_shares_find(data, shares, &explained, err));
  const size_t rows = rows_for(shares, data->d);
  const size_t bars = rows + (data->d > rows);
  begin(c, format, data, explained, bars);
  canvas_line(c, BAR_X, TOP, BAR_X, TOP + ROW * (double)bars, CHART_INK, 1);
  for (size_t i = 0; i < rows; i++)
    put_bar(c, i, data->params[shares[i].param].name, shares[i].share, shares[0].share);
  for (size_t i = rows; i < data->d; i++)
    rest += shares[i].share;
  char others[32];
  snprintf(others, sizeof others, "%zu others together", data->d - rows);
  if (data->d > rows)
    put_bar(c, rows, others, rest, shares[0].share);
  return COCABO_OK;
}
