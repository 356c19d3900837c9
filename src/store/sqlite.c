/* sqlite.c - the operations of a store, on SQLite.
 *
 * A mutex guards the connection. What writes is one transaction. What reads sees the
 * file as it was at one moment, because a statement of its own is open all the while.
 */
#include "store/sqlite.h"

#include <assert.h>
#include <limits.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "log/codec.h"
#include "store/clock.h"
#include "store/database.h"
#include "store/owner.h"
#include "store/store.h"
#include "store/summary.h"

typedef struct sqlite_store {
  cocabo_store base;
  pthread_mutex_t lock;
  pid_t process; /* that opened it: SQLite's locks do not survive a fork */
  cb_database db;
  char boot[CB_BOOT_ID]; /* which start of the machine this is */
  cb_json json;          /* the body being written */
} sqlite_store;

/* ---- statements ------------------------------------------------------------------ */

enum {
  ADD_STUDY,
  STUDY_BY_NAME,
  LETTERS_BY_ID,
  ALL_STUDIES,
  DROP_STUDY,
  DROP_EVENTS,
  DROP_LEASES,
  DROP_SUMMARY,
  LEAVE_SUMMARY,
  DESCRIBE,
  OLD_DESCRIBE,
  EVENTS_AFTER,
  EVENT_BY_ID,
  LAST_SEQ,
  LAST_NUMBER,
  LAST_ATTEMPT,
  LAST_RUN,
  LOGGED_NUMBER,
  LOGGED_ATTEMPT,
  LOGGED_RUN,
  EVENT_BODIES,
  COUNT_EVENTS,
  ADD_EVENT,
  ADD_LEASE,
  DROP_LEASE,
  RENEW_LEASES,
  ALL_LEASES,
  RUNLESS_LEASES,
  OLD_LEASES,
  LIVING_LEASE,
  EVENT_AT,
  ENDED_SINCE,
  OBSERVED_SINCE,
  LEASES_AHEAD,
  MOVE_LEASES_BACK,
  N_STATEMENTS
};

/* In all that is about time, ?2 is the time of day, ?3 the machine's start and ?4 the
 * time since then. A lease is over by the clock that nobody sets, if it is of the same
 * start. Otherwise the time of day must do: a lease that ends later than one that began
 * now would was written by a clock that was ahead. Before ?6 nobody could renew: who
 * lives has a third of the lease to do so. */
#define SAME_START "boot <> '' AND boot = ?3"
#define OVER                                                                           \
  "(CASE WHEN " SAME_START " THEN due <= ?4 AND ?6 + seconds / 3 <= ?4"                \
  " ELSE until <= ?2 END)"
#define LEFT "(CASE WHEN " SAME_START " THEN due - ?4 ELSE until - ?2 END)"
#define ENDS                                                                           \
  "SELECT seq, (SELECT time FROM events WHERE study = ?1 ORDER BY seq LIMIT 1), time"
#define LAST_EVENT " FROM events WHERE study = ?1 ORDER BY seq DESC LIMIT 1"

#define LENGTH "(CASE WHEN seconds = 0 THEN ?5 ELSE seconds END)"
#define AHEAD                                                                          \
  "(CASE WHEN " SAME_START " THEN due > ?4 + 1 + " LENGTH                              \
  " ELSE until > ?2 + 1 + " LENGTH " END)"

static const char *const statements[N_STATEMENTS] = {
    [ADD_STUDY] = "INSERT INTO studies (name, letters) VALUES (?1, ?2)",
    [STUDY_BY_NAME] = "SELECT id FROM studies WHERE name = ?1",
    [LETTERS_BY_ID] = "SELECT letters FROM studies WHERE id = ?1",
    [ALL_STUDIES] = "SELECT name FROM studies ORDER BY id",
    [DROP_STUDY] = "DELETE FROM studies WHERE id = ?1",
    [DROP_EVENTS] = "DELETE FROM events WHERE study = ?1",
    [DROP_LEASES] = "DELETE FROM leases WHERE study = ?1",
    [DROP_SUMMARY] = "DELETE FROM summaries WHERE study = ?1",
    [LEAVE_SUMMARY] = "INSERT INTO summaries (study, seq, body) SELECT ?1, ?2, ?3 "
                      "WHERE ?2 <= (SELECT max(seq) FROM events WHERE study = ?1) "
                      "ON CONFLICT (study) DO UPDATE SET seq = ?2, body = ?3 "
                      "WHERE seq < ?2",
    [DESCRIBE] = ENDS ", (SELECT body FROM summaries WHERE study = ?1)" LAST_EVENT,
    [OLD_DESCRIBE] = ENDS ", NULL" LAST_EVENT,
    [EVENTS_AFTER] = "SELECT seq, id, time, kind, number, attempt, body FROM events "
                     "WHERE study = ?1 AND seq > ?2 ORDER BY seq",
    [EVENT_BY_ID] = "SELECT seq, time FROM events WHERE study = ?1 AND id = ?2",
    [LAST_SEQ] = "SELECT max(seq) FROM events WHERE study = ?1",
    [LAST_NUMBER] = "SELECT max(number) FROM events "
                    "WHERE study = ?1 AND kind IN (3, 9)",
    [LAST_ATTEMPT] = "SELECT max(attempt) FROM events "
                     "WHERE study = ?1 AND number = ?2 AND kind = 8",
    [LAST_RUN] = "SELECT max(attempt) FROM events "
                 "WHERE study = ?1 AND number = ?2 AND kind = 11",
    [LOGGED_NUMBER] = "SELECT number FROM events NOT INDEXED "
                      "WHERE study = ?1 AND kind IN (3, 9) ORDER BY seq DESC LIMIT 1",
    [LOGGED_ATTEMPT] = "SELECT max(attempt) FROM events NOT INDEXED "
                       "WHERE study = ?1 AND number = ?2 AND kind = 8",
    [LOGGED_RUN] = "SELECT max(attempt) FROM events NOT INDEXED "
                   "WHERE study = ?1 AND number = ?2 AND kind = 11",
    [EVENT_BODIES] = "SELECT seq, number, body, checksum FROM events "
                     "WHERE study = ?1 ORDER BY seq",
    [COUNT_EVENTS] = "SELECT count(*) FROM events WHERE study = ?1",
    [ADD_EVENT] = "INSERT INTO events (study, seq, id, time, kind, number, attempt, "
                  "body, checksum) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
    [ADD_LEASE] = "INSERT OR REPLACE INTO leases (study, trial, run, owner, until, "
                  "seconds, boot, due) "
                  "VALUES (?1, ?6, ?8, ?7, ?2 + ?5, ?5, ?3, ?4 + ?5)",
    [DROP_LEASE] = "DELETE FROM leases WHERE study = ?1 AND trial = ?2 AND run = ?3",
    [RENEW_LEASES] = "UPDATE leases SET until = ?2 + ?5, seconds = ?5, boot = ?3, "
                     "due = ?4 + ?5 WHERE study = ?1 AND owner = ?6",
    [ALL_LEASES] = "SELECT trial, owner, " OVER ", " LEFT ", run FROM leases "
                   "WHERE study = ?1 ORDER BY trial, run",
    [RUNLESS_LEASES] = "SELECT trial, owner, " OVER ", " LEFT ", -1 FROM leases "
                       "WHERE study = ?1 ORDER BY trial",
    [OLD_LEASES] = "SELECT trial, owner, until <= ?2, until - ?2, -1 FROM leases "
                   "WHERE study = ?1 ORDER BY trial",
    [LIVING_LEASE] = "SELECT owner FROM leases "
                     "WHERE study = ?1 AND trial = ?5 AND run = ?7 AND NOT " OVER,
    [ENDED_SINCE] = "SELECT count(*) FROM events WHERE study = ?1 AND seq > ?2 "
                    "AND seq <= ?4 AND number = ?3 AND kind IN (4, 5, 6)",
    [OBSERVED_SINCE] = "SELECT count(*) FROM events WHERE study = ?1 AND seq > ?2 "
                       "AND seq <= ?4 AND number = ?3 AND attempt = ?5 AND kind = 12",
    [EVENT_AT] = "SELECT id FROM events WHERE study = ?1 AND seq = ?2",
    [LEASES_AHEAD] = "SELECT count(*) FROM leases WHERE study = ?1 AND " AHEAD,
    [MOVE_LEASES_BACK] = "UPDATE leases SET until = ?2 + " LENGTH ", boot = ?3, "
                         "due = ?4 + " LENGTH " WHERE study = ?1 AND " AHEAD,
};
_Static_assert((int)N_STATEMENTS <= (int)CB_MAX_STATEMENTS, "they have a place");

