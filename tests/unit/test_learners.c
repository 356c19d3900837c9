/* The problems that learn from data: limits, splits, support vectors, boosted trees and
 * the network with dropout, against what other software learns. */
#include "check.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/mem.h"
#include "base/rng.h"
#include "limited.h"
#include "oracle/learners.h"
#include "problem.h"
#include "problems/boosting.h"
#include "problems/inputs.h"
#include "problems/network.h"
#include "problems/nn_yacht.h"
#include "problems/nu_svr.h"
#include "problems/regression.h"
#include "problems/svm_boston.h"

enum { N_SVM = sizeof oracle_svm / sizeof oracle_svm[0] };
enum { N_BOOST = sizeof oracle_boost / sizeof oracle_boost[0] };
enum { N_NETWORK = sizeof oracle_network / sizeof oracle_network[0] };

/* Passes the test over where the data or a library is missing. */
static void pass_over_without(cocabo_status status, const cocabo_error *err) {
  if (status == COCABO_OK)
    return;
  print_message("%s\n", err->message);
  if (status != COCABO_E_NOT_FOUND)
    fail();
  skip();
}

static const bench_problem *load_or_skip(const char *name) {
  cocabo_error err;
  const bench_problem *problem = bench_problem_find(name);
  assert_non_null(problem);
  pass_over_without(bench_problem_load(problem, &err), &err);
  return problem;
}

static cocabo_value word(const char *text) {
  return (cocabo_value){COCABO_TEXT, {.text = text}};
}

/* ---- limits --------------------------------------------------------------------- */

static int touched;

static double three_quarters(const void *user) {
  touched++;
  return 0.75 * *(const double *)user;
}

static double die(const void *user) {
  (void)user;
  raise(SIGKILL);
  return 1.0;
}

static double never_return(const void *user) {
  for (volatile uint64_t i = 0;; i++)
    (void)user;
  return 1.0;
}

/* Of those that have ended. */
static double seconds_of_children(void) {
  struct rusage used;
  getrusage(RUSAGE_CHILDREN, &used);
  return (double)used.ru_utime.tv_sec + 1e-6 * (double)used.ru_utime.tv_usec;
}

static void a_limited_computation_returns_its_value_and_nothing_else(void **state) {
  (void)state;
  const double number = 1.37;
  assert_true(bench_limited(5, three_quarters, &number) == 0.75 * 1.37);
  assert_int_equal(touched, 0);
}

static void a_crash_or_a_loop_without_end_is_not_a_number(void **state) {
  (void)state;
  assert_true(isnan(bench_limited(5, die, NULL)));
  const double before = seconds_of_children();
  assert_true(isnan(bench_limited(1, never_return, NULL)));
  assert_true(seconds_of_children() - before < 3.0);
}

/* ---- tables --------------------------------------------------------------------- */

/* Numbers of the minimal standard generator. */
static double next_made_up(uint64_t *number) {
  *number = *number * 48271 % 2147483647;
  return (double)*number / 2147483647.0;
}

/* Rows made up as the oracle's are; the first n_test of them are the test set. */
static void make_up(size_t n_test, size_t n, size_t d, bench_regression *out) {
  uint64_t number = 20201;
  *out = (bench_regression){0};
  for (size_t i = 0; i < n; i++) {
    bench_rows *rows = i < n_test ? &out->test : &out->train;
    if (!rows->X) {
      rows->d = d;
      rows->X = cb_calloc(n * d, sizeof(double));
      rows->y = cb_calloc(n, sizeof(double));
      assert_true(rows->X && rows->y);
    }
    double *x = rows->X + rows->n * d;
    for (size_t j = 0; j < d; j++)
      x[j] = next_made_up(&number);
    rows->y[rows->n++] = 3.0 * x[0] - 2.0 * x[1] * x[2] + x[3] * x[3];
  }
}

enum { TABLE_ROWS = 47, TABLE_COLUMNS = 3 };
static double numbers[TABLE_ROWS * TABLE_COLUMNS];

