/* latency.c - cocabo-bench latency: how long a method thinks per suggestion.
 *
 * With n observations at the end: n - 50 random points of the problem are added with
 * their values, then 50 points are asked for and told, one by one; the 50 asks are
 * timed. Beside them, in the same process and minute, runs the triangular solve that
 * any GP method with 5000 candidates must do, so that a slow machine shows in both.
 */
#include <cblas.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/status.h"
#include "commands.h"
#include "experiment.h"
#include "front/args.h"
#include "front/clock.h"
#include "front/json.h"
#include "names.h"
#include "stats.h"
#include "study/study.h"

enum {
  ASKS = 50,        /* timed asks a repeat */
  SOLVES = 10,      /* timed solves a repeat, one every ASKS / SOLVES asks */
  CANDIDATES = 5000 /* right-hand sides of a solve */
};

/* ---- the command line ----------------------------------------------------------- */

typedef struct latency_args {
  const char *problems, *methods, *n, *repeats;
  front_texts settings;
  bool json;
} latency_args;

static const front_option options[] = {
    {"--problem", "LIST", "problems, e.g. ackley-5c", FRONT_TEXT,
     offsetof(latency_args, problems)},
    {"--method", "LIST", "methods, e.g. cocabo-0.5", FRONT_TEXT,
     offsetof(latency_args, methods)},
    {"--n", "LIST", "observations, each at least 50 (50,100,200)", FRONT_TEXT,
     offsetof(latency_args, n)},
    {"--repeats", "N", "studies per line, from seeds 0 .. N-1 (1)", FRONT_TEXT,
     offsetof(latency_args, repeats)},
    {"--set", "OPTION=VALUE", "an option of the study; may be repeated", FRONT_TEXTS,
     offsetof(latency_args, settings)},
    {"--json", NULL, "one JSON object a line", FRONT_FLAG,
     offsetof(latency_args, json)},
    {0}};

typedef struct request {
  latency_args args;
  front_chosen problems, methods;
  front_ints n;
  int64_t repeats;
} request;

static bench_experiment experiment_of(const request *r, int problem, int method,
                                      int64_t seed) {
  return (bench_experiment){.problem = bench_problem_at(r->problems.items[problem]),
                            .method = bench_method_at(r->methods.items[method]),
                            .seed = seed,
                            .batch = 1,
                            .iterations = ASKS,
                            .settings = &r->args.settings};
}

static cocabo_status parse(request *r, int argc, char **argv, cocabo_error *err) {
  *r = (request){.repeats = 1};
  CB_TRY(front_args_parse(options, argc, argv, &r->args, NULL, err));
  CB_TRY(bench_parse_problems(r->args.problems, &r->problems, err));
  CB_TRY(bench_parse_methods(r->args.methods, &r->methods, err));
  const char *n = r->args.n ? r->args.n : "50,100,200";
  CB_TRY(front_parse_ints("--n", n, ASKS, 20000, &r->n, err));
  CB_TRY(front_parse_int("--repeats", r->args.repeats, 1, 1000, &r->repeats, err));
  for (int m = 0; m < r->methods.n; m++) {
    cocabo_options *tried;
    const bench_experiment e = experiment_of(r, 0, m, 0);
    CB_TRY(bench_experiment_options(&e, &tried, err));
    cocabo_options_free(tried);
  }
  return COCABO_OK;
}

/* ---- the solve ------------------------------------------------------------------ */

typedef struct solve {
  int n;
  double *U; /* n x n, upper: ones above a diagonal of n, so that values stay put */
  double *B; /* n x CANDIDATES */
} solve;

static void solve_clear(solve *s) {
  cb_free(s->U);
  cb_free(s->B);
}

static cocabo_status solve_make(solve *s, int n, cocabo_error *err) {
  *s = (solve){.n = n,
               .U = cb_calloc((size_t)n * (size_t)n, sizeof *s->U),
               .B = cb_calloc((size_t)n * CANDIDATES, sizeof *s->B)};
  if (!s->U || !s->B) {
    solve_clear(s);
    return cb_no_memory(err);
  }
  for (int j = 0; j < n; j++)
    for (int i = 0; i <= j; i++)
      s->U[cb_at(i, j, n)] = i == j ? n : 1.0;
  return COCABO_OK;
}

