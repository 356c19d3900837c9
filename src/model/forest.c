/* forest.c - growing a random forest, and averaging its trees.
 *
 * A tree is an array of nodes in which children lie behind their parent. Points to be
 * predicted walk down a tree in blocks, so that the tree stays in the cache.
 */
#include "model/forest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

enum {
  BLOCK = 1024, /* points that walk down a tree together */
  LEAF = -1,
  WORD_BITS = 32
};

/* Gains that differ by less of the node's squared error are equal: sums in another
 * order must not decide between two variables that cut alike. */
static const double TIE = 1e-11;

/* The two children of a node are neighbours; they come after it. */
typedef struct {
  double value;     /* of a leaf the mean, else the cut of a number */
  double variance;  /* of a leaf */
  int32_t variable; /* 0 .. d-1 numbers, d .. d+c-1 categories, LEAF */
  int32_t left;     /* child; the right one is left + 1 */
  size_t set;       /* of a category: its first word in sets; a bit says "left" */
} node;

typedef struct {
  int32_t from, to;
} range;

/* Points that have come to a node. */
typedef struct {
  int32_t node;
  range points;
} visit;

typedef struct {
  double value;
  int32_t row;
} keyed;

/* What a node knows of one category. */
typedef struct {
  double sum, mean;
  int32_t weight, rows, category;
} group;

/* A cut of a node. */
typedef struct {
  double gain;      /* of squared error, < 0: there is none */
  int32_t variable; /* as in node */
  double low, high; /* of a number: the neighbours it lies between */
  int32_t groups;   /* of a category: how many of the ordered groups go left */
  cb_rng set;       /* of a random cut of a category: draws the set */
} split;

struct cb_forest {
  cb_forest_spec spec;
  int32_t *arms;
  int32_t *variables; /* d + c: the order in which a node tries them */

  node *nodes;   /* all trees, one after the other */
  int32_t *root; /* trees + 1: where each begins */
  uint32_t *sets;
  size_t n_sets;
  range *ranges; /* of each node of the tree that grows: its rows */
  visit *visits; /* of a tree: nodes that points wait at, at most one a leaf */

  /* Of a fit. */
  int n;
  const double *x, *y; /* borrowed while it lasts */
  const int32_t *h;
  keyed *keyed;     /* n */
  int32_t *sorted;  /* n x d: all rows by x_j */
  int32_t *rows;    /* n x (d + 1): those of one tree by x_j and, last, by number */
  int32_t *weight;  /* n: how often each is in the bootstrap sample */
  int32_t *scratch; /* n */
  char *left;       /* n: does the row go left? */
  group *groups;    /* most categories of a variable, by category */
  group *ordered;   /* likewise: those there are, by mean */
  uint32_t *tried;  /* a set of the most categories */
  size_t nodes_room, sets_room, ranges_room, keyed_room, sorted_room, rows_room,
      weight_room, scratch_room, left_room, visits_room;

  int32_t walking[BLOCK], right[BLOCK]; /* of a prediction */
};

/* ---- building -------------------------------------------------------------------- */

void cb_forest_free(cb_forest *f) {
  if (!f)
    return;
  cb_free(f->arms);
  cb_free(f->variables);
  cb_free(f->nodes);
  cb_free(f->root);
  cb_free(f->sets);
  cb_free(f->ranges);
  cb_free(f->visits);
  cb_free(f->keyed);
  cb_free(f->sorted);
  cb_free(f->rows);
  cb_free(f->weight);
  cb_free(f->scratch);
  cb_free(f->left);
  cb_free(f->groups);
  cb_free(f->ordered);
  cb_free(f->tried);
  cb_free(f);
}

static size_t words_of(int32_t categories) {
  return ((size_t)categories + WORD_BITS - 1) / WORD_BITS;
}

