/* signals.c - signal handlers that write to a pipe, which the poll loop reads. */
#define _GNU_SOURCE /* pipe2 */
#include "run/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "common/args.h"
#include "common/base.h"

/* The last two only where somebody stops children on Ctrl-Z. */
static const int caught[] = {SIGINT,  SIGTERM, SIGHUP,  SIGUSR1,
                             SIGCHLD, SIGPIPE, SIGTSTP, SIGCONT};
enum { N_CAUGHT = sizeof caught / sizeof *caught, N_USUAL = N_CAUGHT - 2 };

static struct sigaction old[N_CAUGHT];
static int n_caught;
static volatile sig_atomic_t stop;
static volatile sig_atomic_t suspend; /* asked for: by a terminal, or by somebody */
static volatile sig_atomic_t continued;
enum { BY_TERMINAL = 1, BY_SOMEBODY };
static int self_pipe[2] = {-1, -1};

static void on_signal(int number, siginfo_t *info, void *context) {
  (void)context;
  const int why = errno;
  if (number == SIGINT && stop)
    _exit(FRONT_INTERRUPTED); /* the keepers and the guard see to the rest */
  if (number == SIGTSTP)
    suspend = info->si_code == SI_KERNEL ? BY_TERMINAL : BY_SOMEBODY;
  else if (number == SIGCONT)
    continued = 1;
  else if (number != SIGCHLD && !stop)
    stop = number;
  /* A full pipe wakes the loop as well as one more byte would. */
  if (write(self_pipe[1], "", 1) < 0)
    errno = 0;
  errno = why;
}

/* nohup means it: a hang-up that is ignored already stays so. So does Ctrl-Z, which
 * shells without jobs ignore. */
static bool is_left_alone(int number) {
  struct sigaction now;
  return (number == SIGHUP || number == SIGTSTP) &&
         sigaction(number, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

static struct sigaction action_for(int number) {
  struct sigaction action = {.sa_flags = SA_RESTART | SA_NOCLDSTOP};
  sigemptyset(&action.sa_mask);
  if (number == SIGPIPE || is_left_alone(number)) {
    action.sa_handler = SIG_IGN;
  } else {
    action.sa_flags |= SA_SIGINFO;
    action.sa_sigaction = on_signal;
  }
  return action;
}

static void catch_some(int first, int end) {
  for (int i = first; i < end; i++) {
    const struct sigaction action = action_for(caught[i]);
    sigaction(caught[i], &action, &old[i]);
  }
  n_caught = end;
}

cocabo_status cli_signals_catch(cocabo_error *err) {
  if (pipe2(self_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return cb_fail(err, COCABO_E_STORE, "cannot make a pipe: %s", strerror(errno));
  stop = suspend = 0;
  catch_some(0, N_USUAL);
  return COCABO_OK;
}

void cli_signals_catch_suspend(void) {
  catch_some(N_USUAL, N_CAUGHT);
}

void cli_signals_release(void) {
  for (int i = 0; i < n_caught; i++)
    sigaction(caught[i], &old[i], NULL);
  n_caught = 0;
  close(self_pipe[0]);
  close(self_pipe[1]);
  self_pipe[0] = self_pipe[1] = -1;
}

int cli_signals_file(void) {
  return self_pipe[0];
}

void cli_signals_drain(void) {
  char bytes[64];
  while (read(self_pipe[0], bytes, sizeof bytes) > 0)
    continue;
}

int cli_signals_stop(void) {
  return stop;
}

bool cli_signals_continued(void) {
  const bool was = continued != 0;
  continued = 0;
  return was;
}

bool cli_signals_suspended(void) {
  return suspend != 0;
}

/* The kernel does not stop a process by Ctrl-Z where no shell could ever continue it.
 * Somebody who sends the signal by hand means it. */
void cli_signals_suspend(void) {
  const bool by_hand = suspend == BY_SOMEBODY;
  const struct sigaction caught_again = action_for(SIGTSTP);
  continued = suspend = 0;
  signal(SIGTSTP, SIG_DFL);
  raise(SIGTSTP); /* until SIGCONT, whose handler runs before this returns */
  if (!continued && by_hand)
    raise(SIGSTOP);
  sigaction(SIGTSTP, &caught_again, NULL);
  continued = 0;
}
