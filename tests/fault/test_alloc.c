/* Every public call with the k-th allocation failing, for all k until it succeeds. A
 * failed call says COCABO_E_NO_MEMORY and changes nothing: beside every study runs a
 * twin that never lacks memory, and the two agree to the end. */
#include "check.h"

#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "log/runs.h"
#include "study/study.h"

static cocabo_error err;

static const char *const samplers[] = {"random", "cocabo", "mixed",  "smac",
                                       "tpe",    "sobol",  "onehot", "exp3bo"};
enum { N_SAMPLERS = sizeof samplers / sizeof samplers[0] };

/* Repeats the call until it succeeds, with one more allocation granted each time, and
 * demands `unchanged` after each failure. */
#define CALL_WITHOUT_MEMORY(call, unchanged)                                           \
  do {                                                                                 \
    for (long k_ = 0;; k_++) {                                                         \
      cb_mem_fail_after(k_);                                                           \
      const cocabo_status status_ = (call);                                            \
      cb_mem_fail_after(-1);                                                           \
      if (status_ == COCABO_OK)                                                        \
        break;                                                                         \
      assert_int_equal(status_, COCABO_E_NO_MEMORY);                                   \
      assert_string_equal(err.message, "out of memory");                               \
      unchanged;                                                                       \
      assert_true(k_ < 100000);                                                        \
    }                                                                                  \
  } while (0)

static const cocabo_value letters[] = {{.type = COCABO_TEXT, .as.text = "a"},
                                       {.type = COCABO_TEXT, .as.text = "b"},
                                       {.type = COCABO_NULL}};

/* What depends on the parameters of the space below, and what it may not be. */
static void add_conditions(cocabo_space *s) {
#define COUNT_IS(n) assert_int_equal(cocabo_space_count(s), n)
  CALL_WITHOUT_MEMORY(cocabo_space_add(s, "t", "float(0,1) if n > 5", &err),
                      COUNT_IS(4));
  CALL_WITHOUT_MEMORY(cocabo_space_add(s, "u", "bool if c == a", &err), COUNT_IS(5));
  CALL_WITHOUT_MEMORY(cocabo_space_rule(s, "x < 2 or not u and t > 0.5", &err),
                      assert_null(cocabo_space_get_rule(s, 0)));
#undef COUNT_IS
}

static bool with_conditions; /* of the test that runs */

static cocabo_space *build_space(void) {
  cocabo_space *s = NULL;
  for (int k = 0; !s; k++) {
    cb_mem_fail_after(k);
    s = cocabo_space_new();
    cb_mem_fail_after(-1);
  }
#define COUNT_IS(n) assert_int_equal(cocabo_space_count(s), n)
  CALL_WITHOUT_MEMORY(cocabo_space_add_real(s, "x", -1, 3, 0, 0, &err), COUNT_IS(0));
  CALL_WITHOUT_MEMORY(cocabo_space_add_int(s, "n", 1, 64, 0, COCABO_LOG, &err),
                      COUNT_IS(1));
  CALL_WITHOUT_MEMORY(cocabo_space_add_choice(s, "c", letters, 3, 0, &err),
                      COUNT_IS(2));
  CALL_WITHOUT_MEMORY(cocabo_space_add(s, "o", "ordinal(a,\"b\",null)", &err),
                      COUNT_IS(3));
#undef COUNT_IS
  if (with_conditions)
    add_conditions(s);
  return s;
}

static cocabo_options *build_options(const char *sampler) {
  static const char *const pairs[][2] = {{"n_init", "3"},   {"refit_every", "2"},
                                         {"samples", "40"}, {"seed", "11"},
                                         {"seed", "12"},    {"model_size", "10"}};
  cocabo_options *o = NULL;
  for (int k = 0; !o; k++) {
    cb_mem_fail_after(k);
    o = cocabo_options_new();
    cb_mem_fail_after(-1);
  }
  CALL_WITHOUT_MEMORY(cocabo_options_set(o, "sampler", sampler, &err),
                      assert_string_equal(cocabo_options_get(o, "sampler"), "mixed"));
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    char before[32];
    strcpy(before, cocabo_options_get(o, pairs[i][0]));
    CALL_WITHOUT_MEMORY(
        cocabo_options_set(o, pairs[i][0], pairs[i][1], &err),
        assert_string_equal(cocabo_options_get(o, pairs[i][0]), before));
  }
  return o;
}

/* A study and its twin. */
typedef struct pair {
  cocabo_store *store;
  cocabo_study *study, *twin;
} pair;

