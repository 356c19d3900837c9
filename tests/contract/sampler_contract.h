/* sampler_contract.h - what every sampler promises to a study, as one suite.
 *
 * A test program includes this file and runs run_sampler_contract("name") for each.
 */
#ifndef CB_TESTS_SAMPLER_CONTRACT_H
#define CB_TESTS_SAMPLER_CONTRACT_H

#include "check.h"

#include <float.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/rng.h"
#include "sampler/sampler.h"
#include "study/study.h"

static cocabo_error err;
static const char *sampler;            /* the one under test */
static void (*filled)(cocabo_space *); /* what filled the last space */

/* ---- spaces ---------------------------------------------------------------------- */

static void add_real(cocabo_space *s, const char *name, double low, double high,
                     double step, unsigned flags) {
  assert_ok(cocabo_space_add_real(s, name, low, high, step, flags, &err));
}

static void add_int(cocabo_space *s, const char *name, int64_t low, int64_t high,
                    unsigned flags) {
  assert_ok(cocabo_space_add_int(s, name, low, high, 0, flags, &err));
}

static void add_choice(cocabo_space *s, const char *name, int n, unsigned flags) {
  cocabo_value values[64];
  for (int k = 0; k < n; k++)
    values[k] = (cocabo_value){.type = COCABO_INT, .as.integer = 100 + k};
  assert_ok(cocabo_space_add_choice(s, name, values, (size_t)n, flags, &err));
}

static void fill_reals(cocabo_space *s) {
  add_real(s, "a", -1.5, 3.25, 0, 0);
  add_real(s, "b", 0, 1e-7, 0, 0);
  add_real(s, "c", -1e9, 1e9, 0, 0);
}

static void fill_logs(cocabo_space *s) {
  add_real(s, "a", 1e-5, 0.1, 0, COCABO_LOG);
  add_real(s, "b", 1e-12, 1e12, 0, COCABO_LOG);
}

static void fill_steps(cocabo_space *s) {
  add_real(s, "a", 0, 1, 0.25, 0);
  add_real(s, "b", -0.35, 0.8, 0.1, 0); /* the last one is 0.75 */
  add_real(s, "c", 0, 1000, 0.001, 0);
}

static void fill_ints(cocabo_space *s) {
  add_int(s, "a", -5, 20, 0);
  add_int(s, "b", 0, 1, 0);
  add_int(s, "c", 1, INT64_C(1000000000000), 0);
}

static void fill_log_ints(cocabo_space *s) {
  add_int(s, "a", 1, 1024, COCABO_LOG);
  add_int(s, "b", 7, INT64_C(1) << 40, COCABO_LOG);
}

static void fill_ordinals(cocabo_space *s) {
  add_choice(s, "a", 5, COCABO_ORDERED);
  add_choice(s, "b", 2, COCABO_ORDERED);
  add_choice(s, "c", 20, COCABO_ORDERED);
}

static void fill_choices(cocabo_space *s) {
  add_choice(s, "a", 3, 0);
  add_choice(s, "b", 17, 0);
  add_choice(s, "c", 4, 0);
}

static void fill_single_points(cocabo_space *s) {
  add_int(s, "a", 5, 5, 0);
  add_choice(s, "b", 1, 0);
  add_choice(s, "c", 1, COCABO_ORDERED);
  add_real(s, "d", 0.5, 0.5, 0, 0);
  add_int(s, "e", 8, 8, COCABO_LOG);
  add_real(s, "x", 0, 1, 0, 0);
}

static void fill_mixed(cocabo_space *s) {
  add_real(s, "x", -1, 3, 0, 0);
  add_choice(s, "c", 3, 0);
  add_int(s, "n", 1, 64, COCABO_LOG);
  add_real(s, "y", 1e-3, 10, 0, COCABO_LOG);
  add_choice(s, "o", 4, COCABO_ORDERED);
  add_choice(s, "d", 5, 0);
}

static void fill_thirty(cocabo_space *s) {
  for (int i = 0; i < 30; i++) {
    char name[16];
    snprintf(name, sizeof name, "p%d", i);
    switch (i % 6) {
    case 0:
      add_real(s, name, -i, 2 * i + 1, 0, 0);
      break;
    case 1:
      add_choice(s, name, 2 + i % 5, 0);
      break;
    case 2:
      add_int(s, name, 1, 10 * i, COCABO_LOG);
      break;
    case 3:
      add_real(s, name, 0, 1, 0.125, 0);
      break;
    case 4:
      add_choice(s, name, 3, COCABO_ORDERED);
      break;
    default:
      add_real(s, name, 1e-4, 1, 0, COCABO_LOG);
    }
  }
}

static void add(cocabo_space *s, const char *name, const char *domain) {
  assert_ok(cocabo_space_add(s, name, domain, &err));
}

