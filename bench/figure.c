/* figure.c - cocabo-bench figure: the paper's figures, as SVG. */
#include "figure.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "commands.h"
#include "common/clock.h"
#include "common/outfile.h"
#include "names.h"
#include "progress.h"
#include "study/study.h"

/* ---- the command line ----------------------------------------------------------- */

typedef struct figure_args {
  const char *kind, *output, *problems, *methods, *title, *seed, *init, *iterations;
  bool regret, quiet;
} figure_args;

static const front_option options[] = {
    {"--kind", "KIND", "curves or categories (curves)", FRONT_TEXT,
     offsetof(figure_args, kind)},
    {"-o, --output", "FILE.svg", "the picture; required", FRONT_TEXT,
     offsetof(figure_args, output)},
    {"--title", "TEXT", "a heading", FRONT_TEXT, offsetof(figure_args, title)},
    {"--problem", "LIST", "only these problems, in this order", FRONT_TEXT,
     offsetof(figure_args, problems)},
    {"--method", "LIST", "only these methods", FRONT_TEXT,
     offsetof(figure_args, methods)},
    {"", NULL, "Curves", FRONT_HEADING, 0},
    {"--regret", NULL, "what is missing to the optimum, on a logarithmic scale",
     FRONT_FLAG, offsetof(figure_args, regret)},
    {"", NULL, "Categories of one run, --problem (func-2c) by --method (cocabo-0.5)",
     FRONT_HEADING, 0},
    {"--seed", "S", "of the run (0)", FRONT_TEXT, offsetof(figure_args, seed)},
    {"--init", "N", "initial random points (24)", FRONT_TEXT,
     offsetof(figure_args, init)},
    {"--iterations", "T", "asks after the initial points (200)", FRONT_TEXT,
     offsetof(figure_args, iterations)},
    {"-q", NULL, "no progress", FRONT_FLAG, offsetof(figure_args, quiet)},
    {0}};

typedef struct request {
  figure_args args;
  front_texts files;
  bool categories;
  bench_experiment experiment; /* of categories */
  double known_best;           /* what it must find; NaN: not known */
} request;

/* ---- one run, for categories ---------------------------------------------------- */

static cocabo_status choose_one(const char *option, const front_chosen *chosen,
                                cocabo_error *err) {
  if (chosen->n == 1)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INVALID,
                 "%s has %d names, want one for --kind categories", option, chosen->n);
}

static cocabo_status parse_run(request *r, cocabo_error *err) {
  const figure_args *a = &r->args;
  bench_experiment *e = &r->experiment;
  front_chosen problems, methods;
  CB_TRY(bench_parse_problems(a->problems ? a->problems : "func-2c", &problems, err));
  CB_TRY(choose_one("--problem", &problems, err));
  CB_TRY(bench_parse_methods(a->methods ? a->methods : "cocabo-0.5", &methods, err));
  CB_TRY(choose_one("--method", &methods, err));
  e->problem = bench_problem_at(problems.items[0]);
  e->method = bench_method_at(methods.items[0]);
  CB_TRY(front_parse_int("--seed", a->seed, 0, INT32_MAX, &e->seed, err));
  CB_TRY(front_parse_int("--init", a->init, 0, 100000, &e->init, err));
  return front_parse_int("--iterations", a->iterations, 1, 100000, &e->iterations, err);
}

static bool is_name(const char *name, int size, const char *wanted) {
  return !wanted ||
         (strlen(wanted) == (size_t)size && memcmp(name, wanted, (size_t)size) == 0);
}

/* The run of the file that the options leave, which must be one. */
static cocabo_status find_run(const request *r, const bench_results *results,
                              const bench_series **out, cocabo_error *err) {
  int64_t wanted = -1;
  size_t found = 0;
  CB_TRY(front_parse_int("--seed", r->args.seed, 0, INT32_MAX, &wanted, err));
  for (size_t i = 0; i < results->n; i++) {
    const bench_series *s = &results->series[i];
    const bench_names n = bench_series_names(s);
    const long long seed = strtoll(s->text + s->group + 1, NULL, 10);
    if (!is_name(n.problem, n.problem_size, r->args.problems) ||
        !is_name(n.method, n.method_size, r->args.methods) ||
        (wanted >= 0 && seed != wanted))
      continue;
    *out = s;
    found++;
  }
  if (found == 1)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INVALID,
                 "%s has %zu such runs, want one: say --problem, --method and --seed",
                 r->files.items[0], found);
}

