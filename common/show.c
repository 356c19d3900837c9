/* show.c - masks what plays with terminals and the passwords of URLs, rounds numbers
 * for people, and knows how many columns a character takes. */
#include "common/show.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- characters ------------------------------------------------------------------ */

/* The bytes of the first character of `left`, in *size, and whether it may be shown. */
static bool is_harmless(const char *text, size_t left, size_t *size) {
  char bytes[5] = "";
  memcpy(bytes, text, left < 4 ? left : 4);
  const unsigned c = cb_text_decode(bytes, size);
  return !cb_text_is_control(c) && (c != CB_TEXT_STRAY || *size > 1);
}

bool show_is_harmless(const char *text) {
  size_t size;
  for (size_t left = strlen(text); left > 0; text += size, left -= size)
    if (!is_harmless(text, left, &size))
      return false;
  return true;
}

cocabo_status show_put(front_buffer *out, const char *text, cocabo_error *err) {
  size_t size;
  for (size_t left = strlen(text); left > 0; text += size, left -= size)
    if (is_harmless(text, left, &size))
      CB_TRY(front_buffer_append(out, text, size, err));
    else
      CB_TRY(front_buffer_append(out, "?", 1, err));
  return COCABO_OK;
}

/* `kept` are control characters that stay. */
static bool write_masked(FILE *out, const char *text, size_t left, const char *kept) {
  bool ok = true;
  for (size_t size; left > 0 && ok; text += size, left -= size) {
    const bool stays = is_harmless(text, left, &size) || (*text && strchr(kept, *text));
    ok = fwrite(stays ? text : "?", 1, stays ? size : 1, out) > 0;
  }
  return ok;
}

void show_line(FILE *out, const char *text) {
  write_masked(out, text, strlen(text), "");
  fputc('\n', out);
}

bool show_bytes(FILE *out, const char *text, size_t size) {
  return write_masked(out, text, size, "\n\t");
}

/* ---- numbers --------------------------------------------------------------------- */

const char *show_number(char out[static CB_DIGITS], double number) {
  if (fabs(number) < 1e7 && number == floor(number)) {
    snprintf(out, CB_DIGITS, "%.0f", number);
    return out;
  }
  char rounded[CB_DIGITS];
  snprintf(rounded, sizeof rounded, "%.6g", number);
  return cb_number_show(out, isfinite(number) ? strtod(rounded, NULL) : number);
}

/* ---- columns and URLs ------------------------------------------------------------ */

/* Our own short table rather than wcwidth: that one wants a locale, and a program that
 * sets one prints its numbers by it. */
int show_width(unsigned c) {
  static const struct {
    unsigned first, last;
    int width;
  } ranges[] = {{0x0300, 0x036f, 0},   {0x0483, 0x0489, 0},   {0x0591, 0x05bd, 0},
                {0x064b, 0x065f, 0},   {0x200b, 0x200f, 0},   {0x20d0, 0x20f0, 0},
                {0xfe00, 0xfe0f, 0},   {0xfe20, 0xfe2f, 0},   {0x1100, 0x115f, 2},
                {0x2e80, 0x303e, 2},   {0x3041, 0x33ff, 2},   {0x3400, 0x4dbf, 2},
                {0x4e00, 0x9fff, 2},   {0xa000, 0xa4cf, 2},   {0xac00, 0xd7a3, 2},
                {0xf900, 0xfaff, 2},   {0xfe30, 0xfe6f, 2},   {0xff00, 0xff60, 2},
                {0xffe0, 0xffe6, 2},   {0x1f300, 0x1f64f, 2}, {0x1f680, 0x1f6ff, 2},
                {0x1f900, 0x1f9ff, 2}, {0x20000, 0x3fffd, 2}};
  for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
    if (c >= ranges[i].first && c <= ranges[i].last)
      return ranges[i].width;
  return 1;
}

void show_cut(const char *text, double room, double (*width)(unsigned), size_t most,
              size_t *head, size_t *tail) {
  const size_t end = strlen(text);
  double total = 0.0, before = 0.0;
  size_t bytes;
  for (size_t at = 0; at < end; at += bytes)
    total += width(cb_text_decode(text + at, &bytes));
  *head = 0;
  for (size_t at = 0; at < end; at += bytes) {
    const double next = before + width(cb_text_decode(text + at, &bytes));
    if (next > 0.5 * room || at + bytes > most)
      break;
    before = next;
    *head = at + bytes;
  }
  double passed = before;
  for (*tail = *head; *tail < end; *tail += bytes) {
    const double its = width(cb_text_decode(text + *tail, &bytes));
    const bool fits = before + (total - passed) <= room && end - *tail <= most;
    if (fits && its > 0.0) /* a mark that combines would go to the dots */
      break;
    passed += its;
  }
}

/* Nothing of http://host:8080 is a secret; what is more than that may be meant as one.
 */
static char *find_in_http(const char *rest, const char *at, size_t *length) {
  const char *query = strchr(rest, '?');
  const char *found = at ? rest : query ? query + 1 : NULL;
  if (found)
    *length = at ? (size_t)(at - rest) : strlen(found);
  return (char *)found;
}

/* scheme://user:password@host/...: what is between the colon and the last at sign, for
 * a password may have slashes and at signs of its own. */
/* Where the password of a URL begins, and how long it is; NULL: it has none. */
static char *find_password(const char *url, size_t *length) {
  static const char setting[] = "password=";
  const char *authority = strstr(url, "://");
  if (!authority || strncmp(url, "sqlite", 6) == 0)
    return NULL;
  const char *at = strrchr(authority, '@');
  if (strncasecmp(url, "http", 4) == 0)
    return find_in_http(authority + 3, at, length);
  const char *colon = strchr(authority + 3, ':');
  if (at && colon && colon < at) {
    *length = (size_t)(at - colon) - 1;
    return (char *)colon + 1;
  }
  const char *query = strchr(authority, '?');
  const char *found = query ? strstr(query, setting) : NULL;
  if (!found)
    return NULL;
  found += strlen(setting);
  *length = strcspn(found, "&");
  return (char *)found;
}

void show_mask(char *out, size_t size, const char *url) {
  size_t length = 0;
  const char *password = find_password(url, &length);
  if (password)
    snprintf(out, size, "%.*s***%s", (int)(password - url), url, password + length);
  else
    snprintf(out, size, "%s", url);
}

const char *show_url(char out[static CB_SHOWN], const char *url) {
  char masked[4 * CB_SHOWN];
  show_mask(masked, sizeof masked, url);
  return cb_text_show(out, masked);
}

void show_nowhere(char *word) {
  size_t length = 0;
  char *password = find_password(word, &length);
  if (password)
    memset(password, '*', length);
}
