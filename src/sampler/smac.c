/* smac.c - SMAC (Hutter, Hoos and Leyton-Brown, 2011), in the manner of SMAC3's facade
 * for hyper-parameter optimisation.
 *
 *   model       a random forest of ten trees, grown anew for every proposal
 *   targets     how far a value is from the best one, on a log scale unless noisy
 *   acquired    expected improvement over the best mean of an evaluated point
 *   search      random candidates; and from the ten evaluated points with the best
 *               means a walk from neighbour to neighbour, one parameter changed at a
 *               time: categories to any other, numbers by a Gaussian step
 *   exploring   every fifth proposal is a random point
 *   fantasies   failed trials have the worst value, pending ones and earlier points of
 *               the batch their mean
 *   inactive    is one more category, or a number in the middle with an input beside it
 *               that says so; what wakes up in a neighbour gets a random value, and
 *               neighbours that break a rule are none
 *
 * Beyond model_size results the forest sees the better half of so many and, of the
 * others, some of every rank.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"
#include "model/forest.h"
#include "sampler/sampler.h"
#include "sampler/samplers.h"
#include "search/search.h"

enum {
  TREES = 10,
  NOISY_LEAF = 5,   /* results a leaf where they are noisy, instead of 1 */
  RANDOM_EVERY = 5, /* proposals */
  STARTS = 10,      /* of walks */
  MOVES = 100,      /* of a walk, at most */
  STUCK = 5,        /* times that a walk finds nothing better until it ends */
  STEPS = 4,        /* neighbours by each number */
  POOL = 1024,      /* points that are scored together; at least STEPS a parameter */
  FAILED_PART = 4   /* at most this part of model_size are failed trials besides */
};

static const double STEP = 0.4;   /* deviation, of a range of length 2 */
static const double NEAR = 0.05;  /* share of the results that count as near the best */
static const double LEAST = 1e-6; /* least distance, in units of the largest */
static const double MIN_VAR = 1e-20; /* where all trees agree */

/* A result: how far from the best, halved so that no difference overflows. */
typedef struct {
  double gap;
  int64_t row; /* of the history */
} ranked;

/* Everything here is a workspace. */
typedef struct {
  const cocabo_space *space; /* borrowed from the study */
  const cb_settings *settings;
  cb_forest *forest;

  /* What the forest learns from. */
  int n, n_results; /* rows; the first ones are results */
  double *x;        /* d x n */
  int32_t *h;       /* c x n */
  double *y;        /* n: targets */
  ranked *ranks;    /* results, best first */
  double *means;    /* n_results: what the forest says of them */
  double *variances;
  size_t x_room, h_room, y_room, ranks_room, means_room, variances_room;

  /* Points to be scored, and what the forest says. */
  double *pool_x;  /* d x POOL */
  int32_t *pool_h; /* c x POOL */
  double mean[POOL], variance[POOL], value[POOL];

  cb_acquire acquire;
  int starts[STARTS]; /* rows */
  double top;         /* value of the best free point found so far */
} smac;

/* ---- building -------------------------------------------------------------------- */

static void destroy(void *state) {
  smac *s = state;
  if (!s)
    return;
  cb_forest_free(s->forest);
  cb_free(s->x);
  cb_free(s->h);
  cb_free(s->y);
  cb_free(s->ranks);
  cb_free(s->means);
  cb_free(s->variances);
  cb_free(s->pool_x);
  cb_free(s->pool_h);
  cb_free(s);
}

/* Of category j, to be inactive included. */
static int32_t all_levels(const cocabo_space *space, int j) {
  const cb_param *p = &space->params[space->categorical[j]];
  return p->n_choices + (p->condition != NULL);
}

static cocabo_status build(smac *s, cocabo_error *err) {
  int32_t arms[COCABO_MAX_PARAMETERS];
  for (int j = 0; j < s->space->c; j++)
    arms[j] = all_levels(s->space, j);
  s->pool_x = cb_calloc((size_t)s->space->d * POOL, sizeof *s->pool_x);
  s->pool_h = cb_calloc((size_t)s->space->c * POOL, sizeof *s->pool_h);
  if (!s->pool_x || !s->pool_h)
    return cb_no_memory(err);
  const int least = s->settings->deterministic ? 1 : NOISY_LEAF;
  const cb_forest_spec spec = {.d = s->space->d,
                               .c = s->space->c,
                               .arms = arms,
                               .trees = TREES,
                               .bootstrap = true,
                               .min_split = 2 * least,
                               .min_leaf = least};
  return cb_forest_new(&s->forest, &spec, err);
}

