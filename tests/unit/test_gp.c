/* The Gaussian process against values computed with other software (oracle/gp.h), and
 * its derivatives against central differences. */
#include "check.h"

#include <float.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/cholesky.h"
#include "model/gp.h"
#include "model/likelihood.h"
#include "oracle/gp.h"

enum { N_ORACLES = sizeof gp_oracles / sizeof gp_oracles[0] };

static cocabo_error err;

static bool has_noisy_rows(const struct gp_oracle *o) {
  return o->variance[0] > 0.0;
}

static cb_gp *factored(const struct gp_oracle *o) {
  cb_gp *gp;
  double noise[8], mean, sd;
  assert_ok(cb_gp_new(&gp, &o->spec, &err));
  cb_gp_set_theta(gp, o->theta);
  cb_moments(o->n, o->y, &mean, &sd);
  for (int i = 0; i < o->n; i++)
    noise[i] = cb_row_noise(o->variance[i], sd);
  assert_ok(
      cb_gp_factor_noisy(gp, o->n, o->x, o->h, has_noisy_rows(o) ? noise : NULL, &err));
  cb_gp_set_y(gp, o->y);
  return gp;
}

static void bind_query(cb_gp *gp, const struct gp_oracle *o, int q) {
  cb_gp_bind(gp, o->qh + q * o->spec.c);
}

static void kernel_agrees_with_oracle(void **state) {
  (void)state;
  for (int t = 0; t < N_ORACLES; t++) {
    const struct gp_oracle *o = &gp_oracles[t];
    double inv_l2[8], rate[8], kh[8], ka[8], a[8], b[8], r0[8], kz[8], slope[8], kx[8],
        ks[8] = {0}, X[32];
    int32_t H[32];
    cb_kernel k = {.inv_l2 = inv_l2, .rate = rate};
    const cb_slice slice = {a, b, r0};
    cb_kernel_set(&k, &o->spec, o->theta);
    for (int i = 0; i < o->n; i++) {
      for (int j = 0; j < k.d; j++)
        X[i + j * o->n] = o->x[j + i * k.d];
      for (int j = 0; j < k.c; j++)
        H[i + j * o->n] = o->h[j + i * k.c];
    }
    for (int q = 0; q < o->m; q++) {
      cb_kernel_hamming(&k, o->n, H, o->n, o->qh + q * k.c, kh);
      cb_kernel_overlap(k.c, o->n, H, o->n, o->qh + q * k.c, ka);
      cb_kernel_weights(&k, o->n, kh, ka, &slice);
      cb_kernel_row(&k, o->n, X, o->n, &slice, o->qx + q * k.d, kz);
      for (int i = 0; i < o->n; i++)
        assert_relative(kz[i], o->kz[i + q * o->n], 1e-14);
      cb_kernel_row_slope(&k, o->n, X, o->n, &slice, o->qx + q * k.d, kz, slope, kx);
      if (k.d > 0)
        cb_kernel_sum(&k, o->n, X, o->n, o->qx + q * k.d, ks, NULL);
      for (int i = 0; i < o->n; i++) {
        assert_relative(kz[i], o->kz[i + q * o->n], 1e-14);
        assert_close(a[i] + b[i] * kx[i] + k.w_s * ks[i], kz[i], 1e-15);
      }
    }
    assert_close(cb_kernel_self(&k), o->kz[2 + (o->m - 1) * o->n], 1e-15);
  }
}

static void posterior_agrees_with_oracle(void **state) {
  (void)state;
  for (int t = 0; t < N_ORACLES; t++) {
    const struct gp_oracle *o = &gp_oracles[t];
    cb_gp *gp = factored(o);
    for (int q = 0; q < o->m; q++) {
      double mu, sd;
      bind_query(gp, o, q);
      cb_gp_predict(gp, 1, o->qx + q * o->spec.d, NULL, &mu, &sd);
      assert_close(mu, o->mu[q], 1e-12);
      assert_close(sd, o->sd[q], 1e-12);
    }
    double mu[4], sd[4]; /* all queries in one block, each with its own categories */
    cb_gp_predict(gp, o->m, o->qx, o->qh, mu, sd);
    for (int q = 0; q < o->m; q++) {
      assert_close(mu[q], o->mu[q], 1e-12);
      assert_close(sd[q], o->sd[q], 1e-12);
    }
    cb_gp_free(gp);
  }
}

static void joint_posterior_agrees_with_oracle(void **state) {
  (void)state;
  for (int t = 0; t < N_ORACLES; t++) {
    const struct gp_oracle *o = &gp_oracles[t];
    cb_gp *gp = factored(o);
    double mu[4], joint[16];
    cb_gp_joint(gp, o->m, o->qx, o->qh, mu, joint);
    for (int q = 0; q < o->m; q++)
      assert_close(mu[q], o->mu[q], 1e-12);
    for (int i = 0; i < o->m * o->m; i++)
      assert_close(joint[i], o->joint[i], 1e-12);
    cb_gp_free(gp);
  }
}

