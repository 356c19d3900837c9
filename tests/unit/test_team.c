#include "check.h"

#include <float.h>
#include <string.h>

#include "bandit/team.h"
#include "base/mem.h"

enum { C = 3 };
static const int32_t ARMS[C] = {4, 1, 3};
static const cb_reward REWARDS[] = {CB_REWARD_RELATIVE, CB_REWARD_STANDARD,
                                    CB_REWARD_BEST, CB_REWARD_VALUE, CB_REWARD_RANK};
enum { FORMS = sizeof REWARDS / sizeof REWARDS[0] };

static cb_team *new_team(int c, const int32_t *arms, cb_reward reward) {
  cb_team *team;
  cocabo_error err;
  assert_ok(cb_team_new(&team, c, arms, reward, &err));
  return team;
}

static void draw_round(const cb_team *team, int64_t horizon, int64_t number, int b,
                       cb_rng *rng, int32_t *h, cb_draw *draws) {
  const cb_round round = {.horizon = horizon, .number = number, .b = b};
  cb_team_draw(team, &round, rng, h, draws);
}

static void describe_round(const cb_team *team, int64_t horizon, int64_t number, int b,
                           const int32_t *h, cb_draw *draws) {
  const cb_round round = {.horizon = horizon, .number = number, .b = b};
  cb_team_describe(team, &round, h, draws);
}

static void tell(cb_team *team, const int32_t *h, double y, const cb_draw *draws) {
  cocabo_error err;
  assert_ok(cb_team_tell(team, h, y, draws, &err));
}

/* ---- rewards by hand ------------------------------------------------------------ */

/* One agent of two arms; draws with gamma / (N p) = 1/2 exactly, so that a log weight
 * is half the sum of its rewards. */
static const cb_draw HALF = {.p = 0.25, .gamma = 0.25, .b = 1, .capped = false};

typedef struct told {
  int32_t h;
  double y;
  bool drawn;
} told;

static cb_team *after_draws(cb_reward reward, int n, const told *points,
                            const cb_draw *draw) {
  const int32_t arms[1] = {2};
  cb_team *team = new_team(1, arms, reward);
  for (int i = 0; i < n; i++)
    tell(team, &points[i].h, points[i].y, points[i].drawn ? draw : NULL);
  return team;
}

static cb_team *after(cb_reward reward, int n, const told *points) {
  return after_draws(reward, n, points, &HALF);
}

static void assert_rewards_and_free(cb_team *team, double arm0, double arm1) {
  assert_close(2.0 * cb_team_log_weights(team, 0)[0], arm0, 1e-15);
  assert_close(2.0 * cb_team_log_weights(team, 0)[1], arm1, 1e-15);
  cb_team_free(team);
}

/* The rewards of both arms so far, summed. */
static void assert_rewards(cb_reward reward, int n, const told *points, double arm0,
                           double arm1) {
  assert_rewards_and_free(after(reward, n, points), arm0, arm1);
}

/* The same where both arms were drawn together, as in EXP3.M. */
static void assert_batch_rewards(cb_reward reward, int n, const told *points,
                                 double arm0, double arm1) {
  const cb_draw half = {.p = 0.5, .gamma = 0.25, .b = 2, .capped = false};
  assert_rewards_and_free(after_draws(reward, n, points, &half), arm0, arm1);
}

/* Two initial points, then one drawn with the first one's category. Of 2.3, -1.1, 0.7
 * the mean is 1.9/3 and the variance 6.99/3 - (1.9/3)^2. */
static const told THREE[] = {{0, 2.3, false}, {1, -1.1, false}, {0, 0.7, true}};

static void standard_reward_is_the_best_of_the_category_standardised(void **state) {
  (void)state;
  const double mean = 1.9 / 3, sd = sqrt(6.99 / 3 - mean * mean);
  assert_rewards(CB_REWARD_STANDARD, 3, THREE, (2.3 - mean) / sd / 3, 0);
  told other = THREE[2];
  other.h = 1; /* now -1.1 and 0.7 share the category */
  const told changed[] = {THREE[0], THREE[1], other};
  assert_rewards(CB_REWARD_STANDARD, 3, changed, 0, (0.7 - mean) / sd / 3);
}

/* THREE: category 0 has 2.3 and 0.7, category 1 has -1.1. The bests are 2.3 and -1.1 on
 * a mean of 0.6; the median is 0.7, and the gap above it 1.6: 1.7 / 1.6 is clipped. */
