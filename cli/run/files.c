/* files.c - see files.h. */
#define _GNU_SOURCE /* close_range */
#include "run/files.h"

#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

static void close_files(int first, int last) {
  enum { MOST = 4096 };
  if (first > last || close_range((unsigned)first, (unsigned)last, 0) == 0)
    return;
  for (int fd = first; fd <= last && fd < MOST; fd++) /* an old kernel */
    close(fd);
}

static int lowest_from(int first, const int *files, int n) {
  int lowest = INT_MAX;
  for (int i = 0; i < n; i++)
    if (files[i] >= first && files[i] < lowest)
      lowest = files[i];
  return lowest;
}

void cli_keep_files(const int *files, int n) {
  int next = STDERR_FILENO + 1, kept;
  while ((kept = lowest_from(next, files, n)) < INT_MAX) {
    close_files(next, kept - 1);
    next = kept + 1;
  }
  close_files(next, INT_MAX);
  const int null = open("/dev/null", O_RDWR);
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
    if (dup2(null, fd) < 0)
      close(fd);
  if (null > STDERR_FILENO)
    close(null);
}
