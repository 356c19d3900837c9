/* What is kept of a child's output, and the value read from it. */
#include "run/capture.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "run/outcome.h"

/* ---- the last line -------------------------------------------------------------- */

/* The last line of a text that arrives in pieces of `step` bytes. */
static void assert_last_line(const char *text, const char *want) {
  cli_last_line *line = calloc(1, sizeof *line);
  assert_non_null(line);
  const size_t size = strlen(text);
  for (size_t step = 1; step <= size + 1; step++) {
    cli_last_line_clear(line);
    for (size_t i = 0; i < size; i += step)
      cli_last_line_feed(line, text + i, step < size - i ? step : size - i);
    bool cut = true;
    assert_string_equal(cli_last_line_end(line, &cut), want);
    assert_false(cut);
  }
  free(line);
}

static void the_last_line_with_text_is_kept(void **state) {
  (void)state;
  assert_last_line("", "");
  assert_last_line("\n \n\t\r\n", "");
  assert_last_line("0.25", "0.25");
  assert_last_line("0.25\n", "0.25");
  assert_last_line("first\n0.25\n\n  \n", "0.25");
  assert_last_line("first\r\n  0.75 \r\n\r\n", "0.75");
  assert_last_line("a\nb\nc", "c");
  assert_last_line("10%\r50%\r  \r0.25\r", "0.25");
  assert_last_line("a\n\n\nb\n   ", "b");
}

static void colours_titles_and_links_are_not_kept(void **state) {
  (void)state;
  assert_last_line("\033[32m0.93\033[0m", "0.93");
  assert_last_line("\033[1;38;5;9m0.93\033[K\n", "0.93");
  assert_last_line("0.93\n\033[0m\n \033[?25h", "0.93");
  assert_last_line("\033]0;a title\a0.93", "0.93");
  assert_last_line("\033]8;;http://x\033\\0.93\033]8;;\033\\", "0.93");
  assert_last_line("\033(B\033[m0.93\0337\033=", "0.93");
  assert_last_line("a\033[3", "a");
  assert_last_line("\033]never ended\n0.93", "0.93");
  assert_last_line("\033\033[1m0.93\033", "0.93");
}

static void a_nul_ends_no_line(void **state) {
  (void)state;
  static cli_last_line line;
  bool cut;
  cli_last_line_feed(&line, "3\0004\n", 4);
  assert_string_equal(cli_last_line_end(&line, &cut), "3?4");
}

static void a_line_too_long_is_marked_and_costs_no_memory(void **state) {
  (void)state;
  cli_last_line *line = calloc(1, sizeof *line);
  char *piece = malloc(CLI_LINE_SIZE);
  assert_non_null(line);
  assert_non_null(piece);
  memset(piece, 'x', CLI_LINE_SIZE);
  bool cut;

  cli_last_line_feed(line, piece, CLI_LINE_SIZE);
  assert_int_equal(strlen(cli_last_line_end(line, &cut)), CLI_LINE_SIZE);
  assert_false(cut);
  for (int i = 0; i < 3; i++)
    cli_last_line_feed(line, piece, CLI_LINE_SIZE);
  cli_last_line_end(line, &cut);
  assert_true(cut);
  cli_last_line_feed(line, "\n\n", 2);
  cli_last_line_end(line, &cut);
  assert_true(cut);
  cli_last_line_feed(line, "7\n", 2);
  assert_string_equal(cli_last_line_end(line, &cut), "7");
  assert_false(cut);
  free(piece);
  free(line);
}

/* ---- the end of a stream -------------------------------------------------------- */

static void the_end_of_a_stream_is_kept(void **state) {
  (void)state;
  char text[3 * CLI_TAIL_SIZE + 77], out[CLI_TAIL_SIZE + 1];
  for (size_t i = 0; i < sizeof text; i++)
    text[i] = (char)('a' + i * 7 % 26);
  for (size_t step = 1; step < sizeof text; step = 3 * step + 1) {
    cli_tail tail = {0};
    for (size_t i = 0; i < sizeof text; i += step)
      cli_tail_feed(&tail, text + i, step < sizeof text - i ? step : sizeof text - i);
    cli_tail_text(&tail, out);
    assert_int_equal(strlen(out), CLI_TAIL_SIZE);
    assert_memory_equal(out, text + sizeof text - CLI_TAIL_SIZE, CLI_TAIL_SIZE);
  }
}

