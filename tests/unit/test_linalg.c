/* Triangles in blocks and one column at a time, against the definition. */
#include "check.h"

#include <stdlib.h>

#include "base/block.h"
#include "base/linalg.h"
#include "base/rng.h"

enum { N = 39, LD = 41 }; /* not a multiple of four: the last rows go alone */

/* A well-conditioned upper triangle; the lower one is poison that nobody may read. */
static void random_upper(cb_rng *rng, double *U) {
  for (int i = 0; i < N * LD; i++)
    U[i] = nan("");
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < i; j++)
      U[j + i * LD] = 0.3 * cb_rng_normal(rng);
    U[i + i * LD] = 1.5 + cb_rng_uniform(rng);
  }
}

static void block_solve_undoes_the_product(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(5, CB_RNG_BENCH, 1);
  static double U[N * LD], V[N * CB_BLOCK], B[N * CB_BLOCK], squares[CB_BLOCK];
  random_upper(&rng, U);
  for (int i = 0; i < N * CB_BLOCK; i++)
    V[i] = cb_rng_normal(&rng);
  for (int i = 0; i < N; i++)
    for (int w = 0; w < CB_BLOCK; w++) { /* B = U^T V */
      double sum = 0.0;
      for (int j = 0; j <= i; j++)
        sum += U[j + i * LD] * V[j * CB_BLOCK + w];
      B[i * CB_BLOCK + w] = sum;
    }
  cb_block_solve(N, U, LD, CB_BLOCK, B, squares);
  for (int w = 0; w < CB_BLOCK; w++) {
    double sum = 0.0;
    for (int i = 0; i < N; i++) {
      assert_close(B[i * CB_BLOCK + w], V[i * CB_BLOCK + w], 1e-9);
      sum += B[i * CB_BLOCK + w] * B[i * CB_BLOCK + w];
    }
    assert_close(squares[w], sum, 1e-13);
  }
}

/* Every width and many heights: whole tiles of rows and columns, and what is left over.
 * Columns that nobody asked for may hold anything. */
static void block_solves_of_every_width_agree_with_the_definition(void **state) {
  (void)state;
  enum { TALL = 70 };
  const int heights[] = {1, 2, 3, 4, 5, 8, 31, 32, 33, 36, 37, 64, 65, 66, 67, TALL};
  static double U[TALL * TALL], B[TALL * CB_BLOCK], want[TALL];
  double squares[CB_BLOCK];
  for (int t = 0; t < 16; t++)
    for (int width = 1; width <= CB_BLOCK; width++) {
      const int n = heights[t];
      cb_rng rng = cb_rng_make(31, CB_RNG_BENCH, (uint64_t)(100 * n + width));
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
          U[j + i * n] = j < i    ? 0.3 * cb_rng_normal(&rng)
                         : j == i ? 1.5 + cb_rng_uniform(&rng)
                                  : nan("");
      for (int i = 0; i < n * CB_BLOCK; i++)
        B[i] = i % CB_BLOCK < width ? cb_rng_normal(&rng) : nan("");
      static double right[TALL * CB_BLOCK];
      for (int i = 0; i < n * CB_BLOCK; i++)
        right[i] = B[i];
      cb_block_solve(n, U, n, width, B, squares);
      for (int w = 0; w < width; w++) {
        double sum = 0.0;
        for (int i = 0; i < n; i++) {
          want[i] = right[i * CB_BLOCK + w];
          for (int j = 0; j < i; j++)
            want[i] -= U[j + i * n] * want[j];
          want[i] /= U[i + i * n];
          assert_close(B[i * CB_BLOCK + w], want[i], 1e-10);
          sum += want[i] * want[i];
        }
        assert_close(squares[w], sum, 1e-10);
      }
    }
}

static void one_column_and_a_block_agree(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(5, CB_RNG_BENCH, 2);
  static double U[N * LD], B[N * CB_BLOCK], C[N * CB_BLOCK], squares[CB_BLOCK], w[N],
      weighed[CB_BLOCK];
  random_upper(&rng, U);
  for (int i = 0; i < N; i++) {
    w[i] = cb_rng_normal(&rng);
    for (int k = 0; k < CB_BLOCK; k++)
      B[i * CB_BLOCK + k] = C[i + k * N] = cb_rng_normal(&rng);
  }
  cb_block_weigh(N, B, w, weighed);
  for (int k = 0; k < CB_BLOCK; k++)
    assert_close(weighed[k], cb_linalg_dot(N, w, C + k * N), 1e-13);
  cb_block_solve(N, U, LD, CB_BLOCK, B, squares);
  for (int k = 0; k < CB_BLOCK; k++)
    cb_linalg_solve_ut(N, U, LD, C + k * N);
  for (int i = 0; i < N; i++)
    for (int k = 0; k < CB_BLOCK; k++)
      assert_close(B[i * CB_BLOCK + k], C[i + k * N], 1e-10);
}

