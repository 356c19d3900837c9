/* postgres.c - studies in a PostgreSQL database: the same events and leases as in a
 * SQLite file, for many machines. What is one stroke is one statement, most of them
 * calls of the functions in server_schema.c. Time is the server's.
 *
 * Asks for trials, of whoever holds a lease, are not durable: the server may lose the
 * last of them when it crashes, and then study/handed.c knows what to do. Those for
 * runs are: a result would not find its run.
 * Everything else is on the server's disk when the call returns.
 */
#include "store/postgres.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "log/codec.h"
#include "store/clock.h"
#include "store/owner.h"
#include "store/server.h"
#include "store/server_schema.h"
#include "store/store.h"
#include "store/summary.h"

/* One array of an append, as PostgreSQL reads it. */
typedef struct array_text {
  char *text; /* ends with NUL */
  size_t length, capacity;
  bool failed; /* for lack of memory */
} array_text;

typedef struct postgres_store {
  cocabo_store base;
  cb_server server;
  pthread_mutex_t lock; /* guards the server and what follows */
  array_text arrays[9]; /* memory for the events of an append */
  cb_json body;         /* and of one of them */
  int64_t study;        /* whose letters these are; -1: nobody's */
  char letters[COCABO_MAX_PARAMETERS + 1];
  double owners_at; /* when to look again who is gone */
  int n_leases;     /* there were when that was last done */
  char *gone;       /* owners that are, as an array of PostgreSQL; NULL: none */
  pid_t process;    /* that opened it */
  bool read_only;
  int64_t version; /* of its tables */
} postgres_store;

/* ---- small things ---------------------------------------------------------------- */

enum { ID_TEXT = 33 };

