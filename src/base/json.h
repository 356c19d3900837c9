/* json.h - JSON: a text that grows, and a walk through one.
 *
 * There is no tree in between. Opening a study reads every event of its log, and with a
 * tree (of jansson's) that took most of the time: 220 ms for 10 000 trials of 20
 * parameters with their draws, 75 ms without. Where a tree is what is wanted,
 * json_tree.h builds one with this walk. Both directions remember the first failure and
 * do nothing from then on, so that only the end needs a check.
 */
#ifndef CB_BASE_JSON_H
#define CB_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cocabo.h"

enum {
  CB_JSON_MAX = 16 << 20, /* bytes of an event: reading one never needs much memory */
  CB_JSON_DEPTH = 100     /* lists inside each other */
};

/* ---- writing --------------------------------------------------------------------- */

/* Start with zero, or with cb_json_start to write to the same memory again. */
typedef struct cb_json {
  char *text; /* not NUL-terminated */
  size_t length, capacity;
  cocabo_status status; /* of the first failure */
  cocabo_error *err;    /* where its sentence goes; may be NULL */
  size_t most;          /* bytes that it may have; 0: CB_JSON_MAX */
} cb_json;

void cb_json_start(cb_json *json, cocabo_error *err);
void cb_json_free(cb_json *json); /* what it owns */

/* Commas come by themselves. */
void cb_json_open(cb_json *json, const char *bracket);  /* "[" or "{" */
void cb_json_close(cb_json *json, const char *bracket); /* "]" or "}" */
void cb_json_key(cb_json *json, const char *key);
void cb_json_word(cb_json *json, const char *word); /* true, false, null */
void cb_json_integer(cb_json *json, int64_t number);
/* As few digits as give the number back; it always has a point or an exponent, so that
 * 1 and 1.0 stay different. COCABO_E_INVALID if it is not finite. */
void cb_json_real(cb_json *json, double number);
/* NULL becomes null. COCABO_E_INVALID if the text is not UTF-8. */
void cb_json_string(cb_json *json, const char *text);
/* Another JSON text as it is. */
void cb_json_raw(cb_json *json, const char *text, size_t length);

/* ---- reading --------------------------------------------------------------------- */

typedef enum cb_json_type {
  CB_JSON_NOTHING, /* the end, or no JSON */
  CB_JSON_NULL,
  CB_JSON_BOOL,
  CB_JSON_INTEGER,
  CB_JSON_REAL,
  CB_JSON_STRING,
  CB_JSON_ARRAY,
  CB_JSON_OBJECT
} cb_json_type;

enum { CB_JSON_KEY = 32 }; /* buffer for a key; longer ones are refused */

typedef struct cb_walk {
  const char *text, *at, *end;
  bool first;      /* a bracket has just been opened: no comma is due */
  const char *why; /* of the first failure: what was wanted; else NULL */
  bool no_memory;  /* that was the failure */
} cb_walk;

cb_walk cb_walk_start(const char *text, size_t length);
void cb_walk_space(cb_walk *walk); /* past white space */
/* Nothing but white space may follow. */
void cb_walk_end(cb_walk *walk);
/* Remembers a failure found by the caller; `why` is static. */
void cb_walk_fail(cb_walk *walk, const char *why);
void cb_walk_no_memory(cb_walk *walk);

/*   for (cb_walk_open(w, '['); cb_walk_more(w, ']');)
 *     item(w);
 * In an object every item starts with its key. */
void cb_walk_open(cb_walk *walk, char bracket);
bool cb_walk_more(cb_walk *walk, char bracket);
void cb_walk_key(cb_walk *walk, char key[static CB_JSON_KEY]);
/* The same for keys of less than `size` > 0 bytes. */
void cb_walk_long_key(cb_walk *walk, char *key, size_t size);

cb_json_type cb_walk_peek(cb_walk *walk); /* what comes next */
int64_t cb_walk_integer(cb_walk *walk, int64_t low, int64_t high);
double cb_walk_real(cb_walk *walk); /* finite; an integer is fine */
/* A number of either type: CB_JSON_INTEGER with both values, CB_JSON_REAL with the
 * second one only, or CB_JSON_NOTHING if it is none. */
cb_json_type cb_walk_number(cb_walk *walk, int64_t *integer, double *real);
/* An integer of 64 bits if the next number is one; else false, and it stays there. */
bool cb_walk_fits_integer(cb_walk *walk, int64_t *integer);
bool cb_walk_bool(cb_walk *walk);
void cb_walk_null(cb_walk *walk);
char *cb_walk_string(cb_walk *walk); /* owned by the caller; NULL on failure */
/* A text of less than `size` > 0 bytes. */
void cb_walk_text(cb_walk *walk, char *out, size_t size);
void cb_walk_skip(cb_walk *walk); /* any value */

#endif
