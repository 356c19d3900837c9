/* keeper.h - a small process between us and one program: it adopts what the program
 * leaves behind, so that everything that belongs to a trial is below its keeper, and
 * ends with it.
 *
 * A time-out that ended a process group would miss `timeout 50 train`, `setsid train`
 * and the jobs of a shell with jobs. Orphans would come to us, but not the name of the
 * trial they are of. With one keeper a trial the kernel keeps them apart.
 *
 * The line between the two is a socket that keeps messages whole. The keeper says the
 * number of the program, its status when it is over, and when its output has settled:
 * what it wrote may still be on its way then, through a tee that has not caught up. The
 * keeper does nothing else, so that it sees what is in the pipes at that moment,
 * however busy we are; and that it sees when a limit is exceeded, by all processes
 * together, and ends them. When the line closes, the keeper is gone. It is told what to
 * end; when we die, the line closes at its side and it ends everything.
 */
#ifndef CLI_KEEPER_H
#define CLI_KEEPER_H

#include <sys/types.h>

#include "run/quota.h"

/* What a keeper says, in this order. */
typedef enum cli_keeper_word {
  CLI_NOT_STARTED, /* status: an errno */
  CLI_STARTED,     /* pid: of the program; at */
  CLI_EXCEEDED,    /* kind, used: of a limit; this may be left out */
  CLI_OVER,        /* status: as from waitpid; at; cost */
  CLI_SETTLED      /* at, unread: all output of the program is in the pipes */
} cli_keeper_word;

/* What the program used up, with its descendants as far as they have been waited for.
 */
typedef struct cli_cost {
  double cpu_seconds; /* in user and system mode */
  double max_rss;     /* bytes: the most that one of them held in memory at a time */
} cli_cost;

typedef struct cli_keeper_news {
  cli_keeper_word word;
  pid_t pid;
  int status;
  double at; /* seconds on front_now()'s clock */
  cli_cost cost;
  cli_quota_kind kind;
  double used;
  int unread[2]; /* bytes in the pipes at that time; what follows is somebody else's */
} cli_keeper_news;

/* The files of a keeper: the line; the program's ends of its pipes, to see what is in
 * them; and one that is kept open until everything is over. */
typedef struct cli_keeper_files {
  int line, out, err, other;
} cli_keeper_files;

/* What a keeper is told, a message of one byte; it ends itself after either. */
typedef enum cli_keeper_order {
  CLI_END_GROUP = 'g', /* the program is over: kill what is left of its group */
  CLI_END_ALL = 'a'    /* kill the program and all its descendants */
} cli_keeper_order;

/* Becomes the keeper, in a new child of `parent` in which all signals are blocked, and
 * never returns. `become_program` runs in the keeper's own child. Of the parent's files
 * only those named stay open. `quota`: what to look after; NULL: nothing. Safe in the
 * child of a process with threads. */
_Noreturn void cli_keeper(cli_keeper_files files, pid_t parent, const cli_quota *quota,
                          void (*become_program)(void *user, pid_t keeper), void *user);

#endif
