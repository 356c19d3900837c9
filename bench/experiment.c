/* experiment.c - one run of a method on a problem: the same initial points for every
 * method, then ask and tell, alone, in batches or with simulated workers. Every random
 * number comes from the run's seed. */
#include "experiment.h"

#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/status.h"
#include "common/clock.h"
#include "csv.h"

void bench_experiment_key(const bench_experiment *experiment,
                          char key[BENCH_KEY_SIZE]) {
  snprintf(key, BENCH_KEY_SIZE, "%s,%s,%lld,%lld", experiment->problem->name,
           experiment->method->name, (long long)experiment->batch,
           (long long)experiment->seed);
}

int64_t bench_experiment_rows(const bench_experiment *experiment) {
  return experiment->init + experiment->iterations * experiment->batch;
}

/* ---- options -------------------------------------------------------------------- */

static cocabo_status set_int(cocabo_options *options, const char *name, int64_t value,
                             cocabo_error *err) {
  char text[32];
  snprintf(text, sizeof text, "%lld", (long long)value);
  return cocabo_options_set(options, name, text, err);
}

static cocabo_status set_options(const bench_experiment *experiment,
                                 cocabo_options *options, cocabo_error *err) {
  CB_TRY(set_int(options, "seed", experiment->seed, err));
  CB_TRY(set_int(options, "n_init", experiment->init, err));
  CB_TRY(set_int(options, "horizon", experiment->iterations, err));
  CB_TRY(cocabo_options_set(options, "direction", "maximize", err));
  if (experiment->problem->constraints)
    CB_TRY(cocabo_options_set(options, "constraints", experiment->problem->constraints,
                              err));
  CB_TRY(bench_method_apply(experiment->method, options, err));
  for (int i = 0; i < experiment->settings->n; i++)
    CB_TRY(bench_setting_apply(experiment->settings->items[i], options, err));
  return COCABO_OK;
}

cocabo_status bench_experiment_options(const bench_experiment *experiment,
                                       cocabo_options **out, cocabo_error *err) {
  *out = NULL;
  cocabo_options *options = cocabo_options_new();
  if (!options)
    return cb_no_memory(err);
  const cocabo_status status = set_options(experiment, options, err);
  if (status == COCABO_OK)
    *out = options;
  else
    cocabo_options_free(options);
  return status;
}

/* ---- the study ------------------------------------------------------------------ */

static cocabo_status make_space(const bench_experiment *experiment, cocabo_space **out,
                                cocabo_error *err) {
  CB_TRY(bench_problem_space(experiment->problem, out, err));
  if (!experiment->permute)
    return COCABO_OK;
  cocabo_space *plain = *out;
  const cocabo_status status =
      bench_space_permuted(plain, (uint64_t)experiment->seed, out, err);
  cocabo_space_free(plain);
  return status;
}

cocabo_status bench_experiment_study(const bench_experiment *experiment,
                                     cocabo_study **out, cocabo_error *err) {
  cocabo_options *options;
  cocabo_space *space = NULL;
  *out = NULL;
  CB_TRY(bench_experiment_options(experiment, &options, err));
  cocabo_status status = make_space(experiment, &space, err);
  if (status == COCABO_OK)
    status = cocabo_study_create(out, "bench", space, options, NULL, err);
  cocabo_space_free(space);
  cocabo_options_free(options);
  return status;
}

/* ---- the run -------------------------------------------------------------------- */

typedef struct session {
  const bench_experiment *experiment;
  cocabo_study *study;
  cocabo_trial **trials; /* room for one ask */
  char key[BENCH_KEY_SIZE];
  bench_row row; /* the last one written */
  front_buffer *rows;
  bench_evaluated_fn evaluated;
  void *user;
} session;

static cocabo_status evaluate(session *s, const cocabo_trial *trial,
                              cocabo_error *err) {
  bench_row *row = &s->row;
  CB_TRY(bench_tell_trial(s->experiment->problem, s->study, trial,
                          (uint64_t)s->experiment->seed, &row->value, err));
  row->evaluation++;
  if (row->value > row->best)
    row->best = row->value;
  CB_TRY(bench_csv_append(s->rows, s->key, row, err));
  s->evaluated(s->user);
  return COCABO_OK;
}

static cocabo_status evaluate_all(session *s, int64_t n, cocabo_error *err) {
  for (int64_t i = 0; i < n; i++)
    CB_TRY(evaluate(s, s->trials[i], err));
  return COCABO_OK;
}

/* Ask for n points, evaluate and tell them. */
static cocabo_status iterate(session *s, int64_t iteration, int64_t n,
                             cocabo_error *err) {
  if (n == 0)
    return COCABO_OK;
  const double start = front_now();
  CB_TRY(cocabo_study_ask(s->study, (size_t)n, s->trials, err));
  s->row.ask_seconds = (front_now() - start) / (double)n;
  s->row.iteration = iteration;
  const cocabo_status status = evaluate_all(s, n, err);
  for (int64_t i = 0; i < n; i++)
    cocabo_trial_free(s->trials[i]);
  return status;
}

