/* scale.h - from data to positions, and the round numbers along an axis. */
#ifndef FRONT_SCALE_H
#define FRONT_SCALE_H

#include <stdbool.h>
#include <stddef.h>

/* low .. high of the data becomes from .. to of the picture, straight or on a
 * logarithmic scale. low < high, both finite, and low > 0 where log is set. */
typedef struct scale {
  double low, high;
  bool log;
  double from, to;
} scale;

double scale_at(const scale *s, double value); /* also outside low .. high */

/* Widens low .. high by a share of itself on both sides; a range of one value gets some
 * room, so that low < high afterwards. */
void scale_widen(double *low, double *high, bool log, double share);

/* Round numbers inside low .. high, in ascending order, at most `wanted` of them
 * wherever that leaves two (1 <= wanted <= SCALE_MAX_TICKS). */
enum { SCALE_MAX_TICKS = 16 };
typedef struct ticks {
  int n;
  double at[SCALE_MAX_TICKS];
  double step; /* 0 on a logarithmic scale */
  bool ends;   /* the first and the last are the ends of a range, round or not */
} ticks;
void ticks_find(const scale *s, int wanted, ticks *out);
/* The same, but whole numbers only. */
void ticks_find_whole(const scale *s, int wanted, ticks *out);

/* The same for a range inside the scale, whose ends are the first and the last tick,
 * beside those that are wanted. */
void ticks_find_between(const scale *s, double low, double high, bool whole, int wanted,
                        ticks *out);

/* The i-th tick as text: as many digits as the step needs, ends with six. */
enum { TICK_LABEL = 32 };
const char *ticks_label(const ticks *t, int i, char out[TICK_LABEL]);

/* A number for people, with `digits` significant digits, and no zeros at the end; those
 * below ten million have all digits before the point. */
const char *scale_number(double value, int digits, char out[TICK_LABEL]);

#endif
