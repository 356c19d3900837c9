/* runs.c - what the runs of trials come to: values for people, rows for models. */
#include "log/runs.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/maths.h"
#include "base/mem.h"
#include "base/status.h"

/* ---- combining ------------------------------------------------------------------- */

static const char *const combine_names[] = {[CB_MEAN] = "mean",
                                            [CB_MEDIAN] = "median",
                                            [CB_GEOMEAN] = "geomean",
                                            [CB_SUM] = "sum",
                                            [CB_MAX] = "max"};
enum { N_COMBINES = sizeof combine_names / sizeof combine_names[0] };

cb_combine cb_combine_named(const char *name) {
  int i = 0;
  while (i < N_COMBINES && strcmp(name, combine_names[i]) != 0)
    i++;
  return i < N_COMBINES ? (cb_combine)i : CB_MEAN;
}

static int ascending(const void *a, const void *b) {
  const double u = *(const double *)a, v = *(const double *)b;
  return (u > v) - (u < v);
}

static double mean_of(const double *values, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++)
    sum += values[i];
  return sum / (double)n;
}

static double median_of(double *values, int64_t n) {
  qsort(values, (size_t)n, sizeof *values, ascending);
  const double low = values[(n - 1) / 2], high = values[n / 2];
  return low + 0.5 * (high - low);
}

/* The value as it is averaged; a geometric mean is one of logarithms. */
static double on_scale(cb_combine combine, double value) {
  return combine == CB_GEOMEAN ? cb_log(fmax(value, 1e-300)) : value;
}

/* And the way back. */
static double off_scale(cb_combine combine, int64_t full, double average) {
  switch (combine) {
  case CB_GEOMEAN:
    return cb_exp(average);
  case CB_SUM:
    return average * (double)(full > 0 ? full : 1);
  default:
    return average;
  }
}

double cb_combine_values(cb_combine combine, int64_t full, double *values, int64_t n) {
  assert(n > 0);
  if (combine == CB_MEDIAN)
    return median_of(values, n);
  if (combine == CB_MAX) {
    double most = values[0];
    for (int64_t i = 1; i < n; i++)
      most = fmax(most, values[i]);
    return most;
  }
  for (int64_t i = 0; i < n; i++)
    values[i] = on_scale(combine, values[i]);
  return off_scale(combine, full > 0 ? full : n, mean_of(values, n));
}

int64_t cb_instances_count(const char *lines) {
  int64_t n = 0;
  while (*lines) {
    const size_t size = strcspn(lines, "\n");
    n += size > 0;
    lines += size + (lines[size] == '\n');
  }
  return n;
}

/* ---- pairs ----------------------------------------------------------------------- */

static bool is_pair(const cb_pairing *pair, const cb_event *event) {
  const bool both = pair->instance && event->instance;
  return pair->seed == event->seed &&
         (both ? strcmp(pair->instance, event->instance) == 0
               : pair->instance == event->instance);
}

/* Trials take the pairs in one order, so the next run is mostly on the pair after the
 * last one: the search begins there. */
static int64_t find_pair(const cb_history *history, const cb_trial *trial,
                         const cb_event *event) {
  const int64_t n = history->n_pairs;
  const int64_t from = trial->n_runs > 0 ? trial->runs[trial->n_runs - 1].pair + 1 : 0;
  for (int64_t k = 0; k < n; k++) {
    const int64_t i = (from + k) % n;
    if (is_pair(&history->pairs[i], event))
      return i;
  }
  return n;
}

/* Room for one pair more, in steps of a power of two. */
static cocabo_status add_pair(cb_history *history, const cb_event *event,
                              cocabo_error *err) {
  const int64_t n = history->n_pairs;
  if ((n & (n - 1)) == 0) {
    const size_t room = n > 0 ? 2 * (size_t)n : 1;
    cb_pairing *grown = cb_realloc(history->pairs, room, sizeof *grown);
    if (!grown)
      return cb_no_memory(err);
    history->pairs = grown;
  }
  char *instance = event->instance ? cb_strdup(event->instance) : NULL;
  if (event->instance && !instance)
    return cb_no_memory(err);
  history->pairs[n] = (cb_pairing){instance, event->seed};
  history->n_pairs++;
  return COCABO_OK;
}

