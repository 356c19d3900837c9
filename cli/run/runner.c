/* runner.c - the loop of run and worker, in one thread: it asks for trials while slots
 * are free, polls the children, records results, and stops by budget, by a limit, by
 * time or by signal. A slot is free, running, or settled: its result is known and not
 * yet recorded. A store that fails stops the asking; what runs is let finish, and its
 * results are recorded if the store recovers, else named. */
#include "run/runner.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/base.h"
#include "common/clock.h"
#include "common/show.h"
#include "io/best.h"
#include "io/output.h"
#include "run/bar.h"
#include "run/finish.h"
#include "run/guard.h"
#include "run/hint.h"
#include "run/lease.h"
#include "run/signals.h"

/* Seconds: between two asks when there is nothing to hand out, and between two tries of
 * a store that is busy or failing, or has failed; how long to put up with either; after
 * how long of idling to say why; how many failures to report as they come. */
static const double ask_pause = 0.5, store_pause = 0.2, trouble_pause = 2.0;
static const double busy_patience = 60.0, store_patience = 5.0;
static const double idle_patience = 3.0;
/* And how long one call may wait for a locked store: the programs need us too. */
static const double lock_patience = 1.0;
enum { FAILURES_SHOWN = 3 };

typedef enum slot_state {
  FREE,
  RUNNING, /* its program runs */
  SETTLED  /* what came of it is known and not yet recorded */
} slot_state;

/* A place for one trial at a time. */
typedef struct slot {
  slot_state state;
  cocabo_trial *trial; /* NULL when free */
  cocabo_run run;      /* of the trial, where it is evaluated run by run */
  int64_t warm_ups; /* evaluations that are still to come before the one that counts */
  int64_t warm_trial; /* number of the trial that the slot is warm for */
  int64_t starts;     /* of its program, for this handing-out */
  double deadline;    /* of the running program */
  bool capped;        /* it is that of its cap */
  bool give_back;     /* settled: to be offered again */
  double settled_at, record_at;
  cli_outcome outcome;
  cli_attempt attempt;
} slot;

typedef struct runner {
  const cli_run *run;
  cocabo_study *study;
  cli_guard guard;
  cli_cgroup cgroup;
  cli_cpus *cpus; /* run->workers, of the slots; NULL: they have none of their own */
  cli_lease *lease;
  slot *slots; /* run->workers */
  cli_bar bar;
  double end;      /* when time is over */
  double alive_at; /* when we last looked at the clock */
  bool stopping;   /* nothing new, and what runs is given back */
  cli_ended ended;
  cli_watch watch;
  cocabo_error trouble;  /* what the store said when it failed; code COCABO_OK: fine */
  double ask_at;         /* when to ask again */
  cocabo_status refusal; /* why the last ask gave nothing; COCABO_OK: it did */
  bool no_runs_left;     /* and no run was under way then, which could change that */
  double busy_since; /* the store refuses to answer since then; INFINITY: it answers */
  double idle_since; /* nothing runs here since then; INFINITY: something does */
  bool idle_said;
  double sync_at; /* when to look what others did */
  cli_state best; /* the best trial, when so many were complete */
  double best_at; /* when to look for it again */
  int64_t serial; /* of the next evaluation */
  bool log_said, hint_said;
} runner;

/* ---- the study's state ---------------------------------------------------------- */

static cli_state read_state(const runner *r) {
  const cocabo_study *study = r->study;
  const char *trials = cocabo_study_option(study, "trials");
  cli_state state = r->best;
  state.total = trials ? strtoll(trials, NULL, 10) : 0;
  state.complete = cocabo_study_count_state(study, COCABO_COMPLETE);
  state.failed = cocabo_study_count_state(study, COCABO_FAILED);
  state.running = cocabo_study_count_state(study, COCABO_RUNNING);
  state.runs = cocabo_study_runs(study, NULL);
  const char *runs = cocabo_study_option(study, "runs");
  state.all_runs = runs ? strtoll(runs, NULL, 10) : 0;
  return state;
}

/* Which trial is best may take a model to say, where results are noisy. It is looked at
 * when there are new ones, and not for more than a twentieth of the time. */
static void look_for_best(runner *r, double now) {
  const int64_t complete = cocabo_study_count_state(r->study, COCABO_COMPLETE);
  int64_t running = 0;
  const int64_t runs = cocabo_study_runs(r->study, &running) - running;
  const bool known = complete == r->best.complete && runs == r->best.runs;
  cli_best best;
  if (r->run->common->quiet || known || now < r->best_at)
    return;
  if (cli_best_find(&best, r->study, NULL) == COCABO_OK) {
    const bool counted = !best.modelled && best.runs > 1; /* which is no luck */
    r->best = (cli_state){.complete = complete,
                          .runs = runs,
                          .has_best = best.feasible,
                          .best_number = cocabo_trial_number(best.trial),
                          .best = cocabo_trial_value(best.trial),
                          .noisy = best.noisy || counted,
                          .expected =
                              counted ? cocabo_trial_value(best.trial) : best.expected,
                          .best_se = counted ? best.error : best.se};
    cli_best_free(&best);
  }
  const double after = front_now();
  r->best_at = after + 20.0 * (after - now);
}

