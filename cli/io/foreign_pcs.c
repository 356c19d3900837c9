/* foreign_pcs.c - reads the PCS format of SMAC and AClib, the new one and the old one.
 *
 *   mode categorical {a, b} [a]          mode {a, b} [a]
 *   rate real [1e-5, 1] [0.1] log        rate [1e-5, 1] [0.1]l
 *   size integer [1, 9] [3]              size [1, 9] [3]i
 *   size | mode in {a} && rate > 0.5     size | mode in {a}
 *   {mode=a, size=3}                     {mode=a, size=3}
 */
#include <math.h>
#include <string.h>

#include "common/base.h"
#include "io/foreign.h"

static const char blanks[] = " \t";

static char *skip(char *at) {
  return at + strspn(at, blanks);
}

static cocabo_status bad_line(const foreign *f, int line, const char *want,
                              cocabo_error *err) {
  return foreign_refuse(
      f, line, err,
      "want %s, as in: size integer [1, 9] [3] log, or: size | mode in "
      "{a, b}",
      want);
}

/* As ConfigSpace has it: a comment goes, and so do quotes. */
static char *strip(char *line) {
  char *to = line;
  for (const char *c = line; *c && *c != '#'; c++)
    if (*c != '"' && *c != '\'')
      *to++ = *c;
  while (to > line && strchr(blanks, to[-1]))
    to--;
  *to = '\0';
  return skip(line);
}

/* A word up to one of `ends`, without blanks around it; *at moves behind it. */
static char *read_word(foreign *f, char **at, const char *ends, cocabo_error *err) {
  char *from = skip(*at), *end = from + strcspn(from, ends), *to = end;
  while (to > from && strchr(blanks, to[-1]))
    to--;
  char *word = foreign_copy(f, from, (size_t)(to - from));
  if (!word)
    cb_no_memory(err);
  *at = skip(end);
  return word;
}

/* ---- parameters ------------------------------------------------------------------ */

static const char *const types[] = {"real", "integer", "categorical", "ordinal"};
static const cocabo_kind kinds[] = {COCABO_KIND_REAL, COCABO_KIND_INT,
                                    COCABO_KIND_CHOICE, COCABO_KIND_ORDINAL};
enum { N_TYPES = sizeof types / sizeof types[0] };

/* The type at a place, if there is one; its size in *size. */
static int find_type(const char *at, size_t *size) {
  for (int i = 0; i < N_TYPES; i++) {
    *size = strlen(types[i]);
    if (strncmp(at, types[i], *size) == 0 && strchr(" \t[{", at[*size]) && at[*size])
      return i;
  }
  *size = 0;
  return -1;
}

/* The default in brackets is what only the values of a choice have beside them. */
bool foreign_looks_like_pcs(const char *line) {
  const size_t name = strcspn(line, " \t{[|");
  const char *at = line + name + strspn(line + name, blanks);
  size_t size;
  if (name == 0 || memchr(line, ':', name))
    return false;
  const int type = find_type(at, &size);
  at += size + strspn(at + size, blanks);
  const char *end = *at == '{' ? strchr(at, '}') : *at == '[' ? strchr(at, ']') : NULL;
  if (!end)
    return false;
  end += 1 + strspn(end + 1, blanks);
  return type >= 0 || *end == '[';
}

/* {a, b}, words or numbers. */
static cocabo_status read_values(foreign *f, foreign_param *p, char **at,
                                 const char *ends, cocabo_error *err) {
  do {
    ++*at;
    char *word = read_word(f, at, ends, err);
    if (!word)
      return COCABO_E_NO_MEMORY;
    if (!*word)
      return bad_line(f, p->line, "a value between commas", err);
    CB_TRY(foreign_add_value(f, p, cocabo_text(word), err));
  } while (**at == ',');
  if (**at != ends[1])
    return bad_line(f, p->line, "a bracket behind the values", err);
  *at = skip(*at + 1);
  return COCABO_OK;
}

