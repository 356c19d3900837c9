#include "importance.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "front/fail.h"

enum {
  TREES = 128,
  TRIES = 4,       /* random splits of a parameter that a node tries */
  LEAF = 3,        /* trials that a leaf has at least */
  SAMPLE = 2000,   /* trials that a tree sees at most */
  WALKS = 4096,    /* from one point of the space to another */
  CALLS = 1 << 17, /* of the forest that the walks may cost together */
};

/* ---- random numbers: splitmix64 ------------------------------------------------- */

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t next_bits(uint64_t *state) {
  return mix(*state += 0x9e3779b97f4a7c15u);
}

static double next_unit(uint64_t *state) { /* in [0,1) */
  return (double)(next_bits(state) >> 11) * 0x1p-53;
}

static size_t next_below(uint64_t *state, size_t n) {
  return (size_t)(next_unit(state) * (double)n);
}

/* ---- values: outliers tamed ----------------------------------------------------- */

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double quantile(const double *sorted, size_t n, double q) {
  return sorted[(size_t)(q * (double)(n - 1) + 0.5)];
}

/* The spread of the middle: half the distance of the quartiles, or of wider quantiles
 * where many values are equal. 0 if all are. */
static double middle_spread(const double *sorted, size_t n) {
  for (double q = 0.25; q > 0.001; q /= 2.0) {
    const double spread =
        0.5 * quantile(sorted, n, 1.0 - q) - 0.5 * quantile(sorted, n, q);
    if (spread > 0.0)
      return spread;
  }
  return 0.5 * sorted[n - 1] - 0.5 * sorted[0];
}

/* Straight near the middle and logarithmic beyond it, so that outliers count as bad
 * without hiding what the others say. False if all values are equal. */
static bool tame(const double *values, size_t n, double *out, double *sorted) {
  memcpy(sorted, values, n * sizeof *sorted);
  qsort(sorted, n, sizeof *sorted, compare_doubles);
  const double middle = quantile(sorted, n, 0.5), spread = middle_spread(sorted, n);
  if (!(spread > 0.0))
    return false;
  for (size_t i = 0; i < n; i++)
    out[i] = asinh((0.5 * values[i] - 0.5 * middle) / spread);
  return true;
}

/* ---- the forest ----------------------------------------------------------------- */

typedef struct node {
  size_t param;  /* what it splits by; NONE: a leaf */
  double cut;    /* a number below it goes left */
  uint64_t salt; /* a choice whose hash with it is even goes left */
  size_t left;   /* right is left + 1 */
  double value;  /* of a leaf */
} node;
#define NONE ((size_t)-1)

typedef struct forest {
  const importance_data *data;
  double *y;   /* n, tamed */
  node *nodes; /* of all trees */
  size_t used, capacity;
  size_t root[TREES];
  size_t *rows;      /* sampled for the tree that grows */
  double *oob_sum;   /* n: predictions by trees that did not see the trial */
  size_t *oob_count; /* n */
  bool *seen;        /* n: by the tree that grows */
  uint64_t random;
} forest;

static bool goes_left(const node *split, const size_t *choices, const double *point) {
  const double at = point[split->param];
  if (choices[split->param] == 0)
    return at < split->cut;
  return (mix(split->salt + (uint64_t)at * 0x9e3779b97f4a7c15u) & 1) == 0;
}

static double predict_tree(const forest *f, size_t root, const double *point) {
  const node *at = &f->nodes[root];
  while (at->param != NONE)
    at = &f->nodes[at->left + !goes_left(at, f->data->choices, point)];
  return at->value;
}

static double predict(const forest *f, const double *point) {
  double sum = 0.0;
  for (int t = 0; t < TREES; t++)
    sum += predict_tree(f, f->root[t], point);
  return sum / TREES;
}

static const double *point_of(const forest *f, size_t row) {
  return f->data->points + row * f->data->d;
}

/* How much of the squares a split takes away, up to a constant; -1 if a side is small.
 */
static double gain(const forest *f, const node *split, const size_t *rows, size_t n) {
  double left = 0.0, right = 0.0;
  size_t n_left = 0;
  for (size_t i = 0; i < n; i++) {
    const double y = f->y[rows[i]];
    if (goes_left(split, f->data->choices, point_of(f, rows[i]))) {
      left += y;
      n_left++;
    } else {
      right += y;
    }
  }
  const size_t n_right = n - n_left;
  if (n_left < LEAF || n_right < LEAF)
    return -1.0;
  return left * left / (double)n_left + right * right / (double)n_right;
}

