/* status.c - sentences of errors: formatted, cut at a whole character, and names of
 * codes.
 */
#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* A UTF-8 continuation byte is 10xxxxxx: step back over a character cut in half. */
static void trim_to_whole_character(char *text, size_t length) {
  while (length > 0 && ((unsigned char)text[length - 1] & 0xC0) == 0x80)
    length--;
  if (length > 0 && ((unsigned char)text[length - 1] & 0xC0) == 0xC0)
    length--;
  text[length] = '\0';
}

cocabo_status cb_fail(cocabo_error *err, cocabo_status code, const char *fmt, ...) {
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
  memcpy(err->message, text, strlen(text) + 1);
  return code;
}

cocabo_status cb_no_memory(cocabo_error *err) {
  return cb_fail(err, COCABO_E_NO_MEMORY, "out of memory");
}

uint32_t cocabo_version(void) {
  return COCABO_VERSION_HEX;
}

const char *cocabo_status_name(cocabo_status code) {
  switch (code) {
  case COCABO_OK:
    return "ok";
  case COCABO_E_INVALID:
    return "invalid argument";
  case COCABO_E_RANGE:
    return "out of range";
  case COCABO_E_STATE:
    return "not allowed now";
  case COCABO_E_NOT_FOUND:
    return "not found";
  case COCABO_E_EXISTS:
    return "already exists";
  case COCABO_E_EXHAUSTED:
    return "space exhausted";
  case COCABO_E_BUDGET:
    return "budget used up";
  case COCABO_E_NO_MEMORY:
    return "out of memory";
  case COCABO_E_NUMERIC:
    return "numerical failure";
  case COCABO_E_STORE:
    return "store failure";
  case COCABO_E_BUSY:
    return "busy";
  case COCABO_E_INTERRUPTED:
    return "interrupted";
  case COCABO_E_INTERNAL:
    return "internal error";
  }
  return "unknown status";
}