static void relative_reward_is_the_best_of_the_category_above_its_rivals(void **state) {
  (void)state;
  assert_rewards(CB_REWARD_RELATIVE, 3, THREE, 1.0, 0);
  told other = THREE[2];
  other.h = 1; /* bests 2.3 and 0.7 on a mean of 1.5: 0.8 below */
  const told changed[] = {THREE[0], THREE[1], other};
  assert_rewards(CB_REWARD_RELATIVE, 3, changed, 0, -0.5);
  /* Only one category seen: it is as good as the mean of all seen. */
  const told alone[] = {{1, 0.5, false}, {1, 2.5, false}, {1, 4.5, true}};
  assert_rewards(CB_REWARD_RELATIVE, 3, alone, 0, 0.0);
  /* Far below: clipped. */
  const told low[] = {{0, 0.5, false}, {0, 0.75, false}, {1, -99.0, true}};
  assert_rewards(CB_REWARD_RELATIVE, 3, low, 0, -1.0);
}

static void best_reward_is_the_best_of_the_category_raw(void **state) {
  (void)state;
  assert_rewards(CB_REWARD_BEST, 3, THREE, 2.3, 0);
  const told falling[] = {{1, -7.5, true}, {1, -9.25, true}, {0, -3.0, true}};
  assert_rewards(CB_REWARD_BEST, 3, falling, -3.0, -15.0);
}

static void value_reward_is_this_value_in_the_range_so_far(void **state) {
  (void)state;
  assert_rewards(CB_REWARD_VALUE, 3, THREE, 1.8 / 3.4, 0);
  const told record[] = {THREE[0], THREE[1], {1, 5.5, true}, {1, -4.5, true}};
  assert_rewards(CB_REWARD_VALUE, 3, record, 0, 1.0);
  assert_rewards(CB_REWARD_VALUE, 4, record, 0, 1.0 + 0.0);
}

static void rank_reward_is_the_mid_rank_over_the_count(void **state) {
  (void)state;
  assert_rewards(CB_REWARD_RANK, 3, THREE, 2.0 / 3, 0);
  /* The best of five gets 1, the worst of six 1/6, and a value that was there twice
   * shares the ranks 3, 4, 5 of seven. */
  const told more[] = {THREE[0],        THREE[1],       {0, 0.7, false},
                       {0, 0.7, false}, {1, 9.9, true}, {1, -8.8, true},
                       {0, 0.7, true}};
  assert_rewards(CB_REWARD_RANK, 5, more, 0, 1.0);
  assert_rewards(CB_REWARD_RANK, 6, more, 0, 1.0 + 1.0 / 6);
  assert_rewards(CB_REWARD_RANK, 7, more, 4.0 / 7, 1.0 + 1.0 / 6);
}

static void values_without_spread_give_the_neutral_reward(void **state) {
  (void)state;
  const told same[] = {{0, -0.3, true}, {1, -0.3, true}, {1, -0.3, true}};
  assert_rewards(CB_REWARD_STANDARD, 3, same, 0, 0);
  assert_rewards(CB_REWARD_RELATIVE, 3, same, 0, 0);
  assert_rewards(CB_REWARD_VALUE, 3, same, 0.5, 1.0);
  assert_rewards(CB_REWARD_RANK, 3, same, 1.0, 1.5 / 2 + 2.0 / 3);
}

/* The bests are 0.5 and 2.5 on a mean of 1.5. */
static void
relative_reward_of_a_batch_is_1_for_the_leader_and_never_negative(void **state) {
  (void)state;
  const told leader[] = {{0, 0.5, false}, {1, 2.5, false}, {1, -7.0, true}};
  assert_batch_rewards(CB_REWARD_RELATIVE, 3, leader, 0, 1.0);
  const told behind[] = {{0, 0.5, false}, {1, 2.5, false}, {0, -7.0, true}};
  assert_batch_rewards(CB_REWARD_RELATIVE, 3, behind, 0.0, 0);
  const told alone[] = {{1, 0.5, false}, {1, 2.5, true}, {1, 4.5, true}};
  assert_batch_rewards(CB_REWARD_RELATIVE, 3, alone, 0, 0.0);
  const told same[] = {{0, -0.3, true}, {1, -0.3, true}};
  assert_batch_rewards(CB_REWARD_RELATIVE, 2, same, 0, 0);
}

/* Three categories with the bests 4, 3 and -1 on a mean of 2: the second is half way
 * from the mean to the leader. */
static void relative_reward_of_a_batch_is_linear_between_mean_and_leader(void **state) {
  (void)state;
  const int32_t arms[1] = {3}, h[] = {0, 1, 2};
  const cb_draw draw = {.p = 0.75, .gamma = 0.5, .b = 2, .capped = false};
  cb_team *team = new_team(1, arms, CB_REWARD_RELATIVE);
  tell(team, &h[0], 4.0, NULL);
  tell(team, &h[2], -1.0, NULL);
  tell(team, &h[1], 3.0, &draw);
  assert_relative(cb_team_log_weights(team, 0)[1], 0.5 * 2 * 0.5 / (3 * 0.75), 1e-15);
  cb_team_free(team);
}

