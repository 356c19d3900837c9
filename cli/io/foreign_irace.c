/* foreign_irace.c - reads the parameters of irace 3 and 4, and its scenarios.
 *
 *   alpha  "--alpha "  r,log  (0.01, 5.00)  | algorithm == "acs"   # name, switch, type
 *   [forbidden]                                                    # values, condition
 *   alpha < 1 & beta == 0
 *   [global]
 *   digits = 4
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/outfile.h"
#include "io/foreign.h"

static const char blanks[] = " \t";

/* Cuts a comment off, and blanks at both ends. */
static char *strip(char *line) {
  char quote = '\0';
  for (char *c = line; *c; c++) {
    if (quote ? *c == quote : *c == '"' || *c == '\'')
      quote = quote ? '\0' : *c;
    else if (*c == '#' && !quote) {
      *c = '\0';
      break;
    }
  }
  line += strspn(line, blanks);
  size_t size = strlen(line);
  while (size > 0 && strchr(blanks, line[size - 1]))
    line[--size] = '\0';
  return line;
}

static size_t name_size(const char *text) {
  return strcspn(text, " \t\"'(|");
}

/* A name, a text in quotes, and a letter with a parenthesis behind it. */
bool foreign_looks_like_irace(const char *line) {
  const size_t name = name_size(line);
  const char *at = line + name + strspn(line + name, blanks);
  if (name == 0 || (*at != '"' && *at != '\''))
    return false;
  const char *end = strchr(at + 1, *at);
  if (!end)
    return false;
  end += 1 + strspn(end + 1, blanks);
  if (!*end || !strchr("rico", *end))
    return false;
  end += 1 + strspn(end + 1, ",log \t");
  return *end == '(';
}

/* ---- a parameter ----------------------------------------------------------------- */

/* A word or a text in quotes from *at, which moves behind it; NULL: there is none. */
static char *read_item(foreign *f, char **at, const char *ends, bool *quoted,
                       cocabo_error *err) {
  char *text = *at + strspn(*at, blanks);
  *quoted = *text == '"' || *text == '\'';
  char *end = *quoted ? strchr(text + 1, *text) : text + strcspn(text, ends);
  if (!end) {
    cb_fail(err, COCABO_E_INVALID, "a quote");
    return NULL;
  }
  char *from = text + *quoted, *to = end;
  while (!*quoted && to > from && strchr(blanks, to[-1]))
    to--;
  char *copy = foreign_copy(f, from, (size_t)(to - from));
  if (!copy)
    cb_no_memory(err);
  *at = end + *quoted;
  return copy;
}

static cocabo_status bad_line(const foreign *f, int line, const char *want,
                              cocabo_error *err) {
  return foreign_refuse(f, line, err,
                        "want %s, as in: alpha \"--alpha \" r (0.0, 5.0) | mode == "
                        "\"x1\"",
                        want);
}

/* (a, "b c", 3): words become the values of a choice. */
static cocabo_status read_values(foreign *f, foreign_param *p, char **at,
                                 cocabo_error *err) {
  bool quoted;
  if (**at != '(')
    return bad_line(f, p->line, "values in parentheses", err);
  do {
    ++*at;
    char *item = read_item(f, at, ",)", &quoted, err);
    if (!item)
      return err->code == COCABO_E_NO_MEMORY
                 ? err->code
                 : bad_line(f, p->line, "a quote at the end of a value", err);
    if (!*item && !quoted)
      return bad_line(f, p->line, "a value between commas", err);
    CB_TRY(foreign_add_value(f, p, cocabo_text(item), err));
    *at += strspn(*at, blanks);
  } while (**at == ',');
  if (**at != ')')
    return bad_line(f, p->line, "a parenthesis behind the values", err);
  *at += 1 + strspn(*at + 1, blanks);
  return COCABO_OK;
}

/* Bounds may be expressions, in irace 4; that is beyond us. */
static cocabo_status read_bounds(foreign *f, foreign_param *p, cocabo_error *err) {
  char name[CB_SHOWN], shown[CB_SHOWN];
  double *const bounds[] = {&p->low, &p->high};
  if (p->n != 2)
    return bad_line(f, p->line, "two bounds", err);
  for (int i = 0; i < 2; i++) {
    const char *text = p->values[i].as.text;
    if (cb_parse_decimal(text, strlen(text), bounds[i]) && isfinite(*bounds[i]))
      continue;
    p->lost = true;
    return foreign_say(
        f, p->line, err,
        "parameter \"%s\" is left out: its bound \"%s\" is no number, and "
        "bounds that depend on other parameters cannot be expressed",
        cb_text_show_within(name, p->name, 40), cb_text_show_within(shown, text, 40));
  }
  const bool whole = p->low == floor(p->low) && p->high == floor(p->high);
  return p->kind == COCABO_KIND_INT && !whole
             ? bad_line(f, p->line, "whole bounds of an i", err)
             : COCABO_OK;
}

