/* paper.c - cocabo-bench paper: the experiments of the paper, one command each.
 *
 * An experiment is a list of problems, each with the number of seeds that the paper has
 * for it, and the methods. Its runs go into one file, which is resumed; figure and
 * table are made of that file by the commands that anybody can type.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/status.h"
#include "campaign.h"
#include "commands.h"
#include "common/args.h"
#include "experiment.h"
#include "names.h"
#include "pool.h"

/* ---- what the paper did ---------------------------------------------------------- */

enum { SYNTHETIC_SEEDS = 20, REAL_SEEDS = 10, SLOW_SEEDS = 3, MOST_PARTS = 7 };

typedef struct part {
  const char *problem;
  int seeds;
} part;

typedef struct plan {
  const char *name;  /* what --figure says */
  const char *stem;  /* of its files */
  const char *title; /* of its figure */
  int batch, iterations;
  const char *methods;
  part parts[MOST_PARTS + 1];
} plan;

enum { INIT = 24 };

/* Beside the paper's methods: random search as the floor, and our default. */
#define PAPER_METHODS "cocabo-0.0,cocabo-0.5,cocabo-1.0,cocabo-auto,onehot"
#define OTHERS ",random,mixed"
/* Of the paper's six, the last twice: as a tenth, and small enough for every day. */
#define SIX_PROBLEMS                                                                   \
  {                                                                                    \
    {"func-2c", SYNTHETIC_SEEDS}, {"func-3c", SYNTHETIC_SEEDS},                        \
        {"ackley-5c", SYNTHETIC_SEEDS}, {"svm-boston", REAL_SEEDS},                    \
        {"nas-cifar10", REAL_SEEDS}, {"xg-mnist-10", SLOW_SEEDS},                      \
        {"xg-mnist-1", SLOW_SEEDS},                                                    \
  }

static const plan plans[] = {
    {"3", "figure-3", "One point at a time", 1, 200,
     PAPER_METHODS ",exp3bo,smac,tpe" OTHERS, SIX_PROBLEMS},
    {"4", "figure-4", "Four points at a time", 4, 80, PAPER_METHODS ",smac" OTHERS,
     SIX_PROBLEMS},
    {"yacht",
     "yacht",
     "NN-Yacht, four points at a time",
     4,
     80,
     PAPER_METHODS ",smac" OTHERS,
     {{"nn-yacht", REAL_SEEDS}}},
};
enum { N_PLANS = sizeof plans / sizeof plans[0] };

/* The paper's Table 1. */
#define TABLE_PROBLEMS "ackley-2c,ackley-3c,ackley-4c,ackley-5c,func-2c,func-3c"
#define TABLE_MODELS "cocabo-auto,onehot"

/* The experiment that has no runs; it comes after the plans. */
static const char *name_at(int i) {
  return i < N_PLANS ? plans[i].name : i == N_PLANS ? "table1" : NULL;
}

/* ---- the command line ----------------------------------------------------------- */

typedef struct paper_args {
  const char *figure, *problems, *methods, *seeds, *jobs, *output;
  bool quiet;
} paper_args;

static const front_option options[] = {
    {"--figure", "NAME", "3, 4, yacht or table1", FRONT_TEXT,
     offsetof(paper_args, figure)},
    {"--problem", "LIST", "only these of its problems", FRONT_TEXT,
     offsetof(paper_args, problems)},
    {"--method", "LIST", "these methods instead of its own", FRONT_TEXT,
     offsetof(paper_args, methods)},
    {"--seeds", "N", "runs of each (the paper's: 20, on real data 10, xg-mnist-* 3)",
     FRONT_TEXT, offsetof(paper_args, seeds)},
    {"--jobs", "N", "runs at a time, each in its own process (1)", FRONT_TEXT,
     offsetof(paper_args, jobs)},
    {"-o", "DIR", "the folder of results; made if there is none", FRONT_TEXT,
     offsetof(paper_args, output)},
    {"-q", NULL, "no progress", FRONT_FLAG, offsetof(paper_args, quiet)},
    {0}};

typedef struct request {
  paper_args args;
  const plan *plan; /* NULL: table1 */
  front_chosen problems, methods;
  int64_t seeds; /* 0: the paper's */
  int64_t jobs;
  front_texts settings; /* none */
  size_t n;
  bench_experiment *experiments;
} request;

static cocabo_status parse_figure(request *r, cocabo_error *err) {
  front_chosen chosen;
  if (!r->args.figure)
    return cb_fail(err, COCABO_E_INVALID,
                   "--figure is missing, want 3, 4, yacht or table1");
  CB_TRY(
      front_parse_names("--figure", "figure", r->args.figure, name_at, &chosen, err));
  if (chosen.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "--figure is \"%s\", want one of them",
                   r->args.figure);
  r->plan = chosen.items[0] < N_PLANS ? &plans[chosen.items[0]] : NULL;
  return COCABO_OK;
}

