/* search.c - the one maximiser of acquisitions: pool, climbs, moves; see search.h. */
#include "search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/block.h"
#include "base/mem.h"
#include "base/minimise.h"
#include "base/status.h"

enum {
  SPARES = 24,           /* of the pool, ranked besides the starts */
  ROUNDS = 20,           /* of climbing and moving, at most */
  MAX_CHANGES = 5,       /* categories changed around the incumbent */
  ALL_COMBINATIONS = 64, /* so many are all tried, rather than one change each */
  MAX_NEIGHBOURS = 2000, /* beyond, a random choice of so many */
  SCREEN_FROM = 100,     /* observations from which on candidates are screened, */
  ROUGHLY_FROM = 300,    /* and climbs start out along bounds */
  POOL_FOCUS = 32,       /* points that bound deviations of the pool, */
  CLIMB_FOCUS = 96,      /* and of a climb, */
  LIMIT_FOCUS = 32,      /* where those of limits are always rough */
  POOL_EXACT = 64,       /* exact deviations of a screened pool, at most, */
  POOL_STEP = 32,        /* so many at a time; */
  MOVE_EXACT = 16,       /* and of screened neighbours */
  MOVE_STEP = 8,
  REDRAWS = 8,     /* of a candidate that breaks a rule; then it is */
  REPAIRED = 32,   /* repaired: one in so many of the pool, in each half of it; */
  FAILURE = 8,     /* a repair that fails counts as so many; or it is */
  BESIDE = 8,      /* a change of one that keeps them, in so many tries */
  FRESH = 3,       /* draws of what a neighbour wakes up, besides the best known */
  MAX_PAIRS = 600, /* neighbours by two steps of a grid */
  RESULTS = 3 * CB_SEARCH_STARTS + SPARES
};

static const double NEAR = 0.1;       /* deviation of a step around the incumbent */
static const double ROUGHLY = 1e-5;   /* relative gain that ends a rough climb */
static const double PROGRESS = 1e-10; /* relative gain that counts as one */

/* Some points with their values. */
typedef struct {
  double *x;     /* d x capacity */
  int32_t *h;    /* c x capacity */
  double *value; /* capacity */
  int count;
} points;

/* A screened candidate: an upper bound on its value. */
typedef struct {
  double bound;
  int index;
} screened;

struct cb_search {
  cb_domain domain;
  cb_minimiser *minimiser;    /* NULL without numeric inputs */
  int capacity;               /* of the pool: max_pool or MAX_NEIGHBOURS, the larger */
  points pool;                /* capacity */
  points result;              /* RESULTS, ranked at the end */
  points exact;               /* CB_BLOCK: candidates whose deviation is wanted */
  double *mu, *sd;            /* capacity */
  double *log_p;              /* capacity: of being feasible, */
  double *p_mu, *p_sd;        /* and room for what it comes from */
  int32_t *which, *to;        /* capacity: neighbours by one category */
  screened *queue;            /* capacity: candidates, the highest bound first */
  int *order;                 /* capacity: a ranking */
  double *lower, *upper;      /* d: the box of this run */
  double *dmu, *dsd;          /* d */
  double *dp, *p_dmu, *p_dsd; /* d: the same of log P */
  double *at_x, *try_x;       /* d: where a climb is, and where it tries to be */
  int32_t *at_h, *try_h;      /* c */
  double *low, *high;      /* d: the box of a climb, where not every number is active */
  double *normal, *pushed; /* d: of domain.push */
  int n_swaps;             /* neighbours by one category */
  int n_combinations;      /* of categories, 0 if more than ALL_COMBINATIONS */

  bool roughly; /* climb along the bound of the deviation */

  cb_gp *gp; /* of the current run */
  const cb_acquire *acquire;
  const cb_search_plan *plan;
};

/* ---- ranking ----------------------------------------------------------------------
 */

static bool better(double a, double b) {
  return a > b || (isnan(b) && !isnan(a));
}

int cb_rank_best(int n, const double *value, int keep, int *order) {
  int ranked = 0;
  for (int i = 0; i < n; i++) {
    if (ranked == keep && !better(value[i], value[order[ranked - 1]]))
      continue;
    int place = ranked < keep ? ranked++ : ranked - 1;
    for (; place > 0 && better(value[i], value[order[place - 1]]); place--)
      order[place] = order[place - 1];
    order[place] = i;
  }
  return ranked;
}

/* ---- workspace ------------------------------------------------------------------- */

/* The next `bytes` of the block at `base`, or NULL if that is NULL. */
static void *take(char *base, size_t *used, size_t bytes) {
  void *at = base ? base + *used : NULL;
  *used += bytes;
  return at;
}

