/* buffer.h - text that grows. */
#ifndef BENCH_BUFFER_H
#define BENCH_BUFFER_H

#include <stddef.h>

#include "cocabo.h"

/* Starts as {0}; data is owned and holds no NUL at the end. */
typedef struct bench_buffer {
  char *data;
  size_t size, capacity;
} bench_buffer;

void bench_buffer_free(bench_buffer *buffer); /* and back to {0} */

/* On failure the buffer is as it was. */
cocabo_status bench_buffer_append(bench_buffer *buffer, const void *bytes, size_t size,
                                  cocabo_error *err);
cocabo_status bench_buffer_printf(bench_buffer *buffer, cocabo_error *err,
                                  const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes `size` bytes away at the front. */
void bench_buffer_consume(bench_buffer *buffer, size_t size);

#endif
