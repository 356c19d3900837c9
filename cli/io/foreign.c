/* foreign.c - the tree of a space that another tuner wrote down: its memory, its parts
 * and its notes; and which reader is for which file. */
#include "io/foreign.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/args.h"
#include "common/base.h"

/* ---- memory ---------------------------------------------------------------------- */

struct foreign_block {
  struct foreign_block *next;
  max_align_t data[];
};

void *foreign_alloc(foreign *f, size_t size) {
  struct foreign_block *block = cb_calloc(1, sizeof *block + size);
  if (!block)
    return NULL;
  block->next = f->blocks;
  f->blocks = block;
  return block->data;
}

char *foreign_copy(foreign *f, const char *text, size_t size) {
  char *copy = foreign_alloc(f, size + 1);
  if (copy)
    memcpy(copy, text, size);
  return copy;
}

void foreign_free(foreign *f) {
  while (f->blocks) {
    struct foreign_block *next = f->blocks->next;
    cb_free(f->blocks);
    f->blocks = next;
  }
  *f = (foreign){0};
}

/* ---- sentences ------------------------------------------------------------------- */

/* "parameters.txt, line 3: " before what is said, with nothing that would play with a
 * terminal. */
static void format_sentence(const foreign *f, int line, const char *fmt, va_list args,
                            char *out, size_t size) {
  char name[CB_SHOWN];
  int used =
      line > 0 ? snprintf(out, size, "%s, line %d: ", cb_text_show(name, f->name), line)
               : snprintf(out, size, "%s: ", cb_text_show(name, f->name));
  vsnprintf(out + used, size - (size_t)used, fmt, args);
}

cocabo_status foreign_say(foreign *f, int line, cocabo_error *err, const char *fmt,
                          ...) {
  char text[600];
  va_list args;
  va_start(args, fmt);
  format_sentence(f, line, fmt, args, text, sizeof text);
  va_end(args);
  cocabo_error clean;
  cb_fail(&clean, COCABO_E_INVALID, "%s", text); /* cut at a whole character */
  const size_t size = strlen(clean.message) + 1;
  foreign_note *note = foreign_alloc(f, sizeof *note + size);
  if (!note)
    return cb_no_memory(err);
  memcpy(note->text, clean.message, size);
  if (f->last_note)
    f->last_note->next = note;
  else
    f->notes = note;
  f->last_note = note;
  return COCABO_OK;
}

cocabo_status foreign_refuse(const foreign *f, int line, cocabo_error *err,
                             const char *fmt, ...) {
  char text[600];
  va_list args;
  va_start(args, fmt);
  format_sentence(f, line, fmt, args, text, sizeof text);
  va_end(args);
  return cb_fail(err, COCABO_E_INVALID, "%s", text);
}

/* ---- expressions ----------------------------------------------------------------- */

foreign_expr *foreign_node(foreign *f, foreign_op op, int line, cocabo_error *err) {
  foreign_expr *e = foreign_alloc(f, sizeof *e);
  if (!e)
    cb_no_memory(err);
  else
    *e = (foreign_expr){.op = op, .line = line};
  return e;
}

void foreign_append(foreign_expr *to, foreign_expr *item) {
  foreign_expr **end = &to->first;
  while (*end)
    end = &(*end)->next;
  *end = item;
}

cocabo_status foreign_join(foreign *f, foreign_op op, foreign_expr **into,
                           foreign_expr *more, cocabo_error *err) {
  if (!*into || !more) {
    *into = *into ? *into : more;
    return COCABO_OK;
  }
  if ((*into)->op != op) {
    foreign_expr *both = foreign_node(f, op, (*into)->line, err);
    if (!both)
      return COCABO_E_NO_MEMORY;
    both->first = *into;
    *into = both;
  }
  foreign_append(*into, more);
  return COCABO_OK;
}

void foreign_forbid(foreign *f, foreign_expr *clause) {
  if (f->last_forbidden)
    f->last_forbidden->next = clause;
  else
    f->forbidden = clause;
  f->last_forbidden = clause;
}

