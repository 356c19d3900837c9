/* revisit.h - going back to levels of categories that look bad.
 *
 * A level is dropped after a few bad results, and the model may be wrong about it for
 * ever (decisions 0026, 0028 and 0029).
 */
#ifndef CB_SAMPLER_REVISIT_H
#define CB_SAMPLER_REVISIT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "log/history.h"
#include "model/gp.h"

/* Is there a change of one category that is active at the incumbent `top` which was
 * never tried? (x, h) is the top with values for what is inactive there; h is the same
 * again when the call returns. `cells` is room for a point. */
bool cb_revisit_has_untried(const cb_history *history, const cb_trial *top,
                            const double *x, int32_t *h, cb_cell *cells);

/* Changes one category of h (in and out, c of them) that is active at the incumbent
 * `top`: of the changes that were never tried that with the highest upper bound at x.
 * If all were, it changes two with probability `pairs`, of some pairs that were never
 * tried likewise; else one to the level with the smallest share of the trials, as a
 * share of even use. A level that did nothing but fail is left alone. False, and h as
 * it was: there is no other level. `cells` is room for a point, `seen` for a number
 * more than any category has levels. */
bool cb_revisit(const cb_history *history, cb_gp *gp, const cb_trial *top,
                const double *x, int32_t *h, cb_cell *cells, int64_t *seen,
                double pairs, cb_rng *rng);

#endif
