/* grammar.c - parameters as text, read and written.
 *
 *   domain  = ( kind "(" args ")" | "bool" ) [ "if" condition ]
 *   float   = "float"   "(" low "," high { "," "log" | "," "step" "=" number } ")"
 *   int     = "int"     "(" low "," high { "," "log" | "," "step" "=" number } ")"
 *   choice  = "choice"  "(" value { "," value } ")"      also spelt "categorical"
 *   ordinal = "ordinal" "(" value { "," value } ")"
 *   bool    = choice(false,true)
 *   value   = a JSON scalar, or bare text without  , ( ) "
 *   condition: see space/expr.h
 *
 * White space is allowed around every token. What JSON would read as a number, true,
 * false or null is just that; the text must be quoted.
 */
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "space/expr.h"
#include "space/space.h"

#define BLANKS " \t\n\r"

/* ---- words ----------------------------------------------------------------------- */

/* A piece of the domain: where it starts and how long it is. */
typedef struct word {
  const char *text;
  size_t length;
} word;

typedef struct parser {
  const char *name;      /* of the parameter, for the sentences */
  const char *at;        /* what has not been read yet */
  const char *condition; /* what follows `if`; NULL: nothing does */
} parser;

static void skip_blanks(parser *p) {
  p->at += strspn(p->at, BLANKS);
}

static bool take(parser *p, char c) {
  skip_blanks(p);
  if (*p->at != c)
    return false;
  p->at++;
  return true;
}

/* Up to the next of these characters, without blanks at its ends. */
static word read_word(parser *p, const char *ends) {
  skip_blanks(p);
  word w = {.text = p->at, .length = strcspn(p->at, ends)};
  p->at += w.length;
  while (w.length > 0 && strchr(BLANKS, w.text[w.length - 1]))
    w.length--;
  return w;
}

static bool word_is(word w, const char *text) {
  return strlen(text) == w.length && memcmp(w.text, text, w.length) == 0;
}

/* The word with an end of its own, cut where no sensible word would be that long. */
static const char *word_copy(char out[static CB_NAME_MAX + 1], word w) {
  const size_t length = w.length < CB_NAME_MAX ? w.length : CB_NAME_MAX;
  if (length > 0)
    memcpy(out, w.text, length);
  out[length] = '\0';
  return out;
}

static const char *word_show(char out[static CB_SHOWN], word w) {
  char whole[CB_NAME_MAX + 1];
  return cb_text_show(out, word_copy(whole, w));
}

/* Between two arguments or at the end of the last. */
static cocabo_status next_argument(parser *p, bool *more, cocabo_error *err) {
  char shown[CB_SHOWN];
  *more = take(p, ',');
  if (*more || take(p, ')'))
    return COCABO_OK;
  if (!*p->at)
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": the domain has no closing parenthesis", p->name);
  return cb_fail(err, COCABO_E_INVALID,
                 "parameter \"%s\": found \"%s\", want a comma or a parenthesis",
                 p->name, cb_text_show(shown, p->at));
}

/* ---- numbers --------------------------------------------------------------------- */

/* low, high, and what may follow them. */
typedef struct range {
  word low, high, step;
  bool log, has_step;
} range;

static cocabo_status bad_flag(const parser *p, const char *kind, word flag,
                              cocabo_error *err) {
  char shown[CB_SHOWN], text[CB_NAME_MAX + 1];
  cb_guess guess = {.word = word_copy(text, flag)};
  cb_guess_consider(&guess, "log");
  cb_guess_consider(&guess, "step");
  word_show(shown, flag);
  if (guess.closest)
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": %s has no \"%s\", did you mean \"%s\"?", p->name,
                   kind, shown, guess.closest);
  return cb_fail(err, COCABO_E_INVALID,
                 "parameter \"%s\": %s has no \"%s\", want log or step=NUMBER", p->name,
                 kind, shown);
}

