#include "sampler/sampler.h"

#include <string.h>

#include "base/status.h"
#include "sampler/samplers.h"

static const cb_sampler *const samplers[] = {&cb_sampler_mixed, &cb_sampler_cocabo,
                                             &cb_sampler_smac,  &cb_sampler_tpe,
                                             &cb_sampler_sobol, &cb_sampler_random};
enum { N_SAMPLERS = sizeof samplers / sizeof samplers[0] };

const cb_sampler *cb_sampler_at(int i) {
  return i >= 0 && i < N_SAMPLERS ? samplers[i] : NULL;
}

const cb_sampler *cb_sampler_find(const char *name) {
  for (int i = 0; i < N_SAMPLERS; i++)
    if (strcmp(samplers[i]->name, name) == 0)
      return samplers[i];
  return NULL;
}

cocabo_status cb_ask_poll(const cb_ask *ask, cocabo_error *err) {
  if (ask->interrupt && ask->interrupt(ask->user))
    return cb_fail(err, COCABO_E_INTERRUPTED, "ask was interrupted");
  return COCABO_OK;
}

bool cb_ask_is_fresh(const cb_ask *ask, const cb_proposal *out, int k,
                     const cb_cell *cells) {
  if (!ask->settings->deterministic)
    return true;
  if (cb_history_contains(ask->history, cells))
    return false;
  for (int i = 0; i < k; i++)
    if (cb_cells_equal(ask->history->space->n, out[i].cells, cells))
      return false;
  return true;
}

cocabo_status cb_ask_has_room(const cb_ask *ask, cocabo_error *err) {
  const uint64_t size = cb_space_size(ask->history->space);
  const uint64_t taken = cb_history_distinct(ask->history);
  if (!ask->settings->deterministic || size == UINT64_MAX ||
      (taken <= size && size - taken >= (uint64_t)ask->batch))
    return COCABO_OK;
  return cb_fail(err, COCABO_E_EXHAUSTED,
                 "the space has %llu points and %llu are taken, want %d more",
                 (unsigned long long)size, (unsigned long long)taken, ask->batch);
}

/* Chance alone may take long to find the last free points of a finite space, so after
 * some tries walk through all of them from a random start. */
void cb_ask_random_point(const cb_ask *ask, cb_rng *rng, cb_proposal *out, int k) {
  enum { TRIES = 100 };
  const cocabo_space *space = ask->history->space;
  cb_cell *cells = out[k].cells;
  out[k].drawn = false;
  for (int i = 0; i < TRIES; i++) {
    cb_space_sample(space, rng, cells);
    if (cb_ask_is_fresh(ask, out, k, cells))
      return;
  }
  const uint64_t size = cb_space_size(space);
  if (size == UINT64_MAX)
    return; /* cannot happen but by a run of equal doubles: then a repeat is harmless */
  const uint64_t start = cb_rng_u64(rng) % size;
  for (uint64_t i = 0; i < size; i++) {
    cb_space_point(space, (start + i) % size, cells);
    if (cb_ask_is_fresh(ask, out, k, cells))
      return;
  }
}
