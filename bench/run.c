/* run.c - cocabo-bench run: methods on problems from seeds, into a file of results. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "campaign.h"
#include "commands.h"
#include "common/args.h"
#include "experiment.h"
#include "names.h"
#include "pool.h"

/* ---- the command line ----------------------------------------------------------- */

typedef struct run_args {
  const char *problems, *methods, *batch, *init, *iterations, *async, *seeds, *jobs,
      *output;
  bool permute, quiet;
  front_texts settings;
} run_args;

static const front_option options[] = {
    {"--problem", "LIST", "problems, e.g. func-2c,ackley-3c", FRONT_TEXT,
     offsetof(run_args, problems)},
    {"--method", "LIST", "methods, e.g. random,cocabo-0.5", FRONT_TEXT,
     offsetof(run_args, methods)},
    {"--batch", "B", "points asked for at a time (1)", FRONT_TEXT,
     offsetof(run_args, batch)},
    {"--init", "N", "initial random points, iteration 0 (24)", FRONT_TEXT,
     offsetof(run_args, init)},
    {"--iterations", "T", "asks after the initial points (200)", FRONT_TEXT,
     offsetof(run_args, iterations)},
    {"--async", "K", "simulate K workers that ask one by one", FRONT_TEXT,
     offsetof(run_args, async)},
    {"--seeds", "LIST", "one run each, e.g. 0-19 or 0,3,5-7 (0-19)", FRONT_TEXT,
     offsetof(run_args, seeds)},
    {"--jobs", "N", "runs at a time, each in its own process (1)", FRONT_TEXT,
     offsetof(run_args, jobs)},
    {"--permute", NULL, "list the choices in an order drawn from the seed", FRONT_FLAG,
     offsetof(run_args, permute)},
    {"--set", "OPTION=VALUE", "an option of the study; may be repeated", FRONT_TEXTS,
     offsetof(run_args, settings)},
    {"-o", "FILE", "the file of results (CSV)", FRONT_TEXT, offsetof(run_args, output)},
    {"-q", NULL, "no progress", FRONT_FLAG, offsetof(run_args, quiet)},
    {0}};

typedef struct request {
  run_args args;
  front_chosen problems, methods;
  int64_t batch, init, iterations, jobs;
  int64_t workers; /* simulated; 0: none */
  front_ints seeds;
  size_t n; /* experiments: problems x methods x seeds, in this order */
  bench_experiment *experiments;
} request;

static cocabo_status parse_numbers(request *r, cocabo_error *err) {
  const run_args *a = &r->args;
  CB_TRY(front_parse_int("--batch", a->batch, 1, 1000, &r->batch, err));
  CB_TRY(front_parse_int("--init", a->init, 0, 100000, &r->init, err));
  CB_TRY(
      front_parse_int("--iterations", a->iterations, 0, 100000, &r->iterations, err));
  CB_TRY(front_parse_int("--async", a->async, 1, 1000, &r->workers, err));
  if (r->workers > 0 && r->batch > 1)
    return cb_fail(err, COCABO_E_RANGE,
                   "--batch is %lld, want 1 with --async: a worker asks for one point",
                   (long long)r->batch);
  CB_TRY(front_parse_int("--jobs", a->jobs, 1, BENCH_MAX_JOBS, &r->jobs, err));
  if (r->init + r->iterations == 0)
    return cb_fail(err, COCABO_E_RANGE,
                   "--init and --iterations are both 0, want one above 0");
  const char *seeds = a->seeds ? a->seeds : "0-19";
  return front_parse_ints("--seeds", seeds, 0, INT32_MAX, &r->seeds, err);
}

/* These come from the command's own options. */
static cocabo_status refuse_own_settings(const front_texts *settings,
                                         cocabo_error *err) {
  static const char *const own[][2] = {
      {"seed=", "--seeds"},
      {"n_init=", "--init"},
      {"horizon=", "--iterations"},
      {"sampler=", "--method"},
      {"direction=", "no other: values are maximised"}};
  for (int i = 0; i < settings->n; i++)
    for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
      if (strncmp(settings->items[i], own[k][0], strlen(own[k][0])) == 0)
        return cb_fail(err, COCABO_E_INVALID, "--set %s is not for here, want %s",
                       settings->items[i], own[k][1]);
  return COCABO_OK;
}

