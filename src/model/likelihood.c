/* likelihood.c - the log marginal likelihood and its gradient by all hyper-parameters.
 *
 * L, W, alpha as in likelihood.h; K is factored as U^T U in place. The matrices are n
 * x n, column-major, and only their upper triangles are filled: a sum over pairs
 * visits each once, and the factor 1/2 of dL/dt cancels the 2. One evaluation costs
 * O(n^3) for the factor and the inverse, and O(n^2 (d + c)) for all derivatives
 * together.
 */
#include "model/likelihood.h"

#include <math.h>
#include <string.h>

#include "base/block.h"
#include "base/linalg.h"
#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/vector.h"
#include "model/cholesky.h"
#include "model/gp.h"

static const double LOG_2_PI = 1.8378770664093454835606594728112;

struct cb_likelihood {
  cb_kernel_spec spec;
  cb_theta_layout layout;
  cb_kernel kernel;
  int n;
  double *X;      /* n x d, dimension-major */
  int32_t *H;     /* n x c */
  double *y;      /* n: standardised */
  double sd;      /* of what they were */
  double *r;      /* n: noise of the rows' own */
  double *alpha;  /* n: K^-1 y */
  double *point;  /* d */
  cb_slice slice; /* n: the kernel along one h */
  double *by_dim; /* d: dL/dlog l_j */
  double *K;      /* n x n, upper: covariance, then its factor */
  double *W;      /* n x n, upper: K^-1, then W */
  double *S;      /* n x n, upper: dk_z/d(r2), then W times that */
  double *kx;     /* n x n, upper: k_x, only if weights or lambda are learnt */
  double *kh;     /* n x n, upper: k_h, or the blocks' share of r2 */
  double *ka;     /* n x n, upper: k_a */
  double *ks;     /* n: k_s of one point, and */
  double *sums;   /* n x d: its slopes by single inputs; only where there is k_s */
  double *work;   /* for factoring and inverting */
};

static size_t work_size(int n) {
  const size_t factoring = ((size_t)n + CB_BLOCK_SPARE) * CB_BLOCK;
  const size_t inverting = cb_block_inverse_work(n);
  return factoring > inverting ? factoring : inverting;
}

static bool needs_kx(const cb_kernel_spec *spec) {
  const cb_theta_layout t = cb_theta_lay_out(spec);
  return t.lambda >= 0 || t.weights >= 0;
}

/* Doubles behind the struct; carve() must agree. */
static size_t size_of_arrays(const cb_kernel_spec *spec, size_t n) {
  const size_t d = (size_t)spec->d, c = (size_t)spec->c;
  const size_t squares = 5 + needs_kx(spec), sums = spec->sums ? n * (d + 1) : 0;
  return n * d + 6 * n + 3 * d + c + squares * n * n + sums + (n * c + 1) / 2 +
         work_size((int)n);
}

static void carve(cb_likelihood *l) {
  const size_t n = (size_t)l->n, d = (size_t)l->spec.d;
  double *p = (double *)(l + 1);
  l->K = p, p += n * n;
  l->W = p, p += n * n;
  l->S = p, p += n * n;
  l->kh = p, p += n * n;
  l->ka = p, p += n * n;
  if (needs_kx(&l->spec))
    l->kx = p, p += n * n;
  if (l->spec.sums) {
    l->ks = p, p += n;
    l->sums = p, p += n * d;
  }
  l->work = p, p += work_size(l->n);
  l->X = p, p += n * d;
  l->y = p, p += n;
  l->r = p, p += n;
  l->alpha = p, p += n;
  l->slice.a = p, p += n;
  l->slice.b = p, p += n;
  l->slice.r0 = p, p += n;
  l->point = p, p += d;
  l->by_dim = p, p += d;
  l->kernel.inv_l2 = p, p += d;
  l->kernel.rate = p, p += l->spec.c;
  l->H = (int32_t *)p;
}

static void store_points(cb_likelihood *l, const double *x, const int32_t *h) {
  for (int i = 0; i < l->n; i++) {
    for (int j = 0; j < l->spec.d; j++)
      l->X[cb_at(i, j, l->n)] = x[cb_at(j, i, l->spec.d)];
    for (int j = 0; j < l->spec.c; j++)
      l->H[cb_at(i, j, l->n)] = h[cb_at(j, i, l->spec.c)];
  }
}

