/* forest.h - random forest regression with a variance (Breiman, 2001; Hutter et al.,
 * 2014).
 *
 * Every tree is grown on its own bootstrap sample. A node is cut where the squared
 * error falls most, all variables tried:
 *
 *   numbers     x_j <= cut, with cut drawn uniformly between the two neighbours: over
 *               many trees a gap in the data is bridged linearly, and with variance
 *   categories  h_j in a subset. In order of their mean targets one cut gives the best
 *               of all subsets; categories that the node has not seen go either way by
 *               chance
 *
 * Equally good variables have equal chances. A leaf has the mean and the variance of
 * its targets; over the trees, by the law of total variance,
 *
 *   mean      = average of the leaves' means
 *   variance  = average of the leaves' variances + variance of the leaves' means
 *
 * Shapes: x is d x n and h is c x n, column-major, 0 <= h[j + i*c] < arms[j].
 */
#ifndef CB_MODEL_FOREST_H
#define CB_MODEL_FOREST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "cocabo.h"

typedef struct cb_forest_spec {
  int d, c;            /* d + c > 0 */
  const int32_t *arms; /* c: N_j; copied */
  int trees;
  bool bootstrap; /* else every tree sees all rows once */
  int min_split;  /* distinct rows that a node must have to be cut, >= 2 */
  int min_leaf;   /* and that each side must get, >= 1 */
} cb_forest_spec;

typedef struct cb_forest cb_forest;

/* *out is owned by the caller. It predicts nothing before a fit. */
cocabo_status cb_forest_new(cb_forest **out, const cb_forest_spec *spec,
                            cocabo_error *err);
void cb_forest_free(cb_forest *forest); /* NULL is allowed */

/* Grows all trees anew on n > 0 rows, in O(trees n depth (d + c)). Everything is only
 * read here. Targets are finite, and so are sums of their squares. After a failure the
 * forest must be fitted again before it predicts. */
cocabo_status cb_forest_fit(cb_forest *forest, int n, const double *x, const int32_t *h,
                            const double *y, cb_rng *rng, cocabo_error *err);

/* Mean and variance >= 0 at m points. Never allocates; one forest serves one thread. */
void cb_forest_predict(cb_forest *forest, int m, const double *x, const int32_t *h,
                       double *mean, double *variance);

#endif
