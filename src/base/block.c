/* block.c - triangular solves, Cholesky factors and inverses, by blocks of columns.
 *
 * All of them come down to one loop: four rows of eight columns, kept in registers,
 * from which the products of many terms are subtracted one after the other. The order
 * of the subtractions is that of the terms, whatever the width of the vectors.
 */
#include "base/block.h"

#include <math.h>
#include <string.h>

#include "base/vector.h"

enum {
  ROWS = 4, /* of what is kept in registers */
  COLUMNS = 8,
  PANEL = 32 /* rows that stay in the first-level cache */
};
_Static_assert((int)CB_BLOCK_SPARE == CB_BLOCK + ROWS, "a square block and four rows");
_Static_assert(CB_BLOCK % COLUMNS == 0, "blocks are cut into whole tiles");

CB_LOOPS double *row(double *B, int i) {
  return B + (ptrdiff_t)i * CB_BLOCK;
}

/* A factor of a sum: term t of row k is u[k*by_row + t*by_term]. */
typedef struct {
  const double *u;
  ptrdiff_t by_row, by_term;
} factor;

/* r_k[0..7] -= sum_t u_kt b_t[0..7] for the rows r_0 .. r_3 of a block and `terms` rows
 * b_t of another. Written out with vectors, because compilers do not keep the sums in
 * registers by themselves. */
