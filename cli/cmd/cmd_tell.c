/* cmd_tell.c - cocabo tell: the result of a trial, or why there is none. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "io/metrics.h"
#include "io/notes.h"
#include "io/output.h"

typedef struct tell_args {
  const char *fail, *step, *run;
  front_texts attrs;
  cli_common common;
} tell_args;

static const front_option options[] = {
    {"--fail", "REASON", "there is no value, and why", FRONT_TEXT,
     offsetof(tell_args, fail)},
    {"--attr", "NAME=VALUE", "a text to keep with the trial; repeatable", FRONT_TEXTS,
     offsetof(tell_args, attrs)},
    {"--step", "STEP", "VALUE is what there is so far, at this step", FRONT_TEXT,
     offsetof(tell_args, step)},
    {"--run", "RUN", "it is the result of this run of the trial", FRONT_TEXT,
     offsetof(tell_args, run)},
    CLI_FILE_OPTION(tell_args),
    CLI_COMMON_OPTIONS(tell_args),
    {0}};

/* What there is to tell. */
typedef struct news {
  int64_t number;
  const char *result; /* as it was written */
  double value;
  cli_metrics metrics;
  const char *reason; /* NULL: there is a value, or only attributes */
  int64_t step;       /* -1: it is the result */
  int64_t run;        /* -1: of the trial as a whole */
  cli_notes notes;
} news;

/* Which member of an object is the value, the study knows. */
static bool is_object(const news *n) {
  return n->result && *n->result == '{';
}

static cocabo_status parse_result(news *n, const char *objective, cocabo_error *err) {
  char shown[CB_SHOWN], name[CB_SHOWN];
  const size_t size = strlen(n->result);
  if (is_object(n) ? cli_parse_result(n->result, objective, &n->value, &n->metrics)
                   : cb_parse_result(n->result, size, &n->value))
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INVALID,
                 "the value is \"%s\", want a number or {\"%s\": number, ...}",
                 cb_text_show(shown, n->result),
                 cb_text_show_within(name, objective, 40));
}

static cocabo_status parse_attr(const char *word, cli_notes *notes, cocabo_error *err) {
  char shown[CB_SHOWN], name[CB_NAME_MAX + 1];
  const char *equals = strchr(word, '=');
  const size_t size = equals ? (size_t)(equals - word) : 0;
  if (size == 0 || size > CB_NAME_MAX)
    return cb_fail(err, COCABO_E_INVALID, "--attr is \"%s\", want NAME=VALUE",
                   cb_text_show(shown, word));
  memcpy(name, word, size);
  name[size] = '\0';
  return cli_notes_add(notes, name, equals + 1, err);
}

static cocabo_status parse_news(const tell_args *args, const front_texts *rest,
                                news *out, cocabo_error *err) {
  const bool valueless = args->fail || (args->attrs.n > 0 && rest->n == 1);
  *out = (news){.reason = args->fail, .step = -1, .run = -1};
  if (args->run && (args->step || args->attrs.n > 0))
    return cb_fail(err, COCABO_E_INVALID,
                   "--run goes with a value or --fail and nothing else");
  if (args->step && (valueless || args->attrs.n > 0))
    return cb_fail(err, COCABO_E_INVALID, "--step goes with a value and nothing else");
  if (rest->n != (valueless ? 1 : 2))
    return cb_fail(err, COCABO_E_INVALID,
                   "want NUMBER VALUE, or NUMBER --fail REASON, or NUMBER --attr "
                   "NAME=VALUE");
  CB_TRY(
      front_parse_int("the number", rest->items[0], 0, INT64_MAX, &out->number, err));
  CB_TRY(front_parse_int("--run", args->run, 0, INT64_MAX, &out->run, err));
  CB_TRY(front_parse_int("--step", args->step, 0, INT64_MAX, &out->step, err));
  for (int i = 0; i < args->attrs.n; i++)
    CB_TRY(parse_attr(args->attrs.items[i], &out->notes, err));
  out->result = valueless ? NULL : rest->items[1];
  return !out->result || is_object(out) ? COCABO_OK : parse_result(out, "value", err);
}

static cocabo_status tell_run(cocabo_study *study, const news *n, cocabo_error *err) {
  const cocabo_run run = {.trial = n->number,
                          .run = n->run,
                          .state = n->reason ? COCABO_RUN_FAILED : COCABO_RUN_OK,
                          .value = n->value};
  return cli_tell_run(study, &run, n->reason ? NULL : &n->metrics, n->reason, err);
}

