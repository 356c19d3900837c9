/* latency.c - cocabo-bench latency: how long a method thinks per suggestion.
 *
 * With n observations at the end: n - 50 random points of the problem are added with
 * their values, then 50 points are asked for and told, one by one; the 50 asks are
 * timed. In batches of B it is 50 / B asks, rounded down but at least one, for B points
 * each: so single asks and batches are timed at the same numbers of observations.
 * Beside them, in the same process and minute, runs the triangular solve that any GP
 * method with 5000 candidates must do, so that a slow machine shows in both. That
 * yardstick is OpenBLAS, a build option; without it there is no solve and its columns
 * are empty.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#ifdef BENCH_OPENBLAS
#include <cblas.h>
#endif

#include "base/mem.h"
#include "base/status.h"
#include "commands.h"
#include "common/args.h"
#include "common/clock.h"
#include "common/json.h"
#include "experiment.h"
#include "names.h"
#include "stats.h"
#include "study/study.h"

enum {
  MOST = 10000,     /* points of a batch, or failed ones */
  OWN = 50,         /* points of the method's own, the last observations */
  SOLVE_EVERY = 5,  /* asks between two timed solves */
  CANDIDATES = 5000 /* right-hand sides of a solve */
};

/* ---- the command line ----------------------------------------------------------- */

typedef struct latency_args {
  const char *problems, *methods, *n, *batch, *repeats, *failed;
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
    {"--batch", "B", "points asked for at a time, at most 10000 (1)", FRONT_TEXT,
     offsetof(latency_args, batch)},
    {"--failed", "K", "failed trials before them (0)", FRONT_TEXT,
     offsetof(latency_args, failed)},
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
  int64_t batch, repeats, failed;
} request;

/* Timed ones a repeat. */
static int64_t count_asks(const request *r) {
  return r->batch > OWN ? 1 : OWN / r->batch;
}

static bench_experiment experiment_of(const request *r, int problem, int method,
                                      int64_t seed) {
  return (bench_experiment){.problem = bench_problem_at(r->problems.items[problem]),
                            .method = bench_method_at(r->methods.items[method]),
                            .seed = seed,
                            .batch = r->batch,
                            .iterations = count_asks(r),
                            .settings = &r->args.settings};
}

static cocabo_status parse(request *r, int argc, char **argv, cocabo_error *err) {
  *r = (request){.batch = 1, .repeats = 1};
  CB_TRY(front_args_parse(options, argc, argv, &r->args, NULL, err));
  CB_TRY(bench_parse_problems(r->args.problems, &r->problems, err));
  CB_TRY(bench_parse_methods(r->args.methods, &r->methods, err));
  CB_TRY(front_parse_int("--batch", r->args.batch, 1, MOST, &r->batch, err));
  const char *n = r->args.n ? r->args.n : "50,100,200";
  CB_TRY(front_parse_ints("--n", n, OWN, 20000, &r->n, err));
  CB_TRY(front_parse_int("--failed", r->args.failed, 0, MOST, &r->failed, err));
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

#ifdef BENCH_OPENBLAS
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
#else
static void solve_clear(solve *s) {
  *s = (solve){0};
}

static cocabo_status solve_make(solve *s, int n, cocabo_error *err) {
  (void)err;
  *s = (solve){.n = n};
  return COCABO_OK;
}

static double time_solve(solve *s) {
  (void)s;
  return NAN;
}
#endif

/* ---- the asks ------------------------------------------------------------------- */

typedef struct timings {
  int64_t n_asks, n_refits, n_plain, n_solves;
  double *asks, *refits, *plain, *solves; /* seconds; an ask refitted or was plain */
} timings;

static cocabo_status timings_make(timings *t, int64_t asks, cocabo_error *err) {
  double *block = cb_calloc(4 * (size_t)asks, sizeof *block); /* t->asks owns it */
  *t = (timings){.asks = block};
  if (!block)
    return cb_no_memory(err);
  t->refits = block + asks;
  t->plain = t->refits + asks;
  t->solves = t->plain + asks;
  return COCABO_OK;
}

/* With its value; or enqueued, handed out and failed. */
static cocabo_status add_point(cocabo_study *study, const bench_problem *problem,
                               const cocabo_space *space, const cb_cell *cells,
                               bool fails, cocabo_error *err) {
  const char *names[BENCH_MAX_INPUTS];
  cocabo_value values[BENCH_MAX_INPUTS];
  for (int i = 0; i < space->n; i++) {
    names[i] = space->params[i].name;
    values[i] = cb_space_from_cell(space, i, cells[i]);
  }
  if (fails) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_add(study, names, values, (size_t)space->n, NULL, err));
    CB_TRY(cocabo_study_ask(study, 1, &trial, err));
    const cocabo_status status =
        cocabo_study_fail(study, cocabo_trial_number(trial), "for the bench", err);
    cocabo_trial_free(trial);
    return status;
  }
  cocabo_metric metrics[BENCH_MAX_METRICS];
  cocabo_known known = {.values = values,
                        .state = COCABO_COMPLETE,
                        .value = problem->value(problem, values, BENCH_PROBLEM_SEED),
                        .metrics = metrics};
  if (isnan(known.value)) /* it failed: what is timed is a study of results */
    return COCABO_OK;
  if (!problem->measure)
    return cocabo_study_add(study, names, values, (size_t)space->n, &known.value, err);
  known.n_metrics = (size_t)problem->measure(problem, values, metrics);
  return cocabo_study_merge(study, &known, 1, NULL, err);
}

