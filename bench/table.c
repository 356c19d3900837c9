/* table.c - cocabo-bench table: mean and standard error of the best value by now. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "commands.h"
#include "common/args.h"
#include "common/json.h"
#include "common/outfile.h"
#include "csv.h"
#include "groups.h"

/* ---- the command line ----------------------------------------------------------- */

typedef struct table_args {
  const char *at, *time, *output;
  bool json;
} table_args;

static const front_option options[] = {
    {"--at", "LIST", "iterations to show (0,25,50,100,150,200)", FRONT_TEXT,
     offsetof(table_args, at)},
    {"--time", "LIST", "simulated times to show instead, of runs with --async",
     FRONT_TEXT, offsetof(table_args, time)},
    {"--json", NULL, "one JSON object a line", FRONT_FLAG, offsetof(table_args, json)},
    {"-o", "FILE.md", "write it as Markdown instead", FRONT_TEXT,
     offsetof(table_args, output)},
    {0}};

typedef struct table {
  table_args args;
  const char *path;
  const char *unit; /* of the columns, in their titles */
  front_ints at;    /* the columns: iterations, or simulated times */
  front_buffer text;
  bench_results results;
  bench_groups groups; /* seen in the columns */
} table;

static cocabo_status parse(table *t, int argc, char **argv, cocabo_error *err) {
  front_texts rest = {0};
  CB_TRY(front_args_parse(options, argc, argv, &t->args, &rest, err));
  if (rest.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "%d files given, want one file of results",
                   rest.n);
  t->path = rest.items[0];
  if (t->args.at && t->args.time)
    return cb_fail(err, COCABO_E_INVALID, "--at and --time are both given, want one");
  if (t->args.json && t->args.output)
    return cb_fail(err, COCABO_E_INVALID, "--json and -o are both given, want one");
  if (t->args.output)
    CB_TRY(front_check_ending("-o", t->args.output, ".md", err));
  t->unit = t->args.time ? "time" : "t";
  if (t->args.time)
    return front_parse_ints("--time", t->args.time, 0, INT32_MAX, &t->at, err);
  const char *at = t->args.at ? t->args.at : "0,25,50,100,150,200";
  return front_parse_ints("--at", at, 0, INT32_MAX, &t->at, err);
}

static cocabo_status load(table *t, cocabo_error *err) {
  CB_TRY(bench_results_load(&t->results, t->path, &t->text, err));
  if (t->args.time && t->results.n > 0 && t->results.workers == 0)
    return cb_fail(err, COCABO_E_INVALID,
                   "%s has no times, want a file of run --async for --time", t->path);
  return COCABO_OK;
}

static cocabo_status compute(table *t, cocabo_error *err) {
  double *at = cb_calloc((size_t)t->at.n, sizeof *at);
  if (!at)
    return cb_no_memory(err);
  for (int64_t k = 0; k < t->at.n; k++)
    at[k] = (double)t->at.items[k];
  const cocabo_status status =
      bench_groups_make(&t->groups, &t->results, t->args.time, t->at.n, at, err);
  cb_free(at);
  return status;
}

/* ---- the output ----------------------------------------------------------------- */

static void print_json(const table *t, const bench_group *g) {
  const bench_names n = bench_series_names(g->first);
  for (int64_t k = 0; k < t->at.n; k++) {
    if (g->best[k].n == 0)
      continue;
    printf("{\"problem\": ");
    front_print_json_text(n.problem, n.problem_size);
    printf(", \"method\": ");
    front_print_json_text(n.method, n.method_size);
    printf(", \"batch\": %lld", (long long)g->first->batch);
    if (t->args.time)
      printf(", \"workers\": %lld", (long long)t->results.workers);
    printf(", \"%s\": %lld, \"mean\": ", t->args.time ? "time" : "at",
           (long long)t->at.items[k]);
    front_print_json_number(g->best[k].mean);
    printf(", \"se\": ");
    front_print_json_number(bench_mean_se(&g->best[k]));
    printf(", \"runs\": %lld}\n", (long long)g->best[k].n);
  }
}

