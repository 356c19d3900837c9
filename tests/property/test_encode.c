/* Random spaces: what must hold for every one of them. */
#include "check.h"

#include <float.h>
#include <string.h>

#include "base/mem.h"
#include "space/space.h"

static cocabo_error err;

enum { SPACES = 400, POINTS = 50, MAX_N = 8 };

/* A number of any size: sign, and an exponent in [-e, e]. */
static double wild(cb_rng *rng, double e) {
  const double size = pow(10.0, e * (2.0 * cb_rng_uniform(rng) - 1.0));
  return cb_rng_below(rng, 2) ? size : -size;
}

static void add_real(cocabo_space *s, const char *name, cb_rng *rng) {
  double low = wild(rng, 6), high = wild(rng, 6);
  if (low > high) {
    const double swap = low;
    low = high;
    high = swap;
  }
  const uint32_t shape = cb_rng_below(rng, 4);
  if (shape == 0)
    assert_ok(cocabo_space_add_real(s, name, low, high, 0, 0, &err));
  else if (shape == 1)
    assert_ok(cocabo_space_add_real(s, name, fabs(low), fabs(low) * (1 + fabs(high)), 0,
                                    COCABO_LOG, &err));
  else if (shape == 2)
    assert_ok(cocabo_space_add_real(
        s, name, low, high, (high - low) * pow(10.0, -5.0 * cb_rng_uniform(rng)), 0,
        &err));
  else /* the finest grid that is allowed, and many levels */
    assert_ok(cocabo_space_add_real(
        s, name, 0.5, 1.0, 4 * DBL_EPSILON * (1 + 3 * cb_rng_uniform(rng)), 0, &err));
}

static void add_int(cocabo_space *s, const char *name, cb_rng *rng) {
  const int64_t span = (int64_t)(cb_rng_u64(rng) >> (11 + cb_rng_below(rng, 53)));
  const int64_t edge = INT64_C(1) << 53;
  if (cb_rng_below(rng, 2)) {
    const int64_t low = 1 + (int64_t)cb_rng_below(rng, 1000);
    const int64_t high = low + (span >> 13);
    assert_ok(cocabo_space_add_int(s, name, low,
                                   high < CB_MAX_LOG_INT ? high : CB_MAX_LOG_INT, 0,
                                   COCABO_LOG, &err));
  } else {
    const int64_t step = span > 0 ? 1 + (int64_t)(cb_rng_u64(rng) % (uint64_t)span) : 0;
    assert_ok(cocabo_space_add_int(s, name, edge - span, edge,
                                   cb_rng_below(rng, 2) ? step : 0, 0, &err));
  }
}

static void add_choice(cocabo_space *s, const char *name, cb_rng *rng) {
  cocabo_value values[20];
  for (int k = 0; k < 20; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = k};
  assert_ok(cocabo_space_add_choice(s, name, values, 1 + cb_rng_below(rng, 20),
                                    cb_rng_below(rng, 2) ? COCABO_ORDERED : 0, &err));
}

static cocabo_space *random_space(cb_rng *rng) {
  cocabo_space *s = cocabo_space_new();
  const uint32_t n = 1 + cb_rng_below(rng, MAX_N);
  for (uint32_t i = 0; i < n; i++) {
    const char name[] = {(char)('a' + i), '\0'};
    switch (cb_rng_below(rng, 3)) {
    case 0:
      add_real(s, name, rng);
      break;
    case 1:
      add_int(s, name, rng);
      break;
    default:
      add_choice(s, name, rng);
    }
  }
  return s;
}

static void check_inside(const cocabo_space *s, const double *x, const int32_t *h) {
  for (int j = 0; j < s->d; j++)
    assert_true(x[j] >= -1.0 && x[j] <= 1.0);
  for (int j = 0; j < s->c; j++)
    assert_true(h[j] >= 0 && h[j] < cb_space_arms(s, j));
}

