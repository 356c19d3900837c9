/* surrogate.c - cocabo-bench surrogate: how well a model predicts (Table 1 of the
 * paper).
 *
 * A repeat draws training and test points uniformly, fits the model to the former and
 * sums the log predictive density of the latter,
 *
 *   sum_i log N(y_i; mu_i, var_i),   var_i with the noise,
 *
 * in units of y standardised by the training data; `--scale raw` is the same density in
 * y's own units, which adds -test ln sd.
 */
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "commands.h"
#include "common/args.h"
#include "common/json.h"
#include "common/outfile.h"
#include "model/gp.h"
#include "model/gp_fit.h"
#include "names.h"
#include "problem.h"
#include "stats.h"

/* ---- data ----------------------------------------------------------------------- */

/* Points of one repeat: the training points first, then the test points. */
typedef struct split {
  int d, c;
  int train, test;
  double *x;        /* d x (train + test), column-major */
  int32_t *h;       /* c x (train + test), column-major */
  double *y;        /* train + test, standardised by the training points */
  double sd;        /* what y was divided by */
  double *mu, *var; /* test: the model's prediction, noise included */
  uint64_t repeat;  /* names the random streams */
} split;

static void split_clear(split *s) {
  cb_free(s->x);
  cb_free(s->h);
  cb_free(s->y);
  cb_free(s->mu);
  cb_free(s->var);
}

static cocabo_status split_make(split *s, const cocabo_space *space, int train,
                                int test, cocabo_error *err) {
  const size_t n = (size_t)train + (size_t)test;
  *s = (split){.d = space->d,
               .c = space->c,
               .train = train,
               .test = test,
               .x = cb_calloc(n * (size_t)space->d, sizeof *s->x),
               .h = cb_calloc(n * (size_t)space->c, sizeof *s->h),
               .y = cb_calloc(n, sizeof *s->y),
               .mu = cb_calloc((size_t)test, sizeof *s->mu),
               .var = cb_calloc((size_t)test, sizeof *s->var)};
  if (s->x && s->h && s->y && s->mu && s->var)
    return COCABO_OK;
  split_clear(s);
  return cb_no_memory(err);
}

/* A failed evaluation is no observation; where most fail there is nothing to learn. */
static cocabo_status draw_points(split *s, const bench_problem *problem,
                                 const cocabo_space *space, cocabo_error *err) {
  const int n = s->train + s->test;
  cb_rng rng = bench_rng(s->repeat, BENCH_STREAM_SURROGATE, 0);
  for (int i = 0, failed = 0; i < n;) {
    cb_cell cells[BENCH_MAX_INPUTS];
    cb_space_sample(space, &rng, cells);
    cb_space_encode(space, cells, s->x + cb_at(0, i, s->d), s->h + cb_at(0, i, s->c));
    s->y[i] = bench_value_at_cells(problem, space, cells);
    if (!isnan(s->y[i]))
      i++;
    else if (++failed == 100 + 10 * n)
      return cb_fail(err, COCABO_E_NUMERIC,
                     "%s failed %d times before it had %d values: %s", problem->name,
                     failed, n, problem->failure);
  }
  return COCABO_OK;
}

static void standardise(split *s) {
  double mean;
  cb_standardise(s->train, s->y, s->y, &mean, &s->sd);
  for (int i = s->train; i < s->train + s->test; i++)
    s->y[i] = (s->y[i] - mean) / s->sd;
}

/* ---- models --------------------------------------------------------------------- */

typedef struct model {
  const char *name;
  cb_kernel_spec spec; /* but for d and c */
  void (*box)(const cb_kernel_spec *spec, cb_theta_box *box);
} model;

/* The paper's kernel with everything learnt: one length scale, lambda and the noise.
 * And what it is compared with: categories as blocks of inputs, one length scale, the
 * variance and the noise learnt. */
static const model models[] = {
    {"cocabo-auto", {.half = true, .learn_lambda = true}, cb_theta_paper},
    {"onehot", {.form = CB_ONEHOT}, cb_theta_onehot}};

static const char *model_name(int i) {
  return i < (int)(sizeof models / sizeof models[0]) ? models[i].name : NULL;
}

