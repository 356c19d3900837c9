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
 * Threads    No mutable global state. One object, one thread at a time: which thread
 *            does not matter, and a handle may move from one to the next. Different
 *            objects are independent, but for these:
 *              store    shared: any number of threads, each with studies of its own
 *              study    one thread at a time. To parallelise a study, open it once per
 *                       worker on one store
 *              trial, space, names   any number of threads, as long as none frees it,
 *                       or adds to the space
 *              options  one thread at a time
 *            Callbacks come from inside a call, in its thread, and must not use the
 *            object that they come from.
 * Stability  Names starting with cocabo_ / COCABO_ follow semantic versioning.
 */
#ifndef COCABO_H
#define COCABO_H

#include <stddef.h>
#include <stdint.h>

#define COCABO_VERSION_MAJOR 0
#define COCABO_VERSION_MINOR 2
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
  COCABO_E_BUDGET = 24,    /* the study's budget of trials is used up (option trials) */
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
  COCABO_TEXT = 4,
  COCABO_ABSENT = 5 /* no choice: what an inactive parameter has for a value */
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

/* Values in one word: cocabo_int(3), cocabo_text("adam"). The text is borrowed. */
static inline cocabo_value cocabo_null(void) {
  cocabo_value value = {COCABO_NULL, {0}};
  value.as.integer = 0;
  return value;
}
static inline cocabo_value cocabo_absent(void) {
  cocabo_value value = cocabo_null();
  value.type = COCABO_ABSENT;
  return value;
}
static inline cocabo_value cocabo_bool(int boolean) {
  cocabo_value value = cocabo_null();
  value.type = COCABO_BOOL;
  value.as.boolean = boolean != 0;
  return value;
}
static inline cocabo_value cocabo_int(int64_t integer) {
  cocabo_value value = {COCABO_INT, {0}};
  value.as.integer = integer;
  return value;
}
static inline cocabo_value cocabo_real(double real) {
  cocabo_value value = {COCABO_REAL, {0}};
  value.as.real = real;
  return value;
}
static inline cocabo_value cocabo_text(const char *text) {
  cocabo_value value = {COCABO_TEXT, {0}};
  value.as.text = text;
  return value;
}

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
                                              int64_t step,   /* 0 is 1 */
                                              unsigned flags, /* COCABO_LOG or 0 */
                                              cocabo_error *err) COCABO_MUST_CHECK;
/* Choices are distinct; equal means the same type and the same value. */
COCABO_API cocabo_status cocabo_space_add_choice(
    cocabo_space *space, const char *name, const cocabo_value *choices, size_t n,
    unsigned flags, /* COCABO_ORDERED or 0 */
    cocabo_error *err) COCABO_MUST_CHECK;
/* A parameter by its domain as text, the way front ends spell it:
 *   float(1e-5,0.1,log)  float(0,1,step=0.25)  int(1,8)  int(16,1024,log)
 *   choice(adam,sgd,"1",1,1.0,true,null)       ordinal(small,medium,large)
 * An unquoted number, true, false or null is what it looks like; other text may be
 * quoted as in JSON, and must be where it has a comma, a parenthesis, a quote or spaces
 * at its ends. ` if ` and a condition may follow: int(2,5) if kernel == poly. */
COCABO_API cocabo_status cocabo_space_add(cocabo_space *space, const char *name,
                                          const char *domain,
                                          cocabo_error *err) COCABO_MUST_CHECK;

/* Conditions and rules are expressions over parameters:
 *   kernel == poly and degree > 2      lc + lp <= 4      not (a in (x, y) or b)
 * with or and not, == != < <= > >=, in (a, b), + - * / %, min max abs log exp sqrt
 * floor ceil, numbers, true false null, and text, bare or quoted, opposite a choice. A
 * name that is no plain word is written in backquotes. A comparison with an inactive
 * parameter is unknown; and, or and not follow Kleene.
 *
 * A parameter is inactive, and has no value, where its condition is not true. That may
 * name only parameters added before it. COCABO_E_EXISTS if it has one already. */
COCABO_API cocabo_status cocabo_space_condition(cocabo_space *space, const char *name,
                                                const char *expr,
                                                cocabo_error *err) COCABO_MUST_CHECK;
/* Points where a rule is false are never proposed. */
COCABO_API cocabo_status cocabo_space_rule(cocabo_space *space, const char *expr,
                                           cocabo_error *err) COCABO_MUST_CHECK;
/* The condition of parameter i (NULL: it has none) and rule k (NULL past the end), as
 * this library writes them; borrowed from the space. */
