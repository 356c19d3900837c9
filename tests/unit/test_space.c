#include "check.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "space/space.h"

static cocabo_error err;

static cocabo_value text(const char *t) {
  return (cocabo_value){.type = COCABO_TEXT, .as.text = t};
}

static cocabo_value real(double v) {
  return (cocabo_value){.type = COCABO_REAL, .as.real = v};
}

static cocabo_value integer(int64_t v) {
  return (cocabo_value){.type = COCABO_INT, .as.integer = v};
}

static cocabo_value boolean(int v) {
  return (cocabo_value){.type = COCABO_BOOL, .as.boolean = v};
}

static const cocabo_value null_value = {.type = COCABO_NULL};

/* One parameter of each kind, in an order that makes slots differ from places. */
static cocabo_space *mixed_space(void) {
  cocabo_space *s = cocabo_space_new();
  const cocabo_value opt[] = {text("adam"), text("sgd"), null_value, integer(1),
                              real(1.0),    boolean(7),  text("1")};
  const cocabo_value size[] = {text("small"), text("medium"), text("large")};
  assert_ok(cocabo_space_add_choice(s, "opt", opt, 7, 0, &err));
  assert_ok(cocabo_space_add_real(s, "lr", 1e-5, 0.1, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_int(s, "layers", -3, 8, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "size", size, 3, COCABO_ORDERED, &err));
  assert_ok(cocabo_space_add_choice(s, "act", size, 2, 0, &err));
  assert_ok(cocabo_space_add_real(s, "drop", 0, 1, 0.1, 0, &err));
  assert_ok(cocabo_space_add_int(s, "width", 16, 1024, 0, COCABO_LOG, &err));
  return s;
}

/* A space with one grid, to look at its levels. */
static int64_t levels_of(double low, double high, double step, double *last) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_real(s, "x", low, high, step, 0, &err));
  const int64_t levels = cb_space_levels(s, 0);
  *last = s->params[0].high;
  cocabo_space_free(s);
  return levels;
}

static void slots_follow_kind_and_order(void **state) {
  (void)state;
  cocabo_space *s = mixed_space();
  assert_int_equal(cocabo_space_count(s), 7);
  assert_int_equal(s->d, 5);
  assert_int_equal(s->c, 2);
  const int numeric[] = {1, 2, 3, 5, 6}, categorical[] = {0, 4};
  assert_memory_equal(s->numeric, numeric, sizeof numeric);
  assert_memory_equal(s->categorical, categorical, sizeof categorical);
  for (int i = 0; i < s->n; i++) {
    const cb_param *p = &s->params[i];
    assert_int_equal((p->kind == CB_CHOICE ? categorical : numeric)[p->slot], i);
  }
  assert_int_equal(cb_space_arms(s, 0), 7);
  assert_int_equal(cb_space_arms(s, 1), 2);
  assert_int_equal(cb_space_find(s, "size"), 3);
  assert_int_equal(cb_space_find(s, "siz"), -1);
  cocabo_space_free(s);
}

static void steps_are_counted_through_rounding(void **state) {
  (void)state;
  double last;
  assert_int_equal(levels_of(0, 1, 0.1, &last), 11);
  assert_true(last == 1.0);
  assert_int_equal(levels_of(0, 0.3, 0.1, &last), 4); /* 0.3 / 0.1 < 3 */
  assert_true(last == 0.3);
  assert_int_equal(levels_of(0.1, 0.7, 0.2, &last), 4);
  assert_true(last == 0.7);
  assert_int_equal(levels_of(0, 0.95, 0.1, &last), 10);
  assert_close(last, 0.9, 1e-15);
  assert_int_equal(levels_of(1e6, 1e6 + 0.3, 0.1, &last), 4);
  assert_int_equal(levels_of(-5, 5, 10, &last), 2);
  assert_int_equal(levels_of(0, 1, 1.0 / 3.0, &last), 4);
  assert_int_equal(levels_of(3, 3, 0, &last), 1);
  assert_int_equal(levels_of(3, 3, 0.5, &last), 1);
  assert_int_equal(levels_of(0, 1e6, 1e-6, &last), INT64_C(1000000000001));
  assert_int_equal(levels_of(-1, 1, 0, &last), 0);
}