static cocabo_status create(void **state, const cocabo_space *space,
                            const cb_settings *settings, cocabo_error *err) {
  *state = NULL;
  smac *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  s->space = space;
  s->settings = settings;
  const cocabo_status status = build(s, err);
  if (status != COCABO_OK) {
    destroy(s);
    return status;
  }
  *state = s;
  return COCABO_OK;
}

/* ---- learning -------------------------------------------------------------------- */

static void copy_point(const smac *s, double *to_x, int32_t *to_h, const double *x,
                       const int32_t *h) {
  if (s->space->d > 0)
    memcpy(to_x, x, (size_t)s->space->d * sizeof *x);
  if (s->space->c > 0)
    memcpy(to_h, h, (size_t)s->space->c * sizeof *h);
}

static double *x_of(const smac *s, int row) {
  return s->x + cb_at(0, row, s->space->d);
}

static int32_t *h_of(const smac *s, int row) {
  return s->h + cb_at(0, row, s->space->c);
}

/* One number more than is needed, so that no array is NULL. */
static cocabo_status add_row(smac *s, const double *x, const int32_t *h, double y,
                             cocabo_error *err) {
  const size_t d = (size_t)s->space->d, c = (size_t)s->space->c, n = (size_t)s->n + 1;
  if (!cb_reserve((void **)&s->x, &s->x_room, n * d + 1, sizeof *s->x) ||
      !cb_reserve((void **)&s->h, &s->h_room, n * c + 1, sizeof *s->h) ||
      !cb_reserve((void **)&s->y, &s->y_room, n, sizeof *s->y))
    return cb_no_memory(err);
  copy_point(s, x_of(s, s->n), h_of(s, s->n), x, h);
  s->y[s->n++] = y;
  return COCABO_OK;
}

static int by_gap(const void *a, const void *b) {
  const ranked *u = a, *v = b;
  if (u->gap != v->gap)
    return u->gap < v->gap ? -1 : 1;
  return (u->row > v->row) - (u->row < v->row);
}

static cocabo_status rank_results(smac *s, const cb_history *history,
                                  cocabo_error *err) {
  const size_t n = (size_t)history->n;
  if (!cb_reserve((void **)&s->ranks, &s->ranks_room, n, sizeof *s->ranks) ||
      !cb_reserve((void **)&s->means, &s->means_room, n, sizeof *s->means) ||
      !cb_reserve((void **)&s->variances, &s->variances_room, n, sizeof *s->variances))
    return cb_no_memory(err);
  const double top = history->y[history->best];
  for (size_t i = 0; i < n; i++)
    s->ranks[i] = (ranked){0.5 * top - 0.5 * history->y[i], (int64_t)i};
  qsort(s->ranks, n, sizeof *s->ranks, by_gap);
  return COCABO_OK;
}

/* The i-th of `kept` ranks out of n: the best half, then evenly spread. */
static int64_t kept_rank(int64_t i, int64_t kept, int64_t n) {
  const int64_t half = kept / 2;
  return i < half ? i : half + (i - half) * (n - half) / (kept - half);
}

/* The target of a value that is `gap` of the largest gap from the best; the worst has
 * 0. A log scale of the distance from a point somewhat beyond the best spreads the top.
 * With noise the top is luck, and is not spread. */
static double target_of(bool spread, double gap, double beyond) {
  return spread ? cb_log((1.0 + beyond) / (gap + beyond)) : 1.0 - gap;
}

/* The results, by rank; ranks are those of the rows afterwards. */
static cocabo_status add_results(smac *s, const cb_history *history, bool spread,
                                 cocabo_error *err) {
  const int64_t n = history->n, most = s->settings->model_size;
  const int64_t kept = n < most ? n : most;
  const double largest = s->ranks[n - 1].gap, unit = largest > 0.0 ? largest : 1.0;
  const double near = s->ranks[(int64_t)(NEAR * (double)(n - 1))].gap;
  const double beyond = fmax(near / unit, LEAST);
  for (int64_t i = 0; i < kept; i++) {
    const ranked r = s->ranks[i] = s->ranks[kept_rank(i, kept, n)];
    const cb_trial *trial = &history->trials[history->told[r.row]];
    CB_TRY(
        add_row(s, trial->x, trial->h, target_of(spread, r.gap / unit, beyond), err));
  }
  s->n_results = s->n;
  return COCABO_OK;
}