/* "mean (se)", with the number of runs where it is not all of the group's. */
static void format_cell(const bench_group *g, int64_t k, char *out, size_t size) {
  const bench_mean *m = &g->best[k];
  if (m->n == 0)
    snprintf(out, size, "-");
  else if (m->n == g->runs)
    snprintf(out, size, "%.5g (%.2g)", m->mean, bench_mean_se(m));
  else
    snprintf(out, size, "%.5g (%.2g) of %lld", m->mean, bench_mean_se(m),
             (long long)m->n);
}

static void widen(int *width, int size) {
  if (size > *width)
    *width = size;
}

/* Is there a run that reaches this column? */
static bool is_shown(const table *t, int64_t k) {
  for (size_t i = 0; i < t->groups.n; i++)
    if (t->groups.items[i].best[k].n > 0)
      return true;
  return false;
}

static int format_title(const table *t, int64_t k, char *out, size_t size) {
  return snprintf(out, size, "%s=%lld", t->unit, (long long)t->at.items[k]);
}

static int cell_width(const table *t, int64_t k) {
  char cell[80];
  int width = format_title(t, k, cell, sizeof cell);
  for (size_t i = 0; i < t->groups.n; i++) {
    format_cell(&t->groups.items[i], k, cell, sizeof cell);
    widen(&width, (int)strlen(cell));
  }
  return width;
}

static void print_title(const table *t, int problem, int method) {
  printf("%-*s  %-*s  batch  runs", problem, "problem", method, "method");
  for (int64_t k = 0; k < t->at.n; k++) {
    char title[32];
    format_title(t, k, title, sizeof title);
    if (is_shown(t, k))
      printf("  %*s", cell_width(t, k), title);
  }
  putchar('\n');
}

static void print_group(const table *t, const bench_group *g, int problem, int method) {
  const bench_names n = bench_series_names(g->first);
  printf("%-*.*s  %-*.*s  %5lld  %4lld", problem, n.problem_size, n.problem, method,
         n.method_size, n.method, (long long)g->first->batch, (long long)g->runs);
  for (int64_t k = 0; k < t->at.n; k++) {
    char cell[80];
    format_cell(g, k, cell, sizeof cell);
    if (is_shown(t, k))
      printf("  %*s", cell_width(t, k), cell);
  }
  putchar('\n');
}

static void print_table(const table *t) {
  int problem = (int)strlen("problem"), method = (int)strlen("method"); /* widths */
  for (size_t i = 0; i < t->groups.n; i++) {
    widen(&problem, bench_series_names(t->groups.items[i].first).problem_size);
    widen(&method, bench_series_names(t->groups.items[i].first).method_size);
  }
  print_title(t, problem, method);
  for (size_t i = 0; i < t->groups.n; i++)
    print_group(t, &t->groups.items[i], problem, method);
}

/* ---- Markdown: a table for each problem, the best of a column in bold -------------
 */

static bool is_same_problem(const bench_group *a, const bench_group *b) {
  return bench_same_problem(a->first, b->first);
}

static bool is_first_of_problem(const table *t, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (is_same_problem(&t->groups.items[k], &t->groups.items[i]))
      return false;
  return true;
}

static bool is_best(const table *t, const bench_group *g, int64_t k) {
  for (size_t i = 0; i < t->groups.n; i++)
    if (is_same_problem(&t->groups.items[i], g) && t->groups.items[i].best[k].n > 0 &&
        t->groups.items[i].best[k].mean > g->best[k].mean)
      return false;
  return g->best[k].n > 0;
}

