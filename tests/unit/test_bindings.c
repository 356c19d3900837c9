/* What bindings call: values by one word, whole trials and columns of them, open or
 * create, as many trials as there are, and what a handle says. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "study/study.h"

static cocabo_error err;

static cocabo_space *make_space(void) {
  cocabo_space *s = cocabo_space_new();
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  assert_ok(cocabo_space_add(s, "n", "int(1,8)", &err));
  assert_ok(cocabo_space_add(s, "c", "choice(a,\"1\",1,1.0,true,null)", &err));
  assert_ok(cocabo_space_add(s, "o", "ordinal(small,large)", &err));
  assert_ok(cocabo_space_add(s, "deep", "choice(p,q) if n > 4", &err));
  return s;
}

enum { WIDTH = 5 };

static cocabo_options *make_options(const char *const *pairs) {
  cocabo_options *o = cocabo_options_new();
  assert_ok(cocabo_options_set(o, "sampler", "random", &err));
  for (; pairs && *pairs; pairs += 2)
    assert_ok(cocabo_options_set(o, pairs[0], pairs[1], &err));
  return o;
}

static cocabo_study *make_study(cocabo_store *store, const char *const *pairs) {
  cocabo_space *s = make_space();
  cocabo_options *o = make_options(pairs);
  cocabo_study *study;
  assert_ok(cocabo_study_create(&study, "s", s, o, store, &err));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return study;
}

/* ---- values ---------------------------------------------------------------------- */

static void a_value_is_one_word(void **state) {
  (void)state;
  assert_int_equal(cocabo_null().type, COCABO_NULL);
  assert_int_equal(cocabo_absent().type, COCABO_ABSENT);
  assert_true(cocabo_bool(7).type == COCABO_BOOL && cocabo_bool(7).as.boolean == 1);
  assert_true(cocabo_bool(0).as.boolean == 0);
  assert_true(cocabo_int(INT64_MIN).type == COCABO_INT &&
              cocabo_int(INT64_MIN).as.integer == INT64_MIN);
  assert_true(cocabo_real(-0.5).type == COCABO_REAL &&
              cocabo_real(-0.5).as.real == -0.5);
  assert_int_equal(cocabo_text("adam").type, COCABO_TEXT);
  assert_string_equal(cocabo_text("adam").as.text, "adam");
}

/* Points with n = 4, where "deep" is inactive, and with n = 5. */
static void add_two(cocabo_study *study) {
  const cocabo_metric metrics[] = {{"p99", 3.5}};
  const cocabo_value small[WIDTH] = {cocabo_real(0.25), cocabo_int(4), cocabo_real(1.0),
                                     cocabo_text("large"), cocabo_absent()};
  const cocabo_value large[WIDTH] = {cocabo_real(0.5), cocabo_int(5), cocabo_text("1"),
                                     cocabo_text("small"), cocabo_text("q")};
  cocabo_known known[] = {{.values = small,
                           .state = COCABO_COMPLETE,
                           .value = 2.5,
                           .metrics = metrics,
                           .n_metrics = 1},
                          {.values = large, .state = COCABO_RUNNING}};
  assert_ok(cocabo_study_add_many(study, known, 2, &err));
}

