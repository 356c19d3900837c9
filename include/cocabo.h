/* cocabo.h - Bayesian optimisation over mixed continuous and categorical inputs.
 *
 * The loop:  space -> study -> { ask -> evaluate -> tell } -> best
 *
 * Ownership  X_new / X_create / X_open / ask / best give the caller an object that the
 *            matching X_free releases; X_free(NULL) is a no-op. `const char *` results
 *            are borrowed and live as long as the object they came from. Every argument
 *            is copied; only a store must outlive the studies opened on it.
 * Errors     A fallible function returns a cocabo_status and takes a nullable
 *            cocabo_error as its last parameter, which is written only on failure. On
 *            failure, out-parameters are NULL or untouched and the objects passed in
 *            are unchanged. A NULL handle or out-parameter is COCABO_E_INVALID.
 * Threads    No mutable global state. One object, one thread at a time; different
 *            objects are independent, and a store may be used by studies in several
 *            threads. To parallelise a study, open it once per worker on one store.
 * Stability  Names starting with cocabo_ / COCABO_ follow semantic versioning.
 */
#ifndef COCABO_H
#define COCABO_H

#include <stddef.h>
#include <stdint.h>

#define COCABO_VERSION_MAJOR 0
#define COCABO_VERSION_MINOR 1
#define COCABO_VERSION_PATCH 0
#define COCABO_VERSION_HEX                                                             \
  ((COCABO_VERSION_MAJOR << 16) | (COCABO_VERSION_MINOR << 8) | COCABO_VERSION_PATCH)

#if defined(__GNUC__)
#define COCABO_API __attribute__((visibility("default")))
#define COCABO_MUST_CHECK __attribute__((warn_unused_result))
#else
#define COCABO_API
#define COCABO_MUST_CHECK
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* ---- version and errors --------------------------------------------------------- */

/* Values are pinned; new ones are added in the gaps. */
typedef enum cocabo_status {
  COCABO_OK = 0,
  COCABO_E_INVALID = 10,   /* malformed argument */
  COCABO_E_RANGE = 11,     /* number outside its documented range */
  COCABO_E_STATE = 20,     /* not allowed now, e.g. resuming with another space */
  COCABO_E_NOT_FOUND = 21, /* no such study, trial, parameter or option */
  COCABO_E_EXISTS = 22,    /* name already taken */
  COCABO_E_EXHAUSTED = 23, /* every point of a finite space has been proposed */
  COCABO_E_NO_MEMORY = 30,
  COCABO_E_NUMERIC = 40,     /* a factorisation failed after every fallback */
  COCABO_E_STORE = 50,       /* the store failed; message holds its own text */
  COCABO_E_BUSY = 51,        /* contention outlasted the retries; try again */
  COCABO_E_INTERRUPTED = 60, /* the interrupt callback asked to stop */
  COCABO_E_INTERNAL = 99     /* a bug: please report */
} cocabo_status;

typedef struct cocabo_error { /* 256 bytes, layout frozen */
  cocabo_status code;
  char message[252]; /* one UTF-8 sentence, NUL-terminated, no newline */
} cocabo_error;

COCABO_API uint32_t cocabo_version(void); /* COCABO_VERSION_HEX of the loaded library */
COCABO_API const char *cocabo_status_name(cocabo_status code); /* total: never NULL */

/* ---- space: what is being searched ---------------------------------------------- */

/* At most COCABO_MAX_PARAMETERS parameters and COCABO_MAX_CHOICES values a choice. */
#define COCABO_MAX_PARAMETERS 200
#define COCABO_MAX_CHOICES 1000

typedef struct cocabo_space cocabo_space;

enum {
  COCABO_LOG = 1u,    /* search on a logarithmic scale; needs low > 0 and no step */
  COCABO_ORDERED = 2u /* the choices are levels of a scale (ordinal) */
};

/* A choice keeps its type: 1, 1.0, true, "1" and null are five different choices. */
typedef enum cocabo_type {
  COCABO_NULL = 0,
  COCABO_BOOL = 1,
  COCABO_INT = 2,
  COCABO_REAL = 3,
  COCABO_TEXT = 4
} cocabo_type;

