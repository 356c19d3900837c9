/* exp3bo.c - EXP3BO: one arm of a bandit per combination of categories, and for each
 * arm a Gaussian process of its own over the numbers.
 *
 *   1  every arm gets three random points, or all it has if they are fewer; those of
 *      the design count
 *   2  from then on EXP3 draws the arm (EXP3.M the arms of a batch), and UCB on that
 *      arm's process gives the numbers
 *
 * Processes learn nothing from each other, so that the number of combinations must stay
 * small: spaces with more than 200 are refused. The bandit is a team (bandit/team.h) of
 * one agent, whose categories are the arms.
 *
 * An arm's hyper-parameters are learnt at rounds 10, 20, 30 ... if it has new results.
 * Theta of a fit is that of arm 0, arm 1, ..., one after the other.
 */
#include <string.h>

#include "bandit/team.h"
#include "base/mem.h"
#include "base/status.h"
#include "model/gp.h"
#include "model/gp_fit.h"
#include "sampler/judge.h"
#include "sampler/sampler.h"
#include "sampler/samplers.h"
#include "sampler/surrogate.h"
#include "search/search.h"

enum {
  MAX_ARMS = 200,
  FIRST_POINTS = 3,  /* of each arm, before the bandit plays */
  LEAST_RESULTS = 5, /* of an arm, before its hyper-parameters are learnt */
  POOL = 1000,       /* of the search */
  CLIMB_EVALUATIONS = 15,
  STARTS = 5,
  LATER_POOL = 250, /* for the second and later points of a batch */
  LATER_STARTS = 2,
  RESTARTS = 5, /* random restarts of a hyper-parameter fit */
  TRIES = 100,  /* random points of an arm, before they are gone through in order */
  REDRAWS = 10  /* of an arm, when all its points are taken */
};

/* Everything here is a cache of what the history implies. */
typedef struct {
  const cocabo_space *space; /* borrowed from the study */
  const cb_settings *settings;
  cb_kernel_spec spec; /* of each arm's process */
  cb_theta_box box;
  int n_arms;
  uint64_t arm_size;                  /* points of an arm, UINT64_MAX if too many */
  int32_t *h;                         /* c x n_arms: the arms' categories */
  int32_t order[MAX_ARMS];            /* in which arms get their first points */
  cb_team *team;                      /* one agent */
  int64_t revised;                    /* of the history that it was told */
  cb_surrogate *surrogates[MAX_ARMS]; /* NULL until the arm is drawn */
  cb_search *search;                  /* over x; NULL without numeric inputs */

  /* Of the batch that is being proposed. */
  const cb_ask *ask;
  cb_proposal *out;
  int n;                    /* points selected so far */
  int64_t points[MAX_ARMS]; /* trials of each arm, the batch's own included */
  bool open[MAX_ARMS];      /* does its process hold fantasies? */
} exp3bo;

/* ---- arms ------------------------------------------------------------------------ */

static double combinations(const cocabo_space *space) {
  double n = 1.0;
  for (int j = 0; j < space->c; j++)
    n *= cb_space_arms(space, j);
  return n;
}

/* An arm has the same numbers as every other, and all of its points. */
static cocabo_status accepts(const cocabo_space *space, cocabo_error *err) {
  const double n = combinations(space);
  if (!cb_space_is_plain(space))
    return cb_fail(err, COCABO_E_INVALID,
                   "exp3bo keeps a model for each combination of categories, which "
                   "knows nothing of %s; use sampler=mixed",
                   space->conditional ? "conditions" : "rules");
  if (n <= MAX_ARMS)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INVALID,
                 "exp3bo keeps a model for each of the %.10g combinations of "
                 "categories, of which it can have at most %d; use sampler=cocabo or "
                 "sampler=mixed",
                 n, MAX_ARMS);
}

/* Arms are numbered like the digits of a number, the last category being the last. */
static int arm_of(const exp3bo *s, const int32_t *h) {
  int arm = 0;
  for (int j = 0; j < s->space->c; j++)
    arm = arm * cb_space_arms(s->space, j) + h[j];
  return arm;
}