static void bounds_are_checked(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
#define BAD_REAL(low, high, step, flags, code, sentence)                               \
  assert_fails(cocabo_space_add_real(s, "lr", low, high, step, flags, &err), code,     \
               sentence)
  BAD_REAL(2, 1, 0, 0, COCABO_E_RANGE,
           "parameter \"lr\": low is 2, high is 1, want low <= high");
  BAD_REAL(1.0000000001, 1, 0, 0, COCABO_E_RANGE,
           "parameter \"lr\": low is 1.0000000001, high is 1, want low <= high");
  BAD_REAL(NAN, 1, 0, 0, COCABO_E_RANGE,
           "parameter \"lr\": low is nan, want a finite number");
  BAD_REAL(-NAN, 1, 0, 0, COCABO_E_RANGE,
           "parameter \"lr\": low is nan, want a finite number");
  BAD_REAL(0, INFINITY, 0, 0, COCABO_E_RANGE,
           "parameter \"lr\": high is inf, want a finite number");
  BAD_REAL(-1e308, 1e308, 0, 0, COCABO_E_RANGE,
           "parameter \"lr\": low is -1e308, high is 1e308, want high - low finite");
  BAD_REAL(0, 1, NAN, 0, COCABO_E_RANGE,
           "parameter \"lr\": step is nan, want a finite number");
  BAD_REAL(0, 1, -0.5, 0, COCABO_E_RANGE, "parameter \"lr\": step is -0.5, want >= 0");
  BAD_REAL(0, 1, 1.5, 0, COCABO_E_RANGE,
           "parameter \"lr\": step is 1.5, want at most high - low, which is 1");
  BAD_REAL(
      1, 2, 1e-16, 0, COCABO_E_RANGE,
      "parameter \"lr\": step is 1e-16, want at least 1.7763568394002505e-15 so that "
      "levels differ");
  BAD_REAL(-4, 3, 3.9 * DBL_EPSILON * 4, 0, COCABO_E_RANGE,
           "parameter \"lr\": step is 3.4638958368304883e-15, want at least "
           "3.552713678800501e-15 so that levels differ");
  BAD_REAL(1, 2, 0.5, COCABO_LOG, COCABO_E_INVALID,
           "parameter \"lr\": step is 0.5, want 0 on a log scale");
  BAD_REAL(0, 1, 0, COCABO_LOG, COCABO_E_RANGE,
           "parameter \"lr\": low is 0, want low > 0 on a log scale");
  BAD_REAL(-2, 1, 0, COCABO_LOG, COCABO_E_RANGE,
           "parameter \"lr\": low is -2, want low > 0 on a log scale");
  BAD_REAL(0, 1, 0, COCABO_ORDERED, COCABO_E_INVALID,
           "parameter \"lr\": flags are 2, want COCABO_LOG or 0");
#undef BAD_REAL
#define BAD_STEP(step, flags, code, sentence)                                          \
  assert_fails(cocabo_space_add_int(s, "n", 1, 8, step, flags, &err), code, sentence)
  BAD_STEP(-2, 0, COCABO_E_RANGE, "parameter \"n\": step is -2, want >= 0");
  BAD_STEP(8, 0, COCABO_E_RANGE,
           "parameter \"n\": step is 8, want at most high - low, which is 7");
  BAD_STEP(INT64_MAX, 0, COCABO_E_RANGE,
           "parameter \"n\": step is 9223372036854775807, want at most high - low, "
           "which is 7");
  BAD_STEP(2, COCABO_LOG, COCABO_E_INVALID,
           "parameter \"n\": step is 2, want 1 on a log scale");
#undef BAD_STEP
#define BAD_INT(low, high, flags, code, sentence)                                      \
  assert_fails(cocabo_space_add_int(s, "n", low, high, 0, flags, &err), code, sentence)
  const int64_t edge = INT64_C(1) << 53;
  BAD_INT(5, 4, 0, COCABO_E_RANGE,
          "parameter \"n\": low is 5, high is 4, want low <= high");
  BAD_INT(-edge - 1, 0, 0, COCABO_E_RANGE,
          "parameter \"n\": low is -9007199254740993, want -2^53 to 2^53");
  BAD_INT(0, edge + 1, 0, COCABO_E_RANGE,
          "parameter \"n\": high is 9007199254740993, want -2^53 to 2^53");
  BAD_INT(INT64_MIN, INT64_MAX, 0, COCABO_E_RANGE,
          "parameter \"n\": low is -9223372036854775808, want -2^53 to 2^53");
  BAD_INT(0, edge, 0, COCABO_E_RANGE,
          "parameter \"n\": low is 0, high is 9007199254740992, want at most 2^53 "
          "values");
  BAD_INT(0, 8, COCABO_LOG, COCABO_E_RANGE,
          "parameter \"n\": low is 0, want low > 0 on a log scale");
  BAD_INT(1, (INT64_C(1) << 40) + 1, COCABO_LOG, COCABO_E_RANGE,
          "parameter \"n\": high is 1099511627777, want at most 2^40 on a log scale");
  BAD_INT(1, 8, 4u, COCABO_E_INVALID,
          "parameter \"n\": flags are 4, want COCABO_LOG or 0");
#undef BAD_INT
  assert_int_equal(cocabo_space_count(s), 0);
  cocabo_space_free(s);
}

