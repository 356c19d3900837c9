#include "base/linalg.h"

#include <cblas.h>
#include <lapacke.h>
#include <math.h>
#include <string.h>

bool cb_linalg_cholesky(int n, double *A, int lda) {
  if (n == 0)
    return true;
  if (LAPACKE_dpotrf_work(LAPACK_COL_MAJOR, 'U', n, A, lda) != 0)
    return false;
  /* A NaN pivot is not "<= 0", and dpotrf lets it through. */
  for (int i = 0; i < n; i++)
    if (!(A[i + (long)i * lda] > 0.0 && isfinite(A[i + (long)i * lda])))
      return false;
  return true;
}

bool cb_linalg_inverse(int n, double *U, int ldu) {
  return n == 0 || LAPACKE_dpotri_work(LAPACK_COL_MAJOR, 'U', n, U, ldu) == 0;
}

void cb_linalg_solve_ut(int n, const double *U, int ldu, double *b) {
  cblas_dtrsv(CblasColMajor, CblasUpper, CblasTrans, CblasNonUnit, n, U, ldu, b, 1);
}

void cb_linalg_solve_u(int n, const double *U, int ldu, double *b) {
  cblas_dtrsv(CblasColMajor, CblasUpper, CblasNoTrans, CblasNonUnit, n, U, ldu, b, 1);
}

void cb_linalg_trsm_upper_trans(int n, int m, const double *U, int ldu, double *B,
                                int ldb) {
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, n, m, 1.0,
              U, ldu, B, ldb);
}

void cb_linalg_gemv_t(int n, int m, const double *A, int lda, const double *x,
                      double *y) {
  if (n == 0) /* BLAS would return without writing y */
    memset(y, 0, (size_t)m * sizeof *y);
  cblas_dgemv(CblasColMajor, CblasTrans, n, m, 1.0, A, lda, x, 1, 0.0, y, 1);
}

double cb_linalg_dot(int n, const double *a, const double *b) {
  return cblas_ddot(n, a, 1, b, 1);
}

double cb_linalg_sum_squares(int n, const double *a) {
  enum { LANES = 8 };
  double s[LANES] = {0};
  int i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++)
      s[l] += a[i + l] * a[i + l];
  for (int l = 0; i < n; i++, l++)
    s[l] += a[i] * a[i];
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

const char *cb_linalg_name(void) {
  return openblas_get_config();
}
