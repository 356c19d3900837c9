/* space.c - building a space: every parameter is checked here, once, at the border. */
#include "space/space.h"

#include <float.h>
#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "space/expr.h"

static const int64_t max_exact = INT64_C(1) << 53; /* +-2^53: exact as a double */

/* ---- life ------------------------------------------------------------------------ */

cocabo_space *cocabo_space_new(void) {
  cocabo_space *space = cb_calloc(1, sizeof *space);
  if (space)
    atomic_init(&space->refs, 1);
  return space;
}

/* Copes with half a parameter: what is missing is NULL or of type null. */
static void clear_param(cb_param *p) {
  for (int k = 0; p->choices && k < p->n_choices; k++)
    if (p->choices[k].type == COCABO_TEXT)
      cb_free((char *)p->choices[k].as.text);
  cb_free(p->choices);
  cb_free(p->name);
  cb_expr_free(p->condition);
}

void cocabo_space_free(cocabo_space *space) {
  if (!space || atomic_fetch_sub(&space->refs, 1) > 1)
    return;
  for (int i = 0; i < space->n; i++)
    clear_param(&space->params[i]);
  cb_free(space->params);
  for (int k = 0; k < space->n_rules; k++)
    cb_expr_free(space->rules[k]);
  cb_free(space->rules);
  cb_free(space->numeric);
  cb_free(space->categorical);
  cb_free(space);
}

cocabo_space *cb_space_share(cocabo_space *space) {
  atomic_fetch_add(&space->refs, 1);
  return space;
}

size_t cocabo_space_count(const cocabo_space *space) {
  return space ? (size_t)space->n : 0;
}

int cb_space_find(const cocabo_space *space, const char *name) {
  for (int i = 0; i < space->n; i++)
    if (strcmp(space->params[i].name, name) == 0)
      return i;
  return -1;
}

int32_t cb_space_arms(const cocabo_space *space, int j) {
  return space->params[space->categorical[j]].n_choices;
}

/* ---- adding ---------------------------------------------------------------------- */

/* Gives the parameter its slot and makes it part of the space, which owns it from then
 * on; on failure the space is as it was and the parameter still the caller's. */
static cocabo_status publish(cocabo_space *space, cb_param *p, cocabo_error *err) {
  const bool categorical = p->kind == CB_CHOICE;
  int **slots = categorical ? &space->categorical : &space->numeric;
  int *count = categorical ? &space->c : &space->numbers;

  cb_param *params = cb_realloc(space->params, (size_t)space->n + 1, sizeof *params);
  if (!params)
    return cb_no_memory(err);
  space->params = params;
  int *grown = cb_realloc(*slots, (size_t)*count + 1, sizeof *grown);
  if (!grown)
    return cb_no_memory(err);
  *slots = grown;

  p->slot = *count;
  grown[(*count)++] = space->n;
  params[space->n++] = *p;
  space->d = space->numbers + space->presences;
  cb_space_forget(space);
  return COCABO_OK;
}

void cb_space_remove_last(cocabo_space *space) {
  cb_param *last = &space->params[--space->n];
  if (last->kind == CB_CHOICE)
    space->c--;
  else
    space->numbers--;
  clear_param(last);
  space->d = space->numbers + space->presences;
}

/* Copies the name into the checked parameter and publishes it. Takes the parameter over
 * in any case. */
static cocabo_status add(cocabo_space *space, const char *name, cb_param *p,
                         cocabo_error *err) {
  p->name = cb_strdup(name);
  p->presence = p->condition ? p->presence : -1;
  const cocabo_status status = p->name ? publish(space, p, err) : cb_no_memory(err);
  if (status != COCABO_OK)
    clear_param(p);
  return status;
}

static cocabo_status check_new(const cocabo_space *space, const char *name,
                               cocabo_error *err) {
  if (!space)
    return cb_fail(err, COCABO_E_INVALID, "space is NULL");
  CB_TRY(cb_name_check("parameter name", name, err));
  if (cb_space_find(space, name) >= 0)
    return cb_fail(err, COCABO_E_EXISTS, "parameter \"%s\" exists already", name);
  if (space->n + space->presences >= COCABO_MAX_PARAMETERS)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\" is one too many, want at most %d", name,
                   COCABO_MAX_PARAMETERS);
  return COCABO_OK;
}

