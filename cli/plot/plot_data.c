/* plot_data.c - reads the finished trials of a study into arrays, and finds what plots
 * need of them: ranges, ranks, counts of choices, and which parameters matter. */
#include "plot/plot_data.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base.h"
#include "common/buffer.h"
#include "common/scale.h"
#include "io/best.h"
#include "io/metrics.h"
#include "io/output.h"

/* ---- reading: the space --------------------------------------------------------- */

static cocabo_status copy_text(const char *text, char **out, cocabo_error *err) {
  *out = cb_strdup(text);
  return *out ? COCABO_OK : cb_no_memory(err);
}

typedef cocabo_status (*put_value)(front_buffer *out, const cocabo_value *value,
                                   cocabo_error *err);

static cocabo_status write_choice(const cocabo_space *space, size_t i, size_t k,
                                  put_value put, char **out, cocabo_error *err) {
  cocabo_value value;
  CB_TRY(cocabo_space_get_choice(space, i, k, &value, err));
  front_buffer text = {0};
  cocabo_status status = put(&text, &value, err);
  const char *shown = status == COCABO_OK ? front_buffer_text(&text, err) : NULL;
  status = shown ? copy_text(shown, out, err) : COCABO_E_NO_MEMORY;
  front_buffer_free(&text);
  return status;
}

static cocabo_status read_choices(const cocabo_space *space, size_t i,
                                  plot_param *param, cocabo_error *err) {
  param->labels = cb_calloc(param->choices, sizeof *param->labels);
  param->json = cb_calloc(param->choices, sizeof *param->json);
  if (!param->labels || !param->json)
    return cb_no_memory(err);
  for (size_t k = 0; k < param->choices; k++) {
    CB_TRY(write_choice(space, i, k, cli_put_shown_value, &param->labels[k], err));
    CB_TRY(write_choice(space, i, k, front_put_json_value, &param->json[k], err));
  }
  return COCABO_OK;
}

static cocabo_status read_param(const cocabo_space *space, size_t i, plot_param *param,
                                cocabo_error *err) {
  CB_TRY(copy_text(cocabo_space_name(space, i), &param->name, err));
  param->kind = cocabo_space_kind(space, i);
  param->choices = cocabo_space_choices(space, i);
  if (param->choices > 0)
    return read_choices(space, i, param, err);
  int log_scale;
  CB_TRY(cocabo_space_get_range(space, i, &param->low, &param->high, &param->step,
                                &log_scale, err));
  param->log = log_scale;
  return COCABO_OK;
}

static cocabo_status read_space(plot_data *data, const cocabo_space *space,
                                cocabo_error *err) {
  data->d = cocabo_space_count(space);
  data->params = cb_calloc(data->d ? data->d : 1, sizeof *data->params);
  if (!data->params)
    return cb_no_memory(err);
  for (size_t i = 0; i < data->d; i++)
    CB_TRY(read_param(space, i, &data->params[i], err));
  return COCABO_OK;
}

/* ---- reading: trials ------------------------------------------------------------ */

static cocabo_status choice_index(const cocabo_space *space, size_t i,
                                  const cocabo_value *value, double *out,
                                  cocabo_error *err) {
  const size_t n = cocabo_space_choices(space, i);
  for (size_t k = 0; k < n; k++) {
    cocabo_value choice;
    CB_TRY(cocabo_space_get_choice(space, i, k, &choice, err));
    if (cb_value_equal(&choice, value)) {
      *out = (double)k;
      return COCABO_OK;
    }
  }
  return cb_fail(err, COCABO_E_INTERNAL, "a trial has a choice that %s has not",
                 cocabo_space_name(space, i));
}

static cocabo_status read_cells(plot_data *data, const cocabo_space *space,
                                const cocabo_trial *trial, cocabo_error *err) {
  double *cells = data->cells + data->n * data->d;
  for (size_t i = 0; i < data->d; i++) {
    const char *name;
    cocabo_value value;
    CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
    if (value.type == COCABO_ABSENT)
      cells[i] = (double)NAN;
    else if (data->params[i].choices > 0)
      CB_TRY(choice_index(space, i, &value, &cells[i], err));
    else
      cells[i] = value.type == COCABO_INT ? (double)value.as.integer : value.as.real;
  }
  return COCABO_OK;
}

