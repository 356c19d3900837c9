/* expr.c - conditions and rules at work: no memory, and the same bits everywhere. */
#include "space/expr.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "base/maths.h"
#include "base/mem.h"
#include "space/expr_steps.h"

const int *cb_expr_params(const cb_expr *e, int *n) {
  *n = e->n_params;
  return params_of(e);
}

const char *cb_expr_text(const cb_expr *e) {
  return (const char *)(params_of(e) + e->n_params);
}

cb_expr *cb_expr_copy(const cb_expr *e) {
  cb_expr *copy = cb_calloc(1, e->bytes);
  if (copy)
    memcpy(copy, e, e->bytes);
  return copy;
}

void cb_expr_free(cb_expr *e) {
  cb_free(e);
}

/* ---- running --------------------------------------------------------------------- */

/* A number or a truth value; which of them is known from the place.
 *
 * A truth value is how far it is from true and how far from false: one of them is
 * positive, or none if it is unknown. Kleene's tables follow from that: `and` is as far
 * from true as its sides together, and as far from false as the nearer one. */
typedef union slot {
  struct {
    double value;   /* NaN: it has none */
    double unknown; /* 1 or 0 */
  };
  struct {
    double to_true, to_false;
  };
} slot;

static slot truth(bool holds, double gap) {
  return holds ? (slot){.to_true = 0.0, .to_false = gap}
               : (slot){.to_true = gap, .to_false = 0.0};
}

static const slot unknown_truth = {.to_true = 0.0, .to_false = 0.0};

static slot is_among(double value, const double *numbers, int n) {
  for (int i = 0; i < n; i++)
    if (value == numbers[i])
      return truth(true, 1.0);
  return truth(false, 1.0);
}

static slot run_leaf(const cb_expr *e, const step *s, const cb_cell *cells,
                     const bool *active) {
  const double *numbers = e->numbers + s->at;
  if (s->op <= OP_NO)
    return s->op == OP_NUMBER ? (slot){.value = *numbers} : truth(s->op == OP_YES, 1.0);
  if (active && !active[s->param])
    return s->op == OP_AMONG ? unknown_truth : (slot){.unknown = 1.0};
  const cb_cell cell = cells[s->param];
  switch (s->op) {
  case OP_REAL:
    return (slot){.value = cell.real};
  case OP_TABLE:
    return (slot){.value = numbers[cell.integer]};
  case OP_AMONG:
    return is_among((double)cell.integer, numbers, s->n);
  default: /* OP_INTEGER, OP_LEVEL */
    return (slot){.value = (double)cell.integer};
  }
}

static slot run_in(bool in, slot v, const double *numbers, int n) {
  if (v.unknown > 0.0)
    return unknown_truth;
  if (isnan(v.value))
    return truth(false, 1.0);
  double gap = INFINITY;
  for (int i = 0; i < n; i++)
    gap = fmin(gap, fabs(v.value - numbers[i]));
  return truth((gap == 0.0) == in, gap > 0.0 ? gap : 1.0);
}

static double apply(int op, double a) {
  switch (op) {
  case OP_NEGATE:
    return -a;
  case OP_ABS:
    return fabs(a);
  case OP_LOG:
    return a > 0.0 ? cb_log(a) : NAN;
  case OP_EXP:
    return cb_exp(a);
  case OP_SQRT:
    return a >= 0.0 ? sqrt(a) : NAN;
  case OP_FLOOR:
    return floor(a);
  default: /* OP_CEIL */
    return ceil(a);
  }
}

static slot run_unary(const cb_expr *e, const step *s, slot a) {
  if (s->op == OP_NOT)
    return (slot){.to_true = a.to_false, .to_false = a.to_true};
  if (s->op == OP_IN || s->op == OP_NOT_IN)
    return run_in(s->op == OP_IN, a, e->numbers + s->at, s->n);
  return (slot){.value = apply(s->op, a.value), .unknown = a.unknown};
}

/* Python's: the result has the sign of b. fmod is exact. */
static double modulo(double a, double b) {
  const double rest = fmod(a, b);
  return rest != 0.0 && (rest < 0.0) != (b < 0.0) ? rest + b : rest;
}

static double calculate(int op, double a, double b) {
  switch (op) {
  case OP_ADD:
    return a + b;
  case OP_SUBTRACT:
    return a - b;
  case OP_MULTIPLY:
    return a * b;
  case OP_DIVIDE:
    return b != 0.0 ? a / b : NAN;
  case OP_MODULO:
    return b != 0.0 ? modulo(a, b) : NAN;
  default: /* OP_MIN, OP_MAX; NaN stays, unlike in fmin */
    if (isnan(a) || isnan(b))
      return NAN;
    return (op == OP_MIN) == (a < b) ? a : b;
  }
}

static slot relate(int op, double a, double b) {
  /* Equal sides are as near to a < b as can be, but not at all near to a != b. */
  const double gap = a != b ? fabs(a - b) : op >= OP_EQUAL ? 1.0 : DBL_MIN;
  if (isnan(a) || isnan(b))
    return truth(false, 1.0);
  switch (op) {
  case OP_LESS:
    return truth(a < b, gap);
  case OP_LESS_EQUAL:
    return truth(a <= b, gap);
  case OP_GREATER:
    return truth(a > b, gap);
  case OP_GREATER_EQUAL:
    return truth(a >= b, gap);
  case OP_UNEQUAL:
    return truth(a != b, gap);
  default: /* OP_EQUAL, OP_SAME */
    return truth(a == b, op == OP_SAME ? 1.0 : gap);
  }
}

static slot run_binary(int op, slot a, slot b) {
  if (op <= LAST_ARITHMETIC)
    return (slot){.value = calculate(op, a.value, b.value),
                  .unknown = fmax(a.unknown, b.unknown)};
  if (op <= LAST_RELATION)
    return a.unknown > 0.0 || b.unknown > 0.0 ? unknown_truth
                                              : relate(op, a.value, b.value);
  const slot both = {.to_true = a.to_true + b.to_true,
                     .to_false = fmin(a.to_false, b.to_false)};
  const slot neither = {.to_true = a.to_false + b.to_false,
                        .to_false = fmin(a.to_true, b.to_true)};
  if (op == OP_AND)
    return both;
  if (op == OP_OR)
    return (slot){.to_true = neither.to_false, .to_false = neither.to_true};
  return (slot){.to_true = fmin(both.to_true, neither.to_true),
                .to_false = both.to_false + neither.to_false};
}

static slot run(const cb_expr *e, const cb_cell *cells, const bool *active) {
  slot stack[STACK];
  int top = -1;
  const step *s = steps_of(e);
  for (const step *end = s + e->n_steps; s < end; s++) {
    if (s->op <= LAST_LEAF) {
      stack[++top] = run_leaf(e, s, cells, active);
    } else if (s->op <= LAST_UNARY) {
      stack[top] = run_unary(e, s, stack[top]);
    } else {
      top--;
      stack[top] = run_binary(s->op, stack[top], stack[top + 1]);
    }
  }
  return stack[0];
}

cb_truth cb_expr_test(const cb_expr *e, const cb_cell *cells, const bool *active) {
  const slot result = run(e, cells, active);
  if (result.to_true > 0.0)
    return CB_FALSE;
  return result.to_false > 0.0 ? CB_TRUE : CB_UNKNOWN;
}

double cb_expr_violation(const cb_expr *e, const cb_cell *cells, const bool *active) {
  return run(e, cells, active).to_true;
}
