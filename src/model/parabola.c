/* parabola.c - normal equations, and descents along the axes that end with a step to
 * where the free ones are lowest.
 */
#include "model/parabola.h"

#include <math.h>
#include <string.h>

#include "base/block.h"
#include "base/linalg.h"
#include "base/mem.h"

enum {
  MOST = CB_PARABOLA_MOST_INPUTS,
  MOST_TERMS = 1 + MOST + MOST * (MOST + 1) / 2,
  ROUNDS = 20, /* of sweeps along the axes, each followed by a step of the free ones */
  SWEEPS = 10
};

static const double RIDGE = 1e-13; /* of the largest on the diagonal */
static const double FLAT = 1e-14;  /* curvature: less is none */
static const double STILL = 1e-12; /* a round that moves less is the last one */

int cb_parabola_terms(int d) {
  return 1 + d + d * (d + 1) / 2;
}

size_t cb_parabola_work(int d) {
  const size_t t = (size_t)cb_parabola_terms(d);
  return t * t + (t + CB_BLOCK_SPARE) * CB_BLOCK;
}

/* ---- fitting --------------------------------------------------------------------- */

static void fill_terms(int d, const double *z, double *term) {
  int k = 0;
  term[k++] = 1.0;
  for (int i = 0; i < d; i++)
    term[k++] = z[i];
  for (int i = 0; i < d; i++)
    for (int j = i; j < d; j++)
      term[k++] = z[i] * z[j];
}

double cb_parabola_at(int d, const double *coefficients, const double *z) {
  double term[MOST_TERMS];
  fill_terms(d, z, term);
  return cb_linalg_dot(cb_parabola_terms(d), coefficients, term);
}

bool cb_parabola_fit(int d, int n, const double *z, const double *weight,
                     const double *y, double *coefficients, double *work) {
  const int t = cb_parabola_terms(d);
  double *A = work, *spare = work + (size_t)t * (size_t)t, most = 0.0;
  double term[MOST_TERMS];
  memset(A, 0, (size_t)t * (size_t)t * sizeof *A);
  memset(coefficients, 0, (size_t)t * sizeof *coefficients);
  for (int i = 0; i < n; i++) {
    fill_terms(d, z + cb_at(0, i, d), term);
    for (int c = 0; c < t; c++) {
      const double w = weight[i] * term[c];
      coefficients[c] += w * y[i];
      for (int r = 0; r <= c; r++)
        A[cb_at(r, c, t)] += w * term[r];
    }
  }
  for (int c = 0; c < t; c++)
    most = fmax(most, A[cb_at(c, c, t)]);
  for (int c = 0; c < t; c++)
    A[cb_at(c, c, t)] += RIDGE * most;
  if (!cb_block_cholesky(t, A, t, spare))
    return false;
  cb_linalg_solve_ut(t, A, t, coefficients);
  cb_linalg_solve_u(t, A, t, coefficients);
  for (int c = 0; c < t; c++)
    if (!isfinite(coefficients[c]))
      return false;
  return true;
}

/* ---- the lowest point ------------------------------------------------------------ */

/* p(z) = b_0 + g z + z H z / 2 in a box. */
typedef struct {
  int d;
  double g[MOST], H[MOST * MOST]; /* both triangles */
  const double *lower, *upper;
} bowl;

static bowl bowl_of(int d, const double *coefficients, const double *lower,
                    const double *upper) {
  bowl b = {.d = d, .lower = lower, .upper = upper};
  int k = 1 + d;
  for (int i = 0; i < d; i++)
    b.g[i] = coefficients[1 + i];
  for (int i = 0; i < d; i++)
    for (int j = i; j < d; j++, k++)
      b.H[cb_at(i, j, d)] = b.H[cb_at(j, i, d)] =
          i == j ? 2.0 * coefficients[k] : coefficients[k];
  return b;
}

static double within(double v, double lower, double upper) {
  return fmin(fmax(v, lower), upper);
}

/* z_j becomes the lowest along its axis. */
static void descend(const bowl *b, int j, double *z) {
  const double curve = b->H[cb_at(j, j, b->d)], lower = b->lower[j],
               upper = b->upper[j];
  const double slope =
      b->g[j] + cb_linalg_dot(b->d, b->H + cb_at(0, j, b->d), z) - curve * z[j];
  if (curve > FLAT)
    z[j] = within(-slope / curve, lower, upper);
  else
    z[j] = (slope + 0.5 * curve * lower) * lower < (slope + 0.5 * curve * upper) * upper
               ? lower
               : upper;
}

/* Those that are not at the box's sides go to where p is lowest while the others stay,
 * if there is such a place in the box. */
static void step(const bowl *b, double *z) {
  const int d = b->d;
  double A[MOST * MOST], work[(MOST + CB_BLOCK_SPARE) * CB_BLOCK], to[MOST];
  int at[MOST], n = 0;
  for (int j = 0; j < d; j++)
    if (z[j] > b->lower[j] && z[j] < b->upper[j])
      at[n++] = j;
  for (int c = 0; c < n; c++) {
    to[c] = -b->g[at[c]] - cb_linalg_dot(d, b->H + cb_at(0, at[c], d), z);
    for (int r = 0; r <= c; r++)
      A[cb_at(r, c, n)] = b->H[cb_at(at[r], at[c], d)];
  }
  if (n == 0 || !cb_block_cholesky(n, A, n, work))
    return;
  cb_linalg_solve_ut(n, A, n, to);
  cb_linalg_solve_u(n, A, n, to);
  for (int i = 0; i < n; i++) {
    to[i] += z[at[i]];
    if (!(to[i] >= b->lower[at[i]] && to[i] <= b->upper[at[i]]))
      return;
  }
  for (int i = 0; i < n; i++)
    z[at[i]] = to[i];
}

/* From z. Sweeps find out which ones end at the box's sides; narrow valleys are for the
 * step. */
static void fall(const bowl *b, double *z) {
  double before[MOST], moved = INFINITY;
  for (int round = 0; round < ROUNDS && moved > STILL; round++) {
    memcpy(before, z, (size_t)b->d * sizeof *z);
    for (int sweep = 0; sweep < SWEEPS; sweep++)
      for (int j = 0; j < b->d; j++)
        descend(b, j, z);
    step(b, z);
    moved = 0.0;
    for (int j = 0; j < b->d; j++)
      moved = fmax(moved, fabs(z[j] - before[j]));
  }
}

double cb_parabola_lowest(int d, const double *coefficients, const double *lower,
                          const double *upper, double *z) {
  const bowl b = bowl_of(d, coefficients, lower, upper);
  double lowest = INFINITY, from[MOST];
  for (int start = 0; start <= 2 * d; start++) {
    const int j = (start - 1) / 2;
    memset(from, 0, sizeof from);
    if (start > 0)
      from[j] = start % 2 ? lower[j] : upper[j];
    fall(&b, from);
    const double value = cb_parabola_at(d, coefficients, from);
    if (value < lowest) {
      lowest = value;
      memcpy(z, from, (size_t)d * sizeof *z);
    }
  }
  return lowest;
}
