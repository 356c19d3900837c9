/* constraints.h - bounds on what is measured beside the value: "p99 < 200, max_rss <=
 * 1e9".
 *
 * A constraint names a metric or the value itself, by the name that the study's
 * attribute `objective` gives it, else `value`. A metric that a trial does not have
 * makes its feasibility unknown.
 */
#ifndef CB_LOG_CONSTRAINTS_H
#define CB_LOG_CONSTRAINTS_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "log/history.h"

enum { CB_MAX_CONSTRAINTS = 16 };

typedef struct cb_constraint {
  const char *metric; /* borrowed from the block */
  bool above;         /* > or >=: the metric must lie above the bound */
  bool strict;        /* < or >: and not on it */
  double bound;       /* finite */
} cb_constraint;

/* One block with the names, released with cb_free. */
typedef struct cb_constraints {
  int n; /* >= 1 */
  cb_constraint items[CB_MAX_CONSTRAINTS];
} cb_constraints;

/* Reads METRIC OP NUMBER, separated by commas; OP is one of < <= > >=. A metric with
 * blanks, commas or one of < > = ` in its name stands in backquotes, a backquote in it
 * is doubled. *out is owned by the caller, and NULL where the text is blank. */
cocabo_status cb_constraints_read(cb_constraints **out, const char *text,
                                  cocabo_error *err);
/* A deep copy; NULL if out of memory. */
cb_constraints *cb_constraints_copy(const cb_constraints *constraints);

/* How far a completed trial is beyond the bound, halved so that nothing overflows:
 * negative inside it, NaN where the metric is missing. `objective` is what the value is
 * called. */
double cb_constraint_excess(const cb_constraint *constraint, const cb_trial *trial,
                            const char *objective);

/* Do all hold? 1: yes, 0: no, -1: the trial is not complete, or a metric is missing.
 * Without constraints (NULL) they hold for every complete trial. */
int cb_constraints_hold(const cb_constraints *constraints, const cb_trial *trial,
                        const char *objective);

/* The row of the results with the least violation: the sum over the constraints of the
 * excess above 0, each in units of the mean |excess|. Rows with a missing metric come
 * last; of equals the first. -1 without results. For when no result is feasible. */
int64_t cb_constraints_nearest(const cb_constraints *constraints,
                               const cb_history *history, const char *objective);

#endif
