/* discrete.h - problems of many discrete inputs, alone or with a few numbers. */
#ifndef BENCH_PROBLEMS_DISCRETE_H
#define BENCH_PROBLEMS_DISCRETE_H

#include "problem.h"

/* Ackley over problem->c binaries and problem->d numbers, as the fields of a problem.
 */
cocabo_status binary_ackley_add_inputs(const bench_problem *problem,
                                       cocabo_space *space, cocabo_error *err);
double binary_ackley_value(const bench_problem *problem, const cocabo_value *values,
                           uint64_t seed);

/* The pressure vessel at x1 .. x4, without any penalty. */
typedef struct vessel {
  double cost;
  double shell, head; /* by how much they are thicker than the radius demands */
  double volume;
} vessel;
vessel vessel_build(const cocabo_value *values);
cocabo_status vessel_add_inputs(const bench_problem *problem, cocabo_space *space,
                                cocabo_error *err);

extern const bench_problem bench_discrete[];
extern const int bench_discrete_count;

#endif