static const char *write_id(const uint64_t id[2], char out[static ID_TEXT]) {
  snprintf(out, ID_TEXT, "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
  return out;
}

/* A uuid as PostgreSQL writes it, with dashes. */
static void read_id(const char *text, uint64_t id[2]) {
  int n = 0;
  id[0] = id[1] = 0;
  for (; *text && n < 32; text++) {
    static const char digits[] = "0123456789abcdef";
    const char *found = strchr(digits, *text);
    if (!found)
      continue;
    id[n / 16] = id[n / 16] << 4 | (uint64_t)(found - digits);
    n++;
  }
}

static cocabo_status damaged(const postgres_store *p, const char *what,
                             cocabo_error *err) {
  return cb_fail(err, COCABO_E_STORE,
                 "cannot %s PostgreSQL at %s: it is damaged: %s; restore a backup, or "
                 "delete the study",
                 p->server.what, p->server.where, what);
}

/* One that is only read is as it was found. */
static bool knows_runs(const postgres_store *p) {
  return p->version > 1;
}

/* Runs a statement about one study, whose id is its first parameter. */
static cocabo_status run(postgres_store *p, const char *sql, const cb_params *params,
                         PGresult **rows, cocabo_error *err) {
  return cb_server_run(&p->server, sql, params, rows, err);
}

static cocabo_status need_letters(postgres_store *p, int64_t study, cocabo_error *err) {
  cb_params params = {0};
  PGresult *rows;
  if (p->study == study)
    return COCABO_OK;
  cb_params_integer(&params, study);
  CB_TRY(
      run(p, "SELECT letters FROM cocabo_studies WHERE id = $1", &params, &rows, err));
  const bool found = cb_rows_count(rows) == 1;
  const bool fits = found && cb_rows_length(rows, 0, 0) <= COCABO_MAX_PARAMETERS;
  if (fits) {
    strcpy(p->letters, cb_rows_text(rows, 0, 0));
    p->study = study;
  }
  cb_rows_free(rows);
  if (!found)
    return cb_store_deleted(err);
  return fits ? COCABO_OK : damaged(p, "a study has too many parameters", err);
}

static cocabo_status check_exists(postgres_store *p, int64_t study, cocabo_error *err) {
  p->study = -1;
  return need_letters(p, study, err);
}

/* ---- reading --------------------------------------------------------------------- */

enum { WHAT, SEQ, ID, TIME, KIND, NUMBER, ATTEMPT, BODY }; /* columns of what is read */
enum { EVENT_ROW = 0, LEASE_ROW = 1 };

/* $1 the study, $2 the last event that is known, which comes without its body, $3 how
 * many. Of a lease TIME is what is left, NUMBER its trial, ATTEMPT its run and BODY its
 * owner. Plain statements are faster than a function would be. Numbers have no gaps;
 * the second bound is for a server that has no statistics yet, and would sort all the
 * rest of the log for each part. */
#define EVENTS                                                                         \
  "SELECT 0 AS what, seq, id, time, kind, number, attempt, "                           \
  "CASE WHEN seq > $2 THEN body END AS body FROM cocabo_events "                       \
  "WHERE study = $1 AND seq >= $2 AND seq <= $2 + $3 ORDER BY seq LIMIT $3"
#define NOW "extract(epoch FROM clock_timestamp())::double precision"
static const char read_events[] = EVENTS;
#define READ_ALL(run)                                                                  \
  "SELECT * FROM (" EVENTS ") e UNION ALL SELECT * FROM ("                             \
  "SELECT 1, NULL::bigint, NULL::uuid, until - " NOW ", NULL::integer, trial, " run    \
  ", owner FROM cocabo_leases WHERE study = $1 ORDER BY 6, 7) l"
static const char read_all[] = READ_ALL("run"), read_all_old[] = READ_ALL("-1::bigint");

/* Letters say which member of a cell counts; those of the space must be the stored
 * ones.
 */
static cocabo_status check_letters(postgres_store *p, int64_t study,
                                   const cb_event *created, cocabo_error *err) {
  char letters[COCABO_MAX_PARAMETERS + 1] = "";
  CB_TRY(need_letters(p, study, err));
  if (created->space)
    cb_codec_letters(created->space, letters);
  return strcmp(letters, p->letters) == 0
             ? COCABO_OK
             : damaged(p, "the letters of a study are not those of its space", err);
}

static cocabo_status show_event(postgres_store *p, int64_t study, const PGresult *rows,
                                int i, cb_event_fn each, void *user,
                                cocabo_error *err) {
  cb_event event = {.kind = (cb_event_kind)cb_rows_integer(rows, i, KIND),
                    .seq = cb_rows_integer(rows, i, SEQ),
                    .time = cb_rows_real(rows, i, TIME),
                    .number = cb_rows_integer(rows, i, NUMBER),
                    .attempt = cb_rows_integer(rows, i, ATTEMPT)};
  read_id(cb_rows_text(rows, i, ID), event.id);
  CB_TRY(cb_codec_decode(cb_rows_text(rows, i, BODY), cb_rows_length(rows, i, BODY),
                         &event, err));
  event.kept = cb_rows_text(rows, i, BODY);
  event.kept_size = cb_rows_length(rows, i, BODY);
  cocabo_status status = COCABO_OK;
  if (event.kind == CB_STUDY_CREATED)
    status = check_letters(p, study, &event, err);
  if (status == COCABO_OK)
    status = each(user, &event, err);
  cb_event_clear(&event);
  return status;
}

/* The event that the reader knows comes first, without its body. */
static bool is_known(const PGresult *rows, int i, const cb_position *from) {
  uint64_t id[2];
  if (i >= cb_rows_count(rows) || cb_rows_integer(rows, i, WHAT) != EVENT_ROW ||
      cb_rows_integer(rows, i, SEQ) != from->seq)
    return false;
  read_id(cb_rows_text(rows, i, ID), id);
  return id[0] == from->id[0] && id[1] == from->id[1];
}

/* ---- owners that are gone -------------------------------------------------------- */

/* The owner as an item of an array of PostgreSQL: quoted. */
static cocabo_status note_gone(postgres_store *p, const char *owner,
                               cocabo_error *err) {
  const size_t before = p->gone ? strlen(p->gone) : 0;
  char *list = cb_realloc(p->gone, before + 2 * strlen(owner) + 8, 1);
  if (!list)
    return cb_no_memory(err);
  p->gone = list;
  char *to = list + (before > 0 ? before - 1 : 0); /* over the bracket */
  *to++ = before > 0 ? ',' : '{';
  *to++ = '"';
  for (const char *from = owner; *from; from++) {
    if (*from == '"' || *from == '\\')
      *to++ = '\\';
    *to++ = *from;
  }
  strcpy(to, "\"}");
  return COCABO_OK;
}

static cocabo_status show_lease(postgres_store *p, const PGresult *rows, int i,
                                cb_expired_fn expired, void *user, cocabo_error *err) {
  bool over = cb_rows_real(rows, i, TIME) <= 0.0;
  p->n_leases++;
  if (!over && cb_owner_is_gone(cb_rows_text(rows, i, BODY))) {
    CB_TRY(note_gone(p, cb_rows_text(rows, i, BODY), err));
    over = true;
  }
  return over ? expired(user, cb_rows_integer(rows, i, NUMBER),
                        cb_rows_integer(rows, i, ATTEMPT), err)
              : COCABO_OK;
}

/* Who is gone takes all leases to say: where they are many, leases are looked at twice
 * a second. */
static bool wants_leases(postgres_store *p, cb_expired_fn expired) {
  enum { MANY = 20 };
  const double now = cb_clock_boot();
  if (!expired)
    return false;
  if (p->n_leases > MANY && now < p->owners_at)
    return false;
  p->owners_at = now + 0.5;
  p->n_leases = 0;
  cb_free(p->gone);
  p->gone = NULL;
  return true;
}

/* ---- reading on ------------------------------------------------------------------ */

enum { AT_A_TIME = 5000 }; /* events of one statement */

typedef struct chunk {
  int64_t study;
  const cb_position *from;
  cb_event_fn each;
  cb_expired_fn expired;
  void *user;
  int64_t seq; /* of the last event shown */
  bool more;   /* there are others */
} chunk;

/* Where the event is not that is known, or none: is there such a study at all? */
static cocabo_status miss(postgres_store *p, const chunk *c, cocabo_error *err) {
  CB_TRY(check_exists(p, c->study, err));
  return cb_position_is_known(c->from)
             ? cb_fail(err, COCABO_E_BUSY, "the log has lost its end")
             : COCABO_OK;
}

/* Leases are shown with the last chunk, which is of the same moment. */
static cocabo_status show_chunk(postgres_store *p, chunk *c, const PGresult *rows,
                                cocabo_error *err) {
  const int n = cb_rows_count(rows);
  const bool first = c->seq == c->from->seq;
  int i = 0;
  if (first && (cb_position_is_known(c->from)
                    ? !is_known(rows, 0, c->from)
                    : n == 0 || cb_rows_integer(rows, 0, WHAT) != EVENT_ROW))
    CB_TRY(miss(p, c, err));
  for (; i < n && cb_rows_integer(rows, i, WHAT) == EVENT_ROW; i++) {
    if (cb_rows_null(rows, i, BODY))
      continue; /* it is known */
    CB_TRY(show_event(p, c->study, rows, i, c->each, c->user, err));
    c->seq = cb_rows_integer(rows, i, SEQ);
  }
  c->more = i == AT_A_TIME;
  for (; i < n && !c->more; i++)
    CB_TRY(show_lease(p, rows, i, c->expired, c->user, err));
  return COCABO_OK;
}

static cocabo_status read_log(postgres_store *p, int64_t study, const cb_position *from,
                              cb_event_fn each, cb_expired_fn expired, void *user,
                              cocabo_error *err) {
  chunk c = {.study = study,
             .from = from,
             .each = each,
             .expired = expired,
             .user = user,
             .seq = from->seq,
             .more = true};
  const bool leases = wants_leases(p, expired);
  const char *all = knows_runs(p) ? read_all : read_all_old;
  while (c.more) {
    cb_params params = {0};
    PGresult *rows;
    cb_params_integer(&params, study);
    cb_params_integer(&params, c.seq);
    cb_params_integer(&params, AT_A_TIME);
    CB_TRY(run(p, leases ? all : read_events, &params, &rows, err));
    const cocabo_status status = show_chunk(p, &c, rows, err);
    cb_rows_free(rows);
    CB_TRY(status);
  }
  return COCABO_OK;
}

/* ---- writing --------------------------------------------------------------------- */

/* The arrays of cocabo_append, in its order. */
enum { IDS, KINDS, NUMBERS, ATTEMPTS, NAMED, MARKED, BODIES, SUMS, TIMES, N_ARRAYS };
_Static_assert(N_ARRAYS == sizeof((postgres_store *)0)->arrays / sizeof(array_text),
               "every array has its memory");

static void put(array_text *to, const char *bytes, size_t n) {
  void *text = to->text;
  if (to->failed || !cb_reserve(&text, &to->capacity, to->length + n + 1, 1)) {
    to->failed = true;
    return;
  }
  to->text = text;
  memcpy(to->text + to->length, bytes, n);
  to->length += n;
  to->text[to->length] = '\0';
}

static void put_word(array_text *to, const char *word) {
  put(to, word, strlen(word));
}

static void put_integer(array_text *to, int64_t number) {
  char digits[24];
  snprintf(digits, sizeof digits, "%" PRId64, number);
  put_word(to, digits);
}

/* A text as an item: in quotes, those inside and backslashes escaped. */
static void put_quoted(array_text *to, const char *text, size_t length) {
  put_word(to, "\"");
  for (size_t i = 0; i < length; i++) {
    size_t n = 0;
    while (i + n < length && text[i + n] != '"' && text[i + n] != '\\')
      n++;
    put(to, text + i, n);
    i += n;
    if (i < length) {
      put_word(to, "\\");
      put(to, text + i, 1);
    }
  }
  put_word(to, "\"");
}

/* What the server has to know of some kinds, and only the body says. */
static bool is_marked(const cb_event *event) {
  switch (event->kind) {
  case CB_TRIAL_ADDED:
    return event->running;
  case CB_TRIAL_OBSERVED:
    return event->outcome == CB_RUN_DISCARDED;
  default:
    return false;
  }
}

/* `keep` as in cb_append. */
static cocabo_status put_event(postgres_store *p, const cb_event *event, bool keep,
                               const char *letters, cocabo_error *err) {
  array_text *arrays = p->arrays;
  char id[ID_TEXT], digits[CB_DIGITS];
  const bool kept = keep && event->kept;
  if (!kept)
    CB_TRY(cb_codec_encode(&p->body, event, letters, err));
  const char *body = kept ? event->kept : p->body.text;
  const size_t size = kept ? event->kept_size : p->body.length;
  put_word(&arrays[IDS], write_id(event->id, id));
  put_integer(&arrays[KINDS], event->kind);
  put_integer(&arrays[NUMBERS], event->number);
  put_integer(&arrays[ATTEMPTS], event->attempt);
  put_word(&arrays[NAMED], event->has_attempt ? "t" : "f");
  put_word(&arrays[MARKED], is_marked(event) ? "t" : "f");
  put_quoted(&arrays[BODIES], body, size);
  put_integer(&arrays[SUMS], (int64_t)cb_codec_checksum(body, size));
  put_word(&arrays[TIMES], keep ? cb_number_show(digits, event->time) : "NULL");
  return COCABO_OK;
}

/* The events as arrays of PostgreSQL. */
static cocabo_status put_events(postgres_store *p, const cb_event *events, int n,
                                bool keep, const char *letters, cocabo_error *err) {
  bool failed = false;
  for (int k = 0; k < N_ARRAYS; k++) {
    p->arrays[k].length = 0;
    p->arrays[k].failed = false;
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < N_ARRAYS; k++)
      put_word(&p->arrays[k], i == 0 ? "{" : ",");
    CB_TRY(put_event(p, &events[i], keep, letters, err));
  }
  for (int k = 0; k < N_ARRAYS; k++) {
    put_word(&p->arrays[k], "}");
    failed = failed || p->arrays[k].failed;
  }
  return failed ? cb_no_memory(err) : COCABO_OK;
}

