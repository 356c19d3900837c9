#include "common/show.h"

#include <stdio.h>
#include <string.h>

/* ---- characters ------------------------------------------------------------------ */

static bool continues(const char *text, size_t n) {
  for (size_t i = 1; i <= n; i++)
    if (((unsigned char)text[i] & 0xc0) != 0x80)
      return false; /* stops at a NUL too */
  return true;
}

unsigned show_decode(const char *text, size_t *size) {
  const unsigned char first = (unsigned char)text[0];
  const size_t more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
  *size = 1;
  if (more == 0)
    return first;
  if (first < 0xc2 || first > 0xf4 || !continues(text, more))
    return 0xfffd;
  unsigned character = first & (0x3fu >> more);
  for (size_t i = 1; i <= more; i++)
    character = character << 6 | ((unsigned char)text[i] & 0x3fu);
  /* No longer form than needed, no half of a pair, nothing beyond the last one. */
  static const unsigned least[] = {0, 0x80, 0x800, 0x10000};
  if (character < least[more] || (character >= 0xd800 && character <= 0xdfff) ||
      character > 0x10ffff)
    return 0xfffd;
  *size = more + 1;
  return character;
}

bool show_is_utf8(const char *text) {
  size_t size;
  for (; *text; text += size)
    if (show_decode(text, &size) == 0xfffd && size == 1)
      return false;
  return true;
}

bool show_is_control(unsigned c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0x2028 || c == 0x2029 ||
         (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

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

/* ---- texts ----------------------------------------------------------------------- */

const char *show_text(char out[SHOWN], const char *text) {
  return show_within(out, text, SHOWN - 1);
}

const char *show_within(char out[SHOWN], const char *text, size_t most) {
  static const char dots[] = "...";
  const size_t room = most + 1 - sizeof dots;
  size_t used = 0, size;
  for (; *text; text += size) {
    const unsigned c = show_decode(text, &size);
    const bool harmless = !show_is_control(c) && (c != 0xfffd || size > 1);
    const size_t need = harmless ? size : 1;
    const bool fits = used + need <= room ||
                      (used + need <= most && text[size] == '\0'); /* the last one */
    if (!fits) {
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

/* scheme://user:password@host/...: what is between the colon and the last at sign, for
 * a password may have slashes and at signs of its own. */
const char *show_url(char out[SHOWN], const char *url) {
  const char *authority = strstr(url, "://");
  const char *at = authority ? strrchr(authority, '@') : NULL;
  const char *colon = authority ? strchr(authority + 3, ':') : NULL;
  if (!at || !colon || colon > at || strncmp(url, "sqlite", 6) == 0)
    return show_text(out, url);
  const int kept = (int)(colon + 1 - url < SHOWN ? colon + 1 - url : SHOWN);
  char masked[2 * SHOWN];
  snprintf(masked, sizeof masked, "%.*s***%s", kept, url, at);
  return show_text(out, masked);
}
