/* What figures and reports are made of: groups of runs, pairs, looks and the page; and
 * all of it with the k-th allocation failing. */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "common/svg.h"
#include "figure.h"
#include "groups.h"
#include "looks.h"
#include "pairs.h"
#include "report.h"

static cocabo_error err;

/* ---- results -------------------------------------------------------------------- */

enum { LAST = 3 };

/* Runs of `method` from seeds 0 .. n-1: best is 0.37 t + 0.11 seed - lag. */
static void add_runs(front_buffer *text, const char *problem, const char *method, int n,
                     double lag) {
  for (int seed = 0; seed < n; seed++) {
    char key[80];
    snprintf(key, sizeof key, "%s,%s,1,%d", problem, method, seed);
    for (int t = 0; t <= LAST; t++) {
      const double best = 0.37 * t + 0.11 * seed - lag;
      const bench_row row = {.iteration = t,
                             .evaluation = t + 1,
                             .value = best,
                             .best = best,
                             .ask_seconds = t == 0 ? 9.0 : 0.25 * t};
      assert_ok(bench_csv_append(text, key, &row, &err));
    }
  }
}

static front_buffer make_text(void) {
  front_buffer text = {0};
  assert_ok(front_buffer_puts(&text, bench_csv_header(false), &err));
  add_runs(&text, "func-2c", "random", 3, 2.9);
  add_runs(&text, "func-2c", "mixed", 2, 1.3);
  add_runs(&text, "elsewhere", "mixed", 2, 0.7);
  return text;
}

/* ---- groups --------------------------------------------------------------------- */

static void means_are_over_seeds_and_times_over_later_asks(void **state) {
  (void)state;
  front_buffer text = make_text();
  bench_results results;
  bench_groups groups;
  assert_ok(bench_results_parse(&results, "text", &text, false, &err));
  assert_ok(bench_groups_follow(&groups, &results, &err));
  assert_int_equal(groups.n, 3);
  assert_int_equal(groups.n_at, LAST + 1);
  const bench_group *g = &groups.items[0];
  assert_int_equal(g->runs, 3);
  for (int t = 0; t <= LAST; t++) {
    assert_close(g->best[t].mean, 0.37 * t + 0.11 - 2.9, 1e-14);
    assert_close(bench_mean_se(&g->best[t]), 0.11 / sqrt(3.0), 1e-14);
    assert_true(bench_group_is_at(g, t));
  }
  assert_close(g->ask.mean, 0.5, 1e-14);
  assert_close(bench_series_optimum(g->first), 0.20632569069797547, 1e-14);
  assert_true(isnan(bench_series_optimum(groups.items[2].first)));
  bench_groups_free(&groups);
  bench_results_free(&results);
  front_buffer_free(&text);
}

/* ---- looks ---------------------------------------------------------------------- */

static void looks_differ_by_more_than_their_colour(void **state) {
  (void)state;
  static const char *const names[] = {
      "mixed",  "cocabo-0.0", "cocabo-0.5", "cocabo-1.0", "cocabo-auto", "onehot",
      "exp3bo", "smac",       "tpe",        "sobol",      "random"};
  enum { N = sizeof names / sizeof names[0] };
  for (int i = 0; i < N; i++) {
    assert_int_equal(bench_look_rank(names[i], strlen(names[i])), i);
    for (int k = 0; k < i; k++) {
      const bench_look a = bench_look_of(i), b = bench_look_of(k);
      assert_int_not_equal(a.colour, b.colour);
      assert_true(a.dash != b.dash || a.shape != b.shape || a.filled != b.filled);
      assert_true(a.shape != b.shape || a.filled != b.filled);
    }
  }
  assert_int_equal(bench_look_rank("mixed-2", 7), -1);
  assert_int_equal(bench_look_rank("mix", 3), -1);
}

/* ---- without memory ------------------------------------------------------------- */

/* Repeats the call until it succeeds, with one more allocation granted each time. */
#define CALL_WITHOUT_MEMORY(call, clear)                                               \
  do {                                                                                 \
    for (long k_ = 0;; k_++) {                                                         \
      cb_mem_fail_after(k_);                                                           \
      const cocabo_status status_ = (call);                                            \
      cb_mem_fail_after(-1);                                                           \
      if (status_ == COCABO_OK)                                                        \
        break;                                                                         \
      assert_int_equal(status_, COCABO_E_NO_MEMORY);                                   \
      clear;                                                                           \
      assert_true(k_ < 10000);                                                         \
    }                                                                                  \
  } while (0)

