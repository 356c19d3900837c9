/* door.c - see door.h. A question is read as a whole before the store is asked, and its
 * events are decoded as those of a store are: what cannot be read back is not written.
 */
#include "store/door.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "log/codec.h"
#include "store/store.h"
#include "store/summary.h"
#include "store/wire.h"

/* All that a question may say. */
typedef struct question {
  char name[CB_NAME_MAX + 1], owner[CB_NAME_MAX + 1];
  int64_t study, next, most;
  cb_position from; /* or what the writer has seen */
  double seconds;
  bool has_study, has_name, has_owner, has_from, durable, keep, leases, retried;
  cb_wire_events events;
  cb_summary summary;
} question;

typedef struct visit {
  cocabo_store *store;
  question q;
  cb_json json; /* the answer */
  cb_json body; /* memory for the body of an event */
} visit;

/* ---- reading the question -------------------------------------------------------- */

/* Names are printed. That of an owner may be empty: nobody has it. */
static void read_name(cb_walk *walk, char out[static CB_NAME_MAX + 1], bool or_empty,
                      bool *has) {
  cb_walk_text(walk, out, CB_NAME_MAX + 1);
  if (!(or_empty && !*out) && cb_name_check("name", out, NULL) != COCABO_OK)
    cb_walk_fail(walk, "a name");
  *has = true;
}

static void read_summary(cb_walk *walk, cb_summary *out) {
  const char *text;
  size_t size;
  cb_wire_object(walk, &text, &size);
  if (!walk->why)
    cb_summary_decode(text, size, out);
}

static cocabo_status read_pair(cb_walk *walk, question *q, cocabo_error *err) {
  char key[CB_JSON_KEY];
  cb_walk_key(walk, key);
  if (strcmp(key, "events") == 0 && q->events.items)
    cb_walk_fail(walk, "its events once");
  else if (strcmp(key, "events") == 0)
    return cb_wire_read_events(walk, &q->events, err);
  else if (strcmp(key, "study") == 0) {
    q->study = cb_walk_integer(walk, 0, INT64_MAX);
    q->has_study = true;
  } else if (strcmp(key, "name") == 0)
    read_name(walk, q->name, false, &q->has_name);
  else if (strcmp(key, "owner") == 0)
    read_name(walk, q->owner, true, &q->has_owner);
  else if (strcmp(key, "next") == 0)
    q->next = cb_walk_integer(walk, -1, INT64_MAX);
  else if (strcmp(key, "most") == 0)
    q->most = cb_walk_integer(walk, 1, CB_WIRE_AT_A_TIME);
  else if (strcmp(key, "from") == 0 || strcmp(key, "seen") == 0) {
    q->from = cb_wire_position(walk);
    q->has_from = true;
  } else if (strcmp(key, "seconds") == 0)
    q->seconds = cb_walk_real(walk);
  else if (strcmp(key, "durable") == 0)
    q->durable = cb_walk_bool(walk);
  else if (strcmp(key, "keep") == 0)
    q->keep = cb_walk_bool(walk);
  else if (strcmp(key, "leases") == 0)
    q->leases = cb_walk_bool(walk);
  else if (strcmp(key, "retried") == 0)
    q->retried = cb_walk_bool(walk);
  else if (strcmp(key, "summary") == 0)
    read_summary(walk, &q->summary);
  else
    cb_walk_skip(walk);
  return COCABO_OK;
}

static cocabo_status read_question(question *q, const char *text, size_t size,
                                   cocabo_error *err) {
  cb_walk walk = cb_wire_walk(text, size);
  *q = (question){
      .next = -1, .most = CB_WIRE_AT_A_TIME, .summary = {.best = -1, .value = NAN}};
  cocabo_status status = COCABO_OK;
  for (cb_walk_open(&walk, '{'); status == COCABO_OK && cb_walk_more(&walk, '}');)
    status = read_pair(&walk, q, err);
  if (status == COCABO_OK)
    cb_walk_end(&walk);
  if (walk.no_memory)
    return cb_no_memory(err);
  if (status == COCABO_E_STORE) { /* a body, which has a sentence of its own */
    const cocabo_error why = *err;
    return cb_fail(err, COCABO_E_INVALID, "%s", why.message);
  }
  return walk.why ? cb_fail(err, COCABO_E_INVALID,
                            "the content cannot be read at byte %td: want %s",
                            walk.at - walk.text, walk.why)
                  : status;
}

static cocabo_status miss(const char *what, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID, "the content has no \"%s\"", what);
}

/* ---- events ---------------------------------------------------------------------- */

