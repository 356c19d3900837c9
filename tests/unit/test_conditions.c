/* Conditions and rules of a space: what is active, what is allowed, how points are
 * counted, drawn and repaired. */
#include "check.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "base/text.h"
#include "space/space.h"
#include "study/study.h"

static cocabo_error err;

static void add(cocabo_space *s, const char *name, const char *domain) {
  assert_ok(cocabo_space_add(s, name, domain, &err));
}

static void rule(cocabo_space *s, const char *expr) {
  assert_ok(cocabo_space_rule(s, expr, &err));
}

/* ---- a small tree, by hand --------------------------------------------------------
 */

enum { KERNEL, DEGREE, COEF, HOT, HEAT, GAMMA, N };

/* Two in each other, on a choice and on a number; degree and coef wake up together. */
static cocabo_space *tree(void) {
  cocabo_space *s = cocabo_space_new();
  add(s, "kernel", "choice(rbf,poly,linear)");
  add(s, "degree", "int(2,5) if kernel == poly");
  add(s, "coef", "float(0,1,step=0.5) if kernel == poly");
  add(s, "hot", "bool if degree > 3");
  add(s, "heat", "choice(a,b,c) if hot");
  add(s, "gamma", "ordinal(low,high) if kernel != linear");
  return s;
}

static bool tree_says(const cb_cell *v, int i) {
  const bool poly = v[KERNEL].integer == 1, deep = poly && v[DEGREE].integer > 3;
  const bool hot = deep && v[HOT].integer == 1; /* bool: false, true */
  const bool says[N] = {true, poly, poly, deep, hot, v[KERNEL].integer != 2};
  return says[i];
}

static bool is_of_tree(const cb_cell *v) {
  for (int i = 0; i < N; i++)
    if (cb_cell_is_active(v[i]) != tree_says(v, i))
      return false;
  return true;
}

/* ---- adding ---------------------------------------------------------------------- */

static void conditions_are_read_and_written(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  add(s, "kernel", "choice(rbf,poly)");
  add(s, "degree", "int(2,5)");
  assert_ok(cocabo_space_condition(s, "degree", " kernel=='poly' ", &err));
  assert_null(cocabo_space_get_condition(s, 0));
  assert_string_equal(cocabo_space_get_condition(s, 1), "kernel == \"poly\"");
  assert_null(cocabo_space_get_condition(s, 2));
  assert_null(cocabo_space_get_condition(NULL, 0));
  assert_null(cocabo_space_get_rule(s, 0));
  rule(s, "(degree<4)");
  assert_string_equal(cocabo_space_get_rule(s, 0), "degree < 4");
  assert_null(cocabo_space_get_rule(s, 1));
  assert_null(cocabo_space_get_rule(NULL, 0));
  cocabo_space_free(s);
}

static void mistakes_are_told_in_a_sentence(void **state) {
  (void)state;
  cocabo_space *s = tree();
#define BAD_CONDITION(name, expr, code, sentence)                                      \
  assert_fails(cocabo_space_condition(s, name, expr, &err), code, sentence)
  BAD_CONDITION("kernal", "degree > 2", COCABO_E_NOT_FOUND,
                "the space has no parameter \"kernal\"");
  BAD_CONDITION("degree", "kernel == rbf", COCABO_E_EXISTS,
                "parameter \"degree\" has a condition already");
  BAD_CONDITION(NULL, "kernel == rbf", COCABO_E_INVALID, "name is NULL");
  BAD_CONDITION("kernel", NULL, COCABO_E_INVALID, "expr is NULL");
#undef BAD_CONDITION
  assert_fails(cocabo_space_condition(NULL, "a", "a", &err), COCABO_E_INVALID,
               "space is NULL");
  assert_int_equal(cocabo_space_condition(s, "kernel", "degree > 2", &err),
                   COCABO_E_INVALID);
  assert_non_null(strstr(err.message, "the condition of \"kernel\": "));
  assert_non_null(strstr(err.message, "degree"));
  assert_int_equal(cocabo_space_rule(s, "degree >", &err), COCABO_E_INVALID);
  assert_non_null(strstr(err.message, "the rule \"degree >\": "));
  assert_fails(cocabo_space_rule(s, NULL, &err), COCABO_E_INVALID, "expr is NULL");
  assert_fails(cocabo_space_rule(NULL, "a", &err), COCABO_E_INVALID, "space is NULL");
  assert_int_equal(s->n_rules, 0);
  double share;
  assert_fails(cocabo_space_acceptance(NULL, &share, &err), COCABO_E_INVALID,
               "space is NULL");
  assert_fails(cocabo_space_acceptance(s, NULL, &err), COCABO_E_INVALID,
               "share is NULL");

  /* Where a name would do: in backquotes, and before what depends on it. */
  add(s, "max-depth", "int(1,9)");
  add(s, "max-depth-2", "int(1,9)");
  assert_int_equal(cocabo_space_rule(s, "max-depth-2 < 3", &err), COCABO_E_INVALID);
  assert_non_null(strstr(err.message, "at column 1: a name that is no plain word is "
                                      "written in backquotes, `max-depth-2`"));
  assert_int_equal(cocabo_space_rule(s, "1 < max-depth", &err), COCABO_E_INVALID);
  assert_non_null(strstr(err.message, "backquotes, `max-depth`"));
  assert_int_equal(cocabo_space_rule(s, "1 < max - depth", &err), COCABO_E_INVALID);
  assert_null(strstr(err.message, "backquotes"));
  assert_int_equal(cocabo_space_add(s, "late", "float(0,1) if nobody > 1", &err),
                   COCABO_E_INVALID);
  assert_non_null(strstr(err.message, "no parameter \"nobody\" is declared before"));

  /* A parameter whose condition is refused is not there. */
  assert_int_equal(cocabo_space_add(s, "late", "float(0,1) if nobody > 1", &err),
                   COCABO_E_INVALID);
  assert_int_equal(cb_space_find(s, "late"), -1);
  assert_int_equal(s->d, s->numbers + s->presences);
  assert_int_equal(cocabo_space_add(s, "late", "choice(a) if late == a", &err),
                   COCABO_E_INVALID);
  assert_int_equal(cb_space_find(s, "late"), -1);
  cocabo_space_free(s);
}

