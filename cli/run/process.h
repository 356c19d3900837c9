/* process.h - one program being run: a child process with everything it starts.
 *
 * The program leads its own session, so that Ctrl-C on our terminal does not reach it,
 * and it finds no terminal to ask questions on. Between it and us is its keeper
 * (keeper.h), below which all its descendants stay, wherever they go. Standard input is
 * empty. Output is read without ever blocking; what is kept of it has a fixed size
 * (capture.h).
 *
 * The caller polls: cli_process_files() for poll, cli_process_read() when one is ready,
 * cli_process_tick() after each wait. What is written after the program's end is not
 * its output, unless it is still on its way. When it is over, what is left of its group
 * is killed; if it was stopped, so is everything else that it started. Time is an
 * argument, in seconds on front_now()'s clock.
 */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <poll.h>
#include <stdbool.h>
#include <sys/types.h>

#include "cocabo.h"
#include "run/capture.h"
#include "run/cgroup.h"
#include "run/guard.h"
#include "run/keeper.h"
#include "run/match.h"
#include "run/pin.h"
#include "run/quota.h"

/* Why it was asked to stop. */
typedef enum cli_stop { CLI_RUNS_ON, CLI_TIMED_OUT, CLI_CANCELLED } cli_stop;

typedef struct cli_process {
  pid_t pid;      /* also the number of its group and session */
  pid_t keeper;   /* our child, its parent */
  int out, err;   /* our ends of its pipes; -1: at its end */
  int line;       /* to the keeper; -1: gone */
  int logs[2];    /* files that get a copy of output and error; -1: none. Owned */
  bool log_short; /* a copy could not be written in full */
  cli_stop stop;
  double kill_at; /* after cli_process_stop: when to stop being polite */
  bool exited;
  bool settled;     /* all its output is in the pipes */
  size_t unread[2]; /* bytes of it there; SIZE_MAX: all that is there */
  double read_at;   /* when something was read last, on front_now()'s clock */
  double look_at;   /* after the exit: when to look again */
  bool ending;      /* the keeper has its last order */
  int status;       /* as from waitpid; valid once it is over */
  double started;   /* on front_now()'s clock, moved by what did not count */
  double seconds;   /* that it ran; and what it used up: if it ended by itself */
  cli_cost cost;
  cli_quota quota; /* that it had */
  int exceeded;    /* which limit it exceeded, as somebody saw it; -1: none */
  double used;     /* of that; NAN: nobody knows */
  cli_last_line last;
  cli_matches matches;
  cli_tail tail;
} cli_process;

typedef struct cli_start {
  const char *path;             /* what to execute; see cli_find_program */
  char *const *argv;            /* NULL-terminated, argv[0] as the user wrote it */
  char *const *envp;            /* NULL-terminated */
  const cli_guard *guard;       /* waits for the end of the keeper */
  const cli_patterns *patterns; /* to look for in its output; NULL: none */
  int logs[2];                  /* taken over, also on failure; -1: none */
  const cli_quota *quota;       /* NULL: no limits */
  const cli_cell *cell;         /* the group to run in; NULL: ours */
  const cli_cpus *cpus;         /* to run on; NULL: all */
} cli_start;

/* Starts a program in a process that is not in use. On failure it is not in use either:
 * COCABO_E_NOT_FOUND if the file cannot be executed, COCABO_E_STORE if there are no
 * processes or files left. */
cocabo_status cli_process_start(cli_process *process, const cli_start *start,
                                cocabo_error *err);

/* Fills in what to poll for, up to CLI_PROCESS_FILES entries; returns how many. */
enum { CLI_PROCESS_FILES = 3 };
int cli_process_files(const cli_process *process, struct pollfd *files);
/* Reads what is there. `fd` is one of the files. */
void cli_process_read(cli_process *process, int fd);

/* Ends it with all its descendants: politely at first, for good after a grace. A later
 * reason does not replace an earlier one, and a program that has ended by itself, a
 * moment or an hour ago, is left to cli_process_tick. */
void cli_process_stop(cli_process *process, cli_stop why, double now);

/* Stops all its processes where they are, or lets them go on. */
void cli_process_suspend(const cli_process *process, bool suspend);
/* So many seconds did not count. */
void cli_process_postpone(cli_process *process, double seconds);

/* Looks after it; true: it is over, its status is known, its processes are gone. */
bool cli_process_tick(cli_process *process, double now);
/* When tick should be called again although nothing happens; INFINITY: no need. */
double cli_process_deadline(const cli_process *process);

/* Kills everything and waits for the end, without a grace. */
void cli_process_kill(cli_process *process);

/* The path of a command: itself if it has a slash, else the first match in PATH.
 * COCABO_E_NOT_FOUND, with a sentence, if there is none that can be executed. */
cocabo_status cli_find_program(const char *command, char *path, size_t size,
                               cocabo_error *err);

#endif
