/* What must hold for every mixed space: covariances are positive semi-definite, nothing
 * depends on the order of the inputs or the labels of the categories, and the overlap
 * kernel is the limit of RBF kernels (Appendix D). */
#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "base/block.h"
#include "base/rng.h"
#include "model/gp.h"
#include "model/likelihood.h"

static cocabo_error err;

enum { N = 40, MAX_D = 6, MAX_C = 5, M = 20 };

typedef struct {
  cb_kernel_spec spec;
  double theta[MAX_D + MAX_C + 7];
  int arms[MAX_C];
  double x[MAX_D * N], y[N], qx[MAX_D * M];
  int32_t h[MAX_C * N], qh[MAX_C * M];
} data_set;

static void random_data(data_set *s, uint64_t number) {
  cb_rng rng = cb_rng_make(2026, CB_RNG_BENCH, number);
  const int d = (int)cb_rng_below(&rng, MAX_D + 1);
  const int c = (int)cb_rng_below(&rng, MAX_C) + (d == 0);
  static const cb_kernel_form forms[] = {CB_PAPER, CB_FREE, CB_ONEHOT};
  const cb_kernel_form form = forms[cb_rng_below(&rng, 3)];
  s->spec = (cb_kernel_spec){.d = d,
                             .c = c,
                             .form = form,
                             .ard = form != CB_ONEHOT && cb_rng_below(&rng, 2),
                             .sums = form == CB_FREE && d > 1 && cb_rng_below(&rng, 2),
                             .half = cb_rng_below(&rng, 2),
                             .learn_lambda = cb_rng_below(&rng, 2),
                             .lambda = cb_rng_uniform(&rng)};
  const cb_theta_layout layout = cb_theta_lay_out(&s->spec);
  for (int i = 0; i < layout.noise; i++)
    s->theta[i] = log(0.1 + 2.0 * cb_rng_uniform(&rng));
  if (layout.lambda >= 0)
    s->theta[layout.lambda] = cb_rng_uniform(&rng);
  s->theta[layout.noise] = log(1e-3);
  for (int j = 0; j < c; j++)
    s->arms[j] = 1 + (int)cb_rng_below(&rng, 6);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < d; j++)
      s->x[j + i * d] = 2.0 * cb_rng_uniform(&rng) - 1.0;
    for (int j = 0; j < c; j++)
      s->h[j + i * c] = (int32_t)cb_rng_below(&rng, (uint32_t)s->arms[j]);
    s->y[i] = cb_rng_normal(&rng);
  }
  for (int i = 0; i < M; i++) {
    for (int j = 0; j < d; j++)
      s->qx[j + i * d] = 2.0 * cb_rng_uniform(&rng) - 1.0;
    for (int j = 0; j < c; j++)
      s->qh[j + i * c] = (int32_t)cb_rng_below(&rng, (uint32_t)s->arms[j]);
  }
}

static void predictions(const data_set *s, double *mu, double *sd, double *likelihood) {
  const int d = s->spec.d, c = s->spec.c;
  cb_gp *gp;
  cb_likelihood *l;
  assert_ok(cb_gp_new(&gp, &s->spec, &err));
  cb_gp_set_theta(gp, s->theta);
  assert_ok(cb_gp_factor(gp, N, s->x, s->h, &err));
  cb_gp_set_y(gp, s->y);
  for (int i = 0; i < M; i++) {
    cb_gp_bind(gp, s->qh + i * c);
    cb_gp_predict(gp, 1, s->qx + i * d, NULL, mu + i, sd + i);
  }
  cb_gp_free(gp);
  assert_ok(cb_likelihood_new(&l, &s->spec, N, s->x, s->h, &err));
  cb_likelihood_set_y(l, s->y);
  *likelihood = cb_likelihood_value(l, s->theta, NULL);
  cb_likelihood_free(l);
}

static void assert_same_predictions(const data_set *a, const data_set *b) {
  double mu[2][M], sd[2][M], likelihood[2];
  predictions(a, mu[0], sd[0], &likelihood[0]);
  predictions(b, mu[1], sd[1], &likelihood[1]);
  assert_close(likelihood[1], likelihood[0], 1e-12);
  for (int i = 0; i < M; i++) {
    assert_close(mu[1][i], mu[0][i], 1e-12);
    assert_close(sd[1][i], sd[0][i], 1e-12);
  }
}

