/* codec.c - the body of an event, written and read as JSON.
 *
 * Writing goes field by field in a fixed order and leaves out what is zero. Reading
 * takes the keys in any order, each at most once, by one table (FIELDS).
 */
#include "log/codec.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "space/expr.h"

static const char *const type_names[] = {[CB_REAL] = "float",
                                         [CB_INTEGER] = "int",
                                         [CB_CHOICE] = "choice",
                                         [CB_ORDINAL] = "ordinal"};
enum { N_TYPES = sizeof type_names / sizeof type_names[0] };

static const char RUNNING[] = "running";

static const char *const outcome_names[] = {[CB_RUN_OK] = "ok",
                                            [CB_RUN_FAILED] = "failed",
                                            [CB_RUN_CAPPED] = "capped",
                                            [CB_RUN_DISCARDED] = "discarded"};
enum { N_OUTCOMES = sizeof outcome_names / sizeof outcome_names[0] };

/* Of a report and of a run a value is called what it is. */
static bool says_value(cb_event_kind kind) {
  return kind == CB_TRIAL_REPORTED || kind == CB_TRIAL_OBSERVED;
}

/* Is it of one run of its trial? */
static bool says_run(cb_event_kind kind) {
  return kind == CB_RUN_STARTED || kind == CB_TRIAL_OBSERVED;
}

/* ---- writing --------------------------------------------------------------------- */

static void put_choice(cb_json *json, const cocabo_value *choice) {
  switch (choice->type) {
  case COCABO_NULL:
    cb_json_word(json, "null");
    break;
  case COCABO_BOOL:
    cb_json_word(json, choice->as.boolean ? "true" : "false");
    break;
  case COCABO_INT:
    cb_json_integer(json, choice->as.integer);
    break;
  case COCABO_REAL:
    cb_json_real(json, choice->as.real);
    break;
  case COCABO_TEXT:
    cb_json_string(json, choice->as.text);
    break;
  case COCABO_ABSENT: /* is no choice */
    break;
  }
}

static void put_choices(cb_json *json, const cb_param *p) {
  cb_json_key(json, "choices");
  cb_json_open(json, "[");
  for (int k = 0; k < p->n_choices; k++)
    put_choice(json, &p->choices[k]);
  cb_json_close(json, "]");
}

static void put_bound(cb_json *json, const char *key, const cb_param *p, double real,
                      int64_t integer) {
  cb_json_key(json, key);
  if (p->kind == CB_REAL)
    cb_json_real(json, real);
  else
    cb_json_integer(json, integer);
}

static void put_range(cb_json *json, const cb_param *p) {
  put_bound(json, "low", p, p->low, p->ilow);
  put_bound(json, "high", p, p->high, p->ihigh);
  if (p->step > 0.0 || p->istep > 1)
    put_bound(json, "step", p, p->step, p->istep);
  if (p->log) {
    cb_json_key(json, "log");
    cb_json_word(json, "true");
  }
}

static void put_param(cb_json *json, const cb_param *p) {
  cb_json_open(json, "{");
  cb_json_key(json, "name");
  cb_json_string(json, p->name);
  cb_json_key(json, "type");
  cb_json_string(json, type_names[p->kind]);
  if (p->kind == CB_REAL || p->kind == CB_INTEGER)
    put_range(json, p);
  else
    put_choices(json, p);
  if (p->condition) {
    cb_json_key(json, "if");
    cb_json_string(json, cb_expr_text(p->condition));
  }
  cb_json_close(json, "}");
}

static void put_space(cb_json *json, const cocabo_space *space) {
  if (!space)
    return;
  cb_json_key(json, "space");
  cb_json_open(json, "[");
  for (int i = 0; i < space->n; i++)
    put_param(json, &space->params[i]);
  cb_json_close(json, "]");
  if (space->n_rules == 0)
    return;
  cb_json_key(json, "where");
  cb_json_open(json, "[");
  for (int k = 0; k < space->n_rules; k++)
    cb_json_string(json, cb_expr_text(space->rules[k]));
  cb_json_close(json, "]");
}

static void put_pairs(cb_json *json, const char *key, int n, const cb_pair *pairs) {
  if (n == 0)
    return;
  cb_json_key(json, key);
  cb_json_open(json, "[");
  for (int i = 0; i < n; i++) {
    cb_json_open(json, "[");
    cb_json_string(json, pairs[i].name);
    cb_json_string(json, pairs[i].value);
    cb_json_close(json, "]");
  }
  cb_json_close(json, "]");
}

