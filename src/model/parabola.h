/* parabola.h - a function of second degree, by weighted least squares, and its lowest
 * point in a box.
 *
 *   p(z) = b_0 + sum_i b_i z_i + sum_{i <= j} b_ij z_i z_j
 *
 * with the coefficients in that order. What it has and a kernel with a length scale per
 * input has not: valleys that run across the axes.
 */
#ifndef CB_MODEL_PARABOLA_H
#define CB_MODEL_PARABOLA_H

#include <stdbool.h>
#include <stddef.h>

enum { CB_PARABOLA_MOST_INPUTS = 12 };

int cb_parabola_terms(int d);   /* how many coefficients, d >= 1 */
size_t cb_parabola_work(int d); /* doubles of work that a fit takes */

/* The coefficients with the least sum of weight[i] (p(z_i) - y_i)^2 over n points z, d
 * x n, of the order of 1. What the points leave open is small. False: they are not
 * finite. */
bool cb_parabola_fit(int d, int n, const double *z, const double *weight,
                     const double *y, double *coefficients, double *work);

double cb_parabola_at(int d, const double *coefficients, const double *z);

/* The lowest point found in the box lower[0..d-1] .. upper[0..d-1], to which 0 belongs,
 * and p there: the lowest one if p is convex, else one of the low ones. */
double cb_parabola_lowest(int d, const double *coefficients, const double *lower,
                          const double *upper, double *z);

#endif
