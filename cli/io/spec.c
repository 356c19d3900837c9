/* spec.c - reads the flags of run and create, lays them over the file of -f, and
 * checks what can be checked without a store. */
#include "io/spec.h"

#include <ctype.h>
#include <fcntl.h>
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/domain.h"
#include "common/outfile.h"
#include "common/place.h"
#include "io/scalar.h"
#include "io/spec_file.h"
#include "io/words.h"
#include "run/quota.h"

/* What fits into an attribute of a study, also where some of it must be escaped. */
enum { MAX_COMMAND = 32768, MAX_INSTANCES = 4 << 20 };

/* ---- pairs ----------------------------------------------------------------------- */

static struct cli_pair *find_pair(const cli_pairs *pairs, const char *name) {
  for (size_t i = 0; i < pairs->n; i++)
    if (strcmp(pairs->items[i].name, name) == 0)
      return &pairs->items[i];
  return NULL;
}

const char *cli_pairs_get(const cli_pairs *pairs, const char *name) {
  const struct cli_pair *pair = find_pair(pairs, name);
  return pair ? pair->value : NULL;
}

static cocabo_status append_pair(cli_pairs *pairs, const char *name, const char *value,
                                 cocabo_error *err) {
  void *items = pairs->items;
  if (!cb_reserve(&items, &pairs->capacity, pairs->n + 1, sizeof *pairs->items))
    return cb_no_memory(err);
  pairs->items = items;
  const struct cli_pair pair = {cb_strdup(name), cb_strdup(value)};
  if (!pair.name || !pair.value) {
    cb_free(pair.name);
    cb_free(pair.value);
    return cb_no_memory(err);
  }
  pairs->items[pairs->n++] = pair;
  return COCABO_OK;
}

cocabo_status cli_pairs_set(cli_pairs *pairs, const char *name, const char *value,
                            cocabo_error *err) {
  struct cli_pair *pair = find_pair(pairs, name);
  if (!pair)
    return append_pair(pairs, name, value, err);
  char *copy = cb_strdup(value);
  if (!copy)
    return cb_no_memory(err);
  cb_free(pair->value);
  pair->value = copy;
  return COCABO_OK;
}

static void clear_pairs(cli_pairs *pairs) {
  for (size_t i = 0; i < pairs->n; i++) {
    cb_free(pairs->items[i].name);
    cb_free(pairs->items[i].value);
  }
  cb_free(pairs->items);
  *pairs = (cli_pairs){0};
}

/* ---- nothing said ---------------------------------------------------------------- */

static cli_spec nothing(void) {
  return (cli_spec){.trials = -1,
                    .workers = -1,
                    .retries = -1,
                    .timeout = NAN,
                    .trial_timeout = NAN,
                    .target = NAN,
                    .patience = -1,
                    .max_failures = -1,
                    .pin = -1,
                    .runs = -1,
                    .warmup = -1};
}

void cli_spec_clear(cli_spec *spec) {
  cb_free(spec->study);
  cocabo_space_free(spec->space);
  words_free(spec->rules);
  clear_pairs(&spec->options);
  clear_pairs(&spec->metrics);
  cb_free(spec->objective);
  cb_free(spec->limit);
  cb_free(spec->notes);
  words_free(spec->command);
  *spec = nothing();
}

/* ---- parameters ------------------------------------------------------------------ */

/* -p NAME=DOMAIN: the size of the name. */
static cocabo_status split_parameter(const char *text, size_t *size,
                                     cocabo_error *err) {
  char shown[CB_SHOWN];
  const char *equals = strchr(text, '=');
  if (!equals || equals == text || !equals[1])
    return cb_fail(err, COCABO_E_INVALID,
                   "-p is \"%s\", want NAME=DOMAIN such as 'lr=float(0,1)'",
                   cb_text_show(shown, text));
  *size = (size_t)(equals - text);
  if (isspace((unsigned char)*text) || isspace((unsigned char)equals[-1]))
    return cb_fail(err, COCABO_E_INVALID,
                   "-p is \"%s\", want no blanks around the name",
                   cb_text_show(shown, text));
  return COCABO_OK;
}

static cocabo_status add_flag(const char *text, cocabo_space *space,
                              cocabo_error *err) {
  size_t size = 0;
  CB_TRY(split_parameter(text, &size, err));
  char *name = cb_strndup(text, size);
  if (!name)
    return cb_no_memory(err);
  const cocabo_status status = cocabo_space_add(space, name, text + size + 1, err);
  cb_free(name);
  return status;
}

