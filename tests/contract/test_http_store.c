/* The store behind a server of ours keeps the contract of every store: all of the suite
 * over a real cocabo serve --allow-store on a SQLite file. 77 (skipped) where there is
 * no server in this build. */
#include "contract/store_contract.h"

#include "cocabo_store.h"
#include "serve.h"

static served server;

static cocabo_status note(void *user, const char *name, cocabo_error *err) {
  char(*names)[32] = user;
  (void)err;
  for (int i = 0; i < 16; i++)
    if (!names[i][0]) {
      snprintf(names[i], sizeof names[i], "%s", name);
      break;
    }
  return COCABO_OK;
}

/* The same store, emptied. */
static cocabo_store *open_fresh_store(void) {
  cocabo_error err;
  cocabo_store *store = NULL;
  char names[16][32] = {0};
  if (cocabo_store_open(&store, server.url, COCABO_STORE_CREATE, &err) != COCABO_OK)
    fail_msg("%s", err.message);
  assert_ok(store->ops->list(store, note, names, &err));
  for (int i = 0; i < 16 && names[i][0]; i++)
    assert_ok(store->ops->remove(store, names[i], &err));
  return store;
}

/* ---- what is this store's alone -------------------------------------------------- */

static cocabo_status pass_name(void *user, const char *name, cocabo_error *err) {
  (void)user, (void)name, (void)err;
  return COCABO_OK;
}

static cocabo_status pass_lease(void *user, const cocabo_lease *lease,
                                cocabo_error *err) {
  (void)user, (void)lease, (void)err;
  return COCABO_OK;
}

enum { N_DEEDS = 10 };

static cocabo_status do_deed(int deed, contract *c) {
  const cb_store_ops *ops = c->store->ops;
  cb_description d;
  int64_t number = 0;
  contract_log log = {0};
  const cb_summary summary = {.seq = 1, .parameters = 7, .best = -1, .sampler = "x"};
  cb_event told = make_told(0, 0.5);
  switch (deed) {
  case 0:
    return ops->find(c->store, "s", &number, &c->err);
  case 1:
    return ops->list(c->store, pass_name, NULL, &c->err);
  case 2:
    return ops->read_since(c->store, c->id, &(cb_position){0}, note_event, NULL, &log,
                           &c->err);
  case 3:
    return contract_append(c, &told, 1, -1);
  case 4:
    return ops->leases(c->store, c->id, pass_lease, NULL, &c->err);
  case 5:
    return ops->describe(c->store, c->id, &d, &c->err);
  case 6:
    return ops->check(c->store, c->id, &number, &c->err);
  case 7:
    return ops->summarise(c->store, c->id, &summary, &c->err);
  case 8:
    return ops->renew(c->store, c->id, "w", LONG, &c->err);
  default:
    return ops->remove(c->store, "s", &c->err);
  }
}

/* Memory fails at each place in turn. */
static void every_operation_survives_lack_of_memory(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0);
  assert_int_equal(append_leased(c, &asked, 1, "w", LONG), COCABO_OK);
  for (int deed = 0; deed < N_DEEDS; deed++) {
    cocabo_status status = COCABO_E_NO_MEMORY;
    for (long k = 0; status != COCABO_OK; k++) {
      cb_mem_fail_after(k);
      status = do_deed(deed, c);
      cb_mem_fail_after(-1);
      if (status != COCABO_OK && status != COCABO_E_NO_MEMORY)
        fail_msg("deed %d without memory %ld: %s", deed, k, c->err.message);
    }
  }
  cocabo_store *store = NULL;
  cocabo_status status = COCABO_E_NO_MEMORY;
  for (long k = 0; status != COCABO_OK; k++) {
    cb_mem_fail_after(k);
    status = cocabo_store_open(&store, server.url, 0, &c->err);
    cb_mem_fail_after(-1);
    assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
  }
  cocabo_store_free(store);
}

/* Killed, and started again at the same port a moment later. */
static void *start_again(void *user) {
  (void)user;
  wait_for(0.5);
  const int port = server.port;
  for (int i = 0; i < 100 && !serve_start(&server); i++) {
    wait_for(0.1);
    server.port = port;
  }
  return NULL;
}

static void a_server_that_was_killed_is_waited_for(void **state) {
  contract *c = *state;
  cb_event asked = make_asked(0);
  assert_int_equal(append_leased(c, &asked, 1, "w", LONG), COCABO_OK);
  for (int deed = 0; deed < N_DEEDS; deed += 3) {
    pthread_t thread;
    serve_stop(&server, SIGKILL);
    assert_int_equal(pthread_create(&thread, NULL, start_again, NULL), 0);
    if (do_deed(deed, c) != COCABO_OK)
      fail_msg("deed %d: %s", deed, c->err.message);
    pthread_join(thread, NULL);
  }
}

