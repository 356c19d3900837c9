/* serve.h - cocabo serve as a child of a test: on a file in a folder of its own, at a
 * port that is free. COCABO_PROGRAM in the environment is the program. */
#ifndef CB_TESTS_SERVE_H
#define CB_TESTS_SERVE_H

#include "check.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct served {
  char folder[40], file[64], url[64];
  int port; /* 0: any that is free */
  pid_t process;
} served;

/* Starts it and waits for its first line, which says where it is. False: it did not
 * start, as where it was built without libmicrohttpd. */
static bool serve_start(served *s) {
  char port[16], storage[100], line[400] = "";
  const char *program = getenv("COCABO_PROGRAM");
  int ends[2];
  if (!program || pipe(ends) != 0)
    return false;
  snprintf(port, sizeof port, "%d", s->port);
  snprintf(storage, sizeof storage, "sqlite:///%s", s->file);
  s->process = fork();
  if (s->process == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execl(program, program, "serve", "--allow-store", "--port", port, "--storage",
          storage, (char *)NULL);
    _exit(127);
  }
  close(ends[1]);
  FILE *said = fdopen(ends[0], "r");
  const char *got = said ? fgets(line, sizeof line, said) : NULL;
  const char *at = got ? strstr(line, "http://127.0.0.1:") : NULL;
  if (said)
    fclose(said);
  s->port = at ? atoi(at + strlen("http://127.0.0.1:")) : 0;
  snprintf(s->url, sizeof s->url, "http://127.0.0.1:%d", s->port);
  if (s->port == 0)
    waitpid(s->process, NULL, 0);
  return s->port > 0;
}

static bool serve_begin(served *s) {
  *s = (served){.folder = "/tmp/cocabo-serve-XXXXXX"};
  if (!mkdtemp(s->folder))
    return false;
  snprintf(s->file, sizeof s->file, "%s/s.db", s->folder);
  return serve_start(s);
}

/* With SIGKILL, or so that it ends by itself. */
static int serve_stop(const served *s, int how) {
  int status = 0;
  kill(s->process, how);
  waitpid(s->process, &status, 0);
  return status;
}

static void serve_end(served *s) {
  static const char *const beside[] = {"", "-wal", "-shm"};
  char path[80];
  if (s->port > 0)
    assert_int_equal(serve_stop(s, SIGINT), 0);
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof path, "%s%s", s->file, beside[i]);
    unlink(path);
  }
  rmdir(s->folder);
}

#endif