/* Conditions on choices and on numbers, of choices and of numbers, two in each other.
 */
static void fill_tree(cocabo_space *s) {
  add(s, "x", "float(-1,3)");
  add(s, "model", "choice(svm,net,tree)");
  add(s, "rate", "float(1e-4,1,log) if model == net");
  add(s, "depth", "int(1,12) if model != net");
  add(s, "prune", "bool if depth > 4");
  add(s, "share", "float(0,1,step=0.125) if prune");
  add(s, "kernel", "choice(a,b,c,d) if model == svm");
  add(s, "width", "ordinal(1,2,4,8) if kernel in (a, b) and x > 0");
}

static void rule(cocabo_space *s, const char *expr) {
  assert_ok(cocabo_space_rule(s, expr, &err));
}

/* One point in twenty keeps the rules. */
static void fill_ruled(cocabo_space *s) {
  add(s, "a", "int(0,40)");
  add(s, "x", "float(0,1)");
  add(s, "c", "choice(p,q,r)");
  add(s, "y", "float(0,1)");
  add(s, "b", "int(0,40)");
  rule(s, "a < b");
  rule(s, "x + y <= 0.45");
  rule(s, "c != r or x > y");
}

static void fill_ruled_tree(cocabo_space *s) {
  fill_tree(s);
  rule(s, "rate < 0.01");
  rule(s, "depth % 3 == 1 or x < 0");
  rule(s, "not (kernel == c and depth < 6)");
}

/* 9 points: of the 24 combinations many are one, and two are forbidden. */
static void fill_few(cocabo_space *s) {
  add(s, "a", "int(0,3)");
  add(s, "b", "choice(p,q,r) if a > 1");
  add(s, "c", "bool if b == q");
  rule(s, "a != 2 or b != p");
}

/* What the texts above say, without the help of those who read them. -1 is inactive. */
static int64_t of(const cb_cell *cells, int i) {
  return cb_cell_is_active(cells[i]) ? cells[i].integer : -1;
}

static bool is_tree(const cb_cell *v) {
  const int64_t model = of(v, 1), depth = of(v, 3), prune = of(v, 4), kernel = of(v, 6);
  return cb_cell_is_active(v[0]) && model >= 0 &&
         cb_cell_is_active(v[2]) == (model == 1) && (depth >= 0) == (model != 1) &&
         (prune >= 0) == (depth > 4) && cb_cell_is_active(v[5]) == (prune == 1) &&
         (kernel >= 0) == (model == 0) &&
         (of(v, 7) >= 0) == ((kernel == 0 || kernel == 1) && v[0].real > 0.0);
}

static bool is_ruled(const cb_cell *v) {
  return v[0].integer < v[4].integer && v[1].real + v[3].real <= 0.45 &&
         (v[2].integer != 2 || v[1].real > v[3].real);
}

static bool is_ruled_tree(const cb_cell *v) {
  const int64_t depth = of(v, 3);
  return is_tree(v) && (!cb_cell_is_active(v[2]) || v[2].real < 0.01) &&
         (depth < 0 || depth % 3 == 1 || v[0].real < 0.0) &&
         !(of(v, 6) == 2 && depth < 6);
}

static bool is_of_few(const cb_cell *v) {
  const int64_t a = of(v, 0), b = of(v, 1);
  return (b >= 0) == (a > 1) && (of(v, 2) >= 0) == (b == 1) && (a != 2 || b != 0);
}

static const struct {
  void (*fill)(cocabo_space *);
  bool (*allows)(const cb_cell *);
} readings[] = {{fill_tree, is_tree},
                {fill_ruled, is_ruled},
                {fill_ruled_tree, is_ruled_tree},
                {fill_few, is_of_few}};

typedef struct space_case {
  const char *name;
  void (*fill)(cocabo_space *);
} space_case;

static const space_case space_cases[] = {{"reals", fill_reals},
                                         {"logs", fill_logs},
                                         {"steps", fill_steps},
                                         {"ints", fill_ints},
                                         {"log ints", fill_log_ints},
                                         {"ordinals", fill_ordinals},
                                         {"choices", fill_choices},
                                         {"single points", fill_single_points},
                                         {"mixed", fill_mixed},
                                         {"thirty", fill_thirty},
                                         {"tree", fill_tree},
                                         {"ruled", fill_ruled},
                                         {"ruled tree", fill_ruled_tree}};
enum { N_SPACES = sizeof space_cases / sizeof space_cases[0] };

/* 24 points. */
static void fill_finite(cocabo_space *s) {
  add_int(s, "a", 0, 3, 0);
  add_choice(s, "b", 3, 0);
  add_choice(s, "c", 2, COCABO_ORDERED);
}

/* ---- studies --------------------------------------------------------------------- */

