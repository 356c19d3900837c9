#include "check.h"

#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "study/options.h"

static cocabo_error err;

static cocabo_space *space_of(int d, int c) {
  cocabo_space *s = cocabo_space_new();
  const cocabo_value choices[] = {{.type = COCABO_INT, .as.integer = 1},
                                  {.type = COCABO_INT, .as.integer = 2}};
  char name[16];
  for (int i = 0; i < d; i++) {
    snprintf(name, sizeof name, "x%d", i);
    assert_ok(cocabo_space_add_real(s, name, 0, 1, 0, 0, &err));
  }
  for (int i = 0; i < c; i++) {
    snprintf(name, sizeof name, "h%d", i);
    assert_ok(cocabo_space_add_choice(s, name, choices, 2, 0, &err));
  }
  return s;
}

static cb_resolved resolve(const char *name, const char *value) {
  cocabo_options *o = cocabo_options_new();
  cocabo_space *s = space_of(2, 1);
  cb_resolved r;
  assert_ok(cocabo_options_set(o, name, value, &err));
  assert_string_equal(cocabo_options_get(o, name), value);
  cb_settings_resolve(o, s, &r);
  cocabo_options_free(o);
  cocabo_space_free(s);
  return r;
}

static void every_default_is_a_value_that_set_accepts(void **state) {
  (void)state;
  cocabo_options *o = cocabo_options_new();
  size_t n = 0;
  for (; cocabo_option_name(n); n++) {
    assert_string_equal(cocabo_options_get(o, cocabo_option_name(n)),
                        cocabo_option_default(n));
    assert_ok(
        cocabo_options_set(o, cocabo_option_name(n), cocabo_option_default(n), &err));
    assert_true(strlen(cocabo_option_type(n)) > 0);
    assert_true(strlen(cocabo_option_help(n)) > 10);
  }
  assert_int_equal(n, 29);
  assert_null(cocabo_option_default(n));
  assert_null(cocabo_option_type(n));
  assert_null(cocabo_option_help(n));
  assert_null(cocabo_option_name(SIZE_MAX));
  cocabo_options_free(o);
}

static void every_sampler_has_a_line(void **state) {
  (void)state;
  cocabo_options *o = cocabo_options_new();
  size_t n = 0;
  for (; cocabo_sampler_name(n); n++) {
    assert_ok(cocabo_options_set(o, "sampler", cocabo_sampler_name(n), &err));
    assert_true(strlen(cocabo_sampler_help(n)) > 10);
  }
  assert_int_equal(n, 8);
  assert_string_equal(cocabo_sampler_name(0), "mixed");
  assert_null(cocabo_sampler_help(n));
  assert_null(cocabo_sampler_name(SIZE_MAX));
  cocabo_options_free(o);
}

static void defaults_resolve_as_documented(void **state) {
  (void)state;
  cocabo_options *o = cocabo_options_new();
  cocabo_space *small = space_of(2, 1), *large = space_of(7, 5);
  cb_resolved r;
  cb_settings_resolve(o, small, &r);
  assert_string_equal(r.sampler->name, "mixed");
  assert_int_equal(r.settings.seed, 0);
  assert_int_equal(r.settings.n_init, 8);
  assert_int_equal(r.settings.horizon, 0);
  assert_true(r.settings.deterministic);
  assert_true(r.settings.lambda_auto);
  assert_true(r.settings.kernel_sum_half);
  assert_true(r.settings.ard);
  assert_int_equal(r.settings.acquisition, CB_LOGEI);
  assert_true(r.settings.kappa == 2.0);
  assert_int_equal(r.settings.reward, CB_REWARD_RELATIVE);
  assert_false(r.settings.bandit_init);
  assert_true(r.settings.cut_outliers);
  assert_int_equal(r.settings.refit_every, 0);
  assert_int_equal(r.settings.samples, 5000);
  assert_int_equal(r.settings.model_size, 1000);
  const cb_settings cocabo = resolve("sampler", "cocabo").settings;
  assert_false(cocabo.ard);
  assert_int_equal(cocabo.acquisition, CB_UCB);
  assert_int_equal(cocabo.refit_every, 10);
  assert_int_equal(resolve("sampler", "smac").settings.acquisition, CB_EI);
  cb_settings_resolve(o, large, &r);
  assert_int_equal(r.settings.n_init, 10); /* mixed has the others later, */
  assert_ok(cocabo_options_set(o, "sampler", "cocabo", &err));
  cb_settings_resolve(o, large, &r);
  assert_int_equal(r.settings.n_init, 24); /* 2 (7 + 5) + 2 is more */
  cocabo_options_free(o);
  cocabo_space_free(small);
  cocabo_space_free(large);
}