static cocabo_store *build_store(void) {
  cocabo_store *store = NULL;
  for (int k = 0; !store; k++) {
    cb_mem_fail_after(k);
    store = cocabo_store_new_memory();
    cb_mem_fail_after(-1);
  }
  return store;
}

static pair build_pair(const char *sampler) {
  cocabo_space *s = build_space();
  cocabo_options *o = build_options(sampler);
  pair p = {.store = build_store()};
  assert_ok(cocabo_study_create(&p.twin, "s", s, o, NULL, &err));
  CALL_WITHOUT_MEMORY(cocabo_study_create(&p.study, "s", s, o, NULL, &err),
                      assert_null(p.study));
  cocabo_study_free(p.study);
  CALL_WITHOUT_MEMORY(cocabo_study_create(&p.study, "s", s, o, p.store, &err),
                      assert_null(p.study));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return p;
}

static void free_pair(pair *p) {
  cocabo_study_free(p->study);
  cocabo_study_free(p->twin);
  cocabo_store_free(p->store);
}

static void assert_same_runs(const cb_trial *a, const cb_trial *b) {
  assert_int_equal(a->n_runs, b->n_runs);
  assert_int_equal(a->n_counted, b->n_counted);
  for (int64_t i = 0; i < a->n_runs; i++) {
    assert_int_equal(a->runs[i].pair, b->runs[i].pair);
    assert_int_equal(a->runs[i].outcome, b->runs[i].outcome);
    assert_true(a->runs[i].value == b->runs[i].value || isnan(a->runs[i].value));
  }
}

/* Everything that can be seen of the two, but for the times and ids in the logs. */
static void assert_twins(const pair *p) {
  const cb_history *a = p->study->fold.history, *b = p->twin->fold.history;
  assert_int_equal(a->n_trials, b->n_trials);
  assert_int_equal(a->n, b->n);
  assert_int_equal(a->best, b->best);
  assert_int_equal(a->n_failed, b->n_failed);
  assert_int_equal(a->n_pending, b->n_pending);
  assert_int_equal(a->n_design, b->n_design);
  assert_int_equal(a->n_rounds, b->n_rounds);
  assert_int_equal(a->n_started, b->n_started);
  assert_int_equal(a->n_flying, b->n_flying);
  assert_int_equal(cb_history_distinct(a), cb_history_distinct(b));
  assert_int_equal(p->study->fold.n_attributes, p->twin->fold.n_attributes);
  for (int i = 0; i < p->study->fold.n_attributes; i++)
    assert_string_equal(p->study->fold.attributes[i].value,
                        p->twin->fold.attributes[i].value);
  for (size_t i = 0; cocabo_option_name(i); i++)
    assert_string_equal(cocabo_study_option(p->study, cocabo_option_name(i)),
                        cocabo_study_option(p->twin, cocabo_option_name(i)));
  for (int64_t i = 0; i < a->n_trials; i++) {
    assert_int_equal(a->trials[i].state, b->trials[i].state);
    assert_int_equal(a->trials[i].attempt, b->trials[i].attempt);
    assert_true(cb_metrics_equal(a->trials[i].metrics, a->trials[i].n_metrics,
                                 b->trials[i].metrics, b->trials[i].n_metrics));
    assert_true(cb_cells_equal(a->space->n, a->trials[i].cells, b->trials[i].cells));
    if (a->trials[i].state == COCABO_FAILED)
      assert_string_equal(a->trials[i].reason, b->trials[i].reason);
    assert_int_equal(a->trials[i].n_attributes, b->trials[i].n_attributes);
    for (int k = 0; k < a->trials[i].n_attributes; k++)
      assert_string_equal(a->trials[i].attributes[k].value,
                          b->trials[i].attributes[k].value);
    assert_same_runs(&a->trials[i], &b->trials[i]);
    assert_int_equal(a->trials[i].n_reports, b->trials[i].n_reports);
    for (int64_t k = 0; k < a->trials[i].n_reports; k++)
      assert_true(a->trials[i].reports[k].step == b->trials[i].reports[k].step &&
                  a->trials[i].reports[k].value == b->trials[i].reports[k].value);
  }
  for (int64_t i = 0; i < a->n; i++)
    assert_true(a->told[i] == b->told[i] && a->y[i] == b->y[i]);
}

static double objective(const cocabo_trial *t) {
  double x;
  int64_t n;
  assert_ok(cocabo_trial_get_real(t, "x", &x, &err));
  assert_ok(cocabo_trial_get_int(t, "n", &n, &err));
  return (x - 0.7) * (x - 0.7) + 0.01 * (double)n;
}

enum { MOST = 4 };