enum { RESTARTS = 5, EVALUATIONS = 200 };

static cocabo_status learn(const split *s, const cb_kernel_spec *spec,
                           const cb_theta_box *box, double *theta, cocabo_error *err) {
  const cb_fit_plan plan = {.restarts = RESTARTS, .max_evaluations = EVALUATIONS};
  cb_likelihood *likelihood;
  CB_TRY(cb_likelihood_new(&likelihood, spec, s->train, s->x, s->h, err));
  cb_likelihood_set_y(likelihood, s->y);
  memcpy(theta, box->start, (size_t)cb_theta_lay_out(spec).count * sizeof *theta);
  cb_rng rng = bench_rng(s->repeat, BENCH_STREAM_SURROGATE, 1);
  const cocabo_status status =
      cb_gp_fit(likelihood, spec, box, &plan, &rng, theta, NULL, err);
  cb_likelihood_free(likelihood);
  return status;
}

/* The process standardises what it is given, and y already is: its units are ours. */
static cocabo_status predict_with(cb_gp *gp, const double *theta, split *s,
                                  cocabo_error *err) {
  cb_gp_set_theta(gp, theta);
  CB_TRY(cb_gp_factor(gp, s->train, s->x, s->h, err));
  cb_gp_set_y(gp, s->y);
  for (int i = 0; i < s->test; i++) {
    const int k = s->train + i;
    double sd;
    cb_gp_bind(gp, s->h + cb_at(0, k, s->c));
    cb_gp_predict(gp, 1, s->x + cb_at(0, k, s->d), NULL, &s->mu[i], &sd);
    s->var[i] = sd * sd + cb_gp_noise(gp);
  }
  return COCABO_OK;
}

/* Fits to the training points and fills mu and var of the test points. */
static cocabo_status predict(const model *m, split *s, cocabo_error *err) {
  cb_kernel_spec spec = m->spec;
  spec.d = s->d;
  spec.c = s->c;
  cb_theta_box box;
  double theta[CB_MAX_THETA];
  cb_gp *gp;
  m->box(&spec, &box);
  CB_TRY(learn(s, &spec, &box, theta, err));
  CB_TRY(cb_gp_new(&gp, &spec, err));
  const cocabo_status status = predict_with(gp, theta, s, err);
  cb_gp_free(gp);
  return status;
}

/* ---- the command line ----------------------------------------------------------- */

typedef struct surrogate_args {
  const char *problems, *models, *train, *test, *repeats, *scale, *lines, *output;
  bool json;
} surrogate_args;

static const front_option options[] = {
    {"--problem", "LIST", "problems, e.g. ackley-2c,func-2c", FRONT_TEXT,
     offsetof(surrogate_args, problems)},
    {"--model", "LIST", "of cocabo-auto,onehot (cocabo-auto)", FRONT_TEXT,
     offsetof(surrogate_args, models)},
    {"--train", "N", "training points (250)", FRONT_TEXT,
     offsetof(surrogate_args, train)},
    {"--test", "N", "test points (100)", FRONT_TEXT, offsetof(surrogate_args, test)},
    {"--repeats", "N", "draws of the points (20)", FRONT_TEXT,
     offsetof(surrogate_args, repeats)},
    {"--scale", "UNITS", "of the density: standard or raw (standard)", FRONT_TEXT,
     offsetof(surrogate_args, scale)},
    {"--json", NULL, "one JSON object a line", FRONT_FLAG,
     offsetof(surrogate_args, json)},
    {"--lines", "FILE", "keep the JSON lines there, and compute what it lacks",
     FRONT_TEXT, offsetof(surrogate_args, lines)},
    {"-o", "FILE.md", "write the table as Markdown too", FRONT_TEXT,
     offsetof(surrogate_args, output)},
    {0}};

typedef struct request {
  surrogate_args args;
  front_chosen problems, models;
  int64_t train, test, repeats;
  bool raw;
} request;

static cocabo_status parse_scale(request *r, cocabo_error *err) {
  const char *scale = r->args.scale ? r->args.scale : "standard";
  r->raw = strcmp(scale, "raw") == 0;
  if (!r->raw && strcmp(scale, "standard") != 0)
    return cb_fail(err, COCABO_E_INVALID, "--scale is \"%s\", want standard or raw",
                   scale);
  return COCABO_OK;
}

