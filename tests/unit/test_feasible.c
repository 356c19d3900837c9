/* The logarithm of the probability to be feasible: its values and derivatives, also far
 * out in the tails, and what a search may conclude from bounds. */
#include "check.h"

#include <float.h>
#include <string.h>

#include "base/rng.h"
#include "model/gp_fit.h"
#include "search/acquisition.h"
#include "search/feasible.h"

static cocabo_error err;
enum { D = 3, C = 2, N = 90, M = 40 };

/* A process with N points, of something that grows along x. */
static cb_gp *some_process(uint64_t seed, double noise) {
  const cb_kernel_spec spec = {.d = D, .c = C, .form = CB_FREE, .ard = true};
  double x[N * D], y[N];
  int32_t h[N * C];
  cb_theta_box box;
  cb_gp *gp;
  cb_rng rng = cb_rng_make(seed, CB_RNG_BENCH, 1);
  for (int i = 0; i < N; i++) {
    y[i] = 0.0;
    for (int j = 0; j < D; j++)
      y[i] += (x[i * D + j] = 2.0 * cb_rng_uniform(&rng) - 1.0) / (j + 1.0);
    for (int j = 0; j < C; j++)
      y[i] += 0.2 * (h[i * C + j] = (int32_t)cb_rng_below(&rng, 3));
  }
  cb_theta_free(&spec, false, &box);
  box.start[cb_theta_lay_out(&spec).noise] = log(noise);
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, box.start);
  assert_ok(cb_gp_factor(gp, N, x, h, &err));
  cb_gp_set_y(gp, y);
  return gp;
}

static void derivatives_of_a_limit_agree_with_differences(void **state) {
  (void)state;
  static const double points[][2] = {
      {-2.31, 0.73}, {0.417, 0.291}, {0.93, 0.0137}, {3.11, 0.0043}, {7.7, 0.00083}};
  for (int k = 0; k < 2; k++)
    for (size_t i = 0; i < sizeof points / sizeof points[0]; i++) {
      const cb_limit limit = {
          .bound = 0.371, .noise = k * 0.1, .weight = 1.0 + 15.0 * k};
      const double mu = points[i][0], sd = points[i][1], h = 1e-4 * sd;
      double by_mu, by_sd;
      const double value = cb_limit_value(&limit, mu, sd, &by_mu, &by_sd);
      const double want_mu = (cb_limit_value(&limit, mu + h, sd, NULL, NULL) -
                              cb_limit_value(&limit, mu - h, sd, NULL, NULL)) /
                             (2.0 * h);
      const double want_sd = (cb_limit_value(&limit, mu, sd + h, NULL, NULL) -
                              cb_limit_value(&limit, mu, sd - h, NULL, NULL)) /
                             (2.0 * h);
      const double rounding = 8.0 * DBL_EPSILON * (1.0 + fabs(value)) / h;
      assert_true(isfinite(value) && value < 0.0 && by_mu < 0.0);
      assert_true(fabs(by_mu - want_mu) <= 1e-6 * fabs(want_mu) + rounding);
      assert_true(fabs(by_sd - want_sd) <= 1e-6 * fabs(want_sd) + rounding);
    }
}

static bool never(const void *user, const double *x, const int32_t *h) {
  (void)user, (void)x, (void)h;
  return false;
}

static bool always(const void *user, const double *x, const int32_t *h) {
  return !never(user, x, h);
}

static void draw(cb_rng *rng, int m, double *x, int32_t *h) {
  for (int i = 0; i < m * D; i++)
    x[i] = 2.0 * cb_rng_uniform(rng) - 1.0;
  for (int i = 0; i < m * C; i++)
    h[i] = (int32_t)cb_rng_below(rng, 3);
}

static void the_gradient_of_the_sum_agrees_with_differences(void **state) {
  (void)state;
  cb_feasible f = {.n = 2};
  f.limits[0] = (cb_limit){
      .gp = some_process(3, 1e-4), .bound = -1.3, .weight = 1, .floor = -INFINITY};
  f.limits[1] = (cb_limit){.gp = some_process(4, 0.1),
                           .bound = 0.4,
                           .noise = 0.1,
                           .weight = 16,
                           .floor = -INFINITY};
  cb_rng rng = cb_rng_make(5, CB_RNG_BENCH, 0);
  for (int round = 0; round < 20; round++) {
    double x[D], slope[D], dmu[D], dsd[D], ignored[D];
    int32_t h[C];
    draw(&rng, 1, x, h);
    cb_feasible_focus(&f, x, h, 32);
    cb_feasible_bind(&f, h);
    for (int roughly = 0; roughly < 2; roughly++) {
      cb_feasible_gradient(&f, D, x, h, roughly, dmu, dsd, slope);
      for (int j = 0; j < D; j++) {
        const double at = x[j], step = 1e-5;
        x[j] = at + step;
        const double up = cb_feasible_gradient(&f, D, x, h, roughly, dmu, dsd, ignored);
        x[j] = at - step;
        const double down =
            cb_feasible_gradient(&f, D, x, h, roughly, dmu, dsd, ignored);
        x[j] = at;
        assert_close(slope[j], (up - down) / (2.0 * step), 2e-5 * (1.0 + fabs(up)));
      }
    }
  }
  cb_gp_free(f.limits[0].gp);
  cb_gp_free(f.limits[1].gp);
}