/* All arrays out of one block; returns its size. With a base of NULL it only counts. */
static size_t carve(cb_search *s, char *base) {
  const size_t d = (size_t)s->domain.d * sizeof(double),
               c = (size_t)s->domain.c * sizeof(int32_t), m = (size_t)s->capacity;
  size_t used = 0;
  s->queue = take(base, &used, m * sizeof *s->queue);
  s->pool.x = take(base, &used, m * d);
  s->pool.value = take(base, &used, m * sizeof(double));
  s->mu = take(base, &used, m * sizeof(double));
  s->sd = take(base, &used, m * sizeof(double));
  s->log_p = take(base, &used, m * sizeof(double));
  s->p_mu = take(base, &used, m * sizeof(double));
  s->p_sd = take(base, &used, m * sizeof(double));
  s->result.x = take(base, &used, RESULTS * d);
  s->result.value = take(base, &used, RESULTS * sizeof(double));
  s->exact.x = take(base, &used, CB_BLOCK * d);
  s->exact.value = take(base, &used, CB_BLOCK * sizeof(double));
  s->lower = take(base, &used, d);
  s->upper = take(base, &used, d);
  s->dmu = take(base, &used, d);
  s->dsd = take(base, &used, d);
  s->dp = take(base, &used, d);
  s->p_dmu = take(base, &used, d);
  s->p_dsd = take(base, &used, d);
  s->at_x = take(base, &used, d);
  s->try_x = take(base, &used, d);
  s->low = take(base, &used, d);
  s->high = take(base, &used, d);
  s->normal = take(base, &used, d);
  s->pushed = take(base, &used, d);
  s->pool.h = take(base, &used, m * c);
  s->result.h = take(base, &used, RESULTS * c);
  s->exact.h = take(base, &used, CB_BLOCK * c);
  s->which = take(base, &used, m * sizeof(int32_t));
  s->to = take(base, &used, m * sizeof(int32_t));
  s->order = take(base, &used, m * sizeof(int));
  s->at_h = take(base, &used, c);
  s->try_h = take(base, &used, c);
  return used;
}

static void count_neighbours(cb_search *s) {
  s->n_combinations = 1;
  for (int j = 0; j < s->domain.c; j++) {
    s->n_swaps += s->domain.arms[j] - 1;
    if (s->n_combinations > 0)
      s->n_combinations *= s->domain.arms[j];
    if (s->n_combinations > ALL_COMBINATIONS)
      s->n_combinations = 0;
  }
}

cocabo_status cb_search_new(cb_search **out, const cb_domain *domain, int max_pool,
                            cocabo_error *err) {
  *out = NULL;
  cb_search shape = {.domain = *domain,
                     .capacity = max_pool > MAX_NEIGHBOURS ? max_pool : MAX_NEIGHBOURS};
  cb_search *s = cb_calloc(1, sizeof *s + carve(&shape, NULL));
  if (!s)
    return cb_no_memory(err);
  s->domain = *domain;
  s->capacity = shape.capacity;
  carve(s, (char *)(s + 1));
  count_neighbours(s);
  if (domain->d > 0) {
    const cocabo_status status = cb_minimiser_new(&s->minimiser, domain->d, err);
    if (status != COCABO_OK) {
      cb_free(s);
      return status;
    }
  }
  *out = s;
  return COCABO_OK;
}

void cb_search_free(cb_search *search) {
  if (!search)
    return;
  cb_minimiser_free(search->minimiser);
  cb_free(search);
}

static double *x_of(const cb_search *s, const points *p, int i) {
  return p->x + cb_at(0, i, s->domain.d);
}

static int32_t *h_of(const cb_search *s, const points *p, int i) {
  return p->h + cb_at(0, i, s->domain.c);
}

static void copy_x(const cb_search *s, double *to, const double *from) {
  if (s->domain.d > 0)
    memcpy(to, from, (size_t)s->domain.d * sizeof *to);
}

static void copy_h(const cb_search *s, int32_t *to, const int32_t *from) {
  if (s->domain.c > 0)
    memcpy(to, from, (size_t)s->domain.c * sizeof *to);
}

/* ---- scoring --------------------------------------------------------------------- */

/* With log P of the same points, unless all are feasible (NULL). */
static void values_of(const cb_search *s, int m, const double *mu, const double *sd,
                      const double *log_p, double *value) {
  for (int i = 0; i < m; i++)
    value[i] = cb_acquire_value(s->acquire, mu[i], sd[i], NULL, NULL);
  for (int i = 0; log_p && i < m; i++)
    value[i] = cb_acquire_feasible(s->acquire, value[i], log_p[i], NULL, NULL);
}

/* Categories that are given, or none, are bound once for the whole run; but given ones
 * may be inactive at some points. */
static bool is_bound(const cb_search *s) {
  return (s->plan->fixed_h && !s->domain.settle) || s->domain.c == 0;
}

/* log P of points with their own categories into out, or an upper bound on it; NULL
 * where every point is feasible. */
static const double *score_limits(cb_search *s, int m, const double *x,
                                  const int32_t *h, bool above, double *out) {
  const cb_places at = {.d = s->domain.d,
                        .c = s->domain.c,
                        .m = m,
                        .x = x,
                        .h = is_bound(s) ? s->plan->h : h,
                        .bound = is_bound(s)};
  if (!s->acquire->feasible)
    return NULL;
  cb_feasible_score(s->acquire->feasible, &at, above, s->p_mu, s->p_sd, out);
  return out;
}