static cocabo_status read_flag(parser *p, const char *kind, range *r,
                               cocabo_error *err) {
  const word flag = read_word(p, "=,)");
  const bool step = word_is(flag, "step");
  const bool log = word_is(flag, "log");
  if (!step && !log)
    return bad_flag(p, kind, flag, err);
  if (step ? r->has_step : r->log)
    return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\": %s is given twice",
                   p->name, step ? "step" : "log");
  if (log) {
    r->log = true;
    return COCABO_OK;
  }
  if (!take(p, '='))
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": step has no value, want step=NUMBER", p->name);
  r->has_step = true;
  r->step = read_word(p, ",)");
  return COCABO_OK;
}

static cocabo_status read_range(parser *p, const char *kind, range *r,
                                cocabo_error *err) {
  bool more = false;
  r->low = read_word(p, ",)");
  CB_TRY(next_argument(p, &more, err));
  if (!more)
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": %s has no upper bound, want %s(low,high)",
                   p->name, kind, kind);
  r->high = read_word(p, ",)");
  CB_TRY(next_argument(p, &more, err));
  while (more) {
    CB_TRY(read_flag(p, kind, r, err));
    CB_TRY(next_argument(p, &more, err));
  }
  return COCABO_OK;
}

static cocabo_status bad_number(const parser *p, const char *what, word w,
                                const char *want, cocabo_error *err) {
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\": %s is \"%s\", want %s",
                 p->name, what, word_show(shown, w), want);
}

static cocabo_status to_real(const parser *p, const char *what, word w, double *out,
                             cocabo_error *err) {
  char text[CB_NAME_MAX + 1];
  if (w.length > CB_NAME_MAX || !cb_parse_number(word_copy(text, w), out))
    return bad_number(p, what, w, "a number", err);
  return COCABO_OK;
}

static cocabo_status to_int(const parser *p, const char *what, word w, int64_t *out,
                            cocabo_error *err) {
  char text[CB_NAME_MAX + 1];
  if (w.length > CB_NAME_MAX || !cb_parse_int(word_copy(text, w), out))
    return bad_number(p, what, w, "a whole number", err);
  return COCABO_OK;
}

/* The end of the domain, or a condition. */
static cocabo_status at_end(parser *p, cocabo_error *err) {
  char shown[CB_SHOWN];
  skip_blanks(p);
  if (!*p->at)
    return COCABO_OK;
  if (p->at[0] == 'i' && p->at[1] == 'f' &&
      (!p->at[2] || strchr(BLANKS "(", p->at[2]))) {
    p->condition = p->at + 2 + strspn(p->at + 2, BLANKS);
    return COCABO_OK;
  }
  return cb_fail(err, COCABO_E_INVALID,
                 "parameter \"%s\": found \"%s\" after the domain", p->name,
                 cb_text_show(shown, p->at));
}

static cocabo_status add_float(cocabo_space *space, parser *p, cocabo_error *err) {
  range r = {0};
  double low = 0.0, high = 0.0, step = 0.0;
  CB_TRY(read_range(p, "float", &r, err));
  CB_TRY(at_end(p, err));
  CB_TRY(to_real(p, "low", r.low, &low, err));
  CB_TRY(to_real(p, "high", r.high, &high, err));
  if (r.has_step)
    CB_TRY(to_real(p, "step", r.step, &step, err));
  return cocabo_space_add_real(space, p->name, low, high, step, r.log ? COCABO_LOG : 0,
                               err);
}

static cocabo_status add_int(cocabo_space *space, parser *p, cocabo_error *err) {
  range r = {0};
  int64_t low = 0, high = 0, step = 0;
  CB_TRY(read_range(p, "int", &r, err));
  CB_TRY(at_end(p, err));
  CB_TRY(to_int(p, "low", r.low, &low, err));
  CB_TRY(to_int(p, "high", r.high, &high, err));
  if (r.has_step)
    CB_TRY(to_int(p, "step", r.step, &step, err));
  return cocabo_space_add_int(space, p->name, low, high, step, r.log ? COCABO_LOG : 0,
                              err);
}

