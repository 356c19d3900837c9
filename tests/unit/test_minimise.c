/* The minimiser against scipy's L-BFGS-B on bounded problems and on likelihoods of our
 * own, and against functions that break every promise. */
#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/minimise.h"
#include "base/rng.h"
#include "model/gp_fit.h"

static cocabo_error err;

static const cb_minimise_limits LIMITS = {
    .max_evaluations = 2000, .f_tolerance = 1e-15, .grad_tolerance = 1e-10};

/* ---- functions, as tools/gen_oracles_minimise.py has them -------------------------
 */

/* What every objective's context points to; it watches the minimiser too. */
typedef struct {
  int n, calls;
  const double *lower, *upper;
} watch;

static int enter(void *context, const double *x) {
  watch *w = context;
  w->calls++;
  for (int i = 0; i < w->n; i++)
    if (!(x[i] >= w->lower[i] && x[i] <= w->upper[i]))
      fail_msg("x[%d] is %.17g, outside [%g, %g]", i, x[i], w->lower[i], w->upper[i]);
  return w->n;
}

static double rosenbrock(void *context, const double *x, double *g) {
  const int n = enter(context, x);
  double f = 0.0;
  memset(g, 0, (size_t)n * sizeof *g);
  for (int i = 0; i + 1 < n; i++) {
    const double a = x[i + 1] - x[i] * x[i], b = 1.0 - x[i];
    g[i] += -400.0 * a * x[i] - 2.0 * b;
    g[i + 1] += 200.0 * a;
    f += 100.0 * a * a + b * b;
  }
  return f;
}

static double powell(void *context, const double *x, double *g) {
  const int n = enter(context, x);
  double f = 0.0;
  for (int i = 0; i < n; i += 4) {
    const double p = x[i] + 10.0 * x[i + 1], q = x[i + 2] - x[i + 3];
    const double r = x[i + 1] - 2.0 * x[i + 2], s = x[i] - x[i + 3];
    f += p * p + 5.0 * q * q + r * r * r * r + 10.0 * s * s * s * s;
    g[i] = 2.0 * p + 40.0 * s * s * s;
    g[i + 1] = 20.0 * p + 4.0 * r * r * r;
    g[i + 2] = 10.0 * q - 8.0 * r * r * r;
    g[i + 3] = -10.0 * q - 40.0 * s * s * s;
  }
  return f;
}

/* 1/2 (x - m)' A (x - m), A = R diag(1 .. condition) R, R a reflection. */
static double quadratic(int n, double condition, const double *x, double *g) {
  double v[12], r[12], vv = 0.0, ve = 0.0, vg = 0.0, f = 0.0;
  for (int i = 0; i < n; i++) {
    v[i] = 1.0 + i % 3;
    r[i] = x[i] - (i % 2 == 0 ? 1.5 : -0.7);
    vv += v[i] * v[i];
    ve += v[i] * r[i];
  }
  for (int i = 0; i < n; i++) {
    r[i] -= 2.0 * v[i] * ve / vv;
    g[i] = pow(condition, i / (n - 1.0)) * r[i];
    f += 0.5 * r[i] * g[i];
    vg += v[i] * g[i];
  }
  for (int i = 0; i < n; i++)
    g[i] -= 2.0 * v[i] * vg / vv;
  return f;
}

static double quadratic_1(void *context, const double *x, double *g) {
  return quadratic(enter(context, x), 1.0, x, g);
}
static double quadratic_1e2(void *context, const double *x, double *g) {
  return quadratic(enter(context, x), 1e2, x, g);
}
static double quadratic_1e4(void *context, const double *x, double *g) {
  return quadratic(enter(context, x), 1e4, x, g);
}
static double quadratic_1e6(void *context, const double *x, double *g) {
  return quadratic(enter(context, x), 1e6, x, g);
}

