/* special.h - functions that libm lacks or loses digits in.
 *
 *   phi, Phi   density and distribution function of N(0, 1)
 *   h(z)       phi(z) + z Phi(z), the expected improvement at unit deviation
 */
#ifndef CB_BASE_SPECIAL_H
#define CB_BASE_SPECIAL_H

double cb_normal_pdf(double z);
double cb_normal_cdf(double z);
/* log Phi(z), and d/dz log Phi(z) = phi(z)/Phi(z); slope may be NULL. Relative accuracy
 * is kept for z -> -inf. */
double cb_log_normal_cdf(double z, double *slope);

/* h(z) > 0 and its derivative Phi(z); slope may be NULL. Underflows for z < -38. */
double cb_ei_h(double z, double *slope);

/* log h(z), and d/dz log h(z) = Phi(z)/h(z); slope may be NULL. Accurate to 1e-13 or
 * better (relative) for every finite z, in particular for -1e8 < z < -1, where
 * phi + z Phi cancels. */
double cb_log_ei_h(double z, double *slope);

#endif
