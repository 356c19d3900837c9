/* learner.h - a surrogate that learns as the paper says: all of it anew at rounds 10,
 * 20, 30 ... (cb_fit_due_by_rounds), from the last fit and from random restarts.
 */
#ifndef CB_SAMPLER_LEARNER_H
#define CB_SAMPLER_LEARNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "log/history.h"
#include "model/gp_fit.h"
#include "model/kernel.h"
#include "sampler/sampler.h"
#include "sampler/surrogate.h"
#include "search/search.h"

/* What a model learns: y, cut off far below the median (cb_cut_far_below) unless the
 * user wants it kept. Starts as {0}; released with cb_targets_free. */
typedef struct cb_targets {
  double *y;        /* a row of the history each; owned */
  double *variance; /* of y, carried along; owned */
  bool noisy;       /* is one of them above 0? */
  double worst;     /* of y, 0 if there is none */
  size_t room, variance_room;
} cb_targets;
cocabo_status cb_targets_set(cb_targets *targets, const cb_history *history,
                             const cb_settings *settings, cocabo_error *err);
void cb_targets_free(cb_targets *targets);

typedef struct cb_learner {
  const cb_settings *settings; /* borrowed; this, spec and box are its creator's */
  cb_kernel_spec spec;
  cb_theta_box box;
  cb_surrogate *surrogate;
  cb_targets targets; /* of the history that was followed last */
} cb_learner;

/* Makes the surrogate; the space is borrowed from the study. */
cocabo_status cb_learner_open(cb_learner *learner, const cocabo_space *space,
                              cocabo_error *err);
void cb_learner_close(cb_learner *learner);

/* Takes in what is new, with the hyper-parameters of the request's fit. */
cocabo_status cb_learner_follow(cb_learner *learner, const cb_ask *ask,
                                cocabo_error *err);

/* A sampler's fit, n_theta, best, expect, predict and rerun; the last with its search,
 * of pools up to so many points. */
cocabo_status cb_learner_fit(cb_learner *learner, const cb_ask *ask, cb_fit *out,
                             cocabo_error *err);
int cb_learner_n_theta(const cb_learner *learner);
cocabo_status cb_learner_best(cb_learner *learner, const cb_ask *ask, int64_t *row,
                              cocabo_error *err);
cocabo_status cb_learner_expect(cb_learner *learner, const cb_ask *ask,
                                const cb_trial *trial, double *mean, double *se,
                                cocabo_error *err);
cocabo_status cb_learner_predict(cb_learner *learner, const cb_ask *ask, int n,
                                 const double *x, const int32_t *h, double *mean,
                                 double *sd, cocabo_error *err);
cocabo_status cb_learner_rerun(cb_learner *learner, const cb_ask *ask,
                               cb_search *search, int pool, int64_t *row,
                               double *gain_new, double *gain_again, cocabo_error *err);

#endif
