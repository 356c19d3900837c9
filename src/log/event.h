/* event.h - what is appended to a study's log. A study is the fold of its events.
 *
 * An event owns everything it points to, except that a space is shared by reference
 * counting. Fields that a kind does not use are zero.
 */
#ifndef CB_LOG_EVENT_H
#define CB_LOG_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "bandit/draw.h"
#include "cocabo.h"
#include "space/space.h"

/* This library's version, as it is kept in logs. */
#define CB_VERSION_TEXT_(major, minor, patch) #major "." #minor "." #patch
#define CB_VERSION_TEXT(major, minor, patch) CB_VERSION_TEXT_(major, minor, patch)
#define CB_VERSION                                                                     \
  CB_VERSION_TEXT(COCABO_VERSION_MAJOR, COCABO_VERSION_MINOR, COCABO_VERSION_PATCH)

/* Values are stored: pinned. */
typedef enum cb_event_kind {
  CB_STUDY_CREATED = 1,     /* space, options, version */
  CB_STUDY_CHANGED = 2,     /* options and attributes that change, version */
  CB_TRIAL_ASKED = 3,       /* number, cells, origin, proposal */
  CB_TRIAL_TOLD = 4,        /* number, y, metrics */
  CB_TRIAL_FAILED = 5,      /* number, attempt: which one, reason */
  CB_TRIAL_INTERRUPTED = 6, /* number, attempt: which one */
  CB_TRIAL_STALE = 7,       /* number, attempt: which one was lost */
  CB_TRIAL_RESUMED = 8,     /* number, attempt */
  CB_TRIAL_ADDED = 9,       /* number, cells, y and metrics; or, without y, enqueued or
                               running */
  CB_MODEL_FITTED = 10,     /* fit */
  CB_RUN_STARTED = 11,      /* number, attempt: the run, instance, seed */
  CB_TRIAL_OBSERVED = 12,   /* number, attempt: the run, outcome, y, metrics, seconds */
  CB_TRIAL_RETRIED = 13,    /* number, attempt: which one failed */
  /* Kinds 100 to 199 change no proposal. A library that does not know one passes over
   * it: its body is kept as it is. Any other unknown kind is refused. */
  CB_TRIAL_NOTED = 100,   /* number, attributes */
  CB_TRIAL_REPORTED = 101 /* number, step, y: what the value is so far */
} cb_event_kind;

/* How a run ended. */
typedef enum cb_outcome {
  CB_RUN_OK = 1,       /* y is its value */
  CB_RUN_FAILED = 2,   /* it has none */
  CB_RUN_CAPPED = 3,   /* it was ended: its value would have been y at least (at most,
                          where large values are good) */
  CB_RUN_DISCARDED = 4 /* it says nothing: a warm-up, given back, or its worker was lost
                        */
} cb_outcome;

bool cb_kind_is_known(cb_event_kind kind);
bool cb_kind_is_ignorable(cb_event_kind kind);

typedef enum cb_origin {
  CB_BY_DESIGN = 1,
  CB_BY_SAMPLER = 2,
  CB_BY_USER = 3
} cb_origin;

typedef struct cb_pair {
  char *name, *value;
} cb_pair;

/* Hyper-parameters learnt from the log up to `basis`. What theta means is the sampler's
 * business; everybody else copies it. */
typedef struct cb_fit {
  int64_t basis; /* sequence number of the last event it saw */
  int64_t rows;  /* completed trials it saw */
  int64_t round; /* sampler rounds asked before it */
  int n_theta;
  double *theta;
} cb_fit;

/* What a proposal saw, and how it was drawn: enough to replay it. A batch is what one
 * call of the design or of the sampler proposed together; an ask may hold one of each.
 */
