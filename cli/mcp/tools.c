/* tools.c - the tools themselves. A study is opened for every call: an agent calls
 * seldom, and others may work on the study in between. */
#include "mcp/tools.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/json.h"
#include "io/best.h"
#include "io/metrics.h"
#include "io/output.h"

/* ---- arguments ------------------------------------------------------------------- */

static cocabo_status want_text(const cb_json_node *args, const char *key,
                               const char **out, cocabo_error *err) {
  *out = cb_json_text(cb_json_find(args, key));
  return *out ? COCABO_OK
              : cb_fail(err, COCABO_E_INVALID, "there is no text \"%s\"", key);
}

static cocabo_status get_whole(const cb_json_node *args, const char *key, int64_t low,
                               int64_t high, int64_t *out, cocabo_error *err) {
  const cb_json_node *node = cb_json_find(args, key);
  if (!node)
    return COCABO_OK;
  if (node->type != CB_JSON_INTEGER || node->value.as.integer < low ||
      node->value.as.integer > high)
    return cb_fail(err, COCABO_E_INVALID,
                   "\"%s\" is no whole number from %" PRId64 " to %" PRId64, key, low,
                   high);
  *out = node->value.as.integer;
  return COCABO_OK;
}

static cocabo_status open_study(cocabo_store *store, const cb_json_node *args,
                                cocabo_study **out, cocabo_error *err) {
  const char *name = NULL;
  CB_TRY(want_text(args, "study", &name, err));
  return cocabo_study_open(out, name, store, err);
}

/* A call on the study that the arguments name. */
typedef cocabo_status (*study_fn)(cocabo_study *study, const cb_json_node *args,
                                  front_buffer *out, cocabo_error *err);

static cocabo_status with_study(cocabo_store *store, const cb_json_node *args,
                                study_fn call, front_buffer *out, cocabo_error *err) {
  cocabo_study *study = NULL;
  CB_TRY(open_study(store, args, &study, err));
  const cocabo_status status = call(study, args, out, err);
  cocabo_study_free(study);
  return status;
}

/* ---- create ---------------------------------------------------------------------- */

/* Domains as text: {"lr": "float(1e-5,0.1,log)"}. */
static cocabo_status read_space(const cb_json_node *args, cocabo_space *space,
                                cocabo_error *err) {
  char shown[CB_SHOWN];
  const cb_json_node *list = cb_json_find(args, "parameters");
  const cb_json_node *rules = cb_json_find(args, "where");
  if (!cb_json_is(list, CB_JSON_OBJECT) || list->items == 0)
    return cb_fail(err, COCABO_E_INVALID,
                   "there is no object \"parameters\", want {\"lr\": "
                   "\"float(1e-5,0.1,log)\"}");
  for (const cb_json_node *p = cb_json_first(list); p; p = cb_json_next(list, p)) {
    const char *domain = cb_json_text(p);
    if (!domain)
      return cb_fail(err, COCABO_E_INVALID,
                     "parameter \"%s\" has no text for a domain, want one such as "
                     "\"int(1,8)\"",
                     cb_text_show(shown, p->key));
    CB_TRY(cocabo_space_add(space, p->key, domain, err));
  }
  for (const cb_json_node *r = cb_json_first(rules); r; r = cb_json_next(rules, r)) {
    if (!cb_json_text(r))
      return cb_fail(err, COCABO_E_INVALID, "a rule of \"where\" is no text");
    CB_TRY(cocabo_space_rule(space, cb_json_text(r), err));
  }
  return COCABO_OK;
}

static cocabo_status set_option(cocabo_options *options, const char *name,
                                const cb_json_node *node, cocabo_error *err) {
  front_buffer text = {0};
  if (node->type == CB_JSON_ARRAY || node->type == CB_JSON_OBJECT)
    return cb_fail(err, COCABO_E_INVALID, "option %s is no single value", name);
  cocabo_status status = cli_put_plain_value(&text, &node->value, err);
  const char *value = status == COCABO_OK ? front_buffer_text(&text, err) : NULL;
  if (status == COCABO_OK)
    status = value ? cocabo_options_set(options, name, value, err) : COCABO_E_NO_MEMORY;
  front_buffer_free(&text);
  return status;
}