/* The NAME=.. that names a parameter, or NULL. */
static const char *flag_of(const front_texts *flags, const char *name) {
  const size_t size = strlen(name);
  for (int i = 0; i < flags->n; i++) {
    const char *text = flags->items[i];
    if (strncmp(text, name, size) == 0 && text[size] == '=')
      return text;
  }
  return NULL;
}

static const tree_entry *entry_of(const tree_entry *first, const char *name) {
  const tree_entry *e = first;
  while (e && strcmp(e->key, name) != 0)
    e = e->next;
  return e;
}

static cocabo_status refuse_twins(const front_texts *flags, cocabo_error *err) {
  for (int i = 0; i < flags->n; i++)
    for (int k = 0; k < i; k++) {
      char shown[CB_SHOWN];
      const size_t size = strcspn(flags->items[i], "=") + 1;
      if (strncmp(flags->items[i], flags->items[k], size) == 0)
        return cb_fail(err, COCABO_E_INVALID, "two -p name the same parameter: %s",
                       cb_text_show(shown, flags->items[i]));
    }
  return COCABO_OK;
}

/* What begins with the name of a parameter, `size` bytes long, may be there already. */
static bool has_parameter(const cocabo_space *space, const char *text, size_t size) {
  const char *name;
  for (size_t i = 0; (name = cocabo_space_name(space, i)); i++)
    if (strlen(name) == size && strncmp(name, text, size) == 0)
      return true;
  return false;
}

/* Those of the base, where the file and the flags replace their namesakes. */
static cocabo_status add_base(const spec_file *file, const tree_entry *first,
                              const cli_spec_args *args, cocabo_space *space,
                              cocabo_error *err) {
  const char *name;
  for (size_t i = 0; args->base && (name = cocabo_space_name(args->base, i)); i++) {
    const char *flag = flag_of(&args->parameters, name);
    const tree_entry *entry = entry_of(first, name);
    if (flag)
      CB_TRY(add_flag(flag, space, err));
    else if (entry)
      CB_TRY(spec_file_add(file, entry, space, err));
    else if (!flag_of(args->given, name))
      CB_TRY(front_copy_parameter(space, args->base, i, err));
  }
  return COCABO_OK;
}

/* Then those of the file, where a flag replaces its namesake, then the other flags. */
static cocabo_status add_parameters(const spec_file *file, const tree_entry *first,
                                    const cli_spec_args *args, cocabo_space *space,
                                    cocabo_error *err) {
  CB_TRY(add_base(file, first, args, space, err));
  for (const tree_entry *e = first; e; e = e->next) {
    const char *flag = flag_of(&args->parameters, e->key);
    if (has_parameter(space, e->key, strlen(e->key)))
      continue;
    CB_TRY(flag ? add_flag(flag, space, err) : spec_file_add(file, e, space, err));
  }
  for (int i = 0; i < args->parameters.n; i++) {
    const char *flag = args->parameters.items[i];
    if (!has_parameter(space, flag, strcspn(flag, "=")))
      CB_TRY(add_flag(flag, space, err));
  }
  return COCABO_OK;
}

/* ---- rules ----------------------------------------------------------------------- */

/* To the list, and to the space if there is one. */
cocabo_status cli_add_rule(cli_spec *spec, const char *rule, cocabo_error *err) {
  CB_TRY(words_append(&spec->rules, rule, err));
  return spec->space ? cocabo_space_rule(spec->space, rule, err) : COCABO_OK;
}

/* Those of the file and the flags together; where neither has any, the base's. */
static cocabo_status read_rules(cli_spec *out, const spec_file *file,
                                const cli_spec_args *args, cocabo_error *err) {
  CB_TRY(spec_file_rules(file, out, err));
  for (int i = 0; i < args->rules.n; i++)
    CB_TRY(cli_add_rule(out, args->rules.items[i], err));
  const char *rule;
  for (size_t k = 0; !out->rules && (rule = cocabo_space_get_rule(args->base, k)); k++)
    CB_TRY(cocabo_space_rule(out->space, rule, err));
  return COCABO_OK;
}

static cocabo_status read_space(cli_spec *out, const spec_file *file,
                                const cli_spec_args *args, cocabo_error *err) {
  const tree_entry *first;
  size_t size = 0;
  for (int i = 0; i < args->parameters.n; i++)
    CB_TRY(split_parameter(args->parameters.items[i], &size, err));
  CB_TRY(refuse_twins(&args->parameters, err));
  CB_TRY(spec_file_parameters(file, &first, err));
  if (first || args->parameters.n > 0 || args->base) {
    out->space = cocabo_space_new();
    if (!out->space)
      return cb_no_memory(err);
    CB_TRY(add_parameters(file, first, args, out->space, err));
  }
  return read_rules(out, file, args, err);
}