/* Rows of x: the numbers, then one presence for each condition that numbers have. */
static void presences_are_shared_by_condition(void **state) {
  (void)state;
  cocabo_space *s = tree();
  assert_int_equal(s->numbers, 3); /* degree, coef, gamma */
  assert_int_equal(s->c, 3);
  assert_int_equal(s->presences, 2);
  assert_int_equal(s->d, 5);
  assert_int_equal(s->params[DEGREE].presence, s->params[COEF].presence);
  assert_int_not_equal(s->params[DEGREE].presence, s->params[GAMMA].presence);
  assert_int_equal(s->params[HOT].presence, -1);
  assert_int_equal(s->params[KERNEL].presence, -1);
  cocabo_space_free(s);
}

static void too_many_are_refused(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  char name[16], text[64];
  for (int i = 0; i < COCABO_MAX_PARAMETERS / 2; i++) {
    snprintf(name, sizeof name, "p%d", i);
    add(s, name, "int(0,9)");
  }
  for (int i = 1; i < COCABO_MAX_PARAMETERS / 2; i++) {
    snprintf(name, sizeof name, "p%d", i);
    snprintf(text, sizeof text, "p0 != %d", i);
    assert_ok(cocabo_space_condition(s, name, text, &err));
  }
  assert_int_equal(s->n + s->presences, COCABO_MAX_PARAMETERS - 1);
  add(s, "last", "float(0,1)");
  assert_int_equal(cocabo_space_condition(s, "last", "p0 == 3", &err), COCABO_E_RANGE);
  assert_non_null(strstr(err.message, "\"last\""));
  assert_ok(cocabo_space_condition(s, "last", "p0 != 3", &err)); /* an old presence */
  assert_int_equal(cocabo_space_add(s, "more", "float(0,1)", &err), COCABO_E_RANGE);
  for (int k = 0; k < COCABO_MAX_PARAMETERS; k++)
    rule(s, "p0 < 9");
  assert_int_equal(cocabo_space_rule(s, "p0 < 9", &err), COCABO_E_RANGE);
  cocabo_space_free(s);
}

static void domains_keep_their_conditions(void **state) {
  (void)state;
  static const char *const texts[] = {"choice(rbf,poly,linear)",
                                      "int(2,5) if kernel == \"poly\"",
                                      "float(0,1,step=0.5) if kernel == \"poly\"",
                                      "choice(false,true) if degree > 3",
                                      "choice(a,b,c) if hot",
                                      "ordinal(low,high) if kernel != \"linear\""};
  cocabo_space *s = tree(), *copy = cocabo_space_new();
  for (size_t i = 0; i < N; i++) {
    char *domain = cocabo_space_domain(s, i);
    assert_string_equal(domain, texts[i]);
    add(copy, cocabo_space_name(s, i), domain);
    cocabo_text_free(domain);
  }
  assert_true(cb_space_equal(s, copy));
  assert_int_equal(copy->d, s->d);
  cocabo_space_free(s);
  cocabo_space_free(copy);
}

/* ---- copies and equality --------------------------------------------------------- */

