/* telling.c - what workers ask and tell over HTTP. No route changes a study's options,
 * attributes or command. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "http/call.h"

enum { MAX_ASK = 1000 };

/* ---- reading the content --------------------------------------------------------- */

/* An object with these members only; `names` is ended by NULL. */
static cocabo_status read_content(const http_call *call, const char *const *names,
                                  cb_json_tree *tree, cocabo_error *err) {
  char shown[CB_SHOWN];
  const http_request *r = call->request;
  CB_TRY(cb_json_read_all(tree, r->body ? r->body : "", r->size, err));
  if (tree->nodes->type != CB_JSON_OBJECT)
    return cb_fail(err, COCABO_E_INVALID, "the content is no object, want {...}");
  for (const cb_json_node *m = cb_json_first(tree->nodes); m;
       m = cb_json_next(tree->nodes, m)) {
    int i = 0;
    while (names[i] && strcmp(names[i], m->key) != 0)
      i++;
    if (!names[i])
      return cb_fail(err, COCABO_E_INVALID, "the content has an unknown \"%s\"",
                     cb_text_show(shown, m->key));
  }
  return COCABO_OK;
}

/* JSON has one kind of number: 3.0 is 3, as some languages write it. */
static bool is_whole(const cb_json_node *node, int64_t *out) {
  const double most = 9007199254740992.0; /* 2^53: from there on doubles have gaps */
  double number;
  if (node->type == CB_JSON_INTEGER) {
    *out = node->value.as.integer;
    return true;
  }
  if (!cb_json_number(node, &number) || number != rint(number) || fabs(number) > most)
    return false;
  *out = (int64_t)number;
  return true;
}

static cocabo_status get_int(const cb_json_node *object, const char *key, int64_t low,
                             int64_t high, int64_t *out, cocabo_error *err) {
  const cb_json_node *node = cb_json_find(object, key);
  int64_t number;
  if (!node)
    return COCABO_OK;
  if (!is_whole(node, &number) || number < low || number > high)
    return cb_fail(err, COCABO_E_INVALID,
                   "%s is no whole number from %" PRId64 " to %" PRId64, key, low,
                   high);
  *out = number;
  return COCABO_OK;
}

static cocabo_status get_number(const cb_json_node *object, int64_t *out,
                                cocabo_error *err) {
  *out = -1;
  CB_TRY(get_int(object, "number", 0, INT64_MAX, out, err));
  return *out < 0 ? cb_fail(err, COCABO_E_INVALID,
                            "the content has no \"number\", want that of a trial")
                  : COCABO_OK;
}

static cocabo_status get_value(const cb_json_node *object, double *out,
                               cocabo_error *err) {
  if (cb_json_number(cb_json_find(object, "value"), out))
    return COCABO_OK;
  return cb_fail(err, COCABO_E_INVALID, "the content has no \"value\", want a number");
}

static cocabo_status get_text(const cb_json_node *object, const char *key,
                              const char **out, cocabo_error *err) {
  const cb_json_node *node = cb_json_find(object, key);
  if (!node)
    return COCABO_OK;
  if (!(*out = cb_json_text(node)))
    return cb_fail(err, COCABO_E_INVALID, "%s is no text", key);
  return COCABO_OK;
}

/* ---- answers --------------------------------------------------------------------- */

/* What has become of the trial. */
static cocabo_status say_trial(http_call *call, int64_t number, cocabo_error *err) {
  cocabo_trial *trial;
  cocabo_study *study = call->study->handle;
  CB_TRY(cocabo_study_trial(study, number, &trial, err));
  http_open(&call->json, '{');
  http_put_integer(&call->json, "number", number);
  http_put_text(&call->json, "state", cocabo_state_name(cocabo_trial_get_state(trial)));
  http_put_integer(&call->json, "seq", cocabo_study_seq(study));
  http_close(&call->json, '}');
  cocabo_trial_free(trial);
  return COCABO_OK;
}

/* ---- ask ------------------------------------------------------------------------- */

static cocabo_status ask(http_call *call, size_t n, cocabo_trial **trials,
                         cocabo_error *err) {
  size_t got;
  CB_TRY(cocabo_study_ask_up_to(call->study->handle, n, trials, &got, err));
  http_open(&call->json, '{');
  http_key(&call->json, "trials");
  http_open(&call->json, '[');
  for (size_t i = 0; i < got; i++) {
    http_put_trial(call, trials[i]);
    cocabo_trial_free(trials[i]);
  }
  http_close(&call->json, ']');
  http_close(&call->json, '}');
  return COCABO_OK;
}

static cocabo_status ask_leased(http_call *call, const cb_json_node *content,
                                cocabo_error *err) {
  int64_t n = 1;
  double lease = 0.0;
  const char *owner = NULL;
  const cb_json_node *seconds = cb_json_find(content, "lease");
  CB_TRY(get_int(content, "n", 1, MAX_ASK, &n, err));
  CB_TRY(get_text(content, "owner", &owner, err));
  if (seconds && (!cb_json_number(seconds, &lease) || !(lease >= 0.0)))
    return cb_fail(err, COCABO_E_INVALID, "lease is no number of seconds");
  CB_TRY(cocabo_study_lease(call->study->handle, owner ? owner : "http", lease, err));
  cocabo_trial **trials = cb_calloc((size_t)n, sizeof *trials);
  if (!trials)
    return cb_no_memory(err);
  const cocabo_status status = ask(call, (size_t)n, trials, err);
  cb_free(trials);
  return status;
}