#define WITH(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Does the sampler handle such spaces? If not, creating a study says what else to use.
 */
static bool is_accepted(void (*fill)(cocabo_space *)) {
  const cb_sampler *tested = cb_sampler_find(sampler);
  cocabo_space *space = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  cocabo_study *study = NULL;
  fill(space);
  assert_ok(cocabo_options_set(o, "sampler", sampler, &err));
  const bool accepted = !tested->accepts || tested->accepts(space, NULL) == COCABO_OK;
  if (!accepted) {
    assert_int_equal(cocabo_study_create(&study, "s", space, o, NULL, &err),
                     COCABO_E_INVALID);
    assert_null(study);
    assert_non_null(strstr(err.message, "use sampler="));
  }
  cocabo_options_free(o);
  cocabo_space_free(space);
  return accepted;
}

/* Options as pairs of name and value, ended by NULL, besides those that keep it short.
 */
static cocabo_study *create(void (*fill)(cocabo_space *), cocabo_store *store,
                            const char *const *pairs) {
  static const char *const few[] = {"n_init", "4", "samples", "60", NULL};
  cocabo_study *study;
  cocabo_space *space = cocabo_space_new();
  cocabo_options *o = cocabo_options_new();
  fill(space);
  filled = fill;
  assert_ok(cocabo_options_set(o, "sampler", sampler, &err));
  for (const char *const *p = few; p[0]; p += 2)
    assert_ok(cocabo_options_set(o, p[0], p[1], &err));
  for (; pairs && pairs[0]; pairs += 2)
    assert_ok(cocabo_options_set(o, pairs[0], pairs[1], &err));
  assert_ok(cocabo_study_create(&study, "s", space, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(space);
  return study;
}

static int64_t ask_one(cocabo_study *study) {
  cocabo_trial *t = NULL;
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  const int64_t number = cocabo_trial_number(t);
  cocabo_trial_free(t);
  return number;
}

static void ask_many(cocabo_study *study, int n, int64_t *numbers) {
  cocabo_trial *t[64];
  assert_ok(cocabo_study_ask(study, (size_t)n, t, &err));
  for (int i = 0; i < n; i++) {
    if (numbers)
      numbers[i] = cocabo_trial_number(t[i]);
    cocabo_trial_free(t[i]);
  }
}

static const cb_trial *trial_of(const cocabo_study *study, int64_t number) {
  return &cb_study_history(study)->trials[number];
}

/* Smooth in x, with an effect of every category; to be minimised. */
static double bowl(const cocabo_study *study, int64_t number) {
  const cocabo_space *space = cb_study_history(study)->space;
  const cb_trial *t = trial_of(study, number);
  double y = 0.0;
  for (int j = 0; j < space->d; j++)
    y += (t->x[j] - 0.31) * (t->x[j] - 0.31) + 0.1 * sin(5.0 * t->x[j] + j);
  for (int j = 0; j < space->c; j++)
    y += 0.3 * ((t->h[j] * 7 + j) % 5);
  return y;
}

static void tell(cocabo_study *study, int64_t number, double value) {
  assert_ok(cocabo_study_tell(study, number, value, &err));
}

static void tell_bowl(cocabo_study *study, int64_t number) {
  tell(study, number, bowl(study, number));
}

/* ---- checks ---------------------------------------------------------------------- */

/* By the parameter's own numbers, without the space's help. */
static bool is_inside(const cb_param *p, cb_cell cell) {
  if (!cb_cell_is_active(cell))
    return p->condition != NULL;
  if (p->kind == CB_CHOICE || p->kind == CB_ORDINAL)
    return cell.integer >= 0 && cell.integer < p->n_choices;
  if (p->kind == CB_INTEGER)
    return cell.integer >= p->ilow && cell.integer <= p->ihigh;
  if (!(cell.real >= p->low && cell.real <= p->high))
    return false;
  if (p->step == 0.0)
    return true;
  const double k = (cell.real - p->low) / p->step;
  return fabs(k - round(k)) <= 1e-9 * (1.0 + fabs(k));
}

static void assert_inside(const cocabo_study *study, int64_t number, const char *what) {
  const cocabo_space *space = cb_study_history(study)->space;
  const cb_trial *t = trial_of(study, number);
  for (int i = 0; i < space->n; i++)
    if (!is_inside(&space->params[i], t->cells[i]))
      fail_msg("%s, %s: %s of trial %d is %g or %d, outside its domain", sampler, what,
               space->params[i].name, (int)number, t->cells[i].real,
               (int)t->cells[i].integer);
  assert_true(cb_space_holds(space, t->cells));
  for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++)
    if (filled == readings[i].fill && !readings[i].allows(t->cells))
      fail_msg("%s, %s: trial %d breaks a condition or a rule", sampler, what,
               (int)number);
}

/* Asks for one point, which must lie in the space. */
static int64_t ask_inside(cocabo_study *study, const char *what) {
  cocabo_trial *t = NULL;
  if (cocabo_study_ask(study, 1, &t, &err) != COCABO_OK)
    fail_msg("%s, %s, trial %d: %s", sampler, what, (int)cocabo_study_count(study),
             err.message);
  const int64_t number = cocabo_trial_number(t);
  cocabo_trial_free(t);
  assert_inside(study, number, what);
  return number;
}

static bool same_point(const cocabo_study *a, int64_t i, const cocabo_study *b,
                       int64_t j) {
  return cb_cells_equal(cb_study_history(a)->space->n, trial_of(a, i)->cells,
                        trial_of(b, j)->cells);
}

static void assert_all_distinct(const cocabo_study *study) {
  const int64_t n = cocabo_study_count(study);
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < i; j++)
      if (same_point(study, i, study, j))
        fail_msg("%s: trials %d and %d are the same point", sampler, (int)j, (int)i);
}

