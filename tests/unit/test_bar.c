/* The line that says how far a study is. */
#include "run/bar.h"

#include <string.h>

#include "check.h"

static void assert_text(cli_state state, double seconds, const char *want) {
  const cli_bar bar = {.start = 100.0, .end = INFINITY, .before = 4};
  char text[300];
  cli_bar_text(&bar, &state, 100.0 + seconds, text, 200);
  assert_string_equal(text, want);
}

static void the_line_says_what_there_is(void **state) {
  (void)state;
  assert_text((cli_state){.total = 50, .complete = 4, .running = 2}, 0.5,
              "4/50, 2 running, 0/s, ETA ?");
  assert_text((cli_state){.total = 50,
                          .complete = 21,
                          .failed = 3,
                          .running = 1,
                          .has_best = true,
                          .best_number = 17,
                          .best = -0.03125},
              10.0,
              "24/50, best -0.03125 (trial 17), 1 running, 3 failed, 2/s, ETA "
              "0:00:13");
  assert_text((cli_state){.total = 4000, .complete = 5}, 60.0,
              "5/4000, 1/min, ETA 66:35:00");
  assert_text((cli_state){.complete = 5}, 60.0, "5 trials, 1/min, ETA ?");
  assert_text((cli_state){.total = 3, .complete = 5}, 60.0, "5/3, 1/min, ETA 0:00:00");
}

static void the_end_of_time_may_come_first(void **state) {
  (void)state;
  const cli_bar bar = {.start = 100.0, .end = 190.0, .before = 0};
  const cli_state some = {.complete = 30}, many = {.total = 36, .complete = 30};
  char text[300];
  cli_bar_text(&bar, &some, 130.0, text, 200);
  assert_string_equal(text, "30 trials, 1/s, ETA 0:01:00");
  cli_bar_text(&bar, &many, 130.0, text, 200);
  assert_string_equal(text, "30/36, 1/s, ETA 0:00:06");
}

static void a_narrow_terminal_cuts_it(void **state) {
  (void)state;
  const cli_bar bar = {.end = INFINITY};
  const cli_state s = {.total = 1000, .complete = 30, .running = 12, .failed = 7};
  for (int columns = 1; columns < 100; columns++) {
    char text[300];
    cli_bar_text(&bar, &s, 10.0, text, columns);
    assert_true((int)strlen(text) <= columns);
  }
}

/* As the model sees it, or luck. */
static void noisy_values_are_called_what_they_are(void **state) {
  (void)state;
  cli_state noisy = {.complete = 5,
                     .has_best = true,
                     .best_number = 3,
                     .best = 0.93,
                     .noisy = true,
                     .expected = 0.912,
                     .best_se = 0.0041};
  assert_text(noisy, 60.0, "5 trials, best 0.9120 +- 0.0041 (trial 3), 1/min, ETA ?");
  noisy.expected = noisy.best_se = NAN;
  assert_text(noisy, 60.0, "5 trials, luckiest 0.93 (trial 3), 1/min, ETA ?");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_line_says_what_there_is),
      cmocka_unit_test(the_end_of_time_may_come_first),
      cmocka_unit_test(noisy_values_are_called_what_they_are),
      cmocka_unit_test(a_narrow_terminal_cuts_it),
  };
  return cmocka_run_group_tests_name("cli/bar", tests, NULL, NULL);
}
