/* guard.c - checks of a request that do not depend on what it asks for. */
#include "http/guard.h"

#include <arpa/inet.h>
#include <string.h>
#include <strings.h>

#include "common/base.h"

/* ---- Host ------------------------------------------------------------------------ */

/* The name without its port; false if that is not one. */
static bool cut_port(const char *host, char out[64]) {
  const char *end = host[0] == '[' ? strchr(host, ']') : strchr(host, ':');
  const char *start = host[0] == '[' ? host + 1 : host;
  const char *port = end && *end == ']' ? end + 1 : end;
  if (host[0] == '[' && !end)
    return false;
  const size_t size = end ? (size_t)(end - start) : strlen(start);
  if (port && *port &&
      (*port != ':' || strspn(port + 1, "0123456789") > 5 ||
       port[1 + strspn(port + 1, "0123456789")] != '\0'))
    return false;
  if (size >= 64)
    return false;
  memcpy(out, start, size);
  out[size] = '\0';
  return true;
}

bool http_is_loopback(const char *host) {
  char name[64];
  struct in_addr v4;
  struct in6_addr v6;
  if (!cut_port(host, name))
    return false;
  if (inet_pton(AF_INET, name, &v4) == 1)
    return ntohl(v4.s_addr) >> 24 == 127;
  if (host[0] == '[' && inet_pton(AF_INET6, name, &v6) == 1)
    return IN6_IS_ADDR_LOOPBACK(&v6);
  return host[0] != '[' && strcasecmp(name, "localhost") == 0;
}

bool http_guard_host(const http_settings *settings, const http_request *request,
                     http_response *out) {
  char shown[CB_SHOWN];
  if (settings->token || settings->any_host)
    return true;
  if (request->host && http_is_loopback(request->host))
    return true;
  http_refuse(out, 403, "the host is \"%s\", want localhost or 127.0.0.1",
              cb_text_show(shown, request->host ? request->host : ""));
  return false;
}

/* ---- token ----------------------------------------------------------------------- */

/* Takes as long for every text of the same size, whatever is in it. */
static bool is_token(const char *given, const char *token) {
  const size_t n = strlen(token), m = strlen(given);
  unsigned char different = n != m;
  for (size_t i = 0; i < m; i++)
    different |= (unsigned char)(given[i] ^ token[n > 0 ? i % n : 0]);
  return different == 0;
}

bool http_guard_token(const http_settings *settings, const http_request *request,
                      http_response *out) {
  static const char scheme[] = "Bearer ";
  const char *given = request->authorization;
  if (!settings->token)
    return true;
  if (given && strncasecmp(given, scheme, sizeof scheme - 1) == 0 &&
      is_token(given + sizeof scheme - 1, settings->token))
    return true;
  http_refuse(out, 401, "%s",
              given ? "the token in Authorization is another one"
                    : "a token is needed: Authorization: Bearer TOKEN");
  return false;
}

/* ---- writing --------------------------------------------------------------------- */

static bool is_json(const char *type) {
  static const char json[] = "application/json";
  const size_t size = sizeof json - 1;
  return type && strncasecmp(type, json, size) == 0 &&
         (type[size] == '\0' || type[size] == ';' || type[size] == ' ');
}

/* "http://host:port" of a page, which must be ours. */
static bool is_same_origin(const http_request *request) {
  const char *at = request->origin ? strstr(request->origin, "://") : NULL;
  if (!request->origin)
    return true;
  return at && request->host && strcasecmp(at + 3, request->host) == 0;
}

bool http_guard_write(const http_settings *settings, const http_request *request,
                      const http_route *route, http_response *out) {
  char shown[CB_SHOWN];
  const bool raw = http_is_raw(route);
  if (route->pace != HTTP_WRITES && !raw)
    return true;
  if (raw ? !settings->allow_store : !settings->allow_tell) {
    http_refuse(out, 403, "this server %s; cocabo serve --allow-%s %s",
                raw ? "gives no access to its store" : "is read-only",
                raw ? "store" : "tell", raw ? "does" : "is not");
    return false;
  }
  if (!is_same_origin(request)) {
    http_refuse(out, 403, "the page that asks is of \"%s\", want this server's own",
                cb_text_show(shown, request->origin));
    return false;
  }
  if (route->method[0] == 'G')
    return true;
  if (!is_json(request->content_type)) {
    http_refuse(
        out, 415, "the content is \"%s\", want application/json",
        cb_text_show(shown, request->content_type ? request->content_type : ""));
    return false;
  }
  if (request->size > http_route_most(route)) {
    http_refuse(out, 413, "the content has %zu bytes, want at most %zu", request->size,
                http_route_most(route));
    return false;
  }
  return true;
}
