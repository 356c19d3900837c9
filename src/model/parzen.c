/* parzen.c - fitting an adaptive Parzen estimator, drawing from it and its densities.
 *
 * A mixture of normals is kept by location and rate (1 / deviation), sorted by
 * location. Mass and density are those of the mixture cut off at [low, high], in
 * logarithms.
 */
#include "model/parzen.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#include "base/linalg.h"
#include "base/maths.h"
#include "base/mem.h"
#include "base/special.h"
#include "base/status.h"
#include "base/vector.h"
#include "base/vexp.h"

enum { REMEMBERED = 25 }; /* values that count in full, however many there are */

static const double PRIOR_WEIGHT = 1.0;
static const double NARROWEST = 100.0; /* the range over the least deviation */
static const double THIN =
    1e-4;                      /* a cell, in deviations: its mass is density x width */
static const double FAR = 9.0; /* deviations beyond which a component has no mass */

#define LOG_SQRT_2PI 0x1.d67f1c864beb5p-1 /* log(sqrt(2 pi)) */

typedef struct place {
  double at;
  int age; /* index among the values, 0 = oldest; the prior's is -1 */
} place;

/* The arrays are parts of one block. */
struct cb_parzen {
  int count;    /* components: n + 1 in ascending order of `at`; or arms */
  double *mass; /* count: weights that sum to 1; of a choice, its chance */
  /* Numbers only. */
  double low, high;
  double log_inside; /* log of what the mixture has in [low, high] */
  double sharpest;   /* the largest rate */
  double *at;        /* count */
  double *rate;      /* count: 1 / deviation */
  double *height;    /* count: mass x rate */
  double *terms;     /* count: what a density is summed from */

  double *block;
  size_t room;
  place *sorted; /* while fitting */
  size_t sorted_room;
};

enum { ARRAYS = 5 };

cocabo_status cb_parzen_new(cb_parzen **out, cocabo_error *err) {
  *out = cb_calloc(1, sizeof **out);
  return *out ? COCABO_OK : cb_no_memory(err);
}

void cb_parzen_free(cb_parzen *p) {
  if (!p)
    return;
  cb_free(p->block);
  cb_free(p->sorted);
  cb_free(p);
}

static cocabo_status size(cb_parzen *p, int count, cocabo_error *err) {
  const size_t n = (size_t)count;
  if (!cb_reserve((void **)&p->sorted, &p->sorted_room, n, sizeof *p->sorted) ||
      !cb_reserve((void **)&p->block, &p->room, ARRAYS * n, sizeof *p->block))
    return cb_no_memory(err);
  p->count = count;
  p->mass = p->block;
  p->at = p->mass + n;
  p->rate = p->at + n;
  p->height = p->rate + n;
  p->terms = p->height + n;
  return COCABO_OK;
}

/* A ramp from 1/n for the oldest value up to 1, which the last 25 have. */
static double weight_of(int age, int n) {
  const int fading = n - REMEMBERED;
  if (age >= fading)
    return 1.0;
  const double first = 1.0 / n;
  return fading > 1 ? first + age * (1.0 - first) / (fading - 1) : first;
}

static void normalise(int count, double *mass) {
  double sum = 0.0;
  for (int i = 0; i < count; i++)
    sum += mass[i];
  for (int i = 0; i < count; i++)
    mass[i] /= sum;
}

static int pick(const cb_parzen *p, cb_rng *rng) {
  double left = cb_rng_uniform(rng);
  int i = 0;
  while (i < p->count - 1 && (left -= p->mass[i]) >= 0.0)
    i++;
  return i;
}

/* ---- numbers --------------------------------------------------------------------- */

/* Of equal ones the older first, and the prior before all. */
static int ascending(const void *a, const void *b) {
  const place *p = a, *q = b;
  return p->at != q->at ? (p->at > q->at) - (p->at < q->at)
                        : (p->age > q->age) - (p->age < q->age);
}

/* Beside a single value the prior says nothing about distances. */
static double deviation_of(const cb_parzen *p, int i) {
  const double range = p->high - p->low, *at = p->at;
  const int last = p->count - 1;
  if (p->sorted[i].age < 0)
    return range;
  if (last == 1)
    return 0.5 * range;
  const double below = i > 0 ? at[i] - at[i - 1] : 0.0;
  const double above = i < last ? at[i + 1] - at[i] : 0.0;
  const double least = range / fmin(NARROWEST, 1.0 + p->count);
  return fmin(fmax(fmax(below, above), least), range);
}

