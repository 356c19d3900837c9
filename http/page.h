/* page.h - the page's files, which are bytes of this program, and the report: the page
 * with the documents of a study inside. */
#ifndef HTTP_PAGE_H
#define HTTP_PAGE_H

#include "http/routes.h"

typedef struct http_file http_file;
/* The file that a path names, or NULL. Nothing is looked for on any disk. */
const http_file *http_page_find(const http_target *target);
void http_page_answer(const http_file *file, http_response *out);

/* Appends one HTML document that shows the studies named (n of them) and needs nothing
 * else: at most about `most` bytes of documents, for which trials are thinned. */
cocabo_status http_report(http_site *site, const char *const *studies, size_t n,
                          size_t most, front_buffer *out, cocabo_error *err);

#endif
