/* foreign_r.c - reads the expressions of irace, which are R: | || & && ! == != < <= >
 * >= %in% c(..) + - * / %% and functions of numbers.
 *
 *   or   = and { ( "|" | "||" ) and }         and = not { ( "&" | "&&" ) not }
 *   not  = "!" not | sum [ comparison sum ]   sum = term { ( "+" | "-" ) term }
 *   term = special { ( "*" | "/" ) special }  special = factor { "%in%" list | "%%"
 * factor }
 */
#include <ctype.h>
#include <string.h>

#include "common/base.h"
#include "io/foreign.h"

typedef struct reader {
  foreign *f;
  const char *at;
  int line, depth;
  cocabo_error *err;
} reader;

/* ---- pieces ---------------------------------------------------------------------- */

static void skip_blanks(reader *r) {
  r->at += strspn(r->at, " \t\r\n");
}

/* Steps over a sign if it is the next one. */
static bool take(reader *r, const char *sign) {
  skip_blanks(r);
  const size_t size = strlen(sign);
  if (strncmp(r->at, sign, size) != 0)
    return false;
  r->at += size;
  return true;
}

static foreign_expr *fail(reader *r, const char *want) {
  char shown[CB_SHOWN];
  skip_blanks(r);
  foreign_refuse(r->f, r->line, r->err, "the expression goes on with \"%s\", want %s",
                 cb_text_show_within(shown, r->at, 40), want);
  return NULL;
}

static foreign_expr *node(reader *r, foreign_op op, foreign_expr *first) {
  foreign_expr *e = first ? foreign_node(r->f, op, r->line, r->err) : NULL;
  if (e)
    e->first = first;
  return e;
}

/* `second` is read by the caller and may be missing, which failed already. */
static foreign_expr *pair(reader *r, foreign_op op, foreign_expr *first,
                          foreign_expr *second) {
  foreign_expr *e = second ? node(r, op, first) : NULL;
  if (e)
    first->next = second;
  return e;
}

static foreign_expr *value_node(reader *r, const char *text, size_t size) {
  foreign_expr *e = foreign_node(r->f, FOREIGN_VALUE, r->line, r->err);
  char *copy = e ? foreign_copy(r->f, text, size) : NULL;
  if (!copy) {
    cb_no_memory(r->err);
    return NULL;
  }
  e->text = copy;
  e->value = cocabo_text(copy);
  return e;
}

static foreign_expr *read_quoted(reader *r) {
  const char quote = *r->at, *end = strchr(r->at + 1, quote);
  if (!end)
    return fail(r, "a quote at its end");
  const char *text = r->at + 1;
  r->at = end + 1;
  return value_node(r, text, (size_t)(end - text));
}

static size_t number_size(const char *text) {
  size_t size = strspn(text, "0123456789.");
  if (size > 0 && (text[size] == 'e' || text[size] == 'E')) {
    const size_t sign = text[size + 1] == '-' || text[size + 1] == '+';
    const size_t digits = strspn(text + size + 1 + sign, "0123456789");
    size += digits > 0 ? 1 + sign + digits : 0;
  }
  return size;
}

/* 1L is a whole number. */
static foreign_expr *read_number(reader *r) {
  const size_t size = number_size(r->at);
  foreign_expr *e = value_node(r, r->at, size);
  double number;
  if (e && !cb_parse_number(e->text, &number))
    return fail(r, "a number");
  r->at += size;
  r->at += *r->at == 'L';
  return e;
}

static size_t word_size(const char *text) {
  size_t size = 0;
  while (isalnum((unsigned char)text[size]) || text[size] == '_' || text[size] == '.' ||
         (unsigned char)text[size] >= 0x80)
    size++;
  return size;
}

/* ---- levels ---------------------------------------------------------------------- */

static foreign_expr *read_or(reader *r);

static foreign_expr *read_list(reader *r, foreign_expr *to) {
  foreign_expr *item;
  do {
    if (!(item = read_or(r)))
      return NULL;
    foreign_append(to, item);
  } while (take(r, ","));
  return take(r, ")") ? to : fail(r, ")");
}

/* TRUE and FALSE are values; another word before a parenthesis is a function. */
static foreign_expr *read_word(reader *r) {
  const size_t size = word_size(r->at);
  char *word = foreign_copy(r->f, r->at, size);
  const bool truth = word && strcmp(word, "TRUE") == 0;
  if (!word) {
    cb_no_memory(r->err);
    return NULL;
  }
  r->at += size;
  const bool is_call = take(r, "(");
  const bool is_value = !is_call && (truth || strcmp(word, "FALSE") == 0);
  foreign_expr *e = foreign_node(r->f,
                                 is_call    ? FOREIGN_CALL
                                 : is_value ? FOREIGN_VALUE
                                            : FOREIGN_NAME,
                                 r->line, r->err);
  if (!e)
    return NULL;
  e->text = is_value ? NULL : word;
  e->value = cocabo_bool(truth);
  return is_call ? read_list(r, e) : e;
}

/* A number stays one. */
static foreign_expr *negate(reader *r, foreign_expr *e) {
  char *text;
  double number;
  if (!e || e->op != FOREIGN_VALUE || !e->text || !cb_parse_number(e->text, &number))
    return node(r, FOREIGN_NEG, e);
  if (!(text = foreign_alloc(r->f, strlen(e->text) + 2))) {
    cb_no_memory(r->err);
    return NULL;
  }
  const bool twice = *e->text == '-';
  strcpy(text, twice ? "" : "-");
  strcat(text, e->text + twice);
  e->text = text;
  e->value = cocabo_text(text);
  return e;
}

