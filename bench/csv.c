/* csv.c - reads and writes results as rows of text. Every line is checked when a file
 * is read, and runs stay slices of its text. Where a writer may have died, a last line
 * that was cut is passed over. */
#include "csv.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "common/outfile.h"

#define COLUMNS "problem,method,batch,seed,iteration,evaluation,value,best,ask_seconds"

const char *bench_csv_header(bool timed) {
  return timed ? COLUMNS ",workers,time\n" : COLUMNS "\n";
}

cocabo_status bench_csv_append(front_buffer *text, const char *key,
                               const bench_row *row, cocabo_error *err) {
  CB_TRY(front_buffer_printf(text, err, "%s,%lld,%lld,%.17g,%.17g,%.6g", key,
                             (long long)row->iteration, (long long)row->evaluation,
                             row->value, row->best, row->ask_seconds));
  if (row->workers > 0)
    CB_TRY(front_buffer_printf(text, err, ",%lld,%.17g", (long long)row->workers,
                               row->time));
  return front_buffer_puts(text, "\n", err);
}

/* ---- one line ------------------------------------------------------------------- */

/* Steps over a field of text and the comma behind it. */
static bool skip_name(const char **cursor) {
  const size_t size = strcspn(*cursor, ",\n");
  const bool ok = size > 0 && (*cursor)[size] == ',';
  *cursor += size + ok;
  return ok;
}

static bool read_count(const char **cursor, int64_t *out) {
  if (!isdigit((unsigned char)**cursor))
    return false;
  char *end;
  *out = strtoll(*cursor, &end, 10);
  const bool ok = *end == ',' && *out <= INT32_MAX; /* so that sums do not overflow */
  *cursor = end + ok;
  return ok;
}

static bool read_number(const char **cursor, char delimiter, double *out) {
  const size_t size = strcspn(*cursor, ",\n");
  const bool ok = (*cursor)[size] == delimiter && cb_parse_result(*cursor, size, out);
  *cursor += size + ok;
  return ok;
}

static bool read_row(const char **cursor, bench_row *row) {
  *row = (bench_row){0};
  if (!read_count(cursor, &row->iteration) || !read_count(cursor, &row->evaluation) ||
      !read_number(cursor, ',', &row->value) || !read_number(cursor, ',', &row->best))
    return false;
  const char *seconds = *cursor;
  if (read_number(cursor, '\n', &row->ask_seconds))
    return true;
  *cursor = seconds;
  return read_number(cursor, ',', &row->ask_seconds) &&
         read_count(cursor, &row->workers) && row->workers > 0 &&
         read_number(cursor, '\n', &row->time);
}

/* A whole line: the start of a series of one row. */
static bool read_line(const char **cursor, bench_series *series, bench_row *row) {
  const char *text = *cursor;
  int64_t seed;
  *series = (bench_series){.text = text, .whole = true};
  if (!skip_name(cursor)) /* the problem */
    return false;
  if (!skip_name(cursor) || !read_count(cursor, &series->batch)) /* the method, ... */
    return false;
  series->group = (size_t)(*cursor - text) - 1;
  if (series->batch < 1 || !read_count(cursor, &seed))
    return false;
  series->key = (size_t)(*cursor - text) - 1;
  return read_row(cursor, row);
}

bench_row bench_csv_next(const char **cursor) {
  bench_series series;
  bench_row row = {0};
  read_line(cursor, &series, &row);
  return row;
}

/* ---- a whole text --------------------------------------------------------------- */

static void add_row(bench_series *series, const bench_row *row, const char *end) {
  if (row->iteration == 0 && series->init == series->rows)
    series->init++;
  const int64_t after = series->rows + 1 - series->init; /* rows behind the design */
  const int64_t iteration = (after + series->batch - 1) / series->batch;
  series->rows++;
  series->iterations = row->iteration;
  series->whole &= row->evaluation == series->rows && row->iteration == iteration;
  series->size = (size_t)(end - series->text);
}

static bool same_key(const bench_series *a, const bench_series *b) {
  return a->key == b->key && memcmp(a->text, b->text, a->key) == 0;
}

static cocabo_status append_series(bench_results *out, size_t *capacity,
                                   const bench_series *series, cocabo_error *err) {
  void *items = out->series;
  if (!cb_reserve(&items, capacity, out->n + 1, sizeof *out->series))
    return cb_no_memory(err);
  out->series = items;
  out->series[out->n++] = *series;
  return COCABO_OK;
}

