/* server.h - the routes behind a socket (libmicrohttpd).
 *
 * One thread has all connections and answers what is quick. What thinks, what writes
 * and what is about the raw store has a thread each, with its own connection to the
 * store; meanwhile the connection sleeps. Built where COCABO_HTTP is defined.
 */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "http/site.h"

/* For what is quick, thinks, writes, is raw. */
enum { HTTP_STORES = 4, HTTP_LANES = HTTP_STORES - 1 };

typedef struct http_server http_server;

/* `address` is a number, as in 127.0.0.1 or ::1; port 0: any that is free. All is
 * borrowed until the server is freed. COCABO_E_STORE if it cannot listen there. */
cocabo_status http_server_new(http_server **out, const http_settings *settings,
                              cocabo_store *const stores[HTTP_STORES],
                              const char *address, int port, cocabo_error *err);
int http_server_port(const http_server *server);
/* Serves until there is something to read at `stop`. */
cocabo_status http_server_run(http_server *server, int stop, cocabo_error *err);
void http_server_free(http_server *server); /* NULL is allowed */

#endif