/* Row i is (i, something, i + 1000), and the second column is never far from 5. */
static bench_matrix number_table(void) {
  uint64_t number = 77;
  for (int i = 0; i < TABLE_ROWS; i++) {
    numbers[3 * i] = i;
    numbers[3 * i + 1] = 5.0 + 0.01 * next_made_up(&number);
    numbers[3 * i + 2] = i + 1000;
  }
  return (bench_matrix){TABLE_ROWS, TABLE_COLUMNS, numbers};
}

static void count_rows(const bench_rows *rows, int seen[TABLE_ROWS]) {
  for (size_t i = 0; i < rows->n; i++) {
    const int number = (int)rows->X[2 * i];
    assert_in_range(number, 0, TABLE_ROWS - 1);
    seen[number]++;
    assert_true(rows->X[2 * i + 1] == numbers[3 * number + 1]);
    assert_true(rows->y[i] == number + 1000.0);
  }
}

static void a_split_has_every_row_once(void **state) {
  (void)state;
  const bench_matrix table = number_table();
  bench_regression split;
  cocabo_error err;
  int seen[TABLE_ROWS] = {0}, displaced = 0;
  assert_ok(bench_regression_split(&table, 0.3, 99, &split, &err));
  assert_int_equal(split.test.n, 15); /* of 14.1 */
  assert_int_equal(split.train.n, 32);
  count_rows(&split.train, seen);
  count_rows(&split.test, seen);
  for (int i = 0; i < TABLE_ROWS; i++)
    assert_int_equal(seen[i], 1);
  for (int i = 0; i < 15; i++)
    displaced += split.test.X[2 * i] != i;
  assert_true(displaced > 5);
  bench_regression_free(&split);
  assert_null(split.train.X);
}

static void splitting_survives_a_failing_allocation(void **state) {
  (void)state;
  const bench_matrix table = number_table();
  bench_regression split;
  cocabo_error err;
  cocabo_status status = COCABO_E_NO_MEMORY;
  for (long k = 0; status != COCABO_OK; k++) {
    cb_mem_fail_after(k);
    status = bench_regression_split(&table, 0.1, 99, &split, &err);
    assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
    assert_true((status == COCABO_OK) == (split.train.X != NULL));
  }
  cb_mem_fail_after(-1);
  bench_regression_free(&split);
}

static void column_range(const bench_rows *rows, size_t j, double *low, double *high) {
  *low = INFINITY;
  *high = -INFINITY;
  for (size_t i = 0; i < rows->n; i++) {
    *low = fmin(*low, rows->X[i * rows->d + j]);
    *high = fmax(*high, rows->X[i * rows->d + j]);
  }
}

static void the_training_rows_decide_the_scales(void **state) {
  (void)state;
  const bench_matrix table = number_table();
  bench_regression unit, standard;
  cocabo_error err;
  assert_ok(bench_regression_split(&table, 0.3, 99, &unit, &err));
  assert_ok(bench_regression_split(&table, 0.3, 99, &standard, &err));
  double low, high, sum = 0.0, squares = 0.0;
  column_range(&unit.train, 0, &low, &high);
  const double first = (unit.test.X[0] - low) / (high - low);
  bench_regression_to_unit(&unit);
  for (size_t j = 0; j < 2; j++) {
    column_range(&unit.train, j, &low, &high);
    assert_true(low == 0.0 && high == 1.0);
  }
  assert_close(unit.test.X[0], first, 1e-15);

  const double y = standard.test.y[3];
  bench_regression_standardise(&standard);
  const bench_scale scale = bench_regression_standardise_target(&standard);
  assert_close(standard.test.y[3] * scale.scale + scale.shift, y, 1e-14);
  for (size_t i = 0; i < standard.train.n; i++) {
    sum += standard.train.X[2 * i + 1];
    squares += standard.train.X[2 * i + 1] * standard.train.X[2 * i + 1];
  }
  assert_close(sum / 32.0, 0.0, 1e-11);
  assert_close(squares / 32.0, 1.0, 1e-11);
  bench_regression_free(&unit);
  bench_regression_free(&standard);
}

