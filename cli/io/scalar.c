/* scalar.c - reads and writes the cells of scalar.h. */
#include "io/scalar.h"

#include <math.h>
#include <string.h>

#include "common/base.h"
#include "io/output.h"

bool scalar_is_number(const char *cell, double *out) {
  return cb_parse_decimal(cell, strlen(cell), out) && isfinite(*out);
}

/* Everything but text. */
static bool is_bare(const char *cell, cocabo_value *out) {
  if (strcmp(cell, "null") == 0)
    *out = (cocabo_value){.type = COCABO_NULL};
  else if (strcmp(cell, "true") == 0 || strcmp(cell, "false") == 0)
    *out = (cocabo_value){.type = COCABO_BOOL, .as.boolean = *cell == 't'};
  else if (cb_parse_int(cell, &out->as.integer))
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