static void every_option_reaches_the_settings(void **state) {
  (void)state;
  assert_true(resolve("seed", "9223372036854775807").settings.seed == INT64_MAX);
  assert_string_equal(resolve("sampler", "random").sampler->name, "random");
  assert_int_equal(resolve("n_init", "0").settings.n_init, 0);
  assert_int_equal(resolve("horizon", "200").settings.horizon, 200);
  assert_false(resolve("deterministic", "false").settings.deterministic);
  assert_true(resolve("lambda", "0.75").settings.lambda == 0.75);
  assert_false(resolve("lambda", "1").settings.lambda_auto);
  assert_false(resolve("kernel_sum", "paper").settings.kernel_sum_half);
  assert_true(resolve("ard", "true").settings.ard);
  assert_false(resolve("ard", "false").settings.ard);
  assert_int_equal(resolve("acquisition", "ucb").settings.acquisition, CB_UCB);
  assert_int_equal(resolve("acquisition", "ei").settings.acquisition, CB_EI);
  assert_int_equal(resolve("acquisition", "logei").settings.acquisition, CB_LOGEI);
  assert_true(resolve("kappa", "1.5e-3").settings.kappa == 1.5e-3);
  assert_int_equal(resolve("reward", "relative").settings.reward, CB_REWARD_RELATIVE);
  assert_int_equal(resolve("reward", "standard").settings.reward, CB_REWARD_STANDARD);
  assert_int_equal(resolve("reward", "best").settings.reward, CB_REWARD_BEST);
  assert_int_equal(resolve("reward", "value").settings.reward, CB_REWARD_VALUE);
  assert_int_equal(resolve("reward", "rank").settings.reward, CB_REWARD_RANK);
  assert_true(resolve("bandit_init", "true").settings.bandit_init);
  assert_false(resolve("outliers", "keep").settings.cut_outliers);
  assert_int_equal(resolve("refit_every", "1").settings.refit_every, 1);
  assert_int_equal(resolve("samples", "17").settings.samples, 17);
  assert_int_equal(resolve("model_size", "10").settings.model_size, 10);
  assert_int_equal(resolve("trials", "50").trials, 50);
  assert_int_equal(resolve("seed", "1").trials, 0);
  assert_true(resolve("durability", "full").durable);
  assert_false(resolve("durability", "normal").durable);
}

