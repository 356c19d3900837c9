/* kernel.h - covariance between mixed points z = (x, h), and the loop that computes it.
 *
 *   r2   = sum_j (x_j - x'_j)^2 / l_j^2
 *   k_x  = (1 + s + s^2/3) exp(-s),  s = sqrt(5 r2)               Matern 5/2
 *   k_a  = (1/c) #{ j : h_j = h'_j }                              overlap
 *   k_h  = exp(-sum_j t_j [h_j != h'_j])                          Hamming
 *   k_s  = (1/d) sum_j 1 / (1 + (5/6) (x_j - x'_j)^2 / l_j^2)      sum
 *   k_z  = w_x k_x + w_a k_a + w_b k_a k_x + w_h k_h + w_p k_h k_x + w_s k_s
 *
 * in one of three forms:
 *   CB_PAPER  w_a = w_x = (1 - lambda) / 2, w_b = lambda, and the Hamming kernel is off
 *             (decision 0001; the paper's eq. 2 is the same without the 1/2)
 *   CB_FREE   the rates t_j and all weights are learnt. The overlap sees a sum of
 *             effects of single categories, the Hamming kernel what they do together.
 *             With a single category k_a would say nothing that k_h does not. k_s is to
 *             k_x what the overlap is to k_h: it learns a sum of effects of single
 *             numbers from far fewer points. Rational quadratic kernels, which are as
 *             curved as the Matern at 0 and cost a division instead of an exponential
 *   CB_ONEHOT w_x is learnt and the others are off; k_x sees every category as a block
 *             of N_j inputs, 1 for the one that it is and 0 for all others. Two points
 *             whose categories differ in variable j differ by 1 in two inputs of its
 *             block, and in no other, so that no block need be written out:
 *
 *               r2 + sum_j t_j [h_j != h'_j]  in place of r2,  t_j = 2 / l^2
 *
 * With inputs of one kind only, CB_PAPER has that kind's term alone, with weight 1, and
 * CB_FREE that kind's terms.
 *
 * Shapes, here and in all of model/:
 *   d, c  number of continuous and of categorical inputs (one of them may be 0)
 *   n     number of stored points
 *   x, h  one point: d numbers in [-1,1], c category indices
 *   X     stored points, dimension-major: input j of point i is X[i + j*ld]
 *   H     likewise: category j of point i is H[i + j*ld]
 * Dimension-major, so that the loop over points is contiguous and vectorises.
 */
#ifndef CB_MODEL_KERNEL_H
#define CB_MODEL_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum cb_kernel_form { CB_PAPER, CB_FREE, CB_ONEHOT } cb_kernel_form;

/* What is fixed about the kernel, and what is learnt. */
typedef struct cb_kernel_spec {
  int d, c;
  int presences; /* of the d inputs, the last: 1 or 0, is a group of others active? */
  cb_kernel_form form;
  bool ard;          /* a length scale per input rather than one; not CB_ONEHOT */
  bool sums;         /* CB_FREE, d > 1: with k_s */
  bool half;         /* CB_PAPER: the sum normalised by 1/2 rather than literal */
  bool learn_lambda; /* CB_PAPER: else it is `lambda` */
  double lambda;     /* in [0, 1] */
} cb_kernel_spec;

/* Hyper-parameters are one vector:
 *   theta = ( log l_1 .. log l_L,  lambda if learnt,  log noise variance )    CB_PAPER
 *   theta = ( log l_1 .. log l_L,  log t_1 .. log t_c,  log of the weights that there
 *             are: w_h w_a w_x w_p w_b w_s,  log noise variance )             CB_FREE
 *   theta = ( log l,  log w_x,  log noise variance )                          CB_ONEHOT
 * with L = d (ard), 1 or, without numeric inputs, 0. */
typedef struct cb_theta_layout {
  int scales;    /* L, from index 0 */
  int lambda;    /* index, or -1 */
  int rates;     /* index of t_1, or -1 */
  int weights;   /* index of the first weight, or -1 */
  int n_weights; /* 0 to 6 */
  /* Index of the weight of each term, or -1: w_h, w_a, w_x, w_p, w_b, w_s. */
  int hamming, overlap, matern, hamming_matern, overlap_matern, sum;
  int noise; /* index */
  int count;
} cb_theta_layout;

cb_theta_layout cb_theta_lay_out(const cb_kernel_spec *spec);