#define DEFINE_TILE(LANES)                                                             \
  CB_LOOPS void tile##LANES(int terms, factor f, const double *b, double *r) {         \
    enum { PARTS = COLUMNS / (LANES) };                                                \
    cb_vec##LANES sum[ROWS][PARTS];                                                    \
    for (int k = 0; k < ROWS; k++)                                                     \
      for (int p = 0; p < PARTS; p++)                                                  \
        sum[k][p] = *(const cb_vec##LANES *)(r + k * CB_BLOCK + p * (LANES));          \
    for (int t = 0; t < terms; t++, b += CB_BLOCK) {                                   \
      const double *u = f.u + t * f.by_term;                                           \
      for (int p = 0; p < PARTS; p++) {                                                \
        const cb_vec##LANES bp = *(const cb_vec##LANES *)(b + p * (LANES));            \
        for (int k = 0; k < ROWS; k++)                                                 \
          sum[k][p] -= u[k * f.by_row] * bp;                                           \
      }                                                                                \
    }                                                                                  \
    for (int k = 0; k < ROWS; k++)                                                     \
      for (int p = 0; p < PARTS; p++)                                                  \
        *(cb_vec##LANES *)(r + k * CB_BLOCK + p * (LANES)) = sum[k][p];                \
  }
DEFINE_TILE(8)
DEFINE_TILE(4)
DEFINE_TILE(2)

/* The same for the first `columns` columns, a multiple of eight. */
CB_LOOPS void subtract(int lanes, int columns, int terms, factor f, const double *b,
                       double *r) {
  for (int w = 0; w < columns; w += COLUMNS)
    if (lanes == 8)
      tile8(terms, f, b + w, r + w);
    else if (lanes == 4)
      tile4(terms, f, b + w, r + w);
    else
      tile2(terms, f, b + w, r + w);
}

/* Row i of a panel that starts at `from`, once what is before the panel is subtracted:
 * the panel's own rows, then the pivot. */
CB_LOOPS void finish_row(int columns, int i, int from, const double *u, double *B,
                         double *restrict squares) {
  double *restrict r = row(B, i);
  for (int j = from; j < i; j++) {
    const double *restrict b = row(B, j);
    for (int w = 0; w < columns; w++)
      r[w] -= u[j] * b[w];
  }
  const double inverse = 1.0 / u[i];
  for (int w = 0; w < columns; w++) {
    r[w] *= inverse;
    squares[w] += r[w] * r[w];
  }
}

/* Rows i .. i+rows-1 less the `terms` rows from `first` on. */
CB_LOOPS void subtract_rows(int lanes, int columns, int i, int rows, int first,
                            int terms, const double *U, int ldu, double *B) {
  const double *u = U + first + (ptrdiff_t)i * ldu;
  if (rows == ROWS)
    subtract(lanes, columns, terms, (factor){u, ldu, 1}, row(B, first), row(B, i));
  else
    for (int k = 0; k < rows; k++)
      for (int t = 0; t < terms; t++)
        for (int w = 0; w < columns; w++)
          row(B, i + k)[w] -= u[t + (ptrdiff_t)k * ldu] * row(B, first + t)[w];
}

/* A panel of rows at a time is solved and subtracted from all rows below it: it stays
 * in the first-level cache meanwhile. Few columns do so anyway, and then it is U that
 * counts, which is read along its columns. The order of the terms is the same. */
CB_LOOPS void solve_loops(int lanes, int n, const double *U, int ldu, int columns,
                          double *restrict B, double *restrict squares) {
  const int panel = columns > COLUMNS ? PANEL : n;
  for (int first = 0; first < n; first += panel) {
    const int last = n - first < panel ? n : first + panel;
    for (int i = first; i < last; i += ROWS) {
      const int rows = last - i < ROWS ? last - i : ROWS;
      subtract_rows(lanes, columns, i, rows, first, i - first, U, ldu, B);
      for (int k = 0; k < rows; k++)
        finish_row(columns, i + k, i, U + (ptrdiff_t)(i + k) * ldu, B, squares);
    }
    for (int i = last; i < n; i += ROWS)
      subtract_rows(lanes, columns, i, n - i < ROWS ? n - i : ROWS, first, last - first,
                    U, ldu, B);
  }
}
CB_DISPATCH_LANES(static, solve,
                  (int n, const double *U, int ldu, int columns, double *restrict B,
                   double *restrict squares),
                  (n, U, ldu, columns, B, squares))

void cb_block_solve(int n, const double *U, int ldu, int width, double *restrict B,
                    double *restrict squares) {
  memset(squares, 0, CB_BLOCK * sizeof *squares);
  solve(n, U, ldu, (width + COLUMNS - 1) / COLUMNS * COLUMNS, B, squares);
}

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

/* C -= A^T B for blocks of n rows and the first `width` columns of B, C being CB_BLOCK
 * rows; where B is A it is symmetric, and only its upper triangle is made. */
CB_LOOPS void subtract_product_loops(int lanes, int n, const double *A, const double *B,
                                     int width, double *restrict C) {
  for (int first = 0; first < n; first += PANEL) {
    const ptrdiff_t at = (ptrdiff_t)first * CB_BLOCK;
    const int terms = n - first < PANEL ? n - first : PANEL;
    for (int a = 0; a < (A == B ? width : CB_BLOCK); a += ROWS) {
      const int from = A == B ? a / COLUMNS * COLUMNS : 0;
      subtract(lanes, width - from, terms, (factor){A + at + a, 1, CB_BLOCK},
               B + at + from, row(C, a) + from);
    }
  }
}
CB_DISPATCH_LANES(static, subtract_product,
                  (int n, const double *A, const double *B, int width,
                   double *restrict C),
                  (n, A, B, width, C))

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
  for (int i = 0; i < rows; i++)
    memset(row(B, i), 0, CB_BLOCK * sizeof *B);
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
    cb_block_solve(first, A, lda, width, above, ignored);
    store(columns, lda, 0, first, width, above);
    load(columns, lda, first, width, width, square);
    subtract_product(first, above, above, width, square);
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
    cb_block_solve(n - first, U + first + (ptrdiff_t)first * ldu, ldu, CB_BLOCK, V,
                   ignored);
  }
  for (int b = 0, first = 0; first < n; b++, first += CB_BLOCK) {
    const int width = n - first < CB_BLOCK ? n - first : CB_BLOCK;
    const size_t start = (size_t)first * CB_BLOCK; /* rows before are zero in block b */
    for (int a = 0; a <= b; a++) {
      memset(square, 0, CB_BLOCK * CB_BLOCK * sizeof *square);
      subtract_product(n - first, work + (size_t)a * stride + start,
                       work + (size_t)b * stride + start, width, square);
      for (int w = 0; w < width; w++)
        for (int i = 0; i < (a < b ? CB_BLOCK : w + 1); i++)
          A[a * CB_BLOCK + i + (ptrdiff_t)(first + w) * lda] = -row(square, i)[w];
    }
  }
}
