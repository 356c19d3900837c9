/* race.c - comparing trials run by run. */
#include "race/race.h"

#include <math.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/status.h"
#include "log/runs.h"
#include "race/wilcoxon.h"

/* So many trials that are over are worth one more pair of the incumbent. */
enum { TRIALS_A_PAIR = 3 };

static int64_t count_flying(const cb_trial *trial) {
  int64_t n = 0;
  for (int64_t i = 0; i < trial->n_runs; i++)
    n += trial->runs[i].outcome == 0;
  return n;
}

static bool is_capped(const cb_trial *trial) {
  return trial->capped > 0;
}

static int64_t count_common(const cb_trial *a, const cb_trial *b) {
  int64_t n = 0;
  for (int64_t k = 0; k < a->n_results; k++)
    n += !isnan(a->results[k]) && !isnan(cb_runs_value(b, k));
  return n;
}

int64_t cb_race_incumbent(const cb_history *history) {
  const cb_trial *found = NULL;
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    if (trial->n_counted > 0 && !is_capped(trial) &&
        (!found || trial->n_counted > found->n_counted ||
         (trial->n_counted == found->n_counted &&
          history->sign * trial->value > history->sign * found->value)))
      found = trial;
  }
  return found ? found->number : -1;
}

/* The next number of pairs, above n, at which a trial is looked at: twice as many each
 * time. */
static int64_t next_look(const cb_race *race, int64_t n) {
  int64_t look = race->first > 0 ? race->first : 1;
  while (look <= n)
    look *= 2;
  return look;
}

/* ---- is it over? ----------------------------------------------------------------- */

/* Surely worse on the pairs that both have? */
static cocabo_status is_worse(const cb_race *race, const cb_history *history,
                              const cb_trial *trial, const cb_trial *incumbent,
                              bool *out, cocabo_error *err) {
  double p = 1.0;
  int64_t n = 0;
  *out = false;
  if (count_common(trial, incumbent) < CB_RACE_LEAST)
    return COCABO_OK;
  double *differences = cb_calloc((size_t)trial->n_results, sizeof *differences);
  if (!differences)
    return cb_no_memory(err);
  for (int64_t k = 0; k < trial->n_results; k++) {
    const double d = cb_runs_value(incumbent, k) - trial->results[k];
    if (!isnan(d))
      differences[n++] = history->sign * d;
  }
  const cocabo_status status = cb_wilcoxon_above(differences, n, &p, err);
  cb_free(differences);
  *out = p < race->level;
  return status;
}

/* Looked at now, and worse on average? */
static cocabo_status is_behind(const cb_race *race, const cb_history *history,
                               const cb_trial *trial, const cb_trial *incumbent,
                               bool *out, cocabo_error *err) {
  *out = false;
  if (!(race->level > 0.0) || next_look(race, trial->n_counted - 1) != trial->n_counted)
    return COCABO_OK;
  double *room = cb_calloc((size_t)history->n_pairs, sizeof *room);
  if (!room)
    return cb_no_memory(err);
  const double own = cb_runs_net(history, trial, room);
  *out = history->sign * own < history->sign * cb_runs_net(history, incumbent, room);
  cb_free(room);
  return COCABO_OK;
}

cocabo_status cb_race_decided(const cb_race *race, const cb_history *history,
                              const cb_trial *trial, bool *out, cocabo_error *err) {
  const int64_t best = cb_race_incumbent(history);
  *out = false;
  if (trial->state != COCABO_RUNNING || trial->n_counted == 0)
    return COCABO_OK;
  const bool all = race->most > 0 && trial->n_counted >= race->most;
  const bool enough = trial->n_counted >= race->first;
  if (is_capped(trial) || all) {
    *out = true;
    return COCABO_OK;
  }
  if (best < 0 || race->by_model) {
    *out = enough;
    return COCABO_OK;
  }
  const cb_trial *incumbent = &history->trials[best];
  *out = enough && count_common(trial, incumbent) == incumbent->n_counted;
  if (!*out)
    CB_TRY(is_worse(race, history, trial, incumbent, out, err));
  if (!*out)
    CB_TRY(is_behind(race, history, trial, incumbent, out, err));
  return COCABO_OK;
}

/* ---- what next? ------------------------------------------------------------------ */

/* How many runs a trial should have by now, those that run included: what it lacks, but
 * only until it is looked at again. */
static int64_t wanted_runs(const cb_race *race, const cb_trial *trial,
                           const cb_trial *incumbent) {
  if (trial->n_counted < race->first || !incumbent)
    return race->first;
  const int64_t lacking = incumbent->n_counted - count_common(trial, incumbent);
  const int64_t look = next_look(race, trial->n_counted);
  const int64_t wanted =
      trial->n_counted + lacking < look ? trial->n_counted + lacking : look;
  return race->most > 0 && wanted > race->most ? race->most : wanted;
}

typedef struct ranked {
  const cb_trial *trial;
  double lead; /* on the incumbent */
} ranked;

