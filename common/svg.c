/* svg.c - the canvas format that writes SVG, with all text escaped. */
#include "common/svg.h"

#include "common/base.h"

/* Marks without a tip that follow each other in one style share a path, which makes
 * ten thousand of them affordable; everything in one style shares a <g>. */
enum { NO_GROUP, STYLE_GROUP, DOT_GROUP };

/* ---- escapes -------------------------------------------------------------------- */

static const char *escape(unsigned c) {
  switch (c) {
  case '<':
    return "&lt;";
  case '>':
    return "&gt;";
  case '&':
    return "&amp;";
  case '"':
    return "&quot;";
  default:
    return cb_text_is_control(c) || c == 0xfffe || c == 0xffff ? "?" : NULL;
  }
}

cocabo_status svg_escape(front_buffer *out, const char *text, cocabo_error *err) {
  size_t bytes;
  for (; *text; text += bytes) {
    const unsigned character = cb_text_decode(text, &bytes);
    const char *escaped = character == 0xfffd && bytes == 1 ? "?" : escape(character);
    CB_TRY(escaped ? front_buffer_puts(out, escaped, err)
                   : front_buffer_append(out, text, bytes, err));
  }
  return COCABO_OK;
}

static void put_escaped(canvas *c, const char *text) {
  if (c->status == COCABO_OK)
    c->status = svg_escape(&c->out, text, NULL);
}

/* ---- groups --------------------------------------------------------------------- */

static void put_colour(canvas *c, const char *name, int colour) {
  if (colour == CANVAS_NONE)
    canvas_put(c, " %s=\"none\"", name);
  else
    canvas_put(c, " %s=\"#%06x\"", name, (unsigned)colour);
}

static void put_style(canvas *c, const canvas_style *style) {
  put_colour(c, "fill", style->fill);
  put_colour(c, "stroke", style->stroke);
  if (style->stroke != CANVAS_NONE)
    canvas_put(c, " stroke-width=\"%.4g\"", style->width);
  if (style->dash)
    canvas_put(c, " stroke-dasharray=\"%s\"", style->dash);
  if (style->clear > 0.0)
    canvas_put(c, " fill-opacity=\"%.4g\"", 1.0 - style->clear);
}

static void close_group(canvas *c) {
  if (c->group_kind == DOT_GROUP)
    canvas_put(c, "\"/>\n");
  else if (c->group_kind == STYLE_GROUP)
    canvas_put(c, "</g>\n");
  c->group_kind = NO_GROUP;
}

static void open_style(canvas *c, const canvas_style *style) {
  if (c->group_kind == STYLE_GROUP && canvas_same_style(&c->group, style))
    return;
  close_group(c);
  canvas_put(c, "<g");
  put_style(c, style);
  canvas_put(c, ">\n");
  c->group_kind = STYLE_GROUP;
  c->group = *style;
}

/* ---- shapes --------------------------------------------------------------------- */

/* The end of an element, with what shows up under the pointer. */
static void put_end(canvas *c, const char *name, const char *tip) {
  if (!tip) {
    canvas_put(c, "/>\n");
    return;
  }
  canvas_put(c, "><title>");
  put_escaped(c, tip);
  canvas_put(c, "</title></%s>\n", name);
}

static void svg_path(canvas *c, const canvas_point *points, size_t n, bool closed,
                     const canvas_style *style, const char *tip) {
  open_style(c, style);
  canvas_put(c, "<path d=\"");
  for (size_t i = 0; i < n; i++)
    canvas_put(c, "%s%.1f,%.1f", i == 0 ? "M" : " ", points[i].x, points[i].y);
  canvas_put(c, closed ? "Z\"" : "\"");
  put_end(c, "path", tip);
}

/* A dot without a border and a tip is a line of no length with round ends. */
static void put_plain_dot(canvas *c, canvas_point at, double radius, int colour) {
  const canvas_style style = {
      .fill = CANVAS_NONE, .stroke = colour, .width = 2.0 * radius};
  if (c->group_kind != DOT_GROUP || !canvas_same_style(&c->group, &style)) {
    close_group(c);
    canvas_put(c, "<path");
    put_style(c, &style);
    canvas_put(c, " stroke-linecap=\"round\" d=\"");
    c->group_kind = DOT_GROUP;
    c->group = style;
  }
  canvas_put(c, "M%.1f,%.1fh0", at.x, at.y);
}

static void svg_dot(canvas *c, canvas_point at, double radius,
                    const canvas_style *style, const char *tip) {
  if (!tip && style->stroke == CANVAS_NONE) {
    put_plain_dot(c, at, radius, style->fill);
    return;
  }
  open_style(c, style);
  canvas_put(c, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"%.4g\"", at.x, at.y, radius);
  put_end(c, "circle", tip);
}

static void svg_text(canvas *c, canvas_point at, const char *text,
                     const canvas_font *font) {
  static const char *const anchors[] = {"start", "middle", "end"};
  close_group(c);
  canvas_put(c, "<text");
  /* The middle of a line is about a third of the font's size above its base. */
  const double drop = 0.35 * font->size;
  if (font->upwards)
    canvas_put(c, " transform=\"translate(%.1f %.1f) rotate(-90)\"", at.x + drop, at.y);
  else
    canvas_put(c, " x=\"%.1f\" y=\"%.1f\"", at.x, at.y + drop);
  canvas_put(c, " font-size=\"%.4g\"", font->size);
  put_colour(c, "fill", font->colour);
  if (font->anchor != CANVAS_START)
    canvas_put(c, " text-anchor=\"%s\"", anchors[font->anchor]);
  canvas_put(c, font->bold ? " font-weight=\"bold\">" : ">");
  put_escaped(c, text);
  canvas_put(c, "</text>\n");
}

/* ---- the file ------------------------------------------------------------------- */

static void svg_begin(canvas *c, const char *title, const char *description) {
  canvas_put(c, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                "<svg xmlns=\"http://www.w3.org/2000/svg\" ");
  canvas_put(c, "viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\" ", c->width,
             c->height, c->width, c->height);
  canvas_put(c, "font-family=\"sans-serif\" role=\"img\">\n<title>");
  put_escaped(c, title);
  canvas_put(c, "</title>\n<desc>");
  put_escaped(c, description);
  canvas_put(c, "</desc>\n");
}

static void svg_end(canvas *c) {
  close_group(c);
  canvas_put(c, "</svg>\n");
}

const canvas_format svg_format = {.begin = svg_begin,
                                  .path = svg_path,
                                  .dot = svg_dot,
                                  .text = svg_text,
                                  .end = svg_end};
