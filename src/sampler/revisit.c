/* revisit.c - which change of one category, or of two, is worth another try. */
#include "sampler/revisit.h"

#include <math.h>
#include <string.h>

enum {
  MOST_SWAPS = 256,   /* changes that are compared, */
  PAIRS = 32,         /* and so many of two at a time */
  LAST_TRIALS = 2000, /* a change that none of these has counts as never tried */
  FAILURES = 4,       /* so many and nothing else: a level is not tried again, */
  SAME_FAILURES = 3   /* nor all categories together after so many */
};

static const double KAPPA = 3.0;         /* deviations in the upper bound */
static const double LEAST_SUCCESS = 0.2; /* probability, see decision 0034 */

static int64_t first_of_last(const cb_history *history) {
  return history->n_trials > LAST_TRIALS ? history->n_trials - LAST_TRIALS : 0;
}

/* Has a level of category j never come to a value? */
static bool only_fails(const cb_history *history, int j, int32_t level) {
  int failures = 0;
  for (int64_t i = first_of_last(history); i < history->n_trials; i++) {
    const cb_trial *trial = &history->trials[i];
    if (trial->h[j] == level && trial->state == COCABO_COMPLETE)
      return false;
    failures += trial->h[j] == level && trial->state == COCABO_FAILED;
  }
  return failures >= FAILURES;
}

/* Has one of the last trials the categories that (x, h) comes to? A few that failed do
 * not count: with other numbers they may do. */
static bool is_tried(const cb_history *history, const double *x, const int32_t *h,
                     cb_cell *cells) {
  double its_x[COCABO_MAX_PARAMETERS];
  int32_t its_h[COCABO_MAX_PARAMETERS];
  const size_t bytes = (size_t)history->space->c * sizeof *h;
  int failures = 0;
  cb_space_decode(history->space, x, h, cells);
  cb_space_encode(history->space, cells, its_x, its_h);
  for (int64_t i = first_of_last(history); i < history->n_trials; i++) {
    if (memcmp(history->trials[i].h, its_h, bytes) != 0)
      continue;
    if (history->trials[i].state != COCABO_FAILED || ++failures == SAME_FAILURES)
      return true;
  }
  return false;
}

/* May a trial with these categories come to a value, as the models have it? */
static bool may_succeed(const cb_revisit_place *at, const int32_t *h) {
  double success;
  cb_feasibility_predict(at->feasibility, 1, at->x, h, &success);
  return success >= LEAST_SUCCESS;
}

/* The same, were category j at `level`. */
static bool change_may_succeed(const cb_revisit_place *at, int32_t *h, int j,
                               int32_t level) {
  const int32_t old = h[j];
  h[j] = level;
  const bool may = may_succeed(at, h);
  h[j] = old;
  return may;
}

/* The changes of one category at (x, h) that were never tried, at most `most` of them,
 * from one on that `from`, in [0,1), says. */
static int list_swaps(const cb_history *history, const cb_trial *top, const double *x,
                      int32_t *h, cb_cell *cells, double from, int most, int32_t *which,
                      int32_t *to) {
  const cocabo_space *space = history->space;
  int64_t all = 0;
  for (int j = 0; j < space->c; j++)
    all += cb_space_arms(space, j);
  const int64_t first = (int64_t)(from * (double)all);
  int count = 0;
  for (int64_t k = 0; k < all && count < most; k++) {
    int64_t level = (first + k) % all;
    int j = 0;
    for (; level >= cb_space_arms(space, j); j++)
      level -= cb_space_arms(space, j);
    const int32_t old = h[j];
    if (top->h[j] >= cb_space_arms(space, j) || old == level)
      continue;
    h[j] = (int32_t)level;
    if (!is_tried(history, x, h, cells) && !only_fails(history, j, h[j])) {
      which[count] = j;
      to[count++] = (int32_t)level;
    }
    h[j] = old;
  }
  return count;
}

/* One category of h becomes what, of all such changes that were never tried and may
 * succeed, has the highest upper bound. False if there is none. */
static bool take_best_swap(const cb_revisit_place *at, int32_t *h, cb_rng *rng) {
  int32_t which[MOST_SWAPS], to[MOST_SWAPS];
  double mu[MOST_SWAPS], sd[MOST_SWAPS];
  const int count = list_swaps(at->history, at->top, at->x, h, at->cells,
                               cb_rng_uniform(rng), MOST_SWAPS, which, to);
  int best = -1;
  cb_gp_predict_swaps(at->gp, at->x, h, count, which, to, mu, sd);
  for (int i = 0; i < count; i++)
    if ((best < 0 || mu[i] + KAPPA * sd[i] > mu[best] + KAPPA * sd[best]) &&
        change_may_succeed(at, h, which[i], to[i]))
      best = i;
  if (best >= 0)
    h[which[best]] = to[best];
  return best >= 0;
}