/* What makes a log unreadable, beyond a body that cannot be decoded. */
static cocabo_status check_events(const question *q, bool begins, cocabo_error *err) {
  if (q->events.n == 0)
    return miss("events", err);
  for (size_t i = 0; i < q->events.n; i++) {
    const cb_event *event = &q->events.items[i];
    const bool first = begins && i == 0;
    if ((event->kind == CB_STUDY_CREATED) != first)
      return cb_fail(err, COCABO_E_INVALID,
                     "event %zu of the content is of kind %d, want %s", i,
                     (int)event->kind, first ? "the beginning of a study" : "another");
    if (q->keep && !isfinite(event->time))
      return cb_fail(err, COCABO_E_INVALID, "event %zu of the content has no time", i);
  }
  return COCABO_OK;
}

/* Where a lease is given, it is for a time that leases may last. */
static cocabo_status check_lease(const question *q, cocabo_error *err) {
  return q->has_owner ? cb_lease_check(fmax(q->seconds, 0.0), true, err) : COCABO_OK;
}

/* ---- reading --------------------------------------------------------------------- */

typedef struct reading {
  visit *v;
  const char *letters; /* NULL: not known yet */
  int n;
  bool leases;  /* some were shown, and are the list that is open */
  bool full;    /* the rest comes with the next question */
  bool unknown; /* it has to be begun again, with the letters */
  char found[COCABO_MAX_PARAMETERS + 1];
} reading;

static cocabo_status stop(bool *why) {
  *why = true;
  return COCABO_E_INTERRUPTED; /* nobody sees it */
}

/* A store that keeps no bodies has them made. */
static cocabo_status put_event(void *user, const cb_event *event, cocabo_error *err) {
  reading *r = user;
  if (r->n >= r->v->q.most || r->v->json.length >= CB_WIRE_ENOUGH)
    return stop(&r->full);
  if (!event->kept && event->n_cells > 0 && !r->letters)
    return stop(&r->unknown);
  r->n++;
  return cb_wire_put_event(&r->v->json, event, true, r->letters ? r->letters : "",
                           &r->v->body, err);
}

static cocabo_status take_letters(void *user, const cb_event *event,
                                  cocabo_error *err) {
  reading *r = user;
  (void)err;
  if (event->space) {
    cb_codec_letters(event->space, r->found);
    r->letters = r->found;
  }
  return stop(&r->unknown);
}

static cocabo_status put_expired(void *user, int64_t number, int64_t run,
                                 cocabo_error *err) {
  reading *r = user;
  cb_json *json = &r->v->json;
  (void)err;
  if (!r->leases) {
    cb_json_close(json, "]");
    cb_json_key(json, "expired");
    cb_json_open(json, "[");
    r->leases = true;
  }
  cb_json_open(json, "[");
  cb_json_integer(json, number);
  cb_json_integer(json, run);
  cb_json_close(json, "]");
  return json->status;
}

static cocabo_status read_events(visit *v, reading *r, cocabo_error *err) {
  const question *q = &v->q;
  cb_json_start(&v->json, err);
  cb_json_open(&v->json, "{");
  cb_json_key(&v->json, "events");
  cb_json_open(&v->json, "[");
  const cocabo_status status = v->store->ops->read_since(
      v->store, q->study, &q->from, put_event, q->leases ? put_expired : NULL, r, err);
  return r->full || r->unknown ? COCABO_OK : status;
}

static cocabo_status do_read(visit *v, cocabo_error *err) {
  reading r = {.v = v};
  CB_TRY(read_events(v, &r, err));
  if (r.unknown) {
    const cocabo_status status = v->store->ops->read_since(
        v->store, v->q.study, &(cb_position){0}, take_letters, NULL, &r, err);
    if (!r.letters)
      return status == COCABO_OK || status == COCABO_E_INTERRUPTED
                 ? cb_store_deleted(err)
                 : status;
    r.unknown = false;
    r.n = 0;
    CB_TRY(read_events(v, &r, err));
  }
  cb_json_close(&v->json, "]");
  cb_json_key(&v->json, "more");
  cb_json_word(&v->json, r.full ? "true" : "false");
  return COCABO_OK;
}

/* ---- writing --------------------------------------------------------------------- */

static cocabo_status do_append(visit *v, cocabo_error *err) {
  const question *q = &v->q;
  CB_TRY(check_events(q, false, err));
  CB_TRY(check_lease(q, err));
  const cb_append what = {.events = q->events.items,
                          .n = (int)q->events.n,
                          .next_number = q->next,
                          .seen = q->has_from ? &q->from : NULL,
                          .owner = q->has_owner ? q->owner : NULL,
                          .seconds = q->seconds,
                          .durable = q->durable,
                          .keep = q->keep};
  CB_TRY(v->store->ops->append(v->store, q->study, &what, err));
  cb_wire_put_places(&v->json, q->events.items, what.n);
  return COCABO_OK;
}

