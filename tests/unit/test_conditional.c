/* The default sampler in spaces with conditions and rules: what its search ranks are
 * points of the space, climbs end on the boundary of a rule, and branches are found. */
#include "check.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "model/gp_fit.h"
#include "sampler/samplers.h"
#include "sampler/trust.h"
#include "study/study.h"

static cocabo_error err;

static void add(cocabo_space *s, const char *name, const char *domain) {
  assert_ok(cocabo_space_add(s, name, domain, &err));
}

static void rule(cocabo_space *s, const char *expr) {
  assert_ok(cocabo_space_rule(s, expr, &err));
}

/* ---- spaces and their functions -------------------------------------------------- */

/* Three branches of three parameters; the best of them, a, is the hardest to tune. Or
 * the same without conditions. */
static void fill_branches(cocabo_space *s, bool conditional) {
  static const char *const domains[][3] = {
      {"float(-1,1)", "float(1e-4,1,log)", "choice(i,j,k,l)"},
      {"float(-1,1)", "int(1,64,log)", "choice(i,j,k,l)"},
      {"float(-1,1)", "float(1e-4,1,log)", "choice(i,j,k,l)"}};
  add(s, "way", "choice(a,b,c)");
  add(s, "u", "float(-1,1)");
  add(s, "v", "float(-1,1)");
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) {
      char name[8], domain[64];
      snprintf(name, sizeof name, "%c%d", 'a' + k, i);
      snprintf(domain, sizeof domain, conditional ? "%s if way == %c" : "%s",
               domains[k][i], 'a' + k);
      add(s, name, domain);
    }
}

static void fill_tree(cocabo_space *s) {
  fill_branches(s, true);
}

static void fill_flat(cocabo_space *s) {
  fill_branches(s, false);
}

static double square(double x) {
  return x * x;
}

static double branches(const cb_cell *v) {
  const int way = (int)v[0].integer;
  const cb_cell *own = v + 3 + 3 * (ptrdiff_t)way;
  const double a = v[1].real, b = v[2].real, x = own[0].real;
  const double y = way == 1 ? log2((double)own[1].integer) : log10(own[1].real);
  const double shared =
      2.0 * square(a - 0.3) + 2.0 * square(b + 0.4) + 0.5 * square(a * b + 0.12);
  if (way == 0)
    return shared + 3.0 * square(x - 0.6 + 0.3 * (a - 0.3)) + 0.6 * square(y + 2.5) +
           0.5 * (own[2].integer != 2);
  if (way == 1)
    return 0.25 + shared + 0.4 * square(x + 0.3) + 0.05 * square(y - 3.0) +
           0.1 * (own[2].integer != 1);
  return 0.6 + shared + 0.8 * square(x) + 0.1 * square(y + 1.0) +
         0.2 * (own[2].integer != 0);
}

/* How many pairs of numbers there are; three are best. */
static void fill_depth(cocabo_space *s) {
  add(s, "n", "int(1,4)");
  add(s, "rate", "float(1e-5,1,log)");
  for (int k = 1; k <= 4; k++) {
    char name[8], domain[64];
    for (int i = 0; i < 2; i++) {
      snprintf(name, sizeof name, "%c%d", "wd"[i], k);
      snprintf(domain, sizeof domain, k > 1 ? "float(%d,1) if n >= %d" : "float(%d,1)",
               i - 1, k);
      add(s, name, domain);
    }
  }
}

static double depth(const cb_cell *v) {
  static const double least[] = {1.2, 0.5, 0.0, 0.3};
  const int n = (int)v[0].integer;
  double y = least[n - 1] + 0.2 * square(log10(v[1].real) + 1.0 + 0.5 * n);
  for (int k = 0; k < n; k++)
    y += square(v[2 + 2 * k].real - 0.7 + 0.3 * k) +
         0.8 * square(v[3 + 2 * k].real - 0.2 * k - 0.1);
  return y;
}

