/* network.h - a network of one hidden layer with dropout, and how it learns.
 *
 *   a_h  = act(b_h + sum_j W_jh m_j x_j)          h < hidden
 *   yhat = b + sum_h w_h m_h a_h
 *
 * The masks m are 0 with the dropout's probability p and 1/(1-p) otherwise, for every
 * input and every hidden unit. A row has masks of its own, drawn anew each time it is
 * seen.
 *
 * Rows are dealt with one by one and all loops run along the hidden units: with a
 * handful of inputs that is as quick as products of matrices, needs no workspace and
 * has one order of summation.
 */
#ifndef BENCH_PROBLEMS_NETWORK_H
#define BENCH_PROBLEMS_NETWORK_H

#include <stddef.h>

#include "base/rng.h"

enum {
  BENCH_NETWORK_INPUTS = 6,
  BENCH_NETWORK_HIDDEN = 128,
  BENCH_NETWORK_WEIGHTS =
      (BENCH_NETWORK_INPUTS + 2) * BENCH_NETWORK_HIDDEN + 1 /* the most of each */
};

typedef enum bench_activation {
  BENCH_RELU,
  BENCH_TANH,
  BENCH_SIGMOID
} bench_activation;

typedef struct bench_network {
  int inputs, hidden; /* at most the constants above */
  bench_activation activation;
  /* W (a row of `hidden` numbers for each input), then b_h, w_h, b. */
  double weights[BENCH_NETWORK_WEIGHTS];
} bench_network;

int bench_network_size(const bench_network *network); /* weights in use */

/* Uniform weights: He et al. for relu, Glorot and Bengio for the others, that is in
 * +-sqrt(6 / fan_in) and +-sqrt(6 / (fan_in + fan_out)). Biases start at 0. */
void bench_network_start(bench_network *network, cb_rng *rng);

typedef struct bench_masks {
  double inputs[BENCH_NETWORK_INPUTS];
  double hidden[BENCH_NETWORK_HIDDEN];
} bench_masks;

/* Inputs first, one draw each. */
void bench_masks_draw(bench_masks *masks, const bench_network *network, double dropout,
                      cb_rng *rng);

double bench_network_predict(const bench_network *network, const bench_masks *masks,
                             const double *x);

/* Adds factor d(yhat - y)^2/d(weights) to the gradient; returns yhat. */
double bench_network_learn(const bench_network *network, const bench_masks *masks,
                           const double *x, double y, double factor, double *gradient);

/* ---- optimisers, in their usual form with g the gradient and r the rate:
 *
 *   sgd       w -= r g
 *   adam      m = 0.9 m + 0.1 g,  v = 0.999 v + 0.001 g^2,
 *             w -= r (m / (1 - 0.9^t)) / (sqrt(v / (1 - 0.999^t)) + 1e-7)
 *   rmsprop   v = 0.9 v + 0.1 g^2,  w -= r g / (sqrt(v) + 1e-7)
 *   adagrad   v = v + g^2,          w -= r g / (sqrt(v) + 1e-7)
 *
 * with m and v zero at first and t = 1, 2, ... */
typedef enum bench_optimiser_kind {
  BENCH_SGD,
  BENCH_ADAM,
  BENCH_RMSPROP,
  BENCH_ADAGRAD
} bench_optimiser_kind;

/* Starts with the kind and the rate, and zeros. */
typedef struct bench_optimiser {
  bench_optimiser_kind kind;
  double rate;
  int steps; /* t */
  double m[BENCH_NETWORK_WEIGHTS], v[BENCH_NETWORK_WEIGHTS];
} bench_optimiser;

void bench_optimiser_step(bench_optimiser *optimiser, int n, const double *gradient,
                          double *weights);

/* log (1/n) sum_s N(y; yhat_s, variance): the density of y under n stochastic passes.
 */
double bench_log_density(const double *yhat, int n, double y, double variance);

#endif
