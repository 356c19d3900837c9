/* rules.c - conditions and rules: which parameters are active, and which points are
 * allowed.
 *
 * A condition names only parameters before its own, so one walk through the parameters
 * in order decides all of them.
 */
#include <assert.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "space/expr.h"
#include "space/space.h"

/* ---- adding ---------------------------------------------------------------------- */

/* The presence of the numbers under this condition; a new one if there is none. */
static int presence_of(const cocabo_space *space, const cb_expr *condition) {
  for (int i = 0; i < space->n; i++) {
    const cb_param *p = &space->params[i];
    if (p->condition && p->presence >= 0 &&
        strcmp(cb_expr_text(p->condition), cb_expr_text(condition)) == 0)
      return p->presence;
  }
  return space->presences;
}

/* Takes the condition over unless it fails. */
static cocabo_status set_condition(cocabo_space *space, int i, cb_expr *condition,
                                   cocabo_error *err) {
  cb_param *p = &space->params[i];
  const int presence = p->kind == CB_CHOICE ? -1 : presence_of(space, condition);
  if (presence == space->presences) {
    if (space->n + space->presences >= COCABO_MAX_PARAMETERS)
      return cb_fail(err, COCABO_E_RANGE,
                     "parameter \"%s\": its condition is one too many, want at most %d "
                     "parameters and conditions of numbers",
                     p->name, COCABO_MAX_PARAMETERS);
    space->presences++;
    space->d++;
  }
  p->presence = presence;
  p->condition = condition;
  space->conditional = true;
  cb_space_forget(space);
  return COCABO_OK;
}

cocabo_status cocabo_space_condition(cocabo_space *space, const char *name,
                                     const char *expr, cocabo_error *err) {
  char shown[CB_SHOWN];
  if (!space)
    return cb_fail(err, COCABO_E_INVALID, "space is NULL");
  if (!name || !expr)
    return cb_fail(err, COCABO_E_INVALID, "%s is NULL", name ? "expr" : "name");
  const int i = cb_space_find(space, name);
  if (i < 0)
    return cb_fail(err, COCABO_E_NOT_FOUND, "the space has no parameter \"%s\"",
                   cb_text_show(shown, name));
  if (space->params[i].condition)
    return cb_fail(err, COCABO_E_EXISTS, "parameter \"%s\" has a condition already",
                   name);
  cb_expr *condition = NULL;
  cocabo_error why = {0};
  cocabo_status status = cb_expr_parse(&condition, space, i, expr, &why);
  if (status == COCABO_E_INVALID)
    return cb_fail(err, status, "the condition of \"%s\": %s",
                   cb_text_show_within(shown, name, 40), why.message);
  if (status != COCABO_OK)
    return cb_no_memory(err);
  status = set_condition(space, i, condition, err);
  if (status != COCABO_OK)
    cb_expr_free(condition);
  return status;
}

cocabo_status cocabo_space_rule(cocabo_space *space, const char *expr,
                                cocabo_error *err) {
  if (!space)
    return cb_fail(err, COCABO_E_INVALID, "space is NULL");
  if (!expr)
    return cb_fail(err, COCABO_E_INVALID, "expr is NULL");
  if (space->n_rules >= COCABO_MAX_PARAMETERS)
    return cb_fail(err, COCABO_E_RANGE, "a rule is one too many, want at most %d",
                   COCABO_MAX_PARAMETERS);
  cb_expr **rules = cb_realloc(space->rules, (size_t)space->n_rules + 1, sizeof *rules);
  if (!rules)
    return cb_no_memory(err);
  space->rules = rules;
  cocabo_error why = {0};
  const cocabo_status status =
      cb_expr_parse(&rules[space->n_rules], space, space->n, expr, &why);
  if (status == COCABO_E_INVALID) {
    char shown[CB_SHOWN];
    return cb_fail(err, status, "the rule \"%s\": %s",
                   cb_text_show_within(shown, expr, 40), why.message);
  }
  if (status != COCABO_OK)
    return cb_no_memory(err);
  space->n_rules++;
  cb_space_forget(space);
  return COCABO_OK;
}