static void copies_are_equal_and_differences_count(void **state) {
  (void)state;
  cocabo_space *s = tree(), *plain = tree();
  rule(s, "degree < 5");
  assert_false(cb_space_equal(s, plain));
  assert_false(cocabo_space_equal(plain, s));
  cocabo_space *copy = cb_space_copy(s);
  assert_non_null(copy);
  assert_true(cb_space_equal(s, copy));
  assert_int_equal(copy->d, s->d);
  assert_int_equal(copy->presences, s->presences);
  assert_true(copy->conditional);
  assert_int_equal(copy->n_rules, 1);
  for (int i = 0; i < N; i++)
    assert_int_equal(copy->params[i].presence, s->params[i].presence);
  assert_true(cb_space_size(copy) == cb_space_size(s));
  rule(plain, "degree < 4");
  assert_false(cb_space_equal(s, plain)); /* another rule */
  cocabo_space_free(copy);
  cocabo_space_free(plain);

  cocabo_space *a = cocabo_space_new(), *b = cocabo_space_new();
  add(a, "x", "bool"), add(b, "x", "bool");
  add(a, "y", "int(0,1) if x"), add(b, "y", "int(0,1)");
  assert_false(cb_space_equal(a, b));
  assert_ok(cocabo_space_condition(b, "y", "not x", &err));
  assert_false(cb_space_equal(a, b)); /* another condition */
  cocabo_space_free(a);
  cocabo_space_free(b);
  cocabo_space_free(s);
}

/* ---- cells ----------------------------------------------------------------------- */

static void inactive_is_the_middle_a_presence_and_a_level(void **state) {
  (void)state;
  cocabo_space *s = tree();
  double x[8];
  int32_t h[4];
  const int degree = s->params[DEGREE].slot, coef = s->params[COEF].slot,
            gamma = s->params[GAMMA].slot;
  const int poly = s->numbers + s->params[DEGREE].presence,
            bent = s->numbers + s->params[GAMMA].presence;
  const cb_cell rbf[N] = {{.integer = 0}, CB_INACTIVE, CB_INACTIVE,
                          CB_INACTIVE,    CB_INACTIVE, {.integer = 1}};
  cb_space_encode(s, rbf, x, h);
  assert_true(x[degree] == 0.0 && x[coef] == 0.0 && x[gamma] == 1.0);
  assert_true(x[poly] == 0.0 && x[bent] == 1.0);
  assert_int_equal(h[0], 0);
  assert_int_equal(h[1], 2); /* N_j */
  assert_int_equal(h[2], 3);

  const cb_cell hot[N] = {{.integer = 1}, {.integer = 5}, {.real = 0.0},
                          {.integer = 1}, {.integer = 2}, {.integer = 0}};
  cb_space_encode(s, hot, x, h);
  assert_true(x[degree] == 1.0 && x[coef] == -1.0 && x[gamma] == -1.0);
  assert_true(x[poly] == 1.0 && x[bent] == 1.0);
  assert_int_equal(h[1], 1);
  assert_int_equal(h[2], 2);
  cocabo_space_free(s);
}

/* Of all combinations, active or not: decode(encode) gives each settled one back. */
static void every_point_comes_back(void **state) {
  (void)state;
  cocabo_space *s = tree();
  cb_cell cells[N], back[N];
  double x[8];
  int32_t h[4];
  for (uint64_t i = 0; i < cb_space_combinations(s); i++) {
    (void)cb_space_point(s, i, cells);
    assert_true(is_of_tree(cells));
    assert_true(cb_space_holds(s, cells));
    cb_space_encode(s, cells, x, h);
    cb_space_decode(s, x, h, back);
    assert_true(cb_cells_equal(N, cells, back));
    cb_rng rng = cb_rng_make(i, CB_RNG_BENCH, 1), same = rng;
    cb_space_decode_settled(s, x, h, &rng, back);
    assert_true(cb_cells_equal(N, cells, back));
    assert_memory_equal(&rng, &same, sizeof rng); /* nothing was missing */
    for (int j = 0; j < N; j++) {
      const cocabo_value value = cb_space_from_cell(s, j, cells[j]);
      assert_int_equal(value.type == COCABO_ABSENT, !cb_cell_is_active(cells[j]));
      assert_ok(cb_space_to_cell(s, j, &value, &back[j], &err));
    }
    assert_true(cb_cells_equal(N, cells, back));
  }
  cocabo_space_free(s);
}

/* Whatever x and h say: the conditions decide. */
static void decoding_settles(void **state) {
  (void)state;
  cocabo_space *s = tree();
  cb_rng rng = cb_rng_make(3, CB_RNG_BENCH, 2);
  for (int i = 0; i < 3000; i++) {
    double x[8];
    int32_t h[4];
    cb_cell cells[N], again[N];
    for (int j = 0; j < s->d; j++)
      x[j] = 2.0 * cb_rng_uniform(&rng) - 1.0;
    for (int j = 0; j < s->c; j++) /* the kernel is always active */
      h[j] = (int32_t)cb_rng_below(&rng, (uint32_t)cb_space_arms(s, j) + (j > 0));
    cb_space_decode(s, x, h, cells);
    assert_true(is_of_tree(cells));
    assert_true(cb_space_holds(s, cells));
    cb_space_decode(s, x, h, again);
    assert_true(cb_cells_equal(N, cells, again)); /* nothing by chance */
    cb_space_decode_settled(s, x, h, &rng, again);
    assert_true(is_of_tree(again) && cb_space_holds(s, again));
  }
  cocabo_space_free(s);
}