static void put_cells(cb_json *json, const cb_event *event, const char *letters) {
  if (event->n_cells == 0)
    return;
  cb_json_key(json, "cells");
  cb_json_open(json, "[");
  for (int i = 0; i < event->n_cells; i++)
    if (!cb_cell_is_active(event->cells[i]))
      cb_json_word(json, "null");
    else if (letters[i] == 'r')
      cb_json_real(json, event->cells[i].real);
    else
      cb_json_integer(json, event->cells[i].integer);
  cb_json_close(json, "]");
}

static void put_count(cb_json *json, const char *key, int64_t count) {
  if (count == 0)
    return;
  cb_json_key(json, key);
  cb_json_integer(json, count);
}

static void put_text(cb_json *json, const char *key, const char *text) {
  if (!text)
    return;
  cb_json_key(json, key);
  cb_json_string(json, text);
}

static void put_batch(cb_json *json, const cb_provenance *p) {
  if (p->batch_first == 0 && p->batch_size == 0 && p->batch_index == 0)
    return;
  cb_json_key(json, "batch");
  cb_json_open(json, "[");
  cb_json_integer(json, p->batch_first);
  cb_json_integer(json, p->batch_size);
  cb_json_integer(json, p->batch_index);
  cb_json_close(json, "]");
}

static void put_pending(cb_json *json, int n, const int64_t *pending) {
  if (n == 0)
    return;
  cb_json_key(json, "pending");
  cb_json_open(json, "[");
  for (int i = 0; i < n; i++)
    cb_json_integer(json, pending[i]);
  cb_json_close(json, "]");
}

static void put_draws(cb_json *json, int n, const cb_draw *draws) {
  if (n == 0)
    return;
  cb_json_key(json, "draws");
  cb_json_open(json, "[");
  for (int i = 0; i < n; i++) {
    cb_json_open(json, "[");
    cb_json_real(json, draws[i].p);
    cb_json_real(json, draws[i].gamma);
    cb_json_integer(json, draws[i].b);
    cb_json_word(json, draws[i].capped ? "true" : "false");
    cb_json_close(json, "]");
  }
  cb_json_close(json, "]");
}

enum { ID_DIGITS = 32 };

static void put_fits(cb_json *json, int n, uint64_t (*const fits)[2]) {
  char digits[ID_DIGITS + 1];
  if (n == 0)
    return;
  cb_json_key(json, "fits");
  cb_json_open(json, "[");
  for (int i = 0; i < n; i++) {
    snprintf(digits, sizeof digits, "%016" PRIx64 "%016" PRIx64, fits[i][0],
             fits[i][1]);
    cb_json_string(json, digits);
  }
  cb_json_close(json, "]");
}

static void put_fit(cb_json *json, const cb_fit *fit) {
  if (fit->basis == 0 && fit->rows == 0 && fit->round == 0 && fit->n_theta == 0)
    return;
  cb_json_key(json, "fit");
  cb_json_open(json, "{");
  put_count(json, "basis", fit->basis);
  put_count(json, "rows", fit->rows);
  put_count(json, "round", fit->round);
  cb_json_key(json, "theta");
  cb_json_open(json, "[");
  for (int i = 0; i < fit->n_theta; i++)
    cb_json_real(json, fit->theta[i]);
  cb_json_close(json, "]");
  cb_json_close(json, "}");
}

static void put_metrics(cb_json *json, int n, const cocabo_metric *metrics) {
  if (n == 0)
    return;
  cb_json_key(json, "metrics");
  cb_json_open(json, "{");
  for (int i = 0; i < n; i++) {
    cb_json_key(json, metrics[i].name);
    cb_json_real(json, metrics[i].value);
  }
  cb_json_close(json, "}");
}

static void put_run(cb_json *json, const cb_event *event) {
  if (!says_run(event->kind))
    return;
  cb_json_key(json, "run");
  cb_json_integer(json, event->attempt);
  if (event->kind == CB_TRIAL_OBSERVED) {
    put_text(json, "state", outcome_names[event->outcome]);
    if (event->seconds > 0.0) {
      cb_json_key(json, "seconds");
      cb_json_real(json, event->seconds);
    }
    return;
  }
  put_text(json, "instance", event->instance);
  cb_json_key(json, "seed");
  cb_json_integer(json, event->seed);
}

