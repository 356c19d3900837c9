/* Calls of the public interface in any order with any arguments: each byte of the input
 * is a decision. Two handles on one store in memory, one of which does the work. What
 * holds whatever happens:
 *   a failure has its code and a sentence, and no input is a bug
 *   every trial is in one state; none is lost
 *   what is handed out is new or was on offer, never what runs elsewhere
 *   a run that is handed out is one more, and runs
 *   columns, trials and the other handle say the same
 *   the log verifies at the end */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "cocabo.h"

#include "fuzz/fuzz_demand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { STEPS = 60, MOST = 4, WIDTH = 4, KEPT = 512 };

typedef struct run {
  const uint8_t *data;
  size_t left;
  cocabo_store *store;
  cocabo_space *space;
  cocabo_study *study, *other;
  size_t width;
  int conditional; /* has conditions, with which two samplers are tried */
  int by_runs;     /* trials are evaluated run by run */
  cocabo_trial_state states[KEPT]; /* before the call, of the first so many */
} run;

static unsigned next(run *r) {
  if (r->left == 0)
    return 0;
  r->left--;
  return *r->data++;
}

/* Is it fine? If not, it says why. */
static int is_fine(cocabo_status status, const cocabo_error *err) {
  if (status != COCABO_OK)
    demand_sentence(err, status);
  return status == COCABO_OK;
}

/* ---- values ---------------------------------------------------------------------- */

static double number(run *r) {
  static const double odd[] = {NAN, INFINITY, -INFINITY, 0.0, -0.0, 1e308, -5e-324};
  const unsigned byte = next(r);
  return byte < 7 ? odd[byte] : (double)byte / 16.0 - 4.0;
}

static cocabo_value value(run *r) {
  static const char *const texts[] = {"a", "b", "c", "", "\xff", "small"};
  const unsigned byte = next(r);
  switch (byte % 8) {
  case 0:
    return cocabo_real(number(r));
  case 1:
    return cocabo_absent();
  case 2:
    return cocabo_null();
  case 3:
    return cocabo_bool((int)(byte >> 3));
  case 4:
  case 5:
    return cocabo_int((int64_t)(byte >> 3) - 2);
  default:
    return cocabo_text(texts[(byte >> 3) % 6]);
  }
}

/* A trial's own point, or values that may fit. */
static void point(run *r, cocabo_value *out) {
  const int64_t n = cocabo_study_count(r->study);
  const unsigned byte = next(r);
  cocabo_trial *trial = NULL;
  cocabo_error err;
  static const char *const texts[] = {"a", "b"};
  for (size_t i = 0; i < r->width; i++)
    out[i] = byte % 3 == 1 ? value(r) : cocabo_int((int64_t)(byte + i) % 4);
  if (byte % 3 == 2 && n > 0) {
    demand(cocabo_study_trial(r->study, (byte >> 2) % n, &trial, &err) == COCABO_OK,
           "a trial is there");
    demand(cocabo_trial_values(trial, out, r->width, &err) == COCABO_OK,
           "it has values");
    for (size_t i = 0; i < r->width; i++) /* which outlive it */
      if (out[i].type == COCABO_TEXT)
        out[i] = cocabo_text(texts[out[i].as.text[0] == 'b']);
    cocabo_trial_free(trial);
  }
}

/* ---- the study ------------------------------------------------------------------- */

static int64_t some_number(run *r) {
  const unsigned byte = next(r);
  return byte == 255 ? INT64_MAX : byte == 254 ? -1 : (int64_t)byte % 40;
}

static void remember(run *r) {
  const int64_t n = cocabo_study_count(r->study);
  int32_t states[KEPT];
  const cocabo_columns columns = {.states = states};
  cocabo_error err;
  const size_t kept = n < KEPT ? (size_t)n : KEPT;
  demand(cocabo_study_columns(r->study, 0, kept, &columns, &err) == COCABO_OK,
         "there are columns");
  for (size_t i = 0; i < kept; i++)
    r->states[i] = (cocabo_trial_state)states[i];
}

static void demand_on_offer(const run *r, int64_t before, int64_t handed) {
  demand(handed >= 0, "a trial has a number");
  if (handed >= before || handed >= KEPT)
    return;
  demand(r->states[handed] != COCABO_RUNNING && r->states[handed] != COCABO_COMPLETE &&
             r->states[handed] != COCABO_FAILED,
         "what is handed out again was on offer");
}