/* Also after the arrays have grown. The last query is point 2. */
static void the_mean_at_a_noisy_row_takes_its_noise_off(void **state) {
  (void)state;
  int noisy = 0;
  for (int t = 0; t < N_ORACLES; t++) {
    const struct gp_oracle *o = &gp_oracles[t];
    cb_gp *gp = factored(o);
    assert_close(cb_gp_fitted(gp, 2), o->mu[o->m - 1], 1e-12);
    for (int grown = 0; grown < 2; grown++) {
      for (int i = 0; i < o->n; i++) {
        double mu, sd;
        cb_gp_predict(gp, 1, o->x + i * o->spec.d, o->h + i * o->spec.c, &mu, &sd);
        assert_close(cb_gp_fitted(gp, i), mu, 1e-12);
      }
      assert_ok(cb_gp_reserve(gp, 150, &err));
    }
    noisy += has_noisy_rows(o);
    cb_gp_free(gp);
  }
  assert_true(noisy > 2);
}

static void influence_is_the_derivative_by_a_target(void **state) {
  (void)state;
  for (int t = 0; t < N_ORACLES; t++) {
    const struct gp_oracle *o = &gp_oracles[t];
    cb_gp *gp = factored(o);
    for (int j = 0; j < o->n; j++) {
      double y[8] = {0}, influence[8]; /* the mean is linear in y */
      y[j] = 1.0;
      cb_gp_set_targets(gp, y);
      cb_gp_influence(gp, j, influence);
      for (int i = 0; i < o->n; i++)
        assert_close(influence[i], cb_gp_fitted(gp, i), 1e-13);
    }
    cb_gp_free(gp);
  }
}

static void random_point(cb_rng *rng, int d, int c, double *x, int32_t *h) {
  for (int j = 0; j < d; j++)
    x[j] = 2.0 * cb_rng_uniform(rng) - 1.0;
  for (int j = 0; j < c; j++)
    h[j] = (int32_t)cb_rng_below(rng, 3);
}

/* With and without a focus, of exact and of very noisy rows. A point that is close to a
 * candidate says less of it than its covariance lets on if it is noisy. */
static void screening_bounds_deviations_where_rows_are_noisy(void **state) {
  (void)state;
  enum { N = 90, M = 60, D = 2, C = 1 };
  const cb_kernel_spec spec = {.d = D, .c = C, .form = CB_FREE, .ard = true};
  const double theta[] = {-0.4, -0.9, -0.3, -0.7, -0.2, -1.1, -6.0};
  double x[D * N], noise[N], y[N], q[D * M], mu[2][M], sd[2][M];
  int32_t h[C * N], g[C * M];
  cb_rng rng = cb_rng_make(29, CB_RNG_BENCH, 5);
  cb_gp *gp;
  for (int i = 0; i < N; i++) {
    random_point(&rng, D, C, x + i * D, h + i * C);
    noise[i] = i % 3 ? 9.0 * cb_rng_uniform(&rng) : 0.0;
    y[i] = sin(3.0 * x[i * D]) + 0.7 * h[i];
  }
  for (int i = 0; i < M; i++) { /* every other is on top of a point */
    random_point(&rng, D, C, q + i * D, g + i * C);
    if (i % 2) {
      memcpy(q + i * D, x + i * D, D * sizeof *q);
      memcpy(g + i * C, h + i * C, C * sizeof *g);
    }
  }
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, theta);
  assert_ok(cb_gp_factor_noisy(gp, N, x, h, noise, &err));
  cb_gp_set_y(gp, y);
  cb_gp_predict(gp, M, q, g, mu[0], sd[0]);
  for (int focus = 0; focus < 2; focus++) {
    double off = 0.0;
    if (focus)
      cb_gp_focus(gp, q, g, N);
    cb_gp_screen(gp, M, q, g, mu[1], sd[1]);
    for (int i = 0; i < M; i++) {
      assert_close(mu[1][i], mu[0][i], 1e-12);
      assert_true(sd[1][i] >= sd[0][i]);
      off = fmax(off, sd[1][i] - sd[0][i]);
    }
    assert_true(focus ? off < 1e-6 : off > 1e-2); /* the focus has all points */
  }
  cb_gp_free(gp);
}

