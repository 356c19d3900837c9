/* cmd_report.c - cocabo report: a study as one page that needs nothing else. */
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "common/outfile.h"
#include "common/show.h"
#include "http/page.h"

/* Bytes of data: with the page it stays below two million. */
enum { DATA_MAX = 1650 * 1000 };

typedef struct report_args {
  const char *output;
  cli_common common;
} report_args;

static const front_option options[] = {{"-o, --output", "FILE",
                                        "the page, a name that ends in .html",
                                        FRONT_TEXT, offsetof(report_args, output)},
                                       CLI_FILE_OPTION(report_args),
                                       CLI_COMMON_OPTIONS(report_args),
                                       {0}};

static cocabo_status check(const report_args *args, cocabo_error *err) {
  if (!args->output)
    return cb_fail(err, COCABO_E_INVALID, "there is no -o, want -o FILE.html");
  return front_check_ending("-o", args->output, ".html", err);
}

static cocabo_status write_report(const report_args *args, const cli_session *session,
                                  cocabo_error *err) {
  char shown[CB_SHOWN];
  const char *name = cocabo_study_name(session->study);
  const http_settings settings = {
      .storage = show_url(shown, cli_storage(&args->common)), .any_host = true};
  http_site site = {.settings = &settings, .store = session->store};
  front_buffer page = {0};
  cocabo_status status = http_report(&site, &name, 1, DATA_MAX, &page, err);
  if (status == COCABO_OK)
    status = front_outfile_write(args->output, &page, err);
  front_buffer_free(&page);
  http_site_close(&site);
  return status;
}

static int report_main(int argc, char **argv) {
  report_args args = {0};
  cli_session session;
  cocabo_error err;
  if (front_args_parse(options, argc, argv, &args, NULL, &err) != COCABO_OK ||
      check(&args, &err) != COCABO_OK ||
      cli_open_study(&session, &args.common, COCABO_STORE_READ_ONLY, &err) != COCABO_OK)
    return cli_complain("report", &err);
  const cocabo_status status = write_report(&args, &session, &err);
  cli_close(&session);
  if (status != COCABO_OK)
    return front_complain("report", FRONT_FAILURE, &err);
  cli_note(&args.common, "cocabo report: wrote %s", args.output);
  return FRONT_DONE;
}

const cli_command cmd_report = {
    .name = "report",
    .summary = "Writes a study as one HTML page, with its charts and its trials.",
    .usage = "-o FILE.html [options]",
    .options = options,
    .details =
        "The page is the one of cocabo serve with the data inside. It needs no server\n"
        "and no network: mail it, or keep it with the results. Of very many trials it\n"
        "shows every improvement and a sample of the others, in at most 2 MB.",
    .examples = "  cocabo report -o study.html\n"
                "  cocabo report --study mnist -o mnist.html",
    .main = report_main,
};
