/* judge.h - what a Gaussian process makes of few noisy results.
 *
 * A fit has to decide how much of the variation is noise. With few results it may well
 * be wrong, and the posterior given one fit knows nothing of that doubt: it would be
 * far too sure of a lucky value. So the model is fitted at several levels of noise, and
 * each has a say by how likely it makes the results. Their means differ where the noise
 * matters, which is part of the error.
 */
#ifndef CB_SAMPLER_JUDGE_H
#define CB_SAMPLER_JUDGE_H

#include "cocabo.h"
#include "model/gp_fit.h"
#include "sampler/sampler.h"
#include "sampler/surrogate.h"

/* Up to so many results the doubt is worth its price. With more the noise is known. */
enum { CB_JUDGE_MOST = 60 };

/* How a process is fitted; theta is where a fit of it ended. All borrowed. */
typedef struct cb_judge {
  cb_surrogate *surrogate; /* is left to follow from the beginning */
  const cb_kernel_spec *spec;
  const cb_theta_box *box;
  const double *theta;
  const double *y;        /* a row of the history each: targets, */
  const double *variance; /* their variances, NULL: none is known, */
  const bool *among;      /* and whether it may be the best; NULL: all may */
} cb_judge;

/* Mean and deviation of the posterior, in the units of y, at n points, x d x n and
 * h c x n: mean[0..n-1] and se[0..n-1]. There are 2 to CB_JUDGE_MOST results. */
cocabo_status cb_judge_points(const cb_judge *judge, const cb_ask *ask, int64_t n,
                              const double *x, const int32_t *h, double *mean,
                              double *se, cocabo_error *err);
/* The same at the points of all results. Of a surrogate that is restricted those of its
 * own trials mean something, of which there are two at least. */
cocabo_status cb_judge_results(const cb_judge *judge, const cb_ask *ask, double *mean,
                               double *se, cocabo_error *err);

/* The two calls of a sampler: the row of the highest mean, of those that may be it; and
 * mean and error at the point of a completed trial. */
cocabo_status cb_judge_best(const cb_judge *judge, const cb_ask *ask, int64_t *row,
                            cocabo_error *err);
cocabo_status cb_judge_expect(const cb_judge *judge, const cb_ask *ask,
                              const cb_trial *trial, double *mean, double *se,
                              cocabo_error *err);

#endif
