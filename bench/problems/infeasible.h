/* infeasible.h - problems that break off in part of their space, or measure how far a
 * point is from being allowed. */
#ifndef BENCH_PROBLEMS_INFEASIBLE_H
#define BENCH_PROBLEMS_INFEASIBLE_H

#include "problem.h"

extern const bench_problem bench_infeasible[];
extern const int bench_infeasible_count;

#endif
