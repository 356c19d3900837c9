/* RTLD_DEFAULT and the C library's version are not in POSIX. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* NOLINT */
#endif
#include "study/proposer.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef __GLIBC__
#include <gnu/libc-version.h>
#endif

#include "base/status.h"

void cb_proposer_rest(cb_proposer *p) {
  if (p->sampler)
    p->sampler->destroy(p->state);
  p->sampler = NULL;
  p->state = NULL;
}

static cocabo_status need_state(cb_proposer *p, const cb_fold *fold,
                                cocabo_error *err) {
  if (p->sampler && p->model == fold->model)
    return COCABO_OK;
  cb_proposer_rest(p);
  const cb_sampler *sampler = fold->resolved.sampler;
  CB_TRY(
      sampler->create(&p->state, fold->history->space, &fold->resolved.settings, err));
  p->sampler = sampler;
  p->model = fold->model;
  return COCABO_OK;
}

/* A sampler reads theta as it lies; a log may say anything. */
static cocabo_status check_fit(const cb_proposer *p, const cb_fit *fit,
                               cocabo_error *err) {
  const int has = fit ? fit->n_theta : 0;
  const int want = p->sampler->n_theta ? p->sampler->n_theta(p->state) : 0;
  if (has == 0 || has == want)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STATE,
                 "the last fit in the log has %d numbers, want %d for sampler %s: the "
                 "log is damaged",
                 has, want, p->sampler->name);
}

cocabo_status cb_proposer_wake(cb_proposer *p, const cb_fold *fold, const cb_fit *fit,
                               cocabo_error *err) {
  CB_TRY(need_state(p, fold, err));
  return check_fit(p, fit, err);
}

cb_ask cb_proposer_request(const cb_proposer *p, const cb_fold *fold, const cb_fit *fit,
                           int64_t number, int n) {
  return (cb_ask){.history = fold->history,
                  .fit = fit,
                  .settings = &fold->resolved.settings,
                  .number = number,
                  .batch = n,
                  .interrupt = p->interrupt,
                  .user = p->user};
}

cocabo_status cb_propose(cb_proposer *p, const cb_fold *fold, const cb_fit *fit,
                         cb_origin origin, int64_t number, int n, cb_proposal *out,
                         cocabo_error *err) {
  const cb_ask ask = cb_proposer_request(p, fold, fit, number, n);
  CB_TRY(cb_ask_poll(&ask, err));
  if (origin == CB_BY_DESIGN)
    return cb_design_propose(&ask, out, err);
  CB_TRY(cb_proposer_wake(p, fold, fit, err));
  return p->sampler->propose(p->state, &ask, out, err);
}

cocabo_status cb_proposer_best(cb_proposer *p, const cb_fold *fold, int64_t *row,
                               cocabo_error *err) {
  const cb_history *history = fold->history;
  const cb_fit *fit = cb_history_fit(history);
  const cb_ask ask = cb_proposer_request(p, fold, fit, history->n_trials, 1);
  CB_TRY(cb_proposer_wake(p, fold, fit, err));
  return p->sampler->best ? p->sampler->best(p->state, &ask, row, err) : COCABO_OK;
}

/* ---- the fingerprint ------------------------------------------------------------- */

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "another compiler"
#endif

static const char *libc_version(void) {
#ifdef __GLIBC__
  return gnu_get_libc_version();
#else
  return "unknown";
#endif
}

/* OpenBLAS picks its kernels by the processor; whether it is there at all is decided
 * when the program is loaded. */
static const char *blas_core(void) {
  void *found = dlsym(RTLD_DEFAULT, "openblas_get_corename");
  const char *(*corename)(void);
  memcpy(&corename, &found, sizeof corename);
  return found ? corename() : "other";
}

/* libm has variants for these. */
static const char *processor(void) {
#if defined(__x86_64__) && defined(__GNUC__)
  __builtin_cpu_init();
  const int fma = __builtin_cpu_supports("fma") != 0;
  const int avx2 = __builtin_cpu_supports("avx2") != 0;
  const int avx512 = __builtin_cpu_supports("avx512f") != 0;
  static const char *const names[] = {"x86-64",
                                      "x86-64 fma",
                                      "x86-64 avx2",
                                      "x86-64 fma avx2",
                                      "x86-64 avx512f",
                                      "x86-64 fma avx512f",
                                      "x86-64 avx2 avx512f",
                                      "x86-64 fma avx2 avx512f"};
  return names[fma + 2 * avx2 + 4 * avx512];
#else
  return "another processor";
#endif
}

const char *cb_fingerprint(char out[static CB_FINGERPRINT]) {
#ifdef CB_SANITIZED
  const char *build = " sanitized";
#else
  const char *build = "";
#endif
  snprintf(out, CB_FINGERPRINT, "cocabo %d.%d.%d%s; %s; libc %s; blas %s; %s",
           COCABO_VERSION_MAJOR, COCABO_VERSION_MINOR, COCABO_VERSION_PATCH, build,
           COMPILER, libc_version(), blas_core(), processor());
  return out;
}
