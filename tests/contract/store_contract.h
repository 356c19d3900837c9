/* store_contract.h - what every store promises to a study, as one suite.
 *
 * A test program defines  static cocabo_store *open_fresh_store(void);  which gives an
 * empty store, includes this file and runs run_store_contract("name").
 */
#ifndef CB_TESTS_STORE_CONTRACT_H
#define CB_TESTS_STORE_CONTRACT_H

#include "check.h"

#include <float.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/mem.h"
#include "store/store.h"

static cocabo_store *open_fresh_store(void);

/* ---- small events ---------------------------------------------------------------- */

/* Every kind of parameter, and choices that differ by their type alone. */
static cocabo_space *contract_space(void) {
  cocabo_error err;
  cocabo_space *s = cocabo_space_new();
  const cocabo_value choices[] = {{.type = COCABO_TEXT, .as.text = "1"},
                                  {.type = COCABO_NULL},
                                  {.type = COCABO_INT, .as.integer = 1},
                                  {.type = COCABO_REAL, .as.real = 1.0},
                                  {.type = COCABO_BOOL, .as.boolean = 1},
                                  {.type = COCABO_BOOL, .as.boolean = 0},
                                  {.type = COCABO_INT, .as.integer = INT64_MIN},
                                  {.type = COCABO_REAL, .as.real = 4.9e-324},
                                  {.type = COCABO_REAL, .as.real = -1e300},
                                  {.type = COCABO_TEXT, .as.text = ""},
                                  {.type = COCABO_TEXT, .as.text = "\n\"\\ \xce\xbb"}};
  const size_t n = sizeof choices / sizeof choices[0];
  assert_ok(cocabo_space_add_real(s, "x", -1e308, 7e307, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "c", choices, n, 0, &err));
  assert_ok(cocabo_space_add_int(s, "k \xf0\x9f\x98\x80", -(INT64_C(1) << 52),
                                 (INT64_C(1) << 52) - 1, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "o", choices, 3, COCABO_ORDERED, &err));
  assert_ok(cocabo_space_add_real(s, "l", 1e-5, 0.1, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_real(s, "g", 0.1, 0.75, 0.1, 0, &err));
  assert_ok(cocabo_space_add_int(s, "m", 16, 1024, 0, COCABO_LOG, &err));
  return s;
}

static uint64_t next_contract_id = 1;

static cb_event make_event(cb_event_kind kind, int64_t number) {
  return (cb_event){.kind = kind, .number = number, .id = {77, next_contract_id++}};
}

enum { CONTRACT_CELLS = 7 };

static cb_event make_asked(int64_t number) {
  static cb_cell cells[CONTRACT_CELLS];
  cells[0] = (cb_cell){.real = 0.375};
  cells[1] = (cb_cell){.integer = 1};
  cells[2] = (cb_cell){.integer = -(INT64_C(1) << 52)};
  cells[3] = (cb_cell){.integer = 2};
  cells[4] = (cb_cell){.real = 1e-5};
  cells[5] = (cb_cell){.real = 0.1 + 2 * 0.1};
  cells[6] = (cb_cell){.integer = 16};
  cb_event event = make_event(CB_TRIAL_ASKED, number);
  event.origin = CB_BY_DESIGN;
  event.n_cells = CONTRACT_CELLS;
  event.cells = cells;
  return event;
}

static cb_event make_told(int64_t number, double y) {
  cb_event event = make_event(CB_TRIAL_TOLD, number);
  event.has_y = true;
  event.y = y;
  return event;
}

static cb_event make_attempt(cb_event_kind kind, int64_t number, int64_t attempt) {
  cb_event event = make_event(kind, number);
  event.attempt = attempt;
  return event;
}

static cb_event make_resumed(int64_t number, int64_t attempt) {
  return make_attempt(CB_TRIAL_RESUMED, number, attempt);
}

static cb_event make_started(int64_t number, int64_t run) {
  cb_event event = make_attempt(CB_RUN_STARTED, number, run);
  event.seed = 11 + run;
  return event;
}

static cb_event make_observed(int64_t number, int64_t run, cb_outcome outcome) {
  cb_event event = make_attempt(CB_TRIAL_OBSERVED, number, run);
  event.outcome = outcome;
  event.has_y = outcome == CB_RUN_OK || outcome == CB_RUN_CAPPED;
  event.y = event.has_y ? 0.25 + (double)run : 0.0;
  return event;
}

/* A store with one study; the suite's fixture. */
typedef struct contract {
  cocabo_store *store;
  int64_t id;
  cocabo_error err;
} contract;

static int64_t contract_create(cocabo_store *store, const char *name) {
  cocabo_error err;
  int64_t id = -1;
  cb_pair options[] = {{.name = "seed", .value = "7"}};
  cb_event created = make_event(CB_STUDY_CREATED, -1);
  created.space = contract_space();
  created.options = options;
  created.n_options = 1;
  assert_ok(store->ops->create(store, name, &created, &id, &err));
  assert_int_equal(created.seq, 1);
  cocabo_space_free(created.space);
  return id;
}

static int contract_setup(void **state) {
  static contract c;
  c.store = open_fresh_store();
  c.id = contract_create(c.store, "s");
  *state = &c;
  return 0;
}

static int contract_teardown(void **state) {
  contract *c = *state;
  cocabo_store_free(c->store);
  return 0;
}

static cocabo_status contract_append(contract *c, cb_event *events, int n,
                                     int64_t next_number) {
  const cb_append what = {.events = events, .n = n, .next_number = next_number};
  return c->store->ops->append(c->store, c->id, &what, &c->err);
}

#define assert_appended(c, events, n, next_number)                                     \
  do {                                                                                 \
    if (contract_append(c, events, n, next_number) != COCABO_OK)                       \
      fail_msg("append: %s", (c)->err.message);                                        \
  } while (0)

/* ---- reading back ---------------------------------------------------------------- */

/* What was read: kinds and numbers as text, and the last event. */
typedef struct contract_log {
  int n;
  int64_t first_seq, last_seq;
  double last_time;
  char kinds[4096];
} contract_log;

static cocabo_status note_event(void *user, const cb_event *event, cocabo_error *err) {
  contract_log *log = user;
  (void)err;
  if (log->n++ == 0)
    log->first_seq = event->seq;
  else
    assert_int_equal(event->seq, log->last_seq + 1);
  log->last_seq = event->seq;
  log->last_time = event->time;
  const size_t used = strlen(log->kinds);
  snprintf(log->kinds + used, sizeof log->kinds - used, "%d:%lld ", (int)event->kind,
           (long long)event->number);
  return COCABO_OK;
}

static contract_log contract_read(contract *c, int64_t since) {
  contract_log log = {0};
  assert_int_equal(c->store->ops->read_since(c->store, c->id,
                                             &(cb_position){.seq = since}, note_event,
                                             NULL, &log, &c->err),
                   COCABO_OK);
  return log;
}

/* ---- claims ---------------------------------------------------------------------- */

static void events_come_back_in_order(void **state) {
  contract *c = *state;
  cb_event first[] = {make_asked(0), make_asked(1)};
  cb_event second[] = {make_told(1, 2.5)};
  assert_appended(c, first, 2, 0);
  assert_appended(c, second, 1, -1);
  assert_int_equal(first[0].seq, 2);
  assert_int_equal(first[1].seq, 3);
  assert_int_equal(second[0].seq, 4);
  assert_true(second[0].time > 1.5e9); /* seconds since 1970 */
  const contract_log log = contract_read(c, 0);
  assert_string_equal(log.kinds, "1:-1 3:0 3:1 4:1 ");
  assert_int_equal(log.first_seq, 1);
  assert_true(log.last_time == second[0].time);
  assert_string_equal(contract_read(c, 2).kinds, "3:1 4:1 ");
  assert_int_equal(contract_read(c, 4).n, 0);
  assert_int_equal(contract_read(c, 40).n, 0);
}

static void assert_same_pairs(const cb_pair *got, int n_got, const cb_pair *want,
                              int n) {
  assert_int_equal(n_got, n);
  for (int i = 0; i < n; i++) {
    assert_string_equal(got[i].name, want[i].name);
    assert_string_equal(got[i].value, want[i].value);
  }
}

static void assert_same_text(const char *got, const char *want) {
  if (want)
    assert_string_equal(got, want);
  else
    assert_null(got);
}

static void assert_same_proposal(const cb_provenance *got, const cb_provenance *want) {
  assert_int_equal(got->basis, want->basis);
  assert_int_equal(got->batch_first, want->batch_first);
  assert_int_equal(got->batch_size, want->batch_size);
  assert_int_equal(got->batch_index, want->batch_index);
  assert_int_equal(got->n_pending, want->n_pending);
  for (int i = 0; i < want->n_pending; i++)
    assert_int_equal(got->pending[i], want->pending[i]);
  assert_int_equal(got->n_draws, want->n_draws);
  for (int i = 0; i < want->n_draws; i++) {
    assert_memory_equal(&got->draws[i].p, &want->draws[i].p, sizeof(double));
    assert_memory_equal(&got->draws[i].gamma, &want->draws[i].gamma, sizeof(double));
    assert_int_equal(got->draws[i].b, want->draws[i].b);
    assert_int_equal(got->draws[i].capped, want->draws[i].capped);
  }
  assert_int_equal(got->n_fits, want->n_fits);
  for (int i = 0; i < want->n_fits; i++)
    assert_memory_equal(got->fits[i], want->fits[i], sizeof want->fits[i]);
  assert_same_text(got->fingerprint, want->fingerprint);
}

static cocabo_status check_full_event(void *user, const cb_event *event,
                                      cocabo_error *err) {
  (void)err;
  const cb_event *want = user;
  assert_int_equal(event->kind, want->kind);
  assert_int_equal(event->seq, want->seq);
  assert_memory_equal(&event->time, &want->time, sizeof event->time);
  assert_memory_equal(event->id, want->id, sizeof event->id);
  assert_int_equal(event->number, want->number);
  assert_int_equal(event->attempt, want->attempt);
  assert_int_equal(event->origin, want->origin);
  assert_int_equal(event->has_y, want->has_y);
  assert_memory_equal(&event->y, &want->y, sizeof event->y);
  assert_same_text(event->reason, want->reason);
  assert_int_equal(event->n_cells, want->n_cells);
  if (want->n_cells > 0)
    assert_memory_equal(event->cells, want->cells,
                        (size_t)want->n_cells * sizeof *want->cells);
  assert_null(event->space);
  assert_same_pairs(event->options, event->n_options, want->options, want->n_options);
  assert_same_pairs(event->attributes, event->n_attributes, want->attributes,
                    want->n_attributes);
  assert_same_proposal(&event->proposal, &want->proposal);
  assert_int_equal(event->fit.basis, want->fit.basis);
  assert_int_equal(event->fit.rows, want->fit.rows);
  assert_int_equal(event->step, want->step);
  assert_int_equal(event->outcome, want->outcome);
  assert_memory_equal(&event->seconds, &want->seconds, sizeof event->seconds);
  assert_same_text(event->instance, want->instance);
  assert_int_equal(event->seed, want->seed);
  assert_same_text(event->body, want->body);
  assert_int_equal(event->fit.round, want->fit.round);
  assert_int_equal(event->fit.n_theta, want->fit.n_theta);
  if (want->fit.n_theta > 0)
    assert_memory_equal(event->fit.theta, want->fit.theta,
                        (size_t)want->fit.n_theta * sizeof(double));
  return COCABO_OK;
}

static void assert_kept(contract *c, cb_event *event, int64_t next_number) {
  assert_appended(c, event, 1, next_number);
  assert_int_equal(c->store->ops->read_since(c->store, c->id,
                                             &(cb_position){.seq = event->seq - 1},
                                             check_full_event, NULL, event, &c->err),
                   COCABO_OK);
}

/* Numbers that do not survive a careless trip through text. */
static const double awkward[] = {0.0,
                                 -0.0,
                                 0.1 + 0.2,
                                 1.0 / 3.0,
                                 -2.0 / 3.0,
                                 1.0,
                                 -7.0,
                                 1e15,
                                 1e22,
                                 123456789012345678.0,
                                 9007199254740993.0,
                                 4.9e-324,
                                 -DBL_MIN / 3.0,
                                 DBL_MIN,
                                 DBL_MAX,
                                 -DBL_MAX,
                                 1.0 + DBL_EPSILON,
                                 1e-300,
                                 6.02214076e23,
                                 0.30000000000000004};
enum { N_AWKWARD = sizeof awkward / sizeof awkward[0] };

static void every_field_is_kept_to_the_bit(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0);
  int64_t pending[] = {0, 7, INT64_C(1) << 40, (INT64_C(1) << 53) + 1};
  cb_draw draws[] = {{.p = 1.0 / 3.0, .gamma = 0.1, .b = 4, .capped = true},
                     {.p = 1.0, .gamma = 0.0, .b = 1, .capped = false}};
  uint64_t fits[][2] = {{0, UINT64_MAX}, {UINT64_C(0x0123456789abcdef), 7}};
  asked.origin = CB_BY_SAMPLER;
  asked.cells[0].real = 0.1 + 0.2;
  asked.proposal = (cb_provenance){.basis = 1,
                                   .batch_first = 0,
                                   .batch_size = 5,
                                   .batch_index = 2,
                                   .n_pending = 4,
                                   .pending = pending,
                                   .n_draws = 2,
                                   .draws = draws,
                                   .fingerprint = "cocabo 1; \"gcc\" \xce\xbb\n",
                                   .n_fits = 2,
                                   .fits = fits};
  assert_kept(c, &asked, 0);
  cb_event told = make_told(0, -1.0 / 3.0);
  assert_kept(c, &told, -1);
  cb_event failed = make_event(CB_TRIAL_FAILED, 0);
  failed.reason = "line one\nline \"two\" \xce\xbb";
  assert_kept(c, &failed, -1);
  cb_event silent = make_event(CB_TRIAL_FAILED, 0);
  silent.reason = "";
  assert_kept(c, &silent, -1);
  double theta[] = {1e-300, -0.1, 4.9e-324};
  cb_event fitted = make_event(CB_MODEL_FITTED, -1);
  fitted.fit =
      (cb_fit){.basis = 3, .rows = 1, .round = 2, .n_theta = 3, .theta = theta};
  assert_kept(c, &fitted, -1);
  cb_event added = make_asked(1);
  added.kind = CB_TRIAL_ADDED;
  added.origin = CB_BY_USER;
  added.has_y = true;
  added.y = 1e300;
  assert_kept(c, &added, 1);
  cb_event enqueued = make_asked(2);
  enqueued.kind = CB_TRIAL_ADDED;
  enqueued.origin = CB_BY_USER;
  assert_kept(c, &enqueued, 2);
  cb_event resumed = make_resumed(1, 1);
  assert_kept(c, &resumed, -1);
  cb_event interrupted = make_event(CB_TRIAL_INTERRUPTED, 1);
  assert_kept(c, &interrupted, -1);
  cb_event stale = make_attempt(CB_TRIAL_STALE, 1, 3);
  assert_kept(c, &stale, -1);
  cb_event retried = make_attempt(CB_TRIAL_RETRIED, 1, 2);
  assert_kept(c, &retried, -1);
  cb_event large = make_resumed(1, INT64_C(1) << 54);
  assert_kept(c, &large, -1);
  cb_pair notes[] = {{.name = "host", .value = "a\n1"}, {.name = "b", .value = ""}};
  cb_event noted = make_event(CB_TRIAL_NOTED, 1);
  noted.n_attributes = 2;
  noted.attributes = notes;
  assert_kept(c, &noted, -1);
  cb_event reported = make_event(CB_TRIAL_REPORTED, 1);
  reported.step = (INT64_C(1) << 53) + 1;
  reported.has_y = true;
  reported.y = -1.0 / 3.0;
  assert_kept(c, &reported, -1);
  cb_event started = make_started(1, INT64_C(1) << 54);
  started.instance = "a b/\"\xce\xbb\".cnf";
  started.seed = INT64_MAX;
  assert_kept(c, &started, -1);
  cb_event capped = make_observed(1, INT64_C(1) << 54, CB_RUN_CAPPED);
  capped.y = -1.0 / 3.0;
  capped.seconds = 0.1 + 0.2;
  assert_kept(c, &capped, -1);
  cb_event discarded = make_observed(1, INT64_C(1) << 54, CB_RUN_DISCARDED);
  assert_kept(c, &discarded, -1);
  cb_event later = make_event((cb_event_kind)102, 1);
  later.body = "{\"a\": [1, null]}";
  assert_kept(c, &later, -1);
}

