/* exp3.c - the exploration rate, the probabilities and the update of one EXP3 agent.
 *
 * Weights are logarithms throughout; only their ratios to the largest are ever
 * exponentiated.
 */
#include "bandit/exp3.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "base/maths.h"
#include "base/vexp.h"

#define EULER 0x1.5bf0a8b145769p+1 /* e */

/* A raw reward has no bounds and log weights add up, so they are kept within half of
 * what a double holds: no difference of two overflows. Arms beyond it are equal. */
#define LOG_WEIGHT_LIMIT (0.5 * DBL_MAX)

double cb_exp3_gamma(int n_arms, int b, int64_t horizon, int64_t round) {
  assert(n_arms >= 1 && b >= 1 && (horizon > 0 || round >= 1));
  const double rounds = horizon > 0 ? 2.0 * (double)horizon / 3.0 : (double)round;
  const double n = n_arms;
  const double per_play = b < n_arms ? n / b : n;
  return fmin(1.0, sqrt(n * cb_log(per_play) / ((EULER - 1.0) * (b * rounds))));
}

static double largest(int n, const double *values) {
  double max = values[0];
  for (int i = 1; i < n; i++)
    max = values[i] > max ? values[i] : max;
  return max;
}

/* Weights are taken relative to the largest, so their sum lies in [1, N]. cb_exp_neg
 * does not depend on the libm as exp does, and it never gives 0. */
void cb_exp3_probabilities(int n_arms, const double *log_w, double gamma, double *p) {
  const double max = largest(n_arms, log_w);
  double sum = 0.0;
  for (int i = 0; i < n_arms; i++) {
    p[i] = cb_exp_neg(log_w[i] - max);
    sum += p[i];
  }
  for (int i = 0; i < n_arms; i++)
    p[i] = (1.0 - gamma) * (p[i] / sum) + gamma / n_arms;
}

int32_t cb_exp3_draw(int n_arms, const double *p, cb_rng *rng) {
  const double u = cb_rng_uniform(rng);
  double cumulated = 0.0;
  int32_t possible =
      0; /* if rounding leaves u above the sum: the last arm with p > 0 */
  for (int32_t i = 0; i < n_arms; i++) {
    cumulated += p[i];
    if (u < cumulated)
      return i;
    if (p[i] > 0.0)
      possible = i;
  }
  return possible;
}

void cb_exp3_update(int n_arms, double *log_w, int32_t arm, double reward,
                    const cb_draw *draw) {
  assert(arm >= 0 && arm < n_arms && draw->p > 0.0 && !isnan(reward));
  if (draw->capped)
    return;
  /* The factor is at most 1, because p >= b gamma / N: in this order nothing overflows.
   */
  const double step = reward * (draw->b * draw->gamma / (n_arms * draw->p));
  log_w[arm] = fmax(-LOG_WEIGHT_LIMIT, fmin(log_w[arm] + step, LOG_WEIGHT_LIMIT));
}
