/* spec_file.h - the part of a specification that comes from a file.
 *
 *   parameters: {lr: {type: float, low: 1e-5, high: 0.1, log: true}}, with `if`
 *   where: [lc + lp <= 4]
 *   study, direction, sampler, seed, options, command, trials, workers, timeout,
 *   trial_timeout, retries, target, patience, max_failures, limit, pin, instances,
 *   seeds, combine, repeats, runs, max_runs, race_level, cap, par, warmup, metrics,
 *   objective
 *
 * For spec.c, which knows the flags. */
#ifndef CLI_SPEC_FILE_H
#define CLI_SPEC_FILE_H

#include "io/spec.h"
#include "io/tree.h"

typedef struct spec_file {
  const char *name; /* borrowed; for the sentences */
  tree *t;
  char *notes; /* lines about what a foreign file says and we cannot; or NULL */
} spec_file;

/* Reads a file ("-": standard input) into a tree, whose root is a map or NULL. One of
 * another tuner (foreign.h) is converted. */
cocabo_status spec_file_load(spec_file *file, const char *path, cocabo_error *err);
cocabo_status spec_file_parse(spec_file *file, const char *name, const char *text,
                              size_t size, cocabo_error *err);
void spec_file_clear(spec_file *file); /* {0} is allowed */

/* What the file says, but for its parameters. */
cocabo_status spec_file_read(const spec_file *file, cli_spec *out, cocabo_error *err);

/* Its parameters: the first entry, or NULL; and one of them into a space. */
cocabo_status spec_file_parameters(const spec_file *file, const tree_entry **first,
                                   cocabo_error *err);
cocabo_status spec_file_add(const spec_file *file, const tree_entry *parameter,
                            cocabo_space *space, cocabo_error *err);
/* Its rules, by cli_add_rule. */
cocabo_status spec_file_rules(const spec_file *file, cli_spec *out, cocabo_error *err);

/* ---- of spec.c, for both --------------------------------------------------------- */

/* Adds an option, or replaces its value. */
cocabo_status cli_pairs_set(cli_pairs *pairs, const char *name, const char *value,
                            cocabo_error *err);
const char *cli_pairs_get(const cli_pairs *pairs, const char *name); /* or NULL */

/* A rule, to the list and, if there is one, to the space. */
cocabo_status cli_add_rule(cli_spec *spec, const char *rule, cocabo_error *err);

/* A name for a metric and an expression that finds it? */
cocabo_status cli_check_metric(const char *name, const char *expression,
                               cocabo_error *err);

/* Several texts of constraints as the one that the option of that name takes, with its
 * NUL; "none" alone is none. */
cocabo_status cli_join_constraints(const char *const *texts, size_t n,
                                   front_buffer *out, cocabo_error *err);

/* The instances in a file as the option has them: one a line. */
cocabo_status cli_read_instances(const char *path, front_buffer *out,
                                 cocabo_error *err);

/* A text that quota.h reads, in place of *out, which is owned. */
cocabo_status cli_read_quota(const char *text, char **out, cocabo_error *err);

/* "none" or a number; what a flag, a file or a study says. */
bool cli_read_target(const char *text, double *out);

enum { SPEC_MAX_TRIALS = 1000000000, SPEC_MAX_WORKERS = 1024, SPEC_MAX_RETRIES = 1000 };

#endif
