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
 * With `tries` a node takes the best of so many random cuts of each variable instead
 * (Geurts et al., 2006): a category with many values does not win by having more
 * subsets to choose from. Its random subsets are halves of all its values.
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
  int tries;      /* random cuts of each variable that a node tries; 0: all cuts */
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

/* Rows by chance, in place of the bootstrap: each tree draws `size` > 0 of them, row i
 * with probability in proportion to until[i] - until[i-1]. The trees that have not
 * drawn a row say what they predict for it. */
typedef struct cb_forest_sample {
  int size;
  const double *until;   /* n, rising: sums of the rows' weights, each >= 0 */
  double *unseen;        /* n, out: sum of those predictions; NULL: nobody asks */
  int32_t *unseen_trees; /* n, out: how many they are */
} cb_forest_sample;
cocabo_status cb_forest_fit_sample(cb_forest *forest, int n, const double *x,
                                   const int32_t *h, const double *y,
                                   const cb_forest_sample *sample, cb_rng *rng,
                                   cocabo_error *err);

/* Mean and variance >= 0 at m points. Never allocates; one forest serves one thread. */
void cb_forest_predict(cb_forest *forest, int m, const double *x, const int32_t *h,
                       double *mean, double *variance);

/* The variance of the trees' means at one point: how far the mean is from certain. */
double cb_forest_spread(const cb_forest *forest, const double *x, const int32_t *h);

#endif
