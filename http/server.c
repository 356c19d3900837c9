/* server.c - connections, and who answers what on which thread.
 *
 * The loop (http_server_run) is the only thread that talks to libmicrohttpd. It answers
 * what is quick by itself, hands the rest to a lane, and wakes the connection when the
 * lane has the answer. Responses are kept as long as they are true, so that many who
 * look at the same study cost as much as one.
 */
#include "http/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "common/base.h"
#include "http/exchange.h"

enum {
  CONNECTIONS = 512,
  LINE_MEMORY = 32 * 1024, /* of a connection: its headers must fit */
  QUEUE = 256,             /* requests that wait for a lane */
  KEPT = 128,              /* responses, */
  KEPT_BYTES = 64 << 20,   /* and their bytes */
  PAGE_MIN = 1000,         /* bytes from which compressing is worth while */
  WORTHY = 64 * 1024,      /* bytes that show that a content comes on */
  TAKING = 256 << 20       /* bytes of all contents at a time */
};
#define PATIENCE 15.0   /* seconds for a whole request, and for silence */
#define TICK 0.25       /* seconds between looks at what is streamed */
#define LIST_FRESH 0.5  /* seconds for which the list is as good as new, */
#define LIST_USABLE 5.0 /* and is shown while the next one is made */
#define WORTH 5.0       /* what took so long may be shown so many times as long */

