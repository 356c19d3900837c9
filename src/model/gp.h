/* gp.h - a Gaussian process over mixed points: factor, push, fantasize, predict.
 *
 *   K = k_z(Z, Z) + noise I + diag(r) = U^T U,   v = U^-T k,
 *   mu = k^T K^-1 y,   var = k(z,z) - v^T v
 *
 * r_i >= 0 is the noise of a row beside that of all: what is known of how far its
 * target may be off. Most processes have none.
 *
 * Targets are standardised (mean 0, variance 1) on the way in; means and deviations
 * come out in those units, and cb_gp_scale converts back. Variances are of the latent
 * function: the noise is not in them.
 *
 * The factor is a function of the order in which points came: cb_gp_factor for some,
 * then cb_gp_push one by one. Whoever repeats the same calls gets the same bits.
 */
#ifndef CB_MODEL_GP_H
#define CB_MODEL_GP_H

#include <stdint.h>

#include "cocabo.h"
#include "model/kernel.h"

typedef struct cb_gp cb_gp;

/* *out is owned by the caller and has no points; set theta before anything else. */
cocabo_status cb_gp_new(cb_gp **out, const cb_kernel_spec *spec, cocabo_error *err);
void cb_gp_free(cb_gp *gp); /* NULL is allowed */

/* Makes room for n points, so that pushing up to n of them does not allocate. */
cocabo_status cb_gp_reserve(cb_gp *gp, int n, cocabo_error *err);

/* New hyper-parameters (as many as cb_theta_lay_out says); forgets all points. */
void cb_gp_set_theta(cb_gp *gp, const double *theta);

/* Points i < n: x of d and h of c numbers each, one after the other (d x n and c x n,
 * column-major). Replaces all points; O(n^3). Tries a ladder of jitters, then raises
 * the noise; COCABO_E_NUMERIC if nothing helps, and then the process has no points. */
cocabo_status cb_gp_factor(cb_gp *gp, int n, const double *x, const int32_t *h,
                           cocabo_error *err);

/* The same with r_i of the points, noise[0..n-1] in standardised units; NULL: none. */
cocabo_status cb_gp_factor_noisy(cb_gp *gp, int n, const double *x, const int32_t *h,
                                 const double *noise, cocabo_error *err);

/* A row's noise, in standardised units: its variance by sd^2, but nothing infinite. */
double cb_row_noise(double variance, double sd);

/* Appends one point, without noise of its own, in O(n^2). Factors anew after 64
 * appends, or when the new pivot is lost in rounding; then it may fail as cb_gp_factor
 * does, and has no points left. The targets must be set again before predicting. */
cocabo_status cb_gp_push(cb_gp *gp, const double *x, const int32_t *h,
                         cocabo_error *err);

/* Targets y[0..n-1] in their own units, for the n points there are. */
void cb_gp_set_y(cb_gp *gp, const double *y);
/* The same without standardising: the units of the process are those of y. */
void cb_gp_set_targets(cb_gp *gp, const double *y);

/* Appends m points (d x m, c x m) that were not observed: all with `target`, in
 * standardised units; or, if it is NULL, each with its own posterior mean (Kriging
 * Believer), which leaves every mean as it is. Never factors anew, so that
 * cb_gp_truncate leaves no trace of them. */
cocabo_status cb_gp_fantasize(cb_gp *gp, int m, const double *x, const int32_t *h,
                              const double *target, cocabo_error *err);

/* Back to the first n points. */
void cb_gp_truncate(cb_gp *gp, int n);

/* The posterior mean at point i of those there are: y_i - (noise + r_i) alpha_i, in
 * O(1).
 */
double cb_gp_fitted(const cb_gp *gp, int i);

/* The noise of point i, noise + r_i; and how far the means at points 0 .. n-1 move with
 * the target of point j: out_i = d mu_i / d y_j, in O(n^2). */
double cb_gp_row_noise(const cb_gp *gp, int i);
void cb_gp_influence(const cb_gp *gp, int j, double *out);

int cb_gp_count(const cb_gp *gp);
double cb_gp_noise(const cb_gp *gp); /* variance, in standardised units */
void cb_gp_scale(const cb_gp *gp, double *mean,
                 double *sd); /* y = mean + sd * target */

/* Fixes h for the predictions that follow; holds until the points change. O(n c). */
void cb_gp_bind(cb_gp *gp, const int32_t *h);

/* Mean and deviation at m points x (d x m) with categories h (c x m), column-major; h
 * NULL: along the bound h. One block of kernel rows and one triangular solve per chunk,
 * O(n^2) a point. */
void cb_gp_predict(cb_gp *gp, int m, const double *x, const int32_t *h, double *mu,
                   double *sd);

/* What the posterior says of m <= CB_GP_JOINT points together: their means and their
 * covariances, m x m. Undoes cb_gp_bind. */
enum { CB_GP_JOINT = 8 };
void cb_gp_joint(cb_gp *gp, int m, const double *x, const int32_t *h, double *mu,
                 double *covariance);

/* At x with h changed in one category: candidate i has category to[i] for variable
 * which[i]. Binds h. */
void cb_gp_predict_swaps(cb_gp *gp, const double *x, const int32_t *h, int m,
                         const int32_t *which, const int32_t *to, double *mu,
                         double *sd);

/* The same two in O(n) a point: the means are exact, and `sd` are upper bounds on the
 * deviations. They come from the one point that explains most, and from the points of
 * the focus: more points never explain less. */
void cb_gp_screen(cb_gp *gp, int m, const double *x, const int32_t *h, double *mu,
                  double *sd);
void cb_gp_screen_swaps(cb_gp *gp, const double *x, const int32_t *h, int m,
                        const int32_t *which, const int32_t *to, double *mu,
                        double *sd);

/* Says around which point bounds should be tight, and how many points near it (at most
 * 128) they come from; holds until points are removed or factored anew. x or h NULL:
 * nowhere. Undoes cb_gp_bind. */
void cb_gp_focus(cb_gp *gp, const double *x, const int32_t *h, int points);

/* Along the bound h at one point, with derivatives by x (d each). */
void cb_gp_predict_gradient(cb_gp *gp, const double *x, double *mu, double *sd,
                            double *dmu, double *dsd);

/* The same in O(n): `sd` is the bound that the focus gives (without one the prior's
 * deviation), and dsd its derivative. */
void cb_gp_screen_gradient(cb_gp *gp, const double *x, double *mu, double *sd,
                           double *dmu, double *dsd);

/* Mean and population deviation of y[0..n-1], of any size. If the values are equal
 * (within rounding) the deviation is at least 1, so that dividing by it is always
 * right. */
void cb_moments(int n, const double *y, double *mean, double *sd);

/* Standardises y[0..n-1] into out (which may be y): mean 0, variance 1. */
void cb_standardise(int n, const double *y, double *out, double *mean, double *sd);

#endif
