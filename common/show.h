/* show.h - texts of others in our lines: URLs without passwords, and how wide a
 * character is. Quoting a text is cb_text_show. */
#ifndef FRONT_SHOW_H
#define FRONT_SHOW_H

#include "common/base.h"

/* A storage URL without its password, fit to be quoted. Returns out. */
const char *show_url(char out[static CB_SHOWN], const char *url);

/* Columns that a character takes on a terminal: 0, 1 or 2. */
int show_width(unsigned character);

/* How a text that is too long is cut: in the middle, since names differ at both ends.
 * Of `room`, as `width` counts, the two parts take no more together; *head bytes are
 * kept, and then those from *tail on. Neither part has more than `most` bytes. */
void show_cut(const char *text, double room, double (*width)(unsigned), size_t most,
              size_t *head, size_t *tail);

#endif