/* Renewing and summaries are done beside other work. */
static void what_is_beside_other_work_does_not_wait(void **state) {
  contract *c = *state;
  serve_stop(&server, SIGKILL);
  const time_t since = time(NULL);
  assert_int_equal(do_deed(8, c), COCABO_E_BUSY);
  assert_int_not_equal(do_deed(7, c), COCABO_OK);
  assert_true(time(NULL) - since < 8);
  start_again(NULL);
  assert_int_equal(do_deed(8, c), COCABO_OK);
}

static int give_up(void *user) {
  return ++*(int *)user > 3;
}

static void an_append_can_be_interrupted(void **state) {
  contract *c = *state;
  int asked = 0;
  cb_event event = make_asked(0);
  const cb_append what = {.events = &event,
                          .n = 1,
                          .next_number = -1,
                          .interrupt = give_up,
                          .user = &asked};
  kill(server.process, SIGSTOP);
  const cocabo_status status = c->store->ops->append(c->store, c->id, &what, &c->err);
  kill(server.process, SIGCONT);
  assert_int_equal(status, COCABO_E_INTERRUPTED);
  assert_int_equal(asked, 4);
  /* Nobody knows what became of it; the same again is found, or done. */
  const cb_append again = {.events = &event, .n = 1, .next_number = -1};
  assert_int_equal(c->store->ops->append(c->store, c->id, &again, &c->err), COCABO_OK);
  assert_string_equal(contract_read(c, 1).kinds, "3:0 ");
}

static void a_child_opens_its_own(void **state) {
  contract *c = *state;
  const pid_t child = fork();
  if (child == 0) {
    const bool refused = do_deed(0, c) == COCABO_E_STORE &&
                         strstr(c->err.message, "open it again in the child");
    cocabo_store_free(c->store);
    _exit(refused ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  assert_int_equal(status, 0);
  assert_int_equal(do_deed(0, c), COCABO_OK); /* the parent's goes on */
}

static void what_is_opened_to_be_read_is_not_written(void **state) {
  contract *c = *state;
  contract reader = {.id = c->id};
  cocabo_error err;
  assert_ok(cocabo_store_open(&reader.store, server.url, COCABO_STORE_READ_ONLY, &err));
  assert_int_equal(do_deed(2, &reader), COCABO_OK);
  for (int deed = 3; deed < N_DEEDS; deed += deed == 3 ? 4 : 1) {
    assert_int_equal(do_deed(deed, &reader), COCABO_E_STORE);
    assert_non_null(strstr(reader.err.message, "read only"));
  }
  cocabo_store_free(reader.store);
}

/* More than one answer holds, and more than one question. */
static void long_logs_come_in_parts(void **state) {
  contract *c = *state;
  enum { MANY = 12000 };
  cb_event *events = calloc(MANY, sizeof *events);
  for (int i = 0; i < MANY; i++)
    events[i] = make_asked(i);
  assert_appended(c, events, MANY, 0);
  contract_log log = {0};
  assert_int_equal(c->store->ops->read_since(c->store, c->id, &(cb_position){0},
                                             note_event, NULL, &log, &c->err),
                   COCABO_OK);
  assert_int_equal(log.n, MANY + 1);
  assert_int_equal(log.last_seq, MANY + 1);
  free(events);
}

static int run_own_claims(void) {
#define CLAIM(f) cmocka_unit_test_setup_teardown(f, contract_setup, contract_teardown)
  const struct CMUnitTest tests[] = {
      CLAIM(every_operation_survives_lack_of_memory),
      CLAIM(a_server_that_was_killed_is_waited_for),
      CLAIM(what_is_beside_other_work_does_not_wait),
      CLAIM(an_append_can_be_interrupted),
      CLAIM(a_child_opens_its_own),
      CLAIM(what_is_opened_to_be_read_is_not_written),
      CLAIM(long_logs_come_in_parts),
  };
#undef CLAIM
  return cmocka_run_group_tests_name("store/http itself", tests, NULL, NULL);
}

int main(void) {
  enum { SKIPPED = 77 };
  if (!serve_begin(&server)) {
    serve_end(&server);
    return SKIPPED;
  }
  int failed = run_store_contract("store/http");
  failed += run_own_claims();
  serve_end(&server);
  return failed;
}