/* ---- support vectors ------------------------------------------------------------ */

static bench_nu_svr svm_settings(int i) {
  return (bench_nu_svr){.kernel = (bench_svr_kernel)oracle_svm[i].kernel,
                        .gamma = oracle_svm[i].gamma,
                        .shrinking = oracle_svm[i].shrinking,
                        .C = oracle_svm[i].C,
                        .nu = oracle_svm[i].nu,
                        .tolerance = oracle_svm[i].tolerance};
}

static void check_predictions(const char *data, const bench_regression *rows) {
  double said[160];
  int checked = 0;
  cocabo_error err;
  assert_in_range(rows->test.n, ORACLE_SHOWN, 160);
  for (int i = 0; i < N_SVM; i++) {
    if (strcmp(oracle_svm[i].data, data) != 0)
      continue;
    const bench_nu_svr settings = svm_settings(i);
    double squares = 0.0;
    assert_ok(bench_nu_svr_predict(&settings, rows, said, &err));
    for (int k = 0; k < ORACLE_SHOWN; k++)
      if (!(fabs(said[k] - oracle_svm[i].said[k]) <= 1e-9))
        fail_msg("%s, setting %d: prediction %d is %.12g, want %.12g", data, i, k,
                 said[k], oracle_svm[i].said[k]);
    for (size_t k = 0; k < rows->test.n; k++)
      squares += (said[k] - rows->test.y[k]) * (said[k] - rows->test.y[k]);
    assert_close(-squares / (double)rows->test.n, oracle_svm[i].value, 1e-10);
    checked++;
  }
  assert_int_equal(checked, 10);
}

static void support_vectors_predict_as_scikit_learn_does(void **state) {
  (void)state;
  bench_regression rows;
  cocabo_error err;
  pass_over_without(bench_nu_svr_available(&err), &err);
  make_up(20, 120, 5, &rows);
  check_predictions("made up", &rows);
  bench_regression_free(&rows);
}

static void on_boston_too(void **state) {
  (void)state;
  load_or_skip("svm-boston");
  const bench_regression *rows = bench_svm_boston_rows();
  assert_int_equal(rows->train.n, 354);
  assert_int_equal(rows->test.n, 152);
  check_predictions("boston", rows);
}

static void svm_boston_is_minus_the_squared_error(void **state) {
  (void)state;
  const char *const kernels[] = {"linear", "poly", "rbf", "sigmoid"};
  const bench_problem *problem = load_or_skip("svm-boston");
  for (int i = 0; i < N_SVM; i++) {
    if (strcmp(oracle_svm[i].data, "boston") != 0)
      continue;
    const cocabo_value values[] = {
        word(kernels[oracle_svm[i].kernel]),          word(oracle_svm[i].gamma_rule),
        word(oracle_svm[i].shrinking ? "on" : "off"), bench_real(oracle_svm[i].C),
        bench_real(oracle_svm[i].tolerance),          bench_real(oracle_svm[i].nu)};
    assert_close(problem->value(problem, values, 3), oracle_svm[i].value, 1e-9);
  }
}

static void C_and_nu_end_above_zero(void **state) {
  (void)state;
  const bench_problem *problem = load_or_skip("svm-boston");
  cocabo_value values[] = {word("rbf"),     word("scale"),    word("on"),
                           bench_real(0.0), bench_real(1e-3), bench_real(0.0)};
  const double at_zero = problem->value(problem, values, 0);
  values[3] = values[5] = bench_real(1e-3);
  assert_true(problem->value(problem, values, 0) == at_zero);
  values[3] = bench_real(2e-3);
  assert_true(problem->value(problem, values, 0) != at_zero);
}

/* A setting that libsvm refuses is a sentence, not a crash. */
static void a_refused_setting_is_named(void **state) {
  (void)state;
  bench_regression rows;
  double said[160];
  cocabo_error err;
  pass_over_without(bench_nu_svr_available(&err), &err);
  make_up(20, 120, 5, &rows);
  bench_nu_svr settings = svm_settings(0);
  settings.nu = 1.3;
  assert_fails(bench_nu_svr_predict(&settings, &rows, said, &err), COCABO_E_INVALID,
               "libsvm: nu <= 0 or nu > 1");
  cb_mem_fail_after(1);
  assert_int_equal(bench_nu_svr_predict(&settings, &rows, said, &err),
                   COCABO_E_NO_MEMORY);
  cb_mem_fail_after(-1);
  bench_regression_free(&rows);
}

