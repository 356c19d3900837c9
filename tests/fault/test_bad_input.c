/* Bad arguments at every public border: the exact status and sentence, and no crash. */
#include "check.h"

#include <stdlib.h>
#include <string.h>

static cocabo_error err;

static const cocabo_value letters[] = {{.type = COCABO_TEXT, .as.text = "adam"},
                                       {.type = COCABO_TEXT, .as.text = "sgd"}};

static cocabo_space *make_space(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_real(s, "lr", 0.1, 1, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_int(s, "layers", 1, 8, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "opt", letters, 2, 0, &err));
  return s;
}

static cocabo_study *make_study(void) {
  cocabo_space *s = make_space();
  cocabo_study *study;
  assert_ok(cocabo_study_create(&study, "s", s, NULL, NULL, &err));
  cocabo_space_free(s);
  return study;
}

/* Details of the space's own checks are in test_space. */
static void spaces(void **state) {
  (void)state;
  cocabo_space *s = make_space();
  assert_fails(cocabo_space_add_real(NULL, "x", 0, 1, 0, 0, &err), COCABO_E_INVALID,
               "space is NULL");
  assert_fails(cocabo_space_add_int(NULL, "x", 0, 1, 0, 0, &err), COCABO_E_INVALID,
               "space is NULL");
  assert_fails(cocabo_space_add_choice(NULL, "x", letters, 2, 0, &err),
               COCABO_E_INVALID, "space is NULL");
  assert_fails(cocabo_space_add_real(s, NULL, 0, 1, 0, 0, &err), COCABO_E_INVALID,
               "parameter name is NULL");
  assert_fails(cocabo_space_add_choice(s, "", letters, 2, 0, &err), COCABO_E_INVALID,
               "parameter name is empty");
  assert_fails(cocabo_space_add_choice(s, "lr", letters, 2, 0, &err), COCABO_E_EXISTS,
               "parameter \"lr\" exists already");
  assert_fails(cocabo_space_add_real(s, "x", NAN, NAN, NAN, 0, &err), COCABO_E_RANGE,
               "parameter \"x\": low is nan, want a finite number");
  assert_fails(cocabo_space_add_real(s, "x", 0, 1, INFINITY, 0, &err), COCABO_E_RANGE,
               "parameter \"x\": step is inf, want a finite number");
  assert_fails(cocabo_space_add_choice(s, "x", NULL, 2, 0, &err), COCABO_E_INVALID,
               "parameter \"x\": choices is NULL");
  assert_int_equal(cocabo_space_add_int(s, "x", 2, 1, 0, 0, NULL), COCABO_E_RANGE);
  assert_int_equal(cocabo_space_count(s), 3);
  cocabo_space_free(s);
}

