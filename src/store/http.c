/* http.c - studies behind a server of cocabo's: each operation is one question in the
 * words of wire.h, which the server's own store answers. So time, conflicts and
 * durability are that store's; what is done when the answer comes is done.
 *
 * Events have ids, so that an append whose answer was lost is asked again and found.
 */
#include "store/http.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "cocabo_store.h"
#include "log/codec.h"
#include "store/link.h"
#include "store/store.h"
#include "store/summary.h"
#include "store/wire.h"

typedef struct http_store {
  cocabo_store base;
  cb_link link;
  pthread_mutex_t lock; /* guards the link and what follows */
  cb_json text;         /* memory for a question, */
  cb_json body;         /* and for an event of it */
  int64_t study;        /* whose letters these are; -1: nobody's */
  char letters[COCABO_MAX_PARAMETERS + 1];
  pid_t process; /* that opened it */
  char who[40];  /* it is, to the server, among those who take turns */
  bool turn;     /* it has one, as far as it knows */
  bool read_only;
} http_store;

/* ---- asking ---------------------------------------------------------------------- */

static void begin(http_store *h, cocabo_error *err) {
  cb_json_start(&h->text, err);
  cb_json_open(&h->text, "{");
}

static void put_integer(http_store *h, const char *key, int64_t number) {
  cb_json_key(&h->text, key);
  cb_json_integer(&h->text, number);
}

static void put_real(http_store *h, const char *key, double number) {
  cb_json_key(&h->text, key);
  cb_json_real(&h->text, number);
}

static void put_text(http_store *h, const char *key, const char *text) {
  cb_json_key(&h->text, key);
  cb_json_string(&h->text, text);
}

static void put_flag(http_store *h, const char *key, bool flag) {
  cb_json_key(&h->text, key);
  cb_json_word(&h->text, flag ? "true" : "false");
}

/* An answer that is no document of ours. */
static cocabo_status strange(const cb_link *link, cocabo_error *err) {
  const int status = link->answer.status;
  switch (status) {
  case 401:
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s http://%s: %s: want it in COCABO_TOKEN, or in a file "
                   "that --token-file or COCABO_TOKEN_FILE names",
                   link->what, link->where,
                   link->token ? "its token is another one" : "it wants a token");
  case 403:
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s http://%s: it gives no access to its store; cocabo serve "
                   "--allow-store does, by a name of its own machine or with a token",
                   link->what, link->where);
  case 404:
  case 405:
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s http://%s: it is no cocabo serve of this version (%s)",
                   link->what, link->where, CB_VERSION);
  case 413:
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s http://%s: what is sent is too much at once for it",
                   link->what, link->where);
  default:
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s http://%s: its answer has the status %d, and is none of "
                   "cocabo's",
                   link->what, link->where, status);
  }
}

/* Sentences of the store's own contract come as they are; others say where they are
 * from. */
static cocabo_status forward(const cb_link *link, cocabo_status status,
                             const char *sentence, cocabo_error *err) {
  char plain[sizeof((cocabo_error *)NULL)->message];
  size_t used = 0, size;
  for (const char *at = sentence; *at && used + 5 < sizeof plain; at += size) {
    const unsigned c = cb_text_decode(at, &size);
    const bool stray = c == CB_TEXT_STRAY && size == 1;
    if (stray || cb_text_is_control(c))
      plain[used++] = '?';
    else
      for (size_t i = 0; i < size; i++)
        plain[used++] = at[i];
  }
  plain[used] = '\0';
  if (status == COCABO_E_STORE || status == COCABO_E_INTERNAL ||
      status == COCABO_E_INTERRUPTED || status == COCABO_E_NO_MEMORY)
    return cb_fail(err, COCABO_E_STORE, "http://%s: %s", link->where, plain);
  return cb_fail(err, status, "%s", plain);
}

