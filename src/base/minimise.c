/* minimise.c - minimise a smooth function inside a box, by quasi-Newton steps.
 *
 *   x, f, g   the iterate, its value and its gradient
 *   l, u      the box, l <= x <= u
 *   B         n x n, positive definite: what is known of the Hessian
 *   q(p)      g'p + 1/2 p'B p, the model of f(x + p) - f(x)
 *
 * An iteration minimises q over the box (set_direction), looks along the projected
 * path P(x + t p), t > 0, for a point that satisfies the weak Wolfe conditions
 * (search), and teaches B the change of the gradient (update). As long as t <= 1 the
 * path is a segment; beyond it components stay at the bounds that they have reached.
 *
 * References: Nocedal and Wright, Numerical Optimization (2006), sections 3.5 (line
 * search, cubic interpolation), 6.1 (BFGS, first scaling), 18.3 (damping); Bertsekas,
 * Projected Newton methods, SIAM J. Control Optim. 20 (1982); Hintermueller, Ito and
 * Kunisch, The primal-dual active set strategy, SIAM J. Optim. 13 (2002).
 *
 * B is dense for every n: at most 206 here, and factoring it is cheaper than
 * evaluating what we minimise. Sums have a fixed order and there is no function of libm
 * but sqrt, so the bits are the same on every machine.
 */
#include "base/minimise.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/block.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/status.h"

enum {
  MEMORY = 20,            /* steps that B is made of */
  ACTIVE_SET_PASSES = 12, /* of minimising q */
  SEARCH_STEPS = 20       /* of one line search */
};

static const double DECREASE = 1e-4;  /* Wolfe: of f, relative to the slope */
static const double CURVATURE = 0.9;  /* Wolfe: of the slope that may be left */
static const double DAMPING = 0.2;    /* of s'Bs that s'y is made to be at least */
static const double FIRST_STEP = 1.0; /* longest first step, in units of scale */
static const double MOST_GROWTH = 4.0, LEAST_GROWTH = 1.1; /* of a step too short */
static const double MARGIN = 0.1;  /* of a bracket, kept from its ends */
static const double RETREAT = 0.2; /* from a point without a value */
static const double SNAP = 1e-14;  /* of its range: a variable so close is at a bound */

struct cb_minimiser {
  int n;
  double *B;          /* n x n, both triangles */
  double *U;          /* n x n: the factor of B's free part */
  double *work;       /* of cb_block_cholesky */
  double *x, *g;      /* n: the iterate */
  double *x_t, *g_t;  /* n: the point on trial */
  double *p, *Bp;     /* n: direction; B times a vector */
  double *S, *Y;      /* n x MEMORY: changes of x and of g, the latest last */
  double *rhs, *best; /* n */
  int *side;          /* n: -1 and 1 at the lower and upper bound, 0 free */
  int *free;          /* n: indices of the free variables */
  int n_pairs;        /* of them */
  bool fresh;         /* B has learnt nothing yet */
  bool interrupted;

  /* Of this run. */
  const double *l, *u;
  cb_objective objective;
  void *context;
  const cb_minimise_limits *limits;
  int evaluations;
  double f, f_t, f_best;
};

cocabo_status cb_minimiser_new(cb_minimiser **out, int n, cocabo_error *err) {
  *out = NULL;
  const size_t m = (size_t)n, work = (m + CB_BLOCK_SPARE) * CB_BLOCK;
  const size_t doubles = 2 * m * m + work + (8 + 2 * MEMORY) * m;
  /* One block: the struct, then doubles, then ints. */
  cb_minimiser *ws =
      cb_calloc(1, sizeof *ws + doubles * sizeof(double) + 2 * m * sizeof(int));
  if (!ws)
    return cb_no_memory(err);
  double *q = (double *)(ws + 1);
  double **vectors[] = {&ws->x, &ws->g,  &ws->x_t, &ws->g_t,
                        &ws->p, &ws->Bp, &ws->rhs, &ws->best};
  ws->n = n;
  ws->B = q, q += m * m;
  ws->U = q, q += m * m;
  ws->work = q, q += work;
  ws->S = q, q += MEMORY * m;
  ws->Y = q, q += MEMORY * m;
  for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
    *vectors[i] = q, q += m;
  ws->side = (int *)q;
  ws->free = ws->side + n;
  *out = ws;
  return COCABO_OK;
}

