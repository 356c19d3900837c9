/* Expressions: what they mean, what is refused and how, and that nothing else happens.
 */
#include "check.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "oracle/expr.h"
#include "space/expr.h"

static cocabo_error err;

#define COUNT(array) (sizeof(array) / sizeof *(array))

/* ---- one space, one point -------------------------------------------------------- */

static cocabo_space *space;
static cb_cell cells[COCABO_MAX_PARAMETERS];
static bool active[COCABO_MAX_PARAMETERS];

static int find(const char *name) {
  const int i = cb_space_find(space, name);
  assert_true(i >= 0);
  return i;
}

static void set_real(const char *name, double value) {
  cells[find(name)].real = value;
}

/* An int, or the index of a choice. */
static void set_int(const char *name, int64_t value) {
  cells[find(name)].integer = value;
}

static int make_space(void **state) {
  (void)state;
  static const char *const params[][2] = {
      {"x", "float(-10,10)"},
      {"y", "float(0,5)"},
      {"n", "int(-100,100)"},
      {"kernel", "choice(linear,poly,rbf)"},
      {"units", "choice(16,32,64,128)"},
      {"size", "ordinal(small,medium,large)"},
      {"other", "ordinal(small,medium,large)"},
      {"grade", "ordinal(low,high)"},
      {"depth", "ordinal(1,2.5,8)"},
      {"flag", "choice(false,true)"},
      {"on", "ordinal(true,false)"},
      {"lr", "choice(0.1,1.0)"},
      {"five", "choice(1,1.0,true,\"1\",null)"},
      {"pool", "choice(max,avg,\"l1+l2\",linear)"},
      {"my rate", "float(0,1)"},
      {"in", "int(0,9)"},
      {"min", "int(0,9)"},
      {"a`b", "int(0,9)"},
      {"model.lr", "float(0,1)"},
      {"mix", "ordinal(1,2,many)"},
      {"\xce\xbb", "float(0,1)"},
      {"quo\"te", "choice(\"it's\",\"say \\\"so\\\"\",\"a\\nb\",\"\")"},
      {"batch", "choice(128,64)"},
      {"shape", "choice(small,medium,large)"},
      {"late", "int(0,9)"}};
  space = cocabo_space_new();
  for (size_t i = 0; i < COUNT(params); i++)
    assert_ok(cocabo_space_add(space, params[i][0], params[i][1], &err));
  return 0;
}

static int free_space(void **state) {
  (void)state;
  cocabo_space_free(space);
  return 0;
}

static int set_point(void **state) {
  (void)state;
  memset(cells, 0, sizeof cells);
  memset(active, true, sizeof active);
  set_real("x", 2.5);
  set_real("y", 4.0);
  set_int("n", -7);
  set_int("kernel", 1); /* poly */
  set_int("units", 2);  /* 64 */
  set_int("size", 1);   /* medium */
  set_int("other", 2);  /* large */
  set_int("depth", 1);  /* 2.5 */
  set_int("flag", 1);   /* true */
  set_int("on", 1);     /* false */
  set_int("lr", 1);     /* 1.0 */
  set_int("batch", 1);  /* 64 */
  set_real("my rate", 0.25);
  set_int("in", 3);
  set_int("min", 4);
  set_int("a`b", 5);
  set_real("model.lr", 0.5);
  set_int("mix", 2); /* many */
  set_real("\xce\xbb", 0.125);
  return 0;
}

static cb_expr *parse(const char *text) {
  cb_expr *e = NULL;
  if (cb_expr_parse(&e, space, find("late"), text, &err) != COCABO_OK)
    fail_msg("%s", err.message);
  return e;
}

static cb_truth test(const char *text) {
  cb_expr *e = parse(text);
  const cb_truth result = cb_expr_test(e, cells, active);
  const double violation = cb_expr_violation(e, cells, active);
  if (violation < 0.0 || (violation > 0.0) != (result == CB_FALSE))
    fail_msg("%s: %d, but violation %g", text, result, violation);

  /* What is written reads as the same again. */
  cb_expr *again = parse(cb_expr_text(e)), *copy = cb_expr_copy(e);
  assert_string_equal(cb_expr_text(again), cb_expr_text(e));
  assert_string_equal(cb_expr_text(copy), cb_expr_text(e));
  assert_int_equal(cb_expr_test(again, cells, active), result);
  assert_true(cb_expr_violation(again, cells, active) == violation);
  cb_expr_free(e);
  assert_int_equal(cb_expr_test(copy, cells, active), result);
  cb_expr_free(again);
  cb_expr_free(copy);
  return result;
}

static void assert_truth(const char *text, cb_truth want) {
  static const char *const names[] = {"false", "true", "unknown"};
  const cb_truth got = test(text);
  if (got != want)
    fail_msg("%s is %s, want %s", text, names[got], names[want]);
}

/* ---- meaning --------------------------------------------------------------------- */