static void names_are_checked(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
#define BAD_NAME(name, code, sentence)                                                 \
  assert_fails(cocabo_space_add_int(s, name, 0, 1, 0, 0, &err), code, sentence)
  char long_name[202];
  memset(long_name, 'a', sizeof long_name);
  long_name[201] = '\0';
  BAD_NAME(NULL, COCABO_E_INVALID, "parameter name is NULL");
  BAD_NAME("", COCABO_E_INVALID, "parameter name is empty");
  BAD_NAME(long_name, COCABO_E_INVALID,
           "parameter name is 201 bytes long, want at most 200");
  BAD_NAME("a\nb", COCABO_E_INVALID, "parameter name has a control character");
  BAD_NAME("\x7f", COCABO_E_INVALID, "parameter name has a control character");
  BAD_NAME("\xc2\x85", COCABO_E_INVALID, "parameter name has a control character");
  const char *const bad_utf8[] = {"\xff",
                                  "a\x80",
                                  "\xc0\xaf",
                                  "\xc3",
                                  "\xe2\x82",
                                  "\xed\xa0\x80",
                                  "\xe0\x80\x80",
                                  "\xf4\x90\x80\x80",
                                  "\xf0\x80\x80\x80",
                                  "\xf5\x80\x80\x80"};
  for (size_t i = 0; i < sizeof bad_utf8 / sizeof bad_utf8[0]; i++)
    BAD_NAME(bad_utf8[i], COCABO_E_INVALID, "parameter name is not valid UTF-8");
  assert_int_equal(cocabo_space_count(s), 0);

  long_name[200] = '\0';
  assert_ok(cocabo_space_add_int(s, long_name, 0, 1, 0, 0, &err));
  assert_ok(cocabo_space_add_int(s, "\xce\xbb \xe2\x82\xac \xf0\x9f\x98\x80", 0, 1, 0,
                                 0, &err));
  assert_ok(cocabo_space_add_int(s, "n", 0, 1, 0, 0, &err));
  BAD_NAME("n", COCABO_E_EXISTS, "parameter \"n\" exists already");
#undef BAD_NAME
  cocabo_space_free(s);
}

static void choices_are_checked(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
#define BAD_CHOICE(choices, n, flags, code, sentence)                                  \
  assert_fails(cocabo_space_add_choice(s, "opt", choices, n, flags, &err), code,       \
               sentence)
  const cocabo_value good[] = {text("a"), text("b")};
  BAD_CHOICE(good, 0, 0, COCABO_E_RANGE,
             "parameter \"opt\" has 0 choices, want 1 to 1000");
  BAD_CHOICE(good, 1001, 0, COCABO_E_RANGE,
             "parameter \"opt\" has 1001 choices, want 1 to 1000");
  BAD_CHOICE(NULL, 2, 0, COCABO_E_INVALID, "parameter \"opt\": choices is NULL");
  BAD_CHOICE(good, 2, COCABO_LOG, COCABO_E_INVALID,
             "parameter \"opt\": flags are 1, want COCABO_ORDERED or 0");
  const cocabo_value repeated[] = {text("a"), text("b"), integer(1), text("a")};
  BAD_CHOICE(repeated, 4, 0, COCABO_E_INVALID,
             "parameter \"opt\": choice 3 repeats choice 0");
  const cocabo_value zeros[] = {real(0.0), real(-0.0)};
  BAD_CHOICE(zeros, 2, 0, COCABO_E_INVALID,
             "parameter \"opt\": choice 1 repeats choice 0");
  const cocabo_value truths[] = {boolean(1), boolean(2)};
  BAD_CHOICE(truths, 2, 0, COCABO_E_INVALID,
             "parameter \"opt\": choice 1 repeats choice 0");
  const cocabo_value nulls[] = {null_value, text("null"), null_value};
  BAD_CHOICE(nulls, 3, COCABO_ORDERED, COCABO_E_INVALID,
             "parameter \"opt\": choice 2 repeats choice 0");
  const cocabo_value infinite[] = {text("a"), real(-INFINITY)};
  BAD_CHOICE(infinite, 2, 0, COCABO_E_RANGE,
             "parameter \"opt\": choice 1 is -inf, want a finite number");
  const cocabo_value invalid[] = {text("\xff")};
  BAD_CHOICE(invalid, 1, 0, COCABO_E_INVALID,
             "parameter \"opt\": choice 0 is not valid UTF-8");
  const cocabo_value no_text[] = {text(NULL)};
  BAD_CHOICE(no_text, 1, 0, COCABO_E_INVALID,
             "parameter \"opt\": choice 0 is a NULL text");
  const cocabo_value odd[] = {{.type = (cocabo_type)17}};
  BAD_CHOICE(odd, 1, 0, COCABO_E_INVALID,
             "parameter \"opt\": choice 0 has type 17, want a cocabo_type");
#undef BAD_CHOICE
  assert_int_equal(cocabo_space_count(s), 0);
  cocabo_space_free(s);
}

