/* guard.h - who may ask: the header Host, the token, and what a POST needs. Each is
 * false with a response where the answer is no. */
#ifndef HTTP_GUARD_H
#define HTTP_GUARD_H

#include "http/routes.h"

/* A page of somebody else's name that leads to this machine must not read what is here
 * (DNS rebinding): without a token, Host is an address of this machine or localhost. */
bool http_guard_host(const http_settings *settings, const http_request *request,
                     http_response *out);
bool http_guard_token(const http_settings *settings, const http_request *request,
                      http_response *out);
bool http_guard_write(const http_settings *settings, const http_request *request,
                      const http_route *route, http_response *out);

/* Whether a name or address, perhaps with a port, means this machine only. */
bool http_is_loopback(const char *host);

#endif
