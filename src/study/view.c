/* view.c - what the options of a log mean, which takes the samplers' word. What can
 * fail is made before the fold moves.
 */
#include "study/view.h"

#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"

void cb_view_clear(cb_view *view) {
  cb_fold_clear(view->fold);
  cocabo_options_free(view->options);
  *view = (cb_view){.fold = view->fold};
}

/* ---- options of the log ---------------------------------------------------------- */

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

/* ---- the beginning --------------------------------------------------------------- */

static cocabo_status begin(cb_view *view, const cb_event *created, cocabo_error *err) {
  view->options = cocabo_options_new();
  if (!view->options)
    return cb_no_memory(err);
  CB_TRY(set_options(view->fold->name, view->options, created, err));
  CB_TRY(cb_fold_begin(view->fold, created, err));
  cb_settings_resolve(view->options, created->space, &view->resolved);
  return COCABO_OK;
}

cocabo_status cb_view_begin(cb_view *view, const cb_event *created, cocabo_error *err) {
  const cocabo_status status = begin(view, created, err);
  if (status != COCABO_OK)
    cb_view_clear(view);
  return status;
}

/* ---- changes --------------------------------------------------------------------- */

static cocabo_status prepare(cb_view_change *change, const cb_view *view,
                             const cb_event *changed, cocabo_error *err) {
  change->options = cb_options_copy(view->options);
  if (!change->options)
    return cb_no_memory(err);
  CB_TRY(set_options(view->fold->name, change->options, changed, err));
  cb_settings_resolve(change->options, view->fold->history->space, &change->resolved);
  return cb_change_prepare(&change->log, view->fold, changed, err);
}

cocabo_status cb_view_prepare(cb_view_change *out, const cb_view *view,
                              const cb_event *changed, cocabo_error *err) {
  *out = (cb_view_change){0};
  const cocabo_status status = prepare(out, view, changed, err);
  if (status != COCABO_OK)
    cb_view_change_clear(out);
  return status;
}

void cb_view_change_clear(cb_view_change *change) {
  cb_change_clear(&change->log);
  cocabo_options_free(change->options);
  *change = (cb_view_change){0};
}

/* What the value is called in constraints. */
static const char *objective_of(const cb_fold *fold) {
  const char *name = cb_fold_attribute(fold, "objective");
  return name ? name : "value";
}

/* Does a constraint mean another number now? */
static bool renames_objective(const cb_fold *fold, const cb_view_change *change) {
  const int i =
      cb_pairs_find(change->log.attributes, change->log.n_attributes, "objective");
  return change->resolved.settings.constraints && i >= 0 &&
         strcmp(change->log.attributes[i].value, objective_of(fold)) != 0;
}

/* Theta of another sampler, or of another kernel, means something else: it is forgotten
 * together with the cache. */
void cb_view_adopt(cb_view *view, cb_view_change *change, const cb_event *changed) {
  const bool renames = renames_objective(view->fold, change);
  cb_fold_adopt(view->fold, &change->log, changed);
  if (renames || !cb_options_same_model(view->options, change->options)) {
    cb_history_forget_fit(view->fold->history);
    view->model++;
  }
  cocabo_options_free(view->options);
  view->options = change->options;
  view->resolved = change->resolved;
  view->resolved.settings.objective = objective_of(view->fold);
  *change = (cb_view_change){0};
}

/* ---- the next event -------------------------------------------------------------- */

static cocabo_status apply_first(cb_view *view, const cb_event *event,
                                 cocabo_error *err) {
  CB_TRY(cb_view_begin(view, event, err));
  const cocabo_status status = cb_history_apply(view->fold->history, event, err);
  if (status != COCABO_OK)
    cb_view_clear(view);
  return status;
}

cocabo_status cb_view_apply(cb_view *view, const cb_event *event, cocabo_error *err) {
  const cb_history *history = view->fold->history;
  cb_view_change change;
  if (!history)
    return apply_first(view, event, err);
  if (event->kind != CB_STUDY_CHANGED || event->seq != history->seq + 1)
    return cb_fold_apply(view->fold, event, err);
  CB_TRY(cb_view_prepare(&change, view, event, err));
  cb_view_adopt(view, &change, event);
  return COCABO_OK;
}