/* ---- choices --------------------------------------------------------------------- */

typedef struct list {
  cocabo_value *values; /* n; texts owned by the list */
  size_t n, capacity;
} list;

static void free_list(list *l) {
  for (size_t i = 0; i < l->n; i++)
    if (l->values[i].type == COCABO_TEXT)
      cb_free((char *)l->values[i].as.text);
  cb_free(l->values);
}

static size_t count_digits(const char *s) {
  return strspn(s, "0123456789");
}

/* Bytes of the JSON number at s, 0 if there is none; *whole: without point and
 * exponent.
 */
static size_t json_number(const char *s, bool *whole) {
  const char *at = s + (*s == '-');
  const size_t digits = count_digits(at);
  if (digits == 0 || (*at == '0' && digits > 1))
    return 0;
  at += digits;
  *whole = true;
  if (*at == '.') {
    const size_t more = count_digits(at + 1);
    if (more == 0)
      return 0;
    at += 1 + more;
    *whole = false;
  }
  if (*at == 'e' || *at == 'E') {
    at += 1;
    at += *at == '+' || *at == '-';
    const size_t more = count_digits(at);
    if (more == 0)
      return 0;
    at += more;
    *whole = false;
  }
  return (size_t)(at - s);
}

static cocabo_status read_number(const parser *p, word w, bool whole, cocabo_value *out,
                                 cocabo_error *err) {
  char text[CB_NAME_MAX + 1], shown[CB_SHOWN];
  word_copy(text, w);
  out->type = whole ? COCABO_INT : COCABO_REAL;
  if (w.length <= CB_NAME_MAX && (whole ? cb_parse_int(text, &out->as.integer)
                                        : cb_parse_number(text, &out->as.real)))
    return COCABO_OK;
  return cb_fail(err, COCABO_E_RANGE,
                 "parameter \"%s\": the number %s is too large, want quotes around it "
                 "if it is text",
                 p->name, word_show(shown, w));
}

static cocabo_status read_bare(parser *p, size_t k, cocabo_value *out,
                               cocabo_error *err) {
  char shown[CB_SHOWN];
  bool whole = false;
  const word w = read_word(p, ",)(\"");
  if (*p->at == '(' || *p->at == '"')
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": choice %zu is %s%c..., want quotes around it",
                   p->name, k, word_show(shown, w), *p->at);
  if (w.length == 0)
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": choice %zu is empty, want a value or \"\"",
                   p->name, k);
  if (word_is(w, "null")) {
    out->type = COCABO_NULL;
    return COCABO_OK;
  }
  if (word_is(w, "true") || word_is(w, "false")) {
    *out = (cocabo_value){.type = COCABO_BOOL, .as.boolean = word_is(w, "true")};
    return COCABO_OK;
  }
  if (json_number(w.text, &whole) == w.length)
    return read_number(p, w, whole, out, err);
  char *text = cb_calloc(w.length + 1, 1);
  if (!text)
    return cb_no_memory(err);
  memcpy(text, w.text, w.length);
  *out = (cocabo_value){.type = COCABO_TEXT, .as.text = text};
  return COCABO_OK;
}

/* Four hexadecimal digits, or -1. */
static int32_t read_hex(const char *s) {
  int32_t value = 0;
  for (int i = 0; i < 4; i++) {
    const char *digits = "0123456789abcdefABCDEF";
    const char *found = s[i] ? strchr(digits, s[i]) : NULL;
    if (!found)
      return -1;
    const int32_t digit = (int32_t)(found - digits);
    value = 16 * value + (digit < 16 ? digit : digit - 6);
  }
  return value;
}

static size_t put_utf8(char *out, int32_t c) {
  if (c < 0x80) {
    out[0] = (char)c;
    return 1;
  }
  const size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
  static const int32_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
  for (size_t i = length; i-- > 1; c >>= 6)
    out[i] = (char)(0x80 | (c & 0x3F));
  out[0] = (char)(lead[length] | c);
  return length;
}