static cocabo_status read_options(const cb_json_node *args, cocabo_options *options,
                                  cocabo_error *err) {
  static const char *const own[] = {"direction", "trials", "seed"};
  const cb_json_node *list = cb_json_find(args, "options");
  for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
    if (cb_json_find(args, own[i]))
      CB_TRY(set_option(options, own[i], cb_json_find(args, own[i]), err));
  for (const cb_json_node *o = cb_json_first(list); o; o = cb_json_next(list, o))
    CB_TRY(set_option(options, o->key, o, err));
  return COCABO_OK;
}

static cocabo_status create_study(cocabo_store *store, const cb_json_node *args,
                                  front_buffer *out, cocabo_error *err) {
  const char *name = NULL;
  cocabo_study *study = NULL;
  CB_TRY(want_text(args, "study", &name, err));
  cocabo_space *space = cocabo_space_new();
  cocabo_options *options = cocabo_options_new();
  cocabo_status status =
      space && options ? read_space(args, space, err) : cb_no_memory(err);
  if (status == COCABO_OK)
    status = read_options(args, options, err);
  if (status == COCABO_OK)
    status = cocabo_study_create(&study, name, space, options, store, err);
  cocabo_study_free(study);
  cocabo_space_free(space);
  cocabo_options_free(options);
  if (status == COCABO_OK)
    status = mcp_put_study(out, store, name, err);
  return status;
}

/* ---- ask and tell ---------------------------------------------------------------- */

static cocabo_status put_trials(front_buffer *out, const cocabo_study *study,
                                cocabo_trial **trials, size_t n, cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{\"trials\":[", err));
  for (size_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_puts(out, i > 0 ? "," : "", err));
    CB_TRY(cli_put_json_trial(out, study, trials[i], err));
  }
  return front_buffer_puts(out, "]}", err);
}

enum { MAX_ASK = 100 };

static cocabo_status ask_study(cocabo_study *study, const cb_json_node *args,
                               front_buffer *out, cocabo_error *err) {
  cocabo_trial *trials[MAX_ASK] = {NULL};
  int64_t n = 1;
  size_t got = 0;
  CB_TRY(get_whole(args, "n", 1, MAX_ASK, &n, err));
  cocabo_status status = cocabo_study_ask_up_to(study, (size_t)n, trials, &got, err);
  if (status == COCABO_OK)
    status = put_trials(out, study, trials, got, err);
  for (size_t i = 0; i < got; i++)
    cocabo_trial_free(trials[i]);
  return status;
}

static cocabo_status ask(cocabo_store *store, const cb_json_node *args,
                         front_buffer *out, cocabo_error *err) {
  return with_study(store, args, ask_study, out, err);
}

static cocabo_status read_metrics(const cb_json_node *args, cocabo_metric *metrics,
                                  size_t *n, cocabo_error *err) {
  char shown[CB_SHOWN];
  const cb_json_node *list = cb_json_find(args, "metrics");
  *n = 0;
  for (const cb_json_node *m = cb_json_first(list); m; m = cb_json_next(list, m)) {
    if (*n == COCABO_MAX_METRICS)
      return cb_fail(err, COCABO_E_RANGE, "there are more than %d metrics",
                     COCABO_MAX_METRICS);
    metrics[*n].name = m->key;
    if (!m->key || !cb_json_number(m, &metrics[(*n)++].value))
      return cb_fail(err, COCABO_E_INVALID, "metric \"%s\" is no number",
                     cb_text_show(shown, m->key ? m->key : ""));
  }
  return COCABO_OK;
}

static cocabo_status put_known(cocabo_study *study, int64_t number, front_buffer *out,
                               cocabo_error *err) {
  cocabo_trial *trial = NULL;
  CB_TRY(cocabo_study_trial(study, number, &trial, err));
  const cocabo_status status = cli_put_json_trial(out, study, trial, err);
  cocabo_trial_free(trial);
  return status;
}

static cocabo_status tell_study(cocabo_study *study, const cb_json_node *args,
                                front_buffer *out, cocabo_error *err) {
  cocabo_metric metrics[COCABO_MAX_METRICS];
  size_t n = 0;
  int64_t number = -1;
  double value = NAN;
  const char *reason = cb_json_text(cb_json_find(args, "reason"));
  CB_TRY(get_whole(args, "number", 0, INT64_MAX, &number, err));
  if (number < 0)
    return cb_fail(err, COCABO_E_INVALID, "there is no \"number\" of a trial");
  const bool valued = cb_json_number(cb_json_find(args, "value"), &value);
  if (valued == (reason != NULL))
    return cb_fail(err, COCABO_E_INVALID,
                   "want a number \"value\" or, where it failed, a text \"reason\"");
  CB_TRY(read_metrics(args, metrics, &n, err));
  CB_TRY(valued ? cocabo_study_tell_metrics(study, number, value, metrics, n, err)
                : cocabo_study_fail(study, number, reason, err));
  return put_known(study, number, out, err);
}

