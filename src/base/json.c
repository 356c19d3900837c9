/* json.c - writing JSON into a buffer that grows, and reading it in one pass without a
 * tree.
 *
 * Numbers are written with as many digits as give the same double again, with a point
 * whatever the locale is. Both directions keep the first failure and ignore every call
 * after it.
 */
#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"

/* ---- writing --------------------------------------------------------------------- */

void cb_json_start(cb_json *json, cocabo_error *err) {
  json->length = 0;
  json->status = COCABO_OK;
  json->err = err;
}

void cb_json_free(cb_json *json) {
  cb_free(json->text);
  memset(json, 0, sizeof *json);
}

static void put(cb_json *json, const char *bytes, size_t n) {
  if (json->status != COCABO_OK)
    return;
  const size_t most = json->most > 0 ? json->most : CB_JSON_MAX;
  if (n > most - json->length) {
    json->status =
        cb_fail(json->err, COCABO_E_INVALID, "%s more than %zu MiB",
                json->most > 0 ? "what is sent takes" : "an event needs", most >> 20);
    return;
  }
  void *text = json->text;
  if (!cb_reserve(&text, &json->capacity, json->length + n, 1)) {
    json->status = cb_no_memory(json->err);
    return;
  }
  json->text = text;
  memcpy(json->text + json->length, bytes, n);
  json->length += n;
}

static void put_text(cb_json *json, const char *text) {
  put(json, text, strlen(text));
}

/* A comma, unless this is the first item of its array or object, or follows a key. */
static void separate(cb_json *json) {
  if (json->length > 0 && !strchr("[{:", json->text[json->length - 1]))
    put(json, ",", 1);
}

void cb_json_open(cb_json *json, const char *bracket) {
  separate(json);
  put_text(json, bracket);
}

void cb_json_close(cb_json *json, const char *bracket) {
  put_text(json, bracket);
}

void cb_json_word(cb_json *json, const char *word) {
  separate(json);
  put_text(json, word);
}

void cb_json_integer(cb_json *json, int64_t number) {
  char digits[CB_DIGITS];
  snprintf(digits, sizeof digits, "%" PRId64, number);
  cb_json_word(json, digits);
}

void cb_json_real(cb_json *json, double number) {
  char digits[CB_DIGITS];
  cb_number_show(digits, number);
  if (json->status == COCABO_OK && !isfinite(number))
    json->status = cb_fail(json->err, COCABO_E_INVALID,
                           "a number of an event is %s, want a finite one", digits);
  cb_json_word(json, digits);
  if (!strpbrk(digits, ".e"))
    put_text(json, ".0");
}

/* The bytes up to the next one that has to be escaped. */
static size_t plain_bytes(const char *text) {
  size_t n = 0;
  while ((unsigned char)text[n] >= 0x20 && text[n] != '"' && text[n] != '\\')
    n++;
  return n;
}

static void put_escaped(cb_json *json, char byte) {
  char escape[8];
  if (byte == '"' || byte == '\\')
    snprintf(escape, sizeof escape, "\\%c", byte);
  else
    snprintf(escape, sizeof escape, "\\u%04x", (unsigned)(byte & 0x1F));
  put_text(json, escape);
}

static void put_quoted(cb_json *json, const char *text) {
  put(json, "\"", 1);
  while (*text) {
    const size_t plain = plain_bytes(text);
    put(json, text, plain);
    text += plain;
    if (*text)
      put_escaped(json, *text++);
  }
  put(json, "\"", 1);
}

void cb_json_string(cb_json *json, const char *text) {
  char shown[CB_SHOWN];
  if (json->status == COCABO_OK && text && !cb_text_is_utf8(text))
    json->status = cb_fail(json->err, COCABO_E_INVALID, "\"%s\" is not valid UTF-8",
                           cb_text_show(shown, text));
  if (!text) {
    cb_json_word(json, "null");
    return;
  }
  separate(json);
  put_quoted(json, text);
}

void cb_json_raw(cb_json *json, const char *text, size_t length) {
  separate(json);
  put(json, text, length);
}

void cb_json_key(cb_json *json, const char *key) {
  separate(json);
  put_quoted(json, key);
  put(json, ":", 1);
}

/* ---- reading: steps -------------------------------------------------------------- */

