/* columns.c - many trials as columns, for pages that draw them. */
#include "http/columns.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 7, REASON = 200 }; /* digits are for eyes; the first line of a reason */

/* One block: numbers of n rows. */
typedef struct block {
  size_t n, d, m;
  int32_t *states, *origins;
  int64_t *attempts;
  double *values, *started, *finished, *params, *metrics;
  void *memory;
} block;

static cocabo_status lay_out(block *b, const http_study *study, size_t n,
                             cocabo_error *err) {
  const size_t d = cocabo_space_count(cocabo_study_space(study->handle));
  const size_t m =
      study->n_metrics < COCABO_MAX_METRICS ? study->n_metrics : COCABO_MAX_METRICS;
  double *at = cb_calloc(n * (5 + d + m), sizeof *at);
  if (!at)
    return cb_no_memory(err);
  *b = (block){.n = n, .d = d, .m = m, .memory = at};
  b->values = at;
  b->started = at + n;
  b->finished = at + 2 * n;
  b->params = at + 3 * n;
  b->metrics = b->params + n * d;
  b->attempts = (int64_t *)(void *)(b->metrics + n * m);
  b->states = (int32_t *)(void *)(b->attempts + n);
  b->origins = b->states + n;
  return COCABO_OK;
}

static cocabo_status fill(block *b, const http_study *study, const int64_t *numbers,
                          cocabo_error *err) {
  for (size_t i = 0; i < b->n; i++) {
    const cocabo_columns row = {.states = b->states + i,
                                .origins = b->origins + i,
                                .attempts = b->attempts + i,
                                .values = b->values + i,
                                .started = b->started + i,
                                .finished = b->finished + i,
                                .params = b->params + i * b->d,
                                .metric_names = (const char *const *)study->metrics,
                                .n_metrics = b->m,
                                .metrics = b->metrics + i * b->m};
    CB_TRY(cocabo_study_columns(study->handle, numbers[i], 1, &row, err));
  }
  return COCABO_OK;
}

/* ---- writing --------------------------------------------------------------------- */

static void put_integers(http_json *json, const char *key, const int64_t *numbers,
                         size_t n) {
  http_key(json, key);
  http_open(json, '[');
  for (size_t i = 0; i < n; i++)
    http_integer(json, numbers[i]);
  http_close(json, ']');
}

static void put_codes(http_json *json, const char *key, const int32_t *codes,
                      size_t n) {
  http_key(json, key);
  http_open(json, '[');
  for (size_t i = 0; i < n; i++)
    http_integer(json, codes[i]);
  http_close(json, ']');
}

static void put_times(http_json *json, const char *key, const double *times, size_t n) {
  http_key(json, key);
  http_open(json, '[');
  for (size_t i = 0; i < n; i++)
    http_time(json, times[i]);
  http_close(json, ']');
}

static void put_column(http_json *json, const double *first, size_t stride, size_t n,
                       int digits) {
  http_open(json, '[');
  for (size_t i = 0; i < n; i++)
    if (digits > 0 && first[i * stride] != rint(first[i * stride]))
      http_rounded(json, first[i * stride], digits);
    else
      http_real(json, first[i * stride]);
  http_close(json, ']');
}

static void put_study_columns(http_json *json, const http_study *study,
                              const int64_t *numbers, size_t n) {
  http_key(json, "seqs");
  http_open(json, '[');
  for (size_t i = 0; i < n; i++)
    http_integer(json, study->seqs[numbers[i]]);
  http_close(json, ']');
  http_key(json, "feasible");
  http_open(json, '[');
  for (size_t i = 0; i < n; i++) {
    const signed char feasible = study->feasible[numbers[i]];
    http_word(json, feasible < 0 ? "null" : feasible ? "1" : "0");
  }
  http_close(json, ']');
  http_key(json, "reported");
  http_open(json, '[');
  for (size_t i = 0; i < n; i++)
    if (study->reported[numbers[i]])
      http_integer(json, numbers[i]);
  http_close(json, ']');
}

static cocabo_status put_reasons(http_json *json, const block *b,
                                 const http_study *study, const int64_t *numbers,
                                 cocabo_error *err) {
  http_key(json, "reasons");
  http_open(json, '{');
  for (size_t i = 0; i < b->n; i++) {
    cocabo_trial *trial;
    char key[CB_DIGITS];
    if (b->states[i] != COCABO_FAILED)
      continue;
    CB_TRY(cocabo_study_trial(study->handle, numbers[i], &trial, err));
    const char *reason = cocabo_trial_reason(trial);
    const size_t line = strcspn(reason, "\r\n");
    snprintf(key, sizeof key, "%" PRId64, numbers[i]);
    http_key(json, key);
    http_text_part(json, reason, line < REASON ? line : REASON);
    cocabo_trial_free(trial);
  }
  http_close(json, '}');
  return COCABO_OK;
}