typedef struct cocabo_value {
  cocabo_type type;
  union {
    int boolean;
    int64_t integer;
    double real;
    const char *text; /* UTF-8 */
  } as;
} cocabo_value;

COCABO_API cocabo_space *cocabo_space_new(void); /* NULL if out of memory */
COCABO_API void cocabo_space_free(cocabo_space *space);

/* Bounds are inclusive. With a step the values are low, low + step, ... up to the last
 * one that does not exceed high; a step is at least 4 DBL_EPSILON max(|low|, |high|),
 * so that they differ. Names are non-empty UTF-8 of at most 200 bytes without control
 * characters, and unique. */
COCABO_API cocabo_status cocabo_space_add_real(cocabo_space *space, const char *name,
                                               double low, double high,
                                               double step,    /* 0 = continuous */
                                               unsigned flags, /* COCABO_LOG or 0 */
                                               cocabo_error *err) COCABO_MUST_CHECK;
/* Bounds are inclusive and within +-2^53, so that every value is exact as a double;
 * there are at most 2^53 values, and high is at most 2^40 on a log scale. */
COCABO_API cocabo_status cocabo_space_add_int(cocabo_space *space, const char *name,
                                              int64_t low, int64_t high,
                                              unsigned flags, /* COCABO_LOG or 0 */
                                              cocabo_error *err) COCABO_MUST_CHECK;
