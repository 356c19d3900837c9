/* problem.h - black boxes with known inputs, and the suite that lists them.
 *
 * A problem is a constant: a name, a search space and a function of the user's values.
 * It knows nothing of methods, seeds or files. What changes a problem is a
 * transformation of its space (bench_space_permuted); what records it is elsewhere.
 *
 * To add one: a raw function and an entry in a file of problems/, and, for a new file,
 * one line in problem.c.
 */
#ifndef BENCH_PROBLEM_H
#define BENCH_PROBLEM_H

#include <stdint.h>

#include "cocabo.h"
#include "space/space.h"

/* The bench's random streams: the high half of the number in cb_rng_make(seed,
 * CB_RNG_BENCH, number). Results depend on them: pinned. */
enum {
  BENCH_STREAM_PERMUTE = 1,       /* low half: the parameter */
  BENCH_STREAM_LATENCY = 2,       /* low half: 0 */
  BENCH_STREAM_SURROGATE = 3,     /* low half: 0 data, 1 restarts of the fit */
  BENCH_STREAM_FLIP = 4,          /* low half: 0 */
  BENCH_STREAM_CONTAMINATION = 5, /* low half: 0 start, 2 i + 1 and 2 i + 2 stage i */
  BENCH_STREAM_PEST = 6,          /* low half: the same */
  BENCH_STREAM_PEST_ORDER = 7,    /* low half: the stage */
  BENCH_STREAM_DURATION = 8,      /* low half: the trial */
  BENCH_STREAM_BOSTON = 9,        /* low half: 0 */
  BENCH_STREAM_MNIST = 10,        /* low half: the digit */
  BENCH_STREAM_YACHT = 11,        /* low half: 0 */
  BENCH_STREAM_NETWORK = 12       /* low half: 0 weights, 1 order, 2 training, 3 test */
};
cb_rng bench_rng(uint64_t seed, uint32_t stream, uint32_t number);

/* The seed of random numbers that are part of a problem, the same in every run. */
enum { BENCH_PROBLEM_SEED = 0 };

typedef struct bench_problem bench_problem;
struct bench_problem {
  const char *name;
  const char *help;    /* one line */
  int d, c;            /* numeric and categorical inputs, d + c <= BENCH_MAX_INPUTS */
  double optimum;      /* the largest value, or the largest known */
  const char *failure; /* what it means that an evaluation failed; NULL: none does */
  const char *constraints; /* on what is measured, as the option of that name; NULL:
                              none, and nothing is measured */

  cocabo_status (*add_inputs)(const bench_problem *problem, cocabo_space *space,
                              cocabo_error *err);
  /* Makes ready what all evaluations share (data, say), once for the process; fails
   * with a sentence that says what is missing. NULL: nothing to make ready. Called
   * before workers are forked, so it starts no threads. */
  cocabo_status (*load)(const bench_problem *problem, cocabo_error *err);
  /* Maximised; NaN: the evaluation failed. values: d + c of them, in the order of the
   * space. seed: the run's, for problems with chance in them; most have none, and give
   * every seed the same value. */
  double (*value)(const bench_problem *problem, const cocabo_value *values,
                  uint64_t seed);
  /* What the constraints are about: fills `out` and returns how many there are, at most
   * BENCH_MAX_METRICS. NULL where there are no constraints. */
  int (*measure)(const bench_problem *problem, const cocabo_value *values,
                 cocabo_metric *out);
};

enum { BENCH_MAX_INPUTS = COCABO_MAX_PARAMETERS, BENCH_MAX_METRICS = 8 };

const bench_problem *bench_problem_at(int i);              /* NULL past the end */
const bench_problem *bench_problem_find(const char *name); /* NULL: none */

/* The problem's space; *out is owned by the caller. */
cocabo_status bench_problem_space(const bench_problem *problem, cocabo_space **out,
                                  cocabo_error *err);

/* The same space with the choices of every unordered parameter listed in an order drawn
 * from the seed: the optimiser sees other category numbers for the same labels, so the
 * problem's function needs no change. *out is owned by the caller. */
cocabo_status bench_space_permuted(const cocabo_space *space, uint64_t seed,
                                   cocabo_space **out, cocabo_error *err);

/* Calls the problem's load, if it has one; before anything is evaluated. */
cocabo_status bench_problem_load(const bench_problem *problem, cocabo_error *err);

/* The value at cells of the space (with BENCH_PROBLEM_SEED), and at the point of a
 * trial. */
double bench_value_at_cells(const bench_problem *problem, const cocabo_space *space,
                            const cb_cell *cells);
cocabo_status bench_value_of_trial(const bench_problem *problem,
                                   const cocabo_trial *trial, uint64_t seed,
                                   double *value, cocabo_error *err);

/* The same, and tells the study the value with what was measured, or that the
 * evaluation failed. *value is NaN where it failed or broke a constraint. */
cocabo_status bench_tell_trial(const bench_problem *problem, cocabo_study *study,
                               const cocabo_trial *trial, uint64_t seed, double *value,
                               cocabo_error *err);

#endif