/* A parent that changes takes its children along, grandchildren too. */
static void what_wakes_up_gets_a_value(void **state) {
  (void)state;
  cocabo_space *s = tree();
  cb_cell cells[N] = {{.integer = 1}, CB_INACTIVE, CB_INACTIVE,
                      CB_INACTIVE,    CB_INACTIVE, CB_INACTIVE};
  cb_space_settle(s, NULL, cells);
  assert_true(is_of_tree(cells));
  assert_true(cells[DEGREE].integer == 3 || cells[DEGREE].integer == 4); /* middle */
  assert_true(cells[COEF].real == 0.5);
  int seen[4] = {0}, hot = 0;
  cb_rng rng = cb_rng_make(1, CB_RNG_BENCH, 3);
  for (int i = 0; i < 400; i++) {
    for (int j = 1; j < N; j++)
      cells[j] = CB_INACTIVE;
    cb_space_settle(s, &rng, cells);
    assert_true(is_of_tree(cells) && cb_space_holds(s, cells));
    seen[cells[DEGREE].integer - 2]++;
    hot += cb_cell_is_active(cells[HEAT]);
  }
  for (int k = 0; k < 4; k++)
    assert_in_range(seen[k], 60, 140);
  assert_in_range(hot, 60, 140); /* a quarter */
  cells[KERNEL].integer = 2;
  cb_space_settle(s, &rng, cells);
  for (int j = 1; j < N; j++)
    assert_false(cb_cell_is_active(cells[j]));
  cocabo_space_free(s);
}

static void cells_of_the_space_are_told_from_others(void **state) {
  (void)state;
  cocabo_space *s = tree();
  const cb_cell good[N] = {{.integer = 1}, {.integer = 3}, {.real = 0.5},
                           CB_INACTIVE,    CB_INACTIVE,    {.integer = 0}};
  assert_true(cb_space_holds(s, good));
  for (int i = 0; i < N; i++) {
    cb_cell bad[N];
    memcpy(bad, good, sizeof bad);
    bad[i] = cb_cell_is_active(good[i]) ? CB_INACTIVE : (cb_cell){.integer = 0};
    assert_false(cb_space_holds(s, bad));
  }
  cb_cell bad[N];
  memcpy(bad, good, sizeof bad);
  bad[DEGREE].integer = 6;
  assert_false(cb_space_holds(s, bad));
  assert_false(cb_cell_is_active((cb_cell){.real = -0.0})); /* and is no real */
  cocabo_space_free(s);
}

static void missing_and_needless_values_are_named(void **state) {
  (void)state;
  cocabo_space *s = tree();
  cocabo_value v[N] = {{.type = COCABO_TEXT, .as.text = "poly"},
                       {.type = COCABO_INT, .as.integer = 3},
                       {.type = COCABO_REAL, .as.real = 0.5},
                       {.type = COCABO_ABSENT},
                       {.type = COCABO_ABSENT},
                       {.type = COCABO_TEXT, .as.text = "low"}};
  const cocabo_value absent = {.type = COCABO_ABSENT};
  assert_ok(cocabo_space_check(s, v, N, &err));
  v[DEGREE] = absent;
  assert_fails(cocabo_space_check(s, v, N, &err), COCABO_E_INVALID,
               "parameter \"degree\" is missing, want a value where kernel == "
               "\"poly\"");
  v[DEGREE] = (cocabo_value){.type = COCABO_INT, .as.integer = 3};
  v[HOT] = (cocabo_value){.type = COCABO_BOOL, .as.boolean = 1};
  assert_fails(cocabo_space_check(s, v, N, &err), COCABO_E_INVALID,
               "parameter \"hot\" is true, want none: it is inactive unless degree > "
               "3");
  v[HOT] = v[KERNEL] = absent;
  assert_fails(cocabo_space_check(s, v, N, &err), COCABO_E_INVALID,
               "parameter \"kernel\" is missing");
  cocabo_space_free(s);
}

/* ---- counting -------------------------------------------------------------------- */

/* Distinct settled and allowed points among all combinations, by brute force. */
static uint64_t count_by_hand(const cocabo_space *s) {
  enum { MOST = 4096 };
  static cb_cell seen[MOST][N];
  const uint64_t all = cb_space_combinations(s);
  uint64_t n = 0;
  for (uint64_t i = 0; i < all; i++) {
    cb_cell cells[N];
    uint64_t rest = i, j = 0;
    for (int k = 0; k < s->n; k++) { /* the other way round than the space's own */
      const cb_param *p = &s->params[k];
      const int64_t level = (int64_t)(rest % (uint64_t)p->levels);
      rest /= (uint64_t)p->levels;
      cells[k] =
          cb_param_cell(p, p->kind == CB_CHOICE || p->levels == 1
                               ? 0.0
                               : 2.0 * (double)level / (double)(p->levels - 1) - 1.0);
      if (p->kind == CB_CHOICE)
        cells[k].integer = level;
    }
    cb_space_settle(s, NULL, cells);
    if (!cb_space_allows(s, cells))
      continue;
    while (j < n && !cb_cells_equal(s->n, seen[j], cells))
      j++;
    if (j < n)
      continue;
    assert_true(n < MOST);
    memcpy(seen[n++], cells, (size_t)s->n * sizeof *cells);
  }
  return n;
}