static void put_body(cb_json *json, const cb_event *event, const char *letters) {
  cb_json_open(json, "{");
  put_space(json, event->space);
  put_pairs(json, "options", event->n_options, event->options);
  put_pairs(json, "attributes", event->n_attributes, event->attributes);
  put_text(json, "version", event->version);
  put_cells(json, event, letters);
  put_count(json, "by", event->origin);
  put_count(json, "basis", event->proposal.basis);
  put_batch(json, &event->proposal);
  put_pending(json, event->proposal.n_pending, event->proposal.pending);
  put_draws(json, event->proposal.n_draws, event->proposal.draws);
  put_fits(json, event->proposal.n_fits, event->proposal.fits);
  put_text(json, "fingerprint", event->proposal.fingerprint);
  put_text(json, "state", event->running ? RUNNING : NULL);
  put_run(json, event);
  if (event->kind == CB_TRIAL_REPORTED) {
    cb_json_key(json, "step");
    cb_json_integer(json, event->step);
  }
  if (event->has_y) {
    cb_json_key(json, says_value(event->kind) ? "value" : "y");
    cb_json_real(json, event->y);
  }
  put_metrics(json, event->n_metrics, event->metrics);
  if (event->has_attempt) {
    cb_json_key(json, "attempt");
    cb_json_integer(json, event->attempt);
  }
  put_text(json, "reason", event->reason);
  put_fit(json, &event->fit);
  cb_json_close(json, "}");
}

void cb_codec_letters(const cocabo_space *space,
                      char letters[static COCABO_MAX_PARAMETERS + 1]) {
  for (int i = 0; i < space->n; i++)
    letters[i] = space->params[i].kind == CB_REAL ? 'r' : 'i';
  letters[space->n] = '\0';
}

cocabo_status cb_codec_encode(cb_json *json, const cb_event *event, const char *letters,
                              cocabo_error *err) {
  const size_t n = strlen(letters);
  if (event->n_cells > 0 && (size_t)event->n_cells != n)
    return cb_fail(err, COCABO_E_INVALID,
                   "a trial has %d values, want one for each of %zu parameters",
                   event->n_cells, n);
  cb_json_start(json, err);
  if (event->body)
    cb_json_word(json, event->body);
  else
    put_body(json, event, letters);
  return json->status;
}

/* ---- reading: lists -------------------------------------------------------------- */

/* A list being read. Items are zeroed before they are filled, so that whoever owns the
 * list can release half of one. */
typedef struct list {
  void *items;
  size_t capacity, size;
  int n;
} list;

/* Room for one more, zeroed; NULL if out of memory. */
static void *add_item(cb_walk *walk, list *l) {
  enum { AT_FIRST = 16 };
  const size_t want = (size_t)l->n + 1;
  if (!cb_reserve(&l->items, &l->capacity, want < AT_FIRST ? AT_FIRST : want,
                  l->size)) {
    cb_walk_no_memory(walk);
    return NULL;
  }
  return memset((char *)l->items + (size_t)l->n++ * l->size, 0, l->size);
}

/* In a list with a fixed number of items. */
static void want_item(cb_walk *walk) {
  if (!cb_walk_more(walk, ']'))
    cb_walk_fail(walk, "a longer list");
}

static void want_end(cb_walk *walk) {
  if (cb_walk_more(walk, ']'))
    cb_walk_fail(walk, "a shorter list");
}

static list read_integers(cb_walk *walk) {
  list l = {.size = sizeof(int64_t)};
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']');) {
    int64_t *item = add_item(walk, &l);
    if (item)
      *item = cb_walk_integer(walk, INT64_MIN, INT64_MAX);
  }
  return l;
}

static list read_reals(cb_walk *walk) {
  list l = {.size = sizeof(double)};
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']');) {
    double *item = add_item(walk, &l);
    if (item)
      *item = cb_walk_real(walk);
  }
  return l;
}

/* ---- reading: the space ---------------------------------------------------------- */

/* A parameter as it is written, its keys in any order. */
typedef struct param {
  char *name, *type, *condition;
  struct {
    cb_json_type type;
    int64_t integer;
    double real;
  } low, high, step;
  bool log;
  list choices; /* of cocabo_value; texts are owned */
} param;

static void clear_param(param *p) {
  cocabo_value *choices = p->choices.items;
  for (int k = 0; k < p->choices.n; k++)
    if (choices[k].type == COCABO_TEXT)
      cb_free((char *)choices[k].as.text);
  cb_free(choices);
  cb_free(p->name);
  cb_free(p->type);
  cb_free(p->condition);
}

static void read_choice_number(cb_walk *walk, cocabo_value *choice) {
  int64_t integer = 0;
  double real = 0.0;
  if (cb_walk_number(walk, &integer, &real) == CB_JSON_INTEGER)
    *choice = (cocabo_value){.type = COCABO_INT, .as.integer = integer};
  else
    *choice = (cocabo_value){.type = COCABO_REAL, .as.real = real};
}

static void read_choice(cb_walk *walk, cocabo_value *choice) {
  switch (cb_walk_peek(walk)) {
  case CB_JSON_NULL:
    cb_walk_null(walk);
    break;
  case CB_JSON_BOOL:
    choice->type = COCABO_BOOL;
    choice->as.boolean = cb_walk_bool(walk);
    break;
  case CB_JSON_STRING:
    choice->type = COCABO_TEXT;
    choice->as.text = cb_walk_string(walk);
    break;
  case CB_JSON_ARRAY:
  case CB_JSON_OBJECT:
    cb_walk_fail(walk, "a scalar");
    break;
  default:
    read_choice_number(walk, choice);
  }
}

