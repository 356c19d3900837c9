/* hint.h - a pipe of the shell hides the failures of all its parts but the last: when
 * that is worth a word. */
#ifndef CLI_HINT_H
#define CLI_HINT_H

#include <stdbool.h>

/* The word itself. */
extern const char cli_pipe_hint[];

/* Whether a command is a shell with a script that has a pipe and does not ask for
 * failures, by pipefail. `words` end with NULL. */
bool cli_has_pipe(char *const *words);

/* Whether a text, the end of standard error, looks like the last words of a program
 * that failed. */
bool cli_shows_failure(const char *text);

#endif
