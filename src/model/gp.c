/* gp.c - a Gaussian process: its factor, its predictions and cheap bounds on them.
 *
 * K, U, v, mu as in gp.h; X and H are dimension-major (kernel.h). Beside U and y there
 * are z = U^-T y and alpha = U^-1 z. Points are stored, factored and predicted in this
 * order:
 *
 *   1 .. factored     by the last full factorisation
 *   .. n              appended, one column of U each
 *   fantasies         appended last, with targets of their own, removed by truncating
 *
 * Predictions take blocks of CB_BLOCK candidates. A bound on a deviation uses some of
 * the points only: variance never grows when points are added, so it is an upper
 * bound.
 */
#include "model/gp.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/block.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/status.h"
#include "model/cholesky.h"

enum {
  MAX_APPENDS = 64, /* rounding grows with appends: factor anew after so many */
  FIRST_ROOM = 64,
  FOCUS = 128,    /* points around the focus that bound deviations */
  FEW_COLUMNS = 8 /* fantasies that are appended one by one */
};

static const double LOST_PIVOT = 1e-10; /* of the diagonal */
static const double MIN_VARIANCE = 1e-12;

struct cb_gp {
  cb_kernel_spec spec;
  cb_kernel kernel; /* its arrays follow the struct */
  int n;            /* points, fantasies included */
  int factored;     /* points of the last full factorisation */
  int room;         /* leading dimension of everything below */
  double jitter;    /* added to the diagonal besides the noise */
  double mean, sd;  /* of the targets */
  double *X;        /* room x d, dimension-major */
  int32_t *H;       /* room x c */
  double *U;        /* room x room, upper triangle */
  double *r;        /* room: noise of the rows' own */
  bool noisy;       /* has one of them any? */
  double *y;        /* room: standardised targets */
  double *z;        /* room: U^-T y */
  double *alpha;    /* room: K^-1 y */
  cb_slice slice;   /* room: the kernel along the bound h */
  double *kh, *ka;  /* room */
  double *block;    /* room + CB_BLOCK_SPARE rows: covariances, then U^-T of them */
  double *Q;        /* CB_BLOCK x d, dimension-major: the candidates of a block */
  double *G;        /* CB_BLOCK x c: their categories, where they differ */
  double *slope;    /* room */
  double *kx;       /* room */
  double *ks;       /* room: k_s, and */
  double *sums;     /* room x d: its slopes by single inputs; only where there is k_s */
  int n_focus;      /* points of the focus, 0 = there is none */
  int focus[FOCUS]; /* which they are */
  double *F;        /* FOCUS x FOCUS, upper: the factor of their covariance; NULL while
                       there is no room for so many points */
  double *XF;       /* FOCUS x d: the points */
  int32_t *HF;      /* FOCUS x c */
  double *near;     /* FOCUS rows: a block's covariances with them */
  void *memory;     /* the one block behind all arrays */
};

/* On values scaled by a power of two, so that neither a sum nor a square of them leaves
 * the range of doubles. */
void cb_moments(int n, const double *y, double *mean, double *sd) {
  double top = 0.0, sum = 0.0, squares = 0.0;
  int exponent = 0;
  for (int i = 0; i < n; i++)
    top = fmax(top, fabs(y[i]));
  frexp(top, &exponent);
  for (int i = 0; i < n; i++)
    sum += ldexp(y[i], -exponent);
  const double middle = n > 0 ? sum / n : 0.0;
  for (int i = 0; i < n; i++) {
    const double u = ldexp(y[i], -exponent) - middle;
    squares += u * u;
  }
  const double spread = n > 0 ? sqrt(squares / n) : 0.0;
  *mean = ldexp(middle, exponent);
  /* Neither rounding of the mean nor subnormal crumbs must be taken for signal. */
  *sd = ldexp(spread, exponent);
  if (!(spread > 1e-14 * fabs(middle) && *sd > 1e-290))
    *sd = fmax(1.0, fabs(*mean));
}

/* Halved, the difference of any two doubles is finite; and halving is exact. */
void cb_standardise(int n, const double *y, double *out, double *mean, double *sd) {
  cb_moments(n, y, mean, sd);
  for (int i = 0; i < n; i++)
    out[i] = (0.5 * y[i] - 0.5 * *mean) / (0.5 * *sd);
}