void cb_runs_clear_pairs(cb_history *history) {
  for (int64_t i = 0; i < history->n_pairs; i++)
    cb_free(history->pairs[i].instance);
  cb_free(history->pairs);
  history->pairs = NULL;
  history->n_pairs = 0;
}

void cb_runs_clear(cb_trial *trial) {
  for (int64_t i = 0; i < trial->n_runs; i++)
    cb_free(trial->runs[i].metrics);
  cb_free(trial->runs);
  cb_free(trial->results);
}

/* ---- events ---------------------------------------------------------------------- */

static cocabo_status contradiction(const cb_event *event, const char *what,
                                   cocabo_error *err) {
  return cb_fail(err, COCABO_E_STATE, "event %lld contradicts the log: %s",
                 (long long)event->seq, what);
}

/* Of waiting, interrupted and stale trials a run that starts is a new beginning. */
cocabo_status cb_runs_start(cb_history *history, cb_trial *trial, const cb_event *event,
                            cocabo_error *err) {
  if (event->attempt != trial->n_runs)
    return contradiction(event, "the run is not the next", err);
  void *runs = trial->runs;
  if (!cb_reserve(&runs, &trial->runs_capacity, (size_t)trial->n_runs + 1,
                  sizeof(cb_run)))
    return cb_no_memory(err);
  trial->runs = runs;
  const int64_t pair = find_pair(history, trial, event);
  if (pair == history->n_pairs)
    CB_TRY(add_pair(history, event, err));
  trial->runs[trial->n_runs++] =
      (cb_run){.pair = pair, .writer = event->id[0], .value = NAN};
  history->n_started++;
  history->n_flying++;
  return COCABO_OK;
}

/* The worst value of any run so far, as the user counts. */
static double worst_result(const cb_history *history, double otherwise) {
  double worst = NAN;
  for (int64_t i = 0; i < history->n_trials; i++) {
    const cb_trial *trial = &history->trials[i];
    for (int64_t k = 0; k < trial->n_results; k++)
      if (!isnan(trial->results[k]) &&
          !(history->sign * trial->results[k] >= history->sign * worst))
        worst = trial->results[k];
  }
  return isnan(worst) ? otherwise : worst;
}

/* Makes room for the result of a pair, with NaN where nothing is known. */
static cocabo_status reserve_result(cb_trial *trial, int64_t pair, cocabo_error *err) {
  void *results = trial->results;
  if (!cb_reserve(&results, &trial->results_capacity, (size_t)pair + 1, sizeof(double)))
    return cb_no_memory(err);
  trial->results = results;
  while (trial->n_results <= pair)
    trial->results[trial->n_results++] = NAN;
  return COCABO_OK;
}

/* The metrics of a trial are the means of its runs'. `last` is one that is not among
 * them yet. On success *out is one block, or NULL. */
static cocabo_status average_metrics(const cb_trial *trial, const cb_event *last,
                                     cocabo_metric **out, int *n_out,
                                     cocabo_error *err) {
  cocabo_metric means[COCABO_MAX_METRICS];
  int64_t counts[COCABO_MAX_METRICS] = {0};
  int n = 0;
  for (int64_t i = 0; i <= trial->n_runs; i++) {
    const bool old = i < trial->n_runs;
    const cocabo_metric *metrics = old ? trial->runs[i].metrics : last->metrics;
    const int m = old ? trial->runs[i].n_metrics : last->n_metrics;
    for (int j = 0; j < m; j++) {
      int k = 0;
      while (k < n && strcmp(means[k].name, metrics[j].name) != 0)
        k++;
      if (k == COCABO_MAX_METRICS)
        continue;
      if (k == n)
        means[n++] = (cocabo_metric){metrics[j].name, 0.0};
      means[k].value += (metrics[j].value - means[k].value) / (double)++counts[k];
    }
  }
  *n_out = n;
  *out = NULL;
  if (n == 0)
    return COCABO_OK;
  void *block = cb_calloc(1, cb_metrics_bytes(means, n));
  if (!block)
    return cb_no_memory(err);
  *out = cb_metrics_pack(block, means, n);
  return COCABO_OK;
}

