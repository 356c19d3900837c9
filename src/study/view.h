/* view.h - what a study makes of its log: the fold, and what its options mean.
 *
 * A study follows its log with one, a replay with another.
 */
#ifndef CB_STUDY_VIEW_H
#define CB_STUDY_VIEW_H

#include <stdint.h>

#include "cocabo.h"
#include "log/fold.h"
#include "study/options.h"

/* Starts as zeros but for the fold, which is borrowed, has its name and nothing else,
 * and from then on only moves with the view. */
typedef struct cb_view {
  cb_fold *fold;
  cocabo_options *options; /* those of the fold, and the defaults; NULL: not begun */
  cb_resolved resolved;    /* what they mean for the space */
  int64_t model;           /* grows when a sampler's cache and fit no longer apply */
} cb_view;

void cb_view_clear(cb_view *view); /* and its fold */

/* As cb_fold_begin and cb_fold_apply, with the meaning of the options. On failure view
 * and fold are as they were. */
cocabo_status cb_view_begin(cb_view *view, const cb_event *created, cocabo_error *err);
cocabo_status cb_view_apply(cb_view *view, const cb_event *event, cocabo_error *err);

/* STUDY_CHANGED in two steps: all that can fail, and what cannot. */
typedef struct cb_view_change {
  cb_change log;
  cocabo_options *options;
  cb_resolved resolved;
} cb_view_change;

cocabo_status cb_view_prepare(cb_view_change *out, const cb_view *view,
                              const cb_event *changed, cocabo_error *err);
void cb_view_change_clear(cb_view_change *change);
/* Takes the change over; changed->seq is that of the next event. */
void cb_view_adopt(cb_view *view, cb_view_change *change, const cb_event *changed);

#endif
