#include "search/search.h"

#include <math.h>
#include <stdbool.h>

#include "base/mem.h"
#include "base/minimise.h"
#include "base/status.h"

struct cb_search {
  int d;
  cb_minimiser *minimiser;
  double *candidates;    /* d x m, m as many as there is room for */
  double *mu, *sd;       /* m */
  double *value;         /* m */
  double *lower, *upper; /* d: the cube */
  double *dmu, *dsd;     /* d */
  int *ranking;          /* m: indices, the best `keep` sorted */
};

cocabo_status cb_search_new(cb_search **out, int d, int m, cocabo_error *err) {
  *out = NULL;
  const size_t dd = (size_t)d, mm = (size_t)m, doubles = dd * mm + 3 * mm + 4 * dd;
  cb_search *s = cb_calloc(1, sizeof *s + doubles * sizeof(double) + mm * sizeof(int));
  if (!s)
    return cb_no_memory(err);
  const cocabo_status status = cb_minimiser_new(&s->minimiser, d, err);
  if (status != COCABO_OK) {
    cb_free(s);
    return status;
  }
  double *p = (double *)(s + 1);
  s->d = d;
  s->candidates = p, p += dd * mm;
  s->mu = p, p += mm;
  s->sd = p, p += mm;
  s->value = p, p += mm;
  s->lower = p, p += dd;
  s->upper = p, p += dd;
  s->dmu = p, p += dd;
  s->dsd = p, p += dd;
  s->ranking = (int *)p;
  for (int j = 0; j < d; j++) {
    s->lower[j] = -1.0;
    s->upper[j] = 1.0;
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

double *cb_search_candidates(cb_search *search) {
  return search->candidates;
}

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

void cb_search_score(cb_search *s, cb_gp *gp, const cb_acquire *acquire, int count,
                     int keep) {
  cb_gp_predict(gp, count, s->candidates, s->mu, s->sd);
  for (int i = 0; i < count; i++)
    s->value[i] = cb_acquire_value(acquire, s->mu[i], s->sd[i], NULL, NULL);
  cb_rank_best(count, s->value, keep, s->ranking);
}

const double *cb_search_ranked(const cb_search *s, int rank, double *value) {
  const int i = s->ranking[rank];
  if (value)
    *value = s->value[i];
  return s->candidates + cb_at(0, i, s->d);
}

typedef struct {
  cb_search *search;
  cb_gp *gp;
  const cb_acquire *acquire;
} climb;

static double negative(void *context, const double *x, double *gradient) {
  const climb *c = context;
  const cb_search *s = c->search;
  double mu, sd, by_mu, by_sd;
  cb_gp_predict_gradient(c->gp, x, &mu, &sd, s->dmu, s->dsd);
  const double value = cb_acquire_value(c->acquire, mu, sd, &by_mu, &by_sd);
  for (int j = 0; j < s->d; j++)
    gradient[j] = -(by_mu * s->dmu[j] + by_sd * s->dsd[j]);
  return -value;
}

double cb_search_climb(cb_search *search, cb_gp *gp, const cb_acquire *acquire,
                       double *x) {
  climb c = {search, gp, acquire};
  const cb_minimise_limits limits = {
      .max_evaluations = 50, .f_tolerance = 1e-9, .grad_tolerance = 1e-6};
  return -cb_minimise(search->minimiser, x, search->lower, search->upper, negative, &c,
                      &limits);
}
