/* inputs.h - inputs in series: h1, h2, ... and x1, x2, ...; choices among words. */
#ifndef BENCH_PROBLEMS_INPUTS_H
#define BENCH_PROBLEMS_INPUTS_H

#include <stdint.h>

#include "cocabo.h"

/* Adds `count` inputs named stem1, stem2, ... of the same domain. */
cocabo_status bench_add_choices(cocabo_space *space, const char *stem, int count,
                                const cocabo_value *choices, int n, unsigned flags,
                                cocabo_error *err);
cocabo_status bench_add_reals(cocabo_space *space, const char *stem, int count,
                              double low, double high, double step, cocabo_error *err);

/* Adds a choice among n <= COCABO_MAX_CHOICES words. */
cocabo_status bench_add_words(cocabo_space *space, const char *name,
                              const char *const *words, int n, cocabo_error *err);
/* Which of them the value is. */
int bench_word_index(cocabo_value value, const char *const *words, int n);

static inline cocabo_value bench_int(int64_t integer) {
  return (cocabo_value){COCABO_INT, {.integer = integer}};
}

static inline cocabo_value bench_real(double real) {
  return (cocabo_value){COCABO_REAL, {.real = real}};
}

#endif