static void load_point(const cb_likelihood *l, int i, double *x, int32_t *h) {
  for (int j = 0; j < l->spec.d; j++)
    x[j] = l->X[cb_at(i, j, l->n)];
  for (int j = 0; j < l->spec.c; j++)
    h[j] = l->H[cb_at(i, j, l->n)];
}

/* The overlap does not depend on theta: once is enough. */
static void fill_overlap(cb_likelihood *l) {
  int32_t h[COCABO_MAX_PARAMETERS];
  for (int i = 0; i < l->n; i++) {
    load_point(l, i, l->point, h);
    cb_kernel_overlap(l->spec.c, i + 1, l->H, l->n, h, l->ka + cb_at(0, i, l->n));
  }
}

cocabo_status cb_likelihood_new(cb_likelihood **out, const cb_kernel_spec *spec, int n,
                                const double *x, const int32_t *h, cocabo_error *err) {
  *out = NULL;
  cb_likelihood *l =
      cb_calloc(1, sizeof *l + size_of_arrays(spec, (size_t)n) * sizeof(double));
  if (!l)
    return cb_no_memory(err);
  l->spec = *spec;
  l->layout = cb_theta_lay_out(spec);
  l->n = n;
  carve(l);
  store_points(l, x, h);
  fill_overlap(l);
  *out = l;
  return COCABO_OK;
}

void cb_likelihood_set_y(cb_likelihood *l, const double *y) {
  double mean;
  cb_standardise(l->n, y, l->y, &mean, &l->sd);
  memset(l->r, 0, (size_t)l->n * sizeof *l->r);
}

void cb_likelihood_set_targets(cb_likelihood *l, const double *y) {
  memcpy(l->y, y, (size_t)l->n * sizeof *y);
  l->sd = 1.0;
  memset(l->r, 0, (size_t)l->n * sizeof *l->r);
}

void cb_likelihood_set_variance(cb_likelihood *l, const double *variance) {
  for (int i = 0; i < l->n; i++)
    l->r[i] = cb_row_noise(variance[i], l->sd);
}

void cb_likelihood_free(cb_likelihood *likelihood) {
  cb_free(likelihood);
}

/* K, S, kh and kx, column by column: point i against the points up to itself. */
static void fill(cb_likelihood *l) {
  int32_t h[COCABO_MAX_PARAMETERS];
  for (int i = 0; i < l->n; i++) {
    const ptrdiff_t column = cb_at(0, i, l->n);
    load_point(l, i, l->point, h);
    cb_kernel_hamming(&l->kernel, i + 1, l->H, l->n, h, l->kh + column);
    cb_kernel_weights(&l->kernel, i + 1, l->kh + column, l->ka + column, &l->slice);
    cb_kernel_row_slope(&l->kernel, i + 1, l->X, l->n, &l->slice, l->point,
                        l->K + column, l->S + column, l->kx ? l->kx + column : NULL);
  }
}

static bool factor(cb_likelihood *l) {
  const double diagonal = cb_kernel_self(&l->kernel) + l->kernel.noise;
  for (int step = 0; step < CB_CHOLESKY_STEPS; step++) {
    fill(l);
    for (int i = 0; i < l->n; i++)
      l->K[cb_at(i, i, l->n)] +=
          l->kernel.noise + cb_cholesky_jitter(step, diagonal) + l->r[i];
    if (cb_block_cholesky(l->n, l->K, l->n, l->work))
      return true;
  }
  return false;
}

static double log_determinant_half(const cb_likelihood *l) {
  double sum = 0.0;
  for (int i = 0; i < l->n; i++)
    sum += cb_log(l->K[cb_at(i, i, l->n)]);
  return sum;
}

/* W = alpha alpha^T - K^-1 */
static void form_w(cb_likelihood *l) {
  cb_block_inverse(l->n, l->K, l->n, l->W, l->n, l->work);
  for (int i = 0; i < l->n; i++) {
    double *column = l->W + cb_at(0, i, l->n);
    for (int k = 0; k <= i; k++)
      column[k] = l->alpha[k] * l->alpha[i] - column[k];
  }
}

