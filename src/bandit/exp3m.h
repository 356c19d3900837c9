/* exp3m.h - EXP3.M: b different categories of one variable at a time, 1 < b < N.
 *
 *   p_i = b ((1 - gamma) w'_i / sum w' + gamma / N)
 *
 * is the chance that category i is among the b; the p_i sum to b. w' are the weights,
 * with the large ones capped where p would exceed 1: S0, the set of capped categories,
 * is drawn for certain (Uchiya et al., 2010). The agent's gamma and update are those of
 * exp3.h; the weights of S0 are not updated, because they are not what p came from.
 */
#ifndef CB_BANDIT_EXP3M_H
#define CB_BANDIT_EXP3M_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"

/* p[0..N-1] and capped[0..N-1] from log_w[0..N-1]. Capped categories have p = 1 to the
 * bit; all p sum to b within rounding. */
void cb_exp3m_probabilities(int n_arms, int b, const double *log_w, double gamma,
                            double *p, bool *capped);

/* DepRound (Gandhi et al., 2006): b different arms into chosen[0..b-1], where arm i is
 * among them with probability p[i] in [0,1]. The p must sum to b. Which arms come
 * together, and in which order, is not uniform: shuffle them if that matters. */
void cb_depround(int n_arms, int b, const double *p, cb_rng *rng, int32_t *chosen);

#endif