static void appended_rows_give_the_same_posterior(void **state) {
  (void)state;
  for (int t = 0; t < N_ORACLES; t++) {
    const struct gp_oracle *o = &gp_oracles[t];
    if (has_noisy_rows(o))
      continue; /* those are not appended */
    cb_gp *gp;
    assert_ok(cb_gp_new(&gp, &o->spec, &err));
    cb_gp_set_theta(gp, o->theta);
    assert_ok(cb_gp_factor(gp, 2, o->x, o->h, &err));
    for (int i = 2; i < o->n; i++)
      assert_ok(cb_gp_push(gp, o->x + i * o->spec.d, o->h + i * o->spec.c, &err));
    cb_gp_set_y(gp, o->y);
    for (int q = 0; q < o->m; q++) {
      double mu, sd;
      bind_query(gp, o, q);
      cb_gp_predict(gp, 1, o->qx + q * o->spec.d, NULL, &mu, &sd);
      assert_close(mu, o->mu[q], 1e-12);
      assert_close(sd, o->sd[q], 1e-12);
    }
    cb_gp_free(gp);
  }
}

static void posterior_gradient_agrees_with_central_differences(void **state) {
  (void)state;
  const double step = cbrt(DBL_EPSILON);
  for (int t = 0; t < N_ORACLES; t++) {
    const struct gp_oracle *o = &gp_oracles[t];
    const int d = o->spec.d;
    cb_gp *gp = factored(o);
    for (int q = 0; q < o->m && d > 0; q++) {
      double x[8], mu, sd, dmu[8], dsd[8], up[2], down[2];
      memcpy(x, o->qx + q * d, (size_t)d * sizeof *x);
      bind_query(gp, o, q);
      cb_gp_predict_gradient(gp, x, &mu, &sd, dmu, dsd);
      assert_close(mu, o->mu[q], 1e-12);
      assert_close(sd, o->sd[q], 1e-12);
      for (int j = 0; j < d; j++) {
        const double here = x[j];
        x[j] = here + step;
        cb_gp_predict(gp, 1, x, NULL, &up[0], &up[1]);
        x[j] = here - step;
        cb_gp_predict(gp, 1, x, NULL, &down[0], &down[1]);
        x[j] = here;
        assert_close(dmu[j], (up[0] - down[0]) / (2.0 * step), 1e-8);
        assert_close(dsd[j], (up[1] - down[1]) / (2.0 * step), 1e-8);
      }
    }
    cb_gp_free(gp);
  }
}

static void likelihood_and_gradient_agree_with_oracle(void **state) {
  (void)state;
  for (int t = 0; t < N_ORACLES; t++) {
    const struct gp_oracle *o = &gp_oracles[t];
    cb_likelihood *l;
    double gradient[12];
    assert_int_equal(cb_theta_lay_out(&o->spec).count, o->n_theta);
    assert_ok(cb_likelihood_new(&l, &o->spec, o->n, o->x, o->h, &err));
    cb_likelihood_set_y(l, o->y);
    cb_likelihood_set_variance(l, o->variance);
    assert_close(cb_likelihood_value(l, o->theta, gradient), o->likelihood, 1e-13);
    for (int i = 0; i < o->n_theta; i++)
      assert_close(gradient[i], o->gradient[i], 1e-12);
    assert_close(cb_likelihood_value(l, o->theta, NULL), o->likelihood, 1e-13);
    cb_likelihood_free(l);
  }
}

static void likelihood_gradient_agrees_with_central_differences(void **state) {
  (void)state;
  const double step = cbrt(DBL_EPSILON);
  for (int t = 0; t < N_ORACLES; t++) {
    const struct gp_oracle *o = &gp_oracles[t];
    cb_likelihood *l;
    double theta[12], gradient[12], ignored[12];
    assert_ok(cb_likelihood_new(&l, &o->spec, o->n, o->x, o->h, &err));
    cb_likelihood_set_y(l, o->y);
    cb_likelihood_set_variance(l, o->variance);
    /* Away from the oracle's point, to where everything is small or large. */
    for (int i = 0; i < o->n_theta; i++)
      theta[i] = o->theta[i] * 1.37;
    cb_likelihood_value(l, theta, gradient);
    for (int i = 0; i < o->n_theta; i++) {
      const double here = theta[i];
      theta[i] = here + step;
      const double up = cb_likelihood_value(l, theta, ignored);
      theta[i] = here - step;
      const double down = cb_likelihood_value(l, theta, NULL);
      theta[i] = here;
      assert_close(gradient[i], (up - down) / (2.0 * step), 1e-7);
    }
    cb_likelihood_free(l);
  }
}

