/* spec_open.c - a specification meets a store: the study is created, or resumed after
 * it was compared with what is stored. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/base.h"
#include "common/buffer.h"
#include "common/domain.h"
#include "io/metrics.h"
#include "io/output.h"
#include "io/spec.h"
#include "io/spec_file.h"
#include "io/words.h"
#include "run/template.h"

enum { SHORT = 24 }; /* a name in a sentence that has several */

/* ---- the same space? ------------------------------------------------------------- */

static int index_of(const cocabo_space *space, const char *name) {
  const char *known;
  for (size_t i = 0; (known = cocabo_space_name(space, i)); i++)
    if (strcmp(known, name) == 0)
      return (int)i;
  return -1;
}

/* The domain as a short text for a sentence that has two of them. */
static void show_domain(const cocabo_space *space, size_t i, char out[CB_SHOWN]) {
  char *domain = cocabo_space_domain(space, i);
  cb_text_show_within(out, domain ? domain : "?", 36);
  cocabo_text_free(domain);
}

static bool same_domain(const cocabo_space *a, size_t i, const cocabo_space *b,
                        size_t k) {
  char *one = cocabo_space_domain(a, i), *other = cocabo_space_domain(b, k);
  const bool same = one && other && strcmp(one, other) == 0;
  cocabo_text_free(one);
  cocabo_text_free(other);
  return same;
}

static cocabo_status other_domain(const char *study, const cocabo_space *stored,
                                  size_t i, const cocabo_space *wanted, size_t k,
                                  cocabo_error *err) {
  char name[CB_SHOWN], old[CB_SHOWN], new[CB_SHOWN];
  cb_text_show_within(name, cocabo_space_name(stored, i), 24);
  show_domain(stored, i, old);
  show_domain(wanted, k, new);
  if (strcmp(old, new) == 0) /* they differ beyond what can be shown */
    return cb_fail(err, COCABO_E_STATE,
                   "study \"%s\" has other choices for parameter \"%s\"", study, name);
  return cb_fail(err, COCABO_E_STATE, "study \"%s\" has %s=%s, not %s", study, name,
                 old, new);
}

static cocabo_status missing(const char *study, const char *parameter, const char *verb,
                             cocabo_error *err) {
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_STATE,
                 "study \"%s\" %s a parameter \"%s\", unlike this one", study, verb,
                 cb_text_show_within(shown, parameter, 40));
}

/* The order of parameters makes no other space. */
static cocabo_status compare_spaces(const char *study, const cocabo_space *stored,
                                    const cocabo_space *wanted, cocabo_error *err) {
  const char *name;
  for (size_t k = 0; (name = cocabo_space_name(wanted, k)); k++) {
    const int i = index_of(stored, name);
    if (i < 0)
      return missing(study, name, "does not have", err);
    if (!same_domain(stored, (size_t)i, wanted, k))
      return other_domain(study, stored, (size_t)i, wanted, k, err);
  }
  for (size_t i = 0; (name = cocabo_space_name(stored, i)); i++)
    if (index_of(wanted, name) < 0)
      return missing(study, name, "has", err);
  return COCABO_OK;
}

/* ---- the same rules? ------------------------------------------------------------- */

/* The first rule of one that the other has not, or NULL. Their order is no matter. */
static const char *rule_beyond(const cocabo_space *one, const cocabo_space *other) {
  const char *rule, *known;
  for (size_t k = 0; (rule = cocabo_space_get_rule(one, k)); k++) {
    size_t j = 0;
    while ((known = cocabo_space_get_rule(other, j)) && strcmp(known, rule) != 0)
      j++;
    if (!known)
      return rule;
  }
  return NULL;
}

static cocabo_status compare_rules(const char *study, const cocabo_space *stored,
                                   const cocabo_space *wanted, cocabo_error *err) {
  char old[CB_SHOWN], new[CB_SHOWN];
  const char *more = rule_beyond(wanted, stored), *less = rule_beyond(stored, wanted);
  if (more && less)
    return cb_fail(err, COCABO_E_STATE, "study \"%s\" has the rule \"%s\", not \"%s\"",
                   study, cb_text_show_within(old, less, 40),
                   cb_text_show_within(new, more, 40));
  if (more)
    return cb_fail(err, COCABO_E_STATE, "study \"%s\" has no rule \"%s\"", study,
                   cb_text_show_within(new, more, 60));
  if (less)
    return cb_fail(err, COCABO_E_STATE, "study \"%s\" has the rule \"%s\" too", study,
                   cb_text_show_within(old, less, 60));
  return COCABO_OK;
}