static cocabo_status list_experiments(request *r, cocabo_error *err) {
  r->n = (size_t)r->problems.n * (size_t)r->methods.n * (size_t)r->seeds.n;
  r->experiments = cb_calloc(r->n, sizeof *r->experiments);
  if (!r->experiments)
    return cb_no_memory(err);
  bench_experiment *e = r->experiments;
  for (int p = 0; p < r->problems.n; p++)
    for (int m = 0; m < r->methods.n; m++)
      for (int64_t s = 0; s < r->seeds.n; s++)
        *e++ = (bench_experiment){.problem = bench_problem_at(r->problems.items[p]),
                                  .method = bench_method_at(r->methods.items[m]),
                                  .seed = r->seeds.items[s],
                                  .batch = r->batch,
                                  .init = r->init,
                                  .iterations = r->iterations,
                                  .workers = r->workers,
                                  .permute = r->args.permute,
                                  .settings = &r->args.settings};
  return COCABO_OK;
}

/* A bad --set is bad usage, and so is a method that cannot handle the problem: they are
 * found before any run starts. */
static cocabo_status try_studies(const request *r, cocabo_error *err) {
  for (size_t i = 0; i < r->n; i++) {
    cocabo_study *tried;
    CB_TRY(bench_experiment_study(&r->experiments[i], &tried, err));
    cocabo_study_free(tried);
  }
  return COCABO_OK;
}

static cocabo_status parse(request *r, int argc, char **argv, cocabo_error *err) {
  *r = (request){.batch = 1, .init = 24, .iterations = 200, .jobs = 1};
  CB_TRY(front_args_parse(options, argc, argv, &r->args, NULL, err));
  CB_TRY(bench_parse_problems(r->args.problems, &r->problems, err));
  CB_TRY(bench_parse_methods(r->args.methods, &r->methods, err));
  CB_TRY(parse_numbers(r, err));
  if (!r->args.output)
    return cb_fail(err, COCABO_E_INVALID,
                   "-o is missing, want -o FILE for the results");
  CB_TRY(refuse_own_settings(&r->args.settings, err));
  CB_TRY(list_experiments(r, err));
  return try_studies(r, err);
}

static void request_clear(request *r) {
  front_ints_free(&r->seeds);
  cb_free(r->experiments);
}

/* ---- the command ---------------------------------------------------------------- */

static int run_main(int argc, char **argv) {
  request r;
  cocabo_error err;
  const int status = parse(&r, argc, argv, &err) == COCABO_OK
                         ? bench_campaign_main("run", r.args.output, r.experiments, r.n,
                                               (int)r.jobs, r.args.quiet)
                         : front_complain("run", FRONT_USAGE, &err);
  request_clear(&r);
  return status;
}

const front_command bench_run = {
    .name = "run",
    .summary = "Runs methods on problems and writes one row an evaluation.",
    .usage = "--problem LIST --method LIST [options] -o FILE",
    .options = options,
    .details =
        "The file is CSV:\n"
        "  problem,method,batch,seed,iteration,evaluation,value,best,ask_seconds\n"
        "Values are maximised. The same problem and seed give every method the same\n"
        "initial points. Running the same line again resumes: runs that the file has "
        "are\n"
        "kept, an unfinished one is done again, and runs of other problems, methods "
        "or\n"
        "seeds stay. The result does not depend on --jobs or on interruptions, but "
        "for\n"
        "ask_seconds. --permute and --set change results without being in the file, "
        "so\n"
        "different ones belong in different files.\n"
        "\n"
        "With --async, K simulated workers ask for one point each whenever they are "
        "free\n"
        "and tell it when it is done: N + T evaluations in all, which take random "
        "times,\n"
        "exponential with mean 1, the same for every method. Rows come in order of\n"
        "finishing, the first N of them as iteration 0, and have two more columns,\n"
        "workers,time: K, and the simulated time at which the result came in. A file "
        "has\n"
        "runs of one K, or none with workers.",
    .examples =
        "  cocabo-bench run --problem func-2c --method random,cocabo-0.5 -o "
        "results.csv\n"
        "  cocabo-bench run --problem ackley-3c --method cocabo-auto --batch 4 \\\n"
        "      --iterations 80 --seeds 0-9 --jobs 2 --set kappa=3 -o batch.csv\n"
        "  cocabo-bench run --problem func-3c --method mixed,random --async 4 -o "
        "async.csv",
    .main = run_main,
};
