/* api.c - the public functions of a study: arguments are checked here, once. */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "space/text.h"
#include "study/study.h"
#include "study/trial.h"

enum { MAX_ASK = 100000, MAX_REASON = 65536 };

static cocabo_status is_null(const char *what, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID, "%s is NULL", what);
}

/* ---- life ------------------------------------------------------------------------ */

cocabo_status cocabo_study_create(cocabo_study **out, const char *name,
                                  const cocabo_space *space,
                                  const cocabo_options *options, cocabo_store *store,
                                  cocabo_error *err) {
  if (!out)
    return is_null("out", err);
  *out = NULL;
  CB_TRY(cb_name_check("study name", name, err));
  if (!space)
    return is_null("space", err);
  if (space->n == 0)
    return cb_fail(err, COCABO_E_INVALID, "the space is empty, want a parameter");
  return cb_study_create(out, name, space, options, store, err);
}

cocabo_status cocabo_study_open(cocabo_study **out, const char *name,
                                cocabo_store *store, cocabo_error *err) {
  if (!out)
    return is_null("out", err);
  *out = NULL;
  CB_TRY(cb_name_check("study name", name, err));
  if (!store)
    return is_null("store", err);
  return cb_study_open(out, name, store, err);
}

void cocabo_study_free(cocabo_study *study) {
  cb_study_free(study);
}

cocabo_status cocabo_study_sync(cocabo_study *study, cocabo_error *err) {
  return study ? cb_study_sync(study, err) : is_null("study", err);
}

void cocabo_study_on_interrupt(cocabo_study *study, cocabo_interrupt_fn fn,
                               void *user) {
  if (!study)
    return;
  study->interrupt = fn;
  study->user = user;
}

/* ---- ask and tell ---------------------------------------------------------------- */

cocabo_status cocabo_study_ask(cocabo_study *study, size_t n, cocabo_trial **out,
                               cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!out)
    return is_null("out", err);
  if (n < 1 || n > MAX_ASK)
    return cb_fail(err, COCABO_E_RANGE, "n is %zu, want 1 to %d", n, MAX_ASK);
  return cb_study_ask(study, (int)n, out, err);
}

cocabo_status cocabo_study_tell(cocabo_study *study, int64_t number, double value,
                                cocabo_error *err) {
  return study ? cb_study_tell(study, number, value, err) : is_null("study", err);
}

cocabo_status cocabo_study_fail(cocabo_study *study, int64_t number, const char *reason,
                                cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!reason)
    return is_null("reason", err);
  const size_t length = strlen(reason);
  if (length > MAX_REASON)
    return cb_fail(err, COCABO_E_INVALID, "reason is %zu bytes long, want at most %d",
                   length, MAX_REASON);
  if (!cb_text_is_utf8(reason))
    return cb_fail(err, COCABO_E_INVALID, "reason is not valid UTF-8");
  return cb_study_fail(study, number, reason, err);
}

cocabo_status cocabo_study_interrupt(cocabo_study *study, int64_t number,
                                     cocabo_error *err) {
  return study ? cb_study_interrupt(study, number, err) : is_null("study", err);
}

/* ---- adding points --------------------------------------------------------------- */

/* given[i] says whether parameter i has been named. */
static cocabo_status read_values(const cocabo_space *space, const char *const *names,
                                 const cocabo_value *values, size_t n, bool *given,
                                 cb_cell *cells, cocabo_error *err) {
  for (size_t k = 0; k < n; k++) {
    if (!names[k])
      return cb_fail(err, COCABO_E_INVALID, "name %zu is NULL", k);
    const int i = cb_space_find(space, names[k]);
    if (i < 0)
      return cb_no_parameter(space, names[k], err);
    if (given[i])
      return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" is given twice",
                     names[k]);
    CB_TRY(cb_space_to_cell(space, i, &values[k], &cells[i], err));
    given[i] = true;
  }
  for (int i = 0; i < space->n; i++)
    if (!given[i])
      return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" is missing",
                     space->params[i].name);
  return COCABO_OK;
}

cocabo_status cocabo_study_add(cocabo_study *study, const char *const *names,
                               const cocabo_value *values, size_t n,
                               const double *result, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!names && n > 0)
    return is_null("names", err);
  if (!values && n > 0)
    return is_null("values", err);
  if (result && !isfinite(*result)) {
    char shown[CB_DIGITS];
    return cb_fail(err, COCABO_E_INVALID, "result is %s, want a finite number",
                   cb_number_show(shown, *result));
  }
  bool given[COCABO_MAX_PARAMETERS] = {false};
  cb_cell cells[COCABO_MAX_PARAMETERS];
  CB_TRY(read_values(study->history->space, names, values, n, given, cells, err));
  return cb_study_add(study, cells, result, err);
}

/* ---- looking --------------------------------------------------------------------- */

cocabo_status cocabo_study_best(const cocabo_study *study, cocabo_trial **out,
                                cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!out)
    return is_null("out", err);
  const cb_trial *trial = NULL;
  CB_TRY(cb_study_best(study, &trial, err));
  return cb_trial_snapshot(out, study->history->space, trial, err);
}

int64_t cocabo_study_count(const cocabo_study *study) {
  return study ? study->history->n_trials : 0;
}

cocabo_status cocabo_study_trial(const cocabo_study *study, int64_t number,
                                 cocabo_trial **out, cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!out)
    return is_null("out", err);
  const cb_trial *trial = NULL;
  CB_TRY(cb_study_find(study, number, &trial, err));
  return cb_trial_snapshot(out, study->history->space, trial, err);
}