void cb_minimiser_free(cb_minimiser *ws) {
  cb_free(ws);
}

bool cb_minimise_interrupted(const cb_minimiser *ws) {
  return ws->interrupted;
}

/* ---- evaluating ------------------------------------------------------------------ */

static bool may_evaluate(cb_minimiser *ws) {
  const cb_minimise_limits *limits = ws->limits;
  if (ws->evaluations >= limits->max_evaluations)
    return false;
  if (ws->evaluations > 0 && limits->interrupt && limits->interrupt(limits->user))
    ws->interrupted = true;
  return !ws->interrupted;
}

/* f_t and g_t at x_t. False if one of them is not finite. */
static bool evaluate(cb_minimiser *ws) {
  ws->f_t = ws->objective(ws->context, ws->x_t, ws->g_t);
  ws->evaluations++;
  if (!isfinite(ws->f_t))
    return false;
  if (ws->f_t < ws->f_best) {
    ws->f_best = ws->f_t;
    memcpy(ws->best, ws->x_t, (size_t)ws->n * sizeof(double));
  }
  for (int i = 0; i < ws->n; i++)
    if (!isfinite(ws->g_t[i]))
      return false;
  return true;
}

/* x_t becomes the iterate, and the iterate x_t. */
static void accept(cb_minimiser *ws) {
  double *x = ws->x, *g = ws->g;
  ws->x = ws->x_t, ws->x_t = x;
  ws->g = ws->g_t, ws->g_t = g;
  ws->f = ws->f_t;
}

/* ---- the direction --------------------------------------------------------------- */

static double scale_of(const cb_minimiser *ws, int i) {
  return ws->limits->scale ? ws->limits->scale[i] : 1.0;
}

/* B = factor / scale^2. */
static void reset(cb_minimiser *ws, double factor) {
  memset(ws->B, 0, (size_t)ws->n * (size_t)ws->n * sizeof(double));
  for (int i = 0; i < ws->n; i++)
    ws->B[cb_at(i, i, ws->n)] = factor / (scale_of(ws, i) * scale_of(ws, i));
}

static void multiply(const cb_minimiser *ws, const double *v, double *Bv) {
  for (int i = 0; i < ws->n; i++)
    Bv[i] = cb_linalg_dot(ws->n, ws->B + cb_at(0, i, ws->n), v);
}

/* Variables that are at a bound, with a gradient that pushes outwards. */
static int side_of(const cb_minimiser *ws, int i) {
  return ws->x[i] <= ws->l[i] && ws->g[i] >= 0.0   ? -1
         : ws->x[i] >= ws->u[i] && ws->g[i] <= 0.0 ? 1
                                                   : 0;
}

/* p over the free variables, the others being given: B_FF p_F = -g_F - B_FA p_A. */
static bool solve_free(cb_minimiser *ws) {
  int m = 0;
  for (int i = 0; i < ws->n; i++)
    if (ws->side[i] == 0) {
      ws->p[i] = 0.0;
      ws->free[m++] = i;
    }
  multiply(ws, ws->p, ws->Bp);
  for (int a = 0; a < m; a++) {
    const int i = ws->free[a];
    ws->rhs[a] = -ws->g[i] - ws->Bp[i];
    for (int b = 0; b <= a; b++)
      ws->U[cb_at(b, a, m)] = ws->B[cb_at(ws->free[b], i, ws->n)];
  }
  if (m > 0 && !cb_block_cholesky(m, ws->U, m, ws->work))
    return false;
  cb_linalg_solve_ut(m, ws->U, m, ws->rhs);
  cb_linalg_solve_u(m, ws->U, m, ws->rhs);
  for (int a = 0; a < m; a++)
    ws->p[ws->free[a]] = ws->rhs[a];
  return true;
}