/* ---- options --------------------------------------------------------------------- */

/* An option that flags say, once. */
static cocabo_status say(cli_pairs *said, const char *name, const char *value,
                         cocabo_error *err) {
  char shown[CB_SHOWN];
  if (cli_pairs_get(said, name))
    return cb_fail(err, COCABO_E_INVALID, "option %s is given twice",
                   cb_text_show(shown, name));
  return cli_pairs_set(said, name, value, err);
}

static cocabo_status say_setting(cli_pairs *said, const char *text, cocabo_error *err) {
  char shown[CB_SHOWN];
  const char *equals = strchr(text, '=');
  if (!equals || equals == text)
    return cb_fail(err, COCABO_E_INVALID,
                   "--set is \"%s\", want OPTION=VALUE such as n_init=10",
                   cb_text_show(shown, text));
  char *name = cb_strndup(text, (size_t)(equals - text));
  if (!name)
    return cb_no_memory(err);
  const cocabo_status status = say(said, name, equals + 1, err);
  cb_free(name);
  return status;
}

cocabo_status cli_join_constraints(const char *const *texts, size_t n,
                                   front_buffer *out, cocabo_error *err) {
  if (n == 1 && strcmp(texts[0], "none") == 0)
    return front_buffer_append(out, "", 1, err);
  for (size_t i = 0; i < n; i++)
    CB_TRY(front_buffer_printf(out, err, "%s%s", i > 0 ? ", " : "", texts[i]));
  return front_buffer_append(out, "", 1, err);
}

/* All flags are one option of the library, which reads it. */
static cocabo_status say_constraints(cli_pairs *said, const front_texts *flags,
                                     cocabo_error *err) {
  front_buffer text = {0};
  cocabo_status status = cli_join_constraints((const char *const *)flags->items,
                                              (size_t)flags->n, &text, err);
  if (status == COCABO_OK)
    status = say(said, "constraints", text.data, err);
  front_buffer_free(&text);
  return status;
}

/* Lines with a # before them are remarks, and so are empty ones. */
static cocabo_status put_lines(front_buffer *out, const char *text, cocabo_error *err) {
  while (*text) {
    const size_t line = strcspn(text, "\n");
    size_t size = line;
    while (size > 0 && isspace((unsigned char)text[size - 1]))
      size--;
    if (size > 0 && *text != '#') {
      CB_TRY(front_buffer_append(out, text, size, err));
      CB_TRY(front_buffer_puts(out, "\n", err));
    }
    text += line + (text[line] == '\n');
  }
  return front_buffer_append(out, "", 1, err);
}

cocabo_status cli_read_instances(const char *path, front_buffer *out,
                                 cocabo_error *err) {
  front_buffer text = {0};
  char shown[CB_SHOWN];
  int fd = -1;
  if (front_open_here("read the instances", path, O_RDONLY, &fd, err) != COCABO_OK)
    return err->code = COCABO_E_INVALID;
  cocabo_status status = front_read_up_to(fd, path, MAX_INSTANCES, &text, err);
  close(fd);
  const char *lines = status == COCABO_OK ? front_buffer_text(&text, err) : NULL;
  if (status == COCABO_OK)
    status = lines ? put_lines(out, lines, err) : COCABO_E_NO_MEMORY;
  if (status == COCABO_OK && out->size == 1)
    status = cb_fail(err, COCABO_E_INVALID,
                     "the file of instances \"%s\" is empty, want one a line",
                     cb_text_show(shown, path));
  front_buffer_free(&text);
  return status;
}

static cocabo_status say_instances(cli_pairs *said, const char *path,
                                   cocabo_error *err) {
  front_buffer lines = {0};
  cocabo_status status = cli_read_instances(path, &lines, err);
  if (status == COCABO_OK)
    status = say(said, "instances", lines.data, err);
  front_buffer_free(&lines);
  return status;
}

/* A time, as everywhere, or auto. */
static cocabo_status say_cap(cli_pairs *said, const char *text, cocabo_error *err) {
  char digits[CB_DIGITS];
  double seconds = 0.0;
  if (strcmp(text, "auto") != 0) {
    CB_TRY(front_parse_duration("--cap", text, 0.0, &seconds, err));
    text = cb_number_show(digits, seconds);
  }
  return say(said, "cap", text, err);
}

