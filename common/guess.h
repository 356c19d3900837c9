/* guess.h - "did you mean": the known name nearest to what was typed. */
#ifndef FRONT_GUESS_H
#define FRONT_GUESS_H

#include <stdbool.h>

enum { FRONT_GUESS_LONGEST = 40 }; /* bytes; longer names count as far away */

/* Starts as {.name = what was typed}, which is borrowed. */
typedef struct front_guess {
  const char *name;
  char best[FRONT_GUESS_LONGEST + 1]; /* the nearest so far, copied; "" at first */
  int distance;
} front_guess;

void front_guess_consider(front_guess *guess, const char *known);
/* A typing slip away: at most one edit in three letters. */
bool front_guess_is_near(const front_guess *guess);

#endif