/* A statement that is being used. What has gone wrong is kept in `answer` until it is
 * asked for, so that binding needs no checks. */
typedef struct query {
  sqlite_store *store;
  sqlite3_stmt *statement;
  int answer; /* SQLITE_OK, SQLITE_ROW, SQLITE_DONE or an error */
} query;

static query ask(sqlite_store *s, int which, int64_t study) {
  query q = {.store = s, .statement = cb_database_statement(&s->db, which)};
  q.answer = q.statement ? sqlite3_bind_int64(q.statement, 1, study)
                         : sqlite3_errcode(s->db.handle);
  return q;
}

static query ask_name(sqlite_store *s, int which, const char *name) {
  query q = {.store = s, .statement = cb_database_statement(&s->db, which)};
  q.answer = q.statement ? sqlite3_bind_text(q.statement, 1, name, -1, SQLITE_STATIC)
                         : sqlite3_errcode(s->db.handle);
  return q;
}

static void bind_integer(query *q, int place, int64_t value) {
  assert(place > 1); /* the first is the study or its name */
  if (q->answer == SQLITE_OK)
    q->answer = sqlite3_bind_int64(q->statement, place, value);
}

static void bind_real(query *q, int place, double value) {
  if (q->answer == SQLITE_OK)
    q->answer = sqlite3_bind_double(q->statement, place, value);
}

/* The text is borrowed until the query ends. */
static void bind_text(query *q, int place, const char *text, size_t length) {
  if (q->answer == SQLITE_OK)
    q->answer = sqlite3_bind_text64(q->statement, place, text, length, SQLITE_STATIC,
                                    SQLITE_UTF8);
}

static void bind_blob(query *q, int place, const void *bytes, size_t length) {
  if (q->answer == SQLITE_OK)
    q->answer = sqlite3_bind_blob64(q->statement, place, bytes, length, SQLITE_STATIC);
}

static bool next_row(query *q) {
  if (q->answer == SQLITE_OK || q->answer == SQLITE_ROW)
    q->answer = sqlite3_step(q->statement);
  return q->answer == SQLITE_ROW;
}

/* Ends it, at whatever row it is. */
static cocabo_status done(query *q, cocabo_error *err) {
  const bool fine =
      q->answer == SQLITE_OK || q->answer == SQLITE_ROW || q->answer == SQLITE_DONE;
  const cocabo_status status =
      fine ? COCABO_OK : cb_database_fail(&q->store->db, q->answer, err);
  if (q->statement) {
    sqlite3_reset(q->statement);
    sqlite3_clear_bindings(q->statement);
  }
  return status;
}

static cocabo_status execute(query *q, cocabo_error *err) {
  next_row(q);
  return done(q, err);
}

/* The first column of the first row; `otherwise` if there is none or it is NULL. */
static cocabo_status get_integer(query *q, int64_t otherwise, int64_t *out,
                                 cocabo_error *err) {
  *out = next_row(q) && sqlite3_column_type(q->statement, 0) != SQLITE_NULL
             ? sqlite3_column_int64(q->statement, 0)
             : otherwise;
  return done(q, err);
}

/* ---- small things ---------------------------------------------------------------- */

/* A query about leases, with the present time in ?2 to ?4. */
static query ask_time(sqlite_store *s, int which, int64_t study) {
  query q = ask(s, which, study);
  bind_real(&q, 2, cb_clock_day());
  bind_text(&q, 3, s->boot, strlen(s->boot));
  bind_real(&q, 4, cb_clock_boot());
  return q;
}

/* The same for OVER. */
static query ask_over(sqlite_store *s, int which, int64_t study) {
  query q = ask_time(s, which, study);
  bind_real(&q, 6, s->db.free_at);
  return q;
}

static cocabo_status damaged(const sqlite_store *s, const char *what,
                             cocabo_error *err) {
  char path[CB_SHOWN];
  return cb_fail(err, COCABO_E_STORE,
                 "cannot %s \"%s\": it is damaged: %s; restore a backup, or delete the "
                 "study",
                 s->db.what, cb_text_show(path, s->db.path), what);
}

