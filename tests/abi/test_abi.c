/* What a compiled user program relies on: sizes and numbers must not move. */
#include "check.h"

_Static_assert(sizeof(cocabo_error) == 256, "layout frozen");
_Static_assert(offsetof(cocabo_error, message) == 4, "layout frozen");
_Static_assert(sizeof(cocabo_value) == 16, "layout frozen");
_Static_assert(sizeof(cocabo_metric) == 16, "layout frozen");
_Static_assert(sizeof(cocabo_known) == 14 * 8, "layout frozen");
_Static_assert(sizeof(cocabo_attr) == 16, "layout frozen");
_Static_assert(sizeof(cocabo_step) == 16, "layout frozen");
_Static_assert(sizeof(cocabo_record) == 10 * 8, "layout frozen");
_Static_assert(sizeof(cocabo_report) == 17 * 8, "layout frozen");
_Static_assert(offsetof(cocabo_report, foreign_differing) == 6 * 8, "layout frozen");
_Static_assert(COCABO_VERSION_HEX == 0x000200, "0.2.0");

static void status_codes_are_pinned(void **state) {
  (void)state;
  const struct {
    cocabo_status code;
    int value;
  } pins[] = {{COCABO_OK, 0},
              {COCABO_E_INVALID, 10},
              {COCABO_E_RANGE, 11},
              {COCABO_E_STATE, 20},
              {COCABO_E_NOT_FOUND, 21},
              {COCABO_E_EXISTS, 22},
              {COCABO_E_EXHAUSTED, 23},
              {COCABO_E_BUDGET, 24},
              {COCABO_E_NO_MEMORY, 30},
              {COCABO_E_NUMERIC, 40},
              {COCABO_E_STORE, 50},
              {COCABO_E_BUSY, 51},
              {COCABO_E_INTERRUPTED, 60},
              {COCABO_E_INTERNAL, 99}};
  for (size_t i = 0; i < sizeof pins / sizeof pins[0]; i++)
    assert_int_equal(pins[i].code, pins[i].value);
}

static void states_and_types_are_pinned(void **state) {
  (void)state;
  const int states[] = {COCABO_WAITING, COCABO_RUNNING,     COCABO_COMPLETE,
                        COCABO_FAILED,  COCABO_INTERRUPTED, COCABO_STALE};
  const char *names[] = {"waiting", "running",     "complete",
                         "failed",  "interrupted", "stale"};
  const int types[] = {COCABO_NULL, COCABO_BOOL, COCABO_INT, COCABO_REAL, COCABO_TEXT};
  for (int i = 0; i < 6; i++) {
    assert_int_equal(states[i], i);
    assert_string_equal(cocabo_state_name((cocabo_trial_state)i), names[i]);
  }
  assert_non_null(cocabo_state_name((cocabo_trial_state)77));
  for (int i = 0; i < 5; i++)
    assert_int_equal(types[i], i);
  const int kinds[] = {COCABO_KIND_REAL, COCABO_KIND_INT, COCABO_KIND_CHOICE,
                       COCABO_KIND_ORDINAL};
  for (int i = 0; i < 4; i++)
    assert_int_equal(kinds[i], i);
  assert_int_equal(COCABO_LOG, 1);
  assert_int_equal(COCABO_ORDERED, 2);
}

static void the_library_says_the_headers_version(void **state) {
  (void)state;
  assert_int_equal(cocabo_version(), COCABO_VERSION_HEX);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(status_codes_are_pinned),
      cmocka_unit_test(states_and_types_are_pinned),
      cmocka_unit_test(the_library_says_the_headers_version),
  };
  return cmocka_run_group_tests_name("abi", tests, NULL, NULL);
}
