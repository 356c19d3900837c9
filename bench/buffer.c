#include "buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

void bench_buffer_free(bench_buffer *buffer) {
  cb_free(buffer->data);
  *buffer = (bench_buffer){0};
}

cocabo_status bench_buffer_append(bench_buffer *buffer, const void *bytes, size_t size,
                                  cocabo_error *err) {
  if (size == 0)
    return COCABO_OK;
  void *data = buffer->data;
  if (!cb_reserve(&data, &buffer->capacity, buffer->size + size, 1))
    return cb_no_memory(err);
  buffer->data = data;
  memcpy(buffer->data + buffer->size, bytes, size);
  buffer->size += size;
  return COCABO_OK;
}

/* For short pieces: a line of results, a number. */
cocabo_status bench_buffer_printf(bench_buffer *buffer, cocabo_error *err,
                                  const char *fmt, ...) {
  char piece[512];
  va_list args;
  va_start(args, fmt);
  const int size = vsnprintf(piece, sizeof piece, fmt, args);
  va_end(args);
  if (size < 0 || (size_t)size >= sizeof piece)
    return cb_fail(err, COCABO_E_INTERNAL, "a piece of text has %d bytes", size);
  return bench_buffer_append(buffer, piece, (size_t)size, err);
}

void bench_buffer_consume(bench_buffer *buffer, size_t size) {
  buffer->size -= size;
  memmove(buffer->data, buffer->data + size, buffer->size);
}