cocabo_status cb_gp_new(cb_gp **out, const cb_kernel_spec *spec, cocabo_error *err) {
  *out = NULL;
  cb_gp *gp = cb_calloc(1, sizeof *gp + (size_t)(spec->d + spec->c) * sizeof(double));
  if (!gp)
    return cb_no_memory(err);
  gp->spec = *spec;
  gp->kernel.inv_l2 = (double *)(gp + 1);
  gp->kernel.rate = gp->kernel.inv_l2 + spec->d;
  gp->sd = 1.0;
  const cocabo_status status = cb_gp_reserve(gp, FIRST_ROOM, err);
  if (status != COCABO_OK) {
    cb_gp_free(gp);
    return status;
  }
  *out = gp;
  return COCABO_OK;
}

void cb_gp_free(cb_gp *gp) {
  if (!gp)
    return;
  cb_free(gp->memory);
  cb_free(gp);
}

/* Doubles that the arrays for `room` points take; carve() must agree. */
static size_t size_of_arrays(const cb_gp *gp, size_t room) {
  const size_t d = (size_t)gp->spec.d, c = (size_t)gp->spec.c;
  const size_t focus = room > FIRST_ROOM ? FOCUS * (FOCUS + CB_BLOCK + d + c) : 0;
  return room * (room + d + 11) + CB_BLOCK * (room + CB_BLOCK_SPARE + d + c) +
         (room * c + 1) / 2 + (gp->spec.sums ? room * (d + 1) : 0) + focus;
}

/* Carves all arrays for gp->room points out of one block. */
static void carve(cb_gp *gp, double *p) {
  const size_t room = (size_t)gp->room;
  gp->memory = p;
  gp->U = p, p += room * room;
  gp->block = p, p += (room + CB_BLOCK_SPARE) * CB_BLOCK;
  gp->Q = p, p += CB_BLOCK * (size_t)gp->spec.d;
  gp->X = p, p += room * (size_t)gp->spec.d;
  gp->r = p, p += room;
  gp->y = p, p += room;
  gp->z = p, p += room;
  gp->alpha = p, p += room;
  gp->slice.a = p, p += room;
  gp->slice.b = p, p += room;
  gp->slice.r0 = p, p += room;
  gp->kh = p, p += room;
  gp->ka = p, p += room;
  gp->slope = p, p += room;
  gp->kx = p, p += room;
  if (gp->spec.sums) {
    gp->ks = p, p += room;
    gp->sums = p, p += room * (size_t)gp->spec.d;
  }
  if (gp->room > FIRST_ROOM) {
    gp->F = p, p += FOCUS * FOCUS;
    gp->near = p, p += FOCUS * CB_BLOCK;
    gp->XF = p, p += FOCUS * (size_t)gp->spec.d;
    gp->HF = (int32_t *)p, p += FOCUS * (size_t)gp->spec.c;
  }
  gp->G = p, p += CB_BLOCK * (size_t)gp->spec.c;
  gp->H = (int32_t *)p;
}

/* Copies the points of the old arrays; `from` has a smaller leading dimension. */
static void copy_points(cb_gp *to, const cb_gp *from) {
  const size_t n = (size_t)from->n;
  for (int j = 0; j < from->spec.d; j++)
    memcpy(to->X + cb_at(0, j, to->room), from->X + cb_at(0, j, from->room),
           n * sizeof(double));
  for (int j = 0; j < from->spec.c; j++)
    memcpy(to->H + cb_at(0, j, to->room), from->H + cb_at(0, j, from->room),
           n * sizeof(int32_t));
  for (int i = 0; i < from->n; i++)
    memcpy(to->U + cb_at(0, i, to->room), from->U + cb_at(0, i, from->room),
           ((size_t)i + 1) * sizeof(double));
  memcpy(to->r, from->r, n * sizeof(double));
  memcpy(to->y, from->y, n * sizeof(double));
  memcpy(to->z, from->z, n * sizeof(double));
  memcpy(to->alpha, from->alpha, n * sizeof(double));
}

cocabo_status cb_gp_reserve(cb_gp *gp, int n, cocabo_error *err) {
  if (n <= gp->room)
    return COCABO_OK;
  int room = gp->room + gp->room / 2;
  room = (n > room ? n : room);
  room = (room + 7) / 8 * 8; /* whole vectors */
  double *memory = cb_calloc(size_of_arrays(gp, (size_t)room), sizeof(double));
  if (!memory)
    return cb_no_memory(err);
  cb_gp bigger = *gp;
  bigger.room = room;
  bigger.n_focus = 0;
  carve(&bigger, memory);
  if (gp->n > 0)
    copy_points(&bigger, gp);
  cb_free(gp->memory);
  *gp = bigger;
  return COCABO_OK;
}

