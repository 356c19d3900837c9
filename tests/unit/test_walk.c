/* The walk of ask as its store sees it: one read, one append, and what is in them. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "study/study.h"

static cocabo_error err;

/* ---- a store that counts --------------------------------------------------------- */

typedef struct counting_store {
  cocabo_store base;
  cocabo_store *inner;
  int reads, appends;
  char kinds[400];                  /* of the last append: one letter an event */
  cocabo_study *rival;              /* acts just before an append arrives, */
  void (*act)(cocabo_study *rival); /* once; NULL: no more */
} counting_store;

static cocabo_status count_create(cocabo_store *s, const char *name, cb_event *created,
                                  int64_t *id, cocabo_error *e) {
  cocabo_store *inner = ((counting_store *)s)->inner;
  return inner->ops->create(inner, name, created, id, e);
}

static cocabo_status count_find(cocabo_store *s, const char *name, int64_t *id,
                                cocabo_error *e) {
  cocabo_store *inner = ((counting_store *)s)->inner;
  return inner->ops->find(inner, name, id, e);
}

static cocabo_status count_read(cocabo_store *s, int64_t id, const cb_position *from,
                                cb_event_fn each, cb_expired_fn expired, void *user,
                                cocabo_error *e) {
  counting_store *c = (counting_store *)s;
  c->reads++;
  return c->inner->ops->read_since(c->inner, id, from, each, expired, user, e);
}

static cocabo_status count_append(cocabo_store *s, int64_t id, const cb_append *what,
                                  cocabo_error *e) {
  static const char letters[] = "?CcATFISRDM"; /* by kind; D: added, M: model */
  counting_store *c = (counting_store *)s;
  void (*act)(cocabo_study *) = c->act;
  c->act = NULL;
  if (act)
    act(c->rival);
  c->appends++;
  for (int i = 0; i < what->n; i++)
    c->kinds[i] = letters[what->events[i].kind];
  c->kinds[what->n] = '\0';
  return c->inner->ops->append(c->inner, id, what, e);
}

static cocabo_status count_check(cocabo_store *s, int64_t id, int64_t *unchecked,
                                 cocabo_error *e) {
  cocabo_store *inner = ((counting_store *)s)->inner;
  return inner->ops->check(inner, id, unchecked, e);
}

static const cb_store_ops counting_ops = {.create = count_create,
                                          .find = count_find,
                                          .read_since = count_read,
                                          .append = count_append,
                                          .check = count_check};

static counting_store new_counting(void) {
  return (counting_store){.base.ops = &counting_ops,
                          .inner = cocabo_store_new_memory()};
}

/* ---- studies --------------------------------------------------------------------- */

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

