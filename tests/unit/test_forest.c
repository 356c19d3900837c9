/* The random forest: against scikit-learn's trees, against all possible cuts, and what
 * must hold for every forest. */
#include "check.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "model/forest.h"
#include "oracle/forest.h"

static cocabo_error err;

enum { N_TREES = sizeof oracle_trees / sizeof oracle_trees[0], MOST = 2500 };

static cb_rng stream(uint64_t number) {
  return cb_rng_make(31, 98, number);
}

static cb_forest *new_forest(cb_forest_spec spec) {
  cb_forest *forest = NULL;
  assert_ok(cb_forest_new(&forest, &spec, &err));
  return forest;
}

static cb_forest_spec tree_of(int d, int c, const int32_t *arms) {
  return (cb_forest_spec){
      .d = d, .c = c, .arms = arms, .trees = 1, .min_split = 2, .min_leaf = 1};
}

/* Two numbers, and categories of 3 and 70 values, of which each has some effect. */
typedef struct {
  int n;
  double x[2 * MOST], y[MOST];
  int32_t h[2 * MOST];
} data;

static const int32_t some_arms[] = {3, 70};

static data *some_data(int n, uint64_t number) {
  static data out;
  cb_rng rng = stream(number);
  out.n = n;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < 2; j++) {
      out.x[2 * i + j] = 2.0 * cb_rng_uniform(&rng) - 1.0;
      out.h[2 * i + j] = (int32_t)cb_rng_below(&rng, (uint32_t)some_arms[j]);
    }
    out.y[i] = sin(3.0 * out.x[2 * i]) + out.x[2 * i + 1] * out.h[2 * i] +
               0.013 * (out.h[2 * i + 1] * 29 % 70);
  }
  return &out;
}

static void fit_some(cb_forest *forest, const data *some, uint64_t number) {
  cb_rng rng = stream(number);
  assert_ok(cb_forest_fit(forest, some->n, some->x, some->h, some->y, &rng, &err));
}

/* ---- cuts ------------------------------------------------------------------------ */

static void trees_agree_with_the_oracle(void **state) {
  (void)state;
  const int32_t arms[] = {2, 2, 2, 2};
  for (int t = 0; t < N_TREES; t++)
    for (uint64_t order = 0; order < 5; order++) {
      cb_forest_spec spec = tree_of(oracle_trees[t].d, oracle_trees[t].c, arms);
      spec.min_split = oracle_trees[t].min_split;
      spec.min_leaf = oracle_trees[t].min_leaf;
      cb_forest *forest = new_forest(spec);
      cb_rng rng = stream(order);
      double mean[80], variance[80];
      const int n = oracle_trees[t].n;
      assert_ok(cb_forest_fit(forest, n, oracle_trees[t].x, oracle_trees[t].h,
                              oracle_trees[t].y, &rng, &err));
      cb_forest_predict(forest, n, oracle_trees[t].x, oracle_trees[t].h, mean,
                        variance);
      for (int i = 0; i < n; i++) {
        assert_close(mean[i], oracle_trees[t].mean[i], 1e-12);
        assert_close(variance[i], oracle_trees[t].variance[i], 1e-12);
      }
      cb_forest_free(forest);
    }
}

/* Squared error if the rows with a true `left` have a mean of their own. */
static double error_of(int n, const double *y, const bool *left) {
  double sum[2] = {0}, error = 0.0;
  int count[2] = {0};
  for (int i = 0; i < n; i++) {
    sum[left[i]] += y[i];
    count[left[i]]++;
  }
  for (int i = 0; i < n; i++)
    error += pow(y[i] - sum[left[i]] / count[left[i]], 2);
  return error;
}