cb_walk cb_walk_start(const char *text, size_t length) {
  cb_walk walk = {.text = text, .at = text, .end = text + length};
  if (length > CB_JSON_MAX)
    cb_walk_fail(&walk, "a shorter text");
  return walk;
}

void cb_walk_fail(cb_walk *walk, const char *why) {
  if (!walk->why)
    walk->why = why;
}

void cb_walk_no_memory(cb_walk *walk) {
  walk->no_memory = !walk->why;
  cb_walk_fail(walk, "memory");
}

void cb_walk_space(cb_walk *walk) {
  while (walk->at < walk->end && (*walk->at == ' ' || *walk->at == '\t' ||
                                  *walk->at == '\n' || *walk->at == '\r'))
    walk->at++;
}

/* The next byte that is not space; 0 at the end and after a failure. */
static char look(cb_walk *walk) {
  if (walk->why)
    return '\0';
  cb_walk_space(walk);
  return walk->at < walk->end ? *walk->at : '\0';
}

static bool take(cb_walk *walk, char byte) {
  if (look(walk) != byte || byte == '\0')
    return false;
  walk->at++;
  return true;
}

static bool take_word(cb_walk *walk, const char *word) {
  const size_t n = strlen(word);
  if (look(walk) != *word || (size_t)(walk->end - walk->at) < n ||
      memcmp(walk->at, word, n) != 0)
    return false;
  walk->at += n;
  return true;
}

void cb_walk_end(cb_walk *walk) {
  if (look(walk) != '\0' || walk->at < walk->end) /* a failure stays where it is */
    cb_walk_fail(walk, "the end");
}

void cb_walk_open(cb_walk *walk, char bracket) {
  if (!take(walk, bracket))
    cb_walk_fail(walk, bracket == '[' ? "an array" : "an object");
  walk->first = true;
}

bool cb_walk_more(cb_walk *walk, char bracket) {
  const bool first = walk->first;
  walk->first = false;
  if (walk->why || take(walk, bracket))
    return false;
  if (!first && !take(walk, ','))
    cb_walk_fail(walk, "a comma or the end of a list");
  return !walk->why;
}

/* ---- reading: numbers ------------------------------------------------------------ */

/* One number as JSON spells it, or length 0. */
typedef struct number {
  size_t length;
  bool real; /* it has a point or an exponent */
} number;

static size_t count_digits(const char *at, const char *end) {
  const char *start = at;
  while (at < end && *at >= '0' && *at <= '9')
    at++;
  return (size_t)(at - start);
}

static number scan_number(const char *text, const char *end) {
  const char *at = text + (text < end && *text == '-');
  const size_t whole = count_digits(at, end);
  bool real = false;
  if (whole == 0 || (whole > 1 && *at == '0'))
    return (number){0};
  at += whole;
  if (at < end && *at == '.') {
    const size_t digits = count_digits(at + 1, end);
    if (digits == 0)
      return (number){0};
    at += 1 + digits;
    real = true;
  }
  if (at < end && (*at == 'e' || *at == 'E')) {
    at++;
    at += at < end && (*at == '+' || *at == '-');
    const size_t digits = count_digits(at, end);
    if (digits == 0)
      return (number){0};
    at += digits;
    real = true;
  }
  return (number){.length = (size_t)(at - text), .real = real};
}

/* Kept negative while it grows: the negative range is the larger one. */
static bool parse_integer(const char *text, size_t length, int64_t *out) {
  const bool negative = *text == '-';
  int64_t value = 0;
  for (size_t i = negative; i < length; i++) {
    const int units = text[i] - '0';
    if (value < (INT64_MIN + units) / 10)
      return false;
    value = 10 * value - units;
  }
  if (!negative && value == INT64_MIN)
    return false;
  *out = negative ? value : -value;
  return true;
}

int64_t cb_walk_integer(cb_walk *walk, int64_t low, int64_t high) {
  int64_t value = 0;
  look(walk);
  const number n = walk->why ? (number){0} : scan_number(walk->at, walk->end);
  if (n.length == 0 || n.real || !parse_integer(walk->at, n.length, &value) ||
      value < low || value > high) {
    cb_walk_fail(walk, "an integer in its range");
    return 0;
  }
  walk->at += n.length;
  return value;
}

