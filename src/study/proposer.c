/* proposer.c - a sampler with its cache, and the name of what it proposes. */
#include "study/proposer.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/status.h"
#include "sampler/samplers.h"

void cb_proposer_clear(cb_proposer *p) {
  if (p->sampler)
    p->sampler->destroy(p->state);
  p->sampler = NULL;
  p->state = NULL;
  cb_free(p->learnt.theta);
  p->learnt = (cb_fit){0};
  p->best_n = 0;
}

static cocabo_status need_state(cb_proposer *p, const cb_fold *fold,
                                cocabo_error *err) {
  if (p->sampler && p->model == fold->model)
    return COCABO_OK;
  cb_proposer_clear(p);
  const cb_sampler *sampler = fold->resolved.sampler;
  CB_TRY(
      sampler->create(&p->state, fold->history->space, &fold->resolved.settings, err));
  p->sampler = sampler;
  p->model = fold->model;
  return COCABO_OK;
}

/* A sampler reads theta as it lies; a log may say anything. */
static cocabo_status check_fit(const cb_proposer *p, const cb_fit *fit,
                               cocabo_error *err) {
  const int has = fit ? fit->n_theta : 0;
  const int want = p->sampler->n_theta ? p->sampler->n_theta(p->state) : 0;
  const int more = p->sampler->more_theta ? p->sampler->more_theta(p->state) : 0;
  if (has == 0 || has == want || has == want + more)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STATE,
                 "the last fit in the log has %d numbers, want %d for sampler %s: the "
                 "log is damaged",
                 has, want, p->sampler->name);
}

cocabo_status cb_proposer_prepare(cb_proposer *p, const cb_fold *fold,
                                  const cb_fit *fit, cocabo_error *err) {
  CB_TRY(need_state(p, fold, err));
  return check_fit(p, fit, err);
}

cb_ask cb_proposer_request(const cb_proposer *p, const cb_fold *fold, const cb_fit *fit,
                           int64_t number, int n) {
  return (cb_ask){.history = fold->history,
                  .fit = fit,
                  .settings = &fold->resolved.settings,
                  .number = number,
                  .batch = n,
                  .interrupt = p->interrupt,
                  .user = p->user};
}

cocabo_status cb_propose(cb_proposer *p, const cb_fold *fold, const cb_fit *fit,
                         cb_origin origin, int64_t number, int n, cb_proposal *out,
                         cocabo_error *err) {
  const cb_ask ask = cb_proposer_request(p, fold, fit, number, n);
  CB_TRY(cb_ask_poll(&ask, err));
  if (origin == CB_BY_DESIGN)
    return cb_design_propose(&ask, out, err);
  CB_TRY(cb_proposer_prepare(p, fold, fit, err));
  return p->sampler->propose(p->state, &ask, out, err);
}

/* ---- judging --------------------------------------------------------------------- */

/* The fit of the log, or one that is made for this purpose. */
static cocabo_status learn(cb_proposer *p, cb_ask *ask, cocabo_error *err) {
  const cb_history *history = ask->history;
  if (!p->sampler->fit || cb_ask_has_model(ask))
    return COCABO_OK;
  if (!p->learnt.theta || p->learnt.rows != history->n) {
    cb_fit fit = {0};
    const cocabo_status status = p->sampler->fit(p->state, ask, &fit, err);
    if (status != COCABO_OK) {
      cb_free(fit.theta);
      return status;
    }
    fit.basis = history->seq;
    fit.rows = history->n;
    fit.round = history->n_rounds;
    cb_free(p->learnt.theta);
    p->learnt = fit;
  }
  ask->fit = &p->learnt;
  return COCABO_OK;
}

/* A request whose model has learnt. It is numbered by the results, and not by the
 * trials: the same results get the same answer, however many trials run. */
static cocabo_status ready(cb_proposer *p, const cb_fold *fold, cb_ask *out,
                           cocabo_error *err) {
  const cb_history *history = fold->history;
  const cb_fit *fit = cb_history_fit(history);
  CB_TRY(cb_proposer_prepare(p, fold, fit, err));
  *out = cb_proposer_request(p, fold, fit, history->n, 1);
  return learn(p, out, err);
}

enum { LEAST = 2 }; /* results that a model learns from */

cocabo_status cb_proposer_best(cb_proposer *p, const cb_fold *fold, int64_t *row,
                               cocabo_error *err) {
  const cb_history *history = fold->history;
  cb_ask ask;
  if (!fold->resolved.sampler->best || history->n < LEAST)
    return COCABO_OK;
  CB_TRY(cb_proposer_prepare(p, fold, cb_history_fit(history), err));
  if (p->best_n != history->n || p->best_failed != history->n_failed ||
      p->best_basis != history->fit.basis) {
    CB_TRY(ready(p, fold, &ask, err));
    CB_TRY(p->sampler->best(p->state, &ask, &p->best, err));
    p->best_n = history->n;
    p->best_failed = history->n_failed;
    p->best_basis = history->fit.basis;
  }
  *row = p->best;
  return COCABO_OK;
}

cocabo_status cb_proposer_expect(cb_proposer *p, const cb_fold *fold,
                                 const cb_trial *trial, double *mean, double *se,
                                 cocabo_error *err) {
  const cb_history *history = fold->history;
  const cb_sampler *sampler = fold->resolved.sampler;
  cb_ask ask;
  if (!sampler->expect)
    return cb_fail(err, COCABO_E_STATE,
                   "sampler %s has no model that would expect anything", sampler->name);
  if (history->n < LEAST)
    return cb_fail(err, COCABO_E_STATE,
                   "a model needs %d complete trials to expect anything, and there is "
                   "%d",
                   LEAST, (int)history->n);
  CB_TRY(ready(p, fold, &ask, err));
  return p->sampler->expect(p->state, &ask, trial, mean, se, err);
}

const char *cb_fingerprint(const cb_fold *fold, cb_origin origin,
                           char out[static CB_FINGERPRINT]) {
  const cb_sampler *sampler = fold->resolved.sampler;
  if (origin == CB_BY_DESIGN)
    snprintf(out, CB_FINGERPRINT, "design %d", CB_DESIGN_REVISION);
  else
    snprintf(out, CB_FINGERPRINT, "%s %d", sampler->name, sampler->revision);
  return out;
}
