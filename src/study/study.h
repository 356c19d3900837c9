/* study.h - a study: a log in a store, its fold in memory, and a sampler's cache.
 *
 * Arguments have been checked by api.c. Every call first learns what others appended
 * (sync) and ends with at most one append. Whatever can fail comes before the append:
 * what the log has accepted counts, and the fold catches up with it at the latest at
 * the next call.
 */
#ifndef CB_STUDY_STUDY_H
#define CB_STUDY_STUDY_H

#include <stdbool.h>
#include <stdint.h>

#include "cocabo.h"
#include "log/fold.h"
#include "store/store.h"
#include "study/handed.h"
#include "study/proposer.h"
#include "study/view.h"

typedef struct cb_lost_run {
  int64_t number, run; /* trial, and which of its runs */
} cb_lost_run;

/* Trials, and runs of trials. */
typedef struct cb_lost {
  int64_t *numbers; /* n, ascending */
  size_t n, capacity;
  cb_lost_run *runs; /* n_runs, ascending */
  size_t n_runs, runs_capacity;
} cb_lost;

void cb_lost_free(cb_lost *lost); /* what it owns */

struct cocabo_study {
  char *name;
  cocabo_store *store;
  bool owns_store;
  int64_t id;          /* of the log in its store */
  cocabo_space *space; /* as the caller has it, for as long as the handle lives */

  cb_fold fold;         /* of the log */
  cb_view view;         /* of the fold, with what the options mean */
  cb_proposer proposer; /* a cache */
  cb_handed handed;     /* trials that the caller has */

  /* Another one: the best result that keeps the constraints, of the first so many. */
  struct {
    int64_t model, rows; /* for which model of the fold */
    int64_t revised;
    int64_t row; /* -1: none keeps them */
  } feasible;
  cocabo_log_fn log; /* NULL: nobody listens */
  void *log_user;

  char *owner;    /* of the leases that it takes; NULL: it takes none */
  double seconds; /* how long they last */

  bool wrote; /* it has appended something */
  /* An ask that failed may be in the log all the same, if a server did not answer: ids
   * of its events, first <= last; and what is found of it. */
  struct {
    uint64_t first, last;
    cb_lost trials;
  } unsure;

  struct {
    cb_lost_run *runs; /* n that the caller has */
    size_t n, capacity;
  } held;

  int crowded; /* asks that shall wait for their turn, since others were faster */

  uint64_t writer; /* random; with n_written the unique ids of our events */
  uint64_t n_written;
};

cocabo_status cb_study_create(cocabo_study **out, const char *name,
                              const cocabo_space *space, const cocabo_options *options,
                              cocabo_store *store, cocabo_error *err);
cocabo_status cb_study_open(cocabo_study **out, const char *name, cocabo_store *store,
                            cocabo_error *err);
/* Whichever is the case; what is there must have that space and that direction. */
cocabo_status cb_study_open_or_create(cocabo_study **out, const char *name,
                                      const cocabo_space *space,
                                      const cocabo_options *options,
                                      cocabo_store *store, bool *created,
                                      cocabo_error *err);
void cb_study_free(cocabo_study *study); /* NULL is allowed */