/* The start of a line that may hold anything, fit for a sentence. */
enum { EXCERPT = 40 };
static const char *excerpt(const char *line, const char *end, char out[EXCERPT + 1]) {
  int size = 0;
  for (; line + size < end && line[size] != '\n' && size < EXCERPT; size++)
    out[size] = isprint((unsigned char)line[size]) ? line[size] : '?';
  out[size] = '\0';
  return out;
}

/* The first row says how many workers the file has. */
static cocabo_status check_workers(bench_results *out, const char *name, int64_t line,
                                   const bench_row *row, cocabo_error *err) {
  if (out->n == 0)
    out->workers = row->workers;
  if (row->workers == out->workers)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INVALID, "%s line %lld has %lld workers, want %lld",
                 name, (long long)line, (long long)row->workers,
                 (long long)out->workers);
}

static cocabo_status parse_rows(bench_results *out, const char *name, bool timed,
                                const char *text, const char *end, cocabo_error *err) {
  size_t capacity = 0;
  const char *cursor = text;
  for (int64_t line = 2; cursor < end; line++) {
    bench_series series;
    bench_row row;
    char start[EXCERPT + 1];
    if (!read_line(&cursor, &series, &row) || (row.workers > 0) != timed)
      return cb_fail(err, COCABO_E_INVALID,
                     "%s line %lld starts with \"%s\" and is no row of results", name,
                     (long long)line, excerpt(series.text, end, start));
    CB_TRY(check_workers(out, name, line, &row, err));
    if (out->n == 0 || !same_key(&out->series[out->n - 1], &series))
      CB_TRY(append_series(out, &capacity, &series, err));
    add_row(&out->series[out->n - 1], &row, cursor);
  }
  for (size_t i = 0; i < out->n; i++) {
    bench_series *s = &out->series[i];
    s->whole &= (s->rows - s->init) % s->batch == 0;
  }
  return COCABO_OK;
}

/* By bytes, the shorter first where one is the start of the other. */
static int compare_keys(const char *a, size_t n, const char *b, size_t m) {
  const int order = memcmp(a, b, n < m ? n : m);
  return order != 0 ? order : (n > m) - (n < m);
}

static int compare_series(const void *a, const void *b) {
  const bench_series *s = *(bench_series *const *)a, *t = *(bench_series *const *)b;
  return compare_keys(s->text, s->key, t->text, t->key);
}

static cocabo_status sort_by_key(bench_results *out, const char *name,
                                 cocabo_error *err) {
  out->by_key = cb_calloc(out->n, sizeof(bench_series *));
  if (!out->by_key)
    return cb_no_memory(err);
  for (size_t i = 0; i < out->n; i++)
    out->by_key[i] = &out->series[i];
  qsort(out->by_key, out->n, sizeof(bench_series *), compare_series);
  for (size_t i = 1; i < out->n; i++)
    if (same_key(out->by_key[i - 1], out->by_key[i]))
      return cb_fail(err, COCABO_E_INVALID, "%s has the run %.*s in two places", name,
                     (int)out->by_key[i]->key, out->by_key[i]->text);
  return COCABO_OK;
}

/* Length of the text that counts: up to the last newline. */
static cocabo_status check_end(const char *name, const front_buffer *text,
                               bool may_be_cut, size_t *size, cocabo_error *err) {
  *size = text->size;
  while (*size > 0 && text->data[*size - 1] != '\n')
    (*size)--;
  if (*size < text->size && !may_be_cut)
    return cb_fail(err, COCABO_E_INVALID,
                   "%s is cut in its last line; the command that wrote it repairs it",
                   name);
  return COCABO_OK;
}

static bool has_header(const front_buffer *text, bool timed, bool may_be_cut) {
  const char *header = bench_csv_header(timed);
  const size_t whole = strlen(header);
  const size_t size = text->size < whole ? text->size : whole;
  const bool same = size == 0 || memcmp(text->data, header, size) == 0;
  return same && (size == whole || may_be_cut);
}

static cocabo_status check_header(const char *name, const front_buffer *text,
                                  bool may_be_cut, bool *timed, cocabo_error *err) {
  *timed = has_header(text, true, may_be_cut);
  if (*timed || has_header(text, false, may_be_cut))
    return COCABO_OK;
  char start[EXCERPT + 1];
  return cb_fail(err, COCABO_E_INVALID,
                 "%s is not a file of results: it starts with \"%s\", want \"%s\"",
                 name, excerpt(text->data, text->data + text->size, start), COLUMNS);
}

static cocabo_status parse_text(bench_results *out, const char *name,
                                const front_buffer *text, bool may_be_cut,
                                cocabo_error *err) {
  bool timed;
  size_t size;
  CB_TRY(check_header(name, text, may_be_cut, &timed, err));
  CB_TRY(check_end(name, text, may_be_cut, &size, err));
  const size_t header = strlen(bench_csv_header(timed));
  if (size > header)
    CB_TRY(parse_rows(out, name, timed, text->data + header, text->data + size, err));
  return sort_by_key(out, name, err);
}