static void check_round_trip(const cocabo_space *s, const cb_cell *cells) {
  double x[MAX_N], again[MAX_N];
  int32_t h[MAX_N];
  cb_cell back[MAX_N];
  assert_true(cb_space_holds(s, cells));
  cb_space_encode(s, cells, x, h);
  check_inside(s, x, h);
  cb_space_decode(s, x, h, back);
  assert_true(cb_space_holds(s, back));
  for (int i = 0; i < s->n; i++) {
    const cb_param *p = &s->params[i];
    if (p->levels > 0)
      assert_true(cb_cells_equal(1, &cells[i], &back[i]));
    else if (p->log)
      assert_relative(back[i].real, cells[i].real, 1e-13);
    else
      assert_true(fabs(back[i].real - cells[i].real) <=
                  1e-15 * (p->high - p->low) + DBL_EPSILON * fabs(p->low));
    cocabo_value value = cb_space_from_cell(s, i, cells[i]);
    cb_cell cell;
    assert_ok(cb_space_to_cell(s, i, &value, &cell, &err));
    assert_true(cb_cells_equal(1, &cells[i], &cell));
  }
  cb_space_encode(s, back, again, h);
  for (int j = 0; j < s->d; j++)
    assert_close(again[j], x[j], 1e-9);
}

static void encode_and_decode_are_inverse(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < SPACES; seed++) {
    cb_rng rng = cb_rng_make(seed, CB_RNG_BENCH, 1);
    cocabo_space *s = random_space(&rng);
    cb_cell cells[MAX_N];
    for (int k = 0; k < POINTS; k++) {
      cb_space_sample(s, &rng, cells);
      check_round_trip(s, cells);
    }
    cocabo_space_free(s);
  }
}

static void the_ends_of_a_range_are_exact(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < SPACES; seed++) {
    cb_rng rng = cb_rng_make(seed, CB_RNG_BENCH, 2);
    cocabo_space *s = random_space(&rng);
    for (int end = -1; end <= 1; end += 2) {
      double x[MAX_N], again[MAX_N];
      int32_t h[MAX_N] = {0};
      cb_cell cells[MAX_N];
      for (int j = 0; j < s->d; j++)
        x[j] = end;
      cb_space_decode(s, x, h, cells);
      cb_space_encode(s, cells, again, h);
      for (int j = 0; j < s->d; j++) {
        const int i = s->numeric[j];
        const cb_param *p = &s->params[i];
        assert_true(again[j] == (p->levels == 1 ? 0.0 : end));
        if (p->kind == CB_REAL)
          assert_true(cells[i].real == (end < 0 ? p->low : p->high));
        if (p->kind == CB_INTEGER)
          assert_true(cells[i].integer == (end < 0 ? p->ilow : p->ihigh));
      }
    }
    cocabo_space_free(s);
  }
}

/* Places rise strictly, level_of undoes level_x, and a place in between goes to the
 * nearer level. */
static void check_levels(const cocabo_space *s, int j, cb_rng *rng) {
  const int64_t n = cb_space_levels(s, j);
  for (int t = 0; t < POINTS; t++) {
    const int64_t last = n - 1;
    int64_t k = (int64_t)(cb_rng_uniform(rng) * (double)n);
    k = t == 0 ? 0 : t == 1 ? last : k > last ? last : k;
    const double place = cb_space_level_x(s, j, k);
    assert_int_equal(cb_space_level_of(s, j, place), k);
    if (k == last)
      continue;
    const double next = cb_space_level_x(s, j, k + 1);
    assert_true(next > place);
    const double between = place + cb_rng_uniform(rng) * (next - place);
    const int64_t nearest = cb_space_level_of(s, j, between);
    assert_true(nearest == k || nearest == k + 1);
    const double here = fabs(cb_space_level_x(s, j, nearest) - between);
    assert_true(here <= fabs(between - place) && here <= fabs(next - between));
  }
}

static void levels_are_consistent(void **state) {
  (void)state;
  for (uint64_t seed = 0; seed < SPACES; seed++) {
    cb_rng rng = cb_rng_make(seed, CB_RNG_BENCH, 3);
    cocabo_space *s = random_space(&rng);
    for (int j = 0; j < s->d; j++)
      if (cb_space_levels(s, j) > 0)
        check_levels(s, j, &rng);
    cocabo_space_free(s);
  }
}

