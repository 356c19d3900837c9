/* expr_read.c - conditions and rules: read and checked once.
 *
 * Recursive descent that writes three things at once: steps in postfix order, the
 * numbers that they need, and the canonical text.
 *
 * A parameter or a literal by itself is one step whose meaning is settled later, by
 * what stands opposite: `units` is a number in `units < n` and one of its choices in
 * `units == 64`. Until then it is an operand of type A_CHOICE or A_LITERAL.
 */
#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "space/expr_steps.h"

/* ---- what is written ------------------------------------------------------------- */

/* What binds how tightly. */
enum level { OR, AND, NOT, COMPARISON, SUM, TERM, FACTOR, ATOM, NOTHING };

typedef struct parser {
  const cocabo_space *space;
  int n; /* parameters that may be named */
  const char *text, *at;
  cocabo_error *err;
  int depth;   /* of parentheses and the like, here */
  int height;  /* values on the stack after the last step */
  step *steps; /* room for one a byte, and none is made of less */
  double *numbers;
  size_t n_steps, n_numbers, numbers_room;
  char *words; /* the texts and names of the source, one after the other */
  size_t n_words;
  cb_json json; /* one literal */
  bool named[COCABO_MAX_PARAMETERS];
  size_t n_out;                 /* > CB_EXPR_LENGTH: it was too long */
  char out[CB_EXPR_LENGTH + 1]; /* canonical text */
} parser;

typedef struct operand {
  enum { A_NUMBER, A_TRUTH, A_CHOICE, A_LITERAL } type;
  enum level level;        /* of its outermost operator */
  const char *begin, *end; /* in the source */
  size_t out;              /* where its canonical text begins */
  size_t step;             /* A_CHOICE, A_LITERAL: the one step that it is */
  int param;               /* A_CHOICE */
  cocabo_value value;      /* A_LITERAL */
  bool bare;               /* A_LITERAL: a word without quotes */
} operand;

static void emit(parser *p, step s) {
  p->steps[p->n_steps++] = s;
  p->height += s.op <= LAST_LEAF ? 1 : s.op <= LAST_UNARY ? 0 : -1;
  assert(p->height <= STACK && p->n_steps <= CB_EXPR_LENGTH);
}

static void emit_op(parser *p, int op) {
  emit(p, (step){.op = op});
}

static cocabo_status add_number(parser *p, double number) {
  void *numbers = p->numbers;
  if (!cb_reserve(&numbers, &p->numbers_room, p->n_numbers + 1, sizeof number))
    return cb_no_memory(p->err);
  p->numbers = numbers;
  p->numbers[p->n_numbers++] = number;
  return COCABO_OK;
}

/* Inserts bytes into the canonical text; too long stays too long. */
static void insert(parser *p, size_t at, const char *bytes, size_t n) {
  if (p->n_out + n <= CB_EXPR_LENGTH) {
    memmove(p->out + at + n, p->out + at, p->n_out - at);
    memcpy(p->out + at, bytes, n);
    p->n_out += n;
  } else {
    p->n_out = CB_EXPR_LENGTH + 1;
  }
}

static void put(parser *p, const char *text) {
  insert(p, p->n_out, text, strlen(text));
}

/* Puts the operand, the last thing written, into parentheses if it binds less. */
static void enclose(parser *p, const operand *o, enum level level) {
  if (o->level >= level)
    return;
  insert(p, o->out, "(", 1);
  put(p, ")");
}

static cocabo_status put_value(parser *p, const cocabo_value *value) {
  cb_json_start(&p->json, p->err);
  if (value->type == COCABO_TEXT)
    cb_json_string(&p->json, value->as.text);
  else if (value->type == COCABO_INT)
    cb_json_integer(&p->json, value->as.integer);
  else if (value->type == COCABO_REAL)
    cb_json_real(&p->json, value->as.real);
  else if (value->type == COCABO_BOOL)
    cb_json_word(&p->json, value->as.boolean ? "true" : "false");
  else
    cb_json_word(&p->json, "null");
  CB_TRY(p->json.status);
  insert(p, p->n_out, p->json.text, p->json.length);
  return COCABO_OK;
}

/* ---- words ----------------------------------------------------------------------- */

#define BLANKS " \t\n\r"
#define DIGITS "0123456789"
#define LETTERS "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_"
#define MARKS "=<>!&|" /* what comparisons, and slips, are made of */

/* Words with a meaning of their own. */
static const struct {
  const char *name;
  int op; /* of a function; else -1 */
} reserved[] = {{"and", -1},       {"or", -1},          {"not", -1},
                {"in", -1},        {"true", -1},        {"false", -1},
                {"null", -1},      {"min", OP_MIN},     {"max", OP_MAX},
                {"abs", OP_ABS},   {"log", OP_LOG},     {"exp", OP_EXP},
                {"sqrt", OP_SQRT}, {"floor", OP_FLOOR}, {"ceil", OP_CEIL}};
