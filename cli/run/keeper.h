/* keeper.h - a small process between us and one program: it adopts what the program
 * leaves behind, so that everything that belongs to a trial is below its keeper, and
 * ends with it.
 *
 * A time-out that ended a process group would miss `timeout 50 train`, `setsid train`
 * and the jobs of a shell with jobs. Orphans would come to us, but not the name of the
 * trial they are of. With one keeper a trial the kernel keeps them apart.
 *
 * The line between the two is a socket that keeps messages whole. The keeper says the
 * number of the program, then its status when it is over; when the line closes, the
 * keeper is gone. It is told what to end; when we die, the line closes at its side and
 * it ends everything.
 */
#ifndef CLI_KEEPER_H
#define CLI_KEEPER_H

#include <sys/types.h>

/* What a keeper says. */
typedef struct cli_keeper_news {
  pid_t started; /* the number of the program; -1: there is none; 0: it is over */
  int status;    /* of none: an errno; when it is over: as from waitpid */
} cli_keeper_news;

/* What a keeper is told, a message of one byte; it ends itself after either. */
typedef enum cli_keeper_order {
  CLI_END_GROUP = 'g', /* the program is over: kill what is left of its group */
  CLI_END_ALL = 'a'    /* kill the program and all its descendants */
} cli_keeper_order;

/* Becomes the keeper, in a new child of `parent` in which all signals are blocked, and
 * never returns. `become_program` runs in the keeper's own child. `line` is kept open,
 * and so is `other`, until everything is over; nothing else is. Safe in the child of a
 * process with threads. */
_Noreturn void cli_keeper(int line, int other, pid_t parent,
                          void (*become_program)(void *user, pid_t keeper), void *user);

#endif