static bool is_reached(const cli_state *state) {
  return state->total > 0 && state->complete + state->failed >= state->total;
}

/* ---- lines for people ----------------------------------------------------------- */

static void say(runner *r, const char *text) {
  cli_bar_clear(&r->bar);
  show_line(stderr, text);
}

/* Something about trials in a state, and the command that lists them. */
static void say_list(runner *r, const char *what, const char *state) {
  char where[CLI_WHERE_SIZE], text[CLI_WHERE_SIZE + 200];
  cli_where(where, r->run->common, r->study);
  snprintf(text, sizeof text, "%s; cocabo trials --state %s%s lists them", what, state,
           where);
  say(r, text);
}

static void say_trial(runner *r, const slot *s) {
  front_buffer line = {0};
  const int64_t number = cocabo_trial_number(s->trial);
  cocabo_status status =
      s->give_back
          ? front_buffer_printf(&line, NULL, "trial %" PRId64 " given back", number)
      : s->outcome.complete && r->run->by_runs
          ? front_buffer_printf(&line, NULL,
                                "trial %" PRId64 " run %" PRId64 "%s%s: %s", number,
                                s->run.run, s->run.instance ? " on " : "",
                                s->run.instance ? s->run.instance : "",
                                s->run.state == COCABO_RUN_CAPPED ? "capped at " : "")
      : s->outcome.complete
          ? front_buffer_printf(&line, NULL, "trial %" PRId64 " complete: ", number)
          : front_buffer_printf(&line, NULL, "trial %" PRId64 " failed: %.*s", number,
                                (int)strcspn(s->outcome.reason, "\n"),
                                s->outcome.reason);
  if (status == COCABO_OK && s->outcome.complete && !s->give_back)
    status = cli_put_rounded(&line, s->outcome.value, NULL);
  if (status == COCABO_OK && r->run->common->verbose &&
      (status = front_buffer_puts(&line, "  ", NULL)) == COCABO_OK)
    status = cli_put_shown_params(&line, s->trial, NULL);
  if (status == COCABO_OK && front_buffer_append(&line, "", 1, NULL) == COCABO_OK)
    say(r, line.data);
  front_buffer_free(&line);
}

/* The last line of standard error usually names the mistake. */
static void say_last_line(runner *r, const char *reason) {
  const char *line = strrchr(reason, '\n');
  char text[200];
  if (!line)
    return;
  const int size = snprintf(text, sizeof text, "  %s", line + 1);
  if (size >= (int)sizeof text)
    memcpy(text + sizeof text - 4, "...", 4);
  say(r, text);
}

/* Once. */
static void say_hint(runner *r, const slot *s) {
  char text[200];
  if (!s->outcome.hint || r->hint_said || r->run->common->quiet)
    return;
  r->hint_said = true;
  snprintf(text, sizeof text, "note: %s", cli_pipe_hint);
  say(r, text);
}

static void report(runner *r, const slot *s) {
  const bool failed = !s->give_back && !s->outcome.complete;
  if (failed)
    cli_watch_failure(&r->watch, s->outcome.reason);
  if (r->run->common->quiet)
    return;
  const bool worth_it = failed && r->watch.failures <= FAILURES_SHOWN;
  if (r->run->common->verbose || worth_it)
    say_trial(r, s);
  if (worth_it)
    say_last_line(r, s->outcome.reason);
  if (worth_it && r->watch.failures == FAILURES_SHOWN && !r->run->common->verbose)
    say_list(r, "further failures are only counted", "failed");
}

/* With --json, a finished trial as the study has it. The loop goes on where nobody
 * reads: results are recorded all the same, and the end says what was wrong. */
static void print_json(const runner *r, const cocabo_trial *before) {
  cocabo_trial *trial;
  front_buffer line = {0};
  if (!r->run->common->json || cocabo_study_trial(r->study, cocabo_trial_number(before),
                                                  &trial, NULL) != COCABO_OK)
    return;
  const cocabo_trial_state state = cocabo_trial_get_state(trial);
  const bool over = state == COCABO_COMPLETE || state == COCABO_FAILED;
  if (over && state != cocabo_trial_get_state(before) &&
      cli_put_json_trial(&line, r->study, trial, NULL) == COCABO_OK &&
      front_buffer_puts(&line, "\n", NULL) == COCABO_OK && cli_print(&line))
    fflush(stdout);
  front_buffer_free(&line);
  cocabo_trial_free(trial);
}

/* ---- recording ------------------------------------------------------------------ */

static void clear_slot(slot *s) {
  cocabo_trial_free(s->trial);
  s->trial = NULL;
  s->state = FREE;
}

/* Only what is still ours: a lease that ran out may have brought the trial to somebody
 * else, and that attempt is not to be interrupted. */
