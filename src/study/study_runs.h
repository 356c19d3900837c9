/* study_runs.h - trials that are evaluated run by run: handing runs out, taking them
 * back. */
#ifndef CB_STUDY_STUDY_RUNS_H
#define CB_STUDY_STUDY_RUNS_H

#include "cocabo.h"
#include "log/event.h"

/* The next run as a trial owned by the caller, whose last run it is. */
cocabo_status cb_study_ask_run(cocabo_study *study, cocabo_trial **out,
                               cocabo_error *err);
/* Arguments have been checked by api.c. */
cocabo_status cb_study_tell_run(cocabo_study *study, const cocabo_run *run,
                                const cocabo_metric *metrics, int n_metrics,
                                const char *reason, cocabo_error *err);

/* RUN_STARTED of the next run of a trial, which may be one that is being asked for, and
 * how large its value may get. The event owns its instance. */
cocabo_status cb_study_next_run(const cocabo_study *study, int64_t number,
                                cb_event *out, double *cap, cocabo_error *err);
/* Notes that the caller has a run, or has it no more: a run of ours that nobody has is
 * one whose ask failed although it is in the log. */
cocabo_status cb_study_hold_run(cocabo_study *study, int64_t number, int64_t run,
                                cocabo_error *err);
void cb_study_drop_run(cocabo_study *study, int64_t number, int64_t run);

#endif