cocabo_status cb_forest_new(cb_forest **out, const cb_forest_spec *spec,
                            cocabo_error *err) {
  assert(spec->d + spec->c > 0 && spec->trees > 0);
  assert(spec->min_split >= 2 && spec->min_leaf >= 1);
  *out = NULL;
  int32_t most = 0;
  for (int j = 0; j < spec->c; j++)
    most = spec->arms[j] > most ? spec->arms[j] : most;
  cb_forest *f = cb_calloc(1, sizeof *f);
  if (!f)
    return cb_no_memory(err);
  f->spec = *spec;
  f->arms = cb_calloc((size_t)spec->c, sizeof *f->arms);
  f->variables = cb_calloc((size_t)spec->d + (size_t)spec->c, sizeof *f->variables);
  f->root = cb_calloc((size_t)spec->trees + 1, sizeof *f->root);
  f->groups = cb_calloc((size_t)most, sizeof *f->groups);
  f->ordered = cb_calloc((size_t)most, sizeof *f->ordered);
  f->tried = cb_calloc(words_of(most), sizeof *f->tried);
  if (!f->arms || !f->variables || !f->root || !f->groups || !f->ordered || !f->tried) {
    cb_forest_free(f);
    return cb_no_memory(err);
  }
  if (spec->c > 0)
    memcpy(f->arms, spec->arms, (size_t)spec->c * sizeof *f->arms);
  f->spec.arms = f->arms;
  *out = f;
  return COCABO_OK;
}

/* A tree has at most as many leaves as rows. Sets grow as they are needed. */
static cocabo_status reserve(cb_forest *f, int n, cocabo_error *err) {
  const size_t rows = (size_t)n, most_nodes = 2 * rows - 1;
  const size_t d = (size_t)f->spec.d, trees = (size_t)f->spec.trees;
  if (!cb_reserve((void **)&f->nodes, &f->nodes_room, trees * most_nodes,
                  sizeof *f->nodes) ||
      !cb_reserve((void **)&f->ranges, &f->ranges_room, most_nodes,
                  sizeof *f->ranges) ||
      !cb_reserve((void **)&f->visits, &f->visits_room, rows + 1, sizeof *f->visits) ||
      !cb_reserve((void **)&f->keyed, &f->keyed_room, rows, sizeof *f->keyed) ||
      !cb_reserve((void **)&f->sorted, &f->sorted_room, rows * d, sizeof *f->sorted) ||
      !cb_reserve((void **)&f->rows, &f->rows_room, rows * (d + 1), sizeof *f->rows) ||
      !cb_reserve((void **)&f->weight, &f->weight_room, rows, sizeof *f->weight) ||
      !cb_reserve((void **)&f->scratch, &f->scratch_room, rows, sizeof *f->scratch) ||
      !cb_reserve((void **)&f->left, &f->left_room, rows, sizeof *f->left))
    return cb_no_memory(err);
  return COCABO_OK;
}

/* ---- the rows of a tree ---------------------------------------------------------- */

static int by_value(const void *a, const void *b) {
  const keyed *u = a, *v = b;
  if (u->value != v->value)
    return u->value < v->value ? -1 : 1;
  return (u->row > v->row) - (u->row < v->row);
}

/* Once a fit: partitions keep the order. */
static void sort_rows(cb_forest *f) {
  for (int j = 0; j < f->spec.d; j++) {
    for (int i = 0; i < f->n; i++)
      f->keyed[i] = (keyed){f->x[cb_at(j, i, f->spec.d)], i};
    qsort(f->keyed, (size_t)f->n, sizeof *f->keyed, by_value);
    for (int i = 0; i < f->n; i++)
      f->sorted[cb_at(i, j, f->n)] = f->keyed[i].row;
  }
}

static int32_t *rows_by(const cb_forest *f, int list) {
  return f->rows + cb_at(0, list, f->n);
}

/* Rows in no order of x. */
static const int32_t *plain_rows(const cb_forest *f) {
  return rows_by(f, f->spec.d);
}

/* Random cuts need no order of x. */
static int first_list(const cb_forest *f) {
  return f->spec.tries > 0 ? f->spec.d : 0;
}

