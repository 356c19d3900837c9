/* maths.c - exp, log, log1p, erfc, hypot and cos, of IEEE operations alone. */
#include "base/maths.h"

#include <float.h>
#include <math.h>
#include <stdint.h>

#include "base/maths_numbers.h"
#include "base/vexp.h"

/* What the bits rest on: doubles are computed as doubles, and sums in their order. */
#ifdef __FAST_MATH__
#error "build without -ffast-math: proposals must be the same on every machine"
#endif
_Static_assert(FLT_EVAL_METHOD == 0, "doubles are computed as doubles");

/* By Horner; n is a constant wherever it is called, and the loop is unrolled. */
static inline double polynomial(int n, const double *c, double x) {
  double sum = c[n - 1];
  for (int i = n - 2; i >= 0; i--)
    sum = sum * x + c[i];
  return sum;
}

/* x without its last 27 bits: the product of two such is exact. */
static inline double head_of(double x) {
  return cb_of_bits(cb_bits_of(x) & 0xfffffffff8000000);
}

/* What rounding took off a product of two numbers of moderate size (Dekker, 1971). */
static inline double lost_by(double a, double b, double product) {
  const double a_head = head_of(a), a_tail = a - a_head;
  const double b_head = head_of(b), b_tail = b - b_head;
  return ((a_head * b_head - product) + a_head * b_tail + a_tail * b_head) +
         a_tail * b_tail;
}

/* ---- exp ------------------------------------------------------------------------- */

/* y 2^k for y in [1/2, 2] and -1140 < k <= 1024, rounded once. */
static double scaled(double y, int k) {
  if (k < -1022)
    return y * cb_of_bits((uint64_t)(k + 128 + 1023) << 52) * 0x1p-128;
  if (k > 1023)
    return y * 2.0 * 0x1p1023;
  return y * cb_of_bits((uint64_t)(k + 1023) << 52);
}

double cb_exp(double x) {
  if (isnan(x))
    return x;
  if (x > 0x1.62e42fefa39efp9) /* the largest whose exp is finite */
    return INFINITY;
  if (x < -745.2)
    return 0.0;
  double r;
  const double k = cb_exp_reduce(x, &r) - CB_EXP_MAGIC;
  return scaled(1.0 + cb_exp_less_one(r), (int)k);
}

/* ---- log ------------------------------------------------------------------------- */

/* x = 2^k m with sqrt(1/2) <= m < sqrt(2), for finite x > 0. */
static double mantissa(double x, int *k) {
  const int lift = x < 0x1p-1022 ? 54 : 0;
  const uint64_t bits = cb_bits_of(lift ? x * 0x1p54 : x);
  const uint64_t root_half = 0x3fe6a09e667f3bcd;
  const uint64_t apart = bits - root_half; /* its exponent field is k, rounded down */
  const int exponent = (int)(apart >> 52);
  *k = (exponent >= 2048 ? exponent - 4096 : exponent) - lift;
  return cb_of_bits(bits - (apart & 0xfff0000000000000));
}

/* log(1 + f) + k log 2 + more, where `more` is small. With s = f / (2 + f),
 *
 *   log(1 + f) = 2 atanh(s) = f - f^2/2 + s (f^2/2 + R),   R = 2 atanh(s) / s - 2,
 *
 * in which what is rounded is small against f. The high part of log 2 has 32 trailing
 * zeros, so that k times it is exact. */
static double log_of(double f, int k, double more) {
  const double ln2_high = 0x1.62e42feep-1, ln2_low = 0x1.a39ef35793c76p-33;
  const double s = f / (2.0 + f), z = s * s;
  const double rest = z * polynomial(7, log_tail, z);
  const double half = 0.5 * f * f;
  return k * ln2_high - ((half - (s * (half + rest) + (k * ln2_low + more))) - f);
}

double cb_log(double x) {
  if (!(x > 0.0 && x < INFINITY))
    return x == 0.0 ? -INFINITY : x < 0.0 ? NAN : x; /* inf and NaN: themselves */
  int k;
  const double m = mantissa(x, &k);
  return log_of(m - 1.0, k, 0.0);
}