static void changes_are_kept(void **state) {
  contract *c = *state;
  cb_pair options[] = {{.name = "kappa", .value = "2.50"},
                       {.name = "seed", .value = "9223372036854775807"}};
  cb_pair attributes[] = {{.name = "command", .value = "a \"b\" \\ \x01 \xce\xbb\n"},
                          {.name = "\xf0\x9f\x98\x80", .value = ""},
                          {.name = "z", .value = "null"}};
  cb_event changed = make_event(CB_STUDY_CHANGED, -1);
  changed.n_options = 2;
  changed.options = options;
  assert_kept(c, &changed, -1);
  cb_event noted = make_event(CB_STUDY_CHANGED, -1);
  noted.n_attributes = 3;
  noted.attributes = attributes;
  assert_kept(c, &noted, -1);
  cb_event both = make_event(CB_STUDY_CHANGED, -1);
  both.n_options = 1;
  both.options = options;
  both.n_attributes = 1;
  both.attributes = attributes;
  assert_kept(c, &both, -1);
}

static void awkward_numbers_are_kept(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0);
  assert_appended(c, &asked, 1, 0);
  for (int i = 0; i < N_AWKWARD; i++) {
    cb_event told = make_told(0, awkward[i]);
    assert_kept(c, &told, -1);
  }
  double theta[N_AWKWARD];
  memcpy(theta, awkward, sizeof theta);
  cb_event fitted = make_event(CB_MODEL_FITTED, -1);
  fitted.fit = (cb_fit){.basis = 1, .n_theta = N_AWKWARD, .theta = theta};
  assert_kept(c, &fitted, -1);
  cb_draw draws[N_AWKWARD];
  memset(draws, 0, sizeof draws);
  for (int i = 0; i < N_AWKWARD; i++)
    draws[i] = (cb_draw){.p = awkward[i], .gamma = awkward[N_AWKWARD - 1 - i]};
  cb_event drawn = make_asked(1);
  drawn.proposal.n_draws = N_AWKWARD;
  drawn.proposal.draws = draws;
  assert_kept(c, &drawn, 1);
  int64_t next = 2;
  for (int i = 0; i < N_AWKWARD; i++) {
    if (i == 1 || fabs(awkward[i]) > 7e307)
      continue; /* no cell is -0.0, or outside its space */
    cb_event placed = make_asked(next);
    placed.kind = CB_TRIAL_ADDED;
    placed.cells[0].real = awkward[i];
    assert_kept(c, &placed, next++);
  }
}

static void awkward_ids_are_kept(void **state) {
  contract *c = *state;
  const uint64_t ids[][2] = {{0, 0},
                             {UINT64_MAX, UINT64_MAX},
                             {UINT64_C(1) << 63, 1},
                             {1, UINT64_C(1) << 63},
                             {1, 0},
                             {0, 1}};
  cb_event asked = make_asked(0);
  assert_appended(c, &asked, 1, 0);
  for (int round = 0; round < 2; round++)
    for (int i = 0; i < 6; i++) {
      cb_event told = make_told(0, i);
      memcpy(told.id, ids[i], sizeof told.id);
      if (round == 0)
        assert_kept(c, &told, -1);
      else
        assert_appended(c, &told, 1, -1); /* found, not repeated */
      assert_int_equal(told.seq, 3 + i);
    }
  assert_int_equal(contract_read(c, 0).n, 8);
}

/* A text of 65536 bytes with everything that needs an escape somewhere, and characters
 * of one to four bytes. */
static char *long_text(void) {
  enum { LENGTH = 65536 };
  static const char *const pieces[] = {
      "plain ",           "\n",           "\"",   "\\",
      "\t\r\b\f",         "\x01\x1f",     "\x7f", "\xc3\xa9",
      "\xe2\x82\xac",     "\xef\xbf\xbf", "%s%n", "\xf0\x9f\x98\x80",
      "\xf4\x8f\xbf\xbf", "\\u0041",      "'",    "\xe2\x80\xa8"};
  char *text = calloc(LENGTH + 1, 1);
  size_t used = 0;
  for (size_t i = 0; used < LENGTH; i++) {
    const char *piece = pieces[(i * i + i / 7) % (sizeof pieces / sizeof pieces[0])];
    const size_t length = strlen(piece);
    if (used + length > LENGTH) {
      memset(text + used, '.', LENGTH - used);
      break;
    }
    memcpy(text + used, piece, length);
    used += length;
  }
  return text;
}

static void long_texts_are_kept(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0);
  assert_appended(c, &asked, 1, 0);
  char *text = long_text();
  cb_event failed = make_event(CB_TRIAL_FAILED, 0);
  failed.reason = text;
  assert_kept(c, &failed, -1);
  cb_pair attribute = {.name = "a", .value = text};
  cb_event changed = make_event(CB_STUDY_CHANGED, -1);
  changed.n_attributes = 1;
  changed.attributes = &attribute;
  assert_kept(c, &changed, -1);
  free(text);
}

/* Compares one event of many, given in order. */
typedef struct contract_many {
  cb_event *events;
  int next;
} contract_many;

