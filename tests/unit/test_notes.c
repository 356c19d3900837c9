/* What is known of a trial beside its result: attributes and reports, which change no
 * proposal, and kinds of events that only a later version knows. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "cocabo_store.h"
#include "study/study.h"

static cocabo_error err;

static cocabo_study *create(cocabo_store *store, const char *sampler) {
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  assert_ok(cocabo_space_add(s, "c", "choice(a,b,c)", &err));
  assert_ok(cocabo_options_set(o, "sampler", sampler, &err));
  assert_ok(cocabo_options_set(o, "n_init", "3", &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static cocabo_trial *ask(cocabo_study *study) {
  cocabo_trial *t;
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  return t;
}

static cocabo_study *with_running(int n) {
  cocabo_study *study = create(NULL, "random");
  for (int i = 0; i < n; i++)
    cocabo_trial_free(ask(study));
  return study;
}

/* "host=a1 gpu=0 | 1:0.5 3:0.25" */
static void assert_noted(const cocabo_study *study, int64_t number, const char *want) {
  char got[512] = "";
  size_t n = 77, m = 77;
  cocabo_trial *t;
  assert_ok(cocabo_study_trial(study, number, &t, &err));
  const cocabo_attr *attrs = cocabo_trial_attrs(t, &n);
  const cocabo_step *reports = cocabo_trial_reports(t, &m);
  assert_int_equal(attrs != NULL, n > 0);
  assert_int_equal(reports != NULL, m > 0);
  for (size_t i = 0; i < n; i++) {
    snprintf(got + strlen(got), sizeof got - strlen(got), "%s=%s ", attrs[i].name,
             attrs[i].value);
    assert_ptr_equal(cocabo_trial_attr(t, attrs[i].name), attrs[i].value);
  }
  strcat(got, "|");
  for (size_t i = 0; i < m; i++)
    snprintf(got + strlen(got), sizeof got - strlen(got), " %lld:%g",
             (long long)reports[i].step, reports[i].value);
  assert_string_equal(got, want);
  cocabo_trial_free(t);
}

static int64_t length(const cocabo_study *study) {
  return study->fold.history->seq;
}

/* ---- attributes ------------------------------------------------------------------ */

static void the_last_value_of_a_name_counts(void **state) {
  (void)state;
  cocabo_study *study = with_running(2);
  assert_noted(study, 0, "|");
  assert_ok(cocabo_study_note(study, 0, "host", "a1", &err));
  assert_ok(cocabo_study_note(study, 0, "größe", "", &err));
  assert_ok(cocabo_study_note(study, 0, "host", "b\n2", &err));
  assert_noted(study, 0, "host=b\n2 größe= |");
  const int64_t before = length(study);
  assert_ok(cocabo_study_note(study, 0, "host", "b\n2", &err)); /* a no-op */
  assert_int_equal(length(study), before);
  assert_noted(study, 1, "|");
  cocabo_trial *t;
  assert_ok(cocabo_study_trial(study, 0, &t, &err));
  assert_null(cocabo_trial_attr(t, "port"));
  assert_null(cocabo_trial_attr(t, NULL));
  cocabo_trial_free(t);
  assert_null(cocabo_trial_attr(NULL, "host"));
  assert_null(cocabo_trial_attrs(NULL, NULL));
  assert_null(cocabo_trial_reports(NULL, NULL));
  cocabo_study_free(study);
}

/* A result and what is noted with it are one append, so that no kill parts them. */
static void a_record_is_one_append(void **state) {
  (void)state;
  cocabo_study *study = with_running(4);
  const cocabo_attr two[] = {{"host", "a1"}, {"gpu", "0"}};
  const cocabo_metric metric = {"p99", 180.5};
  const double value = 1.5, none = NAN;
  const cocabo_record told = {
      .value = &value, .metrics = &metric, .n_metrics = 1, .attrs = two, .n_attrs = 2};
  const int64_t before = length(study);
  assert_ok(cocabo_study_record(study, 0, &told, &err));
  assert_int_equal(length(study), before + 2);
  const cb_trial *trials = study->fold.history->trials;
  assert_true(trials[0].state == COCABO_COMPLETE && trials[0].value == 1.5);
  assert_int_equal(trials[0].n_metrics, 1);
  assert_noted(study, 0, "host=a1 gpu=0 |");
  assert_ok(cocabo_study_record(study, 0, &told, &err)); /* all of it is known */
  assert_int_equal(length(study), before + 2);

  const cocabo_record failed = {.reason = "no memory", .attrs = two, .n_attrs = 2};
  assert_ok(cocabo_study_record(study, 1, &failed, &err));
  assert_string_equal(trials[1].reason, "no memory");
  assert_noted(study, 1, "host=a1 gpu=0 |");
  const cocabo_record nan_told = {.value = &none, .attrs = two, .n_attrs = 1};
  assert_ok(cocabo_study_record(study, 2, &nan_told, &err));
  assert_string_equal(trials[2].reason, "value is nan");
  const cocabo_record noted = {.attrs = two, .n_attrs = 2};
  assert_ok(cocabo_study_record(study, 3, &noted, &err));
  assert_int_equal(trials[3].state, COCABO_RUNNING);
  assert_ok(cocabo_study_record(study, 3, &(cocabo_record){0}, &err)); /* nothing */
  cocabo_study_free(study);
}

