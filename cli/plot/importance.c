#include "plot/importance.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"

enum {
  TREES = 64,
  TRIES = 4,          /* random splits of a parameter that a node tries */
  LEAF = 2,           /* trials that a leaf has at least */
  MOST_TRIALS = 2000, /* evenly taken from more */
  TREE_WORK = 100000, /* trials times parameters that a tree looks at */
  NEIGHBOURS = 500,   /* trials that tell where the trials are dense */
  MOST_WALKS = 2048,  /* from one point of the space to another */
  WALK_WORK = 1 << 16 /* calls of the forest that the walks cost together */
};

/* Trials nearer than this fraction of the space's width count as one. */
static const double NEAR = 0.05;

/* Values are cut this many distances of their quartiles away from the middle one. */
static const double FENCE = 2.0;

/* ---- random numbers: splitmix64 ------------------------------------------------- */

static const uint64_t STRIDE = 0x9e3779b97f4a7c15u;

static uint64_t mix(uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

static uint64_t next_bits(uint64_t *state) {
  return mix(*state += STRIDE);
}

static double next_unit(uint64_t *state) { /* in [0,1) */
  return (double)(next_bits(state) >> 11) * 0x1p-53;
}

static size_t next_below(uint64_t *state, size_t n) {
  return (size_t)(next_unit(state) * (double)n);
}

/* ---- the data of a forest ------------------------------------------------------- */

/* A node splits by a parameter, or is a leaf. */
typedef struct node {
  size_t param;  /* NONE: a leaf */
  double cut;    /* a number below it goes left */
  uint64_t salt; /* a choice whose hash with it is even goes left */
  size_t left;   /* its index; the right one follows */
  double value;  /* of a leaf */
} node;
#define NONE ((size_t)-1)

typedef struct forest {
  const importance_data *data;
  size_t n;               /* trials used: every so many-th */
  size_t *trial;          /* n: which */
  double *y;              /* n: values, outliers cut */
  double *weight, *until; /* n: of the trials, and their sums up to each */
  double *seen_sum;       /* n: predictions by trees that had not seen the trial */
  size_t *seen_count;
  bool *in_tree;           /* n: has the tree that grows seen it? */
  size_t *rows;            /* n: the sample of the tree that grows */
  double *column, *node_y; /* n: of the rows of the node that is split */
  node *nodes;             /* of all trees */
  size_t used, capacity;
  size_t root[TREES];
  uint64_t random;
} forest;

static const double *point_of(const forest *f, size_t row) {
  return f->data->points + f->trial[row] * f->data->d;
}

static void forest_free(forest *f) {
  cb_free(f->trial);
  cb_free(f->y);
  cb_free(f->weight);
  cb_free(f->until);
  cb_free(f->seen_sum);
  cb_free(f->seen_count);
  cb_free(f->in_tree);
  cb_free(f->rows);
  cb_free(f->column);
  cb_free(f->node_y);
  cb_free(f->nodes);
}

/* On failure too, forest_free releases what there is. */
static cocabo_status forest_begin(forest *f, const importance_data *data,
                                  cocabo_error *err) {
  const size_t n = data->n < MOST_TRIALS ? data->n : MOST_TRIALS;
  *f = (forest){.data = data,
                .n = n,
                .trial = cb_calloc(n, sizeof *f->trial),
                .y = cb_calloc(n, sizeof *f->y),
                .weight = cb_calloc(n, sizeof *f->weight),
                .until = cb_calloc(n, sizeof *f->until),
                .seen_sum = cb_calloc(n, sizeof *f->seen_sum),
                .seen_count = cb_calloc(n, sizeof *f->seen_count),
                .in_tree = cb_calloc(n, sizeof *f->in_tree),
                .rows = cb_calloc(n, sizeof *f->rows),
                .column = cb_calloc(n, sizeof *f->column),
                .node_y = cb_calloc(n, sizeof *f->node_y)};
  if (!f->trial || !f->y || !f->weight || !f->until || !f->seen_sum || !f->seen_count ||
      !f->in_tree || !f->rows || !f->column || !f->node_y)
    return cb_no_memory(err);
  for (size_t i = 0; i < n; i++)
    f->trial[i] = i * data->n / n;
  return COCABO_OK;
}

/* ---- weights: what the space looks like, not where the sampler looked -------------
 */

/* Mean over the parameters, each in [0,1]. */
static double distance(const forest *f, size_t a, size_t b) {
  const double *u = point_of(f, a), *v = point_of(f, b);
  const size_t d = f->data->d;
  double sum = 0.0;
  for (size_t j = 0; j < d; j++)
    sum += f->data->choices[j] > 0 ? u[j] != v[j] : fabs(u[j] - v[j]);
  return sum / (double)d;
}

/* An optimiser spends most trials around the best point. Each trial counts as one over
 * the number of trials around it, or else every parameter that was settled early would
 * look important. */
static void weigh(forest *f) {
  const size_t others = f->n < NEIGHBOURS ? f->n : NEIGHBOURS;
  double sum = 0.0;
  for (size_t i = 0; i < f->n; i++) {
    double around = 1.0;
    for (size_t k = 0; k < others; k++) {
      const double far = distance(f, i, k * f->n / others) / NEAR;
      around += exp(-far * far);
    }
    f->weight[i] = 1.0 / around;
    sum += f->weight[i];
    f->until[i] = sum;
  }
}

static size_t draw_row(forest *f) {
  const double at = next_unit(&f->random) * f->until[f->n - 1];
  size_t low = 0, high = f->n - 1;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (f->until[middle] > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* ---- values: outliers cut ------------------------------------------------------- */

typedef struct weighed {
  double value, weight;
} weighed;

static int compare_weighed(const void *a, const void *b) {
  const weighed *x = a, *y = b;
  return (x->value > y->value) - (x->value < y->value);
}

static double quantile(const weighed *sorted, size_t n, double total, double q) {
  double sum = 0.0;
  for (size_t i = 0; i < n; i++) {
    sum += sorted[i].weight;
    if (sum >= q * total)
      return sorted[i].value;
  }
  return sorted[n - 1].value;
}

/* Halves, because the difference of two large numbers would overflow. */
static double half_spread(const weighed *sorted, size_t n, double total) {
  for (int power = 2; power < 10; power++) { /* quartiles, eighths ... */
    const double q = pow(0.5, power);
    const double high = quantile(sorted, n, total, 1.0 - q);
    const double low = quantile(sorted, n, total, q);
    if (high > low)
      return 0.5 * high - 0.5 * low;
  }
  return 0.5 * sorted[n - 1].value - 0.5 * sorted[0].value;
}

static cocabo_status cut_values(forest *f, weighed *sorted, cocabo_error *err) {
  const size_t n = f->n;
  const double total = f->until[n - 1];
  for (size_t i = 0; i < n; i++)
    sorted[i] = (weighed){f->data->values[f->trial[i]], f->weight[i]};
  qsort(sorted, n, sizeof *sorted, compare_weighed);
  const double middle = quantile(sorted, n, total, 0.5);
  const double spread = half_spread(sorted, n, total);
  if (!(spread > 0.0))
    return cb_fail(err, COCABO_E_STATE,
                   "all %zu values are equal, so no parameter has a share", f->data->n);
  for (size_t i = 0; i < n; i++) {
    const double z = (0.5 * f->data->values[f->trial[i]] - 0.5 * middle) / spread;
    f->y[i] = fmax(-FENCE, fmin(FENCE, z));
  }
  return COCABO_OK;
}

static cocabo_status prepare_values(forest *f, cocabo_error *err) {
  weighed *sorted = cb_calloc(f->n, sizeof *sorted);
  if (!sorted)
    return cb_no_memory(err);
  const cocabo_status status = cut_values(f, sorted, err);
  cb_free(sorted);
  return status;
}

/* ---- growing trees -------------------------------------------------------------- */

static bool value_goes_left(const node *split, bool is_choice, double at) {
  if (!is_choice)
    return at < split->cut;
  return (mix(split->salt + (uint64_t)at * STRIDE) & 1) == 0;
}

static bool goes_left(const forest *f, const node *split, const double *point) {
  return value_goes_left(split, f->data->choices[split->param] > 0,
                         point[split->param]);
}

/* How much a split of the node's n rows takes away from the squares, up to a constant;
 * -1 if a side would be too small. */
static double gain(const forest *f, const node *split, size_t n) {
  const bool is_choice = f->data->choices[split->param] > 0;
  double left = 0.0, right = 0.0;
  size_t n_left = 0;
  for (size_t i = 0; i < n; i++) {
    const bool to_left = value_goes_left(split, is_choice, f->column[i]);
    left += to_left ? f->node_y[i] : 0.0;
    right += to_left ? 0.0 : f->node_y[i];
    n_left += to_left;
  }
  const size_t n_right = n - n_left;
  if (n_left < LEAF || n_right < LEAF)
    return -1.0;
  return left * left / (double)n_left + right * right / (double)n_right;
}

/* Fills f->column. False if the parameter is the same in all rows. */
static bool take_column(forest *f, size_t param, const size_t *rows, size_t n,
                        double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t i = 0; i < n; i++) {
    const double at = point_of(f, rows[i])[param];
    f->column[i] = at;
    *low = at < *low ? at : *low;
    *high = at > *high ? at : *high;
  }
  return *low < *high;
}

/* The best of a few random splits of every parameter; as many for each, because a
 * choice with many values shall not win by having more chances. */
static node best_split(forest *f, const size_t *rows, size_t n) {
  node best = {.param = NONE};
  double most = -1.0;
  for (size_t i = 0; i < n; i++)
    f->node_y[i] = f->y[rows[i]];
  for (size_t j = 0; j < f->data->d; j++) {
    double low, high;
    if (!take_column(f, j, rows, n, &low, &high))
      continue;
    for (int k = 0; k < TRIES; k++) {
      const node split = {.param = j,
                          .cut = low + (high - low) * next_unit(&f->random),
                          .salt = next_bits(&f->random)};
      const double gained = gain(f, &split, n);
      if (gained > most) {
        most = gained;
        best = split;
      }
    }
  }
  return best;
}

static size_t partition(const forest *f, const node *split, size_t *rows, size_t n) {
  size_t left = 0;
  for (size_t i = 0; i < n; i++)
    if (goes_left(f, split, point_of(f, rows[i]))) {
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

static bool are_equal(const forest *f, const size_t *rows, size_t n) {
  for (size_t i = 1; i < n; i++)
    if (f->y[rows[i]] != f->y[rows[0]])
      return false;
  return true;
}

/* Room for all nodes of the tree has been made. The depth is at most n / LEAF. */
static void grow(forest *f, size_t at, size_t *rows, size_t n) {
  node split = {.param = NONE};
  if (n >= 2 * (size_t)LEAF && !are_equal(f, rows, n))
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

static size_t sample_size(const forest *f) {
  const size_t most = TREE_WORK / f->data->d;
  return f->n < most ? f->n : most;
}

static cocabo_status grow_tree(forest *f, int t, cocabo_error *err) {
  const size_t size = sample_size(f);
  void *nodes = f->nodes;
  if (!cb_reserve(&nodes, &f->capacity, f->used + 2 * size, sizeof *f->nodes))
    return cb_no_memory(err);
  f->nodes = nodes;
  memset(f->in_tree, 0, f->n * sizeof *f->in_tree);
  for (size_t i = 0; i < size; i++) {
    f->rows[i] = draw_row(f);
    f->in_tree[f->rows[i]] = true;
  }
  f->root[t] = f->used++;
  grow(f, f->root[t], f->rows, size);
  return COCABO_OK;
}

/* ---- predicting ----------------------------------------------------------------- */

static double predict_tree(const forest *f, int t, const double *point) {
  const node *at = &f->nodes[f->root[t]];
  while (at->param != NONE)
    at = &f->nodes[at->left + !goes_left(f, at, point)];
  return at->value;
}

static double predict(const forest *f, const double *point) {
  double sum = 0.0;
  for (int t = 0; t < TREES; t++)
    sum += predict_tree(f, t, point);
  return sum / TREES;
}

static void test_tree(forest *f, int t) {
  for (size_t i = 0; i < f->n; i++)
    if (!f->in_tree[i]) {
      f->seen_sum[i] += predict_tree(f, t, point_of(f, i));
      f->seen_count[i]++;
    }
}

/* Of the trials that some tree had not seen, by those trees. */
static double explained_share(const forest *f) {
  double mean = 0.0, total = 0.0, missed = 0.0;
  for (size_t i = 0; i < f->n; i++)
    mean += f->weight[i] * f->y[i] / f->until[f->n - 1];
  for (size_t i = 0; i < f->n; i++) {
    if (f->seen_count[i] == 0)
      continue;
    const double error = f->y[i] - f->seen_sum[i] / (double)f->seen_count[i];
    total += f->weight[i] * (f->y[i] - mean) * (f->y[i] - mean);
    missed += f->weight[i] * error * error;
  }
  return missed < total ? 1.0 - missed / total : 0.0;
}

static cocabo_status learn(forest *f, double *explained, cocabo_error *err) {
  for (int t = 0; t < TREES; t++) {
    CB_TRY(grow_tree(f, t, err));
    test_tree(f, t);
  }
  *explained = explained_share(f);
  return COCABO_OK;
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

/* One term of the estimator of Goda (2021) for Shapley effects: a walk from one random
 * point to another, one parameter at a time in random order. The terms of its steps add
 * up to half the squared difference of the ends, whose mean is the variance. */
static void walk(const forest *f, double *at, const double *end, const size_t *order,
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
  const size_t d = f->data->d, affordable = WALK_WORK / (d + 1);
  const size_t walks = affordable < MOST_WALKS ? affordable : MOST_WALKS;
  for (size_t j = 0; j < d; j++)
    order[j] = j;
  for (size_t k = 0; k < walks; k++) {
    draw_point(f, points);
    draw_point(f, points + d);
    shuffle(&f->random, order, d);
    walk(f, points, points + d, order, share);
  }
}

/* Chance may leave a little less than nothing. False if nothing is left at all. */
static bool normalise(double *share, size_t d) {
  double sum = 0.0;
  for (size_t j = 0; j < d; j++) {
    share[j] = fmax(share[j], 0.0);
    sum += share[j];
  }
  for (size_t j = 0; j < d && sum > 0.0; j++)
    share[j] /= sum;
  return sum > 0.0;
}

static cocabo_status share_out(forest *f, double *share, cocabo_error *err) {
  const size_t d = f->data->d;
  double *points = cb_calloc(2 * d, sizeof *points);
  size_t *order = cb_calloc(d, sizeof *order);
  const bool ok = points && order;
  memset(share, 0, d * sizeof *share);
  if (ok)
    walk_often(f, points, order, share);
  cb_free(points);
  cb_free(order);
  if (!ok)
    return cb_no_memory(err);
  return normalise(share, d)
             ? COCABO_OK
             : cb_fail(err, COCABO_E_STATE,
                       "no parameter varies with the values, so none has a share");
}

cocabo_status importance_compute(const importance_data *data, double *share,
                                 double *explained, cocabo_error *err) {
  if (data->n < IMPORTANCE_MIN_TRIALS)
    return cb_fail(err, COCABO_E_STATE,
                   "importance needs %d complete trials, and there %s %zu",
                   IMPORTANCE_MIN_TRIALS, data->n == 1 ? "is" : "are", data->n);
  forest f;
  cocabo_status status = forest_begin(&f, data, err);
  if (status == COCABO_OK) {
    weigh(&f);
    status = prepare_values(&f, err);
  }
  if (status == COCABO_OK)
    status = learn(&f, explained, err);
  if (status == COCABO_OK)
    status = share_out(&f, share, err);
  forest_free(&f);
  return status;
}