/* The two logs say the same, to the bit: points, results, and fits. */
static void assert_same_history(const cocabo_study *a, const cocabo_study *b) {
  const cb_history *p = cb_study_history(a), *q = cb_study_history(b);
  assert_int_equal(p->n_trials, q->n_trials);
  for (int64_t i = 0; i < p->n_trials; i++) {
    if (!same_point(a, i, b, i))
      fail_msg("%s: trial %d differs", sampler, (int)i);
    assert_int_equal(p->trials[i].state, q->trials[i].state);
    assert_int_equal(p->trials[i].origin, q->trials[i].origin);
  }
  assert_int_equal(p->n, q->n);
  assert_memory_equal(p->told, q->told, (size_t)p->n * sizeof *p->told);
  assert_memory_equal(p->y, q->y, (size_t)p->n * sizeof *p->y);
  assert_int_equal(p->fit.rows, q->fit.rows);
  assert_int_equal(p->fit.n_theta, q->fit.n_theta);
  if (p->fit.n_theta > 0)
    assert_memory_equal(p->fit.theta, q->fit.theta,
                        (size_t)p->fit.n_theta * sizeof(double));
}

/* ---- inside the space ------------------------------------------------------------ */

static void proposals_lie_in_the_space(void **state) {
  (void)state;
  for (int c = 0; c < N_SPACES; c++) {
    if (!is_accepted(space_cases[c].fill))
      continue;
    cocabo_study *study = create(space_cases[c].fill, NULL, NULL);
    for (int i = 0; i < 16; i++) {
      const int64_t number = ask_inside(study, space_cases[c].name);
      assert_int_equal(number, i);
      tell_bowl(study, number);
    }
    assert_all_distinct(study);
    assert_int_equal(cb_study_history(study)->n_sampled, 12);
    cocabo_study_free(study);
  }
}

/* The optimum in a corner pulls everything to the ends of the ranges. */
static void corners_are_not_left(void **state) {
  (void)state;
  for (int c = 0; c < N_SPACES; c++)
    for (int sign = -1; sign <= 1; sign += 2) {
      if (!is_accepted(space_cases[c].fill))
        continue;
      cocabo_study *study = create(space_cases[c].fill, NULL, NULL);
      for (int i = 0; i < 10; i++) {
        const int64_t number = ask_inside(study, space_cases[c].name);
        const cb_trial *t = trial_of(study, number);
        double y = 0.0;
        for (int j = 0; j < cb_study_history(study)->space->d; j++)
          y += sign * t->x[j];
        tell(study, number, y);
      }
      cocabo_study_free(study);
    }
}

static void proposals_do_not_need_results(void **state) {
  (void)state;
  for (int c = 0; c < N_SPACES; c++) {
    if (!is_accepted(space_cases[c].fill))
      continue;
    cocabo_study *study = create(space_cases[c].fill, NULL, WITH("n_init", "0"));
    for (int i = 0; i < 3; i++)
      ask_inside(study, space_cases[c].name);
    tell_bowl(study, 1);
    for (int i = 0; i < 3; i++)
      ask_inside(study, space_cases[c].name);
    assert_all_distinct(study);
    cocabo_study_free(study);
  }
}

/* ---- no point twice -------------------------------------------------------------- */

