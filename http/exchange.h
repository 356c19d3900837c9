/* exchange.h - what the parts of the server know of each other: one request and its way
 * through the server, responses that are kept, and streams of events. */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include <pthread.h>

#include "http/mhd.h"
#include "http/routes.h"
#include "http/server.h"
#include "http/turns.h"

/* A connection, for as long as it is open. */
typedef struct http_line {
  struct http_line *next, *previous;
  int socket;
  bool busy;    /* a whole request has come and is being answered */
  double since; /* when that was last otherwise */
} http_line;

typedef struct http_exchange {
  struct http_exchange *next; /* in a queue */
  http_server *server;
  struct MHD_Connection *connection; /* NULL: nobody waits for it */
  char *uri;
  http_request request;
  http_target target;
  const http_route *route; /* NULL: it was refused */
  front_buffer body;
  double parked;  /* since when it waits for its turn */
  size_t counted; /* of its bytes are among the server's */
  size_t body_seen;
  bool began, too_large, crowded, done;
  bool gzip;              /* is welcome */
  const char *known;      /* If-None-Match, or NULL */
  http_response response; /* when it is done */
  double cost;            /* seconds it took */
} http_exchange;

/* A stream of events to one reader. */
typedef struct http_stream {
  struct http_stream *next, *previous;
  http_server *server;
  struct MHD_Connection *connection;
  char *study;        /* NULL: the list */
  int64_t sent;       /* the last seq, or version of the list */
  front_buffer ready; /* to be sent */
  bool asleep, over;
  double last; /* when something was sent */
} http_stream;

struct http_server {
  struct MHD_Daemon *daemon;
  const http_settings *settings;
  http_site quick;
  http_turns turns;
  http_exchange *parked;               /* that wait for their turn, the first first */
  struct http_lane *lanes[HTTP_LANES]; /* what thinks, what writes, what is raw */
  int wake;                            /* eventfd: a lane has something done */
  double now;
  bool ending; /* nothing is begun any more */
  http_line *lines;
  http_stream *streams;
  int n_streams;
  struct http_kept *kept; /* responses, the newest first */
  size_t kept_bytes;
  size_t taking; /* bytes of contents that are being received or worked on */
  int n_kept;
  bool refreshing; /* the list */
  uint64_t list_hash;
  int64_t list_version; /* how often it was another */
  double list_made, ticked;
};

double http_clock(void); /* seconds, only forward */

/* ---- stream.c -------------------------------------------------------------------- */

enum { HTTP_STREAMS = 200 };
enum MHD_Result http_stream_start(http_exchange *x);
/* Writes what is new and wakes who waits for it. */
void http_stream_tick(http_server *server);
void http_stream_end_all(http_server *server);
void http_put_headers(struct MHD_Response *response, const http_response *from);

#endif
