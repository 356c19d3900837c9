/* cholesky.h - what to add to a covariance that will not factor.
 *
 * The ladder is relative to the mean of the diagonal: nothing, then 1e-10 ... 1e-4, and
 * then the noise itself is raised, up to one hundredth, a tenth and all of the
 * diagonal.
 */
#ifndef CB_MODEL_CHOLESKY_H
#define CB_MODEL_CHOLESKY_H

enum { CB_CHOLESKY_STEPS = 11 };

/* What to add to the diagonal at step 0 .. CB_CHOLESKY_STEPS-1; diagonal > 0. */
static inline double cb_cholesky_jitter(int step, double diagonal) {
  static const double ladder[CB_CHOLESKY_STEPS] = {0.0,  1e-10, 1e-9, 1e-8, 1e-7, 1e-6,
                                                   1e-5, 1e-4,  1e-2, 1e-1, 1.0};
  return ladder[step] * diagonal;
}

#endif