/* The character of \uXXXX at s (behind the u), a pair of them for those beyond the
 * basic plane. Returns the bytes read, 0 if it is none or the end of a text. */
static size_t read_unicode(const char *s, int32_t *c) {
  const int32_t high = read_hex(s);
  *c = high;
  if (high <= 0 || (high >= 0xDC00 && high < 0xE000))
    return 0;
  if (high < 0xD800 || high >= 0xE000)
    return 4;
  const int32_t low = s[4] == '\\' && s[5] == 'u' ? read_hex(s + 6) : -1;
  if (low < 0xDC00 || low >= 0xE000)
    return 0;
  *c = 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00);
  return 10;
}

/* The escape at s (behind the backslash) into out; the bytes written are added to
 * *used. Returns the bytes read, 0 if JSON has no such escape. */
static size_t read_escape(const char *s, char *out, size_t *used) {
  static const char names[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
  const char *found = *s ? strchr(names, *s) : NULL;
  if (found) {
    out[(*used)++] = meant[found - names];
    return 1;
  }
  int32_t c = 0;
  const size_t taken = *s == 'u' ? read_unicode(s + 1, &c) : 0;
  if (taken == 0)
    return 0;
  *used += put_utf8(out + *used, c);
  return 1 + taken;
}

/* Reads the text behind the opening quote into `out`, which has room for all that is
 * left: an escape is never shorter than its meaning. */
static cocabo_status unquote(parser *p, size_t k, char *out, cocabo_error *err) {
  size_t used = 0;
  while (*p->at != '"') {
    if (!*p->at)
      return cb_fail(err, COCABO_E_INVALID,
                     "parameter \"%s\": choice %zu has no closing quote", p->name, k);
    if ((unsigned char)*p->at < 0x20)
      return cb_fail(err, COCABO_E_INVALID,
                     "parameter \"%s\": choice %zu has a control character, want it "
                     "escaped as in JSON",
                     p->name, k);
    if (*p->at != '\\') {
      out[used++] = *p->at++;
      continue;
    }
    char shown[CB_SHOWN];
    const size_t taken = read_escape(p->at + 1, out, &used);
    if (taken == 0)
      return cb_fail(err, COCABO_E_INVALID,
                     "parameter \"%s\": choice %zu has the bad escape %s", p->name, k,
                     word_show(shown, (word){p->at, strnlen(p->at, 6)}));
    p->at += 1 + taken;
  }
  p->at++;
  out[used] = '\0';
  return COCABO_OK;
}

static cocabo_status read_quoted(parser *p, size_t k, cocabo_value *out,
                                 cocabo_error *err) {
  /* Escapes shorten, so what is between the quotes is room enough; the quote that ends
   * the text is the first that no backslash escapes. */
  size_t room = 0;
  while (p->at[room] && p->at[room] != '"')
    room += p->at[room] == '\\' && p->at[room + 1] ? 2 : 1;
  char *text = cb_calloc(room + 1, 1);
  if (!text)
    return cb_no_memory(err);
  const cocabo_status status = unquote(p, k, text, err);
  if (status != COCABO_OK) {
    cb_free(text);
    return status;
  }
  *out = (cocabo_value){.type = COCABO_TEXT, .as.text = text};
  return COCABO_OK;
}

static cocabo_status read_choices(parser *p, list *l, cocabo_error *err) {
  bool more = true;
  while (more) {
    void *values = l->values;
    if (!cb_reserve(&values, &l->capacity, l->n + 1, sizeof *l->values))
      return cb_no_memory(err);
    l->values = values;
    cocabo_value *value = &l->values[l->n];
    CB_TRY(take(p, '"') ? read_quoted(p, l->n, value, err)
                        : read_bare(p, l->n, value, err));
    l->n++;
    CB_TRY(next_argument(p, &more, err));
  }
  return at_end(p, err);
}

static cocabo_status add_choices(cocabo_space *space, parser *p, unsigned flags,
                                 cocabo_error *err) {
  list l = {0};
  cocabo_status status = COCABO_OK;
  if (take(p, ')')) /* no choices: the sentence is that of the space */
    status = at_end(p, err);
  else
    status = read_choices(p, &l, err);
  if (status == COCABO_OK)
    status = cocabo_space_add_choice(space, p->name, l.values, l.n, flags, err);
  free_list(&l);
  return status;
}

static cocabo_status add_bool(cocabo_space *space, parser *p, cocabo_error *err) {
  static const cocabo_value choices[] = {{COCABO_BOOL, {.boolean = 0}},
                                         {COCABO_BOOL, {.boolean = 1}}};
  CB_TRY(at_end(p, err));
  return cocabo_space_add_choice(space, p->name, choices, 2, 0, err);
}

/* ---- any kind -------------------------------------------------------------------- */

static cocabo_status no_kind(const parser *p, word kind, cocabo_error *err) {
  static const char *const kinds[] = {"float",  "int",         "bool",
                                      "choice", "categorical", "ordinal"};
  char text[CB_NAME_MAX + 1], shown[CB_SHOWN];
  cb_guess guess = {.word = word_copy(text, kind)};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    cb_guess_consider(&guess, kinds[i]);
  word_show(shown, kind);
  if (guess.closest)
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": no kind \"%s\", did you mean \"%s\"?", p->name,
                   shown, guess.closest);
  return cb_fail(
      err, COCABO_E_INVALID,
      "parameter \"%s\": no kind \"%s\", want float, int, bool, choice or ordinal",
      p->name, shown);
}

