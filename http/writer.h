/* writer.h - JSON documents of any size. The first failure is remembered and nothing is
 * written from then on, so that only the end needs a check. Commas come by themselves.
 */
#ifndef HTTP_WRITER_H
#define HTTP_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/base.h"
#include "common/buffer.h"

/* Starts as {0}, or {.err = err}; `out` is the caller's to free or to take. */
typedef struct http_json {
  front_buffer out;
  bool comma; /* is due before the next value */
  cocabo_status status;
  cocabo_error *err; /* where the sentence goes; may be NULL */
} http_json;

void http_open(http_json *json, char bracket);  /* '[' or '{' */
void http_close(http_json *json, char bracket); /* ']' or '}' */
void http_key(http_json *json, const char *key);
void http_word(http_json *json, const char *word); /* true, false, null, digits */
void http_flag(http_json *json, bool flag);
void http_integer(http_json *json, int64_t number);
/* The number to the bit, or so many digits of it; null where it is not finite. */
void http_real(http_json *json, double number);
void http_rounded(http_json *json, double number, int digits);
void http_time(http_json *json, double seconds); /* to the millisecond */
void http_text(http_json *json, const char *text);
void http_text_part(http_json *json, const char *text, size_t size);
void http_value(http_json *json, const cocabo_value *value);
/* Another document as it is. */
void http_raw(http_json *json, const char *text, size_t size);

/* A key and its value. */
void http_put_integer(http_json *json, const char *key, int64_t number);
void http_put_real(http_json *json, const char *key, double number);
void http_put_time(http_json *json, const char *key, double seconds);
void http_put_text(http_json *json, const char *key, const char *text); /* or null */
void http_put_flag(http_json *json, const char *key, bool flag);

#endif
