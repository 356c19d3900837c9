/* summary.c - see summary.h. */
#include "store/summary.h"

#include <math.h>
#include <string.h>

#include "base/text.h"

static void put_flag(cb_json *json, const char *key, bool flag) {
  if (!flag)
    return;
  cb_json_key(json, key);
  cb_json_word(json, "true");
}

cocabo_status cb_summary_encode(cb_json *json, const cb_summary *summary,
                                cocabo_error *err) {
  cb_json_start(json, err);
  cb_json_open(json, "{");
  cb_json_key(json, "version");
  cb_json_string(json, CB_VERSION);
  cb_json_key(json, "seq");
  cb_json_integer(json, summary->seq);
  cb_json_key(json, "states");
  cb_json_open(json, "[");
  for (int i = 0; i <= COCABO_STALE; i++)
    cb_json_integer(json, summary->states[i]);
  cb_json_close(json, "]");
  cb_json_key(json, "parameters");
  cb_json_integer(json, summary->parameters);
  cb_json_key(json, "direction");
  cb_json_string(json, summary->maximize ? "maximize" : "minimize");
  cb_json_key(json, "sampler");
  cb_json_string(json, summary->sampler);
  put_flag(json, "constrained", summary->constrained);
  put_flag(json, "noisy", summary->noisy);
  if (summary->best >= 0) {
    cb_json_key(json, "best");
    cb_json_open(json, "[");
    cb_json_integer(json, summary->best);
    cb_json_real(json, summary->value);
    cb_json_word(json, summary->feasible ? "true" : "false");
    cb_json_close(json, "]");
  }
  cb_json_close(json, "}");
  return json->status;
}

/* ---- reading --------------------------------------------------------------------- */

static void read_states(cb_walk *walk, cb_summary *out) {
  int n = 0;
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']'); n++)
    if (n <= COCABO_STALE)
      out->states[n] = cb_walk_integer(walk, 0, INT32_MAX);
    else
      cb_walk_fail(walk, "fewer states");
  if (n != COCABO_STALE + 1)
    cb_walk_fail(walk, "every state");
}

static void read_best(cb_walk *walk, cb_summary *out) {
  int n = 0;
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']'); n++)
    if (n == 0)
      out->best = cb_walk_integer(walk, 0, INT32_MAX);
    else if (n == 1)
      out->value = cb_walk_real(walk);
    else if (n == 2)
      out->feasible = cb_walk_bool(walk);
    else
      cb_walk_fail(walk, "a number, a value and whether it is feasible");
  if (n != 3)
    cb_walk_fail(walk, "a number, a value and whether it is feasible");
}

/* A word of its own: true if it is that one, false if it is the other. */
static bool read_which(cb_walk *walk, const char *that, const char *other) {
  char word[32] = "";
  cb_walk_text(walk, word, sizeof word);
  if (strcmp(word, that) != 0 && strcmp(word, other) != 0)
    cb_walk_fail(walk, "one of two words");
  return strcmp(word, that) == 0;
}

enum { HAS_VERSION = 1, HAS_STATES = 2, HAS_SAMPLER = 4, HAS_DIRECTION = 8 };

/* Returns which of the above it was. */
static int read_pair(cb_walk *walk, cb_summary *out) {
  char key[CB_JSON_KEY];
  cb_walk_key(walk, key);
  if (strcmp(key, "version") == 0)
    return read_which(walk, CB_VERSION, CB_VERSION) ? HAS_VERSION : 0;
  if (strcmp(key, "states") == 0) {
    read_states(walk, out);
    return HAS_STATES;
  }
  if (strcmp(key, "sampler") == 0) {
    cb_walk_text(walk, out->sampler, sizeof out->sampler);
    return HAS_SAMPLER;
  }
  if (strcmp(key, "direction") == 0) {
    out->maximize = read_which(walk, "maximize", "minimize");
    return HAS_DIRECTION;
  }
  if (strcmp(key, "seq") == 0)
    out->seq = cb_walk_integer(walk, 1, INT64_MAX);
  else if (strcmp(key, "parameters") == 0)
    out->parameters = cb_walk_integer(walk, 1, COCABO_MAX_PARAMETERS);
  else if (strcmp(key, "constrained") == 0)
    out->constrained = cb_walk_bool(walk);
  else if (strcmp(key, "noisy") == 0)
    out->noisy = cb_walk_bool(walk);
  else if (strcmp(key, "best") == 0)
    read_best(walk, out);
  else
    cb_walk_skip(walk);
  return 0;
}

/* Could a study come to that? */
static bool is_sound(const cb_summary *s) {
  int64_t trials = 0;
  for (int i = 0; i <= COCABO_STALE; i++)
    trials += s->states[i];
  return s->seq > 0 && s->parameters > 0 && s->best < trials &&
         (s->best < 0 || s->states[COCABO_COMPLETE] > 0) &&
         cb_name_check("sampler", s->sampler, NULL) == COCABO_OK;
}

void cb_summary_decode(const char *text, size_t length, cb_summary *out) {
  cb_walk walk = cb_walk_start(text, length);
  int has = 0;
  *out = (cb_summary){.best = -1, .value = NAN};
  for (cb_walk_open(&walk, '{'); cb_walk_more(&walk, '}');)
    has |= read_pair(&walk, out);
  cb_walk_end(&walk);
  if (walk.why || walk.no_memory ||
      has != (HAS_VERSION | HAS_STATES | HAS_SAMPLER | HAS_DIRECTION) || !is_sound(out))
    *out = (cb_summary){.best = -1, .value = NAN};
}
