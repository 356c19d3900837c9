/* domain.h - the parameters of a space as JSON, in the words of study.yaml. */
#ifndef FRONT_DOMAIN_H
#define FRONT_DOMAIN_H

#include "cocabo.h"
#include "common/buffer.h"

/* "lr":{"type":"float","low":1e-5,"high":0.1,"log":true}, one line a parameter: what
 * stands between the braces of "parameters". */
cocabo_status front_put_parameters(front_buffer *out, const cocabo_space *space,
                                   cocabo_error *err);

/* Its parts, of parameter i. The choices as a list: */
cocabo_status front_put_choices(front_buffer *out, const cocabo_space *space, size_t i,
                                cocabo_error *err);
/* "low":..,"high":..,"log":.. and the step; `no_step` where there is none. */
cocabo_status front_put_range(front_buffer *out, const cocabo_space *space, size_t i,
                              const char *no_step, cocabo_error *err);

#endif
