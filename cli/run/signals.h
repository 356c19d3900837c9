/* signals.h - Ctrl-C and its relatives, and the ends of children, for one poll loop.
 *
 * SIGINT, SIGTERM, SIGHUP and SIGUSR1 (a batch system's warning) ask to stop; a SIGINT
 * after that leaves the program at once, whatever it is doing. SIGCHLD only wakes the
 * loop. SIGPIPE is ignored: writing to a closed pipe is an error like any other. Ctrl-Z
 * (SIGTSTP) can be noted, for a loop that stops its children before it stops itself.
 */
#ifndef CLI_SIGNALS_H
#define CLI_SIGNALS_H

#include <stdbool.h>

#include "cocabo.h"

/* Starts catching; one at a time in a process. Threads that are started afterwards
 * should block all signals, so that the main thread gets them. */
cocabo_status cli_signals_catch(cocabo_error *err);
void cli_signals_release(void);

/* To poll for POLLIN: something happened. cli_signals_drain makes it quiet again. */
int cli_signals_file(void);
void cli_signals_drain(void);

/* The signal that asked to stop, or 0. */
int cli_signals_stop(void);

/* From now on Ctrl-Z is noted instead of followed, until cli_signals_release. */
void cli_signals_catch_suspend(void);
/* Whether this process was stopped some other way and goes on now; once for each time.
 */
bool cli_signals_continued(void);
/* Whether somebody pressed Ctrl-Z; cli_signals_suspend then stops this process, as a
 * shell expects, and returns when it is continued. */
bool cli_signals_suspended(void);
void cli_signals_suspend(void);

#endif