static double beale(void *context, const double *x, double *g) {
  const double c[] = {1.5, 2.25, 2.625};
  double f = 0.0, power = 1.0; /* x1^k */
  enter(context, x);
  g[0] = g[1] = 0.0;
  for (int k = 0; k < 3; k++) {
    const double slope = (k + 1) * power;
    power *= x[1];
    const double e = c[k] - x[0] * (1.0 - power);
    f += e * e;
    g[0] += 2.0 * e * (power - 1.0);
    g[1] += 2.0 * e * x[0] * slope;
  }
  return f;
}

static double wood(void *context, const double *x, double *g) {
  enter(context, x);
  const double p = x[1] - x[0] * x[0], q = x[3] - x[2] * x[2];
  const double a = 1.0 - x[0], b = x[1] - 1.0, c = 1.0 - x[2], d = x[3] - 1.0;
  g[0] = -400.0 * p * x[0] - 2.0 * a;
  g[1] = 200.0 * p + 20.2 * b + 19.8 * d;
  g[2] = -360.0 * q * x[2] - 2.0 * c;
  g[3] = 180.0 * q + 20.2 * d + 19.8 * b;
  return 100.0 * p * p + a * a + 90.0 * q * q + c * c + 10.1 * (b * b + d * d) +
         19.8 * b * d;
}

static double brown(void *context, const double *x, double *g) {
  enter(context, x);
  const double p = x[0] - 1e6, q = x[1] - 2e-6, r = x[0] * x[1] - 2.0;
  g[0] = 2.0 * p + 2.0 * r * x[1];
  g[1] = 2.0 * q + 2.0 * r * x[0];
  return p * p + q * q + r * r;
}

static double hs45(void *context, const double *x, double *g) {
  const int n = enter(context, x);
  double product = 1.0;
  for (int i = 0; i < n; i++) {
    product *= x[i];
    g[i] = -1.0 / 120.0;
    for (int j = 0; j < n; j++)
      g[i] *= j == i ? 1.0 : x[j];
  }
  return 2.0 - product / 120.0;
}

#include "oracle/minimise.h"

enum {
  N_ORACLES = sizeof minimise_oracles / sizeof minimise_oracles[0],
  N_FITS = sizeof fit_oracles / sizeof fit_oracles[0],
  MAX_N = 12
};

/* Runs f from x; the number of calls in *calls unless NULL. */
static double run(cb_objective f, int n, const double *lower, const double *upper,
                  double *x, const cb_minimise_limits *limits, int *calls) {
  watch w = {.n = n, .lower = lower, .upper = upper};
  cb_minimiser *ws;
  assert_ok(cb_minimiser_new(&ws, n, &err));
  const double value = cb_minimise(ws, x, lower, upper, f, &w, limits);
  cb_minimiser_free(ws);
  if (calls)
    *calls = w.calls;
  for (int i = 0; i < n; i++)
    assert_true(x[i] >= lower[i] && x[i] <= upper[i]);
  return value;
}

/* ---- scipy ------------------------------------------------------------------------
 */

static void reaches_the_minima_that_scipy_reaches(void **state) {
  (void)state;
  int ours = 0, scipys = 0;
  for (int k = 0; k < N_ORACLES; k++) {
    const struct minimise_oracle *o = &minimise_oracles[k];
    double x[MAX_N], g[MAX_N];
    int calls;
    memcpy(x, o->start, sizeof x);
    const double value = run(o->f, o->n, o->lower, o->upper, x, &LIMITS, &calls);
    if (!(value <= o->value + 1e-9 * (1.0 + fabs(o->value))))
      fail_msg("%s, n = %d: %.17g, scipy has %.17g", o->name, o->n, value, o->value);
    ours += calls;
    scipys += o->evaluations;
    if (calls > 10 + 7 * o->evaluations / 2)
      fail_msg("%s, n = %d: %d evaluations, scipy took %d", o->name, o->n, calls,
               o->evaluations);
    watch w = {.n = o->n, .lower = o->lower, .upper = o->upper};
    assert_close(o->f(&w, x, g), value, 0.0); /* the point is the value's */
  }
  if (ours > 12 * scipys / 10)
    fail_msg("%d evaluations in all, scipy took %d", ours, scipys);
}

