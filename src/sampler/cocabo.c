/* cocabo.c - CoCaBO, Algorithms 1 and 2 of Ru et al. (ICML 2020).
 *
 *   for t = 1 .. T:
 *     4  select h_t from a team of EXP3 bandits, fed with {h_i, f_i}
 *     5  select x_t = arg max alpha_t(x | D_{t-1}, h_t)
 *     6  query f_t at z_t = (x_t, h_t)
 *     7  D_t = D_{t-1} + (z_t, f_t); update the bandits with (h_t, f_t)
 *
 * Steps 4 and 5 are propose(); steps 6 and 7 are the user's evaluation and tell, whose
 * results the next propose finds in the history: catch_up_bandits() and
 * cb_learner_follow() fold in what is new. Trials that are still running are fantasies
 * at their posterior mean (Appendix F), failed ones have the worst value seen.
 *
 * For a batch of b points, Algorithm 2 takes the place of steps 4 and 5:
 *
 *     3  H = {h_1 .. h_b} from the team: EXP3.M for each variable
 *     4  u_1 .. u_q are the different vectors in H, v_j how often u_j occurs
 *     6  for j = 1 .. q:
 *     7    x_1 .. x_{v_j} = Kriging Believer(u_j, D'): each x_i = arg max alpha(x | D',
 *     9    u_j), then D' = D' + ((x_i, u_j), mu(x_i, u_j))
 *
 * Algorithm 1 is the case b = 1. D' is one process: fantasies are added when a point
 * is selected, seen by all later points whatever their categories, and truncated at the
 * end. Hyper-parameters and the scale of y stay as they are inside a batch.
 *
 * Conditions and rules: every agent draws, and one whose variable is inactive at the
 * point that is selected does not learn from it (bandit/team.h). Where the rules allow
 * no numbers with what was drawn, it is drawn again, and in the end a random point is
 * taken that no bandit drew.
 */
#include <math.h>
#include <string.h>

#include "bandit/team.h"
#include "base/mem.h"
#include "base/status.h"
#include "model/gp.h"
#include "model/gp_fit.h"
#include "sampler/learner.h"
#include "sampler/sampler.h"
#include "sampler/samplers.h"
#include "search/search.h"

enum {
  STARTS = 3,          /* candidates that are climbed from, for a single point */
  BATCH_STARTS = 5,    /* and for each point of a batch */
  PAPER_BATCH = 4,     /* batches up to this size get all of it for each point */
  LEAST_SAMPLES = 500, /* candidates, in any batch */
  CLIMB_EVALUATIONS = 50,
  REDRAWS = 10 /* of h, when all its points are taken */
};

/* Everything here is a cache of what the history implies. */
typedef struct {
  const cocabo_space *space; /* borrowed from the study */
  const cb_settings *settings;
  cb_learner learner;
  cb_team *team;     /* c agents */
  int64_t revised;   /* of the history that they were told */
  cb_gp *gp;         /* the surrogate's */
  cb_search *search; /* NULL without numeric inputs */
  int32_t *h;        /* c x b: the categories drawn for a batch */
  cb_draw *draws;    /* c x b: and how they were drawn */
  size_t h_room, draws_room;
} cocabo;

static void destroy(void *state) {
  cocabo *s = state;
  if (!s)
    return;
  cb_team_free(s->team);
  cb_learner_close(&s->learner);
  cb_search_free(s->search);
  cb_free(s->h);
  cb_free(s->draws);
  cb_free(s);
}

/* Bandits that were told what has been revised since start over. */
static cocabo_status need_team(cocabo *s, int64_t revised, cocabo_error *err) {
  int32_t arms[COCABO_MAX_PARAMETERS];
  cb_team *fresh;
  if (s->team && s->revised == revised)
    return COCABO_OK;
  for (int j = 0; j < s->space->c; j++)
    arms[j] = cb_space_arms(s->space, j);
  CB_TRY(cb_team_new(&fresh, s->space->c, arms, s->settings->reward, err));
  cb_team_free(s->team);
  s->team = fresh;
  s->revised = revised;
  return COCABO_OK;
}