static int by_lead(const void *a, const void *b) {
  const ranked *u = a, *v = b;
  const int64_t m = u->trial->number, n = v->trial->number;
  return u->lead != v->lead ? (u->lead < v->lead) - (u->lead > v->lead)
                            : (m > n) - (m < n);
}

/* Complete trials beside the incumbent, those that look best first. */
static int64_t rank_rivals(const cb_history *history, const cb_trial *incumbent,
                           ranked *out, double *room) {
  const double net = cb_runs_net(history, incumbent, room);
  int64_t n = 0;
  for (int64_t i = 0; i < history->n; i++) {
    const cb_trial *trial = &history->trials[history->told[i]];
    if (trial == incumbent || trial->n_counted == 0 || is_capped(trial))
      continue;
    const double lead = history->sign * (cb_runs_net(history, trial, room) - net);
    if (!isnan(lead))
      out[n++] = (ranked){trial, lead};
  }
  qsort(out, (size_t)n, sizeof *out, by_lead);
  return n;
}

/* The first rival that lacks pairs, -1: none. Who looks better than the incumbent
 * should have all its pairs, and of the others the second best one half of them, the
 * third best a third, and so on: so that nobody stays the best by luck with the first
 * pairs. */
static int64_t first_lacking(const cb_race *race, const cb_trial *incumbent,
                             const ranked *rivals, int64_t n) {
  for (int64_t i = 0; i < n; i++) {
    const cb_trial *trial = rivals[i].trial;
    const int64_t wanted = wanted_runs(race, trial, incumbent);
    const int64_t share = incumbent->n_counted / (i + 2);
    const int64_t due = rivals[i].lead > 0.0 || wanted < share ? wanted : share;
    if (trial->n_counted + count_flying(trial) < due)
      return trial->number;
  }
  return -1;
}

static cocabo_status find_rival(const cb_race *race, const cb_history *history,
                                const cb_trial *incumbent, int64_t *number,
                                cocabo_error *err) {
  ranked *rivals = cb_calloc((size_t)history->n, sizeof *rivals);
  double *room = cb_calloc((size_t)history->n_pairs, sizeof *room);
  const bool enough = rivals && room;
  if (enough) {
    const int64_t n = rank_rivals(history, incumbent, rivals, room);
    *number = first_lacking(race, incumbent, rivals, n);
  }
  cb_free(rivals);
  cb_free(room);
  return enough ? COCABO_OK : cb_no_memory(err);
}

cocabo_status cb_race_next(const cb_race *race, const cb_history *history,
                           int64_t *number, cocabo_error *err) {
  const int64_t best = cb_race_incumbent(history);
  const cb_trial *incumbent = best >= 0 ? &history->trials[best] : NULL;
  *number = -1;
  for (int64_t i = 0; i < history->n_pending; i++) {
    const cb_trial *trial = &history->trials[history->pending[i]];
    bool decided = true;
    if (trial->state != COCABO_RUNNING || trial->n_runs == 0 ||
        trial->n_counted + count_flying(trial) >= wanted_runs(race, trial, incumbent))
      continue;
    CB_TRY(cb_race_decided(race, history, trial, &decided, err));
    if (!decided) {
      *number = trial->number;
      return COCABO_OK;
    }
  }
  if (!incumbent || race->by_model)
    return COCABO_OK;
  CB_TRY(find_rival(race, history, incumbent, number, err));
  if (*number >= 0)
    return COCABO_OK;
  const int64_t done = history->n + history->n_failed;
  const int64_t planned = race->first + (done - 1) / TRIALS_A_PAIR;
  const int64_t wanted = race->most > 0 && planned > race->most ? race->most : planned;
  if (incumbent->n_counted + count_flying(incumbent) < wanted)
    *number = incumbent->number;
  return COCABO_OK;
}

/* ---- capping --------------------------------------------------------------------- */

/* Two bounds: the trial cannot win once it has used up what the incumbent took for all
 * its pairs; and it hardly will once it has used up twice what the incumbent took for
 * the same pairs, or takes for so many: it may have been lucky with these. */
double cb_race_cap(const cb_race *race, const cb_history *history,
                   const cb_trial *trial, int64_t pair) {
  static const double slack = 2.0;
  const int64_t best = cb_race_incumbent(history);
  if (!race->cap || best < 0 || best == trial->number)
    return INFINITY;
  const cb_trial *incumbent = &history->trials[best];
  double all = 0.0, same = 0.0, used = 0.0, n = 1.0;
  for (int64_t k = 0; k < incumbent->n_results; k++)
    all += isnan(incumbent->results[k]) ? 0.0 : incumbent->results[k];
  const double mean = all / (double)incumbent->n_counted;
  for (int64_t k = 0; k < trial->n_results; k++) {
    if (isnan(trial->results[k]))
      continue;
    const double taken = cb_runs_value(incumbent, k);
    n += 1.0;
    used += trial->results[k];
    same += isnan(taken) ? mean : taken;
  }
  const double next = pair >= 0 ? cb_runs_value(incumbent, pair) : NAN;
  const double his = fmax(same + (isnan(next) ? mean : next), n * mean);
  const double room = fmin(all - used, slack * his - used);
  return fmax(room, 0.1 * mean);
}
