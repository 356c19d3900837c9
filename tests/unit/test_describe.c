/* What a study comes to: the text that stores keep, and the description that is exact
 * whether there is one or not. */
#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "store/summary.h"
#include "study/study.h"

static cocabo_error err;

/* ---- as text --------------------------------------------------------------------- */

static const cb_summary plain = {.seq = 9,
                                 .states = {1, 2, 30, 4, 5, 6},
                                 .parameters = 3,
                                 .best = 17,
                                 .value = -1.0 / 3.0,
                                 .sampler = "mixed"};

static bool is_read(const char *text) {
  cb_summary out = {.seq = -7};
  cb_summary_decode(text, strlen(text), &out);
  assert_true(out.seq == 9 || (out.seq == 0 && out.best == -1));
  return out.seq == 9;
}

static void a_summary_comes_back(void **state) {
  (void)state;
  cb_json json = {0};
  cb_summary s = plain, back;
  for (int i = 0; i < 32; i++) {
    s.feasible = i & 1;
    s.maximize = i & 2;
    s.constrained = i & 4;
    s.noisy = i & 8;
    s.best = i & 16 ? -1 : 17;
    assert_ok(cb_summary_encode(&json, &s, &err));
    cb_summary_decode(json.text, json.length, &back);
    assert_int_equal(back.seq, 9);
    assert_memory_equal(back.states, s.states, sizeof s.states);
    assert_int_equal(back.best, s.best);
    assert_true(s.best < 0 ? isnan(back.value) : back.value == s.value);
    assert_int_equal(back.feasible, s.feasible && s.best >= 0);
    assert_int_equal(back.maximize, s.maximize);
    assert_int_equal(back.constrained, s.constrained);
    assert_int_equal(back.noisy, s.noisy);
    assert_string_equal(back.sampler, "mixed");
  }
  s.best = 17;
  s.value = NAN; /* which no complete trial has */
  assert_int_equal(cb_summary_encode(&json, &s, &err), COCABO_E_INVALID);
  cb_json_free(&json);
}

#define HEAD                                                                           \
  "{\"seq\":9,\"version\":\"" CB_VERSION                                               \
  "\",\"parameters\":3,\"direction\":\"minimize\","
#define STATES "\"states\":[1,2,30,4,5,6]"
#define SAMPLER ",\"sampler\":\"mixed\""

