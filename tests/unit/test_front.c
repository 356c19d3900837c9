/* What the front ends share: arguments, sentences, buffers, shown texts and CSV. */
#include "check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/args.h"
#include "common/base.h"
#include "common/buffer.h"
#include "common/show.h"
#include "io/output.h"
#include "io/scalar.h"
#include "io/sheet.h"

/* ---- arguments ------------------------------------------------------------------- */

typedef struct arguments {
  const char *name, *output;
  bool quiet;
  front_texts items;
} arguments;

static const front_option options[] = {
    {"--name", "N", "", FRONT_TEXT, offsetof(arguments, name)},
    {"", NULL, "Heading", FRONT_HEADING, 0},
    {"-o, --output", "FILE", "", FRONT_TEXT, offsetof(arguments, output)},
    {"-q, --quiet", NULL, "", FRONT_FLAG, offsetof(arguments, quiet)},
    {"-i", "ITEM", "", FRONT_TEXTS, offsetof(arguments, items)},
    {0}};

static cocabo_status parse(arguments *a, front_texts *rest, cocabo_error *err,
                           const char *const *argv) {
  int argc = 0;
  *a = (arguments){0};
  *rest = (front_texts){0};
  while (argv[argc])
    argc++;
  return front_args_parse(options, argc, (char **)argv, a, rest, err);
}

#define ARGS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void every_spelling_of_an_option_works(void **state) {
  (void)state;
  arguments a;
  front_texts rest;
  cocabo_error err;
  assert_ok(parse(&a, &rest, &err,
                  ARGS("--name=a=b", "-q", "-ofile", "x", "-i", "1", "-i2", "-1.5",
                       "-.5", "-inf", "-", "--", "--name", "-q")));
  assert_string_equal(a.name, "a=b");
  assert_string_equal(a.output, "file");
  assert_true(a.quiet);
  assert_int_equal(a.items.n, 2);
  assert_string_equal(a.items.items[1], "2");
  static const char *const want[] = {"x", "-1.5", "-.5", "-inf", "-", "--name", "-q"};
  assert_int_equal(rest.n, 7);
  for (int i = 0; i < rest.n; i++)
    assert_string_equal(rest.items[i], want[i]);
  assert_ok(parse(&a, &rest, &err, ARGS("--output", "-3", "--quiet")));
  assert_string_equal(a.output, "-3");
}

static void slips_are_named(void **state) {
  (void)state;
  arguments a;
  front_texts rest;
  cocabo_error err;
  assert_fails(parse(&a, &rest, &err, ARGS("--ouput", "x")), COCABO_E_NOT_FOUND,
               "unknown option --ouput, did you mean --output?");
  assert_fails(parse(&a, &rest, &err, ARGS("-x")), COCABO_E_NOT_FOUND,
               "unknown option -x, --help shows them all");
  assert_fails(parse(&a, &rest, &err, ARGS("-qx")), COCABO_E_NOT_FOUND,
               "unknown option -qx, did you mean -q?");
  assert_fails(parse(&a, &rest, &err, ARGS("-o")), COCABO_E_INVALID,
               "-o needs a value: -o FILE");
  assert_fails(parse(&a, &rest, &err, ARGS("--output", "--quiet")), COCABO_E_INVALID,
               "--output needs a value: --output FILE");
  assert_fails(parse(&a, &rest, &err, ARGS("--name", "1", "--name", "2")),
               COCABO_E_INVALID, "--name is given twice");
  assert_fails(parse(&a, &rest, &err, ARGS("--quiet=1")), COCABO_E_INVALID,
               "-q, --quiet takes no value");
  assert_int_equal(front_options_end(3, (char *[]){"a", "--", "b"}), 1);
  assert_int_equal(front_options_end(2, (char *[]){"a", "b"}), 2);
}

static void a_guess_is_near_or_none(void **state) {
  (void)state;
  static const struct {
    const char *typed, *known;
    bool near;
  } cases[] = {{"trails", "trials", true}, {"trial", "trials", true},
               {"xyz", "trials", false},   {"ab", "a", false},
               {"ask", "ask", true},       {"", "ask", false}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cb_guess guess = {.word = cases[i].typed};
    cb_guess_consider(&guess, cases[i].known);
    if ((guess.closest != NULL) != cases[i].near)
      fail_msg("\"%s\" for \"%s\"", cases[i].typed, cases[i].known);
  }
}

/* ---- texts ----------------------------------------------------------------------- */

