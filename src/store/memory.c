/* memory.c - the in-memory store, and the specification of the others.
 *
 * One mutex guards everything. Changing calls build what they need first and publish it
 * last, so that a failed one leaves no trace.
 */
#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "store/clock.h"
#include "store/owner.h"
#include "store/store.h"

typedef struct lease {
  int64_t number;    /* trial */
  int64_t run;       /* of it, or CB_WHOLE_TRIAL */
  const char *owner; /* one of the log's owners */
  double until;      /* seconds since the machine was started */
} lease;

/* What was handed out last of a trial. */
typedef struct handed_out {
  int64_t attempt; /* RESUMED, 0 = none */
  int64_t run;     /* RUN_STARTED, -1 = none */
} handed_out;

typedef struct study_log {
  int64_t id;
  char *name;
  cb_event *events; /* events[i].seq = i + 1 */
  size_t n, capacity;
  int64_t n_trials;
  handed_out *trials; /* n_trials */
  size_t trials_capacity;
  size_t *index;     /* open addressing by unique id: place in events + 1, 0 = empty */
  size_t index_size; /* a power of two, at most half full */
  lease *leases;     /* by number and run */
  size_t n_leases, leases_capacity;
  cb_summary summary; /* seq 0: none */
  char **owners;      /* everybody who ever held a lease */
  size_t n_owners, owners_capacity;
} study_log;

typedef struct memory_store {
  cocabo_store base;
  pthread_mutex_t lock;
  study_log **logs; /* in the order they were created */
  size_t n, capacity;
  int64_t last_id;
} memory_store;

/* ---- one log --------------------------------------------------------------------- */

static void free_log(study_log *log) {
  if (!log)
    return;
  for (size_t i = 0; i < log->n; i++)
    cb_event_clear(&log->events[i]);
  cb_free(log->events);
  cb_free(log->trials);
  for (size_t i = 0; i < log->n_owners; i++)
    cb_free(log->owners[i]);
  cb_free(log->owners);
  cb_free(log->leases);
  cb_free(log->index);
  cb_free(log->name);
  cb_free(log);
}

static size_t *index_slot(const study_log *log, size_t *index, size_t size,
                          const uint64_t id[2]) {
  const size_t mask = size - 1;
  size_t i = (size_t)((id[0] ^ (id[1] * 0x9E3779B97F4A7C15u)) >> 7) & mask;
  while (index[i] != 0 &&
         memcmp(log->events[index[i] - 1].id, id, sizeof(uint64_t[2])) != 0)
    i = (i + 1) & mask;
  return &index[i];
}

static const cb_event *find_event(const study_log *log, const uint64_t id[2]) {
  if (log->index_size == 0)
    return NULL;
  const size_t place = *index_slot(log, log->index, log->index_size, id);
  return place > 0 ? &log->events[place - 1] : NULL;
}

static bool reserve_index(study_log *log, size_t want) {
  if (2 * want <= log->index_size)
    return true;
  size_t size = log->index_size > 0 ? log->index_size : 16;
  while (size < 2 * want)
    size *= 2;
  size_t *index = cb_calloc(size, sizeof *index);
  if (!index)
    return false;
  for (size_t i = 0; i < log->n; i++)
    *index_slot(log, index, size, log->events[i].id) = i + 1;
  cb_free(log->index);
  log->index = index;
  log->index_size = size;
  return true;
}

static bool reserve(study_log *log, size_t more) {
  void *events = log->events, *trials = log->trials, *leases = log->leases;
  const bool grown =
      cb_reserve(&events, &log->capacity, log->n + more, sizeof *log->events) &&
      cb_reserve(&trials, &log->trials_capacity, (size_t)log->n_trials + more,
                 sizeof *log->trials) &&
      cb_reserve(&leases, &log->leases_capacity, log->n_leases + more,
                 sizeof *log->leases);
  log->events = events;
  log->trials = trials;
  log->leases = leases;
  return grown && reserve_index(log, log->n + more);
}

/* ---- leases ---------------------------------------------------------------------- */

/* The log's own copy of an owner's name, or NULL if out of memory. */
static const char *know_owner(study_log *log, const char *owner) {
  for (size_t i = 0; i < log->n_owners; i++)
    if (strcmp(log->owners[i], owner) == 0)
      return log->owners[i];
  void *owners = log->owners;
  if (!cb_reserve(&owners, &log->owners_capacity, log->n_owners + 1,
                  sizeof *log->owners))
    return NULL;
  log->owners = owners;
  char *copy = cb_strdup(owner);
  if (copy)
    log->owners[log->n_owners++] = copy;
  return copy;
}

