/* plot_json.c - writes the numbers behind history, categories, importance and steps as
 * lines of JSON. */
#include "plot/plot_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "common/base.h"
#include "io/metrics.h"
#include "io/output.h"
#include "plot/plot_lines.h"

static cocabo_status put_real(front_buffer *out, const char *name, double value,
                              cocabo_error *err) {
  CB_TRY(front_buffer_printf(out, err, ",\"%s\":", name));
  return front_put_json_real(out, value, err);
}

static cocabo_status put_history(const plot_data *data, front_buffer *out,
                                 cocabo_error *err) {
  double best = NAN;
  for (size_t i = 0; i < data->n; i++) {
    const double value = data->value[i];
    if (!plot_failed(data, i) && data->feasible[i] &&
        (isnan(best) || plot_better(data, value, best)))
      best = value;
    CB_TRY(front_buffer_printf(out, err, "{\"number\":%" PRId64 ",\"state\":\"%s\"",
                               data->number[i],
                               plot_failed(data, i) ? "failed" : "complete"));
    CB_TRY(put_real(out, "value", value, err));
    CB_TRY(put_real(out, "best", best, err));
    if (cli_is_constrained(data->source))
      CB_TRY(front_buffer_printf(out, err, ",\"feasible\":%s",
                                 plot_failed(data, i) ? "null"
                                 : data->feasible[i]  ? "true"
                                                      : "false"));
    CB_TRY(front_buffer_puts(out, "}\n", err));
  }
  return COCABO_OK;
}

/* ---- categories ----------------------------------------------------------------- */

static cocabo_status put_choice(const plot_data *data, const plot_param *param,
                                size_t choice, const plot_tally *tally,
                                front_buffer *out, cocabo_error *err) {
  const bool any = tally->tried > tally->failed;
  CB_TRY(front_buffer_puts(out, "{\"parameter\":", err));
  CB_TRY(front_put_json_text(out, param->name, err));
  CB_TRY(front_buffer_puts(out, ",\"choice\":", err));
  CB_TRY(front_buffer_puts(out, param->json[choice], err));
  CB_TRY(front_buffer_printf(out, err, ",\"tried\":%zu,\"failed\":%zu", tally->tried,
                             tally->failed));
  CB_TRY(put_real(out, "best", any ? data->value[tally->best] : (double)NAN, err));
  if (!any)
    return front_buffer_puts(out, ",\"best_number\":null}\n", err);
  return front_buffer_printf(out, err, ",\"best_number\":%" PRId64 "}\n",
                             data->number[tally->best]);
}

static cocabo_status put_choices(const plot_data *data, size_t param, front_buffer *out,
                                 cocabo_error *err) {
  const plot_param *p = &data->params[param];
  plot_tally *tally = cb_calloc(p->choices, sizeof *tally);
  if (!tally)
    return cb_no_memory(err);
  plot_count(data, param, tally);
  cocabo_status status = COCABO_OK;
  for (size_t k = 0; k < p->choices && status == COCABO_OK; k++)
    status = put_choice(data, p, k, &tally[k], out, err);
  cb_free(tally);
  return status;
}

static cocabo_status put_categories(const plot_data *data, front_buffer *out,
                                    cocabo_error *err) {
  bool any = false;
  for (size_t j = 0; j < data->d; j++)
    if (data->params[j].choices > 0) {
      any = true;
      CB_TRY(put_choices(data, j, out, err));
    }
  return any ? COCABO_OK : plot_no_choices(data, err);
}

/* ---- importance ----------------------------------------------------------------- */

static cocabo_status put_importance(const plot_data *data, front_buffer *out,
                                    cocabo_error *err) {
  plot_share shares[COCABO_MAX_PARAMETERS];
  double explained;
  CB_TRY(plot_shares_find(data, shares, &explained, err));
  for (size_t i = 0; i < data->d; i++) {
    CB_TRY(front_buffer_puts(out, "{\"parameter\":", err));
    CB_TRY(front_put_json_text(out, data->params[shares[i].param].name, err));
    CB_TRY(put_real(out, "share", shares[i].share, err));
    CB_TRY(put_real(out, "se", shares[i].se, err));
    CB_TRY(put_real(out, "explained", explained, err));
    CB_TRY(front_buffer_puts(out, "}\n", err));
  }
  return COCABO_OK;
}

/* ---- steps ---------------------------------------------------------------------- */

static cocabo_status put_reports(const cocabo_trial *trial, front_buffer *out,
                                 cocabo_error *err) {
  size_t n;
  const cocabo_step *steps = cocabo_trial_reports(trial, &n);
  for (size_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_printf(
        out, err, "{\"number\":%" PRId64 ",\"state\":\"%s\",\"step\":%" PRId64,
        cocabo_trial_number(trial), cocabo_state_name(cocabo_trial_get_state(trial)),
        steps[i].step));
    CB_TRY(put_real(out, "value", steps[i].value, err));
    CB_TRY(front_buffer_puts(out, "}\n", err));
  }
  return COCABO_OK;
}

/* All of them, also of trials whose lines are left out. */
static cocabo_status put_steps(const plot_data *data, front_buffer *out,
                               cocabo_error *err) {
  if (data->reported == 0)
    return plot_no_reports(data, err);
  const int64_t count = cocabo_study_count(data->source);
  for (int64_t number = 0; number < count; number++) {
    cocabo_trial *trial;
    CB_TRY(cocabo_study_trial(data->source, number, &trial, err));
    const cocabo_status status = put_reports(trial, out, err);
    cocabo_trial_free(trial);
    CB_TRY(status);
  }
  return COCABO_OK;
}

cocabo_status plot_put_json(plot_kind kind, const plot_data *data, front_buffer *out,
                            cocabo_error *err) {
  switch (kind) {
  case PLOT_HISTORY:
    return put_history(data, out, err);
  case PLOT_CATEGORIES:
    return put_categories(data, out, err);
  case PLOT_IMPORTANCE:
    return put_importance(data, out, err);
  case PLOT_STEPS:
    return put_steps(data, out, err);
  default:
    return cb_fail(err, COCABO_E_INVALID,
                   "the numbers behind %s are the trials: see cocabo trials --json",
                   plot_kind_name((int)kind));
  }
}
