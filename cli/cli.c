/* cli.c - what all commands share: opening the store and the study that the common
 * options name, exit statuses, and notes to standard error. */
#include "cli.h"
#include "common/base.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/clock.h"
#include "common/show.h"
#include "io/spec.h"
#include "run/signals.h"

/* ---- options that every command has ---------------------------------------------- */

/* NULL: nobody said it. */
static const char *said_storage(const cli_common *common) {
  const char *url = getenv("COCABO_STORAGE");
  return common->storage ? common->storage : url && *url ? url : NULL;
}

const char *cli_storage(const cli_common *common) {
  const char *said = said_storage(common);
  return said ? said : "sqlite:///cocabo.db";
}

bool cli_is_http(const cli_common *common) {
  return strncasecmp(cli_storage(common), "http:", 5) == 0;
}

const char *cli_study(const cli_common *common) {
  if (common->study)
    return common->study;
  const char *name = getenv("COCABO_STUDY");
  return name && *name ? name : NULL;
}

/* ---- waiting for a locked store -------------------------------------------------- */

/* Seconds: after how long to say why nothing happens; how long a signal lets a store
 * have its chance, which is enough unless its lock is stuck. */
static const double wait_silently = 2.0, wait_after_signal = 0.7;

/* One wait may take several calls of the library: it is the same one as long as they
 * follow each other and none of them had its turn. */
static struct {
  cli_common common;
  pthread_t thread;      /* that says all this; others only wait for a moment */
  double most;           /* seconds for one call; 0: any */
  void (*clear)(void *); /* makes room for a line; NULL: there is room */
  void *user;
  double since, last; /* when the wait began, and when we last heard of it */
  double stopping;    /* when we first saw a signal; 0: there was none */
  bool said;
  bool named; /* did it say who holds the lock? */
} waiting;

void cli_wait_for(double seconds, void (*clear)(void *user), void *user) {
  waiting.most = seconds;
  waiting.clear = clear;
  waiting.user = user;
}

static bool is_stopped(int64_t process) {
  char path[64], state = '?';
  snprintf(path, sizeof path, "/proc/%" PRId64 "/stat", process);
  FILE *file = fopen(path, "re");
  if (!file)
    return false;
  if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
    state = '?';
  fclose(file);
  return state == 'T';
}

/* Only files are locked: the path that the URL names. */
static const char *file_of_store(char url[static CB_SHOWN]) {
  const char *path = strstr(show_url(url, cli_storage(&waiting.common)), "///");
  return path ? path + 3 : url;
}

static bool is_server(void) {
  return cli_is_http(&waiting.common) ||
         strncmp(cli_storage(&waiting.common), "postgres", 8) == 0;
}

static void say_waiting(const cocabo_waiting *how) {
  char url[CB_SHOWN], who[40] = "another process", hint[80] = "";
  if (is_server()) {
    cli_note(&waiting.common, "waiting for the server of %s",
             show_url(url, cli_storage(&waiting.common)));
    return;
  }
  if (how->process > 0)
    snprintf(who, sizeof who, "process %" PRId64, how->process);
  if (how->process > 0 && is_stopped(how->process))
    snprintf(hint, sizeof hint, "; it is stopped, kill -CONT %" PRId64 " lets it go on",
             how->process);
  cli_note(&waiting.common, "waiting for study file %s: %s holds its lock%s",
           file_of_store(url), who, hint);
}

static void say_over(double now) {
  char url[CB_SHOWN];
  if (is_server()) {
    cli_note(&waiting.common, "the server of %s answers again after %.0f s",
             show_url(url, cli_storage(&waiting.common)), now - waiting.since);
    return;
  }
  cli_note(&waiting.common, "study file %s is free again after %.0f s",
           file_of_store(url), now - waiting.since);
}

static void say(const cocabo_waiting *how, double now) {
  if (waiting.clear && !waiting.common.quiet)
    waiting.clear(waiting.user);
  if (how->over)
    say_over(now);
  else
    say_waiting(how);
  waiting.said = !how->over;
  waiting.named = how->process > 0;
}