cocabo_status bench_results_parse(bench_results *out, const char *name,
                                  const front_buffer *text, bool may_be_cut,
                                  cocabo_error *err) {
  *out = (bench_results){0};
  const cocabo_status status = parse_text(out, name, text, may_be_cut, err);
  if (status != COCABO_OK)
    bench_results_free(out);
  return status;
}

cocabo_status bench_results_load(bench_results *out, const char *path,
                                 front_buffer *text, cocabo_error *err) {
  *out = (bench_results){0};
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return cb_fail(err, COCABO_E_INVALID, "cannot read %s: %s", path, strerror(errno));
  const cocabo_status status = front_read_all(fd, path, text, err);
  close(fd);
  CB_TRY(status);
  return bench_results_parse(out, path, text, false, err);
}

/* Appends a file's text to that of the files before it, under one header. */
static cocabo_status join_file(front_buffer *joint, const char *first, int64_t *workers,
                               const char *path, cocabo_error *err) {
  front_buffer text = {0};
  bench_results results = {0};
  cocabo_status status = bench_results_load(&results, path, &text, err);
  const size_t header = strlen(bench_csv_header(results.workers > 0));
  if (status == COCABO_OK && results.n > 0) {
    if (joint->size == 0)
      *workers = results.workers;
    const size_t from = joint->size > 0 ? header : 0;
    status =
        results.workers == *workers
            ? front_buffer_append(joint, text.data + from, text.size - from, err)
            : cb_fail(err, COCABO_E_INVALID,
                      "%s has %lld simulated workers and %s %lld, want files of "
                      "one kind",
                      path, (long long)results.workers, first, (long long)*workers);
  }
  bench_results_free(&results);
  front_buffer_free(&text);
  return status;
}

/* Each text is checked by itself first, so that sentences name the file and its line.
 */
cocabo_status bench_results_load_all(bench_results *out, int n,
                                     const char *const *paths, front_buffer *text,
                                     cocabo_error *err) {
  int64_t workers = 0;
  *out = (bench_results){0};
  if (n == 1)
    return bench_results_load(out, paths[0], text, err);
  for (int i = 0; i < n; i++)
    CB_TRY(join_file(text, paths[0], &workers, paths[i], err));
  if (text->size == 0)
    CB_TRY(front_buffer_puts(text, bench_csv_header(false), err));
  return bench_results_parse(out, "the list of files", text, false, err);
}

void bench_results_free(bench_results *results) {
  cb_free(results->series);
  cb_free(results->by_key);
  *results = (bench_results){0};
}

const bench_series *bench_results_find(const bench_results *results, const char *key) {
  size_t low = 0, high = results->n;
  while (low < high) {
    const size_t middle = low + (high - low) / 2;
    const bench_series *s = results->by_key[middle];
    const int order = compare_keys(key, strlen(key), s->text, s->key);
    if (order == 0)
      return s;
    if (order < 0)
      high = middle;
    else
      low = middle + 1;
  }
  return NULL;
}

int64_t bench_results_longest(const bench_results *results) {
  int64_t rows = 0;
  for (size_t i = 0; i < results->n; i++)
    if (results->series[i].rows > rows)
      rows = results->series[i].rows;
  return rows;
}

/* ---- one run -------------------------------------------------------------------- */

void bench_series_bests(const bench_series *series, double *by_now) {
  const char *cursor = series->text;
  int64_t rows = 0; /* of the iteration so far */
  for (int64_t t = 0; t <= series->rows; t++)
    by_now[t] = NAN;
  for (int64_t i = 0, iteration = 0; i < series->rows; i++) {
    const bench_row row = bench_csv_next(&cursor);
    rows = row.iteration == iteration ? rows + 1 : 1;
    iteration = row.iteration;
    if (iteration <= series->rows && (iteration == 0 || rows == series->batch))
      by_now[iteration] = row.best;
  }
}

void bench_series_times(const bench_series *series, double *time, double *best) {
  const char *cursor = series->text;
  for (int64_t i = 0; i < series->rows; i++) {
    const bench_row row = bench_csv_next(&cursor);
    time[i] = row.time;
    best[i] = row.best;
  }
}

bench_names bench_series_names(const bench_series *series) {
  bench_names names = {.problem = series->text};
  names.problem_size = (int)strcspn(names.problem, ",");
  names.method = names.problem + names.problem_size + 1;
  names.method_size = (int)strcspn(names.method, ",");
  return names;
}