static cocabo_status build(cocabo *s, cocabo_error *err) {
  const cocabo_space *space = s->space;
  CB_TRY(need_team(s, 0, err));
  CB_TRY(cb_learner_open(&s->learner, s->space, err));
  s->gp = cb_surrogate_gp(s->learner.surrogate);
  const cb_domain domain = cb_domain_of(space);
  return space->d > 0
             ? cb_search_new(&s->search, &domain, (int)s->settings->samples, err)
             : COCABO_OK;
}

static cocabo_status create(void **state, const cocabo_space *space,
                            const cb_settings *settings, cocabo_error *err) {
  *state = NULL;
  cocabo *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  s->space = space;
  s->settings = settings;
  s->learner.settings = settings;
  s->learner.spec = (cb_kernel_spec){.d = space->d,
                                     .c = space->c,
                                     .ard = settings->ard,
                                     .half = settings->kernel_sum_half,
                                     .learn_lambda = settings->lambda_auto,
                                     .lambda = settings->lambda};
  cb_theta_paper(&s->learner.spec, &s->learner.box);
  const cocabo_status status = build(s, err);
  if (status != COCABO_OK) {
    destroy(s);
    return status;
  }
  *state = s;
  return COCABO_OK;
}

static const cb_trial *told(const cb_history *history, int64_t row) {
  return &history->trials[history->told[row]];
}

/* ---- step 4: the categories ------------------------------------------------------ */

/* Points that no bandit of this kind drew, the initial ones above all, move the weights
 * only if the user wants it (bandit_init), as if drawn with equal chances. */
static const cb_draw *draws_of(const cocabo *s, const cb_trial *trial, int64_t round,
                               cb_draw *initial) {
  const cb_draw *own = cb_draws_of_each(s->space, trial->draws);
  if (own || !s->settings->bandit_init)
    return own;
  const cb_round alone = {.horizon = s->settings->horizon, .number = round, .b = 1};
  cb_team_describe(s->team, &alone, trial->h, initial);
  for (int j = 0; j < s->space->c; j++)
    initial[j].p = 1.0 / cb_space_arms(s->space, j);
  return initial;
}

static cocabo_status catch_up_bandits(cocabo *s, const cb_history *history,
                                      cocabo_error *err) {
  cb_draw initial[COCABO_MAX_PARAMETERS];
  CB_TRY(need_team(s, history->revised, err));
  for (int64_t i = cb_team_told(s->team); i < history->n; i++) {
    const cb_trial *trial = told(history, i);
    const cb_draw *draws = draws_of(s, trial, i + 1, initial);
    CB_TRY(cb_team_tell(s->team, trial->h, history->y[i], draws, err));
  }
  return COCABO_OK;
}

/* H of the batch, into s->h and s->draws. */
static cocabo_status draw_categories(cocabo *s, const cb_round *round, cb_rng *rng,
                                     cocabo_error *err) {
  const size_t n = (size_t)s->space->c * (size_t)round->b;
  if (!cb_reserve((void **)&s->h, &s->h_room, n, sizeof *s->h) ||
      !cb_reserve((void **)&s->draws, &s->draws_room, n, sizeof *s->draws))
    return cb_no_memory(err);
  cb_team_draw(s->team, round, rng, s->h, s->draws);
  return COCABO_OK;
}

static bool same_categories(const cocabo *s, int i, int k) {
  const int c = s->space->c;
  return c == 0 || memcmp(s->h + cb_at(0, i, c), s->h + cb_at(0, k, c),
                          (size_t)c * sizeof *s->h) == 0;
}

static bool occurred_before(const cocabo *s, int k) {
  for (int i = 0; i < k; i++)
    if (same_categories(s, i, k))
      return true;
  return false;
}

/* ---- step 5: the numbers --------------------------------------------------------- */

/* The incumbent is the best value seen or, where values are noisy, the best mean. */
static cb_acquire acquisition(const cocabo *s, const cb_ask *ask) {
  const cb_history *history = ask->history;
  cb_acquire acquire = {.kind = s->settings->acquisition, .kappa = s->settings->kappa};
  if (history->best >= 0)
    acquire.best =
        cb_surrogate_standardise(s->learner.surrogate, history->y[history->best]);
  if (cb_ask_is_noisy(ask))
    cb_surrogate_best(s->learner.surrogate, &acquire.best);
  return acquire;
}

/* The paper's effort goes into each point of up to four, and larger batches share what
 * four would get: a batch of 16 then takes a few times as long as a single ask. */