static cocabo_status give_back(runner *r, const slot *s, cocabo_error *err) {
  cocabo_trial *now;
  const int64_t number = cocabo_trial_number(s->trial);
  CB_TRY(cocabo_study_sync(r->study, err));
  CB_TRY(cocabo_study_trial(r->study, number, &now, err));
  const bool ours = cocabo_trial_get_state(now) == COCABO_RUNNING &&
                    cocabo_trial_attempt(now) == cocabo_trial_attempt(s->trial);
  cocabo_trial_free(now);
  return ours ? cocabo_study_interrupt_attempt(r->study, number,
                                               cocabo_trial_attempt(s->trial), err)
              : COCABO_OK;
}

static cocabo_status record_run(runner *r, const slot *s, cocabo_error *err) {
  const cli_outcome *outcome = &s->outcome;
  const bool counts = outcome->complete && !s->give_back;
  cocabo_run run = s->run;
  if (!counts)
    run.state = s->give_back ? COCABO_RUN_DISCARDED : COCABO_RUN_FAILED;
  run.value = outcome->value;
  run.seconds = fmax(s->attempt.process.seconds, 0.0); /* 0 where it is NaN */
  return cli_tell_run(r->study, &run, counts ? &outcome->metrics : NULL,
                      counts ? NULL : outcome->reason, err);
}

static cocabo_status record_once(runner *r, const slot *s, cocabo_error *err) {
  const int64_t number = cocabo_trial_number(s->trial);
  if (r->run->by_runs)
    return record_run(r, s, err);
  if (s->give_back)
    return give_back(r, s, err);
  if (s->outcome.complete)
    return cli_tell(r->study, number, s->outcome.value, &s->outcome.metrics, err);
  const cocabo_status status = cocabo_study_fail_attempt(
      r->study, number, cocabo_trial_attempt(s->trial), s->outcome.reason, err);
  return status == COCABO_E_STATE ? COCABO_OK : status; /* somebody told it a value */
}

/* A store that is busy or has a passing trouble gets its chances; a result is worth
 * waiting for. One that is locked is waited for until somebody wants us to stop. */
static bool is_worth_waiting(const slot *s, cocabo_status status, double now) {
  const double waited = now - s->settled_at;
  return (status == COCABO_E_INTERRUPTED && !cli_signals_stop()) ||
         (status == COCABO_E_BUSY && waited < busy_patience) ||
         (status == COCABO_E_STORE && waited < store_patience);
}

static void say_lost(runner *r, const slot *s);

static cocabo_status record(runner *r, slot *s, double now, cocabo_error *err) {
  if (now < s->record_at)
    return COCABO_OK;
  const cocabo_status status = record_once(r, s, err);
  if (status == COCABO_E_INTERRUPTED && cli_signals_stop()) { /* it stays locked */
    if (!s->give_back)
      say_lost(r, s);
    clear_slot(s); /* a lease that runs out gives back too */
    return COCABO_OK;
  }
  if (status != COCABO_OK && is_worth_waiting(s, status, now)) {
    s->record_at = now + store_pause;
    return COCABO_OK;
  }
  if (status != COCABO_OK) {
    s->record_at = now + trouble_pause;
    return status;
  }
  if (!s->give_back) /* which may be what came of a trouble */
    r->trouble.code = COCABO_OK;
  r->ended.given_back += s->give_back;
  report(r, s);
  if (!s->give_back)
    print_json(r, s->trial);
  clear_slot(s);
  return COCABO_OK;
}

static void settle(slot *s, bool back, double now) {
  s->state = SETTLED;
  s->give_back = back;
  s->settled_at = s->record_at = now;
}

/* ---- evaluating ----------------------------------------------------------------- */

/* Where the program's name has holes, not being able to start it is the trial's
 * failure. Otherwise it is nobody's: going on would use up the budget for nothing. */
static cocabo_status start_attempt(runner *r, slot *s, double now, cocabo_error *err) {
  const bool again = s->starts > 0 || cocabo_trial_attempt(s->trial) > 0;
  const cocabo_status status = cli_attempt_start(
      &s->attempt, &r->run->program, &r->guard, s->trial, r->serial++, again, err);
  s->starts++;
  if (status == COCABO_E_NOT_FOUND && !r->run->program.path[0]) {
    cli_outcome_fail(&s->outcome, err->message);
    settle(s, false, now);
    return COCABO_OK;
  }
  if (status != COCABO_OK) {
    settle(s, true, now);
    return status;
  }
  s->state = RUNNING;
  s->deadline = r->run->trial_timeout > 0.0 ? now + r->run->trial_timeout : INFINITY;
  const double cap = fmin(r->run->cap > 0.0 ? r->run->cap : INFINITY,
                          r->run->by_runs ? s->run.cap : INFINITY);
  s->capped = now + cap < s->deadline;
  s->deadline = fmin(s->deadline, now + cap);
  return COCABO_OK;
}

