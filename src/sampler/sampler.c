/* sampler.c - the list of samplers, and what several of them need: whether a point is
 * fresh, ranked and random points, when a fit is due, and the cut of values far below
 * the median.
 */
#include "sampler/sampler.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "sampler/samplers.h"

static const cb_sampler *const samplers[] = {
    &cb_sampler_mixed,  &cb_sampler_cocabo, &cb_sampler_smac,  &cb_sampler_tpe,
    &cb_sampler_onehot, &cb_sampler_exp3bo, &cb_sampler_sobol, &cb_sampler_random};
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
  if (!cb_space_allows(ask->history->space, cells))
    return false;
  if (!ask->settings->deterministic)
    return true;
  if (cb_history_contains(ask->history, cells))
    return false;
  for (int i = 0; i < k; i++)
    if (cb_cells_equal(ask->history->space->n, out[i].cells, cells))
      return false;
  return true;
}

/* How many points of a space that can be counted are in the history. Not all that is in
 * there is one: known results may break a rule. */
static uint64_t count_taken(const cb_history *history) {
  const uint64_t all = cb_space_combinations(history->space);
  cb_cell cells[COCABO_MAX_PARAMETERS];
  uint64_t taken = 0;
  for (uint64_t i = 0; i < all; i++)
    taken +=
        cb_space_point(history->space, i, cells) && cb_history_contains(history, cells);
  return taken;
}

cocabo_status cb_ask_has_room(const cb_ask *ask, cocabo_error *err) {
  const uint64_t size = cb_space_size(ask->history->space);
  const uint64_t batch = (uint64_t)ask->batch;
  uint64_t taken = cb_history_distinct(ask->history);
  if (!ask->settings->deterministic || size == UINT64_MAX ||
      (taken <= size && size - taken >= batch))
    return COCABO_OK;
  if (ask->history->space->n_rules > 0)
    taken = count_taken(ask->history);
  if (taken <= size && size - taken >= batch)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_EXHAUSTED,
                 "the space has %llu points and %llu are taken, want %d more",
                 (unsigned long long)size, (unsigned long long)taken, ask->batch);
}

/* Chance alone may take long to find the last free points of a finite space, so after
 * some tries walk through all of them from a random start. Of a space that cannot be
 * counted the last try is left: a repeat by a run of equal doubles is harmless, and
 * where conditions or rules leave few points cb_ask_check refuses it. */
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
  const uint64_t all = cb_space_combinations(space);
  if (cb_space_size(space) == UINT64_MAX)
    return;
  const uint64_t start = cb_rng_u64(rng) % all;
  for (uint64_t i = 0; i < all; i++)
    if (cb_space_point(space, (start + i) % all, cells) &&
        cb_ask_is_fresh(ask, out, k, cells))
      return;
}

cocabo_status cb_ask_check(const cb_ask *ask, const cb_proposal *out,
                           cocabo_error *err) {
  if (cb_space_is_plain(ask->history->space))
    return COCABO_OK;
  for (int k = 0; k < ask->batch; k++)
    if (!cb_ask_is_fresh(ask, out, k, out[k].cells))
      return cb_fail(err, COCABO_E_EXHAUSTED,
                     "no new point that keeps the rules was found, of a space with too "
                     "many points to try them all");
  return COCABO_OK;
}

bool cb_ask_take_ranked(const cb_ask *ask, const cb_search *search, int ranked,
                        const int32_t *h, cb_proposal *out, int k) {
  for (int rank = 0; rank < ranked; rank++) {
    const double *x;
    const int32_t *own;
    cb_search_ranked(search, rank, &x, &own);
    cb_space_decode(ask->history->space, x, h ? h : own, out[k].cells);
    if (cb_ask_is_fresh(ask, out, k, out[k].cells))
      return true;
  }
  return false;
}

/* The category that the draw of a combination is stored with. */
static int carrier(const cocabo_space *space) {
  int j = 0;
  while (j < space->c - 1 && cb_space_arms(space, j) == 1)
    j++;
  return j;
}

const cb_draw *cb_draws_of_each(const cocabo_space *space, const cb_draw *draws) {
  for (int j = 0; draws && j < space->c; j++)
    if (cb_space_arms(space, j) > 1 && draws[j].gamma == 0.0)
      return NULL;
  return draws;
}