/* A kept line does not say how many points there were: it is of the usual numbers. */
static cocabo_status check_files(const surrogate_args *a, cocabo_error *err) {
  if (a->lines && (a->train || a->test))
    return cb_fail(err, COCABO_E_INVALID,
                   "%s and --lines are both given, but a line does not say how many "
                   "points it is of",
                   a->train ? "--train" : "--test");
  return a->output ? front_check_ending("-o", a->output, ".md", err) : COCABO_OK;
}

static cocabo_status parse(request *r, int argc, char **argv, cocabo_error *err) {
  *r = (request){.train = 250, .test = 100, .repeats = 20};
  const surrogate_args *a = &r->args;
  CB_TRY(front_args_parse(options, argc, argv, &r->args, NULL, err));
  CB_TRY(bench_parse_problems(a->problems, &r->problems, err));
  CB_TRY(front_parse_names("--model", "model", a->models ? a->models : models[0].name,
                           model_name, &r->models, err));
  CB_TRY(front_parse_int("--train", a->train, 2, 5000, &r->train, err));
  CB_TRY(front_parse_int("--test", a->test, 1, 1000000, &r->test, err));
  CB_TRY(front_parse_int("--repeats", a->repeats, 1, 100000, &r->repeats, err));
  CB_TRY(check_files(a, err));
  return parse_scale(r, err);
}

/* ---- the score ------------------------------------------------------------------ */

static double log_density(const split *s) {
  static const double log_2pi = 1.83787706640934548356;
  double sum = 0.0;
  for (int i = 0; i < s->test; i++) {
    const double gap = s->y[s->train + i] - s->mu[i];
    sum -= 0.5 * (log_2pi + log(s->var[i]) + gap * gap / s->var[i]);
  }
  return sum;
}

static cocabo_status score_repeat(split *s, const request *r,
                                  const bench_problem *problem,
                                  const cocabo_space *space, const model *m,
                                  double *score, cocabo_error *err) {
  CB_TRY(draw_points(s, problem, space, err));
  standardise(s);
  CB_TRY(predict(m, s, err));
  *score = log_density(s) - (r->raw ? s->test * log(s->sd) : 0.0);
  return COCABO_OK;
}

static cocabo_status score_repeats(split *s, const request *r,
                                   const bench_problem *problem,
                                   const cocabo_space *space, const model *m,
                                   bench_mean *mean, cocabo_error *err) {
  for (int64_t repeat = 0; repeat < r->repeats; repeat++) {
    double score;
    s->repeat = (uint64_t)repeat;
    CB_TRY(score_repeat(s, r, problem, space, m, &score, err));
    bench_mean_add(mean, score);
  }
  return COCABO_OK;
}

static cocabo_status score(const request *r, const bench_problem *problem,
                           const model *m, bench_mean *mean, cocabo_error *err) {
  cocabo_space *space;
  split s;
  CB_TRY(bench_problem_load(problem, err));
  CB_TRY(bench_problem_space(problem, &space, err));
  cocabo_status status = split_make(&s, space, (int)r->train, (int)r->test, err);
  if (status == COCABO_OK) {
    status = score_repeats(&s, r, problem, space, m, mean, err);
    split_clear(&s);
  }
  cocabo_space_free(space);
  return status;
}

/* ---- what is scored already ------------------------------------------------------ */

typedef struct scored {
  double mean, se;
  int64_t repeats; /* 0: not scored */
} scored;

static const char *scale_of(const request *r) {
  return r->raw ? "raw" : "standard";
}

static const model *model_of(const request *r, int k) {
  return &models[r->models.items[k]];
}

/* What a line of --json says, if it is about this problem and model, asked for in the
 * same way; else false. */