static const char *const true_ones[] = {
    "true",
    "not false",
    "kernel == poly",
    "kernel == 'poly'",
    "\"poly\" == kernel",
    "kernel != rbf",
    "not kernel == rbf",
    "kernel in (rbf, poly)",
    "kernel not in (rbf,linear)",
    "(kernel) == (poly)",
    "kernel in ('poly')",
    /* numbers */
    "x == 2.5",
    "2.5 == x",
    "x < y",
    "x <= 2.5",
    "x > 2",
    "x >= 2.5",
    "x != 2",
    "n == -7",
    "n == -7.0",
    "n + 7 == 0",
    "n in (-7, 3)",
    "n not in (7, 1.5)",
    "x + 1.5 in (4)",
    "1 + 2 * 3 == 7",
    "(1 + 2) * 3 == 9",
    "10 - 4 - 3 == 3",
    "10 - (4 - 3) == 9",
    "8 / 4 / 2 == 1",
    "8 / (4 / 2) == 4",
    "7 / 2 == 3.5",
    "-x == 0 - 2.5",
    "--x == x",
    "- 3 == -(3)",
    "-x + 5 == x",
    "-2 * -x == 5",
    ".5 + 2. == 2.5",
    "1e1 == 10",
    "1E-1 == .1",
    "2e+0 == 2",
    "007 == 7",
    "-9223372036854775808 < -9.2e18",
    "x\t<\n\r y",
    /* % floors */
    "7 % 3 == 1",
    "-7 % 3 == 2",
    "7 % -3 == -2",
    "-7 % -3 == -1",
    "6 % -3 == 0",
    "n % 4 == 1",
    "5.5 % 2 == 1.5",
    "-0.5 % 2 == 1.5",
    "2 * 7 % 4 == 2",
    /* functions */
    "min(3, 1, 2) == 1",
    "max(3, 1, 2) == 3",
    "max(x) == x",
    "abs(n) == 7",
    "log(1) == 0",
    "exp(0) == 1",
    "abs(log(exp(x)) - x) < 1e-15",
    "sqrt(y) == 2",
    "floor(x) == 2",
    "ceil(x) == 3",
    "floor(-x) == -3",
    "ceil(-x) == -2",
    "log (exp(1)) == 1",
    "exp(1000) > 1e308",
    "exp(-1000) == 0",
    /* choices of numbers */
    "units == 64",
    "units != 32",
    "units in (64, 128)",
    "units < 100",
    "100 > units",
    "2 * units == 128",
    "units == 60 + 4",
    "units == n + 71",
    "units + n == 57",
    "lr == 1.0",
    "lr < 2",
    "lr * 2 == 2",
    "lr in (1.0)",
    "depth == 2.5",
    "depth < 8",
    "depth <= x",
    "depth == x",
    "depth > 1.5",
    "max(units, 100) == 100",
    "units > depth",
    "units + units == 2 * units",
    /* ordinals */
    "size == medium",
    "size < large",
    "size > small",
    "size >= medium",
    "small < size",
    "large > size",
    "size < other",
    "other >= size",
    "size != other",
    "size in (small, medium)",
    "\"large\" <= other",
    "mix > 2",
    "mix == many",
    "mix >= 1",
    "many <= mix",
    /* conditions */
    "flag",
    "not on",
    "flag == true",
    "on == false",
    "flag != false",
    "flag in (true)",
    "flag == (x < y)",
    "(x < y) == flag",
    "(x < y) != on",
    "on != flag",
    "(x < y) == (y > x)",
    "(x > y) != true",
    "true == true",
    "flag and not on",
    "on or flag",
    "true or false and false",
    "(true or false) and true",
    "not (flag and on)",
    "not on and flag",
    "not not flag",
    /* choices with choices */
    "kernel != pool",
    "pool == pool",
    "units == batch and units + 1 == 65",
    "batch * units == 4096",
    "units + 1 == 65 and batch == units",
    /* names */
    "`my rate` == .25",
    "`in` == 3",
    "`min` + 1 == 5",
    "`a``b` == 5",
    "model.lr == 0.5",
    "`x` == x",
    "`\xce\xbb` == 0.125",
    "min(`min`, `in`) == 3",
    "pool == max",
    "pool in (max, avg)",
    "pool == 'max'",
    "pool != 'l1+l2'",
    "`quo\"te` == \"it's\"",
    "`quo\"te` == 'it\\'s'",
    "`quo\"te` != 'say \"so\"'",
    "`quo\"te` != 'say \\\"so\\\"'",
    "`quo\"te` != \"a\\nb\"",
    "`quo\"te` != 'a\\u000ab'",
    "`quo\"te` != ''",
};

static void what_holds_is_true_and_its_negation_is_not(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(true_ones); i++) {
    char negated[300];
    snprintf(negated, sizeof negated, "not (%s)", true_ones[i]);
    assert_truth(true_ones[i], CB_TRUE);
    assert_truth(negated, CB_FALSE);
  }
}

