/* token.c - see token.h. A token comes from the environment or a file, never from the
 * words of a command, which everybody on the machine sees, or a URL, which is printed.
 */
#include "base/token.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"

cocabo_status cb_token_check(const char *token, cocabo_error *err) {
  const size_t size = strlen(token);
  if (size < CB_TOKEN_MIN || size > CB_TOKEN_MAX)
    return cb_fail(err, COCABO_E_INVALID, "the token has %zu characters, want %d to %d",
                   size, CB_TOKEN_MIN, CB_TOKEN_MAX);
  for (const char *at = token; *at; at++)
    if (*at <= ' ' || *at > '~')
      return cb_fail(err, COCABO_E_INVALID,
                     "the token has blanks or characters beyond ASCII");
  return COCABO_OK;
}

static cocabo_status copy_checked(char **out, const char *token, cocabo_error *err) {
  CB_TRY(cb_token_check(token, err));
  *out = cb_strdup(token);
  return *out ? COCABO_OK : cb_no_memory(err);
}

cocabo_status cb_token_read(char **out, const char *what, const char *path,
                            cocabo_error *err) {
  char line[CB_TOKEN_MAX + 3] = "", shown[CB_SHOWN];
  *out = NULL;
  errno = 0;
  FILE *file = fopen(path, "re");
  const bool read = file && (fgets(line, sizeof line, file) || feof(file));
  const int why = errno;
  if (file)
    fclose(file);
  if (!read)
    return cb_fail(err, COCABO_E_INVALID, "%s \"%s\" cannot be read: %s", what,
                   cb_text_show(shown, path), strerror(why));
  line[strcspn(line, "\r\n")] = '\0';
  return copy_checked(out, line, err);
}

cocabo_status cb_token_find(char **out, cocabo_error *err) {
  const char *path = getenv("COCABO_TOKEN_FILE"), *token = getenv("COCABO_TOKEN");
  *out = NULL;
  if (path && *path)
    return cb_token_read(out, "COCABO_TOKEN_FILE", path, err);
  return token && *token ? copy_checked(out, token, err) : COCABO_OK;
}