/* ---- boosted trees -------------------------------------------------------------- */

static void check_pictures(const bench_pictures *pictures, int of_digit[BENCH_DIGITS]) {
  for (size_t i = 0; i < pictures->n; i++) {
    const float digit = pictures->digits[i];
    assert_true(digit >= 0.0f && digit <= 9.0f);
    of_digit[(int)digit]++;
    int ink = 0;
    for (int k = 0; k < BENCH_PIXELS; k++)
      ink += pictures->pixels[i * BENCH_PIXELS + (size_t)k] > 0;
    assert_in_range(ink, 20, 500);
  }
}

/* MNIST has 7877 ones, 6313 fives and numbers in between of the others. */
static void a_part_of_mnist_keeps_its_shares(void **state) {
  (void)state;
  bench_mnist mnist;
  cocabo_error err;
  int train[BENCH_DIGITS] = {0}, test[BENCH_DIGITS] = {0};
  pass_over_without(bench_mnist_load(0.02, &mnist, &err), &err);
  check_pictures(&mnist.train, train);
  check_pictures(&mnist.test, test);
  assert_int_equal(train[1] + test[1], 158);
  assert_int_equal(train[5] + test[5], 126);
  for (int digit = 0; digit < BENCH_DIGITS; digit++)
    assert_true(abs(7 * test[digit] - 3 * train[digit]) <= 5);
  bench_mnist_free(&mnist);
}

/* Two pictures: one pixel of ink at its place, and a ramp along the rows. */
static void smaller_pictures_have_the_means_of_squares(void **state) {
  (void)state;
  static unsigned char pixels[2 * BENCH_PIXELS], none[1];
  float digits[] = {3.0f, 4.0f};
  pixels[9 * BENCH_SIDE + 22] = 250;
  for (int k = 0; k < BENCH_PIXELS; k++)
    pixels[BENCH_PIXELS + k] = (unsigned char)(9 * (k % BENCH_SIDE));
  bench_mnist mnist = {{2, pixels, digits, BENCH_PIXELS},
                       {0, none, digits, BENCH_PIXELS}};
  bench_mnist_shrink(&mnist, 4);
  assert_int_equal(mnist.train.size, 49);
  for (int k = 0; k < 49; k++) {
    assert_int_equal(pixels[k], k == 2 * 7 + 5 ? 250 / 16 : 0);
    assert_int_equal(pixels[49 + k], (9 * (4 * (k % 7)) * 2 + 27) / 2);
  }
}

/* The dart among them is XGBoost's own there, and gbtree here: see boosting.h. */
static void trees_recognise_what_they_do_in_python(void **state) {
  (void)state;
  bench_mnist mnist;
  cocabo_error err;
  pass_over_without(bench_boosting_available(&err), &err);
  pass_over_without(bench_mnist_load(oracle_boost_fraction, &mnist, &err), &err);
  assert_int_equal(mnist.train.n, ORACLE_BOOST_TRAIN);
  assert_int_equal(mnist.test.n, ORACLE_BOOST_TEST);
  for (int i = 0; i < N_BOOST; i++) {
    const bench_boosting settings = {
        .lossguide = strcmp(oracle_boost[i].policy, "lossguide") == 0,
        .probabilities = strcmp(oracle_boost[i].objective, "softprob") == 0,
        .eta = oracle_boost[i].eta,
        .max_depth = oracle_boost[i].max_depth,
        .gamma = oracle_boost[i].gamma,
        .subsample = oracle_boost[i].subsample,
        .lambda = oracle_boost[i].lambda,
        .max_bin = ORACLE_BOOST_BINS,
        .seed = ORACLE_BOOST_SEED};
    double accuracy;
    assert_ok(bench_boosting_accuracy(&settings, &mnist, &accuracy, &err));
    assert_true(accuracy == (double)oracle_boost[i].right / ORACLE_BOOST_TEST);
  }
  bench_mnist_free(&mnist);
}

