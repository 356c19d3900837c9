/* cmd_create.c - cocabo create: a study, for ask and tell or for workers to come. */
#include <stdbool.h>
#include <stdio.h>

#include "common/base.h"
#include "io/output.h"
#include "io/spec.h"

typedef struct create_args {
  cli_spec_args spec;
  cli_common common;
} create_args;

static const front_option options[] = {
    CLI_SPEC_OPTIONS(create_args), CLI_COMMON_OPTIONS(create_args), {0}};

static cocabo_status put_answer(front_buffer *out, const char *name, bool created,
                                bool json, cocabo_error *err) {
  if (!json)
    return front_buffer_printf(out, err, "%s\n", name);
  CB_TRY(front_buffer_puts(out, "{\"name\":", err));
  CB_TRY(front_put_json_text(out, name, err));
  return front_buffer_printf(out, err, ",\"created\":%s}\n",
                             created ? "true" : "false");
}

static cocabo_status create(const create_args *args, const cli_spec *spec,
                            front_buffer *out, cocabo_error *err) {
  cli_session session;
  bool created;
  CB_TRY(cli_spec_open(spec, &args->common, &session, &created, err));
  const char *name = cocabo_study_name(session.study);
  const cocabo_status status = put_answer(out, name, created, args->common.json, err);
  if (status == COCABO_OK && args->common.verbose)
    cli_note(&args->common, "study \"%s\" %s", name,
             created ? "is new" : "was there already");
  cli_close(&session);
  return status;
}

static cocabo_status parse_and_create(int argc, char **argv, front_buffer *out,
                                      cocabo_error *err) {
  create_args args = {0};
  cli_spec spec;
  const int end = front_options_end(argc, argv);
  const int words = end < argc ? argc - end - 1 : 0;
  CB_TRY(front_args_parse(options, end, argv, &args, NULL, err));
  CB_TRY(cli_spec_read(&spec, &args.spec, argv + argc - words, words, err));
  const cocabo_status status = create(&args, &spec, out, err);
  cli_spec_clear(&spec);
  return status;
}

static int create_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  const cocabo_status status = parse_and_create(argc, argv, &out, &err);
  return cli_answer("create", status, &out, &err);
}

const cli_command cmd_create = {
    .name = "create",
    .summary = "Creates a study without running anything, and prints its name.",
    .usage = "-p 'NAME=DOMAIN' ... [-f FILE] [options] [-- CMD ...]",
    .options = options,
    .details =
        "Domains: float(1e-5,0.1,log)  float(0,1,step=0.25)  int(1,8)  "
        "int(16,1024,log)\n"
        "         choice(adam,sgd,rmsprop)  ordinal(small,medium,large)\n"
        "Choices keep their type: 1, 1.0, true, \"1\" and null are five choices.\n"
        "\n"
        "A study that exists already is left as it is, but for options, limits and "
        "the\n"
        "command where they are given anew. Another space or direction is refused. "
        "What\n"
        "follows -- is kept as the command that cocabo worker runs.",
    .more = cli_spec_introduce,
    .examples =
        "  cocabo create -p 'lr=float(1e-5,0.1,log)' -p 'opt=choice(adam,sgd)'\n"
        "  cocabo ask\n"
        "  cocabo tell 0 0.42\n"
        "  cocabo create -f study.yaml --study second --maximize --set n_init=20",
    .main = create_main,
};
