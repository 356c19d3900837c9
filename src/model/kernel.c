/* kernel.c - the covariance k_z and its derivatives, in loops over the stored points.
 *
 * Notation and shapes as in kernel.h. Loops that matter are compiled for each vector
 * width (base/vector.h), with the same order of sums in each.
 */
#include "model/kernel.h"

#include <math.h>
#include <string.h>

#include "base/block.h"
#include "base/maths.h"
#include "base/mem.h"
#include "base/vector.h"
#include "base/vexp.h"
#include "cocabo.h"

cb_theta_layout cb_theta_lay_out(const cb_kernel_spec *spec) {
  const bool both = spec->d > 0 && spec->c > 0;
  cb_theta_layout t = {.lambda = -1,
                       .rates = -1,
                       .weights = -1,
                       .hamming = -1,
                       .overlap = -1,
                       .matern = -1,
                       .hamming_matern = -1,
                       .overlap_matern = -1,
                       .sum = -1};
  int next = t.scales = spec->form == CB_ONEHOT ? 1 : spec->ard ? spec->d : spec->d > 0;
  if (spec->form == CB_ONEHOT) {
    t.weights = t.matern = next++;
    t.n_weights = 1;
  } else if (spec->form == CB_FREE) {
    if (spec->c > 0)
      t.rates = next, next += spec->c;
    t.weights = next;
    if (spec->c > 0)
      t.hamming = next++;
    if (spec->c > 1)
      t.overlap = next++;
    if (spec->d > 0)
      t.matern = next++;
    if (both)
      t.hamming_matern = next++;
    if (both && spec->c > 1)
      t.overlap_matern = next++;
    if (spec->sums)
      t.sum = next++;
    t.n_weights = next - t.weights;
  } else if (both && spec->learn_lambda) {
    t.lambda = next++;
  }
  t.noise = next;
  t.count = next + 1;
  return t;
}

static double weight(const double *theta, int index) {
  return index >= 0 ? cb_exp(theta[index]) : 0.0;
}

/* With only one kind of input there is nothing to mix, so k_z is that kind's kernel.
 * Deciding it here keeps the branch out of the row loop. */
static void set_weights(cb_kernel *k, const cb_kernel_spec *spec,
                        const cb_theta_layout *t, const double *theta) {
  const bool both = spec->d > 0 && spec->c > 0;
  k->w_h = weight(theta, t->hamming);
  k->w_a = weight(theta, t->overlap);
  k->w_x = weight(theta, t->matern);
  k->w_p = weight(theta, t->hamming_matern);
  k->w_b = weight(theta, t->overlap_matern);
  k->w_s = weight(theta, t->sum);
  if (spec->form != CB_PAPER)
    return;
  const double lambda = t->lambda >= 0 ? theta[t->lambda] : spec->lambda;
  const double sum = (1.0 - lambda) * (spec->half ? 0.5 : 1.0);
  k->w_x = both ? sum : spec->d > 0;
  k->w_a = both ? sum : spec->c > 0;
  k->w_b = both ? lambda : 0.0;
}

void cb_kernel_set(cb_kernel *k, const cb_kernel_spec *spec, const double *theta) {
  const cb_theta_layout t = cb_theta_lay_out(spec);
  k->d = spec->d;
  k->c = spec->c;
  k->form = spec->form;
  set_weights(k, spec, &t, theta);
  k->noise = cb_exp(theta[t.noise]);
  for (int j = 0; j < spec->d; j++)
    k->inv_l2[j] = cb_exp(-2.0 * theta[spec->ard ? j : 0]);
  for (int j = 0; j < spec->c && t.rates >= 0; j++)
    k->rate[j] = cb_exp(theta[t.rates + j]);
  for (int j = 0; j < spec->c && spec->form == CB_ONEHOT; j++)
    k->rate[j] = 2.0 * cb_exp(-2.0 * theta[0]);
}

double cb_kernel_self(const cb_kernel *k) {
  return k->w_h + k->w_a + k->w_x + k->w_p + k->w_b + k->w_s;
}

