#include "life.h"

#include "sampler/trust.h"

static cocabo_error err;

/* Three numbers, the last one on the grid 0, 1, .., 10: patience is 4. */
static cocabo_space *three_numbers(void) {
  cocabo_space *space = cocabo_space_new();
  assert_ok(cocabo_space_add(space, "a", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "b", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "k", "int(0,10)", &err));
  return space;
}

static life begin(void) {
  return life_of(three_numbers());
}

/* With a median gap of 8. */
static double length_of(const life *l) {
  return cb_trust_follow(l->history, NULL, 4.0).length;
}

/* One more trial at (a, b) in the middle of the grid, told y. */
static void lives_at(life *l, cb_origin origin, double a, double b, double y) {
  cb_cell cells[3] = {{.real = a}, {.real = b}, {.integer = 5}};
  lives_with(l, origin, cells, y);
}

static void lives(life *l, cb_origin origin, double y) {
  lives_at(l, origin, -1.0 + 0.001 * (double)l->history->n_trials, 0.25, y);
}

static void three_wins_in_a_row_widen_it(void **state) {
  (void)state;
  life l = begin();
  assert_close(length_of(&l), 0.3, 1e-15);
  for (int i = 0; i < 5; i++)
    lives(&l, CB_BY_DESIGN, i); /* the design neither wins nor loses */
  assert_close(length_of(&l), 0.3, 1e-15);
  lives(&l, CB_BY_SAMPLER, 10.0);
  lives(&l, CB_BY_SAMPLER, 11.0);
  lives(&l, CB_BY_SAMPLER, 11.007); /* too little to count */
  lives(&l, CB_BY_SAMPLER, 12.0);
  lives(&l, CB_BY_SAMPLER, 13.0);
  assert_close(length_of(&l), 0.3, 1e-15);
  lives(&l, CB_BY_SAMPLER, 14.0);
  assert_close(length_of(&l), 0.45, 1e-15);
  for (int i = 0; i < 300; i++)
    lives(&l, CB_BY_SAMPLER, 20.0 + i);
  assert_close(length_of(&l), 1.6, 1e-15);
  end(&l);
}

static cb_trust trust_of(const life *l) {
  return cb_trust_follow(l->history, NULL, 4.0);
}

/* One that the region loses; a trial before it that looks everywhere does not count. */
static void loses(life *l) {
  const double length = length_of(l);
  if (trust_of(l).stalls && cb_trust_is_elsewhere(l->history->n_trials)) {
    lives(l, CB_BY_SAMPLER, -3.0);
    assert_close(length_of(l), length, 1e-15);
  }
  lives(l, CB_BY_SAMPLER, -3.0);
}

static void losses_narrow_it_until_it_starts_over(void **state) {
  (void)state;
  life l = begin();
  lives(&l, CB_BY_SAMPLER, -3.0);
  double want = 0.3;
  for (int round = 0; round < 5; round++) {
    for (int i = 0; i < 4; i++) {
      assert_close(length_of(&l), want, 1e-14);
      loses(&l);
    }
    want /= 1.5;
  }
  assert_close(length_of(&l), want, 1e-14);
  for (int i = 0; i < 4; i++)
    loses(&l);
  assert_close(length_of(&l), 0.3, 1e-15);
  end(&l);
}

static void half_its_patience_is_a_stall(void **state) {
  (void)state;
  life l = begin();
  lives(&l, CB_BY_SAMPLER, -3.0);
  loses(&l);
  lives(&l, CB_BY_DESIGN, -4.0); /* no loss, since the region did not propose it */
  assert_false(trust_of(&l).stalls);
  for (int i = 0; i < 9; i++) {
    loses(&l);
    assert_true(trust_of(&l).stalls);
  }
  lives(&l, CB_BY_SAMPLER, -1.0);
  assert_false(trust_of(&l).stalls);
  end(&l);
}

