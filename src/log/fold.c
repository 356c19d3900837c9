/* fold.c - a log as its reader knows it. Trials and results are the history's; here is
 * what STUDY_CREATED and STUDY_CHANGED say.
 */
#include "log/fold.h"

#include <assert.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "log/runs.h"

void cb_fold_clear(cb_fold *fold) {
  cb_history_free(fold->history);
  cb_free(fold->version);
  cb_pairs_free(fold->options, fold->n_options);
  cb_pairs_free(fold->attributes, fold->n_attributes);
  *fold = (cb_fold){.name = fold->name};
}

static const char *value_of(const cb_pair *pairs, int n, const char *name) {
  const int i = cb_pairs_find(pairs, n, name);
  return i >= 0 ? pairs[i].value : NULL;
}

const char *cb_fold_attribute(const cb_fold *fold, const char *name) {
  return value_of(fold->attributes, fold->n_attributes, name);
}

/* ---- the beginning --------------------------------------------------------------- */

static double sign_of(const cb_pair *options, int n) {
  const char *direction = value_of(options, n, "direction");
  return direction && strcmp(direction, "maximize") == 0 ? 1.0 : -1.0;
}

static int64_t integer_of(const cb_pair *options, int n, const char *name) {
  const char *text = value_of(options, n, name);
  int64_t value = 0;
  if (text)
    (void)cb_parse_int(text, &value);
  return value;
}

/* How the runs of a trial come to a value. */
static void set_combination(cb_history *history, const cb_pair *options, int n) {
  const char *combine = value_of(options, n, "combine");
  const char *instances = value_of(options, n, "instances");
  const int64_t seeds = integer_of(options, n, "seeds");
  const int64_t repeats = integer_of(options, n, "repeats"); /* 0: auto */
  const int64_t most = integer_of(options, n, "max_runs");
  const int64_t lines = instances ? cb_instances_count(instances) : 0;
  history->combine = combine ? cb_combine_named(combine) : CB_MEAN;
  history->paired = lines > 0 || seeds > 0;
  history->full =
      history->paired ? (lines > 0 ? lines : 1) * (seeds > 0 ? seeds : 1) : repeats;
  if (most > 0 && (history->full == 0 || most < history->full))
    history->full = most;
}

static cocabo_status begin(cb_fold *fold, const cb_event *created, cocabo_error *err) {
  const int n = created->n_options;
  fold->options = cb_pairs_copy(created->options, n);
  if (!fold->options)
    return cb_no_memory(err);
  fold->n_options = n;
  fold->version = created->version ? cb_strdup(created->version) : NULL;
  if (created->version && !fold->version)
    return cb_no_memory(err);
  fold->trial_seed = (uint64_t)integer_of(fold->options, n, "seed");
  CB_TRY(
      cb_history_new(&fold->history, created->space, sign_of(fold->options, n), err));
  set_combination(fold->history, fold->options, n);
  return COCABO_OK;
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

/* What its trials are run on cannot change: their values would mean something else. */
static cocabo_status check_fixed(const cb_change *change, const cb_fold *fold,
                                 cocabo_error *err) {
  static const char *const fixed[] = {"instances", "seeds", "combine", "repeats"};
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++) {
    const char *was = value_of(fold->options, fold->n_options, fixed[i]);
    const char *is = value_of(change->options, change->n_options, fixed[i]);
    if (was && is && strcmp(was, is) != 0)
      return cb_fail(err, COCABO_E_STATE, "the option %s of study \"%s\" is fixed",
                     fixed[i], fold->name);
  }
  return COCABO_OK;
}

static cocabo_status prepare(cb_change *change, const cb_fold *fold,
                             const cb_event *changed, cocabo_error *err) {
  change->options = cb_pairs_merge(fold->options, fold->n_options, changed->options,
                                   changed->n_options, &change->n_options);
  change->attributes =
      cb_pairs_merge(fold->attributes, fold->n_attributes, changed->attributes,
                     changed->n_attributes, &change->n_attributes);
  change->version = changed->version ? cb_strdup(changed->version) : NULL;
  if (!change->options || !change->attributes || (changed->version && !change->version))
    return cb_no_memory(err);
  if (sign_of(change->options, change->n_options) != fold->history->sign)
    return cb_fail(err, COCABO_E_STATE, "the direction of study \"%s\" is fixed",
                   fold->name);
  return check_fixed(change, fold, err);
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
  cb_free(change->version);
  cb_pairs_free(change->options, change->n_options);
  cb_pairs_free(change->attributes, change->n_attributes);
  *change = (cb_change){0};
}

void cb_fold_adopt(cb_fold *fold, cb_change *change, const cb_event *changed) {
  const cocabo_status counted = cb_history_apply(fold->history, changed, NULL);
  assert(counted == COCABO_OK);
  (void)counted;
  const cb_change before = {.version = fold->version,
                            .n_options = fold->n_options,
                            .n_attributes = fold->n_attributes,
                            .options = fold->options,
                            .attributes = fold->attributes};
  fold->version = change->version;
  fold->options = change->options;
  fold->n_options = change->n_options;
  fold->attributes = change->attributes;
  fold->n_attributes = change->n_attributes;
  set_combination(fold->history, fold->options, fold->n_options);
  *change = before;
  cb_change_clear(change);
}

/* ---- the fold -------------------------------------------------------------------- */

/* It says itself who wrote it; else whoever last wrote options, if that is not us. */
static cocabo_status refuse_kind(const cb_fold *fold, const cb_event *event,
                                 cocabo_error *err) {
  char shown[CB_SHOWN];
  const char *version = event->version ? event->version : fold->version;
  if (version && !event->version && strcmp(version, CB_VERSION) == 0)
    version = NULL;
  return cb_fail(err, COCABO_E_STORE,
                 "event %lld of the log is of kind %d, which this version of cocabo "
                 "(%s) does not know; it was written by %s",
                 (long long)event->seq, (int)event->kind, CB_VERSION,
                 version ? cb_text_show_within(shown, version, 40) : "a later one");
}

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
  if (!cb_kind_is_known(event->kind) && !cb_kind_is_ignorable(event->kind))
    return refuse_kind(fold, event, err);
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
