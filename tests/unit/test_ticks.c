/* Scales and ticks: round numbers inside the range, few enough, told apart by their
 * labels. */
#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "common/canvas.h"
#include "common/scale.h"

static void assert_labels(const scale *s, int wanted, const char *expected) {
  ticks t;
  char all[400] = "", label[TICK_LABEL];
  ticks_find(s, wanted, &t);
  for (int i = 0; i < t.n; i++) {
    strcat(all, i > 0 ? " " : "");
    strcat(all, ticks_label(&t, i, label));
  }
  assert_string_equal(all, expected);
}

static void steps_are_one_two_or_five(void **state) {
  (void)state;
  assert_labels(&(scale){0.0, 1.0, false, 0, 1}, 6, "0.0 0.2 0.4 0.6 0.8 1.0");
  assert_labels(&(scale){-0.37, 1.49, false, 0, 1}, 5, "0.0 0.5 1.0");
  assert_labels(&(scale){0.0, 0.8, false, 0, 1}, 4, "0.00 0.25 0.50 0.75");
  assert_labels(&(scale){13.0, 1721.0, false, 0, 1}, 4, "500 1000 1500");
  assert_labels(&(scale){-3e-7, 4e-7, false, 0, 1}, 4, "-2e-7 0 2e-7 4e-7");
  assert_labels(&(scale){2.9e8, 4.3e8, false, 0, 1}, 4, "3e8 3.5e8 4e8");
}

static void whole_numbers_have_whole_ticks(void **state) {
  (void)state;
  const scale s = {0.5, 9.5, false, 0, 1};
  ticks t;
  ticks_find_whole(&s, 4, &t);
  assert_int_equal(t.n, 4);
  for (int i = 0; i < t.n; i++)
    assert_close(t.at[i], 2.0 * (i + 1), 0.0);
  ticks_find_whole(&(scale){0.0, 1.0, false, 0, 1}, 10, &t);
  assert_int_equal(t.n, 2);
}

static void logarithmic_ticks_thin_out(void **state) {
  (void)state;
  assert_labels(&(scale){16.0, 1024.0, true, 0, 1}, 7, "20 50 100 200 500 1000");
  assert_labels(&(scale){16.0, 1024.0, true, 0, 1}, 5, "30 100 300 1000");
  assert_labels(&(scale){1e-5, 0.1, true, 0, 1}, 5, "1e-5 0.0001 0.001 0.01 0.1");
  assert_labels(&(scale){1e-12, 1.0, true, 0, 1}, 5, "1e-12 1e-9 1e-6 0.001 1");
  /* Too narrow for powers of ten: straight steps. */
  assert_labels(&(scale){3.1, 4.4, true, 0, 1}, 4, "3.5 4.0");
}

static void positions_are_exact_at_the_ends(void **state) {
  (void)state;
  const scale straight = {-DBL_MAX, DBL_MAX, false, 20.0, 500.0};
  assert_close(scale_at(&straight, -DBL_MAX), 20.0, 1e-15);
  assert_close(scale_at(&straight, 0.0), 260.0, 1e-15);
  assert_close(scale_at(&straight, DBL_MAX), 500.0, 1e-15);
  const scale logarithmic = {1e-5, 10.0, true, 0.0, 6.0};
  assert_close(scale_at(&logarithmic, 1e-2), 3.0, 1e-12);
}

static void a_widened_range_is_never_empty(void **state) {
  (void)state;
  const double values[] = {0.0, 3.5, -3.5, 1e300, -1e300, DBL_MAX, DBL_MIN, 1e-320};
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    double low = values[i], high = values[i];
    scale_widen(&low, &high, false, 0.05);
    if (!(low < high) || !isfinite(low) || !isfinite(high))
      fail_msg("%g widens to %g .. %g", values[i], low, high);
  }
  double low = 2.0, high = 2.0;
  scale_widen(&low, &high, true, 0.05);
  assert_true(0.0 < low && low < 2.0 && 2.0 < high);
}

/* What is promised of any range: ticks inside it, ascending, few, and labels that read
 * back as the ticks and differ. */
static void assert_sound(const scale *s, int wanted) {
  ticks t;
  ticks_find(s, wanted, &t);
  assert_true(t.n >= 0 && t.n <= wanted);
  const double width = s->high / 2.0 - s->low / 2.0;
  char before[TICK_LABEL] = "", label[TICK_LABEL], *end;
  for (int i = 0; i < t.n; i++) {
    assert_true(t.at[i] >= s->low - 1e-6 * width && t.at[i] <= s->high + 1e-6 * width);
    ticks_label(&t, i, label);
    const double read = strtod(label, &end);
    if (strcmp(label, before) == 0 || *end || !(fabs(read - t.at[i]) <= 1e-3 * width))
      fail_msg("%.17g .. %.17g: \"%s\" after \"%s\" for %.17g", s->low, s->high, label,
               before, t.at[i]);
    strcpy(before, label);
  }
}

static double uniform(uint64_t *state) {
  *state = *state * 6364136223846793005u + 1442695040888963407u;
  return (double)(*state >> 11) * 0x1p-53;
}

