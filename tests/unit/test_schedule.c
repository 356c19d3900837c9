/* When samplers learn their hyper-parameters anew, against the rules in words. */
#include "check.h"

#include <stdbool.h>

#include "sampler/sampler.h"
#include "sampler/samplers.h"

/* With n results, of which the last fit saw `seen` (0: there was none). */
static bool mixed_is_due(int64_t n, int64_t seen, int64_t refit_every) {
  const cb_history history = {.n = n};
  const cb_settings settings = {.refit_every = refit_every, .model_size = 1000};
  const cb_fit fit = {.rows = seen};
  const cb_ask ask = {
      .history = &history, .settings = &settings, .fit = seen > 0 ? &fit : NULL};
  return cb_sampler_find("mixed")->fit_due(&ask);
}

/* How many new results there must be: each up to 150, then a twentieth of all, at least
 * 10 and at most 100. */
static void mixed_waits_for_a_share_of_the_results(void **state) {
  (void)state;
  assert_false(mixed_is_due(0, 0, 0) || mixed_is_due(1, 0, 0)); /* nothing to learn */
  assert_true(mixed_is_due(2, 0, 0));
  for (int64_t n = 3; n <= 2500; n++) {
    const int64_t want = n < 150 ? 1 : n < 200 ? 10 : n < 2000 ? n / 20 : 100;
    if (!mixed_is_due(n, n - want, 0) || mixed_is_due(n, n - want + 1, 0))
      fail_msg("with %d results, want a fit after %d new ones", (int)n, (int)want);
  }
}

static void mixed_waits_as_long_as_it_is_told(void **state) {
  (void)state;
  const int64_t every[] = {1, 7, 300};
  for (int k = 0; k < 3; k++)
    for (int64_t n = every[k] + 2; n < every[k] + 200; n += 13) {
      assert_true(mixed_is_due(n, n - every[k], every[k]));
      assert_false(mixed_is_due(n, n - every[k] + 1, every[k]));
    }
  assert_false(mixed_is_due(5000, 4000, 3000)); /* but not beyond what a model holds */
  assert_true(mixed_is_due(5000, 3999, 3000));
  assert_false(mixed_is_due(6, 0, 7)); /* the first one too */
  assert_true(mixed_is_due(7, 0, 7));
}

static bool round_is_due(int64_t rounds, int64_t fitted_at, int64_t n, int64_t seen) {
  const cb_history history = {.n = n, .n_rounds = rounds};
  const cb_settings settings = {.refit_every = 10, .model_size = 30};
  const cb_fit fit = {.rows = seen, .round = fitted_at};
  const cb_ask ask = {
      .history = &history, .settings = &settings, .fit = fitted_at >= 0 ? &fit : NULL};
  return cb_fit_due_by_rounds(&ask);
}

/* Rounds are counted from 0: the tenth is number 9. */
static void the_papers_samplers_fit_at_rounds_10_20_30(void **state) {
  (void)state;
  for (int64_t round = 0; round < 45; round++)
    assert_int_equal(round_is_due(round, -1, 20, 0), round >= 9);
  for (int64_t round = 9; round < 45; round++) {
    assert_int_equal(round_is_due(round, 9, 20, 10), round >= 19);
    assert_int_equal(round_is_due(round, 12, 20, 10), round >= 19); /* it was late */
  }
  assert_false(round_is_due(9, -1, 1, 0));
  assert_false(round_is_due(10, 9, 40, 10)); /* an active set of 30 would do */
  assert_true(round_is_due(10, 9, 41, 10));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mixed_waits_for_a_share_of_the_results),
      cmocka_unit_test(mixed_waits_as_long_as_it_is_told),
      cmocka_unit_test(the_papers_samplers_fit_at_rounds_10_20_30),
  };
  return cmocka_run_group_tests_name("sampler/schedule", tests, NULL, NULL);
}
