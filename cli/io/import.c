/* import.c - reads trials from CSV or JSON. Columns are checked against the space, and
 * values row by row: what does not fit is left out, with its line or entry. */
#include "io/import.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/base.h"
#include "common/domain.h"
#include "io/output.h"
#include "io/scalar.h"
#include "io/sheet.h"

/* ---- rows ------------------------------------------------------------------------ */

static void clear_row(import_row *row) {
  cb_free(row->values);
  cb_free(row->reason);
  for (size_t i = 0; i < row->n_metrics; i++)
    cb_free((char *)row->metrics[i].name);
  cb_free(row->metrics);
  cli_notes_free(&row->notes);
}

void import_free(import_rows *rows) {
  for (size_t i = 0; i < rows->n; i++)
    clear_row(&rows->items[i]);
  cb_free(rows->items);
  rows->items = NULL;
  rows->n = rows->capacity = rows->n_misfits = 0;
}

static cocabo_status new_row(import_rows *rows, size_t place, import_row **out,
                             cocabo_error *err) {
  void *items = rows->items;
  if (!cb_reserve(&items, &rows->capacity, rows->n + 1, sizeof *rows->items))
    return cb_no_memory(err);
  rows->items = items;
  cocabo_value *values = cb_calloc(cocabo_space_count(rows->space), sizeof *values);
  if (!values)
    return cb_no_memory(err);
  *out = &rows->items[rows->n++];
  for (size_t i = 0; i < cocabo_space_count(rows->space); i++)
    values[i].type = COCABO_ABSENT;
  **out = (import_row){.place = place, .values = values, .result = NAN};
  return COCABO_OK;
}

/* The last row, which has been read with this status: it is kept, or left out because
 * of what is wrong with it, or reading ends for want of memory. */
static cocabo_status end_row(import_rows *rows, cocabo_status status,
                             cocabo_error *err) {
  if (status != COCABO_E_INVALID && status != COCABO_E_RANGE)
    return status;
  clear_row(&rows->items[--rows->n]);
  if (rows->n_misfits < IMPORT_NAMED)
    rows->misfits[rows->n_misfits] = *err;
  rows->n_misfits++;
  return COCABO_OK;
}