static cocabo_status check_flags(const char *name, unsigned flags, unsigned known,
                                 cocabo_error *err) {
  if (flags & ~known)
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": flags are %u, want %s or 0", name, flags,
                   known == COCABO_LOG ? "COCABO_LOG" : "COCABO_ORDERED");
  return COCABO_OK;
}

static cocabo_status check_finite(const char *name, const char *what, double number,
                                  cocabo_error *err) {
  char shown[CB_DIGITS];
  if (!isfinite(number))
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": %s is %s, want a finite number", name, what,
                   cb_number_show(shown, number));
  return COCABO_OK;
}

static cocabo_status check_bounds(const char *name, double low, double high,
                                  unsigned flags, cocabo_error *err) {
  char l[CB_DIGITS], h[CB_DIGITS];
  CB_TRY(check_finite(name, "low", low, err));
  CB_TRY(check_finite(name, "high", high, err));
  cb_number_show(l, low);
  cb_number_show(h, high);
  if (low > high)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": low is %s, high is %s, want low <= high", name, l,
                   h);
  if (!isfinite(high - low))
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": low is %s, high is %s, want high - low finite",
                   name, l, h);
  if ((flags & COCABO_LOG) && !(low > 0.0))
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": low is %s, want low > 0 on a log scale", name, l);
  return COCABO_OK;
}

/* How far (high - low) / step may be from a whole number by the rounding of the
 * decimals that the user wrote. */
static double grid_doubt(double low, double high, double step) {
  const double size = fabs(low) / step + fabs(high) / step + (high - low) / step;
  return fmin(4.0 * DBL_EPSILON * size, 0.25);
}

/* The least power of ten that makes whole numbers of low and step, so that the levels
 * between are those decimals too; where there is one that keeps them all exact. */
static void find_units(cb_param *p) {
  enum { MOST_DECIMALS = 22 }; /* 10^22 is the last power that is exact */
  const double limit = (double)max_exact;
  double units = 1.0;
  for (int i = 0; i <= MOST_DECIMALS; i++) {
    const double low = nearbyint(p->low * units), step = nearbyint(p->step * units);
    if (fabs(low) > limit || fabs(low + (double)(p->levels - 1) * step) > limit)
      return;
    if (low / units == p->low && step / units == p->step) {
      p->units = units;
      p->units_low = (int64_t)low;
      p->units_step = (int64_t)step;
      return;
    }
    units *= 10.0;
  }
}

/* Two neighbouring levels must differ after rounding: low + k step is off by at
 * most 1.5 units in the last place of the larger bound. */
static cocabo_status check_step(const char *name, double low, double high, double step,
                                unsigned flags, cocabo_error *err) {
  char shown[CB_DIGITS], limit[CB_DIGITS];
  CB_TRY(check_finite(name, "step", step, err));
  cb_number_show(shown, step);
  if (step < 0.0)
    return cb_fail(err, COCABO_E_RANGE, "parameter \"%s\": step is %s, want >= 0", name,
                   shown);
  if (step == 0.0)
    return COCABO_OK;
  if (flags & COCABO_LOG)
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": step is %s, want 0 on a log scale", name, shown);
  if (low < high && (high - low) / step < 1.0 - grid_doubt(low, high, step))
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": step is %s, want at most high - low, which is %s",
                   name, shown, cb_number_show(limit, high - low));
  const double finest = 4.0 * DBL_EPSILON * fmax(fabs(low), fabs(high));
  if (step < finest)
    return cb_fail(
        err, COCABO_E_RANGE,
        "parameter \"%s\": step is %s, want at least %s so that levels differ", name,
        shown, cb_number_show(limit, finest));
  return COCABO_OK;
}

/* Counts the levels low, low + step, ... <= high. 0 to 0.3 by 0.1 shall end at 0.3
 * although 0.3 / 0.1 < 3: where rounding can explain the difference, high itself is
 * meant to be the last level. */
