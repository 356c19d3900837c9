/* vector.c - which vectors this processor has. */
#include "base/vector.h"

#include <stdatomic.h>

/* One more than the width, 0: not yet known. Threads that meet here find the same. */
static atomic_int known;

static cb_vector has(void) {
#ifdef __x86_64__
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f"))
    return CB_AVX512;
  if (__builtin_cpu_supports("avx2"))
    return CB_AVX2;
#endif
  return CB_PLAIN;
}

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