/* What is run several times is expected to differ. */
static cocabo_status say_runs(cli_pairs *said, const cli_spec_args *args,
                              cocabo_error *err) {
  const struct {
    const char *name, *value;
  } options[] = {{"seeds", args->seeds},
                 {"combine", args->combine},
                 {"repeats", args->repeats},
                 {"runs", args->runs},
                 {"max_runs", args->max_runs},
                 {"race_level", args->race_level},
                 {"par", args->par}};
  if (args->repeats && (args->instances || args->seeds))
    return cb_fail(err, COCABO_E_INVALID,
                   "--repeats and --%s, want one: seeds are repeats of an instance",
                   args->instances ? "instances" : "seeds");
  if (args->instances)
    CB_TRY(say_instances(said, args->instances, err));
  for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
    if (options[i].value)
      CB_TRY(say(said, options[i].name, options[i].value, err));
  if (args->cap)
    CB_TRY(say_cap(said, args->cap, err));
  return args->repeats && !cli_pairs_get(said, "deterministic")
             ? say(said, "deterministic", "false", err)
             : COCABO_OK;
}

static cocabo_status say_options(cli_pairs *said, const cli_spec_args *args,
                                 cocabo_error *err) {
  if (args->maximize && args->minimize)
    return cb_fail(err, COCABO_E_INVALID, "--maximize and --minimize, want one");
  if (args->maximize || args->minimize)
    CB_TRY(say(said, "direction", args->maximize ? "maximize" : "minimize", err));
  if (args->sampler)
    CB_TRY(say(said, "sampler", args->sampler, err));
  if (args->seed)
    CB_TRY(say(said, "seed", args->seed, err));
  if (args->trials)
    CB_TRY(say(said, "trials", args->trials, err));
  if (args->constraints.n > 0)
    CB_TRY(say_constraints(said, &args->constraints, err));
  for (int i = 0; i < args->settings.n; i++)
    CB_TRY(say_setting(said, args->settings.items[i], err));
  return say_runs(said, args, err);
}

static cocabo_status override(cli_pairs *options, const cli_pairs *said,
                              cocabo_error *err) {
  for (size_t i = 0; i < said->n; i++)
    CB_TRY(cli_pairs_set(options, said->items[i].name, said->items[i].value, err));
  return COCABO_OK;
}

static cocabo_status read_options(cli_spec *out, const cli_spec_args *args,
                                  cocabo_error *err) {
  cli_pairs said = {0};
  cocabo_status status = say_options(&said, args, err);
  if (status == COCABO_OK)
    status = override(&out->options, &said, err);
  clear_pairs(&said);
  return status;
}

/* Bad names and values are found before any store is opened. */
static cocabo_status check_options(const cli_spec *spec, cocabo_error *err) {
  cocabo_options *scratch = NULL;
  const cocabo_status status = cli_spec_options(spec, &scratch, err);
  cocabo_options_free(scratch);
  return status;
}

cocabo_status cli_spec_options(const cli_spec *spec, cocabo_options **out,
                               cocabo_error *err) {
  cocabo_options *options = cocabo_options_new();
  if (!options)
    return cb_no_memory(err);
  cocabo_status status = COCABO_OK;
  for (size_t i = 0; i < spec->options.n && status == COCABO_OK; i++)
    status = cocabo_options_set(options, spec->options.items[i].name,
                                spec->options.items[i].value, err);
  if (status != COCABO_OK)
    cocabo_options_free(options);
  else
    *out = options;
  return status;
}

/* ---- numbers --------------------------------------------------------------------- */

bool cli_read_target(const char *text, double *out) {
  if (strcmp(text, "none") == 0) {
    *out = INFINITY;
    return true;
  }
  return scalar_is_number(text, out) && isfinite(*out);
}

static cocabo_status read_limits(cli_spec *out, const cli_spec_args *args,
                                 cocabo_error *err) {
  char shown[CB_SHOWN];
  if (args->target && !cli_read_target(args->target, &out->target))
    return cb_fail(err, COCABO_E_INVALID, "--target is \"%s\", want a number or none",
                   cb_text_show(shown, args->target));
  CB_TRY(front_parse_int("--patience", args->patience, 0, SPEC_MAX_TRIALS,
                         &out->patience, err));
  return front_parse_int("--max-failures", args->max_failures, 0, SPEC_MAX_TRIALS,
                         &out->max_failures, err);
}

