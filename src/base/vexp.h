/* vexp.h - exp for arguments <= 0, in a form that compilers vectorise.
 *
 *   x = k ln 2 + r,  |r| <= (ln 2)/2,   exp(x) = 2^k exp(r)
 *
 * A call to libm keeps a loop scalar. This is straight-line code of IEEE additions,
 * multiplications and integer operations on 64 bits that SSE2 already has; with
 * contraction off (-ffp-contract=off) every vector width and every compiler gives the
 * same bits. It assumes rounding to nearest.
 */
#ifndef CB_BASE_VEXP_H
#define CB_BASE_VEXP_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/vector.h"

CB_LOOPS uint64_t cb_bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

CB_LOOPS double cb_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

/* x = k ln 2 + *r, |*r| <= (ln 2)/2, for |x| <= 746; returns k + CB_EXP_MAGIC. Adding
 * 1.5 * 2^52 rounds to an integer and leaves it in the low bits; with the bias 1023
 * added, those bits are the exponent field of 2^k. The high part of ln 2 has 32
 * trailing zeros, so that k times it is exact. */
#define CB_EXP_MAGIC (0x1.8p52 + 1023.0)

CB_LOOPS double cb_exp_reduce(double x, double *r) {
  const double log2_e = 0x1.71547652b82fep+0;
  const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  const double shifted = x * log2_e + CB_EXP_MAGIC;
  const double k = shifted - CB_EXP_MAGIC;
  *r = (x - k * ln2_high) - k * ln2_low;
  return shifted;
}

/* exp(r) - 1 = r + r^2 q(r) for |r| <= (ln 2)/2, with q the polynomial of degree 9 that
 * is minimax for the relative error of exp(r): 1.1e-17 with the coefficients rounded to
 * double. Summed by Estrin's scheme, whose chains are short. */
CB_LOOPS double cb_exp_less_one(double r) {
  const double r2 = r * r, r4 = r2 * r2;
  const double q01 = 0x1.000000000000ap-1 + r * 0x1.55555555554f9p-3;
  const double q23 = 0x1.5555555550839p-5 + r * 0x1.1111111127d10p-7;
  const double q45 = 0x1.6c16c18439bc8p-10 + r * 0x1.a01a012a12668p-13;
  const double q67 = 0x1.a01999dfdadadp-16 + r * 0x1.71df25a6851dep-19;
  const double q89 = 0x1.28ad9da376ff4p-22 + r * 0x1.ad7f58defeeb1p-26;
  const double q = (q01 + r2 * q23) + r4 * ((q45 + r2 * q67) + r4 * q89);
  return r + r2 * q;
}

/* exp(x) for x <= 0, within 1.1 ulp on [-708, 0]; exp(0) is exactly 1. Every x < -708
 * counts as -708, so that the result, 3.3e-308, is never subnormal. NaN gives NaN. */
CB_LOOPS double cb_exp_neg(double x) {
  /* x < -708 ? -708 : x, as a mask made of the sign of 708 - |x|. GCC 12 turns every
   * form with a comparison into a branch, for SSE2 or for AVX2, and a branch around
   * arithmetic keeps the loop scalar. |x| clears the sign of a NaN, so it passes. */
  const uint64_t far = 0u - (cb_bits_of(708.0 - fabs(x)) >> 63);
  const double clamped =
      cb_of_bits((cb_bits_of(x) & ~far) | (cb_bits_of(-708.0) & far));
  double r;
  const double shifted = cb_exp_reduce(clamped, &r);
  const double exp_r = 1.0 + cb_exp_less_one(r);

  /* Scaling by a product, not by adding to the exponent of exp_r: it is as exact, and a
   * NaN survives whatever its payload. */
  return exp_r * cb_of_bits(cb_bits_of(shifted) << 52);
}

#endif
