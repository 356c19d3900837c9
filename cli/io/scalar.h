/* scalar.h - a value in a cell of a CSV file, where everything is text.
 *
 * A number, true, false or null is what it looks like; text that would be taken for one
 * of them, and the empty text, are in quotes as in JSON; other text is as it is. */
#ifndef CLI_SCALAR_H
#define CLI_SCALAR_H

#include <stdbool.h>

#include "cocabo.h"
#include "common/buffer.h"

/* *text is owned by the caller and holds what out->as.text points to, or is NULL. */
cocabo_status scalar_parse(const char *cell, cocabo_value *out, char **text,
                           cocabo_error *err);

cocabo_status scalar_put(front_buffer *out, const cocabo_value *value,
                         cocabo_error *err);

/* A number in full, with nothing before or behind it: [-]digits[.digits][e[+-]digits].
 */
bool scalar_is_number(const char *cell, double *out);

#endif
