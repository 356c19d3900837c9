/* target.h - what a request asks for: the parts of its path and of its query, decoded.
 */
#ifndef HTTP_TARGET_H
#define HTTP_TARGET_H

#include <stdint.h>

#include "cocabo.h"

enum {
  HTTP_TARGET_MAX = 2048, /* bytes of a path with its query */
  HTTP_SEGMENTS = 8,
  HTTP_PAIRS = 8
};

typedef struct http_target {
  int n; /* "/api/studies" has 2 segments, "/" none */
  const char *segments[HTTP_SEGMENTS];
  int n_pairs;
  struct http_pair {
    const char *name, *value;
  } pairs[HTTP_PAIRS];
  char texts[HTTP_TARGET_MAX + HTTP_PAIRS + 2]; /* what they point to */
} http_target;

/* COCABO_E_INVALID for what is no path, is not UTF-8 after decoding, has control
 * characters, or names a thing twice; COCABO_E_RANGE for what is too long. */
cocabo_status http_target_read(http_target *out, const char *text, cocabo_error *err);

const char *http_query(const http_target *target, const char *name); /* or NULL */
/* A whole number of the query in [low, high]; `out` keeps its default if there is none.
 */
cocabo_status http_query_int(const http_target *target, const char *name, int64_t low,
                             int64_t high, int64_t *out, cocabo_error *err);

#endif