enum { ID_BYTES = 16 };

/* Most significant byte first, whatever the machine. */
static void pack_id(const uint64_t id[2], unsigned char bytes[ID_BYTES]) {
  for (int i = 0; i < ID_BYTES; i++)
    bytes[i] = (unsigned char)(id[i / 8] >> (8 * (7 - i % 8)));
}

static void unpack_id(const unsigned char bytes[ID_BYTES], uint64_t id[2]) {
  id[0] = id[1] = 0;
  for (int i = 0; i < ID_BYTES; i++)
    id[i / 8] = id[i / 8] << 8 | bytes[i];
}

static cocabo_status find_id(sqlite_store *s, const char *name, int64_t *id,
                             cocabo_error *err) {
  query q = ask_name(s, STUDY_BY_NAME, name);
  return get_integer(&q, -1, id, err);
}

/* Also says whether the study is still there. */
static cocabo_status get_letters(sqlite_store *s, int64_t study,
                                 char letters[static COCABO_MAX_PARAMETERS + 1],
                                 cocabo_error *err) {
  query q = ask(s, LETTERS_BY_ID, study);
  const bool found = next_row(&q);
  const char *text = found ? (const char *)sqlite3_column_text(q.statement, 0) : NULL;
  const bool fits = text && strlen(text) <= COCABO_MAX_PARAMETERS;
  if (fits)
    strcpy(letters, text);
  CB_TRY(done(&q, err));
  if (!found)
    return cb_store_deleted(err);
  return fits ? COCABO_OK : damaged(s, "a study has too many parameters", err);
}

static cocabo_status check_exists(sqlite_store *s, int64_t study, cocabo_error *err) {
  char letters[COCABO_MAX_PARAMETERS + 1];
  return get_letters(s, study, letters, err);
}

/* Does the log have the event that is known where it was? */
static cocabo_status check_position(sqlite_store *s, int64_t study,
                                    const cb_position *known, cocabo_error *err) {
  unsigned char id[ID_BYTES];
  if (!cb_position_is_known(known))
    return COCABO_OK;
  pack_id(known->id, id);
  query q = ask(s, EVENT_AT, study);
  bind_integer(&q, 2, known->seq);
  const bool same = next_row(&q) && sqlite3_column_bytes(q.statement, 0) == ID_BYTES &&
                    memcmp(sqlite3_column_blob(q.statement, 0), id, ID_BYTES) == 0;
  CB_TRY(done(&q, err));
  if (same)
    return COCABO_OK;
  CB_TRY(check_exists(s, study, err));
  return cb_fail(err, COCABO_E_BUSY, "the log has lost its end");
}

/* ---- writing --------------------------------------------------------------------- */

/* What is done in one transaction; it may be done again after a failure. */
typedef cocabo_status (*inside_fn)(void *user, cocabo_error *err);

/* All or nothing. What finds no room on the disk gets it, if that can be, from the
 * write-ahead log. */
static cocabo_status transact(sqlite_store *s, bool durable, inside_fn inside,
                              void *user, cocabo_error *err) {
  for (bool again = false;; again = true) {
    cocabo_status status = cb_database_begin(&s->db, durable, err);
    if (status == COCABO_OK)
      status = cb_database_end(&s->db, inside(user, err), err);
    if (status == COCABO_OK || again || !cb_database_make_room(&s->db))
      return status;
  }
}

/* ---- appending ------------------------------------------------------------------- */

/* Where an event is in the log; seq 0: it is not. */
typedef struct place {
  int64_t seq;
  double time;
} place;

typedef struct appending {
  sqlite_store *store;
  int64_t study;
  const char *name; /* of a study to be created */
  const cb_append *what;
  place *places; /* one for each event */
  char letters[COCABO_MAX_PARAMETERS + 1];
  int64_t last_seq, next_number; /* of the log, as far as it is written */
  int64_t others_seq;            /* its last event that is not of this append */
  double time;
  cb_owners seen; /* whose leases were found */
} appending;

static bool makes_trial(const cb_event *event) {
  return event->kind == CB_TRIAL_ASKED || event->kind == CB_TRIAL_ADDED;
}

static cocabo_status find_place(const appending *a, const cb_event *event, place *out,
                                cocabo_error *err) {
  unsigned char id[ID_BYTES];
  pack_id(event->id, id);
  query q = ask(a->store, EVENT_BY_ID, a->study);
  bind_blob(&q, 2, id, sizeof id);
  *out = (place){0};
  if (next_row(&q))
    *out = (place){.seq = sqlite3_column_int64(q.statement, 0),
                   .time = sqlite3_column_double(q.statement, 1)};
  return done(&q, err);
}

static cocabo_status find_places(const appending *a, bool *all, cocabo_error *err) {
  *all = true;
  for (int i = 0; i < a->what->n; i++) {
    CB_TRY(find_place(a, &a->what->events[i], &a->places[i], err));
    *all = *all && a->places[i].seq > 0;
  }
  return COCABO_OK;
}

static cocabo_status find_end(appending *a, cocabo_error *err) {
  query seq = ask(a->store, LAST_SEQ, a->study);
  CB_TRY(get_integer(&seq, 0, &a->last_seq, err));
  a->others_seq = a->last_seq;
  query number = ask(a->store, LAST_NUMBER, a->study);
  CB_TRY(get_integer(&number, -1, &a->next_number, err));
  a->next_number++;
  return COCABO_OK;
}

/* A conflict is found by an index. One that contradicts the log would make every try
 * fail as if others were faster. */
static cocabo_status check_index(query *logged, int64_t none, int64_t indexed,
                                 cocabo_error *err) {
  sqlite_store *s = logged->store;
  char path[CB_SHOWN];
  int64_t number = 0;
  CB_TRY(get_integer(logged, none, &number, err));
  if (number == indexed)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STORE,
                 "cannot %s \"%s\": it is damaged: an index contradicts its table; "
                 "restore a backup, or make its indices anew with REINDEX of sqlite3",
                 s->db.what, cb_text_show_within(path, s->db.path, 60));
}

static cocabo_status taken(const appending *a, int64_t number, cocabo_error *err) {
  query last = ask(a->store, LOGGED_NUMBER, a->study);
  CB_TRY(check_index(&last, -1, a->next_number - 1, err));
  return cb_fail(err, COCABO_E_BUSY, "trial %lld is taken, the next is %lld",
                 (long long)number, (long long)a->next_number);
}

