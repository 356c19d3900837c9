/* show.h - texts of others in our lines: URLs without passwords, and how wide a
 * character is. Quoting a text is cb_text_show. */
#ifndef FRONT_SHOW_H
#define FRONT_SHOW_H

#include "common/base.h"

/* A storage URL without its password, fit to be quoted. Returns out. */
const char *show_url(char out[static CB_SHOWN], const char *url);

/* Columns that a character takes on a terminal: 0, 1 or 2. */
int show_width(unsigned character);

#endif