static void choices_compare_by_type_and_value(void **state) {
  (void)state;
  static const char *const values[] = {"1", "1.0", "true", "\"1\"", "null"};
  for (int cell = 0; cell < 5; cell++)
    for (int k = 0; k < 5; k++) {
      char text[40];
      set_int("five", cell);
      snprintf(text, sizeof text, "five == %s", values[k]);
      assert_truth(text, cell == k ? CB_TRUE : CB_FALSE);
      snprintf(text, sizeof text, "%s != five", values[k]);
      assert_truth(text, cell == k ? CB_FALSE : CB_TRUE);
      snprintf(text, sizeof text, "five in (%s, 1.0)", values[k]);
      assert_truth(text, cell == k || cell == 1 ? CB_TRUE : CB_FALSE);
    }
  /* five has 1.0 as its second value, lr as its second, too; 1 is not 1.0 */
  for (int cell = 0; cell < 5; cell++)
    for (int k = 0; k < 2; k++) {
      set_int("five", cell);
      set_int("lr", k);
      assert_truth("five == lr", cell == 1 && k == 1 ? CB_TRUE : CB_FALSE);
      assert_truth("lr == five", cell == 1 && k == 1 ? CB_TRUE : CB_FALSE);
    }
  /* linear is the first of one and the last of the other */
  set_int("kernel", 0);
  set_int("pool", 3);
  assert_truth("kernel == pool", CB_TRUE);
  set_int("pool", 0);
  assert_truth("kernel == pool", CB_FALSE);
}

static void what_has_no_value_is_false(void **state) {
  (void)state;
  set_real("my rate", 0.0);
  static const char *const undefined[] = {"1 / `my rate`",  "0 / `my rate`",
                                          "1 % `my rate`",  "log(`my rate`)",
                                          "log(-x)",        "sqrt(-x)",
                                          "min(1 / 0, 2)",  "max(2, 1 / 0)",
                                          "abs(sqrt(-1))",  "-log(0)",
                                          "0 * log(0)",     "exp(log(-1))",
                                          "floor(1 % 0)",   "exp(1000) - exp(1000)",
                                          "1 / -`my rate`", "exp(log(-1)) + x"};
  static const char *const marks[] = {
      "<", "<=", ">", ">=", "==", "!=", "in (1, 2)", "not in (1, 2)"};
  for (size_t i = 0; i < COUNT(undefined); i++)
    for (size_t k = 0; k < COUNT(marks); k++) {
      char text[100];
      snprintf(text, sizeof text, "%s %s %s", undefined[i], marks[k], k < 6 ? "1" : "");
      assert_truth(text, CB_FALSE);
    }
  assert_truth("`my rate` == 0 or 1 / `my rate` > 5", CB_TRUE);
  assert_truth("not 1 / `my rate` > 5", CB_TRUE);
  assert_truth("sqrt(`my rate`) == 0", CB_TRUE);
}

static void python_agrees(void **state) {
  (void)state;
  cocabo_space *mine = space;
  space = cocabo_space_new();
  static const char *const params[][2] = {
      {"x", "float(-10,10)"},      {"y", "float(0,5)"},
      {"i", "int(-20,20)"},        {"j", "int(1,9)"},
      {"u", "ordinal(1,2,4,8)"},   {"k", "choice(0.5,1.5,-2.0)"},
      {"p", "choice(false,true)"}, {"q", "choice(true,false)"},
      {"late", "int(0,1)"}};
  for (size_t i = 0; i < COUNT(params); i++)
    assert_ok(cocabo_space_add(space, params[i][0], params[i][1], &err));
  assert_true(COUNT(oracle_expr) >= 500);
  for (size_t i = 0; i < COUNT(oracle_expr); i++) {
    set_real("x", oracle_expr[i].x);
    set_real("y", oracle_expr[i].y);
    set_int("i", oracle_expr[i].i);
    set_int("j", oracle_expr[i].j);
    set_int("u", oracle_expr[i].u);
    set_int("k", oracle_expr[i].k);
    set_int("p", oracle_expr[i].p);
    set_int("q", !oracle_expr[i].q);
    assert_truth(oracle_expr[i].text, oracle_expr[i].want ? CB_TRUE : CB_FALSE);
  }
  cocabo_space_free(space);
  space = mine;
}

/* ---- unknown --------------------------------------------------------------------- */

/* flag and on are false, true or inactive; what their combinations are. */
static void unknown_follows_kleene(void **state) {
  (void)state;
  enum { F = CB_FALSE, T = CB_TRUE, U = CB_UNKNOWN };
  static const struct {
    int flag, on, both, either, same;
  } table[] = {{F, F, F, F, T}, {F, T, F, T, F}, {F, U, F, U, U},
               {T, F, F, T, F}, {T, T, T, T, T}, {T, U, U, T, U},
               {U, F, F, U, U}, {U, T, U, T, U}, {U, U, U, U, U}};
  static const cb_truth negated[] = {CB_TRUE, CB_FALSE, CB_UNKNOWN};
  for (size_t i = 0; i < COUNT(table); i++) {
    active[find("flag")] = table[i].flag != U;
    active[find("on")] = table[i].on != U;
    set_int("flag", table[i].flag == U ? INT64_MIN : table[i].flag == T);
    set_int("on", table[i].on == U ? INT64_MAX : table[i].on == F);
    assert_truth("flag", (cb_truth)table[i].flag);
    assert_truth("not flag", negated[table[i].flag]);
    assert_truth("flag and on", (cb_truth)table[i].both);
    assert_truth("flag or on", (cb_truth)table[i].either);
    assert_truth("flag == on", (cb_truth)table[i].same);
    assert_truth("(flag and true) == on", (cb_truth)table[i].same);
    assert_truth("(flag and true) != on", negated[table[i].same]);
    assert_truth("not (not flag or not on)", (cb_truth)table[i].both);
  }
}

