/* compare.c - cocabo-bench compare: two methods on the same problems, seed by seed. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "commands.h"
#include "csv.h"
#include "front/args.h"
#include "front/json.h"
#include "problem.h"
#include "stats.h"

/* ---- the command line ----------------------------------------------------------- */

typedef struct compare_args {
  const char *method, *at;
  bool json;
} compare_args;

static const front_option options[] = {
    {"--method", "A,B", "the two methods; required", FRONT_TEXT,
     offsetof(compare_args, method)},
    {"--at", "T", "iteration to compare at (the last that all pairs reach)", FRONT_TEXT,
     offsetof(compare_args, at)},
    {"--json", NULL, "one JSON object a line", FRONT_FLAG,
     offsetof(compare_args, json)},
    {0}};

/* The two methods are sides, and everything that there is of each is [SIDES]. */
enum { A, B, SIDES };

/* Two runs of a problem and batch from one seed. */
typedef struct pair {
  const bench_series *run[SIDES];
  size_t group;
} pair;

/* All pairs of one problem and batch. */
typedef struct group {
  const bench_series *first; /* a run of A, which names the group */
  int64_t at;                /* iteration compared at */
  int64_t pairs;             /* that reach it */
  int64_t wins[SIDES], ties;
  double mean[SIDES], median[SIDES]; /* of the regret; NaN if the optimum is unknown */
  double p;
} group;

typedef struct comparison {
  compare_args args;
  const char *path;
  int64_t at;  /* -1: the last iteration that all pairs of a group reach */
  char *names; /* owned: "A\0B" */
  const char *method[SIDES]; /* its parts */
  front_buffer text;
  bench_results results;
  size_t n_pairs, n_groups;
  pair *pairs;           /* in the order of the runs of A */
  group *groups;         /* in the order they were found */
  double *by_now;        /* room for one run's bests, by iteration */
  double *regret[SIDES]; /* room for the pairs of a group */
  double *difference;    /* likewise */
} comparison;

static cocabo_status parse_methods(comparison *c, cocabo_error *err) {
  if (!c->args.method)
    return cb_fail(err, COCABO_E_INVALID, "--method is missing, want two: A,B");
  c->names = cb_strdup(c->args.method);
  if (!c->names)
    return cb_no_memory(err);
  char *comma = strchr(c->names, ',');
  if (!comma || comma == c->names || !comma[1] || strchr(comma + 1, ','))
    return cb_fail(err, COCABO_E_INVALID, "--method is \"%s\", want two methods: A,B",
                   c->args.method);
  *comma = '\0';
  c->method[A] = c->names;
  c->method[B] = comma + 1;
  if (strcmp(c->method[A], c->method[B]) == 0)
    return cb_fail(err, COCABO_E_INVALID, "--method has %s twice", c->method[A]);
  return COCABO_OK;
}

static cocabo_status parse(comparison *c, int argc, char **argv, cocabo_error *err) {
  front_texts rest = {0};
  CB_TRY(front_args_parse(options, argc, argv, &c->args, &rest, err));
  if (rest.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "%d files given, want one file of results",
                   rest.n);
  c->path = rest.items[0];
  c->at = -1;
  CB_TRY(front_parse_int("--at", c->args.at, 0, INT32_MAX, &c->at, err));
  return parse_methods(c, err);
}

/* ---- the pairs ------------------------------------------------------------------ */

static bool is_by(const bench_series *s, const char *method) {
  const bench_names n = bench_series_names(s);
  return (size_t)n.method_size == strlen(method) &&
         memcmp(n.method, method, strlen(method)) == 0;
}

static cocabo_status check_methods(const comparison *c, cocabo_error *err) {
  for (int side = A; side < SIDES; side++) {
    size_t i = 0;
    while (i < c->results.n && !is_by(&c->results.series[i], c->method[side]))
      i++;
    if (i == c->results.n)
      return cb_fail(err, COCABO_E_NOT_FOUND, "%s has no run of method \"%s\"", c->path,
                     c->method[side]);
  }
  return COCABO_OK;
}

/* The run that differs from a run of A in the method only; NULL: there is none. */
static cocabo_status find_partner(const comparison *c, const bench_series *run,
                                  front_buffer *key, const bench_series **partner,
                                  cocabo_error *err) {
  const bench_names n = bench_series_names(run);
  const char *batch_seed = n.method + n.method_size + 1;
  key->size = 0;
  CB_TRY(front_buffer_printf(key, err, "%.*s,%s,%.*s", n.problem_size, n.problem,
                             c->method[B], (int)(run->text + run->key - batch_seed),
                             batch_seed));
  CB_TRY(front_buffer_append(key, "", 1, err));
  *partner = bench_results_find(&c->results, key->data);
  return COCABO_OK;
}

/* Both are runs of A. */
static bool same_group(const bench_series *a, const bench_series *b) {
  return a->group == b->group && memcmp(a->text, b->text, a->group) == 0;
}