COCABO_API const char *cocabo_space_get_condition(const cocabo_space *space, size_t i);
COCABO_API const char *cocabo_space_get_rule(const cocabo_space *space, size_t k);
/* Which part of all points keeps the rules, by 10000 random ones; 1 without rules.
 * COCABO_E_INVALID if none was found, not even by repairing some: then no study can be
 * created with this space. A share below 0.001 is worth a warning. */
COCABO_API cocabo_status cocabo_space_acceptance(const cocabo_space *space,
                                                 double *share,
                                                 cocabo_error *err) COCABO_MUST_CHECK;

/* What a space consists of: parameter i in the order they were added. */
typedef enum cocabo_kind {
  COCABO_KIND_REAL = 0,
  COCABO_KIND_INT = 1,
  COCABO_KIND_CHOICE = 2,
  COCABO_KIND_ORDINAL = 3
} cocabo_kind;

COCABO_API size_t
cocabo_space_count(const cocabo_space *space); /* parameters; NULL: 0 */
COCABO_API const char *cocabo_space_name(const cocabo_space *space,
                                         size_t i); /* NULL past the end */
COCABO_API cocabo_kind cocabo_space_kind(const cocabo_space *space,
                                         size_t i); /* REAL past the end */
/* Bounds of a real or int; step is 0 if it is continuous (1 for an int), and log is 1
 * on a logarithmic scale. Out-parameters may be NULL. COCABO_E_INVALID for choices. */
COCABO_API cocabo_status cocabo_space_get_range(const cocabo_space *space, size_t i,
                                                double *low, double *high, double *step,
                                                int *log,
                                                cocabo_error *err) COCABO_MUST_CHECK;
/* Choices of a choice or ordinal: how many (0 for numbers), and the k-th; its text is
 * borrowed from the space. */
COCABO_API size_t cocabo_space_choices(const cocabo_space *space, size_t i);
COCABO_API cocabo_status cocabo_space_get_choice(const cocabo_space *space, size_t i,
                                                 size_t k, cocabo_value *out,
                                                 cocabo_error *err) COCABO_MUST_CHECK;
/* The domain as cocabo_space_add reads it, in a text owned by the caller: free it with
 * cocabo_text_free. NULL past the end or out of memory. */
COCABO_API char *cocabo_space_domain(const cocabo_space *space, size_t i);
COCABO_API void cocabo_text_free(char *text); /* NULL is allowed */
/* Is this a point of the space: n = cocabo_space_count values, in the order of its
 * parameters, COCABO_ABSENT where one is inactive? The sentence names the first that
 * does not fit. Rules are not looked at. */
COCABO_API cocabo_status cocabo_space_check(const cocabo_space *space,
                                            const cocabo_value *values, size_t n,
                                            cocabo_error *err) COCABO_MUST_CHECK;
/* 1 if both have the same names, kinds, domains, choices, conditions and rules in the
 * same order. */
COCABO_API int cocabo_space_equal(const cocabo_space *a, const cocabo_space *b);

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
/* i-th value of the option `sampler` and one line about it, or NULL past the end. */
COCABO_API const char *cocabo_sampler_name(size_t i);
COCABO_API const char *cocabo_sampler_help(size_t i);

/* ---- trial: an immutable snapshot of one evaluation ------------------------------ */

typedef struct cocabo_trial cocabo_trial;

/* What was measured beside the value: a finite number under a name, which is one that a
 * parameter could have. At most COCABO_MAX_METRICS a trial, each name once. */
#define COCABO_MAX_METRICS 64
typedef struct cocabo_metric {
  const char *name;
  double value;
} cocabo_metric;

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
/* Seconds since 1970 on the store's clock: when it was last handed out, and when it was
 * told or failed. NaN if that has not happened. */
COCABO_API double cocabo_trial_started(const cocabo_trial *trial);
COCABO_API double cocabo_trial_finished(const cocabo_trial *trial);
/* How often it was handed out again after it had been interrupted, lost or put back. */
COCABO_API int64_t cocabo_trial_attempt(const cocabo_trial *trial);
/* A number for the evaluation's own randomness, derived from the study's seed and the
 * trial's number; the same in every attempt. */
COCABO_API uint64_t cocabo_trial_seed(const cocabo_trial *trial);
/* Who chose its point. NULL: the user. */
typedef enum cocabo_origin {
  COCABO_ORIGIN_DESIGN = 1,  /* the random points at the beginning */
  COCABO_ORIGIN_SAMPLER = 2, /* the sampler */
  COCABO_ORIGIN_USER = 3     /* it was added */
} cocabo_origin;
COCABO_API cocabo_origin cocabo_trial_origin(const cocabo_trial *trial);
COCABO_API const char *cocabo_origin_name(cocabo_origin origin); /* never NULL */

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
/* All of them: out[0 .. n-1], n = cocabo_trial_count, in the order of the space;
 * COCABO_ABSENT where one is inactive. Texts are borrowed from the trial. */
