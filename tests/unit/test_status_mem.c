#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"

/* ---- status --------------------------------------------------------------------- */

static void failing_fills_code_and_sentence(void **state) {
  (void)state;
  cocabo_error err;
  memset(&err, 0x5a, sizeof err);
  assert_fails(cb_fail(&err, COCABO_E_RANGE, "mix is %g, want <= %d", 1.25, 1),
               COCABO_E_RANGE, "mix is 1.25, want <= 1");
  /* The error is 256 bytes that callers may store: no stale byte behind the text. */
  for (size_t i = strlen(err.message); i < sizeof err.message; i++)
    assert_int_equal(err.message[i], 0);
}

static void failing_without_an_error_returns_the_code(void **state) {
  (void)state;
  assert_int_equal(cb_fail(NULL, COCABO_E_STORE, "%s", "unseen"), COCABO_E_STORE);
  assert_int_equal(cb_no_memory(NULL), COCABO_E_NO_MEMORY);
}

static void out_of_memory_has_one_sentence(void **state) {
  (void)state;
  cocabo_error err;
  assert_fails(cb_no_memory(&err), COCABO_E_NO_MEMORY, "out of memory");
}

/* `text` of length n, made of 'x' and ending in `tail`. */
static char *padded(size_t n, const char *tail) {
  char *text = malloc(n + 1);
  assert_non_null(text);
  memset(text, 'x', n);
  memcpy(text + n - strlen(tail), tail, strlen(tail) + 1);
  return text;
}

static void a_sentence_that_just_fits_is_kept_whole(void **state) {
  (void)state;
  cocabo_error err;
  char *text = padded(sizeof err.message - 1, "caf\xc3\xa9");
  cb_fail(&err, COCABO_E_INVALID, "%s", text);
  assert_string_equal(err.message, text);
  free(text);
}

