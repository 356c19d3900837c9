/* vector.c - which vectors this processor has. */
#include "base/vector.h"

#include <stdatomic.h>
#ifdef __x86_64__
#include <cpuid.h>
#endif

/* One more than the width, 0: not yet known. Threads that meet here find the same. */
static atomic_int known;

#ifdef __x86_64__
/* Which registers the system saves when it changes threads: the low half of XCR0. */
static unsigned saved_registers(void) {
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

/* The processor is asked itself: __builtin_cpu_supports needs a part of the compiler's
 * runtime that zig's has not, and wheels for old systems are made with zig. */
static cb_vector has(void) {
  enum { YMM = 0x06, ZMM = 0xE6 }; /* what vectors of 256 and 512 bits need saved */
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE))
    return CB_PLAIN;
  const unsigned saved = saved_registers();
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d))
    return CB_PLAIN;
  if ((b & bit_AVX512F) && (saved & ZMM) == ZMM)
    return CB_AVX512;
  if ((b & bit_AVX2) && (saved & YMM) == YMM)
    return CB_AVX2;
  return CB_PLAIN;
}
#else
static cb_vector has(void) {
  return CB_PLAIN;
}
#endif

cb_vector cb_vector_widest(void) {
  int width = atomic_load_explicit(&known, memory_order_relaxed);
  if (width == 0) {
    width = (int)has() + 1;
    atomic_store_explicit(&known, width, memory_order_relaxed);
  }
  return (cb_vector)(width - 1);
}

void cb_vector_limit(cb_vector most) {
  const cb_vector widest = has();
  atomic_store_explicit(&known, (int)(most < widest ? most : widest) + 1,
                        memory_order_relaxed);
}
