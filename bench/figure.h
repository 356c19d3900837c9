/* figure.h - pictures of results: what `figure` draws and `report` puts on its page. */
#ifndef BENCH_FIGURE_H
#define BENCH_FIGURE_H

#include "common/canvas.h"
#include "experiment.h"
#include "groups.h"

/* The paper's Figures 3 and 4: mean best values with bands of one standard error, a
 * panel for each problem and a curve for each method. */
typedef struct bench_curves {
  const bench_groups *groups; /* followed all along */
  const char *title;          /* NULL: none */
  const char *problems;       /* "a,b": these, in this order; NULL: all */
  const char *methods;        /* "a,b": these; NULL: all */
  bool regret; /* what is missing to the optimum, on a logarithmic scale */
} bench_curves;

/* The whole picture; the caller frees the canvas in any case. COCABO_E_NOT_FOUND, with
 * a sentence, where there is nothing to draw. */
cocabo_status bench_draw_curves(const bench_curves *what, canvas *c, cocabo_error *err);

/* The paper's Figure 2: the categories that one study chose, how often, and how their
 * chances changed. */
cocabo_status bench_draw_categories(const bench_experiment *experiment,
                                    cocabo_study *study, const char *title, canvas *c,
                                    cocabo_error *err);

#endif
