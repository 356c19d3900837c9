/* Commands whose words have holes. */
#include "run/template.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

/* One point: every domain has a single value that shows its type. */
static const char *const domains[][2] = {
    {"lr", "float(0.25,0.25)"},
    {"learning_rate", "float(1e-05,1e-05)"},
    {"units", "int(64,64)"},
    {"flag", "choice(true)"},
    {"text", "choice(\"a b\")"},
    {"none", "choice(null)"},
    {"odd}name", "choice(1.0)"},
    {"lr2", "choice(\"{units}\")"},
    {"momentum", "ordinal(small)"},
    {"gone", "int(1,1) if units < 10"},
    {"here", "int(7,7) if units > 10"},
    {"gone:-odd", "choice(odd)"},
};

typedef struct fixture {
  cocabo_space *space;
  cocabo_study *study;
  cocabo_trial *trial;
} fixture;

static int set_up(void **state) {
  static fixture f;
  cocabo_error err;
  f.space = cocabo_space_new();
  for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
    if (cocabo_space_add(f.space, domains[i][0], domains[i][1], &err) != COCABO_OK)
      return -1;
  *state = &f;
  return cocabo_study_create(&f.study, "s", f.space, NULL, NULL, &err) == COCABO_OK &&
                 cocabo_study_ask(f.study, 1, &f.trial, &err) == COCABO_OK
             ? 0
             : -1;
}

static int tear_down(void **state) {
  fixture *f = *state;
  cocabo_trial_free(f->trial);
  cocabo_study_free(f->study);
  cocabo_space_free(f->space);
  return 0;
}

static void assert_filled(const fixture *f, const char *word, const char *want) {
  char *const words[] = {"program", (char *)word, "end", NULL};
  char **out;
  cocabo_error err;
  assert_ok(cli_template_check(words, f->space, &err));
  assert_ok(cli_template_fill(words, f->space, f->trial, &out, &err));
  assert_string_equal(out[0], "program");
  assert_string_equal(out[1], want);
  assert_string_equal(out[2], "end");
  assert_null(out[3]);
  free(out);
}

static void holes_are_filled(void **state) {
  const fixture *f = *state;
  assert_filled(f, "{lr}", "0.25");
  assert_filled(f, "--lr={learning_rate}", "--lr=1e-5");
  assert_filled(f, "{units}{units}", "6464");
  assert_filled(f, "{flag}/{none}/{text}", "true/null/a b");
  assert_filled(f, "{odd}name}", "1.0");
  assert_filled(f, "out-{trial}.txt", "out-0.txt");
  assert_filled(f, "{momentum}", "small");
  assert_filled(f, "{lr2}", "{units}"); /* a value is not a template */
}

static void other_braces_stay(void **state) {
  const fixture *f = *state;
  static const char *const plain[] = {
      "",
      "{",
      "}",
      "{}",
      "{{",
      "}}",
      "{{}}",
      "{ lr }",
      "{lr",
      "lr}",
      "{LR2X} ",
      "a{3}",
      "{1..9}",
      "{-1}",
      "{\"lr2\":1}",
      "{\"a\": 1}",
      "{print $1}",
      "echo {unrelated}",
      "echo\t{{unrelated}}",
      "{\xc3\xa4} ",
      "{a-very-long-word-that-is-longer-than-any-guess-looks-at-all}\n",
  };
  for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
    assert_filled(f, plain[i], plain[i]);
}

static void a_hole_can_be_escaped(void **state) {
  const fixture *f = *state;
  assert_filled(f, "{{lr}}", "{lr}");
  assert_filled(f, "{{learning_rat}}", "{learning_rat}");
  assert_filled(f, "echo {{learning_rat}}", "echo {learning_rat}");
  assert_filled(f, "{{unrelated}}-{{\xc3\xa4}}", "{unrelated}-{\xc3\xa4}");
  assert_filled(f, "{\"lr\": {lr}}", "{\"lr\": 0.25}");
  assert_filled(f, "{{lr}", "{0.25");
  assert_filled(f, "{{{lr}}}", "{{lr}}");
}