static void random_ranges_have_sound_ticks(void **state) {
  (void)state;
  uint64_t random = 7;
  for (int k = 0; k < 20000; k++) {
    const double size = pow(10.0, 600.0 * uniform(&random) - 300.0);
    const double middle = size * (2.0 * uniform(&random) - 1.0);
    /* As narrow as scale_widen leaves a range, at least. */
    const double half = fabs(middle) * pow(10.0, -9.0 * uniform(&random)) + 1e-9 * size;
    const scale s = {middle - half, middle + half, false, 0, 1};
    assert_sound(&s, 2 + (int)(14.0 * uniform(&random)));
    const double low = pow(10.0, 500.0 * uniform(&random) - 250.0);
    const scale l = {low, low * pow(10.0, 0.1 + 40.0 * uniform(&random)), true, 0, 1};
    assert_sound(&l, 2 + (int)(14.0 * uniform(&random)));
  }
}

static void numbers_are_short(void **state) {
  (void)state;
  char out[TICK_LABEL];
  assert_string_equal(scale_number(1e-5, 4, out), "1e-5");
  assert_string_equal(scale_number(1.5e12, 4, out), "1.5e12");
  assert_string_equal(scale_number(-0.0, 4, out), "0");
  assert_string_equal(scale_number(1.0 / 3.0, 4, out), "0.3333");
  assert_string_equal(scale_number(-1e-300, 4, out), "-1e-300");
}

static void below_ten_million_there_is_no_exponent(void **state) {
  (void)state;
  char out[TICK_LABEL];
  assert_string_equal(scale_number(1e5, 4, out), "100000");
  assert_string_equal(scale_number(9999999.0, 4, out), "9999999");
  assert_string_equal(scale_number(-1234567.0, 3, out), "-1234567");
  assert_string_equal(scale_number(204324.61, 4, out), "204325");
  assert_string_equal(scale_number(9999.7, 4, out), "10000");
  assert_string_equal(scale_number(1e7, 4, out), "1e7");
}

static void assert_between(double low, double high, bool log, bool whole,
                           const char *want) {
  const double half = whole ? 0.5 : 0.0;
  const scale s = {low - half, high + half, log, 0, 200};
  char all[400] = "", label[TICK_LABEL];
  ticks t;
  ticks_find_between(&s, low, high, whole, 4, &t);
  for (int i = 0; i < t.n; i++) {
    strcat(all, ticks_label(&t, i, label));
    strcat(all, " ");
  }
  assert_string_equal(all, want);
}

static void both_ends_of_a_range_have_ticks(void **state) {
  (void)state;
  assert_between(0.123456, 0.987654, false, false,
                 "0.123456 0.2 0.4 0.6 0.8 0.987654 ");
  assert_between(0.0, 1.0, false, false, "0 0.5 1 ");
  assert_between(100000, 900000, false, true,
                 "100000 200000 400000 600000 800000 900000 ");
  assert_between(1, 1000000, true, true, "1 100 10000 1000000 ");
  assert_between(1e-5, 0.1, true, false, "1e-5 0.0001 0.001 0.01 0.1 ");
  assert_between(1, 2, false, true, "1 2 ");
}

/* Names differ at both ends, and letters are not cut into bytes. */
static void long_texts_are_cut_in_the_middle(void **state) {
  (void)state;
  char out[CANVAS_FITTED], huge[4 * CANVAS_FITTED];
  assert_string_equal(canvas_fit(out, "short", 10, 100), "short");
  assert_string_equal(canvas_fit(out, "very_long_parameter_name", 10, 90),
                      "very_lo\u2026er_name");
  assert_string_equal(
      canvas_fit(out, "\u00e4\u00e4\u00e4\u00e4\u00f6\u00f6\u00f6\u00f6", 10, 40),
      "\u00e4\u00e4\u2026\u00f6\u00f6");
  /* What combines stays with its letter. */
  assert_string_equal(canvas_fit(out, "aaaaaaaaae\u0301bbb", 10, 34), "aa\u2026bb");
  assert_string_equal(canvas_fit(out, "anything", 10, 1), "\u2026");
  assert_string_equal(canvas_fit(out, "anything", 10, -5), "\u2026");
  memset(huge, 'x', sizeof huge);
  huge[sizeof huge - 1] = '\0';
  assert_true(strlen(canvas_fit(out, huge, 10, 1e9)) < CANVAS_FITTED);
  assert_non_null(strstr(out, "x\u2026x"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(steps_are_one_two_or_five),
      cmocka_unit_test(whole_numbers_have_whole_ticks),
      cmocka_unit_test(logarithmic_ticks_thin_out),
      cmocka_unit_test(positions_are_exact_at_the_ends),
      cmocka_unit_test(a_widened_range_is_never_empty),
      cmocka_unit_test(random_ranges_have_sound_ticks),
      cmocka_unit_test(numbers_are_short),
      cmocka_unit_test(below_ten_million_there_is_no_exponent),
      cmocka_unit_test(both_ends_of_a_range_have_ticks),
      cmocka_unit_test(long_texts_are_cut_in_the_middle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
