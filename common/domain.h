/* domain.h - the parameters of a space as JSON, in the words of study.yaml. */
#ifndef FRONT_DOMAIN_H
#define FRONT_DOMAIN_H

#include <stdbool.h>

#include "cocabo.h"
#include "common/buffer.h"

/* "lr":{"type":"float","low":1e-5,"high":0.1,"log":true}, one line a parameter: what
 * stands between the braces of "parameters". A condition is an "if". */
cocabo_status front_put_parameters(front_buffer *out, const cocabo_space *space,
                                   cocabo_error *err);

/* Its parts, of parameter i. The choices as a list: */
cocabo_status front_put_choices(front_buffer *out, const cocabo_space *space, size_t i,
                                cocabo_error *err);
/* "low":..,"high":..,"log":.. and the step; `no_step` where there is none. */
cocabo_status front_put_range(front_buffer *out, const cocabo_space *space, size_t i,
                              const char *no_step, cocabo_error *err);

/* The rules as a list of texts. */
cocabo_status front_put_rules(front_buffer *out, const cocabo_space *space,
                              cocabo_error *err);

/* Adds parameter i of another space, with its condition; or without it. */
cocabo_status front_copy_parameter(cocabo_space *to, const cocabo_space *from, size_t i,
                                   cocabo_error *err);
cocabo_status front_copy_domain(cocabo_space *to, const cocabo_space *from, size_t i,
                                cocabo_error *err);

/* Points as cocabo_space_check takes them, values in the order of the space. Is
 * parameter i active in this one, whatever its value? */
bool front_is_active(const cocabo_space *space, const cocabo_value *values, size_t i);
/* Does a point of the space keep the rules? The sentence names the first that is
 * broken: COCABO_E_RANGE. */
cocabo_status front_check_rules(const cocabo_space *space, const cocabo_value *values,
                                cocabo_error *err);

#endif