static void say_passed_over(runner *r, const slot *s) {
  char text[160];
  const size_t n = s->outcome.metrics.passed_over;
  if (!r->run->common->verbose || n == 0)
    return;
  snprintf(text, sizeof text,
           "note: trial %" PRId64 ": %zu member%s of its result %s no metric",
           cocabo_trial_number(s->trial), n, n == 1 ? "" : "s", n == 1 ? "is" : "are");
  say(r, text);
}

/* It took too long: at its own cap its trial cannot win, and at the fixed one it counts
 * as so many times that. */
static void count_as_capped(const runner *r, slot *s) {
  const bool fixed =
      r->run->cap > 0.0 && !(r->run->by_runs && s->run.cap < r->run->cap);
  s->outcome = (cli_outcome){.complete = true,
                             .value = fixed ? r->run->cap * r->run->par : s->run.cap};
  s->run.state = fixed ? COCABO_RUN_OK : COCABO_RUN_CAPPED;
  s->warm_ups = 0;
}

/* Its program is over. */
static cocabo_status conclude(runner *r, slot *s, double now, cocabo_error *err) {
  cli_attempt_outcome(&s->attempt, &r->run->program, &s->outcome);
  say_hint(r, s);
  say_passed_over(r, s);
  if (s->attempt.process.log_short && !r->log_said) {
    say(r, "some logs are incomplete: they could not be written");
    r->log_said = true;
  }
  const bool cancelled = s->attempt.process.stop == CLI_CANCELLED;
  if (s->capped && s->attempt.process.stop == CLI_TIMED_OUT)
    count_as_capped(r, s);
  else if (s->outcome.complete && s->warm_ups > 0 && !r->stopping) {
    s->warm_ups--;
    return start_attempt(r, s, now, err);
  }
  if (!s->outcome.complete && !r->stopping && s->starts <= r->run->retries)
    return start_attempt(r, s, now, err);
  settle(s, cancelled, now);
  return COCABO_OK;
}

static cocabo_status advance_slot(runner *r, slot *s, double now, cocabo_error *err) {
  if (s->state == RUNNING) {
    if (cli_process_tick(&s->attempt.process, now))
      CB_TRY(conclude(r, s, now, err));
    else if (now >= s->deadline)
      cli_process_stop(&s->attempt.process, CLI_TIMED_OUT, now);
  }
  return s->state == SETTLED ? record(r, s, now, err) : COCABO_OK;
}

static int64_t count_running(const runner *r) {
  int64_t n = 0;
  for (int64_t i = 0; i < r->run->workers; i++)
    n += r->slots[i].state == RUNNING;
  return n;
}

/* "SENTENCE; waiting for 2 running trials, Ctrl-C gives them back" */
static void say_waiting(runner *r, const char *sentence) {
  const int64_t n = count_running(r);
  char text[sizeof r->trouble.message + 100];
  if (n == 0)
    snprintf(text, sizeof text, "%s", sentence);
  else
    snprintf(text, sizeof text,
             "%s; waiting for %" PRId64 " running trial%s, Ctrl-C gives %s back",
             sentence, n, n == 1 ? "" : "s", n == 1 ? "it" : "them");
  say(r, text);
}

/* A store that fails may recover while trials run, and they may have run for hours: the
 * loop goes on until they have finished. Any other failure ends it. */
static cocabo_status bear(runner *r, cocabo_status status, const cocabo_error *err) {
  if (status != COCABO_E_STORE && status != COCABO_E_BUSY)
    return status;
  if (r->trouble.code == COCABO_OK) {
    r->trouble = *err;
    if (count_running(r) > 0)
      say_waiting(r, err->message);
  }
  return COCABO_OK;
}

static cocabo_status advance_slots(runner *r, cocabo_error *err) {
  for (int64_t i = 0; i < r->run->workers; i++) {
    const cocabo_status status = advance_slot(r, &r->slots[i], front_now(), err);
    if (status != COCABO_OK)
      CB_TRY(bear(r, status, err));
  }
  return COCABO_OK;
}

/* ---- asking --------------------------------------------------------------------- */

/* Neither at the end, nor while the store fails. */
static bool may_ask(const runner *r) {
  return !r->stopping && r->ended.limit == CLI_NO_LIMIT && r->trouble.code == COCABO_OK;
}

static slot *free_slot(runner *r) {
  for (int64_t i = 0; i < r->run->workers; i++)
    if (r->slots[i].state == FREE)
      return &r->slots[i];
  return NULL;
}

static bool is_idle(const runner *r) {
  for (int64_t i = 0; i < r->run->workers; i++)
    if (r->slots[i].state != FREE)
      return false;
  return true;
}