static list read_choices(cb_walk *walk) {
  list l = {.size = sizeof(cocabo_value)};
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']');) {
    cocabo_value *choice = add_item(walk, &l);
    if (choice)
      read_choice(walk, choice);
    if (l.n > COCABO_MAX_CHOICES)
      cb_walk_fail(walk, "fewer choices");
  }
  return l;
}

/* Which of n keys comes next; each may come once, and its place is its bit in `seen`.
 * Another key, and any failure, is n: something to skip. */
static int find_key(cb_walk *walk, const char *const *keys, int n, unsigned *seen) {
  char key[CB_JSON_KEY];
  int i = 0;
  cb_walk_key(walk, key);
  while (i < n && strcmp(key, keys[i]) != 0)
    i++;
  if (i < n && *seen & 1u << i)
    cb_walk_fail(walk, "each key once");
  *seen |= i < n ? 1u << i : 0u;
  return walk->why ? n : i;
}

enum { NAME, TYPE, LOW, HIGH, STEP, LOG, CHOICES, IF, N_PARAM_KEYS };
static const char *const param_keys[N_PARAM_KEYS] = {
    [NAME] = "name", [TYPE] = "type", [LOW] = "low",         [HIGH] = "high",
    [STEP] = "step", [LOG] = "log",   [CHOICES] = "choices", [IF] = "if"};

static void read_param_key(cb_walk *walk, int key, param *p) {
  switch (key) {
  case NAME:
    p->name = cb_walk_string(walk);
    break;
  case TYPE:
    p->type = cb_walk_string(walk);
    break;
  case LOW:
    p->low.type = cb_walk_number(walk, &p->low.integer, &p->low.real);
    break;
  case HIGH:
    p->high.type = cb_walk_number(walk, &p->high.integer, &p->high.real);
    break;
  case STEP:
    p->step.type = cb_walk_number(walk, &p->step.integer, &p->step.real);
    break;
  case LOG:
    p->log = cb_walk_bool(walk);
    break;
  case CHOICES:
    p->choices = read_choices(walk);
    break;
  case IF:
    p->condition = cb_walk_string(walk);
    break;
  default:
    cb_walk_skip(walk);
  }
}

static cocabo_status add_real(cocabo_space *space, const param *p, unsigned flags,
                              cocabo_error *err) {
  char shown[CB_SHOWN]; /* the name has not been checked yet */
  if (p->low.type == CB_JSON_NOTHING || p->high.type == CB_JSON_NOTHING)
    return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" has no range",
                   cb_text_show(shown, p->name));
  CB_TRY(cocabo_space_add_real(space, p->name, p->low.real, p->high.real, p->step.real,
                               flags, err));
  const cb_param *added = &space->params[space->n - 1];
  const double doubt = added->step > 0.0 ? cb_param_doubt(added) : 0.0;
  if (!(fabs(added->high - p->high.real) <= doubt))
    return cb_fail(err, COCABO_E_RANGE, "parameter \"%s\" ends off its grid", p->name);
  return COCABO_OK;
}

static cocabo_status add_int(cocabo_space *space, const param *p, unsigned flags,
                             cocabo_error *err) {
  char shown[CB_SHOWN]; /* the name has not been checked yet */
  if (p->low.type != CB_JSON_INTEGER || p->high.type != CB_JSON_INTEGER ||
      (p->step.type != CB_JSON_NOTHING && p->step.type != CB_JSON_INTEGER))
    return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" has no range of integers",
                   cb_text_show(shown, p->name));
  CB_TRY(cocabo_space_add_int(space, p->name, p->low.integer, p->high.integer,
                              p->step.integer, flags, err));
  if (space->params[space->n - 1].ihigh != p->high.integer)
    return cb_fail(err, COCABO_E_RANGE, "parameter \"%s\" ends off its grid", p->name);
  return COCABO_OK;
}

static cocabo_status add_param(cocabo_space *space, const param *p, cocabo_error *err) {
  char shown[CB_SHOWN];
  const unsigned flags = p->log ? COCABO_LOG : 0u;
  int kind = 0;
  if (!p->name || !p->type)
    return cb_fail(err, COCABO_E_INVALID, "a parameter has no name or no type");
  while (kind < N_TYPES && strcmp(p->type, type_names[kind]) != 0)
    kind++;
  switch (kind) {
  case CB_REAL:
    return add_real(space, p, flags, err);
  case CB_INTEGER:
    return add_int(space, p, flags, err);
  case CB_CHOICE:
  case CB_ORDINAL:
    return cocabo_space_add_choice(space, p->name, p->choices.items,
                                   (size_t)p->choices.n,
                                   kind == CB_ORDINAL ? COCABO_ORDERED : 0u, err);
  default:
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\" has a type that this version does not know",
                   cb_text_show(shown, p->name));
  }
}

