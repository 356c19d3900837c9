/* revisit.h - going back to levels of categories that look bad.
 *
 * A level is dropped after a few bad results, and the model may be wrong about it for
 * ever (decisions 0026, 0028, 0029 and 0034).
 */
#ifndef CB_SAMPLER_REVISIT_H
#define CB_SAMPLER_REVISIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "log/history.h"
#include "model/gp.h"
#include "sampler/feasibility.h"

/* Is there a change of one category that is active at the incumbent `top` which was
 * never tried? (x, h) is the top with values for what is inactive there; h is the same
 * again when the call returns. `cells` is room for a point. */
bool cb_revisit_has_untried(const cb_history *history, const cb_trial *top,
                            const double *x, int32_t *h, cb_cell *cells);

/* What is known where a revisit sets out from. */
typedef struct cb_revisit_place {
  const cb_history *history;
  cb_gp *gp;                         /* of the values, and */
  const cb_feasibility *feasibility; /* of success: both follow the history */
  const cb_trial *top;               /* the incumbent, */
  const double *x;                   /* and it with values for what is inactive there */
  cb_cell *cells;                    /* room for a point, */
  int64_t *seen; /* and for a number more than any category has levels */
} cb_revisit_place;

/* Changes one category of h (in and out: the incumbent's) that is active at the
 * incumbent: of the changes that were never tried that with the highest upper bound at
 * x. If all were, it changes two with probability `pairs`, of some pairs that were
 * never tried likewise; else one to the level with the smallest share of the trials, as
 * a share of even use. What the models expect to fail is left alone, and a level that
 * did nothing else. False, and h as it was: there is no other level. */
bool cb_revisit(const cb_revisit_place *at, double pairs, int32_t *h, cb_rng *rng);

#endif
