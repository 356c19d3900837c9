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
#include <stdlib.h>
#include <string.h>
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

enum { KIND = 1, MODE = 3, PROCESS, FILE_ID, FIRST, LAST, N_FIELDS };

/* The process of a line that is about this place, or 0. The line is cut into pieces. */
static int64_t holder_in(char *line, const place *where, int n_places) {
  char *fields[N_FIELDS], *rest = NULL;
  int n = 0;
  for (char *f = strtok_r(line, " \n", &rest); f && n < N_FIELDS;
       f = strtok_r(NULL, " \n", &rest))
    fields[n++] = f;
  if (n < N_FIELDS || strcmp(fields[KIND], "POSIX") != 0 ||
      strcmp(fields[MODE], "WRITE") != 0)
    return 0;
  const char *colon = strrchr(fields[FILE_ID], ':');
  const unsigned long inode = colon ? strtoul(colon + 1, NULL, 10) : 0;
  const long process = strtol(fields[PROCESS], NULL, 10);
  const long long first = strtoll(fields[FIRST], NULL, 10);
  const long long last = strtoll(fields[LAST], NULL, 10);
  for (int i = 0; i < n_places; i++)
    if (inode != 0 && inode == where[i].inode && first <= where[i].last &&
        last >= where[i].first && process > 0 && process != (long)getpid())
      return process;
  return 0;
}

int64_t cb_lock_holder(const char *path) {
  const place places[] = {{inode_of(path, "-shm"), 120, 120},
                          {inode_of(path, ""), 1LL << 30, (1LL << 30) + 511}};
  FILE *locks = fopen("/proc/locks", "re");
  int64_t found = 0;
  char line[256];
  while (locks && found == 0 && fgets(line, sizeof line, locks))
    found = holder_in(line, places, 2);
  if (locks)
    fclose(locks);
  return found;
}