/* Phi(b) - Phi(a), from the tail in which it has digits. */
static double normal_mass(double a, double b) {
  return a > 0.0 ? cb_normal_cdf(-a) - cb_normal_cdf(-b)
                 : cb_normal_cdf(b) - cb_normal_cdf(a);
}

static double mixture_mass(const cb_parzen *p, double from, double to) {
  double sum = 0.0;
  for (int i = 0; i < p->count; i++) {
    const double a = (from - p->at[i]) * p->rate[i], b = (to - p->at[i]) * p->rate[i];
    if (a < FAR && b > -FAR)
      sum += p->mass[i] * normal_mass(a, b);
  }
  return sum;
}

cocabo_status cb_parzen_fit(cb_parzen *p, double low, double high, int n,
                            const double *x, cocabo_error *err) {
  assert(low < high && n >= 0);
  CB_TRY(size(p, n + 1, err));
  p->low = low;
  p->high = high;
  for (int i = 0; i < n; i++)
    p->sorted[i] = (place){.at = x[i], .age = i};
  p->sorted[n] = (place){.at = 0.5 * (low + high), .age = -1};
  qsort(p->sorted, (size_t)p->count, sizeof *p->sorted, ascending);

  for (int i = 0; i < p->count; i++) {
    const int age = p->sorted[i].age;
    p->at[i] = p->sorted[i].at;
    p->mass[i] = age < 0 ? PRIOR_WEIGHT : weight_of(age, n);
  }
  normalise(p->count, p->mass);
  p->sharpest = 0.0;
  for (int i = 0; i < p->count; i++) {
    p->rate[i] = 1.0 / deviation_of(p, i);
    p->height[i] = p->mass[i] * p->rate[i];
    p->sharpest = fmax(p->sharpest, p->rate[i]);
  }
  p->log_inside = cb_log(mixture_mass(p, low, high));
  return COCABO_OK;
}

/* No centre is outside and no deviation above the range, so a third of the draws or
 * more are inside. */
double cb_parzen_draw(const cb_parzen *p, cb_rng *rng) {
  for (;;) {
    const int i = pick(p, rng);
    const double x = p->at[i] + cb_rng_normal(rng) / p->rate[i];
    if (x >= p->low && x < p->high)
      return x;
  }
}

CB_LOOPS void bells_loops(int n, double x, const double *at, const double *rate,
                          double *restrict out) {
  for (int i = 0; i < n; i++) {
    const double z = (x - at[i]) * rate[i];
    out[i] = cb_exp_neg(-0.5 * z * z);
  }
}
CB_DISPATCH_VOID(static, bells,
                 (int n, double x, const double *at, const double *rate,
                  double *restrict out),
                 (n, x, at, rate, out))

/* The prior is so wide that the sum is never near 0. */
double cb_parzen_log_density(cb_parzen *p, double x) {
  bells(p->count, x, p->at, p->rate, p->terms);
  const double sum = cb_linalg_dot(p->count, p->height, p->terms);
  return cb_log(sum) - LOG_SQRT_2PI - p->log_inside;
}

double cb_parzen_log_mass(cb_parzen *p, double from, double to) {
  assert(from < to);
  if ((to - from) * p->sharpest < THIN)
    return cb_parzen_log_density(p, 0.5 * from + 0.5 * to) + cb_log(to - from);
  return cb_log(mixture_mass(p, from, to)) - p->log_inside;
}

/* ---- choices --------------------------------------------------------------------- */

cocabo_status cb_parzen_fit_choice(cb_parzen *p, int32_t arms, int n, const int32_t *h,
                                   cocabo_error *err) {
  assert(arms > 0 && n >= 0);
  CB_TRY(size(p, arms, err));
  for (int k = 0; k < arms; k++)
    p->mass[k] = PRIOR_WEIGHT;
  for (int i = 0; i < n; i++) {
    assert(h[i] >= 0 && h[i] < arms);
    p->mass[h[i]] += weight_of(i, n);
  }
  normalise(arms, p->mass);
  return COCABO_OK;
}

int32_t cb_parzen_draw_choice(const cb_parzen *p, cb_rng *rng) {
  return pick(p, rng);
}

double cb_parzen_log_chance(const cb_parzen *p, int32_t k) {
  assert(k >= 0 && k < p->count);
  return cb_log(p->mass[k]);
}
