/* page.c - writes the HTML of a report: the frame with its style sheet, headings, text
 * with everything escaped, and pictures in place. */
#include "page.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "common/svg.h"

/* ---- text ----------------------------------------------------------------------- */

static void append(bench_page *page, const char *bytes, size_t size) {
  if (page->status == COCABO_OK)
    page->status = front_buffer_append(&page->out, bytes, size, NULL);
}

void bench_page_put(bench_page *page, const char *fmt, ...) {
  char piece[512];
  va_list args;
  va_start(args, fmt);
  const int size = vsnprintf(piece, sizeof piece, fmt, args);
  va_end(args);
  assert(size >= 0 && size < (int)sizeof piece); /* markup of ours is short */
  append(page, piece, (size_t)size);
}

void bench_page_text(bench_page *page, const char *text) {
  if (page->status == COCABO_OK)
    page->status = svg_escape(&page->out, text, NULL);
}

void bench_page_text_of(bench_page *page, const char *text, int size) {
  char piece[256];
  snprintf(piece, sizeof piece, "%.*s", size, text);
  bench_page_text(page, piece);
}

/* ---- the frame ------------------------------------------------------------------ */

/* In the dark, pictures are turned: white becomes the ground of the page, and the hues
 * stay what they are. */
static const char style[] =
    ":root{color-scheme:light dark;--ink:#1a1a1a;--quiet:#5c5c5c;--line:#dcdcdc;"
    "--ground:#fff;--soft:#f6f6f4;--best:#b34700}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6e6e6;--quiet:#a3a3a3;"
    "--line:#3d3d3d;--ground:#1a1a1a;--soft:#232323;--best:#ffb070}\n"
    "figure svg,figure img{filter:invert(.9) hue-rotate(180deg)}}\n"
    "*{box-sizing:border-box}\n"
    "body{margin:0 auto;padding:2.5rem 1.25rem 4rem;max-width:72rem;"
    "background:var(--ground);color:var(--ink);"
    "font:16px/1.5 system-ui,-apple-system,\"Segoe UI\",Roboto,sans-serif}\n"
    "h1{font-size:1.9rem;line-height:1.2;margin:0 0 .4rem}\n"
    "h2{font-size:1.35rem;margin:3rem 0 .3rem;padding-top:1rem;"
    "border-top:1px solid var(--line)}\n"
    "p{margin:.3rem 0 .8rem}\n"
    ".quiet,figcaption,caption{color:var(--quiet);font-size:.875rem}\n"
    "code{font:.9em ui-monospace,\"DejaVu Sans Mono\",monospace;"
    "background:var(--soft);padding:.1em .35em;border-radius:4px;"
    "overflow-wrap:anywhere}\n"
    "nav ul{list-style:none;padding:0;display:flex;flex-wrap:wrap;gap:.3rem 1.2rem}\n"
    "a{color:inherit}\n"
    "figure{margin:1.2rem 0}\n"
    "figure svg,figure img{display:block;max-width:100%;height:auto;margin:0 auto}\n"
    "figcaption{text-align:center;margin-top:.3rem}\n"
    ".wide{overflow-x:auto;margin:1.6rem 0}\n"
    "table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;"
    "font-size:.875rem;white-space:nowrap}\n"
    "caption{text-align:left;padding-bottom:.4rem}\n"
    "caption b{color:var(--ink);font-size:1rem}\n"
    "th,td{padding:.32rem .45rem;text-align:right;border-bottom:1px solid "
    "var(--line)}\n"
    "th:first-child,td:first-child{text-align:left;padding-left:0}\n"
    "th:last-child,td:last-child{padding-right:0}\n"
    "thead th{font-weight:600;border-bottom:1.5px solid var(--ink)}\n"
    "tbody th{font-weight:400}\n"
    "td b{color:var(--best)}\n"
    "td small{color:var(--quiet)}\n"
    "@media print{body{max-width:none;padding:0;font-size:10.5pt}"
    "nav{display:none}figure,table{break-inside:avoid}h2{break-after:avoid}"
    ".wide{overflow:visible}table{white-space:normal;font-size:8.5pt}"
    "tbody th{white-space:nowrap}}\n";

void bench_page_begin(bench_page *page, const char *title) {
  *page = (bench_page){0};
  bench_page_put(page, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                       "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                       "content=\"width=device-width, initial-scale=1\">\n<title>");
  bench_page_text(page, title);
  bench_page_put(page, "</title>\n<style>\n");
  append(page, style, sizeof style - 1);
  bench_page_put(page, "</style>\n</head>\n<body>\n<h1>");
  bench_page_text(page, title);
  bench_page_put(page, "</h1>\n");
}

cocabo_status bench_page_end(bench_page *page, cocabo_error *err) {
  bench_page_put(page, "</body>\n</html>\n");
  return page->status == COCABO_OK ? COCABO_OK : cb_no_memory(err);
}

void bench_page_free(bench_page *page) {
  front_buffer_free(&page->out);
}

/* ---- pictures ------------------------------------------------------------------- */

/* Without the line that says it is XML, which has no place inside a page. */
void bench_page_canvas(bench_page *page, const canvas *c) {
  const char *line = memchr(c->out.data, '\n', c->out.size);
  const size_t skip = (size_t)(line + 1 - c->out.data);
  append(page, c->out.data + skip, c->out.size - skip);
}

static void put_base64(bench_page *page, const unsigned char *bytes, size_t size) {
  static const char digits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < size; i += 3) {
    const unsigned second = i + 1 < size ? bytes[i + 1] : 0;
    const unsigned third = i + 2 < size ? bytes[i + 2] : 0;
    const unsigned all = (unsigned)bytes[i] << 16 | second << 8 | third;
    const char four[] = {digits[all >> 18], digits[all >> 12 & 63],
                         i + 1 < size ? digits[all >> 6 & 63] : '=',
                         i + 2 < size ? digits[all & 63] : '='};
    append(page, four, sizeof four);
  }
}

void bench_page_image(bench_page *page, const front_buffer *svg, const char *name) {
  bench_page_put(page, "<img alt=\"");
  bench_page_text(page, name);
  bench_page_put(page, "\" src=\"data:image/svg+xml;base64,");
  put_base64(page, (const unsigned char *)svg->data, svg->size);
  bench_page_put(page, "\">\n");
}