/* ---- parameters ------------------------------------------------------------------ */

foreign_param *foreign_find(const foreign *f, const char *name) {
  foreign_param *p = f->params;
  while (p && strcmp(p->name, name) != 0)
    p = p->next;
  return p;
}

cocabo_status foreign_add_param(foreign *f, const char *name, int line,
                                foreign_param **out, cocabo_error *err) {
  char shown[CB_SHOWN];
  if (foreign_find(f, name))
    return foreign_refuse(f, line, err, "parameter \"%s\" is there twice",
                          cb_text_show(shown, name));
  if (f->n_params++ == FOREIGN_MAX_PARAMS)
    return foreign_refuse(f, line, err, "there are more than %d parameters",
                          FOREIGN_MAX_PARAMS);
  foreign_param *p = foreign_alloc(f, sizeof *p);
  char *copy = foreign_copy(f, name, strlen(name));
  if (!p || !copy)
    return cb_no_memory(err);
  *p = (foreign_param){.name = copy, .line = line};
  if (f->last_param)
    f->last_param->next = p;
  else
    f->params = p;
  f->last_param = p;
  *out = p;
  return COCABO_OK;
}

cocabo_status foreign_add_value(foreign *f, foreign_param *p, cocabo_value value,
                                cocabo_error *err) {
  if (p->n == p->capacity) {
    const size_t capacity = p->n > 0 ? 2 * p->n : 8;
    cocabo_value *values = foreign_alloc(f, capacity * sizeof *values);
    if (!values)
      return cb_no_memory(err);
    if (p->n > 0)
      memcpy(values, p->values, p->n * sizeof *values);
    p->values = values;
    p->capacity = capacity;
  }
  if (value.type == COCABO_TEXT) {
    value.as.text = foreign_copy(f, value.as.text, strlen(value.as.text));
    if (!value.as.text)
      return cb_no_memory(err);
  }
  p->values[p->n++] = value;
  return COCABO_OK;
}

/* 0.10 and 1e3 are not how we would write those numbers. */
static bool is_our_number(const char *text, cocabo_value *out) {
  char digits[CB_DIGITS];
  int64_t whole;
  double number;
  if (cb_parse_int(text, &whole)) {
    snprintf(digits, sizeof digits, "%lld", (long long)whole);
    *out = (cocabo_value){.type = COCABO_INT, .as.integer = whole};
  } else if (cb_parse_number(text, &number)) {
    cb_number_show(digits, number);
    *out = (cocabo_value){.type = COCABO_REAL, .as.real = number};
  } else {
    return false;
  }
  return strcmp(digits, text) == 0;
}

void foreign_type_values(foreign_param *p) {
  cocabo_value value;
  for (size_t i = 0; i < p->n; i++)
    if (!is_our_number(p->values[i].as.text, &value))
      return;
  for (size_t i = 0; i < p->n; i++)
    is_our_number(p->values[i].as.text, &p->values[i]);
}

/* ---- lines ----------------------------------------------------------------------- */

cocabo_status foreign_each_line(foreign *f, const char *text, size_t size,
                                foreign_line_fn take, cocabo_error *err) {
  int number = 1;
  for (size_t at = 0; at < size; number++) {
    const char *end = memchr(text + at, '\n', size - at);
    size_t length = end ? (size_t)(end - text) - at : size - at;
    char *line = foreign_copy(f, text + at, length);
    if (!line)
      return cb_no_memory(err);
    if (memchr(line, '\0', length) || !cb_text_is_utf8(line))
      return foreign_refuse(f, number, err, "this is not text in UTF-8");
    if (length > 0 && line[length - 1] == '\r')
      line[length - 1] = '\0';
    CB_TRY(take(f, line, number, err));
    at += length + 1;
  }
  return COCABO_OK;
}

/* ---- formats --------------------------------------------------------------------- */

const char *foreign_format_name(int i) {
  static const char *const names[] = {"irace", "scenario", "configspace", "pcs"};
  return i >= 0 && i < FOREIGN_NONE ? names[i] : NULL;
}

