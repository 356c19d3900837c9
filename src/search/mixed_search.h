/* mixed_search.h - maximise an acquisition over x and h together.
 *
 *   1  score a pool of points in one block: half uniform, half around the incumbent
 *   2  from the best few, alternate until neither helps:
 *        climb over x by quasi-Newton steps, snapped to its grid
 *        move to the best neighbour: one category changed, or one step on a grid
 *
 * What comes out is a ranking, because the best point may be taken already.
 */
#ifndef CB_SEARCH_MIXED_SEARCH_H
#define CB_SEARCH_MIXED_SEARCH_H

#include <stdint.h>

#include "base/rng.h"
#include "cocabo.h"
#include "model/gp.h"
#include "search/acquisition.h"
#include "search/domain.h"

typedef struct cb_mixed_search cb_mixed_search;

/* A workspace; the domain is copied. *out is owned by the caller. */
cocabo_status cb_mixed_search_new(cb_mixed_search **out, const cb_domain *domain,
                                  cocabo_error *err);
void cb_mixed_search_free(cb_mixed_search *search); /* NULL is allowed */

/* Where to look, and how hard. */
typedef struct cb_search_plan {
  const double *x, *lower, *upper; /* d: the incumbent, and the box to stay in */
  const int32_t *h;                /* c: the incumbent */
  int pool, starts;                /* at most 1000 and 8 */
} cb_search_plan;

/* x and h NULL: there is no incumbent; lower and upper NULL: the whole cube. Returns
 * how many points were ranked. */
int cb_mixed_search_run(cb_mixed_search *search, cb_gp *gp, const cb_acquire *acquire,
                        const cb_search_plan *plan, cb_rng *rng);

/* Point `rank` (0 = best) of the last run, borrowed until the next. */
void cb_mixed_search_ranked(const cb_mixed_search *search, int rank, const double **x,
                            const int32_t **h);

#endif