static cocabo_status add_random_points(cocabo_study *study, const bench_experiment *e,
                                       int64_t n, bool fail, cocabo_error *err) {
  const cocabo_space *space = cb_study_history(study)->space;
  cb_rng rng = bench_rng((uint64_t)e->seed, BENCH_STREAM_LATENCY, fail);
  for (int64_t i = 0; i < n; i++) {
    cb_cell cells[BENCH_MAX_INPUTS];
    cb_space_sample(space, &rng, cells);
    CB_TRY(add_point(study, e->problem, space, cells, fail, err));
  }
  return COCABO_OK;
}

static void note_ask(timings *t, double seconds, bool refitted) {
  t->asks[t->n_asks++] = seconds;
  if (refitted)
    t->refits[t->n_refits++] = seconds;
  else
    t->plain[t->n_plain++] = seconds;
}

static cocabo_status time_ask(cocabo_study *study, const bench_experiment *e,
                              timings *t, cocabo_error *err) {
  const int64_t fitted = cb_study_history(study)->fit.basis;
  cocabo_trial **trials = cb_calloc((size_t)e->batch, sizeof *trials);
  if (!trials)
    return cb_no_memory(err);
  const double start = front_now();
  cocabo_status status = cocabo_study_ask(study, (size_t)e->batch, trials, err);
  const double seconds = front_now() - start;
  if (status == COCABO_OK)
    note_ask(t, seconds, cb_study_history(study)->fit.basis != fitted);

  double value;
  for (int64_t i = 0; i < e->batch; i++) {
    if (status == COCABO_OK)
      status = bench_tell_trial(e->problem, study, trials[i], (uint64_t)e->seed, &value,
                                err);
    cocabo_trial_free(trials[i]);
  }
  cb_free(trials);
  return status;
}

static cocabo_status time_asks(cocabo_study *study, const bench_experiment *e,
                               int64_t n, int64_t failed, solve *s, timings *t,
                               cocabo_error *err) {
  const int64_t asks = e->iterations;
  const int64_t own = e->batch > OWN ? OWN : asks * e->batch;
  CB_TRY(add_random_points(study, e, n - own, false, err));
  CB_TRY(add_random_points(study, e, failed, true, err));
  for (int64_t k = 0; k < asks; k++) {
    CB_TRY(time_ask(study, e, t, err));
    const double solved = k % SOLVE_EVERY == 0 ? time_solve(s) : NAN;
    if (!isnan(solved))
      t->solves[t->n_solves++] = solved;
  }
  return COCABO_OK;
}

static cocabo_status measure(const request *r, int problem, int method, int64_t n,
                             solve *s, timings *t, cocabo_error *err) {
  for (int64_t seed = 0; seed < r->repeats; seed++) {
    const bench_experiment e = experiment_of(r, problem, method, seed);
    cocabo_study *study;
    CB_TRY(bench_problem_load(e.problem, err));
    CB_TRY(bench_experiment_study(&e, &study, err));
    const cocabo_status status = time_asks(study, &e, n, r->failed, s, t, err);
    cocabo_study_free(study);
    CB_TRY(status);
  }
  return COCABO_OK;
}

