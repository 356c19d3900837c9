/* documents.c - what the documents share, and those of the program, the list and a
 * study. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "http/call.h"

/* ---- shared ---------------------------------------------------------------------- */

void http_put_seq(http_call *call) {
  http_put_integer(&call->json, "seq", call->study->seq);
}

void http_put_states(http_json *json, const int64_t states[COCABO_STALE + 1]) {
  http_open(json, '{');
  for (int i = 0; i <= COCABO_STALE; i++)
    http_put_integer(json, cocabo_state_name((cocabo_trial_state)i), states[i]);
  http_close(json, '}');
}

void http_count_states(const cocabo_study *study, int64_t states[COCABO_STALE + 1]) {
  for (int i = 0; i <= COCABO_STALE; i++)
    states[i] = cocabo_study_count_state(study, (cocabo_trial_state)i);
}

bool http_maximizes(const cocabo_study *study) {
  return strcmp(cocabo_study_option(study, "direction"), "maximize") == 0;
}

bool http_is_noisy(const cocabo_study *study) {
  return strcmp(cocabo_study_option(study, "deterministic"), "false") == 0;
}

bool http_is_constrained(const http_study *study) {
  const char *text = study->constraints;
  return text && text[strspn(text, " \t\r\n")] != '\0';
}

static void put_pair(http_json *json, int64_t number, double value, bool feasible) {
  http_open(json, '{');
  http_put_integer(json, "number", number);
  http_put_real(json, "value", value);
  http_put_flag(json, "feasible", feasible);
  http_close(json, '}');
}

cocabo_status http_put_best_pair(http_json *json, cocabo_study *study,
                                 cocabo_error *err) {
  cocabo_trial *trial;
  const cocabo_status status =
      http_is_noisy(study) ? COCABO_E_NOT_FOUND : cocabo_study_best(study, &trial, err);
  if (status == COCABO_E_NOT_FOUND) {
    http_word(json, "null");
    return COCABO_OK;
  }
  CB_TRY(status);
  put_pair(json, cocabo_trial_number(trial), cocabo_trial_value(trial),
           cocabo_trial_feasible(trial) == 1);
  cocabo_trial_free(trial);
  return COCABO_OK;
}

/* ---- columns of all trials ------------------------------------------------------- */

cocabo_status http_table_read(http_table *out, const http_study *study, bool params,
                              cocabo_error *err) {
  const size_t n = (size_t)study->n,
               d = cocabo_space_count(cocabo_study_space(study->handle));
  const size_t doubles = n * (2 + (params ? d : 0));
  *out = (http_table){0};
  double *block = cb_calloc(1, doubles * sizeof *block + n * sizeof *out->states);
  if (!block)
    return cb_no_memory(err);
  *out = (http_table){.n = n,
                      .d = d,
                      .values = block,
                      .finished = block + n,
                      .params = params ? block + 2 * n : NULL,
                      .states = (int32_t *)(void *)(block + doubles)};
  const cocabo_columns columns = {.states = out->states,
                                  .values = out->values,
                                  .finished = out->finished,
                                  .params = out->params};
  const cocabo_status status =
      n > 0 ? cocabo_study_columns(study->handle, 0, n, &columns, err) : COCABO_OK;
  if (status != COCABO_OK)
    http_table_free(out);
  return status;
}

void http_table_free(http_table *table) {
  cb_free(table->values);
  *table = (http_table){0};
}

bool http_is_candidate(const http_study *study, const http_table *table, size_t i) {
  return table->states[i] == COCABO_COMPLETE &&
         (study->feasible[i] == 1 || !http_is_constrained(study));
}

/* ---- the program ----------------------------------------------------------------- */