static void what_names_an_inactive_parameter_is_unknown(void **state) {
  (void)state;
  memset(active, false, sizeof active);
  memset(cells, 0x7F, sizeof cells); /* indices far outside: they are not looked at */
  static const char *const unknown[] = {
      "kernel == poly", "kernel != poly", "kernel in (poly)", "kernel not in (poly)",
      "x < 3",          "3 > x",          "x + 1 == 2",       "max(1, 2, x) > 5",
      "-x < 1",         "abs(x) >= 0",    "x in (1, 2)",      "units < 5",
      "units + 1 == 4", "size < large",   "size == other",    "flag",
      "not flag",       "flag == true",   "kernel == pool",   "x == x",
      "0 * x == 0",     "x + 1 / 0 > 1",  "log(-1) < x",      "flag == (1 < 2)",
      "true and x > 1", "false or x > 1"};
  for (size_t i = 0; i < COUNT(unknown); i++)
    assert_truth(unknown[i], CB_UNKNOWN);
  assert_truth("x > 1 or true", CB_TRUE);
  assert_truth("x > 1 and 1 > 2", CB_FALSE);
}

static void without_flags_all_are_active(void **state) {
  (void)state;
  cb_expr *e = parse("kernel == poly and x < 3 and units == 64");
  assert_int_equal(cb_expr_test(e, cells, NULL), CB_TRUE);
  assert_true(cb_expr_violation(e, cells, NULL) == 0.0);
  cb_expr_free(e);
}

/* ---- violation ------------------------------------------------------------------- */

static void violation_is_the_gap(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double want;
  } cases[] = {{"x < 4", 0},
               {"x > 4", 1.5},
               {"x <= 1", 1.5},
               {"4 <= x", 1.5},
               {"x == 4", 1.5},
               {"x != 2.5", 1},
               {"x < 2.5", DBL_MIN},
               {"not x >= 2.5", DBL_MIN},
               {"not x == 2.5", 1},
               {"not x != 4", 1.5},
               {"not x < 4", 1.5},
               {"not x > 1", 1.5},
               {"x in (0, 4, 9)", 1.5},
               {"not x in (1, 2.5)", 1},
               {"x not in (2.5, 3)", 1},
               {"x > 4 and y > 6", 3.5},
               {"x > 4 or y > 6", 1.5},
               {"not (x < 4 and y < 6)", 1.5},
               {"not (x < 4 or y < 6)", 3.5},
               {"x > 4 and y > 3", 1.5},
               {"x > 4 or y > 3", 0},
               {"kernel == rbf", 1},
               {"kernel in (rbf, linear)", 1},
               {"on", 1},
               {"not flag", 1},
               {"kernel == rbf and x > 4", 2.5},
               {"size > large", 1},
               {"size < small", 1},
               {"other < small", 2},
               {"units < 60", 4},
               {"units == 16", 1},
               {"units == 10 + 6", 48},
               {"kernel == pool", 1},
               {"1 / 0 > 1", 1},
               {"flag == (x > 4)", 1},
               {"flag != (x < 4)", 1},
               {"false", 1},
               {"exp(1000) < 0", INFINITY},
               {"x + 1 <= y - 1", 0.5}};
  set_int("pool", 3); /* linear, far from poly */
  for (size_t i = 0; i < COUNT(cases); i++) {
    cb_expr *e = parse(cases[i].text);
    const double got = cb_expr_violation(e, cells, active);
    if (got != cases[i].want)
      fail_msg("%s: violation is %g, want %g", cases[i].text, got, cases[i].want);
    cb_expr_free(e);
    (void)test(cases[i].text);
  }
}

/* ---- text and names -------------------------------------------------------------- */

