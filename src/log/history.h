/* history.h - a study as the fold of its events.
 *
 * Trials by number, the training data in told order, the pending set, the last fit. The
 * single sign convention lives here: `y` of the training data is always maximised,
 * `value` of a trial is always the user's own.
 *
 * All fields are read by the layers above; only the functions below write.
 */
#ifndef CB_LOG_HISTORY_H
#define CB_LOG_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"
#include "log/event.h"
#include "space/space.h"

/* What the runs of a trial come to. */
typedef enum cb_combine { CB_MEAN, CB_MEDIAN, CB_GEOMEAN, CB_SUM, CB_MAX } cb_combine;

/* What a run is on. */
typedef struct cb_pairing {
  char *instance; /* NULL: there are no instances */
  int64_t seed;
  double
      effect; /* what it adds for everybody, on the scale of averages; NaN: unknown */
} cb_pairing;

typedef struct cb_run {
  int64_t pair;       /* of the history's */
  uint64_t writer;    /* who started it: the first half of its event's id */
  cb_outcome outcome; /* 0: it runs */
  double value;       /* ok or capped, else NaN */
  double seconds;     /* that it took; 0: not known */
  int n_metrics;
  cocabo_metric *metrics; /* one block with their names, or NULL */
} cb_run;

typedef struct cb_trial {
  int64_t number;
  int64_t seq;      /* of the last event that is about it */
  uint64_t made[2]; /* id of the event that made it */
  bool handed;      /* out by the reader itself: see cb_history_hand */
  cocabo_trial_state state;
  cb_origin origin;
  int64_t attempt; /* times it was handed out again */
  double started;  /* when it was last handed out, on the store's clock; NaN: never */
  double finished; /* when it was told or failed; NaN: not yet */
  double value;    /* the user's, NaN unless complete */
  char *reason;    /* failed, else NULL */
  int n_metrics;   /* told with the value */
  cocabo_metric *metrics; /* one block with their names, or NULL */
  int n_attributes;       /* noted, in the order of their names' first notes */
  cb_pair *attributes;
  int64_t n_reports; /* by step */
  cocabo_step *reports;
  size_t reports_capacity;
  int64_t n_runs; /* 0: it is evaluated as a whole */
  cb_run *runs;   /* in the order in which they started */
  size_t runs_capacity;
  int64_t n_counted; /* pairs that have a value */
  int64_t capped;    /* 1 + the pair whose value was cut off; 0: none */
  double *results;   /* by pair: the value that counts, NaN: none */
  int64_t n_results;
  size_t results_capacity;
  cb_cell *cells; /* n */
  double *x;      /* d, encoded cells */
  int32_t *h;     /* c */
  cb_draw *draws; /* c, or NULL if no bandit chose its categories */
} cb_trial;

typedef struct cb_history {
  cocabo_space *space; /* shared */
  double sign;         /* +1 maximise, -1 minimise */
  int64_t seq;         /* last event applied */
  uint64_t id[2];      /* of that event */

  cb_trial *trials; /* by number, 0 .. n_trials-1 */
  int64_t n_trials;

  /* Training data: completed trials in told order. */
  int64_t n;        /* rows */
  int64_t *told;    /* n: trial numbers */
  double *y;        /* n: maximised */
  double *variance; /* n: of y beside what the model learns as noise, 0: none is known
                     */
  double run_variance; /* of one run, pooled over trials, in units of y; 0: unknown */
  int64_t revised; /* rises whenever y or variance of a row changes after it was told */
  int64_t best;    /* row of the best y (the first of equals), -1 if n = 0 */

  int64_t n_failed; /* failed trials, in the order they failed */
  int64_t *failed;

  int64_t n_pending; /* running, waiting, interrupted or stale trials, ascending */
  int64_t *pending;

  int64_t n_design;   /* trials asked by design */
  int64_t n_rounds;   /* asks that reached the sampler: batches, not points */
  int64_t n_sampled;  /* points proposed by the sampler */
  cb_fit fit;         /* with the highest basis; rows = 0 and n_theta = 0 before any */
  uint64_t fit_id[2]; /* of the event that it is from */

  /* Runs (log/runs.h). */
  cb_combine combine;
  bool paired;       /* runs on the same pair have something in common */
  int64_t full;      /* runs of a trial that lacks none; 0: there is no such number */
  int64_t n_started; /* runs of all trials that are not discarded */
  int64_t n_flying;  /* of them those that run */
  bool unweighed;    /* complete trials have results that y does not know yet */
  int64_t n_pairs;   /* in the order in which they were first started */
  cb_pairing *pairs;

  struct cb_history_private *own; /* capacities and the set of points */
} cb_history;