/* r, i, c or o; ,log behind it. */
static cocabo_status read_type(foreign *f, foreign_param *p, char **at,
                               cocabo_error *err) {
  static const char letters[] = "rico";
  const char *letter = **at ? strchr(letters, **at) : NULL;
  if (!letter)
    return bad_line(f, p->line, "the type r, i, c or o", err);
  static const cocabo_kind kinds[] = {COCABO_KIND_REAL, COCABO_KIND_INT,
                                      COCABO_KIND_CHOICE, COCABO_KIND_ORDINAL};
  p->kind = kinds[letter - letters];
  *at += 1 + strspn(*at + 1, blanks);
  if (**at == ',') {
    *at += 1 + strspn(*at + 1, blanks);
    if (strncmp(*at, "log", 3) != 0)
      return bad_line(f, p->line, "log behind the comma of a type", err);
    p->log = true;
    *at += 3 + strspn(*at + 3, blanks);
  }
  return COCABO_OK;
}

static cocabo_status read_domain(foreign *f, foreign_param *p, char *at,
                                 cocabo_error *err) {
  CB_TRY(read_type(f, p, &at, err));
  CB_TRY(read_values(f, p, &at, err));
  if (p->kind == COCABO_KIND_REAL || p->kind == COCABO_KIND_INT)
    CB_TRY(read_bounds(f, p, err));
  else
    foreign_type_values(p);
  if (*at == '|')
    return foreign_read_r(f, at + 1, p->line, &p->condition, err);
  return *at ? bad_line(f, p->line, "| before a condition", err) : COCABO_OK;
}

static cocabo_status read_param(foreign *f, char *line, int number, cocabo_error *err) {
  foreign_param *p = NULL;
  bool quoted;
  const size_t size = name_size(line);
  if (size == 0)
    return bad_line(f, number, "a name", err);
  char *at = line + size + strspn(line + size, blanks);
  char *name = foreign_copy(f, line, size);
  if (!name)
    return cb_no_memory(err);
  if (*at != '"' && *at != '\'')
    return bad_line(f, number, "a switch in quotes", err);
  const char *option = read_item(f, &at, "", &quoted, err);
  if (!option)
    return err->code == COCABO_E_NO_MEMORY
               ? err->code
               : bad_line(f, number, "a quote at the end of the switch", err);
  at += strspn(at, blanks);
  CB_TRY(foreign_add_param(f, name, number, &p, err));
  p->option = option;
  return read_domain(f, p, at, err);
}

/* ---- sections -------------------------------------------------------------------- */

static cocabo_status read_forbidden(foreign *f, char *line, int number,
                                    cocabo_error *err) {
  foreign_expr *e = NULL;
  char *text = strip(line);
  if (!*text)
    return COCABO_OK;
  CB_TRY(foreign_read_r(f, text, number, &e, err));
  foreign_forbid(f, e);
  return COCABO_OK;
}

static cocabo_status read_global(foreign *f, char *text, int number,
                                 cocabo_error *err) {
  char shown[CB_SHOWN];
  return foreign_say(f, number, err,
                     "\"%s\" is left out: a real has all its digits here",
                     cb_text_show(shown, text));
}

static const char in_forbidden[] = "[forbidden]", in_global[] = "[global]";

static cocabo_status read_line(foreign *f, char *line, int number, cocabo_error *err) {
  char *text = strip(line);
  if (!*text)
    return COCABO_OK;
  if (*text == '[') {
    if (strcmp(text, in_forbidden) != 0 && strcmp(text, in_global) != 0)
      return foreign_refuse(f, number, err, "unknown section, want %s or %s",
                            in_forbidden, in_global);
    f->section = text[1];
    return COCABO_OK;
  }
  return f->section == 'f'   ? read_forbidden(f, text, number, err)
         : f->section == 'g' ? read_global(f, text, number, err)
                             : read_param(f, text, number, err);
}

