/* domain.c - the parameters and rules of a space as JSON, copied, and asked about. */
#include "common/domain.h"

#include <string.h>

#include "common/base.h"
#include "common/json.h"
#include "space/space.h"

cocabo_status front_put_choices(front_buffer *out, const cocabo_space *space, size_t i,
                                cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "[", err));
  const size_t n = cocabo_space_choices(space, i);
  for (size_t k = 0; k < n; k++) {
    cocabo_value choice;
    if (k > 0)
      CB_TRY(front_buffer_puts(out, ",", err));
    CB_TRY(cocabo_space_get_choice(space, i, k, &choice, err));
    CB_TRY(front_put_json_value(out, &choice, err));
  }
  return front_buffer_puts(out, "]", err);
}

/* A bound: a whole number where the parameter is. */
static cocabo_status put_bound(front_buffer *out, const char *key, double value,
                               bool whole, cocabo_error *err) {
  CB_TRY(front_buffer_printf(out, err, "\"%s\":", key));
  return whole ? front_buffer_printf(out, err, "%.0f", value)
               : front_put_json_real(out, value, err);
}

cocabo_status front_put_range(front_buffer *out, const cocabo_space *space, size_t i,
                              const char *no_step, cocabo_error *err) {
  double low, high, step;
  int log;
  const bool whole = cocabo_space_kind(space, i) == COCABO_KIND_INT;
  CB_TRY(cocabo_space_get_range(space, i, &low, &high, &step, &log, err));
  CB_TRY(put_bound(out, "low", low, whole, err));
  CB_TRY(front_buffer_puts(out, ",", err));
  CB_TRY(put_bound(out, "high", high, whole, err));
  CB_TRY(front_buffer_printf(out, err, ",\"log\":%s", log ? "true" : "false"));
  if (step > 0.0) {
    CB_TRY(front_buffer_puts(out, ",", err));
    return put_bound(out, "step", step, whole, err);
  }
  return front_buffer_puts(out, no_step, err);
}

static cocabo_status put_parameter(front_buffer *out, const cocabo_space *space,
                                   size_t i, cocabo_error *err) {
  static const char *const types[] = {"float", "int", "choice", "ordinal"};
  const cocabo_kind kind = cocabo_space_kind(space, i);
  CB_TRY(front_put_json_text(out, cocabo_space_name(space, i), err));
  CB_TRY(front_buffer_printf(out, err, ":{\"type\":\"%s\",", types[kind]));
  if (kind == COCABO_KIND_REAL || kind == COCABO_KIND_INT) {
    CB_TRY(front_put_range(out, space, i, "", err));
  } else {
    CB_TRY(front_buffer_puts(out, "\"choices\":", err));
    CB_TRY(front_put_choices(out, space, i, err));
  }
  const char *condition = cocabo_space_get_condition(space, i);
  if (condition) {
    CB_TRY(front_buffer_puts(out, ",\"if\":", err));
    CB_TRY(front_put_json_text(out, condition, err));
  }
  return front_buffer_puts(out, "}", err);
}

cocabo_status front_put_parameters(front_buffer *out, const cocabo_space *space,
                                   cocabo_error *err) {
  const size_t n = cocabo_space_count(space);
  for (size_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_puts(out, i > 0 ? ",\n  " : "\n  ", err));
    CB_TRY(put_parameter(out, space, i, err));
  }
  return COCABO_OK;
}

cocabo_status front_put_rules(front_buffer *out, const cocabo_space *space,
                              cocabo_error *err) {
  const char *rule;
  CB_TRY(front_buffer_puts(out, "[", err));
  for (size_t k = 0; (rule = cocabo_space_get_rule(space, k)); k++) {
    CB_TRY(front_buffer_puts(out, k > 0 ? "," : "", err));
    CB_TRY(front_put_json_text(out, rule, err));
  }
  return front_buffer_puts(out, "]", err);
}

/* ---- copying --------------------------------------------------------------------- */

static cocabo_status copy(cocabo_space *to, const cocabo_space *from, size_t i,
                          bool conditionally, cocabo_error *err) {
  char *domain = cocabo_space_domain(from, i);
  const char *condition = cocabo_space_get_condition(from, i);
  if (!domain)
    return cb_no_memory(err);
  if (condition && !conditionally) /* which stands at the end */
    domain[strlen(domain) - strlen(condition) - strlen(" if ")] = '\0';
  const cocabo_status status =
      cocabo_space_add(to, cocabo_space_name(from, i), domain, err);
  cocabo_text_free(domain);
  return status;
}

cocabo_status front_copy_parameter(cocabo_space *to, const cocabo_space *from, size_t i,
                                   cocabo_error *err) {
  return copy(to, from, i, true, err);
}

cocabo_status front_copy_domain(cocabo_space *to, const cocabo_space *from, size_t i,
                                cocabo_error *err) {
  return copy(to, from, i, false, err);
}

/* ---- points ---------------------------------------------------------------------- */

static cocabo_status to_cells(const cocabo_space *space, const cocabo_value *values,
                              cb_cell *cells, cocabo_error *err) {
  for (int i = 0; i < space->n; i++)
    CB_TRY(cb_space_to_cell(space, i, &values[i], &cells[i], err));
  return COCABO_OK;
}

bool front_is_active(const cocabo_space *space, const cocabo_value *values, size_t i) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  if (to_cells(space, values, cells, NULL) != COCABO_OK)
    return false;
  cb_space_settle(space, NULL, cells);
  return cb_cell_is_active(cells[i]);
}

cocabo_status front_check_rules(const cocabo_space *space, const cocabo_value *values,
                                cocabo_error *err) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  CB_TRY(to_cells(space, values, cells, err));
  return cb_space_check_rules(space, cells, err);
}