static void rewards_of_a_batch_are_clipped_to_0_and_1(void **state) {
  (void)state;
  const told high[] = {{0, -0.4, false}, {1, -0.4, false}, {1, 3.5, true}};
  assert_batch_rewards(CB_REWARD_BEST, 3, high, 0, 1.0);
  const told low[] = {{0, -0.4, false}, {1, -5.0, false}, {1, -3.5, true}};
  assert_batch_rewards(CB_REWARD_BEST, 3, low, 0, 0.0);
  assert_batch_rewards(CB_REWARD_STANDARD, 3, low, 0, 0.0);
  assert_batch_rewards(CB_REWARD_VALUE, 3, low, 0, 1.5 / 4.6);
  assert_batch_rewards(CB_REWARD_RANK, 3, low, 0, 2.0 / 3);
}

/* One value 10 deviations from the mean of 101: clipped on both sides. */
static void standard_reward_is_clipped(void **state) {
  (void)state;
  for (int sign = -1; sign <= 1; sign += 2) {
    told points[101];
    for (int i = 0; i < 100; i++)
      points[i] = (told){0, 0.4, false};
    points[100] = (told){1, 0.4 + sign * 2.0, true};
    assert_rewards(CB_REWARD_STANDARD, 101, points, 0, sign);
  }
}

static void rewards_depend_on_what_was_told_before_only(void **state) {
  (void)state;
  const told a = {0, 1.7, true}, b = {0, 3.1, true}, c = {1, -2.2, false};
  const told abc[] = {c, a, b}, bac[] = {c, b, a};
  assert_rewards(CB_REWARD_BEST, 3, abc, 1.7 + 3.1, 0);
  assert_rewards(CB_REWARD_BEST, 3, bac, 3.1 + 3.1, 0);
  assert_rewards(CB_REWARD_VALUE, 3, abc, 1.0 + 1.0, 0);
  assert_rewards(CB_REWARD_VALUE, 3, bac, 1.0 + 3.9 / 5.3, 0);
  assert_rewards(CB_REWARD_RANK, 3, abc, 1.0 + 1.0, 0);
  assert_rewards(CB_REWARD_RANK, 3, bac, 1.0 + 2.0 / 3, 0);
}

/* ---- rewards against the definitions, over a long run ---------------------------- */

static double by_definition(cb_reward form, int n, const told *points) {
  const told last = points[n - 1];
  double mean = 0, variance = 0, best = -INFINITY, min = INFINITY, max = -INFINITY;
  double rank = 0.5;
  for (int i = 0; i < n; i++) {
    const double y = points[i].y;
    mean += y / n;
    min = fmin(min, y);
    max = fmax(max, y);
    rank += y < last.y ? 1.0 : y == last.y ? 0.5 : 0.0;
    if (points[i].h == last.h)
      best = fmax(best, y);
  }
  for (int i = 0; i < n; i++)
    variance += (points[i].y - mean) * (points[i].y - mean) / n;
  switch (form) {
  case CB_REWARD_RELATIVE: {
    double median = 0; /* the mean of the two values with as many above as below */
    for (int i = 0; i < n; i++) {
      int below = 0;
      for (int k = 0; k < n; k++)
        below += points[k].y < points[i].y || (points[k].y == points[i].y && k < i);
      median += 0.5 * ((below == n / 2) + (below == (n - 1) / 2)) * points[i].y;
    }
    double bests = 0;
    int seen = 0;
    for (int32_t arm = 0; arm < 16; arm++) {
      double of_arm = -INFINITY;
      for (int i = 0; i < n; i++)
        if (points[i].h == arm)
          of_arm = fmax(of_arm, points[i].y);
      if (of_arm > -INFINITY)
        bests += of_arm, seen++;
    }
    return fmax(-1, fmin((best - bests / seen) / (max - median), 1));
  }
  case CB_REWARD_STANDARD:
    return fmax(-1, fmin((best - mean) / sqrt(variance) / 3, 1));
  case CB_REWARD_BEST:
    return best;
  case CB_REWARD_VALUE:
    return (last.y - min) / (max - min);
  case CB_REWARD_RANK:
    return rank / n;
  }
  return NAN;
}

static void rewards_follow_their_definitions_over_a_long_run(void **state) {
  (void)state;
  enum { N = 150 };
  told points[N];
  cb_rng rng = cb_rng_make(31, CB_RNG_BENCH, 0);
  for (int i = 0; i < N; i++) {
    /* Heavy tails, an offset, and ties: every fifth repeats an earlier value. */
    const double z = cb_rng_normal(&rng);
    points[i].y = i % 5 == 4 ? points[i / 2].y : 13.7 + z * z * z;
    points[i].h = (int32_t)cb_rng_below(&rng, 2);
    points[i].drawn = i >= 10;
  }
  for (int f = 0; f < FORMS; f++) {
    double want[2] = {0};
    for (int n = 11; n <= N; n++)
      want[points[n - 1].h] += by_definition(REWARDS[f], n, points);
    cb_team *team = after(REWARDS[f], N, points);
    for (int k = 0; k < 2; k++)
      assert_relative(2.0 * cb_team_log_weights(team, 0)[k], want[k], 1e-13);
    cb_team_free(team);
  }
}

