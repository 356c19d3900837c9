/* life.h - a history that lives: trials that are asked and told at once. */
#ifndef TEST_LIFE_H
#define TEST_LIFE_H

#include "check.h"

#include "log/history.h"

typedef struct life {
  cb_history *history;
  cocabo_space *space;
} life;

/* Takes the space, which is maximised over. */
static inline life life_of(cocabo_space *space) {
  cocabo_error err;
  life l = {.space = space};
  assert_ok(cb_history_new(&l.history, space, 1.0, &err));
  const cb_event created = {.kind = CB_STUDY_CREATED, .seq = 1, .number = -1};
  assert_ok(cb_history_apply(l.history, &created, &err));
  return l;
}

static inline void end(life *l) {
  cb_history_free(l->history);
  cocabo_space_free(l->space);
}

/* One more trial, told y. */
static inline void lives_with(life *l, cb_origin origin, cb_cell *cells, double y) {
  cocabo_error err;
  const cb_event asked = {.kind = CB_TRIAL_ASKED,
                          .seq = l->history->seq + 1,
                          .number = l->history->n_trials,
                          .origin = origin,
                          .n_cells = l->space->n,
                          .cells = cells};
  assert_ok(cb_history_apply(l->history, &asked, &err));
  const cb_event told = {.kind = CB_TRIAL_TOLD,
                         .seq = l->history->seq + 1,
                         .number = l->history->n_trials - 1,
                         .has_y = true,
                         .y = y};
  assert_ok(cb_history_apply(l->history, &told, &err));
}

#endif