static void lay_grid(cb_param *p) {
  const double steps = (p->high - p->low) / p->step;
  const bool ends =
      fabs(steps - nearbyint(steps)) <= grid_doubt(p->low, p->high, p->step);
  const int64_t last = (int64_t)(ends ? nearbyint(steps) : floor(steps));
  p->levels = last + 2; /* so that the last is one like the others */
  find_units(p);
  if (!ends || p->units > 0.0)
    p->high = cb_param_level(p, last);
  p->levels = last + 1;
}

static void set_scale(cb_param *p, unsigned flags) {
  p->log = (flags & COCABO_LOG) != 0;
  if (p->log) {
    p->log_low = cb_log(p->low);
    p->log_span = cb_log(p->high) - p->log_low;
  }
}

static double without_sign(double number) {
  return number == 0.0 ? 0.0 : number; /* -0.0 becomes 0.0 */
}

cocabo_status cocabo_space_add_real(cocabo_space *space, const char *name, double low,
                                    double high, double step, unsigned flags,
                                    cocabo_error *err) {
  CB_TRY(check_new(space, name, err));
  CB_TRY(check_flags(name, flags, COCABO_LOG, err));
  CB_TRY(check_bounds(name, low, high, flags, err));
  CB_TRY(check_step(name, low, high, step, flags, err));

  cb_param p = {.kind = CB_REAL,
                .low = without_sign(low),
                .high = without_sign(high),
                .step = without_sign(step)};
  if (low == high)
    p.levels = 1;
  else if (step > 0.0)
    lay_grid(&p);
  set_scale(&p, flags);
  return add(space, name, &p, err);
}

static cocabo_status check_int_bound(const char *name, const char *what, int64_t value,
                                     cocabo_error *err) {
  if (value < -max_exact || value > max_exact)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": %s is %lld, want -2^53 to 2^53", name, what,
                   (long long)value);
  return COCABO_OK;
}

static cocabo_status check_int_range(const char *name, int64_t low, int64_t high,
                                     unsigned flags, cocabo_error *err) {
  CB_TRY(check_int_bound(name, "low", low, err));
  CB_TRY(check_int_bound(name, "high", high, err));
  if (low > high)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": low is %lld, high is %lld, want low <= high",
                   name, (long long)low, (long long)high);
  if (high - low >= CB_MAX_LEVELS)
    return cb_fail(
        err, COCABO_E_RANGE,
        "parameter \"%s\": low is %lld, high is %lld, want at most 2^53 values", name,
        (long long)low, (long long)high);
  if ((flags & COCABO_LOG) && low < 1)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": low is %lld, want low > 0 on a log scale", name,
                   (long long)low);
  if ((flags & COCABO_LOG) && high > CB_MAX_LOG_INT)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": high is %lld, want at most 2^40 on a log scale",
                   name, (long long)high);
  return COCABO_OK;
}

/* The range has been checked. */
static cocabo_status check_int_step(const char *name, int64_t low, int64_t high,
                                    int64_t step, unsigned flags, cocabo_error *err) {
  if (step < 0)
    return cb_fail(err, COCABO_E_RANGE, "parameter \"%s\": step is %lld, want >= 0",
                   name, (long long)step);
  if (step > 1 && (flags & COCABO_LOG))
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": step is %lld, want 1 on a log scale", name,
                   (long long)step);
  if (step > 1 && low < high && step > high - low)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\": step is %lld, want at most high - low, which is "
                   "%lld",
                   name, (long long)step, (long long)(high - low));
  return COCABO_OK;
}

cocabo_status cocabo_space_add_int(cocabo_space *space, const char *name, int64_t low,
                                   int64_t high, int64_t step, unsigned flags,
                                   cocabo_error *err) {
  CB_TRY(check_new(space, name, err));
  CB_TRY(check_flags(name, flags, COCABO_LOG, err));
  CB_TRY(check_int_range(name, low, high, flags, err));
  CB_TRY(check_int_step(name, low, high, step, flags, err));

  const int64_t istep = step > 1 ? step : 1, last = (high - low) / istep;
  cb_param p = {.kind = CB_INTEGER,
                .ilow = low,
                .ihigh = low + last * istep,
                .istep = istep,
                .low = (double)low,
                .high = (double)(low + last * istep),
                .levels = last + 1};
  set_scale(&p, flags);
  return add(space, name, &p, err);
}