static double score_one(cb_search *s, const double *x, const int32_t *h) {
  double mu, sd, log_p, value;
  cb_gp_predict(s->gp, 1, x, is_bound(s) ? NULL : h, &mu, &sd);
  values_of(s, 1, &mu, &sd, score_limits(s, 1, x, h, false, &log_p), &value);
  return value;
}

static bool screens(const cb_search *s) {
  return cb_gp_count(s->gp) >= SCREEN_FROM;
}

/* A total order, so that every sort gives the same. NaN comes last. */
static int by_bound(const void *a, const void *b) {
  const screened *u = a, *v = b;
  if (better(u->bound, v->bound) || better(v->bound, u->bound))
    return better(u->bound, v->bound) ? -1 : 1;
  return (u->index > v->index) - (u->index < v->index);
}

/* The exact values of `count` candidates of the queue. */
static void score_exactly(cb_search *s, const screened *queue, int count) {
  double mu[CB_BLOCK], sd[CB_BLOCK], log_p[CB_BLOCK];
  for (int i = 0; i < count; i++) {
    copy_x(s, x_of(s, &s->exact, i), x_of(s, &s->pool, queue[i].index));
    copy_h(s, h_of(s, &s->exact, i), h_of(s, &s->pool, queue[i].index));
  }
  cb_gp_predict(s->gp, count, s->exact.x, is_bound(s) ? NULL : s->exact.h, mu, sd);
  values_of(s, count, mu, sd,
            score_limits(s, count, s->exact.x, s->exact.h, false, log_p),
            s->exact.value);
  for (int i = 0; i < count; i++)
    s->pool.value[queue[i].index] = s->exact.value[i];
}

/* mu and sd hold the means of the pool and bounds on its deviations, log_p (or NULL)
 * bounds on its feasibility. Values become
 * exact from the highest bound downwards, `step` at a time, until the best `keep` are
 * certain or `most` are exact; the others become -inf. */
static void settle(cb_search *s, const double *log_p, int keep, int step, int most) {
  points *p = &s->pool;
  int best[CB_SEARCH_STARTS];
  values_of(s, p->count, s->mu, s->sd, log_p, p->value);
  for (int i = 0; i < p->count; i++) {
    s->queue[i] = (screened){p->value[i], i};
    p->value[i] = -INFINITY;
  }
  qsort(s->queue, (size_t)p->count, sizeof *s->queue, by_bound);
  for (int done = 0; done < p->count && done < most; done += step) {
    const int left = p->count - done, count = left < step ? left : step;
    score_exactly(s, s->queue + done, count);
    if (count < left && cb_rank_best(p->count, p->value, keep, best) == keep &&
        !better(s->queue[done + count].bound, p->value[best[keep - 1]]))
      return;
  }
}

/* Values of the pool; only the best `keep` are promised. */
static void score_pool(cb_search *s, int keep, int step, int most) {
  points *p = &s->pool;
  const int32_t *h = is_bound(s) ? NULL : p->h;
  if (screens(s)) {
    cb_gp_screen(s->gp, p->count, p->x, h, s->mu, s->sd);
    settle(s, score_limits(s, p->count, p->x, p->h, true, s->log_p), keep, step, most);
  } else {
    cb_gp_predict(s->gp, p->count, p->x, h, s->mu, s->sd);
    values_of(s, p->count, s->mu, s->sd,
              score_limits(s, p->count, p->x, p->h, false, s->log_p), p->value);
  }
}

/* ---- the pool -------------------------------------------------------------------- */

static void snap(const cb_search *s, double *x) {
  const cb_domain *domain = &s->domain;
  for (int j = 0; j < domain->d && domain->any_grid; j++)
    if (domain->levels[j] > 0)
      x[j] = domain->level(domain->space, j, x[j], 0);
}

/* Where the box is the cube, a grid's interval is widened by half a cell at each end,
 * so that its outer levels get their share. */
static double uniform_x(const cb_search *s, int j, cb_rng *rng) {
  const double u = cb_rng_uniform(rng);
  const int64_t levels = s->plan->lower ? 0 : s->domain.levels[j];
  const double half = levels > 1 ? 0.5 / (double)(levels - 1) : 0.0;
  return s->lower[j] + (s->upper[j] - s->lower[j]) * ((1.0 + 2.0 * half) * u - half);
}

static int32_t uniform_arm(const cb_domain *domain, int j, cb_rng *rng) {
  return (int32_t)cb_rng_below(rng, (uint32_t)domain->arms[j]);
}

static int numbers_of(const cb_search *s) {
  return s->domain.d - s->domain.presences;
}

static void draw_anywhere(const cb_search *s, cb_rng *rng, double *x, int32_t *h) {
  for (int j = 0; j < numbers_of(s); j++)
    x[j] = uniform_x(s, j, rng);
  for (int j = numbers_of(s); j < s->domain.d; j++)
    x[j] = 1.0;
  if (s->plan->fixed_h)
    copy_h(s, h, s->plan->h);
  for (int j = 0; j < s->domain.c && !s->plan->fixed_h; j++)
    h[j] = uniform_arm(&s->domain, j, rng);
}