static void ask_both(pair *p, int n, cocabo_trial *out[MOST]) {
  cocabo_trial *twins[MOST];
  memset(out, 0, MOST * sizeof *out);
  CALL_WITHOUT_MEMORY(cocabo_study_ask(p->study, (size_t)n, out, &err), {
    assert_null(out[0]);
    assert_twins(p);
  });
  assert_ok(cocabo_study_ask(p->twin, (size_t)n, twins, &err));
  assert_twins(p);
  for (int i = 0; i < n; i++) {
    assert_int_equal(cocabo_trial_number(out[i]), cocabo_trial_number(twins[i]));
    assert_true(objective(out[i]) == objective(twins[i]));
    cocabo_trial_free(twins[i]);
  }
}

static void tell_both(pair *p, int64_t number, double value) {
  const cocabo_metric metrics[] = {{"p99", 180.5}, {"bytes", (double)number}};
  CALL_WITHOUT_MEMORY(
      cocabo_study_tell_metrics(p->study, number, value, metrics, 2, &err),
      assert_twins(p));
  assert_ok(cocabo_study_tell_metrics(p->twin, number, value, metrics, 2, &err));
  assert_twins(p);
}

static void add_both(pair *p, double x, const double *result) {
  const char *const names[] = {"c", "x", "o", "n"};
  const cocabo_value values[] = {letters[2],
                                 {.type = COCABO_REAL, .as.real = x},
                                 letters[1],
                                 {.type = COCABO_INT, .as.integer = 9}};
  CALL_WITHOUT_MEMORY(cocabo_study_add(p->study, names, values, 4, result, &err),
                      assert_twins(p));
  assert_ok(cocabo_study_add(p->twin, names, values, 4, result, &err));
  assert_twins(p);
}

/* Asks of one and of several, across the end of the design and several fits. */
static void run_loop(pair *p) {
  const int sizes[] = {1, 4, 1, 1, 2, 1, 1, 1, 3};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
    cocabo_trial *t[MOST];
    ask_both(p, sizes[i], t);
    for (int k = 0; k < sizes[i]; k++) {
      tell_both(p, cocabo_trial_number(t[k]), objective(t[k]));
      cocabo_trial_free(t[k]);
    }
  }
}

static void ask_and_tell_survive_lack_of_memory(void **state) {
  (void)state;
  for (int s = 0; s < N_SAMPLERS; s++) {
    pair p = build_pair(samplers[s]);
    run_loop(&p);
    free_pair(&p);
  }
}

static void so_do_those_under_conditions_and_rules(void **state) {
  (void)state;
  with_conditions = true;
  for (int s = 1; s <= 4; s++) { /* creation measures the rules each time */
    pair p = build_pair(samplers[s]);
    run_loop(&p);
    free_pair(&p);
  }
  with_conditions = false;
}

/* ---- runs ------------------------------------------------------------------------ */

static pair build_runs(const char *sampler) {
  static const char *const more[][2] = {{"instances", "a\nb\nc\nd\ne\nf"},
                                        {"seeds", "2"},
                                        {"cap", "auto"},
                                        {"runs", "42"}};
  cocabo_space *s = build_space();
  cocabo_options *o = build_options(sampler);
  pair p = {.store = build_store()};
  for (size_t i = 0; i < sizeof more / sizeof more[0]; i++)
    CALL_WITHOUT_MEMORY(cocabo_options_set(o, more[i][0], more[i][1], &err), );
  assert_ok(cocabo_study_create(&p.twin, "s", s, o, NULL, &err));
  CALL_WITHOUT_MEMORY(cocabo_study_create(&p.study, "s", s, o, p.store, &err),
                      assert_null(p.study));
  cocabo_options_free(o);
  cocabo_space_free(s);
  return p;
}

/* What was decided meanwhile is in the log by then: of a tell whose memory ran out
 * after its event was written, the next ask says so. */
static cocabo_run ask_run_both(pair *p) {
  cocabo_trial *trial = NULL, *other = NULL;
  cocabo_run run = {.trial = -7}, twin;
  const int64_t before = cocabo_study_runs(p->study, NULL);
  CALL_WITHOUT_MEMORY(cocabo_study_ask_run(p->study, &trial, &run, &err), {
    assert_true(!trial && run.trial == -7);
    assert_int_equal(cocabo_study_runs(p->study, NULL), before);
  });
  assert_ok(cocabo_study_ask_run(p->twin, &other, &twin, &err));
  assert_ok(cocabo_study_sync(p->study, &err));
  assert_ok(cb_runs_weigh(p->study->fold.history, &err));
  assert_ok(cb_runs_weigh(p->twin->fold.history, &err));
  assert_twins(p);
  assert_true(run.trial == twin.trial && run.run == twin.run && run.cap == twin.cap);
  assert_string_equal(run.instance, twin.instance);
  run.value = objective(trial) + 0.5 * run.instance[0] + 0.01 * (double)run.seed;
  run.instance = NULL;
  cocabo_trial_free(trial);
  cocabo_trial_free(other);
  return run;
}

