/* inputs.c - adds series of inputs to a space, and finds the index of a choice by its
 * word. */
#include "problems/inputs.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"

typedef struct input_name {
  char text[24];
} input_name;

static input_name name_of(const char *stem, int number) {
  input_name name;
  snprintf(name.text, sizeof name.text, "%s%d", stem, number);
  return name;
}

cocabo_status bench_add_choices(cocabo_space *space, const char *stem, int count,
                                const cocabo_value *choices, int n, unsigned flags,
                                cocabo_error *err) {
  for (int j = 1; j <= count; j++)
    CB_TRY(cocabo_space_add_choice(space, name_of(stem, j).text, choices, (size_t)n,
                                   flags, err));
  return COCABO_OK;
}

cocabo_status bench_add_reals(cocabo_space *space, const char *stem, int count,
                              double low, double high, double step, cocabo_error *err) {
  for (int j = 1; j <= count; j++)
    CB_TRY(
        cocabo_space_add_real(space, name_of(stem, j).text, low, high, step, 0, err));
  return COCABO_OK;
}

cocabo_status bench_add_words(cocabo_space *space, const char *name,
                              const char *const *words, int n, cocabo_error *err) {
  cocabo_value choices[COCABO_MAX_CHOICES];
  for (int i = 0; i < n; i++)
    choices[i] = (cocabo_value){COCABO_TEXT, {.text = words[i]}};
  return cocabo_space_add_choice(space, name, choices, (size_t)n, 0, err);
}

int bench_word_index(cocabo_value value, const char *const *words, int n) {
  int i = 0;
  while (i < n && strcmp(words[i], value.as.text) != 0)
    i++;
  assert(i < n);
  return i;
}