CB_LOOPS void cb_kernel_overlap_loops(int c, int n, const int32_t *H, int ld,
                                      const int32_t *h, double *restrict ka) {
  for (int i = 0; i < n; i++)
    ka[i] = 0.0;
  for (int j = 0; j < c; j++)
    for (int i = 0; i < n; i++)
      ka[i] += H[cb_at(i, j, ld)] == h[j];
  for (int i = 0; i < n && c > 0; i++)
    ka[i] /= c;
}
CB_DISPATCH_VOID(extern, cb_kernel_overlap,
                 (int c, int n, const int32_t *H, int ld, const int32_t *h,
                  double *restrict ka),
                 (c, n, H, ld, h, ka))

/* t[i] = sum_j t_j [h_j != H_ij] */
CB_LOOPS void changes_loops(int c, const double *rate, int n, const int32_t *H, int ld,
                            const int32_t *h, double *restrict t) {
  for (int i = 0; i < n; i++)
    t[i] = 0.0;
  for (int j = 0; j < c; j++)
    for (int i = 0; i < n; i++)
      t[i] += rate[j] * (double)(H[cb_at(i, j, ld)] != h[j]);
}
CB_DISPATCH_VOID(static, changes,
                 (int c, const double *rate, int n, const int32_t *H, int ld,
                  const int32_t *h, double *restrict t),
                 (c, rate, n, H, ld, h, t))

CB_LOOPS void exp_negative_loops(int n, double *t) {
  for (int i = 0; i < n; i++)
    t[i] = cb_exp_neg(-t[i]);
}
CB_DISPATCH_VOID(static, exp_negative, (int n, double *t), (n, t))

void cb_kernel_hamming(const cb_kernel *k, int n, const int32_t *H, int ld,
                       const int32_t *h, double *restrict kh) {
  changes(k->form == CB_PAPER ? 0 : k->c, k->rate, n, H, ld, h, kh);
  if (k->form == CB_FREE)
    exp_negative(n, kh);
}

CB_LOOPS void cb_kernel_weights_loops(const cb_kernel *k, int n, const double *kh,
                                      const double *ka, const cb_slice *slice) {
  double *restrict a = slice->a, *restrict b = slice->b, *restrict r0 = slice->r0;
  const double onehot = k->form == CB_ONEHOT;
  for (int i = 0; i < n; i++) {
    a[i] = k->w_h * kh[i] + k->w_a * ka[i];
    b[i] = k->w_x + k->w_p * kh[i] + k->w_b * ka[i];
    r0[i] = onehot * kh[i];
  }
}
CB_DISPATCH_VOID(extern, cb_kernel_weights,
                 (const cb_kernel *k, int n, const double *kh, const double *ka,
                  const cb_slice *slice),
                 (k, n, kh, ka, slice))

/* r2[i] = r0[i] + sum_j (x_j - X_ij)^2 / l_j^2 */
CB_LOOPS void scaled_squares(const cb_kernel *k, int n, const double *X, int ld,
                             const double *r0, const double *x, double *restrict r2) {
  for (int i = 0; i < n; i++)
    r2[i] = r0[i];
  for (int j = 0; j < k->d; j++) {
    const double *column = X + cb_at(0, j, ld);
    const double xj = x[j], scale = k->inv_l2[j];
    for (int i = 0; i < n; i++) {
      const double u = xj - column[i];
      r2[i] += u * u * scale;
    }
  }
}

/* g_j, the term of one input in k_s, of n points, added to ks. */
CB_LOOPS void add_input(int n, double xj, const double *column, double scale,
                        double *restrict ks) {
  for (int i = 0; i < n; i++) {
    const double u = xj - column[i];
    ks[i] += 1.0 / (1.0 + (5.0 / 6.0) * (u * u * scale));
  }
}

/* The same, and dg_j/dv = -5/6 g_j^2. */
CB_LOOPS void add_input_slope(int n, double xj, const double *column, double scale,
                              double *restrict ks, double *restrict slope) {
  for (int i = 0; i < n; i++) {
    const double u = xj - column[i];
    const double g = 1.0 / (1.0 + (5.0 / 6.0) * (u * u * scale));
    ks[i] += g;
    slope[i] = (-5.0 / 6.0) * (g * g);
  }
}