static void a_space_holds_two_hundred_parameters(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  char name[16];
  for (int i = 0; i < COCABO_MAX_PARAMETERS; i++) {
    snprintf(name, sizeof name, "p%d", i);
    assert_ok(cocabo_space_add_int(s, name, 0, i, 0, 0, &err));
  }
  assert_fails(cocabo_space_add_int(s, "more", 0, 1, 0, 0, &err), COCABO_E_RANGE,
               "parameter \"more\" is one too many, want at most 200");
  assert_int_equal(cocabo_space_count(s), 200);
  cocabo_space_free(s);

  s = cocabo_space_new();
  static cocabo_value many[COCABO_MAX_CHOICES];
  for (int i = 0; i < COCABO_MAX_CHOICES; i++)
    many[i] = integer(i);
  assert_ok(cocabo_space_add_choice(s, "many", many, COCABO_MAX_CHOICES, 0, &err));
  assert_int_equal(cb_space_arms(s, 0), 1000);
  cocabo_space_free(s);
}

static void a_copy_is_equal_and_independent(void **state) {
  (void)state;
  cocabo_space *a = mixed_space();
  cocabo_space *b = cb_space_copy(a);
  assert_non_null(b);
  assert_true(cb_space_equal(a, b));
  assert_int_equal(b->d, a->d);
  assert_memory_equal(b->numeric, a->numeric, (size_t)a->numbers * sizeof *a->numeric);
  assert_ok(cocabo_space_add_int(a, "more", 0, 1, 0, 0, &err));
  assert_false(cb_space_equal(a, b));
  cocabo_space_free(a);
  assert_string_equal(b->params[0].choices[1].as.text, "sgd");
  cocabo_space_free(b);
}

