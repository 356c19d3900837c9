/* mixed.c - the default sampler: the paper's surrogate idea, without its bandits.
 *
 * EXP3 must spend gamma/N of every draw on every category, however sure it is; the GP
 * knows more. So the acquisition is maximised over x and h together, on a kernel whose
 * weights and rates are all learnt (model/kernel.h, CB_FREE).
 *
 *   refit       after every result while there are few, then every max(10, n/20), at
 *               least every 100
 *   two models  y itself, but for values so far below the median that they say nothing
 *               about the top; and y warped, so that the top is spread out, if the
 *               evidence is for it or values had to be cut off
 *   turns       UCB on the plain model, LogEI on the plain, LogEI on the warped one:
 *               each of them alone gets stuck on some problem. Every other UCB only
 *               looks at points whose deviation is large enough to learn from. From
 *               SHARPEN_FROM results on the warped model has its turn in any case: by
 *               then it is the numbers that want refining (decision 0027)
 *   numbers     without categories every fourth turn is such a UCB, the others LogEI,
 *               all on the warped model and in a trust region around the incumbent. It
 *               holds the next levels of a grid, however narrow it is, but on odd
 *               turns, when those that are far apart stay and the others move. Odd
 *               trials are for what one region would miss: while it stalls they look
 *               everywhere, by the plain model, and into niches in turn; before, they
 *               go by the plain model if that finds values rough (decision 0028)
 *   descents    while the trust region stalls every fourth trial is where a parabola
 *               through the results around the incumbent is lowest in it: barely enough
 *               of them and many in turn (decision 0029)
 *   rough       with numbers only the plain model learns how much of the values is
 *               noise to it. What is not noise in truth a new point may gain by, so
 *               that LogEI is of the value, not of the latent function
 *               With categories the plain model stays exact, and a fit of its own says
 *               how rough values are. Where they are, every other UCB is LogEI on the
 *               warped model instead (decision 0031)
 *   categories  with them the design is short, and what it lacks of random points comes
 *               later, one in four (decision 0025)
 *   revisits    every seventh trial, and every third when nothing improves, has the
 *               incumbent's categories but for one: the change with the highest upper
 *               bound of those never tried, then two at a time or, not in stagnation,
 *               the level that was tried least (decisions 0026, 0028, 0029 and 0030);
 *               never to what the models expect to fail (decision 0034)
 *   doubt       when nothing improves and no change of one category is untried, every
 *               other of those turns doubts the length scales: LogEI of the warped
 *               model with short ones. A number without an effect so far is moved only
 *               to the ends of its range, and one that matters near the top alone has
 *               no other way to be found (decision 0030)
 *   conditions  what is inactive at the incumbent is looked for around its best known
 *               value. Values far below the median are not cut off but bent: a whole
 *               branch may lie there (decision 0017)
 *   repeats     the more results repeat what their neighbours said, the less sure
 *               points must be (decisions 0028 and 0033)
 *   batches     every point before it is a fantasy at its posterior mean. Fantasies
 *               make the model overconfident, so with many of them every other point
 *               explores; beyond MOST_FANTASIES the model takes no more of them, and a
 *               point is chosen for its distance from the rest of the batch
 *
 * Proposals are counted k = 0, 1, 2, ... after the design; k decides whose turn it is.
 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"
#include "model/gp.h"
#include "model/gp_fit.h"
#include "sampler/descent.h"
#include "sampler/feasibility.h"
#include "sampler/judge.h"
#include "sampler/repeats.h"
#include "sampler/rerun.h"
#include "sampler/revisit.h"
#include "sampler/sampler.h"
#include "sampler/samplers.h"
#include "sampler/surrogate.h"
#include "sampler/trust.h"
#include "search/search.h"

enum {
  POOL = 1000,         /* of the search, */
  SCREENED_POOL = 640, /* and from so many results on: */
  SCREENED_FROM = 100,
  LIMITED_POOL = 160, /* from so many on, where feasibility is modelled: every */
  LIMITED_STARTS = 2, /* candidate costs several models, and climbs make up for it */
  LIMITED_EVALUATIONS = 10,
  CLIMB_EVALUATIONS = 15,
  STARTS = 5,
  MANY_STARTS = 3, /* from so many results on */
  MANY_FROM = 150,
  LATER_POOL = 250, /* for the second and later points of a batch, */
  LATER_STARTS = 2, /* and one for those after the first few */
  FEW_POINTS = 4,
  CROWD = 8,            /* fantasies from which on every other point explores, */
  MOST_FANTASIES = 128, /* and from which on the model takes no more */
  FIRST_RESTARTS = 3,   /* of the first fit, besides the start, */
  FIRST_ROWS = 100,     /* on so many results */
  FIT_ROWS = 500,       /* results that a fit sees */
  FIT_EVALUATIONS = 60, /* of the likelihood while they are cheap */
  FEW_EVALUATIONS = 40, /* beyond FEW_RESULTS of them, */
  FEW_RESULTS = 60,
  LEAST_EVALUATIONS = 12, /* and when each result is no longer followed by a fit */
  EVERY_RESULT = 150,     /* results up to which it is */
  LONGEST_WAIT = 100,     /* results between two fits, at most */
  TURNS = 3,
  NUMBERS_TURNS = 4,  /* without categories */
  LOST_TURNS = 3,     /* while nothing is feasible */
  SHARPEN_FROM = 100, /* results, see above */
  ROUGH_FROM = 40,    /* results that tell how rough values are */
  SPREAD = 4,         /* one turn in so many is random, while the design lacks points */
  REVISIT = 7, /* one trial in so many goes back to a level; prime to all turns, */
  REVISIT_FROM = 25, /* from so many results on; */
  STAGNATION = 8     /* after so many without an improvement one turn in TURNS too */
};

static const double LONGEST_SCALE = 0.5;  /* of a number, in [-1,1], when in doubt, */
static const double LEAST_RATE = 0.1;     /* and of a category */
static const double WARP_FLOOR = 0.05;    /* of the median gap */
static const double LEARN = 0.05;         /* least deviation of a UCB that must learn */
static const double LEAST_GAIN = 1e-3;    /* log posterior: less ends a fit */
static const double CLEAR_EVIDENCE = 3.0; /* log posterior that the warp must win by */
static const double ROUGH = 1e-3; /* share of the variance: less noise is none; */
static const double ROUGH_LEVELS = 3e-3; /* and with categories */

/* A fit has two models. The third is the warped one with short scales. */
enum { PLAIN, WARPED, N_MODELS, SHORT = N_MODELS, N_SURROGATES };

