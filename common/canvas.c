/* canvas.c - drawing that every format shares: sizes and widths of text, shades, marks
 * as paths. */
#include "common/canvas.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"
#include "common/show.h"

void canvas_begin(canvas *c, const canvas_format *format, double width, double height,
                  const char *title, const char *description) {
  *c = (canvas){.format = format, .width = width, .height = height};
  format->begin(c, title, description);
}

cocabo_status canvas_end(canvas *c, cocabo_error *err) {
  c->format->end(c);
  return c->status == COCABO_OK ? COCABO_OK : cb_no_memory(err);
}

void canvas_free(canvas *c) {
  front_buffer_free(&c->out);
}

/* ---- drawing -------------------------------------------------------------------- */

void canvas_path(canvas *c, const canvas_point *points, size_t n, bool closed,
                 const canvas_style *style, const char *tip) {
  if (n > 1)
    c->format->path(c, points, n, closed, style, tip);
}

void canvas_lines(canvas *c, const canvas_point *points, size_t n, int colour,
                  double width) {
  const canvas_style style = {.fill = CANVAS_NONE, .stroke = colour, .width = width};
  canvas_path(c, points, n, false, &style, NULL);
}

void canvas_line(canvas *c, double x1, double y1, double x2, double y2, int colour,
                 double width) {
  canvas_lines(c, (canvas_point[]){{x1, y1}, {x2, y2}}, 2, colour, width);
}

void canvas_rect(canvas *c, double x, double y, double width, double height, int fill,
                 int stroke) {
  const canvas_style style = {.fill = fill, .stroke = stroke, .width = 1.0};
  const canvas_point corners[] = {
      {x, y}, {x + width, y}, {x + width, y + height}, {x, y + height}};
  c->format->path(c, corners, 4, true, &style, NULL);
}

static void draw_cross(canvas *c, canvas_point at, double r, const canvas_style *style,
                       const char *tip) {
  const canvas_point down[] = {{at.x - r, at.y - r}, {at.x + r, at.y + r}};
  const canvas_point up[] = {{at.x - r, at.y + r}, {at.x + r, at.y - r}};
  c->format->path(c, down, 2, false, style, tip);
  c->format->path(c, up, 2, false, style, tip);
}

void canvas_mark(canvas *c, canvas_shape shape, double x, double y, double radius,
                 const canvas_style *style, const char *tip) {
  static const struct {
    size_t n;
    canvas_point corners[4]; /* in units of the radius */
  } outlines[] = {
      [CANVAS_DIAMOND] = {4, {{0, -1.2}, {1.2, 0}, {0, 1.2}, {-1.2, 0}}},
      [CANVAS_UP] = {3, {{0, -1}, {1, 0.8}, {-1, 0.8}, {0, 0}}},
      [CANVAS_DOWN] = {3, {{0, 1}, {1, -0.8}, {-1, -0.8}, {0, 0}}},
      [CANVAS_SQUARE] = {4, {{-0.9, -0.9}, {0.9, -0.9}, {0.9, 0.9}, {-0.9, 0.9}}},
  };
  const canvas_point at = {x, y};
  if (shape == CANVAS_DOT) {
    c->format->dot(c, at, radius, style, tip);
    return;
  }
  if (shape == CANVAS_CROSS) {
    draw_cross(c, at, radius, style, tip);
    return;
  }
  canvas_point corners[4];
  for (size_t i = 0; i < outlines[shape].n; i++)
    corners[i] = (canvas_point){x + radius * outlines[shape].corners[i].x,
                                y + radius * outlines[shape].corners[i].y};
  c->format->path(c, corners, outlines[shape].n, true, style, tip);
}

void canvas_text(canvas *c, double x, double y, const char *text,
                 const canvas_font *font) {
  c->format->text(c, (canvas_point){x, y}, text, font);
}

/* ---- text ----------------------------------------------------------------------- */