/* Large enough to grow, to factor anew after 64 appends, and to fill several chunks. */
static void truncating_fantasies_leaves_no_trace(void **state) {
  (void)state;
  enum { N = 200, M = 300, D = 2, C = 2 };
  const cb_kernel_spec spec = {.d = D, .c = C, .half = true, .lambda = 0.5};
  const double theta[] = {log(0.31), log(1.7e-3)};
  cb_rng rng = cb_rng_make(7, CB_RNG_BENCH, 3);
  static double x[D * N], y[N], q[D * M], mu[2][M], sd[2][M];
  static int32_t h[C * N];
  for (int i = 0; i < N; i++) {
    random_point(&rng, D, C, x + i * D, h + i * C);
    y[i] = 3.1 * sin(4.0 * x[i * D]) - x[i * D + 1] + 0.7 * h[i * C];
  }
  for (int i = 0; i < D * M; i++)
    q[i] = 2.0 * cb_rng_uniform(&rng) - 1.0;

  cb_gp *gp;
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, theta);
  assert_ok(cb_gp_factor(gp, 20, x, h, &err));
  for (int i = 20; i < N; i++)
    assert_ok(cb_gp_push(gp, x + i * D, h + i * C, &err));
  cb_gp_set_y(gp, y);
  cb_gp_bind(gp, h);
  cb_gp_predict(gp, M, q, NULL, mu[0], sd[0]);

  for (int i = 0; i < 70; i++) {
    double point[D];
    int32_t cat[C];
    random_point(&rng, D, C, point, cat);
    assert_ok(cb_gp_fantasize(gp, 1, point, cat, NULL, &err));
  }
  const double low = -2.3;
  assert_ok(cb_gp_fantasize(gp, 1, x, h, &low, &err)); /* on top of a stored point */
  assert_int_equal(cb_gp_count(gp), N + 71);
  cb_gp_bind(gp, h);
  cb_gp_predict(gp, M, q, NULL, mu[1], sd[1]);
  double shrunk = 0.0;
  for (int i = 0; i < M; i++)
    shrunk += sd[0][i] - sd[1][i];
  assert_true(shrunk > 0.1); /* fantasies are seen */

  cb_gp_truncate(gp, N);
  cb_gp_bind(gp, h);
  cb_gp_predict(gp, M, q, NULL, mu[1], sd[1]);
  assert_memory_equal(mu[0], mu[1], sizeof mu[0]);
  assert_memory_equal(sd[0], sd[1], sizeof sd[0]);
  cb_gp_free(gp);
}

static void a_fantasy_keeps_the_mean_and_lowers_the_deviation(void **state) {
  (void)state;
  const struct gp_oracle *o = &gp_oracles[3];
  cb_gp *gp = factored(o);
  double mu[2], sd[2];
  bind_query(gp, o, 0);
  cb_gp_predict(gp, 1, o->qx, NULL, &mu[0], &sd[0]);
  assert_ok(cb_gp_fantasize(gp, 1, o->qx, o->qh, NULL, &err));
  bind_query(gp, o, 0);
  cb_gp_predict(gp, 1, o->qx, NULL, &mu[1], &sd[1]);
  assert_close(mu[1], mu[0], 1e-12);
  assert_true(sd[1] < 0.5 * sd[0]);
  cb_gp_free(gp);
}

/* In blocks or one by one, with their means or with a target of their own. */
static void many_fantasies_are_as_good_as_one_at_a_time(void **state) {
  (void)state;
  enum { D = 2, C = 1, N = 30, M = 45, Q = 20 };
  const cb_kernel_spec spec = {.d = D, .c = C, .form = CB_FREE, .ard = true};
  const double theta[] = {-0.4, -0.9, -0.3, -0.7, -0.2, -1.1, -6.0}, target = -1.7;
  double x[D * (N + M)], y[N], q[D * Q], mu[2][Q], sd[2][Q];
  int32_t h[C * (N + M)], g[C * Q];
  cb_rng rng = cb_rng_make(11, CB_RNG_BENCH, 5);
  for (int i = 0; i < N + M; i++)
    random_point(&rng, D, C, x + i * D, h + i * C);
  for (int i = 0; i < Q; i++)
    random_point(&rng, D, C, q + i * D, g + i * C);
  for (int i = 0; i < N; i++)
    y[i] = sin(3.0 * x[i * D]) - x[i * D + 1] + 0.7 * h[i];
  for (int fixed = 0; fixed < 2; fixed++) {
    for (int together = 0; together < 2; together++) {
      cb_gp *gp;
      assert_ok(cb_gp_new(&gp, &spec, &err));
      cb_gp_set_theta(gp, theta);
      assert_ok(cb_gp_factor(gp, N, x, h, &err));
      cb_gp_set_y(gp, y);
      const int step = together ? M : 1;
      for (int i = N; i < N + M; i += step)
        assert_ok(cb_gp_fantasize(gp, step, x + i * D, h + i * C,
                                  fixed ? &target : NULL, &err));
      cb_gp_predict(gp, Q, q, g, mu[together], sd[together]);
      cb_gp_free(gp);
    }
    for (int i = 0; i < Q; i++) {
      assert_close(mu[1][i], mu[0][i], 1e-7);
      assert_close(sd[1][i], sd[0][i], 1e-7);
    }
  }
}