/* {"error":"sentence","code":"busy"} */
static cocabo_status read_failure(const cb_link *link, cocabo_error *err) {
  const cb_answer *a = &link->answer;
  cb_walk walk = cb_wire_walk(cb_answer_content(a), a->content);
  char key[CB_JSON_KEY], code[32] = "";
  char sentence[sizeof((cocabo_error *)NULL)->message] = "";
  cocabo_status status;
  for (cb_walk_open(&walk, '{'); cb_walk_more(&walk, '}');) {
    cb_walk_key(&walk, key);
    if (strcmp(key, "error") == 0)
      cb_walk_text(&walk, sentence, sizeof sentence);
    else if (strcmp(key, "code") == 0)
      cb_walk_text(&walk, code, sizeof code);
    else
      cb_walk_skip(&walk);
  }
  if (walk.why || !cb_wire_status(code, &status) || status == COCABO_OK)
    return strange(link, err);
  return forward(link, status, sentence, err);
}

/* Asks what was begun; the answer is then read with *walk. */
static cocabo_status ask_link(cb_link *link, const char *call, const cb_json *text,
                              size_t expected, cb_walk *walk, cocabo_error *err) {
  char path[160];
  snprintf(path, sizeof path, "/api/store/%s", call);
  CB_TRY(
      cb_link_ask(link, "POST", path, text->text, text->length, expected, false, err));
  if (link->answer.status != 200)
    return read_failure(link, err);
  *walk = cb_wire_walk(cb_answer_content(&link->answer), link->answer.content);
  return COCABO_OK;
}

static cocabo_status ask(http_store *h, const char *call, size_t expected,
                         cb_walk *walk, cocabo_error *err) {
  cb_json_close(&h->text, "}");
  CB_TRY(h->text.status);
  return ask_link(&h->link, call, &h->text, expected, walk, err);
}

/* The answer must have been read to its end. */
static cocabo_status finish(http_store *h, cb_walk *walk, cocabo_error *err) {
  cb_walk_end(walk);
  if (walk->no_memory)
    return cb_no_memory(err);
  if (!walk->why)
    return COCABO_OK;
  cb_link_drop(&h->link);
  return cb_fail(err, COCABO_E_STORE,
                 "cannot %s http://%s: its answer cannot be read at byte %td: want %s",
                 h->link.what, h->link.where, walk->at - walk->text, walk->why);
}

/* Moves to the value of the next key, which is one of those that are known; false: the
 * answer is over. */
static bool next_key(cb_walk *walk, const char *const *keys, int *which) {
  char key[CB_JSON_KEY];
  while (cb_walk_more(walk, '}')) {
    cb_walk_key(walk, key);
    for (*which = 0; keys[*which]; ++*which)
      if (strcmp(keys[*which], key) == 0)
        return !walk->why;
    cb_walk_skip(walk);
  }
  return false;
}

/* An answer of nothing, or of one number. */
static cocabo_status read_number(http_store *h, cb_walk *walk, const char *key,
                                 int64_t *out, cocabo_error *err) {
  const char *const keys[] = {key, NULL};
  int which, n = 0;
  for (cb_walk_open(walk, '{'); next_key(walk, keys, &which); n++)
    *out = cb_walk_integer(walk, 0, INT64_MAX);
  if (n != 1)
    cb_walk_fail(walk, "a number");
  return finish(h, walk, err);
}

static cocabo_status read_nothing(http_store *h, cb_walk *walk, cocabo_error *err) {
  const char *const keys[] = {NULL};
  int which;
  cb_walk_open(walk, '{');
  (void)next_key(walk, keys, &which);
  return finish(h, walk, err);
}

static cocabo_status begin_study(http_store *h, int64_t study, cocabo_error *err) {
  begin(h, err);
  put_integer(h, "study", study);
  return h->text.status;
}

/* ---- reading --------------------------------------------------------------------- */

/* What an answer to "read" shows. */
typedef struct page {
  cb_event_fn each;
  cb_expired_fn expired; /* NULL: they are passed over */
  void *user;
  cb_position at; /* the last event shown */
  int most;       /* events; 0: as many as the server likes */
  bool more;
} page;

static cocabo_status show_events(cb_walk *walk, page *p, cocabo_error *err) {
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']');) {
    cb_event event;
    cocabo_status status = cb_wire_event(walk, &event, err);
    if (status == COCABO_E_INVALID && walk->no_memory)
      return cb_no_memory(err);
    if (status == COCABO_E_INVALID)
      return COCABO_OK; /* the walk says why */
    CB_TRY(status);
    if (event.seq <= p->at.seq)
      cb_walk_fail(walk, "events in their order");
    else
      status = p->each(p->user, &event, err);
    p->at = (cb_position){event.seq, {event.id[0], event.id[1]}};
    cb_event_clear(&event);
    CB_TRY(status);
  }
  return COCABO_OK;
}

