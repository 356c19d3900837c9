/* proposer.c - a sampler with its cache, and the name of what it proposes. */
#include "study/proposer.h"

#include <stdio.h>

#include "base/status.h"

void cb_proposer_clear(cb_proposer *p) {
  if (p->sampler)
    p->sampler->destroy(p->state);
  p->sampler = NULL;
  p->state = NULL;
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
  if (has == 0 || has == want)
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

cocabo_status cb_proposer_best(cb_proposer *p, const cb_fold *fold, int64_t *row,
                               cocabo_error *err) {
  const cb_history *history = fold->history;
  const cb_fit *fit = cb_history_fit(history);
  const cb_ask ask = cb_proposer_request(p, fold, fit, history->n_trials, 1);
  CB_TRY(cb_proposer_prepare(p, fold, fit, err));
  return p->sampler->best ? p->sampler->best(p->state, &ask, row, err) : COCABO_OK;
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
