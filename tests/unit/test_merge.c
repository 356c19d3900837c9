/* Many known trials at one stroke, and which of them a study has already; copies of
 * studies. */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "study/study.h"

static cocabo_error err;

static cocabo_study *create(cocabo_store *store) {
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(s, "x", "float(0,1,step=0.1)", &err));
  assert_ok(cocabo_space_add(s, "c", "choice(a,b)", &err));
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  assert_ok(cocabo_options_set(o, "deterministic", "false", &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

enum { MOST = 16 };

/* Trials as text: "0.5a=2.5 0.5b! 0.1a?" is one with a value, one that failed because
 * of
 * "!" and one to be tried. */
typedef struct list {
  cocabo_known known[MOST];
  cocabo_value values[MOST][2];
  char reasons[MOST][8];
  size_t n;
} list;

static void read_list(list *l, const char *text) {
  static const char *const letters[] = {"a", "b"};
  memset(l, 0, sizeof *l);
  for (int used = 0; *text; text += used) {
    double x;
    char letter, sign;
    const size_t i = l->n++;
    assert_int_equal(sscanf(text, " %lf%c%c%n", &x, &letter, &sign, &used), 3);
    l->values[i][0] = (cocabo_value){.type = COCABO_REAL, .as.real = x};
    l->values[i][1] =
        (cocabo_value){.type = COCABO_TEXT, .as.text = letters[letter - 'a']};
    l->known[i] = (cocabo_known){.values = l->values[i], .state = COCABO_WAITING};
    if (sign == '=') {
      int more;
      l->known[i].state = COCABO_COMPLETE;
      assert_int_equal(sscanf(text + used, "%lf%n", &l->known[i].value, &more), 1);
      used += more;
    } else if (sign != '?') {
      snprintf(l->reasons[i], sizeof l->reasons[i], "%c", sign);
      l->known[i].state = COCABO_FAILED;
      l->known[i].reason = l->reasons[i];
    }
  }
}

/* Merges the list; `added` has a 1 for each that must be new. */
static void assert_merged(cocabo_study *study, const char *text, const char *added) {
  list l;
  char got[MOST + 1] = "";
  int64_t n = -7;
  size_t ones = 0;
  read_list(&l, text);
  assert_ok(cocabo_study_merge(study, l.known, l.n, &n, &err));
  for (size_t i = 0; i < l.n; i++) {
    got[i] = l.known[i].added ? '1' : '0';
    ones += l.known[i].added != 0;
  }
  assert_string_equal(got, added);
  assert_int_equal(n, ones);
}

static void what_is_there_is_passed_over(void **state) {
  (void)state;
  cocabo_study *study = create(NULL);
  assert_merged(study, "0.5a=2.5 0.5b! 0.1a?", "111");
  assert_int_equal(cocabo_study_count_state(study, COCABO_COMPLETE), 1);
  assert_int_equal(cocabo_study_count_state(study, COCABO_FAILED), 1);
  assert_int_equal(cocabo_study_count_state(study, COCABO_WAITING), 1);
  assert_string_equal(cb_study_history(study)->trials[1].reason, "!");
  const int64_t seq = cb_study_history(study)->seq;
  assert_merged(study, "0.1a? 0.5a=2.5 0.5b!", "000");
  assert_int_equal(cb_study_history(study)->seq, seq); /* nothing was appended */
  assert_merged(study, "0.5a=2.25 0.5a! 0.5b# 0.1b? 0.5a=2.5", "11110");
  assert_merged(study, "", "");
  cocabo_study_free(study);
}

static void equal_ones_are_counted(void **state) {
  (void)state;
  cocabo_study *study = create(NULL);
  assert_merged(study, "0.3a=1 0.3a=1 0.3a! 0.3a?", "1111");
  assert_merged(study, "0.3a=1 0.3a=1 0.3a=1 0.3a! 0.3a! 0.3a? 0.3a?", "0010101");
  assert_merged(study, "0.3a=1 0.3a=1 0.3a=1 0.3a! 0.3a! 0.3a? 0.3a?", "0000000");
  assert_int_equal(cocabo_study_count(study), 7);
  cocabo_study_free(study);
}

/* 0.1 + 0.2 is the level 0.3. */
static void points_are_levels(void **state) {
  (void)state;
  cocabo_study *study = create(NULL);
  assert_merged(study, "0.3a=1", "1");
  assert_merged(study, "0.30000000000000004a=1 0.3a=1", "01");
  assert_true(cb_study_history(study)->trials[1].cells[0].real == 0.3);
  cocabo_study_free(study);
}

/* Whatever has become of an enqueued or a failed one since. */
static void trials_that_moved_on_are_still_there(void **state) {
  (void)state;
  cocabo_study *study = create(NULL);
  cocabo_trial *t[3];
  assert_merged(study, "0.3a? 0.4a? 0.5a?", "111");
  assert_ok(cocabo_study_ask(study, 3, t, &err));
  for (int i = 0; i < 3; i++)
    cocabo_trial_free(t[i]);
  assert_merged(study, "0.3a? 0.4a? 0.5a?", "000"); /* running */
  assert_ok(cocabo_study_tell(study, 0, 2.5, &err));
  assert_ok(cocabo_study_fail(study, 1, "why", &err));
  assert_ok(cocabo_study_interrupt(study, 2, &err));
  assert_merged(study, "0.3a? 0.4a? 0.5a?", "000");
  assert_merged(study, "0.3a=2.5 0.3a?", "01"); /* it cannot be both */
  cocabo_study_free(study);
}

/* The one of a file that was enqueued is not taken for the one that came with a value.
 */
static void pairs_are_found_in_any_order(void **state) {
  (void)state;
  cocabo_study *study = create(NULL);
  cocabo_trial *t;
  assert_merged(study, "0.3a?", "1");
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  cocabo_trial_free(t);
  assert_ok(cocabo_study_tell(study, 0, 2.5, &err));
  assert_merged(study, "0.3a=2.5 0.3a=2.5", "01");
  assert_merged(study, "0.3a=2.5 0.3a?", "00");
  assert_merged(study, "0.3a? 0.3a=2.5", "00");
  cocabo_study_free(study);
}

static void what_others_added_is_seen(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *one = create(store), *other;
  assert_ok(cocabo_study_open(&other, "s", store, &err));
  assert_merged(one, "0.3a=1 0.4a!", "11");
  assert_merged(other, "0.3a=1 0.4a! 0.5b=2", "001");
  assert_merged(one, "0.5b=2", "0");
  cocabo_report report;
  assert_ok(cocabo_study_verify(one, -1, &report, &err));
  assert_int_equal(report.trials, 3);
  cocabo_study_free(one);
  cocabo_study_free(other);
  cocabo_store_free(store);
}

static void bad_ones_add_nothing(void **state) {
  (void)state;
  cocabo_study *study = create(NULL);
  list l;
  int64_t n = -7;
#define REFUSED(change, code, sentence)                                                \
  do {                                                                                 \
    read_list(&l, "0.3a=1 0.4a=2");                                                    \
    change;                                                                            \
    assert_fails(cocabo_study_merge(study, l.known, 2, &n, &err), code, sentence);     \
    assert_int_equal(n, -7);                                                           \
    assert_int_equal(cocabo_study_count(study), 0);                                    \
  } while (0)
  REFUSED(l.known[1].value = NAN, COCABO_E_INVALID,
          "trial 1: value is nan, want a finite number");
  REFUSED(l.known[1].values = NULL, COCABO_E_INVALID, "trial 1: values is NULL");
  REFUSED(l.known[1].state = COCABO_STALE, COCABO_E_INVALID,
          "trial 1: state is 5, want complete, failed, running or waiting");
  REFUSED(l.values[1][0].as.real = 0.45, COCABO_E_RANGE,
          "trial 1: parameter \"x\" is 0.45, want 0 plus a multiple of 0.1");
  REFUSED((l.known[1].state = COCABO_FAILED, l.known[1].reason = "\xff"),
          COCABO_E_INVALID, "trial 1: reason is not valid UTF-8");
#undef REFUSED
  assert_fails(cocabo_study_merge(NULL, l.known, 1, &n, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_merge(study, NULL, 1, &n, &err), COCABO_E_INVALID,
               "trials is NULL");
  assert_fails(cocabo_study_merge(study, l.known, 10000001, &n, &err), COCABO_E_RANGE,
               "n is 10000001, want at most 10000000");
  cocabo_study_free(study);
}

static void points_are_checked_alone(void **state) {
  (void)state;
  cocabo_study *study = create(NULL);
  const cocabo_space *space = cocabo_study_space(study);
  list l;
  read_list(&l, "0.3a? 0.35b?");
  assert_ok(cocabo_space_check(space, l.values[0], 2, &err));
  assert_fails(cocabo_space_check(space, l.values[1], 2, &err), COCABO_E_RANGE,
               "parameter \"x\" is 0.35, want 0 plus a multiple of 0.1");
  assert_fails(cocabo_space_check(space, l.values[0], 1, &err), COCABO_E_INVALID,
               "n is 1, want the number of parameters, 2");
  assert_fails(cocabo_space_check(NULL, l.values[0], 2, &err), COCABO_E_INVALID,
               "space is NULL");
  assert_fails(cocabo_space_check(space, NULL, 2, &err), COCABO_E_INVALID,
               "values is NULL");
  cocabo_study_free(study);
}

static void a_copy_is_a_study_of_its_own(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = create(NULL), *copy;
  cocabo_trial *t[3];
  assert_merged(study, "0.3a=1 0.4a!", "11");
  assert_ok(cocabo_study_ask(study, 3, t, &err));
  for (int i = 0; i < 3; i++)
    cocabo_trial_free(t[i]);
  assert_ok(cocabo_study_interrupt(study, 3, &err));
  assert_ok(cocabo_study_set_attr(study, "note", "kept", &err));
  assert_ok(cocabo_study_copy(study, "copy", store, &err));
  assert_fails(cocabo_study_copy(study, "copy", store, &err), COCABO_E_EXISTS,
               "study \"copy\" exists already");
  assert_ok(cocabo_study_open(&copy, "copy", store, &err));
  assert_string_equal(cocabo_study_attr(copy, "note"), "kept");
  assert_int_equal(cocabo_study_count(copy), 5);
  for (int s = COCABO_WAITING; s <= COCABO_STALE; s++)
    assert_int_equal(cocabo_study_count_state(copy, (cocabo_trial_state)s),
                     cocabo_study_count_state(study, (cocabo_trial_state)s));
  cocabo_report report;
  assert_ok(cocabo_study_verify(copy, -1, &report, &err));
  assert_int_equal(report.differing, 0);
  assert_int_equal(report.replayed, 3);
  assert_ok(cocabo_study_tell(copy, 2, 7.5, &err));
  assert_int_equal(cocabo_study_count_state(study, COCABO_COMPLETE), 1);
  assert_fails(cocabo_study_copy(NULL, "a", store, &err), COCABO_E_INVALID,
               "study is NULL");
  assert_fails(cocabo_study_copy(study, "", store, &err), COCABO_E_INVALID,
               "study name is empty");
  assert_fails(cocabo_study_copy(study, "a", NULL, &err), COCABO_E_INVALID,
               "to is NULL");
  cocabo_study_free(study);
  cocabo_study_free(copy);
  cocabo_store_free(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_there_is_passed_over),
      cmocka_unit_test(equal_ones_are_counted),
      cmocka_unit_test(points_are_levels),
      cmocka_unit_test(trials_that_moved_on_are_still_there),
      cmocka_unit_test(pairs_are_found_in_any_order),
      cmocka_unit_test(what_others_added_is_seen),
      cmocka_unit_test(bad_ones_add_nothing),
      cmocka_unit_test(points_are_checked_alone),
      cmocka_unit_test(a_copy_is_a_study_of_its_own),
  };
  return cmocka_run_group_tests_name("study/merge", tests, NULL, NULL);
}
