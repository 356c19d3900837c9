/* describe.c - what a study comes to: left with the store by whoever closes a handle,
 * and found there by whoever lists studies. */
#include <math.h>
#include <string.h>

#include "base/status.h"
#include "base/text.h"
#include "log/constraints.h"
#include "study/study.h"

static cocabo_status find_best(cocabo_study *study, cb_summary *out,
                               cocabo_error *err) {
  const cb_settings *settings = &study->view.resolved.settings;
  const cb_trial *trial = NULL;
  const cocabo_status status = cb_study_best(study, &trial, err);
  if (status == COCABO_E_NOT_FOUND)
    return COCABO_OK;
  CB_TRY(status);
  out->best = trial->number;
  out->value = trial->value;
  out->feasible =
      cb_constraints_hold(settings->constraints, trial, settings->objective) == 1;
  return COCABO_OK;
}

static cocabo_status describe_fold(const cocabo_study *study, cb_summary *out,
                                   cocabo_error *err) {
  const cb_history *history = study->fold.history;
  const cb_settings *settings = &study->view.resolved.settings;
  const char *sampler = cocabo_options_get(study->view.options, "sampler");
  *out = (cb_summary){.seq = history->seq,
                      .parameters = history->space->n,
                      .best = -1,
                      .value = NAN,
                      .maximize = history->sign > 0.0,
                      .constrained = settings->constraints != NULL,
                      .noisy = !settings->deterministic};
  for (int i = 0; i <= COCABO_STALE; i++)
    out->states[i] = cb_history_count(history, (cocabo_trial_state)i);
  if (strlen(sampler) >= sizeof out->sampler)
    return cb_fail(err, COCABO_E_INTERNAL, "the name of sampler %s is too long",
                   sampler);
  strcpy(out->sampler, sampler);
  return COCABO_OK;
}

cocabo_status cb_study_summarise(cocabo_study *study, cb_summary *out,
                                 cocabo_error *err) {
  CB_TRY(describe_fold(study, out, err));
  return out->noisy ? COCABO_OK : find_best(study, out, err);
}

void cb_study_leave_summary(cocabo_study *study) {
  const cb_store_ops *ops = study->store ? study->store->ops : NULL;
  cb_summary summary;
  if (study->wrote && !study->owns_store && study->fold.history && ops->summarise &&
      cb_study_summarise(study, &summary, NULL) == COCABO_OK)
    (void)ops->summarise(study->store, study->id, &summary, NULL);
}

void cb_study_leave_summary_of_copy(const cocabo_study *study, cocabo_store *to,
                                    int64_t id, int64_t seq) {
  cb_summary summary;
  /* Looking for the best only brings what the handle keeps for that up to date. */
  if (to->ops->summarise && study->fold.history && study->fold.history->seq == seq &&
      cb_study_summarise((cocabo_study *)study, &summary, NULL) == COCABO_OK)
    (void)to->ops->summarise(to, id, &summary, NULL);
}

/* ---- describing ------------------------------------------------------------------ */

static void fill(cocabo_description *out, const cb_description *d,
                 const cb_summary *summary) {
  *out = (cocabo_description){.parameters = summary->parameters,
                              .best = summary->best,
                              .value = summary->value,
                              .feasible = summary->feasible,
                              .constrained = summary->constrained,
                              .maximize = summary->maximize,
                              .deterministic = !summary->noisy,
                              .first = d->first,
                              .last = d->last};
  memcpy(out->states, summary->states, sizeof out->states);
  memcpy(out->sampler, summary->sampler, sizeof out->sampler);
}

/* Is it all there, as of the last event? */
static bool says_all(const cb_description *d) {
  return d->summary.seq == d->seq && d->seq > 0 &&
         !(d->summary.noisy && d->summary.states[COCABO_COMPLETE] > 0);
}

/* Others may append while we read. */
static cocabo_status describe_open(cocabo_study *study, cocabo_description *out,
                                   cocabo_error *err) {
  cb_description d = {0};
  cb_summary summary;
  for (int i = 0; i < CB_STUDY_TRIES && d.seq != study->fold.history->seq; i++) {
    CB_TRY(cb_study_sync(study, err));
    CB_TRY(study->store->ops->describe(study->store, study->id, &d, err));
  }
  CB_TRY(describe_fold(study, &summary, err));
  CB_TRY(find_best(study, &summary, err));
  fill(out, &d, &summary);
  return COCABO_OK;
}

static cocabo_status is_null(const char *what, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID, "%s is NULL", what);
}

cocabo_status cocabo_store_describe(cocabo_store *store, const char *study,
                                    cocabo_description *out, cocabo_error *err) {
  int64_t id = 0;
  cb_description d = {0};
  cocabo_study *opened = NULL;
  if (!store)
    return is_null("store", err);
  if (!out)
    return is_null("out", err);
  CB_TRY(cb_name_check("study name", study, err));
  CB_TRY(store->ops->find(store, study, &id, err));
  CB_TRY(store->ops->describe(store, id, &d, err));
  if (says_all(&d)) {
    fill(out, &d, &d.summary);
    return COCABO_OK;
  }
  CB_TRY(cb_study_open(&opened, study, store, err));
  const cocabo_status status = describe_open(opened, out, err);
  cb_study_free(opened);
  return status;
}

cocabo_status cocabo_study_describe(cocabo_study *study, cocabo_description *out,
                                    cocabo_error *err) {
  if (!study)
    return is_null("study", err);
  if (!out)
    return is_null("out", err);
  return describe_open(study, out, err);
}
