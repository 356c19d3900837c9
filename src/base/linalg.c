/* linalg.c - dot products and triangular solves for one right-hand side.
 *
 * Sums run in a fixed number of partial sums that are added pairwise in the end: the
 * result does not depend on the vectors that the processor has.
 */
#include "base/linalg.h"

#include <stddef.h>

#include "base/vector.h"

/* Sixteen partial sums: two registers of the widest vectors, so that an addition need
 * not wait for the one before. */
enum { LANES = 16 };

CB_LOOPS double dot(int n, const double *a, const double *b) {
  double s[LANES] = {0};
  int i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++)
      s[l] += a[i + l] * b[i + l];
  for (int l = 0; i < n; i++, l++)
    s[l] += a[i] * b[i];
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++)
      s[l] += s[l + half];
  return s[0];
}

CB_LOOPS double cb_linalg_dot_loops(int n, const double *a, const double *b) {
  return dot(n, a, b);
}
CB_DISPATCH(extern, double, cb_linalg_dot, (int n, const double *a, const double *b),
            (n, a, b))

CB_LOOPS double cb_linalg_sum_squares_loops(int n, const double *a) {
  return dot(n, a, a);
}
CB_DISPATCH(extern, double, cb_linalg_sum_squares, (int n, const double *a), (n, a))

CB_LOOPS void cb_linalg_solve_ut_loops(int n, const double *U, int ldu,
                                       double *restrict b) {
  for (int i = 0; i < n; i++) {
    const double *column = U + (ptrdiff_t)i * ldu;
    b[i] = (b[i] - dot(i, column, b)) / column[i];
  }
}
CB_DISPATCH_VOID(extern, cb_linalg_solve_ut,
                 (int n, const double *U, int ldu, double *restrict b), (n, U, ldu, b))

CB_LOOPS void cb_linalg_solve_u_loops(int n, const double *U, int ldu,
                                      double *restrict b) {
  for (int i = n - 1; i >= 0; i--) {
    const double *column = U + (ptrdiff_t)i * ldu;
    const double x = b[i] /= column[i];
    for (int j = 0; j < i; j++)
      b[j] -= x * column[j];
  }
}
CB_DISPATCH_VOID(extern, cb_linalg_solve_u,
                 (int n, const double *U, int ldu, double *restrict b), (n, U, ldu, b))