COCABO_API cocabo_status cocabo_trial_values(const cocabo_trial *trial,
                                             cocabo_value *out, size_t n,
                                             cocabo_error *err) COCABO_MUST_CHECK;
/* Which of its choices parameter i has: the k of cocabo_space_get_choice.
 * COCABO_E_INVALID for numbers, COCABO_E_NOT_FOUND where it is inactive. */
COCABO_API cocabo_status cocabo_trial_choice_index(const cocabo_trial *trial, size_t i,
                                                   size_t *index,
                                                   cocabo_error *err) COCABO_MUST_CHECK;

/* The metrics that were told with the value, in their order: *n (which may be NULL) of
 * them, borrowed from the trial. NULL where there are none. */
COCABO_API const cocabo_metric *cocabo_trial_metrics(const cocabo_trial *trial,
                                                     size_t *n);
/* One of them by name; COCABO_E_NOT_FOUND if the trial has none of it. */
COCABO_API cocabo_status cocabo_trial_get_metric(const cocabo_trial *trial,
                                                 const char *name, double *out,
                                                 cocabo_error *err) COCABO_MUST_CHECK;

/* 1 if the trial is complete and keeps all constraints of its study (option
 * constraints), as they are when it is looked at; 0 if it breaks one; -1 if that is not
 * known: it is not complete, or a metric that is constrained is missing. */
COCABO_API int cocabo_trial_feasible(const cocabo_trial *trial); /* NULL: -1 */

/* ---- store: where studies live --------------------------------------------------- */

typedef struct cocabo_store cocabo_store;
typedef struct cocabo_study cocabo_study; /* see below */

COCABO_API cocabo_store *cocabo_store_new_memory(void); /* NULL if out of memory */
COCABO_API void cocabo_store_free(cocabo_store *store); /* after its studies */
/* cocabo_store.h opens stores that outlive the process. */

