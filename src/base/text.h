/* text.h - text at the border: checking names, and quoting what users typed.
 *
 * A sentence in a cocabo_error is UTF-8 without control characters, whatever the user
 * passed in; so text of unknown validity goes through cb_text_show before it is quoted.
 */
#ifndef CB_BASE_TEXT_H
#define CB_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"

enum {
  CB_NAME_MAX = 200, /* bytes of a parameter's or a study's name */
  CB_SHOWN = 72,     /* buffer for a quoted text */
  CB_DIGITS = 32     /* buffer for a number */
};

/* ---- characters ------------------------------------------------------------------ */

/* Decodes the UTF-8 character at text, which is not at its end: its code point, and its
 * size in bytes in *size. A byte that is no part of UTF-8 counts as one character, a
 * CB_TEXT_STRAY of size 1 (U+FFFD itself takes three bytes). */
enum { CB_TEXT_STRAY = 0xFFFD };
unsigned cb_text_decode(const char *text, size_t *size);

/* Characters that would move the cursor, end the line, turn it round or hide. */
bool cb_text_is_control(unsigned character);

bool cb_text_is_utf8(const char *text);

/* Non-empty UTF-8 of at most CB_NAME_MAX bytes without control characters. `what`
 * starts the sentence: "parameter name is empty". */
cocabo_status cb_name_check(const char *what, const char *name, cocabo_error *err);

/* The text, fit to be quoted: control characters and stray bytes become '?', a long
 * text ends in "...". Returns out. */
const char *cb_text_show(char out[static CB_SHOWN], const char *text);
/* The same in at most `most` bytes, 3 <= most < CB_SHOWN. */
const char *cb_text_show_within(char out[static CB_SHOWN], const char *text,
                                size_t most);

/* ---- numbers and values ---------------------------------------------------------- */

/* The one reader of numbers with a point: digits, perhaps a sign, a point and an
 * exponent, and nothing else, be it blanks or hexadecimal; the same in every locale.
 * One that is too large is infinite. */
bool cb_parse_decimal(const char *text, size_t size, double *out);
/* The same as users write it: finite, without a plus, ended by a NUL. */
bool cb_parse_number(const char *text, double *out);
/* The same as programs print results: it may be inf, infinity or nan too, in capitals
 * or not. */
bool cb_parse_result(const char *text, size_t size, double *out);
/* Decimal digits with an optional minus, within int64_t. */
bool cb_parse_int(const char *text, int64_t *out);

/* The shortest of 6, 15, 16 or 17 digits that gives the number back, the same in every
 * locale: 0.25, 1e-5; "nan" has no sign. Returns out. */
const char *cb_number_show(char out[static CB_DIGITS], double number);

/* The same type and the same value: 1, 1.0, true and "1" are four. */
bool cb_value_equal(const cocabo_value *a, const cocabo_value *b);

/* A value as a user would write it: null, true, 3, 0.5, "text". Returns out. */
const char *cb_value_show(char out[static CB_SHOWN], const cocabo_value *value);
const char *cb_type_name(cocabo_type type); /* "null", "bool", ...; total */

/* ---- did you mean ---------------------------------------------------------------- */

/* Least number of inserted, deleted or replaced bytes and swapped neighbours that turn
 * a into b; a large number if one of them is longer than CB_NAME_MAX. */
int cb_text_distance(const char *a, const char *b);

/* Keeps the candidate nearest to a mistyped word, the first of equals. Start with
 * {word, NULL, 0}; closest, which is borrowed, stays NULL unless a candidate is a
 * typing slip away: at most one edit in three letters of the longer one. */
typedef struct cb_guess {
  const char *word;
  const char *closest;
  int distance;
} cb_guess;
void cb_guess_consider(cb_guess *guess, const char *candidate);

#endif