static void a_trial_shows_all_its_values(void **state) {
  (void)state;
  cocabo_study *study = make_study(NULL, NULL);
  cocabo_trial *t;
  cocabo_value v[WIDTH];
  size_t index = 77;
  add_two(study);
  assert_ok(cocabo_study_trial(study, 0, &t, &err));
  assert_ok(cocabo_trial_values(t, v, WIDTH, &err));
  assert_true(v[0].type == COCABO_REAL && v[0].as.real == 0.25);
  assert_true(v[1].type == COCABO_INT && v[1].as.integer == 4);
  assert_true(v[2].type == COCABO_REAL && v[2].as.real == 1.0);
  assert_string_equal(v[3].as.text, "large");
  assert_int_equal(v[4].type, COCABO_ABSENT);
  assert_ok(cocabo_trial_choice_index(t, 2, &index, &err));
  assert_int_equal(index, 3);
  assert_ok(cocabo_trial_choice_index(t, 3, &index, &err));
  assert_int_equal(index, 1);

  assert_fails(cocabo_trial_choice_index(t, 4, &index, &err), COCABO_E_NOT_FOUND,
               "parameter \"deep\" is inactive in trial 0");
  assert_fails(cocabo_trial_choice_index(t, 1, &index, &err), COCABO_E_INVALID,
               "parameter \"n\" is an int, want a choice");
  assert_fails(cocabo_trial_choice_index(t, 5, &index, &err), COCABO_E_RANGE,
               "parameter index is 5, want 0 to 4");
  assert_fails(cocabo_trial_values(t, v, 4, &err), COCABO_E_INVALID,
               "n is 4, want the number of parameters, 5");
  assert_int_equal(index, 1);
  cocabo_trial_free(t);
  cocabo_study_free(study);
}

static void a_trial_says_who_chose_it(void **state) {
  (void)state;
  const char *const pairs[] = {"n_init", "1", NULL};
  cocabo_study *study = make_study(NULL, pairs);
  cocabo_trial *t[2], *again;
  add_two(study);
  assert_ok(cocabo_study_ask(study, 2, t, &err));
  assert_int_equal(cocabo_trial_origin(t[0]), COCABO_ORIGIN_DESIGN);
  assert_int_equal(cocabo_trial_origin(t[1]), COCABO_ORIGIN_SAMPLER);
  for (int i = 0; i < 2; i++)
    cocabo_trial_free(t[i]);
  for (int64_t i = 1; i < 3; i++) { /* handed out again it is still whose it was */
    assert_ok(cocabo_study_interrupt(study, i, &err));
    assert_ok(cocabo_study_ask(study, 1, t, &err));
    assert_ok(cocabo_study_trial(study, i, &again, &err));
    assert_int_equal(cocabo_trial_number(t[0]), i);
    assert_int_equal(cocabo_trial_origin(t[0]),
                     i == 1 ? COCABO_ORIGIN_USER : COCABO_ORIGIN_DESIGN);
    assert_int_equal(cocabo_trial_origin(again), cocabo_trial_origin(t[0]));
    cocabo_trial_free(t[0]);
    cocabo_trial_free(again);
  }
  assert_int_equal(cocabo_trial_origin(NULL), COCABO_ORIGIN_USER);
  assert_string_equal(cocabo_origin_name(COCABO_ORIGIN_DESIGN), "design");
  assert_string_equal(cocabo_origin_name(COCABO_ORIGIN_SAMPLER), "sampler");
  assert_string_equal(cocabo_origin_name(COCABO_ORIGIN_USER), "user");
  assert_string_equal(cocabo_origin_name((cocabo_origin)0), "unknown origin");
  cocabo_study_free(study);
}

/* ---- columns --------------------------------------------------------------------- */

