/* family.h - a process and everything below it, as /proc shows it.
 *
 * A process may leave its group, its session and its parent, but not its line of
 * descent as long as whoever adopts its orphans (PR_SET_CHILD_SUBREAPER) stands at the
 * head of it. The members are looked up each time, again and again until nobody new
 * turns up, because they go on forking meanwhile. Nothing here allocates: it is safe in
 * the child of a process with threads.
 */
#ifndef CLI_FAMILY_H
#define CLI_FAMILY_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/quota.h"

/* Sends a signal to every descendant, once each; not to the head itself. */
void cli_family_signal(pid_t head, int number);

/* How many descendants live, and how many of those are at work: they run, or wait for a
 * disk. The others wait for somebody or for time to pass. */
typedef struct cli_activity {
  int alive, busy;
  uint64_t pauses; /* how often they have begun to wait, in all */
  double seconds;  /* of processor time, theirs and that of children they waited for */
} cli_activity;
cli_activity cli_family_look(pid_t head);
/* Whether two looks in a row prove that nobody was at work at a moment between them.
 * One look does not: members may hand the work on behind its back. */
bool cli_family_was_idle(cli_activity before, cli_activity after);

/* What all descendants use. Of memory it counts what they have written, a page that
 * several of them share once; `most` is the number of bytes that is worth a closer
 * look. */
cli_use cli_family_use(pid_t head, double most);

/* Whether this process has no child but one, which has ended: then it has no
 * descendants at all. */
bool cli_family_is_only(pid_t child);

/* Kills the direct children of this process. Their own children are adopted and are for
 * the next call. */
void cli_family_kill_children(void);

#endif
