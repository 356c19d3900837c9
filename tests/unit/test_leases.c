/* Leases and the budget: what is handed out, to whom, for how long, and how much of it.
 */
#include "check.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/status.h"
#include "study/study.h"

static cocabo_error err;

static cocabo_space *line(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  return s;
}

static cocabo_study *create(cocabo_store *store, const char *trials) {
  cocabo_space *s = line();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  assert_ok(cocabo_options_set(o, "trials", trials, &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static cocabo_study *reopen(cocabo_store *store) {
  cocabo_study *study;
  assert_ok(cocabo_study_open(&study, "s", store, &err));
  return study;
}

/* Asks for n trials and says which numbers came. */
static void assert_asked(cocabo_study *study, size_t n, const char *want) {
  cocabo_trial *t[16];
  char got[100] = "";
  assert_ok(cocabo_study_ask(study, n, t, &err));
  for (size_t i = 0; i < n; i++) {
    sprintf(got + strlen(got), "%s%lld", i ? " " : "",
            (long long)cocabo_trial_number(t[i]));
    cocabo_trial_free(t[i]);
  }
  assert_string_equal(got, want);
}

static void assert_counts(const cocabo_study *study, const char *want) {
  char got[100] = "";
  for (int state = 0; state < 6; state++) {
    const int64_t n = cocabo_study_count_state(study, (cocabo_trial_state)state);
    if (n > 0)
      sprintf(got + strlen(got), "%s %lld ",
              cocabo_state_name((cocabo_trial_state)state), (long long)n);
  }
  assert_string_equal(got, want);
}

static void enqueue(cocabo_study *study, double x, const double *result) {
  const char *const names[] = {"x"};
  const cocabo_value values[] = {{.type = COCABO_REAL, .as.real = x}};
  assert_ok(cocabo_study_add(study, names, values, 1, result, &err));
}

enum { LONG = 1000 };
static const double SHORT = 1e-9; /* over before anybody looks */

/* ---- leases ---------------------------------------------------------------------- */

static void a_lost_trial_is_offered_again(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *lost = create(store, "0"), *other = reopen(store);
  assert_ok(cocabo_study_lease(lost, "w1", SHORT, &err));
  assert_asked(lost, 2, "0 1");
  assert_ok(cocabo_study_tell(lost, 1, 1.0, &err));
  assert_asked(other, 2, "0 2"); /* the same point, then a new one */
  assert_counts(other, "running 2 complete 1 ");
  assert_int_equal(other->fold.history->trials[0].attempt, 1);
  assert_asked(other, 1, "3"); /* it has no lease now, and is not lost again */
  assert_ok(cocabo_study_sync(lost, &err));
  assert_counts(lost, "running 3 complete 1 ");
  assert_ok(cocabo_study_tell(lost, 0, 2.0, &err)); /* a late one is welcome */
  assert_counts(lost, "running 2 complete 2 ");
  cocabo_study_free(lost);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

/* Whoever lost a trial may still say that its attempt failed, or give it back: the one
 * that has it now goes on. */
static void a_late_failure_leaves_the_new_attempt_alone(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *lost = create(store, "0"), *other = reopen(store);
  assert_ok(cocabo_study_lease(lost, "w1", SHORT, &err));
  assert_asked(lost, 2, "0 1");
  assert_ok(cocabo_study_lease(other, "w2", LONG, &err));
  assert_asked(other, 2, "0 1");
  assert_ok(cocabo_study_fail_attempt(lost, 0, 0, "killed", &err));
  assert_ok(cocabo_study_interrupt_attempt(lost, 1, 0, &err));
  assert_counts(lost, "running 2 ");
  assert_ok(cocabo_store_renew(store, "s", "w2", SHORT, &err)); /* it has its leases */
  assert_asked(lost, 2, "0 1");
  assert_ok(cocabo_study_fail_attempt(lost, 0, 2, "killed", &err));
  assert_ok(cocabo_study_interrupt(lost, 1, &err)); /* whichever there is */
  assert_counts(lost, "failed 1 interrupted 1 ");
  assert_fails(cocabo_study_fail_attempt(lost, 1, 3, "x", &err), COCABO_E_RANGE,
               "trial 1 has no attempt 3, the last is 2");
  assert_fails(cocabo_study_fail_attempt(lost, 1, -1, "x", &err), COCABO_E_RANGE,
               "attempt is -1, want 0 or more");
  assert_fails(cocabo_study_interrupt_attempt(lost, 1, -7, &err), COCABO_E_RANGE,
               "attempt is -7, want 0 or more");
  cocabo_study_free(lost);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

static void a_kept_lease_keeps_the_trial(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "0"), *other = reopen(store);
  assert_ok(cocabo_study_lease(study, "w1", LONG, &err));
  assert_asked(study, 1, "0");
  assert_ok(cocabo_study_lease(study, "w2", SHORT, &err)); /* from now on */
  assert_asked(study, 1, "1");
  assert_asked(other, 2, "1 2");
  assert_asked(other, 1, "3");
  cocabo_study_free(study);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

static void leases_are_renewed_through_the_store(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "0"), *other = reopen(store);
  assert_ok(cocabo_study_lease(study, "w1", SHORT, &err));
  assert_asked(study, 3, "0 1 2");
  assert_ok(cocabo_store_renew(store, "s", "w1", LONG, &err)); /* just in time */
  assert_asked(other, 1, "3");
  assert_ok(cocabo_store_renew(store, "s", "w2", SHORT, &err)); /* not w2's */
  assert_asked(other, 1, "4");
  assert_ok(cocabo_store_renew(store, "s", "w1", SHORT, &err));
  assert_asked(other, 2, "0 1");
  assert_counts(other, "running 4 stale 1 ");
  /* Found stale, the lease is gone: nothing is left to renew. */
  assert_ok(cocabo_store_renew(store, "s", "w1", LONG, &err));
  assert_asked(other, 1, "2");
  cocabo_study_free(study);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

static void an_interrupted_trial_has_no_lease(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "0");
  assert_ok(cocabo_study_lease(study, "w1", SHORT, &err));
  assert_asked(study, 3, "0 1 2");
  assert_ok(cocabo_study_interrupt(study, 1, &err));
  assert_ok(cocabo_study_fail(study, 2, "x", &err));
  const int64_t before = study->fold.history->seq;
  assert_ok(cocabo_study_lease(study, "w1", LONG, &err));
  assert_asked(study, 1, "1"); /* interrupted ones first */
  assert_counts(study, "running 1 failed 1 stale 1 ");
  assert_int_equal(study->fold.history->seq, before + 2); /* one STALE, one RESUMED */
  assert_asked(study, 2, "0 3");
  assert_counts(study, "running 3 failed 1 ");
  cocabo_study_free(study);
}

static void without_leases_nothing_is_lost(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "0");
  assert_asked(study, 2, "0 1");
  assert_ok(cocabo_study_lease(study, "w1", SHORT, &err));
  assert_asked(study, 1, "2");
  assert_ok(cocabo_study_lease(study, "ignored", 0, &err));
  assert_asked(study, 2, "2 3");
  assert_asked(study, 1, "4");
  cocabo_study_free(study);
}

/* A process that lives until it is killed, and its name as an owner. */
static pid_t start_owner(char out[static COCABO_OWNER_SIZE]) {
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    char own[COCABO_OWNER_SIZE] = "";
    if (cocabo_owner_name(own, &err) == COCABO_OK &&
        write(ends[1], own, sizeof own) == (ssize_t)sizeof own)
      for (;;)
        pause();
    _exit(1);
  }
  assert_true(child > 0);
  assert_int_equal(read(ends[0], out, COCABO_OWNER_SIZE), COCABO_OWNER_SIZE);
  close(ends[0]);
  close(ends[1]);
  return child;
}

static void a_killed_worker_loses_its_trials_at_once(void **state) {
  (void)state;
  char owner[COCABO_OWNER_SIZE];
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "0"), *other = reopen(store);
  const pid_t child = start_owner(owner);
  assert_ok(cocabo_study_lease(study, owner, LONG, &err));
  assert_asked(study, 2, "0 1");
  assert_asked(other, 1, "2"); /* it lives */
  assert_int_equal(kill(child, SIGKILL), 0);
  assert_int_equal(waitpid(child, NULL, 0), child);
  assert_asked(other, 2, "0 1");
  assert_int_equal(other->fold.history->trials[1].attempt, 1);
  assert_counts(other, "running 3 ");
  cocabo_study_free(study);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

/* Who says that somebody runs it does not say that it is this handle. */
static void what_is_added_as_running_is_nobodys(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "0");
  const cocabo_value x = {.type = COCABO_REAL, .as.real = 0.5};
  cocabo_known known = {.values = &x, .state = COCABO_RUNNING};
  assert_ok(cocabo_study_lease(study, "w1", SHORT, &err));
  assert_ok(cocabo_study_add_many(study, &known, 1, &err));
  assert_asked(study, 1, "1");
  assert_counts(study, "running 2 ");
  cocabo_study_free(study);
}

static void nobody_is_named_without_room(void **state) {
  (void)state;
  assert_fails(cocabo_owner_name(NULL, &err), COCABO_E_INVALID, "out is NULL");
}

static cocabo_status stop(void *user, const cocabo_lease *lease, cocabo_error *e) {
  *(int64_t *)user = lease->trial;
  return cb_fail(e, COCABO_E_INTERRUPTED, "enough");
}

static void leases_are_seen_through_the_store(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "0");
  int64_t seen = -1;
  assert_ok(cocabo_store_leases(store, "s", stop, &seen, &err));
  assert_int_equal(seen, -1);
  assert_ok(cocabo_study_lease(study, "w1", LONG, &err));
  assert_asked(study, 1, "0");
  assert_fails(cocabo_store_leases(store, "s", stop, &seen, &err), COCABO_E_INTERRUPTED,
               "enough");
  assert_int_equal(seen, 0);
  assert_fails(cocabo_store_leases(NULL, "s", stop, NULL, &err), COCABO_E_INVALID,
               "store is NULL");
  assert_fails(cocabo_store_leases(store, "s", NULL, NULL, &err), COCABO_E_INVALID,
               "each is NULL");
  assert_fails(cocabo_store_leases(store, "t", stop, NULL, &err), COCABO_E_NOT_FOUND,
               "no study \"t\"");
  cocabo_study_free(study);
  cocabo_store_free(store);
}