/* The last attempt of a trial in the log, 0 if it was never handed out again. */
static cocabo_status last_attempt(const appending *a, int64_t number, int64_t *out,
                                  cocabo_error *err) {
  query q = ask(a->store, LAST_ATTEMPT, a->study);
  bind_integer(&q, 2, number);
  return get_integer(&q, 0, out, err);
}

/* How many events of a trial, of those that `which` counts, are others' and came after
 * what the writer has seen. */
static cocabo_status count_since(const appending *a, int which, const cb_event *event,
                                 int64_t *n, cocabo_error *err) {
  *n = 0;
  if (!a->what->seen)
    return COCABO_OK;
  query q = ask(a->store, which, a->study);
  bind_integer(&q, 2, a->what->seen->seq);
  bind_integer(&q, 3, event->number);
  bind_integer(&q, 4, a->others_seq);
  if (which == OBSERVED_SINCE)
    bind_integer(&q, 5, event->attempt);
  return get_integer(&q, 0, n, err);
}

/* Does somebody other than `owner` hold it? */
static cocabo_status is_held(appending *a, int64_t number, int64_t run,
                             const char *owner, bool *held, cocabo_error *err) {
  query q = ask_over(a->store, LIVING_LEASE, a->study);
  bind_integer(&q, 5, number);
  bind_integer(&q, 7, run);
  *held = next_row(&q);
  const char *holder = *held ? (const char *)sqlite3_column_text(q.statement, 0) : NULL;
  const bool no_memory = *held && !holder;
  if (holder && owner && strcmp(holder, owner) == 0)
    *held = false;
  if (holder && cb_owners_gone(&a->seen, holder))
    *held = false;
  CB_TRY(done(&q, err));
  return no_memory ? cb_no_memory(err) : COCABO_OK;
}

/* Its owner may have renewed it after we looked. */
static cocabo_status check_stale(appending *a, const cb_event *stale,
                                 cocabo_error *err) {
  int64_t last = 0, ended = 0;
  bool held = false;
  CB_TRY(count_since(a, ENDED_SINCE, stale, &ended, err));
  if (ended > 0)
    return cb_fail(err, COCABO_E_BUSY, "trial %lld is not lost, it has ended",
                   (long long)stale->number);
  CB_TRY(last_attempt(a, stale->number, &last, err));
  if (stale->attempt < last)
    return COCABO_OK; /* the lease is that of a later attempt */
  CB_TRY(is_held(a, stale->number, CB_WHOLE_TRIAL, NULL, &held, err));
  if (held)
    return cb_fail(err, COCABO_E_BUSY, "trial %lld is not lost, its lease lives",
                   (long long)stale->number);
  return COCABO_OK;
}

/* The same of a run. Whoever is at it may discard it. */
static cocabo_status check_discarded(appending *a, const cb_event *run,
                                     cocabo_error *err) {
  int64_t observed = 0;
  bool held = false;
  CB_TRY(count_since(a, OBSERVED_SINCE, run, &observed, err));
  if (observed > 0)
    return cb_fail(err, COCABO_E_BUSY,
                   "run %lld of trial %lld is not lost, it has ended",
                   (long long)run->attempt, (long long)run->number);
  CB_TRY(is_held(a, run->number, run->attempt, a->what->owner, &held, err));
  if (held)
    return cb_fail(err, COCABO_E_BUSY,
                   "run %lld of trial %lld is not lost, its lease lives",
                   (long long)run->attempt, (long long)run->number);
  return COCABO_OK;
}

static cocabo_status check_resumed(const appending *a, const cb_event *resumed,
                                   cocabo_error *err) {
  int64_t last = 0;
  if (resumed->number >= a->next_number)
    return COCABO_OK;
  CB_TRY(last_attempt(a, resumed->number, &last, err));
  if (resumed->attempt > last)
    return COCABO_OK;
  query logged = ask(a->store, LOGGED_ATTEMPT, a->study);
  bind_integer(&logged, 2, resumed->number);
  CB_TRY(check_index(&logged, 0, last, err));
  return cb_fail(err, COCABO_E_BUSY, "attempt %lld of trial %lld is taken",
                 (long long)resumed->attempt, (long long)resumed->number);
}

static cocabo_status check_started(const appending *a, const cb_event *run,
                                   cocabo_error *err) {
  int64_t last = 0;
  if (run->number < 0 || run->number >= a->next_number)
    return cb_fail(err, COCABO_E_BUSY, "run %lld is of trial %lld, which is not there",
                   (long long)run->attempt, (long long)run->number);
  query q = ask(a->store, LAST_RUN, a->study);
  bind_integer(&q, 2, run->number);
  CB_TRY(get_integer(&q, -1, &last, err));
  if (run->attempt > last)
    return COCABO_OK;
  query logged = ask(a->store, LOGGED_RUN, a->study);
  bind_integer(&logged, 2, run->number);
  CB_TRY(check_index(&logged, -1, last, err));
  return cb_fail(err, COCABO_E_BUSY, "run %lld of trial %lld is taken",
                 (long long)run->attempt, (long long)run->number);
}

static cocabo_status check_event(appending *a, const cb_event *event,
                                 cocabo_error *err) {
  switch (event->kind) {
  case CB_TRIAL_ASKED:
  case CB_TRIAL_ADDED:
    return event->number == a->next_number ? COCABO_OK : taken(a, event->number, err);
  case CB_TRIAL_RESUMED:
    return check_resumed(a, event, err);
  case CB_TRIAL_STALE:
    return check_stale(a, event, err);
  case CB_RUN_STARTED:
    return check_started(a, event, err);
  case CB_TRIAL_OBSERVED:
    return event->outcome == CB_RUN_DISCARDED ? check_discarded(a, event, err)
                                              : COCABO_OK;
  default:
    return COCABO_OK;
  }
}

static double time_of(const appending *a, const cb_event *event) {
  return a->what->keep ? event->time : a->time;
}

