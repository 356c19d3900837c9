/* cmd_verify.c - cocabo verify: a study against its own log. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "io/output.h"
#include "run/signals.h"

typedef struct verify_args {
  const char *proposals;
  cli_common common;
} verify_args;

static const front_option options[] = {
    {"--proposals", "all|K", "replay all proposals, or the last K asks (100)",
     FRONT_TEXT, offsetof(verify_args, proposals)},
    CLI_FILE_OPTION(verify_args),
    CLI_COMMON_OPTIONS(verify_args),
    {0}};

enum { DEFAULT_PROPOSALS = 100, ALL = -1 };

static cocabo_status parse_proposals(const char *text, int64_t *out,
                                     cocabo_error *err) {
  *out = DEFAULT_PROPOSALS;
  if (text && strcmp(text, "all") == 0) {
    *out = ALL;
    return COCABO_OK;
  }
  if (front_parse_int("--proposals", text, 0, INT64_MAX, out, err) == COCABO_OK)
    return COCABO_OK;
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_INVALID,
                 "--proposals is \"%s\", want all or a whole number",
                 cb_text_show(shown, text));
}

/* ---- the answer ------------------------------------------------------------------ */

static cocabo_status put_json(front_buffer *out, const char *study,
                              const cocabo_report *r, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{\"study\":", err));
  CB_TRY(front_put_json_text(out, study, err));
  CB_TRY(front_buffer_printf(out, err,
                             ",\"ok\":%s,\"events\":%" PRId64 ",\"trials\":%" PRId64
                             ",\"replayed\":%" PRId64 ",\"differing\":%" PRId64,
                             r->differing == 0 ? "true" : "false", r->events, r->trials,
                             r->replayed, r->differing));
  if (r->differing > 0)
    CB_TRY(front_buffer_printf(out, err, ",\"first_differing\":%" PRId64,
                               r->first_differing));
  else
    CB_TRY(front_buffer_puts(out, ",\"first_differing\":null", err));
  return front_buffer_printf(
      out, err,
      ",\"foreign\":%" PRId64 ",\"foreign_differing\":%" PRId64
      ",\"unchecked\":%" PRId64 ",\"passed_over\":%" PRId64 "}\n",
      r->foreign, r->foreign_differing, r->unchecked, r->passed_over);
}

static cocabo_status put_foreign(front_buffer *out, const cocabo_report *r,
                                 cocabo_error *err) {
  if (r->foreign == 0)
    return COCABO_OK;
  return front_buffer_printf(
      out, err,
      "foreign    %" PRId64 " proposals of another revision were checked for "
      "values and structure, not bits; %" PRId64 " came out differently here\n",
      r->foreign, r->foreign_differing);
}

static cocabo_status put_checksums(front_buffer *out, const cocabo_report *r,
                                   cocabo_error *err) {
  CB_TRY(front_buffer_printf(out, err,
                             "checksums  %" PRId64 " events are as they were written",
                             r->events - r->unchecked));
  if (r->unchecked > 0)
    CB_TRY(front_buffer_printf(
        out, err, "; %" PRId64 " from before there were checksums are unchecked",
        r->unchecked));
  CB_TRY(front_buffer_puts(out, "\n", err));
  return r->passed_over == 0
             ? COCABO_OK
             : front_buffer_printf(out, err,
                                   "later      %" PRId64
                                   " events of kinds that only a later version knows "
                                   "are passed over\n",
                                   r->passed_over);
}

static cocabo_status put_lines(front_buffer *out, const cocabo_report *r,
                               cocabo_error *err) {
  CB_TRY(front_buffer_printf(out, err,
                             "structure  %" PRId64 " events and %" PRId64
                             " trials: each follows from those "
                             "before it\n",
                             r->events, r->trials));
  CB_TRY(put_checksums(out, r, err));
  CB_TRY(
      front_buffer_printf(out, err, "replayed   %" PRId64 " proposals: ", r->replayed));
  if (r->differing == 0)
    CB_TRY(front_buffer_puts(out, r->replayed > 0 ? "all the same\n" : "none to do\n",
                             err));
  else
    CB_TRY(front_buffer_printf(out, err,
                               "%" PRId64 " differ, first trial %" PRId64 "\n",
                               r->differing, r->first_differing));
  return put_foreign(out, r, err);
}

/* ---- the command ----------------------------------------------------------------- */

static int is_interrupted(void *user) {
  (void)user;
  return cli_signals_stop() != 0;
}

static cocabo_status verify(cocabo_study *study, int64_t proposals, cocabo_report *out,
                            cocabo_error *err) {
  CB_TRY(cli_signals_catch(err));
  cocabo_study_on_interrupt(study, is_interrupted, NULL);
  const cocabo_status status = cocabo_study_verify(study, proposals, out, err);
  cli_signals_release();
  return status;
}

static cocabo_status verify_and_put(cocabo_study *study, int64_t proposals, bool json,
                                    front_buffer *out, bool *differs,
                                    cocabo_error *err) {
  cocabo_report report;
  CB_TRY(verify(study, proposals, &report, err));
  *differs = report.differing > 0;
  return json ? put_json(out, cocabo_study_name(study), &report, err)
              : put_lines(out, &report, err);
}

static cocabo_status open_and_verify(int argc, char **argv, front_buffer *out,
                                     bool *differs, cocabo_error *err) {
  verify_args args = {0};
  int64_t proposals;
  cli_session session;
  CB_TRY(front_args_parse(options, argc, argv, &args, NULL, err));
  CB_TRY(parse_proposals(args.proposals, &proposals, err));
  cocabo_status status =
      cli_open_study(&session, &args.common, COCABO_STORE_READ_ONLY, err);
  if (status == COCABO_OK)
    status =
        verify_and_put(session.study, proposals, args.common.json, out, differs, err);
  cli_close(&session);
  /* A log that contradicts itself is what this command looks for: it is no bad usage
   * but a failure. */
  if (status == COCABO_E_STATE)
    status = err->code = COCABO_E_STORE;
  return status;
}

static int verify_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  bool differs = false;
  const cocabo_status status = open_and_verify(argc, argv, &out, &differs, &err);
  const int exit_status = cli_answer("verify", status, &out, &err);
  return exit_status == FRONT_DONE && differs ? FRONT_FAILURE : exit_status;
}

const cli_command cmd_verify = {
    .name = "verify",
    .summary = "Checks a study against its log, and replays proposals.",
    .usage = "[--proposals all|K] [options]",
    .options = options,
    .details =
        "The file and the structure are always checked: the file must be sound, every "
        "event\n"
        "must have the checksum that it was written with (those of version 0.1.0 have "
        "none)\n"
        "and follow from those before it.\n"
        "Then proposals are made again from what they saw, and must come out the same "
        "to\n"
        "the last bit, on whatever machine. Those of another revision of their "
        "sampler\n"
        "are compared for values and structure only. Exit status 1: something "
        "differs,\n"
        "is damaged, or contradicts itself.",
    .examples = "  cocabo verify\n"
                "  cocabo verify --proposals all --json",
    .main = verify_main,
};
