/* limits.c - looks at a study whenever trials have finished, and says when it is time
 * to stop. Patience is counted over the whole study, so that a resumed run and the
 * other workers come to the same end; failures only over this run, for whoever starts
 * the same line again has done something about them. */
#include "run/limits.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

void cli_watch_failure(cli_watch *watch, const char *reason) {
  char first[256], line[CB_SHOWN];
  snprintf(first, sizeof first, "%.*s", (int)strcspn(reason, "\n"), reason);
  cb_text_show(line, first);
  if (watch->failures++ == 0)
    strcpy(watch->reason, line);
  else if (strcmp(watch->reason, line) != 0)
    watch->unlike = true;
}

/* 1 where small values are good, -1 where large ones are. */
static double sign_of(const cocabo_study *study) {
  return strcmp(cocabo_study_option(study, "direction"), "maximize") == 0 ? -1.0 : 1.0;
}

static bool is_target_reached(double target, cocabo_study *study) {
  cocabo_trial *best;
  if (isnan(target) || cocabo_study_best(study, &best, NULL) != COCABO_OK)
    return false;
  const double sign = sign_of(study);
  const bool reached = cocabo_trial_feasible(best) == 1 &&
                       sign * cocabo_trial_value(best) <= sign * target;
  cocabo_trial_free(best);
  return reached;
}

/* What patience needs of a trial. */
typedef struct finished {
  bool counts; /* complete, and keeps the constraints */
  bool tried;  /* not a known result that was added */
  double value, time;
} finished;

static bool read_finished(const cocabo_study *study, int64_t number, finished *out) {
  cocabo_trial *trial;
  if (cocabo_study_trial(study, number, &trial, NULL) != COCABO_OK)
    return false;
  const cocabo_trial_state state = cocabo_trial_get_state(trial);
  *out = (finished){.counts = cocabo_trial_feasible(trial) == 1,
                    .tried = !isnan(cocabo_trial_started(trial)),
                    .value = cocabo_trial_value(trial),
                    .time = cocabo_trial_finished(trial)};
  cocabo_trial_free(trial);
  return state == COCABO_COMPLETE || state == COCABO_FAILED;
}

/* When the best value came, the first of equals; NAN before there is one. */
static double time_of_best(const cocabo_study *study) {
  const double sign = sign_of(study);
  const int64_t n = cocabo_study_count(study);
  finished best = {.time = NAN}, trial;
  for (int64_t i = 0; i < n; i++)
    if (read_finished(study, i, &trial) && trial.counts &&
        (isnan(best.time) || sign * trial.value < sign * best.value ||
         (trial.value == best.value && trial.time < best.time)))
      best = trial;
  return best.time;
}

/* Counting takes a look at every trial. It is not done again before there are as many
 * new ones as were lacking. */
static bool is_patience_over(cli_watch *watch, const cocabo_study *study) {
  const int64_t patience = watch->limits->patience;
  if (patience < 1 || watch->looked < watch->count_at)
    return false;
  const double since = time_of_best(study);
  const int64_t n = cocabo_study_count(study);
  int64_t in_vain = 0;
  finished trial;
  for (int64_t i = 0; i < n; i++)
    in_vain += read_finished(study, i, &trial) && trial.tried && trial.time > since;
  watch->count_at = watch->looked + patience - in_vain;
  return in_vain >= patience;
}

static bool is_hopeless(const cli_watch *watch, const cocabo_study *study) {
  return watch->limits->max_failures < 0 && watch->failures >= CLI_HOPELESS &&
         !watch->unlike && cocabo_study_count_state(study, COCABO_COMPLETE) == 0;
}

cli_limit cli_watch_look(cli_watch *watch, cocabo_study *study) {
  const cli_limits *limits = watch->limits;
  const int64_t now = 1 + cocabo_study_count_state(study, COCABO_COMPLETE) +
                      cocabo_study_count_state(study, COCABO_FAILED);
  if (now == watch->looked)
    return CLI_NO_LIMIT;
  if (now < watch->looked) /* some were put back */
    watch->count_at = 0;
  watch->looked = now;
  if (is_target_reached(limits->target, study))
    return CLI_LIMIT_TARGET;
  if (limits->max_failures > 0 && watch->failures >= limits->max_failures)
    return CLI_LIMIT_FAILURES;
  if (is_hopeless(watch, study))
    return CLI_LIMIT_HOPELESS;
  return is_patience_over(watch, study) ? CLI_LIMIT_PATIENCE : CLI_NO_LIMIT;
}

void cli_watch_say(const cli_watch *watch, cli_limit limit, char *out, size_t size) {
  const cli_limits *limits = watch->limits;
  char digits[CB_DIGITS];
  switch (limit) {
  case CLI_LIMIT_TARGET:
    snprintf(out, size, "the target %s is reached",
             cb_number_show(digits, limits->target));
    return;
  case CLI_LIMIT_PATIENCE:
    snprintf(out, size, "%" PRId64 " trial%s in a row brought nothing better",
             limits->patience, limits->patience == 1 ? "" : "s");
    return;
  case CLI_LIMIT_FAILURES:
    snprintf(out, size, "%" PRId64 " trial%s failed, as many as --max-failures allows",
             limits->max_failures, limits->max_failures == 1 ? "" : "s");
    return;
  case CLI_LIMIT_HOPELESS:
    snprintf(out, size,
             "the first %d trials all failed: %s; --max-failures K goes on until K "
             "have failed",
             CLI_HOPELESS, watch->reason);
    return;
  case CLI_NO_LIMIT:
    out[0] = '\0';
  }
}