static void the_largest_grids_keep_their_levels_apart(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  const int64_t edge = INT64_C(1) << 53;
  assert_ok(cocabo_space_add_int(s, "a", -edge, -1, 0, 0, &err));
  assert_ok(cocabo_space_add_int(s, "b", 1, CB_MAX_LOG_INT, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_int(s, "c", -edge / 2, edge / 2 - 1, 0, 0, &err));
  assert_ok(cocabo_space_add_real(s, "d", -1, 1, 4 * DBL_EPSILON, 0, &err));
  assert_int_equal(cb_space_levels(s, 0), edge);
  cb_rng rng = cb_rng_make(7, CB_RNG_BENCH, 4);
  for (int j = 0; j < s->d; j++)
    for (int t = 0; t < 100; t++)
      check_levels(s, j, &rng);
  cocabo_space_free(s);
}

/* Pearson's statistic against equal counts; 1e-6 quantiles of chi^2 are below
 * 2 m + 60 for the m <= 64 degrees of freedom used here. */
static void check_even(const int *counts, int n, int total) {
  const double expected = (double)total / n;
  double statistic = 0.0;
  for (int k = 0; k < n; k++)
    statistic += (counts[k] - expected) * (counts[k] - expected) / expected;
  if (!(statistic <= 2.0 * n + 60.0))
    fail_msg("chi^2 is %g with %d levels", statistic, n);
}

static void samples_are_uniform_over_levels(void **state) {
  (void)state;
  enum { TOTAL = 20000, REAL_BINS = 32 };
  cocabo_space *s = cocabo_space_new();
  cocabo_value values[5];
  for (int k = 0; k < 5; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = k};
  assert_ok(cocabo_space_add_real(s, "grid", 0.1, 0.7, 0.1, 0, &err));
  assert_ok(cocabo_space_add_int(s, "int", -20, 20, 0, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "ordinal", values, 3, COCABO_ORDERED, &err));
  assert_ok(cocabo_space_add_choice(s, "choice", values, 5, 0, &err));
  assert_ok(cocabo_space_add_real(s, "real", -3, 5, 0, 0, &err));
  assert_ok(cocabo_space_add_real(s, "log", 1e-5, 1e3, 0, COCABO_LOG, &err));
  int counts[6][64] = {{0}};
  cb_rng rng = cb_rng_make(3, CB_RNG_BENCH, 5);
  for (int t = 0; t < TOTAL; t++) {
    cb_cell cells[6];
    double x[5];
    int32_t h[1];
    cb_space_sample(s, &rng, cells);
    cb_space_encode(s, cells, x, h);
    for (int j = 0; j < 3; j++)
      counts[j][cb_space_level_of(s, j, x[j])]++;
    counts[3][h[0]]++;
    counts[4][(int)((x[3] + 1.0) / 2.0 * REAL_BINS)]++;
    counts[5][(int)((x[4] + 1.0) / 2.0 * REAL_BINS)]++;
  }
  const int n[6] = {7, 41, 3, 5, REAL_BINS, REAL_BINS};
  for (int i = 0; i < 6; i++)
    check_even(counts[i], n[i], TOTAL);
  cocabo_space_free(s);
}

static void log_integers_come_by_the_width_of_their_cell(void **state) {
  (void)state;
  enum { TOTAL = 40000, HIGH = 12 };
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add_int(s, "n", 1, HIGH, 0, COCABO_LOG, &err));
  int counts[HIGH + 1] = {0};
  cb_rng rng = cb_rng_make(4, CB_RNG_BENCH, 6);
  for (int t = 0; t < TOTAL; t++) {
    cb_cell cell;
    cb_space_sample(s, &rng, &cell);
    counts[cell.integer]++;
  }
  for (int v = 1; v <= HIGH; v++) {
    const double p = log((v + 0.5) / (v - 0.5)) / log((HIGH + 0.5) / 0.5);
    const double deviation = sqrt(p * (1.0 - p) * TOTAL);
    assert_true(fabs(counts[v] - p * TOTAL) <= 5.0 * deviation);
  }
  cocabo_space_free(s);
}

