/* copy.c - the same log in another store.
 *
 * Logs are read and written in batches, side by side: first what the copy has already
 * is compared, then the rest is appended, then all of it is compared. A body is carried
 * as the text that the store has, so that keys of a later version survive; a store that
 * has none gets it encoded.
 */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "log/codec.h"
#include "study/study.h"

enum { BATCH = 5000, BATCH_BYTES = 4 << 20 };

/* ---- a piece of a log ------------------------------------------------------------ */

typedef struct batch {
  cb_event events[BATCH]; /* n; `kept` is owned */
  int n;
  size_t bytes; /* of their bodies */
  bool full;
} batch;

static void clear(batch *b) {
  for (int i = 0; i < b->n; i++) {
    cb_free((void *)b->events[i].kept);
    cb_event_clear(&b->events[i]);
  }
  b->n = 0;
  b->bytes = 0;
  b->full = false;
}

/* One end of the copy. */
typedef struct end {
  cocabo_store *store;
  int64_t id;
  char letters[COCABO_MAX_PARAMETERS + 1];
  cb_json json;
  batch *batch; /* what was read last */
} end;

static char *copy_text(const char *text, size_t size) {
  char *copy = cb_calloc(size + 1, 1);
  if (copy)
    memcpy(copy, text, size);
  return copy;
}

static cocabo_status take_event(end *e, const cb_event *event, cocabo_error *err) {
  batch *b = e->batch;
  const char *text = event->kept;
  size_t size = event->kept_size;
  if (event->kind == CB_STUDY_CREATED && event->space)
    cb_codec_letters(event->space, e->letters);
  if (!text) {
    CB_TRY(cb_codec_encode(&e->json, event, e->letters, err));
    text = e->json.text;
    size = e->json.length;
  }
  char *body = copy_text(text, size);
  if (!body)
    return cb_no_memory(err);
  const cocabo_status status = cb_event_copy(&b->events[b->n], event, err);
  if (status != COCABO_OK) {
    cb_free(body);
    return status;
  }
  b->events[b->n].kept = body;
  b->events[b->n].kept_size = size;
  b->n++;
  b->bytes += size;
  return COCABO_OK;
}

/* Ends the reading before the event that has no room. */
static cocabo_status gather(void *user, const cb_event *event, cocabo_error *err) {
  end *e = user;
  e->batch->full = e->batch->n == BATCH || e->batch->bytes > BATCH_BYTES;
  return e->batch->full ? COCABO_E_INTERRUPTED : take_event(e, event, err);
}

static cocabo_status read_batch(end *e, const cb_position *after, cocabo_error *err) {
  clear(e->batch);
  const cocabo_status status =
      e->store->ops->read_since(e->store, e->id, after, gather, NULL, e, err);
  return e->batch->full ? COCABO_OK : status;
}

static bool is_same(const cb_event *a, const cb_event *b) {
  return a->seq == b->seq && a->kind == b->kind && a->number == b->number &&
         a->attempt == b->attempt && memcmp(&a->time, &b->time, sizeof a->time) == 0 &&
         memcmp(a->id, b->id, sizeof a->id) == 0 && a->kept_size == b->kept_size &&
         memcmp(a->kept, b->kept, a->kept_size) == 0;
}

static cb_position place_of(const cb_event *event) {
  return (cb_position){event->seq, {event->id[0], event->id[1]}};
}

/* ---- copying --------------------------------------------------------------------- */

typedef struct copying {
  const char *name;
  end from, to;
  cb_position at; /* as far as both are the same */
  int64_t had;    /* events of the copy before anything was appended */
  int64_t begun;  /* steps of the passes before this one */
  int64_t all;    /* steps that are expected */
  cocabo_progress_fn progress;
  void *user;
} copying;

static cocabo_status say(const copying *c, cocabo_error *err) {
  const int64_t done = c->begun + c->at.seq;
  if (!c->progress || c->progress(c->user, done, done > c->all ? done : c->all) == 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INTERRUPTED,
                 "copying study \"%s\" was interrupted; the same again goes on",
                 c->name);
}

/* Compares the next batch of the copy, if there is one. Both are read in the same steps
 * as long as they are the same. *differs: the first event that is another, 0: none. */
static cocabo_status compare_batch(copying *c, bool *more, int64_t *differs,
                                   cocabo_error *err) {
  const batch *copy = c->to.batch, *log = c->from.batch;
  const cb_position at = c->at;
  CB_TRY(read_batch(&c->to, &at, err));
  *more = copy->n > 0;
  if (*more)
    CB_TRY(read_batch(&c->from, &at, err));
  for (int i = 0; i < copy->n; i++) {
    if (i >= log->n || !is_same(&copy->events[i], &log->events[i])) {
      *differs = copy->events[i].seq;
      return COCABO_OK;
    }
    c->at = place_of(&copy->events[i]);
  }
  return say(c, err);
}