/* Numbers decide how many numbers there are. */
static void fill_layers(cocabo_space *s) {
  add(s, "n", "int(1,4)");
  add(s, "w1", "float(-1,1)");
  add(s, "w2", "float(-1,1) if n >= 2");
  add(s, "w3", "float(-1,1) if n >= 3");
  add(s, "w4", "float(0,8,step=1) if n >= 4");
  add(s, "x", "float(0,1)");
  add(s, "y", "float(0,1) if x > 0.5");
  rule(s, "x + w1 <= 1");
}

/* The optimum lies on the boundary of the rule, at 0.34909. */
static void fill_simplex(cocabo_space *s) {
  add(s, "x", "float(0,1)");
  add(s, "y", "float(0,1)");
  add(s, "z", "float(0,1)");
  add(s, "c", "choice(p,q,r)");
  rule(s, "x + y + z <= 1");
}

static double simplex(const cb_cell *v) {
  const double k = (double)v[3].integer;
  return square(v[0].real - 0.8) + 2.0 * square(v[1].real - 0.6) +
         3.0 * square(v[2].real - 0.3 - 0.1 * k) + 0.3 * (k != 1.0);
}

/* A curved boundary and one on a log scale, both of which hold the optimum. */
static void fill_disc(cocabo_space *s) {
  add(s, "x", "float(-2,2)");
  add(s, "y", "float(-2,2)");
  add(s, "q", "float(1e-3,10,log)");
  rule(s, "x * x + y * y <= 1");
  rule(s, "q * (x + 3) <= 5");
}

static double disc(const cb_cell *v) {
  return square(v[0].real - 1.2) + square(v[1].real - 0.9) +
         square(log10(v[2].real) - 0.8);
}

/* The best of it by a fine grid on the boundary, where both rules bind. */
static double best_of_disc(void) {
  double best = INFINITY;
  for (int i = 0; i <= 100000; i++) {
    const double x = cos(1e-5 * i * 3.2), y = sin(1e-5 * i * 3.2);
    const cb_cell v[] = {{.real = x}, {.real = y}, {.real = 5.0 / (x + 3.0)}};
    best = fmin(best, disc(v));
  }
  return best;
}

/* No single step keeps the rule. */
static void fill_budget(cocabo_space *s) {
  for (int i = 0; i < 5; i++) {
    char name[8];
    snprintf(name, sizeof name, "i%d", i);
    add(s, name, "int(0,20)");
  }
  rule(s, "i0 + i1 + i2 + i3 + i4 == 30");
}

static double budget(const cb_cell *v) {
  static const double want[] = {10, 9, 7, 5, 3};
  double y = 0.0;
  for (int i = 0; i < 5; i++)
    y += (i + 1) * square((double)v[i].integer - want[i]);
  return y;
}

static void fill_categories(cocabo_space *s) {
  add(s, "a", "choice(p,q,r)");
  add(s, "b", "choice(p,q,r) if a != p");
  add(s, "c", "choice(p,q,r,s,t,u,v,w) if b == q");
  add(s, "d", "choice(p,q,r,s,t,u,v,w)");
  rule(s, "b != a");
}

typedef void (*fill_fn)(cocabo_space *);
static const fill_fn fills[] = {fill_tree, fill_layers, fill_simplex,
                                fill_disc, fill_budget, fill_categories};
enum { N_FILLS = sizeof fills / sizeof fills[0] };

/* ---- the search ------------------------------------------------------------------ */

enum { ROWS = 150, POOL = 200 }; /* rows: candidates are screened from 100 on */

