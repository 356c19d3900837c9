/* exp3.h - one EXP3 agent: a distribution over the N categories of one variable.
 *
 *   p_i     = (1 - gamma) w_i / sum w + gamma / N
 *   log w_i += gamma ghat / N,   ghat = g / p_i for the drawn category (Appendix B)
 *
 * Weights live in the log domain, so that no number of rounds overflows them. Agents
 * that play b categories at a time (exp3m.h) differ in gamma and in the update:
 *
 *   log w_i += b gamma ghat / N,   with p_i the chance to be among the b
 */
#ifndef CB_BANDIT_EXP3_H
#define CB_BANDIT_EXP3_H

#include <stdint.h>

#include "bandit/draw.h"
#include "base/rng.h"

/* For a known horizon T > 0, at most 1:
 *
 *   b < N    sqrt(N log(N/b) / ((e - 1) b 2T/3)), EXP3.M's; EXP3's where b = 1
 *   b >= N   sqrt(N log N / ((e - 1) b 2T/3)), EXP3's of b steps a round
 *
 * With horizon 0 the anytime form, which has the round t >= 1 in place of 2T/3. N = 1
 * gives 0. */
double cb_exp3_gamma(int n_arms, int b, int64_t horizon, int64_t round);

/* p[0..N-1] from log_w[0..N-1]; sums to 1 within rounding. */
void cb_exp3_probabilities(int n_arms, const double *log_w, double gamma, double *p);

/* An arm drawn from p by one uniform number. */
int32_t cb_exp3_draw(int n_arms, const double *p, cb_rng *rng);

/* Rewards `arm`, which was drawn like that. A capped arm stays as it is. */
void cb_exp3_update(int n_arms, double *log_w, int32_t arm, double reward,
                    const cb_draw *draw);

#endif
