/* runs.h - a study whose trials are run several times, played on a history and a
 * sampler alone: what a run gives is drawn, means and errors of the runs are folded in.
 */
#ifndef CB_TESTS_RUNS_H
#define CB_TESTS_RUNS_H

#include <stdio.h>

#include "check.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/rng.h"
#include "log/history.h"
#include "sampler/sampler.h"
#include "study/options.h"

enum { RUNS_MOST = 200, RUNS_PARAMS = 3, RUNS_ARMS = 4 };

typedef struct runs {
  cocabo_space *space;
  cocabo_options *options;
  cb_resolved resolved;
  cb_history *history;
  void *state;
  double noise; /* deviation of a run */
  cb_rng rng;
  int count;                      /* runs so far, */
  int of_row[RUNS_MOST], repeats; /* those of a row; and those that are not first */
  double sum[RUNS_MOST], squares[RUNS_MOST];
} runs;

static cocabo_error err;

/* Two numbers and a category. */
static cocabo_space *runs_space(void) {
  cocabo_space *space = cocabo_space_new();
  assert_ok(cocabo_space_add(space, "u", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "v", "float(-1,1)", &err));
  assert_ok(cocabo_space_add(space, "h", "choice(a,b,c,d)", &err));
  return space;
}

static void runs_open(runs *r, const char *sampler, const char *deterministic,
                      uint64_t seed, double noise) {
  char text[24];
  memset(r, 0, sizeof *r);
  r->space = runs_space();
  r->options = cocabo_options_new();
  snprintf(text, sizeof text, "%llu", (unsigned long long)seed);
  assert_ok(cocabo_options_set(r->options, "seed", text, &err));
  assert_ok(cocabo_options_set(r->options, "sampler", sampler, &err));
  assert_ok(cocabo_options_set(r->options, "deterministic", deterministic, &err));
  cb_settings_resolve(r->options, r->space, &r->resolved);
  assert_ok(cb_history_new(&r->history, r->space, 1.0, &err));
  assert_ok(
      r->resolved.sampler->create(&r->state, r->space, &r->resolved.settings, &err));
  r->noise = noise;
  r->rng = cb_rng_make(seed, CB_RNG_BENCH, 77);
}

static void runs_close(runs *r) {
  r->resolved.sampler->destroy(r->state);
  cb_history_free(r->history);
  cocabo_options_free(r->options);
  cocabo_space_free(r->space);
}

static void runs_put(runs *r, cb_event event) {
  event.seq = r->history->seq + 1;
  assert_ok(cb_history_apply(r->history, &event, &err));
}

static cb_ask runs_ask(const runs *r) {
  return (cb_ask){.history = r->history,
                  .fit = cb_history_fit(r->history),
                  .settings = &r->resolved.settings,
                  .number = r->history->n_trials,
                  .batch = 1};
}

/* The best of the best category is 0, that of the next as much lower as the noise of
 * the tests is. */
static double runs_truth(const cb_trial *trial) {
  static const double top[RUNS_ARMS] = {-0.3, -1.1, 0.0, -0.7};
  static const double at[RUNS_ARMS][2] = {
      {0.31, -0.42}, {-0.17, 0.63}, {-0.38, 0.27}, {0.56, 0.08}};
  const double u = trial->x[0] - at[trial->h[0]][0],
               v = trial->x[1] - at[trial->h[0]][1];
  return top[trial->h[0]] - u * u - v * v;
}

static double runs_draw(runs *r, const cb_trial *trial) {
  return runs_truth(trial) + r->noise * cb_rng_normal(&r->rng);
}

/* Means and errors of all rows, from runs whose variance is that of all together. */
static void runs_fold(runs *r) {
  double squares = 0.0;
  for (int64_t i = 0; i < r->history->n; i++)
    squares += r->squares[i] - r->sum[i] * r->sum[i] / r->of_row[i];
  r->history->run_variance = r->repeats >= 4 ? squares / r->repeats : 0.0;
  for (int64_t i = 0; i < r->history->n; i++)
    cb_history_revise(r->history, i, r->sum[i] / r->of_row[i],
                      r->history->run_variance / r->of_row[i]);
}

static void runs_count(runs *r, int64_t row, double y) {
  r->repeats += r->of_row[row] > 0;
  r->count++;
  r->of_row[row]++;
  r->sum[row] += y;
  r->squares[row] += y * y;
}

static void runs_again(runs *r, int64_t row) {
  const cb_trial *trial = &r->history->trials[r->history->told[row]];
  runs_count(r, row, runs_draw(r, trial));
  runs_fold(r);
}

/* A trial at these cells is asked and told; draws are the bandits', or NULL. */
static void runs_add(runs *r, cb_cell *cells, cb_draw *draws, bool by_design,
                     const double *y) {
  const int64_t number = r->history->n_trials;
  runs_put(
      r, (cb_event){.kind = CB_TRIAL_ASKED,
                    .number = number,
                    .origin = by_design ? CB_BY_DESIGN : CB_BY_SAMPLER,
                    .n_cells = RUNS_PARAMS,
                    .cells = cells,
                    .proposal = {.n_draws = draws ? r->space->c : 0, .draws = draws}});
  const double value = y ? *y : runs_draw(r, &r->history->trials[number]);
  runs_put(r, (cb_event){
                  .kind = CB_TRIAL_TOLD, .number = number, .has_y = true, .y = value});
  runs_count(r, r->history->n - 1, value);
  runs_fold(r);
}

static void runs_fit(runs *r) {
  const cb_sampler *sampler = r->resolved.sampler;
  const cb_ask ask = runs_ask(r);
  cb_fit fit = {0};
  assert_ok(sampler->fit(r->state, &ask, &fit, &err));
  fit.basis = r->history->seq;
  fit.rows = r->history->n;
  fit.round = r->history->n_rounds;
  runs_put(r, (cb_event){.kind = CB_MODEL_FITTED, .number = -1, .fit = fit});
  cb_free(fit.theta);
}

/* The next run: of a known point where that may be and is worth more, or of a new one.
 */
static void runs_step(runs *r, bool reruns) {
  const cb_sampler *sampler = r->resolved.sampler;
  cb_cell cells[RUNS_PARAMS];
  cb_draw draws[RUNS_PARAMS];
  cb_proposal out = {.cells = cells, .draws = draws};
  cb_ask ask = runs_ask(r);
  int64_t row = -1;
  double gain_new, gain_again;
  if (ask.number < r->resolved.settings.n_init) {
    assert_ok(cb_design_propose(&ask, &out, &err));
    runs_add(r, cells, NULL, true, NULL);
    if (reruns && r->repeats < 4)
      runs_again(r, r->history->n - 1);
    return;
  }
  if (sampler->fit_due && sampler->fit_due(&ask))
    runs_fit(r);
  ask = runs_ask(r);
  if (reruns && sampler->rerun)
    assert_ok(sampler->rerun(r->state, &ask, &row, &gain_new, &gain_again, &err));
  if (row >= 0) {
    runs_again(r, row);
    return;
  }
  assert_ok(sampler->propose(r->state, &ask, &out, &err));
  runs_add(r, cells, out.drawn ? draws : NULL, false, NULL);
}

/* The row that the sampler thinks is the best. */
static int64_t runs_best(runs *r) {
  const cb_ask ask = runs_ask(r);
  int64_t row = -1;
  assert_ok(r->resolved.sampler->best(r->state, &ask, &row, &err));
  return row;
}

#endif
