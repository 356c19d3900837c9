/* family.c - walks the tree of processes below one of them, through the lists of
 * children in /proc, or through all processes where the kernel keeps no such lists. */
#define _GNU_SOURCE /* syscall, O_PATH */
#include "run/family.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Of one walk; who is beyond is reached when those before are dead. */
enum { MOST = 4096 };

/* A number may be given to somebody else; with the time of its start it is unique. */
typedef struct member {
  pid_t pid;
  uint64_t start;
} member;

typedef struct family {
  int n;
  member members[MOST];
} family;

/* ---- /proc ---------------------------------------------------------------------- */

typedef struct path {
  char text[96];
  size_t size;
} path;

static void put(path *p, const char *text) {
  const size_t size = strlen(text);
  if (p->size + size < sizeof p->text) {
    memcpy(p->text + p->size, text, size + 1);
    p->size += size;
  }
}

static path path_of(pid_t pid, const char *rest) {
  char digits[16];
  size_t at = sizeof digits - 1;
  digits[at] = '\0';
  for (pid_t left = pid; left > 0; left /= 10)
    digits[--at] = (char)('0' + left % 10);
  path p = {.size = 0};
  put(&p, "/proc/");
  put(&p, digits + at);
  put(&p, rest);
  return p;
}

/* The number at *text, and steps over it and the blank behind it. */
static uint64_t next_number(const char **text) {
  uint64_t value = 0;
  for (; **text >= '0' && **text <= '9'; ++*text)
    value = 10 * value + (uint64_t)(**text - '0');
  *text += **text == ' ';
  return value;
}

static void skip_words(const char **text, int n) {
  for (int i = 0; i < n; i++) {
    *text += strcspn(*text, " ");
    *text += strspn(*text, " ");
  }
}

typedef struct facts {
  char state; /* R, S, D, T, Z ... as ps shows it */
  pid_t parent;
  uint64_t work; /* ticks of processor time, with that of children waited for */
  uint64_t threads;
  uint64_t start; /* ticks since the machine's start */
} facts;

