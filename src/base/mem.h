/* mem.h - the one door to the heap.
 *
 * Every allocation of the library goes through here, so that a test can make the k-th
 * one fail: cb_mem_fail_after(k), run the call, demand COCABO_E_NO_MEMORY.
 */
#ifndef CB_BASE_MEM_H
#define CB_BASE_MEM_H

#include <stddef.h>

/* Zeroed memory for `count` items of `size` bytes, or NULL; zero items give a valid
 * pointer, so that NULL always means failure. */
void *cb_calloc(size_t count, size_t size) __attribute__((warn_unused_result));

/* Grows or shrinks a block; what is new is not zeroed. On failure the old block stays
 * as it was and NULL is returned. */
void *cb_realloc(void *block, size_t count, size_t size)
    __attribute__((warn_unused_result));

char *cb_strdup(const char *text) __attribute__((warn_unused_result));
/* The first `bytes` of a text that has no fewer, with a NUL behind them. */
char *cb_strndup(const char *text, size_t bytes) __attribute__((warn_unused_result));

void cb_free(void *block); /* NULL is allowed */

/* Makes room for `want` items in a growable array: capacity at least doubles. On
 * failure (0 is returned) the array is as it was. Release it with cb_free. */
int cb_reserve(void **array, size_t *capacity, size_t want, size_t size)
    __attribute__((warn_unused_result));

/* Test hook, per thread: after n more successful allocations one fails, then all
 * succeed again. A negative n switches it off. */
void cb_mem_fail_after(long n);

/* Index into a column-major array with leading dimension ld. */
static inline ptrdiff_t cb_at(ptrdiff_t row, ptrdiff_t col, ptrdiff_t ld) {
  return row + col * ld;
}

#endif