/* ---- creating -------------------------------------------------------------------- */

typedef struct beginning {
  const uint64_t *id; /* of an event */
  bool same;          /* the log begins with it */
  bool looked;
} beginning;

static cocabo_status look_at_first(void *user, const cb_event *event,
                                   cocabo_error *err) {
  beginning *b = user;
  (void)err;
  b->same = event->id[0] == b->id[0] && event->id[1] == b->id[1];
  return stop(&b->looked);
}

/* The answer was lost, perhaps: is the study that there is the one that it was about?
 * Its events are then found by their ids. `why` says that there is one. */
static cocabo_status find_created(visit *v, int64_t *id, const cocabo_error *why,
                                  cocabo_error *err) {
  const cb_wire_events *events = &v->q.events;
  const cb_store_ops *ops = v->store->ops;
  beginning b = {.id = events->items->id};
  CB_TRY(ops->find(v->store, v->q.name, id, err));
  const cocabo_status status =
      ops->read_since(v->store, *id, &(cb_position){0}, look_at_first, NULL, &b, err);
  if (!b.looked && status != COCABO_OK)
    return status;
  if (!b.same)
    return cb_fail(err, why->code, "%s", why->message);
  const cb_append what = {
      .events = events->items, .n = (int)events->n, .next_number = -1};
  return ops->append(v->store, *id, &what, err);
}

static cocabo_status do_create(visit *v, cocabo_error *err) {
  question *q = &v->q;
  int64_t id = 0;
  cocabo_error why;
  CB_TRY(check_events(q, true, err));
  CB_TRY(cb_store_check_readable(&v->body, q->events.items, err));
  cocabo_status status = v->store->ops->create_log(
      v->store, q->name, q->events.items, (int)q->events.n, q->keep, &id, &why);
  if (status == COCABO_E_EXISTS && q->retried)
    status = find_created(v, &id, &why, err);
  else if (status != COCABO_OK)
    status = cb_fail(err, status, "%s", why.message);
  CB_TRY(status);
  cb_json_key(&v->json, "study");
  cb_json_integer(&v->json, id);
  cb_wire_put_places(&v->json, q->events.items, (int)q->events.n);
  return COCABO_OK;
}

/* ---- the rest -------------------------------------------------------------------- */

static cocabo_status do_find(visit *v, cocabo_error *err) {
  int64_t id = 0;
  CB_TRY(v->store->ops->find(v->store, v->q.name, &id, err));
  cb_json_key(&v->json, "study");
  cb_json_integer(&v->json, id);
  return COCABO_OK;
}

static cocabo_status put_name(void *user, const char *name, cocabo_error *err) {
  visit *v = user;
  (void)err;
  cb_json_string(&v->json, name);
  return v->json.status;
}

static cocabo_status do_list(visit *v, cocabo_error *err) {
  cb_json_key(&v->json, "names");
  cb_json_open(&v->json, "[");
  CB_TRY(v->store->ops->list(v->store, put_name, v, err));
  cb_json_close(&v->json, "]");
  return COCABO_OK;
}

static cocabo_status do_remove(visit *v, cocabo_error *err) {
  return v->store->ops->remove(v->store, v->q.name, err);
}

static cocabo_status do_renew(visit *v, cocabo_error *err) {
  const question *q = &v->q;
  if (!q->has_owner)
    return miss("owner", err);
  CB_TRY(check_lease(q, err));
  return v->store->ops->renew(v->store, q->study, q->owner, q->seconds, err);
}

static cocabo_status put_lease(void *user, const cocabo_lease *lease,
                               cocabo_error *err) {
  visit *v = user;
  (void)err;
  cb_json_open(&v->json, "[");
  cb_json_integer(&v->json, lease->trial);
  cb_json_integer(&v->json, lease->run);
  cb_json_string(&v->json, lease->owner);
  cb_json_real(&v->json, lease->left);
  cb_json_word(&v->json, lease->gone ? "true" : "false");
  cb_json_close(&v->json, "]");
  return v->json.status;
}

static cocabo_status do_leases(visit *v, cocabo_error *err) {
  cb_json_key(&v->json, "leases");
  cb_json_open(&v->json, "[");
  CB_TRY(v->store->ops->leases(v->store, v->q.study, put_lease, v, err));
  cb_json_close(&v->json, "]");
  return COCABO_OK;
}

