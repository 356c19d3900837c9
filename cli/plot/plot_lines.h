/* plot_lines.h - what trials reported of their values so far, as lines to draw. */
#ifndef CLI_PLOT_LINES_H
#define CLI_PLOT_LINES_H

#include "plot/plot.h"

/* Of many trials the best and the newest are shown. */
enum { PLOT_MOST_LINES = 40, PLOT_BEST_LINES = 20 };

typedef struct plot_line {
  int64_t number;
  cocabo_trial_state state;
  double value; /* of a complete one */
  bool best;    /* the study's */
  size_t n;     /* 1 or more */
  cocabo_step *steps;
} plot_line;

typedef struct plot_lines {
  size_t n, of;            /* shown, and trials that reported */
  plot_line *lines;        /* to be drawn in this order: the best one is the last */
  size_t failed, complete; /* of those shown */
  double first, last;      /* steps; first < last */
  plot_range range;        /* of the values */
} plot_lines;

/* COCABO_E_STATE, with a sentence, if no trial reported. On failure there is nothing to
 * free. */
cocabo_status plot_lines_find(const plot_data *data, plot_lines *out,
                              cocabo_error *err);
void plot_lines_free(plot_lines *lines);

cocabo_status plot_no_reports(const plot_data *data, cocabo_error *err);

/* What is not shown, "" if all is: "(40 of 200 lines, the best and the newest)". */
enum { PLOT_LEFT_OUT = 160 };
const char *plot_lines_left_out(const plot_data *data, const plot_lines *lines,
                                char out[PLOT_LEFT_OUT]);

#endif