/* A category and the level that it is to have. */
typedef struct {
  int which;
  int32_t to;
} change;

/* Two categories that are active at the top, and other levels for them. False if there
 * are none. */
static bool draw_pair(const cocabo_space *space, const cb_trial *top, const int32_t *h,
                      cb_rng *rng, change pair[2]) {
  int at[COCABO_MAX_PARAMETERS], n = 0;
  for (int j = 0; j < space->c; j++)
    if (top->h[j] < cb_space_arms(space, j) && cb_space_arms(space, j) > 1)
      at[n++] = j;
  if (n < 2)
    return false;
  const int first = (int)(cb_rng_uniform(rng) * n);
  const int other = (int)(cb_rng_uniform(rng) * (n - 1));
  pair[0].which = at[first];
  pair[1].which = at[other + (other >= first)];
  for (int i = 0; i < 2; i++) {
    const int32_t arms = cb_space_arms(space, pair[i].which);
    const int32_t to = (int32_t)(cb_rng_uniform(rng) * (arms - 1));
    pair[i].to = to + (to >= h[pair[i].which]);
  }
  return true;
}

static void apply_pair(const change pair[2], int32_t *h) {
  for (int i = 0; i < 2; i++)
    h[pair[i].which] = pair[i].to;
}

/* Two categories of h become what, of some such changes that were never tried and may
 * succeed, has the highest upper bound: what is good together only is worse one by one.
 * False if none was found. */
static bool take_best_pair(const cb_revisit_place *at, int32_t *h, cb_rng *rng) {
  const cb_history *history = at->history;
  change pair[2], best[2];
  double highest = -INFINITY;
  for (int i = 0; i < PAIRS; i++) {
    if (!draw_pair(history->space, at->top, h, rng, pair))
      return false;
    const change back[2] = {{pair[0].which, h[pair[0].which]},
                            {pair[1].which, h[pair[1].which]}};
    double mu, sd;
    apply_pair(pair, h);
    if (!only_fails(history, pair[0].which, pair[0].to) &&
        !only_fails(history, pair[1].which, pair[1].to) &&
        !is_tried(history, at->x, h, at->cells) && may_succeed(at, h)) {
      cb_gp_predict(at->gp, 1, at->x, h, &mu, &sd);
      if (mu + KAPPA * sd > highest) {
        highest = mu + KAPPA * sd;
        memcpy(best, pair, sizeof best);
      }
    }
    apply_pair(back, h);
  }
  if (highest > -INFINITY)
    apply_pair(best, h);
  return highest > -INFINITY;
}

/* One category of h that is active at the top becomes the level with the smallest share
 * of the trials, as a share of even use, of those that may succeed. False if there is
 * none. */
static bool take_rare_level(const cb_revisit_place *at, int32_t *h) {
  const cb_history *history = at->history;
  const cocabo_space *space = history->space;
  int64_t *seen = at->seen, least = INT64_MAX;
  int which = -1;
  int32_t to = 0;
  for (int j = 0; j < space->c; j++) {
    const int32_t arms = cb_space_arms(space, j);
    if (at->top->h[j] >= arms)
      continue;
    memset(seen, 0, ((size_t)arms + 1) * sizeof *seen);
    for (int64_t i = 0; i < history->n_trials; i++)
      seen[history->trials[i].h[j]]++;
    for (int32_t level = 0; level < arms; level++)
      if (level != at->top->h[j] && seen[level] * arms < least &&
          !only_fails(history, j, level) && change_may_succeed(at, h, j, level)) {
        least = seen[level] * arms;
        which = j;
        to = level;
      }
  }
  if (which >= 0)
    h[which] = to;
  return which >= 0;
}

bool cb_revisit_has_untried(const cb_history *history, const cb_trial *top,
                            const double *x, int32_t *h, cb_cell *cells) {
  int32_t which, to;
  return list_swaps(history, top, x, h, cells, 0.0, 1, &which, &to) > 0;
}

bool cb_revisit(const cb_revisit_place *at, double pairs, int32_t *h, cb_rng *rng) {
  if (take_best_swap(at, h, rng))
    return true;
  const bool two = cb_rng_uniform(rng) < pairs;
  return (two && take_best_pair(at, h, rng)) || take_rare_level(at, h);
}
