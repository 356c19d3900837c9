/* encode.c - places in [-1,1] and back.
 *
 * A numeric parameter is either continuous or a grid of levels k = 0 .. levels-1. A
 * grid is handled by its level throughout: cell <-> k <-> x. On a linear scale the
 * levels are evenly spaced, so the place of level k is (2k - last) / last, one exact
 * integer and one division. Only integers can be a grid on a log scale, and then in
 * steps of 1.
 */
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "space/space.h"

#include "base/maths.h"

/* ---- one parameter --------------------------------------------------------------- */

static double clip(double v, double low, double high) {
  /* Written so that NaN ends at low. */
  return !(v > low) ? low : v < high ? v : high;
}

static double log_place(const cb_param *p, double v) {
  if (v <= p->low)
    return -1.0;
  if (v >= p->high)
    return 1.0;
  return clip(2.0 * (cb_log(v) - p->log_low) / p->log_span - 1.0, -1.0, 1.0);
}

static double log_value(const cb_param *p, double x) {
  return cb_exp(p->log_low + 0.5 * (x + 1.0) * p->log_span);
}

static double level_place(const cb_param *p, int64_t k) {
  const int64_t last = p->levels - 1;
  if (last == 0)
    return 0.0;
  if (p->log)
    return log_place(p, (double)(p->ilow + k));
  return (double)(2 * k - last) / (double)last;
}

/* A guess by the inverse formula is off by one at most; the neighbours decide. */
static int64_t nearest_level(const cb_param *p, double x) {
  const int64_t last = p->levels - 1;
  if (last == 0 || !(x > -1.0))
    return 0;
  if (x >= 1.0)
    return last;
  const double guess =
      p->log ? log_value(p, x) - p->low : 0.5 * (x + 1.0) * (double)last;
  const int64_t middle = (int64_t)clip(nearbyint(guess), 0.0, (double)last);
  int64_t best = middle > 0 ? middle - 1 : 0;
  for (int64_t k = best + 1; k <= last && k <= middle + 1; k++)
    if (fabs(level_place(p, k) - x) < fabs(level_place(p, best) - x))
      best = k;
  return best;
}

/* Whole numbers and one division, all exact but the last, which is correctly rounded.
 */
double cb_param_level(const cb_param *p, int64_t k) {
  if (k == p->levels - 1)
    return p->high;
  const double v = p->units > 0.0
                       ? (double)(p->units_low + k * p->units_step) / p->units
                       : p->low + (double)k * p->step;
  return v == 0.0 ? 0.0 : v;
}

double cb_param_doubt(const cb_param *p) {
  const double size = fabs(p->low) + fabs(p->high) + (p->high - p->low);
  return fmin(4.0 * DBL_EPSILON * size, 0.25 * p->step);
}

static cb_cell level_cell(const cb_param *p, int64_t k) {
  if (p->kind == CB_INTEGER)
    return (cb_cell){.integer = p->ilow + k * p->istep};
  if (p->kind != CB_REAL)
    return (cb_cell){.integer = k};
  return (cb_cell){.real = cb_param_level(p, k)};
}

static int64_t cell_level(const cb_param *p, cb_cell cell) {
  if (p->kind == CB_INTEGER)
    return (cell.integer - p->ilow) / p->istep;
  if (p->kind != CB_REAL)
    return cell.integer;
  /* Every level, also the last, is less than half a step from its multiple. */
  return (int64_t)clip(nearbyint((cell.real - p->low) / p->step), 0.0,
                       (double)(p->levels - 1));
}

double cb_param_place(const cb_param *p, cb_cell cell) {
  if (p->levels > 0)
    return level_place(p, cell_level(p, cell));
  if (p->log)
    return log_place(p, cell.real);
  return clip(2.0 * (cell.real - p->low) / (p->high - p->low) - 1.0, -1.0, 1.0);
}

cb_cell cb_param_cell(const cb_param *p, double x) {
  if (p->levels > 0)
    return level_cell(p, nearest_level(p, x));
  if (!(x > -1.0))
    return (cb_cell){.real = p->low};
  if (x >= 1.0)
    return (cb_cell){.real = p->high};
  const double v =
      p->log ? log_value(p, x) : p->low + 0.5 * (x + 1.0) * (p->high - p->low);
  const double inside = clip(v, p->low, p->high);
  return (cb_cell){.real = inside == 0.0 ? 0.0 : inside};
}

/* ---- points ---------------------------------------------------------------------- */

void cb_space_encode(const cocabo_space *space, const cb_cell *cells, double *x,
                     int32_t *h) {
  for (int j = space->numbers; j < space->d; j++)
    x[j] = 0.0;
  for (int i = 0; i < space->n; i++) {
    const cb_param *p = &space->params[i];
    const bool active = cb_cell_is_active(cells[i]);
    if (p->kind == CB_CHOICE)
      h[p->slot] = active ? (int32_t)cells[i].integer : p->n_choices;
    else
      x[p->slot] = active ? cb_param_place(p, cells[i]) : 0.0;
    if (active && p->presence >= 0)
      x[space->numbers + p->presence] = 1.0;
  }
}