static void creating(void **state) {
  (void)state;
  cocabo_space *s = make_space(), *empty = cocabo_space_new();
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = NULL;
  char long_name[202];
  memset(long_name, 'n', sizeof long_name);
  long_name[201] = '\0';
#define BAD(name, space, sentence)                                                     \
  do {                                                                                 \
    assert_fails(cocabo_study_create(&study, name, space, NULL, store, &err),          \
                 COCABO_E_INVALID, sentence);                                          \
    assert_null(study);                                                                \
  } while (0)
  BAD(NULL, s, "study name is NULL");
  BAD("", s, "study name is empty");
  BAD(long_name, s, "study name is 201 bytes long, want at most 200");
  BAD("a\tb", s, "study name has a control character");
  BAD("a\xff", s, "study name is not valid UTF-8");
  BAD("s", NULL, "space is NULL");
  BAD("s", empty, "the space is empty, want a parameter");
#undef BAD
  assert_fails(cocabo_study_create(NULL, "s", s, NULL, store, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_study_open(NULL, "s", store, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_study_open(&study, NULL, store, &err), COCABO_E_INVALID,
               "study name is NULL");
  assert_fails(cocabo_study_open(&study, "", store, &err), COCABO_E_INVALID,
               "study name is empty");
  assert_fails(cocabo_study_open(&study, "s", NULL, &err), COCABO_E_INVALID,
               "store is NULL");
  assert_fails(cocabo_study_open(&study, "s", store, &err), COCABO_E_NOT_FOUND,
               "no study \"s\"");
  assert_null(study);
  long_name[200] = '\0';
  assert_ok(cocabo_study_create(&study, long_name, s, NULL, store, &err));
  cocabo_study_free(study);
  assert_int_equal(cocabo_study_create(&study, "", s, NULL, store, NULL),
                   COCABO_E_INVALID);
  cocabo_store_free(store);
  cocabo_space_free(s);
  cocabo_space_free(empty);
}

static void asking(void **state) {
  (void)state;
  cocabo_study *study = make_study();
  cocabo_trial *t = NULL;
  assert_fails(cocabo_study_ask(NULL, 1, &t, &err), COCABO_E_INVALID, "study is NULL");
  assert_fails(cocabo_study_ask(study, 1, NULL, &err), COCABO_E_INVALID, "out is NULL");
  assert_fails(cocabo_study_ask(study, 0, &t, &err), COCABO_E_RANGE,
               "n is 0, want 1 to 100000");
  assert_fails(cocabo_study_ask(study, 100001, &t, &err), COCABO_E_RANGE,
               "n is 100001, want 1 to 100000");
  assert_fails(cocabo_study_ask(study, SIZE_MAX, &t, &err), COCABO_E_RANGE,
               "n is 18446744073709551615, want 1 to 100000");
  assert_null(t);
  assert_int_equal(cocabo_study_count(study), 0);
  cocabo_study_free(study);
}

static void telling(void **state) {
  (void)state;
  cocabo_study *study = make_study();
  cocabo_trial *t = NULL;
  assert_fails(cocabo_study_tell(NULL, 0, 1, &err), COCABO_E_INVALID, "study is NULL");
  assert_fails(cocabo_study_fail(NULL, 0, "x", &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_interrupt(NULL, 0, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_retry(NULL, 0, &err), COCABO_E_INVALID, "study is NULL");
  assert_fails(cocabo_study_sync(NULL, &err), COCABO_E_INVALID, "study is NULL");
  assert_fails(cocabo_study_best(NULL, &t, &err), COCABO_E_INVALID, "study is NULL");
  assert_fails(cocabo_study_trial(NULL, 0, &t, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_best(study, NULL, &err), COCABO_E_INVALID, "out is NULL");
  assert_fails(cocabo_study_trial(study, 0, NULL, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_study_tell(study, 0, 1, &err), COCABO_E_NOT_FOUND,
               "no trial 0 in study \"s\": it has 0");
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  cocabo_trial_free(t);
  assert_fails(cocabo_study_fail(study, 0, NULL, &err), COCABO_E_INVALID,
               "reason is NULL");
  assert_fails(cocabo_study_fail(study, 0, "a\xc3", &err), COCABO_E_INVALID,
               "reason is not valid UTF-8");
  char *novel = calloc(65538, 1);
  memset(novel, 'x', 65537);
  assert_fails(cocabo_study_fail(study, 0, novel, &err), COCABO_E_INVALID,
               "reason is 65537 bytes long, want at most 65536");
  novel[65536] = '\0';
  assert_ok(cocabo_study_fail(study, 0, novel, &err));
  assert_ok(cocabo_study_trial(study, 0, &t, &err));
  assert_string_equal(cocabo_trial_reason(t), novel);
  cocabo_trial_free(t);
  free(novel);
  assert_int_equal(cocabo_study_count(NULL), 0);
  cocabo_study_free(NULL);
  cocabo_store_free(NULL);
  cocabo_study_free(study);
}

static void adding(void **state) {
  (void)state;
  cocabo_study *study = make_study();
  const char *names[] = {"lr", "layers", "opt", "lr"};
  cocabo_value values[] = {{.type = COCABO_REAL, .as.real = 0.5},
                           {.type = COCABO_INT, .as.integer = 2},
                           letters[1],
                           {.type = COCABO_REAL, .as.real = 0.5}};
#define BAD(n, code, sentence)                                                         \
  assert_fails(cocabo_study_add(study, names, values, n, NULL, &err), code, sentence)
  assert_fails(cocabo_study_add(NULL, names, values, 3, NULL, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_add(study, NULL, values, 3, NULL, &err), COCABO_E_INVALID,
               "names is NULL");
  assert_fails(cocabo_study_add(study, names, NULL, 3, NULL, &err), COCABO_E_INVALID,
               "values is NULL");
  assert_fails(cocabo_study_add(study, NULL, NULL, 0, NULL, &err), COCABO_E_INVALID,
               "parameter \"lr\" is missing");
  BAD(2, COCABO_E_INVALID, "parameter \"opt\" is missing");
  BAD(4, COCABO_E_INVALID, "parameter \"lr\" is given twice");
  const double results[] = {NAN, INFINITY, -INFINITY};
  const char *const sentences[] = {"result is nan, want a finite number",
                                   "result is inf, want a finite number",
                                   "result is -inf, want a finite number"};
  for (int i = 0; i < 3; i++)
    assert_fails(cocabo_study_add(study, names, values, 3, &results[i], &err),
                 COCABO_E_INVALID, sentences[i]);

  names[1] = "layer";
  BAD(3, COCABO_E_NOT_FOUND, "no parameter \"layer\", did you mean \"layers\"?");
  names[1] = "depth";
  BAD(3, COCABO_E_NOT_FOUND, "no parameter \"depth\"");
  names[1] = "\n\xff";
  BAD(3, COCABO_E_NOT_FOUND, "no parameter \"??\"");
  names[1] = NULL;
  BAD(3, COCABO_E_INVALID, "name 1 is NULL");
  names[1] = "layers";
  values[1].as.integer = 9;
  BAD(3, COCABO_E_RANGE, "parameter \"layers\" is 9, want 1 to 8");
  values[1].type = COCABO_NULL;
  BAD(3, COCABO_E_INVALID, "parameter \"layers\": null is of type null, want an int");
  values[1].type = (cocabo_type)99;
  BAD(3, COCABO_E_INVALID, "parameter \"layers\" has type 99, want a cocabo_type");
  values[1] = (cocabo_value){.type = COCABO_INT, .as.integer = 2};
  values[0].as.real = NAN;
  BAD(3, COCABO_E_RANGE, "parameter \"lr\" is nan, want 0.1 to 1");
  values[0].as.real = 0.5;
  values[2].as.text = "rmsprop";
  BAD(3, COCABO_E_RANGE, "parameter \"opt\" is \"rmsprop\", want one of its choices");
#undef BAD
  assert_int_equal(cocabo_study_count(study), 0);
  values[2].as.text = "adam"; /* another pointer, the same text */
  assert_ok(cocabo_study_add(study, names, values, 3, NULL, &err));
  assert_int_equal(cocabo_study_count(study), 1);
  cocabo_study_free(study);
}

static void looking_at_a_trial(void **state) {
  (void)state;
  cocabo_study *study = make_study();
  cocabo_trial *t = NULL;
  double real = -7.0;
  int64_t integer = -7;
  cocabo_value value = {.type = COCABO_INT, .as.integer = -7};
  const char *name = "untouched";
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  assert_fails(cocabo_trial_get_real(NULL, "lr", &real, &err), COCABO_E_INVALID,
               "trial is NULL");
  assert_fails(cocabo_trial_get_real(t, NULL, &real, &err), COCABO_E_INVALID,
               "parameter name is NULL");
  assert_fails(cocabo_trial_get_real(t, "lr", NULL, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_trial_get_real(t, "lr2", &real, &err), COCABO_E_NOT_FOUND,
               "no parameter \"lr2\", did you mean \"lr\"?");
  assert_fails(cocabo_trial_get_real(t, "opt", &real, &err), COCABO_E_INVALID,
               "parameter \"opt\" is a choice, want a real or an int");
  assert_fails(cocabo_trial_get_int(NULL, "layers", &integer, &err), COCABO_E_INVALID,
               "trial is NULL");
  assert_fails(cocabo_trial_get_int(t, "lr", &integer, &err), COCABO_E_INVALID,
               "parameter \"lr\" is a real, want an int");
  assert_fails(cocabo_trial_get_int(t, "layers", NULL, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_trial_get_choice(t, "layers", &value, &err), COCABO_E_INVALID,
               "parameter \"layers\" is an int, want a choice");
  assert_fails(cocabo_trial_get_choice(t, "", &value, &err), COCABO_E_NOT_FOUND,
               "no parameter \"\"");
  assert_fails(cocabo_trial_get_choice(t, "opt", NULL, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_trial_get(NULL, 0, &name, &value, &err), COCABO_E_INVALID,
               "trial is NULL");
  assert_fails(cocabo_trial_get(t, 0, NULL, &value, &err), COCABO_E_INVALID,
               "name is NULL");
  assert_fails(cocabo_trial_get(t, 0, &name, NULL, &err), COCABO_E_INVALID,
               "value is NULL");
  assert_fails(cocabo_trial_get(t, 3, &name, &value, &err), COCABO_E_RANGE,
               "parameter index is 3, want 0 to 2");
  assert_true(real == -7.0 && integer == -7 && value.as.integer == -7);
  assert_string_equal(name, "untouched");
  assert_int_equal(cocabo_trial_get_real(t, "x", &real, NULL), COCABO_E_NOT_FOUND);
  cocabo_trial_free(t);

  assert_int_equal(cocabo_trial_number(NULL), -1);
  assert_int_equal(cocabo_trial_get_state(NULL), COCABO_WAITING);
  assert_true(isnan(cocabo_trial_value(NULL)));
  assert_string_equal(cocabo_trial_reason(NULL), "");
  assert_int_equal(cocabo_trial_count(NULL), 0);
  assert_true(isnan(cocabo_trial_started(NULL)));
  assert_true(isnan(cocabo_trial_finished(NULL)));
  assert_int_equal(cocabo_trial_attempt(NULL), 0);
  assert_true(cocabo_trial_seed(NULL) == 0);
  cocabo_trial_free(NULL);
  const char *const states[] = {"waiting", "running",     "complete",
                                "failed",  "interrupted", "stale"};
  for (int i = 0; i < 6; i++)
    assert_string_equal(cocabo_state_name((cocabo_trial_state)i), states[i]);
  assert_string_equal(cocabo_state_name((cocabo_trial_state)6), "unknown state");
  assert_string_equal(cocabo_state_name((cocabo_trial_state)-1), "unknown state");
  cocabo_study_free(study);
}

/* Options, attributes and domains are in test_changes and test_grammar. */
static void leasing(void **state) {
  (void)state;
  cocabo_study *study = make_study();
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_space *s = make_space();
  cocabo_study *stored;
  assert_ok(cocabo_study_create(&stored, "s", s, NULL, store, &err));
  const double seconds[] = {-1, NAN, INFINITY, -INFINITY};
  const char *const sentences[] = {
      "seconds is -1, want a number >= 0", "seconds is nan, want a number >= 0",
      "seconds is inf, want a number >= 0", "seconds is -inf, want a number >= 0"};
  for (int i = 0; i < 4; i++)
    assert_fails(cocabo_study_lease(study, "w", seconds[i], &err), COCABO_E_RANGE,
                 sentences[i]);
  assert_fails(cocabo_study_lease(NULL, "w", 1, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_lease(study, NULL, 1, &err), COCABO_E_INVALID,
               "lease owner is NULL");
  assert_fails(cocabo_study_lease(study, "", 1, &err), COCABO_E_INVALID,
               "lease owner is empty");
  assert_fails(cocabo_study_lease(study, "a\tb", 1, &err), COCABO_E_INVALID,
               "lease owner has a control character");
  assert_ok(cocabo_study_lease(study, NULL, 0, &err));

  assert_fails(cocabo_store_renew(NULL, "s", "w", 1, &err), COCABO_E_INVALID,
               "store is NULL");
  assert_fails(cocabo_store_renew(store, NULL, "w", 1, &err), COCABO_E_INVALID,
               "study name is NULL");
  assert_fails(cocabo_store_renew(store, "s", NULL, 1, &err), COCABO_E_INVALID,
               "lease owner is NULL");
  assert_fails(cocabo_store_renew(store, "s", "w", 0, &err), COCABO_E_RANGE,
               "seconds is 0, want a number > 0");
  assert_fails(cocabo_store_renew(store, "s", "w", NAN, &err), COCABO_E_RANGE,
               "seconds is nan, want a number > 0");
  assert_fails(cocabo_store_renew(store, "t", "w", 1, &err), COCABO_E_NOT_FOUND,
               "no study \"t\"");
  assert_ok(cocabo_store_renew(store, "s", "w", 1, &err)); /* holds none: no matter */
  cocabo_study_free(study);
  cocabo_study_free(stored);
  cocabo_store_free(store);
  cocabo_space_free(s);
}

static void stores(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_names *names = NULL;
  assert_fails(cocabo_store_studies(NULL, &names, &err), COCABO_E_INVALID,
               "store is NULL");
  assert_fails(cocabo_store_studies(store, NULL, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_store_delete(NULL, "s", &err), COCABO_E_INVALID, "store is NULL");
  assert_fails(cocabo_store_delete(store, NULL, &err), COCABO_E_INVALID,
               "study name is NULL");
  assert_fails(cocabo_store_delete(store, "s", &err), COCABO_E_NOT_FOUND,
               "no study \"s\"");
  assert_null(names);
  assert_int_equal(cocabo_names_count(NULL), 0);
  assert_null(cocabo_names_at(NULL, 0));
  cocabo_names_free(NULL);
  cocabo_store_free(store);
}

static void opening_or_creating(void **state) {
  (void)state;
  cocabo_space *s = make_space(), *empty = cocabo_space_new();
  cocabo_study *study = NULL;
  int created = -7;
  assert_fails(cocabo_study_open_or_create(NULL, "s", s, NULL, NULL, &created, &err),
               COCABO_E_INVALID, "out is NULL");
  assert_fails(cocabo_study_open_or_create(&study, NULL, s, NULL, NULL, &created, &err),
               COCABO_E_INVALID, "study name is NULL");
  assert_fails(cocabo_study_open_or_create(&study, "", s, NULL, NULL, &created, &err),
               COCABO_E_INVALID, "study name is empty");
  assert_fails(
      cocabo_study_open_or_create(&study, "s", NULL, NULL, NULL, &created, &err),
      COCABO_E_INVALID, "space is NULL");
  assert_fails(
      cocabo_study_open_or_create(&study, "s", empty, NULL, NULL, &created, &err),
      COCABO_E_INVALID, "the space is empty, want a parameter");
  assert_true(!study && created == -7);
  cocabo_space_free(s);
  cocabo_space_free(empty);
}

/* What is in a trial that is added is checked in test_add_many, and the spaces that do
 * not fit in test_bindings. */
static void many_at_once(void **state) {
  (void)state;
  cocabo_study *study = make_study();
  cocabo_trial *t = NULL;
  cocabo_value values[3];
  cocabo_known known = {.values = values, .state = COCABO_COMPLETE, .value = 1.0};
  const char *names[] = {"p99", NULL};
  double mean = -7.0;
  const cocabo_columns fine = {.values = &mean};
  const cocabo_columns nameless = {.n_metrics = 1, .metrics = &mean};
  const cocabo_columns half = {.metric_names = names, .n_metrics = 2, .metrics = &mean};
  const cocabo_columns wide = {
      .metric_names = names, .n_metrics = 65, .metrics = &mean};
  size_t got = 7, index = 7;
  assert_fails(cocabo_study_add_many(NULL, &known, 1, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_add_many(study, NULL, 1, &err), COCABO_E_INVALID,
               "trials is NULL");
  assert_fails(cocabo_study_add_many(study, &known, SIZE_MAX, &err), COCABO_E_RANGE,
               "n is 18446744073709551615, want at most 10000000");
  known.values = NULL;
  assert_fails(cocabo_study_add_many(study, &known, 1, &err), COCABO_E_INVALID,
               "trial 0: values is NULL");

  assert_fails(cocabo_study_ask_up_to(NULL, 1, &t, &got, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_int_equal(got, 0);
  assert_fails(cocabo_study_ask_up_to(study, 1, NULL, &got, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_study_ask_up_to(study, 1, &t, NULL, &err), COCABO_E_INVALID,
               "got is NULL");
  assert_fails(cocabo_study_ask_up_to(study, 100001, &t, &got, &err), COCABO_E_RANGE,
               "n is 100001, want 1 to 100000");
  assert_int_equal(cocabo_study_count(study), 0);
  assert_ok(cocabo_study_ask_up_to(study, 1, &t, &got, &err));

  assert_fails(cocabo_trial_values(NULL, values, 3, &err), COCABO_E_INVALID,
               "trial is NULL");
  assert_fails(cocabo_trial_values(t, NULL, 3, &err), COCABO_E_INVALID, "out is NULL");
  assert_fails(cocabo_trial_values(t, values, SIZE_MAX, &err), COCABO_E_INVALID,
               "n is 18446744073709551615, want the number of parameters, 3");
  assert_fails(cocabo_trial_choice_index(NULL, 2, &index, &err), COCABO_E_INVALID,
               "trial is NULL");
  assert_fails(cocabo_trial_choice_index(t, 2, NULL, &err), COCABO_E_INVALID,
               "index is NULL");
  assert_fails(cocabo_trial_choice_index(t, SIZE_MAX, &index, &err), COCABO_E_RANGE,
               "parameter index is 18446744073709551615, want 0 to 2");
  assert_int_equal(index, 7);

  assert_fails(cocabo_study_columns(NULL, 0, 1, &fine, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_columns(study, 0, 1, NULL, &err), COCABO_E_INVALID,
               "columns is NULL");
  assert_fails(cocabo_study_columns(study, 0, 1, &nameless, &err), COCABO_E_INVALID,
               "metric_names is NULL");
  assert_fails(cocabo_study_columns(study, 0, 1, &half, &err), COCABO_E_INVALID,
               "metric name 1 is NULL");
  assert_fails(cocabo_study_columns(study, 0, 1, &wide, &err), COCABO_E_RANGE,
               "there are 65 metrics, want at most 64");
  assert_fails(cocabo_study_columns(study, INT64_MAX, 1, &fine, &err),
               COCABO_E_NOT_FOUND,
               "no trial 9223372036854775807 in study \"s\": it has 1, from 0 to 0");

  assert_fails(cocabo_study_predict(NULL, values, 1, &mean, NULL, NULL, &err),
               COCABO_E_INVALID, "study is NULL");
  assert_fails(cocabo_study_predict(study, NULL, 1, &mean, NULL, NULL, &err),
               COCABO_E_INVALID, "points is NULL");
  assert_fails(cocabo_study_predict(study, values, 1, NULL, NULL, NULL, &err),
               COCABO_E_INVALID, "mean is NULL");
  assert_fails(cocabo_study_predict(study, values, SIZE_MAX, &mean, NULL, NULL, &err),
               COCABO_E_RANGE, "n is 18446744073709551615, want at most 1000000");
  assert_true(mean == -7.0);
  assert_int_equal(cocabo_trial_origin(NULL), COCABO_ORIGIN_USER);
  cocabo_study_on_log(NULL, NULL, NULL);
  cocabo_trial_free(t);
  cocabo_study_free(study);
}

static void verifying(void **state) {
  (void)state;
  cocabo_study *study = make_study();
  cocabo_report report = {.events = -7};
  assert_fails(cocabo_study_verify(NULL, -1, &report, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_verify(study, -1, NULL, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_study_verify(study, -2, &report, &err), COCABO_E_RANGE,
               "proposals is -2, want -1 or more");
  assert_int_equal(report.events, -7);
  assert_ok(cocabo_study_verify(study, INT64_MAX, &report, &err));
  assert_int_equal(report.events, 1);
  cocabo_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(spaces),       cmocka_unit_test(creating),
      cmocka_unit_test(asking),       cmocka_unit_test(telling),
      cmocka_unit_test(adding),       cmocka_unit_test(looking_at_a_trial),
      cmocka_unit_test(leasing),      cmocka_unit_test(stores),
      cmocka_unit_test(verifying),    cmocka_unit_test(opening_or_creating),
      cmocka_unit_test(many_at_once),
  };
  return cmocka_run_group_tests_name("fault/bad_input", tests, NULL, NULL);
}