static const int32_t *categories_of(const exp3bo *s, int arm) {
  return s->h + cb_at(0, arm, s->space->c);
}

static void number_arms(exp3bo *s) {
  const int c = s->space->c;
  for (int arm = 0; arm < s->n_arms; arm++) {
    int rest = arm;
    for (int j = c - 1; j >= 0; j--) {
      s->h[cb_at(j, arm, c)] = rest % cb_space_arms(s->space, j);
      rest /= cb_space_arms(s->space, j);
    }
  }
}

static uint64_t count_points_of_an_arm(const cocabo_space *space) {
  uint64_t n = 1;
  for (int j = 0; j < space->d; j++) {
    const uint64_t levels = (uint64_t)cb_space_levels(space, j);
    if (levels == 0 || n > UINT64_MAX / levels)
      return UINT64_MAX;
    n *= levels;
  }
  return n;
}

/* Point i of an arm, 0 <= i < arm_size. */
static void point_of_arm(const exp3bo *s, int arm, uint64_t i, cb_cell *cells) {
  double x[COCABO_MAX_PARAMETERS];
  for (int j = 0; j < s->space->d; j++) {
    const uint64_t levels = (uint64_t)cb_space_levels(s->space, j);
    x[j] = cb_space_level_x(s->space, j, (int64_t)(i % levels));
    i /= levels;
  }
  cb_space_decode(s->space, x, categories_of(s, arm), cells);
}

/* ---- building -------------------------------------------------------------------- */

static void destroy(void *state) {
  exp3bo *s = state;
  if (!s)
    return;
  for (int arm = 0; arm < s->n_arms; arm++)
    cb_surrogate_free(s->surrogates[arm]);
  cb_search_free(s->search);
  cb_team_free(s->team);
  cb_free(s->h);
  cb_free(s);
}

/* A bandit that was told what has been revised since starts over. */
static cocabo_status need_team(exp3bo *s, int64_t revised, cocabo_error *err) {
  const int32_t n = s->n_arms;
  cb_team *fresh;
  if (s->team && s->revised == revised)
    return COCABO_OK;
  CB_TRY(cb_team_new(&fresh, 1, &n, s->settings->reward, err));
  cb_team_free(s->team);
  s->team = fresh;
  s->revised = revised;
  return COCABO_OK;
}

static cocabo_status build(exp3bo *s, cocabo_error *err) {
  cb_domain domain = cb_domain_of(s->space);
  domain.c = 0;
  s->h = cb_calloc((size_t)s->n_arms * (size_t)s->space->c + 1, sizeof *s->h);
  if (!s->h)
    return cb_no_memory(err);
  number_arms(s);
  CB_TRY(need_team(s, 0, err));
  return s->space->d > 0 ? cb_search_new(&s->search, &domain, POOL, err) : COCABO_OK;
}

/* Without numbers an arm is one point: its overlap with itself is a constant kernel. */
static cocabo_status create(void **state, const cocabo_space *space,
                            const cb_settings *settings, cocabo_error *err) {
  *state = NULL;
  CB_TRY(accepts(space, err));
  exp3bo *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  s->space = space;
  s->settings = settings;
  s->n_arms = (int)combinations(space);
  s->arm_size = count_points_of_an_arm(space);
  s->spec = (cb_kernel_spec){.d = space->d, .c = space->d > 0 ? 0 : space->c};
  cb_theta_paper(&s->spec, &s->box);
  for (int arm = 0; arm < s->n_arms; arm++)
    s->order[arm] = arm;
  cb_rng rng = cb_rng_make(settings->seed, CB_RNG_BANDIT, 0);
  cb_rng_shuffle(&rng, s->n_arms, s->order);
  const cocabo_status status = build(s, err);
  if (status != COCABO_OK) {
    destroy(s);
    return status;
  }
  *state = s;
  return COCABO_OK;
}

/* ---- the arms' processes --------------------------------------------------------- */