static void put_numbers(http_json *json, const block *b, const http_study *study) {
  put_codes(json, "state", b->states, b->n);
  http_key(json, "value");
  put_column(json, b->values, 1, b->n, 0);
  put_codes(json, "origin", b->origins, b->n);
  put_integers(json, "attempt", b->attempts, b->n);
  put_times(json, "started", b->started, b->n);
  put_times(json, "finished", b->finished, b->n);
  http_key(json, "params");
  http_open(json, '[');
  for (size_t j = 0; j < b->d; j++)
    put_column(json, b->params + j, b->d, b->n, DIGITS);
  http_close(json, ']');
  http_key(json, "metrics");
  http_open(json, '{');
  for (size_t k = 0; k < b->m; k++) {
    http_key(json, study->metrics[k]);
    put_column(json, b->metrics + k, b->m, b->n, 0);
  }
  http_close(json, '}');
}

cocabo_status http_put_columns(http_json *json, const http_study *study,
                               const int64_t *numbers, size_t n, cocabo_error *err) {
  block b = {0};
  CB_TRY(lay_out(&b, study, n, err));
  cocabo_status status = fill(&b, study, numbers, err);
  if (status == COCABO_OK) {
    put_integers(json, "number", numbers, n);
    put_study_columns(json, study, numbers, n);
    put_numbers(json, &b, study);
    status = put_reasons(json, &b, study, numbers, err);
  }
  cb_free(b.memory);
  return status;
}

/* ---- the document ---------------------------------------------------------------- */

static cocabo_status put_changes(http_call *call, int64_t limit, const int64_t *numbers,
                                 size_t n, int64_t after, cocabo_error *err) {
  http_json *json = &call->json;
  const bool more = n > (size_t)limit;
  const size_t shown = more ? (size_t)limit : n;
  const int64_t next = shown > 0 ? call->study->seqs[numbers[shown - 1]] : after;
  http_open(json, '{');
  http_put_seq(call);
  http_put_integer(json, "next", next);
  http_put_flag(json, "more", more);
  http_put_integer(json, "count", call->study->n);
  http_put_flag(json, "thinned", false);
  CB_TRY(http_put_columns(json, call->study, numbers, shown, err));
  http_close(json, '}');
  return COCABO_OK;
}

cocabo_status http_doc_columns(http_call *call, cocabo_error *err) {
  int64_t after = 0, limit = 10000, *numbers;
  size_t n;
  CB_TRY(http_query_int(call->target, "after", 0, INT64_MAX, &after, err));
  CB_TRY(http_query_int(call->target, "limit", 1, 20000, &limit, err));
  CB_TRY(http_study_changes(call->study, after, &numbers, &n, err));
  const cocabo_status status = put_changes(call, limit, numbers, n, after, err);
  cb_free(numbers);
  return status;
}

/* ---- thinning -------------------------------------------------------------------- */

static size_t mark_steps(const http_study *study, const http_table *t, char *keep) {
  const bool maximize = http_maximizes(study->handle);
  size_t kept = 0;
  double best = NAN;
  for (size_t i = 0; i < t->n; i++)
    if (http_is_candidate(study, t, i) &&
        (isnan(best) || http_better(maximize, t->values[i], best))) {
      best = t->values[i];
      keep[i] = 1;
      kept++;
    }
  return kept;
}

/* Every k-th of those that are left, from the newest backwards, so that it is kept. */
static size_t mark_sample(size_t n, size_t most, size_t kept, char *keep) {
  const size_t left = n - kept, room = most > kept ? most - kept : 0;
  size_t seen = 0, taken = 0;
  for (size_t i = n; i-- > 0 && taken < room;) {
    if (keep[i])
      continue;
    if (left <= room || seen * room / left != (seen + 1) * room / left || seen == 0) {
      keep[i] = 1;
      taken++;
    }
    seen++;
  }
  return kept + taken;
}

cocabo_status http_thin(const http_study *study, size_t most, int64_t **numbers,
                        size_t *n, cocabo_error *err) {
  http_table t;
  CB_TRY(http_table_read(&t, study, false, err));
  char *keep = cb_calloc(t.n, 1);
  size_t kept = 0, k = 0;
  if (keep) {
    kept = mark_steps(study, &t, keep);
    kept = mark_sample(t.n, most, kept, keep);
  }
  *numbers = keep ? cb_calloc(kept, sizeof **numbers) : NULL;
  for (size_t i = 0; i < t.n && *numbers; i++)
    if (keep[i])
      (*numbers)[k++] = (int64_t)i;
  *n = k;
  cb_free(keep);
  http_table_free(&t);
  return *numbers ? COCABO_OK : cb_no_memory(err);
}
