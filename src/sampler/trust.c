/* trust.c - the length of the trust region after each result, and its box around a
 * point.
 */
#include "sampler/trust.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"

enum {
  WINS = 3, /* in a row widen it */
  LEAST_PATIENCE = 4,
  MOST_PATIENCE = 10, /* losses in a row that narrow it: the number of inputs, within */
  NICHE_PATIENCE = 6, /* results beside that of a niche which do not improve on it */
  MOST_NICHES = 20
};

static const double FIRST = 0.3;     /* length at the beginning, and after the end */
static const double WIDEST = 1.6;    /* beyond, it would hold the cube from anywhere */
static const double LAST = 1.0 / 32; /* narrower than this it starts over */
static const double FACTOR = 1.5;
static const double WORTH = 1e-3; /* of the median gap: less is no improvement */
static const double NICHE = 0.3;  /* length of a niche */

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
    const bool won =
        counts && (before == -INFINITY || 0.5 * y - 0.5 * before > WORTH * half_gap);
    trust.since = won ? 0 : trust.since + 1;
    if (trial->origin != CB_BY_SAMPLER)
      continue;
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

/* ---- niches ---------------------------------------------------------------------- */

static const double *x_of(const cb_history *history, int64_t row) {
  return history->trials[history->told[row]].x;
}

static bool is_inside(int d, const double *x, const double *lower,
                      const double *upper) {
  for (int j = 0; j < d; j++)
    if (x[j] < lower[j] || x[j] > upper[j])
      return false;
  return true;
}

/* Marks what is in the box, and returns how many of these were told after `row`. */
static int mark(const cb_history *history, int64_t row, const double *lower,
                const double *upper, bool *near) {
  int later = 0;
  for (int64_t i = 0; i < history->n; i++)
    if (is_inside(history->space->d, x_of(history, i), lower, upper)) {
      near[i] = true;
      later += i > row;
    }
  return later;
}

/* The box ends half way to the other point, along the input in which they are farthest
 * apart. */
static void leave_half(const cocabo_space *space, const double *x, const double *other,
                       const double *log_scales, double *lower, double *upper) {
  double farthest = 0.0;
  int along = -1;
  for (int j = 0; j < space->numbers; j++) {
    const double apart = fabs(x[j] - other[j]) * cb_exp(-log_scales[j]);
    if (is_active(space, j, x) && is_active(space, j, other) && apart > farthest) {
      farthest = apart;
      along = j;
    }
  }
  if (along < 0)
    return;
  const double middle = 0.5 * (x[along] + other[along]);
  if (x[along] > other[along])
    lower[along] = fmax(lower[along], middle);
  else
    upper[along] = fmin(upper[along], middle);
}

static int64_t best_unmarked(const cb_history *history, const bool *among,
                             const bool *near) {
  int64_t best = -1;
  for (int64_t i = 0; i < history->n; i++)
    if (!near[i] && (!among || among[i]) &&
        (best < 0 || history->y[i] > history->y[best]))
      best = i;
  return best;
}

int64_t cb_trust_niche(const cb_history *history, const bool *among, int64_t top,
                       const double *log_scales, bool *near, double *lower,
                       double *upper) {
  memset(near, 0, (size_t)history->n * sizeof *near);
  int64_t row = top;
  for (int k = 0; row >= 0 && k <= MOST_NICHES; k++) {
    cb_trust_box(history->space, x_of(history, row), NICHE, true, log_scales, lower,
                 upper);
    if (mark(history, row, lower, upper, near) < NICHE_PATIENCE && row != top) {
      leave_half(history->space, x_of(history, row), x_of(history, top), log_scales,
                 lower, upper);
      return row;
    }
    row = best_unmarked(history, among, near);
  }
  return -1;
}