static const cb_trial *told(const cb_history *history, int64_t row) {
  return &history->trials[history->told[row]];
}

static const double *theta_of(const exp3bo *s, const cb_fit *fit, int arm) {
  const int count = cb_theta_lay_out(&s->spec).count;
  return fit ? fit->theta + (ptrdiff_t)arm * count : s->box.start;
}

static cocabo_status need_surrogate(exp3bo *s, int arm, cocabo_error *err) {
  if (s->surrogates[arm])
    return COCABO_OK;
  CB_TRY(cb_surrogate_new(&s->surrogates[arm], s->space, &s->spec,
                          s->settings->model_size, err));
  if (s->space->c > 0)
    cb_surrogate_restrict(s->surrogates[arm], categories_of(s, arm));
  return COCABO_OK;
}

static cocabo_status follow(exp3bo *s, const cb_ask *ask, int arm, cocabo_error *err) {
  CB_TRY(need_surrogate(s, arm, err));
  return cb_surrogate_follow(s->surrogates[arm], ask->history, ask->fit,
                             theta_of(s, ask->fit, arm), ask->history->y,
                             ask->history->variance, err);
}

/* Row of the arm's best result, -1 if it has none; *worst is its worst, or that of all
 * arms. */
static int64_t best_of_arm(const exp3bo *s, const cb_history *history, int arm,
                           double *worst) {
  int64_t best = -1;
  *worst = cb_history_worst(history);
  for (int64_t i = 0; i < history->n; i++) {
    if (arm_of(s, told(history, i)->h) != arm)
      continue;
    if (best < 0 || history->y[i] < *worst)
      *worst = history->y[i];
    if (best < 0 || history->y[i] > history->y[best])
      best = i;
  }
  return best;
}

static cocabo_status fantasize_point(exp3bo *s, int arm, int k, cocabo_error *err) {
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  cb_space_encode(s->space, s->out[k].cells, x, h);
  return arm_of(s, h) == arm
             ? cb_gp_fantasize(cb_surrogate_gp(s->surrogates[arm]), 1, x, h, NULL, err)
             : COCABO_OK;
}

/* What the arm's process must know: results, trials that run or failed, and the points
 * of the batch. */
static cocabo_status open_arm(exp3bo *s, int arm, double worst, cocabo_error *err) {
  const cb_history *history = s->ask->history;
  if (s->open[arm])
    return COCABO_OK;
  CB_TRY(follow(s, s->ask, arm, err));
  s->open[arm] = true; /* from here on there may be fantasies to drop */
  CB_TRY(cb_surrogate_fantasize(s->surrogates[arm], history, worst, err));
  for (int k = 0; k < s->n; k++)
    CB_TRY(fantasize_point(s, arm, k, err));
  return COCABO_OK;
}

static void close_arms(exp3bo *s) {
  for (int arm = 0; arm < s->n_arms; arm++)
    if (s->open[arm]) {
      cb_surrogate_drop_fantasies(s->surrogates[arm]);
      s->open[arm] = false;
    }
}

/* ---- points of an arm ------------------------------------------------------------ */

static uint64_t number_of_next(const exp3bo *s) {
  return (uint64_t)s->ask->number + (uint64_t)s->n;
}

/* The batch has one more point: out[n]. */
static cocabo_status count_point(exp3bo *s, cocabo_error *err) {
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  cb_space_encode(s->space, s->out[s->n].cells, x, h);
  const int arm = arm_of(s, h);
  s->points[arm]++;
  s->n++;
  return s->open[arm] && s->n < s->ask->batch ? fantasize_point(s, arm, s->n - 1, err)
                                              : COCABO_OK;
}

static void sample_arm(const exp3bo *s, int arm, cb_rng *rng, cb_cell *cells) {
  const int32_t *h = categories_of(s, arm);
  cb_space_sample(s->space, rng, cells);
  for (int j = 0; j < s->space->c; j++)
    cells[s->space->categorical[j]].integer = h[j];
}

/* A random fresh point of the arm, as the next; false if there is none left. An arm
 * that has more points than trials has one. */
