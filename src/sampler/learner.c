/* learner.c - the targets that a model learns, and a surrogate that follows, fits and
 * judges them.
 */
#include "sampler/learner.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "sampler/judge.h"
#include "sampler/rerun.h"
#include "sampler/samplers.h"

enum { RESTARTS = 5 }; /* random ones of the hyper-parameter fit */

/* A deviation to either side of y, and how far the targets of those are apart. For what
 * is not cut off that is the variance itself. */
static double carried(double gap, double m, double variance) {
  const double half = 0.5 * sqrt(variance);
  const double apart = cb_cut_gap(gap + half, m) - cb_cut_gap(gap - half, m);
  return apart * apart;
}

static cocabo_status set_variances(cb_targets *targets, const cb_history *history,
                                   bool cut, double m, cocabo_error *err) {
  const double *y = history->y, top = y[history->best];
  if (!cb_reserve((void **)&targets->variance, &targets->variance_room,
                  (size_t)history->n, sizeof *targets->variance))
    return cb_no_memory(err);
  for (int64_t i = 0; i < history->n; i++)
    targets->variance[i] =
        cut ? carried(0.5 * top - 0.5 * y[i], m, history->variance[i])
            : history->variance[i];
  targets->noisy = true;
  return COCABO_OK;
}

cocabo_status cb_targets_set(cb_targets *targets, const cb_history *history,
                             const cb_settings *settings, cocabo_error *err) {
  const size_t n = (size_t)history->n;
  bool cut = false;
  double m = 0.0;
  if (!cb_reserve((void **)&targets->y, &targets->room, n, sizeof *targets->y))
    return cb_no_memory(err);
  targets->worst = 0.0;
  targets->noisy = false;
  if (n == 0)
    return COCABO_OK;
  if (settings->cut_outliers)
    m = cb_cut_far_below(history, targets->y, &cut);
  else
    memcpy(targets->y, history->y, n * sizeof *targets->y);
  targets->worst = targets->y[0];
  for (size_t i = 1; i < n; i++)
    targets->worst = fmin(targets->worst, targets->y[i]);
  return cb_history_is_noisy(history) ? set_variances(targets, history, cut, m, err)
                                      : COCABO_OK;
}

void cb_targets_free(cb_targets *targets) {
  cb_free(targets->y);
  cb_free(targets->variance);
}

static const double *variances(const cb_targets *targets) {
  return targets->noisy ? targets->variance : NULL;
}

cocabo_status cb_learner_open(cb_learner *learner, const cocabo_space *space,
                              cocabo_error *err) {
  return cb_surrogate_new(&learner->surrogate, space, &learner->spec,
                          learner->settings->model_size, err);
}

void cb_learner_close(cb_learner *learner) {
  cb_surrogate_free(learner->surrogate);
  cb_targets_free(&learner->targets);
}

static const double *theta_of(const cb_learner *learner, const cb_fit *fit) {
  return fit ? fit->theta : learner->box.start;
}

cocabo_status cb_learner_follow(cb_learner *learner, const cb_ask *ask,
                                cocabo_error *err) {
  CB_TRY(cb_targets_set(&learner->targets, ask->history, learner->settings, err));
  return cb_surrogate_follow(learner->surrogate, ask->history, ask->fit,
                             theta_of(learner, ask->fit), learner->targets.y,
                             variances(&learner->targets), err);
}

int cb_learner_n_theta(const cb_learner *learner) {
  return cb_theta_lay_out(&learner->spec).count;
}

cocabo_status cb_learner_fit(cb_learner *learner, const cb_ask *ask, cb_fit *out,
                             cocabo_error *err) {
  const cb_history *history = ask->history;
  const size_t n = (size_t)cb_learner_n_theta(learner);
  cb_rng rng = cb_rng_make(learner->settings->seed, CB_RNG_FIT, (uint64_t)ask->number);
  out->theta = cb_calloc(n, sizeof *out->theta);
  if (!out->theta)
    return cb_no_memory(err);
  out->n_theta = (int)n;
  memcpy(out->theta, theta_of(learner, ask->fit), n * sizeof *out->theta);
  CB_TRY(cb_targets_set(&learner->targets, history, learner->settings, err));
  return cb_surrogate_fit(learner->surrogate, ask, learner->targets.y,
                          variances(&learner->targets), &learner->box, RESTARTS, &rng,
                          out->theta, err);
}

static cb_judge judge_of(const cb_learner *learner, const cb_ask *ask) {
  return (cb_judge){.surrogate = learner->surrogate,
                    .spec = &learner->spec,
                    .box = &learner->box,
                    .theta = theta_of(learner, ask->fit),
                    .y = learner->targets.y,
                    .variance = variances(&learner->targets)};
}

/* Is there doubt about the noise that is worth its price? */
static bool has_doubt(const cb_ask *ask) {
  return ask->history->n <= CB_JUDGE_MOST && !cb_ask_knows_noise(ask);
}

cocabo_status cb_learner_best(cb_learner *learner, const cb_ask *ask, int64_t *row,
                              cocabo_error *err) {
  double mean;
  CB_TRY(cb_targets_set(&learner->targets, ask->history, learner->settings, err));
  const cb_judge judge = judge_of(learner, ask);
  if (has_doubt(ask))
    return cb_judge_best(&judge, ask, row, err);
  CB_TRY(cb_learner_follow(learner, ask, err));
  *row = cb_surrogate_best(learner->surrogate, &mean);
  return COCABO_OK;
}

cocabo_status cb_learner_expect(cb_learner *learner, const cb_ask *ask,
                                const cb_trial *trial, double *mean, double *se,
                                cocabo_error *err) {
  CB_TRY(cb_targets_set(&learner->targets, ask->history, learner->settings, err));
  const cb_judge judge = judge_of(learner, ask);
  if (has_doubt(ask))
    return cb_judge_expect(&judge, ask, trial, mean, se, err);
  CB_TRY(cb_learner_follow(learner, ask, err));
  cb_surrogate_expect(learner->surrogate, trial->x, trial->h, mean, se);
  return COCABO_OK;
}

cocabo_status cb_learner_predict(cb_learner *learner, const cb_ask *ask, int n,
                                 const double *x, const int32_t *h, double *mean,
                                 double *sd, cocabo_error *err) {
  CB_TRY(cb_targets_set(&learner->targets, ask->history, learner->settings, err));
  const cb_judge judge = judge_of(learner, ask);
  if (!learner->settings->deterministic && has_doubt(ask))
    return cb_judge_points(&judge, ask, n, x, h, mean, sd, err);
  CB_TRY(cb_learner_follow(learner, ask, err));
  cb_surrogate_predict(learner->surrogate, n, x, h, mean, sd);
  return COCABO_OK;
}

cocabo_status cb_learner_rerun(cb_learner *learner, const cb_ask *ask,
                               cb_search *search, int pool, int64_t *row,
                               double *gain_new, double *gain_again,
                               cocabo_error *err) {
  const cb_rerun choice = {
      .surrogate = learner->surrogate, .search = search, .pool = pool, .unit = 1.0};
  *row = -1;
  *gain_new = *gain_again = 0.0;
  if (ask->history->n < 2)
    return COCABO_OK;
  CB_TRY(cb_learner_follow(learner, ask, err));
  return cb_rerun_choose(&choice, ask, row, gain_new, gain_again, err);
}
