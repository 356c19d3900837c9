/* tpe.c - the Tree-structured Parzen Estimator (Bergstra et al., 2011), as hyperopt has
 * it.
 *
 *   good    the best min(25, ceil(sqrt(n) / 4)) results, n the number of trials
 *   rest    the other results, and what has none: failed trials, as bad as can be;
 *           pending ones and the batch so far, so that the next point goes elsewhere
 *   l, g    how a variable is distributed among the good and among the rest
 *           (model/parzen.h); in the order of trial numbers, the oldest first
 *
 * Each variable by itself: of 24 candidates drawn from l the one with the largest l/g.
 * As l and g are products over the variables, that is the best of all combinations of
 * the candidates.
 *
 * A variable with a condition is judged by the trials where it is active, and counts
 * where it is. A combination that breaks a rule gives way to the best draw that keeps
 * them all, or is repaired.
 */
#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/status.h"
#include "model/parzen.h"
#include "sampler/sampler.h"
#include "sampler/samplers.h"

enum {
  CANDIDATES = 24,
  MOST_GOOD = 25,
  ROUNDS = 8 /* of candidates, while the points they make are known already */
};

typedef struct candidate {
  double x;     /* a number's place in [-1,1]; */
  int32_t h;    /* or a category */
  double score; /* log l - log g */
} candidate;

enum { GOOD, REST, N_GROUPS };

/* Workspaces only: nothing is remembered from one ask to the next. */
typedef struct tpe {
  const cocabo_space *space; /* borrowed from the study */
  cb_parzen *fits[N_GROUPS]; /* l and g of the variable at hand */
  int64_t n_members[N_GROUPS];
  int64_t *members[N_GROUPS]; /* trial numbers, ascending */
  int n_batch;                /* points proposed so far, and their codes */
  double *batch_x;            /* d x n_batch */
  int32_t *batch_h;           /* c x n_batch */
  double *x;                  /* values of one variable: trials, then the batch */
  int32_t *h;                 /* likewise */
  size_t members_room[N_GROUPS], batch_x_room, batch_h_room, x_room, h_room;
  candidate candidates[COCABO_MAX_PARAMETERS][CANDIDATES]; /* numbers, then choices */
} tpe;

static void destroy(void *state) {
  tpe *s = state;
  if (!s)
    return;
  for (int group = 0; group < N_GROUPS; group++) {
    cb_parzen_free(s->fits[group]);
    cb_free(s->members[group]);
  }
  cb_free(s->batch_x);
  cb_free(s->batch_h);
  cb_free(s->x);
  cb_free(s->h);
  cb_free(s);
}

static cocabo_status create(void **state, const cocabo_space *space,
                            const cb_settings *settings, cocabo_error *err) {
  (void)settings;
  *state = NULL;
  tpe *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  s->space = space;
  for (int group = 0; group < N_GROUPS; group++)
    if (cb_parzen_new(&s->fits[group], err) != COCABO_OK) {
      destroy(s);
      return COCABO_E_NO_MEMORY;
    }
  *state = s;
  return COCABO_OK;
}

/* ---- good and rest --------------------------------------------------------------- */

static int by_number(const void *a, const void *b) {
  const int64_t p = *(const int64_t *)a, q = *(const int64_t *)b;
  return (p > q) - (p < q);
}

/* Of equal results the one that was told first is the better. */
static int find_good(const cb_history *history, int64_t good[MOST_GOOD]) {
  const double wanted = ceil(0.25 * sqrt((double)history->n_trials));
  const int most = wanted < MOST_GOOD ? (int)wanted : MOST_GOOD;
  int64_t rows[MOST_GOOD + 1]; /* of the results, best first, and one to spare */
  int n = 0;
  for (int64_t row = 0; row < history->n; row++) {
    int place = n;
    for (; place > 0 && history->y[row] > history->y[rows[place - 1]]; place--)
      rows[place] = rows[place - 1];
    rows[place] = row;
    n += n < most;
  }
  for (int i = 0; i < n; i++)
    good[i] = history->told[rows[i]];
  qsort(good, (size_t)n, sizeof *good, by_number);
  return n;
}