/* Around the incumbent: each number is moved a little or drawn anew, half and half, and
 * up to five categories are drawn anew. */
static void draw_nearby(const cb_search *s, cb_rng *rng, double *x, int32_t *h) {
  const cb_search_plan *plan = s->plan;
  const int c = plan->fixed_h ? 0 : s->domain.c;
  copy_h(s, h, plan->h);
  for (int j = numbers_of(s); j < s->domain.d; j++)
    x[j] = plan->x[j];
  for (int j = 0; j < numbers_of(s); j++) {
    const bool moved = cb_rng_below(rng, 2) != 0;
    const double near = moved ? plan->x[j] + NEAR * cb_rng_normal(rng) : 0.0;
    x[j] = moved ? fmin(fmax(near, s->lower[j]), s->upper[j]) : uniform_x(s, j, rng);
  }
  if (c == 0)
    return;
  const uint32_t most = c < MAX_CHANGES ? (uint32_t)c : MAX_CHANGES;
  for (uint32_t changes = cb_rng_below(rng, most + 1); changes > 0; changes--) {
    const int j = (int)cb_rng_below(rng, (uint32_t)c);
    h[j] = uniform_arm(&s->domain, j, rng);
  }
}

/* One number moved a little or drawn anew, or one category drawn anew. */
static void draw_beside(const cb_search *s, const double *from_x, const int32_t *from_h,
                        cb_rng *rng, double *x, int32_t *h) {
  const int d = numbers_of(s), c = s->plan->fixed_h ? 0 : s->domain.c;
  copy_x(s, x, from_x);
  copy_h(s, h, from_h);
  if (d + c == 0)
    return;
  const int j = (int)cb_rng_below(rng, (uint32_t)(d + c));
  if (j >= d)
    h[j - d] = uniform_arm(&s->domain, j - d, rng);
  else if (cb_rng_below(rng, 2) != 0)
    x[j] = fmin(fmax(x[j] + NEAR * cb_rng_normal(rng), s->lower[j]), s->upper[j]);
  else
    x[j] = uniform_x(s, j, rng);
}

/* Given categories stay what they are, or become inactive. */
static bool keeps_given(const cb_search *s, const int32_t *h) {
  for (int j = 0; j < s->domain.c && s->plan->fixed_h; j++)
    if (h[j] != s->plan->h[j] && h[j] != s->domain.arms[j] &&
        s->plan->h[j] != s->domain.arms[j])
      return false;
  return true;
}

/* A candidate that the rules allow, if there is one to be found. */
static bool draw_allowed(cb_search *s, bool nearby, int *repairs, cb_rng *rng,
                         double *x, int32_t *h) {
  const cb_domain *domain = &s->domain;
  for (int k = 0; k < REDRAWS; k++) {
    (nearby ? draw_nearby : draw_anywhere)(s, rng, x, h);
    if (domain->settle(domain->space, rng, x, h))
      return true;
  }
  if ((*repairs)-- > 0) {
    if (domain->repair(domain->space, rng, x, h) && keeps_given(s, h))
      return true;
    *repairs -= FAILURE - 1;
  }
  for (int k = 0; k < BESIDE && s->pool.count > 0; k++) {
    const int from = (int)cb_rng_below(rng, (uint32_t)s->pool.count);
    draw_beside(s, nearby ? s->plan->x : x_of(s, &s->pool, from),
                nearby ? s->plan->h : h_of(s, &s->pool, from), rng, x, h);
    if (domain->settle(domain->space, rng, x, h))
      return true;
  }
  return false;
}

/* The pool of a space with conditions or rules. */
static void fill_settled(cb_search *s, bool incumbent, cb_rng *rng) {
  const int count = s->pool.count;
  int repairs[2] = {1 + count / REPAIRED, 1 + count / REPAIRED};
  s->pool.count = 0;
  for (int i = 0; i < count; i++) {
    const bool nearby = incumbent && i >= count / 2;
    s->pool.count +=
        draw_allowed(s, nearby, &repairs[nearby], rng, x_of(s, &s->pool, s->pool.count),
                     h_of(s, &s->pool, s->pool.count));
  }
}

/* There is an incumbent if its numbers are known or, without numbers, its categories.
 */
static void fill_pool(cb_search *s, cb_rng *rng) {
  const cb_search_plan *plan = s->plan;
  const bool incumbent = s->domain.d > 0 ? plan->x != NULL : plan->h && !plan->fixed_h;
  const int count = plan->pool < s->capacity ? plan->pool : s->capacity;
  s->pool.count = count;
  if (s->domain.settle) {
    fill_settled(s, incumbent, rng);
    return;
  }
  for (int i = 0; i < count; i++) {
    double *xi = x_of(s, &s->pool, i);
    int32_t *hi = h_of(s, &s->pool, i);
    if (incumbent && i >= count / 2)
      draw_nearby(s, rng, xi, hi);
    else
      draw_anywhere(s, rng, xi, hi);
    snap(s, xi);
  }
}

/* ---- climbing and moving --------------------------------------------------------- */

