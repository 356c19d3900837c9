#include "base/block.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"

/* Four rows are updated by four rows at a time: sixteen products for four loads, which
 * is what keeps the arithmetic units busy. */
enum { ROWS = 4 };
_Static_assert((int)CB_BLOCK_SPARE == CB_BLOCK + ROWS, "a square block and four rows");

CB_LOOPS double *row(double *B, int i) {
  return B + (ptrdiff_t)i * CB_BLOCK;
}

/* r_k -= sum_t u[k*by_row + t*by_term] b_t for rows r_0 .. r_3 and b_0 .. b_3. */
CB_LOOPS void subtract_four(double *restrict r, const double *u, ptrdiff_t by_row,
                            ptrdiff_t by_term, const double *restrict b) {
  const double *u0 = u, *u1 = u0 + by_row, *u2 = u1 + by_row, *u3 = u2 + by_row;
  const ptrdiff_t t1 = by_term, t2 = 2 * by_term, t3 = 3 * by_term;
  for (int w = 0; w < CB_BLOCK; w++) {
    const double b0 = b[w], b1 = b[w + CB_BLOCK], b2 = b[w + 2 * CB_BLOCK],
                 b3 = b[w + 3 * CB_BLOCK];
    r[w] = r[w] - u0[0] * b0 - u0[t1] * b1 - u0[t2] * b2 - u0[t3] * b3;
    r[w + CB_BLOCK] =
        r[w + CB_BLOCK] - u1[0] * b0 - u1[t1] * b1 - u1[t2] * b2 - u1[t3] * b3;
    r[w + 2 * CB_BLOCK] =
        r[w + 2 * CB_BLOCK] - u2[0] * b0 - u2[t1] * b1 - u2[t2] * b2 - u2[t3] * b3;
    r[w + 3 * CB_BLOCK] =
        r[w + 3 * CB_BLOCK] - u3[0] * b0 - u3[t1] * b1 - u3[t2] * b2 - u3[t3] * b3;
  }
}

/* Row i once the rows before `from` are subtracted: the rest of them, then the pivot.
 */
CB_LOOPS void finish_row(int i, int from, const double *u, double *B,
                         double *restrict squares) {
  double *restrict r = row(B, i);
  for (int j = from; j < i; j++) {
    const double *restrict b = row(B, j);
    for (int w = 0; w < CB_BLOCK; w++)
      r[w] -= u[j] * b[w];
  }
  const double inverse = 1.0 / u[i];
  for (int w = 0; w < CB_BLOCK; w++) {
    r[w] *= inverse;
    squares[w] += r[w] * r[w];
  }
}

CB_LOOPS void cb_block_solve_loops(int n, const double *U, int ldu, double *restrict B,
                                   double *restrict squares) {
  memset(squares, 0, CB_BLOCK * sizeof *squares);
  for (int i = 0; i < n; i += ROWS) {
    const double *u = U + (ptrdiff_t)i * ldu;
    const int rows = n - i < ROWS ? n - i : ROWS;
    for (int j = 0; j < i && rows == ROWS; j += ROWS)
      subtract_four(row(B, i), u + j, ldu, 1, row(B, j));
    for (int k = 0; k < rows; k++)
      finish_row(i + k, rows == ROWS ? i : 0, u + (ptrdiff_t)k * ldu, B, squares);
  }
}
CB_DISPATCH_VOID(extern, cb_block_solve,
                 (int n, const double *U, int ldu, double *restrict B,
                  double *restrict squares),
                 (n, U, ldu, B, squares))

CB_LOOPS void cb_block_weigh_loops(int n, const double *B, const double *w,
                                   double *restrict out) {
  for (int k = 0; k < CB_BLOCK; k++)
    out[k] = 0.0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < CB_BLOCK; k++)
      out[k] += w[i] * B[(ptrdiff_t)i * CB_BLOCK + k];
}
CB_DISPATCH_VOID(extern, cb_block_weigh,
                 (int n, const double *B, const double *w, double *restrict out),
                 (n, B, w, out))

/* C -= A^T B for blocks of n rows, C being CB_BLOCK rows. Rows n .. n+3 of A and B must
 * exist; they are set to zero to fill up the last four. */
CB_LOOPS void subtract_product_loops(int n, double *A, double *B, double *restrict C) {
  const int whole = (n + ROWS - 1) / ROWS * ROWS;
  for (int i = n; i < whole; i++) {
    memset(row(A, i), 0, CB_BLOCK * sizeof *A);
    memset(row(B, i), 0, CB_BLOCK * sizeof *B);
  }
  for (int i = 0; i < whole; i += ROWS)
    for (int a = 0; a < CB_BLOCK; a += ROWS)
      subtract_four(row(C, a), row(A, i) + a, 1, CB_BLOCK, row(B, i));
}
CB_DISPATCH_VOID(static, subtract_product,
                 (int n, double *A, double *B, double *restrict C), (n, A, B, C))