/* Rules that came without parameters are about those of the study. */
static cocabo_status rules_in(const cocabo_space *stored, char *const *rules,
                              cocabo_space *out, cocabo_error *err) {
  for (size_t i = 0; i < cocabo_space_count(stored); i++)
    CB_TRY(front_copy_parameter(out, stored, i, err));
  for (; *rules; rules++)
    CB_TRY(cocabo_space_rule(out, *rules, err));
  return COCABO_OK;
}

static cocabo_status find_other_rule(const cli_spec *spec, const char *study,
                                     const cocabo_space *stored, cocabo_error *err) {
  if (!spec->rules)
    return COCABO_OK;
  if (spec->space)
    return compare_rules(study, stored, spec->space, err);
  cocabo_space *wanted = cocabo_space_new();
  cocabo_status status =
      wanted ? rules_in(stored, spec->rules, wanted, err) : cb_no_memory(err);
  if (status == COCABO_OK)
    status = compare_rules(study, stored, wanted, err);
  cocabo_space_free(wanted);
  return status;
}

/* ---- the way on ------------------------------------------------------------------ */

static bool is_taken(const cocabo_names *names, const char *name) {
  for (size_t i = 0; i < cocabo_names_count(names); i++)
    if (strcmp(cocabo_names_at(names, i), name) == 0)
      return true;
  return false;
}

/* Behind the difference: a command that carries over what fits, to a name that is
 * free. */
static cocabo_status add_way_on(const cli_session *session, cocabo_error *err) {
  char name[CB_SHOWN], free_name[CB_SHOWN + 16], difference[sizeof err->message];
  cocabo_names *names = NULL;
  snprintf(difference, sizeof difference, "%s", err->message);
  cb_text_show_within(name, cocabo_study_name(session->study), SHORT);
  if (cocabo_store_studies(session->store, &names, NULL) != COCABO_OK)
    names = NULL;
  int k = 2;
  do
    snprintf(free_name, sizeof free_name, "%s-%d", name, k);
  while (is_taken(names, free_name) && k++ < 1000);
  cocabo_names_free(names);
  const char *quote = strpbrk(name, " \t\"$`\\!*?&|;<>()[]{}~#") ? "'" : "";
  char whole[2 * sizeof err->message];
  const int size =
      snprintf(whole, sizeof whole,
               "%s: \"cocabo create --from %s%s%s --study %s%s%s\" with "
               "these flags carries over what fits, another --study begins "
               "anew",
               difference, quote, name, quote, quote, free_name, quote);
  if (size < (int)sizeof err->message && !strchr(name, '\'') &&
      strcmp(name, cocabo_study_name(session->study)) == 0)
    return cb_fail(err, COCABO_E_STATE, "%s", whole);
  return cb_fail(
      err, COCABO_E_STATE,
      "%s: \"cocabo create --from\" and another --study name carries over what "
      "fits",
      difference); /* too long, or hard to quote */
}

static cocabo_status find_difference(const cli_spec *spec, const cocabo_study *study,
                                     cocabo_error *err) {
  char name[CB_SHOWN];
  cb_text_show_within(name, cocabo_study_name(study), SHORT);
  if (spec->space)
    CB_TRY(compare_spaces(name, cocabo_study_space(study), spec->space, err));
  CB_TRY(find_other_rule(spec, name, cocabo_study_space(study), err));
  const char *wanted = cli_pairs_get(&spec->options, "direction");
  const char *stored = cocabo_study_option(study, "direction");
  if (wanted && strcmp(wanted, stored) != 0)
    return cb_fail(err, COCABO_E_STATE, "study \"%s\" has direction %s, not %s", name,
                   stored, wanted);
  return COCABO_OK;
}

