/* cmd_retry.c - cocabo retry: puts trials back, to be evaluated again. */
#include <inttypes.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "io/output.h"

typedef struct retry_args {
  const char *state;
  cli_common common;
} retry_args;

static const front_option options[] = {{"--state", "failed|running",
                                        "trials in this state (failed)", FRONT_TEXT,
                                        offsetof(retry_args, state)},
                                       CLI_FILE_OPTION(retry_args),
                                       CLI_COMMON_OPTIONS(retry_args),
                                       {0}};

/* The trials to put back. */
typedef struct chosen {
  cocabo_trial_state state;
  int64_t n, *numbers; /* owned */
} chosen;

static cocabo_status parse_state(const char *text, cocabo_trial_state *out,
                                 cocabo_error *err) {
  char shown[CB_SHOWN];
  *out = text && strcmp(text, "running") == 0 ? COCABO_RUNNING : COCABO_FAILED;
  if (!text || strcmp(text, cocabo_state_name(*out)) == 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INVALID,
                 "--state is \"%s\", want failed or running; waiting, interrupted and "
                 "stale trials are on offer already",
                 cb_text_show(shown, text));
}

/* Found before anything is changed: a trial that is neither in the state nor on offer.
 */
static cocabo_status check_trial(const cocabo_study *study, int64_t number,
                                 cocabo_trial_state want, cocabo_error *err) {
  cocabo_trial *trial;
  CB_TRY(cocabo_study_trial(study, number, &trial, err));
  const cocabo_trial_state state = cocabo_trial_get_state(trial);
  cocabo_trial_free(trial);
  if (state == want ||
      (state != COCABO_RUNNING && state != COCABO_COMPLETE && state != COCABO_FAILED))
    return COCABO_OK;
  const char *way_on = state == COCABO_RUNNING  ? "; --state running gives it back"
                       : state == COCABO_FAILED ? "; without --state it is put back"
                                                : "";
  return cb_fail(err, COCABO_E_STATE, "trial %" PRId64 " is %s, want a %s one%s",
                 number, cocabo_state_name(state), cocabo_state_name(want), way_on);
}

static cocabo_status choose_named(chosen *c, const cocabo_study *study,
                                  const front_texts *names, cocabo_error *err) {
  for (int i = 0; i < names->n; i++) {
    int64_t number = 0;
    CB_TRY(front_parse_int("the number", names->items[i], 0, INT64_MAX, &number, err));
    CB_TRY(check_trial(study, number, c->state, err));
    c->numbers[c->n++] = number;
  }
  return COCABO_OK;
}

static cocabo_status choose_all(chosen *c, const cocabo_study *study,
                                cocabo_error *err) {
  const int64_t n = cocabo_study_count(study);
  for (int64_t i = 0; i < n; i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(study, i, &trial, err));
    if (cocabo_trial_get_state(trial) == c->state)
      c->numbers[c->n++] = i;
    cocabo_trial_free(trial);
  }
  return COCABO_OK;
}

static cocabo_status put_lines(const cocabo_study *study, const chosen *c,
                               front_buffer *out, cocabo_error *err) {
  for (int64_t i = 0; i < c->n; i++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(study, c->numbers[i], &trial, err));
    const cocabo_status status = cli_put_json_trial(out, study, trial, err);
    cocabo_trial_free(trial);
    CB_TRY(status);
    CB_TRY(front_buffer_puts(out, "\n", err));
  }
  return COCABO_OK;
}

static cocabo_status put_sentence(const chosen *c, front_buffer *out,
                                  cocabo_error *err) {
  enum { SHOWN = 20 };
  if (c->n == 0)
    return front_buffer_printf(out, err, "no %s trial: nothing to do\n",
                               cocabo_state_name(c->state));
  CB_TRY(front_buffer_printf(out, err, "%" PRId64 " trial%s offered again: ", c->n,
                             c->n == 1 ? " is" : "s are"));
  for (int64_t i = 0; i < c->n && i < SHOWN; i++)
    CB_TRY(front_buffer_printf(out, err, "%s%" PRId64, i ? ", " : "", c->numbers[i]));
  return front_buffer_puts(out, c->n > SHOWN ? ", ...\n" : "\n", err);
}

/* One that has left the state since it was chosen is an error only if it was named. */
static cocabo_status put_back_chosen(cocabo_study *study, chosen *c, bool named,
                                     cocabo_error *err) {
  int64_t n = 0;
  for (int64_t i = 0; i < c->n; i++) {
    const cocabo_status status = c->state == COCABO_RUNNING
                                     ? cocabo_study_interrupt(study, c->numbers[i], err)
                                     : cocabo_study_retry(study, c->numbers[i], err);
    if (status == COCABO_E_STATE && !named)
      continue;
    CB_TRY(status);
    c->numbers[n++] = c->numbers[i];
  }
  c->n = n;
  return COCABO_OK;
}

static cocabo_status put_back(cocabo_study *study, const retry_args *args,
                              const front_texts *names, chosen *c, front_buffer *out,
                              cocabo_error *err) {
  const bool named = names->n > 0;
  CB_TRY(named ? choose_named(c, study, names, err) : choose_all(c, study, err));
  CB_TRY(put_back_chosen(study, c, named, err));
  if (args->common.json)
    return put_lines(study, c, out, err);
  return args->common.quiet ? COCABO_OK : put_sentence(c, out, err);
}

static cocabo_status retry(int argc, char **argv, front_buffer *out,
                           cocabo_error *err) {
  retry_args args = {0};
  front_texts names = {0};
  chosen c = {0};
  cli_session session;
  CB_TRY(front_args_parse(options, argc, argv, &args, &names, err));
  CB_TRY(parse_state(args.state, &c.state, err));
  CB_TRY(cli_open_study(&session, &args.common, 0, err));
  const int64_t most =
      names.n > 0 ? (int64_t)names.n : cocabo_study_count(session.study);
  c.numbers = cb_calloc((size_t)most, sizeof *c.numbers);
  const cocabo_status status =
      c.numbers || most == 0 ? put_back(session.study, &args, &names, &c, out, err)
                             : cb_no_memory(err);
  cb_free(c.numbers);
  cli_close(&session);
  return status;
}

static int retry_main(int argc, char **argv) {
  cocabo_error err;
  front_buffer out = {0};
  const cocabo_status status = retry(argc, argv, &out, &err);
  return cli_answer("retry", status, &out, &err);
}

const cli_command cmd_retry = {
    .name = "retry",
    .summary = "Puts failed trials back: the next run evaluates them again.",
    .usage = "[NUMBER ...] [--state STATE]",
    .options = options,
    .details =
        "Where a failure was not the point's fault: a full disk, a missing file. The\n"
        "trials keep their numbers and their points, are interrupted until they are\n"
        "handed out again, and no longer count for -n. Without numbers, all failed "
        "ones\n"
        "are put back.\n"
        "\n"
        "--state running gives running trials back, for those that were asked for and\n"
        "that nobody evaluates any more; those of a worker that died come back by\n"
        "themselves, at the latest when their lease runs out.",
    .examples = "  cocabo retry\n"
                "  cocabo retry 4 7 --study mnist && cocabo run --study mnist\n"
                "  cocabo retry --state running",
    .main = retry_main,
};
