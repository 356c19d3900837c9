/* proposer.c - a sampler with its cache, and the name of what it proposes. */
#include "study/proposer.h"

#include <stdio.h>

#include "base/mem.h"
#include "base/status.h"
#include "log/runs.h"
#include "race/race.h"
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

static cocabo_status need_state(cb_proposer *p, const cb_view *view,
                                cocabo_error *err) {
  if (p->sampler && p->model == view->model)
    return COCABO_OK;
  cb_proposer_clear(p);
  const cb_sampler *sampler = view->resolved.sampler;
  CB_TRY(sampler->create(&p->state, view->fold->history->space,
                         &view->resolved.settings, err));
  p->sampler = sampler;
  p->model = view->model;
  return COCABO_OK;
}

/* A sampler reads theta as it lies; a log may say anything. */
static bool can_read(const cb_proposer *p, const cb_fit *fit) {
  const int want = p->sampler->n_theta ? p->sampler->n_theta(p->state) : 0;
  const int more = p->sampler->more_theta ? p->sampler->more_theta(p->state) : 0;
  return fit->n_theta == want || fit->n_theta == want + more;
}

cocabo_status cb_proposer_prepare(cb_proposer *p, const cb_view *view,
                                  const cb_fit **fit, cocabo_error *err) {
  CB_TRY(need_state(p, view, err));
  CB_TRY(cb_runs_weigh(view->fold->history, err));
  if (*fit && !can_read(p, *fit))
    *fit = NULL;
  return COCABO_OK;
}

cb_ask cb_proposer_request(const cb_proposer *p, const cb_view *view, const cb_fit *fit,
                           int64_t number, int n) {
  return (cb_ask){.history = view->fold->history,
                  .fit = fit,
                  .settings = &view->resolved.settings,
                  .number = number,
                  .batch = n,
                  .interrupt = p->interrupt,
                  .user = p->user};
}

cocabo_status cb_propose(cb_proposer *p, const cb_view *view, const cb_fit *fit,
                         cb_origin origin, int64_t number, int n, cb_proposal *out,
                         cocabo_error *err) {
  cb_ask ask = cb_proposer_request(p, view, fit, number, n);
  CB_TRY(cb_ask_poll(&ask, err));
  if (origin == CB_BY_DESIGN) {
    CB_TRY(cb_design_propose(&ask, out, err));
  } else {
    CB_TRY(cb_proposer_prepare(p, view, &ask.fit, err));
    CB_TRY(p->sampler->propose(p->state, &ask, out, err));
  }
  return cb_ask_check(&ask, out, err);
}

/* ---- judging --------------------------------------------------------------------- */

/* The fit of the log, or one that is made for this purpose. */
static cocabo_status learn(cb_proposer *p, cb_ask *ask, cocabo_error *err) {
  const cb_history *history = ask->history;
  if (!p->sampler->fit || cb_ask_has_model(ask))
    return COCABO_OK;
  if (!p->learnt.theta || p->learnt.rows != history->n ||
      p->learnt_revised != history->revised) {
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
    p->learnt_revised = history->revised;
  }
  ask->fit = &p->learnt;
  return COCABO_OK;
}

/* A request whose model has learnt. It is numbered by the results, and not by the
 * trials: the same results get the same answer, however many trials run. */
static cocabo_status ready(cb_proposer *p, const cb_view *view, cb_ask *out,
                           cocabo_error *err) {
  const cb_history *history = view->fold->history;
  const cb_fit *fit = cb_history_fit(history);
  CB_TRY(cb_proposer_prepare(p, view, &fit, err));
  *out = cb_proposer_request(p, view, fit, history->n, 1);
  return learn(p, out, err);
}

enum { LEAST = 2 }; /* results that a model learns from */

