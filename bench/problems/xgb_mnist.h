/* xgb_mnist.h - the settings of boosted trees that recognise handwritten digits. */
#ifndef BENCH_PROBLEMS_XGB_MNIST_H
#define BENCH_PROBLEMS_XGB_MNIST_H

#include "problem.h"

extern const bench_problem bench_xgb_mnist[];
extern const int bench_xgb_mnist_count;

#endif
