/* draw.h - one bandit agent's draw, as it is stored with a trial.
 *
 * It sits at the bottom of the layers because the bandit makes it, the event log keeps
 * it and the sampler carries it between the two: tells may come late and in any order,
 * so what an update needs to know of its draw travels with the trial.
 */
#ifndef CB_BASE_DRAW_H
#define CB_BASE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cb_draw {
  double p;     /* chance of the category to be drawn, or to be among the b */
  double gamma; /* exploration rate it was drawn with; 0: it was the only choice */
  int32_t b;    /* different categories drawn together (EXP3.M); 1: by itself (EXP3) */
  bool capped;  /* EXP3.M: the category's weight was capped and is not updated */
} cb_draw;

#endif
