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

static double mean_of(const double *values, int64_t n) {
  double sum = 0.0;
  for (int64_t i = 0; i < n; i++)
    sum += values[i];
  return sum / (double)n;
}

/* The k-th smallest, k = 0, 1, ...; what is before it then is no larger, what is after
 * it no smaller (Hoare). */
static double select_value(double *values, int64_t n, int64_t k) {
  for (int64_t first = 0, last = n - 1; first < last;) {
    const double pivot = values[k];
    int64_t i = first, j = last;
    while (i <= j) {
      while (values[i] < pivot)
        i++;
      while (pivot < values[j])
        j--;
      if (i <= j) {
        const double value = values[i];
        values[i++] = values[j];
        values[j--] = value;
      }
    }
    first = j < k ? i : first;
    last = k < i ? j : last;
  }
  return values[k];
}

/* Puts them in another order. */
static double median_of(double *values, int64_t n) {
  const double low = select_value(values, n, (n - 1) / 2);
  return low + 0.5 * (select_value(values, n, n / 2) - low);
}

static double average_of(cb_combine combine, double *values, int64_t n) {
  return combine == CB_MEDIAN ? median_of(values, n) : mean_of(values, n);
}

/* The value as it is averaged; a geometric mean is one of logarithms. */
static double on_scale(cb_combine combine, double value) {
  return combine == CB_GEOMEAN ? cb_log(fmax(value, 1e-300)) : value;
}

/* And the way back. A sum is made as if all `full` runs were like these; without such a
 * number it is that of one, so that it does not grow with the runs. */
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
  history->pairs[n] = (cb_pairing){instance, event->seed, NAN};
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
  if (trial->state != COCABO_COMPLETE)
    return;
  trial->value = cb_runs_combined(history, trial, NULL);
  history->unweighed = true;
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
  if (event->outcome == CB_RUN_CAPPED && isnan(cb_runs_value(trial, run->pair)))
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
  double value = off_scale(combine, history->full, mean);
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
    *se *= off_scale(CB_SUM, history->full, 1.0);
  if (combine == CB_GEOMEAN)
    *se *= value;
  return value;
}

/* The average of its values but that of pair `without`, less what each pair adds. */
static double net_but(const cb_history *history, const cb_trial *trial, int64_t without,
                      double *room) {
  int64_t n = 0;
  for (int64_t k = 0; k < trial->n_results; k++) {
    const double effect = history->pairs[k].effect;
    if (!isnan(trial->results[k]) && !isnan(effect) && k != without)
      room[n++] = on_scale(history->combine, trial->results[k]) - effect;
  }
  return n > 0 ? average_of(history->combine, room, n) : NAN;
}

double cb_runs_net(const cb_history *history, const cb_trial *trial, double *room) {
  return net_but(history, trial, -1, room);
}

/* ---- weighing -------------------------------------------------------------------- */

/* A trial beside the reference. */
typedef struct contrast {
  int64_t n; /* differences from it; 0: the trial has no runs */
  double average;
  double variance; /* of one run, NaN: fewer than two */
  int64_t n_terms; /* its terms of the least squares, */
  double weight;   /* and what each of them weighs */
} contrast;

/* A value on the scale of averages, and where it is from. */
typedef struct term {
  int64_t pair;
  double value;
} term;