void cb_gp_set_theta(cb_gp *gp, const double *theta) {
  cb_kernel_set(&gp->kernel, &gp->spec, theta);
  gp->n = gp->factored = gp->n_focus = 0;
  gp->jitter = 0.0;
  gp->noisy = false;
}

static void store_point(cb_gp *gp, int i, const double *x, const int32_t *h) {
  gp->r[i] = 0.0;
  for (int j = 0; j < gp->spec.d; j++)
    gp->X[cb_at(i, j, gp->room)] = x[j];
  for (int j = 0; j < gp->spec.c; j++)
    gp->H[cb_at(i, j, gp->room)] = h[j];
}

static void load_point(const cb_gp *gp, int i, double *x, int32_t *h) {
  for (int j = 0; j < gp->spec.d; j++)
    x[j] = gp->X[cb_at(i, j, gp->room)];
  for (int j = 0; j < gp->spec.c; j++)
    h[j] = gp->H[cb_at(i, j, gp->room)];
}

/* k_h and k_a between h and the n points whose categories start at H. */
static void load_similarities(cb_gp *gp, int n, const int32_t *H, const int32_t *h) {
  cb_kernel_hamming(&gp->kernel, n, H, gp->room, h, gp->kh);
  cb_kernel_overlap(gp->spec.c, n, H, gp->room, h, gp->ka);
}

/* Covariance of (x, h) with the first n points, into kz. */
static void covariances(cb_gp *gp, int n, const double *x, const int32_t *h,
                        double *kz) {
  load_similarities(gp, n, gp->H, h);
  cb_kernel_weights(&gp->kernel, n, gp->kh, gp->ka, &gp->slice);
  cb_kernel_row(&gp->kernel, n, gp->X, gp->room, &gp->slice, x, kz);
}

/* Upper triangle of K without noise; one column a point. */
static void fill_covariance(cb_gp *gp, int n) {
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  for (int i = 0; i < n; i++) {
    load_point(gp, i, x, h);
    covariances(gp, i + 1, x, h, gp->U + cb_at(0, i, gp->room));
  }
}

static cocabo_status factor_stored(cb_gp *gp, int n, cocabo_error *err) {
  gp->n = gp->factored = gp->n_focus = 0;
  for (int step = 0; step < CB_CHOLESKY_STEPS; step++) {
    fill_covariance(gp, n);
    gp->jitter =
        cb_cholesky_jitter(step, cb_kernel_self(&gp->kernel) + gp->kernel.noise);
    for (int i = 0; i < n; i++)
      gp->U[cb_at(i, i, gp->room)] += gp->kernel.noise + gp->jitter + gp->r[i];
    if (cb_block_cholesky(n, gp->U, gp->room, gp->block)) {
      gp->n = gp->factored = n;
      return COCABO_OK;
    }
  }
  return cb_fail(err, COCABO_E_NUMERIC,
                 "the covariance of %d points cannot be factored, even with its noise "
                 "raised to %g",
                 n, gp->jitter);
}

cocabo_status cb_gp_factor(cb_gp *gp, int n, const double *x, const int32_t *h,
                           cocabo_error *err) {
  return cb_gp_factor_noisy(gp, n, x, h, NULL, err);
}

cocabo_status cb_gp_factor_noisy(cb_gp *gp, int n, const double *x, const int32_t *h,
                                 const double *noise, cocabo_error *err) {
  CB_TRY(cb_gp_reserve(gp, n, err));
  gp->noisy = false;
  for (int i = 0; i < n; i++) {
    store_point(gp, i, x + cb_at(0, i, gp->spec.d), h + cb_at(0, i, gp->spec.c));
    gp->r[i] = noise ? noise[i] : 0.0;
    gp->noisy |= gp->r[i] > 0.0;
  }
  return factor_stored(gp, n, err);
}

/* A row with so much noise says nothing, and the factor can still be had. */
double cb_row_noise(double variance, double sd) {
  static const double most = 1e6;
  const double ratio = fmin(sqrt(variance) / sd, most);
  return ratio * ratio;
}

/* Appends the column U^-T k and the pivot; returns the squared pivot, which may be
 * useless. The point is stored, but n does not count it yet. */
static double append_column(cb_gp *gp, const double *x, const int32_t *h) {
  const int n = gp->n;
  double *column = gp->U + cb_at(0, n, gp->room);
  covariances(gp, n, x, h, column);
  store_point(gp, n, x, h);
  cb_linalg_solve_ut(n, gp->U, gp->room, column);
  const double self = cb_kernel_self(&gp->kernel) + gp->kernel.noise + gp->jitter;
  return self - cb_linalg_sum_squares(n, column);
}