enum { N_RESERVED = sizeof reserved / sizeof reserved[0] };

/* -1 if the word has no meaning of its own. */
static int find_reserved(const char *word) {
  for (int i = 0; i < N_RESERVED; i++)
    if (strcmp(reserved[i].name, word) == 0)
      return i;
  return -1;
}

static bool is_function(const char *word) {
  const int i = find_reserved(word);
  return i >= 0 && reserved[i].op >= 0;
}

static bool is_one_of(char c, const char *set) {
  return c && strchr(set, c);
}

/* Bytes of the word at s, 0 if there is none. */
static size_t word_length(const char *s) {
  return is_one_of(*s, LETTERS) ? strspn(s, LETTERS DIGITS ".") : 0;
}

/* The next byte that is no blank. */
static char look(parser *p) {
  p->at += strspn(p->at, BLANKS);
  return *p->at;
}

/* A word or a mark, whole. */
static bool take(parser *p, const char *token) {
  const size_t n = strlen(token);
  look(p);
  if (strncmp(p->at, token, n) != 0 ||
      (word_length(token) && word_length(p->at) != n) ||
      (is_one_of(*token, MARKS) && strspn(p->at, MARKS) != n))
    return false;
  p->at += n;
  return true;
}

/* ---- what is wrong --------------------------------------------------------------- */

/* Bytes shown of the expression and of a part: a sentence has room for three parts. */
enum { QUOTE = 60, SHORT = 40 };

/* Quotes the expression, or what of a long one is around the place. */
__attribute__((format(printf, 3, 4))) static cocabo_status
fail_at(const parser *p, const char *at, const char *fmt, ...) {
  char shown[CB_SHOWN], why[sizeof((cocabo_error *)0)->message];
  va_list args;
  va_start(args, fmt);
  vsnprintf(why, sizeof why, fmt, args);
  va_end(args);
  int column = 1;
  size_t size;
  const char *from = p->text;
  const bool cut = strlen(p->text) > QUOTE && at - p->text > SHORT;
  for (const char *s = from; s < at; s += size, column++) {
    cb_text_decode(s, &size);
    if (cut && at - s > SHORT / 2)
      from = s + size;
  }
  return cb_fail(p->err, COCABO_E_INVALID, "in \"%s%s\" at column %d: %s",
                 cut ? "..." : "", cb_text_show_within(shown, from, QUOTE), column,
                 why);
}

static const char *show(char out[static CB_SHOWN], const char *begin, const char *end) {
  char part[CB_SHOWN] = {0};
  const size_t n = (size_t)(end - begin);
  memcpy(part, begin, n < sizeof part - 1 ? n : sizeof part - 1);
  return cb_text_show_within(out, part, SHORT);
}

static const char *show_name(char out[static CB_SHOWN], const parser *p, int param) {
  return cb_text_show_within(out, p->space->params[param].name, SHORT);
}

static const char *show_domain(char out[static CB_SHOWN], const parser *p, int param) {
  char *domain = cocabo_space_domain(p->space, (size_t)param);
  cb_text_show_within(out, domain ? domain : "a choice", SHORT);
  cb_free(domain);
  return out;
}

/* The next token is not what was wanted. */
static cocabo_status fail_found(parser *p, const char *want) {
  static const char *const slips[][2] = {
      {"=", "=="},  {"===", "=="},  {"!==", "!="}, {"<>", "!="}, {"=<", "<="},
      {"=>", ">="}, {"&&", "and"},  {"&", "and"},  {"||", "or"}, {"|", "or"},
      {"!", "not"}, {"AND", "and"}, {"OR", "or"},  {"IN", "in"}};
  char shown[CB_SHOWN];
  if (!look(p))
    return fail_at(p, p->at, "found the end, want %s", want);
  size_t n = word_length(p->at) + strspn(p->at, MARKS);
  if (n == 0)
    cb_text_decode(p->at, &n);
  show(shown, p->at, p->at + n);
  for (size_t i = 0; i < sizeof slips / sizeof slips[0]; i++)
    if (strcmp(slips[i][0], shown) == 0)
      return fail_at(p, p->at, "found \"%s\", did you mean \"%s\"?", shown,
                     slips[i][1]);
  return fail_at(p, p->at, "found \"%s\", want %s", shown, want);
}

/* The parameter that was meant by `my-rate < 1`, which reads as my minus rate: its name
 * stands there and is longer than the word. -1: there is none. */
