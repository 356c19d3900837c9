/* svg.h - a canvas that becomes an SVG file: text as text in any sans-serif font,
 * scalable, on a white ground, with a title and a description for screen readers. */
#ifndef FRONT_SVG_H
#define FRONT_SVG_H

#include "front/canvas.h"

extern const canvas_format svg_format;

#endif