/* The short way (y - noise alpha) and the long way (predicting at the point). */
static void the_mean_at_a_stored_point_is_what_is_predicted_there(void **state) {
  (void)state;
  for (int k = 0; k < N_ORACLES; k++) {
    const struct gp_oracle *o = &gp_oracles[k];
    cb_gp *gp = factored(o);
    for (int i = 0; i < o->n; i++) {
      double mu, sd;
      cb_gp_predict(gp, 1, o->x + (ptrdiff_t)i * o->spec.d,
                    o->h + (ptrdiff_t)i * o->spec.c, &mu, &sd);
      assert_close(cb_gp_fitted(gp, i), mu, 1e-10);
    }
    cb_gp_free(gp);
  }
}

static void blocks_and_single_points_predict_alike(void **state) {
  (void)state;
  const struct gp_oracle *o = &gp_oracles[1];
  enum { M = 517 };
  cb_gp *gp = factored(o);
  cb_rng rng = cb_rng_make(11, CB_RNG_BENCH, 5);
  static double q[2 * M], mu[M], sd[M];
  for (int i = 0; i < 2 * M; i++)
    q[i] = 2.0 * cb_rng_uniform(&rng) - 1.0;
  bind_query(gp, o, 1);
  cb_gp_predict(gp, M, q, NULL, mu, sd);
  for (int i = 0; i < M; i++) {
    double m, s;
    cb_gp_predict(gp, 1, q + 2 * i, NULL, &m, &s);
    assert_close(m, mu[i], 1e-13);
    assert_close(s, sd[i], 1e-13);
  }
  cb_gp_free(gp);
}

static void no_data_predicts_the_prior(void **state) {
  (void)state;
  const cb_kernel_spec spec = {.d = 2, .c = 2, .half = true, .lambda = 0.5};
  const double theta[] = {log(0.31), log(1.7e-3)}, x[] = {0.31, -0.77};
  const int32_t h[] = {1, 0};
  double mu = 5.0, sd = 5.0;
  cb_gp *gp;
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, theta);
  cb_gp_set_y(gp, NULL);
  cb_gp_bind(gp, h);
  cb_gp_predict(gp, 1, x, NULL, &mu, &sd);
  assert_close(mu, 0.0, 0.0);
  assert_close(sd, 1.0, 1e-15);
  cb_gp_free(gp);
}

/* Equal points with hardly any noise: the plain factorisation fails, jitter saves it.
 */
static void coincident_points_are_survived(void **state) {
  (void)state;
  enum { N = 150 };
  const cb_kernel_spec spec = {.d = 1, .c = 1, .half = true, .lambda = 0.5};
  const double theta[] = {log(0.5), -50.0};
  double x[N], y[N], mu, sd;
  int32_t h[N] = {0};
  for (int i = 0; i < N; i++) {
    x[i] = i % 3 == 0 ? 0.4321 : 0.1 * (i % 7);
    y[i] = x[i] + 1e-3 * i;
  }
  cb_gp *gp;
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, theta);
  for (int i = 0; i < N; i++)
    assert_ok(cb_gp_push(gp, x + i, h + i, &err));
  cb_gp_set_y(gp, y);
  cb_gp_bind(gp, h);
  cb_gp_predict(gp, 1, x, NULL, &mu, &sd);
  assert_true(isfinite(mu) && sd >= 0.0 && sd < 0.1);

  cb_likelihood *l;
  double gradient[2];
  assert_ok(cb_likelihood_new(&l, &spec, N, x, h, &err));
  cb_likelihood_set_y(l, y);
  assert_true(isfinite(cb_likelihood_value(l, theta, gradient)));
  cb_likelihood_free(l);
  cb_gp_free(gp);
}

/* ---- the jitter ladder -----------------------------------------------------------
 * Two points with the same x and different categories have the covariance w_x. With
 * lambda = -1 - 2 e outside [0, 1] that is 1 + e on a diagonal of 1, so that the least
 * eigenvalue is -e and jitter j makes it j - e. */

enum { PAIR = 2 };
static const double rungs[] = {1e-10, 1e-9, 1e-8, 1e-7, 1e-6,
                               1e-5,  1e-4, 1e-2, 1e-1, 1.0};