static void bad_notes_have_a_sentence(void **state) {
  (void)state;
  cocabo_study *study = with_running(1);
  const cocabo_attr twice[] = {{"host", "a1"}, {"host", "a2"}};
  const double value = 1.0;
  const int64_t before = length(study);
  char *text = calloc(1, 65538);
  memset(text, 'x', 65537);
  assert_fails(cocabo_study_note(study, 7, "host", "a1", &err), COCABO_E_NOT_FOUND,
               "no trial 7 in study \"s\": it has 1, from 0 to 0");
  assert_fails(cocabo_study_note(study, 0, "host", text, &err), COCABO_E_INVALID,
               "attribute is 65537 bytes long, want at most 65536");
  assert_fails(cocabo_study_note(study, 0, "host", NULL, &err), COCABO_E_INVALID,
               "attribute is NULL");
  assert_fails(cocabo_study_note(study, 0, "host", "\xff", &err), COCABO_E_INVALID,
               "attribute is not valid UTF-8");
  assert_int_equal(cocabo_study_note(study, 0, "", "a", &err), COCABO_E_INVALID);
  assert_int_equal(cocabo_study_note(study, 0, NULL, "a", &err), COCABO_E_INVALID);
  assert_fails(cocabo_study_note(NULL, 0, "a", "a", &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_record(study, 0, NULL, &err), COCABO_E_INVALID,
               "record is NULL");
#define RECORD(...) cocabo_study_record(study, 0, &(cocabo_record){__VA_ARGS__}, &err)
  assert_fails(RECORD(.attrs = twice, .n_attrs = 2), COCABO_E_INVALID,
               "attribute \"host\" is given twice");
  assert_fails(RECORD(.n_attrs = 2), COCABO_E_INVALID, "attrs is NULL");
  assert_fails(RECORD(.attrs = twice, .n_attrs = 65), COCABO_E_RANGE,
               "there are 65 attributes, want at most 64");
  assert_fails(RECORD(.value = &value, .reason = "no"), COCABO_E_INVALID,
               "there are a value and a reason, want one");
  assert_fails(RECORD(.n_metrics = 1), COCABO_E_INVALID, "metrics is NULL");
  assert_int_equal(length(study), before);
  for (int i = 0; i < 64; i++) {
    char name[16];
    snprintf(name, sizeof name, "a%d", i);
    assert_ok(cocabo_study_note(study, 0, name, "1", &err));
  }
  assert_fails(cocabo_study_note(study, 0, "one more", "1", &err), COCABO_E_RANGE,
               "trial 0 would have 65 attributes, want at most 64");
  assert_ok(cocabo_study_note(study, 0, "a63", "2", &err));
  free(text);
  cocabo_study_free(study);
}

/* ---- reports --------------------------------------------------------------------- */

static void reports_lie_by_step(void **state) {
  (void)state;
  static const cocabo_step in[] = {{5, 0.5},         {1, 0.1}, {3, 0.3},
                                   {INT64_MAX, 9.0}, {3, 3.5}, {0, -0.0}};
  cocabo_study *study = with_running(1);
  for (size_t i = 0; i < sizeof in / sizeof in[0]; i++)
    assert_ok(cocabo_study_report(study, 0, in[i].step, in[i].value, &err));
  assert_noted(study, 0, "| 0:-0 1:0.1 3:3.5 5:0.5 9223372036854775807:9");
  const int64_t before = length(study);
  assert_ok(cocabo_study_report(study, 0, 3, 3.5, &err)); /* a no-op */
  assert_int_equal(length(study), before);
  assert_int_equal(study->fold.history->trials[0].state, COCABO_RUNNING);
  assert_ok(cocabo_study_tell(study, 0, 1.0, &err));
  assert_ok(cocabo_study_report(study, 0, 7, 1.0, &err)); /* a late one */
  assert_noted(study, 0, "| 0:-0 1:0.1 3:3.5 5:0.5 7:1 9223372036854775807:9");
  assert_fails(cocabo_study_report(study, 0, -1, 1.0, &err), COCABO_E_RANGE,
               "step is -1, want 0 or more");
  assert_fails(cocabo_study_report(study, 0, 4, INFINITY, &err), COCABO_E_INVALID,
               "the value of step 4 is inf, want a finite number");
  assert_fails(cocabo_study_report(study, 1, 4, 1.0, &err), COCABO_E_NOT_FOUND,
               "no trial 1 in study \"s\": it has 1, from 0 to 0");
  assert_fails(cocabo_study_report(NULL, 0, 4, 1.0, &err), COCABO_E_INVALID,
               "study is NULL");
  cocabo_study_free(study);
}

/* What one attempt has noted, the next finds: a checkpoint, for one. */
static void they_stay_when_a_trial_is_handed_out_again(void **state) {
  (void)state;
  cocabo_study *study = with_running(1);
  assert_ok(cocabo_study_note(study, 0, "checkpoint", "/tmp/7", &err));
  assert_ok(cocabo_study_report(study, 0, 3, 0.5, &err));
  assert_ok(cocabo_study_interrupt(study, 0, &err));
  cocabo_trial *t = ask(study);
  size_t n = 0;
  assert_int_equal(cocabo_trial_number(t), 0);
  assert_string_equal(cocabo_trial_attr(t, "checkpoint"), "/tmp/7");
  assert_true(cocabo_trial_reports(t, &n)[0].value == 0.5);
  assert_int_equal(n, 1);
  cocabo_trial_free(t);
  cocabo_study_free(study);
}

/* ---- what does not change -------------------------------------------------------- */

/* Two studies, of which one is noted and reported to all the time. */
static void no_proposal_depends_on_them(void **state) {
  (void)state;
  static const char *const samplers[] = {"mixed", "cocabo", "smac", "tpe"};
  for (int s = 0; s < 4; s++) {
    cocabo_study *plain = create(NULL, samplers[s]);
    cocabo_study *noted = create(NULL, samplers[s]);
    cocabo_report report;
    for (int i = 0; i < 8; i++) {
      cocabo_trial *a = ask(plain), *b = ask(noted);
      double x, y;
      assert_ok(cocabo_trial_get_real(a, "x", &x, &err));
      assert_ok(cocabo_trial_get_real(b, "x", &y, &err));
      assert_true(x == y);
      cocabo_trial_free(a);
      cocabo_trial_free(b);
      assert_ok(cocabo_study_note(noted, i, "host", "a1", &err));
      assert_ok(cocabo_study_report(noted, i / 2, i, 1000.0 * i, &err));
      assert_ok(cocabo_study_tell(plain, i, (x - 0.3) * (x - 0.3), &err));
      assert_ok(cocabo_study_tell(noted, i, (x - 0.3) * (x - 0.3), &err));
    }
    assert_ok(cocabo_study_verify(noted, -1, &report, &err));
    assert_int_equal(report.differing, 0);
    assert_int_equal(report.replayed, 8);
    assert_int_equal(report.passed_over, 0);
    cocabo_study_free(plain);
    cocabo_study_free(noted);
  }
}

/* ---- through stores -------------------------------------------------------------- */

static void copies_and_merges_keep_them(void **state) {
  (void)state;
  char folder[] = "/tmp/cocabo-notes-XXXXXX", path[64];
  cocabo_store *store, *memory = cocabo_store_new_memory();
  cocabo_study *study, *copy, *back;
  assert_non_null(mkdtemp(folder));
  snprintf(path, sizeof path, "%s/a.db", folder);
  assert_ok(cocabo_store_open(&store, path, COCABO_STORE_CREATE, &err));
  study = create(store, "random");
  cocabo_trial_free(ask(study));
  assert_ok(cocabo_study_note(study, 0, "host", "a\"1\\", &err));
  assert_ok(cocabo_study_report(study, 0, 2, 0.1, &err));
  assert_ok(cocabo_study_copy(study, "t", memory, &err));
  assert_ok(cocabo_study_open(&copy, "t", memory, &err));
  assert_noted(copy, 0, "host=a\"1\\ | 2:0.1");
  assert_ok(cocabo_study_copy(copy, "u", store, &err));
  assert_ok(cocabo_study_open(&back, "u", store, &err));
  assert_noted(back, 0, "host=a\"1\\ | 2:0.1");

  const cocabo_value values[] = {{.type = COCABO_REAL, .as.real = 0.5},
                                 {.type = COCABO_TEXT, .as.text = "b"}};
  const cocabo_attr attrs[] = {{"host", "a1"}, {"gpu", "0"}};
  const cocabo_step reports[] = {{2, 0.5}, {1, 0.25}};
  cocabo_known known[] = {
      {.values = values,
       .state = COCABO_FAILED,
       .reason = "no",
       .attrs = attrs,
       .n_attrs = 2,
       .reports = reports,
       .n_reports = 2},
      {.values = values, .state = COCABO_WAITING, .attrs = attrs, .n_attrs = 1},
      {.values = values, .state = COCABO_COMPLETE, .value = 1.0}};
  int64_t added = 0;
  assert_ok(cocabo_study_merge(back, known, 3, &added, &err));
  assert_int_equal(added, 3);
  assert_noted(back, 1, "host=a1 gpu=0 | 1:0.25 2:0.5");
  assert_noted(back, 2, "host=a1 |");
  assert_noted(back, 3, "|");
  assert_ok(cocabo_study_merge(back, known, 3, &added, &err));
  assert_int_equal(added, 0);
  known[0].n_attrs = 65;
  assert_fails(cocabo_study_merge(back, known, 3, &added, &err), COCABO_E_RANGE,
               "trial 0: there are 65 attributes, want at most 64");
  cocabo_report report;
  assert_ok(cocabo_study_verify(back, -1, &report, &err));
  assert_int_equal(report.unchecked, 0);

  cocabo_study_free(study);
  cocabo_study_free(copy);
  cocabo_study_free(back);
  cocabo_store_free(memory);
  cocabo_store_free(store);
  unlink(path);
  rmdir(folder);
}

/* ---- kinds of a later version ---------------------------------------------------- */

/* As a later version appends it. */
static void append_later(cocabo_study *study, int kind, const char *body,
                         const char *version) {
  static uint64_t id;
  cb_event event = {.kind = (cb_event_kind)kind,
                    .id = {99, ++id},
                    .number = 0,
                    .body = (char *)body,
                    .version = (char *)version};
  const cb_append what = {.events = &event, .n = 1, .next_number = -1};
  assert_ok(study->store->ops->append(study->store, study->id, &what, &err));
}

static void kinds_from_100_to_199_are_passed_over(void **state) {
  (void)state;
  cocabo_store *other = cocabo_store_new_memory();
  cocabo_study *study = with_running(2), *copy;
  cocabo_report report;
  append_later(study, 102, "{\"secret\":[1,{\"a\":null}]}", NULL);
  append_later(study, 199, "{ }", "9.9.9");
  assert_ok(cocabo_study_tell(study, 0, 1.5, &err));
  cocabo_trial_free(ask(study));
  assert_ok(cocabo_study_verify(study, -1, &report, &err));
  assert_int_equal(report.passed_over, 2);
  assert_int_equal(report.events, 7);
  assert_int_equal(report.trials, 3);
  assert_ok(cocabo_study_copy(study, "t", other, &err));
  assert_ok(cocabo_study_open(&copy, "t", other, &err));
  cb_events log;
  assert_ok(cb_events_read(&log, copy, &err));
  assert_int_equal(log.n, 7);
  assert_int_equal(log.events[3].kind, 102);
  assert_string_equal(log.events[3].body, "{\"secret\":[1,{\"a\":null}]}");
  assert_string_equal(log.events[4].body, "{ }");
  cb_events_clear(&log);
  cocabo_study_free(copy);
  cocabo_study_free(study);
  cocabo_store_free(other);
}

static void other_kinds_are_refused_with_who_wrote_them(void **state) {
  (void)state;
  static const struct {
    int kind;
    const char *version, *by;
  } cases[] = {{14, "0.4.0", "0.4.0"},
               {99, NULL, "a later one"},
               {200, "1.0", "1.0"},
               {0, NULL, "a later one"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cocabo_study *study = with_running(1);
    char want[200];
    append_later(study, cases[i].kind, "{}", cases[i].version);
    snprintf(want, sizeof want,
             "event 3 of the log is of kind %d, which this version of cocabo (%s) does "
             "not know; it was written by %s",
             cases[i].kind, CB_VERSION, cases[i].by);
    assert_fails(cocabo_study_sync(study, &err), COCABO_E_STORE, want);
    assert_fails(cocabo_study_fail(study, 0, "x", &err), COCABO_E_STORE, want);
    assert_int_equal(length(study), 2);
    assert_ok(cocabo_study_tell(study, 0, 1.0, &err)); /* a result is never refused */
    cocabo_study_free(study);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_value_of_a_name_counts),
      cmocka_unit_test(a_record_is_one_append),
      cmocka_unit_test(bad_notes_have_a_sentence),
      cmocka_unit_test(reports_lie_by_step),
      cmocka_unit_test(they_stay_when_a_trial_is_handed_out_again),
      cmocka_unit_test(no_proposal_depends_on_them),
      cmocka_unit_test(copies_and_merges_keep_them),
      cmocka_unit_test(kinds_from_100_to_199_are_passed_over),
      cmocka_unit_test(other_kinds_are_refused_with_who_wrote_them),
  };
  return cmocka_run_group_tests_name("study/notes", tests, NULL, NULL);
}