/* ---- the output ----------------------------------------------------------------- */

typedef struct line {
  const char *method, *problem;
  int64_t n, batch;
  double p50, mean, p99;       /* seconds */
  double refit_p50, plain_p50; /* of asks with and without a fit; NaN: there was none */
  double dtrsm, ratio;         /* p50 / dtrsm; NaN without the yardstick */
} line;

static double median(int64_t n, double *seconds) {
  return n > 0 ? bench_quantile(n, seconds, 0.5) : NAN;
}

static line summarise(const bench_experiment *e, int64_t n, timings *t) {
  bench_mean mean = {0};
  for (int64_t i = 0; i < t->n_asks; i++)
    bench_mean_add(&mean, t->asks[i]);
  line l = {.method = e->method->name,
            .problem = e->problem->name,
            .n = n,
            .batch = e->batch,
            .p50 = median(t->n_asks, t->asks),
            .mean = mean.mean,
            .p99 = bench_quantile(t->n_asks, t->asks, 0.99),
            .refit_p50 = median(t->n_refits, t->refits),
            .plain_p50 = median(t->n_plain, t->plain),
            .dtrsm = median(t->n_solves, t->solves)};
  l.ratio = l.p50 / l.dtrsm;
  return l;
}

static void print_json(const line *l) {
  printf("{\"method\": \"%s\", \"problem\": \"%s\", \"n\": %lld, \"batch\": %lld",
         l->method, l->problem, (long long)l->n, (long long)l->batch);
  const struct {
    const char *name;
    double value;
  } fields[] = {{"p50", l->p50},
                {"mean", l->mean},
                {"p99", l->p99},
                {"refit_p50", l->refit_p50},
                {"plain_p50", l->plain_p50},
                {"dtrsm", l->dtrsm},
                {"dtrsm_ratio", l->ratio}};
  for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
    printf(", \"%s\": ", fields[i].name);
    front_print_json_number(fields[i].value);
  }
  printf("}\n");
}

static void print_title(void) {
  printf("milliseconds an ask\n%-12s %-20s %5s %5s %9s %9s %9s %9s %9s %9s %7s\n",
         "method", "problem", "n", "batch", "p50", "mean", "p99", "refit p50",
         "plain p50", "dtrsm", "ratio");
}

static const char *format_median(double seconds, char *out, size_t size) {
  if (isnan(seconds))
    return "-";
  snprintf(out, size, "%.3f", 1e3 * seconds);
  return out;
}

static void print_text(const line *l) {
  char refit[32], plain[32], dtrsm[32], ratio[32];
  printf("%-12s %-20s %5lld %5lld %9.3f %9.3f %9.3f %9s %9s %9s %7s\n", l->method,
         l->problem, (long long)l->n, (long long)l->batch, 1e3 * l->p50, 1e3 * l->mean,
         1e3 * l->p99, format_median(l->refit_p50, refit, sizeof refit),
         format_median(l->plain_p50, plain, sizeof plain),
         format_median(l->dtrsm, dtrsm, sizeof dtrsm),
         format_median(1e-3 * l->ratio, ratio, sizeof ratio));
}

static cocabo_status do_line(const request *r, int problem, int method, int64_t n,
                             cocabo_error *err) {
  solve s;
  timings t;
  CB_TRY(solve_make(&s, (int)n, err));
  cocabo_status status = timings_make(&t, r->repeats * count_asks(r), err);
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
        "then 50 are asked for one by one, and these asks are timed. With --batch it "
        "is\n"
        "50 / B asks, rounded down but at least one, for B points each; the times are\n"
        "those of a whole ask. Columns: median, mean and 99th percentile of all asks,\n"
        "median of those that learnt the hyper-parameters anew and of the others, the\n"
        "median time of one triangular solve (n x n, 5000 right-hand sides) measured\n"
        "between the asks, and p50 over that; the last two are empty where the bench "
        "was\n"
        "built without OpenBLAS.",
    .examples =
        "  cocabo-bench latency --method cocabo-0.5 --problem ackley-5c --n 100,200\n"
        "  cocabo-bench latency --method random,cocabo-auto --problem func-2c --json\n"
        "  cocabo-bench latency --method mixed --problem ackley-5c --n 200 --batch 16 "
        "\\\n"
        "      --repeats 10 --set refit_every=100",
    .main = latency_main,
};
