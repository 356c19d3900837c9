/* cmd_create.c - cocabo create: a study, for ask and tell or for workers to come. */
#include <stdbool.h>
#include <stdio.h>

#include "common/base.h"
#include "io/carry.h"
#include "io/output.h"
#include "io/spec.h"
#include "run/template.h"

typedef struct create_args {
  const char *from, *from_storage;
  front_texts given;
  cli_spec_args spec;
  cli_common common;
} create_args;

static const front_option options[] = {
    CLI_SPEC_OPTIONS(create_args),
    {"", NULL, "From another study", FRONT_HEADING, 0},
    {"--from", "STUDY", "begin with what fits of its finished trials", FRONT_TEXT,
     offsetof(create_args, from)},
    {"--given", "NAME=VALUE", "of a new parameter, or of one to drop; may be repeated",
     FRONT_TEXTS, offsetof(create_args, given)},
    {"--from-storage", "URL", "where that study lives (as --storage)", FRONT_TEXT,
     offsetof(create_args, from_storage)},
    CLI_COMMON_OPTIONS(create_args),
    {0}};

/* `c` is NULL for a study that begins empty. */
static cocabo_status put_answer(front_buffer *out, const char *name, bool created,
                                bool json, const carry *c, cocabo_error *err) {
  if (!json)
    return front_buffer_printf(out, err, "%s\n", name);
  CB_TRY(front_buffer_puts(out, "{\"name\":", err));
  CB_TRY(front_put_json_text(out, name, err));
  CB_TRY(front_buffer_printf(out, err, ",\"created\":%s", created ? "true" : "false"));
  if (c)
    CB_TRY(front_buffer_printf(out, err, ",\"carried\":%zu,\"did_not_fit\":%zu",
                               c->n_trials, c->n_misfits));
  return front_buffer_puts(out, "}\n", err);
}

static void say_carried(const cli_common *common, const carry *c) {
  cli_note(common, "%zu trials carried over, %zu did not fit", c->n_trials,
           c->n_misfits);
  for (size_t i = 0; i <= c->n_new + c->n_dropped; i++)
    if (c->reasons[i].n > 0)
      cli_note(common, "  %zu x %s", c->reasons[i].n, c->reasons[i].text);
}

static cocabo_status create(const create_args *args, const cli_spec *spec, carry *c,
                            front_buffer *out, cocabo_error *err) {
  cli_session session;
  bool created;
  CB_TRY(cli_spec_fill(spec, &args->common, c ? carry_fill : NULL, c, &session,
                       &created, err));
  const char *name = cocabo_study_name(session.study);
  const cocabo_status status =
      put_answer(out, name, created, args->common.json, c, err);
  if (status == COCABO_OK && args->common.verbose)
    cli_note(&args->common, "study \"%s\" %s", name,
             created ? "is new" : "was there already");
  if (status == COCABO_OK && c)
    say_carried(&args->common, c);
  cli_close(&session);
  return status;
}

/* ---- from another study ---------------------------------------------------------- */

/* The command of the other study may name a parameter that is dropped. */
static cocabo_status check_inherited(const cli_spec *spec, const cocabo_study *from,
                                     cocabo_error *err) {
  char shown[CB_SHOWN];
  cocabo_error why;
  if (!spec->command ||
      cli_template_check(spec->command, spec->space, &why) == COCABO_OK)
    return COCABO_OK;
  return cb_fail(err, why.code,
                 "the command of study \"%s\" does not fit the new parameters, want "
                 "another one after --: %s",
                 cb_text_show_within(shown, cocabo_study_name(from), 24), why.message);
}

static cocabo_status carry_over(const create_args *args, cli_spec *spec,
                                const cocabo_study *from, front_buffer *out,
                                cocabo_error *err) {
  carry c;
  const bool inherits = !spec->command;
  CB_TRY(carry_begin(&c, spec, from, &args->given, err));
  cocabo_status status = inherits ? check_inherited(spec, from, err) : COCABO_OK;
  if (status == COCABO_OK)
    status = create(args, spec, &c, out, err);
  carry_end(&c);
  return status;
}

static cocabo_status refuse_existing(const create_args *args, const cli_spec *spec,
                                     cocabo_error *err) {
  char shown[CB_SHOWN];
  return cli_spec_exists(spec, &args->common)
             ? cb_fail(err, COCABO_E_EXISTS,
                       "study \"%s\" exists already, want another --study name for the "
                       "new one",
                       cb_text_show(shown, args->common.study))
             : COCABO_OK;
}