static double lost_pivot(const cb_gp *gp) {
  return LOST_PIVOT * (cb_kernel_self(&gp->kernel) + gp->kernel.noise);
}

cocabo_status cb_gp_push(cb_gp *gp, const double *x, const int32_t *h,
                         cocabo_error *err) {
  CB_TRY(cb_gp_reserve(gp, gp->n + 1, err));
  const double pivot = append_column(gp, x, h);
  if (gp->n - gp->factored >= MAX_APPENDS || !(pivot > lost_pivot(gp)))
    return factor_stored(gp, gp->n + 1, err);
  gp->U[cb_at(gp->n, gp->n, gp->room)] = sqrt(pivot);
  gp->n++;
  return COCABO_OK;
}

static void solve_alpha(cb_gp *gp) {
  memcpy(gp->alpha, gp->z, (size_t)gp->n * sizeof(double));
  cb_linalg_solve_u(gp->n, gp->U, gp->room, gp->alpha);
}

static void solve_targets(cb_gp *gp) {
  memcpy(gp->z, gp->y, (size_t)gp->n * sizeof(double));
  cb_linalg_solve_ut(gp->n, gp->U, gp->room, gp->z);
  solve_alpha(gp);
}

void cb_gp_set_y(cb_gp *gp, const double *y) {
  cb_standardise(gp->n, y, gp->y, &gp->mean, &gp->sd);
  solve_targets(gp);
}

void cb_gp_set_targets(cb_gp *gp, const double *y) {
  gp->mean = 0.0;
  gp->sd = 1.0;
  if (gp->n > 0)
    memcpy(gp->y, y, (size_t)gp->n * sizeof(double));
  solve_targets(gp);
}

/* Candidates first .. first+count-1, dimension-major; a short block repeats its last.
 */
static void load_block(cb_gp *gp, const double *x, int first, int count) {
  for (int w = 0; w < CB_BLOCK; w++) {
    const int i = first + (w < count ? w : count - 1);
    for (int j = 0; j < gp->spec.d; j++)
      gp->Q[cb_at(w, j, CB_BLOCK)] = x[cb_at(j, i, gp->spec.d)];
  }
}

/* Likewise their categories. */
static void load_categories(cb_gp *gp, const int32_t *h, int first, int count) {
  for (int w = 0; w < CB_BLOCK; w++) {
    const int i = first + (w < count ? w : count - 1);
    for (int j = 0; j < gp->spec.c; j++)
      gp->G[cb_at(w, j, CB_BLOCK)] = h[cb_at(j, i, gp->spec.c)];
  }
}

/* ---- fantasies ---------------------------------------------------------------------
 */

/* The new points lie behind the first n: their columns U^-T k, a block at a time. Where
 * there are few the plain solve is faster. */
static void fantasy_columns(cb_gp *gp, int count, const double *x, const int32_t *h) {
  const int n = gp->n;
  double squares[CB_BLOCK];
  if (count < FEW_COLUMNS) {
    for (int w = 0; w < count; w++) {
      double *column = gp->U + cb_at(0, n + w, gp->room);
      covariances(gp, n, x + cb_at(0, w, gp->spec.d), h + cb_at(0, w, gp->spec.c),
                  column);
      cb_linalg_solve_ut(n, gp->U, gp->room, column);
    }
    return;
  }
  load_block(gp, x, 0, count);
  load_categories(gp, h, 0, count);
  cb_kernel_block_mixed(&gp->kernel, n, gp->X, gp->H, gp->room, count, gp->Q, gp->G,
                        gp->block);
  cb_block_solve(n, gp->U, gp->room, count, gp->block, squares);
  for (int w = 0; w < count; w++)
    for (int i = 0; i < n; i++)
      gp->U[cb_at(i, n + w, gp->room)] = gp->block[cb_at(w, i, CB_BLOCK)];
}

/* Point w of the new ones against those before it, and its pivot, which is never lost:
 * a fantasy on top of a point must not make the factor useless. */
static void finish_fantasy(cb_gp *gp, int first, int w, const double *x,
                           const int32_t *h) {
  const int n = first + w;
  double *column = gp->U + cb_at(0, n, gp->room), *k = gp->slope;
  load_similarities(gp, w, gp->H + first, h);
  cb_kernel_weights(&gp->kernel, w, gp->kh, gp->ka, &gp->slice);
  cb_kernel_row(&gp->kernel, w, gp->X + first, gp->room, &gp->slice, x, k);
  for (int i = 0; i < w; i++) {
    const double *before = gp->U + cb_at(0, first + i, gp->room);
    column[first + i] =
        (k[i] - cb_linalg_dot(first + i, before, column)) / before[first + i];
  }
  const double self = cb_kernel_self(&gp->kernel) + gp->kernel.noise + gp->jitter;
  column[n] = sqrt(fmax(self - cb_linalg_sum_squares(n, column), lost_pivot(gp)));
  store_point(gp, n, x, h);
}

