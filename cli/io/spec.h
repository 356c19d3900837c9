/* spec.h - what a study shall be: -p, -f and the other flags of run and create.
 *
 * A specification says some things and leaves others open. What it says is checked
 * here, before any store is opened; a flag overrides the file. What it leaves open is
 * the library's default for a new study and the stored value for an existing one.
 *
 *   cli_spec_read -> cli_spec_open (create or resume) -> cli_spec_recall (fill the
 * gaps)
 */
#ifndef CLI_SPEC_H
#define CLI_SPEC_H

#include <stdbool.h>
#include <stdint.h>

#include "cli.h"

/* What the flags said; borrowed from argv. */
typedef struct cli_spec_args {
  front_texts parameters, rules, settings, metrics, constraints;
  const char *file, *trials, *workers, *timeout, *trial_timeout, *retries, *sampler,
      *seed, *target, *patience, *max_failures, *objective, *limit, *instances, *seeds,
      *combine, *repeats, *runs, *max_runs, *race_level, *cap, *par, *warmup;
  bool maximize, minimize, pin, no_pin;
  /* Not flags. The space of the study that this one comes from, or NULL: what is not
   * said is as there, but for the parameters that have a NAME=VALUE in `given`. */
  const cocabo_space *base;
  const front_texts *given; /* where there is a base */
} cli_spec_args;

/* Rows of an option table; `type` has a field `spec` of type cli_spec_args. What ends a
 * run before its number of trials: */
#define CLI_LIMIT_OPTIONS(type)                                                        \
  {"--target", "VALUE", "stop when the best value is at least as good; or none",       \
   FRONT_TEXT, offsetof(type, spec.target)},                                           \
      {"--patience", "K", "stop when K trials in a row brought nothing better",        \
       FRONT_TEXT, offsetof(type, spec.patience)},                                     \
  {                                                                                    \
    "--max-failures", "K", "stop with status 1 when K trials failed; 0: no limit",     \
        FRONT_TEXT, offsetof(type, spec.max_failures)                                  \
  }

/* What one evaluation may use, and where it runs: */
#define CLI_RESOURCE_OPTIONS(type)                                                     \
  {"--limit", "LIMITS", "mem=8G,cpu=5m,files=64,fsize=1G,procs=32, or none",           \
   FRONT_TEXT, offsetof(type, spec.limit)},                                            \
      {"--pin", NULL, "trials at a time have processors of their own", FRONT_FLAG,     \
       offsetof(type, spec.pin)},                                                      \
  {                                                                                    \
    "--no-pin", NULL, "they share them all, the default", FRONT_FLAG,                  \
        offsetof(type, spec.no_pin)                                                    \
  }

/* Trials that are evaluated run by run: */
#define CLI_RUN_OPTIONS(type)                                                          \
  {"--instances", "FILE", "run every trial on each line of FILE, as {instance}",       \
   FRONT_TEXT, offsetof(type, spec.instances)},                                        \
      {"--seeds", "K", "and with the seeds 1 to K, as {seed}", FRONT_TEXT,             \
       offsetof(type, spec.seeds)},                                                    \
      {"--combine", "HOW", "mean, median, geomean, sum or max of its runs (mean)",     \
       FRONT_TEXT, offsetof(type, spec.combine)},                                      \
      {"--repeats", "K", "run every trial K times; auto: where it is worth it",        \
       FRONT_TEXT, offsetof(type, spec.repeats)},                                      \
      {"--runs", "N", "runs the study shall reach in all", FRONT_TEXT,                 \
       offsetof(type, spec.runs)},                                                     \
      {"--max-runs", "K", "most runs of one trial", FRONT_TEXT,                        \
       offsetof(type, spec.max_runs)},                                                 \
      {"--race-level", "P", "give a trial up that is worse by such a p-value (0.05)",  \
       FRONT_TEXT, offsetof(type, spec.race_level)},                                   \
      {"--cap", "TIME", "end a run that takes longer; auto: that cannot win",          \
       FRONT_TEXT, offsetof(type, spec.cap)},                                          \
      {"--par", "K", "a run ended at --cap TIME counts as K times that (1)",           \
       FRONT_TEXT, offsetof(type, spec.par)},                                          \
  {                                                                                    \
    "--warmup", "K", "run a trial K times more before its runs count (0)", FRONT_TEXT, \
        offsetof(type, spec.warmup)                                                    \
  }