static void a_sentence_may_quote_the_one_before(void **state) {
  (void)state;
  cocabo_error err;
  cb_fail(&err, COCABO_E_RANGE, "inner");
  cb_fail(&err, COCABO_E_INVALID, "outer: %s", err.message);
  assert_string_equal(err.message, "outer: inner");
  char much[600];
  memset(much, 'x', sizeof much);
  memcpy(much + 250, "\xc3\xa9", 3); /* an e with accent over the end */
  cb_fail(&err, COCABO_E_INVALID, "%s", much);
  assert_int_equal(strlen(err.message), 250);
}

static void a_buffer_takes_what_is_longer_than_its_guess(void **state) {
  (void)state;
  front_buffer buffer = {0};
  cocabo_error err;
  char much[1000];
  memset(much, 'y', sizeof much - 1);
  much[sizeof much - 1] = '\0';
  assert_ok(front_buffer_printf(&buffer, &err, "%s-%d", much, 7));
  assert_int_equal(buffer.size, 1001);
  assert_string_equal(front_buffer_text(&buffer, &err) + 999, "-7");
  front_buffer_consume(&buffer, 999);
  assert_string_equal(front_buffer_text(&buffer, &err), "-7");
  front_buffer_free(&buffer);
}

static void shown_texts_are_short_and_harmless(void **state) {
  (void)state;
  char out[CB_SHOWN], much[200];
  assert_string_equal(cb_text_show(out, "a\n\x1b[1m\x7f é"), "a??[1m? é");
  assert_string_equal(cb_text_show(out, "\xff\xc3x\xe2\x80"), "??x??");
  for (size_t n = CB_SHOWN - 6; n < CB_SHOWN + 4; n++) {
    memset(much, 'z', n);
    strcpy(much + n, "é");
    cb_text_show(out, much);
    assert_true(strlen(out) < CB_SHOWN);
    assert_true(strcmp(out, much) == 0 || strcmp(out + strlen(out) - 3, "...") == 0);
  }
  assert_string_equal(show_url(out, "postgresql://me:p@ss/w@host:1/db"),
                      "postgresql://me:***@host:1/db");
  assert_string_equal(show_url(out, "postgresql://me@host:1/db"),
                      "postgresql://me@host:1/db");
  assert_string_equal(show_url(out, "sqlite:////a:b@c.db"), "sqlite:////a:b@c.db");
}

/* Each character that is masked stands between two that are not. */
static void every_character_that_plays_with_a_terminal_is_masked(void **state) {
  (void)state;
  static const unsigned ends[][2] = {
      {0x01, 0x1f},     {0x7f, 0x9f},     {0x61c, 0x61c},  {0x200e, 0x200f},
      {0x2028, 0x202e}, {0x2066, 0x206f}, {0xfeff, 0xfeff}};
  for (unsigned c = 1; c < 0x110000; c++) {
    bool masked = false;
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++)
      masked |= c >= ends[i][0] && c <= ends[i][1];
    assert_int_equal(cb_text_is_control(c), masked);
  }
  front_buffer out = {0};
  cocabo_error err;
  static const char odd[] =
      "a\t\x1b\x7f\xc2\x9b\xd8\x9c\xe2\x80\xa9\xef\xbb\xbf\x9b\xff\xc3é中";
  assert_ok(show_put(&out, odd, &err));
  assert_string_equal(front_buffer_text(&out, &err), "a??????????é中");
  assert_false(show_is_harmless(odd));
  assert_true(show_is_harmless("é中 \xf0\x9f\x99\x82\xef\xbf\xbd"));
  out.size = 0;
  assert_ok(front_put_json_text(&out, odd, &err));
  assert_string_equal(
      front_buffer_text(&out, &err),
      "\"a\\u0009\\u001b\\u007f\\u009b\\u061c\\u2029\\ufeff\\ufffd\\ufffd"
      "\\ufffdé中\"");
  front_buffer_free(&out);
}

/* A file of its own shows what a terminal would get. */
static void bytes_for_a_terminal_keep_lines_and_tabs(void **state) {
  (void)state;
  FILE *file = tmpfile();
  char text[64] = "";
  assert_non_null(file);
  /* The last character is cut in half by the size given. */
  assert_true(show_bytes(file,
                         "a\tb\r\n\x9b"
                         "1m\0é中",
                         13));
  show_line(file, "c\n\xe2\x80\xa8X");
  rewind(file);
  assert_int_equal(fread(text, 1, sizeof text, file), 18);
  assert_string_equal(text, "a\tb?\n?1m?é??c??X\n");
  fclose(file);
}

