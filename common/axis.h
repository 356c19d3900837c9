/* axis.h - points along one parameter, and points that are whole again after one of
 * their values was changed. */
#ifndef FRONT_AXIS_H
#define FRONT_AXIS_H

#include <stddef.h>

#include "cocabo.h"

/* Values of parameter i, evenly spaced on its own scale, from one end to the other: at
 * most n >= 2 of a number or an ordinal, each once; all choices of a choice. out has
 * room for n, or for all choices. Texts are borrowed from the space. Returns how many.
 */
size_t front_axis(const cocabo_space *space, size_t i, size_t n, cocabo_value *out);

/* Makes n = cocabo_space_count values a point: what the values before make inactive is
 * COCABO_ABSENT, and what is active but absent gets the middle of its range or its
 * first choice. COCABO_E_INVALID if a value is none of its parameter's. */
cocabo_status front_settle(const cocabo_space *space, cocabo_value *values,
                           cocabo_error *err);

#endif
