/* cli.c - what all commands share: opening the store and the study that the common
 * options name, exit statuses, and notes to standard error. */
#include "cli.h"
#include "common/base.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/show.h"

/* ---- options that every command has ---------------------------------------------- */

const char *cli_storage(const cli_common *common) {
  if (common->storage)
    return common->storage;
  const char *url = getenv("COCABO_STORAGE");
  return url && *url ? url : "sqlite:///cocabo.db";
}

const char *cli_study(const cli_common *common) {
  return common->study ? common->study : "default";
}

/* ---- stores and studies ---------------------------------------------------------- */

cocabo_status cli_open_store(cli_session *session, const cli_common *common,
                             unsigned flags, cocabo_error *err) {
  *session = (cli_session){0};
  return cocabo_store_open(&session->store, cli_storage(common), flags, err);
}

/* The store may have a name that was meant. */
static cocabo_status no_study(cocabo_store *store, const cli_common *common,
                              cocabo_error *err) {
  char shown[CB_SHOWN], url[CB_SHOWN];
  cb_guess guess = {.word = cli_study(common)};
  cocabo_names *names;
  CB_TRY(cocabo_store_studies(store, &names, err));
  const size_t n = cocabo_names_count(names);
  for (size_t i = 0; i < n; i++)
    cb_guess_consider(&guess, cocabo_names_at(names, i));
  cb_text_show(shown, cli_study(common));
  show_url(url, cli_storage(common));
  if (guess.closest)
    cb_fail(err, COCABO_E_NOT_FOUND, "no study \"%s\" in %s, did you mean --study %s?",
            shown, url, guess.closest);
  else
    cb_fail(err, COCABO_E_NOT_FOUND, "no study \"%s\" in %s, %s", shown, url,
            n > 0 ? "cocabo studies lists what there is" : "cocabo create makes one");
  cocabo_names_free(names);
  return COCABO_E_NOT_FOUND;
}

cocabo_status cli_open_study(cli_session *session, const cli_common *common,
                             unsigned flags, cocabo_error *err) {
  CB_TRY(cli_open_store(session, common, flags, err));
  cocabo_status status =
      cocabo_study_open(&session->study, cli_study(common), session->store, err);
  if (status == COCABO_E_NOT_FOUND)
    status = no_study(session->store, common, err);
  if (status != COCABO_OK)
    cli_close(session);
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
  fprintf(stderr, "%s\n", line);
}
