/* minimise.h - minimise a smooth function inside a box, by quasi-Newton steps.
 *
 * For tens of evaluations of a function that costs far more than n^3 operations: fits
 * of hyper-parameters and climbs of an acquisition function.
 */
#ifndef CB_BASE_MINIMISE_H
#define CB_BASE_MINIMISE_H

#include <stdbool.h>

#include "cocabo.h"

/* f(x); writes df/dx into gradient[0..n-1]. Where the value or the gradient is not
 * finite the line search shortens its step. */
typedef double (*cb_objective)(void *context, const double *x, double *gradient);

typedef struct cb_minimise_limits {
  int max_evaluations;   /* >= 1 */
  double f_tolerance;    /* stop when an iteration gains less than this, relative */
  double least_gain;     /* or less than this */
  double grad_tolerance; /* stop when the projected gradient is this small */
  const double *scale;   /* n, > 0: how far each variable may move before the gradient
                            is another, up to a common factor; NULL: all alike */
  cocabo_interrupt_fn interrupt; /* asked before every evaluation but the first; NULL:
                                    never */
  void *user;
} cb_minimise_limits;

/* A workspace for n variables; sized once, used many times, by one thread. */
typedef struct cb_minimiser cb_minimiser;

cocabo_status cb_minimiser_new(cb_minimiser **out, int n, cocabo_error *err);
void cb_minimiser_free(cb_minimiser *ws); /* NULL is allowed */

/* Starts at x (clipped into the box, whose bounds are finite) and leaves the best point
 * seen in x; returns its value, +inf if the start has none. Never allocates. */
double cb_minimise(cb_minimiser *ws, double *x, const double *lower,
                   const double *upper, cb_objective f, void *context,
                   const cb_minimise_limits *limits);

/* Was the last cb_minimise ended by its interrupt function? */
bool cb_minimise_interrupted(const cb_minimiser *ws);

#endif
