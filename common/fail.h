/* fail.h - how a front end fails: one statement, one sentence.
 *
 *   return front_fail(err, COCABO_E_RANGE, "-n is %d, want >= 1", n);
 *   FRONT_TRY(callee(args, err));
 *
 * The same manner as inside the library, whose own helpers front ends do not see.
 */
#ifndef FRONT_FAIL_H
#define FRONT_FAIL_H

#include <stddef.h>

#include "cocabo.h"

/* Fills err (which may be NULL) with the code and the formatted sentence, cut at a
 * whole UTF-8 character if it is too long, and returns the code. */
cocabo_status front_fail(cocabo_error *err, cocabo_status code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The one message for a failed allocation. */
cocabo_status front_no_memory(cocabo_error *err);

/* Forwards a failure to the caller. */
#define FRONT_TRY(call)                                                                \
  do {                                                                                 \
    const cocabo_status front_status_ = (call);                                        \
    if (front_status_ != COCABO_OK)                                                    \
      return front_status_;                                                            \
  } while (0)

/* Makes room for `want` items in a growable array: capacity at least doubles. On
 * failure (0 is returned) the array is as it was. Release it with free. */
int front_reserve(void **array, size_t *capacity, size_t want, size_t size)
    __attribute__((warn_unused_result));

#endif