static void covariances_are_positive_semi_definite(void **state) {
  (void)state;
  for (uint64_t t = 0; t < 300; t++) {
    data_set s;
    random_data(&s, t);
    const int d = s.spec.d, c = s.spec.c;
    double inv_l2[MAX_D], rate[MAX_C], X[MAX_D * N], kh[N], ka[N], a[N], b[N], r0[N],
        K[N * N];
    double work[(N + CB_BLOCK_SPARE) * CB_BLOCK];
    int32_t H[MAX_C * N];
    cb_kernel k = {.inv_l2 = inv_l2, .rate = rate};
    const cb_slice slice = {a, b, r0};
    cb_kernel_set(&k, &s.spec, s.theta);
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < d; j++)
        X[i + j * N] = s.x[j + i * d];
      for (int j = 0; j < c; j++)
        H[i + j * N] = s.h[j + i * c];
    }
    for (int i = 0; i < N; i++) {
      cb_kernel_hamming(&k, N, H, N, s.h + i * c, kh);
      cb_kernel_overlap(k.c, N, H, N, s.h + i * c, ka);
      cb_kernel_weights(&k, N, kh, ka, &slice);
      cb_kernel_row(&k, N, X, N, &slice, s.x + i * d, K + i * N);
      assert_close(K[i + i * N], cb_kernel_self(&k), 1e-14);
    }
    for (int i = 0; i < N; i++)
      for (int j = 0; j < i; j++) /* symmetric to the bit: same terms, same order */
        assert_close(K[i + j * N], K[j + i * N], 0.0);
    for (int i = 0; i < N; i++)
      K[i + i * N] += 1e-12 * N; /* rounding of a singular matrix */
    assert_true(cb_block_cholesky(N, K, N, work));
  }
}

/* ---- conditions ------------------------------------------------------------------ */

/* Two groups of two numbers under a condition each, behind two that are always active;
 * then the presences of the groups. Categories 1 and on may be inactive too. */
enum { FREE = 2, GROUPS = 2, NUMBERS = FREE + 2 * GROUPS, ROWS = NUMBERS + GROUPS };

typedef struct {
  cb_kernel_spec spec;
  double theta[ROWS + MAX_C + 6], x[ROWS * N];
  int32_t h[MAX_C * N];
} tree_set;

/* On a coarse grid, so that many points share values: there a constant in place of
 * x_j^2 / l_j^2 + u is not positive definite. */
static void random_tree(tree_set *s, uint64_t number) {
  cb_rng rng = cb_rng_make(77, CB_RNG_BENCH, number);
  const int c = (int)cb_rng_below(&rng, 4);
  s->spec = (cb_kernel_spec){.d = ROWS,
                             .c = c,
                             .presences = GROUPS,
                             .form = number % 3 == 0 ? CB_PAPER : CB_FREE,
                             .ard = number % 2 == 0,
                             .half = true,
                             .lambda = cb_rng_uniform(&rng)};
  const cb_theta_layout t = cb_theta_lay_out(&s->spec);
  for (int i = 0; i < t.count; i++)
    s->theta[i] = log(0.1 + 4.0 * cb_rng_uniform(&rng));
  memset(s->x, 0, sizeof s->x);
  for (int i = 0; i < N; i++) {
    double *x = s->x + (ptrdiff_t)i * ROWS;
    for (int g = 0; g < GROUPS; g++)
      x[NUMBERS + g] = cb_rng_below(&rng, 2);
    for (int j = 0; j < NUMBERS; j++)
      if (j < FREE || x[NUMBERS + (j - FREE) / 2] > 0.5)
        x[j] = cb_rng_below(&rng, 3) - 1.0;
    for (int j = 0; j < c; j++) /* of three, the fourth is inactive */
      s->h[j + i * c] = (int32_t)cb_rng_below(&rng, j == 0 ? 3 : 4);
  }
}

static void fill_covariance(const tree_set *s, double *K) {
  const int c = s->spec.c;
  double inv_l2[ROWS], rate[MAX_C], X[ROWS * N], kh[N], ka[N], a[N], b[N], r0[N];
  int32_t H[MAX_C * N];
  cb_kernel k = {.inv_l2 = inv_l2, .rate = rate};
  const cb_slice slice = {a, b, r0};
  cb_kernel_set(&k, &s->spec, s->theta);
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < ROWS; j++)
      X[i + j * N] = s->x[j + i * ROWS];
    for (int j = 0; j < c; j++)
      H[i + j * N] = s->h[j + i * c];
  }
  for (int i = 0; i < N; i++) {
    cb_kernel_hamming(&k, N, H, N, s->h + i * c, kh);
    cb_kernel_overlap(k.c, N, H, N, s->h + i * c, ka);
    cb_kernel_weights(&k, N, kh, ka, &slice);
    cb_kernel_row(&k, N, X, N, &slice, s->x + (ptrdiff_t)i * ROWS, K + i * N);
  }
}

