/* Which changes of one category count as untried. */
#include "life.h"

#include "sampler/revisit.h"

static cocabo_error err;

static void lives(life *l, double a, int b, int c, double y) {
  cb_cell cells[3] = {{.real = a}, {.integer = b}, {.integer = c}};
  lives_with(l, CB_BY_SAMPLER, cells, y);
}

/* Is a change untried at the best trial? */
static bool is_left(const life *l) {
  const cb_trial *top = &l->history->trials[l->history->told[l->history->best]];
  int32_t h[2] = {top->h[0], top->h[1]};
  cb_cell cells[3];
  const bool left = cb_revisit_has_untried(l->history, top, top->x, h, cells);
  assert_memory_equal(h, top->h, sizeof h);
  return left;
}

/* The best trial is (1, 0): its neighbours are (0, 0), (1, 1) and (1, 2). */
static void changes_are_untried_until_all_were_made(void **state) {
  (void)state;
  cocabo_space *space = cocabo_space_new();
  assert_ok(cocabo_space_add(space, "a", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "b", "choice(p,q)", &err));
  assert_ok(cocabo_space_add(space, "c", "choice(r,s,t)", &err));
  life l = life_of(space);
  lives(&l, 0.31, 1, 0, 3.7);
  lives(&l, -0.62, 0, 0, 1.1);
  lives(&l, 0.17, 0, 1, 1.3); /* two changes away */
  lives(&l, 0.83, 1, 2, 2.9);
  assert_true(is_left(&l));
  lives(&l, -0.44, 1, 1, 0.6);
  assert_false(is_left(&l));
  lives(&l, 0.29, 0, 1, 4.1); /* another best, whose (0, 2) nobody has tried */
  assert_true(is_left(&l));
  end(&l);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(changes_are_untried_until_all_were_made),
  };
  return cmocka_run_group_tests_name("sampler/revisit", tests, NULL, NULL);
}