static void columns_say_what_trials_say(void **state) {
  (void)state;
  enum { N = 12 };
  const char *const pairs[] = {"n_init", "6", NULL}, *const names[] = {"p98", "p99"};
  cocabo_study *study = make_study(NULL, pairs);
  cocabo_trial *t[N];
  int64_t numbers[N], attempts[N];
  int32_t states[N], origins[N];
  double values[N], started[N], finished[N], params[N][WIDTH], metrics[N][2];
  add_two(study);
  assert_ok(cocabo_study_ask(study, N - 2, t, &err));
  for (int i = 0; i < N - 2; i++)
    cocabo_trial_free(t[i]);
  assert_ok(cocabo_study_fail(study, 3, "why", &err));
  assert_ok(cocabo_study_tell(study, 4, 1.5, &err));
  assert_ok(cocabo_study_interrupt(study, 5, &err));

  const cocabo_columns all = {.numbers = numbers,
                              .states = states,
                              .origins = origins,
                              .attempts = attempts,
                              .values = values,
                              .started = started,
                              .finished = finished,
                              .params = params[0],
                              .metric_names = names,
                              .n_metrics = 2,
                              .metrics = metrics[0]};
  assert_ok(cocabo_study_columns(study, 0, N, &all, &err));
  for (int i = 0; i < N; i++) {
    cocabo_value v[WIDTH];
    assert_ok(cocabo_study_trial(study, i, &t[0], &err));
    assert_int_equal(numbers[i], i);
    assert_int_equal(states[i], cocabo_trial_get_state(t[0]));
    assert_int_equal(origins[i], cocabo_trial_origin(t[0]));
    assert_int_equal(attempts[i], cocabo_trial_attempt(t[0]));
    const double want[] = {cocabo_trial_value(t[0]), cocabo_trial_started(t[0]),
                           cocabo_trial_finished(t[0])};
    const double got[] = {values[i], started[i], finished[i]};
    for (int k = 0; k < 3; k++)
      assert_true(want[k] == got[k] || (isnan(want[k]) && isnan(got[k])));
    assert_ok(cocabo_trial_values(t[0], v, WIDTH, &err));
    assert_true(params[i][0] == v[0].as.real);
    assert_true(params[i][1] == (double)v[1].as.integer);
    for (size_t k = 2; k < WIDTH; k++) {
      size_t index;
      if (v[k].type == COCABO_ABSENT) {
        assert_true(isnan(params[i][k]));
      } else {
        assert_ok(cocabo_trial_choice_index(t[0], k, &index, &err));
        assert_true(params[i][k] == (double)index);
      }
    }
    assert_true(isnan(metrics[i][0]));
    assert_true(i == 0 ? metrics[i][1] == 3.5 : isnan(metrics[i][1]));
    cocabo_trial_free(t[0]);
  }
  assert_true(isnan(params[0][4]) && params[1][4] == 1.0);

  int64_t seqs[N];
  const cocabo_columns changes = {.seqs = seqs};
  const int64_t before = cocabo_study_seq(study);
  assert_ok(cocabo_study_report(study, 7, 1, 0.25, &err));
  assert_ok(cocabo_study_columns(study, 0, N, &changes, &err));
  assert_int_equal(cocabo_study_seq(study), before + 1);
  assert_int_equal(seqs[7], before + 1);
  assert_true(seqs[5] == before && seqs[4] == before - 1 && seqs[3] == before - 2);
  for (int i = 0; i < N; i++) /* each event is about one trial */
    for (int k = 0; k < i; k++)
      assert_true(seqs[i] > 0 && seqs[i] != seqs[k]);
  assert_int_equal(cocabo_study_seq(NULL), 0);

  double last = -1.0; /* one column of a part */
  const cocabo_columns one = {.values = &last};
  assert_ok(cocabo_study_columns(study, 4, 1, &one, &err));
  assert_true(last == 1.5);
  assert_ok(cocabo_study_columns(study, 0, 0, &one, &err));
  assert_fails(cocabo_study_columns(study, 4, 9, &one, &err), COCABO_E_NOT_FOUND,
               "study \"s\" has 8 trials from 4 on, want 9");
  assert_fails(cocabo_study_columns(study, 4, SIZE_MAX, &one, &err), COCABO_E_NOT_FOUND,
               "study \"s\" has 8 trials from 4 on, want 18446744073709551615");
  assert_fails(cocabo_study_columns(study, 12, 1, &one, &err), COCABO_E_NOT_FOUND,
               "no trial 12 in study \"s\": it has 12, from 0 to 11");
  assert_fails(cocabo_study_columns(study, -1, 1, &one, &err), COCABO_E_NOT_FOUND,
               "no trial -1 in study \"s\": it has 12, from 0 to 11");
  assert_true(last == 1.5);
  cocabo_study_free(study);
}

/* ---- open or create -------------------------------------------------------------- */

