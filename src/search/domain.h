/* domain.h - what a search over x and h together must know of the space. */
#ifndef CB_SEARCH_DOMAIN_H
#define CB_SEARCH_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/rng.h"
#include "cocabo.h"

typedef struct cb_domain {
  int d, c;
  int presences; /* the last rows of x, 1 or 0: they follow from the others */
  int32_t arms[COCABO_MAX_PARAMETERS];   /* c: N_j */
  int64_t levels[COCABO_MAX_PARAMETERS]; /* d: of the grid x_j lives on; 0: of none */
  bool any_grid;
  int presence_of[COCABO_MAX_PARAMETERS]; /* d, if there are presences: which is that of
                                             number j, or -1 */

  /* For x_j on a grid: the place of the level nearest to x_j, moved by `by` levels; NaN
   * if there is no such level. */
  double (*level)(const void *space, int j, double xj, int by);

  /* NULL: every (x, h) is a point. Else conditions or rules decide. An inactive number
   * is 0 and its presence too, an inactive category is N_j.
   * settle makes (x, h) a point: grids are snapped, what is inactive becomes so, and
   * what is active but not in (x, h) is drawn, or without an rng the middle of its
   * range. Do the rules allow it?
   * repair also moves the point until they do; false if that failed. */
  bool (*settle)(const void *space, cb_rng *rng, double *x, int32_t *h);
  bool (*repair)(const void *space, cb_rng *rng, double *x, int32_t *h);
  /* NULL: numbers may go anywhere. Else pushes the continuous ones, within the bounds,
   * until the rules allow the point; normal[0..d-1] is the unit vector against which
   * they were pushed last, or 0. False if they do not allow it then, or if something
   * else is active there than (x, h) says. */
  bool (*push)(const void *space, const double *lower, const double *upper, double *x,
               const int32_t *h, double *normal);

  const void *space; /* borrowed */
} cb_domain;

#endif
