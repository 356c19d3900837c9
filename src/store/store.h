/* store.h - what a study needs of a store: named logs of events.
 *
 * A log starts with STUDY_CREATED and only grows. It is known by an id that its store
 * never gives to another log, so that a handle cannot mistake a new study for the
 * deleted one of the same name. The in-memory store (memory.c) is the specification;
 * every store passes the suite in tests/contract/store_contract.h.
 *
 * Beside the logs a store keeps leases, which are no events: {trial, run, owner, until}
 * on the store's own clock, which nobody can set. A lease is of a trial as a whole or
 * of one of its runs. What has none is never taken from whoever is at it.
 *
 * A store may be used from several threads at once. To grow, operations are added at
 * the end of cb_store_ops.
 */
#ifndef CB_STORE_STORE_H
#define CB_STORE_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/json.h"
#include "cocabo.h"
#include "log/event.h"

/* Sees one event, borrowed for the call. A failure ends the reading and is forwarded.
 * It must not call the store. */
typedef cocabo_status (*cb_event_fn)(void *user, const cb_event *event,
                                     cocabo_error *err);
/* Sees the name of one study, borrowed for the call. */
typedef cocabo_status (*cb_name_fn)(void *user, const char *name, cocabo_error *err);

/* Sees of one lease which run of which trial it is for. */
enum { CB_WHOLE_TRIAL = -1 }; /* as a run: none, but the trial itself */
typedef cocabo_status (*cb_expired_fn)(void *user, int64_t number, int64_t run,
                                       cocabo_error *err);

/* How far a reader knows a log: its last event. */
typedef struct cb_position {
  int64_t seq;    /* 0: nothing of it */
  uint64_t id[2]; /* 0: whatever it is */
} cb_position;

/* Does it say which event it was? */
bool cb_position_is_known(const cb_position *position);

/* One append: events and what else happens in the same stroke. */
typedef struct cb_append {
  cb_event *events; /* n; their seq and time are filled in */
  int n;
  int64_t next_number;     /* the number that the next new trial must get; -1: any */
  const cb_position *seen; /* what the writer knows of the log; NULL: it does not say */
  const char *owner; /* who holds the leases of what is handed out; NULL: no one */
  double seconds;    /* how long they last */
  bool durable;      /* must survive a power cut */
  bool keep;         /* the events keep their times and bodies (cb_event.kept) */
  cocabo_interrupt_fn interrupt; /* asked while it waits for its turn; NULL: never */
  void *user;
} cb_append;

/* What a study comes to at some place of its log. summary.h has it as text. */
typedef struct cb_summary {
  int64_t seq;                      /* the last event that it has seen */
  int64_t states[COCABO_STALE + 1]; /* trials by their state */
  int64_t parameters;
  int64_t best;     /* number of the best trial, -1: none */
  double value;     /* its value, NaN: none */
  bool feasible;    /* it keeps the constraints, if there are any */
  bool maximize;    /* the direction */
  bool constrained; /* there are constraints */
  bool noisy;       /* the best is the sampler's to say, and was not asked for */
  char sampler[32];
} cb_summary;

/* What a store knows of a study without reading its log. */
typedef struct cb_description {
  int64_t seq;        /* of the last event */
  double first, last; /* times of the first and of the last event */
  cb_summary summary; /* the newest that was left; seq 0: none */
} cb_description;

/* Version of cb_store_ops. */
enum { CB_STORE_VERSION = 3 };

