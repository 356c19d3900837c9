/* What one evaluation may use: how limits are read, which one a failure comes from, and
 * how processors are shared. */
#include "check.h"

#include <signal.h>

#include "run/pin.h"
#include "run/quota.h"

/* ---- limits ---------------------------------------------------------------------- */

static cli_quota quota_of(const char *text) {
  cli_quota quota;
  cocabo_error err;
  assert_ok(cli_quota_parse(&quota, text, &err));
  return quota;
}

static void limits_are_read_and_written(void **state) {
  (void)state;
  char text[CLI_QUOTA_SIZE];
  const cli_quota q = quota_of("cpu=1m30s,mem=1.5GiB,procs=7");
  assert_true(q.most[CLI_MEM] == 1610612736.0 && q.most[CLI_CPU] == 90.0 &&
              q.most[CLI_PROCS] == 7.0 && q.most[CLI_FILES] == 0.0);
  assert_string_equal(cli_quota_show(text, &q), "mem=1.5GiB,cpu=1m30s,procs=7");
  const cli_quota none = quota_of("none");
  assert_true(cli_quota_is_none(&none) && !cli_quota_is_none(&q));
  assert_string_equal(cli_quota_show(text, &none), "none");
}

static void a_use_beyond_a_limit_is_found(void **state) {
  (void)state;
  const cli_quota q = quota_of("mem=1M,cpu=2");
  double used = 0.0;
  assert_int_equal(cli_quota_exceeded(&q, &(cli_use){1048576.0, 2.0, 99.0}, &used), -1);
  assert_int_equal(cli_quota_exceeded(&q, &(cli_use){1048577.0, 2.0, 99.0}, &used),
                   CLI_MEM);
  assert_true(used == 1048577.0);
  assert_int_equal(cli_quota_exceeded(&q, &(cli_use){0.0, 2.25, 99.0}, &used), CLI_CPU);
}

static void a_failure_is_traced_to_its_limit(void **state) {
  (void)state;
  const cli_quota q = quota_of("mem=100M,cpu=60,files=64,fsize=1G");
  const cli_quota other = quota_of("procs=3");
  const int one = 1 << 8, shell = (128 + SIGXCPU) << 8;
  static const char memory[] = "std::bad_alloc", files[] = "Too MANY open files";
  assert_int_equal(cli_quota_guess(&q, 0, 1e12, memory), -1);
  assert_int_equal(cli_quota_guess(&q, one, 0.0, "no idea"), -1);
  assert_int_equal(cli_quota_guess(&q, one, 0.0, memory), CLI_MEM);
  assert_int_equal(cli_quota_guess(&q, one, 99e6, ""), CLI_MEM);
  assert_int_equal(cli_quota_guess(&q, one, 0.0, "CUDA out of memory"), -1);
  assert_int_equal(cli_quota_guess(&q, one, 0.0, files), CLI_FILES);
  assert_int_equal(cli_quota_guess(&q, SIGXCPU, 0.0, ""), CLI_CPU);
  assert_int_equal(cli_quota_guess(&q, shell, 0.0, ""), CLI_CPU);
  assert_int_equal(cli_quota_guess(&q, SIGXFSZ, 0.0, ""), CLI_FSIZE);
  assert_int_equal(cli_quota_guess(&other, SIGXFSZ, 1e12, memory), -1);
}

/* ---- processors ------------------------------------------------------------------ */

static int count(const cli_cpus *cpus) {
  int n = 0;
  for (size_t i = 0; i < sizeof cpus->bits / sizeof cpus->bits[0]; i++)
    n += __builtin_popcountl(cpus->bits[i]);
  return n;
}

/* As even as can be, and nobody has what another one has. */
static void processors_are_divided(void **state) {
  (void)state;
  static cli_pins pins = {.n = 11};
  for (int i = 0; i < pins.n; i++)
    pins.cpus[i] = 7 * i % 131;
  for (int slots = 1; slots <= pins.n; slots++) {
    cli_cpus seen = {{0}}, share;
    for (int s = 0; s < slots; s++) {
      assert_true(cli_pins_share(&pins, s, slots, &share));
      assert_true(count(&share) == pins.n / slots ||
                  count(&share) == 1 + pins.n / slots);
      for (size_t i = 0; i < sizeof seen.bits / sizeof seen.bits[0]; i++) {
        assert_int_equal(seen.bits[i] & share.bits[i], 0);
        seen.bits[i] |= share.bits[i];
      }
    }
    assert_int_equal(count(&seen), pins.n);
  }
  cli_cpus share;
  assert_true(cli_pins_share(&pins, 12, 40, &share));
  assert_int_equal(count(&share), 1);
  assert_true(share.bits[0] == 1UL << pins.cpus[1]);
  pins.n = 0;
  assert_false(cli_pins_share(&pins, 0, 1, &share));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(limits_are_read_and_written),
      cmocka_unit_test(a_use_beyond_a_limit_is_found),
      cmocka_unit_test(a_failure_is_traced_to_its_limit),
      cmocka_unit_test(processors_are_divided),
  };
  return cmocka_run_group_tests_name("cli/quota", tests, NULL, NULL);
}