cocabo_status cli_read_quota(const char *text, char **out, cocabo_error *err) {
  cli_quota quota;
  CB_TRY(cli_quota_parse(&quota, text, err));
  cb_free(*out);
  *out = cb_strdup(text);
  return *out ? COCABO_OK : cb_no_memory(err);
}

static cocabo_status read_resources(cli_spec *out, const cli_spec_args *args,
                                    cocabo_error *err) {
  if (args->pin && args->no_pin)
    return cb_fail(err, COCABO_E_INVALID, "--pin and --no-pin, want one");
  if (args->pin || args->no_pin)
    out->pin = args->pin;
  return args->limit ? cli_read_quota(args->limit, &out->limit, err) : COCABO_OK;
}

static cocabo_status read_numbers(cli_spec *out, const cli_spec_args *args,
                                  cocabo_error *err) {
  CB_TRY(front_parse_int("-n", args->trials, 1, SPEC_MAX_TRIALS, &out->trials, err));
  CB_TRY(front_parse_int("-j", args->workers, 1, SPEC_MAX_WORKERS, &out->workers, err));
  CB_TRY(front_parse_int("--retries", args->retries, 0, SPEC_MAX_RETRIES, &out->retries,
                         err));
  CB_TRY(front_parse_int("--warmup", args->warmup, 0, SPEC_MAX_RETRIES, &out->warmup,
                         err));
  CB_TRY(front_parse_duration("--timeout", args->timeout, 0.0, &out->timeout, err));
  CB_TRY(front_parse_duration("--trial-timeout", args->trial_timeout, 0.0,
                              &out->trial_timeout, err));
  return read_limits(out, args, err);
}

/* ---- metrics --------------------------------------------------------------------- */

cocabo_status cli_check_metric(const char *name, const char *expression,
                               cocabo_error *err) {
  char shown[CB_SHOWN], why[120];
  regex_t regex;
  CB_TRY(cb_name_check("metric name", name, err));
  if (*expression == '\0' || !cb_text_is_utf8(expression))
    return cb_fail(err, COCABO_E_INVALID,
                   "metric \"%s\" has no expression, want an extended regular one",
                   cb_text_show(shown, name));
  const int code = regcomp(&regex, expression, REG_EXTENDED);
  if (code == 0) {
    regfree(&regex);
    return COCABO_OK;
  }
  regerror(code, &regex, why, sizeof why);
  return cb_fail(err, COCABO_E_INVALID, "the expression of metric \"%s\": %s",
                 cb_text_show(shown, name), why);
}

static cocabo_status add_metric(cli_pairs *said, const char *text, cocabo_error *err) {
  char shown[CB_SHOWN];
  const char *equals = strchr(text, '=');
  if (!equals || equals == text)
    return cb_fail(err, COCABO_E_INVALID,
                   "--metric is \"%s\", want NAME=ERE such as 'p99=p99: ([0-9.]+)'",
                   cb_text_show(shown, text));
  char *name = cb_strndup(text, (size_t)(equals - text));
  if (!name)
    return cb_no_memory(err);
  cocabo_status status = cli_check_metric(name, equals + 1, err);
  if (status == COCABO_OK && cli_pairs_get(said, name))
    status = cb_fail(err, COCABO_E_INVALID, "two --metric name the same metric: %s",
                     cb_text_show(shown, text));
  if (status == COCABO_OK)
    status = cli_pairs_set(said, name, equals + 1, err);
  cb_free(name);
  return status;
}

static cocabo_status add_metrics(cli_spec *out, const front_texts *flags,
                                 cli_pairs *said, cocabo_error *err) {
  for (int i = 0; i < flags->n; i++)
    CB_TRY(add_metric(said, flags->items[i], err));
  CB_TRY(override(&out->metrics, said, err));
  return out->metrics.n <= COCABO_MAX_METRICS
             ? COCABO_OK
             : cb_fail(err, COCABO_E_RANGE, "there are %zu metrics, want at most %d",
                       out->metrics.n, COCABO_MAX_METRICS);
}

static cocabo_status read_metrics(cli_spec *out, const cli_spec_args *args,
                                  cocabo_error *err) {
  cli_pairs said = {0};
  const cocabo_status status = add_metrics(out, &args->metrics, &said, err);
  clear_pairs(&said);
  CB_TRY(status);
  if (args->objective) {
    cb_free(out->objective);
    out->objective = cb_strdup(args->objective);
    if (!out->objective)
      return cb_no_memory(err);
  }
  return out->objective ? cb_name_check("the objective", out->objective, err)
                        : COCABO_OK;
}

