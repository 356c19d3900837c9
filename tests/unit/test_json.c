/* The one JSON reader against jansson, which is taken to read JSON right: the same
 * texts accepted, the same values to the bit; then its own promises. */
#include "check.h"

#include <jansson.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"
#include "base/mem.h"
#include "base/rng.h"

static cocabo_error err;

/* ---- the oracle ------------------------------------------------------------------ */

static bool same_node(const cb_json_node *ours, json_t *theirs) {
  const char *key;
  json_t *value;
  double number;
  switch (ours->type) {
  case CB_JSON_NULL:
    return json_is_null(theirs);
  case CB_JSON_BOOL:
    return json_is_boolean(theirs) && ours->value.as.boolean == json_is_true(theirs);
  case CB_JSON_INTEGER:
    return json_is_integer(theirs) &&
           ours->value.as.integer == json_integer_value(theirs);
  case CB_JSON_REAL:
    number = json_real_value(theirs);
    return json_is_real(theirs) &&
           memcmp(&ours->value.as.real, &number, sizeof number) == 0;
  case CB_JSON_STRING:
    return json_is_string(theirs) &&
           strcmp(ours->value.as.text, json_string_value(theirs)) == 0;
  case CB_JSON_ARRAY: {
    if (!json_is_array(theirs) || ours->items != json_array_size(theirs))
      return false;
    size_t i = 0;
    for (const cb_json_node *item = cb_json_first(ours); item;
         item = cb_json_next(ours, item))
      if (item->key || !same_node(item, json_array_get(theirs, i++)))
        return false;
    return i == ours->items;
  }
  case CB_JSON_OBJECT: {
    if (!json_is_object(theirs) || ours->items != json_object_size(theirs))
      return false;
    const cb_json_node *item = cb_json_first(ours);
    json_object_foreach(theirs, key, value) {
      if (strcmp(item->key, key) != 0 || !same_node(item, value) ||
          cb_json_find(ours, key) != item)
        return false;
      item = cb_json_next(ours, item);
    }
    return item == NULL;
  }
  case CB_JSON_NOTHING:
    break;
  }
  return false;
}

/* Where the two may differ: we read 2^63 as a real number, and to jansson a NUL byte
 * behind the value is the end of the text. */
static bool may_differ(const char *text, size_t size, bool read,
                       const json_error_t *why) {
  return read ? json_error_code(why) == json_error_numeric_overflow
              : memchr(text, '\0', size) != NULL;
}

/* Reads with both; whether ours took it. Its memory is exactly as long as the text, so
 * that a sanitizer sees a byte read too many. */
static bool agree(const char *text, size_t size) {
  char *copy = malloc(size > 0 ? size : 1);
  cb_json_tree tree = {0};
  json_error_t why = {0};
  memcpy(copy, text, size);
  const cocabo_status status = cb_json_read_all(&tree, copy, size, &err);
  json_t *theirs =
      json_loadb(copy, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &why);
  if (status != COCABO_OK)
    assert_int_equal(status, COCABO_E_INVALID);
  if ((status == COCABO_OK) != (theirs != NULL) &&
      !may_differ(text, size, status == COCABO_OK, &why))
    fail_msg("%.*s: we say \"%s\", jansson says \"%s\"", (int)size, text,
             status == COCABO_OK ? "fine" : err.message, theirs ? "fine" : why.text);
  if (status == COCABO_OK && theirs && !same_node(tree.nodes, theirs))
    fail_msg("%.*s: read differently", (int)size, text);
  json_decref(theirs);
  cb_json_tree_free(&tree);
  free(copy);
  return status == COCABO_OK;
}

/* ---- a table in the manner of JSONTestSuite -------------------------------------- */

#define TEXT(literal)                                                                  \
  { literal, sizeof literal - 1 }

typedef struct sized {
  const char *text;
  size_t size;
} sized;

