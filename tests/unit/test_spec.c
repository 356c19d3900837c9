/* What a study shall be: flags and file together, the words of a command, and what a
 * study keeps of it. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "io/spec.h"
#include "io/spec_file.h"
#include "io/words.h"

/* ---- words ----------------------------------------------------------------------- */

static void splits_into(const char *line, const char *json) {
  char **words, *got;
  cocabo_error err;
  assert_ok(words_split(line, &words, &err));
  assert_ok(words_to_json(words, &got, &err));
  assert_string_equal(got, json);
  words_free(words);
  /* and back */
  assert_ok(words_from_json(json, &words, &err));
  free(got);
  assert_ok(words_to_json(words, &got, &err));
  assert_string_equal(got, json);
  words_free(words);
  free(got);
}

static void words_are_split_like_in_a_shell(void **state) {
  (void)state;
  splits_into("a", "[\"a\"]");
  splits_into("  a\t b  ", "[\"a\",\"b\"]");
  splits_into("a\n\n", "[\"a\"]");
  splits_into("'a b'c\"d e\"f", "[\"a bcd ef\"]");
  splits_into("'' \"\"", "[\"\",\"\"]");
  splits_into("a\\ b \\'", "[\"a b\",\"'\"]");
  splits_into("\"a\\\"b\\\\c\\d\"", "[\"a\\\"b\\\\c\\\\d\"]");
  splits_into("--lr={lr} {opt} a=b x~ #1 5%", "[\"--lr={lr}\",\"{opt}\",\"a=b\",\"x~\","
                                              "\"#1\",\"5%\"]");
  splits_into("'|&;<>()$`*?[]~' \"|;*\"", "[\"|&;<>()$`*?[]~\",\"|;*\"]");
  splits_into("é 'a\nb'", "[\"é\",\"a\\nb\"]");
}

static void what_needs_a_shell_is_refused(void **state) {
  (void)state;
  char **words;
  cocabo_error err;
  for (const char *c = "|&;<>()$`*?[]"; *c; c++) {
    char line[16], sentence[120];
    snprintf(line, sizeof line, "a %cb", *c);
    snprintf(
        sentence, sizeof sentence,
        "command has %c, which needs a shell: quote it, or write [sh, -c, \"...\"]",
        *c);
    assert_fails(words_split(line, &words, &err), COCABO_E_INVALID, sentence);
  }
  assert_int_equal(words_split("\"$a\"", &words, &err), COCABO_E_INVALID);
  assert_int_equal(words_split("~/a", &words, &err), COCABO_E_INVALID);
  assert_fails(words_split("a 'b", &words, &err), COCABO_E_INVALID,
               "command has a ' without its end");
  assert_fails(words_split("a \"b", &words, &err), COCABO_E_INVALID,
               "command has a \" without its end");
  assert_fails(words_split(" \n", &words, &err), COCABO_E_INVALID,
               "command is empty, want a program");
  assert_fails(
      words_split("a\nb", &words, &err), COCABO_E_INVALID,
      "command has several lines, which need a shell: write [sh, -c, \"...\"]");
}

static void a_stored_command_that_is_none_is_refused(void **state) {
  (void)state;
  char **words;
  cocabo_error err;
  for (const char *const *json =
           (const char *const[]){"", "[]", "[1]", "{}", "\"a\"", "[\"a\"", NULL};
       *json; json++)
    assert_fails(words_from_json(*json, &words, &err), COCABO_E_STATE,
                 "the study's command is not a list of texts");
}

/* ---- files and flags ------------------------------------------------------------- */

/* A file in the folder that the test runs in. */
static const char *const path = "test_spec.yaml";

static void write_file(const char *text) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fputs(text, file);
  fclose(file);
}

static int remove_file(void **state) {
  (void)state;
  unlink(path);
  return 0;
}

static void nothing_said_is_nothing(void **state) {
  (void)state;
  cli_spec spec;
  cocabo_error err;
  const cli_spec_args args = {0};
  assert_ok(cli_spec_read(&spec, &args, NULL, 0, &err));
  assert_null(spec.study);
  assert_null(spec.space);
  assert_null(spec.command);
  assert_int_equal(spec.options.n, 0);
  assert_int_equal(spec.trials, -1);
  assert_int_equal(spec.workers, -1);
  assert_int_equal(spec.retries, -1);
  assert_true(isnan(spec.timeout) && isnan(spec.trial_timeout));
  cli_spec_clear(&spec);
}

