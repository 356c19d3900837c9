/* proposer.h - the one way to a proposal, for asks and for replays of them. */
#ifndef CB_STUDY_PROPOSER_H
#define CB_STUDY_PROPOSER_H

#include <stdint.h>

#include "cocabo.h"
#include "log/history.h"
#include "sampler/sampler.h"
#include "study/view.h"

/* A sampler with its cache, which is made when it is first needed. */
typedef struct cb_proposer {
  const cb_sampler *sampler; /* whose cache it is; NULL: there is none */
  void *state;
  int64_t model; /* of the view that it was made for */
  cb_fit learnt; /* for judging only, where the log has no fit that will do; theta is
                    owned, rows says what it knows, basis that it is there */
  int64_t learnt_revised; /* and this that no row was since */
  int64_t best;           /* row of the results, */
  int64_t best_n, best_failed, best_basis, best_revised; /* found when there were so
                                                            many */
  cocabo_interrupt_fn interrupt;
  void *user;
} cb_proposer;

/* Gives the cache up. */
void cb_proposer_clear(cb_proposer *p);
/* Makes sure that there is a cache, and that it is one for the view's options. *fit,
 * which may be NULL, becomes NULL unless the sampler can read it: an earlier revision
 * of it may have learnt other numbers. The view must stay where it is in memory. */
cocabo_status cb_proposer_prepare(cb_proposer *p, const cb_view *view,
                                  const cb_fit **fit, cocabo_error *err);

/* A request for n points with the view's history and settings and with what was learnt,
 * the first of which is trial `number`. */
cb_ask cb_proposer_request(const cb_proposer *p, const cb_view *view, const cb_fit *fit,
                           int64_t number, int n);

/* Has the points proposed, by the design or by the view's sampler. */
cocabo_status cb_propose(cb_proposer *p, const cb_view *view, const cb_fit *fit,
                         cb_origin origin, int64_t number, int n, cb_proposal *out,
                         cocabo_error *err);

/* The sampler's opinion which of the results is the best, *row, if it has a model. The
 * model that judges has learnt from the log: where nobody has asked yet, from the
 * results there are, and nothing is written. The answer is kept until there is a new
 * result, failure or fit. */
cocabo_status cb_proposer_best(cb_proposer *p, const cb_view *view, int64_t *row,
                               cocabo_error *err);
/* The trial that is worth another run more than a new point is, of those with fewer
 * than `most` (0: no limit); -1: none. */
cocabo_status cb_proposer_rerun(cb_proposer *p, const cb_view *view, int64_t most,
                                int64_t *number, cocabo_error *err);
/* What that model expects of a completed trial's point: the mean of y, and its standard
 * error. COCABO_E_STATE if the sampler has no model, or too few results to learn from.
 */
cocabo_status cb_proposer_expect(cb_proposer *p, const cb_view *view,
                                 const cb_trial *trial, double *mean, double *se,
                                 cocabo_error *err);
/* And what it predicts at n points, x d x n and h c x n: the mean of y, its deviation,
 * and the probability that the point is feasible. */
cocabo_status cb_proposer_predict(cb_proposer *p, const cb_view *view, int n,
                                  const double *x, const int32_t *h, double *mean,
                                  double *sd, double *feasible, cocabo_error *err);

/* What a proposal's bits depend on besides the log, "mixed 3": who proposed, and in
 * which revision. The machine does not matter (decision 14). The view is as it was when
 * the proposal was made. Returns out. */
enum { CB_FINGERPRINT = 48 };
const char *cb_fingerprint(const cb_view *view, cb_origin origin,
                           char out[static CB_FINGERPRINT]);

#endif