cocabo_status foreign_read_irace(foreign *f, const char *text, size_t size,
                                 cocabo_error *err) {
  f->section = '\0';
  return foreign_each_line(f, text, size, read_line, err);
}

/* ---- scenarios ------------------------------------------------------------------- */

static cocabo_status load(foreign *f, const char *path, front_buffer *text,
                          cocabo_error *err) {
  char shown[CB_SHOWN];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return foreign_refuse(f, 0, err, "cannot read %s: %s", cb_text_show(shown, path),
                          strerror(errno));
  const cocabo_status status = front_read_up_to(fd, path, FOREIGN_MAX_SIZE, text, err);
  close(fd);
  return status;
}

/* Paths are seen from the scenario's folder. */
static char *beside(foreign *f, const char *path) {
  const char *slash = strrchr(f->name, '/');
  const size_t folder = slash && *path != '/' ? (size_t)(slash - f->name) + 1 : 0;
  char *whole = foreign_alloc(f, folder + strlen(path) + 1);
  if (whole) {
    memcpy(whole, f->name, folder);
    strcpy(whole + folder, path);
  }
  return whole;
}

/* Another file of the scenario, by its own name in sentences. */
static cocabo_status read_other(foreign *f, const char *path, foreign_line_fn take,
                                cocabo_error *err) {
  front_buffer text = {0};
  const char *scenario = f->name;
  char *whole = beside(f, path);
  if (!whole)
    return cb_no_memory(err);
  cocabo_status status = load(f, whole, &text, err);
  if (status == COCABO_OK && text.size > FOREIGN_MAX_SIZE)
    status = foreign_refuse(f, 0, err, "a file is too long");
  f->name = whole;
  if (status == COCABO_OK && take)
    status = foreign_each_line(f, text.data ? text.data : "", text.size, take, err);
  else if (status == COCABO_OK)
    status = foreign_read_irace(f, text.data ? text.data : "", text.size, err);
  f->name = scenario;
  front_buffer_free(&text);
  return status;
}

/* What we can do something with; the rest says how irace goes about it. */
static cocabo_status take_setting(foreign *f, const char *key, const char *value,
                                  cocabo_error *err) {
  double number;
  const bool is_number = cb_parse_number(value, &number);
  if (!*value)
    return COCABO_OK;
  if (strcmp(key, "parameterFile") == 0)
    f->parameters = value;
  else if (strcmp(key, "forbiddenFile") == 0)
    return read_other(f, value, read_forbidden, err);
  else if (strcmp(key, "targetRunner") == 0)
    f->program = value;
  else if (strcmp(key, "trainInstancesDir") == 0 ||
           strcmp(key, "trainInstancesFile") == 0) {
    f->instances = value;
    f->instances_folder = strcmp(key, "trainInstancesDir") == 0;
  } else if (strcmp(key, "maxExperiments") == 0 && is_number && number > 0.0)
    f->experiments = number;
  else if (strcmp(key, "maxTime") == 0 && is_number && number > 0.0)
    f->seconds = number;
  else if (strcmp(key, "seed") == 0 && is_number)
    f->seed = number;
  return COCABO_OK;
}

static cocabo_status read_setting(foreign *f, char *line, int number,
                                  cocabo_error *err) {
  char *text = strip(line), shown[CB_SHOWN];
  if (!*text)
    return COCABO_OK;
  const size_t size = strcspn(text, " \t=<");
  char *at = text + size + strspn(text + size, blanks);
  const size_t sign = *at == '=' ? 1 : strncmp(at, "<-", 2) == 0 ? 2 : 0;
  if (size == 0 || sign == 0)
    return foreign_refuse(f, number, err,
                          "\"%s\", want a setting such as maxExperiments = 1000",
                          cb_text_show(shown, text));
  at += sign;
  bool quoted;
  const char *value = read_item(f, &at, "", &quoted, err);
  if (!value)
    return err->code == COCABO_E_NO_MEMORY
               ? err->code
               : foreign_refuse(f, number, err, "want a quote at the end");
  text[size] = '\0';
  return take_setting(f, text, value, err);
}

cocabo_status foreign_read_scenario(foreign *f, const char *text, size_t size,
                                    cocabo_error *err) {
  f->parameters = "./parameters.txt"; /* as irace has it */
  CB_TRY(foreign_each_line(f, text, size, read_setting, err));
  return read_other(f, f->parameters, NULL, err);
}
