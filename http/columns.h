/* columns.h - trials as columns of JSON, and which of them show a study best where
 * there is no room for all. */
#ifndef HTTP_COLUMNS_H
#define HTTP_COLUMNS_H

#include "http/call.h"

/* Members "number" to "reported" of the open object, for n trials. */
cocabo_status http_put_columns(http_json *json, const http_study *study,
                               const int64_t *numbers, size_t n, cocabo_error *err);

/* At most `most` trials, by number, owned by the caller: every improvement, the newest,
 * those that run, and an even sample of the rest. */
cocabo_status http_thin(const http_study *study, size_t most, int64_t **numbers,
                        size_t *n, cocabo_error *err);

#endif
