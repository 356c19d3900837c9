/* team.c - the agents of all categorical variables: drawing for a batch of b points,
 * and turning told values into rewards.
 *
 * Values are told in one order by every reader of a log, so that weights, means and
 * deviations have the same bits wherever they are folded.
 */
#include "bandit/team.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "bandit/exp3.h"
#include "bandit/exp3m.h"
#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"

typedef struct agent {
  int32_t n;     /* categories */
  double *log_w; /* n */
  double *best;  /* n: best value seen with the category, -inf if there is none */
} agent;

/* Mean and deviation are those of the values halved, so that the difference of any two
 * is finite. Both are updated in told order: telling the same points again in the same
 * order gives the same bits. */
struct cb_team {
  int c;
  cb_reward reward;
  size_t told, capacity; /* length of `values`, and room in it */
  double *values;        /* all values so far, ascending */
  double half_mean;
  double half_sd;  /* population */
  double *numbers; /* the block behind the agents' log_w and best */
  agent agents[];  /* c */
};

static void deal_numbers(cb_team *team) {
  double *next = team->numbers;
  for (int j = 0; j < team->c; j++) {
    agent *a = &team->agents[j];
    a->log_w = next;
    a->best = next + a->n;
    next += 2 * (ptrdiff_t)a->n;
    for (int32_t i = 0; i < a->n; i++)
      a->best[i] = -INFINITY;
  }
}

cocabo_status cb_team_new(cb_team **out, int c, const int32_t *arms, cb_reward reward,
                          cocabo_error *err) {
  *out = NULL;
  if (c < 0)
    return cb_fail(err, COCABO_E_INVALID, "a team of %d agents, want >= 0", c);
  size_t total = 0;
  for (int j = 0; j < c; j++) {
    if (arms[j] < 1 || arms[j] > COCABO_MAX_CHOICES)
      return cb_fail(err, COCABO_E_RANGE, "agent %d has %d arms, want 1 to %d", j,
                     (int)arms[j], COCABO_MAX_CHOICES);
    total += (size_t)arms[j];
  }

  cb_team *team = cb_calloc(1, sizeof *team + (size_t)c * sizeof team->agents[0]);
  if (!team)
    return cb_no_memory(err);
  team->c = c;
  team->reward = reward;
  for (int j = 0; j < c; j++)
    team->agents[j].n = arms[j];
  team->numbers = cb_calloc(2 * total, sizeof team->numbers[0]);
  if (!team->numbers) {
    cb_team_free(team);
    return cb_no_memory(err);
  }
  deal_numbers(team);
  *out = team;
  return COCABO_OK;
}

void cb_team_free(cb_team *team) {
  if (!team)
    return;
  cb_free(team->values);
  cb_free(team->numbers);
  cb_free(team);
}

/* ---- drawing --------------------------------------------------------------------- */

/* One agent's distribution in a round. */
typedef struct odds {
  double gamma;
  int32_t together; /* b where the b drawn differ, 1 where each is drawn by itself */
  double p[COCABO_MAX_CHOICES];
  bool capped[COCABO_MAX_CHOICES];
} odds;

static void find_odds(const agent *a, const cb_round *round, odds *o) {
  o->gamma = cb_exp3_gamma(a->n, round->b, round->horizon, round->number);
  o->together = round->b < a->n ? round->b : 1;
  if (o->together > 1) {
    cb_exp3m_probabilities(a->n, round->b, a->log_w, o->gamma, o->p, o->capped);
  } else {
    cb_exp3_probabilities(a->n, a->log_w, o->gamma, o->p);
    memset(o->capped, 0, (size_t)a->n * sizeof o->capped[0]);
  }
}

static cb_draw draw_at(const odds *o, int32_t arm) {
  return (cb_draw){
      .p = o->p[arm], .gamma = o->gamma, .b = o->together, .capped = o->capped[arm]};
}

/* One variable of all b vectors: entry k is h[k * c]. What DepRound gives is shuffled,
 * so that no variable's order tells of another's. */
static void draw_variable(const agent *a, const cb_round *round, cb_rng *rng, int c,
                          int32_t *h, cb_draw *draws) {
  odds o;
  int32_t chosen[COCABO_MAX_CHOICES];
  find_odds(a, round, &o);
  if (o.together > 1) {
    cb_depround(a->n, round->b, o.p, rng, chosen);
    cb_rng_shuffle(rng, round->b, chosen);
  }
  for (int k = 0; k < round->b; k++) {
    const int32_t arm = o.together > 1 ? chosen[k] : cb_exp3_draw(a->n, o.p, rng);
    h[cb_at(0, k, c)] = arm;
    draws[cb_at(0, k, c)] = draw_at(&o, arm);
  }
}

void cb_team_draw(const cb_team *team, const cb_round *round, cb_rng *rng, int32_t *h,
                  cb_draw *draws) {
  for (int j = 0; j < team->c; j++)
    draw_variable(&team->agents[j], round, rng, team->c, h + j, draws + j);
}

void cb_team_describe(const cb_team *team, const cb_round *round, const int32_t *h,
                      cb_draw *draws) {
  odds o;
  for (int j = 0; j < team->c; j++) {
    const agent *a = &team->agents[j];
    assert(h[j] >= 0 && h[j] <= a->n);
    find_odds(a, round, &o);
    draws[j] =
        h[j] < a->n ? draw_at(&o, h[j]) : (cb_draw){.p = 1.0, .gamma = o.gamma, .b = 1};
  }
}

/* ---- rewards --------------------------------------------------------------------- */

