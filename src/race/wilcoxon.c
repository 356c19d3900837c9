/* wilcoxon.c - the signed-rank test, exactly where that is cheap.
 *
 * Ranks are doubled, so that those that ties share are whole numbers. The number of
 * ways in which signs give each sum is then a product of polynomials, one 1 + t^rank a
 * difference, and that with ties as without.
 */
#include "race/wilcoxon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/special.h"
#include "base/status.h"

enum { EXACT = 60 };

typedef struct ranked {
  double size;
  int64_t rank; /* doubled */
  int positive;
} ranked;

static int by_size(const void *a, const void *b) {
  const ranked *u = a, *v = b;
  return (u->size > v->size) - (u->size < v->size);
}

/* Of items by size: each gets the mean rank of its equals, doubled. */
static void rank(ranked *items, int64_t n) {
  for (int64_t i = 0; i < n;) {
    int64_t end = i;
    while (end < n && items[end].size == items[i].size)
      end++;
    for (int64_t k = i; k < end; k++)
      items[k].rank = i + 1 + end;
    i = end;
  }
}

/* The share of all signs whose sum of positive ranks is at least `sum`. ways has room
 * for the largest sum and one more. */
static double tail(const ranked *items, int64_t n, int64_t sum, double *ways) {
  int64_t most = 0;
  ways[0] = 1.0;
  for (int64_t i = 0; i < n; i++) {
    const int64_t r = items[i].rank;
    for (int64_t k = most; k >= 0; k--)
      ways[k + r] += 0.5 * ways[k], ways[k] *= 0.5;
    most += r;
  }
  double p = 0.0;
  for (int64_t k = most; k >= sum; k--)
    p += ways[k];
  return fmin(p, 1.0);
}

/* Mean and variance of half the doubled sum, with ties; half a rank of continuity. */
static double normal_tail(const ranked *items, int64_t n, int64_t sum) {
  double mean = 0.0, variance = 0.0;
  for (int64_t i = 0; i < n; i++) {
    const double r = 0.5 * (double)items[i].rank;
    mean += 0.5 * r;
    variance += 0.25 * r * r;
  }
  return cb_normal_cdf((mean - 0.5 * (double)sum + 0.5) / sqrt(variance));
}

cocabo_status cb_wilcoxon_above(const double *differences, int64_t n, double *p,
                                cocabo_error *err) {
  int64_t used = 0, sum = 0;
  *p = 1.0;
  ranked *items = cb_calloc((size_t)n, sizeof *items);
  double *ways = cb_calloc(EXACT * (EXACT + 1) + 1, sizeof *ways);
  if (!items || !ways) {
    cb_free(items);
    cb_free(ways);
    return cb_no_memory(err);
  }
  for (int64_t i = 0; i < n; i++)
    if (differences[i] != 0.0)
      items[used++] = (ranked){fabs(differences[i]), 0, differences[i] > 0.0};
  qsort(items, (size_t)used, sizeof *items, by_size);
  rank(items, used);
  for (int64_t i = 0; i < used; i++)
    sum += items[i].positive ? items[i].rank : 0;
  if (used > 0)
    *p = used <= EXACT ? tail(items, used, sum, ways) : normal_tail(items, used, sum);
  cb_free(items);
  cb_free(ways);
  return COCABO_OK;
}
