/* cmd_delete.c - cocabo delete: a study with all its trials. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "common/base.h"
#include "io/output.h"

typedef struct delete_args {
  bool yes;
  cli_common common;
} delete_args;

static const front_option options[] = {
    {"-y, --yes", NULL, "do not ask", FRONT_FLAG, offsetof(delete_args, yes)},
    CLI_FILE_OPTION(delete_args),
    CLI_COMMON_OPTIONS(delete_args),
    {0}};

/* Only a y at the start of the line is a yes. */
static bool answers_yes(void) {
  const int first = getchar();
  for (int c = first; c != '\n' && c != EOF;)
    c = getchar();
  return first == 'y' || first == 'Y';
}

/* A line that deletes our study twice must not take another one the second time. */
static cocabo_status refuse_unnamed(const cli_session *session, cocabo_error *err) {
  char name[CB_SHOWN];
  if (!session->only)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "no study \"" CLI_DEFAULT_STUDY "\"; for the only one there is, say "
                 "--study %s",
                 cb_text_show(name, cocabo_study_name(session->study)));
}

/* One that cannot be read was named by the user. */
static const char *name_of(const cli_session *session, const delete_args *args) {
  return session->study ? cocabo_study_name(session->study) : cli_study(&args->common);
}

static cocabo_status confirm(const cli_session *session, const delete_args *args,
                             bool *agreed, cocabo_error *err) {
  const cocabo_study *study = session->study;
  char name[CB_SHOWN], trials[40] = "damaged log";
  cb_text_show(name, name_of(session, args));
  if (study)
    snprintf(trials, sizeof trials, "%lld trials",
             (long long)cocabo_study_count(study));
  *agreed = true;
  if (args->yes)
    return refuse_unnamed(session, err);
  if (!isatty(STDIN_FILENO))
    return cb_fail(err, COCABO_E_INVALID,
                   "study \"%s\" has %s%s, want --yes to delete it", name,
                   study ? "" : "a ", trials);
  fprintf(stderr, "Delete study \"%s\" and its %s? [y/N] ", name, trials);
  fflush(stderr);
  *agreed = answers_yes();
  return COCABO_OK;
}

/* A study that cannot be read can be deleted by its name. */
static cocabo_status open_to_delete(cli_session *session, const cli_common *common,
                                    cocabo_error *err) {
  CB_TRY(cli_check_file(common, err));
  const cocabo_status status = cli_open_study(session, common, 0, err);
  return cli_is_damage(status) && cli_study(common)
             ? cli_open_store(session, common, 0, err)
             : status;
}

static cocabo_status delete_study(int argc, char **argv, bool *agreed,
                                  cocabo_error *err) {
  delete_args args = {0};
  cli_session session;
  CB_TRY(front_args_parse(options, argc, argv, &args, NULL, err));
  CB_TRY(open_to_delete(&session, &args.common, err));
  cocabo_status status = confirm(&session, &args, agreed, err);
  if (status == COCABO_OK && *agreed)
    status = cocabo_store_delete(session.store, name_of(&session, &args), err);
  cli_close(&session);
  return status;
}

static int delete_main(int argc, char **argv) {
  cocabo_error err;
  bool agreed = true;
  if (delete_study(argc, argv, &agreed, &err) != COCABO_OK)
    return cli_complain("delete", &err);
  if (agreed)
    return FRONT_DONE;
  fprintf(stderr, "nothing deleted\n");
  return FRONT_FAILURE;
}

const cli_command cmd_delete = {
    .name = "delete",
    .summary = "Deletes a study with all its trials.",
    .usage = "[--yes] [options]",
    .options = options,
    .details =
        "Asks first when it is called from a terminal; elsewhere it wants --yes. With\n"
        "--yes, a study that is not called default must be named, even if it is the "
        "only\n"
        "one.",
    .examples = "  cocabo delete --study second\n"
                "  cocabo delete --study second --yes",
    .main = delete_main,
};
