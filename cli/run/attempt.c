/* attempt.c - prepares and starts one evaluation: fills in the command's words, sets
 * the environment, makes the result file and opens the logs; and cleans up after it. */
#include "run/attempt.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/base.h"
#include "common/buffer.h"
#include "common/place.h"
#include "io/output.h"
#include "run/hint.h"
#include "run/template.h"

extern char **environ;

/* ---- the program ---------------------------------------------------------------- */

/* -- "echo {x}" is one word, as no shell takes it apart. */
static cocabo_status check_quotes(char *const *command, cocabo_error *err) {
  char first[CB_SHOWN], path[CLI_PATH_SIZE], shown[CB_SHOWN];
  const size_t size = strcspn(command[0], " \t\n");
  if (command[1] || !command[0][size] || size >= sizeof first ||
      cli_find_program(command[0], path, sizeof path, NULL) == COCABO_OK)
    return COCABO_OK;
  memcpy(first, command[0], size);
  first[size] = '\0';
  if (cli_find_program(first, path, sizeof path, NULL) != COCABO_OK)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INVALID,
                 "the command is one word, \"%s\": want its words apart, as in -- %s "
                 "..., or -- sh -c '...'",
                 cb_text_show(shown, command[0]), first);
}

cocabo_status cli_program_find(cli_program *out, char *const *command,
                               const cocabo_space *space, cocabo_error *err) {
  *out = (cli_program){.command = command, .space = space};
  if (!command[0])
    return cb_fail(err, COCABO_E_INVALID, "the command has no words");
  CB_TRY(cli_template_check(command, space, err));
  out->piped = cli_has_pipe(command);
  CB_TRY(check_quotes(command, err));
  if (cli_template_has_hole(command[0], space, NULL))
    return COCABO_OK;
  return cli_find_program(command[0], out->path, sizeof out->path, err);
}

/* ---- its environment ------------------------------------------------------------ */

static const char *const own_variables[] = {
    "COCABO_TRIAL=",  "COCABO_STUDY=",    "COCABO_SEED=",   "COCABO_PARAMS=",
    "COCABO_RESULT=", "COCABO_INSTANCE=", "COCABO_STORAGE="};
enum { N_OWN = sizeof own_variables / sizeof *own_variables };

static bool is_own(const char *variable) {
  for (int i = 0; i < N_OWN; i++)
    if (strncmp(variable, own_variables[i], strlen(own_variables[i])) == 0)
      return true;
  return false;
}

/* The path before the relative one of a URL: percent signs mean something there. */
static cocabo_status put_folder(front_buffer *out, const char *folder, bool in_url,
                                cocabo_error *err) {
  for (; *folder; folder++)
    if (in_url && (*folder == '%' || *folder == '?'))
      CB_TRY(front_buffer_printf(out, err, "%%%02X", (unsigned)*folder));
    else
      CB_TRY(front_buffer_append(out, folder, 1, err));
  return front_buffer_puts(out, "/", err);
}

/* A program that goes to another folder still means the same file: a relative path
 * becomes an absolute one. */
static cocabo_status put_storage(front_buffer *out, const char *url,
                                 cocabo_error *err) {
  static const char sqlite[] = "sqlite:///";
  char folder[CLI_PATH_SIZE];
  const bool in_url = strncasecmp(url, sqlite, strlen(sqlite)) == 0;
  const char *path = in_url ? url + strlen(sqlite) : url;
  const bool is_path = *path != '/' && (in_url ? *path != ':' : !strchr(path, ':'));
  if (is_path && getcwd(folder, sizeof folder)) {
    CB_TRY(front_buffer_append(out, url, (size_t)(path - url), err));
    CB_TRY(put_folder(out, folder, in_url, err));
    url = path;
  }
  return front_buffer_append(out, url, strlen(url) + 1, err);
}