static void it_is_created_once(void **state) {
  (void)state;
  const char *const pairs[] = {"seed", "7", NULL}, *const others[] = {"seed", "8",
                                                                      NULL};
  cocabo_space *s = make_space();
  cocabo_options *o = make_options(pairs), *other = make_options(others);
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *a, *b;
  int created = -1;
  assert_ok(cocabo_study_open_or_create(&a, "s", s, o, store, &created, &err));
  assert_int_equal(created, 1);
  add_two(a);
  assert_ok(cocabo_study_open_or_create(&b, "s", s, other, store, &created, &err));
  assert_int_equal(created, 0);
  assert_int_equal(cocabo_study_count(b), 2);
  assert_string_equal(cocabo_study_option(b, "seed"), "7"); /* it keeps its own */
  cocabo_study_free(b);
  assert_ok(cocabo_study_open_or_create(&b, "t", s, NULL, store, NULL, &err));
  cocabo_study_free(b);
  assert_ok(cocabo_study_open_or_create(&b, "s", s, NULL, NULL, &created, &err));
  assert_int_equal(created, 1); /* a store of its own */
  cocabo_study_free(b);
  cocabo_study_free(a);
  cocabo_store_free(store);
  cocabo_options_free(o);
  cocabo_options_free(other);
  cocabo_space_free(s);
}

static void another_space_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *name[2], *domain[2], *rule, *sentence;
  } cases[] = {
      {{"x", "y"},
       {"float(0,1)", "int(0,2)"},
       NULL,
       "study \"s\" has y=int(0,1), which is not the int(0,2) of the space"},
      {{"x", "z"},
       {"float(0,1)", "int(0,1)"},
       NULL,
       "study \"s\" has the parameter \"y\" where the space has \"z\""},
      {{"x", NULL},
       {"float(0,1)", NULL},
       NULL,
       "study \"s\" has 2 parameters, the space 1"},
      {{"x", "y"},
       {"float(0,1)", "int(0,1) if x > 0.5"},
       NULL,
       "study \"s\" has y=int(0,1), which is not the int(0,1) if x > 0.5 of the space"},
      {{"x", "y"},
       {"float(0,1)", "int(0,1)"},
       "x < y",
       "study \"s\" has other rules than the space"},
  };
  cocabo_store *store = cocabo_store_new_memory();
  for (size_t i = 0; i < sizeof cases / sizeof cases[0] + 1; i++) {
    const size_t k = i > 0 ? i - 1 : 0;
    cocabo_space *s = cocabo_space_new();
    cocabo_study *study = NULL;
    for (int j = 0; j < 2 && cases[k].name[j]; j++)
      assert_ok(cocabo_space_add(s,
                                 i > 0 ? cases[k].name[j]
                                 : j   ? "y"
                                       : "x",
                                 i > 0 ? cases[k].domain[j]
                                 : j   ? "int(0,1)"
                                       : "float(0,1)",
                                 &err));
    if (i > 0 && cases[k].rule)
      assert_ok(cocabo_space_rule(s, cases[k].rule, &err));
    if (i == 0) {
      assert_ok(cocabo_study_open_or_create(&study, "s", s, NULL, store, NULL, &err));
      cocabo_study_free(study);
    } else {
      int created = -7;
      assert_fails(
          cocabo_study_open_or_create(&study, "s", s, NULL, store, &created, &err),
          COCABO_E_STATE, cases[k].sentence);
      assert_true(!study && created == -7);
    }
    cocabo_space_free(s);
  }
  cocabo_store_free(store);
}

static void another_direction_is_refused(void **state) {
  (void)state;
  const char *const pairs[] = {"direction", "maximize", NULL};
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_space *s = make_space();
  cocabo_options *o = make_options(pairs);
  cocabo_study *study = make_study(store, NULL), *other = NULL;
  assert_fails(cocabo_study_open_or_create(&other, "s", s, o, store, NULL, &err),
               COCABO_E_STATE, "study \"s\" is to minimize, not to maximize");
  assert_null(other);
  cocabo_study_free(study);
  cocabo_options_free(o);
  cocabo_space_free(s);
  cocabo_store_free(store);
}