static cocabo_status show_expired(cb_walk *walk, const page *p, cocabo_error *err) {
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']');) {
    int64_t pair[2] = {0};
    int n = 0;
    for (cb_walk_open(walk, '['); cb_walk_more(walk, ']'); n++)
      if (n < 2)
        pair[n] = cb_walk_integer(walk, CB_WHOLE_TRIAL, INT64_MAX);
      else
        cb_walk_fail(walk, "a trial and a run");
    if (n != 2)
      cb_walk_fail(walk, "a trial and a run");
    if (!walk->why && p->expired)
      CB_TRY(p->expired(p->user, pair[0], pair[1], err));
  }
  return COCABO_OK;
}

static cocabo_status read_page(http_store *h, int64_t study, page *p,
                               cocabo_error *err) {
  static const char *const keys[] = {"events", "expired", "more", NULL};
  cb_walk walk;
  int which;
  CB_TRY(begin_study(h, study, err));
  cb_wire_put_position(&h->text, "from", &p->at);
  if (p->expired)
    put_flag(h, "leases", true);
  if (p->most > 0)
    put_integer(h, "most", p->most);
  CB_TRY(ask(h, "read", 0, &walk, err));
  p->more = false;
  for (cb_walk_open(&walk, '{'); next_key(&walk, keys, &which);)
    if (which == 0)
      CB_TRY(show_events(&walk, p, err));
    else if (which == 1)
      CB_TRY(show_expired(&walk, p, err));
    else
      p->more = cb_walk_bool(&walk);
  return finish(h, &walk, err);
}

static cocabo_status take_letters(void *user, const cb_event *created,
                                  cocabo_error *err) {
  http_store *h = user;
  if (!created->space)
    return cb_fail(err, COCABO_E_STORE, "http://%s: the log has no beginning",
                   h->link.where);
  cb_codec_letters(created->space, h->letters);
  return COCABO_OK;
}

static cocabo_status need_letters(http_store *h, int64_t study, cocabo_error *err) {
  page p = {.each = take_letters, .user = h, .most = 1};
  if (h->study == study)
    return COCABO_OK;
  h->study = -1;
  CB_TRY(read_page(h, study, &p, err));
  if (p.at.seq != 1)
    return cb_fail(err, COCABO_E_STORE, "http://%s: the log has no beginning",
                   h->link.where);
  h->study = study;
  return COCABO_OK;
}

/* Leases come with the last page, which is of the same moment. */
static cocabo_status read_log(http_store *h, int64_t study, const cb_position *from,
                              cb_event_fn each, cb_expired_fn expired, void *user,
                              cocabo_error *err) {
  page p = {.each = each, .expired = expired, .user = user, .at = *from, .more = true};
  while (p.more) {
    const int64_t before = p.at.seq;
    CB_TRY(read_page(h, study, &p, err));
    if (p.more && p.at.seq == before)
      return cb_fail(err, COCABO_E_STORE, "cannot read http://%s: it shows no events",
                     h->link.where);
  }
  return COCABO_OK;
}

/* ---- writing --------------------------------------------------------------------- */

enum { OF_A_PLACE = 64 }; /* bytes at most, in an answer */

static cocabo_status put_events(http_store *h, const cb_event *events, int n, bool keep,
                                const char *letters, cocabo_error *err) {
  put_flag(h, "keep", keep);
  cb_json_key(&h->text, "events");
  cb_json_open(&h->text, "[");
  for (int i = 0; i < n; i++)
    CB_TRY(cb_wire_put_event(&h->text, &events[i], keep, letters, &h->body, err));
  cb_json_close(&h->text, "]");
  return h->text.status;
}

