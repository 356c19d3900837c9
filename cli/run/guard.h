/* guard.h - a small process that outlives its parent by a moment, to leave nothing
 * behind: when the parent ends, however it ends, the guard kills the process groups
 * that are left and removes the parent's private folder.
 *
 * A socket holds the two together: it closes by itself when the parent dies, even by
 * SIGKILL. The kernel's own way (PR_SET_PDEATHSIG) reaches only direct children, and
 * programs are often started by a script.
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
/* Kills what is left, removes the folder, and waits for the guard. */
void cli_guard_stop(cli_guard *guard);

/* In a new child: its own group is to be killed with the parent. Safe between fork and
 * exec; a guard that somebody killed is no reason to stop. */
void cli_guard_enter(const cli_guard *guard);
/* In the parent: the group of this child is gone. Call it before the child's number is
 * given back by wait, because the number may belong to somebody else after that. */
void cli_guard_leave(const cli_guard *guard, pid_t group);

#endif