static cocabo_status insert_event(const appending *a, const cb_event *event,
                                  cocabo_error *err) {
  cb_json *json = &a->store->json;
  unsigned char id[ID_BYTES];
  const bool kept = a->what->keep && event->kept;
  pack_id(event->id, id);
  if (!kept)
    CB_TRY(cb_codec_encode(json, event, a->letters, err));
  const char *body = kept ? event->kept : json->text;
  const size_t size = kept ? event->kept_size : json->length;
  query q = ask(a->store, ADD_EVENT, a->study);
  bind_integer(&q, 2, a->last_seq + 1);
  bind_blob(&q, 3, id, sizeof id);
  bind_real(&q, 4, time_of(a, event));
  bind_integer(&q, 5, event->kind);
  bind_integer(&q, 6, event->number);
  bind_integer(&q, 7, event->attempt);
  bind_text(&q, 8, body, size);
  bind_integer(&q, 9, (int64_t)cb_codec_checksum(body, size));
  return execute(&q, err);
}

static cocabo_status grant_lease(const appending *a, int64_t number, int64_t run,
                                 cocabo_error *err) {
  query q = ask_time(a->store, ADD_LEASE, a->study);
  bind_real(&q, 5, a->what->seconds);
  bind_integer(&q, 6, number);
  bind_text(&q, 7, a->what->owner, strlen(a->what->owner));
  bind_integer(&q, 8, run);
  return execute(&q, err);
}

static cocabo_status end_lease(const appending *a, int64_t number, int64_t run,
                               cocabo_error *err) {
  query q = ask(a->store, DROP_LEASE, a->study);
  bind_integer(&q, 2, number);
  bind_integer(&q, 3, run);
  return execute(&q, err);
}

static cocabo_status replace_lease(const appending *a, int64_t number, int64_t run,
                                   cocabo_error *err) {
  return a->what->owner ? grant_lease(a, number, run, err)
                        : end_lease(a, number, run, err);
}

static cocabo_status update_lease(const appending *a, const cb_event *event,
                                  cocabo_error *err) {
  const int64_t number = event->number;
  int64_t last = 0;
  switch (event->kind) {
  case CB_TRIAL_ADDED:
    return event->running ? replace_lease(a, number, CB_WHOLE_TRIAL, err) : COCABO_OK;
  case CB_TRIAL_ASKED:
  case CB_TRIAL_RESUMED:
    return replace_lease(a, number, CB_WHOLE_TRIAL, err);
  case CB_RUN_STARTED:
    CB_TRY(end_lease(a, number, CB_WHOLE_TRIAL, err));
    return replace_lease(a, number, event->attempt, err);
  case CB_TRIAL_OBSERVED:
    return end_lease(a, number, event->attempt, err);
  case CB_TRIAL_TOLD:
    return end_lease(a, number, CB_WHOLE_TRIAL, err);
  case CB_TRIAL_FAILED:
  case CB_TRIAL_INTERRUPTED:
  case CB_TRIAL_STALE: /* unless the trial is somebody else's by now */
    if (event->has_attempt || event->kind == CB_TRIAL_STALE)
      CB_TRY(last_attempt(a, number, &last, err));
    return event->attempt >= last ? end_lease(a, number, CB_WHOLE_TRIAL, err)
                                  : COCABO_OK;
  default:
    return COCABO_OK;
  }
}

static cocabo_status write_event(appending *a, int i, cocabo_error *err) {
  const cb_event *event = &a->what->events[i];
  CB_TRY(check_event(a, event, err));
  CB_TRY(insert_event(a, event, err));
  CB_TRY(update_lease(a, event, err));
  a->places[i] = (place){.seq = ++a->last_seq, .time = time_of(a, event)};
  a->next_number += makes_trial(event);
  return COCABO_OK;
}

/* Events whose id has no place yet; it may come twice in one call. */
static cocabo_status write_new(appending *a, cocabo_error *err) {
  const cb_append *what = a->what;
  CB_TRY(find_end(a, err));
  if (what->next_number >= 0 && what->next_number != a->next_number)
    return taken(a, what->next_number, err);
  CB_TRY(check_position(a->store, a->study, what->seen, err));
  for (int i = 0; i < what->n; i++) {
    if (a->places[i].seq == 0 && i > 0)
      CB_TRY(find_place(a, &what->events[i], &a->places[i], err));
    if (a->places[i].seq == 0)
      CB_TRY(write_event(a, i, err));
  }
  return COCABO_OK;
}

/* The time is that of the turn, which may have been waited for. */
static cocabo_status append_inside(void *user, cocabo_error *err) {
  appending *a = user;
  bool all = false;
  a->time = cb_clock_day();
  CB_TRY(get_letters(a->store, a->study, a->letters, err));
  CB_TRY(find_places(a, &all, err));
  return all ? COCABO_OK : write_new(a, err);
}

static cocabo_status append_events(sqlite_store *s, int64_t study,
                                   const cb_append *what, cocabo_error *err) {
  appending a = {.store = s, .study = study, .what = what};
  a.places = cb_calloc((size_t)what->n, sizeof *a.places);
  if (!a.places)
    return cb_no_memory(err);
  s->db.interrupt = what->interrupt;
  s->db.user = what->user;
  const cocabo_status status = transact(s, what->durable, append_inside, &a, err);
  s->db.interrupt = NULL;
  for (int i = 0; i < what->n && status == COCABO_OK; i++) {
    assert(a.places[i].seq > 0); /* each is in the log now, or was */
    what->events[i].seq = a.places[i].seq;
    what->events[i].time = a.places[i].time;
  }
  cb_free(a.places);
  return status;
}

/* ---- reading --------------------------------------------------------------------- */

static cocabo_status read_head(const query *q, cb_event *event, cocabo_error *err) {
  sqlite3_stmt *row = q->statement;
  event->seq = sqlite3_column_int64(row, 0);
  event->time = sqlite3_column_double(row, 2);
  const int64_t kind = sqlite3_column_int64(row, 3);
  event->number = sqlite3_column_int64(row, 4);
  event->attempt = sqlite3_column_int64(row, 5);
  event->kind = (cb_event_kind)(kind > 0 && kind < INT_MAX ? kind : 0);
  const unsigned char *id = sqlite3_column_blob(row, 1);
  if (!id || sqlite3_column_bytes(row, 1) != ID_BYTES)
    return damaged(q->store, "an event has no id", err);
  unpack_id(id, event->id);
  return COCABO_OK;
}

/* Cells are written by the letters that the study has beside its log. */
static cocabo_status check_letters(sqlite_store *s, int64_t study,
                                   const cb_event *created, cocabo_error *err) {
  char want[COCABO_MAX_PARAMETERS + 1], letters[COCABO_MAX_PARAMETERS + 1];
  cb_codec_letters(created->space, want);
  CB_TRY(get_letters(s, study, letters, err));
  return strcmp(letters, want) == 0
             ? COCABO_OK
             : damaged(s, "the letters of a study are not those of its parameters",
                       err);
}