static cocabo_status refuse(const import_rows *rows, size_t place, cocabo_error *err,
                            const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static cocabo_status refuse(const import_rows *rows, size_t place, cocabo_error *err,
                            const char *fmt, ...) {
  char name[CB_SHOWN], text[2 * sizeof err->message]; /* cb_fail cuts it */
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return cb_fail(err, COCABO_E_INVALID, "%s, %s %zu%s", cb_text_show(name, rows->name),
                 rows->unit, place, text);
}

/* ---- choices --------------------------------------------------------------------- */

static bool is_number(const cocabo_value *value, double *out) {
  *out = value->type == COCABO_INT ? (double)value->as.integer : value->as.real;
  return value->type == COCABO_INT || value->type == COCABO_REAL;
}

/* Whether a cell that other programs wrote may stand for a choice: the same digits
 * whatever the quotes, 1 for 1.0, True for true. */
static bool may_mean(const char *cell, const cocabo_value *read,
                     const cocabo_value *choice) {
  double a, b;
  if (is_number(read, &a) && is_number(choice, &b))
    return a == b;
  if (choice->type == COCABO_TEXT)
    return strcmp(cell, choice->as.text) == 0;
  if (choice->type == COCABO_BOOL)
    return strcasecmp(cell, choice->as.boolean ? "true" : "false") == 0;
  return false;
}

/* A choice of the same type and value; else, in CSV, the only one that may be meant. */
static bool match_choice(const cocabo_space *space, size_t i, const char *cell,
                         const cocabo_value *read, cocabo_value *out) {
  const size_t n = cocabo_space_choices(space, i);
  size_t candidates = 0;
  cocabo_value choice;
  for (size_t k = 0; k < n; k++) {
    if (cocabo_space_get_choice(space, i, k, &choice, NULL) != COCABO_OK)
      return false;
    if (cb_value_equal(read, &choice)) {
      *out = choice;
      return true;
    }
    if (cell && may_mean(cell, read, &choice)) {
      *out = choice;
      candidates++;
    }
  }
  return candidates == 1;
}

/* Fails with: column "opt": "adm" is no choice, did you mean adam? */
static cocabo_status no_choice(const import_rows *rows, size_t place, size_t i,
                               const char *text, cocabo_error *err) {
  char name[CB_SHOWN], shown[CB_SHOWN];
  cb_text_show(name, cocabo_space_name(rows->space, i));
  cb_text_show(shown, text);
  cb_guess guess = {.word = text};
  cocabo_value choice;
  for (size_t k = 0; k < cocabo_space_choices(rows->space, i); k++)
    if (cocabo_space_get_choice(rows->space, i, k, &choice, NULL) == COCABO_OK &&
        choice.type == COCABO_TEXT)
      cb_guess_consider(&guess, choice.as.text);
  if (guess.closest)
    return refuse(rows, place, err,
                  ", column \"%s\": %s is no choice, did you mean %s?", name, shown,
                  guess.closest);
  char *domain = cocabo_space_domain(rows->space, i), want[CB_SHOWN];
  cb_text_show(want, domain ? domain : "another");
  cocabo_text_free(domain);
  return refuse(rows, place, err, ", column \"%s\": %s is no choice, want one of %s",
                name, shown, want);
}

/* ---- numbers --------------------------------------------------------------------- */

/* The library decides whether it is in the range; 3.0 is a whole number here. */
static bool to_parameter(const cocabo_space *space, size_t i, const cocabo_value *read,
                         cocabo_value *out) {
  double number;
  if (!is_number(read, &number))
    return false;
  *out = (cocabo_value){.type = COCABO_REAL, .as.real = number};
  if (cocabo_space_kind(space, i) == COCABO_KIND_REAL)
    return true;
  if (read->type == COCABO_REAL &&
      (number != floor(number) || fabs(number) > 9007199254740992.0))
    return false;
  *out = read->type == COCABO_INT
             ? *read
             : (cocabo_value){.type = COCABO_INT, .as.integer = (int64_t)number};
  return true;
}

static cocabo_status no_number(const import_rows *rows, size_t place,
                               const char *column, const char *text, const char *want,
                               cocabo_error *err) {
  char name[CB_SHOWN], shown[CB_SHOWN];
  return refuse(rows, place, err, ", column \"%s\": \"%s\" is not %s",
                cb_text_show(name, column), cb_text_show(shown, text), want);
}

bool import_value(const cocabo_space *space, size_t i, const char *cell,
                  const cocabo_value *read, cocabo_value *out) {
  return cocabo_space_choices(space, i) > 0 ? match_choice(space, i, cell, read, out)
                                            : to_parameter(space, i, read, out);
}

/* What a value of a parameter may be; `cell` is its spelling in CSV, or NULL. */
static cocabo_status set_value(import_rows *rows, import_row *row, size_t i,
                               const char *cell, const char *shown,
                               const cocabo_value *read, cocabo_error *err) {
  const cocabo_space *space = rows->space;
  if (import_value(space, i, cell, read, &row->values[i]))
    return COCABO_OK;
  if (cocabo_space_choices(space, i) > 0)
    return no_choice(rows, row->place, i, shown, err);
  const bool whole = cocabo_space_kind(space, i) == COCABO_KIND_INT;
  return no_number(rows, row->place, cocabo_space_name(space, i), shown,
                   whole ? "a whole number" : "a number", err);
}

static cocabo_status set_reason(const import_rows *rows, import_row *row,
                                const char *reason, cocabo_error *err) {
  enum { MOST = 65536 }; /* what the library takes */
  if (strlen(reason) > MOST || !cb_text_is_utf8(reason))
    return refuse(rows, row->place, err, ": the reason is too long, or not UTF-8");
  row->reason = cb_strdup(reason);
  return row->reason ? COCABO_OK : cb_no_memory(err);
}

static cocabo_status add_metric(const import_rows *rows, import_row *row,
                                const char *name, double value, cocabo_error *err) {
  const size_t n = row->n_metrics;
  if (n == COCABO_MAX_METRICS)
    return refuse(rows, row->place, err, ": there are more than %d metrics",
                  COCABO_MAX_METRICS);
  if (cb_name_check("metric name", name, err) != COCABO_OK)
    return refuse(rows, row->place, err, ": %s", err->message);
  cocabo_metric *metrics = cb_realloc(row->metrics, n + 1, sizeof *metrics);
  if (!metrics)
    return cb_no_memory(err);
  row->metrics = metrics;
  row->metrics[n] = (cocabo_metric){cb_strdup(name), value};
  row->n_metrics += row->metrics[n].name != NULL;
  return row->metrics[n].name ? COCABO_OK : cb_no_memory(err);
}

/* The library's word on the values, once they are all there. What is known may break
 * rules, what is to be tried may not. */
static cocabo_status check_point(const import_rows *rows, const import_row *row,
                                 cocabo_error *err) {
  const size_t n = cocabo_space_count(rows->space);
  cocabo_status status = cocabo_space_check(rows->space, row->values, n, err);
  if (status == COCABO_OK && isnan(row->result) && !row->failed)
    status = front_check_rules(rows->space, row->values, err);
  return status == COCABO_OK ? COCABO_OK
                             : refuse(rows, row->place, err, ": %s", err->message);
}

/* A failure with its place. */
static cocabo_status placed(const import_rows *rows, const import_row *row,
                            cocabo_status status, cocabo_error *err) {
  if (status == COCABO_OK || status == COCABO_E_NO_MEMORY)
    return status;
  const cocabo_error why = *err;
  return refuse(rows, row->place, err, ": %s", why.message);
}

/* ---- CSV ------------------------------------------------------------------------- */

/* What a column holds: a parameter's number, or one of these. */
enum {
  COLUMN_VALUE = -1,
  COLUMN_STATE = -2,
  COLUMN_REASON = -3,
  COLUMN_PASSED_OVER = -4,
  COLUMN_NONE = -5,
  COLUMN_METRIC = -6, /* its name has a prefix */
  COLUMN_ATTR = -7,   /* so has this */
  COLUMN_REPORTS = -8
};

/* The metric or attribute that a column is of, or NULL. */
static const char *name_behind(const char *prefix, const char *column) {
  const size_t size = strlen(prefix);
  return strncmp(column, prefix, size) == 0 &&
                 cb_name_check("name", column + size, NULL) == COCABO_OK
             ? column + size
             : NULL;
}

static int find_parameter(const cocabo_space *space, const char *name) {
  const char *known;
  for (size_t i = 0; (known = cocabo_space_name(space, i)); i++)
    if (strcmp(known, name) == 0)
      return (int)i;
  return COLUMN_NONE;
}

/* Our own columns, then those that Optuna's data frames have besides. */
static int find_column(const cocabo_space *space, const char *name) {
  static const char *const passed_over[] = {
      "number",         "attempt",           "started",  "finished", "seconds",
      "datetime_start", "datetime_complete", "duration", "feasible", "runs",
      "error"};
  if (strcmp(name, "value") == 0)
    return COLUMN_VALUE;
  if (strcmp(name, "state") == 0)
    return COLUMN_STATE;
  if (strcmp(name, "reason") == 0)
    return COLUMN_REASON;
  if (strcmp(name, cli_reports_column) == 0)
    return COLUMN_REPORTS;
  if (name_behind(cli_metric_prefix, name))
    return COLUMN_METRIC;
  if (name_behind(cli_attr_prefix, name))
    return COLUMN_ATTR;
  int found = find_parameter(space, name);
  for (size_t k = 0; k < sizeof passed_over / sizeof passed_over[0]; k++)
    if (strcmp(name, passed_over[k]) == 0)
      found = COLUMN_PASSED_OVER;
  const bool prefixed =
      strncmp(name, "params.", 7) == 0 || strncmp(name, "params_", 7) == 0;
  if (found == COLUMN_NONE && prefixed)
    found = find_parameter(space, name + 7);
  return found;
}

static cocabo_status unknown_column(const import_rows *rows, size_t line,
                                    const char *column, cocabo_error *err) {
  char shown[CB_SHOWN];
  cb_guess guess = {.word = column};
  const char *known;
  for (size_t i = 0; (known = cocabo_space_name(rows->space, i)); i++)
    cb_guess_consider(&guess, known);
  cb_guess_consider(&guess, "value");
  cb_text_show(shown, column);
  if (guess.closest)
    return refuse(rows, line, err, ": unknown column \"%s\", did you mean %s?", shown,
                  guess.closest);
  return refuse(rows, line, err, ": unknown column \"%s\", want parameters and value",
                shown);
}

static cocabo_status refuse_duplicates(const import_rows *rows, const int *columns,
                                       const sheet *s, cocabo_error *err) {
  const sheet_row *header = &s->rows[0];
  char shown[CB_SHOWN];
  for (size_t j = 0; j < header->n; j++)
    for (size_t k = 0; k < j; k++)
      if (columns[j] == columns[k] && columns[j] != COLUMN_PASSED_OVER &&
          ((columns[j] != COLUMN_METRIC && columns[j] != COLUMN_ATTR) ||
           strcmp(s->cells[header->first + j], s->cells[header->first + k]) == 0))
        return refuse(rows, header->line, err, ": column \"%s\" is there twice",
                      cb_text_show(shown, s->cells[header->first + j]));
  return COCABO_OK;
}

static cocabo_status refuse_gaps(const import_rows *rows, const int *columns,
                                 const sheet *s, cocabo_error *err) {
  const sheet_row *header = &s->rows[0];
  for (size_t i = 0; i < cocabo_space_count(rows->space); i++) {
    size_t j = 0;
    char shown[CB_SHOWN];
    while (j < header->n && columns[j] != (int)i)
      j++;
    if (j == header->n && !cocabo_space_get_condition(rows->space, i))
      return refuse(rows, header->line, err, ": there is no column \"%s\"",
                    cb_text_show(shown, cocabo_space_name(rows->space, i)));
  }
  return COCABO_OK;
}

/* A parameter may be called like a column that is passed over, such as seconds, or
 * like one of a metric. Where
 * the file has no params.seconds, as every file of ours has, that column is the
 * parameter. */
static void find_namesakes(const import_rows *rows, const sheet *s, int *columns) {
  const sheet_row *header = &s->rows[0];
  for (size_t j = 0; j < header->n; j++) {
    const int param = find_parameter(rows->space, s->cells[header->first + j]);
    size_t k = 0;
    while (k < header->n && columns[k] != param)
      k++;
    const bool open = columns[j] == COLUMN_PASSED_OVER || columns[j] <= COLUMN_METRIC;
    if (open && param >= 0 && k == header->n)
      columns[j] = param;
  }
}

static cocabo_status read_header(const import_rows *rows, const sheet *s, int *columns,
                                 cocabo_error *err) {
  const sheet_row *header = &s->rows[0];
  for (size_t j = 0; j < header->n; j++) {
    const char *name = s->cells[header->first + j];
    columns[j] = find_column(rows->space, name);
    if (columns[j] == COLUMN_NONE)
      return unknown_column(rows, header->line, name, err);
  }
  find_namesakes(rows, s, columns);
  CB_TRY(refuse_duplicates(rows, columns, s, err));
  return refuse_gaps(rows, columns, s, err);
}

static cocabo_status read_result(const import_rows *rows, import_row *row,
                                 const char *cell, cocabo_error *err) {
  if (*cell == '\0' || scalar_is_number(cell, &row->result))
    return COCABO_OK;
  return no_number(rows, row->place, "value", cell, "a finite number", err);
}

/* Optuna's name for it is FAIL. */
static bool says_failed(const char *state) {
  return strcasecmp(state, "failed") == 0 || strcasecmp(state, "fail") == 0;
}

static cocabo_status read_metric(const import_rows *rows, import_row *row,
                                 const char *column, const char *cell,
                                 cocabo_error *err) {
  double value;
  if (*cell == '\0')
    return COCABO_OK;
  if (!scalar_is_number(cell, &value) || !isfinite(value))
    return no_number(rows, row->place, column, cell, "a finite number", err);
  return add_metric(rows, row, name_behind(cli_metric_prefix, column), value, err);
}

static cocabo_status read_cell(import_rows *rows, import_row *row, int column,
                               const char *cell, cocabo_error *err) {
  if (column == COLUMN_VALUE)
    return read_result(rows, row, cell, err);
  if (column == COLUMN_REASON)
    return set_reason(rows, row, cell, err);
  if (column == COLUMN_STATE)
    row->failed = says_failed(cell);
  if (column < 0)
    return COCABO_OK;
  if (*cell == '\0' && cocabo_space_get_condition(rows->space, (size_t)column))
    return COCABO_OK; /* inactive */
  cocabo_value value;
  char *text = NULL;
  CB_TRY(scalar_parse(cell, &value, &text, err));
  const cocabo_status status =
      set_value(rows, row, (size_t)column, cell, cell, &value, err);
  cb_free(text);
  return status;
}

static cocabo_status read_cells(import_rows *rows, import_row *row, const sheet *s,
                                const sheet_row *cells, const int *columns,
                                cocabo_error *err) {
  for (size_t j = 0; j < cells->n; j++) {
    const char *cell = s->cells[cells->first + j],
               *title = s->cells[s->rows[0].first + j];
    if (columns[j] == COLUMN_METRIC)
      CB_TRY(read_metric(rows, row, title, cell, err));
    else if (columns[j] == COLUMN_ATTR && *cell != '\0')
      CB_TRY(placed(
          rows, row,
          cli_notes_add(&row->notes, name_behind(cli_attr_prefix, title), cell, err),
          err));
    else if (columns[j] == COLUMN_REPORTS)
      CB_TRY(placed(rows, row, cli_notes_parse_reports(&row->notes, cell, err), err));
    else
      CB_TRY(read_cell(rows, row, columns[j], cell, err));
  }
  return check_point(rows, row, err);
}

static cocabo_status read_rows(import_rows *rows, const sheet *s, const int *columns,
                               cocabo_error *err) {
  for (size_t r = 1; r < s->n_rows; r++) {
    const sheet_row *cells = &s->rows[r];
    import_row *row = NULL;
    if (cells->n != s->rows[0].n)
      return refuse(rows, cells->line, err, ": there are %zu cells, want %zu", cells->n,
                    s->rows[0].n);
    CB_TRY(new_row(rows, cells->line, &row, err));
    CB_TRY(end_row(rows, read_cells(rows, row, s, cells, columns, err), err));
  }
  return COCABO_OK;
}

static cocabo_status read_sheet(import_rows *rows, const sheet *s, cocabo_error *err) {
  if (s->n_rows == 0)
    return refuse(rows, 1, err, ": the file is empty, want a line of column names");
  int *columns = cb_calloc(s->rows[0].n, sizeof *columns);
  if (!columns)
    return cb_no_memory(err);
  cocabo_status status = read_header(rows, s, columns, err);
  if (status == COCABO_OK)
    status = read_rows(rows, s, columns, err);
  cb_free(columns);
  return status;
}

cocabo_status import_csv(import_rows *out, const char *text, size_t size,
                         cocabo_error *err) {
  sheet s;
  out->unit = "line";
  CB_TRY(sheet_parse(&s, out->name, text, size, err));
  const cocabo_status status = read_sheet(out, &s, err);
  sheet_free(&s);
  return status;
}

/* ---- JSON ------------------------------------------------------------------------ */

/* Is null one of the choices? */
static bool has_null(const cocabo_space *space, size_t i) {
  const cocabo_value null = {.type = COCABO_NULL};
  cocabo_value choice;
  return match_choice(space, i, NULL, &null, &choice);
}

static cocabo_status set_json_value(import_rows *rows, import_row *row, size_t i,
                                    const cb_json_node *json, cocabo_error *err) {
  char name[CB_SHOWN];
  const bool absent =
      !json || (json->type == CB_JSON_NULL && !has_null(rows->space, i));
  if (absent && cocabo_space_get_condition(rows->space, i))
    return COCABO_OK; /* inactive */
  if (!json || json->type == CB_JSON_ARRAY || json->type == CB_JSON_OBJECT)
    return refuse(rows, row->place, err, ": parameter \"%s\" is %s, want one value",
                  cb_text_show(name, cocabo_space_name(rows->space, i)),
                  json ? "a list or an object" : "missing");
  front_buffer text = {0};
  cocabo_status status = front_put_json_value(&text, &json->value, err);
  const char *shown = status == COCABO_OK ? front_buffer_text(&text, err) : NULL;
  status = shown ? set_value(rows, row, i, NULL, shown, &json->value, err)
                 : COCABO_E_NO_MEMORY;
  front_buffer_free(&text);
  return status;
}

static cocabo_status read_metrics(const import_rows *rows, import_row *row,
                                  const cb_json_node *metrics, cocabo_error *err) {
  char shown[CB_SHOWN];
  if (metrics && metrics->type != CB_JSON_NULL && metrics->type != CB_JSON_OBJECT)
    return refuse(rows, row->place, err, ": metrics is no object, want one of numbers");
  for (const cb_json_node *item = cb_json_first(metrics); item;
       item = cb_json_next(metrics, item)) {
    double value;
    if (item->type == CB_JSON_NULL)
      continue;
    if (!cb_json_number(item, &value))
      return refuse(rows, row->place, err, ": metric \"%s\" is no number",
                    cb_text_show(shown, item->key));
    CB_TRY(add_metric(rows, row, item->key, value, err));
  }
  return COCABO_OK;
}

static cocabo_status read_entry(import_rows *rows, import_row *row,
                                const cb_json_node *trial, cocabo_error *err) {
  const cb_json_node *params = cb_json_find(trial, "params");
  if (!cb_json_is(params, CB_JSON_OBJECT))
    return refuse(rows, row->place, err, ": there is no object \"params\"");
  for (const cb_json_node *item = cb_json_first(params); item;
       item = cb_json_next(params, item))
    if (find_parameter(rows->space, item->key) == COLUMN_NONE)
      return unknown_column(rows, row->place, item->key, err);
  const char *name;
  for (size_t i = 0; (name = cocabo_space_name(rows->space, i)); i++)
    CB_TRY(set_json_value(rows, row, i, cb_json_find(params, name), err));
  const char *state = cb_json_text(cb_json_find(trial, "state"));
  row->failed = state && says_failed(state);
  const cb_json_node *value = cb_json_find(trial, "value");
  if (value && value->type != CB_JSON_NULL && !cb_json_number(value, &row->result))
    return refuse(rows, row->place, err, ": value is no number, want one or null");
  const char *reason = cb_json_text(cb_json_find(trial, "reason"));
  if (reason)
    CB_TRY(set_reason(rows, row, reason, err));
  CB_TRY(read_metrics(rows, row, cb_json_find(trial, "metrics"), err));
  const cb_json_node *attrs = cb_json_find(trial, "attrs");
  const cb_json_node *reports = cb_json_find(trial, cli_reports_column);
  CB_TRY(placed(rows, row, cli_notes_read_attrs(&row->notes, attrs, err), err));
  CB_TRY(placed(rows, row, cli_notes_read_reports(&row->notes, reports, err), err));
  return check_point(rows, row, err);
}

static cocabo_status read_trial(import_rows *rows, const cb_json_node *trial,
                                cocabo_error *err) {
  import_row *row = NULL;
  CB_TRY(new_row(rows, rows->n + rows->n_misfits + 1, &row, err));
  return end_row(rows, read_entry(rows, row, trial, err), err);
}

/* A trial, a list of trials, or what export writes: an object with such a list. */
static cocabo_status read_trials(import_rows *rows, const cb_json_node *json,
                                 cocabo_error *err) {
  const cb_json_node *list =
      json->type == CB_JSON_ARRAY ? json : cb_json_find(json, "trials");
  if (!cb_json_is(list, CB_JSON_ARRAY))
    return read_trial(rows, json, err);
  for (const cb_json_node *item = cb_json_first(list); item;
       item = cb_json_next(list, item))
    CB_TRY(read_trial(rows, item, err));
  return COCABO_OK;
}

/* One JSON value after the other, so that a document and lines are read alike. */
cocabo_status import_json(import_rows *out, const char *text, size_t size,
                          cocabo_error *err) {
  cb_walk blanks = {.text = text, .at = text, .end = text + size};
  cb_json_tree tree = {0};
  cocabo_status status = COCABO_OK;
  cb_walk_space(&blanks);
  out->unit = "entry";
  for (size_t at = (size_t)(blanks.at - text); at < size && status == COCABO_OK;) {
    status = cb_json_read(&tree, text, size, &at, err);
    if (status == COCABO_OK) {
      status = read_trials(out, tree.nodes, err);
    } else if (status == COCABO_E_INVALID) {
      char name[CB_SHOWN];
      cb_fail(err, status, "%s, %s", cb_text_show(name, out->name), err->message);
    }
  }
  cb_json_tree_free(&tree);
  return status;
}

static cocabo_status put_study(front_buffer *out, const cb_json_node *study,
                               cocabo_error *err) {
  static const char *const names[] = {"parameters", "where", "direction", "options"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    const cb_json_node *node = cb_json_find(study, names[i]);
    if (!node)
      continue;
    CB_TRY(front_buffer_printf(out, err, "%s\"%s\":", i == 0 ? "{" : ",", names[i]));
    CB_TRY(front_put_json_node(out, node, err));
  }
  return front_buffer_append(out, "}", 2, err); /* and the NUL */
}

char *import_json_study(const char *text, size_t size) {
  cb_json_tree tree = {0};
  front_buffer spec = {0};
  if (cb_json_read_all(&tree, text, size, NULL) != COCABO_OK ||
      !cb_json_is(cb_json_find(tree.nodes, "parameters"), CB_JSON_OBJECT) ||
      put_study(&spec, tree.nodes, NULL) != COCABO_OK)
    front_buffer_free(&spec);
  cb_json_tree_free(&tree);
  return spec.data;
}

/* ---- adding ---------------------------------------------------------------------- */

static cocabo_known known_of(const import_row *row) {
  cocabo_known known = {.values = row->values,
                        .state = COCABO_COMPLETE,
                        .attrs = row->notes.attrs,
                        .n_attrs = row->notes.n_attrs,
                        .reports = row->notes.reports,
                        .n_reports = row->notes.n_reports};
  if (row->failed) {
    known.state = COCABO_FAILED;
    known.reason = row->reason;
  } else if (isnan(row->result)) {
    known.state = COCABO_WAITING;
  } else {
    known.value = row->result;
    known.metrics = row->metrics;
    known.n_metrics = row->n_metrics;
  }
  return known;
}

static import_counts count(const cocabo_known *known, size_t n) {
  import_counts counts = {0};
  for (size_t i = 0; i < n; i++) {
    const size_t one = known[i].added ? 1 : 0;
    counts.added += one;
    counts.already += 1 - one;
    counts.complete += known[i].state == COCABO_COMPLETE ? one : 0;
    counts.failed += known[i].state == COCABO_FAILED ? one : 0;
    counts.enqueued += known[i].state == COCABO_WAITING ? one : 0;
  }
  return counts;
}

cocabo_status import_add(const import_rows *rows, cocabo_study *study,
                         import_counts *counts, cocabo_error *err) {
  cocabo_known *known = cb_calloc(rows->n, sizeof *known);
  if (!known)
    return cb_no_memory(err);
  for (size_t i = 0; i < rows->n; i++)
    known[i] = known_of(&rows->items[i]);
  const cocabo_status status = cocabo_study_merge(study, known, rows->n, NULL, err);
  if (status == COCABO_OK)
    *counts = count(known, rows->n);
  cb_free(known);
  return status;
}