static const sized valid[] = {
    TEXT("null"),
    TEXT("true"),
    TEXT("false"),
    TEXT("0"),
    TEXT("-0"),
    TEXT("-0.0"),
    TEXT("1"),
    TEXT("1.0"),
    TEXT("123e65"),
    TEXT("0e+1"),
    TEXT("0e1"),
    TEXT("1E22"),
    TEXT("1e-2"),
    TEXT("123.456e78"),
    TEXT("-1"),
    TEXT("-123"),
    TEXT("1.7976931348623157e308"),
    TEXT("5e-324"),
    TEXT("1e-400"),
    TEXT("0.1"),
    TEXT("0.30000000000000004"),
    TEXT("2.2250738585072011e-308"),
    TEXT("9007199254740993.0"),
    TEXT("9223372036854775807"),
    TEXT("-9223372036854775808"),
    TEXT("-0.000000000000000000000000000000000000000000000000000000000000000001"),
    TEXT("\"\""),
    TEXT("\"a\""),
    TEXT("\" \""),
    TEXT("\"\\\"\\\\\\/\\b\\f\\n\\r\\t\""),
    TEXT("\"\\u0041\\u00e9\\u20ac\\u20AC\""),
    TEXT("\"\\ud83d\\ude00\""),
    TEXT("\"\\uD800\\uDC00\\uDBFF\\uDFFF\""),
    TEXT("\"\xf0\x9f\x98\x80\xe2\x82\xac\xc3\xa9\""),
    TEXT("\"\x7f\""),
    TEXT("\"\xef\xbf\xbf\xf4\x8f\xbf\xbf\""),
    TEXT("\"\xe2\x80\xa8\""),
    TEXT("\"\\u0001\\u001f\""),
    TEXT("\"/\""),
    TEXT("\"[{,:}]\""),
    TEXT("[]"),
    TEXT("[ ]"),
    TEXT("{}"),
    TEXT("[[],{},[[]]]"),
    TEXT("[1,2 , 3\n,\t4\r]"),
    TEXT("[null,true,false,1,1.0,\"1\"]"),
    TEXT("{\"a\":1}"),
    TEXT("{ \"a\" : [ 1 , { \"b\" : null } ] , \"c\" : \"\" }"),
    TEXT("{\"\":0}"),
    TEXT("{\"\\u0061\":1,\"b\":2}"),
    TEXT("{\"a\":{\"a\":{\"a\":1}},\"b\":{\"a\":2}}"),
    TEXT(" \t\r\n[1] \t\r\n"),
    TEXT("{\"a key that is longer than any key of an event ever is\":1}"),
};

static const sized invalid[] = {
    TEXT(""),
    TEXT(" "),
    TEXT("nul"),
    TEXT("nulls"),
    TEXT("True"),
    TEXT("TRUE"),
    TEXT("NaN"),
    TEXT("nan"),
    TEXT("Infinity"),
    TEXT("-Infinity"),
    TEXT("inf"),
    TEXT("+1"),
    TEXT("01"),
    TEXT("-01"),
    TEXT("-"),
    TEXT("- 1"),
    TEXT("--1"),
    TEXT("1."),
    TEXT(".5"),
    TEXT("-.5"),
    TEXT("1.e1"),
    TEXT("1e"),
    TEXT("1e+"),
    TEXT("1eE2"),
    TEXT("1.2.3"),
    TEXT("0x1"),
    TEXT("1_000"),
    TEXT("1 000"),
    TEXT("1,5"),
    TEXT("1e400"),
    TEXT("-1e400"),
    TEXT("1a"),
    TEXT("\xef\xbc\x91"),
    TEXT("'a'"),
    TEXT("a"),
    TEXT("\""),
    TEXT("\"a"),
    TEXT("\"\\\""),
    TEXT("\"\\"),
    TEXT("\"\\x41\""),
    TEXT("\"\\a\""),
    TEXT("\"\\0\""),
    TEXT("\"\\u\""),
    TEXT("\"\\u00\""),
    TEXT("\"\\u00g1\""),
    TEXT("\"\\U0041\""),
    TEXT("\"\\u 041\""),
    TEXT("\"\\u0000\""),
    TEXT("\"\\ud800\""),
    TEXT("\"\\udc00\""),
    TEXT("\"\\ud800\\ud800\""),
    TEXT("\"\\ud800\\udbff\""),
    TEXT("\"\\ud800\\ue000\""),
    TEXT("\"\\ud800a\""),
    TEXT("\"\\ud800\\n\""),
    TEXT("\"\\udc00\\ud800\""),
    TEXT("\"\\ud800\\u0041\""),
    TEXT("\"\n\""),
    TEXT("\"\t\""),
    TEXT("\"\0\""),
    TEXT("\"\x1f\""),
    TEXT("\"\x80\""),
    TEXT("\"\xff\""),
    TEXT("\"\xc0\x80\""),
    TEXT("\"\xc3\""),
    TEXT("\"\xe2\x82\""),
    TEXT("\"\xe0\x80\x80\""),
    TEXT("\"\xed\xa0\x80\""),
    TEXT("\"\xf4\x90\x80\x80\""),
    TEXT("\"\xf0\x80\x80\x80\""),
    TEXT("\xef\xbb\xbf{}"),
    TEXT("["),
    TEXT("]"),
    TEXT("[1"),
    TEXT("[1,"),
    TEXT("[1,]"),
    TEXT("[,1]"),
    TEXT("[,]"),
    TEXT("[1,,2]"),
    TEXT("[1 2]"),
    TEXT("[1:2]"),
    TEXT("[1}"),
    TEXT("[1]]"),
    TEXT("[1],"),
    TEXT("[1] 2"),
    TEXT("{"),
    TEXT("}"),
    TEXT("{]"),
    TEXT("{\"a\"}"),
    TEXT("{\"a\":}"),
    TEXT("{\"a\":1,}"),
    TEXT("{\"a\":1 \"b\":2}"),
    TEXT("{\"a\" 1}"),
    TEXT("{\"a\"::1}"),
    TEXT("{a:1}"),
    TEXT("{1:1}"),
    TEXT("{null:1}"),
    TEXT("{'a':1}"),
    TEXT("{:1}"),
    TEXT("{\"a\":1}}"),
    TEXT("{\"a\":1,\"a\":1}"),
    TEXT("{\"a\":1,\"b\":2,\"\\u0061\":3}"),
    TEXT("{\"b\":{\"a\":1,\"c\":2,\"a\":1}}"),
    TEXT("[1] // remark"),
    TEXT("/* remark */ 1"),
    TEXT("# remark\n1"),
    TEXT("1\0"),
    TEXT("\0"),
    TEXT("[1\0]"),
    TEXT("\v1"),
    TEXT("\f1"),
    TEXT("\xc2\xa0"
         "1"),
    TEXT("\xe2\x80\xa8"
         "1"),
};

