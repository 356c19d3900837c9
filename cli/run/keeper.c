/* keeper.c - starts the program, reaps whatever it leaves behind, says when it is over,
 * and ends its group or all its descendants. */
#define _GNU_SOURCE /* syscall */
#include "run/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "run/family.h"
#include "run/files.h"

/* Seconds: how much work those may do who pass the program's output on, and the time
 * between two looks at them; how long to wait for them, and for those who were killed.
 * One that hangs in the kernel, or belongs to another user, is not waited for for ever.
 */
static const double settling = 0.3, look_pause = 0.005, patience = 5.0;
/* Between two looks at what a program with limits uses; looking takes a twentieth of
 * the time at most. */
static const double watch_pause = 0.05, watch_share = 0.05;

typedef struct keeper {
  int line, signals;
  int pipes[2]; /* of output and error */
  pid_t program;
  bool over, settled; /* it was said */
  double settle_until;
  double seconds; /* of work by its descendants, when it was over */
  cli_cost cost;  /* of those who were reaped */
  cli_quota quota;
  bool watches;
  double watch_at;
} keeper;

/* ---- news ----------------------------------------------------------------------- */

static void say(const keeper *k, cli_keeper_news news) {
  while (send(k->line, &news, sizeof news, MSG_NOSIGNAL) < 0 && errno == EINTR)
    continue;
}

/* ---- output ---------------------------------------------------------------------- */

/* Somebody who waits for room in a full pipe looks idle and is not. */
static bool has_room(const keeper *k) {
  struct pollfd files[2] = {{.fd = k->pipes[0], .events = POLLOUT},
                            {.fd = k->pipes[1], .events = POLLOUT}};
  poll(files, 2, 0);
  return files[0].revents && files[1].revents;
}

static void say_settled(keeper *k) {
  cli_keeper_news news = {.word = CLI_SETTLED};
  ioctl(k->pipes[0], FIONREAD, &news.unread[0]);
  ioctl(k->pipes[1], FIONREAD, &news.unread[1]);
  news.at = front_now();
  say(k, news);
  k->settled = true;
}

/* Where nobody is at work, nothing is on its way. One that is at work for as long as
 * this has work of its own; on a busy machine it may take longer to get there. */
static void settle(keeper *k) {
  const cli_activity before = cli_family_look(getpid());
  const bool room = has_room(k);
  const cli_activity after = cli_family_look(getpid());
  if ((room && cli_family_was_idle(before, after)) ||
      after.seconds - k->seconds >= settling || front_now() >= k->settle_until)
    say_settled(k);
}

/* ---- ends ----------------------------------------------------------------------- */

static int status_of(const siginfo_t *info) {
  return info->si_code == CLD_EXITED   ? (info->si_status & 0xff) << 8
         : info->si_code == CLD_DUMPED ? info->si_status | 0x80
                                       : info->si_status;
}

