/* draw.h - one bandit agent's draw, as it is stored with a trial.
 *
 * The bandit makes it, the sampler hands it to the log and the log keeps it: tells may
 * come late and in any order, so what an update needs to know of its draw travels with
 * the trial. The log sees this header and nothing else of the bandit.
 */
#ifndef CB_BANDIT_DRAW_H
#define CB_BANDIT_DRAW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cb_draw {
  double p;     /* chance of the category to be drawn, or to be among the b */
  double gamma; /* exploration rate it was drawn with; 0: it was the only choice */
  int32_t b;    /* different categories drawn together (EXP3.M); 1: by itself (EXP3) */
  bool capped;  /* EXP3.M: the category's weight was capped and is not updated */
} cb_draw;

#endif
