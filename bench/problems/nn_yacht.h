/* nn_yacht.h - the settings of a network with dropout on the yacht hydrodynamics data,
 * valued by the density that its stochastic passes give the test rows.
 */
#ifndef BENCH_PROBLEMS_NN_YACHT_H
#define BENCH_PROBLEMS_NN_YACHT_H

#include "problem.h"
#include "problems/network.h"
#include "problems/regression.h"

extern const bench_problem bench_nn_yacht[];
extern const int bench_nn_yacht_count;

typedef struct bench_training {
  bench_activation activation;
  bench_optimiser_kind optimiser;
  double dropout; /* of inputs and hidden units alike */
  double rate;
  int hidden;
  double variance; /* of the noise, in units of the standardised target */
} bench_training;

/* Trains on the training rows, all columns standardised, for 20 epochs of batches of
 * 128 in an order drawn anew each time; returns the mean over the test rows of the log
 * density of their target under 100 passes. NaN if a prediction is not finite. Random
 * numbers are drawn from BENCH_STREAM_NETWORK of the seed. */
double bench_train_and_test(const bench_training *training,
                            const bench_regression *rows, uint64_t seed);

#endif