static double seconds_of(struct timeval t) {
  return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

static void count_cost(cli_cost *cost, const struct rusage *usage) {
  const double rss = 1024.0 * (double)usage->ru_maxrss;
  cost->cpu_seconds += seconds_of(usage->ru_utime) + seconds_of(usage->ru_stime);
  cost->max_rss = rss > cost->max_rss ? rss : cost->max_rss;
}

/* ---- limits ---------------------------------------------------------------------- */

/* Whether such a use exceeds a limit, which is said then. */
static bool find_excess(const keeper *k, cli_use use) {
  double used;
  use.seconds += k->cost.cpu_seconds;
  const int kind = k->watches ? cli_quota_exceeded(&k->quota, &use, &used) : -1;
  if (kind >= 0)
    say(k, (cli_keeper_news){
               .word = CLI_EXCEEDED, .kind = (cli_quota_kind)kind, .used = used});
  return kind >= 0;
}

/* True: a limit is exceeded. */
static bool watch(keeper *k) {
  const double before = front_now();
  if (!k->watches || k->over || before < k->watch_at)
    return false;
  const cli_use use = cli_family_use(getpid(), k->quota.most[CLI_MEM]);
  const double took = front_now() - before, rest = took / watch_share;
  k->watch_at = before + took + (rest > watch_pause ? rest : watch_pause);
  return find_excess(k, use);
}

/* ---- those who have ended -------------------------------------------------------- */

/* The next child that has ended, which is not reaped, and what it and those that it
 * waited for used up. The C library's waitid does not say that. */
static bool find_ended(siginfo_t *info, struct rusage *usage) {
  info->si_pid = 0;
  return syscall(SYS_waitid, P_ALL, 0, info, WEXITED | WNOHANG | WNOWAIT, usage) == 0 &&
         info->si_pid != 0;
}

/* Reaps orphans. The program's number is not given back, so that its group's number
 * stays ours to signal. */
static void look_at_children(keeper *k) {
  siginfo_t info;
  struct rusage usage;
  while (find_ended(&info, &usage)) {
    count_cost(&k->cost, &usage);
    if (info.si_pid == k->program) {
      find_excess(k, (cli_use){0.0, 0.0, 0.0}); /* since the last look */
      say(k, (cli_keeper_news){.word = CLI_OVER,
                               .status = status_of(&info),
                               .at = front_now(),
                               .cost = k->cost});
      k->over = true;
      if (cli_family_is_only(k->program)) { /* nothing is left to keep */
        say_settled(k);
        waitpid(k->program, NULL, WNOHANG);
        _exit(EXIT_SUCCESS);
      }
      k->settle_until = front_now() + patience;
      k->seconds = cli_family_look(getpid()).seconds;
      return;
    }
    waitpid(info.si_pid, NULL, WNOHANG);
  }
}

/* Until a child has ended, or a moment is over. */
static void wait_a_moment(const keeper *k) {
  struct pollfd file = {.fd = k->signals, .events = POLLIN};
  struct signalfd_siginfo info;
  poll(&file, 1, 10);
  while (read(k->signals, &info, sizeof info) > 0)
    continue;
}

/* Reaps those of a group (-1: all) that are dead; false: there are no more of it. */
static bool reap(keeper *k, pid_t group) {
  int status;
  pid_t pid;
  while ((pid = waitpid(group, &status, WNOHANG)) > 0)
    if (pid == k->program && !k->over)
      say(k, (cli_keeper_news){.word = CLI_OVER, .status = status});
  return pid == 0;
}

/* Those who left the group live on: they have left the trial. */
_Noreturn static void end_group(keeper *k) {
  const double end = front_now() + patience;
  kill(-k->program, SIGKILL);
  while (reap(k, -k->program) && front_now() < end)
    wait_a_moment(k);
  _exit(EXIT_SUCCESS);
}

/* Whoever is killed leaves children that are ours then, until there are none. */
_Noreturn static void end_all(keeper *k) {
  const double end = front_now() + patience;
  kill(-k->program, SIGKILL);
  cli_family_kill_children();
  while (reap(k, -1) && front_now() < end) {
    wait_a_moment(k);
    cli_family_kill_children();
  }
  _exit(EXIT_SUCCESS);
}

/* ---- the loop ------------------------------------------------------------------- */

/* True: somebody wants it to end. */
static bool hear_signals(keeper *k) {
  struct signalfd_siginfo info;
  bool end = false;
  while (read(k->signals, &info, sizeof info) == sizeof info)
    end |= info.ssi_signo == SIGTERM;
  if (!k->over)
    look_at_children(k);
  return end;
}

static void hear_orders(keeper *k) {
  char order;
  const ssize_t size = recv(k->line, &order, 1, MSG_DONTWAIT);
  if (size < 0 && (errno == EINTR || errno == EAGAIN))
    return;
  if (size == 1 && order == CLI_END_GROUP)
    end_group(k);
  end_all(k);
}

static int milliseconds_to_wait(const keeper *k) {
  if (k->over)
    return k->settled ? -1 : (int)(1000.0 * look_pause);
  const double wait = 1000.0 * (k->watch_at - front_now());
  return !k->watches ? -1 : wait > 0.0 ? (int)wait + 1 : 0;
}

_Noreturn static void keep(keeper *k) {
  for (;;) {
    struct pollfd files[2] = {{.fd = k->signals, .events = POLLIN},
                              {.fd = k->line, .events = POLLIN}};
    if (poll(files, 2, milliseconds_to_wait(k)) < 0)
      continue;
    if (files[0].revents && hear_signals(k))
      end_all(k);
    if (files[1].revents)
      hear_orders(k);
    if (k->over && !k->settled)
      settle(k);
    if (watch(k))
      end_all(k);
  }
}

/* SIGTERM comes when the parent dies; nothing else can, since all signals are blocked
 * and the session is its own. */
static int open_signals(void) {
  sigset_t heard;
  sigemptyset(&heard);
  sigaddset(&heard, SIGCHLD);
  sigaddset(&heard, SIGTERM);
  return signalfd(-1, &heard, SFD_NONBLOCK | SFD_CLOEXEC);
}

static bool is_to_watch(const cli_quota *quota) {
  const double *most = quota->most;
  return most[CLI_MEM] > 0.0 || most[CLI_CPU] > 0.0 || most[CLI_PROCS] > 0.0;
}

_Noreturn void cli_keeper(cli_keeper_files files, pid_t parent, const cli_quota *quota,
                          void (*become_program)(void *user, pid_t keeper),
                          void *user) {
  setsid();
  prctl(PR_SET_NAME, "cocabo-trial");
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent) /* it died before that line */
    _exit(EXIT_FAILURE);
  const pid_t self = getpid();
  keeper k = {.line = files.line, .pipes = {files.out, files.err}, .program = fork()};
  if (k.program == 0)
    become_program(user, self);
  const int why = errno;
  if (quota)
    k.quota = *quota;
  k.watches = is_to_watch(&k.quota);
  cli_keep_files((int[]){files.line, files.out, files.err, files.other}, 4);
  say(&k, (cli_keeper_news){.word = k.program < 0 ? CLI_NOT_STARTED : CLI_STARTED,
                            .pid = k.program,
                            .status = why,
                            .at = front_now()});
  if (k.program < 0)
    _exit(EXIT_FAILURE);
  k.signals = open_signals();
  if (k.signals < 0)
    end_all(&k);
  keep(&k);
}