static void range_of(const forest *f, size_t param, const size_t *rows, size_t n,
                     double *low, double *high) {
  *low = INFINITY, *high = -INFINITY;
  for (size_t i = 0; i < n; i++) {
    const double at = point_of(f, rows[i])[param];
    *low = at < *low ? at : *low;
    *high = at > *high ? at : *high;
  }
}

/* The best of a few random splits of every parameter. As many for each, whatever it is
 * like: a choice with many values shall not win by having more chances. */
static node best_split(forest *f, const size_t *rows, size_t n) {
  node best = {.param = NONE};
  double most = -1.0;
  for (size_t j = 0; j < f->data->d; j++) {
    double low, high;
    range_of(f, j, rows, n, &low, &high);
    if (low == high)
      continue;
    for (int k = 0; k < TRIES; k++) {
      const node split = {.param = j,
                          .cut = low + (high - low) * next_unit(&f->random),
                          .salt = next_bits(&f->random)};
      const double g = gain(f, &split, rows, n);
      if (g > most) {
        most = g;
        best = split;
      }
    }
  }
  return best;
}

static size_t partition(const forest *f, const node *split, size_t *rows, size_t n) {
  size_t left = 0;
  for (size_t i = 0; i < n; i++)
    if (goes_left(split, f->data->choices, point_of(f, rows[i]))) {
      const size_t row = rows[i];
      rows[i] = rows[left];
      rows[left++] = row;
    }
  return left;
}

static double mean_of(const forest *f, const size_t *rows, size_t n) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++)
    sum += f->y[rows[i]];
  return sum / (double)n;
}

static bool all_equal(const forest *f, const size_t *rows, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (f->y[rows[i]] != f->y[rows[0]])
      return false;
  return true;
}

/* Room for every node of a tree is reserved before it grows. Depth is no concern: a
 * level takes at least LEAF trials away. */
static void grow(forest *f, size_t at, size_t *rows, size_t n) {
  node split = {.param = NONE};
  if (n >= 2 * LEAF && !all_equal(f, rows, n))
    split = best_split(f, rows, n);
  if (split.param == NONE) {
    f->nodes[at] = (node){.param = NONE, .value = mean_of(f, rows, n)};
    return;
  }
  split.left = f->used;
  f->used += 2;
  f->nodes[at] = split;
  const size_t left = partition(f, &split, rows, n);
  grow(f, split.left, rows, left);
  grow(f, split.left + 1, rows + left, n - left);
}

static cocabo_status grow_tree(forest *f, int t, cocabo_error *err) {
  const size_t n = f->data->n, size = n < SAMPLE ? n : SAMPLE;
  void *nodes = f->nodes;
  if (!front_reserve(&nodes, &f->capacity, f->used + 2 * size, sizeof *f->nodes))
    return front_no_memory(err);
  f->nodes = nodes;
  memset(f->seen, 0, n * sizeof *f->seen);
  for (size_t i = 0; i < size; i++) {
    f->rows[i] = next_below(&f->random, n);
    f->seen[f->rows[i]] = true;
  }
  f->root[t] = f->used++;
  grow(f, f->root[t], f->rows, size);
  for (size_t i = 0; i < n; i++)
    if (!f->seen[i]) {
      f->oob_sum[i] += predict_tree(f, f->root[t], point_of(f, i));
      f->oob_count[i]++;
    }
  return COCABO_OK;
}

static double explained_share(const forest *f) {
  double mean = 0.0, total = 0.0, missed = 0.0;
  const size_t n = f->data->n;
  for (size_t i = 0; i < n; i++)
    mean += f->y[i] / (double)n;
  for (size_t i = 0; i < n; i++) {
    if (f->oob_count[i] == 0)
      continue;
    const double error = f->y[i] - f->oob_sum[i] / (double)f->oob_count[i];
    total += (f->y[i] - mean) * (f->y[i] - mean);
    missed += error * error;
  }
  return total > 0.0 && missed < total ? 1.0 - missed / total : 0.0;
}

/* ---- shares --------------------------------------------------------------------- */

static void draw_point(forest *f, double *point) {
  for (size_t j = 0; j < f->data->d; j++) {
    const size_t k = f->data->choices[j];
    point[j] = k > 0 ? (double)next_below(&f->random, k) : next_unit(&f->random);
  }
}