static cocabo_status read_trial(plot_data *data, const cocabo_space *space,
                                const cocabo_trial *trial, cocabo_error *err) {
  const cocabo_trial_state state = cocabo_trial_get_state(trial);
  data->reported += cocabo_trial_reports(trial, NULL) != NULL;
  if (state != COCABO_COMPLETE && state != COCABO_FAILED)
    return COCABO_OK;
  CB_TRY(read_cells(data, space, trial, err));
  const bool complete = state == COCABO_COMPLETE;
  data->complete += complete;
  data->feasible[data->n] = cocabo_trial_feasible(trial) == 1;
  data->n_apart += complete && !data->feasible[data->n];
  data->number[data->n] = cocabo_trial_number(trial);
  data->value[data->n++] = complete ? cocabo_trial_value(trial) : (double)NAN;
  return COCABO_OK;
}

static cocabo_status read_trials(plot_data *data, const cocabo_study *study,
                                 cocabo_error *err) {
  const int64_t count = cocabo_study_count(study);
  const size_t room = (size_t)count + 1;
  data->number = cb_calloc(room, sizeof *data->number);
  data->value = cb_calloc(room, sizeof *data->value);
  data->feasible = cb_calloc(room, sizeof *data->feasible);
  data->cells = cb_calloc(room * (data->d + 1), sizeof *data->cells);
  if (!data->number || !data->value || !data->feasible || !data->cells)
    return cb_no_memory(err);
  for (int64_t number = 0; number < count; number++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(study, number, &trial, err));
    const cocabo_status status =
        read_trial(data, cocabo_study_space(study), trial, err);
    cocabo_trial_free(trial);
    CB_TRY(status);
  }
  return COCABO_OK;
}

/* The one that everybody names. */
static cocabo_status read_best(plot_data *data, cocabo_study *study,
                               cocabo_error *err) {
  cli_best best;
  data->best = data->n;
  const cocabo_status status = cli_best_find(&best, study, err);
  if (status == COCABO_E_NOT_FOUND)
    return COCABO_OK;
  CB_TRY(status);
  const int64_t number = cocabo_trial_number(best.trial);
  for (data->best = 0; data->number[data->best] != number; data->best++)
    assert(data->best + 1 < data->n); /* the best trial is complete, so it is here */
  data->noisy = best.noisy;
  data->by_runs = cli_has_runs(study);
  data->modelled = best.modelled;
  data->expected = best.expected;
  data->se = best.se;
  cli_best_free(&best);
  return COCABO_OK;
}

static cocabo_status read_all(plot_data *data, cocabo_study *study, cocabo_error *err) {
  const char *direction = cocabo_study_option(study, "direction");
  data->maximize = direction && strcmp(direction, "maximize") == 0;
  CB_TRY(copy_text(cocabo_study_name(study), &data->study, err));
  CB_TRY(read_space(data, cocabo_study_space(study), err));
  CB_TRY(read_trials(data, study, err));
  return read_best(data, study, err);
}

cocabo_status plot_data_read(plot_data *data, cocabo_study *study, cocabo_error *err) {
  *data = (plot_data){.source = study};
  const cocabo_status status = read_all(data, study, err);
  if (status != COCABO_OK)
    plot_data_free(data);
  return status;
}

static void free_texts(char **texts, size_t n) {
  for (size_t k = 0; texts && k < n; k++)
    cb_free(texts[k]);
  cb_free(texts);
}

void plot_data_free(plot_data *data) {
  for (size_t i = 0; data->params && i < data->d; i++) {
    plot_param *param = &data->params[i];
    free_texts(param->labels, param->choices);
    free_texts(param->json, param->choices);
    cb_free(param->name);
  }
  cb_free(data->params);
  cb_free(data->study);
  cb_free(data->number);
  cb_free(data->value);
  cb_free(data->feasible);
  cb_free(data->cells);
  *data = (plot_data){0};
}

/* ---- places --------------------------------------------------------------------- */

size_t plot_count_inactive(const plot_data *data, size_t param) {
  size_t n = 0;
  for (size_t row = 0; row < data->n; row++)
    n += plot_inactive(data, row, param);
  return n;
}

double plot_place(const plot_param *param, double cell) {
  assert(!isnan(cell)); /* active */
  if (param->choices > 0)
    return (cell + 0.5) / (double)param->choices;
  const double half = 0.5 * param->step;
  const scale unit = {.low = param->low - half,
                      .high = param->high + half,
                      .log = param->log,
                      .to = 1.0};
  return unit.low < unit.high ? scale_at(&unit, cell) : 0.5;
}