/* The values of our variables, in order, each after its name and before its NUL. */
static cocabo_status put_own(front_buffer *out, const cli_program *program,
                             const cocabo_trial *trial, const char *result,
                             cocabo_error *err) {
  CB_TRY(front_buffer_printf(out, err, "%s%" PRId64, own_variables[0],
                             cocabo_trial_number(trial)));
  CB_TRY(front_buffer_append(out, "", 1, err));
  CB_TRY(front_buffer_puts(out, own_variables[1], err));
  CB_TRY(front_buffer_append(out, program->study, strlen(program->study) + 1, err));
  size_t n = 0;
  const cocabo_run *runs = cocabo_trial_runs(trial, &n);
  const char *instance = n > 0 && runs[n - 1].instance ? runs[n - 1].instance : "";
  CB_TRY(front_buffer_printf(out, err, "%s%" PRIu64, own_variables[2],
                             n > 0 ? (uint64_t)runs[n - 1].seed
                                   : cocabo_trial_seed(trial)));
  CB_TRY(front_buffer_append(out, "", 1, err));
  CB_TRY(front_buffer_puts(out, own_variables[3], err));
  CB_TRY(front_put_json_params(out, trial, err));
  CB_TRY(front_buffer_append(out, "", 1, err));
  CB_TRY(front_buffer_puts(out, own_variables[4], err));
  CB_TRY(front_buffer_append(out, result, strlen(result) + 1, err));
  CB_TRY(front_buffer_puts(out, own_variables[5], err));
  CB_TRY(front_buffer_append(out, instance, strlen(instance) + 1, err));
  CB_TRY(front_buffer_puts(out, own_variables[6], err));
  return put_storage(out, program->storage, err);
}

/* Ours first, then what we have ourselves; owned, but its items are borrowed. */
static char **list_variables(const front_buffer *own) {
  size_t n = 0;
  while (environ[n])
    n++;
  char **list = cb_calloc(N_OWN + n + 1, sizeof *list);
  if (!list)
    return NULL;
  size_t used = 0;
  for (char *text = own->data; used < N_OWN; text += strlen(text) + 1)
    list[used++] = text;
  for (size_t i = 0; i < n; i++)
    if (!is_own(environ[i]))
      list[used++] = environ[i];
  return list;
}

/* ---- its logs ------------------------------------------------------------------- */

/* Makes the folder that a path names, in one that is there. */
static cocabo_status make_folder(const char *path, cocabo_error *err) {
  front_place place;
  struct stat info;
  CB_TRY(front_place_find(&place, path, err));
  int why = mkdirat(place.folder, place.name, 0777) == 0 ? 0 : errno;
  if (fstatat(place.folder, place.name, &info, 0) == 0) /* as it may have been before */
    why = S_ISDIR(info.st_mode) ? 0 : ENOTDIR;
  front_place_close(&place);
  return why ? cb_fail(err, COCABO_E_INVALID,
                       "cannot write to the log folder \"%s\": %s", path, strerror(why))
             : COCABO_OK;
}

cocabo_status cli_make_folder(const char *path, cocabo_error *err) {
  char part[CLI_PATH_SIZE];
  if (strlen(path) >= sizeof part)
    return cb_fail(err, COCABO_E_INVALID, "the path of the log folder is too long");
  strcpy(part, path);
  for (char *slash = part; *slash;) {
    slash += strspn(slash, "/");
    slash += strcspn(slash, "/");
    const char kept = *slash;
    *slash = '\0';
    CB_TRY(make_folder(part, err));
    *slash = kept;
  }
  struct stat info;
  errno = 0;
  if (stat(path, &info) != 0 || !S_ISDIR(info.st_mode) || access(path, W_OK) != 0)
    return cb_fail(err, COCABO_E_INVALID, "cannot write to the log folder \"%s\": %s",
                   path, strerror(errno ? errno : ENOTDIR));
  return COCABO_OK;
}

static void close_logs(const int logs[2]) {
  for (int i = 0; i < 2; i++)
    if (logs[i] >= 0)
      close(logs[i]);
}