static void bounded_rewards_do_not_depend_on_the_scale(void **state) {
  (void)state;
  enum { N = 40 };
  const double scales[] = {0x1p-700, 0x1p-60, 0x1p900};
  told points[N], scaled[N];
  cb_rng rng = cb_rng_make(32, CB_RNG_BENCH, 0);
  for (int i = 0; i < N; i++)
    points[i] = (told){(int32_t)cb_rng_below(&rng, 2), cb_rng_normal(&rng), true};
  for (int f = 0; f < FORMS; f++) {
    if (REWARDS[f] == CB_REWARD_BEST)
      continue;
    cb_team *team = after(REWARDS[f], N, points);
    for (size_t s = 0; s < sizeof scales / sizeof scales[0]; s++) {
      memcpy(scaled, points, sizeof scaled);
      for (int i = 0; i < N; i++)
        scaled[i].y *= scales[s];
      assert_rewards(REWARDS[f], N, scaled, 2.0 * cb_team_log_weights(team, 0)[0],
                     2.0 * cb_team_log_weights(team, 0)[1]);
    }
    cb_team_free(team);
  }
}

static void play_extremes(cb_team *team, int b) {
  const double extremes[] = {DBL_MAX, -DBL_MAX, 1e300, 0.0, -1e300, DBL_MIN, 5e-324};
  for (int t = 0; t < 140; t++) {
    cb_rng rng = cb_rng_make(t < 70, CB_RNG_BANDIT, (uint64_t)t);
    int32_t h[C * 3];
    cb_draw draws[C * 3];
    draw_round(team, 50, t + 1, b, &rng, h, draws);
    for (int k = 0; k < b * C; k++)
      assert_true(draws[k].p > 0.0 && draws[k].p <= 1.0 + 1e-15);
    for (int k = 0; k < b; k++)
      tell(team, h + k * C, extremes[(t * 5 + k) % 7], draws + k * C);
    for (int j = 0; j < C; j++)
      for (int i = 0; i < ARMS[j]; i++)
        assert_true(isfinite(cb_team_log_weights(team, j)[i]));
  }
}

static void extreme_values_give_finite_weights_and_fair_draws(void **state) {
  (void)state;
  for (int f = 0; f < FORMS; f++)
    for (int b = 1; b <= 3; b++) {
      cb_team *team = new_team(C, ARMS, REWARDS[f]);
      play_extremes(team, b);
      cb_team_free(team);
    }
}

/* ---- draws ---------------------------------------------------------------------- */

/* Plays n rounds after 5 points of no choice; keeps what was told in h, y, draws. */
static void play(cb_team *team, int n, int32_t (*h)[C], double *y,
                 cb_draw (*draws)[C]) {
  for (int t = 0; t < n; t++) {
    cb_rng rng = cb_rng_make(17, CB_RNG_BANDIT, (uint64_t)t);
    draw_round(team, t % 2 ? 90 : 0, t + 1, 1, &rng, h[t], draws[t]);
    y[t] = 0.31 * h[t][0] - 0.17 * h[t][2] + 0.4 * cb_rng_normal(&rng);
    tell(team, h[t], y[t], t < 5 ? NULL : draws[t]);
  }
}

static void describing_a_draw_gives_the_same_bits_as_drawing_it(void **state) {
  (void)state;
  enum { N = 60 };
  int32_t h[N][C];
  double y[N];
  cb_draw draws[N][C];
  cb_team *team = new_team(C, ARMS, CB_REWARD_STANDARD);
  play(team, N, h, y, draws);
  for (int t = 0; t < 30; t++) {
    const int64_t horizon = t % 2 ? 80 : 0;
    cb_rng rng = cb_rng_make(18, CB_RNG_BANDIT, (uint64_t)t);
    int32_t drawn[C];
    cb_draw made[C], described[C];
    draw_round(team, horizon, t + 1, 1, &rng, drawn, made);
    describe_round(team, horizon, t + 1, 1, drawn, described);
    for (int j = 0; j < C; j++) {
      assert_true(made[j].p == described[j].p && made[j].gamma == described[j].gamma);
      assert_int_equal(made[j].b, 1);
      assert_int_equal(described[j].b, 1);
      assert_false(made[j].capped || described[j].capped);
    }
  }
  cb_team_free(team);
}