bool cb_walk_fits_integer(cb_walk *walk, int64_t *integer) {
  look(walk);
  const number n = walk->why ? (number){0} : scan_number(walk->at, walk->end);
  if (n.length == 0 || n.real || !parse_integer(walk->at, n.length, integer))
    return false;
  walk->at += n.length;
  return true;
}

static double parse_real(const char *text, size_t length) {
  double value;
  return cb_parse_decimal(text, length, &value) ? value : NAN;
}

double cb_walk_real(cb_walk *walk) {
  look(walk);
  const number n = walk->why ? (number){0} : scan_number(walk->at, walk->end);
  const double value = n.length > 0 ? parse_real(walk->at, n.length) : NAN;
  if (!isfinite(value)) {
    cb_walk_fail(walk, "a finite number");
    return 0.0;
  }
  walk->at += n.length;
  return value;
}

cb_json_type cb_walk_number(cb_walk *walk, int64_t *integer, double *real) {
  look(walk);
  const number n = walk->why ? (number){0} : scan_number(walk->at, walk->end);
  if (n.length == 0 || n.real) {
    *real = cb_walk_real(walk);
    return walk->why ? CB_JSON_NOTHING : CB_JSON_REAL;
  }
  *integer = cb_walk_integer(walk, INT64_MIN, INT64_MAX);
  *real = (double)*integer;
  return walk->why ? CB_JSON_NOTHING : CB_JSON_INTEGER;
}

/* ---- reading: words and texts ---------------------------------------------------- */

bool cb_walk_bool(cb_walk *walk) {
  const bool yes = take_word(walk, "true");
  if (!yes && !take_word(walk, "false"))
    cb_walk_fail(walk, "true or false");
  return yes;
}