static void ask(run *r, int fewer) {
  cocabo_trial *trials[MOST] = {NULL};
  cocabo_error err;
  const int64_t before = cocabo_study_count(r->study);
  const size_t n = next(r) % (MOST + 1);
  size_t got = n;
  remember(r);
  const cocabo_status status =
      fewer ? cocabo_study_ask_up_to(r->study, n, trials, &got, &err)
            : cocabo_study_ask(r->study, n, trials, &err);
  if (!is_fine(status, &err)) {
    demand(!trials[0], "a failed ask hands out nothing");
    return;
  }
  demand(got >= 1 && got <= n, "as many as were wanted");
  for (size_t i = 0; i < got; i++) {
    demand_on_offer(r, before, cocabo_trial_number(trials[i]));
    demand(cocabo_trial_get_state(trials[i]) == COCABO_RUNNING, "it runs");
    cocabo_trial_free(trials[i]);
  }
}

static void add(run *r, int merge) {
  static const cocabo_metric metrics[] = {{"m", 1.5}, {"m", 2.5}};
  cocabo_value values[MOST][WIDTH];
  cocabo_known known[MOST];
  cocabo_error err;
  int64_t added = 0;
  const int64_t before = cocabo_study_count(r->study);
  const size_t n = next(r) % (MOST + 1);
  for (size_t i = 0; i < n; i++) {
    const unsigned byte = next(r);
    point(r, values[i]);
    known[i] = (cocabo_known){.values = values[i],
                              .state = (cocabo_trial_state)(byte % 7),
                              .value = number(r),
                              .reason = byte & 64 ? "why" : NULL,
                              .metrics = metrics,
                              .n_metrics = byte >> 6};
  }
  const cocabo_status status =
      merge ? cocabo_study_merge(r->study, known, n, &added, &err)
            : cocabo_study_add_many(r->study, known, n, &err);
  if (!is_fine(status, &err)) {
    demand(cocabo_study_count(r->study) == before, "a failed add adds nothing");
    return;
  }
  demand(cocabo_study_count(r->study) == before + (merge ? added : (int64_t)n),
         "what was added is there");
  for (size_t i = 0; i < n; i++) {
    demand(known[i].number >= 0 && known[i].number < cocabo_study_count(r->study),
           "it has a number");
    demand(known[i].added == (known[i].number >= before), "new ones have new numbers");
    demand(merge || known[i].number == before + (int64_t)i, "in their order");
  }
}

static void tell(run *r) {
  const cocabo_metric metrics[] = {{"m", number(r)}, {"", 2.0}};
  cocabo_error err;
  const int64_t trial = some_number(r);
  const double result = number(r);
  (void)is_fine(
      cocabo_study_tell_metrics(r->study, trial, result, metrics, next(r) % 3, &err),
      &err);
}

static void ask_run(run *r) {
  cocabo_trial *trial = NULL;
  cocabo_run asked;
  cocabo_error err;
  int64_t running = 0;
  if (!is_fine(cocabo_study_ask_run(r->study, &trial, &asked, &err), &err)) {
    demand(!trial, "a failed ask hands out nothing");
    return;
  }
  size_t n = 0;
  const cocabo_run *runs = cocabo_trial_runs(trial, &n);
  demand(asked.trial == cocabo_trial_number(trial) && asked.run == (int64_t)n - 1,
         "it is the last of its trial");
  demand(runs[n - 1].state == COCABO_RUN_RUNNING && asked.instance, "on an instance");
  for (size_t i = 0; i + 1 < n; i++) /* of a pair that has a value or a run */
    demand(strcmp(runs[i].instance, asked.instance) != 0 ||
               runs[i].seed != asked.seed || runs[i].state == COCABO_RUN_FAILED ||
               runs[i].state == COCABO_RUN_DISCARDED,
           "no pair is run twice");
  const int64_t all = cocabo_study_runs(r->study, &running);
  demand(running >= 1 && running <= all && all <= 40, "within the budget");
  cocabo_trial_free(trial);
}

static void tell_run(run *r) {
  const cocabo_metric metrics[] = {{"m", 1.5}, {"n", 2.5}};
  cocabo_error err;
  int64_t before = 0, after = 0;
  const int64_t all = cocabo_study_runs(r->study, &before);
  const unsigned byte = next(r), state = next(r);
  const int64_t trial = some_number(r);
  const double result = number(r);
  const cocabo_run told = {.trial = trial % 4,
                           .run = (int64_t)(byte % 8) - (byte > 250),
                           .state = (cocabo_run_state)(state % 6),
                           .value = result,
                           .seconds = byte == 17 ? NAN : 0.5};
  if (!is_fine(cocabo_study_tell_run(r->study, &told, metrics, byte % 3, "why", &err),
               &err))
    demand(cocabo_study_runs(r->study, &after) == all && after == before,
           "a failed tell says nothing");
  (void)cocabo_study_runs(r->study, &after);
  demand(after == before || after == before - 1, "a run ends once");
}

