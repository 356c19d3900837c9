/* evaluate.c - cocabo-bench evaluate: a problem as a service, for optimisers that are
 * other programs: values as JSON lines in, the value as a JSON line out. --describe
 * says what they need to know, and which initial points a run here begins with.
 */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

#include "base/mem.h"
#include "base/status.h"
#include "commands.h"
#include "common/args.h"
#include "common/domain.h"
#include "common/json.h"
#include "experiment.h"
#include "methods.h"
#include "names.h"

/* ---- the command line ----------------------------------------------------------- */

typedef struct evaluate_args {
  const char *seed, *init;
  bool describe, permute;
} evaluate_args;

static const front_option options[] = {
    {"--seed", "S", "the run's, for problems with chance in them (0)", FRONT_TEXT,
     offsetof(evaluate_args, seed)},
    {"--describe", NULL, "print the problem as one JSON object instead", FRONT_FLAG,
     offsetof(evaluate_args, describe)},
    {"--init", "N", "describe: the N initial points of run from that seed", FRONT_TEXT,
     offsetof(evaluate_args, init)},
    {"--permute", NULL, "describe: list the choices as run --permute does", FRONT_FLAG,
     offsetof(evaluate_args, permute)},
    {0}};

typedef struct request {
  evaluate_args args;
  const bench_problem *problem;
  int64_t seed, init;
} request;

static cocabo_status parse(request *r, int argc, char **argv, cocabo_error *err) {
  front_texts rest = {0};
  front_chosen problems;
  *r = (request){0};
  CB_TRY(front_args_parse(options, argc, argv, &r->args, &rest, err));
  if (rest.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "%d problems given, want one", rest.n);
  CB_TRY(bench_parse_problems(rest.items[0], &problems, err));
  if (problems.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "%d problems given, want one", problems.n);
  r->problem = bench_problem_at(problems.items[0]);
  CB_TRY(front_parse_int("--seed", r->args.seed, 0, INT32_MAX, &r->seed, err));
  CB_TRY(front_parse_int("--init", r->args.init, 0, 100000, &r->init, err));
  if (!r->args.describe && (r->args.init || r->args.permute))
    return cb_fail(err, COCABO_E_INVALID, "%s is given without --describe",
                   r->args.init ? "--init" : "--permute");
  return COCABO_OK;
}

/* ---- the description ------------------------------------------------------------ */

static cocabo_status put_points(front_buffer *out, cocabo_trial *const *trials,
                                int64_t n, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, ",\n \"initial\":[", err));
  for (int64_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_puts(out, i > 0 ? ",\n  " : "\n  ", err));
    CB_TRY(front_put_json_params(out, trials[i], err));
  }
  return front_buffer_puts(out, "]", err);
}

static cocabo_status put_initial(front_buffer *out, cocabo_study *study, int64_t n,
                                 cocabo_error *err) {
  cocabo_trial **trials = cb_calloc((size_t)n + 1, sizeof *trials);
  if (!trials)
    return cb_no_memory(err);
  cocabo_status status =
      n > 0 ? cocabo_study_ask(study, (size_t)n, trials, err) : COCABO_OK;
  if (status == COCABO_OK)
    status = put_points(out, trials, n, err);
  for (int64_t i = 0; i < n; i++)
    cocabo_trial_free(trials[i]);
  cb_free(trials);
  return status;
}

static cocabo_status put_description(front_buffer *out, const request *r,
                                     cocabo_study *study, cocabo_error *err) {
  const bench_problem *p = r->problem;
  CB_TRY(front_buffer_puts(out, "{\"problem\":", err));
  CB_TRY(front_put_json_text(out, p->name, err));
  CB_TRY(front_buffer_printf(
      out, err, ",\n \"numbers\":%d,\"categories\":%d,\"optimum\":", p->d, p->c));
  CB_TRY(front_put_json_real(out, p->optimum, err));
  CB_TRY(front_buffer_puts(out, ",\n \"direction\":\"maximize\",\n \"parameters\":{",
                           err));
  CB_TRY(front_put_parameters(out, cocabo_study_space(study), err));
  CB_TRY(front_buffer_puts(out, "}", err));
  if (r->args.init)
    CB_TRY(put_initial(out, study, r->init, err));
  return front_buffer_puts(out, "}\n", err);
}