static cocabo_status check_next_event(void *user, const cb_event *event,
                                      cocabo_error *err) {
  contract_many *many = user;
  return check_full_event(&many->events[many->next++], event, err);
}

static void many_events_are_appended_at_one_stroke(void **state) {
  contract *c = *state;
  enum { MANY = 1000 };
  cb_event *events = calloc(MANY, sizeof *events);
  cb_cell *cells = calloc((size_t)MANY * CONTRACT_CELLS, sizeof *cells);
  for (int i = 0; i < MANY; i++) {
    events[i] = make_asked(i);
    memcpy(&cells[i * CONTRACT_CELLS], events[i].cells, CONTRACT_CELLS * sizeof *cells);
    events[i].cells = &cells[i * CONTRACT_CELLS];
    events[i].cells[0].real = 0.5 / (i + 1);
    events[i].cells[2].integer = i;
    events[i].proposal =
        (cb_provenance){.basis = 1, .batch_size = MANY, .batch_index = i};
  }
  assert_appended(c, events, MANY, 0);
  assert_int_equal(events[MANY - 1].seq, MANY + 1);
  contract_many many = {.events = events};
  assert_int_equal(c->store->ops->read_since(c->store, c->id, &(cb_position){.seq = 1},
                                             check_next_event, NULL, &many, &c->err),
                   COCABO_OK);
  assert_int_equal(many.next, MANY);
  many.next = MANY - 3;
  assert_int_equal(c->store->ops->read_since(c->store, c->id,
                                             &(cb_position){.seq = MANY - 2},
                                             check_next_event, NULL, &many, &c->err),
                   COCABO_OK);
  assert_int_equal(many.next, MANY);
  free(cells);
  free(events);
}

static cocabo_status check_created(void *user, const cb_event *event,
                                   cocabo_error *err) {
  (void)err;
  const cocabo_space *want = user;
  assert_int_equal(event->kind, CB_STUDY_CREATED);
  assert_true(cb_space_equal(event->space, want));
  assert_int_equal(event->n_options, 1);
  assert_string_equal(event->options[0].name, "seed");
  assert_string_equal(event->options[0].value, "7");
  return COCABO_OK;
}

static void the_beginning_has_space_and_options(void **state) {
  contract *c = *state;
  cocabo_space *want = contract_space();
  assert_int_equal(c->store->ops->read_since(c->store, c->id, &(cb_position){.seq = 0},
                                             check_created, NULL, want, &c->err),
                   COCABO_OK);
  cocabo_space_free(want);
}

static void a_retried_append_is_found_not_repeated(void **state) {
  contract *c = *state;
  cb_event events[] = {make_asked(0), make_asked(1)};
  assert_appended(c, events, 2, 0);
  cb_event later = make_told(0, 1.0);
  assert_appended(c, &later, 1, -1);
  const double time = events[1].time;
  for (int i = 0; i < 2; i++)
    events[i].seq = 0, events[i].time = 0;
  assert_appended(c, events, 2, 0); /* the number is taken: by ourselves */
  assert_int_equal(events[0].seq, 2);
  assert_int_equal(events[1].seq, 3);
  assert_true(events[1].time == time);
  assert_int_equal(contract_read(c, 0).n, 4);

  cb_event mixed[] = {later, make_told(1, 2.0), later};
  mixed[1].id[1] = next_contract_id++;
  assert_appended(c, mixed, 3, -1);
  assert_int_equal(mixed[0].seq, 4);
  assert_int_equal(mixed[1].seq, 5);
  assert_int_equal(mixed[2].seq, 4);
  cb_event twice[] = {make_told(1, 3.0), make_told(0, 3.0), make_told(1, 3.0)};
  memcpy(twice[2].id, twice[0].id, sizeof twice[0].id);
  assert_appended(c, twice, 3, -1);
  assert_int_equal(twice[2].seq, 6);
  assert_int_equal(contract_read(c, 0).n, 7);
}

static void a_taken_number_is_a_conflict(void **state) {
  contract *c = *state;
  cb_event first = make_asked(0), second = make_asked(0);
  assert_appended(c, &first, 1, 0);
  assert_int_equal(contract_append(c, &second, 1, 0), COCABO_E_BUSY);
  assert_int_equal(c->err.code, COCABO_E_BUSY);
  assert_int_equal(contract_append(c, &second, 1, -1), COCABO_E_BUSY);
  second.number = 2;
  assert_int_equal(contract_append(c, &second, 1, 1), COCABO_E_BUSY);
  assert_int_equal(contract_append(c, &second, 1, 2), COCABO_E_BUSY);
  second.number = 1;
  assert_appended(c, &second, 1, 1);
  cb_event told = make_told(0, 1.0); /* whoever names a number means it */
  assert_int_equal(contract_append(c, &told, 1, 1), COCABO_E_BUSY);
  cb_event added = make_asked(1);
  added.kind = CB_TRIAL_ADDED;
  assert_int_equal(contract_append(c, &added, 1, 1), COCABO_E_BUSY);
  added.number = 2;
  assert_appended(c, &added, 1, 2);
  assert_string_equal(contract_read(c, 1).kinds, "3:0 3:1 9:2 ");
}

static void tells_and_fits_never_conflict(void **state) {
  contract *c = *state;
  cb_event asked[] = {make_asked(0), make_asked(1)};
  assert_appended(c, asked, 2, 0);
  cb_event told[] = {make_told(0, 1), make_told(0, 2), make_event(CB_MODEL_FITTED, -1),
                     make_event(CB_TRIAL_INTERRUPTED, 1),
                     make_event(CB_MODEL_FITTED, -1)};
  for (int i = 0; i < 5; i++)
    assert_appended(c, &told[i], 1, -1);
  cb_event next = make_asked(2); /* and they do not take a number */
  assert_appended(c, &next, 1, 2);
}

static void an_attempt_is_taken_once(void **state) {
  contract *c = *state;
  cb_event asked[] = {make_asked(0), make_asked(1)};
  assert_appended(c, asked, 2, 0);
  cb_event mine = make_resumed(0, 1), theirs = make_resumed(0, 1);
  assert_appended(c, &mine, 1, -1);
  assert_int_equal(contract_append(c, &theirs, 1, -1), COCABO_E_BUSY);
  cb_event other = make_resumed(1, 1), second = make_resumed(0, 2);
  assert_appended(c, &other, 1, -1);
  assert_appended(c, &second, 1, -1);
  assert_appended(c, &mine, 1, -1); /* a retry */
  assert_int_equal(mine.seq, 4);
  assert_int_equal(contract_read(c, 0).n, 6);
}

static void a_run_is_started_once(void **state) {
  contract *c = *state;
  cb_event asked[] = {make_asked(0), make_asked(1)};
  assert_appended(c, asked, 2, 0);
  cb_event mine = make_started(0, 0), theirs = make_started(0, 0);
  assert_appended(c, &mine, 1, -1);
  assert_int_equal(contract_append(c, &theirs, 1, -1), COCABO_E_BUSY);
  assert_string_equal(c->err.message, "run 0 of trial 0 is taken");
  cb_event other = make_started(1, 0), third = make_started(0, 2);
  assert_appended(c, &other, 1, -1);
  assert_appended(c, &third, 1, -1);
  theirs.attempt = 1; /* not above 2 */
  assert_int_equal(contract_append(c, &theirs, 1, -1), COCABO_E_BUSY);
  theirs.attempt = 3;
  assert_appended(c, &theirs, 1, -1);
  assert_appended(c, &mine, 1, -1); /* a retry */
  assert_int_equal(mine.seq, 4);
  assert_string_equal(contract_read(c, 3).kinds, "11:0 11:1 11:0 11:0 ");
  cb_event both[] = {make_asked(2), make_started(2, 0), make_started(2, 1)};
  assert_appended(c, both, 3, 2);
}

static void a_run_needs_its_trial(void **state) {
  contract *c = *state;
  cb_event none = make_started(0, 0), negative = make_started(-1, 0);
  assert_int_equal(contract_append(c, &none, 1, -1), COCABO_E_BUSY);
  assert_string_equal(c->err.message, "run 0 is of trial 0, which is not there");
  assert_int_equal(contract_append(c, &negative, 1, -1), COCABO_E_BUSY);
  cb_event before[] = {make_started(0, 0), make_asked(0)};
  assert_int_equal(contract_append(c, before, 2, 0), COCABO_E_BUSY);
  assert_int_equal(contract_read(c, 0).n, 1);
  cb_event after[] = {before[1], before[0]};
  assert_appended(c, after, 2, 0);
  cb_event next = make_started(1, 0);
  assert_int_equal(contract_append(c, &next, 1, -1), COCABO_E_BUSY);
}

static void an_append_is_all_or_nothing(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0), resumed = make_resumed(0, 1);
  assert_appended(c, &asked, 1, 0);
  assert_appended(c, &resumed, 1, -1);
  cb_event mixed[] = {make_told(0, 1.0), make_asked(1), make_resumed(0, 1)};
  assert_int_equal(contract_append(c, mixed, 3, 1), COCABO_E_BUSY);
  assert_int_equal(contract_read(c, 0).n, 3);
  mixed[2].attempt = 2;
  assert_appended(c, mixed, 3, 1); /* the refused ids were not remembered */
  assert_int_equal(contract_read(c, 0).n, 6);
}

static void names_are_taken_once(void **state) {
  contract *c = *state;
  int64_t id = -1;
  cb_event created = make_event(CB_STUDY_CREATED, -1);
  created.space = contract_space();
  assert_int_equal(c->store->ops->create(c->store, "s", &created, &id, &c->err),
                   COCABO_E_EXISTS);
  assert_string_equal(c->err.message, "study \"s\" exists already");
  cocabo_space_free(created.space);
  assert_int_equal(c->store->ops->find(c->store, "s", &id, &c->err), COCABO_OK);
  assert_int_equal(id, c->id);
  assert_int_equal(c->store->ops->find(c->store, "S", &id, &c->err),
                   COCABO_E_NOT_FOUND);
  assert_string_equal(c->err.message, "no study \"S\"");
}

static void studies_do_not_see_each_other(void **state) {
  contract *c = *state;
  contract other = {.store = c->store, .id = contract_create(c->store, "other")};
  assert_int_not_equal(other.id, c->id);
  cb_event mine = make_asked(0), theirs[] = {make_asked(0), make_asked(1)};
  assert_appended(c, &mine, 1, 0);
  assert_appended(&other, theirs, 2, 0);
  assert_int_equal(contract_read(c, 0).n, 2);
  assert_int_equal(contract_read(&other, 0).n, 3);
}

static cocabo_status note_name(void *user, const char *name, cocabo_error *err) {
  (void)err;
  strcat(strcat(user, name), " ");
  return COCABO_OK;
}

