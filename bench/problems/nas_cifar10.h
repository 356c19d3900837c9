/* nas_cifar10.h - the paper's NAS-CIFAR10: the best cell of NAS-Bench-101. */
#ifndef BENCH_PROBLEMS_NAS_CIFAR10_H
#define BENCH_PROBLEMS_NAS_CIFAR10_H

#include "nasbench.h"
#include "problem.h"

extern const bench_problem bench_nas[];
extern const int bench_nas_count;

/* The inputs of the problem, as numbers. */
enum { NAS_CHOSEN = NAS_MAX_VERTICES - 2 }; /* operations */
enum { NAS_PAIRS = NAS_MAX_VERTICES * (NAS_MAX_VERTICES - 1) / 2 };

/* The cell of seven vertices with these operations and the `edges` edges of largest
 * weight; ties go to the lower index. Pairs of vertices are numbered along the upper
 * triangle of the adjacency matrix, row by row. */
nas_cell nas_cell_of(const int operations[NAS_CHOSEN], const double weights[NAS_PAIRS],
                     int edges);

#endif
