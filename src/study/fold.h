/* fold.h - a log as its reader knows it: options, attributes and history.
 *
 * A study follows its log with one, a replay with another. Every fold of the same
 * events is the same.
 */
#ifndef CB_STUDY_FOLD_H
#define CB_STUDY_FOLD_H

#include <stdint.h>

#include "cocabo.h"
#include "log/history.h"
#include "study/options.h"

/* This library's version, as it is kept in logs. */
#define CB_VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define CB_VERSION_TEXT(major, minor, patch) CB_VERSION_TEXT_(major, minor, patch)
#define CB_VERSION                                                                     \
  CB_VERSION_TEXT(COCABO_VERSION_MAJOR, COCABO_VERSION_MINOR, COCABO_VERSION_PATCH)

/* Starts as zeros but for the name. */
typedef struct cb_fold {
  const char *name; /* of the study, borrowed: for the sentences */
  cocabo_options *options;
  cb_resolved resolved; /* what the options mean for the space */
  int64_t model;        /* grows when a sampler's cache and fit no longer apply */
  uint64_t trial_seed;  /* seed at the beginning: what trials derive their own from */
  int n_attributes;
  cb_pair *attributes;
  cb_history *history; /* has the space; NULL: the log has not begun */
} cb_fold;

void cb_fold_clear(cb_fold *fold);

/* Makes everything that STUDY_CREATED says, but does not count the event yet: so that
 * creating a study can fail before it is stored. */
cocabo_status cb_fold_begin(cb_fold *fold, const cb_event *created, cocabo_error *err);

/* Folds in the next event, which begins the log if it is the first. On failure the fold
 * is as it was. */
cocabo_status cb_fold_apply(cb_fold *fold, const cb_event *event, cocabo_error *err);

/* STUDY_CHANGED in two steps: all that can fail, and what cannot. */
typedef struct cb_change {
  cocabo_options *options;
  cb_resolved resolved;
  int n_attributes;
  cb_pair *attributes;
} cb_change;

cocabo_status cb_change_prepare(cb_change *out, const cb_fold *fold,
                                const cb_event *changed, cocabo_error *err);
void cb_change_clear(cb_change *change);
/* Takes the change over; changed->seq is that of the next event. */
void cb_fold_adopt(cb_fold *fold, cb_change *change, const cb_event *changed);

/* The value of an attribute, borrowed until it changes; NULL: never set. */
const char *cb_fold_attribute(const cb_fold *fold, const char *name);

#endif
