/* quickstart.c - tune a function of two numbers and one category.
 *   cc quickstart.c -lcocabo -lm && ./a.out */
#include <cocabo.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Pretend this takes an hour: how fast a model learns at a rate, by an optimiser. */
static double error_rate(double rate, long layers, const char *optimiser) {
  const double ideal = optimiser[0] == 'a' ? -3.0 : -1.5; /* adam likes small steps */
  const double penalty = optimiser[0] == 'a' ? 0.02 : 0.05;
  return penalty + 0.1 * pow(log10(rate) - ideal, 2) + 0.01 * labs(layers - 4);
}

int main(void) {
  const cocabo_value optimisers[] = {{COCABO_TEXT, {.text = "adam"}},
                                     {COCABO_TEXT, {.text = "sgd"}}};
  cocabo_error err = {0};
  cocabo_study *study = NULL;
  cocabo_trial *best = NULL;
  cocabo_space *space = cocabo_space_new();

  int bad = cocabo_space_add_real(space, "rate", 1e-5, 1, 0, COCABO_LOG, &err) ||
            cocabo_space_add_int(space, "layers", 1, 8, 0, &err) ||
            cocabo_space_add_choice(space, "optimiser", optimisers, 2, 0, &err) ||
            cocabo_study_create(&study, "quickstart", space, NULL, NULL, &err);
  for (int i = 0; i < 40 && !bad; i++) {
    cocabo_trial *trial = NULL;
    double rate;
    int64_t layers;
    cocabo_value opt;
    bad = cocabo_study_ask(study, 1, &trial, &err) ||
          cocabo_trial_get_real(trial, "rate", &rate, &err) ||
          cocabo_trial_get_int(trial, "layers", &layers, &err) ||
          cocabo_trial_get_choice(trial, "optimiser", &opt, &err) ||
          cocabo_study_tell(study, cocabo_trial_number(trial),
                            error_rate(rate, layers, opt.as.text), &err);
    cocabo_trial_free(trial);
  }
  if (bad || cocabo_study_best(study, &best, &err))
    fprintf(stderr, "quickstart: %s\n", err.message);
  else
    printf("best of %lld: %.4f\n", (long long)cocabo_study_count(study),
           cocabo_trial_value(best));
  cocabo_trial_free(best);
  cocabo_study_free(study);
  cocabo_space_free(space);
  return bad || !best;
}