/* What has to be done to make that run again. */
static cocabo_status take_run(request *r, const bench_series *run, cocabo_error *err) {
  const bench_names n = bench_series_names(run);
  bench_experiment *e = &r->experiment;
  char problem[80], method[80];
  snprintf(problem, sizeof problem, "%.*s", n.problem_size, n.problem);
  snprintf(method, sizeof method, "%.*s", n.method_size, n.method);
  e->problem = bench_problem_find(problem);
  e->method = bench_method_find(method);
  e->seed = strtoll(run->text + run->group + 1, NULL, 10);
  e->init = run->init;
  e->iterations = run->iterations;
  if (!e->problem || !e->method || run->batch > 1 || !run->whole || e->iterations < 1)
    return cb_fail(err, COCABO_E_INVALID,
                   "the run %.*s cannot be made again, want a whole one of ours with "
                   "batch 1",
                   (int)run->key, run->text);
  const char *cursor = run->text;
  for (int64_t i = 0; i < run->rows; i++)
    r->known_best = bench_csv_next(&cursor).best;
  return COCABO_OK;
}

/* The file has no categories, but it says what to do to see them. */
static cocabo_status read_run(request *r, cocabo_error *err) {
  front_buffer text = {0};
  bench_results results = {0};
  const bench_series *run = NULL;
  cocabo_status status = bench_results_load(&results, r->files.items[0], &text, err);
  if (status == COCABO_OK)
    status = find_run(r, &results, &run, err);
  if (status == COCABO_OK)
    status = results.workers == 0
                 ? take_run(r, run, err)
                 : cb_fail(err, COCABO_E_INVALID,
                           "%s is of simulated workers, want a file of run without "
                           "--async",
                           r->files.items[0]);
  bench_results_free(&results);
  front_buffer_free(&text);
  return status;
}

static cocabo_status prepare_run(request *r, cocabo_error *err) {
  static const front_texts no_settings = {0};
  r->experiment = (bench_experiment){
      .batch = 1, .init = 24, .iterations = 200, .settings = &no_settings};
  r->known_best = NAN;
  CB_TRY(r->files.n > 0 ? read_run(r, err) : parse_run(r, err));
  if (r->experiment.problem->c == 0)
    return cb_fail(err, COCABO_E_INVALID, "%s has no categories to show",
                   r->experiment.problem->name);
  return COCABO_OK;
}

static void note_evaluation(void *user) {
  bench_progress *progress = user;
  progress->evaluations_done++;
  bench_progress_show(progress, front_now());
}

static cocabo_status play(const request *r, cocabo_study *study, cocabo_error *err) {
  const bench_experiment *e = &r->experiment;
  front_buffer rows = {0}; /* which nobody wants here */
  bench_progress progress =
      bench_progress_start(r->args.quiet, 1, bench_experiment_rows(e), front_now());
  const cocabo_status status =
      bench_experiment_play(e, study, note_evaluation, &progress, &rows, err);
  progress.runs_done = status == COCABO_OK;
  bench_progress_end(&progress, front_now());
  front_buffer_free(&rows);
  return status;
}

static cocabo_status check_run(const request *r, const cocabo_study *study,
                               cocabo_error *err) {
  const cb_history *h = cb_study_history(study);
  const double best = h->best >= 0 ? h->y[h->best] : -INFINITY;
  if (isnan(r->known_best) || best == r->known_best)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STATE,
                 "the run found %.6g and finds %.6g now: it was made with other "
                 "settings or on another machine",
                 r->known_best, best);
}

static cocabo_status draw_categories(const request *r, canvas *c, cocabo_error *err) {
  cocabo_study *study;
  CB_TRY(bench_problem_load(r->experiment.problem, err));
  CB_TRY(bench_experiment_study(&r->experiment, &study, err));
  cocabo_status status = play(r, study, err);
  if (status == COCABO_OK)
    status = check_run(r, study, err);
  if (status == COCABO_OK)
    status = bench_draw_categories(&r->experiment, study, r->args.title, c, err);
  cocabo_study_free(study);
  return status;
}

/* ---- curves --------------------------------------------------------------------- */

static cocabo_status draw_results(const request *r, const bench_results *results,
                                  canvas *c, cocabo_error *err) {
  bench_groups groups;
  CB_TRY(bench_groups_follow(&groups, results, err));
  const bench_curves what = {.groups = &groups,
                             .title = r->args.title,
                             .problems = r->args.problems,
                             .methods = r->args.methods,
                             .regret = r->args.regret};
  const cocabo_status status = bench_draw_curves(&what, c, err);
  bench_groups_free(&groups);
  return status;
}