/* Nothing here depends on the machine, so neither does the number of evaluations. A
 * change of the algorithm that is meant to be one has to change these. The quadratics
 * are left out: pow() is libm's. */
static void the_steps_are_the_same_on_every_machine(void **state) {
  (void)state;
  const int want[N_ORACLES] = {46, 19, 85, 27, 54,  58, 23, 0, 0,
                               0,  0,  16, 10, 110, 93, 54, 4};
  for (int k = 0; k < N_ORACLES; k++) {
    const struct minimise_oracle *o = &minimise_oracles[k];
    double x[MAX_N];
    int calls;
    memcpy(x, o->start, sizeof x);
    run(o->f, o->n, o->lower, o->upper, x, &LIMITS, &calls);
    if (want[k] != 0 && calls != want[k])
      fail_msg("%s, n = %d: %d evaluations, want %d", o->name, o->n, calls, want[k]);
  }
}

static void learns_the_hyper_parameters_that_scipy_learns(void **state) {
  (void)state;
  for (int k = 0; k < N_FITS; k++) {
    const struct fit_oracle *o = &fit_oracles[k];
    const cb_kernel_spec spec = {.d = o->d, .c = o->c, .form = CB_FREE, .ard = true};
    double theta[CB_MAX_THETA], value;
    cb_theta_box box;
    cb_likelihood *l;
    cb_theta_free(&spec, false, &box);
    assert_int_equal(cb_theta_lay_out(&spec).count, o->n_theta);
    assert_ok(cb_likelihood_new(&l, &spec, o->n, o->x, o->h, &err));
    cb_likelihood_set_y(l, o->y);
    memcpy(theta, box.start, sizeof theta);
    cb_rng rng = cb_rng_make(1, CB_RNG_FIT, 0);
    assert_ok(cb_gp_fit(l, &spec, &box, &(cb_fit_plan){.max_evaluations = 60}, &rng,
                        theta, &value, &err));
    cb_likelihood_free(l);
    assert_close(value, o->value, 1e-7);
    for (int i = 0; i < o->n_theta; i++)
      assert_close(theta[i], o->theta[i], 2e-3);
  }
}

/* ---- bounds, budgets, properties ----------------------------------------------------
 */

/* With x0 <= 0.5 the minimum is at (0.5, 0.25), on the bound: f = 0.25. */
static void stops_at_an_active_bound(void **state) {
  (void)state;
  double x[] = {7.0, -9.0}; /* outside: clipped first */
  const double lower[] = {-2.0, -2.0}, upper[] = {0.5, 2.0};
  assert_close(run(rosenbrock, 2, lower, upper, x, &LIMITS, NULL), 0.25, 1e-12);
  assert_close(x[0], 0.5, 0.0);
  assert_close(x[1], 0.25, 1e-7);
}

static void variables_without_room_stay(void **state) {
  (void)state;
  double x[] = {0.1, 0.2, 0.3, 0.4};
  const double lower[] = {-2.0, 0.7, -2.0, -0.3}, upper[] = {2.0, 0.7, 2.0, -0.3};
  const double value = run(rosenbrock, 4, lower, upper, x, &LIMITS, NULL);
  assert_close(x[1], 0.7, 0.0);
  assert_close(x[3], -0.3, 0.0);
  double g[4];
  watch w = {4, 0, lower, upper};
  assert_close(rosenbrock(&w, x, g), value, 0.0);
  assert_true(fabs(g[0]) < 1e-6 && fabs(g[2]) < 1e-6); /* the free ones are done */
}

static void no_room_at_all_is_one_evaluation(void **state) {
  (void)state;
  double x[] = {5.0, 5.0};
  const double at[] = {0.3, -0.4};
  int calls;
  assert_close(run(rosenbrock, 2, at, at, x, &LIMITS, &calls), 24.5, 1e-12);
  assert_int_equal(calls, 1);
  assert_memory_equal(x, at, sizeof x);
}