/* A kernel with its hyper-parameters filled in; the arrays are the caller's. */
typedef struct cb_kernel {
  int d, c;
  cb_kernel_form form;
  double w_h, w_a, w_x, w_p, w_b, w_s;
  double noise;   /* variance on the diagonal */
  double *inv_l2; /* d: 1 / l_j^2 */
  double *rate;   /* c: t_j; not CB_PAPER */
} cb_kernel;

void cb_kernel_set(cb_kernel *k, const cb_kernel_spec *spec, const double *theta);
double cb_kernel_self(const cb_kernel *k); /* k_z(z, z), without noise */

/* k_h and k_a between h and n stored points. In the paper's form k_h is not used; in
 * the one-hot form it is the sum of t_j [h_j != h'_j] instead. */
void cb_kernel_hamming(const cb_kernel *k, int n, const int32_t *H, int ld,
                       const int32_t *h, double *restrict kh);
void cb_kernel_overlap(int c, int n, const int32_t *H, int ld, const int32_t *h,
                       double *restrict ka);

/* The kernel along one h, as a function of x alone: k_z = a + b k_x + w_s k_s, where
 * k_x is taken at r2 + r0. Arrays of n, the caller's. */
typedef struct cb_slice {
  double *a;  /* w_h k_h + w_a k_a */
  double *b;  /* w_x + w_p k_h + w_b k_a */
  double *r0; /* what the categories add to r2: 0 but in the one-hot form */
} cb_slice;

/* Fills the slice from what cb_kernel_hamming and cb_kernel_overlap gave. */
void cb_kernel_weights(const cb_kernel *k, int n, const double *kh, const double *ka,
                       const cb_slice *slice);

/* kz[i] = a[i] + b[i] k_x(x, X_i) + w_s k_s(x, X_i), i < n. */
void cb_kernel_row(const cb_kernel *k, int n, const double *X, int ld,
                   const cb_slice *slice, const double *x, double *restrict kz);

/* The same for up to CB_BLOCK points at once: Q is dimension-major, input j of
 * candidate w at Q[w + j*CB_BLOCK], and out has n rows of CB_BLOCK (base/block.h), of
 * which the first `width` are filled (and a few more: Q must have numbers there). */
void cb_kernel_block(const cb_kernel *k, int n, const double *X, int ld,
                     const cb_slice *slice, int width, const double *Q,
                     double *restrict out);

/* The same where every candidate has its own categories: G is category-major like Q,
 * and its categories are whole numbers in doubles. */
void cb_kernel_block_mixed(const cb_kernel *k, int n, const double *X, const int32_t *H,
                           int ld, int width, const double *Q, const double *G,
                           double *restrict out);

/* Candidates that share x and differ from h in one category: candidate w has category
 * to[w] for variable which[w]. Given kx, ks (NULL where w_s is 0), kh and ka at (x, h),
 * each entry is O(1). Not for the one-hot form, where k_x changes too. */
void cb_kernel_block_swaps(const cb_kernel *k, int n, const int32_t *H, int ld,
                           const double *kx, const double *ks, const double *kh,
                           const double *ka, const int32_t *h, int count,
                           const int32_t *which, const int32_t *to,
                           double *restrict out);

/* Also slope[i] = b[i] dk_x/d(r2), from which, but for k_s, d kz[i] / d x_j =
 * 2 slope[i] (x_j - X_ij) / l_j^2, and kx[i] itself if kx is not NULL. */
void cb_kernel_row_slope(const cb_kernel *k, int n, const double *X, int ld,
                         const cb_slice *slice, const double *x, double *restrict kz,
                         double *restrict slope, double *restrict kx);

/* ks[i] = k_s(x, X_i) and, unless it is NULL, slopes[i + j*n] = w_s dk_s/dv_j, v_j =
 * (x_j - X_ij)^2 / l_j^2: what adds to slope[i] above for input j alone. */
void cb_kernel_sum(const cb_kernel *k, int n, const double *X, int ld, const double *x,
                   double *restrict ks, double *restrict slopes);

/* Sum over i of w[i] (x - column[i])^2, in a fixed order. */
double cb_kernel_weighted_squares(int n, const double *w, const double *column,
                                  double x);

/* Sum over i of w[i] (x - column[i]), in a fixed order. */
double cb_kernel_weighted_differences(int n, const double *w, const double *column,
                                      double x);

/* Sum over i of w[i] [column[i] != h], in a fixed order. */
double cb_kernel_weighted_changes(int n, const double *w, const int32_t *column,
                                  int32_t h);

#endif