static void numbers_for_people_have_six_digits(void **state) {
  (void)state;
  static const struct {
    double number;
    const char *shown;
  } cases[] = {{0.12345678901234566, "0.123457"},
               {-123.456789, "-123.457"},
               {9999999.0, "9999999"},
               {1e7, "1e7"},
               {-1234560.0, "-1234560"},
               {1e6, "1000000"},
               {1234567.5, "1.23457e6"},
               {12345678.0, "1.23457e7"},
               {1e-5, "1e-5"},
               {0.30000000000000004, "0.3"},
               {0.0, "0"},
               {5e-324, "4.94066e-324"},
               {1.7976931348623157e308, "1.79769e308"},
               {NAN, "nan"},
               {-INFINITY, "-inf"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char out[CB_DIGITS];
    assert_string_equal(show_number(out, cases[i].number), cases[i].shown);
  }
}

static const char *ending_name(int i) {
  static const char *const names[] = {"csv", "json", "jsonl"};
  return i < 3 ? names[i] : NULL;
}

static void a_files_name_may_say_its_format(void **state) {
  (void)state;
  static const struct {
    const char *path;
    int format;
  } cases[] = {{"a.csv", 0},   {"a.b.JSON", 1}, {"./x/a.jsonl", 2}, {"a", -1},
               {"csv", -1},    {".csv", -1},    {"a.csv/b", -1},    {"x/.csv", -1},
               {"a.csv.", -1}, {"", -1},        {"a.csvx", -1},     {"-", -1}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_int_equal(front_find_ending(cases[i].path, ending_name), cases[i].format);
}

/* ---- values ---------------------------------------------------------------------- */

static void put(char *out, const cocabo_value *value,
                cocabo_status (*fn)(front_buffer *, const cocabo_value *,
                                    cocabo_error *)) {
  front_buffer buffer = {0};
  cocabo_error err;
  assert_ok(fn(&buffer, value, &err));
  strcpy(out, front_buffer_text(&buffer, &err));
  front_buffer_free(&buffer);
}

static void values_have_a_form_for_each_reader(void **state) {
  (void)state;
  static const struct {
    cocabo_value value;
    const char *json, *plain, *shown, *cell;
  } cases[] = {
      {{.type = COCABO_NULL}, "null", "null", "null", "null"},
      {{.type = COCABO_BOOL, .as.boolean = 1}, "true", "true", "true", "true"},
      {{.type = COCABO_INT, .as.integer = -7}, "-7", "-7", "-7", "-7"},
      {{.type = COCABO_REAL, .as.real = 1.0}, "1.0", "1.0", "1.0", "1.0"},
      {{.type = COCABO_REAL, .as.real = -0.0}, "-0.0", "-0.0", "-0.0", "-0.0"},
      {{.type = COCABO_REAL, .as.real = 0.1}, "0.1", "0.1", "0.1", "0.1"},
      {{.type = COCABO_REAL, .as.real = 1e300}, "1e300", "1e300", "1e300", "1e300"},
      {{.type = COCABO_REAL, .as.real = 0x1.fffffffffffffp-1},
       "0.9999999999999999",
       "0.9999999999999999",
       "0.9999999999999999",
       "0.9999999999999999"},
      {{.type = COCABO_TEXT, .as.text = "adam"}, "\"adam\"", "adam", "adam", "adam"},
      {{.type = COCABO_TEXT, .as.text = "a b"}, "\"a b\"", "a b", "\"a b\"", "a b"},
      {{.type = COCABO_TEXT, .as.text = "1"}, "\"1\"", "1", "\"1\"", "\"1\""},
      {{.type = COCABO_TEXT, .as.text = "1.0"}, "\"1.0\"", "1.0", "\"1.0\"", "\"1.0\""},
      {{.type = COCABO_TEXT, .as.text = "null"},
       "\"null\"",
       "null",
       "\"null\"",
       "\"null\""},
      {{.type = COCABO_TEXT, .as.text = ""}, "\"\"", "", "\"\"", "\"\""},
      {{.type = COCABO_TEXT, .as.text = "inf"}, "\"inf\"", "inf", "\"inf\"", "inf"},
      {{.type = COCABO_TEXT, .as.text = "\"\n\\\x01"},
       "\"\\\"\\n\\\\\\u0001\"",
       "\"\n\\\x01",
       "\"\\\"\\n\\\\\\u0001\"",
       "\"\\\"\\n\\\\\\u0001\""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char out[64];
    put(out, &cases[i].value, front_put_json_value);
    assert_string_equal(out, cases[i].json);
    put(out, &cases[i].value, cli_put_plain_value);
    assert_string_equal(out, cases[i].plain);
    put(out, &cases[i].value, cli_put_shown_value);
    assert_string_equal(out, cases[i].shown);
    put(out, &cases[i].value, scalar_put);
    assert_string_equal(out, cases[i].cell);
    /* A cell comes back with its type. */
    cocabo_value back;
    char *text;
    cocabo_error err;
    assert_ok(scalar_parse(out, &back, &text, &err));
    assert_int_equal(back.type, cases[i].value.type);
    if (back.type == COCABO_TEXT)
      assert_string_equal(back.as.text, cases[i].value.as.text);
    if (back.type == COCABO_REAL)
      assert_true(back.as.real == cases[i].value.as.real);
    free(text);
  }
}

static void cells_are_numbers_only_in_full(void **state) {
  (void)state;
  double number;
  for (const char *const *cell =
           (const char *const[]){"1", "-1.5", "+2", ".5", "1.", "1e-3", "-0", NULL};
       *cell; cell++)
    assert_true(scalar_is_number(*cell, &number));
  for (const char *const *cell =
           (const char *const[]){"", "-", ".", "e5", "1x", " 1", "1 ", "0x10", "inf",
                                 "nan", "1e999", "1,5", "--1", NULL};
       *cell; cell++)
    if (scalar_is_number(*cell, &number))
      fail_msg("\"%s\" is a number", *cell);
}

/* ---- CSV ------------------------------------------------------------------------- */

static void a_sheet_has_its_cells_and_lines(void **state) {
  (void)state;
  static const char text[] = "\xef\xbb\xbf"
                             "a,\"b\"\"\n,\",\r\n\r\n\"\",x y, z\nlast,,";
  sheet s;
  cocabo_error err;
  assert_ok(sheet_parse(&s, "f.csv", text, sizeof text - 1, &err));
  static const char *const cells[] = {"a",  "b\"\n,", "", "", "x y",
                                      " z", "last",   "", ""};
  assert_int_equal(s.n_rows, 3);
  assert_int_equal(s.n_cells, 9);
  for (size_t i = 0; i < 9; i++)
    assert_string_equal(s.cells[i], cells[i]);
  assert_int_equal(s.rows[1].line, 4);
  assert_int_equal(s.rows[2].line, 5);
  assert_int_equal(s.rows[2].n, 3);
  sheet_free(&s);
}

static void bad_sheets_are_refused(void **state) {
  (void)state;
  sheet s;
  cocabo_error err;
  assert_fails(sheet_parse(&s, "f.csv", "a\n\"b\nc", 6, &err), COCABO_E_INVALID,
               "f.csv, line 2: a quote has no end");
  assert_fails(sheet_parse(&s, "f.csv", "a\n\"b\"c", 6, &err), COCABO_E_INVALID,
               "f.csv, line 2: a quoted cell goes on behind its quote");
  assert_fails(sheet_parse(&s, "f.csv", "a\0b", 3, &err), COCABO_E_INVALID,
               "f.csv, line 1: a cell has a NUL character");
  assert_ok(sheet_parse(&s, "f.csv", "", 0, &err));
  assert_int_equal(s.n_rows, 0);
  sheet_free(&s);
}

static void what_is_put_into_a_sheet_comes_out_again(void **state) {
  (void)state;
  static const char *const cells[] = {"", "a", " b ", "c,d", "\"", "\"e\"\n\r\nf", "é"};
  front_buffer text = {0};
  cocabo_error err;
  sheet s;
  for (size_t i = 0; i < 7; i++) {
    assert_ok(front_buffer_puts(&text, i > 0 ? "," : "", &err));
    assert_ok(sheet_put(&text, cells[i], strlen(cells[i]), &err));
  }
  assert_ok(sheet_parse(&s, "f.csv", text.data, text.size, &err));
  assert_int_equal(s.n_cells, 7);
  for (size_t i = 0; i < 7; i++)
    assert_string_equal(s.cells[i], cells[i]);
  sheet_free(&s);
  front_buffer_free(&text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_spelling_of_an_option_works),
      cmocka_unit_test(slips_are_named),
      cmocka_unit_test(a_guess_is_near_or_none),
      cmocka_unit_test(a_sentence_may_quote_the_one_before),
      cmocka_unit_test(a_buffer_takes_what_is_longer_than_its_guess),
      cmocka_unit_test(shown_texts_are_short_and_harmless),
      cmocka_unit_test(every_character_that_plays_with_a_terminal_is_masked),
      cmocka_unit_test(bytes_for_a_terminal_keep_lines_and_tabs),
      cmocka_unit_test(numbers_for_people_have_six_digits),
      cmocka_unit_test(a_files_name_may_say_its_format),
      cmocka_unit_test(values_have_a_form_for_each_reader),
      cmocka_unit_test(cells_are_numbers_only_in_full),
      cmocka_unit_test(a_sheet_has_its_cells_and_lines),
      cmocka_unit_test(bad_sheets_are_refused),
      cmocka_unit_test(what_is_put_into_a_sheet_comes_out_again),
  };
  return cmocka_run_group_tests_name("cli/front", tests, NULL, NULL);
}