static bool take_random(exp3bo *s, int arm) {
  cb_cell *cells = s->out[s->n].cells;
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_RANDOM, number_of_next(s));
  for (int i = 0; i < TRIES; i++) {
    sample_arm(s, arm, &rng, cells);
    if (cb_ask_is_fresh(s->ask, s->out, s->n, cells))
      return true;
  }
  if (s->arm_size == UINT64_MAX)
    return true; /* a run of equal doubles: then a repeat is harmless */
  const uint64_t start = cb_rng_u64(&rng) % s->arm_size;
  for (uint64_t i = 0; i < s->arm_size && i <= (uint64_t)s->points[arm]; i++) {
    point_of_arm(s, arm, (start + i) % s->arm_size, cells);
    if (cb_ask_is_fresh(s->ask, s->out, s->n, cells))
      return true;
  }
  return false;
}

/* x = arg max of the acquisition on the arm's process, among points that are free. */
static cocabo_status take_best(exp3bo *s, int arm, bool *found, cocabo_error *err) {
  const cb_history *history = s->ask->history;
  cb_acquire acquire = {.kind = s->settings->acquisition, .kappa = s->settings->kappa};
  cb_search_plan plan = {.pool = s->n == 0 ? POOL : LATER_POOL,
                         .starts = s->n == 0 ? STARTS : LATER_STARTS,
                         .evaluations = CLIMB_EVALUATIONS};
  double worst;
  const int64_t best = best_of_arm(s, history, arm, &worst);
  CB_TRY(open_arm(s, arm, worst, err));
  if (best >= 0) {
    plan.x = told(history, best)->x;
    acquire.best = cb_surrogate_standardise(s->surrogates[arm], history->y[best]);
  }
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_ACQUIRE, number_of_next(s));
  const int ranked = cb_search_run(s->search, cb_surrogate_gp(s->surrogates[arm]),
                                   &acquire, &plan, &rng);
  *found = cb_ask_take_ranked(s->ask, s->search, ranked, categories_of(s, arm), s->out,
                              s->n);
  return COCABO_OK;
}

static cocabo_status take_point(exp3bo *s, int arm, bool *found, cocabo_error *err) {
  CB_TRY(cb_ask_poll(s->ask, err));
  *found = false;
  if (s->space->d > 0)
    CB_TRY(take_best(s, arm, found, err));
  if (!*found)
    *found = take_random(s, arm);
  return COCABO_OK;
}

/* ---- first points ---------------------------------------------------------------- */

static void count_trials(exp3bo *s, const cb_history *history) {
  memset(s->points, 0, sizeof s->points);
  for (int64_t i = 0; i < history->n_trials; i++)
    s->points[arm_of(s, history->trials[i].h)]++;
}

/* The arm that has the fewest of the first points it should have; -1: all have them. */
static int poorest_arm(const exp3bo *s) {
  const bool few = s->settings->deterministic && s->arm_size < FIRST_POINTS;
  int64_t least = few ? (int64_t)s->arm_size : FIRST_POINTS;
  int poorest = -1;
  for (int i = 0; i < s->n_arms; i++)
    if (s->points[s->order[i]] < least) {
      poorest = s->order[i];
      least = s->points[poorest];
    }
  return poorest;
}

static cocabo_status give_first_points(exp3bo *s, cocabo_error *err) {
  for (int arm; s->n < s->ask->batch && (arm = poorest_arm(s)) >= 0;) {
    CB_TRY(cb_ask_poll(s->ask, err));
    (void)take_random(s, arm); /* it has one */
    s->out[s->n].drawn = false;
    CB_TRY(count_point(s, err));
  }
  return COCABO_OK;
}

/* ---- the bandit ------------------------------------------------------------------ */

/* Points that no bandit drew move the weights only if the user wants it (bandit_init);
 * they are taken for drawn with equal chances. */
