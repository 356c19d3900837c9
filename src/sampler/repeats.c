/* repeats.c - results that say nothing new, and what is demanded of the next points. */
#include "sampler/repeats.h"

#include <math.h>

enum {
  LAST_RESULTS = 100, /* that the demand comes from, */
  NEIGHBOURS = 1000   /* each compared with so many before it */
};

static const double LEAST = 0.01; /* after the first repetition, */
static const double UP = 2.0;     /* after each further one, */
static const double DOWN = 0.7;   /* and after each other result */
static const double MOST = 0.5;

/* The same for results that tie with the best, where there are categories: they
 * come a few turns apart, in which they must not be forgotten (decision 0033). With
 * numbers only a step is soon behind, and the next improvement is small. */
static const double DOWN_AT_THE_TOP = 0.97;

static bool is_repeated(const cb_history *history, int64_t first, int64_t row) {
  for (int64_t i = first; i < row; i++)
    if (history->y[i] == history->y[row])
      return true;
  return false;
}

/* How far apart two trials are to a model with this kernel. */
static double apart_by(const cb_kernel *k, const cb_trial *a, const cb_trial *b) {
  double sum = 0.0;
  for (int j = 0; j < k->d; j++)
    sum += (a->x[j] - b->x[j]) * (a->x[j] - b->x[j]) * k->inv_l2[j];
  for (int j = 0; j < k->c; j++)
    sum += a->h[j] != b->h[j] ? k->rate[j] : 0.0;
  return sum;
}

/* Did the result only say again what the nearest one before it had said? */
static bool repeats_nearest(const cb_history *history, const cb_kernel *k,
                            int64_t row) {
  const int64_t first = row > NEIGHBOURS ? row - NEIGHBOURS : 0;
  const cb_trial *trial = &history->trials[history->told[row]];
  double least = INFINITY;
  int64_t nearest = -1;
  if (!is_repeated(history, first, row)) /* most are not */
    return false;
  for (int64_t i = first; i < row; i++) {
    const double apart = apart_by(k, trial, &history->trials[history->told[i]]);
    if (apart < least) {
      least = apart;
      nearest = i;
    }
  }
  return nearest >= 0 && history->y[nearest] == history->y[row];
}

/* The demand after one more result. */
static double follow(double demand, bool repeats, double down) {
  if (repeats)
    return fmin(fmax(UP * demand, LEAST), MOST);
  return down * demand < LEAST ? 0.0 : down * demand;
}

double cb_repeats_demand(const cb_history *history, const cb_kernel *kernel) {
  const int64_t first = history->n > LAST_RESULTS ? history->n - LAST_RESULTS : 0;
  double any = 0.0, top = 0.0, best = -INFINITY;
  for (int64_t i = 0; i < first; i++)
    best = fmax(best, history->y[i]);
  for (int64_t i = first; i < history->n; i++) {
    const bool ties = history->y[i] == best;
    best = fmax(best, history->y[i]);
    if (history->trials[history->told[i]].origin != CB_BY_SAMPLER)
      continue;
    const bool repeats = repeats_nearest(history, kernel, i);
    any = follow(any, repeats, DOWN);
    top = follow(top, repeats && ties, DOWN_AT_THE_TOP);
  }
  return kernel->c > 0 ? fmax(any, top) : any;
}