/* The new study has a name of its own: the only one there is may be the other. */
static void name_new(create_args *args, const cli_spec *spec) {
  const char *name = args->common.study ? args->common.study : spec->study;
  if (!name)
    name = cli_study(&args->common);
  args->common.study = name ? name : CLI_DEFAULT_STUDY;
}

/* The words after "--" are the command. */
typedef struct command_words {
  char *const *items;
  int n;
} command_words;

/* The other study is open, because the flags are about its parameters. */
static cocabo_status create_like(create_args *args, command_words words,
                                 const cocabo_study *from, front_buffer *out,
                                 cocabo_error *err) {
  cli_spec spec;
  args->spec.base = cocabo_study_space(from);
  args->spec.given = &args->given;
  CB_TRY(cli_spec_read(&spec, &args->spec, words.items, words.n, err));
  name_new(args, &spec);
  cocabo_status status = refuse_existing(args, &spec, err);
  if (status == COCABO_OK)
    status = carry_over(args, &spec, from, out, err);
  cli_spec_clear(&spec);
  return status;
}

static cocabo_status create_from(create_args *args, command_words words,
                                 front_buffer *out, cocabo_error *err) {
  const char *storage = args->from_storage ? args->from_storage : args->common.storage;
  const cli_common other = {.storage = storage, .study = args->from};
  cli_session session = {0};
  CB_TRY(cli_open_study(&session, &other, COCABO_STORE_READ_ONLY, err));
  const cocabo_status status = create_like(args, words, session.study, out, err);
  cli_close(&session);
  return status;
}

/* ---- the command ----------------------------------------------------------------- */

static cocabo_status create_new(const create_args *args, command_words words,
                                front_buffer *out, cocabo_error *err) {
  cli_spec spec;
  if (args->given.n > 0 || args->from_storage)
    return cb_fail(err, COCABO_E_INVALID, "%s is of no use without --from",
                   args->given.n > 0 ? "--given" : "--from-storage");
  CB_TRY(cli_spec_read(&spec, &args->spec, words.items, words.n, err));
  const cocabo_status status = create(args, &spec, NULL, out, err);
  cli_spec_clear(&spec);
  return status;
}

static cocabo_status parse_and_create(int argc, char **argv, front_buffer *out,
                                      cocabo_error *err) {
  create_args args = {0};
  const int end = front_options_end(argc, argv);
  const int n = end < argc ? argc - end - 1 : 0;
  const command_words words = {argv + argc - n, n};
  CB_TRY(front_args_parse(options, end, argv, &args, NULL, err));
  return args.from ? create_from(&args, words, out, err)
                   : create_new(&args, words, out, err);
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
    .usage = "-p 'NAME=DOMAIN' ... [-f FILE] [--from STUDY] [options] [-- CMD ...]",
    .options = options,
    .details =
        "Domains: float(1e-5,0.1,log)  float(0,1,step=0.25)  int(1,8)\n"
        "         int(16,1024,log)  int(8,64,step=8)  bool\n"
        "         choice(adam,sgd,rmsprop)  ordinal(small,medium,large)\n"
        "Choices keep their type: 1, 1.0, true, \"1\" and null are five choices.\n"
        "'degree=int(2,5) if kernel == poly' has a condition, and --where "
        "'lc + lp <= 4'\n"
        "is a rule: see `cocabo help conditions`.\n"
        "\n"
        "A study that exists already is left as it is, but for options, limits and "
        "the\n"
        "command where they are given anew. Another space, rule or direction is\n"
        "refused. What follows -- is kept as the command that cocabo worker runs.\n"
        "\n"
        "With --from the new study is like another one, but for what is given anew: "
        "its\n"
        "parameters, options, command and budget. -p and -f widen, narrow or add\n"
        "parameters; a new one needs a --given, the value that it had in the old "
        "trials. A\n"
        "--given for a parameter without a -p drops it: only the trials with that "
        "value\n"
        "fit. Rules are those of the other study, unless --where or the file says "
        "some.\n"
        "Complete and failed trials that fit come along, all at one stroke.",
    .more = cli_spec_introduce,
    .examples =
        "  cocabo create -p 'lr=float(1e-5,0.1,log)' -p 'opt=choice(adam,sgd)'\n"
        "  cocabo ask\n"
        "  cocabo tell 0 0.42\n"
        "  cocabo create -f study.yaml --study second --maximize --set n_init=20\n"
        "  cocabo create --from second --study third -p 'lr=float(1e-6,1,log)' \\\n"
        "      -p 'warmup=int(0,100)' --given warmup=0 --given opt=adam",
    .main = create_main,
};
