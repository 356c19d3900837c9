/* buffer.h - text that grows. */
#ifndef FRONT_BUFFER_H
#define FRONT_BUFFER_H

#include <stddef.h>

#include "cocabo.h"

/* Starts as {0}; data is owned and holds no NUL at the end. */
typedef struct front_buffer {
  char *data;
  size_t size, capacity;
} front_buffer;

void front_buffer_free(front_buffer *buffer); /* and back to {0} */

/* On failure the buffer is as it was. */
cocabo_status front_buffer_append(front_buffer *buffer, const void *bytes, size_t size,
                                  cocabo_error *err);
cocabo_status front_buffer_puts(front_buffer *buffer, const char *text,
                                cocabo_error *err);
cocabo_status front_buffer_printf(front_buffer *buffer, cocabo_error *err,
                                  const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Takes `size` bytes away at the front. */
void front_buffer_consume(front_buffer *buffer, size_t size);

/* The text with a NUL behind it, which is not counted; valid until the next change.
 * NULL if out of memory. */
const char *front_buffer_text(front_buffer *buffer, cocabo_error *err);

#endif