const char *cocabo_space_get_condition(const cocabo_space *space, size_t i) {
  if (i >= cocabo_space_count(space) || !space->params[i].condition)
    return NULL;
  return cb_expr_text(space->params[i].condition);
}

const char *cocabo_space_get_rule(const cocabo_space *space, size_t k) {
  return space && k < (size_t)space->n_rules ? cb_expr_text(space->rules[k]) : NULL;
}

/* ---- what is active -------------------------------------------------------------- */

static bool holds_condition(const cb_param *p, const cb_cell *cells,
                            const bool *active) {
  return !p->condition || cb_expr_test(p->condition, cells, active) == CB_TRUE;
}

void cb_space_settle(const cocabo_space *space, cb_rng *rng, cb_cell *cells) {
  bool active[COCABO_MAX_PARAMETERS];
  if (!space->conditional)
    return;
  for (int i = 0; i < space->n; i++) {
    const cb_param *p = &space->params[i];
    active[i] = holds_condition(p, cells, active);
    if (!active[i])
      cells[i] = CB_INACTIVE;
    else if (!cb_cell_is_active(cells[i]))
      cells[i] = rng                    ? cb_param_sample(p, rng)
                 : p->kind == CB_CHOICE ? (cb_cell){.integer = 0}
                                        : cb_param_cell(p, 0.0);
  }
}

static cocabo_status wrong_presence(const cocabo_space *space, int i, cb_cell cell,
                                    cocabo_error *err) {
  const cb_param *p = &space->params[i];
  char name[CB_SHOWN], shown[CB_SHOWN], condition[CB_SHOWN];
  cb_text_show_within(name, p->name, 40);
  cb_text_show(condition, cb_expr_text(p->condition));
  if (!cb_cell_is_active(cell))
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\" is missing, want a value where %s", name,
                   condition);
  const cocabo_value value = cb_space_from_cell(space, i, cell);
  return cb_fail(err, COCABO_E_INVALID,
                 "parameter \"%s\" is %s, want none: it is inactive unless %s", name,
                 cb_value_show(shown, &value), condition);
}

cocabo_status cb_space_check_active(const cocabo_space *space, const cb_cell *cells,
                                    cocabo_error *err) {
  bool active[COCABO_MAX_PARAMETERS];
  for (int i = 0; i < space->n && space->conditional; i++) {
    active[i] = holds_condition(&space->params[i], cells, active);
    if (active[i] != cb_cell_is_active(cells[i]))
      return wrong_presence(space, i, cells[i], err);
  }
  return COCABO_OK;
}

/* ---- what is allowed ------------------------------------------------------------- */

static const bool *list_active(const cocabo_space *space, const cb_cell *cells,
                               bool active[static COCABO_MAX_PARAMETERS]) {
  if (!space->conditional)
    return NULL;
  for (int i = 0; i < space->n; i++)
    active[i] = cb_cell_is_active(cells[i]);
  return active;
}

/* The first rule that is broken, -1 if none is. */
static int broken_rule(const cocabo_space *space, const cb_cell *cells) {
  bool room[COCABO_MAX_PARAMETERS];
  const bool *active = list_active(space, cells, room);
  for (int k = 0; k < space->n_rules; k++)
    if (cb_expr_test(space->rules[k], cells, active) == CB_FALSE)
      return k;
  return -1;
}

bool cb_space_allows(const cocabo_space *space, const cb_cell *cells) {
  return space->n_rules == 0 || broken_rule(space, cells) < 0;
}

double cb_space_violation(const cocabo_space *space, const cb_cell *cells) {
  bool room[COCABO_MAX_PARAMETERS];
  const bool *active = list_active(space, cells, room);
  double sum = 0.0;
  for (int k = 0; k < space->n_rules; k++)
    sum += cb_expr_violation(space->rules[k], cells, active);
  return sum;
}