static cocabo_status catch_up_bandit(exp3bo *s, const cb_history *history,
                                     cocabo_error *err) {
  CB_TRY(need_team(s, history->revised, err));
  for (int64_t i = cb_team_told(s->team); i < history->n; i++) {
    const cb_trial *trial = told(history, i);
    const int32_t arm = arm_of(s, trial->h);
    const cb_draw *draw = cb_draw_of_all(s->space, trial->draws);
    cb_draw initial;
    if (!draw && s->settings->bandit_init) {
      const cb_round alone = {.horizon = s->settings->horizon, .number = i + 1, .b = 1};
      cb_team_describe(s->team, &alone, &arm, &initial);
      initial.p = 1.0 / s->n_arms;
      draw = &initial;
    }
    CB_TRY(cb_team_tell(s->team, &arm, history->y[i], draw, err));
  }
  return COCABO_OK;
}

static void store_draw(const exp3bo *s, const cb_draw *draw) {
  cb_proposal *point = &s->out[s->n];
  cb_store_draw_of_all(s->space, draw, point->draws);
  point->drawn = s->space->c > 0;
}

/* The bandit dwells on arms that are used up. */
static void take_any_point(exp3bo *s, const cb_round *round) {
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  cb_draw draw;
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_RANDOM, number_of_next(s));
  cb_ask_random_point(s->ask, &rng, s->out, s->n);
  cb_space_encode(s->space, s->out[s->n].cells, x, h);
  const int32_t arm = arm_of(s, h);
  cb_team_describe(s->team, round, &arm, &draw);
  store_draw(s, &draw);
}

/* The next point, of the arm that was drawn like that if it has one left. */
static cocabo_status play(exp3bo *s, const cb_round *round, int32_t arm, cb_draw draw,
                          cb_rng *rng, cocabo_error *err) {
  cb_round alone = *round;
  alone.b = 1;
  bool found = false;
  for (int i = 0; i < REDRAWS && !found; i++) {
    if (i > 0)
      cb_team_draw(s->team, &alone, rng, &arm, &draw);
    CB_TRY(take_point(s, arm, &found, err));
  }
  if (found)
    store_draw(s, &draw);
  else
    take_any_point(s, round);
  return count_point(s, err);
}

static cocabo_status play_rest(exp3bo *s, int32_t *arms, cb_draw *draws,
                               cocabo_error *err) {
  const cb_round round = {.horizon = s->settings->horizon,
                          .number = s->ask->history->n_rounds + 1,
                          .b = s->ask->batch - s->n};
  cb_rng rng =
      cb_rng_make(s->settings->seed, CB_RNG_BANDIT, (uint64_t)s->ask->number + 1);
  cb_team_draw(s->team, &round, &rng, arms, draws);
  for (int i = 0; i < round.b; i++)
    CB_TRY(play(s, &round, arms[i], draws[i], &rng, err));
  return COCABO_OK;
}

/* All points of the batch that are not first points. */
static cocabo_status play_bandit(exp3bo *s, cocabo_error *err) {
  const size_t left = (size_t)(s->ask->batch - s->n);
  if (left == 0)
    return COCABO_OK;
  int32_t *arms = cb_calloc(left, sizeof *arms);
  cb_draw *draws = cb_calloc(left, sizeof *draws);
  const cocabo_status status =
      arms && draws ? play_rest(s, arms, draws, err) : cb_no_memory(err);
  cb_free(arms);
  cb_free(draws);
  return status;
}

/* ---- the sampler ----------------------------------------------------------------- */

static cocabo_status propose(void *state, const cb_ask *ask, cb_proposal *out,
                             cocabo_error *err) {
  exp3bo *s = state;
  s->ask = ask;
  s->out = out;
  s->n = 0;
  CB_TRY(cb_ask_has_room(ask, err));
  CB_TRY(catch_up_bandit(s, ask->history, err));
  count_trials(s, ask->history);
  cocabo_status status = give_first_points(s, err);
  if (status == COCABO_OK)
    status = play_bandit(s, err);
  close_arms(s);
  return status;
}

/* ---- judging --------------------------------------------------------------------- */