/* ---- reading: the fields --------------------------------------------------------- */

typedef struct reader {
  cb_walk walk;
  cb_event *event;
  cocabo_error refusal; /* the space's own sentence; code 0 = none */
} reader;

static void read_param(reader *r) {
  param p = {0};
  unsigned seen = 0;
  for (cb_walk_open(&r->walk, '{'); cb_walk_more(&r->walk, '}');)
    read_param_key(&r->walk, find_key(&r->walk, param_keys, N_PARAM_KEYS, &seen), &p);
  if (!r->walk.why) {
    cocabo_status status = add_param(r->event->space, &p, &r->refusal);
    if (status == COCABO_OK && p.condition)
      status =
          cocabo_space_condition(r->event->space, p.name, p.condition, &r->refusal);
    if (status == COCABO_E_NO_MEMORY)
      cb_walk_no_memory(&r->walk);
    else if (status != COCABO_OK)
      cb_walk_fail(&r->walk, "a space");
  }
  clear_param(&p);
}

static void read_space(reader *r) {
  r->event->space = cocabo_space_new();
  if (!r->event->space)
    cb_walk_no_memory(&r->walk);
  for (cb_walk_open(&r->walk, '['); cb_walk_more(&r->walk, ']');)
    read_param(r);
}

/* Comes after the space, as it was written. */
static void read_rules(reader *r) {
  if (!r->event->space)
    cb_walk_fail(&r->walk, "the space before its rules");
  for (cb_walk_open(&r->walk, '['); cb_walk_more(&r->walk, ']');) {
    char *rule = cb_walk_string(&r->walk);
    const cocabo_status status =
        rule ? cocabo_space_rule(r->event->space, rule, &r->refusal) : COCABO_OK;
    cb_free(rule);
    if (status == COCABO_E_NO_MEMORY)
      cb_walk_no_memory(&r->walk);
    else if (status != COCABO_OK)
      cb_walk_fail(&r->walk, "rules");
  }
}

static void read_pair(cb_walk *walk, cb_pair *pair) {
  cb_walk_open(walk, '[');
  want_item(walk);
  pair->name = cb_walk_string(walk);
  want_item(walk);
  if (cb_walk_peek(walk) == CB_JSON_NULL)
    cb_walk_null(walk);
  else
    pair->value = cb_walk_string(walk);
  want_end(walk);
}

static list read_pairs(cb_walk *walk) {
  list l = {.size = sizeof(cb_pair)};
  for (cb_walk_open(walk, '['); cb_walk_more(walk, ']');) {
    cb_pair *pair = add_item(walk, &l);
    if (pair)
      read_pair(walk, pair);
  }
  return l;
}

static void read_options(reader *r) {
  const list l = read_pairs(&r->walk);
  r->event->options = l.items;
  r->event->n_options = l.n;
}

static void read_attributes(reader *r) {
  const list l = read_pairs(&r->walk);
  r->event->attributes = l.items;
  r->event->n_attributes = l.n;
}

/* A cell is of the type that its number has; null: its parameter is inactive. */
static void read_cell(cb_walk *walk, cb_cell *cell) {
  int64_t integer = 0;
  double real = 0.0;
  if (cb_walk_peek(walk) == CB_JSON_NULL) {
    cb_walk_null(walk);
    *cell = CB_INACTIVE;
  } else if (cb_walk_number(walk, &integer, &real) == CB_JSON_INTEGER)
    cell->integer = integer;
  else
    cell->real = real;
}

static void read_cells(reader *r) {
  list l = {.size = sizeof(cb_cell)};
  for (cb_walk_open(&r->walk, '['); cb_walk_more(&r->walk, ']');) {
    cb_cell *cell = add_item(&r->walk, &l);
    if (cell)
      read_cell(&r->walk, cell);
    if (l.n > COCABO_MAX_PARAMETERS)
      cb_walk_fail(&r->walk, "fewer cells");
  }
  r->event->cells = l.items;
  r->event->n_cells = l.n;
}

static void read_origin(reader *r) {
  r->event->origin = (cb_origin)cb_walk_integer(&r->walk, CB_BY_DESIGN, CB_BY_USER);
}

static void read_basis(reader *r) {
  r->event->proposal.basis = cb_walk_integer(&r->walk, 0, INT64_MAX);
}

