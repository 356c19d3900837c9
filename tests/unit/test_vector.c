/* Every variant of the inner loops gives the same bits. Those that the processor lacks
 * are not compared; that of plain code and one other always are on what is sold today.
 */
#include "check.h"

#include <stdbool.h>
#include <string.h>

#include "base/block.h"
#include "base/linalg.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/vector.h"
#include "model/kernel.h"

enum { N = 77, D = 5, C = 3, OUT = 40000 }; /* 77: no multiple of a vector's length */

static double X[N * D], Q[CB_BLOCK * D], A[N * N], y[N];
static int32_t H[N * C];
static double G[CB_BLOCK * C];
static double kept[OUT];
static int n_kept;

static void keep(int n, const double *values) {
  assert_true(n_kept + n <= OUT);
  memcpy(kept + n_kept, values, (size_t)n * sizeof *values);
  n_kept += n;
}

static void draw_inputs(void) {
  cb_rng rng = cb_rng_make(7, 1, 2);
  for (int i = 0; i < N * D; i++)
    X[i] = 2.0 * cb_rng_uniform(&rng) - 1.0;
  for (int i = 0; i < CB_BLOCK * D; i++)
    Q[i] = 2.0 * cb_rng_uniform(&rng) - 1.0;
  for (int i = 0; i < N * C; i++)
    H[i] = (int32_t)cb_rng_below(&rng, 3);
  for (int i = 0; i < CB_BLOCK * C; i++)
    G[i] = cb_rng_below(&rng, 3);
  for (int i = 0; i < N; i++)
    y[i] = cb_rng_normal(&rng);
}

static cb_kernel make_kernel(cb_kernel_form form) {
  static double inv_l2[D], rate[C];
  const double theta[] = {-0.3, 0.2, -1.1, 0.7, -0.6, 0.4, -0.8, 0.1, -0.5,
                          0.3,  0.6, -0.2, 0.9, -4.0, 0.0, 0.0,  0.0};
  const cb_kernel_spec spec = {.d = D, .c = C, .form = form, .ard = form == CB_FREE};
  cb_kernel k = {.inv_l2 = inv_l2, .rate = rate};
  cb_kernel_set(&k, &spec, theta);
  return k;
}

static void keep_kernel(cb_kernel_form form) {
  const cb_kernel k = make_kernel(form);
  double kh[N], ka[N], a[N], b[N], r0[N], kz[N], slope[N], kx[N], block[N * CB_BLOCK];
  const cb_slice slice = {a, b, r0};
  const int32_t h[C] = {1, 0, 2};
  const double x[D] = {0.1, -0.7, 0.33, 0.9, -0.2};
  cb_kernel_hamming(&k, N, H, N, h, kh);
  cb_kernel_overlap(C, N, H, N, h, ka);
  cb_kernel_weights(&k, N, kh, ka, &slice);
  keep(N, a), keep(N, b), keep(N, r0);
  cb_kernel_row(&k, N, X, N, &slice, x, kz);
  keep(N, kz);
  cb_kernel_row_slope(&k, N, X, N, &slice, x, kz, slope, kx);
  keep(N, kz), keep(N, slope), keep(N, kx);
  cb_kernel_block(&k, N, X, N, &slice, CB_BLOCK, Q, block);
  keep(N * CB_BLOCK, block);
  cb_kernel_block_mixed(&k, N, X, H, N, CB_BLOCK, Q, G, block);
  keep(N * CB_BLOCK, block);
  const double sums[] = {cb_kernel_weighted_squares(N, y, X, 0.3),
                         cb_kernel_weighted_differences(N, y, X, 0.3),
                         cb_kernel_weighted_changes(N, y, H, 1)};
  keep(sizeof sums / sizeof *sums, sums);
}