static void tell_run_both(pair *p, cocabo_run run, cocabo_run_state state) {
  const cocabo_metric metrics[] = {{"p99", 180.5}, {"bytes", run.value}};
  int64_t before = 0, flying = 0;
  (void)cocabo_study_runs(p->study, &before);
  run.state = state;
  CALL_WITHOUT_MEMORY(cocabo_study_tell_run(p->study, &run, metrics, 2, "odd", &err), {
    (void)cocabo_study_runs(p->study, &flying);
    assert_int_equal(flying, before);
  });
  assert_ok(cocabo_study_tell_run(p->twin, &run, metrics, 2, "odd", &err));
}

static void assert_reopens(const pair *p) {
  pair both = {.twin = p->twin};
  cocabo_report report;
  CALL_WITHOUT_MEMORY(cocabo_study_open(&both.study, "s", p->store, &err), );
  assert_ok(cb_runs_weigh(both.study->fold.history, &err));
  assert_twins(&both);
  assert_ok(cocabo_study_verify(both.study, -1, &report, &err));
  assert_int_equal(report.differing, 0);
  assert_int_equal(report.replayed, report.trials);
  cocabo_study_free(both.study);
}

/* So many under way at a time that a second trial begins while the first run of the
 * first is; at the end the log says what the twin's does. */
static void runs_survive_lack_of_memory(void **state) {
  (void)state;
  static const char *const judges[] = {"random", "mixed", "smac"};
  for (int s = 0; s < 3; s++) {
    pair p = build_runs(judges[s]);
    enum { AT_ONCE = 7 };
    cocabo_run flying[AT_ONCE];
    for (int i = 0; i < 40; i++) {
      if (i >= AT_ONCE)
        tell_run_both(&p, flying[i % AT_ONCE],
                      i % 13 == 12   ? COCABO_RUN_FAILED
                      : i % 11 == 10 ? COCABO_RUN_DISCARDED
                      : i % 19 == 18 ? COCABO_RUN_CAPPED
                                     : COCABO_RUN_OK);
      flying[i % AT_ONCE] = ask_run_both(&p);
    }
    assert_true(cocabo_study_count(p.study) > 4);
    assert_reopens(&p);
    free_pair(&p);
  }
}

static void fail_both(pair *p, int64_t number, const char *reason) {
  CALL_WITHOUT_MEMORY(cocabo_study_fail(p->study, number, reason, &err),
                      assert_twins(p));
  assert_ok(cocabo_study_fail(p->twin, number, reason, &err));
  assert_twins(p);
}

static void interrupt_both(pair *p, int64_t number) {
  CALL_WITHOUT_MEMORY(cocabo_study_interrupt(p->study, number, &err), assert_twins(p));
  assert_ok(cocabo_study_interrupt(p->twin, number, &err));
  assert_twins(p);
}

/* One that is there, a value, one that failed, one to be tried. */
static void merge_both(pair *p) {
  cocabo_value values[4][4];
  cocabo_known known[4];
  const cocabo_attr attr = {"host", "a1"};
  const cocabo_step reports[] = {{1, 0.5}, {2, 0.25}};
  int64_t added = -7;
  for (int i = 0; i < 4; i++) {
    values[i][0] = (cocabo_value){.type = COCABO_REAL, .as.real = 0.75 + i};
    values[i][1] = (cocabo_value){.type = COCABO_INT, .as.integer = 9};
    values[i][2] = letters[2];
    values[i][3] = letters[1];
    known[i] = (cocabo_known){.values = values[i],
                              .state = COCABO_COMPLETE,
                              .value = 0.125,
                              .reason = "gone",
                              .attrs = &attr,
                              .n_attrs = 1,
                              .reports = reports,
                              .n_reports = 2};
  }
  values[3][0].as.real = 0.25;
  known[1].state = COCABO_FAILED;
  known[3].state = COCABO_WAITING;
  CALL_WITHOUT_MEMORY(cocabo_study_merge(p->study, known, 4, &added, &err), {
    assert_int_equal(added, -7);
    assert_twins(p);
  });
  assert_int_equal(added, 3);
  assert_ok(cocabo_study_merge(p->twin, known, 4, &added, &err));
  assert_twins(p);
}