/* ---- as many as there are -------------------------------------------------------- */

static size_t ask_up_to(cocabo_study *study, size_t n) {
  cocabo_trial *t[8] = {NULL};
  size_t got = 77;
  assert_ok(cocabo_study_ask_up_to(study, n, t, &got, &err));
  for (size_t i = 0; i < 8; i++) {
    assert_true((t[i] != NULL) == (i < got));
    cocabo_trial_free(t[i]);
  }
  return got;
}

static void the_budget_leaves_some(void **state) {
  (void)state;
  const char *const pairs[] = {"trials", "5", NULL};
  cocabo_study *study = make_study(NULL, pairs);
  cocabo_trial *t = NULL;
  size_t got = 77;
  assert_int_equal(ask_up_to(study, 3), 3);
  assert_int_equal(ask_up_to(study, 8), 2);
  assert_fails(cocabo_study_ask_up_to(study, 8, &t, &got, &err), COCABO_E_BUDGET,
               "study \"s\" has 0 of its 5 trials left, want 1");
  assert_true(got == 0 && !t);
  assert_ok(cocabo_study_interrupt(study, 1, &err)); /* which is on offer again */
  assert_int_equal(ask_up_to(study, 8), 1);
  assert_fails(cocabo_study_ask_up_to(study, 0, &t, &got, &err), COCABO_E_RANGE,
               "n is 0, want 1 to 100000");
  cocabo_study_free(study);
}

static void the_space_leaves_some(void **state) {
  (void)state;
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = make_options(NULL);
  cocabo_study *study;
  cocabo_trial *t = NULL;
  size_t got = 77;
  assert_ok(cocabo_space_add(s, "n", "int(1,5)", &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, NULL, &err));
  assert_int_equal(ask_up_to(study, 3), 3);
  assert_ok(cocabo_study_interrupt(study, 1, &err));
  assert_int_equal(ask_up_to(study, 8), 3); /* one again, and the last two */
  assert_fails(cocabo_study_ask_up_to(study, 8, &t, &got, &err), COCABO_E_EXHAUSTED,
               "the space has 5 points and 5 are taken, want 1 more");
  assert_int_equal(got, 0);
  assert_int_equal(cocabo_study_count(study), 5);
  cocabo_study_free(study);
  cocabo_options_free(o);
  cocabo_space_free(s);
}

/* ---- what a handle says ---------------------------------------------------------- */

typedef struct heard {
  int n;
  cocabo_level level;
  char sentence[300];
} heard;

static void hear(void *user, cocabo_level level, const char *sentence) {
  heard *h = user;
  h->n++;
  h->level = level;
  assert_true(strlen(sentence) < sizeof h->sentence && !strchr(sentence, '\n'));
  strcpy(h->sentence, sentence);
}

#define assert_heard(h, level_, sentence_)                                             \
  do {                                                                                 \
    assert_int_equal((h).n, 1);                                                        \
    assert_int_equal((h).level, level_);                                               \
    assert_string_equal((h).sentence, sentence_);                                      \
    (h).n = 0;                                                                         \
  } while (0)

