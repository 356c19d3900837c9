/* guard.c - the guard process: forked before any trial runs, it makes a folder and
 * removes it when its socket closes. */
#define _GNU_SOURCE /* nftw */
#include "run/guard.h"

#include <errno.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/base.h"
#include "run/files.h"

/* What comes up first. */
typedef struct hello {
  int why; /* there is no folder: an errno; 0: there is */
  char folder[CLI_FOLDER_SIZE];
} hello;

/* ---- the guard's side ----------------------------------------------------------- */

static int remove_entry(const char *path, const struct stat *info, int kind,
                        struct FTW *where) {
  (void)info, (void)kind, (void)where;
  remove(path);
  return 0;
}

static void remove_folder(const char *path) {
  enum { OPEN_FOLDERS = 8 };
  nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

/* Only its parent's end is a reason to end. */
static void ignore_signals(void) {
  setsid();
  const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGPIPE};
  for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
    signal(ignored[i], SIG_IGN);
  prctl(PR_SET_NAME, "cocabo-guard");
}

static int make_folder(char *folder, size_t size) {
  const char *base = getenv("TMPDIR");
  if (!base || base[0] != '/')
    base = "/tmp";
  if ((size_t)snprintf(folder, size, "%s/cocabo-XXXXXX", base) >= size)
    return ENAMETOOLONG;
  return mkdtemp(folder) ? 0 : errno;
}

/* The folder is made by whoever removes it: there is no moment at which the parent's
 * death would leave it behind. */
_Noreturn static void stand_guard(int fd) {
  ignore_signals();
  cli_keep_files(&fd, 1);
  hello h = {0};
  h.why = make_folder(h.folder, sizeof h.folder);
  send(fd, &h, sizeof h, MSG_NOSIGNAL);
  char nothing;
  while (recv(fd, &nothing, 1, 0) < 0 && errno == EINTR)
    continue;
  if (!h.why)
    remove_folder(h.folder);
  _exit(EXIT_SUCCESS);
}

/* ---- the parent's side ---------------------------------------------------------- */

static cocabo_status fork_guard(cli_guard *guard, cocabo_error *err) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
    return cb_fail(err, COCABO_E_STORE, "cannot make a socket: %s", strerror(errno));
  guard->pid = fork();
  if (guard->pid == 0) {
    close(ends[1]);
    stand_guard(ends[0]);
  }
  const int why = errno;
  close(ends[0]);
  guard->fd = ends[1];
  if (guard->pid < 0)
    return cb_fail(err, COCABO_E_STORE, "cannot start a process: %s", strerror(why));
  return COCABO_OK;
}

/* *died: somebody has killed it before it could say anything. */
static cocabo_status await_hello(cli_guard *guard, bool *died, cocabo_error *err) {
  hello h = {.why = ECHILD};
  ssize_t got;
  do
    got = recv(guard->fd, &h, sizeof h, 0);
  while (got < 0 && errno == EINTR);
  *died = got != sizeof h;
  if (*died || h.why)
    return cb_fail(err, COCABO_E_STORE,
                   "cannot make a temporary folder (TMPDIR says where): %s",
                   strerror(h.why));
  memcpy(guard->folder, h.folder, sizeof guard->folder);
  return COCABO_OK;
}

cocabo_status cli_guard_start(cli_guard *guard, cocabo_error *err) {
  enum { TRIES = 3 };
  cocabo_status status = COCABO_OK;
  bool died = true;
  for (int i = 0; i < TRIES && died; i++) {
    *guard = (cli_guard){.fd = -1, .pid = -1};
    died = false;
    status = fork_guard(guard, err);
    if (status == COCABO_OK)
      status = await_hello(guard, &died, err);
    if (status != COCABO_OK)
      cli_guard_stop(guard);
  }
  return status;
}

void cli_guard_stop(cli_guard *guard) {
  if (guard->fd >= 0)
    close(guard->fd);
  if (guard->pid > 0)
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
      continue;
  if (guard->folder[0])
    remove_folder(guard->folder); /* in case that somebody killed the guard */
  *guard = (cli_guard){.fd = -1, .pid = -1};
}
