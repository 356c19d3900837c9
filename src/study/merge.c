/* merge.c - many known trials at one stroke, and whole studies: what is appended as
 * one.
 *
 * Merging looks for every trial among those that the study has, so that the same trials
 * can be merged again: after a kill, or when their file has grown.
 *
 *   sync, sort both by point, pair off what is the same, append the rest; overtaken:
 * start over
 *
 * Adding is the same without looking.
 */
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "study/study.h"

/* ---- points in order ------------------------------------------------------------- */

/* A trial, known or the study's own, by its point. */
typedef struct entry {
  const cb_cell *cells; /* snapped */
  int n;
  int64_t index; /* of the known trial, or number of the study's */
  int64_t pair;  /* index of the other's that is the same, or -1 */
} entry;

static int by_point(const void *a, const void *b) {
  const entry *u = a, *v = b;
  const int order = memcmp(u->cells, v->cells, (size_t)u->n * sizeof *u->cells);
  return order != 0 ? order : (u->index > v->index) - (u->index < v->index);
}

static bool same_point(const entry *a, const entry *b) {
  return cb_cells_equal(a->n, a->cells, b->cells);
}

/* The study's trials, sorted. */
typedef struct present {
  int64_t n;
  entry *entries;
  cb_cell *cells;
} present;

static void free_present(present *p) {
  cb_free(p->entries);
  cb_free(p->cells);
}

static cocabo_status list_present(present *p, const cb_history *history,
                                  cocabo_error *err) {
  const cocabo_space *space = history->space;
  const size_t n = (size_t)history->n_trials, width = (size_t)space->n;
  *p = (present){.n = history->n_trials};
  p->entries = cb_calloc(n, sizeof *p->entries);
  p->cells = cb_calloc(n * width, sizeof *p->cells);
  if (!p->entries || !p->cells) {
    free_present(p);
    return cb_no_memory(err);
  }
  for (size_t i = 0; i < n; i++) {
    cb_cell *cells = p->cells + i * width;
    for (int j = 0; j < space->n; j++)
      cells[j] = cb_space_snap(space, j, history->trials[i].cells[j]);
    p->entries[i] =
        (entry){.cells = cells, .n = space->n, .index = (int64_t)i, .pair = -1};
  }
  qsort(p->entries, n, sizeof *p->entries, by_point);
  return COCABO_OK;
}

/* ---- which are the same ---------------------------------------------------------- */

static const char *reason_of(const cocabo_known *known) {
  return known->reason ? known->reason : "";
}

/* Was it added without a value, and handed out (as a running one is) or put on offer
 * since? Then its state says no longer how it came here. */
static bool has_moved_on(const cb_trial *trial) {
  return trial->origin == CB_BY_USER &&
         (!isnan(trial->started) || trial->state == COCABO_INTERRUPTED);
}

static bool is_same(const cocabo_known *known, const cb_trial *trial) {
  if (known->state != trial->state)
    return false;
  if (known->state == COCABO_COMPLETE)
    return trial->value == known->value;
  return known->state != COCABO_FAILED || strcmp(trial->reason, reason_of(known)) == 0;
}

/* May it have become what the trial is now? */
static bool may_be_same(const cocabo_known *known, const cb_trial *trial) {
  if (known->state == COCABO_COMPLETE)
    return false;
  const bool finished =
      trial->state == COCABO_COMPLETE || trial->state == COCABO_FAILED;
  return has_moved_on(trial) || (known->state != COCABO_FAILED && !finished);
}

/* Is it the same in this round? The certain ones come first, and among them those last
 * that another may need. */
static bool matches(const cocabo_known *known, const cb_trial *trial, int round) {
  return round < 2 ? is_same(known, trial) && has_moved_on(trial) == (round == 1)
                   : may_be_same(known, trial);
}

/* Pairs n known trials and m of the study's at one point. Mostly both are in the same
 * order, so that the next is the one. */
static void pair_off(const cb_history *history, const cocabo_known *known, entry *a,
                     int64_t n, entry *b, int64_t m) {
  for (int round = 0; round < 3; round++) {
    int64_t first = 0; /* that may be free */
    for (int64_t i = 0; i < n; i++) {
      while (first < m && b[first].pair >= 0)
        first++;
      for (int64_t k = first; k < m && a[i].pair < 0; k++)
        if (b[k].pair < 0 &&
            matches(&known[a[i].index], &history->trials[b[k].index], round)) {
          a[i].pair = b[k].index;
          b[k].pair = a[i].index;
        }
    }
  }
}

static int64_t group_size(const entry *first, int64_t most) {
  int64_t n = 1;
  while (n < most && same_point(first, first + n))
    n++;
  return n;
}

static void pair_all(const cb_history *history, const cocabo_known *known, entry *a,
                     int64_t n, present *p) {
  for (int64_t i = 0, k = 0; i < n && k < p->n;) {
    const int order =
        memcmp(a[i].cells, p->entries[k].cells, (size_t)a[i].n * sizeof *a[i].cells);
    if (order < 0) {
      i++;
    } else if (order > 0) {
      k++;
    } else {
      const int64_t u = group_size(&a[i], n - i);
      const int64_t v = group_size(&p->entries[k], p->n - k);
      pair_off(history, known, &a[i], u, &p->entries[k], v);
      i += u;
      k += v;
    }
  }
}

