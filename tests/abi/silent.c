/* silent.c - a thousand asks, through the shared library as a user's program would,
 * with the models fitted again and again on smooth, flat and noisy values, in ten
 * studies. Says nothing: the test fails by any byte of output. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>

#include "cocabo.h"

enum { STUDIES = 10, ASKS = 100, MIXED_EVERY = 3 }; /* the others have numbers only */

static double value_of(int study, int i, double x, double y, int64_t c) {
  const double bowl = (x - 0.7) * (x - 0.7) + (c == 2) + 0.1 * y;
  const double bump = 0.01 * (i * 7 % 13);
  return study % 3 == 0 ? bowl : study % 3 == 1 ? floor(4.0 * bowl) : bowl + bump;
}

static int fill(cocabo_study *study, int which, int asks, cocabo_error *err) {
  for (int i = 0; i < asks; i++) {
    cocabo_trial *trial = NULL;
    double x = 0.0, y = 0.0;
    cocabo_value c = {0};
    int bad =
        cocabo_study_ask(study, 1, &trial, err) ||
        cocabo_trial_get_real(trial, "x", &x, err) ||
        cocabo_trial_get_real(trial, "y", &y, err) ||
        (which % MIXED_EVERY == 0 && cocabo_trial_get_choice(trial, "c", &c, err)) ||
        cocabo_study_tell(study, cocabo_trial_number(trial),
                          value_of(which, i, x, y, c.as.integer), err);
    cocabo_trial_free(trial);
    if (bad)
      return 1;
  }
  return 0;
}

int main(void) {
  const cocabo_value choices[] = {{COCABO_INT, {.integer = 1}},
                                  {COCABO_INT, {.integer = 2}},
                                  {COCABO_INT, {.integer = 3}}};
  cocabo_error err = {0};
  int bad = 0;
  for (int s = 0; s < STUDIES && !bad; s++) {
    char seed[16];
    snprintf(seed, sizeof seed, "%d", s);
    cocabo_space *space = cocabo_space_new();
    cocabo_options *options = cocabo_options_new();
    cocabo_study *study = NULL;
    bad = cocabo_space_add_real(space, "x", -2, 2, 0, 0, &err) ||
          cocabo_space_add_real(space, "y", 1e-3, 10, 0, COCABO_LOG, &err) ||
          (s % MIXED_EVERY == 0 &&
           cocabo_space_add_choice(space, "c", choices, 3, 0, &err)) ||
          cocabo_options_set(options, "seed", seed, &err) ||
          cocabo_study_create(&study, "silent", space, options, NULL, &err) ||
          fill(study, s, ASKS, &err);
    cocabo_study_free(study);
    cocabo_options_free(options);
    cocabo_space_free(space);
  }
  if (bad)
    fprintf(stderr, "%s\n", err.message);
  return bad;
}
