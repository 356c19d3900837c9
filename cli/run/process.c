/* process.c - starts a program under a keeper, reads its output without blocking, and
 * ends it with everything it started, first with TERM and then with KILL. */
#define _GNU_SOURCE /* pipe2, environ */
#include "run/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base.h"
#include "common/clock.h"
#include "run/family.h"
#include "run/keeper.h"

/* Seconds from TERM to KILL, and between two looks at who is left. */
static const double term_grace = 5.0, look_pause = 0.01;

/* ---- starting ------------------------------------------------------------------- */

typedef struct pipes {
  int out[2], err[2];
  int news[2]; /* says why exec failed, or closes when it succeeds */
  int line[2]; /* to the keeper */
} pipes;

/* What the program's process needs to know. */
typedef struct launch {
  const cli_start *start;
  const pipes *p;
  char **for_shell;
} launch;

static void close_file(int *fd) {
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

static void close_pipes(pipes *p) {
  int *const all[] = {p->out, p->err, p->news, p->line};
  for (int i = 0; i < 4; i++) {
    close_file(&all[i][0]);
    close_file(&all[i][1]);
  }
}

static cocabo_status open_pipes(pipes *p, cocabo_error *err) {
  *p = (pipes){{-1, -1}, {-1, -1}, {-1, -1}, {-1, -1}};
  if (pipe2(p->out, O_CLOEXEC) != 0 || pipe2(p->err, O_CLOEXEC) != 0 ||
      pipe2(p->news, O_CLOEXEC) != 0 ||
      socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->line) != 0) {
    const int why = errno;
    close_pipes(p);
    return cb_fail(err, COCABO_E_STORE, "cannot make a pipe: %s", strerror(why));
  }
  fcntl(p->out[0], F_SETFL, O_NONBLOCK);
  fcntl(p->err[0], F_SETFL, O_NONBLOCK);
  return COCABO_OK;
}

/* A text file without "#!" is a shell script, as for execvp. Its argument list was made
 * beforehand: between fork and exec of a process with threads there is no malloc. */
static void execute(const cli_start *start, char **for_shell) {
  execve(start->path, start->argv, start->envp);
  if (errno == ENOEXEC)
    execve(for_shell[0], for_shell, start->envp);
}

static void connect_files(const pipes *p) {
  close(STDIN_FILENO); /* the lowest number is then the next to be given */
  (void)open("/dev/null", O_RDONLY);
  dup2(p->out[1], STDOUT_FILENO);
  dup2(p->err[1], STDERR_FILENO);
}

/* A group that does not take us leaves the memory to the kernel's other limit. */
static void obey(const cli_start *start) {
  const bool grouped = start->cell && cli_cell_enter(start->cell);
  if (start->quota)
    cli_quota_apply(start->quota, grouped);
  if (start->cpus)
    cli_cpus_apply(start->cpus);
}

/* From here to exec only what is safe in the child of a process with threads. Signals
 * are blocked until the handlers, which are the parent's, are gone: exec resets them.
 */
static void become_program(void *user, pid_t keeper) {
  const launch *l = user;
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != keeper) /* it died before that line */
    _exit(EXIT_FAILURE);
  connect_files(l->p);
  const int ours[] = {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGPIPE, SIGTSTP, SIGCONT};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    signal(ours[i], SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  obey(l->start);
  execute(l->start, l->for_shell);
  const int why = errno;
  const ssize_t sent = write(l->p->news[1], &why, sizeof why);
  _exit(sent == sizeof why ? 127 : 126);
}

/* {"/bin/sh", path, argv[1], ...}; owned by the caller, its items are borrowed. */
static char **shell_arguments(const cli_start *start) {
  size_t n = 0;
  while (start->argv[n])
    n++;
  char **list = cb_calloc(n + 3, sizeof *list);
  if (!list)
    return NULL;
  list[0] = "/bin/sh";
  list[1] = (char *)start->path;
  for (size_t i = 1; i < n; i++)
    list[i + 1] = start->argv[i];
  return list;
}

static pid_t fork_keeper(launch *l) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const pid_t parent = getpid(), pid = fork();
  if (pid == 0)
    cli_keeper((cli_keeper_files){.line = l->p->line[1],
                                  .out = l->p->out[1],
                                  .err = l->p->err[1],
                                  .other = l->start->guard->fd},
               parent, l->start->quota, become_program, l);
  const int why = errno;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  errno = why;
  return pid;
}

