/* nu_svr.h - support vector regression with nu, by libsvm.
 *
 * Settings mean what they mean in scikit-learn's NuSVR: polynomials are of degree 3,
 * coef0 is 0.
 */
#ifndef BENCH_PROBLEMS_NU_SVR_H
#define BENCH_PROBLEMS_NU_SVR_H

#include <stdbool.h>

#include "cocabo.h"
#include "problems/regression.h"

typedef enum bench_svr_kernel {
  BENCH_SVR_LINEAR,
  BENCH_SVR_POLY,
  BENCH_SVR_RBF,
  BENCH_SVR_SIGMOID
} bench_svr_kernel;

typedef struct bench_nu_svr {
  bench_svr_kernel kernel;
  double gamma; /* > 0; not of the linear kernel */
  bool shrinking;
  double C, nu;     /* > 0, nu <= 1 */
  double tolerance; /* > 0 */
} bench_nu_svr;

/* Fails if this program was built without libsvm, and says what brings it. */
cocabo_status bench_nu_svr_available(cocabo_error *err);

/* Learns from the training rows and predicts the test rows: test.n numbers. There is no
 * limit to the time it takes (see limited.h). */
cocabo_status bench_nu_svr_predict(const bench_nu_svr *settings,
                                   const bench_regression *rows, double *predictions,
                                   cocabo_error *err);

#endif
