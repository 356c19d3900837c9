/* block.h - triangular algebra on blocks of columns that lie side by side.
 *
 * A block is some rows of CB_BLOCK numbers: row i of block B is B[i*CB_BLOCK .. ]. The
 * loops run along the rows, so they vectorise whatever the number of rows is. These are
 * the inner loops of prediction and of fitting. They are written here because BLAS
 * libraries solve triangles at a fraction of the speed they multiply at, fall back to
 * code of twenty years ago on processors they do not know, and give other bits on each;
 * these give the same bits on every machine (docs/design/decisions/0002).
 *
 * Matrices are column-major; only upper triangles are read and written.
 */
#ifndef CB_BASE_BLOCK_H
#define CB_BASE_BLOCK_H

#include <stdbool.h>
#include <stddef.h>

enum {
  CB_BLOCK = 32,
  CB_BLOCK_SPARE = 36 /* rows of work that factoring takes besides n */
};

/* B <- U^-T B for an upper triangular U, n x n, and the first `width` columns of B (a
 * few more may be spoilt); squares[0..width-1] <- the sums of squares of the columns of
 * the result. */
void cb_block_solve(int n, const double *U, int ldu, int width, double *restrict B,
                    double *restrict squares);

/* out[0..CB_BLOCK-1] <- B^T w */
void cb_block_weigh(int n, const double *B, const double *w, double *restrict out);

/* A -> U with A = U^T U, in place. False if A is not positive definite or not finite; A
 * is then spoilt. work has n + CB_BLOCK_SPARE rows of CB_BLOCK. */
bool cb_block_cholesky(int n, double *A, int lda, double *work);

/* A <- (U^T U)^-1; A may not overlap U. work has cb_block_inverse_work(n) doubles. */
void cb_block_inverse(int n, const double *U, int ldu, double *A, int lda,
                      double *work);
size_t cb_block_inverse_work(int n);

#endif
