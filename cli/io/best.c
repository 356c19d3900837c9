/* best.c - finds the best trial and what is expected of it, and writes both. */
#include "io/best.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "common/base.h"
#include "common/json.h"
#include "io/metrics.h"
#include "io/output.h"

size_t cli_count_runs(const cocabo_trial *trial) {
  size_t n = 0, counted = 0;
  const cocabo_run *runs = cocabo_trial_runs(trial, &n);
  for (size_t i = 0; i < n; i++)
    counted += runs[i].state == COCABO_RUN_OK || runs[i].state == COCABO_RUN_CAPPED;
  return counted;
}

cocabo_status cli_best_find(cli_best *out, cocabo_study *study, cocabo_error *err) {
  *out = (cli_best){.expected = NAN, .se = NAN};
  CB_TRY(cocabo_study_best(study, &out->trial, err));
  out->runs = cli_count_runs(out->trial);
  out->error = cocabo_trial_error(out->trial);
  out->constrained = cli_is_constrained(study);
  out->feasible = cocabo_trial_feasible(out->trial) == 1;
  out->noisy = strcmp(cocabo_study_option(study, "deterministic"), "false") == 0;
  if (!out->noisy)
    return COCABO_OK;
  const cocabo_status status = cocabo_study_expected(
      study, cocabo_trial_number(out->trial), &out->expected, &out->se, err);
  out->modelled = status == COCABO_OK;
  if (status == COCABO_OK || status == COCABO_E_STATE)
    return COCABO_OK;
  cli_best_free(out);
  return status;
}

void cli_best_free(cli_best *best) {
  cocabo_trial_free(best->trial);
  best->trial = NULL;
}

const char *cli_show_measure(char out[CLI_MEASURE], double value, double se) {
  const double places = se > 0.0 ? 1.0 - floor(log10(se)) : INFINITY;
  if (places <= 9.0 && fabs(value) < 1e9) {
    const int shown = places > 0.0 ? (int)places : 0;
    snprintf(out, CLI_MEASURE, "%.*f +- %.*f", shown, value, shown, se);
  } else {
    snprintf(out, CLI_MEASURE, "%.6g +- %.2g", value, se);
  }
  return out;
}

static cocabo_status put_runs(front_buffer *out, const cli_best *best,
                              cocabo_error *err) {
  char shown[CLI_MEASURE];
  const double value = cocabo_trial_value(best->trial);
  if (best->modelled)
    CB_TRY(front_buffer_printf(out, err, "expected %s",
                               cli_show_measure(shown, best->expected, best->se)));
  else if (isfinite(best->error))
    CB_TRY(front_buffer_puts(out, cli_show_measure(shown, value, best->error), err));
  else
    CB_TRY(cli_put_rounded(out, value, err));
  return front_buffer_printf(out, err, ", %zu run%s", best->runs,
                             best->runs == 1 ? "" : "s");
}

static cocabo_status put_value(front_buffer *out, const cli_best *best,
                               cocabo_error *err) {
  char shown[CLI_MEASURE];
  if (best->runs > 0)
    return put_runs(out, best, err);
  if (best->modelled)
    CB_TRY(front_buffer_printf(out, err, "expected %s, measured ",
                               cli_show_measure(shown, best->expected, best->se)));
  CB_TRY(cli_put_rounded(out, cocabo_trial_value(best->trial), err));
  return front_buffer_puts(out, best->noisy && !best->modelled ? ", the luckiest" : "",
                           err);
}

cocabo_status cli_put_best_value(front_buffer *out, const cli_best *best,
                                 cocabo_error *err) {
  CB_TRY(put_value(out, best, err));
  return front_buffer_puts(
      out, best->feasible ? "" : ", but no trial keeps the constraints yet", err);
}

cocabo_status cli_put_json_best(front_buffer *out, const cocabo_study *study,
                                const cli_best *best, cocabo_error *err) {
  CB_TRY(cli_put_json_fields(out, study, best->trial, err));
  if (best->noisy) {
    CB_TRY(front_buffer_puts(out, ",\"expected\":", err));
    CB_TRY(front_put_json_real(out, best->expected, err));
    CB_TRY(front_buffer_puts(out, ",\"expected_se\":", err));
    CB_TRY(front_put_json_real(out, best->se, err));
  }
  return front_buffer_puts(out, "}", err);
}
