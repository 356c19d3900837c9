/* trials.c - whole trials: some after an event, one by number, and the best one. */
#include <inttypes.h>
#include <math.h>

#include "http/call.h"

static void put_params(http_json *json, const cocabo_trial *trial) {
  http_key(json, "params");
  http_open(json, '{');
  for (size_t i = 0; i < cocabo_trial_count(trial); i++) {
    const char *name;
    cocabo_value value;
    if (cocabo_trial_get(trial, i, &name, &value, NULL) != COCABO_OK ||
        value.type == COCABO_ABSENT)
      continue;
    http_key(json, name);
    http_value(json, &value);
  }
  http_close(json, '}');
}

static void put_metrics(http_json *json, const cocabo_trial *trial) {
  size_t n = 0;
  const cocabo_metric *metrics = cocabo_trial_metrics(trial, &n);
  http_key(json, "metrics");
  http_open(json, '{');
  for (size_t i = 0; i < n; i++)
    http_put_real(json, metrics[i].name, metrics[i].value);
  http_close(json, '}');
}

static void put_notes(http_json *json, const cocabo_trial *trial) {
  size_t n = 0;
  const cocabo_attr *attrs = cocabo_trial_attrs(trial, &n);
  if (attrs) {
    http_key(json, "attrs");
    http_open(json, '{');
    for (size_t i = 0; i < n; i++)
      http_put_text(json, attrs[i].name, attrs[i].value);
    http_close(json, '}');
  }
  const cocabo_step *steps = cocabo_trial_reports(trial, &n);
  if (steps) {
    http_key(json, "reports");
    http_open(json, '[');
    for (size_t i = 0; i < n; i++) {
      http_open(json, '[');
      http_integer(json, steps[i].step);
      http_real(json, steps[i].value);
      http_close(json, ']');
    }
    http_close(json, ']');
  }
}

static void put_fields(http_call *call, const cocabo_trial *trial) {
  http_json *json = &call->json;
  const int64_t number = cocabo_trial_number(trial);
  const cocabo_trial_state state = cocabo_trial_get_state(trial);
  const double started = cocabo_trial_started(trial),
               finished = cocabo_trial_finished(trial);
  const int feasible = cocabo_trial_feasible(trial);
  http_put_integer(json, "number", number);
  if (number < call->study->n)
    http_put_integer(json, "seq", call->study->seqs[number]);
  http_put_text(json, "state", cocabo_state_name(state));
  http_put_real(json, "value", cocabo_trial_value(trial));
  put_params(json, trial);
  http_put_integer(json, "attempt", cocabo_trial_attempt(trial));
  http_put_text(json, "origin", cocabo_origin_name(cocabo_trial_origin(trial)));
  http_put_time(json, "started", started);
  http_put_time(json, "finished", finished);
  http_put_time(json, "seconds", finished - started);
  put_metrics(json, trial);
  http_key(json, "feasible");
  http_word(json, feasible < 0 ? "null" : feasible ? "true" : "false");
  put_notes(json, trial);
  if (state == COCABO_FAILED)
    http_put_text(json, "reason", cocabo_trial_reason(trial));
}

void http_put_trial(http_call *call, const cocabo_trial *trial) {
  http_open(&call->json, '{');
  put_fields(call, trial);
  http_close(&call->json, '}');
}

cocabo_status http_put_trial_number(http_call *call, int64_t number,
                                    cocabo_error *err) {
  cocabo_trial *trial;
  CB_TRY(cocabo_study_trial(call->study->handle, number, &trial, err));
  http_put_trial(call, trial);
  cocabo_trial_free(trial);
  return COCABO_OK;
}

/* ---- documents ------------------------------------------------------------------- */

static cocabo_status put_changes(http_call *call, const int64_t *numbers, size_t n,
                                 size_t shown, int64_t after, cocabo_error *err) {
  http_json *json = &call->json;
  http_open(json, '{');
  http_put_seq(call);
  http_put_integer(json, "next",
                   shown > 0 ? call->study->seqs[numbers[shown - 1]] : after);
  http_put_flag(json, "more", n > shown);
  http_key(json, "trials");
  http_open(json, '[');
  for (size_t i = 0; i < shown; i++)
    CB_TRY(http_put_trial_number(call, numbers[i], err));
  http_close(json, ']');
  http_close(json, '}');
  return COCABO_OK;
}

cocabo_status http_doc_trials(http_call *call, cocabo_error *err) {
  int64_t after = 0, limit = 100, *numbers;
  size_t n;
  CB_TRY(http_query_int(call->target, "after", 0, INT64_MAX, &after, err));
  CB_TRY(http_query_int(call->target, "limit", 1, 1000, &limit, err));
  CB_TRY(http_study_changes(call->study, after, &numbers, &n, err));
  const size_t shown = n < (size_t)limit ? n : (size_t)limit;
  const cocabo_status status = put_changes(call, numbers, n, shown, after, err);
  cb_free(numbers);
  return status;
}

cocabo_status http_doc_trial(http_call *call, cocabo_error *err) {
  const char *text = call->target->segments[4];
  int64_t number;
  char shown[CB_SHOWN];
  if (!cb_parse_int(text, &number) || number < 0)
    return cb_fail(err, COCABO_E_INVALID, "the trial is \"%s\", want a whole number",
                   cb_text_show(shown, text));
  return http_put_trial_number(call, number, err);
}

/* Where values are noisy, with what the model expects of it. */
static cocabo_status put_expected(http_call *call, int64_t number, cocabo_error *err) {
  double expected = NAN, se = NAN;
  const cocabo_status status =
      cocabo_study_expected(call->study->handle, number, &expected, &se, err);
  if (status != COCABO_OK && status != COCABO_E_STATE)
    return status;
  http_put_real(&call->json, "expected", expected);
  http_put_real(&call->json, "expected_se", se);
  return COCABO_OK;
}

cocabo_status http_doc_best(http_call *call, cocabo_error *err) {
  cocabo_trial *trial;
  cocabo_status status = cocabo_study_best(call->study->handle, &trial, err);
  if (status == COCABO_E_NOT_FOUND) /* of a study that there is */
    return COCABO_E_STATE;
  CB_TRY(status);
  http_open(&call->json, '{');
  put_fields(call, trial);
  if (http_is_noisy(call->study->handle))
    status = put_expected(call, cocabo_trial_number(trial), err);
  http_close(&call->json, '}');
  cocabo_trial_free(trial);
  return status;
}