static int find_unquoted(const parser *p, const char *at, const char *word) {
  size_t longest = strlen(word);
  int found = -1;
  for (int i = 0; i < p->n && *at != '`'; i++) {
    const size_t n = strlen(p->space->params[i].name);
    if (n > longest && strncmp(at, p->space->params[i].name, n) == 0) {
      longest = n;
      found = i;
    }
  }
  return found;
}

static cocabo_status fail_parameter(const parser *p, const char *at, const char *name) {
  char shown[CB_SHOWN], close[CB_SHOWN];
  const int unquoted = find_unquoted(p, at, name);
  if (unquoted >= 0)
    return fail_at(p, at, "a name that is no plain word is written in backquotes, `%s`",
                   show_name(shown, p, unquoted));
  cb_text_show_within(shown, name, SHORT);
  if (is_function(name) && *at != '`')
    return fail_at(p, at, "\"%s\" is a function, want %s(...) or `%s`", shown, shown,
                   shown);
  if (cb_space_find(p->space, name) >= p->n)
    return fail_at(p, at, "parameter \"%s\" is not declared before this", shown);
  cb_guess guess = {.word = name};
  for (int i = 0; i < p->n; i++)
    cb_guess_consider(&guess, p->space->params[i].name);
  if (guess.closest)
    return fail_at(p, at, "no parameter \"%s\", did you mean \"%s\"?", shown,
                   cb_text_show_within(close, guess.closest, SHORT));
  const bool condition = p->n < p->space->n;
  return fail_at(p, at, "no parameter \"%s\"%s", shown,
                 condition ? " is declared before this" : "");
}

static bool is_number(const cocabo_value *v) {
  return v->type == COCABO_INT || v->type == COCABO_REAL;
}

/* The operand is no number, or no condition, which is what is wanted here. */
static cocabo_status fail_type(const parser *p, const operand *o, const char *want) {
  char shown[CB_SHOWN], domain[CB_SHOWN];
  const bool literal = o->type == A_LITERAL;
  if (o->type == A_CHOICE)
    return fail_at(p, o->begin, "parameter \"%s\" is %s, want %s",
                   show_name(shown, p, o->param), show_domain(domain, p, o->param),
                   want);
  if (literal && o->bare)
    return fail_parameter(p, o->begin, o->value.as.text);
  if (literal && (o->value.type == COCABO_TEXT || o->value.type == COCABO_NULL))
    return fail_at(p, o->begin, "%s may only stand opposite a choice or an ordinal",
                   cb_type_name(o->value.type));
  const bool number = o->type == A_NUMBER || (literal && is_number(&o->value));
  return fail_at(p, o->begin, "\"%s\" is a %s, want %s", show(shown, o->begin, o->end),
                 number ? "number" : "condition", want);
}

/* ---- types ----------------------------------------------------------------------- */

static const cb_param *param_of(const parser *p, const operand *o) {
  return &p->space->params[o->param];
}

static double as_number(const cocabo_value *v) {
  return v->type == COCABO_INT ? (double)v->as.integer : v->as.real;
}

static bool all_numbers(const cb_param *p) {
  int k = 0;
  while (k < p->n_choices && is_number(&p->choices[k]))
    k++;
  return k == p->n_choices;
}

static bool all_booleans(const cb_param *p) {
  int k = 0;
  while (k < p->n_choices && p->choices[k].type == COCABO_BOOL)
    k++;
  return k == p->n_choices;
}

static int find_choice(const cb_param *p, const cocabo_value *v) {
  for (int k = 0; k < p->n_choices; k++)
    if (cb_value_equal(&p->choices[k], v))
      return k;
  return -1;
}

/* The step becomes: is the cell of this choice its value k? */
static cocabo_status ask_choice(parser *p, size_t i, int param, int k) {
  p->steps[i] = (step){.op = OP_AMONG, .param = param, .at = (int)p->n_numbers, .n = 1};
  return add_number(p, k);
}

static cocabo_status want_number(parser *p, const operand *o) {
  if (o->type == A_NUMBER || (o->type == A_LITERAL && is_number(&o->value)))
    return COCABO_OK;
  if (o->type != A_CHOICE || !all_numbers(param_of(p, o)))
    return fail_type(p, o, "a number");
  const cb_param *param = param_of(p, o);
  step *s = &p->steps[o->step];
  for (const step *t = p->steps; t < s; t++) /* one table of numbers for all uses */
    if (t->op == OP_TABLE && t->param == o->param && t->n > 0) {
      *s = *t;
      return COCABO_OK;
    }
  *s = (step){OP_TABLE, o->param, (int)p->n_numbers, param->n_choices};
  for (int k = 0; k < param->n_choices; k++)
    CB_TRY(add_number(p, as_number(&param->choices[k])));
  return COCABO_OK;
}