static void split(tpe *s, const cb_history *history) {
  int64_t good[MOST_GOOD];
  const int n_good = find_good(history, good);
  s->n_members[GOOD] = s->n_members[REST] = 0;
  for (int64_t number = 0; number < history->n_trials; number++) {
    const int64_t next = s->n_members[GOOD];
    const int group = next < n_good && good[next] == number ? GOOD : REST;
    s->members[group][s->n_members[group]++] = number;
  }
}

/* Values of row j of x, of h, of the points that have one; how many. */
static int gather_x(tpe *s, const cb_history *history, int group, int j) {
  const int presence = s->space->params[s->space->numeric[j]].presence;
  const int also = presence < 0 ? -1 : s->space->numbers + presence; /* a row of x */
  int n = 0;
  for (int64_t i = 0; i < s->n_members[group]; i++) {
    const double *x = history->trials[s->members[group][i]].x;
    s->x[n] = x[j];
    n += also < 0 || x[also] == 1.0;
  }
  for (int i = 0; group == REST && i < s->n_batch; i++) {
    const double *x = s->batch_x + cb_at(0, i, s->space->d);
    s->x[n] = x[j];
    n += also < 0 || x[also] == 1.0;
  }
  return n;
}

static int gather_h(tpe *s, const cb_history *history, int group, int j) {
  const int32_t arms = cb_space_arms(s->space, j);
  int n = 0;
  for (int64_t i = 0; i < s->n_members[group]; i++) {
    s->h[n] = history->trials[s->members[group][i]].h[j];
    n += s->h[n] < arms;
  }
  for (int i = 0; group == REST && i < s->n_batch; i++) {
    s->h[n] = s->batch_h[cb_at(j, i, s->space->c)];
    n += s->h[n] < arms;
  }
  return n;
}

/* ---- grids ----------------------------------------------------------------------- */

/* The levels of finer grids are next to each other among the doubles: such a grid is
 * as good as continuous. */
static bool has_cells(const cocabo_space *space, int j) {
  const int64_t levels = cb_space_levels(space, j);
  return levels > 0 && levels <= CB_MAX_LOG_INT;
}

/* Half-way to the neighbours, and as far on the other side where there is none: the
 * first and the last level have whole cells. */
static void cell_of(const cocabo_space *space, int j, int64_t k, double *from,
                    double *to) {
  const int64_t last = cb_space_levels(space, j) - 1;
  const double at = cb_space_level_x(space, j, k);
  const double below = k > 0 ? at - cb_space_level_x(space, j, k - 1) : 0.0;
  const double above = k < last ? cb_space_level_x(space, j, k + 1) - at : 0.0;
  *from = at - 0.5 * (k > 0 ? below : last > 0 ? above : 2.0);
  *to = at + 0.5 * (k < last ? above : last > 0 ? below : 2.0);
}

static void range_of(const cocabo_space *space, int j, double *low, double *high) {
  double inner;
  *low = -1.0;
  *high = 1.0;
  if (has_cells(space, j)) {
    cell_of(space, j, 0, low, &inner);
    cell_of(space, j, cb_space_levels(space, j) - 1, &inner, high);
  }
}

/* ---- candidates ------------------------------------------------------------------ */

static double score_number(tpe *s, int j, double x) {
  if (!has_cells(s->space, j))
    return cb_parzen_log_density(s->fits[GOOD], x) -
           cb_parzen_log_density(s->fits[REST], x);
  double from, to;
  cell_of(s->space, j, cb_space_level_of(s->space, j, x), &from, &to);
  return cb_parzen_log_mass(s->fits[GOOD], from, to) -
         cb_parzen_log_mass(s->fits[REST], from, to);
}

/* Cells are dear to value and often drawn again. */
static double score_once(tpe *s, int j, const candidate *drawn, int n, double x) {
  for (int i = 0; i < n; i++)
    if (drawn[i].x == x)
      return drawn[i].score;
  return score_number(s, j, x);
}