static cocabo_status parse(cocabo_space *space, parser *p, cocabo_error *err) {
  char shown[CB_SHOWN];
  const char *domain = p->at;
  skip_blanks(p);
  const char *after = p->at + strlen("bool");
  if (strncmp(p->at, "bool", strlen("bool")) == 0 &&
      (!*after || strchr(BLANKS, *after)) && after[strspn(after, BLANKS)] != '(') {
    p->at = after;
    return add_bool(space, p, err);
  }
  const word kind = read_word(p, "(");
  if (!take(p, '('))
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": domain is \"%s\", want float(low,high), "
                   "int(low,high), bool, choice(a,b) or ordinal(a,b)",
                   p->name, cb_text_show(shown, domain));
  if (word_is(kind, "float"))
    return add_float(space, p, err);
  if (word_is(kind, "int"))
    return add_int(space, p, err);
  if (word_is(kind, "choice") || word_is(kind, "categorical"))
    return add_choices(space, p, 0, err);
  if (word_is(kind, "ordinal"))
    return add_choices(space, p, COCABO_ORDERED, err);
  if (word_is(kind, "bool"))
    return cb_fail(err, COCABO_E_INVALID,
                   "parameter \"%s\": domain is \"%s\", want bool without parentheses",
                   p->name, cb_text_show(shown, domain));
  return no_kind(p, kind, err);
}

cocabo_status cocabo_space_add(cocabo_space *space, const char *name,
                               const char *domain, cocabo_error *err) {
  if (!space)
    return cb_fail(err, COCABO_E_INVALID, "space is NULL");
  CB_TRY(cb_name_check("parameter name", name, err));
  if (!domain)
    return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\": domain is NULL", name);
  if (!cb_text_is_utf8(domain))
    return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\": domain is not valid UTF-8",
                   name);
  parser p = {.name = name, .at = domain};
  CB_TRY(parse(space, &p, err));
  if (!p.condition)
    return COCABO_OK;
  const cocabo_status status = cocabo_space_condition(space, name, p.condition, err);
  if (status != COCABO_OK)
    cb_space_remove_last(space);
  return status;
}

/* ---- the other way --------------------------------------------------------------- */

/* A text that grows; after a failed allocation it stays NULL to the end. */
typedef struct buffer {
  char *text;
  size_t used, room;
  bool failed;
} buffer;