/* A node that must have all rows to be cut makes a tree of one cut. */
static void one_cut_is_the_best_of_all_subsets(void **state) {
  (void)state;
  enum { N = 40, ARMS = 7, APART = 11 }; /* labels in several words of a set */
  const int32_t arms[] = {ARMS * APART};
  for (uint64_t number = 0; number < 20; number++) {
    cb_rng rng = stream(number);
    double y[N], mean[N], variance[N], got = 0.0, want = INFINITY;
    int32_t h[N];
    for (int i = 0; i < N; i++) {
      h[i] = APART * (i < ARMS ? i : (int32_t)cb_rng_below(&rng, ARMS));
      y[i] = 0.4 * sin(2.3 * h[i]) + cb_rng_normal(&rng);
    }
    for (unsigned subset = 1; subset < (1u << ARMS) - 1u; subset++) {
      bool left[N];
      for (int i = 0; i < N; i++)
        left[i] = subset >> (h[i] / APART) & 1u;
      want = fmin(want, error_of(N, y, left));
    }
    cb_forest_spec spec = tree_of(0, 1, arms);
    spec.min_split = N;
    cb_forest *forest = new_forest(spec);
    assert_ok(cb_forest_fit(forest, N, NULL, h, y, &rng, &err));
    cb_forest_predict(forest, N, NULL, h, mean, variance);
    for (int i = 0; i < N; i++)
      got += pow(y[i] - mean[i], 2);
    assert_relative(got, want, 1e-12);
    cb_forest_free(forest);
  }
}

static void one_cut_is_the_best_of_all_variables(void **state) {
  (void)state;
  enum { N = 50 };
  const int32_t arms[] = {2, 2};
  for (uint64_t number = 0; number < 20; number++) {
    cb_rng rng = stream(number);
    double x[2 * N], y[N], mean[N], variance[N], got = 0.0, want = INFINITY;
    int32_t h[2 * N];
    bool left[N];
    for (int i = 0; i < N; i++) {
      for (int j = 0; j < 2; j++) {
        x[2 * i + j] = 2.0 * cb_rng_uniform(&rng) - 1.0;
        h[2 * i + j] = (int32_t)cb_rng_below(&rng, 2);
      }
      y[i] = 0.5 * x[2 * i] + 0.3 * h[2 * i] + 0.3 * h[2 * i + 1] + cb_rng_normal(&rng);
    }
    for (int j = 0; j < 2; j++) {
      for (int i = 0; i < N; i++)
        left[i] = h[2 * i + j] == 0;
      want = fmin(want, error_of(N, y, left));
      for (int k = 0; k < N; k++) {
        int count = 0;
        for (int i = 0; i < N; i++)
          count += left[i] = x[2 * i + j] <= x[2 * k + j];
        want = count < N ? fmin(want, error_of(N, y, left)) : want;
      }
    }
    cb_forest_spec spec = tree_of(2, 2, arms);
    spec.min_split = N;
    cb_forest *forest = new_forest(spec);
    assert_ok(cb_forest_fit(forest, N, x, h, y, &rng, &err));
    cb_forest_predict(forest, N, x, h, mean, variance);
    for (int i = 0; i < N; i++)
      got += pow(y[i] - mean[i], 2);
    assert_relative(got, want, 1e-12);
    cb_forest_free(forest);
  }
}

static void equal_variables_have_equal_chances(void **state) {
  (void)state;
  enum { TREES = 4000 };
  const int32_t arms[] = {2};
  const double x[] = {-0.7, 0.4, 0.6, -0.3}, y[] = {1.3, 4.3}; /* all three can cut */
  const int32_t h[] = {0, 1};
  cb_forest_spec spec = tree_of(2, 1, arms);
  spec.trees = TREES;
  cb_forest *forest = new_forest(spec);
  cb_rng rng = stream(0);
  assert_ok(cb_forest_fit(forest, 2, x, h, y, &rng, &err));
  /* Each is like the second row in one variable alone. */
  const double at[] = {0.6, 0.4, -0.7, -0.3, -0.7, 0.4};
  const int32_t at_h[] = {0, 0, 1};
  double mean[3], variance[3];
  cb_forest_predict(forest, 3, at, at_h, mean, variance);
  for (int i = 0; i < 3; i++)
    assert_true(fabs(mean[i] - (1.3 + 3.0 / 3.0)) < 0.1);
  cb_forest_free(forest);
}

/* ---- gaps ------------------------------------------------------------------------ */