/* Are there enough results of the arm to doubt, and few enough? */
static bool has_judge(const exp3bo *s, const cb_ask *ask, int arm) {
  const cb_history *history = ask->history;
  int64_t results = 0;
  for (int64_t i = 0; i < history->n && i < CB_JUDGE_MOST; i++)
    results += arm_of(s, told(history, i)->h) == arm;
  return history->n <= CB_JUDGE_MOST && s->space->d > 0 && results >= LEAST_RESULTS &&
         !cb_ask_knows_noise(ask);
}

static cb_judge judge_of(const exp3bo *s, const cb_ask *ask, int arm) {
  return (cb_judge){.surrogate = s->surrogates[arm],
                    .spec = &s->spec,
                    .box = &s->box,
                    .theta = theta_of(s, ask->fit, arm),
                    .y = ask->history->y,
                    .variance = ask->history->variance};
}

/* The arm's result with the highest posterior mean, -1 if it has none; and that mean in
 * the units of y, halved, so that no sum overflows. */
static cocabo_status best_mean_of_arm(exp3bo *s, const cb_ask *ask, int arm,
                                      int64_t *row, double *half, cocabo_error *err) {
  const cb_history *history = ask->history;
  double mean[CB_JUDGE_MOST], se[CB_JUDGE_MOST], target = 0.0, centre, unit;
  CB_TRY(need_surrogate(s, arm, err));
  if (!has_judge(s, ask, arm)) {
    CB_TRY(follow(s, ask, arm, err));
    *row = cb_surrogate_best(s->surrogates[arm], &target);
    cb_gp_scale(cb_surrogate_gp(s->surrogates[arm]), &centre, &unit);
    *half = 0.5 * centre + 0.5 * unit * target;
    return COCABO_OK;
  }
  const cb_judge judge = judge_of(s, ask, arm);
  CB_TRY(cb_judge_results(&judge, ask, mean, se, err));
  *row = -1;
  for (int64_t i = 0; i < history->n; i++)
    if (arm_of(s, told(history, i)->h) == arm && (*row < 0 || mean[i] > mean[*row]))
      *row = i;
  *half = 0.5 * mean[*row];
  return COCABO_OK;
}

static cocabo_status best(void *state, const cb_ask *ask, int64_t *row,
                          cocabo_error *err) {
  exp3bo *s = state;
  double highest = 0.0, half = 0.0;
  int64_t found = -1, candidate = -1;
  for (int arm = 0; arm < s->n_arms; arm++) {
    CB_TRY(best_mean_of_arm(s, ask, arm, &candidate, &half, err));
    if (candidate < 0 || (found >= 0 && !(half > highest)))
      continue;
    highest = half;
    found = candidate;
  }
  *row = found;
  return COCABO_OK;
}

static cocabo_status expect(void *state, const cb_ask *ask, const cb_trial *trial,
                            double *mean, double *se, cocabo_error *err) {
  exp3bo *s = state;
  const int arm = arm_of(s, trial->h);
  CB_TRY(need_surrogate(s, arm, err));
  const cb_judge judge = judge_of(s, ask, arm);
  if (has_judge(s, ask, arm))
    return cb_judge_expect(&judge, ask, trial, mean, se, err);
  CB_TRY(follow(s, ask, arm, err));
  if (cb_gp_count(cb_surrogate_gp(s->surrogates[arm])) < 2)
    return cb_fail(err, COCABO_E_STATE,
                   "trial %lld is the only result of its categories, and exp3bo has a "
                   "model for each of them: nothing says how far its value is off",
                   (long long)trial->number);
  cb_surrogate_expect(s->surrogates[arm], trial->x, trial->h, mean, se);
  return COCABO_OK;
}

