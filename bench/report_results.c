/* report_results.c - the section of a file of results: see report.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "common/scale.h"
#include "figure.h"
#include "pairs.h"
#include "report.h"

enum { MOST_COLUMNS = 8 };

typedef struct section {
  bench_page *page;
  const char *path;
  front_buffer text;
  bench_results results;
  bench_groups all;     /* all along, for figures */
  bench_groups columns; /* where tables look */
} section;

/* ---- figures -------------------------------------------------------------------- */

/* A figure that has nothing to show is left out. */
static cocabo_status put_figure(const section *s, bool regret, const char *caption,
                                cocabo_error *err) {
  const bench_curves what = {.groups = &s->all, .regret = regret};
  canvas c;
  cocabo_status status = bench_draw_curves(&what, &c, err);
  if (status == COCABO_OK) {
    bench_page_put(s->page, "<figure>\n");
    bench_page_canvas(s->page, &c);
    bench_page_put(s->page, "<figcaption>%s</figcaption>\n</figure>\n", caption);
  }
  canvas_free(&c);
  return status == COCABO_E_NOT_FOUND ? COCABO_OK : status;
}

/* ---- which rows and columns ----------------------------------------------------- */

/* The usual iterations, as far as there are any, and the last one; or round times. */
static int choose_columns(const section *s, double at[MOST_COLUMNS]) {
  static const double usual[] = {0, 25, 50, 100, 150, 200};
  const double last = s->all.at[s->all.n_at - 1];
  int n = 0;
  if (s->all.timed) {
    const scale along = {.low = 0.0, .high = last > 0.0 ? last : 1.0};
    ticks t;
    ticks_find(&along, MOST_COLUMNS - 1, &t);
    for (int i = 0; i < t.n; i++)
      if (t.at[i] > 0.0)
        at[n++] = t.at[i];
    return n;
  }
  for (size_t i = 0; i < sizeof usual / sizeof usual[0]; i++)
    if (usual[i] <= last)
      at[n++] = usual[i];
  if (at[n - 1] < last)
    at[n++] = last;
  return n;
}

/* Groups of one problem and batch share a table. */
static bool same_table(const bench_group *a, const bench_group *b) {
  return a->first->batch == b->first->batch && bench_same_problem(a->first, b->first);
}

static bool is_first_of_table(const section *s, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (same_table(&s->columns.items[k], &s->columns.items[i]))
      return false;
  return true;
}

static bool is_reached(const section *s, const bench_group *table, int64_t column) {
  for (size_t i = 0; i < s->columns.n; i++)
    if (same_table(&s->columns.items[i], table) &&
        s->columns.items[i].best[column].n > 0)
      return true;
  return false;
}

/* Is that the largest mean of its column, and others are smaller? */
static bool is_best(const section *s, const bench_group *group, int64_t column) {
  bool beats = false;
  for (size_t i = 0; i < s->columns.n; i++) {
    const bench_group *g = &s->columns.items[i];
    if (!same_table(g, group) || g->best[column].n == 0)
      continue;
    if (g->best[column].mean > group->best[column].mean)
      return false;
    beats |= g->best[column].mean < group->best[column].mean;
  }
  return beats;
}

/* The group with the best mean in the last column that all of the table reach. */
static const bench_group *find_leader(const section *s, const bench_group *table) {
  const bench_group *leader = NULL;
  for (int64_t k = s->columns.n_at; k-- > 0 && !leader;) {
    bool all = true;
    for (size_t i = 0; i < s->columns.n; i++) {
      const bench_group *g = &s->columns.items[i];
      if (!same_table(g, table))
        continue;
      all &= g->best[k].n > 0;
      if (all && (!leader || g->best[k].mean > leader->best[k].mean))
        leader = g;
    }
    leader = all ? leader : NULL;
  }
  return leader;
}

/* ---- tables --------------------------------------------------------------------- */

/* "mean (se)", bold where it is the best of its column, with the number of runs where
 * it is not all of the group's. */
static void put_cell(const section *s, const bench_group *g, int64_t column) {
  const bench_mean *m = &g->best[column];
  if (m->n == 0) {
    bench_page_put(s->page, "<td>\u2013</td>");
    return;
  }
  bench_page_put(s->page, is_best(s, g, column) ? "<td><b>%.4g</b>" : "<td>%.4g",
                 m->mean);
  if (m->n > 1)
    bench_page_put(s->page, " <small>(%.2g)</small>", bench_mean_se(m));
  if (m->n < g->runs)
    bench_page_put(s->page, " <small>of %lld</small>", (long long)m->n);
  bench_page_put(s->page, "</td>");
}

static char *copy_method(const bench_group *g) {
  const bench_names n = bench_series_names(g->first);
  char *name = cb_calloc((size_t)n.method_size + 1, 1);
  if (name)
    memcpy(name, n.method, (size_t)n.method_size);
  return name;
}

static void put_pairs(const section *s, const bench_pairs *pairs,
                      const bench_group *leader) {
  for (size_t i = 0; i < pairs->n_groups; i++) {
    const bench_pair_group *g = &pairs->groups[i];
    if (!bench_same_group(g->first, leader->first))
      continue;
    bench_page_put(s->page, "<td>%lld\u2013%lld\u2013%lld</td><td>%.3g</td>",
                   (long long)g->wins[BENCH_B], (long long)g->ties,
                   (long long)g->wins[BENCH_A], g->p);
    return;
  }
  bench_page_put(s->page, "<td>\u2013</td><td>\u2013</td>");
}

