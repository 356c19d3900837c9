/* domain.h - what a search over x and h together must know of the space. */
#ifndef CB_SEARCH_DOMAIN_H
#define CB_SEARCH_DOMAIN_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"

typedef struct cb_domain {
  int d, c;
  int32_t arms[COCABO_MAX_PARAMETERS];   /* c: N_j */
  int64_t levels[COCABO_MAX_PARAMETERS]; /* d: of the grid x_j lives on; 0: of none */
  bool any_grid;

  /* For x_j on a grid: the place of the level nearest to x_j, moved by `by` levels; NaN
   * if there is no such level. */
  double (*level)(const void *space, int j, double xj, int by);
  const void *space; /* borrowed */
} cb_domain;

#endif
