/* quasirandom.c - scrambled Sobol points: like random ones, but evenly spread.
 *
 * A point's place in the sequence is the number of points that samplers proposed before
 * it, so it does not matter in which batches or by how many workers they are asked for.
 * Each parameter is one dimension. The seed names the scrambling.
 *
 * Where there are rules, the sequence is that of the points that keep them. They are
 * counted from the beginning, since a place says nothing of how many are before it.
 */
#include "base/sobol.h"
#include "base/status.h"
#include "sampler/sampler.h"
#include "sampler/samplers.h"

_Static_assert(COCABO_MAX_PARAMETERS <= CB_SOBOL_DIMENSIONS, "a dimension for each");

static cocabo_status create(void **state, const cocabo_space *space,
                            const cb_settings *settings, cocabo_error *err) {
  (void)space, (void)settings, (void)err;
  *state = NULL; /* nothing to remember */
  return COCABO_OK;
}

static void destroy(void *state) {
  (void)state;
}

static void point_at(const cocabo_space *space, uint64_t seed, uint64_t place,
                     cb_cell *cells) {
  double u[COCABO_MAX_PARAMETERS];
  for (int i = 0; i < space->n; i++)
    u[i] = cb_sobol_scrambled(seed, i, (uint32_t)place);
  cb_space_at(space, u, cells);
}

enum { RARE = 1000 }; /* so many places for each point that is allowed, and no more */

/* The place where the walk for the point begins that has `before` others before it.
 * False where those that are allowed are too rare, or too many to be counted. */
static bool find_place(const cocabo_space *space, uint64_t seed, uint64_t before,
                       uint64_t *place) {
  enum { MOST = 100000 };
  cb_cell cells[COCABO_MAX_PARAMETERS];
  uint64_t found = 0;
  *place = space->n_rules == 0 ? before : 0;
  if (space->n_rules == 0)
    return true;
  for (; found < before && *place < MOST && *place < (found + 2) * RARE; ++*place) {
    point_at(space, seed, *place, cells);
    found += cb_space_allows(space, cells);
  }
  return found == before;
}

/* A point that is known is passed over. The walk may start at this point's own place,
 * because all places before it have been proposed or passed over by now: together the
 * proposals are the sequence without its repeats. */
static void propose_point(const cb_ask *ask, cb_proposal *out, int k) {
  enum { TRIES = 200 };
  const cb_history *history = ask->history;
  const uint64_t seed = ask->settings->seed;
  const uint64_t before = (uint64_t)history->n_sampled + (uint64_t)k;
  uint64_t tries = history->space->n_rules > 0 ? RARE : TRIES, place;
  out[k].drawn = false;
  if (!find_place(history->space, seed, before, &place))
    tries = 0;
  for (uint64_t i = 0; i < tries; i++) {
    point_at(history->space, seed, place + i, out[k].cells);
    if (cb_ask_is_fresh(ask, out, k, out[k].cells))
      return;
  }
  cb_rng rng = cb_rng_make(seed, CB_RNG_RANDOM, (uint64_t)ask->number + (uint64_t)k);
  cb_ask_random_point(ask, &rng, out, k);
}

static cocabo_status propose(void *state, const cb_ask *ask, cb_proposal *out,
                             cocabo_error *err) {
  (void)state;
  CB_TRY(cb_ask_has_room(ask, err));
  for (int k = 0; k < ask->batch; k++) {
    CB_TRY(cb_ask_poll(ask, err));
    propose_point(ask, out, k);
  }
  return COCABO_OK;
}

const cb_sampler cb_sampler_sobol = {
    .name = "sobol",
    .revision = 2,
    .help = "scrambled Sobol points: evenly spread, whatever the results",
    .constrains = true,
    .create = create,
    .destroy = destroy,
    .propose = propose,
};
