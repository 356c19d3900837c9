/* tune.c - checks the command, runs the loop of runner.h, and prints the end. */
#include "run/tune.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/show.h"
#include "io/metrics.h"
#include "run/finish.h"
#include "run/runner.h"
#include "run/template.h"

static cocabo_status parse_lease(const char *text, double *out, cocabo_error *err) {
  *out = CLI_LEASE_SECONDS;
  return front_parse_duration("--lease", text, 1.0, out, err);
}

cocabo_status cli_tune_check(const cli_tune_args *args, cocabo_error *err) {
  double seconds;
  return parse_lease(args->lease, &seconds, err);
}

cocabo_status cli_tune_want(const cli_spec *spec, cocabo_error *err) {
  const bool counted = spec->trials > 0 || spec->runs > 0;
  if (!counted && !(spec->timeout > 0.0)) /* NaN: not said */
    return cb_fail(err, COCABO_E_INVALID,
                   "when to stop? want -n TRIALS or --timeout TIME, or --runs N");
  if (!spec->command)
    return cb_fail(err, COCABO_E_INVALID,
                   "what to run? want a command after --, such as "
                   "-- python3 train.py {lr}");
  return COCABO_OK;
}

cocabo_status cli_tune_recall(cli_spec *spec, const cli_common *common,
                              const cocabo_study *study, const char *example,
                              cocabo_error *err) {
  const double said = spec->timeout;
  char url[CB_SHOWN], name[CB_SHOWN];
  if (!spec->command && cli_is_http(common))
    return cb_fail(err, COCABO_E_INVALID,
                   "a command that comes over HTTP is not run, want it on this line: "
                   "cocabo %s --storage %s --study %s -- CMD",
                   example, show_url(url, cli_storage(common)),
                   cb_text_show(name, cocabo_study_name(study)));
  CB_TRY(cli_spec_recall(spec, study, err));
  if (spec->trials > 0 || spec->runs > 0)
    spec->timeout = said;
  return COCABO_OK;
}

/* A program that takes some parameters from its line probably wants all of them. */
static void note_missing_holes(const cli_run *run) {
  const cocabo_space *space = run->program.space;
  const char *missing = NULL;
  bool some = false;
  for (size_t i = 0; i < cocabo_space_count(space); i++) {
    const char *name = cocabo_space_name(space, i);
    bool found = false;
    for (char *const *word = run->program.command; *word && !found; word++)
      found = cli_template_has_hole(*word, space, name);
    some |= found;
    missing = found || missing ? missing : name;
  }
  if (some && missing)
    cli_note(run->common, "note: {%s} is not in the command, only in COCABO_PARAMS",
             missing);
}

/* A worker takes the command from the study, with paths that may mean something else
 * here. */
static void note_folder(const cli_run *run) {
  char here[CLI_PATH_SIZE], there[CLI_PATH_SIZE];
  const char *folder = cocabo_study_attr(run->session.study, "folder");
  if (!folder || strlen(folder) >= sizeof there || !getcwd(here, sizeof here) ||
      strcmp(folder, here) == 0)
    return;
  cli_clean_text(folder, strlen(folder), there); /* it is anybody's text */
  cli_clean_text(here, strlen(here), here);
  cli_note(run->common, "note: the command ran in the folder \"%s\", this is \"%s\"",
           there, here);
}

static double number_of(const cocabo_study *study, const char *option) {
  double value = 0.0;
  const char *text = cocabo_study_option(study, option);
  return text && cb_parse_number(text, &value) ? value : 0.0;
}

/* What the study's options say of runs, and whether the command can use it. */
static cocabo_status prepare_runs(cli_run *run, const cli_spec *spec,
                                  cocabo_error *err) {
  const cocabo_study *study = run->session.study;
  const cocabo_space *space = cocabo_study_space(study);
  const bool instances = *cocabo_study_option(study, "instances") != '\0';
  run->by_runs = cli_has_runs(study);
  run->cap = number_of(study, "cap");
  run->par = number_of(study, "par");
  run->warmup = spec->warmup > 0 ? spec->warmup : 0;
  bool named = false;
  for (size_t i = 0; i < cocabo_space_count(space); i++)
    named |= strcmp(cocabo_space_name(space, i), "instance") == 0;
  for (char *const *word = run->program.command; *word && !named; word++)
    if (!instances && cli_template_has_hole(*word, space, "instance"))
      return cb_fail(err, COCABO_E_INVALID,
                     "the command has {instance}, and there are no instances: want "
                     "--instances FILE when the study is created");
  return COCABO_OK;
}

static cocabo_status prepare(cli_run *run, const cli_spec *spec,
                             const cli_tune_args *args, cocabo_error *err) {
  const cocabo_study *study = run->session.study;
  CB_TRY(cli_tune_want(spec, err));
  CB_TRY(parse_lease(args->lease, &run->lease, err));
  CB_TRY(
      cli_program_find(&run->program, spec->command, cocabo_study_space(study), err));
  if (spec->limit)
    CB_TRY(cli_quota_parse(&run->program.quota, spec->limit, err));
  if (args->log_folder)
    CB_TRY(cli_make_folder(args->log_folder, err));
  snprintf(run->program.objective, sizeof run->program.objective, "%s",
           cli_objective(study));
  CB_TRY(prepare_runs(run, spec, err));
  CB_TRY(cli_patterns_compile(&run->program.patterns, &spec->metrics, err));
  run->program.study = cocabo_study_name(study);
  run->program.storage = cli_storage(run->common);
  run->program.log_folder = args->log_folder;
  run->pin = spec->pin > 0;
  run->workers = spec->workers > 0 ? spec->workers : 1;
  run->retries = spec->retries > 0 ? spec->retries : 0;
  run->timeout = spec->timeout > 0.0 ? spec->timeout : 0.0;
  run->trial_timeout = spec->trial_timeout > 0.0 ? spec->trial_timeout : 0.0;
  run->limits = (cli_limits){.target = isfinite(spec->target) ? spec->target : NAN,
                             .patience = spec->patience,
                             .max_failures = spec->max_failures};
  return COCABO_OK;
}

int cli_tune(const char *command, const cli_common *common, const cli_session *session,
             const cli_spec *spec, const cli_tune_args *args) {
  cli_run run = {.name = command, .common = common, .session = *session};
  cli_ended ended;
  cocabo_error err;
  if (prepare(&run, spec, args, &err) != COCABO_OK)
    return cli_complain(command, &err);
  note_missing_holes(&run);
  note_folder(&run);
  const cocabo_status status = cli_run_trials(&run, &ended, &err);
  cli_patterns_free(&run.program.patterns);
  return status == COCABO_OK ? cli_finish_run(&run, &ended)
                             : front_complain(command, FRONT_FAILURE, &err);
}