typedef struct cb_store_ops {
  int version;

  /* Starts a log with this STUDY_CREATED event, which becomes number 1; its seq and
   * time are filled in. COCABO_E_EXISTS if there is a study of that name. */
  cocabo_status (*create)(cocabo_store *store, const char *name, cb_event *created,
                          int64_t *id, cocabo_error *err);

  /* The id of a study. COCABO_E_NOT_FOUND if there is none of that name. */
  cocabo_status (*find)(cocabo_store *store, const char *name, int64_t *id,
                        cocabo_error *err);

  /* Shows the events after `from`, in order; and then, unless `expired` is NULL, by
   * number and run the leases that have run out on the store's clock, or whose owner
   * was a process of this machine that is no more. It is all as it was at one moment.
   * Like append, COCABO_E_NOT_FOUND if the study has been deleted. COCABO_E_BUSY if the
   * log does not have the event `from` where it was: a server that crashed may lose the
   * end of a log, as far as it was not durable. Then the reader must begin anew. */
  cocabo_status (*read_since)(cocabo_store *store, int64_t id, const cb_position *from,
                              cb_event_fn each, cb_expired_fn expired, void *user,
                              cocabo_error *err);

  /* Appends events in order, all or none, and fills in their seq and time. An event
   * whose unique id is in the log already is not written again and gets the seq and
   * time it has there; if all are, the call succeeds whatever else it says. So an
   * append of unknown outcome is tried again with the same ids.
   *
   * Refused with COCABO_E_BUSY, because another writer was faster, if
   *   - the log does not have the event `seen` where it was (see read_since),
   *   - next_number >= 0 is not the number that the next new trial gets,
   *   - an ASKED or ADDED event does not have the number its trial would get,
   *   - a RESUMED event's attempt is not above those its trial has in the log,
   *   - a STALE event's trial has a lease that has not run out (nor is its owner gone),
   *     unless that is one of a later attempt: whoever runs it was late, but has
   *     renewed it since,
   *   - a STALE event's trial was told, failed or interrupted after `seen`,
   *   - a RUN_STARTED event's trial is neither in the log nor earlier in the append,
   *   - a RUN_STARTED event's run is not above those its trial has in the log,
   *   - an OBSERVED event discards a run that somebody other than `owner` has a lease
   *     of which has not run out (nor is its owner gone),
   *   - an OBSERVED event discards a run that was observed after `seen`.
   * An OBSERVED event that says how a run ended is welcome at any time.
   *
   * In the same stroke every ASKED and RESUMED trial gets a lease if `owner` is given
   * (and loses an older one in any case), as does an ADDED one that is running, and
   * every TOLD trial loses its lease. So does a FAILED, INTERRUPTED or STALE one,
   * unless the event names an attempt and a later one has been handed out: that lease
   * is somebody else's. A run gets a lease with RUN_STARTED if `owner` is given and
   * loses it with OBSERVED, whatever that says; RUN_STARTED also ends the lease of its
   * trial, nothing else that is about a trial as a whole touches leases of its runs.
   * Events that were in the log already change no lease. */
  cocabo_status (*append)(cocabo_store *store, int64_t id, const cb_append *what,
                          cocabo_error *err);

  /* Shows the names of all studies, in the order they were created. */
  cocabo_status (*list)(cocabo_store *store, cb_name_fn each, void *user,
                        cocabo_error *err);

  /* Deletes a study with its log. COCABO_E_NOT_FOUND if there is none of that name. */
  cocabo_status (*remove)(cocabo_store *store, const char *name, cocabo_error *err);

  void (*free)(cocabo_store *store);

  /* Every lease that `owner` holds in the study now ends in so many seconds, also one
   * that has run out. It waits for a moment only: COCABO_E_BUSY means to try again
   * soon. COCABO_E_NOT_FOUND if the study has been deleted. */
  cocabo_status (*renew)(cocabo_store *store, int64_t id, const char *owner,
                         double seconds, cocabo_error *err);

  /* Like create, with the n > 0 events of a whole log, of which the first is
   * STUDY_CREATED: all or none. `keep` as in cb_append. */
  cocabo_status (*create_log)(cocabo_store *store, const char *name, cb_event *events,
                              int n, bool keep, int64_t *id, cocabo_error *err);

  /* Is what is kept what was written? Looks at the store itself first, then at the body
   * of every event, which has a checksum. COCABO_E_STORE if the store is damaged,
   * COCABO_E_STATE if an event is. *unchecked: events that were written before there
   * were checksums. */
  cocabo_status (*check)(cocabo_store *store, int64_t id, int64_t *unchecked,
                         cocabo_error *err);

  /* Leaves a summary for `describe`; it is kept if it has seen more than the one before
   * and no more than there is, and else passed over. Nothing else depends on it, so it
   * does not wait for others: COCABO_E_BUSY. Both: COCABO_E_NOT_FOUND if the study has
   * been deleted. */
  cocabo_status (*summarise)(cocabo_store *store, int64_t id, const cb_summary *summary,
                             cocabo_error *err);
  cocabo_status (*describe)(cocabo_store *store, int64_t id, cb_description *out,
                            cocabo_error *err);

  /* Shows the leases of a study by trial and run, also those that have run out. */
  cocabo_status (*leases)(cocabo_store *store, int64_t id, cocabo_lease_fn each,
                          void *user, cocabo_error *err);

  /* Waits for a turn among those who ask in this study, for some seconds at most, so
   * that they do not overtake each other all the time; the turn ends with the next
   * append that succeeds, or with end_turn. Nothing but speed depends on it. May be
   * NULL, both of them. */
  cocabo_status (*begin_turn)(cocabo_store *store, int64_t id, cocabo_error *err);
  void (*end_turn)(cocabo_store *store);
} cb_store_ops;

/* Seconds: 366 days. A lease that seems to last longer was written by mistake. */
#define CB_LONGEST_LEASE 31622400.0

/* For how long may a lease be? 0 is none, where that is allowed. */
cocabo_status cb_lease_check(double seconds, bool or_none, cocabo_error *err);

/* The first member of every store's own struct. */
struct cocabo_store {
  const cb_store_ops *ops;
};

/* ---- what stores have in common
 * ------------------------------------------------------ */

/* COCABO_E_NOT_FOUND: by its id, and by its name. */
cocabo_status cb_store_deleted(cocabo_error *err);
cocabo_status cb_store_no_study(const char *name, cocabo_error *err);

/* Can this STUDY_CREATED event be read back? What cannot must not be written: the log
 * would have no beginning. `body` is room to write it. */
cocabo_status cb_store_check_readable(cb_json *body, const cb_event *created,
                                      cocabo_error *err);

/* COCABO_E_STATE: the checksum of an event is not that of its body. number < 0: it
 * belongs to no trial. */
cocabo_status cb_store_damaged_event(int64_t seq, int64_t number, cocabo_error *err);

#endif
