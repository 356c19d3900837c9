/* writer.c - writes JSON into a buffer that grows. */
#include "http/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/json.h"

static void put(http_json *json, const void *bytes, size_t size) {
  if (json->status == COCABO_OK)
    json->status = front_buffer_append(&json->out, bytes, size, json->err);
}

static void separate(http_json *json) {
  if (json->comma)
    put(json, ",", 1);
  json->comma = true;
}

void http_open(http_json *json, char bracket) {
  separate(json);
  put(json, &bracket, 1);
  json->comma = false;
}

void http_close(http_json *json, char bracket) {
  put(json, &bracket, 1);
  json->comma = true;
}

void http_raw(http_json *json, const char *text, size_t size) {
  separate(json);
  put(json, text, size);
}

void http_word(http_json *json, const char *word) {
  http_raw(json, word, strlen(word));
}

void http_flag(http_json *json, bool flag) {
  http_word(json, flag ? "true" : "false");
}

void http_integer(http_json *json, int64_t number) {
  char digits[CB_DIGITS];
  snprintf(digits, sizeof digits, "%" PRId64, number);
  http_word(json, digits);
}

void http_real(http_json *json, double number) {
  char digits[CB_DIGITS];
  http_word(json, isfinite(number) ? cb_number_show(digits, number) : "null");
}

void http_rounded(http_json *json, double number, int digits) {
  char text[64];
  if (!isfinite(number)) {
    http_word(json, "null");
    return;
  }
  snprintf(text, sizeof text, "%.*g", digits, number);
  http_word(json, text);
}

void http_time(http_json *json, double seconds) {
  char text[64];
  if (!isfinite(seconds) || fabs(seconds) > 1e15) {
    http_word(json, "null");
    return;
  }
  snprintf(text, sizeof text, "%.3f", seconds);
  http_word(json, text);
}

void http_text(http_json *json, const char *text) {
  separate(json);
  if (json->status == COCABO_OK)
    json->status = front_put_json_text(&json->out, text, json->err);
}

/* Cut at a whole character. */
void http_text_part(http_json *json, const char *text, size_t size) {
  while (size > 0 && ((unsigned char)text[size] & 0xC0) == 0x80)
    size--;
  char *part = json->status == COCABO_OK ? cb_strndup(text, size) : NULL;
  if (part)
    http_text(json, part);
  else if (json->status == COCABO_OK)
    json->status = cb_no_memory(json->err);
  cb_free(part);
}

void http_value(http_json *json, const cocabo_value *value) {
  separate(json);
  if (json->status == COCABO_OK)
    json->status = front_put_json_value(&json->out, value, json->err);
}

void http_key(http_json *json, const char *key) {
  http_text(json, key);
  put(json, ":", 1);
  json->comma = false;
}

void http_put_integer(http_json *json, const char *key, int64_t number) {
  http_key(json, key);
  http_integer(json, number);
}

void http_put_real(http_json *json, const char *key, double number) {
  http_key(json, key);
  http_real(json, number);
}

void http_put_time(http_json *json, const char *key, double seconds) {
  http_key(json, key);
  http_time(json, seconds);
}

void http_put_text(http_json *json, const char *key, const char *text) {
  http_key(json, key);
  if (text)
    http_text(json, text);
  else
    http_word(json, "null");
}

void http_put_flag(http_json *json, const char *key, bool flag) {
  http_key(json, key);
  http_flag(json, flag);
}
