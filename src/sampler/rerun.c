/* rerun.c - the knowledge gradient of known points, and of the best new one. */
#include "sampler/rerun.h"

#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"
#include "sampler/samplers.h"
#include "search/knowledge.h"

enum {
  KNOWN = 5, /* points of highest mean that another run may be for */
  STARTS = 5,
  CLIMB_EVALUATIONS = 15
};

/* In deviations of the targets: less is not worth a run. */
static const double LEAST_GAIN = 1e-3;

_Static_assert(KNOWN + 1 <= CB_KNOWLEDGE_MOST && KNOWN + 1 <= CB_GP_JOINT,
               "known points and a new one");

/* Points side by side: the known ones, and behind them the new one. */
typedef struct {
  int known;
  int places[KNOWN]; /* in the surrogate */
  double x[(KNOWN + 1) * COCABO_MAX_PARAMETERS];
  int32_t h[(KNOWN + 1) * COCABO_MAX_PARAMETERS];
} points;

static void put_point(const cocabo_space *space, points *p, int i, const double *x,
                      const int32_t *h) {
  memcpy(p->x + cb_at(0, i, space->d), x, (size_t)space->d * sizeof *x);
  memcpy(p->h + cb_at(0, i, space->c), h, (size_t)space->c * sizeof *h);
}

static void take_known(const cb_rerun *r, const cb_history *history, points *p) {
  int64_t n;
  const int64_t *rows = cb_surrogate_rows(r->surrogate, &n);
  p->known = cb_surrogate_top(r->surrogate, r->among, KNOWN, p->places);
  for (int i = 0; i < p->known; i++) {
    const cb_trial *trial = &history->trials[history->told[rows[p->places[i]]]];
    put_point(history->space, p, i, trial->x, trial->h);
  }
}

/* The variance of one run, in the process's units, beside the noise that was learnt; 0:
 * it is not known, and what was learnt is taken for it. */
static double run_noise(const cb_rerun *r, const cb_history *history) {
  double mean, sd;
  cb_gp_scale(cb_surrogate_gp(r->surrogate), &mean, &sd);
  return cb_row_noise(history->run_variance, sd * r->unit);
}

/* The new point of highest expected improvement on `best`, behind the known ones, which
 * there are; false: there is none. */
static bool take_new(const cb_rerun *r, const cb_ask *ask, double best, points *p) {
  const cocabo_space *space = ask->history->space;
  cb_cell cells[COCABO_MAX_PARAMETERS];
  cb_proposal point = {.cells = cells};
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  const cb_acquire acquire = {.kind = CB_LOGEI, .best = best, .feasible = r->feasible};
  const cb_search_plan plan = {.x = p->x,
                               .h = p->h,
                               .pool = r->pool,
                               .starts = STARTS,
                               .evaluations = CLIMB_EVALUATIONS};
  cb_rng rng = cb_rng_make(ask->settings->seed, CB_RNG_ACQUIRE, (uint64_t)ask->number);
  const int ranked =
      cb_search_run(r->search, cb_surrogate_gp(r->surrogate), &acquire, &plan, &rng);
  if (!cb_ask_take_ranked(ask, r->search, ranked, NULL, &point, 0))
    return false;
  cb_space_encode(space, cells, x, h);
  put_point(space, p, p->known, x, h);
  return true;
}

/* That the new point keeps its limits. */
static double chance(const cb_rerun *r, const cocabo_space *space, const points *p) {
  const cb_places at = {.d = space->d,
                        .c = space->c,
                        .m = 1,
                        .x = p->x + cb_at(0, p->known, space->d),
                        .h = p->h + cb_at(0, p->known, space->c)};
  double mu, sd, log_p = 0.0;
  if (r->feasible)
    cb_feasible_score(r->feasible, &at, false, &mu, &sd, &log_p);
  return cb_exp(fmin(log_p, 0.0));
}

/* What another run of known point j gains. The run can only tell of what is in its
 * row's error, of variance v: what was learnt as noise beside known errors stays as it
 * is. With g the value of the row without that error,
 *
 *   cov(f_i, g) = v d mu_i / d y_j,   var g = v - v^2 (K^-1)_jj
 *
 * where (K^-1)_jj = (1 - d mu_j / d y_j) / noise_j. `influence` is room. */