/* Everything here is a cache of what the history implies. */
typedef struct {
  const cocabo_space *space; /* borrowed from the study */
  const cb_settings *settings;
  cb_kernel_spec spec;
  cb_theta_box boxes[N_MODELS];
  cb_theta_box loose;                     /* of the plain model, were values rough */
  cb_surrogate *surrogates[N_SURROGATES]; /* the short one with categories */
  double *short_theta;                    /* of the short model, while it is open */
  cb_search *search;
  cb_feasibility *feasibility;
  cb_descent *descent;         /* with numbers only */
  double *targets[N_MODELS];   /* n: (y - top) / 2, cut off below; and warped */
  double *variances[N_MODELS]; /* n: of the targets, */
  bool noisy;                  /* if any of the history's is known */
  size_t room[N_MODELS], variances_room[N_MODELS];
  int64_t *seen; /* of each level of a category, to be inactive included */
  bool *near;    /* n: results that are near known niches */
  size_t near_room;
  double half_top; /* the value that matters, halved */
  double half_gap; /* between it and the median y, halved */
  bool cut;        /* was a value cut off? */

  /* Of the batch that is being proposed. */
  cb_trust trust;
  int64_t top[N_SURROGATES];   /* row of the incumbent, or -1 */
  double best[N_SURROGATES];   /* the best target in the model's units */
  int fantasies[N_SURROGATES]; /* points of the batch that are in the model */
  double *batch_x;             /* d x b: its points so far */
  int32_t *batch_h;            /* c x b */
  size_t batch_x_room, batch_h_room;
} mixed;

/* What a fit says: is the warp worth it, how rough are values where there are
 * categories, theta of both models, then of the constraints and, if it saw enough
 * failures, of success. */
enum { FIT_WARP, FIT_ROUGH, FIT_THETA };

/* What it says of the warp; 0 where the warped model has no fit of its own. */
static const double FITTED = 0.5;
static const double WORTH_IT = 1.0;

static int theta_count(const mixed *s) {
  return cb_theta_lay_out(&s->spec).count;
}

/* Whose targets a model has. */
static int targets_of(int model) {
  return model == SHORT ? WARPED : model;
}

static const double *theta_of(const mixed *s, const cb_fit *fit, int model) {
  if (model == SHORT)
    return s->short_theta;
  return fit ? fit->theta + FIT_THETA + (ptrdiff_t)model * theta_count(s)
             : s->boxes[model].start;
}

/* ---- building -------------------------------------------------------------------- */

static void destroy(void *state) {
  mixed *s = state;
  if (!s)
    return;
  for (int m = 0; m < N_SURROGATES; m++)
    cb_surrogate_free(s->surrogates[m]);
  for (int m = 0; m < N_MODELS; m++) {
    cb_free(s->targets[m]);
    cb_free(s->variances[m]);
  }
  cb_search_free(s->search);
  cb_feasibility_free(s->feasibility);
  cb_descent_free(s->descent);
  cb_free(s->short_theta);
  cb_free(s->seen);
  cb_free(s->near);
  cb_free(s->batch_x);
  cb_free(s->batch_h);
  cb_free(s);
}

static cocabo_status build(mixed *s, cocabo_error *err) {
  const cb_domain domain = cb_domain_of(s->space);
  int32_t most = 0;
  for (int j = 0; j < s->space->c; j++)
    most = cb_space_arms(s->space, j) > most ? cb_space_arms(s->space, j) : most;
  s->seen = cb_calloc((size_t)most + 1, sizeof *s->seen);
  s->short_theta = cb_calloc((size_t)theta_count(s), sizeof *s->short_theta);
  if (!s->seen || !s->short_theta)
    return cb_no_memory(err);
  for (int m = 0; m < (s->space->c > 0 ? N_SURROGATES : N_MODELS); m++)
    CB_TRY(cb_surrogate_new(&s->surrogates[m], s->space, &s->spec,
                            s->settings->model_size, err));
  CB_TRY(cb_feasibility_new(&s->feasibility, s->space, s->settings, &s->spec, err));
  if (s->space->c == 0)
    CB_TRY(cb_descent_new(&s->descent, s->space, err));
  return cb_search_new(&s->search, &domain, POOL, err);
}

static cocabo_status create(void **state, const cocabo_space *space,
                            const cb_settings *settings, cocabo_error *err) {
  *state = NULL;
  mixed *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  s->space = space;
  s->settings = settings;
  s->spec = (cb_kernel_spec){.d = space->d,
                             .c = space->c,
                             .presences = space->presences,
                             .form = CB_FREE,
                             .ard = settings->ard,
                             .sums = space->numbers > 1 && !space->conditional};
  /* With categories the plain model stays exact: to take one of them for noise costs a
   * run (decision 0028). */
  const bool noisy = !settings->deterministic;
  cb_theta_free(&s->spec, noisy || space->c == 0, &s->boxes[PLAIN]);
  cb_theta_free(&s->spec, noisy, &s->boxes[WARPED]);
  cb_theta_free(&s->spec, true, &s->loose);
  const cocabo_status status = build(s, err);
  if (status != COCABO_OK) {
    destroy(s);
    return status;
  }
  *state = s;
  return COCABO_OK;
}

/* ---- targets --------------------------------------------------------------------- */

/* The value that matters: the best of those that keep the constraints, while there is
 * one. */
static double top_value(const mixed *s, const cb_history *history) {
  const int64_t best = cb_feasibility_best(s->feasibility);
  return history->y[best >= 0 ? best : history->best];
}

/* What was cut off falls on by the logarithm of how far from the top it was. A whole
 * branch of a tree may lie down there, which must not look flat: its parameters have no
 * other results to learn from. */
static double bent(double gap, double most, double m) {
  if (gap == most)
    return gap;
  const double beyond = fmin(fabs(gap - most) / m, DBL_MAX);
  return most + copysign(m * cb_log(1.0 + beyond), gap);
}

static double warp(double gap, double m) {
  const double w = -cb_log(fmin(fabs(gap) / m, DBL_MAX) + WARP_FLOOR);
  return gap >= 0.0 ? w : -2.0 * cb_log(WARP_FLOOR) - w;
}

/* Of half a gap; `cut` is what is left of it. */
static double plain_target(const mixed *s, double gap, double cut, double m) {
  return s->space->conditional ? -bent(gap, cut, m) : -cut;
}

static double warped_target(double gap, double m) {
  return m > 0.0 ? warp(gap, m) : -gap;
}

/* What is known of how far y may be off, as the targets have it: a deviation to either
 * side of y, and half of how far the targets of those are apart. For small ones that is
 * the slope of the target; but the warp is so steep at the top that its slope there
 * would make the best value worthless. */
