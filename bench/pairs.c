/* pairs.c - pairs the runs of two methods by problem, batch and seed, and compares
 * their values at the end. */
#include "pairs.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "groups.h"
#include "stats.h"

enum { A = BENCH_A, B = BENCH_B, SIDES = BENCH_SIDES };

/* Two runs of a problem and batch from one seed. */
struct bench_pair {
  const bench_series *run[SIDES];
  size_t group;
};

/* ---- the pairs ------------------------------------------------------------------ */

static bool is_by(const bench_series *s, const char *method) {
  const bench_names n = bench_series_names(s);
  return (size_t)n.method_size == strlen(method) &&
         memcmp(n.method, method, strlen(method)) == 0;
}

static cocabo_status check_methods(const bench_pairs *c, cocabo_error *err) {
  for (int side = A; side < SIDES; side++) {
    size_t i = 0;
    while (i < c->results->n && !is_by(&c->results->series[i], c->method[side]))
      i++;
    if (i == c->results->n)
      return cb_fail(err, COCABO_E_NOT_FOUND, "%s has no run of method \"%s\"", c->path,
                     c->method[side]);
  }
  return COCABO_OK;
}

/* The run that differs from a run of A in the method only; NULL: there is none. */
static cocabo_status find_partner(const bench_pairs *c, const bench_series *run,
                                  front_buffer *key, const bench_series **partner,
                                  cocabo_error *err) {
  const bench_names n = bench_series_names(run);
  const char *batch_seed = n.method + n.method_size + 1;
  key->size = 0;
  CB_TRY(front_buffer_printf(key, err, "%.*s,%s,%.*s", n.problem_size, n.problem,
                             c->method[B], (int)(run->text + run->key - batch_seed),
                             batch_seed));
  CB_TRY(front_buffer_append(key, "", 1, err));
  *partner = bench_results_find(c->results, key->data);
  return COCABO_OK;
}

/* The group of a run of A, opened if it is the first of its kind. */
static size_t find_group(bench_pairs *c, const bench_series *run) {
  for (size_t i = 0; i < c->n_groups; i++)
    if (bench_same_group(c->groups[i].first, run))
      return i;
  c->groups[c->n_groups] = (bench_pair_group){.first = run};
  return c->n_groups++;
}

static cocabo_status find_pairs_with(bench_pairs *c, front_buffer *key,
                                     cocabo_error *err) {
  for (size_t i = 0; i < c->results->n; i++) {
    const bench_series *run = &c->results->series[i], *partner;
    if (!is_by(run, c->method[A]))
      continue;
    CB_TRY(find_partner(c, run, key, &partner, err));
    if (partner)
      c->pairs[c->n_pairs++] = (struct bench_pair){{run, partner}, find_group(c, run)};
  }
  if (c->n_pairs == 0)
    return cb_fail(err, COCABO_E_NOT_FOUND,
                   "%s has no runs of %s and %s with the same problem, batch and seed",
                   c->path, c->method[A], c->method[B]);
  return COCABO_OK;
}

static cocabo_status find_pairs(bench_pairs *c, cocabo_error *err) {
  front_buffer key = {0};
  const cocabo_status status = find_pairs_with(c, &key, err);
  front_buffer_free(&key);
  return status;
}

/* ---- the numbers ---------------------------------------------------------------- */

/* The last iteration that a run finishes; -1: none. */
static int64_t last_iteration(bench_pairs *c, const bench_series *run) {
  int64_t t = run->rows;
  bench_series_bests(run, c->by_now);
  while (t >= 0 && isnan(c->by_now[t]))
    t--;
  return t;
}

/* Of the runs that finish one at all. */
static int64_t last_common_iteration(bench_pairs *c, size_t g) {
  int64_t last = INT64_MAX;
  for (size_t i = 0; i < c->n_pairs; i++)
    for (int side = A; c->pairs[i].group == g && side < SIDES; side++) {
      const int64_t t = last_iteration(c, c->pairs[i].run[side]);
      last = t >= 0 && t < last ? t : last;
    }
  return last;
}