static void a_slip_is_refused(void **state) {
  const fixture *f = *state;
  char *const words[] = {"p", "--a={lr}", "--b={unist}", NULL};
  cocabo_error err;
  assert_fails(cli_template_check(words, f->space, &err), COCABO_E_NOT_FOUND,
               "unknown parameter {unist} in \"--b={unist}\", did you mean {units}? "
               "({{unist}} stands for the text {unist})");
}

static void assert_refused(const fixture *f, const char *word, const char *sentence) {
  char *const words[] = {"p", (char *)word, NULL};
  cocabo_error err;
  assert_fails(cli_template_check(words, f->space, &err), COCABO_E_NOT_FOUND, sentence);
}

static void an_unknown_name_in_a_word_of_its_own_is_refused(void **state) {
  const fixture *f = *state;
  assert_refused(
      f, "{rl}",
      "unknown parameter {rl} in \"{rl}\", did you mean {lr}? ({{rl}} stands "
      "for the text {rl})");
  assert_refused(f, "-x={unrelated}",
                 "unknown parameter {unrelated} in \"-x={unrelated}\" ({{unrelated}} "
                 "stands for the text {unrelated})");
  assert_refused(
      f, "${HOME}",
      "unknown parameter {HOME} in \"${HOME}\" ({{HOME}} stands for the text "
      "{HOME})");
  assert_refused(f, "{\xc3\xa4}",
                 "unknown parameter {\xc3\xa4} in \"{\xc3\xa4}\" ({{\xc3\xa4}} stands "
                 "for the text {\xc3\xa4})");
  assert_refused(f, "echo {learning_rat}",
                 "unknown parameter {learning_rat} in \"echo {learning_rat}\", did you "
                 "mean {learning_rate}? ({{learning_rat}} stands for the text "
                 "{learning_rat})");
}

static void holes_can_be_asked_for(void **state) {
  const fixture *f = *state;
  assert_true(cli_template_has_hole("a{lr}", f->space, NULL));
  assert_true(cli_template_has_hole("a{lr}", f->space, "lr"));
  assert_false(cli_template_has_hole("a{lr}", f->space, "units"));
  assert_false(cli_template_has_hole("a{{lr}}", f->space, NULL));
  assert_false(cli_template_has_hole("", f->space, NULL));
  assert_true(cli_template_has_hole("{trial}", f->space, NULL));
}

/* ---- what is inactive ------------------------------------------------------------ */

/* The words joined by '|'. */
static void assert_words(const fixture *f, const char *const *words, const char *want) {
  char **out, got[200] = "";
  cocabo_error err;
  assert_ok(cli_template_check((char *const *)words, f->space, &err));
  assert_ok(cli_template_fill((char *const *)words, f->space, f->trial, &out, &err));
  for (char **word = out; *word; word++) {
    strcat(got, *word);
    strcat(got, word[1] ? "|" : "");
  }
  assert_string_equal(got, want);
  free(out);
}