/* Some are told, some fail, some stay pending: all count. */
static void use_up(void (*fill)(cocabo_space *), int size) {
  if (!is_accepted(fill))
    return;
  cocabo_study *study = create(fill, NULL, NULL);
  for (int i = 0; i < size; i++) {
    const int64_t number = ask_inside(study, "finite");
    if (i % 5 == 3 && i + 1 < size)
      assert_ok(cocabo_study_fail(study, number, "why", &err));
    else if (i % 5 != 4 && i + 1 < size)
      tell_bowl(study, number);
  }
  assert_all_distinct(study);
  cocabo_trial *t = NULL;
  assert_int_equal(cocabo_study_ask(study, 1, &t, &err), COCABO_E_EXHAUSTED);
  assert_null(t);
  tell_bowl(study, 4); /* a result does not make room */
  assert_int_equal(cocabo_study_ask(study, 1, &t, &err), COCABO_E_EXHAUSTED);
  assert_ok(cocabo_study_interrupt(study, size - 1, &err)); /* but this is on offer */
  assert_int_equal(ask_one(study), size - 1);
  assert_int_equal(cocabo_study_count(study), size);
  cocabo_study_free(study);
}

static void a_finite_space_is_used_up_point_by_point(void **state) {
  (void)state;
  use_up(fill_finite, 24);
}

static void so_is_one_with_conditions_and_rules(void **state) {
  (void)state;
  use_up(fill_few, 9);
}

/* Known results that break a rule take nothing away. */
static void forbidden_results_take_no_room(void **state) {
  (void)state;
  const double result = 0.5;
  const cb_cell forbidden[] = {{.integer = 2}, {.integer = 0}, CB_INACTIVE};
  if (!is_accepted(fill_few))
    return;
  cocabo_study *study = create(fill_few, NULL, NULL);
  assert_ok(cb_study_add(study, forbidden, &result, &err));
  for (int i = 0; i < 9; i++)
    tell_bowl(study, ask_inside(study, "few"));
  cocabo_trial *t = NULL;
  assert_int_equal(cocabo_study_ask(study, 1, &t, &err), COCABO_E_EXHAUSTED);
  assert_string_equal(err.message,
                      "the space has 9 points and 9 are taken, want 1 more");
  assert_all_distinct(study);
  cocabo_study_free(study);
}

static void use_up_in_batches(void (*fill)(cocabo_space *), int size, int batch) {
  if (!is_accepted(fill))
    return;
  cocabo_study *study = create(fill, NULL, WITH("n_init", "3"));
  cocabo_trial *t[32] = {NULL};
  const int rest = size % batch;
  for (int i = 0; i < size / batch; i++) {
    int64_t numbers[8];
    ask_many(study, batch, numbers);
    for (int k = 0; k < batch; k++) {
      assert_inside(study, numbers[k], "batches");
      if (k + 1 < batch) /* one of each batch stays pending */
        tell_bowl(study, numbers[k]);
    }
  }
  assert_int_equal(cocabo_study_ask(study, (size_t)batch, t, &err), COCABO_E_EXHAUSTED);
  assert_null(t[0]);
  ask_many(study, rest, NULL);
  assert_all_distinct(study);
  assert_int_equal(cocabo_study_ask(study, 1, t, &err), COCABO_E_EXHAUSTED);
  cocabo_study_free(study);
}

static void a_finite_space_is_used_up_in_batches(void **state) {
  (void)state;
  use_up_in_batches(fill_finite, 24, 5);
  use_up_in_batches(fill_few, 9, 4);
}

static void fill_one_point(cocabo_space *s) {
  add_int(s, "a", 5, 5, 0);
  add_choice(s, "b", 1, 0);
}

static void a_single_point_is_proposed_once(void **state) {
  (void)state;
  const char *const n_init[] = {"0", "1"};
  for (int i = 0; i < 2; i++) {
    cocabo_study *study = create(fill_one_point, NULL, WITH("n_init", n_init[i]));
    cocabo_trial *t = NULL;
    tell(study, ask_one(study), 1.0);
    assert_int_equal(cocabo_study_ask(study, 1, &t, &err), COCABO_E_EXHAUSTED);
    cocabo_study_free(study);
  }
}

static void batches_are_distinct(void **state) {
  (void)state;
  for (int c = 0; c < N_SPACES; c++) {
    if (!is_accepted(space_cases[c].fill))
      continue;
    cocabo_study *study = create(space_cases[c].fill, NULL, NULL);
    const int sizes[] = {3, 4, 7, 1, 5}; /* the second crosses the end of the design */
    for (int i = 0; i < 5; i++) {
      int64_t numbers[8];
      ask_many(study, sizes[i], numbers);
      for (int k = 0; k < sizes[i]; k++) {
        assert_inside(study, numbers[k], space_cases[c].name);
        if ((i + k) % 3 > 0)
          tell_bowl(study, numbers[k]);
      }
    }
    assert_int_equal(cocabo_study_count(study), 20);
    assert_all_distinct(study);
    cocabo_study_free(study);
  }
}