static void bind_events(const postgres_store *p, cb_params *params) {
  for (int k = 0; k < N_ARRAYS; k++)
    cb_params_text(params, p->arrays[k].text);
}

static cocabo_status refuse_run(const char *problem, long long run, long long number,
                                cocabo_error *err) {
  if (strcmp(problem, "run nowhere") == 0)
    return cb_fail(err, COCABO_E_BUSY, "run %lld is of trial %lld, which is not there",
                   run, number);
  const bool taken = strcmp(problem, "run taken") == 0;
  const bool ended = strcmp(problem, "run ended") == 0;
  return cb_fail(err, COCABO_E_BUSY, "run %lld of trial %lld is %s", run, number,
                 taken   ? "taken"
                 : ended ? "not lost, it has ended"
                         : "not lost, its lease lives");
}

static cocabo_status refusal(const PGresult *rows, int i, cocabo_error *err) {
  const char *problem = cb_rows_text(rows, i, 0);
  const bool has_number = !cb_rows_null(rows, i, 1);
  const long long number = has_number ? (long long)cb_rows_integer(rows, i, 1) : -1;
  const bool has_other = !cb_rows_null(rows, i, 2);
  const long long other = has_other ? (long long)cb_rows_real(rows, i, 2) : -1;
  if (strcmp(problem, "deleted") == 0)
    return cb_store_deleted(err);
  if (strcmp(problem, "taken") == 0)
    return cb_fail(err, COCABO_E_BUSY, "trial %lld is taken, the next is %lld", number,
                   other);
  if (strcmp(problem, "attempt") == 0)
    return cb_fail(err, COCABO_E_BUSY, "attempt %lld of trial %lld is taken", other,
                   number);
  if (strcmp(problem, "ended") == 0)
    return cb_fail(err, COCABO_E_BUSY, "trial %lld is not lost, it has ended", number);
  if (strcmp(problem, "alive") == 0)
    return cb_fail(err, COCABO_E_BUSY, "trial %lld is not lost, its lease lives",
                   number);
  if (strncmp(problem, "run ", 4) == 0)
    return refuse_run(problem, other, number, err);
  return cb_fail(err, COCABO_E_BUSY, "the log has lost its end");
}