/* ---- merging --------------------------------------------------------------------- */

typedef struct merge {
  cocabo_known *known;
  int64_t n;
  bool all;         /* also what the study has */
  cb_cell *cells;   /* n points; also those of the events */
  entry *entries;   /* n, sorted by point */
  int64_t *numbers; /* n: that each has in the study, or will have */
  int64_t first;    /* the first new one */
  int64_t n_new;
  cb_event *events;
  int n_events;
  cb_pair *pairs; /* attributes of the events */
  size_t n_pairs;
  size_t longest;      /* reason, with its NUL */
  size_t most_metrics; /* bytes */
} merge;

/* What else is known of it. */
static void put_notes(merge *m, const cocabo_known *known, int64_t number) {
  cb_pair *pairs = m->pairs + m->n_pairs;
  for (size_t i = 0; i < known->n_attrs; i++)
    pairs[i] = (cb_pair){(char *)known->attrs[i].name, (char *)known->attrs[i].value};
  m->n_pairs += known->n_attrs;
  if (known->n_attrs > 0)
    m->events[m->n_events++] = (cb_event){.kind = CB_TRIAL_NOTED,
                                          .number = number,
                                          .n_attributes = (int)known->n_attrs,
                                          .attributes = pairs};
  for (size_t i = 0; i < known->n_reports; i++)
    m->events[m->n_events++] = (cb_event){.kind = CB_TRIAL_REPORTED,
                                          .number = number,
                                          .step = known->reports[i].step,
                                          .has_y = true,
                                          .y = known->reports[i].value};
}

/* Events that borrow everything they point to. */
static void put_new(merge *m, const cocabo_space *space, int64_t i) {
  const cocabo_known *known = &m->known[i];
  cb_event *added = &m->events[m->n_events++];
  *added = (cb_event){.kind = CB_TRIAL_ADDED,
                      .number = m->numbers[i],
                      .origin = CB_BY_USER,
                      .n_cells = space->n,
                      .cells = m->cells + i * space->n,
                      .running = known->state == COCABO_RUNNING};
  if (known->state == COCABO_COMPLETE) {
    added->has_y = true;
    added->y = known->value;
    added->n_metrics = (int)known->n_metrics;
    added->metrics = (cocabo_metric *)known->metrics;
    const size_t bytes = cb_metrics_bytes(known->metrics, added->n_metrics);
    m->most_metrics = bytes > m->most_metrics ? bytes : m->most_metrics;
  }
  if (known->state != COCABO_FAILED)
    return;
  const char *reason = reason_of(known);
  m->events[m->n_events++] = (cb_event){.kind = CB_TRIAL_FAILED,
                                        .number = m->numbers[i],
                                        .has_attempt = true,
                                        .reason = (char *)reason};
  if (strlen(reason) >= m->longest)
    m->longest = strlen(reason) + 1;
}

/* What is not paired, in the order it was given. */
static void collect_new(merge *m, const cb_history *history) {
  m->n_events = 0;
  m->n_pairs = 0;
  m->n_new = 0;
  m->first = history->n_trials;
  for (int64_t i = 0; i < m->n; i++)
    m->numbers[m->entries[i].index] = m->entries[i].pair;
  for (int64_t i = 0; i < m->n; i++)
    if (m->numbers[i] < 0) {
      m->numbers[i] = m->first + m->n_new++;
      put_new(m, history->space, i);
      put_notes(m, &m->known[i], m->numbers[i]);
    }
}

static cocabo_status find_pairs(merge *m, const cb_history *history,
                                cocabo_error *err) {
  present p;
  for (int64_t i = 0; i < m->n; i++)
    m->entries[i].pair = -1;
  if (m->all)
    return COCABO_OK;
  CB_TRY(list_present(&p, history, err));
  pair_all(history, m->known, m->entries, m->n, &p);
  free_present(&p);
  return COCABO_OK;
}

static cocabo_status try_to_merge(cocabo_study *study, merge *m, cocabo_error *err) {
  CB_TRY(cb_study_sync(study, err));
  cb_history *history = study->fold.history;
  CB_TRY(find_pairs(m, history, err));
  collect_new(m, history);
  if (m->n_events == 0)
    return COCABO_OK;
  CB_TRY(cb_history_reserve(history, m->n_new, m->longest, err));
  CB_TRY(cb_history_reserve_metrics(history, m->most_metrics, err));
  return cb_study_commit(study, m->events, m->n_events, m->first, err);
}