static bool could_be_truth(const parser *p, const operand *o) {
  return o->type == A_TRUTH || (o->type == A_LITERAL && o->value.type == COCABO_BOOL) ||
         (o->type == A_CHOICE && all_booleans(param_of(p, o)));
}

static cocabo_status want_truth(parser *p, const operand *o) {
  static const cocabo_value yes = {.type = COCABO_BOOL, .as.boolean = 1};
  if (!could_be_truth(p, o))
    return fail_type(p, o, "a condition");
  if (o->type != A_CHOICE)
    return COCABO_OK;
  return ask_choice(p, o->step, o->param, find_choice(param_of(p, o), &yes));
}

/* Which of the choice's values is the literal? */
static cocabo_status want_choice(const parser *p, const operand *choice,
                                 const operand *literal, int *k) {
  char name[CB_SHOWN], shown[CB_SHOWN], other[CB_SHOWN];
  const cb_param *param = param_of(p, choice);
  const bool text = literal->value.type == COCABO_TEXT;
  *k = find_choice(param, &literal->value);
  if (*k >= 0)
    return COCABO_OK;
  show_name(name, p, choice->param);
  if (!text)
    return fail_at(p, literal->begin, "parameter \"%s\" has no choice %s, it is %s",
                   name, show(shown, literal->begin, literal->end),
                   show_domain(other, p, choice->param));
  cb_text_show_within(shown, literal->value.as.text, SHORT);
  cb_guess guess = {.word = literal->value.as.text};
  for (int i = 0; i < param->n_choices; i++)
    if (param->choices[i].type == COCABO_TEXT)
      cb_guess_consider(&guess, param->choices[i].as.text);
  if (!guess.closest)
    return fail_at(p, literal->begin, "parameter \"%s\" has no choice \"%s\", it is %s",
                   name, shown, show_domain(other, p, choice->param));
  return fail_at(p, literal->begin,
                 "parameter \"%s\" has no choice \"%s\", did you mean \"%s\"?", name,
                 shown, cb_text_show_within(other, guess.closest, SHORT));
}

/* ---- factors --------------------------------------------------------------------- */

static cocabo_status parse(parser *p, enum level level, operand *o);

static cocabo_status go_deeper(parser *p, const char *at) {
  if (++p->depth > CB_EXPR_DEPTH)
    return fail_at(p, at, "nested too deeply, want at most %d levels", CB_EXPR_DEPTH);
  return COCABO_OK;
}

/* Digits, a point, an exponent; and what of letters follows, which is an error. */
static cocabo_status read_number(parser *p, operand *o) {
  char text[CB_NAME_MAX + 1] = "-", shown[CB_SHOWN];
  const char *start = p->at;
  p->at += strspn(p->at, DIGITS ".");
  if (is_one_of(*p->at, "eE") && is_one_of(p->at[1], "+-"))
    p->at += 2;
  p->at += strspn(p->at, LETTERS DIGITS ".");
  const size_t n = (size_t)(p->at - start), sign = *o->begin == '-';
  const bool whole = strspn(start, DIGITS) == n;
  o->value.type = whole ? COCABO_INT : COCABO_REAL;
  if (n < CB_NAME_MAX) {
    memcpy(text + sign, start, n);
    text[sign + n] = '\0';
    if (whole ? cb_parse_int(text, &o->value.as.integer)
              : cb_parse_number(text, &o->value.as.real))
      return COCABO_OK;
  }
  return fail_at(p, start, "bad number %s, want quotes around it if it is text",
                 show(shown, start, p->at));
}

/* What stands in single quotes, as JSON has it. */
static const char *requote(parser *p) {
  char *json = p->words + p->n_words;
  size_t n = 0;
  json[n++] = '"';
  for (p->at++; *p->at && *p->at != '\''; json[n++] = *p->at++) {
    if (*p->at == '\\' && p->at[1] == '\'')
      p->at++;
    else if (*p->at == '\\' && p->at[1])
      json[n++] = *p->at++;
    else if (*p->at == '"')
      json[n++] = '\\';
  }
  if (*p->at)
    json[n++] = '"';
  p->at += *p->at != '\0';
  json[n] = '\0';
  p->n_words += n + 1;
  return json;
}

static cocabo_status read_text(parser *p, operand *o) {
  const bool single = *p->at == '\'';
  const char *json = single ? requote(p) : p->at;
  char *text = p->words + p->n_words;
  cb_walk walk = cb_walk_start(json, strlen(json));
  cb_walk_text(&walk, text, strlen(json) + 1);
  if (walk.why)
    return fail_at(p, o->begin, "bad text, want %s", walk.why);
  p->n_words += strlen(text) + 1;
  if (!single)
    p->at = walk.at;
  o->value = (cocabo_value){.type = COCABO_TEXT, .as.text = text};
  return COCABO_OK;
}

