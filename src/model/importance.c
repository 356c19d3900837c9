/* importance.c - Shapley effects of a random forest, in four steps: rows get weights
 * that make up for where a sampler looked, outliers are cut, the forest is grown, and
 * its variance over the space is shared out along random walks. */
#include "model/importance.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/vexp.h"
#include "model/forest.h"

enum {
  TREES = 64,
  TRIES = 4,          /* random cuts of a variable that a node tries */
  LEAF = 1,           /* distinct rows that a leaf has at least */
  TREE_WORK = 100000, /* rows times variables that a tree looks at */
  NEIGHBOURS = 500,   /* rows that tell where the rows are dense */
  MOST_WALKS = 1024,
  PAIRS = 6,          /* of halves of the rows, that errors come from, */
  HALF_TREES = 16,    /* trees of each half, */
  HALF_WALKS = 4,     /* and every so many-th walk */
  WALK_WORK = 1 << 16 /* predictions that the walks cost together */
};

/* Rows nearer than this fraction of the space's width count as one. */
static const double NEAR = 0.05;

/* Values are cut this many distances of their quartiles away from the middle one. */
static const double FENCE = 2.0;

typedef struct weighed {
  double value, weight;
} weighed;

/* n rows; d + c variables. */
typedef struct workspace {
  double *y;              /* n: values, outliers cut */
  double *weight, *until; /* n: of the rows, and their sums up to each */
  weighed *sorted;        /* n */
  double *unseen;         /* n: of cb_forest_sample */
  int32_t *unseen_trees;
  double *points_x; /* d x (d + c + 1): a walk */
  int32_t *points_h;
  double *mean, *variance; /* d + c + 1 */
  int32_t *order;          /* d + c */
  double *first, *second;  /* d + c: shares by two halves of the rows */
  int32_t *split;          /* n: rows, in the order that parts them */
  cb_forest *forest, *half;
} workspace;

/* What has a share. */
static int variables_of(const cb_importance_data *data) {
  return data->d - data->presences + data->c;
}

static void workspace_free(workspace *w) {
  cb_free(w->y);
  cb_free(w->weight);
  cb_free(w->until);
  cb_free(w->sorted);
  cb_free(w->unseen);
  cb_free(w->unseen_trees);
  cb_free(w->points_x);
  cb_free(w->points_h);
  cb_free(w->mean);
  cb_free(w->variance);
  cb_free(w->order);
  cb_free(w->first);
  cb_free(w->second);
  cb_free(w->split);
  cb_forest_free(w->forest);
  cb_forest_free(w->half);
}

/* On failure too, workspace_free releases what there is. */
static cocabo_status workspace_make(workspace *w, const cb_importance_data *data,
                                    cocabo_error *err) {
  const size_t n = (size_t)data->n, d = (size_t)data->d, c = (size_t)data->c;
  const size_t steps = d + c + 1;
  *w = (workspace){.y = cb_calloc(n, sizeof *w->y),
                   .weight = cb_calloc(n, sizeof *w->weight),
                   .until = cb_calloc(n, sizeof *w->until),
                   .sorted = cb_calloc(n, sizeof *w->sorted),
                   .unseen = cb_calloc(n, sizeof *w->unseen),
                   .unseen_trees = cb_calloc(n, sizeof *w->unseen_trees),
                   .points_x = cb_calloc(d * steps, sizeof *w->points_x),
                   .points_h = cb_calloc(c * steps, sizeof *w->points_h),
                   .mean = cb_calloc(steps, sizeof *w->mean),
                   .variance = cb_calloc(steps, sizeof *w->variance),
                   .order = cb_calloc(steps, sizeof *w->order),
                   .first = cb_calloc(steps, sizeof *w->first),
                   .second = cb_calloc(steps, sizeof *w->second),
                   .split = cb_calloc(n, sizeof *w->split)};
  if (!w->y || !w->weight || !w->until || !w->sorted || !w->unseen ||
      !w->unseen_trees || !w->points_x || !w->points_h || !w->mean || !w->variance ||
      !w->order || !w->first || !w->second || !w->split)
    return cb_no_memory(err);
  cb_forest_spec spec = {.d = data->d,
                         .c = data->c,
                         .arms = data->arms,
                         .trees = TREES,
                         .min_split = 2 * LEAF,
                         .min_leaf = LEAF,
                         .tries = TRIES};
  CB_TRY(cb_forest_new(&w->forest, &spec, err));
  spec.trees = HALF_TREES;
  return cb_forest_new(&w->half, &spec, err);
}

