/* expr.h - conditions and rules: one small expression language over parameters.
 *
 *   or         = and { "or" and }
 *   and        = not { "and" not }
 *   not        = "not" not | comparison
 *   comparison = sum [ ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) sum ]
 *              | sum [ "not" ] "in" "(" literal { "," literal } ")"
 *   sum        = term { ( "+" | "-" ) term }
 *   term       = factor { ( "*" | "/" | "%" ) factor }
 *   factor     = literal | NAME | "-" factor | "(" or ")" | f "(" sum { "," sum } ")"
 *   f          = min max abs log exp sqrt floor ceil     (min and max take any number)
 *   literal    = [ "-" ] number | text | true | false | null
 *
 * Names. NAME is [A-Za-z_][A-Za-z0-9_.]*. Other names, keywords (and or not in true
 * false null) and names of functions stand in backquotes, a backquote in them doubled.
 * A bare word is the parameter of that name if there is one, else text; in the list of
 * `in` it is always text, and so is the name of a function before no parenthesis: pool
 * == max. Quoted text is as in JSON, in double or in single quotes.
 *
 * Types are checked when an expression is read. Real and int parameters are numbers. A
 * choice or ordinal of numbers only is a number in arithmetic, in `<` and its like, and
 * where it equals a computed number. One of booleans only is a condition. Text and null
 * may only stand opposite a choice or an ordinal. A literal opposite a choice in ==, !=
 * and in must be one of its values, by type: 1, 1.0, true, "1" and null are five. So
 * must one in `<` opposite an ordinal that is no number, which goes by its levels; two
 * such ordinals need the same levels. Two choices are equal by type and value.
 * Comparisons do not chain.
 *
 * Numbers are doubles. `/` divides reals; a % b is in [0,b), for b < 0 in (b,0].
 * Dividing by zero, or log and sqrt outside their range, has no value, nor has anything
 * computed from it: the comparison that it stands in is false, != and `in` too.
 *
 * Inactive parameters. What compares or is one is unknown, even beside a number without
 * a value. and, or and not are Kleene's: false and unknown is false, true or unknown is
 * true, the rest of unknown is unknown. A condition holds where it is true; a rule is
 * broken where it is false.
 *
 * The same bits come out on every machine.
 */
#ifndef CB_SPACE_EXPR_H
#define CB_SPACE_EXPR_H

#include <stdbool.h>

#include "space/space.h"

enum {
  CB_EXPR_LENGTH = 4096, /* bytes of an expression, as it came and as it is written */
  CB_EXPR_DEPTH = 64     /* parentheses, functions, minuses and nots in each other */
};

typedef enum cb_truth { CB_FALSE, CB_TRUE, CB_UNKNOWN } cb_truth;

/* Immutable; it needs its space no more once it is read, only cells of it. */
typedef struct cb_expr cb_expr;

/* Reads a condition over the first n parameters of the space (a condition may not name
 * those declared after it). *out is owned by the caller, NULL on failure. What is wrong
 * is COCABO_E_INVALID, with a sentence that names the place, column 1 being the first
 * character. */
cocabo_status cb_expr_parse(cb_expr **out, const cocabo_space *space, int n,
                            const char *text, cocabo_error *err);
cb_expr *cb_expr_copy(const cb_expr *e); /* NULL if out of memory */
void cb_expr_free(cb_expr *e);           /* NULL is allowed */

/* What it says of these cells, one per parameter. active[i] tells whether parameter i
 * is; the cells of others are not looked at. active may be NULL: all are. */
cb_truth cb_expr_test(const cb_expr *e, const cb_cell *cells, const bool *active);
/* How far these cells are from where it is not false: > 0 where it is false, else 0.
 * Comparisons of numbers and of levels count by the gap between their sides, others 1;
 * `and` adds, `or` takes the least, `not` swaps the two. May be infinite. */
double cb_expr_violation(const cb_expr *e, const cb_cell *cells, const bool *active);

/* Which parameters it names: *n rising indices, borrowed. */
const int *cb_expr_params(const cb_expr *e, int *n);

/* The expression written in one way: single blanks, no needless parentheses, text in
 * double quotes. Reading it gives the same expression again. Borrowed. */
const char *cb_expr_text(const cb_expr *e);

#endif
