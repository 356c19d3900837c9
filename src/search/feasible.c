/* feasible.c - log P and its derivatives; u, mu, sd as in feasible.h.
 *
 * An upper bound on P from an upper bound on sd: where mu is beyond the bound more
 * deviation helps, and where it is not, P may be 1.
 */
#include "search/feasible.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/special.h"

double cb_limit_value(const cb_limit *limit, double mu, double sd, double *by_mu,
                      double *by_sd) {
  const double spread = sqrt(limit->noise + sd * sd);
  const double u = (limit->bound - mu) / spread;
  double slope;
  const double value = limit->weight * cb_log_normal_cdf(u, &slope);
  slope *= limit->weight;
  if (by_mu)
    *by_mu = -slope / spread;
  if (by_sd)
    *by_sd = -slope * u * sd / (spread * spread);
  return value;
}

static double value_above(const cb_limit *limit, double mu, double sd) {
  return mu > limit->bound ? cb_limit_value(limit, mu, sd, NULL, NULL) : 0.0;
}

void cb_feasible_bind(const cb_feasible *f, const int32_t *h) {
  for (int k = 0; k < f->n; k++)
    cb_gp_bind(f->limits[k].gp, h);
}

void cb_feasible_focus(const cb_feasible *f, const double *x, const int32_t *h,
                       int points) {
  for (int k = 0; k < f->n; k++)
    cb_gp_focus(f->limits[k].gp, x, h, points);
}

/* ---- many points ----------------------------------------------------------------- */

static void predict(cb_gp *gp, const cb_places *at, bool above, double *mu,
                    double *sd) {
  if (at->swaps)
    (above ? cb_gp_screen_swaps : cb_gp_predict_swaps)(gp, at->x, at->h, at->m,
                                                       at->which, at->to, mu, sd);
  else
    (above ? cb_gp_screen : cb_gp_predict)(gp, at->m, at->x, at->bound ? NULL : at->h,
                                           mu, sd);
}

static bool ruled_out(const cb_limit *limit, const cb_places *at, int i) {
  int32_t h[COCABO_MAX_PARAMETERS];
  if (!at->swaps)
    return limit->ruled_out(limit->user, at->x + cb_at(0, i, at->d),
                            at->bound || at->c == 0 ? at->h
                                                    : at->h + cb_at(0, i, at->c));
  memcpy(h, at->h, (size_t)at->c * sizeof *h);
  h[at->which[i]] = at->to[i];
  return limit->ruled_out(limit->user, at->x, h);
}

void cb_feasible_score(const cb_feasible *f, const cb_places *at, bool above,
                       double *mu, double *sd, double *out) {
  for (int i = 0; i < at->m; i++)
    out[i] = 0.0;
  for (int k = 0; k < f->n; k++) {
    const cb_limit *limit = &f->limits[k];
    predict(limit->gp, at, above, mu, sd);
    for (int i = 0; i < at->m; i++) {
      double value = above ? value_above(limit, mu[i], sd[i])
                           : cb_limit_value(limit, mu[i], sd[i], NULL, NULL);
      if (value < limit->floor && !ruled_out(limit, at, i))
        value = limit->floor;
      out[i] += value;
    }
  }
}

/* ---- one point, with derivatives --------------------------------------------------
 */

double cb_feasible_gradient(const cb_feasible *f, int d, const double *x,
                            const int32_t *h, bool roughly, double *dmu, double *dsd,
                            double *slope) {
  double sum = 0.0;
  for (int j = 0; j < d; j++)
    slope[j] = 0.0;
  for (int k = 0; k < f->n; k++) {
    const cb_limit *limit = &f->limits[k];
    const bool rough = roughly && cb_gp_count(limit->gp) >= CB_FEASIBLE_ROUGH;
    double mu, sd, by_mu, by_sd;
    (rough ? cb_gp_screen_gradient : cb_gp_predict_gradient)(limit->gp, x, &mu, &sd,
                                                             dmu, dsd);
    const double value = cb_limit_value(limit, mu, sd, &by_mu, &by_sd);
    if (value < limit->floor && !limit->ruled_out(limit->user, x, h)) {
      sum += limit->floor; /* flat */
      continue;
    }
    sum += value;
    for (int j = 0; j < d; j++)
      slope[j] += by_mu * dmu[j] + by_sd * dsd[j];
  }
  return sum;
}
