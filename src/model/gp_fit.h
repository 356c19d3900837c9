/* gp_fit.h - learn hyper-parameters by maximising the log marginal likelihood. */
#ifndef CB_MODEL_GP_FIT_H
#define CB_MODEL_GP_FIT_H

#include "base/rng.h"
#include "cocabo.h"
#include "model/kernel.h"
#include "model/likelihood.h"

enum { CB_MAX_THETA = COCABO_MAX_PARAMETERS + 7 };

/* A box for theta, where to start in it, and its prior: theta_i is normal with this
 * mean and deviation, or has a flat prior if the deviation is 0. */
typedef struct cb_theta_box {
  double lower[CB_MAX_THETA], upper[CB_MAX_THETA], start[CB_MAX_THETA];
  double prior_mean[CB_MAX_THETA], prior_sd[CB_MAX_THETA];
  double perturb; /* restarts: start plus this times N(0,1); 0 = uniform in the box */
} cb_theta_box;

/* The paper's: length scales in [1e-4, 3] from 0.2, lambda in [1e-6, 1] from 0.5, noise
 * in [1e-6, 1] from 0.1; flat priors, uniform restarts. */
void cb_theta_paper(const cb_kernel_spec *spec, cb_theta_box *box);
/* For the one-hot kernel: the same, with the variance in [0.01, 100] from 1. */
void cb_theta_onehot(const cb_kernel_spec *spec, cb_theta_box *box);
/* For the free kernel, with log-normal priors (decisions 0005 and, for presences,
 * 0017). `noisy`: the prior of the noise has its median at 1 % of the targets'
 * variance, rather than next to none.
 */
void cb_theta_free(const cb_kernel_spec *spec, bool noisy, cb_theta_box *box);

/* How much a fit may do, and who may end it. */
typedef struct cb_fit_plan {
  int restarts;                  /* from random points, besides theta */
  int max_evaluations;           /* of the likelihood, from each of them */
  double least_gain;             /* nats: an iteration that gains less is the last */
  cocabo_interrupt_fn interrupt; /* asked before every evaluation; NULL: never */
  void *user;
} cb_fit_plan;

/* Maximises likelihood times prior from theta (in and out) and from random points, and
 * keeps the best. The logarithm of what is maximised is returned through *value unless
 * it is NULL (the prior up to a constant). COCABO_E_INTERRUPTED leaves theta alone. */
cocabo_status cb_gp_fit(cb_likelihood *likelihood, const cb_kernel_spec *spec,
                        const cb_theta_box *box, const cb_fit_plan *plan, cb_rng *rng,
                        double *theta, double *value, cocabo_error *err);

#endif
