/* scalar.c - reads and writes the cells of scalar.h. */
#include "io/scalar.h"

#include <errno.h>
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

/* *text stays NULL if the cell is no JSON text. */
static cocabo_status unquote(const char *cell, char **text, cocabo_error *err) {
  cb_walk walk = cb_walk_start(cell, strlen(cell));
  char *found = cb_walk_string(&walk);
  cb_walk_end(&walk);
  if (!walk.why)
    *text = found;
  else
    cb_free(found);
  return walk.no_memory ? cb_no_memory(err) : COCABO_OK;
}

cocabo_status scalar_parse(const char *cell, cocabo_value *out, char **text,
                           cocabo_error *err) {
  *text = NULL;
  if (is_bare(cell, out))
    return COCABO_OK;
  if (*cell == '"')
    CB_TRY(unquote(cell, text, err));
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