/* An empty content is as good as {}. */
cocabo_status http_do_ask(http_call *call, cocabo_error *err) {
  static const char *const names[] = {"n", "lease", "owner", NULL};
  cb_json_tree tree = {0};
  cocabo_status status =
      call->request->size > 0 ? read_content(call, names, &tree, err) : COCABO_OK;
  if (status == COCABO_OK)
    status = ask_leased(call, tree.nodes, err);
  cb_json_tree_free(&tree);
  return status;
}

/* ---- tell ------------------------------------------------------------------------ */

typedef struct result {
  cocabo_metric metrics[COCABO_MAX_METRICS];
  cocabo_attr attrs[COCABO_MAX_ATTRS];
  cocabo_record record;
  double value;
} result;

static cocabo_status check_object(const cb_json_node *node, const char *key,
                                  size_t most, cocabo_error *err) {
  if (node && (node->type != CB_JSON_OBJECT || node->items > most))
    return cb_fail(err, COCABO_E_INVALID, "%s is no object of at most %zu members", key,
                   most);
  return COCABO_OK;
}

static cocabo_status get_metrics(const cb_json_node *content, result *out,
                                 cocabo_error *err) {
  const cb_json_node *list = cb_json_find(content, "metrics");
  char shown[CB_SHOWN];
  size_t n = 0;
  CB_TRY(check_object(list, "metrics", COCABO_MAX_METRICS, err));
  for (const cb_json_node *m = cb_json_first(list); m; m = cb_json_next(list, m)) {
    out->metrics[n].name = m->key;
    if (!cb_json_number(m, &out->metrics[n++].value))
      return cb_fail(err, COCABO_E_INVALID, "metric \"%s\" is no number",
                     cb_text_show(shown, m->key));
  }
  out->record.metrics = out->metrics;
  out->record.n_metrics = n;
  return COCABO_OK;
}

static cocabo_status get_attrs(const cb_json_node *content, result *out,
                               cocabo_error *err) {
  const cb_json_node *list = cb_json_find(content, "attrs");
  char shown[CB_SHOWN];
  size_t n = 0;
  CB_TRY(check_object(list, "attrs", COCABO_MAX_ATTRS, err));
  for (const cb_json_node *m = cb_json_first(list); m; m = cb_json_next(list, m)) {
    out->attrs[n].name = m->key;
    if (!(out->attrs[n++].value = cb_json_text(m)))
      return cb_fail(err, COCABO_E_INVALID, "attribute \"%s\" is no text",
                     cb_text_show(shown, m->key));
  }
  out->record.attrs = out->attrs;
  out->record.n_attrs = n;
  return COCABO_OK;
}

static cocabo_status tell(http_call *call, const cb_json_node *content,
                          cocabo_error *err) {
  result r = {.record = {0}};
  int64_t number;
  CB_TRY(get_number(content, &number, err));
  CB_TRY(get_value(content, &r.value, err));
  CB_TRY(get_metrics(content, &r, err));
  CB_TRY(get_attrs(content, &r, err));
  r.record.value = &r.value;
  CB_TRY(cocabo_study_record(call->study->handle, number, &r.record, err));
  return say_trial(call, number, err);
}

cocabo_status http_do_tell(http_call *call, cocabo_error *err) {
  static const char *const names[] = {"number", "value", "metrics", "attrs", NULL};
  cb_json_tree tree = {0};
  cocabo_status status = read_content(call, names, &tree, err);
  if (status == COCABO_OK)
    status = tell(call, tree.nodes, err);
  cb_json_tree_free(&tree);
  return status;
}

/* ---- fail and report ------------------------------------------------------------- */

static cocabo_status fail_trial(http_call *call, const cb_json_node *content,
                                cocabo_error *err) {
  int64_t number, attempt = -1;
  const char *reason = "";
  cocabo_study *study = call->study->handle;
  CB_TRY(get_number(content, &number, err));
  CB_TRY(get_text(content, "reason", &reason, err));
  CB_TRY(get_int(content, "attempt", 0, INT64_MAX, &attempt, err));
  CB_TRY(attempt < 0 ? cocabo_study_fail(study, number, reason, err)
                     : cocabo_study_fail_attempt(study, number, attempt, reason, err));
  return say_trial(call, number, err);
}

cocabo_status http_do_fail(http_call *call, cocabo_error *err) {
  static const char *const names[] = {"number", "reason", "attempt", NULL};
  cb_json_tree tree = {0};
  cocabo_status status = read_content(call, names, &tree, err);
  if (status == COCABO_OK)
    status = fail_trial(call, tree.nodes, err);
  cb_json_tree_free(&tree);
  return status;
}

static cocabo_status report(http_call *call, const cb_json_node *content,
                            cocabo_error *err) {
  int64_t number, step = -1;
  double value;
  CB_TRY(get_number(content, &number, err));
  CB_TRY(get_int(content, "step", 0, INT64_MAX, &step, err));
  CB_TRY(get_value(content, &value, err));
  if (step < 0)
    return cb_fail(err, COCABO_E_INVALID,
                   "the content has no \"step\", want a whole number");
  CB_TRY(cocabo_study_report(call->study->handle, number, step, value, err));
  return say_trial(call, number, err);
}

cocabo_status http_do_report(http_call *call, cocabo_error *err) {
  static const char *const names[] = {"number", "step", "value", NULL};
  cb_json_tree tree = {0};
  cocabo_status status = read_content(call, names, &tree, err);
  if (status == COCABO_OK)
    status = report(call, tree.nodes, err);
  cb_json_tree_free(&tree);
  return status;
}