/* 1 + x rounds to u; what is lost counts as a part of 1/u of it. */
double cb_log1p(double x) {
  if (!(x > -1.0 && x < INFINITY))
    return x == -1.0 ? -INFINITY : x < -1.0 ? NAN : x;
  if (fabs(x) < 0x1p-54)
    return x;
  int k;
  const double u = 1.0 + x, m = mantissa(u, &k);
  if (k == 0)
    return log_of(x, 0, 0.0);
  const double lost = x > 1.0 ? 1.0 - (u - x) : x - (u - 1.0);
  return log_of(m - 1.0, k, lost / u);
}

/* ---- erfc ------------------------------------------------------------------------ */

/* For 15/32 <= x < 28, of three factors: exp(-x^2), a function that stays within 0.13
 * of 9/8, and 1 / (1 + 2 x). Each is kept as a rounded number and what rounding took
 * off, and so are their product and quotient: the small parts are put back at the end.
 */
static double erfc_tail(double x) {
  const double w = (x - 4.0) / (x + 4.0);
  const double p = polynomial(22, erfc_scaled, w);
  const double wave = 1.125 + p, wave_low = p - (wave - 1.125);
  const double below = 1.0 + 2.0 * x, below_low = 2.0 * x - (below - 1.0);

  /* x^2 = head^2 + square_low */
  const double head = head_of(x), square_low = (x - head) * (x + head);
  double high;
  const double k = cb_exp_reduce(-head * head, &high) - CB_EXP_MAGIC;
  const double r = high - square_low, r_low = (high - r) - square_low;
  const double t = cb_exp_less_one(r);
  const double e = 1.0 + t, e_low = (t - (e - 1.0)) + r_low * e;

  const double above = e * wave;
  const double above_low = lost_by(e, wave, above) + e * wave_low + e_low * wave;
  const double quotient = above / below, back = quotient * below;
  const double left = (above - back) - lost_by(quotient, below, back);
  const double small = (left + above_low - quotient * below_low) / below;
  return scaled(quotient + small, (int)k);
}

double cb_erfc(double x) {
  const double size = fabs(x);
  if (isnan(x))
    return x;
  if (size < 0.46875)
    return 1.0 - (x + x * polynomial(11, erf_tail, x * x));
  const double tail = size < 28.0 ? erfc_tail(size) : 0.0;
  return x < 0.0 ? 2.0 - tail : tail;
}

/* ---- hypot and cos --------------------------------------------------------------- */

double cb_hypot(double x, double y) {
  double a = fabs(x), b = fabs(y);
  if (a == INFINITY || b == INFINITY)
    return INFINITY;
  if (isnan(a) || isnan(b))
    return NAN;
  if (a < b) {
    const double held = a;
    a = b;
    b = held;
  }
  int exponent;
  a = frexp(a, &exponent);
  b = ldexp(b, -exponent);
  return ldexp(sqrt(a * a + b * b), exponent);
}

/* For |f| <= 1/8. The high part of 2 pi has 26 bits, so that its product with the head
 * of f is exact. */
static double sin_turn_of(double f) {
  const double two_pi_high = 0x1.921fb54p+2, two_pi_low = 0x1.10b4611a62633p-28;
  const double z = f * f, head = head_of(f);
  return head * two_pi_high +
         ((f - head) * two_pi_high + f * (two_pi_low + z * polynomial(8, sin_turn, z)));
}

static double cos_turn_of(double f) {
  const double z = f * f;
  return 1.0 + z * polynomial(8, cos_turn, z);
}

double cb_cos_turns(double u) {
  if (!isfinite(u))
    return NAN;
  const double f = u - nearbyint(u); /* exact, as is the quarter below */
  const double quarters = nearbyint(4.0 * f), g = f - 0.25 * quarters;
  if (quarters == 0.0)
    return cos_turn_of(g);
  if (fabs(quarters) == 2.0)
    return -cos_turn_of(g);
  return quarters > 0.0 ? -sin_turn_of(g) : sin_turn_of(g);
}
