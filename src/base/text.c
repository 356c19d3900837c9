/* text.c - UTF-8 and names, numbers as text in both directions, and the nearest known
 * word to one that was mistyped.
 *
 * Whatever the locale is, the decimal point is a point.
 */
#include "base/text.h"

#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

/* Bytes of the well-formed character at s (Unicode 15, table 3-7), 0 if there is none.
 * Only the second byte's range depends on the first; a NUL ends every test. */
static int char_length(const unsigned char *s) {
  if (s[0] < 0x80)
    return s[0] != 0;
  if (s[0] < 0xC2 || s[0] > 0xF4)
    return 0;
  const int length = s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : 4;
  const unsigned low = s[0] == 0xE0 ? 0xA0 : s[0] == 0xF0 ? 0x90 : 0x80;
  const unsigned high = s[0] == 0xED ? 0x9F : s[0] == 0xF4 ? 0x8F : 0xBF;
  if (s[1] < low || s[1] > high)
    return 0;
  for (int i = 2; i < length; i++)
    if ((s[i] & 0xC0) != 0x80)
      return 0;
  return length;
}

unsigned cb_text_decode(const char *text, size_t *size) {
  const unsigned char *s = (const unsigned char *)text;
  const int length = char_length(s);
  *size = length > 0 ? (size_t)length : 1;
  if (length < 2)
    return length == 1 ? s[0] : CB_TEXT_STRAY;
  unsigned character = s[0] & (0x7Fu >> length);
  for (int i = 1; i < length; i++)
    character = character << 6 | (s[i] & 0x3Fu);
  return character;
}

