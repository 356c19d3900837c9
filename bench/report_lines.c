/* report_lines.c - lines of JSON, as commands print them with --json, as a table: see
 * report.h. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "base/json_tree.h"
#include "base/mem.h"
#include "base/status.h"
#include "common/outfile.h"
#include "report.h"

/* One line of the file. */
typedef struct score {
  cb_json_tree json; /* what the texts belong to */
  /* Of `surrogate` only: */
  const char *problem, *model, *scale;
  double mean, se;
  int64_t repeats;
} score;

typedef struct scores {
  size_t n, capacity;
  score *items;
  bool surrogate; /* all lines are its */
} scores;

static void scores_clear(scores *s) {
  for (size_t i = 0; i < s->n; i++)
    cb_json_tree_free(&s->items[i].json);
  cb_free(s->items);
}

/* ---- reading -------------------------------------------------------------------- */

static bool is_flat(const cb_json_node *json) {
  if (json->type != CB_JSON_OBJECT)
    return false;
  for (const cb_json_node *item = cb_json_first(json); item;
       item = cb_json_next(json, item))
    if (item->type == CB_JSON_OBJECT || item->type == CB_JSON_ARRAY)
      return false;
  return true;
}

/* Is it a line of `surrogate`? */
static bool unpack(score *s) {
  const cb_json_node *line = s->json.nodes;
  const cb_json_node *repeats = cb_json_find(line, "repeats");
  s->problem = cb_json_text(cb_json_find(line, "problem"));
  s->model = cb_json_text(cb_json_find(line, "model"));
  s->scale = cb_json_text(cb_json_find(line, "scale"));
  if (!s->problem || !s->model || !s->scale ||
      !cb_json_number(cb_json_find(line, "mean"), &s->mean) ||
      !cb_json_number(cb_json_find(line, "se"), &s->se) ||
      !cb_json_is(repeats, CB_JSON_INTEGER))
    return false;
  s->repeats = repeats->value.as.integer;
  return true;
}

static cocabo_status add_line(scores *s, const char *path, size_t number,
                              const char *line, size_t size, cocabo_error *err) {
  score new = {0};
  void *items = s->items;
  cocabo_status status = cb_json_read_all(&new.json, line, size, err);
  if (status == COCABO_E_INVALID || (status == COCABO_OK && !is_flat(new.json.nodes)))
    status = cb_fail(err, COCABO_E_INVALID,
                     "%s line %zu is no line of --json: want an object of plain values",
                     path, number);
  if (status == COCABO_OK &&
      !cb_reserve(&items, &s->capacity, s->n + 1, sizeof *s->items))
    status = cb_no_memory(err);
  if (status != COCABO_OK) {
    cb_json_tree_free(&new.json);
    return status;
  }
  s->surrogate &= unpack(&new);
  s->items = items;
  s->items[s->n++] = new;
  return COCABO_OK;
}

static cocabo_status read_lines(scores *s, const char *path, const front_buffer *text,
                                cocabo_error *err) {
  const char *line = text->data, *end = text->data + text->size;
  s->surrogate = true;
  for (size_t number = 1; line < end; number++) {
    const char *stop = memchr(line, '\n', (size_t)(end - line));
    stop = stop ? stop : end;
    if (stop > line)
      CB_TRY(add_line(s, path, number, line, (size_t)(stop - line), err));
    line = stop + 1;
  }
  if (s->n == 0)
    return cb_fail(err, COCABO_E_INVALID, "%s is empty", path);
  return COCABO_OK;
}

