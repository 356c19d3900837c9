#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "log/fold.h"

static cocabo_error err;

static cocabo_space *make_space(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_real(s, "x", -2, 2, 0, 0, &err));
  return s;
}

static cb_pair pair(const char *name, const char *value) {
  return (cb_pair){(char *)name, (char *)value};
}

/* The log begins; what the event points to stays the test's. */
static void begin(cb_fold *fold, cb_pair *options, int n) {
  cocabo_space *space = make_space();
  const cb_event created = {.kind = CB_STUDY_CREATED,
                            .seq = 1,
                            .number = -1,
                            .space = space,
                            .version = "0.2.0",
                            .n_options = n,
                            .options = options};
  assert_ok(cb_fold_apply(fold, &created, &err));
  cocabo_space_free(space);
}

static const char *option(const cb_fold *fold, const char *name) {
  const int i = cb_pairs_find(fold->options, fold->n_options, name);
  return i >= 0 ? fold->options[i].value : NULL;
}

/* The log does not ask what else there is: options of any name and value pass. */
static void a_log_gives_sign_seed_options_and_attributes(void **state) {
  (void)state;
  cb_pair first[] = {pair("direction", "maximize"), pair("seed", "4711"),
                     pair("sampler", "of tomorrow")};
  cb_pair more[] = {pair("seed", "5"), pair("colour", "red")};
  cb_pair attributes[] = {pair("command", "./a.out"), pair("host", "a1")};
  cb_fold fold = {.name = "s"};
  begin(&fold, first, 3);
  assert_true(fold.history->sign == 1.0);
  assert_true(fold.trial_seed == 4711);
  assert_string_equal(fold.version, "0.2.0");
  const cb_event changed = {.kind = CB_STUDY_CHANGED,
                            .seq = 2,
                            .number = -1,
                            .version = "0.3.0",
                            .n_options = 2,
                            .options = more,
                            .n_attributes = 2,
                            .attributes = attributes};
  assert_ok(cb_fold_apply(&fold, &changed, &err));
  assert_int_equal(fold.history->seq, 2);
  assert_string_equal(option(&fold, "sampler"), "of tomorrow");
  assert_string_equal(option(&fold, "colour"), "red");
  assert_string_equal(option(&fold, "seed"), "5");
  assert_true(fold.trial_seed == 4711); /* that of the beginning */
  assert_string_equal(fold.version, "0.3.0");
  assert_string_equal(cb_fold_attribute(&fold, "host"), "a1");
  assert_null(cb_fold_attribute(&fold, "port"));
  cb_fold_clear(&fold);
}

static void without_options_it_minimises_with_seed_0(void **state) {
  (void)state;
  cb_fold fold = {.name = "s"};
  begin(&fold, NULL, 0);
  assert_true(fold.history->sign == -1.0);
  assert_true(fold.trial_seed == 0);
  cb_fold_clear(&fold);
}

static void a_refused_event_leaves_the_fold_as_it_was(void **state) {
  (void)state;
  cb_pair other = pair("direction", "maximize");
  cb_fold fold = {.name = "s"};
  const cb_event told = {.kind = CB_TRIAL_TOLD, .seq = 1, .has_y = true};
  assert_fails(cb_fold_apply(&fold, &told, &err), COCABO_E_STATE,
               "the log of study \"s\" has no beginning");
  assert_null(fold.history);
  begin(&fold, NULL, 0);
  cb_event changed = {.kind = CB_STUDY_CHANGED,
                      .seq = 2,
                      .number = -1,
                      .n_options = 1,
                      .options = &other};
  assert_fails(cb_fold_apply(&fold, &changed, &err), COCABO_E_STATE,
               "the direction of study \"s\" is fixed");
  changed.seq = 3;
  assert_fails(cb_fold_apply(&fold, &changed, &err), COCABO_E_STATE,
               "event 3 follows event 1, want 2");
  assert_int_equal(fold.history->seq, 1);
  assert_null(option(&fold, "direction"));
  cb_fold_clear(&fold);
}

/* A fold begun and changed, or after the k-th allocation fails none at all. */
static cocabo_status try_both(cb_fold *fold, long k) {
  cb_pair options[] = {pair("direction", "maximize"), pair("seed", "3")};
  cb_pair attribute = pair("host", "a1");
  cocabo_space *space = make_space();
  const cb_event created = {.kind = CB_STUDY_CREATED,
                            .seq = 1,
                            .number = -1,
                            .space = space,
                            .version = "0.2.0",
                            .n_options = 2,
                            .options = options};
  const cb_event changed = {.kind = CB_STUDY_CHANGED,
                            .seq = 2,
                            .number = -1,
                            .version = "0.2.0",
                            .n_options = 2,
                            .options = options,
                            .n_attributes = 1,
                            .attributes = &attribute};
  cb_mem_fail_after(k);
  cocabo_status status = cb_fold_apply(fold, &created, &err);
  if (status == COCABO_OK)
    status = cb_fold_apply(fold, &changed, &err);
  cb_mem_fail_after(-1);
  cocabo_space_free(space);
  return status;
}

static void a_failing_allocation_leaves_the_fold_as_it_was(void **state) {
  (void)state;
  long k = 0;
  for (cocabo_status status = COCABO_E_NO_MEMORY; status != COCABO_OK; k++) {
    cb_fold fold = {.name = "s"};
    status = try_both(&fold, k);
    if (status != COCABO_OK) {
      assert_int_equal(status, COCABO_E_NO_MEMORY);
      assert_true(!fold.history || fold.history->seq == 1);
      assert_int_equal(fold.n_options, fold.history ? 2 : 0);
      assert_int_equal(fold.n_attributes, 0);
    }
    cb_fold_clear(&fold);
  }
  assert_true(k > 10);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_log_gives_sign_seed_options_and_attributes),
      cmocka_unit_test(without_options_it_minimises_with_seed_0),
      cmocka_unit_test(a_refused_event_leaves_the_fold_as_it_was),
      cmocka_unit_test(a_failing_allocation_leaves_the_fold_as_it_was),
  };
  return cmocka_run_group_tests_name("log/fold", tests, NULL, NULL);
}
