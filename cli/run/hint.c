/* hint.c - looks for pipes in scripts and for failures in what programs print. */
#include "run/hint.h"

#include <ctype.h>
#include <string.h>

const char cli_pipe_hint[] =
    "a pipe fails only if its last part does; in bash, set -o pipefail makes every "
    "part count";

/* ---- pipes ---------------------------------------------------------------------- */

static bool is_shell(const char *word) {
  static const char *const shells[] = {"sh", "bash", "dash", "ash", "ksh", "zsh"};
  const char *slash = strrchr(word, '/');
  const char *name = slash ? slash + 1 : word;
  for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
    if (strcmp(name, shells[i]) == 0)
      return true;
  return false;
}

/* -c, or -ec and the like: the script follows. */
static bool takes_script(const char *word) {
  return word[0] == '-' && word[1] != '-' && strchr(word, 'c');
}

/* Past a quoted part or an escaped character; otherwise one character. */
static const char *step(const char *at) {
  if (*at == '\\' && at[1])
    return at + 2;
  if (*at != '\'' && *at != '"')
    return at + 1;
  const char quote = *at++;
  while (*at && *at != quote)
    at += *at == '\\' && quote == '"' && at[1] ? 2 : 1;
  return *at ? at + 1 : at;
}

/* A | that is neither || nor >|, outside of quotes. */
static bool script_has_pipe(const char *script) {
  char before = '\0';
  for (const char *at = script; *at; before = *at, at = step(at)) {
    if (*at != '|' || before == '>')
      continue;
    if (at[1] != '|')
      return true;
    at++;
  }
  return false;
}

bool cli_has_pipe(char *const *words) {
  const char *script = NULL;
  if (!is_shell(words[0]))
    return false;
  for (int i = 1; words[i]; i++) {
    if (strstr(words[i], "pipefail"))
      return false;
    if (!script && words[i + 1] && takes_script(words[i]))
      script = words[i + 1];
  }
  return script && script_has_pipe(script);
}

/* ---- failures ------------------------------------------------------------------- */

/* "error: 0.25" is a result of many programs; "error: no such column" is none. */
static bool is_followed_by_words(const char *text) {
  text += strspn(text, " \t");
  return *text && *text != '\n' && !isdigit((unsigned char)*text) &&
         !strchr("+-.", *text);
}

bool cli_shows_failure(const char *text) {
  static const char *const certain[] = {
      "Traceback (most recent call last)", ": not found",       ": command not found",
      "No such file or directory",         "Permission denied", "Segmentation fault"};
  static const char *const likely[] = {"Error: ", "error: ", "Exception: ", "fatal: "};
  for (size_t i = 0; i < sizeof certain / sizeof *certain; i++)
    if (strstr(text, certain[i]))
      return true;
  for (size_t i = 0; i < sizeof likely / sizeof *likely; i++)
    for (const char *at = text; (at = strstr(at, likely[i])); at++)
      if (is_followed_by_words(at + strlen(likely[i])))
        return true;
  return false;
}