static cocabo_status handle_refusal(runner *r, cocabo_status status, double now) {
  int64_t running = 0;
  r->refusal = status;
  r->ask_at = now + (status == COCABO_E_BUSY ? store_pause : ask_pause);
  switch (status) {
  case COCABO_E_BUDGET:
  case COCABO_E_EXHAUSTED:
    r->busy_since = INFINITY;
    (void)cocabo_study_runs(r->study, &running);
    r->no_runs_left = running == 0;
    return COCABO_OK;
  case COCABO_E_INTERRUPTED: /* the loop sees the signal, or the store is locked */
    r->refusal = COCABO_OK;
    return COCABO_OK;
  case COCABO_E_BUSY:
    r->busy_since = fmin(r->busy_since, now);
    return now - r->busy_since < busy_patience ? COCABO_OK : status;
  default:
    return status;
  }
}

static cocabo_status ask(runner *r, slot *s, cocabo_error *err) {
  const cocabo_status status =
      r->run->by_runs ? cocabo_study_ask_run(r->study, &s->trial, &s->run, err)
                      : cocabo_study_ask(r->study, 1, &s->trial, err);
  const double now = front_now(); /* thinking takes time */
  if (status != COCABO_OK)
    return handle_refusal(r, status, now);
  r->refusal = COCABO_OK;
  r->busy_since = INFINITY;
  s->starts = 0;
  s->run.state = COCABO_RUN_OK; /* unless it fails */
  const int64_t number = cocabo_trial_number(s->trial);
  s->warm_ups = number != s->warm_trial || r->serial == 0 ? r->run->warmup : 0;
  s->warm_trial = number;
  return start_attempt(r, s, now, err);
}

static cocabo_status fill_slots(runner *r, cocabo_error *err) {
  slot *s;
  while (may_ask(r) && !cli_signals_stop() && front_now() >= r->ask_at &&
         (s = free_slot(r))) {
    const cocabo_status status = ask(r, s, err);
    if (status != COCABO_OK)
      CB_TRY(bear(r, status, err));
  }
  return COCABO_OK;
}

/* ---- stopping ------------------------------------------------------------------- */

/* Trials are given back before their programs are over: a second signal leaves at once,
 * and then nobody has to wait for a lease to run out. What fails here is done again
 * when they are over. */
static void stop(runner *r, cli_end why, double now) {
  r->stopping = true;
  r->ended.why = why;
  for (int64_t i = 0; i < r->run->workers; i++)
    if (r->slots[i].state == RUNNING)
      cli_process_stop(&r->slots[i].attempt.process, CLI_CANCELLED, now);
  for (int64_t i = 0; i < r->run->workers; i++)
    if (r->slots[i].state == RUNNING && !r->run->by_runs &&
        r->slots[i].attempt.process.stop == CLI_CANCELLED)
      (void)give_back(r, &r->slots[i], NULL);
}

/* Nothing new from here on; what runs is let finish. */
static void look_at_limits(runner *r) {
  cli_ended *ended = &r->ended;
  if (ended->limit != CLI_NO_LIMIT || ended->nothing_to_do)
    return;
  ended->limit = cli_watch_look(&r->watch, r->study);
  if (ended->limit == CLI_NO_LIMIT)
    return;
  const cli_state state = read_state(r);
  if (ended->limit == CLI_LIMIT_HOPELESS && is_reached(&state)) {
    ended->limit = CLI_NO_LIMIT; /* there is nothing left to go on with */
    return;
  }
  ended->why = CLI_END_LIMIT;
  cli_watch_say(&r->watch, ended->limit, ended->limit_text, sizeof ended->limit_text);
  const bool good =
      ended->limit == CLI_LIMIT_TARGET || ended->limit == CLI_LIMIT_PATIENCE;
  if (!r->run->common->quiet && (good || count_running(r) > 0))
    say_waiting(r, ended->limit_text); /* the others are said at the end, too */
}

static void check_limits(runner *r, double now) {
  if (r->stopping)
    return;
  look_at_limits(r);
  if (cli_signals_stop()) {
    if (!r->run->common->quiet && !is_idle(r))
      say(r, "stopping; Ctrl-C again leaves at once");
    stop(r, CLI_END_SIGNAL, now);
  } else if (now >= r->end) {
    stop(r, r->ended.limit == CLI_NO_LIMIT ? CLI_END_TIME : CLI_END_LIMIT, now);
  }
}

/* Nothing is left to do here, and nothing that others do could change that. */
static bool is_over(runner *r) {
  if (r->trouble.code != COCABO_OK)
    return count_running(r) == 0;
  if (!is_idle(r))
    return false;
  if (r->stopping || r->ended.limit != CLI_NO_LIMIT)
    return true;
  const cli_state state = read_state(r);
  if (is_reached(&state)) {
    r->ended.why = CLI_END_BUDGET;
    return true;
  }
  if (r->run->by_runs && r->refusal == COCABO_E_BUDGET && r->no_runs_left) {
    r->ended.why = CLI_END_BUDGET;
    return true;
  }
  if (r->refusal == COCABO_E_EXHAUSTED && state.running == 0) {
    r->ended.why = CLI_END_EXHAUSTED;
    return true;
  }
  return false;
}

/* ---- waiting -------------------------------------------------------------------- */