/* DIR/trial-7.out and .err. A fresh trial replaces what an older study left there. */
static cocabo_status open_logs(int logs[2], const char *folder,
                               const cocabo_trial *trial, bool again,
                               cocabo_error *err) {
  logs[0] = logs[1] = -1;
  static const char *const endings[2] = {"out", "err"};
  for (int i = 0; i < 2 && folder; i++) {
    char path[CLI_PATH_SIZE + 64];
    snprintf(path, sizeof path, "%s/trial-%" PRId64 ".%s", folder,
             cocabo_trial_number(trial), endings[i]);
    const int flags = O_WRONLY | O_CREAT | O_APPEND | (again ? 0 : O_TRUNC);
    const cocabo_status status =
        front_open_here("write the log", path, flags, &logs[i], err);
    if (status != COCABO_OK) {
      close_logs(logs);
      return COCABO_E_STORE;
    }
  }
  return COCABO_OK;
}

/* ---- starting it ---------------------------------------------------------------- */

/* A name with holes is another program for every trial. */
static cocabo_status find_path(const cli_program *program, const char *word,
                               char path[CLI_PATH_SIZE], cocabo_error *err) {
  if (program->path[0]) {
    strcpy(path, program->path);
    return COCABO_OK;
  }
  return cli_find_program(word, path, CLI_PATH_SIZE, err);
}

static cocabo_status start_with(cli_attempt *attempt, const cli_program *program,
                                const cli_guard *guard, char **words, char **variables,
                                const cocabo_trial *trial, bool again,
                                cocabo_error *err) {
  char path[CLI_PATH_SIZE];
  cli_start start = {.path = path,
                     .argv = words,
                     .envp = variables,
                     .guard = guard,
                     .patterns = &program->patterns,
                     .quota = &program->quota,
                     .cell = &attempt->cell,
                     .cpus = attempt->cpus};
  CB_TRY(find_path(program, words[0], path, err));
  CB_TRY(open_logs(start.logs, program->log_folder, trial, again, err));
  return cli_process_start(&attempt->process, &start, err);
}

static cocabo_status start_in_cell(cli_attempt *attempt, const cli_program *program,
                                   const cli_guard *guard, char **words,
                                   char **variables, const cocabo_trial *trial,
                                   bool again, int64_t serial, cocabo_error *err) {
  cli_cell_open(&attempt->cell, attempt->cgroup, &program->quota, serial);
  const cocabo_status status =
      start_with(attempt, program, guard, words, variables, trial, again, err);
  if (status != COCABO_OK)
    cli_cell_close(&attempt->cell, true);
  return status;
}

cocabo_status cli_attempt_start(cli_attempt *attempt, const cli_program *program,
                                const cli_guard *guard, const cocabo_trial *trial,
                                int64_t serial, bool again, cocabo_error *err) {
  snprintf(attempt->result, sizeof attempt->result, "%s/result-%" PRId64, guard->folder,
           serial);
  front_buffer own = {0};
  char **words = NULL, **variables = NULL;
  cocabo_status status = put_own(&own, program, trial, attempt->result, err);
  if (status == COCABO_OK)
    status = cli_template_fill(program->command, program->space, trial, &words, err);
  if (status == COCABO_OK && !(variables = list_variables(&own)))
    status = cb_no_memory(err);
  if (status == COCABO_OK)
    status = start_in_cell(attempt, program, guard, words, variables, trial, again,
                           serial, err);
  cb_free(variables);
  cb_free(words);
  front_buffer_free(&own);
  return status;
}

void cli_attempt_outcome(cli_attempt *attempt, const cli_program *program,
                         cli_outcome *out) {
  cli_process *process = &attempt->process;
  if (process->exceeded < 0)
    process->exceeded = cli_cell_exceeded(&attempt->cell);
  cli_outcome_read(out, &attempt->process, attempt->result, program->objective,
                   program->piped);
  unlink(attempt->result);
  cli_cell_close(&attempt->cell,
                 process->stop != CLI_RUNS_ON || process->exceeded >= 0);
}