static void the_right_texts_are_read_and_no_others(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++)
    if (!agree(valid[i].text, valid[i].size))
      fail_msg("%s is refused: %s", valid[i].text, err.message);
  for (size_t i = 0; i < sizeof invalid / sizeof invalid[0]; i++)
    if (agree(invalid[i].text, invalid[i].size))
      fail_msg("%s is read", invalid[i].text);
}

/* Every byte of every right text replaced, left out or doubled, and every start. */
static void broken_texts_are_judged_alike(void **state) {
  (void)state;
  static const char odd[] = "\0\1\t\n \"\\/,:[]{}-+.019eEutnfa\x7f\x80\xbf\xc3\xed\xff";
  for (size_t i = 0; i < sizeof valid / sizeof valid[0]; i++) {
    char text[128];
    const size_t size = valid[i].size;
    for (size_t k = 0; k < size; k++) {
      agree(valid[i].text, k);
      for (size_t j = 0; j < sizeof odd - 1; j++) {
        memcpy(text, valid[i].text, size);
        text[k] = odd[j];
        agree(text, size);
        memcpy(text + k + 1, valid[i].text + k, size - k);
        agree(text, size + 1);
      }
      memcpy(text, valid[i].text, size);
      memmove(text + k, text + k + 1, size - k - 1);
      agree(text, size - 1);
    }
  }
}

/* Pieces of JSON in any order: about one text in forty is right. */
static void any_heap_of_pieces_is_judged_alike(void **state) {
  (void)state;
  static const char *const pieces[] = {"[",
                                       "]",
                                       "{",
                                       "}",
                                       ",",
                                       ":",
                                       "\"a\":",
                                       "\"b\":",
                                       "1",
                                       "-2.5",
                                       "1e5",
                                       "null",
                                       "true",
                                       " ",
                                       "\"x\"",
                                       "[1,2]",
                                       "{}",
                                       "\"",
                                       "\\",
                                       "[\"a\"",
                                       "\\u00e9",
                                       "1e999",
                                       "99999999999999999999"};
  int right = 0;
  for (uint64_t k = 0; k < 20000; k++) {
    cb_rng rng = cb_rng_make(k, CB_RNG_BENCH, 7);
    char text[128] = "";
    for (uint32_t n = 1 + cb_rng_below(&rng, 8); n > 0; n--)
      strcat(text, pieces[cb_rng_below(&rng, sizeof pieces / sizeof pieces[0])]);
    right += agree(text, strlen(text));
  }
  assert_true(right > 200);
}