static cocabo_status write_events(http_store *h, int64_t study, const cb_append *what,
                                  cocabo_error *err) {
  static const char *const keys[] = {"places", NULL};
  char call[64];
  cb_walk walk;
  int which, n = 0;
  CB_TRY(need_letters(h, study, err));
  CB_TRY(begin_study(h, study, err));
  put_integer(h, "next", what->next_number);
  if (what->seen)
    cb_wire_put_position(&h->text, "seen", what->seen);
  if (what->owner) {
    put_text(h, "owner", what->owner);
    put_real(h, "seconds", what->seconds);
  }
  put_flag(h, "durable", what->durable);
  CB_TRY(put_events(h, what->events, what->n, what->keep, h->letters, err));
  snprintf(call, sizeof call, "append%s%s", h->turn ? "?turn=" : "",
           h->turn ? h->who : "");
  CB_TRY(ask(h, call, (size_t)what->n * OF_A_PLACE, &walk, err));
  h->turn = false; /* it ends with what succeeds */
  for (cb_walk_open(&walk, '{'); next_key(&walk, keys, &which); n++)
    cb_wire_places(&walk, what->events, what->n);
  if (n != 1)
    cb_walk_fail(&walk, "places");
  return finish(h, &walk, err);
}

static cocabo_status ask_to_create(http_store *h, const char *name, cb_event *events,
                                   int n, bool keep, bool retried, int64_t *id,
                                   cocabo_error *err) {
  static const char *const keys[] = {"places", "study", NULL};
  char letters[COCABO_MAX_PARAMETERS + 1];
  cb_walk walk;
  int which, seen = 0;
  cb_codec_letters(events->space, letters);
  begin(h, err);
  put_text(h, "name", name);
  put_flag(h, "retried", retried);
  CB_TRY(put_events(h, events, n, keep, letters, err));
  CB_TRY(ask(h, "create", (size_t)n * OF_A_PLACE, &walk, err));
  for (cb_walk_open(&walk, '{'); next_key(&walk, keys, &which); seen |= 1 << which)
    if (which == 0)
      cb_wire_places(&walk, events, n);
    else
      *id = cb_walk_integer(&walk, 0, INT64_MAX);
  if (seen != 3)
    cb_walk_fail(&walk, "a study and places");
  return finish(h, &walk, err);
}

/* One that is found by our own first event was made by us, if an answer was lost. */
static cocabo_status create_study(http_store *h, const char *name, cb_event *events,
                                  int n, bool keep, int64_t *id, cocabo_error *err) {
  if (!events->space)
    return cb_fail(err, COCABO_E_INVALID, "study \"%s\" has no space", name);
  const cocabo_status status = ask_to_create(h, name, events, n, keep, false, id, err);
  return status == COCABO_E_EXISTS && h->link.retried
             ? ask_to_create(h, name, events, n, keep, true, id, err)
             : status;
}

/* ---- operations ------------------------------------------------------------------ */

static cocabo_status check_use(const http_store *h, const char *what, bool writes,
                               cocabo_error *err) {
  if (h->process != getpid())
    return cb_fail(err, COCABO_E_STORE,
                   "the connection to http://%s was opened before the process forked: "
                   "open it again in the child",
                   h->link.where);
  if (writes && h->read_only)
    return cb_fail(err, COCABO_E_STORE,
                   "cannot %s http://%s: it was opened to be read only", what,
                   h->link.where);
  return COCABO_OK;
}

/* `what` is tried, for sentences. */
static cocabo_status enter(http_store *h, const char *what, bool writes,
                           cocabo_error *err) {
  CB_TRY(check_use(h, what, writes, err));
  pthread_mutex_lock(&h->lock);
  h->link.what = what;
  return COCABO_OK;
}

static cocabo_status leave(http_store *h, cocabo_status status) {
  pthread_mutex_unlock(&h->lock);
  return status;
}

static cocabo_status create_log(cocabo_store *store, const char *name, cb_event *events,
                                int n, bool keep, int64_t *id, cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "add a study to", true, err));
  return leave(h, create_study(h, name, events, n, keep, id, err));
}

static cocabo_status create(cocabo_store *store, const char *name, cb_event *created,
                            int64_t *id, cocabo_error *err) {
  return create_log(store, name, created, 1, false, id, err);
}

static cocabo_status find_study(http_store *h, const char *name, int64_t *id,
                                cocabo_error *err) {
  cb_walk walk;
  begin(h, err);
  put_text(h, "name", name);
  CB_TRY(ask(h, "find", 0, &walk, err));
  return read_number(h, &walk, "study", id, err);
}