static void bad_values_are_named_and_change_nothing(void **state) {
  (void)state;
  cocabo_options *o = cocabo_options_new();
  assert_ok(cocabo_options_set(o, "kappa", "3", &err));
#define BAD(name, value, want)                                                         \
  assert_fails(cocabo_options_set(o, name, value, &err), COCABO_E_INVALID,             \
               "option " name " is \"" value "\", want " want)
  BAD("kappa", "abc", "a number >= 0");
  BAD("kappa", "", "a number >= 0");
  BAD("kappa", "-1", "a number >= 0");
  BAD("kappa", "nan", "a number >= 0");
  BAD("kappa", "inf", "a number >= 0");
  BAD("kappa", "infinity", "a number >= 0");
  BAD("kappa", "0x10", "a number >= 0");
  BAD("kappa", "1e999", "a number >= 0");
  BAD("kappa", "2 ", "a number >= 0");
  BAD("kappa", " 2", "a number >= 0");
  BAD("kappa", "2,5", "a number >= 0");
  BAD("kappa", "+2", "a number >= 0");
  BAD("kappa", ".", "a number >= 0");
  BAD("kappa", "1e", "a number >= 0");
  BAD("kappa", "1e+", "a number >= 0");
  BAD("kappa", "e5", "a number >= 0");
  BAD("kappa", "1.2.3", "a number >= 0");
  BAD("kappa", "auto", "a number >= 0");
  BAD("lambda", "1.0000001", "auto or a number in [0,1]");
  BAD("lambda", "Auto", "auto or a number in [0,1]");
  BAD("seed", "-1", "an int >= 0");
  BAD("seed", "9223372036854775808", "an int >= 0");
  BAD("seed", "99999999999999999999999", "an int >= 0");
  BAD("seed", "1.0", "an int >= 0");
  BAD("seed", "1e3", "an int >= 0");
  BAD("seed", "-", "an int >= 0");
  BAD("seed", "", "an int >= 0");
  BAD("seed", "auto", "an int >= 0");
  BAD("refit_every", "0", "auto or an int >= 1");
  BAD("n_init", "-1", "auto or an int >= 0");
  BAD("model_size", "9", "an int >= 10");
  BAD("samples", "0", "an int in [1,10000000]");
  BAD("samples", "10000001", "an int in [1,10000000]");
  BAD("deterministic", "True", "true|false");
  BAD("deterministic", "1", "true|false");
  BAD("deterministic", "", "true|false");
  BAD("deterministic", "tru", "true|false");
  BAD("deterministic", "true|false", "true|false");
  BAD("direction", "max", "minimize|maximize");
  BAD("durability", "none", "normal|full");
  BAD("trials", "-1", "an int >= 0");
  BAD("trials", "auto", "an int >= 0");
#undef BAD
  assert_int_equal(cocabo_options_set(o, "sampler", "foo", &err), COCABO_E_INVALID);
  assert_non_null(strstr(err.message, "option sampler is \"foo\", want mixed|cocabo|"));
  assert_fails(cocabo_options_set(o, "kappa", "a\nb", &err), COCABO_E_INVALID,
               "option kappa is \"a?b\", want a number >= 0");
  char longest[150];
  memset(longest, '1', sizeof longest);
  longest[149] = '\0';
  assert_int_equal(cocabo_options_set(o, "kappa", longest, &err), COCABO_E_INVALID);
  assert_string_equal(cocabo_options_get(o, "kappa"), "3");
  cocabo_options_free(o);
}

static void unknown_options_are_guessed(void **state) {
  (void)state;
  cocabo_options *o = cocabo_options_new();
  assert_fails(cocabo_options_set(o, "kapa", "1", &err), COCABO_E_NOT_FOUND,
               "no option \"kapa\", did you mean \"kappa\"?");
  assert_fails(cocabo_options_set(o, "refit-evry", "1", &err), COCABO_E_NOT_FOUND,
               "no option \"refit-evry\", did you mean \"refit_every\"?");
  assert_fails(cocabo_options_set(o, "foo", "1", &err), COCABO_E_NOT_FOUND,
               "no option \"foo\"");
  assert_fails(cocabo_options_set(o, "", "1", &err), COCABO_E_NOT_FOUND,
               "no option \"\"");
  assert_fails(cocabo_options_set(NULL, "kappa", "1", &err), COCABO_E_INVALID,
               "options is NULL");
  assert_fails(cocabo_options_set(o, NULL, "1", &err), COCABO_E_INVALID,
               "option name is NULL");
  assert_fails(cocabo_options_set(o, "kappa", NULL, &err), COCABO_E_INVALID,
               "option kappa is NULL");
  assert_int_equal(cocabo_options_set(o, "foo", "1", NULL), COCABO_E_NOT_FOUND);
  assert_null(cocabo_options_get(o, "foo"));
  assert_null(cocabo_options_get(o, NULL));
  assert_null(cocabo_options_get(NULL, "kappa"));
  cocabo_options_free(o);
  cocabo_options_free(NULL);
}