/* Free variables that left the box are put on its bound; those on a bound that q wants
 * back inside are freed. True if there was one. */
static bool change_sides(cb_minimiser *ws) {
  bool changed = false;
  multiply(ws, ws->p, ws->Bp);
  for (int i = 0; i < ws->n; i++) {
    const double to = ws->x[i] + ws->p[i], pull = ws->g[i] + ws->Bp[i];
    const int side = ws->l[i] == ws->u[i]                            ? -1
                     : ws->side[i] != 0 && ws->side[i] * pull <= 0.0 ? ws->side[i]
                     : ws->side[i] != 0                              ? 0
                     : to < ws->l[i]                                 ? -1
                     : to > ws->u[i]                                 ? 1
                                                                     : 0;
    changed |= side != ws->side[i];
    ws->side[i] = side;
  }
  return changed;
}

/* To q's minimum in the box, by a primal-dual active set; false if that is not found,
 * or is no way down. */
static bool minimise_model(cb_minimiser *ws) {
  for (int i = 0; i < ws->n; i++)
    ws->side[i] = ws->l[i] == ws->u[i] ? -1 : side_of(ws, i);
  for (int pass = 0; pass < ACTIVE_SET_PASSES; pass++) {
    for (int i = 0; i < ws->n; i++)
      if (ws->side[i] != 0)
        ws->p[i] = (ws->side[i] < 0 ? ws->l[i] : ws->u[i]) - ws->x[i];
    if (!solve_free(ws))
      return false;
    if (!change_sides(ws))
      break;
  }
  for (int i = 0; i < ws->n; i++) /* should it not have settled */
    ws->p[i] = fmin(fmax(ws->p[i], ws->l[i] - ws->x[i]), ws->u[i] - ws->x[i]);
  multiply(ws, ws->p, ws->Bp);
  const double slope = cb_linalg_dot(ws->n, ws->g, ws->p);
  return slope < 0.0 && slope + 0.5 * cb_linalg_dot(ws->n, ws->p, ws->Bp) < 0.0;
}

/* Down the gradient, projected. It is a way down unless x is stationary. */
static void descend(cb_minimiser *ws) {
  for (int i = 0; i < ws->n; i++) {
    const double p = -ws->g[i] / ws->B[cb_at(i, i, ws->n)];
    ws->p[i] = fmin(fmax(p, ws->l[i] - ws->x[i]), ws->u[i] - ws->x[i]);
  }
}

/* ---- the line search ------------------------------------------------------------- */

/* A step, the value there and the slope of f along the path. */
typedef struct {
  double t, f, slope;
  bool finite;
} step;

/* x_t = P(x + t p). Returns false if it is x again. */
static bool go(cb_minimiser *ws, double t) {
  bool moved = false;
  for (int i = 0; i < ws->n; i++) {
    const double l = ws->l[i], u = ws->u[i], near = SNAP * (u - l);
    const double to = ws->x[i] + t * ws->p[i];
    ws->x_t[i] = to <= l + near ? l : to >= u - near ? u : to;
    moved |= ws->x_t[i] != ws->x[i];
  }
  return moved;
}

/* Of the path beyond x_t: what has arrived at a bound does not move on. */
static double slope_at(const cb_minimiser *ws) {
  double sum = 0.0;
  for (int i = 0; i < ws->n; i++) {
    const double p = ws->p[i];
    const bool stuck =
        (p < 0.0 && ws->x_t[i] <= ws->l[i]) || (p > 0.0 && ws->x_t[i] >= ws->u[i]);
    if (!stuck)
      sum += ws->g_t[i] * p;
  }
  return sum;
}

/* The step at which the last variable arrives at its bound. */
static double longest_step(const cb_minimiser *ws) {
  double t = 0.0;
  for (int i = 0; i < ws->n; i++)
    if (ws->p[i] != 0.0)
      t = fmax(t, ((ws->p[i] > 0.0 ? ws->u[i] : ws->l[i]) - ws->x[i]) / ws->p[i]);
  return t;
}