/* At one stroke. */
static cocabo_status tell(cocabo_study *study, const news *n, cocabo_error *err) {
  if (n->run >= 0)
    return tell_run(study, n, err);
  cocabo_metric metrics[COCABO_MAX_METRICS];
  for (size_t i = 0; i < n->metrics.n; i++)
    metrics[i] = (cocabo_metric){n->metrics.items[i].name, n->metrics.items[i].value};
  if (n->step >= 0)
    return cocabo_study_report(study, n->number, n->step, n->value, err);
  return cocabo_study_record(study, n->number,
                             &(cocabo_record){.value = n->result ? &n->value : NULL,
                                              .metrics = metrics,
                                              .n_metrics = n->metrics.n,
                                              .reason = n->reason,
                                              .attrs = n->notes.attrs,
                                              .n_attrs = n->notes.n_attrs},
                             err);
}

/* A value that did not become the trial's value deserves a word. */
static void comment(const cli_common *common, const news *n,
                    const cocabo_trial *trial) {
  const double value = cocabo_trial_value(trial);
  char first[CB_DIGITS], another[CB_DIGITS];
  cb_number_show(first, value);
  const long long number = (long long)n->number;
  const bool failure = n->reason || !isfinite(n->value);
  if (n->step >= 0 || n->run >= 0 || (!n->result && !n->reason))
    return; /* there is no result */
  if (failure && cocabo_trial_get_state(trial) == COCABO_COMPLETE)
    cli_note(common, "trial %lld has the value %s already and stays complete", number,
             first);
  else if (!n->reason && failure)
    cli_note(common, "trial %lld failed: its value is not finite", number);
  else if (!n->reason && value != n->value)
    cli_note(common, "trial %lld has the value %s already, %s is kept beside it",
             number, first, cb_number_show(another, n->value));
  else if (common->verbose && n->metrics.passed_over > 0)
    cli_note(common, "trial %lld: %zu of the members of its result are no metrics",
             number, n->metrics.passed_over);
  else if (common->verbose)
    cli_note(common, "trial %lld is %s", number,
             cocabo_state_name(cocabo_trial_get_state(trial)));
}

static cocabo_status tell_and_answer(cocabo_study *study, const cli_common *common,
                                     news *n, front_buffer *out, cocabo_error *err) {
  cocabo_trial *trial;
  if (is_object(n))
    CB_TRY(parse_result(n, cli_objective(study), err));
  CB_TRY(tell(study, n, err));
  CB_TRY(cocabo_study_trial(study, n->number, &trial, err));
  comment(common, n, trial);
  cocabo_status status = COCABO_OK;
  if (common->json)
    status = cli_put_json_trial(out, study, trial, err);
  if (common->json && status == COCABO_OK)
    status = front_buffer_puts(out, "\n", err);
  cocabo_trial_free(trial);
  return status;
}

static cocabo_status parse_and_tell(int argc, char **argv, front_buffer *out,
                                    cocabo_error *err) {
  tell_args args = {0};
  front_texts rest = {0};
  news n;
  cli_session session;
  CB_TRY(front_args_parse(options, argc, argv, &args, &rest, err));
  cocabo_status status = parse_news(&args, &rest, &n, err);
  if (status == COCABO_OK)
    status = cli_open_study(&session, &args.common, 0, err);
  if (status == COCABO_OK) {
    status = tell_and_answer(session.study, &args.common, &n, out, err);
    cli_close(&session);
  }
  cli_notes_free(&n.notes);
  return status;
}

static int tell_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  const cocabo_status status = parse_and_tell(argc, argv, &out, &err);
  return cli_answer("tell", status, &out, &err);
}

const cli_command cmd_tell = {
    .name = "tell",
    .summary = "Records the result of a trial.",
    .usage = "NUMBER VALUE [--attr NAME=VALUE ...] | NUMBER --fail REASON | "
             "NUMBER VALUE --step STEP",
    .options = options,
    .details =
        "VALUE is a number, or a JSON object of numbers such as\n"
        "'{\"value\": 3, \"p99\": 180}', whose other members are the "
        "trial's metrics.\n\n"
        "The first value of a trial counts; the same one again changes nothing, "
        "another\n"
        "one is kept beside it. A late one is welcome. A value that is not "
        "finite (nan,\n"
        "inf) makes the trial failed. Prints nothing, or the trial with --json.\n\n"
        "--attr keeps a text with the trial, such as where it ran, also without a "
        "value; the\n"
        "last text of a name counts. --step keeps what the value is so far and "
        "tells no\n"
        "result; a second value of a step replaces the first. Neither changes what "
        "is\n"
        "proposed.",
    .examples = "  cocabo tell 3 0.25\n"
                "  cocabo tell 4 -1.5e-3\n"
                "  cocabo tell 6 '{\"value\": 0.25, \"size\": 12}'\n"
                "  cocabo tell 5 --fail 'out of memory'\n"
                "  cocabo tell 7 3.2 --attr host=a1 --attr gpu=0\n"
                "  cocabo tell 8 0.4 --step 3",
    .main = tell_main,
};