/* With a chance p to be right of the cut: mean p, variance p (1 - p). */
static void gaps_between_numbers_are_bridged_linearly(void **state) {
  (void)state;
  const double x[] = {-0.5, 0.7}, y[] = {2.0, 5.0};
  cb_forest_spec spec = tree_of(1, 0, NULL);
  spec.trees = 20000;
  cb_forest *forest = new_forest(spec);
  cb_rng rng = stream(0);
  assert_ok(cb_forest_fit(forest, 2, x, NULL, y, &rng, &err));
  for (double at = -0.9; at < 1.0; at += 0.1) {
    const double p = fmin(fmax((at + 0.5) / 1.2, 0.0), 1.0);
    double mean, variance;
    cb_forest_predict(forest, 1, &at, NULL, &mean, &variance);
    assert_true(fabs(mean - (2.0 + 3.0 * p)) < 0.05);
    assert_true(fabs(variance - 9.0 * p * (1.0 - p)) < 0.05);
  }
  double ends[2], none[2];
  cb_forest_predict(forest, 2, x, NULL, ends, none);
  assert_true(ends[0] == 2.0 && ends[1] == 5.0 && none[0] == 0.0 && none[1] == 0.0);
  cb_forest_free(forest);
}

static void neighbouring_doubles_can_be_told_apart(void **state) {
  (void)state;
  const double x[] = {0.3, nextafter(0.3, 1.0), -DBL_TRUE_MIN, 0.0};
  const double y[] = {7.5, -2.5, 3.25, 11.0};
  for (uint64_t number = 0; number < 50; number++) {
    cb_forest *forest = new_forest(tree_of(1, 0, NULL));
    cb_rng rng = stream(number);
    double mean[4], variance[4];
    assert_ok(cb_forest_fit(forest, 4, x, NULL, y, &rng, &err));
    cb_forest_predict(forest, 4, x, NULL, mean, variance);
    assert_memory_equal(mean, y, sizeof y);
    cb_forest_free(forest);
  }
}

static void unseen_categories_go_either_way(void **state) {
  (void)state;
  const int32_t arms[] = {70}, h[] = {3, 41}, unseen[] = {0, 40, 69};
  const double y[] = {-1.0, 4.0};
  cb_forest_spec spec = tree_of(0, 1, arms);
  spec.trees = 5000;
  cb_forest *forest = new_forest(spec);
  cb_rng rng = stream(0);
  double mean[3], variance[3];
  assert_ok(cb_forest_fit(forest, 2, NULL, h, y, &rng, &err));
  cb_forest_predict(forest, 3, NULL, unseen, mean, variance);
  for (int i = 0; i < 3; i++) {
    assert_true(fabs(mean[i] - 1.5) < 0.15);
    assert_true(fabs(variance[i] - 6.25) < 0.1);
  }
  cb_forest_free(forest);
}

/* ---- what is learnt -------------------------------------------------------------- */

static void a_full_tree_interpolates(void **state) {
  (void)state;
  const data *some = some_data(300, 4);
  cb_forest *forest = new_forest(tree_of(2, 2, some_arms));
  double mean[300], variance[300];
  fit_some(forest, some, 1);
  cb_forest_predict(forest, some->n, some->x, some->h, mean, variance);
  for (int i = 0; i < some->n; i++) {
    assert_true(mean[i] == some->y[i]);
    assert_true(variance[i] == 0.0);
  }
  cb_forest_free(forest);
}

/* No single cut helps; two of them do. */
static void a_cut_may_be_useless_by_itself(void **state) {
  (void)state;
  const double x[] = {-0.5, 0.5, -0.5, 0.5}, y[] = {1.75, -3.5, -3.5, 1.75};
  const int32_t arms[] = {2}, h[] = {0, 0, 1, 1};
  cb_forest *forest = new_forest(tree_of(1, 1, arms));
  cb_rng rng = stream(0);
  double mean[4], variance[4];
  assert_ok(cb_forest_fit(forest, 4, x, h, y, &rng, &err));
  cb_forest_predict(forest, 4, x, h, mean, variance);
  assert_memory_equal(mean, y, sizeof y);
  cb_forest_free(forest);
}

