/* clock.c - see clock.h. */
#define _GNU_SOURCE /* syscall */
#include "store/clock.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double seconds(const struct timespec *t) {
  return (double)t->tv_sec + 1e-9 * (double)t->tv_nsec;
}

double cb_clock_day(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return seconds(&t);
}

/* Of the kernel itself where its timespec is that of the C library: what pretends to
 * another date in front of the library moves this clock too. */
double cb_clock_boot(void) {
  struct timespec t;
#if defined SYS_clock_gettime && LONG_MAX > INT_MAX
  if (syscall(SYS_clock_gettime, CLOCK_BOOTTIME, &t) == 0)
    return seconds(&t);
#endif
  clock_gettime(CLOCK_BOOTTIME, &t);
  return seconds(&t);
}

const char *cb_clock_boot_id(char out[static CB_BOOT_ID]) {
  FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
  if (!file || !fgets(out, CB_BOOT_ID, file))
    out[0] = '\0';
  if (file)
    fclose(file);
  out[strcspn(out, "\n")] = '\0';
  return out;
}
