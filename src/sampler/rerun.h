/* rerun.h - which is worth more, a new point or another run of a known one?
 *
 * Both by the knowledge gradient (search/knowledge.h): how much higher the best mean is
 * expected to be after one run more. The known points are those with the highest means;
 * the new one is where the expected improvement on the best mean is highest.
 *
 * No row is run for ever: the gain falls with every run that a row has had, as its
 * variance does, and there are never more re-runs than points that were sampled.
 */
#ifndef CB_SAMPLER_RERUN_H
#define CB_SAMPLER_RERUN_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "sampler/sampler.h"
#include "sampler/surrogate.h"
#include "search/feasible.h"
#include "search/search.h"

/* What is compared, all of it borrowed. */
typedef struct cb_rerun {
  cb_surrogate *surrogate; /* follows the results, without fantasies; left like that */
  cb_search *search;
  int pool;                    /* of the search */
  double unit;                 /* of the surrogate's targets, in units of y */
  const bool *among;           /* rows that may be the best; NULL: all */
  const cb_feasible *feasible; /* which limits a new point must keep; NULL: none */
} cb_rerun;

/* *row: the one to run once more, -1: a new point is worth more; and what either gains,
 * in units of y. A run has the history's run_variance beside the noise that was learnt;
 * whoever runs again tells the history what it learns of it (cb_history_revise).
 * A function of the history, the fit and the settings. Where the objective is
 * deterministic and no variance is known there is nothing to gain by another run. */
cocabo_status cb_rerun_choose(const cb_rerun *rerun, const cb_ask *ask, int64_t *row,
                              double *gain_new, double *gain_again, cocabo_error *err);

#endif
