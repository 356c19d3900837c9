/* cmd_import.c - cocabo import: trials of a file into a study. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/outfile.h"
#include "io/import.h"
#include "io/output.h"
#include "io/spec.h"

typedef struct import_args {
  const char *format;
  cli_spec_args spec;
  cli_common common;
} import_args;

static const front_option options[] = {
    {"--format", "csv|json", "what the file is (by its ending)", FRONT_TEXT,
     offsetof(import_args, format)},
    {"", NULL, "For a study that is not there yet", FRONT_HEADING, 0},
    CLI_SPEC_OPTIONS(import_args),
    CLI_COMMON_OPTIONS(import_args),
    {0}};

enum { MAX_SIZE = 1 << 30 };

static const char *format_name(int i) {
  static const char *const names[] = {"csv", "json", "jsonl"};
  return i < (int)(sizeof names / sizeof names[0]) ? names[i] : NULL;
}

/* --format, else the ending of the file. Lines of JSON are read like one document. */
static cocabo_status parse_format(const char *said, const char *file, bool *json,
                                  cocabo_error *err) {
  char shown[CB_SHOWN];
  int format = front_find_ending(file, format_name);
  if (said)
    CB_TRY(front_parse_name("--format", "format", said, format_name, &format, err));
  if (format < 0)
    return cb_fail(err, COCABO_E_INVALID,
                   "the file is \"%s\", which says no format: want --format csv or "
                   "json",
                   cb_text_show(shown, file));
  *json = format > 0;
  return COCABO_OK;
}

/* "-" is standard input. */
static cocabo_status read_file(const char *path, front_buffer *text,
                               cocabo_error *err) {
  char shown[CB_SHOWN];
  const bool standard = strcmp(path, "-") == 0;
  const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return cb_fail(err, COCABO_E_INVALID, "cannot read %s: %s",
                   cb_text_show(shown, path), strerror(errno));
  cocabo_status status = front_read_up_to(fd, path, MAX_SIZE, text, err);
  if (status == COCABO_OK && text->size > MAX_SIZE)
    status = cb_fail(err, COCABO_E_RANGE, "%s is larger than 1 GiB",
                     cb_text_show(shown, path));
  if (!standard)
    close(fd);
  return status;
}

/* One import under way. */
typedef struct import_work {
  import_args args;
  bool json; /* the file's format */
  cli_spec spec;
  cli_session session;
  front_buffer text;
  import_rows rows;
  import_counts counts;
} import_work;

/* ---- what became of the rows ----------------------------------------------------- */

static void name_misfits(const import_work *i) {
  const import_rows *rows = &i->rows;
  for (size_t k = 0; k < rows->n_misfits && k < IMPORT_NAMED; k++)
    cli_note(&i->args.common, "%s", rows->misfits[k].message);
  if (rows->n_misfits > IMPORT_NAMED)
    cli_note(&i->args.common, "and %zu more", rows->n_misfits - IMPORT_NAMED);
}

static cocabo_status put_counts(front_buffer *out, const import_work *i,
                                cocabo_error *err) {
  const import_counts *c = &i->counts;
  name_misfits(i);
  if (i->args.common.json)
    return front_buffer_printf(
        out, err,
        "{\"added\":%zu,\"complete\":%zu,\"failed\":%zu,\"enqueued\":%zu,"
        "\"already_there\":%zu,\"did_not_fit\":%zu}\n",
        c->added, c->complete, c->failed, c->enqueued, c->already, i->rows.n_misfits);
  cli_note(&i->args.common, "%zu added, %zu already there, %zu did not fit", c->added,
           c->already, i->rows.n_misfits);
  if (c->enqueued > 0)
    cli_note(&i->args.common, "%zu of them to be tried", c->enqueued);
  return COCABO_OK;
}

/* Where no row fits, the file is another study's. */
static cocabo_status check_any(const import_rows *rows, cocabo_error *err) {
  if (rows->n > 0 || rows->n_misfits == 0)
    return COCABO_OK;
  if (rows->n_misfits == 1)
    return cb_fail(err, COCABO_E_INVALID, "%s", rows->misfits[0].message);
  return cb_fail(err, COCABO_E_INVALID, "none of %zu rows fits: %s", rows->n_misfits,
                 rows->misfits[0].message);
}

static cocabo_status read_rows(import_work *i, const cocabo_space *space,
                               cocabo_error *err) {
  const char *bytes = i->text.data ? i->text.data : "";
  import_free(&i->rows);
  i->rows.space = space;
  CB_TRY(i->json ? import_json(&i->rows, bytes, i->text.size, err)
                 : import_csv(&i->rows, bytes, i->text.size, err));
  return check_any(&i->rows, err);
}