static double slot_deadline(const slot *s) {
  if (s->state == RUNNING) {
    const cli_process *process = &s->attempt.process;
    const bool runs = process->stop == CLI_RUNS_ON && !process->exited;
    const double stop_at = runs ? s->deadline : INFINITY;
    return fmin(stop_at, cli_process_deadline(process));
  }
  return s->state == SETTLED ? s->record_at : INFINITY;
}

static int milliseconds_to_wait(runner *r, double now) {
  double wake = fmin(r->end, r->sync_at);
  if (r->stopping)
    wake = r->sync_at;
  else if (may_ask(r) && free_slot(r))
    wake = fmin(wake, r->ask_at);
  for (int64_t i = 0; i < r->run->workers; i++)
    wake = fmin(wake, slot_deadline(&r->slots[i]));
  const double wait = 1000.0 * (wake - now);
  return wait <= 0.0 ? 0 : wait < 60000.0 ? (int)ceil(wait) : 60000;
}

static slot *slot_of_file(runner *r, int fd) {
  for (int64_t i = 0; i < r->run->workers; i++) {
    slot *s = &r->slots[i];
    if (s->state == RUNNING &&
        (s->attempt.process.out == fd || s->attempt.process.err == fd ||
         s->attempt.process.line == fd))
      return s;
  }
  return NULL;
}

/* So much time was not the trials': what ran stood still, or nobody looked. */
static void postpone(runner *r, double seconds) {
  for (int64_t i = 0; i < r->run->workers; i++)
    if (r->slots[i].state == RUNNING) {
      r->slots[i].deadline += seconds;
      cli_process_postpone(&r->slots[i].attempt.process, seconds);
    }
}

/* Ctrl-Z: the programs, which have sessions of their own, stop with us. */
static void suspend(runner *r) {
  const double from = front_now();
  cli_bar_clear(&r->bar);
  for (int64_t i = 0; i < r->run->workers; i++)
    if (r->slots[i].state == RUNNING)
      cli_process_suspend(&r->slots[i].attempt.process, true);
  cli_signals_suspend();
  for (int64_t i = 0; i < r->run->workers; i++)
    if (r->slots[i].state == RUNNING)
      cli_process_suspend(&r->slots[i].attempt.process, false);
  r->alive_at = front_now();
  postpone(r, r->alive_at - from);
}

/* Waits no longer than a second, so that a longer wait is known for what it is: we were
 * stopped, or the machine was paused. */
static const double heartbeat = 1.0;

/* We were continued after a stop, or waited for longer than we meant to: the time since
 * the last look is nobody's. */
static void forgive_pause(runner *r, bool waited) {
  const double now = front_now(), gone = now - r->alive_at;
  if (cli_signals_continued() || (waited && gone > 2.0 * heartbeat))
    postpone(r, gone);
  r->alive_at = now;
}

static int poll_files(runner *r, struct pollfd *files, int n) {
  const int most = (int)(1000.0 * heartbeat);
  forgive_pause(r, false);
  const int wait = milliseconds_to_wait(r, r->alive_at);
  const int found = poll(files, (nfds_t)n, wait < most ? wait : most);
  forgive_pause(r, true);
  return found;
}

static void wait_for_events(runner *r) {
  struct pollfd files[CLI_PROCESS_FILES * CLI_MAX_WORKERS + 1] = {
      {.fd = cli_signals_file(), .events = POLLIN}};
  int n = 1;
  for (int64_t i = 0; i < r->run->workers; i++)
    if (r->slots[i].state == RUNNING)
      n += cli_process_files(&r->slots[i].attempt.process, files + n);
  if (poll_files(r, files, n) <= 0)
    return;
  cli_signals_drain();
  for (int i = 1; i < n; i++) {
    slot *s = files[i].revents ? slot_of_file(r, files[i].fd) : NULL;
    if (s) /* reading one of its files may have closed another */
      cli_process_read(&s->attempt.process, files[i].fd);
  }
}

/* ---- showing -------------------------------------------------------------------- */

/* Somebody else's trials hold up the end: say so, once, and how to help if they are
 * nobody's. */
static void explain_idling(runner *r, const cli_state *state, double now) {
  if (!is_idle(r) || r->stopping || r->refusal == COCABO_OK || state->running == 0) {
    r->idle_since = INFINITY;
    return;
  }
  r->idle_since = fmin(r->idle_since, now);
  if (r->idle_said || now - r->idle_since < idle_patience || r->run->common->quiet)
    return;
  r->idle_said = true;
  char text[100];
  snprintf(text, sizeof text, "waiting for %" PRId64 " trial%s running elsewhere",
           state->running, state->running == 1 ? "" : "s");
  say_list(r, text, "running");
}

static void show(runner *r, double now) {
  if (now >= r->sync_at) { /* what others did meanwhile */
    if (cocabo_study_sync(r->study, NULL) != COCABO_OK)
      cli_bar_clear(&r->bar); /* ask and tell will say what is wrong */
    r->sync_at = now + cli_bar_pause(&r->bar);
  }
  look_for_best(r, now);
  const cli_state state = read_state(r);
  explain_idling(r, &state, now);
  cli_bar_show(&r->bar, &state, now);
}