static bool take_line(const cb_json_node *line, const request *r,
                      const bench_problem *problem, const model *m, scored *out) {
  const char *of = cb_json_text(cb_json_find(line, "problem"));
  const char *by = cb_json_text(cb_json_find(line, "model"));
  const char *in = cb_json_text(cb_json_find(line, "scale"));
  double mean, se, repeats;
  if (!of || !by || !in || strcmp(of, problem->name) != 0 || strcmp(by, m->name) != 0 ||
      strcmp(in, scale_of(r)) != 0 ||
      !cb_json_number(cb_json_find(line, "repeats"), &repeats) ||
      repeats != (double)r->repeats ||
      !cb_json_number(cb_json_find(line, "mean"), &mean) ||
      !cb_json_number(cb_json_find(line, "se"), &se))
    return false;
  *out = (scored){.mean = mean, .se = se, .repeats = r->repeats};
  return true;
}

/* Repeats stay 0 where no line has it. What is no line of ours is passed over. */
static scored look_up(const request *r, const front_buffer *lines,
                      const bench_problem *problem, const model *m) {
  scored found = {0};
  cb_json_tree tree = {0};
  const char *end = lines->data + lines->size;
  for (const char *at = lines->data; at && at < end;) {
    const char *newline = memchr(at, '\n', (size_t)(end - at));
    const size_t size = newline ? (size_t)(newline - at) : (size_t)(end - at);
    if (cb_json_read_all(&tree, at, size, NULL) == COCABO_OK)
      take_line(tree.nodes, r, problem, m, &found);
    at += size + 1;
  }
  cb_json_tree_free(&tree);
  return found;
}

static cocabo_status put_line(const request *r, const bench_problem *problem,
                              const model *m, const scored *s, front_buffer *out,
                              cocabo_error *err) {
  CB_TRY(front_buffer_printf(
      out, err,
      "{\"problem\": \"%s\", \"model\": \"%s\", \"scale\": \"%s\", \"mean\": ",
      problem->name, m->name, scale_of(r)));
  CB_TRY(front_put_json_real(out, s->mean, err));
  CB_TRY(front_buffer_puts(out, ", \"se\": ", err));
  CB_TRY(front_put_json_real(out, s->se, err));
  return front_buffer_printf(out, err, ", \"repeats\": %lld}\n", (long long)s->repeats);
}

/* The score, taken from the lines or computed and added to them. */
static cocabo_status obtain(const request *r, const bench_problem *problem,
                            const model *m, front_buffer *lines, scored *out,
                            cocabo_error *err) {
  *out = look_up(r, lines, problem, m);
  if (out->repeats > 0)
    return COCABO_OK;
  bench_mean mean = {0};
  CB_TRY(score(r, problem, m, &mean, err));
  *out = (scored){.mean = mean.mean, .se = bench_mean_se(&mean), .repeats = mean.n};
  CB_TRY(put_line(r, problem, m, out, lines, err));
  return r->args.lines ? front_outfile_write(r->args.lines, lines, err) : COCABO_OK;
}

static cocabo_status read_lines(const request *r, front_buffer *lines,
                                cocabo_error *err) {
  const int fd = r->args.lines ? open(r->args.lines, O_RDONLY | O_CLOEXEC) : -1;
  if (fd < 0)
    return COCABO_OK; /* there are none yet; writing will tell what is wrong */
  const cocabo_status status = front_read_all(fd, r->args.lines, lines, err);
  close(fd);
  while (lines->size > 0 && lines->data[lines->size - 1] != '\n')
    lines->size--; /* a line cut short */
  return status;
}

/* ---- the output ----------------------------------------------------------------- */

/* A line a problem, with the models side by side. */
static void print_head(const request *r) {
  printf("%-20s %-9s %7s", "problem", "scale", "repeats");
  for (int k = 0; k < r->models.n; k++)
    printf(" %24s", model_of(r, k)->name);
  putchar('\n');
}

static void print_cell(const request *r, const bench_problem *problem, int k,
                       const scored *s) {
  if (k == 0)
    printf("%-20s %-9s %7lld", problem->name, scale_of(r), (long long)s->repeats);
  printf(" %12.4f (%9.4f)", s->mean, s->se);
  if (k == r->models.n - 1)
    putchar('\n');
}

static cocabo_status put_markdown_head(const request *r, front_buffer *out,
                                       cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "| problem | repeats |", err));
  for (int k = 0; k < r->models.n; k++)
    CB_TRY(front_buffer_printf(out, err, " %s |", model_of(r, k)->name));
  CB_TRY(front_buffer_puts(out, "\n|---|--:|", err));
  for (int k = 0; k < r->models.n; k++)
    CB_TRY(front_buffer_puts(out, "--:|", err));
  return front_buffer_puts(out, "\n", err);
}

