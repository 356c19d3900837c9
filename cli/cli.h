/* cli.h - the common doors of cocabo's commands.
 *
 * A command is one file cmd_NAME.c with one `const cli_command cmd_NAME`, listed in
 * main.c. Its argument struct has a field `common`, its option table ends with
 * CLI_COMMON_OPTIONS, and its main goes
 *
 *   parse (front_args_parse) -> open (cli_open_study, or cli_spec_open of spec.h)
 *     -> work -> print (output.h) -> return front_finish_output("NAME")
 *
 * where every failure is `return cli_complain("NAME", &err)`. What the library sees
 * goes through include/cocabo.h and include/cocabo_store.h and nothing else.
 */
#ifndef CLI_H
#define CLI_H

#include <stdbool.h>
#include <stddef.h>

#include "cocabo.h"
#include "cocabo_store.h"
#include "common/args.h"
#include "common/base.h"

typedef front_command cli_command;

extern const cli_command cmd_run, cmd_create, cmd_ask, cmd_tell, cmd_best, cmd_trials,
    cmd_studies, cmd_export, cmd_import, cmd_delete, cmd_plot, cmd_verify, cmd_worker,
    cmd_retry, cmd_workers, cmd_copy, cmd_convert, cmd_report, cmd_serve, cmd_watch,
    cmd_mcp;

/* ---- options that every command has ---------------------------------------------- */

typedef struct cli_common {
  const char *storage, *study; /* NULL: not given; ask the functions below */
  const char *file;            /* of -f, where the command has CLI_FILE_OPTION */
  const char *token_file;      /* NULL: what the environment says */
  bool json, quiet, verbose;
} cli_common;

/* A row for the commands that take nothing but the study's name from a file; those with
 * CLI_SPEC_OPTIONS have their own. */
#define CLI_FILE_OPTION(type)                                                          \
  {                                                                                    \
    "-f, --file", "FILE", "the study of a file in YAML or JSON", FRONT_TEXT,           \
        offsetof(type, common.file)                                                    \
  }

/* Rows for the end of an option table, before its {0}. `type` is the command's argument
 * struct, which has a field `common`. */
#define CLI_COMMON_OPTIONS(type)                                                       \
  {"", NULL, "Everywhere", FRONT_HEADING, 0},                                          \
      {"--storage", "URL",                                                             \
       "where studies live ($COCABO_STORAGE, sqlite:///cocabo.db)", FRONT_TEXT,        \
       offsetof(type, common.storage)},                                                \
      {"--study", "NAME", "the study ($COCABO_STUDY, default, the only one)",          \
       FRONT_TEXT, offsetof(type, common.study)},                                      \
      {"--token-file", "FILE", "a file with the token of a server ($COCABO_TOKEN)",    \
       FRONT_TEXT, offsetof(type, common.token_file)},                                 \
      {"--json", NULL, "JSON for programs, one object a line", FRONT_FLAG,             \
       offsetof(type, common.json)},                                                   \
      {"-q, --quiet", NULL, "only results and errors", FRONT_FLAG,                     \
       offsetof(type, common.quiet)},                                                  \
  {                                                                                    \
    "-v, --verbose", NULL, "say more", FRONT_FLAG, offsetof(type, common.verbose)      \
  }

const char *cli_storage(const cli_common *common); /* a URL, with its default */
/* Is it behind a server of ours, http://HOST:PORT? */
bool cli_is_http(const cli_common *common);
/* The study that --study names, else $COCABO_STUDY; NULL: nobody said. */
const char *cli_study(const cli_common *common);
/* What a study is called where nobody says. */
#define CLI_DEFAULT_STUDY "default"

/* ---- stores and studies ---------------------------------------------------------- */

/* Starts as {0}. cli_close releases what is open, in the right order. */
typedef struct cli_session {
  cocabo_store *store;
  cocabo_study *study;
  bool only; /* nobody named the study: it is the only one there is */
} cli_session;

/* flags: COCABO_STORE_CREATE, COCABO_STORE_READ_ONLY or 0 (an existing store). */
cocabo_status cli_open_store(cli_session *session, const cli_common *common,
                             unsigned flags, cocabo_error *err);
/* An existing study of the open store: the one that is said; else CLI_DEFAULT_STUDY;
 * else, where the store has one study only, that one. COCABO_E_NOT_FOUND
 * comes with the nearest name, COCABO_E_INVALID with the names that there are. */
cocabo_status cli_find_study(cli_session *session, const cli_common *common,
                             cocabo_error *err);
/* The store and an existing study in it, which the file of -f may name too. To create
 * or resume one from flags and files, see cli_spec_open. */
cocabo_status cli_open_study(cli_session *session, const cli_common *common,
                             unsigned flags, cocabo_error *err);
void cli_close(cli_session *session);

/* A store whose lock another process holds is waited for, with a line that says so.
 * From now on one call of the library waits at most so many seconds, 0 for any number,
 * and then fails with COCABO_E_INTERRUPTED; `clear`, which may be NULL, is called
 * before the line is printed. */
void cli_wait_for(double seconds, void (*clear)(void *user), void *user);

/* Refuses a bad file of -f, for a command that opens no study. */
cocabo_status cli_check_file(const cli_common *common, cocabo_error *err);

/* ---- failing --------------------------------------------------------------------- */

/* 2 for what the user can mend on the command line or in a file, 1 for the rest, 130
 * where the work was interrupted. */
int cli_exit_status(cocabo_status code);

/* Of opening a study: may it be its log that cannot be read, while others can? */
bool cli_is_damage(cocabo_status code);

/* Prints "cocabo COMMAND: sentence" and returns the exit status for it. */
int cli_complain(const char *command, const cocabo_error *err);

/* A line for people on standard error, unless --quiet. */
void cli_note(const cli_common *common, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

#endif