static cocabo_status find(cocabo_store *store, const char *name, int64_t *id,
                          cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "read", false, err));
  return leave(h, find_study(h, name, id, err));
}

static cocabo_status read_since(cocabo_store *store, int64_t id,
                                const cb_position *from, cb_event_fn each,
                                cb_expired_fn expired, void *user, cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "read", false, err));
  return leave(h, read_log(h, id, from, each, expired, user, err));
}

static cocabo_status append(cocabo_store *store, int64_t id, const cb_append *what,
                            cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "write to", true, err));
  h->link.interrupt = what->interrupt;
  h->link.user = what->user;
  const cocabo_status status = write_events(h, id, what, err);
  h->link.interrupt = NULL;
  return leave(h, status);
}

/* Names are printed, so one that no study can have is refused. */
static cocabo_status show_names(http_store *h, cb_name_fn each, void *user,
                                cocabo_error *err) {
  static const char *const keys[] = {"names", NULL};
  char name[CB_NAME_MAX + 1];
  cb_walk walk;
  int which;
  begin(h, err);
  CB_TRY(ask(h, "list", 0, &walk, err));
  for (cb_walk_open(&walk, '{'); next_key(&walk, keys, &which);)
    for (cb_walk_open(&walk, '['); cb_walk_more(&walk, ']');) {
      cb_walk_text(&walk, name, sizeof name);
      if (!walk.why && cb_name_check("name", name, NULL) != COCABO_OK)
        cb_walk_fail(&walk, "the name of a study");
      if (!walk.why)
        CB_TRY(each(user, name, err));
    }
  return finish(h, &walk, err);
}

static cocabo_status list(cocabo_store *store, cb_name_fn each, void *user,
                          cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "read", false, err));
  return leave(h, show_names(h, each, user, err));
}

static cocabo_status drop_study(http_store *h, const char *name, cocabo_error *err) {
  cb_walk walk;
  begin(h, err);
  put_text(h, "name", name);
  const cocabo_status status = ask(h, "remove", 0, &walk, err);
  if (status == COCABO_E_NOT_FOUND && h->link.retried)
    return COCABO_OK; /* the first try may have done it, and its answer was lost */
  CB_TRY(status);
  return read_nothing(h, &walk, err);
}

static cocabo_status remove_study(cocabo_store *store, const char *name,
                                  cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "delete from", true, err));
  return leave(h, drop_study(h, name, err));
}

/* On a connection of its own, which is closed again: renewals are rare and come from
 * another thread, while the lock may be held for long. What is copied never changes. */
static cocabo_status renew_on(cb_link *link, int64_t id, const char *owner,
                              double seconds, cocabo_error *err) {
  cb_json text = {0};
  cb_walk walk;
  link->what = "renew leases in";
  link->hurry = true;
  cb_json_start(&text, err);
  cb_json_open(&text, "{");
  cb_json_key(&text, "study");
  cb_json_integer(&text, id);
  cb_json_key(&text, "owner");
  cb_json_string(&text, owner);
  cb_json_key(&text, "seconds");
  cb_json_real(&text, seconds);
  cb_json_close(&text, "}");
  const cocabo_status status = text.status == COCABO_OK
                                   ? ask_link(link, "renew", &text, 0, &walk, err)
                                   : text.status;
  cb_json_free(&text);
  return status;
}

static cocabo_status renew(cocabo_store *store, int64_t id, const char *owner,
                           double seconds, cocabo_error *err) {
  http_store *h = (http_store *)store;
  cb_link link;
  cocabo_error why = {0};
  CB_TRY(check_use(h, "renew leases in", true, err));
  CB_TRY(cb_link_copy(&link, &h->link, (cb_patience){.seconds = 1.0}, err));
  const cocabo_status status = renew_on(&link, id, owner, seconds, &why);
  cb_link_close(&link);
  if (status == COCABO_OK)
    return COCABO_OK;
  const bool passing = status == COCABO_E_STORE || status == COCABO_E_INTERRUPTED;
  return cb_fail(err, passing ? COCABO_E_BUSY : status, "%s", why.message);
}

