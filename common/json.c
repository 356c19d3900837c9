/* json.c - writes values, trials and what json_tree.h has read as JSON. Numbers have
 * the fewest digits that read back as the same. */
#include "common/json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"

/* ---- to standard output ---------------------------------------------------------- */

void front_print_json_number(double value) {
  char digits[CB_DIGITS];
  printf("%s", isfinite(value) ? cb_number_show(digits, value) : "null");
}

void front_print_json_text(const char *text, int size) {
  putchar('"');
  for (int i = 0; i < size; i++) {
    const unsigned char c = (unsigned char)text[i];
    if (c == '"' || c == '\\')
      printf("\\%c", c);
    else if (c < 0x20)
      printf("\\u%04x", c);
    else
      putchar(c);
  }
  putchar('"');
}

/* ---- to a buffer ------------------------------------------------------------------
 */

cocabo_status front_put_digits(front_buffer *out, double value, cocabo_error *err) {
  char digits[CB_DIGITS];
  return front_buffer_puts(out, cb_number_show(digits, value), err);
}

/* What JSON wants escaped, and what would play with the terminal of somebody who reads
 * it: none of that is lost in an escape. All such characters are below 0x10000. A stray
 * byte becomes U+FFFD. */
static bool is_plain(unsigned c, size_t size) {
  return c != '"' && c != '\\' && !cb_text_is_control(c) &&
         (c != CB_TEXT_STRAY || size > 1);
}

cocabo_status front_put_json_text(front_buffer *out, const char *text,
                                  cocabo_error *err) {
  CB_TRY(front_buffer_append(out, "\"", 1, err));
  for (;;) {
    size_t plain = 0, size = 0;
    unsigned c = 0;
    while (text[plain] && is_plain(c = cb_text_decode(text + plain, &size), size))
      plain += size;
    CB_TRY(front_buffer_append(out, text, plain, err));
    text += plain;
    if (*text == '\0')
      return front_buffer_append(out, "\"", 1, err);
    if (c == '"' || c == '\\')
      CB_TRY(front_buffer_printf(out, err, "\\%c", (char)c));
    else if (c == '\n')
      CB_TRY(front_buffer_puts(out, "\\n", err));
    else
      CB_TRY(front_buffer_printf(out, err, "\\u%04x", c));
    text += size;
  }
}

cocabo_status front_put_json_real(front_buffer *out, double value, cocabo_error *err) {
  if (!isfinite(value))
    return front_buffer_puts(out, "null", err);
  char digits[CB_DIGITS];
  CB_TRY(front_buffer_puts(out, cb_number_show(digits, value), err));
  return strpbrk(digits, ".e") ? COCABO_OK : front_buffer_puts(out, ".0", err);
}

/* Everything but text, which JSON and people write differently. */
static cocabo_status put_bare(front_buffer *out, const cocabo_value *value,
                              cocabo_error *err) {
  switch (value->type) {
  case COCABO_BOOL:
    return front_buffer_puts(out, value->as.boolean ? "true" : "false", err);
  case COCABO_INT:
    return front_buffer_printf(out, err, "%" PRId64, value->as.integer);
  case COCABO_REAL:
    return front_put_json_real(out, value->as.real, err);
  default:
    return front_buffer_puts(out, "null", err);
  }
}

cocabo_status front_put_json_value(front_buffer *out, const cocabo_value *value,
                                   cocabo_error *err) {
  return value->type == COCABO_TEXT ? front_put_json_text(out, value->as.text, err)
                                    : put_bare(out, value, err);
}

cocabo_status front_put_json_params(front_buffer *out, const cocabo_trial *trial,
                                    cocabo_error *err) {
  const char *comma = "";
  CB_TRY(front_buffer_puts(out, "{", err));
  const size_t n = cocabo_trial_count(trial);
  for (size_t i = 0; i < n; i++) {
    const char *name;
    cocabo_value value;
    CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
    if (value.type == COCABO_ABSENT)
      continue;
    CB_TRY(front_buffer_puts(out, comma, err));
    CB_TRY(front_put_json_text(out, name, err));
    CB_TRY(front_buffer_puts(out, ":", err));
    CB_TRY(front_put_json_value(out, &value, err));
    comma = ",";
  }
  return front_buffer_puts(out, "}", err);
}

/* At most CB_JSON_DEPTH calls deep, as the tree is. */
cocabo_status front_put_json_node(front_buffer *out, const cb_json_node *node,
                                  cocabo_error *err) {
  const bool is_object = node->type == CB_JSON_OBJECT;
  if (!is_object && node->type != CB_JSON_ARRAY)
    return front_put_json_value(out, &node->value, err);
  CB_TRY(front_buffer_puts(out, is_object ? "{" : "[", err));
  const cb_json_node *first = cb_json_first(node);
  for (const cb_json_node *item = first; item; item = cb_json_next(node, item)) {
    if (item != first)
      CB_TRY(front_buffer_puts(out, ",", err));
    if (is_object) {
      CB_TRY(front_put_json_text(out, item->key, err));
      CB_TRY(front_buffer_puts(out, ":", err));
    }
    CB_TRY(front_put_json_node(out, item, err));
  }
  return front_buffer_puts(out, is_object ? "}" : "]", err);
}
