/* special.c - the normal distribution and h(z) = phi(z) + z Phi(z), accurate in both
 * tails.
 *
 * The lower tail, z = -t <= -1, follows from one function. With Mills' ratio
 * M(t) = Phi(-t) / phi(t) and
 *
 *   D(t) = 1 - t M(t) = u g(u),   u = 1/t^2,   g(0) = 1,   0 < D <= 0.35
 *
 * everything else follows without cancellation:
 *
 *   h = phi D,   Phi = phi (1 - D) / t,   Phi / h = t (1 - D) / g.
 */
#include "base/special.h"

#include <math.h>
#include <stddef.h>

#include "base/maths.h"

#define INV_SQRT_2PI 0x1.9884533d43651p-2 /* 1 / sqrt(2 pi) */
#define LOG_SQRT_2PI 0x1.d67f1c864beb5p-1 /* log(sqrt(2 pi)) */
#define SQRT_HALF 0x1.6a09e667f3bcdp-1    /* 1 / sqrt(2) */

typedef struct tail {
  double inv_t; /* 1/t */
  double g, d;  /* g(1/t^2) and D(t) */
} tail;

/* g is a rational function of degree (11, 11) on 0 <= u <= 1, fitted for least maximal
 * relative error in 60 digits (reweighted linear least squares on 160 Chebyshev nodes);
 * error 6e-17, and 1.3e-16 with the coefficients rounded to double. All of them are
 * positive, so nothing cancels in the sums. One fit serves every t >= 1 because g is
 * smooth up to u = 0, where its Taylor series is the asymptotic one. */
static tail tail_at(double t) {
  static const double p[12] = {
      1.0,
      0x1.56d041d92608ap+6,
      0x1.654c69e16eb5fp+11,
      0x1.77ab521419074p+15,
      0x1.b0fa7c30ff4f5p+18,
      0x1.176d7250b65fdp+21,
      0x1.8e3abddaa742dp+22,
      0x1.2b936620193c6p+23,
      0x1.b568026d49e7ep+22,
      0x1.091b8e31b8686p+21,
      0x1.76c944f9d33ebp+17,
      0x1.57712e0c4d841p+8,
  };
  static const double q[12] = {
      1.0,
      0x1.62d041d926067p+6,
      0x1.84aff00dca981p+11,
      0x1.b6f93528c9291p+15,
      0x1.181bc457f5779p+19,
      0x1.a18439ded9023p+21,
      0x1.6c09d5380e716p+23,
      0x1.6b210bb35747cp+24,
      0x1.8ade6d97133d5p+24,
      0x1.ad7fdb3f3d092p+23,
      0x1.8e9c64eeeb666p+21,
      0x1.b642321d07568p+17,
  };
  const double inv_t = 1.0 / t;
  const double u = inv_t * inv_t; /* not 1/(t t), which is 0 before t^2/2 overflows */
  double above = p[11], below = q[11];
  for (int i = 10; i >= 0; i--) {
    above = above * u + p[i];
    below = below * u + q[i];
  }
  const double g = above / below;
  return (tail){.inv_t = inv_t, .g = g, .d = g * u};
}

/* Relative error about z^2/2 ulp, from rounding the exponent; so for cdf and h. */
double cb_normal_pdf(double z) {
  return INV_SQRT_2PI * cb_exp(-0.5 * z * z);
}

double cb_normal_cdf(double z) {
  if (z <= -1.0) {
    const tail at = tail_at(-z);
    return cb_normal_pdf(z) * (1.0 - at.d) * at.inv_t;
  }
  return 0.5 * cb_erfc(-z * SQRT_HALF);
}

/* The slope is phi / Phi: t / (1 - D) in the tail, where both underflow. */
double cb_log_normal_cdf(double z, double *slope) {
  if (z <= -1.0) {
    const tail at = tail_at(-z);
    if (slope)
      *slope = -z / (1.0 - at.d);
    return -0.5 * z * z - LOG_SQRT_2PI + cb_log((1.0 - at.d) * at.inv_t);
  }
  if (slope)
    *slope = cb_normal_pdf(z) / (0.5 * cb_erfc(-z * SQRT_HALF));
  if (z > 0.0)
    return cb_log1p(-0.5 * cb_erfc(z * SQRT_HALF)); /* keeps the digits of 1 - Phi */
  return cb_log(0.5 * cb_erfc(-z * SQRT_HALF));
}

double cb_ei_h(double z, double *slope) {
  const double pdf = cb_normal_pdf(z);
  if (z <= -1.0) {
    const tail at = tail_at(-z);
    if (slope)
      *slope = pdf * (1.0 - at.d) * at.inv_t;
    return pdf * at.d;
  }
  const double cdf = 0.5 * cb_erfc(-z * SQRT_HALF);
  if (slope)
    *slope = cdf;
  return pdf + z * cdf;
}

/* log h(z) = e s(e) with e = z - ROOT, where h(ROOT) = 1, for |e| <= 1/16: log(h) has
 * an absolute error of an ulp of 1 there, and so no relative accuracy. s is a
 * polynomial fitted like g; error 3e-18. The root is given in two parts. */
#define ROOT_HIGH 0x1.cc87895688a5bp-1 /* 0.899... */
#define ROOT_LOW 0x1.be715a13b73b8p-55

static double log_h_near_root(double z) {
  static const double s[8] = {
      0x1.a1b06fd6765ecp-1,   -0x1.98e67307983d3p-3,  0x1.0a1a2613e7307p-5,
      -0x1.289a465407e03p-11, -0x1.6c43691a31119p-11, -0x1.157af3142997ep-17,
      0x1.f9961d04406aap-16,  0x1.61e4a5eae2889p-19,
  };
  const double e = (z - ROOT_HIGH) - ROOT_LOW;
  double sum = s[7];
  for (int i = 6; i >= 0; i--)
    sum = sum * e + s[i];
  return e * sum;
}

double cb_log_ei_h(double z, double *slope) {
  if (z <= -1.0) {
    const tail at = tail_at(-z);
    if (slope)
      *slope = -z * (1.0 - at.d) / at.g;
    return -0.5 * z * z - LOG_SQRT_2PI + cb_log(at.d);
  }
  double cdf;
  const double h = cb_ei_h(z, &cdf);
  if (slope)
    *slope = cdf / h;
  return fabs(z - ROOT_HIGH) <= 0.0625 ? log_h_near_root(z) : cb_log(h);
}