static void only_what_is_active_counts(void **state) {
  (void)state;
  /* linear 1; rbf 2; poly 3 coef x 2 gamma x (2 shallow + 2 deep x (1 cold + 3 hot)) */
  cocabo_space *s = tree();
  assert_int_equal(cb_space_combinations(s), 3 * 4 * 3 * 2 * 3 * 2);
  assert_int_equal(cb_space_size(s), 1 + 2 + 3 * 2 * (2 + 2 * (1 + 3)));
  assert_int_equal(cb_space_size(s), count_by_hand(s));
  rule(s, "degree != 4 or heat == b"); /* of degree 4 there is b, and what is cold */
  assert_int_equal(cb_space_size(s), count_by_hand(s));
  assert_int_equal(cb_space_size(s), 1 + 2 + 3 * 2 * (2 + 1 + 1 + 4));
  rule(s, "coef * 2 == degree - 2"); /* and where there is none, nothing is broken */
  assert_int_equal(cb_space_size(s), count_by_hand(s));
  rule(s, "kernel == poly");
  assert_int_equal(cb_space_size(s), count_by_hand(s));
  add(s, "more", "bool"); /* what was counted is forgotten */
  cocabo_space *copy = cb_space_copy(s);
  assert_int_equal(cb_space_size(copy), cb_space_size(s));
  rule(s, "more and not more");
  assert_int_equal(cb_space_size(s), 0);
  cocabo_space_free(s);
  cocabo_space_free(copy);

  s = cocabo_space_new();
  add(s, "a", "int(1,1000)");
  add(s, "b", "int(1,1000)");
  rule(s, "a == b");
  assert_true(cb_space_size(s) == UINT64_MAX); /* too many to go through */
  cocabo_space_free(s);
}

/* ---- drawing --------------------------------------------------------------------- */

/* Every allowed point as often as its active parameters' levels say. */
static void check_frequencies(const cocabo_space *s, bool at) {
  enum { DRAWS = 60000, MOST = 4096 };
  static int counts[MOST];
  static double weights[MOST];
  static cb_cell points[MOST][N];
  double total = 0.0, chi = 0.0;
  int n = 0;
  for (uint64_t i = 0; i < cb_space_combinations(s); i++) {
    if (!cb_space_point(s, i, points[n]))
      continue;
    weights[n] = 1.0;
    for (int k = 0; k < s->n; k++)
      if (cb_cell_is_active(points[n][k]))
        weights[n] /= (double)s->params[k].levels;
    total += weights[n];
    counts[n++] = 0;
  }
  assert_int_equal(n, cb_space_size(s));
  cb_rng rng = cb_rng_make(17, CB_RNG_BENCH, 4);
  for (int i = 0; i < DRAWS; i++) {
    cb_cell cells[N];
    double u[N];
    for (int k = 0; k < s->n && at; k++)
      u[k] = cb_rng_uniform(&rng);
    if (at)
      cb_space_at(s, u, cells);
    else
      cb_space_sample(s, &rng, cells);
    int k = 0;
    while (k < n && !cb_cells_equal(s->n, points[k], cells))
      k++;
    assert_true(k < n);
    counts[k]++;
  }
  for (int k = 0; k < n; k++) {
    const double want = DRAWS * weights[k] / total;
    chi += (counts[k] - want) * (counts[k] - want) / want;
  }
  const double degrees = n - 1; /* mean of chi, and its variance is twice that */
  if (!(fabs(chi - degrees) < 5.0 * sqrt(2.0 * degrees)))
    fail_msg("chi square is %g with %g degrees of freedom", chi, degrees);
}

static void draws_are_uniform_over_what_is_allowed(void **state) {
  (void)state;
  cocabo_space *s = tree();
  check_frequencies(s, false);
  check_frequencies(s, true);
  rule(s, "degree != 3");
  rule(s, "gamma == high or kernel != rbf");
  check_frequencies(s, false);
  cocabo_space_free(s);
}

/* Where hardly a draw is allowed they are repaired, but not all to the same point: not
 * to the end of a range, nor to the nearest corner. */
