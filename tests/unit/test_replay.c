/* Replaying: whatever happened to a study, its log explains it; and what a log cannot
 * explain is found. */
#include "check.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "base/status.h"
#include "study/study.h"

static cocabo_error err;

/* ---- studies --------------------------------------------------------------------- */

static cocabo_space *mixed_space(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add(s, "x", "float(-1,3)", &err));
  assert_ok(cocabo_space_add(s, "n", "int(1,64,log)", &err));
  assert_ok(cocabo_space_add(s, "c", "choice(a,b,c)", &err));
  assert_ok(cocabo_space_add(s, "d", "choice(true,false)", &err));
  return s;
}

static cocabo_study *create(cocabo_space *space, cocabo_store *store,
                            const char *const *pairs) {
  cocabo_options *o = cocabo_options_new();
  for (; pairs && pairs[0]; pairs += 2)
    assert_ok(cocabo_options_set(o, pairs[0], pairs[1], &err));
  cocabo_study *study;
  assert_ok(cocabo_study_create(&study, "s", space, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

static void change(cocabo_study *study, const char *name, const char *value) {
  assert_ok(cocabo_study_change(study, &name, &value, 1, &err));
}

static double objective(const cb_trial *t) {
  const double x = t->cells[0].real, n = (double)t->cells[1].integer;
  return (x - 0.7) * (x - 0.7) + 0.01 * n + (double)t->cells[2].integer +
         0.1 * (double)t->cells[3].integer;
}

static void ask(cocabo_study *study, int n) {
  cocabo_trial *t[16];
  assert_ok(cocabo_study_ask(study, (size_t)n, t, &err));
  for (int i = 0; i < n; i++)
    cocabo_trial_free(t[i]);
}

static void tell(cocabo_study *study, int64_t number) {
  const cb_trial *t = &cb_study_history(study)->trials[number];
  assert_ok(cocabo_study_tell(study, number, objective(t), &err));
}

static cocabo_report verify(cocabo_study *study, int64_t proposals) {
  cocabo_report report;
  memset(&report, 0x55, sizeof report);
  assert_ok(cocabo_study_verify(study, proposals, &report, &err));
  assert_int_equal(report.reserved[7], 0);
  return report;
}

static void assert_same(cocabo_study *study) {
  const cocabo_report report = verify(study, -1);
  const cb_history *h = cb_study_history(study);
  assert_int_equal(report.trials, h->n_trials);
  assert_int_equal(report.events, h->seq);
  assert_int_equal(report.replayed, h->n_design + h->n_sampled);
  assert_int_equal(report.differing, 0);
  assert_int_equal(report.first_differing, -1);
  assert_int_equal(report.foreign, 0);
  assert_int_equal(report.foreign_differing, 0);
}

static const char *const samplers[] = {"random", "cocabo", "mixed",
                                       "smac",   "onehot", "exp3bo"};
enum { N_SAMPLERS = sizeof samplers / sizeof samplers[0] };

/* ---- what a log explains --------------------------------------------------------- */

/* Two handles ask, tell, fail, interrupt, lose, put back and add at random, late and
 * out of order, while options change under them. */
static void live(cocabo_study *handles[2], cb_rng *rng, int steps) {
  static const char *const kappas[] = {"1", "2", "3.5"};
  for (int i = 0; i < steps; i++) {
    cocabo_study *study = handles[cb_rng_below(rng, 2)];
    const cb_history *h = cb_study_history(study);
    assert_ok(cocabo_study_sync(study, &err));
    const int64_t number =
        h->n_trials > 0 ? (int64_t)cb_rng_below(rng, (uint32_t)h->n_trials) : -1;
    const uint32_t dice = cb_rng_below(rng, 100);
    if (dice < 40 || number < 0) {
      ask(study, 1 + (int)cb_rng_below(rng, 4) * (dice < 10));
    } else if (dice < 85) {
      tell(study, h->n_pending > 0 ? h->pending[dice % h->n_pending] : number);
    } else if (dice < 89) {
      assert_ok(cocabo_study_fail(study, number, "why not", &err));
    } else if (dice < 90) {
      if (h->n_failed > 0)
        assert_ok(cocabo_study_retry(study, h->failed[dice % h->n_failed], &err));
    } else if (dice < 94) {
      if (h->trials[number].state == COCABO_RUNNING)
        assert_ok(cocabo_study_interrupt(study, number, &err));
    } else if (dice < 96) {
      cb_cell cells[4];
      const double result = 2.5;
      cb_space_sample(h->space, rng, cells);
      assert_ok(cb_study_add(study, cells, dice == 94 ? &result : NULL, &err));
    } else if (dice < 98) {
      change(study, "kappa", kappas[cb_rng_below(rng, 3)]);
    } else {
      assert_ok(cocabo_study_set_attr(study, "note", kappas[dice % 2], &err));
    }
  }
}

static void any_life_is_explained_by_its_log(void **state) {
  (void)state;
  for (int s = 0; s < N_SAMPLERS; s++)
    for (uint64_t seed = 0; seed < 2; seed++) {
      cocabo_store *store = cocabo_store_new_memory();
      cocabo_study *handles[2];
      handles[0] = create(mixed_space(), store,
                          WITH("sampler", samplers[s], "n_init", "5", "refit_every",
                               "3", "samples", "40", "seed", "7"));
      assert_ok(cocabo_study_open(&handles[1], "s", store, &err));
      assert_ok(cocabo_study_lease(handles[1], "w", 1e-9, &err)); /* soon lost */
      cb_rng rng = cb_rng_make(seed, CB_RNG_BENCH, 5);
      live(handles, &rng, 120);
      assert_ok(cocabo_study_sync(handles[0], &err));
      assert_true(cb_study_history(handles[0])->n_sampled > 5);
      assert_same(handles[0]);
      for (int i = 0; i < 2; i++)
        cocabo_study_free(handles[i]);
      cocabo_store_free(store);
    }
}

static void batches_across_the_end_of_the_design_are_repeated(void **state) {
  (void)state;
  for (int s = 0; s < N_SAMPLERS; s++) {
    cocabo_study *study = create(mixed_space(), NULL,
                                 WITH("sampler", samplers[s], "n_init", "6",
                                      "refit_every", "2", "samples", "40"));
    ask(study, 4);
    tell(study, 2);
    tell(study, 0);
    ask(study, 5); /* two of the design, three of the sampler, which saw them */
    tell(study, 8);
    ask(study, 2);
    change(study, "n_init", "9"); /* and once more */
    ask(study, 4);
    assert_int_equal(cb_study_history(study)->n_design, 9);
    assert_same(study);
    cocabo_study_free(study);
  }
}

/* Theta of one sampler is nonsense to another. */
static void another_sampler_starts_afresh(void **state) {
  (void)state;
  cocabo_study *study = create(
      mixed_space(), NULL,
      WITH("sampler", "cocabo", "n_init", "4", "refit_every", "1", "samples", "40"));
  for (int i = 0; i < 15; i++) {
    if (i == 7)
      change(study, "sampler", "mixed");
    if (i == 10)
      change(study, "ard", "false");
    if (i == 12)
      change(study, "sampler", "cocabo");
    ask(study, 1);
    tell(study, i);
    if (i >= 4)
      assert_string_equal(study->proposer.sampler->name,
                          i >= 7 && i < 12 ? "mixed" : "cocabo");
  }
  assert_same(study);
  cocabo_study_free(study);
}

static void only_the_last_batches_are_repeated(void **state) {
  (void)state;
  cocabo_study *study =
      create(mixed_space(), NULL, WITH("sampler", "random", "n_init", "2"));
  assert_int_equal(verify(study, -1).replayed, 0);
  for (int i = 0; i < 5; i++)
    ask(study, 2);
  assert_int_equal(verify(study, 0).replayed, 0);
  assert_int_equal(verify(study, 0).trials, 10);
  assert_int_equal(verify(study, 1).replayed, 2);
  assert_int_equal(verify(study, 3).replayed, 6);
  assert_int_equal(verify(study, 100).replayed, 10);
  cocabo_study_free(study);
}

/* ---- what it does not ------------------------------------------------------------ */

/* A store that shows a log with something changed. */
typedef struct forger {
  cocabo_store base;
  cocabo_store *inner;
  int64_t seq; /* the event that is changed */
  void (*forge)(cb_event *event);
  cb_event_fn each;
  void *user;
} forger;

static cocabo_status show_forged(void *user, const cb_event *event, cocabo_error *e) {
  forger *f = user;
  cb_event copy;
  if (event->seq != f->seq)
    return f->each(f->user, event, e);
  assert_int_equal(cb_event_copy(&copy, event, e), COCABO_OK);
  f->forge(&copy);
  const cocabo_status status = f->each(f->user, &copy, e);
  cb_event_clear(&copy);
  return status;
}

static cocabo_status forged_read(cocabo_store *s, int64_t id, const cb_position *from,
                                 cb_event_fn each, cb_expired_fn expired, void *user,
                                 cocabo_error *e) {
  forger *f = (forger *)s;
  assert_null(expired); /* who checks a log needs no leases */
  f->each = each;
  f->user = user;
  return f->inner->ops->read_since(f->inner, id, from, show_forged, NULL, f, e);
}

static cocabo_status forged_check(cocabo_store *s, int64_t id, int64_t *unchecked,
                                  cocabo_error *e) {
  const forger *f = (forger *)s;
  return f->inner->ops->check(f->inner, id, unchecked, e);
}

static const cb_store_ops forger_ops = {.read_since = forged_read,
                                        .check = forged_check};

/* A study whose log has, from event 2: asked 0 1 (design), told 1, asked 2 (sampler),
 * interrupted 2, resumed 2, asked 3 4 5 (sampler), told 4. */
static cocabo_study *forgeable(const char *sampler) {
  cocabo_study *study = create(
      mixed_space(), NULL, WITH("sampler", sampler, "n_init", "2", "samples", "40"));
  ask(study, 2);
  tell(study, 1);
  ask(study, 1);
  assert_ok(cocabo_study_interrupt(study, 2, &err));
  ask(study, 4);
  tell(study, 4);
  assert_int_equal(cb_study_history(study)->seq, 11);
  return study;
}

static cocabo_status verify_forged(cocabo_study *study, int64_t seq,
                                   void (*forge)(cb_event *), cocabo_report *report) {
  forger f = {
      .base.ops = &forger_ops, .inner = study->store, .seq = seq, .forge = forge};
  study->store = &f.base;
  const cocabo_status status = cocabo_study_verify(study, -1, report, &err);
  study->store = f.inner;
  return status;
}

static void move_cell(cb_event *e) {
  e->cells[0].real = nextafter(e->cells[0].real, 0.5);
}
static void move_draw(cb_event *e) {
  e->proposal.draws[1].p *= 1.0 + 1e-15;
}
static void move_b(cb_event *e) {
  e->proposal.draws[1].b++;
}
static void move_cap(cb_event *e) {
  e->proposal.draws[0].capped = !e->proposal.draws[0].capped;
}
static void move_gamma(cb_event *e) {
  e->proposal.draws[0].gamma = -e->proposal.draws[0].gamma;
}
static void other_machine(cb_event *e) {
  e->proposal.fingerprint[0] = '?';
}
static void no_machine(cb_event *e) {
  cb_free(e->proposal.fingerprint);
  e->proposal.fingerprint = NULL;
}
static void other_machine_other_point(cb_event *e) {
  other_machine(e);
  move_cell(e);
}

static void become(cb_event *e, const char *fingerprint) {
  cb_free(e->proposal.fingerprint);
  e->proposal.fingerprint = cb_strdup(fingerprint);
  move_cell(e);
}
static void other_revision(cb_event *e) {
  become(e, "cocabo 999");
}
static void of_0_1_0(cb_event *e) {
  become(e, "cocabo 0.1.0; gcc 12.2.0; libc 2.36; blas Zen; x86-64 fma avx2");
}

static void another_point_is_found(void **state) {
  (void)state;
  cocabo_study *study = forgeable("cocabo");
  cocabo_report report;
  assert_ok(verify_forged(study, 9, move_cell, &report)); /* trial 4 */
  assert_int_equal(report.replayed, 6);
  assert_int_equal(report.differing, 1);
  assert_int_equal(report.first_differing, 4);
  void (*const draws[])(cb_event *) = {move_draw, move_b, move_cap, move_gamma};
  for (int i = 0; i < 4; i++) {
    assert_ok(verify_forged(study, 5, draws[i], &report)); /* trial 2 */
    assert_true(report.differing >= 1);
    assert_int_equal(report.first_differing, 2);
  }
  assert_ok(verify_forged(study, 2, move_cell, &report)); /* of the design */
  assert_int_equal(report.first_differing, 0);
  cocabo_study_free(study);
}

static void tell_otherwise(cb_event *e) {
  e->y += 0.5;
}

static void another_past_is_found(void **state) {
  (void)state;
  cocabo_study *study = create(
      mixed_space(), NULL,
      WITH("sampler", "cocabo", "n_init", "3", "refit_every", "100", "samples", "40"));
  for (int i = 0; i < 6; i++) {
    ask(study, 1);
    tell(study, i);
  }
  cocabo_report report;
  assert_ok(verify_forged(study, 5, tell_otherwise, &report));
  assert_int_equal(report.replayed, 6);
  assert_true(report.differing > 0);
  assert_true(report.first_differing >= 3);
  cocabo_study_free(study);
}

static void other_machines_are_counted_apart(void **state) {
  (void)state;
  cocabo_study *study = forgeable("random");
  cocabo_report report;
  assert_ok(verify_forged(study, 8, other_machine, &report));
  assert_int_equal(report.replayed, 3);
  assert_int_equal(report.foreign, 3);
  assert_int_equal(report.foreign_differing, 0);
  assert_ok(verify_forged(study, 8, no_machine, &report));
  assert_int_equal(report.foreign, 3);
  assert_ok(verify_forged(study, 8, other_machine_other_point, &report));
  assert_int_equal(report.foreign_differing, 1);
  assert_int_equal(report.differing, 0);
  assert_int_equal(report.first_differing, -1);
  cocabo_study_free(study);
}

static void later_basis(cb_event *e) {
  e->proposal.basis = e->seq;
}
static void earlier_basis(cb_event *e) {
  e->proposal.basis = 1;
}
static void no_basis(cb_event *e) {
  e->proposal.basis = 0;
}
static void negative_basis(cb_event *e) {
  e->proposal.basis = -7;
}
static void larger_batch(cb_event *e) {
  e->proposal.batch_size++;
}
static void no_batch(cb_event *e) {
  e->proposal.batch_size = 0;
}
static void huge_batch(cb_event *e) {
  e->proposal.batch_size = INT32_MAX;
}
static void other_index(cb_event *e) {
  e->proposal.batch_index++;
}
static void other_first(cb_event *e) {
  e->proposal.batch_first--;
}
static void by_user(cb_event *e) {
  e->origin = CB_BY_USER;
}
static void by_design(cb_event *e) {
  e->origin = CB_BY_DESIGN;
}
static void other_pending(cb_event *e) {
  e->proposal.pending[0]++;
}
static void fewer_pending(cb_event *e) {
  e->proposal.n_pending--;
}
static void other_attempt(cb_event *e) {
  e->attempt++;
}
static void fewer_cells(cb_event *e) {
  e->n_cells--;
}
static void created_again(cb_event *e) {
  e->kind = CB_STUDY_CREATED;
}
static void never_lost(cb_event *e) {
  e->kind = CB_TRIAL_STALE;
  e->attempt = 1;
}
static void never_failed(cb_event *e) {
  e->kind = CB_TRIAL_RETRIED;
  e->attempt = 1;
}
static void unknown_trial(cb_event *e) {
  e->number = 77;
}
static void skipped(cb_event *e) {
  e->seq++;
}
static void bad_cell(cb_event *e) {
  e->cells[2].integer = 3;
}
static void bad_fit(cb_event *e) {
  *e = (cb_event){.kind = CB_MODEL_FITTED, .seq = e->seq, .number = -1};
  e->fit = (cb_fit){.basis = 2, .n_theta = 1};
  e->fit.theta = cb_calloc(1, sizeof(double));
  e->fit.theta[0] = NAN;
}

static void unknown_kind(cb_event *e) {
  e->kind = (cb_event_kind)77;
}

static void timeless(cb_event *e) {
  e->time = NAN;
}
static void an_attempt_more(cb_event *e) {
  e->attempt = 1;
}
static void a_fingerprint_more(cb_event *e) {
  e->proposal.fingerprint = cb_strdup("random 7");
}
static void of_an_attempt_to_come(cb_event *e) {
  *e = (cb_event){.kind = CB_TRIAL_FAILED,
                  .seq = e->seq,
                  .time = e->time,
                  .attempt = 5,
                  .has_attempt = true};
}
static void resumed_again(cb_event *e) {
  *e = (cb_event){.kind = CB_TRIAL_RESUMED,
                  .seq = e->seq,
                  .time = e->time,
                  .number = e->number,
                  .attempt = 1};
}

static void contradictions_are_named(void **state) {
  (void)state;
  const struct {
    int64_t seq;
    void (*forge)(cb_event *);
    const char *what;
  } cases[] = {
      {5, later_basis, "5 contradicts the log: it cannot have seen what it says"},
      {5, no_basis, "5 contradicts the log: it cannot have seen what it says"},
      {5, negative_basis, "5 contradicts the log: it cannot have seen what it says"},
      {9, earlier_basis, "9 contradicts the log: it is not the next of its batch"},
      {5, earlier_basis, "5 contradicts the log: it has not seen all trials before it"},
      {8, larger_batch, "9 contradicts the log: it is not the next of its batch"},
      {5, larger_batch, "6 contradicts the log: it is not the next of its batch"},
      {5, no_batch, "5 contradicts the log: it starts no batch"},
      {8, huge_batch, "8 contradicts the log: it starts no batch"},
      {8, other_index, "8 contradicts the log: it starts no batch"},
      {9, other_index, "9 contradicts the log: it is not the next of its batch"},
      {8, other_first, "8 contradicts the log: it starts no batch"},
      {10, by_design, "10 contradicts the log: it is not the next of its batch"},
      {5, by_user, "5 contradicts the log: it starts no batch"},
      {8, other_pending,
       "8 contradicts the log: other trials were pending than it says"},
      {8, fewer_pending,
       "8 contradicts the log: other trials were pending than it says"},
      {7, other_attempt, "7 contradicts the log: the attempt is not the next"},
      {9, fewer_cells, "9 contradicts the log: the point is not in the space"},
      {11, created_again, "11 contradicts the log: the study exists already"},
      {11, never_lost, "11 contradicts the log: there was no such attempt"},
      {11, never_failed, "11 contradicts the log: there was no such attempt"},
      {11, unknown_trial, "11 contradicts the log: there is no such trial"},
      {11, skipped, "12 contradicts the log: its number is not the next"},
      {10, bad_cell, "10 contradicts the log: the point is not in the space"},
      {11, bad_fit, "11 contradicts the log: what was learnt is not finite"},
      {11, timeless, "11 contradicts the log: it has no time"},
      {2, an_attempt_more, "2 contradicts the log: it says what none of its kind says"},
      {9, a_fingerprint_more,
       "9 contradicts the log: it says what only the first of a batch says"},
      {11, of_an_attempt_to_come, "11 contradicts the log: there was no such attempt"},
      {11, resumed_again, "11 contradicts the log: the trial was not on offer"},
  };
  cocabo_study *study = forgeable("random");
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cocabo_report report = {.events = -7};
    char want[100];
    snprintf(want, sizeof want, "event %s", cases[i].what);
    assert_int_equal(verify_forged(study, cases[i].seq, cases[i].forge, &report),
                     COCABO_E_STATE);
    assert_string_equal(err.message, want);
    assert_int_equal(report.events, -7); /* untouched */
  }
  cocabo_study_free(study);
}

static void last_pending(cb_event *e) {
  e->proposal.pending[e->proposal.n_pending - 1]--;
}

static void pending_points_of_the_same_ask_are_checked(void **state) {
  (void)state;
  cocabo_report report;
  cocabo_study *study =
      create(mixed_space(), NULL, WITH("sampler", "random", "n_init", "2"));
  ask(study, 4); /* two of each: created, 0 1, 2 3 */
  assert_same(study);
  assert_int_equal(verify_forged(study, 4, last_pending, &report), COCABO_E_STATE);
  assert_string_equal(
      err.message,
      "event 4 contradicts the log: other trials were pending than it says");
  cocabo_study_free(study);
}

static void nothing_is_proposed_before_the_beginning(void **state) {
  (void)state;
  cocabo_report report;
  cocabo_study *study = create(mixed_space(), NULL, NULL);
  ask(study, 1);
  assert_int_equal(verify_forged(study, 2, no_basis, &report), COCABO_E_STATE);
  assert_string_equal(
      err.message, "event 2 contradicts the log: it has not seen all trials before it");
  assert_int_equal(verify_forged(study, 1, unknown_kind, &report), COCABO_E_STATE);
  assert_string_equal(err.message, "the log of study \"s\" has no beginning");
  cocabo_study_free(study);
}

static cocabo_space *six_points(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add(s, "k", "int(0,1)", &err));
  assert_ok(cocabo_space_add(s, "c", "choice(a,b,c)", &err));
  return s;
}

static void append(cocabo_study *study, cb_event *event) {
  event->id[0] = 1;
  event->id[1] = (uint64_t)event->number;
  const cb_append what = {.events = event, .n = 1, .next_number = -1};
  assert_ok(study->store->ops->append(study->store, study->id, &what, &err));
}

/* Whoever reads theta as it lies must not be shown a fit of another length, which an
 * earlier revision may have made: it learns anew. */
static void a_fit_of_another_length_reaches_no_sampler(void **state) {
  (void)state;
  static const char *const names[] = {"mixed", "cocabo", "onehot", "exp3bo", "random"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    cocabo_study *study =
        create(six_points(), NULL,
               WITH("n_init", "2", "sampler", names[i], "deterministic", "false"));
    double theta = 0.5;
    ask(study, 2);
    for (int k = 0; k < 2; k++)
      assert_ok(cocabo_study_tell(study, k, k, &err));
    cb_event fitted = {.kind = CB_MODEL_FITTED,
                       .number = -1,
                       .fit = {.basis = cb_study_history(study)->seq,
                               .rows = 2,
                               .theta = &theta,
                               .n_theta = 1}};
    append(study, &fitted);
    assert_ok(cocabo_study_sync(study, &err));
    ask(study, 1);
    const cb_fit *fit = cb_history_fit(cb_study_history(study));
    const bool learns = strcmp(names[i], "mixed") == 0; /* of two results */
    assert_int_equal(fit && fit->n_theta > 1, learns);
    assert_int_equal(verify(study, -1).differing, 0);
    cocabo_study_free(study);
  }
}

/* ---- fits by name ---------------------------------------------------------------- */

static void other_name(cb_event *e) {
  e->proposal.fits[0][1] ^= 1;
}
static void no_name(cb_event *e) {
  e->proposal.n_fits = 0;
}
static void fit_of_more_rows(cb_event *e) {
  e->fit.rows = 5;
}
static void fit_of_nothing_finite(cb_event *e) {
  e->fit.theta[0] = NAN;
}
static void no_fit(cb_event *e) {
  e->kind = CB_TRIAL_STALE;
  e->number = 0;
}
static void other_theta(cb_event *e) {
  e->fit.theta[2] += 0.25; /* the first length scale */
}

/* Created, asked 0 1, told 0 1, added 2, then an ask that learnt: fitted (7), asked 3
 * (8); asked 4 (9) by the same fit. */
static cocabo_study *learnt(void) {
  cocabo_study *study =
      create(mixed_space(), NULL, WITH("sampler", "mixed", "n_init", "2", "seed", "3"));
  const cb_cell cells[] = {
      {.real = 0.5}, {.integer = 9}, {.integer = 2}, {.integer = 0}};
  const double result = 0.125;
  ask(study, 2);
  tell(study, 0);
  tell(study, 1);
  assert_ok(cb_study_add(study, cells, &result, &err));
  ask(study, 1);
  ask(study, 1);
  assert_int_equal(cb_study_history(study)->seq, 9);
  assert_int_equal(cb_study_history(study)->fit.basis, 6);
  assert_same(study);
  return study;
}

static void a_named_fit_must_be_there_and_possible(void **state) {
  (void)state;
  const struct {
    int64_t seq;
    void (*forge)(cb_event *);
    const char *what;
  } cases[] = {
      {8, other_name,
       "8 contradicts the log: there is no fit before it of the id it "
       "names"},
      {9, other_name,
       "9 contradicts the log: there is no fit before it of the id it "
       "names"},
      {7, no_fit,
       "8 contradicts the log: there is no fit before it of the id it names"},
      {7, fit_of_more_rows,
       "8 contradicts the log: it cannot have used the fit it "
       "names"},
      {8, earlier_basis, "8 contradicts the log: it has not seen all trials before it"},
      {7, fit_of_nothing_finite,
       "7 contradicts the log: what was learnt is not finite"},
  };
  cocabo_study *study = learnt();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cocabo_report report;
    char want[100];
    snprintf(want, sizeof want, "event %s", cases[i].what);
    assert_int_equal(verify_forged(study, cases[i].seq, cases[i].forge, &report),
                     COCABO_E_STATE);
    assert_string_equal(err.message, want);
  }
  cocabo_study_free(study);
}