/* Waits for the keeper's next word; false: there is none. */
static bool await_news(int line, cli_keeper_news *news) {
  ssize_t got;
  do
    got = recv(line, news, sizeof *news, 0);
  while (got < 0 && errno == EINTR);
  return got == sizeof *news;
}

/* Waits until the child is the program; then its session exists too. */
static int exec_error(int fd) {
  int why = 0;
  ssize_t got;
  do
    got = read(fd, &why, sizeof why);
  while (got < 0 && errno == EINTR);
  return got == sizeof why ? why : 0;
}

/* The numbers of the program and its keeper, once it is the program. */
static cocabo_status await_start(const cli_start *start, pipes *p, pid_t keeper,
                                 cli_keeper_news *out, cocabo_error *err) {
  cli_keeper_news news = {.status = ECHILD};
  const bool forked = await_news(p->line[0], &news) && news.word == CLI_STARTED;
  const int why = forked ? exec_error(p->news[0]) : news.status;
  *out = news;
  if (forked && !why)
    return COCABO_OK;
  close_file(&p->line[0]); /* the keeper ends */
  while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
    continue;
  return forked ? cb_fail(err, COCABO_E_NOT_FOUND, "cannot start %s: %s",
                          start->argv[0], strerror(why))
                : cb_fail(err, COCABO_E_STORE, "cannot start a process: %s",
                          strerror(why));
}

static cocabo_status start_keeper(const cli_start *start, pipes *p, pid_t *keeper,
                                  cli_keeper_news *started, cocabo_error *err) {
  launch l = {start, p, shell_arguments(start)};
  if (!l.for_shell)
    return cb_no_memory(err);
  *keeper = fork_keeper(&l);
  const int fork_error = *keeper < 0 ? errno : 0;
  cb_free(l.for_shell);
  close_file(&p->news[1]);
  close_file(&p->line[1]);
  if (fork_error)
    return cb_fail(err, COCABO_E_STORE, "cannot start a process: %s",
                   strerror(fork_error));
  return await_start(start, p, *keeper, started, err);
}

/* Everything but the large texts, which clear themselves. */
static void reset(cli_process *process) {
  process->pid = process->keeper = 0;
  process->out = process->err = process->line = -1;
  process->logs[0] = process->logs[1] = -1;
  process->log_short = process->exited = process->ending = false;
  process->settled = false;
  process->unread[0] = process->unread[1] = SIZE_MAX;
  process->read_at = 0.0;
  process->stop = CLI_RUNS_ON;
  process->kill_at = process->look_at = INFINITY;
  process->status = 0;
  process->seconds = 0.0;
  process->cost = (cli_cost){0};
  process->quota = (cli_quota){0};
  process->exceeded = -1;
  process->used = NAN;
  process->tail.total = 0;
  cli_last_line_clear(&process->last);
}

static void close_logs(int logs[2]) {
  close_file(&logs[0]);
  close_file(&logs[1]);
}

cocabo_status cli_process_start(cli_process *process, const cli_start *start,
                                cocabo_error *err) {
  reset(process);
  process->matches = (cli_matches){.patterns = start->patterns};
  if (start->quota)
    process->quota = *start->quota;
  process->last.take = cli_matches_take;
  process->last.user = &process->matches;
  int logs[2] = {start->logs[0], start->logs[1]};
  pipes p;
  pid_t keeper = 0;
  cli_keeper_news started = {0};
  cocabo_status status = open_pipes(&p, err);
  if (status == COCABO_OK)
    status = start_keeper(start, &p, &keeper, &started, err);
  if (status != COCABO_OK) {
    close_pipes(&p);
    close_logs(logs);
    return status;
  }
  process->pid = started.pid;
  process->started = started.at;
  process->keeper = keeper;
  process->out = p.out[0];
  process->err = p.err[0];
  process->line = p.line[0];
  memcpy(process->logs, logs, sizeof logs);
  p.out[0] = p.err[0] = p.line[0] = -1;
  close_pipes(&p);
  return COCABO_OK;
}

/* ---- reading -------------------------------------------------------------------- */

