/* surrogate.h - a Gaussian process that follows a history.
 *
 * It holds the history's completed trials in told order, or, beyond model_size of them,
 * an active set: the best, those nearest to the best, and a space-filling rest. The
 * active set is chosen from the rows that the last fit saw; later rows are appended, so
 * that it is for the sampler to have a fit before they are too many.
 * The process is factored at the last fit's rows and appended one by one after that: so
 * a restart makes the same calls in the same order, and gets the same bits.
 *
 * Where the variances of rows are known, the noise of each depends on the deviation of
 * all targets: then everything is factored anew, in one go and in the order of the
 * rows. So it is after a row was revised, for what was chosen may have been another.
 */
#ifndef CB_SAMPLER_SURROGATE_H
#define CB_SAMPLER_SURROGATE_H

#include <stdint.h>

#include "cocabo.h"
#include "log/history.h"
#include "model/gp.h"
#include "model/gp_fit.h"
#include "model/likelihood.h"
#include "sampler/sampler.h"

typedef struct cb_surrogate cb_surrogate;

/* *out is owned by the caller; the space is borrowed from the study. */
cocabo_status cb_surrogate_new(cb_surrogate **out, const cocabo_space *space,
                               const cb_kernel_spec *spec, int64_t model_size,
                               cocabo_error *err);
void cb_surrogate_free(cb_surrogate *s); /* NULL is allowed */

/* For the trials with the categories h[0..c-1] only, from the beginning: all others
 * might as well not be in the history. h is borrowed. */
void cb_surrogate_restrict(cb_surrogate *s, const int32_t *h);

/* Takes in what is new. theta are the hyper-parameters of the fit, of which it may be a
 * part, or the start where fit is NULL; y[0..history->n-1] are the targets (the
 * history's or a transform), and variance[0..history->n-1] those of the targets; NULL:
 * none is known. */
cocabo_status cb_surrogate_follow(cb_surrogate *s, const cb_history *history,
                                  const cb_fit *fit, const double *theta,
                                  const double *y, const double *variance,
                                  cocabo_error *err);

/* Adds what has no value: failed trials have `worst`, in the units of y, and pending
 * ones their posterior mean (Appendix F). At most 128 of each: half of them the newest,
 * half the nearest to the incumbent, so that the cost of an ask does not grow. */
cocabo_status cb_surrogate_fantasize(cb_surrogate *s, const cb_history *history,
                                     double worst, cocabo_error *err);

/* The pending ones only. */
cocabo_status cb_surrogate_fantasize_pending(cb_surrogate *s, const cb_history *history,
                                             cocabo_error *err);

/* Back to the results alone. */
void cb_surrogate_drop_fantasies(cb_surrogate *s);

/* The process, borrowed; and a target in its units. */
cb_gp *cb_surrogate_gp(const cb_surrogate *s);
double cb_surrogate_standardise(const cb_surrogate *s, double y);

/* Of the results that it holds, the row of the history with the highest posterior mean
 * (the first of equals), -1 if there is none; and that mean in the process's units.
 * Before anything is fantasized. */
int64_t cb_surrogate_best(const cb_surrogate *s, double *mean);
/* The same among rows of the history: those that are true; NULL: all. */
int64_t cb_surrogate_best_among(const cb_surrogate *s, const bool *among, double *mean);

/* The first `most` of them, the highest first, as places in cb_surrogate_rows, which
 * are those in the process; returns how many there are. */
int cb_surrogate_top(const cb_surrogate *s, const bool *among, int most, int *places);

/* The rows of the history that it holds, n of them, borrowed until the next call: those
 * that the last fit saw, ascending, then those that came after it. */
const int64_t *cb_surrogate_rows(const cb_surrogate *s, int64_t *n);

/* What the process expects the target at a point to be without noise, and how far that
 * may be off: mean and deviation of the posterior, in the units of y. Before anything
 * is fantasized. */
void cb_surrogate_expect(const cb_surrogate *s, const double *x, const int32_t *h,
                         double *mean, double *sd);
/* The same at n points, x d x n and h c x n. */
void cb_surrogate_predict(const cb_surrogate *s, int n, const double *x,
                          const int32_t *h, double *mean, double *sd);

/* The likelihood of the rows that a fit to this history has, without targets; owned by
 * the caller. Of more than `most` rows it has so many, evenly spaced. Then the targets
 * of those rows, borrowed until the next call, and how many they are. */
cocabo_status cb_surrogate_likelihood(cb_surrogate *s, const cb_history *history,
                                      int64_t most, cb_likelihood **out,
                                      cocabo_error *err);
cocabo_status cb_surrogate_targets(cb_surrogate *s, const double *y, int *n,
                                   const double **out, cocabo_error *err);

/* Then, after the likelihood was given the targets, the variances of those rows; NULL:
 * none is known. */
cocabo_status cb_surrogate_variances(cb_surrogate *s, const double *variance,
                                     cb_likelihood *likelihood, cocabo_error *err);

/* Learns theta (in and out) from the history of the ask, which may be interrupted; from
 * where theta is and from `restarts` random points. */
cocabo_status cb_surrogate_fit(cb_surrogate *s, const cb_ask *ask, const double *y,
                               const double *variance, const cb_theta_box *box,
                               int restarts, cb_rng *rng, double *theta,
                               cocabo_error *err);

#endif