/* The name decides, not the place: without it the fit after the basis was not there. */
static void a_replay_takes_the_named_fit(void **state) {
  (void)state;
  cocabo_report report;
  cocabo_study *study = learnt();
  assert_ok(verify_forged(study, 7, other_theta, &report));
  assert_int_equal(report.differing, 2);
  assert_ok(verify_forged(study, 8, no_name, &report));
  assert_int_equal(report.differing, 1);
  assert_int_equal(report.first_differing, 3);
  assert_ok(verify_forged(study, 9, no_name, &report));
  assert_int_equal(report.differing, 0); /* it lies before its basis */
  cocabo_study_free(study);
}

/* A fit that an ask made before the options changed is not one for it. */
static void a_fit_for_other_options_cannot_have_been_used(void **state) {
  (void)state;
  cocabo_report report;
  cocabo_study *study = learnt();
  uint64_t id[2];
  memcpy(id, cb_study_history(study)->fit_id, sizeof id);
  change(study, "ard", "false"); /* 10 */
  ask(study, 1);                 /* fitted 11, asked 12 */
  assert_same(study);
  cb_event asked = {.kind = CB_TRIAL_ASKED,
                    .number = 6,
                    .origin = CB_BY_SAMPLER,
                    .n_cells = 4,
                    .cells = (cb_cell[]){{.real = 0.75}, {.integer = 9}, {0}, {0}},
                    .proposal = {.basis = 12,
                                 .batch_first = 6,
                                 .batch_size = 1,
                                 .n_pending = 3,
                                 .pending = (int64_t[]){3, 4, 5},
                                 .n_fits = 1,
                                 .fits = &id}};
  append(study, &asked);
  assert_int_equal(cocabo_study_verify(study, -1, &report, &err), COCABO_E_STATE);
  assert_string_equal(
      err.message,
      "event 13 contradicts the log: it cannot have used the fit it names");
  cocabo_study_free(study);
}