double http_clock(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- lanes ------------------------------------------------------------------------
 */

typedef struct http_lane {
  pthread_t thread;
  pthread_mutex_t lock; /* of what follows */
  pthread_cond_t filled;
  http_exchange *first, *last; /* that wait */
  http_exchange *done;
  int n;
  bool stop;
  http_site site; /* the thread's own */
  int wake;
} http_lane;

static http_exchange *take(http_lane *lane) {
  pthread_mutex_lock(&lane->lock);
  while (!lane->first && !lane->stop)
    pthread_cond_wait(&lane->filled, &lane->lock);
  http_exchange *x = lane->stop ? NULL : lane->first;
  if (x) {
    lane->first = x->next;
    lane->last = lane->first ? lane->last : NULL;
    lane->n--;
  }
  pthread_mutex_unlock(&lane->lock);
  return x;
}

static void give_back(http_lane *lane, http_exchange *x) {
  pthread_mutex_lock(&lane->lock);
  x->next = lane->done;
  lane->done = x;
  pthread_mutex_unlock(&lane->lock);
  const uint64_t one = 1;
  (void)!write(lane->wake, &one, sizeof one);
}

static void *work(void *user) {
  http_lane *lane = user;
  http_exchange *x;
  while ((x = take(lane))) {
    const double start = http_clock();
    lane->site.now = start;
    http_perform(&lane->site, &x->request, x->route, &x->target, &x->response);
    x->cost = http_clock() - start;
    give_back(lane, x);
  }
  return NULL;
}

static bool enqueue(http_lane *lane, http_exchange *x) {
  pthread_mutex_lock(&lane->lock);
  const bool room = lane->n < QUEUE;
  if (room) {
    x->next = NULL;
    if (lane->last)
      lane->last->next = x;
    else
      lane->first = x;
    lane->last = x;
    lane->n++;
    pthread_cond_signal(&lane->filled);
  }
  pthread_mutex_unlock(&lane->lock);
  return room;
}

/* The waiting ones that ask for the same, so that they look at the answer instead. */
static http_exchange *take_same(http_lane *lane, const char *uri) {
  http_exchange *same = NULL, **at;
  pthread_mutex_lock(&lane->lock);
  lane->last = NULL;
  for (at = &lane->first; *at;) {
    http_exchange *x = *at;
    if (strcmp(x->uri, uri) == 0) {
      *at = x->next;
      x->next = same;
      same = x;
      lane->n--;
    } else {
      lane->last = x;
      at = &x->next;
    }
  }
  pthread_mutex_unlock(&lane->lock);
  return same;
}

/* Signals are the main thread's. */
static cocabo_status start_lane(http_lane **out, const http_settings *settings,
                                cocabo_store *store, int wake, cocabo_error *err) {
  sigset_t all, before;
  http_lane *lane = cb_calloc(1, sizeof *lane);
  if (!lane)
    return cb_no_memory(err);
  lane->site = (http_site){.settings = settings, .store = store};
  lane->wake = wake;
  pthread_mutex_init(&lane->lock, NULL);
  pthread_cond_init(&lane->filled, NULL);
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const int failed = pthread_create(&lane->thread, NULL, work, lane);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (failed) {
    cb_free(lane);
    return cb_fail(err, COCABO_E_NO_MEMORY, "a thread cannot be started");
  }
  *out = lane;
  return COCABO_OK;
}

static void end_lane(http_lane *lane) {
  if (!lane)
    return;
  pthread_mutex_lock(&lane->lock);
  lane->stop = true;
  pthread_cond_signal(&lane->filled);
  pthread_mutex_unlock(&lane->lock);
  pthread_join(lane->thread, NULL);
  http_site_close(&lane->site);
}

/* ---- responses of libmicrohttpd ----------------------------------------------------
 */

void http_put_headers(struct MHD_Response *response, const http_response *from) {
  static const char *const always[][2] = {
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"X-Frame-Options", "DENY"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cache-Control", "no-cache"},
      {"Vary", "Accept-Encoding, Authorization"}};
  for (size_t i = 0; i < sizeof always / sizeof always[0]; i++)
    mhd.MHD_add_response_header(response, always[i][0], always[i][1]);
  if (from->type)
    mhd.MHD_add_response_header(response, "Content-Type", from->type);
  if (from->policy)
    mhd.MHD_add_response_header(response, "Content-Security-Policy", from->policy);
  if (from->allow)
    mhd.MHD_add_response_header(response, "Allow", from->allow);
  if (from->status == 401)
    mhd.MHD_add_response_header(response, "WWW-Authenticate", "Bearer");
}

static uint64_t hash_of(const char *bytes, size_t size) {
  uint64_t hash = UINT64_C(14695981039346656037);
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(1099511628211);
  return hash;
}

static const char *content_of(const http_response *r, size_t *size) {
  *size = r->text ? r->text_size : r->body.size;
  return r->text ? r->text : r->body.data;
}

/* As gzip does it; owned by the caller. NULL: it is not worth it, or not possible. */
static char *compress_text(const char *text, size_t size, size_t *out_size) {
  z_stream z = {0};
  if (size < PAGE_MIN || size > (1u << 30) ||
      deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    return NULL;
  const uLong bound = deflateBound(&z, (uLong)size);
  char *out = malloc(bound);
  z.next_in = (Bytef *)text;
  z.avail_in = (uInt)size;
  z.next_out = (Bytef *)out;
  z.avail_out = (uInt)bound;
  const int status = out ? deflate(&z, Z_FINISH) : Z_MEM_ERROR;
  *out_size = z.total_out;
  deflateEnd(&z);
  if (status == Z_STREAM_END)
    return out;
  free(out);
  return NULL;
}

enum { ETAG = 24 };

static struct MHD_Response *make_response(const http_response *r, bool gzip,
                                          char etag[ETAG]) {
  size_t size, packed = 0;
  const char *text = content_of(r, &size);
  char *zipped = gzip && r->type ? compress_text(text, size, &packed) : NULL;
  struct MHD_Response *response =
      zipped
          ? mhd.MHD_create_response_from_buffer(packed, zipped, MHD_RESPMEM_MUST_FREE)
          : mhd.MHD_create_response_from_buffer(size, (void *)text,
                                                r->text ? MHD_RESPMEM_PERSISTENT
                                                        : MHD_RESPMEM_MUST_COPY);
  if (!response) {
    free(zipped);
    return NULL;
  }
  snprintf(etag, ETAG, "\"%016llx%s\"", (unsigned long long)hash_of(text, size),
           zipped ? "z" : "");
  http_put_headers(response, r);
  if (zipped)
    mhd.MHD_add_response_header(response, "Content-Encoding", "gzip");
  if (r->status == 200)
    mhd.MHD_add_response_header(response, "ETag", etag);
  return response;
}

/* ---- responses that are kept -------------------------------------------------------
 */

typedef struct http_kept {
  struct http_kept *next;
  char *uri;
  bool gzip;
  int64_t seq;
  double made, cost;
  size_t bytes;
  char etag[ETAG];
  struct MHD_Response *response;
} http_kept;

static void drop_kept(http_server *server, http_kept **at) {
  http_kept *k = *at;
  *at = k->next;
  server->n_kept--;
  server->kept_bytes -= k->bytes;
  mhd.MHD_destroy_response(k->response);
  cb_free(k->uri);
  cb_free(k);
}

static http_kept *find_kept(const http_server *server, const http_exchange *x) {
  for (http_kept *k = server->kept; k; k = k->next)
    if (k->gzip == x->gzip && strcmp(k->uri, x->uri) == 0)
      return k;
  return NULL;
}

/* Takes the response over; NULL: there is no memory, and it is destroyed. */
static http_kept *keep(http_server *server, const http_exchange *x,
                       struct MHD_Response *response, const char *etag, size_t bytes) {
  for (http_kept **at = &server->kept; *at;)
    if ((*at)->gzip == x->gzip && strcmp((*at)->uri, x->uri) == 0)
      drop_kept(server, at);
    else
      at = &(*at)->next;
  http_kept *k = cb_calloc(1, sizeof *k);
  if (!k || !(k->uri = cb_strdup(x->uri))) {
    cb_free(k);
    mhd.MHD_destroy_response(response);
    return NULL;
  }
  k->gzip = x->gzip;
  k->seq = x->response.seq;
  k->made = server->now;
  k->cost = x->cost;
  k->bytes = bytes;
  k->response = response;
  memcpy(k->etag, etag, ETAG);
  k->next = server->kept;
  server->kept = k;
  server->kept_bytes += bytes;
  server->n_kept++;
  while (server->n_kept > KEPT ||
         (server->n_kept > 1 && server->kept_bytes > KEPT_BYTES)) {
    http_kept **at = &server->kept;
    while ((*at)->next)
      at = &(*at)->next;
    drop_kept(server, at);
  }
  return k;
}

/* ---- answering ---------------------------------------------------------------------
 */

/* Its answer is for who asked alone. */
static bool is_written(const http_route *route) {
  return route->pace == HTTP_WRITES || http_is_raw(route);
}

static bool is_list(const http_exchange *x) {
  return x->route->pace == HTTP_THINKS && x->target.n == 2;
}

static enum MHD_Result send_kept(const http_exchange *x, const http_kept *k) {
  if (!x->known || strcmp(x->known, k->etag) != 0)
    return mhd.MHD_queue_response(x->connection, 200, k->response);
  struct MHD_Response *response =
      mhd.MHD_create_response_from_buffer(0, (void *)"", MHD_RESPMEM_PERSISTENT);
  if (!response)
    return MHD_NO;
  http_put_headers(response, &(http_response){0});
  mhd.MHD_add_response_header(response, "ETag", k->etag);
  const enum MHD_Result result = mhd.MHD_queue_response(x->connection, 304, response);
  mhd.MHD_destroy_response(response);
  return result;
}

/* Sends what x->response says, and keeps it if it may be asked for again. */
static enum MHD_Result send_answer(http_exchange *x) {
  http_server *server = x->server;
  char etag[ETAG];
  size_t size;
  content_of(&x->response, &size);
  struct MHD_Response *response = make_response(&x->response, x->gzip, etag);
  if (!response)
    return MHD_NO;
  const bool listed = x->route && is_list(x);
  const bool lasting = x->response.status == 200 && x->route && !is_written(x->route) &&
                       (!x->response.changing || listed);
  enum MHD_Result result = MHD_YES;
  if (lasting || (x->known && x->response.status == 200)) {
    const http_kept *kept = keep(server, x, response, etag, size);
    if (!kept)
      return MHD_NO;
    if (x->connection)
      result = send_kept(x, kept);
    if (!lasting)
      drop_kept(server, &server->kept);
    return result;
  }
  if (x->connection)
    result =
        mhd.MHD_queue_response(x->connection, (unsigned)x->response.status, response);
  mhd.MHD_destroy_response(response);
  return result;
}

/* The study's seq as of now; 0: there is none, or it cannot be read. */
static int64_t present_seq(http_server *server, const http_exchange *x) {
  http_study *study;
  server->quick.now = server->now;
  return x->target.n > 2 && http_site_study(&server->quick, x->target.segments[2],
                                            &study, NULL) == COCABO_OK
             ? study->seq
             : 0;
}

static bool is_true_still(http_server *server, const http_exchange *x,
                          const http_kept *k) {
  const double age = server->now - k->made;
  if (x->target.n <= 1)
    return true; /* the page */
  if (is_list(x))
    return age < LIST_USABLE;
  const int64_t seq = present_seq(server, x);
  return seq == k->seq ||
         (seq > k->seq && x->route->pace == HTTP_THINKS && age < WORTH * k->cost);
}

static void free_exchange(http_exchange *x) {
  if (!x)
    return;
  if (x->server)
    x->server->taking -= x->counted;
  http_response_free(&x->response);
  front_buffer_free(&x->body);
  cb_free(x->uri);
  cb_free(x);
}

/* Has the list made anew for whoever comes next. */
static void refresh_list(http_server *server, const char *uri, bool gzip) {
  http_exchange *x = server->refreshing ? NULL : cb_calloc(1, sizeof *x);
  http_response refused = {0};
  if (!x)
    return;
  x->server = server;
  x->gzip = gzip;
  x->uri = cb_strdup(uri);
  http_settings open = *server->settings;
  open.token = NULL;
  open.any_host = true;
  x->request = (http_request){.method = "GET", .target = x->uri};
  server->refreshing =
      x->uri && http_admit(&open, &x->request, &x->route, &x->target, &refused) &&
      enqueue(server->lanes[0], x);
  http_response_free(&refused);
  if (!server->refreshing)
    free_exchange(x);
}

static enum MHD_Result refuse(http_exchange *x, int status, const char *sentence) {
  http_refuse(&x->response, status, "%s", sentence);
  return send_answer(x);
}

static int lane_of(const http_route *route) {
  return route->pace == HTTP_RAW ? 2 : route->pace == HTTP_WRITES;
}

static enum MHD_Result hand_over(http_exchange *x) {
  http_lane *lane = x->server->lanes[lane_of(x->route)];
  mhd.MHD_suspend_connection(x->connection);
  if (enqueue(lane, x))
    return MHD_YES;
  mhd.MHD_resume_connection(x->connection);
  x->done = true;
  http_refuse(&x->response, 503, "the server is busy; please ask again");
  return MHD_YES;
}

/* ---- turns -------------------------------------------------------------------------
 */

static const char *who_asks(const http_exchange *x, const char *name) {
  const char *who = http_query(&x->target, name);
  return who ? who : "";
}

/* -1: it only ends its turn. */
static int64_t study_of(const http_exchange *x) {
  int64_t study = -1;
  (void)http_query_int(&x->target, "study", 0, INT64_MAX, &study, NULL);
  return study;
}

/* Lets those go on whose turn it is, or who have waited long enough. */
static void serve_parked(http_server *server, bool all) {
  for (http_exchange **at = &server->parked; *at;) {
    http_exchange *x = *at;
    if (!http_turns_take(&server->turns, study_of(x), who_asks(x, "who"),
                         server->now) &&
        server->now - x->parked < HTTP_TURN_WAIT && !all) {
      at = &x->next;
      continue;
    }
    *at = x->next;
    x->done = true;
    mhd.MHD_resume_connection(x->connection);
  }
}

static void end_turn(http_server *server, const char *who) {
  if (http_turns_end(&server->turns, who))
    serve_parked(server, false);
}

/* First come, first served. */
static enum MHD_Result take_turn(http_exchange *x) {
  http_server *server = x->server;
  const int64_t study = study_of(x);
  http_exchange **at = &server->parked;
  bool waits = false;
  http_perform(&server->quick, &x->request, x->route, &x->target, &x->response);
  if (x->response.status != 200)
    return send_answer(x);
  if (study < 0) {
    end_turn(server, who_asks(x, "who"));
    return send_answer(x);
  }
  for (; *at; at = &(*at)->next)
    waits = waits || study_of(*at) == study;
  if (!waits && http_turns_take(&server->turns, study, who_asks(x, "who"), server->now))
    return send_answer(x);
  x->parked = server->now;
  x->next = NULL;
  *at = x;
  mhd.MHD_suspend_connection(x->connection);
  return MHD_YES;
}

/* The whole request is there. */
static enum MHD_Result answer(http_exchange *x) {
  http_server *server = x->server;
  x->request.body = x->body.data;
  x->request.size = x->body.size;
  if (x->route->pace == HTTP_STREAM)
    return server->n_streams < HTTP_STREAMS
               ? http_stream_start(x)
               : refuse(x, 503, "there are too many streams; please ask again");
  http_kept *k = is_written(x->route) ? NULL : find_kept(server, x);
  if (k && is_true_still(server, x, k)) {
    if (is_list(x) && server->now - k->made > LIST_FRESH)
      refresh_list(server, x->uri, x->gzip);
    return send_kept(x, k);
  }
  if (x->route->pace == HTTP_TURN)
    return take_turn(x);
  if (x->route->pace != HTTP_QUICK)
    return hand_over(x);
  server->quick.now = server->now;
  http_perform(&server->quick, &x->request, x->route, &x->target, &x->response);
  return send_answer(x);
}

/* ---- what libmicrohttpd calls ------------------------------------------------------
 */

static const char *header(struct MHD_Connection *c, const char *name) {
  return mhd.MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static http_line *line_of(struct MHD_Connection *c) {
  const union MHD_ConnectionInfo *info =
      mhd.MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
  return info ? info->socket_context : NULL;
}

/* A request begins: this is all that is known of it yet. */
static void *begin(void *cls, const char *uri, struct MHD_Connection *c) {
  http_exchange *x = cb_calloc(1, sizeof *x);
  if (!x || !(x->uri = cb_strdup(uri))) {
    free_exchange(x);
    return NULL;
  }
  x->server = cls;
  x->connection = c;
  return x;
}

static bool welcomes_gzip(const char *accepted) {
  for (const char *at = accepted; at && (at = strstr(at, "gzip")); at += 4)
    if (strncmp(at, "gzip;q=0", 8) != 0 || at[8] == '.')
      return true;
  return false;
}

static bool admit(http_exchange *x, const char *method) {
  struct MHD_Connection *c = x->connection;
  x->request = (http_request){.method = method,
                              .target = x->uri,
                              .host = header(c, "Host"),
                              .origin = header(c, "Origin"),
                              .authorization = header(c, "Authorization"),
                              .content_type = header(c, "Content-Type")};
  x->known = header(c, "If-None-Match");
  x->gzip = welcomes_gzip(header(c, "Accept-Encoding"));
  const char *length = header(c, "Content-Length");
  if (!http_admit(x->server->settings, &x->request, &x->route, &x->target,
                  &x->response)) {
    x->route = NULL;
    return false;
  }
  const size_t most = http_route_most(x->route);
  if (!length || strtoull(length, NULL, 10) <= most)
    return true;
  x->route = NULL;
  http_refuse(&x->response, 413, "the content has %.20s bytes, want at most %zu",
              length, most);
  return false;
}

/* Of all contents together there is only so much at a time. */
static void take_content(http_exchange *x, const char *bytes, size_t size) {
  if (!x->route)
    return; /* it was refused */
  x->crowded = x->crowded || x->server->taking + size > TAKING;
  x->too_large = x->too_large || x->body.size + size > http_route_most(x->route) ||
                 x->crowded ||
                 front_buffer_append(&x->body, bytes, size, NULL) != COCABO_OK;
  if (x->too_large)
    return;
  x->counted += size;
  x->server->taking += size;
}

static enum MHD_Result handle(void *cls, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version,
                              const char *bytes, size_t *size, void **own) {
  http_server *server = cls;
  http_exchange *x = *own;
  http_line *line = line_of(c);
  (void)url;
  (void)version;
  if (!x)
    return MHD_NO;
  server->now = http_clock();
  if (!x->began) {
    x->began = true;
    if (line)
      line->since = server->now;
    return admit(x, method) ? MHD_YES : send_answer(x);
  }
  if (*size > 0) {
    take_content(x, bytes, *size);
    if (line && x->route && x->route->pace == HTTP_RAW &&
        x->body.size / WORTHY > x->body_seen) {
      x->body_seen = x->body.size / WORTHY; /* it comes on */
      line->since = server->now;
    }
    *size = 0;
    return MHD_YES;
  }
  if (line)
    line->busy = true;
  if (x->done)
    return send_answer(x);
  if (server->ending)
    return refuse(x, 503, "the server is ending");
  if (x->crowded)
    return refuse(x, 503, "the server is busy; please ask again");
  if (x->too_large)
    return refuse(x, 413, "the content is too large");
  return answer(x);
}

static void finish(void *cls, struct MHD_Connection *c, void **own,
                   enum MHD_RequestTerminationCode code) {
  http_line *line = line_of(c);
  (void)cls;
  (void)code;
  if (line) {
    line->busy = false;
    line->since = http_clock();
  }
  free_exchange(*own);
  *own = NULL;
}

static void note_line(void *cls, struct MHD_Connection *c, void **own,
                      enum MHD_ConnectionNotificationCode code) {
  http_server *server = cls;
  http_line *line = *own;
  if (code == MHD_CONNECTION_NOTIFY_STARTED) {
    const union MHD_ConnectionInfo *info =
        mhd.MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
    *own = line = info ? cb_calloc(1, sizeof *line) : NULL;
    if (!line)
      return;
    line->socket = info->connect_fd;
    line->since = http_clock();
    line->next = server->lines;
    if (line->next)
      line->next->previous = line;
    server->lines = line;
  } else if (line) {
    if (line->next)
      line->next->previous = line->previous;
    if (line->previous)
      line->previous->next = line->next;
    else
      server->lines = line->next;
    cb_free(line);
    *own = NULL;
  }
}

/* A request that comes drop by drop is never whole; libmicrohttpd only minds silence.
 */
static void hang_up_on_slow(http_server *server) {
  for (http_line *line = server->lines; line; line = line->next)
    if (!line->busy && server->now - line->since > PATIENCE)
      shutdown(line->socket, SHUT_RDWR);
}

/* ---- the loop ----------------------------------------------------------------------
 */

static void wake_up(http_exchange *x) {
  if (x->connection)
    mhd.MHD_resume_connection(x->connection);
  else
    free_exchange(x);
}

/* The list was made anew: is it another one? */
static void note_list(http_server *server, http_exchange *x) {
  if (!x->route || !is_list(x))
    return;
  const uint64_t hash = hash_of(x->response.body.data, x->response.body.size);
  server->list_version += hash != server->list_hash;
  server->list_hash = hash;
  server->list_made = server->now;
}

/* Who has told something finds it the next time it looks. */
static void note_write(http_server *server, const http_exchange *x) {
  http_study *study = x->route->pace == HTTP_WRITES
                          ? http_site_peek(&server->quick, x->target.segments[2])
                          : NULL;
  if (study)
    study->synced = -HUGE_VAL;
}

static void collect(http_server *server, http_lane *lane) {
  pthread_mutex_lock(&lane->lock);
  http_exchange *x = lane->done, *next;
  lane->done = NULL;
  pthread_mutex_unlock(&lane->lock);
  for (; x; x = next) {
    next = x->next;
    x->done = true;
    note_list(server, x);
    note_write(server, x);
    if (x->route->pace == HTTP_RAW && x->response.status == 200)
      end_turn(server, who_asks(x, "turn"));
    if (x->route->pace == HTTP_THINKS && x->response.status == 200) {
      http_exchange *same = take_same(lane, x->uri), *after;
      for (; same; same = after) {
        after = same->next;
        wake_up(same);
      }
    }
    if (!x->connection) {
      server->refreshing = false;
      (void)send_answer(x);
    }
    wake_up(x);
  }
}

static void tick(http_server *server) {
  bool watched = false;
  if (server->now - server->ticked < TICK)
    return;
  server->ticked = server->now;
  server->quick.now = server->now;
  hang_up_on_slow(server);
  serve_parked(server, false);
  for (const http_stream *s = server->streams; s; s = s->next)
    watched = watched || !s->study;
  if (watched && server->now - server->list_made > 2.0 * LIST_FRESH)
    refresh_list(server, "/api/studies", true);
  http_stream_tick(server);
}

static int wait_time(http_server *server) {
  MHD_UNSIGNED_LONG_LONG milliseconds;
  const int most = (int)(1000.0 * TICK);
  if (mhd.MHD_get_timeout(server->daemon, &milliseconds) == MHD_YES &&
      milliseconds < (unsigned)most)
    return (int)milliseconds;
  return most;
}

cocabo_status http_server_run(http_server *server, int stop, cocabo_error *err) {
  const union MHD_DaemonInfo *info =
      mhd.MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_EPOLL_FD);
  if (!info)
    return cb_fail(err, COCABO_E_INTERNAL, "libmicrohttpd has no epoll");
  struct pollfd files[] = {
      {info->epoll_fd, POLLIN, 0}, {server->wake, POLLIN, 0}, {stop, POLLIN, 0}};
  /* What must be read whole for the list is read before somebody waits for it. */
  refresh_list(server, "/api/studies", true);
  for (;;) {
    if (poll(files, 3, wait_time(server)) < 0 && errno != EINTR)
      return cb_fail(err, COCABO_E_INTERNAL, "poll failed: %s", strerror(errno));
    if (files[2].revents)
      return COCABO_OK;
    server->now = http_clock();
    uint64_t count;
    if (files[1].revents & POLLIN)
      (void)!read(server->wake, &count, sizeof count);
    for (int i = 0; i < HTTP_LANES; i++)
      collect(server, server->lanes[i]);
    mhd.MHD_run(server->daemon);
    tick(server);
  }
}

/* ---- starting and ending -----------------------------------------------------------
 */

static void be_silent(void *cls, const char *fmt, va_list args) {
  (void)cls;
  (void)fmt;
  (void)args;
}

typedef union place {
  struct sockaddr any;
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
} place;

static bool read_address(const char *address, int port, place *out) {
  memset(out, 0, sizeof *out);
  if (inet_pton(AF_INET, address, &out->v4.sin_addr) == 1) {
    out->v4.sin_family = AF_INET;
    out->v4.sin_port = htons((uint16_t)port);
    return true;
  }
  if (inet_pton(AF_INET6, address, &out->v6.sin6_addr) == 1) {
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons((uint16_t)port);
    return true;
  }
  return false;
}

static cocabo_status start_daemon(http_server *server, const char *address, int port,
                                  cocabo_error *err) {
  place where;
  char shown[CB_SHOWN];
  if (!read_address(address, port, &where))
    return cb_fail(err, COCABO_E_INVALID,
                   "the address is \"%s\", want a number as 127.0.0.1 or ::1",
                   cb_text_show(shown, address));
  unsigned flags = MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG;
  if (where.any.sa_family == AF_INET6)
    flags |= MHD_USE_IPv6;
  errno = 0;
  server->daemon = mhd.MHD_start_daemon(
      flags, (uint16_t)port, NULL, NULL, handle, server, MHD_OPTION_EXTERNAL_LOGGER,
      be_silent, NULL, MHD_OPTION_SOCK_ADDR, &where.any, MHD_OPTION_CONNECTION_LIMIT,
      (unsigned)CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)PATIENCE,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)LINE_MEMORY,
      MHD_OPTION_URI_LOG_CALLBACK, begin, server, MHD_OPTION_NOTIFY_COMPLETED, finish,
      server, MHD_OPTION_NOTIFY_CONNECTION, note_line, server,
      MHD_OPTION_STRICT_FOR_CLIENT, 1, MHD_OPTION_END);
  if (!server->daemon)
    return cb_fail(err, COCABO_E_STORE, "%s:%d cannot be listened to: %s", address,
                   port, errno ? strerror(errno) : "it is not free");
  return COCABO_OK;
}

