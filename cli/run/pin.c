/* pin.c - finds the processors that we may use, orders them by the core that they are
 * of, and divides them. */
#define _GNU_SOURCE /* sched_getaffinity */
#include "run/pin.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 8 * sizeof(unsigned long) };

/* A processor, and where it sits. */
typedef struct place {
  int cpu, package, core;
} place;

static int read_topology(int cpu, const char *what) {
  char path[96], digits[24];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, what);
  FILE *file = fopen(path, "re");
  if (!file)
    return 0;
  const bool read = fgets(digits, sizeof digits, file);
  fclose(file);
  return read ? (int)strtol(digits, NULL, 10) : 0;
}

static int compare_places(const void *a, const void *b) {
  const place *x = a, *y = b;
  if (x->package != y->package)
    return x->package < y->package ? -1 : 1;
  if (x->core != y->core)
    return x->core < y->core ? -1 : 1;
  return (x->cpu > y->cpu) - (x->cpu < y->cpu);
}

void cli_pins_find(cli_pins *pins) {
  static place places[CLI_MAX_CPUS];
  cli_cpus all = {{0}};
  pins->n = 0;
  if (sched_getaffinity(0, sizeof all.bits, (cpu_set_t *)all.bits) != 0)
    return;
  for (int i = 0; i < CLI_MAX_CPUS; i++)
    if (all.bits[i / WORD] >> (i % WORD) & 1)
      places[pins->n++] = (place){.cpu = i,
                                  .package = read_topology(i, "physical_package_id"),
                                  .core = read_topology(i, "core_id")};
  qsort(places, (size_t)pins->n, sizeof *places, compare_places);
  for (int i = 0; i < pins->n; i++)
    pins->cpus[i] = places[i].cpu;
}

bool cli_pins_share(const cli_pins *pins, int64_t slot, int64_t slots, cli_cpus *out) {
  memset(out, 0, sizeof *out);
  if (pins->n == 0)
    return false;
  int64_t first = slot % pins->n, end = first + 1;
  if (slots <= pins->n) {
    first = slot * pins->n / slots;
    end = (slot + 1) * pins->n / slots;
  }
  for (int64_t i = first; i < end; i++)
    out->bits[pins->cpus[i] / WORD] |= 1UL << (pins->cpus[i] % WORD);
  return true;
}

void cli_cpus_apply(const cli_cpus *cpus) {
  sched_setaffinity(0, sizeof cpus->bits, (const cpu_set_t *)cpus->bits);
}
