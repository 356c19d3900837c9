/* judge.c - fits a process at each level of noise, weighs the fits, and mixes what they
 * say. */
#include "sampler/judge.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"

enum { LEVELS = 7, EVALUATIONS = 40, RESTARTS = 1 };

/* Of noise, in parts of the targets' variance: from here to all of it, by equal
 * factors. A priori one is as likely as the other. */
static const double LOWEST = 1e-3;

/* Of length scales, in the [-1,1] cube. What changes within less cannot be told from
 * noise by so few results, and is taken for it: else every value could be a peak of its
 * own, and the luckiest would be the best. */
static const double SHORTEST = 0.1;

/* Fits that matter less are passed over. */
static const double LEAST_WEIGHT = 0.01;

typedef struct level {
  double theta[CB_MAX_THETA];
  double weight;
} level;

/* Learns everything but the noise. */
static cocabo_status fit_level(const cb_judge *judge, const cb_ask *ask,
                               cb_likelihood *likelihood, int k, level *out,
                               cocabo_error *err) {
  const cb_theta_layout t = cb_theta_lay_out(judge->spec);
  const cb_fit_plan plan = {.restarts = RESTARTS,
                            .max_evaluations = EVALUATIONS,
                            .least_gain = 1e-2,
                            .interrupt = ask->interrupt,
                            .user = ask->user};
  cb_theta_box box = *judge->box;
  box.start[t.noise] = cb_log(LOWEST) * (LEVELS - 1 - k) / (LEVELS - 1);
  box.lower[t.noise] = box.upper[t.noise] = box.start[t.noise];
  box.prior_sd[t.noise] = 0.0;
  memcpy(out->theta, judge->theta, (size_t)t.count * sizeof *out->theta);
  out->theta[t.noise] = box.start[t.noise];
  for (int i = 0; i < t.scales; i++) {
    box.lower[i] = fmax(box.lower[i], cb_log(SHORTEST));
    out->theta[i] = fmax(out->theta[i], box.lower[i]);
  }
  cb_rng rng = cb_rng_make(ask->settings->seed, CB_RNG_FIT, (uint64_t)ask->number);
  const cocabo_status status = cb_gp_fit(likelihood, judge->spec, &box, &plan, &rng,
                                         out->theta, &out->weight, err);
  if (status == COCABO_E_NUMERIC)
    out->weight = -INFINITY;
  return status == COCABO_E_NUMERIC ? COCABO_OK : status;
}

/* From log posteriors to parts of one. */
static void weigh(level *levels) {
  double most = -INFINITY, sum = 0.0;
  for (int k = 0; k < LEVELS; k++)
    most = fmax(most, levels[k].weight);
  for (int k = 0; k < LEVELS; k++) {
    levels[k].weight = most > -INFINITY ? cb_exp(levels[k].weight - most) : 1.0;
    if (levels[k].weight < LEAST_WEIGHT)
      levels[k].weight = 0.0;
    sum += levels[k].weight;
  }
  for (int k = 0; k < LEVELS; k++)
    levels[k].weight /= sum;
}

static cocabo_status fit_levels(const cb_judge *judge, const cb_ask *ask, level *levels,
                                cocabo_error *err) {
  const cb_history *history = ask->history;
  cb_likelihood *likelihood;
  const double *targets;
  int n;
  CB_TRY(
      cb_surrogate_likelihood(judge->surrogate, history, history->n, &likelihood, err));
  cocabo_status status =
      cb_surrogate_targets(judge->surrogate, judge->y, &n, &targets, err);
  if (status == COCABO_OK) {
    cb_likelihood_set_y(likelihood, targets);
    status = cb_surrogate_variances(judge->surrogate, judge->variance, likelihood, err);
  }
  for (int k = 0; k < LEVELS && status == COCABO_OK; k++)
    status = fit_level(judge, ask, likelihood, k, &levels[k], err);
  cb_likelihood_free(likelihood);
  return status;
}

/* The next fit's say, in the process's units, where those before it have `passed` of
 * the weight: by the law of total variance. */
