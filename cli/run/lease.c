/* lease.c - a thread that renews the leases of this runner, three times as often as
 * they would run out. It uses the store alone, never the study's handle, which belongs
 * to the main thread. */
#include "run/lease.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "common/base.h"
#include "common/clock.h"

struct cli_lease {
  cocabo_store *store;
  const char *study; /* borrowed from the handle */
  char owner[COCABO_OWNER_SIZE];
  double seconds;
  pthread_t thread;
  pthread_mutex_t mutex; /* guards stop */
  pthread_cond_t changed;
  bool stop;
};

/* Waits on the clock that only goes forward; true: asked to stop. */
static bool wait_or_stop(void *user, double seconds) {
  cli_lease *lease = user;
  const double until = front_now() + seconds;
  const struct timespec at = {.tv_sec = (time_t)until,
                              .tv_nsec = (long)(1e9 * (until - (double)(time_t)until))};
  pthread_mutex_lock(&lease->mutex);
  int status = 0;
  while (!lease->stop && status != ETIMEDOUT)
    status = pthread_cond_timedwait(&lease->changed, &lease->mutex, &at);
  const bool stop = lease->stop;
  pthread_mutex_unlock(&lease->mutex);
  return stop;
}

/* A renewal that fails is tried again soon. It is never a reason to stop: a result is
 * welcome also after its lease has run out. */
void cli_lease_keep(cocabo_store *store, const char *study, const char *owner,
                    double seconds, bool (*wait)(void *user, double seconds),
                    void *user) {
  double pause = seconds / 3.0;
  while (!wait(user, pause)) {
    const cocabo_status status = cocabo_store_renew(store, study, owner, seconds, NULL);
    pause = seconds / (status == COCABO_OK ? 3.0 : 15.0);
  }
}

static void *renew(void *argument) {
  cli_lease *lease = argument;
  cli_lease_keep(lease->store, lease->study, lease->owner, lease->seconds, wait_or_stop,
                 lease);
  return NULL;
}

static int start_thread(cli_lease *lease) {
  sigset_t all, old;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  const int status = pthread_create(&lease->thread, NULL, renew, lease);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return status;
}

static void init_waiting(cli_lease *lease) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&lease->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  pthread_mutex_init(&lease->mutex, NULL);
}

static void release(cli_lease *lease) {
  pthread_cond_destroy(&lease->changed);
  pthread_mutex_destroy(&lease->mutex);
  cb_free(lease);
}

cocabo_status cli_lease_start(cli_lease **out, cocabo_store *store, cocabo_study *study,
                              double seconds, cocabo_error *err) {
  *out = NULL;
  cli_lease *lease = cb_calloc(1, sizeof *lease);
  if (!lease)
    return cb_no_memory(err);
  lease->store = store;
  lease->study = cocabo_study_name(study);
  lease->seconds = seconds;
  init_waiting(lease);
  cocabo_status status = cocabo_owner_name(lease->owner, err);
  if (status == COCABO_OK)
    status = cocabo_study_lease(study, lease->owner, seconds, err);
  int why;
  if (status == COCABO_OK && (why = start_thread(lease)) != 0)
    status = cb_fail(err, COCABO_E_STORE, "cannot start a thread: %s", strerror(why));
  if (status != COCABO_OK) {
    release(lease);
    return status;
  }
  *out = lease;
  return COCABO_OK;
}

void cli_lease_stop(cli_lease *lease) {
  if (!lease)
    return;
  pthread_mutex_lock(&lease->mutex);
  lease->stop = true;
  pthread_cond_signal(&lease->changed);
  pthread_mutex_unlock(&lease->mutex);
  pthread_join(lease->thread, NULL);
  release(lease);
}