/* ---- the snapshot ---------------------------------------------------------------- */

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void a_trial_knows_its_times_and_attempt(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "0");
  cocabo_trial *t;
  const double before = now();
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  const double started = cocabo_trial_started(t);
  assert_true(started >= before && started <= now());
  assert_true(isnan(cocabo_trial_finished(t)));
  assert_int_equal(cocabo_trial_attempt(t), 0);
  cocabo_trial_free(t);
  assert_ok(cocabo_study_interrupt(study, 0, &err));
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  assert_int_equal(cocabo_trial_attempt(t), 1);
  assert_true(cocabo_trial_started(t) >= started);
  const double again = cocabo_trial_started(t);
  cocabo_trial_free(t);
  assert_ok(cocabo_study_tell(study, 0, 1.5, &err));
  assert_ok(cocabo_study_trial(study, 0, &t, &err));
  assert_true(cocabo_trial_started(t) == again);
  assert_true(cocabo_trial_finished(t) >= again && cocabo_trial_finished(t) <= now());
  assert_int_equal(cocabo_trial_attempt(t), 1);
  cocabo_trial_free(t);
  cocabo_study_free(study);
}

static uint64_t seed_of(cocabo_study *study, int64_t number) {
  cocabo_trial *t;
  assert_ok(cocabo_study_trial(study, number, &t, &err));
  const uint64_t seed = cocabo_trial_seed(t);
  cocabo_trial_free(t);
  return seed;
}

