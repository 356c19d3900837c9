/* runs.h - trials that are evaluated run by run, on pairs of an instance and a seed.
 *
 * What a trial's runs come to is a fold like everything else. Its value is the
 * combination of the values that count: of each pair the first that a run brought. A
 * run that fails makes its trial fail (an event of its own says so); in a trial that is
 * complete already it counts as the worst value that any run has had, so that nobody
 * stays the best by crashing late.
 *
 * Models see more: trials have seen different pairs, and some pairs are harder than
 * others. So a value is taken for what its trial comes to, plus what its pair adds for
 * everybody, plus chance. A trial's y is its part of that by least squares, as if it
 * had seen the pairs of the reference, the trial with the most. Its variance is that of
 * its differences from the reference over their number, by half, since each has the
 * chance of two runs in it; the differences of trials with few runs borrow from those
 * of all.
 */
#ifndef CB_LOG_RUNS_H
#define CB_LOG_RUNS_H

#include "log/history.h"

/* The combination of that name, CB_MEAN if there is none. */
cb_combine cb_combine_named(const char *name);

/* Of instances, one a line, which may be none: lines that are empty do not count. */
int64_t cb_instances_count(const char *lines);

/* RUN_STARTED and TRIAL_OBSERVED of a trial that there is; see cb_history_apply. */
cocabo_status cb_runs_start(cb_history *history, cb_trial *trial, const cb_event *event,
                            cocabo_error *err);
cocabo_status cb_runs_observe(cb_history *history, cb_trial *trial,
                              const cb_event *event, cocabo_error *err);
void cb_runs_clear(cb_trial *trial);           /* releases the trial's */
void cb_runs_clear_pairs(cb_history *history); /* and the pairs */

/* The value that counts of a trial on a pair, as the user counts; NaN: there is none.
 */
double cb_runs_value(const cb_trial *trial, int64_t pair);
/* A trial's own value by its runs that count (of which there is one), and the standard
 * error of that: NaN where there are too few to say. */
double cb_runs_combined(const cb_history *history, const cb_trial *trial, double *se);

/* Brings y and variance of the history's rows up to date with the runs, if there are
 * new ones. Whoever reads them calls it first. */
cocabo_status cb_runs_weigh(cb_history *history, cocabo_error *err);

/* What a trial comes to without what its pairs add for everybody, on the scale of
 * averages; NaN: there is no telling. As of the last cb_runs_weigh. room: for the
 * history's n_pairs. */
double cb_runs_net(const cb_history *history, const cb_trial *trial, double *room);

#endif