/* The minimum of the cubic through two steps, NAN if it has none. */
static double cubic_minimum(const step *a, const step *b) {
  const double width = b->t - a->t;
  const double d1 = a->slope + b->slope - 3.0 * (b->f - a->f) / width;
  const double square = d1 * d1 - a->slope * b->slope;
  if (!(square >= 0.0))
    return NAN;
  const double d2 = width > 0.0 ? sqrt(square) : -sqrt(square);
  return b->t - width * (b->slope + d2 - d1) / (b->slope - a->slope + 2.0 * d2);
}

/* Between low, which is good, and high, which is too far. */
static double inside(const step *low, const step *high) {
  const double width = high->t - low->t;
  if (!high->finite)
    return low->t + RETREAT * width;
  const double t = cubic_minimum(low, high);
  if (!isfinite(t))
    return low->t + 0.5 * width;
  return fmin(fmax(t, low->t + MARGIN * width), high->t - MARGIN * width);
}

/* Beyond low, where f still falls as steeply as at the step before it. */
static double beyond(const step *before, const step *low, double longest) {
  const double width = low->t - before->t;
  const double least = low->t + LEAST_GROWTH * width,
               most = low->t + MOST_GROWTH * width;
  const double t = cubic_minimum(before, low);
  return fmin(t > least && t < most ? t : most, longest);
}

/* Along p from step t on, until the weak Wolfe conditions hold. True if x_t, f_t and
 * g_t are a better iterate. */
static bool search(cb_minimiser *ws, double t) {
  const double longest = longest_step(ws);
  const step start = {0.0, ws->f, cb_linalg_dot(ws->n, ws->g, ws->p), true};
  step before = start, low = start, high = {0};
  bool bracketed = false;
  t = fmin(t, longest);
  for (int k = 0; k < SEARCH_STEPS && go(ws, t) && may_evaluate(ws); k++) {
    step now = {.t = t, .finite = evaluate(ws)};
    if (now.finite) {
      now.f = ws->f_t;
      now.slope = slope_at(ws);
    }
    if (!now.finite || now.f > ws->f + DECREASE * t * start.slope || now.f > low.f) {
      high = now;
      bracketed = true;
    } else {
      before = low;
      low = now;
      if (now.slope >= CURVATURE * start.slope || t >= longest)
        return true;
    }
    t = bracketed ? inside(&low, &high) : beyond(&before, &low, longest);
  }
  return false;
}

/* ---- learning -------------------------------------------------------------------- */

/* BFGS with the change s of x and y of g. */
static void learn(cb_minimiser *ws, const double *s, const double *y) {
  const int n = ws->n;
  double *Bs = ws->Bp, *r = ws->rhs;
  multiply(ws, s, Bs);
  const double sBs = cb_linalg_dot(n, s, Bs), sy = cb_linalg_dot(n, s, y);
  /* Powell's damping: as much of B's own curvature as keeps B positive definite. */
  const double own = sy < DAMPING * sBs ? (DAMPING * sBs - sy) / (sBs - sy) : 0.0;
  for (int i = 0; i < n; i++)
    r[i] = y[i] + own * (Bs[i] - y[i]);
  const double by_sr = 1.0 / cb_linalg_dot(n, s, r), by_sBs = 1.0 / sBs;
  if (!(by_sr > 0.0 && by_sBs > 0.0 && isfinite(by_sr) && isfinite(by_sBs)))
    return; /* a step too small to say anything */
  for (int j = 0; j < n; j++) {
    const double rj = r[j] * by_sr, Bsj = Bs[j] * by_sBs;
    for (int i = 0; i < n; i++)
      ws->B[cb_at(i, j, n)] += r[i] * rj - Bs[i] * Bsj;
  }
  ws->fresh = false;
}

