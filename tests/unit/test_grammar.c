/* Parameters as text, and a space to look at. */
#include "check.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "space/space.h"

static cocabo_error err;

static cocabo_space *space_of(const char *domain) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add(s, "x", domain, &err));
  return s;
}

/* ---- reading --------------------------------------------------------------------- */

static void numbers_are_read(void **state) {
  (void)state;
  const struct {
    const char *domain;
    cocabo_kind kind;
    double low, high, step;
    int log;
  } cases[] = {
      {"float(1e-5,0.1,log)", COCABO_KIND_REAL, 1e-5, 0.1, 0, 1},
      {"float(0,1,step=0.25)", COCABO_KIND_REAL, 0, 1, 0.25, 0},
      {"float(0,1,step=0.3)", COCABO_KIND_REAL, 0, 0.9, 0.3, 0},
      {" float ( -.5 , 2. , step = 1E0 ) ", COCABO_KIND_REAL, -0.5, 1.5, 1, 0},
      {"float(3,3)", COCABO_KIND_REAL, 3, 3, 0, 0},
      {"float(0,1,step=0)", COCABO_KIND_REAL, 0, 1, 0, 0},
      {"int(1,8)", COCABO_KIND_INT, 1, 8, 1, 0},
      {"int(16,1024,log)", COCABO_KIND_INT, 16, 1024, 1, 1},
      {"\tint(\n-7 ,\r-7)", COCABO_KIND_INT, -7, -7, 1, 0},
      {"int(-9007199254740992,-1)", COCABO_KIND_INT, -0x1p53, -1, 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cocabo_space *s = space_of(cases[i].domain);
    double low, high, step;
    int log;
    assert_int_equal(cocabo_space_kind(s, 0), cases[i].kind);
    assert_ok(cocabo_space_get_range(s, 0, &low, &high, &step, &log, &err));
    assert_true(low == cases[i].low && high == cases[i].high && step == cases[i].step);
    assert_int_equal(log, cases[i].log);
    assert_int_equal(cocabo_space_choices(s, 0), 0);
    cocabo_space_free(s);
  }
}

static cocabo_value choice(const cocabo_space *s, size_t k) {
  cocabo_value v;
  assert_ok(cocabo_space_get_choice(s, 0, k, &v, &err));
  return v;
}

static void assert_text(const cocabo_space *s, size_t k, const char *want) {
  const cocabo_value v = choice(s, k);
  assert_int_equal(v.type, COCABO_TEXT);
  assert_string_equal(v.as.text, want);
}

static void choices_keep_their_type(void **state) {
  (void)state;
  cocabo_space *s = space_of("choice(1, 1.0, true, \"1\", null, false, \"null\", 2e0, "
                             "\"true\", -0, \"\", -9223372036854775808, 2.5E-3)");
  assert_int_equal(cocabo_space_kind(s, 0), COCABO_KIND_CHOICE);
  assert_int_equal(cocabo_space_choices(s, 0), 13);
  assert_int_equal(choice(s, 0).type, COCABO_INT);
  assert_int_equal(choice(s, 0).as.integer, 1);
  assert_int_equal(choice(s, 1).type, COCABO_REAL);
  assert_true(choice(s, 1).as.real == 1.0);
  assert_int_equal(choice(s, 2).type, COCABO_BOOL);
  assert_int_equal(choice(s, 2).as.boolean, 1);
  assert_text(s, 3, "1");
  assert_int_equal(choice(s, 4).type, COCABO_NULL);
  assert_int_equal(choice(s, 5).as.boolean, 0);
  assert_text(s, 6, "null");
  assert_int_equal(choice(s, 7).type, COCABO_REAL);
  assert_text(s, 8, "true");
  assert_int_equal(choice(s, 9).as.integer, 0);
  assert_text(s, 10, "");
  assert_true(choice(s, 11).as.integer == INT64_MIN);
  assert_true(choice(s, 12).as.real == 2.5e-3);
  cocabo_space_free(s);
}

static void equal_choices_of_one_type_are_refused(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  assert_fails(cocabo_space_add(s, "x", "choice(1.0,1,1e0)", &err), COCABO_E_INVALID,
               "parameter \"x\": choice 2 repeats choice 0");
  assert_fails(cocabo_space_add(s, "x", "choice(a,\"a\")", &err), COCABO_E_INVALID,
               "parameter \"x\": choice 1 repeats choice 0");
  cocabo_space_free(s);
}

static void bare_text_is_text(void **state) {
  (void)state;
  cocabo_space *s = space_of("ordinal( small one ,007,+1,.5,1.,0x10,nan,True,1e,a=b,"
                             "it's,a\\n,\xce\xbb,-,1 2,--x,e5,1_000)");
  static const char *const want[] = {
      "small one", "007",  "+1",   ".5",       "1.", "0x10", "nan", "True", "1e",
      "a=b",       "it's", "a\\n", "\xce\xbb", "-",  "1 2",  "--x", "e5",   "1_000"};
  const size_t n = sizeof want / sizeof want[0];
  assert_int_equal(cocabo_space_kind(s, 0), COCABO_KIND_ORDINAL);
  assert_int_equal(cocabo_space_choices(s, 0), n);
  for (size_t k = 0; k < n; k++)
    assert_text(s, k, want[k]);
  cocabo_space_free(s);
}

static void quoted_text_is_that_of_json(void **state) {
  (void)state;
  cocabo_space *s =
      space_of("categorical(\"a,b\",\"(\",\")\",\" a \",\"\\\"\",\"\\\\\",\"\\/\","
               "\"\\b\\f\\n\\r\\t\",\"\\u0041\\u00e9\\u20AC\\ud83d\\uDE00\","
               "\"\xf0\x9f\x98\x80\","
               "\"\\\\u0041\",\"\\uD7FF\\uE000\\uffff\\udbff\\udfff\")");
  assert_int_equal(cocabo_space_kind(s, 0), COCABO_KIND_CHOICE);
  assert_text(s, 0, "a,b");
  assert_text(s, 1, "(");
  assert_text(s, 2, ")");
  assert_text(s, 3, " a ");
  assert_text(s, 4, "\"");
  assert_text(s, 5, "\\");
  assert_text(s, 6, "/");
  assert_text(s, 7, "\b\f\n\r\t");
  assert_text(s, 8, "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
  assert_text(s, 9, "\xf0\x9f\x98\x80");
  assert_text(s, 10, "\\u0041");
  assert_text(s, 11, "\xed\x9f\xbf\xee\x80\x80\xef\xbf\xbf\xf4\x8f\xbf\xbf");
  cocabo_space_free(s);
}

/* ---- what is wrong --------------------------------------------------------------- */

static void assert_refused(const char *domain, cocabo_status status,
                           const char *sentence) {
  cocabo_space *s = cocabo_space_new();
  char want[300];
  snprintf(want, sizeof want, "parameter \"lr\": %s", sentence);
  assert_fails(cocabo_space_add(s, "lr", domain, &err), status, want);
  assert_int_equal(cocabo_space_count(s), 0);
  cocabo_space_free(s);
}

static void bad_domains_are_named(void **state) {
  (void)state;
  static const struct {
    const char *domain, *want;
  } cases[] =
      {
          {"", "domain is \"\", want float(low,high), int(low,high), choice(a,b) or "
               "ordinal(a,b)"},
          {"0.1",
           "domain is \"0.1\", want float(low,high), int(low,high), choice(a,b) or "
           "ordinal(a,b)"},
          {"flaot(0,1)", "no kind \"flaot\", did you mean \"float\"?"},
          {"chioce(a,b)", "no kind \"chioce\", did you mean \"choice\"?"},
          {"Int(0,1)", "no kind \"Int\", did you mean \"int\"?"},
          {"gaussian(0,1)", "no kind \"gaussian\", want float, int, choice or ordinal"},
          {"(0,1)", "no kind \"\", want float, int, choice or ordinal"},
          {"float(", "the domain has no closing parenthesis"},
          {"float(0", "the domain has no closing parenthesis"},
          {"float(0,1", "the domain has no closing parenthesis"},
          {"float(0)", "float has no upper bound, want float(low,high)"},
          {"int()", "int has no upper bound, want int(low,high)"},
          {"float(,1)", "low is \"\", want a number"},
          {"float(a,1)", "low is \"a\", want a number"},
          {"float(0,1e999)", "high is \"1e999\", want a number"},
          {"float(0,0x1)", "high is \"0x1\", want a number"},
          {"float(nan,1)", "low is \"nan\", want a number"},
          {"float(0,1,step=x)", "step is \"x\", want a number"},
          {"float(0,1,step=)", "step is \"\", want a number"},
          {"float(0,1,step)", "step has no value, want step=NUMBER"},
          {"float(0,1,step=0.5,step=0.5)", "step is given twice"},
          {"float(1,2,log,log)", "log is given twice"},
          {"float(1,2,lgo)", "float has no \"lgo\", did you mean \"log\"?"},
          {"float(1,2,steps=1)", "float has no \"steps\", did you mean \"step\"?"},
          {"float(1,2,0.5)", "float has no \"0.5\", want log or step=NUMBER"},
          {"float(1,2,)", "float has no \"\", want log or step=NUMBER"},
          {"float(1,2,log=1)", "found \"=1)\", want a comma or a parenthesis"},
          {"int(1,8,step=2)", "int has no \"step\", want log"},
          {"int(1,1e3)", "high is \"1e3\", want a whole number"},
          {"int(1.0,2)", "low is \"1.0\", want a whole number"},
          {"int(1,9223372036854775808)",
           "high is \"9223372036854775808\", want a whole number"},
          {"float(0,1))", "found \")\" after the domain"},
          {"int(0,1) x", "found \"x\" after the domain"},
          {"choice(a) b", "found \"b\" after the domain"},
          {"choice(", "choice 0 is empty, want a value or \"\""},
          {"choice(a", "the domain has no closing parenthesis"},
          {"choice(a,)", "choice 1 is empty, want a value or \"\""},
          {"choice(a,,b)", "choice 1 is empty, want a value or \"\""},
          {"choice(f(x),b)", "choice 0 is f(..., want quotes around it"},
          {"choice(a,5\",b)", "choice 1 is 5\"..., want quotes around it"},
          {"choice(\"a\"b)", "found \"b)\", want a comma or a parenthesis"},
          {"choice(\"a", "choice 0 has no closing quote"},
          {"choice(\"a\\\"", "choice 0 has no closing quote"},
          {"choice(\"a\\", "choice 0 has the bad escape \\"},
          {"choice(\"\\x41\")", "choice 0 has the bad escape \\x41\")"},
          {"choice(a,\"\\u12\")", "choice 1 has the bad escape \\u12\")"},
          {"choice(\"\\u0000\")", "choice 0 has the bad escape \\u0000"},
          {"choice(\"\\ud83d\")", "choice 0 has the bad escape \\ud83d"},
          {"choice(\"\\ud83d\\u0041\")", "choice 0 has the bad escape \\ud83d"},
          {"choice(\"\\ude00\\ud83d\")", "choice 0 has the bad escape \\ude00"},
          {"choice(\"a\nb\")",
           "choice 0 has a control character, want it escaped as in JSON"},
          {"choice(\xff)", "domain is not valid UTF-8"},
          {"float(1,2,log,step=0.5)", "step is 0.5, want 0 on a log scale"},
      },
    out_of_range[] = {
        {"float(1,0)", "low is 1, high is 0, want low <= high"},
        {"float(0,1,log)", "low is 0, want low > 0 on a log scale"},
        {"choice(1e999)",
         "the number 1e999 is too large, want quotes around it if it is text"},
        {"choice(-9223372036854775809)",
         "the number -9223372036854775809 is too large, want quotes around it if it is "
         "text"},
    };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_refused(cases[i].domain, COCABO_E_INVALID, cases[i].want);
  for (size_t i = 0; i < sizeof out_of_range / sizeof out_of_range[0]; i++)
    assert_refused(out_of_range[i].domain, COCABO_E_RANGE, out_of_range[i].want);
}

static void bad_arguments_are_named(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  assert_fails(cocabo_space_add(s, "lr", "choice()", &err), COCABO_E_RANGE,
               "parameter \"lr\" has 0 choices, want 1 to 1000");
  assert_fails(cocabo_space_add(NULL, "lr", "int(0,1)", &err), COCABO_E_INVALID,
               "space is NULL");
  assert_fails(cocabo_space_add(s, NULL, "int(0,1)", &err), COCABO_E_INVALID,
               "parameter name is NULL");
  assert_fails(cocabo_space_add(s, "", "int(0,1)", &err), COCABO_E_INVALID,
               "parameter name is empty");
  assert_fails(cocabo_space_add(s, "lr", NULL, &err), COCABO_E_INVALID,
               "parameter \"lr\": domain is NULL");
  assert_int_equal(cocabo_space_add(s, "lr", "?", NULL), COCABO_E_INVALID);
  assert_ok(cocabo_space_add(s, "lr", "int(0,1)", &err));
  assert_fails(cocabo_space_add(s, "lr", "int(0,1)", &err), COCABO_E_EXISTS,
               "parameter \"lr\" exists already");
  cocabo_space_free(s);
}

static void long_domains_are_no_trouble(void **state) {
  (void)state;
  enum { LONG = 300000 };
  char *domain = calloc(LONG + 1, 1);
  cocabo_space *s = cocabo_space_new();
  memset(domain, 'x', LONG);
  assert_int_equal(cocabo_space_add(s, "x", domain, &err), COCABO_E_INVALID);
  memcpy(domain, "float(", 6);
  domain[LONG - 1] = ')';
  assert_int_equal(cocabo_space_add(s, "x", domain, &err), COCABO_E_INVALID);
  domain[LONG / 2] = ',';
  assert_int_equal(cocabo_space_add(s, "x", domain, &err), COCABO_E_INVALID);
  memset(domain + 6, '1', LONG - 7);
  domain[LONG / 2] = ',';
  assert_int_equal(cocabo_space_add(s, "x", domain, &err), COCABO_E_INVALID);
  memcpy(domain, "choice(", 7);
  assert_int_equal(cocabo_space_add(s, "x", domain, &err), COCABO_E_RANGE);
  memset(domain + 7, 'y', LONG - 8);
  assert_ok(cocabo_space_add(s, "x", domain, &err)); /* one long text is fine */
  cocabo_space_free(s);

  s = cocabo_space_new();
  size_t used = (size_t)sprintf(domain, "choice(0");
  for (int i = 1; i < 1001; i++)
    used += (size_t)sprintf(domain + used, ",%d", i);
  strcpy(domain + used, ")");
  assert_fails(cocabo_space_add(s, "x", domain, &err), COCABO_E_RANGE,
               "parameter \"x\" has 1001 choices, want 1 to 1000");
  strcpy(strrchr(domain, ','), ")");
  assert_ok(cocabo_space_add(s, "x", domain, &err));
  assert_int_equal(cocabo_space_choices(s, 0), 1000);
  cocabo_space_free(s);
  free(domain);
}

/* ---- writing --------------------------------------------------------------------- */

static void domains_are_written_as_people_would(void **state) {
  (void)state;
  static const struct {
    const char *domain, *want; /* NULL: the same */
  } cases[] = {
      {"float(1e-5,0.1,log)", NULL},
      {"float(0,1,step=0.25)", NULL},
      {"float( -1.50 , 2e0 )", "float(-1.5,2)"},
      {"float(0,1,step=0.3)", "float(0,0.9,step=0.3)"},
      {"float(-1e20,1e+21)", "float(-1e20,1e21)"},
      {"int(1,8)", NULL},
      {"int(16,1024,log)", NULL},
      {"int(-9007199254740992,-1)", NULL},
      {"choice(adam,sgd,\"1\",1,1.0,true,null)", NULL},
      {"ordinal(small,medium,large)", NULL},
      {"categorical(a)", "choice(a)"},
      {"choice(\"a\" , \"b c\" , \" d\")", "choice(a,b c,\" d\")"},
      {"choice(\"\\n\",\"\\\"\",\"a,b\",\"f(x)\",\"\",\"\\u001f\")",
       "choice(\"\\u000a\",\"\\\"\",\"a,b\",\"f(x)\",\"\",\"\\u001f\")"},
      {"choice(\"1e999\",\"-0\",\"007\",\"true\",\"false\",\"null\",\"True\")",
       "choice(\"1e999\",\"-0\",007,\"true\",\"false\",\"null\",True)"},
      {"choice(1e100,1.5e-7,-2.0,100000.0)", "choice(1e100,1.5e-7,-2.0,100000.0)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    cocabo_space *s = space_of(cases[i].domain);
    char *text = cocabo_space_domain(s, 0);
    assert_string_equal(text, cases[i].want ? cases[i].want : cases[i].domain);
    cocabo_space *again = space_of(text);
    assert_true(cocabo_space_equal(s, again));
    cocabo_text_free(text);
    cocabo_space_free(again);
    cocabo_space_free(s);
  }
}

/* Where the machine has a locale with a decimal comma. */
static void the_locale_changes_nothing(void **state) {
  (void)state;
  const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "de_DE"};
  bool found = false;
  for (size_t i = 0; i < 4 && !found; i++)
    found = setlocale(LC_NUMERIC, names[i]) != NULL;
  if (!found)
    skip();
  cocabo_space *s = cocabo_space_new();
  const cocabo_status status =
      cocabo_space_add(s, "x", "float(1.5e-5,0.25,step=0.125)", &err);
  char *text = cocabo_space_domain(s, 0);
  setlocale(LC_NUMERIC, "C");
  assert_int_equal(status, COCABO_OK);
  assert_string_equal(text, "float(1.5e-5,0.125015,step=0.125)");
  cocabo_text_free(text);
  cocabo_space_free(s);
}

/* ---- looking --------------------------------------------------------------------- */

static void a_space_can_be_looked_at(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add(s, "lr", "float(0.1,1,log)", &err));
  assert_ok(cocabo_space_add(s, "opt", "choice(adam,sgd)", &err));
  assert_ok(cocabo_space_add(s, "size", "ordinal(s,m,l)", &err));
  assert_ok(cocabo_space_add(s, "n", "int(1,8)", &err));
  static const char *const names[] = {"lr", "opt", "size", "n"};
  static const cocabo_kind kinds[] = {COCABO_KIND_REAL, COCABO_KIND_CHOICE,
                                      COCABO_KIND_ORDINAL, COCABO_KIND_INT};
  static const size_t choices[] = {0, 2, 3, 0};
  for (size_t i = 0; i < 4; i++) {
    assert_string_equal(cocabo_space_name(s, i), names[i]);
    assert_int_equal(cocabo_space_kind(s, i), kinds[i]);
    assert_int_equal(cocabo_space_choices(s, i), choices[i]);
  }
  assert_null(cocabo_space_name(s, 4));
  assert_null(cocabo_space_domain(s, 4));
  assert_int_equal(cocabo_space_choices(s, SIZE_MAX), 0);
  assert_int_equal(cocabo_space_kind(s, 4), COCABO_KIND_REAL);

  double low = -7.0;
  cocabo_value v = {.type = COCABO_INT, .as.integer = -7};
  assert_ok(cocabo_space_get_range(s, 0, NULL, NULL, NULL, NULL, &err));
  assert_fails(cocabo_space_get_range(s, 1, &low, NULL, NULL, NULL, &err),
               COCABO_E_INVALID,
               "parameter \"opt\" is a choice, want a real or an int");
  assert_fails(cocabo_space_get_range(s, 4, &low, NULL, NULL, NULL, &err),
               COCABO_E_RANGE, "parameter index is 4, want less than 4");
  assert_fails(cocabo_space_get_range(NULL, 0, &low, NULL, NULL, NULL, &err),
               COCABO_E_INVALID, "space is NULL");
  assert_fails(cocabo_space_get_choice(s, 0, 0, &v, &err), COCABO_E_INVALID,
               "parameter \"lr\" is a real, want a choice");
  assert_fails(cocabo_space_get_choice(s, 3, 0, &v, &err), COCABO_E_INVALID,
               "parameter \"n\" is an int, want a choice");
  assert_fails(cocabo_space_get_choice(s, 1, 2, &v, &err), COCABO_E_RANGE,
               "parameter \"opt\": choice index is 2, want less than 2");
  assert_fails(cocabo_space_get_choice(s, 4, 0, &v, &err), COCABO_E_RANGE,
               "parameter index is 4, want less than 4");
  assert_fails(cocabo_space_get_choice(s, 1, 0, NULL, &err), COCABO_E_INVALID,
               "out is NULL");
  assert_fails(cocabo_space_get_choice(NULL, 1, 0, &v, &err), COCABO_E_INVALID,
               "space is NULL");
  assert_true(low == -7.0 && v.as.integer == -7);
  assert_null(cocabo_space_name(NULL, 0));
  assert_null(cocabo_space_domain(NULL, 0));
  assert_int_equal(cocabo_space_kind(NULL, 0), COCABO_KIND_REAL);
  assert_int_equal(cocabo_space_choices(NULL, 0), 0);
  cocabo_text_free(NULL);
  cocabo_space_free(s);
}

static void spaces_are_equal_or_not(void **state) {
  (void)state;
  static const char *const domains[] = {
      "float(1,2)",    "float(1,2,log)", "float(1,2,step=0.5)", "float(1,3)",
      "int(1,2)",      "int(1,2,log)",   "choice(1,2)",         "choice(2,1)",
      "ordinal(1,2)",  "choice(1,2.0)",  "choice(1)",           "choice(\"1\",2)",
      "choice(true,2)"};
  const size_t n = sizeof domains / sizeof domains[0];
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < n; j++) {
      cocabo_space *a = space_of(domains[i]), *b = space_of(domains[j]);
      assert_int_equal(cocabo_space_equal(a, b), i == j);
      cocabo_space_free(a);
      cocabo_space_free(b);
    }
  cocabo_space *a = space_of("int(0,1)"), *b = cocabo_space_new();
  assert_ok(cocabo_space_add(b, "y", "int(0,1)", &err));
  assert_int_equal(cocabo_space_equal(a, b), 0);
  assert_int_equal(cocabo_space_equal(a, a), 1);
  assert_int_equal(cocabo_space_equal(a, NULL), 0);
  assert_int_equal(cocabo_space_equal(NULL, a), 0);
  assert_int_equal(cocabo_space_equal(NULL, NULL), 1);
  cocabo_space_free(a);
  cocabo_space_free(b);
}

