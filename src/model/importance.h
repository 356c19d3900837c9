/* importance.h - how much of the variation of the values each variable accounts for.
 *
 * A forest of randomised trees learns the values as a function f of the variables. The
 * variance of f over the whole space is then shared out as Shapley effects: a
 * variable's own effect counts in full and an interaction in equal parts among those
 * that interact, so that the shares add up to one.
 * docs/design/decisions/0007-importance.md says why.
 *
 * The answer is the same for minimising and maximising, and no single outlier decides
 * it. What "the whole space" is, the caller says with random points of it.
 */
#ifndef CB_MODEL_IMPORTANCE_H
#define CB_MODEL_IMPORTANCE_H

#include <stdint.h>

#include "base/rng.h"
#include "cocabo.h"

/* Shapes as in forest.h: x is d x n, h is c x n. Everything is borrowed. */
typedef struct cb_importance_data {
  int d, c;            /* rows of x, in [-1,1], and categories; d + c > 0 */
  int presences;       /* the last rows of x: what settle makes of the others */
  const int32_t *arms; /* c */
  int n;               /* rows */
  const double *x;
  const int32_t *h;
  const double *y; /* finite */
  int walks;       /* pairs of random points of the space */
  const double *ends_x;
  const int32_t *ends_h; /* 2 x walks points, uniform and independent */

  /* NULL, or what makes a point out of values for all variables, where some are
   * inactive. The ends have values for all; f is what the forest says of the point. */
  void (*settle)(const void *space, double *x, int32_t *h);
  const void *space;
} cb_importance_data;

enum {
  CB_IMPORTANCE_LEAST = 4,  /* fewer rows show nothing */
  CB_IMPORTANCE_MOST = 2000 /* more take long and show no more: every so many-th does */
};

/* How many walks are enough for so many variables, and affordable. */
int cb_importance_walks(int variables);

/* share of each variable (numbers without the presences, then categories): >= 0 with
 * sum 1. se, unless it is NULL, are the shares' standard errors, which cost twice as
 * much again: how far a share would be off with other rows. *explained, in [0,1], says
 * how well the forest predicts rows that it has not seen: the share of their variance;
 * near 0 the values look like noise and the shares mean nothing. COCABO_E_STATE, with a
 * sentence that says what is missing, if there are too few rows, if all values are
 * equal, or if no variable varies. */
cocabo_status cb_importance(const cb_importance_data *data, cb_rng *rng, double *share,
                            double *se, double *explained, cocabo_error *err);

#endif