/* Every size up to N: whole blocks, part blocks, and a last row on its own. */
static void factor_solve_and_invert_belong_together(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(5, CB_RNG_BENCH, 3);
  enum { MAX = 70, L = MAX + 3 };
  static double A[MAX * L], U[MAX * L], V[MAX * L], G[MAX * MAX], b[MAX], x[MAX];
  double *work = calloc(cb_block_inverse_work(MAX), sizeof *work);
  for (int n = 1; n <= MAX; n++) {
    for (int i = 0; i < n * n; i++)
      G[i] = cb_rng_normal(&rng);
    for (int i = 0; i < n; i++) { /* A = G^T G + I; below U's diagonal lies poison */
      b[i] = cb_rng_normal(&rng);
      for (int j = 0; j < n; j++) {
        A[j + i * L] = cb_linalg_dot(n, G + i * n, G + j * n) + (i == j);
        U[j + i * L] = j <= i ? A[j + i * L] : nan("");
        V[j + i * L] = nan("");
      }
    }
    assert_true(cb_block_cholesky(n, U, L, work));
    for (int i = 0; i < n; i++)
      x[i] = b[i];
    cb_linalg_solve_ut(n, U, L, x);
    cb_linalg_solve_u(n, U, L, x);
    for (int i = 0; i < n; i++)
      assert_close(cb_linalg_dot(n, A + i * L, x), b[i], 1e-9);
    cb_block_inverse(n, U, L, V, L, work);
    for (int i = 0; i < n; i++) {
      double sum = 0.0;
      for (int j = 0; j < n; j++)
        sum += (j <= i ? V[j + i * L] : V[i + j * L]) * b[j];
      assert_close(sum, x[i], 1e-9);
    }
    for (int i = 0; i < n; i++)
      for (int j = i + 1; j < n; j++) /* nobody wrote below the diagonal */
        assert_true(isnan(U[j + i * L]) && isnan(V[j + i * L]));
  }
  free(work);
}

static void what_is_not_positive_definite_is_refused(void **state) {
  (void)state;
  double work[(2 + CB_BLOCK_SPARE) * CB_BLOCK];
  double indefinite[] = {1.0, 0.0, 2.0, 1.0}, poison[] = {1.0, 0.0, 0.5, nan("")};
  double corner[] = {nan(""), 0.0, 0.5, 1.0}, huge[] = {1.0, 0.0, 0.5, INFINITY};
  assert_false(cb_block_cholesky(2, indefinite, 2, work));
  assert_false(cb_block_cholesky(2, poison, 2, work));
  assert_false(cb_block_cholesky(2, corner, 2, work));
  assert_false(cb_block_cholesky(2, huge, 2, work));
  assert_true(cb_block_cholesky(0, NULL, 1, work));
}

static void sums_of_every_length_agree_with_a_plain_loop(void **state) {
  (void)state;
  cb_rng rng = cb_rng_make(5, CB_RNG_BENCH, 4);
  double a[40], b[40];
  for (int i = 0; i < 40; i++)
    a[i] = cb_rng_normal(&rng);
  for (int n = 0; n <= 40; n++) {
    double squares = 0.0, products = 0.0;
    for (int i = 0; i < n; i++) {
      squares += a[i] * a[i];
      products += a[i] * a[39 - i];
    }
    for (int i = 0; i < n; i++)
      b[i] = a[39 - i];
    assert_close(cb_linalg_sum_squares(n, a), squares, 1e-14);
    assert_close(cb_linalg_dot(n, a, b), products, 1e-14);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_solve_undoes_the_product),
      cmocka_unit_test(block_solves_of_every_width_agree_with_the_definition),
      cmocka_unit_test(one_column_and_a_block_agree),
      cmocka_unit_test(factor_solve_and_invert_belong_together),
      cmocka_unit_test(what_is_not_positive_definite_is_refused),
      cmocka_unit_test(sums_of_every_length_agree_with_a_plain_loop),
  };
  return cmocka_run_group_tests_name("base/linalg", tests, NULL, NULL);
}