static void rare_points_are_spread_out(void **state) {
  (void)state;
  enum { DRAWS = 400, PARTS = 4 };
  cocabo_space *s = cocabo_space_new();
  add(s, "x", "float(0,1)"), add(s, "n", "int(1,1000000)"),
      add(s, "c", "choice(a,b,c)");
  rule(s, "x < 1e-6");
  rule(s, "n > 999000 and c != b");
  int by_x[PARTS] = {0}, by_n[PARTS] = {0}, by_c[3] = {0};
  cb_rng rng = cb_rng_make(2, CB_RNG_BENCH, 6);
  for (int i = 0; i < DRAWS; i++) {
    cb_cell cells[N];
    cb_space_sample(s, &rng, cells);
    assert_true(cb_space_holds(s, cells) && cb_space_allows(s, cells));
    by_x[(int)(PARTS * cells[0].real / 1e-6)]++;
    by_n[PARTS * (cells[1].integer - 999001) / 1000]++;
    by_c[cells[2].integer]++;
  }
  for (int k = 0; k < PARTS; k++) {
    assert_in_range(by_x[k], DRAWS / 20, DRAWS);
    assert_in_range(by_n[k], DRAWS / 20, DRAWS);
  }
  assert_in_range(by_c[0], DRAWS / 4, DRAWS);
  assert_in_range(by_c[2], DRAWS / 4, DRAWS);
  cocabo_space_free(s);
}

/* ---- repairing ------------------------------------------------------------------- */

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

typedef bool oracle(const cb_cell *);

/* Of 200 random starts at least `least` end at a point that is allowed. */
static void check_repair(cocabo_space *s, oracle *allows, int least) {
  cb_rng rng = cb_rng_make(5, CB_RNG_BENCH, 5);
  int repaired = 0;
  const double start = seconds();
  for (int i = 0; i < 200; i++) {
    cb_cell cells[N];
    cb_space_draw(s, &rng, cells);
    const bool good = cb_space_repair(s, &rng, cells);
    assert_true(cb_space_holds(s, cells));
    assert_int_equal(good, allows(cells));
    assert_int_equal(good, cb_space_allows(s, cells));
    assert_int_equal(good, cb_space_violation(s, cells) == 0.0);
    repaired += good;
  }
  if (repaired < least)
    fail_msg("%s: %d of 200 repaired, want %d", cocabo_space_get_rule(s, 0), repaired,
             least);
  assert_true(seconds() - start < 2.0); /* 10 ms each */
  cocabo_space_free(s);
}

static bool on_the_line(const cb_cell *v) {
  return fabs(v[0].real + v[1].real - 1.0) < 1e-6;
}

static bool in_the_simplex(const cb_cell *v) {
  return v[0].real + v[1].real + v[2].real == 1.0;
}

static bool same_and_three(const cb_cell *v) {
  return v[0].integer % 7 == 3 && v[0].integer == v[1].integer;
}

static bool rising(const cb_cell *v) {
  return v[0].integer < v[1].integer && v[1].integer < v[2].integer &&
         v[2].integer < v[3].integer;
}

static bool in_the_shell(const cb_cell *v) {
  const double r = v[0].real * v[0].real + v[1].real * v[1].real;
  return r > 0.999 && r < 1.0;
}

static bool deep_b(const cb_cell *v) {
  return is_of_tree(v) && v[KERNEL].integer == 1 && v[DEGREE].integer >= 4 &&
         v[HOT].integer == 1 && v[HEAT].integer == 1;
}

static void narrow_spaces_are_reached(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  add(s, "x", "float(0,1)"), add(s, "y", "float(0,1)");
  rule(s, "abs(x + y - 1) < 1e-6");
  check_repair(s, on_the_line, 200);

  s = cocabo_space_new();
  add(s, "x", "float(0,1)"), add(s, "y", "float(0,1)"), add(s, "z", "float(0,1)");
  rule(s, "x + y + z == 1");
  check_repair(s, in_the_simplex, 200);

  s = cocabo_space_new();
  add(s, "a", "int(0,1000)"), add(s, "b", "int(0,1000)");
  rule(s, "a % 7 == 3 and b == a");
  check_repair(s, same_and_three, 190);

  s = cocabo_space_new();
  add(s, "a", "int(0,10)"), add(s, "b", "int(0,10)");
  add(s, "c", "int(0,10)"), add(s, "d", "int(0,10)");
  rule(s, "a < b and b < c and c < d");
  check_repair(s, rising, 200);

  s = cocabo_space_new();
  add(s, "x", "float(-5,5)"), add(s, "y", "float(-5,5)");
  rule(s, "x * x + y * y > 0.999");
  rule(s, "x * x + y * y < 1");
  check_repair(s, in_the_shell, 200);

  s = tree(); /* through the levels of a tree */
  rule(s, "kernel == poly");
  rule(s, "degree >= 4");
  rule(s, "hot");
  rule(s, "heat == b");
  check_repair(s, deep_b, 200);
}

/* ---- is there anything? ---------------------------------------------------------- */