/* The group of a run of A, opened if it is the first of its kind. */
static size_t find_group(comparison *c, const bench_series *run) {
  for (size_t i = 0; i < c->n_groups; i++)
    if (same_group(c->groups[i].first, run))
      return i;
  c->groups[c->n_groups] = (group){.first = run};
  return c->n_groups++;
}

static cocabo_status find_pairs_with(comparison *c, front_buffer *key,
                                     cocabo_error *err) {
  for (size_t i = 0; i < c->results.n; i++) {
    const bench_series *run = &c->results.series[i], *partner;
    if (!is_by(run, c->method[A]))
      continue;
    CB_TRY(find_partner(c, run, key, &partner, err));
    if (partner)
      c->pairs[c->n_pairs++] = (pair){{run, partner}, find_group(c, run)};
  }
  if (c->n_pairs == 0)
    return cb_fail(err, COCABO_E_NOT_FOUND,
                   "%s has no runs of %s and %s with the same problem, batch and seed",
                   c->path, c->method[A], c->method[B]);
  return COCABO_OK;
}

static cocabo_status find_pairs(comparison *c, cocabo_error *err) {
  front_buffer key = {0};
  const cocabo_status status = find_pairs_with(c, &key, err);
  front_buffer_free(&key);
  return status;
}

/* ---- the numbers ---------------------------------------------------------------- */

/* The last iteration that a run finishes; -1: none. */
static int64_t last_iteration(comparison *c, const bench_series *run) {
  int64_t t = run->rows;
  bench_series_bests(run, c->by_now);
  while (t >= 0 && isnan(c->by_now[t]))
    t--;
  return t;
}

/* Of the runs that finish one at all. */
static int64_t last_common_iteration(comparison *c, size_t g) {
  int64_t last = INT64_MAX;
  for (size_t i = 0; i < c->n_pairs; i++)
    for (int side = A; c->pairs[i].group == g && side < SIDES; side++) {
      const int64_t t = last_iteration(c, c->pairs[i].run[side]);
      last = t >= 0 && t < last ? t : last;
    }
  return last;
}

/* NaN: the run does not finish that iteration. */
static double best_at(comparison *c, const bench_series *run, int64_t at) {
  if (at < 0 || at > run->rows)
    return NAN;
  bench_series_bests(run, c->by_now);
  return c->by_now[at];
}

/* The difference is that of the bests: one of regrets would bring in the rounding of
 * the optimum, and tear ties apart. */
static void add_pair(comparison *c, group *g, double optimum, double a, double b) {
  c->regret[A][g->pairs] = optimum - a;
  c->regret[B][g->pairs] = optimum - b;
  c->difference[g->pairs] = a == b ? 0.0 : a - b; /* infinities may be equal */
  g->pairs++;
  g->wins[A] += a > b;
  g->wins[B] += b > a;
  g->ties += a == b;
}

static double optimum_of(const bench_series *run) {
  const bench_names n = bench_series_names(run);
  const bench_problem *problem;
  for (int i = 0; (problem = bench_problem_at(i)); i++)
    if (strlen(problem->name) == (size_t)n.problem_size &&
        memcmp(problem->name, n.problem, strlen(problem->name)) == 0)
      return problem->optimum;
  return NAN;
}

static double mean_of(int64_t n, const double *values) {
  bench_mean mean = {0};
  for (int64_t i = 0; i < n; i++)
    bench_mean_add(&mean, values[i]);
  return mean.mean;
}