void cb_walk_null(cb_walk *walk) {
  if (!take_word(walk, "null"))
    cb_walk_fail(walk, "null");
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9')
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four digits after \u, or -1. */
static int32_t take_unit(cb_walk *walk) {
  int32_t unit = 0;
  if (walk->end - walk->at < 4)
    return -1;
  for (int i = 0; i < 4; i++) {
    const int digit = hex_digit(*walk->at++);
    if (digit < 0)
      return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

/* The character after \u, which may take two units; -1 if it is none, or NUL. */
static int32_t take_code(cb_walk *walk) {
  const int32_t high = take_unit(walk);
  if (high < 0xD800 || high > 0xDFFF)
    return high == 0 ? -1 : high;
  if (high > 0xDBFF || walk->end - walk->at < 2 || memcmp(walk->at, "\\u", 2) != 0)
    return -1;
  walk->at += 2;
  const int32_t low = take_unit(walk);
  if (low < 0xDC00 || low > 0xDFFF)
    return -1;
  return 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
}

static size_t put_utf8(int32_t code, char out[4]) {
  static const unsigned char heads[] = {0, 0, 0xC0, 0xE0, 0xF0};
  if (code < 0x80) {
    out[0] = (char)code;
    return 1;
  }
  const size_t n = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
  for (size_t i = n - 1; i > 0; i--, code >>= 6)
    out[i] = (char)(0x80 | (code & 0x3F));
  out[0] = (char)(heads[n] | code);
  return n;
}

/* What \x stands for, as UTF-8; returns its bytes, 0 if there is no such escape. The
 * result is never longer than the escape. */
static size_t take_escape(cb_walk *walk, char out[4]) {
  static const char names[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";
  if (walk->at >= walk->end)
    return 0;
  const char name = *walk->at++;
  if (name == 'u') {
    const int32_t code = take_code(walk);
    return code < 0 ? 0 : put_utf8(code, out);
  }
  const char *found = name ? strchr(names, name) : NULL;
  if (!found)
    return 0;
  *out = bytes[found - names];
  return 1;
}

/* Reads a text up to its closing quote into out, with a NUL at its end. */
static void take_text(cb_walk *walk, char *out, size_t size) {
  size_t used = 0;
  while (walk->at < walk->end && *walk->at != '"' && !walk->why) {
    const char *start = walk->at;
    char bytes[4] = {*walk->at++};
    size_t n = (unsigned char)bytes[0] < 0x20 ? 0 : 1;
    if (bytes[0] == '\\')
      n = take_escape(walk, bytes);
    if (n == 0)
      cb_walk_fail(walk, "a text without control characters and odd escapes");
    else if (used + n >= size)
      cb_walk_fail(walk, "a shorter text");
    else
      memcpy(out + used, bytes, n);
    if (walk->why)
      walk->at = start; /* the place to name */
    else
      used += n;
  }
  out[used] = '\0';
  if (!walk->why && !take(walk, '"'))
    cb_walk_fail(walk, "the end of a text");
  if (!walk->why && !cb_text_is_utf8(out))
    cb_walk_fail(walk, "UTF-8");
}

/* Bytes up to the closing quote: at least as many as the text has. */
static size_t raw_length(const cb_walk *walk) {
  const char *at = walk->at;
  while (at < walk->end && *at != '"')
    at += *at == '\\' && at + 1 < walk->end ? 2 : 1;
  return (size_t)(at - walk->at);
}

char *cb_walk_string(cb_walk *walk) {
  if (!take(walk, '"')) {
    cb_walk_fail(walk, "a text");
    return NULL;
  }
  const size_t size = raw_length(walk) + 1;
  char *text = cb_calloc(size, 1);
  if (!text) {
    cb_walk_no_memory(walk);
    return NULL;
  }
  take_text(walk, text, size);
  if (!walk->why)
    return text;
  cb_free(text);
  return NULL;
}

void cb_walk_text(cb_walk *walk, char *out, size_t size) {
  out[0] = '\0';
  if (take(walk, '"'))
    take_text(walk, out, size);
  else
    cb_walk_fail(walk, "a text");
}

void cb_walk_key(cb_walk *walk, char key[static CB_JSON_KEY]) {
  cb_walk_long_key(walk, key, CB_JSON_KEY);
}

void cb_walk_long_key(cb_walk *walk, char *key, size_t size) {
  key[0] = '\0';
  if (!take(walk, '"'))
    cb_walk_fail(walk, "a key");
  else
    take_text(walk, key, size);
  if (!take(walk, ':'))
    cb_walk_fail(walk, "a colon");
}

/* ---- reading: anything ----------------------------------------------------------- */

cb_json_type cb_walk_peek(cb_walk *walk) {
  const char c = look(walk);
  switch (c) {
  case '\0':
    return CB_JSON_NOTHING;
  case 'n':
    return CB_JSON_NULL;
  case 't':
  case 'f':
    return CB_JSON_BOOL;
  case '"':
    return CB_JSON_STRING;
  case '[':
    return CB_JSON_ARRAY;
  case '{':
    return CB_JSON_OBJECT;
  default:
    break;
  }
  const number n = scan_number(walk->at, walk->end);
  if (n.length == 0)
    return CB_JSON_NOTHING;
  return n.real ? CB_JSON_REAL : CB_JSON_INTEGER;
}

static void skip(cb_walk *walk, int depth);

static void skip_list(cb_walk *walk, char from, char to, int depth) {
  char key[CB_JSON_KEY];
  if (depth >= CB_JSON_DEPTH)
    cb_walk_fail(walk, "fewer brackets inside each other");
  for (cb_walk_open(walk, from); cb_walk_more(walk, to);) {
    if (from == '{')
      cb_walk_key(walk, key);
    skip(walk, depth + 1);
  }
}

static void skip(cb_walk *walk, int depth) {
  int64_t integer = 0;
  double real = 0.0;
  switch (cb_walk_peek(walk)) {
  case CB_JSON_NULL:
    cb_walk_null(walk);
    break;
  case CB_JSON_BOOL:
    cb_walk_bool(walk);
    break;
  case CB_JSON_INTEGER:
  case CB_JSON_REAL:
    cb_walk_number(walk, &integer, &real);
    break;
  case CB_JSON_STRING:
    cb_free(cb_walk_string(walk));
    break;
  case CB_JSON_ARRAY:
    skip_list(walk, '[', ']', depth);
    break;
  case CB_JSON_OBJECT:
    skip_list(walk, '{', '}', depth);
    break;
  case CB_JSON_NOTHING:
    cb_walk_fail(walk, "a value");
    break;
  }
}

void cb_walk_skip(cb_walk *walk) {
  skip(walk, 0);
}
