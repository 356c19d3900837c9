/* buffer.c - A growing text over cb_reserve. */
#include "common/buffer.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"

void front_buffer_free(front_buffer *buffer) {
  cb_free(buffer->data);
  *buffer = (front_buffer){0};
}

static cocabo_status make_room(front_buffer *buffer, size_t more, cocabo_error *err) {
  void *data = buffer->data;
  if (!cb_reserve(&data, &buffer->capacity, buffer->size + more, 1))
    return cb_no_memory(err);
  buffer->data = data;
  return COCABO_OK;
}

cocabo_status front_buffer_append(front_buffer *buffer, const void *bytes, size_t size,
                                  cocabo_error *err) {
  if (size == 0)
    return COCABO_OK;
  CB_TRY(make_room(buffer, size, err));
  memcpy(buffer->data + buffer->size, bytes, size);
  buffer->size += size;
  return COCABO_OK;
}

cocabo_status front_buffer_puts(front_buffer *buffer, const char *text,
                                cocabo_error *err) {
  return front_buffer_append(buffer, text, strlen(text), err);
}

/* The size is known only after a first try, which mostly has room enough. */
cocabo_status front_buffer_printf(front_buffer *buffer, cocabo_error *err,
                                  const char *fmt, ...) {
  size_t more = 128;
  for (;;) {
    CB_TRY(make_room(buffer, more, err));
    va_list args;
    va_start(args, fmt);
    const int size = vsnprintf(buffer->data + buffer->size, more, fmt, args);
    va_end(args);
    if (size < 0)
      return cb_fail(err, COCABO_E_INTERNAL, "a text cannot be formatted");
    if ((size_t)size < more) {
      buffer->size += (size_t)size;
      return COCABO_OK;
    }
    more = (size_t)size + 1;
  }
}

void front_buffer_consume(front_buffer *buffer, size_t size) {
  buffer->size -= size;
  memmove(buffer->data, buffer->data + size, buffer->size);
}

const char *front_buffer_text(front_buffer *buffer, cocabo_error *err) {
  if (make_room(buffer, 1, err) != COCABO_OK)
    return NULL;
  buffer->data[buffer->size] = '\0';
  return buffer->data;
}