/* Every way in which the border can fall into a character of 2, 3 or 4 bytes. */
static void a_long_sentence_is_cut_between_characters(void **state) {
  (void)state;
  const char *const characters[] = {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x8c\xb1"};
  for (size_t k = 0; k < sizeof characters / sizeof characters[0]; k++) {
    const size_t length = strlen(characters[k]);
    for (size_t over = 1; over < length; over++) {
      cocabo_error err;
      const size_t room = sizeof err.message - 1;
      char *text = padded(room + over, characters[k]);
      cb_fail(&err, COCABO_E_INVALID, "%s", text);
      assert_int_equal(strlen(err.message), room + over - length);
      assert_memory_equal(err.message, text, room + over - length);
      free(text);
    }
  }
}

static void a_long_plain_sentence_fills_the_room(void **state) {
  (void)state;
  cocabo_error err;
  char *text = padded(1000, "end");
  cb_fail(&err, COCABO_E_INVALID, "%s", text);
  assert_int_equal(strlen(err.message), sizeof err.message - 1);
  assert_memory_equal(err.message, text, sizeof err.message - 1);
  free(text);
}

static cocabo_status forwarder(cocabo_status first, int *reached) {
  CB_TRY(first);
  *reached = 1;
  return COCABO_OK;
}

static void trying_forwards_failures_only(void **state) {
  (void)state;
  int reached = 0;
  assert_int_equal(forwarder(COCABO_E_BUSY, &reached), COCABO_E_BUSY);
  assert_false(reached);
  assert_int_equal(forwarder(COCABO_OK, &reached), COCABO_OK);
  assert_true(reached);
}

static void every_code_has_a_name_and_no_two_share_one(void **state) {
  (void)state;
  const int known[] = {0, 10, 11, 20, 21, 22, 23, 24, 30, 40, 50, 51, 60, 99};
  const size_t n = sizeof known / sizeof known[0];
  for (int code = -1; code <= 100; code++) {
    const char *name = cocabo_status_name((cocabo_status)code);
    assert_non_null(name);
    int is_known = 0;
    for (size_t i = 0; i < n; i++) {
      is_known |= known[i] == code;
      if (known[i] != code)
        assert_string_not_equal(name, cocabo_status_name((cocabo_status)known[i]));
    }
    assert_int_equal(is_known, strcmp(name, "unknown status") != 0);
  }
}

/* ---- mem ------------------------------------------------------------------------ */

static void fresh_memory_is_zero_and_nothing_is_something(void **state) {
  (void)state;
  unsigned char *bytes = cb_calloc(37, 3);
  assert_non_null(bytes);
  for (int i = 0; i < 111; i++)
    assert_int_equal(bytes[i], 0);
  cb_free(bytes);

  void *nothing = cb_calloc(0, 8);
  assert_non_null(nothing);
  nothing = cb_realloc(nothing, 0, 8);
  assert_non_null(nothing);
  cb_free(nothing);
  cb_free(NULL);
}

/* Read through a volatile so that compilers do not warn about the absurd sizes. */
static volatile size_t huge = SIZE_MAX / 2 + 1;

static void sizes_that_overflow_are_refused(void **state) {
  (void)state;
#ifndef CB_SANITIZED /* the address sanitizer ends the program at such a calloc */
  assert_null(cb_calloc(huge, 2));
  assert_null(cb_calloc(2, huge));
#endif
  char *text = cb_strdup("kept");
  assert_non_null(text);
  assert_null(cb_realloc(text, huge, 2));
  assert_string_equal(text, "kept");

  void *array = text;
  size_t capacity = 5;
  assert_false(cb_reserve(&array, &capacity, huge, 2));
  assert_ptr_equal(array, text);
  assert_int_equal(capacity, 5);
  assert_string_equal(text, "kept");
  cb_free(text);
}

static void a_copy_of_text_is_equal_and_separate(void **state) {
  (void)state;
  char original[] = "caf\xc3\xa9";
  char *copy = cb_strdup(original);
  assert_non_null(copy);
  original[0] = 'k';
  assert_string_equal(copy, "caf\xc3\xa9");
  cb_free(copy);
  copy = cb_strdup("");
  assert_string_equal(copy, "");
  cb_free(copy);
}

static void reserving_keeps_items_and_at_least_doubles(void **state) {
  (void)state;
  void *array = NULL;
  size_t capacity = 0;
  assert_true(cb_reserve(&array, &capacity, 0, sizeof(int)));
  assert_null(array);
  assert_true(cb_reserve(&array, &capacity, 3, sizeof(int)));
  assert_true(capacity >= 3);
  int *items = array;
  for (int i = 0; i < 3; i++)
    items[i] = 17 * i + 5;

  const size_t before = capacity;
  assert_true(cb_reserve(&array, &capacity, before, sizeof(int)));
  assert_int_equal(capacity, before);
  assert_true(cb_reserve(&array, &capacity, before + 1, sizeof(int)));
  assert_true(capacity >= 2 * before);
  items = array;
  for (int i = 0; i < 3; i++)
    assert_int_equal(items[i], 17 * i + 5);
  items[capacity - 1] = 1; /* the last one is ours, says the address sanitizer */
  cb_free(array);
}

static void the_hook_fails_one_allocation_and_then_rests(void **state) {
  (void)state;
  cb_mem_fail_after(2);
  void *a = cb_calloc(1, 8);
  char *b = cb_strdup("b");
  assert_non_null(a);
  assert_non_null(b);
  assert_null(cb_realloc(a, 2, 8)); /* the third */
  a = cb_realloc(a, 2, 8);
  assert_non_null(a);
  cb_free(a);
  cb_free(b);

  cb_mem_fail_after(0);
  assert_null(cb_strdup("c"));
  cb_mem_fail_after(0);
  void *array = NULL;
  size_t capacity = 0;
  assert_false(cb_reserve(&array, &capacity, 1, 8));
  assert_null(array);
  assert_int_equal(capacity, 0);

  cb_mem_fail_after(0);
  cb_mem_fail_after(-1); /* switched off again */
  a = cb_calloc(1, 1);
  assert_non_null(a);
  cb_free(a);
}

static void columns_are_contiguous(void **state) {
  (void)state;
  assert_int_equal(cb_at(2, 0, 5), 2);
  assert_int_equal(cb_at(2, 3, 5), 17);
  assert_true(cb_at(1, 70000, 70000) == (ptrdiff_t)70000 * 70000 + 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(failing_fills_code_and_sentence),
      cmocka_unit_test(failing_without_an_error_returns_the_code),
      cmocka_unit_test(out_of_memory_has_one_sentence),
      cmocka_unit_test(a_sentence_that_just_fits_is_kept_whole),
      cmocka_unit_test(a_long_sentence_is_cut_between_characters),
      cmocka_unit_test(a_long_plain_sentence_fills_the_room),
      cmocka_unit_test(trying_forwards_failures_only),
      cmocka_unit_test(every_code_has_a_name_and_no_two_share_one),
      cmocka_unit_test(fresh_memory_is_zero_and_nothing_is_something),
      cmocka_unit_test(sizes_that_overflow_are_refused),
      cmocka_unit_test(a_copy_of_text_is_equal_and_separate),
      cmocka_unit_test(reserving_keeps_items_and_at_least_doubles),
      cmocka_unit_test(the_hook_fails_one_allocation_and_then_rests),
      cmocka_unit_test(columns_are_contiguous),
  };
  return cmocka_run_group_tests_name("base/status and base/mem", tests, NULL, NULL);
}
