/* pin.h - which processors a program may run on: with --pin, every slot has its own. */
#ifndef CLI_PIN_H
#define CLI_PIN_H

#include <stdbool.h>
#include <stdint.h>

enum { CLI_MAX_CPUS = 8192 };

/* A set of processors, as sched_setaffinity reads it. Plain value. */
typedef struct cli_cpus {
  unsigned long bits[CLI_MAX_CPUS / (8 * sizeof(unsigned long))];
} cli_cpus;

/* Those that this process may use, neighbours first: the threads of one core follow one
 * another, and so do the cores of one package. */
typedef struct cli_pins {
  int n; /* 0: nobody knows */
  int cpus[CLI_MAX_CPUS];
} cli_pins;
void cli_pins_find(cli_pins *pins);

/* The share of one of `slots` slots. As even as can be, and disjoint where there are
 * enough. False: nobody knows which there are. */
bool cli_pins_share(const cli_pins *pins, int64_t slot, int64_t slots, cli_cpus *out);

/* Confines this process and all that it starts. Safe between fork and exec. */
void cli_cpus_apply(const cli_cpus *cpus);

#endif