/* u walks evenly from 0 to 1: values rise, and have their share of the way. */
static void places_of_the_unit_cube_are_in_order(void **state) {
  (void)state;
  enum { STEPS = 6000, HIGH = 12 };
  cocabo_space *s = cocabo_space_new();
  cocabo_value values[3];
  for (int k = 0; k < 3; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = k};
  assert_ok(cocabo_space_add_int(s, "n", 1, HIGH, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_choice(s, "choice", values, 3, 0, &err));
  assert_ok(cocabo_space_add_real(s, "grid", 0, 1, 0.25, 0, &err));
  assert_ok(cocabo_space_add_real(s, "log", 1e-3, 1e3, 0, COCABO_LOG, &err));
  int counts[3][HIGH + 1] = {{0}};
  double last[4] = {0, 0, 0, 0};
  for (int t = 0; t < STEPS; t++) {
    const double u = (t + 0.5) / STEPS, at[4] = {u, u, u, u};
    cb_cell cells[4];
    cb_space_at(s, at, cells);
    assert_true(cb_space_holds(s, cells));
    const double now[4] = {(double)cells[0].integer, (double)cells[1].integer,
                           cells[2].real, cells[3].real};
    for (int i = 0; i < 4; i++) {
      assert_true(now[i] >= last[i]);
      last[i] = now[i];
    }
    assert_relative(now[3], pow(10.0, 6.0 * u - 3.0), 1e-12);
    counts[0][cells[0].integer]++;
    counts[1][cells[1].integer]++;
    counts[2][(int)(4.0 * cells[2].real)]++;
  }
  for (int v = 1; v <= HIGH; v++)
    assert_true(fabs(counts[0][v] - STEPS * log((v + 0.5) / (v - 0.5)) /
                                        log((HIGH + 0.5) / 0.5)) <= 1.0);
  for (int k = 0; k < 3; k++)
    assert_int_equal(counts[1][k], STEPS / 3);
  for (int k = 0; k < 5; k++)
    assert_int_equal(counts[2][k], STEPS / 5);
  cocabo_space_free(s);
}

static void enumeration_visits_every_point_once(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  cocabo_value values[4];
  for (int k = 0; k < 4; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = k};
  assert_ok(cocabo_space_add_int(s, "a", 5, 9, 0, COCABO_LOG, &err));
  assert_ok(cocabo_space_add_choice(s, "b", values, 4, 0, &err));
  assert_ok(cocabo_space_add_real(s, "c", -0.3, 0.3, 0.1, 0, &err));
  assert_ok(cocabo_space_add_choice(s, "d", values, 3, COCABO_ORDERED, &err));
  assert_ok(cocabo_space_add_real(s, "e", 4, 4, 0, 0, &err));
  const uint64_t size = cb_space_size(s);
  assert_int_equal(size, 5 * 4 * 7 * 3);
  bool seen[5 * 4 * 7 * 3] = {false};
  for (uint64_t i = 0; i < size; i++) {
    cb_cell cells[5];
    double x[4];
    int32_t h[1];
    cb_space_point(s, i, cells);
    assert_true(cb_space_holds(s, cells));
    cb_space_encode(s, cells, x, h);
    int64_t place = h[0];
    for (int j = 0; j < 3; j++)
      place = place * cb_space_levels(s, j) + cb_space_level_of(s, j, x[j]);
    assert_false(seen[place]);
    seen[place] = true;
  }
  cocabo_space_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(encode_and_decode_are_inverse),
      cmocka_unit_test(the_ends_of_a_range_are_exact),
      cmocka_unit_test(levels_are_consistent),
      cmocka_unit_test(the_largest_grids_keep_their_levels_apart),
      cmocka_unit_test(samples_are_uniform_over_levels),
      cmocka_unit_test(log_integers_come_by_the_width_of_their_cell),
      cmocka_unit_test(places_of_the_unit_cube_are_in_order),
      cmocka_unit_test(enumeration_visits_every_point_once),
  };
  return cmocka_run_group_tests_name("space/encode", tests, NULL, NULL);
}
