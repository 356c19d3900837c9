/* acquisition.h - how much an evaluation at a point is worth, from mean and deviation.
 *
 *   mu, sd  posterior mean and standard deviation of the latent function
 *   best    the incumbent, in the units of mu
 *   z       (mu - best) / sd
 *
 *   UCB    mu + kappa sd
 *   EI     sd h(z),           h(z) = phi(z) + z Phi(z)
 *   LogEI  log sd + log h(z)
 *   EXPLORE  sd, where mu + kappa sd reaches best: pure exploration among the promising
 */
#ifndef CB_SEARCH_ACQUISITION_H
#define CB_SEARCH_ACQUISITION_H

typedef enum cb_acquisition { CB_UCB, CB_EI, CB_LOGEI, CB_EXPLORE } cb_acquisition;

typedef struct cb_acquire {
  cb_acquisition kind;
  double kappa;  /* UCB, EXPLORE */
  double min_sd; /* UCB: below this deviation a point falls off steeply, so that the
                    maximum lies where there is something to learn; 0 = nowhere */
  double best;   /* EI, LogEI, EXPLORE */
} cb_acquire;

/* The value at (mu, sd >= 0) and, unless NULL, its derivatives by mu and by sd. */
double cb_acquire_value(const cb_acquire *a, double mu, double sd, double *by_mu,
                        double *by_sd);

#endif