/* C0, DEL and C1. */
static bool is_control(unsigned c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

/* Separators of lines, marks that turn the direction of text or switch its shaping, and
 * the byte order mark. Joiners are not among them: scripts and emoji need them. */
bool cb_text_is_control(unsigned c) {
  return is_control(c) || c == 0x061C || c == 0x200E || c == 0x200F ||
         (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x206F) || c == 0xFEFF;
}

bool cb_text_is_utf8(const char *text) {
  const unsigned char *s = (const unsigned char *)text;
  while (*s) {
    const int length = char_length(s);
    if (length == 0)
      return false;
    s += length;
  }
  return true;
}

/* Names made of the characters that only cb_text_is_control counts are in use. */
static bool has_control(const char *text) {
  size_t size;
  for (; *text; text += size)
    if (is_control(cb_text_decode(text, &size)))
      return true;
  return false;
}

cocabo_status cb_name_check(const char *what, const char *name, cocabo_error *err) {
  if (!name)
    return cb_fail(err, COCABO_E_INVALID, "%s is NULL", what);
  if (!*name)
    return cb_fail(err, COCABO_E_INVALID, "%s is empty", what);
  const size_t length = strlen(name);
  if (length > CB_NAME_MAX)
    return cb_fail(err, COCABO_E_INVALID, "%s is %zu bytes long, want at most %d", what,
                   length, CB_NAME_MAX);
  if (!cb_text_is_utf8(name))
    return cb_fail(err, COCABO_E_INVALID, "%s is not valid UTF-8", what);
  if (has_control(name))
    return cb_fail(err, COCABO_E_INVALID, "%s has a control character", what);
  return COCABO_OK;
}

const char *cb_text_show(char out[static CB_SHOWN], const char *text) {
  return cb_text_show_within(out, text, CB_SHOWN - 1);
}

const char *cb_text_show_within(char out[static CB_SHOWN], const char *text,
                                size_t most) {
  static const char dots[] = "...";
  const size_t room = most + 1 - sizeof dots;
  size_t used = 0, size;
  for (; *text; text += size) {
    const unsigned c = cb_text_decode(text, &size);
    const bool harmless = !cb_text_is_control(c) && (c != CB_TEXT_STRAY || size > 1);
    const size_t need = harmless ? size : 1;
    const bool is_last = text[size] == '\0';
    if (used + need > (is_last ? most : room)) {
      memcpy(out + used, dots, sizeof dots);
      return out;
    }
    if (harmless)
      memcpy(out + used, text, size);
    else
      out[used] = '?';
    used += need;
  }
  out[used] = '\0';
  return out;
}

/* ---- numbers --------------------------------------------------------------------- */

bool cb_parse_int(const char *text, int64_t *out) {
  const bool negative = *text == '-';
  const char *digit = text + negative;
  if (!*digit)
    return false;
  int64_t value = 0; /* kept negative: the negative range is the larger one */
  for (; *digit; digit++) {
    const int units = *digit - '0';
    if (units < 0 || units > 9 || value < (INT64_MIN + units) / 10)
      return false;
    value = 10 * value - units;
  }
  if (!negative && value == INT64_MIN)
    return false;
  *out = negative ? value : -value;
  return true;
}

static size_t count_digits(const char *text, size_t size) {
  size_t n = 0;
  while (n < size && text[n] >= '0' && text[n] <= '9')
    n++;
  return n;
}

/* [-+]? ( digits ( . digits? )? | . digits ) ( [eE] [-+]? digits )? */
static bool is_decimal(const char *text, size_t size) {
  size_t at = size > 0 && (text[0] == '-' || text[0] == '+');
  const size_t before = count_digits(text + at, size - at);
  at += before;
  size_t after = 0;
  if (at < size && text[at] == '.') {
    after = count_digits(text + at + 1, size - at - 1);
    at += 1 + after;
  }
  if (before + after == 0)
    return false;
  if (at < size && (text[at] == 'e' || text[at] == 'E')) {
    at++;
    at += at < size && (text[at] == '-' || text[at] == '+');
    const size_t digits = count_digits(text + at, size - at);
    if (digits == 0)
      return false;
    at += digits;
  }
  return at == size;
}

/* strtod wants the decimal point of the locale, and would take more: blanks,
 * hexadecimal, inf and nan. No double has more than 1385 characters when all its digits
 * are written out. */
bool cb_parse_decimal(const char *text, size_t size, double *out) {
  enum { LONGEST = 1500, POINT = 15 };
  char local[LONGEST + POINT + 1];
  const char *point = nl_langinfo(RADIXCHAR);
  const size_t point_size = strlen(point);
  if (size > LONGEST || point_size > POINT || !is_decimal(text, size))
    return false;
  const char *found = memchr(text, '.', size);
  const size_t before = found ? (size_t)(found - text) : size;
  memcpy(local, text, before);
  size_t used = before;
  if (found) {
    memcpy(local + used, point, point_size);
    used += point_size;
    memcpy(local + used, found + 1, size - before - 1);
    used += size - before - 1;
  }
  local[used] = '\0';
  *out = strtod(local, NULL);
  return true;
}

bool cb_parse_number(const char *text, double *out) {
  enum { LONGEST = 100 };
  const size_t size = strlen(text);
  double value;
  if (size > LONGEST || *text == '+' || !cb_parse_decimal(text, size, &value) ||
      !isfinite(value))
    return false;
  *out = value;
  return true;
}

/* In capitals or not; `word` is in small letters. */
static bool is_word(const char *text, size_t size, const char *word) {
  for (size_t i = 0; i < size; i++) {
    const char c = text[i];
    if (!word[i] || (c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c) != word[i])
      return false;
  }
  return !word[size];
}

bool cb_parse_result(const char *text, size_t size, double *out) {
  const size_t sign = size > 0 && (*text == '-' || *text == '+');
  const char *word = text + sign;
  if (is_word(word, size - sign, "inf") || is_word(word, size - sign, "infinity"))
    *out = *text == '-' ? -INFINITY : INFINITY;
  else if (is_word(word, size - sign, "nan"))
    *out = NAN;
  else
    return cb_parse_decimal(text, size, out);
  return true;
}

/* What printf made of a finite number, without the locale's point and the zeros that C
 * puts before an exponent: 1,5e-05 becomes 1.5e-5. */
static void tidy_number(char *out, const char *printed) {
  const char *s = printed;
  size_t used = 0;
  while (*s && *s != 'e') {
    const size_t plain = strspn(s, "-0123456789");
    memcpy(out + used, s, plain);
    used += plain;
    s += plain;
    if (!*s || *s == 'e')
      break;
    out[used++] = '.';
    s += strcspn(s, "0123456789");
  }
  if (*s == 'e') {
    out[used++] = *s++;
    if (*s == '-')
      out[used++] = '-';
    s += 1; /* the sign is always there */
    s += strspn(s, "0");
    while (*s)
      out[used++] = *s++;
  }
  out[used] = '\0';
}

const char *cb_number_show(char out[static CB_DIGITS], double number) {
  static const int digits[] = {6, 15, 16, 17};
  char printed[CB_DIGITS + 8];
  if (isnan(number)) /* its sign means nothing, and printf would show it */
    return memcpy(out, "nan", sizeof "nan");
  if (isinf(number))
    return strcpy(out, number > 0.0 ? "inf" : "-inf");
  for (int i = 0; i < 4; i++) {
    snprintf(printed, sizeof printed, "%.*g", digits[i], number);
    if (strtod(printed, NULL) == number)
      break;
  }
  tidy_number(out, printed);
  return out;
}

const char *cb_type_name(cocabo_type type) {
  switch (type) {
  case COCABO_NULL:
    return "null";
  case COCABO_BOOL:
    return "bool";
  case COCABO_INT:
    return "int";
  case COCABO_REAL:
    return "real";
  case COCABO_TEXT:
    return "text";
  case COCABO_ABSENT:
    return "absent";
  }
  return "unknown type";
}

bool cb_value_equal(const cocabo_value *a, const cocabo_value *b) {
  if (a->type != b->type)
    return false;
  switch (a->type) {
  case COCABO_NULL:
  case COCABO_ABSENT:
    return true;
  case COCABO_BOOL:
    return !a->as.boolean == !b->as.boolean;
  case COCABO_INT:
    return a->as.integer == b->as.integer;
  case COCABO_REAL:
    return a->as.real == b->as.real;
  case COCABO_TEXT:
    return strcmp(a->as.text, b->as.text) == 0;
  }
  return false;
}

const char *cb_value_show(char out[static CB_SHOWN], const cocabo_value *value) {
  char digits[CB_DIGITS];
  switch (value->type) {
  case COCABO_NULL:
    return memcpy(out, "null", sizeof "null");
  case COCABO_ABSENT:
    return memcpy(out, "absent", sizeof "absent");
  case COCABO_BOOL:
    snprintf(out, CB_SHOWN, "%s", value->as.boolean ? "true" : "false");
    return out;
  case COCABO_INT:
    snprintf(out, CB_SHOWN, "%lld", (long long)value->as.integer);
    return out;
  case COCABO_REAL:
    snprintf(out, CB_SHOWN, "%s", cb_number_show(digits, value->as.real));
    return out;
  case COCABO_TEXT:
    break;
  }
  char inner[CB_SHOWN];
  cb_text_show(inner,
               value->type == COCABO_TEXT && value->as.text ? value->as.text : "?");
  snprintf(out, CB_SHOWN, "\"%.*s\"", CB_SHOWN - 3, inner);
  return out;
}

static int least(int a, int b) {
  return a < b ? a : b;
}

int cb_text_distance(const char *a, const char *b) {
  const size_t length_a = strlen(a), length_b = strlen(b);
  if (length_a > CB_NAME_MAX || length_b > CB_NAME_MAX)
    return CB_NAME_MAX;

  /* d[i % 3][j] is the distance of a[0..i) and b[0..j): a swap looks two rows back. */
  int d[3][CB_NAME_MAX + 1];
  for (size_t i = 0; i <= length_a; i++)
    for (size_t j = 0; j <= length_b; j++) {
      int *here = &d[i % 3][j];
      if (i == 0 || j == 0) {
        *here = (int)(i + j);
        continue;
      }
      const int *above = d[(i - 1) % 3];
      *here = least(above[j] + 1, d[i % 3][j - 1] + 1);
      *here = least(*here, above[j - 1] + (a[i - 1] != b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        *here = least(*here, d[(i - 2) % 3][j - 2] + 1);
    }
  return d[length_a % 3][length_b];
}

void cb_guess_consider(cb_guess *guess, const char *candidate) {
  const size_t typed = strlen(guess->word), known = strlen(candidate);
  const int distance = cb_text_distance(guess->word, candidate);
  const bool near = 3 * (size_t)distance <= (typed > known ? typed : known);
  if (near && (!guess->closest || distance < guess->distance)) {
    guess->closest = candidate;
    guess->distance = distance;
  }
}