static double off_diagonal(const double *K) {
  double sum = 0.0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++)
      sum += K[i + j * N] * K[i + j * N];
  return sum;
}

/* Rows and columns p and q turned so that K_pq becomes 0. */
static void rotate(double *K, int p, int q) {
  const double apart = K[q + q * N] - K[p + p * N], pq = K[p + q * N];
  if (pq == 0.0)
    return;
  const double ratio = 0.5 * apart / pq;
  const double t = (ratio >= 0.0 ? 1.0 : -1.0) / (fabs(ratio) + hypot(ratio, 1.0));
  const double cosine = 1.0 / hypot(t, 1.0), sine = t * cosine;
  for (int i = 0; i < N; i++) {
    const double ip = K[i + p * N], iq = K[i + q * N];
    K[i + p * N] = cosine * ip - sine * iq;
    K[i + q * N] = sine * ip + cosine * iq;
  }
  for (int i = 0; i < N; i++) {
    const double pi = K[p + i * N], qi = K[q + i * N];
    K[p + i * N] = cosine * pi - sine * qi;
    K[q + i * N] = sine * pi + cosine * qi;
  }
}

/* By Jacobi's rotations; K is lost. */
static double smallest_eigenvalue(double *K) {
  double least = INFINITY;
  for (int sweep = 0; sweep < 40 && off_diagonal(K) > 1e-24; sweep++)
    for (int p = 0; p < N; p++)
      for (int q = p + 1; q < N; q++)
        rotate(K, p, q);
  assert_true(off_diagonal(K) <= 1e-24);
  for (int i = 0; i < N; i++)
    least = fmin(least, K[i + i * N]);
  return least;
}

static void conditions_leave_covariances_positive(void **state) {
  (void)state;
  for (uint64_t t = 0; t < 120; t++) {
    tree_set s;
    double K[N * N];
    random_tree(&s, t);
    fill_covariance(&s, K);
    const double least = smallest_eigenvalue(K);
    if (!(least > -1e-12 * N))
      fail_msg("case %d: the smallest eigenvalue is %g", (int)t, least);
  }
}

/* What METHOD's distance says of one pair, number by number. */
static double distance_by_rule(const tree_set *s, const double *a, const double *b) {
  double sum = 0.0;
  for (int j = 0; j < NUMBERS; j++) {
    const double l = exp(s->theta[s->spec.ard ? j : 0]);
    const int g = NUMBERS + (j - FREE) / 2;
    const bool in_a = j < FREE || a[g] > 0.5, in_b = j < FREE || b[g] > 0.5;
    if (in_a && in_b)
      sum += (a[j] - b[j]) * (a[j] - b[j]) / (l * l);
    else if (in_a || in_b)
      sum += (in_a ? a[j] * a[j] : b[j] * b[j]) / (l * l);
  }
  for (int g = NUMBERS; g < ROWS; g++) { /* u, once for each group */
    const double l = exp(s->theta[s->spec.ard ? g : 0]);
    sum += a[g] != b[g] ? 1.0 / (l * l) : 0.0;
  }
  return sum;
}

static void presences_are_the_distance_of_the_inactive(void **state) {
  (void)state;
  for (uint64_t t = 0; t < 40; t++) {
    tree_set s;
    double K[N * N];
    random_tree(&s, t);
    s.spec.c = 0;
    s.spec.form = CB_FREE;
    const cb_theta_layout layout = cb_theta_lay_out(&s.spec);
    fill_covariance(&s, K);
    for (int i = 0; i < N; i++)
      for (int j = 0; j < N; j++) {
        const double r = sqrt(5.0 * distance_by_rule(&s, s.x + (ptrdiff_t)i * ROWS,
                                                     s.x + (ptrdiff_t)j * ROWS));
        const double want =
            exp(s.theta[layout.matern]) * (1.0 + r + r * r / 3.0) * exp(-r);
        assert_close(K[j + i * N], want, 1e-13);
      }
  }
}

