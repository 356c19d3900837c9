/* mem.c - the allocator of the library, and the failure that a test can ask of it.
 *
 * The countdown is a thread's own, so that tests with threads do not disturb each
 * other.
 */
#include "base/mem.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local long fail_countdown = -1; /* negative: never */

static int must_fail(void) {
  return fail_countdown >= 0 && fail_countdown-- == 0;
}

void *cb_calloc(size_t count, size_t size) {
  if (must_fail())
    return NULL;
  return calloc(count > 0 ? count : 1, size);
}

void *cb_realloc(void *block, size_t count, size_t size) {
  if (must_fail() || (size > 0 && count > SIZE_MAX / size))
    return NULL;
  const size_t bytes = count * size;
  return realloc(block, bytes > 0 ? bytes : 1);
}

char *cb_strdup(const char *text) {
  return cb_strndup(text, strlen(text));
}

char *cb_strndup(const char *text, size_t bytes) {
  char *copy = bytes < SIZE_MAX ? cb_calloc(bytes + 1, 1) : NULL;
  if (copy)
    memcpy(copy, text, bytes);
  return copy;
}

void cb_free(void *block) {
  free(block);
}

int cb_reserve(void **array, size_t *capacity, size_t want, size_t size) {
  if (want <= *capacity)
    return 1;
  size_t grown = *capacity < SIZE_MAX / 2 ? 2 * *capacity : want;
  if (grown < want)
    grown = want;
  void *bigger = cb_realloc(*array, grown, size);
  if (!bigger)
    return 0;
  *array = bigger;
  *capacity = grown;
  return 1;
}

void cb_mem_fail_after(long n) {
  fail_countdown = n;
}