/* B anew from the last steps, as the limited-memory form does: what no step has told
 * about has the curvature y'Dy / s'y of the last one, D = scale^2. */
static void update(cb_minimiser *ws) {
  const int n = ws->n;
  if (ws->fresh)
    ws->n_pairs = 0;
  if (ws->n_pairs == MEMORY) {
    const size_t kept = (size_t)n * (MEMORY - 1) * sizeof(double);
    ws->n_pairs--;
    memmove(ws->S, ws->S + n, kept);
    memmove(ws->Y, ws->Y + n, kept);
  }
  double *s = ws->S + cb_at(0, ws->n_pairs, n), *y = ws->Y + cb_at(0, ws->n_pairs, n);
  ws->n_pairs++;
  double sy = 0.0, yDy = 0.0;
  for (int i = 0; i < n; i++) {
    s[i] = ws->x[i] - ws->x_t[i];
    y[i] = ws->g[i] - ws->g_t[i];
    sy += s[i] * y[i];
    yDy += y[i] * y[i] * scale_of(ws, i) * scale_of(ws, i);
  }
  const double curvature = yDy / sy;
  if (!(curvature > 0.0 && isfinite(curvature) && isfinite(1.0 / curvature))) {
    learn(ws, s, y);
    return;
  }
  reset(ws, curvature);
  for (int k = 0; k < ws->n_pairs; k++)
    learn(ws, ws->S + cb_at(0, k, n), ws->Y + cb_at(0, k, n));
}

/* ---- the iteration --------------------------------------------------------------- */

static double projected_gradient(const cb_minimiser *ws) {
  double largest = 0.0;
  for (int i = 0; i < ws->n; i++) {
    const double to = fmin(fmax(ws->x[i] - ws->g[i], ws->l[i]), ws->u[i]);
    largest = fmax(largest, fabs(to - ws->x[i]));
  }
  return largest;
}

/* Where to look first: the model's own minimum, once there is a model. */
static double first_step(const cb_minimiser *ws) {
  double square = 0.0;
  if (!ws->fresh)
    return 1.0;
  for (int i = 0; i < ws->n; i++)
    square += ws->p[i] * ws->p[i] / (scale_of(ws, i) * scale_of(ws, i));
  return fmin(1.0, FIRST_STEP / sqrt(square));
}

static void start_over(cb_minimiser *ws) {
  reset(ws, 1.0);
  ws->fresh = true;
}

static void iterate(cb_minimiser *ws) {
  start_over(ws);
  while (projected_gradient(ws) > ws->limits->grad_tolerance) {
    if (!minimise_model(ws)) {
      start_over(ws);
      descend(ws);
    }
    if (!search(ws, first_step(ws))) {
      if (ws->fresh || !may_evaluate(ws))
        return;
      start_over(ws); /* perhaps B was wrong */
      continue;
    }
    const double before = ws->f;
    accept(ws);
    update(ws);
    const double size = fmax(fmax(fabs(before), fabs(ws->f)), 1.0);
    if (before - ws->f <= fmax(ws->limits->f_tolerance * size, ws->limits->least_gain))
      return;
  }
}

double cb_minimise(cb_minimiser *ws, double *x, const double *lower,
                   const double *upper, cb_objective f, void *context,
                   const cb_minimise_limits *limits) {
  const size_t bytes = (size_t)ws->n * sizeof(double);
  ws->l = lower;
  ws->u = upper;
  ws->objective = f;
  ws->context = context;
  ws->limits = limits;
  ws->evaluations = 0;
  ws->interrupted = false;
  ws->f_best = INFINITY;
  for (int i = 0; i < ws->n; i++) {
    assert(isfinite(lower[i]) && isfinite(upper[i]) && lower[i] <= upper[i]);
    ws->x_t[i] = fmin(fmax(x[i], lower[i]), upper[i]);
  }
  memcpy(ws->best, ws->x_t, bytes);
  if (evaluate(ws)) {
    accept(ws);
    iterate(ws);
  }
  memcpy(x, ws->best, bytes);
  return ws->f_best;
}