static void shuffle(uint64_t *random, size_t *order, size_t n) {
  for (size_t i = n; i > 1; i--) {
    const size_t k = next_below(random, i), last = order[i - 1];
    order[i - 1] = order[k];
    order[k] = last;
  }
}

/* Goda's estimator (2021) of the Shapley effects: walk from one random point to
 * another, one parameter at a time in random order. The steps' terms add up to half the
 * squared difference of the ends, whose mean is the variance. */
static void walk(forest *f, double *at, const double *end, const size_t *order,
                 double *share) {
  const double start = predict(f, at);
  double before = start;
  for (size_t i = 0; i < f->data->d; i++) {
    const size_t j = order[i];
    at[j] = end[j];
    const double after = predict(f, at);
    share[j] += (start - 0.5 * (before + after)) * (before - after);
    before = after;
  }
}

static void walk_often(forest *f, double *points, size_t *order, double *share) {
  const size_t d = f->data->d;
  const size_t walks = CALLS / (d + 1) < WALKS ? CALLS / (d + 1) : WALKS;
  for (size_t j = 0; j < d; j++)
    order[j] = j;
  for (size_t k = 0; k < walks; k++) {
    draw_point(f, points);
    draw_point(f, points + d);
    shuffle(&f->random, order, d);
    walk(f, points, points + d, order, share);
  }
}

/* Chance may leave a little less than nothing. */
static bool normalise(double *share, size_t d) {
  double sum = 0.0;
  for (size_t j = 0; j < d; j++) {
    share[j] = share[j] > 0.0 ? share[j] : 0.0;
    sum += share[j];
  }
  for (size_t j = 0; j < d && sum > 0.0; j++)
    share[j] /= sum;
  return sum > 0.0;
}

/* ---- all together --------------------------------------------------------------- */

static void forest_free(forest *f) {
  free(f->y);
  free(f->nodes);
  free(f->rows);
  free(f->oob_sum);
  free(f->oob_count);
  free(f->seen);
}

static bool forest_allocate(forest *f, size_t n) {
  f->y = calloc(n, sizeof *f->y);
  f->rows = calloc(n, sizeof *f->rows);
  f->oob_sum = calloc(n, sizeof *f->oob_sum);
  f->oob_count = calloc(n, sizeof *f->oob_count);
  f->seen = calloc(n, sizeof *f->seen);
  return f->y && f->rows && f->oob_sum && f->oob_count && f->seen;
}

static cocabo_status share_out(forest *f, double *share, cocabo_error *err) {
  const size_t d = f->data->d;
  double *points = calloc(2 * d, sizeof *points);
  size_t *order = calloc(d, sizeof *order);
  const bool ok = points && order;
  memset(share, 0, d * sizeof *share);
  if (ok)
    walk_often(f, points, order, share);
  free(points);
  free(order);
  if (!ok)
    return front_no_memory(err);
  if (!normalise(share, d))
    return front_fail(err, COCABO_E_STATE,
                      "no parameter varies with the values, so none has a share");
  return COCABO_OK;
}

static cocabo_status compute(forest *f, double *share, double *explained,
                             cocabo_error *err) {
  const size_t n = f->data->n;
  if (!forest_allocate(f, n))
    return front_no_memory(err);
  /* oob_sum has no use yet. */
  if (!tame(f->data->values, n, f->y, f->oob_sum))
    return front_fail(err, COCABO_E_STATE,
                      "all %zu values are equal, so no parameter has a share", n);
  memset(f->oob_sum, 0, n * sizeof *f->oob_sum);
  for (int t = 0; t < TREES; t++)
    FRONT_TRY(grow_tree(f, t, err));
  *explained = explained_share(f);
  return share_out(f, share, err);
}

cocabo_status importance_compute(const importance_data *data, double *share,
                                 double *explained, cocabo_error *err) {
  if (data->n < IMPORTANCE_MIN_TRIALS)
    return front_fail(err, COCABO_E_STATE,
                      "importance needs %d complete trials, and there %s %zu",
                      IMPORTANCE_MIN_TRIALS, data->n == 1 ? "is" : "are", data->n);
  forest f = {.data = data};
  const cocabo_status status = compute(&f, share, explained, err);
  forest_free(&f);
  return status;
}