static cocabo_status show_event(const query *q, int64_t study, cb_event_fn each,
                                void *user, cocabo_error *err) {
  cb_event event = {0};
  CB_TRY(read_head(q, &event, err));
  if (sqlite3_column_type(q->statement, 6) == SQLITE_NULL)
    return damaged(q->store, "an event has no body", err);
  const char *body = (const char *)sqlite3_column_text(q->statement, 6);
  if (!body)
    return cb_no_memory(err);
  const size_t size = (size_t)sqlite3_column_bytes(q->statement, 6);
  CB_TRY(cb_codec_decode(body, size, &event, err));
  event.kept = body;
  event.kept_size = size;
  cocabo_status status = COCABO_OK;
  if (event.kind == CB_STUDY_CREATED)
    status = check_letters(q->store, study, &event, err);
  if (status == COCABO_OK)
    status = each(user, &event, err);
  cb_event_clear(&event);
  return status;
}

static cocabo_status show_events(sqlite_store *s, int64_t study,
                                 const cb_position *from, cb_event_fn each, void *user,
                                 cocabo_error *err) {
  CB_TRY(check_position(s, study, from, err));
  query q = ask(s, EVENTS_AFTER, study);
  bind_integer(&q, 2, from->seq);
  cocabo_status status = COCABO_OK;
  bool any = false;
  while (status == COCABO_OK && next_row(&q)) {
    status = show_event(&q, study, each, user, err);
    any = true;
  }
  const cocabo_status ended = done(&q, status == COCABO_OK ? err : NULL);
  if (status == COCABO_OK)
    status = ended;
  return status == COCABO_OK && !any ? check_exists(s, study, err) : status;
}

/* Names are printed, so one that no study can have is shown as far as it can be. */
static cocabo_status show_name(const query *q, cb_name_fn each, void *user,
                               cocabo_error *err) {
  char shown[CB_SHOWN];
  if (sqlite3_column_type(q->statement, 0) == SQLITE_NULL)
    return damaged(q->store, "a study has no name", err);
  const char *name = (const char *)sqlite3_column_text(q->statement, 0);
  if (!name)
    return cb_no_memory(err);
  const bool proper = cb_name_check("name", name, NULL) == COCABO_OK;
  return each(user, proper ? name : cb_text_show(shown, name), err);
}

static cocabo_status show_names(sqlite_store *s, cb_name_fn each, void *user,
                                cocabo_error *err) {
  query q = {.store = s, .statement = cb_database_statement(&s->db, ALL_STUDIES)};
  q.answer = q.statement ? SQLITE_OK : sqlite3_errcode(s->db.handle);
  cocabo_status status = COCABO_OK;
  while (status == COCABO_OK && next_row(&q))
    status = show_name(&q, each, user, err);
  const cocabo_status ended = done(&q, status == COCABO_OK ? err : NULL);
  return status == COCABO_OK ? ended : status;
}

/* Trial, owner, whether it is over, the seconds that are left, and the run. */
static query ask_leases(sqlite_store *s, int64_t study) {
  if (s->db.version > 1)
    return ask_over(s, s->db.version > 4 ? ALL_LEASES : RUNLESS_LEASES, study);
  query q = ask(s, OLD_LEASES, study);
  bind_real(&q, 2, cb_clock_day());
  return q;
}

/* Of the row that it stands at; whether its owner is gone is left open. */
static cocabo_status read_lease(const query *q, cocabo_lease *out, cocabo_error *err) {
  *out = (cocabo_lease){.trial = sqlite3_column_int64(q->statement, 0),
                        .owner = (const char *)sqlite3_column_text(q->statement, 1),
                        .left = sqlite3_column_double(q->statement, 3),
                        .run = sqlite3_column_int64(q->statement, 4)};
  return out->owner ? COCABO_OK : cb_no_memory(err);
}

/* The leases are asked for first and shown last: as long as their statement stands at a
 * row, SQLite keeps the connection's view of the file. Where they have no row, there is
 * nothing that the events could disagree with. */
static cocabo_status show_all(sqlite_store *s, int64_t study, const cb_position *from,
                              cb_event_fn each, cb_expired_fn expired, void *user,
                              cocabo_error *err) {
  query q = ask_leases(s, study);
  cb_owners seen = {.n = 0};
  bool more = next_row(&q);
  cocabo_status status = COCABO_OK;
  if (more || q.answer == SQLITE_DONE)
    status = show_events(s, study, from, each, user, err);
  for (; status == COCABO_OK && more; more = next_row(&q)) {
    const bool over = sqlite3_column_int(q.statement, 2) != 0;
    cocabo_lease lease;
    status = read_lease(&q, &lease, err);
    if (status == COCABO_OK && (over || cb_owners_gone(&seen, lease.owner)))
      status = expired(user, lease.trial, lease.run, err);
  }
  const cocabo_status ended = done(&q, status == COCABO_OK ? err : NULL);
  return status == COCABO_OK ? ended : status;
}

static cocabo_status show_leases(sqlite_store *s, int64_t study, cocabo_lease_fn each,
                                 void *user, cocabo_error *err) {
  CB_TRY(check_exists(s, study, err));
  query q = ask_leases(s, study);
  cb_owners seen = {.n = 0};
  cocabo_status status = COCABO_OK;
  while (status == COCABO_OK && next_row(&q)) {
    cocabo_lease lease;
    status = read_lease(&q, &lease, err);
    if (status != COCABO_OK)
      break;
    lease.gone = cb_owners_gone(&seen, lease.owner);
    status = each(user, &lease, err);
  }
  const cocabo_status ended = done(&q, status == COCABO_OK ? err : NULL);
  return status == COCABO_OK ? ended : status;
}

/* ---- checking -------------------------------------------------------------------- */

static cocabo_status check_body(const query *q, int64_t *unchecked, cocabo_error *err) {
  sqlite3_stmt *row = q->statement;
  if (sqlite3_column_type(row, 3) == SQLITE_NULL) {
    ++*unchecked;
    return COCABO_OK;
  }
  const char *body = (const char *)sqlite3_column_text(row, 2);
  const size_t length = (size_t)sqlite3_column_bytes(row, 2);
  if (!body && sqlite3_column_type(row, 2) != SQLITE_NULL)
    return cb_no_memory(err);
  if (body && cb_codec_checksum(body, length) == (uint64_t)sqlite3_column_int64(row, 3))
    return COCABO_OK;
  return cb_store_damaged_event(sqlite3_column_int64(row, 0),
                                sqlite3_column_int64(row, 1), err);
}