static void end(run *r) {
  cocabo_error err;
  const int64_t trial = some_number(r);
  switch (next(r) % 5) {
  case 0:
    (void)is_fine(cocabo_study_fail(r->study, trial, "why", &err), &err);
    return;
  case 1:
    (void)is_fine(cocabo_study_interrupt(r->study, trial, &err), &err);
    return;
  case 2:
    (void)is_fine(cocabo_study_retry(r->study, trial, &err), &err);
    return;
  case 3:
    (void)is_fine(cocabo_study_fail_attempt(r->study, trial, some_number(r), "", &err),
                  &err);
    return;
  default:
    (void)is_fine(cocabo_study_interrupt_attempt(r->study, trial, some_number(r), &err),
                  &err);
  }
}

static void predict(run *r) {
  cocabo_value points[MOST][WIDTH];
  double mean[MOST], sd[MOST], feasible[MOST];
  cocabo_error err;
  cocabo_value flat[MOST * WIDTH];
  const size_t n = next(r) % (MOST + 1);
  for (size_t i = 0; i < n; i++) {
    point(r, points[i]);
    memcpy(flat + i * r->width, points[i], r->width * sizeof *flat);
  }
  if (!is_fine(cocabo_study_predict(r->study, flat, n, mean, sd, feasible, &err), &err))
    return;
  for (size_t i = 0; i < n; i++) {
    demand(!isnan(mean[i]) && sd[i] >= 0.0, "a prediction is a number");
    demand(feasible[i] >= 0.0 && feasible[i] <= 1.0, "and a probability one");
  }
}

static void change(run *r) {
  static const char *const names[] = {"trials", "deterministic", "sampler", "kappa"};
  static const char *const values[] = {"9", "false", "true", "random", "mixed", "-1"};
  const char *const name = names[next(r) % 4], *const set = values[next(r) % 6];
  cocabo_error err;
  (void)is_fine(cocabo_study_change(r->study, &name, &set, 1, &err), &err);
}

static void open_again(run *r) {
  cocabo_study *study = NULL;
  cocabo_space *another = cocabo_space_new();
  cocabo_error err;
  int created = -1;
  demand(another && cocabo_space_add(another, "z", "bool", &err) == COCABO_OK,
         "there is a space");
  const int same = next(r) % 2;
  const cocabo_status status = cocabo_study_open_or_create(
      &study, "s", same ? r->space : another, NULL, r->store, &created, &err);
  demand(is_fine(status, &err) == same, "only the same space will do");
  demand(same ? created == 0 : !study, "and it is there already");
  cocabo_study_free(study);
  cocabo_space_free(another);
}

/* ---- what holds ------------------------------------------------------------------ */

static void demand_same_number(double a, double b) {
  demand(a == b || (isnan(a) && isnan(b)), "a column has the number of the trial");
}

static void demand_row(const run *r, const cocabo_study *study, int64_t i) {
  cocabo_value values[WIDTH];
  cocabo_trial *trial = NULL;
  cocabo_error err;
  double told = 0.0, params[WIDTH];
  int32_t state = -1;
  const cocabo_columns columns = {.states = &state, .values = &told, .params = params};
  demand(cocabo_study_trial(r->study, i, &trial, &err) == COCABO_OK, "it is there");
  demand(cocabo_study_columns(study, i, 1, &columns, &err) == COCABO_OK, "and there");
  demand(cocabo_trial_values(trial, values, r->width, &err) == COCABO_OK, "complete");
  demand(state == (int32_t)cocabo_trial_get_state(trial), "in the same state");
  demand_same_number(told, cocabo_trial_value(trial));
  for (size_t k = 0; k < r->width; k++) {
    size_t index = 0;
    if (values[k].type == COCABO_ABSENT)
      demand(isnan(params[k]), "what is inactive is no number");
    else if (cocabo_space_choices(r->space, k) == 0)
      demand_same_number(params[k], values[k].type == COCABO_INT
                                        ? (double)values[k].as.integer
                                        : values[k].as.real);
    else
      demand(cocabo_trial_choice_index(trial, k, &index, &err) == COCABO_OK &&
                 params[k] == (double)index,
             "a choice is its index");
  }
  cocabo_trial_free(trial);
}