typedef struct weighing {
  cb_history *history;
  const cb_trial *reference;
  double level;      /* the average of its values */
  bool paired;       /* runs on the same pair have something in common */
  double *values;    /* room for n_pairs */
  double *weights;   /* n_pairs, from 0: of all terms of a pair */
  contrast *rows;    /* n */
  double *variances; /* room for n */
  term *terms;       /* those of row 0, of row 1, ... */
  double pooled;     /* variance of one run, NaN: unknown */
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
  const double mean = mean_of(w->values, c.n);
  double squares = 0.0;
  for (int64_t i = 0; i < c.n; i++)
    squares += (w->values[i] - mean) * (w->values[i] - mean);
  if (c.n > 1) /* a difference has the chance of two runs in it */
    c.variance = (paired ? 0.5 : 1.0) * squares / (double)(c.n - 1);
  c.average = average_of(combine, w->values, c.n);
  if (paired)
    c.average += w->level;
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

/* Of one run: what trials with several say. Of repeats the mean by their degrees of
 * freedom. Of differences the median: trials that are far from the best vary much more
 * than those that matter, and would be all that counts in a mean. The reference does
 * not differ from itself. */
static double pool(const weighing *w) {
  const cb_history *history = w->history;
  double sum = 0.0, freedom = 0.0;
  int64_t n = 0;
  for (int64_t i = 0; i < history->n; i++) {
    const bool self = w->paired && &history->trials[history->told[i]] == w->reference;
    if (w->rows[i].n < 2 || self)
      continue;
    w->variances[n++] = w->rows[i].variance;
    sum += (double)(w->rows[i].n - 1) * w->rows[i].variance;
    freedom += (double)(w->rows[i].n - 1);
  }
  return n == 0 ? NAN : w->paired ? median_of(w->variances, n) : sum / freedom;
}

/* Of one run of a trial: its own variance shrunk towards that of all, as by a prior
 * with four degrees of freedom (a scaled inverse chi-square one). */
static double one_variance(const weighing *w, const cb_trial *trial,
                           const contrast *c) {
  static const double prior = 4.0;
  const double own = (double)(c->n - 1);
  if ((w->paired && trial == w->reference) || c->n < 2)
    return w->pooled;
  return (prior * w->pooled + own * c->variance) / (prior + own);
}

/* Of a trial's average. Where there is a last pair nothing is left to chance in the
 * end. */
static double variance_of(const weighing *w, const cb_trial *trial, const contrast *c) {
  if (isnan(w->pooled))
    return 0.0;
  const double full = (double)w->history->full;
  const double left =
      w->paired && full > 0.0 ? fmax(0.0, 1.0 - (double)c->n / full) : 1.0;
  const double median = w->history->combine == CB_MEDIAN ? 1.5707963267948966 : 1.0;
  return median * left * one_variance(w, trial, c) / (double)c->n;
}

/* A trial weighs what the variance of its runs says; but a millionth of the largest is
 * as good as none. */
static void find_weights(const weighing *w) {
  const cb_history *history = w->history;
  double most = 0.0;
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    const double one = w->rows[i].n > 0 ? one_variance(w, trial, &w->rows[i]) : 0.0;
    w->variances[i] = fmax(one, 0.0); /* 0 if nothing is known */
    most = fmax(most, w->variances[i]);
  }
  const bool known = most > 0.0 && isfinite(most);
  for (int64_t i = 0; i < history->n; i++)
    w->rows[i].weight = known ? most / fmax(w->variances[i], 1e-6 * most) : 1.0;
}

/* A value that is cut off is none of them: it says nothing of its pair. */
static void list_terms(const weighing *w) {
  const cb_history *history = w->history;
  term *end = w->terms;
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    const term *first = end;
    for (int64_t k = 0; k < trial->n_results; k++) {
      if (isnan(trial->results[k]) || k == trial->capped - 1)
        continue;
      *end++ = (term){k, on_scale(history->combine, trial->results[k])};
      w->weights[k] += w->rows[i].weight;
    }
    w->rows[i].n_terms = end - first;
  }
}

/* What each pair adds: the mean, by the weights of the trials, of what they have there
 * more than elsewhere. */
static void find_effects(const weighing *w) {
  cb_history *history = w->history;
  const term *t = w->terms;
  for (int64_t k = 0; k < history->n_pairs; k++)
    w->values[k] = 0.0;
  for (int64_t i = 0; i < history->n; i++) {
    const contrast *row = &w->rows[i];
    for (const term *end = t + row->n_terms; t < end; t++)
      w->values[t->pair] += row->weight * (t->value - row->average);
  }
  for (int64_t k = 0; k < history->n_pairs; k++)
    history->pairs[k].effect = w->weights[k] > 0.0 ? w->values[k] / w->weights[k] : NAN;
}