/* Of 7 x 7 pixels, and with 8 bins. */
static void xg_mnist_1_learns_from_a_hundredth(void **state) {
  (void)state;
  const bench_problem *problem = load_or_skip("xg-mnist-1");
  const cocabo_value values[] = {word("gbtree"),  word("lossguide"), word("softprob"),
                                 bench_real(0.2), cocabo_int(4),     bench_real(0.3),
                                 bench_real(0.8), bench_real(1.7)};
  const bench_boosting settings = {.lossguide = true,
                                   .probabilities = true,
                                   .eta = 0.2,
                                   .max_depth = 4,
                                   .gamma = 0.3,
                                   .subsample = 0.8,
                                   .lambda = 1.7,
                                   .max_bin = 8,
                                   .seed = 5};
  bench_mnist mnist;
  cocabo_error err;
  double want;
  assert_ok(bench_mnist_load(0.01, &mnist, &err));
  bench_mnist_shrink(&mnist, 4);
  assert_int_equal(mnist.train.n + mnist.test.n, 700);
  assert_ok(bench_boosting_accuracy(&settings, &mnist, &want, &err));
  assert_true(problem->value(problem, values, 5) == want);
  assert_in_range((int)(100.0 * want), 70, 95);
  bench_mnist_free(&mnist);
}

static void a_setting_that_xgboost_refuses_is_an_error(void **state) {
  (void)state;
  cocabo_error err;
  unsigned char pixels[2 * BENCH_PIXELS] = {0};
  float digits[] = {3.0f, 4.0f};
  const bench_pictures two = {2, pixels, digits, BENCH_PIXELS};
  const bench_mnist mnist = {two, two};
  const bench_boosting settings = {
      .eta = 0.3, .max_depth = 3, .subsample = 1.5, .max_bin = 16};
  double accuracy;
  pass_over_without(bench_boosting_available(&err), &err);
  assert_int_equal(bench_boosting_accuracy(&settings, &mnist, &accuracy, &err),
                   COCABO_E_NUMERIC);
  assert_non_null(strstr(err.message, "xgboost: "));
}

/* ---- the network with dropout --------------------------------------------------- */

static bench_training network_training(int i) {
  return (bench_training){.activation = (bench_activation)oracle_network[i].activation,
                          .optimiser =
                              (bench_optimiser_kind)oracle_network[i].optimiser,
                          .dropout = oracle_network[i].dropout,
                          .rate = oracle_network[i].rate,
                          .hidden = oracle_network[i].hidden,
                          .variance = oracle_network[i].variance};
}

enum { SMALL_INPUTS = 4, SMALL_HIDDEN = 11, SMALL_ROWS = 7 };

typedef struct small {
  bench_network network;
  bench_masks masks[SMALL_ROWS];
  double x[SMALL_ROWS][SMALL_INPUTS], y[SMALL_ROWS];
} small;

static small make_small(bench_activation activation) {
  small s = {.network = {SMALL_INPUTS, SMALL_HIDDEN, activation, {0}}};
  cb_rng rng = bench_rng(5, 99, (uint32_t)activation);
  bench_network_start(&s.network, &rng);
  for (int i = 0; i < bench_network_size(&s.network); i++)
    s.network.weights[i] += 0.1 * cb_rng_normal(&rng); /* biases too */
  for (int i = 0; i < SMALL_ROWS; i++) {
    bench_masks_draw(&s.masks[i], &s.network, 0.3, &rng);
    for (int j = 0; j < SMALL_INPUTS; j++)
      s.x[i][j] = cb_rng_normal(&rng);
    s.y[i] = cb_rng_normal(&rng);
  }
  return s;
}

