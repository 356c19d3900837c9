/* race.h - which run is worth most next, where a trial takes several.
 *
 * Every trial takes the pairs of instance and seed in one common order. A new one is
 * given up as soon as it is surely worse than the incumbent on the pairs that both
 * have, and set aside if it is behind when it is looked at; one that is not must match
 * all the incumbent's pairs before it can replace it. The incumbent and its rivals get
 * more pairs as the study goes on, so that nobody stays the best by luck.
 *
 * All of it is a function of the history. What was decided is in the log: TOLD makes a
 * trial complete.
 */
#ifndef CB_RACE_RACE_H
#define CB_RACE_RACE_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "log/history.h"

typedef struct cb_race {
  bool on;       /* trials are evaluated run by run */
  bool by_model; /* the sampler says what is run again */
  int64_t first; /* runs of a trial when there is nothing to compare it with */
  int64_t most;  /* of one trial; 0: no limit */
  double level;  /* of the test */
  bool cap;      /* a run is ended when its trial cannot win any more */
} cb_race;

/* So many common pairs, before a trial is given up. */
enum { CB_RACE_LEAST = 5 };

/* The number of the trial that is best: of the complete ones with the most pairs the
 * one with the best value; -1: none has runs. */
int64_t cb_race_incumbent(const cb_history *history);

/* Is there nothing left to find out about a running trial, for now? Here and below the
 * history is weighed: cb_runs_weigh. */
cocabo_status cb_race_decided(const cb_race *race, const cb_history *history,
                              const cb_trial *trial, bool *out, cocabo_error *err);

/* The trial that the next run belongs to: one that is not decided yet, a rival, the
 * incumbent; -1: none of those there are, so that it is time for a new one. */
cocabo_status cb_race_next(const cb_race *race, const cb_history *history,
                           int64_t *number, cocabo_error *err);

/* How large the value of a trial's next run may get until the trial has no chance any
 * more; INFINITY: there is no telling. For values that add up, such as seconds. */
double cb_race_cap(const cb_race *race, const cb_history *history,
                   const cb_trial *trial, int64_t pair);

#endif
