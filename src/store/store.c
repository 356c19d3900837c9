/* store.c - the public functions of a store, whatever it is made of, and what stores
 * have in common. */
#include "store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/status.h"
#include "base/text.h"
#include "log/codec.h"
#include "space/space.h"

static cocabo_status is_null(const char *what, cocabo_error *err) {
  return cb_fail(err, COCABO_E_INVALID, "%s is NULL", what);
}

void cocabo_store_free(cocabo_store *store) {
  if (store)
    store->ops->free(store);
}

cocabo_status cocabo_store_delete(cocabo_store *store, const char *study,
                                  cocabo_error *err) {
  if (!store)
    return is_null("store", err);
  CB_TRY(cb_name_check("study name", study, err));
  return store->ops->remove(store, study, err);
}

bool cb_position_is_known(const cb_position *position) {
  return position && position->seq > 0 && (position->id[0] | position->id[1]) != 0;
}

/* ---- in common ------------------------------------------------------------------- */

cocabo_status cb_store_deleted(cocabo_error *err) {
  return cb_fail(err, COCABO_E_NOT_FOUND, "the study has been deleted");
}

cocabo_status cb_store_no_study(const char *name, cocabo_error *err) {
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_NOT_FOUND, "no study \"%s\"", cb_text_show(shown, name));
}

cocabo_status cb_store_check_readable(cb_json *body, const cb_event *created,
                                      cocabo_error *err) {
  cb_event copy = {.kind = created->kind, .seq = 1};
  CB_TRY(cb_codec_encode(body, created, "", err));
  CB_TRY(cb_codec_decode(body->text, body->length, &copy, err));
  const bool same = cb_space_equal(copy.space, created->space);
  cb_event_clear(&copy);
  return same ? COCABO_OK
              : cb_fail(err, COCABO_E_STORE, "the space cannot be stored exactly");
}

cocabo_status cb_store_damaged_event(int64_t seq, int64_t number, cocabo_error *err) {
  char trial[40] = "";
  if (number >= 0)
    snprintf(trial, sizeof trial, ", of trial %" PRId64 ",", number);
  return cb_fail(err, COCABO_E_STATE,
                 "event %" PRId64 " of the log%s is damaged: it does not have the "
                 "checksum that it was written with; restore a backup",
                 seq, trial);
}

/* ---- leases ---------------------------------------------------------------------- */

cocabo_status cb_lease_check(double seconds, bool or_none, cocabo_error *err) {
  char shown[CB_DIGITS];
  if (seconds > CB_LONGEST_LEASE && isfinite(seconds))
    return cb_fail(err, COCABO_E_RANGE,
                   "seconds is %s, want at most %.0f, which is 366 days",
                   cb_number_show(shown, seconds), CB_LONGEST_LEASE);
  if (isfinite(seconds) && (seconds > 0.0 || (seconds == 0.0 && or_none)))
    return COCABO_OK;
  return cb_fail(err, COCABO_E_RANGE, "seconds is %s, want a number %s 0",
                 cb_number_show(shown, seconds), or_none ? ">=" : ">");
}

cocabo_status cocabo_store_renew(cocabo_store *store, const char *study,
                                 const char *owner, double seconds, cocabo_error *err) {
  if (!store)
    return is_null("store", err);
  CB_TRY(cb_name_check("study name", study, err));
  CB_TRY(cb_name_check("lease owner", owner, err));
  CB_TRY(cb_lease_check(seconds, false, err));
  int64_t id = 0;
  CB_TRY(store->ops->find(store, study, &id, err));
  return store->ops->renew(store, id, owner, seconds, err);
}

cocabo_status cocabo_store_leases(cocabo_store *store, const char *study,
                                  cocabo_lease_fn each, void *user, cocabo_error *err) {
  if (!store)
    return is_null("store", err);
  if (!each)
    return is_null("each", err);
  CB_TRY(cb_name_check("study name", study, err));
  int64_t id = 0;
  CB_TRY(store->ops->find(store, study, &id, err));
  return store->ops->leases(store, id, each, user, err);
}

/* ---- names ----------------------------------------------------------------------- */

struct cocabo_names {
  char **names;
  size_t n, capacity;
};

static cocabo_status note_name(void *user, const char *name, cocabo_error *err) {
  cocabo_names *list = user;
  void *names = list->names;
  if (!cb_reserve(&names, &list->capacity, list->n + 1, sizeof *list->names))
    return cb_no_memory(err);
  list->names = names;
  list->names[list->n] = cb_strdup(name);
  if (!list->names[list->n])
    return cb_no_memory(err);
  list->n++;
  return COCABO_OK;
}

cocabo_status cocabo_store_studies(cocabo_store *store, cocabo_names **out,
                                   cocabo_error *err) {
  if (!out)
    return is_null("out", err);
  *out = NULL;
  if (!store)
    return is_null("store", err);
  cocabo_names *list = cb_calloc(1, sizeof *list);
  if (!list)
    return cb_no_memory(err);
  const cocabo_status status = store->ops->list(store, note_name, list, err);
  if (status != COCABO_OK) {
    cocabo_names_free(list);
    return status;
  }
  *out = list;
  return COCABO_OK;
}

size_t cocabo_names_count(const cocabo_names *names) {
  return names ? names->n : 0;
}

const char *cocabo_names_at(const cocabo_names *names, size_t i) {
  return i < cocabo_names_count(names) ? names->names[i] : NULL;
}

void cocabo_names_free(cocabo_names *names) {
  if (!names)
    return;
  for (size_t i = 0; i < names->n; i++)
    cb_free(names->names[i]);
  cb_free(names->names);
  cb_free(names);
}
