/* nu_svr.c - trains a regression with libsvm and predicts the test rows. Without
 * libsvm at build time it fails with a sentence. */
#include "problems/nu_svr.h"

#include "base/status.h"

#ifdef BENCH_SVM

#include <svm.h>

#include "base/mem.h"

cocabo_status bench_nu_svr_available(cocabo_error *err) {
  (void)err;
  return COCABO_OK;
}

static void say_nothing(const char *text) {
  (void)text;
}

/* libsvm's rows: pairs of index and value, closed by the index -1. */
static void list_row(const double *x, size_t d, struct svm_node *nodes) {
  for (size_t j = 0; j < d; j++)
    nodes[j] = (struct svm_node){.index = (int)j + 1, .value = x[j]};
  nodes[d] = (struct svm_node){.index = -1};
}

static struct svm_parameter parameters_of(const bench_nu_svr *settings) {
  static const int kernels[] = {LINEAR, POLY, RBF, SIGMOID};
  return (struct svm_parameter){.svm_type = NU_SVR,
                                .kernel_type = kernels[settings->kernel],
                                .degree = 3,
                                .gamma = settings->gamma,
                                .cache_size = 200.0, /* megabytes */
                                .eps = settings->tolerance,
                                .C = settings->C,
                                .nu = settings->nu,
                                .shrinking = settings->shrinking};
}

/* What libsvm borrows of the training rows while there is a model. */
typedef struct fit {
  struct svm_node *nodes; /* (d + 1) a row, and as many for a row to be predicted */
  struct svm_node **rows; /* n: where each begins */
} fit;

static cocabo_status run(const struct svm_parameter *parameters,
                         const bench_regression *rows, const fit *f,
                         double *predictions, cocabo_error *err) {
  const size_t n = rows->train.n, d = rows->train.d;
  const struct svm_problem problem = {.l = (int)n, .y = rows->train.y, .x = f->rows};
  const char *complaint = svm_check_parameter(&problem, parameters);
  if (complaint)
    return cb_fail(err, COCABO_E_INVALID, "libsvm: %s", complaint);
  svm_set_print_string_function(say_nothing);
  struct svm_model *model = svm_train(&problem, parameters);
  struct svm_node *row = f->nodes + n * (d + 1);
  for (size_t i = 0; i < rows->test.n; i++) {
    list_row(rows->test.X + i * d, d, row);
    predictions[i] = svm_predict(model, row);
  }
  svm_free_and_destroy_model(&model);
  return COCABO_OK;
}

cocabo_status bench_nu_svr_predict(const bench_nu_svr *settings,
                                   const bench_regression *rows, double *predictions,
                                   cocabo_error *err) {
  const size_t n = rows->train.n, width = rows->train.d + 1;
  const struct svm_parameter parameters = parameters_of(settings);
  const fit f = {.nodes = cb_calloc((n + 1) * width, sizeof *f.nodes),
                 .rows = cb_calloc(n, sizeof(struct svm_node *))};
  cocabo_status status = f.nodes && f.rows ? COCABO_OK : cb_no_memory(err);
  for (size_t i = 0; i < n && status == COCABO_OK; i++) {
    f.rows[i] = f.nodes + i * width;
    list_row(rows->train.X + i * rows->train.d, rows->train.d, f.rows[i]);
  }
  if (status == COCABO_OK)
    status = run(&parameters, rows, &f, predictions, err);
  cb_free(f.nodes);
  cb_free(f.rows);
  return status;
}

#else

cocabo_status bench_nu_svr_available(cocabo_error *err) {
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "svm-boston needs libsvm, and this program was built without it: "
                 "install Debian's libsvm-dev, then configure with -DCOCABO_SVM=ON");
}

cocabo_status bench_nu_svr_predict(const bench_nu_svr *settings,
                                   const bench_regression *rows, double *predictions,
                                   cocabo_error *err) {
  (void)settings, (void)rows, (void)predictions;
  return bench_nu_svr_available(err);
}

#endif