static void curves_need_memory(void **state) {
  (void)state;
  front_buffer text = make_text();
  bench_results results;
  bench_groups groups;
  canvas c;
  CALL_WITHOUT_MEMORY(bench_results_parse(&results, "text", &text, false, &err), );
  CALL_WITHOUT_MEMORY(bench_groups_follow(&groups, &results, &err),
                      assert_null(groups.items));
  const bench_curves what = {.groups = &groups, .title = "curves"};
  CALL_WITHOUT_MEMORY(bench_draw_curves(&what, &c, &err), canvas_free(&c));
  canvas_free(&c);
  bench_groups_free(&groups);
  bench_results_free(&results);
  front_buffer_free(&text);
}

static void pairs_need_memory(void **state) {
  (void)state;
  front_buffer text = make_text();
  bench_results results;
  assert_ok(bench_results_parse(&results, "text", &text, false, &err));
  const bench_pairs start = {
      .path = "text", .results = &results, .method = {"mixed", "random"}, .at = -1};
  bench_pairs pairs = start;
  CALL_WITHOUT_MEMORY(bench_pairs_compare(&pairs, &err),
                      (bench_pairs_free(&pairs), pairs = start));
  assert_int_equal(pairs.n_groups, 1);
  assert_int_equal(pairs.groups[0].wins[BENCH_A], 2);
  bench_pairs_free(&pairs);
  bench_results_free(&results);
  front_buffer_free(&text);
}

static void note_nothing(void *user) {
  (void)user;
}

static void categories_need_memory(void **state) {
  (void)state;
  static const front_texts no_settings = {0};
  const bench_experiment e = {.problem = bench_problem_find("func-2c"),
                              .method = bench_method_find("cocabo-0.5"),
                              .batch = 1,
                              .init = 5,
                              .iterations = 4,
                              .settings = &no_settings};
  cocabo_study *study;
  front_buffer rows = {0};
  canvas c;
  assert_ok(bench_experiment_study(&e, &study, &err));
  assert_ok(bench_experiment_play(&e, study, note_nothing, NULL, &rows, &err));
  CALL_WITHOUT_MEMORY(bench_draw_categories(&e, study, NULL, &c, &err),
                      canvas_free(&c));
  assert_non_null(strstr(front_buffer_text(&c.out, &err), "chance of being drawn"));
  canvas_free(&c);
  front_buffer_free(&rows);
  cocabo_study_free(study);
}

/* A page remembers that it ran out of memory, and says so at its end. */
static cocabo_status make_page(bench_page *page, const char *path) {
  *page = (bench_page){0};
  CB_TRY(bench_report_results(page, path, &err));
  return bench_page_end(page, &err);
}

static void sections_of_a_report_need_memory(void **state) {
  (void)state;
  char path[] = "/tmp/cocabo-test-figure-XXXXXX";
  const int fd = mkstemp(path);
  front_buffer text = make_text();
  bench_page page;
  assert_true(fd >= 0);
  assert_int_equal(write(fd, text.data, text.size), (ssize_t)text.size);
  close(fd);
  CALL_WITHOUT_MEMORY(make_page(&page, path), bench_page_free(&page));
  bench_page_free(&page);
  unlink(path);
  front_buffer_free(&text);
}

/* ---- text ----------------------------------------------------------------------- */

static void nothing_in_a_text_becomes_markup(void **state) {
  (void)state;
  bench_page page = {0};
  bench_page_text(&page, "a<b>&\"c\" \xff\x01 \u00e9");
  bench_page_text_of(&page, "<i>", 2);
  assert_string_equal(front_buffer_text(&page.out, &err),
                      "a&lt;b&gt;&amp;&quot;c&quot; ?? \u00e9&lt;i");
  bench_page_free(&page);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(means_are_over_seeds_and_times_over_later_asks),
      cmocka_unit_test(looks_differ_by_more_than_their_colour),
      cmocka_unit_test(curves_need_memory),
      cmocka_unit_test(pairs_need_memory),
      cmocka_unit_test(categories_need_memory),
      cmocka_unit_test(sections_of_a_report_need_memory),
      cmocka_unit_test(nothing_in_a_text_becomes_markup),
  };
  return cmocka_run_group_tests_name("bench/figure", tests, NULL, NULL);
}