static void noisy_objectives_may_repeat_points(void **state) {
  (void)state;
  cocabo_study *study = create(fill_finite, NULL, WITH("deterministic", "false"));
  int64_t numbers[4];
  for (int i = 0; i < 30; i++) {
    const int64_t number = ask_inside(study, "noisy");
    tell(study, number, bowl(study, number) + 0.01 * sin(37.0 * i));
  }
  assert_int_equal(cocabo_study_count(study), 30); /* more than there are points */
  ask_many(study, 4, numbers);
  cocabo_study_free(study);

  if (is_accepted(fill_ruled_tree)) {
    study = create(fill_ruled_tree, NULL, WITH("deterministic", "false"));
    for (int i = 0; i < 12; i++) {
      const int64_t number = ask_inside(study, "noisy");
      tell(study, number, bowl(study, number) + 0.01 * sin(37.0 * i));
    }
    ask_many(study, 4, numbers);
    for (int i = 0; i < 4; i++)
      assert_inside(study, numbers[i], "noisy");
    cocabo_study_free(study);
  }

  study = create(fill_one_point, NULL, WITH("deterministic", "false", "n_init", "1"));
  for (int i = 0; i < 8; i++) /* the same point, over and over */
    tell(study, ask_one(study), 0.1 * i);
  cocabo_study_free(study);

  study = create(fill_mixed, NULL, WITH("deterministic", "false"));
  for (int i = 0; i < 12; i++) {
    const int64_t number = ask_inside(study, "noisy");
    tell(study, number, bowl(study, number) + 0.3 * sin(37.0 * i));
  }
  cocabo_study_free(study);
}

/* ---- the same bits --------------------------------------------------------------- */

/* How a script reaches its study: always by one handle, by a new one for each step, or
 * by two that take turns. */
typedef enum party { ONE_HANDLE, REOPENED, TAKING_TURNS } party;

typedef struct actor {
  party party;
  cocabo_store *store;
  cocabo_study *now, *other;
} actor;

static actor make_actor(party kind, void (*fill)(cocabo_space *),
                        const char *const *options) {
  actor a = {.party = kind, .store = cocabo_store_new_memory()};
  a.now = create(fill, a.store, options);
  if (kind == TAKING_TURNS)
    assert_ok(cocabo_study_open(&a.other, "s", a.store, &err));
  return a;
}

static void next_handle(actor *a) {
  if (a->party == REOPENED) {
    cocabo_study_free(a->now);
    assert_ok(cocabo_study_open(&a->now, "s", a->store, &err));
  }
  if (a->party == TAKING_TURNS) {
    cocabo_study *now = a->now;
    a->now = a->other;
    a->other = now;
    assert_ok(cocabo_study_sync(a->now, &err));
  }
}

static void free_actor(actor *a) {
  cocabo_study_free(a->now);
  cocabo_study_free(a->other);
  cocabo_store_free(a->store);
}

enum { MOST_OPEN = 256 };

typedef struct script {
  cb_rng rng;
  int64_t open[MOST_OPEN]; /* running trials */
  int n_open;
} script;

static int64_t take_open(script *s) {
  const uint32_t i = cb_rng_below(&s->rng, (uint32_t)s->n_open);
  const int64_t number = s->open[i];
  s->open[i] = s->open[--s->n_open];
  return number;
}

static void add_point(actor *a, script *s, bool known) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  const double result = 1.0 + cb_rng_uniform(&s->rng);
  cb_space_sample(cb_study_history(a->now)->space, &s->rng, cells);
  assert_ok(cb_study_add(a->now, cells, known ? &result : NULL, &err));
}

/* A failed trial is put back, which takes a row out of the middle of them; if there is
 * none, a running one is given back. */
static void give_back(actor *a, script *s) {
  const cb_history *h = cb_study_history(a->now);
  assert_ok(cocabo_study_sync(a->now, &err));
  if (h->n_failed > 0)
    assert_ok(cocabo_study_retry(a->now, h->failed[0], &err));
  else
    assert_ok(cocabo_study_interrupt(a->now, take_open(s), &err));
}

/* Asks in batches, tells in any order, failures, interruptions, imports. */
static void play(actor *a, script *s) {
  const uint32_t what = cb_rng_below(&s->rng, 20);
  if (what < 9 || s->n_open == 0) {
    const int n = 1 + (int)cb_rng_below(&s->rng, 3);
    ask_many(a->now, n, s->open + s->n_open);
    s->n_open += n;
  } else if (what < 16) {
    tell_bowl(a->now, take_open(s));
  } else if (what == 16) {
    assert_ok(cocabo_study_fail(a->now, take_open(s), "why", &err));
  } else if (what == 17) {
    give_back(a, s);
  } else {
    add_point(a, s, what == 18);
  }
}

