/* maths.h - elementary functions with the same bits on every machine.
 *
 * The C standard leaves the last bits of exp, log and their like to each libm, and
 * proposals depend on every bit. These are made of IEEE additions, multiplications,
 * divisions and integer operations only, in a fixed order, with contraction off
 * (-ffp-contract=off) and rounding to nearest. What libm rounds exactly (sqrt, fabs,
 * floor, nearbyint, frexp, ldexp ...) is the same everywhere and is used as it is; so
 * are fmin and fmax, which may differ in the sign of a zero, by which nothing divides.
 *
 * Errors are in units of the last place of the true value, the largest found against
 * 40 digits (tests/unit/test_maths.c). Special values are those of the C standard.
 */
#ifndef CB_BASE_MATHS_H
#define CB_BASE_MATHS_H

double cb_exp(double x);             /* 1.0 ulp; the bits of cb_exp_neg on [-708, 0] */
double cb_log(double x);             /* 0.9 ulp */
double cb_log1p(double x);           /* 0.9 ulp */
double cb_erfc(double x);            /* 1.2 ulp */
double cb_hypot(double x, double y); /* 1.1 ulp */

/* cos(2 pi u), 1.3 ulp: turns rather than radians, so that the reduction to an eighth
 * of a turn is exact. */
double cb_cos_turns(double u);

#endif
