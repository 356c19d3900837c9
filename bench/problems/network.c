/* network.c - the passes of the network of network.h, forwards and backwards, and the
 * steps of its optimisers. */
#include "problems/network.h"

#include <assert.h>
#include <math.h>

#include "base/vexp.h"

static const double two_pi = 0x1.921fb54442d18p+2;

/* ---- weights -------------------------------------------------------------------- */

int bench_network_size(const bench_network *network) {
  return (network->inputs + 2) * network->hidden + 1;
}

/* Where the parts begin, see network.h. */
static int hidden_biases(const bench_network *network) {
  return network->inputs * network->hidden;
}

static int output_weights(const bench_network *network) {
  return hidden_biases(network) + network->hidden;
}

static int output_bias(const bench_network *network) {
  return output_weights(network) + network->hidden;
}

static double start_range(bench_activation activation, int fan_in, int fan_out) {
  return sqrt(6.0 / (activation == BENCH_RELU ? fan_in : fan_in + fan_out));
}

static void draw_weights(double *weights, int n, double range, cb_rng *rng) {
  for (int i = 0; i < n; i++)
    weights[i] = range * (2.0 * cb_rng_uniform(rng) - 1.0);
}

void bench_network_start(bench_network *network, cb_rng *rng) {
  const int inputs = network->inputs, hidden = network->hidden;
  assert(inputs <= BENCH_NETWORK_INPUTS && hidden <= BENCH_NETWORK_HIDDEN);
  for (int i = 0; i < bench_network_size(network); i++)
    network->weights[i] = 0.0;
  draw_weights(network->weights, inputs * hidden,
               start_range(network->activation, inputs, hidden), rng);
  draw_weights(network->weights + output_weights(network), hidden,
               start_range(network->activation, hidden, 1), rng);
}

/* ---- forwards ------------------------------------------------------------------- */

static void draw_mask(double *mask, int n, double dropout, cb_rng *rng) {
  const double kept = 1.0 / (1.0 - dropout);
  for (int i = 0; i < n; i++)
    mask[i] = cb_rng_uniform(rng) < dropout ? 0.0 : kept;
}

void bench_masks_draw(bench_masks *masks, const bench_network *network, double dropout,
                      cb_rng *rng) {
  draw_mask(masks->inputs, network->inputs, dropout, rng);
  draw_mask(masks->hidden, network->hidden, dropout, rng);
}

/* Both from e = exp(-|.|), which vectorises; libm's tanh takes most of the time. */
static double sigmoid(double z) {
  const double e = cb_exp_neg(-fabs(z));
  return (z < 0.0 ? e : 1.0) / (1.0 + e);
}

static double hyperbolic_tangent(double z) {
  const double e = cb_exp_neg(-2.0 * fabs(z));
  return copysign((1.0 - e) / (1.0 + e), z);
}

static void activate(bench_activation activation, int n, double *z) {
  switch (activation) {
  case BENCH_RELU:
    for (int h = 0; h < n; h++)
      z[h] = z[h] < 0.0 ? 0.0 : z[h]; /* NaN stays */
    return;
  case BENCH_TANH:
    for (int h = 0; h < n; h++)
      z[h] = hyperbolic_tangent(z[h]);
    return;
  case BENCH_SIGMOID:
    for (int h = 0; h < n; h++)
      z[h] = sigmoid(z[h]);
    return;
  }
}

/* a <- the hidden units' values before their mask; returns yhat. */
static double forward(const bench_network *network, const bench_masks *masks,
                      const double *x, double *restrict a) {
  const int hidden = network->hidden;
  const double *bias = network->weights + hidden_biases(network);
  const double *w = network->weights + output_weights(network);
  for (int h = 0; h < hidden; h++)
    a[h] = bias[h];
  for (int j = 0; j < network->inputs; j++) {
    const double *row = network->weights + j * hidden;
    const double input = masks->inputs[j] * x[j];
    for (int h = 0; h < hidden; h++)
      a[h] += input * row[h];
  }
  activate(network->activation, hidden, a);
  double yhat = network->weights[output_bias(network)];
  for (int h = 0; h < hidden; h++)
    yhat += w[h] * masks->hidden[h] * a[h];
  return yhat;
}

double bench_network_predict(const bench_network *network, const bench_masks *masks,
                             const double *x) {
  double a[BENCH_NETWORK_HIDDEN];
  return forward(network, masks, x, a);
}

