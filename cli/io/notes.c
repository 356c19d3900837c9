/* notes.c - attributes and reports of trials: as JSON, as columns, and from files. */
#include "io/notes.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/json.h"

const char cli_attr_prefix[] = "attr.", cli_reports_column[] = "reports";

/* ---- writing --------------------------------------------------------------------- */

static cocabo_status put_attrs(front_buffer *out, const cocabo_attr *attrs, size_t n,
                               cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, ",\"attrs\":{", err));
  for (size_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_puts(out, i > 0 ? "," : "", err));
    CB_TRY(front_put_json_text(out, attrs[i].name, err));
    CB_TRY(front_buffer_puts(out, ":", err));
    CB_TRY(front_put_json_text(out, attrs[i].value, err));
  }
  return front_buffer_puts(out, "}", err);
}

cocabo_status cli_put_reports(front_buffer *out, const cocabo_trial *trial,
                              cocabo_error *err) {
  size_t n;
  const cocabo_step *reports = cocabo_trial_reports(trial, &n);
  for (size_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_printf(out, err, "%s[%" PRId64 ",", i > 0 ? "," : "[",
                               reports[i].step));
    CB_TRY(front_put_json_real(out, reports[i].value, err));
    CB_TRY(front_buffer_puts(out, "]", err));
  }
  return n > 0 ? front_buffer_puts(out, "]", err) : COCABO_OK;
}

cocabo_status cli_put_json_notes(front_buffer *out, const cocabo_trial *trial,
                                 cocabo_error *err) {
  size_t n, m;
  const cocabo_attr *attrs = cocabo_trial_attrs(trial, &n);
  (void)cocabo_trial_reports(trial, &m);
  if (n > 0)
    CB_TRY(put_attrs(out, attrs, n, err));
  if (m > 0)
    CB_TRY(front_buffer_puts(out, ",\"reports\":", err));
  return cli_put_reports(out, trial, err);
}

/* ---- of all trials --------------------------------------------------------------- */

static cocabo_status note_columns(cli_note_columns *out, const cocabo_trial *trial,
                                  cocabo_error *err) {
  size_t n;
  const cocabo_attr *attrs = cocabo_trial_attrs(trial, &n);
  for (size_t i = 0; i < n; i++)
    CB_TRY(cli_metric_names_add(&out->attrs, attrs[i].name, err));
  out->reports = out->reports || cocabo_trial_reports(trial, NULL);
  return COCABO_OK;
}

cocabo_status cli_note_columns_find(cli_note_columns *out, const cocabo_study *study,
                                    cocabo_error *err) {
  const int64_t n = cocabo_study_count(study);
  cocabo_status status = COCABO_OK;
  for (int64_t i = 0; i < n && status == COCABO_OK; i++) {
    cocabo_trial *trial = NULL;
    status = cocabo_study_trial(study, i, &trial, err);
    if (status == COCABO_OK)
      status = note_columns(out, trial, err);
    cocabo_trial_free(trial);
  }
  return status;
}

void cli_note_columns_free(cli_note_columns *columns) {
  cli_metric_names_free(&columns->attrs);
  columns->reports = false;
}

/* ---- reading --------------------------------------------------------------------- */

void cli_notes_free(cli_notes *notes) {
  for (size_t i = 0; i < notes->n_attrs; i++) {
    cb_free((char *)notes->attrs[i].name);
    cb_free((char *)notes->attrs[i].value);
  }
  cb_free(notes->attrs);
  cb_free(notes->reports);
  *notes = (cli_notes){0};
}