static void a_damaged_text_is_no_summary(void **state) {
  (void)state;
  assert_true(is_read(HEAD STATES SAMPLER "}"));
  assert_true(is_read(HEAD STATES SAMPLER ",\"later\":[{}],\"best\":[17,0.5,true]} "));
  const char *const bad[] = {
      "",
      "{}",
      "[]",
      "null",
      HEAD STATES "}",
      HEAD STATES SAMPLER ",\"seq\":0}",
      HEAD STATES SAMPLER ",\"seq\":null}",
      HEAD "\"sampler\":\"mixed\"}",
      HEAD STATES SAMPLER,
      HEAD STATES SAMPLER "}}",
      HEAD STATES ",\"sampler\":\"\"}",
      HEAD STATES ",\"sampler\":\"a\\nb\"}",
      HEAD STATES ",\"sampler\":\"0123456789012345678901234567890123456789\"}",
      HEAD "\"states\":[1,2,30,4,5]" SAMPLER "}",
      HEAD "\"states\":[1,2,30,4,5,6,7]" SAMPLER "}",
      HEAD "\"states\":[1,2,30,4,5,-6]" SAMPLER "}",
      HEAD "\"states\":[1,2,30,4,5,9223372036854775807]" SAMPLER "}",
      HEAD "\"states\":[1,2,0,4,5,6]" SAMPLER ",\"best\":[1,0.5,true]}",
      HEAD STATES SAMPLER ",\"best\":[48,0.5,true]}",
      HEAD STATES SAMPLER ",\"best\":[1,0.5]}",
      HEAD STATES SAMPLER ",\"best\":[1,0.5,true,1]}",
      HEAD STATES SAMPLER ",\"best\":[1,1e999,true]}",
      HEAD STATES SAMPLER ",\"noisy\":1}",
      "{\"seq\":9,\"version\":\"" CB_VERSION
      "\",\"direction\":\"minimize\"," STATES SAMPLER "}",
      "{\"version\":\"" CB_VERSION
      "\",\"parameters\":0,\"direction\":\"minimize\"," STATES SAMPLER "}",
      "{\"version\":\"" CB_VERSION
      "\",\"parameters\":3,\"direction\":\"up\"," STATES SAMPLER "}",
      "{\"seq\":9,\"version\":\"9.9.9\",\"parameters\":3,\"direction\":"
      "\"minimize\"," STATES SAMPLER "}",
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    if (is_read(bad[i]))
      fail_msg("this was read: %s", bad[i]);
}

/* ---- descriptions ---------------------------------------------------------------- */

static cocabo_study *create(cocabo_store *store, const char *option,
                            const char *value) {
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  assert_ok(cocabo_space_add(s, "y", "float(0,1)", &err));
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  if (option)
    assert_ok(cocabo_options_set(o, option, value, &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static int64_t ask(cocabo_study *study) {
  cocabo_trial *t;
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  const int64_t number = cocabo_trial_number(t);
  cocabo_trial_free(t);
  return number;
}

static cocabo_description describe(cocabo_store *store) {
  cocabo_description d;
  memset(&d, 0x55, sizeof d);
  assert_ok(cocabo_store_describe(store, "s", &d, &err));
  for (int i = 0; i < 8; i++)
    assert_int_equal(d.reserved[i], 0);
  return d;
}

static int64_t left_at(cocabo_store *store) {
  int64_t id = 0;
  cb_description d;
  assert_ok(store->ops->find(store, "s", &id, &err));
  assert_ok(store->ops->describe(store, id, &d, &err));
  return d.summary.seq;
}

static void a_description_is_exact(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, NULL, NULL);
  const double values[] = {3.0, 1.5, 2.0};
  for (int i = 0; i < 3; i++)
    assert_ok(cocabo_study_tell(study, ask(study), values[i], &err));
  assert_ok(cocabo_study_fail(study, ask(study), "x", &err));
  ask(study);
  assert_int_equal(left_at(store), 0);
  for (int i = 0; i < 2; i++) { /* from the log, and then from what was left */
    const cocabo_description d = describe(store);
    assert_int_equal(d.states[COCABO_COMPLETE], 3);
    assert_int_equal(d.states[COCABO_FAILED], 1);
    assert_int_equal(d.states[COCABO_RUNNING], 1);
    assert_int_equal(d.parameters, 2);
    assert_int_equal(d.best, 1);
    assert_true(d.value == 1.5 && d.feasible == 1 && d.constrained == 0);
    assert_true(d.maximize == 0 && d.deterministic == 1);
    assert_true(d.first > 1.5e9 && d.last >= d.first);
    assert_string_equal(d.sampler, "random");
    if (i == 0)
      cocabo_study_free(study);
  }
  assert_int_equal(left_at(store), 10);
  assert_ok(cocabo_study_open(&study, "s", store, &err));
  assert_ok(cocabo_study_tell(study, 4, 0.5, &err)); /* nobody has left that yet */
  assert_int_equal(describe(store).best, 4);
  assert_int_equal(describe(store).states[COCABO_RUNNING], 0);
  assert_int_equal(left_at(store), 10);
  cocabo_study *other;
  cocabo_description d, of_store;
  assert_ok(cocabo_study_open(&other, "s", store, &err));
  assert_ok(cocabo_study_tell(study, ask(study), 0.25, &err));
  assert_ok(cocabo_study_describe(other, &d, &err)); /* an open one is synced */
  assert_true(d.best == 5 && d.value == 0.25 && d.states[COCABO_COMPLETE] == 5);
  of_store = describe(store);
  assert_memory_equal(&d, &of_store, sizeof d);
  cocabo_study_free(other);
  assert_int_equal(cocabo_study_describe(NULL, &d, &err), COCABO_E_INVALID);
  assert_int_equal(cocabo_study_describe(study, NULL, &err), COCABO_E_INVALID);
  cocabo_study_free(study);
  assert_int_equal(left_at(store), 13);
  cocabo_store_free(store);
}

/* What was left is taken, not the log: that is what it is for. */
static void a_summary_is_used_while_it_is_new(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, NULL, NULL), *reader;
  const int64_t id = study->id;
  cb_summary wrong = plain;
  wrong.seq = 2;
  ask(study);
  assert_ok(store->ops->summarise(store, id, &wrong, &err));
  assert_int_equal(describe(store).best, 17);
  assert_ok(cocabo_study_open(&reader, "s", store, &err));
  cocabo_study_free(reader); /* who only reads leaves nothing */
  assert_int_equal(left_at(store), 2);
  assert_ok(cocabo_study_tell(study, 0, 0.5, &err));
  assert_int_equal(describe(store).best, 0);
  cocabo_study_free(study);
  cocabo_store_free(store);
}

/* A study that was made elsewhere, or copied, need not be read to be listed. */
static void a_copy_has_its_summary(void **state) {
  (void)state;
  cocabo_store *from = cocabo_store_new_memory(), *to = cocabo_store_new_memory();
  cocabo_study *study = create(from, NULL, NULL);
  assert_ok(cocabo_study_tell(study, ask(study), 0.5, &err));
  assert_ok(cocabo_study_copy(study, "s", to, &err));
  assert_int_equal(left_at(to), cocabo_study_seq(study));
  assert_int_equal(describe(to).best, 0);
  const int64_t seq = cocabo_study_seq(study);
  cocabo_study_free(study);
  cocabo_store_free(to);
  to = cocabo_store_new_memory();
  assert_ok(cocabo_store_copy(from, "s", to, NULL, NULL, NULL, &err));
  assert_int_equal(left_at(to), seq);
  assert_int_equal(describe(to).best, 0);
  cocabo_store_free(to);
  cocabo_store_free(from);
}

/* The best of noisy values is the sampler's to say, now as before. */
static void noisy_values_are_looked_at(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "deterministic", "false");
  cocabo_trial *best;
  cocabo_study_free(study);
  assert_int_equal(describe(store).best, -1);
  assert_true(isnan(describe(store).value));
  assert_ok(cocabo_study_open(&study, "s", store, &err));
  for (int i = 0; i < 5; i++)
    assert_ok(cocabo_study_tell(study, ask(study), (i * 7) % 5, &err));
  assert_ok(cocabo_study_best(study, &best, &err));
  const int64_t number = cocabo_trial_number(best);
  cocabo_trial_free(best);
  cocabo_study_free(study);
  const cocabo_description d = describe(store);
  assert_int_equal(d.best, number);
  assert_int_equal(d.deterministic, 0);
  cocabo_store_free(store);
}

static void tell(cocabo_study *study, double value, const char *metric, double amount) {
  const cocabo_metric metrics[] = {{metric, amount}};
  const cocabo_record record = {.value = &value, .metrics = metrics, .n_metrics = 1};
  assert_ok(cocabo_study_record(study, ask(study), &record, &err));
}

static void constraints_count(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(store, "constraints", "mb<=5");
  tell(study, 1.0, "other", 9.0); /* which nobody asked for */
  for (int i = 0; i < 2; i++) {
    assert_int_equal(describe(store).best, -1);
    assert_int_equal(describe(store).constrained, 1);
    if (i == 0)
      cocabo_study_free(study);
  }
  cocabo_store_free(store);
  store = cocabo_store_new_memory();
  study = create(store, "constraints", "mb<=5");
  tell(study, 1.0, "mb", 9.0);
  assert_true(describe(store).best == 0 && describe(store).feasible == 0);
  tell(study, 2.0, "mb", 4.0);
  for (int i = 0; i < 2; i++) {
    assert_true(describe(store).best == 1 && describe(store).feasible == 1);
    if (i == 0)
      cocabo_study_free(study);
  }
  cocabo_store_free(store);
}

static void what_is_not_there_is_named(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_description d;
  assert_fails(cocabo_store_describe(NULL, "s", &d, &err), COCABO_E_INVALID,
               "store is NULL");
  assert_fails(cocabo_store_describe(store, "s", NULL, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_store_describe(store, NULL, &d, &err), COCABO_E_INVALID,
               "study name is NULL");
  assert_fails(cocabo_store_describe(store, "s", &d, &err), COCABO_E_NOT_FOUND,
               "no study \"s\"");
  cocabo_store_free(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_summary_comes_back),
      cmocka_unit_test(a_damaged_text_is_no_summary),
      cmocka_unit_test(a_description_is_exact),
      cmocka_unit_test(a_summary_is_used_while_it_is_new),
      cmocka_unit_test(a_copy_has_its_summary),
      cmocka_unit_test(noisy_values_are_looked_at),
      cmocka_unit_test(constraints_count),
      cmocka_unit_test(what_is_not_there_is_named),
  };
  return cmocka_run_group_tests_name("study/describe", tests, NULL, NULL);
}
