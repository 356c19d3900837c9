#include "base/linalg.h"

#include <cblas.h>
#include <string.h>

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