/* From every corner of the cube; at four of them all gradients push outwards. */
static void leaves_a_corner_only_if_that_is_downhill(void **state) {
  (void)state;
  const double lower[] = {0.0, 0.0, 0.0, 0.0, 0.0}, upper[] = {1.0, 2.0, 3.0, 4.0, 5.0};
  for (unsigned corner = 0; corner < 32; corner++) {
    double x[5];
    int calls;
    for (int i = 0; i < 5; i++)
      x[i] = corner >> i & 1 ? upper[i] : lower[i];
    const double value = run(hs45, 5, lower, upper, x, &LIMITS, &calls);
    assert_true(value == 1.0 || value == 2.0);
    if (corner == 31)
      assert_int_equal(calls, 1);
    if (corner == 15 || corner == 30) /* one variable at 0: it alone moves */
      assert_close(value, 1.0, 0.0);
  }
}

/* cosh(x - 1.3), whose minimum is inside, and at a bound of the second box. */
static double bowl(void *context, const double *x, double *g) {
  enter(context, x);
  g[0] = sinh(x[0] - 1.3);
  return cosh(x[0] - 1.3);
}

static void one_variable_is_a_line_search(void **state) {
  (void)state;
  const double lower[] = {-4.0}, wide[] = {9.0}, narrow[] = {0.25};
  double x[] = {-3.9}, y[] = {-3.9};
  int calls;
  assert_close(run(bowl, 1, lower, wide, x, &LIMITS, &calls), 1.0, 1e-15);
  assert_close(x[0], 1.3, 1e-7);
  assert_true(calls < 15);
  run(bowl, 1, lower, narrow, y, &LIMITS, &calls);
  assert_close(y[0], 0.25, 0.0);
}

/* A longer budget repeats the shorter one's steps, and the best value never rises. */
static void the_best_value_falls_with_the_budget(void **state) {
  (void)state;
  for (int k = 0; k < N_ORACLES; k++) {
    const struct minimise_oracle *o = &minimise_oracles[k];
    double before = INFINITY;
    for (int budget = 1; budget <= 30; budget++) {
      const cb_minimise_limits few = {.max_evaluations = budget};
      double x[MAX_N];
      int calls;
      memcpy(x, o->start, sizeof x);
      const double value = run(o->f, o->n, o->lower, o->upper, x, &few, &calls);
      assert_true(value <= before && calls <= budget);
      before = value;
    }
  }
}

/* Random boxes and starts: inside (enter watches), never worse than the start, and
 * stationary where it stops. */
static void random_boxes_are_kept_to(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(13, CB_RNG_BENCH, 5);
  for (int trial = 0; trial < 300; trial++) {
    double lower[MAX_N], upper[MAX_N], x[MAX_N], g[MAX_N], start[MAX_N];
    const int n = 2 + (int)cb_rng_below(&rng, 11);
    for (int i = 0; i < n; i++) {
      const double a = 4.0 * cb_rng_uniform(&rng) - 2.0;
      const double width = cb_rng_below(&rng, 4) ? 3.0 * cb_rng_uniform(&rng) : 0.0;
      lower[i] = a;
      upper[i] = a + width;
      x[i] = start[i] = 6.0 * cb_rng_uniform(&rng) - 3.0;
      start[i] = fmin(fmax(start[i], lower[i]), upper[i]);
    }
    const cb_objective f = trial % 2 ? rosenbrock : quadratic_1e4;
    const double value = run(f, n, lower, upper, x, &LIMITS, NULL);
    watch w = {n, 0, lower, upper};
    assert_true(value <= f(&w, start, g));
    assert_close(f(&w, x, g), value, 0.0);
    for (int i = 0; i < n; i++) {
      const double to = fmin(fmax(x[i] - g[i], lower[i]), upper[i]);
      if (!(fabs(to - x[i]) < 1e-4))
        fail_msg("trial %d: x[%d] = %g is not stationary", trial, i, x[i]);
    }
  }
}

