/* show.h - texts of others in our lines. Whatever reaches a terminal goes through here
 * or through cb_text_show, which quotes a text: names, choices, reasons and file names
 * may hold characters that move the cursor or turn the line round. */
#ifndef FRONT_SHOW_H
#define FRONT_SHOW_H

#include <stdio.h>

#include "common/base.h"
#include "common/buffer.h"

/* Appends a text on one line: '?' for control characters and stray bytes. */
cocabo_status show_put(front_buffer *out, const char *text, cocabo_error *err);
/* Writes a text with the same characters masked, and a newline. */
void show_line(FILE *out, const char *text);
/* Writes `size` bytes for a terminal: masked but for newlines and tabs. False if that
 * failed. */
bool show_bytes(FILE *out, const char *text, size_t size);
/* Whether there is nothing to mask. */
bool show_is_harmless(const char *text);

/* A number for people: six digits, and whole numbers below ten millions in full.
 * Returns out. */
const char *show_number(char out[static CB_DIGITS], double number);

/* A storage URL without its password, fit to be quoted. Returns out. */
const char *show_url(char out[static CB_SHOWN], const char *url);
/* The same as it is, cut to the size. */
void show_mask(char *out, size_t size, const char *url);
/* Overwrites the password, if the word is a URL that has one: other users see the words
 * of a running program. */
void show_nowhere(char *word);

/* Columns that a character takes on a terminal: 0, 1 or 2. */
int show_width(unsigned character);

/* How a text that is too long is cut: in the middle, since names differ at both ends.
 * Of `room`, as `width` counts, the two parts take no more together; *head bytes are
 * kept, and then those from *tail on. Neither part has more than `most` bytes. */
void show_cut(const char *text, double room, double (*width)(unsigned), size_t most,
              size_t *head, size_t *tail);

#endif
