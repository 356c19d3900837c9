/* store_contract.h - what every store promises to a study, as one suite.
 *
 * A test program defines  static cocabo_store *open_fresh_store(void);  which gives an
 * empty store, includes this file and runs run_store_contract("name").
 */
#ifndef CB_TESTS_STORE_CONTRACT_H
#define CB_TESTS_STORE_CONTRACT_H

#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "study/store.h"

static cocabo_store *open_fresh_store(void);

/* ---- small events ---------------------------------------------------------------- */

static cocabo_space *contract_space(void) {
  cocabo_error err;
  cocabo_space *s = cocabo_space_new();
  const cocabo_value choices[] = {{.type = COCABO_TEXT, .as.text = "a"},
                                  {.type = COCABO_NULL}};
  assert_ok(cocabo_space_add_real(s, "x", 0, 1, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "c", choices, 2, 0, &err));
  return s;
}

static uint64_t next_contract_id = 1;

static cb_event make_event(cb_event_kind kind, int64_t number) {
  return (cb_event){.kind = kind, .number = number, .id = {77, next_contract_id++}};
}

static cb_event make_asked(int64_t number) {
  static cb_cell cells[2];
  cells[0] = (cb_cell){.real = 0.375};
  cells[1] = (cb_cell){.integer = 1};
  cb_event event = make_event(CB_TRIAL_ASKED, number);
  event.origin = CB_BY_DESIGN;
  event.n_cells = 2;
  event.cells = cells;
  return event;
}

static cb_event make_told(int64_t number, double y) {
  cb_event event = make_event(CB_TRIAL_TOLD, number);
  event.has_y = true;
  event.y = y;
  return event;
}

static cb_event make_resumed(int64_t number, int64_t attempt) {
  cb_event event = make_event(CB_TRIAL_RESUMED, number);
  event.attempt = attempt;
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
  assert_int_equal(
      c->store->ops->read_since(c->store, c->id, since, note_event, &log, &c->err),
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

static cocabo_status check_full_event(void *user, const cb_event *event,
                                      cocabo_error *err) {
  (void)err;
  const cb_event *want = user;
  assert_int_equal(event->kind, want->kind);
  assert_memory_equal(event->id, want->id, sizeof event->id);
  assert_int_equal(event->number, want->number);
  assert_int_equal(event->attempt, want->attempt);
  assert_int_equal(event->origin, want->origin);
  assert_int_equal(event->has_y, want->has_y);
  assert_memory_equal(&event->y, &want->y, sizeof event->y);
  if (want->reason)
    assert_string_equal(event->reason, want->reason);
  assert_int_equal(event->n_cells, want->n_cells);
  if (want->n_cells > 0)
    assert_memory_equal(event->cells, want->cells,
                        (size_t)want->n_cells * sizeof *want->cells);
  const cb_provenance *got = &event->proposal, *p = &want->proposal;
  assert_int_equal(got->basis, p->basis);
  assert_int_equal(got->batch_first, p->batch_first);
  assert_int_equal(got->batch_size, p->batch_size);
  assert_int_equal(got->batch_index, p->batch_index);
  assert_int_equal(got->n_pending, p->n_pending);
  for (int i = 0; i < p->n_pending; i++)
    assert_int_equal(got->pending[i], p->pending[i]);
  assert_int_equal(got->n_draws, p->n_draws);
  for (int i = 0; i < p->n_draws; i++) {
    assert_true(got->draws[i].p == p->draws[i].p);
    assert_true(got->draws[i].gamma == p->draws[i].gamma);
    assert_int_equal(got->draws[i].b, p->draws[i].b);
    assert_int_equal(got->draws[i].capped, p->draws[i].capped);
  }
  assert_int_equal(event->fit.basis, want->fit.basis);
  assert_int_equal(event->fit.rows, want->fit.rows);
  assert_int_equal(event->fit.round, want->fit.round);
  assert_int_equal(event->fit.n_theta, want->fit.n_theta);
  for (int i = 0; i < want->fit.n_theta; i++)
    assert_true(event->fit.theta[i] == want->fit.theta[i]);
  return COCABO_OK;
}

static void assert_kept(contract *c, cb_event *event, int64_t next_number) {
  assert_appended(c, event, 1, next_number);
  assert_int_equal(c->store->ops->read_since(c->store, c->id, event->seq - 1,
                                             check_full_event, event, &c->err),
                   COCABO_OK);
}

static void every_field_is_kept_to_the_bit(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0);
  int64_t pending[] = {0, 7, INT64_C(1) << 40};
  cb_draw draws[] = {{.p = 1.0 / 3.0, .gamma = 0.1, .b = 4, .capped = true}};
  asked.origin = CB_BY_SAMPLER;
  asked.cells[0].real = 0.1 + 0.2;
  asked.proposal = (cb_provenance){.basis = 1,
                                   .batch_first = 0,
                                   .batch_size = 5,
                                   .batch_index = 2,
                                   .n_pending = 3,
                                   .pending = pending,
                                   .n_draws = 1,
                                   .draws = draws};
  assert_kept(c, &asked, 0);
  cb_event told = make_told(0, -1.0 / 3.0);
  assert_kept(c, &told, -1);
  cb_event failed = make_event(CB_TRIAL_FAILED, 0);
  failed.reason = "line one\nline \"two\" \xce\xbb";
  assert_kept(c, &failed, -1);
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
  cb_event resumed = make_resumed(1, 1);
  assert_kept(c, &resumed, -1);
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
  assert_int_equal(
      c->store->ops->read_since(c->store, c->id, 0, check_created, want, &c->err),
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
  assert_int_equal(
      c->store->ops->read_since(c->store, c->id, 0, note_event, &log, &c->err),
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
  assert_int_equal(
      c->store->ops->read_since(c->store, c->id, 0, stop_at_once, &calls, &c->err),
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
  int won;
} contract_writer;

static void *race(void *user) {
  contract_writer *w = user;
  cb_cell cells[2] = {{.real = 0.5}, {.integer = 0}};
  uint64_t tries = 0;
  for (int64_t next = 0; w->won < CONTRACT_EACH;) {
    cb_event event = {.kind = CB_TRIAL_ASKED,
                      .number = next,
                      .id = {w->name, tries++},
                      .origin = CB_BY_DESIGN,
                      .n_cells = 2,
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
  for (int i = 0; i < CONTRACT_WRITERS; i++) {
    writers[i] =
        (contract_writer){.store = c->store, .id = c->id, .name = 1000 + (uint64_t)i};
    assert_int_equal(pthread_create(&threads[i], NULL, race, &writers[i]), 0);
  }
  for (int i = 0; i < CONTRACT_WRITERS; i++) {
    pthread_join(threads[i], NULL);
    assert_int_equal(writers[i].won, CONTRACT_EACH);
  }
  const contract_log log = contract_read(c, 0);
  assert_int_equal(log.n, 1 + CONTRACT_WRITERS * CONTRACT_EACH);
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
      CLAIM(an_append_is_all_or_nothing),
      CLAIM(names_are_taken_once),
      CLAIM(studies_do_not_see_each_other),
      CLAIM(studies_are_listed_and_deleted),
      CLAIM(a_new_study_is_not_the_deleted_one),
      CLAIM(a_reader_can_stop),
      CLAIM(racing_writers_share_the_numbers),
  };
#undef CLAIM
  return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

#endif