static const char file_text[] = "study: s\n"
                                "parameters: {a: {type: int, low: 1, high: 3},\n"
                                "             b: 'float(0,1)'}\n"
                                "direction: maximize\n"
                                "options: {kappa: 1.50, seed: 3}\n"
                                "command: prog {a}\n"
                                "trials: 5\nworkers: 2\nretries: 0\n"
                                "timeout: 7\ntrial_timeout: 0.5\n";

static void a_file_says_everything(void **state) {
  (void)state;
  write_file(file_text);
  cli_spec spec;
  cocabo_error err;
  const cli_spec_args args = {.file = path};
  assert_ok(cli_spec_read(&spec, &args, NULL, 0, &err));
  assert_string_equal(spec.study, "s");
  assert_int_equal(cocabo_space_count(spec.space), 2);
  assert_string_equal(cli_pairs_get(&spec.options, "direction"), "maximize");
  assert_string_equal(cli_pairs_get(&spec.options, "kappa"), "1.5");
  assert_string_equal(cli_pairs_get(&spec.options, "trials"), "5");
  assert_string_equal(spec.command[1], "{a}");
  assert_null(spec.command[2]);
  assert_int_equal(spec.trials, 5);
  assert_int_equal(spec.workers, 2);
  assert_int_equal(spec.retries, 0);
  assert_true(spec.timeout == 7.0 && spec.trial_timeout == 0.5);
  cli_spec_clear(&spec);
}

static void flags_override_the_file(void **state) {
  (void)state;
  write_file(file_text);
  cli_spec spec;
  cocabo_error err;
  const cli_spec_args args = {.file = path,
                              .parameters = {2, {"c=int(4,5)", "a=int(6,7)"}},
                              .settings = {1, {"kappa=3"}},
                              .trials = "8",
                              .workers = "1",
                              .timeout = "0",
                              .minimize = true};
  char *command[] = {"other", "{b}"};
  assert_ok(cli_spec_read(&spec, &args, command, 2, &err));
  static const char *const names[] = {"a", "b", "c"};
  static const char *const domains[] = {"int(6,7)", "float(0,1)", "int(4,5)"};
  for (size_t i = 0; i < 3; i++) {
    char *domain = cocabo_space_domain(spec.space, i);
    assert_string_equal(cocabo_space_name(spec.space, i), names[i]);
    assert_string_equal(domain, domains[i]);
    cocabo_text_free(domain);
  }
  assert_string_equal(cli_pairs_get(&spec.options, "direction"), "minimize");
  assert_string_equal(cli_pairs_get(&spec.options, "kappa"), "3");
  assert_string_equal(cli_pairs_get(&spec.options, "seed"), "3");
  assert_string_equal(cli_pairs_get(&spec.options, "trials"), "8");
  assert_int_equal(spec.trials, 8);
  assert_string_equal(spec.command[0], "other");
  assert_true(spec.timeout == 0.0 && spec.trial_timeout == 0.5);
  cli_spec_clear(&spec);
}

/* ---- conditions and rules -------------------------------------------------------- */

static const char ruled_text[] = "parameters:\n"
                                 "  a: choice(x,y)\n"
                                 "  b: {type: int, low: 1, high: 3, if: a == y}\n"
                                 "where: [b != 2, a == x or b > 1]\n";

static void rules_come_from_the_file_and_the_flags(void **state) {
  (void)state;
  write_file(ruled_text);
  cli_spec spec;
  cocabo_error err;
  const cli_spec_args args = {
      .file = path, .parameters = {1, {"c=int(0,9) if b > 1"}}, .rules = {1, {"c<8"}}};
  assert_ok(cli_spec_read(&spec, &args, NULL, 0, &err));
  assert_string_equal(cocabo_space_get_condition(spec.space, 1), "a == \"y\"");
  assert_string_equal(cocabo_space_get_condition(spec.space, 2), "b > 1");
  static const char *const rules[] = {"b != 2", "a == \"x\" or b > 1", "c < 8"};
  for (size_t k = 0; k < 3; k++)
    assert_string_equal(cocabo_space_get_rule(spec.space, k), rules[k]);
  assert_null(cocabo_space_get_rule(spec.space, 3));
  assert_string_equal(spec.rules[2], "c<8"); /* as it was said */
  assert_null(spec.rules[3]);
  cli_spec_clear(&spec);
}