static void an_improvement_elsewhere_begins_it_anew(void **state) {
  (void)state;
  life l = begin();
  lives(&l, CB_BY_SAMPLER, -3.0);
  for (int i = 0; i < 8; i++)
    loses(&l);
  if (!cb_trust_is_elsewhere(l.history->n_trials))
    loses(&l);
  assert_close(length_of(&l), 0.3 / 2.25, 1e-14);
  lives(&l, CB_BY_SAMPLER, -1.0);
  assert_close(length_of(&l), 0.3, 1e-15);
  assert_false(trust_of(&l).stalls);
  end(&l);
}

/* Scales 1/2, 2, 1: their geometric mean is 1. The third input has levels 0.2 apart. */
static void the_box_follows_the_length_scales(void **state) {
  (void)state;
  life l = begin();
  const double x[3] = {0.3, -0.9, 0.0}, scales[3] = {log(0.5), log(2.0), 0.0};
  double lower[3], upper[3];
  cb_trust_box(l.space, x, 0.1, false, scales, lower, upper);
  assert_close(lower[0], 0.25, 1e-14);
  assert_close(upper[0], 0.35, 1e-14);
  assert_close(lower[1], -1.0, 1e-15); /* the cube's end */
  assert_close(upper[1], -0.7, 1e-14);
  assert_close(lower[2], -0.1, 1e-14);
  assert_close(upper[2], 0.1, 1e-14);
  const double corner[3] = {1.0, 1.0, 1.0};
  cb_trust_box(l.space, corner, 1.6, true, scales, lower, upper);
  assert_close(lower[2], -0.6, 1e-14);
  assert_close(upper[2], 1.0, 1e-15);
  end(&l);
}

static void it_holds_the_next_levels_if_it_shall(void **state) {
  (void)state;
  life l = begin();
  const double x[3] = {0.3, -0.9, 0.0}, scales[3] = {0.0, 0.0, 0.0};
  double lower[3], upper[3];
  cb_trust_box(l.space, x, 0.1, true, scales, lower, upper);
  assert_close(lower[0], 0.2, 1e-14); /* on no grid: as it was */
  assert_close(upper[1], -0.8, 1e-14);
  assert_close(lower[2], -0.2, 1e-14);
  assert_close(upper[2], 0.2, 1e-14);
  const double corner[3] = {1.0, 1.0, 1.0};
  cb_trust_box(l.space, corner, 0.1, true, scales, lower, upper);
  assert_close(lower[2], 0.8, 1e-14);
  assert_close(upper[2], 1.0, 1e-15);
  end(&l);
}

static void with_nothing_but_grids_it_is_never_one_point(void **state) {
  (void)state;
  cocabo_space *space = cocabo_space_new();
  assert_ok(cocabo_space_add(space, "i", "int(0,1)", &err));
  assert_ok(cocabo_space_add(space, "j", "int(0,2)", &err));
  const double x[2] = {cb_space_level_x(space, 0, 0), cb_space_level_x(space, 1, 1)};
  const double scales[2] = {0.0, 0.0};
  double lower[2], upper[2];
  cb_trust_box(space, x, 0.05, false, scales, lower, upper);
  assert_close(upper[0], cb_space_level_x(space, 0, 1), 1e-14);
  assert_close(lower[1], cb_space_level_x(space, 1, 0), 1e-14);
  assert_close(upper[1], cb_space_level_x(space, 1, 2), 1e-14);
  cocabo_space_free(space);
}

static void results_since_an_improvement_are_counted(void **state) {
  (void)state;
  life l = begin();
  lives(&l, CB_BY_DESIGN, 1.0);
  assert_int_equal(trust_of(&l).since, 0);
  lives(&l, CB_BY_DESIGN, 0.5);
  lives(&l, CB_BY_SAMPLER, 1.007); /* too little to count */
  assert_int_equal(trust_of(&l).since, 2);
  lives(&l, CB_BY_SAMPLER, 2.0);
  assert_int_equal(trust_of(&l).since, 0);
  end(&l);
}

typedef struct niche {
  int64_t row;
  double lower[3], upper[3];
} niche;

static niche niche_of(const life *l, const bool *among, int64_t top) {
  static const double scales[3] = {0.0, 0.0, 0.0};
  bool near[100];
  niche found;
  found.row =
      cb_trust_niche(l->history, among, top, scales, near, found.lower, found.upper);
  return found;
}