/* A problem that the experiment does not have would be left out without a word. */
static cocabo_status check_problems(const request *r, cocabo_error *err) {
  for (int i = 0; i < r->problems.n; i++) {
    const char *name = bench_problem_at(r->problems.items[i])->name;
    const part *p = r->plan->parts;
    while (p->problem && strcmp(p->problem, name) != 0)
      p++;
    if (!p->problem)
      return cb_fail(err, COCABO_E_INVALID, "figure %s has no problem %s",
                     r->plan->name, name);
  }
  return COCABO_OK;
}

static cocabo_status parse_lists(request *r, cocabo_error *err) {
  const char *methods = r->plan ? r->plan->methods : NULL;
  if (!r->plan && (r->args.problems || r->args.methods))
    return cb_fail(err, COCABO_E_INVALID,
                   "--problem and --method are not for table1, want "
                   "cocabo-bench surrogate");
  if (r->args.problems)
    CB_TRY(bench_parse_problems(r->args.problems, &r->problems, err));
  if (!r->plan)
    return COCABO_OK;
  CB_TRY(check_problems(r, err));
  return bench_parse_methods(r->args.methods ? r->args.methods : methods, &r->methods,
                             err);
}

static bool is_wanted(const request *r, const char *problem) {
  for (int i = 0; i < r->problems.n; i++)
    if (strcmp(bench_problem_at(r->problems.items[i])->name, problem) == 0)
      return true;
  return r->problems.n == 0;
}

/* A problem whose data is missing, and a method that has a reason not to take the
 * problem, are left out, with a sentence. */
static bool is_there(const bench_problem *problem, bool quiet) {
  cocabo_error err;
  const cocabo_status status = bench_problem_load(problem, &err);
  if (status != COCABO_OK && !quiet)
    fprintf(stderr, "without %s: %s\n", problem->name, err.message);
  return status == COCABO_OK;
}

static bool can_take(const bench_experiment *e, bool quiet) {
  cocabo_study *study;
  cocabo_error err;
  const cocabo_status status = bench_experiment_study(e, &study, &err);
  cocabo_study_free(study);
  if (status != COCABO_OK && !quiet)
    fprintf(stderr, "%s without %s: %s\n", e->problem->name, e->method->name,
            err.message);
  return status == COCABO_OK;
}

static void list_runs(request *r, const part *p) {
  const int64_t seeds = r->seeds > 0 ? r->seeds : p->seeds;
  for (int m = 0; m < r->methods.n; m++) {
    bench_experiment e = {.problem = bench_problem_find(p->problem),
                          .method = bench_method_at(r->methods.items[m]),
                          .batch = r->plan->batch,
                          .init = INIT,
                          .iterations = r->plan->iterations,
                          .settings = &r->settings};
    if (!can_take(&e, r->args.quiet))
      continue;
    for (; e.seed < seeds; e.seed++)
      r->experiments[r->n++] = e;
  }
}

static cocabo_status list_experiments(request *r, cocabo_error *err) {
  size_t most = 0;
  for (const part *p = r->plan->parts; p->problem; p++)
    most += (size_t)(r->seeds > 0 ? r->seeds : p->seeds) * (size_t)r->methods.n;
  r->experiments = cb_calloc(most, sizeof *r->experiments);
  if (!r->experiments)
    return cb_no_memory(err);
  for (const part *p = r->plan->parts; p->problem; p++)
    if (is_wanted(r, p->problem) &&
        is_there(bench_problem_find(p->problem), r->args.quiet))
      list_runs(r, p);
  if (r->n == 0)
    return cb_fail(err, COCABO_E_INVALID, "there is no run of figure %s to make",
                   r->plan->name);
  return COCABO_OK;
}

static cocabo_status parse(request *r, int argc, char **argv, cocabo_error *err) {
  CB_TRY(front_args_parse(options, argc, argv, &r->args, NULL, err));
  CB_TRY(parse_figure(r, err));
  CB_TRY(parse_lists(r, err));
  CB_TRY(front_parse_int("--seeds", r->args.seeds, 1, 100000, &r->seeds, err));
  CB_TRY(front_parse_int("--jobs", r->args.jobs, 1, BENCH_MAX_JOBS, &r->jobs, err));
  if (!r->args.output)
    return cb_fail(err, COCABO_E_INVALID, "-o is missing, want -o DIR for the results");
  if (mkdir(r->args.output, 0777) != 0 && errno != EEXIST)
    return cb_fail(err, COCABO_E_INVALID, "%s cannot be made: %s", r->args.output,
                   strerror(errno));
  return r->plan ? list_experiments(r, err) : COCABO_OK;
}

