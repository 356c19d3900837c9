/* repeats.h - how sure points may be, by how often results repeat themselves.
 *
 * A value that the nearest result had already has taught next to nothing: only what
 * does not matter was changed, and the model, which cannot know that it does not matter
 * at all, would go on changing it. So points must be the less sure the more results
 * repeat themselves (decision 0028). With categories, ties with the best count for
 * long, other repetitions for a few results (decision 0033).
 */
#ifndef CB_SAMPLER_REPEATS_H
#define CB_SAMPLER_REPEATS_H

#include "log/history.h"
#include "model/kernel.h"

/* The least deviation, in standardised units, of a point that is worth a trial: a fold
 * over the last results of the sampler. What is near is what the kernel takes for it.
 */
double cb_repeats_demand(const cb_history *history, const cb_kernel *kernel);

#endif
