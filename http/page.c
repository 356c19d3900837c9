/* page.c - the page as the server has it. */
#include "http/page.h"

#include <string.h>

extern const unsigned char http_page_html[], http_page_css[], http_page_js[];
extern const size_t http_page_html_size, http_page_css_size, http_page_js_size;

struct http_file {
  const char *path, *type;
  const unsigned char *bytes;
  const size_t *size;
};

static const http_file files[] = {
    {"", "text/html; charset=utf-8", http_page_html, &http_page_html_size},
    {"page.css", "text/css; charset=utf-8", http_page_css, &http_page_css_size},
    {"page.js", "text/javascript; charset=utf-8", http_page_js, &http_page_js_size},
    {"favicon.ico", NULL, NULL, NULL},
};

static const char policy[] =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

const http_file *http_page_find(const http_target *target) {
  if (target->n > 1)
    return NULL;
  const char *name = target->n == 0 ? "" : target->segments[0];
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    if (strcmp(files[i].path, name) == 0)
      return &files[i];
  return NULL;
}

void http_page_answer(const http_file *file, http_response *out) {
  out->status = file->bytes ? 200 : 204;
  out->type = file->type;
  out->policy = policy;
  out->text = file->bytes ? (const char *)file->bytes : "";
  out->text_size = file->bytes ? *file->size : 0;
}
