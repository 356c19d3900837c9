/* limited.c - calls a function in a forked child with a limit of processor time, and
 * takes its result from a pipe. A child that crashes or runs too long has the result
 * NaN. */
#include "limited.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* Past its limit the kernel ends the process, whatever it is doing. */
static void limit_this_process(unsigned seconds) {
  const struct rlimit time = {.rlim_cur = seconds, .rlim_max = seconds + 1};
  const struct rlimit none = {0};
  setrlimit(RLIMIT_CORE, &none); /* SIGXCPU would leave a core file */
  setrlimit(RLIMIT_CPU, &time);
  signal(SIGXCPU, SIG_DFL);
  signal(SIGALRM, SIG_DFL);
  alarm(10 * seconds);
}

/* Leaves without exit(): the streams and exit handlers are the parent's. */
_Noreturn static void become_child(int fd, pid_t parent, unsigned seconds,
                                   double (*compute)(const void *), const void *user) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(EXIT_FAILURE);
  limit_this_process(seconds);
  const double value = compute(user);
  const ssize_t written = write(fd, &value, sizeof value);
  _exit(written == sizeof value ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* A double fits into a pipe whole, so it comes whole or not at all. */
static double receive(int fd) {
  double value;
  ssize_t got;
  do
    got = read(fd, &value, sizeof value);
  while (got < 0 && errno == EINTR);
  return got == sizeof value ? value : NAN;
}

double bench_limited(unsigned seconds, double (*compute)(const void *user),
                     const void *user) {
  int ends[2];
  if (pipe(ends) != 0)
    return NAN;
  fflush(NULL); /* should the computation print something, only that is printed */
  const pid_t parent = getpid(), pid = fork();
  if (pid == 0) {
    close(ends[0]);
    become_child(ends[1], parent, seconds, compute, user);
  }
  close(ends[1]);
  const double value = pid > 0 ? receive(ends[0]) : NAN;
  close(ends[0]);
  while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
    continue;
  return value;
}