static cocabo_status grow(smac *s, const cb_ask *ask, int k, cocabo_error *err) {
  cb_rng rng =
      cb_rng_make(s->settings->seed, CB_RNG_FIT, (uint64_t)ask->number + (uint64_t)k);
  return cb_forest_fit(s->forest, s->n, s->x, s->h, s->y, &rng, err);
}

/* A forest of the results and the last failures. */
static cocabo_status learn(smac *s, const cb_ask *ask, bool spread, cocabo_error *err) {
  const cb_history *history = ask->history;
  const int64_t most = s->settings->model_size / FAILED_PART;
  const int64_t passed = history->n_failed > most ? history->n_failed - most : 0;
  s->n = 0;
  CB_TRY(rank_results(s, history, err));
  CB_TRY(add_results(s, history, spread, err));
  for (int64_t i = passed; i < history->n_failed; i++) {
    const cb_trial *trial = &history->trials[history->failed[i]];
    CB_TRY(add_row(s, trial->x, trial->h, 0.0, err));
  }
  return grow(s, ask, 0, err);
}

static cocabo_status fantasize(smac *s, const double *x, const int32_t *h,
                               cocabo_error *err) {
  double mean, variance;
  cb_forest_predict(s->forest, 1, x, h, &mean, &variance);
  return add_row(s, x, h, mean, err);
}

/* As learn, with fantasies of all that is pending and of points 0 .. k-1 of the
 * batch. */
static cocabo_status learn_for(smac *s, const cb_ask *ask, const cb_proposal *out,
                               int k, cocabo_error *err) {
  const cb_history *history = ask->history;
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  CB_TRY(learn(s, ask, s->settings->deterministic, err));
  for (int64_t i = 0; i < history->n_pending; i++) {
    const cb_trial *trial = &history->trials[history->pending[i]];
    CB_TRY(fantasize(s, trial->x, trial->h, err));
  }
  for (int i = 0; i < k; i++) {
    cb_space_encode(s->space, out[i].cells, x, h);
    CB_TRY(fantasize(s, x, h, err));
  }
  return history->n_pending + k > 0 ? grow(s, ask, k, err) : COCABO_OK;
}

/* ---- searching ------------------------------------------------------------------- */

/* A search for point k of a batch, and where its walk is. */
typedef struct {
  const cb_ask *ask;
  cb_proposal *out;
  int k;
  cb_rng rng;
  double x[COCABO_MAX_PARAMETERS], value;
  int32_t h[COCABO_MAX_PARAMETERS];
} search;

static double *pool_x(const smac *s, int i) {
  return s->pool_x + cb_at(0, i, s->space->d);
}

static int32_t *pool_h(const smac *s, int i) {
  return s->pool_h + cb_at(0, i, s->space->c);
}

/* Point i of the pool is the proposal if it is the best so far and nobody has it. */
static void consider(smac *s, search *in, int i) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  if (!(s->value[i] > s->top))
    return;
  cb_space_decode(s->space, pool_x(s, i), pool_h(s, i), cells);
  if (!cb_ask_is_fresh(in->ask, in->out, in->k, cells))
    return;
  memcpy(in->out[in->k].cells, cells, (size_t)s->space->n * sizeof *cells);
  s->top = s->value[i];
}

static void score(smac *s, search *in, int m) {
  cb_forest_predict(s->forest, m, s->pool_x, s->pool_h, s->mean, s->variance);
  for (int i = 0; i < m; i++) {
    const double sd = sqrt(s->variance[i] + MIN_VAR);
    s->value[i] = cb_acquire_value(&s->acquire, s->mean[i], sd, NULL, NULL);
    consider(s, in, i);
  }
}

static cocabo_status score_random(smac *s, search *in, cocabo_error *err) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  for (int64_t left = s->settings->samples; left > 0; left -= POOL) {
    const int m = left < POOL ? (int)left : POOL;
    CB_TRY(cb_ask_poll(in->ask, err));
    for (int i = 0; i < m; i++) {
      cb_space_sample(s->space, &in->rng, cells);
      cb_space_encode(s->space, cells, pool_x(s, i), pool_h(s, i));
    }
    score(s, in, m);
  }
  return COCABO_OK;
}