/* The value with feasibility; the gradient, of the negative value, follows. */
static double limited(cb_search *s, const double *x, double value, double *gradient) {
  double by_value, by_log_p;
  const double log_p = cb_feasible_gradient(s->acquire->feasible, s->domain.d, x,
                                            s->at_h, true, s->p_dmu, s->p_dsd, s->dp);
  value = cb_acquire_feasible(s->acquire, value, log_p, &by_value, &by_log_p);
  for (int j = 0; j < s->domain.d; j++)
    gradient[j] = by_value * gradient[j] - by_log_p * s->dp[j];
  return value;
}

static double negative(void *context, const double *x, double *gradient) {
  cb_search *s = context;
  double mu, sd, by_mu, by_sd;
  (s->roughly ? cb_gp_screen_gradient : cb_gp_predict_gradient)(s->gp, x, &mu, &sd,
                                                                s->dmu, s->dsd);
  const double value = cb_acquire_value(s->acquire, mu, sd, &by_mu, &by_sd);
  for (int j = 0; j < s->domain.d; j++)
    gradient[j] = -(by_mu * s->dmu[j] + by_sd * s->dsd[j]);
  return s->acquire->feasible ? -limited(s, x, value, gradient) : -value;
}

static bool gains(double value, double over) {
  return value > over + PROGRESS * (1.0 + fabs(over));
}

/* The same among what is active, where the rules are kept by pushing x back to where
 * they allow it: so a climb slides along their boundary, by the part of the gradient
 * that does. Where that fails the line search shortens its step. */
static double negative_pushed(void *context, const double *x, double *gradient) {
  cb_search *s = context;
  const cb_domain *domain = &s->domain;
  copy_x(s, s->pushed, x);
  if (domain->push &&
      !domain->push(domain->space, s->low, s->high, s->pushed, s->at_h, s->normal))
    return INFINITY;
  const double value = negative(s, s->pushed, gradient);
  double outwards = 0.0;
  for (int j = 0; j < domain->d; j++)
    outwards += gradient[j] * s->normal[j];
  for (int j = 0; j < domain->d; j++)
    gradient[j] = s->low[j] < s->high[j] ? gradient[j] - outwards * s->normal[j] : 0.0;
  return value;
}

/* Is row j of at_x a number that is active, so that it may move? */
static bool may_climb(const cb_search *s, int j) {
  const int presence = s->domain.presence_of[j];
  return j < numbers_of(s) && (presence < 0 || s->at_x[numbers_of(s) + presence] > 0.5);
}

/* try_x from at_x; returns its value, -inf if it is no point. */
static double climb_settled(cb_search *s, const cb_minimise_limits *limits) {
  const cb_domain *domain = &s->domain;
  for (int j = 0; j < domain->d; j++) {
    const bool may = may_climb(s, j);
    s->low[j] = may ? fmin(s->lower[j], s->at_x[j]) : s->at_x[j];
    s->high[j] = may ? fmax(s->upper[j], s->at_x[j]) : s->at_x[j];
    s->normal[j] = 0.0;
  }
  cb_minimise(s->minimiser, s->try_x, s->low, s->high, negative_pushed, s, limits);
  copy_h(s, s->try_h, s->at_h);
  const bool allowed = (!domain->push || domain->push(domain->space, s->low, s->high,
                                                      s->try_x, s->at_h, s->normal)) &&
                       domain->settle(domain->space, NULL, s->try_x, s->try_h);
  return allowed ? score_one(s, s->try_x, s->try_h) : -INFINITY;
}

/* Over x along at_h; *value rises if it helped. With many observations a rough climb
 * follows the bound that the points around it give, rather than the deviation. */
static bool climb(cb_search *s, double *value, bool roughly) {
  const cb_minimise_limits limits = {.max_evaluations = s->plan->evaluations,
                                     .f_tolerance = roughly ? ROUGHLY : 1e-9,
                                     .grad_tolerance = 1e-6};
  if (s->domain.d == 0)
    return false;
  s->roughly = roughly && cb_gp_count(s->gp) >= ROUGHLY_FROM;
  if (s->roughly)
    cb_gp_focus(s->gp, s->at_x, s->at_h, CLIMB_FOCUS);
  if (s->roughly || !is_bound(s))
    cb_gp_bind(s->gp, s->at_h);
  if (s->acquire->feasible) {
    cb_feasible_focus(s->acquire->feasible, s->at_x, s->at_h, LIMIT_FOCUS);
    cb_feasible_bind(s->acquire->feasible, s->at_h);
  }
  copy_x(s, s->try_x, s->at_x);
  double reached;
  if (s->domain.settle) {
    reached = climb_settled(s, &limits);
  } else {
    reached =
        -cb_minimise(s->minimiser, s->try_x, s->lower, s->upper, negative, s, &limits);
    if (s->domain.any_grid)
      snap(s, s->try_x);
    if (s->domain.any_grid || s->roughly || s->acquire->feasible)
      reached = score_one(s, s->try_x, s->at_h);
  }
  if (!gains(reached, *value))
    return false;
  copy_x(s, s->at_x, s->try_x);
  *value = reached;
  return true;
}