static void numbers_come_back_to_the_bit(void **state) {
  (void)state;
  for (uint64_t k = 0; k < 20000; k++) {
    cb_rng rng = cb_rng_make(k, CB_RNG_BENCH, 8);
    const uint64_t bits = cb_rng_u64(&rng);
    double number;
    char text[2000];
    cb_json_tree tree = {0};
    memcpy(&number, &bits, sizeof number);
    if (!isfinite(number))
      continue;
    snprintf(text, sizeof text, k % 8 ? "%.17g" : "%.1074f", number);
    if (!strpbrk(text, ".e"))
      strcat(text, ".0");
    assert_ok(cb_json_read_all(&tree, text, strlen(text), &err));
    assert_memory_equal(&tree.nodes->value.as.real, &number, sizeof number);
    cb_json_tree_free(&tree);
  }
}

/* ---- its own promises ------------------------------------------------------------ */

static void refused(const char *text, const char *sentence) {
  cb_json_tree tree = {0};
  assert_fails(cb_json_read_all(&tree, text, strlen(text), &err), COCABO_E_INVALID,
               sentence);
  assert_int_equal(tree.n, 0);
  cb_json_tree_free(&tree);
}

static void a_refusal_says_where_and_what(void **state) {
  (void)state;
  refused("[1,\n  2,\n  ]", "line 3, column 3: found \"]\", want a value");
  refused("{\"a\":1\n\"b\":2}",
          "line 2, column 1: found \"\"b\":2}\", want a comma or the end of a list");
  refused("[\"\xc3\xa9\xe2\x82\xac\" 1]",
          "line 1, column 7: found \"1]\", want a comma or the end of a list");
  refused("{\"a\":", "line 1, column 6: found the end, want a value");
  refused("", "line 1, column 1: found the end, want a value");
  refused("[1]\n\n x", "line 3, column 2: found \"x\", want the end");
  refused("[1e999]", "line 1, column 2: found \"1e999]\", want a finite number");
  refused("{\"a\":1,\n\"a\":2}",
          "line 2, column 7: the object before it has key \"a\" twice");
  refused("[\x01\x02 a long text that goes on and on]",
          "line 1, column 2: found \"?? a long tex...\", want a value");
  refused("[\"a\nb\"]",
          "line 1, column 4: found the end of the line, want a text without control "
          "characters and odd escapes");
}

static void whole_numbers_beyond_64_bits_are_reals(void **state) {
  (void)state;
  cb_json_tree tree = {0};
  const char *text = "[9223372036854775807,9223372036854775808,-9223372036854775809,"
                     "1,1.0]";
  assert_ok(cb_json_read_all(&tree, text, strlen(text), &err));
  const cb_json_node *n = tree.nodes + 1;
  assert_int_equal(n[0].type, CB_JSON_INTEGER);
  assert_int_equal(n[1].type, CB_JSON_REAL);
  assert_true(n[1].value.as.real == 0x1p63);
  assert_true(n[2].value.type == COCABO_REAL && n[2].value.as.real == -0x1p63);
  assert_int_equal(n[3].value.type, COCABO_INT);
  assert_int_equal(n[4].value.type, COCABO_REAL);
  cb_json_tree_free(&tree);
}

static void depth_has_a_limit(void **state) {
  (void)state;
  char text[2 * CB_JSON_DEPTH + 3];
  cb_json_tree tree = {0};
  for (int depth = CB_JSON_DEPTH; depth <= CB_JSON_DEPTH + 1; depth++) {
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    const cocabo_status status = cb_json_read_all(&tree, text, 2 * (size_t)depth, &err);
    assert_int_equal(status == COCABO_OK, depth == CB_JSON_DEPTH);
    cb_walk walk = cb_walk_start(text, 2 * (size_t)depth);
    cb_walk_skip(&walk);
    assert_int_equal(walk.why == NULL, depth == CB_JSON_DEPTH);
  }
  cb_json_tree_free(&tree);
  /* A million brackets end at the limit, not at the end of the stack. */
  char *deep = malloc(1000000);
  memset(deep, '[', 1000000);
  assert_int_equal(cb_json_read_all(&tree, deep, 1000000, &err), COCABO_E_INVALID);
  free(deep);
  cb_json_tree_free(&tree);
}

static void values_follow_each_other(void **state) {
  (void)state;
  const char text[] = "{\"a\":1}\n{\"a\":2}[3]\n\n4 ";
  const size_t size = sizeof text - 1, ends[] = {8, 15, 20, 22};
  cb_json_tree tree = {0};
  size_t at = 0;
  for (size_t i = 0; i < 4; i++) {
    assert_ok(cb_json_read(&tree, text, size, &at, &err));
    assert_int_equal(at, ends[i]);
  }
  assert_int_equal(tree.nodes->value.as.integer, 4);
  const char bad[] = "1\n2\n  x";
  at = 4;
  assert_fails(cb_json_read(&tree, bad, sizeof bad - 1, &at, &err), COCABO_E_INVALID,
               "line 3, column 3: found \"x\", want a value");
  assert_int_equal(at, 4);
  cb_json_tree_free(&tree);
}

