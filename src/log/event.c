/* event.c - copying and releasing what an event owns. */
#include "log/event.h"

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"

bool cb_kind_is_known(cb_event_kind kind) {
  return (kind >= CB_STUDY_CREATED && kind <= CB_TRIAL_RETRIED) ||
         kind == CB_TRIAL_NOTED || kind == CB_TRIAL_REPORTED;
}

bool cb_kind_is_ignorable(cb_event_kind kind) {
  return (int)kind >= 100 && (int)kind <= 199;
}

void cb_pairs_free(cb_pair *pairs, int n) {
  for (int i = 0; pairs && i < n; i++) {
    cb_free(pairs[i].name);
    cb_free(pairs[i].value);
  }
  cb_free(pairs);
}

void cb_event_clear(cb_event *event) {
  cb_free(event->reason);
  cb_free(event->instance);
  cb_free(event->version);
  cb_free(event->body);
  cb_free(event->cells);
  cb_free(event->metrics); /* the whole block */
  cocabo_space_free(event->space);
  cb_pairs_free(event->options, event->n_options);
  cb_pairs_free(event->attributes, event->n_attributes);
  cb_free(event->proposal.pending);
  cb_free(event->proposal.draws);
  cb_free(event->proposal.fingerprint);
  cb_free(event->proposal.fits);
  cb_free(event->fit.theta);
  memset(event, 0, sizeof *event);
}

/* A copy of count > 0 items into *to, NULL for none. False if out of memory. */
static bool copy_items(void *to, const void *from, int count, size_t size) {
  void *copy = NULL;
  if (count > 0) {
    copy = cb_calloc((size_t)count, size);
    if (!copy)
      return false;
    memcpy(copy, from, (size_t)count * size);
  }
  memcpy(to, &copy, sizeof copy);
  return true;
}

static bool copy_text(char **to, const char *from) {
  *to = from ? cb_strdup(from) : NULL;
  return *to || !from;
}

cb_pair *cb_pairs_copy(const cb_pair *pairs, int n) {
  cb_pair *copy = cb_calloc((size_t)n, sizeof *copy);
  for (int i = 0; copy && i < n; i++)
    if (!copy_text(&copy[i].name, pairs[i].name) ||
        !copy_text(&copy[i].value, pairs[i].value)) {
      cb_pairs_free(copy, n);
      return NULL;
    }
  return copy;
}

int cb_pairs_find(const cb_pair *pairs, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (pairs[i].name && strcmp(pairs[i].name, name) == 0)
      return i;
  return -1;
}

cb_pair *cb_pairs_merge(const cb_pair *pairs, int n, const cb_pair *others, int m,
                        int *n_merged) {
  cb_pair *merged = cb_calloc((size_t)n + (size_t)m, sizeof *merged);
  int used = 0;
  for (int i = 0; merged && i < n + m; i++) {
    const cb_pair *pair = i < n ? &pairs[i] : &others[i - n];
    const int found = cb_pairs_find(merged, used, pair->name);
    cb_pair *place = &merged[found >= 0 ? found : used++];
    cb_free(place->value);
    if ((found < 0 && !copy_text(&place->name, pair->name)) ||
        !copy_text(&place->value, pair->value)) {
      cb_pairs_free(merged, used);
      return NULL;
    }
  }
  *n_merged = used;
  return merged;
}

static bool copy_pairs(cb_pair **to, int *n_to, const cb_pair *from, int n) {
  if (n == 0)
    return true;
  *to = cb_pairs_copy(from, n);
  *n_to = *to ? n : 0;
  return *to != NULL;
}

/* ---- metrics --------------------------------------------------------------------- */

static cocabo_status check_metric(const cocabo_metric *metrics, size_t i,
                                  cocabo_error *err) {
  char digits[CB_DIGITS];
  const cocabo_metric *m = &metrics[i];
  CB_TRY(cb_name_check("metric name", m->name, err));
  if (!isfinite(m->value))
    return cb_fail(err, COCABO_E_INVALID, "metric \"%s\" is %s, want a finite number",
                   m->name, cb_number_show(digits, m->value));
  for (size_t k = 0; k < i; k++)
    if (strcmp(metrics[k].name, m->name) == 0)
      return cb_fail(err, COCABO_E_INVALID, "metric \"%s\" is given twice", m->name);
  return COCABO_OK;
}