/* Rows from `first` on: where each event is, or why there are none. */
static cocabo_status take_places(postgres_store *p, const PGresult *rows, int first,
                                 cb_event *events, int n, cocabo_error *err) {
  if (cb_rows_count(rows) <= first)
    return damaged(p, "an append has no answer", err);
  if (!cb_rows_null(rows, first, 0))
    return refusal(rows, first, err);
  if (cb_rows_count(rows) != first + n)
    return damaged(p, "an append has another answer", err);
  for (int i = 0; i < n; i++) {
    events[i].seq = cb_rows_integer(rows, first + i, 1);
    events[i].time = cb_rows_real(rows, first + i, 2);
  }
  return COCABO_OK;
}

/* What may be lost when the server crashes: who holds the lease notices. A run that
 * starts may not: its result would find it gone. */
static bool may_be_lost(const cb_append *what) {
  for (int i = 0; i < what->n; i++)
    switch (what->events[i].kind) {
    case CB_TRIAL_ASKED:
    case CB_TRIAL_RESUMED:
    case CB_TRIAL_STALE:
    case CB_MODEL_FITTED:
    case CB_TRIAL_REPORTED:
      break;
    case CB_TRIAL_OBSERVED:
      if (what->events[i].outcome == CB_RUN_DISCARDED)
        break; /* it is no result */
      return false;
    default:
      return false;
    }
  return what->owner != NULL && !what->durable;
}

