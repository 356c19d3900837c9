/* owner.c - see owner.h. */
#include "store/owner.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/status.h"
#include "cocabo.h"
#include "store/clock.h"

enum { HOST = 64, PART = 24 };

/* ---- this process ---------------------------------------------------------------- */

/* No colon, which parts the name, and nothing that could not be printed. */
static void find_host(char out[static HOST]) {
  memset(out, 0, HOST);
  if (gethostname(out, HOST - 1) != 0 || !out[0])
    strcpy(out, "localhost");
  for (char *c = out; *c; c++)
    if (!isalnum((unsigned char)*c) && !strchr("-._", *c))
      *c = '-';
}

static void find_namespace(char out[static PART]) {
  struct stat info;
  out[0] = '\0';
  if (stat("/proc/self/ns/pid", &info) == 0)
    snprintf(out, PART, "%llu", (unsigned long long)info.st_ino);
}

/* What /proc says of a process. */
typedef struct looks {
  char state;
  long threads;
  char start[PART];
} looks;

/*   4711 (a name) with) spaces) S 1 ... threads 0 start ...
 * The state is the 3rd field, threads are the 20th, the start is the 22nd. */
static bool parse_looks(char *line, looks *out) {
  enum { STATE = 3, THREADS = 20, START = 22 };
  char *rest = NULL, *name_end = strrchr(line, ')');
  int field = STATE;
  if (!name_end)
    return false;
  for (char *f = strtok_r(name_end + 1, " ", &rest); f;
       f = strtok_r(NULL, " ", &rest)) {
    if (field == STATE)
      out->state = *f;
    else if (field == THREADS)
      out->threads = strtol(f, NULL, 10);
    else if (field == START)
      return snprintf(out->start, PART, "%s", f) < PART;
    field++;
  }
  return false;
}

static bool look_at(const char *path, looks *out) {
  char line[1024];
  FILE *file = fopen(path, "re");
  const bool read = file && fgets(line, sizeof line, file);
  if (file)
    fclose(file);
  return read && parse_looks(line, out);
}

cocabo_status cocabo_owner_name(char out[COCABO_OWNER_SIZE], cocabo_error *err) {
  char host[HOST], space[PART], boot[CB_BOOT_ID];
  looks self = {0};
  uint64_t chance = 0;
  if (!out)
    return cb_fail(err, COCABO_E_INVALID, "out is NULL");
  if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
    return cb_fail(err, COCABO_E_INTERNAL, "the system gave no random bytes");
  find_host(host);
  find_namespace(space);
  if (!look_at("/proc/self/stat", &self))
    self.start[0] = '\0';
  snprintf(out, COCABO_OWNER_SIZE, "%s:%ld:%016llx:%s:%s:%s", host, (long)getpid(),
           (unsigned long long)chance, self.start, space, cb_clock_boot_id(boot));
  return COCABO_OK;
}

/* ---- others ---------------------------------------------------------------------- */

enum { OF_HOST, OF_PID, OF_CHANCE, OF_START, OF_NAMESPACE, OF_BOOT, N_PARTS };

/* Cuts a name into its parts; false: it is of another form, or a part is empty. */
static bool cut(char *name, char *parts[static N_PARTS]) {
  for (int i = 0; i < N_PARTS; i++) {
    char *end = strchr(name, ':');
    if (!*name || name == end || (end == NULL) != (i == N_PARTS - 1))
      return false;
    parts[i] = name;
    if (end)
      *end = '\0';
    name = end ? end + 1 : name;
  }
  return true;
}

static struct { char host[HOST], space[PART], boot[CB_BOOT_ID]; } here;
static pthread_once_t known = PTHREAD_ONCE_INIT;

static void find_here(void) {
  find_host(here.host);
  find_namespace(here.space);
  cb_clock_boot_id(here.boot);
}

/* A clone of a machine may share the rest, so the host must agree too. */
static bool is_of_here(char *const parts[static N_PARTS]) {
  pthread_once(&known, find_here);
  return strcmp(parts[OF_HOST], here.host) == 0 &&
         strcmp(parts[OF_NAMESPACE], here.space) == 0 &&
         strcmp(parts[OF_BOOT], here.boot) == 0;
}

/* Is /proc that of our pid namespace? In a new one it may still be the old one's. */
static bool proc_is_ours(void) {
  char link[PART] = "", own[PART];
  snprintf(own, sizeof own, "%ld", (long)getpid());
  return readlink("/proc/self", link, sizeof link - 1) > 0 && strcmp(link, own) == 0;
}

/* The signal 0 says whether there is a process also where /proc hides those of others.
 * Whether it is the one that began then, only /proc says. One with the state of a
 * zombie lives as long as it has other threads. */
static bool is_gone(long pid, const char *start) {
  char path[40];
  looks now = {0};
  if (kill((pid_t)pid, 0) != 0 && errno == ESRCH)
    return true;
  snprintf(path, sizeof path, "/proc/%ld/stat", pid);
  if (!proc_is_ours() || !look_at(path, &now))
    return false;
  const bool dead = strchr("ZXx", now.state) && now.threads <= 1;
  return dead || strcmp(now.start, start) != 0;
}

bool cb_owner_is_gone(const char *owner) {
  char name[COCABO_OWNER_SIZE], *parts[N_PARTS], *end = NULL;
  if (snprintf(name, sizeof name, "%s", owner) >= (int)sizeof name || !cut(name, parts))
    return false;
  const long pid = strtol(parts[OF_PID], &end, 10);
  if (*end || pid <= 0 || pid > INT_MAX || !is_of_here(parts))
    return false;
  return is_gone(pid, parts[OF_START]);
}

/* FNV-1a. */
static uint64_t key_of(const char *owner) {
  uint64_t key = 14695981039346656037u;
  for (; *owner; owner++)
    key = (key ^ (unsigned char)*owner) * 1099511628211u;
  return key;
}

bool cb_owners_gone(cb_owners *seen, const char *owner) {
  const uint64_t key = key_of(owner);
  for (int i = 0; i < seen->n; i++)
    if (seen->keys[i] == key)
      return seen->gone[i];
  const bool gone = cb_owner_is_gone(owner);
  if (seen->n < CB_OWNERS_SEEN) {
    seen->keys[seen->n] = key;
    seen->gone[seen->n++] = gone;
  }
  return gone;
}
