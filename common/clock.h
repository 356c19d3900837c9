/* clock.h - seconds on a clock that only goes forward. */
#ifndef FRONT_CLOCK_H
#define FRONT_CLOCK_H

#include <time.h>

static inline double front_now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