cocabo_status cb_metrics_check(const cocabo_metric *metrics, size_t n,
                               cocabo_error *err) {
  if (n > COCABO_MAX_METRICS)
    return cb_fail(err, COCABO_E_RANGE, "there are %zu metrics, want at most %d", n,
                   COCABO_MAX_METRICS);
  for (size_t i = 0; i < n; i++)
    CB_TRY(check_metric(metrics, i, err));
  return COCABO_OK;
}

size_t cb_metrics_bytes(const cocabo_metric *metrics, int n) {
  size_t bytes = (size_t)n * sizeof *metrics;
  for (int i = 0; i < n; i++)
    bytes += strlen(metrics[i].name) + 1;
  return bytes;
}

cocabo_metric *cb_metrics_pack(void *block, const cocabo_metric *metrics, int n) {
  cocabo_metric *packed = block;
  char *names = (char *)(packed + n);
  for (int i = 0; i < n; i++) {
    const size_t bytes = strlen(metrics[i].name) + 1;
    packed[i].name = memcpy(names, metrics[i].name, bytes);
    packed[i].value = metrics[i].value;
    names += bytes;
  }
  return packed;
}

bool cb_metrics_equal(const cocabo_metric *a, int n, const cocabo_metric *b, int m) {
  int i = 0;
  while (i < n && n == m && a[i].value == b[i].value &&
         strcmp(a[i].name, b[i].name) == 0)
    i++;
  return n == m && i == n;
}

static bool copy_metrics(cb_event *to, const cb_event *from) {
  if (from->n_metrics == 0)
    return true;
  void *block = cb_calloc(1, cb_metrics_bytes(from->metrics, from->n_metrics));
  if (block)
    to->metrics = cb_metrics_pack(block, from->metrics, from->n_metrics);
  return block != NULL;
}

/* ---- events ---------------------------------------------------------------------- */

static bool copy_parts(cb_event *to, const cb_event *from) {
  const cb_provenance *p = &from->proposal;
  const cb_fit *fit = &from->fit;
  return copy_text(&to->reason, from->reason) &&
         copy_text(&to->instance, from->instance) && copy_metrics(to, from) &&
         copy_text(&to->version, from->version) && copy_text(&to->body, from->body) &&
         copy_pairs(&to->options, &to->n_options, from->options, from->n_options) &&
         copy_pairs(&to->attributes, &to->n_attributes, from->attributes,
                    from->n_attributes) &&
         copy_text(&to->proposal.fingerprint, p->fingerprint) &&
         copy_items(&to->cells, from->cells, from->n_cells, sizeof *to->cells) &&
         copy_items(&to->proposal.pending, p->pending, p->n_pending,
                    sizeof *p->pending) &&
         copy_items(&to->proposal.draws, p->draws, p->n_draws, sizeof *p->draws) &&
         copy_items(&to->proposal.fits, p->fits, p->n_fits, sizeof *p->fits) &&
         copy_items(&to->fit.theta, fit->theta, fit->n_theta, sizeof *fit->theta);
}

cocabo_status cb_event_copy(cb_event *out, const cb_event *event, cocabo_error *err) {
  cb_event copy = *event;
  copy.reason = NULL;
  copy.instance = NULL;
  copy.version = NULL;
  copy.body = NULL;
  copy.cells = NULL;
  copy.metrics = NULL;
  copy.n_options = 0;
  copy.options = NULL;
  copy.n_attributes = 0;
  copy.attributes = NULL;
  copy.proposal.pending = NULL;
  copy.proposal.draws = NULL;
  copy.proposal.fingerprint = NULL;
  copy.proposal.fits = NULL;
  copy.fit.theta = NULL;
  copy.kept = NULL;
  copy.kept_size = 0;
  copy.space = event->space ? cb_space_share(event->space) : NULL;
  if (!copy_parts(&copy, event)) {
    cb_event_clear(&copy);
    memset(out, 0, sizeof *out);
    return cb_no_memory(err);
  }
  *out = copy;
  return COCABO_OK;
}
