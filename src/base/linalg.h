/* linalg.h - vectors and triangles; the only caller of BLAS (block.h has the rest).
 *
 * Matrices are column-major with a leading dimension. A symmetric A is held and factored
 * in its upper triangle, A = U^T U: appending a row to A then appends a contiguous
 * column to U.
 */
#ifndef CB_BASE_LINALG_H
#define CB_BASE_LINALG_H

/* b <- U^-T b, b <- U^-1 b. */
void cb_linalg_solve_ut(int n, const double *U, int ldu, double *b);
void cb_linalg_solve_u(int n, const double *U, int ldu, double *b);

/* B <- U^-T B for m right-hand sides, B n x m. */
void cb_linalg_trsm_upper_trans(int n, int m, const double *U, int ldu, double *B,
                                int ldb);

/* y <- A^T x for A n x m. */
void cb_linalg_gemv_t(int n, int m, const double *A, int lda, const double *x, double *y);

double cb_linalg_dot(int n, const double *a, const double *b);

/* Sum of squares in a fixed order: eight partial sums, then a tree. The same bits for
 * every vector width. */
double cb_linalg_sum_squares(int n, const double *a);

/* Which BLAS, on which processor: part of the fingerprint that bits depend on. The text
 * is static. */
const char *cb_linalg_name(void);

#endif