static cocabo_status check_bodies(sqlite_store *s, int64_t study, int64_t *unchecked,
                                  cocabo_error *err) {
  query q = ask(s, EVENT_BODIES, study);
  cocabo_status status = COCABO_OK;
  while (status == COCABO_OK && next_row(&q))
    status = check_body(&q, unchecked, err);
  const cocabo_status ended = done(&q, status == COCABO_OK ? err : NULL);
  return status == COCABO_OK ? ended : status;
}

static cocabo_status check_study(sqlite_store *s, int64_t study, int64_t *unchecked,
                                 cocabo_error *err) {
  *unchecked = 0;
  CB_TRY(cb_database_check(&s->db, err));
  CB_TRY(check_exists(s, study, err));
  if (s->db.version > 2)
    return check_bodies(s, study, unchecked, err);
  query q = ask(s, COUNT_EVENTS, study); /* there are no checksums in it */
  return get_integer(&q, 0, unchecked, err);
}

/* ---- studies --------------------------------------------------------------------- */

static cocabo_status insert_study(sqlite_store *s, const char *name,
                                  const char *letters, int64_t *id, cocabo_error *err) {
  query q = ask_name(s, ADD_STUDY, name);
  bind_text(&q, 2, letters, strlen(letters));
  CB_TRY(execute(&q, err));
  *id = sqlite3_last_insert_rowid(s->db.handle);
  return COCABO_OK;
}

static cocabo_status create_inside(void *user, cocabo_error *err) {
  appending *a = user;
  a->time = cb_clock_day();
  CB_TRY(find_id(a->store, a->name, &a->study, err));
  if (a->study >= 0)
    return cb_fail(err, COCABO_E_EXISTS, "study \"%s\" exists already", a->name);
  CB_TRY(insert_study(a->store, a->name, a->letters, &a->study, err));
  a->last_seq = a->next_number = 0;
  for (int i = 0; i < a->what->n; i++) {
    const cb_event *event = &a->what->events[i];
    CB_TRY(check_event(a, event, err));
    CB_TRY(insert_event(a, event, err));
    a->last_seq++;
    a->next_number += makes_trial(event);
  }
  return COCABO_OK;
}

static cocabo_status create_study(sqlite_store *s, const char *name, cb_event *events,
                                  int n, bool keep, int64_t *id, cocabo_error *err) {
  const cb_append what = {.events = events, .n = n, .keep = keep};
  appending a = {.store = s, .name = name, .what = &what};
  if (!events->space)
    return cb_fail(err, COCABO_E_INVALID, "study \"%s\" has no space", name);
  CB_TRY(cb_store_check_readable(&s->json, events, err));
  cb_codec_letters(events->space, a.letters);
  CB_TRY(transact(s, true, create_inside, &a, err));
  for (int i = 0; i < n; i++) {
    events[i].seq = i + 1;
    events[i].time = time_of(&a, &events[i]);
  }
  *id = a.study;
  return COCABO_OK;
}

typedef struct removing {
  sqlite_store *store;
  const char *name;
} removing;

static cocabo_status remove_inside(void *user, cocabo_error *err) {
  static const int drops[] = {DROP_SUMMARY, DROP_LEASES, DROP_EVENTS, DROP_STUDY};
  const removing *r = user;
  int64_t id = -1;
  CB_TRY(find_id(r->store, r->name, &id, err));
  if (id < 0)
    return cb_store_no_study(r->name, err);
  for (size_t i = 0; i < sizeof drops / sizeof drops[0]; i++) {
    query q = ask(r->store, drops[i], id);
    CB_TRY(execute(&q, err));
  }
  return COCABO_OK;
}

/* ---- leases ---------------------------------------------------------------------- */

typedef struct renewing {
  sqlite_store *store;
  int64_t study;
  const char *owner;
  double seconds;
} renewing;

static cocabo_status renew_inside(void *user, cocabo_error *err) {
  const renewing *r = user;
  CB_TRY(check_exists(r->store, r->study, err));
  query q = ask_time(r->store, RENEW_LEASES, r->study);
  bind_real(&q, 5, r->seconds);
  bind_text(&q, 6, r->owner, strlen(r->owner));
  return execute(&q, err);
}

static cocabo_status move_back_inside(void *user, cocabo_error *err) {
  const renewing *r = user;
  query q = ask_time(r->store, MOVE_LEASES_BACK, r->study);
  bind_real(&q, 5, CB_LONGEST_LEASE);
  return execute(&q, err);
}

/* Leases of a clock that was ahead end in their own length from now on ours: whoever
 * lives renews them in time. Nobody waits for that; the next ask will do. */
static void move_leases_back(sqlite_store *s, int64_t study) {
  renewing r = {.store = s, .study = study};
  int64_t n = 0;
  if (s->db.read_only || s->db.version < 2)
    return;
  query q = ask_time(s, LEASES_AHEAD, study);
  bind_real(&q, 5, CB_LONGEST_LEASE);
  if (get_integer(&q, 0, &n, NULL) != COCABO_OK || n == 0)
    return;
  s->db.hurry = true;
  (void)transact(s, false, move_back_inside, &r, NULL);
  s->db.hurry = false;
}

/* ---- summaries ------------------------------------------------------------------- */

typedef struct summarising {
  sqlite_store *store;
  int64_t study;
  const cb_summary *summary;
} summarising;

static cocabo_status summarise_inside(void *user, cocabo_error *err) {
  const summarising *s = user;
  const cb_json *json = &s->store->json;
  CB_TRY(check_exists(s->store, s->study, err));
  query q = ask(s->store, LEAVE_SUMMARY, s->study);
  bind_integer(&q, 2, s->summary->seq);
  bind_text(&q, 3, json->text, json->length);
  return execute(&q, err);
}

/* Nobody waits for it. */
static cocabo_status leave_summary(sqlite_store *s, int64_t study,
                                   const cb_summary *summary, cocabo_error *err) {
  summarising inside = {s, study, summary};
  CB_TRY(cb_summary_encode(&s->json, summary, err));
  s->db.hurry = true;
  const cocabo_status status = transact(s, false, summarise_inside, &inside, err);
  s->db.hurry = false;
  return status;
}