static int64_t next_integer(cb_walk *walk, int64_t low, int64_t high) {
  want_item(walk);
  return cb_walk_integer(walk, low, high);
}

static void read_batch(reader *r) {
  cb_provenance *p = &r->event->proposal;
  cb_walk_open(&r->walk, '[');
  p->batch_first = next_integer(&r->walk, INT64_MIN, INT64_MAX);
  p->batch_size = (int)next_integer(&r->walk, INT_MIN, INT_MAX);
  p->batch_index = (int)next_integer(&r->walk, INT_MIN, INT_MAX);
  want_end(&r->walk);
}

static void read_pending(reader *r) {
  const list l = read_integers(&r->walk);
  r->event->proposal.pending = l.items;
  r->event->proposal.n_pending = l.n;
}

static void read_draw(cb_walk *walk, cb_draw *draw) {
  cb_walk_open(walk, '[');
  want_item(walk);
  draw->p = cb_walk_real(walk);
  want_item(walk);
  draw->gamma = cb_walk_real(walk);
  draw->b = (int32_t)next_integer(walk, INT32_MIN, INT32_MAX);
  want_item(walk);
  draw->capped = cb_walk_bool(walk);
  want_end(walk);
}

static void read_draws(reader *r) {
  list l = {.size = sizeof(cb_draw)};
  for (cb_walk_open(&r->walk, '['); cb_walk_more(&r->walk, ']');) {
    cb_draw *draw = add_item(&r->walk, &l);
    if (draw)
      read_draw(&r->walk, draw);
  }
  r->event->proposal.draws = l.items;
  r->event->proposal.n_draws = l.n;
}

/* Exactly as it is written: 32 digits, small letters. */
static void read_id(cb_walk *walk, uint64_t id[2]) {
  static const char digits[] = "0123456789abcdef";
  char *text = cb_walk_string(walk);
  if (!text)
    return;
  const bool fine = strlen(text) == ID_DIGITS && strspn(text, digits) == ID_DIGITS;
  for (int i = 0; fine && i < ID_DIGITS; i++)
    id[i / 16] = id[i / 16] << 4 | (uint64_t)(strchr(digits, text[i]) - digits);
  if (!fine)
    cb_walk_fail(walk, "the id of an event, 32 hexadecimal digits");
  cb_free(text);
}

static void read_fits(reader *r) {
  list l = {.size = sizeof(uint64_t[2])};
  for (cb_walk_open(&r->walk, '['); cb_walk_more(&r->walk, ']');) {
    uint64_t *id = add_item(&r->walk, &l);
    if (id)
      read_id(&r->walk, id);
  }
  r->event->proposal.fits = l.items;
  r->event->proposal.n_fits = l.n;
}

static void read_fingerprint(reader *r) {
  r->event->proposal.fingerprint = cb_walk_string(&r->walk);
}

static void read_outcome(reader *r, const char *state) {
  int i = CB_RUN_OK;
  while (i < N_OUTCOMES && strcmp(state, outcome_names[i]) != 0)
    i++;
  if (i == N_OUTCOMES)
    cb_walk_fail(&r->walk, "the state ok, failed, capped or discarded");
  else
    r->event->outcome = (cb_outcome)i;
}

/* Of a run how it ended. Of a trial that is added "running": without it a trial is what
 * the rest of its event says, and there is no other yet. */
static void read_state(reader *r) {
  char *state = cb_walk_string(&r->walk);
  if (!state)
    return;
  if (r->event->kind == CB_TRIAL_OBSERVED)
    read_outcome(r, state);
  else if (strcmp(state, RUNNING) == 0)
    r->event->running = true;
  else
    cb_walk_fail(&r->walk, "the state \"running\"");
  cb_free(state);
}

/* What follows is of runs only: elsewhere they are keys that are not known. The head
 * has the run too. */
static void read_run(reader *r) {
  if (!says_run(r->event->kind)) {
    cb_walk_skip(&r->walk);
    return;
  }
  const int64_t run = cb_walk_integer(&r->walk, 0, INT64_MAX);
  if (!r->walk.why && run != r->event->attempt)
    cb_walk_fail(&r->walk, "the run that the event has");
}

static void read_instance(reader *r) {
  if (r->event->kind == CB_RUN_STARTED)
    r->event->instance = cb_walk_string(&r->walk);
  else
    cb_walk_skip(&r->walk);
}

static void read_seed(reader *r) {
  if (r->event->kind == CB_RUN_STARTED)
    r->event->seed = cb_walk_integer(&r->walk, 0, INT64_MAX);
  else
    cb_walk_skip(&r->walk);
}

