/* fold.c - a log as its reader knows it. The log's own part, trials and results, is the
 * history's; here is what the options mean, which takes the samplers' word.
 */
#include "study/fold.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"

void cb_fold_clear(cb_fold *fold) {
  cb_history_free(fold->history);
  cocabo_options_free(fold->options);
  cb_pairs_free(fold->attributes, fold->n_attributes);
  *fold = (cb_fold){.name = fold->name};
}

/* ---- the beginning --------------------------------------------------------------- */

/* An option in the log that means nothing here: a later version knows it. */
static cocabo_status is_too_new(const char *study, const cocabo_options *options,
                                const cb_event *event, const cb_pair *option,
                                cocabo_error *err) {
  enum { SHORT = 40 };
  char name[CB_SHOWN], value[CB_SHOWN], version[CB_SHOWN], shown[CB_SHOWN],
      what[3 * CB_SHOWN];
  cb_text_show_within(shown, study, SHORT);
  cb_text_show_within(name, option->name, SHORT);
  cb_text_show_within(value, option->value ? option->value : "null", SHORT);
  if (cocabo_options_get(options, option->name))
    snprintf(what, sizeof what, "has %s=%s", name, value);
  else
    snprintf(what, sizeof what, "uses the option \"%s\"", name);
  if (!event->version)
    return cb_fail(err, COCABO_E_STORE,
                   "study \"%s\" %s, which this version (%s) does not know, nor who "
                   "wrote it",
                   shown, what, CB_VERSION);
  return cb_fail(err, COCABO_E_STORE,
                 "study \"%s\" %s, which this version (%s) does not know; it was "
                 "written by %s",
                 shown, what, CB_VERSION,
                 cb_text_show_within(version, event->version, SHORT));
}

static cocabo_status set_options(const char *study, cocabo_options *options,
                                 const cb_event *event, cocabo_error *err) {
  for (int i = 0; i < event->n_options; i++) {
    const cb_pair *option = &event->options[i];
    const cocabo_status status =
        cocabo_options_set(options, option->name, option->value, err);
    const bool logged = event->seq > 0; /* else it is the caller's, who is told so */
    if (status != COCABO_OK && status != COCABO_E_NO_MEMORY && logged)
      return is_too_new(study, options, event, option, err);
    CB_TRY(status);
  }
  return COCABO_OK;
}

static cocabo_status begin(cb_fold *fold, const cb_event *created, cocabo_error *err) {
  fold->options = cocabo_options_new();
  if (!fold->options)
    return cb_no_memory(err);
  CB_TRY(set_options(fold->name, fold->options, created, err));
  cb_settings_resolve(fold->options, created->space, &fold->resolved);
  fold->trial_seed = fold->resolved.settings.seed;
  return cb_history_new(&fold->history, created->space, fold->resolved.sign, err);
}

cocabo_status cb_fold_begin(cb_fold *fold, const cb_event *created, cocabo_error *err) {
  if (created->kind != CB_STUDY_CREATED || !created->space)
    return cb_fail(err, COCABO_E_STATE, "the log of study \"%s\" has no beginning",
                   fold->name);
  const cocabo_status status = begin(fold, created, err);
  if (status != COCABO_OK)
    cb_fold_clear(fold);
  return status;
}

/* ---- changes --------------------------------------------------------------------- */

const char *cb_fold_attribute(const cb_fold *fold, const char *name) {
  const int i = cb_pairs_find(fold->attributes, fold->n_attributes, name);
  return i >= 0 ? fold->attributes[i].value : NULL;
}

static cocabo_status prepare(cb_change *change, const cb_fold *fold,
                             const cb_event *changed, cocabo_error *err) {
  change->options = cb_options_copy(fold->options);
  change->attributes =
      cb_pairs_merge(fold->attributes, fold->n_attributes, changed->attributes,
                     changed->n_attributes, &change->n_attributes);
  if (!change->options || !change->attributes)
    return cb_no_memory(err);
  CB_TRY(set_options(fold->name, change->options, changed, err));
  cb_settings_resolve(change->options, fold->history->space, &change->resolved);
  if (change->resolved.sign != fold->resolved.sign)
    return cb_fail(err, COCABO_E_STATE, "the direction of study \"%s\" is fixed",
                   fold->name);
  return COCABO_OK;
}

cocabo_status cb_change_prepare(cb_change *out, const cb_fold *fold,
                                const cb_event *changed, cocabo_error *err) {
  *out = (cb_change){0};
  const cocabo_status status = prepare(out, fold, changed, err);
  if (status != COCABO_OK)
    cb_change_clear(out);
  return status;
}

void cb_change_clear(cb_change *change) {
  cocabo_options_free(change->options);
  cb_pairs_free(change->attributes, change->n_attributes);
  *change = (cb_change){0};
}

/* What the value is called in constraints. */
static const char *objective_of(const cb_fold *fold) {
  const char *name = cb_fold_attribute(fold, "objective");
  return name ? name : "value";
}

/* Does a constraint mean another number now? */
static bool renames_objective(const cb_fold *fold, const cb_change *change) {
  const int i = cb_pairs_find(change->attributes, change->n_attributes, "objective");
  return change->resolved.settings.constraints && i >= 0 &&
         strcmp(change->attributes[i].value, objective_of(fold)) != 0;
}

/* Theta of another sampler, or of another kernel, means something else: it is forgotten
 * together with the cache. */
void cb_fold_adopt(cb_fold *fold, cb_change *change, const cb_event *changed) {
  const cocabo_status counted = cb_history_apply(fold->history, changed, NULL);
  assert(counted == COCABO_OK);
  (void)counted;
  if (!cb_options_same_model(fold->options, change->options) ||
      renames_objective(fold, change)) {
    cb_history_forget_fit(fold->history);
    fold->model++;
  }
  cocabo_options_free(fold->options);
  cb_pairs_free(fold->attributes, fold->n_attributes);
  fold->options = change->options;
  fold->resolved = change->resolved;
  fold->attributes = change->attributes;
  fold->n_attributes = change->n_attributes;
  fold->resolved.settings.objective = objective_of(fold);
  *change = (cb_change){0};
}

/* ---- the fold -------------------------------------------------------------------- */

static cocabo_status apply_change(cb_fold *fold, const cb_event *changed,
                                  cocabo_error *err) {
  cb_change change;
  if (changed->seq != fold->history->seq + 1)
    return cb_history_apply(fold->history, changed, err); /* which says so */
  CB_TRY(cb_change_prepare(&change, fold, changed, err));
  cb_fold_adopt(fold, &change, changed);
  return COCABO_OK;
}

cocabo_status cb_fold_apply(cb_fold *fold, const cb_event *event, cocabo_error *err) {
  if (!fold->history) {
    CB_TRY(cb_fold_begin(fold, event, err));
    const cocabo_status status = cb_history_apply(fold->history, event, err);
    if (status != COCABO_OK)
      cb_fold_clear(fold);
    return status;
  }
  if (event->kind == CB_STUDY_CHANGED)
    return apply_change(fold, event, err);
  return cb_history_apply(fold->history, event, err);
}