const cb_draw *cb_draw_of_all(const cocabo_space *space, const cb_draw *draws) {
  const int at = carrier(space);
  for (int j = 0; draws && j < space->c; j++)
    if (j != at && draws[j].gamma != 0.0)
      return NULL;
  return draws ? &draws[at] : NULL;
}

void cb_store_draw_of_all(const cocabo_space *space, const cb_draw *draw,
                          cb_draw *draws) {
  for (int j = 0; j < space->c; j++)
    draws[j] = j == carrier(space) ? *draw : (cb_draw){.p = 1.0, .b = 1};
}

bool cb_ask_is_noisy(const cb_ask *ask) {
  return !ask->settings->deterministic || cb_history_is_noisy(ask->history);
}

bool cb_ask_knows_noise(const cb_ask *ask) {
  const cb_history *history = ask->history;
  for (int64_t i = 0; i < history->n && !ask->settings->deterministic; i++)
    if (!(history->variance[i] > 0.0))
      return false;
  return cb_history_is_noisy(history);
}

bool cb_ask_has_model(const cb_ask *ask) {
  return ask->fit && ask->history->n - ask->fit->rows <= ask->settings->model_size;
}

double cb_points_apart(const cocabo_space *space, const double *x, const int32_t *h,
                       const double *other_x, const int32_t *other_h) {
  double sum = 0.0;
  for (int j = 0; j < space->d; j++)
    sum += (x[j] - other_x[j]) * (x[j] - other_x[j]);
  for (int j = 0; j < space->c; j++)
    sum += h[j] != other_h[j];
  return sum;
}

static int by_distance(const void *a, const void *b) {
  const cb_distant *u = a, *v = b;
  if (u->apart != v->apart)
    return u->apart < v->apart ? -1 : 1;
  return (u->number > v->number) - (u->number < v->number);
}

static int by_number(const void *a, const void *b) {
  const cb_distant *u = a, *v = b;
  return (u->number > v->number) - (u->number < v->number);
}

size_t cb_keep_new_and_near(cb_distant *trials, size_t n, size_t most) {
  if (n > most) {
    const size_t half = most / 2, older = n - half;
    qsort(trials, older, sizeof *trials, by_distance);
    memmove(trials + half, trials + older, half * sizeof *trials);
    n = most;
  }
  if (n > 0) /* with none there may be no array */
    qsort(trials, n, sizeof *trials, by_number);
  return n;
}

bool cb_fit_due_by_rounds(const cb_ask *ask) {
  const cb_history *history = ask->history;
  const int64_t every = ask->settings->refit_every;
  const int64_t last = ask->fit ? ask->fit->round + 1 : 0;
  const int64_t seen = ask->fit ? ask->fit->rows : 0;
  const bool unseen = history->n - seen > ask->settings->model_size;
  return history->n > 1 && (unseen || (history->n_rounds + 1) / every > last / every);
}

int cb_ascending(const void *a, const void *b) {
  const double u = *(const double *)a, v = *(const double *)b;
  return (u > v) - (u < v);
}

double cb_cut_far_below(const cb_history *history, double *out, bool *cut) {
  const double *y = history->y, top = history->n > 0 ? y[history->best] : 0.0;
  const double m = cb_cut_gaps(history, top, out, cut);
  for (int64_t i = 0; i < history->n; i++)
    out[i] = out[i] == 0.5 * top - 0.5 * y[i] ? y[i] : 2.0 * (0.5 * top - out[i]);
  return m;
}

double cb_cut_gap(double gap, double m) {
  static const double far_below = 3.0; /* of the gap between best and median */
  const double most = (1.0 + far_below) * m;
  return m > 0.0 && fabs(gap) > most ? copysign(most, gap) : gap;
}

double cb_cut_gaps(const cb_history *history, double top, double *out, bool *cut) {
  const size_t n = (size_t)history->n;
  const double *y = history->y;
  *cut = false;
  if (n == 0)
    return 0.0;
  for (size_t i = 0; i < n; i++)
    out[i] = fabs(0.5 * top - 0.5 * y[i]);
  qsort(out, n, sizeof *out, cb_ascending);
  const double m = 0.5 * out[(n - 1) / 2] + 0.5 * out[n / 2];
  for (size_t i = 0; i < n; i++) {
    const double gap = 0.5 * top - 0.5 * y[i];
    out[i] = cb_cut_gap(gap, m);
    *cut |= out[i] != gap;
  }
  return m;
}