/* ---- memory ---------------------------------------------------------------------- */

static void lack_of_memory_changes_nothing(void **state) {
  (void)state;
  static const char *const domains[] = {"float(0,1)", "int(1,2,log)",
                                        "choice(a,\"b\\n\",1,null,c,d,e,f,g)"};
  for (size_t i = 0; i < 3; i++) {
    cocabo_space *s = cocabo_space_new();
    int failed = 0;
    for (int k = 0; cocabo_space_count(s) == 0; k++) {
      cb_mem_fail_after(k);
      const cocabo_status status = cocabo_space_add(s, "x", domains[i], &err);
      cb_mem_fail_after(-1);
      failed += status == COCABO_E_NO_MEMORY;
      assert_int_equal(cocabo_space_count(s), status == COCABO_OK);
    }
    assert_true(failed >= 3);
    char *text = NULL;
    for (int k = 0; !text; k++) {
      cb_mem_fail_after(k);
      text = cocabo_space_domain(s, 0);
      cb_mem_fail_after(-1);
      assert_true(k < 20);
    }
    cocabo_text_free(text);
    cocabo_space_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(numbers_are_read),
      cmocka_unit_test(choices_keep_their_type),
      cmocka_unit_test(equal_choices_of_one_type_are_refused),
      cmocka_unit_test(bare_text_is_text),
      cmocka_unit_test(quoted_text_is_that_of_json),
      cmocka_unit_test(bad_domains_are_named),
      cmocka_unit_test(bad_arguments_are_named),
      cmocka_unit_test(long_domains_are_no_trouble),
      cmocka_unit_test(domains_are_written_as_people_would),
      cmocka_unit_test(the_locale_changes_nothing),
      cmocka_unit_test(a_space_can_be_looked_at),
      cmocka_unit_test(spaces_are_equal_or_not),
      cmocka_unit_test(lack_of_memory_changes_nothing),
  };
  return cmocka_run_group_tests_name("space/grammar", tests, NULL, NULL);
}
