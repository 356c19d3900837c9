/* output.h - values and trials as text, for programs and for people.
 *
 * Everything is appended to a buffer; cli_print writes a buffer to standard output,
 * whose errors front_finish_output reports at the end.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

#include "cocabo.h"
#include "front/buffer.h"

/* ---- JSON ------------------------------------------------------------------------ */

/* Text in quotes, with the escapes it needs. */
cocabo_status cli_put_json_text(front_buffer *out, const char *text, cocabo_error *err);
/* The shortest digits that read back as the same number, always with a point or an
 * exponent; null where it is not finite. */
cocabo_status cli_put_json_real(front_buffer *out, double value, cocabo_error *err);
/* A value keeps its type: 1, 1.0, true, "1" and null. */
cocabo_status cli_put_json_value(front_buffer *out, const cocabo_value *value,
                                 cocabo_error *err);
/* {"lr":0.001,"layers":3}, in the order of the space. */
cocabo_status cli_put_json_params(front_buffer *out, const cocabo_trial *trial,
                                  cocabo_error *err);
/* {"number":0,"state":"complete","value":0.5,"params":{..},"attempt":0,"started":..,
 * "finished":..} and for a failed one "reason". Times are seconds since 1970; what
 * there is not yet is null. No newline. */
cocabo_status cli_put_json_trial(front_buffer *out, const cocabo_trial *trial,
                                 cocabo_error *err);

/* ---- for people and shells ------------------------------------------------------- */

/* As an argument of a program: text as it is, numbers as in JSON, true, false, null. */
cocabo_status cli_put_plain_value(front_buffer *out, const cocabo_value *value,
                                  cocabo_error *err);
/* The same, but text in quotes where it would be taken for something else. */
cocabo_status cli_put_shown_value(front_buffer *out, const cocabo_value *value,
                                  cocabo_error *err);
/* A result: the shortest digits, and 3 rather than 3.0. */
cocabo_status cli_put_result(front_buffer *out, double value, cocabo_error *err);
/* "name=value name=value", values as shown. */
cocabo_status cli_put_shown_params(front_buffer *out, const cocabo_trial *trial,
                                   cocabo_error *err);

/* False once standard output cannot be written any more. */
bool cli_print(const front_buffer *text);

/* The end of a command: prints `out` or the sentence of a failure, frees `out`, and
 * returns the exit status. */
int cli_answer(const char *command, cocabo_status status, front_buffer *out,
               const cocabo_error *err);

#endif
