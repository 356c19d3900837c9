/* wire.c - see wire.h. */
#include "store/wire.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "log/codec.h"

cb_walk cb_wire_walk(const char *text, size_t length) {
  cb_walk walk = {.text = text, .at = text, .end = text + length};
  if (length > CB_WIRE_MAX)
    cb_walk_fail(&walk, "a shorter text");
  return walk;
}

/* ---- codes ----------------------------------------------------------------------- */

static const struct {
  cocabo_status status;
  const char *code;
} codes[] = {{COCABO_OK, "ok"},
             {COCABO_E_INVALID, "invalid"},
             {COCABO_E_RANGE, "range"},
             {COCABO_E_STATE, "state"},
             {COCABO_E_NO_MEMORY, "no memory"},
             {COCABO_E_EXISTS, "exists"},
             {COCABO_E_NOT_FOUND, "not found"},
             {COCABO_E_STORE, "store"},
             {COCABO_E_BUSY, "busy"},
             {COCABO_E_INTERRUPTED, "interrupted"}};
enum { N_CODES = sizeof codes / sizeof codes[0] };

const char *cb_wire_code(cocabo_status status) {
  for (int i = 0; i < N_CODES; i++)
    if (codes[i].status == status)
      return codes[i].code;
  return "internal";
}

bool cb_wire_status(const char *code, cocabo_status *out) {
  for (int i = 0; i < N_CODES; i++)
    if (strcmp(codes[i].code, code) == 0) {
      *out = codes[i].status;
      return true;
    }
  *out = COCABO_E_INTERNAL;
  return strcmp(code, "internal") == 0;
}

/* ---- ids, positions and places --------------------------------------------------- */

enum { ID_DIGITS = 32, ID_TEXT = ID_DIGITS + 1 };

static void put_id(cb_json *json, const uint64_t id[2]) {
  char text[ID_TEXT];
  snprintf(text, sizeof text, "%016" PRIx64 "%016" PRIx64, id[0], id[1]);
  cb_json_string(json, text);
}

static void read_id(cb_walk *walk, uint64_t id[2]) {
  static const char digits[] = "0123456789abcdef";
  char text[ID_TEXT];
  cb_walk_text(walk, text, sizeof text);
  if (strlen(text) != ID_DIGITS || strspn(text, digits) != ID_DIGITS) {
    cb_walk_fail(walk, "the id of an event, 32 hexadecimal digits");
    return;
  }
  id[0] = id[1] = 0;
  for (int i = 0; i < ID_DIGITS; i++)
    id[i / 16] = id[i / 16] << 4 | (uint64_t)(strchr(digits, text[i]) - digits);
}

static void want_item(cb_walk *walk) {
  if (!cb_walk_more(walk, ']'))
    cb_walk_fail(walk, "a longer list");
}

static void want_end(cb_walk *walk) {
  if (cb_walk_more(walk, ']'))
    cb_walk_fail(walk, "a shorter list");
}

void cb_wire_put_position(cb_json *json, const char *key, const cb_position *position) {
  cb_json_key(json, key);
  cb_json_open(json, "[");
  cb_json_integer(json, position->seq);
  put_id(json, position->id);
  cb_json_close(json, "]");
}

cb_position cb_wire_position(cb_walk *walk) {
  cb_position position = {0};
  cb_walk_open(walk, '[');
  want_item(walk);
  position.seq = cb_walk_integer(walk, 0, INT64_MAX);
  want_item(walk);
  read_id(walk, position.id);
  want_end(walk);
  return position;
}

void cb_wire_put_places(cb_json *json, const cb_event *events, int n) {
  cb_json_key(json, "places");
  cb_json_open(json, "[");
  for (int i = 0; i < n; i++) {
    cb_json_open(json, "[");
    cb_json_integer(json, events[i].seq);
    cb_json_real(json, events[i].time);
    cb_json_close(json, "]");
  }
  cb_json_close(json, "]");
}

void cb_wire_places(cb_walk *walk, cb_event *events, int n) {
  int i = 0;
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']'); i++) {
    cb_walk_open(walk, '[');
    want_item(walk);
    const int64_t seq = cb_walk_integer(walk, 1, INT64_MAX);
    want_item(walk);
    const double time = cb_walk_real(walk);
    want_end(walk);
    if (i >= n) {
      cb_walk_fail(walk, "fewer places");
      return;
    }
    events[i].seq = seq;
    events[i].time = time;
  }
  if (i != n)
    cb_walk_fail(walk, "a place for every event");
}

/* ---- events ---------------------------------------------------------------------- */

cocabo_status cb_wire_put_event(cb_json *json, const cb_event *event, bool kept,
                                const char *letters, cb_json *body, cocabo_error *err) {
  kept = kept && event->kept;
  if (!kept)
    CB_TRY(cb_codec_encode(body, event, letters, err));
  cb_json_open(json, "{");
  cb_json_key(json, "seq");
  cb_json_integer(json, event->seq);
  cb_json_key(json, "id");
  put_id(json, event->id);
  cb_json_key(json, "time");
  cb_json_real(json, event->time);
  cb_json_key(json, "kind");
  cb_json_integer(json, event->kind);
  cb_json_key(json, "number");
  cb_json_integer(json, event->number);
  cb_json_key(json, "attempt");
  cb_json_integer(json, event->attempt);
  cb_json_key(json, "body");
  if (kept)
    cb_json_raw(json, event->kept, event->kept_size);
  else
    cb_json_raw(json, body->text, body->length);
  cb_json_close(json, "}");
  return json->status;
}

