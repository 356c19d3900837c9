/* search.h - maximise an acquisition over numbers and categories together.
 *
 *   1  score a pool of random points, half of them near the incumbent
 *   2  from the best few, alternate until neither helps:
 *        climb over x with a quasi-Newton method, then snap to the grid
 *        move to the best neighbour: one category changed, or one step on a grid
 *
 * Where the categories are given (the paper's samplers draw them) the same search runs
 * with h fixed: all of the pool has it, and no move changes it.
 *
 * Where conditions or rules say which (x, h) are points (domain.h) all of the pool,
 * every neighbour and every result is one that they allow. A climb moves the numbers
 * that are active, and is pushed back along the boundary of a rule. What a neighbour
 * wakes up has the incumbent's value, if that says one, or is drawn.
 *
 * Every acquisition grows with the deviation. With many observations the pool and the
 * neighbours are therefore ranked by their means and a cheap upper bound on their
 * deviations first, and the exact deviation, O(n^2) each, is computed only for those
 * that can still be among the best.
 *
 * What comes out is a ranking, because the best point may be taken already.
 */
#ifndef CB_SEARCH_SEARCH_H
#define CB_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "cocabo.h"
#include "model/gp.h"
#include "search/acquisition.h"
#include "search/domain.h"

/* Indices of the best `keep` of n values into order, sorted, ties to the lower index;
 * NaN counts as -inf. Returns how many there are. For a short list: O(n) while few
 * change. */
int cb_rank_best(int n, const double *value, int keep, int *order);

typedef struct cb_search cb_search;

/* A workspace for pools of up to max_pool points; the domain is copied. *out is owned
 * by the caller. */
cocabo_status cb_search_new(cb_search **out, const cb_domain *domain, int max_pool,
                            cocabo_error *err);
void cb_search_free(cb_search *search); /* NULL is allowed */

/* Where to look, and how hard. */
typedef struct cb_search_plan {
  const double *x;             /* d: the incumbent, or NULL. It may have values for what
                                  is inactive there, with a presence of 1 */
  const int32_t *h;            /* c: the incumbent's, or the given ones; or NULL */
  bool fixed_h;                /* h is given */
  const double *lower, *upper; /* d: the box to stay in; NULL: the cube */
  int pool;                    /* at most max_pool */
  int starts;                  /* at most CB_SEARCH_STARTS */
  int evaluations;             /* of the acquisition, a climb */
} cb_search_plan;

enum { CB_SEARCH_STARTS = 8 };

/* Returns how many points were ranked. */
int cb_search_run(cb_search *search, cb_gp *gp, const cb_acquire *acquire,
                  const cb_search_plan *plan, cb_rng *rng);

/* Point `rank` (0 = best) of the last run, borrowed until the next. */
void cb_search_ranked(const cb_search *search, int rank, const double **x,
                      const int32_t **h);

#endif