static void a_handle_says_what_is_worth_knowing(void **state) {
  (void)state;
  cocabo_study *study = make_study(NULL, NULL);
  heard h = {0};
  cocabo_trial *t;
  cocabo_study_on_log(study, hear, &h);
  assert_ok(cocabo_study_lease(study, "w", 1e-9, &err));
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  cocabo_trial_free(t);
  assert_int_equal(h.n, 0);
  assert_ok(cocabo_study_ask(study, 1, &t, &err)); /* the same again */
  assert_int_equal(cocabo_trial_number(t), 0);
  cocabo_trial_free(t);
  assert_heard(h, COCABO_INFO,
               "trial 0 is stale: its lease has run out, or its owner is gone; it is "
               "offered again");
  assert_ok(cocabo_study_fail_attempt(study, 0, 0, "late", &err));
  assert_heard(h, COCABO_INFO,
               "attempt 0 of trial 0 is over: it has been handed out again");
  assert_ok(cocabo_study_tell(study, 0, NAN, &err));
  assert_heard(h, COCABO_WARNING, "trial 0 counts as failed: its value is nan");
  assert_ok(cocabo_study_tell(study, 0, 1.5, &err));
  assert_ok(cocabo_study_tell(study, 0, 1.5, &err));
  assert_int_equal(h.n, 0);
  assert_ok(cocabo_study_tell(study, 0, 2.5, &err));
  assert_heard(h, COCABO_WARNING,
               "trial 0 has the value 1.5 already: 2.5 is kept as an extra");
  cocabo_study_on_log(study, NULL, NULL);
  assert_ok(cocabo_study_tell(study, 0, 3.5, &err));
  assert_int_equal(h.n, 0);
  cocabo_study_on_log(NULL, hear, &h);
  cocabo_study_free(study);
}

static void a_handle_says_when_it_learns(void **state) {
  (void)state;
  const char *const pairs[] = {"sampler", "mixed", "n_init", "2", NULL};
  cocabo_space *s = cocabo_space_new();
  cocabo_options *o = make_options(pairs);
  cocabo_study *study;
  heard h = {0};
  assert_ok(cocabo_space_add(s, "x", "float(0,1)", &err));
  assert_ok(cocabo_study_create(&study, "s", s, o, NULL, &err));
  cocabo_study_on_log(study, hear, &h);
  for (int i = 0; i < 3; i++) {
    cocabo_trial *t;
    assert_ok(cocabo_study_ask(study, 1, &t, &err));
    assert_ok(cocabo_study_tell(study, i, i, &err));
    cocabo_trial_free(t);
  }
  assert_int_equal(h.n, 1);
  assert_int_equal(h.level, COCABO_DEBUG);
  assert_true(strncmp(h.sentence, "sampler mixed learnt from 2 results in ", 39) == 0);
  cocabo_study_free(study);
  cocabo_options_free(o);
  cocabo_space_free(s);
}

/* A rival asks in the middle of our ask: in the interrupt callback. */
static int overtake(void *rival) {
  cocabo_trial *t;
  static int done;
  if (done++)
    return 0;
  assert_ok(cocabo_study_ask(rival, 1, &t, &err));
  cocabo_trial_free(t);
  return 0;
}

static void a_handle_says_that_it_was_overtaken(void **state) {
  (void)state;
  cocabo_store *store = cocabo_store_new_memory();
  cocabo_study *study = make_study(store, NULL), *rival;
  heard h = {0};
  cocabo_trial *t;
  assert_ok(cocabo_study_open(&rival, "s", store, &err));
  cocabo_study_on_log(study, hear, &h);
  cocabo_study_on_interrupt(study, overtake, rival);
  assert_ok(cocabo_study_ask(study, 1, &t, &err));
  assert_int_equal(cocabo_trial_number(t), 1);
  assert_heard(h, COCABO_DEBUG, "overtaken at trial 0: once more");
  cocabo_trial_free(t);
  cocabo_study_free(study);
  cocabo_study_free(rival);
  cocabo_store_free(store);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_value_is_one_word),
      cmocka_unit_test(a_trial_shows_all_its_values),
      cmocka_unit_test(a_trial_says_who_chose_it),
      cmocka_unit_test(columns_say_what_trials_say),
      cmocka_unit_test(it_is_created_once),
      cmocka_unit_test(another_space_is_refused),
      cmocka_unit_test(another_direction_is_refused),
      cmocka_unit_test(the_budget_leaves_some),
      cmocka_unit_test(the_space_leaves_some),
      cmocka_unit_test(a_handle_says_what_is_worth_knowing),
      cmocka_unit_test(a_handle_says_when_it_learns),
      cmocka_unit_test(a_handle_says_that_it_was_overtaken),
  };
  return cmocka_run_group_tests_name("bindings", tests, NULL, NULL);
}