static void keeps_to_its_budget_and_returns_the_best_seen(void **state) {
  (void)state;
  const double lower[] = {-2.0, -2.0}, upper[] = {2.0, 2.0};
  for (int budget = 1; budget <= 7; budget += 6) {
    const cb_minimise_limits few = {.max_evaluations = budget, .grad_tolerance = 1e-10};
    double x[] = {-1.2, 1.0}, g[2];
    watch w = {2, 0, lower, upper};
    int calls;
    const double value = run(rosenbrock, 2, lower, upper, x, &few, &calls);
    assert_int_equal(calls, budget);
    assert_true(budget == 1 ? value == rosenbrock(&w, x, g) : value < 24.2);
    assert_close(rosenbrock(&w, x, g), value, 0.0);
  }
}

/* Values after each evaluation. */
typedef struct {
  watch w;
  double offset, best[64];
  int n_best;
} logbook;

static double slow_valley(void *context, const double *x, double *g) {
  logbook *b = context;
  const double f = rosenbrock(context, x, g) + b->offset;
  const double before = b->n_best > 0 ? b->best[b->n_best - 1] : INFINITY;
  if (b->n_best < 64)
    b->best[b->n_best++] = fmin(f, before);
  return f;
}

static logbook run_valley(double offset, double least_gain) {
  static const double lower[] = {-2.0, -2.0}, upper[] = {2.0, 2.0};
  const cb_minimise_limits limits = {
      .max_evaluations = 64, .least_gain = least_gain, .grad_tolerance = 1e-12};
  logbook b = {.w = {2, 0, lower, upper}, .offset = offset};
  double x[] = {-1.2, 1.0};
  cb_minimiser *ws;
  assert_ok(cb_minimiser_new(&ws, 2, &err));
  cb_minimise(ws, x, lower, upper, slow_valley, &b, &limits);
  cb_minimiser_free(ws);
  return b;
}

/* The steps are those of a run without it, up to an iteration that gains too little:
 * the last. It is a number of f itself, whatever f is far from. */
static void an_iteration_that_gains_too_little_is_the_last(void **state) {
  (void)state;
  const double gains[] = {1e-12, 1e-6, 1e-3, 0.05, 0.3};
  const logbook all = run_valley(0.0, 0.0);
  int before = all.n_best;
  assert_true(before > 30);
  for (int k = 0; k < 5; k++) {
    const logbook b = run_valley(0.0, gains[k]);
    assert_true(b.n_best < before || gains[k] < 1e-9);
    assert_memory_equal(b.best, all.best, (size_t)b.n_best * sizeof *b.best);
    assert_true(b.best[b.n_best - 2] - b.best[b.n_best - 1] <= gains[k]);
    assert_int_equal(run_valley(1024.0, gains[k]).n_best, b.n_best);
    before = b.n_best;
  }
  const logbook first = run_valley(0.0, 1e9);
  assert_true(first.n_best >= 2 && first.n_best < before);
}

/* A quadratic and a quartic part in every variable, whose unit is 10^(i-3). */
static double units(void *context, const double *x, double *g) {
  const int n = enter(context, x);
  double f = 0.0, unit = 1e-3;
  for (int i = 0; i < n; i++, unit *= 10.0) {
    const double u = x[i] / unit - 0.3 * i;
    f += u * u + 0.1 * u * u * u * u;
    g[i] = (2.0 * u + 0.4 * u * u * u) / unit;
  }
  return f;
}

static void the_right_scale_saves_evaluations(void **state) {
  (void)state;
  enum { N = 7 };
  double lower[N], upper[N], scale[N], x[N] = {0.0}, y[N] = {0.0};
  for (int i = 0; i < N; i++) {
    scale[i] = pow(10.0, i - 3);
    lower[i] = -9.0 * scale[i];
    upper[i] = 8.0 * scale[i];
  }
  cb_minimise_limits scaled = LIMITS;
  scaled.scale = scale;
  int with, without;
  assert_true(run(units, N, lower, upper, x, &scaled, &with) < 1e-14);
  run(units, N, lower, upper, y, &LIMITS, &without);
  assert_true(with < 15 && without > 2 * with);
}