static void words_of_what_is_inactive_are_dropped(void **state) {
  static const struct {
    const char *words[8], *want;
  } cases[] = {
      {{"p", "{gone}", "end"}, "p|end"},
      {{"p", "--deg={gone}", "{here}"}, "p|7"},
      {{"p", "a{lr}{gone}b"}, "p"},
      {{"p", "--deg", "{gone}", "--x", "{here}"}, "p|--x|7"},
      {{"p", "-d", "{gone}"}, "p"},
      {{"p", "--", "{gone}"}, "p"},
      {{"p", "-d", "x{gone}"}, "p|-d"},
      {{"p", "-d", "{gone}{gone}"}, "p|-d"},
      {{"p", "d", "{gone}"}, "p|d"},
      {{"p", "-d=1", "{gone}"}, "p|-d=1"},
      {{"p", "-{lr}", "{gone}"}, "p|-0.25"},
      {{"p", "-{trial}", "{gone}"}, "p|-0"},
      {{"p", "-{{lr}}", "{gone}"}, "p"}, /* no hole */
      {{"p", "-{gone:-1}", "{gone}"}, "p|-1"},
      {{"p", "-a", "{gone}", "{gone}", "-b"}, "p|-b"},
      {{"p", "-a", "-b", "{gone}"}, "p|-a"},
      {{"-p", "{gone}", "x"}, "-p|x"}, /* the first word stays */
      {{"p", "-c", "a {gone} b"}, "p|-c|a  b"},
      {{"p", "-c", "{gone} "}, "p|-c| "},
      {{"p", "-c", "\t{gone}{here}"}, "p|-c|\t7"},
      {{"a {gone}", "x"}, "a |x"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_words(*state, cases[i].words, cases[i].want);
}

static void a_text_may_stand_for_what_is_inactive(void **state) {
  const fixture *f = *state;
  assert_filled(f, "{gone:-3}", "3");
  assert_filled(f, "{here:-3}", "7");
  assert_filled(f, "{lr:-3}", "0.25");
  assert_filled(f, "{trial:-3}", "0");
  assert_filled(f, "--d={gone:-a b}/{here:-x}", "--d=a b/7");
  assert_filled(f, "{gone:-}", "");
  assert_filled(f, "{gone:-a:-b}", "a:-b");
  assert_filled(f, "{gone:-{lr}}", "{lr}"); /* it ends at the first brace */
  assert_filled(f, "{gone:-\xc3\xa4}}", "\xc3\xa4}");
  assert_filled(f, "{gone:-odd}", "odd"); /* a name of its own */
  assert_filled(f, "{gone:3}", "{gone:3}");
  assert_filled(f, "{gone:-3", "{gone:-3");
  assert_filled(f, "{{gone:-3}}", "{gone:-3}");
  assert_filled(f, "{{here:-}}", "{here:-}");
  assert_filled(f, "{{gone:-3}", "{3");
  assert_filled(f, "${gone:-3}", "${gone:-3}");
  assert_filled(f, "a ${here:-3} {here:-3}", "a ${here:-3} 7");
  assert_filled(f, "${HOME:-3}", "${HOME:-3}");
  assert_filled(f, "echo {unrelated:-3}", "echo {unrelated:-3}");
  assert_refused(f, "{gon:-3}",
                 "unknown parameter {gon} in \"{gon:-3}\", did you mean {gone}? "
                 "({{gon:-3}} stands for the text {gon:-3})");
  assert_refused(f, "{unrelated:-3}",
                 "unknown parameter {unrelated} in \"{unrelated:-3}\" "
                 "({{unrelated:-3}} stands for the text {unrelated:-3})");
}

static void the_first_word_must_stay(void **state) {
  const fixture *f = *state;
  cocabo_error err;
  char *const bad[] = {"./{lr}-{here}", "x", NULL};
  assert_fails(cli_template_check(bad, f->space, &err), COCABO_E_INVALID,
               "the first word of the command is \"./{lr}-{here}\", but here may be "
               "inactive: want {here:-text} with what stands there then");
  char *const good[] = {"{here:-p}", "{here}", NULL};
  assert_ok(cli_template_check(good, f->space, &err));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(holes_are_filled),
      cmocka_unit_test(other_braces_stay),
      cmocka_unit_test(a_hole_can_be_escaped),
      cmocka_unit_test(a_slip_is_refused),
      cmocka_unit_test(an_unknown_name_in_a_word_of_its_own_is_refused),
      cmocka_unit_test(holes_can_be_asked_for),
      cmocka_unit_test(words_of_what_is_inactive_are_dropped),
      cmocka_unit_test(a_text_may_stand_for_what_is_inactive),
      cmocka_unit_test(the_first_word_must_stay),
  };
  return cmocka_run_group_tests_name("cli/template", tests, set_up, tear_down);
}
