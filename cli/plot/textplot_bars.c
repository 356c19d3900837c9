/* Importance and choices in a terminal: rows of bars. */
#include <stdio.h>
#include <stdlib.h>

#include "common/base.h"
#include "plot/textgrid.h"
#include "plot/textplot.h"

/* ---- importance ----------------------------------------------------------------- */

enum { PERCENT_COLUMNS = 15 };

/* Two fifths of the page at most. */
static int name_columns(const plot_data *data, textplot_page page) {
  const int most = page.columns * 2 / 5;
  int widest = 0;
  for (size_t j = 0; j < data->d; j++) {
    const int width = textgrid_width(data->params[j].name);
    widest = width > widest ? width : widest;
  }
  return widest < most ? widest : most;
}

/* Eighths of a character, or whole ones. */
static int put_bar(textgrid *g, int column, int row, double length) {
  const int whole = (int)length, eighths = (int)(8.0 * (length - whole));
  for (int k = 0; k < whole; k++)
    textgrid_put(g, column + k, row, 0x2588, '#');
  if (eighths == 0 || !g->unicode)
    return column + whole;
  textgrid_put(g, column + whole, row, 0x2590 - (unsigned)eighths, '#');
  return column + whole + 1;
}

cocabo_status textplot_importance(const plot_data *data, textplot_page page,
                                  front_buffer *out, cocabo_error *err) {
  plot_share shares[COCABO_MAX_PARAMETERS];
  double explained;
  textgrid g;
  char text[CANVAS_FITTED];
  CB_TRY(plot_shares_find(data, shares, &explained, err));
  plot_make_title(data, "importance of the parameters", text);
  CB_TRY(textplot_put_words(text, page, out, err));
  plot_caveat(data, explained, text);
  CB_TRY(textplot_put_words(text, page, out, err));
  CB_TRY(front_buffer_puts(out, "\n", err));
  CB_TRY(textgrid_begin(&g, page.columns, (int)data->d, page.unicode, err));
  const int names = name_columns(data, page);
  const double room = page.columns - names - 1 - PERCENT_COLUMNS;
  for (int i = 0; i < (int)data->d; i++) {
    const double share = shares[i].share;
    textgrid_text(&g, 0, i, data->params[shares[i].param].name, names);
    const int end = put_bar(&g, names + 1, i, room * share / shares[0].share);
    char percent[PLOT_PERCENT];
    plot_percent(share, shares[i].se, page.unicode, percent);
    textgrid_text(&g, end + 1, i, percent, PERCENT_COLUMNS);
  }
  const cocabo_status status = textgrid_print(&g, out, err);
  textgrid_free(&g);
  return status;
}

/* ---- categories ----------------------------------------------------------------- */

enum {
  MOST_BLOCKS = 20,
  MOST_ROWS = 12, /* of a block */
  LABEL_COLUMNS = 18,
  TRIED_COLUMNS = 7,
  FAILED_COLUMNS = 7,
  LEAST_STRIP = 4, /* columns; before that labels shrink */
  LEAST_LABEL = 8,
  BEST_COLUMNS = 12
};

typedef struct block {
  const plot_data *data;
  size_t param;
  textgrid *g;
  int row;          /* of the page, next */
  int label, strip; /* columns of the labels and of the strip, */
  int failed;       /* and of the numbers of failed trials; 0: there are none */
} block;

/* How much of a bin a choice has, in five shades. */
static void put_share(const block *b, int column, double share) {
  static const unsigned shades[] = {0x2591, 0x2592, 0x2593, 0x2588};
  static const char ascii[] = ".:*#";
  const int k = share >= 1.0 ? 3 : (int)(4.0 * share);
  textgrid_put(b->g, column, b->row, shades[k], ascii[k]);
}

static void put_strip(const block *b, size_t choice) {
  const plot_data *data = b->data;
  const size_t most = (size_t)b->strip, bins = data->n < most ? data->n : most;
  for (size_t bin = 0, row = 0; bin < bins; bin++) {
    const size_t first = row, end = (bin + 1) * data->n / bins;
    size_t tried = 0, failed = 0, apart = 0;
    for (; row < end; row++) {
      const bool here = plot_cell(data, row, b->param) == (double)choice;
      tried += here;
      failed += here && plot_failed(data, row);
      apart += here && plot_apart(data, row);
    }
    const int column = b->label + (int)bin;
    if (tried > 0 && tried == failed)
      textgrid_put(b->g, column, b->row, 0x00d7, 'x');
    else if (tried > 0 && tried == failed + apart)
      textgrid_put(b->g, column, b->row, 0x25cb, 'o');
    else if (tried > 0)
      put_share(b, column, (double)tried / (double)(end - first));
  }
}