/* `then` ends the turn, or waits for the disk, or is NULL. */
static cocabo_status append_events(postgres_store *p, int64_t study,
                                   const cb_append *what, const char *then,
                                   cocabo_error *err) {
  cb_params params = {0};
  PGresult *rows;
  char id[ID_TEXT];
  CB_TRY(need_letters(p, study, err));
  CB_TRY(put_events(p, what->events, what->n, what->keep, p->letters, err));
  cb_params_integer(&params, study);
  cb_params_integer(&params, what->seen ? what->seen->seq : 0);
  cb_params_text(
      &params, cb_position_is_known(what->seen) ? write_id(what->seen->id, id) : NULL);
  cb_params_integer(&params, what->next_number);
  cb_params_text(&params, what->owner);
  cb_params_real(&params, what->seconds);
  cb_params_text(&params, "false");
  cb_params_text(&params, p->gone ? p->gone : "{}");
  bind_events(p, &params);
  p->server.interrupt = what->interrupt;
  p->server.user = what->user;
  const cocabo_status status = cb_server_run_then(
      &p->server,
      "SELECT * FROM cocabo_append($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, "
      "$13, $14, $15, $16, $17)",
      &params, then, &rows, err);
  p->server.interrupt = NULL;
  CB_TRY(status);
  const cocabo_status taken = take_places(p, rows, 0, what->events, what->n, err);
  cb_rows_free(rows);
  return taken;
}

/* ---- turns ----------------------------------------------------------------------- */

/* Whoever asks in its turn is in a transaction that holds a lock of its own, not the
 * study's row: tells go on. The server takes the turn from one that does not end. */
static cocabo_status take_turn(postgres_store *p, int64_t study, cocabo_error *err) {
  char sql[300];
  PGresult *rows;
  if (p->server.inside)
    return COCABO_OK;
  snprintf(sql, sizeof sql,
           "BEGIN; SELECT set_config('lock_timeout', '3s', true), "
           "set_config('idle_in_transaction_session_timeout', '20s', true); "
           "SELECT pg_advisory_xact_lock(1668244322, %d)",
           (int)(study & INT32_MAX));
  p->server.inside = true; /* a failure ends it */
  const cocabo_status status = run(p, sql, NULL, &rows, err);
  if (status != COCABO_OK)
    return status == COCABO_E_INTERRUPTED ? status : COCABO_OK;
  p->server.inside = true;
  cb_rows_free(rows);
  return COCABO_OK;
}

static cocabo_status finish_turn(postgres_store *p, const char *how,
                                 cocabo_error *err) {
  PGresult *rows;
  const cocabo_status status = run(p, how, NULL, &rows, err);
  if (status == COCABO_OK)
    cb_rows_free(rows);
  p->server.inside = false;
  return status;
}

/* A commit that waits for the disk would hold the study's row all that time, and others
 * would wait too. So an append never does; the disk is waited for by a commit of
 * nothing after it, which many share. If the server crashes in between, both are made
 * again. */
static const char flush[] =
    "SELECT CASE WHEN current_setting('synchronous_commit') = 'off' THEN "
    "set_config('synchronous_commit', 'on', true) END, "
    "pg_logical_emit_message(true, 'cocabo', '')";

static cocabo_status append_for_good(postgres_store *p, int64_t study,
                                     const cb_append *what, cocabo_error *err) {
  const bool in_turn = p->server.inside, lasting = !may_be_lost(what);
  const char *then = in_turn ? "COMMIT" : lasting ? flush : NULL;
  const cocabo_status status = append_events(p, study, what, then, err);
  p->server.inside = false;
  if (status != COCABO_OK || !in_turn || !lasting)
    return status;
  PGresult *rows;
  CB_TRY(run(p, flush, NULL, &rows, err));
  cb_rows_free(rows);
  return p->server.retried ? append_events(p, study, what, flush, err) : COCABO_OK;
}