static cocabo_status describe_study(sqlite_store *s, int64_t study, cb_description *out,
                                    cocabo_error *err) {
  query q = ask(s, s->db.version > 3 ? DESCRIBE : OLD_DESCRIBE, study);
  const bool found = next_row(&q);
  cb_description d = {0};
  if (found) {
    d.seq = sqlite3_column_int64(q.statement, 0);
    d.first = sqlite3_column_double(q.statement, 1);
    d.last = sqlite3_column_double(q.statement, 2);
    const char *body = (const char *)sqlite3_column_text(q.statement, 3);
    if (body)
      cb_summary_decode(body, (size_t)sqlite3_column_bytes(q.statement, 3), &d.summary);
  }
  CB_TRY(done(&q, err));
  CB_TRY(check_exists(s, study, err));
  *out = d;
  return COCABO_OK;
}

/* ---- operations ------------------------------------------------------------------ */

/* `what` is tried, for sentences. */
static cocabo_status enter(sqlite_store *s, const char *what, cocabo_error *err) {
  char path[CB_SHOWN];
  if (s->process != getpid())
    return cb_fail(err, COCABO_E_STORE,
                   "the database \"%s\" was opened before the process forked: open it "
                   "again in the child",
                   cb_text_show(path, s->db.path));
  pthread_mutex_lock(&s->lock);
  s->db.what = what;
  return COCABO_OK;
}

static cocabo_status leave(sqlite_store *s, cocabo_status status) {
  pthread_mutex_unlock(&s->lock);
  return status;
}

static cocabo_status create(cocabo_store *store, const char *name, cb_event *created,
                            int64_t *id, cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "add a study to", err));
  return leave(s, create_study(s, name, created, 1, false, id, err));
}

static cocabo_status create_log(cocabo_store *store, const char *name, cb_event *events,
                                int n, bool keep, int64_t *id, cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "add a study to", err));
  return leave(s, create_study(s, name, events, n, keep, id, err));
}

static cocabo_status find(cocabo_store *store, const char *name, int64_t *id,
                          cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  int64_t found = -1;
  CB_TRY(enter(s, "read", err));
  CB_TRY(leave(s, find_id(s, name, &found, err)));
  if (found < 0)
    return cb_store_no_study(name, err);
  *id = found;
  return COCABO_OK;
}

static cocabo_status read_since(cocabo_store *store, int64_t id,
                                const cb_position *from, cb_event_fn each,
                                cb_expired_fn expired, void *user, cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "read", err));
  if (expired)
    move_leases_back(s, id);
  return leave(s, expired ? show_all(s, id, from, each, expired, user, err)
                          : show_events(s, id, from, each, user, err));
}

static cocabo_status append(cocabo_store *store, int64_t id, const cb_append *what,
                            cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "write to", err));
  return leave(s, append_events(s, id, what, err));
}

static cocabo_status list(cocabo_store *store, cb_name_fn each, void *user,
                          cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "read", err));
  return leave(s, show_names(s, each, user, err));
}

static cocabo_status remove_study(cocabo_store *store, const char *name,
                                  cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "delete from", err));
  removing r = {.store = s, .name = name};
  return leave(s, transact(s, true, remove_inside, &r, err));
}

static cocabo_status renew_now(sqlite_store *s, renewing *r, cocabo_error *err) {
  CB_TRY(enter(s, "renew leases in", err));
  s->db.hurry = true;
  const cocabo_status status = transact(s, false, renew_inside, r, err);
  s->db.hurry = false;
  return leave(s, status);
}

/* It is done beside other work, and that shall not wait for the store because a renewal
 * does: the connection is free between two tries. */
static cocabo_status renew(cocabo_store *store, int64_t id, const char *owner,
                           double seconds, cocabo_error *err) {
  renewing r = {(sqlite_store *)store, id, owner, seconds};
  const double end = cb_clock_boot() + fmin(0.5, seconds / 15.0);
  cocabo_status status = renew_now(r.store, &r, err);
  while (status == COCABO_E_BUSY && cb_clock_boot() < end) {
    nanosleep(&(struct timespec){.tv_nsec = 3000000}, NULL);
    status = renew_now(r.store, &r, err);
  }
  return status;
}

static cocabo_status check(cocabo_store *store, int64_t id, int64_t *unchecked,
                           cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "check", err));
  return leave(s, check_study(s, id, unchecked, err));
}

static cocabo_status summarise(cocabo_store *store, int64_t id,
                               const cb_summary *summary, cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "write to", err));
  return leave(s, leave_summary(s, id, summary, err));
}

static cocabo_status describe(cocabo_store *store, int64_t id, cb_description *out,
                              cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "read", err));
  return leave(s, describe_study(s, id, out, err));
}

static cocabo_status leases(cocabo_store *store, int64_t id, cocabo_lease_fn each,
                            void *user, cocabo_error *err) {
  sqlite_store *s = (sqlite_store *)store;
  CB_TRY(enter(s, "read", err));
  return leave(s, show_leases(s, id, each, user, err));
}

/* In a forked child the connection is left alone: closing it would end the parent's. */
static void free_store(cocabo_store *store) {
  sqlite_store *s = (sqlite_store *)store;
  if (s->process == getpid()) {
    cb_database_close(&s->db);
    pthread_mutex_destroy(&s->lock);
  }
  cb_json_free(&s->json);
  cb_free(s);
}

static const cb_store_ops sqlite_ops = {
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

cocabo_status cb_sqlite_open(cocabo_store **out, const char *path, unsigned flags,
                             cb_patience patience, cocabo_error *err) {
  sqlite_store *s = cb_calloc(1, sizeof *s);
  if (!s)
    return cb_no_memory(err);
  cocabo_status status = cb_database_open(&s->db, path, flags, patience, err);
  if (status == COCABO_OK && pthread_mutex_init(&s->lock, NULL) != 0) {
    cb_database_close(&s->db);
    status = cb_no_memory(err);
  }
  if (status != COCABO_OK) {
    cb_free(s);
    return status;
  }
  s->base.ops = &sqlite_ops;
  s->db.sql = statements;
  s->process = getpid();
  cb_clock_boot_id(s->boot);
  *out = &s->base;
  return COCABO_OK;
}
