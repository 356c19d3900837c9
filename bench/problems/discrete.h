/* discrete.h - problems of many discrete inputs, alone or with a few numbers. */
#ifndef BENCH_PROBLEMS_DISCRETE_H
#define BENCH_PROBLEMS_DISCRETE_H

#include "problem.h"

extern const bench_problem bench_discrete[];
extern const int bench_discrete_count;

#endif
