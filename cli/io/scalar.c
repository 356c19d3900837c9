#include "io/scalar.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "io/output.h"

bool scalar_is_number(const char *cell, double *out) {
  const char *digits = cell + (*cell == '-' || *cell == '+');
  const bool plausible = (*digits >= '0' && *digits <= '9') || *digits == '.';
  if (!plausible || cell[strspn(cell, "0123456789.eE+-")])
    return false;
  char *end;
  *out = strtod(cell, &end);
  return *end == '\0' && end != digits && isfinite(*out);
}

static bool is_whole(const char *cell, int64_t *out) {
  const char *digits = cell + (*cell == '-');
  char *end;
  if (!*digits || digits[strspn(digits, "0123456789")])
    return false;
  errno = 0;
  *out = strtoll(cell, &end, 10);
  return errno == 0;
}

/* Everything but text. */
static bool is_bare(const char *cell, cocabo_value *out) {
  if (strcmp(cell, "null") == 0)
    *out = (cocabo_value){.type = COCABO_NULL};
  else if (strcmp(cell, "true") == 0 || strcmp(cell, "false") == 0)
    *out = (cocabo_value){.type = COCABO_BOOL, .as.boolean = *cell == 't'};
  else if (is_whole(cell, &out->as.integer))
    out->type = COCABO_INT;
  else if (scalar_is_number(cell, &out->as.real))
    out->type = COCABO_REAL;
  else
    return false;
  return true;
}

/* NULL if it is no JSON text. */
static char *unquote(const char *cell) {
  json_t *json = *cell == '"' ? json_loads(cell, JSON_DECODE_ANY, NULL) : NULL;
  const char *text = json_string_value(json);
  char *copy = text ? cb_strdup(text) : NULL;
  json_decref(json);
  return copy;
}

cocabo_status scalar_parse(const char *cell, cocabo_value *out, char **text,
                           cocabo_error *err) {
  *text = NULL;
  if (is_bare(cell, out))
    return COCABO_OK;
  *text = unquote(cell);
  if (!*text)
    *text = cb_strdup(cell);
  *out = (cocabo_value){.type = COCABO_TEXT, .as.text = *text};
  return *text ? COCABO_OK : cb_no_memory(err);
}

cocabo_status scalar_put(front_buffer *out, const cocabo_value *value,
                         cocabo_error *err) {
  cocabo_value bare;
  if (value->type != COCABO_TEXT)
    return front_put_json_value(out, value, err);
  const char *text = value->as.text;
  return *text == '\0' || *text == '"' || is_bare(text, &bare)
             ? front_put_json_text(out, text, err)
             : front_buffer_puts(out, text, err);
}
