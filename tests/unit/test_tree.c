/* The reader of YAML and JSON: types, places, aliases, and what it refuses. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/tree.h"

static tree *parse(const char *text) {
  tree *t;
  cocabo_error err;
  assert_ok(tree_parse(&t, "f.yaml", text, strlen(text), &err));
  return t;
}

static void refused(const char *text, const char *sentence) {
  tree *t;
  cocabo_error err;
  assert_fails(tree_parse(&t, "f.yaml", text, strlen(text), &err), COCABO_E_INVALID,
               sentence);
  assert_null(t);
}

static void scalars_have_the_types_of_the_core_schema(void **state) {
  (void)state;
  static const struct {
    const char *text;
    cocabo_type type;
    double number; /* of a boolean, an int or a real */
  } cases[] = {
      {"null", COCABO_NULL, 0},       {"~", COCABO_NULL, 0},
      {"NULL", COCABO_NULL, 0},       {"''", COCABO_TEXT, 0},
      {"true", COCABO_BOOL, 1},       {"False", COCABO_BOOL, 0},
      {"TRUE", COCABO_BOOL, 1},       {"tRUE", COCABO_TEXT, 0},
      {"yes", COCABO_TEXT, 0},        {"off", COCABO_TEXT, 0},
      {"1", COCABO_INT, 1},           {"-12", COCABO_INT, -12},
      {"+7", COCABO_INT, 7},          {"012", COCABO_INT, 12},
      {"0x", COCABO_TEXT, 0},         {"0o8", COCABO_TEXT, 0},
      {"1.0", COCABO_REAL, 1},        {"1.", COCABO_REAL, 1},
      {".5", COCABO_REAL, 0.5},       {"-1e-3", COCABO_REAL, -1e-3},
      {"1E5", COCABO_REAL, 1e5},      {".", COCABO_TEXT, 0},
      {"1e", COCABO_TEXT, 0},         {"1.5.2", COCABO_TEXT, 0},
      {"1_000", COCABO_TEXT, 0},      {"12:30", COCABO_TEXT, 0},
      {"2001-01-01", COCABO_TEXT, 0}, {"-", COCABO_TEXT, 0},
      {"'1'", COCABO_TEXT, 0},        {"\"true\"", COCABO_TEXT, 0},
      {"!!str 1", COCABO_TEXT, 0},    {"! 1", COCABO_TEXT, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char text[64];
    snprintf(text, sizeof text, "a: [%s]", cases[i].text);
    if (strcmp(cases[i].text, "-") == 0)
      snprintf(text, sizeof text, "a:\n  - '-'");
    tree *t = parse(text);
    const tree_node *list = tree_find(tree_root(t), "a");
    assert_int_equal(list->n, 1);
    const cocabo_value *value = &list->first->node->value;
    if (value->type != cases[i].type)
      fail_msg("%s has type %d, want %d", cases[i].text, value->type, cases[i].type);
    if (value->type == COCABO_BOOL)
      assert_int_equal(value->as.boolean, (int)cases[i].number);
    if (value->type == COCABO_INT)
      assert_int_equal(value->as.integer, (int64_t)cases[i].number);
    if (value->type == COCABO_REAL)
      assert_true(value->as.real == cases[i].number);
    tree_free(t);
  }
}

static void the_ends_of_64_bits_are_read_and_no_more(void **state) {
  (void)state;
  tree *t = parse("[9223372036854775807, -9223372036854775808, -.inf, .NaN]");
  const tree_entry *e = tree_root(t)->first;
  assert_true(e->node->value.as.integer == INT64_MAX);
  assert_true(e->next->node->value.as.integer == INT64_MIN);
  assert_true(isinf(e->next->next->node->value.as.real));
  assert_true(isnan(e->next->next->next->node->value.as.real));
  tree_free(t);
  refused("\n[9223372036854775808]",
          "f.yaml, line 2: a whole number is too large for 64 bits");
  refused("[1e400]", "f.yaml, line 1: a number is too large");
}

static void lines_and_spellings_are_kept(void **state) {
  (void)state;
  tree *t = parse("a: 1\n# remark\nb:\n  - x\n  - 1.50\n");
  const tree_entry *b = tree_root(t)->first->next;
  assert_string_equal(b->key, "b");
  assert_int_equal(b->line, 3);
  assert_int_equal(b->node->first->next->line, 5);
  assert_string_equal(b->node->first->next->node->spelling, "1.50");
  tree_free(t);
}