static void shares_are_measured(void **state) {
  (void)state;
  double share = 0.0;
  cocabo_space *s = cocabo_space_new();
  add(s, "x", "float(0,1)"), add(s, "y", "float(0,1)");
  assert_ok(cocabo_space_acceptance(s, &share, &err));
  assert_true(share == 1.0);
  rule(s, "x + y < 0.5");
  assert_ok(cocabo_space_acceptance(s, &share, &err));
  assert_close(share, 0.125, 0.02);
  rule(s, "abs(x + y - 0.3) < 1e-7");
  assert_ok(cocabo_space_acceptance(s, &share, &err));
  assert_true(share < 1e-3);
  cocabo_space_free(s);
}

/* Fifty parameters, all of them in a rule that nothing keeps. */
static void impossible_spaces_are_refused(void **state) {
  (void)state;
  cocabo_study *study = NULL;
  double share;
  char sum[1024] = "";
  size_t used = 0;
  cocabo_space *s = cocabo_space_new();
  for (int i = 0; i < 50; i++) {
    char name[16];
    snprintf(name, sizeof name, "p%d", i);
    add(s, name, i % 2 ? "float(0,1)" : "int(0,3)");
    used += (size_t)snprintf(sum + used, sizeof sum - used, "%s + ", name);
  }
  snprintf(sum + used, sizeof sum - used, "0 > 1000");
  rule(s, sum);
  double start = seconds();
  assert_int_equal(cocabo_space_acceptance(s, &share, &err), COCABO_E_INVALID);
  assert_true(seconds() - start < 3.0); /* well below a second when nothing else runs */
  assert_non_null(strstr(err.message, "no point keeps the rules: "));
  assert_int_equal(cocabo_study_create(&study, "s", s, NULL, NULL, &err),
                   COCABO_E_INVALID);
  assert_null(study);
  cocabo_space_free(s);

  s = cocabo_space_new();
  add(s, "lc", "int(1,4)"), add(s, "lp", "int(1,4)");
  rule(s, "lc < 9");
  rule(s, "lc + lp < 2");
  assert_fails(cocabo_space_acceptance(s, &share, &err), COCABO_E_INVALID,
               "no point keeps the rules: of 10000 drawn and 40 repaired none does; "
               "lc=1, lp=1 breaks \"lc + lp < 2\"");
  cocabo_space_free(s);
}

/* ---- studies --------------------------------------------------------------------- */

