/* feasibility.h - what a history says about which points are feasible: a model of each
 * measured constraint, and one of success, learnt from trials that failed.
 *
 *   constraint  a Gaussian process on how far the metric is beyond its bound, e; by
 *               bilog(e) = sign(e) log(1 + |e| / s), s the median |e|, so that values
 * far from the bound on either side do not flatten those near it success     least
 * squares classification: a Gaussian process on labels, 1 where a trial failed and -1
 * where it did not, with a label noise of 0.1 and the mean label of all trials as its
 * prior mean. Used from two failures on
 *
 * Each has hyper-parameters of its own. A failure that the infrastructure caused does
 * not teach (cb_trial_teaches). At most CB_MOST_FAILURES are held, half of them the
 * newest and half the nearest to the incumbent; they come first in the process, so that
 * results are appended behind them and nothing is factored again until one changes.
 */
#ifndef CB_SAMPLER_FEASIBILITY_H
#define CB_SAMPLER_FEASIBILITY_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "log/history.h"
#include "model/gp_fit.h"
#include "sampler/sampler.h"
#include "search/feasible.h"

enum { CB_MOST_FAILURES = 200 };

typedef struct cb_feasibility cb_feasibility;

/* *out is owned by the caller; space and settings are borrowed from the study. */
cocabo_status cb_feasibility_new(cb_feasibility **out, const cocabo_space *space,
                                 const cb_settings *settings,
                                 const cb_kernel_spec *spec, cocabo_error *err);
void cb_feasibility_free(cb_feasibility *f); /* NULL is allowed */

/* Takes in what the history says of its results; before everything below. */
cocabo_status cb_feasibility_look(cb_feasibility *f, const cb_history *history,
                                  cocabo_error *err);
/* The best row that keeps all constraints, -1: none does; and which rows do, NULL
 * without constraints: borrowed until the next look. */
int64_t cb_feasibility_best(const cb_feasibility *f);
const bool *cb_feasibility_rows(const cb_feasibility *f);
/* The row with the least violation, where none keeps them. */
int64_t cb_feasibility_nearest(const cb_feasibility *f, const cb_history *history);

/* How many numbers the hyper-parameters of the constraints take in theta, and how many
 * follow them if the fit saw enough failures. */
int cb_feasibility_theta(const cb_feasibility *f);
int cb_feasibility_success_theta(const cb_feasibility *f);
/* Are there enough failures to learn from? */
bool cb_feasibility_has_failures(const cb_feasibility *f);

/* Learns theta, from where it is, on n rows of the history: for the constraints, and
 * for success if there are enough failures. */
cocabo_status cb_feasibility_fit(cb_feasibility *f, const cb_ask *ask,
                                 const int64_t *rows, int64_t n,
                                 const cb_fit_plan *plan, double *theta,
                                 cocabo_error *err);
/* Where learning starts. */
void cb_feasibility_start(const cb_feasibility *f, double *theta);

/* Follows the rows that a surrogate holds (cb_surrogate_rows), with theta of the fit:
 * its numbers for the constraints and, if there are more, for success; NULL: none.
 * `top` is the row of the incumbent, or -1. */
cocabo_status cb_feasibility_follow(cb_feasibility *f, const cb_ask *ask,
                                    const int64_t *rows, int64_t n, const double *theta,
                                    bool success_theta, int64_t top, cocabo_error *err);

/* What a search needs, borrowed until the next call: with the constraints, or success
 * alone. NULL: there is nothing to say, and every point is as feasible as the other. */
const cb_feasible *cb_feasibility_limits(cb_feasibility *f, bool constraints);

/* The probability to be feasible at n points, as the models have it: neither floored
 * nor weighted. After cb_feasibility_follow. */
void cb_feasibility_predict(const cb_feasibility *f, int n, const double *x,
                            const int32_t *h, double *out);

/* How often a process was factored from the beginning: for tests. */
int64_t cb_feasibility_builds(const cb_feasibility *f);

#endif