/* The place of a lease, or where it belongs. */
static size_t lease_place(const study_log *log, int64_t number, int64_t run) {
  size_t low = 0, high = log->n_leases;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const lease *l = &log->leases[middle];
    if (l->number < number || (l->number == number && l->run < run))
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static lease *find_lease(const study_log *log, int64_t number, int64_t run) {
  const size_t i = lease_place(log, number, run);
  return i < log->n_leases && log->leases[i].number == number &&
                 log->leases[i].run == run
             ? &log->leases[i]
             : NULL;
}

static void drop_lease(study_log *log, int64_t number, int64_t run) {
  const lease *dropped = find_lease(log, number, run);
  if (!dropped)
    return;
  const size_t i = (size_t)(dropped - log->leases);
  log->n_leases--;
  memmove(&log->leases[i], &log->leases[i + 1],
          (log->n_leases - i) * sizeof *log->leases);
}

/* There is room for it. */
static void take_lease(study_log *log, lease taken) {
  const size_t i = lease_place(log, taken.number, taken.run);
  assert(log->n_leases < log->leases_capacity);
  assert(!find_lease(log, taken.number, taken.run));
  memmove(&log->leases[i + 1], &log->leases[i],
          (log->n_leases - i) * sizeof *log->leases);
  log->leases[i] = taken;
  log->n_leases++;
}

/* Who gets the leases of an append, and until when; owner NULL: no one. */
typedef struct holder {
  const char *owner;
  double until;
} holder;

static void replace_lease(study_log *log, int64_t number, int64_t run,
                          const holder *who) {
  drop_lease(log, number, run);
  if (who->owner)
    take_lease(log, (lease){number, run, who->owner, who->until});
}

static bool has_trial(const study_log *log, int64_t number) {
  return number >= 0 && number < log->n_trials;
}

/* Has a later attempt of its trial been handed out? */
static bool is_late(const study_log *log, const cb_event *event) {
  return has_trial(log, event->number) &&
         event->attempt < log->trials[event->number].attempt;
}

static void move_lease(study_log *log, const cb_event *event, const holder *who) {
  const int64_t number = event->number;
  switch (event->kind) {
  case CB_TRIAL_ADDED:
    if (event->running)
      replace_lease(log, number, CB_WHOLE_TRIAL, who);
    return;
  case CB_TRIAL_ASKED:
  case CB_TRIAL_RESUMED:
    replace_lease(log, number, CB_WHOLE_TRIAL, who);
    return;
  case CB_RUN_STARTED:
    drop_lease(log, number, CB_WHOLE_TRIAL);
    replace_lease(log, number, event->attempt, who);
    return;
  case CB_TRIAL_OBSERVED:
    drop_lease(log, number, event->attempt);
    return;
  case CB_TRIAL_STALE:
  case CB_TRIAL_FAILED:
  case CB_TRIAL_INTERRUPTED:
    if ((event->has_attempt || event->kind == CB_TRIAL_STALE) && is_late(log, event))
      return; /* the lease is that of a later attempt */
    drop_lease(log, number, CB_WHOLE_TRIAL);
    return;
  case CB_TRIAL_TOLD:
    drop_lease(log, number, CB_WHOLE_TRIAL);
    return;
  default:
    return;
  }
}

/* ---- appending ------------------------------------------------------------------- */

static bool makes_trial(const cb_event *event) {
  return event->kind == CB_TRIAL_ASKED || event->kind == CB_TRIAL_ADDED;
}

/* Has it run out, or is nobody left to renew it? */
static bool is_over(const lease *l, double time, cb_owners *seen) {
  return l->until <= time || cb_owners_gone(seen, l->owner);
}

static cocabo_status check_position(const study_log *log, const cb_position *from,
                                    cocabo_error *err) {
  if (!cb_position_is_known(from))
    return COCABO_OK;
  const cb_event *event =
      log->events && from->seq <= (int64_t)log->n ? &log->events[from->seq - 1] : NULL;
  return event && memcmp(event->id, from->id, sizeof from->id) == 0
             ? COCABO_OK
             : cb_fail(err, COCABO_E_BUSY, "the log has lost its end");
}

/* An append on its way through the checks, and what is known of who is gone. */
typedef struct checking {
  const study_log *log;
  const cb_append *what;
  int64_t next_number; /* of the trials, with those of the append so far */
  cb_owners seen;
} checking;

static bool lives(checking *c, const lease *l) {
  return l && !is_over(l, cb_clock_boot(), &c->seen);
}

/* The first event after what the writer has seen. */
static size_t first_unseen(const checking *c) {
  return c->what->seen ? (size_t)c->what->seen->seq : c->log->n;
}

static bool ends_trial(const cb_event *event, int64_t number) {
  return event->number == number &&
         (event->kind == CB_TRIAL_TOLD || event->kind == CB_TRIAL_FAILED ||
          event->kind == CB_TRIAL_INTERRUPTED);
}

/* Has somebody ended it since the writer looked, or was its lease renewed? */
static cocabo_status check_stale(checking *c, const cb_event *stale,
                                 cocabo_error *err) {
  const study_log *log = c->log;
  const int64_t number = stale->number;
  for (size_t i = first_unseen(c); i < log->n; i++)
    if (ends_trial(&log->events[i], number))
      return cb_fail(err, COCABO_E_BUSY, "trial %lld is not lost, it has ended",
                     (long long)number);
  if (!is_late(log, stale) && lives(c, find_lease(log, number, CB_WHOLE_TRIAL)))
    return cb_fail(err, COCABO_E_BUSY, "trial %lld is not lost, its lease lives",
                   (long long)number);
  return COCABO_OK;
}

/* The same of a run. Whoever is at it may discard it. */
static cocabo_status check_discarded(checking *c, const cb_event *run,
                                     cocabo_error *err) {
  const study_log *log = c->log;
  const char *owner = c->what->owner;
  for (size_t i = first_unseen(c); i < log->n; i++)
    if (log->events[i].kind == CB_TRIAL_OBSERVED &&
        log->events[i].number == run->number && log->events[i].attempt == run->attempt)
      return cb_fail(err, COCABO_E_BUSY,
                     "run %lld of trial %lld is not lost, it has ended",
                     (long long)run->attempt, (long long)run->number);
  const lease *l = find_lease(log, run->number, run->attempt);
  if (lives(c, l) && !(owner && strcmp(owner, l->owner) == 0))
    return cb_fail(err, COCABO_E_BUSY,
                   "run %lld of trial %lld is not lost, its lease lives",
                   (long long)run->attempt, (long long)run->number);
  return COCABO_OK;
}

static cocabo_status check_started(const checking *c, const cb_event *run,
                                   cocabo_error *err) {
  if (run->number < 0 || run->number >= c->next_number)
    return cb_fail(err, COCABO_E_BUSY, "run %lld is of trial %lld, which is not there",
                   (long long)run->attempt, (long long)run->number);
  if (has_trial(c->log, run->number) && run->attempt <= c->log->trials[run->number].run)
    return cb_fail(err, COCABO_E_BUSY, "run %lld of trial %lld is taken",
                   (long long)run->attempt, (long long)run->number);
  return COCABO_OK;
}

static cocabo_status check_resumed(const checking *c, const cb_event *resumed,
                                   cocabo_error *err) {
  if (has_trial(c->log, resumed->number) &&
      resumed->attempt <= c->log->trials[resumed->number].attempt)
    return cb_fail(err, COCABO_E_BUSY, "attempt %lld of trial %lld is taken",
                   (long long)resumed->attempt, (long long)resumed->number);
  return COCABO_OK;
}

static cocabo_status check_number(const checking *c, int64_t number,
                                  cocabo_error *err) {
  if (number != c->next_number)
    return cb_fail(err, COCABO_E_BUSY, "trial %lld is taken, the next is %lld",
                   (long long)number, (long long)c->next_number);
  return COCABO_OK;
}

static cocabo_status check_event(checking *c, const cb_event *event,
                                 cocabo_error *err) {
  switch (event->kind) {
  case CB_TRIAL_ASKED:
  case CB_TRIAL_ADDED:
    return check_number(c, event->number, err);
  case CB_TRIAL_RESUMED:
    return check_resumed(c, event, err);
  case CB_TRIAL_STALE:
    return check_stale(c, event, err);
  case CB_RUN_STARTED:
    return check_started(c, event, err);
  case CB_TRIAL_OBSERVED:
    return event->outcome == CB_RUN_DISCARDED ? check_discarded(c, event, err)
                                              : COCABO_OK;
  default:
    return COCABO_OK;
  }
}

static cocabo_status check_conflicts(const study_log *log, const cb_append *what,
                                     cocabo_error *err) {
  checking c = {.log = log, .what = what, .next_number = log->n_trials};
  CB_TRY(check_position(log, what->seen, err));
  if (what->next_number >= 0)
    CB_TRY(check_number(&c, what->next_number, err));
  for (int i = 0; i < what->n; i++) {
    if (find_event(log, what->events[i].id))
      continue;
    CB_TRY(check_event(&c, &what->events[i], err));
    c.next_number += makes_trial(&what->events[i]);
  }
  return COCABO_OK;
}

/* Keeps what the conflict checks look at. */
static void count(study_log *log, const cb_event *event) {
  if (makes_trial(event)) {
    assert((size_t)log->n_trials < log->trials_capacity);
    log->trials[log->n_trials++] = (handed_out){.attempt = 0, .run = -1};
  }
  if (event->kind == CB_TRIAL_RESUMED && has_trial(log, event->number))
    log->trials[event->number].attempt = event->attempt;
  if (event->kind == CB_RUN_STARTED && has_trial(log, event->number))
    log->trials[event->number].run = event->attempt;
}

/* Takes the copies over; there is room for them. An id may come twice in one call. time
 * NULL: they have theirs. */
static void publish(study_log *log, cb_event *copies, int n, const holder *who,
                    const double *time) {
  for (int i = 0; i < n; i++) {
    if (find_event(log, copies[i].id)) {
      cb_event_clear(&copies[i]);
      continue;
    }
    assert(log->n < log->capacity);
    cb_event *event = &log->events[log->n];
    *event = copies[i];
    event->seq = (int64_t)log->n + 1;
    if (time)
      event->time = *time;
    log->n++;
    count(log, event);
    move_lease(log, event, who);
    *index_slot(log, log->index, log->index_size, event->id) = log->n;
  }
}

static cocabo_status append_new(study_log *log, const cb_append *what,
                                cocabo_error *err) {
  const double time = cb_clock_day();
  holder who = {.until = cb_clock_boot() + what->seconds};
  if (what->owner) {
    who.owner = know_owner(log, what->owner);
    if (!who.owner)
      return cb_no_memory(err);
  }
  cb_event *copies = cb_calloc((size_t)what->n, sizeof *copies);
  if (!copies)
    return cb_no_memory(err);
  int n_copies = 0;
  cocabo_status status = reserve(log, (size_t)what->n) ? COCABO_OK : cb_no_memory(err);
  for (int i = 0; i < what->n && status == COCABO_OK; i++)
    if (!find_event(log, what->events[i].id)) {
      status = cb_event_copy(&copies[n_copies], &what->events[i], err);
      n_copies += status == COCABO_OK;
    }
  if (status == COCABO_OK)
    publish(log, copies, n_copies, &who, what->keep ? NULL : &time);
  else
    for (int i = 0; i < n_copies; i++)
      cb_event_clear(&copies[i]);
  cb_free(copies);
  return status;
}

static bool has_all(const study_log *log, const cb_event *events, int n) {
  for (int i = 0; i < n; i++)
    if (!find_event(log, events[i].id))
      return false;
  return true;
}

static cocabo_status append_to(study_log *log, const cb_append *what,
                               cocabo_error *err) {
  if (!has_all(log, what->events, what->n)) {
    CB_TRY(check_conflicts(log, what, err));
    CB_TRY(append_new(log, what, err));
  }
  for (int i = 0; i < what->n; i++) {
    const cb_event *stored = find_event(log, what->events[i].id);
    assert(stored);
    what->events[i].seq = stored->seq;
    what->events[i].time = stored->time;
  }
  return COCABO_OK;
}

/* ---- the logs, under the lock ---------------------------------------------------- */

static study_log *log_by_name(const memory_store *memory, const char *name) {
  for (size_t i = 0; i < memory->n; i++)
    if (strcmp(memory->logs[i]->name, name) == 0)
      return memory->logs[i];
  return NULL;
}

static cocabo_status log_by_id(const memory_store *memory, int64_t id, study_log **out,
                               cocabo_error *err) {
  for (size_t i = 0; i < memory->n; i++)
    if (memory->logs[i]->id == id) {
      *out = memory->logs[i];
      return COCABO_OK;
    }
  return cb_store_deleted(err);
}

static cocabo_status new_log(study_log **out, const char *name, cb_event *events, int n,
                             bool keep, cocabo_error *err) {
  study_log *log = cb_calloc(1, sizeof *log);
  if (!log)
    return cb_no_memory(err);
  log->name = cb_strdup(name);
  const cb_append what = {.events = events, .n = n, .next_number = -1, .keep = keep};
  const cocabo_status status =
      log->name ? append_to(log, &what, err) : cb_no_memory(err);
  if (status != COCABO_OK) {
    free_log(log);
    return status;
  }
  *out = log;
  return COCABO_OK;
}

static cocabo_status add_log(memory_store *memory, const char *name, cb_event *events,
                             int n, bool keep, int64_t *id, cocabo_error *err) {
  if (log_by_name(memory, name))
    return cb_fail(err, COCABO_E_EXISTS, "study \"%s\" exists already", name);
  void *logs = memory->logs;
  if (!cb_reserve(&logs, &memory->capacity, memory->n + 1, sizeof *memory->logs))
    return cb_no_memory(err);
  memory->logs = logs;
  study_log *log = NULL;
  CB_TRY(new_log(&log, name, events, n, keep, err));
  log->id = ++memory->last_id;
  memory->logs[memory->n++] = log;
  *id = log->id;
  return COCABO_OK;
}

static cocabo_status drop_log(memory_store *memory, const char *name,
                              cocabo_error *err) {
  for (size_t i = 0; i < memory->n; i++) {
    if (strcmp(memory->logs[i]->name, name) != 0)
      continue;
    free_log(memory->logs[i]);
    memory->n--;
    memmove(&memory->logs[i], &memory->logs[i + 1],
            (memory->n - i) * sizeof *memory->logs);
    return COCABO_OK;
  }
  return cb_store_no_study(name, err);
}

/* ---- operations ------------------------------------------------------------------ */

static memory_store *lock(cocabo_store *store) {
  memory_store *memory = (memory_store *)store;
  pthread_mutex_lock(&memory->lock);
  return memory;
}

static cocabo_status unlock(memory_store *memory, cocabo_status status) {
  pthread_mutex_unlock(&memory->lock);
  return status;
}

static cocabo_status create(cocabo_store *store, const char *name, cb_event *created,
                            int64_t *id, cocabo_error *err) {
  memory_store *memory = lock(store);
  return unlock(memory, add_log(memory, name, created, 1, false, id, err));
}

static cocabo_status create_log(cocabo_store *store, const char *name, cb_event *events,
                                int n, bool keep, int64_t *id, cocabo_error *err) {
  memory_store *memory = lock(store);
  return unlock(memory, add_log(memory, name, events, n, keep, id, err));
}

static cocabo_status find(cocabo_store *store, const char *name, int64_t *id,
                          cocabo_error *err) {
  memory_store *memory = lock(store);
  const study_log *log = log_by_name(memory, name);
  if (log)
    *id = log->id;
  return unlock(memory, log ? COCABO_OK : cb_store_no_study(name, err));
}

static cocabo_status read_since(cocabo_store *store, int64_t id,
                                const cb_position *from, cb_event_fn each,
                                cb_expired_fn expired, void *user, cocabo_error *err) {
  memory_store *memory = lock(store);
  study_log *log = NULL;
  const double time = cb_clock_boot();
  cb_owners seen = {.n = 0};
  cocabo_status status = log_by_id(memory, id, &log, err);
  if (status == COCABO_OK)
    status = check_position(log, from, err);
  for (size_t i = (size_t)from->seq; status == COCABO_OK && i < log->n; i++)
    status = each(user, &log->events[i], err);
  for (size_t i = 0; expired && status == COCABO_OK && i < log->n_leases; i++)
    if (is_over(&log->leases[i], time, &seen))
      status = expired(user, log->leases[i].number, log->leases[i].run, err);
  return unlock(memory, status);
}

static cocabo_status append(cocabo_store *store, int64_t id, const cb_append *what,
                            cocabo_error *err) {
  memory_store *memory = lock(store);
  study_log *log = NULL;
  cocabo_status status = log_by_id(memory, id, &log, err);
  if (status == COCABO_OK)
    status = append_to(log, what, err);
  return unlock(memory, status);
}

static cocabo_status list(cocabo_store *store, cb_name_fn each, void *user,
                          cocabo_error *err) {
  memory_store *memory = lock(store);
  cocabo_status status = COCABO_OK;
  for (size_t i = 0; status == COCABO_OK && i < memory->n; i++)
    status = each(user, memory->logs[i]->name, err);
  return unlock(memory, status);
}

static cocabo_status remove_study(cocabo_store *store, const char *name,
                                  cocabo_error *err) {
  memory_store *memory = lock(store);
  return unlock(memory, drop_log(memory, name, err));
}

static cocabo_status renew(cocabo_store *store, int64_t id, const char *owner,
                           double seconds, cocabo_error *err) {
  memory_store *memory = lock(store);
  study_log *log = NULL;
  const cocabo_status status = log_by_id(memory, id, &log, err);
  const double until = cb_clock_boot() + seconds;
  for (size_t i = 0; status == COCABO_OK && i < log->n_leases; i++)
    if (strcmp(log->leases[i].owner, owner) == 0)
      log->leases[i].until = until;
  return unlock(memory, status);
}

static cocabo_status leases(cocabo_store *store, int64_t id, cocabo_lease_fn each,
                            void *user, cocabo_error *err) {
  memory_store *memory = lock(store);
  study_log *log = NULL;
  cb_owners seen = {.n = 0};
  const double time = cb_clock_boot();
  cocabo_status status = log_by_id(memory, id, &log, err);
  for (size_t i = 0; status == COCABO_OK && i < log->n_leases; i++) {
    const lease *l = &log->leases[i];
    const cocabo_lease shown = {.trial = l->number,
                                .run = l->run,
                                .owner = l->owner,
                                .left = l->until - time,
                                .gone = cb_owners_gone(&seen, l->owner)};
    status = each(user, &shown, err);
  }
  return unlock(memory, status);
}

static cocabo_status summarise(cocabo_store *store, int64_t id,
                               const cb_summary *summary, cocabo_error *err) {
  memory_store *memory = lock(store);
  study_log *log = NULL;
  const cocabo_status status = log_by_id(memory, id, &log, err);
  if (status == COCABO_OK && summary->seq > log->summary.seq &&
      summary->seq <= (int64_t)log->n)
    log->summary = *summary;
  return unlock(memory, status);
}

static cocabo_status describe(cocabo_store *store, int64_t id, cb_description *out,
                              cocabo_error *err) {
  memory_store *memory = lock(store);
  study_log *log = NULL;
  const cocabo_status status = log_by_id(memory, id, &log, err);
  if (status == COCABO_OK)
    *out = (cb_description){.seq = (int64_t)log->n,
                            .first = log->events[0].time,
                            .last = log->events[log->n - 1].time,
                            .summary = log->summary};
  return unlock(memory, status);
}

/* Events are not encoded here, and this memory is nobody else's. */
static cocabo_status check(cocabo_store *store, int64_t id, int64_t *unchecked,
                           cocabo_error *err) {
  memory_store *memory = lock(store);
  study_log *log = NULL;
  *unchecked = 0;
  return unlock(memory, log_by_id(memory, id, &log, err));
}

static void free_store(cocabo_store *store) {
  memory_store *memory = (memory_store *)store;
  for (size_t i = 0; i < memory->n; i++)
    free_log(memory->logs[i]);
  cb_free(memory->logs);
  pthread_mutex_destroy(&memory->lock);
  cb_free(memory);
}

static const cb_store_ops memory_ops = {
    .version = CB_STORE_VERSION,
    .create = create,
    .find = find,
    .read_since = read_since,
    .append = append,
    .list = list,
    .remove = remove_study,
    .free = free_store,
    .renew = renew,
    .create_log = create_log,
    .check = check,
    .summarise = summarise,
    .describe = describe,
    .leases = leases,
};

cocabo_store *cocabo_store_new_memory(void) {
  memory_store *memory = cb_calloc(1, sizeof *memory);
  if (!memory)
    return NULL;
  if (pthread_mutex_init(&memory->lock, NULL) != 0) {
    cb_free(memory);
    return NULL;
  }
  memory->base.ops = &memory_ops;
  return &memory->base;
}
