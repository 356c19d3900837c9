/* site.c - keeps studies open and up to date, and knows which trials changed when. */
#include "http/site.h"

#include <stdlib.h>
#include <string.h>

#include "common/base.h"

/* Of a site: studies, and trials of all of them together. The newest study stays, also
 * where it has more. */
enum { MAX_STUDIES = 64, MAX_TRIALS = 1000 * 1000, MAX_NAMES = 500 };

/* ---- one study ------------------------------------------------------------------- */

static void free_study(http_study *s) {
  if (!s)
    return;
  for (size_t i = 0; i < s->n_metrics; i++)
    cb_free(s->metrics[i]);
  cb_free(s->metrics);
  cb_free(s->constraints);
  cb_free(s->seqs);
  cb_free(s->feasible);
  cb_free(s->reported);
  cb_free(s->name);
  cocabo_study_free(s->handle);
  cb_free(s);
}

static cocabo_status make_room(http_study *s, int64_t n, cocabo_error *err) {
  const size_t room = (size_t)n + (size_t)n / 2 + 16;
  if ((size_t)n <= s->room)
    return COCABO_OK;
  void *seqs = cb_realloc(s->seqs, room, sizeof *s->seqs);
  s->seqs = seqs ? seqs : s->seqs;
  void *feasible = cb_realloc(s->feasible, room, 1);
  s->feasible = feasible ? feasible : s->feasible;
  void *reported = cb_realloc(s->reported, room, 1);
  s->reported = reported ? reported : s->reported;
  if (!seqs || !feasible || !reported)
    return cb_no_memory(err);
  s->room = room;
  return COCABO_OK;
}

static cocabo_status add_metric(http_study *s, const char *name, cocabo_error *err) {
  for (size_t i = 0; i < s->n_metrics; i++)
    if (strcmp(s->metrics[i], name) == 0)
      return COCABO_OK;
  if (s->n_metrics == MAX_NAMES)
    return COCABO_OK;
  void *metrics = s->metrics;
  if (!cb_reserve(&metrics, &s->metrics_room, s->n_metrics + 1, sizeof *s->metrics))
    return cb_no_memory(err);
  s->metrics = metrics;
  if (!(s->metrics[s->n_metrics] = cb_strdup(name)))
    return cb_no_memory(err);
  s->n_metrics++;
  return COCABO_OK;
}

static cocabo_status look_at_trial(http_study *s, int64_t number, cocabo_error *err) {
  cocabo_trial *trial;
  size_t n;
  cocabo_status status = COCABO_OK;
  CB_TRY(cocabo_study_trial(s->handle, number, &trial, err));
  s->feasible[number] = (signed char)cocabo_trial_feasible(trial);
  s->reported[number] = cocabo_trial_reports(trial, NULL) != NULL;
  const cocabo_metric *metrics = cocabo_trial_metrics(trial, &n);
  for (size_t i = 0; metrics && i < n && status == COCABO_OK; i++)
    status = add_metric(s, metrics[i].name, err);
  cocabo_trial_free(trial);
  return status;
}

/* What is feasible depends on the constraints as they are now. */
static cocabo_status note_constraints(http_study *s, bool *changed, cocabo_error *err) {
  const char *text = cocabo_study_option(s->handle, "constraints");
  text = text ? text : "";
  *changed = !s->constraints || strcmp(s->constraints, text) != 0;
  if (!*changed)
    return COCABO_OK;
  char *copy = cb_strdup(text);
  if (!copy)
    return cb_no_memory(err);
  cb_free(s->constraints);
  s->constraints = copy;
  return COCABO_OK;
}

/* Looks at the trials that changed after event s->seq. */
static cocabo_status catch_up(http_study *s, cocabo_error *err) {
  const int64_t seq = cocabo_study_seq(s->handle), n = cocabo_study_count(s->handle);
  bool anew;
  if (seq == s->seq)
    return COCABO_OK;
  CB_TRY(make_room(s, n, err));
  const cocabo_columns columns = {.seqs = s->seqs};
  CB_TRY(note_constraints(s, &anew, err));
  if (n > 0)
    CB_TRY(cocabo_study_columns(s->handle, 0, (size_t)n, &columns, err));
  for (int64_t i = 0; i < n; i++)
    if (anew || s->seqs[i] > s->seq || i >= s->n)
      CB_TRY(look_at_trial(s, i, err));
  s->n = n;
  s->seq = seq;
  return COCABO_OK;
}