/* What a presence in [0,1] says. */
static bool is_present(const cocabo_space *space, const cb_param *p, const double *x) {
  return p->presence < 0 || x[space->numbers + p->presence] > 0.5;
}

void cb_space_decode_settled(const cocabo_space *space, const double *x,
                             const int32_t *h, cb_rng *rng, cb_cell *cells) {
  for (int i = 0; i < space->n; i++) {
    const cb_param *p = &space->params[i];
    if (p->kind == CB_CHOICE)
      cells[i] =
          h[p->slot] < p->n_choices ? (cb_cell){.integer = h[p->slot]} : CB_INACTIVE;
    else
      cells[i] = is_present(space, p, x) ? cb_param_cell(p, x[p->slot]) : CB_INACTIVE;
  }
  cb_space_settle(space, rng, cells);
}

void cb_space_decode(const cocabo_space *space, const double *x, const int32_t *h,
                     cb_cell *cells) {
  cb_space_decode_settled(space, x, h, NULL, cells);
}

/* Uniform in the logarithm over [low - 1/2, high + 1/2], then rounded: the ends of the
 * range get a whole cell, not half of one. */
static int64_t log_level_at(const cb_param *p, double u) {
  const double from = cb_log(p->low - 0.5), to = cb_log(p->high + 0.5);
  const double v = nearbyint(cb_exp(from + u * (to - from)));
  return (int64_t)clip(v, p->low, p->high) - p->ilow;
}

static int64_t level_at(const cb_param *p, double u) {
  if (p->log && p->kind == CB_INTEGER)
    return log_level_at(p, u);
  const int64_t k = (int64_t)(u * (double)p->levels);
  return k < p->levels ? k : p->levels - 1;
}

static int64_t sample_level(const cb_param *p, cb_rng *rng) {
  if ((p->log && p->kind == CB_INTEGER) || p->levels > UINT32_MAX)
    return level_at(p, cb_rng_uniform(rng));
  return cb_rng_below(rng, (uint32_t)p->levels);
}

cb_cell cb_param_sample(const cb_param *p, cb_rng *rng) {
  if (p->levels > 0)
    return level_cell(p, sample_level(p, rng));
  return cb_param_cell(p, 2.0 * cb_rng_uniform(rng) - 1.0);
}

cb_cell cb_param_step(const cb_param *p, cb_cell cell, int by) {
  if (p->levels == 0)
    return cell;
  const int64_t k = cell_level(p, cell) + by;
  return k >= 0 && k < p->levels ? level_cell(p, k) : cell;
}

void cb_space_draw(const cocabo_space *space, cb_rng *rng, cb_cell *cells) {
  for (int i = 0; i < space->n; i++)
    cells[i] = cb_param_sample(&space->params[i], rng);
  cb_space_settle(space, rng, cells);
}

/* How many draws are worth a try before one is repaired: few where one in a thousand is
 * not allowed. Measured once, and the same whoever does it, as is the size below. */
static int worth_trying(const cocabo_space *space) {
  enum { MANY = 2000, FEW = 20, LEAST = MANY / 1000 };
  cb_cell cells[COCABO_MAX_PARAMETERS];
  int tries = atomic_load(&space->tries), allowed = 0;
  if (tries > 0)
    return tries;
  cb_rng rng = cb_rng_make(0, CB_RNG_SPACE, 1);
  for (int i = 0; i < MANY && allowed < LEAST; i++) {
    cb_space_draw(space, &rng, cells);
    allowed += cb_space_allows(space, cells);
  }
  tries = allowed < LEAST ? FEW : MANY;
  atomic_store(&((cocabo_space *)space)->tries, tries);
  return tries;
}

/* One parameter after the other moves to a random value or, as the rules will not let
 * it, towards others, each time by a smaller part of the way. Without that all repaired
 * points would lie where the rules begin, or at the end of a range. */
static void wander(const cocabo_space *space, cb_rng *rng, cb_cell *cells) {
  enum { HALVINGS = 48 };
  const size_t bytes = (size_t)space->n * sizeof *cells;
  cb_cell tried[COCABO_MAX_PARAMETERS];
  for (int i = 0; i < space->n; i++) {
    const cb_param *p = &space->params[i];
    const int last = p->kind == CB_CHOICE ? 0 : HALVINGS;
    bool allowed = !cb_cell_is_active(cells[i]);
    for (int k = 0; k <= last && !allowed; k += 2) {
      memcpy(tried, cells, bytes);
      tried[i] = cb_param_sample(p, rng);
      if (p->kind != CB_CHOICE) {
        const double from = cb_param_place(p, cells[i]);
        tried[i] =
            cb_param_cell(p, from + ldexp(cb_param_place(p, tried[i]) - from, -k));
      }
      if (tried[i].integer == cells[i].integer)
        break;
      cb_space_settle(space, rng, tried);
      allowed = cb_space_allows(space, tried);
      if (allowed)
        memcpy(cells, tried, bytes);
    }
  }
}