/* row: one for each model; the best in bold. */
static cocabo_status put_markdown_row(const request *r, const bench_problem *problem,
                                      const scored *row, front_buffer *out,
                                      cocabo_error *err) {
  int best = 0;
  for (int k = 1; k < r->models.n; k++)
    if (row[k].mean > row[best].mean)
      best = k;
  CB_TRY(front_buffer_printf(out, err, "| %s | %lld |", problem->name,
                             (long long)row->repeats));
  for (int k = 0; k < r->models.n; k++) {
    const char *mark = k == best ? "**" : "";
    CB_TRY(front_buffer_printf(out, err, " %s%.1f (%.1f)%s |", mark, row[k].mean,
                               row[k].se, mark));
  }
  return front_buffer_puts(out, "\n", err);
}

/* ---- the command ---------------------------------------------------------------- */

/* What is read, and what is to be written. */
typedef struct papers {
  front_buffer lines; /* of JSON, of this and of earlier calls */
  front_buffer markdown;
} papers;

static cocabo_status do_problem(const request *r, const bench_problem *problem,
                                papers *p, cocabo_error *err) {
  scored row[sizeof models / sizeof models[0]] = {0};
  for (int k = 0; k < r->models.n; k++) {
    front_buffer line = {0};
    CB_TRY(obtain(r, problem, model_of(r, k), &p->lines, &row[k], err));
    if (!r->args.json)
      print_cell(r, problem, k, &row[k]);
    if (r->args.json &&
        put_line(r, problem, model_of(r, k), &row[k], &line, err) == COCABO_OK)
      fwrite(line.data, 1, line.size, stdout);
    front_buffer_free(&line);
    fflush(stdout); /* one may take minutes */
  }
  return put_markdown_row(r, problem, row, &p->markdown, err);
}

static cocabo_status do_problems(const request *r, papers *p, cocabo_error *err) {
  CB_TRY(read_lines(r, &p->lines, err));
  CB_TRY(put_markdown_head(r, &p->markdown, err));
  if (!r->args.json)
    print_head(r);
  for (int i = 0; i < r->problems.n; i++)
    CB_TRY(do_problem(r, bench_problem_at(r->problems.items[i]), p, err));
  return r->args.output ? front_outfile_write(r->args.output, &p->markdown, err)
                        : COCABO_OK;
}

static int surrogate_main(int argc, char **argv) {
  request r;
  papers p = {0};
  cocabo_error err;
  if (parse(&r, argc, argv, &err) != COCABO_OK)
    return front_complain("surrogate", FRONT_USAGE, &err);
  const cocabo_status status = do_problems(&r, &p, &err);
  front_buffer_free(&p.lines);
  front_buffer_free(&p.markdown);
  return status == COCABO_OK ? front_finish_output("surrogate")
                             : front_complain("surrogate", FRONT_FAILURE, &err);
}

const front_command bench_surrogate = {
    .name = "surrogate",
    .summary = "Scores models by the log predictive density of test points.",
    .usage = "--problem LIST [options]",
    .options = options,
    .details =
        "Prints the mean over the repeats of the summed log density of the test\n"
        "points, noise included, and in brackets its standard error. Units are those "
        "of y\n"
        "standardised by the training points, or y's own with --scale raw. Every\n"
        "model sees the same points.\n"
        "With --lines the lines of --json are kept in a file, and what it has of the "
        "same\n"
        "problem, model, scale and repeats is not computed again. Its lines are of "
        "250\n"
        "training and 100 test points.",
    .examples = "  cocabo-bench surrogate --problem ackley-2c,func-2c --model "
                "cocabo-auto,onehot\n"
                "  cocabo-bench surrogate --problem ackley-3c --train 100 --json\n"
                "  cocabo-bench surrogate --problem func-2c,func-3c --model "
                "cocabo-auto,onehot \\\n"
                "      --lines table-1.jsonl -o table-1.md",
    .main = surrogate_main,
};