static int starts_of(int batch) {
  const int shared = BATCH_STARTS * PAPER_BATCH / batch;
  return batch == 1             ? STARTS
         : batch <= PAPER_BATCH ? BATCH_STARTS
         : shared > 1           ? shared
                                : 1;
}

static int samples_of(const cocabo *s, int batch) {
  const int all = (int)s->settings->samples,
            least = all < LEAST_SAMPLES ? all : LEAST_SAMPLES;
  const int shared =
      batch > PAPER_BATCH ? (int)((int64_t)all * PAPER_BATCH / batch) : all;
  return shared > least ? shared : least;
}

/* x = arg max alpha(x | D, h) among points that are still free, as out[k].cells. False
 * if all that were looked at are taken. */
static bool select_x(cocabo *s, const cb_ask *ask, const cb_acquire *acquire,
                     const int32_t *h, cb_rng *rng, cb_proposal *out, int k) {
  const cb_search_plan plan = {.h = h,
                               .fixed_h = true,
                               .pool = samples_of(s, ask->batch),
                               .starts = starts_of(ask->batch),
                               .evaluations = CLIMB_EVALUATIONS};
  if (s->space->d == 0) {
    cb_space_decode(s->space, NULL, h, out[k].cells);
    return cb_ask_is_fresh(ask, out, k, out[k].cells);
  }
  const int ranked = cb_search_run(s->search, s->gp, acquire, &plan, rng);
  return cb_ask_take_ranked(ask, s->search, ranked, h, out, k);
}

/* ---- Algorithm 2; Algorithm 1 where b = 1 ---------------------------------------- */

/* What the points of one batch share. */
typedef struct batch {
  const cb_ask *ask;
  cb_round round;
  cb_acquire acquire;
  cb_rng bandit;
  cb_proposal *out;
  int n; /* points selected so far */
} batch;

/* The categories h and their draws, drawn again: all points of those that the batch had
 * for this point are taken. */
static void redraw(cocabo *s, batch *b, int32_t *h, cb_draw *draws) {
  cb_round alone = b->round;
  alone.b = 1;
  cb_team_draw(s->team, &alone, &b->bandit, h, draws);
}

/* The bandits dwell on categories that are used up, or that the rules forbid. Then they
 * did not draw this one, or their weights would say that it was good to be forbidden.
 */
static void take_random_point(cocabo *s, batch *b, uint64_t number, int32_t *h) {
  double x[COCABO_MAX_PARAMETERS];
  cb_proposal *point = &b->out[b->n];
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_RANDOM, number);
  cb_ask_random_point(b->ask, &rng, b->out, b->n);
  cb_space_encode(s->space, point->cells, x, h);
  point->drawn = s->space->c > 0 && cb_space_is_plain(s->space);
  if (point->drawn)
    cb_team_describe(s->team, &b->round, h, point->draws);
}

/* Is there a point with the categories h that keeps the rules? A search would find none
 * either, after much longer. */
static bool has_numbers(const cocabo *s, const int32_t *h, cb_rng *rng) {
  enum { TRIES = 30 };
  cb_cell cells[COCABO_MAX_PARAMETERS];
  double x[COCABO_MAX_PARAMETERS];
  int32_t now[COCABO_MAX_PARAMETERS];
  bool allowed = s->space->n_rules == 0;
  for (int i = 0; i < TRIES && !allowed; i++) {
    cb_space_draw(s->space, rng, cells);
    cb_space_encode(s->space, cells, x, now);
    cb_space_decode_settled(s->space, x, h, rng, cells);
    allowed = cb_space_allows(s->space, cells);
  }
  if (allowed || !cb_space_repair(s->space, rng, cells))
    return allowed;
  cb_space_encode(s->space, cells, x, now);
  for (int j = 0; j < s->space->c; j++)
    if (now[j] < cb_space_arms(s->space, j) && now[j] != h[j])
      return false;
  return true;
}

