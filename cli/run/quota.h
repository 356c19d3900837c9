/* quota.h - what one evaluation of a program may use: --limit mem=8G,cpu=60.
 *
 * Three hands hold a program to it. The kernel limits each process (setrlimit), the
 * keeper adds up what all processes of the evaluation use (keeper.h), and a control
 * group limits their memory together where one can be had (cgroup.h).
 */
#ifndef CLI_QUOTA_H
#define CLI_QUOTA_H

#include <stdbool.h>

#include "cocabo.h"

typedef enum cli_quota_kind {
  CLI_MEM,   /* bytes */
  CLI_CPU,   /* seconds of processor time */
  CLI_FILES, /* open at a time in one process */
  CLI_FSIZE, /* bytes of one file */
  CLI_PROCS, /* processes and threads at a time */
  CLI_QUOTAS
} cli_quota_kind;

enum { CLI_QUOTA_TEXT = 24, CLI_QUOTA_SIZE = CLI_QUOTAS * (CLI_QUOTA_TEXT + 8) };

/* Plain value; {0} limits nothing. */
typedef struct cli_quota {
  double most[CLI_QUOTAS];               /* 0: no limit */
  char text[CLI_QUOTAS][CLI_QUOTA_TEXT]; /* as the user wrote it: 8G */
} cli_quota;

/* What an evaluation uses at a moment, all its processes together. */
typedef struct cli_use {
  double bytes;   /* of memory that is nobody else's */
  double seconds; /* of processor time, so far */
  double tasks;   /* processes and threads */
} cli_use;

/* "mem=8G,cpu=5m,files=64,fsize=1G,procs=32", some of them; "none": no limit. */
cocabo_status cli_quota_parse(cli_quota *out, const char *text, cocabo_error *err);
/* The same text again, or "none". Returns out. */
const char *cli_quota_show(char out[static CLI_QUOTA_SIZE], const cli_quota *quota);
bool cli_quota_is_none(const cli_quota *quota);

const char *cli_quota_name(int kind); /* mem, cpu, ...; NULL at the end */
/* The first line of a failure: "limit mem=8G: it wanted more memory". */
void cli_quota_say(const cli_quota *quota, cli_quota_kind kind, char *out, size_t size);
/* How much was used, for the line after it: "8.1G were in use". */
void cli_quota_say_use(cli_quota_kind kind, double used, char *out, size_t size);

/* Limits this process and all that it starts. `grouped`: a control group looks after
 * the memory, and addresses that nothing stands behind may be had freely. Safe between
 * fork and exec. */
void cli_quota_apply(const cli_quota *quota, bool grouped);

/* Which limit such a use exceeds, or -1; and of which kind *used is then. */
int cli_quota_exceeded(const cli_quota *quota, const cli_use *use, double *used);

/* Which limit a failure comes from, or -1: by the status, as from waitpid, the most
 * memory that one process held, and the end of what was written to standard error. The
 * kernel tells the program alone that there is no more of something. */
int cli_quota_guess(const cli_quota *quota, int status, double max_rss,
                    const char *tail);

#endif
