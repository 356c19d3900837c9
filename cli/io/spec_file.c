/* spec_file.c - takes a specification from the tree of a YAML or JSON file. Every key
 * and type is checked; a fault is named with its line. */
#include "io/spec_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/outfile.h"
#include "io/foreign.h"
#include "io/output.h"
#include "io/words.h"

/* ---- sentences ------------------------------------------------------------------- */

/* Puts the file and the line before the sentence that err has. */
static cocabo_status at_line(const spec_file *file, int line, cocabo_error *err) {
  char name[CB_SHOWN];
  if (!err || err->code == COCABO_E_NO_MEMORY)
    return COCABO_E_NO_MEMORY;
  return cb_fail(err, err->code, "%s, line %d: %s", cb_text_show(name, file->name),
                 line, err->message);
}

static cocabo_status refuse(const spec_file *file, int line, cocabo_error *err,
                            const char *fmt, ...) __attribute__((format(printf, 4, 5)));

static cocabo_status refuse(const spec_file *file, int line, cocabo_error *err,
                            const char *fmt, ...) {
  char text[2 * sizeof err->message]; /* cb_fail cuts it, at a whole character */
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  cb_fail(err, COCABO_E_INVALID, "%s", text);
  return at_line(file, line, err);
}

/* What a node is, for "x is WHAT, want a number". */
static const char *describe(const tree_node *node, char out[CB_SHOWN]) {
  if (node->kind != TREE_SCALAR)
    return node->kind == TREE_LIST ? "a list" : "a map";
  if (node->value.type == COCABO_NULL)
    return "nothing";
  char shown[CB_SHOWN];
  const char *quote = node->value.type == COCABO_TEXT ? "\"" : "";
  snprintf(out, CB_SHOWN, "%s%s%s", quote,
           cb_text_show_within(shown, node->spelling, CB_SHOWN - 3), quote);
  return out;
}

static cocabo_status unwanted(const spec_file *file, const tree_entry *entry,
                              const char *want, cocabo_error *err) {
  char key[CB_SHOWN], shown[CB_SHOWN];
  return refuse(file, entry->node->line, err, "%s is %s, want %s",
                cb_text_show(key, entry->key), describe(entry->node, shown), want);
}

/* ---- loading --------------------------------------------------------------------- */

cocabo_status spec_file_parse(spec_file *file, const char *name, const char *text,
                              size_t size, cocabo_error *err) {
  *file = (spec_file){.name = name};
  CB_TRY(tree_parse(&file->t, name, text, size, err));
  const tree_node *root = tree_root(file->t);
  if (!root || root->kind == TREE_MAP)
    return COCABO_OK;
  refuse(file, root->line, err, "this is no map, want parameters: ... at the top");
  spec_file_clear(file);
  return COCABO_E_INVALID;
}

static cocabo_status open_file(const char *path, int *fd, cocabo_error *err) {
  char shown[CB_SHOWN];
  *fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (*fd < 0)
    return cb_fail(err, COCABO_E_INVALID, "cannot read %s: %s",
                   cb_text_show(shown, path), strerror(errno));
  return COCABO_OK;
}

static cocabo_status put_notes(front_buffer *out, const foreign *f, cocabo_error *err) {
  for (const foreign_note *n = f->notes; n; n = n->next)
    CB_TRY(front_buffer_printf(out, err, "note: %s\n", n->text));
  return front_buffer_append(out, "", 1, err);
}

/* The space of another tuner, in our words. */
static cocabo_status convert(spec_file *file, foreign_format format, const char *name,
                             const front_buffer *text, cocabo_error *err) {
  foreign f = {0};
  front_buffer yaml = {0}, notes = {0};
  cocabo_status status = foreign_read(&f, name, format, text->data, text->size, err);
  if (status == COCABO_OK)
    status = foreign_put_yaml(&yaml, &f, err);
  if (status == COCABO_OK)
    status = put_notes(&notes, &f, err);
  if (status == COCABO_OK)
    status = spec_file_parse(file, name, yaml.data, yaml.size, err);
  if (status == COCABO_OK && f.notes && !(file->notes = cb_strdup(notes.data)))
    status = cb_no_memory(err);
  if (status != COCABO_OK)
    spec_file_clear(file);
  front_buffer_free(&notes);
  front_buffer_free(&yaml);
  foreign_free(&f);
  return status;
}

