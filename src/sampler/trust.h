/* trust.h - a trust region: the box around the best point that the next points come
 * from, grown while they improve and shrunk while they do not.
 *
 * It is a fold over the results in told order, so that every reader of a log has the
 * same one (after Eriksson et al., Scalable global optimization via local Bayesian
 * optimization, 2019; decision 0005 says where it helps).
 */
#ifndef CB_SAMPLER_TRUST_H
#define CB_SAMPLER_TRUST_H

#include <stdbool.h>

#include "log/history.h"

typedef struct cb_trust {
  double length; /* half the side of the box, in units of [-1,1] */
  bool stalls;   /* half of the losses in a row that narrow it have been seen */
  int64_t since; /* results since the last improvement, whoever proposed them */
} cb_trust;

/* Is trial `number` for looking everywhere while the region stalls? The number alone
 * says it, so that every reader of a log knows which trials were not the region's. */
bool cb_trust_is_elsewhere(int64_t number);

/* The fold. Trials that looked everywhere are no losses of the region; where one is an
 * improvement, the region begins anew around it. Only rows of the history that are true
 * in `among` may be the best, the others are no improvement; NULL: all may. half_gap is
 * the median gap of y below the best, halved: an improvement by a tiny part of it does
 * not count. */
cb_trust cb_trust_follow(const cb_history *history, const bool *among, double half_gap);

/* lower[0..d-1] and upper[0..d-1]: length in every direction from x, longer along long
 * length scales. With next_levels it holds the levels next to x_j where x_j lives on a
 * grid, however far they are, and so it does where there is nothing but grids: it is
 * never x alone. Nothing bounds what is inactive at x. log_scales has d logarithms of
 * length scales. */
void cb_trust_box(const cocabo_space *space, const double *x, double length,
                  bool next_levels, const double *log_scales, double *lower,
                  double *upper);

/* Where else it may be worth to look closely: the best result, of those in `among`,
 * that is not near row `top` nor near another one that enough results beside it could
 * not improve on; and its box, as above, of which the half beside the top is left out.
 * -1: there is none. `near` is room for as many as there are results. */
int64_t cb_trust_niche(const cb_history *history, const bool *among, int64_t top,
                       const double *log_scales, bool *near, double *lower,
                       double *upper);

#endif