static void add_neighbour(cb_search *s) {
  copy_x(s, x_of(s, &s->pool, s->pool.count), s->at_x);
  copy_h(s, h_of(s, &s->pool, s->pool.count), s->at_h);
  s->pool.count++;
}

/* Every combination of categories but the one we are at. */
static void list_combinations(cb_search *s) {
  copy_h(s, s->try_h, s->at_h);
  for (int i = 1; i < s->n_combinations; i++) {
    add_neighbour(s);
    int32_t *h = h_of(s, &s->pool, s->pool.count - 1);
    for (int j = 0; j < s->domain.c; j++) { /* count up, as an odometer does */
      s->try_h[j] = (s->try_h[j] + 1) % s->domain.arms[j];
      if (s->try_h[j] != s->at_h[j])
        break;
    }
    copy_h(s, h, s->try_h);
  }
}

/* One level up or down for every number on a grid. */
static void list_steps(cb_search *s) {
  const cb_domain *domain = &s->domain;
  for (int j = 0; j < domain->d && domain->any_grid; j++)
    for (int by = -1; by <= 1 && domain->levels[j] > 0; by += 2) {
      const double moved = domain->level(domain->space, j, s->at_x[j], by);
      if (!(moved >= s->lower[j] && moved <= s->upper[j]))
        continue;
      add_neighbour(s);
      x_of(s, &s->pool, s->pool.count - 1)[j] = moved;
    }
}

/* One category changed; a random choice of the changes if there are too many. */
static int list_swaps(cb_search *s, int room, cb_rng *rng) {
  int listed = 0, left = s->n_swaps;
  for (int j = 0; j < s->domain.c; j++)
    for (int32_t k = 0; k < s->domain.arms[j]; k++) {
      if (k == s->at_h[j])
        continue;
      if (left <= room - listed ||
          (int)cb_rng_below(rng, (uint32_t)left) < room - listed) {
        s->which[listed] = j;
        s->to[listed++] = k;
      }
      left--;
    }
  return listed;
}

static void add_result(cb_search *s, const double *x, const int32_t *h, double value) {
  const int i = s->result.count++;
  copy_x(s, x_of(s, &s->result, i), x);
  copy_h(s, h_of(s, &s->result, i), h);
  s->result.value[i] = value;
}

/* Swap i of those listed, as a point of the pool. */
static void add_swap(cb_search *s, int i) {
  add_neighbour(s);
  h_of(s, &s->pool, s->pool.count - 1)[s->which[i]] = s->to[i];
}

/* log P, or a bound on it, of the neighbours in the pool: those before `plain`, and the
 * swaps after them. NULL where every point is feasible. */
static const double *limit_neighbours(cb_search *s, int plain, bool above) {
  const cb_places swaps = {.d = s->domain.d,
                           .c = s->domain.c,
                           .m = s->pool.count - plain,
                           .x = s->at_x,
                           .h = s->at_h,
                           .swaps = true,
                           .which = s->which,
                           .to = s->to};
  if (!score_limits(s, plain, s->pool.x, s->pool.h, above, s->log_p))
    return NULL;
  cb_feasible_score(s->acquire->feasible, &swaps, above, s->p_mu, s->p_sd,
                    s->log_p + plain);
  return s->log_p;
}

/* ---- moving where there are conditions or rules ---------------------------------- */

static bool is_active_category(const cb_search *s, int j) {
  return s->at_h[j] < s->domain.arms[j];
}

/* try_x, try_h become at_x, at_h and, for what is inactive there, what the incumbent
 * says of it. */
static void complete(cb_search *s) {
  const cb_search_plan *plan = s->plan;
  copy_x(s, s->try_x, s->at_x);
  copy_h(s, s->try_h, s->at_h);
  for (int j = 0; j < s->domain.d && plan->x; j++)
    if (j < numbers_of(s) ? !may_climb(s, j) : s->at_x[j] < 0.5)
      s->try_x[j] = plan->x[j];
  for (int j = 0; j < s->domain.c && plan->h; j++)
    if (!is_active_category(s, j))
      s->try_h[j] = plan->h[j];
}

/* So that what is inactive at at_x, at_h is drawn when it wakes up. */
static void forget(const cb_search *s, double *x, int32_t *h) {
  for (int j = numbers_of(s); j < s->domain.d; j++)
    x[j] = s->at_x[j];
  for (int j = 0; j < s->domain.c; j++)
    if (!is_active_category(s, j))
      h[j] = s->domain.arms[j];
}

/* Is the same active at (x, h) as at at_x, at_h? */
static bool same_active(const cb_search *s, const double *x, const int32_t *h) {
  for (int j = numbers_of(s); j < s->domain.d; j++)
    if ((x[j] > 0.5) != (s->at_x[j] > 0.5))
      return false;
  for (int j = 0; j < s->domain.c; j++)
    if ((h[j] < s->domain.arms[j]) != is_active_category(s, j))
      return false;
  return true;
}

