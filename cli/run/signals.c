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

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1, SIGCHLD, SIGPIPE};
enum { N_CAUGHT = sizeof caught / sizeof *caught };

static struct sigaction old[N_CAUGHT];
static volatile sig_atomic_t stop;
static int self_pipe[2] = {-1, -1};

static void on_signal(int number) {
  const int why = errno;
  if (number == SIGINT && stop)
    _exit(FRONT_INTERRUPTED); /* the guard sees to the rest */
  if (number != SIGCHLD && !stop)
    stop = number;
  /* A full pipe wakes the loop as well as one more byte would. */
  if (write(self_pipe[1], "", 1) < 0)
    errno = 0;
  errno = why;
}

/* nohup means it: a hang-up that is ignored already stays so. */
static bool is_left_alone(int number) {
  struct sigaction now;
  return number == SIGHUP && sigaction(number, NULL, &now) == 0 &&
         now.sa_handler == SIG_IGN;
}

cocabo_status cli_signals_catch(cocabo_error *err) {
  if (pipe2(self_pipe, O_CLOEXEC | O_NONBLOCK) != 0)
    return cb_fail(err, COCABO_E_STORE, "cannot make a pipe: %s", strerror(errno));
  stop = 0;
  for (int i = 0; i < N_CAUGHT; i++) {
    struct sigaction action = {.sa_flags = SA_RESTART | SA_NOCLDSTOP};
    sigemptyset(&action.sa_mask);
    action.sa_handler = caught[i] == SIGPIPE ? SIG_IGN : on_signal;
    if (is_left_alone(caught[i]))
      action.sa_handler = SIG_IGN;
    sigaction(caught[i], &action, &old[i]);
  }
  return COCABO_OK;
}

void cli_signals_release(void) {
  for (int i = 0; i < N_CAUGHT; i++)
    sigaction(caught[i], &old[i], NULL);
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
