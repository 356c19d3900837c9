/* How often a runner renews its leases, on a clock of the test's own. */
#include "check.h"

#include "run/lease.h"
#include "run/runner.h"
#include "store/store.h"

/* Time that passes only while somebody waits. */
typedef struct fake_clock {
  double now, end;
  double pauses[100];
  int n;
} fake_clock;

static bool wait_for(void *user, double seconds) {
  fake_clock *clock = user;
  assert_true(clock->n < 100);
  clock->pauses[clock->n++] = seconds;
  clock->now += seconds;
  return clock->now > clock->end;
}

/* A store whose renewals are counted, and fail while it is gone. */
typedef struct renewing_store {
  cocabo_store base;
  const fake_clock *clock;
  double gone_from, gone_until;
  double renewed[100];
  int n;
} renewing_store;

static cocabo_status find(cocabo_store *s, const char *name, int64_t *id,
                          cocabo_error *e) {
  (void)s, (void)e;
  assert_string_equal(name, "s");
  *id = 7;
  return COCABO_OK;
}

static cocabo_status renew(cocabo_store *s, int64_t id, const char *owner,
                           double seconds, cocabo_error *e) {
  renewing_store *store = (renewing_store *)s;
  (void)e;
  assert_int_equal(id, 7);
  assert_string_equal(owner, "w");
  assert_true(seconds == CLI_LEASE_SECONDS);
  if (store->clock->now > store->gone_from && store->clock->now < store->gone_until)
    return COCABO_E_STORE;
  store->renewed[store->n++] = store->clock->now;
  return COCABO_OK;
}

static const cb_store_ops ops = {.find = find, .renew = renew};

static renewing_store keep(fake_clock *clock, double gone_from, double gone_until) {
  renewing_store store = {.base.ops = &ops,
                          .clock = clock,
                          .gone_from = gone_from,
                          .gone_until = gone_until};
  cli_lease_keep(&store.base, "s", "w", CLI_LEASE_SECONDS, wait_for, clock);
  return store;
}

static void a_lease_is_renewed_three_times_before_it_runs_out(void **state) {
  (void)state;
  fake_clock clock = {.end = 200.0};
  const renewing_store store = keep(&clock, 0, 0);
  assert_int_equal(CLI_LEASE_SECONDS, 60);
  assert_int_equal(store.n, 10);
  for (int i = 0; i < store.n; i++)
    assert_true(store.renewed[i] == 20.0 * (i + 1));
}

/* A store that is gone for half a minute costs nobody a lease: it is asked again every
 * four seconds. */
static void a_renewal_that_fails_is_tried_again_soon(void **state) {
  (void)state;
  fake_clock clock = {.end = 200.0};
  const renewing_store store = keep(&clock, 41.0, 71.0);
  double longest = store.renewed[0];
  for (int i = 1; i < store.n; i++)
    longest = fmax(longest, store.renewed[i] - store.renewed[i - 1]);
  assert_true(store.renewed[2] == 72.0); /* 60, 64, 68, 72 */
  assert_true(store.renewed[3] == 92.0); /* and then as before */
  assert_true(longest < 60.0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_lease_is_renewed_three_times_before_it_runs_out),
      cmocka_unit_test(a_renewal_that_fails_is_tried_again_soon),
  };
  return cmocka_run_group_tests_name("run/lease", tests, NULL, NULL);
}