/* The covariance of the stored points, from rows of the kernel. */
static void fill_covariance(void) {
  const cb_kernel k = make_kernel(CB_FREE);
  double kh[N], ka[N], a[N], b[N], r0[N], x[D];
  const cb_slice slice = {a, b, r0};
  for (int i = 0; i < N; i++) {
    int32_t h[C];
    for (int j = 0; j < D; j++)
      x[j] = X[i + j * N];
    for (int j = 0; j < C; j++)
      h[j] = H[i + j * N];
    cb_kernel_hamming(&k, N, H, N, h, kh);
    cb_kernel_overlap(C, N, H, N, h, ka);
    cb_kernel_weights(&k, N, kh, ka, &slice);
    cb_kernel_row(&k, N, X, N, &slice, x, A + (size_t)i * N);
    A[i + i * N] += k.noise;
  }
}

static void keep_algebra(void) {
  static double inverse[N * N], work[(N + CB_BLOCK_SPARE) * CB_BLOCK];
  double *inverse_work = cb_calloc(cb_block_inverse_work(N), sizeof *inverse_work);
  double b[N], block[N * CB_BLOCK], squares[CB_BLOCK], weighed[CB_BLOCK];
  fill_covariance();
  assert_true(cb_block_cholesky(N, A, N, work));
  keep(N * N, A);
  memset(inverse, 0, sizeof inverse);
  cb_block_inverse(N, A, N, inverse, N, inverse_work);
  keep(N * N, inverse);
  for (int i = 0; i < N * CB_BLOCK; i++)
    block[i] = y[i % N] * (1.0 + i % 7);
  cb_block_solve(N, A, N, CB_BLOCK, block, squares);
  cb_block_weigh(N, block, y, weighed);
  keep(N * CB_BLOCK, block), keep(CB_BLOCK, squares), keep(CB_BLOCK, weighed);
  memcpy(b, y, sizeof b);
  cb_linalg_solve_ut(N, A, N, b);
  keep(N, b);
  cb_linalg_solve_u(N, A, N, b);
  keep(N, b);
  const double sums[] = {cb_linalg_dot(N, b, y), cb_linalg_sum_squares(N, b)};
  keep(sizeof sums / sizeof *sums, sums);
  cb_free(inverse_work);
}

static void run_all(cb_vector width) {
  cb_vector_limit(width);
  n_kept = 0;
  keep_kernel(CB_PAPER);
  keep_kernel(CB_FREE);
  keep_kernel(CB_ONEHOT);
  keep_algebra();
}

static void every_width_gives_the_same_bits(void **state) {
  (void)state;
  static double plain[OUT];
  cb_vector_limit(CB_AVX512);
  const cb_vector widest = cb_vector_widest();
  draw_inputs();
  run_all(CB_PLAIN);
  const int n = n_kept;
  memcpy(plain, kept, sizeof plain);
  for (int i = 0; i < n; i++)
    assert_true(isfinite(plain[i]));
  for (cb_vector width = CB_AVX2; width <= widest; width++) {
    run_all(width);
    assert_int_equal(cb_vector_widest(), width);
    assert_int_equal(n_kept, n);
    assert_memory_equal(kept, plain, (size_t)n * sizeof *kept);
  }
}

static void a_limit_never_exceeds_the_processor(void **state) {
  (void)state;
  cb_vector_limit(CB_AVX512);
  const cb_vector widest = cb_vector_widest();
  cb_vector_limit(CB_PLAIN);
  assert_int_equal(cb_vector_widest(), CB_PLAIN);
  cb_vector_limit(CB_AVX512);
  assert_int_equal(cb_vector_widest(), widest);
}

/* Our own question to the processor against that of the compiler's runtime. */
static void the_processor_is_the_one_that_the_compiler_sees(void **state) {
  (void)state;
  cb_vector widest = CB_PLAIN;
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2"))
    widest = CB_AVX2;
  if (__builtin_cpu_supports("avx512f"))
    widest = CB_AVX512;
#endif
  cb_vector_limit(CB_AVX512);
  assert_int_equal(cb_vector_widest(), widest);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_width_gives_the_same_bits),
      cmocka_unit_test(a_limit_never_exceeds_the_processor),
      cmocka_unit_test(the_processor_is_the_one_that_the_compiler_sees),
  };
  return cmocka_run_group_tests_name("base/vector", tests, NULL, NULL);
}
