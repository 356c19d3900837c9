/* textgrid.c - puts text and dots on a page of characters, and writes the page line by
 * line. */
#include "plot/textgrid.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/show.h"

/* The right half of a character of two columns. */
#define COVERED 0xffffffffu

cocabo_status textgrid_begin(textgrid *g, int columns, int rows, bool unicode,
                             cocabo_error *err) {
  assert(columns > 0 && rows > 0);
  const size_t n = (size_t)columns * (size_t)rows;
  *g = (textgrid){.columns = columns,
                  .rows = rows,
                  .unicode = unicode,
                  .cells = cb_calloc(n + 1, sizeof *g->cells),
                  .dots = cb_calloc(n + 1, sizeof *g->dots)};
  if (g->cells && g->dots)
    return COCABO_OK;
  textgrid_free(g);
  return cb_no_memory(err);
}

void textgrid_free(textgrid *g) {
  cb_free(g->cells);
  cb_free(g->dots);
  *g = (textgrid){0};
}

static bool is_inside(const textgrid *g, int column, int row) {
  return column >= 0 && column < g->columns && row >= 0 && row < g->rows;
}

static size_t index_of(const textgrid *g, int column, int row) {
  return (size_t)row * (size_t)g->columns + (size_t)column;
}

static void set_cell(textgrid *g, int column, int row, unsigned character) {
  if (is_inside(g, column, row))
    g->cells[index_of(g, column, row)] = character;
}

void textgrid_put(textgrid *g, int column, int row, unsigned character, char ascii) {
  set_cell(g, column, row, g->unicode ? character : (unsigned char)ascii);
}

/* ---- text ----------------------------------------------------------------------- */

int textgrid_width(const char *text) {
  int width = 0;
  size_t size;
  for (; *text; text += size)
    width += show_width(cb_text_decode(text, &size));
  return width;
}

static double column_width(unsigned c) {
  return show_width(c);
}

/* Marks that combine have no cell of their own. */
static int put_piece(textgrid *g, int column, int row, const char *text, size_t size) {
  int used = 0;
  size_t bytes;
  for (size_t at = 0; at < size; at += bytes) {
    const unsigned c = cb_text_decode(text + at, &bytes);
    const int width = show_width(c);
    if (width > 0)
      set_cell(g, column + used, row, cb_text_is_control(c) ? '?' : c);
    if (width == 2)
      set_cell(g, column + used + 1, row, COVERED);
    used += width;
  }
  return used;
}

int textgrid_text(textgrid *g, int column, int row, const char *text, int room) {
  const size_t end = strlen(text);
  size_t head, tail;
  if (textgrid_width(text) <= room)
    return put_piece(g, column, row, text, end);
  if (room < 1)
    return 0;
  show_cut(text, room - 1, column_width, end, &head, &tail);
  int used = put_piece(g, column, row, text, head);
  textgrid_put(g, column + used++, row, 0x2026, '~');
  return used + put_piece(g, column + used, row, text + tail, end - tail);
}

void textgrid_text_left_of(textgrid *g, int column, int row, const char *text,
                           int room) {
  const int width = textgrid_width(text);
  textgrid_text(g, column - (width < room ? width : room), row, text, room);
}

/* ---- dots ----------------------------------------------------------------------- */

/* A Braille character has two columns of four dots; these are their bits. */
static const unsigned char braille[4][2] = {
    {0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
enum { UPPER_HALF = 0x01 | 0x08 | 0x02 | 0x10, LOWER_HALF = 0x04 | 0x20 | 0x40 | 0x80 };

void textgrid_dot(textgrid *g, double x, double y) {
  const int column = (int)floor(x), row = (int)floor(y);
  if (!is_inside(g, column, row))
    return;
  const int right = x - column >= 0.5, down = (int)(4.0 * (y - row));
  assert(0 <= down && down < 4);
  g->dots[index_of(g, column, row)] |= braille[down][right];
}

void textgrid_line(textgrid *g, double x1, double y1, double x2, double y2) {
  const int steps = (int)ceil(fmax(2.0 * fabs(x2 - x1), 4.0 * fabs(y2 - y1)));
  for (int k = 0; k <= steps; k++) {
    const double share = steps > 0 ? (double)k / steps : 0.0;
    textgrid_dot(g, x1 + share * (x2 - x1), y1 + share * (y2 - y1));
  }
}

/* ---- printing ------------------------------------------------------------------- */

static unsigned dots_sign(const textgrid *g, unsigned dots) {
  if (g->unicode)
    return 0x2800 + dots;
  const bool up = dots & UPPER_HALF, down = dots & LOWER_HALF;
  return up && down ? ':' : up ? '\'' : '.';
}

static unsigned sign_at(const textgrid *g, int column, int row) {
  const size_t i = index_of(g, column, row);
  if (g->cells[i] != 0)
    return g->cells[i];
  return g->dots[i] != 0 ? dots_sign(g, g->dots[i]) : ' ';
}

static cocabo_status put_character(front_buffer *out, unsigned c, cocabo_error *err) {
  char bytes[4];
  size_t size = 0;
  if (c < 0x80) {
    bytes[size++] = (char)c;
  } else if (c < 0x800) {
    bytes[size++] = (char)(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    bytes[size++] = (char)(0xe0 | c >> 12);
    bytes[size++] = (char)(0x80 | (c >> 6 & 0x3f));
  } else {
    bytes[size++] = (char)(0xf0 | c >> 18);
    bytes[size++] = (char)(0x80 | (c >> 12 & 0x3f));
    bytes[size++] = (char)(0x80 | (c >> 6 & 0x3f));
  }
  if (c >= 0x80)
    bytes[size++] = (char)(0x80 | (c & 0x3f));
  return front_buffer_append(out, bytes, size, err);
}

cocabo_status textgrid_print(const textgrid *g, front_buffer *out, cocabo_error *err) {
  for (int row = 0; row < g->rows; row++) {
    int end = g->columns;
    while (end > 0 && sign_at(g, end - 1, row) == ' ')
      end--;
    for (int column = 0; column < end; column++)
      if (sign_at(g, column, row) != COVERED)
        CB_TRY(put_character(out, sign_at(g, column, row), err));
    CB_TRY(front_buffer_append(out, "\n", 1, err));
  }
  return COCABO_OK;
}