static void equal_points_share_a_leaf(void **state) {
  (void)state;
  const double x[] = {0.25, -0.75, 0.25, 0.25}, y[] = {2.0, 9.0, 5.0, -1.0};
  const int32_t arms[] = {3}, h[] = {1, 1, 1, 1};
  cb_forest *forest = new_forest(tree_of(1, 1, arms));
  cb_rng rng = stream(0);
  double mean[2], variance[2];
  assert_ok(cb_forest_fit(forest, 4, x, h, y, &rng, &err));
  cb_forest_predict(forest, 2, x, h, mean, variance);
  assert_close(mean[0], 2.0, 1e-15);
  assert_close(variance[0], 6.0, 1e-15);
  assert_true(mean[1] == 9.0 && variance[1] == 0.0);
  cb_forest_free(forest);
}

static void constants_and_single_rows_have_no_variance(void **state) {
  (void)state;
  data *some = some_data(60, 9);
  cb_forest_spec spec = tree_of(2, 2, some_arms);
  spec.trees = 10;
  spec.bootstrap = true;
  cb_forest *forest = new_forest(spec);
  for (int i = 0; i < some->n; i++)
    some->y[i] = -3.17;
  for (int n = 60; n >= 1; n -= 59) {
    double mean[60], variance[60];
    some->n = n;
    fit_some(forest, some, 2);
    cb_forest_predict(forest, 60, some->x, some->h, mean, variance);
    for (int i = 0; i < 60; i++) {
      assert_close(mean[i], -3.17, 1e-15);
      assert_close(variance[i], 0.0, 1e-25);
    }
  }
  cb_forest_free(forest);
}

/* A row is missing from a bootstrap sample with probability (1 - 1/n)^n. */
static void a_bootstrap_sample_has_its_share_of_rows(void **state) {
  (void)state;
  enum { SAMPLES = 200 };
  const data *some = some_data(100, 5);
  cb_forest_spec spec = tree_of(2, 2, some_arms);
  spec.bootstrap = true;
  cb_forest *forest = new_forest(spec);
  int known = 0;
  for (uint64_t number = 0; number < SAMPLES; number++) {
    double mean[100], variance[100];
    fit_some(forest, some, number);
    cb_forest_predict(forest, some->n, some->x, some->h, mean, variance);
    for (int i = 0; i < some->n; i++)
      known += fabs(mean[i] - some->y[i]) < 1e-12;
  }
  const double want = 1.0 - pow(0.99, 100);
  assert_true(fabs(known / (100.0 * SAMPLES) - want) < 0.01);
  cb_forest_free(forest);
}

static void means_lie_among_the_targets(void **state) {
  (void)state;
  data *some = some_data(200, 6);
  cb_forest_spec spec = tree_of(2, 2, some_arms);
  spec.trees = 10;
  spec.bootstrap = true;
  cb_forest *forest = new_forest(spec);
  double low = INFINITY, high = -INFINITY, error = 0.0, plain = 0.0;
  static double mean[MOST], variance[MOST];
  for (int i = 0; i < some->n; i++) {
    low = fmin(low, some->y[i]);
    high = fmax(high, some->y[i]);
  }
  fit_some(forest, some, 3);
  const data *others = some_data(MOST, 7);
  cb_forest_predict(forest, MOST, others->x, others->h, mean, variance);
  for (int i = 0; i < MOST; i++) {
    assert_true(mean[i] >= low && mean[i] <= high);
    assert_true(variance[i] >= 0.0 && variance[i] <= (high - low) * (high - low) / 4.0);
    error += pow(mean[i] - others->y[i], 2);
    plain += pow(others->y[i] - 0.45, 2); /* about their mean */
  }
  assert_true(error < 0.4 * plain); /* something is learnt */
  cb_forest_free(forest);
}

/* ---- bits ------------------------------------------------------------------------ */

static void points_are_predicted_alone_as_in_blocks(void **state) {
  (void)state;
  cb_forest_spec spec = tree_of(2, 2, some_arms);
  spec.trees = 10;
  spec.bootstrap = true;
  cb_forest *forest = new_forest(spec);
  static double mean[MOST], variance[MOST];
  fit_some(forest, some_data(120, 1), 3);
  const data *others = some_data(MOST, 2);
  cb_forest_predict(forest, MOST, others->x, others->h, mean, variance);
  for (int i = 0; i < MOST; i++) {
    double alone, its;
    cb_forest_predict(forest, 1, others->x + 2 * i, others->h + 2 * i, &alone, &its);
    assert_true(alone == mean[i] && its == variance[i]);
  }
  cb_forest_free(forest);
}

