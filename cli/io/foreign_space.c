/* foreign_space.c - a space of ours from the tree of a foreign one: parameters in an
 * order in which conditions name what is there already, conditions, and rules. What the
 * library refuses becomes a note. */
#include <math.h>
#include <string.h>

#include "common/base.h"
#include "common/json.h"
#include "io/foreign.h"

/* ---- expressions ----------------------------------------------------------------- */

static bool is_number(const cocabo_value *value, double *out) {
  if (value->type == COCABO_INT)
    *out = (double)value->as.integer;
  else if (value->type == COCABO_REAL)
    *out = value->as.real;
  return value->type == COCABO_INT || value->type == COCABO_REAL;
}

/* Does a literal mean this value? Words go as they are written, 1 and 1.0 are one
 * number. */
static bool means(const foreign_expr *e, const cocabo_value *value) {
  double number, wanted;
  if (e->text && value->type == COCABO_TEXT)
    return strcmp(value->as.text, e->text) == 0;
  if (is_number(value, &number) &&
      (e->text ? cb_parse_number(e->text, &wanted) : is_number(&e->value, &wanted)))
    return number == wanted;
  return cb_value_equal(value, &e->value);
}

static bool has_values(const foreign_param *p) {
  return p->kind == COCABO_KIND_CHOICE || p->kind == COCABO_KIND_ORDINAL;
}

/* The value of a parameter that a literal means, or NULL. */
static const cocabo_value *find_value(const foreign_param *p, const foreign_expr *e) {
  for (size_t i = 0; has_values(p) && i < p->n; i++)
    if (means(e, &p->values[i]))
      return &p->values[i];
  return NULL;
}

static cocabo_status put_value(front_buffer *out, const cocabo_value *value,
                               cocabo_error *err) {
  char digits[CB_DIGITS];
  switch (value->type) {
  case COCABO_NULL:
    return front_buffer_puts(out, "null", err);
  case COCABO_BOOL:
    return front_buffer_puts(out, value->as.boolean ? "true" : "false", err);
  case COCABO_INT:
    return front_buffer_printf(out, err, "%lld", (long long)value->as.integer);
  case COCABO_REAL:
    cb_number_show(digits, value->as.real);
    return front_buffer_printf(out, err, "%s%s", digits,
                               strpbrk(digits, ".en") ? "" : ".0");
  default:
    return front_put_json_text(out, value->as.text, err);
  }
}

/* A name in backquotes is a parameter, and never text. */
static cocabo_status put_name(front_buffer *out, const char *name, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "`", err));
  for (; *name; name++) {
    CB_TRY(front_buffer_append(out, name, 1, err));
    if (*name == '`')
      CB_TRY(front_buffer_puts(out, "`", err));
  }
  return front_buffer_puts(out, "`", err);
}

/* A literal that stands alone, or opposite a number. */
static cocabo_status put_literal(front_buffer *out, const foreign_expr *e,
                                 cocabo_error *err) {
  double number;
  if (e->text && cb_parse_number(e->text, &number))
    return front_buffer_puts(out, e->text, err);
  return put_value(out, &e->value, err);
}

static cocabo_status say_never(foreign *f, const foreign_param *p,
                               const foreign_expr *value, cocabo_error *err) {
  char name[CB_SHOWN], shown[CB_SHOWN];
  if (value->text)
    cb_text_show(shown, value->text);
  else
    cb_value_show(shown, &value->value);
  return foreign_say(f, value->line, err, "parameter \"%s\" has no value %s",
                     cb_text_show(name, p->name), shown);
}

/* name in (values), of those that the parameter has. */
static cocabo_status put_in(front_buffer *out, foreign *f, const foreign_param *p,
                            const foreign_expr *values, cocabo_error *err) {
  size_t n = 0;
  const size_t start = out->size;
  CB_TRY(put_name(out, p->name, err));
  for (const foreign_expr *e = values; e; e = e->next) {
    const cocabo_value *value = find_value(p, e);
    if (!value && has_values(p)) {
      CB_TRY(say_never(f, p, e, err));
      continue;
    }
    CB_TRY(front_buffer_puts(out, n++ > 0 ? ", " : " in (", err));
    CB_TRY(value ? put_value(out, value, err) : put_literal(out, e, err));
  }
  if (n > 0)
    return front_buffer_puts(out, ")", err);
  out->size = start;
  return front_buffer_puts(out, "false", err);
}