/* ---- weights: what the space looks like, not where the sampler looked ------------ */

/* Mean over the variables, each in [0,1]. */
static double distance(const cb_importance_data *data, int a, int b) {
  const int d = data->d, c = data->c;
  double sum = 0.0;
  for (int j = 0; j < d; j++)
    sum += 0.5 * fabs(data->x[cb_at(j, a, d)] - data->x[cb_at(j, b, d)]);
  for (int j = 0; j < c; j++)
    sum += data->h[cb_at(j, a, c)] != data->h[cb_at(j, b, c)];
  return sum / (d + c);
}

/* An optimiser spends most trials around the best point. Each row counts as one over
 * the number of rows around it, or else every variable that was settled early would
 * look important. */
static void weigh(const cb_importance_data *data, workspace *w) {
  const int n = data->n, others = n < NEIGHBOURS ? n : NEIGHBOURS;
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    double around = 1.0;
    for (int k = 0; k < others; k++) {
      const double far = distance(data, i, (int)((int64_t)k * n / others)) / NEAR;
      around += cb_exp_neg(-far * far);
    }
    w->weight[i] = 1.0 / around;
    sum += w->weight[i];
    w->until[i] = sum;
  }
}

/* ---- values: outliers cut -------------------------------------------------------- */

static int compare_weighed(const void *a, const void *b) {
  const weighed *u = a, *v = b;
  if (u->value != v->value)
    return u->value < v->value ? -1 : 1;
  return (u->weight > v->weight) - (u->weight < v->weight);
}

static double quantile(const weighed *sorted, int n, double total, double q) {
  double sum = 0.0;
  for (int i = 0; i < n; i++) {
    sum += sorted[i].weight;
    if (sum >= q * total)
      return sorted[i].value;
  }
  return sorted[n - 1].value;
}

/* Half the distance of the quartiles or, where they are equal, of the eighths and so
 * on. Halves, because the difference of two large numbers would overflow. */
static double half_spread(const weighed *sorted, int n, double total) {
  double q = 0.25;
  for (int halved = 0; halved < 8; halved++) {
    const double high = quantile(sorted, n, total, 1.0 - q);
    const double low = quantile(sorted, n, total, q);
    if (high > low)
      return 0.5 * high - 0.5 * low;
    q *= 0.5;
  }
  return 0.5 * sorted[n - 1].value - 0.5 * sorted[0].value;
}

static cocabo_status cut_values(const cb_importance_data *data, workspace *w,
                                cocabo_error *err) {
  const int n = data->n;
  const double total = w->until[n - 1];
  for (int i = 0; i < n; i++)
    w->sorted[i] = (weighed){data->y[i], w->weight[i]};
  qsort(w->sorted, (size_t)n, sizeof *w->sorted, compare_weighed);
  const double middle = quantile(w->sorted, n, total, 0.5);
  const double spread = half_spread(w->sorted, n, total);
  if (!(spread > 0.0))
    return cb_fail(err, COCABO_E_STATE,
                   "all values are equal, so no parameter has a share");
  for (int i = 0; i < n; i++) {
    const double z = (0.5 * data->y[i] - 0.5 * middle) / spread;
    w->y[i] = z > FENCE ? FENCE : z < -FENCE ? -FENCE : z;
  }
  return COCABO_OK;
}

/* ---- the forest ------------------------------------------------------------------ */