static void studies_are_listed_and_deleted(void **state) {
  contract *c = *state;
  contract_create(c->store, "t");
  contract_create(c->store, "a \xce\xbb");
  char names[64] = "";
  assert_int_equal(c->store->ops->list(c->store, note_name, names, &c->err), COCABO_OK);
  assert_string_equal(names, "s t a \xce\xbb ");

  assert_int_equal(c->store->ops->remove(c->store, "s", &c->err), COCABO_OK);
  names[0] = '\0';
  assert_int_equal(c->store->ops->list(c->store, note_name, names, &c->err), COCABO_OK);
  assert_string_equal(names, "t a \xce\xbb ");
  assert_int_equal(c->store->ops->remove(c->store, "s", &c->err), COCABO_E_NOT_FOUND);
  assert_string_equal(c->err.message, "no study \"s\"");
}

static void a_new_study_is_not_the_deleted_one(void **state) {
  contract *c = *state;
  assert_int_equal(c->store->ops->remove(c->store, "s", &c->err), COCABO_OK);
  const int64_t id = contract_create(c->store, "s");
  assert_int_not_equal(id, c->id);
  cb_event asked = make_asked(0);
  contract_log log = {0};
  assert_int_equal(contract_append(c, &asked, 1, 0), COCABO_E_NOT_FOUND);
  assert_int_equal(c->store->ops->read_since(c->store, c->id, &(cb_position){.seq = 0},
                                             note_event, NULL, &log, &c->err),
                   COCABO_E_NOT_FOUND);
  assert_string_equal(c->err.message, "the study has been deleted");
}

static cocabo_status stop_at_once(void *user, const cb_event *event,
                                  cocabo_error *err) {
  (void)event;
  ++*(int *)user;
  err->code = COCABO_E_INTERRUPTED;
  return COCABO_E_INTERRUPTED;
}

static void a_reader_can_stop(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0);
  assert_appended(c, &asked, 1, 0);
  int calls = 0;
  assert_int_equal(c->store->ops->read_since(c->store, c->id, &(cb_position){.seq = 0},
                                             stop_at_once, NULL, &calls, &c->err),
                   COCABO_E_INTERRUPTED);
  assert_int_equal(calls, 1);
  assert_int_equal(contract_read(c, 0).n, 2); /* and the store still works */
}

/* Writers race for the next number; each number is won exactly once. */
enum { CONTRACT_WRITERS = 4, CONTRACT_EACH = 50 };

typedef struct contract_writer {
  cocabo_store *store;
  int64_t id;
  uint64_t name;
  const cb_cell *cells;
  int won;
} contract_writer;

static void *race(void *user) {
  contract_writer *w = user;
  cb_cell cells[CONTRACT_CELLS];
  memcpy(cells, w->cells, sizeof cells);
  uint64_t tries = 0;
  for (int64_t next = 0; w->won < CONTRACT_EACH;) {
    cb_event event = {.kind = CB_TRIAL_ASKED,
                      .number = next,
                      .id = {w->name, tries++},
                      .origin = CB_BY_DESIGN,
                      .n_cells = CONTRACT_CELLS,
                      .cells = cells};
    const cb_append what = {.events = &event, .n = 1, .next_number = next};
    const cocabo_status status = w->store->ops->append(w->store, w->id, &what, NULL);
    if (status != COCABO_OK && status != COCABO_E_BUSY)
      break;
    w->won += status == COCABO_OK;
    next++;
  }
  return NULL;
}

static void racing_writers_share_the_numbers(void **state) {
  contract *c = *state;
  contract_writer writers[CONTRACT_WRITERS];
  pthread_t threads[CONTRACT_WRITERS];
  const cb_cell *cells = make_asked(0).cells;
  for (int i = 0; i < CONTRACT_WRITERS; i++) {
    writers[i] = (contract_writer){
        .store = c->store, .id = c->id, .name = 1000 + (uint64_t)i, .cells = cells};
    assert_int_equal(pthread_create(&threads[i], NULL, race, &writers[i]), 0);
  }
  for (int i = 0; i < CONTRACT_WRITERS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(writers[i].won, CONTRACT_EACH);
  }
  const contract_log log = contract_read(c, 0);
  assert_int_equal(log.n, 1 + CONTRACT_WRITERS * CONTRACT_EACH);
}

/* Each thread has a handle of its own; all of them read one trial. */
enum { CONTRACT_ASKS = 20 };

typedef struct contract_worker {
  cocabo_store *store;
  const cocabo_trial *shared;
  int fine; /* asks that were told, and looks at the shared trial */
} contract_worker;

static void *ask_and_tell(void *user) {
  contract_worker *w = user;
  cocabo_study *study = NULL;
  cocabo_error err;
  if (cocabo_study_open(&study, "handles", w->store, &err) != COCABO_OK)
    return NULL;
  for (int i = 0; i < CONTRACT_ASKS; i++) {
    cocabo_trial *trial = NULL;
    cocabo_value values[CONTRACT_CELLS];
    w->fine +=
        cocabo_trial_values(w->shared, values, CONTRACT_CELLS, &err) == COCABO_OK &&
        cocabo_study_ask(study, 1, &trial, &err) == COCABO_OK &&
        cocabo_study_tell(study, cocabo_trial_number(trial), i, &err) == COCABO_OK;
    cocabo_trial_free(trial);
  }
  cocabo_study_free(study);
  return NULL;
}

static void threads_have_handles_of_their_own(void **state) {
  contract *c = *state;
  contract_worker workers[CONTRACT_WRITERS];
  pthread_t threads[CONTRACT_WRITERS];
  cocabo_error err;
  cocabo_space *space = contract_space();
  cocabo_options *options = cocabo_options_new();
  cocabo_study *study;
  cocabo_trial *shared;
  assert_ok(cocabo_options_set(options, "sampler", "random", &err));
  assert_ok(cocabo_study_create(&study, "handles", space, options, c->store, &err));
  assert_ok(cocabo_study_ask(study, 1, &shared, &err));
  for (int i = 0; i < CONTRACT_WRITERS; i++) {
    workers[i] = (contract_worker){.store = c->store, .shared = shared};
    assert_int_equal(pthread_create(&threads[i], NULL, ask_and_tell, &workers[i]), 0);
  }
  for (int i = 0; i < CONTRACT_WRITERS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(workers[i].fine, CONTRACT_ASKS);
  }
  assert_ok(cocabo_study_sync(study, &err));
  assert_int_equal(cocabo_study_count(study), 1 + CONTRACT_WRITERS * CONTRACT_ASKS);
  cocabo_trial_free(shared);
  cocabo_study_free(study);
  cocabo_options_free(options);
  cocabo_space_free(space);
}

/* ---- leases ---------------------------------------------------------------------- */

static cocabo_status append_leased(contract *c, cb_event *events, int n,
                                   const char *owner, double seconds) {
  const cb_append what = {.events = events,
                          .n = n,
                          .next_number = -1,
                          .owner = owner,
                          .seconds = seconds,
                          .durable = true};
  return c->store->ops->append(c->store, c->id, &what, &c->err);
}

#define assert_leased(c, event, owner, seconds)                                        \
  do {                                                                                 \
    cb_event leased_ = (event);                                                        \
    if (append_leased(c, &leased_, 1, owner, seconds) != COCABO_OK)                    \
      fail_msg("append: %s", (c)->err.message);                                        \
  } while (0)

/* "3 " is trial 3, "3.0 " its first run. */
static cocabo_status note_number(void *user, int64_t number, int64_t run,
                                 cocabo_error *err) {
  (void)err;
  char *text = user;
  sprintf(text + strlen(text), "%lld", (long long)number);
  if (run != CB_WHOLE_TRIAL)
    sprintf(text + strlen(text), ".%lld", (long long)run);
  strcat(text, " ");
  return COCABO_OK;
}

static cocabo_status pass_over(void *user, const cb_event *event, cocabo_error *err) {
  (void)user, (void)event, (void)err;
  return COCABO_OK;
}

static cocabo_status read_expired(const contract *c, cb_expired_fn each, void *user,
                                  cocabo_error *err) {
  return c->store->ops->read_since(c->store, c->id, &(cb_position){.seq = 0}, pass_over,
                                   each, user, err);
}

static void assert_expired(contract *c, const char *want) {
  char got[200] = "";
  assert_int_equal(read_expired(c, note_number, got, &c->err), COCABO_OK);
  assert_string_equal(got, want);
}

static void wait_for(double seconds) {
  const struct timespec t = {.tv_sec = (time_t)seconds,
                             .tv_nsec = (long)(1e9 * (seconds - floor(seconds)))};
  nanosleep(&t, NULL);
}

enum { LONG = 1000, OVER = -1 }; /* seconds of a lease */

static void leases_run_out(void **state) {
  contract *c = *state;
  assert_expired(c, "");
  assert_leased(c, make_asked(0), "w", LONG);
  assert_leased(c, make_asked(1), "w", 0.05);
  assert_leased(c, make_asked(2), NULL, OVER); /* nobody's */
  assert_leased(c, make_asked(3), "v", OVER);
  wait_for(0.1);
  assert_expired(c, "1 3 ");
  assert_expired(c, "1 3 "); /* looking changes nothing */
}

static void a_batch_is_leased_at_one_stroke(void **state) {
  contract *c = *state;
  cb_event first[] = {make_asked(0), make_asked(1), make_asked(2)};
  assert_int_equal(append_leased(c, first, 3, "w", OVER), COCABO_OK);
  assert_expired(c, "0 1 2 ");
  cb_event second[] = {make_told(0, 1.0), make_resumed(1, 1), make_asked(3)};
  assert_int_equal(append_leased(c, second, 3, "w", LONG), COCABO_OK);
  assert_expired(c, "2 ");
  cb_event added = make_asked(4);
  added.kind = CB_TRIAL_ADDED; /* waiting, or known: nobody runs it */
  assert_leased(c, added, "w", OVER);
  assert_expired(c, "2 ");
}

static void a_finished_trial_has_no_lease(void **state) {
  contract *c = *state;
  for (int i = 0; i < 5; i++)
    assert_leased(c, make_asked(i), "w", OVER);
  assert_expired(c, "0 1 2 3 4 ");
  cb_event failed = make_event(CB_TRIAL_FAILED, 1);
  failed.reason = "x";
  assert_leased(c, make_told(3, 1.0), NULL, 0);
  assert_expired(c, "0 1 2 4 ");
  assert_leased(c, failed, "w", LONG);
  assert_expired(c, "0 2 4 ");
  assert_leased(c, make_event(CB_TRIAL_INTERRUPTED, 4), "v", OVER);
  assert_expired(c, "0 2 ");
  assert_leased(c, make_attempt(CB_TRIAL_STALE, 0, 0), NULL, 0);
  assert_expired(c, "2 ");
  assert_leased(c, make_event(CB_MODEL_FITTED, -1), "w", OVER);
  assert_expired(c, "2 ");
}