/* The next point of the batch, with vector k of those drawn if it has one left. */
static cocabo_status select_point(cocabo *s, batch *b, int k, cocabo_error *err) {
  const size_t c = (size_t)s->space->c;
  const uint64_t number = (uint64_t)b->ask->number + (uint64_t)b->n;
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_ACQUIRE, number);
  cb_proposal *point = &b->out[b->n];
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  if (c > 0) {
    memcpy(h, s->h + (size_t)k * c, c * sizeof *h);
    memcpy(point->draws, s->draws + (size_t)k * c, c * sizeof *point->draws);
  }

  bool found = false;
  for (int i = 0; i < REDRAWS && !found; i++) {
    CB_TRY(cb_ask_poll(b->ask, err));
    if (i > 0)
      redraw(s, b, h, point->draws);
    found = has_numbers(s, h, &rng) &&
            select_x(s, b->ask, &b->acquire, h, &rng, b->out, b->n);
  }
  point->drawn = c > 0;
  if (!found)
    take_random_point(s, b, number, h);
  b->n++;
  if (b->n == b->ask->batch)
    return COCABO_OK;
  cb_space_encode(s->space, point->cells, x, h);
  return cb_gp_fantasize(s->gp, 1, x, h, NULL, err);
}

static cocabo_status select_batch(cocabo *s, const cb_ask *ask, cb_proposal *out,
                                  cocabo_error *err) {
  batch b = {.ask = ask,
             .round = {.horizon = s->settings->horizon,
                       .number = ask->history->n_rounds + 1,
                       .b = ask->batch},
             .acquire = acquisition(s, ask),
             .bandit =
                 cb_rng_make(s->settings->seed, CB_RNG_BANDIT, (uint64_t)ask->number),
             .out = out};
  CB_TRY(cb_surrogate_fantasize(s->learner.surrogate, ask->history,
                                s->learner.targets.worst, err));
  CB_TRY(draw_categories(s, &b.round, &b.bandit, err));
  for (int j = 0; j < ask->batch; j++) {
    if (occurred_before(s, j))
      continue;
    for (int k = j; k < ask->batch; k++) /* u_j, v_j times */
      if (same_categories(s, j, k))
        CB_TRY(select_point(s, &b, k, err));
  }
  return COCABO_OK;
}

static cocabo_status propose(void *state, const cb_ask *ask, cb_proposal *out,
                             cocabo_error *err) {
  cocabo *s = state;
  CB_TRY(cb_ask_has_room(ask, err));
  CB_TRY(catch_up_bandits(s, ask->history, err));
  CB_TRY(cb_learner_follow(&s->learner, ask, err));
  const cocabo_status status = select_batch(s, ask, out, err);
  cb_surrogate_drop_fantasies(s->learner.surrogate);
  return status;
}

static cocabo_status best(void *state, const cb_ask *ask, int64_t *row,
                          cocabo_error *err) {
  return cb_learner_best(&((cocabo *)state)->learner, ask, row, err);
}

static cocabo_status expect(void *state, const cb_ask *ask, const cb_trial *trial,
                            double *mean, double *se, cocabo_error *err) {
  return cb_learner_expect(&((cocabo *)state)->learner, ask, trial, mean, se, err);
}

static cocabo_status predict(void *state, const cb_ask *ask, int n, const double *x,
                             const int32_t *h, double *mean, double *sd,
                             double *feasible, cocabo_error *err) {
  (void)feasible;
  return cb_learner_predict(&((cocabo *)state)->learner, ask, n, x, h, mean, sd, err);
}

/* The new point may have any categories here. Without numbers there is no search, and
 * what the bandits draw counts. */
static cocabo_status rerun(void *state, const cb_ask *ask, int64_t *row,
                           double *gain_new, double *gain_again, cocabo_error *err) {
  cocabo *s = state;
  *row = -1;
  *gain_new = *gain_again = 0.0;
  return s->search
             ? cb_learner_rerun(&s->learner, ask, s->search, (int)s->settings->samples,
                                row, gain_new, gain_again, err)
             : COCABO_OK;
}

/* ---- hyper-parameters: learnt at rounds 10, 20, 30 ..., and not before -------------
 */

static int n_theta(const void *state) {
  return cb_learner_n_theta(&((const cocabo *)state)->learner);
}

static cocabo_status fit(void *state, const cb_ask *ask, cb_fit *out,
                         cocabo_error *err) {
  return cb_learner_fit(&((cocabo *)state)->learner, ask, out, err);
}

const cb_sampler cb_sampler_cocabo = {
    .name = "cocabo",
    .revision = 7,
    .help = "the paper's method: EXP3 bandits pick categories, a GP the numbers",
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
