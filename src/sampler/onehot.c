/* onehot.c - One-hot BO: a Gaussian process that sees categories as blocks of inputs.
 *
 * Each category is a block of N_j inputs, 1 for the one that it is and 0 for all
 * others; with the numbers that makes d + sum N_j inputs of an isotropic Matern 5/2
 * kernel (model/kernel.h, CB_ONEHOT), and UCB is maximised over them.
 *
 * Others maximise over the whole cube and decode each block by its largest input: the
 * point that is evaluated is then not the one that was found, and often not a good one.
 * Here every candidate is a point that can be evaluated. Blocks stay at their vertices,
 * where decoding changes nothing; numbers climb along them; and categories are
 * exchanged for others (search/search.h). Distances between vertices depend
 * on which categories differ and on nothing else, so the blocks need not be written
 * out, and there may be any number of inputs.
 *
 * UCB weighs deviations in units of all values, and a few far below the rest would have
 * it explore for ever: they are cut off. Decision 0008 has the figures.
 *
 * Hyper-parameters are learnt when `cocabo` learns them: at rounds 10, 20, 30 ...
 */
#include "base/mem.h"
#include "base/status.h"
#include "model/gp.h"
#include "model/gp_fit.h"
#include "sampler/learner.h"
#include "sampler/sampler.h"
#include "sampler/samplers.h"
#include "search/search.h"

enum {
  POOL = 1000, /* of the search */
  CLIMB_EVALUATIONS = 15,
  STARTS = 5,
  LATER_POOL = 250, /* for the second and later points of a batch */
  LATER_STARTS = 2
};

/* Everything here is a cache of what the history implies. */
typedef struct {
  const cocabo_space *space; /* borrowed from the study */
  const cb_settings *settings;
  cb_learner learner;
  cb_search *search;
} onehot;

static void destroy(void *state) {
  onehot *s = state;
  if (!s)
    return;
  cb_learner_close(&s->learner);
  cb_search_free(s->search);
  cb_free(s);
}

static cocabo_status build(onehot *s, cocabo_error *err) {
  const cb_domain domain = cb_domain_of(s->space);
  CB_TRY(cb_learner_open(&s->learner, s->space, err));
  return cb_search_new(&s->search, &domain, POOL, err);
}

static cocabo_status create(void **state, const cocabo_space *space,
                            const cb_settings *settings, cocabo_error *err) {
  *state = NULL;
  onehot *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  s->space = space;
  s->settings = settings;
  s->learner.settings = settings;
  s->learner.spec = (cb_kernel_spec){.d = space->d, .c = space->c, .form = CB_ONEHOT};
  cb_theta_onehot(&s->learner.spec, &s->learner.box);
  const cocabo_status status = build(s, err);
  if (status != COCABO_OK) {
    destroy(s);
    return status;
  }
  *state = s;
  return COCABO_OK;
}

/* The result that is best so far, as the model sees it if values are noisy: its row, or
 * -1, and in *value its target. */
static int64_t incumbent(const onehot *s, const cb_ask *ask, double *value) {
  const cb_history *history = ask->history;
  *value = 0.0;
  if (cb_ask_is_noisy(ask))
    return cb_surrogate_best(s->learner.surrogate, value);
  if (history->best >= 0)
    *value = cb_surrogate_standardise(s->learner.surrogate,
                                      s->learner.targets.y[history->best]);
  return history->best;
}

/* What the points of one batch share. */
typedef struct {
  const cb_ask *ask;
  cb_acquire acquire;
  cb_search_plan plan;
} batch;

static batch plan_batch(const onehot *s, const cb_ask *ask) {
  const cb_history *history = ask->history;
  batch b = {
      .ask = ask,
      .acquire = {.kind = s->settings->acquisition, .kappa = s->settings->kappa},
      .plan = {.pool = POOL, .starts = STARTS, .evaluations = CLIMB_EVALUATIONS}};
  const int64_t top = incumbent(s, ask, &b.acquire.best);
  if (top >= 0) {
    const cb_trial *trial = &history->trials[history->told[top]];
    b.plan.x = trial->x;
    b.plan.h = trial->h;
  }
  return b;
}

