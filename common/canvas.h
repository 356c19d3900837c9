/* canvas.h - a sheet to draw on: lines, areas, marks and text.
 *
 * What is drawn becomes the text of a picture at once, SVG (svg.h) or commands of
 * gnuplot (gnuplot.h). Coordinates are in pixels from the upper left corner. Drawing
 * does not fail: a canvas that ran out of memory ignores what follows, and says so at
 * the end.
 */
#ifndef FRONT_CANVAS_H
#define FRONT_CANVAS_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"
#include "common/buffer.h"

/* 0xRRGGBB; CANVAS_NONE: not at all. */
enum { CANVAS_NONE = -1 };

typedef struct canvas_style {
  int fill, stroke;
  double width; /* of the stroke */
  /* SVG only; elsewhere lines are whole and areas cover what they lie on. */
  const char *dash; /* lengths of dashes and gaps, "6 3"; static; NULL: whole */
  double clear;     /* of the fill: 0 covers, 1 is not seen at all */
} canvas_style;

typedef struct canvas_point {
  double x, y;
} canvas_point;

typedef enum canvas_shape {
  CANVAS_DOT,
  CANVAS_DIAMOND,
  CANVAS_CROSS, /* has a stroke only */
  CANVAS_UP,    /* triangles */
  CANVAS_DOWN,
  CANVAS_SQUARE
} canvas_shape;

typedef enum canvas_anchor { CANVAS_START, CANVAS_MIDDLE, CANVAS_END } canvas_anchor;

typedef struct canvas_font {
  double size;
  int colour;
  canvas_anchor anchor;
  bool bold, upwards; /* upwards: turned by 90 degrees to the left */
} canvas_font;

/* What a format has to be able to do. Points and texts are borrowed for the call. */
typedef struct canvas canvas;
typedef struct canvas_format {
  void (*begin)(canvas *c, const char *title, const char *description);
  void (*path)(canvas *c, const canvas_point *points, size_t n, bool closed,
               const canvas_style *style, const char *tip);
  void (*dot)(canvas *c, canvas_point at, double radius, const canvas_style *style,
              const char *tip);
  void (*text)(canvas *c, canvas_point at, const char *text, const canvas_font *font);
  void (*end)(canvas *c);
} canvas_format;

struct canvas {
  const canvas_format *format;
  double width, height;
  front_buffer out;
  cocabo_status status; /* COCABO_OK, or out of memory */
  /* The format's own: what is open in `out`. */
  canvas_style group;
  int group_kind;
  int waiting; /* texts that come with the next group */
};

/* The title and the description are for those who do not see the picture. */
void canvas_begin(canvas *c, const canvas_format *format, double width, double height,
                  const char *title, const char *description);
/* Ends the picture; its text is in c->out until canvas_free. */
cocabo_status canvas_end(canvas *c, cocabo_error *err);
void canvas_free(canvas *c);

void canvas_line(canvas *c, double x1, double y1, double x2, double y2, int colour,
                 double width);
void canvas_lines(canvas *c, const canvas_point *points, size_t n, int colour,
                  double width);
void canvas_rect(canvas *c, double x, double y, double width, double height, int fill,
                 int stroke);
/* A line through the points, or around an area; of one point there is nothing to draw.
 */
void canvas_path(canvas *c, const canvas_point *points, size_t n, bool closed,
                 const canvas_style *style, const char *tip);
/* The tip, which may be NULL, shows up under the pointer where the format can do it. */
void canvas_mark(canvas *c, canvas_shape shape, double x, double y, double radius,
                 const canvas_style *style, const char *tip);
/* y is the middle of the line. */
void canvas_text(canvas *c, double x, double y, const char *text,
                 const canvas_font *font);

/* Pixels that a text takes, roughly; and the text with "..." in place of what in its
 * middle does not fit into so many pixels (CANVAS_FITTED bytes at most). */
enum { CANVAS_FITTED = 256 };
double canvas_text_width(const char *text, double size);
const char *canvas_fit(char out[CANVAS_FITTED], const char *text, double size,
                       double room);

/* From light (0) to dark (1): told apart by lightness, so also in black and white. */
int canvas_shade(double darkness);

/* For formats. */
bool canvas_same_style(const canvas_style *a, const canvas_style *b);
/* Appends, and remembers if that failed. */
void canvas_put(canvas *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void canvas_put_bytes(canvas *c, const char *bytes, size_t size);

#endif