static cocabo_status check_study(http_store *h, int64_t id, int64_t *unchecked,
                                 cocabo_error *err) {
  cb_walk walk;
  CB_TRY(begin_study(h, id, err));
  CB_TRY(ask(h, "check", 0, &walk, err));
  return read_number(h, &walk, "unchecked", unchecked, err);
}

static cocabo_status check(cocabo_store *store, int64_t id, int64_t *unchecked,
                           cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "check", false, err));
  return leave(h, check_study(h, id, unchecked, err));
}

static cocabo_status write_summary(http_store *h, int64_t id, const cb_summary *summary,
                                   cocabo_error *err) {
  cb_walk walk;
  CB_TRY(cb_summary_encode(&h->body, summary, err));
  CB_TRY(begin_study(h, id, err));
  cb_json_key(&h->text, "summary");
  cb_json_raw(&h->text, h->body.text, h->body.length);
  CB_TRY(ask(h, "summarise", 0, &walk, err));
  return read_nothing(h, &walk, err);
}

static cocabo_status summarise(cocabo_store *store, int64_t id,
                               const cb_summary *summary, cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "write to", true, err));
  h->link.hurry = true; /* nobody waits for it */
  const cocabo_status status = write_summary(h, id, summary, err);
  h->link.hurry = false;
  return leave(h, status);
}

static cocabo_status read_description(http_store *h, int64_t id, cb_description *out,
                                      cocabo_error *err) {
  static const char *const keys[] = {"seq", "first", "last", "summary", NULL};
  cb_walk walk;
  int which, seen = 0;
  const char *text;
  size_t size;
  CB_TRY(begin_study(h, id, err));
  CB_TRY(ask(h, "describe", 0, &walk, err));
  *out = (cb_description){0};
  for (cb_walk_open(&walk, '{'); next_key(&walk, keys, &which); seen |= 1 << which)
    if (which == 0)
      out->seq = cb_walk_integer(&walk, 1, INT64_MAX);
    else if (which == 1)
      out->first = cb_walk_real(&walk);
    else if (which == 2)
      out->last = cb_walk_real(&walk);
    else {
      cb_wire_object(&walk, &text, &size);
      if (!walk.why)
        cb_summary_decode(text, size, &out->summary);
    }
  if ((seen & 7) != 7)
    cb_walk_fail(&walk, "a description");
  return finish(h, &walk, err);
}

static cocabo_status describe(cocabo_store *store, int64_t id, cb_description *out,
                              cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "read", false, err));
  return leave(h, read_description(h, id, out, err));
}

/* [trial,run,"owner",left,gone] */
static void read_lease(cb_walk *walk, cocabo_lease *out,
                       char owner[static CB_NAME_MAX + 1]) {
  int n = 0;
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']'); n++)
    switch (n) {
    case 0:
      out->trial = cb_walk_integer(walk, 0, INT64_MAX);
      break;
    case 1:
      out->run = cb_walk_integer(walk, CB_WHOLE_TRIAL, INT64_MAX);
      break;
    case 2:
      cb_walk_text(walk, owner, CB_NAME_MAX + 1);
      out->owner = owner;
      break;
    case 3:
      out->left = cb_walk_real(walk);
      break;
    default:
      out->gone = cb_walk_bool(walk);
    }
  if (n != 5)
    cb_walk_fail(walk, "a lease");
}

static cocabo_status show_leases(http_store *h, int64_t id, cocabo_lease_fn each,
                                 void *user, cocabo_error *err) {
  static const char *const keys[] = {"leases", NULL};
  char owner[CB_NAME_MAX + 1];
  cb_walk walk;
  int which;
  CB_TRY(begin_study(h, id, err));
  CB_TRY(ask(h, "leases", 0, &walk, err));
  for (cb_walk_open(&walk, '{'); next_key(&walk, keys, &which);)
    for (cb_walk_open(&walk, '['); cb_walk_more(&walk, ']');) {
      cocabo_lease lease = {0};
      read_lease(&walk, &lease, owner);
      if (!walk.why)
        CB_TRY(each(user, &lease, err));
    }
  return finish(h, &walk, err);
}

static cocabo_status leases(cocabo_store *store, int64_t id, cocabo_lease_fn each,
                            void *user, cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "read", false, err));
  return leave(h, show_leases(h, id, each, user, err));
}