static void described_probabilities_sum_to_one(void **state) {
  (void)state;
  enum { N = 60 };
  int32_t h[N][C];
  double y[N];
  cb_draw draws[N][C];
  cb_team *team = new_team(C, ARMS, CB_REWARD_BEST);
  play(team, N, h, y, draws);
  for (int j = 0; j < C; j++) {
    double sum = 0.0;
    for (int32_t i = 0; i < ARMS[j]; i++) {
      int32_t probe[C] = {0};
      cb_draw described[C];
      probe[j] = i;
      describe_round(team, 90, 61, 1, probe, described);
      sum += described[j].p;
    }
    assert_close(sum, 1.0, 1e-15);
  }
  cb_team_free(team);
}

static void drawing_changes_nothing_and_takes_one_number_per_agent(void **state) {
  (void)state;
  cb_team *team = new_team(C, ARMS, CB_REWARD_RANK);
  const int32_t first[C] = {2, 0, 1};
  cb_draw draws[C];
  describe_round(team, 0, 3, 1, first, draws);
  tell(team, first, 0.7, draws);

  cb_rng rng = cb_rng_make(9, CB_RNG_BANDIT, 2), again = rng, other = rng;
  int32_t h[C], h_again[C];
  draw_round(team, 0, 4, 1, &rng, h, draws);
  draw_round(team, 0, 4, 1, &again, h_again, draws);
  assert_memory_equal(h, h_again, sizeof h);
  assert_int_equal(cb_team_told(team), 1);
  for (int j = 0; j < C; j++)
    (void)cb_rng_uniform(&other);
  assert_int_equal(cb_rng_u32(&rng), cb_rng_u32(&other));
  cb_team_free(team);
}

static void a_variable_with_one_category_is_certain(void **state) {
  (void)state;
  cb_team *team = new_team(C, ARMS, CB_REWARD_BEST);
  const int32_t h[C] = {3, 0, 0};
  cb_draw draws[C];
  describe_round(team, 0, 1, 1, h, draws);
  assert_true(draws[1].p == 1.0 && draws[1].gamma == 0.0);
  tell(team, h, 4.4, draws);
  assert_true(cb_team_log_weights(team, 1)[0] == 0.0);
  assert_true(cb_team_log_weights(team, 0)[3] > 0.0);
  cb_team_free(team);
}

static void a_team_of_nobody_counts_points(void **state) {
  (void)state;
  cb_team *team = new_team(0, NULL, CB_REWARD_STANDARD);
  cb_rng rng = cb_rng_make(1, CB_RNG_BANDIT, 0);
  draw_round(team, 0, 1, 1, &rng, NULL, NULL);
  tell(team, NULL, 1.5, NULL);
  tell(team, NULL, -2.5, NULL);
  assert_int_equal(cb_team_told(team), 2);
  cb_team_free(team);
}

static void points_of_no_choice_move_no_weight(void **state) {
  (void)state;
  for (int f = 0; f < FORMS; f++) {
    cb_team *team = new_team(C, ARMS, REWARDS[f]);
    const int32_t h[C] = {1, 0, 2};
    tell(team, h, 3.3, NULL);
    tell(team, h, -1.2, NULL);
    assert_int_equal(cb_team_told(team), 2);
    for (int j = 0; j < C; j++)
      for (int i = 0; i < ARMS[j]; i++)
        assert_true(cb_team_log_weights(team, j)[i] == 0.0);
    cb_team_free(team);
  }
}

/* ---- batches -------------------------------------------------------------------- */

/* More arms than points, fewer, one, and as many. */
enum { BC = 4, B = 4 };
static const int32_t BATCH_ARMS[BC] = {7, 3, 1, 4};

/* Favours the categories 5, 2 and 1 of the variables of several. */
static cb_team *taught_team(void) {
  cb_team *team = new_team(BC, BATCH_ARMS, CB_REWARD_VALUE);
  const int32_t bad[BC] = {0, 0, 0, 0}, good[BC] = {5, 2, 0, 1},
                fair[BC] = {3, 1, 0, 3};
  const cb_draw draws[BC] = {{.p = 0.4, .gamma = 0.9, .b = 4},
                             {.p = 0.3, .gamma = 0.5, .b = 1},
                             {.p = 1.0, .gamma = 0.0, .b = 1},
                             {.p = 0.3, .gamma = 0.5, .b = 1}};
  tell(team, bad, -1.0, NULL);
  for (int i = 0; i < 2; i++) {
    tell(team, good, 1.0, draws);
    tell(team, fair, 0.2, draws);
  }
  return team;
}

static void a_variable_of_many_categories_gives_different_ones(void **state) {
  (void)state;
  cb_team *team = taught_team();
  for (int t = 0; t < 500; t++) {
    cb_rng rng = cb_rng_make(51, CB_RNG_BANDIT, (uint64_t)t);
    int32_t h[BC * B];
    cb_draw draws[BC * B];
    draw_round(team, t % 2 ? 80 : 0, t + 1, B, &rng, h, draws);
    for (int k = 0; k < B; k++) {
      for (int j = 0; j < BC; j++) {
        assert_in_range(h[j + k * BC], 0, BATCH_ARMS[j] - 1);
        assert_int_equal(draws[j + k * BC].b, j == 0 ? B : 1);
        assert_true(j == 0 || !draws[j + k * BC].capped);
      }
      for (int i = 0; i < k; i++)
        assert_true(h[k * BC] != h[i * BC]);
    }
  }
  cb_team_free(team);
}