/* All states twice, with several reasons and metrics. */
static void add_many_both(pair *p) {
  static const cocabo_trial_state states[] = {COCABO_COMPLETE, COCABO_FAILED,
                                              COCABO_WAITING, COCABO_RUNNING};
  static const char *const reasons[] = {"", "a", "much longer than that"};
  const cocabo_metric metrics[] = {{"p99", 1.5}, {"bytes", 2.5}};
  const cocabo_attr attrs[] = {{"host", "a7"}};
  const cocabo_step report = {1, 0.5};
  cocabo_value values[9][4];
  cocabo_known known[9];
  const int64_t before = cocabo_study_count(p->study);
  for (int i = 0; i < 9; i++) {
    values[i][0] = cocabo_real(0.125 * i);
    values[i][1] = cocabo_int(1 + i);
    values[i][2] = letters[i % 3];
    values[i][3] = letters[2 - i % 3];
    known[i] = (cocabo_known){.values = values[i],
                              .state = states[i % 4],
                              .value = 9 + i,
                              .reason = reasons[i % 3],
                              .metrics = metrics,
                              .n_metrics = (size_t)i % 3,
                              .attrs = attrs,
                              .n_attrs = (size_t)i % 2,
                              .reports = &report,
                              .n_reports = (size_t)i % 2,
                              .number = -7};
  }
  CALL_WITHOUT_MEMORY(cocabo_study_add_many(p->study, known, 9, &err), {
    assert_int_equal(known[0].number, -7);
    assert_twins(p);
  });
  assert_int_equal(known[8].number, before + 8);
  assert_ok(cocabo_study_add_many(p->twin, known, 9, &err));
  assert_twins(p);
}

static void ask_up_to_both(pair *p, size_t n) {
  cocabo_trial *t[MOST] = {NULL}, *twins[MOST];
  size_t got = 7, twin_got = 7;
  CALL_WITHOUT_MEMORY(cocabo_study_ask_up_to(p->study, n, t, &got, &err), {
    assert_true(got == 0 && !t[0]);
    assert_twins(p);
  });
  assert_ok(cocabo_study_ask_up_to(p->twin, n, twins, &twin_got, &err));
  assert_int_equal(got, twin_got);
  assert_twins(p);
  for (size_t i = 0; i < got; i++) {
    cocabo_trial_free(t[i]);
    cocabo_trial_free(twins[i]);
  }
}

static void open_or_create(pair *p) {
  cocabo_space *s = build_space();
  cocabo_study *study = NULL;
  int created = -7;
  CALL_WITHOUT_MEMORY(
      cocabo_study_open_or_create(&study, "new", s, NULL, p->store, &created, &err),
      assert_true(!study && created == -7));
  assert_int_equal(created, 1);
  cocabo_study_free(study);
  study = NULL;
  CALL_WITHOUT_MEMORY(
      cocabo_study_open_or_create(&study, "s", s, NULL, p->store, &created, &err),
      assert_true(!study && created == 1));
  assert_int_equal(created, 0);
  pair both = {.study = study, .twin = p->twin};
  assert_twins(&both);
  cocabo_study_free(study);
  study = NULL;
  assert_ok(cocabo_space_add_int(s, "more", 0, 1, 0, 0, &err));
  for (long k = 0; k < 1000 && err.code != COCABO_E_STATE; k++) { /* which says why */
    cb_mem_fail_after(k);
    assert_true(cocabo_study_open_or_create(&study, "s", s, NULL, p->store, NULL,
                                            &err) != COCABO_OK);
    cb_mem_fail_after(-1);
    assert_null(study);
  }
  assert_string_equal(err.message, "study \"s\" has 4 parameters, the space 5");
  cocabo_space_free(s);
}

static void copy_one(pair *p) {
  cocabo_study *copy;
  CALL_WITHOUT_MEMORY(cocabo_study_copy(p->study, "copy", p->store, &err),
                      assert_int_equal(cocabo_study_open(&copy, "copy", p->store, &err),
                                       COCABO_E_NOT_FOUND));
  assert_ok(cocabo_study_open(&copy, "copy", p->store, &err));
  pair both = {.study = copy, .twin = p->twin};
  assert_twins(&both);
  cocabo_study_free(copy);
}

static void note_trial(pair *p, int64_t number, const char *name, const char *value) {
  CALL_WITHOUT_MEMORY(cocabo_study_note(p->study, number, name, value, &err),
                      assert_twins(p));
  assert_ok(cocabo_study_note(p->twin, number, name, value, &err));
  assert_twins(p);
}

