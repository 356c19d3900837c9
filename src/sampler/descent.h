/* descent.h - the lowest point of a parabola through the results around the best one.
 *
 * A process with a length scale per input sees a narrow valley that runs across the
 * axes as rough, and creeps along it; a parabola through enough results jumps to its
 * end. One through many results goes by their trend, and not by what lies on top of it
 * (decision 0029).
 */
#ifndef CB_SAMPLER_DESCENT_H
#define CB_SAMPLER_DESCENT_H

#include <stdbool.h>

#include "cocabo.h"
#include "log/history.h"

typedef struct cb_descent cb_descent;

/* *out is owned by the caller; for spaces of numbers, the space is borrowed. */
cocabo_status cb_descent_new(cb_descent **out, const cocabo_space *space,
                             cocabo_error *err);
void cb_descent_free(cb_descent *s); /* NULL is allowed */

/* x[0..d-1]: where in the box, to which the result of row `top` belongs, the parabola
 * is lowest: one through the results that are nearest to the top by length scales,
 * barely enough of them, or many. *found is false if there are too few results, or if
 * it promises nothing that is better than the top. */
cocabo_status cb_descent_find(cb_descent *s, const cb_history *history, int64_t top,
                              const double *log_scales, bool many, const double *lower,
                              const double *upper, double *x, bool *found,
                              cocabo_error *err);

#endif