static cocabo_status read_word(parser *p, operand *o) {
  const size_t n = word_length(p->at);
  char *word = p->words + p->n_words;
  memcpy(word, p->at, n);
  word[n] = '\0';
  if (n == 0 || (find_reserved(word) >= 0 && !is_function(word)))
    return fail_found(p, "a value");
  p->at += n;
  p->n_words += n + 1;
  o->bare = true;
  o->value = (cocabo_value){.type = COCABO_TEXT, .as.text = word};
  return COCABO_OK;
}

/* A literal, every word among them: all that a list may hold. Writes nothing. */
static cocabo_status read_literal(parser *p, operand *o) {
  const char c = look(p);
  const char *digits = p->at + (c == '-');
  digits += strspn(digits, BLANKS);
  *o = (operand){.type = A_LITERAL, .level = ATOM, .begin = p->at, .out = p->n_out};
  if (is_one_of(*digits, DIGITS ".")) {
    p->at = digits;
    CB_TRY(read_number(p, o));
  } else if (c == '"' || c == '\'') {
    CB_TRY(read_text(p, o));
  } else if (take(p, "true") || take(p, "false")) {
    o->value = (cocabo_value){.type = COCABO_BOOL, .as.boolean = c == 't'};
  } else if (!take(p, "null")) {
    CB_TRY(read_word(p, o));
  }
  o->end = p->at;
  return COCABO_OK;
}

static cocabo_status use_parameter(parser *p, operand *o, int i) {
  static const enum op ops[] = {[CB_REAL] = OP_REAL,
                                [CB_INTEGER] = OP_INTEGER,
                                [CB_CHOICE] = OP_LEVEL,
                                [CB_ORDINAL] = OP_LEVEL};
  const cb_param *param = &p->space->params[i];
  p->named[i] = true;
  o->type = ops[param->kind] == OP_LEVEL ? A_CHOICE : A_NUMBER;
  o->param = i;
  o->end = p->at;
  emit(p, (step){.op = (int)ops[param->kind], .param = i});
  if (word_length(param->name) == strlen(param->name) &&
      find_reserved(param->name) < 0) {
    put(p, param->name);
    return COCABO_OK;
  }
  put(p, "`");
  for (const char *s = param->name; *s; s++)
    insert(p, p->n_out, *s == '`' ? "``" : s, *s == '`' ? 2 : 1);
  put(p, "`");
  return COCABO_OK;
}

/* A name in backquotes. */
static cocabo_status read_name(parser *p, operand *o) {
  char *name = p->words + p->n_words;
  size_t n = 0;
  for (p->at++; *p->at && (*p->at != '`' || p->at[1] == '`'); name[n++] = *p->at++)
    p->at += *p->at == '`';
  name[n] = '\0';
  p->n_words += n + 1;
  if (!*p->at)
    return fail_at(p, o->begin, "the backquote is not closed");
  p->at++;
  const int i = cb_space_find(p->space, name);
  return i >= 0 && i < p->n ? use_parameter(p, o, i)
                            : fail_parameter(p, o->begin, name);
}

static cocabo_status read_minus(parser *p, operand *o) {
  operand inner;
  CB_TRY(go_deeper(p, p->at));
  p->at++;
  put(p, "-");
  CB_TRY(parse(p, FACTOR, &inner));
  CB_TRY(want_number(p, &inner));
  /* -(1) is computed; -1 is a literal, and choices are compared with it by type. */
  enclose(p, &inner, inner.type == A_LITERAL ? NOTHING : FACTOR);
  emit_op(p, OP_NEGATE);
  p->depth--;
  o->type = A_NUMBER;
  o->level = FACTOR;
  o->end = p->at;
  return COCABO_OK;
}

static cocabo_status read_group(parser *p, operand *o) {
  const char *begin = p->at;
  CB_TRY(go_deeper(p, begin));
  p->at++;
  CB_TRY(parse(p, OR, o));
  if (!take(p, ")"))
    return fail_found(p, "\")\"");
  p->depth--;
  o->begin = begin;
  o->end = p->at;
  return COCABO_OK;
}

/* The operand is the word before the parenthesis, which is next. */
static cocabo_status read_call(parser *p, operand *o) {
  char shown[CB_SHOWN];
  const char *name = o->value.as.text;
  if (!is_function(name))
    return fail_at(p, o->begin,
                   "no function \"%s\", want min, max, abs, log, exp, sqrt, floor or "
                   "ceil",
                   show(shown, o->begin, o->end));
  const int op = reserved[find_reserved(name)].op;
  CB_TRY(go_deeper(p, o->begin));
  put(p, name);
  for (int k = 0; take(p, k == 0 ? "(" : ","); k++) {
    operand argument;
    if (k > 0 && op <= LAST_UNARY)
      return fail_at(p, p->at - 1, "%s takes one number", name);
    put(p, k == 0 ? "(" : ", ");
    CB_TRY(parse(p, SUM, &argument));
    CB_TRY(want_number(p, &argument));
    enclose(p, &argument, SUM);
    if (k > 0 || op <= LAST_UNARY)
      emit_op(p, op);
  }
  if (!take(p, ")"))
    return fail_found(p, "\",\" or \")\"");
  put(p, ")");
  p->depth--;
  o->type = A_NUMBER;
  o->end = p->at;
  return COCABO_OK;
}