static void expressions_are_written_in_one_way(void **state) {
  (void)state;
  static const char *const cases[][2] = {
      {"kernel==poly", "kernel == \"poly\""},
      {" ( (kernel) == ('poly') ) ", "kernel == \"poly\""},
      {"kernel not   in(poly,'rbf')", "kernel not in (\"poly\", \"rbf\")"},
      {"not(kernel in(poly))", "not kernel in (\"poly\")"},
      {"(x+1)*2<3", "(x + 1) * 2 < 3"},
      {"((x*1)+(2))<3", "x * 1 + 2 < 3"},
      {"x-(1-2)<3", "x - (1 - 2) < 3"},
      {"(x-1)-2<3", "x - 1 - 2 < 3"},
      {"x/(y*2)<-(3)", "x / (y * 2) < -(3)"},
      {"x<- 3", "x < -3"},
      {"- - 3<-x", "-(-3) < -x"},
      {"-(x)<-(x+1)", "-x < -(x + 1)"},
      {"(x<y)and((flag)or(on))", "x < y and (flag or on)"},
      {"(x<y and flag)or on", "x < y and flag or on"},
      {"flag or (on or flag)", "flag or (on or flag)"},
      {"(flag or on)or flag", "flag or on or flag"},
      {"not((x<y))", "not x < y"},
      {"not(flag and on)", "not (flag and on)"},
      {"(not flag)==on", "(not flag) == on"},
      {"(x<y)==(y<x)", "(x < y) == (y < x)"},
      {"max( x,(y+1) , -2)>0", "max(x, y + 1, -2) > 0"},
      {"`x`<`my rate`+`in`", "x < `my rate` + `in`"},
      {"`a``b`==1", "`a``b` == 1"},
      {"x<1e5 and x<1E-7 and x<10. and x<007", "x < 100000.0 and x < 1e-7 and x < 10.0 "
                                               "and x < 7"},
      {"lr==1.00", "lr == 1.0"},
      {"`quo\"te`=='a\\nb'", "`quo\"te` == \"a\\u000ab\""},
      {"`quo\"te` in ('it\\'s','say \"so\"')",
       "`quo\"te` in (\"it's\", \"say \\\"so\\\"\")"},
      {"five==null or five==true", "five == null or five == true"}};
  for (size_t i = 0; i < COUNT(cases); i++) {
    cb_expr *e = parse(cases[i][0]);
    assert_string_equal(cb_expr_text(e), cases[i][1]);
    cb_expr_free(e);
    (void)test(cases[i][0]);
  }
}

static void an_expression_knows_whom_it_names(void **state) {
  (void)state;
  int n = -1;
  cb_expr *e = parse("units + x > 3 and (kernel == poly or not `in` < x)");
  const int *params = cb_expr_params(e, &n);
  assert_int_equal(n, 4);
  assert_int_equal(params[0], find("x"));
  assert_int_equal(params[1], find("kernel"));
  assert_int_equal(params[2], find("units"));
  assert_int_equal(params[3], find("in"));
  cb_expr_free(e);
  e = parse("1 < 2");
  (void)cb_expr_params(e, &n);
  assert_int_equal(n, 0);
  cb_expr_free(e);
}

/* ---- refused --------------------------------------------------------------------- */

static void assert_refused(const char *text, const char *sentence) {
  cb_expr *e = (cb_expr *)&err;
  assert_fails(cb_expr_parse(&e, space, find("late"), text, &err), COCABO_E_INVALID,
               sentence);
  assert_null(e);
}