/* A process with values at random points of the space. */
static cb_gp *random_process(const cocabo_space *space, int n, cb_rng *rng,
                             double *top_x, int32_t *top_h) {
  static double x[ROWS * COCABO_MAX_PARAMETERS], y[ROWS];
  static int32_t h[ROWS * COCABO_MAX_PARAMETERS];
  const cb_kernel_spec spec = {.d = space->d,
                               .c = space->c,
                               .presences = space->presences,
                               .form = CB_FREE,
                               .ard = true};
  cb_cell cells[COCABO_MAX_PARAMETERS];
  cb_theta_box box;
  cb_gp *gp;
  for (int i = 0; i < n; i++) {
    cb_space_sample(space, rng, cells);
    cb_space_encode(space, cells, x + i * space->d, h + i * space->c);
    y[i] = cb_rng_normal(rng);
  }
  cb_theta_free(&spec, false, &box);
  assert_ok(cb_gp_new(&gp, &spec, &err));
  cb_gp_set_theta(gp, box.start);
  assert_ok(cb_gp_factor(gp, n, x, h, &err));
  cb_gp_set_y(gp, y);
  cb_space_encode(space, cells, top_x, top_h);
  return gp;
}

/* (x, h) is a point as it is, and the rules allow what it decodes to. */
static void assert_point(const cocabo_space *space, const double *x, const int32_t *h) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  double again_x[COCABO_MAX_PARAMETERS];
  int32_t again_h[COCABO_MAX_PARAMETERS];
  cb_space_decode(space, x, h, cells);
  assert_true(cb_space_holds(space, cells));
  assert_true(cb_space_allows(space, cells));
  cb_space_encode(space, cells, again_x, again_h);
  for (int j = 0; j < space->d; j++)
    assert_close(again_x[j], x[j], 1e-12);
  for (int j = 0; j < space->c; j++)
    assert_int_equal(again_h[j], h[j]);
}

static void assert_given(const cocabo_space *space, const int32_t *given,
                         const int32_t *h) {
  for (int j = 0; j < space->c; j++)
    assert_true(h[j] == given[j] || h[j] == cb_space_arms(space, j) ||
                given[j] == cb_space_arms(space, j));
}

static void check_search(fill_fn fill, int n, bool fixed_h, uint64_t seed) {
  cb_rng rng = cb_rng_make(seed, CB_RNG_BENCH, 3);
  cocabo_space *space = cocabo_space_new();
  double top_x[COCABO_MAX_PARAMETERS];
  int32_t top_h[COCABO_MAX_PARAMETERS];
  cb_search *search;
  fill(space);
  const cb_domain domain = cb_domain_of(space);
  cb_gp *gp = random_process(space, n, &rng, top_x, top_h);
  assert_ok(cb_search_new(&search, &domain, POOL, &err));
  const cb_acquire acquire = {.kind = CB_LOGEI, .best = 1.0};
  const cb_search_plan plan = {.x = top_x,
                               .h = top_h,
                               .fixed_h = fixed_h,
                               .pool = POOL,
                               .starts = 4,
                               .evaluations = 15};
  const int ranked = cb_search_run(search, gp, &acquire, &plan, &rng);
  assert_true(ranked > 0);
  for (int i = 0; i < ranked; i++) {
    const double *x;
    const int32_t *h;
    cb_search_ranked(search, i, &x, &h);
    assert_point(space, x, h);
    if (fixed_h)
      assert_given(space, top_h, h);
  }
  cb_search_free(search);
  cb_gp_free(gp);
  cocabo_space_free(space);
}

static void what_a_search_ranks_are_points(void **state) {
  (void)state;
  for (int f = 0; f < N_FILLS; f++)
    for (uint64_t seed = 0; seed < 4; seed++) {
      check_search(fills[f], 30, false, seed);
      check_search(fills[f], 30, true, seed);
      check_search(fills[f], ROWS, false, seed);
    }
}

/* ---- studies --------------------------------------------------------------------- */