/* The holder of a lock may not be found at first, and is worth a second line. */
static bool has_news(const cocabo_waiting *how) {
  return !waiting.said || (!waiting.named && how->process > 0);
}

static int on_wait(void *user, const cocabo_waiting *how) {
  enum { SAME_WAIT = 5 };
  const double now = front_now();
  (void)user;
  if (!pthread_equal(pthread_self(), waiting.thread))
    return how->seconds >= wait_after_signal;
  if (now - waiting.last > SAME_WAIT && !waiting.said)
    waiting.since = now - how->seconds;
  waiting.last = now;
  if (how->over ? waiting.said : has_news(how) && now - waiting.since >= wait_silently)
    say(how, now);
  if (how->over) {
    waiting.last = 0.0;
    return 0;
  }
  if (cli_signals_stop() && waiting.stopping == 0.0)
    waiting.stopping = now;
  return (cli_signals_stop() && now - waiting.stopping >= wait_after_signal) ||
         (waiting.most > 0.0 && how->seconds >= waiting.most);
}

/* ---- stores and studies ---------------------------------------------------------- */

/* Where nobody said which file, it is the first time, or another folder. */
static cocabo_status no_file(cocabo_error *err) {
  if (!err)
    return COCABO_E_NOT_FOUND;
  const cocabo_error why = *err;
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "%s: cocabo run makes it, --storage names another", why.message);
}

/* The library looks into the environment. There is only the name of the file: what we
 * run inherits it. */
static cocabo_status pass_token(const cli_common *common, cocabo_error *err) {
  char *token;
  if (!common->token_file || !cli_is_http(common))
    return COCABO_OK;
  CB_TRY(cb_token_read(&token, "--token-file", common->token_file, err));
  cb_free(token);
  return setenv("COCABO_TOKEN_FILE", common->token_file, 1) == 0 ? COCABO_OK
                                                                 : cb_no_memory(err);
}

cocabo_status cli_open_store(cli_session *session, const cli_common *common,
                             unsigned flags, cocabo_error *err) {
  *session = (cli_session){0};
  CB_TRY(pass_token(common, err));
  waiting.common = *common;
  waiting.thread = pthread_self();
  const cocabo_status status = cocabo_store_open_waiting(
      &session->store, cli_storage(common), flags, on_wait, NULL, err);
  return status == COCABO_E_NOT_FOUND && !said_storage(common) ? no_file(err) : status;
}

/* The store may have a name that was meant. */
static cocabo_status no_study(const cocabo_names *names, const char *name,
                              const char *url, cocabo_error *err) {
  char shown[CB_SHOWN], closest[CB_SHOWN];
  cb_guess guess = {.word = name};
  const size_t n = cocabo_names_count(names);
  for (size_t i = 0; i < n; i++)
    cb_guess_consider(&guess, cocabo_names_at(names, i));
  cb_text_show(shown, name);
  if (guess.closest)
    return cb_fail(err, COCABO_E_NOT_FOUND,
                   "no study \"%s\" in %s, did you mean --study %s?", shown, url,
                   cb_text_show(closest, guess.closest));
  return cb_fail(err, COCABO_E_NOT_FOUND, "no study \"%s\" in %s, %s", shown, url,
                 n > 0 ? "cocabo studies lists what there is"
                       : "cocabo create makes one");
}

/* As many names as the sentence has room for. */
static cocabo_status several_studies(const cocabo_names *names, const char *url,
                                     cocabo_error *err) {
  char list[160] = "", shown[CB_SHOWN];
  const size_t n = cocabo_names_count(names);
  size_t used = 0, i = 0;
  for (; i < n; i++) {
    cb_text_show(shown, cocabo_names_at(names, i));
    if (used + strlen(shown) + sizeof ", \"\" and 1000000 more" > sizeof list)
      break;
    used += (size_t)snprintf(list + used, sizeof list - used, "%s\"%s\"",
                             i > 0 ? ", " : "", shown);
  }
  if (i < n)
    snprintf(list + used, sizeof list - used, " and %zu more", n - i);
  return cb_fail(err, COCABO_E_INVALID, "%s has %zu studies, want --study NAME: %s",
                 url, n, list);
}