/* A file of cocabo export describes the study that it came from: a new one may be like
 * that. */
static cocabo_status adopt_study(import_work *i, cocabo_error *err) {
  if (!i->json || i->spec.space || cli_spec_exists(&i->spec, &i->args.common))
    return COCABO_OK;
  char *text = import_json_study(i->text.data ? i->text.data : "", i->text.size);
  const cocabo_status status =
      text ? cli_spec_adopt(&i->spec, i->rows.name, text, strlen(text), err)
           : COCABO_OK;
  cb_free(text);
  return status;
}

/* A study that exists may have its parameters in another order. */
static cocabo_status fill(void *user, cocabo_study *study, cocabo_error *err) {
  import_work *i = user;
  const cocabo_space *space = cocabo_study_space(study);
  if (!cocabo_space_equal(i->rows.space, space))
    CB_TRY(read_rows(i, space, err));
  return import_add(&i->rows, study, &i->counts, err);
}

/* A study that the flags or the file describe is created only after its rows have been
 * read, and together with them. */
static cocabo_status carry_out(import_work *i, cocabo_error *err) {
  CB_TRY(adopt_study(i, err));
  if (i->spec.space)
    CB_TRY(read_rows(i, i->spec.space, err));
  return cli_spec_fill(&i->spec, &i->args.common, fill, i, &i->session, NULL, err);
}

static cocabo_status parse(import_work *i, int argc, char **argv, cocabo_error *err) {
  front_texts rest = {0};
  CB_TRY(front_args_parse(options, argc, argv, &i->args, &rest, err));
  if (rest.n != 1)
    return cb_fail(err, COCABO_E_INVALID, "there are %d files, want one", rest.n);
  CB_TRY(parse_format(i->args.format, rest.items[0], &i->json, err));
  i->rows.name = rest.items[0];
  CB_TRY(cli_spec_read(&i->spec, &i->args.spec, NULL, 0, err));
  return read_file(rest.items[0], &i->text, err);
}

static void clear(import_work *i) {
  import_free(&i->rows);
  front_buffer_free(&i->text);
  cli_close(&i->session);
  cli_spec_clear(&i->spec);
}

static cocabo_status import_file(int argc, char **argv, front_buffer *out,
                                 cocabo_error *err) {
  import_work i = {0};
  cocabo_status status = parse(&i, argc, argv, err);
  if (status == COCABO_OK)
    status = carry_out(&i, err);
  if (status == COCABO_OK)
    status = put_counts(out, &i, err);
  clear(&i);
  return status;
}

static int import_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  return cli_answer("import", import_file(argc, argv, &out, &err), &out, &err);
}

const cli_command cmd_import = {
    .name = "import",
    .summary = "Adds the trials of a file to a study.",
    .usage = "[--format csv|json] FILE [-p 'NAME=DOMAIN' ...] [options]",
    .options = options,
    .details =
        "csv   a line of column names (the parameters, value, metrics.NAME for a "
        "metric,\n"
        "      attr.NAME for an attribute, reports), then a row a trial\n"
        "json  a file of cocabo export, or objects {\"params\": {..}, \"value\": y,\n"
        "      \"metrics\": {..}, \"attrs\": {..}, \"reports\": [[step, value], ..]}\n"
        "\n"
        "FILE.csv, FILE.json and FILE.jsonl need no --format; if they have one, it "
        "counts.\n"
        "\n"
        "Rows with a value become complete trials, those whose state is failed failed\n"
        "ones with their reason, and those without a value are tried first. Columns "
        "that\n"
        "cocabo export or a data frame of Optuna has besides are ignored. An empty "
        "cell, or\n"
        "a key that is not there, means that the parameter is inactive.\n"
        "\n"
        "All rows are added at one stroke. Those that the study has already, at the "
        "same\n"
        "point with the same value or reason, are not added again, so that a file can "
        "be\n"
        "imported again when it has grown; of equal rows in a file each counts. Rows "
        "that\n"
        "do not fit the space are named and left out. The study must exist, or be\n"
        "described by -p or -f, or by the JSON of cocabo export with its options.",
    .examples = "  cocabo import known.csv\n"
                "  cocabo import known.csv --study new \\\n"
                "      -p 'lr=float(1e-5,0.1,log)' -p 'opt=choice(adam,sgd)'\n"
                "  cocabo export --format json --study old | \\\n"
                "      cocabo import --format json - --study new",
    .main = import_main,
};
