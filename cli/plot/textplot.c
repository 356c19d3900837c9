/* textplot.c - finds the size of the terminal and whether it shows UTF-8, and calls
 * the drawer of a kind. */
#define _DEFAULT_SOURCE /* struct winsize */

#include "plot/textplot.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/base.h"

/* ---- the page ------------------------------------------------------------------- */

enum { MOST_COLUMNS = 400 };

static int find_columns(void) {
  const char *text = getenv("COLUMNS");
  char *end;
  const long said = text ? strtol(text, &end, 10) : 0;
  if (text && *text && *end == '\0' && said > 0)
    return said < MOST_COLUMNS ? (int)said : MOST_COLUMNS;
  struct winsize size;
  if (ioctl(fileno(stdout), TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return size.ws_col < MOST_COLUMNS ? size.ws_col : MOST_COLUMNS;
  return 80;
}

/* As setlocale would say, but without setting one: numbers shall keep their point. */
static bool is_utf8(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  const char *locale = NULL;
  for (size_t i = 0; i < 3 && (!locale || *locale == '\0'); i++)
    locale = getenv(names[i]);
  const char *set = locale ? strchr(locale, '.') : NULL;
  return set &&
         (strncasecmp(set, ".utf-8", 6) == 0 || strncasecmp(set, ".utf8", 5) == 0);
}

textplot_page textplot_find_page(void) {
  const int columns = find_columns();
  return (textplot_page){
      .columns = columns > TEXTPLOT_MIN_COLUMNS ? columns : TEXTPLOT_MIN_COLUMNS,
      .unicode = is_utf8()};
}

/* ---- lines of text -------------------------------------------------------------- */

cocabo_status textplot_put_words(const char *text, textplot_page page,
                                 front_buffer *out, cocabo_error *err) {
  int used = 0;
  while (*text) {
    const size_t size = strcspn(text, " ");
    char word[CANVAS_FITTED];
    snprintf(word, sizeof word, "%.*s", (int)size, text);
    const int width = textgrid_width(word);
    if (used > 0 && used + 1 + width > page.columns) {
      CB_TRY(front_buffer_puts(out, "\n", err));
      used = 0;
    }
    CB_TRY(front_buffer_puts(out, used > 0 ? " " : "", err));
    CB_TRY(front_buffer_append(out, text, size, err));
    used += width + (used > 0);
    text += size + (text[size] == ' ');
  }
  return front_buffer_puts(out, "\n", err);
}

cocabo_status textplot_put_heading(const plot_data *data, const char *what,
                                   size_t shown, size_t of, textplot_page page,
                                   front_buffer *out, cocabo_error *err) {
  char text[CANVAS_FITTED];
  plot_make_title(data, what, text);
  CB_TRY(textplot_put_words(text, page, out, err));
  plot_describe(data, shown, of, text);
  plot_sign_errors(text, page.unicode);
  CB_TRY(textplot_put_words(text, page, out, err));
  return front_buffer_puts(out, "\n", err);
}

cocabo_status textplot_put_legend(const char *start, const plot_data *data,
                                  size_t beyond, textplot_page page, front_buffer *out,
                                  cocabo_error *err) {
  const bool u = page.unicode;
  char text[CANVAS_FITTED];
  int size = snprintf(text, sizeof text, "%s%s %s", start, u ? "\u25c6" : "*",
                      data->noisy && !data->modelled ? "luckiest" : "best");
  if (beyond > 0)
    size += snprintf(
        text + size, sizeof text - (size_t)size, "   %s worse than shown (%zu)",
        data->maximize ? (u ? "\u25bc" : "v") : (u ? "\u25b2" : "^"), beyond);
  if (data->n_apart > 0)
    size += snprintf(text + size, sizeof text - (size_t)size, "   %s infeasible (%zu)",
                     u ? "\u25cb" : "o", data->n_apart);
  if (data->n > data->complete)
    snprintf(text + size, sizeof text - (size_t)size, "   %s failed (%zu)",
             u ? "\u00d7" : "x", data->n - data->complete);
  return textplot_put_words(text, page, out, err);
}

/* ---- axes ----------------------------------------------------------------------- */

enum { TICKS = 5 };

int textplot_axis_width(const scale *y) {
  ticks t;
  char label[TICK_LABEL];
  int most = 0;
  ticks_find(y, TICKS, &t);
  for (int i = 0; i < t.n; i++) {
    const int width = (int)strlen(ticks_label(&t, i, label)) + 2;
    most = width > most ? width : most;
  }
  return most;
}

static void put_axis_left(textgrid *g, const scale *y, int left, int rows) {
  ticks t;
  char label[TICK_LABEL];
  for (int row = 0; row < rows; row++)
    textgrid_put(g, left - 1, row, 0x2502, '|');
  ticks_find(y, TICKS, &t);
  for (int i = 0; i < t.n; i++) {
    const int row = (int)scale_at(y, t.at[i]);
    textgrid_text_left_of(g, left - 1, row, ticks_label(&t, i, label), left);
    textgrid_put(g, left - 1, row, 0x2524, '+');
  }
}

void textplot_put_axes(textgrid *g, const scale *x, const scale *y, int left,
                       int rows) {
  ticks t;
  char label[TICK_LABEL];
  put_axis_left(g, y, left, rows);
  for (int column = left; column < g->columns; column++)
    textgrid_put(g, column, rows, 0x2500, '-');
  textgrid_put(g, left - 1, rows, 0x2514, '+');
  ticks_find_whole(x, (g->columns - left) / 8, &t);
  for (int i = 0; i < t.n; i++) {
    const int column = (int)scale_at(x, t.at[i]);
    ticks_label(&t, i, label);
    const int width = (int)strlen(label), limit = g->columns - width;
    const int middle = column - width / 2;
    textgrid_put(g, column, rows, 0x252c, '+');
    textgrid_text(g, middle < limit ? middle : limit, rows + 1, label, width);
  }
}

/* ---- all kinds ------------------------------------------------------------------ */

cocabo_status textplot_draw(plot_kind kind, const plot_data *data, textplot_page page,
                            front_buffer *out, cocabo_error *err) {
  static textplot_drawer *const drawers[] = {
      [PLOT_HISTORY] = textplot_history,       [PLOT_SLICE] = textplot_slice,
      [PLOT_PARALLEL] = textplot_parallel,     [PLOT_CATEGORIES] = textplot_categories,
      [PLOT_IMPORTANCE] = textplot_importance, [PLOT_STEPS] = textplot_steps,
  };
  return drawers[kind](data, page, out, err);
}