static double time_solve(solve *s) {
  const size_t size = (size_t)s->n * CANDIDATES;
  for (size_t i = 0; i < size; i++) /* again each time: repeated solves would vanish */
    s->B[i] = 1.0;
  const double start = front_now();
  cblas_dtrsm(CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, s->n,
              CANDIDATES, 1.0, s->U, s->n, s->B, s->n);
  return front_now() - start;
}

/* ---- the asks ------------------------------------------------------------------- */

typedef struct timings {
  int64_t n_asks, n_refits, n_solves;
  double *asks, *refits, *solves; /* seconds; refits are those asks that refitted */
} timings;

static cocabo_status timings_make(timings *t, int64_t repeats, cocabo_error *err) {
  const size_t room = (size_t)repeats * (ASKS + ASKS + SOLVES);
  double *block = cb_calloc(room, sizeof *block); /* asks owns it */
  *t = (timings){.asks = block};
  if (!block)
    return cb_no_memory(err);
  t->refits = block + repeats * ASKS;
  t->solves = t->refits + repeats * ASKS;
  return COCABO_OK;
}

static cocabo_status add_point(cocabo_study *study, const bench_problem *problem,
                               const cocabo_space *space, const cb_cell *cells,
                               cocabo_error *err) {
  const char *names[BENCH_MAX_INPUTS];
  cocabo_value values[BENCH_MAX_INPUTS];
  for (int i = 0; i < space->n; i++) {
    names[i] = space->params[i].name;
    values[i] = cb_space_from_cell(space, i, cells[i]);
  }
  const double value = problem->value(problem, values);
  return cocabo_study_add(study, names, values, (size_t)space->n, &value, err);
}

static cocabo_status add_random_points(cocabo_study *study, const bench_experiment *e,
                                       int64_t n, cocabo_error *err) {
  const cocabo_space *space = cb_study_history(study)->space;
  cb_rng rng = bench_rng((uint64_t)e->seed, BENCH_STREAM_LATENCY, 0);
  for (int64_t i = 0; i < n; i++) {
    cb_cell cells[BENCH_MAX_INPUTS];
    cb_space_sample(space, &rng, cells);
    CB_TRY(add_point(study, e->problem, space, cells, err));
  }
  return COCABO_OK;
}

static cocabo_status time_ask(cocabo_study *study, const bench_problem *problem,
                              timings *t, cocabo_error *err) {
  const int64_t fitted = cb_study_history(study)->fit.basis;
  cocabo_trial *trial;
  const double start = front_now();
  CB_TRY(cocabo_study_ask(study, 1, &trial, err));
  const double seconds = front_now() - start;
  t->asks[t->n_asks++] = seconds;
  if (cb_study_history(study)->fit.basis != fitted)
    t->refits[t->n_refits++] = seconds;

  double value;
  cocabo_status status = bench_value_of_trial(problem, trial, &value, err);
  if (status == COCABO_OK)
    status = cocabo_study_tell(study, cocabo_trial_number(trial), value, err);
  cocabo_trial_free(trial);
  return status;
}

static cocabo_status time_asks(cocabo_study *study, const bench_experiment *e,
                               int64_t n, solve *s, timings *t, cocabo_error *err) {
  CB_TRY(add_random_points(study, e, n - ASKS, err));
  for (int k = 0; k < ASKS; k++) {
    CB_TRY(time_ask(study, e->problem, t, err));
    if (k % (ASKS / SOLVES) == 0)
      t->solves[t->n_solves++] = time_solve(s);
  }
  return COCABO_OK;
}

static cocabo_status measure(const request *r, int problem, int method, int64_t n,
                             solve *s, timings *t, cocabo_error *err) {
  for (int64_t seed = 0; seed < r->repeats; seed++) {
    const bench_experiment e = experiment_of(r, problem, method, seed);
    cocabo_study *study;
    CB_TRY(bench_experiment_study(&e, &study, err));
    const cocabo_status status = time_asks(study, &e, n, s, t, err);
    cocabo_study_free(study);
    CB_TRY(status);
  }
  return COCABO_OK;
}

/* ---- the output ----------------------------------------------------------------- */

typedef struct line {
  const char *method, *problem;
  int64_t n;
  double p50, mean, p99, refit_p50; /* seconds; refit_p50 is NaN if no ask refitted */
  double dtrsm, ratio;              /* p50 / dtrsm */
} line;

