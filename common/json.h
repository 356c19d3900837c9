/* json.h - values as JSON, printed to standard output or appended to a buffer. Reading
 * is base/json_tree.h. */
#ifndef FRONT_JSON_H
#define FRONT_JSON_H

#include "cocabo.h"
#include "common/base.h"
#include "common/buffer.h"

/* The fewest digits that read back as the same number; null where it is not finite. */
void front_print_json_number(double value);

/* `size` bytes of text in quotes, with the escapes they need. */
void front_print_json_text(const char *text, int size);

/* Text in quotes, with the escapes it needs. */
cocabo_status front_put_json_text(front_buffer *out, const char *text,
                                  cocabo_error *err);
/* The shortest digits that read back as the same number; 3 rather than 3.0. */
cocabo_status front_put_digits(front_buffer *out, double value, cocabo_error *err);
/* The same, but always with a point or an exponent; null where it is not finite. */
cocabo_status front_put_json_real(front_buffer *out, double value, cocabo_error *err);
/* A value keeps its type: 1, 1.0, true, "1" and null. */
cocabo_status front_put_json_value(front_buffer *out, const cocabo_value *value,
                                   cocabo_error *err);
/* {"lr":0.001,"layers":3}, in the order of the space, without what is inactive. */
cocabo_status front_put_json_params(front_buffer *out, const cocabo_trial *trial,
                                    cocabo_error *err);

/* What was read, in one line. */
cocabo_status front_put_json_node(front_buffer *out, const cb_json_node *node,
                                  cocabo_error *err);

#endif