/* x_j after a Gaussian step; on a grid it is one level at least, at an end inwards. */
static double stepped(const smac *s, int j, double from, cb_rng *rng) {
  const double to = fmin(fmax(from + STEP * cb_rng_normal(rng), -1.0), 1.0);
  const int64_t levels = cb_space_levels(s->space, j);
  if (levels == 0)
    return to;
  const int64_t here = cb_space_level_of(s->space, j, from);
  int64_t there = cb_space_level_of(s->space, j, to);
  if (there == here)
    there += to > from || here == 0 ? 1 : -1;
  return cb_space_level_x(s->space, j,
                          there < 0         ? 0
                          : there >= levels ? levels - 1
                                            : there);
}

/* Point m of the pool, as a neighbour to be changed. */
static void begin_neighbour(const smac *s, const search *in, int m) {
  copy_point(s, pool_x(s, m), pool_h(s, m), in->x, in->h);
}

/* Once it is changed: m + 1, or m if it is not allowed. */
static int end_neighbour(const smac *s, search *in, int m) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  if (cb_space_is_plain(s->space))
    return m + 1;
  cb_space_decode_settled(s->space, pool_x(s, m), pool_h(s, m), &in->rng, cells);
  cb_space_encode(s->space, cells, pool_x(s, m), pool_h(s, m));
  return m + cb_space_allows(s->space, cells);
}

static bool has_number(const smac *s, const search *in, int j) {
  const int presence = s->space->params[s->space->numeric[j]].presence;
  return presence < 0 || in->x[s->space->numbers + presence] == 1.0;
}

/* All that differ in one parameter; of a variable with too many categories for the pool
 * a random choice. */
static int list_neighbours(smac *s, search *in) {
  const int numbers = s->space->numbers, c = s->space->c;
  const int32_t room = c > 0 ? (POOL - STEPS * numbers) / c : 0;
  int m = 0;
  for (int j = 0; j < c; j++) {
    const int32_t arms = cb_space_arms(s->space, j);
    const int32_t others = in->h[j] < arms ? arms - 1 : 0;
    for (int32_t i = 0; i < others && i < room; i++) {
      const int32_t by =
          others <= room ? i : (int32_t)cb_rng_below(&in->rng, (uint32_t)others);
      begin_neighbour(s, in, m);
      pool_h(s, m)[j] = (in->h[j] + 1 + by) % arms;
      m = end_neighbour(s, in, m);
    }
  }
  for (int j = 0; j < numbers; j++)
    for (int i = 0; i < STEPS && has_number(s, in, j); i++) {
      begin_neighbour(s, in, m);
      pool_x(s, m)[j] = stepped(s, j, in->x[j], &in->rng);
      m = end_neighbour(s, in, m);
    }
  return m;
}

/* The best neighbour if it is better, else one of the equals; -1 if there is none. A
 * forest is flat over large parts, where walking on is the only way to get away. */
static int choose_neighbour(smac *s, search *in, int m) {
  int best = -1;
  uint32_t equals = 0;
  for (int i = 0; i < m; i++) {
    const double to_beat = best < 0 ? in->value : s->value[best];
    if (s->value[i] > to_beat)
      best = i;
    else if (s->value[i] == in->value && to_beat == in->value &&
             cb_rng_below(&in->rng, ++equals) == 0)
      best = i;
  }
  return best;
}

static void walk(smac *s, search *in) {
  for (int move = 0, stuck = 0; move < MOVES && stuck < STUCK; move++) {
    const int m = list_neighbours(s, in);
    score(s, in, m);
    const int next = choose_neighbour(s, in, m);
    stuck += next < 0 || s->value[next] == in->value;
    if (next < 0)
      continue;
    copy_point(s, in->x, in->h, pool_x(s, next), pool_h(s, next));
    in->value = s->value[next];
  }
}

/* The results with the best means, best first, into starts; returns their number. */
static int rank_means(smac *s) {
  cb_forest_predict(s->forest, s->n_results, s->x, s->h, s->means, s->variances);
  return cb_rank_best(s->n_results, s->means, STARTS, s->starts);
}

