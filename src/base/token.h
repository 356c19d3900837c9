/* token.h - the secret that a server of cocabo asks for, and its clients send. */
#ifndef CB_BASE_TOKEN_H
#define CB_BASE_TOKEN_H

#include "cocabo.h"

enum { CB_TOKEN_MIN = 16, CB_TOKEN_MAX = 4096 };

/* So many visible characters of ASCII. The sentence does not hold it. */
cocabo_status cb_token_check(const char *token, cocabo_error *err);

/* The first line of a file, checked; owned by the caller. `what` begins the sentence
 * where it cannot be read: "--token-file", "COCABO_TOKEN_FILE". */
cocabo_status cb_token_read(char **out, const char *what, const char *path,
                            cocabo_error *err);

/* What the environment says, checked: the file that COCABO_TOKEN_FILE names, else
 * COCABO_TOKEN; NULL if neither does. Owned by the caller. */
cocabo_status cb_token_find(char **out, cocabo_error *err);

#endif