/* ---- whole matrices, one block of columns after the other --------------------------
 */

static size_t blocks(int n) {
  return ((size_t)n + CB_BLOCK - 1) / CB_BLOCK;
}

/* A block for each CB_BLOCK columns, n rows each and four to spare, and a square one.
 */
size_t cb_block_inverse_work(int n) {
  return (blocks(n) * ((size_t)n + ROWS) + CB_BLOCK) * CB_BLOCK;
}

/* Rows first .. first+rows-1 of `width` columns of A; columns beyond are zero. */
static void load(const double *A, int lda, int first, int rows, int width, double *B) {
  memset(B, 0, (size_t)rows * CB_BLOCK * sizeof *B);
  for (int w = 0; w < width; w++)
    for (int i = 0; i < rows; i++)
      row(B, i)[w] = A[first + i + (ptrdiff_t)w * lda];
}

static void store(double *A, int lda, int first, int rows, int width, double *B) {
  for (int w = 0; w < width; w++)
    for (int i = 0; i < rows; i++)
      A[first + i + (ptrdiff_t)w * lda] = row(B, i)[w];
}

/* Cholesky of the square block D in place, its upper triangle; n <= CB_BLOCK. */
CB_LOOPS bool factor_square_loops(int n, double *D) {
  for (int a = 0; a < n; a++) {
    double *restrict r = row(D, a);
    for (int k = 0; k < a; k++) {
      const double *restrict q = row(D, k);
      const double u = q[a];
      for (int w = 0; w < CB_BLOCK; w++)
        r[w] -= u * q[w];
    }
    if (!(r[a] > 0.0 && isfinite(r[a])))
      return false;
    const double pivot = sqrt(r[a]), inverse = 1.0 / pivot;
    for (int w = 0; w < CB_BLOCK; w++)
      r[w] *= inverse;
    r[a] = pivot;
  }
  return true;
}
CB_DISPATCH(static, bool, factor_square, (int n, double *D), (n, D))

/* The columns first .. first+width-1: above the diagonal block they are U^-T A of what
 * is factored already, and what that explains is taken off the diagonal block. */
bool cb_block_cholesky(int n, double *A, int lda, double *work) {
  double *above = work, *square = work + ((size_t)n + ROWS) * CB_BLOCK;
  double ignored[CB_BLOCK];
  for (int first = 0; first < n; first += CB_BLOCK) {
    const int width = n - first < CB_BLOCK ? n - first : CB_BLOCK;
    double *columns = A + (ptrdiff_t)first * lda;
    load(columns, lda, 0, first, width, above);
    cb_block_solve(first, A, lda, above, ignored);
    store(columns, lda, 0, first, width, above);
    load(columns, lda, first, width, width, square);
    subtract_product(first, above, above, square);
    if (!factor_square(width, square))
      return false;
    for (int w = 0; w < width; w++) /* only the upper triangle is ours to write */
      store(columns + (ptrdiff_t)w * lda, lda, first, w + 1, 1, square + w);
  }
  return true;
}

/* V = U^-T is lower triangular: block b of its columns starts at row b*CB_BLOCK. Then
 * A^-1 = V^T V. */
void cb_block_inverse(int n, const double *U, int ldu, double *A, int lda,
                      double *work) {
  const size_t stride = ((size_t)n + ROWS) * CB_BLOCK;
  double *square = work + blocks(n) * stride, ignored[CB_BLOCK];
  for (int b = 0, first = 0; first < n; b++, first += CB_BLOCK) {
    double *V = work + (size_t)b * stride + (size_t)first * CB_BLOCK;
    memset(V, 0, (size_t)(n - first) * CB_BLOCK * sizeof *V);
    for (int w = 0; w < CB_BLOCK && first + w < n; w++)
      row(V, w)[w] = 1.0;
    cb_block_solve(n - first, U + first + (ptrdiff_t)first * ldu, ldu, V, ignored);
  }
  for (int b = 0, first = 0; first < n; b++, first += CB_BLOCK) {
    const int width = n - first < CB_BLOCK ? n - first : CB_BLOCK;
    const size_t start = (size_t)first * CB_BLOCK; /* rows before are zero in block b */
    for (int a = 0; a <= b; a++) {
      memset(square, 0, CB_BLOCK * CB_BLOCK * sizeof *square);
      subtract_product(n - first, work + (size_t)a * stride + start,
                       work + (size_t)b * stride + start, square);
      for (int w = 0; w < width; w++)
        for (int i = 0; i < (a < b ? CB_BLOCK : w + 1); i++)
          A[a * CB_BLOCK + i + (ptrdiff_t)(first + w) * lda] = -row(square, i)[w];
    }
  }
}
