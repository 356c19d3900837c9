/* simulated.h - decisions in stages against a spreading population (the contamination
 * and pest control problems of the literature on combinatorial Bayesian optimisation).
 *
 * The cost is a mean over simulations whose random numbers belong to the problem: they
 * are the same for every point and every run, so a point has one value.
 */
#ifndef BENCH_PROBLEMS_SIMULATED_H
#define BENCH_PROBLEMS_SIMULATED_H

#include "problem.h"

extern const bench_problem bench_simulated[];
extern const int bench_simulated_count;

#endif
