/* samplers.h - what the samplers share: the list of them, and fresh random points. */
#ifndef CB_SAMPLER_SAMPLERS_H
#define CB_SAMPLER_SAMPLERS_H

#include "base/rng.h"
#include "sampler/sampler.h"

extern const cb_sampler cb_sampler_mixed;
extern const cb_sampler cb_sampler_cocabo;
extern const cb_sampler cb_sampler_random;
extern const cb_sampler cb_sampler_sobol;
extern const cb_sampler cb_sampler_tpe;
extern const cb_sampler cb_sampler_smac;

/* May these cells be proposed as point k of the batch? Not if the objective is
 * deterministic and they are in the history or among out[0..k-1]. */
bool cb_ask_is_fresh(const cb_ask *ask, const cb_proposal *out, int k,
                     const cb_cell *cells);

/* COCABO_E_EXHAUSTED unless the space still has ask->batch fresh points. */
cocabo_status cb_ask_has_room(const cb_ask *ask, cocabo_error *err);

/* out[k].cells becomes a uniform random fresh point; call cb_ask_has_room before. */
void cb_ask_random_point(const cb_ask *ask, cb_rng *rng, cb_proposal *out, int k);

#endif