static cocabo_status read_text_of(spec_file *file, const char *name,
                                  const front_buffer *text, cocabo_error *err) {
  const char *data = text->data ? text->data : "";
  const foreign_format format = foreign_detect(name, data, text->size);
  return text->data && format != FOREIGN_NONE
             ? convert(file, format, name, text, err)
             : spec_file_parse(file, name, data, text->size, err);
}

cocabo_status spec_file_load(spec_file *file, const char *path, cocabo_error *err) {
  *file = (spec_file){0};
  int fd;
  front_buffer text = {0};
  CB_TRY(open_file(path, &fd, err));
  cocabo_status status = front_read_up_to(fd, path, TREE_MAX_SIZE, &text, err);
  if (fd != STDIN_FILENO)
    close(fd);
  const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
  if (status == COCABO_OK)
    status = read_text_of(file, name, &text, err);
  front_buffer_free(&text);
  return status;
}

void spec_file_clear(spec_file *file) {
  tree_free(file->t);
  cb_free(file->notes);
  *file = (spec_file){0};
}

/* ---- scalars --------------------------------------------------------------------- */

/* A key without a value is as good as none. */
static bool says_nothing(const tree_node *node) {
  return node->kind == TREE_SCALAR && node->value.type == COCABO_NULL;
}

static bool is_number(const tree_node *node, double *out) {
  if (node->kind != TREE_SCALAR)
    return false;
  if (node->value.type == COCABO_INT)
    *out = (double)node->value.as.integer;
  else if (node->value.type == COCABO_REAL)
    *out = node->value.as.real;
  else
    return false;
  return isfinite(*out);
}

/* 8 and 8.0 are both whole. */
static bool is_whole(const tree_node *node, int64_t *out) {
  double number;
  if (!is_number(node, &number))
    return false;
  if (node->value.type == COCABO_INT) {
    *out = node->value.as.integer;
    return true;
  }
  if (number != floor(number) || fabs(number) > 9007199254740992.0)
    return false;
  *out = (int64_t)number;
  return true;
}

static cocabo_status read_whole(const spec_file *file, const tree_entry *entry,
                                int64_t low, int64_t high, int64_t *out,
                                cocabo_error *err) {
  int64_t value;
  if (is_whole(entry->node, &value) && value >= low && value <= high) {
    *out = value;
    return COCABO_OK;
  }
  char want[80];
  snprintf(want, sizeof want, "a whole number from %" PRId64 " to %" PRId64, low, high);
  return unwanted(file, entry, want, err);
}

static cocabo_status read_seconds(const spec_file *file, const tree_entry *entry,
                                  double *out, cocabo_error *err) {
  double value;
  const tree_node *node = entry->node;
  const bool text = node->kind == TREE_SCALAR && node->value.type == COCABO_TEXT;
  if (text ? front_read_duration(node->value.as.text, &value)
           : is_number(node, &value) && value >= 0.0 && value <= FRONT_MAX_SECONDS) {
    *out = value;
    return COCABO_OK;
  }
  char want[100];
  front_want_duration(0.0, want);
  return unwanted(file, entry, want, err);
}

static cocabo_status read_target(const spec_file *file, const tree_entry *entry,
                                 double *out, cocabo_error *err) {
  const tree_node *node = entry->node;
  const bool text = node->kind == TREE_SCALAR && node->value.type == COCABO_TEXT;
  if (text ? cli_read_target(node->value.as.text, out) : is_number(node, out))
    return COCABO_OK;
  return unwanted(file, entry, "a number or none", err);
}

static cocabo_status read_text(const spec_file *file, const tree_entry *entry,
                               char **out, cocabo_error *err) {
  const tree_node *node = entry->node;
  if (node->kind != TREE_SCALAR || node->value.type != COCABO_TEXT)
    return unwanted(file, entry, "text (in quotes, if need be)", err);
  cb_free(*out);
  *out = cb_strdup(node->value.as.text);
  return *out ? COCABO_OK : cb_no_memory(err);
}

/* ---- limits ---------------------------------------------------------------------- */

