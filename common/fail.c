#include "common/fail.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A UTF-8 continuation byte is 10xxxxxx: step back over a character cut in half. */
static void trim_to_whole_character(char *text, size_t length) {
  while (length > 0 && ((unsigned char)text[length - 1] & 0xC0) == 0x80)
    length--;
  if (length > 0 && ((unsigned char)text[length - 1] & 0xC0) == 0xC0)
    length--;
  text[length] = '\0';
}

cocabo_status front_fail(cocabo_error *err, cocabo_status code, const char *fmt, ...) {
  if (!err)
    return code;
  /* Formatted aside: an argument may be the old sentence of the same error. */
  char text[sizeof err->message];
  va_list args;
  va_start(args, fmt);
  const int wanted = vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  if (wanted >= (int)sizeof text)
    trim_to_whole_character(text, sizeof text - 1);
  *err = (cocabo_error){.code = code};
  memcpy(err->message, text, sizeof text);
  return code;
}

cocabo_status front_no_memory(cocabo_error *err) {
  return front_fail(err, COCABO_E_NO_MEMORY, "out of memory");
}

int front_reserve(void **array, size_t *capacity, size_t want, size_t size) {
  if (want <= *capacity)
    return 1;
  size_t room = *capacity < SIZE_MAX / 2 ? 2 * *capacity : want;
  if (room < want)
    room = want;
  if (room < 16)
    room = 16;
  void *grown = room <= SIZE_MAX / size ? realloc(*array, room * size) : NULL;
  if (!grown)
    return 0;
  *array = grown;
  *capacity = room;
  return 1;
}