static const char *const wrong_ones[][3] = {
    /* expression, column, what is wrong */
    {"kernel = poly", "8", "found \"=\", did you mean \"==\"?"},
    {"x <> y", "3", "found \"<>\", did you mean \"!=\"?"},
    {"flag && on", "6", "found \"&&\", did you mean \"and\"?"},
    {"flag || on", "6", "found \"||\", did you mean \"or\"?"},
    {"!flag", "1", "found \"!\", did you mean \"not\"?"},
    {"flag AND on", "6", "found \"AND\", did you mean \"and\"?"},
    {"x << y", "3", "found \"<<\", want an operator"},
    {"", "1", "found the end, want a value"},
    {"  ", "3", "found the end, want a value"},
    {"x <", "4", "found the end, want a value"},
    {"x < )", "5", "found \")\", want a value"},
    {"x < y y", "7", "found \"y\", want an operator or the end"},
    {"x < y)", "6", "found \")\", want an operator or the end"},
    {"(x < y", "7", "found the end, want \")\""},
    {"x < and", "5", "found \"and\", want a value"},
    {"flag == not on", "9", "found \"not\", want a value"},
    {"\xce\xbb == 1", "1", "found \"\xce\xbb\", want a value"},
    {"`\xce\xbb` == \xce\xbb", "8", "found \"\xce\xbb\", want a value"},
    {"x ** 2 < 3", "4", "found \"*\", want a value"},
    {"x < +3", "5", "found \"+\", want a value"},
    {"x not 3", "7", "found \"3\", want \"in\""},
    {"x in 3", "6", "found \"3\", want \"(\""},
    {"x in ()", "7", "found \")\", want a value"},
    {"x in (1 2)", "9", "found \"2\", want \",\" or \")\""},
    {"x in (1,)", "9", "found \")\", want a value"},
    {"x in (-y)", "7", "found \"-\", want a value"},
    {"max(x", "6", "found the end, want \",\" or \")\""},
    {"max(x < y)", "7", "found \"<\", want \",\" or \")\""},
    {"1 < x < 3", "7", "comparisons do not chain, want \"and\" between two"},
    {"x == y == 3", "8", "comparisons do not chain, want \"and\" between two"},
    {"x in (1) in (2)", "10", "comparisons do not chain, want \"and\" between two"},
    /* names */
    {"kernal == poly", "1", "no parameter \"kernal\", did you mean \"kernel\"?"},
    {"x + unit < 3", "5", "no parameter \"unit\", did you mean \"units\"?"},
    {"zebra < 3", "1", "no parameter \"zebra\" is declared before this"},
    {"zebra", "1", "no parameter \"zebra\" is declared before this"},
    {"`zebra` < 3", "1", "no parameter \"zebra\" is declared before this"},
    {"`kernl` == poly", "1", "no parameter \"kernl\", did you mean \"kernel\"?"},
    {"late < 3", "1", "parameter \"late\" is not declared before this"},
    {"`late` < 3", "1", "parameter \"late\" is not declared before this"},
    {"min < 3", "1", "\"min\" is a function, want min(...) or `min`"},
    {"`max` < 3", "1", "no parameter \"max\", did you mean \"mix\"?"},
    {"`x < 3", "1", "the backquote is not closed"},
    {"tanh(x) < 3", "1",
     "no function \"tanh\", want min, max, abs, log, exp, sqrt, floor or ceil"},
    {"x (3) < 3", "1",
     "no function \"x\", want min, max, abs, log, exp, sqrt, floor or ceil"},
    {"log(x, 2) < 3", "6", "log takes one number"},
    /* choices */
    {"kernel == pol", "11",
     "parameter \"kernel\" has no choice \"pol\", did you mean \"poly\"?"},
    {"kernel in (poly, 'rfb')", "18",
     "parameter \"kernel\" has no choice \"rfb\", did you mean \"rbf\"?"},
    {"kernel == sigmoid", "11",
     "parameter \"kernel\" has no choice \"sigmoid\", it is choice(linear,poly,rbf)"},
    {"kernel == 3", "11",
     "parameter \"kernel\" has no choice 3, it is choice(linear,poly,rbf)"},
    {"lr == 1", "7", "parameter \"lr\" has no choice 1, it is choice(0.1,1.0)"},
    {"units == 64.0", "10",
     "parameter \"units\" has no choice 64.0, it is choice(16,32,64,128)"},
    {"- 64 != units", "1",
     "parameter \"units\" has no choice - 64, it is choice(16,32,64,128)"},
    {"units in (16, null)", "15",
     "parameter \"units\" has no choice null, it is choice(16,32,64,128)"},
    {"flag == True", "9",
     "parameter \"flag\" has no choice \"True\", it is choice(false,true)"},
    {"size < larg", "8",
     "parameter \"size\" has no choice \"larg\", did you mean \"large\"?"},
    {"3 < size", "1",
     "parameter \"size\" has no choice 3, it is ordinal(small,medium,large)"},
    {"kernel == units", "1",
     "parameters \"kernel\" and \"units\" have no choice in common"},
    {"size < grade", "8", "parameters \"size\" and \"grade\" have different levels"},
    {"size < kernel", "8",
     "parameter \"kernel\" is choice(linear,poly,rbf), want an ordinal"},
    {"size >= shape", "9",
     "parameter \"shape\" is choice(small,medium,large), want an ordinal"},
    {"units < size", "1",
     "parameter \"units\" is choice(16,32,64,128), want an ordinal"},
    {"size < depth", "8", "parameters \"size\" and \"depth\" have different levels"},
    /* types */
    {"kernel < poly", "1",
     "parameter \"kernel\" is choice(linear,poly,rbf), want an ordinal or a number"},
    {"kernel + 1 < 3", "1",
     "parameter \"kernel\" is choice(linear,poly,rbf), want a number"},
    {"x < kernel", "5",
     "parameter \"kernel\" is choice(linear,poly,rbf), want an ordinal or a number"},
    {"x == kernel", "6",
     "parameter \"kernel\" is choice(linear,poly,rbf), want a number"},
    {"size < x", "1",
     "parameter \"size\" is ordinal(small,medium,large), want a number"},
    {"size + 1 < 2", "1",
     "parameter \"size\" is ordinal(small,medium,large), want a number"},
    {"flag + 1 == 2", "1", "parameter \"flag\" is choice(false,true), want a number"},
    {"kernel", "1",
     "parameter \"kernel\" is choice(linear,poly,rbf), want a condition"},
    {"not units", "5", "parameter \"units\" is choice(16,32,64,128), want a condition"},
    {"x + n", "1", "\"x + n\" is a number, want a condition"},
    {"flag and (x + n)", "10", "\"(x + n)\" is a number, want a condition"},
    {"n", "1", "\"n\" is a number, want a condition"},
    {"1", "1", "\"1\" is a number, want a condition"},
    {"(x < y) + 1 > 2", "1", "\"(x < y)\" is a condition, want a number"},
    {"(x < y) < 2", "1", "\"(x < y)\" is a condition, want a number"},
    {"(x < y) in (true)", "1", "\"(x < y)\" is a condition, want a number"},
    {"(x < y) == 2", "12", "\"2\" is a number, want a condition"},
    {"x == true", "6", "\"true\" is a condition, want a number"},
    {"x in (1, true)", "10", "\"true\" is a condition, want a number"},
    {"-flag < 1", "2", "parameter \"flag\" is choice(false,true), want a number"},
    {"x == 'a'", "6", "text may only stand opposite a choice or an ordinal"},
    {"'a' == 'a'", "1", "text may only stand opposite a choice or an ordinal"},
    {"'a'", "1", "text may only stand opposite a choice or an ordinal"},
    {"x == null", "6", "null may only stand opposite a choice or an ordinal"},
    {"null", "1", "null may only stand opposite a choice or an ordinal"},
    {"abs('a') < 1", "5", "text may only stand opposite a choice or an ordinal"},
    {"x in (a)", "7", "no parameter \"a\" is declared before this"},
    /* numbers and texts */
    {"x < 3x3", "5", "bad number 3x3, want quotes around it if it is text"},
    {"x < 1.2.3", "5", "bad number 1.2.3, want quotes around it if it is text"},
    {"x < 1e999", "5", "bad number 1e999, want quotes around it if it is text"},
    {"x < 1e", "5", "bad number 1e, want quotes around it if it is text"},
    {"x < 0x10", "5", "bad number 0x10, want quotes around it if it is text"},
    {"n < 9223372036854775808", "5",
     "bad number 9223372036854775808, want quotes around it if it is text"},
    {"kernel == \"pol", "11", "bad text, want the end of a text"},
    {"kernel == 'pol", "11", "bad text, want the end of a text"},
    {"kernel == 'pol\\'", "11", "bad text, want the end of a text"},
    {"kernel == 'pol\\", "11",
     "bad text, want a text without control characters and odd escapes"},
    {"kernel == \"p\\q\"", "11",
     "bad text, want a text without control characters and odd escapes"},
    {"kernel == 'p\n'", "11",
     "bad text, want a text without control characters and odd escapes"},
};