static void spaces_differ_in_any_detail(void **state) {
  (void)state;
  cocabo_space *base = cocabo_space_new(), *other;
  assert_ok(cocabo_space_add_real(base, "x", 1, 2, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(base, "c", (cocabo_value[]){integer(1), text("b")},
                                    2, 0, &err));
  struct {
    const char *x, *c;
    double low, high, step;
    unsigned log, ordered;
    cocabo_value first;
  } cases[] = {
      {"y", "c", 1, 2, 0, 0, 0, integer(1)},
      {"x", "d", 1, 2, 0, 0, 0, integer(1)},
      {"x", "c", 1.5, 2, 0, 0, 0, integer(1)},
      {"x", "c", 1, 3, 0, 0, 0, integer(1)},
      {"x", "c", 1, 2, 0.5, 0, 0, integer(1)},
      {"x", "c", 1, 2, 0, COCABO_LOG, 0, integer(1)},
      {"x", "c", 1, 2, 0, 0, COCABO_ORDERED, integer(1)},
      {"x", "c", 1, 2, 0, 0, 0, real(1)},
      {"x", "c", 1, 2, 0, 0, 0, integer(2)},
      {"x", "c", 1, 2, 0, 0, 0, integer(1)},
  };
  const size_t n = sizeof cases / sizeof cases[0];
  for (size_t i = 0; i < n; i++) {
    other = cocabo_space_new();
    assert_ok(cocabo_space_add_real(other, cases[i].x, cases[i].low, cases[i].high,
                                    cases[i].step, cases[i].log, &err));
    assert_ok(cocabo_space_add_choice(other, cases[i].c,
                                      (cocabo_value[]){cases[i].first, text("b")}, 2,
                                      cases[i].ordered, &err));
    assert_int_equal(cb_space_equal(base, other), i == n - 1);
    cocabo_space_free(other);
  }
  cocabo_space_free(base);
}

static void a_failed_allocation_leaves_the_space_as_it_was(void **state) {
  (void)state;
  cocabo_space *s = mixed_space();
  cocabo_space *before = cb_space_copy(s);
  const cocabo_value choices[] = {text("a"), integer(3), text("b")};
  cocabo_status status = COCABO_E_NO_MEMORY;
  int k = 0;
  for (; status != COCABO_OK; k++) {
    cb_mem_fail_after(k);
    status = cocabo_space_add_choice(s, "more", choices, 3, 0, &err);
    cb_mem_fail_after(-1);
    if (status == COCABO_OK)
      break;
    assert_int_equal(status, COCABO_E_NO_MEMORY);
    assert_true(cb_space_equal(s, before));
  }
  assert_int_equal(k, 6); /* choices, two texts, name, parameters, slots */
  cocabo_space *copy = NULL;
  for (k = 0; !copy; k++) {
    cb_mem_fail_after(k);
    copy = cb_space_copy(s);
    cb_mem_fail_after(-1);
  }
  assert_true(k > 30);
  assert_true(cb_space_equal(s, copy));
  cocabo_space_free(copy);
  cocabo_space_free(before);
  cocabo_space_free(s);
}

static void shared_spaces_live_until_the_last_is_released(void **state) {
  (void)state;
  cocabo_space *s = mixed_space();
  cocabo_space *t = cb_space_share(s);
  cocabo_space_free(s);
  assert_string_equal(t->params[1].name, "lr"); /* a sanitizer would tell */
  cocabo_space_free(t);
  cocabo_space_free(NULL);
  assert_int_equal(cocabo_space_count(NULL), 0);
}

static void values_become_cells_and_back(void **state) {
  (void)state;
  cocabo_space *s = mixed_space();
  cb_cell cell;
  const cocabo_value values[] = {text("1"), real(0.003), integer(-2), text("large")};
  for (int i = 0; i < 4; i++) {
    assert_ok(cb_space_to_cell(s, i, &values[i], &cell, &err));
    const cocabo_value back = cb_space_from_cell(s, i, cell);
    assert_int_equal(back.type, values[i].type);
    if (back.type == COCABO_TEXT)
      assert_string_equal(back.as.text, values[i].as.text);
    else
      assert_memory_equal(&back.as, &values[i].as, 8);
  }
  /* Five values that look alike are five choices. */
  const cocabo_value alike[] = {null_value, integer(1), real(1), boolean(1), text("1")};
  for (int k = 0; k < 5; k++) {
    assert_ok(cb_space_to_cell(s, 0, &alike[k], &cell, &err));
    assert_int_equal(cell.integer, k + 2);
  }
  /* An int where a real is wanted; a decimal that is on the grid but for rounding. */
  const cocabo_value one = integer(1), three_tenths = real(0.3), zero = real(-0.0);
  assert_ok(cb_space_to_cell(s, 5, &one, &cell, &err));
  assert_true(cell.real == 1.0);
  assert_ok(cb_space_to_cell(s, 5, &three_tenths, &cell, &err));
  assert_true(cell.real == 0.3);
  assert_ok(cb_space_to_cell(s, 5, &zero, &cell, &err));
  assert_false(signbit(cell.real));
  cocabo_space_free(s);
}

static void values_outside_the_domain_are_named(void **state) {
  (void)state;
  cocabo_space *s = mixed_space();
  const cb_cell untouched = {.integer = 77};
  cb_cell cell = untouched;
#define BAD_VALUE(i, v, code, sentence)                                                \
  do {                                                                                 \
    const cocabo_value v_ = (v);                                                       \
    assert_fails(cb_space_to_cell(s, i, &v_, &cell, &err), code, sentence);            \
    assert_int_equal(cell.integer, 77);                                                \
  } while (0)
  BAD_VALUE(1, real(0.2), COCABO_E_RANGE, "parameter \"lr\" is 0.2, want 1e-5 to 0.1");
  BAD_VALUE(1, real(NAN), COCABO_E_RANGE, "parameter \"lr\" is nan, want 1e-5 to 0.1");
  BAD_VALUE(1, text("x\ny"), COCABO_E_INVALID,
            "parameter \"lr\": \"x?y\" is of type text, want a real");
  BAD_VALUE(1, integer(INT64_MAX), COCABO_E_INVALID,
            "parameter \"lr\": 9223372036854775807 is of type int, want a real");
  BAD_VALUE(2, integer(9), COCABO_E_RANGE, "parameter \"layers\" is 9, want -3 to 8");
  BAD_VALUE(2, real(3), COCABO_E_INVALID,
            "parameter \"layers\": 3 is of type real, want an int");
  BAD_VALUE(3, text("huge"), COCABO_E_RANGE,
            "parameter \"size\" is \"huge\", want one of its choices");
  BAD_VALUE(3, integer(1), COCABO_E_INVALID,
            "parameter \"size\": 1 is of type int, want one of its choices");
  BAD_VALUE(3, text(NULL), COCABO_E_INVALID, "parameter \"size\" is a NULL text");
  BAD_VALUE(1, text(NULL), COCABO_E_INVALID,
            "parameter \"lr\": \"?\" is of type text, want a real");
  BAD_VALUE(5, real(0.25), COCABO_E_RANGE,
            "parameter \"drop\" is 0.25, want 0 plus a multiple of 0.1");
  BAD_VALUE(5, real(1.1), COCABO_E_RANGE, "parameter \"drop\" is 1.1, want 0 to 1");
  BAD_VALUE(5, real(NAN), COCABO_E_RANGE, "parameter \"drop\" is nan, want 0 to 1");
  BAD_VALUE(5, real(-INFINITY), COCABO_E_RANGE,
            "parameter \"drop\" is -inf, want 0 to 1");
  BAD_VALUE(0, ((cocabo_value){.type = (cocabo_type)-1}), COCABO_E_INVALID,
            "parameter \"opt\" has type -1, want a cocabo_type");
#undef BAD_VALUE
  cocabo_space_free(s);
}

static void foreign_cells_are_not_held(void **state) {
  (void)state;
  cocabo_space *s = mixed_space();
  cb_cell good[7] = {{.integer = 6},   {.real = 0.05}, {.integer = 0},
                     {.integer = 2},   {.integer = 0}, {.real = 3 * 0.1},
                     {.integer = 1024}};
  assert_true(cb_space_holds(s, good));
  const struct {
    int i;
    cb_cell cell;
  } bad[] = {{0, {.integer = 7}},   {0, {.integer = -1}}, {1, {.real = NAN}},
             {1, {.real = 0.11}},   {2, {.integer = 9}},  {2, {.integer = -4}},
             {3, {.integer = 3}},   {5, {.real = 0.31}},  {5, {.real = -0.0}},
             {6, {.integer = 1025}}};
  for (size_t k = 0; k < sizeof bad / sizeof bad[0]; k++) {
    cb_cell cells[7];
    memcpy(cells, good, sizeof cells);
    cells[bad[k].i] = bad[k].cell;
    assert_false(cb_space_holds(s, cells));
  }
  cocabo_space_free(s);

  s = cocabo_space_new();
  assert_ok(cocabo_space_add_real(s, "x", -1, 1, 0, 0, &err));
  assert_true(cb_space_holds(s, &(cb_cell){.real = 0.0}));
  assert_false(cb_space_holds(s, &(cb_cell){.real = -0.0}));
  cocabo_space_free(s);
}

/* The level as somebody would write it: low + k step, in decimals. */
static void check_level(double low, double high, double step, int64_t k, double want) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_real(s, "x", low, high, step, 0, &err));
  double x = cb_space_level_x(s, 0, k);
  cb_cell cell;
  cb_space_decode(s, &x, NULL, &cell);
  assert_memory_equal(&cell.real, &want, sizeof want);
  cocabo_space_free(s);
}