enum { N_RUNGS = sizeof rungs / sizeof rungs[0] };
static const double pair_theta[] = {-0.5, -60.0}, pair_x[] = {0.3, 0.3},
                    pair_y[] = {7.0, 3.0}; /* standardised: 1, -1 */
static const int32_t pair_h[] = {0, 1};

static cb_kernel_spec indefinite(double e) {
  return (cb_kernel_spec){.d = 1, .c = 1, .half = true, .lambda = -1.0 - 2.0 * e};
}

/* Variance, mean and fitted value at the first point say which jitter there is. */
static void assert_jitter(double e, double jitter) {
  const cb_kernel_spec spec = indefinite(e);
  cb_gp *gp;
  double mu, sd;
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, pair_theta);
  assert_ok(cb_gp_factor(gp, PAIR, pair_x, pair_h, &err));
  cb_gp_set_y(gp, pair_y);
  cb_gp_predict(gp, 1, pair_x, pair_h, &mu, &sd);
  const double inverse =
      (1.0 + jitter) / ((jitter - e) * (2.0 + jitter + e)); /* of K, at (0, 0) */
  assert_relative(sd * sd, jitter - jitter * jitter * inverse, 1e-3);
  assert_relative(mu, 1.0 - jitter / (jitter - e), 1e-4);
  assert_relative(cb_gp_fitted(gp, 0), 1.0 - jitter / (jitter - e), 1e-4);
  cb_gp_free(gp);
}

static double pair_likelihood(double e, double *gradient) {
  const cb_kernel_spec spec = indefinite(e);
  cb_likelihood *l;
  assert_ok(cb_likelihood_new(&l, &spec, PAIR, pair_x, pair_h, &err));
  cb_likelihood_set_y(l, pair_y);
  const double value = cb_likelihood_value(l, pair_theta, gradient);
  cb_likelihood_free(l);
  return value;
}

static void the_smallest_jitter_that_helps_is_taken(void **state) {
  (void)state;
  for (int k = 0; k < N_RUNGS; k++)
    for (int high = 0; high < 2; high++) {
      const double jitter = rungs[k], e = (high ? 0.4 : 0.2) * jitter;
      assert_jitter(e, jitter);
      const double least = jitter - e, most = 2.0 + jitter + e;
      assert_relative(pair_likelihood(e, NULL),
                      -1.0 / least - 0.5 * log(least * most) - log(2.0 * acos(-1.0)),
                      1e-4);
    }
}

/* Jitter would be seen as variance. */
static void what_can_be_factored_gets_no_jitter(void **state) {
  (void)state;
  const cb_kernel_spec spec = indefinite(-1e-13);
  cb_gp *gp;
  double mu, sd;
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, pair_theta);
  assert_ok(cb_gp_factor(gp, PAIR, pair_x, pair_h, &err));
  cb_gp_set_y(gp, pair_y);
  cb_gp_predict(gp, 1, pair_x, pair_h, &mu, &sd);
  assert_true(sd <= 1.1e-6);
  assert_close(cb_gp_fitted(gp, 0), 1.0, 1e-12);
  cb_gp_free(gp);
  assert_true(cb_cholesky_jitter(0, 3.0) == 0.0);
  assert_relative(cb_cholesky_jitter(1, 3.0), 3e-10, 1e-15); /* of the diagonal */
  assert_relative(cb_cholesky_jitter(CB_CHOLESKY_STEPS - 1, 3.0), 3.0, 1e-15);
}

static void what_no_jitter_helps_is_a_numeric_failure(void **state) {
  (void)state;
  const cb_kernel_spec spec = indefinite(1.2);
  cb_gp *gp;
  double gradient[] = {5.0, 5.0};
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, pair_theta);
  assert_fails(cb_gp_factor(gp, PAIR, pair_x, pair_h, &err), COCABO_E_NUMERIC,
               "the covariance of 2 points cannot be factored, even with its noise "
               "raised to 1");
  assert_int_equal(cb_gp_count(gp), 0);
  assert_true(pair_likelihood(1.2, gradient) == -INFINITY);
  assert_true(gradient[0] == 0.0 && gradient[1] == 0.0);
  cb_gp_free(gp);
}

/* ---- factoring anew ---------------------------------------------------------------
 * A factor that was made anew has the bits of one that was made at once; one that was
 * appended to has others. */

enum { MANY = 160, Q = 60, FIRST = 20 };

typedef struct cloud {
  double x[2 * MANY], y[MANY], q[2 * Q];
  int32_t h[MANY], g[Q];
} cloud;