static cocabo_status carry_variances(mixed *s, const cb_history *history, double top,
                                     cocabo_error *err) {
  const double m = s->half_gap;
  s->noisy = cb_history_is_noisy(history);
  for (int k = 0; k < N_MODELS && s->noisy; k++)
    if (!cb_reserve((void **)&s->variances[k], &s->variances_room[k],
                    (size_t)history->n, sizeof(double)))
      return cb_no_memory(err);
  for (int64_t i = 0; i < history->n && s->noisy; i++) {
    const double half = 0.5 * sqrt(history->variance[i]);
    const double low = 0.5 * top - 0.5 * history->y[i] + half, high = low - 2.0 * half;
    const double plain = plain_target(s, high, cb_cut_gap(high, m), m) -
                         plain_target(s, low, cb_cut_gap(low, m), m);
    const double warped = warped_target(high, m) - warped_target(low, m);
    s->variances[PLAIN][i] = 0.25 * plain * plain;
    s->variances[WARPED][i] = 0.25 * warped * warped;
  }
  return COCABO_OK;
}

static const double *variances_of(const mixed *s, int model) {
  return s->noisy ? s->variances[targets_of(model)] : NULL;
}

/* Plain: how far below the top y is, but nothing is far. Warped: -log((top - y) / m +
 * floor), m the median gap; as it is if m = 0. Top and median are those of the whole
 * history. Gaps are halved, so that none overflows. A value that is better than the top
 * breaks a constraint: there the warp is continued by its mirror image, since what is
 * told apart are values like the top's.
 *
 * Everything is made of differences of y, and of quotients of those: another zero of y
 * changes nothing, nor does another unit, to the bit where the differences are exact
 * and units differ by a power of two (decision 0020). */
static cocabo_status transform(mixed *s, const cb_history *history, cocabo_error *err) {
  const size_t n = (size_t)history->n;
  for (int m = 0; m < N_MODELS; m++)
    if (!cb_reserve((void **)&s->targets[m], &s->room[m], n, sizeof(double)))
      return cb_no_memory(err);
  CB_TRY(cb_feasibility_look(s->feasibility, history, err));
  s->half_top = s->half_gap = 0.0;
  s->cut = s->noisy = false;
  if (n == 0)
    return COCABO_OK;
  const double top = top_value(s, history);
  double *plain = s->targets[PLAIN], *warped = s->targets[WARPED];
  const double m = s->half_gap = cb_cut_gaps(history, top, plain, &s->cut);
  s->half_top = 0.5 * top;
  for (size_t i = 0; i < n; i++) {
    const double gap = 0.5 * top - 0.5 * history->y[i];
    plain[i] = plain_target(s, gap, plain[i], m);
    warped[i] = warped_target(gap, m);
  }
  return carry_variances(s, history, top, err);
}

/* What the plain model says of n points, in the units of y. */
static void to_values(const mixed *s, int n, double *mean, double *sd) {
  for (int i = 0; i < n; i++) {
    mean[i] = 2.0 * (s->half_top + mean[i]);
    sd[i] *= 2.0;
  }
}

/* The sum of log dw/dy, y in units of m: dw/dy = 1 / (|top - y| + floor) = exp(w), but
 * for those above the top, where w is mirrored. */
static double log_slopes(const double *w, int n) {
  const double at_top = -cb_log(WARP_FLOOR);
  double sum = 0.0;
  for (int i = 0; i < n; i++)
    sum += w[i] > at_top ? 2.0 * at_top - w[i] : w[i];
  return sum;
}

/* ---- learning -------------------------------------------------------------------- */

static bool fit_due(const cb_ask *ask) {
  const cb_history *history = ask->history;
  const int64_t seen = ask->fit ? ask->fit->rows : 0;
  const int64_t share = history->n / 20;
  const int64_t sparse = share < 10 ? 10 : share > LONGEST_WAIT ? LONGEST_WAIT : share;
  const int64_t every = ask->settings->refit_every > 0 ? ask->settings->refit_every
                        : history->n < EVERY_RESULT    ? 1
                                                       : sparse;
  const bool too_many = history->n - seen > ask->settings->model_size;
  return history->n > 1 && (history->n - seen >= every || too_many);
}

static int evaluations_for(int64_t n) {
  return n < FEW_RESULTS    ? FIT_EVALUATIONS
         : n < EVERY_RESULT ? FEW_EVALUATIONS
                            : LEAST_EVALUATIONS;
}

static bool all_equal(int n, const double *y) {
  for (int i = 1; i < n; i++)
    if (y[i] != y[0])
      return false;
  return true;
}

/* Theta (in and out) of one model, and its log posterior where y is in units of the
 * median gap: with the standardisation's factor, and the warp's slope. Equal values
 * would teach that nothing matters, and then corners are all that is left to explore:
 * theta stays as it is. */
static cocabo_status fit_model(mixed *s, const cb_ask *ask, cb_likelihood *likelihood,
                               const cb_fit_plan *plan, int model, double *theta,
                               double *evidence, cocabo_error *err) {
  const double *targets;
  double mean, sd;
  int n;
  CB_TRY(
      cb_surrogate_targets(s->surrogates[PLAIN], s->targets[model], &n, &targets, err));
  *evidence = 0.0;
  if (all_equal(n, targets))
    return COCABO_OK;
  cb_likelihood_set_y(likelihood, targets);
  CB_TRY(cb_surrogate_variances(s->surrogates[PLAIN], variances_of(s, model),
                                likelihood, err));
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_FIT, (uint64_t)ask->number);
  CB_TRY(cb_gp_fit(likelihood, &s->spec, &s->boxes[model], plan, &rng, theta, evidence,
                   err));
  cb_moments(n, targets, &mean, &sd);
  if (model == WARPED)
    *evidence += log_slopes(targets, n) - n * cb_log(sd);
  else if (s->half_gap > 0.0) /* else there is no other to compare it with */
    *evidence -= n * cb_log(sd / s->half_gap);
  return COCABO_OK;
}

/* Is it worth asking how rough values are? Without categories the plain model itself
 * says so. */
static bool may_be_rough(const mixed *s, const cb_history *history) {
  return history->n >= ROUGH_FROM && s->space->c > 0 && s->space->numbers > 0 &&
         s->settings->deterministic && !s->noisy;
}

/* The share of the variance that the plain model would take for noise, if it might; its
 * theta is where that fit starts. The likelihood has the plain targets. Where it is not
 * worth asking, *rough stays as it is. */
static cocabo_status fit_roughness(mixed *s, const cb_ask *ask,
                                   cb_likelihood *likelihood, const cb_fit_plan *plan,
                                   const double *theta, double *rough,
                                   cocabo_error *err) {
  const int noise = cb_theta_lay_out(&s->spec).noise;
  cb_fit_plan warm = *plan;
  double loose[CB_MAX_THETA];
  if (!may_be_rough(s, ask->history))
    return COCABO_OK;
  warm.restarts = 0;
  memcpy(loose, theta, (size_t)theta_count(s) * sizeof *loose);
  loose[noise] = s->loose.start[noise];
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_FIT, (uint64_t)ask->number);
  const cocabo_status status =
      cb_gp_fit(likelihood, &s->spec, &s->loose, &warm, &rng, loose, NULL, err);
  if (status == COCABO_OK)
    *rough = cb_exp(loose[noise]);
  return status == COCABO_E_NUMERIC ? COCABO_OK : status;
}

