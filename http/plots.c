/* plots.c - the numbers behind pictures: the history, choices over time, what trials
 * reported, and who is at work. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "http/call.h"
#include "http/columns.h"

/* ---- history --------------------------------------------------------------------- */

static void put_improvements(http_call *call, const http_table *t) {
  http_json *json = &call->json;
  const bool maximize = http_maximizes(call->study->handle);
  double best = NAN;
  http_key(json, "best");
  http_open(json, '[');
  for (size_t i = 0; i < t->n; i++) {
    if (!http_is_candidate(call->study, t, i) ||
        !(isnan(best) || http_better(maximize, t->values[i], best)))
      continue;
    best = t->values[i];
    http_open(json, '[');
    http_integer(json, (int64_t)i);
    http_real(json, best);
    http_time(json, t->finished[i]);
    http_close(json, ']');
  }
  http_close(json, ']');
}

static bool is_finished(const http_table *t, size_t i) {
  return t->states[i] == COCABO_COMPLETE || t->states[i] == COCABO_FAILED;
}

static void put_points(http_call *call, const http_table *t, const int64_t *numbers,
                       size_t n) {
  static const char *const keys[] = {"number", "value", "state", "feasible"};
  http_json *json = &call->json;
  for (int k = 0; k < 4; k++) {
    http_key(json, keys[k]);
    http_open(json, '[');
    for (size_t i = 0; i < n; i++) {
      const size_t row = (size_t)numbers[i];
      const signed char feasible = call->study->feasible[row];
      if (!is_finished(t, row))
        continue;
      if (k == 0)
        http_integer(json, numbers[i]);
      else if (k == 1)
        http_real(json, t->values[row]);
      else if (k == 2)
        http_integer(json, t->states[row]);
      else
        http_word(json, feasible < 0 ? "null" : feasible ? "1" : "0");
    }
    http_close(json, ']');
  }
}

static void put_history(http_call *call, const http_table *t, const int64_t *numbers,
                        size_t n) {
  http_json *json = &call->json;
  http_open(json, '{');
  http_put_seq(call);
  http_put_text(json, "direction",
                cocabo_study_option(call->study->handle, "direction"));
  http_put_integer(json, "count", call->study->n);
  put_improvements(call, t);
  put_points(call, t, numbers, n);
  http_put_flag(json, "thinned", n < t->n);
  http_close(json, '}');
}

cocabo_status http_doc_history(http_call *call, cocabo_error *err) {
  int64_t points = 2000, *numbers = NULL;
  size_t n = 0;
  http_table t;
  CB_TRY(http_query_int(call->target, "points", 0, 10000, &points, err));
  if (points > 0)
    CB_TRY(http_thin(call->study, (size_t)points, &numbers, &n, err));
  const cocabo_status status = http_table_read(&t, call->study, false, err);
  if (status == COCABO_OK) {
    put_history(call, &t, numbers, n);
    http_table_free(&t);
  }
  cb_free(numbers);
  return status;
}

/* ---- choices over time ----------------------------------------------------------- */

/* Counts of one parameter: bins of `size` trials each. */
typedef struct tally {
  size_t choices, bins, size;
  int64_t *counts;   /* choices x bins, a row each choice */
  int64_t *inactive; /* bins */
  int64_t *tried, *failed;
  double *best; /* choices: NaN, none */
} tally;

static void count(const http_call *call, const http_table *t, size_t param,
                  tally *out) {
  const bool maximize = http_maximizes(call->study->handle);
  for (size_t i = 0; i < t->n; i++) {
    const double cell = t->params[i * t->d + param];
    const size_t bin = i / out->size;
    if (isnan(cell)) {
      out->inactive[bin]++;
      continue;
    }
    const size_t k = (size_t)cell;
    out->counts[k * out->bins + bin]++;
    out->tried[k]++;
    out->failed[k] += t->states[i] == COCABO_FAILED;
    if (http_is_candidate(call->study, t, i) &&
        (isnan(out->best[k]) || http_better(maximize, t->values[i], out->best[k])))
      out->best[k] = t->values[i];
  }
}

static void put_list(http_json *json, const char *key, const int64_t *numbers,
                     size_t n) {
  if (key)
    http_key(json, key);
  http_open(json, '[');
  for (size_t i = 0; i < n; i++)
    http_integer(json, numbers[i]);
  http_close(json, ']');
}