/* The same point again, as if the sampler had proposed it. */
static void append_repeat(cocabo_study *study, int64_t of) {
  const cb_history *h = cb_study_history(study);
  cb_event asked = {
      .kind = CB_TRIAL_ASKED,
      .number = h->n_trials,
      .origin = CB_BY_DESIGN,
      .n_cells = 2,
      .cells = h->trials[of].cells,
      .proposal = {.basis = h->seq, .batch_first = h->n_trials, .batch_size = 1}};
  append(study, &asked);
}

static void a_point_comes_twice_only_where_it_may(void **state) {
  (void)state;
  cocabo_report report;
  cocabo_study *study = create(six_points(), NULL, WITH("n_init", "6"));
  ask(study, 3);
  cb_cell cells[2];
  memcpy(cells, cb_study_history(study)->trials[1].cells, sizeof cells);
  assert_ok(cb_study_add(study, cells, NULL, &err)); /* the user may */
  assert_same(study);
  append_repeat(study, 1);
  assert_fails(cocabo_study_verify(study, 0, &report, &err), COCABO_E_STATE,
               "event 6 contradicts the log: its point is not new");
  cocabo_study_free(study);

  study = create(six_points(), NULL, WITH("n_init", "6", "deterministic", "false"));
  ask(study, 3);
  append_repeat(study, 1);
  assert_ok(cocabo_study_verify(study, 0, &report, &err));
  change(study, "deterministic", "true");
  assert_ok(cocabo_study_verify(study, 0, &report, &err));
  append_repeat(study, 1);
  assert_int_equal(cocabo_study_verify(study, 0, &report, &err), COCABO_E_STATE);
  cocabo_study_free(study);

  /* An ask that has not heard of the change yet. */
  cocabo_store *store = cocabo_store_new_memory();
  study = create(six_points(), store, WITH("n_init", "6", "deterministic", "false"));
  cocabo_study *other;
  assert_ok(cocabo_study_open(&other, "s", store, &err));
  ask(study, 3);
  change(other, "deterministic", "true");
  append_repeat(study, 1);
  assert_ok(cocabo_study_verify(study, 0, &report, &err));
  cocabo_study_free(study);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

/* ---- stopping -------------------------------------------------------------------- */

static int stop_after(void *user) {
  return --*(int *)user < 0;
}

static void a_check_can_be_stopped(void **state) {
  (void)state;
  cocabo_study *study = forgeable("mixed");
  cocabo_report report = {.events = -7};
  int i = 0;
  for (bool done = false; !done; i++) {
    int calls = i;
    cocabo_study_on_interrupt(study, stop_after, &calls);
    const cocabo_status status = cocabo_study_verify(study, -1, &report, &err);
    done = status == COCABO_OK;
    if (done)
      break;
    assert_int_equal(status, COCABO_E_INTERRUPTED);
    assert_string_equal(err.message, "the check was interrupted");
    assert_int_equal(report.events, -7);
  }
  assert_true(i >= 6); /* twice a batch at least */
  assert_int_equal(report.replayed, 6);
  cocabo_study_free(study);
}

static void lack_of_memory_stops_a_check(void **state) {
  (void)state;
  cocabo_study *study = forgeable("cocabo");
  cocabo_report report = {.events = -7};
  for (long k = 0; report.events < 0; k++) {
    cb_mem_fail_after(k);
    const cocabo_status status = cocabo_study_verify(study, -1, &report, &err);
    cb_mem_fail_after(-1);
    if (status != COCABO_OK) {
      assert_int_equal(status, COCABO_E_NO_MEMORY);
      assert_int_equal(report.events, -7);
    }
  }
  assert_int_equal(report.replayed, 6);
  assert_int_equal(report.differing, 0);
  cocabo_study_free(study);
}

/* ---- the fingerprint ------------------------------------------------------------- */

static void the_fingerprint_names_sampler_and_revision(void **state) {
  (void)state;
  char text[CB_FINGERPRINT], want[CB_FINGERPRINT];
  for (int i = 0; cb_sampler_at(i); i++) {
    cb_sampler changed = *cb_sampler_at(i);
    const cb_view now = {.resolved.sampler = cb_sampler_at(i)};
    const cb_view then = {.resolved.sampler = &changed};
    assert_true(changed.revision > 0);
    snprintf(want, sizeof want, "%s %d", changed.name, changed.revision);
    assert_string_equal(cb_fingerprint(&now, CB_BY_SAMPLER, text), want);
    assert_string_equal(cb_fingerprint(&now, CB_BY_DESIGN, text), "design 3");
    changed.revision++;
    assert_string_not_equal(cb_fingerprint(&then, CB_BY_SAMPLER, text), want);
  }
}

/* A study of another revision, with other points in it: none of them is damage. */
static void another_revision_is_foreign_and_never_differs(void **state) {
  (void)state;
  cocabo_study *study = forgeable("cocabo");
  cocabo_report report;
  assert_ok(verify_forged(study, 8, other_revision, &report));
  assert_int_equal(report.differing, 0);
  assert_true(report.foreign > 0 && report.foreign_differing > 0);
  assert_ok(verify_forged(study, 8, of_0_1_0, &report));
  assert_int_equal(report.differing, 0);
  assert_true(report.foreign > 0 && report.foreign_differing > 0);
  cocabo_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(any_life_is_explained_by_its_log),
      cmocka_unit_test(batches_across_the_end_of_the_design_are_repeated),
      cmocka_unit_test(another_sampler_starts_afresh),
      cmocka_unit_test(only_the_last_batches_are_repeated),
      cmocka_unit_test(another_point_is_found),
      cmocka_unit_test(another_past_is_found),
      cmocka_unit_test(other_machines_are_counted_apart),
      cmocka_unit_test(contradictions_are_named),
      cmocka_unit_test(pending_points_of_the_same_ask_are_checked),
      cmocka_unit_test(nothing_is_proposed_before_the_beginning),
      cmocka_unit_test(a_point_comes_twice_only_where_it_may),
      cmocka_unit_test(a_fit_of_another_length_reaches_no_sampler),
      cmocka_unit_test(a_named_fit_must_be_there_and_possible),
      cmocka_unit_test(a_replay_takes_the_named_fit),
      cmocka_unit_test(a_fit_for_other_options_cannot_have_been_used),
      cmocka_unit_test(a_check_can_be_stopped),
      cmocka_unit_test(lack_of_memory_stops_a_check),
      cmocka_unit_test(the_fingerprint_names_sampler_and_revision),
      cmocka_unit_test(another_revision_is_foreign_and_never_differs),
  };
  return cmocka_run_group_tests_name("study/replay", tests, NULL, NULL);
}