cocabo_status cb_gp_fantasize(cb_gp *gp, int m, const double *x, const int32_t *h,
                              const double *target, cocabo_error *err) {
  const int d = gp->spec.d, c = gp->spec.c;
  CB_TRY(cb_gp_reserve(gp, gp->n + m, err));
  for (int done = 0; done < m; done += CB_BLOCK) {
    const int first = gp->n, count = m - done < CB_BLOCK ? m - done : CB_BLOCK;
    fantasy_columns(gp, count, x + cb_at(0, done, d), h + cb_at(0, done, c));
    for (int w = 0; w < count; w++) {
      finish_fantasy(gp, first, w, x + cb_at(0, done + w, d),
                     h + cb_at(0, done + w, c));
      const double *column = gp->U + cb_at(0, gp->n, gp->room);
      const double mean = cb_linalg_dot(gp->n, column, gp->z);
      gp->y[gp->n] = target ? *target : mean;
      gp->z[gp->n] = target ? (*target - mean) / column[gp->n] : 0.0;
      gp->alpha[gp->n] = 0.0; /* what its own mean deserves */
      gp->n++;
    }
  }
  if (target && m > 0)
    solve_alpha(gp);
  return COCABO_OK;
}

void cb_gp_truncate(cb_gp *gp, int n) {
  assert(n <= gp->n);
  if (n == gp->n)
    return;
  gp->n = n;
  gp->n_focus = 0;
  if (gp->factored > n)
    gp->factored = n;
  solve_alpha(gp);
}

double cb_gp_fitted(const cb_gp *gp, int i) {
  return gp->y[i] - cb_gp_row_noise(gp, i) * gp->alpha[i];
}

double cb_gp_row_noise(const cb_gp *gp, int i) {
  return gp->kernel.noise + gp->jitter + gp->r[i];
}

/* mu = (K - N) K^-1 y, N the diagonal of noise: column j of I - N K^-1. */
void cb_gp_influence(const cb_gp *gp, int j, double *out) {
  for (int i = 0; i < gp->n; i++)
    out[i] = i == j;
  cb_linalg_solve_ut(gp->n, gp->U, gp->room, out);
  cb_linalg_solve_u(gp->n, gp->U, gp->room, out);
  for (int i = 0; i < gp->n; i++)
    out[i] = (i == j) - cb_gp_row_noise(gp, i) * out[i];
}

int cb_gp_count(const cb_gp *gp) {
  return gp->n;
}

double cb_gp_noise(const cb_gp *gp) {
  return gp->kernel.noise;
}

void cb_gp_scale(const cb_gp *gp, double *mean, double *sd) {
  *mean = gp->mean;
  *sd = gp->sd;
}

void cb_gp_bind(cb_gp *gp, const int32_t *h) {
  load_similarities(gp, gp->n, gp->H, h);
  cb_kernel_weights(&gp->kernel, gp->n, gp->kh, gp->ka, &gp->slice);
}

static double deviation(const cb_gp *gp, double explained) {
  const double self = cb_kernel_self(&gp->kernel);
  return sqrt(fmax(self - explained, MIN_VARIANCE * self));
}

/* ---- exact, or screened ------------------------------------------------------------
 * What happens to a block of covariances: means, and deviations or bounds on them, of
 * its first `count` candidates. */
typedef void block_step(cb_gp *gp, int count, double *mu, double *sd);

static void predict_block(cb_gp *gp, int count, double *mu, double *sd) {
  double means[CB_BLOCK], squares[CB_BLOCK];
  cb_block_weigh(gp->n, gp->block, gp->alpha, means);
  cb_block_solve(gp->n, gp->U, gp->room, count, gp->block, squares);
  for (int w = 0; w < count; w++) {
    mu[w] = means[w];
    sd[w] = deviation(gp, squares[w]);
  }
}

/* The largest of each column of the block, all of whose entries are positive. */
static void block_largest(int n, const double *B, double *restrict out) {
  for (int w = 0; w < CB_BLOCK; w++)
    out[w] = 0.0;
  for (int i = 0; i < n; i++)
    for (int w = 0; w < CB_BLOCK; w++) {
      const double k = B[cb_at(w, i, CB_BLOCK)];
      out[w] = k > out[w] ? k : out[w];
    }
}

