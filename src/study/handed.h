/* handed.h - trials of the caller that the log knows by another number.
 *
 * A server that crashes may lose an ask that was not durable yet, and its number may go
 * to another point. Whoever runs the lost one knows it by that number. So the handle
 * puts the point back into the log under a number that is free, and from then on takes
 * the old number for the new one. No value is ever credited to another point.
 */
#ifndef CB_STUDY_HANDED_H
#define CB_STUDY_HANDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "log/history.h"

typedef struct cb_hand {
  int64_t number; /* by which the caller knows it */
  int64_t now;    /* its number in the log */
  cb_cell *cells; /* the log has lost it, and it is not back yet; else NULL */
  bool unseen; /* or has it, for all that is known: it was written and not read yet */
} cb_hand;

/* Starts as zeros. There are few: they are searched one by one. */
typedef struct cb_handed {
  cb_hand *hands;
  size_t n, capacity;
} cb_handed;

void cb_handed_clear(cb_handed *handed);

/* What the log calls the trial that the caller knows by this number. */
int64_t cb_handed_now(const cb_handed *handed, int64_t number);
/* The caller is done with it. */
void cb_handed_drop(cb_handed *handed, int64_t number);

/* The log has been read anew: which of the trials that were handed out has it lost?
 * Those that it has are marked as handed out there too. On failure some are not found
 * yet: it may be called again. */
cocabo_status cb_handed_compare(cb_handed *handed, const cb_history *before,
                                cb_history *now, cocabo_error *err);
/* A trial was handed out whose event is in the log, but could not be read back. When
 * the log has been read, it is known whether it is there or lost. */
cocabo_status cb_handed_unseen(cb_handed *handed, const cb_event *asked,
                               cocabo_error *err);
void cb_handed_settle(cb_handed *handed, cb_history *now);
/* One that is lost, NULL: none is; and it is in the log again by this event, which has
 * its cells now. */
cb_hand *cb_handed_lost(const cb_handed *handed);
void cb_handed_is_back(cb_hand *hand, const cb_event *added);

#endif