/* ---- the command ---------------------------------------------------------------- */

/* DIR/STEM.EXTENSION; owned by the caller, NULL if out of memory. */
static char *path_of(const request *r, const char *stem, const char *extension) {
  const size_t size =
      strlen(r->args.output) + strlen(stem) + strlen(extension) + sizeof "/.";
  char *path = cb_calloc(size, 1);
  if (path)
    snprintf(path, size, "%s/%s.%s", r->args.output, stem, extension);
  return path;
}

/* Says what it does, so that it can be done again by hand. */
static int step(const request *r, const front_command *command, int argc,
                const char *const *argv) {
  if (!r->args.quiet) {
    fprintf(stderr, "cocabo-bench %s", command->name);
    for (int i = 0; i < argc; i++)
      fprintf(stderr, strchr(argv[i], ' ') ? " '%s'" : " %s", argv[i]);
    fputc('\n', stderr);
  }
  return command->main(argc, (char **)argv);
}
#define STEP(r, command, ...)                                                          \
  step(r, command, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)),      \
       (const char *const[]){__VA_ARGS__})

/* The figure of what the file holds now, with whatever earlier calls put there. */
static int make_figure(const request *r, const char *csv, const char *svg,
                       const char *table) {
  int status = bench_campaign_main("paper", csv, r->experiments, r->n, (int)r->jobs,
                                   r->args.quiet);
  if (status == FRONT_DONE)
    status = STEP(r, &bench_figure, csv, "--title", r->plan->title, "-o", svg);
  if (status == FRONT_DONE)
    status = r->plan->batch == 1
                 ? STEP(r, &bench_table, csv, "-o", table)
                 : STEP(r, &bench_table, csv, "--at", "0,10,20,40,60,80", "-o", table);
  return status;
}

static int make_table1(const request *r, const char *lines, const char *table) {
  char repeats[32];
  snprintf(repeats, sizeof repeats, "%lld",
           (long long)(r->seeds > 0 ? r->seeds : SYNTHETIC_SEEDS));
  return STEP(r, &bench_surrogate, "--problem", TABLE_PROBLEMS, "--model", TABLE_MODELS,
              "--repeats", repeats, "--lines", lines, "-o", table);
}

static int carry_out(const request *r) {
  const char *stem = r->plan ? r->plan->stem : "table-1";
  char *results = path_of(r, stem, r->plan ? "csv" : "jsonl");
  char *picture = path_of(r, stem, "svg"), *table = path_of(r, stem, "md");
  cocabo_error err;
  int status;
  if (!results || !picture || !table) {
    cb_no_memory(&err);
    status = front_complain("paper", FRONT_FAILURE, &err);
  } else {
    status = r->plan ? make_figure(r, results, picture, table)
                     : make_table1(r, results, table);
  }
  cb_free(results);
  cb_free(picture);
  cb_free(table);
  return status;
}

static int paper_main(int argc, char **argv) {
  request r = {.jobs = 1};
  cocabo_error err;
  const int status = parse(&r, argc, argv, &err) == COCABO_OK
                         ? carry_out(&r)
                         : front_complain("paper", FRONT_USAGE, &err);
  cb_free(r.experiments);
  return status;
}

const front_command bench_paper = {
    .name = "paper",
    .summary = "Does an experiment of the paper: runs, figure and table.",
    .usage = "--figure 3|4|yacht|table1 -o DIR [options]",
    .options = options,
    .details =
        "Runs what DIR lacks and writes the results, the figure and the table:\n"
        "  3       figure-3.csv .svg .md   one point at a time, 24 + 200 evaluations\n"
        "  4       figure-4.csv .svg .md   four at a time, 24 + 4 x 80\n"
        "  yacht   yacht.csv .svg .md      NN-Yacht, four at a time\n"
        "  table1  table-1.jsonl .md       how well the surrogates predict\n"
        "The same again goes on where it was interrupted; with more --seeds it does "
        "the\n"
        "rest. What is missing here (data, a library) is left out with a sentence, "
        "and so\n"
        "is a method that cannot take a problem. Beside the paper's methods it runs\n"
        "random and mixed. xg-mnist-10, 10 % of XG-MNIST, takes most of the time by "
        "far.",
    .examples =
        "  cocabo-bench paper --figure 3 --jobs 2 -o paper\n"
        "  cocabo-bench paper --figure 3 --problem func-2c,svm-boston --seeds 5 "
        "-o paper\n"
        "  cocabo-bench paper --figure table1 -o paper",
    .main = paper_main,
};