static cocabo_study *create(cocabo_store *store, const char *const *pairs) {
  cocabo_space *space = cocabo_space_new();
  assert_ok(cocabo_space_add(space, "x", "float(-1,3)", &err));
  assert_ok(cocabo_space_add(space, "c", "choice(a,b,c)", &err));
  cocabo_options *o = cocabo_options_new();
  for (; pairs[0]; pairs += 2)
    assert_ok(cocabo_options_set(o, pairs[0], pairs[1], &err));
  cocabo_study *study;
  assert_ok(cocabo_study_create(&study, "s", space, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

static void ask(cocabo_study *study, int n) {
  cocabo_trial *t[16];
  assert_ok(cocabo_study_ask(study, (size_t)n, t, &err));
  for (int i = 0; i < n; i++)
    cocabo_trial_free(t[i]);
}

static void tell(cocabo_study *study, int64_t number) {
  const cb_trial *t = &cb_study_history(study)->trials[number];
  const double x = t->cells[0].real;
  assert_ok(cocabo_study_tell(
      study, number, (x - 0.7) * (x - 0.7) + (double)t->cells[1].integer, &err));
}

static void assert_replays(cocabo_study *study) {
  cocabo_report report;
  assert_ok(cocabo_study_verify(study, -1, &report, &err));
  const cb_history *h = cb_study_history(study);
  assert_int_equal(report.replayed, h->n_design + h->n_sampled);
  assert_int_equal(report.differing, 0);
}

/* ---- counting -------------------------------------------------------------------- */

static void start_counting(counting_store *c) {
  c->reads = c->appends = 0;
  c->kinds[0] = '\0';
}

#define assert_one_of_each(c, want)                                                    \
  do {                                                                                 \
    assert_int_equal((c)->reads, 1);                                                   \
    assert_int_equal((c)->appends, 1);                                                 \
    assert_string_equal((c)->kinds, want);                                             \
    start_counting(c);                                                                 \
  } while (0)

/* The result of a trial that this handle handed out needs no look first. */
#define assert_one_append(c, want)                                                     \
  do {                                                                                 \
    assert_int_equal((c)->reads++, 0);                                                 \
    assert_one_of_each(c, want);                                                       \
  } while (0)

static void an_ask_is_one_read_and_one_append(void **state) {
  (void)state;
  counting_store c = new_counting();
  cocabo_study *study =
      create(&c.base, WITH("sampler", "mixed", "n_init", "5", "refit_every", "3"));
  start_counting(&c);
  ask(study, 3);
  assert_one_of_each(&c, "AAA");
  for (int i = 0; i < 3; i++) {
    tell(study, i);
    assert_one_append(&c, "T");
  }
  assert_ok(cocabo_study_lease(study, "w", 1e-9, &err));
  ask(study, 1); /* lost at once */
  assert_one_of_each(&c, "A");
  assert_ok(cocabo_study_lease(study, NULL, 0, &err));
  ask(study, 3); /* 3 again, the last of the design, the first of the sampler */
  assert_one_of_each(&c, "SMRAA");
  tell(study, 3);
  assert_one_append(&c, "T");
  ask(study, 1);
  assert_one_of_each(&c, "A"); /* nothing to learn yet */
  assert_ok(cocabo_study_interrupt(study, 6, &err));
  assert_one_of_each(&c, "I");
  ask(study, 2);
  assert_one_of_each(&c, "RA");
  assert_ok(cocabo_study_fail(study, 6, "why not", &err));
  assert_one_of_each(&c, "F");
  tell(study, 4);
  tell(study, 5);
  start_counting(&c);
  ask(study, 3);
  assert_one_of_each(&c, "MAAA");
  assert_replays(study);
  cocabo_study_free(study);
  cocabo_store_free(c.inner);
}

static void what_is_known_already_is_not_written(void **state) {
  (void)state;
  counting_store c = new_counting();
  cocabo_study *study = create(&c.base, WITH("sampler", "random"));
  ask(study, 1);
  tell(study, 0);
  start_counting(&c);
  tell(study, 0);
  assert_int_equal(c.reads, 1);
  assert_int_equal(c.appends, 0);
  cocabo_study_free(study);
  cocabo_store_free(c.inner);
}

static void an_ask_that_fails_writes_nothing(void **state) {
  (void)state;
  counting_store c = new_counting();
  cocabo_study *study =
      create(&c.base, WITH("sampler", "random", "n_init", "2", "trials", "2"));
  assert_ok(cocabo_study_lease(study, "w", 1e-9, &err));
  ask(study, 2);
  start_counting(&c);
  cocabo_trial *t[3];
  assert_fails(cocabo_study_ask(study, 3, t, &err), COCABO_E_BUDGET,
               "study \"s\" has 2 of its 2 trials left, want 3");
  assert_int_equal(c.reads, 1);
  assert_int_equal(c.appends, 0);
  ask(study, 2); /* both were lost */
  assert_string_equal(c.kinds, "SSRR");
  cocabo_study_free(study);
  cocabo_store_free(c.inner);
}

/* ---- fits by name ---------------------------------------------------------------- */

/* What a log says about fits. */
typedef struct fits {
  int n;
  uint64_t ids[100][2];
  int64_t bases[100];
  uint64_t named[100][2]; /* by trial; 0: none */
  int64_t basis_of[100];  /* by trial */
} fits;

static cocabo_status note_fits(void *user, const cb_event *event, cocabo_error *e) {
  fits *f = user;
  (void)e;
  if (event->kind == CB_MODEL_FITTED) {
    memcpy(f->ids[f->n], event->id, sizeof event->id);
    f->bases[f->n++] = event->fit.basis;
  }
  if (event->kind != CB_TRIAL_ASKED)
    return COCABO_OK;
  const cb_provenance *p = &event->proposal;
  assert_true(p->n_fits <= (p->batch_index == 0 && event->origin == CB_BY_SAMPLER));
  if (p->n_fits > 0)
    memcpy(f->named[event->number], p->fits[0], sizeof p->fits[0]);
  f->basis_of[event->number] = p->basis;
  return COCABO_OK;
}

static fits read_fits(cocabo_study *study) {
  fits f = {0};
  assert_ok(study->store->ops->read_since(
      study->store, study->id, &(cb_position){.seq = 0}, note_fits, NULL, &f, &err));
  return f;
}

static void asks_name_the_fit_they_used(void **state) {
  (void)state;
  cocabo_study *study =
      create(NULL, WITH("sampler", "mixed", "n_init", "3", "refit_every", "4"));
  ask(study, 3);
  for (int i = 0; i < 3; i++)
    tell(study, i);
  for (int i = 3; i < 12; i++) {
    ask(study, 1);
    tell(study, i);
  }
  const fits f = read_fits(study);
  const uint64_t none[2] = {0, 0};
  assert_int_equal(f.n, 2);
  for (int i = 0; i < 12; i++) {
    const int fit = i < 4 ? -1 : i < 8 ? 0 : 1; /* after 4 and after 8 results */
    assert_memory_equal(f.named[i], fit < 0 ? none : f.ids[fit], sizeof none);
  }
  assert_int_equal(f.bases[0], f.basis_of[4]); /* it lies after what it saw */
  assert_int_equal(f.bases[1], f.basis_of[8]);
  assert_replays(study);
  cocabo_study_free(study);
}

static cocabo_study *study_with_a_fit_due(counting_store *c) {
  cocabo_study *study = create(&c->base, WITH("sampler", "mixed", "n_init", "3"));
  ask(study, 3);
  for (int i = 0; i < 3; i++)
    tell(study, i);
  assert_ok(cocabo_study_open(&c->rival, "s", c->inner, &err));
  start_counting(c);
  return study;
}

static void free_both(cocabo_study *study, counting_store *c) {
  assert_ok(cocabo_study_sync(study, &err));
  assert_replays(study);
  cocabo_study_free(study);
  cocabo_study_free(c->rival);
  cocabo_store_free(c->inner);
}

static void enqueue(cocabo_study *rival) {
  const cb_cell cells[] = {{.real = 0.25}, {.integer = 1}};
  const double result = 0.5;
  assert_ok(cb_study_add(rival, cells, &result, &err));
}

/* It has lost the number but not what it learnt: no second fit, though there is one
 * result more by now. */
static void a_fit_survives_being_overtaken(void **state) {
  (void)state;
  counting_store c = new_counting();
  cocabo_study *study = study_with_a_fit_due(&c);
  const int64_t seq = cb_study_history(study)->seq;
  c.act = enqueue;
  ask(study, 1);
  assert_int_equal(c.reads, 2);
  assert_int_equal(c.appends, 2);
  assert_string_equal(c.kinds, "MA");
  const fits f = read_fits(study);
  assert_int_equal(f.n, 1);
  assert_int_equal(f.bases[0], seq);
  assert_int_equal(f.basis_of[4], seq + 1);
  assert_memory_equal(f.named[4], f.ids[0], sizeof f.ids[0]);
  free_both(study, &c);
}

static void ask_one(cocabo_study *rival) {
  ask(rival, 1);
}

/* Both learn from the same log. The first in the log counts for everybody. */
static void of_two_fits_the_first_is_taken(void **state) {
  (void)state;
  counting_store c = new_counting();
  cocabo_study *study = study_with_a_fit_due(&c);
  c.act = ask_one;
  ask(study, 1);
  assert_string_equal(c.kinds, "A");
  const fits f = read_fits(study);
  assert_int_equal(f.n, 1);
  assert_int_equal(f.ids[0][0], c.rival->writer);
  assert_memory_equal(f.named[3], f.ids[0], sizeof f.ids[0]);
  assert_memory_equal(f.named[4], f.ids[0], sizeof f.ids[0]);
  free_both(study, &c);
}

static void change_model(cocabo_study *rival) {
  const char *name = "ard", *value = "false";
  assert_ok(cocabo_study_change(rival, &name, &value, 1, &err));
  enqueue(rival);
}

/* What was learnt for other options is of no use. */
static void a_fit_does_not_survive_a_change_of_the_model(void **state) {
  (void)state;
  counting_store c = new_counting();
  cocabo_study *study = study_with_a_fit_due(&c);
  const int64_t seq = cb_study_history(study)->seq;
  c.act = change_model;
  ask(study, 1);
  assert_string_equal(c.kinds, "MA");
  const fits f = read_fits(study);
  assert_int_equal(f.n, 1);
  assert_int_equal(f.bases[0], seq + 2);
  free_both(study, &c);
}

/* ---- logs of version 0.1.0 ------------------------------------------------------- */

/* Copies a log into another store as version 0.1.0 would have written it: lost trials
 * and fits first, then an ask that has seen them and names no fit. */
typedef struct scribe {
  cocabo_store *to;
  int64_t id;
  int64_t basis;    /* of the next proposals: the last event that is none of an ask's */
  bool stale_basis; /* leave the bases where they are: then the fits are not seen */
} scribe;

static cocabo_status rewrite(void *user, const cb_event *event, cocabo_error *e) {
  scribe *s = user;
  cb_event copy;
  assert_int_equal(cb_event_copy(&copy, event, e), COCABO_OK);
  cb_free(copy.proposal.fits);
  copy.proposal.fits = NULL;
  copy.proposal.n_fits = 0;
  if (copy.kind == CB_TRIAL_ASKED && !s->stale_basis)
    copy.proposal.basis = s->basis;
  const cb_append what = {.events = &copy, .n = 1, .next_number = -1};
  if (event->kind == CB_STUDY_CREATED)
    assert_ok(s->to->ops->create(s->to, "old", &copy, &s->id, &err));
  else
    assert_ok(s->to->ops->append(s->to, s->id, &what, &err));
  if (event->kind != CB_TRIAL_ASKED && event->kind != CB_TRIAL_RESUMED)
    s->basis = event->seq;
  cb_event_clear(&copy);
  return COCABO_OK;
}

static void a_log_without_names_replays_by_its_bases(void **state) {
  (void)state;
  static const char *const samplers[] = {"mixed", "cocabo", "onehot", "exp3bo"};
  for (int i = 0; i < 8; i++) {
    cocabo_study *study = create(NULL, WITH("sampler", samplers[i / 2], "n_init", "3",
                                            "refit_every", "3", "samples", "40"));
    for (int k = 0; k < 12; k++) {
      ask(study, 2);
      tell(study, 2 * k + 1);
      tell(study, 2 * k);
    }
    assert_true(read_fits(study).n > 1);
    scribe s = {.to = cocabo_store_new_memory(), .stale_basis = i % 2};
    assert_ok(study->store->ops->read_since(
        study->store, study->id, &(cb_position){.seq = 0}, rewrite, NULL, &s, &err));
    cocabo_study *old;
    cocabo_report report;
    assert_ok(cocabo_study_open(&old, "old", s.to, &err));
    assert_ok(cocabo_study_verify(old, -1, &report, &err));
    assert_int_equal(report.replayed, 24);
    assert_int_equal(report.differing > 0, s.stale_basis);
    if (!s.stale_basis) { /* and goes on, in the new way */
      ask(old, 2);
      tell(old, 24);
      tell(old, 25);
      ask(old, 2);
      assert_replays(old);
    }
    cocabo_study_free(old);
    cocabo_store_free(s.to);
    cocabo_study_free(study);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(an_ask_is_one_read_and_one_append),
      cmocka_unit_test(what_is_known_already_is_not_written),
      cmocka_unit_test(an_ask_that_fails_writes_nothing),
      cmocka_unit_test(asks_name_the_fit_they_used),
      cmocka_unit_test(a_fit_survives_being_overtaken),
      cmocka_unit_test(of_two_fits_the_first_is_taken),
      cmocka_unit_test(a_fit_does_not_survive_a_change_of_the_model),
      cmocka_unit_test(a_log_without_names_replays_by_its_bases),
  };
  return cmocka_run_group_tests_name("study/walk", tests, NULL, NULL);
}
