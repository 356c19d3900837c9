/* problem.c - the suite: all problems of problems/ in one list, the space of a
 * problem, and the same space with its inputs permuted. */
#include "problem.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "problems/discrete.h"
#include "problems/infeasible.h"
#include "problems/nas_cifar10.h"
#include "problems/nn_yacht.h"
#include "problems/simulated.h"
#include "problems/svm_boston.h"
#include "problems/synthetic.h"
#include "problems/xgb_mnist.h"

cb_rng bench_rng(uint64_t seed, uint32_t stream, uint32_t number) {
  return cb_rng_make(seed, CB_RNG_BENCH, (uint64_t)stream << 32 | number);
}

/* ---- the suite ------------------------------------------------------------------ */

static const struct {
  const bench_problem *problems;
  const int *count;
} files[] = {{bench_synthetic, &bench_synthetic_count},
             {bench_discrete, &bench_discrete_count},
             {bench_simulated, &bench_simulated_count},
             {bench_svm_boston, &bench_svm_boston_count},
             {bench_xgb_mnist, &bench_xgb_mnist_count},
             {bench_nas, &bench_nas_count},
             {bench_nn_yacht, &bench_nn_yacht_count},
             {bench_infeasible, &bench_infeasible_count}};

const bench_problem *bench_problem_at(int i) {
  if (i < 0)
    return NULL;
  for (size_t f = 0; f < sizeof files / sizeof files[0]; i -= *files[f].count, f++)
    if (i < *files[f].count)
      return &files[f].problems[i];
  return NULL;
}

const bench_problem *bench_problem_find(const char *name) {
  const bench_problem *problem;
  for (int i = 0; (problem = bench_problem_at(i)); i++)
    if (strcmp(problem->name, name) == 0)
      return problem;
  return NULL;
}

/* ---- spaces --------------------------------------------------------------------- */

/* Keeps a space that was built without failure, releases it otherwise. */
static cocabo_status publish(cocabo_space *space, cocabo_status status,
                             cocabo_space **out) {
  if (status == COCABO_OK)
    *out = space;
  else
    cocabo_space_free(space);
  return status;
}

cocabo_status bench_problem_space(const bench_problem *problem, cocabo_space **out,
                                  cocabo_error *err) {
  *out = NULL;
  cocabo_space *space = cocabo_space_new();
  if (!space)
    return cb_no_memory(err);
  return publish(space, problem->add_inputs(problem, space, err), out);
}

static cocabo_status add_permuted_choice(cocabo_space *space, const cb_param *param,
                                         cb_rng rng, cocabo_error *err) {
  const int n = param->n_choices;
  int32_t order[COCABO_MAX_CHOICES];
  cocabo_value choices[COCABO_MAX_CHOICES];
  for (int i = 0; i < n; i++)
    order[i] = i;
  cb_rng_shuffle(&rng, n, order);
  for (int i = 0; i < n; i++)
    choices[i] = param->choices[order[i]];
  return cocabo_space_add_choice(space, param->name, choices, (size_t)n, 0, err);
}

static cocabo_status add_permuted(cocabo_space *space, const cb_param *param,
                                  cb_rng rng, cocabo_error *err) {
  const unsigned scale = param->log ? COCABO_LOG : 0;
  switch (param->kind) {
  case CB_REAL:
    return cocabo_space_add_real(space, param->name, param->low, param->high,
                                 param->step, scale, err);
  case CB_INTEGER:
    return cocabo_space_add_int(space, param->name, param->ilow, param->ihigh, 0, scale,
                                err);
  case CB_ORDINAL: /* its order is part of the problem */
    return cocabo_space_add_choice(space, param->name, param->choices,
                                   (size_t)param->n_choices, COCABO_ORDERED, err);
  case CB_CHOICE:
    break;
  }
  return add_permuted_choice(space, param, rng, err);
}

static cocabo_status permute_into(cocabo_space *permuted, const cocabo_space *space,
                                  uint64_t seed, cocabo_error *err) {
  for (int i = 0; i < space->n; i++)
    CB_TRY(add_permuted(permuted, &space->params[i],
                        bench_rng(seed, BENCH_STREAM_PERMUTE, (uint32_t)i), err));
  return COCABO_OK;
}

cocabo_status bench_space_permuted(const cocabo_space *space, uint64_t seed,
                                   cocabo_space **out, cocabo_error *err) {
  *out = NULL;
  cocabo_space *permuted = cocabo_space_new();
  if (!permuted)
    return cb_no_memory(err);
  return publish(permuted, permute_into(permuted, space, seed, err), out);
}

cocabo_status bench_problem_load(const bench_problem *problem, cocabo_error *err) {
  return problem->load ? problem->load(problem, err) : COCABO_OK;
}

/* ---- values --------------------------------------------------------------------- */

double bench_value_at_cells(const bench_problem *problem, const cocabo_space *space,
                            const cb_cell *cells) {
  cocabo_value values[BENCH_MAX_INPUTS];
  for (int i = 0; i < space->n; i++)
    values[i] = cb_space_from_cell(space, i, cells[i]);
  return problem->value(problem, values, BENCH_PROBLEM_SEED);
}

static cocabo_status values_of(const cocabo_trial *trial,
                               cocabo_value values[BENCH_MAX_INPUTS],
                               cocabo_error *err) {
  const char *name;
  for (size_t i = 0; i < cocabo_trial_count(trial); i++)
    CB_TRY(cocabo_trial_get(trial, i, &name, &values[i], err));
  return COCABO_OK;
}

cocabo_status bench_value_of_trial(const bench_problem *problem,
                                   const cocabo_trial *trial, uint64_t seed,
                                   double *value, cocabo_error *err) {
  cocabo_value values[BENCH_MAX_INPUTS];
  CB_TRY(values_of(trial, values, err));
  *value = problem->value(problem, values, seed);
  return COCABO_OK;
}

static cocabo_status is_feasible(const cocabo_study *study, int64_t number, bool *out,
                                 cocabo_error *err) {
  cocabo_trial *told;
  CB_TRY(cocabo_study_trial(study, number, &told, err));
  *out = cocabo_trial_feasible(told) == 1;
  cocabo_trial_free(told);
  return COCABO_OK;
}

cocabo_status bench_tell_trial(const bench_problem *problem, cocabo_study *study,
                               const cocabo_trial *trial, uint64_t seed, double *value,
                               cocabo_error *err) {
  const int64_t number = cocabo_trial_number(trial);
  cocabo_value values[BENCH_MAX_INPUTS];
  cocabo_metric metrics[BENCH_MAX_METRICS];
  bool feasible;
  CB_TRY(values_of(trial, values, err));
  *value = problem->value(problem, values, seed);
  if (isnan(*value))
    return cocabo_study_fail(study, number, problem->failure, err);
  if (!problem->measure)
    return cocabo_study_tell(study, number, *value, err);
  const int n = problem->measure(problem, values, metrics);
  CB_TRY(cocabo_study_tell_metrics(study, number, *value, metrics, (size_t)n, err));
  CB_TRY(is_feasible(study, number, &feasible, err));
  if (!feasible)
    *value = NAN;
  return COCABO_OK;
}
