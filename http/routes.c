/* routes.c - which request is answered by what, who may ask it, and how it fails. */
#include "http/routes.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "http/call.h"
#include "http/guard.h"
#include "http/page.h"

static const http_route routes[] = {
    {"GET", "/api", NULL, HTTP_QUICK, http_doc_program},
    {"GET", "/api/events", NULL, HTTP_STREAM, http_doc_studies},
    {"GET", "/api/studies", "limit offset", HTTP_THINKS, http_doc_studies},
    {"GET", "/api/studies/{name}", NULL, HTTP_QUICK, http_doc_study},
    {"GET", "/api/studies/{name}/columns", "after limit", HTTP_QUICK, http_doc_columns},
    {"GET", "/api/studies/{name}/trials", "after limit", HTTP_QUICK, http_doc_trials},
    {"GET", "/api/studies/{name}/trials/{number}", NULL, HTTP_QUICK, http_doc_trial},
    {"GET", "/api/studies/{name}/best", NULL, HTTP_THINKS, http_doc_best},
    {"GET", "/api/studies/{name}/history", "points", HTTP_QUICK, http_doc_history},
    {"GET", "/api/studies/{name}/importances", NULL, HTTP_THINKS, http_doc_importances},
    {"GET", "/api/studies/{name}/predictions", "x y points", HTTP_THINKS,
     http_doc_predictions},
    {"GET", "/api/studies/{name}/beliefs", NULL, HTTP_THINKS, http_doc_beliefs},
    {"GET", "/api/studies/{name}/categories", "bins", HTTP_QUICK, http_doc_categories},
    {"GET", "/api/studies/{name}/intermediate", "trials points", HTTP_QUICK,
     http_doc_intermediate},
    {"GET", "/api/studies/{name}/workers", NULL, HTTP_QUICK, http_doc_workers},
    {"GET", "/api/studies/{name}/events", NULL, HTTP_STREAM, http_doc_study},
    {"POST", "/api/studies/{name}/ask", NULL, HTTP_WRITES, http_do_ask},
    {"POST", "/api/studies/{name}/tell", NULL, HTTP_WRITES, http_do_tell},
    {"POST", "/api/studies/{name}/fail", NULL, HTTP_WRITES, http_do_fail},
    {"POST", "/api/studies/{name}/report", NULL, HTTP_WRITES, http_do_report},
    {"GET", "/api/store", NULL, HTTP_RAW, http_doc_store},
    {"POST", "/api/store/append", "turn", HTTP_RAW, http_do_store},
    {"POST", "/api/store/check", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/create", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/describe", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/find", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/leases", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/list", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/read", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/remove", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/renew", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/summarise", NULL, HTTP_RAW, http_do_store},
    {"POST", "/api/store/turn", "study who", HTTP_TURN, http_do_turn},
};
enum { N_ROUTES = sizeof routes / sizeof routes[0] };

static const http_route page_route = {"GET", "/", NULL, HTTP_QUICK, NULL};

const http_route *http_route_at(int i) {
  return i >= 0 && i < N_ROUTES ? &routes[i] : NULL;
}

size_t http_route_most(const http_route *route) {
  return http_is_raw(route) ? HTTP_STORE_MAX : HTTP_BODY_MAX;
}

/* ---- responses ------------------------------------------------------------------- */

void http_response_free(http_response *response) {
  front_buffer_free(&response->body);
  *response = (http_response){0};
}

static const char json_type[] = "application/json";
/* JSON needs nothing from anywhere. */
static const char json_policy[] = "default-src 'none'; frame-ancestors 'none'";

static void say(http_response *out, int status, const char *sentence) {
  http_json json = {0};
  http_open(&json, '{');
  http_put_text(&json, "error", sentence);
  http_close(&json, '}');
  const char *allow = out->allow;
  http_response_free(out);
  out->status = status;
  out->type = json_type;
  out->policy = json_policy;
  out->allow = allow;
  out->changing = true;
  if (json.status == COCABO_OK) {
    out->body = json.out;
    return;
  }
  front_buffer_free(&json.out);
  out->text = "{\"error\":\"there is no memory\"}";
  out->text_size = strlen(out->text);
}

void http_refuse(http_response *out, int status, const char *fmt, ...) {
  char sentence[sizeof((cocabo_error *)NULL)->message];
  va_list args;
  va_start(args, fmt);
  vsnprintf(sentence, sizeof sentence, fmt, args);
  va_end(args);
  say(out, status, sentence);
}

int http_status_of(cocabo_status code) {
  switch (code) {
  case COCABO_OK:
    return 200;
  case COCABO_E_INVALID:
  case COCABO_E_RANGE:
    return 400;
  case COCABO_E_NOT_FOUND:
    return 404;
  case COCABO_E_STATE:
  case COCABO_E_EXISTS:
  case COCABO_E_EXHAUSTED:
  case COCABO_E_BUDGET:
  case COCABO_E_NUMERIC:
    return 409;
  case COCABO_E_NO_MEMORY:
  case COCABO_E_STORE:
  case COCABO_E_BUSY:
  case COCABO_E_INTERRUPTED:
    return 503;
  case COCABO_E_INTERNAL:
    break;
  }
  return 500;
}

/* ---- which route ----------------------------------------------------------------- */

static bool matches(const http_route *route, const http_target *target) {
  const char *at = route->path;
  for (int i = 0; i < target->n; i++) {
    const char *name = target->segments[i];
    if (*at++ != '/')
      return false;
    const size_t size = strcspn(at, "/");
    if (*at != '{' && (strlen(name) != size || strncmp(at, name, size) != 0))
      return false;
    at += size;
  }
  return *at == '\0';
}

static bool is_method(const http_route *route, const char *method) {
  return strcmp(method, route->method) == 0 ||
         (strcmp(method, "HEAD") == 0 && strcmp(route->method, "GET") == 0);
}

static bool takes(const http_route *route, const char *name) {
  const size_t size = strlen(name);
  for (const char *at = route->query; at && *at;) {
    const size_t word = strcspn(at, " ");
    if (word == size && strncmp(at, name, size) == 0)
      return true;
    at += word + (at[word] == ' ');
  }
  return false;
}

static bool check_query(const http_route *route, const http_target *target,
                        http_response *out) {
  char shown[CB_SHOWN];
  for (int i = 0; i < target->n_pairs; i++)
    if (!takes(route, target->pairs[i].name)) {
      http_refuse(out, 400, "%s takes no \"%s\", want %s", route->path,
                  cb_text_show(shown, target->pairs[i].name),
                  route->query ? route->query : "no query");
      return false;
    }
  return true;
}

static bool find_route(const http_request *request, const http_target *target,
                       const http_route **route, http_response *out) {
  const http_route *other = NULL;
  char shown[CB_SHOWN];
  *route = NULL;
  if (http_page_find(target))
    other = &page_route;
  for (int i = 0; i < N_ROUTES && !other; i++)
    if (matches(&routes[i], target))
      other = &routes[i];
  if (!other) {
    http_refuse(out, 404, "there is no \"%s\" here; /api/studies lists the studies",
                cb_text_show(shown, request->target));
    return false;
  }
  if (!is_method(other, request->method)) {
    out->allow = other->method[0] == 'G' ? "GET, HEAD" : other->method;
    http_refuse(out, 405, "%s answers %s, not %s", other->path, out->allow,
                cb_text_show(shown, request->method));
    return false;
  }
  *route = other;
  return true;
}

bool http_admit(const http_settings *settings, const http_request *request,
                const http_route **route, http_target *target, http_response *out) {
  cocabo_error err;
  if (!http_guard_host(settings, request, out))
    return false;
  const cocabo_status status = http_target_read(target, request->target, &err);
  if (status != COCABO_OK) {
    http_refuse(out, status == COCABO_E_RANGE ? 414 : 400, "%s", err.message);
    return false;
  }
  if (!find_route(request, target, route, out))
    return false;
  if (*route == &page_route)
    return true; /* the page holds no data, and its files take any query */
  return http_guard_token(settings, request, out) &&
         http_guard_write(settings, request, *route, out) &&
         check_query(*route, target, out);
}

/* ---- the answer ------------------------------------------------------------------ */

static bool names_study(const http_route *route) {
  return strstr(route->path, "{name}") != NULL;
}

static cocabo_status answer(http_call *call, const http_route *route,
                            cocabo_error *err) {
  if (names_study(route)) {
    CB_TRY(http_site_study(call->site, call->target->segments[2], &call->study, err));
    call->response->seq = call->study->seq;
  }
  CB_TRY(route->answer(call, err));
  return call->json.status;
}

void http_perform(http_site *site, const http_request *request, const http_route *route,
                  const http_target *target, http_response *out) {
  cocabo_error err = {0};
  if (route == &page_route) {
    http_page_answer(http_page_find(target), out);
    return;
  }
  http_call call = {site, request, target, out, {.err = &err}, NULL};
  out->type = json_type;
  out->policy = json_policy;
  out->status = 200;
  const cocabo_status status = answer(&call, route, &err);
  if (status == COCABO_OK) {
    out->body = call.json.out;
    return;
  }
  front_buffer_free(&call.json.out);
  say(out, http_status_of(status), err.message);
}

void http_respond(http_site *site, const http_request *request, http_response *out) {
  const http_route *route;
  http_target target;
  if (http_admit(site->settings, request, &route, &target, out))
    http_perform(site, request, route, &target, out);
}
