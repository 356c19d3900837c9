/* sync.c - following a log: what others appended, and what a server has lost of it. */
#include <string.h>

#include "base/mem.h"
#include "base/status.h"
#include "study/study.h"

cb_position cb_study_position(const cocabo_study *study) {
  const cb_history *history = study->fold.history;
  return history ? (cb_position){history->seq, {history->id[0], history->id[1]}}
                 : (cb_position){0};
}

typedef struct reading {
  cocabo_study *study;
  cb_view *view;
  cb_lost *lost; /* NULL: nobody asks */
} reading;

static cocabo_status add_number(cb_lost *list, int64_t number, cocabo_error *err) {
  void *numbers = list->numbers;
  if (!cb_reserve(&numbers, &list->capacity, list->n + 1, sizeof *list->numbers))
    return cb_no_memory(err);
  list->numbers = numbers;
  list->numbers[list->n++] = number;
  return COCABO_OK;
}

static cocabo_status add_run(cb_lost *list, int64_t number, int64_t run,
                             cocabo_error *err) {
  void *runs = list->runs;
  if (!cb_reserve(&runs, &list->runs_capacity, list->n_runs + 1, sizeof *list->runs))
    return cb_no_memory(err);
  list->runs = runs;
  list->runs[list->n_runs++] = (cb_lost_run){number, run};
  return COCABO_OK;
}

void cb_lost_free(cb_lost *lost) {
  cb_free(lost->numbers);
  cb_free(lost->runs);
  *lost = (cb_lost){0};
}

/* Is it of an ask of ours that we believed to have failed? */
static bool is_unclaimed(const cocabo_study *study, const cb_event *event) {
  return (event->kind == CB_TRIAL_ASKED || event->kind == CB_TRIAL_RESUMED) &&
         event->id[0] == study->writer && event->id[1] >= study->unsure.first &&
         event->id[1] <= study->unsure.last;
}

static cocabo_status absorb(void *user, const cb_event *event, cocabo_error *err) {
  const reading *r = user;
  if (is_unclaimed(r->study, event))
    CB_TRY(add_number(&r->study->unsure.trials, event->number, err));
  return cb_view_apply(r->view, event, err);
}

static cocabo_status note_lost(void *user, int64_t number, int64_t run,
                               cocabo_error *err) {
  const reading *r = user;
  const cb_history *history = r->view->fold->history;
  if (number < 0 || number >= history->n_trials)
    return COCABO_OK;
  if (run != CB_WHOLE_TRIAL)
    return add_run(r->lost, number, run, err);
  if (history->trials[number].state != COCABO_RUNNING)
    return COCABO_OK;
  return add_number(r->lost, number, err);
}

static cocabo_status read_into(cocabo_study *study, cb_view *view,
                               const cb_position *from, cb_lost *lost,
                               cocabo_error *err) {
  reading r = {.study = study, .view = view, .lost = lost};
  if (lost)
    lost->n = lost->n_runs = 0;
  return study->store->ops->read_since(study->store, study->id, from, absorb,
                                       lost ? note_lost : NULL, &r, err);
}

/* The space is the first one ever: callers have it. */
static cocabo_status keep_space(cocabo_study *study, cocabo_error *err) {
  if (!study->space && study->fold.history)
    study->space = cb_space_copy(study->fold.history->space);
  return study->space || !study->fold.history ? COCABO_OK : cb_no_memory(err);
}

/* Takes the new fold over, if it can be said what it has lost. */
static cocabo_status replace_fold(cocabo_study *study, cb_view *view,
                                  cocabo_error *err) {
  CB_TRY(
      cb_handed_compare(&study->handed, study->fold.history, view->fold->history, err));
  const int64_t model = study->view.model + view->model + 1;
  cb_proposer_clear(&study->proposer);
  cb_view_clear(&study->view);
  study->fold = *view->fold;
  study->view = *view;
  study->view.fold = &study->fold;
  study->view.model = model;
  return COCABO_OK;
}

/* The log is not the one that was followed: read it from its beginning. */
static cocabo_status begin_anew(cocabo_study *study, cb_lost *lost, cocabo_error *err) {
  cb_fold fold = {.name = study->name};
  cb_view view = {.fold = &fold};
  cocabo_status status = read_into(study, &view, &(cb_position){0}, lost, err);
  if (status == COCABO_OK && !fold.history)
    status =
        cb_fail(err, COCABO_E_STATE, "the log of study \"%s\" is empty", study->name);
  if (status == COCABO_OK)
    status = replace_fold(study, &view, err);
  if (status != COCABO_OK)
    cb_view_clear(&view);
  return status;
}

/* A trial that this handle has handed out goes on under a number that is free. */
static cocabo_status put_back(cocabo_study *study, cb_hand *hand, cocabo_error *err) {
  cb_history *history = study->fold.history;
  cb_event added = {.kind = CB_TRIAL_ADDED,
                    .origin = CB_BY_USER,
                    .number = history->n_trials,
                    .running = true,
                    .n_cells = history->space->n,
                    .cells = hand->cells};
  CB_TRY(cb_history_reserve(history, 1, 0, err));
  CB_TRY(cb_study_append_as(study, study->owner, &added, 1, added.number, err));
  cb_study_say(study, COCABO_WARNING,
               "the store has lost trial %lld of this process, which is trial %lld now",
               (long long)hand->number, (long long)added.number);
  cb_handed_is_back(hand, &added);
  cb_study_fold_own(study, &added, 1);
  cb_history_hand(study->fold.history, added.number);
  cb_free(added.cells);
  return COCABO_OK;
}

static cocabo_status follow(cocabo_study *study, cb_lost *lost, cocabo_error *err) {
  const cb_position from = cb_study_position(study);
  const cocabo_status status = read_into(study, &study->view, &from, lost, err);
  if (status == COCABO_E_BUSY && from.seq > 0)
    CB_TRY(begin_anew(study, lost, err));
  else
    CB_TRY(status);
  CB_TRY(keep_space(study, err));
  if (study->fold.history)
    cb_handed_settle(&study->handed, study->fold.history);
  cb_hand *hand = cb_handed_lost(&study->handed);
  return hand ? put_back(study, hand, err) : COCABO_OK;
}

cocabo_status cb_study_sync_lost(cocabo_study *study, cb_lost *lost,
                                 cocabo_error *err) {
  cocabo_status status = follow(study, lost, err);
  for (int i = 1; i < CB_STUDY_TRIES; i++) {
    const bool again = status == COCABO_E_BUSY ||
                       (status == COCABO_OK && cb_handed_lost(&study->handed));
    if (!again)
      break;
    status = follow(study, lost, err);
  }
  return status;
}

cocabo_status cb_study_sync(cocabo_study *study, cocabo_error *err) {
  return cb_study_sync_lost(study, NULL, err);
}