/* ---- all of it ------------------------------------------------------------------- */

/* The file's key `trials` is an option of the library, like -n. */
static cocabo_status option_of_trials(cli_spec *out, cocabo_error *err) {
  char digits[24];
  if (out->trials < 0)
    return COCABO_OK;
  if (cli_pairs_get(&out->options, "trials"))
    return cb_fail(err, COCABO_E_INVALID, "trials is there twice");
  snprintf(digits, sizeof digits, "%lld", (long long)out->trials);
  return cli_pairs_set(&out->options, "trials", digits, err);
}

static cocabo_status read_file(cli_spec *out, spec_file *file, const char *path,
                               cocabo_error *err) {
  if (!path)
    return COCABO_OK;
  CB_TRY(spec_file_load(file, path, err));
  out->notes = file->notes;
  file->notes = NULL;
  CB_TRY(spec_file_read(file, out, err));
  return option_of_trials(out, err);
}

/* A study keeps its command as a text; one that it cannot keep is refused before there
 * is a study. */
static cocabo_status check_command(char *const *command, cocabo_error *err) {
  size_t size = 0;
  for (int i = 0; command && command[i]; i++) {
    if (!cb_text_is_utf8(command[i]))
      return cb_fail(err, COCABO_E_INVALID, "word %d of the command is not UTF-8",
                     i + 1);
    size += strlen(command[i]) + 3;
  }
  return size <= MAX_COMMAND
             ? COCABO_OK
             : cb_fail(err, COCABO_E_RANGE,
                       "the command has %zu bytes, want at most %d", size, MAX_COMMAND);
}

static cocabo_status read_command(cli_spec *out, char *const *command, int n,
                                  cocabo_error *err) {
  if (n == 0)
    return COCABO_OK;
  words_free(out->command);
  out->command = NULL;
  return words_copy((const char *const *)command, (size_t)n, &out->command, err);
}

/* However it was said. */
static void note_runs(cli_spec *out) {
  const char *runs = cli_pairs_get(&out->options, "runs");
  if (runs)
    out->runs = strtoll(runs, NULL, 10);
}

static cocabo_status read_all(cli_spec *out, spec_file *file, const cli_spec_args *args,
                              char *const *command, int n, cocabo_error *err) {
  CB_TRY(read_file(out, file, args->file, err));
  CB_TRY(read_numbers(out, args, err));
  CB_TRY(read_resources(out, args, err));
  CB_TRY(read_options(out, args, err));
  CB_TRY(check_options(out, err));
  note_runs(out);
  CB_TRY(read_metrics(out, args, err));
  CB_TRY(read_command(out, command, n, err));
  CB_TRY(check_command(out->command, err));
  return read_space(out, file, args, err);
}

cocabo_status cli_spec_read(cli_spec *out, const cli_spec_args *args,
                            char *const *command, int n, cocabo_error *err) {
  spec_file file = {0};
  *out = nothing();
  const cocabo_status status = read_all(out, &file, args, command, n, err);
  spec_file_clear(&file);
  if (status != COCABO_OK)
    cli_spec_clear(out);
  return status;
}

/* ---- from another file ----------------------------------------------------------- */

static cocabo_status adopt(cli_spec *spec, cli_spec *said, cocabo_error *err) {
  for (size_t i = 0; i < said->options.n; i++) {
    const struct cli_pair *pair = &said->options.items[i];
    if (!cli_pairs_get(&spec->options, pair->name))
      CB_TRY(cli_pairs_set(&spec->options, pair->name, pair->value, err));
  }
  for (char **rule = spec->rules; rule && *rule; rule++)
    CB_TRY(cocabo_space_rule(said->space, *rule, err));
  spec->space = said->space;
  said->space = NULL;
  return COCABO_OK;
}

cocabo_status cli_spec_adopt(cli_spec *spec, const char *name, const char *text,
                             size_t size, cocabo_error *err) {
  const cli_spec_args no_flags = {0};
  spec_file file = {0};
  cli_spec said = nothing();
  cocabo_status status = spec_file_parse(&file, name, text, size, err);
  if (status == COCABO_OK)
    status = spec_file_read(&file, &said, err);
  if (status == COCABO_OK)
    status = read_space(&said, &file, &no_flags, err);
  if (status == COCABO_OK)
    status = adopt(spec, &said, err);
  spec_file_clear(&file);
  cli_spec_clear(&said);
  return status;
}