/* Multiples of the golden ratio fill a range evenly, however many there are. */
double plot_jitter(int64_t number) {
  const double at = (double)number * 0.6180339887498949;
  return at - floor(at) - 0.5;
}

/* ---- values --------------------------------------------------------------------- */

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Values as if they were minimised, the best one first. */
static void sort_values(double *values, size_t n, bool maximize) {
  for (size_t i = 0; i < n; i++)
    values[i] = maximize ? -values[i] : values[i];
  qsort(values, n, sizeof *values, compare_doubles);
}

/* The worst value to show: nine values in ten, and twice their range. */
static double worst_shown(const double *sorted, size_t n) {
  size_t most = (size_t)(0.9 * (double)(n - 1));
  while (most + 1 < n && sorted[most] == sorted[0])
    most++; /* where nearly all are equal, the next one */
  const double limit = sorted[0] + 2.0 * (sorted[most] - sorted[0]);
  while (most + 1 < n && sorted[most + 1] <= limit)
    most++;
  return sorted[most];
}

/* Positive values that are minimised over a decade: most of them would lie on the axis
 * if it were straight. */
static bool wants_log(const double *sorted, size_t n, bool maximize) {
  if (maximize || sorted[0] <= 0.0)
    return false;
  return sorted[(size_t)(0.9 * (double)(n - 1))] / sorted[0] >= 10.0;
}

void plot_range_of(double *sorted, size_t n, bool maximize, plot_range *out) {
  sort_values(sorted, n, maximize);
  *out = (plot_range){.log = wants_log(sorted, n, maximize)};
  if (out->log)
    for (size_t i = 0; i < n; i++)
      sorted[i] = log(sorted[i]);
  double best = sorted[0], worst = worst_shown(sorted, n);
  for (size_t i = 0; i < n; i++)
    out->beyond += sorted[i] > worst;
  best = out->log ? exp(best) : best;
  worst = out->log ? exp(worst) : worst;
  out->low = maximize ? -worst : best;
  out->high = maximize ? -best : worst;
  scale_widen(&out->low, &out->high, out->log, 0.05);
}

cocabo_status plot_range_find(const plot_data *data, plot_range *out,
                              cocabo_error *err) {
  double *values = cb_calloc(data->complete, sizeof *values);
  if (!values)
    return cb_no_memory(err);
  size_t n = 0;
  for (size_t i = 0; i < data->n; i++)
    if (!plot_failed(data, i))
      values[n++] = data->value[i];
  plot_range_of(values, n, data->maximize, out);
  cb_free(values);
  return COCABO_OK;
}

typedef struct ranked {
  double value; /* minimised */
  size_t row;
  bool best, apart;
} ranked;

static int compare_ranked(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->best != y->best)
    return x->best ? -1 : 1;
  if (x->apart != y->apart)
    return x->apart ? 1 : -1;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return (x->row > y->row) - (x->row < y->row);
}

cocabo_status plot_rank(const plot_data *data, size_t *rows, cocabo_error *err) {
  ranked *all = cb_calloc(data->complete + 1, sizeof *all);
  if (!all)
    return cb_no_memory(err);
  size_t n = 0;
  for (size_t i = 0; i < data->n; i++)
    if (!plot_failed(data, i))
      all[n++] = (ranked){data->maximize ? -data->value[i] : data->value[i], i,
                          i == data->best, plot_apart(data, i)};
  qsort(all, n, sizeof *all, compare_ranked);
  for (size_t i = 0; i < n; i++)
    rows[i] = all[i].row;
  cb_free(all);
  return COCABO_OK;
}

/* ---- choices -------------------------------------------------------------------- */

/* Those that keep the constraints come first. */
static bool is_better_row(const plot_data *data, size_t a, size_t b) {
  return data->feasible[a] != data->feasible[b]
             ? data->feasible[a]
             : plot_better(data, data->value[a], data->value[b]);
}

void plot_count(const plot_data *data, size_t param, plot_tally *tally) {
  for (size_t k = 0; k < data->params[param].choices; k++)
    tally[k] = (plot_tally){0};
  for (size_t i = 0; i < data->n; i++) {
    if (plot_inactive(data, i, param))
      continue;
    assert(plot_cell(data, i, param) < (double)data->params[param].choices);
    plot_tally *t = &tally[(size_t)plot_cell(data, i, param)];
    const bool first = t->tried == t->failed;
    t->tried++;
    if (plot_failed(data, i))
      t->failed++;
    else if (first || is_better_row(data, i, t->best))
      t->best = i;
  }
  if (plot_has_best(data) && !plot_inactive(data, data->best, param))
    tally[(size_t)plot_cell(data, data->best, param)].best = data->best;
}

