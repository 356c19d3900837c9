/* block.h - triangular solves for a block of right-hand sides that lie side by side.
 *
 * A block is n rows of CB_BLOCK numbers, one column a right-hand side: row i of the block
 * is B[i*CB_BLOCK .. ]. The loops run along the rows, so they vectorise whatever n is.
 * This is the inner loop of prediction; BLAS libraries solve it at a fraction of the speed
 * they multiply at, and with other bits on every processor.
 */
#ifndef CB_BASE_BLOCK_H
#define CB_BASE_BLOCK_H

enum { CB_BLOCK = 32 };

/* B <- U^-T B for an upper triangular U, n x n, column-major with leading dimension ldu;
 * squares[0..CB_BLOCK-1] <- the sums of squares of the columns of the result. */
void cb_block_solve(int n, const double *U, int ldu, double *restrict B,
                    double *restrict squares);

/* out[0..CB_BLOCK-1] <- B^T w */
void cb_block_weigh(int n, const double *B, const double *w, double *restrict out);

#endif