/* ---- functions that misbehave -------------------------------------------------------
 */

/* Not finite beyond 0.8: the minimum of -x there is wherever the function still is. */
static double cliff(void *context, const double *x, double *g) {
  enter(context, x);
  g[0] = -1.0;
  return x[0] > 0.8 ? nan("") : -x[0];
}

static void comes_back_from_nan(void **state) {
  (void)state;
  double x[] = {-0.9};
  const double lower[] = {-1.0}, upper[] = {1.0};
  int calls;
  const double value = run(cliff, 1, lower, upper, x, &LIMITS, &calls);
  assert_true(x[0] <= 0.8 && x[0] > 0.799999 && calls < 300);
  assert_close(value, -x[0], 0.0);
}

/* log is -inf and nan at and below 0; the minimum of x - 2 log x is at 2. */
static double barrier(void *context, const double *x, double *g) {
  enter(context, x);
  g[0] = 1.0 - 2.0 / x[0];
  return x[0] - 2.0 * log(x[0]);
}

static void a_region_without_values_does_not_hide_the_minimum(void **state) {
  (void)state;
  const double lower[] = {-50.0}, upper[] = {90.0}, starts[] = {1e-3, 0.1, 7.0, 89.0};
  for (int k = 0; k < 4; k++) {
    double x[] = {starts[k]};
    int calls;
    run(barrier, 1, lower, upper, x, &LIMITS, &calls);
    assert_close(x[0], 2.0, 1e-7);
    assert_true(calls < 40);
  }
}

/* The value is fine everywhere, its gradient only left of 0.5. */
static double half_a_gradient(void *context, const double *x, double *g) {
  enter(context, x);
  const double e = x[0] - 0.4;
  g[0] = x[0] > 0.5 ? INFINITY : 2.0 * e;
  return e * e;
}

static void a_gradient_that_is_not_finite_shortens_the_step(void **state) {
  (void)state;
  double x[] = {-0.9};
  const double lower[] = {-1.0}, upper[] = {1.0};
  run(half_a_gradient, 1, lower, upper, x, &LIMITS, NULL);
  assert_close(x[0], 0.4, 1e-9);
}

static double nowhere(void *context, const double *x, double *g) {
  enter(context, x);
  g[0] = nan("");
  return INFINITY;
}

static void never_finite_is_reported_as_infinity(void **state) {
  (void)state;
  double x[] = {0.3};
  const double lower[] = {-1.0}, upper[] = {1.0};
  assert_true(run(nowhere, 1, lower, upper, x, &LIMITS, NULL) == INFINITY);
  assert_close(x[0], 0.3, 0.0);
}

/* Gradients that point the wrong way, are of another function, or are noise. */
static double liar(void *context, const double *x, double *g) {
  const double f = rosenbrock(context, x, g);
  g[0] = -g[0];
  g[1] = -g[1];
  return f;
}
static double flat_liar(void *context, const double *x, double *g) {
  enter(context, x);
  g[0] = 1.0;
  g[1] = -1.0;
  return 3.0;
}
static double noise(void *context, const double *x, double *g) {
  watch *w = context;
  enter(context, x);
  cb_rng rng = cb_rng_make(3, CB_RNG_BENCH, (uint64_t)w->calls);
  for (int i = 0; i < w->n; i++)
    g[i] = 1e3 * cb_rng_normal(&rng);
  return cb_rng_normal(&rng);
}