static void demand_all(run *r) {
  cocabo_error err;
  const int64_t n = cocabo_study_count(r->study);
  int64_t sum = 0;
  for (int s = COCABO_WAITING; s <= COCABO_STALE; s++)
    sum += cocabo_study_count_state(r->study, (cocabo_trial_state)s);
  demand(sum == n, "every trial is in one state");
  demand(cocabo_study_sync(r->other, &err) == COCABO_OK, "the other handle follows");
  demand(cocabo_study_count(r->other) == n, "to the same end");
  if (n > 0)
    demand_row(r, r->other, (int64_t)next(r) % n);
}

static void step(run *r) {
  switch (next(r) % 10) {
  case 0:
  case 1:
    if (r->by_runs)
      ask_run(r);
    else
      ask(r, 0);
    break;
  case 2:
    ask(r, 1);
    break;
  case 3:
    if (r->by_runs && next(r) % 4 > 0)
      tell_run(r);
    else
      tell(r);
    break;
  case 4:
    end(r);
    break;
  case 5:
    add(r, 0);
    break;
  case 6:
    add(r, 1);
    break;
  case 7:
    predict(r);
    break;
  case 8:
    change(r);
    break;
  default:
    open_again(r);
  }
  demand_all(r);
}

/* ---- a run ----------------------------------------------------------------------- */

static void begin(run *r) {
  static const char *const spaces[][WIDTH] = {
      {"int(0,3)", "int(0,3)"},
      {"float(0,3)", "choice(a,b)"},
      {"choice(a,b)", "int(0,3) if p0 == a", "float(0,3,step=0.5)"},
      {"float(0,3)", "float(0,3)", "ordinal(a,b)", "choice(a,b,c) if p0 > 1"}};
  static const char *const samplers[] = {"random", "mixed", "cocabo", "smac"};
  cocabo_options *options = cocabo_options_new();
  cocabo_error err;
  const unsigned byte = next(r);
  r->conditional = byte % 4 >= 2;
  r->space = cocabo_space_new();
  r->store = cocabo_store_new_memory();
  demand(r->space && r->store && options, "there is memory");
  for (; r->width < WIDTH && spaces[byte % 4][r->width]; r->width++) {
    const char name[] = {'p', (char)('0' + r->width), '\0'};
    demand(cocabo_space_add(r->space, name, spaces[byte % 4][r->width], &err) ==
               COCABO_OK,
           "it is a space");
  }
  if (byte & 32)
    demand(cocabo_space_rule(r->space, byte % 4 == 2 ? "p2 < 3" : "p0 < 3", &err) ==
               COCABO_OK,
           "it is a rule");
  demand(cocabo_options_set(options, "sampler",
                            samplers[byte / 4 % (r->conditional ? 2 : 4)],
                            &err) == COCABO_OK &&
             cocabo_options_set(options, "n_init", "2", &err) == COCABO_OK &&
             cocabo_options_set(options, "samples", "20", &err) == COCABO_OK &&
             cocabo_options_set(options, "deterministic", byte & 64 ? "false" : "true",
                                &err) == COCABO_OK &&
             cocabo_options_set(options, "direction",
                                byte & 128 ? "maximize" : "minimize",
                                &err) == COCABO_OK,
         "they are options");
  r->by_runs = (byte & 16) != 0;
  if (r->by_runs)
    demand(cocabo_options_set(options, "instances", "i\nj", &err) == COCABO_OK &&
               cocabo_options_set(options, "seeds", "3", &err) == COCABO_OK &&
               cocabo_options_set(options, "runs", "40", &err) == COCABO_OK &&
               cocabo_options_set(options, "cap", byte & 1 ? "auto" : "0", &err) ==
                   COCABO_OK,
           "and those of runs");
  demand(cocabo_study_create(&r->study, "s", r->space, options, r->store, &err) ==
                 COCABO_OK &&
             cocabo_study_open(&r->other, "s", r->store, &err) == COCABO_OK,
         "it is a study");
  cocabo_options_free(options);
}

static void finish(run *r) {
  cocabo_report report;
  cocabo_error err;
  demand(cocabo_study_verify(r->study, 4, &report, &err) == COCABO_OK,
         "the log does not contradict itself");
  demand(report.differing == 0, "proposals come out the same");
  demand(report.trials == cocabo_study_count(r->study), "all trials are in the log");
  cocabo_study_free(r->study);
  cocabo_study_free(r->other);
  cocabo_space_free(r->space);
  cocabo_store_free(r->store);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  run r = {.data = data, .left = size};
  begin(&r);
  for (int i = 0; i < STEPS && r.left > 0; i++)
    step(&r);
  finish(&r);
  return 0;
}