/* At one point, by the model of its categories. */
static cocabo_status predict_one(exp3bo *s, const cb_ask *ask, const double *x,
                                 const int32_t *h, double *mean, double *sd,
                                 cocabo_error *err) {
  const int arm = arm_of(s, h);
  CB_TRY(need_surrogate(s, arm, err));
  const cb_judge judge = judge_of(s, ask, arm);
  if (!s->settings->deterministic && has_judge(s, ask, arm))
    return cb_judge_points(&judge, ask, 1, x, h, mean, sd, err);
  CB_TRY(follow(s, ask, arm, err));
  if (cb_gp_count(cb_surrogate_gp(s->surrogates[arm])) < 2)
    return cb_fail(err, COCABO_E_STATE,
                   "the categories of a point have fewer than 2 results, and exp3bo "
                   "has a model for each of them");
  cb_surrogate_expect(s->surrogates[arm], x, h, mean, sd);
  return COCABO_OK;
}

static cocabo_status predict(void *state, const cb_ask *ask, int n, const double *x,
                             const int32_t *h, double *mean, double *sd,
                             double *feasible, cocabo_error *err) {
  exp3bo *s = state;
  (void)feasible;
  for (int i = 0; i < n; i++) {
    CB_TRY(cb_ask_poll(ask, err));
    CB_TRY(predict_one(s, ask, x + cb_at(0, i, s->space->d),
                       h + cb_at(0, i, s->space->c), &mean[i], &sd[i], err));
  }
  return COCABO_OK;
}

/* ---- hyper-parameters ------------------------------------------------------------ */

static bool fit_due(const cb_ask *ask) {
  return ask->history->space->d > 0 && cb_fit_due_by_rounds(ask);
}

/* Has the arm enough results, and one that the last fit did not see? */
static bool has_news(const exp3bo *s, const cb_ask *ask, int arm) {
  const cb_history *history = ask->history;
  const int64_t seen = ask->fit ? ask->fit->rows : 0;
  int64_t results = 0;
  bool news = false;
  for (int64_t i = 0; i < history->n; i++)
    if (arm_of(s, told(history, i)->h) == arm) {
      results++;
      news |= i >= seen;
    }
  return news && results >= LEAST_RESULTS;
}

static int n_theta(const void *state) {
  const exp3bo *s = state;
  return s->n_arms * cb_theta_lay_out(&s->spec).count;
}

static cocabo_status start_fit(const exp3bo *s, const cb_ask *ask, cb_fit *out,
                               cocabo_error *err) {
  const size_t count = (size_t)cb_theta_lay_out(&s->spec).count;
  out->n_theta = n_theta(s);
  out->theta = cb_calloc((size_t)out->n_theta, sizeof *out->theta);
  if (!out->theta)
    return cb_no_memory(err);
  for (int arm = 0; arm < s->n_arms; arm++)
    memcpy(out->theta + (size_t)arm * count, theta_of(s, ask->fit, arm),
           count * sizeof *out->theta);
  return COCABO_OK;
}

static cocabo_status fit(void *state, const cb_ask *ask, cb_fit *out,
                         cocabo_error *err) {
  exp3bo *s = state;
  const cb_history *history = ask->history;
  const size_t count = (size_t)cb_theta_lay_out(&s->spec).count;
  cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_FIT, (uint64_t)ask->number);
  CB_TRY(start_fit(s, ask, out, err));
  for (int arm = 0; arm < s->n_arms && s->space->d > 0; arm++) {
    if (!has_news(s, ask, arm))
      continue;
    CB_TRY(cb_ask_poll(ask, err));
    CB_TRY(need_surrogate(s, arm, err));
    CB_TRY(cb_surrogate_fit(s->surrogates[arm], ask, history->y, history->variance,
                            &s->box, RESTARTS, &rng, out->theta + (size_t)arm * count,
                            err));
  }
  return COCABO_OK;
}

const cb_sampler cb_sampler_exp3bo = {
    .name = "exp3bo",
    .revision = 7,
    .help = "EXP3BO: a bandit over combinations of categories, a GP for each",
    .accepts = accepts,
    .create = create,
    .destroy = destroy,
    .fit_due = fit_due,
    .fit = fit,
    .n_theta = n_theta,
    .propose = propose,
    .best = best,
    .expect = expect,
    .predict = predict,
};
