/* batch.c - four evaluations at a time.   cc batch.c -lcocabo -lm
 *
 * Ask for a batch, evaluate its points in threads, tell the results in any order. Only
 * one thread uses the study: the others see nothing but their own job. */
#include <cocabo.h>
#include <math.h>
#include <stdio.h>
#include <threads.h>

enum { BATCH = 4, ROUNDS = 15 };

typedef struct job {
  double rate, layers; /* in */
  cocabo_value optimiser;
  double error; /* out */
} job;

/* Pretend this takes an hour: the error of a model trained with these settings. */
static int train(void *argument) {
  job *j = argument;
  const double ideal = j->optimiser.as.text[0] == 'a' ? -3.0 : -1.5;
  j->error = 0.02 + 0.1 * pow(log10(j->rate) - ideal, 2) + 0.01 * fabs(j->layers - 4.0);
  return 0;
}

/* The values of a trial; the text of the choice lives as long as the trial. */
static int read_job(const cocabo_trial *trial, job *j, cocabo_error *err) {
  return cocabo_trial_get_real(trial, "rate", &j->rate, err) ||
         cocabo_trial_get_real(trial, "layers", &j->layers, err) ||
         cocabo_trial_get_choice(trial, "optimiser", &j->optimiser, err);
}

static void train_all(job jobs[BATCH]) {
  thrd_t threads[BATCH];
  int started[BATCH];
  for (int i = 0; i < BATCH; i++) {
    started[i] = thrd_create(&threads[i], train, &jobs[i]) == thrd_success;
    if (!started[i])
      train(&jobs[i]); /* no thread to be had: do it here */
  }
  for (int i = 0; i < BATCH; i++)
    if (started[i])
      thrd_join(threads[i], NULL);
}

static int do_round(cocabo_study *study, cocabo_error *err) {
  cocabo_trial *trials[BATCH];
  job jobs[BATCH];
  int bad = cocabo_study_ask(study, BATCH, trials, err) != COCABO_OK;
  if (bad)
    return bad;
  for (int i = 0; i < BATCH; i++)
    bad = bad || read_job(trials[i], &jobs[i], err);
  if (!bad)
    train_all(jobs);
  for (int i = BATCH - 1; i >= 0; i--) { /* any order will do */
    bad = bad ||
          cocabo_study_tell(study, cocabo_trial_number(trials[i]), jobs[i].error, err);
    cocabo_trial_free(trials[i]);
  }
  return bad;
}

int main(void) {
  const cocabo_value optimisers[] = {{COCABO_TEXT, {.text = "adam"}},
                                     {COCABO_TEXT, {.text = "sgd"}}};
  cocabo_error err = {COCABO_OK, ""};
  cocabo_space *space = cocabo_space_new();
  cocabo_study *study = NULL;
  cocabo_trial *best = NULL;
  int bad = cocabo_space_add_real(space, "rate", 1e-5, 1.0, 0, COCABO_LOG, &err) ||
            cocabo_space_add_int(space, "layers", 1, 8, 0, 0, &err) ||
            cocabo_space_add_choice(space, "optimiser", optimisers, 2, 0, &err) ||
            cocabo_study_create(&study, "batch", space, NULL, NULL, &err);
  for (int i = 0; i < ROUNDS && !bad; i++)
    bad = do_round(study, &err);
  bad = bad || cocabo_study_best(study, &best, &err);
  if (bad)
    fprintf(stderr, "%s\n", err.message);
  else
    printf("smallest error: %.4f, trial %lld of %d\n", cocabo_trial_value(best),
           (long long)cocabo_trial_number(best), BATCH * ROUNDS);
  cocabo_trial_free(best);
  cocabo_study_free(study);
  cocabo_space_free(space);
  return bad;
}