/* The most that one point alone explains of each candidate's variance: k^2 / (k(z,z) +
 * noise + r). */
static void explained_alone(const cb_gp *gp, double *restrict out) {
  const double own = cb_kernel_self(&gp->kernel) + gp->kernel.noise + gp->jitter;
  if (!gp->noisy) {
    block_largest(gp->n, gp->block, out);
    for (int w = 0; w < CB_BLOCK; w++)
      out[w] = out[w] * out[w] / own;
    return;
  }
  for (int w = 0; w < CB_BLOCK; w++)
    out[w] = 0.0;
  for (int i = 0; i < gp->n; i++)
    for (int w = 0; w < CB_BLOCK; w++) {
      const double k = gp->block[cb_at(w, i, CB_BLOCK)];
      out[w] = fmax(out[w], k * k / (own + gp->r[i]));
    }
}

/* A point alone, or the focus, which explains the squares of F^-T k. A little is taken
 * off, for rounding must not make a bound too low. */
static void screen_block(cb_gp *gp, int count, double *mu, double *sd) {
  const double self = cb_kernel_self(&gp->kernel), slack = 1e-9 * self;
  double means[CB_BLOCK], alone[CB_BLOCK], squares[CB_BLOCK];
  cb_block_weigh(gp->n, gp->block, gp->alpha, means);
  explained_alone(gp, alone);
  for (int i = 0; i < gp->n_focus; i++)
    memcpy(gp->near + cb_at(0, i, CB_BLOCK),
           gp->block + cb_at(0, gp->focus[i], CB_BLOCK), CB_BLOCK * sizeof *gp->near);
  cb_block_solve(gp->n_focus, gp->F, FOCUS, count, gp->near, squares);
  for (int w = 0; w < count; w++) {
    mu[w] = means[w];
    sd[w] = deviation(gp, fmax(alone[w], squares[w]) - slack);
  }
}

/* The points with the largest covariance, the first of equals, into gp->focus. */
static void choose_focus(cb_gp *gp, const double *k, int most) {
  gp->n_focus = 0;
  for (int i = 0; i < gp->n; i++) {
    int place = gp->n_focus;
    if (place == most && !(k[i] > k[gp->focus[most - 1]]))
      continue;
    place = place < most ? gp->n_focus++ : most - 1;
    for (; place > 0 && k[i] > k[gp->focus[place - 1]]; place--)
      gp->focus[place] = gp->focus[place - 1];
    gp->focus[place] = i;
  }
}

void cb_gp_focus(cb_gp *gp, const double *x, const int32_t *h, int points) {
  double point[COCABO_MAX_PARAMETERS];
  int32_t category[COCABO_MAX_PARAMETERS];
  gp->n_focus = 0;
  if ((!x && gp->spec.d > 0) || (!h && gp->spec.c > 0) || !gp->F)
    return;
  covariances(gp, gp->n, x, h, gp->slope);
  choose_focus(gp, gp->slope, points < FOCUS ? points : FOCUS);
  for (int i = 0; i < gp->n_focus; i++) {
    double *column = gp->F + cb_at(0, i, FOCUS);
    load_point(gp, gp->focus[i], point, category);
    for (int j = 0; j < gp->spec.d; j++)
      gp->XF[cb_at(i, j, FOCUS)] = point[j];
    for (int j = 0; j < gp->spec.c; j++)
      gp->HF[cb_at(i, j, FOCUS)] = category[j];
    cb_kernel_hamming(&gp->kernel, i + 1, gp->HF, FOCUS, category, gp->kh);
    cb_kernel_overlap(gp->spec.c, i + 1, gp->HF, FOCUS, category, gp->ka);
    cb_kernel_weights(&gp->kernel, i + 1, gp->kh, gp->ka, &gp->slice);
    cb_kernel_row(&gp->kernel, i + 1, gp->XF, FOCUS, &gp->slice, point, column);
    column[i] += gp->kernel.noise + gp->jitter + gp->r[gp->focus[i]];
  }
  if (!cb_block_cholesky(gp->n_focus, gp->F, FOCUS, gp->block))
    gp->n_focus = 0;
}

/* ---- blocks of candidates ---------------------------------------------------------
 */

static void each_block(cb_gp *gp, int m, const double *x, const int32_t *h, double *mu,
                       double *sd, block_step *step) {
  for (int first = 0; first < m; first += CB_BLOCK) {
    const int count = m - first < CB_BLOCK ? m - first : CB_BLOCK;
    load_block(gp, x, first, count);
    if (h) {
      load_categories(gp, h, first, count);
      cb_kernel_block_mixed(&gp->kernel, gp->n, gp->X, gp->H, gp->room, count, gp->Q,
                            gp->G, gp->block);
    } else {
      cb_kernel_block(&gp->kernel, gp->n, gp->X, gp->room, &gp->slice, count, gp->Q,
                      gp->block);
    }
    step(gp, count, mu + first, sd + first);
  }
}