/* ---- the loop ------------------------------------------------------------------- */

static cocabo_status supervise(runner *r, cocabo_error *err) {
  for (;;) {
    if (cli_signals_suspended())
      suspend(r);
    check_limits(r, front_now());
    if (is_over(r))
      break;
    CB_TRY(fill_slots(r, err));
    show(r, front_now());
    wait_for_events(r);
    CB_TRY(advance_slots(r, err));
  }
  if (r->trouble.code != COCABO_OK)
    *err = r->trouble;
  return r->trouble.code;
}

static bool has_own_metrics(const cli_metrics *metrics) {
  for (size_t i = 0; i < metrics->n; i++)
    if (!cli_metric_is_built_in(metrics->items[i].name))
      return true;
  return false;
}

/* The words behind the number. A name with a quote would end them: then the value has
 * to do, as where nobody but us measured anything. */
static cocabo_status put_lost_result(front_buffer *out, const runner *r,
                                     const slot *s) {
  const cli_outcome *outcome = &s->outcome;
  const int size = (int)strcspn(outcome->reason, "\n'");
  front_buffer result = {0};
  if (!outcome->complete)
    return front_buffer_printf(out, NULL, "--fail '%.*s'", size < 280 ? size : 280,
                               outcome->reason);
  if (!has_own_metrics(&outcome->metrics) ||
      cli_put_result(&result, r->run->program.objective, outcome->value,
                     &outcome->metrics, NULL) != COCABO_OK ||
      front_buffer_append(&result, "", 1, NULL) != COCABO_OK ||
      strchr(result.data, '\'')) {
    front_buffer_free(&result);
    return front_buffer_printf(out, NULL, "%.17g", outcome->value);
  }
  const cocabo_status status = front_buffer_printf(out, NULL, "'%s'", result.data);
  front_buffer_free(&result);
  return status;
}

/* A line that records later what cannot be recorded now, and the point beneath it. */
static void say_lost(runner *r, const slot *s) {
  char where[CLI_WHERE_SIZE];
  front_buffer line = {0}, point = {0};
  cli_where(where, r->run->common, r->study);
  if (front_buffer_printf(
          &line, NULL, "cocabo %s: not recorded: cocabo tell%s %" PRId64 " ",
          r->run->name, where, cocabo_trial_number(s->trial)) == COCABO_OK &&
      put_lost_result(&line, r, s) == COCABO_OK &&
      front_buffer_append(&line, "", 1, NULL) == COCABO_OK)
    say(r, line.data);
  front_buffer_free(&line);
  if (front_buffer_printf(&point, NULL, "  trial %" PRId64 ": ",
                          cocabo_trial_number(s->trial)) == COCABO_OK &&
      cli_put_shown_params(&point, s->trial, NULL) == COCABO_OK &&
      front_buffer_append(&point, "", 1, NULL) == COCABO_OK)
    say(r, point.data);
  front_buffer_free(&point);
}

static void say_recorded(runner *r, int64_t unfinished) {
  const cli_state state = read_state(r);
  char text[200];
  snprintf(text, sizeof text,
           "%" PRId64 " complete and %" PRId64 " failed trials are recorded",
           state.complete, state.failed);
  say(r, text);
  if (unfinished == 0)
    return;
  snprintf(text, sizeof text,
           "%" PRId64 " running trial%s ended; when the lease has run out, %s offered "
           "again",
           unfinished, unfinished == 1 ? " was" : "s were",
           unfinished == 1 ? "it is" : "they are");
  say(r, text);
}

/* The loop failed. Programs are ended, and what can still be recorded is. */
static void abandon(runner *r) {
  int64_t unfinished = 0;
  for (int64_t i = 0; i < r->run->workers; i++) {
    slot *s = &r->slots[i];
    if (s->state == RUNNING) {
      cli_process_kill(&s->attempt.process);
      settle(s, true, front_now());
    }
    if (s->state != SETTLED)
      continue;
    const bool recorded = record_once(r, s, NULL) == COCABO_OK;
    if (!recorded && !s->give_back)
      say_lost(r, s);
    unfinished += !recorded && s->give_back;
    clear_slot(s);
  }
  say_recorded(r, unfinished);
}

/* ---- beginning and end ---------------------------------------------------------- */

static int asked_to_stop(void *user) {
  (void)user;
  return cli_signals_stop();
}

/* Every trial takes up to five files: two pipes, a socket and two logs. */
static void allow_files(int64_t workers) {
  struct rlimit limit;
  const rlim_t want = (rlim_t)(5 * workers + 64);
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= want)
    return;
  limit.rlim_cur = want < limit.rlim_max ? want : limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
}

/* Started with one of them closed, the next file to be opened would take its place and
 * get what we print. */
