/* sha256.h - the hash that a Content-Security-Policy names inline scripts by. */
#ifndef HTTP_SHA256_H
#define HTTP_SHA256_H

#include <stddef.h>

/* "sha256-" and the hash in base 64, with a NUL. */
enum { HTTP_HASH = 52 };
void http_hash(const void *bytes, size_t size, char out[static HTTP_HASH]);

#endif