/* Choices are distinct; equal means the same type and the same value. */
COCABO_API cocabo_status cocabo_space_add_choice(
    cocabo_space *space, const char *name, const cocabo_value *choices, size_t n,
    unsigned flags, /* COCABO_ORDERED or 0 */
    cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API size_t
cocabo_space_count(const cocabo_space *space); /* parameters; NULL: 0 */

/* ---- options: one table, described by the library itself ------------------------- */

typedef struct cocabo_options cocabo_options;

COCABO_API cocabo_options *cocabo_options_new(void); /* all defaults; NULL: no memory */
COCABO_API void cocabo_options_free(cocabo_options *options);
COCABO_API cocabo_status cocabo_options_set(cocabo_options *options, const char *name,
                                            const char *value,
                                            cocabo_error *err) COCABO_MUST_CHECK;
/* The value as text, in the form that set accepts; NULL if there is no such option. */
COCABO_API const char *cocabo_options_get(const cocabo_options *options,
                                          const char *name);
/* i-th option, or NULL past the end; the strings are static. Front ends build their
 * help text, keyword arguments and validation from this. */
COCABO_API const char *cocabo_option_name(size_t i);
COCABO_API const char *cocabo_option_type(size_t i); /* e.g. "int >= 0", "true|false" */
COCABO_API const char *cocabo_option_default(size_t i);
COCABO_API const char *cocabo_option_help(size_t i);

/* ---- trial: an immutable snapshot of one evaluation ------------------------------ */

typedef struct cocabo_trial cocabo_trial;

typedef enum cocabo_trial_state {
  COCABO_WAITING = 0,
  COCABO_RUNNING = 1,
  COCABO_COMPLETE = 2,
  COCABO_FAILED = 3,
  COCABO_INTERRUPTED = 4,
  COCABO_STALE = 5
} cocabo_trial_state;

COCABO_API void cocabo_trial_free(cocabo_trial *trial);
COCABO_API int64_t cocabo_trial_number(const cocabo_trial *trial); /* NULL: -1 */
COCABO_API cocabo_trial_state cocabo_trial_get_state(const cocabo_trial *trial);
COCABO_API const char *cocabo_state_name(cocabo_trial_state state); /* never NULL */
COCABO_API double
cocabo_trial_value(const cocabo_trial *trial); /* NaN unless complete */
COCABO_API const char *
cocabo_trial_reason(const cocabo_trial *trial); /* failed, or "" */

/* Parameters by name. get_real also takes an int parameter and gives its value. */
COCABO_API cocabo_status cocabo_trial_get_real(const cocabo_trial *trial,
                                               const char *name, double *out,
                                               cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API cocabo_status cocabo_trial_get_int(const cocabo_trial *trial,
                                              const char *name, int64_t *out,
                                              cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API cocabo_status cocabo_trial_get_choice(const cocabo_trial *trial,
                                                 const char *name, cocabo_value *out,
                                                 cocabo_error *err) COCABO_MUST_CHECK;
/* Parameter i in the order of the space: its name and its value, whatever its kind. */
COCABO_API size_t cocabo_trial_count(const cocabo_trial *trial); /* parameters */
COCABO_API cocabo_status cocabo_trial_get(const cocabo_trial *trial, size_t i,
                                          const char **name, cocabo_value *value,
                                          cocabo_error *err) COCABO_MUST_CHECK;

/* ---- store: where studies live --------------------------------------------------- */

typedef struct cocabo_store cocabo_store;

COCABO_API cocabo_store *cocabo_store_new_memory(void); /* NULL if out of memory */
COCABO_API void cocabo_store_free(cocabo_store *store); /* after its studies */

/* ---- study: ask and tell --------------------------------------------------------- */

typedef struct cocabo_study cocabo_study;

/* options NULL: all defaults. store NULL: a private store in memory, which lives and
 * dies with the handle. COCABO_E_EXISTS if the store has a study of that name. */
COCABO_API cocabo_status cocabo_study_create(cocabo_study **out, const char *name,
                                             const cocabo_space *space,
                                             const cocabo_options *options,
                                             cocabo_store *store,
                                             cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API cocabo_status cocabo_study_open(cocabo_study **out, const char *name,
                                           cocabo_store *store,
                                           cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API void cocabo_study_free(cocabo_study *study);

/* Propose n points to evaluate, jointly, 1 <= n <= 100000. out[0..n-1] receive n
 * trials: first those on offer (enqueued, interrupted, stale), then new ones. This is
 * where the model is fitted: expect milliseconds to seconds. All n or none. */
COCABO_API cocabo_status cocabo_study_ask(cocabo_study *study, size_t n,
                                          cocabo_trial **out,
                                          cocabo_error *err) COCABO_MUST_CHECK;
/* Record a result. When it returns, the store has the result. No numerics happen here.
 * The first result of a trial counts; the same value again is a no-op, another value is
 * kept as an extra, a late one is welcome, and one that is not finite makes the trial
 * failed. */
COCABO_API cocabo_status cocabo_study_tell(cocabo_study *study, int64_t number,
                                           double value,
                                           cocabo_error *err) COCABO_MUST_CHECK;
/* The reason is UTF-8 of at most 65536 bytes, and may have several lines. */
COCABO_API cocabo_status cocabo_study_fail(cocabo_study *study, int64_t number,
                                           const char *reason,
                                           cocabo_error *err) COCABO_MUST_CHECK;
/* Give a running trial back: the same point is offered again by a later ask. A no-op if
 * it is on offer already, COCABO_E_STATE if it is complete or failed. */
COCABO_API cocabo_status cocabo_study_interrupt(cocabo_study *study, int64_t number,
                                                cocabo_error *err) COCABO_MUST_CHECK;
/* Known results, and points to try first. Every parameter is named once. */
COCABO_API cocabo_status cocabo_study_add(cocabo_study *study, const char *const *names,
                                          const cocabo_value *values, size_t n,
                                          const double *result, /* NULL = to be tried */
                                          cocabo_error *err) COCABO_MUST_CHECK;
/* COCABO_E_NOT_FOUND until one trial is complete. */
COCABO_API cocabo_status cocabo_study_best(const cocabo_study *study,
                                           cocabo_trial **out,
                                           cocabo_error *err) COCABO_MUST_CHECK;

/* Every trial known to this handle, by number 0 .. count-1. A handle learns of what
 * other handles did when it asks, tells, adds, or syncs. */
COCABO_API int64_t cocabo_study_count(const cocabo_study *study); /* NULL: 0 */
COCABO_API cocabo_status cocabo_study_trial(const cocabo_study *study, int64_t number,
                                            cocabo_trial **out,
                                            cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API cocabo_status cocabo_study_sync(cocabo_study *study,
                                           cocabo_error *err) COCABO_MUST_CHECK;

/* Called now and then from inside ask; a non-zero return makes it stop cleanly. */
typedef int (*cocabo_interrupt_fn)(void *user);
COCABO_API void cocabo_study_on_interrupt(cocabo_study *study, cocabo_interrupt_fn fn,
                                          void *user);

#ifdef __cplusplus
}
#endif
#endif /* COCABO_H */
