/* trust.c - the length of the trust region after each result, and its box around a
 * point.
 */
#include "sampler/trust.h"

#include <math.h>

#include "base/maths.h"

enum {
  WINS = 3, /* in a row widen it */
  LEAST_PATIENCE = 4,
  MOST_PATIENCE = 10 /* losses in a row that narrow it: the number of inputs, within */
};

static const double FIRST = 0.3;     /* length at the beginning, and after the end */
static const double WIDEST = 1.6;    /* beyond, it would hold the cube from anywhere */
static const double LAST = 1.0 / 32; /* narrower than this it starts over */
static const double FACTOR = 1.5;
static const double WORTH = 1e-3; /* of the median gap: less is no improvement */

static int patience_of(const cocabo_space *space) {
  return space->n < LEAST_PATIENCE  ? LEAST_PATIENCE
         : space->n > MOST_PATIENCE ? MOST_PATIENCE
                                    : space->n;
}

bool cb_trust_is_elsewhere(int64_t number) {
  return number % 2 == 1;
}

cb_trust cb_trust_follow(const cb_history *history, const bool *among,
                         double half_gap) {
  const int patience = patience_of(history->space);
  cb_trust trust = {.length = FIRST};
  double best = -INFINITY;
  int wins = 0, losses = 0;
  for (int64_t i = 0; i < history->n; i++) {
    const bool counts = !among || among[i];
    const double y = history->y[i], before = best;
    if (counts)
      best = fmax(best, y);
    const cb_trial *trial = &history->trials[history->told[i]];
    if (trial->origin != CB_BY_SAMPLER)
      continue;
    const bool won =
        counts && (before == -INFINITY || 0.5 * y - 0.5 * before > WORTH * half_gap);
    if (trust.stalls && cb_trust_is_elsewhere(trial->number)) {
      if (won)
        trust = (cb_trust){.length = FIRST};
      wins = 0;
      losses = won ? 0 : losses;
      continue;
    }
    wins = won ? wins + 1 : 0;
    losses = won ? 0 : losses + 1;
    if (wins == WINS) {
      trust.length = fmin(trust.length * FACTOR, WIDEST);
      wins = 0;
    }
    if (losses > 0 && losses % patience == 0)
      trust.length = trust.length / FACTOR < LAST ? FIRST : trust.length / FACTOR;
    trust.stalls = 2 * losses >= patience;
  }
  return trust;
}

static bool nothing_but_grids(const cocabo_space *space) {
  for (int j = 0; j < space->numbers; j++)
    if (cb_space_levels(space, j) == 0)
      return false;
  return true;
}

static void hold_next_levels(const cocabo_space *space, int j, double xj, double *lower,
                             double *upper) {
  const int64_t levels = cb_space_levels(space, j);
  const int64_t k = levels > 0 ? cb_space_level_of(space, j, xj) : 0;
  if (k > 0)
    *lower = fmin(*lower, cb_space_level_x(space, j, k - 1));
  if (k + 1 < levels)
    *upper = fmax(*upper, cb_space_level_x(space, j, k + 1));
}

/* Is row j of x a number, and active? */
static bool is_active(const cocabo_space *space, int j, const double *x) {
  if (j >= space->numbers)
    return false;
  const int presence = space->params[space->numeric[j]].presence;
  return presence < 0 || x[space->numbers + presence] > 0.5;
}

void cb_trust_box(const cocabo_space *space, const double *x, double length,
                  bool next_levels, const double *log_scales, double *lower,
                  double *upper) {
  const bool hold = next_levels || nothing_but_grids(space);
  double mean = 0.0;
  for (int j = 0; j < space->numbers; j++)
    mean += log_scales[j] / space->numbers;
  for (int j = 0; j < space->d; j++) {
    if (!is_active(space, j, x)) {
      lower[j] = -1.0;
      upper[j] = 1.0;
      continue;
    }
    const double along = length * cb_exp(log_scales[j] - mean);
    lower[j] = fmax(x[j] - along, -1.0);
    upper[j] = fmin(x[j] + along, 1.0);
    if (hold)
      hold_next_levels(space, j, x[j], &lower[j], &upper[j]);
  }
}
