/* output.h - values and trials as text, for programs and for people.
 *
 * Everything is appended to a buffer; cli_print writes a buffer to standard output,
 * whose errors front_finish_output reports at the end.
 */
#ifndef CLI_OUTPUT_H
#define CLI_OUTPUT_H

#include <stdbool.h>

#include "cocabo.h"
#include "common/buffer.h"
#include "common/json.h"

/* How long the evaluation took, in seconds; NaN where that is not known. */
double cli_trial_seconds(const cocabo_trial *trial);

/* ---- JSON ------------------------------------------------------------------------ */

/* {"number":0,"state":"complete","value":0.5,"params":{..},"attempt":0,"started":..,
 * "finished":..,"seconds":..,"metrics":{..}}, where the study has constraints
 * "feasible" (true, false, or null: not known), "attrs":{..} and "reports":[[..]] where
 * there are some, and for a failed one "reason".
 * Times are seconds since 1970, `seconds` is what lies between; what there is not yet
 * is null. No newline. */
cocabo_status cli_put_json_trial(front_buffer *out, const cocabo_study *study,
                                 const cocabo_trial *trial, cocabo_error *err);
/* The same without the closing brace, for who has more to say of it. */
cocabo_status cli_put_json_fields(front_buffer *out, const cocabo_study *study,
                                  const cocabo_trial *trial, cocabo_error *err);

/* ---- for people and shells ------------------------------------------------------- */

/* As an argument of a program: text as it is, numbers as in JSON, true, false, null. */
cocabo_status cli_put_plain_value(front_buffer *out, const cocabo_value *value,
                                  cocabo_error *err);
/* The same, but text in quotes where it would be taken for something else. */
cocabo_status cli_put_shown_value(front_buffer *out, const cocabo_value *value,
                                  cocabo_error *err);
/* "name=value name=value", values as shown, without what is inactive. */
cocabo_status cli_put_shown_params(front_buffer *out, const cocabo_trial *trial,
                                   cocabo_error *err);
/* For people only, who do not read more than six digits (see show_number): a result,
 * and the value of parameter i, where choices and whole numbers stay as they are and
 * `-` is what an inactive one has. */
cocabo_status cli_put_rounded(front_buffer *out, double value, cocabo_error *err);
cocabo_status cli_put_rounded_param(front_buffer *out, const cocabo_space *space,
                                    size_t i, const cocabo_value *value,
                                    cocabo_error *err);

/* False once standard output cannot be written any more. */
bool cli_print(const front_buffer *text);

/* The end of a command: prints `out` or the sentence of a failure, frees `out`, and
 * returns the exit status. */
int cli_answer(const char *command, cocabo_status status, front_buffer *out,
               const cocabo_error *err);

#endif
