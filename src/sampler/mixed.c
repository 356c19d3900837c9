/* mixed.c - the default sampler: the paper's surrogate idea, without its bandits.
 *
 * EXP3 must spend gamma/N of every draw on every category, however sure it is; the GP
 * knows more. So the acquisition is maximised over x and h together, on a kernel whose
 * weights and rates are all learnt (model/kernel.h, CB_FREE).
 *
 *   refit       after every result while there are few, then every max(10, n/20)
 *   two models  y itself, but for values so far below the median that they say nothing
 *               about the top; and y warped, so that the top is spread out, if the
 *               evidence is for it or values had to be cut off
 *   turns       UCB on the plain model, LogEI on the plain, LogEI on the warped one:
 *               each of them alone gets stuck on some problem. Every other UCB only
 *               looks at points that it knows little about.
 *   numbers     without categories every fourth turn is such a UCB, the others LogEI,
 *               all on the warped model and in a trust region around the best. It
 *               holds the next levels of a grid, however narrow it is, but on odd
 *               turns, when those that are far apart stay and the others move
 *   batches     every point before it is believed to have its mean; in a crowd every
 *               other one explores
 *
 * Proposals are counted k = 0, 1, 2, ... after the design; k decides whose turn it is.
 */
#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "model/gp.h"
#include "model/gp_fit.h"
#include "sampler/sampler.h"
#include "sampler/samplers.h"
#include "sampler/surrogate.h"
#include "sampler/trust.h"
#include "search/mixed_search.h"

enum {
  POOL = 1000, /* of the search */
  STARTS = 5,
  LATER_POOL = 250, /* for the second and later points of a batch, */
  LATER_STARTS = 2, /* and one for those after the first few */
  FEW_POINTS = 4,
  CROWD = 8,            /* believers from which on every other point explores */
  FIRST_RESTARTS = 3,   /* of the first fit, besides the start */
  FIT_EVALUATIONS = 60, /* of the likelihood while they are cheap */
  FEW_EVALUATIONS = 40, /* beyond FEW_RESULTS of them, */
  FEW_RESULTS = 60,
  LEAST_EVALUATIONS = 15, /* and where each takes tens of milliseconds */
  MANY_RESULTS = 500,
  EVERY_RESULT = 150, /* results up to which each is followed by a fit */
  TURNS = 3,
  NUMBERS_TURNS = 4 /* without categories */
};

static const double WARP_FLOOR = 0.05;    /* of the median gap */
static const double LEARN = 0.05;         /* deviation that a wary UCB wants at least */
static const double CLEAR_EVIDENCE = 3.0; /* log posterior that the warp must win by */

enum { PLAIN, WARPED, N_MODELS };

/* Everything here is a cache of what the history implies. */
typedef struct {
  const cocabo_space *space; /* borrowed from the study */
  const cb_settings *settings;
  cb_kernel_spec spec;
  cb_theta_box box;
  cb_surrogate *surrogates[N_MODELS];
  cb_mixed_search *search;
  double *targets[N_MODELS]; /* n: the history's y, cut off below; and warped */
  size_t room[N_MODELS];
  double half_gap; /* between the best and the median y, halved */
  bool cut;        /* was a value cut off? */

  /* Of the batch that is being proposed. */
  int64_t top[N_MODELS];  /* row of the incumbent, or -1 */
  double best[N_MODELS];  /* its target in the model's units */
  int believed[N_MODELS]; /* points of the batch that are believers */
} mixed;

/* What a fit says: is the warp worth it, and theta of both models. */
enum { FIT_WARP, FIT_THETA };

static int theta_count(const mixed *s) {
  return cb_theta_lay_out(&s->spec).count;
}

static const double *theta_of(const mixed *s, const cb_history *history, int model) {
  return history->fit.n_theta > 0
             ? history->fit.theta + FIT_THETA + (ptrdiff_t)model * theta_count(s)
             : s->box.start;
}

/* ---- building -------------------------------------------------------------------- */

static void destroy(void *state) {
  mixed *s = state;
  if (!s)
    return;
  for (int m = 0; m < N_MODELS; m++) {
    cb_surrogate_free(s->surrogates[m]);
    cb_free(s->targets[m]);
  }
  cb_mixed_search_free(s->search);
  cb_free(s);
}

