/* Runs of mixed that used to be stuck: on a plateau, and without a level. */
#include "check.h"

#include "cocabo.h"

static cocabo_error err;

static cocabo_study *create(const char *const *domains, int n, const char *seed) {
  static const char *const names[] = {"a", "b"};
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  cocabo_study *study;
  for (int i = 0; i < n; i++)
    assert_ok(cocabo_space_add(space, names[i], domains[i], &err));
  assert_ok(cocabo_options_set(options, "seed", seed, &err));
  assert_ok(cocabo_study_create(&study, "s", space, options, NULL, &err));
  cocabo_options_free(options);
  cocabo_space_free(space);
  return study;
}

static double squared(double u, double v) {
  return (u - v) * (u - v);
}

/* The largest distance from a place of the unit square to the nearest point. */
static double largest_hole(int n, const double *x, const double *y) {
  double largest = 0.0;
  for (int i = 0; i <= 20; i++)
    for (int j = 0; j <= 20; j++) {
      double nearest = INFINITY;
      for (int k = 0; k < n; k++)
        nearest = fmin(nearest, squared(x[k], i / 20.0) + squared(y[k], j / 20.0));
      largest = fmax(largest, nearest);
    }
  return sqrt(largest);
}

/* 26 random points leave holes of 0.25 to 0.45. */
static void equal_values_are_left_in_all_directions(void **state) {
  (void)state;
  enum { N = 26 };
  static const char *const domains[] = {"float(0,1)", "float(0,1)"};
  static const char *const seeds[] = {"7", "11", "13"};
  for (int s = 0; s < 3; s++) {
    cocabo_study *study = create(domains, 2, seeds[s]);
    double x[N], y[N];
    for (int i = 0; i < N; i++) {
      cocabo_trial *trial;
      assert_ok(cocabo_study_ask(study, 1, &trial, &err));
      assert_ok(cocabo_trial_get_real(trial, "a", &x[i], &err));
      assert_ok(cocabo_trial_get_real(trial, "b", &y[i], &err));
      assert_ok(cocabo_study_tell(study, i, 0.343, &err));
      cocabo_trial_free(trial);
    }
    assert_true(largest_hole(N, x, y) < 0.24);
    cocabo_study_free(study);
  }
}

/* The first of three levels is the best by far: every seventh trial is the rarer one of
 * the others, where nothing else would go. */
static void levels_that_look_bad_are_tried_again(void **state) {
  (void)state;
  enum { N = 60, LEVELS = 3, FROM = 25 };
  static const char *const domains[] = {"float(0,1)", "choice(p,q,r)"};
  cocabo_study *study = create(domains, 2, "5");
  int seen[LEVELS] = {0}, revisits = 0;
  for (int i = 0; i < N; i++) {
    cocabo_trial *trial;
    double x;
    cocabo_value value;
    assert_ok(cocabo_study_ask(study, 1, &trial, &err));
    assert_ok(cocabo_trial_get_real(trial, "a", &x, &err));
    assert_ok(cocabo_trial_get_choice(trial, "b", &value, &err));
    const int level = value.as.text[0] - 'p';
    if (i >= FROM && i % 7 == 3) {
      assert_int_equal(level, seen[1] <= seen[2] ? 1 : 2);
      revisits++;
    }
    seen[level]++;
    assert_ok(cocabo_study_tell(study, i, squared(x, 0.3) + 5.0 * level, &err));
    cocabo_trial_free(trial);
  }
  assert_int_equal(revisits, 5);
  assert_true(seen[0] > N / 2);
  cocabo_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(equal_values_are_left_in_all_directions),
      cmocka_unit_test(levels_that_look_bad_are_tried_again),
  };
  return cmocka_run_group_tests_name("sampler/mixed", tests, NULL, NULL);
}
