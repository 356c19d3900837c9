/* pool.c - worker processes, one socket each. The parent polls, hands out the next
 * task to whoever is free, and ends all of them when one fails or a signal comes. */
#include "pool.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/status.h"
#include "common/clock.h"

/* Down the socket goes a task number; up comes a header and `size` bytes. */
enum { STEPS = 1, DONE = 2, FAILED = 3 };

typedef struct header {
  uint32_t kind;
  uint32_t steps; /* since the last header */
  uint64_t size;  /* of the result (DONE) or the sentence (FAILED) behind it */
} header;

/* ---- the worker's side ---------------------------------------------------------- */

struct bench_link {
  int fd;
  uint32_t steps; /* not sent yet */
  double sent;    /* when the last header went */
};

/* Sending fails only when the parent is gone, and then there is nobody to tell: SIGPIPE
 * ends the worker. */
static void send_up(const void *bytes, size_t size, int fd) {
  const char *rest = bytes;
  while (size > 0) {
    const ssize_t written = write(fd, rest, size);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      exit(EXIT_FAILURE);
    rest += written;
    size -= (size_t)written;
  }
}

static void report(bench_link *link, uint32_t kind, const void *bytes, size_t size) {
  const header h = {.kind = kind, .steps = link->steps, .size = size};
  send_up(&h, sizeof h, link->fd);
  send_up(bytes, size, link->fd);
  link->steps = 0;
  link->sent = front_now();
}

void bench_link_step(bench_link *link) {
  link->steps++;
  if (front_now() - link->sent > 0.05)
    report(link, STEPS, NULL, 0);
}

static void do_task(const bench_tasks *tasks, size_t i, bench_link *link) {
  front_buffer out = {0};
  cocabo_error err;
  if (tasks->work(tasks->user, i, link, &out, &err) == COCABO_OK)
    report(link, DONE, out.data, out.size);
  else
    report(link, FAILED, err.message, strlen(err.message));
  front_buffer_free(&out);
}

static void serve(const bench_tasks *tasks, int fd) {
  bench_link link = {.fd = fd};
  uint64_t i;
  while (recv(fd, &i, sizeof i, MSG_WAITALL) == sizeof i)
    do_task(tasks, (size_t)i, &link);
}

/* ---- the parent's side ---------------------------------------------------------- */

static const size_t idle = SIZE_MAX;

typedef struct worker {
  pid_t pid;
  int fd;
  size_t task; /* or idle */
  front_buffer inbox;
} worker;

typedef struct pool {
  const bench_tasks *tasks;
  int n; /* workers */
  worker workers[BENCH_MAX_JOBS];
  size_t next, done; /* tasks: the next to hand out, how many are done */
  int64_t steps;     /* since the last tick */
} pool;

static volatile sig_atomic_t caught;

int bench_pool_signal(void) {
  return caught;
}

static void on_signal(int number) {
  caught = number;
}

static void catch_signals(struct sigaction old[2]) {
  struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: poll returns */
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, &old[0]);
  sigaction(SIGTERM, &action, &old[1]);
}

static void restore_signals(const struct sigaction old[2]) {
  sigaction(SIGINT, &old[0], NULL);
  sigaction(SIGTERM, &old[1], NULL);
}

/* Ctrl-C reaches the whole process group; the parent decides what it means. The other
 * workers' sockets are closed, so that each sees its parent's end and nobody else's. */
_Noreturn static void become_worker(const pool *p, int fd) {
  signal(SIGINT, SIG_IGN);
  signal(SIGTERM, SIG_DFL);
  for (int k = 0; k < p->n; k++)
    close(p->workers[k].fd);
  serve(p->tasks, fd);
  exit(EXIT_SUCCESS);
}

static cocabo_status start_worker(pool *p, cocabo_error *err) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
    return cb_fail(err, COCABO_E_STORE, "cannot start a worker: %s", strerror(errno));
  fflush(NULL); /* or the child would print it again */
  const pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    become_worker(p, ends[1]);
  }
  close(ends[1]);
  if (pid < 0) {
    close(ends[0]);
    return cb_fail(err, COCABO_E_STORE, "cannot start a worker: %s", strerror(errno));
  }
  p->workers[p->n++] = (worker){.pid = pid, .fd = ends[0], .task = idle};
  return COCABO_OK;
}

static void hand_out(pool *p, worker *w) {
  w->task = idle;
  if (p->next == p->tasks->n)
    return;
  w->task = p->next++;
  const uint64_t i = w->task;
  /* If the worker is gone, its socket says so at the next poll. */
  (void)send(w->fd, &i, sizeof i, MSG_NOSIGNAL);
}