CB_LOOPS void cb_kernel_sum_loops(const cb_kernel *k, int n, const double *X, int ld,
                                  const double *x, double *restrict ks,
                                  double *restrict slopes) {
  const double share = 1.0 / k->d;
  for (int i = 0; i < n; i++)
    ks[i] = 0.0;
  for (int j = 0; j < k->d; j++) {
    const double *column = X + cb_at(0, j, ld);
    if (slopes)
      add_input_slope(n, x[j], column, k->inv_l2[j], ks, slopes + cb_at(0, j, n));
    else
      add_input(n, x[j], column, k->inv_l2[j], ks);
  }
  for (int i = 0; i < n; i++)
    ks[i] *= share;
  for (ptrdiff_t i = 0; slopes && i < cb_at(0, k->d, n); i++)
    slopes[i] *= k->w_s * share;
}
CB_DISPATCH_VOID(extern, cb_kernel_sum,
                 (const cb_kernel *k, int n, const double *X, int ld, const double *x,
                  double *restrict ks, double *restrict slopes),
                 (k, n, X, ld, x, ks, slopes))

/* Adds w_s k_s to kz, a few points at a time. */
static void add_sum(const cb_kernel *k, int n, const double *X, int ld, const double *x,
                    double *restrict kz) {
  enum { FEW = 64 };
  double ks[FEW];
  for (int first = 0; k->w_s > 0.0 && first < n; first += FEW) {
    const int few = n - first < FEW ? n - first : FEW;
    cb_kernel_sum(k, few, X + first, ld, x, ks, NULL);
    for (int i = 0; i < few; i++)
      kz[first + i] += k->w_s * ks[i];
  }
}

CB_LOOPS void kernel_row_loops(const cb_kernel *k, int n, const double *X, int ld,
                               const cb_slice *slice, const double *x,
                               double *restrict kz) {
  const double *a = slice->a, *b = slice->b;
  scaled_squares(k, n, X, ld, slice->r0, x, kz);
  for (int i = 0; i < n; i++) {
    const double s = sqrt(5.0 * kz[i]);
    kz[i] = a[i] + b[i] * ((1.0 + s + s * s * (1.0 / 3.0)) * cb_exp_neg(-s));
  }
}
CB_DISPATCH_VOID(static, kernel_row,
                 (const cb_kernel *k, int n, const double *X, int ld,
                  const cb_slice *slice, const double *x, double *restrict kz),
                 (k, n, X, ld, slice, x, kz))

void cb_kernel_row(const cb_kernel *k, int n, const double *X, int ld,
                   const cb_slice *slice, const double *x, double *restrict kz) {
  kernel_row(k, n, X, ld, slice, x, kz);
  add_sum(k, n, X, ld, x, kz);
}

/* dk_x/d(r2) = -(5/6) (1 + s) exp(-s): no singularity at r = 0, so a candidate lying on
 * a stored point needs no special case. */
CB_LOOPS void kernel_row_slope_loops(const cb_kernel *k, int n, const double *X, int ld,
                                     const cb_slice *slice, const double *x,
                                     double *restrict kz, double *restrict slope,
                                     double *restrict kx) {
  const double *a = slice->a, *b = slice->b;
  scaled_squares(k, n, X, ld, slice->r0, x, kz);
  for (int i = 0; i < n; i++) {
    const double s = sqrt(5.0 * kz[i]);
    const double e = cb_exp_neg(-s);
    kz[i] = (1.0 + s + s * s * (1.0 / 3.0)) * e;
    slope[i] = b[i] * ((-5.0 / 6.0) * (1.0 + s) * e);
  }
  if (kx)
    for (int i = 0; i < n; i++)
      kx[i] = kz[i];
  for (int i = 0; i < n; i++)
    kz[i] = a[i] + b[i] * kz[i];
}
CB_DISPATCH_VOID(static, kernel_row_slope,
                 (const cb_kernel *k, int n, const double *X, int ld,
                  const cb_slice *slice, const double *x, double *restrict kz,
                  double *restrict slope, double *restrict kx),
                 (k, n, X, ld, slice, x, kz, slope, kx))