static cocabo_status to_cells(merge *m, const cocabo_space *space, cocabo_error *err) {
  cocabo_error why;
  for (int64_t i = 0; i < m->n; i++) {
    cb_cell *cells = m->cells + i * space->n;
    cocabo_status status = cb_space_to_cells(space, m->known[i].values, cells, &why);
    if (status == COCABO_OK && m->known[i].state == COCABO_WAITING)
      status = cb_space_check_rules(space, cells, &why);
    if (status != COCABO_OK)
      return cb_fail(err, status, "trial %lld: %s", (long long)i, why.message);
    m->entries[i] = (entry){.cells = cells, .n = space->n, .index = i};
  }
  if (!m->all)
    qsort(m->entries, (size_t)m->n, sizeof *m->entries, by_point);
  return COCABO_OK;
}

static cocabo_status carry_out(cocabo_study *study, merge *m, cocabo_error *err) {
  const cocabo_space *space = study->fold.history->space;
  const size_t n = (size_t)m->n;
  m->cells = cb_calloc(n * (size_t)space->n, sizeof *m->cells);
  m->entries = cb_calloc(n, sizeof *m->entries);
  m->numbers = cb_calloc(n, sizeof *m->numbers);
  size_t n_events = 0, n_pairs = 0;
  for (size_t i = 0; i < n; i++) {
    const cocabo_known *known = &m->known[i];
    n_events += 3 + known->n_reports; /* added, failed, noted */
    n_pairs += known->n_attrs;
  }
  if (n_events > INT_MAX)
    return cb_fail(err, COCABO_E_RANGE, "there are %zu events to add, want at most %d",
                   n_events, INT_MAX);
  m->events = cb_calloc(n_events, sizeof *m->events);
  m->pairs = cb_calloc(n_pairs, sizeof *m->pairs);
  if (!m->cells || !m->entries || !m->numbers || !m->events || !m->pairs)
    return cb_no_memory(err);
  CB_TRY(to_cells(m, space, err));
  cocabo_status status = COCABO_E_BUSY;
  for (int i = 0; i < CB_STUDY_TRIES && status == COCABO_E_BUSY; i++)
    status = try_to_merge(study, m, err);
  return status == COCABO_E_BUSY ? cb_study_overtaken(study, err) : status;
}

static cocabo_status merge_all(cocabo_study *study, merge *m, cocabo_error *err) {
  const cocabo_status status = carry_out(study, m, err);
  for (int64_t i = 0; i < m->n && status == COCABO_OK; i++) {
    m->known[i].number = m->numbers[i];
    m->known[i].added = m->numbers[i] >= m->first;
  }
  cb_free(m->cells);
  cb_free(m->entries);
  cb_free(m->numbers);
  cb_free(m->events);
  cb_free(m->pairs);
  return status;
}

cocabo_status cb_study_merge(cocabo_study *study, cocabo_known *known, int64_t n,
                             int64_t *added, cocabo_error *err) {
  merge m = {.known = known, .n = n};
  CB_TRY(merge_all(study, &m, err));
  *added = m.n_new;
  return COCABO_OK;
}

cocabo_status cb_study_add_many(cocabo_study *study, cocabo_known *known, int64_t n,
                                cocabo_error *err) {
  merge m = {.known = known, .n = n, .all = true};
  return merge_all(study, &m, err);
}

/* ---- whole logs ------------------------------------------------------------------ */

static cocabo_status copy_event(void *user, const cb_event *event, cocabo_error *err) {
  cb_events *log = user;
  void *events = log->events;
  if (event->seq != (int64_t)log->n + 1)
    return cb_fail(err, COCABO_E_STATE,
                   "event %lld contradicts the log: its number is not the next",
                   (long long)event->seq);
  if (!cb_reserve(&events, &log->capacity, log->n + 1, sizeof *log->events))
    return cb_no_memory(err);
  log->events = events;
  CB_TRY(cb_event_copy(&log->events[log->n], event, err));
  log->n++;
  return COCABO_OK;
}

cocabo_status cb_events_read(cb_events *log, const cocabo_study *study,
                             cocabo_error *err) {
  *log = (cb_events){0};
  const cocabo_status status = study->store->ops->read_since(
      study->store, study->id, &(cb_position){0}, copy_event, NULL, log, err);
  if (status != COCABO_OK)
    cb_events_clear(log);
  return status;
}

void cb_events_clear(cb_events *log) {
  for (size_t i = 0; i < log->n; i++)
    cb_event_clear(&log->events[i]);
  cb_free(log->events);
  *log = (cb_events){0};
}

cocabo_status cb_study_copy(const cocabo_study *study, const char *name,
                            cocabo_store *to, cocabo_error *err) {
  enum { MOST = 100 * 1000 * 1000 };
  cb_events log;
  int64_t id = 0, unchecked = 0;
  /* What the copy has is given checksums of its own. */
  CB_TRY(study->store->ops->check(study->store, study->id, &unchecked, err));
  CB_TRY(cb_events_read(&log, study, err));
  const cocabo_status status =
      log.n <= MOST
          ? to->ops->create_log(to, name, log.events, (int)log.n, false, &id, err)
          : cb_fail(err, COCABO_E_RANGE, "study \"%s\" has %zu events, want at most %d",
                    study->name, log.n, MOST);
  if (status == COCABO_OK)
    cb_study_leave_summary_of_copy(study, to, id, (int64_t)log.n);
  cb_events_clear(&log);
  return status;
}