static cocabo_study *study_of(cocabo_space *s) {
  cocabo_study *study = NULL;
  cocabo_options *o = cocabo_options_new();
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, NULL, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

static void added_points_are_checked(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  add(s, "kernel", "choice(rbf,poly)");
  add(s, "degree", "int(2,5) if kernel == poly");
  rule(s, "degree != 4");
  cocabo_study *study = study_of(s);
  const char *const names[] = {"kernel", "degree"};
  cocabo_value v[] = {{.type = COCABO_TEXT, .as.text = "poly"},
                      {.type = COCABO_INT, .as.integer = 4}};
  const double result = 1.5;
#define ADD(n, result) cocabo_study_add(study, names, v, n, result, &err)
  assert_fails(ADD(2, NULL), COCABO_E_RANGE,
               "degree=4 breaks the rule \"degree != 4\"");
  assert_int_equal(cocabo_study_count(study), 0);
  assert_ok(ADD(2, &result)); /* what is known is known */
  assert_fails(ADD(1, NULL), COCABO_E_INVALID,
               "parameter \"degree\" is missing, want a value where kernel == "
               "\"poly\"");
  v[0].as.text = "rbf";
  assert_fails(ADD(2, &result), COCABO_E_INVALID,
               "parameter \"degree\" is 4, want none: it is inactive unless kernel == "
               "\"poly\"");
  assert_ok(ADD(1, &result)); /* not named */
  v[1].type = COCABO_ABSENT;
  assert_ok(ADD(2, NULL)); /* or said to be absent */
  v[0].type = COCABO_ABSENT;
  assert_fails(ADD(2, NULL), COCABO_E_INVALID, "parameter \"kernel\" is missing");
#undef ADD
  assert_int_equal(cocabo_study_count(study), 3);

  cocabo_trial *t = NULL;
  const char *name;
  cocabo_value value;
  assert_ok(cocabo_study_trial(study, 1, &t, &err));
  assert_ok(cocabo_trial_get(t, 1, &name, &value, &err));
  assert_int_equal(value.type, COCABO_ABSENT);
  cocabo_trial_free(t);
  cocabo_study_free(study);
}

static void merged_points_are_checked(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  add(s, "kernel", "choice(rbf,poly)");
  add(s, "degree", "int(2,5) if kernel == poly");
  rule(s, "degree != 4");
  cocabo_study *study = study_of(s);
  cocabo_value v[][2] = {
      {{.type = COCABO_TEXT, .as.text = "poly"}, {.type = COCABO_INT, .as.integer = 4}},
      {{.type = COCABO_TEXT, .as.text = "rbf"}, {.type = COCABO_ABSENT}}};
  cocabo_known known[] = {{.values = v[0], .state = COCABO_COMPLETE, .value = 1.0},
                          {.values = v[1], .state = COCABO_COMPLETE, .value = 2.0}};
  int64_t added = 0;
  assert_ok(cb_study_merge(study, known, 2, &added, &err));
  assert_int_equal(added, 2);
  assert_ok(cb_study_merge(study, known, 2, &added, &err));
  assert_int_equal(added, 0); /* absent is equal to absent */
  known[0].state = COCABO_WAITING;
  assert_fails(cb_study_merge(study, known, 1, &added, &err), COCABO_E_RANGE,
               "trial 0: degree=4 breaks the rule \"degree != 4\"");
  v[0][1].type = COCABO_ABSENT;
  assert_fails(cb_study_merge(study, known, 1, &added, &err), COCABO_E_INVALID,
               "trial 0: parameter \"degree\" is missing, want a value where kernel == "
               "\"poly\"");
  v[1][1] = (cocabo_value){.type = COCABO_INT, .as.integer = 3};
  assert_fails(
      cb_study_merge(study, known + 1, 1, &added, &err), COCABO_E_INVALID,
      "trial 0: parameter \"degree\" is 3, want none: it is inactive unless kernel == "
      "\"poly\"");
  assert_int_equal(cocabo_study_count(study), 2);
  cocabo_study_free(study);
}

/* ---- memory ---------------------------------------------------------------------- */

/* The k-th allocation fails, for every k until the call succeeds. */
#define WITHOUT_MEMORY(call, unchanged)                                                \
  for (int k_ = 0, done_ = 0; !done_; k_++) {                                          \
    cb_mem_fail_after(k_);                                                             \
    const cocabo_status status_ = (call);                                              \
    cb_mem_fail_after(-1);                                                             \
    done_ = status_ == COCABO_OK;                                                      \
    if (done_)                                                                         \
      break;                                                                           \
    assert_int_equal(status_, COCABO_E_NO_MEMORY);                                     \
    assert_string_equal(err.message, "out of memory");                                 \
    assert_true(unchanged);                                                            \
    assert_true(k_ < 1000);                                                            \
  }

static void lack_of_memory_changes_nothing(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  add(s, "a", "choice(x,y)");
  add(s, "b", "float(0,1)");
  WITHOUT_MEMORY(cocabo_space_condition(s, "b", "a in (x) or a == y", &err),
                 !s->params[1].condition && s->d == 1 && !s->conditional);
  WITHOUT_MEMORY(cocabo_space_rule(s, "b < 0.5 or not (a == x)", &err),
                 s->n_rules == 0);
  WITHOUT_MEMORY(cocabo_space_rule(s, "min(b, 1) >= 0", &err), s->n_rules == 1);
  WITHOUT_MEMORY(cocabo_space_add(s, "c", "int(1,4) if b > 0.25 and a == x", &err),
                 s->n == 2 && s->d == 2 && s->presences == 1);
  assert_int_equal(s->d, 4);
  cocabo_space *copy = NULL;
  for (int k = 0; !copy; k++) {
    cb_mem_fail_after(k);
    copy = cb_space_copy(s);
    cb_mem_fail_after(-1);
    assert_true(k < 1000);
  }
  assert_true(cb_space_equal(s, copy));
  char *text = NULL;
  for (int k = 0; !text; k++) {
    cb_mem_fail_after(k);
    text = cocabo_space_domain(s, 2);
    cb_mem_fail_after(-1);
  }
  assert_string_equal(text, "int(1,4) if b > 0.25 and a == \"x\"");
  cocabo_text_free(text);
  cocabo_space_free(copy);
  cocabo_space_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(conditions_are_read_and_written),
      cmocka_unit_test(mistakes_are_told_in_a_sentence),
      cmocka_unit_test(presences_are_shared_by_condition),
      cmocka_unit_test(too_many_are_refused),
      cmocka_unit_test(domains_keep_their_conditions),
      cmocka_unit_test(copies_are_equal_and_differences_count),
      cmocka_unit_test(inactive_is_the_middle_a_presence_and_a_level),
      cmocka_unit_test(every_point_comes_back),
      cmocka_unit_test(decoding_settles),
      cmocka_unit_test(what_wakes_up_gets_a_value),
      cmocka_unit_test(cells_of_the_space_are_told_from_others),
      cmocka_unit_test(missing_and_needless_values_are_named),
      cmocka_unit_test(only_what_is_active_counts),
      cmocka_unit_test(draws_are_uniform_over_what_is_allowed),
      cmocka_unit_test(rare_points_are_spread_out),
      cmocka_unit_test(narrow_spaces_are_reached),
      cmocka_unit_test(shares_are_measured),
      cmocka_unit_test(impossible_spaces_are_refused),
      cmocka_unit_test(added_points_are_checked),
      cmocka_unit_test(merged_points_are_checked),
      cmocka_unit_test(lack_of_memory_changes_nothing),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