static void put_tally(http_json *json, const cocabo_space *space, size_t param,
                      const tally *c) {
  http_open(json, '{');
  http_put_text(json, "name", cocabo_space_name(space, param));
  http_key(json, "choices");
  http_open(json, '[');
  for (size_t k = 0; k < c->choices; k++) {
    cocabo_value value = cocabo_null();
    (void)!cocabo_space_get_choice(space, param, k, &value, NULL);
    http_value(json, &value);
  }
  http_close(json, ']');
  http_key(json, "counts");
  http_open(json, '[');
  for (size_t k = 0; k < c->choices; k++)
    put_list(json, NULL, c->counts + k * c->bins, c->bins);
  http_close(json, ']');
  put_list(json, "inactive", c->inactive, c->bins);
  put_list(json, "tried", c->tried, c->choices);
  put_list(json, "failed", c->failed, c->choices);
  http_key(json, "best");
  http_open(json, '[');
  for (size_t k = 0; k < c->choices; k++)
    http_real(json, c->best[k]);
  http_close(json, ']');
  http_close(json, '}');
}

static cocabo_status put_parameter(http_call *call, const http_table *t, size_t param,
                                   size_t bins, size_t size, cocabo_error *err) {
  const cocabo_space *space = cocabo_study_space(call->study->handle);
  const size_t choices = cocabo_space_choices(space, param);
  tally c = {.choices = choices, .bins = bins, .size = size};
  int64_t *block = cb_calloc(choices * bins + bins + 3 * choices, sizeof *block);
  if (!block)
    return cb_no_memory(err);
  c.counts = block;
  c.inactive = block + choices * bins;
  c.tried = c.inactive + bins;
  c.failed = c.tried + choices;
  c.best = (double *)(void *)(c.failed + choices);
  for (size_t k = 0; k < choices; k++)
    c.best[k] = NAN;
  count(call, t, param, &c);
  put_tally(&call->json, space, param, &c);
  cb_free(block);
  return COCABO_OK;
}

cocabo_status http_doc_categories(http_call *call, cocabo_error *err) {
  http_json *json = &call->json;
  const cocabo_space *space = cocabo_study_space(call->study->handle);
  int64_t most = 60;
  http_table t;
  cocabo_status status = COCABO_OK;
  CB_TRY(http_query_int(call->target, "bins", 1, 500, &most, err));
  CB_TRY(http_table_read(&t, call->study, true, err));
  const size_t size = (t.n + (size_t)most - 1) / (size_t)most + (t.n == 0);
  const size_t bins = (t.n + size - 1) / size;
  http_open(json, '{');
  http_put_seq(call);
  http_put_integer(json, "size", (int64_t)size);
  http_key(json, "parameters");
  http_open(json, '[');
  for (size_t j = 0; j < t.d && status == COCABO_OK; j++)
    if (cocabo_space_choices(space, j) > 0)
      status = put_parameter(call, &t, j, bins, size, err);
  http_close(json, ']');
  http_close(json, '}');
  http_table_free(&t);
  return status;
}

/* ---- what trials reported -------------------------------------------------------- */

typedef struct ranked {
  size_t row;
  double value; /* smaller is better; infinite: it has none */
} ranked;

static int by_value(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  if (x->value != y->value)
    return x->value < y->value ? -1 : 1;
  return (x->row < y->row) - (x->row > y->row); /* of equals the newest */
}

static int by_row(const void *a, const void *b) {
  const ranked *x = a, *y = b;
  return (x->row > y->row) - (x->row < y->row);
}

/* Half of `most` the best, half the newest of the others; by number. */
static size_t choose(const http_study *study, const http_table *t, ranked *rows,
                     size_t most) {
  const double sign = http_maximizes(study->handle) ? -1.0 : 1.0;
  size_t n = 0;
  for (size_t i = 0; i < t->n; i++)
    if (study->reported[i])
      rows[n++] =
          (ranked){i, t->states[i] == COCABO_COMPLETE ? sign * t->values[i] : INFINITY};
  if (n <= most)
    return n;
  const size_t best = most / 2;
  qsort(rows, n, sizeof *rows, by_value);
  qsort(rows + best, n - best, sizeof *rows, by_row);
  memmove(rows + best, rows + n - (most - best), (most - best) * sizeof *rows);
  qsort(rows, most, sizeof *rows, by_row);
  return most;
}