static void numbers_are_read_exactly(void **state) {
  (void)state;
  double number;
  int64_t integer;
  const struct {
    const char *text;
    double want;
  } cases[] = {{"0.1", 0.1},
               {"-2.5", -2.5},
               {".5", 0.5},
               {"2.", 2.0},
               {"1E-3", 1e-3},
               {"17976931348623157e292", 0x1.fffffffffffffp1023},
               {"4.9e-324", 4.9e-324},
               {"1e-999", 0.0},
               {"-0", 0.0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_true(cb_parse_number(cases[i].text, &number));
    assert_true(number == cases[i].want);
  }
  assert_true(cb_parse_int("-9223372036854775808", &integer));
  assert_true(integer == INT64_MIN);
  assert_false(cb_parse_int("-9223372036854775809", &integer));
  assert_true(cb_parse_int("007", &integer));
  assert_int_equal(integer, 7);
}

/* Where the machine has a locale with a decimal comma; elsewhere there is nothing to
 * see, and the test is skipped. */
static void the_locale_does_not_matter(void **state) {
  (void)state;
  const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  bool found = false;
  for (size_t i = 0; i < 4 && !found; i++)
    found = setlocale(LC_NUMERIC, names[i]) != NULL;
  if (!found)
    skip();
  const bool read = resolve("kappa", "2.5").settings.kappa == 2.5;
  double number;
  const bool comma = cb_parse_number("2,5", &number);
  setlocale(LC_NUMERIC, "C");
  assert_true(read);
  assert_false(comma);
}

static void the_list_has_every_option_with_its_value(void **state) {
  (void)state;
  cocabo_options *o = cocabo_options_new();
  assert_ok(cocabo_options_set(o, "kappa", "2.25", &err));
  cocabo_options *copy = cb_options_copy(o);
  cocabo_options_free(o);
  cb_event event = {0};
  assert_ok(cb_options_list(copy, &event.options, &event.n_options, &err));
  assert_int_equal(event.n_options, 29);
  for (int i = 0; i < event.n_options; i++) {
    assert_string_equal(event.options[i].name, cocabo_option_name((size_t)i));
    assert_string_equal(event.options[i].value,
                        strcmp(event.options[i].name, "kappa") == 0
                            ? "2.25"
                            : cocabo_option_default((size_t)i));
  }
  cb_event_clear(&event);
  cocabo_options_free(copy);
}

static void a_failed_allocation_keeps_the_old_value(void **state) {
  (void)state;
  cocabo_options *o = cocabo_options_new();
  assert_ok(cocabo_options_set(o, "kappa", "3", &err));
  cb_mem_fail_after(0);
  assert_fails(cocabo_options_set(o, "kappa", "4", &err), COCABO_E_NO_MEMORY,
               "out of memory");
  assert_string_equal(cocabo_options_get(o, "kappa"), "3");
  cb_mem_fail_after(0);
  assert_null(cocabo_options_new());
  cb_mem_fail_after(1);
  assert_null(cb_options_copy(o));
  cb_event event = {0};
  for (int k = 0; k < 37; k++) {
    cb_mem_fail_after(k);
    assert_int_equal(cb_options_list(o, &event.options, &event.n_options, &err),
                     COCABO_E_NO_MEMORY);
    assert_null(event.options);
  }
  cb_mem_fail_after(-1);
  cocabo_options_free(o);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_default_is_a_value_that_set_accepts),
      cmocka_unit_test(every_sampler_has_a_line),
      cmocka_unit_test(defaults_resolve_as_documented),
      cmocka_unit_test(every_option_reaches_the_settings),
      cmocka_unit_test(bad_values_are_named_and_change_nothing),
      cmocka_unit_test(unknown_options_are_guessed),
      cmocka_unit_test(numbers_are_read_exactly),
      cmocka_unit_test(the_locale_does_not_matter),
      cmocka_unit_test(the_list_has_every_option_with_its_value),
      cmocka_unit_test(a_failed_allocation_keeps_the_old_value),
  };
  return cmocka_run_group_tests_name("study/options", tests, NULL, NULL);
}
