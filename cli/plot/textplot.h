/* textplot.h - the pictures of plot.h in characters, for a terminal. */
#ifndef CLI_TEXTPLOT_H
#define CLI_TEXTPLOT_H

#include "plot/plot.h"
#include "plot/textgrid.h"

enum { TEXTPLOT_MIN_COLUMNS = 40 };

typedef struct textplot_page {
  int columns;  /* >= TEXTPLOT_MIN_COLUMNS; no line is longer */
  bool unicode; /* false: ASCII */
  int rows;     /* of the area of a history; 0: as it likes */
} textplot_page;

/* The page that standard output is: as wide as $COLUMNS says or the terminal is, else
 * 80, and in Unicode where the locale's characters are UTF-8. */
textplot_page textplot_find_page(void);

/* Appends the picture to *out. As for plot_draw, there is something to show, and
 * COCABO_E_STATE means that the study has not what this kind shows. */
cocabo_status textplot_draw(plot_kind kind, const plot_data *data, textplot_page page,
                            front_buffer *out, cocabo_error *err);

/* ---- for the kinds --------------------------------------------------------------- */

typedef cocabo_status textplot_drawer(const plot_data *data, textplot_page page,
                                      front_buffer *out, cocabo_error *err);
textplot_drawer textplot_history, textplot_slice, textplot_parallel,
    textplot_categories, textplot_importance, textplot_steps;

/* Axes around `rows` rows from the top, of which y and x are scales to characters, and
 * two rows below for x; and the columns that the labels of y take with the axis. */
void textplot_put_axes(textgrid *g, const scale *x, const scale *y, int left, int rows);
int textplot_axis_width(const scale *y);

/* A line of words, broken where the page ends. */
cocabo_status textplot_put_words(const char *text, textplot_page page,
                                 front_buffer *out, cocabo_error *err);
/* Title, description (see plot_describe) and an empty line. */
cocabo_status textplot_put_heading(const plot_data *data, const char *what,
                                   size_t shown, size_t of, textplot_page page,
                                   front_buffer *out, cocabo_error *err);

/* What the signs mean: `start`, which may be empty, then the best trial's, that of
 * trials beyond the range, if there are, and that of trials without a value. */
cocabo_status textplot_put_legend(const char *start, const plot_data *data,
                                  size_t beyond, textplot_page page, front_buffer *out,
                                  cocabo_error *err);

#endif