static void put_steps(http_json *json, const cocabo_step *steps, size_t n,
                      size_t most) {
  const size_t shown = n < most ? n : most;
  for (int k = 0; k < 2; k++) {
    http_key(json, k == 0 ? "steps" : "values");
    http_open(json, '[');
    for (size_t i = 0; i < shown; i++) {
      const cocabo_step *step = &steps[shown > 1 ? i * (n - 1) / (shown - 1) : n - 1];
      if (k == 0)
        http_integer(json, step->step);
      else
        http_rounded(json, step->value, 7);
    }
    http_close(json, ']');
  }
  http_put_flag(json, "thinned", shown < n);
}

static cocabo_status put_reports(http_call *call, int64_t number, size_t points,
                                 cocabo_error *err) {
  http_json *json = &call->json;
  cocabo_trial *trial;
  size_t n;
  CB_TRY(cocabo_study_trial(call->study->handle, number, &trial, err));
  const cocabo_step *steps = cocabo_trial_reports(trial, &n);
  http_open(json, '{');
  http_put_integer(json, "number", number);
  http_put_text(json, "state", cocabo_state_name(cocabo_trial_get_state(trial)));
  http_put_real(json, "value", cocabo_trial_value(trial));
  put_steps(json, steps, steps ? n : 0, points);
  http_close(json, '}');
  cocabo_trial_free(trial);
  return COCABO_OK;
}

cocabo_status http_doc_intermediate(http_call *call, cocabo_error *err) {
  http_json *json = &call->json;
  int64_t most = 50, points = 200, total = 0;
  http_table t;
  CB_TRY(http_query_int(call->target, "trials", 1, 500, &most, err));
  CB_TRY(http_query_int(call->target, "points", 2, 2000, &points, err));
  CB_TRY(http_table_read(&t, call->study, false, err));
  ranked *rows = cb_calloc(t.n, sizeof *rows);
  cocabo_status status = rows ? COCABO_OK : cb_no_memory(err);
  const size_t n = rows ? choose(call->study, &t, rows, (size_t)most) : 0;
  for (size_t i = 0; i < t.n; i++)
    total += call->study->reported[i];
  http_open(json, '{');
  http_put_seq(call);
  http_put_integer(json, "total", total);
  http_key(json, "trials");
  http_open(json, '[');
  for (size_t i = 0; i < n && status == COCABO_OK; i++)
    status = put_reports(call, (int64_t)rows[i].row, (size_t)points, err);
  http_close(json, ']');
  http_close(json, '}');
  cb_free(rows);
  http_table_free(&t);
  return status;
}

/* ---- who is at work -------------------------------------------------------------- */

/* Host and process of "host:pid:..."; others stay whole. */
static void put_owner(http_json *json, const char *owner) {
  const char *colon = strchr(owner, ':');
  char *end = NULL;
  const long long pid = colon ? strtoll(colon + 1, &end, 10) : 0;
  const bool known = colon && colon != owner && pid > 0 && *end == ':';
  http_put_text(json, "owner", owner);
  http_key(json, "host");
  http_text_part(json, owner, known ? (size_t)(colon - owner) : strlen(owner));
  http_key(json, "process");
  if (known)
    http_integer(json, pid);
  else
    http_word(json, "null");
}

static cocabo_status put_lease(void *user, const cocabo_lease *lease,
                               cocabo_error *err) {
  http_call *call = user;
  http_json *json = &call->json;
  cocabo_trial *trial;
  if (lease->trial >= call->study->n)
    return COCABO_OK;
  CB_TRY(cocabo_study_trial(call->study->handle, lease->trial, &trial, err));
  if (cocabo_trial_get_state(trial) == COCABO_RUNNING) {
    http_open(json, '{');
    put_owner(json, lease->owner);
    http_put_integer(json, "trial", lease->trial);
    http_put_integer(json, "attempt", cocabo_trial_attempt(trial));
    http_put_time(json, "since", cocabo_trial_started(trial));
    http_put_time(json, "left", lease->left);
    http_put_flag(json, "gone", lease->gone == 1);
    http_close(json, '}');
  }
  cocabo_trial_free(trial);
  return COCABO_OK;
}

/* Leases are newer than what was read a moment ago may be. */
cocabo_status http_doc_workers(http_call *call, cocabo_error *err) {
  call->study->synced = -HUGE_VAL;
  CB_TRY(http_site_study(call->site, call->target->segments[2], &call->study, err));
  http_open(&call->json, '{');
  http_put_seq(call);
  http_key(&call->json, "workers");
  http_open(&call->json, '[');
  CB_TRY(
      cocabo_store_leases(call->site->store, call->study->name, put_lease, call, err));
  http_close(&call->json, ']');
  http_close(&call->json, '}');
  call->response->changing = true;
  return COCABO_OK;
}