static cocabo_status write_title(const table *t, const bench_group *g,
                                 front_buffer *out, cocabo_error *err) {
  const bench_names n = bench_series_names(g->first);
  CB_TRY(front_buffer_printf(out, err, "%s| %.*s | batch | runs |",
                             out->size > 0 ? "\n" : "", n.problem_size, n.problem));
  for (int64_t k = 0; k < t->at.n; k++)
    if (is_shown(t, k))
      CB_TRY(front_buffer_printf(out, err, " %s = %lld |", t->unit,
                                 (long long)t->at.items[k]));
  CB_TRY(front_buffer_puts(out, "\n|---|--:|--:|", err));
  for (int64_t k = 0; k < t->at.n; k++)
    if (is_shown(t, k))
      CB_TRY(front_buffer_puts(out, "--:|", err));
  return front_buffer_puts(out, "\n", err);
}

static cocabo_status write_group(const table *t, const bench_group *g,
                                 front_buffer *out, cocabo_error *err) {
  const bench_names n = bench_series_names(g->first);
  CB_TRY(front_buffer_printf(out, err, "| %.*s | %lld | %lld |", n.method_size,
                             n.method, (long long)g->first->batch, (long long)g->runs));
  for (int64_t k = 0; k < t->at.n; k++) {
    char cell[80];
    const char *mark = is_best(t, g, k) ? "**" : "";
    format_cell(g, k, cell, sizeof cell);
    if (is_shown(t, k))
      CB_TRY(front_buffer_printf(out, err, " %s%s%s |", mark, cell, mark));
  }
  return front_buffer_puts(out, "\n", err);
}

static cocabo_status write_markdown(const table *t, front_buffer *out,
                                    cocabo_error *err) {
  for (size_t i = 0; i < t->groups.n; i++) {
    const bench_group *first = &t->groups.items[i];
    if (!is_first_of_problem(t, i))
      continue;
    CB_TRY(write_title(t, first, out, err));
    for (size_t k = i; k < t->groups.n; k++)
      if (is_same_problem(&t->groups.items[k], first))
        CB_TRY(write_group(t, &t->groups.items[k], out, err));
  }
  return front_outfile_write(t->args.output, out, err);
}

static int save(const table *t) {
  front_buffer out = {0};
  cocabo_error err;
  const int status = write_markdown(t, &out, &err) == COCABO_OK
                         ? FRONT_DONE
                         : front_complain("table", FRONT_FAILURE, &err);
  front_buffer_free(&out);
  return status;
}

static int print(const table *t) {
  if (!t->args.json)
    print_table(t);
  for (size_t i = 0; t->args.json && i < t->groups.n; i++)
    print_json(t, &t->groups.items[i]);
  return front_finish_output("table");
}

static void table_clear(table *t) {
  front_ints_free(&t->at);
  bench_results_free(&t->results);
  front_buffer_free(&t->text);
  bench_groups_free(&t->groups);
}

static cocabo_status prepare(table *t, int argc, char **argv, cocabo_error *err) {
  CB_TRY(parse(t, argc, argv, err));
  CB_TRY(load(t, err));
  return compute(t, err);
}

static int table_main(int argc, char **argv) {
  table t = {0};
  cocabo_error err;
  const int status = prepare(&t, argc, argv, &err) == COCABO_OK
                         ? (t.args.output ? save : print)(&t)
                         : front_complain("table", FRONT_USAGE, &err);
  table_clear(&t);
  return status;
}

const front_command bench_table = {
    .name = "table",
    .summary = "Prints the mean over seeds of the best value, and its standard error.",
    .usage = "FILE [options]",
    .options = options,
    .details =
        "t counts iterations: t=0 is after the initial points. The standard error\n"
        "is the sample standard deviation over the square root of the runs, and 0\n"
        "for one run. An iteration that no run reaches is left out, and a run counts\n"
        "once an evaluation has succeeded: \"of N\" says how many do.\n"
        "--time shows the best value at simulated times, in units of the mean\n"
        "evaluation. A run counts from its first result to its last.",
    .examples = "  cocabo-bench table results.csv\n"
                "  cocabo-bench table results.csv --at 50,200 --json\n"
                "  cocabo-bench table results.csv -o results.md\n"
                "  cocabo-bench table async.csv --time 5,10,20",
    .main = table_main,
};