/* The parameters that a rule names and their values, "lc=4, lp=4", as far as there is
 * room. */
enum { EXAMPLE = 100 };
static const char *show_example(const cocabo_space *space, const cb_expr *rule,
                                const cb_cell *cells, char out[static EXAMPLE]) {
  int n = 0;
  size_t used = 0;
  const int *named = cb_expr_params(rule, &n);
  out[0] = '\0';
  for (int k = 0; k < n; k++) {
    const int i = named[k];
    char item[2 * CB_SHOWN + 8], name[CB_SHOWN], shown[CB_SHOWN] = "inactive";
    if (cb_cell_is_active(cells[i])) {
      const cocabo_value value = cb_space_from_cell(space, i, cells[i]);
      cb_value_show(shown, &value);
    }
    const int length =
        snprintf(item, sizeof item, "%s%s=%s", k > 0 ? ", " : "",
                 cb_text_show_within(name, space->params[i].name, 24), shown);
    if (used + (size_t)length >= EXAMPLE)
      break;
    memcpy(out + used, item, (size_t)length + 1);
    used += (size_t)length;
  }
  return out;
}

cocabo_status cb_space_check_rules(const cocabo_space *space, const cb_cell *cells,
                                   cocabo_error *err) {
  char rule[CB_SHOWN], example[EXAMPLE];
  const int k = broken_rule(space, cells);
  if (k < 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_RANGE, "%s breaks the rule \"%s\"",
                 show_example(space, space->rules[k], cells, example),
                 cb_text_show(rule, cb_expr_text(space->rules[k])));
}

/* ---- repair ---------------------------------------------------------------------- */

/* Everything that a broken rule names. */
static void list_named(const cocabo_space *space, const cb_cell *cells, bool *named) {
  bool room[COCABO_MAX_PARAMETERS];
  const bool *active = list_active(space, cells, room);
  memset(named, 0, (size_t)space->n * sizeof *named);
  for (int k = 0; k < space->n_rules; k++) {
    int n = 0;
    const int *params = cb_expr_params(space->rules[k], &n);
    if (cb_expr_test(space->rules[k], cells, active) == CB_FALSE)
      for (int j = 0; j < n; j++)
        named[params[j]] = true;
  }
}

/* Move m of a parameter: down or up by a half, a quarter, ... of its range, so far that
 * an equation of reals can come out even; one level down or up; then any value. */
enum { SCALES = 54, MOVES = 2 * SCALES + 2 + 4 };
static cb_cell moved(const cb_param *p, int m, cb_cell cell, cb_rng *rng) {
  if (p->kind == CB_CHOICE || m >= 2 * SCALES + 2)
    return cb_param_sample(p, rng);
  const double sign = m % 2 == 0 ? -1.0 : 1.0;
  if (m >= 2 * SCALES)
    return cb_param_step(p, cell, (int)sign);
  return cb_param_cell(p, cb_param_place(p, cell) + sign * ldexp(1.0, -(m / 2)));
}

/* Takes the best move of parameter i, if it is better than none. *left is what is left
 * of the effort. */
static double move_one(const cocabo_space *space, cb_rng *rng, int i, cb_cell *cells,
                       double least, int *left) {
  const size_t bytes = (size_t)space->n * sizeof *cells;
  const int first = space->params[i].kind == CB_CHOICE ? 2 * SCALES : 0;
  cb_cell best[COCABO_MAX_PARAMETERS], tried[COCABO_MAX_PARAMETERS];
  memcpy(best, cells, bytes);
  for (int m = first; m < MOVES && least > 0.0 && *left > 0; m++, --*left) {
    memcpy(tried, cells, bytes);
    tried[i] = moved(&space->params[i], m, cells[i], rng);
    if (tried[i].integer == cells[i].integer)
      continue; /* less than a level */
    cb_space_settle(space, rng, tried);
    const double violation = cb_space_violation(space, tried);
    if (violation < least) {
      least = violation;
      memcpy(best, tried, bytes);
    }
  }
  memcpy(cells, best, bytes);
  return least;
}

