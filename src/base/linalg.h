/* linalg.h - vectors and triangles, one right-hand side at a time (block.h has many).
 *
 * Matrices are column-major with a leading dimension. A symmetric A is held and
 * factored in its upper triangle, A = U^T U: appending a row to A then appends a
 * contiguous column to U. Every sum has a fixed order that does not depend on the
 * vector width, so the bits are the same on every machine.
 */
#ifndef CB_BASE_LINALG_H
#define CB_BASE_LINALG_H

double cb_linalg_dot(int n, const double *a, const double *b);
double cb_linalg_sum_squares(int n, const double *a);

/* b <- U^-T b, b <- U^-1 b. */
void cb_linalg_solve_ut(int n, const double *U, int ldu, double *restrict b);
void cb_linalg_solve_u(int n, const double *U, int ldu, double *restrict b);

#endif
