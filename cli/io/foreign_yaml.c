/* foreign_yaml.c - writes the space of another tuner as a file for -f, with what we
 * know of the rest in comments. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"
#include "common/domain.h"
#include "common/json.h"
#include "io/foreign.h"

/* Text that YAML takes for nothing but text needs no quotes. */
static bool is_plain(const char *text) {
  static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  static const char inside[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_.-+()=<>/ ,";
  static const char *const taken[] = {"null", "Null",  "NULL",  "true",  "True",
                                      "TRUE", "false", "False", "FALSE", "yes",
                                      "no",   "on",    "off",   NULL};
  const size_t size = strlen(text);
  if (size == 0 || !strchr(letters, text[0]) || text[strspn(text, inside)] ||
      text[size - 1] == ' ')
    return false;
  for (int i = 0; taken[i]; i++)
    if (strcmp(text, taken[i]) == 0)
      return false;
  return true;
}

/* What YAML wants to have escaped. */
static bool is_strange(unsigned c) {
  return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xfeff || c == 0xfffe ||
         c == 0xffff || cb_text_is_control(c);
}

static bool has_strange(const char *text) {
  size_t size;
  for (; *text; text += size)
    if (is_strange(cb_text_decode(text, &size)))
      return true;
  return false;
}

/* In double quotes there are escapes. */
static cocabo_status put_escaped(front_buffer *out, const char *text,
                                 cocabo_error *err) {
  size_t size;
  CB_TRY(front_buffer_puts(out, "\"", err));
  for (; *text; text += size) {
    const unsigned c = cb_text_decode(text, &size);
    if (is_strange(c))
      CB_TRY(front_buffer_printf(out, err, "\\U%08x", c));
    else if (c == '"' || c == '\\')
      CB_TRY(front_buffer_printf(out, err, "\\%c", (char)c));
    else
      CB_TRY(front_buffer_append(out, text, size, err));
  }
  return front_buffer_puts(out, "\"", err);
}

/* In single quotes a quote is doubled, and nothing else means anything; a comma would
 * end a plain text in a list. */
static cocabo_status put_text(front_buffer *out, const char *text, bool in_list,
                              cocabo_error *err) {
  if (is_plain(text) && !(in_list && strchr(text, ',')))
    return front_buffer_puts(out, text, err);
  if (has_strange(text))
    return put_escaped(out, text, err);
  CB_TRY(front_buffer_puts(out, "'", err));
  for (; *text; text++) {
    CB_TRY(front_buffer_append(out, text, 1, err));
    if (*text == '\'')
      CB_TRY(front_buffer_puts(out, "'", err));
  }
  return front_buffer_puts(out, "'", err);
}

static cocabo_status put_param(front_buffer *out, const cocabo_space *space, size_t i,
                               cocabo_error *err) {
  char *domain = cocabo_space_domain(space, i);
  if (!domain)
    return cb_no_memory(err);
  cocabo_status status = front_buffer_puts(out, "  ", err);
  if (status == COCABO_OK)
    status = put_text(out, cocabo_space_name(space, i), false, err);
  if (status == COCABO_OK)
    status = front_buffer_puts(out, ": ", err);
  if (status == COCABO_OK)
    status = put_text(out, domain, false, err);
  cocabo_text_free(domain);
  return status == COCABO_OK ? front_buffer_puts(out, "\n", err) : status;
}

static cocabo_status put_rules(front_buffer *out, const cocabo_space *space,
                               cocabo_error *err) {
  const char *rule;
  for (size_t k = 0; (rule = cocabo_space_get_rule(space, k)); k++) {
    CB_TRY(front_buffer_puts(out, k == 0 ? "where:\n  - " : "  - ", err));
    CB_TRY(put_text(out, rule, false, err));
    CB_TRY(front_buffer_puts(out, "\n", err));
  }
  return COCABO_OK;
}

/* ---- the command of irace -------------------------------------------------------- */

/* "--ants " and its value are two words, "--ants=" and its value are one. */
static cocabo_status put_words(front_buffer *out, foreign *f, const foreign_param *p,
                               cocabo_error *err) {
  const char *at = p->option;
  for (;;) {
    at += strspn(at, " \t");
    const size_t size = strcspn(at, " \t");
    const bool last = at[size] == '\0';
    char *word = foreign_alloc(f, size + strlen(p->name) + 3);
    if (!word)
      return cb_no_memory(err);
    memcpy(word, at, size);
    if (last)
      snprintf(word + size, strlen(p->name) + 3, "{%s}", p->name);
    CB_TRY(front_buffer_puts(out, ", ", err));
    CB_TRY(put_text(out, word, true, err));
    at += size;
    if (last)
      break;
  }
  return COCABO_OK;
}

/* In the order of the file, which conditions may have changed. */
static const foreign_param *next_in_file(const foreign *f, int line) {
  const foreign_param *next = NULL;
  for (const foreign_param *p = f->params; p; p = p->next)
    if (p->line > line && (!next || p->line < next->line))
      next = p;
  return next;
}

/* Its program gets the number of the setting, that of the instance, a seed and the
 * instance before the parameters. */
static cocabo_status put_command(front_buffer *out, foreign *f, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "# command: [", err));
  CB_TRY(put_text(out, f->program ? f->program : "./target-runner", true, err));
  CB_TRY(front_buffer_puts(out, ", '{trial}', '1', '{seed}', '{instance}'", err));
  for (const foreign_param *p = next_in_file(f, 0); p; p = next_in_file(f, p->line))
    if (p->option && !p->lost)
      CB_TRY(put_words(out, f, p, err));
  return front_buffer_puts(out, "]\n", err);
}