static cocabo_status draw_numbers(tpe *s, const cb_history *history, int j, cb_rng *rng,
                                  cocabo_error *err) {
  candidate *drawn = s->candidates[j];
  double low, high;
  range_of(s->space, j, &low, &high);
  for (int group = 0; group < N_GROUPS; group++) {
    const int n = gather_x(s, history, group, j);
    CB_TRY(cb_parzen_fit(s->fits[group], low, high, n, s->x, err));
  }
  for (int i = 0; i < CANDIDATES; i++) {
    double x = cb_parzen_draw(s->fits[GOOD], rng);
    if (cb_space_levels(s->space, j) > 0)
      x = cb_space_level_x(s->space, j, cb_space_level_of(s->space, j, x));
    drawn[i] = (candidate){.x = x, .score = score_once(s, j, drawn, i, x)};
  }
  return COCABO_OK;
}

static cocabo_status draw_choices(tpe *s, const cb_history *history, int j, cb_rng *rng,
                                  cocabo_error *err) {
  candidate *drawn = s->candidates[s->space->numbers + j];
  const int32_t arms = cb_space_arms(s->space, j);
  for (int group = 0; group < N_GROUPS; group++) {
    const int n = gather_h(s, history, group, j);
    CB_TRY(cb_parzen_fit_choice(s->fits[group], arms, n, s->h, err));
  }
  for (int i = 0; i < CANDIDATES; i++) {
    const int32_t h = cb_parzen_draw_choice(s->fits[GOOD], rng);
    drawn[i] = (candidate){.h = h,
                           .score = cb_parzen_log_chance(s->fits[GOOD], h) -
                                    cb_parzen_log_chance(s->fits[REST], h)};
  }
  return COCABO_OK;
}

static cocabo_status draw_candidates(tpe *s, const cb_history *history, cb_rng *rng,
                                     cocabo_error *err) {
  for (int j = 0; j < s->space->numbers; j++)
    CB_TRY(draw_numbers(s, history, j, rng, err));
  for (int j = 0; j < s->space->c; j++)
    CB_TRY(draw_choices(s, history, j, rng, err));
  return COCABO_OK;
}

/* ---- proposing ------------------------------------------------------------------- */

/* The point whose variable v has candidate which[v], if it is active. */
static void assemble(const tpe *s, const int *which, cb_cell *cells) {
  const int numbers = s->space->numbers, c = s->space->c;
  double x[COCABO_MAX_PARAMETERS];
  int32_t h[COCABO_MAX_PARAMETERS];
  for (int j = 0; j < numbers; j++)
    x[j] = s->candidates[j][which[j]].x;
  for (int j = numbers; j < s->space->d; j++)
    x[j] = 1.0; /* all are there, and the conditions take away what is not */
  for (int j = 0; j < c; j++)
    h[j] = s->candidates[numbers + j][which[numbers + j]].h;
  cb_space_decode(s->space, x, h, cells);
}

/* Is variable v, a number or a choice, active? */
static bool is_active(const tpe *s, const cb_cell *cells, int v) {
  const int numbers = s->space->numbers;
  return cb_cell_is_active(
      cells[v < numbers ? s->space->numeric[v] : s->space->categorical[v - numbers]]);
}

/* Of each variable the best candidate. */
static void assemble_best(const tpe *s, cb_cell *cells) {
  int which[COCABO_MAX_PARAMETERS] = {0};
  for (int v = 0; v < s->space->n; v++) {
    for (int i = 1; i < CANDIDATES; i++)
      if (s->candidates[v][i].score > s->candidates[v][which[v]].score)
        which[v] = i;
  }
  assemble(s, which, cells);
}

/* The i-th candidates of all variables: a draw from l. */
static double assemble_draw(const tpe *s, int i, cb_cell *cells) {
  int which[COCABO_MAX_PARAMETERS];
  double score = 0.0;
  for (int v = 0; v < s->space->n; v++)
    which[v] = i;
  assemble(s, which, cells);
  for (int v = 0; v < s->space->n; v++)
    if (is_active(s, cells, v))
      score += s->candidates[v][i].score;
  return score;
}