static cocabo_status play_in_step(session *s, cocabo_error *err) {
  const bench_experiment *e = s->experiment;
  CB_TRY(iterate(s, 0, e->init, err));
  for (int64_t t = 1; t <= e->iterations; t++)
    CB_TRY(iterate(s, t, e->batch, err));
  return COCABO_OK;
}

/* ---- the run with simulated workers --------------------------------------------- */

typedef struct worker {
  cocabo_trial *trial; /* owned; NULL: idle */
  double finish;       /* of the evaluation, in simulated time */
  double ask_seconds;  /* in real time */
} worker;

static double draw_duration(const bench_experiment *e, const cocabo_trial *trial) {
  cb_rng rng = bench_rng((uint64_t)e->seed, BENCH_STREAM_DURATION,
                         (uint32_t)cocabo_trial_number(trial));
  return -log1p(-cb_rng_uniform(&rng));
}

static cocabo_status start(session *s, worker *w, double now, cocabo_error *err) {
  const double asked = front_now();
  CB_TRY(cocabo_study_ask(s->study, 1, &w->trial, err));
  w->ask_seconds = front_now() - asked;
  w->finish = now + draw_duration(s->experiment, w->trial);
  return COCABO_OK;
}

static cocabo_status finish(session *s, worker *w, cocabo_error *err) {
  const int64_t past_init = s->row.evaluation + 1 - s->experiment->init;
  s->row.iteration = past_init > 0 ? past_init : 0;
  s->row.ask_seconds = w->ask_seconds;
  s->row.time = w->finish;
  const cocabo_status status = evaluate(s, w->trial, err);
  cocabo_trial_free(w->trial);
  w->trial = NULL;
  return status;
}

/* Of the busy ones; at the same time, the trial that was asked for first. */
static worker *first_to_finish(worker *workers, int64_t n) {
  worker *first = NULL;
  for (worker *w = workers; w < workers + n; w++) {
    if (!w->trial)
      continue;
    if (!first || w->finish < first->finish ||
        (w->finish == first->finish &&
         cocabo_trial_number(w->trial) < cocabo_trial_number(first->trial)))
      first = w;
  }
  return first;
}

static cocabo_status work(session *s, worker *workers, cocabo_error *err) {
  const int64_t total = bench_experiment_rows(s->experiment);
  const int64_t n = s->experiment->workers;
  int64_t asked = 0;
  for (; asked < n && asked < total; asked++)
    CB_TRY(start(s, &workers[asked], 0.0, err));
  for (worker *w; (w = first_to_finish(workers, n)); asked++) {
    CB_TRY(finish(s, w, err));
    if (asked < total)
      CB_TRY(start(s, w, w->finish, err));
  }
  return COCABO_OK;
}

static cocabo_status play_with_workers(session *s, cocabo_error *err) {
  const int64_t n = s->experiment->workers;
  worker *workers = cb_calloc((size_t)n, sizeof *workers);
  if (!workers)
    return cb_no_memory(err);
  const cocabo_status status = work(s, workers, err);
  for (int64_t i = 0; i < n; i++)
    cocabo_trial_free(workers[i].trial);
  cb_free(workers);
  return status;
}

/* ---- either --------------------------------------------------------------------- */

cocabo_status bench_experiment_play(const bench_experiment *experiment,
                                    cocabo_study *study, bench_evaluated_fn evaluated,
                                    void *user, front_buffer *rows, cocabo_error *err) {
  const int64_t most =
      experiment->init > experiment->batch ? experiment->init : experiment->batch;
  session s = {.experiment = experiment,
               .study = study,
               .row = {.best = -INFINITY, .workers = experiment->workers},
               .rows = rows,
               .evaluated = evaluated,
               .user = user};
  bench_experiment_key(experiment, s.key);
  s.trials = cb_calloc((size_t)most, sizeof *s.trials);
  if (!s.trials)
    return cb_no_memory(err);
  const cocabo_status status =
      experiment->workers > 0 ? play_with_workers(&s, err) : play_in_step(&s, err);
  cb_free(s.trials);
  return status;
}

cocabo_status bench_experiment_run(const bench_experiment *experiment,
                                   bench_evaluated_fn evaluated, void *user,
                                   front_buffer *rows, cocabo_error *err) {
  cocabo_study *study;
  CB_TRY(bench_experiment_study(experiment, &study, err));
  const cocabo_status status =
      bench_experiment_play(experiment, study, evaluated, user, rows, err);
  cocabo_study_free(study);
  return status;
}