static void mix(const cb_judge *judge, int64_t n, const double *x, const int32_t *h,
                double passed, double weight, double *mean, double *variance) {
  cb_gp *gp = cb_surrogate_gp(judge->surrogate);
  for (int64_t i = 0; i < n; i++) {
    double m, sd;
    cb_gp_predict(gp, 1, x + i * judge->spec->d, h + i * judge->spec->c, &m, &sd);
    const double gap = m - mean[i];
    mean[i] += gap * weight / (passed + weight);
    variance[i] += weight * sd * sd;
    if (passed > 0.0)
      variance[i] += weight * gap * (m - mean[i]);
  }
}

cocabo_status cb_judge_points(const cb_judge *judge, const cb_ask *ask, int64_t n,
                              const double *x, const int32_t *h, double *mean,
                              double *se, cocabo_error *err) {
  const cb_history *history = ask->history;
  const cb_fit all = {.rows = history->n};
  level levels[LEVELS] = {0};
  double passed = 0.0;
  assert(history->n > 1 && history->n <= CB_JUDGE_MOST);
  CB_TRY(fit_levels(judge, ask, levels, err));
  weigh(levels);
  for (int64_t i = 0; i < n; i++)
    mean[i] = se[i] = 0.0;
  for (int k = 0; k < LEVELS; k++) {
    if (levels[k].weight == 0.0)
      continue;
    CB_TRY(cb_surrogate_follow(judge->surrogate, history, &all, levels[k].theta,
                               judge->y, judge->variance, err));
    mix(judge, n, x, h, passed, levels[k].weight, mean, se);
    passed += levels[k].weight;
  }
  double centre, unit;
  cb_gp_scale(cb_surrogate_gp(judge->surrogate), &centre, &unit);
  for (int64_t i = 0; i < n; i++) {
    mean[i] = 2.0 * (0.5 * centre + 0.5 * unit * mean[i]); /* no sum overflows */
    se[i] = unit * sqrt(se[i]);
  }
  return COCABO_OK;
}

static void copy_results(const cb_judge *judge, const cb_history *history, double *x,
                         int32_t *h) {
  const size_t d = (size_t)judge->spec->d, c = (size_t)judge->spec->c;
  for (size_t i = 0; i < (size_t)history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    if (d > 0)
      memcpy(x + i * d, trial->x, d * sizeof *x);
    if (c > 0)
      memcpy(h + i * c, trial->h, c * sizeof *h);
  }
}

cocabo_status cb_judge_results(const cb_judge *judge, const cb_ask *ask, double *mean,
                               double *se, cocabo_error *err) {
  const cb_history *history = ask->history;
  const size_t n = (size_t)history->n;
  double *x = cb_calloc(n * (size_t)judge->spec->d, sizeof *x);
  int32_t *h = cb_calloc(n * (size_t)judge->spec->c, sizeof *h);
  cocabo_status status;
  if (x && h) {
    copy_results(judge, history, x, h);
    status = cb_judge_points(judge, ask, history->n, x, h, mean, se, err);
  } else {
    status = cb_no_memory(err);
  }
  cb_free(x);
  cb_free(h);
  return status;
}

cocabo_status cb_judge_best(const cb_judge *judge, const cb_ask *ask, int64_t *row,
                            cocabo_error *err) {
  double mean[CB_JUDGE_MOST] = {0.0}, se[CB_JUDGE_MOST] = {0.0};
  CB_TRY(cb_judge_results(judge, ask, mean, se, err));
  *row = -1;
  for (int64_t i = 0; i < ask->history->n; i++)
    if ((!judge->among || judge->among[i]) && (*row < 0 || mean[i] > mean[*row]))
      *row = i;
  return COCABO_OK;
}

cocabo_status cb_judge_expect(const cb_judge *judge, const cb_ask *ask,
                              const cb_trial *trial, double *mean, double *se,
                              cocabo_error *err) {
  double means[CB_JUDGE_MOST] = {0.0}, errors[CB_JUDGE_MOST] = {0.0};
  CB_TRY(cb_judge_results(judge, ask, means, errors, err));
  for (int64_t i = 0; i < ask->history->n; i++)
    if (ask->history->told[i] == trial->number) {
      *mean = means[i];
      *se = errors[i];
    }
  return COCABO_OK;
}