static cloud make_cloud(void) {
  cloud p;
  cb_rng rng = cb_rng_make(29, CB_RNG_BENCH, 6);
  for (int i = 0; i < MANY; i++) {
    random_point(&rng, 2, 1, p.x + 2 * i, p.h + i);
    p.y[i] = sin(3.0 * p.x[2 * i]) - p.x[2 * i + 1] + 0.6 * p.h[i];
  }
  for (int i = 0; i < Q; i++)
    random_point(&rng, 2, 1, p.q + 2 * i, p.g + i);
  return p;
}

static const cb_kernel_spec cloud_spec = {.d = 2, .c = 1, .half = true, .lambda = 0.5};

/* Of `first` points factored and the others pushed. */
static cb_gp *grown(const cloud *p, double noise, int first, int n) {
  const double theta[] = {log(0.8), log(noise)};
  cb_gp *gp;
  assert_ok(cb_gp_new(&gp, &cloud_spec, &err));
  cb_gp_set_theta(gp, theta);
  assert_ok(cb_gp_factor(gp, first, p->x, p->h, &err));
  for (int i = first; i < n; i++)
    assert_ok(cb_gp_push(gp, p->x + 2 * i, p->h + i, &err));
  cb_gp_set_y(gp, p->y);
  return gp;
}

static bool is_factored_anew(const cloud *p, double noise, int first, int n) {
  double mu[2][Q], sd[2][Q];
  for (int at_once = 0; at_once < 2; at_once++) {
    cb_gp *gp = grown(p, noise, at_once ? n : first, n);
    assert_int_equal(cb_gp_count(gp), n);
    cb_gp_predict(gp, Q, p->q, p->g, mu[at_once], sd[at_once]);
    cb_gp_free(gp);
  }
  for (int i = 0; i < Q; i++) {
    assert_close(mu[0][i], mu[1][i], 1e-3);
    assert_close(sd[0][i], sd[1][i], 1e-3);
  }
  return memcmp(mu[0], mu[1], sizeof mu[0]) == 0 &&
         memcmp(sd[0], sd[1], sizeof sd[0]) == 0;
}

static void the_factor_is_made_anew_after_64_appends(void **state) {
  (void)state;
  const cloud p = make_cloud();
  for (int n = FIRST + 1; n < MANY; n++)
    if (is_factored_anew(&p, 1e-3, FIRST, n) != ((n - FIRST) % 65 == 0))
      fail_msg("after %d appends the factor is %s", n - FIRST,
               (n - FIRST) % 65 == 0 ? "not made anew" : "made anew");
}

/* On top of a point the squared pivot is twice the noise. */
static void the_factor_is_made_anew_where_a_pivot_is_lost(void **state) {
  (void)state;
  cloud p = make_cloud();
  for (int n = FIRST + 1; n < FIRST + 40; n++) {
    cloud twin = p;
    memcpy(twin.x + 2 * (n - 1), p.x + 6, 2 * sizeof *p.x);
    twin.h[n - 1] = p.h[3];
    assert_true(is_factored_anew(&twin, 0.4e-10, FIRST, n));
    assert_true(is_factored_anew(&twin, 1e-30, FIRST, n)); /* with jitter */
  }
  cloud twin = p;
  memcpy(twin.x + 2 * FIRST, p.x + 6, 2 * sizeof *p.x);
  twin.h[FIRST] = p.h[3];
  assert_false(is_factored_anew(&twin, 0.7e-10, FIRST, FIRST + 1));
}

/* Without noise, twice the same place, with and without a target of its own. */
static void fantasies_on_top_of_points_keep_a_usable_factor(void **state) {
  (void)state;
  const cloud p = make_cloud();
  const double low = -2.3;
  for (int fixed = 0; fixed < 2; fixed++)
    for (int together = 0; together < 2; together++) {
      cb_gp *gp = grown(&p, 1e-25, FIRST, FIRST);
      double x[2 * FIRST], mu[2][Q], sd[2][Q];
      int32_t h[FIRST];
      for (int i = 0; i < FIRST; i++) {
        memcpy(x + 2 * i, p.x + 2 * (i / 2), 2 * sizeof *x);
        h[i] = p.h[i / 2];
      }
      cb_gp_predict(gp, Q, p.q, p.g, mu[0], sd[0]);
      for (int i = 0; i < FIRST; i += together ? FIRST : 1)
        assert_ok(cb_gp_fantasize(gp, together ? FIRST : 1, x + 2 * i, h + i,
                                  fixed ? &low : NULL, &err));
      cb_gp_predict(gp, Q, p.q, p.g, mu[1], sd[1]);
      for (int i = 0; i < Q; i++) {
        assert_close(sd[1][i], sd[0][i], 1e-4); /* nothing new is known */
        assert_close(mu[1][i], mu[0][i], fixed ? 10.0 : 1e-9);
      }
      cb_gp_truncate(gp, FIRST);
      cb_gp_predict(gp, Q, p.q, p.g, mu[1], sd[1]);
      assert_memory_equal(mu[0], mu[1], sizeof mu[0]);
      cb_gp_free(gp);
    }
}