static void the_stream_decides_every_bit(void **state) {
  (void)state;
  enum { N = 150 };
  cb_forest_spec spec = tree_of(2, 2, some_arms);
  spec.trees = 10;
  spec.bootstrap = true;
  cb_forest *used = new_forest(spec), *fresh = new_forest(spec);
  double a[N], b[N], c[N], variance[N];
  fit_some(used, some_data(211, 8), 40); /* what it did before leaves no trace */
  const data *some = some_data(N, 9);
  fit_some(used, some, 41);
  fit_some(fresh, some, 41);
  cb_forest_predict(used, N, some->x, some->h, a, variance);
  cb_forest_predict(fresh, N, some->x, some->h, b, variance);
  fit_some(fresh, some, 42);
  cb_forest_predict(fresh, N, some->x, some->h, c, variance);
  assert_memory_equal(a, b, sizeof a);
  assert_true(memcmp(a, c, sizeof a) != 0);
  cb_forest_free(used);
  cb_forest_free(fresh);
}

static void lack_of_memory_is_survived(void **state) {
  (void)state;
  enum { N = 90 };
  const data *some = some_data(N, 3);
  cb_forest_spec spec = tree_of(2, 2, some_arms);
  spec.trees = 3;
  cb_forest *forest = NULL, *twin = new_forest(spec);
  double a[N], b[N], variance[N];
  fit_some(twin, some, 5);
  cb_forest_predict(twin, N, some->x, some->h, b, variance);
  int lacking = 0;
  for (bool enough = false; !enough; lacking++) {
    cb_mem_fail_after(lacking);
    cb_rng rng = stream(5);
    cocabo_status status = cb_forest_new(&forest, &spec, &err);
    if (status == COCABO_OK)
      status = cb_forest_fit(forest, N, some->x, some->h, some->y, &rng, &err);
    cb_mem_fail_after(-1);
    enough = status == COCABO_OK;
    assert_true(enough || status == COCABO_E_NO_MEMORY);
    if (forest && !enough)
      fit_some(forest, some, 5); /* a failure does no lasting harm */
    if (forest) {
      cb_forest_predict(forest, N, some->x, some->h, a, variance);
      assert_memory_equal(a, b, sizeof a);
    }
    cb_forest_free(forest);
  }
  assert_true(lacking > 15); /* sets of categories grow while the trees do */
  cb_forest_free(twin);
  cb_forest_free(NULL);
}

/* ---- random cuts and drawn rows -------------------------------------------------- */

/* Of 60 rows the first 20 have no weight: no tree draws them, and what trees say of
 * unseen rows is what the forest predicts. */
static void rows_are_drawn_by_weight(void **state) {
  (void)state;
  enum { N = 60, NEVER = 20, TREES = 40 };
  for (int tries = 0; tries <= 3; tries += 3) {
    const data *some = some_data(N, 71);
    cb_forest *f = new_forest((cb_forest_spec){.d = 2,
                                               .c = 2,
                                               .arms = some_arms,
                                               .trees = TREES,
                                               .min_split = 2,
                                               .min_leaf = 1,
                                               .tries = tries});
    double until[N], unseen[N], mean[N], variance[N];
    int32_t trees[N];
    for (int i = 0; i < N; i++)
      until[i] = i < NEVER ? 0.0 : i - NEVER + 1.0;
    const cb_forest_sample sample = {N, until, unseen, trees};
    cb_rng rng = stream(72);
    assert_ok(
        cb_forest_fit_sample(f, N, some->x, some->h, some->y, &sample, &rng, &err));
    cb_forest_predict(f, N, some->x, some->h, mean, variance);
    int missed = 0;
    for (int i = 0; i < NEVER; i++) {
      assert_int_equal(trees[i], TREES);
      assert_close(unseen[i] / TREES, mean[i], 1e-12);
    }
    for (int i = NEVER; i < N; i++)
      missed += trees[i];
    /* A row of 40 is missed by 60 draws with probability (39/40)^60 = 0.22. */
    assert_in_range(missed, (int)(0.17 * TREES * (N - NEVER)),
                    (int)(0.27 * TREES * (N - NEVER)));
    cb_forest_free(f);
  }
}

