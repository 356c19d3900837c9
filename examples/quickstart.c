/* quickstart.c - tune two numbers and a category.   cc quickstart.c -lcocabo -lm */
#include <cocabo.h>
#include <math.h>
#include <stdio.h>

/* Pretend this takes an hour: the error of a model trained with these settings. */
static double train(double rate, double layers, const char *optimiser) {
  const double ideal = optimiser[0] == 'a' ? -3.0 : -1.5; /* adam likes small steps */
  return 0.02 + 0.1 * pow(log10(rate) - ideal, 2) + 0.01 * fabs(layers - 4.0);
}

int main(void) {
  const cocabo_value optimisers[] = {{COCABO_TEXT, {.text = "adam"}},
                                     {COCABO_TEXT, {.text = "sgd"}}};
  cocabo_error err = {COCABO_OK, ""};
  cocabo_space *space = cocabo_space_new();
  cocabo_study *study = NULL;
  cocabo_trial *trial = NULL, *best = NULL;
  int bad = cocabo_space_add_real(space, "rate", 1e-5, 1.0, 0, COCABO_LOG, &err) ||
            cocabo_space_add_int(space, "layers", 1, 8, 0, 0, &err) ||
            cocabo_space_add_choice(space, "optimiser", optimisers, 2, 0, &err) ||
            cocabo_study_create(&study, "quickstart", space, NULL, NULL, &err);
  for (int i = 0; i < 40 && !bad; i++) {
    double rate = 0, layers = 0;
    cocabo_value opt;
    bad = cocabo_study_ask(study, 1, &trial, &err) ||
          cocabo_trial_get_real(trial, "rate", &rate, &err) ||
          cocabo_trial_get_real(trial, "layers", &layers, &err) ||
          cocabo_trial_get_choice(trial, "optimiser", &opt, &err) ||
          cocabo_study_tell(study, i, train(rate, layers, opt.as.text), &err);
    cocabo_trial_free(trial);
  }
  bad = bad || cocabo_study_best(study, &best, &err);
  printf("%s%.4f\n", bad ? err.message : "smallest error: ", cocabo_trial_value(best));
  cocabo_trial_free(best);
  cocabo_study_free(study);
  cocabo_space_free(space);
  return bad;
}