static void report_both(pair *p, int64_t number, int64_t step, double value) {
  CALL_WITHOUT_MEMORY(cocabo_study_report(p->study, number, step, value, &err),
                      assert_twins(p));
  assert_ok(cocabo_study_report(p->twin, number, step, value, &err));
  assert_twins(p);
}

/* A result with what is noted beside it, or a failure. */
static void record_both(pair *p, int64_t number, const double *value,
                        const char *reason) {
  const cocabo_metric metric = {"p99", 180.5};
  const cocabo_attr attrs[] = {{"host", "a1"}, {"gpu", "0"}};
  const cocabo_record record = {.value = value,
                                .metrics = &metric,
                                .n_metrics = value ? 1 : 0,
                                .reason = reason,
                                .attrs = attrs,
                                .n_attrs = 2};
  CALL_WITHOUT_MEMORY(cocabo_study_record(p->study, number, &record, &err),
                      assert_twins(p));
  assert_ok(cocabo_study_record(p->twin, number, &record, &err));
  assert_twins(p);
}

static void retry_both(pair *p, int64_t number) {
  CALL_WITHOUT_MEMORY(cocabo_study_retry(p->study, number, &err), assert_twins(p));
  assert_ok(cocabo_study_retry(p->twin, number, &err));
  assert_twins(p);
}

static void everything_else_survives_lack_of_memory(void **state) {
  (void)state;
  pair p = build_pair("random");
  cocabo_trial *t[MOST], *found = NULL;
  const double result = 0.125;
  ask_both(&p, 4, t);
  for (int i = 0; i < 4; i++)
    cocabo_trial_free(t[i]);
  add_both(&p, 0.5, NULL);
  add_both(&p, 0.75, &result);
  note_trial(&p, 0, "host", "a1");
  note_trial(&p, 0, "host", "another, and longer than the first");
  for (int i = 0; i < 20; i++) /* until there is no room for another */
    report_both(&p, 2, 40 - i, 0.5 * i);
  record_both(&p, 5, &result, NULL);
  record_both(&p, 1, NULL, "not yet");
  tell_both(&p, 0, NAN);
  fail_both(&p, 1, "a longer reason than the last one");
  fail_both(&p, 4, "");
  retry_both(&p, 1);
  interrupt_both(&p, 2);
  tell_both(&p, 3, 7.5);
  tell_both(&p, 1, 8.5);
  ask_both(&p, 2, t);
  assert_int_equal(cocabo_trial_number(t[0]), 2);
  cocabo_trial_free(t[0]);
  cocabo_trial_free(t[1]);
  merge_both(&p);
  add_many_both(&p);
  ask_up_to_both(&p, MOST);
  copy_one(&p);
  open_or_create(&p);

  CALL_WITHOUT_MEMORY(cocabo_study_best(p.study, &found, &err), assert_null(found));
  assert_true(cocabo_trial_value(found) == 0.125);
  cocabo_trial_free(found);
  found = NULL;
  CALL_WITHOUT_MEMORY(cocabo_study_trial(p.study, 0, &found, &err), assert_null(found));
  assert_string_equal(cocabo_trial_reason(found), "value is nan");
  cocabo_trial_free(found);
  free_pair(&p);
}

static void what_is_expected_survives_lack_of_memory(void **state) {
  (void)state;
  static const char *const judges[] = {"mixed", "cocabo", "exp3bo", "smac"};
  for (int i = 0; i < 4; i++) {
    pair p = build_pair(judges[i]);
    cocabo_trial *best = NULL;
    const char *const names[] = {"deterministic"}, *const values[] = {"false"};
    double value = -1.0, se = -1.0, again, again_se;
    run_loop(&p);
    assert_ok(cocabo_study_change(p.study, names, values, 1, &err));
    assert_ok(cocabo_study_change(p.twin, names, values, 1, &err));
    CALL_WITHOUT_MEMORY(cocabo_study_best(p.study, &best, &err), assert_null(best));
    const int64_t number = cocabo_trial_number(best);
    CALL_WITHOUT_MEMORY(cocabo_study_expected(p.study, number, &value, &se, &err),
                        assert_true(value == -1.0 && se == -1.0));
    assert_ok(cocabo_study_expected(p.twin, number, &again, &again_se, &err));
    assert_true(value == again && se == again_se);
    assert_twins(&p);
    cocabo_trial_free(best);
    free_pair(&p);
  }
}

