/* routes.h - requests in, responses out: the whole API without a socket.
 *
 *   http_admit    may this be asked, and which route answers it?
 *   http_perform  the answer
 *
 * Both only look at their arguments. A route says how it wants to be called: quick ones
 * take no longer than a read of the store; those that think (the model), write (ask
 * and tell) or are about the raw store should have a thread of their own.
 */
#ifndef HTTP_ROUTES_H
#define HTTP_ROUTES_H

#include "common/buffer.h"
#include "http/site.h"
#include "http/target.h"

/* Bytes of a content, and of one for the store. */
enum { HTTP_BODY_MAX = 1 << 20, HTTP_STORE_MAX = 64 << 20 };

/* Headers are as they came, NULL where there was none. All is borrowed. */
typedef struct http_request {
  const char *method, *target;
  const char *host, *origin, *authorization, *content_type;
  const char *body; /* `size` bytes, not NUL-terminated; NULL: none */
  size_t size;
} http_request;

/* Starts as {0}; released by http_response_free. */
typedef struct http_response {
  int status;         /* of HTTP */
  const char *type;   /* of the content; static */
  const char *policy; /* Content-Security-Policy; static */
  const char *allow;  /* of status 405; static */
  const char *text;   /* static; NULL: it is in body */
  size_t text_size;
  front_buffer body;
  int64_t seq;   /* of the study that it is about; 0: none */
  bool changing; /* it may change while seq stays: not to be kept */
} http_response;

typedef enum http_pace {
  HTTP_QUICK,
  HTTP_THINKS,
  HTTP_WRITES, /* needs allow_tell */
  HTTP_RAW,    /* needs allow_store */
  HTTP_TURN,   /* too, and waits for others */
  HTTP_STREAM
} http_pace;

typedef struct http_call http_call;
typedef struct http_route {
  const char *method;
  const char *path;  /* "/api/studies/{name}/trials/{number}" */
  const char *query; /* "after limit"; NULL: it takes none */
  http_pace pace;
  /* Writes the document and may fill in the response. */
  cocabo_status (*answer)(http_call *call, cocabo_error *err);
} http_route;

/* Is it about the raw store? */
static inline bool http_is_raw(const http_route *route) {
  return route->pace == HTTP_RAW || route->pace == HTTP_TURN;
}
/* Most bytes of what is sent to it. */
size_t http_route_most(const http_route *route);

/* i-th route, or NULL past the end. */
const http_route *http_route_at(int i);

/* On success *route and *target are what the request means; else the response says why
 * not. False is a refusal. */
bool http_admit(const http_settings *settings, const http_request *request,
                const http_route **route, http_target *target, http_response *out);
/* Always gives a response: a failure is a document with its sentence. `site` is NULL
 * for the files of the page only. */
void http_perform(http_site *site, const http_request *request, const http_route *route,
                  const http_target *target, http_response *out);
/* Both. */
void http_respond(http_site *site, const http_request *request, http_response *out);

void http_response_free(http_response *response); /* and back to {0} */
/* A response that says one sentence. */
void http_refuse(http_response *out, int status, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
