/* output.c - values and trials as JSON and as people read them. */
#include "io/output.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "cli.h"
#include "common/base.h"
#include "common/show.h"
#include "io/metrics.h"
#include "io/notes.h"

/* ---- JSON ------------------------------------------------------------------------ */

static cocabo_status put_named_real(front_buffer *out, const char *name, double value,
                                    cocabo_error *err) {
  CB_TRY(front_buffer_printf(out, err, ",\"%s\":", name));
  return front_put_json_real(out, value, err);
}

/* Seconds since 1970 to the microsecond; more digits would be noise. */
static cocabo_status put_named_time(front_buffer *out, const char *name, double seconds,
                                    cocabo_error *err) {
  if (!isfinite(seconds))
    return front_buffer_printf(out, err, ",\"%s\":null", name);
  return front_buffer_printf(out, err, ",\"%s\":%.6f", name, seconds);
}

/* Imported results have no start. */
double cli_trial_seconds(const cocabo_trial *trial) {
  return cocabo_trial_finished(trial) - cocabo_trial_started(trial);
}

cocabo_status cli_put_json_trial(front_buffer *out, const cocabo_study *study,
                                 const cocabo_trial *trial, cocabo_error *err) {
  CB_TRY(cli_put_json_fields(out, study, trial, err));
  return front_buffer_puts(out, "}", err);
}

/* Of a trial that is evaluated run by run, its runs and the error of its value. */
static cocabo_status put_json_runs(front_buffer *out, const cocabo_trial *trial,
                                   cocabo_error *err) {
  static const char *const states[] = {"running", "ok", "failed", "capped",
                                       "discarded"};
  size_t n = 0;
  const cocabo_run *runs = cocabo_trial_runs(trial, &n);
  if (n == 0)
    return COCABO_OK;
  CB_TRY(put_named_real(out, "error", cocabo_trial_error(trial), err));
  CB_TRY(front_buffer_puts(out, ",\"runs\":[", err));
  for (size_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_printf(out, err, "%s{\"run\":%zu", i > 0 ? "," : "", i));
    if (runs[i].instance) {
      CB_TRY(front_buffer_puts(out, ",\"instance\":", err));
      CB_TRY(front_put_json_text(out, runs[i].instance, err));
    }
    CB_TRY(front_buffer_printf(out, err, ",\"seed\":%" PRId64 ",\"state\":\"%s\"",
                               runs[i].seed, states[runs[i].state]));
    CB_TRY(put_named_real(out, "value", runs[i].value, err));
    CB_TRY(put_named_real(out, "seconds", runs[i].seconds, err));
    if (isfinite(runs[i].cap))
      CB_TRY(put_named_real(out, "cap", runs[i].cap, err));
    CB_TRY(front_buffer_puts(out, "}", err));
  }
  return front_buffer_puts(out, "]", err);
}

cocabo_status cli_put_json_fields(front_buffer *out, const cocabo_study *study,
                                  const cocabo_trial *trial, cocabo_error *err) {
  const cocabo_trial_state state = cocabo_trial_get_state(trial);
  CB_TRY(front_buffer_printf(out, err, "{\"number\":%" PRId64 ",\"state\":\"%s\"",
                             cocabo_trial_number(trial), cocabo_state_name(state)));
  CB_TRY(put_named_real(out, "value", cocabo_trial_value(trial), err));
  CB_TRY(put_json_runs(out, trial, err));
  CB_TRY(front_buffer_puts(out, ",\"params\":", err));
  CB_TRY(front_put_json_params(out, trial, err));
  CB_TRY(front_buffer_printf(out, err, ",\"attempt\":%" PRId64,
                             cocabo_trial_attempt(trial)));
  CB_TRY(put_named_time(out, "started", cocabo_trial_started(trial), err));
  CB_TRY(put_named_time(out, "finished", cocabo_trial_finished(trial), err));
  CB_TRY(put_named_time(out, "seconds", cli_trial_seconds(trial), err));
  CB_TRY(front_buffer_puts(out, ",\"metrics\":", err));
  CB_TRY(cli_put_json_metrics(out, trial, err));
  if (cli_is_constrained(study))
    CB_TRY(front_buffer_printf(out, err, ",\"feasible\":%s", cli_feasible_text(trial)));
  CB_TRY(cli_put_json_notes(out, trial, err));
  if (state == COCABO_FAILED) {
    CB_TRY(front_buffer_puts(out, ",\"reason\":", err));
    CB_TRY(front_put_json_text(out, cocabo_trial_reason(trial), err));
  }
  return COCABO_OK;
}

/* ---- for people and shells ------------------------------------------------------- */

cocabo_status cli_put_plain_value(front_buffer *out, const cocabo_value *value,
                                  cocabo_error *err) {
  return value->type == COCABO_TEXT ? front_buffer_puts(out, value->as.text, err)
                                    : front_put_json_value(out, value, err);
}

/* Text that needs no quotes: nothing that ends a word, and not taken for a number,
 * true, false or null. */
static bool is_plain(const char *text) {
  static const char special[] = " \t\"'\\,()=[]{}#$&;|<>`*?!~";
  if (*text == '\0' || strpbrk(text, special))
    return false;
  double number;
  return !cb_parse_result(text, strlen(text), &number) && show_is_harmless(text) &&
         strcmp(text, "true") != 0 && strcmp(text, "false") != 0 &&
         strcmp(text, "null") != 0;
}

cocabo_status cli_put_shown_value(front_buffer *out, const cocabo_value *value,
                                  cocabo_error *err) {
  const bool quoted = value->type == COCABO_TEXT && !is_plain(value->as.text);
  return quoted ? front_put_json_text(out, value->as.text, err)
                : cli_put_plain_value(out, value, err);
}

cocabo_status cli_put_shown_params(front_buffer *out, const cocabo_trial *trial,
                                   cocabo_error *err) {
  const size_t n = cocabo_trial_count(trial);
  const char *blank = "";
  for (size_t i = 0; i < n; i++) {
    const char *name;
    cocabo_value value;
    CB_TRY(cocabo_trial_get(trial, i, &name, &value, err));
    if (value.type == COCABO_ABSENT)
      continue;
    CB_TRY(front_buffer_puts(out, blank, err));
    CB_TRY(show_put(out, name, err));
    CB_TRY(front_buffer_puts(out, "=", err));
    CB_TRY(cli_put_shown_value(out, &value, err));
    blank = " ";
  }
  return COCABO_OK;
}

cocabo_status cli_put_rounded(front_buffer *out, double value, cocabo_error *err) {
  char digits[CB_DIGITS];
  return front_buffer_puts(out, show_number(digits, value), err);
}

cocabo_status cli_put_rounded_param(front_buffer *out, const cocabo_space *space,
                                    size_t i, const cocabo_value *value,
                                    cocabo_error *err) {
  if (value->type == COCABO_ABSENT)
    return front_buffer_puts(out, "-", err);
  const bool rounded =
      value->type == COCABO_REAL && cocabo_space_choices(space, i) == 0;
  return rounded ? cli_put_rounded(out, value->as.real, err)
                 : cli_put_shown_value(out, value, err);
}

bool cli_print(const front_buffer *text) {
  return front_write(text->data, text->size);
}

int cli_answer(const char *command, cocabo_status status, front_buffer *out,
               const cocabo_error *err) {
  if (status == COCABO_OK)
    cli_print(out);
  front_buffer_free(out);
  return status == COCABO_OK ? front_finish_output(command)
                             : cli_complain(command, err);
}