/* ---- turns ----------------------------------------------------------------------- */

/* The server lets it wait for some seconds. Where that fails one goes on without. */
static cocabo_status take_turn(http_store *h, int64_t study, cocabo_error *err) {
  char call[120];
  cb_walk walk;
  cocabo_error why;
  begin(h, &why);
  snprintf(call, sizeof call, "turn?study=%lld&who=%s", (long long)study, h->who);
  const cocabo_status status = ask(h, call, 0, &walk, &why);
  h->turn = status == COCABO_OK;
  return status == COCABO_E_INTERRUPTED ? cb_fail(err, status, "%s", why.message)
                                        : COCABO_OK;
}

static cocabo_status begin_turn(cocabo_store *store, int64_t id, cocabo_error *err) {
  http_store *h = (http_store *)store;
  CB_TRY(enter(h, "write to", true, err));
  return leave(h, take_turn(h, id, err));
}

static void end_turn(cocabo_store *store) {
  http_store *h = (http_store *)store;
  char call[64];
  cb_walk walk;
  if (enter(h, "write to", true, NULL) != COCABO_OK)
    return;
  if (h->turn) {
    begin(h, NULL);
    snprintf(call, sizeof call, "turn?who=%s", h->who);
    h->link.hurry = true; /* it ends by itself, too */
    (void)ask(h, call, 0, &walk, NULL);
    h->link.hurry = false;
  }
  h->turn = false;
  (void)leave(h, COCABO_OK);
}

/* In a forked child only its own end of the connection is closed. */
static void free_store(cocabo_store *store) {
  http_store *h = (http_store *)store;
  if (h->process == getpid())
    pthread_mutex_destroy(&h->lock);
  cb_link_close(&h->link);
  cb_json_free(&h->text);
  cb_json_free(&h->body);
  cb_free(h);
}

static const cb_store_ops http_ops = {
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

/* ---- opening --------------------------------------------------------------------- */

/* {"store":1,...}: does it speak the same words? */
static cocabo_status greet(http_store *h, cocabo_error *err) {
  const cb_answer *a = &h->link.answer;
  static const char *const keys[] = {"store", NULL};
  int64_t version = 0;
  int which;
  CB_TRY(cb_link_ask(&h->link, "GET", "/api/store", NULL, 0, 0, true, err));
  if (a->status != 200)
    return read_failure(&h->link, err);
  cb_walk walk = cb_wire_walk(cb_answer_content(a), a->content);
  for (cb_walk_open(&walk, '{'); next_key(&walk, keys, &which);)
    version = cb_walk_integer(&walk, 1, INT32_MAX);
  CB_TRY(finish(h, &walk, err));
  if (version == CB_WIRE_VERSION)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STORE,
                 "cannot open http://%s: it is a cocabo serve of another version, want "
                 "one that speaks as %s does",
                 h->link.where, CB_VERSION);
}

static cocabo_status start(http_store *h, const char *url, cb_patience patience,
                           cocabo_error *err) {
  CB_TRY(cb_link_open(&h->link, url, patience, err));
  cocabo_status status = greet(h, err);
  if (status == COCABO_OK && pthread_mutex_init(&h->lock, NULL) != 0)
    status = cb_no_memory(err);
  if (status != COCABO_OK)
    cb_link_close(&h->link);
  return status;
}

cocabo_status cb_http_open(cocabo_store **out, const char *url, unsigned flags,
                           cb_patience patience, cocabo_error *err) {
  uint64_t chance = 0;
  http_store *h = cb_calloc(1, sizeof *h);
  if (!h)
    return cb_no_memory(err);
  h->base.ops = &http_ops;
  h->process = getpid();
  h->study = -1;
  h->read_only = (flags & COCABO_STORE_READ_ONLY) != 0;
  h->text.most = CB_WIRE_MAX;
  if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
    chance = (uintptr_t)h; /* nothing depends on it but speed */
  snprintf(h->who, sizeof h->who, "%ld-%016" PRIx64, (long)h->process, chance);
  const cocabo_status status = start(h, url, patience, err);
  if (status != COCABO_OK) {
    cb_free(h);
    return status;
  }
  *out = &h->base;
  return COCABO_OK;
}