static cocabo_status do_summarise(visit *v, cocabo_error *err) {
  if (v->q.summary.seq == 0)
    return miss("summary", err);
  return v->store->ops->summarise(v->store, v->q.study, &v->q.summary, err);
}

static cocabo_status do_describe(visit *v, cocabo_error *err) {
  cb_description d;
  CB_TRY(v->store->ops->describe(v->store, v->q.study, &d, err));
  cb_json_key(&v->json, "seq");
  cb_json_integer(&v->json, d.seq);
  cb_json_key(&v->json, "first");
  cb_json_real(&v->json, d.first);
  cb_json_key(&v->json, "last");
  cb_json_real(&v->json, d.last);
  if (d.summary.seq > 0) {
    CB_TRY(cb_summary_encode(&v->body, &d.summary, err));
    cb_json_key(&v->json, "summary");
    cb_json_raw(&v->json, v->body.text, v->body.length);
  }
  return COCABO_OK;
}

static cocabo_status do_check(visit *v, cocabo_error *err) {
  int64_t unchecked = 0;
  CB_TRY(v->store->ops->check(v->store, v->q.study, &unchecked, err));
  cb_json_key(&v->json, "unchecked");
  cb_json_integer(&v->json, unchecked);
  return COCABO_OK;
}

/* ---- the door -------------------------------------------------------------------- */

static const struct {
  const char *name;
  enum { ABOUT_ALL, BY_NAME, BY_ID } about;
  cocabo_status (*answer)(visit *v, cocabo_error *err);
} calls[] = {{"append", BY_ID, do_append},      {"check", BY_ID, do_check},
             {"create", BY_NAME, do_create},    {"describe", BY_ID, do_describe},
             {"find", BY_NAME, do_find},        {"leases", BY_ID, do_leases},
             {"list", ABOUT_ALL, do_list},      {"read", BY_ID, do_read},
             {"remove", BY_NAME, do_remove},    {"renew", BY_ID, do_renew},
             {"summarise", BY_ID, do_summarise}};
enum { N_CALLS = sizeof calls / sizeof calls[0] };

int cb_door_version(void) {
  return CB_WIRE_VERSION;
}

size_t cb_door_most(void) {
  return CB_WIRE_MAX;
}

/* What has been done must also be said: the memory for it comes first. */
static cocabo_status make_room(visit *v, cocabo_error *err) {
  enum { OF_A_PLACE = 64, REST = 256 };
  void *text = v->json.text;
  if (!cb_reserve(&text, &v->json.capacity, v->q.events.n * OF_A_PLACE + REST, 1))
    return cb_no_memory(err);
  v->json.text = text;
  return COCABO_OK;
}

static cocabo_status answer(visit *v, const char *call, const char *text, size_t size,
                            cocabo_error *err) {
  int i = 0;
  while (i < N_CALLS && strcmp(calls[i].name, call) != 0)
    i++;
  if (i == N_CALLS)
    return cb_fail(err, COCABO_E_INVALID, "a store has no such call");
  CB_TRY(read_question(&v->q, text, size, err));
  if (calls[i].about == BY_ID && !v->q.has_study)
    return miss("study", err);
  if (calls[i].about == BY_NAME && !v->q.has_name)
    return miss("name", err);
  cb_json_start(&v->json, err);
  CB_TRY(make_room(v, err));
  cb_json_open(&v->json, "{");
  CB_TRY(calls[i].answer(v, err));
  cb_json_close(&v->json, "}");
  return v->json.status;
}

static void say_failure(cb_json *json, const cocabo_error *err) {
  cb_json_start(json, NULL);
  cb_json_open(json, "{");
  cb_json_key(json, "error");
  cb_json_string(json, err->message);
  cb_json_key(json, "code");
  cb_json_string(json, cb_wire_code(err->code));
  cb_json_close(json, "}");
}

cocabo_status cb_door_answer(cocabo_store *store, const char *call, const char *text,
                             size_t size, char **out, size_t *length) {
  cocabo_error err = {0};
  visit *v = cb_calloc(1, sizeof *v);
  *out = NULL;
  *length = 0;
  if (!v)
    return COCABO_E_NO_MEMORY;
  v->store = store;
  v->json.most = CB_WIRE_MAX;
  const cocabo_status status = answer(v, call, text, size, &err);
  if (status != COCABO_OK)
    say_failure(&v->json, &err);
  if (v->json.status == COCABO_OK) {
    *out = v->json.text;
    *length = v->json.length;
  } else {
    cb_json_free(&v->json);
  }
  cb_json_free(&v->body);
  cb_wire_events_free(&v->q.events);
  cb_free(v);
  return status;
}