/* Each place of the batch has each category as often as p / b says, and each pair of
 * categories of two variables as often as if they knew nothing of each other. */
static void all_vectors_of_a_batch_have_the_same_distribution(void **state) {
  (void)state;
  enum { ROUNDS = 60000 };
  static const int first = 0, second = 3;
  int counts[B][7] = {{0}}, pairs[B][7][4] = {{{0}}};
  double p[7], q[4];
  cb_team *team = taught_team();
  cb_rng rng = cb_rng_make(52, CB_RNG_BANDIT, 0);
  for (int t = 0; t < ROUNDS; t++) {
    int32_t h[BC * B];
    cb_draw draws[BC * B];
    draw_round(team, 40, 1, B, &rng, h, draws);
    for (int k = 0; k < B; k++) {
      const int32_t i = h[first + k * BC], m = h[second + k * BC];
      counts[k][i]++;
      pairs[k][i][m]++;
      p[i] = draws[first + k * BC].p / B;
      q[m] = draws[second + k * BC].p;
    }
  }
  for (int k = 0; k < B; k++)
    for (int i = 0; i < 7; i++) {
      assert_true(fabs(counts[k][i] - p[i] * ROUNDS) <=
                  4.5 * sqrt(p[i] * (1.0 - p[i]) * ROUNDS));
      for (int m = 0; m < 4; m++) {
        const double both = p[i] * q[m];
        assert_true(fabs(pairs[k][i][m] - both * ROUNDS) <=
                    4.5 * sqrt(both * (1.0 - both) * ROUNDS));
      }
    }
  cb_team_free(team);
}

static void two_variables_of_a_batch_are_independent(void **state) {
  (void)state;
  enum { ROUNDS = 40000, N = 5 };
  const int32_t arms[2] = {N, N};
  int pairs[N][N] = {{0}};
  cb_team *team = new_team(2, arms, CB_REWARD_VALUE);
  cb_rng rng = cb_rng_make(53, CB_RNG_BANDIT, 0);
  for (int t = 0; t < ROUNDS; t++) {
    int32_t h[2 * 3];
    cb_draw draws[2 * 3];
    draw_round(team, 40, 1, 3, &rng, h, draws);
    pairs[h[0]][h[1]]++; /* of the first vector; DepRound gives ascending arms */
  }
  const double p = 1.0 / (N * N), sd = sqrt(p * (1.0 - p) * ROUNDS);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < N; k++)
      assert_true(fabs(pairs[i][k] - p * ROUNDS) <= 4.5 * sd);
  cb_team_free(team);
}

static void describing_a_batch_gives_the_same_bits_as_drawing_it(void **state) {
  (void)state;
  cb_team *team = taught_team();
  int capped = 0;
  for (int b = 1; b <= 6; b++)
    for (int t = 0; t < 20; t++) {
      cb_rng rng = cb_rng_make(54, CB_RNG_BANDIT, (uint64_t)t);
      int32_t h[BC * 6];
      cb_draw made[BC * 6], described[BC];
      draw_round(team, t % 2 ? 900 : 0, 77, b, &rng, h, made);
      for (int k = 0; k < b; k++) {
        describe_round(team, t % 2 ? 900 : 0, 77, b, h + k * BC, described);
        for (int j = 0; j < BC; j++) {
          const cb_draw *m = &made[j + k * BC], *d = &described[j];
          assert_true(m->p == d->p && m->gamma == d->gamma);
          assert_true(m->b == d->b && m->capped == d->capped);
          capped += d->capped;
        }
      }
    }
  assert_true(capped > 0);
  cb_team_free(team);
}

static void gamma_of_a_batch_counts_all_its_points(void **state) {
  (void)state;
  cb_team *team = taught_team();
  const int32_t h[BC] = {5, 2, 0, 1};
  cb_draw batch[BC], alone[BC];
  describe_round(team, 80, 9, B, h, batch);
  describe_round(team, 80 * B, 9, 1, h, alone);
  const double rounds = 2.0 * 80 / 3;
  assert_relative(batch[0].gamma,
                  sqrt(7 * log(7.0 / B) / ((exp(1.0) - 1) * B * rounds)), 1e-14);
  for (int j = 1; j < BC; j++) {
    assert_close(batch[j].gamma, alone[j].gamma, 1e-15);
    assert_close(batch[j].p, alone[j].p, 1e-15);
  }
  cb_team_free(team);
}