static int n_theta(const void *state) {
  const mixed *s = state;
  return FIT_THETA + N_MODELS * theta_count(s) + cb_feasibility_theta(s->feasibility);
}

static int more_theta(const void *state) {
  const mixed *s = state;
  return cb_feasibility_success_theta(s->feasibility);
}

/* Theta of the constraints, and behind it that of success if the fit has it. */
static double *limits_theta(const mixed *s, double *theta) {
  return theta + FIT_THETA + (ptrdiff_t)N_MODELS * theta_count(s);
}

/* Both models have the same points, so they share a likelihood. */
static cocabo_status fit_models(mixed *s, const cb_ask *ask, cb_likelihood *likelihood,
                                const cb_fit_plan *plan, double *theta,
                                cocabo_error *err) {
  const size_t half = (size_t)theta_count(s);
  double *plain = theta + FIT_THETA, *warped = plain + half, evidence[N_MODELS] = {0};
  CB_TRY(fit_model(s, ask, likelihood, plan, PLAIN, plain, &evidence[PLAIN], err));
  theta[FIT_WARP] = theta[FIT_ROUGH] = 0.0;
  if (s->half_gap > 0.0) {
    CB_TRY(fit_roughness(s, ask, likelihood, plan, plain, &theta[FIT_ROUGH], err));
    const cocabo_status status =
        fit_model(s, ask, likelihood, plan, WARPED, warped, &evidence[WARPED], err);
    const bool better = evidence[WARPED] > evidence[PLAIN] + CLEAR_EVIDENCE;
    if (status != COCABO_OK && status != COCABO_E_NUMERIC)
      return status;
    if (status == COCABO_OK)
      theta[FIT_WARP] = s->cut || better ? WORTH_IT : FITTED;
  } else {
    memcpy(warped, plain, half * sizeof *theta);
  }
  return COCABO_OK;
}

static cocabo_status fit_rows(mixed *s, const cb_ask *ask, int64_t rows,
                              const cb_fit_plan *plan, double *theta,
                              cocabo_error *err) {
  cb_likelihood *likelihood;
  CB_TRY(cb_surrogate_likelihood(s->surrogates[PLAIN], ask->history, rows, &likelihood,
                                 err));
  cocabo_status status = fit_models(s, ask, likelihood, plan, theta, err);
  cb_likelihood_free(likelihood);
  if (status == COCABO_OK) {
    int64_t n;
    const int64_t *chosen = cb_surrogate_rows(s->surrogates[PLAIN], &n);
    status = cb_feasibility_fit(s->feasibility, ask, chosen, n, plan,
                                limits_theta(s, theta), err);
  }
  return status;
}

/* Where a fit starts: where the last one ended. */
static void warm_start(const mixed *s, const cb_fit *last, cb_fit *out) {
  const size_t bytes = (size_t)theta_count(s) * sizeof *out->theta;
  for (int m = 0; m < N_MODELS; m++)
    memcpy(out->theta + FIT_THETA + (ptrdiff_t)m * theta_count(s), theta_of(s, last, m),
           bytes);
  cb_feasibility_start(s->feasibility, limits_theta(s, out->theta));
  if (last) {
    const int known = last->n_theta < out->n_theta ? last->n_theta : out->n_theta;
    memcpy(out->theta, last->theta, (size_t)known * sizeof *out->theta);
  }
}

/* From where the last fit ended. The first one starts from several points; where there
 * are many results by then, on some of them, and the rest is a matter of warm starts.
 */
static cocabo_status fit(void *state, const cb_ask *ask, cb_fit *out,
                         cocabo_error *err) {
  mixed *s = state;
  const int64_t results = ask->history->n;
  const bool first = !ask->fit;
  const cb_fit_plan plan = {.restarts =
                                first && results <= FIRST_ROWS ? FIRST_RESTARTS : 0,
                            .max_evaluations = evaluations_for(results),
                            .least_gain = LEAST_GAIN,
                            .interrupt = ask->interrupt,
                            .user = ask->user};
  cb_fit_plan first_plan = plan;
  first_plan.restarts = FIRST_RESTARTS;
  first_plan.max_evaluations = FEW_EVALUATIONS;
  CB_TRY(transform(s, ask->history, err));
  out->n_theta =
      n_theta(s) + (cb_feasibility_has_failures(s->feasibility) ? more_theta(s) : 0);
  out->theta = cb_calloc((size_t)out->n_theta, sizeof *out->theta);
  if (!out->theta)
    return cb_no_memory(err);
  warm_start(s, ask->fit, out);
  if (first && results > FIRST_ROWS)
    CB_TRY(fit_rows(s, ask, FIRST_ROWS, &first_plan, out->theta, err));
  return fit_rows(s, ask, FIT_ROWS, &plan, out->theta, err);
}

/* ---- proposing ------------------------------------------------------------------- */

/* There are constraints, and no result keeps them. */
static bool lost(const mixed *s) {
  return s->settings->constraints && cb_feasibility_best(s->feasibility) < 0;
}

/* Is there a trust region? With numbers only; but where half of the values are as good
 * as the best there is nothing to stay with. */
static bool has_region(const mixed *s) {
  return s->space->c == 0 && s->settings->ard && !lost(s) && s->half_gap > 0.0;
}

/* While the trust region stalls, every other turn is not for it: a region that was
 * begun in the wrong basin never leaves it. */
static bool looks_elsewhere(const mixed *s, int64_t number) {
  return !has_region(s) || (s->trust.stalls && cb_trust_is_elsewhere(number));
}

/* Of those turns every other one looks into a niche, where LogEI is to improve on the
 * niche's own best. Everywhere, next to a good incumbent, it sees nothing but how
 * little is known: the corners of the cube. */
static bool looks_into_niche(const mixed *s, int64_t number) {
  return has_region(s) && looks_elsewhere(s, number) && number % 4 == 3 &&
         s->settings->deterministic && !s->noisy;
}

/* What the plain model takes for noise though a repeated value would be the same: the
 * variance of values around it, in its units. 0: it explains them well enough. */
static double roughness(const mixed *s, const cb_fit *fit) {
  if (s->space->c > 0 || !s->settings->deterministic || s->noisy || !fit)
    return 0.0;
  const int noise = cb_theta_lay_out(&s->spec).noise;
  const double variance = cb_exp(theta_of(s, fit, PLAIN)[noise]);
  return variance > ROUGH ? variance : 0.0;
}

