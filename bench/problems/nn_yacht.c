/* nn_yacht.c - the problem nn-yacht: trains the network of network.h on the yacht data
 * and values the test rows by stochastic passes. Seeds are fixed, so a point has one
 * value. */
#include "problems/nn_yacht.h"

#include <assert.h>
#include <math.h>

#include "base/rng.h"
#include "base/status.h"
#include "problems/inputs.h"

enum { COLUMNS = BENCH_NETWORK_INPUTS + 1, HEADER_LINES = 2 };
enum { EPOCHS = 20, BATCH = 128, PASSES = 100, MAX_ROWS = 512 };

/* Streams of their own, so that the same seed starts and meets the same, as far as the
 * settings allow. The numbers are those of BENCH_STREAM_NETWORK (problem.h). */
enum { WEIGHTS = 0, ORDER = 1, TRAINING = 2, TEST = 3 };

/* ---- training ------------------------------------------------------------------- */

typedef struct session {
  const bench_training *training;
  const bench_regression *rows;
  bench_network network;
  bench_optimiser optimiser;
  cb_rng order_rng, mask_rng;
} session;

/* One step along the gradient of the mean squared error of n rows. */
static void learn_batch(session *s, const int32_t *order, int n) {
  const bench_rows *rows = &s->rows->train;
  double gradient[BENCH_NETWORK_WEIGHTS] = {0};
  for (int i = 0; i < n; i++) {
    bench_masks masks;
    bench_masks_draw(&masks, &s->network, s->training->dropout, &s->mask_rng);
    bench_network_learn(&s->network, &masks, rows->X + (size_t)order[i] * rows->d,
                        rows->y[order[i]], 1.0 / n, gradient);
  }
  bench_optimiser_step(&s->optimiser, bench_network_size(&s->network), gradient,
                       s->network.weights);
}

static void learn(session *s) {
  const int n = (int)s->rows->train.n;
  int32_t order[MAX_ROWS];
  assert(n <= MAX_ROWS);
  for (int i = 0; i < n; i++)
    order[i] = i;
  for (int epoch = 0; epoch < EPOCHS; epoch++) {
    cb_rng_shuffle(&s->order_rng, n, order);
    for (int first = 0; first < n; first += BATCH)
      learn_batch(s, order + first, n - first < BATCH ? n - first : BATCH);
  }
}

static double test(session *s) {
  const bench_rows *rows = &s->rows->test;
  double sum = 0.0;
  for (size_t i = 0; i < rows->n; i++) {
    double yhat[PASSES];
    for (int pass = 0; pass < PASSES; pass++) {
      bench_masks masks;
      bench_masks_draw(&masks, &s->network, s->training->dropout, &s->mask_rng);
      yhat[pass] = bench_network_predict(&s->network, &masks, rows->X + i * rows->d);
      if (!isfinite(yhat[pass]))
        return NAN;
    }
    sum += bench_log_density(yhat, PASSES, rows->y[i], s->training->variance);
  }
  return sum / (double)rows->n;
}

double bench_train_and_test(const bench_training *training,
                            const bench_regression *rows, uint64_t seed) {
  session s = {.training = training,
               .rows = rows,
               .network = {.inputs = (int)rows->train.d,
                           .hidden = training->hidden,
                           .activation = training->activation},
               .optimiser = {.kind = training->optimiser, .rate = training->rate},
               .order_rng = bench_rng(seed, BENCH_STREAM_NETWORK, ORDER),
               .mask_rng = bench_rng(seed, BENCH_STREAM_NETWORK, TRAINING)};
  cb_rng weights_rng = bench_rng(seed, BENCH_STREAM_NETWORK, WEIGHTS);
  bench_network_start(&s.network, &weights_rng);
  learn(&s);
  s.mask_rng = bench_rng(seed, BENCH_STREAM_NETWORK, TEST);
  return test(&s);
}

/* ---- the problem: activation optimiser dropout rate neurons variance --------------
 */

static bench_regression yacht; /* of this process; test.n is 0 until it is loaded */
static double target_sd;

static cocabo_status load(const bench_problem *problem, cocabo_error *err) {
  (void)problem;
  if (yacht.test.n > 0)
    return COCABO_OK;
  CB_TRY(bench_regression_load("yacht/yacht_hydrodynamics.data", HEADER_LINES, COLUMNS,
                               0.1, BENCH_STREAM_YACHT, &yacht, err));
  bench_regression_standardise(&yacht);
  target_sd = bench_regression_standardise_target(&yacht).scale;
  return COCABO_OK;
}

static const char *const activations[] = {"relu", "tanh", "sigmoid"};
static const char *const optimisers[] = {"sgd", "adam", "rmsprop", "adagrad"};
static const double dropouts[] = {0.001, 0.005, 0.01, 0.05, 0.1, 0.5};
enum { DROPOUTS = sizeof dropouts / sizeof dropouts[0] };

static cocabo_status add_inputs(const bench_problem *problem, cocabo_space *space,
                                cocabo_error *err) {
  (void)problem;
  cocabo_value choices[DROPOUTS];
  for (int i = 0; i < DROPOUTS; i++)
    choices[i] = bench_real(dropouts[i]);
  CB_TRY(bench_add_words(space, "activation", activations, 3, err));
  CB_TRY(bench_add_words(space, "optimiser", optimisers, 4, err));
  CB_TRY(cocabo_space_add_choice(space, "dropout", choices, DROPOUTS, 0, err));
  CB_TRY(cocabo_space_add_real(space, "rate", 1e-5, 0.1, 0.0, COCABO_LOG, err));
  CB_TRY(cocabo_space_add_int(space, "neurons", 16, BENCH_NETWORK_HIDDEN, 0, COCABO_LOG,
                              err));
  return cocabo_space_add_real(space, "variance", 0.2, 0.8, 0.0, 0, err);
}

/* The density of the target in its own units is that of the standardised one over its
 * standard deviation. */
static double value(const bench_problem *problem, const cocabo_value *values,
                    uint64_t seed) {
  (void)problem;
  const bench_training training = {
      .activation = (bench_activation)bench_word_index(values[0], activations, 3),
      .optimiser = (bench_optimiser_kind)bench_word_index(values[1], optimisers, 4),
      .dropout = values[2].as.real,
      .rate = values[3].as.real,
      .hidden = (int)values[4].as.integer,
      .variance = values[5].as.real};
  return bench_train_and_test(&training, &yacht, seed) - log(target_sd);
}

/* The largest known, of 10 runs of mixed with 274 evaluations each, whose best values
 * are between -2.875 and this one: a seed has a best value of its own. Seed 0 has it;
 * tests/unit/test_learners.c has the settings. */
const bench_problem bench_nn_yacht[] = {
    {
        .name = "nn-yacht",
        .help = "a network with dropout on yacht data, log likelihood",
        .d = 3,
        .c = 3,
        .optimum = -2.8529422141030905,
        .failure = "training diverged",
        .add_inputs = add_inputs,
        .load = load,
        .value = value,
    },
};
const int bench_nn_yacht_count = sizeof bench_nn_yacht / sizeof bench_nn_yacht[0];
