/* status.h - how a call fails: one statement, one sentence.
 *
 *   return cb_fail(err, COCABO_E_RANGE, "kappa is %g, want >= 0", kappa);
 *   CB_TRY(callee(args, err));
 */
#ifndef CB_BASE_STATUS_H
#define CB_BASE_STATUS_H

#include "cocabo.h"

/* Fills err (which may be NULL) with the code and the formatted sentence, cut at a
 * whole UTF-8 character if it is too long, and returns the code. */
cocabo_status cb_fail(cocabo_error *err, cocabo_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The one message for a failed allocation. */
cocabo_status cb_no_memory(cocabo_error *err);

/* Forwards a failure to the caller. */
#define CB_TRY(call)                                                                   \
  do {                                                                                 \
    const cocabo_status cb_status_ = (call);                                           \
    if (cb_status_ != COCABO_OK)                                                       \
      return cb_status_;                                                               \
  } while (0)

#endif