static void whoever_resumes_takes_the_lease(void **state) {
  contract *c = *state;
  for (int i = 0; i < 3; i++)
    assert_leased(c, make_asked(i), "w", OVER);
  assert_leased(c, make_resumed(0, 1), "v", LONG);
  assert_leased(c, make_resumed(1, 1), NULL, 0);
  assert_leased(c, make_resumed(2, 1), "v", OVER);
  assert_expired(c, "2 ");
  assert_int_equal(c->store->ops->renew(c->store, c->id, "w", OVER, &c->err),
                   COCABO_OK);
  assert_expired(c, "2 "); /* w has lost them all */
  assert_int_equal(c->store->ops->renew(c->store, c->id, "v", OVER, &c->err),
                   COCABO_OK);
  assert_expired(c, "0 2 ");
}

/* Two workers find the same lease over; the slower one's STALE comes after the trial
 * has been handed out again. */
static void a_late_stale_ends_no_later_lease(void **state) {
  contract *c = *state;
  assert_leased(c, make_asked(0), "w", OVER);
  assert_leased(c, make_attempt(CB_TRIAL_STALE, 0, 0), NULL, 0);
  assert_expired(c, "");
  assert_leased(c, make_resumed(0, 1), "v", OVER);
  assert_leased(c, make_attempt(CB_TRIAL_STALE, 0, 0), NULL, 0);
  assert_expired(c, "0 ");
  assert_leased(c, make_attempt(CB_TRIAL_STALE, 0, 1), NULL, 0);
  assert_expired(c, "");
}

/* A worker was late, and renews after somebody else has looked: the trial is its own
 * unless that one was faster. */
static void a_renewed_lease_is_not_lost(void **state) {
  contract *c = *state;
  assert_leased(c, make_asked(0), "w", OVER);
  assert_expired(c, "0 ");
  assert_int_equal(c->store->ops->renew(c->store, c->id, "w", LONG, &c->err),
                   COCABO_OK);
  cb_event taken[] = {make_attempt(CB_TRIAL_STALE, 0, 0), make_resumed(0, 1)};
  assert_int_equal(append_leased(c, taken, 2, "v", OVER), COCABO_E_BUSY);
  assert_string_equal(c->err.message, "trial 0 is not lost, its lease lives");
  assert_string_equal(contract_read(c, 2).kinds, "");
  assert_expired(c, "");
  assert_int_equal(c->store->ops->renew(c->store, c->id, "w", OVER, &c->err),
                   COCABO_OK);
  assert_int_equal(append_leased(c, taken, 2, "v", OVER), COCABO_OK);
  assert_expired(c, "0 ");
}

/* Who lost the trial does not know it yet, and says that it failed. */
static void a_late_end_ends_no_later_lease(void **state) {
  contract *c = *state;
  for (int64_t i = 0; i < 2; i++) {
    const cb_event_kind kind = i == 0 ? CB_TRIAL_FAILED : CB_TRIAL_INTERRUPTED;
    cb_event late = make_attempt(kind, i, 0), end = make_attempt(kind, i, 1);
    late.has_attempt = end.has_attempt = true;
    assert_leased(c, make_asked(i), "w", OVER);
    assert_leased(c, make_resumed(i, 1), "v", OVER);
    assert_leased(c, late, NULL, 0);
    assert_expired(c, i == 0 ? "0 " : "1 ");
    assert_leased(c, end, NULL, 0);
    assert_expired(c, "");
  }
}

/* Whoever finds a trial lost may come too late: it has ended in between. */
static void what_has_ended_since_is_not_lost(void **state) {
  contract *c = *state;
  cb_event asked[] = {make_asked(0), make_asked(1)};
  assert_appended(c, asked, 2, 0);
  const cb_position seen = {asked[1].seq, {asked[1].id[0], asked[1].id[1]}};
  cb_event told = make_told(0, 1.5);
  assert_appended(c, &told, 1, -1);
  for (int i = 0; i < 2; i++) {
    cb_event lost[] = {make_attempt(CB_TRIAL_STALE, i, 0), make_resumed(i, 1)};
    const cb_append what = {.events = lost, .n = 2, .next_number = -1, .seen = &seen};
    assert_int_equal(c->store->ops->append(c->store, c->id, &what, &c->err),
                     i == 0 ? COCABO_E_BUSY : COCABO_OK);
  }
}

/* What the writer says itself in the same stroke is nobody else's. */
static void what_one_ends_oneself_may_be_lost_later(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0);
  assert_appended(c, &asked, 1, 0);
  const cb_position seen = {asked.seq, {asked.id[0], asked.id[1]}};
  cb_event story[] = {
      make_event(CB_TRIAL_INTERRUPTED, 0), make_resumed(0, 1),
      make_attempt(CB_TRIAL_STALE, 0, 1),  make_started(0, 0),
      make_observed(0, 0, CB_RUN_OK),      make_observed(0, 0, CB_RUN_DISCARDED)};
  const cb_append what = {.events = story, .n = 6, .next_number = -1, .seen = &seen};
  if (c->store->ops->append(c->store, c->id, &what, &c->err) != COCABO_OK)
    fail_msg("%s", c->err.message);
}

/* A log that is not the one that is known. */
static void a_log_that_lost_its_end_is_noticed(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0);
  assert_appended(c, &asked, 1, 0);
  const cb_position others[] = {{asked.seq, {asked.id[0], asked.id[1] + 1}},
                                {asked.seq + 1, {asked.id[0], asked.id[1]}}};
  int calls = 0;
  for (int i = 0; i < 2; i++) {
    cb_event told = make_told(0, 1.5);
    const cb_append what = {
        .events = &told, .n = 1, .next_number = -1, .seen = &others[i]};
    assert_int_equal(c->store->ops->read_since(c->store, c->id, &others[i],
                                               stop_at_once, NULL, &calls, &c->err),
                     COCABO_E_BUSY);
    assert_int_equal(c->store->ops->append(c->store, c->id, &what, &c->err),
                     COCABO_E_BUSY);
  }
  assert_int_equal(calls, 0);
  assert_int_equal(contract_read(c, 0).n, 2);
}

/* A whole log at one stroke. */
static void a_log_is_created_whole_or_not_at_all(void **state) {
  contract *c = *state;
  cb_event events[] = {make_event(CB_STUDY_CREATED, -1), make_asked(0),
                       make_told(0, 2.5), make_asked(1)};
  int64_t id = -7;
  events[0].space = contract_space();
  events[3].number = 7; /* which is not the next */
  assert_int_equal(
      c->store->ops->create_log(c->store, "whole", events, 4, false, &id, &c->err),
      COCABO_E_BUSY);
  assert_int_equal(c->store->ops->find(c->store, "whole", &id, &c->err),
                   COCABO_E_NOT_FOUND);
  events[3].number = 1;
  assert_int_equal(
      c->store->ops->create_log(c->store, "whole", events, 4, false, &id, &c->err),
      COCABO_OK);
  for (int i = 0; i < 4; i++) {
    assert_int_equal(events[i].seq, i + 1);
    assert_true(events[i].time == events[0].time && events[i].time > 0.0);
  }
  const int64_t before = c->id;
  c->id = id;
  assert_int_equal(contract_read(c, 0).n, 4);
  c->id = before;
  assert_int_equal(
      c->store->ops->create_log(c->store, "whole", events, 1, false, &id, &c->err),
      COCABO_E_EXISTS);
  cocabo_space_free(events[0].space);
}

/* A body as a later version might write it, with a key that is not known here. */
static const char later_body[] = "{\"y\":2.5,\"later\":[1,null]}";

static cocabo_status check_kept(void *user, const cb_event *event, cocabo_error *err) {
  (void)err;
  const double *times = user;
  assert_true(event->time == times[event->seq - 1]);
  if (event->kind != CB_TRIAL_TOLD)
    return COCABO_OK;
  assert_true(event->has_y && event->y == 2.5);
  if (event->kept) { /* a store that has a text of it at all */
    assert_int_equal(event->kept_size, sizeof later_body - 1);
    assert_memory_equal(event->kept, later_body, sizeof later_body - 1);
  }
  return COCABO_OK;
}

/* What is copied from another store stays as it is. */
static void events_keep_their_times_and_bodies(void **state) {
  contract *c = *state;
  cb_event events[] = {make_event(CB_STUDY_CREATED, -1), make_asked(0)};
  cb_event more[] = {make_told(0, 2.5), make_asked(1)};
  const double times[] = {1e9 + 0.1, 1e9 + 1.0 / 3.0, 1e9 - 5.0, 2e9};
  const cb_append rest = {
      .events = more, .n = 2, .next_number = 1, .owner = NULL, .keep = true};
  int64_t id = -7, unchecked = -1;
  const cb_store_ops *ops = c->store->ops;
  events[0].space = contract_space();
  for (int i = 0; i < 4; i++)
    (i < 2 ? &events[i] : &more[i - 2])->time = times[i];
  more[0].kept = later_body;
  more[0].kept_size = sizeof later_body - 1;
  assert_int_equal(ops->create_log(c->store, "kept", events, 2, true, &id, &c->err),
                   COCABO_OK);
  assert_int_equal(ops->append(c->store, id, &rest, &c->err), COCABO_OK);
  for (int i = 0; i < 4; i++) {
    const cb_event *event = i < 2 ? &events[i] : &more[i - 2];
    assert_int_equal(event->seq, i + 1);
    assert_true(event->time == times[i]);
  }
  more[0].time = more[1].time = 7.0;
  assert_int_equal(ops->append(c->store, id, &rest, &c->err), COCABO_OK); /* found */
  assert_true(more[0].time == times[2] && more[1].seq == 4);
  assert_int_equal(ops->read_since(c->store, id, &(cb_position){0}, check_kept, NULL,
                                   (void *)times, &c->err),
                   COCABO_OK);
  assert_int_equal(ops->check(c->store, id, &unchecked, &c->err), COCABO_OK);
  assert_int_equal(unchecked, 0);
  cb_description d;
  assert_int_equal(ops->describe(c->store, id, &d, &c->err), COCABO_OK);
  assert_true(d.first == times[0] && d.last == times[3]);
  cocabo_space_free(events[0].space);
}

static void leases_are_renewed_by_their_owner(void **state) {
  contract *c = *state;
  assert_leased(c, make_asked(0), "w", OVER);
  assert_leased(c, make_asked(1), "w 2", OVER);
  assert_leased(c, make_asked(2), "w", OVER);
  assert_leased(c, make_asked(3), NULL, 0);
#define RENEW(owner, seconds)                                                          \
  assert_int_equal(c->store->ops->renew(c->store, c->id, owner, seconds, &c->err),     \
                   COCABO_OK)
  RENEW("W", LONG);
  RENEW("", LONG);
  assert_expired(c, "0 1 2 ");
  RENEW("w", LONG);
  assert_expired(c, "1 ");
  RENEW("w", OVER);
  RENEW("w 2", LONG);
  assert_expired(c, "0 2 ");
  assert_leased(c, make_started(0, 0), "w 2", OVER);
  assert_leased(c, make_started(0, 1), "w", OVER);
  assert_expired(c, "0.0 0.1 2 ");
  RENEW("w", LONG); /* trials and runs */
  assert_expired(c, "0.0 ");
  RENEW("w 2", LONG);
  assert_expired(c, "");
#undef RENEW
}

