/* page.h - one HTML page that needs nothing else: no script, no font, no other file.
 *
 * Writing does not fail: a page that ran out of memory ignores what follows, and says
 * so at the end.
 */
#ifndef BENCH_PAGE_H
#define BENCH_PAGE_H

#include "common/buffer.h"
#include "common/canvas.h"

typedef struct bench_page {
  front_buffer out;
  cocabo_status status;
} bench_page;

void bench_page_begin(bench_page *page, const char *title);
cocabo_status bench_page_end(bench_page *page, cocabo_error *err);
void bench_page_free(bench_page *page);

/* Markup as it is; and a text, of which nothing becomes markup. */
void bench_page_put(bench_page *page, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void bench_page_text(bench_page *page, const char *text);
void bench_page_text_of(bench_page *page, const char *text, int size);

/* A picture of ours becomes part of the page; another's becomes an image that cannot do
 * anything. */
void bench_page_canvas(bench_page *page, const canvas *c);
void bench_page_image(bench_page *page, const front_buffer *svg, const char *name);

#endif