/* Values that nothing predicts: with all cuts tried the category of 70 values fits them
 * best by far, with as many tries for each the forest says less of rows it has seen. */
static void random_cuts_give_many_categories_no_advantage(void **state) {
  (void)state;
  enum { N = 200, STEPS = 50 };
  double spread[2] = {0};
  for (int k = 0; k < 2; k++) {
    data *some = some_data(N, 73);
    cb_rng rng = stream(74);
    for (int i = 0; i < N; i++)
      some->y[i] = cb_rng_normal(&rng);
    cb_forest *f = new_forest((cb_forest_spec){.d = 2,
                                               .c = 2,
                                               .arms = some_arms,
                                               .trees = 50,
                                               .bootstrap = true,
                                               .min_split = 20,
                                               .min_leaf = 10,
                                               .tries = k});
    fit_some(f, some, 75);
    /* How much the prediction varies along the large category alone. */
    for (int i = 0; i < STEPS; i++) {
      double x[2 * 70], mean[70], variance[70], sum = 0.0, squares = 0.0;
      int32_t h[2 * 70];
      for (int j = 0; j < 70; j++) {
        memcpy(x + 2 * j, some->x + 2 * i, 2 * sizeof *x);
        h[2 * j] = some->h[2 * i];
        h[2 * j + 1] = j;
      }
      cb_forest_predict(f, 70, x, h, mean, variance);
      for (int j = 0; j < 70; j++) {
        sum += mean[j];
        squares += mean[j] * mean[j];
      }
      spread[k] += squares / 70 - sum * sum / (70 * 70);
    }
    cb_forest_free(f);
  }
  assert_true(spread[1] < 0.5 * spread[0]);
}

/* A tree alone agrees with itself; and where leaves hold one value each, the spread is
 * all of the variance. */
static void trees_that_differ_have_a_spread(void **state) {
  (void)state;
  const data *some = some_data(200, 77);
  cb_forest_spec spec = tree_of(2, 2, some_arms);
  for (int trees = 1; trees <= 12; trees += 11) {
    spec.trees = trees;
    spec.bootstrap = true;
    cb_forest *forest = new_forest(spec);
    fit_some(forest, some, 5);
    for (int i = 0; i < 20; i++) {
      const double *x = some->x + 2 * i;
      const int32_t *h = some->h + 2 * i;
      double mean, variance;
      cb_forest_predict(forest, 1, x, h, &mean, &variance);
      const double spread = cb_forest_spread(forest, x, h);
      assert_close(spread, trees == 1 ? 0.0 : variance, 1e-12);
    }
    cb_forest_free(forest);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(trees_agree_with_the_oracle),
      cmocka_unit_test(one_cut_is_the_best_of_all_subsets),
      cmocka_unit_test(one_cut_is_the_best_of_all_variables),
      cmocka_unit_test(equal_variables_have_equal_chances),
      cmocka_unit_test(gaps_between_numbers_are_bridged_linearly),
      cmocka_unit_test(neighbouring_doubles_can_be_told_apart),
      cmocka_unit_test(unseen_categories_go_either_way),
      cmocka_unit_test(a_full_tree_interpolates),
      cmocka_unit_test(a_cut_may_be_useless_by_itself),
      cmocka_unit_test(equal_points_share_a_leaf),
      cmocka_unit_test(constants_and_single_rows_have_no_variance),
      cmocka_unit_test(a_bootstrap_sample_has_its_share_of_rows),
      cmocka_unit_test(means_lie_among_the_targets),
      cmocka_unit_test(points_are_predicted_alone_as_in_blocks),
      cmocka_unit_test(the_stream_decides_every_bit),
      cmocka_unit_test(lack_of_memory_is_survived),
      cmocka_unit_test(rows_are_drawn_by_weight),
      cmocka_unit_test(trees_that_differ_have_a_spread),
      cmocka_unit_test(random_cuts_give_many_categories_no_advantage),
  };
  return cmocka_run_group_tests_name("model/forest", tests, NULL, NULL);
}