/* The best is row 1, row 2 is next to it, and row 3 the best of the others. */
static void a_niche_is_the_best_that_is_not_near_the_top(void **state) {
  (void)state;
  life l = begin();
  lives_at(&l, CB_BY_DESIGN, -0.8, -0.7, 1.0);
  assert_int_equal(niche_of(&l, NULL, 0).row, -1);
  lives_at(&l, CB_BY_DESIGN, 0.5, 0.4, 9.0);
  lives_at(&l, CB_BY_DESIGN, 0.3, 0.6, 8.0);
  lives_at(&l, CB_BY_DESIGN, 0.1, -0.6, 5.0);
  const niche found = niche_of(&l, NULL, 1);
  assert_int_equal(found.row, 3);
  assert_close(found.lower[0], -0.2, 1e-14);
  assert_close(found.upper[0], 0.4, 1e-14);
  assert_close(found.lower[1], -0.9, 1e-14);
  assert_close(found.upper[1], -0.3, 1e-14);
  const bool among[4] = {true, true, true, false};
  assert_int_equal(niche_of(&l, among, 1).row, 0);
  end(&l);
}

/* 0.4 apart along b, so that the box of 0.3 would reach beyond the middle. */
static void a_niche_ends_half_way_to_the_top(void **state) {
  (void)state;
  life l = begin();
  lives_at(&l, CB_BY_DESIGN, 0.2, 0.1, 9.0);
  lives_at(&l, CB_BY_DESIGN, 0.3, 0.5, 5.0);
  niche found = niche_of(&l, NULL, 0);
  assert_int_equal(found.row, 1);
  assert_close(found.lower[0], 0.0, 1e-14);
  assert_close(found.lower[1], 0.3, 1e-14);
  assert_close(found.upper[1], 0.8, 1e-14);
  found = niche_of(&l, NULL, 1); /* and from the other side */
  assert_close(found.lower[1], -0.2, 1e-14);
  assert_close(found.upper[1], 0.3, 1e-14);
  end(&l);
}

/* Five results beside it may fail, the sixth is one too many; those before it do not
 * count. */
static void a_niche_that_does_not_improve_is_passed_over(void **state) {
  (void)state;
  life l = begin();
  lives_at(&l, CB_BY_DESIGN, 0.7, 0.7, 9.0);
  lives_at(&l, CB_BY_DESIGN, -0.7, 0.7, 3.0);
  for (int i = 0; i < 6; i++)
    lives_at(&l, CB_BY_SAMPLER, -0.6, -0.5, 1.0 + 0.1 * i);
  lives_at(&l, CB_BY_DESIGN, -0.7, -0.7, 5.0);
  for (int i = 0; i < 5; i++)
    lives_at(&l, CB_BY_SAMPLER, -0.8, -0.8, 4.0 + 0.1 * i);
  assert_int_equal(niche_of(&l, NULL, 0).row, 8);
  lives_at(&l, CB_BY_SAMPLER, -0.5, -0.8, 2.0);
  assert_int_equal(niche_of(&l, NULL, 0).row, 1);
  lives_at(&l, CB_BY_SAMPLER, -0.6, -0.7, 6.0); /* an improvement begins it anew */
  assert_int_equal(niche_of(&l, NULL, 0).row, 15);
  end(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(three_wins_in_a_row_widen_it),
      cmocka_unit_test(losses_narrow_it_until_it_starts_over),
      cmocka_unit_test(half_its_patience_is_a_stall),
      cmocka_unit_test(an_improvement_elsewhere_begins_it_anew),
      cmocka_unit_test(the_box_follows_the_length_scales),
      cmocka_unit_test(it_holds_the_next_levels_if_it_shall),
      cmocka_unit_test(with_nothing_but_grids_it_is_never_one_point),
      cmocka_unit_test(results_since_an_improvement_are_counted),
      cmocka_unit_test(a_niche_is_the_best_that_is_not_near_the_top),
      cmocka_unit_test(a_niche_ends_half_way_to_the_top),
      cmocka_unit_test(a_niche_that_does_not_improve_is_passed_over),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