/* The study that `run` makes: every method has the same initial points, so the first
 * of them will do. */
static cocabo_status describe(const request *r, front_buffer *out, cocabo_error *err) {
  const front_texts no_settings = {0};
  const bench_experiment e = {.problem = r->problem,
                              .method = bench_method_at(0),
                              .seed = r->seed,
                              .batch = 1,
                              .init = r->init,
                              .permute = r->args.permute,
                              .settings = &no_settings};
  cocabo_study *study;
  CB_TRY(bench_experiment_study(&e, &study, err));
  const cocabo_status status = put_description(out, r, study, err);
  cocabo_study_free(study);
  return status;
}

static int describe_main(const request *r) {
  front_buffer out = {0};
  cocabo_error err;
  const cocabo_status status = describe(r, &out, &err);
  if (status == COCABO_OK)
    front_write(out.data, out.size);
  front_buffer_free(&out);
  return status == COCABO_OK ? front_finish_output("evaluate")
                             : front_complain("evaluate", FRONT_FAILURE, &err);
}

/* ---- one line ------------------------------------------------------------------- */

/* values: room for space->n; texts are borrowed from the space. */
static cocabo_status read_values(const cocabo_space *space, const cb_json_node *object,
                                 cocabo_value *values, cocabo_error *err) {
  for (const cb_json_node *item = cb_json_first(object); item;
       item = cb_json_next(object, item)) {
    char shown[CB_SHOWN];
    if (cb_space_find(space, item->key) < 0)
      return cb_fail(err, COCABO_E_INVALID,
                     "unknown input \"%s\", want those that --describe shows",
                     cb_text_show(shown, item->key));
  }
  for (int i = 0; i < space->n; i++) {
    cb_cell cell;
    const cb_json_node *item = cb_json_find(object, space->params[i].name);
    if (!item || item->type == CB_JSON_ARRAY || item->type == CB_JSON_OBJECT)
      return cb_fail(err, COCABO_E_INVALID, "%s is %s, want one value",
                     space->params[i].name, item ? "a list or an object" : "missing");
    CB_TRY(cb_space_to_cell(space, i, &item->value, &cell, err));
    values[i] = cb_space_from_cell(space, i, cell);
  }
  return COCABO_OK;
}

static cocabo_status read_line(const cocabo_space *space, const char *line, size_t size,
                               cb_json_tree *tree, cocabo_value *values,
                               cocabo_error *err) {
  const cocabo_status status = cb_json_read_all(tree, line, size, err);
  if (status == COCABO_E_INVALID) /* the line's own number comes first */
    return cb_fail(err, status, "no JSON%s", strchr(err->message, ','));
  CB_TRY(status);
  return cb_json_is(tree->nodes, CB_JSON_OBJECT)
             ? read_values(space, tree->nodes, values, err)
             : cb_fail(err, COCABO_E_INVALID, "no object, want {\"%s\": value, ...}",
                       space->params[0].name);
}

/* ---- the stream ----------------------------------------------------------------- */

typedef struct stream {
  const request *request;
  cocabo_space *space;
  char *line; /* getline's */
  size_t capacity;
  cb_json_tree tree; /* of the line */
  front_buffer out;
  int64_t lines, bad;
} stream;

static cocabo_status put_value(front_buffer *out, const bench_problem *problem,
                               double value, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{\"value\":", err));
  CB_TRY(front_put_json_real(out, value, err));
  if (isnan(value)) {
    CB_TRY(front_buffer_puts(out, ",\"error\":", err));
    CB_TRY(front_put_json_text(out, problem->failure, err));
  }
  return front_buffer_puts(out, "}\n", err);
}

static cocabo_status put_refusal(front_buffer *out, int64_t line, const char *why,
                                 cocabo_error *err) {
  char sentence[sizeof err->message + 40];
  snprintf(sentence, sizeof sentence, "line %lld: %s", (long long)line, why);
  CB_TRY(front_buffer_puts(out, "{\"error\":", err));
  CB_TRY(front_put_json_text(out, sentence, err));
  return front_buffer_puts(out, "}\n", err);
}