static cocabo_status sync_study(http_study *s, double now, cocabo_error *err) {
  if (now - s->synced < HTTP_FRESH && now >= s->synced)
    return COCABO_OK;
  CB_TRY(cocabo_study_sync(s->handle, err));
  /* A server that crashed may have lost the end of a log. */
  if (cocabo_study_seq(s->handle) < s->seq || cocabo_study_count(s->handle) < s->n)
    return cb_fail(err, COCABO_E_STATE, "the log of study \"%s\" is another one",
                   s->name);
  CB_TRY(catch_up(s, err));
  s->synced = now;
  return COCABO_OK;
}

/* ---- the shelf ------------------------------------------------------------------- */

static int find(const http_site *site, const char *name) {
  for (size_t i = 0; i < site->n; i++)
    if (strcmp(site->studies[i]->name, name) == 0)
      return (int)i;
  return -1;
}

static void drop(http_site *site, size_t i) {
  free_study(site->studies[i]);
  site->studies[i] = site->studies[--site->n];
}

void http_site_close(http_site *site) {
  while (site->n > 0)
    drop(site, site->n - 1);
  cb_free(site->studies);
  site->studies = NULL;
  site->room = 0;
}

/* Closes what was not used for longest. */
static void tidy(http_site *site) {
  for (;;) {
    int64_t trials = 0;
    size_t oldest = 0;
    for (size_t i = 0; i < site->n; i++) {
      trials += site->studies[i]->n;
      if (site->studies[i]->used < site->studies[oldest]->used)
        oldest = i;
    }
    if (site->n <= 1 || (site->n <= MAX_STUDIES && trials <= MAX_TRIALS))
      return;
    drop(site, oldest);
  }
}

static cocabo_status fill_study(http_site *site, http_study *s, const char *name,
                                cocabo_error *err) {
  if (!(s->name = cb_strdup(name)))
    return cb_no_memory(err);
  CB_TRY(cocabo_study_open(&s->handle, name, site->store, err));
  s->synced = site->now;
  return catch_up(s, err);
}

static cocabo_status add_study(http_site *site, const char *name, http_study **out,
                               cocabo_error *err) {
  void *studies = site->studies;
  if (!cb_reserve(&studies, &site->room, site->n + 1, sizeof *site->studies))
    return cb_no_memory(err);
  site->studies = studies;
  http_study *s = cb_calloc(1, sizeof *s);
  const cocabo_status status = s ? fill_study(site, s, name, err) : cb_no_memory(err);
  if (status != COCABO_OK) {
    free_study(s);
    return status;
  }
  s->used = ++site->calls;
  site->studies[site->n++] = s;
  *out = s;
  tidy(site);
  return COCABO_OK;
}

/* A study that cannot be followed any more may have been deleted, and made anew. */
cocabo_status http_site_study(http_site *site, const char *name, http_study **out,
                              cocabo_error *err) {
  const int i = find(site, name);
  if (i >= 0) {
    http_study *s = site->studies[i];
    const cocabo_status status = sync_study(s, site->now, err);
    if (status == COCABO_OK) {
      s->used = ++site->calls;
      *out = s;
      return COCABO_OK;
    }
    drop(site, (size_t)i);
    if (status == COCABO_E_NO_MEMORY || status == COCABO_E_BUSY)
      return status;
  }
  return add_study(site, name, out, err);
}

http_study *http_site_peek(const http_site *site, const char *name) {
  const int i = find(site, name);
  return i < 0 ? NULL : site->studies[i];
}

/* ---- changes --------------------------------------------------------------------- */

typedef struct change {
  int64_t seq, number;
} change;

static int by_seq(const void *a, const void *b) {
  const change *x = a, *y = b;
  return (x->seq > y->seq) - (x->seq < y->seq);
}

cocabo_status http_study_changes(const http_study *study, int64_t after,
                                 int64_t **numbers, size_t *n, cocabo_error *err) {
  size_t count = 0, k = 0;
  for (int64_t i = 0; i < study->n; i++)
    count += study->seqs[i] > after;
  change *changes = cb_calloc(count, sizeof *changes);
  *numbers = cb_calloc(count, sizeof **numbers);
  if (!changes || !*numbers) {
    cb_free(changes);
    cb_free(*numbers);
    *numbers = NULL;
    return cb_no_memory(err);
  }
  for (int64_t i = 0; i < study->n; i++)
    if (study->seqs[i] > after)
      changes[k++] = (change){study->seqs[i], i};
  if (count > 1)
    qsort(changes, count, sizeof *changes, by_seq);
  for (k = 0; k < count; k++)
    (*numbers)[k] = changes[k].number;
  *n = count;
  cb_free(changes);
  return COCABO_OK;
}
