/* groups.c - collects the runs of a results file into groups and takes the mean and
 * standard error of their best values at the wanted places. */
#include "groups.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "problem.h"

bool bench_same_group(const bench_series *a, const bench_series *b) {
  return a->group == b->group && memcmp(a->text, b->text, a->group) == 0;
}

bool bench_same_problem(const bench_series *a, const bench_series *b) {
  const bench_names n = bench_series_names(a), m = bench_series_names(b);
  return n.problem_size == m.problem_size &&
         memcmp(n.problem, m.problem, (size_t)n.problem_size) == 0;
}

double bench_series_optimum(const bench_series *series) {
  const bench_names n = bench_series_names(series);
  const bench_problem *problem;
  for (int i = 0; (problem = bench_problem_at(i)); i++)
    if (strlen(problem->name) == (size_t)n.problem_size &&
        memcmp(problem->name, n.problem, strlen(problem->name)) == 0)
      return problem->optimum;
  return NAN;
}

bool bench_group_is_at(const bench_group *group, int64_t at) {
  return group->best[at].n == group->runs && isfinite(group->best[at].mean);
}

/* ---- adding runs ---------------------------------------------------------------- */

/* Room for what one run says of itself. */
typedef struct track {
  double *best; /* by iteration, or by row */
  double *time; /* by row, where there are times */
} track;

/* The group of a series, opened if it is the first of its kind. */
static bench_group *find_group(bench_groups *groups, const bench_series *s) {
  for (size_t i = 0; i < groups->n; i++)
    if (bench_same_group(groups->items[i].first, s))
      return &groups->items[i];
  bench_group *g = &groups->items[groups->n];
  *g = (bench_group){.first = s,
                     .best = groups->means + groups->n * (size_t)groups->n_at};
  groups->n++;
  return g;
}

static void read_track(const bench_groups *groups, const bench_series *s, track *t) {
  if (groups->timed)
    bench_series_times(s, t->time, t->best);
  else
    bench_series_bests(s, t->best);
}

/* NaN before the run's first result and after its last. */
static double best_at_time(const track *t, int64_t rows, double time) {
  int64_t low = 0, high = rows; /* rows before low are not later than `time` */
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (t->time[middle] <= time)
      low = middle + 1;
    else
      high = middle;
  }
  return low > 0 && time <= t->time[rows - 1] ? t->best[low - 1] : NAN;
}

/* NaN: the run does not get there. */
static double best_at(const bench_groups *groups, const bench_series *s, const track *t,
                      double at) {
  if (groups->timed)
    return best_at_time(t, s->rows, at);
  return at <= (double)s->rows ? t->best[(int64_t)at] : NAN;
}

static void add_asks(bench_group *g, const bench_series *s) {
  const char *cursor = s->text;
  for (int64_t i = 0; i < s->rows; i++) {
    const bench_row row = bench_csv_next(&cursor);
    if (row.iteration > 0)
      bench_mean_add(&g->ask, row.ask_seconds);
  }
}

static void add_series(bench_groups *groups, const bench_series *s, track *t) {
  bench_group *g = find_group(groups, s);
  g->runs++;
  read_track(groups, s, t);
  for (int64_t k = 0; k < groups->n_at; k++) {
    const double best = best_at(groups, s, t, groups->at[k]);
    if (isfinite(best)) /* -inf: all its evaluations so far have failed */
      bench_mean_add(&g->best[k], best);
  }
  add_asks(g, s);
}

static cocabo_status add_all(bench_groups *groups, const bench_results *results,
                             cocabo_error *err) {
  const size_t room = (size_t)bench_results_longest(results) + 1;
  track t = {cb_calloc(room, sizeof *t.best), cb_calloc(room, sizeof *t.time)};
  const bool ok = t.best && t.time;
  for (size_t i = 0; ok && i < results->n; i++)
    add_series(groups, &results->series[i], &t);
  cb_free(t.best);
  cb_free(t.time);
  return ok ? COCABO_OK : cb_no_memory(err);
}

/* ---- making --------------------------------------------------------------------- */

/* With `at` in place. There are no more groups than runs. */
static cocabo_status fill(bench_groups *groups, const bench_results *results,
                          cocabo_error *err) {
  groups->items = cb_calloc(results->n, sizeof *groups->items);
  groups->means = cb_calloc(results->n * (size_t)groups->n_at, sizeof *groups->means);
  const cocabo_status status = groups->items && groups->means
                                   ? add_all(groups, results, err)
                                   : cb_no_memory(err);
  if (status != COCABO_OK)
    bench_groups_free(groups);
  return status;
}

cocabo_status bench_groups_make(bench_groups *out, const bench_results *results,
                                bool timed, int64_t n_at, const double *at,
                                cocabo_error *err) {
  *out = (bench_groups){
      .timed = timed, .n_at = n_at, .at = cb_calloc((size_t)n_at, sizeof *out->at)};
  if (!out->at)
    return cb_no_memory(err);
  memcpy(out->at, at, (size_t)n_at * sizeof *at);
  return fill(out, results, err);
}

static double last_time(const bench_results *results) {
  double last = 0.0;
  for (size_t i = 0; i < results->n; i++) {
    const char *cursor = results->series[i].text;
    for (int64_t k = 0; k < results->series[i].rows; k++)
      last = fmax(last, bench_csv_next(&cursor).time);
  }
  return last;
}

static int64_t last_iteration(const bench_results *results) {
  int64_t last = 0;
  for (size_t i = 0; i < results->n; i++)
    last = results->series[i].iterations > last ? results->series[i].iterations : last;
  const int64_t rows = bench_results_longest(results); /* a damaged file may say more */
  return last < rows ? last : rows;
}

cocabo_status bench_groups_follow(bench_groups *out, const bench_results *results,
                                  cocabo_error *err) {
  const bool timed = results->workers > 0;
  const int64_t n = timed ? BENCH_TIMES : last_iteration(results) + 1;
  const double step = timed ? last_time(results) / (BENCH_TIMES - 1) : 1.0;
  *out = (bench_groups){
      .timed = timed, .n_at = n, .at = cb_calloc((size_t)n, sizeof *out->at)};
  if (!out->at)
    return cb_no_memory(err);
  for (int64_t k = 0; k < n; k++)
    out->at[k] = step * (double)k;
  return fill(out, results, err);
}

void bench_groups_free(bench_groups *groups) {
  cb_free(groups->at);
  cb_free(groups->items);
  cb_free(groups->means);
  *groups = (bench_groups){0};
}
