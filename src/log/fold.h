/* fold.h - a log as its reader knows it: options, attributes and history.
 *
 * Options are names and texts here. The fold knows two of them, because trials depend
 * on them: `direction`, the sign of the history, and `seed`. What the others mean is
 * the business of the layers above (study/view.h). Every fold of the same events is the
 * same.
 */
#ifndef CB_LOG_FOLD_H
#define CB_LOG_FOLD_H

#include <stdint.h>

#include "cocabo.h"
#include "log/event.h"
#include "log/history.h"

/* Starts as zeros but for the name. */
typedef struct cb_fold {
  const char *name; /* of the study, borrowed: for the sentences */
  char *version;    /* of the library that last wrote options; NULL: 0.1.0 */
  int n_options, n_attributes;
  cb_pair *options; /* as the log has them; what it does not name has its default */
  cb_pair *attributes;
  uint64_t trial_seed; /* seed at the beginning: what trials derive their own from */
  cb_history *history; /* has the space; NULL: the log has not begun */
} cb_fold;

void cb_fold_clear(cb_fold *fold);

/* Makes everything that STUDY_CREATED says, but does not count the event yet: so that
 * creating a study can fail before it is stored. */
cocabo_status cb_fold_begin(cb_fold *fold, const cb_event *created, cocabo_error *err);

/* Folds in the next event, which begins the log if it is the first. One of a kind that
 * is not known is COCABO_E_STORE, unless it may be passed over. On failure the fold is
 * as it was. */
cocabo_status cb_fold_apply(cb_fold *fold, const cb_event *event, cocabo_error *err);

/* STUDY_CHANGED in two steps: all that can fail, and what cannot. */
typedef struct cb_change {
  char *version;
  int n_options, n_attributes;
  cb_pair *options, *attributes;
} cb_change;

cocabo_status cb_change_prepare(cb_change *out, const cb_fold *fold,
                                const cb_event *changed, cocabo_error *err);
void cb_change_clear(cb_change *change); /* zeros are allowed */
/* Takes the change over; changed->seq is that of the next event. */
void cb_fold_adopt(cb_fold *fold, cb_change *change, const cb_event *changed);

/* The value of an attribute, borrowed until it changes; NULL: never set. */
const char *cb_fold_attribute(const cb_fold *fold, const char *name);

#endif
