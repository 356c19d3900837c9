/* trial.h - cocabo_trial: what the user holds of a trial. */
#ifndef CB_STUDY_TRIAL_H
#define CB_STUDY_TRIAL_H

#include "cocabo.h"
#include "log/fold.h"
#include "space/space.h"
#include "study/view.h"

/* A snapshot of `trial`, which shares the space and so can outlive the study. *out is
 * owned by the caller; on failure it is untouched. */
cocabo_status cb_trial_snapshot(cocabo_trial **out, const cb_view *view,
                                const cb_trial *trial, cocabo_error *err);
/* An ask makes its snapshots before the store has said what time it is. */
void cb_trial_set_started(cocabo_trial *trial, double time);

/* One run more than the trial had, as RUN_STARTED says it; and that run of it. */
cocabo_status cb_trial_add_run(cocabo_trial *trial, const cb_event *started, double cap,
                               cocabo_error *err);
const cocabo_run *cb_trial_last_run(const cocabo_trial *trial);

/* COCABO_E_NOT_FOUND for a name that is no parameter, with a guess what was meant. */
cocabo_status cb_no_parameter(const cocabo_space *space, const char *name,
                              cocabo_error *err);

#endif