static cocabo_status read_file(scores *s, const char *path, cocabo_error *err) {
  front_buffer text = {0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return cb_fail(err, COCABO_E_INVALID, "cannot read %s: %s", path, strerror(errno));
  cocabo_status status = front_read_all(fd, path, &text, err);
  close(fd);
  if (status == COCABO_OK)
    status = read_lines(s, path, &text, err);
  front_buffer_free(&text);
  return status;
}

/* ---- the table: a row for a problem and scale, a column for a model ---------------
 */

static bool same_row(const score *a, const score *b) {
  return strcmp(a->problem, b->problem) == 0 && strcmp(a->scale, b->scale) == 0;
}

static bool is_first_of_row(const scores *s, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (same_row(&s->items[k], &s->items[i]))
      return false;
  return true;
}

static bool is_first_of_model(const scores *s, size_t i) {
  for (size_t k = 0; k < i; k++)
    if (strcmp(s->items[k].model, s->items[i].model) == 0)
      return false;
  return true;
}

/* Of what was measured again, the last counts. */
static const score *find_score(const scores *s, const score *row, const char *model) {
  for (size_t i = s->n; i-- > 0;)
    if (same_row(&s->items[i], row) && strcmp(s->items[i].model, model) == 0)
      return &s->items[i];
  return NULL;
}

static double best_of(const scores *s, const score *row) {
  double best = -INFINITY;
  for (size_t i = 0; i < s->n; i++) {
    const score *found = find_score(s, row, s->items[i].model);
    best = found ? fmax(best, found->mean) : best;
  }
  return best;
}

static void put_row(bench_page *page, const scores *s, const score *row) {
  bench_page_put(page, "<tr><th scope=\"row\">");
  bench_page_text(page, row->problem);
  bench_page_put(page, "</th><td>");
  bench_page_text(page, row->scale);
  bench_page_put(page, "</td>");
  for (size_t i = 0; i < s->n; i++) {
    if (!is_first_of_model(s, i))
      continue;
    const score *found = find_score(s, row, s->items[i].model);
    if (found)
      bench_page_put(page,
                     found->mean == best_of(s, row)
                         ? "<td><b>%.5g</b> <small>(%.2g)</small></td>"
                         : "<td>%.5g <small>(%.2g)</small></td>",
                     found->mean, found->se);
    else
      bench_page_put(page, "<td>\u2013</td>");
  }
  bench_page_put(page, "<td>%lld</td></tr>\n", (long long)row->repeats);
}

static void put_table(bench_page *page, const scores *s) {
  bench_page_put(page, "<div class=\"wide\"><table>\n<caption><b>Surrogates</b>: "
                       "log predictive density of test points, mean and standard error "
                       "over the repeats; the best of each row bold</caption>\n"
                       "<thead><tr><th scope=\"col\">problem</th>"
                       "<th scope=\"col\">scale</th>");
  for (size_t i = 0; i < s->n; i++)
    if (is_first_of_model(s, i)) {
      bench_page_put(page, "<th scope=\"col\">");
      bench_page_text(page, s->items[i].model);
      bench_page_put(page, "</th>");
    }
  bench_page_put(page, "<th scope=\"col\">repeats</th></tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < s->n; i++)
    if (is_first_of_row(s, i))
      put_row(page, s, &s->items[i]);
  bench_page_put(page, "</tbody>\n</table></div>\n");
}

/* ---- any other: a row for a line ------------------------------------------------ */

/* NULL: the line has no such key. */
static void put_value(bench_page *page, const cb_json_node *value) {
  switch (value ? value->type : CB_JSON_NULL) {
  case CB_JSON_STRING:
    bench_page_text(page, value->value.as.text);
    break;
  case CB_JSON_INTEGER:
    bench_page_put(page, "%lld", (long long)value->value.as.integer);
    break;
  case CB_JSON_REAL:
    bench_page_put(page, "%.4g", value->value.as.real);
    break;
  case CB_JSON_BOOL:
    bench_page_put(page, value->value.as.boolean ? "true" : "false");
    break;
  default:
    bench_page_put(page, "\u2013");
  }
}

/* The columns are those of the first line. */
static void put_plain_table(bench_page *page, const scores *s) {
  const cb_json_node *first = s->items[0].json.nodes;
  bench_page_put(page, "<div class=\"wide\"><table>\n<thead><tr>");
  for (const cb_json_node *column = cb_json_first(first); column;
       column = cb_json_next(first, column)) {
    bench_page_put(page, "<th scope=\"col\">");
    bench_page_text(page, column->key);
    bench_page_put(page, "</th>");
  }
  bench_page_put(page, "</tr></thead>\n<tbody>\n");
  for (size_t i = 0; i < s->n; i++) {
    bench_page_put(page, "<tr>");
    for (const cb_json_node *column = cb_json_first(first); column;
         column = cb_json_next(first, column)) {
      bench_page_put(page, "<td>");
      put_value(page, cb_json_find(s->items[i].json.nodes, column->key));
      bench_page_put(page, "</td>");
    }
    bench_page_put(page, "</tr>\n");
  }
  bench_page_put(page, "</tbody>\n</table></div>\n");
}

cocabo_status bench_report_lines(bench_page *page, const char *path,
                                 cocabo_error *err) {
  scores s = {0};
  const cocabo_status status = read_file(&s, path, err);
  if (status == COCABO_OK)
    (s.surrogate ? put_table : put_plain_table)(page, &s);
  scores_clear(&s);
  return status;
}
