/* check.h - what every test includes: cmocka, and comparisons that NaN cannot pass. */
#ifndef CB_TESTS_CHECK_H
#define CB_TESTS_CHECK_H

/* cmocka.h wants the first four before it; the blank line keeps them so. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cocabo.h"

/* How often something is repeated. For its statistics that is `all` times; a sanitizer
 * has seen what there is to see after `some`. */
#ifdef CB_SANITIZED
#define REPEAT(all, some) (some)
#else
#define REPEAT(all, some) (all)
#endif

/* |got - want| <= tol (1 + |want|); written so that only "close" passes. */
#define assert_close(got, want, tol)                                                   \
  do {                                                                                 \
    const double got_ = (got), want_ = (want);                                         \
    if (!(fabs(got_ - want_) <= (tol) * (1.0 + fabs(want_))))                          \
      fail_msg("%s is %.17g, want %.17g", #got, got_, want_);                          \
  } while (0)

/* |got - want| <= tol |want|, for values whose size carries the meaning. */
#define assert_relative(got, want, tol)                                                \
  do {                                                                                 \
    const double got_ = (got), want_ = (want);                                         \
    if (!(fabs(got_ - want_) <= (tol)*fabs(want_)))                                    \
      fail_msg("%s is %.17g, want %.17g", #got, got_, want_);                          \
  } while (0)

/* The call succeeds; otherwise its sentence is shown. `err` must be in scope. */
#define assert_ok(call)                                                                \
  do {                                                                                 \
    if ((call) != COCABO_OK)                                                           \
      fail_msg("%s: %s", #call, err.message);                                          \
  } while (0)

/* The call fails with exactly this code and sentence. `err` must be in scope. */
#define assert_fails(call, status, sentence)                                           \
  do {                                                                                 \
    assert_int_equal((call), (status));                                                \
    assert_int_equal(err.code, (status));                                              \
    assert_string_equal(err.message, (sentence));                                      \
  } while (0)

#endif