static double worth_of_run(const cb_gp *gp, const points *p, int j, double run,
                           double *influence) {
  const int at = p->places[j];
  const double own = cb_gp_row_noise(gp, at);
  const double v = run > 0.0 ? own - cb_gp_noise(gp) : own;
  double mean[KNOWN], slope[KNOWN];
  cb_gp_influence(gp, at, influence);
  const double left = v - v * v * (1.0 - influence[at]) / own;
  const double sd = sqrt(fmax(left, 0.0) + (run > 0.0 ? run : cb_gp_noise(gp)));
  for (int i = 0; i < p->known; i++) {
    mean[i] = cb_gp_fitted(gp, p->places[i]);
    slope[i] = v * influence[p->places[i]] / sd;
  }
  return cb_knowledge_gain(p->known, mean, slope);
}

/* The known point whose run gains most; and that gain. */
static cocabo_status best_known(const cb_gp *gp, const points *p, double run, int *best,
                                double *gain, cocabo_error *err) {
  double *influence = cb_calloc((size_t)cb_gp_count(gp), sizeof *influence);
  if (!influence)
    return cb_no_memory(err);
  *best = -1;
  *gain = 0.0;
  for (int j = 0; j < p->known; j++) {
    const double worth = worth_of_run(gp, p, j, run, influence);
    if (*best < 0 || worth > *gain) {
      *best = j;
      *gain = worth;
    }
  }
  cb_free(influence);
  return COCABO_OK;
}

/* Runs of all rows beyond those that each has had. */
static double count_reruns(const cb_history *history) {
  double sum = 0.0, least = INFINITY;
  for (int64_t i = 0; i < history->n; i++) {
    const bool known = history->variance[i] > 0.0 && history->run_variance > 0.0;
    const double runs = known ? history->run_variance / history->variance[i] : 1.0;
    sum += runs;
    least = fmin(least, runs);
  }
  return sum - (double)history->n * least;
}

/* A model can be sure of what it has not seen, and another run teaches it nothing about
 * that: new points come at least as often. */
static bool may_rerun(const cb_ask *ask) {
  const int64_t sampled = ask->history->n - ask->settings->n_init;
  return count_reruns(ask->history) + 0.5 < (double)sampled;
}

static double worth_of_new(cb_gp *gp, const points *p, double noise) {
  double mean[KNOWN + 1], covariance[(KNOWN + 1) * (KNOWN + 1)];
  const int n = p->known + 1;
  cb_gp_joint(gp, n, p->x, p->h, mean, covariance);
  return cb_knowledge_of_point(n, mean, covariance, p->known, noise);
}

static cocabo_status compare(const cb_rerun *r, const cb_ask *ask, points *p,
                             int64_t *row, double *gain_new, double *gain_again,
                             cocabo_error *err) {
  cb_gp *gp = cb_surrogate_gp(r->surrogate);
  const double run = run_noise(r, ask->history);
  const double top = cb_gp_fitted(gp, p->places[0]);
  double mean, sd;
  int64_t n;
  int known = 0;
  CB_TRY(cb_surrogate_fantasize_pending(r->surrogate, ask->history, err));
  CB_TRY(cb_ask_poll(ask, err));
  CB_TRY(best_known(gp, p, run, &known, gain_again, err));
  if (take_new(r, ask, top, p))
    *gain_new =
        chance(r, ask->history->space, p) * worth_of_new(gp, p, run + cb_gp_noise(gp));
  if (*gain_again > *gain_new && *gain_again >= LEAST_GAIN && may_rerun(ask))
    *row = cb_surrogate_rows(r->surrogate, &n)[p->places[known]];
  cb_gp_scale(gp, &mean, &sd);
  *gain_new *= sd * r->unit;
  *gain_again *= sd * r->unit;
  return COCABO_OK;
}

cocabo_status cb_rerun_choose(const cb_rerun *rerun, const cb_ask *ask, int64_t *row,
                              double *gain_new, double *gain_again, cocabo_error *err) {
  points p = {0};
  *row = -1;
  *gain_new = *gain_again = 0.0;
  take_known(rerun, ask->history, &p);
  if (p.known == 0 || !(cb_ask_is_noisy(ask) || ask->history->run_variance > 0.0))
    return COCABO_OK;
  const cocabo_status status = compare(rerun, ask, &p, row, gain_new, gain_again, err);
  cb_surrogate_drop_fantasies(rerun->surrogate);
  return status;
}