static void a_tell_honours_b_and_capped(void **state) {
  (void)state;
  const int32_t arms[2] = {7, 7}, h[2] = {4, 6}, other[2] = {0, 0};
  const cb_draw draws[2] = {{.p = 0.8, .gamma = 0.35, .b = 4, .capped = false},
                            {.p = 1.0, .gamma = 0.35, .b = 4, .capped = true}};
  cb_team *team = new_team(2, arms, CB_REWARD_VALUE);
  tell(team, other, -1.0, NULL);
  tell(team, other, 1.0, NULL);
  tell(team, h, 0.25, draws);
  assert_relative(cb_team_log_weights(team, 0)[4], 4 * 0.35 * 0.625 / (7 * 0.8), 1e-15);
  for (int i = 0; i < 7; i++)
    assert_true(cb_team_log_weights(team, 1)[i] == 0.0);
  cb_team_free(team);
}

/* ---- state ---------------------------------------------------------------------- */

static void assert_same_weights(const cb_team *a, const cb_team *b) {
  assert_int_equal(cb_team_told(a), cb_team_told(b));
  for (int j = 0; j < C; j++)
    assert_memory_equal(cb_team_log_weights(a, j), cb_team_log_weights(b, j),
                        (size_t)ARMS[j] * sizeof(double));
}

static void telling_everything_again_gives_the_same_bits(void **state) {
  (void)state;
  enum { N = 200 };
  static int32_t h[N][C];
  static double y[N];
  static cb_draw draws[N][C];
  for (int f = 0; f < FORMS; f++) {
    cb_team *played = new_team(C, ARMS, REWARDS[f]);
    play(played, N, h, y, draws);
    cb_team *refolded = new_team(C, ARMS, REWARDS[f]);
    for (int t = 0; t < N; t++)
      tell(refolded, h[t], y[t], t < 5 ? NULL : draws[t]);
    assert_same_weights(played, refolded);
    cb_team_free(refolded);
    cb_team_free(played);
  }
}

/* Every tell is tried with a failing allocation first; most need none and succeed. The
 * team must come out as one that never saw a failure. */
static void out_of_memory_leaves_the_team_unchanged(void **state) {
  (void)state;
  enum { N = 70 };
  int32_t h[N][C];
  double y[N];
  cb_draw draws[N][C];
  cb_team *calm = new_team(C, ARMS, CB_REWARD_STANDARD);
  play(calm, N, h, y, draws);

  cb_team *shaken = new_team(C, ARMS, CB_REWARD_STANDARD);
  int failures = 0;
  for (int t = 0; t < N; t++) {
    const cb_draw *how = t < 5 ? NULL : draws[t];
    double before[4];
    memcpy(before, cb_team_log_weights(shaken, 0), sizeof before);
    cocabo_error err;
    cb_mem_fail_after(0);
    const cocabo_status status = cb_team_tell(shaken, h[t], y[t], how, &err);
    cb_mem_fail_after(-1);
    if (status == COCABO_OK)
      continue;
    assert_int_equal(status, COCABO_E_NO_MEMORY);
    assert_string_equal(err.message, "out of memory");
    assert_int_equal(cb_team_told(shaken), t);
    assert_memory_equal(before, cb_team_log_weights(shaken, 0), sizeof before);
    failures++;
    tell(shaken, h[t], y[t], how);
  }
  assert_true(failures >= 5);
  assert_same_weights(calm, shaken);
  cb_team_free(shaken);
  cb_team_free(calm);
}

static void out_of_memory_makes_no_team(void **state) {
  (void)state;
  cb_team *team;
  cocabo_error err;
  for (long n = 0; n < 2; n++) {
    team = (cb_team *)&err;
    cb_mem_fail_after(n);
    assert_fails(cb_team_new(&team, C, ARMS, CB_REWARD_BEST, &err), COCABO_E_NO_MEMORY,
                 "out of memory");
    assert_null(team);
  }
  cb_mem_fail_after(-1);
  cb_team_free(NULL);
}

static void impossible_teams_are_named(void **state) {
  (void)state;
  cb_team *team;
  cocabo_error err;
  const int32_t none[3] = {2, 0, 3}, many[2] = {2, COCABO_MAX_CHOICES + 1};
  assert_fails(cb_team_new(&team, -1, none, CB_REWARD_BEST, &err), COCABO_E_INVALID,
               "a team of -1 agents, want >= 0");
  assert_fails(cb_team_new(&team, 3, none, CB_REWARD_BEST, &err), COCABO_E_RANGE,
               "agent 1 has 0 arms, want 1 to 1000");
  assert_fails(cb_team_new(&team, 2, many, CB_REWARD_BEST, &err), COCABO_E_RANGE,
               "agent 1 has 1001 arms, want 1 to 1000");
  assert_null(team);
}

