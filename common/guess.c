#include "common/guess.h"

#include <stddef.h>
#include <string.h>

enum { FAR = 1000, LONGEST = FRONT_GUESS_LONGEST };

/* Edits (insert, delete, replace, swap of neighbours) that turn a into b. */
static int edit_distance(const char *a, const char *b) {
  const size_t n = strlen(a), m = strlen(b);
  if (n > LONGEST || m > LONGEST)
    return FAR;
  int d[LONGEST + 1][LONGEST + 1];
  for (size_t i = 0; i <= n; i++)
    d[i][0] = (int)i;
  for (size_t j = 0; j <= m; j++)
    d[0][j] = (int)j;
  for (size_t i = 1; i <= n; i++)
    for (size_t j = 1; j <= m; j++) {
      int best = d[i - 1][j - 1] + (a[i - 1] != b[j - 1]);
      if (d[i - 1][j] + 1 < best)
        best = d[i - 1][j] + 1;
      if (d[i][j - 1] + 1 < best)
        best = d[i][j - 1] + 1;
      const bool swapped =
          i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped && d[i - 2][j - 2] + 1 < best)
        best = d[i - 2][j - 2] + 1;
      d[i][j] = best;
    }
  return d[n][m];
}

void front_guess_consider(front_guess *guess, const char *known) {
  const int distance = edit_distance(guess->name, known);
  if (distance >= FAR || (guess->best[0] && distance >= guess->distance))
    return;
  memcpy(guess->best, known, strlen(known) + 1); /* it is at most LONGEST long */
  guess->distance = distance;
}

bool front_guess_is_near(const front_guess *guess) {
  return guess->best[0] && 3 * guess->distance <= (int)strlen(guess->best);
}