/* With categories, when there are many results, the warped model has its turn whatever
 * the evidence says, which weighs all of them and not the best. */
static bool sharpens(const mixed *s, const cb_history *history) {
  return s->space->c > 0 && history->n >= SHARPEN_FROM && s->half_gap > 0.0 &&
         s->settings->deterministic && !s->noisy;
}

/* With numbers only: does the plain model have the turn of this trial? */
static bool is_plain_turn(const mixed *s, const cb_fit *fit, int64_t number) {
  if (!has_region(s))
    return false;
  return looks_elsewhere(s, number)
             ? number % 4 == 1
             : cb_trust_is_elsewhere(number) && roughness(s, fit) > 0.0;
}

/* With categories: is it the turn of a UCB that is better spent on LogEI? Where values
 * are rough a deviation says little of what there is to find, and UCB goes from one
 * gap between results to the next. */
static bool turns_to_the_top(const mixed *s, const cb_fit *fit, int64_t turn) {
  return s->space->c > 0 && turn % (2 * TURNS) == TURNS && fit &&
         fit->theta[FIT_ROUGH] > ROUGH_LEVELS;
}

static bool warp_is_worth_it(const mixed *s, const cb_ask *ask) {
  const double warp = ask->fit ? ask->fit->theta[FIT_WARP] : 0.0;
  return warp >= WORTH_IT || (warp >= FITTED && sharpens(s, ask->history));
}

/* The warped model, if it is worth it, has every third turn. With numbers only there is
 * no category to get stuck on, and it has all that are not the plain model's. */
static int model_for(const mixed *s, const cb_ask *ask, int k) {
  const int64_t turn = ask->history->n_sampled + k, number = ask->number + k;
  const bool its_turn = s->space->c == 0
                            ? !is_plain_turn(s, ask->fit, number)
                            : turn % TURNS == 2 || turns_to_the_top(s, ask->fit, turn);
  return its_turn && warp_is_worth_it(s, ask) ? WARPED : PLAIN;
}

/* By the probability to find something feasible; but on every third turn as if there
 * were no constraints, since their models know little. */
static void look_for_feasible(const mixed *s, int64_t turn, cb_acquire *acquire) {
  const bool anywhere = turn % LOST_TURNS == LOST_TURNS - 1;
  acquire->feasible = cb_feasibility_limits(s->feasibility, !anywhere);
  acquire->min_sd = 0.0;
  acquire->kind =
      acquire->feasible && !anywhere ? CB_FEASIBLE : s->settings->acquisition;
}

/* Every other point of a large batch explores, because fantasies make the model
 * overconfident. */
static cb_acquire acquisition_for(const mixed *s, const cb_ask *ask, int k,
                                  int64_t turn) {
  const cb_acquisition wish = s->settings->acquisition;
  const bool numbers = s->space->c == 0;
  const int64_t fantasies = ask->history->n_pending + k;
  const bool explores = fantasies >= CROWD && fantasies % 2 == 1;
  const bool optimistic = wish == CB_LOGEI &&
                          turn % (numbers ? NUMBERS_TURNS : TURNS) == 0 &&
                          !turns_to_the_top(s, ask->fit, turn);
  const bool must_learn = numbers ? optimistic : turn % (2 * TURNS) == 0;
  cb_acquire acquire = {.kind = explores     ? CB_EXPLORE
                                : optimistic ? CB_UCB
                                             : wish,
                        .kappa = s->settings->kappa,
                        .min_sd = must_learn ? LEARN : 0.0};
  if (lost(s))
    look_for_feasible(s, turn, &acquire);
  else
    acquire.feasible = cb_feasibility_limits(s->feasibility, true);
  return acquire;
}

/* The incumbent of model m, which follows the results, and the target to improve on. */
static void find_incumbent(mixed *s, const cb_history *history, int m) {
  const cb_surrogate *surrogate = s->surrogates[m];
  const int64_t feasible = cb_feasibility_best(s->feasibility);
  int64_t row = feasible >= 0 ? feasible : history->best;
  s->top[m] = row;
  s->best[m] = row >= 0
                   ? cb_surrogate_standardise(surrogate, s->targets[targets_of(m)][row])
                   : 0.0;
  if ((!s->settings->deterministic || s->noisy) && history->n > 0) {
    row = cb_surrogate_best_among(
        surrogate, feasible >= 0 ? cb_feasibility_rows(s->feasibility) : NULL,
        &s->best[m]);
    s->top[m] = row >= 0 ? row : s->top[m];
  }
  if (lost(s) && history->n > 0)
    s->top[m] = cb_feasibility_nearest(s->feasibility, history);
}

/* What is known of feasibility, of the rows that model m holds. */
static cocabo_status follow_limits(mixed *s, const cb_ask *ask, int m,
                                   cocabo_error *err) {
  const cb_fit *fit = ask->fit;
  int64_t n;
  const int64_t *rows = cb_surrogate_rows(s->surrogates[m], &n);
  return cb_feasibility_follow(s->feasibility, ask, rows, n,
                               fit ? limits_theta(s, fit->theta) : NULL,
                               fit && fit->n_theta > n_theta(s), s->top[m], err);
}

/* The warped model's theta with length scales cut short. What had no effect so far may
 * have one near the top: the deviation must grow along it for LogEI to look. */
static void shorten(mixed *s, const cb_fit *fit) {
  const cb_theta_layout at = cb_theta_lay_out(&s->spec);
  const int numbers = at.scales < s->space->numbers ? at.scales : s->space->numbers;
  memcpy(s->short_theta, theta_of(s, fit, WARPED),
         (size_t)at.count * sizeof *s->short_theta);
  for (int j = 0; j < numbers; j++)
    s->short_theta[j] = fmin(s->short_theta[j], cb_log(LONGEST_SCALE));
  for (int j = at.rates; at.rates >= 0 && j < at.rates + s->space->c; j++)
    s->short_theta[j] = fmax(s->short_theta[j], cb_log(LEAST_RATE));
}

/* The results as a model sees them, its incumbent, and fantasies of everything that is
 * pending; and what is known of feasibility. */
static cocabo_status open_model(mixed *s, const cb_ask *ask, int m, cocabo_error *err) {
  const cb_history *history = ask->history;
  const cb_fit *fit = ask->fit;
  cb_surrogate *surrogate = s->surrogates[m];
  if (m == SHORT)
    shorten(s, fit);
  CB_TRY(cb_surrogate_follow(surrogate, history, fit, theta_of(s, fit, m),
                             s->targets[targets_of(m)], variances_of(s, m), err));
  find_incumbent(s, history, m);
  CB_TRY(follow_limits(s, ask, m, err));
  s->fantasies[m] = 0;
  return cb_surrogate_fantasize_pending(surrogate, history, err);
}