static cocabo_status build(mixed *s, cocabo_error *err) {
  const cb_domain domain = cb_domain_of(s->space);
  for (int m = 0; m < N_MODELS; m++)
    CB_TRY(cb_surrogate_new(&s->surrogates[m], s->space, &s->spec,
                            s->settings->model_size, err));
  return cb_mixed_search_new(&s->search, &domain, err);
}

static cocabo_status create(void **state, const cocabo_space *space,
                            const cb_settings *settings, cocabo_error *err) {
  *state = NULL;
  mixed *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  s->space = space;
  s->settings = settings;
  s->spec = (cb_kernel_spec){
      .d = space->d, .c = space->c, .form = CB_FREE, .ard = settings->ard};
  cb_theta_free(&s->spec, !settings->deterministic, &s->box);
  const cocabo_status status = build(s, err);
  if (status != COCABO_OK) {
    destroy(s);
    return status;
  }
  *state = s;
  return COCABO_OK;
}

/* ---- targets --------------------------------------------------------------------- */

/* Plain: y, but nothing far below the median. Warped: -log((max y - y) / m + floor), m
 * the median gap; y if m = 0. Maximum and median are those of the whole history. Gaps
 * are halved, so that none overflows. */
static cocabo_status transform(mixed *s, const cb_history *history, cocabo_error *err) {
  const size_t n = (size_t)history->n;
  for (int m = 0; m < N_MODELS; m++)
    if (!cb_reserve((void **)&s->targets[m], &s->room[m], n, sizeof(double)))
      return cb_no_memory(err);
  s->half_gap = 0.0;
  s->cut = false;
  if (n == 0)
    return COCABO_OK;
  const double *y = history->y, top = y[history->best];
  double *warped = s->targets[WARPED];
  const double m = s->half_gap = cb_cut_far_below(history, s->targets[PLAIN], &s->cut);
  for (size_t i = 0; i < n; i++) {
    const double gap = 0.5 * top - 0.5 * y[i];
    warped[i] = m > 0.0 ? -log(gap / m + WARP_FLOOR) : y[i];
  }
  return COCABO_OK;
}

/* The sum of log dw/dy: dw/dy = 1 / ((max y - y) + floor m) = exp(w) / m. */
static double log_slopes(const double *w, int n, double half_gap) {
  double sum = 0.0;
  for (int i = 0; i < n; i++)
    sum += w[i] - log(half_gap) - log(2.0);
  return sum;
}

/* ---- learning -------------------------------------------------------------------- */

static bool fit_due(const cb_ask *ask) {
  const cb_history *history = ask->history;
  const int64_t seen = history->fit.n_theta > 0 ? history->fit.rows : 0;
  const int64_t sparse = history->n / 20 > 10 ? history->n / 20 : 10;
  const int64_t every = ask->settings->refit_every > 0 ? ask->settings->refit_every
                        : history->n < EVERY_RESULT    ? 1
                                                       : sparse;
  return history->n > 1 && history->n - seen >= every;
}

static int evaluations_for(int64_t n) {
  return n < FEW_RESULTS    ? FIT_EVALUATIONS
         : n < MANY_RESULTS ? FEW_EVALUATIONS
                            : LEAST_EVALUATIONS;
}

/* Theta of one model, and its log posterior in the units of its targets. */
static cocabo_status fit_model(mixed *s, const cb_ask *ask, int model, double *theta,
                               double *evidence, cocabo_error *err) {
  const cb_history *history = ask->history;
  const bool first = history->fit.n_theta == 0;
  const cb_fit_plan plan = {.restarts =
                                first && history->n < MANY_RESULTS ? FIRST_RESTARTS : 0,
                            .max_evaluations = evaluations_for(history->n),
                            .interrupt = ask->interrupt,
                            .user = ask->user};
  cb_likelihood *likelihood;
  const double *targets;
  double mean, sd;
  int n;
  memcpy(theta, theta_of(s, history, model), (size_t)theta_count(s) * sizeof *theta);
  CB_TRY(cb_surrogate_likelihood(s->surrogates[model], history, s->targets[model],
                                 &likelihood, &n, &targets, err));
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_FIT, (uint64_t)ask->number);
  const cocabo_status status =
      cb_gp_fit(likelihood, &s->spec, &s->box, &plan, &rng, theta, evidence, err);
  cb_likelihood_free(likelihood);
  if (status != COCABO_OK)
    return status;
  /* In units of y: the standardisation's factor, and the warp's slope. */
  cb_moments(n, targets, &mean, &sd);
  *evidence -= n * log(sd);
  if (model == WARPED)
    *evidence += log_slopes(targets, n, s->half_gap);
  return COCABO_OK;
}

