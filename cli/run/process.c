/* process.c - starts a child process in a session of its own, reads its output without
 * blocking, and ends its whole group, first with TERM and then with KILL. */
#define _GNU_SOURCE /* pipe2, environ */
#include "run/process.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base.h"

/* Seconds from TERM to KILL, and from the child's exit to not waiting for whoever has
 * its pipes. */
static const double term_grace = 5.0, pipe_grace = 0.5;

/* ---- starting ------------------------------------------------------------------- */

typedef struct pipes {
  int out[2], err[2];
  int news[2]; /* says why exec failed, or closes when it succeeds */
} pipes;

static void close_file(int *fd) {
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

static void close_pipes(pipes *p) {
  int *const all[] = {p->out, p->err, p->news};
  for (int i = 0; i < 3; i++) {
    close_file(&all[i][0]);
    close_file(&all[i][1]);
  }
}

static cocabo_status open_pipes(pipes *p, cocabo_error *err) {
  *p = (pipes){{-1, -1}, {-1, -1}, {-1, -1}};
  int *const all[] = {p->out, p->err, p->news};
  for (int i = 0; i < 3; i++)
    if (pipe2(all[i], O_CLOEXEC) != 0) {
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
  const int null = open("/dev/null", O_RDONLY);
  dup2(null, STDIN_FILENO);
  dup2(p->out[1], STDOUT_FILENO);
  dup2(p->err[1], STDERR_FILENO);
  if (null > STDERR_FILENO)
    close(null);
}

/* From here to exec only what is safe in the child of a process with threads. Signals
 * are blocked until the handlers, which are the parent's, are gone: exec resets them.
 */
_Noreturn static void become_program(const cli_start *start, const pipes *p,
                                     char **for_shell, pid_t parent) {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) /* it died before that line */
    _exit(EXIT_FAILURE);
  cli_guard_enter(start->guard);
  connect_files(p);
  const int ours[] = {SIGINT, SIGTERM, SIGUSR1, SIGCHLD, SIGPIPE};
  for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
    signal(ours[i], SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  execute(start, for_shell);
  const int why = errno;
  const ssize_t sent = write(p->news[1], &why, sizeof why);
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

static pid_t fork_program(const cli_start *start, const pipes *p, char **for_shell) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const pid_t parent = getpid(), pid = fork();
  if (pid == 0)
    become_program(start, p, for_shell, parent);
  const int why = errno;
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  errno = why;
  return pid;
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

static cocabo_status launch(const cli_start *start, pipes *p, pid_t *pid,
                            cocabo_error *err) {
  char **for_shell = shell_arguments(start);
  if (!for_shell)
    return cb_no_memory(err);
  *pid = fork_program(start, p, for_shell);
  const int fork_error = *pid < 0 ? errno : 0;
  cb_free(for_shell);
  close_file(&p->news[1]);
  if (fork_error)
    return cb_fail(err, COCABO_E_STORE, "cannot start a process: %s",
                   strerror(fork_error));
  const int why = exec_error(p->news[0]);
  if (!why)
    return COCABO_OK;
  cli_guard_leave(start->guard, *pid);
  waitpid(*pid, NULL, 0);
  return cb_fail(err, COCABO_E_NOT_FOUND, "cannot start %s: %s", start->argv[0],
                 strerror(why));
}

/* Everything but the large texts, which clear themselves. */
static void reset(cli_process *process) {
  process->pid = 0;
  process->out = process->err = process->logs[0] = process->logs[1] = -1;
  process->log_short = process->exited = false;
  process->stop = CLI_RUNS_ON;
  process->kill_at = process->give_up_at = INFINITY;
  process->status = 0;
  process->tail.total = 0;
  cli_last_line_clear(&process->line);
}

static void close_logs(int logs[2]) {
  close_file(&logs[0]);
  close_file(&logs[1]);
}

cocabo_status cli_process_start(cli_process *process, const cli_start *start,
                                cocabo_error *err) {
  reset(process);
  int logs[2] = {start->logs[0], start->logs[1]};
  pipes p;
  pid_t pid = 0;
  cocabo_status status = open_pipes(&p, err);
  if (status == COCABO_OK)
    status = launch(start, &p, &pid, err);
  if (status != COCABO_OK) {
    close_pipes(&p);
    close_logs(logs);
    return status;
  }
  process->pid = pid;
  process->out = p.out[0];
  process->err = p.err[0];
  memcpy(process->logs, logs, sizeof logs);
  p.out[0] = p.err[0] = -1;
  close_pipes(&p);
  return COCABO_OK;
}

/* ---- reading -------------------------------------------------------------------- */

int cli_process_files(const cli_process *process, struct pollfd *files) {
  int n = 0;
  if (process->out >= 0)
    files[n++] = (struct pollfd){.fd = process->out, .events = POLLIN};
  if (process->err >= 0)
    files[n++] = (struct pollfd){.fd = process->err, .events = POLLIN};
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
    cli_last_line_feed(&process->line, bytes, size);
  else
    cli_tail_feed(&process->tail, bytes, size);
  copy_to_log(process, which, bytes, size);
}

void cli_process_read(cli_process *process, int fd) {
  const int which = fd == process->err;
  char piece[1 << 16];
  /* Not until it is empty: one that writes without end must not starve the others. */
  for (int i = 0; i < 16; i++) {
    const ssize_t size = read(fd, piece, sizeof piece);
    if (size > 0)
      take(process, which, piece, (size_t)size);
    else if (size < 0 && errno == EINTR)
      continue;
    else if (size < 0 && errno == EAGAIN)
      return;
    else {
      close_file(which ? &process->err : &process->out);
      return;
    }
  }
}

/* ---- ending --------------------------------------------------------------------- */

void cli_process_stop(cli_process *process, cli_stop why, double now) {
  if (process->stop != CLI_RUNS_ON)
    return;
  process->stop = why;
  process->kill_at = now + term_grace;
  kill(-process->pid, SIGTERM);
  kill(-process->pid, SIGCONT); /* one that is stopped hears nothing else */
}

/* Without taking its number back, which keeps the group's number ours. */
static void notice_exit(cli_process *process, double now) {
  siginfo_t info = {0};
  if (process->exited ||
      waitid(P_PID, (id_t)process->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
      info.si_pid == 0)
    return;
  process->exited = true;
  process->give_up_at = now + pipe_grace;
}

/* What was written before the end is in the pipes, and nothing else is coming. */
static void drain(cli_process *process) {
  struct pollfd files[2];
  const int n = cli_process_files(process, files);
  for (int i = 0; i < n; i++)
    cli_process_read(process, files[i].fd);
  close_file(&process->out);
  close_file(&process->err);
}

void cli_process_kill(cli_process *process, const cli_guard *guard) {
  kill(-process->pid, SIGKILL);
  cli_guard_leave(guard, process->pid);
  while (waitpid(process->pid, &process->status, 0) < 0 && errno == EINTR)
    continue;
  process->pid = 0;
  drain(process);
  close_logs(process->logs);
}

bool cli_process_tick(cli_process *process, const cli_guard *guard, double now) {
  notice_exit(process, now);
  if (!process->exited && now >= process->kill_at) {
    kill(-process->pid, SIGKILL);
    process->kill_at = INFINITY;
  }
  const bool silent = process->out < 0 && process->err < 0;
  if (!process->exited || (!silent && now < process->give_up_at))
    return false;
  cli_process_kill(process, guard);
  return true;
}

double cli_process_deadline(const cli_process *process) {
  return process->exited ? process->give_up_at : process->kill_at;
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