/* `known` results are added half-way. */
static actor play_script(party kind, void (*fill)(cocabo_space *),
                         const char *const *options, uint64_t seed, int steps,
                         int known) {
  actor a = make_actor(kind, fill, options);
  script s = {.rng = cb_rng_make(seed, CB_RNG_BENCH, 5)};
  for (int i = 0; i < steps; i++) {
    next_handle(&a);
    for (int k = 0; k < known && i == steps / 2; k++)
      add_point(&a, &s, true);
    play(&a, &s);
  }
  assert_ok(cocabo_study_sync(a.now, &err));
  return a;
}

static void check_parties(void (*fill)(cocabo_space *), const char *const *options,
                          uint64_t seed, int steps, int known) {
  if (!is_accepted(fill))
    return;
  actor one = play_script(ONE_HANDLE, fill, options, seed, steps, known);
  for (int kind = REOPENED; kind <= TAKING_TURNS; kind++) {
    actor other = play_script((party)kind, fill, options, seed, steps, known);
    assert_same_history(one.now, other.now);
    free_actor(&other);
  }
  free_actor(&one);
}

static void restarts_and_other_workers_do_not_change_a_bit(void **state) {
  (void)state;
  check_parties(fill_mixed, NULL, 1, 70, 0);
  check_parties(fill_mixed, WITH("seed", "9", "refit_every", "4"), 2, 70, 0);
  check_parties(fill_choices, WITH("seed", "2"), 3, 50, 0);
  check_parties(fill_reals, WITH("deterministic", "false"), 4, 50, 0);
  check_parties(fill_tree, WITH("bandit_init", "true"), 7, 40, 0);
  check_parties(fill_ruled_tree, WITH("seed", "3"), 8, 40, 0);
}

static void an_active_set_does_not_change_that(void **state) {
  (void)state;
  check_parties(fill_mixed, WITH("model_size", "10", "refit_every", "7"), 5, 70, 0);
}

/* So many results after the last fit that the process is factored anew on its way:
 * most of them are known, because asking takes its time. */
static void nor_do_many_results_after_a_fit(void **state) {
  (void)state;
  check_parties(fill_mixed, WITH("refit_every", "150"), 6, 40, 90);
}

static void other_seeds_give_other_points(void **state) {
  (void)state;
  cocabo_study *a = create(fill_mixed, NULL, WITH("seed", "1", "n_init", "0"));
  cocabo_study *b = create(fill_mixed, NULL, WITH("seed", "2", "n_init", "0"));
  for (int i = 0; i < 5; i++) {
    tell(a, ask_one(a), i);
    tell(b, ask_one(b), i);
    assert_false(same_point(a, i, b, i));
  }
  cocabo_study_free(a);
  cocabo_study_free(b);
}

/* ---- whatever is told ------------------------------------------------------------ */

static void results_may_come_in_any_order(void **state) {
  (void)state;
  cocabo_study *study = create(fill_mixed, NULL, NULL);
  int64_t numbers[10];
  for (int round = 0; round < 4; round++) {
    ask_many(study, 10, numbers);
    for (int i = 0; i < 10; i++)
      assert_inside(study, numbers[i], "any order");
    for (int i = 9; i >= 0; i--) {
      const int64_t number = numbers[(i * 3 + round) % 10];
      if (i != 5) /* one comes a round later */
        tell_bowl(study, number);
    }
  }
  assert_int_equal(cb_study_history(study)->n, 36);
  assert_all_distinct(study);
  cocabo_study_free(study);
}

static void failures_alone_are_survived(void **state) {
  (void)state;
  for (int c = 0; c < N_SPACES; c++) {
    if (!is_accepted(space_cases[c].fill))
      continue;
    cocabo_study *study = create(space_cases[c].fill, NULL, NULL);
    for (int i = 0; i < 12; i++) {
      const int64_t number = ask_inside(study, space_cases[c].name);
      assert_ok(cocabo_study_fail(study, number, "always", &err));
    }
    assert_all_distinct(study);
    tell(study, 3, 2.5); /* late, but welcome */
    ask_inside(study, space_cases[c].name);
    tell(study, 5, 2.5);
    ask_inside(study, space_cases[c].name);
    cocabo_study_free(study);
  }
}

static double constant(int i) {
  (void)i;
  return -3.25;
}
static double zero(int i) {
  (void)i;
  return 0.0;
}
static double huge_of_both_signs(int i) {
  return i % 2 ? 1e300 : -1e300;
}
static double largest_of_both_signs(int i) {
  return i % 3 ? DBL_MAX : -DBL_MAX;
}
/* A gap between best and median that, some times over, is no double any more. */
static double widely_spread(int i) {
  return i % 5 == 0 ? -DBL_MAX : i % 5 == 1 ? DBL_MAX : 0.6 * DBL_MAX;
}
static double largest(int i) {
  (void)i;
  return DBL_MAX;
}
static double smallest(int i) {
  return i % 3 * DBL_TRUE_MIN;
}
static double one_high(int i) {
  return i == 6 ? 1e30 : sin(i);
}
static double one_low(int i) {
  return i == 6 ? -1e30 : sin(i);
}
static double one_huge(int i) {
  return i == 2 ? 1e305 : sin(i);
}
static double nearly_constant(int i) {
  return 1e8 + 1e-8 * i;
}
static double mostly_best(int i) {
  return i % 4 == 0 ? 1.0 + i : 0.0;
}
static double growing(int i) {
  return pow(10.0, 20.0 * i - 290.0);
}