static void a_trial_has_a_seed_of_its_own(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "0");
  cocabo_trial *t;
  const char *const names[] = {"seed"}, *const values[] = {"5"};
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  const uint64_t seed = cocabo_trial_seed(t);
  cocabo_trial_free(t);
  cb_rng rng = cb_rng_make(0, CB_RNG_TRIAL, 0);
  assert_true(seed == cb_rng_u64(&rng)); /* pinned: programs depend on it */
  assert_asked(study, 2, "1 2");
  assert_true(seed_of(study, 0) == seed);
  assert_true(seed_of(study, 1) != seed && seed_of(study, 2) != seed_of(study, 1));
  assert_ok(cocabo_study_interrupt(study, 0, &err));
  assert_ok(cocabo_study_change(study, names, values, 1, &err));
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  assert_true(cocabo_trial_seed(t) == seed); /* the same in every attempt */
  cocabo_trial_free(t);
  cocabo_study_free(study);
}

/* ---- the budget ------------------------------------------------------------------ */

static void assert_over_budget(cocabo_study *study, size_t n, const char *sentence) {
  cocabo_trial *t[16] = {NULL};
  const int64_t seq = study->fold.history->seq;
  assert_fails(cocabo_study_ask(study, n, t, &err), COCABO_E_BUDGET, sentence);
  assert_null(t[0]);
  assert_int_equal(study->fold.history->seq, seq);
}