/* The values of another objective cannot be carried over. */
static cocabo_status compare_objectives(const cli_spec *spec, const cocabo_study *study,
                                        cocabo_error *err) {
  char name[CB_SHOWN], old[CB_SHOWN], new[CB_SHOWN];
  const char *stored = cli_objective(study);
  if (!spec->objective || strcmp(spec->objective, stored) == 0)
    return COCABO_OK;
  return cb_fail(err, COCABO_E_STATE,
                 "study \"%s\" has the objective %s, not %s: another --study name "
                 "starts afresh",
                 cb_text_show_within(name, cocabo_study_name(study), SHORT),
                 cb_text_show_within(old, stored, 40),
                 cb_text_show_within(new, spec->objective, 40));
}

static cocabo_status compare(const cli_spec *spec, const cli_session *session,
                             cocabo_error *err) {
  CB_TRY(compare_objectives(spec, session->study, err));
  const cocabo_status status = find_difference(spec, session->study, err);
  return status == COCABO_E_STATE ? add_way_on(session, err) : status;
}

/* ---- what the study keeps -------------------------------------------------------- */

static cocabo_status keep_whole(cocabo_study *study, const char *name, int64_t value,
                                cocabo_error *err) {
  char digits[24];
  if (value < 0)
    return COCABO_OK;
  snprintf(digits, sizeof digits, "%" PRId64, value);
  return cocabo_study_set_attr(study, name, digits, err);
}

static cocabo_status keep_number(cocabo_study *study, const char *name, double value,
                                 cocabo_error *err) {
  char digits[32];
  if (isnan(value))
    return COCABO_OK;
  snprintf(digits, sizeof digits, "%.17g", value);
  return cocabo_study_set_attr(study, name, digits, err);
}

static cocabo_status keep_target(cocabo_study *study, double value, cocabo_error *err) {
  return isinf(value) ? cocabo_study_set_attr(study, "target", "none", err)
                      : keep_number(study, "target", value, err);
}

/* Results of two commands in one study are not always meant to be compared. Where the
 * beginnings are the same, the first word that differs is shown. */
static void say_change(const cli_common *common, char *const *was, char *const *is) {
  char old[CB_SHOWN], new[CB_SHOWN];
  if (strcmp(words_show(old, was), words_show(new, is)) != 0) {
    cli_note(common, "note: the command was \"%s\", it is \"%s\" now", old, new);
    return;
  }
  int i = 0;
  while (was[i] && is[i] && strcmp(was[i], is[i]) == 0)
    i++;
  cli_note(common, "note: word %d of the command was \"%s\", it is \"%s\" now", i + 1,
           cb_text_show(old, was[i] ? was[i] : ""),
           cb_text_show(new, is[i] ? is[i] : ""));
}

/* With the folder, because the command may name files. One that is no text is left out.
 */
static cocabo_status keep_folder(cocabo_study *study, cocabo_error *err) {
  char folder[4096];
  if (!getcwd(folder, sizeof folder) || !cb_text_is_utf8(folder))
    return COCABO_OK;
  return cocabo_study_set_attr(study, "folder", folder, err);
}

static cocabo_status keep_command(cocabo_study *study, const cli_common *common,
                                  char *const *command, cocabo_error *err) {
  char *json, **was = NULL;
  if (!command)
    return COCABO_OK;
  CB_TRY(words_to_json(command, &json, err));
  const char *stored = cocabo_study_attr(study, "command");
  const bool changed = stored && strcmp(stored, json) != 0 &&
                       words_from_json(stored, &was, NULL) == COCABO_OK;
  cocabo_status status = cocabo_study_set_attr(study, "command", json, err);
  cb_free(json);
  if (status == COCABO_OK && changed)
    say_change(common, was, command);
  words_free(was);
  return status == COCABO_OK ? keep_folder(study, err) : status;
}

static cocabo_status put_metrics(front_buffer *out, const cli_pairs *metrics,
                                 cocabo_error *err) {
  for (size_t i = 0; i < metrics->n; i++) {
    CB_TRY(front_buffer_puts(out, i > 0 ? "," : "{", err));
    CB_TRY(front_put_json_text(out, metrics->items[i].name, err));
    CB_TRY(front_buffer_puts(out, ":", err));
    CB_TRY(front_put_json_text(out, metrics->items[i].value, err));
  }
  return front_buffer_append(out, "}", 2, err); /* and the NUL */
}