int cli_process_files(const cli_process *process, struct pollfd *files) {
  int n = 0;
  if (process->out >= 0 && !process->settled)
    files[n++] = (struct pollfd){.fd = process->out, .events = POLLIN};
  if (process->err >= 0 && !process->settled)
    files[n++] = (struct pollfd){.fd = process->err, .events = POLLIN};
  if (process->line >= 0)
    files[n++] = (struct pollfd){.fd = process->line, .events = POLLIN};
  return n;
}

static void copy_to_log(cli_process *process, int which, const char *bytes,
                        size_t size) {
  while (size > 0 && process->logs[which] >= 0) {
    const ssize_t written = write(process->logs[which], bytes, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0) { /* a full disk: the trial matters more than its log */
      process->log_short = true;
      return;
    }
    bytes += written;
    size -= (size_t)written;
  }
}

static void take(cli_process *process, int which, const char *bytes, size_t size) {
  if (which == 0)
    cli_last_line_feed(&process->last, bytes, size);
  else
    cli_tail_feed(&process->tail, bytes, size);
  copy_to_log(process, which, bytes, size);
}

/* One piece, as much as is wanted of it; false: there is no more for now. */
static bool read_piece(cli_process *process, int which) {
  char piece[1 << 16];
  int *fd = which ? &process->err : &process->out;
  size_t *unread = &process->unread[which];
  const size_t most = *unread < sizeof piece ? *unread : sizeof piece;
  const ssize_t size = *fd >= 0 && most > 0 ? read(*fd, piece, most) : 0;
  if (size > 0) {
    take(process, which, piece, (size_t)size);
    *unread -= *unread < SIZE_MAX ? (size_t)size : 0;
  } else if (size == 0 || (errno != EINTR && errno != EAGAIN)) {
    close_file(fd);
  }
  return size > 0 || (size < 0 && errno == EINTR);
}

/* ---- the keeper ----------------------------------------------------------------- */

/* The keeper is gone. If somebody killed it, the program went with it. */
static void part(cli_process *process) {
  close_file(&process->line);
  while (waitpid(process->keeper, NULL, 0) < 0 && errno == EINTR)
    continue;
  if (!process->exited) {
    kill(-process->pid, SIGKILL);
    process->status = SIGKILL;
    process->exited = true;
  }
}

static void note(cli_process *process, const cli_keeper_news *news) {
  if (news->word == CLI_OVER) {
    process->exited = true;
    process->status = news->status;
    process->seconds = news->at - process->started;
    process->cost = news->cost;
    process->look_at = 0.0;
  } else if (news->word == CLI_EXCEEDED) {
    process->exceeded = (int)news->kind;
    process->used = news->used;
  } else if (news->word == CLI_SETTLED) {
    process->settled = true;
    process->look_at = 0.0;
    for (int i = 0; i < 2 && process->read_at < news->at; i++)
      process->unread[i] = (size_t)news->unread[i];
  }
}

/* Hears what the keeper has to say. */
static void hear(cli_process *process) {
  while (process->line >= 0) {
    cli_keeper_news news;
    const ssize_t got = recv(process->line, &news, sizeof news, MSG_DONTWAIT);
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0 && errno == EAGAIN)
      return;
    if (got == sizeof news)
      note(process, &news);
    else
      part(process);
  }
}

/* Somebody may have stopped it. */
static void order(cli_process *process, cli_keeper_order what) {
  const char letter = (char)what;
  kill(process->keeper, SIGCONT);
  while (send(process->line, &letter, 1, MSG_NOSIGNAL) < 0 && errno == EINTR)
    continue;
  process->ending = true;
}

/* Output that has settled is left to cli_process_tick, which knows how much there is.
 */
void cli_process_read(cli_process *process, int fd) {
  hear(process);
  if (process->settled || (fd != process->out && fd != process->err))
    return;
  const int which = fd == process->err;
  /* Not until it is empty: one that writes without end must not starve the others. */
  for (int i = 0; i < 16 && read_piece(process, which); i++)
    process->read_at = front_now();
}

/* ---- ending --------------------------------------------------------------------- */

/* Reads what is in the pipes, or what of it is the program's. */
static void drain(cli_process *process) {
  for (int which = 0; which < 2; which++)
    for (int i = 0; i < 64 && read_piece(process, which); i++)
      continue;
  close_file(&process->out);
  close_file(&process->err);
}

