/* What the samplers' models predict at points that nobody has tried. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "study/study.h"

static cocabo_error err;

static const char *const models[] = {"mixed", "cocabo", "onehot", "exp3bo", "smac"};
enum { N_MODELS = sizeof models / sizeof models[0], RESULTS = 30, WIDTH = 2 };

/* In units far from 1: around 1000, with a range of about 100. */
static double truth(double x, int c) {
  return 1000.0 + 40.0 * (x - 0.3) * (x - 0.3) + (c ? 30.0 : 0.0);
}

static cocabo_study *make_study(const char *sampler, const char *direction,
                                const char *deterministic) {
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  assert_ok(cocabo_space_add(s, "x", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(s, "c", "choice(a,b)", &err));
  assert_ok(cocabo_options_set(o, "sampler", sampler, &err));
  assert_ok(cocabo_options_set(o, "direction", direction, &err));
  assert_ok(cocabo_options_set(o, "deterministic", deterministic, &err));
  assert_ok(cocabo_options_set(o, "n_init", "6", &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, NULL, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static double x_at(int i) {
  return -1.0 + 2.0 * (i * 7 % RESULTS + 0.5) / RESULTS;
}

static void add_results(cocabo_study *study, double sign, double noise) {
  cocabo_value values[RESULTS][WIDTH];
  cocabo_known known[RESULTS];
  for (int i = 0; i < RESULTS; i++) {
    const double bump = noise * ((i * 13 % 7) - 3.0);
    values[i][0] = cocabo_real(x_at(i));
    values[i][1] = cocabo_text(i % 2 ? "b" : "a");
    known[i] = (cocabo_known){.values = values[i],
                              .state = COCABO_COMPLETE,
                              .value = sign * truth(x_at(i), i % 2) + bump};
  }
  assert_ok(cocabo_study_add_many(study, known, RESULTS, &err));
}

enum { POINTS = 20 };

static void fill_points(cocabo_value points[POINTS][WIDTH]) {
  for (int i = 0; i < POINTS; i++) {
    points[i][0] = cocabo_real(-0.95 + 1.9 * i / POINTS);
    points[i][1] = cocabo_text(i % 2 ? "b" : "a");
  }
}

/* Of either direction, in the user's units. A forest is a rough model. */
static void a_model_knows_the_function(void **state) {
  (void)state;
  cocabo_value points[POINTS][WIDTH];
  fill_points(points);
  for (int m = 0; m < N_MODELS; m++)
    for (int sign = -1; sign <= 1; sign += 2) {
      cocabo_study *study =
          make_study(models[m], sign < 0 ? "maximize" : "minimize", "true");
      double mean[POINTS], sd[POINTS], p[POINTS], worst = 0.0;
      add_results(study, sign, 0.0);
      assert_ok(cocabo_study_predict(study, points[0], POINTS, mean, sd, p, &err));
      for (int i = 0; i < POINTS; i++) {
        const double want = sign * truth(points[i][0].as.real, i % 2);
        worst = fmax(worst, fabs(mean[i] - want));
        assert_true(sd[i] >= 0.0 && sd[i] < 40.0);
        assert_true(p[i] == 1.0);
      }
      printf("%s: off by up to %.3g\n", models[m], worst);
      assert_true(worst < (strcmp(models[m], "smac") == 0 ? 15.0 : 3.0));
      cocabo_study_free(study);
    }
}

static void what_is_known_is_certain(void **state) {
  (void)state;
  cocabo_study *study = make_study("mixed", "minimize", "true");
  cocabo_value near[2][WIDTH] = {{cocabo_real(x_at(3)), cocabo_text("b")},
                                 {cocabo_real(1.0), cocabo_text("b")}};
  double mean[2], sd[2], alone;
  add_results(study, 1.0, 0.0);
  assert_ok(cocabo_study_predict(study, near[0], 2, mean, sd, NULL, &err));
  assert_close(mean[0], truth(x_at(3), 1), 1e-4);
  assert_true(sd[0] < sd[1]);
  assert_ok(cocabo_study_predict(study, near[1], 1, &alone, NULL, NULL, &err));
  assert_true(alone == mean[1]); /* whatever else is asked */
  assert_ok(cocabo_study_predict(study, NULL, 0, NULL, NULL, NULL, &err));
  cocabo_study_free(study);
}

/* Of noisy values the model says the same of a trial, whichever call is asked. */
static void it_agrees_with_what_is_expected(void **state) {
  (void)state;
  for (int m = 0; m < N_MODELS; m++) {
    cocabo_study *study = make_study(models[m], "maximize", "false");
    add_results(study, 1.0, 2.0);
    for (int i = 0; i < 4; i++) {
      const cocabo_value point[WIDTH] = {cocabo_real(x_at(i)),
                                         cocabo_text(i % 2 ? "b" : "a")};
      double mean, sd, value, se;
      assert_ok(cocabo_study_predict(study, point, 1, &mean, &sd, NULL, &err));
      assert_ok(cocabo_study_expected(study, i, &value, &se, &err));
      assert_true(mean == value && sd == se);
    }
    cocabo_study_free(study);
  }
}

/* A twin that is never asked what it predicts proposes the same. */
static void predicting_moves_no_proposal(void **state) {
  (void)state;
  cocabo_value points[POINTS][WIDTH];
  fill_points(points);
  for (int m = 0; m < N_MODELS; m++)
    for (int noisy = 0; noisy < 2; noisy++) {
      cocabo_study *study = make_study(models[m], "minimize", noisy ? "false" : "true");
      cocabo_study *twin = make_study(models[m], "minimize", noisy ? "false" : "true");
      for (int i = 0; i < 16; i++) {
        cocabo_trial *a, *b;
        cocabo_value u[WIDTH], v[WIDTH];
        double mean[POINTS];
        assert_ok(cocabo_study_ask(study, 1, &a, &err));
        assert_ok(cocabo_study_ask(twin, 1, &b, &err));
        assert_ok(cocabo_trial_values(a, u, WIDTH, &err));
        assert_ok(cocabo_trial_values(b, v, WIDTH, &err));
        assert_true(u[0].as.real == v[0].as.real);
        assert_string_equal(u[1].as.text, v[1].as.text);
        const double y = truth(u[0].as.real, u[1].as.text[0] == 'b');
        assert_ok(cocabo_study_tell(study, i, y, &err));
        assert_ok(cocabo_study_tell(twin, i, y, &err));
        if (i > 8)
          assert_ok(cocabo_study_predict(study, points[0], 4, mean, NULL, NULL, &err));
        cocabo_trial_free(a);
        cocabo_trial_free(b);
      }
      cocabo_study_free(study);
      cocabo_study_free(twin);
    }
}

static void no_model_predicts_nothing(void **state) {
  (void)state;
  static const char *const others[] = {"random", "sobol", "tpe"};
  cocabo_value point[2][WIDTH] = {{cocabo_real(0.5), cocabo_text("a")},
                                  {cocabo_real(2.0), cocabo_text("a")}};
  double mean[2] = {-7.0, -7.0}, sd[2] = {-7.0, -7.0};
  for (int i = 0; i < 3; i++) {
    char sentence[80];
    cocabo_study *study = make_study(others[i], "minimize", "true");
    add_results(study, 1.0, 0.0);
    snprintf(sentence, sizeof sentence,
             "sampler %s has no model that would predict anything", others[i]);
    assert_fails(cocabo_study_predict(study, point[0], 1, mean, sd, NULL, &err),
                 COCABO_E_STATE, sentence);
    cocabo_study_free(study);
  }
  cocabo_study *study = make_study("mixed", "minimize", "true");
  assert_fails(cocabo_study_predict(study, point[0], 1, mean, sd, NULL, &err),
               COCABO_E_STATE,
               "a model needs 2 complete trials to predict anything, and there is 0");
  add_results(study, 1.0, 0.0);
  assert_fails(cocabo_study_predict(study, point[0], 2, mean, sd, NULL, &err),
               COCABO_E_RANGE, "point 1: parameter \"x\" is 2, want -1 to 1");
  assert_fails(cocabo_study_predict(study, point[0], 1000001, mean, sd, NULL, &err),
               COCABO_E_RANGE, "n is 1000001, want at most 1000000");
  assert_true(mean[0] == -7.0 && sd[0] == -7.0);
  cocabo_study_free(study);

  const double value = 3.0;
  const char *const names[] = {"x", "c"};
  study = make_study("exp3bo", "minimize", "true");
  for (int i = 0; i < 2; i++)
    assert_ok(cocabo_study_add(study, names, point[0], 2, &value, &err));
  point[0][1] = cocabo_text("b");
  assert_fails(cocabo_study_predict(study, point[0], 1, mean, sd, NULL, &err),
               COCABO_E_STATE,
               "the categories of a point have fewer than 2 results, and exp3bo has a "
               "model for each of them");
  cocabo_study_free(study);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_model_knows_the_function),
      cmocka_unit_test(what_is_known_is_certain),
      cmocka_unit_test(it_agrees_with_what_is_expected),
      cmocka_unit_test(predicting_moves_no_proposal),
      cmocka_unit_test(no_model_predicts_nothing),
  };
  return cmocka_run_group_tests_name("predict", tests, NULL, NULL);
}