/* What each trial comes to without that. */
static void find_averages(const weighing *w) {
  const cb_history *history = w->history;
  const term *t = w->terms;
  for (int64_t i = 0; i < history->n; i++) {
    contrast *row = &w->rows[i];
    double sum = 0.0;
    for (const term *end = t + row->n_terms; t < end; t++)
      sum += t->value - history->pairs[t->pair].effect;
    if (row->n_terms > 0)
      row->average = sum / (double)row->n_terms;
  }
}

/* Of what is cut off only if that is worse than what there is without it. */
static double net_of(const weighing *w, const cb_trial *trial) {
  const double sign = w->history->sign;
  const double all = net_but(w->history, trial, -1, w->values);
  if (trial->capped == 0)
    return all;
  const double rest = net_but(w->history, trial, trial->capped - 1, w->values);
  return isnan(all) || sign * rest < sign * all ? rest : all;
}

/* Value = trial + pair + chance, by weighted least squares: in turns, from the
 * differences from the reference on. What the reference's own luck was on a pair is
 * shared by all who are compared there; so who else has more pairs helps to tell. */
static void balance(const weighing *w) {
  enum { SWEEPS = 20 };
  const cb_history *history = w->history;
  find_weights(w);
  list_terms(w);
  for (int sweep = 0; sweep < SWEEPS; sweep++) {
    find_effects(w);
    find_averages(w);
  }
  const double shift = w->level - net_of(w, w->reference);
  for (int64_t i = 0; i < history->n; i++) {
    const double net = net_of(w, &history->trials[history->told[i]]);
    if (isfinite(net + shift))
      w->rows[i].average = net + shift;
  }
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

static double level_of(const weighing *w) {
  const cb_combine combine = w->history->combine;
  int64_t n = 0;
  for (int64_t k = 0; k < w->reference->n_results; k++)
    if (!isnan(w->reference->results[k]))
      w->values[n++] = on_scale(combine, w->reference->results[k]);
  return average_of(combine, w->values, n);
}

static void weigh_rows(weighing *w) {
  cb_history *history = w->history;
  w->level = level_of(w);
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    if (trial->n_counted > 0)
      w->rows[i] = compare(w, trial);
  }
  w->pooled = pool(w);
  if (w->paired)
    balance(w);
  history->run_variance = isnan(w->pooled) ? 0.0 : w->pooled;
  const double all = off_scale(CB_SUM, history->full, 1.0);
  if (history->combine == CB_SUM)
    history->run_variance *= all * all;
  if (history->combine == CB_GEOMEAN)
    history->run_variance *= w->reference->value * w->reference->value;
  for (int64_t i = 0; i < history->n; i++)
    if (w->rows[i].n > 0)
      revise(w, i);
}

static bool reserve(weighing *w) {
  const cb_history *history = w->history;
  const size_t n = (size_t)history->n, n_pairs = (size_t)history->n_pairs;
  size_t n_terms = 0;
  for (int64_t i = 0; i < history->n; i++)
    n_terms += (size_t)history->trials[history->told[i]].n_counted;
  w->values = cb_calloc(n_pairs, sizeof *w->values);
  w->weights = cb_calloc(n_pairs, sizeof *w->weights);
  w->rows = cb_calloc(n, sizeof *w->rows);
  w->variances = cb_calloc(n, sizeof *w->variances);
  w->terms = cb_calloc(n_terms, sizeof *w->terms);
  return w->values && w->weights && w->rows && w->variances && w->terms;
}

static void release(weighing *w) {
  cb_free(w->values);
  cb_free(w->weights);
  cb_free(w->rows);
  cb_free(w->variances);
  cb_free(w->terms);
}

cocabo_status cb_runs_weigh(cb_history *history, cocabo_error *err) {
  weighing w = {.history = history,
                .reference = find_reference(history),
                .paired = history->paired};
  if (!history->unweighed || !w.reference) {
    history->unweighed = false;
    return COCABO_OK;
  }
  const bool room = reserve(&w);
  if (room) {
    weigh_rows(&w);
    history->unweighed = false;
  }
  release(&w);
  return room ? COCABO_OK : cb_no_memory(err);
}