static double time_of_day(void) {
  struct timespec t;
  clock_gettime(CLOCK_REALTIME, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

cocabo_status http_doc_program(http_call *call, cocabo_error *err) {
  http_json *json = &call->json;
  char version[32];
  (void)err;
  snprintf(version, sizeof version, "%d.%d.%d", COCABO_VERSION_MAJOR,
           COCABO_VERSION_MINOR, COCABO_VERSION_PATCH);
  http_open(json, '{');
  http_put_text(json, "program", "cocabo");
  http_put_text(json, "version", version);
  http_put_flag(json, "live", call->site->settings->live);
  http_put_flag(json, "allow_tell", call->site->settings->allow_tell);
  http_put_flag(json, "allow_store", call->site->settings->allow_store);
  http_put_text(json, "storage", call->site->settings->storage);
  http_put_time(json, "time", time_of_day());
  http_close(json, '}');
  call->response->changing = true;
  return COCABO_OK;
}

/* ---- the list -------------------------------------------------------------------- */

enum { SPARK = 64 };

/* Improvements, evenly thinned; the first and the last stay. */
static cocabo_status put_spark(http_json *json, const http_study *study,
                               cocabo_error *err) {
  http_table t;
  CB_TRY(http_table_read(&t, study, false, err));
  const bool maximize = http_maximizes(study->handle);
  size_t *steps = cb_calloc(t.n, sizeof *steps), n = 0;
  for (size_t i = 0; i < t.n && steps; i++)
    if (http_is_candidate(study, &t, i) &&
        (n == 0 || http_better(maximize, t.values[i], t.values[steps[n - 1]])))
      steps[n++] = i;
  http_open(json, '[');
  const size_t shown = n < SPARK ? n : SPARK;
  for (size_t k = 0; k < shown && steps; k++) {
    const size_t i = steps[shown > 1 ? k * (n - 1) / (shown - 1) : 0];
    http_open(json, '[');
    http_integer(json, (int64_t)i);
    http_rounded(json, t.values[i], 7);
    http_close(json, ']');
  }
  http_close(json, ']');
  http_table_free(&t);
  cb_free(steps);
  return steps ? COCABO_OK : cb_no_memory(err);
}

static void put_description(http_json *json, const char *name,
                            const cocabo_description *d) {
  int64_t count = 0;
  for (int i = 0; i <= COCABO_STALE; i++)
    count += d->states[i];
  http_put_text(json, "name", name);
  http_put_text(json, "direction", d->maximize ? "maximize" : "minimize");
  http_put_text(json, "sampler", d->sampler);
  http_put_flag(json, "deterministic", d->deterministic);
  http_put_integer(json, "parameters", d->parameters);
  http_key(json, "states");
  http_put_states(json, d->states);
  http_put_integer(json, "count", count);
  http_key(json, "best");
  if (d->best >= 0)
    put_pair(json, d->best, d->value, d->feasible == 1);
  else
    http_word(json, "null");
  http_put_flag(json, "constrained", d->constrained);
  http_put_time(json, "created", d->first);
  http_put_time(json, "last", d->last);
}

/* Of this thread: a busy machine must not look like a long log. */
static double processor_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* What had to be read whole is kept open, so that it need not be the next time. */
static cocabo_status describe(http_site *site, const char *name,
                              cocabo_description *out, http_study **open,
                              cocabo_error *err) {
  const double start = processor_time();
  *open = http_site_peek(site, name);
  if (*open) {
    CB_TRY(http_site_study(site, name, open, err));
    return cocabo_study_describe((*open)->handle, out, err);
  }
  CB_TRY(cocabo_store_describe(site->store, name, out, err));
  return processor_time() - start > 0.005 ? http_site_study(site, name, open, err)
                                          : COCABO_OK;
}

/* A study that is deleted meanwhile, or damaged, is left out or says why. */
cocabo_status http_put_listed(http_call *call, const char *name, cocabo_error *err) {
  http_json *json = &call->json;
  cocabo_description d;
  http_study *open;
  cocabo_error why;
  const cocabo_status status = describe(call->site, name, &d, &open, &why);
  if (status == COCABO_E_NOT_FOUND)
    return COCABO_OK;
  http_open(json, '{');
  if (status != COCABO_OK) {
    http_put_text(json, "name", name);
    http_put_text(json, "error", why.message);
  } else {
    put_description(json, name, &d);
    http_key(json, "spark");
    if (open)
      CB_TRY(put_spark(json, open, err));
    else
      http_word(json, "null");
  }
  http_close(json, '}');
  return COCABO_OK;
}

cocabo_status http_doc_studies(http_call *call, cocabo_error *err) {
  cocabo_names *names;
  int64_t limit = 1000, offset = 0;
  CB_TRY(http_query_int(call->target, "limit", 1, 10000, &limit, err));
  CB_TRY(http_query_int(call->target, "offset", 0, INT32_MAX, &offset, err));
  CB_TRY(cocabo_store_studies(call->site->store, &names, err));
  const int64_t total = (int64_t)cocabo_names_count(names);
  cocabo_status status = COCABO_OK;
  http_open(&call->json, '{');
  http_put_integer(&call->json, "total", total);
  http_key(&call->json, "studies");
  http_open(&call->json, '[');
  for (int64_t i = offset; i < total && i - offset < limit && status == COCABO_OK; i++)
    status = http_put_listed(call, cocabo_names_at(names, (size_t)i), err);
  http_close(&call->json, ']');
  http_close(&call->json, '}');
  cocabo_names_free(names);
  call->response->changing = true;
  return status;
}

/* ---- a study --------------------------------------------------------------------- */

static const char *kind_name(cocabo_kind kind) {
  static const char *const names[] = {"float", "int", "choice", "ordinal"};
  return names[kind];
}

static void put_range(http_json *json, const cocabo_space *space, size_t i) {
  double low, high, step;
  int log;
  if (cocabo_space_get_range(space, i, &low, &high, &step, &log, NULL) != COCABO_OK)
    return;
  http_put_real(json, "low", low);
  http_put_real(json, "high", high);
  http_put_real(json, "step", step);
  http_put_flag(json, "log", log == 1);
}

static void put_choices(http_json *json, const cocabo_space *space, size_t i) {
  http_key(json, "choices");
  http_open(json, '[');
  for (size_t k = 0; k < cocabo_space_choices(space, i); k++) {
    cocabo_value value;
    if (cocabo_space_get_choice(space, i, k, &value, NULL) == COCABO_OK)
      http_value(json, &value);
  }
  http_close(json, ']');
}

static cocabo_status put_parameter(http_json *json, const cocabo_space *space, size_t i,
                                   cocabo_error *err) {
  const char *condition = cocabo_space_get_condition(space, i);
  char *domain = cocabo_space_domain(space, i);
  if (!domain)
    return cb_no_memory(err);
  if (condition) /* what is behind the domain */
    domain[strlen(domain) - strlen(condition) - strlen(" if ")] = '\0';
  http_open(json, '{');
  http_put_text(json, "name", cocabo_space_name(space, i));
  http_put_text(json, "kind", kind_name(cocabo_space_kind(space, i)));
  http_put_text(json, "domain", domain);
  http_put_text(json, "condition", condition);
  if (cocabo_space_choices(space, i) > 0)
    put_choices(json, space, i);
  else
    put_range(json, space, i);
  http_close(json, '}');
  cocabo_text_free(domain);
  return COCABO_OK;
}

static cocabo_status put_space(http_json *json, const cocabo_space *space,
                               cocabo_error *err) {
  http_key(json, "space");
  http_open(json, '{');
  http_key(json, "parameters");
  http_open(json, '[');
  for (size_t i = 0; i < cocabo_space_count(space); i++)
    CB_TRY(put_parameter(json, space, i, err));
  http_close(json, ']');
  http_key(json, "rules");
  http_open(json, '[');
  const char *rule;
  for (size_t k = 0; (rule = cocabo_space_get_rule(space, k)); k++)
    http_text(json, rule);
  http_close(json, ']');
  http_close(json, '}');
  return COCABO_OK;
}

static void put_options(http_json *json, const cocabo_study *study) {
  http_key(json, "options");
  http_open(json, '{');
  const char *name;
  for (size_t i = 0; (name = cocabo_option_name(i)); i++)
    http_put_text(json, name, cocabo_study_option(study, name));
  http_close(json, '}');
}

/* "a < 1, b >= 2" as a list. */
static void put_constraints(http_json *json, const http_study *study) {
  const char *text = http_is_constrained(study) ? study->constraints : "";
  http_key(json, "constraints");
  http_open(json, '[');
  while (*text) {
    text += strspn(text, ", ");
    const size_t size = strcspn(text, ",");
    if (size > 0)
      http_text_part(json, text, size);
    text += size;
  }
  http_close(json, ']');
}

/* The words are stored as a JSON list. */
static void put_command(http_json *json, const cocabo_study *study) {
  const char *command = cocabo_study_attr(study, "command");
  cb_json_tree tree = {0};
  http_key(json, "command");
  if (command && cb_json_read_all(&tree, command, strlen(command), NULL) == COCABO_OK &&
      tree.nodes->type == CB_JSON_ARRAY)
    http_word(json, command);
  else
    http_word(json, "null");
  cb_json_tree_free(&tree);
}

static void put_head(http_call *call, const cocabo_study *study) {
  http_json *json = &call->json;
  int64_t states[COCABO_STALE + 1], budget = 0;
  const char *objective = cocabo_study_attr(study, "objective");
  const char *trials = cocabo_study_option(study, "trials");
  http_count_states(study, states);
  http_put_text(json, "name", call->study->name);
  http_put_seq(call);
  http_put_text(json, "direction", cocabo_study_option(study, "direction"));
  http_put_text(json, "sampler", cocabo_study_option(study, "sampler"));
  http_put_flag(json, "deterministic", !http_is_noisy(study));
  http_put_text(json, "objective", objective ? objective : "value");
  http_key(json, "budget");
  if (trials && cb_parse_int(trials, &budget) && budget > 0)
    http_integer(json, budget);
  else
    http_word(json, "null");
  http_put_integer(json, "count", call->study->n);
  http_key(json, "states");
  http_put_states(json, states);
  put_constraints(json, call->study);
  http_key(json, "metrics");
  http_open(json, '[');
  for (size_t i = 0; i < call->study->n_metrics; i++)
    http_text(json, call->study->metrics[i]);
  http_close(json, ']');
}

/* The best of noisy values is the model's to say: /best. */
static cocabo_status put_best(http_call *call, cocabo_error *err) {
  cocabo_trial *trial;
  http_key(&call->json, "best");
  const cocabo_status status =
      http_is_noisy(call->study->handle)
          ? COCABO_E_NOT_FOUND
          : cocabo_study_best(call->study->handle, &trial, err);
  if (status == COCABO_E_NOT_FOUND) {
    http_word(&call->json, "null");
    return COCABO_OK;
  }
  CB_TRY(status);
  http_put_trial(call, trial);
  cocabo_trial_free(trial);
  return COCABO_OK;
}

cocabo_status http_doc_study(http_call *call, cocabo_error *err) {
  const cocabo_study *study = call->study->handle;
  http_open(&call->json, '{');
  put_head(call, study);
  CB_TRY(put_best(call, err));
  put_options(&call->json, study);
  put_command(&call->json, study);
  CB_TRY(put_space(&call->json, cocabo_study_space(study), err));
  http_close(&call->json, '}');
  return COCABO_OK;
}
