/* cmd_convert.c - cocabo convert: the space of another tuner as a file for -f. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "common/base.h"
#include "common/outfile.h"
#include "io/foreign.h"
#include "io/output.h"

typedef struct convert_args {
  const char *format, *output;
  cli_common common;
} convert_args;

static const front_option options[] = {
    {"--from", "irace|scenario|configspace|pcs", "what FILE is (by what is in it)",
     FRONT_TEXT, offsetof(convert_args, format)},
    {"-o, --output", "FILE", "where to (standard output)", FRONT_TEXT,
     offsetof(convert_args, output)},
    CLI_COMMON_OPTIONS(convert_args),
    {0}};

static cocabo_status load(const char *path, front_buffer *text, cocabo_error *err) {
  char shown[CB_SHOWN];
  const bool standard = strcmp(path, "-") == 0;
  const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return cb_fail(err, COCABO_E_INVALID, "cannot read %s: %s",
                   cb_text_show(shown, path), strerror(errno));
  const cocabo_status status = front_read_up_to(fd, path, FOREIGN_MAX_SIZE, text, err);
  if (!standard)
    close(fd);
  return status;
}

static cocabo_status convert(const convert_args *args, const char *path,
                             const front_buffer *text, front_buffer *out,
                             cocabo_error *err) {
  const char *data = text->data ? text->data : "";
  foreign f = {0};
  int format = (int)foreign_detect(path, data, text->size);
  if (args->format)
    CB_TRY(front_parse_name("--from", "format", args->format, foreign_format_name,
                            &format, err));
  cocabo_status status =
      foreign_read(&f, path, (foreign_format)format, data, text->size, err);
  f.study = args->common.study;
  if (status == COCABO_OK)
    status = args->common.json ? foreign_put_json(out, &f, err)
                               : foreign_put_yaml(out, &f, err);
  for (const foreign_note *n = f.notes; status == COCABO_OK && n; n = n->next)
    cli_note(&args->common, "note: %s", n->text);
  foreign_free(&f);
  return status;
}

static cocabo_status convert_file(int argc, char **argv, front_buffer *out,
                                  cocabo_error *err) {
  convert_args args = {0};
  front_texts files = {0};
  front_buffer text = {0};
  CB_TRY(front_args_parse(options, argc, argv, &args, &files, err));
  if (files.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "there are %d files, want one", files.n);
  cocabo_status status = load(files.items[0], &text, err);
  if (status == COCABO_OK)
    status = convert(&args, files.items[0], &text, out, err);
  front_buffer_free(&text);
  if (status != COCABO_OK || !args.output || strcmp(args.output, "-") == 0)
    return status;
  status = front_outfile_write(args.output, out, err);
  out->size = 0; /* it has been written */
  return status;
}

static int convert_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  return cli_answer("convert", convert_file(argc, argv, &out, &err), &out, &err);
}

const cli_command cmd_convert = {
    .name = "convert",
    .summary = "Rewrites a space of irace, ConfigSpace or SMAC as a file for -f.",
    .usage = "FILE [-o study.yaml] [--from irace|scenario|configspace|pcs]",
    .options = options,
    .details =
        "irace        parameters.txt of irace 3 or 4, with [forbidden]; the switches\n"
        "             become a command in a comment\n"
        "scenario     scenario.txt of irace: the parameters and forbidden clauses "
        "that\n"
        "             it names, and what it says of runs and instances, in comments\n"
        "configspace  JSON or YAML of ConfigSpace, 0.4 to 1.x\n"
        "pcs          .pcs of SMAC and AClib, the new format or the old one\n"
        "\n"
        "Conditions become conditions, and forbidden clauses rules. What cannot be\n"
        "expressed is left out, with a note each. -f of other commands reads such "
        "files\n"
        "as they are. FILE may be - for standard input. --study gives the file a "
        "name,\n"
        "--json makes it one of JSON.",
    .examples = "  cocabo convert parameters.txt -o study.yaml\n"
                "  cocabo convert configspace.json | less\n"
                "  cocabo run -f solver.pcs -n 100 -- ./solve.sh",
    .main = convert_main,
};
