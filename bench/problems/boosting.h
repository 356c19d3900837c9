/* boosting.h - a classifier of digits by boosted trees, by XGBoost.
 *
 * A hundred rounds of ten trees each, grown on histograms (tree_method hist), by one
 * thread. The objectives multi:softmax and multi:softprob learn the same trees; they
 * differ in what is predicted, the digit or the probability of each.
 *
 * The booster dart drops no tree unless it is told how many (rate_drop is 0), and then
 * it is gbtree; only XGBoost predicts with all trees anew in each of its rounds, which
 * takes 25 times as long. So dart is learnt as gbtree. The one thing that differs is
 * which rows a `subsample` below 1 happens to draw.
 */
#ifndef BENCH_PROBLEMS_BOOSTING_H
#define BENCH_PROBLEMS_BOOSTING_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "problems/mnist.h"

typedef struct bench_boosting {
  bool lossguide;     /* grow_policy lossguide, else depthwise */
  bool probabilities; /* objective multi:softprob, else multi:softmax */
  double eta;         /* [0, 1] */
  int max_depth;      /* > 0 */
  double gamma;       /* >= 0 */
  double subsample;   /* (0, 1] */
  double lambda;      /* >= 0 */
  int max_bin;        /* > 1 */
  uint32_t seed;      /* < 2^31 */
} bench_boosting;

/* Fails if this program was built without XGBoost, and says what brings it. */
cocabo_status bench_boosting_available(cocabo_error *err);

/* Learns from the training pictures; *accuracy is the share of the test pictures that
 * are recognised. There is no limit to the time it takes (see limited.h). */
cocabo_status bench_boosting_accuracy(const bench_boosting *settings,
                                      const bench_mnist *mnist, double *accuracy,
                                      cocabo_error *err);

#endif