/* sign is +1 or -1. The space is shared. *out is owned by the caller. */
cocabo_status cb_history_new(cb_history **out, cocabo_space *space, double sign,
                             cocabo_error *err);
void cb_history_free(cb_history *history); /* NULL is allowed */

/* Folds in the next event (seq must be history->seq + 1). An event that contradicts the
 * log (unknown trial, number out of order) is COCABO_E_STATE; on failure, including
 * lack of memory, the history is unchanged. The event is only read.
 *
 * Rules: the first TOLD of a trial counts, also after FAILED, INTERRUPTED or STALE;
 * later ones and a FAILED after a TOLD change nothing. A second FAILED changes nothing.
 * INTERRUPTED and STALE only move a running trial. FAILED, INTERRUPTED and STALE only
 * move the attempt that they name: a late one cannot hit a trial that somebody else has
 * by now. RETRIED makes a failed trial an interrupted one, if the attempt that it names
 * is the one that failed. RESUMED moves a waiting, interrupted or stale one to running
 * and always counts as an attempt. An ASKED by the sampler with batch_index 0 starts a
 * round. MODEL_FITTED counts if its basis is higher than that of the fit before, so
 * that of two with the same basis every reader takes the first. STUDY_CREATED and
 * STUDY_CHANGED only count (options live above). RUN_STARTED and OBSERVED change the
 * trial's runs, whatever its state, and the value of one that is complete; TOLD makes
 * it complete, with the value that its runs have come to, if it has any. NOTED and
 * REPORTED are kept with their trial, whatever its state: the last value of a name or
 * of a step counts. */
cocabo_status cb_history_apply(cb_history *history, const cb_event *event,
                               cocabo_error *err);

/* What was learnt from the log so far no longer applies, because the options are
 * others: there is no fit, and one that has not seen the last event will not count. */
void cb_history_forget_fit(cb_history *history);

/* The fit that counts; NULL: there is none. Borrowed until the next event. */
const cb_fit *cb_history_fit(const cb_history *history);

/* Shows what the trials of n ASKED events would make of the history before they are in
 * the log: they are pending until they are retracted, which undoes it all. No event may
 * be applied in between. On failure the history is unchanged. */
cocabo_status cb_history_preview(cb_history *history, const cb_event *asked, int n,
                                 cocabo_error *err);
void cb_history_retract(cb_history *history);

/* Makes room, so that applying events with up to `trials` new trials and one reason of
 * up to `reason_bytes` (with its NUL) cannot fail for lack of memory. What has been
 * appended to a log can then be folded in without a second chance to fail. */
cocabo_status cb_history_reserve(cb_history *history, int64_t trials,
                                 size_t reason_bytes, cocabo_error *err);

/* The same for a TOLD or an ADDED with metrics of so many bytes (cb_metrics_bytes). */
cocabo_status cb_history_reserve_metrics(cb_history *history, size_t bytes,
                                         cocabo_error *err);

/* The same for a MODEL_FITTED event with so many numbers. */
cocabo_status cb_history_reserve_fit(cb_history *history, int n_theta,
                                     cocabo_error *err);

/* A row of the results is known better by now: y (maximised) and its variance >= 0,
 * both finite, in place of those it had. The trial's value follows. */
void cb_history_revise(cb_history *history, int64_t row, double y, double variance);

/* Is the variance of a row known, so that its value is not quite what it seems? */
bool cb_history_is_noisy(const cb_history *history);

/* Notes that the reader itself has handed this trial out, which no event says. */
void cb_history_hand(cb_history *history, int64_t number);

/* Has this point been proposed, added or evaluated before, by any trial in any state?
 */
bool cb_history_contains(const cb_history *history, const cb_cell *cells);
/* How many different points that is. */
uint64_t cb_history_distinct(const cb_history *history);

/* Does a failed trial say anything about its point? Not if the infrastructure failed,
 * which a program says by the exit status 75 (EX_TEMPFAIL): the first line of its
 * reason is "exit status 75". A lost worker leaves a stale trial, which has not failed.
 */
bool cb_trial_teaches(const cb_trial *failed);

/* Trials in a state. */
int64_t cb_history_count(const cb_history *history, cocabo_trial_state state);

/* The smallest y of the training data, 0 if there is none. */
double cb_history_worst(const cb_history *history);

#endif