static void levels_are_the_decimals_that_one_would_write(void **state) {
  (void)state;
  static const double tenths[] = {0.0, 0.1, 0.2, 0.3, 0.4, 0.5,
                                  0.6, 0.7, 0.8, 0.9, 1.0};
  for (int k = 0; k <= 10; k++)
    check_level(0.0, 1.0, 0.1, k, tenths[k]);
  check_level(-1.1, 1.0, 0.3, 4, 0.1);
  check_level(0.0, 1.0, 0.3, 3, 0.9); /* the end of the grid */
  check_level(0.001, 0.01, 0.0007, 9, 0.0073);
  check_level(-0.7, 0.7, 0.1, 7, 0.0);
  check_level(1e-7, 2e-6, 1e-7, 6, 7e-7);
  check_level(5e21, 9e21, 1e21, 2, 7e21);
  const double third = 1.0 / 3.0;
  check_level(third, 3.0, 0.7, 2, third + 2 * 0.7); /* no decimal of few digits */
  check_level(1e-30, 1e-28, 1e-30, 2, 1e-30 + 2 * 1e-30);
}

/* What version 0.1.0 stored: low + k step as it was rounded. */
static void levels_of_older_studies_are_the_same_points(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_real(s, "x", 0, 1, 0.1, 0, &err));
  assert_ok(cocabo_space_add_real(s, "y", 0, 1, 0.3, 0, &err));
  const cb_cell old[2] = {{.real = 3 * 0.1}, {.real = 3 * 0.3}};
  const cb_cell new[2] = {{.real = 0.3}, {.real = 0.9}};
  const cb_cell off[2] = {{.real = 0.3 + 1e-12}, {.real = 0.9}};
  assert_true(old[0].real != new[0].real &&old[1].real != new[1].real);
  assert_true(cb_space_holds(s, old));
  assert_true(cb_space_holds(s, new));
  assert_false(cb_space_holds(s, off));
  double x[2], y[2];
  cb_space_encode(s, old, x, NULL);
  cb_space_encode(s, new, y, NULL);
  assert_memory_equal(x, y, sizeof x);
  cb_cell snapped[2];
  for (int i = 0; i < 2; i++)
    snapped[i] = cb_space_snap(s, i, old[i]);
  assert_memory_equal(snapped, new, sizeof new);
  const cocabo_value value = real(3 * 0.1);
  assert_ok(cb_space_to_cell(s, 0, &value, &snapped[0], &err));
  assert_true(snapped[0].real == 0.3);
  cocabo_space_free(s);
}

