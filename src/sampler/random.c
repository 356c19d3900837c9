/* random.c - uniform random points: the initial design, and the baseline sampler.
 *
 * Each point has its own stream, named by its trial number, so it does not matter in
 * which batches, by which sampler or by how many workers the points are asked for.
 */
#include "sampler/sampler.h"
#include "sampler/samplers.h"

static cocabo_status propose_random(const cb_ask *ask, cb_purpose purpose,
                                    cb_proposal *out, cocabo_error *err) {
  const cocabo_status room = cb_ask_has_room(ask, err);
  if (room != COCABO_OK)
    return room;
  for (int k = 0; k < ask->batch; k++) {
    cb_rng rng =
        cb_rng_make(ask->settings->seed, purpose, (uint64_t)ask->number + (uint64_t)k);
    cb_ask_random_point(ask, &rng, out, k);
  }
  return COCABO_OK;
}

cocabo_status cb_design_propose(const cb_ask *ask, cb_proposal *out,
                                cocabo_error *err) {
  return propose_random(ask, CB_RNG_DESIGN, out, err);
}

static cocabo_status create(void **state, const cocabo_space *space,
                            const cb_settings *settings, cocabo_error *err) {
  (void)space, (void)settings, (void)err;
  *state = NULL; /* nothing to remember */
  return COCABO_OK;
}

static void destroy(void *state) {
  (void)state;
}

static cocabo_status propose(void *state, const cb_ask *ask, cb_proposal *out,
                             cocabo_error *err) {
  (void)state;
  return propose_random(ask, CB_RNG_RANDOM, out, err);
}

const cb_sampler cb_sampler_random = {
    .name = "random",
    .revision = 2,
    .help = "uniform random points",
    .constrains = true,
    .create = create,
    .destroy = destroy,
    .propose = propose,
};