static int n_theta(const void *state) {
  return FIT_THETA + N_MODELS * theta_count(state);
}

static cocabo_status fit(void *state, const cb_ask *ask, cb_fit *out,
                         cocabo_error *err) {
  mixed *s = state;
  const cb_history *history = ask->history;
  const size_t half = (size_t)theta_count(s), count = (size_t)n_theta(s);
  double evidence[N_MODELS], theta[FIT_THETA + N_MODELS * CB_MAX_THETA];
  double *plain = theta + FIT_THETA, *warped = plain + half;
  CB_TRY(transform(s, history, err));
  CB_TRY(fit_model(s, ask, PLAIN, plain, &evidence[PLAIN], err));
  memcpy(warped, plain, half * sizeof *theta);
  theta[FIT_WARP] = 0.0;
  if (s->half_gap > 0.0) {
    CB_TRY(fit_model(s, ask, WARPED, warped, &evidence[WARPED], err));
    theta[FIT_WARP] = s->cut || evidence[WARPED] > evidence[PLAIN] + CLEAR_EVIDENCE;
  }
  out->theta = cb_calloc(count, sizeof *theta);
  if (!out->theta)
    return cb_no_memory(err);
  memcpy(out->theta, theta, count * sizeof *theta);
  out->n_theta = (int)count;
  return COCABO_OK;
}

/* ---- proposing ------------------------------------------------------------------- */

/* With numbers only there is no category to get stuck on: the warped model, if it is
 * worth it, serves every turn. */
static int model_of(const cb_history *history, int64_t turn) {
  const bool worth_it = history->fit.n_theta > 0 && history->fit.theta[FIT_WARP] > 0.0;
  const bool its_turn = history->space->c == 0 || turn % TURNS == 2;
  return worth_it && its_turn ? WARPED : PLAIN;
}

/* Whom the others of the batch, and whatever else is running, leave nothing to believe
 * in but their own means, looks where least is known. */
static bool explores(const cb_ask *ask, int k) {
  const int64_t believers = ask->history->n_pending + k;
  return believers >= CROWD && believers % 2 == 1;
}

static cb_acquire taste_of(const mixed *s, const cb_ask *ask, int k, int64_t turn) {
  const cb_acquisition wish = s->settings->acquisition;
  const bool numbers = s->space->c == 0;
  const bool bold = wish == CB_LOGEI && turn % (numbers ? NUMBERS_TURNS : TURNS) == 0;
  const bool wary = numbers ? bold : turn % (2 * TURNS) == 0;
  return (cb_acquire){.kind = explores(ask, k) ? CB_EXPLORE
                              : bold           ? CB_UCB
                                               : wish,
                      .kappa = s->settings->kappa,
                      .min_sd = wary ? LEARN : 0.0};
}

/* The results as a model sees them, its incumbent, and beliefs about everything that
 * is pending or failed. */
static cocabo_status open_model(mixed *s, const cb_history *history, int m,
                                cocabo_error *err) {
  cb_surrogate *surrogate = s->surrogates[m];
  const double *y = s->targets[m];
  double worst = history->n > 0 ? y[0] : 0.0;
  for (int64_t i = 1; i < history->n; i++)
    worst = fmin(worst, y[i]);
  CB_TRY(cb_surrogate_follow(surrogate, history, theta_of(s, history, m), y, err));
  s->top[m] = history->best;
  s->best[m] =
      history->best >= 0 ? cb_surrogate_standardise(surrogate, y[history->best]) : 0.0;
  if (!s->settings->deterministic && history->n > 0)
    s->top[m] = cb_surrogate_best(surrogate, &s->best[m]);
  s->believed[m] = 0;
  return cb_surrogate_believe(surrogate, history, worst, err);
}

/* And about points 0 .. k-1 of the batch. */
static cocabo_status believe_batch(mixed *s, int m, const cb_proposal *out, int k,
                                   cocabo_error *err) {
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  for (; s->believed[m] < k; s->believed[m]++) {
    cb_space_encode(s->space, out[s->believed[m]].cells, x, h);
    CB_TRY(cb_gp_believe(cb_surrogate_gp(s->surrogates[m]), x, h, err));
  }
  return COCABO_OK;
}