cocabo_status cb_proposer_best(cb_proposer *p, const cb_view *view, int64_t *row,
                               cocabo_error *err) {
  const cb_history *history = view->fold->history;
  cb_ask ask;
  if (!view->resolved.sampler->best || history->n < LEAST)
    return COCABO_OK;
  const cb_fit *fit = cb_history_fit(history);
  CB_TRY(cb_proposer_prepare(p, view, &fit, err));
  if (p->best_n != history->n || p->best_failed != history->n_failed ||
      p->best_basis != history->fit.basis || p->best_revised != history->revised) {
    CB_TRY(ready(p, view, &ask, err));
    CB_TRY(p->sampler->best(p->state, &ask, &p->best, err));
    p->best_n = history->n;
    p->best_failed = history->n_failed;
    p->best_basis = history->fit.basis;
    p->best_revised = history->revised;
  }
  *row = p->best;
  return COCABO_OK;
}

static int64_t count_flying(const cb_trial *trial) {
  int64_t n = 0;
  for (int64_t i = 0; i < trial->n_runs; i++)
    n += trial->runs[i].outcome == 0;
  return n;
}

/* Without a model the best so far is run again with every fourth trial. */
static int64_t rerun_by_rule(const cb_history *history) {
  enum { EVERY = 4 };
  const int64_t best = cb_race_incumbent(history);
  const int64_t wanted = 1 + (history->n + history->n_failed) / EVERY;
  return best >= 0 && history->trials[best].n_counted < wanted ? best : -1;
}

cocabo_status cb_proposer_rerun(cb_proposer *p, const cb_view *view, int64_t most,
                                int64_t *number, cocabo_error *err) {
  const cb_history *history = view->fold->history;
  double by_new, by_again;
  int64_t row = -1;
  cb_ask ask;
  *number = -1;
  if (history->n < LEAST || history->n_design < view->resolved.settings.n_init)
    return COCABO_OK;
  if (!view->resolved.sampler->rerun) {
    *number = rerun_by_rule(history);
  } else {
    CB_TRY(ready(p, view, &ask, err));
    CB_TRY(p->sampler->rerun(p->state, &ask, &row, &by_new, &by_again, err));
    *number = row >= 0 ? history->told[row] : -1;
  }
  if (*number < 0)
    return COCABO_OK;
  const cb_trial *trial = &history->trials[*number];
  if (count_flying(trial) > 0 || (most > 0 && trial->n_counted >= most))
    *number = -1;
  return COCABO_OK;
}

/* Is there, or can there be, a model that would expect or predict anything? */
static cocabo_status check_model(const cb_view *view, bool there, const char *verb,
                                 cocabo_error *err) {
  const int n = (int)view->fold->history->n;
  if (!there)
    return cb_fail(err, COCABO_E_STATE,
                   "sampler %s has no model that would %s anything",
                   view->resolved.sampler->name, verb);
  if (n < LEAST)
    return cb_fail(err, COCABO_E_STATE,
                   "a model needs %d complete trials to %s anything, and there is %d",
                   LEAST, verb, n);
  return COCABO_OK;
}

cocabo_status cb_proposer_expect(cb_proposer *p, const cb_view *view,
                                 const cb_trial *trial, double *mean, double *se,
                                 cocabo_error *err) {
  cb_ask ask;
  CB_TRY(check_model(view, view->resolved.sampler->expect, "expect", err));
  CB_TRY(ready(p, view, &ask, err));
  return p->sampler->expect(p->state, &ask, trial, mean, se, err);
}

cocabo_status cb_proposer_predict(cb_proposer *p, const cb_view *view, int n,
                                  const double *x, const int32_t *h, double *mean,
                                  double *sd, double *feasible, cocabo_error *err) {
  cb_ask ask;
  CB_TRY(check_model(view, view->resolved.sampler->predict, "predict", err));
  CB_TRY(ready(p, view, &ask, err));
  for (int i = 0; i < n; i++)
    feasible[i] = 1.0;
  return p->sampler->predict(p->state, &ask, n, x, h, mean, sd, feasible, err);
}

const char *cb_fingerprint(const cb_view *view, cb_origin origin,
                           char out[static CB_FINGERPRINT]) {
  const cb_sampler *sampler = view->resolved.sampler;
  if (origin == CB_BY_DESIGN)
    snprintf(out, CB_FINGERPRINT, "design %d", CB_DESIGN_REVISION);
  else
    snprintf(out, CB_FINGERPRINT, "%s %d", sampler->name, sampler->revision);
  return out;
}
