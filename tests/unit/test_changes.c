/* Options and attributes that change, and the studies of a store. */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "study/study.h"

static cocabo_error err;

static cocabo_space *make_space(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  assert_ok(cocabo_space_add(s, "c", "choice(a,b,c)", &err));
  return s;
}

static cocabo_study *create(const char *name, cocabo_store *store) {
  cocabo_space *s = make_space();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  assert_ok(cocabo_study_create(&study, name, s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static int64_t log_length(const cocabo_study *study) {
  return study->fold.history->seq;
}

static void ask(cocabo_study *study, int n) {
  cocabo_trial *t[16];
  assert_ok(cocabo_study_ask(study, (size_t)n, t, &err));
  for (int i = 0; i < n; i++)
    cocabo_trial_free(t[i]);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__})

/* ---- options --------------------------------------------------------------------- */

static cocabo_status check_changed(void *user, const cb_event *event, cocabo_error *e) {
  (void)e;
  const cb_pair *want = user;
  assert_int_equal(event->kind, CB_STUDY_CHANGED);
  assert_int_equal(event->number, -1);
  assert_int_equal(event->n_options, 1);
  assert_string_equal(event->options[0].name, want->name);
  assert_string_equal(event->options[0].value, want->value);
  assert_int_equal(event->n_attributes, 0);
  return COCABO_OK;
}

static void only_what_differs_is_written(void **state) {
  (void)state;
  cocabo_study *study = create("s", NULL);
  assert_ok(cocabo_study_change(study, TEXTS("kappa", "sampler", "direction"),
                                TEXTS("2", "random", "minimize"), 3, &err));
  assert_ok(cocabo_study_change(study, NULL, NULL, 0, &err));
  assert_int_equal(log_length(study), 1); /* all so already */
  assert_ok(cocabo_study_change(study, TEXTS("kappa", "sampler"),
                                TEXTS("2.5", "random"), 2, &err));
  assert_int_equal(log_length(study), 2);
  cb_pair want = {.name = "kappa", .value = "2.5"};
  assert_ok(study->store->ops->read_since(study->store, study->id,
                                          &(cb_position){.seq = 1}, check_changed, NULL,
                                          &want, &err));
  assert_string_equal(cocabo_study_option(study, "kappa"), "2.5");
  assert_true(study->view.resolved.settings.kappa == 2.5);
  assert_ok(cocabo_study_change(study, TEXTS("kappa"), TEXTS("2.5"), 1, &err));
  assert_int_equal(log_length(study), 2);
  cocabo_study_free(study);
}

static void bad_changes_change_nothing(void **state) {
  (void)state;
  cocabo_study *study = create("s", NULL);
#define BAD(names, values, n, code, sentence)                                          \
  assert_fails(cocabo_study_change(study, names, values, n, &err), code, sentence)
  BAD(TEXTS("direction"), TEXTS("maximize"), 1, COCABO_E_STATE,
      "the direction of study \"s\" is fixed");
  BAD(TEXTS("kappa", "direction"), TEXTS("3", "maximize"), 2, COCABO_E_STATE,
      "the direction of study \"s\" is fixed");
  BAD(TEXTS("kappa", "kapa"), TEXTS("3", "3"), 2, COCABO_E_NOT_FOUND,
      "no option \"kapa\", did you mean \"kappa\"?");
  BAD(TEXTS("seed", "kappa"), TEXTS("1", "-1"), 2, COCABO_E_INVALID,
      "option kappa is \"-1\", want a number >= 0");
  BAD(TEXTS("kappa", "kappa"), TEXTS("3", "4"), 2, COCABO_E_INVALID,
      "option kappa is given twice");
  BAD(TEXTS("kappa", NULL), TEXTS("3", "4"), 2, COCABO_E_INVALID, "name 1 is NULL");
  BAD(TEXTS("kappa"), TEXTS(NULL), 1, COCABO_E_INVALID, "option kappa is NULL");
  BAD(NULL, TEXTS("3"), 1, COCABO_E_INVALID, "names is NULL");
  BAD(TEXTS("kappa"), NULL, 1, COCABO_E_INVALID, "values is NULL");
  BAD(TEXTS("kappa"), TEXTS("3"), 1001, COCABO_E_RANGE, "n is 1001, want at most 1000");
#undef BAD
  assert_fails(cocabo_study_change(NULL, NULL, NULL, 0, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_int_equal(log_length(study), 1);
  assert_string_equal(cocabo_study_option(study, "kappa"), "2");
  cocabo_study_free(study);
}

static void every_handle_learns_of_a_change(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *a = create("s", store), *b, *c;
  assert_ok(cocabo_study_open(&b, "s", store, &err));
  ask(b, 1);
  assert_ok(cocabo_study_change(a, TEXTS("n_init", "sampler"), TEXTS("1", "cocabo"), 2,
                                &err)); /* b was faster: learnt with the change */
  assert_int_equal(cocabo_study_count(a), 1);
  assert_string_equal(cocabo_study_option(a, "sampler"), "cocabo");
  assert_string_equal(cocabo_study_option(b, "sampler"), "random"); /* not yet */
  ask(b, 2);
  assert_string_equal(cocabo_study_option(b, "sampler"), "cocabo");
  assert_int_equal(b->fold.history->n_sampled, 2);
  assert_ok(cocabo_study_open(&c, "s", store, &err));
  assert_string_equal(cocabo_study_option(c, "n_init"), "1");
  assert_string_equal(cocabo_study_option(c, "kappa"), "2");
  assert_null(cocabo_study_option(c, "kapa"));
  assert_null(cocabo_study_option(c, NULL));
  assert_null(cocabo_study_option(NULL, "kappa"));
  cocabo_study_free(a);
  cocabo_study_free(b);
  cocabo_study_free(c);
  cocabo_store_free(store);
}

/* A sampler's cache is dear: only what it depends on may cost it. */
static void budget_and_durability_keep_the_cache(void **state) {
  (void)state;
  cocabo_study *study = create("s", NULL);
  assert_ok(cocabo_study_change(study, TEXTS("sampler", "n_init", "refit_every"),
                                TEXTS("cocabo", "2", "1"), 3, &err));
  for (int i = 0; i < 4; i++) {
    ask(study, 1);
    assert_ok(cocabo_study_tell(study, i, i, &err));
  }
  const void *cache = study->proposer.state;
  assert_true(study->fold.history->fit.n_theta > 0);
  assert_ok(cocabo_study_change(study, TEXTS("trials", "durability"),
                                TEXTS("50", "full"), 2, &err));
  assert_ok(cocabo_study_set_attr(study, "a", "b", &err));
  assert_true(study->fold.history->fit.n_theta > 0);
  ask(study, 1);
  assert_ptr_equal(study->proposer.state, cache);
  assert_ok(cocabo_study_change(study, TEXTS("kappa"), TEXTS("1"), 1, &err));
  assert_int_equal(study->fold.history->fit.n_theta, 0);
  ask(study, 1);
  assert_int_equal(study->proposer.model, study->view.model);
  cocabo_study_free(study);
}

/* ---- attributes ------------------------------------------------------------------ */

static void attributes_are_kept_with_the_study(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *a = create("s", store), *b;
  assert_null(cocabo_study_attr(a, "command"));
  assert_ok(cocabo_study_set_attr(a, "command", "train {lr}\n--fast", &err));
  assert_ok(cocabo_study_set_attr(a, "note", "", &err));
  assert_string_equal(cocabo_study_attr(a, "command"), "train {lr}\n--fast");
  assert_string_equal(cocabo_study_attr(a, "note"), "");
  assert_null(cocabo_study_attr(a, "Note"));
  const int64_t length = log_length(a);
  assert_ok(cocabo_study_set_attr(a, "note", "", &err));
  assert_int_equal(log_length(a), length); /* so already */

  assert_ok(cocabo_study_open(&b, "s", store, &err));
  assert_string_equal(cocabo_study_attr(b, "command"), "train {lr}\n--fast");
  assert_ok(cocabo_study_set_attr(b, "command", "other", &err));
  assert_ok(cocabo_study_set_attr(a, "third", "3", &err)); /* b was faster */
  assert_string_equal(cocabo_study_attr(a, "command"), "other");
  assert_string_equal(cocabo_study_attr(a, "third"), "3");
  assert_int_equal(a->fold.n_attributes, 3);
  assert_int_equal(a->view.model, 0);
  assert_null(cocabo_study_attr(a, NULL));
  assert_null(cocabo_study_attr(NULL, "note"));
  cocabo_study_free(a);
  cocabo_study_free(b);
  cocabo_store_free(store);
}

static void bad_attributes_are_refused(void **state) {
  (void)state;
  cocabo_study *study = create("s", NULL);
  char *novel = calloc(65538, 1);
  memset(novel, 'x', 65537);
#define BAD(name, value, sentence)                                                     \
  assert_fails(cocabo_study_set_attr(study, name, value, &err), COCABO_E_INVALID,      \
               sentence)
  BAD(NULL, "v", "attribute name is NULL");
  BAD("", "v", "attribute name is empty");
  BAD("a\nb", "v", "attribute name has a control character");
  BAD("a", NULL, "attribute is NULL");
  BAD("a", "\xff", "attribute is not valid UTF-8");
  BAD("a", novel, "attribute is 65537 bytes long, want at most 65536");
#undef BAD
  assert_fails(cocabo_study_set_attr(NULL, "a", "v", &err), COCABO_E_INVALID,
               "study is NULL");
  assert_int_equal(log_length(study), 1);
  novel[65536] = '\0';
  assert_ok(cocabo_study_set_attr(study, "a", novel, &err));
  assert_string_equal(cocabo_study_attr(study, "a"), novel);
  free(novel);
  cocabo_study_free(study);
}

/* ---- looking --------------------------------------------------------------------- */

static void a_study_says_what_it_is(void **state) {
  (void)state;
  cocabo_study *study = create("my study", NULL);
  cocabo_space *space = make_space();
  assert_string_equal(cocabo_study_name(study), "my study");
  assert_true(cocabo_space_equal(cocabo_study_space(study), space));
  ask(study, 3);
  assert_ok(cocabo_study_tell(study, 1, 1.0, &err));
  assert_int_equal(cocabo_study_count_state(study, COCABO_RUNNING), 2);
  assert_int_equal(cocabo_study_count_state(study, COCABO_COMPLETE), 1);
  assert_int_equal(cocabo_study_count_state(study, (cocabo_trial_state)99), 0);
  assert_null(cocabo_study_name(NULL));
  assert_null(cocabo_study_space(NULL));
  assert_int_equal(cocabo_study_count_state(NULL, COCABO_RUNNING), 0);
  cocabo_space_free(space);
  cocabo_study_free(study);
}

/* ---- the studies of a store ------------------------------------------------------ */

static void assert_studies(cocabo_store *store, const char *want) {
  cocabo_names *names = NULL;
  char got[100] = "";
  assert_ok(cocabo_store_studies(store, &names, &err));
  for (size_t i = 0; i < cocabo_names_count(names); i++)
    strcat(strcat(got, cocabo_names_at(names, i)), " ");
  assert_string_equal(got, want);
  assert_null(cocabo_names_at(names, cocabo_names_count(names)));
  cocabo_names_free(names);
}

static void a_store_lists_and_deletes_its_studies(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  assert_studies(store, "");
  cocabo_study *b = create("b", store), *a = create("a", store);
  assert_studies(store, "b a ");
  assert_ok(cocabo_store_delete(store, "b", &err));
  assert_studies(store, "a ");
  cocabo_trial *t = NULL;
  assert_fails(cocabo_study_ask(b, 1, &t, &err), COCABO_E_NOT_FOUND,
               "the study has been deleted");
  assert_fails(cocabo_study_change(b, TEXTS("kappa"), TEXTS("3"), 1, &err),
               COCABO_E_NOT_FOUND, "the study has been deleted");
  assert_fails(cocabo_study_set_attr(b, "a", "b", &err), COCABO_E_NOT_FOUND,
               "the study has been deleted");
  cocabo_report report;
  assert_fails(cocabo_study_verify(b, -1, &report, &err), COCABO_E_NOT_FOUND,
               "the study has been deleted");
  assert_fails(cocabo_store_delete(store, "b", &err), COCABO_E_NOT_FOUND,
               "no study \"b\"");
  assert_fails(cocabo_store_renew(store, "b", "w", 1, &err), COCABO_E_NOT_FOUND,
               "no study \"b\"");
  cocabo_study_free(a);
  cocabo_study_free(b);
  cocabo_store_free(store);
}

/* ---- what the log accepted counts ------------------------------------------------ */

/* A store that breaks right after an append. */
typedef struct brittle_store {
  cocabo_store base;
  cocabo_store *inner;
  bool armed, broken;
  bool durable; /* the last append was to be */
} brittle_store;

static cocabo_status brittle_create(cocabo_store *s, const char *name,
                                    cb_event *created, int64_t *id, cocabo_error *e) {
  cocabo_store *inner = ((brittle_store *)s)->inner;
  return inner->ops->create(inner, name, created, id, e);
}

static cocabo_status brittle_read(cocabo_store *s, int64_t id, const cb_position *from,
                                  cb_event_fn each, cb_expired_fn expired, void *user,
                                  cocabo_error *e) {
  brittle_store *b = (brittle_store *)s;
  if (b->broken)
    return cb_fail(e, COCABO_E_STORE, "broken");
  return b->inner->ops->read_since(b->inner, id, from, each, expired, user, e);
}

static cocabo_status brittle_append(cocabo_store *s, int64_t id, const cb_append *what,
                                    cocabo_error *e) {
  brittle_store *b = (brittle_store *)s;
  const cocabo_status status = b->inner->ops->append(b->inner, id, what, e);
  b->durable = what->durable;
  b->broken = b->armed;
  if (b->armed)
    cb_mem_fail_after(0);
  return status;
}

static const cb_store_ops brittle_ops = {
    .create = brittle_create, .read_since = brittle_read, .append = brittle_append};

static void an_accepted_change_counts_at_once(void **state) {
  (void)state;
  brittle_store store = {.base.ops = &brittle_ops, .inner = cocabo_store_new_memory()};
  cocabo_study *study = create("s", &store.base);
  store.armed = true;
  assert_ok(cocabo_study_change(study, TEXTS("kappa"), TEXTS("7"), 1, &err));
  cb_mem_fail_after(-1);
  store.armed = store.broken = false;
  assert_string_equal(cocabo_study_option(study, "kappa"), "7");
  store.armed = true;
  assert_ok(cocabo_study_set_attr(study, "a", "b", &err));
  cb_mem_fail_after(-1);
  store.armed = store.broken = false;
  assert_string_equal(cocabo_study_attr(study, "a"), "b");
  cocabo_study_free(study);
  cocabo_store_free(store.inner);
}

static void durability_reaches_the_store(void **state) {
  (void)state;
  brittle_store store = {.base.ops = &brittle_ops, .inner = cocabo_store_new_memory()};
  cocabo_study *study = create("s", &store.base);
  assert_ok(cocabo_study_set_attr(study, "a", "b", &err));
  assert_false(store.durable);
  assert_ok(cocabo_study_change(study, TEXTS("durability"), TEXTS("full"), 1, &err));
  ask(study, 1);
  assert_true(store.durable);
  assert_ok(cocabo_study_change(study, TEXTS("durability"), TEXTS("normal"), 1, &err));
  assert_ok(cocabo_study_tell(study, 0, 1.0, &err));
  assert_false(store.durable);
  cocabo_study_free(study);
  cocabo_store_free(store.inner);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(only_what_differs_is_written),
      cmocka_unit_test(bad_changes_change_nothing),
      cmocka_unit_test(every_handle_learns_of_a_change),
      cmocka_unit_test(budget_and_durability_keep_the_cache),
      cmocka_unit_test(attributes_are_kept_with_the_study),
      cmocka_unit_test(bad_attributes_are_refused),
      cmocka_unit_test(a_study_says_what_it_is),
      cmocka_unit_test(a_store_lists_and_deletes_its_studies),
      cmocka_unit_test(an_accepted_change_counts_at_once),
      cmocka_unit_test(durability_reaches_the_store),
  };
  return cmocka_run_group_tests_name("study/changes", tests, NULL, NULL);
}