void cb_space_sample(const cocabo_space *space, cb_rng *rng, cb_cell *cells) {
  enum { REPAIRS = 5 };
  cb_space_draw(space, rng, cells);
  if (cb_space_allows(space, cells))
    return;
  for (int i = worth_trying(space); i > 1; i--) {
    cb_space_draw(space, rng, cells);
    if (cb_space_allows(space, cells))
      return;
  }
  for (int i = 0; i < REPAIRS; i++) {
    if (cb_space_repair(space, rng, cells)) {
      wander(space, rng, cells);
      return;
    }
    if (i + 1 < REPAIRS)
      cb_space_draw(space, rng, cells);
  }
}

void cb_space_at(const cocabo_space *space, const double *u, cb_cell *cells) {
  for (int i = 0; i < space->n; i++) {
    const cb_param *p = &space->params[i];
    cells[i] = p->levels > 0 ? level_cell(p, level_at(p, u[i]))
                             : cb_param_cell(p, 2.0 * u[i] - 1.0);
  }
  cb_space_settle(space, NULL, cells);
}

/* ---- grids ----------------------------------------------------------------------- */

static const cb_param *row(const cocabo_space *space, int j) {
  return &space->params[space->numeric[j]];
}

int64_t cb_space_levels(const cocabo_space *space, int j) {
  return row(space, j)->levels;
}

double cb_space_level_x(const cocabo_space *space, int j, int64_t k) {
  assert(k >= 0 && k < row(space, j)->levels);
  return level_place(row(space, j), k);
}

int64_t cb_space_level_of(const cocabo_space *space, int j, double xj) {
  assert(row(space, j)->levels > 0);
  return nearest_level(row(space, j), xj);
}

uint64_t cb_space_combinations(const cocabo_space *space) {
  uint64_t size = 1;
  for (int i = 0; i < space->n; i++) {
    const uint64_t levels = (uint64_t)space->params[i].levels;
    if (levels == 0 || size > UINT64_MAX / levels)
      return UINT64_MAX;
    size *= levels;
  }
  return size;
}

/* Counting is idempotent, so threads that share a space may do it at once. */
uint64_t cb_space_size(const cocabo_space *space) {
  const uint64_t most = UINT64_C(1) << 17, all = cb_space_combinations(space);
  cb_cell cells[COCABO_MAX_PARAMETERS];
  if (cb_space_is_plain(space))
    return all;
  if (all > most)
    return UINT64_MAX;
  const uint64_t known = atomic_load(&space->size);
  if (known > 0)
    return known - 1;
  uint64_t size = 0;
  for (uint64_t i = 0; i < all; i++)
    size += cb_space_point(space, i, cells);
  atomic_store(&((cocabo_space *)space)->size, size + 1);
  return size;
}

/* Mixed radix, the last parameter fastest. Of the combinations that are one point, the
 * one counts whose inactive parameters are at their first level. */
bool cb_space_point(const cocabo_space *space, uint64_t i, cb_cell *cells) {
  bool first[COCABO_MAX_PARAMETERS];
  for (int k = space->n - 1; k >= 0; k--) {
    const cb_param *p = &space->params[k];
    const int64_t level = (int64_t)(i % (uint64_t)p->levels);
    first[k] = level == 0;
    cells[k] = level_cell(p, level);
    i /= (uint64_t)p->levels;
  }
  cb_space_settle(space, NULL, cells);
  for (int k = 0; k < space->n; k++)
    if (!cb_cell_is_active(cells[k]) && !first[k])
      return false;
  return cb_space_allows(space, cells);
}

/* ---- checking and comparing ------------------------------------------------------ */

static bool holds(const cb_param *p, cb_cell cell) {
  if (p->kind == CB_INTEGER)
    return cell.integer >= p->ilow && cell.integer <= p->ihigh &&
           (cell.integer - p->ilow) % p->istep == 0;
  if (p->kind != CB_REAL)
    return cell.integer >= 0 && cell.integer < p->n_choices;
  if (cell.real == 0.0 && signbit(cell.real))
    return false;
  if (p->levels > 0)
    return fabs(cell.real - cb_param_level(p, cell_level(p, cell))) <=
           cb_param_doubt(p);
  return cell.real >= p->low && cell.real <= p->high;
}

bool cb_space_holds(const cocabo_space *space, const cb_cell *cells) {
  for (int i = 0; i < space->n; i++)
    if (cb_cell_is_active(cells[i]) ? !holds(&space->params[i], cells[i])
                                    : !space->params[i].condition)
      return false;
  return cb_space_check_active(space, cells, NULL) == COCABO_OK;
}

cb_cell cb_space_snap(const cocabo_space *space, int i, cb_cell cell) {
  const cb_param *p = &space->params[i];
  return p->kind == CB_REAL && p->levels > 0 && cb_cell_is_active(cell)
             ? level_cell(p, cell_level(p, cell))
             : cell;
}

bool cb_cells_equal(int n, const cb_cell *a, const cb_cell *b) {
  return n == 0 || memcmp(a, b, (size_t)n * sizeof *a) == 0;
}