/* Levels on one side of another. */
static cocabo_status put_levels(front_buffer *out, foreign *f, const foreign_param *p,
                                foreign_op op, const foreign_expr *value,
                                cocabo_error *err) {
  const cocabo_value *level = find_value(p, value);
  size_t n = 0;
  if (!level) {
    CB_TRY(say_never(f, p, value, err));
    return front_buffer_puts(out, "false", err);
  }
  const size_t k = (size_t)(level - p->values), start = out->size;
  CB_TRY(put_name(out, p->name, err));
  for (size_t i = 0; i < p->n; i++) {
    const bool is_in = op == FOREIGN_LT   ? i < k
                       : op == FOREIGN_LE ? i <= k
                       : op == FOREIGN_GT ? i > k
                                          : i >= k;
    if (!is_in)
      continue;
    CB_TRY(front_buffer_puts(out, n++ > 0 ? ", " : " in (", err));
    CB_TRY(put_value(out, &p->values[i], err));
  }
  if (n > 0)
    return front_buffer_puts(out, ")", err);
  out->size = start;
  return front_buffer_puts(out, "false", err);
}

static const char *const signs[] = {
    [FOREIGN_OR] = " or ", [FOREIGN_AND] = " and ", [FOREIGN_EQ] = " == ",
    [FOREIGN_NE] = " != ", [FOREIGN_LT] = " < ",    [FOREIGN_LE] = " <= ",
    [FOREIGN_GT] = " > ",  [FOREIGN_GE] = " >= ",   [FOREIGN_ADD] = " + ",
    [FOREIGN_SUB] = " - ", [FOREIGN_MUL] = " * ",   [FOREIGN_DIV] = " / ",
    [FOREIGN_MOD] = " % "};

static foreign_op turned(foreign_op op) {
  switch (op) {
  case FOREIGN_LT:
    return FOREIGN_GT;
  case FOREIGN_LE:
    return FOREIGN_GE;
  case FOREIGN_GT:
    return FOREIGN_LT;
  case FOREIGN_GE:
    return FOREIGN_LE;
  default:
    return op;
  }
}

/* A parameter with values beside a literal; *handled: it was one. */
static cocabo_status put_choice(front_buffer *out, foreign *f, const foreign_expr *e,
                                bool *handled, cocabo_error *err) {
  const foreign_expr *a = e->first, *b = a->next;
  foreign_op op = e->op;
  *handled = false;
  if (a->op == FOREIGN_VALUE && b->op == FOREIGN_NAME) {
    const foreign_expr *swap = a;
    a = b;
    b = swap;
    op = turned(op);
  }
  const foreign_param *p = a->op == FOREIGN_NAME ? foreign_find(f, a->text) : NULL;
  if (!p || !has_values(p) || b->op != FOREIGN_VALUE)
    return COCABO_OK;
  const bool equality = op == FOREIGN_EQ || op == FOREIGN_NE;
  if (!equality && !p->by_level)
    return COCABO_OK;
  *handled = true;
  if (!equality)
    return put_levels(out, f, p, op, b, err);
  const cocabo_value *value = find_value(p, b);
  if (!value) {
    CB_TRY(say_never(f, p, b, err));
    return front_buffer_puts(out, op == FOREIGN_EQ ? "false" : "true", err);
  }
  CB_TRY(put_name(out, p->name, err));
  CB_TRY(front_buffer_puts(out, signs[op], err));
  return put_value(out, value, err);
}

static cocabo_status put_joined(front_buffer *out, foreign *f, const foreign_expr *e,
                                const char *between, cocabo_error *err) {
  for (const foreign_expr *item = e->first; item; item = item->next) {
    if (item != e->first)
      CB_TRY(front_buffer_puts(out, between, err));
    CB_TRY(foreign_put_expr(out, f, item, err));
  }
  return COCABO_OK;
}

/* Everything with two sides stands in parentheses; the library takes away those that
 * are not needed. */
