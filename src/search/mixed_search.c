#include "search/mixed_search.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/minimise.h"
#include "base/status.h"
#include "search/search.h"

enum {
  POOL = 1000,
  MAX_STARTS = 8,
  SPARES = 24, /* of the pool, ranked besides the starts */
  ROUNDS = 20, /* of climbing and moving, at most */
  CLIMB_EVALUATIONS = 15,
  MAX_CHANGES = 5,       /* categories changed around the incumbent */
  ALL_COMBINATIONS = 64, /* so many are all tried, rather than one change each */
  MAX_NEIGHBOURS = 2000, /* beyond, a random choice of so many */
  RESULTS = 3 * MAX_STARTS + SPARES
};

static const double NEAR = 0.1;       /* deviation of a step around the incumbent */
static const double PROGRESS = 1e-10; /* relative gain that counts as one */

/* Some points with their values. */
typedef struct {
  double *x;     /* d x capacity */
  int32_t *h;    /* c x capacity */
  double *value; /* capacity */
  int count;
} points;

struct cb_mixed_search {
  cb_domain domain;
  cb_minimiser *minimiser; /* NULL without numeric inputs */
  points pool;             /* POOL or MAX_NEIGHBOURS, whichever is more */
  points result;           /* RESULTS, ranked at the end */
  double *mu, *sd;         /* as many as the pool holds */
  int32_t *which, *to;     /* likewise: neighbours by one category */
  int *order;              /* RESULTS or more: a ranking */
  double *lower, *upper;   /* d: the box of this run */
  double *dmu, *dsd;       /* d */
  double *at_x, *try_x;    /* d: where a climb is, and where it tries to be */
  int32_t *at_h, *try_h;   /* c */
  int n_swaps;             /* neighbours by one category */
  int n_combinations;      /* of categories, 0 if more than ALL_COMBINATIONS */

  cb_gp *gp; /* of the current run */
  const cb_acquire *acquire;
};

enum { CAPACITY = MAX_NEIGHBOURS > POOL ? MAX_NEIGHBOURS : POOL };

/* ---- workspace ------------------------------------------------------------------- */

static void carve(cb_mixed_search *s) {
  const size_t d = (size_t)s->domain.d, c = (size_t)s->domain.c;
  double *p = (double *)(s + 1);
  s->pool.x = p, p += d * CAPACITY;
  s->pool.value = p, p += CAPACITY;
  s->result.x = p, p += d * RESULTS;
  s->result.value = p, p += RESULTS;
  s->mu = p, p += CAPACITY;
  s->sd = p, p += CAPACITY;
  s->lower = p, p += d;
  s->upper = p, p += d;
  s->dmu = p, p += d;
  s->dsd = p, p += d;
  s->at_x = p, p += d;
  s->try_x = p, p += d;
  int32_t *q = (int32_t *)p;
  s->pool.h = q, q += c * CAPACITY;
  s->result.h = q, q += c * RESULTS;
  s->which = q, q += CAPACITY;
  s->to = q, q += CAPACITY;
  s->order = q, q += CAPACITY;
  s->at_h = q, q += c;
  s->try_h = q;
}

static void count_neighbours(cb_mixed_search *s) {
  s->n_combinations = 1;
  for (int j = 0; j < s->domain.c; j++) {
    s->n_swaps += s->domain.arms[j] - 1;
    if (s->n_combinations > 0)
      s->n_combinations *= s->domain.arms[j];
    if (s->n_combinations > ALL_COMBINATIONS)
      s->n_combinations = 0;
  }
}

