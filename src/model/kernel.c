#include "model/kernel.h"

#include <math.h>

#include "base/block.h"
#include "base/mem.h"
#include "base/vector.h"
#include "base/vexp.h"

int cb_theta_scales(const cb_kernel_spec *spec) {
  return spec->ard ? spec->d : spec->d > 0;
}

int cb_theta_lambda(const cb_kernel_spec *spec) {
  const bool both = spec->d > 0 && spec->c > 0;
  return both && spec->learn_lambda ? cb_theta_scales(spec) : -1;
}

int cb_theta_noise(const cb_kernel_spec *spec) {
  return cb_theta_scales(spec) + (cb_theta_lambda(spec) >= 0);
}

int cb_theta_count(const cb_kernel_spec *spec) {
  return cb_theta_noise(spec) + 1;
}

/* With only one kind of input there is nothing to mix, so k_z is that kind's kernel.
 * Deciding it here keeps the branch out of the row loop. */
void cb_kernel_set(cb_kernel *k, const cb_kernel_spec *spec, const double *theta) {
  const bool both = spec->d > 0 && spec->c > 0;
  const int at = cb_theta_lambda(spec);
  const double lambda = at >= 0 ? theta[at] : spec->lambda;
  const double sum = (1.0 - lambda) * (spec->half ? 0.5 : 1.0);
  k->d = spec->d;
  k->c = spec->c;
  k->w_x = both ? sum : spec->d > 0;
  k->w_h = both ? sum : spec->c > 0;
  k->w_p = both ? lambda : 0.0;
  k->noise = exp(theta[cb_theta_noise(spec)]);
  for (int j = 0; j < spec->d; j++)
    k->inv_l2[j] = exp(-2.0 * theta[spec->ard ? j : 0]);
}

double cb_kernel_self(const cb_kernel *k) {
  return k->w_h + k->w_x + k->w_p;
}

void cb_kernel_overlap(const cb_kernel *k, int n, const int32_t *H, int ld,
                       const int32_t *h, double *kh) {
  for (int i = 0; i < n; i++)
    kh[i] = 0.0;
  for (int j = 0; j < k->c; j++)
    for (int i = 0; i < n; i++)
      kh[i] += H[cb_at(i, j, ld)] == h[j];
  for (int i = 0; i < n && k->c > 0; i++)
    kh[i] /= k->c;
}

void cb_kernel_weights(const cb_kernel *k, int n, const double *kh, double *a,
                       double *b) {
  for (int i = 0; i < n; i++) {
    a[i] = k->w_h * kh[i];
    b[i] = k->w_x + k->w_p * kh[i];
  }
}

/* r2[i] = sum_j (x_j - X_ij)^2 / l_j^2 */
static inline void scaled_squares(const cb_kernel *k, int n, const double *X, int ld,
                                  const double *x, double *restrict r2) {
  for (int i = 0; i < n; i++)
    r2[i] = 0.0;
  for (int j = 0; j < k->d; j++) {
    const double *column = X + cb_at(0, j, ld);
    const double xj = x[j], scale = k->inv_l2[j];
    for (int i = 0; i < n; i++) {
      const double u = xj - column[i];
      r2[i] += u * u * scale;
    }
  }
}

CB_VECTORISED
void cb_kernel_row(const cb_kernel *k, int n, const double *X, int ld, const double *a,
                   const double *b, const double *x, double *restrict kz) {
  scaled_squares(k, n, X, ld, x, kz);
  for (int i = 0; i < n; i++) {
    const double s = sqrt(5.0 * kz[i]);
    kz[i] = a[i] + b[i] * ((1.0 + s + s * s * (1.0 / 3.0)) * cb_exp_neg(-s));
  }
}

/* dk_x/d(r2) = -(5/6) (1 + s) exp(-s): no singularity at r = 0, so a candidate lying on
 * a stored point needs no special case. */
CB_VECTORISED
void cb_kernel_row_slope(const cb_kernel *k, int n, const double *X, int ld,
                         const double *a, const double *b, const double *x,
                         double *restrict kz,
                         double *restrict slope, double *restrict kx) {
  scaled_squares(k, n, X, ld, x, kz);
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

/* Scaled squared distances of point i to the CB_BLOCK candidates. */
static inline void block_squares(const cb_kernel *k, const double *X, int ld,
                                 const double *Q, double *restrict r2) {
  for (int w = 0; w < CB_BLOCK; w++)
    r2[w] = 0.0;
  for (int j = 0; j < k->d; j++) {
    const double xj = X[cb_at(0, j, ld)], scale = k->inv_l2[j];
    const double *q = Q + cb_at(0, j, CB_BLOCK);
    for (int w = 0; w < CB_BLOCK; w++) {
      const double u = q[w] - xj;
      r2[w] += u * u * scale;
    }
  }
}

/* Three passes over the block: the one with the exponential is one long loop, which is
 * the form that compilers vectorise. */
CB_VECTORISED
void cb_kernel_block(const cb_kernel *k, int n, const double *X, int ld, const double *a,
                     const double *b, const double *Q, double *restrict out) {
  for (int i = 0; i < n; i++)
    block_squares(k, X + i, ld, Q, out + cb_at(0, i, CB_BLOCK));
  for (int i = 0; i < n * CB_BLOCK; i++) {
    const double s = sqrt(5.0 * out[i]);
    out[i] = (1.0 + s + s * s * (1.0 / 3.0)) * cb_exp_neg(-s);
  }
  for (int i = 0; i < n; i++)
    for (int w = 0; w < CB_BLOCK; w++)
      out[cb_at(w, i, CB_BLOCK)] = a[i] + b[i] * out[cb_at(w, i, CB_BLOCK)];
}

CB_VECTORISED
double cb_kernel_weighted_squares(int n, const double *w, const double *column,
                                  double x) {
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
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}
