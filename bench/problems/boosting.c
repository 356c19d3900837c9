/* boosting.c - trains the boosted trees of boosting.h with XGBoost's C interface and
 * counts the digits that they get right. Without XGBoost at build time it fails with a
 * sentence. */
#include "problems/boosting.h"

#include "base/status.h"

#ifdef BENCH_XGBOOST

#include <stdio.h>

#include <xgboost/c_api.h>

enum { ROUNDS = 100 };

cocabo_status bench_boosting_available(cocabo_error *err) {
  (void)err;
  return COCABO_OK;
}

/* A call of XGBoost's, which keeps the sentence of a failure to itself. */
static cocabo_status check(int result, cocabo_error *err) {
  if (result == 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_NUMERIC, "xgboost: %s", XGBGetLastError());
}

/* ---- pictures ------------------------------------------------------------------- */

static cocabo_status make_matrix(const bench_pictures *pictures, DMatrixHandle *out,
                                 cocabo_error *err) {
  char array[160];
  snprintf(array, sizeof array,
           "{\"data\": [%llu, true], \"shape\": [%zu, %d], \"typestr\": \"|u1\", "
           "\"version\": 3}",
           (unsigned long long)(uintptr_t)pictures->pixels, pictures->n,
           pictures->size);
  CB_TRY(check(
      XGDMatrixCreateFromDense(array, "{\"missing\": NaN, \"nthread\": 1}", out), err));
  return check(
      XGDMatrixSetFloatInfo(*out, "label", pictures->digits, (bst_ulong)pictures->n),
      err);
}

/* ---- learning ------------------------------------------------------------------- */

static cocabo_status set(BoosterHandle booster, const char *name, const char *value,
                         cocabo_error *err) {
  return check(XGBoosterSetParam(booster, name, value), err);
}

static cocabo_status set_number(BoosterHandle booster, const char *name, double value,
                                cocabo_error *err) {
  char text[32];
  snprintf(text, sizeof text, "%.17g", value);
  return set(booster, name, text, err);
}

static cocabo_status set_all(BoosterHandle booster, const bench_boosting *settings,
                             cocabo_error *err) {
  const char *policy = settings->lossguide ? "lossguide" : "depthwise";
  const char *objective = settings->probabilities ? "multi:softprob" : "multi:softmax";
  CB_TRY(set(booster, "verbosity", "0", err));
  CB_TRY(set(booster, "nthread", "1", err));
  CB_TRY(set(booster, "booster", "gbtree", err));
  CB_TRY(set(booster, "tree_method", "hist", err));
  CB_TRY(set(booster, "grow_policy", policy, err));
  CB_TRY(set(booster, "objective", objective, err));
  CB_TRY(set_number(booster, "num_class", BENCH_DIGITS, err));
  CB_TRY(set_number(booster, "eta", settings->eta, err));
  CB_TRY(set_number(booster, "max_depth", settings->max_depth, err));
  CB_TRY(set_number(booster, "gamma", settings->gamma, err));
  CB_TRY(set_number(booster, "subsample", settings->subsample, err));
  CB_TRY(set_number(booster, "lambda", settings->lambda, err));
  CB_TRY(set_number(booster, "max_bin", settings->max_bin, err));
  return set_number(booster, "seed", settings->seed, err);
}

static cocabo_status learn(BoosterHandle booster, const bench_boosting *settings,
                           DMatrixHandle train, cocabo_error *err) {
  CB_TRY(set_all(booster, settings, err));
  for (int round = 0; round < ROUNDS; round++)
    CB_TRY(check(XGBoosterUpdateOneIter(booster, round, train), err));
  return COCABO_OK;
}

/* ---- testing -------------------------------------------------------------------- */

static int likeliest(const float *probabilities) {
  int best = 0;
  for (int digit = 1; digit < BENCH_DIGITS; digit++)
    if (probabilities[digit] > probabilities[best])
      best = digit;
  return best;
}

static cocabo_status test(BoosterHandle booster, DMatrixHandle matrix,
                          const bench_pictures *pictures, bool probabilities,
                          double *accuracy, cocabo_error *err) {
  static const char config[] =
      "{\"type\": 0, \"training\": false, \"iteration_begin\": 0, "
      "\"iteration_end\": 0, \"strict_shape\": false}";
  const bst_ulong *shape;
  bst_ulong dimensions;
  const float *said;
  CB_TRY(check(
      XGBoosterPredictFromDMatrix(booster, matrix, config, &shape, &dimensions, &said),
      err));
  size_t right = 0;
  for (size_t i = 0; i < pictures->n; i++) {
    const int digit = probabilities ? likeliest(said + i * BENCH_DIGITS) : (int)said[i];
    right += digit == (int)pictures->digits[i];
  }
  *accuracy = (double)right / (double)pictures->n;
  return COCABO_OK;
}

/* What XGBoost makes; NULL where it has not. */
typedef struct handles {
  DMatrixHandle train, test;
  BoosterHandle booster;
} handles;

static void handles_free(handles *h) {
  if (h->booster)
    XGBoosterFree(h->booster);
  if (h->test)
    XGDMatrixFree(h->test);
  if (h->train)
    XGDMatrixFree(h->train);
}

static cocabo_status learn_and_test(handles *h, const bench_boosting *settings,
                                    const bench_mnist *mnist, double *accuracy,
                                    cocabo_error *err) {
  CB_TRY(make_matrix(&mnist->train, &h->train, err));
  CB_TRY(make_matrix(&mnist->test, &h->test, err));
  CB_TRY(check(XGBoosterCreate(&h->train, 1, &h->booster), err));
  CB_TRY(learn(h->booster, settings, h->train, err));
  return test(h->booster, h->test, &mnist->test, settings->probabilities, accuracy,
              err);
}

cocabo_status bench_boosting_accuracy(const bench_boosting *settings,
                                      const bench_mnist *mnist, double *accuracy,
                                      cocabo_error *err) {
  handles h = {0};
  const cocabo_status status = learn_and_test(&h, settings, mnist, accuracy, err);
  handles_free(&h);
  return status;
}

#else

cocabo_status bench_boosting_available(cocabo_error *err) {
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "xg-mnist needs XGBoost, and this program was built without it: "
                 "install Debian's libxgboost-dev, then configure with "
                 "-DCOCABO_XGBOOST=ON");
}

cocabo_status bench_boosting_accuracy(const bench_boosting *settings,
                                      const bench_mnist *mnist, double *accuracy,
                                      cocabo_error *err) {
  (void)settings, (void)mnist, (void)accuracy;
  return bench_boosting_available(err);
}

#endif