/* There is none of the name that was said or, for lack of one, of our own. */
static cocabo_status find_another(cli_session *session, const cli_common *common,
                                  cocabo_error *err) {
  char url[CB_SHOWN];
  cocabo_names *names;
  const char *said = cli_study(common);
  CB_TRY(cocabo_store_studies(session->store, &names, err));
  const size_t n = cocabo_names_count(names);
  show_url(url, cli_storage(common));
  cocabo_status status;
  session->only = !said && n == 1;
  if (session->only)
    status = cocabo_study_open(&session->study, cocabo_names_at(names, 0),
                               session->store, err);
  else if (!said && n > 1)
    status = several_studies(names, url, err);
  else
    status = no_study(names, said ? said : CLI_DEFAULT_STUDY, url, err);
  cocabo_names_free(names);
  return status;
}

cocabo_status cli_find_study(cli_session *session, const cli_common *common,
                             cocabo_error *err) {
  const char *said = cli_study(common);
  const cocabo_status status = cocabo_study_open(
      &session->study, said ? said : CLI_DEFAULT_STUDY, session->store, err);
  return status == COCABO_E_NOT_FOUND ? find_another(session, common, err) : status;
}

static cocabo_status open_both(cli_session *session, const cli_common *common,
                               unsigned flags, cocabo_error *err) {
  CB_TRY(cli_open_store(session, common, flags, err));
  const cocabo_status status = cli_find_study(session, common, err);
  if (status != COCABO_OK)
    cli_close(session);
  return status;
}

/* All of it is checked, whatever is wanted of it. */
static cocabo_status read_file(cli_spec *out, const char *path, cocabo_error *err) {
  const cli_spec_args said = {.file = path};
  return cli_spec_read(out, &said, NULL, 0, err);
}

cocabo_status cli_check_file(const cli_common *common, cocabo_error *err) {
  cli_spec spec;
  CB_TRY(read_file(&spec, common->file, err));
  cli_spec_clear(&spec);
  return COCABO_OK;
}

cocabo_status cli_open_study(cli_session *session, const cli_common *common,
                             unsigned flags, cocabo_error *err) {
  cli_common named = *common;
  cli_spec spec;
  *session = (cli_session){0};
  CB_TRY(read_file(&spec, common->file, err));
  if (!named.study)
    named.study = spec.study;
  const cocabo_status status = open_both(session, &named, flags, err);
  cli_spec_clear(&spec);
  return status;
}

void cli_close(cli_session *session) {
  cocabo_study_free(session->study);
  cocabo_store_free(session->store);
  *session = (cli_session){0};
}

/* ---- failing --------------------------------------------------------------------- */

int cli_exit_status(cocabo_status code) {
  switch (code) {
  case COCABO_OK:
    return FRONT_DONE;
  case COCABO_E_INVALID:
  case COCABO_E_RANGE:
  case COCABO_E_STATE:
  case COCABO_E_NOT_FOUND:
  case COCABO_E_EXISTS:
    return FRONT_USAGE;
  case COCABO_E_INTERRUPTED:
    return FRONT_INTERRUPTED;
  default:
    return FRONT_FAILURE;
  }
}

bool cli_is_damage(cocabo_status code) {
  return code == COCABO_E_STORE || code == COCABO_E_STATE || code == COCABO_E_INVALID ||
         code == COCABO_E_RANGE;
}

int cli_complain(const char *command, const cocabo_error *err) {
  return front_complain(command, cli_exit_status(err->code), err);
}

void cli_note(const cli_common *common, const char *fmt, ...) {
  if (common->quiet)
    return;
  char line[5000]; /* with a path in it */
  va_list args;
  va_start(args, fmt);
  vsnprintf(line, sizeof line, fmt, args);
  va_end(args);
  fflush(stdout);
  show_line(stderr, line);
}