static cocabo_status tell(cocabo_store *store, const cb_json_node *args,
                          front_buffer *out, cocabo_error *err) {
  return with_study(store, args, tell_study, out, err);
}

/* ---- points ---------------------------------------------------------------------- */

/* A point as the space has it: what is not named is absent. 3 is a real where one is
 * wanted. */
static cocabo_status read_point(const cocabo_space *space, const cb_json_node *params,
                                cocabo_value *values, cocabo_error *err) {
  char shown[CB_SHOWN];
  const size_t n = cocabo_space_count(space);
  if (!cb_json_is(params, CB_JSON_OBJECT))
    return cb_fail(err, COCABO_E_INVALID, "a point is no object of parameters");
  for (size_t i = 0; i < n; i++) {
    const cb_json_node *node = cb_json_find(params, cocabo_space_name(space, i));
    values[i] = node ? node->value : cocabo_absent();
    if (node && (node->type == CB_JSON_ARRAY || node->type == CB_JSON_OBJECT))
      return cb_fail(err, COCABO_E_INVALID, "parameter \"%s\" has no single value",
                     cb_text_show(shown, cocabo_space_name(space, i)));
    if (values[i].type == COCABO_INT && cocabo_space_kind(space, i) == COCABO_KIND_REAL)
      values[i] = cocabo_real((double)values[i].as.integer);
  }
  for (const cb_json_node *p = cb_json_first(params); p; p = cb_json_next(params, p)) {
    size_t i = 0;
    while (i < n && strcmp(cocabo_space_name(space, i), p->key) != 0)
      i++;
    if (i == n)
      return cb_fail(err, COCABO_E_NOT_FOUND, "no parameter \"%s\"",
                     cb_text_show(shown, p->key));
  }
  return cocabo_space_check(space, values, n, err);
}

enum { MAX_POINTS = 1000 };

/* n rows of one value a parameter, owned by the caller; "params" of the items or the
 * items themselves. */
static cocabo_status read_points(const cocabo_study *study, const cb_json_node *args,
                                 cocabo_value **out, size_t *n, cocabo_error *err) {
  const cocabo_space *space = cocabo_study_space(study);
  const size_t width = cocabo_space_count(space);
  const cb_json_node *list = cb_json_find(args, "points");
  if (!cb_json_is(list, CB_JSON_ARRAY) || list->items == 0 || list->items > MAX_POINTS)
    return cb_fail(err, COCABO_E_INVALID, "there is no list \"points\" of 1 to %d",
                   MAX_POINTS);
  cocabo_value *values = cb_calloc(list->items * width, sizeof *values);
  if (!values)
    return cb_no_memory(err);
  cocabo_status status = COCABO_OK;
  *n = 0;
  for (const cb_json_node *p = cb_json_first(list); p && status == COCABO_OK;
       p = cb_json_next(list, p)) {
    const cb_json_node *params = cb_json_find(p, "params");
    status = read_point(space, params ? params : p, values + (*n)++ * width, err);
  }
  if (status != COCABO_OK)
    cb_free(values);
  else
    *out = values;
  return status;
}

static cocabo_status add_known(cocabo_study *study, const cb_json_node *args,
                               const cocabo_value *values, size_t n, front_buffer *out,
                               cocabo_error *err) {
  const size_t width = cocabo_space_count(cocabo_study_space(study));
  const cb_json_node *list = cb_json_find(args, "points");
  cocabo_known *known = cb_calloc(n, sizeof *known);
  if (!known)
    return cb_no_memory(err);
  size_t i = 0;
  for (const cb_json_node *p = cb_json_first(list); p; p = cb_json_next(list, p), i++) {
    const bool valued = cb_json_number(cb_json_find(p, "value"), &known[i].value);
    known[i].values = values + i * width;
    known[i].state = valued ? COCABO_COMPLETE : COCABO_WAITING;
  }
  cocabo_status status = cocabo_study_add_many(study, known, n, err);
  if (status == COCABO_OK)
    status = front_buffer_puts(out, "{\"numbers\":[", err);
  for (i = 0; i < n && status == COCABO_OK; i++)
    status =
        front_buffer_printf(out, err, "%s%" PRId64, i > 0 ? "," : "", known[i].number);
  cb_free(known);
  return status == COCABO_OK ? front_buffer_puts(out, "]}", err) : status;
}