cocabo_status cb_mixed_search_new(cb_mixed_search **out, const cb_domain *domain,
                                  cocabo_error *err) {
  *out = NULL;
  const size_t d = (size_t)domain->d, c = (size_t)domain->c;
  const size_t doubles = (d + 3) * CAPACITY + (d + 1) * RESULTS + 6 * d;
  const size_t ints = (c + 3) * CAPACITY + c * RESULTS + 2 * c;
  cb_mixed_search *s =
      cb_calloc(1, sizeof *s + doubles * sizeof(double) + ints * sizeof(int32_t));
  if (!s)
    return cb_no_memory(err);
  s->domain = *domain;
  carve(s);
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

void cb_mixed_search_free(cb_mixed_search *search) {
  if (!search)
    return;
  cb_minimiser_free(search->minimiser);
  cb_free(search);
}

static double *x_of(const cb_mixed_search *s, const points *p, int i) {
  return p->x + cb_at(0, i, s->domain.d);
}

static int32_t *h_of(const cb_mixed_search *s, const points *p, int i) {
  return p->h + cb_at(0, i, s->domain.c);
}

static void copy_x(const cb_mixed_search *s, double *to, const double *from) {
  if (s->domain.d > 0)
    memcpy(to, from, (size_t)s->domain.d * sizeof *to);
}

static void copy_h(const cb_mixed_search *s, int32_t *to, const int32_t *from) {
  if (s->domain.c > 0)
    memcpy(to, from, (size_t)s->domain.c * sizeof *to);
}

/* ---- scoring --------------------------------------------------------------------- */

static void values_of(const cb_mixed_search *s, int m, double *value) {
  for (int i = 0; i < m; i++)
    value[i] = cb_acquire_value(s->acquire, s->mu[i], s->sd[i], NULL, NULL);
}

static void score_pool(cb_mixed_search *s) {
  points *p = &s->pool;
  cb_gp_predict_mixed(s->gp, p->count, p->x, p->h, s->mu, s->sd);
  values_of(s, p->count, p->value);
}

static double score_one(cb_mixed_search *s, const double *x, const int32_t *h) {
  double value;
  cb_gp_predict_mixed(s->gp, 1, x, h, s->mu, s->sd);
  values_of(s, 1, &value);
  return value;
}

/* ---- the pool -------------------------------------------------------------------- */

static void snap(const cb_mixed_search *s, double *x) {
  const cb_domain *domain = &s->domain;
  for (int j = 0; j < domain->d && domain->any_grid; j++)
    if (domain->grid[j])
      x[j] = domain->level(domain->space, j, x[j], 0);
}

static double uniform_x(const cb_mixed_search *s, int j, cb_rng *rng) {
  return s->lower[j] + (s->upper[j] - s->lower[j]) * cb_rng_uniform(rng);
}

static double in_box(const cb_mixed_search *s, int j, double x) {
  return fmin(fmax(x, s->lower[j]), s->upper[j]);
}

static int32_t uniform_arm(const cb_domain *domain, int j, cb_rng *rng) {
  return (int32_t)cb_rng_below(rng, (uint32_t)domain->arms[j]);
}

static void anywhere(const cb_mixed_search *s, cb_rng *rng, double *x, int32_t *h) {
  for (int j = 0; j < s->domain.d; j++)
    x[j] = uniform_x(s, j, rng);
  for (int j = 0; j < s->domain.c; j++)
    h[j] = uniform_arm(&s->domain, j, rng);
}

/* Around the incumbent: each number is moved a little or drawn anew, half and half, and
 * up to five categories are drawn anew. */
static void nearby(const cb_mixed_search *s, cb_rng *rng, const double *from_x,
                   const int32_t *from_h, double *x, int32_t *h) {
  const int d = s->domain.d, c = s->domain.c;
  copy_h(s, h, from_h);
  for (int j = 0; j < d; j++)
    x[j] = cb_rng_below(rng, 2) ? in_box(s, j, from_x[j] + NEAR * cb_rng_normal(rng))
                                : uniform_x(s, j, rng);
  if (c == 0)
    return;
  const uint32_t most = c < MAX_CHANGES ? (uint32_t)c : MAX_CHANGES;
  for (uint32_t changes = cb_rng_below(rng, most + 1); changes > 0; changes--) {
    const int j = (int)cb_rng_below(rng, (uint32_t)c);
    h[j] = uniform_arm(&s->domain, j, rng);
  }
}

static void fill_pool(cb_mixed_search *s, const cb_search_plan *plan, cb_rng *rng) {
  const bool incumbent = plan->x || plan->h;
  const int count = plan->pool < POOL ? plan->pool : POOL;
  s->pool.count = count;
  for (int i = 0; i < count; i++) {
    double *xi = x_of(s, &s->pool, i);
    int32_t *hi = h_of(s, &s->pool, i);
    if (incumbent && i >= count / 2)
      nearby(s, rng, plan->x, plan->h, xi, hi);
    else
      anywhere(s, rng, xi, hi);
    snap(s, xi);
  }
}

/* ---- climbing and moving --------------------------------------------------------- */

static double negative(void *context, const double *x, double *gradient) {
  cb_mixed_search *s = context;
  double mu, sd, by_mu, by_sd;
  cb_gp_predict_gradient(s->gp, x, &mu, &sd, s->dmu, s->dsd);
  const double value = cb_acquire_value(s->acquire, mu, sd, &by_mu, &by_sd);
  for (int j = 0; j < s->domain.d; j++)
    gradient[j] = -(by_mu * s->dmu[j] + by_sd * s->dsd[j]);
  return -value;
}

static bool gains(double value, double over) {
  return value > over + PROGRESS * (1.0 + fabs(over));
}

/* Over x along at_h; *value rises if it helped. */
static bool climb(cb_mixed_search *s, double *value) {
  const cb_minimise_limits limits = {.max_evaluations = CLIMB_EVALUATIONS,
                                     .f_tolerance = 1e-9,
                                     .grad_tolerance = 1e-6};
  if (s->domain.d == 0)
    return false;
  copy_x(s, s->try_x, s->at_x);
  cb_gp_bind(s->gp, s->at_h);
  double reached =
      -cb_minimise(s->minimiser, s->try_x, s->lower, s->upper, negative, s, &limits);
  if (s->domain.any_grid) {
    snap(s, s->try_x);
    reached = score_one(s, s->try_x, s->at_h);
  }
  if (!gains(reached, *value))
    return false;
  copy_x(s, s->at_x, s->try_x);
  *value = reached;
  return true;
}

static void add_neighbour(cb_mixed_search *s) {
  copy_x(s, x_of(s, &s->pool, s->pool.count), s->at_x);
  copy_h(s, h_of(s, &s->pool, s->pool.count), s->at_h);
  s->pool.count++;
}

/* Every combination of categories but the one we are at. */
static void list_combinations(cb_mixed_search *s) {
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
static void list_steps(cb_mixed_search *s) {
  const cb_domain *domain = &s->domain;
  for (int j = 0; j < domain->d && domain->any_grid; j++)
    for (int by = -1; by <= 1 && domain->grid[j]; by += 2) {
      const double moved = domain->level(domain->space, j, s->at_x[j], by);
      if (!(moved >= s->lower[j] && moved <= s->upper[j]))
        continue;
      add_neighbour(s);
      x_of(s, &s->pool, s->pool.count - 1)[j] = moved;
    }
}

/* One category changed; a random choice of the changes if there are too many. */
static int list_swaps(cb_mixed_search *s, int room, cb_rng *rng) {
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

static void add_result(cb_mixed_search *s, const double *x, const int32_t *h,
                       double value) {
  const int i = s->result.count++;
  copy_x(s, x_of(s, &s->result, i), x);
  copy_h(s, h_of(s, &s->result, i), h);
  s->result.value[i] = value;
}

/* To the best neighbour, if it is better. try_x, try_h and *next are the best neighbour
 * in any case (and -inf if there is none). */
static bool move(cb_mixed_search *s, double *value, double *next, cb_rng *rng) {
  points *p = &s->pool;
  int best = 0, swaps = 0;
  *next = -INFINITY;
  p->count = 0;
  list_steps(s);
  if (s->n_combinations > 0)
    list_combinations(s);
  else
    swaps = list_swaps(s, MAX_NEIGHBOURS - p->count, rng);

  score_pool(s);
  if (cb_rank_best(p->count, p->value, 1, &best) > 0) {
    *next = p->value[best];
    copy_x(s, s->try_x, x_of(s, p, best));
    copy_h(s, s->try_h, h_of(s, p, best));
  }
  cb_gp_predict_swaps(s->gp, s->at_x, s->at_h, swaps, s->which, s->to, s->mu, s->sd);
  values_of(s, swaps, p->value);
  if (cb_rank_best(swaps, p->value, 1, &best) > 0 && p->value[best] > *next) {
    *next = p->value[best];
    copy_x(s, s->try_x, s->at_x);
    copy_h(s, s->try_h, s->at_h);
    s->try_h[s->which[best]] = s->to[best];
  }
  if (!gains(*next, *value))
    return false;
  copy_x(s, s->at_x, s->try_x);
  copy_h(s, s->at_h, s->try_h);
  *value = *next;
  return true;
}

/* From at_x, at_h. The point reached and its best neighbour are results. */
static void ascend(cb_mixed_search *s, double value, cb_rng *rng) {
  double next = -INFINITY;
  for (int round = 0; round < ROUNDS; round++) {
    climb(s, &value);
    if (!move(s, &value, &next, rng)) {
      if (next > -INFINITY)
        add_result(s, s->try_x, s->try_h, next);
      climb(s, &value); /* a cut-off climb goes on */
      break;
    }
  }
  add_result(s, s->at_x, s->at_h, value);
}

static void set_box(cb_mixed_search *s, const cb_search_plan *plan) {
  for (int j = 0; j < s->domain.d; j++) {
    s->lower[j] = plan->lower ? plan->lower[j] : -1.0;
    s->upper[j] = plan->upper ? plan->upper[j] : 1.0;
  }
}

/* Results start with the best of the pool: the starts, and spares. */
int cb_mixed_search_run(cb_mixed_search *s, cb_gp *gp, const cb_acquire *acquire,
                        const cb_search_plan *plan, cb_rng *rng) {
  s->gp = gp;
  s->acquire = acquire;
  s->result.count = 0;
  set_box(s, plan);
  fill_pool(s, plan, rng);
  score_pool(s);
  const int ranked =
      cb_rank_best(s->pool.count, s->pool.value, MAX_STARTS + SPARES, s->order);
  for (int i = 0; i < ranked; i++) {
    const int k = s->order[i];
    add_result(s, x_of(s, &s->pool, k), h_of(s, &s->pool, k), s->pool.value[k]);
  }
  for (int i = 0; i < ranked && i < plan->starts && i < MAX_STARTS; i++) {
    copy_x(s, s->at_x, x_of(s, &s->result, i));
    copy_h(s, s->at_h, h_of(s, &s->result, i));
    ascend(s, s->result.value[i], rng);
  }
  return cb_rank_best(s->result.count, s->result.value, RESULTS, s->order);
}

void cb_mixed_search_ranked(const cb_mixed_search *s, int place, const double **x,
                            const int32_t **h) {
  *x = x_of(s, &s->result, s->order[place]);
  *h = h_of(s, &s->result, s->order[place]);
}