static cocabo_study *create(fill_fn fill, int seed) {
  cocabo_space *space = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study;
  char text[16];
  fill(space);
  snprintf(text, sizeof text, "%d", seed);
  assert_ok(cocabo_options_set(o, "seed", text, &err));
  assert_ok(cocabo_study_create(&study, "s", space, o, NULL, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

/* Asks for a batch, tells it, and returns the best of it. */
static double round_of(cocabo_study *study, int batch, double (*f)(const cb_cell *)) {
  cocabo_trial *t[16];
  double best = INFINITY;
  assert_ok(cocabo_study_ask(study, (size_t)batch, t, &err));
  for (int k = 0; k < batch; k++) {
    const int64_t number = cocabo_trial_number(t[k]);
    const cb_history *history = cb_study_history(study);
    const cb_cell *cells = history->trials[number].cells;
    assert_true(cb_space_holds(history->space, cells));
    assert_true(cb_space_allows(history->space, cells));
    const double y = f(cells);
    best = fmin(best, y);
    assert_ok(cocabo_study_tell(study, number, y, &err));
    cocabo_trial_free(t[k]);
  }
  return best;
}

static double best_of(fill_fn fill, double (*f)(const cb_cell *), int seed, int trials,
                      int batch) {
  cocabo_study *study = create(fill, seed);
  double best = INFINITY;
  for (int i = 0; i < trials; i += batch)
    best = fmin(best, round_of(study, batch, f));
  cocabo_study_free(study);
  return best;
}

static void climbs_slide_along_the_boundary_of_a_rule(void **state) {
  (void)state;
  for (int seed = 1; seed <= 3; seed++) {
    const double flat = best_of(fill_simplex, simplex, seed, 40, 1);
    if (!(flat < 0.34909 + 2e-4))
      fail_msg("seed %d: %.6f on a plane, want 0.34909", seed, flat);
    const double round = best_of(fill_disc, disc, seed, 60, 1);
    if (!(round < best_of_disc() + 1e-3))
      fail_msg("seed %d: %.6f on a disc, want %.6f", seed, round, best_of_disc());
  }
}

static void steps_in_pairs_keep_a_sum(void **state) {
  (void)state;
  for (int seed = 1; seed <= 3; seed++)
    assert_close(best_of(fill_budget, budget, seed, 60, 1), 9.0, 1e-12);
}

static void conditions_help(void **state) {
  (void)state;
  enum { SEEDS = 3 };
  double with = 0.0, without = 0.0;
  for (int seed = 1; seed <= SEEDS; seed++) {
    with += best_of(fill_tree, branches, seed, 80, 1) / SEEDS;
    without += best_of(fill_flat, branches, seed, 80, 1) / SEEDS;
  }
  if (!(with < 0.01 && with < 0.2 * without))
    fail_msg("%.4f with conditions, %.4f without", with, without);
}

/* Runs that stayed in the second best branch while all values of the best one were cut
 * off, or while nothing bounded the numbers of a branch that the incumbent is not in.
 */
static void no_branch_is_given_up(void **state) {
  (void)state;
  const double by_choice = fmax(best_of(fill_tree, branches, 1017, 90, 1),
                                best_of(fill_tree, branches, 1019, 90, 1));
  const double by_number = best_of(fill_depth, depth, 1031, 90, 1);
  if (!(by_choice < 0.01 && by_number < 0.1))
    fail_msg("%.4f by a choice, %.4f by a number", by_choice, by_number);
}

static double of_layers(const cb_cell *v) {
  double y = 0.3 * fabs((double)v[0].integer - 3.0) + square(v[1].real - 0.4) +
             square(v[5].real - 0.55);
  for (int i = 2; i < 4; i++)
    y += cb_cell_is_active(v[i]) ? square(v[i].real + 0.2 * i) : 0.1;
  return y + (cb_cell_is_active(v[6]) ? square(v[6].real - 0.8) : 0.2);
}

static void batches_keep_conditions_and_rules(void **state) {
  (void)state;
  const double found = best_of(fill_layers, of_layers, 1, 72, 8);
  if (!(found < 0.05))
    fail_msg("%.4f", found);
}

/* Every proposal follows from the log, to the bit. */
static void proposals_are_replayed(void **state) {
  (void)state;
  cocabo_report report;
  for (int f = 0; f < 2; f++) {
    cocabo_study *study = create(f == 0 ? fill_tree : fill_layers, 5);
    for (int i = 0; i < 12; i++)
      round_of(study, 1 + i % 3, f == 0 ? branches : of_layers);
    assert_ok(cocabo_study_verify(study, -1, &report, &err));
    assert_int_equal(report.replayed, cocabo_study_count(study));
    assert_int_equal(report.differing, 0);
    cocabo_study_free(study);
  }
}

/* ---- parts ----------------------------------------------------------------------- */

/* The numbers' scales do not see the presences as inputs, which have a prior of their
 * own. */
static void presences_have_a_prior_of_their_own(void **state) {
  (void)state;
  const cb_kernel_spec plain = {.d = 4, .c = 2, .form = CB_FREE, .ard = true};
  cb_kernel_spec spec = plain;
  cb_theta_box want, box;
  spec.d = 6;
  spec.presences = 2;
  cb_theta_free(&plain, false, &want);
  cb_theta_free(&spec, false, &box);
  for (int j = 0; j < 6; j++) {
    assert_close(box.prior_mean[j], j < 4 ? want.prior_mean[j] : 0.0, 1e-15);
    assert_true(box.prior_sd[j] > 0.0);
    assert_true(box.lower[j] < box.start[j] && box.start[j] < box.upper[j]);
  }
}

static void nothing_bounds_what_is_inactive(void **state) {
  (void)state;
  cocabo_space *space = cocabo_space_new();
  add(space, "n", "int(1,4)");
  add(space, "x", "float(-1,1)");
  add(space, "y", "float(-1,1) if n >= 3");
  const double at[] = {-1.0, 0.5, 0.0, 0.0}, scales[] = {0.0, 0.0, 0.0, 5.0};
  double lower[4], upper[4];
  cb_trust_box(space, at, 0.1, false, scales, lower, upper);
  assert_close(lower[1], 0.4, 1e-14);
  assert_close(upper[1], 0.6, 1e-14);
  assert_close(lower[2], -1.0, 0.0);
  assert_close(upper[2], 1.0, 0.0);
  cocabo_space_free(space);
}

/* f = x where kind is p, else 1/2: what x does alone is 1/48 of a variance of 1/24,
 * and the rest is the two together. */
static double half(const cb_cell *v) {
  return v[0].integer == 0 ? v[1].real : 0.5;
}

static void fill_half(cocabo_space *s) {
  add(s, "kind", "choice(p,q)");
  add(s, "x", "float(0,1) if kind == p");
  add(s, "idle", "choice(i,j,k) if kind == q");
}

static void importance_is_that_of_parameters(void **state) {
  (void)state;
  static const double want[] = {0.25, 0.75, 0.0};
  double share[3], se[3], explained, sum = 0.0;
  cocabo_space *space = cocabo_space_new();
  cocabo_study *study;
  cocabo_options *o = cocabo_options_new();
  fill_half(space);
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  assert_ok(cocabo_study_create(&study, "s", space, o, NULL, &err));
  for (int i = 0; i < 300; i++)
    round_of(study, 1, half);
  assert_ok(cocabo_study_importance(study, 3, share, se, &explained, &err));
  for (int i = 0; i < 3; i++) {
    if (!(fabs(share[i] - want[i]) <= 0.06))
      fail_msg("share %d is %.3f, want %.3f", i, share[i], want[i]);
    assert_true(se[i] >= 0.0 && se[i] < 0.1);
    sum += share[i];
  }
  assert_close(sum, 1.0, 1e-12);
  assert_true(explained > 0.8);
  cocabo_study_free(study);
  cocabo_options_free(o);
  cocabo_space_free(space);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_a_search_ranks_are_points),
      cmocka_unit_test(climbs_slide_along_the_boundary_of_a_rule),
      cmocka_unit_test(steps_in_pairs_keep_a_sum),
      cmocka_unit_test(conditions_help),
      cmocka_unit_test(no_branch_is_given_up),
      cmocka_unit_test(batches_keep_conditions_and_rules),
      cmocka_unit_test(proposals_are_replayed),
      cmocka_unit_test(presences_have_a_prior_of_their_own),
      cmocka_unit_test(nothing_bounds_what_is_inactive),
      cmocka_unit_test(importance_is_that_of_parameters),
  };
  return cmocka_run_group_tests_name("conditional", tests, NULL, NULL);
}
