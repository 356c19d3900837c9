/* The same study in another store: to the byte, in pieces, and only where it can be. */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/rng.h"
#include "base/status.h"
#include "cocabo_store.h"
#include "store/store.h"
#include "study/study.h"

static cocabo_error err;
static char folder[] = "/tmp/cocabo-copy-XXXXXX";
static int n_files;

static cocabo_store *open_file(void) {
  char path[64];
  cocabo_store *store;
  snprintf(path, sizeof path, "%s/%d.db", folder, n_files++);
  assert_ok(cocabo_store_open(&store, path, COCABO_STORE_CREATE, &err));
  return store;
}

static cocabo_store *open_either(int i) {
  return i == 0 ? cocabo_store_new_memory() : open_file();
}

/* ---- a study with a bit of everything -------------------------------------------- */

static cocabo_study *create(cocabo_store *store) {
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  assert_ok(cocabo_space_add(s, "c", "choice(a,b,c)", &err));
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

/* n trials asked for at once; some are told, failed, given back and handed out again.
 */
static void work(cocabo_study *study, size_t n) {
  cocabo_trial **t = calloc(n, sizeof *t);
  cb_rng rng = cb_rng_make(7, CB_RNG_BENCH, (uint64_t)cocabo_study_count(study));
  assert_ok(cocabo_study_lease(study, "w", 1000, &err));
  assert_ok(cocabo_study_ask(study, n, t, &err));
  for (size_t i = 0; i < n; i++) {
    const int64_t number = cocabo_trial_number(t[i]);
    const uint32_t dice = cb_rng_below(&rng, 8);
    if (dice < 5)
      assert_ok(cocabo_study_tell(study, number, cb_rng_uniform(&rng), &err));
    else if (dice == 5)
      assert_ok(cocabo_study_fail(study, number, "so \"it\" was\n", &err));
    else if (dice == 6)
      assert_ok(cocabo_study_interrupt(study, number, &err));
    cocabo_trial_free(t[i]);
  }
  free(t);
  assert_ok(cocabo_study_set_attr(study, "note", n % 2 ? "odd" : "even", &err));
}

/* ---- comparing ------------------------------------------------------------------- */

typedef struct digest {
  int64_t n;
  uint64_t sum;
} digest;

static void mix(digest *d, const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++)
    d->sum = (d->sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
}

static cocabo_status note(void *user, const cb_event *event, cocabo_error *e) {
  digest *d = user;
  (void)e;
  d->n++;
  mix(d, &event->seq, sizeof event->seq);
  mix(d, &event->time, sizeof event->time);
  mix(d, event->id, sizeof event->id);
  mix(d, &event->number, sizeof event->number);
  mix(d, &event->attempt, sizeof event->attempt);
  mix(d, &event->y, sizeof event->y);
  for (int i = 0; i < event->n_cells; i++)
    mix(d, &event->cells[i], sizeof event->cells[i]);
  if (event->reason)
    mix(d, event->reason, strlen(event->reason));
  for (int i = 0; i < event->n_attributes; i++)
    mix(d, event->attributes[i].value, strlen(event->attributes[i].value));
  return COCABO_OK;
}

static int64_t find(cocabo_store *store) {
  int64_t id = 0;
  assert_ok(store->ops->find(store, "s", &id, &err));
  return id;
}

static digest look(cocabo_store *store) {
  digest d = {0};
  assert_ok(store->ops->read_since(store, find(store), &(cb_position){0}, note, NULL,
                                   &d, &err));
  return d;
}

static void assert_same(cocabo_store *a, cocabo_store *b) {
  const digest one = look(a), other = look(b);
  assert_int_equal(one.n, other.n);
  assert_true(one.sum == other.sum);
}

static int64_t copy(cocabo_store *from, cocabo_store *to) {
  int64_t copied = -7;
  assert_ok(cocabo_store_copy(from, "s", to, NULL, NULL, &copied, &err));
  return copied;
}

static cocabo_status refuse_lease(void *user, const cocabo_lease *lease,
                                  cocabo_error *e) {
  (void)user, (void)lease;
  return cb_fail(e, COCABO_E_STATE, "there is a lease");
}

/* ---- claims ---------------------------------------------------------------------- */

static void a_copy_is_the_same(void **state) {
  (void)state;
  for (int i = 0; i < 4; i++) {
    cocabo_store *from = open_either(i / 2), *to = open_either(i % 2);
    cocabo_study *study = create(from), *again;
    work(study, 40);
    const int64_t n = look(from).n;
    nanosleep(&(struct timespec){.tv_nsec = 2000000},
              NULL); /* another time than that of the copy */
    assert_int_equal(copy(from, to), n);
    assert_same(from, to);
    assert_ok(cocabo_store_leases(to, "s", refuse_lease, NULL, &err));
    assert_int_equal(copy(from, to), 0);
    assert_same(from, to);
    work(study, 3); /* it grows, and so does its copy */
    assert_int_equal(copy(from, to), look(from).n - n);
    assert_same(from, to);
    assert_ok(cocabo_study_open(&again, "s", to, &err));
    assert_int_equal(cocabo_study_count(again), cocabo_study_count(study));
    cocabo_report report;
    assert_ok(cocabo_study_verify(again, -1, &report, &err));
    assert_int_equal(report.differing, 0);
    cocabo_study_free(again);
    cocabo_study_free(study);
    cocabo_store_free(from);
    cocabo_store_free(to);
  }
}

typedef struct watch {
  int64_t done, all;
  int calls, stop; /* at this call; 0: never */
} watch;

static int on_progress(void *user, int64_t done, int64_t all) {
  watch *w = user;
  assert_true(done >= w->done && done <= all);
  w->done = done;
  w->all = all;
  return ++w->calls == w->stop;
}

/* With more events than one batch has. */
static void an_interrupted_copy_goes_on(void **state) {
  (void)state;
  cocabo_store *from = cocabo_store_new_memory();
  cocabo_study *study = create(from);
  work(study, 7000);
  const int64_t n = look(from).n;
  assert_true(n > 10000);
  for (int i = 0; i < 2; i++) {
    cocabo_store *to = open_either(i);
    watch w = {.stop = 1};
    int64_t copied = -7;
    assert_fails(cocabo_store_copy(from, "s", to, on_progress, &w, &copied, &err),
                 COCABO_E_INTERRUPTED,
                 "copying study \"s\" was interrupted; the same again goes on");
    assert_int_equal(copied, -7);
    const int64_t part = look(to).n;
    assert_true(part > 0 && part < n);
    w = (watch){0};
    assert_ok(cocabo_store_copy(from, "s", to, on_progress, &w, &copied, &err));
    assert_int_equal(copied, n - part);
    assert_true(w.done == w.all && w.calls > 4);
    assert_same(from, to);
    cocabo_store_free(to);
  }
  cocabo_study_free(study);
  cocabo_store_free(from);
}

static void another_log_is_refused(void **state) {
  (void)state;
  cocabo_store *from = cocabo_store_new_memory(), *to = cocabo_store_new_memory();
  cocabo_study *study = create(from), *other = create(to), *ahead;
  work(study, 5);
  const digest before = look(to);
  assert_fails(
      cocabo_store_copy(from, "s", to, NULL, NULL, NULL, &err), COCABO_E_EXISTS,
      "study \"s\" is there already with another log: event 1 is not the same, "
      "want a copy of it or none");
  assert_true(look(to).sum == before.sum);
  cocabo_study_free(other);
  assert_ok(cocabo_store_delete(to, "s", &err));
  copy(from, to);
  assert_ok(cocabo_study_open(&ahead, "s", to, &err));
  work(ahead, 1); /* which the first one has not */
  char want[200];
  snprintf(want, sizeof want,
           "study \"s\" is there already with another log: event %lld is not the same, "
           "want a copy of it or none",
           (long long)look(from).n + 1);
  assert_fails(cocabo_store_copy(from, "s", to, NULL, NULL, NULL, &err),
               COCABO_E_EXISTS, want);
  cocabo_study_free(ahead);
  cocabo_study_free(study);
  cocabo_store_free(from);
  cocabo_store_free(to);
}

/* A key that only a later version knows. */
static const char later_body[] = "{\"y\":0.5,\"later\":{\"a\":[1]}}";

static cocabo_status find_body(void *user, const cb_event *event, cocabo_error *e) {
  (void)e;
  if (event->kept_size == sizeof later_body - 1 &&
      memcmp(event->kept, later_body, event->kept_size) == 0)
    ++*(int *)user;
  return COCABO_OK;
}

static void bodies_are_copied_to_the_byte(void **state) {
  (void)state;
  cocabo_store *from = open_file(), *to = open_file();
  cocabo_study *study = create(from);
  work(study, 3);
  cb_event told = {.kind = CB_TRIAL_TOLD,
                   .number = 1,
                   .id = {1, 2},
                   .time = 1e9,
                   .has_y = true,
                   .y = 0.5,
                   .kept = later_body,
                   .kept_size = sizeof later_body - 1};
  const cb_append what = {.events = &told, .n = 1, .next_number = -1, .keep = true};
  int found = 0;
  assert_ok(from->ops->append(from, find(from), &what, &err));
  copy(from, to);
  assert_ok(to->ops->read_since(to, find(to), &(cb_position){0}, find_body, NULL,
                                &found, &err));
  assert_int_equal(found, 1);
  cocabo_study_free(study);
  cocabo_store_free(from);
  cocabo_store_free(to);
}

/* A store that writes one event otherwise than it was told, or lets somebody else write
 * before it. */
typedef struct bad_store {
  cocabo_store base;
  cocabo_store *inner;
  int64_t spoil; /* this event of a call */
  bool race;
} bad_store;

static cocabo_store *inner_of(cocabo_store *s) {
  return ((bad_store *)s)->inner;
}

static cocabo_status bad_find(cocabo_store *s, const char *name, int64_t *id,
                              cocabo_error *e) {
  return inner_of(s)->ops->find(inner_of(s), name, id, e);
}

static cocabo_status bad_read(cocabo_store *s, int64_t id, const cb_position *from,
                              cb_event_fn each, cb_expired_fn expired, void *user,
                              cocabo_error *e) {
  return inner_of(s)->ops->read_since(inner_of(s), id, from, each, expired, user, e);
}

static cocabo_status bad_append(cocabo_store *s, int64_t id, const cb_append *what,
                                cocabo_error *e) {
  bad_store *bad = (bad_store *)s;
  cocabo_study *rival;
  if (bad->spoil > 0)
    what->events[bad->spoil].time += 1.0;
  if (bad->race) {
    assert_ok(cocabo_study_open(&rival, "s", bad->inner, &err));
    work(rival, 1);
    cocabo_study_free(rival);
  }
  return inner_of(s)->ops->append(inner_of(s), id, what, e);
}

static const cb_store_ops bad_ops = {
    .find = bad_find, .read_since = bad_read, .append = bad_append};

static void a_copy_that_is_another_is_found_out(void **state) {
  (void)state;
  for (int i = 0; i < 2; i++) {
    cocabo_store *from = cocabo_store_new_memory();
    bad_store bad = {.base.ops = &bad_ops,
                     .inner = cocabo_store_new_memory(),
                     .spoil = i == 0 ? 3 : 0,
                     .race = i == 1};
    cocabo_study *study = create(from);
    work(study, 5);
    copy(from, bad.inner);
    const int64_t n = look(from).n;
    work(study, 20);
    char want[100];
    snprintf(want, sizeof want,
             "the copy of study \"s\" is not the same: event %lld differs",
             (long long)n + 4);
    if (i == 0)
      assert_fails(cocabo_store_copy(from, "s", &bad.base, NULL, NULL, NULL, &err),
                   COCABO_E_STORE, want);
    else
      assert_fails(
          cocabo_store_copy(from, "s", &bad.base, NULL, NULL, NULL, &err),
          COCABO_E_EXISTS,
          "the copy of study \"s\" has got other events: somebody works on it");
    cocabo_study_free(study);
    cocabo_store_free(from);
    cocabo_store_free(bad.inner);
  }
}

static void what_is_not_there_is_named(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  assert_fails(cocabo_store_copy(NULL, "s", store, NULL, NULL, NULL, &err),
               COCABO_E_INVALID, "from is NULL");
  assert_fails(cocabo_store_copy(store, "s", NULL, NULL, NULL, NULL, &err),
               COCABO_E_INVALID, "to is NULL");
  assert_fails(cocabo_store_copy(store, "", store, NULL, NULL, NULL, &err),
               COCABO_E_INVALID, "study name is empty");
  assert_fails(cocabo_store_copy(store, "s", store, NULL, NULL, NULL, &err),
               COCABO_E_NOT_FOUND, "no study \"s\"");
  cocabo_store_free(store);
}

static void delete_files(void) {
  static const char *const suffixes[] = {"", "-wal", "-shm"};
  char path[80];
  for (int i = 0; i < n_files; i++)
    for (int k = 0; k < 3; k++) {
      snprintf(path, sizeof path, "%s/%d.db%s", folder, i, suffixes[k]);
      unlink(path);
    }
  rmdir(folder);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_copy_is_the_same),
      cmocka_unit_test(an_interrupted_copy_goes_on),
      cmocka_unit_test(another_log_is_refused),
      cmocka_unit_test(bodies_are_copied_to_the_byte),
      cmocka_unit_test(a_copy_that_is_another_is_found_out),
      cmocka_unit_test(what_is_not_there_is_named),
  };
  if (!mkdtemp(folder))
    return 1;
  const int failed = cmocka_run_group_tests_name("study/copy", tests, NULL, NULL);
  delete_files();
  return failed;
}
