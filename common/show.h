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

/* Columns that a character takes on a terminal: 0, 1 or 2. */
int show_width(unsigned character);

#endif