/* And all of them. */
#define CLI_SPEC_OPTIONS(type)                                                         \
  {"-p, --param", "NAME=DOMAIN", "a parameter; may be repeated", FRONT_TEXTS,          \
   offsetof(type, spec.parameters)},                                                   \
      {"--where", "EXPR", "a rule that every point keeps; may be repeated",            \
       FRONT_TEXTS, offsetof(type, spec.rules)},                                       \
      {"-f, --file", "FILE", "a study in YAML or JSON; flags override it", FRONT_TEXT, \
       offsetof(type, spec.file)},                                                     \
      {"-n, --trials", "N", "complete and failed trials the study shall reach",        \
       FRONT_TEXT, offsetof(type, spec.trials)},                                       \
      {"-j, --workers", "N", "trials at a time (1)", FRONT_TEXT,                       \
       offsetof(type, spec.workers)},                                                  \
      {"--maximize", NULL, "large values are good", FRONT_FLAG,                        \
       offsetof(type, spec.maximize)},                                                 \
      {"--minimize", NULL, "small values are good, the default", FRONT_FLAG,           \
       offsetof(type, spec.minimize)},                                                 \
      {"--timeout", "TIME",                                                            \
       "stop after 90s, 5m, 1h30m; running trials are given back", FRONT_TEXT,         \
       offsetof(type, spec.timeout)},                                                  \
      {"--trial-timeout", "TIME", "end a trial that takes longer", FRONT_TEXT,         \
       offsetof(type, spec.trial_timeout)},                                            \
      CLI_LIMIT_OPTIONS(type), CLI_RESOURCE_OPTIONS(type), CLI_RUN_OPTIONS(type),      \
      {"--metric", "NAME=ERE",                                                         \
       "a metric: the last match in the output; may be repeated", FRONT_TEXTS,         \
       offsetof(type, spec.metrics)},                                                  \
      {"--objective", "NAME", "the metric that is the value (value)", FRONT_TEXT,      \
       offsetof(type, spec.objective)},                                                \
      {"--constraint", "METRIC<NUMBER",                                                \
       "a bound (also <=, >, >=); may be repeated; or none", FRONT_TEXTS,              \
       offsetof(type, spec.constraints)},                                              \
      {"--retries", "K", "try a failed trial so many times more (0)", FRONT_TEXT,      \
       offsetof(type, spec.retries)},                                                  \
      {"--sampler", "NAME", "how points are proposed (mixed)", FRONT_TEXT,             \
       offsetof(type, spec.sampler)},                                                  \
      {"--seed", "N", "seed of all random choices (0)", FRONT_TEXT,                    \
       offsetof(type, spec.seed)},                                                     \
  {                                                                                    \
    "--set", "OPTION=VALUE", "an option of the study; may be repeated", FRONT_TEXTS,   \
        offsetof(type, spec.settings)                                                  \
  }

/* The samplers, and where the options are: for the help of a command that takes them
 * (front_command.more). */
cocabo_status cli_spec_introduce(front_buffer *out, cocabo_error *err);
/* All options that --set takes, and how conditions and rules are written
 * (front_topic.describe). */
cocabo_status cli_spec_describe(front_buffer *out, cocabo_error *err);
cocabo_status cli_spec_describe_rules(front_buffer *out, cocabo_error *err);

/* Names and values of options, each name once. */
typedef struct cli_pairs {
  size_t n, capacity;
  struct cli_pair {
    char *name, *value;
  } * items;
} cli_pairs;

typedef struct cli_spec {
  char *study;              /* a name; NULL: not said */
  char *notes;              /* lines about the file, for people; NULL: none */
  cocabo_space *space;      /* with its rules; NULL: no parameters were said */
  char **rules;             /* as they were said, ended by NULL; NULL: none were */
  cli_pairs options;        /* of the library, with trials, sampler, direction, seed */
  cli_pairs metrics;        /* names and expressions (match.h); none: not said */
  char *objective;          /* NULL: not said */
  char **command;           /* its words, ended by NULL; NULL: not said */
  int64_t trials;           /* the option trials, 0: no limit; -1: not said */
  int64_t workers, retries; /* -1: not said */
  double timeout, trial_timeout;  /* seconds; NAN: not said, 0: none */
  double target;                  /* NAN: not said, INFINITY: none */
  int64_t patience, max_failures; /* -1: not said, 0: none */
  char *limit;                    /* what quota.h reads; NULL: not said */
  int pin;                        /* 0 or 1; -1: not said */
  int64_t runs, warmup;           /* the option runs, 0: no limit; -1: not said */
} cli_spec;

/* Fills `out` from the flags and the file they name. `command` is the words after "--"
 * (n of them; 0: none were given). On failure `out` is empty and may still be cleared.
 */
cocabo_status cli_spec_read(cli_spec *out, const cli_spec_args *args,
                            char *const *command, int n, cocabo_error *err);
void cli_spec_clear(cli_spec *spec); /* and back to nothing said */

/* Takes the parameters, and the options that were not said, from the text of a file.
 * For a specification without parameters. */
cocabo_status cli_spec_adopt(cli_spec *spec, const char *name, const char *text,
                             size_t size, cocabo_error *err);

/* The options it says, for a new study; owned by the caller. */
cocabo_status cli_spec_options(const cli_spec *spec, cocabo_options **out,
                               cocabo_error *err);

/* Whether there is a study of that name already. */
bool cli_spec_exists(const cli_spec *spec, const cli_common *common);

/* Opens the study that the flags name (else the file, else the environment, else
 * `default`), creating store and study as needed. A new study needs parameters; without
 * them the study is the one that cli_find_study finds. An existing one must have the
 * same space, rules and direction where the specification says them: if not,
 * COCABO_E_STATE with a sentence that tells the difference and the way on. Options,
 * command and limits that differ are appended to it. *created may be NULL. */
cocabo_status cli_spec_open(const cli_spec *spec, const cli_common *common,
                            cli_session *session, bool *created, cocabo_error *err);

/* The same, and puts something into the study. Into a new one before it is stored: it
 * appears with all that is in it, or not at all. */
typedef cocabo_status (*cli_fill_fn)(void *user, cocabo_study *study,
                                     cocabo_error *err);
cocabo_status cli_spec_fill(const cli_spec *spec, const cli_common *common,
                            cli_fill_fn fill, void *user, cli_session *session,
                            bool *created, cocabo_error *err);

/* Fills what the specification left open from what the study keeps: command, workers,
 * timeout, trial_timeout, retries, target, patience, max_failures, limit, pin, warmup,
 * trials.
 * What the study does not keep either stays open, so the defaults are the caller's:
 * workers 1, retries 0. */
cocabo_status cli_spec_recall(cli_spec *spec, const cocabo_study *study,
                              cocabo_error *err);

#endif