/* Flags are about the parameters of the base, too. */
static void what_is_not_said_is_as_in_the_base(void **state) {
  (void)state;
  write_file(ruled_text);
  cli_spec base, spec;
  cocabo_error err;
  const cli_spec_args file = {.file = path};
  assert_ok(cli_spec_read(&base, &file, NULL, 0, &err));
  const front_texts none = {0}, drop_b = {1, {"b=1"}};
  cli_spec_args args = {.parameters = {2, {"c=bool if b == 3", "a=choice(x,y,z)"}},
                        .base = base.space,
                        .given = &none};
  assert_ok(cli_spec_read(&spec, &args, NULL, 0, &err));
  assert_string_equal(cocabo_space_name(spec.space, 0), "a");
  assert_int_equal(cocabo_space_choices(spec.space, 0), 3);
  assert_string_equal(cocabo_space_get_condition(spec.space, 2), "b == 3");
  assert_string_equal(cocabo_space_get_rule(spec.space, 1), "a == \"x\" or b > 1");
  cli_spec_clear(&spec);
  args.rules = (front_texts){1, {"b < 3"}};
  assert_ok(cli_spec_read(&spec, &args, NULL, 0, &err));
  assert_string_equal(cocabo_space_get_rule(spec.space, 0), "b < 3");
  assert_null(cocabo_space_get_rule(spec.space, 1));
  cli_spec_clear(&spec);
  args = (cli_spec_args){.base = base.space, .given = &drop_b};
  assert_int_equal(cli_spec_read(&spec, &args, NULL, 0, &err), COCABO_E_INVALID);
  cli_spec_clear(&base);
}

static void reading_survives_a_lack_of_memory(void **state) {
  (void)state;
  write_file(ruled_text);
  const cli_spec_args args = {
      .file = path, .parameters = {1, {"c=int(0,9) if b > 1"}}, .rules = {1, {"c<8"}}};
  cocabo_status status = COCABO_E_NO_MEMORY;
  for (int k = 0; status != COCABO_OK; k++) {
    cli_spec spec;
    cocabo_error err;
    cb_mem_fail_after(k);
    status = cli_spec_read(&spec, &args, NULL, 0, &err);
    cb_mem_fail_after(-1);
    assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
    cli_spec_clear(&spec);
  }
}

/* ---- what a study keeps ---------------------------------------------------------- */

static void a_study_recalls_what_it_was_told(void **state) {
  (void)state;
  write_file(file_text);
  cli_spec spec, bare;
  cocabo_error err;
  const cli_spec_args args = {.file = path}, none = {0};
  const cli_common common = {.storage = "memory:"};
  cli_session session;
  bool created;
  assert_ok(cli_spec_read(&spec, &args, NULL, 0, &err));
  assert_ok(cli_spec_open(&spec, &common, &session, &created, &err));
  assert_true(created);
  assert_string_equal(cocabo_study_name(session.study), "s");
  assert_ok(cli_spec_read(&bare, &none, NULL, 0, &err));
  assert_ok(cli_spec_recall(&bare, session.study, &err));
  assert_string_equal(bare.command[0], "prog");
  assert_string_equal(bare.command[1], "{a}");
  assert_int_equal(bare.trials, 5);
  assert_int_equal(bare.workers, 2);
  assert_int_equal(bare.retries, 0);
  assert_true(bare.timeout == 7.0 && bare.trial_timeout == 0.5);
  /* What was said anew stays. */
  bare.workers = 4;
  assert_ok(cli_spec_recall(&bare, session.study, &err));
  assert_int_equal(bare.workers, 4);
  cli_spec_clear(&bare);
  cli_spec_clear(&spec);
  cli_close(&session);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(words_are_split_like_in_a_shell),
      cmocka_unit_test(what_needs_a_shell_is_refused),
      cmocka_unit_test(a_stored_command_that_is_none_is_refused),
      cmocka_unit_test(nothing_said_is_nothing),
      cmocka_unit_test_teardown(a_file_says_everything, remove_file),
      cmocka_unit_test_teardown(flags_override_the_file, remove_file),
      cmocka_unit_test_teardown(rules_come_from_the_file_and_the_flags, remove_file),
      cmocka_unit_test_teardown(what_is_not_said_is_as_in_the_base, remove_file),
      cmocka_unit_test_teardown(reading_survives_a_lack_of_memory, remove_file),
      cmocka_unit_test_teardown(a_study_recalls_what_it_was_told, remove_file),
  };
  return cmocka_run_group_tests_name("cli/spec", tests, NULL, NULL);
}
