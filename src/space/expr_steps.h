/* expr_steps.h - an expression as it is kept: steps in postfix order, code for a
 * machine with a stack, in one block without pointers. Between expr.c, which runs it,
 * and expr_read.c, which makes it.
 */
#ifndef CB_SPACE_EXPR_STEPS_H
#define CB_SPACE_EXPR_STEPS_H

#include "space/expr.h"

enum op {
  /* leaves: push one value */
  OP_NUMBER,  /* numbers[at] */
  OP_YES,     /* true */
  OP_NO,      /* false */
  OP_REAL,    /* the cell */
  OP_INTEGER, /* the cell */
  OP_LEVEL,   /* the cell: an index */
  OP_TABLE,   /* numbers[at + cell] */
  OP_AMONG,   /* is the cell one of numbers[at .. at+n-1]? */
  LAST_LEAF = OP_AMONG,
  /* of one value */
  OP_NEGATE,
  OP_ABS,
  OP_LOG,
  OP_EXP,
  OP_SQRT,
  OP_FLOOR,
  OP_CEIL,
  OP_IN,     /* is it one of numbers[at .. at+n-1]? */
  OP_NOT_IN, /* the opposite; but without a value both are false */
  OP_NOT,
  LAST_UNARY = OP_NOT,
  /* of two */
  OP_ADD,
  OP_SUBTRACT,
  OP_MULTIPLY,
  OP_DIVIDE,
  OP_MODULO,
  OP_MIN,
  OP_MAX,
  LAST_ARITHMETIC = OP_MAX,
  OP_LESS,
  OP_LESS_EQUAL,
  OP_GREATER,
  OP_GREATER_EQUAL,
  OP_EQUAL,
  OP_UNEQUAL,
  OP_SAME, /* equal indices */
  LAST_RELATION = OP_SAME,
  OP_AND,
  OP_OR,
  OP_AGREE /* both true or both false */
};

typedef struct step {
  int op;
  int param;
  int at, n; /* in numbers */
} step;

struct cb_expr {
  size_t bytes; /* of the whole block */
  int n_numbers, n_steps, n_params;
  double numbers[]; /* then the steps, the parameters and the text */
};

/* A level of parentheses keeps at most 6 values waiting: one of a function and one for
 * each of or, and, a comparison, + and *. */
enum { STACK = 6 * (CB_EXPR_DEPTH + 1) + 1 };

static inline step *steps_of(const cb_expr *e) {
  return (step *)(e->numbers + e->n_numbers);
}

static inline int *params_of(const cb_expr *e) {
  return (int *)(steps_of(e) + e->n_steps);
}

#endif
