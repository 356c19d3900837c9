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
  int d, c;            /* numbers, in [-1,1], and categories; d + c > 0 */
  const int32_t *arms; /* c */
  int n;               /* rows */
  const double *x;
  const int32_t *h;
  const double *y; /* finite */
  int walks;       /* pairs of random points of the space */
  const double *ends_x;
  const int32_t *ends_h; /* 2 x walks points, uniform and independent */
} cb_importance_data;

enum {
  CB_IMPORTANCE_LEAST = 4,  /* fewer rows show nothing */
  CB_IMPORTANCE_MOST = 2000 /* more take long and show no more: every so many-th does */
};

/* How many walks are enough for so many variables, and affordable. */
int cb_importance_walks(int variables);

/* share[0 .. d+c-1], numbers first: >= 0 with sum 1. se[0 .. d+c-1], unless it is NULL,
 * are the shares' standard errors, which cost twice as much again: how far a
 * share would be off with other rows. *explained, in [0,1], says how
 * well the forest predicts rows that it has not seen: the share of their variance; near
 * 0 the values look like noise and the shares mean nothing. COCABO_E_STATE, with a
 * sentence that says what is missing, if there are too few rows, if all values are
 * equal, or if no variable varies. */
cocabo_status cb_importance(const cb_importance_data *data, cb_rng *rng, double *share,
                            double *se, double *explained, cocabo_error *err);

#endif