void cb_kernel_row_slope(const cb_kernel *k, int n, const double *X, int ld,
                         const cb_slice *slice, const double *x, double *restrict kz,
                         double *restrict slope, double *restrict kx) {
  kernel_row_slope(k, n, X, ld, slice, x, kz, slope, kx);
  add_sum(k, n, X, ld, x, kz);
}

/* Point i against `width` candidates: the scaled squared distances, on top of r0;
 * and how unlike its categories are theirs, by the rates and by the share that differs.
 * Candidates' categories are doubles, so that a comparison is as wide as the sum that
 * it feeds. Written out with vectors, because compilers make branches of it. */
#define DEFINE_BLOCK_ROWS(LANES)                                                       \
  CB_LOOPS void squares##LANES(const cb_kernel *k, const double *X, int ld, double r0, \
                               int width, const double *Q, double *r2) {               \
    for (int w = 0; w < width; w += (LANES)) {                                         \
      cb_vec##LANES sum = r0 - (cb_vec##LANES){0};                                     \
      for (int j = 0; j < k->d; j++) {                                                 \
        const cb_vec##LANES u =                                                        \
            *(const cb_vec##LANES *)(Q + w + j * CB_BLOCK) - X[cb_at(0, j, ld)];       \
        sum += u * u * k->inv_l2[j];                                                   \
      }                                                                                \
      *(cb_vec##LANES *)(r2 + w) = sum;                                                \
    }                                                                                  \
  }                                                                                    \
  CB_LOOPS void changes##LANES(const cb_kernel *k, const double *rate,                 \
                               const int32_t *H, int ld, int width, const double *G,   \
                               double *t, double *share) {                             \
    const cb_vec##LANES zero = {0}, one = zero + 1.0;                                  \
    for (int w = 0; w < width; w += (LANES)) {                                         \
      cb_vec##LANES sum = zero, count = zero;                                          \
      for (int j = 0; j < k->c; j++) {                                                 \
        const cb_vec##LANES g = *(const cb_vec##LANES *)(G + w + j * CB_BLOCK);        \
        const cb_mask##LANES differs = g != (double)H[cb_at(0, j, ld)] + zero;         \
        sum += (cb_vec##LANES)((cb_mask##LANES)(rate[j] + zero) & differs);            \
        count += (cb_vec##LANES)((cb_mask##LANES)one & differs);                       \
      }                                                                                \
      *(cb_vec##LANES *)(t + w) = sum;                                                 \
      *(cb_vec##LANES *)(share + w) = count / (double)(k->c > 0 ? k->c : 1);           \
    }                                                                                  \
  }
DEFINE_BLOCK_ROWS(8)
DEFINE_BLOCK_ROWS(4)
DEFINE_BLOCK_ROWS(2)

CB_LOOPS void block_squares(int lanes, const cb_kernel *k, const double *X, int ld,
                            double r0, int width, const double *Q, double *r2) {
  if (lanes == 8)
    squares8(k, X, ld, r0, width, Q, r2);
  else if (lanes == 4)
    squares4(k, X, ld, r0, width, Q, r2);
  else
    squares2(k, X, ld, r0, width, Q, r2);
}

CB_LOOPS void block_changes(int lanes, const cb_kernel *k, const double *rate,
                            const int32_t *H, int ld, int width, const double *G,
                            double *t, double *share) {
  if (lanes == 8)
    changes8(k, rate, H, ld, width, G, t, share);
  else if (lanes == 4)
    changes4(k, rate, H, ld, width, G, t, share);
  else
    changes2(k, rate, H, ld, width, G, t, share);
}

/* k_x of scaled squared distances, in place: one long loop, which is the form that
 * compilers vectorise. */
CB_LOOPS void matern(int n, double *restrict kx) {
  for (int i = 0; i < n; i++) {
    const double s = sqrt(5.0 * kx[i]);
    kx[i] = (1.0 + s + s * s * (1.0 / 3.0)) * cb_exp_neg(-s);
  }
}

/* A few rows at a time, packed, so that the long loops stay in the first-level cache
 * and do nothing for columns that nobody wants. */
enum { ROWS = 16, TILE = 8 };

static int whole_tiles(int width) {
  return (width + TILE - 1) / TILE * TILE;
}

/* Adds w_s k_s of n points and the candidates Q to rows of `width`. */
CB_LOOPS void add_sum_block_loops(const cb_kernel *k, int n, const double *X, int ld,
                                  int width, const double *Q, double *restrict out) {
  const double share = k->w_s / k->d;
  for (int i = 0; i < n; i++) {
    double *restrict row = out + cb_at(0, i, CB_BLOCK);
    double ks[CB_BLOCK] = {0};
    for (int j = 0; j < k->d; j++)
      add_input(width, X[cb_at(i, j, ld)], Q + cb_at(0, j, CB_BLOCK), k->inv_l2[j], ks);
    for (int w = 0; w < width; w++)
      row[w] += share * ks[w];
  }
}
CB_DISPATCH_VOID(static, add_sum_block,
                 (const cb_kernel *k, int n, const double *X, int ld, int width,
                  const double *Q, double *restrict out),
                 (k, n, X, ld, width, Q, out))

CB_LOOPS void kernel_block_loops(int lanes, const cb_kernel *k, int n, const double *X,
                                 int ld, const cb_slice *slice, int width,
                                 const double *Q, double *restrict out) {
  const double *a = slice->a, *b = slice->b;
  double kx[ROWS * CB_BLOCK];
  for (int first = 0; first < n; first += ROWS) {
    const int rows = n - first < ROWS ? n - first : ROWS;
    for (int i = 0; i < rows; i++)
      block_squares(lanes, k, X + first + i, ld, slice->r0[first + i], width, Q,
                    kx + cb_at(0, i, width));
    matern(rows * width, kx);
    for (int i = 0; i < rows; i++)
      for (int w = 0; w < width; w++)
        out[cb_at(w, first + i, CB_BLOCK)] =
            a[first + i] + b[first + i] * kx[cb_at(w, i, width)];
  }
}
CB_DISPATCH_LANES(static, kernel_block,
                  (const cb_kernel *k, int n, const double *X, int ld,
                   const cb_slice *slice, int width, const double *Q,
                   double *restrict out),
                  (k, n, X, ld, slice, width, Q, out))

void cb_kernel_block(const cb_kernel *k, int n, const double *X, int ld,
                     const cb_slice *slice, int width, const double *Q,
                     double *restrict out) {
  kernel_block(k, n, X, ld, slice, whole_tiles(width), Q, out);
  if (k->w_s > 0.0)
    add_sum_block(k, n, X, ld, whole_tiles(width), Q, out);
}

CB_LOOPS void kernel_block_mixed_loops(int lanes, const cb_kernel *k, int n,
                                       const double *X, const int32_t *H, int ld,
                                       int width, const double *Q, const double *G,
                                       double *restrict out) {
  static const double no_rate[COCABO_MAX_PARAMETERS] = {0};
  const double *rate = k->form == CB_PAPER ? no_rate : k->rate;
  double kx[ROWS * CB_BLOCK], kh[ROWS * CB_BLOCK], apart[ROWS * CB_BLOCK];
  for (int first = 0; first < n; first += ROWS) {
    const int rows = n - first < ROWS ? n - first : ROWS, m = rows * width;
    for (int i = 0; i < rows; i++) {
      const ptrdiff_t at = cb_at(0, i, width);
      block_squares(lanes, k, X + first + i, ld, 0.0, width, Q, kx + at);
      block_changes(lanes, k, rate, H + first + i, ld, width, G, kh + at, apart + at);
    }
    for (int i = 0; i < m && k->form == CB_ONEHOT; i++)
      kx[i] += kh[i];
    matern(m, kx);
    for (int i = 0; i < m; i++)
      kh[i] = cb_exp_neg(-kh[i]);
    for (int i = 0; i < m; i++) {
      const double ka = 1.0 - apart[i];
      kx[i] = k->w_h * kh[i] + k->w_a * ka +
              (k->w_x + k->w_p * kh[i] + k->w_b * ka) * kx[i];
    }
    for (int i = 0; i < rows; i++)
      memcpy(out + cb_at(0, first + i, CB_BLOCK), kx + cb_at(0, i, width),
             (size_t)width * sizeof *kx);
  }
}
CB_DISPATCH_LANES(static, kernel_block_mixed,
                  (const cb_kernel *k, int n, const double *X, const int32_t *H, int ld,
                   int width, const double *Q, const double *G, double *restrict out),
                  (k, n, X, H, ld, width, Q, G, out))

void cb_kernel_block_mixed(const cb_kernel *k, int n, const double *X, const int32_t *H,
                           int ld, int width, const double *Q, const double *G,
                           double *restrict out) {
  kernel_block_mixed(k, n, X, H, ld, whole_tiles(width), Q, G, out);
  if (k->w_s > 0.0)
    add_sum_block(k, n, X, ld, whole_tiles(width), Q, out);
}

/* A point that shares the old category of the variable loses it, one that has the new
 * category gains it, and all others stay as similar as they were. */
void cb_kernel_block_swaps(const cb_kernel *k, int n, const int32_t *H, int ld,
                           const double *kx, const double *ks, const double *kh,
                           const double *ka, const int32_t *h, int count,
                           const int32_t *which, const int32_t *to,
                           double *restrict out) {
  for (int w = 0; w < count; w++) {
    const int32_t j = which[w], old = h[j], new = to[w];
    const int32_t *column = H + cb_at(0, j, ld);
    const double gain = k->form == CB_FREE ? cb_exp(k->rate[j]) : 1.0,
                 loss = 1.0 / gain;
    for (int i = 0; i < n; i++) {
      const double factor = column[i] == old ? loss : column[i] == new ? gain : 1.0;
      const double step = (column[i] == new) - (column[i] == old);
      const double h_i = kh[i] * factor, a_i = ka[i] + step / k->c;
      out[cb_at(w, i, CB_BLOCK)] =
          k->w_h * h_i + k->w_a * a_i + (k->w_x + k->w_p * h_i + k->w_b * a_i) * kx[i];
    }
    for (int i = 0; ks && i < n; i++)
      out[cb_at(w, i, CB_BLOCK)] += k->w_s * ks[i];
  }
}

CB_LOOPS double cb_kernel_weighted_squares_loops(int n, const double *w,
                                                 const double *column, double x) {
  enum { LANES = 8 };
  double s[LANES] = {0};
  int i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++) {
      const double u = x - column[i + l];
      s[l] += w[i + l] * (u * u);
    }
  for (int l = 0; i < n; i++, l++) {
    const double u = x - column[i];
    s[l] += w[i] * (u * u);
  }
  return cb_sum_8(s);
}
CB_DISPATCH(extern, double, cb_kernel_weighted_squares,
            (int n, const double *w, const double *column, double x), (n, w, column, x))

CB_LOOPS double cb_kernel_weighted_differences_loops(int n, const double *w,
                                                     const double *column, double x) {
  enum { LANES = 8 };
  double s[LANES] = {0};
  int i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++)
      s[l] += w[i + l] * (x - column[i + l]);
  for (int l = 0; i < n; i++, l++)
    s[l] += w[i] * (x - column[i]);
  return cb_sum_8(s);
}
CB_DISPATCH(extern, double, cb_kernel_weighted_differences,
            (int n, const double *w, const double *column, double x), (n, w, column, x))

/* Products, not choices: GCC 12 makes wrong code of a vectorised `int != int ? double :
 * 0.0` in a sum (a test knows). */
CB_LOOPS double cb_kernel_weighted_changes_loops(int n, const double *w,
                                                 const int32_t *column, int32_t h) {
  enum { LANES = 8 };
  double s[LANES] = {0};
  int i = 0;
  for (; i + LANES <= n; i += LANES)
    for (int l = 0; l < LANES; l++)
      s[l] += w[i + l] * (double)(column[i + l] != h);
  for (int l = 0; i < n; i++, l++)
    s[l] += w[i] * (double)(column[i] != h);
  return cb_sum_8(s);
}
CB_DISPATCH(extern, double, cb_kernel_weighted_changes,
            (int n, const double *w, const int32_t *column, int32_t h),
            (n, w, column, h))