/* The agent of a variable that a point does not have is as if it had not been told; the
 * others learn what they would have learnt. */
static void a_variable_that_is_not_there_teaches_nothing(void **state) {
  (void)state;
  for (int form = 0; form < FORMS; form++) {
    cb_team *team = new_team(C, ARMS, REWARDS[form]);
    const int32_t with[C] = {2, 0, 1}, without[C] = {2, 0, ARMS[2]};
    double before[4], all[4];
    cb_draw draws[C];
    describe_round(team, 0, 1, 1, with, draws);
    tell(team, with, 1.0, draws);
    memcpy(before, cb_team_log_weights(team, 2), 3 * sizeof *before);
    describe_round(team, 0, 2, 1, without, draws);
    assert_true(draws[0].p > 0.0 && draws[0].p < 1.0);
    tell(team, without, 7.0, draws);
    assert_memory_equal(cb_team_log_weights(team, 2), before, 3 * sizeof *before);
    assert_int_equal(cb_team_told(team), 2);
    memcpy(all, cb_team_log_weights(team, 0), 4 * sizeof *all);
    cb_team_free(team);

    team = new_team(1, ARMS, REWARDS[form]); /* the first agent alone */
    describe_round(team, 0, 1, 1, with, draws);
    tell(team, with, 1.0, draws);
    describe_round(team, 0, 2, 1, with, draws);
    tell(team, with, 7.0, draws);
    assert_memory_equal(cb_team_log_weights(team, 0), all, 4 * sizeof *all);
    cb_team_free(team);
  }
}

static void the_largest_agent_works(void **state) {
  (void)state;
  const int32_t arms[1] = {COCABO_MAX_CHOICES};
  cb_team *team = new_team(1, arms, CB_REWARD_VALUE);
  cb_rng rng = cb_rng_make(2, CB_RNG_BANDIT, 0);
  int32_t h;
  cb_draw draw;
  draw_round(team, 0, 1, 1, &rng, &h, &draw);
  assert_in_range(h, 0, COCABO_MAX_CHOICES - 1);
  assert_relative(draw.p, 1.0 / COCABO_MAX_CHOICES, 1e-13);
  tell(team, &h, 1.0, &draw);
  cb_team_free(team);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(relative_reward_is_the_best_of_the_category_above_its_rivals),
      cmocka_unit_test(standard_reward_is_the_best_of_the_category_standardised),
      cmocka_unit_test(best_reward_is_the_best_of_the_category_raw),
      cmocka_unit_test(value_reward_is_this_value_in_the_range_so_far),
      cmocka_unit_test(rank_reward_is_the_mid_rank_over_the_count),
      cmocka_unit_test(values_without_spread_give_the_neutral_reward),
      cmocka_unit_test(
          relative_reward_of_a_batch_is_1_for_the_leader_and_never_negative),
      cmocka_unit_test(relative_reward_of_a_batch_is_linear_between_mean_and_leader),
      cmocka_unit_test(rewards_of_a_batch_are_clipped_to_0_and_1),
      cmocka_unit_test(standard_reward_is_clipped),
      cmocka_unit_test(rewards_depend_on_what_was_told_before_only),
      cmocka_unit_test(rewards_follow_their_definitions_over_a_long_run),
      cmocka_unit_test(bounded_rewards_do_not_depend_on_the_scale),
      cmocka_unit_test(extreme_values_give_finite_weights_and_fair_draws),
      cmocka_unit_test(describing_a_draw_gives_the_same_bits_as_drawing_it),
      cmocka_unit_test(described_probabilities_sum_to_one),
      cmocka_unit_test(drawing_changes_nothing_and_takes_one_number_per_agent),
      cmocka_unit_test(a_variable_with_one_category_is_certain),
      cmocka_unit_test(a_team_of_nobody_counts_points),
      cmocka_unit_test(points_of_no_choice_move_no_weight),
      cmocka_unit_test(a_variable_of_many_categories_gives_different_ones),
      cmocka_unit_test(all_vectors_of_a_batch_have_the_same_distribution),
      cmocka_unit_test(two_variables_of_a_batch_are_independent),
      cmocka_unit_test(describing_a_batch_gives_the_same_bits_as_drawing_it),
      cmocka_unit_test(gamma_of_a_batch_counts_all_its_points),
      cmocka_unit_test(a_tell_honours_b_and_capped),
      cmocka_unit_test(telling_everything_again_gives_the_same_bits),
      cmocka_unit_test(out_of_memory_leaves_the_team_unchanged),
      cmocka_unit_test(out_of_memory_makes_no_team),
      cmocka_unit_test(impossible_teams_are_named),
      cmocka_unit_test(a_variable_that_is_not_there_teaches_nothing),
      cmocka_unit_test(the_largest_agent_works),
  };
  return cmocka_run_group_tests_name("bandit/team", tests, NULL, NULL);
}