static bool is_at(const cb_search *s, const double *x, const int32_t *h) {
  for (int j = 0; j < s->domain.d; j++)
    if (x[j] != s->at_x[j])
      return false;
  for (int j = 0; j < s->domain.c; j++)
    if (h[j] != s->at_h[j])
      return false;
  return true;
}

/* try_x, try_h as a neighbour, if the rules allow it; where it wakes something up also
 * with other values of that. */
static void offer(cb_search *s, cb_rng *rng) {
  const cb_domain *domain = &s->domain;
  for (int k = 0; k <= FRESH && s->pool.count < MAX_NEIGHBOURS; k++) {
    double *x = x_of(s, &s->pool, s->pool.count);
    int32_t *h = h_of(s, &s->pool, s->pool.count);
    copy_x(s, x, s->try_x);
    copy_h(s, h, s->try_h);
    if (k > 0)
      forget(s, x, h);
    const bool allowed = domain->settle(domain->space, rng, x, h);
    const bool same = same_active(s, x, h);
    if (allowed && !is_at(s, x, h))
      s->pool.count++;
    if (same)
      return;
  }
}

static double stepped(const cb_search *s, int j, int by) {
  const cb_domain *domain = &s->domain;
  const double to = domain->levels[j] > 0 && may_climb(s, j)
                        ? domain->level(domain->space, j, s->at_x[j], by)
                        : NAN;
  return to >= s->lower[j] && to <= s->upper[j] ? to : NAN;
}

/* One level up or down for every number on a grid; where there are rules also one up
 * and another down, along a sum that they bound. */
static void offer_steps(cb_search *s, cb_rng *rng) {
  const int d = s->domain.any_grid ? numbers_of(s) : 0;
  int pairs = 0;
  for (int j = 0; j < d; j++)
    for (int by = -1; by <= 1; by += 2) {
      const double to = stepped(s, j, by);
      if (isnan(to))
        continue;
      complete(s);
      s->try_x[j] = to;
      offer(s, rng);
      for (int k = 0; k < d && by > 0 && s->domain.push && pairs < MAX_PAIRS; k++) {
        const double other = k == j ? NAN : stepped(s, k, -by);
        if (isnan(other))
          continue;
        complete(s);
        s->try_x[j] = to;
        s->try_x[k] = other;
        offer(s, rng);
        pairs++;
      }
    }
}

/* Every combination of categories. */
static void offer_combinations(cb_search *s, cb_rng *rng) {
  for (int i = 0; i < s->n_combinations; i++) {
    complete(s);
    for (int j = 0, rest = i; j < s->domain.c; j++) {
      s->try_h[j] = rest % s->domain.arms[j];
      rest /= s->domain.arms[j];
    }
    offer(s, rng);
  }
}

/* One active category changed; a random choice of the changes if there are too many. */
static void offer_swaps(cb_search *s, cb_rng *rng) {
  const int room = (MAX_NEIGHBOURS - s->pool.count) / 2;
  int left = 0, listed = 0;
  for (int j = 0; j < s->domain.c; j++)
    left += is_active_category(s, j) ? s->domain.arms[j] - 1 : 0;
  for (int j = 0; j < s->domain.c; j++)
    for (int32_t k = 0; k < s->domain.arms[j] && is_active_category(s, j); k++) {
      if (k == s->at_h[j])
        continue;
      if (left <= room - listed ||
          (int)cb_rng_below(rng, (uint32_t)left) < room - listed) {
        complete(s);
        s->try_h[j] = k;
        offer(s, rng);
        listed++;
      }
      left--;
    }
}

static void score_settled_neighbours(cb_search *s, cb_rng *rng) {
  s->pool.count = 0;
  offer_steps(s, rng);
  if (!s->plan->fixed_h && s->n_combinations > 0)
    offer_combinations(s, rng);
  else if (!s->plan->fixed_h)
    offer_swaps(s, rng);
  score_pool(s, 1, MOVE_STEP, MOVE_EXACT);
}

/* All neighbours of at_x, at_h into the pool, with the value of the best of them. */
static void score_neighbours(cb_search *s, cb_rng *rng) {
  points *p = &s->pool;
  if (s->domain.settle) {
    score_settled_neighbours(s, rng);
    return;
  }
  p->count = 0;
  list_steps(s);
  if (is_bound(s)) {
    score_pool(s, 1, MOVE_STEP, MOVE_EXACT);
    return;
  }
  if (s->n_combinations > 0)
    list_combinations(s);
  const int plain = p->count;
  const int swaps =
      s->n_combinations > 0 ? 0 : list_swaps(s, MAX_NEIGHBOURS - plain, rng);
  for (int i = 0; i < swaps; i++)
    add_swap(s, i);
  if (screens(s)) {
    cb_gp_screen(s->gp, plain, p->x, p->h, s->mu, s->sd);
    cb_gp_screen_swaps(s->gp, s->at_x, s->at_h, swaps, s->which, s->to, s->mu + plain,
                       s->sd + plain);
    settle(s, limit_neighbours(s, plain, true), 1, MOVE_STEP, MOVE_EXACT);
  } else {
    cb_gp_predict(s->gp, plain, p->x, p->h, s->mu, s->sd);
    cb_gp_predict_swaps(s->gp, s->at_x, s->at_h, swaps, s->which, s->to, s->mu + plain,
                        s->sd + plain);
    values_of(s, p->count, s->mu, s->sd, limit_neighbours(s, plain, false), p->value);
  }
}