/* "12 (name) S 1 ...": the name may hold anything, the last parenthesis ends it. */
static bool read_facts(pid_t pid, facts *out) {
  char text[1024];
  const int fd = open(path_of(pid, "/stat").text, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return false;
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  text[size > 0 ? size : 0] = '\0';
  const char *at = strrchr(text, ')');
  if (!at || at[1] != ' ' || !at[2])
    return false;
  out->state = at[2];
  at += 2;
  skip_words(&at, 1);
  out->parent = (pid_t)next_number(&at);
  skip_words(&at, 9); /* fields 5 to 13 */
  out->work = 0;
  for (int i = 0; i < 4; i++)
    out->work += next_number(&at);
  skip_words(&at, 2); /* fields 18 and 19 */
  out->threads = next_number(&at);
  skip_words(&at, 1);
  out->start = next_number(&at);
  return true;
}

/* ---- lists of numbers ----------------------------------------------------------- */

static bool knows(const family *f, member m) {
  for (int i = 0; i < f->n; i++)
    if (f->members[i].pid == m.pid && f->members[i].start == m.start)
      return true;
  return false;
}

/* Adds a process if it is a child of `parent`; a zombie too, which may have threads
 * that are alive. */
static void consider(family *f, pid_t pid, pid_t parent) {
  facts found;
  if (f->n == MOST || pid <= 0 || !read_facts(pid, &found) || found.parent != parent)
    return;
  const member m = {pid, found.start};
  if (!knows(f, m))
    f->members[f->n++] = m;
}

/* As the kernel fills it in; readdir would allocate. */
typedef struct entry {
  uint64_t inode;
  int64_t offset;
  unsigned short size;
  unsigned char type;
  char name[];
} entry;

/* Calls `visit` for every number that names something in a folder. */
static void each_number(const char *folder,
                        void (*visit)(family *f, pid_t number, pid_t parent), family *f,
                        pid_t parent) {
  _Alignas(entry) char piece[4096];
  const int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  long size;
  while (fd >= 0 && (size = syscall(SYS_getdents64, fd, piece, sizeof piece)) > 0)
    for (long at = 0; at < size;) {
      const entry *e = (const entry *)(piece + at);
      const char *name = e->name;
      const pid_t number = (pid_t)next_number(&name);
      if (number > 0 && !*name)
        visit(f, number, parent);
      at += e->size;
    }
  if (fd >= 0)
    close(fd);
}

/* "12 13 " in pieces of any size. */
static void read_children(family *f, int fd, pid_t parent) {
  char piece[512];
  uint64_t number = 0;
  ssize_t size;
  while ((size = read(fd, piece, sizeof piece)) > 0)
    for (ssize_t i = 0; i < size; i++)
      if (piece[i] >= '0' && piece[i] <= '9') {
        number = 10 * number + (uint64_t)(piece[i] - '0');
      } else {
        consider(f, (pid_t)number, parent);
        number = 0;
      }
}

/* The children that one thread of `parent` has made. */
static void add_of_thread(family *f, pid_t thread, pid_t parent) {
  path p = path_of(parent, "/task");
  const path last = path_of(thread, "/children");
  put(&p, last.text + strlen("/proc"));
  const int fd = open(p.text, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return;
  read_children(f, fd, parent);
  close(fd);
}

static bool has_lists(void) {
  path p = path_of(getpid(), "/task");
  put(&p, path_of(getpid(), "/children").text + strlen("/proc"));
  return access(p.text, R_OK) == 0;
}

static void add_children(family *f, pid_t parent, bool lists) {
  if (lists)
    each_number(path_of(parent, "/task").text, add_of_thread, f, parent);
  else
    each_number("/proc", consider, f, parent);
}

/* Adds the descendants that are not known yet; true: there were any. The members
 * themselves are the queue. */
static bool add_descendants(family *f, pid_t head) {
  const int before = f->n;
  const bool lists = has_lists();
  add_children(f, head, lists);
  for (int i = 0; i < f->n; i++)
    add_children(f, f->members[i].pid, lists);
  return f->n > before;
}

/* ---- the walks ------------------------------------------------------------------ */

/* A handle on the process keeps its number from being given away between the look and
 * the signal. */
static void send_signal(member m, int number) {
  facts found;
  const int fd = (int)syscall(SYS_pidfd_open, m.pid, 0);
  const bool old_kernel = fd < 0 && (errno == ENOSYS || errno == EPERM);
  const bool same = read_facts(m.pid, &found) && found.start == m.start;
  if (same && fd >= 0)
    syscall(SYS_pidfd_send_signal, fd, number, NULL, 0);
  else if (same && old_kernel) /* or a sandbox that does not know the call */
    kill(m.pid, number);
  if (fd >= 0)
    close(fd);
}

void cli_family_signal(pid_t head, int number) {
  enum { PASSES = 20 };
  family f;
  f.n = 0;
  int sent = 0;
  for (int i = 0; i < PASSES && add_descendants(&f, head); i++)
    for (; sent < f.n; sent++)
      send_signal(f.members[sent], number);
}

/* A file of "Title:  number" lines, after a line's end; "" where it cannot be read. */
enum { SHEET = 4096 };
static void read_sheet(pid_t pid, const char *name, char text[SHEET]) {
  const int fd = open(path_of(pid, name).text, O_RDONLY | O_CLOEXEC);
  const ssize_t size = fd >= 0 ? read(fd, text + 1, SHEET - 2) : 0;
  if (fd >= 0)
    close(fd);
  text[0] = '\n';
  text[size > 0 ? size + 1 : 0] = '\0';
}

static uint64_t look_up(const char *sheet, const char *title) {
  const char *at = strstr(sheet, title);
  if (!at)
    return 0;
  at += strlen(title);
  at += strspn(at, " \t");
  return next_number(&at);
}

/* Its count of pauses, of the main thread. */
static uint64_t count_pauses(pid_t pid) {
  char text[SHEET];
  read_sheet(pid, "/status", text);
  return look_up(text, "\nvoluntary_ctxt_switches:");
}

cli_activity cli_family_look(pid_t head) {
  family f;
  f.n = 0;
  cli_activity found = {0, 0, 0, 0.0};
  add_descendants(&f, head);
  for (int i = 0; i < f.n; i++) {
    facts now;
    const uint64_t pauses = count_pauses(f.members[i].pid);
    if (!read_facts(f.members[i].pid, &now) || now.start != f.members[i].start)
      continue;
    found.alive += now.state != 'Z' && now.state != 'X';
    found.busy += now.state == 'R' || now.state == 'D';
    found.pauses += pauses;
    found.seconds += (double)now.work / (double)sysconf(_SC_CLK_TCK);
  }
  return found;
}

/* KiB of a process; a page that it shares with its children counts for each. */
static uint64_t rough_size(pid_t pid) {
  char text[SHEET];
  read_sheet(pid, "/status", text);
  return look_up(text, "\nRssAnon:") + look_up(text, "\nRssShmem:") +
         look_up(text, "\nVmSwap:");
}

/* The same with its part of each shared page, which takes the kernel longer to say. */
static uint64_t exact_size(pid_t pid) {
  char text[SHEET];
  read_sheet(pid, "/smaps_rollup", text);
  if (!strstr(text, "\nPss_Anon:"))
    return rough_size(pid);
  return look_up(text, "\nPss_Anon:") + look_up(text, "\nPss_Shmem:") +
         look_up(text, "\nSwapPss:");
}

static double add_sizes(const family *f, uint64_t (*size_of)(pid_t pid)) {
  uint64_t sum = 0;
  for (int i = 0; i < f->n; i++)
    sum += size_of(f->members[i].pid);
  return 1024.0 * (double)sum;
}

cli_use cli_family_use(pid_t head, double most) {
  family f;
  f.n = 0;
  cli_use use = {0.0, 0.0, 0.0};
  add_descendants(&f, head);
  for (int i = 0; i < f.n; i++) {
    facts now;
    if (!read_facts(f.members[i].pid, &now) || now.start != f.members[i].start)
      continue;
    use.tasks += now.state != 'Z' && now.state != 'X' ? (double)now.threads : 0.0;
    use.seconds += (double)now.work / (double)sysconf(_SC_CLK_TCK);
  }
  if (most > 0.0)
    use.bytes = add_sizes(&f, rough_size);
  if (most > 0.0 && use.bytes > most)
    use.bytes = add_sizes(&f, exact_size);
  return use;
}

/* Each waited at both looks and has not begun to wait again between: so all of them
 * waited from the end of the first look to the beginning of the second. */
bool cli_family_was_idle(cli_activity before, cli_activity after) {
  return before.busy == 0 && after.busy == 0 && before.alive == after.alive &&
         before.pauses == after.pauses;
}

bool cli_family_is_only(pid_t child) {
  family f;
  f.n = 0;
  add_children(&f, getpid(), has_lists());
  return f.n == 1 && f.members[0].pid == child;
}

/* Nobody but this process can give the numbers of its children back, so that they need
 * no second look. */
void cli_family_kill_children(void) {
  family f;
  f.n = 0;
  add_children(&f, getpid(), has_lists());
  for (int i = 0; i < f.n; i++)
    kill(f.members[i].pid, SIGKILL);
}