/* {mem: 8G, cpu: 60} as mem=8G,cpu=60; a text is that already. */
static cocabo_status put_limits(const spec_file *file, const tree_entry *entry,
                                front_buffer *out, cocabo_error *err) {
  static const char want[] = "limits such as mem=8G,cpu=60, or a map of them";
  if (entry->node->kind == TREE_SCALAR)
    return front_buffer_puts(out, entry->node->spelling, err);
  if (entry->node->kind != TREE_MAP || !entry->node->first)
    return unwanted(file, entry, want, err);
  for (const tree_entry *e = entry->node->first; e; e = e->next) {
    if (e->node->kind != TREE_SCALAR)
      return unwanted(file, e, "one value", err);
    CB_TRY(front_buffer_printf(out, err, "%s%s=%s", out->size > 0 ? "," : "", e->key,
                               e->node->spelling));
  }
  return COCABO_OK;
}

static cocabo_status read_quota(const spec_file *file, const tree_entry *entry,
                                char **out, cocabo_error *err) {
  front_buffer text = {0};
  cocabo_status status = put_limits(file, entry, &text, err);
  const char *limits = status == COCABO_OK ? front_buffer_text(&text, err) : NULL;
  if (limits && cli_read_quota(limits, out, err) != COCABO_OK)
    status = at_line(file, entry->node->line, err);
  else if (status == COCABO_OK && !limits)
    status = COCABO_E_NO_MEMORY;
  front_buffer_free(&text);
  return status;
}

static cocabo_status read_flag(const spec_file *file, const tree_entry *entry, int *out,
                               cocabo_error *err) {
  const tree_node *node = entry->node;
  if (node->kind != TREE_SCALAR || node->value.type != COCABO_BOOL)
    return unwanted(file, entry, "true or false", err);
  *out = node->value.as.boolean;
  return COCABO_OK;
}

/* ---- options --------------------------------------------------------------------- */

/* The library checks the value; here it becomes the text that the library reads. */
static cocabo_status read_option(const spec_file *file, const tree_entry *entry,
                                 cli_pairs *out, cocabo_error *err) {
  char key[CB_SHOWN];
  if (entry->node->kind != TREE_SCALAR)
    return unwanted(file, entry, "one value", err);
  if (cli_pairs_get(out, entry->key))
    return refuse(file, entry->line, err, "%s is there twice",
                  cb_text_show(key, entry->key));
  front_buffer text = {0};
  cocabo_status status = cli_put_plain_value(&text, &entry->node->value, err);
  const char *value = status == COCABO_OK ? front_buffer_text(&text, err) : NULL;
  cocabo_options *scratch = cocabo_options_new();
  if (!value || !scratch)
    status = cb_no_memory(err);
  else if (cocabo_options_set(scratch, entry->key, value, err) != COCABO_OK)
    status = at_line(file, entry->line, err);
  else
    status = cli_pairs_set(out, entry->key, value, err);
  cocabo_options_free(scratch);
  front_buffer_free(&text);
  return status;
}

static cocabo_status read_options(const spec_file *file, const tree_entry *entry,
                                  cli_pairs *out, cocabo_error *err) {
  if (entry->node->kind != TREE_MAP)
    return unwanted(file, entry, "a map such as {seed: 1}", err);
  for (const tree_entry *e = entry->node->first; e; e = e->next)
    if (!says_nothing(e->node))
      CB_TRY(read_option(file, e, out, err));
  return COCABO_OK;
}

/* ---- the command ----------------------------------------------------------------- */

/* A word is as it was spelt: 1e-3 stays 1e-3. */
static cocabo_status read_word_list(const spec_file *file, const tree_entry *entry,
                                    const char **words, cocabo_error *err) {
  for (const tree_entry *e = entry->node->first; e; e = e->next) {
    if (e->node->kind == TREE_LIST)
      return refuse(file, e->line, err, "a word of command is a list, want text");
    if (e->node->kind != TREE_SCALAR)
      return refuse(file, e->line, err,
                    "a word of command is a map, want text, in quotes where it has "
                    "braces: '{lr}'");
    *words++ = e->node->spelling;
  }
  return COCABO_OK;
}

