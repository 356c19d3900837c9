/* guard.h - a small process that outlives its parent by a moment, to leave nothing
 * behind: when the parent and the keepers of its programs have ended, however they
 * ended, the guard removes the parent's private folder.
 *
 * A socket holds them together: it closes by itself when those who have it open die,
 * even by SIGKILL.
 */
#ifndef CLI_GUARD_H
#define CLI_GUARD_H

#include <sys/types.h>

#include "cocabo.h"

enum { CLI_FOLDER_SIZE = 256 };

typedef struct cli_guard {
  int fd; /* the parent's end of the socket; -1: none */
  pid_t pid;
  char folder[CLI_FOLDER_SIZE]; /* private to the parent; absolute */
} cli_guard;

/* Starts the guard, which makes the folder. Call it before there are threads. */
cocabo_status cli_guard_start(cli_guard *guard, cocabo_error *err);
/* Removes the folder, and waits for the guard. */
void cli_guard_stop(cli_guard *guard);

#endif