static cocabo_status keep_metrics(cb_trial *trial, cb_run *run, const cb_event *event,
                                  cocabo_error *err) {
  cocabo_metric *means = NULL;
  int n = 0;
  if (event->n_metrics == 0)
    return COCABO_OK;
  void *own = cb_calloc(1, cb_metrics_bytes(event->metrics, event->n_metrics));
  if (!own)
    return cb_no_memory(err);
  const cocabo_status status = average_metrics(trial, event, &means, &n, err);
  if (status != COCABO_OK) {
    cb_free(own);
    return status;
  }
  run->metrics = cb_metrics_pack(own, event->metrics, event->n_metrics);
  run->n_metrics = event->n_metrics;
  cb_free(trial->metrics);
  trial->metrics = means;
  trial->n_metrics = n;
  return COCABO_OK;
}

static void count_result(cb_history *history, cb_trial *trial, int64_t pair,
                         double value) {
  if (!isnan(trial->results[pair]))
    return; /* the first of a pair counts */
  trial->results[pair] = value;
  trial->n_counted++;
  history->unweighed = true;
  if (trial->state == COCABO_COMPLETE)
    trial->value = cb_runs_combined(history, trial, NULL);
}

/* The first end of a run counts, and any but a discarded one after a discarded one: its
 * worker was late, not lost. */
cocabo_status cb_runs_observe(cb_history *history, cb_trial *trial,
                              const cb_event *event, cocabo_error *err) {
  if (event->attempt < 0 || event->attempt >= trial->n_runs)
    return contradiction(event, "there is no such run", err);
  if (event->has_y && !isfinite(event->y))
    return contradiction(event, "the value is not finite", err);
  cb_run *run = &trial->runs[event->attempt];
  const bool late = run->outcome == CB_RUN_DISCARDED;
  if ((run->outcome != 0 && !late) || (late && event->outcome == CB_RUN_DISCARDED))
    return COCABO_OK;
  const bool crashed =
      event->outcome == CB_RUN_FAILED && trial->state == COCABO_COMPLETE;
  const bool counts = event->has_y || crashed;
  if (counts)
    CB_TRY(reserve_result(trial, run->pair, err));
  if (event->has_y)
    CB_TRY(keep_metrics(trial, run, event, err));
  run->outcome = event->outcome;
  if (event->outcome == CB_RUN_CAPPED)
    trial->capped = run->pair + 1;
  run->value = event->has_y ? event->y : NAN;
  run->seconds = event->seconds;
  history->n_flying -= !late;
  history->n_started += late ? 1 : 0;
  history->n_started -= event->outcome == CB_RUN_DISCARDED;
  if (counts)
    count_result(history, trial, run->pair,
                 event->has_y ? event->y : worst_result(history, trial->value));
  return COCABO_OK;
}

/* ---- looking --------------------------------------------------------------------- */

double cb_runs_value(const cb_trial *trial, int64_t pair) {
  return pair < trial->n_results ? trial->results[pair] : NAN;
}

/* Mean and sum of squared deviations of what counts, on the scale of the average; but
 * not of pair `without`. */
static void moments_of(cb_combine combine, const cb_trial *trial, int64_t without,
                       double *mean, double *squares) {
  double n = 0.0;
  *mean = *squares = 0.0;
  for (int64_t k = 0; k < trial->n_results; k++) {
    if (isnan(trial->results[k]) || k == without)
      continue;
    const double d = on_scale(combine, trial->results[k]) - *mean;
    n += 1.0;
    *mean += d / n;
    *squares += d * (on_scale(combine, trial->results[k]) - *mean);
  }
}

/* The k-th smallest of what counts, k = 0, 1, ...: trials have few runs. */
static double order_statistic(const cb_trial *trial, int64_t k) {
  for (int64_t i = 0; i < trial->n_results; i++) {
    const double value = trial->results[i];
    int64_t below = 0, equal = 0;
    for (int64_t j = 0; j < trial->n_results; j++) {
      below += trial->results[j] < value;
      equal += trial->results[j] == value;
    }
    if (below <= k && k < below + equal)
      return value;
  }
  return NAN;
}

