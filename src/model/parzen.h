/* parzen.h - adaptive Parzen estimators: how one variable is distributed, judged by a
 * few values of it. Two of them, of good values and of the rest, are TPE's model.
 *
 *   numbers   a mixture of normals cut off at [low, high]: one at each value, as wide
 *             as the distance to its farther neighbour, and the prior, which lies in
 *             the middle and is as wide as the range
 *   choices   counts, and one more of each for the prior
 *
 * Values are given oldest first. The last 25 of them count in full, older ones the less
 * the older they are. A grid is a range of numbers of which only the mass of cells is
 * asked for. The rules are those of hyperopt's TPE (Bergstra et al., 2011).
 *
 * An estimator is a workspace for one thread: fitted many times, to numbers or to
 * choices. Drawing and valuing never allocate.
 */
#ifndef CB_MODEL_PARZEN_H
#define CB_MODEL_PARZEN_H

#include <stdint.h>

#include "base/rng.h"
#include "cocabo.h"

typedef struct cb_parzen cb_parzen;

/* *out is owned by the caller. */
cocabo_status cb_parzen_new(cb_parzen **out, cocabo_error *err);
void cb_parzen_free(cb_parzen *p); /* NULL is allowed */

/* Numbers x[0..n-1] in [low, high], low < high. Without memory the estimator is as it
 * was. Costs O(n log n). */
cocabo_status cb_parzen_fit(cb_parzen *p, double low, double high, int n,
                            const double *x, cocabo_error *err);
double cb_parzen_draw(const cb_parzen *p, cb_rng *rng); /* in [low, high) */
double cb_parzen_log_density(cb_parzen *p, double x);   /* x in [low, high] */
/* Of the cell [from, to], from < to, within [low, high]. */
double cb_parzen_log_mass(cb_parzen *p, double from, double to);

/* Choices h[0..n-1], 0 <= h < arms. Costs O(n + arms). */
cocabo_status cb_parzen_fit_choice(cb_parzen *p, int32_t arms, int n, const int32_t *h,
                                   cocabo_error *err);
int32_t cb_parzen_draw_choice(const cb_parzen *p, cb_rng *rng);
double cb_parzen_log_chance(const cb_parzen *p, int32_t k);

#endif