static cocabo_status add_study(cocabo_study *study, const cb_json_node *args,
                               front_buffer *out, cocabo_error *err) {
  cocabo_value *values = NULL;
  size_t n = 0;
  CB_TRY(read_points(study, args, &values, &n, err));
  const cocabo_status status = add_known(study, args, values, n, out, err);
  cb_free(values);
  return status;
}

static cocabo_status add_points(cocabo_store *store, const cb_json_node *args,
                                front_buffer *out, cocabo_error *err) {
  return with_study(store, args, add_study, out, err);
}

static cocabo_status put_predictions(front_buffer *out, size_t n, const double *numbers,
                                     cocabo_error *err) {
  static const char *const names[] = {"mean", "sd", "p_feasible"};
  CB_TRY(front_buffer_puts(out, "{\"predictions\":[", err));
  for (size_t i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      CB_TRY(front_buffer_printf(out, err, "%s\"%s\":",
                                 k > 0   ? ","
                                 : i > 0 ? ",{"
                                         : "{",
                                 names[k]));
      CB_TRY(front_put_json_real(out, numbers[(size_t)k * n + i], err));
    }
    CB_TRY(front_buffer_puts(out, "}", err));
  }
  return front_buffer_puts(out, "]}", err);
}

static cocabo_status predict_study(cocabo_study *study, const cb_json_node *args,
                                   front_buffer *out, cocabo_error *err) {
  cocabo_value *values = NULL;
  size_t n = 0;
  CB_TRY(read_points(study, args, &values, &n, err));
  double *numbers = cb_calloc(3 * n, sizeof *numbers);
  cocabo_status status = numbers
                             ? cocabo_study_predict(study, values, n, numbers,
                                                    numbers + n, numbers + 2 * n, err)
                             : cb_no_memory(err);
  if (status == COCABO_OK)
    status = put_predictions(out, n, numbers, err);
  cb_free(numbers);
  cb_free(values);
  return status;
}

static cocabo_status predict(cocabo_store *store, const cb_json_node *args,
                             front_buffer *out, cocabo_error *err) {
  return with_study(store, args, predict_study, out, err);
}

/* ---- looking --------------------------------------------------------------------- */

static cocabo_status best_of(cocabo_study *study, const cb_json_node *args,
                             front_buffer *out, cocabo_error *err) {
  cli_best found;
  (void)args;
  CB_TRY(cli_best_find(&found, study, err));
  const cocabo_status status = cli_put_json_best(out, study, &found, err);
  cli_best_free(&found);
  return status;
}

static cocabo_status best(cocabo_store *store, const cb_json_node *args,
                          front_buffer *out, cocabo_error *err) {
  return with_study(store, args, best_of, out, err);
}

static cocabo_status importance_of(cocabo_study *study, const cb_json_node *args,
                                   front_buffer *out, cocabo_error *err) {
  const cocabo_space *space = cocabo_study_space(study);
  const size_t n = cocabo_space_count(space);
  double share[COCABO_MAX_PARAMETERS], se[COCABO_MAX_PARAMETERS], explained = 0.0;
  (void)args;
  CB_TRY(cocabo_study_importance(study, n, share, se, &explained, err));
  CB_TRY(front_buffer_puts(out, "{\"explained\":", err));
  CB_TRY(front_put_json_real(out, explained, err));
  CB_TRY(front_buffer_puts(out, ",\"importance\":{", err));
  for (size_t i = 0; i < n; i++) {
    CB_TRY(front_buffer_puts(out, i > 0 ? "," : "", err));
    CB_TRY(front_put_json_text(out, cocabo_space_name(space, i), err));
    CB_TRY(front_buffer_puts(out, ":{\"share\":", err));
    CB_TRY(front_put_json_real(out, share[i], err));
    CB_TRY(front_buffer_puts(out, ",\"se\":", err));
    CB_TRY(front_put_json_real(out, se[i], err));
    CB_TRY(front_buffer_puts(out, "}", err));
  }
  return front_buffer_puts(out, "}}", err);
}

static cocabo_status importance(cocabo_store *store, const cb_json_node *args,
                                front_buffer *out, cocabo_error *err) {
  return with_study(store, args, importance_of, out, err);
}