/* The first row whose sum is above a random part of the last sum. */
static int draw_weighted(const double *until, int n, cb_rng *rng) {
  const double at = cb_rng_uniform(rng) * until[n - 1];
  int low = 0, high = n - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (until[middle] > at)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

/* Returns how many distinct rows there are. */
static int draw_rows(cb_forest *f, const cb_forest_sample *sample, cb_rng *rng) {
  int count = 0;
  for (int i = 0; i < f->n; i++)
    f->weight[i] = f->spec.bootstrap || sample ? 0 : 1;
  for (int i = 0; sample && i < sample->size; i++)
    f->weight[draw_weighted(sample->until, f->n, rng)]++;
  for (int i = 0; i < f->n && f->spec.bootstrap && !sample; i++)
    f->weight[cb_rng_below(rng, (uint32_t)f->n)]++;
  for (int list = first_list(f); list <= f->spec.d; list++) {
    int32_t *rows = rows_by(f, list);
    count = 0;
    for (int i = 0; i < f->n; i++) {
      const int32_t row = list < f->spec.d ? f->sorted[cb_at(i, list, f->n)] : i;
      if (f->weight[row] > 0)
        rows[count++] = row;
    }
  }
  return count;
}

/* ---- looking for the best cut ---------------------------------------------------- */

/* The targets of a node; sums are of what they differ from the mean. */
typedef struct {
  range range;
  double weight, mean, squares;
} summary;

static summary summarise(const cb_forest *f, range here) {
  const int32_t *rows = plain_rows(f);
  summary s = {.range = here};
  for (int i = here.from; i < here.to; i++) {
    s.weight += f->weight[rows[i]];
    s.mean += f->weight[rows[i]] * f->y[rows[i]];
  }
  s.mean /= s.weight;
  for (int i = here.from; i < here.to; i++) {
    const double gap = f->y[rows[i]] - s.mean;
    s.squares += f->weight[rows[i]] * gap * gap;
  }
  return s;
}

/* By how much two sides have less squared error than the node, if one has this sum and
 * weight: the sum over the node is zero. */
static double gain_of(const summary *s, double sum, double weight) {
  return sum * sum / weight + sum * sum / (s->weight - weight);
}

static bool beats(const summary *s, double gain, const split *best) {
  return best->gain < 0.0 || gain > best->gain + TIE * s->squares;
}

static void try_number(const cb_forest *f, const summary *s, int j, split *best) {
  const int32_t *rows = rows_by(f, j);
  const int from = s->range.from, to = s->range.to, least = f->spec.min_leaf;
  double weight = 0.0, sum = 0.0, here = f->x[cb_at(j, rows[from], f->spec.d)];
  if (here == f->x[cb_at(j, rows[to - 1], f->spec.d)])
    return;
  for (int i = from; i < to - least; i++) {
    const double next = f->x[cb_at(j, rows[i + 1], f->spec.d)], low = here;
    weight += f->weight[rows[i]];
    sum += f->weight[rows[i]] * (f->y[rows[i]] - s->mean);
    here = next;
    if (low == next || i + 1 - from < least)
      continue;
    const double gain = gain_of(s, sum, weight);
    if (beats(s, gain, best))
      *best = (split){.gain = gain, .variable = j, .low = low, .high = next};
  }
}

static int by_mean(const void *a, const void *b) {
  const group *u = a, *v = b;
  if (u->mean != v->mean)
    return u->mean < v->mean ? -1 : 1;
  return (u->category > v->category) - (u->category < v->category);
}

/* The categories of h_j in the node, by mean, into `ordered`; returns their number. */
static int order_groups(const cb_forest *f, const summary *s, int j) {
  const int32_t *rows = plain_rows(f);
  int count = 0;
  for (int i = s->range.from; i < s->range.to; i++)
    f->groups[f->h[cb_at(j, rows[i], f->spec.c)]] = (group){0};
  for (int i = s->range.from; i < s->range.to; i++) {
    group *g = &f->groups[f->h[cb_at(j, rows[i], f->spec.c)]];
    g->weight += f->weight[rows[i]];
    g->sum += f->weight[rows[i]] * (f->y[rows[i]] - s->mean);
    g->rows++;
  }
  for (int i = s->range.from; i < s->range.to; i++) {
    const int32_t category = f->h[cb_at(j, rows[i], f->spec.c)];
    group *g = &f->groups[category];
    if (g->rows == 0)
      continue;
    g->category = category;
    g->mean = g->sum / g->weight;
    f->ordered[count++] = *g;
    g->rows = 0; /* listed */
  }
  qsort(f->ordered, (size_t)count, sizeof *f->ordered, by_mean);
  return count;
}

static void try_category(const cb_forest *f, const summary *s, int j, split *best) {
  const int count = s->range.to - s->range.from;
  const int groups = order_groups(f, s, j);
  double weight = 0.0, sum = 0.0;
  int rows = 0;
  for (int k = 0; k < groups - 1; k++) {
    weight += f->ordered[k].weight;
    sum += f->ordered[k].sum;
    rows += f->ordered[k].rows;
    if (rows < f->spec.min_leaf || count - rows < f->spec.min_leaf)
      continue;
    const double gain = gain_of(s, sum, weight);
    if (beats(s, gain, best))
      *best = (split){.gain = gain, .variable = f->spec.d + j, .groups = k + 1};
  }
}

static bool set_has(const uint32_t *set, int32_t category) {
  return set[category / WORD_BITS] >> (category % WORD_BITS) & 1u;
}

static void draw_set(uint32_t *set, int32_t categories, cb_rng *rng) {
  for (size_t w = 0; w < words_of(categories); w++)
    set[w] = cb_rng_u32(rng);
}

/* A random cut, if it is better than the best: rows for which f->left is set go left.
 */
static void weigh_random(const cb_forest *f, const summary *s, split *cut,
                         split *best) {
  const int32_t *rows = plain_rows(f);
  const int count = s->range.to - s->range.from;
  double weight = 0.0, sum = 0.0;
  int left = 0;
  for (int i = s->range.from; i < s->range.to; i++) {
    const double w = f->left[rows[i]] ? f->weight[rows[i]] : 0.0;
    weight += w;
    sum += w * (f->y[rows[i]] - s->mean);
    left += f->left[rows[i]];
  }
  if (left < f->spec.min_leaf || count - left < f->spec.min_leaf)
    return;
  cut->gain = gain_of(s, sum, weight);
  if (beats(s, cut->gain, best))
    *best = *cut;
}

static void try_random_numbers(const cb_forest *f, const summary *s, int j, cb_rng *rng,
                               split *best) {
  const int32_t *rows = plain_rows(f);
  double low = f->x[cb_at(j, rows[s->range.from], f->spec.d)], high = low;
  for (int i = s->range.from; i < s->range.to; i++) {
    const double at = f->x[cb_at(j, rows[i], f->spec.d)];
    low = at < low ? at : low;
    high = at > high ? at : high;
  }
  for (int k = 0; k < f->spec.tries && low < high; k++) {
    const double at = low + (high - low) * cb_rng_uniform(rng);
    split cut = {.variable = j, .low = at, .high = at};
    for (int i = s->range.from; i < s->range.to; i++)
      f->left[rows[i]] = f->x[cb_at(j, rows[i], f->spec.d)] <= at;
    weigh_random(f, s, &cut, best);
  }
}

static void try_random_sets(const cb_forest *f, const summary *s, int j, cb_rng *rng,
                            split *best) {
  const int32_t *rows = plain_rows(f), c = f->spec.c;
  const int32_t first = f->h[cb_at(j, rows[s->range.from], c)];
  bool varies = false;
  for (int i = s->range.from; i < s->range.to; i++)
    varies = varies || f->h[cb_at(j, rows[i], c)] != first;
  for (int k = 0; k < f->spec.tries && varies; k++) {
    split cut = {.variable = f->spec.d + j, .set = *rng};
    draw_set(f->tried, f->arms[j], rng);
    for (int i = s->range.from; i < s->range.to; i++)
      f->left[rows[i]] = set_has(f->tried, f->h[cb_at(j, rows[i], c)]);
    weigh_random(f, s, &cut, best);
  }
}

/* In random order, because the first of equals wins. */
static split best_split(cb_forest *f, const summary *s, cb_rng *rng) {
  split best = {.gain = -1.0};
  if (s->range.to - s->range.from < f->spec.min_split || s->squares <= 0.0)
    return best;
  cb_rng_shuffle(rng, f->spec.d + f->spec.c, f->variables);
  for (int k = 0; k < f->spec.d + f->spec.c; k++) {
    const int variable = f->variables[k];
    const int j = variable < f->spec.d ? variable : variable - f->spec.d;
    if (f->spec.tries > 0)
      (variable < f->spec.d ? try_random_numbers : try_random_sets)(f, s, j, rng,
                                                                    &best);
    else
      (variable < f->spec.d ? try_number : try_category)(f, s, j, &best);
  }
  return best;
}

/* ---- growing --------------------------------------------------------------------- */

static void cut_number(cb_forest *f, const split *best, range here, node *cut,
                       cb_rng *rng) {
  const int32_t *rows = plain_rows(f);
  const int j = best->variable;
  cut->value = best->low + cb_rng_uniform(rng) * (best->high - best->low);
  if (cut->value >= best->high) /* by rounding */
    cut->value = best->low;
  for (int i = here.from; i < here.to; i++)
    f->left[rows[i]] = f->x[cb_at(j, rows[i], f->spec.d)] <= cut->value;
}

static cocabo_status cut_category(cb_forest *f, const summary *s, const split *best,
                                  node *cut, cb_rng *rng, cocabo_error *err) {
  const int32_t *rows = plain_rows(f);
  const int j = best->variable - f->spec.d;
  const int groups = f->spec.tries > 0 ? 0 : order_groups(f, s, j);
  const size_t words = words_of(f->arms[j]);
  if (!cb_reserve((void **)&f->sets, &f->sets_room, f->n_sets + words, sizeof *f->sets))
    return cb_no_memory(err);
  uint32_t *set = f->sets + f->n_sets;
  cut->set = f->n_sets;
  f->n_sets += words;
  cb_rng again = best->set;
  draw_set(set, f->arms[j], f->spec.tries > 0 ? &again : rng);
  for (int k = 0; k < groups; k++) {
    const int32_t category = f->ordered[k].category;
    const uint32_t bit = 1u << (category % WORD_BITS);
    if (k < best->groups)
      set[category / WORD_BITS] |= bit;
    else
      set[category / WORD_BITS] &= ~bit;
  }
  for (int i = s->range.from; i < s->range.to; i++)
    f->left[rows[i]] = set_has(set, f->h[cb_at(j, rows[i], f->spec.c)]);
  return COCABO_OK;
}

/* Left rows first, in their order; returns where the right ones begin. */
static int32_t partition(cb_forest *f, int32_t *rows, range here) {
  int32_t left = here.from, right = 0;
  for (int i = here.from; i < here.to; i++) {
    const int32_t row = rows[i];
    f->scratch[right] = row;
    rows[left] = row;
    left += f->left[row];
    right += 1 - f->left[row];
  }
  memcpy(rows + left, f->scratch, (size_t)right * sizeof *rows);
  return left;
}

/* Nodes wait in a queue that is the tree itself. */
static cocabo_status grow_tree(cb_forest *f, int32_t root, int32_t *end,
                               const cb_forest_sample *sample, cb_rng *rng,
                               cocabo_error *err) {
  int32_t count = 1;
  f->ranges[0] = (range){0, draw_rows(f, sample, rng)};
  for (int32_t k = 0; k < count; k++) {
    node *here = &f->nodes[root + k];
    const summary s = summarise(f, f->ranges[k]);
    const split best = best_split(f, &s, rng);
    *here = (node){.variable = LEAF, .value = s.mean, .variance = s.squares / s.weight};
    if (best.gain < 0.0)
      continue;
    *here = (node){.variable = best.variable, .left = count};
    if (best.variable < f->spec.d)
      cut_number(f, &best, s.range, here, rng);
    else
      CB_TRY(cut_category(f, &s, &best, here, rng, err));
    int32_t middle = 0;
    for (int list = first_list(f); list <= f->spec.d; list++)
      middle = partition(f, rows_by(f, list), s.range);
    f->ranges[count++] = (range){s.range.from, middle};
    f->ranges[count++] = (range){middle, s.range.to};
  }
  *end = root + count;
  return COCABO_OK;
}

static void predict_unseen(const cb_forest *f, int t, const cb_forest_sample *sample);

cocabo_status cb_forest_fit(cb_forest *f, int n, const double *x, const int32_t *h,
                            const double *y, cb_rng *rng, cocabo_error *err) {
  return cb_forest_fit_sample(f, n, x, h, y, NULL, rng, err);
}

cocabo_status cb_forest_fit_sample(cb_forest *f, int n, const double *x,
                                   const int32_t *h, const double *y,
                                   const cb_forest_sample *sample, cb_rng *rng,
                                   cocabo_error *err) {
  assert(n > 0);
  CB_TRY(reserve(f, n, err));
  f->n = n;
  f->x = x;
  f->h = h;
  f->y = y;
  f->n_sets = 0;
  for (int k = 0; k < f->spec.d + f->spec.c; k++)
    f->variables[k] = k;
  if (f->spec.tries == 0)
    sort_rows(f);
  const bool asked = sample && sample->unseen;
  for (int i = 0; asked && i < n; i++) {
    sample->unseen[i] = 0.0;
    sample->unseen_trees[i] = 0;
  }
  for (int t = 0; t < f->spec.trees; t++) {
    CB_TRY(grow_tree(f, f->root[t], &f->root[t + 1], sample, rng, err));
    if (asked)
      predict_unseen(f, t, sample);
  }
  return COCABO_OK;
}

/* ---- predicting ------------------------------------------------------------------ */

static bool goes_left(const cb_forest *f, const node *at, int32_t point,
                      const double *x, const int32_t *h) {
  const int d = f->spec.d, c = f->spec.c, j = at->variable;
  return j < d ? x[cb_at(j, point, d)] <= at->value
               : set_has(f->sets + at->set, h[cb_at(j - d, point, c)]);
}

static void predict_unseen(const cb_forest *f, int t, const cb_forest_sample *sample) {
  const node *tree = f->nodes + f->root[t];
  for (int32_t i = 0; i < f->n; i++) {
    const node *at = tree;
    if (f->weight[i] > 0)
      continue;
    while (at->variable != LEAF)
      at = &tree[at->left + !goes_left(f, at, i, f->x, f->h)];
    sample->unseen[i] += at->value;
    sample->unseen_trees[i]++;
  }
}

/* Splits the points of a node between its children, left ones first. Without branches:
 * which way a point goes cannot be foreseen. */
static int32_t part_ways(cb_forest *f, const node *at, range here, const double *x,
                         const int32_t *h) {
  int32_t left = here.from, right = 0;
  for (int32_t i = here.from; i < here.to; i++) {
    const int32_t point = f->walking[i];
    const bool to_left = goes_left(f, at, point, x, h);
    f->right[right] = point;
    f->walking[left] = point;
    left += to_left;
    right += !to_left;
  }
  for (int32_t i = 0; i < right; i++)
    f->walking[left + i] = f->right[i];
  return left;
}

/* Welford's update with the mean of tree t = 0, 1, ...; variances of leaves add. */
static void arrive(const cb_forest *f, const node *leaf, range here, int t,
                   double *mean, double *variance) {
  for (int32_t i = here.from; i < here.to; i++) {
    const int32_t point = f->walking[i];
    const double gap = leaf->value - mean[point];
    mean[point] += gap / (t + 1);
    variance[point] += gap * (leaf->value - mean[point]) + leaf->variance;
  }
}

/* Down one tree, left branches first; nodes where nobody comes are not visited. */
static void walk(cb_forest *f, int t, int m, const double *x, const int32_t *h,
                 double *mean, double *variance) {
  const node *tree = f->nodes + f->root[t];
  int waiting = 1;
  for (int32_t i = 0; i < m; i++)
    f->walking[i] = i;
  f->visits[0] = (visit){0, {0, m}};
  while (waiting > 0) {
    const visit now = f->visits[--waiting];
    const node *at = &tree[now.node];
    while (now.points.to - now.points.from == 1 && at->variable != LEAF)
      at = &tree[at->left + !goes_left(f, at, f->walking[now.points.from], x, h)];
    if (at->variable == LEAF) {
      arrive(f, at, now.points, t, mean, variance);
      continue;
    }
    const int32_t middle = part_ways(f, at, now.points, x, h);
    const range left = {now.points.from, middle}, right = {middle, now.points.to};
    if (right.from < right.to)
      f->visits[waiting++] = (visit){at->left + 1, right};
    if (left.from < left.to)
      f->visits[waiting++] = (visit){at->left, left};
  }
}

static void predict_block(cb_forest *f, int m, const double *x, const int32_t *h,
                          double *mean, double *variance) {
  for (int i = 0; i < m; i++)
    mean[i] = variance[i] = 0.0;
  for (int t = 0; t < f->spec.trees; t++)
    walk(f, t, m, x, h, mean, variance);
  for (int i = 0; i < m; i++)
    variance[i] /= f->spec.trees;
}

void cb_forest_predict(cb_forest *f, int m, const double *x, const int32_t *h,
                       double *mean, double *variance) {
  for (int i = 0; i < m; i += BLOCK)
    predict_block(f, m - i < BLOCK ? m - i : BLOCK,
                  f->spec.d > 0 ? x + cb_at(0, i, f->spec.d) : NULL,
                  f->spec.c > 0 ? h + cb_at(0, i, f->spec.c) : NULL, mean + i,
                  variance + i);
}

double cb_forest_spread(const cb_forest *f, const double *x, const int32_t *h) {
  double mean = 0.0, squares = 0.0;
  for (int t = 0; t < f->spec.trees; t++) {
    const node *tree = f->nodes + f->root[t], *at = tree;
    while (at->variable != LEAF)
      at = &tree[at->left + !goes_left(f, at, 0, x, h)];
    const double gap = at->value - mean;
    mean += gap / (t + 1);
    squares += gap * (at->value - mean);
  }
  return squares / f->spec.trees;
}
