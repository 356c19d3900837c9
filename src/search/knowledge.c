/* knowledge.c - the expected maximum of few lines at a normal number. */
#include "search/knowledge.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "base/special.h"

/* Indices by slope, and of equal slopes by height: an insertion sort. */
static void sort_lines(int n, const double *a, const double *b, int *order) {
  for (int i = 0; i < n; i++) {
    int place = i;
    for (; place > 0; place--) {
      const int before = order[place - 1];
      if (b[before] < b[i] || (b[before] == b[i] && a[before] <= a[i]))
        break;
      order[place] = before;
    }
    order[place] = i;
  }
}

/* Lines enter by slope. A new one takes over from the last where they meet; if that is
 * not after the last one's own start, the last is nowhere the highest. */
double cb_knowledge_gain(int n, const double *a, const double *b) {
  int order[CB_KNOWLEDGE_MOST], kept[CB_KNOWLEDGE_MOST], count = 0;
  double corner[CB_KNOWLEDGE_MOST], sum = 0.0; /* where kept[i] starts */
  assert(n >= 1 && n <= CB_KNOWLEDGE_MOST);
  sort_lines(n, a, b, order);
  for (int i = 0; i < n; i++) {
    const int line = order[i];
    if (i + 1 < n && b[order[i + 1]] == b[line])
      continue; /* the next is parallel and not lower */
    double start = -INFINITY;
    for (; count > 0; count--) {
      const int last = kept[count - 1];
      start = (a[last] - a[line]) / (b[line] - b[last]);
      if (start > corner[count - 1])
        break;
    }
    corner[count] = count > 0 ? start : -INFINITY;
    kept[count++] = line;
  }
  for (int i = 1; i < count; i++)
    sum += (b[kept[i]] - b[kept[i - 1]]) * cb_ei_h(-fabs(corner[i]), NULL);
  return sum;
}

double cb_knowledge_of_point(int n, const double *mean, const double *covariance, int j,
                             double noise) {
  double slope[CB_KNOWLEDGE_MOST];
  const double sd = sqrt(fmax(covariance[j + j * n], 0.0) + noise);
  for (int i = 0; i < n; i++)
    slope[i] = covariance[i + j * n] / sd;
  return cb_knowledge_gain(n, mean, slope);
}