static bool is_better_tally(const plot_data *data, const plot_tally *a,
                            const plot_tally *b) {
  const bool a_has = a->tried > a->failed, b_has = b->tried > b->failed;
  if (!a_has || !b_has)
    return a_has && !b_has;
  return is_better_row(data, a->best, b->best);
}

size_t plot_choose_rows(const plot_data *data, size_t param, const plot_tally *tally,
                        size_t most, size_t *rows) {
  const size_t n = data->params[param].choices;
  for (size_t k = 0; k < n; k++)
    rows[k] = k;
  if (n <= most)
    return n;
  /* Insertion sort: at most a thousand, and stable. */
  for (size_t i = 1; i < n; i++)
    for (size_t k = i;
         k > 0 && is_better_tally(data, &tally[rows[k]], &tally[rows[k - 1]]); k--) {
      const size_t row = rows[k];
      rows[k] = rows[k - 1];
      rows[k - 1] = row;
    }
  return most;
}

/* ---- importance ----------------------------------------------------------------- */

static int compare_shares(const void *a, const void *b) {
  const plot_share *x = a, *y = b;
  if (x->share != y->share)
    return x->share > y->share ? -1 : 1;
  return (x->param > y->param) - (x->param < y->param);
}

static void sort_shares(const double *share, const double *se, plot_share *out,
                        size_t n) {
  for (size_t j = 0; j < n; j++)
    out[j] = (plot_share){j, share[j], se ? se[j] : 0.0};
  qsort(out, n, sizeof *out, compare_shares);
}

cocabo_status plot_shares_find(const plot_data *data, plot_share *shares,
                               double *explained, cocabo_error *err) {
  double share[COCABO_MAX_PARAMETERS], se[COCABO_MAX_PARAMETERS];
  CB_TRY(cocabo_study_importance(data->source, data->d, share, se, explained, err));
  sort_shares(share, se, shares, data->d);
  return COCABO_OK;
}

const char *plot_percent(double share, double se, bool unicode,
                         char out[PLOT_PERCENT]) {
  const int places = share >= 0.0995 && !(se < 0.00995) ? 0 : 1;
  const int size = snprintf(out, PLOT_PERCENT, "%.*f", places, 100.0 * share);
  if (se >= 0.0)
    snprintf(out + size, PLOT_PERCENT - (size_t)size, " %s %.*f %%",
             unicode ? "\u00b1" : "+-", places, 100.0 * se);
  else
    snprintf(out + size, PLOT_PERCENT - (size_t)size, " %%");
  return out;
}

const char *plot_caveat(const plot_data *data, double explained,
                        char out[PLOT_CAVEAT]) {
  if (explained < 0.01)
    snprintf(out, PLOT_CAVEAT,
             "no model predicts the %zu values: they look like noise, and these shares "
             "mean nothing",
             data->complete);
  else
    snprintf(out, PLOT_CAVEAT,
             "a model of %zu trials explains %d %% of the variance of the values; "
             "shares in it, with standard errors",
             data->complete, (int)(100.0 * explained));
  return out;
}

static int compare_indices(const void *a, const void *b) {
  const size_t x = *(const size_t *)a, y = *(const size_t *)b;
  return (x > y) - (x < y);
}

size_t plot_choose_params(const plot_data *data, bool choices_only, size_t most,
                          size_t *out) {
  size_t n = 0, kept = 0;
  for (size_t j = 0; j < data->d; j++)
    if (!choices_only || data->params[j].choices > 0)
      out[n++] = j;
  if (n <= most)
    return n;
  double share[COCABO_MAX_PARAMETERS] = {0};
  if (cocabo_study_importance(data->source, data->d, share, NULL, NULL, NULL) !=
      COCABO_OK)
    memset(share, 0, sizeof share);
  plot_share sorted[COCABO_MAX_PARAMETERS];
  sort_shares(share, NULL, sorted, data->d);
  for (size_t i = 0; kept < most; i++)
    if (!choices_only || data->params[sorted[i].param].choices > 0)
      out[kept++] = sorted[i].param;
  qsort(out, kept, sizeof *out, compare_indices);
  return kept;
}