static cocabo_status read_list_command(const spec_file *file, const tree_entry *entry,
                                       char ***out, cocabo_error *err) {
  const size_t n = entry->node->n;
  if (n == 0)
    return unwanted(file, entry, "a program and its arguments", err);
  const char **words = cb_calloc(n, sizeof(char *));
  if (!words)
    return cb_no_memory(err);
  cocabo_status status = read_word_list(file, entry, words, err);
  if (status == COCABO_OK)
    status = words_copy(words, n, out, err);
  cb_free(words);
  return status;
}

static cocabo_status read_command(const spec_file *file, const tree_entry *entry,
                                  char ***out, cocabo_error *err) {
  if (entry->node->kind == TREE_LIST)
    return read_list_command(file, entry, out, err);
  if (entry->node->kind == TREE_MAP)
    return unwanted(file, entry, "a list of words or a text", err);
  if (words_split(entry->node->spelling, out, err) != COCABO_OK)
    return at_line(file, entry->node->line, err);
  return COCABO_OK;
}

/* ---- the keys -------------------------------------------------------------------- */

static const char *top_key(int i) {
  static const char *const keys[] = {
      "parameters", "study",     "direction",  "sampler",     "seed",
      "options",    "command",   "workers",    "timeout",     "trial_timeout",
      "retries",    "trials",    "target",     "patience",    "max_failures",
      "metrics",    "objective", "where",      "constraints", "limit",
      "pin",        "instances", "seeds",      "combine",     "repeats",
      "runs",       "max_runs",  "race_level", "cap",         "par",
      "warmup"};
  return i < (int)(sizeof keys / sizeof keys[0]) ? keys[i] : NULL;
}

static cocabo_status unknown_key(const spec_file *file, const tree_entry *entry,
                                 front_name_at known, cocabo_error *err) {
  char key[CB_SHOWN];
  front_unknown(err, "key", cb_text_show(key, entry->key), known);
  return at_line(file, entry->line, err);
}

static cocabo_status read_metrics(const spec_file *file, const tree_entry *entry,
                                  cli_pairs *out, cocabo_error *err) {
  if (entry->node->kind != TREE_MAP)
    return unwanted(file, entry, "a map such as {p99: 'p99: ([0-9.]+)'}", err);
  for (const tree_entry *e = entry->node->first; e; e = e->next) {
    if (e->node->kind != TREE_SCALAR || e->node->value.type != COCABO_TEXT)
      return unwanted(file, e, "a regular expression (in quotes, if need be)", err);
    if (cli_check_metric(e->key, e->node->value.as.text, err) != COCABO_OK)
      return at_line(file, e->line, err);
    CB_TRY(cli_pairs_set(out, e->key, e->node->value.as.text, err));
  }
  return COCABO_OK;
}

static cocabo_status list_constraints(const spec_file *file, const tree_entry *entry,
                                      const char **texts, size_t n, cocabo_error *err) {
  const tree_entry *e = entry->node->first;
  if (entry->node->kind != TREE_LIST)
    texts[0] = entry->node->spelling;
  for (size_t i = 0; entry->node->kind == TREE_LIST && i < n; i++, e = e->next) {
    if (e->node->kind != TREE_SCALAR)
      return unwanted(file, entry, "a list such as ['p99 < 200']", err);
    texts[i] = e->node->spelling;
  }
  return COCABO_OK;
}

/* Texts, one or a list of them, become one option of the library. */
static cocabo_status set_constraints(const spec_file *file, const tree_entry *entry,
                                     const char *const *texts, size_t n, cli_pairs *out,
                                     cocabo_error *err) {
  front_buffer text = {0};
  cocabo_options *scratch = cocabo_options_new();
  cocabo_status status =
      scratch ? cli_join_constraints(texts, n, &text, err) : cb_no_memory(err);
  if (status == COCABO_OK &&
      cocabo_options_set(scratch, "constraints", text.data, err) != COCABO_OK)
    status = at_line(file, entry->line, err);
  if (status == COCABO_OK)
    status = cli_pairs_set(out, "constraints", text.data, err);
  cocabo_options_free(scratch);
  front_buffer_free(&text);
  return status;
}