cocabo_status foreign_put_expr(front_buffer *out, foreign *f, const foreign_expr *e,
                               cocabo_error *err) {
  bool handled;
  switch (e->op) {
  case FOREIGN_NAME:
    return put_name(out, e->text, err);
  case FOREIGN_VALUE:
    return put_literal(out, e, err);
  case FOREIGN_IN: {
    const foreign_param *p = foreign_find(f, e->first->text);
    if (p)
      return put_in(out, f, p, e->first->next, err);
    return put_name(out, e->first->text, err); /* which the library does not know */
  }
  case FOREIGN_NOT:
  case FOREIGN_NEG:
  case FOREIGN_CALL:
    CB_TRY(front_buffer_puts(out,
                             e->op == FOREIGN_NOT   ? "not "
                             : e->op == FOREIGN_NEG ? "-"
                                                    : e->text,
                             err));
    CB_TRY(front_buffer_puts(out, "(", err));
    CB_TRY(put_joined(out, f, e, ", ", err));
    return front_buffer_puts(out, ")", err);
  default:
    CB_TRY(front_buffer_puts(out, "(", err));
    handled = false;
    if (e->op >= FOREIGN_EQ && e->op <= FOREIGN_GE)
      CB_TRY(put_choice(out, f, e, &handled, err));
    if (!handled)
      CB_TRY(put_joined(out, f, e, signs[e->op], err));
    return front_buffer_puts(out, ")", err);
  }
}

/* To irace, x %in% c(1) is false where x is inactive; to us it is unknown. That is the
 * same but beneath a not. */
static cocabo_status warn_of_not(foreign *f, const foreign_expr *e, bool negated,
                                 cocabo_error *err) {
  char shown[CB_SHOWN];
  const foreign_param *p =
      e->op == FOREIGN_IN && negated ? foreign_find(f, e->first->text) : NULL;
  if (p && p->condition)
    CB_TRY(foreign_say(f, e->line, err,
                       "!(%s %%in%% ..) is true in irace where %s is inactive, and not "
                       "here",
                       cb_text_show_within(shown, p->name, 40), shown));
  for (const foreign_expr *item = e->first; item; item = item->next)
    CB_TRY(warn_of_not(f, item, negated != (e->op == FOREIGN_NOT), err));
  return COCABO_OK;
}

/* ---- order ----------------------------------------------------------------------- */

static bool names_only_known(const foreign_expr *e, const foreign *f,
                             const cocabo_space *space) {
  if (e->op == FOREIGN_NAME && foreign_find(f, e->text)) {
    const char *name;
    size_t i = 0;
    while ((name = cocabo_space_name(space, i)) && strcmp(name, e->text) != 0)
      i++;
    return name != NULL;
  }
  for (const foreign_expr *item = e->first; item; item = item->next)
    if (!names_only_known(item, f, space))
      return false;
  return true;
}

/* ---- the space ------------------------------------------------------------------- */

static cocabo_status add_domain(cocabo_space *space, const foreign_param *p,
                                cocabo_error *err) {
  const unsigned flags = p->log ? COCABO_LOG : 0;
  char shown[CB_SHOWN];
  if (p->kind == COCABO_KIND_REAL)
    return cocabo_space_add_real(space, p->name, p->low, p->high, p->step, flags, err);
  if (p->kind != COCABO_KIND_INT)
    return cocabo_space_add_choice(space, p->name, p->values, p->n,
                                   p->kind == COCABO_KIND_ORDINAL ? COCABO_ORDERED : 0,
                                   err);
  if (!(fabs(p->low) <= 0x1p53 && fabs(p->high) <= 0x1p53 && p->step <= 0x1p53))
    return cb_fail(err, COCABO_E_RANGE, "parameter \"%s\" is not within 2^53",
                   cb_text_show(shown, p->name));
  return cocabo_space_add_int(space, p->name, (int64_t)p->low, (int64_t)p->high,
                              (int64_t)p->step, flags, err);
}

/* A sentence of the library, as a note; whatever else is wrong stays a failure. */
static cocabo_status note_refusal(foreign *f, int line, const char *what,
                                  const char *name, cocabo_error *err) {
  char shown[CB_SHOWN];
  if (err->code == COCABO_E_NO_MEMORY)
    return err->code;
  const cocabo_error said = *err;
  return foreign_say(f, line, err, "%s%s%s%s is left out: %s", what, name ? " \"" : "",
                     name ? cb_text_show(shown, name) : "", name ? "\"" : "",
                     said.message);
}