static cocabo_status keep_metrics(cocabo_study *study, const cli_pairs *metrics,
                                  cocabo_error *err) {
  front_buffer json = {0};
  if (metrics->n == 0)
    return COCABO_OK;
  cocabo_status status = put_metrics(&json, metrics, err);
  if (status == COCABO_OK)
    status = cocabo_study_set_attr(study, "metrics", json.data, err);
  front_buffer_free(&json);
  return status;
}

/* Of an old study it is the same. */
static cocabo_status keep_objective(cocabo_study *study, const char *objective,
                                    cocabo_error *err) {
  return !objective || strcmp(objective, cli_objective(study)) == 0
             ? COCABO_OK
             : cocabo_study_set_attr(study, "objective", objective, err);
}

static cocabo_status keep(const cli_spec *spec, const cli_common *common,
                          cocabo_study *study, cocabo_error *err) {
  CB_TRY(keep_command(study, common, spec->command, err));
  CB_TRY(keep_metrics(study, &spec->metrics, err));
  CB_TRY(keep_objective(study, spec->objective, err));
  CB_TRY(keep_whole(study, "workers", spec->workers, err));
  CB_TRY(keep_whole(study, "retries", spec->retries, err));
  CB_TRY(keep_target(study, spec->target, err));
  CB_TRY(keep_whole(study, "patience", spec->patience, err));
  CB_TRY(keep_whole(study, "max_failures", spec->max_failures, err));
  CB_TRY(keep_whole(study, "pin", spec->pin, err));
  CB_TRY(keep_whole(study, "warmup", spec->warmup, err));
  if (spec->limit)
    CB_TRY(cocabo_study_set_attr(study, "limit", spec->limit, err));
  CB_TRY(keep_number(study, "timeout", spec->timeout, err));
  return keep_number(study, "trial_timeout", spec->trial_timeout, err);
}

/* At one stroke; the library passes over what is so already. */
static cocabo_status change_options(const cli_spec *spec, cocabo_study *study,
                                    cocabo_error *err) {
  const size_t n = spec->options.n;
  if (n == 0)
    return COCABO_OK;
  const char **names = cb_calloc(n, sizeof(char *)),
             **values = cb_calloc(n, sizeof(char *));
  for (size_t i = 0; names && values && i < n; i++) {
    names[i] = spec->options.items[i].name;
    values[i] = spec->options.items[i].value;
  }
  const cocabo_status status = names && values
                                   ? cocabo_study_change(study, names, values, n, err)
                                   : cb_no_memory(err);
  cb_free(names);
  cb_free(values);
  return status;
}

/* ---- creating and resuming ------------------------------------------------------- */

/* What is put into a study, new or old. */
typedef struct filling {
  cli_fill_fn fill; /* NULL: nothing */
  void *user;
  const cli_common *common; /* for notes about it */
} filling;

static cocabo_status fill(const filling *what, cocabo_study *study, cocabo_error *err) {
  return what->fill ? what->fill(what->user, study, err) : COCABO_OK;
}

/* A command that no trial could run is not kept. */
static cocabo_status check_command(const cli_spec *spec, const cocabo_space *space,
                                   cocabo_error *err) {
  return spec->command ? cli_template_check(spec->command, space, err) : COCABO_OK;
}

/* Everything is made in memory, so that the study appears complete or not at all. */
static cocabo_status create(const cli_spec *spec, const char *name, const filling *what,
                            cli_session *session, cocabo_error *err) {
  cocabo_options *options;
  cocabo_study *study = NULL;
  CB_TRY(cli_spec_options(spec, &options, err));
  cocabo_status status =
      cocabo_study_create(&study, name, spec->space, options, NULL, err);
  cocabo_options_free(options);
  if (status == COCABO_OK)
    status = keep(spec, what->common, study, err);
  if (status == COCABO_OK)
    status = fill(what, study, err);
  if (status == COCABO_OK)
    status = cocabo_study_copy(study, name, session->store, err);
  cocabo_study_free(study);
  CB_TRY(status);
  return cocabo_study_open(&session->study, name, session->store, err);
}