void cb_gp_predict(cb_gp *gp, int m, const double *x, const int32_t *h, double *mu,
                   double *sd) {
  each_block(gp, m, x, h, mu, sd, predict_block);
}

/* k(z, z') of point i of the block with those up to itself. */
static void prior_row(cb_gp *gp, int i, const int32_t *H, const double *x,
                      const int32_t *h, double *kz) {
  cb_kernel_hamming(&gp->kernel, i + 1, H, CB_GP_JOINT, h, gp->kh);
  cb_kernel_overlap(gp->spec.c, i + 1, H, CB_GP_JOINT, h, gp->ka);
  cb_kernel_weights(&gp->kernel, i + 1, gp->kh, gp->ka, &gp->slice);
  cb_kernel_row(&gp->kernel, i + 1, gp->Q, CB_BLOCK, &gp->slice, x, kz);
}

void cb_gp_joint(cb_gp *gp, int m, const double *x, const int32_t *h, double *mu,
                 double *covariance) {
  const int d = gp->spec.d, c = gp->spec.c;
  int32_t H[CB_GP_JOINT * COCABO_MAX_PARAMETERS];
  double means[CB_BLOCK], squares[CB_BLOCK], kz[CB_GP_JOINT];
  assert(m >= 1 && m <= CB_GP_JOINT);
  load_block(gp, x, 0, m);
  load_categories(gp, h, 0, m);
  for (int i = 0; i < m; i++)
    for (int j = 0; j < c; j++)
      H[cb_at(i, j, CB_GP_JOINT)] = h[cb_at(j, i, c)];
  cb_kernel_block_mixed(&gp->kernel, gp->n, gp->X, gp->H, gp->room, m, gp->Q, gp->G,
                        gp->block);
  cb_block_weigh(gp->n, gp->block, gp->alpha, means);
  cb_block_solve(gp->n, gp->U, gp->room, m, gp->block, squares);
  for (int i = 0; i < m; i++) {
    mu[i] = means[i];
    prior_row(gp, i, H, x + cb_at(0, i, d), h + cb_at(0, i, c), kz);
    for (int k = 0; k <= i; k++) {
      double explained = 0.0;
      for (int row = 0; row < gp->n; row++) {
        const double *v = gp->block + cb_at(0, row, CB_BLOCK);
        explained += v[i] * v[k];
      }
      covariance[i + k * m] = covariance[k + i * m] = kz[k] - explained;
    }
  }
}

void cb_gp_screen(cb_gp *gp, int m, const double *x, const int32_t *h, double *mu,
                  double *sd) {
  each_block(gp, m, x, h, mu, sd, screen_block);
}

/* x with h changed as `which` and `to` say, in the block's own order. */
static void load_swaps(cb_gp *gp, const double *x, const int32_t *h, int count,
                       const int32_t *which, const int32_t *to) {
  for (int w = 0; w < CB_BLOCK; w++) {
    for (int j = 0; j < gp->spec.d; j++)
      gp->Q[cb_at(w, j, CB_BLOCK)] = x[j];
    for (int j = 0; j < gp->spec.c; j++)
      gp->G[cb_at(w, j, CB_BLOCK)] = h[j];
    if (w < count)
      gp->G[cb_at(w, which[w], CB_BLOCK)] = to[w];
  }
}

/* The covariances of a block of swaps take O(1) an entry, given those at (x, h); but
 * not in the one-hot form, where k_x changes too. */
static void each_swap_block(cb_gp *gp, const double *x, const int32_t *h, int m,
                            const int32_t *which, const int32_t *to, double *mu,
                            double *sd, block_step *step) {
  const bool onehot = gp->spec.form == CB_ONEHOT;
  cb_gp_bind(gp, h);
  if (!onehot)
    cb_kernel_row_slope(&gp->kernel, gp->n, gp->X, gp->room, &gp->slice, x, gp->block,
                        gp->slope, gp->kx);
  if (gp->spec.sums)
    cb_kernel_sum(&gp->kernel, gp->n, gp->X, gp->room, x, gp->ks, NULL);
  for (int first = 0; first < m; first += CB_BLOCK) {
    const int count = m - first < CB_BLOCK ? m - first : CB_BLOCK;
    if (onehot) {
      load_swaps(gp, x, h, count, which + first, to + first);
      cb_kernel_block_mixed(&gp->kernel, gp->n, gp->X, gp->H, gp->room, count, gp->Q,
                            gp->G, gp->block);
    } else {
      if (count < CB_BLOCK) /* columns that nobody asked for must still be numbers */
        memset(gp->block, 0, (size_t)gp->n * CB_BLOCK * sizeof(double));
      cb_kernel_block_swaps(&gp->kernel, gp->n, gp->H, gp->room, gp->kx,
                            gp->spec.sums ? gp->ks : NULL, gp->kh, gp->ka, h, count,
                            which + first, to + first, gp->block);
    }
    step(gp, count, mu + first, sd + first);
  }
}

