/* look.c - a space as the public header shows it. */
#include "base/status.h"
#include "space/space.h"

_Static_assert((int)CB_REAL == (int)COCABO_KIND_REAL &&
                   (int)CB_INTEGER == (int)COCABO_KIND_INT &&
                   (int)CB_CHOICE == (int)COCABO_KIND_CHOICE &&
                   (int)CB_ORDINAL == (int)COCABO_KIND_ORDINAL,
               "the public kinds are ours");

static const cb_param *param_at(const cocabo_space *space, size_t i) {
  return i < cocabo_space_count(space) ? &space->params[i] : NULL;
}

const char *cocabo_space_name(const cocabo_space *space, size_t i) {
  const cb_param *p = param_at(space, i);
  return p ? p->name : NULL;
}

cocabo_kind cocabo_space_kind(const cocabo_space *space, size_t i) {
  const cb_param *p = param_at(space, i);
  return p ? (cocabo_kind)p->kind : COCABO_KIND_REAL;
}

static bool is_choice(const cb_param *p) {
  return p->kind == CB_CHOICE || p->kind == CB_ORDINAL;
}

static cocabo_status find_param(const cocabo_space *space, size_t i,
                                const cb_param **out, cocabo_error *err) {
  if (!space)
    return cb_fail(err, COCABO_E_INVALID, "space is NULL");
  *out = param_at(space, i);
  if (*out)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_RANGE, "parameter index is %zu, want less than %d", i,
                 space->n);
}

cocabo_status cocabo_space_get_range(const cocabo_space *space, size_t i, double *low,
                                     double *high, double *step, int *log,
                                     cocabo_error *err) {
  const cb_param *p = NULL;
  CB_TRY(find_param(space, i, &p, err));
  if (is_choice(p))
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\" is a choice, want a real or an int", p->name);
  if (low)
    *low = p->low;
  if (high)
    *high = p->high;
  if (step)
    *step = p->kind == CB_INTEGER ? (double)p->istep : p->step;
  if (log)
    *log = p->log;
  return COCABO_OK;
}

cocabo_status cocabo_space_check(const cocabo_space *space, const cocabo_value *values,
                                 size_t n, cocabo_error *err) {
  cb_cell cells[COCABO_MAX_PARAMETERS];
  if (!space)
    return cb_fail(err, COCABO_E_INVALID, "space is NULL");
  if (!values && n > 0)
    return cb_fail(err, COCABO_E_INVALID, "values is NULL");
  if (n != (size_t)space->n)
    return cb_fail(err, COCABO_E_INVALID, "n is %zu, want the number of parameters, %d",
                   n, space->n);
  return cb_space_to_cells(space, values, cells, err);
}

size_t cocabo_space_choices(const cocabo_space *space, size_t i) {
  const cb_param *p = param_at(space, i);
  return p && is_choice(p) ? (size_t)p->n_choices : 0;
}

cocabo_status cocabo_space_get_choice(const cocabo_space *space, size_t i, size_t k,
                                      cocabo_value *out, cocabo_error *err) {
  const cb_param *p = NULL;
  CB_TRY(find_param(space, i, &p, err));
  if (!out)
    return cb_fail(err, COCABO_E_INVALID, "out is NULL");
  if (!is_choice(p))
    return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" is %s, want a choice",
                   p->name, p->kind == CB_REAL ? "a real" : "an int");
  if (k >= (size_t)p->n_choices)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": choice index is %zu, want less than %d", p->name,
                   k, p->n_choices);
  *out = p->choices[k];
  return COCABO_OK;
}

int cocabo_space_equal(const cocabo_space *a, const cocabo_space *b) {
  return a == b || (a && b && cb_space_equal(a, b));
}
