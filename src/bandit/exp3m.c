/* exp3m.c - EXP3.M: capped probabilities of b plays, and DepRound, which draws b
 * different arms with given marginal probabilities.
 *
 * p, w and S0 as in exp3m.h. The probabilities given to DepRound sum to b.
 */
#include "bandit/exp3m.h"

#include <assert.h>
#include <math.h>

#include "base/vexp.h"

/* ---- probabilities --------------------------------------------------------------- */

static int largest_uncapped(int n, const double *log_w, const bool *capped) {
  int top = -1;
  for (int i = 0; i < n; i++)
    if (!capped[i] && (top < 0 || log_w[i] > log_w[top]))
      top = i;
  return top;
}

/* The weights that are not capped, in units of the largest of them, and their sum. */
static double weigh(int n, const double *log_w, const bool *capped, double *w) {
  const double max = log_w[largest_uncapped(n, log_w, capped)];
  double sum = 0.0;
  for (int i = 0; i < n; i++)
    if (!capped[i]) {
      w[i] = cb_exp_neg(log_w[i] - max);
      sum += w[i];
    }
  return sum;
}

/* A weight capped at alpha has alpha / sum w' = `most` / (1 - gamma): then its p is 1.
 * So k capped weights take k `most` of 1 - gamma, whatever their size was, and the
 * others share what is `left` in proportion. The largest of those is at least alpha,
 * and must be capped too, as long as its share is at least `most`. Taking them in this
 * order, largest first, solves for alpha exactly without ever forming it: only ratios
 * of weights that are not capped occur, so that no size of weight is too large.
 *
 * It ends before all are capped: `most` is at least (1 - gamma) / b, so that b capped
 * ones leave nothing. */
void cb_exp3m_probabilities(int n_arms, int b, const double *log_w, double gamma,
                            double *p, bool *capped) {
  assert(b > 1 && b < n_arms);
  const double most = 1.0 / b - gamma / n_arms;
  double left = 1.0 - gamma;
  for (int i = 0; i < n_arms; i++)
    capped[i] = false;
  double sum = weigh(n_arms, log_w, capped, p);
  for (int k = 1; left >= most * sum; k++) {
    assert(k <= b);
    capped[largest_uncapped(n_arms, log_w, capped)] = true;
    left = fmax(0.0, 1.0 - gamma - k * most);
    sum = weigh(n_arms, log_w, capped, p);
  }
  for (int i = 0; i < n_arms; i++)
    p[i] = capped[i] ? 1.0 : fmin(1.0, b * (left * (p[i] / sum) + gamma / n_arms));
}

/* ---- drawing --------------------------------------------------------------------- */

/* Two arms with fractions q and r play for them, so that each keeps its expectation.
 * If q + r < 1, one gets the sum and the other 0: the first with probability
 * q / (q + r). Else one gets 1 and the other keeps q + r - 1: the first gets the 1 with
 * probability (1 - r) / (2 - q - r). */
static bool first_wins(double q, double r, cb_rng *rng) {
  const double u = cb_rng_uniform(rng);
  return q + r < 1.0 ? u * (q + r) < q : u * (2.0 - q - r) < 1.0 - r;
}

/* One arm at a time carries a fraction, and plays against the next that has one. */
void cb_depround(int n_arms, int b, const double *p, cb_rng *rng, int32_t *chosen) {
  int taken = 0;
  int32_t carrier = -1;
  double carried = 0.0;
  for (int32_t i = 0; i < n_arms; i++) {
    assert(p[i] >= 0.0 && p[i] <= 1.0);
    if (p[i] == 1.0)
      chosen[taken++] = i;
    if (p[i] == 0.0 || p[i] == 1.0)
      continue;
    if (carrier < 0) {
      carrier = i;
      carried = p[i];
      continue;
    }
    const bool keeps = first_wins(carried, p[i], rng);
    const int32_t winner = keeps ? carrier : i, loser = keeps ? i : carrier;
    carried += p[i];
    carrier = winner;
    if (carried >= 1.0) {
      chosen[taken++] = winner;
      carrier = loser;
      carried -= 1.0;
    }
  }
  /* What is carried at the end is 0 or 1, but for rounding. */
  if (taken < b && carrier >= 0)
    chosen[taken++] = carrier;
  assert(taken == b);
}