/* How many of the values are below y; with `or_equal`, how many do not exceed it. */
static size_t count_below(const cb_team *team, double y, bool or_equal) {
  size_t low = 0, high = team->told;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const double v = team->values[middle];
    if (v < y || (or_equal && v == y))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* There is room for one more. */
static void insert_value(cb_team *team, double y) {
  const size_t at = count_below(team, y, true);
  memmove(&team->values[at + 1], &team->values[at],
          (team->told - at) * sizeof team->values[0]);
  team->values[at] = y;
  team->told++;
}

/* Welford's recurrence for the deviation itself rather than for the sum of squares,
 *
 *   sd_n^2 = (n-1)/n sd_{n-1}^2 + (n-1)/n^2 (y - mean_{n-1})^2,
 *
 * so that values of 1e200 or 1e-200 neither overflow nor vanish when squared. */
static void update_moments(cb_team *team, double y) {
  const double n = (double)team->told; /* y included */
  const double delta = 0.5 * y - team->half_mean;
  team->half_mean += delta / n;
  team->half_sd =
      cb_hypot(sqrt((n - 1.0) / n) * team->half_sd, sqrt(n - 1.0) / n * delta);
}

static double clipped(double reward, double low, double high) {
  return fmax(low, fmin(reward, high));
}

static double standardised(const cb_team *team, double best) {
  if (!(team->half_sd > 0.0))
    return 0.0;
  const double deviations = (0.5 * best - team->half_mean) / team->half_sd;
  return clipped(deviations / 3.0, -1.0, 1.0);
}

/* Mean over the categories seen of their best values, halved. */
static double half_mean_of_bests(const agent *a) {
  double sum = 0.0;
  int seen = 0;
  for (int32_t i = 0; i < a->n; i++)
    if (a->best[i] > -INFINITY) {
      seen++;
      sum += (0.5 * a->best[i] - sum) / seen; /* a running mean: no sum overflows */
    }
  return sum;
}

/* Half values here and below, so that no difference overflows. */
static double relative(const cb_team *team, const agent *a, double best) {
  const size_t n = team->told;
  const double half_median =
      0.25 * team->values[(n - 1) / 2] + 0.25 * team->values[n / 2];
  const double half_gap = 0.5 * team->values[n - 1] - half_median;
  if (!(half_gap > 0.0))
    return 0.0;
  return clipped((0.5 * best - half_mean_of_bests(a)) / half_gap, -1.0, 1.0);
}

/* 1 for the category of the best of all values, 0 for the mean category. */
static double relative_to_leader(const cb_team *team, const agent *a, double best) {
  const double half_mean = half_mean_of_bests(a);
  const double half_lead = 0.5 * team->values[team->told - 1] - half_mean;
  return half_lead > 0.0 ? (0.5 * best - half_mean) / half_lead : 0.0;
}

static double scaled_by_range(const cb_team *team, double y) {
  const double half_min = 0.5 * team->values[0];
  const double half_range = 0.5 * team->values[team->told - 1] - half_min;
  return half_range > 0.0 ? (0.5 * y - half_min) / half_range : 0.5;
}

/* The mid-rank counts from 1, and equal values share the mean of their ranks: the
 * worst of n different values gets 1/n, the best 1. */
static double fractional_rank(const cb_team *team, double y) {
  const double below = (double)count_below(team, y, false);
  const double not_above = (double)count_below(team, y, true);
  return 0.5 * (below + not_above + 1.0) / (double)team->told;
}

/* Agent a's for the value y, already taken in, with a category of best value `best`. */
static double by_form(const cb_team *team, const agent *a, double y, double best,
                      bool together) {
  switch (team->reward) {
  case CB_REWARD_RELATIVE:
    return together ? relative_to_leader(team, a, best) : relative(team, a, best);
  case CB_REWARD_STANDARD:
    return standardised(team, best);
  case CB_REWARD_BEST:
    return best;
  case CB_REWARD_VALUE:
    return scaled_by_range(team, y);
  case CB_REWARD_RANK:
    return fractional_rank(team, y);
  }
  return 0.0;
}

static double reward_of(const cb_team *team, const agent *a, double y, double best,
                        const cb_draw *draw) {
  const bool together = draw->b > 1;
  const double reward = by_form(team, a, y, best, together);
  return together ? clipped(reward, 0.0, 1.0) : reward;
}

/* ---- telling --------------------------------------------------------------------- */

cocabo_status cb_team_tell(cb_team *team, const int32_t *h, double y,
                           const cb_draw *draws, cocabo_error *err) {
  assert(isfinite(y));
  void *values = team->values;
  if (!cb_reserve(&values, &team->capacity, team->told + 1, sizeof team->values[0]))
    return cb_no_memory(err);
  team->values = values;

  insert_value(team, y);
  update_moments(team, y);
  for (int j = 0; j < team->c; j++) {
    agent *a = &team->agents[j];
    assert(h[j] >= 0 && h[j] <= a->n);
    if (h[j] == a->n)
      continue;
    a->best[h[j]] = fmax(a->best[h[j]], y);
    if (draws)
      cb_exp3_update(a->n, a->log_w, h[j],
                     reward_of(team, a, y, a->best[h[j]], &draws[j]), &draws[j]);
  }
  return COCABO_OK;
}

int64_t cb_team_told(const cb_team *team) {
  return (int64_t)team->told;
}

const double *cb_team_log_weights(const cb_team *team, int j) {
  assert(j >= 0 && j < team->c);
  return team->agents[j].log_w;
}