/* dk_z/dlog l_j = dk_z/d(r2) * (-2) (x_j - x'_j)^2 / l_j^2. Off-diagonal pairs count
 * twice, which the 1/2 of dL/dt undoes; the diagonal has distance 0. */
static void gradient_by_scales(cb_likelihood *l, double *gradient) {
  for (int j = 0; j < l->spec.d; j++)
    l->by_dim[j] = 0.0;
  for (int i = 0; i < l->n; i++) {
    double *weighted = l->S + cb_at(0, i, l->n);
    const double *w = l->W + cb_at(0, i, l->n);
    for (int k = 0; k < i; k++)
      weighted[k] *= w[k];
    for (int j = 0; j < l->spec.d; j++) {
      const double *column = l->X + cb_at(0, j, l->n);
      l->by_dim[j] += cb_kernel_weighted_squares(i, weighted, column, column[i]);
    }
  }
  for (int j = 0; j < l->spec.d; j++)
    gradient[l->spec.ard ? j : 0] += -2.0 * l->kernel.inv_l2[j] * l->by_dim[j];
}

/* In the one-hot form the blocks have the same length scale: their share of r2 is in
 * kh, and S is weighted by now. */
static double gradient_by_blocks(const cb_likelihood *l) {
  double sum = 0.0;
  for (int i = 0; i < l->n; i++) {
    const ptrdiff_t column = cb_at(0, i, l->n);
    for (int k = 0; k < i; k++)
      sum += l->S[column + k] * l->kh[column + k];
  }
  return -2.0 * sum;
}

/* dk_z/dlambda = k_a k_x - half (k_a + k_x) */
static double gradient_by_lambda(const cb_likelihood *l) {
  const double half = l->spec.half ? 0.5 : 1.0;
  double off = 0.0, trace = 0.0;
  for (int i = 0; i < l->n; i++) {
    const ptrdiff_t column = cb_at(0, i, l->n);
    for (int k = 0; k < i; k++) {
      const double ka = l->ka[column + k], kx = l->kx[column + k];
      off += l->W[column + k] * (ka * kx - half * (ka + kx));
    }
    trace += l->W[column + i];
  }
  return off + 0.5 * trace * (1.0 - 2.0 * half);
}

/* Terms of the kernel that have weights of their own, and lanes of their sums. */
enum { BY_H, BY_A, BY_X, BY_P, BY_B, TERMS };
enum { LANES = 8 };

/* What n pairs add to the sums of w times each term. */
CB_LOOPS void add_terms_loops(int n, const double *w, const double *kh,
                              const double *ka, const double *kx,
                              double sums[TERMS][LANES]) {
  double s[TERMS][LANES];
  memcpy(s, sums, sizeof s);
  for (int i = 0; i < n; i += LANES) {
    const int lanes = n - i < LANES ? n - i : LANES;
    for (int l = 0; l < lanes; l++) {
      const double wx = w[i + l] * kx[i + l];
      s[BY_H][l] += w[i + l] * kh[i + l];
      s[BY_A][l] += w[i + l] * ka[i + l];
      s[BY_X][l] += wx;
      s[BY_P][l] += wx * kh[i + l];
      s[BY_B][l] += wx * ka[i + l];
    }
  }
  memcpy(sums, s, sizeof s);
}
CB_DISPATCH_VOID(static, add_terms,
                 (int n, const double *w, const double *kh, const double *ka,
                  const double *kx, double sums[TERMS][LANES]),
                 (n, w, kh, ka, kx, sums))

/* dk_z/dlog w of each weight is the term it weighs; on the diagonal all kernels are 1.
 */
static void gradient_by_weights(const cb_likelihood *l, double *gradient) {
  double sums[TERMS][LANES] = {{0}}, trace = 0.0;
  for (int i = 0; i < l->n; i++) {
    const ptrdiff_t column = cb_at(0, i, l->n);
    add_terms(i, l->W + column, l->kh + column, l->ka + column, l->kx + column, sums);
    trace += l->W[column + i];
  }
  const cb_theta_layout *t = &l->layout;
  const cb_kernel *k = &l->kernel;
  const int index[TERMS] = {t->hamming, t->overlap, t->matern, t->hamming_matern,
                            t->overlap_matern};
  const double weight[TERMS] = {k->w_h, k->w_a, k->w_x, k->w_p, k->w_b};
  for (int m = 0; m < TERMS; m++)
    if (index[m] >= 0)
      gradient[index[m]] = weight[m] * (cb_sum_8(sums[m]) + 0.5 * trace);
}