/* NaN: the run does not finish that iteration. */
static double best_at(bench_pairs *c, const bench_series *run, int64_t at) {
  if (at < 0 || at > run->rows)
    return NAN;
  bench_series_bests(run, c->by_now);
  return c->by_now[at];
}

/* The difference is that of the bests: one of regrets would bring in the rounding of
 * the optimum, and tear ties apart. */
static void add_pair(bench_pairs *c, bench_pair_group *g, double optimum, double a,
                     double b) {
  c->regret[A][g->pairs] = optimum - a;
  c->regret[B][g->pairs] = optimum - b;
  c->difference[g->pairs] = a == b ? 0.0 : a - b; /* infinities may be equal */
  g->pairs++;
  g->wins[A] += a > b;
  g->wins[B] += b > a;
  g->ties += a == b;
}

/* A plain sum, which infinity does not turn into NaN: the regret of a run whose
 * evaluations have all failed. */
static double mean_of(int64_t n, const double *values) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++)
    sum += values[i];
  return sum / (double)n;
}

static void compare_group(bench_pairs *c, size_t index) {
  bench_pair_group *g = &c->groups[index];
  const double optimum = bench_series_optimum(g->first);
  g->at = c->at >= 0 ? c->at : last_common_iteration(c, index);
  for (size_t i = 0; i < c->n_pairs; i++) {
    if (c->pairs[i].group != index)
      continue;
    const double a = best_at(c, c->pairs[i].run[A], g->at);
    const double b = best_at(c, c->pairs[i].run[B], g->at);
    if (!isnan(a) && !isnan(b))
      add_pair(c, g, optimum, a, b);
  }
  if (g->pairs == 0)
    return;
  for (int side = A; side < SIDES; side++) {
    g->mean[side] = mean_of(g->pairs, c->regret[side]);
    g->median[side] = bench_quantile(g->pairs, c->regret[side], 0.5);
  }
  g->p = bench_wilcoxon(g->pairs, c->difference);
}

static cocabo_status compare_all(bench_pairs *c, cocabo_error *err) {
  int64_t pairs = 0;
  for (size_t i = 0; i < c->n_groups; i++) {
    compare_group(c, i);
    pairs += c->groups[i].pairs;
  }
  if (pairs > 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "%s has no pair of runs of %s and %s that both finish iteration %lld",
                 c->path, c->method[A], c->method[B],
                 (long long)(c->at >= 0 ? c->at : 0));
}

static cocabo_status make_room(bench_pairs *c, cocabo_error *err) {
  const size_t n = c->results->n; /* there are fewer pairs, and groups, than runs */
  c->pairs = cb_calloc(n, sizeof *c->pairs);
  c->groups = cb_calloc(n, sizeof *c->groups);
  c->by_now =
      cb_calloc((size_t)bench_results_longest(c->results) + 1, sizeof *c->by_now);
  c->regret[A] = cb_calloc(n, sizeof *c->regret[A]);
  c->regret[B] = cb_calloc(n, sizeof *c->regret[B]);
  c->difference = cb_calloc(n, sizeof *c->difference);
  const bool ok = c->pairs && c->groups && c->by_now && c->regret[A] && c->regret[B] &&
                  c->difference;
  return ok ? COCABO_OK : cb_no_memory(err);
}

cocabo_status bench_pairs_compare(bench_pairs *c, cocabo_error *err) {
  CB_TRY(check_methods(c, err));
  CB_TRY(make_room(c, err));
  CB_TRY(find_pairs(c, err));
  return compare_all(c, err);
}

void bench_pairs_free(bench_pairs *c) {
  cb_free(c->pairs);
  cb_free(c->groups);
  cb_free(c->by_now);
  cb_free(c->regret[A]);
  cb_free(c->regret[B]);
  cb_free(c->difference);
  *c = (bench_pairs){0};
}