static bool ends_in(const char *name, const char *ending) {
  const size_t size = strlen(name), wanted = strlen(ending);
  return size > wanted && strcmp(name + size - wanted, ending) == 0;
}

/* "maxExperiments = 5000", in no format but R. */
static bool looks_like_scenario(const char *line) {
  const size_t word = strspn(line, "abcdefghijklmnopqrstuvwxyz"
                                   "ABCDEFGHIJKLMNOPQRSTUVWXYZ._0123456789");
  const char *rest = line + word + strspn(line + word, " \t");
  return word > 0 && (rest[0] == '=' || (rest[0] == '<' && rest[1] == '-')) &&
         rest[1] != '=';
}

/* By the first line that says something. */
static foreign_format detect_line(const char *line) {
  if (line[0] == '[' || foreign_looks_like_irace(line))
    return FOREIGN_IRACE;
  if (foreign_looks_like_pcs(line))
    return FOREIGN_PCS;
  return looks_like_scenario(line) ? FOREIGN_SCENARIO : FOREIGN_NONE;
}

static foreign_format detect_text(const char *text, size_t size) {
  char line[512];
  for (size_t at = 0; at < size;) {
    const char *end = memchr(text + at, '\n', size - at);
    const size_t length = end ? (size_t)(end - text) - at : size - at;
    const size_t kept = length < sizeof line ? length : sizeof line - 1;
    memcpy(line, text + at, kept);
    line[kept] = '\0';
    const char *first = line + strspn(line, " \t\r");
    if (*first && *first != '#')
      return strncmp(first, "[forbidden]", 11) != 0 &&
                     strncmp(first, "[global]", 8) != 0 && *first == '['
                 ? FOREIGN_NONE
                 : detect_line(first);
    at += length + 1;
  }
  return FOREIGN_NONE;
}

/* Whether a colon is next, behind a quote and blanks. */
static bool is_key_end(const char *text, size_t size) {
  size_t at = 0;
  while (at < size && text[at] && strchr("\"' \t", text[at]))
    at++;
  return at < size && text[at] == ':';
}

/* A key of that name in JSON or YAML, near enough to ask its reader. */
static bool has_key(const char *text, size_t size, const char *key) {
  const size_t wanted = strlen(key);
  for (size_t at = 0; at + wanted < size; at++)
    if (memcmp(text + at, key, wanted) == 0 &&
        (at == 0 || strchr(" \t\n\"'{,", text[at - 1])) &&
        is_key_end(text + at + wanted, size - at - wanted))
      return true;
  return false;
}

foreign_format foreign_detect(const char *name, const char *text, size_t size) {
  if (ends_in(name, ".pcs") || ends_in(name, ".pcs_new"))
    return FOREIGN_PCS;
  const foreign_format found = detect_text(text, size);
  if (found != FOREIGN_NONE)
    return found;
  return has_key(text, size, "hyperparameters") && !has_key(text, size, "parameters")
             ? FOREIGN_CONFIGSPACE
             : FOREIGN_NONE;
}

cocabo_status foreign_read(foreign *f, const char *name, foreign_format format,
                           const char *text, size_t size, cocabo_error *err) {
  *f = (foreign){
      .name = name, .format = format, .experiments = NAN, .seconds = NAN, .seed = NAN};
  if (size > FOREIGN_MAX_SIZE)
    return foreign_refuse(f, 0, err, "it has more than %d bytes", FOREIGN_MAX_SIZE);
  switch (format) {
  case FOREIGN_IRACE:
    return foreign_read_irace(f, text, size, err);
  case FOREIGN_SCENARIO:
    return foreign_read_scenario(f, text, size, err);
  case FOREIGN_CONFIGSPACE:
    return foreign_read_configspace(f, text, size, err);
  case FOREIGN_PCS:
    return foreign_read_pcs(f, text, size, err);
  default:
    return foreign_refuse(f, 0, err,
                          "this is no space of irace, ConfigSpace or SMAC; --from "
                          "irace|scenario|configspace|pcs says what it is meant to be");
  }
}
