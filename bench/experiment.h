/* experiment.h - one run: a method on a problem from one seed, as rows of results. */
#ifndef BENCH_EXPERIMENT_H
#define BENCH_EXPERIMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "common/args.h"
#include "common/buffer.h"
#include "methods.h"
#include "problem.h"

typedef struct bench_experiment {
  const bench_problem *problem;
  const bench_method *method;
  int64_t seed, batch, init, iterations;
  int64_t workers;             /* simulated ones, with batch 1; 0: none */
  bool permute;                /* the order of the choices, by the seed */
  const front_texts *settings; /* OPTION=VALUE, on top of the method's; borrowed */
} bench_experiment;

/* Its rows' first four fields: "problem,method,batch,seed". */
enum { BENCH_KEY_SIZE = 160 };
void bench_experiment_key(const bench_experiment *experiment, char key[BENCH_KEY_SIZE]);
int64_t bench_experiment_rows(const bench_experiment *experiment);

/* The study's options; a bad setting fails here. *out is owned by the caller. */
cocabo_status bench_experiment_options(const bench_experiment *experiment,
                                       cocabo_options **out, cocabo_error *err);

/* A study of the problem with these options, in memory; owned by the caller. */
cocabo_status bench_experiment_study(const bench_experiment *experiment,
                                     cocabo_study **out, cocabo_error *err);

/* Called after each evaluation. */
typedef void (*bench_evaluated_fn)(void *user);

/* Appends all rows of the run, or fails.
 *
 * Without workers: the initial points are asked for at once, then `batch` at a time,
 * and all are told before the next ask. With workers: each asks for one point whenever
 * it is free, the initial ones too, and tells it when its simulated time is over.
 * Evaluation times are exponential with mean 1 and depend on the seed and the trial's
 * number only, so that they are the same for every method. */
cocabo_status bench_experiment_run(const bench_experiment *experiment,
                                   bench_evaluated_fn evaluated, void *user,
                                   front_buffer *rows, cocabo_error *err);
/* The same in a fresh study of the experiment, which keeps what happened. */
cocabo_status bench_experiment_play(const bench_experiment *experiment,
                                    cocabo_study *study, bench_evaluated_fn evaluated,
                                    void *user, front_buffer *rows, cocabo_error *err);

#endif
