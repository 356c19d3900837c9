/* Trials of the caller that a log may have lost: written and not read back, there, or
 * known by another number. */
#include "check.h"

#include <string.h>

#include "base/mem.h"
#include "log/event.h"
#include "study/handed.h"

static cocabo_error err;

/* A history with so many trials; x of trial i is first + i / 100. */
static cb_history *history_of(int n, double first) {
  cocabo_space *s = cocabo_space_new();
  cb_history *h;
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  assert_ok(cb_history_new(&h, s, -1.0, &err));
  cocabo_space_free(s);
  for (int i = 0; i < n; i++) {
    cb_cell cell = {.real = first + 0.01 * i};
    const cb_event asked = {.kind = CB_TRIAL_ASKED,
                            .seq = i + 1,
                            .id = {7, (uint64_t)(first * 1000.0) + (uint64_t)i},
                            .number = i,
                            .origin = CB_BY_DESIGN,
                            .n_cells = 1,
                            .cells = &cell};
    assert_ok(cb_history_apply(h, &asked, &err));
  }
  return h;
}

static void hand_unseen(cb_handed *handed, int64_t number, double x) {
  cb_cell cell = {.real = x};
  const cb_event asked = {
      .kind = CB_TRIAL_ASKED, .number = number, .n_cells = 1, .cells = &cell};
  assert_ok(cb_handed_unseen(handed, &asked, &err));
}

/* Until the log has been read nobody knows, and nothing is put back. */
static void what_was_not_read_back_is_not_lost_yet(void **state) {
  (void)state;
  cb_handed handed = {0};
  hand_unseen(&handed, 1, 0.51);
  assert_null(cb_handed_lost(&handed));
  assert_int_equal(cb_handed_now(&handed, 1), 1);
  cb_handed_clear(&handed);
  assert_true(!handed.hands && handed.n == 0);
}

static void what_the_log_has_is_the_callers(void **state) {
  (void)state;
  cb_handed handed = {0};
  cb_history *h = history_of(3, 0.5);
  hand_unseen(&handed, 0, 0.5);
  hand_unseen(&handed, 1, 0.51);
  cb_handed_settle(&handed, h);
  assert_null(cb_handed_lost(&handed));
  assert_int_equal(handed.n, 0);
  assert_true(h->trials[0].handed && h->trials[1].handed && !h->trials[2].handed);
  cb_history_free(h);
  cb_handed_clear(&handed);
}

/* Its number is another point's now, or nobody's. */
static void what_the_log_has_not_is_lost(void **state) {
  (void)state;
  for (int number = 1; number < 9; number += 7) {
    cb_handed handed = {0};
    cb_history *h = history_of(3, 0.5);
    hand_unseen(&handed, 0, 0.5);
    hand_unseen(&handed, number, 0.75);
    hand_unseen(&handed, 2, 0.52);
    cb_handed_settle(&handed, h);
    cb_hand *lost = cb_handed_lost(&handed);
    assert_non_null(lost);
    assert_int_equal(handed.n, 1);
    assert_int_equal(lost->number, number);
    assert_true(lost->cells[0].real == 0.75);
    assert_false(h->trials[1].handed); /* another point */
    cb_event added = {.number = 3, .cells = lost->cells};
    cb_handed_is_back(lost, &added);
    assert_null(cb_handed_lost(&handed));
    assert_int_equal(cb_handed_now(&handed, number), 3);
    cb_handed_settle(&handed, h); /* it is settled once */
    assert_int_equal(cb_handed_now(&handed, number), 3);
    cb_free(added.cells);
    cb_handed_drop(&handed, number);
    assert_int_equal(cb_handed_now(&handed, number), number);
    cb_history_free(h);
    cb_handed_clear(&handed);
  }
}

/* A number that was lost and is asked for again: the newest point of that number. */
static void the_last_of_a_number_counts(void **state) {
  (void)state;
  cb_handed handed = {0};
  cb_history *h = history_of(2, 0.5);
  hand_unseen(&handed, 1, 0.75);
  hand_unseen(&handed, 1, 0.51);
  assert_int_equal(handed.n, 1);
  cb_handed_settle(&handed, h);
  assert_int_equal(handed.n, 0);
  assert_true(h->trials[1].handed);
  cb_history_free(h);
  cb_handed_clear(&handed);
}

/* A log that was read anew: what was handed out before is marked there, or lost. */
static void a_new_reading_is_compared_with_the_old(void **state) {
  (void)state;
  cb_handed handed = {0};
  cb_history *before = history_of(4, 0.5), *now = history_of(2, 0.5);
  cb_history_hand(before, 1);
  cb_history_hand(before, 3);
  assert_ok(cb_handed_compare(&handed, before, now, &err));
  assert_true(now->trials[1].handed && !now->trials[0].handed);
  cb_hand *lost = cb_handed_lost(&handed);
  assert_non_null(lost);
  assert_int_equal(lost->number, 3);
  assert_true(lost->cells[0].real == 0.53);
  assert_ok(cb_handed_compare(&handed, before, now, &err)); /* again is no harm */
  assert_int_equal(handed.n, 1);
  cb_history_free(before);
  cb_history_free(now);
  cb_handed_clear(&handed);
}

static void lack_of_memory_forgets_nothing(void **state) {
  (void)state;
  cb_handed handed = {0};
  cb_cell cell = {.real = 0.75};
  const cb_event asked = {
      .kind = CB_TRIAL_ASKED, .number = 1, .n_cells = 1, .cells = &cell};
  cocabo_status status = COCABO_E_NO_MEMORY;
  hand_unseen(&handed, 0, 0.5);
  int k = 0;
  for (; status != COCABO_OK; k++) {
    cb_mem_fail_after(k);
    status = cb_handed_unseen(&handed, &asked, &err);
    cb_mem_fail_after(-1);
    assert_true(status == COCABO_OK || status == COCABO_E_NO_MEMORY);
    assert_true(handed.n == (status == COCABO_OK ? 2 : 1));
    assert_true(handed.hands[0].unseen && handed.hands[0].cells[0].real == 0.5);
  }
  assert_true(k > 1);
  cb_handed_clear(&handed);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_was_not_read_back_is_not_lost_yet),
      cmocka_unit_test(what_the_log_has_is_the_callers),
      cmocka_unit_test(what_the_log_has_not_is_lost),
      cmocka_unit_test(the_last_of_a_number_counts),
      cmocka_unit_test(a_new_reading_is_compared_with_the_old),
      cmocka_unit_test(lack_of_memory_forgets_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