/* The study is open. */
static cocabo_status resume(const cli_spec *spec, const filling *what,
                            cli_session *session, cocabo_error *err) {
  CB_TRY(compare(spec, session, err));
  CB_TRY(check_command(spec, cocabo_study_space(session->study), err));
  CB_TRY(change_options(spec, session->study, err));
  CB_TRY(keep(spec, what->common, session->study, err));
  return fill(what, session->study, err);
}

/* Another process may create the same study between our look and our try. */
static cocabo_status create_or_resume(const cli_spec *spec, const char *name,
                                      const filling *what, cli_session *session,
                                      bool *created, cocabo_error *err) {
  cocabo_status status = cocabo_study_open(&session->study, name, session->store, err);
  if (status == COCABO_E_NOT_FOUND) {
    status = create(spec, name, what, session, err);
    *created = status == COCABO_OK;
  }
  if (status == COCABO_E_EXISTS)
    status = cocabo_study_open(&session->study, name, session->store, err);
  CB_TRY(status);
  return *created ? COCABO_OK : resume(spec, what, session, err);
}

static cocabo_status no_parameters(const char *name, cocabo_error *err) {
  char shown[CB_SHOWN];
  return cb_fail(err, COCABO_E_NOT_FOUND,
                 "no study \"%s\" yet and no parameters for it, want "
                 "-p 'NAME=DOMAIN' or -f FILE",
                 cb_text_show(shown, name));
}

/* Without parameters it can only go on with a study: the one that every command means.
 */
static cocabo_status go_on(const cli_spec *spec, const cli_common *named,
                           const filling *what, cli_session *session,
                           cocabo_error *err) {
  const char *name = cli_study(named);
  cocabo_status status = cli_open_store(session, named, 0, err);
  if (status == COCABO_OK)
    status = cli_find_study(session, named, err);
  if (status == COCABO_E_NOT_FOUND)
    return no_parameters(name ? name : CLI_DEFAULT_STUDY, err);
  CB_TRY(status);
  return resume(spec, what, session, err);
}

/* What the flags and the file say together. With parameters it may be a new study,
 * which has our name where nobody says another: the only study there is may be
 * anything. */
static cli_common name_study(const cli_spec *spec, const cli_common *common) {
  cli_common named = *common;
  if (!named.study)
    named.study = spec->study;
  if (spec->space && !cli_study(&named))
    named.study = CLI_DEFAULT_STUDY;
  return named;
}

/* By chance alone such points are hard to find. */
static void warn_of_rules(const cli_common *common, double share) {
  if (share < 1e-3)
    cli_note(
        common,
        "warning: %.0f of 10000 random points keep the rules, a share of %g: others "
        "are hard to find",
        share * 1e4, share);
}

static cocabo_status open_all(const cli_spec *spec, const cli_common *common,
                              const filling *what, cli_session *session, bool *created,
                              cocabo_error *err) {
  const cli_common named = name_study(spec, common);
  double share;
  *created = false;
  if (!spec->space)
    return go_on(spec, &named, what, session, err);
  /* Before there is a file. */
  CB_TRY(check_command(spec, spec->space, err));
  CB_TRY(cocabo_space_acceptance(spec->space, &share, err));
  CB_TRY(cli_open_store(session, common, COCABO_STORE_CREATE, err));
  CB_TRY(create_or_resume(spec, cli_study(&named), what, session, created, err));
  if (*created)
    warn_of_rules(common, share);
  return COCABO_OK;
}

bool cli_spec_exists(const cli_spec *spec, const cli_common *common) {
  const cli_common named = name_study(spec, common);
  cli_session session;
  cocabo_status status = cli_open_store(&session, &named, COCABO_STORE_READ_ONLY, NULL);
  if (status == COCABO_OK)
    status = cli_find_study(&session, &named, NULL);
  cli_close(&session);
  return status == COCABO_OK;
}

cocabo_status cli_spec_fill(const cli_spec *spec, const cli_common *common,
                            cli_fill_fn fill_fn, void *user, cli_session *session,
                            bool *created, cocabo_error *err) {
  bool is_new;
  const filling what = {.fill = fill_fn, .user = user, .common = common};
  if (spec->notes)
    cli_note(common, "%.*s", (int)strlen(spec->notes) - 1, spec->notes);
  *session = (cli_session){0};
  const cocabo_status status = open_all(spec, common, &what, session, &is_new, err);
  if (status != COCABO_OK)
    cli_close(session);
  else if (created)
    *created = is_new;
  return status;
}