static void places_are_linear_or_logarithmic(void **state) {
  (void)state;
  cocabo_space *s = mixed_space();
  cb_cell cells[7] = {{.integer = 3},  {.real = 1e-3}, {.integer = 1},
                      {.integer = 1},  {.integer = 1}, {.real = 8 * 0.1},
                      {.integer = 128}};
  double x[5];
  int32_t h[2];
  cb_space_encode(s, cells, x, h);
  assert_close(x[0], 0.0, 1e-15); /* 1e-3 is half-way in log */
  assert_close(x[1], 2.0 * (1.0 + 3.0) / 11.0 - 1.0, 1e-15);
  assert_close(x[2], 0.0, 1e-15);
  assert_close(x[3], 0.6, 1e-15);
  assert_close(x[4], 0.0, 1e-15); /* 16, 128, 1024 */
  assert_int_equal(h[0], 3);
  assert_int_equal(h[1], 1);

  /* Beyond the cube, and not a number: clipped. */
  const double far[5] = {-7.0, INFINITY, NAN, 1.0000001, -INFINITY};
  cb_space_decode(s, far, h, cells);
  assert_true(cells[1].real == 1e-5);
  assert_int_equal(cells[2].integer, 8);
  assert_int_equal(cells[3].integer, 0);
  assert_true(cells[5].real == 1.0);
  assert_int_equal(cells[6].integer, 16);
  cocabo_space_free(s);
}