static cocabo_status start_workers(pool *p, int jobs, cocabo_error *err) {
  while (p->n < jobs && (size_t)p->n < p->tasks->n) {
    CB_TRY(start_worker(p, err));
    hand_out(p, &p->workers[p->n - 1]);
  }
  return COCABO_OK;
}

static cocabo_status fail_task(const pool *p, const worker *w, const char *sentence,
                               cocabo_error *err) {
  char name[128] = "a worker";
  if (w->task != idle)
    p->tasks->describe(p->tasks->user, w->task, name, sizeof name);
  return cb_fail(err, COCABO_E_STORE, "%s: %s", name, sentence);
}

static cocabo_status reap_worker(const pool *p, worker *w, cocabo_error *err) {
  int status = 0;
  waitpid(w->pid, &status, 0);
  w->pid = -1;
  char sentence[64];
  if (WIFSIGNALED(status))
    snprintf(sentence, sizeof sentence, "its process was ended by signal %d",
             WTERMSIG(status));
  else
    snprintf(sentence, sizeof sentence, "its process ended with status %d",
             WEXITSTATUS(status));
  return fail_task(p, w, sentence, err);
}

static cocabo_status take_message(pool *p, worker *w, const header *h,
                                  const char *bytes, cocabo_error *err) {
  p->steps += h->steps;
  if (h->kind == STEPS)
    return COCABO_OK;
  if (h->kind == FAILED) {
    char sentence[sizeof err->message];
    snprintf(sentence, sizeof sentence, "%.*s", (int)h->size, bytes);
    return fail_task(p, w, sentence, err);
  }
  CB_TRY(p->tasks->done(p->tasks->user, w->task, bytes, h->size, err));
  p->done++;
  hand_out(p, w);
  return COCABO_OK;
}

static cocabo_status take_messages(pool *p, worker *w, cocabo_error *err) {
  header h;
  while (w->inbox.size >= sizeof h) {
    memcpy(&h, w->inbox.data, sizeof h);
    if (w->inbox.size - sizeof h < h.size)
      break;
    CB_TRY(take_message(p, w, &h, w->inbox.data + sizeof h, err));
    front_buffer_consume(&w->inbox, sizeof h + h.size);
  }
  return COCABO_OK;
}

static cocabo_status receive(pool *p, worker *w, cocabo_error *err) {
  char piece[1 << 16];
  const ssize_t size = recv(w->fd, piece, sizeof piece, 0);
  if (size < 0 && errno == EINTR)
    return COCABO_OK;
  if (size <= 0)
    return reap_worker(p, w, err);
  CB_TRY(front_buffer_append(&w->inbox, piece, (size_t)size, err));
  return take_messages(p, w, err);
}

static cocabo_status receive_from_all(pool *p, cocabo_error *err) {
  struct pollfd ready[BENCH_MAX_JOBS];
  for (int k = 0; k < p->n; k++)
    ready[k] = (struct pollfd){.fd = p->workers[k].fd, .events = POLLIN};
  if (poll(ready, (nfds_t)p->n, 100) <= 0) /* milliseconds */
    return COCABO_OK;
  for (int k = 0; k < p->n; k++)
    if (ready[k].revents)
      CB_TRY(receive(p, &p->workers[k], err));
  return COCABO_OK;
}

static cocabo_status supervise(pool *p, int jobs, cocabo_error *err) {
  CB_TRY(start_workers(p, jobs, err));
  while (p->done < p->tasks->n) {
    if (caught)
      return cb_fail(err, COCABO_E_INTERRUPTED, "interrupted");
    CB_TRY(receive_from_all(p, err));
    p->tasks->tick(p->tasks->user, p->steps);
    p->steps = 0;
  }
  return COCABO_OK;
}

/* With its socket closed an idle worker ends by itself; a busy one is killed, since it
 * holds nothing but its unfinished run. */
static void stop_workers(pool *p) {
  for (int k = 0; k < p->n; k++) {
    worker *w = &p->workers[k];
    close(w->fd);
    if (w->pid > 0 && w->task != idle)
      kill(w->pid, SIGKILL);
    front_buffer_free(&w->inbox);
  }
  for (int k = 0; k < p->n; k++)
    if (p->workers[k].pid > 0)
      waitpid(p->workers[k].pid, NULL, 0);
}

cocabo_status bench_pool_run(const bench_tasks *tasks, int jobs, cocabo_error *err) {
  pool p = {.tasks = tasks};
  struct sigaction old[2];
  catch_signals(old);
  const cocabo_status status = supervise(&p, jobs, err);
  stop_workers(&p);
  restore_signals(old);
  return status;
}