static void a_refused_or_repeated_append_moves_no_lease(void **state) {
  contract *c = *state;
  cb_event mine = make_asked(0), theirs = make_asked(0), told = make_told(0, 1.0);
  assert_int_equal(append_leased(c, &mine, 1, "w", OVER), COCABO_OK);
  assert_int_equal(append_leased(c, &theirs, 1, "v", LONG), COCABO_E_BUSY);
  assert_expired(c, "0 ");
  assert_int_equal(append_leased(c, &mine, 1, "w", LONG), COCABO_OK); /* a retry */
  assert_expired(c, "0 ");
  assert_int_equal(append_leased(c, &told, 1, "w", OVER), COCABO_OK);
  assert_int_equal(append_leased(c, &mine, 1, "w", OVER), COCABO_OK);
  assert_expired(c, "");
}

static void leases_belong_to_one_study(void **state) {
  contract *c = *state;
  contract other = {.store = c->store, .id = contract_create(c->store, "other")};
  assert_leased(c, make_asked(0), "w", OVER);
  assert_leased(&other, make_asked(0), "w", LONG);
  assert_expired(&other, "");
  assert_int_equal(c->store->ops->renew(c->store, c->id, "w", LONG, &c->err),
                   COCABO_OK);
  assert_int_equal(c->store->ops->renew(c->store, other.id, "w", OVER, &c->err),
                   COCABO_OK);
  assert_expired(c, "");
  assert_expired(&other, "0 ");

  assert_int_equal(c->store->ops->remove(c->store, "other", &c->err), COCABO_OK);
  char numbers[20] = "";
  assert_int_equal(read_expired(&other, note_number, numbers, &c->err),
                   COCABO_E_NOT_FOUND);
  assert_string_equal(c->err.message, "the study has been deleted");
  assert_int_equal(c->store->ops->renew(c->store, other.id, "w", LONG, &c->err),
                   COCABO_E_NOT_FOUND);
  other.id = contract_create(c->store, "other");
  assert_expired(&other, "");
}

static cocabo_status stop_at_number(void *user, int64_t number, int64_t run,
                                    cocabo_error *err) {
  assert_int_equal(run, CB_WHOLE_TRIAL);
  *(int64_t *)user += 1 + number;
  err->code = COCABO_E_INTERRUPTED;
  return COCABO_E_INTERRUPTED;
}

static void whoever_looks_at_leases_can_stop(void **state) {
  contract *c = *state;
  assert_leased(c, make_asked(0), "w", OVER);
  assert_leased(c, make_asked(1), "w", OVER);
  int64_t sum = 0;
  assert_int_equal(read_expired(c, stop_at_number, &sum, &c->err),
                   COCABO_E_INTERRUPTED);
  assert_int_equal(sum, 1); /* trial 0, and no other */
  assert_expired(c, "0 1 ");
}

static cocabo_status note_kind(void *user, const cb_event *event, cocabo_error *err) {
  (void)err;
  char *text = user;
  sprintf(text + strlen(text), "%d:%lld ", (int)event->kind, (long long)event->number);
  return COCABO_OK;
}

static void events_are_shown_before_leases(void **state) {
  contract *c = *state;
  char got[200] = "";
  assert_leased(c, make_asked(0), "w", OVER);
  assert_leased(c, make_asked(1), "w", OVER);
  assert_leased(c, make_told(1, 0.5), NULL, 0);
  const cb_store_ops *ops = c->store->ops;
  assert_int_equal(ops->read_since(c->store, c->id, &(cb_position){.seq = 1}, note_kind,
                                   note_number, got, &c->err),
                   COCABO_OK);
  assert_string_equal(got, "3:0 3:1 4:1 0 ");
  got[0] = '\0';
  assert_int_equal(ops->read_since(c->store, c->id, &(cb_position){.seq = 4}, note_kind,
                                   note_number, got, &c->err),
                   COCABO_OK);
  assert_string_equal(got, "0 "); /* also where there is no event */
  int calls = 0;
  assert_int_equal(ops->read_since(c->store, c->id, &(cb_position){.seq = 0},
                                   stop_at_once, note_number, &calls, &c->err),
                   COCABO_E_INTERRUPTED);
  assert_int_equal(calls, 1);
  assert_expired(c, "0 ");
}

/* One stroke finds a trial lost and hands it out again. */
static void a_stale_trial_is_resumed_in_the_same_append(void **state) {
  contract *c = *state;
  assert_leased(c, make_asked(0), "w", OVER);
  assert_leased(c, make_asked(1), "w", OVER);
  cb_event taken[] = {
      make_attempt(CB_TRIAL_STALE, 0, 0), make_attempt(CB_TRIAL_STALE, 1, 0),
      make_event(CB_MODEL_FITTED, -1), make_resumed(0, 1), make_asked(2)};
  cb_event late[] = {make_attempt(CB_TRIAL_STALE, 0, 0), make_resumed(0, 1)};
  assert_int_equal(append_leased(c, taken, 5, "v", LONG), COCABO_OK);
  assert_string_equal(contract_read(c, 3).kinds, "7:0 7:1 10:-1 8:0 3:2 ");
  assert_expired(c, ""); /* 0 is v's, 1 nobody's */
  assert_int_equal(append_leased(c, late, 2, "u", LONG), COCABO_E_BUSY);
  assert_int_equal(contract_read(c, 3).n, 5); /* and its STALE is not there either */
  assert_int_equal(c->store->ops->renew(c->store, c->id, "v", OVER, &c->err),
                   COCABO_OK);
  assert_expired(c, "0 2 ");
}

/* ---- owners that are gone -------------------------------------------------------- */

enum { OWNER_PID = 1, OWNER_START = 3, OWNER_NAMESPACE = 4, OWNER_BOOT = 5 };

/* The name of this process as an owner, with one part replaced; NULL: none. */
static const char *owner_with(int part, const char *text) {
  static char out[COCABO_OWNER_SIZE + 64];
  char own[COCABO_OWNER_SIZE];
  cocabo_error err;
  assert_ok(cocabo_owner_name(own, &err));
  int n = 0;
  out[0] = '\0';
  for (char *rest = own, *end; rest; rest = end, n++) {
    end = strchr(rest, ':');
    if (end)
      *end++ = '\0';
    sprintf(out + strlen(out), "%s%s", n ? ":" : "", text && n == part ? text : rest);
  }
  assert_int_equal(n, 6);
  return out;
}

/* The name of a process that has ended, and is a zombie if it is not waited for. */
static pid_t dead_owner(char out[static COCABO_OWNER_SIZE], bool reap) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    cocabo_error err;
    char own[COCABO_OWNER_SIZE] = "";
    const bool named = cocabo_owner_name(own, &err) == COCABO_OK;
    _exit(named && write(ends[1], own, sizeof own) == (ssize_t)sizeof own ? 0 : 1);
  }
  assert_true(child > 0);
  assert_int_equal(read(ends[0], out, COCABO_OWNER_SIZE), COCABO_OWNER_SIZE);
  close(ends[0]);
  close(ends[1]);
  siginfo_t info;
  assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
  if (reap)
    assert_int_equal(waitpid(child, NULL, 0), child);
  return child;
}

static void what_a_dead_process_held_is_offered_at_once(void **state) {
  contract *c = *state;
  char gone[COCABO_OWNER_SIZE], zombie[COCABO_OWNER_SIZE];
  dead_owner(gone, true);
  const pid_t child = dead_owner(zombie, false);
  assert_leased(c, make_asked(0), gone, LONG);
  assert_leased(c, make_asked(1), owner_with(0, NULL), LONG);
  assert_leased(c, make_asked(2), zombie, LONG);
  assert_leased(c, make_asked(3), gone, LONG);
  assert_leased(c, make_asked(4), "w", OVER);
  assert_expired(c, "0 2 3 4 ");
  cb_event lives = make_attempt(CB_TRIAL_STALE, 1, 0);
  assert_int_equal(append_leased(c, &lives, 1, NULL, 0), COCABO_E_BUSY);
  cb_event taken[] = {make_attempt(CB_TRIAL_STALE, 0, 0),
                      make_attempt(CB_TRIAL_STALE, 2, 0), make_resumed(0, 1)};
  assert_int_equal(append_leased(c, taken, 3, owner_with(0, NULL), LONG), COCABO_OK);
  assert_expired(c, "3 4 ");
  assert_int_equal(waitpid(child, NULL, 0), child);
}

/* A pid alone says nothing: it is used again, and every machine has its own. */
static void only_a_process_of_this_machine_can_be_gone(void **state) {
  contract *c = *state;
  char dead[COCABO_OWNER_SIZE], pid[24];
  snprintf(pid, sizeof pid, "%ld", (long)dead_owner(dead, true));
  const struct {
    int part;
    const char *text;
    bool gone;
  } cases[] = {{OWNER_START, "1", true}, /* another process has that pid by now */
               {OWNER_PID, pid, true},
               {OWNER_PID, "0", false},
               {OWNER_PID, "-1", false},
               {OWNER_PID, "x", false},
               {OWNER_PID, "99999999999", false},
               {0, "elsewhere", false}};
  enum { N = sizeof cases / sizeof cases[0] };
  char want[100] = "";
  for (int i = 0; i < N; i++) {
    assert_leased(c, make_asked(i), owner_with(cases[i].part, cases[i].text), LONG);
    if (cases[i].gone)
      sprintf(want + strlen(want), "%d ", i);
  }
  assert_expired(c, want);
}

/* With a pid that is no more; only the clock decides. */
static void a_name_that_leaves_something_open_says_nothing(void **state) {
  contract *c = *state;
  char dead[COCABO_OWNER_SIZE], name[2 * COCABO_OWNER_SIZE];
  const int parts[] = {OWNER_START, OWNER_NAMESPACE, OWNER_BOOT};
  const char *const texts[] = {"", "7"};
  int64_t next = 0;
  dead_owner(dead, true);
  for (int k = 0; k < 2; k++)
    for (int i = k; i < 3; i++) {
      char *rest = strcpy(name, dead);
      for (int part = 0; part < parts[i]; part++)
        rest = strchr(rest, ':') + 1;
      const char *after = strchr(dead + (rest - name), ':');
      sprintf(rest, "%s%s", texts[k], after ? after : "");
      assert_leased(c, make_asked(next++), name, LONG);
    }
  sprintf(name, "%s:", dead);
  assert_leased(c, make_asked(next++), name, LONG);
  sprintf(name, "%s:%s", dead, dead);
  assert_leased(c, make_asked(next++), name, LONG);
  *strrchr(dead, ':') = '\0';
  assert_leased(c, make_asked(next++), dead, LONG);
  assert_leased(c, make_asked(next++), ":::::", LONG);
  assert_expired(c, "");
}