typedef struct cb_provenance {
  int64_t basis;       /* sequence number of the last event it saw */
  int64_t batch_first; /* number of the first trial of its batch */
  int batch_size;
  int batch_index;  /* its place in the batch; the trial's number is first + index */
  int n_pending;    /* kept with the batch's first point (index 0): all saw the same */
  int64_t *pending; /* numbers of the trials that were pending, ascending */
  int n_draws;      /* c if a bandit chose the categories, else 0 */
  cb_draw *draws;
  char *fingerprint; /* sampler and revision; with index 0 only; NULL: not kept */
  int n_fits; /* with index 0 only; 0: the fit that counted at the basis, if any */
  uint64_t (*fits)[2]; /* ids of the MODEL_FITTED events whose theta it used. Each was
                          made from the log up to the basis or less, but may lie after
                          the basis: in the same append, before the trials */
} cb_provenance;

typedef struct cb_event {
  cb_event_kind kind;
  cb_outcome outcome; /* of a run that is over */
  int64_t seq;        /* 1, 2, ... given by the store */
  uint64_t id[2];     /* unique, given by the writer: a retried append is found by it */
  double time;        /* seconds since 1970 on the store's clock, given by the store */
  int64_t number;     /* trial, or -1 */
  int64_t attempt;  /* CB_TRIAL_RESUMED: 1, 2, ... per trial; those that end one: 0, 1,
                       ... ; of runs: 0, 1, ... in the order in which they started */
  bool has_attempt; /* CB_TRIAL_FAILED, CB_TRIAL_INTERRUPTED: false in logs of 0.1.0,
                       where they mean whatever attempt there is */
  bool running; /* CB_TRIAL_ADDED without y: somebody is at it; else it is enqueued */
  bool has_y;
  cb_origin origin;
  double y;      /* the user's own value, in the user's direction */
  int n_metrics; /* up to COCABO_MAX_METRICS, with y only */
  int n_cells;
  cocabo_metric *metrics; /* one block with their names: see cb_metrics_pack */
  char *reason;
  double seconds; /* that it took; 0: not known */
  char *instance; /* of a run that starts; NULL: there are no instances */
  int64_t seed;   /* of a run that starts */
  int64_t step;   /* of a report, 0 or more */
  char *version;  /* of the library that wrote the options; NULL: 0.1.0 */
  char *body;     /* of a kind that is not known: the text of all but its head */
  cb_cell *cells; /* n_cells */
  cocabo_space *space;
  int n_options, n_attributes;
  cb_pair *options;
  cb_pair *attributes; /* free text by name */
  cb_provenance proposal;
  cb_fit fit;
  const char *kept; /* all but its head as the store has it, kept_size bytes; borrowed
                       while a store shows it, else NULL. A copy has none */
  size_t kept_size;
} cb_event;

/* A deep copy of n pairs, or NULL if out of memory; and its release (NULL is allowed).
 */
cb_pair *cb_pairs_copy(const cb_pair *pairs, int n);
void cb_pairs_free(cb_pair *pairs, int n);
/* The place of a name among n pairs, -1 if it has none. */
int cb_pairs_find(const cb_pair *pairs, int n, const char *name);
/* A deep copy of n pairs in which m others replace those of their names or follow, in
 * order; NULL if out of memory. */
cb_pair *cb_pairs_merge(const cb_pair *pairs, int n, const cb_pair *others, int m,
                        int *n_merged);

/* Checks n metrics as a user gives them, or a log: their number, names and values. */
cocabo_status cb_metrics_check(const cocabo_metric *metrics, size_t n,
                               cocabo_error *err);
/* How many bytes they take as one block, in which their names follow them; and the
 * block, made in `block` of so many bytes with the alignment of a metric. */
size_t cb_metrics_bytes(const cocabo_metric *metrics, int n);
cocabo_metric *cb_metrics_pack(void *block, const cocabo_metric *metrics, int n);
/* The same metrics in the same order? */
bool cb_metrics_equal(const cocabo_metric *a, int n, const cocabo_metric *b, int m);

/* A deep copy (the space is shared). On failure *out is zero and nothing leaks. */
cocabo_status cb_event_copy(cb_event *out, const cb_event *event, cocabo_error *err);
void cb_event_clear(cb_event *event); /* releases what it owns and zeroes it */

#endif