static void permuting_parameters_changes_nothing(void **state) {
  (void)state;
  for (uint64_t t = 0; t < 40; t++) {
    data_set s, p;
    random_data(&s, 1000 + t);
    p = s;
    const int d = s.spec.d, c = s.spec.c;
    cb_rng rng = cb_rng_make(3, CB_RNG_BENCH, t);
    int32_t order[MAX_D], corder[MAX_C];
    for (int j = 0; j < d; j++)
      order[j] = j;
    for (int j = 0; j < c; j++)
      corder[j] = j;
    cb_rng_shuffle(&rng, d, order);
    cb_rng_shuffle(&rng, c, corder);
    for (int j = 0; j < d; j++) {
      if (s.spec.ard)
        p.theta[j] = s.theta[order[j]];
      for (int i = 0; i < N; i++)
        p.x[j + i * d] = s.x[order[j] + i * d];
      for (int i = 0; i < M; i++)
        p.qx[j + i * d] = s.qx[order[j] + i * d];
    }
    const int rates = cb_theta_lay_out(&s.spec).rates;
    for (int j = 0; j < c; j++) {
      if (rates >= 0)
        p.theta[rates + j] = s.theta[rates + corder[j]];
      for (int i = 0; i < N; i++)
        p.h[j + i * c] = s.h[corder[j] + i * c];
      for (int i = 0; i < M; i++)
        p.qh[j + i * c] = s.qh[corder[j] + i * c];
    }
    assert_same_predictions(&s, &p);
  }
}

static void relabelling_categories_changes_nothing(void **state) {
  (void)state;
  for (uint64_t t = 0; t < 40; t++) {
    data_set s, p;
    random_data(&s, 2000 + t);
    p = s;
    const int c = s.spec.c;
    cb_rng rng = cb_rng_make(4, CB_RNG_BENCH, t);
    for (int j = 0; j < c; j++) {
      int32_t label[8];
      for (int k = 0; k < s.arms[j]; k++)
        label[k] = k;
      cb_rng_shuffle(&rng, s.arms[j], label);
      for (int i = 0; i < N; i++)
        p.h[j + i * c] = label[s.h[j + i * c]];
      for (int i = 0; i < M; i++)
        p.qh[j + i * c] = label[s.qh[j + i * c]];
    }
    assert_same_predictions(&s, &p);
  }
}

/* (1/c) sum_j exp(-(h_j - h'_j)^2 / (2 l^2)) for l -> 0: the distance falls with l, and
 * is nothing at l = 0.02, where exp(-1250) underflows. */
static void overlap_is_the_limit_of_rbf_kernels(void **state) {
  (void)state;
  for (uint64_t t = 0; t < 20; t++) {
    data_set s;
    random_data(&s, 3000 + t);
    const int c = s.spec.c;
    if (c == 0)
      continue;
    double kh[N], ka[N];
    int32_t H[MAX_C * N];
    const cb_kernel k = {.c = c, .form = CB_PAPER};
    for (int i = 0; i < N; i++)
      for (int j = 0; j < c; j++)
        H[i + j * N] = s.h[j + i * c];
    cb_kernel_hamming(&k, N, H, N, s.qh, kh);
    cb_kernel_overlap(k.c, N, H, N, s.qh, ka);
    double last = INFINITY;
    const double scales[] = {0.9, 0.5, 0.3, 0.2, 0.1, 0.02};
    for (int l = 0; l < 6; l++) {
      double worst = 0.0;
      for (int i = 0; i < N; i++) {
        double rbf = 0.0;
        for (int j = 0; j < c; j++) {
          const double u = (H[i + j * N] - s.qh[j]) / scales[l];
          rbf += exp(-0.5 * u * u) / c;
        }
        worst = fmax(worst, fabs(rbf - ka[i]));
      }
      assert_true(worst <= last);
      assert_true(worst <= exp(-0.5 / (scales[l] * scales[l])) + 1e-15);
      last = worst;
    }
    assert_true(last <= 1e-15);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(covariances_are_positive_semi_definite),
      cmocka_unit_test(conditions_leave_covariances_positive),
      cmocka_unit_test(presences_are_the_distance_of_the_inactive),
      cmocka_unit_test(permuting_parameters_changes_nothing),
      cmocka_unit_test(relabelling_categories_changes_nothing),
      cmocka_unit_test(overlap_is_the_limit_of_rbf_kernels),
  };
  return cmocka_run_group_tests_name("model properties", tests, NULL, NULL);
}