/* What somebody runs is leased also where it was put back, not where it waits. */
static void a_trial_added_as_running_is_leased(void **state) {
  contract *c = *state;
  for (int i = 0; i < 3; i++) {
    cb_event added = make_asked(i);
    added.kind = CB_TRIAL_ADDED;
    added.origin = CB_BY_USER;
    added.running = i < 2;
    assert_leased(c, added, i == 1 ? NULL : "w", OVER);
  }
  assert_expired(c, "0 ");
  assert_leased(c, make_told(0, 1.0), NULL, 0);
  assert_expired(c, "");
}

static cocabo_status note_lease(void *user, const cocabo_lease *lease,
                                cocabo_error *err) {
  (void)err;
  char *text = user;
  const char *left = lease->left > 0 ? "held" : "over";
  sprintf(text + strlen(text), "%lld", (long long)lease->trial);
  if (lease->run != CB_WHOLE_TRIAL)
    sprintf(text + strlen(text), ".%lld", (long long)lease->run);
  sprintf(text + strlen(text), " %s%s by %.5s\n", left, lease->gone ? ", gone" : "",
          lease->owner);
  return COCABO_OK;
}

static cocabo_status stop_at_lease(void *user, const cocabo_lease *lease,
                                   cocabo_error *err) {
  (void)err;
  *(double *)user = lease->left;
  return COCABO_E_INTERRUPTED;
}

static void leases_are_shown_by_trial_and_run(void **state) {
  contract *c = *state;
  char got[400] = "", dead[COCABO_OWNER_SIZE], want[400];
  double left = 0;
  const cb_store_ops *ops = c->store->ops;
  dead_owner(dead, true);
  assert_int_equal(ops->leases(c->store, c->id, note_lease, got, &c->err), COCABO_OK);
  assert_string_equal(got, "");
  cb_event both[] = {make_asked(0), make_asked(1)};
  assert_int_equal(append_leased(c, both, 2, "w", LONG), COCABO_OK);
  assert_leased(c, make_asked(2), NULL, 0);
  assert_leased(c, make_started(2, 10), "w", OVER);
  assert_leased(c, make_started(2, 11), "other", LONG);
  assert_leased(c, make_asked(3), "other", OVER);
  assert_leased(c, make_asked(4), dead, LONG);
  assert_leased(c, make_told(1, 1.0), NULL, 0);
  assert_int_equal(ops->leases(c->store, c->id, note_lease, got, &c->err), COCABO_OK);
  sprintf(want,
          "0 held by w\n2.10 over by w\n2.11 held by other\n3 over by other\n"
          "4 held, gone by %.5s\n",
          dead);
  assert_string_equal(got, want);
  assert_int_equal(ops->leases(c->store, c->id, stop_at_lease, &left, &c->err),
                   COCABO_E_INTERRUPTED);
  assert_true(left > LONG - 60 && left <= LONG);
  assert_int_equal(ops->remove(c->store, "s", &c->err), COCABO_OK);
  assert_int_equal(ops->leases(c->store, c->id, note_lease, got, &c->err),
                   COCABO_E_NOT_FOUND);
}

/* ---- leases of runs -------------------------------------------------------------- */

static void a_run_has_the_lease_instead_of_its_trial(void **state) {
  contract *c = *state;
  cb_event first[] = {make_asked(0), make_started(0, 0), make_asked(1)};
  assert_int_equal(append_leased(c, first, 3, "w", OVER), COCABO_OK);
  assert_expired(c, "0.0 1 ");
  assert_leased(c, make_started(1, 0), NULL, 0); /* nobody's */
  assert_expired(c, "0.0 ");
  cb_event resumed[] = {make_resumed(1, 1), make_started(1, 1)};
  assert_int_equal(append_leased(c, resumed, 2, "v", OVER), COCABO_OK);
  assert_leased(c, make_started(0, 1), "v", OVER);
  assert_leased(c, make_started(1, 12), "w", LONG);
  assert_expired(c, "0.0 0.1 1.1 ");
  cb_event added[] = {make_asked(2), make_started(2, 0)};
  added[0].kind = CB_TRIAL_ADDED;
  added[0].running = true;
  assert_int_equal(append_leased(c, added, 2, "w", OVER), COCABO_OK);
  assert_leased(c, make_resumed(0, 1), "v", OVER); /* which is beside its runs */
  assert_expired(c, "0 0.0 0.1 1.1 2.0 ");
}

static void an_observed_run_has_no_lease(void **state) {
  contract *c = *state;
  cb_event first[] = {make_asked(0), make_started(0, 0), make_started(0, 1),
                      make_asked(1), make_started(1, 0)};
  assert_int_equal(append_leased(c, first, 5, "w", OVER), COCABO_OK);
  assert_expired(c, "0.0 0.1 1.0 ");
  for (int64_t outcome = CB_RUN_OK; outcome <= CB_RUN_DISCARDED; outcome++) {
    const int64_t run = 1 + outcome;
    assert_leased(c, make_started(0, run), "w", OVER);
    assert_leased(c, make_observed(0, run, (cb_outcome)outcome),
                  outcome == CB_RUN_OK ? "v" : NULL, LONG);
    assert_expired(c, "0.0 0.1 1.0 ");
  }
  assert_leased(c, make_observed(0, 1, CB_RUN_DISCARDED), "v", LONG);
  assert_expired(c, "0.0 1.0 ");
  assert_leased(c, make_observed(0, 1, CB_RUN_OK), "w", LONG); /* late, and welcome */
  assert_leased(c, make_observed(0, 1, CB_RUN_FAILED), NULL, 0);
  assert_expired(c, "0.0 1.0 ");
  cb_event at_once[] = {make_started(1, 1), make_observed(1, 1, CB_RUN_OK)};
  assert_int_equal(append_leased(c, at_once, 2, "w", OVER), COCABO_OK);
  assert_expired(c, "0.0 1.0 ");
}

/* A trial may be complete, or given back, while runs of it go on. */
static void the_end_of_a_trial_leaves_its_runs(void **state) {
  contract *c = *state;
  cb_event ends[] = {make_told(0, 1.0), make_attempt(CB_TRIAL_FAILED, 1, 1),
                     make_attempt(CB_TRIAL_INTERRUPTED, 2, 1),
                     make_attempt(CB_TRIAL_STALE, 3, 1)};
  char want[100] = "";
  for (int i = 0; i < 4; i++) {
    cb_event first[] = {make_asked(i), make_started(i, 0), make_resumed(i, 1)};
    assert_int_equal(append_leased(c, first, 3, "w", OVER), COCABO_OK);
    sprintf(want + strlen(want), "%d ", i);
    sprintf(want + strlen(want), "%d.0 ", i);
  }
  assert_expired(c, want);
  for (int i = 0; i < 4; i++)
    assert_leased(c, ends[i], NULL, 0);
  assert_expired(c, "0.0 1.0 2.0 3.0 ");
  assert_int_equal(c->store->ops->renew(c->store, c->id, "w", LONG, &c->err),
                   COCABO_OK);
  assert_leased(c, make_attempt(CB_TRIAL_STALE, 0, 1), "v", LONG); /* none of its own */
}

static cocabo_status discard(contract *c, int64_t number, int64_t run,
                             const char *owner) {
  cb_event event = make_observed(number, run, CB_RUN_DISCARDED);
  return append_leased(c, &event, 1, owner, LONG);
}

static void a_run_that_somebody_is_at_is_not_discarded(void **state) {
  contract *c = *state;
  char dead[COCABO_OWNER_SIZE];
  dead_owner(dead, true);
  cb_event first[] = {make_asked(0), make_asked(1), make_started(0, 0),
                      make_started(0, 1), make_started(1, 0)};
  assert_int_equal(append_leased(c, first, 5, "w", LONG), COCABO_OK);
  assert_int_equal(discard(c, 0, 0, "v"), COCABO_E_BUSY);
  assert_string_equal(c->err.message, "run 0 of trial 0 is not lost, its lease lives");
  assert_int_equal(discard(c, 0, 0, NULL), COCABO_E_BUSY);
  assert_int_equal(contract_read(c, 6).n, 0);
  assert_int_equal(discard(c, 0, 0, "w"), COCABO_OK); /* its own */
  assert_int_equal(discard(c, 0, 0, "v"), COCABO_OK); /* nobody is at it any more */
  assert_leased(c, make_observed(1, 0, CB_RUN_CAPPED), "v", LONG); /* but a result */
  assert_int_equal(discard(c, 0, 1, "v"), COCABO_E_BUSY);
  assert_int_equal(c->store->ops->renew(c->store, c->id, "w", OVER, &c->err),
                   COCABO_OK);
  assert_int_equal(discard(c, 0, 1, "v"), COCABO_OK);
  assert_leased(c, make_started(1, 1), dead, LONG);
  assert_expired(c, "1.1 ");
  assert_int_equal(discard(c, 1, 1, "v"), COCABO_OK);
  assert_expired(c, "");
}

static void a_run_that_has_ended_since_is_not_discarded(void **state) {
  contract *c = *state;
  cb_event first[] = {make_asked(0), make_started(0, 0), make_started(0, 1),
                      make_started(0, 2), make_observed(0, 2, CB_RUN_OK)};
  assert_appended(c, first, 5, 0);
  const cb_position seen = {first[4].seq, {first[4].id[0], first[4].id[1]}};
  cb_event ended = make_observed(0, 0, CB_RUN_FAILED);
  assert_appended(c, &ended, 1, -1);
  for (int64_t run = 0; run < 3; run++) {
    cb_event lost = make_observed(0, run, CB_RUN_DISCARDED);
    const cb_append what = {.events = &lost, .n = 1, .next_number = -1, .seen = &seen};
    assert_int_equal(c->store->ops->append(c->store, c->id, &what, &c->err),
                     run == 0 ? COCABO_E_BUSY : COCABO_OK);
    if (run == 0)
      assert_string_equal(c->err.message, "run 0 of trial 0 is not lost, it has ended");
  }
  cb_event late = make_observed(0, 0, CB_RUN_OK);
  const cb_append what = {.events = &late, .n = 1, .next_number = -1, .seen = &seen};
  assert_int_equal(c->store->ops->append(c->store, c->id, &what, &c->err), COCABO_OK);
  assert_string_equal(contract_read(c, 7).kinds, "12:0 12:0 12:0 ");
}

static void a_repeated_append_moves_no_lease_of_a_run(void **state) {
  contract *c = *state;
  cb_event mine[] = {make_asked(0), make_started(0, 0)};
  cb_event theirs = make_started(0, 0), over = make_observed(0, 0, CB_RUN_DISCARDED);
  assert_int_equal(append_leased(c, mine, 2, "w", OVER), COCABO_OK);
  assert_int_equal(append_leased(c, &theirs, 1, "v", LONG), COCABO_E_BUSY);
  assert_int_equal(append_leased(c, mine, 2, "w", LONG), COCABO_OK);
  assert_expired(c, "0.0 ");
  assert_int_equal(append_leased(c, &over, 1, "w", LONG), COCABO_OK);
  assert_int_equal(append_leased(c, mine, 2, "w", OVER), COCABO_OK);
  assert_expired(c, "");
  assert_leased(c, make_started(0, 1), "w", LONG);
  assert_int_equal(append_leased(c, &over, 1, "v", LONG), COCABO_OK); /* found */
}