static void read_seconds(reader *r) {
  if (r->event->kind != CB_TRIAL_OBSERVED) {
    cb_walk_skip(&r->walk);
    return;
  }
  r->event->seconds = cb_walk_real(&r->walk);
  if (!r->walk.why && r->event->seconds < 0.0)
    cb_walk_fail(&r->walk, "0 seconds or more");
}

static void read_y(reader *r) {
  r->event->y = cb_walk_real(&r->walk);
  r->event->has_y = true;
}

/* Of a report only: elsewhere they are keys that are not known. */
static void read_step(reader *r) {
  if (r->event->kind == CB_TRIAL_REPORTED)
    r->event->step = cb_walk_integer(&r->walk, 0, INT64_MAX);
  else
    cb_walk_skip(&r->walk);
}

static void read_value(reader *r) {
  if (says_value(r->event->kind))
    read_y(r);
  else
    cb_walk_skip(&r->walk);
}

/* A log has no names that no user could have given. */
static void take_metrics(reader *r, const cocabo_metric *metrics, int n) {
  if (cb_metrics_check(metrics, (size_t)n, &r->refusal) != COCABO_OK)
    cb_walk_fail(&r->walk, "metrics");
  if (r->walk.why || n == 0)
    return;
  void *block = cb_calloc(1, cb_metrics_bytes(metrics, n));
  if (!block) {
    cb_walk_no_memory(&r->walk);
    return;
  }
  r->event->metrics = cb_metrics_pack(block, metrics, n);
  r->event->n_metrics = n;
}

static void read_metrics(reader *r) {
  char names[COCABO_MAX_METRICS][CB_NAME_MAX + 1];
  cocabo_metric metrics[COCABO_MAX_METRICS];
  int n = 0;
  for (cb_walk_open(&r->walk, '{'); cb_walk_more(&r->walk, '}');) {
    if (n == COCABO_MAX_METRICS) {
      cb_walk_fail(&r->walk, "fewer metrics");
      return;
    }
    cb_walk_long_key(&r->walk, names[n], sizeof names[n]);
    const double value = cb_walk_real(&r->walk);
    metrics[n] = (cocabo_metric){names[n], value};
    n++;
  }
  if (!r->walk.why)
    take_metrics(r, metrics, n);
}

static void read_reason(reader *r) {
  r->event->reason = cb_walk_string(&r->walk);
}

/* The head has it too, but does not tell 0 from nothing. */
static void read_attempt(reader *r) {
  const int64_t attempt = cb_walk_integer(&r->walk, 0, INT64_MAX);
  if (!r->walk.why && attempt != r->event->attempt)
    cb_walk_fail(&r->walk, "the attempt that the event has");
  r->event->has_attempt = true;
}

static void read_version(reader *r) {
  r->event->version = cb_walk_string(&r->walk);
}

enum { BASIS, ROWS, ROUND, THETA, N_FIT_KEYS };
static const char *const fit_keys[N_FIT_KEYS] = {
    [BASIS] = "basis", [ROWS] = "rows", [ROUND] = "round", [THETA] = "theta"};

static void read_fit_key(cb_walk *walk, int key, cb_fit *fit) {
  list theta = {0};
  switch (key) {
  case BASIS:
    fit->basis = cb_walk_integer(walk, 0, INT64_MAX);
    break;
  case ROWS:
    fit->rows = cb_walk_integer(walk, 0, INT64_MAX);
    break;
  case ROUND:
    fit->round = cb_walk_integer(walk, 0, INT64_MAX);
    break;
  case THETA:
    theta = read_reals(walk);
    fit->theta = theta.items;
    fit->n_theta = theta.n;
    break;
  default:
    cb_walk_skip(walk);
  }
}

static void read_fit(reader *r) {
  unsigned seen = 0;
  for (cb_walk_open(&r->walk, '{'); cb_walk_more(&r->walk, '}');) {
    const int key = find_key(&r->walk, fit_keys, N_FIT_KEYS, &seen);
    read_fit_key(&r->walk, key, &r->event->fit);
  }
}

/* ---- reading: the event ---------------------------------------------------------- */

/* Each field, once: its key, and what reads it. Frequent ones come first. */
#define FIELDS(X)                                                                      \
  X("y", read_y)                                                                       \
  X("metrics", read_metrics)                                                           \
  X("cells", read_cells)                                                               \
  X("by", read_origin)                                                                 \
  X("state", read_state)                                                               \
  X("basis", read_basis)                                                               \
  X("batch", read_batch)                                                               \
  X("draws", read_draws)                                                               \
  X("pending", read_pending)                                                           \
  X("fits", read_fits)                                                                 \
  X("fingerprint", read_fingerprint)                                                   \
  X("attempt", read_attempt)                                                           \
  X("reason", read_reason)                                                             \
  X("fit", read_fit)                                                                   \
  X("space", read_space)                                                               \
  X("where", read_rules)                                                               \
  X("version", read_version)                                                           \
  X("options", read_options)                                                           \
  X("attributes", read_attributes)                                                     \
  X("step", read_step)                                                                 \
  X("value", read_value)                                                               \
  X("run", read_run)                                                                   \
  X("seed", read_seed)                                                                 \
  X("instance", read_instance)                                                         \
  X("seconds", read_seconds)