/* And of points 0 .. k-1 of the batch, up to MOST_FANTASIES of them. */
static cocabo_status fantasize_batch(mixed *s, int m, int k, cocabo_error *err) {
  const int from = s->fantasies[m], to = k < MOST_FANTASIES ? k : MOST_FANTASIES;
  if (to <= from)
    return COCABO_OK;
  s->fantasies[m] = to;
  return cb_gp_fantasize(cb_surrogate_gp(s->surrogates[m]), to - from,
                         s->batch_x + cb_at(0, from, s->space->d),
                         s->batch_h + cb_at(0, from, s->space->c), NULL, err);
}

/* Of the ranking, the fresh point that is farthest from those of the batch that the
 * model does not know. */
static bool take_farthest(mixed *s, const cb_ask *ask, int ranked, cb_proposal *out,
                          int k) {
  const int d = s->space->d, c = s->space->c;
  double farthest = -1.0;
  int best = -1;
  for (int rank = 0; rank < ranked; rank++) {
    const double *x;
    const int32_t *h;
    double nearest = INFINITY;
    cb_search_ranked(s->search, rank, &x, &h);
    for (int i = MOST_FANTASIES; i < k && nearest > farthest; i++)
      nearest =
          fmin(nearest, cb_points_apart(s->space, x, h, s->batch_x + cb_at(0, i, d),
                                        s->batch_h + cb_at(0, i, c)));
    cb_space_decode(s->space, x, h, out[k].cells);
    if (nearest > farthest && cb_ask_is_fresh(ask, out, k, out[k].cells)) {
      farthest = nearest;
      best = rank;
    }
  }
  if (best >= 0) {
    const double *x;
    const int32_t *h;
    cb_search_ranked(s->search, best, &x, &h);
    cb_space_decode(s->space, x, h, out[k].cells);
  }
  return best >= 0;
}

/* Of the results that have row j of x (a presence) or category j, the trial with the
 * best value; NULL if none has it. */
static const cb_trial *best_with(const cb_history *history, bool category, int j) {
  const cocabo_space *space = history->space;
  const cb_trial *found = NULL;
  double best = -INFINITY;
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *t = &history->trials[history->told[i]];
    const bool has = category ? t->h[j] < cb_space_arms(space, j) : t->x[j] > 0.5;
    if (has && (!found || history->y[i] > best)) {
      found = t;
      best = history->y[i];
    }
  }
  return found;
}

/* What is inactive at the incumbent becomes what it was where it was active and the
 * value best: numbers under the same condition come from the same trial. */
static void complete(const cb_history *history, const cb_trial *top, double *x,
                     int32_t *h) {
  const cocabo_space *space = history->space;
  for (int j = 0; j < space->d; j++)
    x[j] = top->x[j];
  for (int j = 0; j < space->c; j++) {
    const bool active = top->h[j] < cb_space_arms(space, j);
    const cb_trial *other = active ? NULL : best_with(history, true, j);
    h[j] = other ? other->h[j] : top->h[j];
  }
  for (int g = space->numbers; g < space->d; g++) {
    const cb_trial *other = top->x[g] > 0.5 ? NULL : best_with(history, false, g);
    for (int j = 0; j < space->numbers && other; j++)
      if (space->params[space->numeric[j]].presence == g - space->numbers)
        x[j] = other->x[j];
    x[g] = other ? 1.0 : x[g];
  }
}

/* The initial design is short, so that the model has a say early on. The points that it
 * lacks come while there are few results, since failures are none, and then one by one
 * between those of the model, which does not look where a few bad results were: the
 * same exploration, later. */
static bool is_random_turn(const mixed *s, const cb_history *history, int64_t turn) {
  const int64_t lacking = s->settings->n_later;
  if (history->n < CB_SHORT_DESIGN)
    return turn < lacking;
  return turn % SPREAD == SPREAD - 1 && turn / SPREAD < lacking;
}

/* When nothing improves, the turns of LogEI on the plain model repeat themselves: they
 * are better used to doubt what the models are sure of. Not where trials fail, since
 * what is left to doubt lies where they do. */
static bool is_stagnant_turn(const mixed *s, int64_t turn) {
  return turn % TURNS == 1 && s->trust.since >= STAGNATION &&
         !cb_feasibility_has_failures(s->feasibility);
}

/* Are there categories, and values exact enough and plenty, to doubt the models? */
static bool may_doubt(const mixed *s, const cb_history *history) {
  return history->n >= REVISIT_FROM && s->space->c > 0 && s->space->numbers > 0 &&
         s->settings->deterministic && !s->noisy && !s->settings->constraints;
}

static bool is_regular_revisit(int64_t number) {
  return number % REVISIT == REVISIT / 2;
}

/* A level is dropped after a few bad results, and the model may be wrong about it for
 * ever: nothing else would go back there. */
static bool is_revisit(const mixed *s, const cb_history *history, int64_t number,
                       int64_t turn) {
  return may_doubt(s, history) &&
         (is_regular_revisit(number) || is_stagnant_turn(s, turn));
}

/* In stagnation, when all changes of one category were tried, two are changed rather
 * than one to its rarest level, which has had several results. */
static double share_of_pairs(int64_t number) {
  return is_regular_revisit(number) ? 0.5 : 1.0;
}

/* Is it the turn of the short model? Changes of one category that were never tried come
 * first. */
static bool doubts_scales(const mixed *s, const cb_ask *ask, int k, cb_cell *cells) {
  const cb_history *history = ask->history;
  const int64_t turn = history->n_sampled + k;
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  if (!may_doubt(s, history) || !is_stagnant_turn(s, turn) || turn / TURNS % 2 != 0 ||
      is_regular_revisit(ask->number + k) || !warp_is_worth_it(s, ask))
    return false;
  const cb_trial *top = &history->trials[history->told[history->best]];
  complete(history, top, x, h);
  return !cb_revisit_has_untried(history, top, x, h, cells);
}

/* The least deviation of a point that is worth a trial. */
static double demanded_deviation(const mixed *s, const cb_ask *ask) {
  double inv_l2[COCABO_MAX_PARAMETERS], rate[COCABO_MAX_PARAMETERS];
  cb_kernel kernel = {.inv_l2 = inv_l2, .rate = rate};
  if (!s->settings->deterministic || s->noisy || !ask->fit)
    return 0.0;
  cb_kernel_set(&kernel, &s->spec, theta_of(s, ask->fit, PLAIN));
  return cb_repeats_demand(ask->history, &kernel);
}

/* The trust region around the incumbent, or a niche, if it is the turn of one of them:
 * the plan's box and, for a niche, where its middle is and what is to be improved on.
 * lower and upper are room for the box. */