static cocabo_status read_factor(parser *p, operand *o) {
  const char c = look(p);
  *o = (operand){.level = ATOM, .begin = p->at, .out = p->n_out, .step = p->n_steps};
  if (c == '(')
    return read_group(p, o);
  if (c == '`')
    return read_name(p, o);
  if (c == '-' && !is_one_of(p->at[1 + strspn(p->at + 1, BLANKS)], DIGITS "."))
    return read_minus(p, o);
  CB_TRY(read_literal(p, o));
  if (o->bare && look(p) == '(')
    return read_call(p, o);
  o->step = p->n_steps;
  const int i = o->bare && !is_function(o->value.as.text)
                    ? cb_space_find(p->space, o->value.as.text)
                    : -1;
  if (i >= 0 && i < p->n)
    return use_parameter(p, o, i);
  CB_TRY(put_value(p, &o->value));
  if (o->value.type == COCABO_BOOL) {
    emit_op(p, o->value.as.boolean ? OP_YES : OP_NO);
    return COCABO_OK;
  }
  emit(p, (step){.op = OP_NUMBER, .at = (int)p->n_numbers});
  return add_number(p, is_number(&o->value) ? as_number(&o->value) : NAN);
}

/* ---- comparisons ----------------------------------------------------------------- */

/* choice == literal, in either order: one step, in place of two. */
static cocabo_status equal_choice(parser *p, const operand *choice,
                                  const operand *literal) {
  int k;
  CB_TRY(want_choice(p, choice, literal, &k));
  p->n_steps--;
  p->height--;
  return ask_choice(p, p->n_steps - 1, choice->param, k);
}

/* choice == choice: the table says which value of the right side each of the left one
 * is, -1 if none. It is no table of numbers, which n = 0 marks. */
static cocabo_status equal_choices(parser *p, const operand *l, const operand *r) {
  char left[CB_SHOWN], right[CB_SHOWN];
  const cb_param *a = param_of(p, l), *b = param_of(p, r);
  bool possible = false;
  p->steps[l->step] = (step){OP_TABLE, l->param, (int)p->n_numbers, 0};
  for (int k = 0; k < a->n_choices; k++) {
    const int same = find_choice(b, &a->choices[k]);
    possible = possible || same >= 0;
    CB_TRY(add_number(p, same));
  }
  if (!possible)
    return fail_at(p, l->begin, "parameters \"%s\" and \"%s\" have no choice in common",
                   show_name(left, p, l->param), show_name(right, p, r->param));
  emit_op(p, OP_SAME);
  return COCABO_OK;
}

static cocabo_status compare_equal(parser *p, int op, const operand *l,
                                   const operand *r) {
  const bool truths = could_be_truth(p, l) && could_be_truth(p, r);
  if (l->type == A_CHOICE && r->type == A_LITERAL) {
    CB_TRY(equal_choice(p, l, r));
  } else if (l->type == A_LITERAL && r->type == A_CHOICE) {
    CB_TRY(equal_choice(p, r, l));
  } else if (l->type == A_CHOICE && r->type == A_CHOICE) {
    CB_TRY(equal_choices(p, l, r));
  } else if (truths || l->type == A_TRUTH || r->type == A_TRUTH) {
    CB_TRY(want_truth(p, l));
    CB_TRY(want_truth(p, r));
    emit_op(p, OP_AGREE);
  } else {
    CB_TRY(want_number(p, l));
    CB_TRY(want_number(p, r));
    emit_op(p, op); /* where a side has no value, both == and != are false */
    return COCABO_OK;
  }
  if (op == OP_UNEQUAL)
    emit_op(p, OP_NOT);
  return COCABO_OK;
}

static bool goes_by_level(const parser *p, const operand *o) {
  return o->type == A_CHOICE && !all_numbers(param_of(p, o));
}