/* A value that was cut off says "at least": what the trial comes to without it may be
 * worse, and then that counts. */
double cb_runs_combined(const cb_history *history, const cb_trial *trial, double *se) {
  const int64_t n = trial->n_counted;
  const cb_combine combine = history->combine;
  double mean, squares;
  assert(n > 0);
  moments_of(combine, trial, -1, &mean, &squares);
  if (trial->capped > 0 && n > 1) {
    double other, unused;
    moments_of(combine, trial, trial->capped - 1, &other, &unused);
    mean = history->sign * other < history->sign * mean ? other : mean;
  }
  double value = off_scale(combine, history->full > 0 ? history->full : n, mean);
  if (combine == CB_MAX)
    value = order_statistic(trial, n - 1);
  if (combine == CB_MEDIAN) {
    const double low = order_statistic(trial, (n - 1) / 2);
    value = low + 0.5 * (order_statistic(trial, n / 2) - low);
  }
  if (!se)
    return value;
  *se = n > 1 ? sqrt(squares / (double)(n - 1) / (double)n) : NAN;
  if (combine == CB_SUM)
    *se *= value / mean;
  if (combine == CB_GEOMEAN)
    *se *= value;
  return value;
}

/* ---- weighing -------------------------------------------------------------------- */

/* A trial's differences from the reference: their number, average and variance. */
typedef struct contrast {
  int64_t n;
  double average, variance; /* NaN: fewer than two */
} contrast;

typedef struct weighing {
  cb_history *history;
  const cb_trial *reference;
  bool paired;    /* runs on the same pair have something in common */
  double *values; /* room for one trial's */
  contrast *rows; /* n, by row; n = 0: the trial has no runs */
  double pooled;  /* variance of one difference, NaN: unknown */
} weighing;

/* The trial with the most pairs, of equals the one with the best value. */
static const cb_trial *find_reference(const cb_history *history) {
  const cb_trial *found = NULL;
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    if (trial->n_counted > 0 &&
        (!found || trial->n_counted > found->n_counted ||
         (trial->n_counted == found->n_counted &&
          history->sign * trial->value > history->sign * found->value)))
      found = trial;
  }
  return found;
}

static double average_of(cb_combine combine, double *values, int64_t n) {
  return combine == CB_MEDIAN ? median_of(values, n) : mean_of(values, n);
}

/* Without common pairs, or where they mean nothing, of the values themselves; and not
 * of pair `without`. */
static contrast compare_but(const weighing *w, const cb_trial *trial, int64_t without) {
  const cb_combine combine = w->history->combine;
  int64_t common = 0;
  for (int64_t k = 0; k < trial->n_results; k++)
    common += !isnan(trial->results[k]) && k != without &&
              !isnan(cb_runs_value(w->reference, k));
  const bool paired = w->paired && common > 0;
  contrast c = {.variance = NAN};
  for (int64_t k = 0; k < trial->n_results; k++) {
    const double base = paired ? cb_runs_value(w->reference, k) : 0.0;
    if (!isnan(trial->results[k]) && !isnan(base) && k != without)
      w->values[c.n++] = on_scale(combine, trial->results[k]) -
                         (paired ? on_scale(combine, base) : 0.0);
  }
  double mean = mean_of(w->values, c.n), squares = 0.0;
  for (int64_t i = 0; i < c.n; i++)
    squares += (w->values[i] - mean) * (w->values[i] - mean);
  if (c.n > 1)
    c.variance = squares / (double)(c.n - 1);
  c.average = average_of(combine, w->values, c.n);
  if (!paired)
    return c;
  for (int64_t k = 0, m = 0; k < w->reference->n_results; k++)
    if (!isnan(w->reference->results[k]))
      w->values[m++] = on_scale(combine, w->reference->results[k]);
  c.average += average_of(combine, w->values, w->reference->n_counted);
  return c;
}

/* Of what is cut off only if that is worse than what there is without it. */
static contrast compare(const weighing *w, const cb_trial *trial) {
  const double sign = w->history->sign;
  const contrast all = compare_but(w, trial, -1);
  if (trial->capped == 0 || trial->n_counted < 2)
    return all;
  const contrast rest = compare_but(w, trial, trial->capped - 1);
  return sign * rest.average < sign * all.average ? rest : all;
}