static line summarise(const bench_experiment *e, int64_t n, timings *t) {
  bench_mean mean = {0};
  for (int64_t i = 0; i < t->n_asks; i++)
    bench_mean_add(&mean, t->asks[i]);
  line l = {.method = e->method->name,
            .problem = e->problem->name,
            .n = n,
            .p50 = bench_quantile(t->n_asks, t->asks, 0.5),
            .mean = mean.mean,
            .p99 = bench_quantile(t->n_asks, t->asks, 0.99),
            .refit_p50 = NAN,
            .dtrsm = bench_quantile(t->n_solves, t->solves, 0.5)};
  if (t->n_refits > 0)
    l.refit_p50 = bench_quantile(t->n_refits, t->refits, 0.5);
  l.ratio = l.p50 / l.dtrsm;
  return l;
}

static void print_json(const line *l) {
  printf("{\"method\": \"%s\", \"problem\": \"%s\", \"n\": %lld", l->method, l->problem,
         (long long)l->n);
  const struct {
    const char *name;
    double value;
  } fields[] = {{"p50", l->p50},     {"mean", l->mean},
                {"p99", l->p99},     {"refit_p50", l->refit_p50},
                {"dtrsm", l->dtrsm}, {"dtrsm_ratio", l->ratio}};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    printf(", \"%s\": ", fields[i].name);
    front_print_json_number(fields[i].value);
  }
  printf("}\n");
}

static void print_title(void) {
  printf("milliseconds an ask\n%-12s %-20s %5s %9s %9s %9s %9s %9s %7s\n", "method",
         "problem", "n", "p50", "mean", "p99", "refit p50", "dtrsm", "ratio");
}

static void print_text(const line *l) {
  char refit[32] = "-";
  if (!isnan(l->refit_p50))
    snprintf(refit, sizeof refit, "%.3f", 1e3 * l->refit_p50);
  printf("%-12s %-20s %5lld %9.3f %9.3f %9.3f %9s %9.3f %7.3f\n", l->method, l->problem,
         (long long)l->n, 1e3 * l->p50, 1e3 * l->mean, 1e3 * l->p99, refit,
         1e3 * l->dtrsm, l->ratio);
}

static cocabo_status do_line(const request *r, int problem, int method, int64_t n,
                             cocabo_error *err) {
  solve s;
  timings t;
  CB_TRY(solve_make(&s, (int)n, err));
  cocabo_status status = timings_make(&t, r->repeats, err);
  if (status == COCABO_OK)
    status = measure(r, problem, method, n, &s, &t, err);
  if (status == COCABO_OK) {
    const bench_experiment e = experiment_of(r, problem, method, 0);
    const line l = summarise(&e, n, &t);
    if (r->args.json)
      print_json(&l);
    else
      print_text(&l);
    fflush(stdout); /* a line may take minutes */
  }
  cb_free(t.asks);
  solve_clear(&s);
  return status;
}

static cocabo_status do_lines(const request *r, cocabo_error *err) {
  if (!r->args.json)
    print_title();
  for (int m = 0; m < r->methods.n; m++)
    for (int p = 0; p < r->problems.n; p++)
      for (int64_t k = 0; k < r->n.n; k++)
        CB_TRY(do_line(r, p, m, r->n.items[k], err));
  return COCABO_OK;
}

static int latency_main(int argc, char **argv) {
  request r;
  cocabo_error err;
  int status;
  if (parse(&r, argc, argv, &err) != COCABO_OK)
    status = front_complain("latency", FRONT_USAGE, &err);
  else if (do_lines(&r, &err) != COCABO_OK)
    status = front_complain("latency", FRONT_FAILURE, &err);
  else
    status = front_finish_output("latency");
  front_ints_free(&r.n);
  return status;
}

const front_command bench_latency = {
    .name = "latency",
    .summary = "Measures how long a method thinks per suggestion.",
    .usage = "--problem LIST --method LIST [options]",
    .options = options,
    .details =
        "With n observations at the end: n - 50 random points of the problem are "
        "added,\n"
        "then 50 are asked for one by one, and these asks are timed. Columns: median,\n"
        "mean and 99th percentile of all 50, median of those that learnt the\n"
        "hyper-parameters anew, the median time of one triangular solve (n x n, 5000\n"
        "right-hand sides) measured between the asks, and p50 over that.",
    .examples =
        "  cocabo-bench latency --method cocabo-0.5 --problem ackley-5c --n 100,200\n"
        "  cocabo-bench latency --method random,cocabo-auto --problem func-2c --json",
    .main = latency_main,
};
