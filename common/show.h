/* show.h - texts of others as a short, harmless part of one of our lines. */
#ifndef FRONT_SHOW_H
#define FRONT_SHOW_H

#include <stdbool.h>
#include <stddef.h>

enum { SHOWN = 72 }; /* bytes of such a part, with its NUL */

/* At most SHOWN - 1 bytes of whole characters, "..." at the end where it was cut, and
 * '?' for control characters. Returns out. */
const char *show_text(char out[SHOWN], const char *text);
/* The same in at most `most` < SHOWN bytes. */
const char *show_within(char out[SHOWN], const char *text, size_t most);

/* A storage URL without its password. */
const char *show_url(char out[SHOWN], const char *url);

/* Decodes the UTF-8 character at text, which is not at its end: its code point, and its
 * size in bytes in *size. A byte that is no part of UTF-8 counts as one character,
 * U+FFFD. */
unsigned show_decode(const char *text, size_t *size);

bool show_is_utf8(const char *text);

/* Characters that would move the cursor, end the line or turn it round. */
bool show_is_control(unsigned character);

/* Columns that a character takes on a terminal: 0, 1 or 2. */
int show_width(unsigned character);

#endif