static void an_end_inside_a_character_begins_after_it(void **state) {
  (void)state;
  static const char euro[] = "\xe2\x82\xac";
  for (size_t shift = 0; shift < 3; shift++) {
    cli_tail tail = {0};
    for (size_t i = 0; i < CLI_TAIL_SIZE; i++)
      cli_tail_feed(&tail, euro, 3);
    cli_tail_feed(&tail, "xyz", shift);
    char out[CLI_TAIL_SIZE + 1];
    cli_tail_text(&tail, out);
    assert_null(strchr(out, '?'));
    assert_memory_equal(out, euro, 3);
  }
}

static void assert_clean(const char *bytes, const char *want) {
  char out[200];
  cli_clean_text(bytes, strlen(bytes), out);
  assert_string_equal(out, want);
}

static void text_is_cleaned(void **state) {
  (void)state;
  assert_clean("", "");
  assert_clean(" \n a\tb \n", "a\tb");
  assert_clean("\033[1;31mred\033[0m\033[K", "red");
  assert_clean("\033[", "");
  assert_clean("\033]0;a title\aa\033]8;;x\033\\b\033(Bc", "abc");
  assert_clean("\033]never ended\nd", "d");
  assert_clean("10%\r20%\r\ndone", "10%\n20%\ndone");
  assert_clean("bell\a and \x01 delete\x7f", "bell and  delete");
  assert_clean("gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f");
  assert_clean("latin \xfc, overlong \xc0\xaf, cut \xe2\x82",
               "latin ?, overlong ??, cut ??");
  assert_clean("surrogate \xed\xa0\x80 big \xf5\x80\x80\x80", "surrogate ??? big ????");
  assert_clean("\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80");
}

/* ---- values --------------------------------------------------------------------- */

static cli_metrics unwanted;

static void assert_value(const char *text, double want) {
  double value = -1.0;
  if (!cli_parse_result(text, "value", &value, &unwanted))
    fail_msg("\"%s\" is no value", text);
  if (!(value == want) && !(isnan(value) && isnan(want)))
    fail_msg("\"%s\" is %.17g, want %.17g", text, value, want);
}

static void numbers_and_objects_are_values(void **state) {
  (void)state;
  assert_value("0.731", 0.731);
  assert_value(" -12e-3\n", -12e-3);
  assert_value("+7", 7.0);
  assert_value("nan", NAN);
  assert_value("-Infinity", -INFINITY);
  assert_value("1e999", INFINITY);
  assert_value("{\"value\": 0.731}", 0.731);
  assert_value("{\"note\": [1, {\"value\": 2}],\n \"value\": -3}\n", -3.0);
  assert_value("{\"value\": 123456789012345678901234567890}", 1.2345678901234568e29);
}

static void other_texts_are_no_values(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",           " ",
      "loss: 0.5",  "0.5 s",
      "0,5",        "1 2",
      "[0.5]",      "{\"loss\": 0.5}",
      "true",       "{\"value\": \"0.5\"}",
      "0.5}",       "{\"value\": null}",
      "{\"value\"", "{\"value\": 1} {\"value\": 2}",
  };
  double value;
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    if (cli_parse_result(bad[i], "value", &value, &unwanted))
      fail_msg("\"%s\" is taken for %g", bad[i], value);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_last_line_with_text_is_kept),
      cmocka_unit_test(colours_titles_and_links_are_not_kept),
      cmocka_unit_test(a_nul_ends_no_line),
      cmocka_unit_test(a_line_too_long_is_marked_and_costs_no_memory),
      cmocka_unit_test(the_end_of_a_stream_is_kept),
      cmocka_unit_test(an_end_inside_a_character_begins_after_it),
      cmocka_unit_test(text_is_cleaned),
      cmocka_unit_test(numbers_and_objects_are_values),
      cmocka_unit_test(other_texts_are_no_values),
  };
  return cmocka_run_group_tests_name("cli/capture", tests, NULL, NULL);
}
