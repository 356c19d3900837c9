/* descent.c - which results a parabola goes through, and how closely. */
#include "sampler/descent.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"
#include "model/parabola.h"
#include "sampler/samplers.h"

enum { SPARE = 2 }; /* results beyond those by terms */

static const double BARELY = 1.2; /* results per term, */
static const double MANY = 4.0;   /* and where there are to be many of them */
static const double CLOSE = 0.1;  /* of the median gap: nearer the top counts no more */

/* A row of the history: how far from the top it is, squared. */
typedef struct {
  double apart;
  int64_t row;
} neighbour;

struct cb_descent {
  int d;
  neighbour *neighbours; /* all rows, the nearest first */
  double *gaps;          /* n: y below the top's, in units of their median */
  double *z, *weight;    /* d x n and n */
  double *coefficients, *work;
  size_t neighbours_room, gaps_room, z_room, weight_room;
};

void cb_descent_free(cb_descent *s) {
  if (!s)
    return;
  cb_free(s->neighbours);
  cb_free(s->gaps);
  cb_free(s->z);
  cb_free(s->weight);
  cb_free(s->coefficients);
  cb_free(s->work);
  cb_free(s);
}

cocabo_status cb_descent_new(cb_descent **out, const cocabo_space *space,
                             cocabo_error *err) {
  *out = NULL;
  cb_descent *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  s->d = space->d;
  if (s->d <= CB_PARABOLA_MOST_INPUTS) {
    s->coefficients =
        cb_calloc((size_t)cb_parabola_terms(s->d), sizeof *s->coefficients);
    s->work = cb_calloc(cb_parabola_work(s->d), sizeof *s->work);
    if (!s->coefficients || !s->work) {
      cb_descent_free(s);
      return cb_no_memory(err);
    }
  }
  *out = s;
  return COCABO_OK;
}

static const double *x_of(const cb_history *history, int64_t row) {
  return history->trials[history->told[row]].x;
}

static int nearest_first(const void *a, const void *b) {
  const neighbour *u = a, *v = b;
  if (u->apart != v->apart)
    return u->apart < v->apart ? -1 : 1;
  return (u->row > v->row) - (u->row < v->row);
}

/* Of the first n neighbours; spoils the weights. */
static double median_gap(cb_descent *s, int n) {
  for (int i = 0; i < n; i++)
    s->weight[i] = s->gaps[i];
  qsort(s->weight, (size_t)n, sizeof *s->weight, cb_ascending);
  return s->weight[n / 2];
}

/* For `rows` results, n of which the parabola goes through. */
static cocabo_status make_room(cb_descent *s, size_t rows, size_t n,
                               cocabo_error *err) {
  return cb_reserve((void **)&s->neighbours, &s->neighbours_room, rows,
                    sizeof *s->neighbours) &&
                 cb_reserve((void **)&s->gaps, &s->gaps_room, n, sizeof *s->gaps) &&
                 cb_reserve((void **)&s->z, &s->z_room, n * (size_t)s->d,
                            sizeof *s->z) &&
                 cb_reserve((void **)&s->weight, &s->weight_room, n, sizeof *s->weight)
             ? COCABO_OK
             : cb_no_memory(err);
}

static void sort_neighbours(cb_descent *s, const cb_history *history, int64_t top,
                            const double *log_scales) {
  double rate[CB_PARABOLA_MOST_INPUTS];
  for (int j = 0; j < s->d; j++)
    rate[j] = cb_exp(-log_scales[j]);
  for (int64_t i = 0; i < history->n; i++) {
    const double *x = x_of(history, i), *x0 = x_of(history, top);
    double sum = 0.0;
    for (int j = 0; j < s->d; j++) {
      const double apart = (x[j] - x0[j]) * rate[j];
      sum += apart * apart;
    }
    s->neighbours[i] = (neighbour){sum, i};
  }
  qsort(s->neighbours, (size_t)history->n, sizeof *s->neighbours, nearest_first);
}

/* z = (x - top) / unit, unit the distance of the farthest in length scales; the values
 * are gaps in units of their median, and count the less the larger they are. False if
 * the median is the top. */
static bool gather(cb_descent *s, const cb_history *history, int64_t top, int n,
                   const double *unit) {
  for (int i = 0; i < n; i++) {
    const int64_t row = s->neighbours[i].row;
    const double *x = x_of(history, row), *x0 = x_of(history, top);
    s->gaps[i] = 0.5 * history->y[top] - 0.5 * history->y[row];
    for (int j = 0; j < s->d; j++)
      s->z[cb_at(j, i, s->d)] = (x[j] - x0[j]) / unit[j];
  }
  const double m = median_gap(s, n);
  for (int i = 0; i < n && m > 0.0; i++) {
    s->gaps[i] = fmin(s->gaps[i] / m, DBL_MAX);
    const double scale = s->gaps[i] + CLOSE;
    s->weight[i] = 1.0 / (scale * scale);
  }
  return m > 0.0;
}

cocabo_status cb_descent_find(cb_descent *s, const cb_history *history, int64_t top,
                              const double *log_scales, bool many, const double *lower,
                              const double *upper, double *x, bool *found,
                              cocabo_error *err) {
  double unit[CB_PARABOLA_MOST_INPUTS] = {0}, z[CB_PARABOLA_MOST_INPUTS] = {0};
  double low[CB_PARABOLA_MOST_INPUTS], high[CB_PARABOLA_MOST_INPUTS];
  const double *x0 = x_of(history, top);
  const int d = s->d;
  *found = false;
  if (d > CB_PARABOLA_MOST_INPUTS)
    return COCABO_OK;
  const double terms = cb_parabola_terms(d);
  const int enough = (int)ceil(BARELY * terms) + SPARE;
  const int wanted = many ? (int)ceil(MANY * terms) + SPARE : enough;
  const int n = history->n < wanted ? (int)history->n : wanted;
  if (n < enough)
    return COCABO_OK;
  CB_TRY(make_room(s, (size_t)history->n, (size_t)n, err));
  sort_neighbours(s, history, top, log_scales);
  const double radius = sqrt(s->neighbours[n - 1].apart);
  if (!(radius > 0.0))
    return COCABO_OK;
  for (int j = 0; j < d; j++) {
    unit[j] = radius * cb_exp(log_scales[j]);
    low[j] = (lower[j] - x0[j]) / unit[j];
    high[j] = (upper[j] - x0[j]) / unit[j];
  }
  *found = gather(s, history, top, n, unit) &&
           cb_parabola_fit(d, n, s->z, s->weight, s->gaps, s->coefficients, s->work) &&
           cb_parabola_lowest(d, s->coefficients, low, high, z) < 0.0;
  for (int j = 0; j < d && *found; j++)
    x[j] = fmin(fmax(x0[j] + z[j] * unit[j], lower[j]), upper[j]);
  return COCABO_OK;
}