static void put_choice(const block *b, size_t choice, const plot_tally *tally) {
  const plot_data *data = b->data;
  char text[TICK_LABEL];
  const int tried_end = b->label + b->strip + TRIED_COLUMNS;
  textgrid_text(b->g, 2, b->row, data->params[b->param].labels[choice], b->label - 3);
  put_strip(b, choice);
  snprintf(text, sizeof text, "%zu", tally->tried);
  textgrid_text_left_of(b->g, tried_end, b->row, text, TRIED_COLUMNS);
  snprintf(text, sizeof text, "%zu", tally->failed);
  if (b->failed > 0)
    textgrid_text_left_of(b->g, tried_end + b->failed, b->row, text, b->failed);
  if (tally->tried == tally->failed)
    return;
  const int best_end = tried_end + b->failed + BEST_COLUMNS;
  textgrid_text_left_of(b->g, best_end, b->row,
                        scale_number(data->value[tally->best], 4, text), BEST_COLUMNS);
  if (tally->best == data->best)
    textgrid_put(b->g, best_end + 1, b->row, 0x25c6, '*');
}

static cocabo_status put_block(block *b, cocabo_error *err) {
  const plot_param *param = &b->data->params[b->param];
  plot_tally *tally = cb_calloc(param->choices, sizeof *tally);
  size_t *rows = cb_calloc(param->choices, sizeof *rows);
  const bool ok = tally && rows;
  if (ok) {
    plot_count(b->data, b->param, tally);
    const size_t n = plot_choose_rows(b->data, b->param, tally, MOST_ROWS, rows);
    char text[64];
    const int end = textgrid_text(b->g, 0, b->row, param->name, b->label + b->strip);
    snprintf(text, sizeof text, ": %zu best of %zu", n, param->choices);
    if (n < param->choices)
      textgrid_text(b->g, end, b->row, text, b->g->columns - end);
    for (size_t i = 0; i < n; i++) {
      b->row++;
      put_choice(b, rows[i], &tally[rows[i]]);
    }
    b->row += 2;
  }
  cb_free(tally);
  cb_free(rows);
  return ok ? COCABO_OK : cb_no_memory(err);
}

static int label_columns(const plot_data *data, const size_t *params, size_t n) {
  int widest = 0;
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < data->params[params[i]].choices; k++) {
      const int width = textgrid_width(data->params[params[i]].labels[k]);
      widest = width > widest ? width : widest;
    }
  return (widest < LABEL_COLUMNS ? widest : LABEL_COLUMNS) + 3;
}

static int rows_of_blocks(const plot_data *data, const size_t *params, size_t n) {
  int rows = 0;
  for (size_t i = 0; i < n; i++) {
    const size_t choices = data->params[params[i]].choices;
    rows += (int)(choices < MOST_ROWS ? choices : MOST_ROWS) + 2;
  }
  return rows;
}

static cocabo_status put_blocks(block *b, const size_t *params, size_t n,
                                cocabo_error *err) {
  const int tried_end = b->label + b->strip + TRIED_COLUMNS;
  textgrid_text(b->g, b->label, 0, "trials in their order", b->strip);
  textgrid_text_left_of(b->g, tried_end, 0, "tried", TRIED_COLUMNS);
  if (b->failed > 0)
    textgrid_text_left_of(b->g, tried_end + b->failed, 0, "failed", b->failed);
  textgrid_text_left_of(b->g, tried_end + b->failed + BEST_COLUMNS, 0, "best",
                        BEST_COLUMNS);
  b->row = 1;
  for (size_t i = 0; i < n; i++) {
    b->param = params[i];
    CB_TRY(put_block(b, err));
  }
  return COCABO_OK;
}

cocabo_status textplot_categories(const plot_data *data, textplot_page page,
                                  front_buffer *out, cocabo_error *err) {
  size_t params[COCABO_MAX_PARAMETERS], all[COCABO_MAX_PARAMETERS];
  const size_t n = plot_choose_params(data, true, MOST_BLOCKS, params);
  if (n == 0)
    return plot_no_choices(data, err);
  const size_t of = plot_choose_params(data, true, COCABO_MAX_PARAMETERS, all);
  CB_TRY(textplot_put_heading(data, "choices over time", n, of, page, out, err));
  textgrid g;
  CB_TRY(textgrid_begin(&g, page.columns, rows_of_blocks(data, params, n), page.unicode,
                        err));
  block b = {.data = data,
             .g = &g,
             .label = label_columns(data, params, n),
             .failed = data->n > data->complete ? FAILED_COLUMNS : 0};
  b.strip = page.columns - b.label - TRIED_COLUMNS - b.failed - BEST_COLUMNS - 2;
  while (b.strip < LEAST_STRIP && b.label > LEAST_LABEL)
    b.label--, b.strip++;
  cocabo_status status = put_blocks(&b, params, n, err);
  if (status == COCABO_OK)
    status = textgrid_print(&g, out, err);
  textgrid_free(&g);
  return status == COCABO_OK ? textplot_put_legend("", data, 0, page, out, err)
                             : status;
}