/* The largest, as if the trial were like the reference where it has not been. */
static double largest(const weighing *w, const cb_trial *trial) {
  double most = NAN;
  for (int64_t k = 0; k < w->history->n_pairs; k++) {
    const double own = cb_runs_value(trial, k);
    most = fmax(most, isnan(own) && w->paired ? cb_runs_value(w->reference, k) : own);
  }
  return most;
}

/* Of one run: what trials with several say, by their degrees of freedom. In a paired
 * comparison the reference does not differ from itself. */
static double pool(const weighing *w) {
  const cb_history *history = w->history;
  double sum = 0.0, freedom = 0.0;
  for (int64_t i = 0; i < history->n; i++) {
    const bool self = w->paired && &history->trials[history->told[i]] == w->reference;
    if (w->rows[i].n < 2 || self)
      continue;
    sum += (double)(w->rows[i].n - 1) * w->rows[i].variance;
    freedom += (double)(w->rows[i].n - 1);
  }
  return freedom > 0.0 ? sum / freedom : NAN;
}

/* Of a trial's average: its own variance shrunk towards that of all, as by a prior with
 * four degrees of freedom (a scaled inverse chi-square one). Where there is a last pair
 * nothing is left to chance in the end. */
static double variance_of(const weighing *w, const cb_trial *trial, const contrast *c) {
  static const double prior = 4.0;
  const bool self = w->paired && trial == w->reference;
  const double own = (double)(c->n - 1);
  if (isnan(w->pooled))
    return 0.0;
  const double one = self || c->n < 2
                         ? w->pooled
                         : (prior * w->pooled + own * c->variance) / (prior + own);
  const double full = (double)w->history->full;
  const double left =
      w->paired && full > 0.0 ? fmax(0.0, 1.0 - (double)c->n / full) : 1.0;
  const double median = w->history->combine == CB_MEDIAN ? 1.5707963267948966 : 1.0;
  return median * left * one / (double)c->n;
}

/* Back in the units of the value: a variance by the slope of the way back. */
static void revise(const weighing *w, int64_t row) {
  cb_history *history = w->history;
  const cb_trial *trial = &history->trials[history->told[row]];
  const contrast *c = &w->rows[row];
  double value = off_scale(history->combine, history->full, c->average), slope = 1.0;
  if (history->combine == CB_MAX)
    value = largest(w, trial);
  if (history->combine == CB_GEOMEAN)
    slope = value;
  if (history->combine == CB_SUM)
    slope = off_scale(CB_SUM, history->full, 1.0);
  const double variance = slope * slope * variance_of(w, trial, c);
  if (isfinite(value) && isfinite(variance))
    cb_history_revise(history, row, history->sign * value, variance);
}

static void weigh_rows(weighing *w) {
  cb_history *history = w->history;
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    if (trial->n_counted > 0)
      w->rows[i] = compare(w, trial);
  }
  w->pooled = pool(w);
  history->run_variance = isnan(w->pooled) ? 0.0 : w->pooled;
  if (history->combine == CB_SUM)
    history->run_variance *= (double)history->full * (double)history->full;
  if (history->combine == CB_GEOMEAN)
    history->run_variance *= w->reference->value * w->reference->value;
  for (int64_t i = 0; i < history->n; i++)
    if (w->rows[i].n > 0)
      revise(w, i);
}

cocabo_status cb_runs_weigh(cb_history *history, cocabo_error *err) {
  weighing w = {.history = history, .reference = find_reference(history)};
  if (!history->unweighed || !w.reference) {
    history->unweighed = false;
    return COCABO_OK;
  }
  w.paired = history->paired;
  w.values = cb_calloc((size_t)history->n_pairs, sizeof *w.values);
  w.rows = cb_calloc((size_t)history->n, sizeof *w.rows);
  const bool room = w.values && w.rows;
  if (room) {
    weigh_rows(&w);
    history->unweighed = false;
  }
  cb_free(w.values);
  cb_free(w.rows);
  return room ? COCABO_OK : cb_no_memory(err);
}