/* Where the best combination is known already or forbidden, the best draw from l that
 * is not; and where those are all forbidden, the best combination repaired. */
static bool take_fresh(const tpe *s, const cb_ask *ask, cb_rng *rng, cb_proposal *out,
                       int k) {
  cb_cell *cells = out[k].cells;
  assemble_best(s, cells);
  if (cb_ask_is_fresh(ask, out, k, cells))
    return true;
  int best = -1;
  double best_score = 0.0;
  for (int i = 0; i < CANDIDATES; i++) {
    const double score = assemble_draw(s, i, cells);
    if ((best < 0 || score > best_score) && cb_ask_is_fresh(ask, out, k, cells)) {
      best = i;
      best_score = score;
    }
  }
  if (best >= 0)
    assemble_draw(s, best, cells);
  if (best >= 0 || s->space->n_rules == 0)
    return best >= 0;
  assemble_best(s, cells);
  return cb_space_repair(s->space, rng, cells) && cb_ask_is_fresh(ask, out, k, cells);
}

static cocabo_status propose_point(tpe *s, const cb_ask *ask, cb_proposal *out, int k,
                                   cocabo_error *err) {
  const uint64_t number = (uint64_t)ask->number + (uint64_t)k;
  cb_rng rng = cb_rng_make(ask->settings->seed, CB_RNG_ACQUIRE, number);
  out[k].drawn = false;
  for (int round = 0; round < ROUNDS; round++) {
    CB_TRY(cb_ask_poll(ask, err));
    CB_TRY(draw_candidates(s, ask->history, &rng, err));
    if (take_fresh(s, ask, &rng, out, k))
      return COCABO_OK;
  }
  rng = cb_rng_make(ask->settings->seed, CB_RNG_RANDOM, number);
  cb_ask_random_point(ask, &rng, out, k);
  return COCABO_OK;
}

static cocabo_status make_room(tpe *s, const cb_ask *ask, cocabo_error *err) {
  const size_t batch = (size_t)ask->batch;
  const size_t values = (size_t)ask->history->n_trials + batch;
  const size_t xs = (size_t)s->space->d * batch, hs = (size_t)s->space->c * batch;
  bool done =
      cb_reserve((void **)&s->x, &s->x_room, values, sizeof *s->x) &&
      cb_reserve((void **)&s->h, &s->h_room, values, sizeof *s->h) &&
      cb_reserve((void **)&s->batch_x, &s->batch_x_room, xs + 1, sizeof *s->x) &&
      cb_reserve((void **)&s->batch_h, &s->batch_h_room, hs + 1, sizeof *s->h);
  for (int group = 0; group < N_GROUPS; group++)
    done = done && cb_reserve((void **)&s->members[group], &s->members_room[group],
                              values, sizeof *s->members[group]);
  return done ? COCABO_OK : cb_no_memory(err);
}

static cocabo_status propose(void *state, const cb_ask *ask, cb_proposal *out,
                             cocabo_error *err) {
  tpe *s = state;
  CB_TRY(cb_ask_has_room(ask, err));
  CB_TRY(make_room(s, ask, err));
  split(s, ask->history);
  for (s->n_batch = 0; s->n_batch < ask->batch; s->n_batch++) {
    const int k = s->n_batch;
    CB_TRY(propose_point(s, ask, out, k, err));
    cb_space_encode(s->space, out[k].cells, s->batch_x + cb_at(0, k, s->space->d),
                    s->batch_h + cb_at(0, k, s->space->c));
  }
  return COCABO_OK;
}

const cb_sampler cb_sampler_tpe = {
    .name = "tpe",
    .revision = 3,
    .help = "Parzen estimators of good and of other points, variable by variable",
    .create = create,
    .destroy = destroy,
    .propose = propose,
};