static double small_loss(const small *s) {
  double sum = 0.0;
  for (int i = 0; i < SMALL_ROWS; i++) {
    const double off =
        bench_network_predict(&s->network, &s->masks[i], s->x[i]) - s->y[i];
    sum += off * off;
  }
  return 0.37 * sum;
}

static void gradients_through_dropout_agree_with_central_differences(void **state) {
  (void)state;
  const double step = 1e-5;
  for (bench_activation a = BENCH_RELU; a <= BENCH_SIGMOID; a++) {
    small s = make_small(a);
    double gradient[BENCH_NETWORK_WEIGHTS] = {0};
    for (int i = 0; i < SMALL_ROWS; i++)
      assert_true(bench_network_learn(&s.network, &s.masks[i], s.x[i], s.y[i], 0.37,
                                      gradient) ==
                  bench_network_predict(&s.network, &s.masks[i], s.x[i]));
    for (int i = 0; i < bench_network_size(&s.network); i++) {
      const double kept = s.network.weights[i];
      s.network.weights[i] = kept + step;
      const double up = small_loss(&s);
      s.network.weights[i] = kept - step;
      const double down = small_loss(&s);
      s.network.weights[i] = kept;
      assert_close(gradient[i], (up - down) / (2.0 * step), 1e-8);
    }
  }
}

static void masks_keep_the_mean(void **state) {
  (void)state;
  const double dropout = 0.23;
  small s = make_small(BENCH_TANH);
  cb_rng rng = bench_rng(8, 99, 0);
  double sum = 0.0;
  int dropped = 0;
  enum { DRAWS = 4000 };
  for (int k = 0; k < DRAWS; k++) {
    bench_masks_draw(&s.masks[0], &s.network, dropout, &rng);
    for (int h = 0; h < SMALL_HIDDEN; h++) {
      const double mask = s.masks[0].hidden[h];
      assert_true(mask == 0.0 || mask == 1.0 / (1.0 - dropout));
      sum += mask;
      dropped += mask == 0.0;
    }
  }
  assert_close(sum / (DRAWS * SMALL_HIDDEN), 1.0, 0.01);
  assert_close((double)dropped / (DRAWS * SMALL_HIDDEN), dropout, 0.01);
}

static void optimisers_step_by_the_rules(void **state) {
  (void)state;
  const double gradients[3][3] = {
      {0.731, -0.0213, 1.9e-5}, {-0.117, 0.391, 2.3e-4}, {0.0457, 0.283, -6.1e-6}};
  for (int i = 0; i < 4; i++) {
    bench_optimiser o = {.kind = (bench_optimiser_kind)oracle_steps[i].optimiser,
                         .rate = 0.0371};
    double weights[] = {0.217, -1.31, 0.0593};
    for (int t = 0; t < 3; t++)
      bench_optimiser_step(&o, 3, gradients[t], weights);
    for (int k = 0; k < 3; k++)
      assert_close(weights[k], oracle_steps[i].weights[k], 1e-14);
  }
}

static void log_densities_agree_with_the_oracle(void **state) {
  (void)state;
  for (int i = 0; i < 5; i++)
    assert_relative(bench_log_density(oracle_densities[i].said, oracle_densities[i].n,
                                      oracle_densities[i].y,
                                      oracle_densities[i].variance),
                    oracle_densities[i].value, 1e-14);
}

static void the_network_learns_what_it_does_in_numpy(void **state) {
  (void)state;
  bench_regression rows;
  int checked = 0;
  make_up(6, 160, 4, &rows);
  for (int i = 0; i < N_NETWORK; i++) {
    const bench_training training = network_training(i);
    if (strcmp(oracle_network[i].data, "made up") != 0)
      continue;
    assert_close(bench_train_and_test(&training, &rows, oracle_network[i].seed),
                 oracle_network[i].value, 1e-11);
    checked++;
  }
  assert_int_equal(checked, 12); /* 3 activations, 4 optimisers */
  bench_regression_free(&rows);
}