/* The best of the ranking that is still free, else a random point. */
static void take_best(mixed *s, const cb_ask *ask, int ranked, cb_proposal *out,
                      int k) {
  if (cb_ask_take_ranked(ask, s->search, ranked, NULL, out, k))
    return;
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_RANDOM,
                           (uint64_t)ask->number + (uint64_t)k);
  cb_ask_random_point(ask, &rng, out, k);
}

/* Point k of the batch from model m, which is open and believes in those before it. */
static void search(mixed *s, const cb_ask *ask, int m, cb_acquire acquire,
                   cb_proposal *out, int k) {
  const cb_history *history = ask->history;
  const cb_trial *top =
      s->top[m] >= 0 ? &history->trials[history->told[s->top[m]]] : NULL;
  const double *theta = theta_of(s, history, m);
  double lower[COCABO_MAX_PARAMETERS], upper[COCABO_MAX_PARAMETERS];
  cb_search_plan plan = {.pool = k == 0 ? POOL : LATER_POOL,
                         .starts = k == 0           ? STARTS
                                   : k < FEW_POINTS ? LATER_STARTS
                                                    : 1};
  if (top) {
    plan.x = top->x;
    plan.h = top->h;
  }
  if (top && s->space->c == 0 && s->settings->ard) {
    const bool next_levels = (history->n_sampled + k) % 2 == 0;
    cb_trust_box(s->space, top->x, cb_trust_reach(history), next_levels, theta, lower,
                 upper);
    plan.lower = lower;
    plan.upper = upper;
  }
  acquire.best = s->best[m];
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_ACQUIRE,
                           (uint64_t)ask->number + (uint64_t)k);
  const int ranked = cb_mixed_search_run(s->search, cb_surrogate_gp(s->surrogates[m]),
                                         &acquire, &plan, &rng);
  take_best(s, ask, ranked, out, k);
  out[k].drawn = false;
}

static cocabo_status select_point(mixed *s, const cb_ask *ask, bool open[N_MODELS],
                                  cb_proposal *out, int k, cocabo_error *err) {
  const int64_t turn = ask->history->n_sampled + k;
  const int m = model_of(ask->history, turn);
  CB_TRY(cb_ask_poll(ask, err));
  if (!open[m]) {
    open[m] = true; /* from here on there may be beliefs to forget */
    CB_TRY(open_model(s, ask->history, m, err));
  }
  CB_TRY(believe_batch(s, m, out, k, err));
  search(s, ask, m, taste_of(s, ask, k, turn), out, k);
  return COCABO_OK;
}

static cocabo_status propose(void *state, const cb_ask *ask, cb_proposal *out,
                             cocabo_error *err) {
  mixed *s = state;
  bool open[N_MODELS] = {false};
  CB_TRY(cb_ask_has_room(ask, err));
  CB_TRY(transform(s, ask->history, err));
  cocabo_status status = COCABO_OK;
  for (int k = 0; k < ask->batch && status == COCABO_OK; k++)
    status = select_point(s, ask, open, out, k, err);
  for (int m = 0; m < N_MODELS; m++)
    if (open[m])
      cb_surrogate_forget(s->surrogates[m]);
  return status;
}

/* The plain model's highest mean: the warp is for finding, not for judging. */
static cocabo_status best(void *state, const cb_ask *ask, int64_t *row,
                          cocabo_error *err) {
  mixed *s = state;
  const cb_history *history = ask->history;
  double mean;
  CB_TRY(transform(s, history, err));
  CB_TRY(cb_surrogate_follow(s->surrogates[PLAIN], history, theta_of(s, history, PLAIN),
                             s->targets[PLAIN], err));
  *row = cb_surrogate_best(s->surrogates[PLAIN], &mean);
  return COCABO_OK;
}

const cb_sampler cb_sampler_mixed = {
    .name = "mixed",
    .help = "a GP over numbers and categories, maximised over both together",
    .create = create,
    .destroy = destroy,
    .fit_due = fit_due,
    .fit = fit,
    .n_theta = n_theta,
    .propose = propose,
    .best = best,
};