static cocabo_status compare(copying *c, int64_t *differs, cocabo_error *err) {
  *differs = 0;
  c->at = (cb_position){0};
  for (bool more = true; more && *differs == 0;)
    CB_TRY(compare_batch(c, &more, differs, err));
  return COCABO_OK;
}

/* Others may write to either: to the log, and its end is copied too; or to the copy,
 * which is none then. */
static cocabo_status append_batch(copying *c, bool *more, cocabo_error *err) {
  batch *b = c->from.batch;
  CB_TRY(read_batch(&c->from, &c->at, err));
  *more = b->n > 0;
  if (!*more)
    return COCABO_OK;
  const cb_append what = {.events = b->events,
                          .n = b->n,
                          .next_number = -1,
                          .seen = &c->at,
                          .durable = true,
                          .keep = true};
  const cb_store_ops *ops = c->to.store->ops;
  const cocabo_status status = ops->append(c->to.store, c->to.id, &what, err);
  if (status == COCABO_E_BUSY)
    return cb_fail(err, COCABO_E_EXISTS,
                   "the copy of study \"%s\" has got other events: somebody works on "
                   "it",
                   c->name);
  CB_TRY(status);
  c->at = place_of(&b->events[b->n - 1]);
  return say(c, err);
}

/* The copy as far as there is one, or its beginning. */
static cocabo_status begin(copying *c, cocabo_error *err) {
  const cb_store_ops *ops = c->to.store->ops;
  int64_t differs = 0;
  batch *b = c->from.batch;
  const cocabo_status status = ops->find(c->to.store, c->name, &c->to.id, err);
  if (status == COCABO_E_NOT_FOUND) {
    CB_TRY(read_batch(&c->from, &c->at, err));
    if (b->n == 0)
      return cb_fail(err, COCABO_E_STATE, "the log of study \"%s\" is empty", c->name);
    CB_TRY(
        ops->create_log(c->to.store, c->name, b->events, b->n, true, &c->to.id, err));
    c->at = place_of(&b->events[b->n - 1]);
    return say(c, err);
  }
  CB_TRY(status);
  CB_TRY(compare(c, &differs, err));
  c->had = c->at.seq;
  if (differs == 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_EXISTS,
                 "study \"%s\" is there already with another log: event %lld is not "
                 "the same, want a copy of it or none",
                 c->name, (long long)differs);
}

static cocabo_status verify(copying *c, cocabo_error *err) {
  const int64_t last = c->at.seq;
  int64_t differs = 0;
  c->begun = last;
  CB_TRY(compare(c, &differs, err));
  if (differs == 0 && c->at.seq == last)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STORE,
                 "the copy of study \"%s\" is not the same: event %lld differs",
                 c->name, (long long)(differs ? differs : c->at.seq + 1));
}

static cocabo_status copy_log(copying *c, int64_t *copied, cocabo_error *err) {
  const cb_store_ops *ops = c->from.store->ops;
  int64_t unchecked = 0;
  cb_description d;
  CB_TRY(ops->find(c->from.store, c->name, &c->from.id, err));
  CB_TRY(ops->describe(c->from.store, c->from.id, &d, err));
  CB_TRY(ops->check(c->from.store, c->from.id, &unchecked, err));
  c->all = 2 * d.seq;
  c->to.id = -1;
  CB_TRY(begin(c, err));
  for (bool more = true; more;)
    CB_TRY(append_batch(c, &more, err));
  *copied = c->at.seq - c->had;
  if (*copied > 0)
    CB_TRY(verify(c, err));
  if (d.summary.seq == c->at.seq && c->to.store->ops->summarise)
    (void)c->to.store->ops->summarise(c->to.store, c->to.id, &d.summary, NULL);
  return COCABO_OK;
}

static void free_end(end *e) {
  if (e->batch)
    clear(e->batch);
  cb_free(e->batch);
  cb_json_free(&e->json);
}

static cocabo_status is_null(const char *what, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID, "%s is NULL", what);
}

cocabo_status cocabo_store_copy(cocabo_store *from, const char *study, cocabo_store *to,
                                cocabo_progress_fn progress, void *user,
                                int64_t *copied, cocabo_error *err) {
  if (!from)
    return is_null("from", err);
  if (!to)
    return is_null("to", err);
  CB_TRY(cb_name_check("study name", study, err));
  copying c = {.name = study, .progress = progress, .user = user};
  int64_t n = 0;
  c.from.store = from;
  c.to.store = to;
  c.from.batch = cb_calloc(1, sizeof *c.from.batch);
  c.to.batch = cb_calloc(1, sizeof *c.to.batch);
  const cocabo_status status =
      c.from.batch && c.to.batch ? copy_log(&c, &n, err) : cb_no_memory(err);
  free_end(&c.from);
  free_end(&c.to);
  if (status == COCABO_OK && copied)
    *copied = n;
  return status;
}