static void choose_box(mixed *s, const cb_ask *ask, int m, int k, double *lower,
                       double *upper, cb_search_plan *plan, cb_acquire *acquire) {
  const cb_history *history = ask->history;
  const double *log_scales = theta_of(s, ask->fit, m);
  const int64_t number = ask->number + k;
  if (!looks_elsewhere(s, number)) {
    const bool next_levels = (history->n_sampled + k) % 2 == 0;
    cb_trust_box(s->space, plan->x, s->trust.length, next_levels, log_scales, lower,
                 upper);
  } else {
    const int64_t row =
        looks_into_niche(s, number)
            ? cb_trust_niche(history, cb_feasibility_rows(s->feasibility), s->top[m],
                             log_scales, s->near, lower, upper)
            : -1;
    if (row < 0)
      return; /* everywhere */
    plan->x = history->trials[history->told[row]].x;
    acquire->best = cb_surrogate_standardise(s->surrogates[m], s->targets[m][row]);
  }
  plan->lower = lower;
  plan->upper = upper;
}

/* Point k of the batch from model m, which is open and has those before it. */
static void search(mixed *s, const cb_ask *ask, int m, cb_acquire acquire,
                   cb_proposal *out, int k) {
  const cb_history *history = ask->history;
  const uint64_t number = (uint64_t)ask->number + (uint64_t)k;
  const cb_trial *top =
      s->top[m] >= 0 ? &history->trials[history->told[s->top[m]]] : NULL;
  const bool crowded = k > MOST_FANTASIES, many = history->n >= SCREENED_FROM;
  const bool limited = many && acquire.feasible;
  const int starts = limited                   ? LIMITED_STARTS
                     : history->n >= MANY_FROM ? MANY_STARTS
                                               : STARTS;
  double lower[COCABO_MAX_PARAMETERS], upper[COCABO_MAX_PARAMETERS];
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  cb_search_plan plan = {.pool = k > 0     ? LATER_POOL
                                 : limited ? LIMITED_POOL
                                 : many    ? SCREENED_POOL
                                           : POOL,
                         .starts = crowded          ? 0
                                   : k == 0         ? starts
                                   : k < FEW_POINTS ? LATER_STARTS
                                                    : 1,
                         .evaluations =
                             limited ? LIMITED_EVALUATIONS : CLIMB_EVALUATIONS};
  if (top) {
    complete(history, top, x, h);
    plan.x = x;
    plan.h = h;
  }
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_ACQUIRE, number);
  if (top && m != SHORT &&
      is_revisit(s, history, (int64_t)number, history->n_sampled + k)) {
    const cb_revisit_place at = {.history = history,
                                 .gp = cb_surrogate_gp(s->surrogates[m]),
                                 .feasibility = s->feasibility,
                                 .top = top,
                                 .x = x,
                                 .cells = out[k].cells,
                                 .seen = s->seen};
    plan.fixed_h = cb_revisit(&at, share_of_pairs((int64_t)number), h, &rng);
  }
  acquire.best = s->best[m];
  acquire.rough = m == PLAIN ? roughness(s, ask->fit) : 0.0;
  if (m != SHORT) /* its deviations are no measure of what is known */
    acquire.min_sd = fmax(acquire.min_sd, demanded_deviation(s, ask));
  if (top)
    choose_box(s, ask, m, k, lower, upper, &plan, &acquire);
  const int ranked = cb_search_run(s->search, cb_surrogate_gp(s->surrogates[m]),
                                   &acquire, &plan, &rng);
  out[k].drawn = false;
  if (crowded ? take_farthest(s, ask, ranked, out, k)
              : cb_ask_take_ranked(ask, s->search, ranked, NULL, out, k))
    return;
  rng = cb_rng_make(s->settings->seed, CB_RNG_RANDOM, number);
  cb_ask_random_point(ask, &rng, out, k);
}

/* Is it the turn of a descent? Before the region stalls descents would keep it from
 * that, and nobody would look elsewhere. Not where points may fail or break a
 * constraint: the parabola knows nothing of that. */
static bool is_descent(const mixed *s, const cb_ask *ask, int64_t number) {
  return number % NUMBERS_TURNS == 2 && s->trust.stalls &&
         !looks_elsewhere(s, number) && ask->fit && s->settings->deterministic &&
         !s->noisy && !s->space->conditional &&
         !cb_feasibility_limits(s->feasibility, true);
}

/* A parabola through many results, every other time; where values are rough, always:
 * few of them say nothing but how rough they are. */
static bool goes_by_many(const mixed *s, const cb_fit *fit, int64_t number) {
  return number / NUMBERS_TURNS % 2 == 1 || roughness(s, fit) > 0.0;
}

/* Point k of the batch from a parabola, if it has one; model m is open. */
static cocabo_status descend(mixed *s, const cb_ask *ask, int m, cb_proposal *out,
                             int k, bool *done, cocabo_error *err) {
  const cb_history *history = ask->history;
  const int64_t number = ask->number + k;
  const double *log_scales = theta_of(s, ask->fit, m);
  double lower[COCABO_MAX_PARAMETERS], upper[COCABO_MAX_PARAMETERS];
  double x[COCABO_MAX_PARAMETERS];
  *done = false;
  if (!is_descent(s, ask, number))
    return COCABO_OK;
  const double *top = history->trials[history->told[s->top[m]]].x;
  cb_trust_box(s->space, top, s->trust.length, false, log_scales, lower, upper);
  for (int j = 0; j < s->space->numbers; j++)
    if (cb_space_levels(s->space, j) > 0) /* what lives on a grid stays where it is */
      lower[j] = upper[j] = top[j];
  CB_TRY(cb_descent_find(s->descent, history, s->top[m], log_scales,
                         goes_by_many(s, ask->fit, number), lower, upper, x, done,
                         err));
  if (*done) {
    cb_space_decode(s->space, x, NULL, out[k].cells);
    out[k].drawn = false;
    *done = cb_ask_is_fresh(ask, out, k, out[k].cells);
  }
  return COCABO_OK;
}

static cocabo_status select_point(mixed *s, const cb_ask *ask, bool open[N_SURROGATES],
                                  cb_proposal *out, int k, cocabo_error *err) {
  const int64_t turn = ask->history->n_sampled + k;
  const int m = doubts_scales(s, ask, k, out[k].cells) ? SHORT : model_for(s, ask, k);
  CB_TRY(cb_ask_poll(ask, err));
  if (is_random_turn(s, ask->history, turn)) {
    cb_design_point(ask, out, k);
    out[k].drawn = false;
  } else {
    if (!open[m]) {
      open[m] = true; /* from here on there may be fantasies to drop */
      CB_TRY(open_model(s, ask, m, err));
    }
    CB_TRY(fantasize_batch(s, m, k, err));
    bool done;
    CB_TRY(descend(s, ask, m, out, k, &done, err));
    if (!done)
      search(s, ask, m, acquisition_for(s, ask, k, turn), out, k);
  }
  cb_space_encode(s->space, out[k].cells, s->batch_x + cb_at(0, k, s->space->d),
                  s->batch_h + cb_at(0, k, s->space->c));
  return COCABO_OK;
}

