/* svm_boston.h - the settings of a support vector regression on the Boston housing
 * data.
 */
#ifndef BENCH_PROBLEMS_SVM_BOSTON_H
#define BENCH_PROBLEMS_SVM_BOSTON_H

#include "problem.h"
#include "problems/regression.h"

extern const bench_problem bench_svm_boston[];
extern const int bench_svm_boston_count;

/* The data as the problem has it: 354 rows to learn from, 152 to be tested on, inputs
 * in [0, 1]. Borrowed; NULL until the problem is loaded. */
const bench_regression *bench_svm_boston_rows(void);

#endif