static cocabo_status create_study(postgres_store *p, const char *name, cb_event *events,
                                  int n, bool keep, int64_t *id, cocabo_error *err) {
  char letters[COCABO_MAX_PARAMETERS + 1];
  cb_params params = {0};
  PGresult *rows;
  if (!events->space)
    return cb_fail(err, COCABO_E_INVALID, "study \"%s\" has no space", name);
  CB_TRY(cb_store_check_readable(&p->body, events, err));
  cb_codec_letters(events->space, letters);
  CB_TRY(put_events(p, events, n, keep, letters, err));
  cb_params_text(&params, name);
  cb_params_text(&params, letters);
  bind_events(p, &params);
  CB_TRY(run(
      p, "SELECT * FROM cocabo_create($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)",
      &params, &rows, err));
  /* One that is found by our own first event was made by us, if an answer was lost. */
  const char *how = cb_rows_text(rows, 0, 0);
  const bool exists =
      strcmp(how, "exists") == 0 || (strcmp(how, "found") == 0 && !p->server.retried);
  cocabo_status status =
      exists ? cb_fail(err, COCABO_E_EXISTS, "study \"%s\" exists already", name)
             : take_places(p, rows, 1, events, n, err);
  if (status == COCABO_OK)
    *id = cb_rows_integer(rows, 0, 1);
  cb_rows_free(rows);
  return status;
}

/* ---- operations ------------------------------------------------------------------ */

/* `what` is tried, for sentences. */
static cocabo_status enter(postgres_store *p, const char *what, bool writes,
                           cocabo_error *err) {
  if (p->process != getpid())
    return cb_fail(err, COCABO_E_STORE,
                   "the connection to PostgreSQL at %s was opened before the process "
                   "forked: open it again in the child",
                   p->server.where);
  if (writes && p->read_only)
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s PostgreSQL at %s: it was opened to be read only", what,
                   p->server.where);
  pthread_mutex_lock(&p->lock);
  p->server.what = what;
  return COCABO_OK;
}

static cocabo_status leave(postgres_store *p, cocabo_status status) {
  pthread_mutex_unlock(&p->lock);
  return status;
}

static cocabo_status create_log(cocabo_store *store, const char *name, cb_event *events,
                                int n, bool keep, int64_t *id, cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "add a study to", true, err));
  return leave(p, create_study(p, name, events, n, keep, id, err));
}

static cocabo_status create(cocabo_store *store, const char *name, cb_event *created,
                            int64_t *id, cocabo_error *err) {
  return create_log(store, name, created, 1, false, id, err);
}

static cocabo_status find_study(postgres_store *p, const char *name, int64_t *id,
                                cocabo_error *err) {
  cb_params params = {0};
  PGresult *rows;
  cb_params_text(&params, name);
  CB_TRY(run(p, "SELECT id FROM cocabo_studies WHERE name = $1", &params, &rows, err));
  const bool found = cb_rows_count(rows) == 1;
  if (found)
    *id = cb_rows_integer(rows, 0, 0);
  cb_rows_free(rows);
  return found ? COCABO_OK : cb_store_no_study(name, err);
}

static cocabo_status find(cocabo_store *store, const char *name, int64_t *id,
                          cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "read", false, err));
  return leave(p, find_study(p, name, id, err));
}

static cocabo_status read_since(cocabo_store *store, int64_t id,
                                const cb_position *from, cb_event_fn each,
                                cb_expired_fn expired, void *user, cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "read", false, err));
  return leave(p, read_log(p, id, from, each, expired, user, err));
}

static cocabo_status append(cocabo_store *store, int64_t id, const cb_append *what,
                            cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "write to", true, err));
  return leave(p, append_for_good(p, id, what, err));
}

/* Names are printed, so one that no study can have is shown as far as it can be. */
static cocabo_status show_names(postgres_store *p, cb_name_fn each, void *user,
                                cocabo_error *err) {
  PGresult *rows;
  CB_TRY(run(p, "SELECT name FROM cocabo_studies ORDER BY id", NULL, &rows, err));
  cocabo_status status = COCABO_OK;
  for (int i = 0; i < cb_rows_count(rows) && status == COCABO_OK; i++) {
    const char *name = cb_rows_text(rows, i, 0);
    char shown[CB_SHOWN];
    const bool proper = cb_name_check("name", name, NULL) == COCABO_OK;
    status = each(user, proper ? name : cb_text_show(shown, name), err);
  }
  cb_rows_free(rows);
  return status;
}

static cocabo_status list(cocabo_store *store, cb_name_fn each, void *user,
                          cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "read", false, err));
  return leave(p, show_names(p, each, user, err));
}

static cocabo_status drop_study(postgres_store *p, const char *name,
                                cocabo_error *err) {
  cb_params params = {0};
  PGresult *rows;
  cb_params_text(&params, name);
  CB_TRY(run(p, "DELETE FROM cocabo_studies WHERE name = $1 RETURNING id", &params,
             &rows, err));
  /* Where the answer was lost, the first try may have done it. */
  const bool done = cb_rows_count(rows) == 1 || p->server.retried;
  cb_rows_free(rows);
  return done ? COCABO_OK : cb_store_no_study(name, err);
}

static cocabo_status remove_study(cocabo_store *store, const char *name,
                                  cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "delete from", true, err));
  return leave(p, drop_study(p, name, err));
}