static void compare_group(comparison *c, size_t index) {
  group *g = &c->groups[index];
  const double optimum = optimum_of(g->first);
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

static cocabo_status compare_all(comparison *c, cocabo_error *err) {
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

static cocabo_status make_room(comparison *c, cocabo_error *err) {
  const size_t n = c->results.n; /* there are fewer pairs, and groups, than runs */
  c->pairs = cb_calloc(n, sizeof *c->pairs);
  c->groups = cb_calloc(n, sizeof *c->groups);
  c->by_now =
      cb_calloc((size_t)bench_results_longest(&c->results) + 1, sizeof *c->by_now);
  c->regret[A] = cb_calloc(n, sizeof *c->regret[A]);
  c->regret[B] = cb_calloc(n, sizeof *c->regret[B]);
  c->difference = cb_calloc(n, sizeof *c->difference);
  const bool ok = c->pairs && c->groups && c->by_now && c->regret[A] && c->regret[B] &&
                  c->difference;
  return ok ? COCABO_OK : cb_no_memory(err);
}

/* ---- the output ----------------------------------------------------------------- */

static void print_json_field(const char *name, double value) {
  printf(", \"%s\": ", name);
  front_print_json_number(value);
}

static void print_json(const comparison *c, const group *g) {
  const bench_names n = bench_series_names(g->first);
  printf("{\"problem\": ");
  front_print_json_text(n.problem, n.problem_size);
  printf(", \"batch\": %lld, \"at\": %lld, \"a\": ", (long long)g->first->batch,
         (long long)g->at);
  front_print_json_text(c->method[A], (int)strlen(c->method[A]));
  printf(", \"b\": ");
  front_print_json_text(c->method[B], (int)strlen(c->method[B]));
  printf(", \"pairs\": %lld", (long long)g->pairs);
  print_json_field("mean_a", g->mean[A]);
  print_json_field("mean_b", g->mean[B]);
  print_json_field("median_a", g->median[A]);
  print_json_field("median_b", g->median[B]);
  printf(", \"wins_a\": %lld, \"wins_b\": %lld, \"ties\": %lld", (long long)g->wins[A],
         (long long)g->wins[B], (long long)g->ties);
  print_json_field("p", g->p);
  printf("}\n");
}

typedef struct widths {
  int problem, method;
} widths;

static void widen(int *width, int size) {
  if (size > *width)
    *width = size;
}

static widths widths_of(const comparison *c) {
  widths w = {(int)strlen("problem"), (int)strlen("method")};
  widen(&w.method, (int)strlen(c->method[A]));
  widen(&w.method, (int)strlen(c->method[B]));
  for (size_t i = 0; i < c->n_groups; i++)
    widen(&w.problem, bench_series_names(c->groups[i].first).problem_size);
  return w;
}

/* A number of the table; "-" where there is none. */
static void print_cell(double value) {
  char cell[32] = "-";
  if (!isnan(value))
    snprintf(cell, sizeof cell, "%.5g", value);
  printf("  %13s", cell);
}

/* A line for each method; what belongs to both stands in the first. */
static void print_group(const comparison *c, const group *g, widths w) {
  const bench_names n = bench_series_names(g->first);
  for (int side = A; side < SIDES; side++) {
    printf("%-*.*s  %5lld  %6lld  %5lld  %-*s", w.problem, n.problem_size, n.problem,
           (long long)g->first->batch, (long long)g->at, (long long)g->pairs, w.method,
           c->method[side]);
    print_cell(g->mean[side]);
    print_cell(g->median[side]);
    printf("  %4lld", (long long)g->wins[side]);
    if (side == A)
      printf("  %4lld  %9.3g", (long long)g->ties, g->p);
    putchar('\n');
  }
}

static void print_table(const comparison *c) {
  const widths w = widths_of(c);
  printf("%-*s  batch       t  pairs  %-*s  %13s  %13s  wins  ties  %9s\n", w.problem,
         "problem", w.method, "method", "mean regret", "median regret", "p");
  for (size_t i = 0; i < c->n_groups; i++)
    if (c->groups[i].pairs > 0)
      print_group(c, &c->groups[i], w);
}

static int print(const comparison *c) {
  if (!c->args.json)
    print_table(c);
  for (size_t i = 0; c->args.json && i < c->n_groups; i++)
    if (c->groups[i].pairs > 0)
      print_json(c, &c->groups[i]);
  return front_finish_output("compare");
}

static void comparison_clear(comparison *c) {
  cb_free(c->names);
  bench_results_free(&c->results);
  front_buffer_free(&c->text);
  cb_free(c->pairs);
  cb_free(c->groups);
  cb_free(c->by_now);
  cb_free(c->regret[A]);
  cb_free(c->regret[B]);
  cb_free(c->difference);
}

static cocabo_status prepare(comparison *c, int argc, char **argv, cocabo_error *err) {
  CB_TRY(parse(c, argc, argv, err));
  CB_TRY(bench_results_load(&c->results, c->path, &c->text, err));
  CB_TRY(check_methods(c, err));
  CB_TRY(make_room(c, err));
  CB_TRY(find_pairs(c, err));
  return compare_all(c, err);
}

static int compare_main(int argc, char **argv) {
  comparison c = {0};
  cocabo_error err;
  const int status = prepare(&c, argc, argv, &err) == COCABO_OK
                         ? print(&c)
                         : front_complain("compare", FRONT_USAGE, &err);
  comparison_clear(&c);
  return status;
}

const front_command bench_compare = {
    .name = "compare",
    .summary = "Compares two methods seed by seed: regret, wins and a p-value.",
    .usage = "FILE --method A,B [options]",
    .options = options,
    .details =
        "Runs of the same problem, batch and seed are pairs. Regret is the optimum\n"
        "minus the best value by iteration t, so less is better. p is the two-sided\n"
        "p-value of Wilcoxon's signed-rank test: exact for up to 25 pairs without\n"
        "ties, and normal with corrections otherwise. With --at, pairs that do not\n"
        "reach the iteration are left out.",
    .examples = "  cocabo-bench compare results.csv --method mixed,cocabo-0.5\n"
                "  cocabo-bench compare results.csv --method mixed,random --at 100 "
                "--json",
    .main = compare_main,
};