static void what_is_wrong_is_said_with_its_place(void **state) {
  (void)state;
  for (size_t i = 0; i < COUNT(wrong_ones); i++) {
    char sentence[400], shown[80];
    snprintf(shown, sizeof shown, "%s", wrong_ones[i][0]);
    for (char *s = shown; *s; s++)
      *s = *s == '\n' ? '?' : *s;
    snprintf(sentence, sizeof sentence, "in \"%s\" at column %s: %s", shown,
             wrong_ones[i][1], wrong_ones[i][2]);
    assert_refused(wrong_ones[i][0], sentence);
  }
  assert_refused(NULL, "the expression is NULL");
  assert_refused("x < \xff", "the expression is not valid UTF-8");
}

/* With the last 20 bytes before it. */
static void a_long_expression_is_quoted_at_the_place(void **state) {
  (void)state;
  assert_refused("x < y or x < 2 * y or x < 3 * y or x < 4 * y or x << 5 * y",
                 "in \"x < y or x < 2 * y or x < 3 * y or x < 4 * y or x << 5 * y\" at "
                 "column 51: found \"<<\", want an operator");
  assert_refused(
      "kernel in (poly, linear, rbf) and x < 3 and size = small and "
      "units < 100 and x > -10 and y < 5 and n < 7",
      "in \"... and x < 3 and size = small and units < 100 and x > -10 a...\" "
      "at column 50: found \"=\", did you mean \"==\"?");
  /* 20 bytes before it is the second byte of a lambda. */
  assert_refused("`\xce\xbb` < 3 and `\xce\xbb` + `\xce\xbb` + `\xce\xbb` * "
                 "`\xce\xbb` + n * n * n    < size + n",
                 "in \"...` + n * n * n    < size + n\" at column 52: parameter "
                 "\"size\" is ordinal(small,medium,large), want a number");
}

static void long_names_leave_room_for_the_reason(void **state) {
  (void)state;
  char text[CB_EXPR_LENGTH], name[80] = {0}, quoted[80] = {0}, sentence[300];
  memset(text, ' ', 1000);
  memset(text + 200, 'z', 300);
  strcpy(text + 1000, "< 1");
  memset(name, 'z', 37);
  memset(quoted, 'z', 57);
  memset(quoted, ' ', 20);
  snprintf(
      sentence, sizeof sentence,
      "in \"...%s...\" at column 201: no parameter \"%s...\" is declared before this",
      quoted, name);
  assert_refused(text, sentence);
}

/* ---- limits ---------------------------------------------------------------------- */

/* `open` and `close` n times around the middle. */
static const char *nest(int n, const char *open, const char *middle,
                        const char *close) {
  static char text[3 * CB_EXPR_LENGTH];
  text[0] = '\0';
  for (int i = 0; i < n; i++)
    strcat(text, open);
  strcat(text, middle);
  for (int i = 0; i < n; i++)
    strcat(text, close);
  return text;
}