void cb_gp_predict_swaps(cb_gp *gp, const double *x, const int32_t *h, int m,
                         const int32_t *which, const int32_t *to, double *mu,
                         double *sd) {
  each_swap_block(gp, x, h, m, which, to, mu, sd, predict_block);
}

void cb_gp_screen_swaps(cb_gp *gp, const double *x, const int32_t *h, int m,
                        const int32_t *which, const int32_t *to, double *mu,
                        double *sd) {
  each_swap_block(gp, x, h, m, which, to, mu, sd, screen_block);
}

/* ---- derivatives -------------------------------------------------------------------
 */

/* The mean at x, with k(x) in gp->block and its slopes in gp->slope and gp->sums:
 * dk_i/dx_j = 2 (slope_i + sums_ij) (x_j - X_ij) / l_j^2. */
static double mean_along(cb_gp *gp, const double *x) {
  cb_kernel_row_slope(&gp->kernel, gp->n, gp->X, gp->room, &gp->slice, x, gp->block,
                      gp->slope, NULL);
  if (gp->spec.sums)
    cb_kernel_sum(&gp->kernel, gp->n, gp->X, gp->room, x, gp->ks, gp->sums);
  return cb_linalg_dot(gp->n, gp->block, gp->alpha);
}

/* sum_i weight_i dk_i/dx_j over all points, or those of the focus. */
static double by_input(cb_gp *gp, const double *weight, int m, const int *focus,
                       double xj, int j) {
  const double *sums = gp->spec.sums ? gp->sums + cb_at(0, j, gp->n) : NULL;
  const double *column =
      focus ? gp->XF + cb_at(0, j, FOCUS) : gp->X + cb_at(0, j, gp->room);
  for (int i = 0; i < m; i++) {
    const int at = focus ? focus[i] : i;
    gp->kx[i] = weight[i] * (sums ? gp->slope[at] + sums[at] : gp->slope[at]);
  }
  return 2.0 * gp->kernel.inv_l2[j] *
         cb_kernel_weighted_differences(m, gp->kx, column, xj);
}

/* d mu / d x_j = sum_i alpha_i dk_i/dx_j and d var / d x_j = -2 sum_i w_i dk_i/dx_j, w
 * = K^-1 k of m points. */
static void differentiate(cb_gp *gp, const double *x, double sd, int m,
                          const int *focus, const double *w, double *dmu, double *dsd) {
  for (int j = 0; j < gp->spec.d; j++) {
    dmu[j] = by_input(gp, gp->alpha, gp->n, NULL, x[j], j);
    dsd[j] = -by_input(gp, w, m, focus, x[j], j) / sd;
  }
}

void cb_gp_predict_gradient(cb_gp *gp, const double *x, double *mu, double *sd,
                            double *dmu, double *dsd) {
  double *k = gp->block;
  *mu = mean_along(gp, x);
  cb_linalg_solve_ut(gp->n, gp->U, gp->room, k);
  *sd = deviation(gp, cb_linalg_sum_squares(gp->n, k));
  cb_linalg_solve_u(gp->n, gp->U, gp->room, k);
  differentiate(gp, x, *sd, gp->n, NULL, k, dmu, dsd);
}

void cb_gp_screen_gradient(cb_gp *gp, const double *x, double *mu, double *sd,
                           double *dmu, double *dsd) {
  const int m = gp->n_focus;
  double *k = gp->near;
  *mu = mean_along(gp, x);
  for (int i = 0; i < m; i++)
    k[i] = gp->block[gp->focus[i]];
  cb_linalg_solve_ut(m, gp->F, FOCUS, k);
  *sd = deviation(gp, cb_linalg_sum_squares(m, k));
  cb_linalg_solve_u(m, gp->F, FOCUS, k);
  differentiate(gp, x, *sd, m, gp->focus, k, dmu, dsd);
}