/* ---- choices --------------------------------------------------------------------- */

static cocabo_status check_choice(const char *name, size_t k,
                                  const cocabo_value *choice, cocabo_error *err) {
  char shown[CB_DIGITS];
  switch (choice->type) {
  case COCABO_ABSENT:
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": choice %zu is absent, want a value", name, k);
  case COCABO_NULL:
  case COCABO_BOOL:
  case COCABO_INT:
    return COCABO_OK;
  case COCABO_REAL:
    if (!isfinite(choice->as.real))
      return cb_fail(err, COCABO_E_RANGE,
                     "parameter \"%s\": choice %zu is %s, want a finite number", name,
                     k, cb_number_show(shown, choice->as.real));
    return COCABO_OK;
  case COCABO_TEXT:
    if (!choice->as.text)
      return cb_fail(err, COCABO_E_INVALID,
                     "parameter \"%s\": choice %zu is a NULL text", name, k);
    if (!cb_text_is_utf8(choice->as.text))
      return cb_fail(err, COCABO_E_INVALID,
                     "parameter \"%s\": choice %zu is not valid UTF-8", name, k);
    return COCABO_OK;
  }
  return cb_fail(err, COCABO_E_INVALID,
                 "parameter \"%s\": choice %zu has type %d, want a cocabo_type", name,
                 k, (int)choice->type);
}

static cocabo_status check_choices(const char *name, const cocabo_value *choices,
                                   size_t n, cocabo_error *err) {
  if (n == 0 || n > COCABO_MAX_CHOICES)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\" has %zu choices, want 1 to %d", name, n,
                   COCABO_MAX_CHOICES);
  if (!choices)
    return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\": choices is NULL", name);
  for (size_t k = 0; k < n; k++) {
    CB_TRY(check_choice(name, k, &choices[k], err));
    for (size_t earlier = 0; earlier < k; earlier++)
      if (cb_value_equal(&choices[k], &choices[earlier]))
        return cb_fail(err, COCABO_E_INVALID,
                       "parameter \"%s\": choice %zu repeats choice %zu", name, k,
                       earlier);
  }
  return COCABO_OK;
}

/* False if out of memory; clear_param copes with what has been copied so far. */
static bool copy_choices(cb_param *p, const cocabo_value *choices) {
  p->choices = cb_calloc((size_t)p->n_choices, sizeof *p->choices);
  if (!p->choices)
    return false;
  for (int k = 0; k < p->n_choices; k++) {
    cocabo_value value = choices[k];
    if (value.type == COCABO_BOOL)
      value.as.boolean = value.as.boolean != 0;
    if (value.type == COCABO_TEXT) {
      value.as.text = cb_strdup(value.as.text);
      if (!value.as.text)
        return false;
    }
    p->choices[k] = value;
  }
  return true;
}

cocabo_status cocabo_space_add_choice(cocabo_space *space, const char *name,
                                      const cocabo_value *choices, size_t n,
                                      unsigned flags, cocabo_error *err) {
  CB_TRY(check_new(space, name, err));
  CB_TRY(check_flags(name, flags, COCABO_ORDERED, err));
  CB_TRY(check_choices(name, choices, n, err));

  cb_param p = {.kind = flags & COCABO_ORDERED ? CB_ORDINAL : CB_CHOICE,
                .n_choices = (int)n,
                .levels = (int64_t)n};
  if (!copy_choices(&p, choices)) {
    clear_param(&p);
    return cb_no_memory(err);
  }
  return add(space, name, &p, err);
}

/* ---- copying and comparing ------------------------------------------------------- */

static bool copy_param(cocabo_space *to, const cb_param *from) {
  cb_param p = *from;
  p.name = NULL;
  p.choices = NULL;
  p.condition = from->condition ? cb_expr_copy(from->condition) : NULL;
  if ((from->condition && !p.condition) ||
      (from->choices && !copy_choices(&p, from->choices))) {
    clear_param(&p);
    return false;
  }
  return add(to, from->name, &p, NULL) == COCABO_OK;
}

