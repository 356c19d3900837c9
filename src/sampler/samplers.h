/* samplers.h - what the samplers share: the list of them, fresh points, draws as they
 * are stored, and the paper's schedule of fits. */
#ifndef CB_SAMPLER_SAMPLERS_H
#define CB_SAMPLER_SAMPLERS_H

#include "base/rng.h"
#include "sampler/sampler.h"
#include "search/domain.h"
#include "search/search.h"

extern const cb_sampler cb_sampler_mixed;
extern const cb_sampler cb_sampler_cocabo;
extern const cb_sampler cb_sampler_random;
extern const cb_sampler cb_sampler_sobol;
extern const cb_sampler cb_sampler_tpe;
extern const cb_sampler cb_sampler_smac;
extern const cb_sampler cb_sampler_onehot;
extern const cb_sampler cb_sampler_exp3bo;

/* May these cells be proposed as point k of the batch? Not if they break a rule, nor if
 * the objective is deterministic and they are in the history or among out[0..k-1]. */
bool cb_ask_is_fresh(const cb_ask *ask, const cb_proposal *out, int k,
                     const cb_cell *cells);

/* COCABO_E_EXHAUSTED unless the space still has ask->batch fresh points. */
cocabo_status cb_ask_has_room(const cb_ask *ask, cocabo_error *err);

/* out[k].cells becomes a uniform random fresh point; call cb_ask_has_room before. */
void cb_ask_random_point(const cb_ask *ask, cb_rng *rng, cb_proposal *out, int k);

/* The same, but away from known failures: a point as those of the initial design. */
void cb_design_point(const cb_ask *ask, cb_proposal *out, int k);

/* out[k].cells becomes the best fresh point of the search's ranking, with the
 * categories h, or each point's own if h is NULL. False if none of them is fresh. */
bool cb_ask_take_ranked(const cb_ask *ask, const cb_search *search, int ranked,
                        const int32_t *h, cb_proposal *out, int k);

/* How the categories of a trial were drawn: each by an agent of its own, or the
 * combination of them by one. Studies change their samplers, and a chance of the one
 * kind says nothing to a bandit of the other: it gets NULL, as it does for a trial that
 * no bandit drew. With a single category that has several values the two are the same.
 *
 * A combination's draw is stored with the first such category. The others were certain
 * then, p = 1 and gamma = 0; with a draw of its own a category's gamma is above 0. */
const cb_draw *cb_draws_of_each(const cocabo_space *space, const cb_draw *draws);
const cb_draw *cb_draw_of_all(const cocabo_space *space, const cb_draw *draws);
void cb_store_draw_of_all(const cocabo_space *space, const cb_draw *draw,
                          cb_draw *draws);

/* out[0..n-1] become the history's y, but for values so far below the median that they
 * say nothing about the top: none is below it by more than three times the gap between
 * best and median. *cut: was there such a value? Returns half of that gap. */
double cb_cut_far_below(const cb_history *history, double *out, bool *cut);
/* out[0..n-1] become how far below `top` each y is, halved so that no gap overflows,
 * and cut off by the same rule. The top need not be the largest y: a gap above it is
 * negative, and cut off as well. Nothing here depends on where the zero of y is, nor,
 * but for the scale of the gaps, on its unit. Returns the median size of a gap. */
double cb_cut_gaps(const cb_history *history, double top, double *out, bool *cut);

/* Half a gap, cut off by that rule where the median size is m. */
double cb_cut_gap(double gap, double m);

/* Are values noisy: by the user's word, or because the variance of one is known? */
bool cb_ask_is_noisy(const cb_ask *ask);
/* Is their noise known, so that there is no doubt about it? Not where it is for the
 * model to find out that of some. */
bool cb_ask_knows_noise(const cb_ask *ask);

/* The space as cb_search sees it. */
cb_domain cb_domain_of(const cocabo_space *space);

/* Is there a fit whose model can follow the results since? There is none before the
 * first fit, and not with more than model_size results after the last. */
bool cb_ask_has_model(const cb_ask *ask);

/* Squared distance of two points: numbers, plus the categories that differ. */
double cb_points_apart(const cocabo_space *space, const double *x, const int32_t *h,
                       const double *other_x, const int32_t *other_h);

/* Of doubles, for qsort. */
int cb_ascending(const void *a, const void *b);

/* A trial, and how far it is from the incumbent. */
typedef struct cb_distant {
  double apart;
  int64_t number;
} cb_distant;
/* Of n trials in the order they came, the first of `trials` become those that count: at
 * most so many, half of them the newest and half the nearest to the incumbent, in the
 * order of their numbers. Returns how many. */
size_t cb_keep_new_and_near(cb_distant *trials, size_t n, size_t most);

/* A sampler's fit_due: every refit_every rounds, and not before the first of those; but
 * also when more than model_size results came after the last fit, since an active set
 * is only chosen from those before it. */
bool cb_fit_due_by_rounds(const cb_ask *ask);

#endif