/* The names of a store's studies, in the order they were created. */
typedef struct cocabo_names cocabo_names;
COCABO_API cocabo_status cocabo_store_studies(cocabo_store *store, cocabo_names **out,
                                              cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API size_t cocabo_names_count(const cocabo_names *names);
COCABO_API const char *cocabo_names_at(const cocabo_names *names,
                                       size_t i); /* or NULL */
COCABO_API void cocabo_names_free(cocabo_names *names);

/* Deletes a study with all its trials; handles on it are left without a log. */
COCABO_API cocabo_status cocabo_store_delete(cocabo_store *store, const char *study,
                                             cocabo_error *err) COCABO_MUST_CHECK;

/* A name for whoever runs trials here, to be the owner of leases: host, process and
 * what tells it from every other process that ever was. Where it says that it is of
 * this machine and the process is no more, its trials are offered again at once, not
 * when their leases run out. So the process that runs the trials calls it, after a fork
 * anew. */
enum { COCABO_OWNER_SIZE = 192 };
COCABO_API cocabo_status cocabo_owner_name(char out[COCABO_OWNER_SIZE],
                                           cocabo_error *err) COCABO_MUST_CHECK;

/* One lease. */
typedef struct cocabo_lease {
  int64_t trial;
  const char *owner; /* borrowed */
  double left;       /* seconds until it runs out, on the store's clock; negative: it
                        has */
  int gone;          /* 1: the owner was a process of this machine that is no more */
  int64_t run;       /* of the trial; -1: the trial as a whole */
  int reserved[2];
} cocabo_lease;

/* The leases of a study, by trial and run. A return other than COCABO_OK ends it and is
 * forwarded; `each` must not use the store. */
typedef cocabo_status (*cocabo_lease_fn)(void *user, const cocabo_lease *lease,
                                         cocabo_error *err);
COCABO_API cocabo_status cocabo_store_leases(cocabo_store *store, const char *study,
                                             cocabo_lease_fn each, void *user,
                                             cocabo_error *err) COCABO_MUST_CHECK;

/* What a study comes to. */
typedef struct cocabo_description {
  int64_t states[COCABO_STALE + 1]; /* trials by their state */
  int64_t parameters;
  int64_t best;      /* number of the best trial (cocabo_study_best), -1: none */
  double value;      /* its value, NaN: none */
  int feasible;      /* 1: it keeps the constraints, if there are any */
  int constrained;   /* 1: the study has constraints */
  int maximize;      /* 1: large values are good */
  int deterministic; /* 0: its values are noisy */
  double first;      /* when it was created, in seconds since 1970 */
  double last;       /* when something last happened to it */
  char sampler[32];
  int64_t reserved[8]; /* zero */
} cocabo_description;
/* Describes a study as it is now. Whoever closes a handle leaves what the study came
 * to; as long as nothing has happened since, its trials need not be read. Where values
 * are noisy they are, and the best is the model's to say. */
COCABO_API cocabo_status cocabo_store_describe(cocabo_store *store, const char *study,
                                               cocabo_description *out,
                                               cocabo_error *err) COCABO_MUST_CHECK;

/* The same of a handle's study, which it syncs: for who has it open anyway. */
COCABO_API cocabo_status cocabo_study_describe(cocabo_study *study,
                                               cocabo_description *out,
                                               cocabo_error *err) COCABO_MUST_CHECK;

/* Renews every lease that `owner` holds in a study; from any thread. A lease that ran
 * out before is renewed too unless its trial has been found stale. It does not wait
 * long for others that are writing: COCABO_E_BUSY means to try again soon. */
COCABO_API cocabo_status cocabo_store_renew(cocabo_store *store, const char *study,
                                            const char *owner, double seconds,
                                            cocabo_error *err) COCABO_MUST_CHECK;

/* ---- study: ask and tell --------------------------------------------------------- */

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
/* One more handle on the study of that name or, if the store has none, a new one:
 * *created (which may be NULL) says which. Of processes that race one creates it and
 * all get it. What there is must have an equal space, else COCABO_E_STATE and the
 * sentence names the first difference; and the direction of the options, if there are
 * any, must be its own. The other options are for a new study: one that is there keeps
 * those it has (cocabo_study_change). */
COCABO_API cocabo_status cocabo_study_open_or_create(
    cocabo_study **out, const char *name, const cocabo_space *space,
    const cocabo_options *options, cocabo_store *store, int *created,
    cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API void cocabo_study_free(cocabo_study *study);

COCABO_API const char *cocabo_study_name(const cocabo_study *study);
/* Borrowed; lives as long as the handle. */
COCABO_API const cocabo_space *cocabo_study_space(const cocabo_study *study);
/* The present value of an option, as text; NULL if there is no such option. Like that
 * of an attribute it is borrowed until the next call that may learn of a change: ask,
 * tell, fail, interrupt, retry, add, change, set_attr or sync. */
COCABO_API const char *cocabo_study_option(const cocabo_study *study, const char *name);
/* Changes options of a living study, for every handle on it. Values that are the
 * present ones are passed over; each option is named once; direction cannot change
 * (COCABO_E_STATE). */
COCABO_API cocabo_status cocabo_study_change(cocabo_study *study,
                                             const char *const *names,
                                             const char *const *values, size_t n,
                                             cocabo_error *err) COCABO_MUST_CHECK;
/* Free text kept with a study under a name, e.g. the command that it tunes. Setting the
 * present value again is a no-op. NULL: never set. At most 65536 bytes. */
COCABO_API cocabo_status cocabo_study_set_attr(cocabo_study *study, const char *name,
                                               const char *value,
                                               cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API const char *cocabo_study_attr(const cocabo_study *study, const char *name);

/* From now on every trial that this handle asks for is leased to `owner` for so many
 * seconds, in the same stroke. A lease that runs out makes its trial stale, and stale
 * trials are offered again; renew with cocabo_store_renew. A told, failed or
 * interrupted trial has no lease. At most 366 days; seconds 0: no leases, as at the
 * beginning. */
COCABO_API cocabo_status cocabo_study_lease(cocabo_study *study, const char *owner,
                                            double seconds,
                                            cocabo_error *err) COCABO_MUST_CHECK;

/* Propose n points to evaluate, jointly, 1 <= n <= 100000. out[0..n-1] receive n
 * trials: first those on offer (enqueued, interrupted, stale), then new ones. This is
 * where the model is fitted: expect milliseconds to seconds. All n or none.
 * COCABO_E_BUDGET if complete, failed and running trials would exceed the option
 * `trials`. */
COCABO_API cocabo_status cocabo_study_ask(cocabo_study *study, size_t n,
                                          cocabo_trial **out,
                                          cocabo_error *err) COCABO_MUST_CHECK;
/* The same for as many of n as there are: out[0 .. *got-1], 1 <= *got <= n. Fewer than
 * n are left where the budget is nearly used up, or a finite space. With none left it
 * is COCABO_E_BUDGET or COCABO_E_EXHAUSTED; on every failure *got is 0. */
COCABO_API cocabo_status cocabo_study_ask_up_to(cocabo_study *study, size_t n,
                                                cocabo_trial **out, size_t *got,
                                                cocabo_error *err) COCABO_MUST_CHECK;
/* Record a result. When it returns, the store has the result. No numerics happen here.
 * The first result of a trial counts; the same value again is a no-op, another value is
 * kept as an extra, a late one is welcome, and one that is not finite makes the trial
 * failed. */
COCABO_API cocabo_status cocabo_study_tell(cocabo_study *study, int64_t number,
                                           double value,
                                           cocabo_error *err) COCABO_MUST_CHECK;
/* The same with n metrics beside the value. They count and stay with the result that
 * they came with: with the value that the trial has already they are kept as an extra.
 * A value that is not finite makes the trial failed, and it has no metrics. */
COCABO_API cocabo_status cocabo_study_tell_metrics(cocabo_study *study, int64_t number,
                                                   double value,
                                                   const cocabo_metric *metrics,
                                                   size_t n,
                                                   cocabo_error *err) COCABO_MUST_CHECK;

/* What is known of a trial beside its result. None of it changes what is proposed.
 *
 * Attributes are texts under names, such as the machine that it ran on: names as those
 * of parameters, values of at most 65536 bytes, COCABO_MAX_ATTRS a trial; the last
 * value of a name counts. Reports say what the value is so far: one finite value a
 * step, COCABO_MAX_REPORTS a trial; a second one for a step replaces the first. Both
 * are taken in every state, and stay when a trial is handed out again. */
#define COCABO_MAX_ATTRS 64
#define COCABO_MAX_REPORTS 100000
typedef struct cocabo_attr {
  const char *name, *value;
} cocabo_attr;
typedef struct cocabo_step {
  int64_t step; /* 0 or more */
  double value;
} cocabo_step;

/* The present value again is a no-op. */
COCABO_API cocabo_status cocabo_study_note(cocabo_study *study, int64_t number,
                                           const char *name, const char *value,
                                           cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API cocabo_status cocabo_study_report(cocabo_study *study, int64_t number,
                                             int64_t step, double value,
                                             cocabo_error *err) COCABO_MUST_CHECK;
/* A result, or a failure, and attributes at one stroke. */
typedef struct cocabo_record {
  const double *value; /* as cocabo_study_tell_metrics takes it; NULL: there is none */
  const cocabo_metric *metrics; /* n_metrics, with a value only */
  size_t n_metrics;
  const char *reason; /* with no value: it failed; NULL: only attributes are noted */
  const cocabo_attr *attrs; /* n_attrs, each name once */
  size_t n_attrs;
  int64_t reserved[4]; /* zero */
} cocabo_record;
COCABO_API cocabo_status cocabo_study_record(cocabo_study *study, int64_t number,
                                             const cocabo_record *record,
                                             cocabo_error *err) COCABO_MUST_CHECK;
/* *n of them (n may be NULL), borrowed from the trial, attributes in the order in which
 * they were first noted, reports by step; NULL where there are none. An attribute by
 * its name: NULL if it was never noted. */
COCABO_API const cocabo_attr *cocabo_trial_attrs(const cocabo_trial *trial, size_t *n);
COCABO_API const char *cocabo_trial_attr(const cocabo_trial *trial, const char *name);
COCABO_API const cocabo_step *cocabo_trial_reports(const cocabo_trial *trial,
                                                   size_t *n);

/* Trials that are evaluated run by run: where the options `instances`, `seeds` or
 * `repeats` say so. A trial's value is what its runs come to (option `combine`), and
 * COCABO_COMPLETE is one that has matched the best, or is surely worse; later runs
 * change its value. */
typedef enum cocabo_run_state {
  COCABO_RUN_RUNNING = 0,
  COCABO_RUN_OK = 1,
  COCABO_RUN_FAILED = 2,
  COCABO_RUN_CAPPED = 3,   /* ended at its cap: its value would have been more */
  COCABO_RUN_DISCARDED = 4 /* it says nothing: given back, a warm-up, or lost */
} cocabo_run_state;

typedef struct cocabo_run {
  int64_t trial;        /* its number */
  int64_t run;          /* 0, 1, ... of its trial */
  const char *instance; /* borrowed from the trial; NULL: there are no instances */
  int64_t seed;         /* 1, 2, ... */
  double cap;           /* where it is a time: beyond this value the trial cannot win;
                           INFINITY: none */
  cocabo_run_state state;
  double value;   /* ok or capped, else NaN */
  double seconds; /* that it took; 0: not known */
  int64_t reserved[4];
} cocabo_run;

/* The next run, of a new trial or of one that there is: *trial, owned by the caller,
 * and which run it is. Where the handle takes leases, a lost worker loses one run and
 * not the trial. COCABO_E_BUDGET if there is nothing to do, now or at all: `trials` are
 * used up or `runs` are. COCABO_E_STATE in a study without runs; in one with runs that
 * is what cocabo_study_ask answers. */
COCABO_API cocabo_status cocabo_study_ask_run(cocabo_study *study, cocabo_trial **trial,
                                              cocabo_run *run,
                                              cocabo_error *err) COCABO_MUST_CHECK;
/* How a run ended: trial, run, state, value and seconds of *run count. When it returns,
 * the store has it. A failed run, also one whose value is not finite, makes its trial
 * failed, for that reason (NULL: ""). The first result of a run counts. */
COCABO_API cocabo_status cocabo_study_tell_run(cocabo_study *study,
                                               const cocabo_run *run,
                                               const cocabo_metric *metrics, size_t n,
                                               const char *reason,
                                               cocabo_error *err) COCABO_MUST_CHECK;
/* *n runs of a trial (n may be NULL), in the order in which they started, borrowed from
 * it; NULL: it has none. */
COCABO_API const cocabo_run *cocabo_trial_runs(const cocabo_trial *trial, size_t *n);
/* The standard error of its value by its runs; NaN: there are fewer than two. */
COCABO_API double cocabo_trial_error(const cocabo_trial *trial);
/* Runs that this handle knows of, but for those that were discarded; *running (which
 * may be NULL) are those that are not over. */
COCABO_API int64_t cocabo_study_runs(const cocabo_study *study, int64_t *running);

/* The reason is UTF-8 of at most 65536 bytes, and may have several lines. */
COCABO_API cocabo_status cocabo_study_fail(cocabo_study *study, int64_t number,
                                           const char *reason,
                                           cocabo_error *err) COCABO_MUST_CHECK;
/* Give a running trial back: the same point is offered again by a later ask. A no-op if
 * it is on offer already, COCABO_E_STATE if it is complete or failed. */
COCABO_API cocabo_status cocabo_study_interrupt(cocabo_study *study, int64_t number,
                                                cocabo_error *err) COCABO_MUST_CHECK;
/* The same two for one attempt of a trial (cocabo_trial_attempt), as whoever has a
 * lease should say it: when the lease has run out and the trial has been handed out
 * again, the new attempt goes on and nothing changes. Without an attempt the current
 * one is meant.
 */
COCABO_API cocabo_status cocabo_study_fail_attempt(cocabo_study *study, int64_t number,
                                                   int64_t attempt, const char *reason,
                                                   cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API cocabo_status
cocabo_study_interrupt_attempt(cocabo_study *study, int64_t number, int64_t attempt,
                               cocabo_error *err) COCABO_MUST_CHECK;
/* Put a failed trial back: the same point is offered again, under the same number, by a
 * later ask, and until then it is interrupted and does not count as failed. A no-op if
 * it is on offer already, COCABO_E_STATE if it is running or complete. */
COCABO_API cocabo_status cocabo_study_retry(cocabo_study *study, int64_t number,
                                            cocabo_error *err) COCABO_MUST_CHECK;
/* Known results, and points to try first. Every parameter that is active is named once.
 * A point to try keeps the rules; a known result need not. */
COCABO_API cocabo_status cocabo_study_add(cocabo_study *study, const char *const *names,
                                          const cocabo_value *values, size_t n,
                                          const double *result, /* NULL = to be tried */
                                          cocabo_error *err) COCABO_MUST_CHECK;
/* What is known from elsewhere, one trial of it. */
typedef struct cocabo_known {
  const cocabo_value *values; /* one a parameter, in the order of the space;
                                 COCABO_ABSENT: it is inactive */
  cocabo_trial_state state; /* COCABO_COMPLETE, COCABO_FAILED, COCABO_WAITING: it is to
                               be tried, or COCABO_RUNNING: somebody else is at it */
  double value;             /* of a complete one */
  const char *reason;       /* of a failed one; NULL: "" */
  int added;                /* filled in: 1 if it was added */
  const cocabo_metric *metrics; /* n_metrics of a complete one; NULL: none */
  size_t n_metrics;
  const cocabo_attr *attrs; /* n_attrs; NULL: none */
  size_t n_attrs;
  const cocabo_step *reports; /* n_reports; NULL: none */
  size_t n_reports;
  int64_t number;      /* filled in: its number in the study, new or not */
  int64_t reserved[2]; /* zero */
} cocabo_known;
/* Adds n trials at one stroke, all or none, also when the process is killed; each gets
 * a new number, also where the study has the same. Proposals see all of them. One that
 * is added as running is pending: it counts, no ask offers it, and having no lease it
 * never gets stale. It is told, failed or interrupted like any other. */
COCABO_API cocabo_status cocabo_study_add_many(cocabo_study *study,
                                               cocabo_known *trials, size_t n,
                                               cocabo_error *err) COCABO_MUST_CHECK;
/* The same but for those that the study has already, so that the same can be merged
 * again, and more of it: a trial is the same if it has the same point and the same
 * value or reason, or is to be tried or runs; of equal ones so many are added as the
 * study has fewer. *added (which may be NULL) is how many were new. */
COCABO_API cocabo_status cocabo_study_merge(cocabo_study *study, cocabo_known *trials,
                                            size_t n, int64_t *added,
                                            cocabo_error *err) COCABO_MUST_CHECK;
/* Copies a study with all that has happened to it into a store, at one stroke, as a new
 * study of that name. COCABO_E_EXISTS if the store has one. The times are those of the
 * copy; there are no leases. */
COCABO_API cocabo_status cocabo_study_copy(const cocabo_study *study, const char *name,
                                           cocabo_store *to,
                                           cocabo_error *err) COCABO_MUST_CHECK;
/* Asked now and then while something takes long: so many of all steps are done. Other
 * than 0: stop, with COCABO_E_INTERRUPTED. */
typedef int (*cocabo_progress_fn)(void *user, int64_t done, int64_t all);
/* Makes the same study in another store, event by event as it is, with the times and
 * all; leases are not copied. What is there already of it is kept, so that an
 * interrupted copy goes on, and one of a study that has grown since; a study of that
 * name with another log is COCABO_E_EXISTS. In the end both logs are compared. *copied
 * (which may be NULL) is how many events were new. `progress` may be NULL. */
COCABO_API cocabo_status cocabo_store_copy(cocabo_store *from, const char *study,
                                           cocabo_store *to,
                                           cocabo_progress_fn progress, void *user,
                                           int64_t *copied,
                                           cocabo_error *err) COCABO_MUST_CHECK;
/* The complete trial with the best value or, where deterministic is false, the one
 * whose point has the best mean in the sampler's model (its own value may be luck).
 * Where the study has constraints, of those that are feasible; while none is, the one
 * with the least violation, each constraint's in units of the mean distance from its
 * bound: cocabo_trial_feasible tells. COCABO_E_NOT_FOUND until one trial is complete
 * and has every metric that is bounded. */
COCABO_API cocabo_status cocabo_study_best(cocabo_study *study, cocabo_trial **out,
                                           cocabo_error *err) COCABO_MUST_CHECK;
/* What the sampler's model expects the value of a complete trial's point to be on
 * average, where deterministic is false, and the standard error of that: a deviation of
 * the model's own knowledge, in which the noise of a single value is not counted. As
 * cocabo_study_best, it learns from the results if no ask has: then expect as long as
 * an ask takes. COCABO_E_STATE where the values are exact, the trial is not complete or
 * the sampler has no model (random, sobol, tpe): then the best value is the luckiest.
 */
COCABO_API cocabo_status cocabo_study_expected(cocabo_study *study, int64_t number,
                                               double *value, double *se,
                                               cocabo_error *err) COCABO_MUST_CHECK;
/* What the sampler's model predicts at n points, each of them cocabo_space_count values
 * in the order of the space, one point after the other: the mean of the value in your
 * units and direction; sd, a deviation of the model's own knowledge, in which noise is
 * not counted; and the probability that the point is feasible, 1 where there are
 * neither constraints nor failures. Each has n numbers; sd and p_feasible may be NULL.
 * As cocabo_study_expected, it learns from the results if no ask has. COCABO_E_STATE if
 * the sampler has no model or fewer than 2 results. On failure they are untouched. */
COCABO_API cocabo_status cocabo_study_predict(cocabo_study *study,
                                              const cocabo_value *points, size_t n,
                                              double *mean, double *sd,
                                              double *p_feasible,
                                              cocabo_error *err) COCABO_MUST_CHECK;
/* How much of the variation of the values each parameter accounts for: share[0 .. n-1],
 * n = cocabo_space_count, are >= 0 with sum 1, in the order of the space.
 * se[0 .. n-1] (which may be NULL) are their standard errors: how far the shares would
 * be off with other trials, by chance and for want of trials. *explained (which may be
 * NULL), in [0,1], says how well that is founded: the part of the
 * variance that a model predicts for trials that it has not seen; near 0 the values
 * look like noise and the shares mean nothing. The complete trials known to this handle
 * count, failed ones do not; the same trials give the same shares. COCABO_E_STATE if
 * fewer than 4 are complete, if all values are equal or no parameter varies. On failure
 * share and se are untouched. It takes up to about a second, with se three. */
COCABO_API cocabo_status cocabo_study_importance(const cocabo_study *study, size_t n,
                                                 double *share, double *se,
                                                 double *explained,
                                                 cocabo_error *err) COCABO_MUST_CHECK;

/* Every trial known to this handle, by number 0 .. count-1. A handle learns of what
 * other handles did when it asks, tells, adds, or syncs. */
COCABO_API int64_t cocabo_study_count(const cocabo_study *study); /* NULL: 0 */
COCABO_API cocabo_status cocabo_study_trial(const cocabo_study *study, int64_t number,
                                            cocabo_trial **out,
                                            cocabo_error *err) COCABO_MUST_CHECK;
COCABO_API cocabo_status cocabo_study_sync(cocabo_study *study,
                                           cocabo_error *err) COCABO_MUST_CHECK;
/* Many trials at once as columns of numbers: an array of yours for each that you want,
 * NULL for the others; row i of each is trial first + i. */
typedef struct cocabo_columns {
  int64_t *numbers;  /* n */
  int32_t *states;   /* n: cocabo_trial_state */
  int32_t *origins;  /* n: cocabo_origin */
  int64_t *attempts; /* n */
  double *values;    /* n: NaN unless complete */
  double *started;   /* n: NaN if never */
  double *finished;  /* n: NaN if not yet */
  double *params;    /* n rows of cocabo_space_count each: reals and ints as they are, a
                        choice as the index of its value, NaN where inactive */
  const char *const *metric_names; /* n_metrics; NULL: none are wanted */
  size_t n_metrics;
  double *metrics;     /* n rows of n_metrics each: NaN where a trial has none of it */
  int64_t *seqs;       /* n: the last event about each trial, see cocabo_study_seq */
  int64_t reserved[4]; /* zero */
} cocabo_columns;
/* Fills them for the trials first .. first+n-1 of those known to this handle.
 * COCABO_E_NOT_FOUND if there are not that many: then nothing is filled in. */
COCABO_API cocabo_status cocabo_study_columns(const cocabo_study *study, int64_t first,
                                              size_t n, const cocabo_columns *columns,
                                              cocabo_error *err) COCABO_MUST_CHECK;
/* The sequence number of the last event known to this handle, 1 or more; NULL: 0.
 * Events are counted through a study's life, so what has a larger one has happened
 * later: trials whose `seqs` are above a number that was read before have changed
 * since. */
COCABO_API int64_t cocabo_study_seq(const cocabo_study *study);
/* Trials in a state, of those known to this handle. */
COCABO_API int64_t cocabo_study_count_state(const cocabo_study *study,
                                            cocabo_trial_state state);

/* Checks a study against its log: every event is what was written, by its checksum, and
 * follows from those before it, and the last `proposals` batches (-1: all) are proposed
 * again from what they saw. Proposals made by another revision of a sampler are
 * compared too, but may well differ: they are counted apart. On which machine they were
 * made does not matter. `out` is filled in on success, which means that the check was
 * carried out, not that it found nothing; COCABO_E_STATE if the log contradicts itself.
 */
typedef struct cocabo_report {
  int64_t events, trials;    /* in the log */
  int64_t replayed;          /* points proposed again by the same revision */
  int64_t differing;         /* of those, how many came out differently */
  int64_t first_differing;   /* the number of the first such trial, or -1 */
  int64_t foreign;           /* points of another revision, proposed again */
  int64_t foreign_differing; /* of those, how many came out differently */
  int64_t unchecked;         /* events without a checksum, from before there were any */
  int64_t passed_over;       /* events of kinds that only a later version knows */
  int64_t reserved[8];
} cocabo_report;
COCABO_API cocabo_status cocabo_study_verify(cocabo_study *study, int64_t proposals,
                                             cocabo_report *out,
                                             cocabo_error *err) COCABO_MUST_CHECK;

/* Called now and then from inside ask and verify, also while an ask waits for a store
 * that others are writing to, and where values are noisy from inside best and expected;
 * a non-zero return makes it stop cleanly. */
typedef int (*cocabo_interrupt_fn)(void *user);
COCABO_API void cocabo_study_on_interrupt(cocabo_study *study, cocabo_interrupt_fn fn,
                                          void *user);

/* What a handle has to say beside its results, one sentence of UTF-8 without a newline,
 * borrowed for the call: what was learnt and how long it took, trials whose lease ran
 * out, values that could not count. The library itself prints nothing. fn NULL:
 * silence, as at the beginning. The levels are those of Python's logging. */
typedef enum cocabo_level {
  COCABO_DEBUG = 10,
  COCABO_INFO = 20,
  COCABO_WARNING = 30
} cocabo_level;
typedef void (*cocabo_log_fn)(void *user, cocabo_level level, const char *sentence);
COCABO_API void cocabo_study_on_log(cocabo_study *study, cocabo_log_fn fn, void *user);

#ifdef __cplusplus
}
#endif
#endif /* COCABO_H */