/* Yacht's value in the order of its inputs. */
static double yacht_value(const bench_problem *problem, const bench_training *t,
                          uint64_t seed) {
  const char *const activations[] = {"relu", "tanh", "sigmoid"};
  const char *const optimisers[] = {"sgd", "adam", "rmsprop", "adagrad"};
  const cocabo_value values[] = {word(activations[t->activation]),
                                 word(optimisers[t->optimiser]),
                                 bench_real(t->dropout),
                                 bench_real(t->rate),
                                 bench_int(t->hidden),
                                 bench_real(t->variance)};
  return problem->value(problem, values, seed);
}

static void on_yacht_too(void **state) {
  (void)state;
  const bench_problem *problem = load_or_skip("nn-yacht");
  for (int i = 0; i < N_NETWORK; i++) {
    const bench_training training = network_training(i);
    const uint64_t seed = oracle_network[i].seed;
    if (strcmp(oracle_network[i].data, "yacht") != 0)
      continue;
    const double value = yacht_value(problem, &training, seed);
    assert_close(value, oracle_network[i].value, 1e-10);
    assert_true(yacht_value(problem, &training, seed) == value);
    assert_true(yacht_value(problem, &training, seed + 1) != value);
  }
}

static void training_that_diverges_is_a_failure(void **state) {
  (void)state;
  bench_regression rows;
  make_up(6, 160, 4, &rows);
  bench_training training = network_training(0); /* relu by sgd */
  training.rate = 1e12;
  assert_true(isnan(bench_train_and_test(&training, &rows, 0)));
  bench_regression_free(&rows);
}

static void nn_yacht_has_its_optimum_at_known_settings(void **state) {
  (void)state;
  const bench_problem *problem = load_or_skip("nn-yacht");
  const bench_training training = {.activation = BENCH_RELU,
                                   .optimiser = BENCH_ADAM,
                                   .dropout = 0.001,
                                   .rate = 0.082228015108425034,
                                   .hidden = 49,
                                   .variance = 0.2};
  assert_close(yacht_value(problem, &training, 0), problem->optimum, 1e-9);
}

/* Failing evaluations are told with a reason. */
static void every_failure_has_its_sentence(void **state) {
  (void)state;
  const char *const names[] = {"svm-boston", "xg-mnist", "xg-mnist-10", "xg-mnist-1",
                               "nn-yacht"};
  for (int i = 0; i < 5; i++)
    assert_true(strlen(bench_problem_find(names[i])->failure) > 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_limited_computation_returns_its_value_and_nothing_else),
      cmocka_unit_test(a_crash_or_a_loop_without_end_is_not_a_number),
      cmocka_unit_test(a_split_has_every_row_once),
      cmocka_unit_test(splitting_survives_a_failing_allocation),
      cmocka_unit_test(the_training_rows_decide_the_scales),
      cmocka_unit_test(support_vectors_predict_as_scikit_learn_does),
      cmocka_unit_test(on_boston_too),
      cmocka_unit_test(svm_boston_is_minus_the_squared_error),
      cmocka_unit_test(C_and_nu_end_above_zero),
      cmocka_unit_test(a_refused_setting_is_named),
      cmocka_unit_test(a_part_of_mnist_keeps_its_shares),
      cmocka_unit_test(smaller_pictures_have_the_means_of_squares),
      cmocka_unit_test(trees_recognise_what_they_do_in_python),
      cmocka_unit_test(xg_mnist_1_learns_from_a_hundredth),
      cmocka_unit_test(a_setting_that_xgboost_refuses_is_an_error),
      cmocka_unit_test(gradients_through_dropout_agree_with_central_differences),
      cmocka_unit_test(masks_keep_the_mean),
      cmocka_unit_test(optimisers_step_by_the_rules),
      cmocka_unit_test(log_densities_agree_with_the_oracle),
      cmocka_unit_test(the_network_learns_what_it_does_in_numpy),
      cmocka_unit_test(on_yacht_too),
      cmocka_unit_test(training_that_diverges_is_a_failure),
      cmocka_unit_test(nn_yacht_has_its_optimum_at_known_settings),
      cmocka_unit_test(every_failure_has_its_sentence),
  };
  return cmocka_run_group_tests_name("bench/learners", tests, NULL, NULL);
}