static void json_is_yaml(void **state) {
  (void)state;
  tree *t = parse("{\"a\":1,\"b\":[1.0,\"x\\/y\",\"\\ud83d\\ude00\",\"\\\\ud83d\"],"
                  "\n\t\"c\":{\"d\":true,\"e\":null}}");
  const tree_entry *e = tree_find(tree_root(t), "b")->first;
  assert_int_equal(e->node->value.type, COCABO_REAL);
  assert_string_equal(e->next->node->value.as.text, "x/y");
  assert_string_equal(e->next->next->node->value.as.text, "\xf0\x9f\x98\x80");
  assert_string_equal(e->next->next->next->node->value.as.text, "\\ud83d");
  assert_int_equal(tree_find(tree_root(t), "c")->n, 2);
  tree_free(t);
}

static void aliases_share_what_they_name(void **state) {
  (void)state;
  tree *t =
      parse("a: &x [1, 2]\nb: *x\nc: {d: *x}\ne: &x 5\ng: *x\nf: &k key\n*k : 3\n");
  const tree_node *root = tree_root(t);
  assert_ptr_equal(tree_find(root, "a"), tree_find(root, "b"));
  assert_ptr_equal(tree_find(tree_find(root, "c"), "d"), tree_find(root, "a"));
  assert_ptr_equal(tree_find(root, "e"), tree_find(root, "g"));
  assert_int_equal(tree_find(root, "key")->value.as.integer, 3);
  tree_free(t);
  refused("&a {b: *a}", "f.yaml, line 1: an alias contains itself");
  refused("- &a 1\n- *b", "f.yaml, line 2: an alias has no anchor before it");
}

static void nothing_is_a_tree_without_a_root(void **state) {
  (void)state;
  for (const char *const *text = (const char *const[]){"", "# only this", "\n\n", NULL};
       *text; text++) {
    tree *t = parse(*text);
    assert_null(tree_root(t));
    tree_free(t);
  }
}

static void what_is_not_yaml_has_its_line(void **state) {
  (void)state;
  refused("a: 1\n b: 2",
          "f.yaml, line 2: mapping values are not allowed in this context");
  refused("a: 1\na: 2", "f.yaml, line 2: key \"a\" is there twice");
  refused("{a: 1, 'a': 2}", "f.yaml, line 1: key \"a\" is there twice");
  refused("? [a]\n: b", "f.yaml, line 1: a key must be text");
  refused("--- a\n--- b", "f.yaml, line 2: a second document begins, want one");
  refused("!!set {a}", "f.yaml, line 1: tags other than !!str are not read");
  refused("!thing a", "f.yaml, line 1: tags other than !!str are not read");
  refused("\"\\0\"", "f.yaml, line 1: a text has a NUL character");
  refused("\x01", "f.yaml, line 1: control characters are not allowed");
  refused("{\"a\": \"\\ud83d\"}",
          "f.yaml, line 1: found invalid Unicode character escape code");
}

static void a_text_of(char *text, size_t n, const char *piece) {
  text[0] = '\0';
  for (size_t i = 0; i < n; i++)
    strcat(text + i * strlen(piece), piece);
}

static void hostile_texts_end_at_a_limit(void **state) {
  (void)state;
  static char text[TREE_MAX_SIZE + 2];
  a_text_of(text, 33, "[");
  refused(text, "f.yaml, line 1: nested too deeply, want at most 32 levels");
  a_text_of(text, 1001, "- &a b\n");
  refused(text, "f.yaml, line 1001: too many anchors, want at most 1000");
  strcpy(text, "- &a b\n");
  a_text_of(text + 7, 1001, "- *a\n");
  refused(text, "f.yaml, line 1002: too many aliases, want at most 1000");
  a_text_of(text, 100001, "- 1\n");
  refused(text, "f.yaml, line 100000: too many values, want at most 100000");
  memset(text, ' ', TREE_MAX_SIZE + 1);
  refused(text, "f.yaml, line 1: the file is too large, want at most 1 MiB");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(scalars_have_the_types_of_the_core_schema),
      cmocka_unit_test(the_ends_of_64_bits_are_read_and_no_more),
      cmocka_unit_test(lines_and_spellings_are_kept),
      cmocka_unit_test(json_is_yaml),
      cmocka_unit_test(aliases_share_what_they_name),
      cmocka_unit_test(nothing_is_a_tree_without_a_root),
      cmocka_unit_test(what_is_not_yaml_has_its_line),
      cmocka_unit_test(hostile_texts_end_at_a_limit),
  };
  return cmocka_run_group_tests_name("cli/tree", tests, NULL, NULL);
}