/* To the best neighbour, if it is better. try_x, try_h and *next are the best neighbour
 * in any case (and -inf if there is none). */
static bool move(cb_search *s, double *value, double *next, cb_rng *rng) {
  int best = 0;
  *next = -INFINITY;
  score_neighbours(s, rng);
  if (cb_rank_best(s->pool.count, s->pool.value, 1, &best) == 0)
    return false;
  *next = s->pool.value[best];
  copy_x(s, s->try_x, x_of(s, &s->pool, best));
  copy_h(s, s->try_h, h_of(s, &s->pool, best));
  if (!gains(*next, *value))
    return false;
  copy_x(s, s->at_x, s->try_x);
  copy_h(s, s->at_h, s->try_h);
  *value = *next;
  return true;
}

/* From at_x, at_h. The point reached and its best neighbour are results. */
static void ascend(cb_search *s, double value, cb_rng *rng) {
  double next = -INFINITY;
  bool moved = true;
  for (int round = 0; round < ROUNDS && moved; round++) {
    climb(s, &value, true);
    moved = move(s, &value, &next, rng);
  }
  if (!moved && next > -INFINITY)
    add_result(s, s->try_x, s->try_h, next);
  add_result(s, s->at_x, s->at_h, value);
}

/* The best result is climbed from once more, to the end. */
static void polish(cb_search *s) {
  int best;
  if (cb_rank_best(s->result.count, s->result.value, 1, &best) == 0)
    return;
  copy_x(s, s->at_x, x_of(s, &s->result, best));
  copy_h(s, s->at_h, h_of(s, &s->result, best));
  if (climb(s, &s->result.value[best], false))
    copy_x(s, x_of(s, &s->result, best), s->at_x);
}

static void set_box(cb_search *s, const cb_search_plan *plan) {
  for (int j = 0; j < s->domain.d; j++) {
    s->lower[j] = plan->lower ? plan->lower[j] : -1.0;
    s->upper[j] = plan->upper ? plan->upper[j] : 1.0;
  }
}

/* Around the incumbent or, since that may say something of what is inactive there, the
 * point that it is. */
static void focus(cb_search *s) {
  const cb_search_plan *plan = s->plan;
  if (!s->domain.settle || !plan->x || (s->domain.c > 0 && !plan->h)) {
    cb_gp_focus(s->gp, plan->x, plan->h, POOL_FOCUS);
    return;
  }
  copy_x(s, s->at_x, plan->x);
  copy_h(s, s->at_h, plan->h);
  s->domain.settle(s->domain.space, NULL, s->at_x, s->at_h);
  cb_gp_focus(s->gp, s->at_x, s->at_h, POOL_FOCUS);
}

/* Results start with the best of the pool: the starts, and spares. */
int cb_search_run(cb_search *s, cb_gp *gp, const cb_acquire *acquire,
                  const cb_search_plan *plan, cb_rng *rng) {
  const int starts = plan->starts < CB_SEARCH_STARTS ? plan->starts : CB_SEARCH_STARTS;
  s->gp = gp;
  s->acquire = acquire;
  s->plan = plan;
  s->result.count = 0;
  set_box(s, plan);
  if (screens(s))
    focus(s);
  if (is_bound(s))
    cb_gp_bind(gp, plan->h);
  if (acquire->feasible) {
    cb_feasible_focus(acquire->feasible, plan->x, plan->h, POOL_FOCUS);
    if (is_bound(s))
      cb_feasible_bind(acquire->feasible, plan->h);
  }
  fill_pool(s, rng);
  score_pool(s, starts > 0 ? starts : 1, POOL_STEP,
             acquire->feasible ? POOL_STEP : POOL_EXACT); /* each needs all models */
  const int ranked =
      cb_rank_best(s->pool.count, s->pool.value, CB_SEARCH_STARTS + SPARES, s->order);
  for (int i = 0; i < ranked; i++) {
    const int k = s->order[i];
    if (s->pool.value[k] > -INFINITY || i == 0)
      add_result(s, x_of(s, &s->pool, k), h_of(s, &s->pool, k), s->pool.value[k]);
  }
  const int known = s->result.count;
  for (int i = 0; i < known && i < starts; i++) {
    copy_x(s, s->at_x, x_of(s, &s->result, i));
    copy_h(s, s->at_h, h_of(s, &s->result, i));
    ascend(s, s->result.value[i], rng);
  }
  if (starts > 0)
    polish(s);
  return cb_rank_best(s->result.count, s->result.value, RESULTS, s->order);
}

void cb_search_ranked(const cb_search *s, int place, const double **x,
                      const int32_t **h) {
  *x = x_of(s, &s->result, s->order[place]);
  *h = h_of(s, &s->result, s->order[place]);
}