/* In units of the font's size, on the generous side of common sans-serif fonts. */
static double character_width(unsigned c) {
  if (c < 0x80 && strchr("iljtfrI.,:;|!'()[]{} /", (int)c))
    return 0.37;
  if (c < 0x80 && strchr("mwMW@%", (int)c))
    return 0.93;
  if (c >= 'A' && c <= 'Z')
    return 0.69;
  return c < 0x80 ? 0.61 : 0.75 * show_width(c);
}

double canvas_text_width(const char *text, double size) {
  double width = 0.0;
  size_t bytes;
  for (; *text; text += bytes)
    width += character_width(cb_text_decode(text, &bytes));
  return width * size;
}

static size_t put_harmless(char *out, const char *text, unsigned c, size_t bytes) {
  if (cb_text_is_control(c) || (c == 0xfffd && bytes == 1)) {
    *out = '?';
    return 1;
  }
  memcpy(out, text, bytes);
  return bytes;
}

static size_t copy_harmless(char *out, const char *text, size_t size) {
  size_t used = 0, bytes;
  for (size_t at = 0; at < size; at += bytes) {
    const unsigned c = cb_text_decode(text + at, &bytes);
    used += put_harmless(out + used, text + at, c, bytes);
  }
  return used;
}

const char *canvas_fit(char out[CANVAS_FITTED], const char *text, double size,
                       double room) {
  static const char dots[] = "\u2026";
  const size_t end = strlen(text), most = (CANVAS_FITTED - sizeof dots) / 2;
  size_t head = end, tail = end;
  if (canvas_text_width(text, size) > room || end >= CANVAS_FITTED)
    show_cut(text, (room - canvas_text_width(dots, size)) / size, character_width, most,
             &head, &tail);
  size_t used = copy_harmless(out, text, head);
  if (head < end) {
    memcpy(out + used, dots, sizeof dots - 1);
    used += sizeof dots - 1;
    used += copy_harmless(out + used, text + tail, end - tail);
  }
  out[used] = '\0';
  return out;
}

/* ---- colours -------------------------------------------------------------------- */

static int blend(int a, int b, double share) {
  int colour = 0;
  for (int shift = 16; shift >= 0; shift -= 8) {
    const int from = a >> shift & 0xff, to = b >> shift & 0xff;
    colour |= (int)lrint(from + share * (to - from)) << shift;
  }
  return colour;
}

/* One hue, equal steps of lightness. In 32 steps, so that marks come in few styles. */
int canvas_shade(double darkness) {
  static const int stops[] = {0xd6e4f2, 0xa3c6e2, 0x5fa2d0,
                              0x2575b0, 0x0b4a8a, 0x061f47};
  enum { LAST = sizeof stops / sizeof stops[0] - 1, STEPS = 31 };
  const double limited = darkness > 0.0 ? darkness < 1.0 ? darkness : 1.0 : 0.0;
  const double at = rint(limited * STEPS) / STEPS * LAST;
  const int stop = at < LAST ? (int)at : LAST - 1;
  return blend(stops[stop], stops[stop + 1], at - stop);
}

/* ---- for formats ---------------------------------------------------------------- */

bool canvas_same_style(const canvas_style *a, const canvas_style *b) {
  return a->fill == b->fill && a->stroke == b->stroke && a->width == b->width &&
         a->dash == b->dash && a->clear == b->clear;
}

void canvas_put_bytes(canvas *c, const char *bytes, size_t size) {
  if (c->status == COCABO_OK)
    c->status = front_buffer_append(&c->out, bytes, size, NULL);
}

void canvas_put(canvas *c, const char *fmt, ...) {
  char piece[256];
  va_list args;
  va_start(args, fmt);
  const int size = vsnprintf(piece, sizeof piece, fmt, args);
  va_end(args);
  canvas_put_bytes(c, piece,
                   size < (int)sizeof piece ? (size_t)size : sizeof piece - 1);
}
