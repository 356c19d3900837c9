/* words.h - the words of a command. */
#ifndef CLI_WORDS_H
#define CLI_WORDS_H

#include <stddef.h>

#include "cocabo.h"
#include "common/base.h"

/* n words, ended by NULL, in one list; owned, released by words_free. */
cocabo_status words_copy(const char *const *words, size_t n, char ***out,
                         cocabo_error *err);
void words_free(char **words); /* NULL is allowed */
/* One more at the end of a list, which may be NULL. */
cocabo_status words_append(char ***words, const char *word, cocabo_error *err);

/* Splits a line as a shell would, with quotes and backslashes. What only a shell can do
 * (pipes, variables, wildcards ...) is refused, because there is none: a value put into
 * the line shall stay one word. */
cocabo_status words_split(const char *line, char ***out, cocabo_error *err);

/* As a JSON array of texts, and back. */
cocabo_status words_to_json(char *const *words, char **out, cocabo_error *err);
cocabo_status words_from_json(const char *json, char ***out, cocabo_error *err);

/* In one line, with quotes around words that have blanks; fit to be quoted itself. "?"
 * without memory. Returns out. */
const char *words_show(char out[static CB_SHOWN], char *const *words);

#endif