/* dk_z/dlog t_j = -t_j [h_j != h'_j] k_h (w_h + w_p k_x). S is free by now. */
static void gradient_by_rates(cb_likelihood *l, double *gradient) {
  double *out = gradient + l->layout.rates, *weighted = l->S;
  for (int i = 0; i < l->n; i++) {
    const ptrdiff_t column = cb_at(0, i, l->n);
    for (int k = 0; k < i; k++)
      weighted[k] = l->W[column + k] * l->kh[column + k] *
                    (l->kernel.w_h + l->kernel.w_p * l->kx[column + k]);
    for (int j = 0; j < l->spec.c; j++) {
      const int32_t *categories = l->H + cb_at(0, j, l->n);
      out[j] += cb_kernel_weighted_changes(i, weighted, categories, categories[i]);
    }
  }
  for (int j = 0; j < l->spec.c; j++)
    out[j] *= -l->kernel.rate[j];
}

/* By w_s and, on top of gradient_by_scales, by the length scales of k_s. */
static void gradient_by_sum(cb_likelihood *l, double *gradient) {
  double sum = 0.0, trace = 0.0;
  for (int j = 0; j < l->spec.d; j++)
    l->by_dim[j] = 0.0;
  for (int i = 0; i < l->n; i++) {
    const double *w = l->W + cb_at(0, i, l->n);
    for (int j = 0; j < l->spec.d; j++)
      l->point[j] = l->X[cb_at(i, j, l->n)];
    cb_kernel_sum(&l->kernel, i, l->X, l->n, l->point, l->ks, l->sums);
    sum += cb_linalg_dot(i, w, l->ks);
    for (int j = 0; j < l->spec.d; j++) {
      double *weighted = l->sums + cb_at(0, j, i);
      for (int k = 0; k < i; k++)
        weighted[k] *= w[k];
      l->by_dim[j] += cb_kernel_weighted_squares(i, weighted, l->X + cb_at(0, j, l->n),
                                                 l->point[j]);
    }
    trace += w[i];
  }
  gradient[l->layout.sum] = l->kernel.w_s * (sum + 0.5 * trace);
  for (int j = 0; j < l->spec.d; j++)
    gradient[l->spec.ard ? j : 0] += -2.0 * l->kernel.inv_l2[j] * l->by_dim[j];
}

static double gradient_by_log_noise(const cb_likelihood *l) {
  double trace = 0.0;
  for (int i = 0; i < l->n; i++)
    trace += l->W[cb_at(i, i, l->n)];
  return 0.5 * l->kernel.noise * trace;
}

double cb_likelihood_value(cb_likelihood *l, const double *theta, double *gradient) {
  if (gradient)
    memset(gradient, 0, (size_t)l->layout.count * sizeof *gradient);
  cb_kernel_set(&l->kernel, &l->spec, theta);
  if (!factor(l))
    return -INFINITY;

  memcpy(l->alpha, l->y, (size_t)l->n * sizeof(double));
  cb_linalg_solve_ut(l->n, l->K, l->n, l->alpha);
  const double fit = cb_linalg_sum_squares(l->n, l->alpha);
  const double value = -0.5 * fit - log_determinant_half(l) - 0.5 * l->n * LOG_2_PI;
  if (!gradient)
    return value;

  cb_linalg_solve_u(l->n, l->K, l->n, l->alpha);
  form_w(l);
  gradient_by_scales(l, gradient);
  if (l->spec.form == CB_ONEHOT)
    gradient[0] += gradient_by_blocks(l);
  if (l->layout.lambda >= 0)
    gradient[l->layout.lambda] = gradient_by_lambda(l);
  if (l->layout.weights >= 0)
    gradient_by_weights(l, gradient);
  if (l->layout.rates >= 0)
    gradient_by_rates(l, gradient);
  if (l->layout.sum >= 0)
    gradient_by_sum(l, gradient);
  gradient[l->layout.noise] = gradient_by_log_noise(l);
  return value;
}