static void an_ask_keeps_to_the_budget(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "5");
  assert_over_budget(study, 6, "study \"s\" has 5 of its 5 trials left, want 6");
  assert_asked(study, 3, "0 1 2");
  assert_over_budget(study, 3, "study \"s\" has 2 of its 5 trials left, want 3");
  assert_asked(study, 2, "3 4");
  assert_over_budget(study, 1, "study \"s\" has 0 of its 5 trials left, want 1");
  assert_ok(cocabo_study_tell(study, 0, 1.0, &err)); /* complete ones count */
  assert_ok(cocabo_study_fail(study, 1, "x", &err)); /* and failed ones */
  assert_over_budget(study, 1, "study \"s\" has 0 of its 5 trials left, want 1");
  assert_ok(cocabo_study_interrupt(study, 3, &err)); /* what was given back does not */
  assert_over_budget(study, 2, "study \"s\" has 1 of its 5 trials left, want 2");
  assert_asked(study, 1, "3");
  assert_over_budget(study, 1, "study \"s\" has 0 of its 5 trials left, want 1");
  cocabo_study_free(study);
}

static void waiting_trials_count_when_they_run(void **state) {
  (void)state;
  cocabo_study *study = create(NULL, "2");
  const double result = 1.0;
  for (int i = 0; i < 3; i++)
    enqueue(study, 0.25 * i, NULL); /* adding is not asking */
  assert_over_budget(study, 3, "study \"s\" has 2 of its 2 trials left, want 3");
  assert_asked(study, 1, "0");
  enqueue(study, 0.9, &result);
  assert_over_budget(study, 1, "study \"s\" has 0 of its 2 trials left, want 1");
  enqueue(study, 0.95, &result);
  assert_over_budget(study, 1, "study \"s\" has 0 of its 2 trials left, want 1");
  cocabo_study_free(study);
}

static void a_budget_can_grow(void **state) {
  (void)state;
  const char *const names[] = {"trials"}, *const four[] = {"4"}, *const none[] = {"0"};
  cocabo_study *study = create(NULL, "1");
  assert_asked(study, 1, "0");
  assert_over_budget(study, 1, "study \"s\" has 0 of its 1 trials left, want 1");
  assert_ok(cocabo_study_change(study, names, four, 1, &err));
  assert_asked(study, 3, "1 2 3");
  assert_over_budget(study, 1, "study \"s\" has 0 of its 4 trials left, want 1");
  assert_ok(cocabo_study_change(study, names, none, 1, &err));
  assert_asked(study, 3, "4 5 6");
  cocabo_study_free(study);
}

/* A store that lets a rival act just before an append arrives. */
typedef struct sly_store {
  cocabo_store base;
  cocabo_store *inner;
  cocabo_study *rival;
  void (*act)(cocabo_study *rival); /* once; NULL: no more */
} sly_store;

