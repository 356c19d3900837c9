/* words.c - splits a line into words as a shell would, and converts words to JSON, as
 * a study stores its command, and back. */
#include "io/words.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/buffer.h"
#include "io/output.h"

void words_free(char **words) {
  for (char **word = words; word && *word; word++)
    cb_free(*word);
  cb_free(words);
}

cocabo_status words_copy(const char *const *words, size_t n, char ***out,
                         cocabo_error *err) {
  char **copy = cb_calloc(n + 1, sizeof(char *));
  if (!copy)
    return cb_no_memory(err);
  for (size_t i = 0; i < n; i++) {
    copy[i] = cb_strdup(words[i]);
    if (!copy[i]) {
      words_free(copy);
      return cb_no_memory(err);
    }
  }
  *out = copy;
  return COCABO_OK;
}

cocabo_status words_append(char ***words, const char *word, cocabo_error *err) {
  size_t n = 0;
  while (*words && (*words)[n])
    n++;
  char **longer = cb_realloc(*words, n + 2, sizeof *longer);
  if (!longer)
    return cb_no_memory(err);
  *words = longer;
  longer[n] = cb_strdup(word);
  longer[n + 1] = NULL;
  return longer[n] ? COCABO_OK : cb_no_memory(err);
}

/* ---- splitting ------------------------------------------------------------------- */

typedef struct splitter {
  const char *next;  /* of the line */
  front_buffer text; /* the words so far, each with its NUL */
  size_t n;
} splitter;

static cocabo_status needs_shell(char c, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID,
                 "command has %c, which needs a shell: quote it, or write "
                 "[sh, -c, \"...\"]",
                 c);
}

static cocabo_status take_single(splitter *s, cocabo_error *err) {
  const char *end = strchr(++s->next, '\'');
  if (!end)
    return cb_fail(err, COCABO_E_INVALID, "command has a ' without its end");
  const size_t size = (size_t)(end - s->next);
  CB_TRY(front_buffer_append(&s->text, s->next, size, err));
  s->next = end + 1;
  return COCABO_OK;
}

static cocabo_status take_double(splitter *s, cocabo_error *err) {
  for (s->next++; *s->next != '"'; s->next++) {
    if (*s->next == '\0')
      return cb_fail(err, COCABO_E_INVALID, "command has a \" without its end");
    if (*s->next == '$' || *s->next == '`')
      return needs_shell(*s->next, err);
    if (*s->next == '\\' && s->next[1] && strchr("\"\\$`", s->next[1]))
      s->next++;
    CB_TRY(front_buffer_append(&s->text, s->next, 1, err));
  }
  s->next++;
  return COCABO_OK;
}

static cocabo_status take_bare(splitter *s, cocabo_error *err) {
  if (*s->next == '\n')
    return cb_fail(err, COCABO_E_INVALID,
                   "command has several lines, which need a shell: write "
                   "[sh, -c, \"...\"]");
  if (strchr("|&;<>()$`*?[]", *s->next))
    return needs_shell(*s->next, err);
  if (*s->next == '\\' && s->next[1])
    s->next++;
  return front_buffer_append(&s->text, s->next++, 1, err);
}

static cocabo_status take_word(splitter *s, cocabo_error *err) {
  if (*s->next == '~')
    return needs_shell('~', err);
  while (*s->next && *s->next != ' ' && *s->next != '\t')
    if (*s->next == '\'')
      CB_TRY(take_single(s, err));
    else if (*s->next == '"')
      CB_TRY(take_double(s, err));
    else
      CB_TRY(take_bare(s, err));
  s->n++;
  return front_buffer_append(&s->text, "", 1, err);
}

static cocabo_status take_words(splitter *s, cocabo_error *err) {
  for (;;) {
    s->next += strspn(s->next, " \t");
    if (*s->next == '\0')
      break;
    CB_TRY(take_word(s, err));
  }
  return s->n > 0 ? COCABO_OK
                  : cb_fail(err, COCABO_E_INVALID, "command is empty, want a program");
}