static void what_is_not_there_is_not_found(void **state) {
  (void)state;
  const char *text = "{\"a\":[1,2.5],\"t\":\"x\",\"n\":null}";
  cb_json_tree tree = {0};
  double number = -1.0;
  assert_ok(cb_json_read_all(&tree, text, strlen(text), &err));
  const cb_json_node *a = cb_json_find(tree.nodes, "a");
  assert_null(cb_json_find(tree.nodes, "b"));
  assert_null(cb_json_find(a, "a"));
  assert_null(cb_json_find(NULL, "a"));
  assert_null(cb_json_text(a));
  assert_null(cb_json_text(NULL));
  assert_string_equal(cb_json_text(cb_json_find(tree.nodes, "t")), "x");
  assert_false(cb_json_number(cb_json_find(tree.nodes, "t"), &number));
  assert_false(cb_json_number(NULL, &number));
  assert_null(cb_json_first(cb_json_find(tree.nodes, "n")));
  assert_true(number == -1.0);
  assert_true(cb_json_number(cb_json_first(a), &number) && number == 1.0);
  cb_json_tree_free(&tree);
}

/* A tree is two blocks: reading the same again allocates nothing. */
static void reading_again_reuses_the_memory(void **state) {
  (void)state;
  const char *text = "{\"a\":[1,2,{\"b\":\"text\",\"c\":null}],\"d\":\"more\"}";
  cb_json_tree tree = {0};
  for (long k = 0;; k++) {
    cb_mem_fail_after(k);
    const cocabo_status status = cb_json_read_all(&tree, text, strlen(text), &err);
    cb_mem_fail_after(-1);
    if (status == COCABO_OK)
      break;
    assert_fails(status, COCABO_E_NO_MEMORY, "out of memory");
    assert_int_equal(tree.n, 0);
    cb_json_tree_free(&tree);
    assert_true(k < 100);
  }
  cb_mem_fail_after(0);
  assert_ok(cb_json_read_all(&tree, text, strlen(text), &err));
  cb_mem_fail_after(-1);
  cb_json_tree_free(&tree);
}

static void many_members_take_no_square_of_time(void **state) {
  (void)state;
  enum { MANY = 300000 };
  cb_json json = {0};
  cb_json_tree tree = {0};
  cb_json_open(&json, "{");
  for (int i = 0; i < MANY; i++) {
    char key[16];
    snprintf(key, sizeof key, "k%d", i);
    cb_json_key(&json, key);
    cb_json_integer(&json, i);
  }
  cb_json_close(&json, "}");
  assert_ok(json.status);
  assert_ok(cb_json_read_all(&tree, json.text, json.length, &err));
  assert_int_equal(tree.nodes->items, MANY);
  cb_json_tree_free(&tree);
  cb_json_free(&json);
}

static void the_locale_does_not_matter(void **state) {
  (void)state;
  if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "de_DE"))
    skip();
  cb_json_tree tree = {0};
  assert_ok(cb_json_read_all(&tree, "[0.5]", 5, &err));
  assert_true(tree.nodes[1].value.as.real == 0.5);
  assert_int_equal(cb_json_read_all(&tree, "0,5", 3, &err), COCABO_E_INVALID);
  cb_json_tree_free(&tree);
  setlocale(LC_NUMERIC, "C");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_right_texts_are_read_and_no_others),
      cmocka_unit_test(broken_texts_are_judged_alike),
      cmocka_unit_test(any_heap_of_pieces_is_judged_alike),
      cmocka_unit_test(numbers_come_back_to_the_bit),
      cmocka_unit_test(a_refusal_says_where_and_what),
      cmocka_unit_test(whole_numbers_beyond_64_bits_are_reals),
      cmocka_unit_test(depth_has_a_limit),
      cmocka_unit_test(values_follow_each_other),
      cmocka_unit_test(what_is_not_there_is_not_found),
      cmocka_unit_test(reading_again_reuses_the_memory),
      cmocka_unit_test(many_members_take_no_square_of_time),
      cmocka_unit_test(the_locale_does_not_matter),
  };
  return cmocka_run_group_tests_name("base/json_tree", tests, NULL, NULL);
}