/* Past a text, or to the end. */
static const char *past_text(const char *at, const char *end) {
  for (at++; at < end && *at != '"'; at++)
    at += *at == '\\' && at + 1 < end;
  return at;
}

void cb_wire_object(cb_walk *walk, const char **text, size_t *size) {
  int depth = 0;
  *size = 0;
  cb_walk_space(walk);
  *text = walk->at;
  if (walk->why || walk->at == walk->end || *walk->at != '{') {
    cb_walk_fail(walk, "an object");
    return;
  }
  for (; walk->at < walk->end; walk->at++) {
    const char c = *walk->at;
    if (c == '"')
      walk->at = past_text(walk->at, walk->end);
    depth += (c == '{') - (c == '}');
    if (walk->at < walk->end && c == '}' && depth == 0) {
      *size = (size_t)(++walk->at - *text);
      return;
    }
    if (walk->at == walk->end)
      break;
  }
  cb_walk_fail(walk, "the end of an object");
}

enum { HAS_ID = 1, HAS_KIND = 2, HAS_NUMBER = 4, HAS_BODY = 8, HAS_ALL = 15 };

/* Returns which of the above it was. */
static int read_pair(cb_walk *walk, cb_event *out) {
  char key[CB_JSON_KEY];
  cb_walk_key(walk, key);
  if (strcmp(key, "id") == 0) {
    read_id(walk, out->id);
    return HAS_ID;
  }
  if (strcmp(key, "kind") == 0) {
    out->kind = (cb_event_kind)cb_walk_integer(walk, 1, INT32_MAX);
    return HAS_KIND;
  }
  if (strcmp(key, "number") == 0) {
    out->number = cb_walk_integer(walk, -1, INT64_MAX);
    return HAS_NUMBER;
  }
  if (strcmp(key, "body") == 0) {
    cb_wire_object(walk, &out->kept, &out->kept_size);
    return HAS_BODY;
  }
  if (strcmp(key, "attempt") == 0)
    out->attempt = cb_walk_integer(walk, 0, INT64_MAX);
  else if (strcmp(key, "seq") == 0)
    out->seq = cb_walk_integer(walk, 0, INT64_MAX);
  else if (strcmp(key, "time") == 0)
    out->time = cb_walk_real(walk);
  else
    cb_walk_skip(walk);
  return 0;
}

/* The rest of its head is filled in; decoding clears it where it fails. */
static cocabo_status read_body(cb_event *out, cocabo_error *err) {
  const char *kept = out->kept;
  const size_t size = out->kept_size;
  out->kept = NULL;
  out->kept_size = 0;
  CB_TRY(cb_codec_decode(kept, size, out, err));
  out->kept = kept;
  out->kept_size = size;
  return COCABO_OK;
}

cocabo_status cb_wire_event(cb_walk *walk, cb_event *out, cocabo_error *err) {
  int has = 0;
  *out = (cb_event){.number = -1};
  for (cb_walk_open(walk, '{'); cb_walk_more(walk, '}');) {
    const int found = read_pair(walk, out);
    if (has & found)
      cb_walk_fail(walk, "each key once");
    has |= found;
  }
  if (!walk->why && has != HAS_ALL)
    cb_walk_fail(walk, "an event with its id, kind, number and body");
  if (!walk->why && !cb_kind_is_known(out->kind) && !cb_kind_is_ignorable(out->kind))
    cb_walk_fail(walk, "an event of a kind that is known");
  if (walk->why) {
    *out = (cb_event){0};
    return COCABO_E_INVALID;
  }
  const cocabo_status status = read_body(out, err);
  if (status != COCABO_OK)
    *out = (cb_event){0};
  return status;
}

cocabo_status cb_wire_read_events(cb_walk *walk, cb_wire_events *out,
                                  cocabo_error *err) {
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']');) {
    void *items = out->items;
    if (!cb_reserve(&items, &out->capacity, out->n + 1, sizeof *out->items)) {
      cb_walk_no_memory(walk);
      return cb_no_memory(err);
    }
    out->items = items;
    const cocabo_status status = cb_wire_event(walk, &out->items[out->n], err);
    if (status != COCABO_OK) {
      if (status == COCABO_E_NO_MEMORY)
        cb_walk_no_memory(walk);
      cb_walk_fail(walk, "events");
      return status;
    }
    out->n++;
  }
  return walk->why ? COCABO_E_INVALID : COCABO_OK;
}

void cb_wire_events_free(cb_wire_events *events) {
  for (size_t i = 0; i < events->n; i++)
    cb_event_clear(&events->items[i]);
  cb_free(events->items);
  *events = (cb_wire_events){0};
}