static void no_value_is_above_its_bound(void **state) {
  (void)state;
  cb_feasible f = {.n = 2};
  f.limits[0] = (cb_limit){
      .gp = some_process(6, 1e-4), .bound = -0.3, .weight = 1, .floor = -INFINITY};
  f.limits[1] = (cb_limit){.gp = some_process(7, 0.1),
                           .bound = 0.1,
                           .noise = 0.1,
                           .weight = 16,
                           .floor = -4.0,
                           .ruled_out = never};
  cb_rng rng = cb_rng_make(8, CB_RNG_BENCH, 0);
  double x[M * D], mu[M], sd[M], exact[M], above[M], swapped[M];
  int32_t h[M * C], which[M], to[M];
  draw(&rng, M, x, h);
  cb_feasible_focus(&f, x, h, 32);
  const cb_places all = {.d = D, .c = C, .m = M, .x = x, .h = h};
  cb_feasible_score(&f, &all, false, mu, sd, exact);
  cb_feasible_score(&f, &all, true, mu, sd, above);
  int floored = 0, tight = 0;
  for (int i = 0; i < M; i++) {
    assert_true(exact[i] <= above[i] + 1e-9 && above[i] <= 0.0);
    tight += above[i] < -1.0;
    double low;
    cb_gp_predict(f.limits[0].gp, 1, x + (ptrdiff_t)i * D, h + (ptrdiff_t)i * C, mu,
                  sd);
    low = cb_limit_value(&f.limits[0], mu[0], sd[0], NULL, NULL) - 4.0;
    assert_true(exact[i] >= low - 1e-9); /* the floor of the other */
    floored += fabs(exact[i] - low) < 1e-9;
  }
  assert_true(tight > 5 && floored > 5);

  /* What is ruled out has no floor. */
  f.limits[1].ruled_out = always;
  cb_feasible_score(&f, &all, false, mu, sd, above);
  int lower = 0;
  for (int i = 0; i < M; i++)
    lower += above[i] < exact[i] - 1e-9;
  assert_int_equal(lower, floored);

  /* Swaps are the same points, spelt otherwise. */
  for (int i = 0; i < M; i++) {
    which[i] = i % C;
    to[i] = (h[which[i]] + 1 + (int32_t)cb_rng_below(&rng, 2)) % 3; /* another */
    memcpy(x + (ptrdiff_t)i * D, x, D * sizeof *x);
    memcpy(h + (ptrdiff_t)i * C, h, C * sizeof *h);
  }
  const int32_t from[C] = {h[0], h[1]};
  for (int i = 0; i < M; i++)
    h[i * C + which[i]] = to[i];
  const cb_places swaps = {.d = D,
                           .c = C,
                           .m = M,
                           .x = x,
                           .h = from,
                           .swaps = true,
                           .which = which,
                           .to = to};
  cb_feasible_score(&f, &all, false, mu, sd, exact);
  cb_feasible_score(&f, &swaps, false, mu, sd, swapped);
  for (int i = 0; i < M; i++)
    assert_close(swapped[i], exact[i], 1e-7);
  cb_gp_free(f.limits[0].gp);
  cb_gp_free(f.limits[1].gp);
}

static void acquisitions_grow_with_feasibility(void **state) {
  (void)state;
  const cb_acquisition kinds[] = {CB_UCB, CB_EI, CB_LOGEI, CB_EXPLORE, CB_FEASIBLE};
  const double logs[] = {-731.0, -11.3, -0.71, -0.61, -0.0137};
  for (int k = 0; k < 5; k++)
    for (int i = 0; i < 5; i++) {
      const cb_acquire a = {.kind = kinds[k]};
      const double value = kinds[k] == CB_FEASIBLE ? 0.0 : 0.733, p = logs[i], h = 1e-6;
      double by_value, by_log_p;
      cb_acquire_feasible(&a, value, p, &by_value, &by_log_p);
      assert_close(by_log_p,
                   (cb_acquire_feasible(&a, value, p + h, NULL, NULL) -
                    cb_acquire_feasible(&a, value, p - h, NULL, NULL)) /
                       (2.0 * h),
                   1e-5);
      assert_close(by_value,
                   (cb_acquire_feasible(&a, value + h, p, NULL, NULL) -
                    cb_acquire_feasible(&a, value - h, p, NULL, NULL)) /
                       (2.0 * h),
                   1e-5);
      assert_true(by_value >= 0.0 && by_log_p >= 0.0);
    }
  /* From one half on UCB does not care; below, the most feasible is the best. */
  const cb_acquire ucb = {.kind = CB_UCB};
  assert_true(cb_acquire_feasible(&ucb, 1.0, log(0.51), NULL, NULL) == 1.0);
  assert_true(cb_acquire_feasible(&ucb, 50.0, log(0.4), NULL, NULL) <
              cb_acquire_feasible(&ucb, 0.0, log(0.48), NULL, NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(derivatives_of_a_limit_agree_with_differences),
      cmocka_unit_test(the_gradient_of_the_sum_agrees_with_differences),
      cmocka_unit_test(no_value_is_above_its_bound),
      cmocka_unit_test(acquisitions_grow_with_feasibility),
  };
  return cmocka_run_group_tests_name("search/feasible", tests, NULL, NULL);
}
