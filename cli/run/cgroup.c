/* cgroup.c - finds the group that we are in, makes it ready for groups below it, and
 * makes one for each evaluation. */
#include "run/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- files ---------------------------------------------------------------------- */

static bool read_file(const char *folder, const char *name, char *out, size_t size) {
  char path[CLI_GROUP_SIZE + 128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  const ssize_t got = read(fd, out, size - 1);
  close(fd);
  out[got > 0 ? got : 0] = '\0';
  return got >= 0;
}

static bool write_file(const char *folder, const char *name, const char *text) {
  char path[CLI_GROUP_SIZE + 128];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  const ssize_t size = (ssize_t)strlen(text);
  const bool written = write(fd, text, (size_t)size) == size;
  const int why = errno;
  close(fd);
  errno = why;
  return written;
}

/* Whether a list of words has one: "cpu memory pids". */
static bool has_word(const char *list, const char *word) {
  const size_t size = strlen(word);
  for (const char *at = list; (at = strstr(at, word)); at += size)
    if ((at == list || at[-1] == ' ') && strchr(" \n", at[size]))
      return true;
  return false;
}

/* The number behind a word at the beginning of a line: "oom_kill 1". */
static int64_t count_of(const char *folder, const char *name, const char *word) {
  char text[1024], wanted[32];
  snprintf(wanted, sizeof wanted, "\n%s ", word);
  text[0] = '\n';
  if (!read_file(folder, name, text + 1, sizeof text - 1))
    return 0;
  const char *at = strstr(text, wanted);
  return at ? strtoll(at + strlen(wanted), NULL, 10) : 0;
}

/* ---- where we are --------------------------------------------------------------- */

/* "36 25 0:31 /root /sys/fs/cgroup rw - cgroup2 cgroup2 rw": what is mounted where. */
static bool read_mount(const char *line, char *root, char *mount) {
  char kind[32] = "";
  const char *dash = strstr(line, " - ");
  if (!dash || sscanf(dash + 3, "%31s", kind) != 1 || strcmp(kind, "cgroup2") != 0)
    return false;
  return sscanf(line, "%*d %*d %*s %255s %255s", root, mount) == 2;
}

static bool find_mount(char root[256], char mount[256]) {
  char line[4096];
  bool found = false;
  FILE *file = fopen("/proc/self/mountinfo", "re");
  while (file && !found && fgets(line, sizeof line, file))
    found = read_mount(line, root, mount);
  if (file)
    fclose(file);
  return found;
}

/* "0::/user.slice/x.scope" is the line of version 2. */
static bool find_path(char path[256]) {
  char line[1024];
  bool found = false;
  FILE *file = fopen("/proc/self/cgroup", "re");
  while (file && !found && fgets(line, sizeof line, file))
    found = sscanf(line, "0::%255[^\n]", path) == 1;
  if (file)
    fclose(file);
  return found;
}

static bool find_own(char out[CLI_GROUP_SIZE]) {
  char root[256], mount[256], path[256];
  if (!find_mount(root, mount) || !find_path(path) || strstr(path, "/.."))
    return false;
  const size_t shared = strcmp(root, "/") == 0 ? 0 : strlen(root);
  if (strncmp(path, root, shared) != 0)
    return false;
  const char *rest = path + shared;
  snprintf(out, CLI_GROUP_SIZE, "%s%s", mount, strcmp(rest, "/") == 0 ? "" : rest);
  return true;
}

/* ---- making it ready ------------------------------------------------------------ */

static bool divides(const char *group) {
  char text[1024];
  return read_file(group, "cgroup.subtree_control", text, sizeof text) &&
         has_word(text, "memory");
}

/* Whether nobody is in it but us and our companion. */
static bool is_ours(const char *group, pid_t companion) {
  char text[4096];
  if (!read_file(group, "cgroup.procs", text, sizeof text))
    return false;
  char *at = text;
  for (long pid; (pid = strtol(at, &at, 10)) > 0;)
    if (pid != getpid() && pid != companion)
      return false;
  return true;
}

static bool move_to(const char *group, pid_t companion) {
  char digits[16];
  snprintf(digits, sizeof digits, "%ld", (long)companion);
  return write_file(group, "cgroup.procs", "0") &&
         (companion <= 0 || write_file(group, "cgroup.procs", digits));
}

static bool divide(const cli_cgroup *group) {
  return write_file(group->base, "cgroup.subtree_control",
                    group->counts_tasks ? "+memory +pids" : "+memory");
}

/* Out of the way of the groups below. */
static bool step_aside(cli_cgroup *group, pid_t companion) {
  if (!is_ours(group->base, companion))
    return false;
  snprintf(group->own, sizeof group->own, "%.*s/cocabo-%ld", CLI_GROUP_SIZE - 32,
           group->base, (long)getpid());
  if (mkdir(group->own, 0755) == 0 && move_to(group->own, companion) && divide(group))
    return true;
  move_to(group->base, companion);
  rmdir(group->own);
  group->own[0] = '\0';
  return false;
}

static const char *prepare(cli_cgroup *group, pid_t companion) {
  char has[1024];
  if (!find_own(group->base) ||
      !read_file(group->base, "cgroup.controllers", has, sizeof has))
    return "this machine has none of version 2";
  if (!has_word(has, "memory"))
    return "ours has no say about memory";
  group->counts_tasks = has_word(has, "pids");
  if (access(group->base, W_OK) != 0)
    return "ours may not be written";
  if (!divides(group->base) && !divide(group) && !step_aside(group, companion))
    return "ours has other processes or may not be divided";
  return NULL;
}

void cli_cgroup_open(cli_cgroup *group, pid_t companion) {
  *group = (cli_cgroup){.base = ""};
  const char *why = prepare(group, companion);
  if (!why)
    return;
  snprintf(group->why, sizeof group->why, "%s", why);
  group->base[0] = '\0';
}

/* Cells whose last processes have left the trial, and are gone by now. */
static void remove_cells(const char *base) {
  char path[CLI_GROUP_SIZE + 300], prefix[48];
  const int size = snprintf(prefix, sizeof prefix, "cocabo-%ld-", (long)getpid());
  DIR *folder = opendir(base);
  for (const struct dirent *e; folder && (e = readdir(folder));)
    if (strncmp(e->d_name, prefix, (size_t)size) == 0) {
      snprintf(path, sizeof path, "%s/%s", base, e->d_name);
      rmdir(path);
    }
  if (folder)
    closedir(folder);
}

void cli_cgroup_close(cli_cgroup *group, pid_t companion) {
  if (!group->base[0])
    return;
  remove_cells(group->base);
  if (group->own[0]) {
    write_file(group->base, "cgroup.subtree_control",
               group->counts_tasks ? "-memory -pids" : "-memory");
    move_to(group->base, companion);
    rmdir(group->own);
  }
  *group = (cli_cgroup){.base = ""};
}

/* ---- cells ---------------------------------------------------------------------- */

static bool write_number(const char *folder, const char *name, double value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%.0f", value);
  return write_file(folder, name, digits);
}

/* Swap would make the limit soft, and the time that a program takes meaningless; a
 * kernel without swap has no such file. Whoever exceeds it ends with all the others. */
static bool set_limits(const char *cell, const cli_cgroup *group,
                       const cli_quota *quota) {
  const double mem = quota->most[CLI_MEM], tasks = quota->most[CLI_PROCS];
  if (mem > 0.0 && !write_number(cell, "memory.max", mem))
    return false;
  if (mem > 0.0) {
    write_file(cell, "memory.swap.max", "0");
    write_file(cell, "memory.oom.group", "1");
  }
  if (tasks > 0.0 && group->counts_tasks)
    write_number(cell, "pids.max", tasks);
  return true;
}

bool cli_cell_open(cli_cell *cell, const cli_cgroup *group, const cli_quota *quota,
                   int64_t serial) {
  char path[sizeof cell->path + 32];
  *cell = (cli_cell){.entrance = -1};
  if (!group || !group->base[0] ||
      !(quota->most[CLI_MEM] > 0.0 || quota->most[CLI_PROCS] > 0.0))
    return false;
  snprintf(cell->path, sizeof cell->path, "%s/cocabo-%ld-%" PRId64, group->base,
           (long)getpid(), serial);
  if (mkdir(cell->path, 0755) == 0 && set_limits(cell->path, group, quota)) {
    snprintf(path, sizeof path, "%s/cgroup.procs", cell->path);
    cell->entrance = open(path, O_WRONLY | O_CLOEXEC);
  }
  if (cell->entrance < 0)
    cli_cell_close(cell, false);
  return cell->entrance >= 0;
}

bool cli_cell_enter(const cli_cell *cell) {
  return cell->entrance >= 0 && write(cell->entrance, "0", 1) == 1;
}

int cli_cell_exceeded(const cli_cell *cell) {
  if (!cell->path[0])
    return -1;
  if (count_of(cell->path, "memory.events", "oom_kill") > 0)
    return CLI_MEM;
  return count_of(cell->path, "pids.events", "max") > 0 ? CLI_PROCS : -1;
}

/* The killed take a moment to leave. */
void cli_cell_close(cli_cell *cell, bool kill) {
  enum { TRIES = 50 };
  if (cell->entrance >= 0)
    close(cell->entrance);
  if (cell->path[0] && kill)
    write_file(cell->path, "cgroup.kill", "1");
  for (int i = 0;
       cell->path[0] && rmdir(cell->path) != 0 && errno == EBUSY && kill && i < TRIES;
       i++)
    nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
  *cell = (cli_cell){.entrance = -1};
}
