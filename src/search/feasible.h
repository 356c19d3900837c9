/* feasible.h - how likely a point is to keep its limits, by models of what is limited.
 *
 *   log P(z) = sum over the limits of weight log Phi(u)
 *   u        = (bound - mu) / sqrt(noise + sd^2)
 *
 * mu and sd are a Gaussian process's mean and deviation at z of something that must
 * stay below `bound`. The sum is stable in the tails: where P underflows its logarithm
 * still says which way is better.
 */
#ifndef CB_SEARCH_FEASIBLE_H
#define CB_SEARCH_FEASIBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/gp.h"

typedef struct cb_limit {
  cb_gp *gp;     /* borrowed */
  double bound;  /* in its units */
  double noise;  /* variance besides that of the latent function */
  double weight; /* log P counts so many times: what it costs to be wrong */
  double floor;  /* log P is at least this, unless... ; -INFINITY: no floor */
  /* ... this says that the point is ruled out; not NULL where there is a floor. */
  bool (*ruled_out)(const void *user, const double *x, const int32_t *h);
  const void *user;
} cb_limit;

enum { CB_MAX_LIMITS = 17 }; /* constraints, and success */

typedef struct cb_feasible {
  int n;
  cb_limit limits[CB_MAX_LIMITS];
} cb_feasible;

/* weight log Phi(u) as a function of mu and sd, and, unless NULL, its derivatives. */
double cb_limit_value(const cb_limit *limit, double mu, double sd, double *by_mu,
                      double *by_sd);

/* What cb_gp_bind and cb_gp_focus do, for the processes of all limits. */
void cb_feasible_bind(const cb_feasible *f, const int32_t *h);
void cb_feasible_focus(const cb_feasible *f, const double *x, const int32_t *h,
                       int points);

/* Where log P is wanted: m points x (d x m) with categories h (c x m), column-major.
 * With `swaps` they are those of cb_gp_predict_swaps: x and h are one point, and
 * candidate i has category to[i] for variable which[i]. With `bound` all have the
 * categories h (c) that the processes are bound to. */
typedef struct cb_places {
  int d, c, m;
  const double *x;
  const int32_t *h;
  bool bound, swaps;
  const int32_t *which, *to; /* m: swaps */
} cb_places;

/* log P at all of them into out[0..m-1]; mu and sd are room for m numbers each. With
 * `above` an upper bound, in O(n) a point. */
void cb_feasible_score(const cb_feasible *f, const cb_places *at, bool above,
                       double *mu, double *sd, double *out);

/* log P at x along the bound h, and its derivatives by x into slope[0..d-1]; dmu and
 * dsd are room for d numbers each. `roughly`: with the deviations that the focus gives,
 * in O(n), for processes of at least CB_FEASIBLE_ROUGH points. */
enum { CB_FEASIBLE_ROUGH = 64 };
double cb_feasible_gradient(const cb_feasible *f, int d, const double *x,
                            const int32_t *h, bool roughly, double *dmu, double *dsd,
                            double *slope);

#endif