static cocabo_status read_bounds(foreign *f, foreign_param *p, cocabo_error *err) {
  if (p->n != 2 ||
      !cb_parse_decimal(p->values[0].as.text, strlen(p->values[0].as.text), &p->low) ||
      !cb_parse_decimal(p->values[1].as.text, strlen(p->values[1].as.text), &p->high) ||
      !isfinite(p->low) || !isfinite(p->high))
    return bad_line(f, p->line, "two numbers in brackets", err);
  const bool whole = p->low == floor(p->low) && p->high == floor(p->high);
  return p->kind == COCABO_KIND_INT && !whole
             ? bad_line(f, p->line, "whole bounds of an integer", err)
             : COCABO_OK;
}

/* [default], and behind it log, or the letters of the old format. */
static cocabo_status read_end(foreign *f, foreign_param *p, char *at,
                              cocabo_error *err) {
  if (*at == '[') {
    at = strchr(at, ']');
    if (!at)
      return bad_line(f, p->line, "a bracket behind the default", err);
    at = skip(at + 1);
  }
  const bool word = strcmp(at, "log") == 0;
  if (!word && at[strspn(at, "il")])
    return bad_line(f, p->line, "log or nothing at the end", err);
  p->log = word || strchr(at, 'l');
  if (!word && strchr(at, 'i'))
    p->kind = COCABO_KIND_INT;
  return COCABO_OK;
}

static cocabo_status read_param(foreign *f, char *line, int number, cocabo_error *err) {
  foreign_param *p = NULL;
  size_t size;
  char *at = line;
  char *name = read_word(f, &at, " \t{[", err);
  if (!name)
    return COCABO_E_NO_MEMORY;
  const int type = find_type(at, &size);
  at = skip(at + size);
  const bool listed = *at == '{';
  if (!*name || (*at != '{' && *at != '['))
    return bad_line(f, number, "a name, a type and values in brackets", err);
  if (type >= 0 && listed != (type >= 2))
    return bad_line(f, number, "[..] for numbers and {..} for choices", err);
  CB_TRY(foreign_add_param(f, name, number, &p, err));
  p->kind = type >= 0 ? kinds[type] : listed ? COCABO_KIND_CHOICE : COCABO_KIND_REAL;
  p->by_level = true;
  CB_TRY(read_values(f, p, &at, listed ? ",}" : ",]", err));
  CB_TRY(read_end(f, p, at, err));
  if (!listed)
    return read_bounds(f, p, err);
  foreign_type_values(p);
  return COCABO_OK;
}

/* ---- conditions ------------------------------------------------------------------ */

static cocabo_status put_value(foreign *f, foreign_expr *to, char **at,
                               const char *ends, cocabo_error *err) {
  foreign_expr *e = foreign_node(f, FOREIGN_VALUE, to->line, err);
  char *word = e ? read_word(f, at, ends, err) : NULL;
  if (!word)
    return COCABO_E_NO_MEMORY;
  if (!*word)
    return bad_line(f, to->line, "a value", err);
  e->text = word;
  e->value = cocabo_text(word);
  foreign_append(to, e);
  return COCABO_OK;
}

/* in {a, b} */
static cocabo_status read_list(foreign *f, foreign_expr *e, char **at,
                               cocabo_error *err) {
  if (**at != '{')
    return bad_line(f, e->line, "values in braces behind in", err);
  do {
    ++*at;
    CB_TRY(put_value(f, e, at, ",}", err));
  } while (**at == ',');
  if (**at != '}')
    return bad_line(f, e->line, "a brace behind the values", err);
  *at = skip(*at + 1);
  return COCABO_OK;
}

static bool find_sign(char **at, foreign_op *op) {
  static const struct {
    const char *sign;
    foreign_op op;
  } all[] = {{"==", FOREIGN_EQ}, {"!=", FOREIGN_NE}, {"<=", FOREIGN_LE},
             {">=", FOREIGN_GE}, {"<", FOREIGN_LT},  {">", FOREIGN_GT},
             {"=", FOREIGN_EQ},  {"in", FOREIGN_IN}};
  for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
    const size_t size = strlen(all[i].sign);
    if (strncmp(*at, all[i].sign, size) != 0)
      continue;
    *at = skip(*at + size);
    *op = all[i].op;
    return true;
  }
  return false;
}