static cocabo_status start(http_server *server, cocabo_store *const stores[HTTP_STORES],
                           const char *address, int port, cocabo_error *err) {
  CB_TRY(http_mhd_load(err));
  server->quick = (http_site){.settings = server->settings, .store = stores[0]};
  server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (server->wake < 0)
    return cb_fail(err, COCABO_E_NO_MEMORY, "an eventfd cannot be made");
  for (int i = 0; i < HTTP_LANES; i++)
    CB_TRY(start_lane(&server->lanes[i], server->settings, stores[i + 1], server->wake,
                      err));
  return start_daemon(server, address, port, err);
}

cocabo_status http_server_new(http_server **out, const http_settings *settings,
                              cocabo_store *const stores[HTTP_STORES],
                              const char *address, int port, cocabo_error *err) {
  http_server *server = cb_calloc(1, sizeof *server);
  *out = NULL;
  if (!server)
    return cb_no_memory(err);
  server->settings = settings;
  server->wake = -1;
  server->now = http_clock();
  const cocabo_status status = start(server, stores, address, port, err);
  if (status == COCABO_OK)
    *out = server;
  else
    http_server_free(server);
  return status;
}

int http_server_port(const http_server *server) {
  const union MHD_DaemonInfo *info =
      mhd.MHD_get_daemon_info(server->daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info ? info->port : 0;
}

/* All connections must be awake before the daemon ends. What comes meanwhile is
 * refused: nobody would wake it up. */
static void wake_everybody(http_server *server) {
  server->ending = true;
  http_stream_end_all(server);
  serve_parked(server, true);
  for (int i = 0; i < HTTP_LANES; i++) {
    http_lane *lane = server->lanes[i];
    if (!lane)
      continue;
    for (http_exchange *x = lane->first, *next; x; x = next) {
      next = x->next;
      http_refuse(&x->response, 503, "the server is ending");
      x->done = true;
      wake_up(x);
    }
    lane->first = lane->last = NULL;
    collect(server, lane);
  }
  if (server->daemon)
    mhd.MHD_run(server->daemon);
}

void http_server_free(http_server *server) {
  if (!server)
    return;
  for (int i = 0; i < HTTP_LANES; i++)
    end_lane(server->lanes[i]);
  wake_everybody(server);
  if (server->daemon)
    mhd.MHD_stop_daemon(server->daemon);
  while (server->kept)
    drop_kept(server, &server->kept);
  for (int i = 0; i < HTTP_LANES; i++)
    cb_free(server->lanes[i]);
  if (server->wake >= 0)
    close(server->wake);
  http_site_close(&server->quick);
  cb_free(server);
}
