/* call.h - one call of a route, as the functions that answer it see it. */
#ifndef HTTP_CALL_H
#define HTTP_CALL_H

#include "http/routes.h"
#include "http/writer.h"

struct http_call {
  http_site *site;
  const http_request *request;
  const http_target *target;
  http_response *response;
  http_json json;    /* the document */
  http_study *study; /* that the path names, as it is now; NULL: none */
};

/* ---- the documents, one function a route ------------------------------------------
 */

cocabo_status http_doc_program(http_call *call, cocabo_error *err);
cocabo_status http_doc_studies(http_call *call, cocabo_error *err);
cocabo_status http_doc_study(http_call *call, cocabo_error *err);
cocabo_status http_doc_columns(http_call *call, cocabo_error *err);
cocabo_status http_doc_trials(http_call *call, cocabo_error *err);
cocabo_status http_doc_trial(http_call *call, cocabo_error *err);
cocabo_status http_doc_best(http_call *call, cocabo_error *err);
cocabo_status http_doc_history(http_call *call, cocabo_error *err);
cocabo_status http_doc_importances(http_call *call, cocabo_error *err);
cocabo_status http_doc_predictions(http_call *call, cocabo_error *err);
cocabo_status http_doc_beliefs(http_call *call, cocabo_error *err);
cocabo_status http_doc_categories(http_call *call, cocabo_error *err);
cocabo_status http_doc_intermediate(http_call *call, cocabo_error *err);
cocabo_status http_doc_workers(http_call *call, cocabo_error *err);
cocabo_status http_doc_store(http_call *call, cocabo_error *err);
cocabo_status http_do_turn(http_call *call, cocabo_error *err);
cocabo_status http_do_store(http_call *call, cocabo_error *err);
cocabo_status http_do_ask(http_call *call, cocabo_error *err);
cocabo_status http_do_tell(http_call *call, cocabo_error *err);
cocabo_status http_do_fail(http_call *call, cocabo_error *err);
cocabo_status http_do_report(http_call *call, cocabo_error *err);

/* What a failure is in HTTP. */
int http_status_of(cocabo_status code);

/* ---- what they share --------------------------------------------------------------
 */

/* "seq" and, once the object is open, the response's. */
void http_put_seq(http_call *call);
/* {"waiting":0,...} of counts by state. */
void http_put_states(http_json *json, const int64_t states[COCABO_STALE + 1]);
void http_count_states(const cocabo_study *study, int64_t states[COCABO_STALE + 1]);
/* A study as the list has it. */
cocabo_status http_put_listed(http_call *call, const char *name, cocabo_error *err);
/* A trial, whole. */
void http_put_trial(http_call *call, const cocabo_trial *trial);
cocabo_status http_put_trial_number(http_call *call, int64_t number, cocabo_error *err);
/* {"number":3,"value":0.5,"feasible":true}, or null while there is none; of exact
 * values only: where they are noisy the model has to say. */
cocabo_status http_put_best_pair(http_json *json, cocabo_study *study,
                                 cocabo_error *err);

bool http_maximizes(const cocabo_study *study);
bool http_is_noisy(const cocabo_study *study);
bool http_is_constrained(const http_study *study);
static inline bool http_better(bool maximize, double a, double b) {
  return maximize ? a > b : a < b;
}

/* Columns of all trials, owned by the caller: one block. */
typedef struct http_table {
  size_t n, d;     /* trials, parameters */
  int32_t *states; /* n */
  double *values, *finished;
  double *params; /* n rows of d, or NULL */
} http_table;
cocabo_status http_table_read(http_table *out, const http_study *study, bool params,
                              cocabo_error *err);
void http_table_free(http_table *table);
/* May the trial be the best one: complete, and it keeps the constraints? */
bool http_is_candidate(const http_study *study, const http_table *table, size_t i);

#endif