/* One that is over already is not stopped, however late we come to look. */
void cli_process_stop(cli_process *process, cli_stop why, double now) {
  hear(process);
  if (process->stop != CLI_RUNS_ON || process->exited)
    return;
  process->stop = why;
  process->kill_at = now + term_grace;
  cli_family_signal(process->keeper, SIGTERM);
  cli_family_signal(process->keeper, SIGCONT); /* the stopped hear nothing else */
  kill(process->keeper, SIGCONT);
}

void cli_process_suspend(const cli_process *process, bool suspend) {
  if (process->line >= 0)
    cli_family_signal(process->keeper, suspend ? SIGSTOP : SIGCONT);
}

void cli_process_postpone(cli_process *process, double seconds) {
  process->kill_at += seconds;
  process->started += seconds;
}

void cli_process_kill(cli_process *process) {
  if (process->line >= 0 && !process->ending)
    order(process, CLI_END_ALL);
  cli_keeper_news news;
  while (process->line >= 0)
    if (await_news(process->line, &news))
      note(process, &news);
    else
      part(process);
  drain(process);
  close_logs(process->logs);
}

/* The program was to stop and has; its descendants have the rest of the grace. */
static void look_after_the_stopped(cli_process *process, double now) {
  if (now < process->kill_at && cli_family_look(process->keeper).alive > 0)
    return;
  drain(process);
  order(process, CLI_END_ALL);
}

bool cli_process_tick(cli_process *process, double now) {
  hear(process);
  if (process->line < 0) {
    cli_process_kill(process); /* nobody: only the files are left */
    return true;
  }
  if (process->ending)
    return false;
  if (!process->exited) {
    if (now >= process->kill_at)
      order(process, CLI_END_ALL);
  } else if (process->stop != CLI_RUNS_ON) {
    look_after_the_stopped(process, now);
    process->look_at = now + look_pause;
  } else if (process->settled) {
    drain(process);
    order(process, CLI_END_GROUP);
  }
  return false;
}

double cli_process_deadline(const cli_process *process) {
  if (process->ending)
    return INFINITY;
  if (!process->exited)
    return process->kill_at;
  return process->stop != CLI_RUNS_ON || process->settled ? process->look_at : INFINITY;
}

/* ---- finding -------------------------------------------------------------------- */

static bool is_executable(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISREG(info.st_mode) && access(path, X_OK) == 0;
}

static cocabo_status check_path(const char *command, cocabo_error *err) {
  struct stat info;
  if (stat(command, &info) != 0)
    return cb_fail(err, COCABO_E_NOT_FOUND, "command \"%s\": %s", command,
                   strerror(errno));
  if (!is_executable(command))
    return cb_fail(err, COCABO_E_NOT_FOUND, "command \"%s\" is not %s", command,
                   S_ISREG(info.st_mode) ? "executable, chmod +x makes it so"
                                         : "a program");
  return COCABO_OK;
}

/* As the shell does it; an empty item of PATH is the working directory. */
static bool search_path(const char *command, char *path, size_t size) {
  const char *rest = getenv("PATH");
  if (!rest)
    rest = "/usr/local/bin:/bin:/usr/bin";
  for (;;) {
    const size_t n = strcspn(rest, ":");
    const int length =
        snprintf(path, size, "%.*s%s%s", (int)n, rest, n ? "/" : "./", command);
    if (length > 0 && (size_t)length < size && is_executable(path))
      return true;
    if (!rest[n])
      return false;
    rest += n + 1;
  }
}

cocabo_status cli_find_program(const char *command, char *path, size_t size,
                               cocabo_error *err) {
  if (strchr(command, '/')) {
    if (strlen(command) >= size)
      return cb_fail(err, COCABO_E_NOT_FOUND, "the command's path is too long");
    strcpy(path, command);
    return check_path(command, err);
  }
  if (*command && search_path(command, path, size))
    return COCABO_OK;
  return cb_fail(err, COCABO_E_NOT_FOUND, "command not found: \"%s\"%s%s%s", command,
                 is_executable(command) ? ", did you mean ./" : "",
                 is_executable(command) ? command : "",
                 is_executable(command) ? "?" : "");
}
