/* lbfgsb.h - minimise a smooth function inside a box (L-BFGS-B 3.0 of Zhu, Byrd, Lu and
 * Nocedal, through Debian's liblbfgsb).
 */
#ifndef CB_BASE_LBFGSB_H
#define CB_BASE_LBFGSB_H

#include "cocabo.h"

/* f(x); writes df/dx into gradient[0..n-1]. A value that is not finite tells the line
 * search to come back. */
typedef double (*cb_objective)(void *context, const double *x, double *gradient);

typedef struct cb_lbfgsb_limits {
  int max_evaluations;   /* >= 1 */
  double f_tolerance;    /* stop when an iteration gains less than this, relative */
  double grad_tolerance; /* stop when the projected gradient is this small */
} cb_lbfgsb_limits;

/* A workspace for n variables; sized once, used many times, by one thread. */
typedef struct cb_lbfgsb cb_lbfgsb;

cocabo_status cb_lbfgsb_new(cb_lbfgsb **out, int n, cocabo_error *err);
void cb_lbfgsb_free(cb_lbfgsb *ws); /* NULL is allowed */

/* Starts at x (clipped into the box) and leaves the best point seen in x; returns its
 * value, +inf if no finite value was seen. Never allocates. */
double cb_lbfgsb_minimise(cb_lbfgsb *ws, double *x, const double *lower,
                          const double *upper, cb_objective f, void *context,
                          const cb_lbfgsb_limits *limits);

#endif
