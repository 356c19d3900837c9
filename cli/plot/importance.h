/* importance.h - how much of the variation of the values each parameter accounts for.
 *
 * A forest of randomised trees learns the values as a function f of the parameters. The
 * variance of f over the whole space, every parameter spread evenly over its domain, is
 * then shared out as Shapley effects: a parameter's own effect counts in full and an
 * interaction in equal parts among those that interact, so that the shares add up to
 * one. docs/design/decisions/0007-importance.md says why.
 *
 * Spaces come in a plain form: a number is a position in [0,1] on its own scale
 * (logarithmic where the parameter is), a choice is its index. The answer depends on
 * nothing but the arguments, is the same for minimising and maximising, and no single
 * outlier decides it.
 */
#ifndef CLI_IMPORTANCE_H
#define CLI_IMPORTANCE_H

#include <stddef.h>

#include "cocabo.h"

typedef struct importance_data {
  size_t d, n;           /* parameters, trials */
  const size_t *choices; /* d: how many choices, or 0 for a number */
  const double *points;  /* d x n, column-major: trial i is points[i*d .. i*d+d-1] */
  const double *values;  /* n, finite */
} importance_data;

/* Fewer trials than this show nothing. */
enum { IMPORTANCE_MIN_TRIALS = 4 };

/* share[0..d-1] >= 0 with sum 1. *explained, in [0,1], says how well the forest
 * predicts trials that it has not seen: the share of their variance; near 0 the values
 * look like noise and the shares mean nothing. COCABO_E_STATE, with a sentence that
 * says what is missing, if there are too few trials, if all values are equal, or if no
 * parameter varies. */
cocabo_status importance_compute(const importance_data *data, double *share,
                                 double *explained, cocabo_error *err);

#endif
