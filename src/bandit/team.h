/* team.h - c EXP3 agents, one per categorical variable, paid by a joint reward.
 *
 * The objective is evaluated at the joint draw, and its value rewards every agent
 * (paper, section 4.1). In a round of b points an agent of N > b categories plays b
 * different ones (EXP3.M), an agent of fewer plays b times. What an update needs to
 * know of its draw travels with the trial, because tells may come late, in any order,
 * or never.
 *
 * A variable that a point does not have is h_j = N_j there. Its agent has no part in
 * that point: whatever was drawn for it, it learns nothing.
 */
#ifndef CB_BANDIT_TEAM_H
#define CB_BANDIT_TEAM_H

#include <stdint.h>

#include "bandit/draw.h"
#include "base/rng.h"
#include "cocabo.h"

/* How a value becomes a reward (decisions 0003 and 0006). Every form needs all values
 * seen so far, which the team keeps. EXP3.M must have rewards in [0,1], so a draw of
 * several categories together gets every form clipped to that; which rule applies is
 * the draw's own matter, and batches of any sizes may follow each other. */
typedef enum cb_reward {
  CB_REWARD_RELATIVE, /* best with this category above the mean of the best of all
                         categories, in units of the gap between the best and the median
                         of all values, clipped to [-1,1]; for several together in units
                         of the leading category's own advantage */
  CB_REWARD_STANDARD, /* best with this category, standardised, / 3, clipped to [-1,1]
                       */
  CB_REWARD_BEST,     /* best with this category, raw */
  CB_REWARD_VALUE,    /* this value scaled to [0,1] by the range seen so far */
  CB_REWARD_RANK      /* fractional rank of this value among all so far, in (0,1] */
} cb_reward;

typedef struct cb_team cb_team;

/* c >= 0 agents; arms[j] >= 1 categories of variable j. *out is owned by the caller. */
cocabo_status cb_team_new(cb_team **out, int c, const int32_t *arms, cb_reward reward,
                          cocabo_error *err);
void cb_team_free(cb_team *team); /* NULL is allowed */

typedef struct cb_round {
  int64_t horizon; /* planned number of rounds T; 0 = not known */
  int64_t number;  /* t >= 1 */
  int b;           /* points drawn in this round, >= 1 */
} cb_round;

/* Draws b vectors of categories, independently per variable: h is c x b, column-major,
 * and draws, of the same shape, say how. The vectors need not differ from each other,
 * and all have the same distribution. The team does not change. */
void cb_team_draw(const cb_team *team, const cb_round *round, cb_rng *rng, int32_t *h,
                  cb_draw *draws);

/* The draws[0..c-1] that describe a given h[0..c-1], as if the team had drawn it in
 * this round. */
void cb_team_describe(const cb_team *team, const cb_round *round, const int32_t *h,
                      cb_draw *draws);

/* Takes in an evaluated point, in told order; y is maximised. draws is NULL for a point
 * that the team did not choose: it counts for what has been seen but moves no weight.
 * Only fails for lack of memory, and then changes nothing. */
cocabo_status cb_team_tell(cb_team *team, const int32_t *h, double y,
                           const cb_draw *draws, cocabo_error *err);

int64_t cb_team_told(const cb_team *team); /* points taken in so far */

/* Agent j's log weights, borrowed until the next tell. */
const double *cb_team_log_weights(const cb_team *team, int j);

#endif
