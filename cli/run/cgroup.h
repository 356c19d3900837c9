/* cgroup.h - control groups of Linux (version 2), where we may make our own: they limit
 * the memory and the number of all processes of an evaluation together.
 *
 * A group that has processes cannot divide what it has among groups below it, so that
 * we go into one of our own first; but only if nobody else is in the group that we were
 * started in. `systemd-run --user --scope -p Delegate=yes cocabo run ...` is such a
 * place. Where there is none, the limits of quota.h have to do: that is no error.
 */
#ifndef CLI_CGROUP_H
#define CLI_CGROUP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "run/quota.h"

enum { CLI_GROUP_SIZE = 768 };

typedef struct cli_cgroup {
  char base[CLI_GROUP_SIZE]; /* the folder for cells; "": there is none */
  char own[CLI_GROUP_SIZE];  /* where we went ourselves; "": we did not */
  bool counts_tasks;
  char why[100]; /* there is none: a clause for a sentence */
} cli_cgroup;

/* Looks for a place. `companion` goes where we go: a child, or 0. */
void cli_cgroup_open(cli_cgroup *group, pid_t companion);
/* Goes back, and removes what was made. {0} is allowed. */
void cli_cgroup_close(cli_cgroup *group, pid_t companion);

/* The group of one evaluation. */
typedef struct cli_cell {
  char path[CLI_GROUP_SIZE + 64]; /* "": none */
  int entrance;                   /* write "0" to be in it; -1: none */
} cli_cell;

/* Makes a cell; false: there is none, and `cell` says so. */
bool cli_cell_open(cli_cell *cell, const cli_cgroup *group, const cli_quota *quota,
                   int64_t serial);
/* This process and all that it starts from now on. Safe between fork and exec. */
bool cli_cell_enter(const cli_cell *cell);
/* Which limit was reached in it (CLI_MEM, CLI_PROCS), or -1. */
int cli_cell_exceeded(const cli_cell *cell);
/* Removes the cell, if need be with all that are in it. */
void cli_cell_close(cli_cell *cell, bool kill);

#endif