static void objectives_of_any_scale_are_survived(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double (*value)(int);
  } cases[] = {{"constant", constant},
               {"zero", zero},
               {"huge", huge_of_both_signs},
               {"largest of both signs", largest_of_both_signs},
               {"largest", largest},
               {"smallest", smallest},
               {"one high", one_high},
               {"one low", one_low},
               {"one huge", one_huge},
               {"nearly constant", nearly_constant},
               {"mostly best", mostly_best},
               {"growing", growing},
               {"widely spread", widely_spread}};
  void (*const fills[])(cocabo_space *) = {fill_mixed, fill_reals, fill_choices};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++)
    for (int f = 0; f < 3; f++)
      for (int up = 0; up < 2; up++) {
        if (!is_accepted(fills[f]))
          continue;
        cocabo_study *study =
            create(fills[f], NULL, WITH("direction", up ? "maximize" : "minimize"));
        for (int i = 0; i < 18; i++) {
          const int64_t number = ask_inside(study, cases[c].name);
          tell(study, number, cases[c].value(i));
        }
        assert_all_distinct(study);
        cocabo_study_free(study);
      }
}

/* ---- stopping -------------------------------------------------------------------- */

static int stop_at(void *user) { /* a non-zero return at the *user-th call */
  int *left = user;
  return --*left == 0;
}

/* Stopped at its first chance to stop, at the second ..., until an ask gets through; in
 * growing strides, because a fit has hundreds of chances. */
static void an_interrupted_ask_leaves_no_trace(void **state) {
  (void)state;
  cocabo_study *study = create(fill_mixed, NULL, NULL);
  cocabo_study *twin = create(fill_mixed, NULL, NULL);
  const int sizes[] = {1, 6, 1, 2, 1, 1, 3, 1, 1, 1, 1};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    cocabo_trial *t[8] = {NULL};
    int64_t numbers[8];
    const int64_t before = cocabo_study_count(study);
    for (int k = 1;; k += 1 + k / 10) {
      int left = k;
      cocabo_study_on_interrupt(study, stop_at, &left);
      const cocabo_status status = cocabo_study_ask(study, (size_t)sizes[i], t, &err);
      cocabo_study_on_interrupt(study, NULL, NULL);
      if (status == COCABO_OK) {
        assert_true(k > 1); /* every ask can be stopped */
        break;
      }
      assert_int_equal(status, COCABO_E_INTERRUPTED);
      assert_null(t[0]);
      assert_int_equal(cocabo_study_count(study), before);
    }
    ask_many(twin, sizes[i], numbers);
    assert_same_history(study, twin);
    for (int k = 0; k < sizes[i]; k++) {
      cocabo_trial_free(t[k]);
      tell_bowl(study, numbers[k]);
      tell_bowl(twin, numbers[k]);
    }
  }
  cocabo_study_free(study);
  cocabo_study_free(twin);
}

/* ---- the suite ------------------------------------------------------------------- */

static int run_sampler_contract(const char *name) {
  sampler = name;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(proposals_lie_in_the_space),
      cmocka_unit_test(corners_are_not_left),
      cmocka_unit_test(proposals_do_not_need_results),
      cmocka_unit_test(a_finite_space_is_used_up_point_by_point),
      cmocka_unit_test(so_is_one_with_conditions_and_rules),
      cmocka_unit_test(forbidden_results_take_no_room),
      cmocka_unit_test(a_finite_space_is_used_up_in_batches),
      cmocka_unit_test(a_single_point_is_proposed_once),
      cmocka_unit_test(batches_are_distinct),
      cmocka_unit_test(noisy_objectives_may_repeat_points),
      cmocka_unit_test(restarts_and_other_workers_do_not_change_a_bit),
      cmocka_unit_test(an_active_set_does_not_change_that),
      cmocka_unit_test(nor_do_many_results_after_a_fit),
      cmocka_unit_test(other_seeds_give_other_points),
      cmocka_unit_test(results_may_come_in_any_order),
      cmocka_unit_test(failures_alone_are_survived),
      cmocka_unit_test(objectives_of_any_scale_are_survived),
      cmocka_unit_test(an_interrupted_ask_leaves_no_trace),
  };
  return cmocka_run_group_tests_name(name, tests, NULL, NULL);
}

#endif