/* Point k, with those before it as fantasies. */
static void select_point(onehot *s, const batch *b, cb_proposal *out, int k) {
  const uint64_t number = (uint64_t)b->ask->number + (uint64_t)k;
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_ACQUIRE, number);
  const int ranked = cb_search_run(s->search, cb_surrogate_gp(s->learner.surrogate),
                                   &b->acquire, &b->plan, &rng);
  out[k].drawn = false;
  if (cb_ask_take_ranked(b->ask, s->search, ranked, NULL, out, k))
    return;
  rng = cb_rng_make(s->settings->seed, CB_RNG_RANDOM, number);
  cb_ask_random_point(b->ask, &rng, out, k);
}

static cocabo_status select_batch(onehot *s, const cb_ask *ask, cb_proposal *out,
                                  cocabo_error *err) {
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  batch b = plan_batch(s, ask);
  CB_TRY(cb_surrogate_fantasize(s->learner.surrogate, ask->history,
                                s->learner.targets.worst, err));
  for (int k = 0; k < ask->batch; k++) {
    CB_TRY(cb_ask_poll(ask, err));
    if (k > 0) {
      cb_space_encode(s->space, out[k - 1].cells, x, h);
      CB_TRY(
          cb_gp_fantasize(cb_surrogate_gp(s->learner.surrogate), 1, x, h, NULL, err));
      b.plan.pool = LATER_POOL;
      b.plan.starts = LATER_STARTS;
    }
    select_point(s, &b, out, k);
  }
  return COCABO_OK;
}

static cocabo_status propose(void *state, const cb_ask *ask, cb_proposal *out,
                             cocabo_error *err) {
  onehot *s = state;
  CB_TRY(cb_ask_has_room(ask, err));
  CB_TRY(cb_learner_follow(&s->learner, ask, err));
  const cocabo_status status = select_batch(s, ask, out, err);
  cb_surrogate_drop_fantasies(s->learner.surrogate);
  return status;
}

static cocabo_status best(void *state, const cb_ask *ask, int64_t *row,
                          cocabo_error *err) {
  return cb_learner_best(&((onehot *)state)->learner, ask, row, err);
}

static cocabo_status expect(void *state, const cb_ask *ask, const cb_trial *trial,
                            double *mean, double *se, cocabo_error *err) {
  return cb_learner_expect(&((onehot *)state)->learner, ask, trial, mean, se, err);
}

static cocabo_status predict(void *state, const cb_ask *ask, int n, const double *x,
                             const int32_t *h, double *mean, double *sd,
                             double *feasible, cocabo_error *err) {
  (void)feasible;
  return cb_learner_predict(&((onehot *)state)->learner, ask, n, x, h, mean, sd, err);
}

static cocabo_status rerun(void *state, const cb_ask *ask, int64_t *row,
                           double *gain_new, double *gain_again, cocabo_error *err) {
  onehot *s = state;
  return cb_learner_rerun(&s->learner, ask, s->search, POOL, row, gain_new, gain_again,
                          err);
}

static int n_theta(const void *state) {
  return cb_learner_n_theta(&((const onehot *)state)->learner);
}

static cocabo_status fit(void *state, const cb_ask *ask, cb_fit *out,
                         cocabo_error *err) {
  return cb_learner_fit(&((onehot *)state)->learner, ask, out, err);
}

const cb_sampler cb_sampler_onehot = {
    .name = "onehot",
    .revision = 8,
    .help = "One-hot BO: a GP that sees every category as a block of 0/1 inputs",
    .create = create,
    .destroy = destroy,
    .fit_due = cb_fit_due_by_rounds,
    .fit = fit,
    .n_theta = n_theta,
    .propose = propose,
    .best = best,
    .expect = expect,
    .predict = predict,
    .rerun = rerun,
};