static cocabo_status failures_of(cocabo_study *study, const cb_json_node *args,
                                 front_buffer *out, cocabo_error *err) {
  bool any = false;
  (void)args;
  CB_TRY(front_buffer_puts(out, "{\"failures\":[", err));
  for (int64_t i = 0; i < cocabo_study_count(study); i++) {
    cocabo_trial *trial = NULL;
    CB_TRY(cocabo_study_trial(study, i, &trial, err));
    cocabo_status status = COCABO_OK;
    if (cocabo_trial_get_state(trial) == COCABO_FAILED) {
      status = front_buffer_puts(out, any ? "," : "", err);
      if (status == COCABO_OK)
        status = cli_put_json_trial(out, study, trial, err);
      any = true;
    }
    cocabo_trial_free(trial);
    CB_TRY(status);
  }
  return front_buffer_puts(out, "]}", err);
}

static cocabo_status failures(cocabo_store *store, const cb_json_node *args,
                              front_buffer *out, cocabo_error *err) {
  return with_study(store, args, failures_of, out, err);
}

/* ---- studies --------------------------------------------------------------------- */

static cocabo_status put_described(front_buffer *out, cocabo_store *store,
                                   const char *name, cocabo_error *err) {
  cocabo_description d;
  CB_TRY(cocabo_store_describe(store, name, &d, err));
  CB_TRY(front_buffer_puts(out, "{\"study\":", err));
  CB_TRY(front_put_json_text(out, name, err));
  CB_TRY(front_buffer_printf(
      out, err,
      ",\"direction\":\"%s\",\"complete\":%" PRId64 ",\"failed\":%" PRId64
      ",\"running\":%" PRId64 ",\"best\":",
      d.maximize ? "maximize" : "minimize", d.states[COCABO_COMPLETE],
      d.states[COCABO_FAILED], d.states[COCABO_RUNNING]));
  CB_TRY(front_put_json_real(out, d.best >= 0 ? d.value : NAN, err));
  return front_buffer_puts(out, "}", err);
}

cocabo_status mcp_put_studies(front_buffer *out, cocabo_store *store,
                              cocabo_error *err) {
  cocabo_names *names = NULL;
  CB_TRY(cocabo_store_studies(store, &names, err));
  cocabo_status status = front_buffer_puts(out, "{\"studies\":[", err);
  for (size_t i = 0; i < cocabo_names_count(names) && status == COCABO_OK; i++) {
    status = front_buffer_puts(out, i > 0 ? "," : "", err);
    if (status == COCABO_OK)
      status = put_described(out, store, cocabo_names_at(names, i), err);
  }
  cocabo_names_free(names);
  return status == COCABO_OK ? front_buffer_puts(out, "]}", err) : status;
}

static cocabo_status list_studies(cocabo_store *store, const cb_json_node *args,
                                  front_buffer *out, cocabo_error *err) {
  (void)args;
  return mcp_put_studies(out, store, err);
}

static cocabo_status put_space(front_buffer *out, const cocabo_space *space,
                               cocabo_error *err) {
  const char *rule;
  CB_TRY(front_buffer_puts(out, ",\"parameters\":{", err));
  for (size_t i = 0; i < cocabo_space_count(space); i++) {
    char *domain = cocabo_space_domain(space, i);
    cocabo_status status = domain ? COCABO_OK : cb_no_memory(err);
    if (status == COCABO_OK)
      status = front_buffer_puts(out, i > 0 ? "," : "", err);
    if (status == COCABO_OK)
      status = front_put_json_text(out, cocabo_space_name(space, i), err);
    if (status == COCABO_OK)
      status = front_buffer_puts(out, ":", err);
    if (status == COCABO_OK)
      status = front_put_json_text(out, domain, err);
    cocabo_text_free(domain);
    CB_TRY(status);
  }
  CB_TRY(front_buffer_puts(out, "},\"where\":[", err));
  for (size_t k = 0; (rule = cocabo_space_get_rule(space, k)); k++) {
    CB_TRY(front_buffer_puts(out, k > 0 ? "," : "", err));
    CB_TRY(front_put_json_text(out, rule, err));
  }
  return front_buffer_puts(out, "]", err);
}