/* On a connection of its own, which is closed again: renewals are rare, come from
 * another thread, and a server has so many connections and no more. */
static cocabo_status renew(cocabo_store *store, int64_t id, const char *owner,
                           double seconds, cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  cb_server server;
  cb_params params = {0};
  PGresult *rows;
  cocabo_error why;
  CB_TRY(enter(p, "renew leases in", true, err));
  (void)leave(p, COCABO_OK);
  cocabo_status status =
      cb_server_open(&server, p->server.url, (cb_patience){.seconds = 1.0}, &why);
  if (status == COCABO_OK) {
    server.what = "renew leases in";
    server.hurry = true;
    cb_params_integer(&params, id);
    cb_params_text(&params, owner);
    cb_params_real(&params, seconds);
    status =
        cb_server_run(&server, "SELECT cocabo_renew($1, $2, $3)", &params, &rows, &why);
    const bool found = status == COCABO_OK && !cb_rows_null(rows, 0, 0);
    cb_rows_free(rows);
    cb_server_close(&server);
    if (status == COCABO_OK && !found)
      return cb_store_deleted(err);
  }
  return status == COCABO_OK || status == COCABO_E_NO_MEMORY
             ? status
             : cb_fail(err, COCABO_E_BUSY, "%s", why.message);
}

/* ---- checking -------------------------------------------------------------------- */

static cocabo_status check_body(const PGresult *rows, int i, int64_t *unchecked,
                                cocabo_error *err) {
  if (cb_rows_null(rows, i, 3)) {
    ++*unchecked;
    return COCABO_OK;
  }
  const uint64_t sum =
      cb_codec_checksum(cb_rows_text(rows, i, 2), cb_rows_length(rows, i, 2));
  if (sum == (uint64_t)cb_rows_integer(rows, i, 3))
    return COCABO_OK;
  return cb_store_damaged_event(cb_rows_integer(rows, i, 0),
                                cb_rows_integer(rows, i, 1), err);
}

static cocabo_status check_bodies(postgres_store *p, int64_t study, int64_t *unchecked,
                                  cocabo_error *err) {
  int64_t seq = 0;
  *unchecked = 0;
  CB_TRY(check_exists(p, study, err));
  for (bool more = true; more;) {
    cb_params params = {0};
    PGresult *rows;
    cb_params_integer(&params, study);
    cb_params_integer(&params, seq);
    cb_params_integer(&params, AT_A_TIME);
    CB_TRY(run(p,
               "SELECT seq, number, body, checksum FROM cocabo_events "
               "WHERE study = $1 AND seq > $2 ORDER BY seq LIMIT $3",
               &params, &rows, err));
    const int n = cb_rows_count(rows);
    cocabo_status status = COCABO_OK;
    for (int i = 0; i < n && status == COCABO_OK; i++)
      status = cb_rows_integer(rows, i, 0) == seq + i + 1
                   ? check_body(rows, i, unchecked, err)
                   : damaged(p, "events of a log are missing", err);
    seq += n;
    more = n == AT_A_TIME;
    cb_rows_free(rows);
    CB_TRY(status);
  }
  return COCABO_OK;
}

static cocabo_status check(cocabo_store *store, int64_t id, int64_t *unchecked,
                           cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "check", false, err));
  return leave(p, check_bodies(p, id, unchecked, err));
}

/* ---- what there is --------------------------------------------------------------- */

static cocabo_status write_summary(postgres_store *p, int64_t study,
                                   const cb_summary *summary, cocabo_error *err) {
  cb_params params = {0};
  PGresult *rows;
  cb_json_start(&p->body, err);
  CB_TRY(cb_summary_encode(&p->body, summary, err));
  char *text = cb_calloc(p->body.length + 1, 1);
  if (!text)
    return cb_no_memory(err);
  memcpy(text, p->body.text, p->body.length);
  cb_params_integer(&params, study);
  cb_params_integer(&params, summary->seq);
  cb_params_text(&params, text);
  const cocabo_status status =
      run(p,
          "UPDATE cocabo_studies SET summary_seq = $2, summary = $3 "
          "WHERE id = $1 AND summary_seq < $2 AND seq >= $2",
          &params, &rows, err);
  cb_free(text);
  CB_TRY(status);
  cb_rows_free(rows);
  return check_exists(p, study, err);
}

static cocabo_status summarise(cocabo_store *store, int64_t id,
                               const cb_summary *summary, cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "write to", true, err));
  p->server.hurry = true; /* nobody waits for it */
  const cocabo_status status =
      p->server.connection ? write_summary(p, id, summary, err)
                           : cb_fail(err, COCABO_E_BUSY, "there is no connection");
  p->server.hurry = false;
  return leave(p, status);
}