static bool copy_rules(cocabo_space *to, const cocabo_space *from) {
  to->rules = cb_calloc((size_t)from->n_rules + 1, sizeof(cb_expr *));
  if (!to->rules)
    return false;
  for (; to->n_rules < from->n_rules; to->n_rules++) {
    to->rules[to->n_rules] = cb_expr_copy(from->rules[to->n_rules]);
    if (!to->rules[to->n_rules])
      return false;
  }
  return true;
}

cocabo_space *cb_space_copy(const cocabo_space *space) {
  cocabo_space *copy = cocabo_space_new();
  bool fine = copy != NULL;
  for (int i = 0; fine && i < space->n; i++)
    fine = copy_param(copy, &space->params[i]);
  if (fine && space->n_rules > 0)
    fine = copy_rules(copy, space);
  if (!fine) {
    cocabo_space_free(copy);
    return NULL;
  }
  copy->presences = space->presences;
  copy->d = space->d;
  copy->conditional = space->conditional;
  return copy;
}

static bool same_expr(const cb_expr *a, const cb_expr *b) {
  return a && b ? strcmp(cb_expr_text(a), cb_expr_text(b)) == 0 : a == b;
}

static bool same_param(const cb_param *a, const cb_param *b) {
  if (strcmp(a->name, b->name) != 0 || a->kind != b->kind || a->log != b->log ||
      a->levels != b->levels || a->low != b->low || a->high != b->high ||
      a->step != b->step || a->istep != b->istep || a->n_choices != b->n_choices ||
      !same_expr(a->condition, b->condition))
    return false;
  for (int k = 0; k < a->n_choices; k++)
    if (!cb_value_equal(&a->choices[k], &b->choices[k]))
      return false;
  return true;
}

bool cb_space_equal(const cocabo_space *a, const cocabo_space *b) {
  if (a->n != b->n || a->n_rules != b->n_rules)
    return false;
  for (int i = 0; i < a->n; i++)
    if (!same_param(&a->params[i], &b->params[i]))
      return false;
  for (int k = 0; k < a->n_rules; k++)
    if (!same_expr(a->rules[k], b->rules[k]))
      return false;
  return true;
}

/* ---- user values ----------------------------------------------------------------- */

static cocabo_status wrong_type(const cb_param *p, const cocabo_value *value,
                                const char *want, cocabo_error *err) {
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\": %s is of type %s, want %s",
                 p->name, cb_value_show(shown, value), cb_type_name(value->type), want);
}

static cocabo_status outside(const cb_param *p, const cocabo_value *value,
                             cocabo_error *err) {
  char shown[CB_SHOWN], low[CB_DIGITS], high[CB_DIGITS];
  return cb_fail(err, COCABO_E_RANGE, "parameter \"%s\" is %s, want %s to %s", p->name,
                 cb_value_show(shown, value), cb_number_show(low, p->low),
                 cb_number_show(high, p->high));
}

/* The level nearest to the number; a decimal the user wrote lies off it by rounding
 * only, perhaps beyond the last one. */
static cocabo_status snap_to_grid(const cb_param *p, const cocabo_value *value,
                                  double *number, cocabo_error *err) {
  const double last = (double)(p->levels - 1);
  const double k = fmax(0.0, nearbyint((*number - p->low) / p->step));
  const double level = cb_param_level(p, k >= last ? p->levels - 1 : (int64_t)k);
  const double doubt = 1e-9 * p->step + 4.0 * DBL_EPSILON * fabs(level);
  if (fabs(*number - level) <= doubt) {
    *number = level;
    return COCABO_OK;
  }
  if (!(*number >= p->low && *number <= p->high))
    return outside(p, value, err);
  char shown[CB_SHOWN], low[CB_DIGITS], step[CB_DIGITS];
  return cb_fail(err, COCABO_E_RANGE,
                 "parameter \"%s\" is %s, want %s plus a multiple of %s", p->name,
                 cb_value_show(shown, value), cb_number_show(low, p->low),
                 cb_number_show(step, p->step));
}