static void predicting_survives_lack_of_memory(void **state) {
  (void)state;
  static const char *const judges[] = {"mixed", "cocabo", "onehot", "exp3bo", "smac"};
  for (int i = 0; i < 5; i++)
    for (int noisy = 0; noisy < 2; noisy++) {
      pair p = build_pair(judges[i]);
      const cb_trial *told;
      const char *const names[] = {"deterministic"}, *const values[] = {"false"};
      cocabo_value points[2][4];
      cocabo_trial *trial;
      double mean[2] = {-1.0}, sd[2] = {-1.0}, feasible[2], again[2];
      run_loop(&p);
      if (noisy) {
        assert_ok(cocabo_study_change(p.study, names, values, 1, &err));
        assert_ok(cocabo_study_change(p.twin, names, values, 1, &err));
      }
      for (int k = 0; k < 2; k++) { /* of categories that have results */
        told = &cb_study_history(p.study)->trials[k];
        assert_ok(cocabo_study_trial(p.study, told->number, &trial, &err));
        assert_ok(cocabo_trial_values(trial, points[k], 4, &err));
        points[k][0] = cocabo_real(0.5);
        cocabo_trial_free(trial);
      }
      for (long k = 0, fine = 0; !fine; k++) {
        cb_mem_fail_after(k);
        const cocabo_status status =
            cocabo_study_predict(p.study, points[0], 2, mean, sd, feasible, &err);
        cb_mem_fail_after(-1);
        fine = status == COCABO_OK || status == COCABO_E_STATE; /* exp3bo may */
        assert_true(fine || status == COCABO_E_NO_MEMORY);
        assert_true(status == COCABO_OK || (mean[0] == -1.0 && sd[0] == -1.0));
        assert_true(k < 100000);
      }
      if (mean[0] != -1.0) {
        assert_ok(cocabo_study_predict(p.twin, points[0], 2, again, NULL, NULL, &err));
        assert_true(mean[0] == again[0] && mean[1] == again[1]);
      } else {
        assert_string_equal(judges[i], "exp3bo");
      }
      assert_twins(&p);
      free_pair(&p);
    }
}

static void importance_survives_lack_of_memory(void **state) {
  (void)state;
  pair p = build_pair("random");
  double share[4] = {-1.0}, se[4] = {-1.0}, again[4], explained = -1.0;
  run_loop(&p);
  CALL_WITHOUT_MEMORY(
      cocabo_study_importance(p.study, 4, share, se, &explained, &err), {
        assert_true(share[0] == -1.0 && se[0] == -1.0 && explained == -1.0);
        assert_twins(&p);
      });
  assert_ok(cocabo_study_importance(p.twin, 4, again, NULL, NULL, &err));
  assert_memory_equal(share, again, sizeof share);
  free_pair(&p);
}

static void change_both(pair *p, const char *name, const char *value) {
  const char *const names[] = {"durability", name}, *const values[] = {"normal", value};
  CALL_WITHOUT_MEMORY(cocabo_study_change(p->study, names, values, 2, &err),
                      assert_twins(p));
  assert_ok(cocabo_study_change(p->twin, names, values, 2, &err));
  assert_twins(p);
}

static void note_both(pair *p, const char *name, const char *value) {
  CALL_WITHOUT_MEMORY(cocabo_study_set_attr(p->study, name, value, &err),
                      assert_twins(p));
  assert_ok(cocabo_study_set_attr(p->twin, name, value, &err));
  assert_twins(p);
}

static void changing_survives_lack_of_memory(void **state) {
  (void)state;
  pair p = build_pair("cocabo");
  for (int i = 0; i < 10; i++) {
    char value[16];
    cocabo_trial *t[MOST];
    snprintf(value, sizeof value, "%d", 1 + i / 2);
    change_both(&p,
                i % 3 == 0   ? "kappa"
                : i % 3 == 1 ? "trials"
                             : "n_init",
                i % 3 == 1 ? "100" : value);
    note_both(&p, i % 2 == 0 ? "note" : value, "a text");
    note_both(&p, "note", value);
    ask_both(&p, 1, t);
    tell_both(&p, i, objective(t[0]));
    cocabo_trial_free(t[0]);
  }
  free_pair(&p);
}

/* Leases that are over before anybody looks. */
static void lease_both(pair *p, double seconds) {
  CALL_WITHOUT_MEMORY(cocabo_study_lease(p->study, "w", seconds, &err),
                      assert_twins(p));
  assert_ok(cocabo_study_lease(p->twin, "w", seconds, &err));
}

static cocabo_status count_lease(void *user, const cocabo_lease *lease,
                                 cocabo_error *e) {
  (void)e;
  *(int *)user += lease->trial >= 0;
  return COCABO_OK;
}

