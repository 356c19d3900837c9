/* cmd_export.c - cocabo export: a study into a file of another format. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "common/base.h"
#include "common/outfile.h"
#include "common/place.h"
#include "common/show.h"
#include "io/export.h"
#include "io/output.h"

typedef struct export_args {
  const char *format, *output;
  cli_common common;
} export_args;

static const front_option options[] = {
    {"--format", "csv|json|jsonl|optuna-journal", "what to write (by FILE's ending)",
     FRONT_TEXT, offsetof(export_args, format)},
    {"-o, --output", "FILE", "where to (standard output)", FRONT_TEXT,
     offsetof(export_args, output)},
    CLI_FILE_OPTION(export_args),
    CLI_COMMON_OPTIONS(export_args),
    {0}};

/* ---- formats --------------------------------------------------------------------- */

static const char *format_name(int i) {
  static const char *const names[] = {"csv", "json", "jsonl", "optuna-journal"};
  return i < (int)(sizeof names / sizeof names[0]) ? names[i] : NULL;
}

static cocabo_status put_study(front_buffer *out, const cocabo_study *study, int format,
                               cocabo_error *err) {
  switch (format) {
  case 0:
    return export_csv(out, study, err);
  case 1:
    return export_json(out, study, err);
  case 2:
    return export_lines(out, study, err);
  default:
    return export_journal(out, study, err);
  }
}

/* --format, else the ending of the file; the journal of Optuna has none of its own. */
static cocabo_status parse_format(const export_args *args, int *out,
                                  cocabo_error *err) {
  static const char want[] = "csv, json, jsonl or optuna-journal";
  char shown[CB_SHOWN];
  if (args->format)
    return front_parse_name("--format", "format", args->format, format_name, out, err);
  if (!args->output)
    return cb_fail(err, COCABO_E_INVALID, "--format is missing, want %s", want);
  *out = front_find_ending(args->output, format_name);
  return *out >= 0 ? COCABO_OK
                   : cb_fail(err, COCABO_E_INVALID,
                             "-o is \"%s\", which says no format: want --format %s",
                             cb_text_show(shown, args->output), want);
}

/* ---- where to -------------------------------------------------------------------- */

/* A pipe or a terminal cannot be replaced at one stroke, only written to. */
static bool is_stream(const char *path) {
  struct stat status;
  return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static cocabo_status write_stream(const char *path, const front_buffer *text,
                                  cocabo_error *err) {
  char shown[CB_SHOWN];
  int fd;
  CB_TRY(front_open_here("write", path, O_WRONLY, &fd, err));
  FILE *stream = fdopen(fd, "w");
  if (stream && isatty(fd))
    show_bytes(stream, text->data, text->size);
  else if (stream)
    fwrite(text->data, 1, text->size, stream);
  const bool ok = stream && !ferror(stream) && fflush(stream) == 0;
  if (!ok)
    cb_fail(err, COCABO_E_STORE, "cannot write %s: %s", cb_text_show(shown, path),
            strerror(errno));
  if (stream)
    fclose(stream);
  else
    close(fd);
  return ok ? COCABO_OK : COCABO_E_STORE;
}

static cocabo_status write_file(const char *path, const front_buffer *text, bool stream,
                                cocabo_error *err) {
  return stream ? write_stream(path, text, err) : front_outfile_write(path, text, err);
}

/* ---- the command ----------------------------------------------------------------- */

static cocabo_status export_study(int argc, char **argv, front_buffer *out,
                                  cocabo_error *err) {
  export_args args = {0};
  int format = 0;
  cli_session session;
  CB_TRY(front_args_parse(options, argc, argv, &args, NULL, err));
  CB_TRY(parse_format(&args, &format, err));
  CB_TRY(cli_open_study(&session, &args.common, COCABO_STORE_READ_ONLY, err));
  cocabo_status status = put_study(out, session.study, format, err);
  cli_close(&session);
  if (status != COCABO_OK || !args.output || strcmp(args.output, "-") == 0)
    return status;
  const bool stream = is_stream(args.output);
  status = write_file(args.output, out, stream, err);
  out->size = 0; /* it has been written */
  if (status == COCABO_OK && !stream)
    cli_note(&args.common, "cocabo export: wrote %s", args.output);
  return status;
}

static int export_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  return cli_answer("export", export_study(argc, argv, &out, &err), &out, &err);
}

const cli_command cmd_export = {
    .name = "export",
    .summary = "Writes a study as CSV, as JSON, or for Optuna.",
    .usage = "[--format csv|json|jsonl|optuna-journal] [-o FILE] [options]",
    .options = options,
    .details =
        "csv             one row a trial: number, state, value, a column a parameter,\n"
        "                a column a metric (metrics.NAME), an attribute (attr.NAME),\n"
        "                reports if there are any, attempt, started, finished\n"
        "                (seconds since 1970), seconds, reason\n"
        "json            one object: the parameters, options and trials\n"
        "jsonl           one trial a line, as cocabo trials --json prints them\n"
        "optuna-journal  a file for JournalStorage(JournalFileBackend(FILE)) of "
        "Optuna\n"
        "\n"
        "FILE.csv, FILE.json and FILE.jsonl need no --format; if they have one, it "
        "counts.\n"
        "A file is written whole or not at all. cocabo import reads csv, json and "
        "jsonl.",
    .examples = "  cocabo export -o trials.csv\n"
                "  cocabo export --format optuna-journal -o journal.log\n"
                "  cocabo export --format json | jq '.trials | length'",
    .main = export_main,
};