static void nesting_has_an_end(void **state) {
  (void)state;
  static const char *const kinds[][3] = {
      {"(", "true", ")"},
      {"not ", "true", ""},
      {"not (", "true", ")"},
      {"true and (", "true", ")"},
      {"true == (false or true and true == (", "true", "))"},
      {"flag or flag and flag == (", "x + x * (max(1, 2, 3 + 4 * 5)) < 9", ")"}};
  static const char *const numbers[][3] = {{"-", "x", ""},
                                           {"- ", "(1)", ""},
                                           {"(", "x", ")"},
                                           {"max(1, 2 + 3 * ", "x", ")"},
                                           {"1 + 2 * (", "x", ")"}};
  for (size_t i = 0; i < COUNT(kinds); i++)
    for (int n = 1; n <= 66; n++) {
      cb_expr *e = NULL;
      (void)cb_expr_parse(&e, space, 20, nest(n, kinds[i][0], kinds[i][1], kinds[i][2]),
                          &err);
      if (e)
        (void)test(cb_expr_text(e));
      else
        assert_non_null(
            strstr(err.message, "nested too deeply, want at most 64 levels"));
      cb_expr_free(e);
      if (i == 0)
        assert_int_equal(n <= CB_EXPR_DEPTH, e != NULL);
    }
  for (size_t i = 0; i < COUNT(numbers); i++)
    for (int n = 62; n <= 66; n++) {
      char text[CB_EXPR_LENGTH];
      snprintf(text, sizeof text, "true or true and true == (1 < 2) and %s < 1",
               nest(n, numbers[i][0], numbers[i][1], numbers[i][2]));
      cb_expr *e = NULL;
      (void)cb_expr_parse(&e, space, 20, text, &err);
      if (e)
        (void)test(text);
      assert_int_equal(n + (i == 1) <= CB_EXPR_DEPTH, e != NULL);
      cb_expr_free(e);
    }
  /* What is closed is no longer nested. */
  assert_int_equal(test(nest(100, "(x) + ", "1 < 2", "")), CB_FALSE);
  assert_int_equal(test(nest(100, "-x + ", "1 < 2", "")), CB_TRUE);
  assert_int_equal(test(nest(100, "abs(x) + ", "1 < 2", "")), CB_FALSE);
  assert_int_equal(test(nest(100, "not on and ", "flag", "")), CB_TRUE);

  char sentence[200], quoted[58] = {0};
  memset(quoted, '(', sizeof quoted - 1);
  snprintf(sentence, sizeof sentence,
           "in \"...%s...\" at column 65: nested too deeply, want at most 64 levels",
           quoted);
  assert_refused(nest(CB_EXPR_LENGTH, "(", "", ""), sentence);
}

static void length_has_an_end(void **state) {
  (void)state;
  const char *sum = nest(1023, "x + ", "1 < 2", ""); /* 4097 bytes */
  assert_refused(sum, "the expression is 4097 bytes long, want at most 4096");
  assert_int_equal(test(nest(1022, "x + ", "1 < 2", "")), CB_FALSE);
  assert_refused(nest(1023, "x+", "1<2", ""),
                 "the expression is too long with all its blanks and quotes, want at "
                 "most 4096 bytes");
}

/* ---- memory ---------------------------------------------------------------------- */

static void out_of_memory_is_said(void **state) {
  (void)state;
  static const char *const texts[] = {
      "kernel == poly", "kernel in (poly, 'rbf', \"linear\") and x < 3.5",
      "units * units + 3 < max(x, `my rate`, depth) or kernel == pool", "x < 3 or ="};
  for (size_t i = 0; i < COUNT(texts); i++)
    for (long k = 0;; k++) {
      cb_expr *e = NULL;
      cb_mem_fail_after(k);
      const cocabo_status status =
          cb_expr_parse(&e, space, find("late"), texts[i], &err);
      cb_mem_fail_after(-1);
      assert_int_equal(status == COCABO_OK, e != NULL);
      cb_expr_free(e);
      if (status != COCABO_E_NO_MEMORY) {
        assert_true(k > 2);
        break;
      }
      assert_string_equal(err.message, "out of memory");
    }
  cb_expr *e = parse("kernel == poly");
  cb_mem_fail_after(0);
  assert_null(cb_expr_copy(e));
  cb_mem_fail_after(0); /* neither takes memory */
  assert_int_equal(cb_expr_test(e, cells, active), CB_TRUE);
  assert_true(cb_expr_violation(e, cells, active) == 0.0);
  assert_null(cb_expr_copy(e)); /* it was still to fail */
  cb_mem_fail_after(-1);
  cb_expr_free(e);
}

#define AT_THE_POINT(f) cmocka_unit_test_setup(f, set_point)

int main(void) {
  const struct CMUnitTest tests[] = {
      AT_THE_POINT(what_holds_is_true_and_its_negation_is_not),
      AT_THE_POINT(choices_compare_by_type_and_value),
      AT_THE_POINT(what_has_no_value_is_false),
      AT_THE_POINT(python_agrees),
      AT_THE_POINT(unknown_follows_kleene),
      AT_THE_POINT(what_names_an_inactive_parameter_is_unknown),
      AT_THE_POINT(without_flags_all_are_active),
      AT_THE_POINT(violation_is_the_gap),
      AT_THE_POINT(expressions_are_written_in_one_way),
      AT_THE_POINT(an_expression_knows_whom_it_names),
      AT_THE_POINT(what_is_wrong_is_said_with_its_place),
      AT_THE_POINT(a_long_expression_is_quoted_at_the_place),
      AT_THE_POINT(long_names_leave_room_for_the_reason),
      AT_THE_POINT(nesting_has_an_end),
      AT_THE_POINT(length_has_an_end),
      AT_THE_POINT(out_of_memory_is_said),
  };
  return cmocka_run_group_tests_name("space/expr", tests, make_space, free_space);
}