static void hold_standard_files(void) {
  int fd;
  do
    fd = open("/dev/null", O_RDWR);
  while (fd >= 0 && fd <= STDERR_FILENO);
  if (fd >= 0)
    close(fd);
}

static void clear_bar(void *user) {
  cli_bar_clear(&((runner *)user)->bar);
}

/* Says it once, where somebody wants to know. */
static void say_cgroup(const runner *r) {
  char quota[CLI_QUOTA_SIZE];
  if (!r->run->common->verbose)
    return;
  if (r->cgroup.base[0])
    cli_note(r->run->common, "note: limits %s, by a control group",
             cli_quota_show(quota, &r->run->program.quota));
  else
    cli_note(r->run->common, "note: limits %s, without a control group: %s",
             cli_quota_show(quota, &r->run->program.quota), r->cgroup.why);
}

/* Gives every slot its processors. */
static cocabo_status pin_slots(runner *r, cocabo_error *err) {
  const int64_t n = r->run->workers;
  static cli_pins pins;
  cli_pins_find(&pins);
  if (pins.n == 0) {
    cli_note(r->run->common, "note: --pin does nothing, the processors are not known");
    return COCABO_OK;
  }
  if (n > pins.n)
    cli_note(r->run->common,
             "note: -j %" PRId64 " is more than the %d processor%s that may be used: "
             "trials share them, and times mislead",
             n, pins.n, pins.n == 1 ? "" : "s");
  r->cpus = cb_calloc((size_t)n, sizeof *r->cpus);
  if (!r->cpus)
    return cb_no_memory(err);
  for (int64_t i = 0; i < n; i++)
    cli_pins_share(&pins, i, n, &r->cpus[i]);
  return COCABO_OK;
}

/* What holds programs to their limits and their processors. */
static cocabo_status equip_slots(runner *r, cocabo_error *err) {
  if (!cli_quota_is_none(&r->run->program.quota)) {
    cli_cgroup_open(&r->cgroup, r->guard.pid);
    say_cgroup(r);
  }
  if (r->run->pin)
    CB_TRY(pin_slots(r, err));
  for (int64_t i = 0; i < r->run->workers; i++) {
    r->slots[i].attempt.cgroup = &r->cgroup;
    r->slots[i].attempt.cpus = r->cpus ? &r->cpus[i] : NULL;
  }
  return COCABO_OK;
}

static cocabo_status open_parts(runner *r, cocabo_error *err) {
  const cli_run *run = r->run;
  r->slots = cb_calloc((size_t)run->workers, sizeof *r->slots);
  if (!r->slots)
    return cb_no_memory(err);
  allow_files(run->workers);
  CB_TRY(cli_guard_start(&r->guard, err)); /* before there are threads */
  CB_TRY(equip_slots(r, err));
  CB_TRY(cli_lease_start(&r->lease, run->session.store, r->study, run->lease, err));
  cocabo_study_on_interrupt(r->study, asked_to_stop, NULL);
  CB_TRY(cocabo_study_sync(r->study, err)); /* no program needs us yet: it may wait */
  cli_wait_for(lock_patience, clear_bar, r);
  return COCABO_OK;
}

static void close_parts(runner *r) {
  cli_wait_for(0.0, NULL, NULL);
  cocabo_study_on_interrupt(r->study, NULL, NULL);
  cli_lease_stop(r->lease);
  cli_cgroup_close(&r->cgroup, r->guard.pid);
  cli_guard_stop(&r->guard);
  cb_free(r->cpus);
  cb_free(r->slots);
}

static cocabo_status run_loop(runner *r, cocabo_error *err) {
  const double now = r->alive_at = front_now();
  r->end = r->run->timeout > 0.0 ? now + r->run->timeout : INFINITY;
  cli_state state = read_state(r);
  r->ended.nothing_to_do = is_reached(&state);
  r->bar = cli_bar_start(r->run->common->quiet, &state, now, r->end);
  const cocabo_status status = supervise(r, err);
  if (status != COCABO_OK)
    abandon(r);
  r->best_at = 0.0;
  cocabo_study_on_interrupt(r->study, NULL, NULL); /* the last line is worth a fit */
  look_for_best(r, front_now());
  state = read_state(r);
  if (r->serial > 0 || r->bar.drawn) /* else there is nothing to show */
    cli_bar_end(&r->bar, &state, front_now());
  return status;
}

cocabo_status cli_run_trials(const cli_run *run, cli_ended *ended, cocabo_error *err) {
  runner r = {.run = run,
              .study = run->session.study,
              .guard = {.fd = -1, .pid = -1},
              .watch = {.limits = &run->limits},
              .refusal = COCABO_OK,
              .busy_since = INFINITY,
              .idle_since = INFINITY};
  hold_standard_files();
  CB_TRY(cli_signals_catch(err));
  cli_signals_catch_suspend();
  cocabo_status status = open_parts(&r, err);
  if (status == COCABO_OK)
    status = run_loop(&r, err);
  close_parts(&r);
  cli_signals_release();
  *ended = r.ended;
  return status;
}