cocabo_status cli_spec_open(const cli_spec *spec, const cli_common *common,
                            cli_session *session, bool *created, cocabo_error *err) {
  return cli_spec_fill(spec, common, NULL, NULL, session, created, err);
}

/* ---- recalling ------------------------------------------------------------------- */

/* What we wrote ourselves; another hand's text that is no number stays unsaid. */
static void recall_whole(const char *text, int64_t *out) {
  int64_t value;
  if (*out < 0 && text && cb_parse_int(text, &value) && value >= 0)
    *out = value;
}

static void recall_seconds(const char *text, double *out) {
  double value;
  if (isnan(*out) && text && cb_parse_number(text, &value) && value >= 0.0 &&
      value <= FRONT_MAX_SECONDS)
    *out = value;
}

static void recall_target(const char *text, double *out) {
  double value;
  if (isnan(*out) && text && cli_read_target(text, &value))
    *out = value;
}

static cocabo_status recall_limit(const char *text, char **out, cocabo_error *err) {
  if (*out || !text)
    return COCABO_OK;
  const cocabo_status status = cli_read_quota(text, out, err);
  return status == COCABO_E_NO_MEMORY ? status : COCABO_OK;
}

/* What we wrote ourselves; another hand's text that is none of it stays unsaid. */
static cocabo_status recall_metrics(const char *json, cli_pairs *out,
                                    cocabo_error *err) {
  cb_json_tree kept = {0};
  cocabo_status status = COCABO_OK;
  if (out->n > 0 || !json)
    return COCABO_OK;
  const bool read = cb_json_read_all(&kept, json, strlen(json), NULL) == COCABO_OK;
  const cb_json_node *all = read ? kept.nodes : NULL;
  for (const cb_json_node *item = cb_json_first(all);
       cb_json_is(all, CB_JSON_OBJECT) && item && status == COCABO_OK;
       item = cb_json_next(all, item)) {
    const char *expression = cb_json_text(item);
    if (expression && out->n < COCABO_MAX_METRICS &&
        cli_check_metric(item->key, expression, NULL) == COCABO_OK)
      status = cli_pairs_set(out, item->key, expression, err);
  }
  cb_json_tree_free(&kept);
  return status;
}

static cocabo_status recall_objective(const cocabo_study *study, char **out,
                                      cocabo_error *err) {
  if (*out || !cocabo_study_attr(study, "objective"))
    return COCABO_OK;
  *out = cb_strdup(cli_objective(study));
  return *out ? COCABO_OK : cb_no_memory(err);
}

cocabo_status cli_spec_recall(cli_spec *spec, const cocabo_study *study,
                              cocabo_error *err) {
  CB_TRY(recall_metrics(cocabo_study_attr(study, "metrics"), &spec->metrics, err));
  CB_TRY(recall_objective(study, &spec->objective, err));
  const char *command = cocabo_study_attr(study, "command");
  if (!spec->command && command)
    CB_TRY(words_from_json(command, &spec->command, err));
  recall_whole(cocabo_study_option(study, "trials"), &spec->trials);
  recall_whole(cocabo_study_option(study, "runs"), &spec->runs);
  recall_whole(cocabo_study_attr(study, "workers"), &spec->workers);
  recall_whole(cocabo_study_attr(study, "retries"), &spec->retries);
  recall_target(cocabo_study_attr(study, "target"), &spec->target);
  recall_whole(cocabo_study_attr(study, "patience"), &spec->patience);
  recall_whole(cocabo_study_attr(study, "max_failures"), &spec->max_failures);
  recall_whole(cocabo_study_attr(study, "warmup"), &spec->warmup);
  int64_t pin = spec->pin;
  recall_whole(cocabo_study_attr(study, "pin"), &pin);
  spec->pin = pin > 0 ? 1 : (int)pin;
  CB_TRY(recall_limit(cocabo_study_attr(study, "limit"), &spec->limit, err));
  recall_seconds(cocabo_study_attr(study, "timeout"), &spec->timeout);
  recall_seconds(cocabo_study_attr(study, "trial_timeout"), &spec->trial_timeout);
  return COCABO_OK;
}