static cocabo_status propose(void *state, const cb_ask *ask, cb_proposal *out,
                             cocabo_error *err) {
  mixed *s = state;
  const size_t n = (size_t)ask->batch;
  bool open[N_SURROGATES] = {false};
  CB_TRY(cb_ask_has_room(ask, err));
  CB_TRY(transform(s, ask->history, err));
  s->trust =
      cb_trust_follow(ask->history, cb_feasibility_rows(s->feasibility), s->half_gap);
  if (!cb_reserve((void **)&s->batch_x, &s->batch_x_room, n * (size_t)s->space->d + 1,
                  sizeof *s->batch_x) ||
      !cb_reserve((void **)&s->batch_h, &s->batch_h_room, n * (size_t)s->space->c + 1,
                  sizeof *s->batch_h) ||
      !cb_reserve((void **)&s->near, &s->near_room, (size_t)ask->history->n + 1,
                  sizeof *s->near))
    return cb_no_memory(err);
  cocabo_status status = COCABO_OK;
  for (int k = 0; k < ask->batch && status == COCABO_OK; k++)
    status = select_point(s, ask, open, out, k, err);
  for (int m = 0; m < N_SURROGATES; m++)
    if (open[m])
      cb_surrogate_drop_fantasies(s->surrogates[m]);
  return status;
}

/* ---- judging --------------------------------------------------------------------- */

/* The plain model: the warp is for finding, not for judging. It stretches the gaps
 * below the luckiest value, which are mostly noise; and the mean of what is unwarped is
 * not what the mean of the warped becomes. The plain model's mean is that of the values
 * as they were told, but for those so far below the median that they were cut. */
static cocabo_status follow_plain(mixed *s, const cb_ask *ask, cocabo_error *err) {
  return cb_surrogate_follow(s->surrogates[PLAIN], ask->history, ask->fit,
                             theta_of(s, ask->fit, PLAIN), s->targets[PLAIN],
                             variances_of(s, PLAIN), err);
}

static cb_judge judge_of(const mixed *s, const cb_ask *ask) {
  return (cb_judge){.surrogate = s->surrogates[PLAIN],
                    .spec = &s->spec,
                    .box = &s->boxes[PLAIN],
                    .theta = theta_of(s, ask->fit, PLAIN),
                    .y = s->targets[PLAIN],
                    .variance = variances_of(s, PLAIN),
                    .among = cb_feasibility_rows(s->feasibility)};
}

/* Is there doubt about the noise that is worth its price? */
static bool has_doubt(const cb_ask *ask) {
  return ask->history->n <= CB_JUDGE_MOST && !cb_ask_knows_noise(ask);
}

static cocabo_status best(void *state, const cb_ask *ask, int64_t *row,
                          cocabo_error *err) {
  mixed *s = state;
  double mean;
  CB_TRY(transform(s, ask->history, err));
  const cb_judge judge = judge_of(s, ask);
  if (has_doubt(ask))
    return cb_judge_best(&judge, ask, row, err);
  CB_TRY(follow_plain(s, ask, err));
  *row = cb_surrogate_best_among(s->surrogates[PLAIN],
                                 cb_feasibility_rows(s->feasibility), &mean);
  return COCABO_OK;
}

static cocabo_status expect(void *state, const cb_ask *ask, const cb_trial *trial,
                            double *mean, double *se, cocabo_error *err) {
  mixed *s = state;
  CB_TRY(transform(s, ask->history, err));
  const cb_judge judge = judge_of(s, ask);
  if (has_doubt(ask)) {
    CB_TRY(cb_judge_expect(&judge, ask, trial, mean, se, err));
  } else {
    CB_TRY(follow_plain(s, ask, err));
    cb_surrogate_expect(s->surrogates[PLAIN], trial->x, trial->h, mean, se);
  }
  to_values(s, 1, mean, se);
  return COCABO_OK;
}

static cocabo_status predict(void *state, const cb_ask *ask, int n, const double *x,
                             const int32_t *h, double *mean, double *sd,
                             double *feasible, cocabo_error *err) {
  mixed *s = state;
  CB_TRY(transform(s, ask->history, err));
  const cb_judge judge = judge_of(s, ask);
  const bool few = has_doubt(ask) && !s->settings->deterministic;
  if (few)
    CB_TRY(cb_judge_points(&judge, ask, n, x, h, mean, sd, err));
  CB_TRY(follow_plain(s, ask, err));
  if (!few)
    cb_surrogate_predict(s->surrogates[PLAIN], n, x, h, mean, sd);
  to_values(s, n, mean, sd);
  find_incumbent(s, ask->history, PLAIN);
  CB_TRY(follow_limits(s, ask, PLAIN, err));
  cb_feasibility_predict(s->feasibility, n, x, h, feasible);
  return COCABO_OK;
}

/* By the plain model, in whose units gains are those of y. Where nothing is feasible a
 * new point is what is needed. */
static cocabo_status rerun(void *state, const cb_ask *ask, int64_t *row,
                           double *gain_new, double *gain_again, cocabo_error *err) {
  mixed *s = state;
  *row = -1;
  *gain_new = *gain_again = 0.0;
  CB_TRY(transform(s, ask->history, err));
  if (ask->history->n < 2 || lost(s))
    return COCABO_OK;
  CB_TRY(follow_plain(s, ask, err));
  find_incumbent(s, ask->history, PLAIN);
  CB_TRY(follow_limits(s, ask, PLAIN, err));
  const cb_rerun choice = {.surrogate = s->surrogates[PLAIN],
                           .search = s->search,
                           .pool =
                               ask->history->n >= SCREENED_FROM ? SCREENED_POOL : POOL,
                           .unit = 2.0,
                           .among = cb_feasibility_rows(s->feasibility),
                           .feasible = cb_feasibility_limits(s->feasibility, true)};
  return cb_rerun_choose(&choice, ask, row, gain_new, gain_again, err);
}

const cb_sampler cb_sampler_mixed = {
    .name = "mixed",
    .revision = 20,
    .help = "a GP over numbers and categories, maximised over both together",
    .constrains = true,
    .create = create,
    .destroy = destroy,
    .fit_due = fit_due,
    .fit = fit,
    .n_theta = n_theta,
    .more_theta = more_theta,
    .propose = propose,
    .best = best,
    .expect = expect,
    .predict = predict,
    .rerun = rerun,
};