static void put_bytes(buffer *b, const char *bytes, size_t n) {
  void *text = b->text;
  if (b->failed || !cb_reserve(&text, &b->room, b->used + n + 1, 1)) {
    b->failed = true;
    return;
  }
  b->text = text;
  memcpy(b->text + b->used, bytes, n);
  b->used += n;
  b->text[b->used] = '\0';
}

static void put_text(buffer *b, const char *text) {
  put_bytes(b, text, strlen(text));
}

static void put_real(buffer *b, double number) {
  char digits[CB_DIGITS];
  put_text(b, cb_number_show(digits, number));
}

static void put_int(buffer *b, int64_t number) {
  char digits[CB_DIGITS];
  snprintf(digits, sizeof digits, "%lld", (long long)number);
  put_text(b, digits);
}

/* Would read_bare take it for something else? */
static bool needs_quotes(const char *text) {
  const size_t length = strlen(text);
  bool whole;
  for (const char *s = text; *s; s++)
    if ((unsigned char)*s < 0x20 || strchr(",()\"", *s))
      return true;
  return length == 0 || strchr(BLANKS, text[0]) || strchr(BLANKS, text[length - 1]) ||
         strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ||
         strcmp(text, "null") == 0 || json_number(text, &whole) == length;
}

static void put_quoted(buffer *b, const char *text) {
  put_text(b, "\"");
  for (const char *s = text; *s; s++) {
    char escape[8];
    if (*s == '"' || *s == '\\')
      snprintf(escape, sizeof escape, "\\%c", *s);
    else if ((unsigned char)*s < 0x20)
      snprintf(escape, sizeof escape, "\\u%04x", (unsigned)*s);
    else
      snprintf(escape, sizeof escape, "%c", *s);
    put_text(b, escape);
  }
  put_text(b, "\"");
}

static void put_value(buffer *b, const cocabo_value *value) {
  char digits[CB_DIGITS];
  switch (value->type) {
  case COCABO_NULL:
  case COCABO_ABSENT: /* is no choice */
    put_text(b, "null");
    return;
  case COCABO_BOOL:
    put_text(b, value->as.boolean ? "true" : "false");
    return;
  case COCABO_INT:
    put_int(b, value->as.integer);
    return;
  case COCABO_REAL:
    put_text(b, cb_number_show(digits, value->as.real));
    if (!strpbrk(digits, ".e")) /* 1 would be an int */
      put_text(b, ".0");
    return;
  case COCABO_TEXT:
    if (needs_quotes(value->as.text))
      put_quoted(b, value->as.text);
    else
      put_text(b, value->as.text);
    return;
  }
}

static void put_domain(buffer *b, const cb_param *p) {
  switch (p->kind) {
  case CB_REAL:
    put_text(b, "float(");
    put_real(b, p->low);
    put_text(b, ",");
    put_real(b, p->high);
    if (p->step > 0.0) {
      put_text(b, ",step=");
      put_real(b, p->step);
    }
    break;
  case CB_INTEGER:
    put_text(b, "int(");
    put_int(b, p->ilow);
    put_text(b, ",");
    put_int(b, p->ihigh);
    if (p->istep > 1) {
      put_text(b, ",step=");
      put_int(b, p->istep);
    }
    break;
  case CB_CHOICE:
  case CB_ORDINAL:
    put_text(b, p->kind == CB_ORDINAL ? "ordinal(" : "choice(");
    for (int k = 0; k < p->n_choices; k++) {
      put_text(b, k > 0 ? "," : "");
      put_value(b, &p->choices[k]);
    }
    break;
  }
  put_text(b, p->log ? ",log)" : ")");
  if (p->condition) {
    put_text(b, " if ");
    put_text(b, cb_expr_text(p->condition));
  }
}

char *cocabo_space_domain(const cocabo_space *space, size_t i) {
  buffer b = {0};
  if (i >= cocabo_space_count(space))
    return NULL;
  put_domain(&b, &space->params[i]);
  if (!b.failed)
    return b.text;
  cb_free(b.text);
  return NULL;
}

void cocabo_text_free(char *text) {
  cb_free(text);
}