static void one_level_sits_in_the_middle(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_real(s, "a", 2.5, 2.5, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_real(s, "b", -0.0, 0.0, 0.25, 0, &err));
  assert_ok(cocabo_space_add_int(s, "n", 7, 7, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_choice(s, "o", &null_value, 1, COCABO_ORDERED, &err));
  assert_ok(cocabo_space_add_choice(s, "c", &null_value, 1, 0, &err));
  cb_rng rng = cb_rng_make(1, CB_RNG_BENCH, 0);
  cb_cell cells[5];
  double x[4];
  int32_t h[1];
  cb_space_sample(s, &rng, cells);
  assert_true(cells[0].real == 2.5);
  assert_false(signbit(cells[1].real));
  cb_space_encode(s, cells, x, h);
  for (int j = 0; j < 4; j++) {
    assert_true(x[j] == 0.0);
    assert_int_equal(cb_space_levels(s, j), 1);
    assert_int_equal(cb_space_level_of(s, j, 0.9), 0);
  }
  assert_int_equal(cb_space_size(s), 1);
  cocabo_space_free(s);
}

static void sizes_saturate(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  assert_int_equal(cb_space_size(s), 1);
  const int64_t most = (INT64_C(1) << 52) - 1;
  assert_ok(cocabo_space_add_int(s, "a", 0, most, 0, 0, &err));
  assert_int_equal(cb_space_size(s), most + 1);
  assert_ok(cocabo_space_add_int(s, "b", 1, 4095, 0, 0, &err));
  assert_true(cb_space_size(s) == (UINT64_C(1) << 52) * 4095);
  assert_ok(cocabo_space_add_int(s, "c", 0, 1, 0, 0, &err));
  assert_true(cb_space_size(s) == UINT64_MAX);
  cocabo_space_free(s);
}

static void mistyped_words_find_their_neighbours(void **state) {
  (void)state;
  assert_int_equal(cb_text_distance("kappa", "kapa"), 1);
  assert_int_equal(cb_text_distance("kitten", "sitting"), 3);
  assert_int_equal(cb_text_distance("", "abc"), 3);
  assert_int_equal(cb_text_distance("same", "same"), 0);
  assert_int_equal(cb_text_distance("abcd", "badc"), 2); /* two swaps */
  assert_int_equal(cb_text_distance("abc", "ca"), 3);
  cb_guess guess = {.word = "lr2"};
  cb_guess_consider(&guess, "layers");
  assert_null(guess.closest);
  cb_guess_consider(&guess, "l");
  cb_guess_consider(&guess, "lr");
  cb_guess_consider(&guess, "lrx");
  assert_string_equal(guess.closest, "lr");
  cb_guess short_word = {.word = "a"};
  cb_guess_consider(&short_word, "b"); /* one edit, but nothing in common */
  assert_null(short_word.closest);
}

static void quoted_text_is_always_valid(void **state) {
  (void)state;
  char out[CB_SHOWN], in[300];
  assert_string_equal(cb_text_show(out, "a\n\xff\x7f\xce\xbb"), "a???\xce\xbb");
  for (size_t shift = 0; shift < 3; shift++) {
    memset(in, 'x', shift);
    in[shift] = '\0';
    for (int i = 0; i < 80; i++)
      strcat(in, "\xe2\x82\xac");
    cb_text_show(out, in);
    assert_true(cb_text_is_utf8(out));
    assert_true(strlen(out) < CB_SHOWN);
    assert_string_equal(out + strlen(out) - 3, "...");
  }
  char digits[CB_DIGITS];
  assert_string_equal(cb_number_show(digits, 0.1), "0.1");
  assert_string_equal(cb_number_show(digits, 1.0 / 3.0), "0.3333333333333333");
  assert_string_equal(cb_number_show(digits, -INFINITY), "-inf");
}

static void integers_have_steps(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_int(s, "n", -3, 9, 5, 0, &err));
  const int64_t levels[] = {-3, 2, 7};
  assert_int_equal(cb_space_size(s), 3);
  for (int k = 0; k < 3; k++) {
    cb_cell cell, back;
    double x;
    cb_space_point(s, (uint64_t)k, &cell);
    assert_int_equal(cell.integer, levels[k]);
    assert_true(cb_space_holds(s, &cell));
    cb_space_encode(s, &cell, &x, NULL);
    assert_true(x == k - 1.0);
    cb_space_decode(s, &(double){x + 0.4}, NULL, &back);
    assert_int_equal(back.integer, levels[k]);
  }
  cb_cell cell;
  assert_fails(
      cb_space_to_cell(s, 0, &(cocabo_value){COCABO_INT, {.integer = 3}}, &cell, &err),
      COCABO_E_RANGE, "parameter \"n\" is 3, want -3 plus a multiple of 5");
  assert_fails(
      cb_space_to_cell(s, 0, &(cocabo_value){COCABO_INT, {.integer = 9}}, &cell, &err),
      COCABO_E_RANGE, "parameter \"n\" is 9, want -3 to 7");
  assert_false(cb_space_holds(s, &(cb_cell){.integer = 3}));
  cocabo_space *other = cocabo_space_new();
  assert_ok(cocabo_space_add_int(other, "n", -3, 7, 2, 0, &err));
  assert_false(cb_space_equal(s, other));
  cocabo_space_free(other);
  cocabo_space_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(integers_have_steps),
      cmocka_unit_test(slots_follow_kind_and_order),
      cmocka_unit_test(steps_are_counted_through_rounding),
      cmocka_unit_test(bounds_are_checked),
      cmocka_unit_test(names_are_checked),
      cmocka_unit_test(choices_are_checked),
      cmocka_unit_test(a_space_holds_two_hundred_parameters),
      cmocka_unit_test(a_copy_is_equal_and_independent),
      cmocka_unit_test(spaces_differ_in_any_detail),
      cmocka_unit_test(a_failed_allocation_leaves_the_space_as_it_was),
      cmocka_unit_test(shared_spaces_live_until_the_last_is_released),
      cmocka_unit_test(values_become_cells_and_back),
      cmocka_unit_test(values_outside_the_domain_are_named),
      cmocka_unit_test(foreign_cells_are_not_held),
      cmocka_unit_test(levels_are_the_decimals_that_one_would_write),
      cmocka_unit_test(levels_of_older_studies_are_the_same_points),
      cmocka_unit_test(places_are_linear_or_logarithmic),
      cmocka_unit_test(one_level_sits_in_the_middle),
      cmocka_unit_test(sizes_saturate),
      cmocka_unit_test(mistyped_words_find_their_neighbours),
      cmocka_unit_test(quoted_text_is_always_valid),
  };
  return cmocka_run_group_tests_name("space/space", tests, NULL, NULL);
}