/* Says a sentence to whoever listens. */
void cb_study_say(const cocabo_study *study, cocabo_level level, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* How far it knows its log. */
cb_position cb_study_position(const cocabo_study *study);
/* Learns what others appended. A log that has lost its end is read anew, and what the
 * caller runs of what was lost is put back. */
cocabo_status cb_study_sync(cocabo_study *study, cocabo_error *err);

/* The same, and in the same read which of the running trials, and which runs, are lost:
 * their lease has run out, or its owner is gone. */
cocabo_status cb_study_sync_lost(cocabo_study *study, cb_lost *lost, cocabo_error *err);

/* n trials, or with `fewer` as many of them as there are: out[0..*got-1], owned by the
 * caller. On failure they are untouched. */
cocabo_status cb_study_ask(cocabo_study *study, int n, bool fewer, cocabo_trial **out,
                           size_t *got, cocabo_error *err);
/* attempt CB_CURRENT: whichever there is. Nothing happens to a later one. */
enum { CB_CURRENT = -1 };
cocabo_status cb_study_record(cocabo_study *study, int64_t number, int64_t attempt,
                              const cocabo_record *record, cocabo_error *err);
cocabo_status cb_study_report(cocabo_study *study, int64_t number, cocabo_step report,
                              cocabo_error *err);
cocabo_status cb_study_interrupt(cocabo_study *study, int64_t number, int64_t attempt,
                                 cocabo_error *err);
cocabo_status cb_study_retry(cocabo_study *study, int64_t number, cocabo_error *err);
/* A point by its cells; result NULL: to be tried. */
cocabo_status cb_study_add(cocabo_study *study, const cb_cell *cells,
                           const double *result, cocabo_error *err);

/* Adds them at one stroke, all or none, and fills in what became of each: all of them,
 * or those that the study has not. */
cocabo_status cb_study_add_many(cocabo_study *study, cocabo_known *known, int64_t n,
                                cocabo_error *err);
cocabo_status cb_study_merge(cocabo_study *study, cocabo_known *known, int64_t n,
                             int64_t *added, cocabo_error *err);
/* The log as a new study of another store, or of the same under another name. */
cocabo_status cb_study_copy(const cocabo_study *study, const char *name,
                            cocabo_store *to, cocabo_error *err);

/* A copy of a study's log: reading takes moments, what is done with it may not, and a
 * reader holds up its store. */
typedef struct cb_events {
  cb_event *events; /* n; events[i].seq = i + 1 */
  size_t n, capacity;
} cb_events;
cocabo_status cb_events_read(cb_events *log, const cocabo_study *study,
                             cocabo_error *err);
void cb_events_clear(cb_events *log); /* zeros are allowed */

/* Options and attributes that change, of which those that are so already are passed
 * over. The pairs are borrowed. */
cocabo_status cb_study_change(cocabo_study *study, const cb_pair *options, size_t n,
                              cocabo_error *err);
cocabo_status cb_study_set_attribute(cocabo_study *study, const cb_pair *attribute,
                                     cocabo_error *err);

/* What it comes to, as far as it is known here. The best of noisy values is left open.
 */
cocabo_status cb_study_summarise(cocabo_study *study, cb_summary *out,
                                 cocabo_error *err);
/* Leaves that with the store, if this handle has changed anything and nobody objects.
 */
void cb_study_leave_summary(cocabo_study *study);
/* The same for a copy of the study in another store, whose last event is `seq`. */
void cb_study_leave_summary_of_copy(const cocabo_study *study, cocabo_store *to,
                                    int64_t id, int64_t seq);

/* From now on the trials asked for are leased to `owner`; NULL: they are not. */
cocabo_status cb_study_lease(cocabo_study *study, const char *owner, double seconds,
                             cocabo_error *err);

/* Checks the whole log, and proposes the last so many batches again; -1: all. */
cocabo_status cb_study_verify(cocabo_study *study, int64_t batches, cocabo_report *out,
                              cocabo_error *err);

/* Trial `number` of those this handle knows, borrowed until the next call; or the one
 * sentence for a number that does not exist. */
cocabo_status cb_study_find(const cocabo_study *study, int64_t number,
                            const cb_trial **out, cocabo_error *err);
/* The best of noisy values is the sampler's to say. Of those that keep the constraints;
 * while none does, the one with the least violation. */
cocabo_status cb_study_best(cocabo_study *study, const cb_trial **out,
                            cocabo_error *err);
/* What the sampler's model expects of a completed trial, as the user counts. */
cocabo_status cb_study_expected(cocabo_study *study, const cb_trial *trial,
                                double *value, double *se, cocabo_error *err);
/* What it predicts at n points, as the user counts: n rows of one value a parameter. sd
 * and feasible may be NULL. On failure nothing is filled in. */
cocabo_status cb_study_predict(cocabo_study *study, const cocabo_value *points, int n,
                               double *mean, double *sd, double *feasible,
                               cocabo_error *err);
/* Trials first .. first+n-1, which exist. */
void cb_study_columns(const cocabo_study *study, int64_t first, int64_t n,
                      const cocabo_columns *columns);
/* Of every parameter; se may be NULL. On failure they and *explained are untouched. */
cocabo_status cb_study_importance(const cocabo_study *study, double *share, double *se,
                                  double *explained, cocabo_error *err);

/* Gives an event its unique id, for whoever must name it before it is appended. */
void cb_study_identify(cocabo_study *study, cb_event *event);

/* Gives ids to the events that have none, and appends them. What is handed out is
 * leased to the handle's owner; what is added as running is nobody's. */
cocabo_status cb_study_append(cocabo_study *study, cb_event *events, int n,
                              int64_t next_number, cocabo_error *err);
/* The same, but who gets the leases is said; NULL: no one. */
cocabo_status cb_study_append_as(cocabo_study *study, const char *owner,
                                 cb_event *events, int n, int64_t next_number,
                                 cocabo_error *err);
/* Folds in what has been appended; where others have written in between, sync does. */
void cb_study_fold_own(cocabo_study *study, const cb_event *events, int n);
/* Both. The caller
 * has reserved room in the history, so that the fold does not fail; where others have
 * written in between, it is left to sync. */
cocabo_status cb_study_commit(cocabo_study *study, cb_event *events, int n,
                              int64_t next_number, cocabo_error *err);

/* For the bench: what the samplers see. Borrowed until the next call. */
const cb_history *cb_study_history(const cocabo_study *study);

/* How often a writer who was overtaken starts over before it gives up. */
enum { CB_STUDY_TRIES = 100 };
cocabo_status cb_study_overtaken(const cocabo_study *study, cocabo_error *err);

#endif
