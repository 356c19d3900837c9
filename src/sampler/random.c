/* random.c - uniform random points: the initial design, and the baseline sampler.
 *
 * Each point has its own stream, named by its trial number, so it does not matter in
 * which batches, by which sampler or by how many workers the points are asked for. But
 * the design keeps away from failures that are known when it is asked: where programs
 * crash in a large part of the space, it would waste as large a part of its trials.
 */
#include <math.h>

#include "sampler/sampler.h"
#include "sampler/samplers.h"

/* Is the nearest failure, as distances go, not much farther than the nearest result?
 * Twice its square was best of 1, 2, 3, 4 and 9 (decision 0018). */
static bool lies_by_a_failure(const cb_history *history, const cb_cell *cells) {
  const cocabo_space *space = history->space;
  double x[COCABO_MAX_PARAMETERS], failed = INFINITY, complete = INFINITY;
  int32_t h[COCABO_MAX_PARAMETERS];
  cb_space_encode(space, cells, x, h);
  for (int64_t i = 0; i < history->n_failed; i++) {
    const cb_trial *t = &history->trials[history->failed[i]];
    if (cb_trial_teaches(t))
      failed = fmin(failed, cb_points_apart(space, x, h, t->x, t->h));
  }
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *t = &history->trials[history->told[i]];
    complete = fmin(complete, cb_points_apart(space, x, h, t->x, t->h));
  }
  return failed < 2.0 * complete;
}

static void draw_point(const cb_ask *ask, cb_purpose purpose, cb_proposal *out, int k) {
  enum { TRIES = 100 };
  const cb_history *history = ask->history;
  const bool avoids =
      purpose == CB_RNG_DESIGN && history->n > 0 && history->n_failed > 0;
  cb_rng rng =
      cb_rng_make(ask->settings->seed, purpose, (uint64_t)ask->number + (uint64_t)k);
  cb_ask_random_point(ask, &rng, out, k);
  for (int i = 1; i < TRIES && avoids && lies_by_a_failure(history, out[k].cells); i++)
    cb_ask_random_point(ask, &rng, out, k);
}

static cocabo_status propose_random(const cb_ask *ask, cb_purpose purpose,
                                    cb_proposal *out, cocabo_error *err) {
  const cocabo_status room = cb_ask_has_room(ask, err);
  if (room != COCABO_OK)
    return room;
  for (int k = 0; k < ask->batch; k++)
    draw_point(ask, purpose, out, k);
  return COCABO_OK;
}

int64_t cb_design_size(const cocabo_space *space) {
  const int64_t wanted = 2 * (int64_t)space->n + 2;
  return wanted < 24 ? wanted : 24;
}

void cb_design_point(const cb_ask *ask, cb_proposal *out, int k) {
  draw_point(ask, CB_RNG_DESIGN, out, k);
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