static cocabo_status real_to_cell(const cb_param *p, const cocabo_value *value,
                                  cb_cell *cell, cocabo_error *err) {
  double number;
  if (value->type == COCABO_REAL)
    number = value->as.real;
  else if (value->type == COCABO_INT && value->as.integer >= -max_exact &&
           value->as.integer <= max_exact)
    number = (double)value->as.integer;
  else
    return wrong_type(p, value, "a real", err);

  if (p->levels > 1)
    CB_TRY(snap_to_grid(p, value, &number, err));
  else if (!(number >= p->low && number <= p->high))
    return outside(p, value, err);
  cell->real = without_sign(number);
  return COCABO_OK;
}

static cocabo_status int_to_cell(const cb_param *p, const cocabo_value *value,
                                 cb_cell *cell, cocabo_error *err) {
  if (value->type != COCABO_INT)
    return wrong_type(p, value, "an int", err);
  if (value->as.integer < p->ilow || value->as.integer > p->ihigh)
    return outside(p, value, err);
  if ((value->as.integer - p->ilow) % p->istep != 0)
    return cb_fail(err, COCABO_E_RANGE,
                   "parameter \"%s\" is %lld, want %lld plus a multiple of %lld",
                   p->name, (long long)value->as.integer, (long long)p->ilow,
                   (long long)p->istep);
  cell->integer = value->as.integer;
  return COCABO_OK;
}

static cocabo_status choice_to_cell(const cb_param *p, const cocabo_value *value,
                                    cb_cell *cell, cocabo_error *err) {
  if (value->type == COCABO_TEXT && !value->as.text)
    return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" is a NULL text", p->name);
  bool type_known = false;
  for (int k = 0; k < p->n_choices; k++) {
    type_known = type_known || p->choices[k].type == value->type;
    if (cb_value_equal(&p->choices[k], value)) {
      cell->integer = k;
      return COCABO_OK;
    }
  }
  if (!type_known)
    return wrong_type(p, value, "one of its choices", err);
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_RANGE, "parameter \"%s\" is %s, want one of its choices",
                 p->name, cb_value_show(shown, value));
}

cocabo_status cb_space_to_cell(const cocabo_space *space, int i,
                               const cocabo_value *value, cb_cell *cell,
                               cocabo_error *err) {
  const cb_param *p = &space->params[i];
  if (value->type == COCABO_ABSENT && p->condition) {
    *cell = CB_INACTIVE;
    return COCABO_OK;
  }
  if (value->type == COCABO_ABSENT)
    return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" is missing", p->name);
  if ((unsigned)value->type > COCABO_TEXT)
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\" has type %d, want a cocabo_type", p->name,
                   (int)value->type);
  cb_cell built = {.integer = 0};
  switch (p->kind) {
  case CB_REAL:
    CB_TRY(real_to_cell(p, value, &built, err));
    break;
  case CB_INTEGER:
    CB_TRY(int_to_cell(p, value, &built, err));
    break;
  case CB_CHOICE:
  case CB_ORDINAL:
    CB_TRY(choice_to_cell(p, value, &built, err));
    break;
  }
  *cell = built;
  return COCABO_OK;
}

cocabo_status cb_space_to_cells(const cocabo_space *space, const cocabo_value *values,
                                cb_cell *cells, cocabo_error *err) {
  for (int i = 0; i < space->n; i++)
    CB_TRY(cb_space_to_cell(space, i, &values[i], &cells[i], err));
  return cb_space_check_active(space, cells, err);
}

cocabo_value cb_space_from_cell(const cocabo_space *space, int i, cb_cell cell) {
  const cb_param *p = &space->params[i];
  if (!cb_cell_is_active(cell))
    return (cocabo_value){.type = COCABO_ABSENT};
  switch (p->kind) {
  case CB_REAL:
    return (cocabo_value){.type = COCABO_REAL, .as.real = cell.real};
  case CB_INTEGER:
    return (cocabo_value){.type = COCABO_INT, .as.integer = cell.integer};
  case CB_CHOICE:
  case CB_ORDINAL:
    break;
  }
  return p->choices[cell.integer];
}