static void nan_inputs_are_a_numeric_failure(void **state) {
  (void)state;
  const cb_kernel_spec spec = {.d = 1, .c = 0, .half = true};
  const double theta[] = {log(0.5), log(0.1)}, x[] = {0.1, nan(""), 0.3};
  const int32_t h[] = {0};
  cb_gp *gp;
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, theta);
  assert_int_equal(cb_gp_factor(gp, 3, x, h, &err), COCABO_E_NUMERIC);
  assert_int_equal(cb_gp_count(gp), 0);
  cb_gp_free(gp);
}

static void standardising_centres_and_scales(void **state) {
  (void)state;
  const double y[] = {3.7, -1.2, 8.9, 2.6};
  double out[4], mean, sd, sum = 0.0, squares = 0.0;
  cb_standardise(4, y, out, &mean, &sd);
  for (int i = 0; i < 4; i++) {
    sum += out[i];
    squares += out[i] * out[i];
    assert_close(mean + sd * out[i], y[i], 1e-15);
  }
  assert_close(sum, 0.0, 1e-14);
  assert_close(squares / 4.0, 1.0, 1e-14);

  const double flat[] = {0.1, 0.1, 0.1};
  cb_standardise(3, flat, out, &mean, &sd);
  assert_close(sd, 1.0, 0.0);
  assert_close(out[2], 0.0, 1e-15);
}

static void failing_allocation_leaves_the_process_usable(void **state) {
  (void)state;
  const struct gp_oracle *o = &gp_oracles[1];
  cb_gp *gp;
  cb_mem_fail_after(0);
  assert_int_equal(cb_gp_new(&gp, &o->spec, &err), COCABO_E_NO_MEMORY);
  assert_null(gp);
  cb_mem_fail_after(1);
  assert_int_equal(cb_gp_new(&gp, &o->spec, &err), COCABO_E_NO_MEMORY);
  assert_null(gp);
  cb_mem_fail_after(-1);
  gp = factored(o);
  cb_mem_fail_after(0);
  assert_int_equal(cb_gp_reserve(gp, 4000, &err), COCABO_E_NO_MEMORY);
  cb_mem_fail_after(-1);
  double mu, sd;
  bind_query(gp, o, 0);
  cb_gp_predict(gp, 1, o->qx, NULL, &mu, &sd);
  assert_close(mu, o->mu[0], 1e-12);
  cb_gp_free(gp);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(kernel_agrees_with_oracle),
      cmocka_unit_test(posterior_agrees_with_oracle),
      cmocka_unit_test(joint_posterior_agrees_with_oracle),
      cmocka_unit_test(the_mean_at_a_noisy_row_takes_its_noise_off),
      cmocka_unit_test(screening_bounds_deviations_where_rows_are_noisy),
      cmocka_unit_test(influence_is_the_derivative_by_a_target),
      cmocka_unit_test(appended_rows_give_the_same_posterior),
      cmocka_unit_test(posterior_gradient_agrees_with_central_differences),
      cmocka_unit_test(likelihood_and_gradient_agree_with_oracle),
      cmocka_unit_test(likelihood_gradient_agrees_with_central_differences),
      cmocka_unit_test(truncating_fantasies_leaves_no_trace),
      cmocka_unit_test(a_fantasy_keeps_the_mean_and_lowers_the_deviation),
      cmocka_unit_test(many_fantasies_are_as_good_as_one_at_a_time),
      cmocka_unit_test(the_mean_at_a_stored_point_is_what_is_predicted_there),
      cmocka_unit_test(blocks_and_single_points_predict_alike),
      cmocka_unit_test(no_data_predicts_the_prior),
      cmocka_unit_test(coincident_points_are_survived),
      cmocka_unit_test(the_smallest_jitter_that_helps_is_taken),
      cmocka_unit_test(what_can_be_factored_gets_no_jitter),
      cmocka_unit_test(what_no_jitter_helps_is_a_numeric_failure),
      cmocka_unit_test(the_factor_is_made_anew_after_64_appends),
      cmocka_unit_test(the_factor_is_made_anew_where_a_pivot_is_lost),
      cmocka_unit_test(fantasies_on_top_of_points_keep_a_usable_factor),
      cmocka_unit_test(nan_inputs_are_a_numeric_failure),
      cmocka_unit_test(standardising_centres_and_scales),
      cmocka_unit_test(failing_allocation_leaves_the_process_usable),
  };
  return cmocka_run_group_tests_name("model/gp", tests, NULL, NULL);
}
