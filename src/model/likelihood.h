/* likelihood.h - the log marginal likelihood of a data set, and its gradient.
 *
 *   L      = -1/2 y^T K^-1 y - 1/2 log |K| - n/2 log 2 pi          (Appendix E)
 *   dL/dt  = 1/2 sum_ij W_ij dK_ij/dt,   W = alpha alpha^T - K^-1
 *
 * K has the noise of theta on its diagonal, and what is known of single rows (gp.h).
 *
 * A likelihood holds one data set and all the room that evaluating needs: evaluating
 * never allocates.
 */
#ifndef CB_MODEL_LIKELIHOOD_H
#define CB_MODEL_LIKELIHOOD_H

#include <stdint.h>

#include "cocabo.h"
#include "model/kernel.h"

typedef struct cb_likelihood cb_likelihood;

/* n >= 1 points x (d x n), h (c x n), column-major; they are copied. *out is owned by
 * the caller. Set its targets before evaluating it. */
cocabo_status cb_likelihood_new(cb_likelihood **out, const cb_kernel_spec *spec, int n,
                                const double *x, const int32_t *h, cocabo_error *err);
/* n targets in their own units; copied and standardised. Several may share the points.
 * No row has noise of its own then. */
void cb_likelihood_set_y(cb_likelihood *likelihood, const double *y);
/* The same without standardising. */
void cb_likelihood_set_targets(cb_likelihood *likelihood, const double *y);
/* The variances of those targets, in their own units squared. */
void cb_likelihood_set_variance(cb_likelihood *likelihood, const double *variance);
void cb_likelihood_free(cb_likelihood *likelihood); /* NULL is allowed */

/* L(theta), -inf if the covariance cannot be factored even with jitter; dL/dtheta into
 * gradient unless it is NULL (zeros when L is -inf). */
double cb_likelihood_value(cb_likelihood *likelihood, const double *theta,
                           double *gradient);

#endif