/* The level of one side, where the other goes by level. */
static cocabo_status want_level(parser *p, const operand *o, const operand *ordinal) {
  char left[CB_SHOWN], right[CB_SHOWN];
  const cb_param *a = param_of(p, ordinal);
  if (a->kind != CB_ORDINAL || o->type == A_NUMBER || o->type == A_TRUTH)
    return fail_type(p, ordinal,
                     a->kind == CB_ORDINAL ? "a number" : "an ordinal or a number");
  if (o->type == A_LITERAL) {
    int k;
    CB_TRY(want_choice(p, ordinal, o, &k));
    p->steps[o->step] = (step){.op = OP_NUMBER, .at = (int)p->n_numbers};
    return add_number(p, k);
  }
  const cb_param *b = param_of(p, o);
  if (b->kind != CB_ORDINAL)
    return fail_type(p, o, "an ordinal");
  bool same = a->n_choices == b->n_choices;
  for (int k = 0; same && k < a->n_choices; k++)
    same = cb_value_equal(&a->choices[k], &b->choices[k]);
  if (same)
    return COCABO_OK;
  return fail_at(p, o->begin, "parameters \"%s\" and \"%s\" have different levels",
                 show_name(left, p, ordinal->param), show_name(right, p, o->param));
}

static cocabo_status compare_order(parser *p, int op, const operand *l,
                                   const operand *r) {
  if (goes_by_level(p, l)) {
    CB_TRY(want_level(p, r, l));
  } else if (goes_by_level(p, r)) {
    CB_TRY(want_level(p, l, r));
  } else {
    CB_TRY(want_number(p, l));
    CB_TRY(want_number(p, r));
  }
  emit_op(p, op);
  return COCABO_OK;
}

/* The list after `in`. */
static cocabo_status read_list(parser *p, int op, const operand *l) {
  const bool choice = l->type == A_CHOICE;
  if (!choice)
    CB_TRY(want_number(p, l));
  step s = {choice ? OP_AMONG : op, l->param, (int)p->n_numbers, 0};
  for (; take(p, s.n == 0 ? "(" : ","); s.n++) {
    operand literal;
    int k = -1;
    put(p, s.n == 0 ? "(" : ", ");
    CB_TRY(read_literal(p, &literal));
    CB_TRY(put_value(p, &literal.value));
    CB_TRY(choice ? want_choice(p, l, &literal, &k) : want_number(p, &literal));
    CB_TRY(add_number(p, choice ? k : as_number(&literal.value)));
  }
  if (s.n == 0 || !take(p, ")"))
    return fail_found(p, s.n == 0 ? "\"(\"" : "\",\" or \")\"");
  put(p, ")");
  if (!choice) {
    emit(p, s);
    return COCABO_OK;
  }
  p->steps[l->step] = s;
  if (op == OP_NOT_IN)
    emit_op(p, OP_NOT);
  return COCABO_OK;
}

typedef struct infix {
  const char *token, *text;
  enum level level;
  int op;
} infix;

/* The operator of this level that comes next, or NULL. */
static const infix *take_operator(parser *p, enum level level) {
  static const infix infixes[] = {{"or", " or ", OR, OP_OR},
                                  {"and", " and ", AND, OP_AND},
                                  {"==", " == ", COMPARISON, OP_EQUAL},
                                  {"!=", " != ", COMPARISON, OP_UNEQUAL},
                                  {"<", " < ", COMPARISON, OP_LESS},
                                  {"<=", " <= ", COMPARISON, OP_LESS_EQUAL},
                                  {">", " > ", COMPARISON, OP_GREATER},
                                  {">=", " >= ", COMPARISON, OP_GREATER_EQUAL},
                                  {"in", " in ", COMPARISON, OP_IN},
                                  {"not", " not in ", COMPARISON, OP_NOT_IN},
                                  {"+", " + ", SUM, OP_ADD},
                                  {"-", " - ", SUM, OP_SUBTRACT},
                                  {"*", " * ", TERM, OP_MULTIPLY},
                                  {"/", " / ", TERM, OP_DIVIDE},
                                  {"%", " % ", TERM, OP_MODULO}};
  for (size_t i = 0; i < sizeof infixes / sizeof infixes[0]; i++)
    if (infixes[i].level == level && take(p, infixes[i].token))
      return &infixes[i];
  return NULL;
}

static cocabo_status read_comparison(parser *p, operand *o) {
  CB_TRY(parse(p, SUM, o));
  const infix *how = take_operator(p, COMPARISON);
  if (!how)
    return is_one_of(*p->at, MARKS) ? fail_found(p, "an operator") : COCABO_OK;
  if (how->op == OP_NOT_IN && !take(p, "in"))
    return fail_found(p, "\"in\"");
  enclose(p, o, SUM);
  put(p, how->text);
  if (how->op <= LAST_UNARY) {
    CB_TRY(read_list(p, how->op, o));
  } else {
    operand right;
    CB_TRY(parse(p, SUM, &right));
    enclose(p, &right, SUM);
    CB_TRY(how->op >= OP_EQUAL ? compare_equal(p, how->op, o, &right)
                               : compare_order(p, how->op, o, &right));
  }
  o->type = A_TRUTH;
  o->level = COMPARISON;
  o->end = p->at;
  look(p);
  const char *next = p->at;
  if (take_operator(p, COMPARISON))
    return fail_at(p, next, "comparisons do not chain, want \"and\" between two");
  return COCABO_OK;
}

