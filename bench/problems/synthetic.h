/* synthetic.h - the paper's synthetic problems: raw functions, and the table of them.
 */
#ifndef BENCH_PROBLEMS_SYNTHETIC_H
#define BENCH_PROBLEMS_SYNTHETIC_H

#include "problem.h"

/* Func-2C and Func-3C at x in [-1,1]^2: the sum of one function a category, negated.
 *   h[0]  ros cam bea                  0 <= h[0] < 3
 *   h[1]  ros cam bea bea bea          0 <= h[1] < 5
 *   h[2]  5 cam, 2 ros, 2 bea, 3 bea   0 <= h[2] < 4, Func-3C only */
double func2c_raw(const double x[2], const int h[2]);
double func3c_raw(const double x[2], const int h[3]);

/* The n-dimensional Ackley function (20, 0.2, 2 pi), negated: exactly 0 at z = 0, and
 * with full relative accuracy near it. */
double ackley_raw(int n, const double *z);

enum { ACKLEY_LEVELS = 17 }; /* choice j of an Ackley category is ... */
double ackley_level(int j);  /* z = -1 + 0.125 j */

/* Func-cC with c = problem->c, as the fields of a problem: h1 .. hc x1 x2, the category
 * j of label h_j. */
cocabo_status func_add_inputs(const bench_problem *problem, cocabo_space *space,
                              cocabo_error *err);
double func_value(const bench_problem *problem, const cocabo_value *values,
                  uint64_t seed);

extern const bench_problem bench_synthetic[];
extern const int bench_synthetic_count;

#endif