/* Memory fails at each place in turn. */
static void lack_of_memory_starts_no_run(void **state) {
  contract *c = *state;
  cb_event events[] = {make_asked(0), make_started(0, 0), make_started(0, 1)};
  events[1].instance = "a.cnf";
  cocabo_status status = COCABO_E_NO_MEMORY;
  for (long k = 0; status != COCABO_OK; k++) {
    assert_expired(c, "");
    assert_int_equal(contract_read(c, 0).n, 1);
    cb_mem_fail_after(k);
    status = append_leased(c, events, 3, "w", OVER);
    cb_mem_fail_after(-1);
    assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
  }
  assert_expired(c, "0.0 0.1 ");
}

static void a_log_with_runs_is_created_whole(void **state) {
  contract *c = *state;
  cb_event events[] = {make_event(CB_STUDY_CREATED, -1),
                       make_asked(0),
                       make_started(0, 0),
                       make_started(0, 1),
                       make_observed(0, 0, CB_RUN_OK),
                       make_observed(0, 1, CB_RUN_DISCARDED)};
  int64_t id = -7;
  events[0].space = contract_space();
  events[3].number = 1; /* which is not there */
  assert_int_equal(
      c->store->ops->create_log(c->store, "runs", events, 6, true, &id, &c->err),
      COCABO_E_BUSY);
  events[3].number = 0;
  assert_int_equal(
      c->store->ops->create_log(c->store, "runs", events, 6, true, &id, &c->err),
      COCABO_OK);
  contract copy = {.store = c->store, .id = id};
  assert_string_equal(contract_read(&copy, 1).kinds, "3:0 11:0 11:0 12:0 12:0 ");
  assert_expired(&copy, "");
  cb_event next = make_started(0, 1);
  assert_int_equal(contract_append(&copy, &next, 1, -1), COCABO_E_BUSY);
  next.attempt = 2;
  assert_appended(&copy, &next, 1, -1);
  cocabo_space_free(events[0].space);
}

/* ---- summaries ------------------------------------------------------------------- */

static cb_description contract_describe(contract *c) {
  cb_description d = {.seq = -7};
  assert_int_equal(c->store->ops->describe(c->store, c->id, &d, &c->err), COCABO_OK);
  return d;
}

static void leave_summary(contract *c, int64_t seq, double value) {
  const cb_summary summary = {.seq = seq,
                              .states = {1, 2, 3, 4, 5, 6},
                              .parameters = 7,
                              .best = 20,
                              .value = value,
                              .feasible = true,
                              .maximize = true,
                              .constrained = true,
                              .sampler = "mixed"};
  assert_int_equal(c->store->ops->summarise(c->store, c->id, &summary, &c->err),
                   COCABO_OK);
}

static void the_ends_of_a_log_are_known(void **state) {
  contract *c = *state;
  const cb_description before = contract_describe(c);
  assert_int_equal(before.seq, 1);
  assert_true(before.first > 1.5e9 && before.first == before.last);
  assert_int_equal(before.summary.seq, 0);
  wait_for(0.01);
  cb_event events[] = {make_asked(0), make_told(0, 2.5)};
  assert_appended(c, events, 2, 0);
  const cb_description after = contract_describe(c);
  assert_int_equal(after.seq, 3);
  assert_true(after.first == before.first && after.last == events[1].time);
  assert_true(after.last > after.first);
}

static void a_summary_is_kept(void **state) {
  contract *c = *state;
  cb_event events[] = {make_asked(0), make_told(0, 2.5)};
  assert_appended(c, events, 2, 0);
  leave_summary(c, 3, 1.0 / 3.0);
  const cb_summary s = contract_describe(c).summary;
  assert_int_equal(s.seq, 3);
  for (int i = 0; i <= COCABO_STALE; i++)
    assert_int_equal(s.states[i], i + 1);
  assert_int_equal(s.parameters, 7);
  assert_int_equal(s.best, 20);
  assert_true(s.value == 1.0 / 3.0);
  assert_true(s.feasible && s.maximize && s.constrained && !s.noisy);
  assert_string_equal(s.sampler, "mixed");
  const cb_summary none = {
      .seq = 3, .parameters = 1, .best = -1, .value = NAN, .sampler = "x", .noisy = 1};
  contract other = {.store = c->store, .id = contract_create(c->store, "other")};
  cb_event more[] = {make_asked(0), make_asked(1)};
  assert_appended(&other, more, 2, 0);
  assert_int_equal(c->store->ops->summarise(c->store, other.id, &none, &c->err),
                   COCABO_OK);
  const cb_summary t = contract_describe(&other).summary;
  assert_true(t.seq == 3 && t.best == -1 && isnan(t.value) && t.noisy && !t.feasible);
  assert_int_equal(contract_describe(c).summary.best, 20); /* one a study */
}

static void the_newest_summary_counts(void **state) {
  contract *c = *state;
  cb_event events[] = {make_asked(0), make_asked(1), make_asked(2)};
  assert_appended(c, events, 3, 0);
  leave_summary(c, 3, 3.5);
  leave_summary(c, 2, 2.5); /* whoever was slower */
  assert_true(contract_describe(c).summary.value == 3.5);
  leave_summary(c, 5, 5.5); /* of another log */
  assert_true(contract_describe(c).summary.value == 3.5);
  assert_int_equal(contract_describe(c).summary.seq, 3);
  leave_summary(c, 4, 4.5);
  assert_true(contract_describe(c).summary.value == 4.5);
  leave_summary(c, 4, 4.75);
  assert_true(contract_describe(c).summary.value == 4.5);
}

static void a_summary_goes_with_its_study(void **state) {
  contract *c = *state;
  cb_description d;
  const cb_summary summary = {.seq = 1, .parameters = 1, .best = -1, .sampler = "x"};
  leave_summary(c, 1, 0.5);
  assert_int_equal(c->store->ops->remove(c->store, "s", &c->err), COCABO_OK);
  assert_int_equal(c->store->ops->describe(c->store, c->id, &d, &c->err),
                   COCABO_E_NOT_FOUND);
  assert_int_equal(c->store->ops->summarise(c->store, c->id, &summary, &c->err),
                   COCABO_E_NOT_FOUND);
  c->id = contract_create(c->store, "s");
  assert_int_equal(contract_describe(c).summary.seq, 0);
}

static void what_was_written_is_there(void **state) {
  contract *c = *state;
  cb_event events[] = {make_asked(0), make_told(0, 2.5), make_asked(1)};
  int64_t unchecked = -1;
  assert_appended(c, events, 3, 0);
  assert_int_equal(c->store->ops->check(c->store, c->id, &unchecked, &c->err),
                   COCABO_OK);
  assert_int_equal(unchecked, 0);
  assert_int_equal(c->store->ops->remove(c->store, "s", &c->err), COCABO_OK);
  assert_int_equal(c->store->ops->check(c->store, c->id, &unchecked, &c->err),
                   COCABO_E_NOT_FOUND);
}

static int run_store_contract(const char *name) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, contract_setup, contract_teardown)
  const struct CMUnitTest tests[] = {
      CLAIM(events_come_back_in_order),
      CLAIM(every_field_is_kept_to_the_bit),
      CLAIM(the_beginning_has_space_and_options),
      CLAIM(a_retried_append_is_found_not_repeated),
      CLAIM(a_taken_number_is_a_conflict),
      CLAIM(tells_and_fits_never_conflict),
      CLAIM(an_attempt_is_taken_once),
      CLAIM(a_run_is_started_once),
      CLAIM(a_run_needs_its_trial),
      CLAIM(an_append_is_all_or_nothing),
      CLAIM(names_are_taken_once),
      CLAIM(studies_do_not_see_each_other),
      CLAIM(studies_are_listed_and_deleted),
      CLAIM(a_new_study_is_not_the_deleted_one),
      CLAIM(a_reader_can_stop),
      CLAIM(racing_writers_share_the_numbers),
      CLAIM(threads_have_handles_of_their_own),
      CLAIM(changes_are_kept),
      CLAIM(awkward_numbers_are_kept),
      CLAIM(awkward_ids_are_kept),
      CLAIM(long_texts_are_kept),
      CLAIM(many_events_are_appended_at_one_stroke),
      CLAIM(leases_run_out),
      CLAIM(a_renewed_lease_is_not_lost),
      CLAIM(a_batch_is_leased_at_one_stroke),
      CLAIM(a_finished_trial_has_no_lease),
      CLAIM(whoever_resumes_takes_the_lease),
      CLAIM(a_late_stale_ends_no_later_lease),
      CLAIM(a_late_end_ends_no_later_lease),
      CLAIM(what_has_ended_since_is_not_lost),
      CLAIM(what_one_ends_oneself_may_be_lost_later),
      CLAIM(a_log_that_lost_its_end_is_noticed),
      CLAIM(a_log_is_created_whole_or_not_at_all),
      CLAIM(events_keep_their_times_and_bodies),
      CLAIM(leases_are_renewed_by_their_owner),
      CLAIM(a_refused_or_repeated_append_moves_no_lease),
      CLAIM(leases_belong_to_one_study),
      CLAIM(whoever_looks_at_leases_can_stop),
      CLAIM(events_are_shown_before_leases),
      CLAIM(a_stale_trial_is_resumed_in_the_same_append),
      CLAIM(what_was_written_is_there),
      CLAIM(what_a_dead_process_held_is_offered_at_once),
      CLAIM(only_a_process_of_this_machine_can_be_gone),
      CLAIM(a_name_that_leaves_something_open_says_nothing),
      CLAIM(a_trial_added_as_running_is_leased),
      CLAIM(leases_are_shown_by_trial_and_run),
      CLAIM(a_run_has_the_lease_instead_of_its_trial),
      CLAIM(an_observed_run_has_no_lease),
      CLAIM(the_end_of_a_trial_leaves_its_runs),
      CLAIM(a_run_that_somebody_is_at_is_not_discarded),
      CLAIM(a_run_that_has_ended_since_is_not_discarded),
      CLAIM(a_repeated_append_moves_no_lease_of_a_run),
      CLAIM(lack_of_memory_starts_no_run),
      CLAIM(a_log_with_runs_is_created_whole),
      CLAIM(the_ends_of_a_log_are_known),
      CLAIM(a_summary_is_kept),
      CLAIM(the_newest_summary_counts),
      CLAIM(a_summary_goes_with_its_study),
  };
#undef CLAIM
  return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

#endif