static void leases_survive_lack_of_memory(void **state) {
  (void)state;
  pair p = build_pair("random");
  cocabo_trial *t[MOST];
  lease_both(&p, 1e-9);
  ask_both(&p, 3, t);
  for (int i = 0; i < 3; i++)
    cocabo_trial_free(t[i]);
  lease_both(&p, 1000);
  /* An ask that fails after it has found trials stale leaves them so, and that is the
   * truth; so the twins are compared when both have asked. */
  memset(t, 0, sizeof t);
  CALL_WITHOUT_MEMORY(cocabo_study_ask(p.study, 4, t, &err), assert_null(t[0]));
  for (int i = 0; i < 4; i++)
    cocabo_trial_free(t[i]);
  assert_ok(cocabo_study_ask(p.twin, 4, t, &err));
  for (int i = 0; i < 4; i++)
    cocabo_trial_free(t[i]);
  assert_twins(&p);
  CALL_WITHOUT_MEMORY(cocabo_store_renew(p.store, "s", "w", 1e-9, &err), (void)0);
  char owner[COCABO_OWNER_SIZE];
  int n = 0;
  CALL_WITHOUT_MEMORY(cocabo_owner_name(owner, &err), (void)0);
  CALL_WITHOUT_MEMORY(cocabo_store_leases(p.store, "s", count_lease, &n, &err), n = 0);
  assert_int_equal(n, 4);
  free_pair(&p);
}

static void the_rest_survives_lack_of_memory(void **state) {
  (void)state;
  pair p = build_pair("mixed");
  cocabo_names *names = NULL;
  cocabo_report report = {.events = -7};
  run_loop(&p);
  CALL_WITHOUT_MEMORY(cocabo_store_studies(p.store, &names, &err), assert_null(names));
  cocabo_store *other = cocabo_store_new_memory();
  int64_t copied = -7, rest = -7;
  CALL_WITHOUT_MEMORY(cocabo_store_copy(p.store, "s", other, NULL, NULL, &copied, &err),
                      assert_int_equal(copied, -7));
  assert_ok(cocabo_store_copy(p.store, "s", other, NULL, NULL, &rest, &err));
  assert_int_equal(rest, 0);
  cocabo_store_free(other);
  cocabo_description description = {.best = -7};
  CALL_WITHOUT_MEMORY(cocabo_store_describe(p.store, "s", &description, &err),
                      assert_int_equal(description.best, -7));
  description.best = -7;
  CALL_WITHOUT_MEMORY(cocabo_study_describe(p.study, &description, &err),
                      assert_int_equal(description.best, -7));
  assert_int_equal(cocabo_names_count(names), 1);
  cocabo_names_free(names);
  CALL_WITHOUT_MEMORY(cocabo_study_verify(p.study, 4, &report, &err),
                      assert_int_equal(report.events, -7));
  assert_true(report.replayed > 0);
  assert_int_equal(report.differing, 0);
  CALL_WITHOUT_MEMORY(cocabo_store_delete(p.store, "s", &err), (void)0);
  free_pair(&p);
}

static void opening_and_syncing_survive_lack_of_memory(void **state) {
  (void)state;
  pair p = build_pair("random");
  run_loop(&p);
  cocabo_study *late = NULL, *early = p.study;
  CALL_WITHOUT_MEMORY(cocabo_study_open(&late, "s", p.store, &err), assert_null(late));
  p.study = late;
  assert_twins(&p);

  cocabo_trial *t[MOST]; /* the other handle has much to catch up with */
  for (int i = 0; i < 5; i++) {
    ask_both(&p, 4, t);
    for (int k = 0; k < 4; k++)
      cocabo_trial_free(t[k]);
    fail_both(&p, cocabo_study_count(late) - 1, "why");
  }
  p.study = early;
  CALL_WITHOUT_MEMORY(
      cocabo_study_sync(early, &err),
      assert_true(cocabo_study_count(early) <= cocabo_study_count(late)));
  assert_twins(&p);
  cocabo_study_free(late);
  free_pair(&p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ask_and_tell_survive_lack_of_memory),
      cmocka_unit_test(runs_survive_lack_of_memory),
      cmocka_unit_test(so_do_those_under_conditions_and_rules),
      cmocka_unit_test(everything_else_survives_lack_of_memory),
      cmocka_unit_test(what_is_expected_survives_lack_of_memory),
      cmocka_unit_test(predicting_survives_lack_of_memory),
      cmocka_unit_test(importance_survives_lack_of_memory),
      cmocka_unit_test(changing_survives_lack_of_memory),
      cmocka_unit_test(leases_survive_lack_of_memory),
      cmocka_unit_test(the_rest_survives_lack_of_memory),
      cmocka_unit_test(opening_and_syncing_survive_lack_of_memory),
  };
  return cmocka_run_group_tests_name("fault/alloc", tests, NULL, NULL);
}
