#include "base/block.h"

#include <stddef.h>
#include <string.h>

#include "base/vector.h"

/* Rows are solved four at a time and four earlier rows are subtracted at a time: sixteen
 * products for four loads, which is what keeps the arithmetic units busy. */
enum { ROWS = 4 };

static inline double *row(double *B, int i) {
  return B + (ptrdiff_t)i * CB_BLOCK;
}

/* r_k -= u_k[j .. j+3] . (rows j .. j+3), k = 0 .. 3 */
static inline void subtract_four(double *restrict r, int j, const double *U, int ldu,
                                 const double *restrict b) {
  const double *u0 = U + j, *u1 = u0 + ldu, *u2 = u1 + ldu, *u3 = u2 + ldu;
  for (int w = 0; w < CB_BLOCK; w++) {
    const double b0 = b[w], b1 = b[w + CB_BLOCK], b2 = b[w + 2 * CB_BLOCK],
                 b3 = b[w + 3 * CB_BLOCK];
    r[w] = r[w] - u0[0] * b0 - u0[1] * b1 - u0[2] * b2 - u0[3] * b3;
    r[w + CB_BLOCK] =
        r[w + CB_BLOCK] - u1[0] * b0 - u1[1] * b1 - u1[2] * b2 - u1[3] * b3;
    r[w + 2 * CB_BLOCK] =
        r[w + 2 * CB_BLOCK] - u2[0] * b0 - u2[1] * b1 - u2[2] * b2 - u2[3] * b3;
    r[w + 3 * CB_BLOCK] =
        r[w + 3 * CB_BLOCK] - u3[0] * b0 - u3[1] * b1 - u3[2] * b2 - u3[3] * b3;
  }
}

/* Row i once the rows before `from` are subtracted: the rest of them, then the pivot. */
static inline void finish_row(int i, int from, const double *u, double *B,
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

CB_VECTORISED
void cb_block_solve(int n, const double *U, int ldu, double *restrict B,
                    double *restrict squares) {
  memset(squares, 0, CB_BLOCK * sizeof *squares);
  for (int i = 0; i < n; i += ROWS) {
    const double *u = U + (ptrdiff_t)i * ldu;
    const int rows = n - i < ROWS ? n - i : ROWS;
    for (int j = 0; j < i && rows == ROWS; j += ROWS)
      subtract_four(row(B, i), j, u, ldu, row(B, j));
    for (int k = 0; k < rows; k++)
      finish_row(i + k, rows == ROWS ? i : 0, u + (ptrdiff_t)k * ldu, B, squares);
  }
}

CB_VECTORISED
void cb_block_weigh(int n, const double *B, const double *w, double *restrict out) {
  for (int k = 0; k < CB_BLOCK; k++)
    out[k] = 0.0;
  for (int i = 0; i < n; i++)
    for (int k = 0; k < CB_BLOCK; k++)
      out[k] += w[i] * B[(ptrdiff_t)i * CB_BLOCK + k];
}