#define AS_KEY(key, read) key,
#define AS_READ(key, read) read,

static const char *const field_keys[] = {FIELDS(AS_KEY)};
static void (*const field_reads[])(reader *r) = {FIELDS(AS_READ)};
enum { N_FIELDS = sizeof field_keys / sizeof field_keys[0] };

static void read_body(reader *r) {
  unsigned seen = 0;
  for (cb_walk_open(&r->walk, '{'); cb_walk_more(&r->walk, '}');) {
    const int field = find_key(&r->walk, field_keys, N_FIELDS, &seen);
    if (field < N_FIELDS)
      field_reads[field](r);
    else
      cb_walk_skip(&r->walk);
  }
  cb_walk_end(&r->walk);
}

static cocabo_status damaged(const cb_event *event, const char *what,
                             cocabo_error *err) {
  return cb_fail(err, COCABO_E_STORE, "event %lld of the log is damaged: %s",
                 (long long)event->seq, what);
}

static cocabo_status refuse(const reader *r, cocabo_error *err) {
  if (r->walk.no_memory)
    return cb_no_memory(err);
  if (r->refusal.code != COCABO_OK)
    return damaged(r->event, r->refusal.message, err);
  return cb_fail(err, COCABO_E_STORE,
                 "event %lld of the log is damaged at byte %td: want %s",
                 (long long)r->event->seq, r->walk.at - r->walk.text, r->walk.why);
}

static cocabo_status check_attributes(const cb_event *event, cocabo_error *err) {
  cocabo_error why;
  for (int i = 0; i < event->n_attributes; i++) {
    if (!event->attributes[i].value)
      return damaged(event, "an attribute has no value", err);
    if (cb_name_check("attribute name", event->attributes[i].name, &why) != COCABO_OK)
      return damaged(event, why.message, err);
  }
  return COCABO_OK;
}

static cocabo_status check_observed(const cb_event *event, cocabo_error *err) {
  const bool wants = event->outcome == CB_RUN_OK || event->outcome == CB_RUN_CAPPED;
  if (event->outcome == 0)
    return damaged(event, "it does not say how the run ended", err);
  if (event->has_y != wants)
    return damaged(event, wants ? "it has no value" : "it has a value", err);
  return COCABO_OK;
}

/* What the fold takes for granted. */
static cocabo_status check_complete(const cb_event *event, cocabo_error *err) {
  if (event->kind == CB_STUDY_CREATED && (!event->space || event->space->n == 0))
    return damaged(event, "it has no space", err);
  if ((event->kind == CB_TRIAL_TOLD || event->kind == CB_TRIAL_REPORTED) &&
      !event->has_y)
    return damaged(event, "it has no value", err);
  if (event->kind == CB_TRIAL_OBSERVED)
    return check_observed(event, err);
  return event->kind == CB_TRIAL_NOTED ? check_attributes(event, err) : COCABO_OK;
}

/* A kind that a later version has: its body is kept as it is, and who wrote it. */
static cocabo_status keep_body(reader *r, size_t length, cocabo_error *err) {
  static const char *const keys[] = {"version"};
  unsigned seen = 0;
  for (cb_walk_open(&r->walk, '{'); cb_walk_more(&r->walk, '}');)
    if (find_key(&r->walk, keys, 1, &seen) == 0 &&
        cb_walk_peek(&r->walk) == CB_JSON_STRING)
      read_version(r);
    else
      cb_walk_skip(&r->walk);
  cb_walk_end(&r->walk);
  if (r->walk.why)
    return refuse(r, err);
  r->event->body = cb_strndup(r->walk.text, length);
  return r->event->body ? COCABO_OK : cb_no_memory(err);
}

static cocabo_status decode(reader *r, size_t length, cocabo_error *err) {
  if (!cb_kind_is_known(r->event->kind))
    return keep_body(r, length, err);
  read_body(r);
  return r->walk.why ? refuse(r, err) : check_complete(r->event, err);
}

cocabo_status cb_codec_decode(const char *text, size_t length, cb_event *event,
                              cocabo_error *err) {
  reader r = {.walk = cb_walk_start(text, length), .event = event};
  const cocabo_status status = decode(&r, length, err);
  if (status != COCABO_OK)
    cb_event_clear(event);
  return status;
}

uint64_t cb_codec_checksum(const char *text, size_t length) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
  return hash;
}
