/* textgrid.h - a page of characters to draw on: text, signs, and dots that are smaller
 * than a character (Braille patterns), or plain ASCII. */
#ifndef CLI_TEXTGRID_H
#define CLI_TEXTGRID_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"
#include "common/buffer.h"

/* Rows and columns count from the upper left corner; what lies outside is left out. */
typedef struct textgrid {
  int columns, rows;
  bool unicode;        /* false: ASCII only, but for texts of the study */
  unsigned *cells;     /* columns x rows: a character, 0: none yet */
  unsigned char *dots; /* the same: a bit for each dot set */
} textgrid;

/* On failure there is nothing to free. */
cocabo_status textgrid_begin(textgrid *g, int columns, int rows, bool unicode,
                             cocabo_error *err);
void textgrid_free(textgrid *g);

/* A character, or its stand-in in ASCII. */
void textgrid_put(textgrid *g, int column, int row, unsigned character, char ascii);
/* At most `room` columns of a text, with "..." for what is cut out of its middle.
 * Returns its width. */
int textgrid_text(textgrid *g, int column, int row, const char *text, int room);
/* The same, so that it ends before `column`. */
void textgrid_text_left_of(textgrid *g, int column, int row, const char *text,
                           int room);

/* A dot at x, y in characters, so that 0.5, 0.5 is the middle of the first one. A
 * character hides the dots of its cell. */
void textgrid_dot(textgrid *g, double x, double y);
/* Dots from one place to another. */
void textgrid_line(textgrid *g, double x1, double y1, double x2, double y2);

/* Appends the page, without spaces at the ends of lines. */
cocabo_status textgrid_print(const textgrid *g, front_buffer *out, cocabo_error *err);

/* Columns that a text takes. */
int textgrid_width(const char *text);

#endif