static foreign_expr *read_factor(reader *r) {
  skip_blanks(r);
  if (take(r, "-"))
    return negate(r, read_factor(r));
  if (*r->at == '"' || *r->at == '\'')
    return read_quoted(r);
  if (isdigit((unsigned char)*r->at) ||
      (*r->at == '.' && isdigit((unsigned char)r->at[1])))
    return read_number(r);
  if (word_size(r->at) > 0)
    return read_word(r);
  if (!take(r, "("))
    return fail(r, "a name, a value or a parenthesis");
  foreign_expr *e = read_or(r);
  return !e || take(r, ")") ? e : fail(r, ")");
}

/* c(1, 2) or one value. Only a parameter can be in a list of ours. */
static foreign_expr *read_members(reader *r, foreign_expr *of) {
  foreign_expr *list = read_factor(r);
  if (!list)
    return NULL;
  const bool call = list->op == FOREIGN_CALL && strcmp(list->text, "c") == 0;
  if (of->op != FOREIGN_NAME || (!call && list->op != FOREIGN_VALUE))
    return fail(r, "a parameter before %in%, and c(..) behind it");
  foreign_expr *e = node(r, FOREIGN_IN, of);
  if (!e)
    return NULL;
  of->next = call ? list->first : list;
  for (const foreign_expr *item = of->next; item; item = item->next)
    if (item->op != FOREIGN_VALUE)
      return fail(r, "values in c(..)");
  return e;
}

static foreign_expr *read_special(reader *r) {
  foreign_expr *e = read_factor(r);
  while (e) {
    if (take(r, "%in%"))
      e = read_members(r, e);
    else if (take(r, "%%"))
      e = pair(r, FOREIGN_MOD, e, read_factor(r));
    else
      break;
  }
  return e;
}

static foreign_expr *read_term(reader *r) {
  foreign_expr *e = read_special(r);
  while (e) {
    if (take(r, "*"))
      e = pair(r, FOREIGN_MUL, e, read_special(r));
    else if (take(r, "/"))
      e = pair(r, FOREIGN_DIV, e, read_special(r));
    else
      break;
  }
  return e;
}

static foreign_expr *read_sum(reader *r) {
  foreign_expr *e = read_term(r);
  while (e) {
    if (take(r, "+"))
      e = pair(r, FOREIGN_ADD, e, read_term(r));
    else if (take(r, "-"))
      e = pair(r, FOREIGN_SUB, e, read_term(r));
    else
      break;
  }
  return e;
}

static foreign_expr *read_comparison(reader *r) {
  static const struct {
    const char *sign;
    foreign_op op;
  } all[] = {{"==", FOREIGN_EQ}, {"!=", FOREIGN_NE}, {"<=", FOREIGN_LE},
             {">=", FOREIGN_GE}, {"<", FOREIGN_LT},  {">", FOREIGN_GT}};
  foreign_expr *e = read_sum(r);
  for (size_t i = 0; e && i < sizeof all / sizeof all[0]; i++)
    if (take(r, all[i].sign))
      return pair(r, all[i].op, e, read_sum(r));
  return e;
}

static foreign_expr *read_not(reader *r) {
  skip_blanks(r);
  if (*r->at != '!' || r->at[1] == '=')
    return read_comparison(r);
  r->at++;
  return node(r, FOREIGN_NOT, read_not(r));
}

static foreign_expr *read_and(reader *r) {
  foreign_expr *e = read_not(r);
  while (e && take(r, "&")) {
    take(r, "&");
    e = pair(r, FOREIGN_AND, e, read_not(r));
  }
  return e;
}

/* Every circle of the grammar but those of - and ! goes through here. */
static foreign_expr *read_or(reader *r) {
  if (r->depth++ >= FOREIGN_DEPTH)
    return fail(r, "fewer parentheses");
  foreign_expr *e = read_and(r);
  while (e && take(r, "|")) {
    take(r, "|");
    e = pair(r, FOREIGN_OR, e, read_and(r));
  }
  r->depth--;
  return e;
}

/* ---- all of it ------------------------------------------------------------------- */

/* So that - and ! cannot pile up either. */
static bool piles_up(const char *text) {
  int run = 0;
  for (; *text; text++) {
    run = *text == '-' || *text == '!'    ? run + 1
          : isspace((unsigned char)*text) ? run
                                          : 0;
    if (run > FOREIGN_DEPTH)
      return true;
  }
  return false;
}

cocabo_status foreign_read_r(foreign *f, const char *text, int line, foreign_expr **out,
                             cocabo_error *err) {
  enum { MOST = 4096 };
  cocabo_error own;
  reader r = {.f = f, .at = text, .line = line, .err = err ? err : &own};
  *out = NULL;
  if (strlen(text) > MOST || piles_up(text))
    return foreign_refuse(f, line, err, "the expression is too long");
  foreign_expr *e = read_or(&r);
  skip_blanks(&r);
  if (e && *r.at)
    e = fail(&r, "its end");
  if (!e)
    return r.err->code;
  *out = e;
  return COCABO_OK;
}