/* ---- backwards ------------------------------------------------------------------ */

/* a <- da/dz as a function of a itself. */
static void derive(bench_activation activation, int n, double *a) {
  switch (activation) {
  case BENCH_RELU:
    for (int h = 0; h < n; h++)
      a[h] = (double)(a[h] > 0.0);
    return;
  case BENCH_TANH:
    for (int h = 0; h < n; h++)
      a[h] = 1.0 - a[h] * a[h];
    return;
  case BENCH_SIGMOID:
    for (int h = 0; h < n; h++)
      a[h] = a[h] * (1.0 - a[h]);
    return;
  }
}

/* With delta = factor d(yhat - y)^2/d yhat; the hidden units' share of it is, after
 * `derive`, delta w_h m_h a'_h. */
double bench_network_learn(const bench_network *network, const bench_masks *masks,
                           const double *x, double y, double factor,
                           double *restrict gradient) {
  const int hidden = network->hidden;
  double a[BENCH_NETWORK_HIDDEN];
  const double yhat = forward(network, masks, x, a);
  const double delta = 2.0 * factor * (yhat - y);
  const double *w = network->weights + output_weights(network);
  double *w_gradient = gradient + output_weights(network);
  double *bias_gradient = gradient + hidden_biases(network);

  gradient[output_bias(network)] += delta;
  for (int h = 0; h < hidden; h++)
    w_gradient[h] += delta * masks->hidden[h] * a[h];
  derive(network->activation, hidden, a);
  for (int h = 0; h < hidden; h++)
    a[h] *= delta * w[h] * masks->hidden[h];
  for (int h = 0; h < hidden; h++)
    bias_gradient[h] += a[h];
  for (int j = 0; j < network->inputs; j++) {
    double *row = gradient + j * hidden;
    const double input = masks->inputs[j] * x[j];
    for (int h = 0; h < hidden; h++)
      row[h] += input * a[h];
  }
  return yhat;
}

/* ---- optimisers ----------------------------------------------------------------- */

static const double epsilon = 1e-7;

static void step_adam(bench_optimiser *o, int n, const double *restrict g,
                      double *restrict w) {
  const double m_scale = 1.0 / (1.0 - pow(0.9, o->steps));
  const double v_scale = 1.0 / (1.0 - pow(0.999, o->steps));
  for (int i = 0; i < n; i++) {
    o->m[i] = 0.9 * o->m[i] + (1.0 - 0.9) * g[i];
    o->v[i] = 0.999 * o->v[i] + (1.0 - 0.999) * g[i] * g[i];
    w[i] -= o->rate * m_scale * o->m[i] / (sqrt(v_scale * o->v[i]) + epsilon);
  }
}

/* RMSprop and AdaGrad: v = decay v + share g^2. */
static void step_by_squares(bench_optimiser *o, double decay, double share, int n,
                            const double *restrict g, double *restrict w) {
  for (int i = 0; i < n; i++) {
    o->v[i] = decay * o->v[i] + share * g[i] * g[i];
    w[i] -= o->rate * g[i] / (sqrt(o->v[i]) + epsilon);
  }
}

void bench_optimiser_step(bench_optimiser *optimiser, int n, const double *gradient,
                          double *weights) {
  optimiser->steps++;
  switch (optimiser->kind) {
  case BENCH_SGD:
    for (int i = 0; i < n; i++)
      weights[i] -= optimiser->rate * gradient[i];
    return;
  case BENCH_ADAM:
    step_adam(optimiser, n, gradient, weights);
    return;
  case BENCH_RMSPROP:
    step_by_squares(optimiser, 0.9, 1.0 - 0.9, n, gradient, weights);
    return;
  case BENCH_ADAGRAD:
    step_by_squares(optimiser, 1.0, 1.0, n, gradient, weights);
    return;
  }
}

/* ---- the value of predictions --------------------------------------------------- */

/* Relative to the nearest prediction, whose term is 1: nothing underflows to log 0. */
double bench_log_density(const double *yhat, int n, double y, double variance) {
  double nearest = INFINITY, sum = 0.0;
  for (int s = 0; s < n; s++)
    nearest = fmin(nearest, (yhat[s] - y) * (yhat[s] - y));
  for (int s = 0; s < n; s++)
    sum += exp((nearest - (yhat[s] - y) * (yhat[s] - y)) / (2.0 * variance));
  return log(sum / n) - nearest / (2.0 * variance) - 0.5 * log(two_pi * variance);
}
