/* What a model is shown of values that lie far below the others. */
#include "check.h"

#include <float.h>
#include <stdbool.h>

#include "base/mem.h"
#include "cocabo.h"
#include "sampler/learner.h"
#include "study/study.h"

static cocabo_error err;

/* A study of one number with these values. */
static cocabo_study *study_of(int n, const double *values) {
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(space, "x", "float(0,1)", &err));
  assert_ok(cocabo_options_set(options, "direction", "maximize", &err));
  assert_ok(cocabo_study_create(&study, "s", space, options, NULL, &err));
  cocabo_space_free(space);
  cocabo_options_free(options);
  for (int i = 0; i < n; i++) {
    cocabo_trial *trial;
    assert_ok(cocabo_study_ask(study, 1, &trial, &err));
    assert_ok(cocabo_study_tell(study, i, values[i], &err));
    cocabo_trial_free(trial);
  }
  return study;
}

static void check(bool cut, int n, const double *values, const double *want,
                  double worst) {
  cocabo_study *study = study_of(n, values);
  const cb_settings settings = {.cut_outliers = cut};
  cb_targets targets = {0};
  assert_ok(cb_targets_set(&targets, cb_study_history(study), &settings, &err));
  for (int i = 0; i < n; i++)
    assert_true(targets.y[i] == want[i]);
  assert_true(targets.worst == worst);
  cb_targets_free(&targets);
  cocabo_study_free(study);
}

/* Best 10, median 6: nothing counts as less than 6 - 3 x 4. */
static void what_lies_far_below_is_cut_off(void **state) {
  (void)state;
  const double y[] = {10, 6, -1000, 5, 8, -5.5, 7}, cut[] = {10, 6, -6, 5, 8, -5.5, 7};
  check(true, 7, y, cut, -6);
  check(false, 7, y, y, -1000);
}

static void equal_values_and_huge_ones_are_survived(void **state) {
  (void)state;
  const double equal[] = {3, 3, 3};
  check(true, 3, equal, equal, 3);
  const double huge[] = {DBL_MAX, -DBL_MAX, DBL_MAX, DBL_MAX};
  check(true, 4, huge, huge, -DBL_MAX); /* without a gap nothing is far */
  const double both[] = {DBL_MAX, -DBL_MAX};
  check(true, 2, both, both, -DBL_MAX);
  check(true, 0, NULL, NULL, 0.0);
  check(false, 0, NULL, NULL, 0.0);
}

/* A penalty as large as a double can be must not stop a study: its warp overflowed. */
static void a_huge_penalty_is_survived_by_every_sampler(void **state) {
  (void)state;
  const char *samplers[] = {"mixed", "cocabo", "onehot", "smac", "tpe"};
  const double values[] = {0.1, 0.3, 0.5, 0.4, DBL_MAX, -DBL_MAX};
  for (int s = 0; s < 5; s++)
    for (int penalty = 4; penalty < 6; penalty++) {
      cocabo_space *space = cocabo_space_new();
      cocabo_options *options = cocabo_options_new();
      cocabo_study *study;
      assert_ok(cocabo_space_add(space, "x", "float(0,1)", &err));
      assert_ok(cocabo_space_add(space, "c", "choice(a,b)", &err));
      assert_ok(cocabo_options_set(options, "n_init", "3", &err));
      assert_ok(cocabo_options_set(options, "sampler", samplers[s], &err));
      assert_ok(cocabo_study_create(&study, "s", space, options, NULL, &err));
      for (int i = 0; i < 25; i++) {
        cocabo_trial *trial;
        assert_ok(cocabo_study_ask(study, 1, &trial, &err));
        assert_ok(
            cocabo_study_tell(study, i, values[i % 5 == 4 ? penalty : i % 5], &err));
        cocabo_trial_free(trial);
      }
      cocabo_study_free(study);
      cocabo_options_free(options);
      cocabo_space_free(space);
    }
}

static void lack_of_memory_is_told(void **state) {
  (void)state;
  cocabo_study *study = study_of(2, (const double[]){1, 2});
  const cb_settings settings = {.cut_outliers = true};
  cb_targets targets = {0};
  cb_mem_fail_after(0);
  const cocabo_status status =
      cb_targets_set(&targets, cb_study_history(study), &settings, &err);
  cb_mem_fail_after(-1);
  assert_int_equal(status, COCABO_E_NO_MEMORY);
  cocabo_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_lies_far_below_is_cut_off),
      cmocka_unit_test(equal_values_and_huge_ones_are_survived),
      cmocka_unit_test(a_huge_penalty_is_survived_by_every_sampler),
      cmocka_unit_test(lack_of_memory_is_told),
  };
  return cmocka_run_group_tests_name("sampler/targets", tests, NULL, NULL);
}