static cocabo_status sly_create(cocabo_store *s, const char *name, cb_event *created,
                                int64_t *id, cocabo_error *e) {
  cocabo_store *inner = ((sly_store *)s)->inner;
  return inner->ops->create(inner, name, created, id, e);
}

static cocabo_status sly_read(cocabo_store *s, int64_t id, const cb_position *from,
                              cb_event_fn each, cb_expired_fn expired, void *user,
                              cocabo_error *e) {
  cocabo_store *inner = ((sly_store *)s)->inner;
  return inner->ops->read_since(inner, id, from, each, expired, user, e);
}

static cocabo_status sly_append(cocabo_store *s, int64_t id, const cb_append *what,
                                cocabo_error *e) {
  sly_store *sly = (sly_store *)s;
  void (*act)(cocabo_study *) = sly->act;
  sly->act = NULL;
  if (act)
    act(sly->rival);
  return sly->inner->ops->append(sly->inner, id, what, e);
}

static const cb_store_ops sly_ops = {
    .create = sly_create, .read_since = sly_read, .append = sly_append};

static void ask_one(cocabo_study *rival) {
  cocabo_trial *t;
  assert_ok(cocabo_study_ask(rival, 1, &t, &err));
  cocabo_trial_free(t);
}

static void enqueue_and_ask(cocabo_study *rival) {
  enqueue(rival, 0.75, NULL);
  ask_one(rival);
}

static void racing_asks_keep_to_the_budget_together(void **state) {
  (void)state;
  void (*const acts[])(cocabo_study *) = {ask_one, enqueue_and_ask};
  for (int offer = 0; offer < 2; offer++) /* whether 0 is handed out again, or new */
    for (int i = 0; i < 2; i++) {
      sly_store sly = {.base.ops = &sly_ops, .inner = cocabo_store_new_memory()};
      cocabo_study *study = create(&sly.base, "2");
      sly.rival = reopen(sly.inner);
      assert_asked(study, 2, "0 1");
      assert_ok(cocabo_study_tell(study, 1, 1.0, &err));
      if (offer)
        assert_ok(cocabo_study_interrupt(study, 0, &err));
      else
        assert_ok(cocabo_study_change(study, (const char *const[]){"trials"},
                                      (const char *const[]){"3"}, 1, &err));
      sly.act = acts[i]; /* both see one trial left; the rival takes it */
      cocabo_trial *t = NULL;
      assert_int_equal(cocabo_study_ask(study, 1, &t, &err), COCABO_E_BUDGET);
      assert_null(t);
      assert_int_equal(cocabo_study_count_state(study, COCABO_RUNNING) +
                           cocabo_study_count_state(study, COCABO_COMPLETE),
                       offer ? 2 : 3);
      cocabo_study_free(study);
      cocabo_study_free(sly.rival);
      cocabo_store_free(sly.inner);
    }
}

/* Between looking for ended leases and saying so, the rival found them too and has the
 * trial already. */
static void a_rival_finds_the_same_trial_lost(void **state) {
  (void)state;
  sly_store sly = {.base.ops = &sly_ops, .inner = cocabo_store_new_memory()};
  cocabo_study *study = create(&sly.base, "0");
  sly.rival = reopen(sly.inner);
  assert_ok(cocabo_study_lease(study, "w1", SHORT, &err));
  assert_asked(study, 1, "0");
  assert_ok(cocabo_study_lease(study, "w1", LONG, &err));
  assert_ok(cocabo_study_lease(sly.rival, "w2", LONG, &err));
  sly.act = ask_one;
  assert_asked(study, 1, "1"); /* not 0: that is w2's */
  assert_counts(study, "running 2 ");
  assert_int_equal(study->fold.history->trials[0].attempt, 1);
  /* And the late STALE has not cost w2 its lease. */
  assert_ok(cocabo_store_renew(sly.inner, "s", "w2", SHORT, &err));
  assert_asked(study, 1, "0");
  cocabo_study_free(study);
  cocabo_study_free(sly.rival);
  cocabo_store_free(sly.inner);
}