static cocabo_status draw_curves(const request *r, canvas *c, cocabo_error *err) {
  front_buffer text = {0};
  bench_results results = {0};
  cocabo_status status =
      bench_results_load_all(&results, r->files.n, r->files.items, &text, err);
  if (status == COCABO_OK)
    status = draw_results(r, &results, c, err);
  bench_results_free(&results);
  front_buffer_free(&text);
  return status;
}

/* ---- the command ---------------------------------------------------------------- */

static const char *kind_name(int i) {
  static const char *const kinds[] = {"curves", "categories"};
  return i < 2 ? kinds[i] : NULL;
}

static cocabo_status parse_kind(request *r, cocabo_error *err) {
  const char *kind = r->args.kind ? r->args.kind : kind_name(0);
  r->categories = strcmp(kind, kind_name(1)) == 0;
  if (!r->categories && strcmp(kind, kind_name(0)) != 0)
    return front_unknown(err, "--kind", kind, kind_name);
  return COCABO_OK;
}

static cocabo_status check_output(const request *r, cocabo_error *err) {
  if (!r->args.output)
    return cb_fail(err, COCABO_E_INVALID, "-o is missing, want FILE.svg");
  return front_check_ending("-o", r->args.output, ".svg", err);
}

static cocabo_status check_files(const request *r, cocabo_error *err) {
  const figure_args *a = &r->args;
  if (r->categories && r->files.n > 1)
    return cb_fail(err, COCABO_E_INVALID,
                   "%d files given, want at most one for --kind categories",
                   r->files.n);
  if (r->categories && r->files.n == 1 && (a->init || a->iterations))
    return cb_fail(err, COCABO_E_INVALID,
                   "--init and --iterations are given, but %s has its own",
                   r->files.items[0]);
  if (!r->categories && r->files.n == 0)
    return cb_fail(err, COCABO_E_INVALID, "no file given, want files of results");
  if (r->categories && a->regret)
    return cb_fail(err, COCABO_E_INVALID, "--regret is not for --kind categories");
  if (!r->categories && (a->seed || a->init || a->iterations))
    return cb_fail(err, COCABO_E_INVALID,
                   "--seed, --init and --iterations are for --kind categories");
  return COCABO_OK;
}

static cocabo_status parse(request *r, int argc, char **argv, cocabo_error *err) {
  CB_TRY(front_args_parse(options, argc, argv, &r->args, &r->files, err));
  CB_TRY(parse_kind(r, err));
  CB_TRY(check_output(r, err));
  CB_TRY(check_files(r, err));
  return r->categories ? prepare_run(r, err) : COCABO_OK;
}

static int write_picture(const request *r, const canvas *c) {
  cocabo_error err;
  if (front_outfile_write(r->args.output, &c->out, &err) != COCABO_OK)
    return front_complain("figure", FRONT_FAILURE, &err);
  return FRONT_DONE;
}

static int figure_main(int argc, char **argv) {
  request r = {0};
  canvas c = {0};
  cocabo_error err;
  int status;
  if (parse(&r, argc, argv, &err) != COCABO_OK)
    status = front_complain("figure", FRONT_USAGE, &err);
  else if ((r.categories ? draw_categories : draw_curves)(&r, &c, &err) != COCABO_OK)
    status = front_complain("figure", r.categories ? FRONT_FAILURE : FRONT_USAGE, &err);
  else
    status = write_picture(&r, &c);
  canvas_free(&c);
  return status;
}

const front_command bench_figure = {
    .name = "figure",
    .summary = "Draws results as curves, or the categories that a run chose.",
    .usage = "FILE ... -o FILE.svg [options]",
    .options = options,
    .details =
        "Curves: a panel for each problem and a curve for each method, the mean\n"
        "over seeds of the best value by now, with a band of one standard error\n"
        "to each side. A curve begins where all its runs have a value and ends\n"
        "where the first of them does. Several sizes of batch become several\n"
        "curves. Results of run --async are drawn over simulated time. A method\n"
        "looks the same in every figure.\n\n"
        "Categories: makes one run in memory and shows which category was chosen\n"
        "when, how often, and the chance that the bandits gave it; of methods\n"
        "without bandits the best value with each category. Given a file of\n"
        "results, it makes the run of that file again that --problem, --method\n"
        "and --seed leave.",
    .examples =
        "  cocabo-bench figure results.csv -o figure.svg\n"
        "  cocabo-bench figure a.csv b.csv --problem func-2c,func-3c --regret \\\n"
        "      -o regret.svg\n"
        "  cocabo-bench figure --kind categories --problem func-2c \\\n"
        "      --method cocabo-0.5 --seed 0 -o categories.svg",
    .main = figure_main,
};