/* Of the rows that some tree had not seen, by those trees. */
static double explained_share(const workspace *w, int n) {
  double mean = 0.0, total = 0.0, missed = 0.0;
  for (int i = 0; i < n; i++)
    mean += w->weight[i] * w->y[i] / w->until[n - 1];
  for (int i = 0; i < n; i++) {
    if (w->unseen_trees[i] == 0)
      continue;
    const double gap = w->y[i] - mean;
    const double error = w->y[i] - w->unseen[i] / w->unseen_trees[i];
    total += w->weight[i] * gap * gap;
    missed += w->weight[i] * error * error;
  }
  return missed < total ? 1.0 - missed / total : 0.0;
}

static cocabo_status learn(const cb_importance_data *data, workspace *w, cb_rng *rng,
                           double *explained, cocabo_error *err) {
  const int most = TREE_WORK / (data->d + data->c);
  const cb_forest_sample sample = {.size = data->n < most ? data->n : most,
                                   .until = w->until,
                                   .unseen = w->unseen,
                                   .unseen_trees = w->unseen_trees};
  CB_TRY(cb_forest_fit_sample(w->forest, data->n, data->x, data->h, w->y, &sample, rng,
                              err));
  *explained = explained_share(w, data->n);
  return COCABO_OK;
}

/* ---- shares ---------------------------------------------------------------------- */

int cb_importance_walks(int variables) {
  const int affordable = WALK_WORK / (2 * (variables + 1));
  return affordable < MOST_WALKS ? affordable : MOST_WALKS;
}

/* The points of walk k: from one end to the other, variable by variable. */
static void lay_walk(const cb_importance_data *data, workspace *w, int k) {
  const int d = data->d, c = data->c, numbers = d - data->presences;
  for (int step = 0; step <= numbers + c; step++) {
    double *x = w->points_x + cb_at(0, step, d);
    int32_t *h = w->points_h + cb_at(0, step, c);
    if (step == 0) {
      for (int j = 0; j < d; j++)
        x[j] = data->ends_x[cb_at(j, 2 * k, d)];
      for (int j = 0; j < c; j++)
        h[j] = data->ends_h[cb_at(j, 2 * k, c)];
      continue;
    }
    for (int j = 0; j < d; j++)
      x[j] = x[j - d];
    for (int j = 0; j < c; j++)
      h[j] = h[j - c];
    const int moved = w->order[step - 1];
    if (moved < numbers)
      x[moved] = data->ends_x[cb_at(moved, 2 * k + 1, d)];
    else
      h[moved - numbers] = data->ends_h[cb_at(moved - numbers, 2 * k + 1, c)];
  }
  for (int step = 0; step <= numbers + c && data->settle; step++)
    data->settle(data->space, w->points_x + cb_at(0, step, d),
                 w->points_h + cb_at(0, step, c));
}

static void reverse(int32_t *order, int n) {
  for (int i = 0; i < n / 2; i++) {
    const int32_t first = order[i];
    order[i] = order[n - 1 - i];
    order[n - 1 - i] = first;
  }
}

/* The estimator of Goda (2021) for Shapley effects: the terms of a walk's steps add up
 * to half the squared difference of its ends, whose mean is the variance. Each walk is
 * made in an order and in its reverse, which errs the other way: as exact as twice as
 * many walks. */
static void walk_often(const cb_importance_data *data, workspace *w, cb_forest *forest,
                       int walks, cb_rng *rng, double *share) {
  const int variables = variables_of(data);
  for (int j = 0; j < variables; j++) {
    w->order[j] = j;
    share[j] = 0.0;
  }
  for (int k = 0; k < 2 * walks; k++) {
    if (k % 2 == 0)
      cb_rng_shuffle(rng, variables, w->order);
    else
      reverse(w->order, variables);
    lay_walk(data, w, k / 2);
    cb_forest_predict(forest, variables + 1, w->points_x, w->points_h, w->mean,
                      w->variance);
    for (int step = 1; step <= variables; step++) {
      const double before = w->mean[step - 1], after = w->mean[step];
      share[w->order[step - 1]] +=
          (w->mean[0] - 0.5 * (before + after)) * (before - after);
    }
  }
}