static cocabo_status read_not(parser *p, operand *o) {
  look(p);
  operand whole = {.type = A_TRUTH, .level = NOT, .begin = p->at, .out = p->n_out};
  if (!take(p, "not"))
    return read_comparison(p, o);
  CB_TRY(go_deeper(p, whole.begin));
  put(p, "not ");
  CB_TRY(parse(p, NOT, o));
  CB_TRY(want_truth(p, o));
  enclose(p, o, NOT);
  emit_op(p, OP_NOT);
  p->depth--;
  whole.end = p->at;
  *o = whole;
  return COCABO_OK;
}

/* ---- everything ------------------------------------------------------------------ */

/* What binds at least as tightly as the level, or stands in parentheses. */
static cocabo_status parse(parser *p, enum level level, operand *o) {
  if (level == NOT)
    return read_not(p, o);
  if (level == FACTOR)
    return read_factor(p, o);
  const bool truths = level <= AND;
  CB_TRY(parse(p, level + 1, o));
  for (const infix *how; (how = take_operator(p, level));) {
    operand right;
    CB_TRY(truths ? want_truth(p, o) : want_number(p, o));
    enclose(p, o, level);
    put(p, how->text);
    CB_TRY(parse(p, level + 1, &right));
    CB_TRY(truths ? want_truth(p, &right) : want_number(p, &right));
    enclose(p, &right, level + 1);
    emit_op(p, how->op);
    o->type = truths ? A_TRUTH : A_NUMBER;
    o->level = level;
    o->end = p->at;
  }
  return COCABO_OK;
}

/* One block of what has been read. */
static cocabo_status publish(const parser *p, cb_expr **out) {
  assert(p->height == 1);
  int n_params = 0;
  for (int i = 0; i < p->n; i++)
    n_params += p->named[i];
  const size_t numbers = p->n_numbers * sizeof *p->numbers;
  const size_t steps = p->n_steps * sizeof *p->steps;
  const size_t bytes =
      sizeof(cb_expr) + numbers + steps + (size_t)n_params * sizeof(int) + p->n_out + 1;
  cb_expr *e = cb_calloc(1, bytes);
  if (!e)
    return cb_no_memory(p->err);
  *e = (cb_expr){.bytes = bytes,
                 .n_numbers = (int)p->n_numbers,
                 .n_steps = (int)p->n_steps,
                 .n_params = n_params};
  if (numbers > 0)
    memcpy(e->numbers, p->numbers, numbers);
  memcpy(steps_of(e), p->steps, steps);
  int *params = params_of(e);
  for (int i = 0; i < p->n; i++)
    if (p->named[i])
      *params++ = i;
  memcpy(params, p->out, p->n_out);
  *out = e;
  return COCABO_OK;
}

static cocabo_status parse_all(parser *p, cb_expr **out) {
  operand o;
  CB_TRY(parse(p, OR, &o));
  CB_TRY(want_truth(p, &o));
  if (look(p))
    return fail_found(p, "an operator or the end");
  if (p->n_out > CB_EXPR_LENGTH)
    return cb_fail(p->err, COCABO_E_INVALID,
                   "the expression is too long with all its blanks and quotes, want "
                   "at most %d bytes",
                   CB_EXPR_LENGTH);
  return publish(p, out);
}

cocabo_status cb_expr_parse(cb_expr **out, const cocabo_space *space, int n,
                            const char *text, cocabo_error *err) {
  *out = NULL;
  if (!text)
    return cb_fail(err, COCABO_E_INVALID, "the expression is NULL");
  const size_t length = strlen(text);
  if (length > CB_EXPR_LENGTH)
    return cb_fail(err, COCABO_E_INVALID,
                   "the expression is %zu bytes long, want at most %d", length,
                   CB_EXPR_LENGTH);
  if (!cb_text_is_utf8(text))
    return cb_fail(err, COCABO_E_INVALID, "the expression is not valid UTF-8");
  assert(n >= 0 && n <= space->n);
  parser p = {.space = space, .n = n, .text = text, .at = text, .err = err};
  p.steps = cb_calloc(length + 1, sizeof *p.steps);
  p.words = cb_calloc(length + 1, 8); /* 'a' takes two words, "a" as JSON and a */
  const cocabo_status status =
      p.steps && p.words ? parse_all(&p, out) : cb_no_memory(err);
  cb_json_free(&p.json);
  cb_free(p.words);
  cb_free(p.numbers);
  cb_free(p.steps);
  return status;
}