static cocabo_status read_description(postgres_store *p, int64_t study,
                                      cb_description *out, cocabo_error *err) {
  cb_params params = {0};
  PGresult *rows;
  cb_params_integer(&params, study);
  CB_TRY(run(p,
             "SELECT s.seq, s.summary, f.time, l.time FROM cocabo_studies s "
             "JOIN cocabo_events f ON f.study = s.id AND f.seq = 1 "
             "JOIN cocabo_events l ON l.study = s.id AND l.seq = s.seq "
             "WHERE s.id = $1",
             &params, &rows, err));
  *out = (cb_description){0};
  const bool found = cb_rows_count(rows) == 1;
  if (found) {
    out->seq = cb_rows_integer(rows, 0, 0);
    out->first = cb_rows_real(rows, 0, 2);
    out->last = cb_rows_real(rows, 0, 3);
    cb_summary_decode(cb_rows_text(rows, 0, 1), cb_rows_length(rows, 0, 1),
                      &out->summary);
  }
  cb_rows_free(rows);
  return found ? COCABO_OK : cb_store_deleted(err);
}

static cocabo_status describe(cocabo_store *store, int64_t id, cb_description *out,
                              cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "read", false, err));
  return leave(p, read_description(p, id, out, err));
}

static cocabo_status show_leases(postgres_store *p, int64_t study, cocabo_lease_fn each,
                                 void *user, cocabo_error *err) {
  cb_params params = {0};
  PGresult *rows;
  cb_params_integer(&params, study);
  CB_TRY(run(p,
             knows_runs(p) ? "SELECT trial, owner, until - " NOW ", run "
                             "FROM cocabo_leases WHERE study = $1 ORDER BY trial, run"
                           : "SELECT trial, owner, until - " NOW ", -1 "
                             "FROM cocabo_leases WHERE study = $1 ORDER BY trial",
             &params, &rows, err));
  cocabo_status status =
      cb_rows_count(rows) == 0 ? check_exists(p, study, err) : COCABO_OK;
  for (int i = 0; i < cb_rows_count(rows) && status == COCABO_OK; i++) {
    const cocabo_lease lease = {.trial = cb_rows_integer(rows, i, 0),
                                .owner = cb_rows_text(rows, i, 1),
                                .left = cb_rows_real(rows, i, 2),
                                .run = cb_rows_integer(rows, i, 3),
                                .gone = cb_owner_is_gone(cb_rows_text(rows, i, 1))};
    status = each(user, &lease, err);
  }
  cb_rows_free(rows);
  return status;
}

static cocabo_status leases(cocabo_store *store, int64_t id, cocabo_lease_fn each,
                            void *user, cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "read", false, err));
  return leave(p, show_leases(p, id, each, user, err));
}

static cocabo_status begin_turn(cocabo_store *store, int64_t id, cocabo_error *err) {
  postgres_store *p = (postgres_store *)store;
  CB_TRY(enter(p, "write to", true, err));
  return leave(p, take_turn(p, id, err));
}

static void end_turn(cocabo_store *store) {
  postgres_store *p = (postgres_store *)store;
  if (enter(p, "write to", true, NULL) != COCABO_OK)
    return;
  if (p->server.inside)
    (void)finish_turn(p, "ROLLBACK", NULL);
  (void)leave(p, COCABO_OK);
}

/* In a forked child the connection is left alone: closing it would end the parent's. */
static void free_store(cocabo_store *store) {
  postgres_store *p = (postgres_store *)store;
  if (p->process == getpid()) {
    cb_server_close(&p->server);
    pthread_mutex_destroy(&p->lock);
  } else {
    cb_server_forget(&p->server);
  }
  for (int k = 0; k < N_ARRAYS; k++)
    cb_free(p->arrays[k].text);
  cb_json_free(&p->body);
  cb_free(p->gone);
  cb_free(p);
}

static const cb_store_ops postgres_ops = {
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
    .begin_turn = begin_turn,
    .end_turn = end_turn,
};

cocabo_status cb_postgres_open(cocabo_store **out, const char *url, unsigned flags,
                               cb_patience patience, cocabo_error *err) {
  const bool read_only = (flags & COCABO_STORE_READ_ONLY) != 0;
  postgres_store *p = cb_calloc(1, sizeof *p);
  if (!p)
    return cb_no_memory(err);
  cocabo_status status = cb_server_open(&p->server, url, patience, err);
  if (status == COCABO_OK) {
    status = cb_server_prepare(&p->server, (flags & COCABO_STORE_CREATE) != 0,
                               read_only, &p->version, err);
    if (status == COCABO_OK && pthread_mutex_init(&p->lock, NULL) != 0)
      status = cb_no_memory(err);
    if (status != COCABO_OK)
      cb_server_close(&p->server);
  }
  if (status != COCABO_OK) {
    cb_free(p);
    return status;
  }
  p->base.ops = &postgres_ops;
  p->process = getpid();
  p->study = -1;
  p->read_only = read_only;
  *out = &p->base;
  return COCABO_OK;
}