static cocabo_status read_constraints(const spec_file *file, const tree_entry *entry,
                                      cli_pairs *out, cocabo_error *err) {
  const size_t n = entry->node->kind == TREE_LIST ? entry->node->n : 1;
  if (entry->node->kind == TREE_MAP)
    return unwanted(file, entry, "a list such as ['p99 < 200']", err);
  if (cli_pairs_get(out, "constraints"))
    return refuse(file, entry->line, err, "constraints is there twice");
  const char **texts = cb_calloc(n, sizeof *texts);
  if (!texts)
    return cb_no_memory(err);
  cocabo_status status = list_constraints(file, entry, texts, n, err);
  if (status == COCABO_OK)
    status = set_constraints(file, entry, texts, n, out, err);
  cb_free(texts);
  return status;
}

/* ---- instances ------------------------------------------------------------------- */

static bool is_run_option(const char *key) {
  static const char *const names[] = {"seeds",    "combine",    "repeats", "runs",
                                      "max_runs", "race_level", "cap",     "par"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    if (strcmp(key, names[i]) == 0)
      return true;
  return false;
}

/* A list of them, or the path of a file that has one a line. */
static cocabo_status put_instances(const spec_file *file, const tree_entry *entry,
                                   front_buffer *out, cocabo_error *err) {
  if (entry->node->kind == TREE_MAP ||
      (entry->node->kind == TREE_LIST && !entry->node->n))
    return unwanted(file, entry, "a list of instances, or a file of them", err);
  if (entry->node->kind == TREE_SCALAR)
    return cli_read_instances(entry->node->spelling, out, err);
  for (const tree_entry *e = entry->node->first; e; e = e->next) {
    if (e->node->kind != TREE_SCALAR || strchr(e->node->spelling, '\n'))
      return unwanted(file, e, "one line of text", err);
    CB_TRY(front_buffer_printf(out, err, "%s\n", e->node->spelling));
  }
  return front_buffer_append(out, "", 1, err);
}

static cocabo_status read_instances(const spec_file *file, const tree_entry *entry,
                                    cli_pairs *out, cocabo_error *err) {
  front_buffer lines = {0};
  cocabo_status status = put_instances(file, entry, &lines, err);
  if (status == COCABO_OK)
    status = cli_pairs_set(out, "instances", lines.data, err);
  front_buffer_free(&lines);
  return status;
}

static cocabo_status read_key(const spec_file *file, const tree_entry *e, cli_spec *out,
                              cocabo_error *err) {
  const char *key = e->key;
  if (strcmp(key, "study") == 0)
    return read_text(file, e, &out->study, err);
  if (strcmp(key, "direction") == 0 || strcmp(key, "sampler") == 0 ||
      strcmp(key, "seed") == 0)
    return read_option(file, e, &out->options, err);
  if (is_run_option(key))
    return read_option(file, e, &out->options, err);
  if (strcmp(key, "instances") == 0)
    return read_instances(file, e, &out->options, err);
  if (strcmp(key, "warmup") == 0)
    return read_whole(file, e, 0, SPEC_MAX_RETRIES, &out->warmup, err);
  if (strcmp(key, "options") == 0)
    return read_options(file, e, &out->options, err);
  if (strcmp(key, "command") == 0)
    return read_command(file, e, &out->command, err);
  if (strcmp(key, "trials") == 0)
    return read_whole(file, e, 1, SPEC_MAX_TRIALS, &out->trials, err);
  if (strcmp(key, "workers") == 0)
    return read_whole(file, e, 1, SPEC_MAX_WORKERS, &out->workers, err);
  if (strcmp(key, "retries") == 0)
    return read_whole(file, e, 0, SPEC_MAX_RETRIES, &out->retries, err);
  if (strcmp(key, "timeout") == 0)
    return read_seconds(file, e, &out->timeout, err);
  if (strcmp(key, "trial_timeout") == 0)
    return read_seconds(file, e, &out->trial_timeout, err);
  if (strcmp(key, "metrics") == 0)
    return read_metrics(file, e, &out->metrics, err);
  if (strcmp(key, "objective") == 0)
    return read_text(file, e, &out->objective, err);
  if (strcmp(key, "constraints") == 0)
    return read_constraints(file, e, &out->options, err);
  if (strcmp(key, "target") == 0)
    return read_target(file, e, &out->target, err);
  if (strcmp(key, "patience") == 0)
    return read_whole(file, e, 0, SPEC_MAX_TRIALS, &out->patience, err);
  if (strcmp(key, "max_failures") == 0)
    return read_whole(file, e, 0, SPEC_MAX_TRIALS, &out->max_failures, err);
  if (strcmp(key, "limit") == 0)
    return read_quota(file, e, &out->limit, err);
  if (strcmp(key, "pin") == 0)
    return read_flag(file, e, &out->pin, err);
  return strcmp(key, "parameters") == 0 || strcmp(key, "where") == 0
             ? COCABO_OK /* others read them */
             : unknown_key(file, e, top_key, err);
}

static bool is_known(const char *key, front_name_at known) {
  for (int i = 0; known(i); i++)
    if (strcmp(known(i), key) == 0)
      return true;
  return false;
}

cocabo_status spec_file_read(const spec_file *file, cli_spec *out, cocabo_error *err) {
  const tree_node *root = tree_root(file->t);
  for (const tree_entry *e = root ? root->first : NULL; e; e = e->next)
    if (!says_nothing(e->node) || !is_known(e->key, top_key))
      CB_TRY(read_key(file, e, out, err));
  return COCABO_OK;
}

/* ---- parameters ------------------------------------------------------------------ */

/* The entry at the top with that key, if it says something. */
static const tree_entry *find_top(const spec_file *file, const char *key) {
  const tree_node *root = file->t ? tree_root(file->t) : NULL;
  for (const tree_entry *e = root ? root->first : NULL; e; e = e->next)
    if (strcmp(e->key, key) == 0 && !says_nothing(e->node))
      return e;
  return NULL;
}

cocabo_status spec_file_parameters(const spec_file *file, const tree_entry **first,
                                   cocabo_error *err) {
  const tree_entry *e = find_top(file, "parameters");
  *first = NULL;
  if (!e)
    return COCABO_OK;
  if (e->node->kind != TREE_MAP)
    return unwanted(file, e, "a map such as {lr: {type: float, low: 0, high: 1}}", err);
  *first = e->node->first;
  return COCABO_OK;
}

static const char *parameter_key(int i) {
  static const char *const keys[] = {"type", "low",     "high", "step",
                                     "log",  "choices", "if"};
  return i < (int)(sizeof keys / sizeof keys[0]) ? keys[i] : NULL;
}

/* One parameter while it is read. */
typedef struct parameter {
  const spec_file *file;
  const char *name;
  char shown[CB_SHOWN]; /* its name in sentences */
  int line;
  const tree_node *map;
  const char *type;
} parameter;

/* NULL where the key is not there or says nothing. */
static const tree_node *get(const parameter *p, const char *key) {
  const tree_node *node = tree_find(p->map, key);
  return node && !says_nothing(node) ? node : NULL;
}

static cocabo_status bad_key(const parameter *p, const char *key, const char *want,
                             cocabo_error *err) {
  char shown[CB_SHOWN];
  const tree_node *node = get(p, key);
  if (!node)
    return refuse(p->file, p->line, err, "parameter \"%s\" has no %s, want %s",
                  p->shown, key, want);
  return refuse(p->file, node->line, err, "%s of parameter \"%s\" is %s, want %s", key,
                p->shown, describe(node, shown), want);
}

static cocabo_status refuse_keys(const parameter *p, const char *const *keys,
                                 cocabo_error *err) {
  for (; *keys; keys++)
    if (get(p, *keys))
      return refuse(p->file, get(p, *keys)->line, err,
                    "parameter \"%s\" is %s, which has no %s", p->shown, p->type,
                    *keys);
  return COCABO_OK;
}

static cocabo_status read_log(const parameter *p, unsigned *flags, cocabo_error *err) {
  const tree_node *node = get(p, "log");
  if (node && (node->kind != TREE_SCALAR || node->value.type != COCABO_BOOL))
    return bad_key(p, "log", "true or false", err);
  *flags = node && node->value.as.boolean ? COCABO_LOG : 0;
  return COCABO_OK;
}

static cocabo_status refuse_choices(const parameter *p, cocabo_error *err) {
  static const char *const others[] = {"choices", NULL};
  return refuse_keys(p, others, err);
}

static cocabo_status add_float(const parameter *p, cocabo_space *space,
                               cocabo_error *err) {
  double low, high, step = 0.0;
  unsigned flags = 0;
  CB_TRY(refuse_choices(p, err));
  if (!get(p, "low") || !is_number(get(p, "low"), &low))
    return bad_key(p, "low", "a number", err);
  if (!get(p, "high") || !is_number(get(p, "high"), &high))
    return bad_key(p, "high", "a number", err);
  /* A step of 0 would be none to the library. */
  if (get(p, "step") && (!is_number(get(p, "step"), &step) || !(step > 0.0)))
    return bad_key(p, "step", "a number above 0", err);
  CB_TRY(read_log(p, &flags, err));
  if (cocabo_space_add_real(space, p->name, low, high, step, flags, err) != COCABO_OK)
    return at_line(p->file, p->line, err);
  return COCABO_OK;
}

static cocabo_status add_int(const parameter *p, cocabo_space *space,
                             cocabo_error *err) {
  int64_t low, high, step = 0;
  unsigned flags = 0;
  CB_TRY(refuse_choices(p, err));
  if (!get(p, "low") || !is_whole(get(p, "low"), &low))
    return bad_key(p, "low", "a whole number", err);
  if (!get(p, "high") || !is_whole(get(p, "high"), &high))
    return bad_key(p, "high", "a whole number", err);
  /* A step of 0 would be 1 to the library. */
  if (get(p, "step") && (!is_whole(get(p, "step"), &step) || step < 1))
    return bad_key(p, "step", "a whole number above 0", err);
  CB_TRY(read_log(p, &flags, err));
  if (cocabo_space_add_int(space, p->name, low, high, step, flags, err) != COCABO_OK)
    return at_line(p->file, p->line, err);
  return COCABO_OK;
}

static cocabo_status add_listed(const parameter *p, const tree_node *list,
                                unsigned flags, cocabo_space *space,
                                cocabo_error *err) {
  cocabo_value *values = cb_calloc(list->n + 1, sizeof *values);
  if (!values)
    return cb_no_memory(err);
  size_t n = 0;
  cocabo_status status = COCABO_OK;
  for (const tree_entry *e = list->first; e && status == COCABO_OK; e = e->next) {
    if (e->node->kind != TREE_SCALAR)
      status = refuse(p->file, e->line, err,
                      "a choice of parameter \"%s\" is a %s, want one value", p->shown,
                      e->node->kind == TREE_LIST ? "list" : "map");
    values[n++] = e->node->value;
  }
  if (status == COCABO_OK &&
      cocabo_space_add_choice(space, p->name, values, n, flags, err) != COCABO_OK)
    status = at_line(p->file, list->line, err);
  cb_free(values);
  return status;
}

static cocabo_status add_choice(const parameter *p, unsigned flags, cocabo_space *space,
                                cocabo_error *err) {
  static const char *const others[] = {"low", "high", "step", "log", NULL};
  CB_TRY(refuse_keys(p, others, err));
  const tree_node *list = get(p, "choices");
  if (!list || list->kind != TREE_LIST)
    return bad_key(p, "choices", "a list such as [adam, sgd]", err);
  return add_listed(p, list, flags, space, err);
}

static cocabo_status add_bool(const parameter *p, cocabo_space *space,
                              cocabo_error *err) {
  static const char *const others[] = {"low", "high", "step", "log", "choices", NULL};
  CB_TRY(refuse_keys(p, others, err));
  return cocabo_space_add(space, p->name, "bool", err);
}

static const char *type_name(int i) {
  static const char *const names[] = {"float",  "int",     "bool",
                                      "choice", "ordinal", "categorical"};
  return i < (int)(sizeof names / sizeof names[0]) ? names[i] : NULL;
}

static cocabo_status add_typed(const parameter *p, cocabo_space *space,
                               cocabo_error *err) {
  if (strcmp(p->type, "float") == 0)
    return add_float(p, space, err);
  if (strcmp(p->type, "int") == 0)
    return add_int(p, space, err);
  if (strcmp(p->type, "bool") == 0)
    return add_bool(p, space, err);
  if (strcmp(p->type, "ordinal") == 0)
    return add_choice(p, COCABO_ORDERED, space, err);
  if (strcmp(p->type, "choice") == 0 || strcmp(p->type, "categorical") == 0)
    return add_choice(p, 0, space, err);
  char shown[CB_SHOWN];
  front_unknown(err, "type", cb_text_show(shown, p->type), type_name);
  return at_line(p->file, get(p, "type")->line, err);
}

static bool is_text(const tree_node *node) {
  return node->kind == TREE_SCALAR && node->value.type == COCABO_TEXT;
}

static cocabo_status add_condition(const parameter *p, cocabo_space *space,
                                   cocabo_error *err) {
  const tree_node *node = get(p, "if");
  if (!node)
    return COCABO_OK;
  if (!is_text(node))
    return bad_key(p, "if", "a condition such as kernel == poly", err);
  if (cocabo_space_condition(space, p->name, node->value.as.text, err) != COCABO_OK)
    return at_line(p->file, node->line, err);
  return COCABO_OK;
}

/* In braces or brackets a comma ends what is not in quotes: [k in (a, b)]. */
static bool is_cut(const tree_node *node) {
  int open = 0;
  for (const char *c = is_text(node) ? node->value.as.text : ""; *c; c++)
    open += (*c == '(') - (*c == ')');
  return open > 0;
}

static const char in_quotes[] = "it in quotes, since it has a comma";

static cocabo_status add_map(parameter *p, cocabo_space *space, cocabo_error *err) {
  for (const tree_entry *e = p->map->first; e; e = e->next) {
    if (is_known(e->key, parameter_key))
      continue;
    if (get(p, "if") && is_cut(get(p, "if")))
      return bad_key(p, "if", in_quotes, err);
    return unknown_key(p->file, e, parameter_key, err);
  }
  const tree_node *type = get(p, "type");
  if (!type || !is_text(type))
    return bad_key(p, "type", "float, int, bool, choice or ordinal", err);
  p->type = type->value.as.text;
  CB_TRY(add_typed(p, space, err));
  return add_condition(p, space, err);
}

/* `lr: float(0,1)` says the same in the words of -p. */
static cocabo_status add_domain(const parameter *p, const char *domain,
                                cocabo_space *space, cocabo_error *err) {
  if (cocabo_space_add(space, p->name, domain, err) != COCABO_OK)
    return at_line(p->file, p->line, err);
  return COCABO_OK;
}

cocabo_status spec_file_add(const spec_file *file, const tree_entry *entry,
                            cocabo_space *space, cocabo_error *err) {
  const tree_node *node = entry->node;
  parameter p = {.file = file, .name = entry->key, .line = entry->line, .map = node};
  cb_text_show(p.shown, entry->key);
  if (node->kind == TREE_MAP)
    return add_map(&p, space, err);
  if (node->kind == TREE_SCALAR && node->value.type == COCABO_TEXT)
    return add_domain(&p, node->value.as.text, space, err);
  return unwanted(file, entry, "a map such as {type: float, low: 0, high: 1}", err);
}

/* ---- rules ----------------------------------------------------------------------- */

static cocabo_status add_rule(const spec_file *file, const tree_node *node,
                              cli_spec *out, cocabo_error *err) {
  if (cli_add_rule(out, node->value.as.text, err) != COCABO_OK)
    return at_line(file, node->line, err);
  return COCABO_OK;
}

/* A list, or one text. */
cocabo_status spec_file_rules(const spec_file *file, cli_spec *out, cocabo_error *err) {
  char shown[CB_SHOWN];
  const tree_entry *where = find_top(file, "where");
  if (!where)
    return COCABO_OK;
  if (is_text(where->node))
    return add_rule(file, where->node, out, err);
  if (where->node->kind != TREE_LIST)
    return unwanted(file, where, "a rule or a list of rules", err);
  for (const tree_entry *e = where->node->first; e; e = e->next) {
    if (!is_text(e->node))
      return refuse(file, e->line, err, "a rule of where is %s, want text",
                    describe(e->node, shown));
    if (e->next && is_cut(e->node))
      return refuse(file, e->line, err, "a rule of where is %s, want %s",
                    describe(e->node, shown), in_quotes);
    CB_TRY(add_rule(file, e->node, out, err));
  }
  return COCABO_OK;
}
