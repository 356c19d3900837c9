/* handed.c - see handed.h. */
#include "study/handed.h"

#include <string.h>

#include "base/mem.h"
#include "base/status.h"

void cb_handed_clear(cb_handed *handed) {
  for (size_t i = 0; i < handed->n; i++)
    cb_free(handed->hands[i].cells);
  cb_free(handed->hands);
  *handed = (cb_handed){0};
}

static cb_hand *by_number(const cb_handed *handed, int64_t number) {
  for (size_t i = 0; i < handed->n; i++)
    if (handed->hands[i].number == number)
      return &handed->hands[i];
  return NULL;
}

int64_t cb_handed_now(const cb_handed *handed, int64_t number) {
  const cb_hand *hand = by_number(handed, number);
  return hand ? hand->now : number;
}

void cb_handed_drop(cb_handed *handed, int64_t number) {
  cb_hand *hand = by_number(handed, number);
  if (!hand)
    return;
  cb_free(hand->cells);
  handed->n--;
  memmove(hand, hand + 1, (size_t)(handed->hands + handed->n - hand) * sizeof *hand);
}

/* The one that the log had under this number, made if there is none yet; NULL: out of
 * memory. */
static cb_hand *need_hand(cb_handed *handed, int64_t now) {
  for (size_t i = 0; i < handed->n; i++)
    if (handed->hands[i].now == now)
      return &handed->hands[i];
  void *hands = handed->hands;
  if (!cb_reserve(&hands, &handed->capacity, handed->n + 1, sizeof *handed->hands))
    return NULL;
  handed->hands = hands;
  cb_hand *hand = &handed->hands[handed->n++];
  *hand = (cb_hand){.number = now, .now = now};
  return hand;
}

/* Where the log now has the same point under that number, asked for once more, a value
 * of either is a value of both. */
static bool has_kept(const cb_trial *trial, const cb_history *now) {
  const size_t size = (size_t)now->space->n * sizeof *trial->cells;
  const cb_trial *other =
      trial->number < now->n_trials ? &now->trials[trial->number] : NULL;
  return other && (memcmp(other->made, trial->made, sizeof trial->made) == 0 ||
                   memcmp(other->cells, trial->cells, size) == 0);
}

cocabo_status cb_handed_compare(cb_handed *handed, const cb_history *before,
                                cb_history *now, cocabo_error *err) {
  const size_t n = (size_t)before->space->n;
  for (int64_t i = 0; i < before->n_pending; i++) {
    const cb_trial *trial = &before->trials[before->pending[i]];
    if (!trial->handed)
      continue;
    if (has_kept(trial, now)) {
      cb_history_hand(now, trial->number);
      continue;
    }
    cb_hand *hand = need_hand(handed, trial->number);
    if (!hand)
      return cb_no_memory(err);
    if (!hand->cells)
      hand->cells = cb_calloc(n, sizeof *hand->cells);
    if (!hand->cells)
      return cb_no_memory(err);
    memcpy(hand->cells, trial->cells, n * sizeof *hand->cells);
  }
  return COCABO_OK;
}

cocabo_status cb_handed_unseen(cb_handed *handed, const cb_event *asked,
                               cocabo_error *err) {
  const size_t n = (size_t)asked->n_cells;
  cb_cell *cells = cb_calloc(n, sizeof *cells);
  cb_hand *hand = cells ? need_hand(handed, asked->number) : NULL;
  if (!hand) {
    cb_free(cells);
    return cb_no_memory(err);
  }
  memcpy(cells, asked->cells, n * sizeof *cells);
  cb_free(hand->cells);
  hand->cells = cells;
  hand->unseen = true;
  return COCABO_OK;
}

void cb_handed_settle(cb_handed *handed, cb_history *now) {
  for (size_t i = 0; i < handed->n; i++) {
    cb_hand *hand = &handed->hands[i];
    if (!hand->unseen)
      continue;
    hand->unseen = false;
    const cb_trial point = {.number = hand->number, .cells = hand->cells};
    if (has_kept(&point, now)) {
      cb_history_hand(now, hand->number);
      cb_handed_drop(handed, hand->number);
      i--;
    }
  }
}

cb_hand *cb_handed_lost(const cb_handed *handed) {
  for (size_t i = 0; i < handed->n; i++)
    if (handed->hands[i].cells && !handed->hands[i].unseen)
      return &handed->hands[i];
  return NULL;
}

void cb_handed_is_back(cb_hand *hand, const cb_event *added) {
  hand->now = added->number;
  hand->cells = NULL;
}