static cocabo_status add_condition(foreign *f, cocabo_space *space,
                                   const foreign_param *p, cocabo_error *err) {
  front_buffer text = {0};
  CB_TRY(warn_of_not(f, p->condition, false, err));
  cocabo_status status = foreign_put_expr(&text, f, p->condition, err);
  const char *expr = status == COCABO_OK ? front_buffer_text(&text, err) : NULL;
  if (status == COCABO_OK && !expr)
    status = COCABO_E_NO_MEMORY;
  if (expr && cocabo_space_condition(space, p->name, expr, err) != COCABO_OK)
    status = note_refusal(f, p->condition->line, "the condition of", p->name, err);
  front_buffer_free(&text);
  return status;
}

static cocabo_status add_param(foreign *f, cocabo_space *space, const foreign_param *p,
                               cocabo_error *err) {
  if (p->lost)
    return COCABO_OK;
  if (add_domain(space, p, err) != COCABO_OK)
    return note_refusal(f, p->line, "parameter", p->name, err);
  return p->condition ? add_condition(f, space, p, err) : COCABO_OK;
}

/* The first that is not there yet and whose condition can be read; *left: there are
 * some, though none can be. */
static foreign_param **next_param(foreign *f, const cocabo_space *space,
                                  foreign_param **waiting) {
  for (foreign_param **p = waiting; *p; p = &(*p)->next)
    if (!(*p)->condition || names_only_known((*p)->condition, f, space))
      return p;
  return NULL;
}

/* The list of the tree is put into that order, too: f->params stays what is known. */
static cocabo_status add_params(foreign *f, cocabo_space *space, cocabo_error *err) {
  char shown[CB_SHOWN];
  for (foreign_param **at = &f->params; *at; at = &(*at)->next) {
    foreign_param **chosen = next_param(f, space, at);
    if (!chosen) { /* of one that is left out, or in a circle */
      CB_TRY(foreign_say(f, (*at)->condition->line, err,
                         "the condition of \"%s\" is left out: it names what comes "
                         "after it, in a circle, or is not there",
                         cb_text_show(shown, (*at)->name)));
      (*at)->condition = NULL;
      chosen = at;
    }
    foreign_param *p = *chosen;
    *chosen = p->next;
    p->next = *at;
    *at = p;
    CB_TRY(add_param(f, space, p, err));
  }
  return COCABO_OK;
}

static cocabo_status add_rule(foreign *f, cocabo_space *space, const foreign_expr *e,
                              cocabo_error *err) {
  front_buffer text = {0};
  CB_TRY(warn_of_not(f, e, false, err));
  cocabo_status status = front_buffer_puts(&text, "not ", err);
  if (status == COCABO_OK)
    status = front_buffer_puts(&text, "(", err);
  if (status == COCABO_OK)
    status = foreign_put_expr(&text, f, e, err);
  if (status == COCABO_OK)
    status = front_buffer_puts(&text, ")", err);
  const char *rule = status == COCABO_OK ? front_buffer_text(&text, err) : NULL;
  if (status == COCABO_OK && !rule)
    status = COCABO_E_NO_MEMORY;
  if (rule && cocabo_space_rule(space, rule, err) != COCABO_OK)
    status = note_refusal(f, e->line, "a forbidden clause", NULL, err);
  front_buffer_free(&text);
  return status;
}

static cocabo_status fill(foreign *f, cocabo_space *space, cocabo_error *err) {
  CB_TRY(add_params(f, space, err));
  if (cocabo_space_count(space) == 0)
    return f->notes ? cb_fail(err, COCABO_E_INVALID, "%s", f->notes->text)
                    : foreign_refuse(f, 0, err, "it has no parameters");
  for (const foreign_expr *e = f->forbidden; e; e = e->next)
    CB_TRY(add_rule(f, space, e, err));
  return COCABO_OK;
}

cocabo_status foreign_space(foreign *f, cocabo_space **out, cocabo_error *err) {
  cocabo_space *space = cocabo_space_new();
  *out = NULL;
  if (!space)
    return cb_no_memory(err);
  const cocabo_status status = fill(f, space, err);
  if (status == COCABO_OK)
    *out = space;
  else
    cocabo_space_free(space);
  return status;
}