/* Chance may leave a little less than nothing. */
static cocabo_status normalise(double *share, int variables, cocabo_error *err) {
  double sum = 0.0;
  for (int j = 0; j < variables; j++) {
    share[j] = share[j] > 0.0 ? share[j] : 0.0;
    sum += share[j];
  }
  if (!(sum > 0.0))
    return cb_fail(err, COCABO_E_STATE,
                   "no parameter varies with the values, so none has a share");
  for (int j = 0; j < variables; j++)
    share[j] /= sum;
  return COCABO_OK;
}

/* ---- errors ---------------------------------------------------------------------- */

/* The shares by the rows split[from .. to-1] alone. Rows that show nothing leave every
 * parameter the same share. */
static cocabo_status share_by(const cb_importance_data *data, workspace *w, int from,
                              int to, cb_rng *rng, double *share, cocabo_error *err) {
  const int n = data->n, variables = variables_of(data);
  const int most = TREE_WORK / (data->d + data->c);
  const int walks = data->walks / HALF_WALKS > 0 ? data->walks / HALF_WALKS : 1;
  double sum = 0.0;
  for (int i = 0; i < n; i++)
    w->until[i] = 0.0;
  for (int k = from; k < to; k++)
    w->until[w->split[k]] = w->weight[w->split[k]];
  for (int i = 0; i < n; i++)
    w->until[i] = sum += w->until[i];
  const cb_forest_sample sample = {.size = to - from < most ? to - from : most,
                                   .until = w->until};
  CB_TRY(cb_forest_fit_sample(w->half, n, data->x, data->h, w->y, &sample, rng, err));
  walk_often(data, w, w->half, walks, rng, share);
  if (normalise(share, variables, NULL) != COCABO_OK)
    for (int j = 0; j < variables; j++)
      share[j] = 1.0 / variables;
  return COCABO_OK;
}

/* Two halves of the rows know nothing of each other, so that half the difference of
 * what they say is off by as much as what all rows say by chance. And what all rows say
 * differs from what halves say on average by what more rows would still change: the
 * systematic part, such as what noise books on everything. Both make up the error. */
static cocabo_status find_errors(const cb_importance_data *data, workspace *w,
                                 cb_rng *rng, const double *share, double *se,
                                 cocabo_error *err) {
  const int n = data->n, variables = variables_of(data);
  double mean[COCABO_MAX_PARAMETERS] = {0}, chance[COCABO_MAX_PARAMETERS] = {0};
  for (int i = 0; i < n; i++)
    w->split[i] = i;
  for (int pair = 0; pair < PAIRS; pair++) {
    cb_rng_shuffle(rng, n, w->split);
    CB_TRY(share_by(data, w, 0, n / 2, rng, w->first, err));
    CB_TRY(share_by(data, w, n / 2, n, rng, w->second, err));
    for (int j = 0; j < variables; j++) {
      const double gap = 0.5 * (w->first[j] - w->second[j]);
      chance[j] += gap * gap / PAIRS;
      mean[j] += 0.5 * (w->first[j] + w->second[j]) / PAIRS;
    }
  }
  for (int j = 0; j < variables; j++)
    se[j] = sqrt(chance[j] + (mean[j] - share[j]) * (mean[j] - share[j]));
  return COCABO_OK;
}

cocabo_status cb_importance(const cb_importance_data *data, cb_rng *rng, double *share,
                            double *se, double *explained, cocabo_error *err) {
  assert(data->d + data->c > 0 && data->walks > 0);
  if (data->n < CB_IMPORTANCE_LEAST)
    return cb_fail(err, COCABO_E_STATE,
                   "importance needs %d complete trials, and there %s %d",
                   CB_IMPORTANCE_LEAST, data->n == 1 ? "is" : "are", data->n);
  workspace w;
  cocabo_status status = workspace_make(&w, data, err);
  if (status == COCABO_OK) {
    weigh(data, &w);
    status = cut_values(data, &w, err);
  }
  if (status == COCABO_OK)
    status = learn(data, &w, rng, explained, err);
  if (status == COCABO_OK) {
    walk_often(data, &w, w.forest, data->walks, rng, share);
    status = normalise(share, variables_of(data), err);
  }
  if (status == COCABO_OK && se)
    status = find_errors(data, &w, rng, share, se, err);
  workspace_free(&w);
  return status;
}
