/* sampler.h - where history meets mathematics.
 *
 * A sampler is a table of functions. Its state is a cache: everything it proposes is a
 * function of the history it is shown, the settings and the trial's number, so that a
 * restart, a second worker or a replay gets the same bits.
 *
 * To add one: a file in this folder, one extern constant, one line in sampler.c.
 */
#ifndef CB_SAMPLER_SAMPLER_H
#define CB_SAMPLER_SAMPLER_H

#include <stdbool.h>
#include <stdint.h>

#include "bandit/team.h"
#include "cocabo.h"
#include "log/constraints.h"
#include "log/history.h"
#include "search/acquisition.h"
#include "space/space.h"

/* The options, resolved: no text and no "auto" that depends on the space. */
typedef struct cb_settings {
  uint64_t seed;
  int64_t n_init;
  int64_t n_later;      /* random points that `mixed` has after the design */
  int64_t horizon;      /* planned rounds T, 0 = anytime */
  bool deterministic;   /* the objective; then no point is proposed twice */
  bool lambda_auto;     /* learn lambda; else it is `lambda` */
  double lambda;        /* in [0,1] */
  bool kernel_sum_half; /* decision 0001: 1/2 (k_h + k_x) rather than the paper's k_h +
                           k_x */
  bool ard;
  cb_acquisition acquisition;
  double kappa;
  cb_reward reward;
  bool bandit_init;    /* initial points move the bandit's weights too */
  bool cut_outliers;   /* values far below the median count as less far */
  int64_t refit_every; /* rounds, or results; 0 = as the sampler sees fit */
  int64_t samples;     /* random candidates of the acquisition's maximiser */
  int64_t model_size;  /* most observations a model holds */
  const cb_constraints *constraints; /* on metrics, borrowed from the options; NULL:
                                        none */
  const char *objective; /* what the value is called in them, borrowed likewise */
} cb_settings;

/* One request for b points, the first of which gets trial number `number`. */
typedef struct cb_ask {
  const cb_history *history; /* the log prefix up to the proposal's basis */
  const cb_fit *fit;         /* what was learnt, with n_theta > 0; NULL: nothing yet */
  const cb_settings *settings;
  int64_t number;
  int batch;
  cocabo_interrupt_fn interrupt; /* NULL: never */
  void *user;
} cb_ask;

/* Room for one proposed point; the arrays are the caller's. */
typedef struct cb_proposal {
  cb_cell *cells; /* n */
  cb_draw *draws; /* c */
  bool drawn;     /* draws were made */
} cb_proposal;

typedef struct cb_sampler {
  const char *name;
  int revision;     /* raised by every change that moves its proposals */
  const char *help; /* one line */

  bool constrains; /* takes measured constraints into account, or has no model that
                      could; else a study with constraints is refused */

  /* Refuses a space it cannot handle, with a sentence that names another sampler. NULL:
   * it handles every space. */
  cocabo_status (*accepts)(const cocabo_space *space, cocabo_error *err);

  /* *state is owned by the caller. */
  cocabo_status (*create)(void **state, const cocabo_space *space,
                          const cb_settings *settings, cocabo_error *err);
  void (*destroy)(void *state);

  /* Must the hyper-parameters be learnt before the next proposal? NULL: never. */
  bool (*fit_due)(const cb_ask *ask);
  /* Learns theta from the history, starting at ask->fit. fit->theta is owned by the
   * caller afterwards; basis, rows and round are filled in by the caller. */
  cocabo_status (*fit)(void *state, const cb_ask *ask, cb_fit *fit, cocabo_error *err);
  /* How many numbers theta has; the study lets no fit of another length reach the
   * sampler. NULL where fit is. */
  int (*n_theta)(const void *state);
  /* How many more it may have. NULL: none. */
  int (*more_theta)(const void *state);

  /* Proposes ask->batch distinct points, none of them in the history when the objective
   * is deterministic; COCABO_E_EXHAUSTED when there are not that many left. Every
   * pending trial of the history is taken into account. */
  cocabo_status (*propose)(void *state, const cb_ask *ask, cb_proposal *out,
                           cocabo_error *err);

  /* The result that is best when values are noisy: *row of the history's results, of
   * which there is one. NULL: the sampler has no model, and the best value counts. */
  cocabo_status (*best)(void *state, const cb_ask *ask, int64_t *row,
                        cocabo_error *err);
  /* And what the model expects of the point of a completed trial when values are noisy:
   * the mean of y there, and the standard error of that mean. NULL where best is. */
  cocabo_status (*expect)(void *state, const cb_ask *ask, const cb_trial *trial,
                          double *mean, double *se, cocabo_error *err);
  /* What the model predicts at n points, x d x n and h c x n: the mean of y, how far
   * that mean may be off, and the probability that the point is feasible, which the
   * caller has set to 1. NULL where best is. */
  cocabo_status (*predict)(void *state, const cb_ask *ask, int n, const double *x,
                           const int32_t *h, double *mean, double *sd, double *feasible,
                           cocabo_error *err);
  /* Is another run of a known point worth more than a new one? *row of the history's
   * results is the one to run once more, -1: a new point is worth more; and by how much
   * the best mean is expected to rise by either, in units of y. NULL: the sampler has
   * no model that would know. */
  cocabo_status (*rerun)(void *state, const cb_ask *ask, int64_t *row, double *gain_new,
                         double *gain_again, cocabo_error *err);
} cb_sampler;

/* The samplers by name; NULL if there is none of that name / past the end. */
const cb_sampler *cb_sampler_find(const char *name);
const cb_sampler *cb_sampler_at(int i);

/* The initial design: b uniform random points, keyed by (seed, trial number), but away
 * from known failures. The same contract as a sampler's propose, and a revision like a
 * sampler's. */
enum { CB_DESIGN_REVISION = 3 };

/* How many random points a space deserves: 2 (d + c) + 2, at most 24. Where there are
 * categories `mixed` begins with fewer, and has the others later (decision 0025). */
enum { CB_SHORT_DESIGN = 10 };
int64_t cb_design_size(const cocabo_space *space);
cocabo_status cb_design_propose(const cb_ask *ask, cb_proposal *out, cocabo_error *err);

/* COCABO_E_EXHAUSTED if one of the proposed points breaks a rule, or repeats one where
 * that is not wanted: then nothing else was found. */
cocabo_status cb_ask_check(const cb_ask *ask, const cb_proposal *out,
                           cocabo_error *err);

/* COCABO_E_INTERRUPTED if the user asked to stop. */
cocabo_status cb_ask_poll(const cb_ask *ask, cocabo_error *err);

#endif
