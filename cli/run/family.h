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
#include <sys/types.h>

/* Sends a signal to every descendant, once each; not to the head itself. */
void cli_family_signal(pid_t head, int number);

/* How many descendants live, at least, and how many of those are at work: they run, or
 * wait for a disk. The others wait for somebody or for time to pass. */
typedef struct cli_activity {
  int alive, busy;
} cli_activity;
cli_activity cli_family_look(pid_t head);

/* Whether this process has no child but one, which has ended: then it has no
 * descendants at all. */
bool cli_family_is_only(pid_t child);

/* Kills the direct children of this process. Their own children are adopted and are for
 * the next call. */
void cli_family_kill_children(void);

#endif
