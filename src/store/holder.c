/* holder.c - Linux lists the locks of all processes in /proc/locks:
 *
 *   1: POSIX  ADVISORY  WRITE 4711 fd:01:1234567 120 120
 *
 * kind, what it is for, process, device and inode, first and last byte. A writer holds
 * byte 120 of the -shm file, and whoever closes the file for all the bytes of the main
 * file from 2^30 on. A last byte that is no number, EOF, is of no lock of SQLite's.
 */
#include "store/holder.h"

#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static unsigned long inode_of(const char *path, const char *ending) {
  char name[PATH_MAX];
  struct stat info;
  if (snprintf(name, sizeof name, "%s%s", path, ending) >= (int)sizeof name ||
      stat(name, &info) != 0)
    return 0;
  return (unsigned long)info.st_ino;
}

/* Which bytes matter, of which file. */
typedef struct place {
  unsigned long inode; /* 0: there is none */
  long long first, last;
} place;

/* The process of a line that is about this place, or 0. */
static int64_t holder_in(const char *line, const place *where) {
  long process = 0;
  unsigned long inode = 0;
  long long first = 0, last = 0;
  const int n = sscanf(line, "%*s POSIX %*s WRITE %ld %*[^:]:%*[^:]:%lu %lld %lld",
                       &process, &inode, &first, &last);
  return n == 4 && where->inode != 0 && inode == where->inode && first <= where->last &&
                 last >= where->first && process > 0 && process != (long)getpid()
             ? process
             : 0;
}

int64_t cb_lock_holder(const char *path) {
  const place writing = {inode_of(path, "-shm"), 120, 120};
  const place all = {inode_of(path, ""), 1LL << 30, (1LL << 30) + 511};
  FILE *locks = fopen("/proc/locks", "re");
  int64_t found = 0;
  char line[256];
  while (locks && found == 0 && fgets(line, sizeof line, locks)) {
    found = holder_in(line, &writing);
    if (found == 0)
      found = holder_in(line, &all);
  }
  if (locks)
    fclose(locks);
  return found;
}