cocabo_status cli_notes_add(cli_notes *notes, const char *name, const char *value,
                            cocabo_error *err) {
  enum { MOST = 65536 }; /* bytes of a value that the library takes */
  char shown[CB_SHOWN];
  CB_TRY(cb_name_check("attribute name", name, err));
  if (notes->n_attrs == COCABO_MAX_ATTRS)
    return cb_fail(err, COCABO_E_RANGE, "there are more than %d attributes",
                   COCABO_MAX_ATTRS);
  if (strlen(value) > MOST || !cb_text_is_utf8(value))
    return cb_fail(err, COCABO_E_INVALID, "attribute \"%s\" is too long, or not UTF-8",
                   cb_text_show(shown, name));
  for (size_t i = 0; i < notes->n_attrs; i++)
    if (strcmp(notes->attrs[i].name, name) == 0)
      return cb_fail(err, COCABO_E_INVALID, "attribute \"%s\" is given twice",
                     cb_text_show(shown, name));
  cocabo_attr *attrs = cb_realloc(notes->attrs, notes->n_attrs + 1, sizeof *attrs);
  if (!attrs)
    return cb_no_memory(err);
  notes->attrs = attrs;
  attrs[notes->n_attrs] = (cocabo_attr){cb_strdup(name), cb_strdup(value)};
  const cocabo_attr *added = &attrs[notes->n_attrs++];
  return added->name && added->value ? COCABO_OK : cb_no_memory(err);
}

cocabo_status cli_notes_read_attrs(cli_notes *notes, const cb_json_node *attrs,
                                   cocabo_error *err) {
  char shown[CB_SHOWN];
  if (attrs && attrs->type != CB_JSON_NULL && attrs->type != CB_JSON_OBJECT)
    return cb_fail(err, COCABO_E_INVALID, "attrs is no object, want one of texts");
  for (const cb_json_node *item = cb_json_first(attrs); item;
       item = cb_json_next(attrs, item)) {
    if (item->type != CB_JSON_STRING)
      return cb_fail(err, COCABO_E_INVALID, "attribute \"%s\" is no text",
                     cb_text_show(shown, item->key));
    CB_TRY(cli_notes_add(notes, item->key, cb_json_text(item), err));
  }
  return COCABO_OK;
}

static bool read_report(const cb_json_node *pair, cocabo_step *out) {
  const cb_json_node *step = cb_json_first(pair);
  const cb_json_node *value = step ? cb_json_next(pair, step) : NULL;
  if (!cb_json_is(pair, CB_JSON_ARRAY) || pair->items != 2 ||
      !cb_json_is(step, CB_JSON_INTEGER) || step->value.type != COCABO_INT ||
      step->value.as.integer < 0 || !cb_json_number(value, &out->value))
    return false;
  out->step = step->value.as.integer;
  return isfinite(out->value);
}

cocabo_status cli_notes_read_reports(cli_notes *notes, const cb_json_node *reports,
                                     cocabo_error *err) {
  static const char want[] = "reports is no list of pairs [step, value] of a whole "
                             "number from 0 on and a finite one";
  if (reports && reports->type != CB_JSON_NULL && reports->type != CB_JSON_ARRAY)
    return cb_fail(err, COCABO_E_INVALID, "%s", want);
  for (const cb_json_node *item = cb_json_first(reports); item;
       item = cb_json_next(reports, item)) {
    void *list = notes->reports;
    cocabo_step report;
    if (!read_report(item, &report))
      return cb_fail(err, COCABO_E_INVALID, "%s", want);
    if (notes->n_reports == COCABO_MAX_REPORTS)
      return cb_fail(err, COCABO_E_RANGE, "there are more than %d reports",
                     COCABO_MAX_REPORTS);
    if (!cb_reserve(&list, &notes->reports_capacity, notes->n_reports + 1,
                    sizeof report))
      return cb_no_memory(err);
    notes->reports = list;
    notes->reports[notes->n_reports++] = report;
  }
  return COCABO_OK;
}

cocabo_status cli_notes_parse_reports(cli_notes *notes, const char *text,
                                      cocabo_error *err) {
  cb_json_tree tree = {0};
  cocabo_error why;
  if (*text == '\0')
    return COCABO_OK;
  cocabo_status status = cb_json_read_all(&tree, text, strlen(text), &why);
  if (status == COCABO_OK)
    status = cli_notes_read_reports(notes, tree.nodes, err);
  else
    cb_fail(err, status, "reports: %s", why.message);
  cb_json_tree_free(&tree);
  return status;
}