static cocabo_status list_words(const splitter *s, char ***out, cocabo_error *err) {
  const char **words = cb_calloc(s->n + 1, sizeof(char *));
  if (!words)
    return cb_no_memory(err);
  const char *word = s->text.data;
  for (size_t i = 0; i < s->n; i++) {
    words[i] = word;
    word += strlen(word) + 1;
  }
  const cocabo_status status = words_copy(words, s->n, out, err);
  cb_free(words);
  return status;
}

/* A block of YAML ends with a newline, which ends nothing here. */
static char *without_end(const char *line) {
  size_t size = strlen(line);
  while (size > 0 && line[size - 1] == '\n')
    size--;
  return cb_strndup(line, size);
}

cocabo_status words_split(const char *line, char ***out, cocabo_error *err) {
  char *trimmed = without_end(line);
  if (!trimmed)
    return cb_no_memory(err);
  splitter s = {.next = trimmed};
  cocabo_status status = take_words(&s, err);
  if (status == COCABO_OK)
    status = list_words(&s, out, err);
  front_buffer_free(&s.text);
  cb_free(trimmed);
  return status;
}

/* ---- JSON ------------------------------------------------------------------------ */

static cocabo_status put_words(char *const *words, front_buffer *out,
                               cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "[", err));
  for (size_t i = 0; words[i]; i++) {
    if (i > 0)
      CB_TRY(front_buffer_puts(out, ",", err));
    CB_TRY(front_put_json_text(out, words[i], err));
  }
  return front_buffer_append(out, "]", 2, err); /* and the NUL */
}

cocabo_status words_to_json(char *const *words, char **out, cocabo_error *err) {
  front_buffer text = {0};
  const cocabo_status status = put_words(words, &text, err);
  if (status != COCABO_OK)
    front_buffer_free(&text);
  else
    *out = text.data;
  return status;
}

static cocabo_status not_words(cocabo_error *err) {
  return cb_fail(err, COCABO_E_STATE, "the study's command is not a list of texts");
}

static cocabo_status words_of_array(const cb_json_node *array, char ***out,
                                    cocabo_error *err) {
  const size_t n = array->items;
  const char **words = cb_calloc(n + 1, sizeof(char *));
  if (!words)
    return cb_no_memory(err);
  size_t used = 0;
  for (const cb_json_node *item = cb_json_first(array); item;
       item = cb_json_next(array, item))
    if (cb_json_text(item))
      words[used++] = cb_json_text(item);
  const cocabo_status status = array->type == CB_JSON_ARRAY && n > 0 && used == n
                                   ? words_copy(words, n, out, err)
                                   : not_words(err);
  cb_free(words);
  return status;
}

cocabo_status words_from_json(const char *json, char ***out, cocabo_error *err) {
  cb_json_tree tree = {0};
  cocabo_status status = cb_json_read_all(&tree, json, strlen(json), err);
  if (status == COCABO_OK)
    status = words_of_array(tree.nodes, out, err);
  else if (status == COCABO_E_INVALID)
    status = not_words(err);
  cb_json_tree_free(&tree);
  return status;
}

/* ---- showing --------------------------------------------------------------------- */

static cocabo_status put_shown(front_buffer *out, const char *word) {
  const char *quote = *word && !strpbrk(word, " \t\n\"'") ? ""
                      : strchr(word, '\'')                ? "\""
                                                          : "'";
  return front_buffer_printf(out, NULL, "%s%s%s", quote, word, quote);
}

const char *words_show(char out[static CB_SHOWN], char *const *words) {
  front_buffer line = {0};
  cocabo_status status = COCABO_OK;
  for (int i = 0; words[i] && status == COCABO_OK; i++) {
    if (i > 0)
      status = front_buffer_puts(&line, " ", NULL);
    if (status == COCABO_OK)
      status = put_shown(&line, words[i]);
  }
  if (status == COCABO_OK)
    status = front_buffer_append(&line, "", 1, NULL);
  cb_text_show(out, status == COCABO_OK ? line.data : "?");
  front_buffer_free(&line);
  return out;
}