/* Against the best of the table; methods without a seed in common have nothing there.
 */
static cocabo_status put_comparison(const section *s, const bench_group *g,
                                    const bench_group *leader, cocabo_error *err) {
  if (!leader || g == leader) {
    bench_page_put(s->page, "<td></td><td></td>");
    return COCABO_OK;
  }
  char *a = copy_method(leader), *b = copy_method(g);
  bench_pairs pairs = {
      .path = s->path, .results = &s->results, .method = {a, b}, .at = -1};
  cocabo_status status = a && b ? bench_pairs_compare(&pairs, err) : cb_no_memory(err);
  if (status == COCABO_E_NOT_FOUND) {
    bench_page_put(s->page, "<td>\u2013</td><td>\u2013</td>");
    status = COCABO_OK;
  } else if (status == COCABO_OK) {
    put_pairs(s, &pairs, leader);
  }
  bench_pairs_free(&pairs);
  cb_free(a);
  cb_free(b);
  return status;
}

static cocabo_status put_row(const section *s, const bench_group *g,
                             const bench_group *leader, cocabo_error *err) {
  const bench_names n = bench_series_names(g->first);
  bench_page_put(s->page, "<tr><th scope=\"row\">");
  bench_page_text_of(s->page, n.method, n.method_size);
  bench_page_put(s->page, "</th><td>%lld</td>", (long long)g->runs);
  for (int64_t k = 0; k < s->columns.n_at; k++)
    if (is_reached(s, g, k))
      put_cell(s, g, k);
  if (g->ask.n > 0)
    bench_page_put(s->page, "<td>%.3g</td>", 1e3 * g->ask.mean);
  else
    bench_page_put(s->page, "<td>\u2013</td>");
  CB_TRY(put_comparison(s, g, leader, err));
  bench_page_put(s->page, "</tr>\n");
  return COCABO_OK;
}

static void put_head(const section *s, const bench_group *table) {
  const bench_names n = bench_series_names(table->first);
  const double optimum = bench_series_optimum(table->first);
  char number[TICK_LABEL];
  bench_page_put(s->page, "<div class=\"wide\"><table>\n<caption><b>");
  bench_page_text_of(s->page, n.problem, n.problem_size);
  bench_page_put(s->page, "</b>");
  if (table->first->batch > 1)
    bench_page_put(s->page, ", batches of %lld", (long long)table->first->batch);
  if (!isnan(optimum))
    bench_page_put(s->page, ", optimum %s", scale_number(optimum, 6, number));
  bench_page_put(s->page, "</caption>\n<thead><tr><th scope=\"col\">method</th>"
                          "<th scope=\"col\">runs</th>");
  for (int64_t k = 0; k < s->columns.n_at; k++)
    if (is_reached(s, table, k))
      bench_page_put(s->page, "<th scope=\"col\">%s = %s</th>",
                     s->columns.timed ? "time" : "t",
                     scale_number(s->columns.at[k], 6, number));
  bench_page_put(s->page, "<th scope=\"col\">ask, ms</th><th scope=\"col\">against the "
                          "best</th><th scope=\"col\">p</th></tr></thead>\n<tbody>\n");
}

static cocabo_status put_table(const section *s, const bench_group *table,
                               cocabo_error *err) {
  const bench_group *leader = find_leader(s, table);
  put_head(s, table);
  for (size_t i = 0; i < s->columns.n; i++)
    if (same_table(&s->columns.items[i], table))
      CB_TRY(put_row(s, &s->columns.items[i], leader, err));
  bench_page_put(s->page, "</tbody>\n</table></div>\n");
  return COCABO_OK;
}

/* ---- the section ---------------------------------------------------------------- */

static void put_summary(const section *s) {
  bench_page_put(s->page, "<p class=\"quiet\">%zu runs", s->results.n);
  if (s->results.workers > 0)
    bench_page_put(s->page, " with %lld simulated workers",
                   (long long)s->results.workers);
  bench_page_put(s->page,
                 ". Tables: the mean of the best value by %s, its standard error in "
                 "brackets, the best of each column bold; the mean time of an ask for "
                 "each of its points; wins, ties and losses against the best method, "
                 "seed by seed, and Wilcoxon\u2019s p.</p>\n",
                 s->all.timed ? "then" : "iteration t");
}

static cocabo_status put_section(section *s, cocabo_error *err) {
  double at[MOST_COLUMNS];
  CB_TRY(bench_results_load(&s->results, s->path, &s->text, err));
  if (s->results.n == 0)
    return cb_fail(err, COCABO_E_NOT_FOUND, "%s has no runs", s->path);
  CB_TRY(bench_groups_follow(&s->all, &s->results, err));
  const int n = choose_columns(s, at);
  CB_TRY(bench_groups_make(&s->columns, &s->results, s->all.timed, n, at, err));
  put_summary(s);
  CB_TRY(put_figure(s, false, "Best value so far.", err));
  for (size_t i = 0; i < s->columns.n; i++)
    if (is_first_of_table(s, i))
      CB_TRY(put_table(s, &s->columns.items[i], err));
  return put_figure(s, true, "Regret: what is missing to the optimum.", err);
}

cocabo_status bench_report_results(bench_page *page, const char *path,
                                   cocabo_error *err) {
  section s = {.page = page, .path = path};
  const cocabo_status status = put_section(&s, err);
  bench_groups_free(&s.all);
  bench_groups_free(&s.columns);
  bench_results_free(&s.results);
  front_buffer_free(&s.text);
  return status;
}
