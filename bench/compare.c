/* compare.c - cocabo-bench compare: two methods on the same problems, seed by seed. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "commands.h"
#include "common/args.h"
#include "common/json.h"
#include "csv.h"
#include "pairs.h"

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

enum { A = BENCH_A, B = BENCH_B, SIDES = BENCH_SIDES };

typedef struct comparison {
  compare_args args;
  const char *path;
  char *names; /* owned: "A\0B" */
  front_buffer text;
  bench_results results;
  bench_pairs pairs;
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
  c->pairs.method[A] = c->names;
  c->pairs.method[B] = comma + 1;
  if (strcmp(c->pairs.method[A], c->pairs.method[B]) == 0)
    return cb_fail(err, COCABO_E_INVALID, "--method has %s twice", c->pairs.method[A]);
  return COCABO_OK;
}

static cocabo_status parse(comparison *c, int argc, char **argv, cocabo_error *err) {
  front_texts rest = {0};
  CB_TRY(front_args_parse(options, argc, argv, &c->args, &rest, err));
  if (rest.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "%d files given, want one file of results",
                   rest.n);
  c->path = rest.items[0];
  c->pairs.at = -1;
  CB_TRY(front_parse_int("--at", c->args.at, 0, INT32_MAX, &c->pairs.at, err));
  return parse_methods(c, err);
}

/* ---- the output ----------------------------------------------------------------- */

static void print_json_field(const char *name, double value) {
  printf(", \"%s\": ", name);
  front_print_json_number(value);
}

static void print_json(const comparison *c, const bench_pair_group *g) {
  const bench_names n = bench_series_names(g->first);
  printf("{\"problem\": ");
  front_print_json_text(n.problem, n.problem_size);
  printf(", \"batch\": %lld, \"at\": %lld, \"a\": ", (long long)g->first->batch,
         (long long)g->at);
  front_print_json_text(c->pairs.method[A], (int)strlen(c->pairs.method[A]));
  printf(", \"b\": ");
  front_print_json_text(c->pairs.method[B], (int)strlen(c->pairs.method[B]));
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
  widen(&w.method, (int)strlen(c->pairs.method[A]));
  widen(&w.method, (int)strlen(c->pairs.method[B]));
  for (size_t i = 0; i < c->pairs.n_groups; i++)
    widen(&w.problem, bench_series_names(c->pairs.groups[i].first).problem_size);
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
static void print_group(const comparison *c, const bench_pair_group *g, widths w) {
  const bench_names n = bench_series_names(g->first);
  for (int side = A; side < SIDES; side++) {
    printf("%-*.*s  %5lld  %6lld  %5lld  %-*s", w.problem, n.problem_size, n.problem,
           (long long)g->first->batch, (long long)g->at, (long long)g->pairs, w.method,
           c->pairs.method[side]);
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
  for (size_t i = 0; i < c->pairs.n_groups; i++)
    if (c->pairs.groups[i].pairs > 0)
      print_group(c, &c->pairs.groups[i], w);
}

static int print(const comparison *c) {
  if (!c->args.json)
    print_table(c);
  for (size_t i = 0; c->args.json && i < c->pairs.n_groups; i++)
    if (c->pairs.groups[i].pairs > 0)
      print_json(c, &c->pairs.groups[i]);
  return front_finish_output("compare");
}

static void comparison_clear(comparison *c) {
  cb_free(c->names);
  bench_results_free(&c->results);
  front_buffer_free(&c->text);
  bench_pairs_free(&c->pairs);
}

static cocabo_status prepare(comparison *c, int argc, char **argv, cocabo_error *err) {
  CB_TRY(parse(c, argc, argv, err));
  CB_TRY(bench_results_load(&c->results, c->path, &c->text, err));
  c->pairs.path = c->path;
  c->pairs.results = &c->results;
  return bench_pairs_compare(&c->pairs, err);
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