/* mode in {a, b}, or rate > 0.5 */
static cocabo_status read_clause(foreign *f, char **at, int line, const char *ends,
                                 foreign_expr **out, cocabo_error *err) {
  foreign_op op = FOREIGN_EQ;
  char *name = read_word(f, at, " \t=!<>{", err);
  if (!name)
    return COCABO_E_NO_MEMORY;
  if (!*name || !find_sign(at, &op))
    return bad_line(f, line, "a parameter and in, ==, !=, < or >", err);
  foreign_expr *e = foreign_node(f, op, line, err);
  foreign_expr *parent = e ? foreign_node(f, FOREIGN_NAME, line, err) : NULL;
  if (!parent)
    return COCABO_E_NO_MEMORY;
  parent->text = name;
  e->first = parent;
  *out = e;
  return op == FOREIGN_IN ? read_list(f, e, at, err) : put_value(f, e, at, ends, err);
}

/* && binds more strongly than ||. */
static cocabo_status read_expr(foreign *f, char *at, int line, foreign_expr **out,
                               cocabo_error *err) {
  foreign_expr *any = NULL, *all = NULL, *one = NULL;
  for (;;) {
    CB_TRY(read_clause(f, &at, line, "&|", &one, err));
    CB_TRY(foreign_join(f, FOREIGN_AND, &all, one, err));
    if (strncmp(at, "&&", 2) == 0) {
      at += 2;
      continue;
    }
    CB_TRY(foreign_join(f, FOREIGN_OR, &any, all, err));
    all = NULL;
    if (strncmp(at, "||", 2) != 0)
      break;
    at += 2;
  }
  *out = any;
  return *at ? bad_line(f, line, "&& or || between conditions", err) : COCABO_OK;
}

/* Several of one parameter must all be true. A child may come before its parents, so
 * they are put to the parameters at the end: here they wait in f->conditions. */
static cocabo_status read_condition(foreign *f, char *line, int number,
                                    cocabo_error *err) {
  char *at = line;
  char *name = read_word(f, &at, "|", err);
  foreign_expr *e = NULL, *child = foreign_node(f, FOREIGN_NAME, number, err);
  if (!name || !child)
    return COCABO_E_NO_MEMORY;
  CB_TRY(read_expr(f, skip(at + 1), number, &e, err));
  child->text = name;
  child->first = e;
  child->next = f->conditions;
  f->conditions = child;
  return COCABO_OK;
}

static cocabo_status give_conditions(foreign *f, cocabo_error *err) {
  char shown[CB_SHOWN];
  for (foreign_expr *c = f->conditions; c; c = c->next) {
    foreign_param *p = foreign_find(f, c->text);
    if (!p)
      return foreign_refuse(f, c->line, err,
                            "a condition of \"%s\", which is not there",
                            cb_text_show(shown, c->text));
    CB_TRY(foreign_join(f, FOREIGN_AND, &p->condition, c->first, err));
  }
  return COCABO_OK;
}

/* {a=1, b=2}; the braces are there. */
static cocabo_status read_forbidden(foreign *f, char *line, int number,
                                    cocabo_error *err) {
  foreign_expr *all = NULL, *one = NULL;
  char *at = line;
  do {
    at = skip(at + 1);
    CB_TRY(read_clause(f, &at, number, ",}&", &one, err));
    CB_TRY(foreign_join(f, FOREIGN_AND, &all, one, err));
    at += at[0] == '&' && at[1] == '&';
  } while (*at == ',' || *at == '&');
  if (*at != '}')
    return bad_line(f, number, "a brace behind what is forbidden", err);
  foreign_forbid(f, all);
  return COCABO_OK;
}

/* ---- all of it ------------------------------------------------------------------- */

static cocabo_status read_line(foreign *f, char *line, int number, cocabo_error *err) {
  char *text = strip(line);
  if (*text == '{')
    return read_forbidden(f, text, number, err);
  if (strchr(text, '|'))
    return read_condition(f, text, number, err);
  /* "Conditionals:" and "Forbidden:" are titles. */
  return strpbrk(text, "]}") ? read_param(f, text, number, err) : COCABO_OK;
}

cocabo_status foreign_read_pcs(foreign *f, const char *text, size_t size,
                               cocabo_error *err) {
  CB_TRY(foreign_each_line(f, text, size, read_line, err));
  return give_conditions(f, err);
}
