/* target.c - decodes the path and the query of a request. */
#include "http/target.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "common/base.h"

static int digit_of(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  c = (char)(c | 0x20);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes size bytes to *room, behind which the next text goes. NULL: it is no text
 * that a name could be. */
static const char *decode(const char *text, size_t size, bool plus, char **room) {
  char *out = *room, *start = out;
  for (size_t i = 0; i < size; i++) {
    char c = text[i];
    if (c == '%') {
      if (size - i < 3 || digit_of(text[i + 1]) < 0 || digit_of(text[i + 2]) < 0)
        return NULL;
      c = (char)(digit_of(text[i + 1]) * 16 + digit_of(text[i + 2]));
      i += 2;
    } else if (c == '+' && plus) {
      c = ' ';
    }
    if (c == '\0')
      return NULL;
    *out++ = c;
  }
  *out++ = '\0';
  *room = out;
  for (size_t i = 0, step; start[i]; i += step)
    if (cb_text_is_control(cb_text_decode(start + i, &step)))
      return NULL;
  return cb_text_is_utf8(start) ? start : NULL;
}

static cocabo_status bad_target(const char *text, cocabo_error *err) {
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_INVALID,
                 "\"%s\" is no path of this server, want UTF-8 with %%XX for what is "
                 "special",
                 cb_text_show(shown, text));
}

static cocabo_status read_path(http_target *out, const char *text, size_t size,
                               char **room, cocabo_error *err) {
  size_t at = 1;
  while (at < size) {
    const char *slash = memchr(text + at, '/', size - at);
    const size_t end = slash ? (size_t)(slash - text) : size;
    if (out->n == HTTP_SEGMENTS || end == at ||
        !(out->segments[out->n] = decode(text + at, end - at, false, room)))
      return bad_target(text, err);
    out->n++;
    at = end + 1;
  }
  return size > 1 && text[size - 1] == '/' ? bad_target(text, err) : COCABO_OK;
}

static cocabo_status read_pair(http_target *out, const char *text, size_t size,
                               char **room, cocabo_error *err) {
  const char *equals = memchr(text, '=', size);
  const size_t name = equals ? (size_t)(equals - text) : size;
  const size_t value = equals ? size - name - 1 : 0;
  char shown[CB_SHOWN];
  if (out->n_pairs == HTTP_PAIRS)
    return cb_fail(err, COCABO_E_RANGE, "the query has more than %d parts", HTTP_PAIRS);
  struct http_pair *pair = &out->pairs[out->n_pairs];
  pair->name = decode(text, name, true, room);
  pair->value = decode(equals ? equals + 1 : text, value, true, room);
  if (!pair->name || !pair->value)
    return bad_target(text, err);
  if (http_query(out, pair->name))
    return cb_fail(err, COCABO_E_INVALID, "the query has %s twice",
                   cb_text_show(shown, pair->name));
  out->n_pairs++;
  return COCABO_OK;
}

cocabo_status http_target_read(http_target *out, const char *text, cocabo_error *err) {
  const size_t size = strlen(text), path = strcspn(text, "?");
  char *room = out->texts;
  out->n = out->n_pairs = 0;
  /* Every text has one byte for its separator, which becomes its NUL; a pair without
   * `=` needs one more. */
  if (size >= HTTP_TARGET_MAX)
    return cb_fail(err, COCABO_E_RANGE, "the path has %zu bytes, want fewer than %d",
                   size, HTTP_TARGET_MAX);
  if (text[0] != '/')
    return bad_target(text, err);
  CB_TRY(read_path(out, text, path, &room, err));
  for (size_t at = path + 1; at < size;) {
    const size_t part = strcspn(text + at, "&");
    if (part > 0)
      CB_TRY(read_pair(out, text + at, part, &room, err));
    at += part + 1;
  }
  return COCABO_OK;
}

const char *http_query(const http_target *target, const char *name) {
  for (int i = 0; i < target->n_pairs; i++)
    if (strcmp(target->pairs[i].name, name) == 0)
      return target->pairs[i].value;
  return NULL;
}

cocabo_status http_query_int(const http_target *target, const char *name, int64_t low,
                             int64_t high, int64_t *out, cocabo_error *err) {
  const char *text = http_query(target, name);
  int64_t number;
  char shown[CB_SHOWN];
  if (!text)
    return COCABO_OK;
  if (!cb_parse_int(text, &number) || number < low || number > high)
    return cb_fail(err, COCABO_E_INVALID,
                   "%s is \"%s\", want a whole number from %" PRId64 " to %" PRId64,
                   name, cb_text_show(shown, text), low, high);
  *out = number;
  return COCABO_OK;
}