/* In the words that a file for -f has for it, behind a #: whoever wants to go on in the
 * manner of irace takes that away. */
static cocabo_status put_scenario(front_buffer *out, const foreign *f,
                                  cocabo_error *err) {
  if (f->instances && f->instances_folder) {
    CB_TRY(front_buffer_puts(out, "# instances: instances.txt   # ls -d ", err));
    CB_TRY(put_text(out, f->instances, true, err));
    CB_TRY(front_buffer_puts(out, "/* >instances.txt\n", err));
  } else if (f->instances) {
    CB_TRY(front_buffer_puts(out, "# instances: ", err));
    CB_TRY(put_text(out, f->instances, true, err));
    CB_TRY(front_buffer_puts(out, "\n", err));
  }
  if (isfinite(f->experiments))
    CB_TRY(front_buffer_printf(out, err, "# runs: %.0f\n", f->experiments));
  if (isfinite(f->seconds))
    CB_TRY(front_buffer_printf(out, err, "# maxTime: %.0f seconds of all runs\n",
                               f->seconds));
  return f->seed >= 0.0 && f->seed <= 0x1p53
             ? front_buffer_printf(out, err, "seed: %.0f\n", f->seed)
             : COCABO_OK;
}

static cocabo_status put_head(front_buffer *out, const foreign *f, cocabo_error *err) {
  static const char *const makers[] = {"irace", "a scenario of irace", "ConfigSpace",
                                       "SMAC"};
  char shown[CB_SHOWN];
  const char *slash = strrchr(f->name, '/');
  const char *name = slash ? slash + 1 : f->name;
  return front_buffer_printf(out, err,
                             "# From %s, of %s: cocabo run -f THIS -n TRIALS -- "
                             "PROGRAM {NAME} ...\n",
                             cb_text_show(shown, name), makers[f->format]);
}

static cocabo_status put_all(front_buffer *out, foreign *f, const cocabo_space *space,
                             cocabo_error *err) {
  CB_TRY(put_head(out, f, err));
  if (f->format == FOREIGN_IRACE || f->format == FOREIGN_SCENARIO)
    CB_TRY(put_command(out, f, err));
  CB_TRY(put_scenario(out, f, err));
  if (f->study) {
    CB_TRY(front_buffer_puts(out, "study: ", err));
    CB_TRY(put_text(out, f->study, false, err));
    CB_TRY(front_buffer_puts(out, "\n", err));
  }
  CB_TRY(front_buffer_puts(out, "parameters:\n", err));
  for (size_t i = 0; i < cocabo_space_count(space); i++)
    CB_TRY(put_param(out, space, i, err));
  return put_rules(out, space, err);
}

static cocabo_status put_object(front_buffer *out, foreign *f,
                                const cocabo_space *space, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{", err));
  if (f->study) {
    CB_TRY(front_buffer_puts(out, "\"study\":", err));
    CB_TRY(front_put_json_text(out, f->study, err));
    CB_TRY(front_buffer_puts(out, ",", err));
  }
  CB_TRY(front_buffer_puts(out, "\"parameters\":{", err));
  CB_TRY(front_put_parameters(out, space, err));
  CB_TRY(front_buffer_puts(out, "}", err));
  if (cocabo_space_get_rule(space, 0)) {
    CB_TRY(front_buffer_puts(out, ",\n\"where\":", err));
    CB_TRY(front_put_rules(out, space, err));
  }
  return front_buffer_puts(out, "}\n", err);
}

static cocabo_status put_with(front_buffer *out, foreign *f,
                              cocabo_status (*put)(front_buffer *, foreign *,
                                                   const cocabo_space *,
                                                   cocabo_error *),
                              cocabo_error *err) {
  cocabo_space *space;
  CB_TRY(foreign_space(f, &space, err));
  const cocabo_status status = put(out, f, space, err);
  cocabo_space_free(space);
  return status;
}

cocabo_status foreign_put_yaml(front_buffer *out, foreign *f, cocabo_error *err) {
  return put_with(out, f, put_all, err);
}

cocabo_status foreign_put_json(front_buffer *out, foreign *f, cocabo_error *err) {
  return put_with(out, f, put_object, err);
}
