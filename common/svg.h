/* svg.h - a canvas that becomes an SVG file: text as text in any sans-serif font,
 * scalable, on a white ground, with a title and a description for screen readers. */
#ifndef FRONT_SVG_H
#define FRONT_SVG_H

#include "common/canvas.h"

extern const canvas_format svg_format;

/* Appends a text for XML or HTML, outside of tags or in double quotes; what it may not
 * hold becomes '?'. */
cocabo_status svg_escape(front_buffer *out, const char *text, cocabo_error *err);

#endif