/* Point k of the batch; not found if all that was looked at is taken. */
static cocabo_status find_point(smac *s, const cb_ask *ask, cb_proposal *out, int k,
                                bool *found, cocabo_error *err) {
  search in = {.ask = ask, .out = out, .k = k};
  in.rng = cb_rng_make(s->settings->seed, CB_RNG_ACQUIRE,
                       (uint64_t)ask->number + (uint64_t)k);
  s->top = -INFINITY;
  s->acquire =
      (cb_acquire){.kind = s->settings->acquisition, .kappa = s->settings->kappa};
  const int starts = rank_means(s);
  s->acquire.best = s->means[s->starts[0]];
  CB_TRY(score_random(s, &in, err));
  for (int i = 0; i < starts; i++) {
    copy_point(s, in.x, in.h, x_of(s, s->starts[i]), h_of(s, s->starts[i]));
    copy_point(s, pool_x(s, 0), pool_h(s, 0), in.x, in.h);
    score(s, &in, 1);
    in.value = s->value[0];
    walk(s, &in);
  }
  *found = s->top > -INFINITY;
  return COCABO_OK;
}

/* ---- proposing ------------------------------------------------------------------- */

static cocabo_status select_point(smac *s, const cb_ask *ask, cb_proposal *out, int k,
                                  cocabo_error *err) {
  const int64_t turn = ask->history->n_sampled + k;
  const bool explores = turn % RANDOM_EVERY == RANDOM_EVERY - 1;
  bool found = false;
  CB_TRY(cb_ask_poll(ask, err));
  out[k].drawn = false;
  if (ask->history->n > 0 && !explores) {
    CB_TRY(learn_for(s, ask, out, k, err));
    CB_TRY(find_point(s, ask, out, k, &found, err));
  }
  if (!found) {
    cb_rng rng = cb_rng_make(s->settings->seed, CB_RNG_RANDOM,
                             (uint64_t)ask->number + (uint64_t)k);
    cb_ask_random_point(ask, &rng, out, k);
  }
  return COCABO_OK;
}

static cocabo_status propose(void *state, const cb_ask *ask, cb_proposal *out,
                             cocabo_error *err) {
  smac *s = state;
  CB_TRY(cb_ask_has_room(ask, err));
  for (int k = 0; k < ask->batch; k++)
    CB_TRY(select_point(s, ask, out, k, err));
  return COCABO_OK;
}

/* The highest mean among the results that the forest has seen. */
static cocabo_status best(void *state, const cb_ask *ask, int64_t *row,
                          cocabo_error *err) {
  smac *s = state;
  CB_TRY(learn(s, ask, s->settings->deterministic, err));
  rank_means(s);
  *row = s->ranks[s->starts[0]].row;
  return COCABO_OK;
}

/* Where the top is not spread a target is 1 - gap / unit, which can be undone: the mean
 * over the trees is one of values as they were told. Each tree has its own bootstrap
 * sample, so that the trees differ as much as trees on new data would. */
static cocabo_status predict(void *state, const cb_ask *ask, int n, const double *x,
                             const int32_t *h, double *mean, double *sd,
                             double *feasible, cocabo_error *err) {
  smac *s = state;
  (void)feasible;
  CB_TRY(learn(s, ask, false, err));
  const cb_history *history = ask->history;
  const double top = history->y[history->best];
  const double half = 0.5 * top - 0.5 * cb_history_worst(history); /* no overflow */
  for (int i = 0; i < n; i++) {
    const double *xi = x + cb_at(0, i, s->space->d);
    const int32_t *hi = h + cb_at(0, i, s->space->c);
    double target, variance;
    cb_forest_predict(s->forest, 1, xi, hi, &target, &variance);
    mean[i] = 2.0 * (0.5 * top - half * (1.0 - target));
    sd[i] = 2.0 * half * sqrt(cb_forest_spread(s->forest, xi, hi));
  }
  return COCABO_OK;
}

static cocabo_status expect(void *state, const cb_ask *ask, const cb_trial *trial,
                            double *mean, double *se, cocabo_error *err) {
  return predict(state, ask, 1, trial->x, trial->h, mean, se, NULL, err);
}

const cb_sampler cb_sampler_smac = {
    .name = "smac",
    .revision = 3,
    .help = "a random forest, searched from neighbour to neighbour (SMAC)",
    .create = create,
    .destroy = destroy,
    .propose = propose,
    .best = best,
    .expect = expect,
    .predict = predict,
};
