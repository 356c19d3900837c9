/* gp_fit.h - learn hyper-parameters by maximising the log marginal likelihood. */
#ifndef CB_MODEL_GP_FIT_H
#define CB_MODEL_GP_FIT_H

#include "base/rng.h"
#include "cocabo.h"
#include "model/kernel.h"
#include "model/likelihood.h"

enum { CB_MAX_THETA = COCABO_MAX_PARAMETERS + 4 };

/* A box for theta, and where to start in it (paper's setting: length scales in
 * [1e-4, 3] from 0.2, lambda in [1e-6, 1] from 0.5, noise in [1e-6, 1] from 0.1). */
typedef struct cb_theta_box {
  double lower[CB_MAX_THETA], upper[CB_MAX_THETA], start[CB_MAX_THETA];
} cb_theta_box;

void cb_theta_paper(const cb_kernel_spec *spec, cb_theta_box *box);

/* Maximises from theta (in and out) and from `restarts` uniform random points of the
 * box, each with at most max_evaluations; keeps the best. The value found is returned
 * through *value unless it is NULL. */
cocabo_status cb_gp_fit(cb_likelihood *likelihood, const cb_kernel_spec *spec,
                        const cb_theta_box *box, int restarts, int max_evaluations,
                        cb_rng *rng, double *theta, double *value, cocabo_error *err);

#endif