static cocabo_status put_open_study(front_buffer *out, const cocabo_study *study,
                                    cocabo_error *err) {
  CB_TRY(front_buffer_puts(out, "{\"study\":", err));
  CB_TRY(front_put_json_text(out, cocabo_study_name(study), err));
  CB_TRY(put_space(out, cocabo_study_space(study), err));
  CB_TRY(front_buffer_puts(out, ",\"options\":{", err));
  for (size_t i = 0; cocabo_option_name(i); i++) {
    CB_TRY(front_buffer_printf(out, err, "%s\"%s\":", i > 0 ? "," : "",
                               cocabo_option_name(i)));
    CB_TRY(front_put_json_text(out, cocabo_study_option(study, cocabo_option_name(i)),
                               err));
  }
  CB_TRY(front_buffer_puts(out, "},\"trials\":[", err));
  for (int64_t i = 0; i < cocabo_study_count(study); i++) {
    cocabo_trial *trial = NULL;
    CB_TRY(cocabo_study_trial(study, i, &trial, err));
    cocabo_status status = front_buffer_puts(out, i > 0 ? "," : "", err);
    if (status == COCABO_OK)
      status = cli_put_json_trial(out, study, trial, err);
    cocabo_trial_free(trial);
    CB_TRY(status);
  }
  return front_buffer_puts(out, "]}", err);
}

cocabo_status mcp_put_study(front_buffer *out, cocabo_store *store, const char *name,
                            cocabo_error *err) {
  cocabo_study *study = NULL;
  CB_TRY(cocabo_study_open(&study, name, store, err));
  const cocabo_status status = put_open_study(out, study, err);
  cocabo_study_free(study);
  return status;
}

/* ---- the table ------------------------------------------------------------------- */

#define OBJECT(properties, required)                                                   \
  "{\"type\":\"object\",\"properties\":{" properties "},\"required\":[" required       \
  "],\"additionalProperties\":false}"
#define STUDY "\"study\":{\"type\":\"string\",\"description\":\"name of the study\"}"

static const mcp_tool tools[] = {
    {"list_studies", "Lists the studies with their counts of trials and best values.",
     OBJECT("", ""), 0, list_studies},
    {"create_study",
     "Creates a study: parameters by name with their domains as text, such as "
     "float(1e-5,0.1,log), int(1,8), choice(adam,sgd), ordinal(small,large), each "
     "with an optional condition as in 'int(2,5) if kernel == poly'; where: rules such "
     "as 'lc + lp <= 4'.",
     OBJECT(
         STUDY
         ",\"parameters\":{\"type\":\"object\",\"additionalProperties\":{\"type\":"
         "\"string\"}},\"where\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}}"
         ",\"direction\":{\"enum\":[\"minimize\",\"maximize\"]},\"trials\":{\"type\":"
         "\"integer\"},\"seed\":{\"type\":\"integer\"},\"options\":{\"type\":"
         "\"object\"}",
         "\"study\",\"parameters\""),
     1, create_study},
    {"ask", "Proposes n points to evaluate next (1), as trials with numbers.",
     OBJECT(STUDY ",\"n\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100}",
            "\"study\""),
     1, ask},
    {"tell",
     "Records the value of a trial, with metrics if there are any; or, with a reason "
     "in place of the value, that it failed.",
     OBJECT(STUDY ",\"number\":{\"type\":\"integer\"},\"value\":{\"type\":\"number\"},"
                  "\"reason\":{\"type\":\"string\"},\"metrics\":{\"type\":\"object\","
                  "\"additionalProperties\":{\"type\":\"number\"}}",
            "\"study\",\"number\""),
     1, tell},
    {"add_points",
     "Adds points that are known (with a value) or shall be tried next (without).",
     OBJECT(STUDY
            ",\"points\":{\"type\":\"array\",\"items\":{\"type\":\"object\","
            "\"properties\":{\"params\":{\"type\":\"object\"},\"value\":{\"type\":"
            "\"number\"}},\"required\":[\"params\"]}}",
            "\"study\",\"points\""),
     1, add_points},
    {"best",
     "The best trial so far, and where values are noisy what is expected of it.",
     OBJECT(STUDY, "\"study\""), 0, best},
    {"importance", "How much of the variation of the values each parameter explains.",
     OBJECT(STUDY, "\"study\""), 0, importance},
    {"predict",
     "What the model predicts at points: mean, deviation, probability of being "
     "feasible.",
     OBJECT(STUDY ",\"points\":{\"type\":\"array\",\"items\":{\"type\":\"object\"}}",
            "\"study\",\"points\""),
     0, predict},
    {"failures", "The trials that failed, with their reasons.",
     OBJECT(STUDY, "\"study\""), 0, failures},
};

const mcp_tool *mcp_tool_at(size_t i) {
  return i < sizeof tools / sizeof tools[0] ? &tools[i] : NULL;
}