/* A parameter is drawn anew: one of those named or, if anyone will do, any. */
static void shake(const cocabo_space *space, cb_rng *rng, const bool *named,
                  bool anyone, cb_cell *cells) {
  const int start = (int)cb_rng_below(rng, (uint32_t)space->n);
  for (int k = 0; k < space->n; k++) {
    const int i = (start + k) % space->n;
    if ((named[i] || anyone) && cb_cell_is_active(cells[i])) {
      cells[i] = cb_param_sample(&space->params[i], rng);
      break;
    }
  }
  cb_space_settle(space, rng, cells);
}

/* Coordinate descent on the violation; where it is stuck the point is shaken. A rule
 * that names many has dear rounds, and gets the fewer. */
bool cb_space_repair(const cocabo_space *space, cb_rng *rng, cb_cell *cells) {
  enum { ROUNDS = 50, TRIES = 20000 };
  const size_t bytes = (size_t)space->n * sizeof *cells;
  bool named[COCABO_MAX_PARAMETERS];
  cb_cell at[COCABO_MAX_PARAMETERS];
  double nearest = cb_space_violation(space, cells), least = nearest;
  int left = TRIES;
  memcpy(at, cells, bytes);
  for (int round = 0; round < ROUNDS && nearest > 0.0 && left > 0; round++) {
    const double before = least;
    list_named(space, at, named);
    for (int i = 0; i < space->n && least > 0.0; i++)
      if (named[i] && cb_cell_is_active(at[i]))
        least = move_one(space, rng, i, at, least, &left);
    if (least < nearest) {
      nearest = least;
      memcpy(cells, at, bytes);
    }
    if (least < before)
      continue;
    shake(space, rng, named, round % 2 == 1, at);
    least = cb_space_violation(space, at);
  }
  return cb_space_allows(space, cells);
}

/* ---- is there anything? ---------------------------------------------------------- */

static cocabo_status nothing_allowed(const cocabo_space *space, int drawn, int repaired,
                                     const cb_cell *nearest, cocabo_error *err) {
  char rule[CB_SHOWN], example[EXAMPLE];
  const int k = broken_rule(space, nearest);
  assert(k >= 0);
  return cb_fail(err, COCABO_E_INVALID,
                 "no point keeps the rules: of %d drawn and %d repaired none does; %s "
                 "breaks \"%s\"",
                 drawn, repaired,
                 show_example(space, space->rules[k], nearest, example),
                 cb_text_show(rule, cb_expr_text(space->rules[k])));
}

cocabo_status cocabo_space_acceptance(const cocabo_space *space, double *share,
                                      cocabo_error *err) {
  enum { DRAWN = 10000, REPAIRED = 40 };
  cb_cell cells[COCABO_MAX_PARAMETERS];
  int accepted = 0;
  if (!space || !share)
    return cb_fail(err, COCABO_E_INVALID, "%s is NULL", space ? "share" : "space");
  cb_rng rng = cb_rng_make(0, CB_RNG_SPACE, 0);
  for (int i = 0; i < DRAWN && space->n_rules > 0; i++) {
    cb_space_draw(space, &rng, cells);
    accepted += cb_space_allows(space, cells);
  }
  *share = space->n_rules > 0 ? (double)accepted / DRAWN : 1.0;
  for (int i = 0; i < REPAIRED && accepted == 0 && space->n_rules > 0; i++) {
    cb_space_draw(space, &rng, cells);
    if (cb_space_repair(space, &rng, cells))
      return COCABO_OK;
  }
  return accepted > 0 || space->n_rules == 0
             ? COCABO_OK
             : nothing_allowed(space, DRAWN, REPAIRED, cells, err);
}