/* The answer to the line; only running out of memory is a failure. */
static cocabo_status answer(stream *s, size_t size, cocabo_error *err) {
  const bench_problem *problem = s->request->problem;
  cocabo_value values[BENCH_MAX_INPUTS];
  s->lines++;
  s->out.size = 0;
  const cocabo_status status =
      read_line(s->space, s->line, size, &s->tree, values, err);
  if (status == COCABO_OK)
    return put_value(&s->out, problem,
                     problem->value(problem, values, (uint64_t)s->request->seed), err);
  if (status == COCABO_E_NO_MEMORY)
    return status;
  s->bad++;
  const cocabo_error why = *err;
  return put_refusal(&s->out, s->lines, why.message, err);
}

/* Each answer leaves at once: whoever asked is waiting for it. */
static cocabo_status serve(stream *s, cocabo_error *err) {
  ssize_t size;
  while ((size = getline(&s->line, &s->capacity, stdin)) >= 0) {
    CB_TRY(answer(s, (size_t)size, err));
    if (!front_write(s->out.data, s->out.size) || fflush(stdout) != 0)
      return COCABO_OK; /* front_finish_output has the sentence */
  }
  return ferror(stdin) ? cb_fail(err, COCABO_E_INVALID, "cannot read standard input")
                       : COCABO_OK;
}

static cocabo_status open_stream(stream *s, cocabo_error *err) {
  CB_TRY(bench_problem_load(s->request->problem, err));
  return bench_problem_space(s->request->problem, &s->space, err);
}

static void stream_clear(stream *s) {
  cocabo_space_free(s->space);
  free(s->line); /* getline's */
  cb_json_tree_free(&s->tree);
  front_buffer_free(&s->out);
}

static int finish(const stream *s) {
  const int status = front_finish_output("evaluate");
  cocabo_error err;
  if (status != FRONT_DONE || s->bad == 0)
    return status;
  cb_fail(&err, COCABO_E_INVALID, "%lld of %lld lines could not be read, see answers",
          (long long)s->bad, (long long)s->lines);
  return front_complain("evaluate", FRONT_USAGE, &err);
}

static int serve_main(const request *r) {
  stream s = {.request = r};
  cocabo_error err;
  cocabo_status status = open_stream(&s, &err);
  if (status == COCABO_OK)
    status = serve(&s, &err);
  stream_clear(&s);
  return status == COCABO_OK ? finish(&s)
                             : front_complain("evaluate", FRONT_FAILURE, &err);
}

static int evaluate_main(int argc, char **argv) {
  request r;
  cocabo_error err;
  if (parse(&r, argc, argv, &err) != COCABO_OK)
    return front_complain("evaluate", FRONT_USAGE, &err);
  return r.args.describe ? describe_main(&r) : serve_main(&r);
}

const front_command bench_evaluate = {
    .name = "evaluate",
    /* Libraries that problems call may print, and the answers must stay alone. */
    .summary = "Evaluates a problem at points that another program chooses.",
    .usage = "PROBLEM [options]",
    .options = options,
    .details =
        "Reads one JSON object a line, {\"x1\": 0.5, \"h1\": 2, ...}, with a value\n"
        "for every input, and answers each with one line at once. Values are "
        "maximised.\n"
        "  {\"value\":0.25}                   the value\n"
        "  {\"value\":null,\"error\":\"...\"}     the evaluation failed, and why\n"
        "  {\"error\":\"line 3: ...\"}          the line could not be read, and why\n"
        "After a line that could not be read it goes on, so that answers stay in "
        "step,\n"
        "and the exit status at the end is 2. An empty line is such a line.\n"
        "\n"
        "--describe prints numbers, categories, optimum, direction and the parameters\n"
        "in the words of study.yaml; with --init also the initial points that\n"
        "`cocabo-bench run` gives every method from that seed.",
    .examples =
        "  echo '{\"h1\": \"cam\", \"h2\": \"ros\", \"x1\": 0.5, \"x2\": -1}' | \\\n"
        "      cocabo-bench evaluate func-2c\n"
        "  cocabo-bench evaluate func-2c --describe --seed 3 --init 24",
    .main = evaluate_main,
};
