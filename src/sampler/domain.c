/* domain.c - a space as the search sees it: grids, and which (x, h) are points. */
#include <math.h>
#include <string.h>

#include "sampler/samplers.h"
#include "space/expr.h"

static double level(const void *space, int j, double xj, int by) {
  const int64_t k = cb_space_level_of(space, j, xj) + by;
  return k >= 0 && k < cb_space_levels(space, j) ? cb_space_level_x(space, j, k) : NAN;
}

/* ---- points ---------------------------------------------------------------------- */

static bool says_active(const cocabo_space *space, const cb_param *p, const double *x,
                        const int32_t *h) {
  if (p->kind == CB_CHOICE)
    return h[p->slot] < p->n_choices;
  return p->presence < 0 || x[space->numbers + p->presence] > 0.5;
}

/* (x, h) of the cells. A continuous number that is in (x, h) already stays as it is, so
 * that decoding gives the same cell again, to the bit; one that is not is rounded to
 * what decoding will give. */
static void write_back(const cocabo_space *space, cb_cell *cells, double *x,
                       int32_t *h) {
  double place[COCABO_MAX_PARAMETERS];
  for (int j = 0; j < space->numbers; j++) {
    const int i = space->numeric[j];
    const cb_param *p = &space->params[i];
    const bool stays =
        p->levels == 0 && cb_cell_is_active(cells[i]) && says_active(space, p, x, h);
    place[j] = stays                         ? x[j]
               : cb_cell_is_active(cells[i]) ? cb_param_place(p, cells[i])
                                             : 0.0;
    if (!stays && cb_cell_is_active(cells[i]))
      cells[i] = cb_param_cell(p, place[j]);
  }
  cb_space_encode(space, cells, x, h);
  memcpy(x, place, (size_t)space->numbers * sizeof *x);
}

static bool settle(const void *domain, cb_rng *rng, double *x, int32_t *h) {
  const cocabo_space *space = domain;
  cb_cell cells[COCABO_MAX_PARAMETERS];
  cb_space_decode_settled(space, x, h, rng, cells);
  write_back(space, cells, x, h);
  return cb_space_allows(space, cells);
}

static bool repair(const void *domain, cb_rng *rng, double *x, int32_t *h) {
  const cocabo_space *space = domain;
  cb_cell cells[COCABO_MAX_PARAMETERS];
  cb_space_decode_settled(space, x, h, rng, cells);
  if (!cb_space_repair(space, rng, cells))
    return false;
  cb_space_encode(space, cells, x, h);
  return settle(space, rng, x, h); /* rounding may have broken a rule */
}

/* ---- pushing --------------------------------------------------------------------- */

static const double STEP = 1e-6;   /* of a difference quotient */
static const double BEYOND = 1e-9; /* how far a push goes beyond the boundary */

static bool same_active(const cocabo_space *space, const double *x, const int32_t *h,
                        const cb_cell *cells) {
  for (int i = 0; i < space->n && space->conditional; i++)
    if (cb_cell_is_active(cells[i]) != says_active(space, &space->params[i], x, h))
      return false;
  return true;
}

/* The slope of the violation by number j, 0 if it cannot be followed downwards. */
static double slope_by(const cocabo_space *space, double lower, double upper, double xj,
                       int j, cb_cell *cells, double violation) {
  const int i = space->numeric[j];
  const cb_param *p = &space->params[i];
  if (p->levels > 0 || !cb_cell_is_active(cells[i]) || !(lower < upper))
    return 0.0;
  const cb_cell before = cells[i];
  const double step = xj > 0.0 ? -STEP : STEP;
  cells[i] = cb_param_cell(p, xj + step);
  const double slope = (cb_space_violation(space, cells) - violation) / step;
  cells[i] = before;
  const bool stuck = (slope > 0.0 && xj <= lower) || (slope < 0.0 && xj >= upper);
  return stuck || !isfinite(slope) ? 0.0 : slope;
}

/* Newton's steps on the violation. */
static bool push(const void *domain, const double *lower, const double *upper,
                 double *x, const int32_t *h, double *normal) {
  enum { STEPS = 8 };
  const cocabo_space *space = domain;
  cb_cell cells[COCABO_MAX_PARAMETERS];
  for (int j = 0; j < space->d; j++)
    normal[j] = 0.0;
  for (int k = 0; k <= STEPS; k++) {
    cb_space_decode(space, x, h, cells);
    if (!same_active(space, x, h, cells))
      return false;
    const double violation = cb_space_violation(space, cells);
    if (!(violation > 0.0))
      return cb_space_allows(space, cells);
    double square = 0.0;
    for (int j = 0; j < space->numbers; j++) {
      normal[j] = slope_by(space, lower[j], upper[j], x[j], j, cells, violation);
      square += normal[j] * normal[j];
    }
    if (!(square > 0.0 && isfinite(square) && isfinite(violation)))
      return false;
    for (int j = 0; j < space->numbers; j++) {
      normal[j] /= sqrt(square);
      const double to = x[j] - (violation / sqrt(square) + BEYOND) * normal[j];
      x[j] = fmin(fmax(to, lower[j]), upper[j]);
    }
  }
  return false;
}

/* Can a number that moves break a rule, or make something else active? */
static bool numbers_matter(const cocabo_space *space) {
  for (int i = 0; i < space->n; i++) {
    int n = 0;
    const cb_expr *condition = space->params[i].condition;
    const int *named = condition ? cb_expr_params(condition, &n) : NULL;
    for (int k = 0; k < n; k++)
      if (space->params[named[k]].kind != CB_CHOICE)
        return true;
  }
  return space->n_rules > 0;
}

cb_domain cb_domain_of(const cocabo_space *space) {
  cb_domain domain = {.d = space->d,
                      .c = space->c,
                      .presences = space->presences,
                      .level = level,
                      .space = space};
  for (int j = 0; j < space->numbers; j++) {
    domain.levels[j] = cb_space_levels(space, j);
    domain.any_grid |= domain.levels[j] > 0;
    domain.presence_of[j] = space->params[space->numeric[j]].presence;
  }
  for (int j = 0; j < space->c; j++)
    domain.arms[j] = cb_space_arms(space, j);
  if (!cb_space_is_plain(space)) {
    domain.settle = settle;
    domain.repair = repair;
    domain.push = numbers_matter(space) ? push : NULL;
  }
  return domain;
}