static void a_gradient_that_lies_ends_the_search(void **state) {
  (void)state;
  const cb_objective liars[] = {liar, flat_liar, noise};
  const double lower[] = {-2.0, -2.0}, upper[] = {2.0, 2.0};
  for (int k = 0; k < 3; k++) {
    double x[] = {-1.2, 1.0};
    int calls;
    const double value = run(liars[k], 2, lower, upper, x, &LIMITS, &calls);
    assert_true(isfinite(value) && calls < 400);
  }
}

static int after_five(void *user) {
  return ++*(int *)user > 5;
}

static void an_interrupt_ends_it_before_the_next_evaluation(void **state) {
  (void)state;
  const double lower[] = {-2.0, -2.0}, upper[] = {2.0, 2.0};
  double x[] = {-1.2, 1.0};
  int polls = 0;
  watch w = {2, 0, lower, upper};
  cb_minimise_limits limits = LIMITS;
  limits.interrupt = after_five;
  limits.user = &polls;
  cb_minimiser *ws;
  assert_ok(cb_minimiser_new(&ws, 2, &err));
  const double value = cb_minimise(ws, x, lower, upper, rosenbrock, &w, &limits);
  assert_true(cb_minimise_interrupted(ws));
  assert_int_equal(w.calls, 5);
  assert_int_equal(polls, 6); /* nobody is asked again once it is over */
  assert_true(value < 24.2);
  limits.interrupt = NULL;
  cb_minimise(ws, x, lower, upper, rosenbrock, &w, &limits);
  assert_false(cb_minimise_interrupted(ws));
  cb_minimiser_free(ws);
}

static void running_never_allocates(void **state) {
  (void)state;
  const struct minimise_oracle *o = &minimise_oracles[2];
  double x[MAX_N];
  watch w = {o->n, 0, o->lower, o->upper};
  cb_minimiser *ws;
  memcpy(x, o->start, sizeof x);
  assert_ok(cb_minimiser_new(&ws, o->n, &err));
  cb_mem_fail_after(0);
  cb_minimise(ws, x, o->lower, o->upper, o->f, &w, &LIMITS);
  assert_null(cb_calloc(1, 8)); /* the fault was still waiting for somebody */
  cb_minimiser_free(ws);
}

static void out_of_memory_is_an_error_not_a_crash(void **state) {
  (void)state;
  cb_minimiser *ws;
  cb_mem_fail_after(0);
  assert_int_equal(cb_minimiser_new(&ws, 3, &err), COCABO_E_NO_MEMORY);
  assert_null(ws);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reaches_the_minima_that_scipy_reaches),
      cmocka_unit_test(the_steps_are_the_same_on_every_machine),
      cmocka_unit_test(learns_the_hyper_parameters_that_scipy_learns),
      cmocka_unit_test(stops_at_an_active_bound),
      cmocka_unit_test(variables_without_room_stay),
      cmocka_unit_test(no_room_at_all_is_one_evaluation),
      cmocka_unit_test(leaves_a_corner_only_if_that_is_downhill),
      cmocka_unit_test(one_variable_is_a_line_search),
      cmocka_unit_test(the_best_value_falls_with_the_budget),
      cmocka_unit_test(random_boxes_are_kept_to),
      cmocka_unit_test(keeps_to_its_budget_and_returns_the_best_seen),
      cmocka_unit_test(an_iteration_that_gains_too_little_is_the_last),
      cmocka_unit_test(the_right_scale_saves_evaluations),
      cmocka_unit_test(comes_back_from_nan),
      cmocka_unit_test(a_region_without_values_does_not_hide_the_minimum),
      cmocka_unit_test(a_gradient_that_is_not_finite_shortens_the_step),
      cmocka_unit_test(never_finite_is_reported_as_infinity),
      cmocka_unit_test(a_gradient_that_lies_ends_the_search),
      cmocka_unit_test(an_interrupt_ends_it_before_the_next_evaluation),
      cmocka_unit_test(running_never_allocates),
      cmocka_unit_test(out_of_memory_is_an_error_not_a_crash),
  };
  return cmocka_run_group_tests_name("base/minimise", tests, NULL, NULL);
}