/* ---- workers --------------------------------------------------------------------- */

enum { WORKERS = 4, BUDGET = 60 };

/* Asks until the budget is used up; some trials are lost, given back or fail. */
static void *work(void *user) {
  cocabo_study *study = user;
  cocabo_error e;
  cb_rng rng = cb_rng_make(study->writer, CB_RNG_BENCH, 0);
  for (;;) {
    cocabo_trial *t;
    const cocabo_status status = cocabo_study_ask(study, 1, &t, &e);
    if (status == COCABO_E_BUDGET) {
      const cb_history *h = study->fold.history;
      if (h->n + h->n_failed >= BUDGET)
        return NULL;
      continue; /* others are still at it */
    }
    if (status != COCABO_OK)
      return study;
    const int64_t number = cocabo_trial_number(t);
    cocabo_trial_free(t);
    const uint32_t dice = cb_rng_below(&rng, 10);
    cocabo_status done = COCABO_OK;
    if (dice < 6)
      done = cocabo_study_tell(study, number, (double)number, &e);
    else if (dice < 8)
      done = cocabo_study_fail(study, number, "x", &e);
    else if (dice < 9)
      done = cocabo_study_interrupt(study, number, &e);
    if (done != COCABO_OK && done != COCABO_E_STATE)
      return study;
  }
}

static void workers_reach_the_budget_and_no_more(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *first = create(store, "60");
  cocabo_study *handles[WORKERS];
  pthread_t threads[WORKERS];
  for (int i = 0; i < WORKERS; i++) {
    char owner[16];
    handles[i] = reopen(store);
    snprintf(owner, sizeof owner, "w%d", i);
    assert_ok(cocabo_study_lease(handles[i], owner, 1e-4, &err));
  }
  for (int i = 0; i < WORKERS; i++)
    assert_int_equal(pthread_create(&threads[i], NULL, work, handles[i]), 0);
  for (int i = 0; i < WORKERS; i++) {
    void *failed;
    pthread_join(threads[i], &failed);
    assert_null(failed);
    cocabo_study_free(handles[i]);
  }
  assert_ok(cocabo_study_sync(first, &err));
  const cb_history *h = first->fold.history;
  /* A worker whose trial was given to another may still finish it: that is a late
   * result, not a trial too many. Each of the others can have had one at the end. */
  assert_true(h->n + h->n_failed >= BUDGET);
  assert_true(h->n + h->n_failed < BUDGET + WORKERS);
  cocabo_report report;
  assert_ok(cocabo_study_verify(first, -1, &report, &err));
  assert_int_equal(report.differing, 0);
  cocabo_study_free(first);
  cocabo_store_free(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lost_trial_is_offered_again),
      cmocka_unit_test(a_late_failure_leaves_the_new_attempt_alone),
      cmocka_unit_test(a_kept_lease_keeps_the_trial),
      cmocka_unit_test(leases_are_renewed_through_the_store),
      cmocka_unit_test(an_interrupted_trial_has_no_lease),
      cmocka_unit_test(without_leases_nothing_is_lost),
      cmocka_unit_test(a_killed_worker_loses_its_trials_at_once),
      cmocka_unit_test(what_is_added_as_running_is_nobodys),
      cmocka_unit_test(nobody_is_named_without_room),
      cmocka_unit_test(leases_are_seen_through_the_store),
      cmocka_unit_test(a_trial_knows_its_times_and_attempt),
      cmocka_unit_test(a_trial_has_a_seed_of_its_own),
      cmocka_unit_test(an_ask_keeps_to_the_budget),
      cmocka_unit_test(waiting_trials_count_when_they_run),
      cmocka_unit_test(a_budget_can_grow),
      cmocka_unit_test(racing_asks_keep_to_the_budget_together),
      cmocka_unit_test(a_rival_finds_the_same_trial_lost),
      cmocka_unit_test(workers_reach_the_budget_and_no_more),
  };
  return cmocka_run_group_tests_name("study/leases", tests, NULL, NULL);
}
