/* acquisition.h - how much an evaluation at a point is worth, from mean and deviation.
 *
 *   mu, sd  posterior mean and standard deviation of the latent function; for LogEI, if
 *           the function is rough around what is latent, of its values
 *   best    the incumbent, in the units of mu
 *   z       (mu - best) / sd
 *
 *   UCB    mu + kappa sd
 *   EI     sd h(z),           h(z) = phi(z) + z Phi(z)
 *   LogEI  log sd + log h(z)
 *   EXPLORE  sd, where mu + kappa sd reaches best: pure exploration among the promising
 *   FEASIBLE log P alone
 *
 * Where a point may be infeasible, with probability P of being feasible (feasible.h):
 * EI P, LogEI + log P, and UCB and EXPLORE fall off steeply where P is below 1/2, so
 * that the maximum lies among points that are rather feasible, or the most feasible.
 */
#ifndef CB_SEARCH_ACQUISITION_H
#define CB_SEARCH_ACQUISITION_H

#include "search/feasible.h"

typedef enum cb_acquisition {
  CB_UCB,
  CB_EI,
  CB_LOGEI,
  CB_EXPLORE,
  CB_FEASIBLE
} cb_acquisition;

typedef struct cb_acquire {
  cb_acquisition kind;
  double kappa;  /* UCB, EXPLORE */
  double min_sd; /* UCB, LogEI: below this deviation a point falls off steeply, so that
                    the maximum lies where there is something to learn; 0 = nowhere */
  double best;   /* EI, LogEI, EXPLORE */
  double rough;  /* LogEI: the variance of values around the latent function, which a
                    new point may gain by; 0 = none */
  const cb_feasible *feasible; /* which limits a point must keep, borrowed; NULL: none
                                */
} cb_acquire;

/* The value at (mu, sd >= 0) and, unless NULL, its derivatives by mu and by sd. */
double cb_acquire_value(const cb_acquire *a, double mu, double sd, double *by_mu,
                        double *by_sd);

/* The same with feasibility, from that value and log P; and, unless NULL, the
 * derivatives by both. It grows with each of them. */
double cb_acquire_feasible(const cb_acquire *a, double value, double log_p,
                           double *by_value, double *by_log_p);

#endif
